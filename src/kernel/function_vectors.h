/* Sequential versions: functions that make vectors and traverse sequences, as C for one point.
 *
 *     static bool quicksort_f7(KernelArrayRef a_1, int64_t a_2, int64_t a_3, KernelArrayRef *result0, int64_t *result1, int64_t *result2, KernelRegion *into,
 *                              KernelRegion *aside, int64_t depth, const KernelScalars *scalars)
 *
 * What it gives is built in the region `into`, what it needs meanwhile in the other one, which is as it was when it returns. So if it calls a function for something
 * it needs meanwhile, that is given the two the other way round. The body of a comprehension works like a function: what it gives goes where the vector is that it belongs to,
 * the rest is released after each element.
 *
 * Sequences are not made. A consumer is a loop that computes the elements as they come; those in lock step are computed by index. A vector that is only traversed, once, is
 * treated like a sequence. An innermost loop has no branch for failures: they set a flag that is looked at after it. */
#ifndef RUNNEL_KERNEL_FUNCTION_VECTORS_H
#define RUNNEL_KERNEL_FUNCTION_VECTORS_H

#include "kernel/function_shape.h"
#include "kernel/function_write.h"

/* An element of a sequence: words for its leaves, or, if it is a sequence that is not made, the variable. */
typedef struct Element {
    const char **words;
    const CoreAtom *atom; /* null if there are words */
    TypeId type;
    bool is_stored;       /* it was read from memory: floats are canonical */
} Element;

/* Whoever takes the elements of a traversal. */
typedef struct Sink Sink;
struct Sink {
    void (*take)(Writer *writer, Sink *sink, Element element);
    /* The same if `condition` holds, without a branch; null if it cannot. */
    void (*take_if)(Writer *writer, Sink *sink, Element element, const char *condition);
    bool is_straight;      /* no loops, calls, returns */
    bool is_repeatable;    /* an element may be given again, to take the place of the first, */
    uint32_t bytes;        /* ... and is stored in so many, if it is one leaf; otherwise 0 */
    const char *index;     /* of the element, where it is known: set by the traversal */
    const char *region;    /* where elements are built; null if they are not kept */
    const CoreBlock *applied; /* of the operator that it applies; null if it applies none */
    /* Where the next element goes, an expression for one use; null if none may come later than its turn. */
    const char *(*place)(Writer *writer, Sink *sink);
    const struct LaterCalls *later; /* those that may; null if there are none */
};

/* ---- function_sequences.c ---- */
/* Loops over all elements of a sequence or vector. */
typedef struct Traversal Traversal;
/* Emits what is to be known before the loops. */
Traversal *sequence_prepare(Writer *writer, const CoreAtom *atom);
/* Loops of several exact ones that have as many elements in one: the words of all of them. */
Traversal *sequence_join(Writer *writer, Traversal *const *traversals, uint32_t count);
/* How many elements there are at most, as a word; null if that is not known. */
const char *sequence_most(const Traversal *traversal);
/* Whether there are just as many, and elements are taken by index. */
bool sequence_is_exact(const Traversal *traversal);
/* Whether any part of its loop can be done without what comes before, */
bool sequence_is_in_parts(const Traversal *traversal);
/* ... and its elements are stored by index. */
bool sequence_is_shareable(const Traversal *traversal);
/* How many elements there are if its loop is written out for each of them; otherwise 0. */
uint32_t sequence_few(const Traversal *traversal);
/* The call that gives each element, if it may wait until all are known (LaterCalls); else null. */
const CoreStatement *sequence_element_call(Writer *writer, const Traversal *traversal, const CoreAtom *sequence);
/* Whether its loop is an innermost one if the sink is straight. */
bool sequence_is_straight(const Writer *writer, const Traversal *traversal);
/* Whether its loop does so little for an element that one over a group of them, as lanes have it, is as good as a long one; and none can fail. */
bool sequence_is_light(const Writer *writer, const Traversal *traversal);
/* Whether elements that are kept are told from others by a condition in an innermost loop: then `take_if` of a sink is called, with an index. */
bool sequence_is_filter(const Writer *writer, const Traversal *traversal);
/* Whether the same elements may be had twice. */
bool sequence_is_repeatable(const Traversal *traversal);
void sequence_traverse(Writer *writer, Traversal *traversal, Sink *sink);
/* Of a comprehension over a few elements, whose bodies end in a call: the arguments of that call, by turn; gives how many turns there are. */
uint32_t sequence_call_arguments(Writer *writer, const CoreAtom *each, const CoreStatement *call, const char ***arguments, uint32_t *argument_count);
/* The part that a thread does of one that is done in parts. */
void sequence_traverse_shared(Writer *writer, Traversal *traversal, Sink *sink);
/* The loop of an exact one, or of a filter, from `first` on, before `end`: words. */
void sequence_traverse_part(Writer *writer, Traversal *traversal, Sink *sink, const char *first, const char *end);
/* The same for several filters of as many elements, in one loop. */
void sequence_traverse_filters(Writer *writer, Traversal *const *traversals, Sink *const *sinks, uint32_t count, const char *first, const char *end);
/* Of a filter that keeps elements of a vector as they are: pointers to these; else null. */
const char **sequence_kept_cells(const Writer *writer, const Traversal *traversal);
/* Whether a filter is one of these, whose condition is light. */
bool sequence_is_light_filter(const Writer *writer, const Traversal *traversal);
/* The same of a light one that has a few elements left: it does not look whether it is to go on. */
void sequence_traverse_few(Writer *writer, Traversal *traversal, Sink *sink, const char *first, const char *end);
/* What a long loop does now and then, unless it is bounded by what is in memory: it looks whether it is to go on. */
void sequence_poll(Writer *writer, const Traversal *traversal);

