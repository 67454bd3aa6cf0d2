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

/* ---- back ---- */

enum { VECTOR_LEAVES = 3 };

/* Appends elements of an array to the leaves of columns. */
static void add_elements(Columns *columns, const Array *array, size_t start, size_t length);

static void add_vectors(Columns *columns, uint32_t index, const Cells *cells, size_t count)
{
    Columns *elements = columns->leaves[index].elements;
    int64_t *ends = columns_room(columns, index, count);
    for (size_t i = 0; i < count; i++) {
        const Array *array = ((Array *const *)cells[0].data)[cells_index(cells[0], i)];
        int64_t start = ((const int64_t *)cells[1].data)[cells_index(cells[1], i)];
        int64_t length = ((const int64_t *)cells[2].data)[cells_index(cells[2], i)];
        if (length > 0)
            add_elements(elements, array, (size_t)start, (size_t)length);
        ends[i] = (int64_t)elements->count;
    }
}

/* One leaf; gives how many leaves of the layout it is. */
static uint32_t add_leaf(Columns *columns, uint32_t index, const Cells *cells, size_t count)
{
    const ColumnLeaf *leaf = &columns->leaves[index];
    if (leaf->elements != NULL) {
        add_vectors(columns, index, cells, count);
        return VECTOR_LEAVES;
    }
    cells_copy((LeafType)leaf->scalar, columns_room(columns, index, count), *cells, 0, count);
    return 1;
}

static void add_elements(Columns *columns, const Array *array, size_t start, size_t length)
{
    Cells cells[VECTOR_LEAVES];
    for (uint32_t i = 0, index = 0; i < columns->leaf_count; i++) {
        uint32_t leaves = columns->leaves[i].elements != NULL ? VECTOR_LEAVES : 1;
        for (uint32_t k = 0; k < leaves; k++)
            cells[k] = array_cells(array, index + k, start);
        index += add_leaf(columns, i, cells, length);
    }
    columns->count += length;
}

void columns_add_rows(Columns *columns, const Cells *cells, size_t count)
{
    for (uint32_t i = 0; i < columns->leaf_count; i++)
        cells += add_leaf(columns, i, cells, count);
    columns->count += count;
}
