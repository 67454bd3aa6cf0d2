/* What the files of arrays share: a row, be it of cells or of an array's columns. */
#ifndef RUNNEL_VM_ARRAY_PRIVATE_H
#define RUNNEL_VM_ARRAY_PRIVATE_H

#include "vm/array.h"

/* Rows of cells, or of an array if there is one: comparing elements of vectors must not first list their columns as Cells. */
typedef struct Rows {
    const Cells *cells;
    const Array *array;
} Rows;

static inline Cells rows_leaf(Rows rows, uint32_t leaf)
{
    if (rows.array == NULL)
        return rows.cells[leaf];
    const Column *column = &rows.array->columns[leaf];
    return (Cells){column->data, column->is_uniform};
}

typedef struct Row {
    Rows rows;
    size_t index;
} Row;

/* A vector: three leaves. */
typedef struct Vector {
    const Array *array;
    size_t start;
    size_t length;
} Vector;

static inline Vector row_vector(Row row, uint32_t leaf)
{
    Cells array = rows_leaf(row.rows, leaf), start = rows_leaf(row.rows, leaf + 1), length = rows_leaf(row.rows, leaf + 2);
    return (Vector){((Array *const *)array.data)[cells_index(array, row.index)],
                    (size_t)((const int64_t *)start.data)[cells_index(start, row.index)],
                    (size_t)((const int64_t *)length.data)[cells_index(length, row.index)]};
}

static inline Row vector_row(Vector vector, size_t i)
{
    return (Row){{.array = vector.array}, vector.start + i};
}

/* Appends `count` elements to be filled in: scalars are 0, vectors empty. Columns of scalars have a cell for each element afterwards. A column of
 * arrays is uniform if one that nobody else refers to can serve all vectors; else the new cells are null. */
void array_append_zeros(Memory *memory, Array *array, size_t count);

/* Gives an array without elements `count` of them, to be written: no column is uniform, references are null. */
void array_append_empty(Memory *memory, Array *array, size_t count);
/* Makes a column of references uniform if all are the same. */
void array_join_cells(Array *array, uint32_t leaf);

/* The order of two rows from a leaf on. If it is total, nan is last and equal to itself; else it has no order. */
Order row_order(const Layout *layout, uint32_t leaf, Row a, Row b, bool is_total);

#endif