/* ---- function_recall.c ---- */
/* Writes what traverses a sequence: once, or, if some of what its loop computes may be kept from point to point (kernel/function_recall.h), a second time for where that is there. */
typedef void TraversalWriter(Writer *writer, Traversal *traversal, void *context);
void sequence_write_versions(Writer *writer, Traversal *traversal, TraversalWriter *write, void *context);
/* Whether one of these is light. */
bool sequence_can_be_light(Writer *writer, const Traversal *traversal);

/* ---- function_vectors.c ---- */
/* A statement of such a function; false if it is like one of a function on scalars. */
bool vectors_write_statement(Writer *writer, const CoreStatement *statement);
/* What is not made yet is made here: the leaves of a vector. */
const char **vectors_make(Writer *writer, const CoreAtom *atom);
/* Where what belongs to a variable is built. */
const char *vectors_region(const Writer *writer, CoreVar variable);
const char *vectors_other(const Writer *writer, const char *region);
/* A pointer to the cells of a column, and how far they are apart, null if they are next to each other. */
const char *vectors_cells(Writer *writer, const char *array, uint32_t leaf, LeafType type, const char **stride);
/* A pointer to the first of the cells of a vector in a column, which are next to each other: one that stands for all is written out. */
const char *vectors_run(Writer *writer, const char **vector, uint32_t leaf, LeafType type);
/* Words for what the body of a loop of so many turns needs of vectors that are there are found before it. */
void vectors_hoist(Writer *writer, const CoreBlock *block, const char *turns);
/* A vector of the elements of a layout with room for `count`; `cells` are those of its columns. */
const char *vectors_new_array(Writer *writer, const char *region, const Layout *elements, const char *count, const char **cells);
/* Several of one layout, side by side, of which the room is known to be a vector's that is there: words for them, and for the cells of each. */
void vectors_new_arrays(Writer *writer, const char *region, const Layout *elements, uint32_t count, const char *const *rooms, const char **arrays, const char ***cells);
/* The same for all threads that do a point together: the first of them makes it, as a copy of a vector if there is one. */
const char *vectors_shared_array(Writer *writer, const char *region, const Layout *elements, const char *count, const char **copied, const char **cells);
/* `(const uint8_t[]){8, 1}`: sizes of cells. */
const char *vectors_sizes(const Writer *writer, const Layout *elements);
const char **vectors_words(Writer *writer, const char *array, const char *start, const char *length);
/* The target of a statement is a vector that a function of the preamble made, or failed to. */
void vectors_give(Writer *writer, const CoreStatement *statement, const char *array, const char *length);
/* A value as it is stored. */
const char *vectors_canonical(const Writer *writer, LeafType type, const char *word);
/* Returns false if the condition holds. */
__attribute__((format(printf, 2, 3))) void vectors_fail_if(Writer *writer, const char *format, ...);
_Noreturn void vectors_refuse(Writer *writer);

