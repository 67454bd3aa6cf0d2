/* Reductions inside emitted loops whose order matters: sums and products of floats, as math/combine.h orders them.
 *
 * Elements are put into a tile; a full tile is added to the lanes. What is absent is padded by the exact identity, which no result can tell from absence. */
#ifndef RUNNEL_KERNEL_PREAMBLE_FOLD_H
#define RUNNEL_KERNEL_PREAMBLE_FOLD_H

#include "kernel/preamble/call.h"
#include "kernel/preamble/ops.h"
#include "math/combine.h"

enum { FOLD_TILE = 128 }; /* elements: a part of a block, a number of whole groups */

#define FOLD_ORDERED(name, Number, operator, identity)                                                                \
    typedef Number name##Lanes __attribute__((vector_size(COMBINE_LANES * sizeof(Number))));                          \
    typedef struct name {                                                                                             \
        name##Lanes lanes;                                                                                            \
        Number total;    /* of the blocks before */                                                                   \
        int64_t count;   /* elements added */                                                                         \
        int64_t fill;    /* of the tile */                                                                            \
        Number tile[FOLD_TILE];                                                                                       \
    } name;                                                                                                           \
    MATH_INLINE void name##_start(name *fold)                                                                         \
    {                                                                                                                 \
        for (int j = 0; j < COMBINE_LANES; j++)                                                                       \
            fold->lanes[j] = identity;                                                                                \
        fold->total = identity;                                                                                       \
        fold->count = fold->fill = 0;                                                                                 \
    }                                                                                                                 \
    MATH_INLINE Number name##_halve(name##Lanes x)                                                                    \
    {                                                                                                                 \
        Number a = x[0] operator x[4], b = x[1] operator x[5], c = x[2] operator x[6], d = x[3] operator x[7];        \
        return (a operator c) operator (b operator d);                                                                \
    }                                                                                                                 \
    /* The tile has `count` elements; fewer than it can hold only at the end of a segment. */                         \
    MATH_INLINE void name##_add(name *fold, int64_t count)                                                            \
    {                                                                                                                 \
        name##Lanes lanes = fold->lanes;                                                                              \
        int64_t whole = count & ~(int64_t)(COMBINE_LANES - 1);                                                        \
        for (int64_t i = 0; i < whole; i += COMBINE_LANES) {                                                          \
            name##Lanes x;                                                                                            \
            memcpy(&x, fold->tile + i, sizeof x);                                                                     \
            lanes = lanes operator x;                                                                                 \
        }                                                                                                             \
        fold->count += count;                                                                                         \
        if (count == FOLD_TILE && (fold->count & (COMBINE_BLOCK - 1)) != 0) {                                         \
            fold->lanes = lanes;                                                                                      \
            return;                                                                                                   \
        }                                                                                                             \
        Number block = name##_halve(lanes);                                                                           \
        for (int64_t i = whole; i < count; i++)                                                                       \
            block = block operator fold->tile[i];                                                                     \
        fold->total = fold->total operator block;                                                                     \
        for (int j = 0; j < COMBINE_LANES; j++)                                                                       \
            fold->lanes[j] = identity;                                                                                \
    }                                                                                                                 \
    /* A whole segment that fits in the tile: what most of many short ones cost is beginning and ending. */                \
    MATH_INLINE Number name##_all(const name *fold, int64_t count)                                                    \
    {                                                                                                                 \
        Number total = fold->tile[0];                                                                                 \
        int64_t i = 1;                                                                                                \
        if (count >= COMBINE_LANES) {                                                                                 \
            name##Lanes lanes;                                                                                        \
            memcpy(&lanes, fold->tile, sizeof lanes);                                                                 \
            for (i = COMBINE_LANES; i + COMBINE_LANES <= count; i += COMBINE_LANES) {                                 \
                name##Lanes x;                                                                                        \
                memcpy(&x, fold->tile + i, sizeof x);                                                                 \
                lanes = lanes operator x;                                                                             \
            }                                                                                                         \
            total = name##_halve(lanes);                                                                              \
        }                                                                                                             \
        for (; i < count; i++)                                                                                        \
            total = total operator fold->tile[i];                                                                     \
        return total;                                                                                                 \
    }                                                                                                                 \
    MATH_INLINE void name##_push(name *fold, Number element)                                                          \
    {                                                                                                                 \
        fold->tile[fold->fill++] = element;                                                                           \
        if (fold->fill == FOLD_TILE) {                                                                                \
            name##_add(fold, FOLD_TILE);                                                                              \
            fold->fill = 0;                                                                                           \
        }                                                                                                             \
    }                                                                                                                 \
    /* `empty` is the result where there was no element. */                                                           \
    MATH_INLINE Number name##_result(name *fold, Number empty)                                                        \
    {                                                                                                                 \
        if (fold->fill > 0 || (fold->count & (COMBINE_BLOCK - 1) & -(int64_t)FOLD_TILE) != 0)                         \
            name##_add(fold, fold->fill);                                                                             \
        return fold->count == 0 ? empty : fold->total;                                                                \
    }
