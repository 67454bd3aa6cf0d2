/* ROWS: operations computed point by point on whole values. nodes_rows.c has the frame and the pure ones, nodes_io.c those that look at the
 * world. */
#ifndef RUNNEL_VM_NODES_ROWS_H
#define RUNNEL_VM_NODES_ROWS_H

#include "vm/nodes.h"

/* Kept from firing to firing, so that it is found when an allocation fails. */
typedef struct RowsState {
    bool is_begun;
    Cells *arguments; /* one for each leaf */
    void **results;   /* likewise */
    Text text, other_text;
    Array *vectors; /* the elements of all vectors that the rows of one firing give */
    Array *inner;   /* of vectors of vectors: the elements of the inner ones */
    void *scratch;
    size_t scratch_size;
    uint64_t *same; /* where all arguments serve all points: the leaves of the result, which does so too; null before the first point */
    Array *same_vectors;
} RowsState;

/* Some rows being computed. */
typedef struct RowsCall {
    Firing *firing;
    const FlowNode *node;
    RowsState *state;
    const Cells *arguments; /* the leaves of all arguments */
    void *const *results;   /* where the leaves of the result go; arrays are put there in the end */
    size_t count;
} RowsCall;

/* Computes one row. False after a failure, which rows_fail begins. */
typedef bool (*RowFunction)(RowsCall *call, size_t row);

/* Gives the rows before this one; the node fails here. */
Failure *rows_fail(RowsCall *call, size_t row);

/* ---- arguments ---- */
uint32_t rows_leaf_of(const RowsCall *call, uint32_t argument); /* its first leaf */
int64_t rows_integer(const RowsCall *call, uint32_t leaf, size_t row);
/* A vector of characters, its first leaf given; appended. */
void rows_add_text(const RowsCall *call, uint32_t leaf, size_t row, Text *out);

/* ---- results ---- */
/* Says that the vector at `leaf` is the last `length` elements of state->vectors. */
void rows_give_vector(RowsCall *call, uint32_t leaf, size_t row, size_t length);
/* A text as a vector; null gives an empty one. */
void rows_give_text(RowsCall *call, uint32_t leaf, size_t row, const char *bytes, size_t length);
void rows_give_string(RowsCall *call, uint32_t leaf, size_t row, const char *string);

/* ---- nodes_io.c ---- */
bool row_print_string(RowsCall *call, size_t row);
bool row_clock(RowsCall *call, size_t row);
bool row_environment_variable(RowsCall *call, size_t row);
bool row_open_file(RowsCall *call, size_t row);
bool row_close_file(RowsCall *call, size_t row);
bool row_read_chars(RowsCall *call, size_t row);
bool row_write_chars(RowsCall *call, size_t row);
bool row_write_value(RowsCall *call, size_t row);
/* READ_VALUE gives values of any layout: a row at a time. */
void rows_fire_read_value(Firing *firing);
/* FAIL, NOT_PROVIDED, RAISE: outputs that never get an element. */
void rows_fire_error(Firing *firing);

#endif
