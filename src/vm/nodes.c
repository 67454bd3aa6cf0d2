#include "vm/nodes.h"

#include <string.h>

static void extend_column(Memory *memory, LeafType type, Column *column, size_t old_count, size_t new_count)
{
    size_t size = leaf_size(type);
    if (new_count <= column->capacity)
        return;
    if (new_count > SIZE_MAX / 2 / size)
        memory_fail(memory);
    size_t capacity = column->capacity > new_count / 2 && column->capacity <= SIZE_MAX / 4 / size
                          ? column->capacity * 2
                          : new_count;
    column_resize(memory, column, size, capacity);
    if (type == LEAF_ARRAY)
        memset((char *)column->data + old_count * size, 0, (capacity - old_count) * size);
}

void array_extend(Memory *memory, Array *array, size_t count)
{
    if (count > SIZE_MAX - array->count)
        memory_fail(memory);
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++)
        extend_column(memory, array->layout->leaves[leaf].type, &array->columns[leaf], array->count,
                      array->count + count);
    array_count_more(memory, array, count);
}

void array_extend_by(Vm *vm, Array *array, const Array *from, size_t start, size_t count)
{
    size_t old_count = array->count;
    array_extend(vm->memory, array, count);
    for (uint32_t leaf = 0; count > 0 && leaf < array->layout->count; leaf++) {
        LeafType type = array->layout->leaves[leaf].type;
        char *out = (char *)array->columns[leaf].data + old_count * leaf_size(type);
        cells_copy_shared(vm->team, type, out, array_cells(from, leaf, start), 0, count);
    }
}

bool firing_rest(Firing *firing, uint32_t driver)
{
    if (firing_is_ended(firing, driver))
        firing_finish(firing);
    return false;
}

void firing_give(Firing *firing, uint32_t output, LeafType type, const void *cell)
{
    if (!firing_is_wanted(firing, output))
        return;
    cells_fill(type, firing_reserve(firing, output, 1), cell, 1);
    firing_produce(firing, output, 1);
}
