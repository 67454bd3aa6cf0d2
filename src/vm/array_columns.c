#include "vm/array_columns.h"

static void take_scalars(Column *column, ColumnLeaf *leaf)
{
    column->data = leaf->cells;
    column->capacity = leaf->capacity;
    leaf->cells = NULL;
    leaf->capacity = 0;
}

static int64_t *new_cells(Memory *memory, Column *column, size_t count)
{
    column->data = memory_resize(memory, NULL, 0, count * sizeof(int64_t));
    column->capacity = count;
    return column->data;
}

void columns_vectors(const ColumnLeaf *leaf, size_t count, int64_t *starts, int64_t *lengths)
{
    const int64_t *ends = leaf->cells;
    int64_t start = 0;
    for (size_t i = 0; i < count; i++) {
        starts[i] = start;
        lengths[i] = ends[i] - start;
        start = ends[i];
    }
}

/* One array holds the elements of all vectors. */
static void take_vectors(Memory *memory, Array *array, uint32_t index, ColumnLeaf *leaf, size_t count)
{
    Column *column = &array->columns[index];
    column->data = memory_alloc(memory, sizeof(Array *));
    column->capacity = 1;
    column->is_uniform = true;
    Array *inner = *(Array **)column->data = array_new(memory, array->layout->leaves[index].elements);
    array_take_columns(memory, inner, leaf->elements);
    int64_t *starts = new_cells(memory, column + 1, count);
    columns_vectors(leaf, count, starts, new_cells(memory, column + 2, count));
}

void array_take_columns(Memory *memory, Array *array, Columns *columns)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < columns->leaf_count; i++) {
        ColumnLeaf *leaf = &columns->leaves[i];
        if (leaf->elements != NULL)
            take_vectors(memory, array, index, leaf, columns->count);
        else
            take_scalars(&array->columns[index], leaf);
        index += leaf->elements != NULL ? 3 : 1;
    }
    array->count = columns->count;
}
