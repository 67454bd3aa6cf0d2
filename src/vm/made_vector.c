#include "vm/made_vector.h"

#include "vm/nodes.h"

enum { SHARED_MAX = 1 << 14 }; /* elements of an array to which one more vector is added */

void made_vector_begin(Firing *firing, MadeVector *made, size_t length)
{
    Memory *memory = firing->vm->memory;
    if (made->array != NULL && made->array->count + length > SHARED_MAX) {
        array_release(memory, made->array);
        made->array = NULL;
    }
    if (made->array == NULL)
        made->array = array_new(memory, firing->node->layout);
    made->start = made->array->count;
    made->length = length;
    made->is_open = true;
}

void made_vector_copy(Firing *firing, MadeVector *made, size_t parent)
{
    Cells arrays = firing_cells(firing, VECTOR_ARRAY);
    const Array *from = ((Array *const *)arrays.data)[cells_index(arrays, parent)];
    size_t start = cells_scalar(SCALAR_I64, firing_cells(firing, VECTOR_START), parent).bits;
    made_vector_begin(firing, made, cells_scalar(SCALAR_I64, firing_cells(firing, VECTOR_LENGTH), parent).bits);
    array_extend_by(firing->vm, made->array, from, start, made->length);
}

void *made_vector_cells(const MadeVector *made, uint32_t leaf)
{
    return (char *)made->array->columns[leaf].data + made->start * leaf_size(made->array->layout->leaves[leaf].type);
}

void made_vector_give(Firing *firing, MadeVector *made)
{
    int64_t start = (int64_t)made->start, length = (int64_t)made->length;
    firing_give(firing, VECTOR_ARRAY, LEAF_ARRAY, &made->array);
    firing_give(firing, VECTOR_START, SCALAR_I64, &start);
    firing_give(firing, VECTOR_LENGTH, SCALAR_I64, &length);
    made->is_open = false;
}