/* Where the elements of a vector go that is being made. */
typedef struct Store {
    Sink sink;
    const Layout *elements;
    const char *array, *region;
    const char **cells;
    const char *first;    /* of the cells, where the element at index 0 goes; null if that is the first, or */
    const char *count;    /* ... how many have come so far, where they do not come by index */
    const char *capacity; /* where that grows */
} Store;
void vectors_store(Writer *writer, const Store *store, Element element, const char *place);
/* The next element, which counts if a condition holds. */
void vectors_take_next_if(Writer *writer, Sink *sink, Element element, const char *condition);

/* ---- function_filters.c ---- */
/* A filter (sequence_is_filter) of a sequence or vector of a type whose elements have no arrays; where its vector is made. */
typedef struct FilterSource {
    Traversal *traversal;
    TypeId type;
    const char *region;
    const CoreStatement *fold; /* a reduction that is done with it; null if there is none */
} FilterSource;
/* The reduction that is done with a filter is finished where it stands. */
void filters_end_fold(Writer *writer, const CoreStatement *statement);
/* The vectors of filters that go through as many elements. If there are several, they are light, and have elements of one layout, in one region. */
void filters_make(Writer *writer, const FilterSource *sources, uint32_t count, const char ***words);

/* ---- function_turns.c ---- */
void turns_begin(Writer *writer);
/* Whether a vector is the same in every turn. */
bool turns_keeps(const Writer *writer, const CoreAtom *atom);
/* Whether an operation that gives a changed copy of an argument may change the argument itself: null, or a word that says so when it runs. */
const char *turns_ownership(const Writer *writer, const CoreStatement *statement, uint32_t argument);
/* Before the next turn, while the parameters are still those of this one. */
void turns_own(Writer *writer, const CoreStatement *call);
/* At its beginning, before the parameters are looked at. */
void turns_turn(Writer *writer);
/* The result is there. */
void turns_return(Writer *writer);

/* ---- function_forks.c ---- */
/* Calls of one function, the bodies of a comprehension over a few elements. */
typedef struct ForkedCalls {
    const CoreStatement *call;
    uint32_t count;
    const char **arguments[SHAPE_FEW]; /* words for their leaves, by turn */
    uint32_t argument_count;
    const char *region;                /* where results go */
    const char *name;
    const Layout *layout;
    const char **results[SHAPE_FEW];   /* words, which are given */
} ForkedCalls;
void forks_write_calls(Writer *writer, ForkedCalls *calls);
/* A call that is offered. */
typedef struct ForkedCall {
    const char *name;
    const char **arguments;
    uint32_t argument_count;
    const char *task;
} ForkedCall;
void forks_write_offer(Writer *writer, ForkedCall call);
/* Calls that give an element each, and wait until all are known. */
typedef struct LaterCalls {
    const CoreStatement *call;
    const char *calls;    /* those that wait: a word */
    const char *region;   /* where they are kept */
    bool is_for_large;    /* only those that other threads may do wait; what they are given is kept too */
} LaterCalls;
/* Before the loops. */
LaterCalls *forks_begin_later(Writer *writer, const CoreStatement *call, const char *region);
/* Whether a body ends in the call that may wait. */
bool forks_waits(const Sink *sink, const CoreBlock *body);
/* Where that call is: it waits, */
void forks_add_later(Writer *writer, Sink *sink);
/* ... or does so if it is large, or `else`, which the caller closes. */
void forks_open_later(Writer *writer, Sink *sink);
/* After the loops, one loop over what waited: a call, and where its result goes. The caller closes it. */
ForkedCall forks_open_waiting(Writer *writer, const LaterCalls *later, const char **place);
/* All of it, where results are the elements of a vector that is made. */
void forks_end_later(Writer *writer, const Store *to);
/* What a function is called in C. */
const char *forks_name(const Writer *writer, CoreFunctionId function);
/* Adds the lengths of the vectors that a call is given to a sum of such. */
void forks_add_lengths(const Writer *writer, const CoreStatement *call, const char **arguments, Text *sum);
/* Such a sum as a word; its text is freed. */
const char *forks_take_sum(Writer *writer, Text *sum);

