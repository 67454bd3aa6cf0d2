/* What the machine keeps and calls to count the cost of a run (docs/cost.md has the rules).
 *
 * Beside each frame stands a CostFrame: for a block the cost of its statements so far, for a loop that of its bodies. When a
 * frame ends, its cost becomes `delivered` and goes the way its value goes. Nothing here is called unless
 * InterpreterOptions.counts_costs is set. */
#ifndef RUNNEL_REF_REF_COST_H
#define RUNNEL_REF_REF_COST_H

#include "ref/ref.h"

typedef struct PreparedBlock PreparedBlock;

/* What the rules need to know of a block. */
typedef struct BlockCost {
    VEC(CoreVar) free_variables; /* bound outside and used inside */
    uint64_t packing;            /* the sum of |t| over their types */
} BlockCost;

/* A block being executed: what is known before the cost of its rest is. Contexts of blocks in tail position compose, so
 * a tail call needs no frame of its caller's. */
typedef struct CostContext {
    uint64_t work, depth;
    Footprint held;      /* by the values bound so far */
    Footprint peak;      /* of what has been evaluated */
    uint64_t merges; /* IFs around the rest: each copies the value it gives */
    Footprint merging;   /* held where one of them merges; there three times the value is needed on top */
} CostContext;

/* A loop: the bodies that have run. */
typedef struct CostTally {
    uint64_t bodies;
    uint64_t work;  /* of all */
    uint64_t depth; /* of the deepest */
    Footprint element;  /* what the running body was given */
    Footprint elements; /* all of that, as a sequence */
    Footprint most;     /* of one body with its element */
    Footprint all;      /* of all together */
} CostTally;

typedef union CostFrame {
    CostContext context;
    CostTally tally;
} CostFrame;

typedef struct CostCounter {
    CostFrame *frames; /* beside the machine's */
    size_t capacity;
    Cost delivered;           /* of the frame that ended last */
    uint64_t argument_length; /* of the operation being executed: its longest container */
    uint64_t sequence_length; /* ... its longest sequence */
    uint64_t argument_size;   /* ... the parallel size of its first argument */
    VEC(uint64_t) type_sizes; /* by TypeId: |t| + 1, 0 while unknown */
    CostContext program;      /* everything run so far */
} CostCounter;

/* ---- preparing ---- */

/* Adds a variable to the free ones of the blocks between its use and its binding. */
void ref_cost_note_use(Interpreter *machine, PreparedBlock *block, const CoreAtom *atom);

/* ---- running ---- */

/* A frame was pushed. */
void ref_cost_enter(Interpreter *machine);
/* The frame on top is about to be popped and gives `value`. */
void ref_cost_leave(Interpreter *machine, Value value);
void ref_cost_leave_loop(Interpreter *machine, Value value);
/* The activation on top is about to take its caller's place. */
void ref_cost_fold_caller(Interpreter *machine);

/* The parameters from `first` on of the body on top of the stack have their values. */
void ref_cost_body(Interpreter *machine, uint32_t first);
/* What a body gave has arrived at the loop on top of the stack. */
void ref_cost_arrive(Interpreter *machine);

/* The arguments of an operation about to be executed, which may build its result in one of them. */
void ref_cost_arguments(Interpreter *machine, const CoreStatement *statement, const Value *arguments);
/* The statement being executed has bound its variable: alone, or after frames of its own. */
void ref_cost_statement(Interpreter *machine, Value value);
void ref_cost_delivered(Interpreter *machine, Value value);

void ref_cost_end_item(Interpreter *machine, const CoreItem *item, Value value);
void ref_cost_end_call(Interpreter *machine);
void ref_cost_free(Interpreter *machine);

/* ---- ref_cost_size.c: sizes ---- */

static inline uint64_t cost_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t cost_multiply(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static inline uint64_t cost_maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline Footprint footprint_of(uint64_t both)
{
    return (Footprint){both, both};
}

static inline Footprint footprint_add(Footprint a, Footprint b)
{
    return (Footprint){cost_add(a.sequential, b.sequential), cost_add(a.parallel, b.parallel)};
}

static inline Footprint footprint_maximum(Footprint a, Footprint b)
{
    return (Footprint){cost_maximum(a.sequential, b.sequential), cost_maximum(a.parallel, b.parallel)};
}

/* A sequence with one more element of this size: one at a time, or all at once. */
static inline Footprint footprint_append(Footprint sequence, Footprint element)
{
    return (Footprint){cost_maximum(sequence.sequential, cost_add(element.sequential, 1)),
                   cost_add(sequence.parallel, cost_add(element.parallel, 1))};
}

/* ||value|| */
Footprint ref_cost_size(Interpreter *machine, TypeId type, Value value);
/* The size that a container has as a sequence; `type` is its own. */
Footprint ref_cost_sequence_size(Interpreter *machine, TypeId type, Object *container);
/* |type| */
uint64_t ref_cost_type_size(Interpreter *machine, TypeId type);

#endif
