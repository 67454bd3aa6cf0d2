/* From the columns of files (io/columns.h) to arrays, in bulk and without copying, and back. */
#ifndef RUNNEL_VM_ARRAY_COLUMNS_H
#define RUNNEL_VM_ARRAY_COLUMNS_H

#include "io/columns.h"
#include "vm/array.h"

/* The rows become the elements of an array that is empty and of their type. The cells are taken over, which must not be borrowed. */
void array_take_columns(Memory *memory, Array *array, Columns *columns);
/* Where the vectors of a leaf start, and their lengths. */
void columns_vectors(const ColumnLeaf *leaf, size_t count, int64_t *starts, int64_t *lengths);
/* Appends rows [0, count) of cells, one Cells for each leaf of their layout. */
void columns_add_rows(Columns *columns, const Cells *cells, size_t count);

#endif