/* ---- function_onto.c ---- */
/* What a block in tail position gives is put onto what there is. */
void onto_write_result(Writer *writer, const CoreBlock *block);
/* The body of the function that makes the vector for it. */
void onto_write_beginning(Writer *writer, const CoreBlock *body);

/* ---- function_moves.c ---- */
/* False if the operation is none of its own; so is the next. */
bool moves_write(Writer *writer, const CoreStatement *statement);

/* ---- function_groups.c ---- */
/* A scatter of a loop that goes to the same places in every turn. */
typedef struct Grouping Grouping;
/* Null if it is none. */
Grouping *groups_find(Writer *writer, const Traversal *pairs, const CoreStatement *statement, const Sink *sink);
/* What it does if its points are grouped by place, into cells from `start` on; then `else`, which the caller closes. */
void groups_write(Writer *writer, Grouping *grouping, const Layout *elements, const char **cells, const char *start, const char *length);

/* ---- function_abreast.c ---- */
/* How many turns of a loop are written at once, at least one. */
uint32_t abreast_count(const Writer *writer);
/* The variables of the body have the values of a turn from now on, the first of which is 1; gives the turn whose they had, 0 for none. */
uint32_t abreast_enter(Writer *writer, uint32_t turn);
/* The loop is not worth writing so. */
void abreast_refuse(Writer *writer);
/* If the condition holds, the loop that takes one turn at a time goes on here. */
void abreast_end_if(Writer *writer, const char *condition);

/* ---- function_reduce.c ---- */
enum { REDUCE_TOGETHER = 4 }; /* sums of floats whose lanes stay in registers */
bool reduce_write(Writer *writer, const CoreStatement *statement);
/* A reduction by an operator that gives one of its operands (kernel/function_fold.c), done block by block of the order of combination, in loops that others write. */
typedef struct PickedFold PickedFold;
/* Null if the reduction is none of these. */
PickedFold *reduce_begin_picking(Writer *writer, const CoreStatement *statement, Traversal *traversal);
void reduce_pick_in_block(Writer *writer, const PickedFold *fold, const char *block, const char *block_end);
/* What all blocks come to; of no element it is what reduce_end_picking makes it, which gives it to the statement's target. */
const char **reduce_picked(const PickedFold *fold);
void reduce_end_picking(Writer *writer, const CoreStatement *statement, const char **picked, const char *count);
/* Opens a loop over strips of `size` elements, the last of which may be shorter. */
void reduce_open_strips(Writer *writer, const char *index, const char *first, const char *limit, const char *size, const char *end);
/* Whether a statement is a sum or product of floats, which may be computed in one loop with others. */
bool reduce_is_sum(const Writer *writer, const CoreStatement *statement);
/* A reduction or scan by an operator that is built in. */
typedef struct Fold {
    Op operator; /* the reduction that goes with it */
    bool is_scan, is_inclusive;
} Fold;
bool reduce_find_fold(Op op, Fold *fold);
/* Whether its order is math/combine.h's. */
bool reduce_is_ordered(Op operator, ScalarType type);
/* Of the variable for what there is so far. */
const char *reduce_total_type(Op operator, ScalarType type);
const char *reduce_neutral(const Writer *writer, Op operator, ScalarType type);
/* Another element is added to it. */
void reduce_write_step(Writer *writer, Op operator, ScalarType type, const char *total, const char *x);
/* The operator of a statement, applied to the leaves of two operands. */
const char **reduce_apply(Writer *writer, const CoreStatement *statement, const char **a, const char **b);
/* Variables for a value, with what they hold at first; null for nothing. */
const char **reduce_declare(Writer *writer, const Layout *layout, const char **values);
/* They get other values, all at once. */
void reduce_assign(Writer *writer, const Layout *layout, const char **targets, const char **values);
/* Whether it takes neither loop nor call. */
bool reduce_is_straight(const Writer *writer, const CoreStatement *statement);
/* The body of the operator of an operation; null if that has none. */
const CoreBlock *reduce_operator(const Writer *writer, const CoreStatement *statement);
/* A scan: its state is declared before the loop, and taken a step with each element. */
typedef struct ScanState ScanState;
ScanState *reduce_scan_start(Writer *writer, const CoreStatement *statement);
const char **reduce_scan_step(Writer *writer, ScanState *state, const char **element);

#endif
