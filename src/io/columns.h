/* Columns: values of one type, leaf by leaf, as they come from files and go to them in bulk.
 *
 * A row is one value. A scalar in it is a cell of a leaf; a pair is the leaves of both components; a vector is one leaf, whose cells (int64_t) say
 * where the elements of each row end, and whose elements are columns of their own, those of all rows one after the other:
 *
 *     [(1, "ab"), (2, "c")] : [(int, [char])]      leaf 0: 1 2      leaf 1: 2 3, elements: a b c
 *
 * So the leaves are those of a Layout (flow/layout.h), but that vectors have one instead of three. What is in the tree belongs to an arena,
 * the cells do not. */
#ifndef RUNNEL_IO_COLUMNS_H
#define RUNNEL_IO_COLUMNS_H

#include "io/value.h"

typedef struct Columns Columns;

typedef struct ColumnLeaf {
    ScalarType scalar; /* of the cells */
    bool is_borrowed;  /* the cells are somebody else's */
    void *cells;
    size_t capacity;   /* in cells */
    Columns *elements; /* of a vector; null for a scalar */
} ColumnLeaf;

struct Columns {
    Memory *memory;
    Types *types;
    TypeId type; /* of a row */
    size_t count;
    uint32_t leaf_count;
    ColumnLeaf leaves[];
};

/* No rows, without cells. */
Columns *columns_new(Arena *arena, Types *types, TypeId type);
/* Gives the cells back, but for borrowed ones; the rows are gone. Null is allowed. */
void columns_free(Columns *columns);
/* The rows are gone, the room for them is kept. */
void columns_clear(Columns *columns);

/* The cells of a leaf from row `count` on, with room for `more` of them; not zeroed. */
void *columns_room(Columns *columns, uint32_t leaf, size_t more);
/* The cells of a leaf are to be those, until they are to be others; room for more is never asked for. */
void columns_borrow(Columns *columns, uint32_t leaf, void *cells, size_t capacity);

/* Where the elements of a row begin. */
static inline size_t columns_start(const ColumnLeaf *vector, size_t row)
{
    return row == 0 ? 0 : (size_t)((const int64_t *)vector->cells)[row - 1];
}

/* Appends rows [first, first + count) of columns of the same type. */
void columns_append(Columns *columns, const Columns *from, size_t first, size_t count);
/* Appends values as rows; takes nothing over. */
void columns_append_values(Columns *columns, const Value *values, size_t count);
/* One row as a value, a new reference. */
Value columns_value(Heap *heap, const Columns *columns, size_t row);

#endif
