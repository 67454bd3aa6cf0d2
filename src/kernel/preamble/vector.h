/* Vectors that emitted functions make (kernel/function_vectors.h): arrays in regions. */
#ifndef RUNNEL_KERNEL_PREAMBLE_VECTOR_H
#define RUNNEL_KERNEL_PREAMBLE_VECTOR_H

#include "kernel/preamble/call.h"
#include "kernel/preamble/fold.h"

enum { KERNEL_GROWTH = 64 }; /* elements that there is room for at first where nobody knows how many there will be */

#define KERNEL_COUNT_MAX (INT64_C(1) << 40) /* elements of an array: the rest is left to the VM */

MATH_INLINE size_t kernel_column_bytes(int64_t count, size_t size)
{
    return ((size_t)count * size + KERNEL_CELLS_ALIGNMENT - 1) & ~(size_t)(KERNEL_CELLS_ALIGNMENT - 1);
}

/* An array with room for that many elements, one at least; null if there is none. */
MATH_INLINE KernelArray *kernel_array(KernelRegion *region, int64_t count, uint32_t columns, const uint8_t *sizes)
{
    if ((uint64_t)count > (uint64_t)KERNEL_COUNT_MAX)
        return NULL;
    size_t header = kernel_column_bytes(1, sizeof(KernelArray) + columns * sizeof(KernelColumn)), bytes = header;
    for (uint32_t i = 0; i < columns; i++)
        bytes += kernel_column_bytes(count + (count == 0), sizes[i]);
    char *memory = (char *)kernel_take(region, bytes);
    if (memory == NULL)
        return NULL;
    KernelArray *array = (KernelArray *)(void *)memory;
    array->references = 0;
    array->layout = NULL;
    array->count = (size_t)count;
    memory += header;
    for (uint32_t i = 0; i < columns; i++) {
        array->columns[i] = (KernelColumn){memory, (size_t)count, false};
        memory += kernel_column_bytes(count + (count == 0), sizes[i]);
    }
    return array;
}

/* Fewer elements came than there was room for: what follows in the region may have it, if nothing does yet. */
MATH_INLINE void kernel_array_end(KernelRegion *region, KernelArray *array, int64_t count, uint32_t columns, const uint8_t *sizes)
{
    char *end = (char *)array->columns[columns - 1].data;
    bool is_last = region->top == end + kernel_column_bytes((int64_t)array->columns[columns - 1].capacity + (array->columns[columns - 1].capacity == 0), sizes[columns - 1]);
    array->count = (size_t)count;
    if (!is_last)
        return;
    char *to = (char *)array->columns[0].data;
    for (uint32_t i = 0; i < columns; i++) {
        if (to != (char *)array->columns[i].data)
            __builtin_memmove(to, array->columns[i].data, (size_t)count * sizes[i]);
        array->columns[i].data = to;
        array->columns[i].capacity = (size_t)count;
        to += kernel_column_bytes(count + (count == 0), sizes[i]);
    }
    region->top = to;
}

/* An array of the same elements with twice the room. */
__attribute__((noinline)) static KernelArray *kernel_array_grow(KernelRegion *region, const KernelArray *array, uint32_t columns, const uint8_t *sizes)
{
    KernelArray *larger = kernel_array(region, (int64_t)array->count * 2, columns, sizes);
    if (larger != NULL)
        for (uint32_t i = 0; i < columns; i++)
            memcpy(larger->columns[i].data, array->columns[i].data, array->count * sizes[i]);
    return larger;
}

/* Cells [start, start + count) of a column, next to each other: where one stands for all they are written out. Null if there is no memory for that. */
MATH_INLINE const void *kernel_run(KernelRegion *region, KernelArrayRef array, uint32_t leaf, size_t size, int64_t start, int64_t count)
{
    if (array == NULL || array->columns[leaf].data == NULL)
        return kernel_nothing;
    const char *cells = (const char *)array->columns[leaf].data;
    if (!array->columns[leaf].is_uniform)
        return cells + (size_t)start * size;
    char *copies = (char *)kernel_take(region, (size_t)(count + (count == 0)) * size);
    if (copies != NULL)
        for (int64_t i = 0; i < count; i++)
            memcpy(copies + (size_t)i * size, cells, size);
    return copies;
}

/* Copies cells [start, start + count) of a column. */
MATH_INLINE void kernel_copy(void *to, KernelArrayRef array, uint32_t leaf, size_t size, int64_t start, int64_t count)
{
    if (count == 0)
        return;
    const char *cells = (const char *)array->columns[leaf].data;
    if (!array->columns[leaf].is_uniform)
        memcpy(to, cells + (size_t)start * size, (size_t)count * size);
    else
        for (int64_t i = 0; i < count; i++)
            memcpy((char *)to + (size_t)i * size, cells, size);
}

/* How many integers there are from a up to b, b included. */
MATH_INLINE int64_t kernel_distance_inclusive(int64_t a, int64_t b, OpFlag *failed)
{
    int64_t distance = (int64_t)((uint64_t)b - (uint64_t)a + 1);
    *failed |= (b >= a) & (distance <= 0);
    return b >= a ? distance : 0;
}

/* How far the cells of a column are apart, in cells. */
MATH_INLINE int64_t kernel_stride(KernelArrayRef array, uint32_t leaf)
{
    return array != NULL && array->columns[leaf].data != NULL && !array->columns[leaf].is_uniform;
}

#endif
