/* Users' operators: what the nodes share that apply one to many pairs (FOLD_WITH, SCAN_WITH, PUT_WITH).
 *
 * The order of combination is fixed (math/combine.h), but pairs of different blocks, segments or places do not depend on each other. So a node
 * takes a *batch* of what is there and combines it in rounds, each of which applies the operator to many pairs at once. What a node keeps
 * changes only when a batch is complete.
 *
 * An operator that prints is applied to one pair after the other, in the order of the reference interpreter: then a batch is as
 * small as that order asks for. The same is done after a round has failed: the batch is undone, and what follows is done pair by pair until
 * the pair is found that fails first.
 *
 * An operator that draws takes key and counter after its operands, and gives them back after its result, where they are ignored: each
 * application has a state of its own, made from the draw of its parent (math/random.h). */
#ifndef RUNNEL_VM_OPERATOR_H
#define RUNNEL_VM_OPERATOR_H

#include "kernel/preamble/call.h"
#include "math/combine.h"
#include "vm/nodes.h"

/* Stands in the state of a node; zeros at first. */
typedef struct Operator {
    bool is_begun;
    bool is_alone;   /* one pair after the other */
    bool has_batch;
    bool is_waiting; /* for the results of a round */
    uint32_t argument_count;
    Cells *arguments;        /* of the call: what it captured, both operands, key and counter */
    void **columns;          /* the cells of each argument, borrowed references */
    size_t capacity, count;  /* pairs */
    Cells *left, *right;     /* room for views of the rows of both operands */
} Operator;

typedef struct OperatorNode {
    /* Takes a batch; false if there is nothing to do now, or ever. */
    bool (*begin)(Firing *firing);
    /* Lists the pairs of the next round; false if the batch needs none any more. */
    bool (*ask)(Firing *firing);
    /* The results of the round, one for each pair. */
    void (*take)(Firing *firing, const Cells *results);
    /* Forgets the batch: nothing was consumed, and nothing was given. */
    void (*undo)(Firing *firing);
    /* Gives what the batch has made and consumes what it was made of. False if the node is done. */
    bool (*end)(Firing *firing);
    /* Of the only pair in this round: the input that counts its point, and how far beyond the cursor that is. */
    size_t (*offset)(const Firing *firing);
    uint32_t driver;
} OperatorNode;

/* Fires a node by its batches. */
void operator_run(Firing *firing, Operator *operator, const OperatorNode *node);
void operator_release(Memory *memory, const FlowNode *node, Operator *operator);

/* ---- pairs ---- */
void operator_clear_pairs(Operator *operator);
/* What a pair is combined for; `position` is the index, under its parent, of the last point in its right operand. */
typedef struct Application {
    CombineKind kind;
    uint64_t position;
} Application;

/* The inputs that an operator has for itself: what it captured, and a draw if it draws. The first of them is number `first`. */
Inputs operator_inputs(const FlowNode *node, uint32_t first);
/* Adds row i of `left` and row j of `right`, both leaf by leaf; `own` are the operator's inputs, and `parent` the element of them. */
void operator_add_pair(Firing *firing, Operator *operator, Inputs own, size_t parent, Application application, const Cells *left,
                       size_t i, const Cells *right, size_t j);

/* ---- compiled code for the elements of blocks (fold_ID and scan_ID of kernel/function_text.h) ---- */
typedef struct CompiledOperator {
    Firing *firing;
    Inputs own;
    KernelFunction *code;
    const void **globals; /* of the team's memory */
    volatile bool has_failed; /* nobody sets it: blocks fail each for itself */
} CompiledOperator;

/* Whether there may be code for the operator of a node. */
bool operator_may_have_code(const Firing *firing, const Operator *operator);
CompiledOperator operator_begin_code(Firing *firing, KernelFunction *code, Inputs own);
void operator_end_code(const CompiledOperator *compiled);
/* Combines a row of `left`, the value before, with rows of `right` from `first` on, in as many blocks as the code is asked for; what comes of it goes to rows of `into` from `row` on. False if it failed. */
bool operator_run_code(const CompiledOperator *compiled, size_t parent, const Array *left, size_t left_row, const Cells *right, size_t first, size_t count, Array *into,
                       size_t row, size_t blocks);
/* Whether no leaf is uniform, as blocks must not be that are done at once. */
bool operator_is_dense(const Firing *firing, const Cells *rows);

/* ---- rows of an array that nobody else sees, without uniform columns ---- */
/* Writes a row. */
void row_put(Memory *memory, Array *array, size_t row, const Cells *cells, size_t i);
/* A view of all rows. */
void array_views(const Array *array, Cells *views);
/* An array of `count` rows to be written, in the place of another. */
void array_renew(Memory *memory, Array **array, const Layout *layout, size_t count);

/* ---- lists ---- */
/* Makes room for one more item. */
void *list_grow(Memory *memory, void *items, size_t count, size_t *capacity, size_t size);
#define LIST_PUSH(memory, list)                                                                                       \
    ((list)->items = list_grow((memory), (list)->items, (list)->count, &(list)->capacity, sizeof *(list)->items),     \
     &(list)->items[(list)->count++])
#define LIST_FREE(memory, list) memory_free((memory), (list)->items, (list)->capacity * sizeof *(list)->items)

#endif
