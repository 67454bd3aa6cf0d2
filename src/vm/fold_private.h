/* What fold.c and the loops of fold_vector.c share. The loops know nothing of uniform or regular: fold.c reduces these to segments. */
#ifndef RUNNEL_VM_FOLD_PRIVATE_H
#define RUNNEL_VM_FOLD_PRIVATE_H

#include "vm/fold.h"
#include "base/vector.h"

typedef enum FoldOperator {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) FOLD_##OPERATOR,
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    FOLD_COUNT, /* how many are true: only a reduction, only of bool */
    FOLD_OPERATOR_COUNT
} FoldOperator;

/* Of a reduction; FOLD_OPERATOR_COUNT if there is none. */
FoldOperator fold_operator(Op reduction);

/* LEFT is a reduction from left to right, which only ordered ones have of their own. */
typedef enum FoldForm { FOLD_REDUCTION, FOLD_SCAN, FOLD_SCAN_INCLUSIVE, FOLD_LEFT, FOLD_FORM_COUNT } FoldForm;

struct FoldKind {
    uint32_t cell_size, result_size, state_size;
    void (*start)(void *state);
    void (*add)(void *state, const void *elements, size_t count);             /* reductions */
    void (*result)(const void *state, void *out);                             /* reductions */
    void (*scan)(void *state, const void *elements, size_t count, void *out); /* scans */
    /* not all of them empty */
    void (*segments)(const void *elements, int64_t first, const int64_t *ends, size_t segments, void *out);

    /* One segment by several threads, in steps: whole blocks of COMBINE_BLOCK elements, whose totals have `result_size` bytes.
     * 1. Elements to be taken first, so that what follows is whole blocks: at most a block. */
    size_t (*open)(const void *state);
    /* 2. Totals of blocks. Scans may leave in `out` what they want to find there again; reductions have none. */
    void (*totals)(const void *elements, size_t blocks, void *totals, void *out);
    /* 3. Takes the totals of the next blocks; each becomes what comes before its block. */
    void (*join)(void *state, void *totals, size_t blocks);
    /* 4. Scans: the outputs. */
    void (*complete)(const void *before, const void *elements, size_t blocks, void *out);
};

/* The kinds of an operator on a type, by form; null where there are none. */
typedef const FoldKind *FoldTable[FOLD_OPERATOR_COUNT][SCALAR_COUNT];

#define VECTOR_LEVEL_ROW(level) extern const FoldTable VECTOR_NAME_AT(fold_table, level);
VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW

/* As fold_kind and fold_left_kind, at a level the processor has: for tests. */
const FoldKind *fold_kind_at(VectorLevel level, Op op, ScalarType type);
const FoldKind *fold_left_kind_at(VectorLevel level, Op op, ScalarType type);

#endif
