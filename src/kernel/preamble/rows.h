/* Vectors of tuples as rows: the numbers of each element next to each other, in one line of the cache.
 *
 * Functions that take elements at many places in turn (kernel/function_lanes.c) would wait for a line of each column, and loads from anywhere are slow on some processors. The VM makes
 * rows of a vector when that is worth it (vm/bundle_rows.h). */
#ifndef RUNNEL_KERNEL_PREAMBLE_ROWS_H
#define RUNNEL_KERNEL_PREAMBLE_ROWS_H

#include "kernel/preamble/ops.h"

enum { KERNEL_ROW_COLUMNS = 8 }; /* of a vector, at most */

typedef uint64_t KernelRowCell __attribute__((may_alias)); /* whatever its type */

/* Cells of a row, with what pads it. */
MATH_INLINE int64_t kernel_row_width(int64_t columns)
{
    return columns <= 4 ? 4 : KERNEL_ROW_COLUMNS;
}

/* Of the rows at `count` places, a multiple of 4:
 *
 *     void kernel_rows_4(rows, width, places, count, a, b, c, d)  puts four columns there, or where it is not null; `rows` is at the first of them
 *     void kernel_rows_1(rows, width, places, count, a)           one
 */
#ifdef __AVX__

typedef uint64_t KernelRowPart __attribute__((vector_size(32)));
typedef uint64_t KernelRowMemory __attribute__((vector_size(32), aligned(8), may_alias));

#ifdef __clang__
#define KERNEL_ROW_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define KERNEL_ROW_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (KernelRowPart){i, j, k, l})
#endif

MATH_INLINE void kernel_row_store(KernelRowCell *column, int i, KernelRowPart part)
{
    if (column != NULL)
        *(KernelRowMemory *)(column + i) = part;
}

MATH_INLINE void kernel_rows_4(const KernelRowCell *rows, int64_t width, const int64_t *places, int count, void *a, void *b, void *c, void *d)
{
    for (int i = 0; i < count; i += 4) {
        const KernelRowPart w = *(const KernelRowMemory *)(rows + places[i] * width), x = *(const KernelRowMemory *)(rows + places[i + 1] * width);
        const KernelRowPart y = *(const KernelRowMemory *)(rows + places[i + 2] * width), z = *(const KernelRowMemory *)(rows + places[i + 3] * width);
        const KernelRowPart even = KERNEL_ROW_SHUFFLE(w, x, 0, 4, 2, 6), odd = KERNEL_ROW_SHUFFLE(w, x, 1, 5, 3, 7);
        const KernelRowPart next_even = KERNEL_ROW_SHUFFLE(y, z, 0, 4, 2, 6), next_odd = KERNEL_ROW_SHUFFLE(y, z, 1, 5, 3, 7);
        kernel_row_store(a, i, KERNEL_ROW_SHUFFLE(even, next_even, 0, 1, 4, 5));
        kernel_row_store(b, i, KERNEL_ROW_SHUFFLE(odd, next_odd, 0, 1, 4, 5));
        kernel_row_store(c, i, KERNEL_ROW_SHUFFLE(even, next_even, 2, 3, 6, 7));
        kernel_row_store(d, i, KERNEL_ROW_SHUFFLE(odd, next_odd, 2, 3, 6, 7));
    }
}

MATH_INLINE void kernel_rows_1(const KernelRowCell *rows, int64_t width, const int64_t *places, int count, void *a)
{
    for (int i = 0; i < count; i += 4)
        *(KernelRowMemory *)((KernelRowCell *)a + i) =
            (KernelRowPart){rows[places[i] * width], rows[places[i + 1] * width], rows[places[i + 2] * width], rows[places[i + 3] * width]};
}

#else

MATH_INLINE void kernel_rows_1(const KernelRowCell *rows, int64_t width, const int64_t *places, int count, void *a)
{
    for (int i = 0; i < count; i++)
        ((KernelRowCell *)a)[i] = rows[places[i] * width];
}

MATH_INLINE void kernel_rows_4(const KernelRowCell *rows, int64_t width, const int64_t *places, int count, void *a, void *b, void *c, void *d)
{
    void *const columns[] = {a, b, c, d};
    for (int k = 0; k < 4; k++)
        if (columns[k] != NULL)
            kernel_rows_1(rows + k, width, places, count, columns[k]);
}

#endif

#endif