FOLD_ORDERED(FoldSUM_F32, float, +, -0.0f)
FOLD_ORDERED(FoldSUM_F64, double, +, -0.0)
FOLD_ORDERED(FoldPRODUCT_F32, float, *, 1.0f)
FOLD_ORDERED(FoldPRODUCT_F64, double, *, 1.0)
#undef FOLD_ORDERED

/* Scans whose order matters. */
#define SCAN_ORDERED(name, Number, operator, identity)                                                                \
    typedef struct name {                                                                                             \
        Number carry; /* of the blocks before */                                                                      \
        Number local; /* of this one */                                                                               \
        int64_t count;                                                                                                \
    } name;                                                                                                           \
    MATH_INLINE void name##_start(name *scan)                                                                         \
    {                                                                                                                 \
        scan->carry = scan->local = identity;                                                                         \
        scan->count = 0;                                                                                              \
    }                                                                                                                 \
    MATH_INLINE Number name##_next(name *scan, Number element, bool is_inclusive, Number first)                       \
    {                                                                                                                 \
        Number before = scan->count == 0 ? first : scan->carry operator scan->local;                                  \
        scan->local = scan->local operator element;                                                                   \
        Number after = scan->carry operator scan->local;                                                              \
        scan->count++;                                                                                                \
        if ((scan->count & (COMBINE_BLOCK - 1)) == 0) {                                                               \
            scan->carry = after;                                                                                      \
            scan->local = identity;                                                                                   \
        }                                                                                                             \
        return is_inclusive ? after : before;                                                                         \
    }
SCAN_ORDERED(ScanSUM_F32, float, +, -0.0f)
SCAN_ORDERED(ScanSUM_F64, double, +, -0.0)
SCAN_ORDERED(ScanPRODUCT_F32, float, *, 1.0f)
SCAN_ORDERED(ScanPRODUCT_F64, double, *, 1.0)
#undef SCAN_ORDERED

/* ---- long loops ---- */

enum {
    KERNEL_STRIP = 1 << 16, /* points of an innermost loop after which it looks whether it is to go on, */
    KERNEL_ROUNDS = 256,     /* ... and of one around others */
};

/* ---- counts and indices ---- */

/* How many integers there are from a up to b, without b. */
MATH_INLINE int64_t kernel_distance(int64_t a, int64_t b, OpFlag *failed)
{
    int64_t distance = (int64_t)((uint64_t)b - (uint64_t)a);
    *failed |= (b > a) & (distance < 0);
    return b > a ? distance : 0;
}

/* Where the element is; 0 if there is none. */
MATH_INLINE int64_t kernel_index(int64_t index, int64_t start, int64_t length, OpFlag *failed)
{
    uint64_t is_inside = (uint64_t)index < (uint64_t)length;
    *failed |= !is_inside;
    return (int64_t)((uint64_t)(start + index) & -is_inside);
}

/* ---- arrays ---- */

static const uint64_t kernel_nothing[2];

/* The cells of a column. Nobody looks at what an array that was never made has. */
MATH_INLINE const void *kernel_cells(KernelArrayRef array, uint32_t leaf)
{
    return array == NULL || array->columns[leaf].data == NULL ? kernel_nothing : array->columns[leaf].data;
}

/* The same; sets `failed` where one cell stands for all, which most loops do not expect. */
MATH_INLINE const void *kernel_column(KernelArrayRef array, uint32_t leaf, OpFlag *failed)
{
    *failed |= array != NULL && array->columns[leaf].is_uniform && array->count > 1;
    return kernel_cells(array, leaf);
}

/* Where in a column an element is. */
MATH_INLINE int64_t kernel_place(KernelArrayRef array, uint32_t leaf, int64_t index)
{
    return array == NULL || array->columns[leaf].data == NULL || array->columns[leaf].is_uniform ? 0 : index;
}

#endif
