/* What wide versions of functions need (kernel/function_wide.h). */
#ifndef RUNNEL_KERNEL_PREAMBLE_WIDE_H
#define RUNNEL_KERNEL_PREAMBLE_WIDE_H

#include "kernel/preamble/function.h"
#include "kernel/preamble/pack.h"
#include "kernel/preamble/vector.h"

enum {
    KERNEL_WIDE_LEAST = KERNEL_WIDE / 4, /* fewer are done one by one, if there is code for that */
    KERNEL_WIDE_LENGTH = 256,      /* elements of a vector at most, */
    KERNEL_WIDE_BYTES = 1 << 20,   /* ... and bytes of all, so that they stay in caches: the rest is done one by one */
    KERNEL_WIDE_SHAPES = 32,       /* lengths that points are sorted by, */
    KERNEL_WIDE_PLACES = 128,      /* ... found in a table of so many: a power of two */
    KERNEL_WIDE_MISSES = 4,        /* blocks of points that were not done before no more are tried */
};

typedef uint64_t KernelTruth; /* of a lane, in memory: as wide as most of what a loop over lanes computes, or compilers would do eight vectors of that for one of these */

#define KERNEL_WIDE_ALIGNED __attribute__((aligned(64)))
/* Lanes know nothing of each other. There are many such loops: unrolled, they would take the compiler long. What stands before it keeps a loop inside of the loops around it. */
#define KERNEL_WIDE_LOOP                                                                                              \
    __asm__ volatile("");                                                                                             \
    _Pragma("GCC unroll 1") _Pragma("GCC ivdep") for (int lane = 0; lane < KERNEL_WIDE; lane++)

/* ... of a line each, which take less when they are unrolled. */
#define KERNEL_WIDE_LINE                                                                                              \
    __asm__ volatile("");                                                                                             \
    _Pragma("GCC ivdep") for (int lane = 0; lane < KERNEL_WIDE; lane++)

/* ... that only move elements from anywhere: one by one takes less than loads of a vector from anywhere and a store. */
#define KERNEL_WIDE_MOVE                                                                                              \
    for (int lane = 0; lane < KERNEL_WIDE; lane++)                                                                    \
        if (__extension__({ __asm__ volatile(""); true; }))

/* The same for some that were brought together: a multiple of KERNEL_PICKED, as compilers see. */
enum { KERNEL_PICKED = 8 };
#define KERNEL_PICKED_LOOP(count)                                                                                     \
    __asm__ volatile("");                                                                                             \
    _Pragma("GCC unroll 1") _Pragma("GCC ivdep") for (int lane = 0; lane < ((count) & -KERNEL_PICKED); lane++)

/* The sum, or product, of the lanes of math/combine.h, for all points. */
#define KERNEL_WIDE_HALVE(to, x, operator)                                                                            \
    do {                                                                                                              \
        KERNEL_WIDE_LOOP                                                                                              \
        to[lane] = ((x[0][lane] operator x[4][lane]) operator (x[2][lane] operator x[6][lane])) operator              \
                   ((x[1][lane] operator x[5][lane]) operator (x[3][lane] operator x[7][lane]));                      \
    } while (0)

/* Memory for the cells of a vector; null if it is long. */
MATH_INLINE void *kernel_wide_take(KernelRegion *region, KernelMark mark, int64_t count, size_t size)
{
    if ((uint64_t)count > KERNEL_WIDE_LENGTH || kernel_used(region, mark) > KERNEL_WIDE_BYTES)
        return NULL;
    return kernel_take(region, (size_t)(count + 1) * size);
}

/* Whether the vectors of all points lie in one array. */
MATH_INLINE bool kernel_wide_is_one(const KernelArrayRef *arrays)
{
    uint64_t difference = 0;
    KERNEL_WIDE_LOOP
        difference |= (uint64_t)(uintptr_t)arrays[lane] ^ (uint64_t)(uintptr_t)arrays[0];
    return difference == 0;
}

/* Where the cells of each point's vector begin; false if one of them has one cell for all, or they are many. */
MATH_INLINE bool kernel_wide_cells(const void **cells, const KernelArrayRef *arrays, const int64_t *starts, uint32_t leaf, size_t size, int64_t length)
{
    const bool is_one = length > 0 && kernel_wide_is_one(arrays);
    if (length > KERNEL_WIDE_LENGTH || (is_one && kernel_stride(arrays[0], leaf) != 1))
        return false;
    if (is_one) {
        const uintptr_t first = (uintptr_t)kernel_cells(arrays[0], leaf);
        KERNEL_WIDE_LOOP
            cells[lane] = (const void *)(first + (uintptr_t)starts[lane] * size);
        return true;
    }
    for (int lane = 0; lane < KERNEL_WIDE; lane++) {
        if (length > 0 && kernel_stride(arrays[lane], leaf) != 1)
            return false;
        cells[lane] = length == 0 ? (const void *)kernel_nothing : (const char *)kernel_cells(arrays[lane], leaf) + (size_t)starts[lane] * size;
    }
    return true;
}

MATH_INLINE uint64_t kernel_wide_four(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Up to eight bytes, the first lowest; no others are read. */
MATH_INLINE uint64_t kernel_wide_word(const unsigned char *bytes, int64_t count)
{
    if (count >= 8)
        return kernel_wide_four(bytes) | kernel_wide_four(bytes + 4) << 32;
    if (count >= 4)
        return kernel_wide_four(bytes) | kernel_wide_four(bytes + count - 4) << 8 * (count - 4);
    return bytes[0] | (uint64_t)bytes[count / 2] << 8 * (count / 2) | (uint64_t)bytes[count - 1] << 8 * (count - 1);
}

/* The vectors of all points, of bytes, as cells of all lanes for each element; null if they have one cell for all, or are long. */
MATH_INLINE void *kernel_wide_bytes(KernelRegion *region, KernelMark mark, const KernelArrayRef *arrays, const int64_t *starts, uint32_t leaf, int64_t length)
{
    const unsigned char *bytes[KERNEL_WIDE];
    unsigned char (*cells)[KERNEL_WIDE] = kernel_wide_take(region, mark, length, KERNEL_WIDE);
    if (cells == NULL || !kernel_wide_cells((const void **)bytes, arrays, starts, leaf, 1, length))
        return NULL;
    for (int64_t first = 0; first < length; first += 8) {
        uint64_t words[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;
        const int64_t count = length - first < 8 ? length - first : 8;
        KERNEL_WIDE_MOVE
            words[lane] = kernel_wide_word(bytes[lane] + first, count);
        for (int64_t k = 0; k < count; k++) {
            KERNEL_WIDE_LOOP
                cells[first + k][lane] = (unsigned char)(words[lane] >> 8 * k);
        }
    }
    return cells;
}

/* ---- lanes that are brought together ---- */

/* Their numbers are packed as what they have is. */
#define WIDE_EIGHT(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define WIDE_NUMBERS(n) WIDE_EIGHT(n), WIDE_EIGHT(n + 8), WIDE_EIGHT(n + 16), WIDE_EIGHT(n + 24)
static const int64_t kernel_wide_numbers[] KERNEL_WIDE_ALIGNED = {WIDE_NUMBERS(0), WIDE_NUMBERS(32), WIDE_NUMBERS(64), WIDE_NUMBERS(96)};
#undef WIDE_EIGHT
#undef WIDE_NUMBERS
_Static_assert(KERNEL_WIDE <= sizeof kernel_wide_numbers / sizeof *kernel_wide_numbers, "every lane has a number");

/* As many as a register has are looked at together. */
#define KERNEL_PICK_LOOP for (int first = 0; first < KERNEL_WIDE; first += KERNEL_PICKED)

/* So many are done: some of them twice. */
MATH_INLINE int kernel_wide_full(int count)
{
    return (count + KERNEL_PICKED - 1) & -KERNEL_PICKED;
}

/* Points that tell what a value is at all others, if it is linear in the bits of a number x (kernel/linear.h): where lanes have numbers one after the other, the last multiple of KERNEL_WIDE
 * that is not above the first, and what is more than that by a power of two up to KERNEL_WIDE; as many as KERNEL_BASIS at least, some of them twice. Gives the place of the first after that
 * multiple; -1 if lanes have other numbers. */
enum {
    KERNEL_BASIS_BITS = __builtin_ctz(2 * KERNEL_WIDE),
    KERNEL_BASIS = (KERNEL_BASIS_BITS + 1 + KERNEL_PICKED - 1) & ~(KERNEL_PICKED - 1),
};
_Static_assert((KERNEL_WIDE & (KERNEL_WIDE - 1)) == 0, "multiples of KERNEL_WIDE have their last bits in common");

MATH_INLINE int64_t kernel_wide_basis(int64_t *basis, const int64_t *x)
{
    const int64_t first = x[0], start = first & (KERNEL_WIDE - 1);
    int64_t differences = 0;
    KERNEL_WIDE_LOOP
        differences |= x[lane] ^ (int64_t)((uint64_t)first + (uint64_t)lane);
    if (differences != 0 || first < 0 || first > INT64_MAX - 2 * KERNEL_WIDE)
        return -1;
    for (int i = 0; i < KERNEL_BASIS; i++)
        basis[i] = first - start + (i == 0 || i > KERNEL_BASIS_BITS ? 0 : INT64_C(1) << (i - 1));
    return start;
}

/* What such a value is for all lanes, in place of what it is at these points. */
#define KERNEL_WIDE_SPREAD(x, start)                                                                                  \
    do {                                                                                                              \
        __typeof__(*(x)) spread[2 * KERNEL_WIDE] KERNEL_WIDE_ALIGNED;                                                 \
        spread[0] = (x)[0];                                                                                           \
        _Pragma("GCC unroll 8") for (int bit = 0; bit < KERNEL_BASIS_BITS; bit++)                                     \
        {                                                                                                             \
            const __typeof__(*(x)) difference = (x)[bit + 1] ^ (x)[0];                                                \
            for (int i = 0; i < 1 << bit; i++)                                                                        \
                spread[(1 << bit) + i] = spread[i] ^ difference;                                                      \
        }                                                                                                             \
        KERNEL_WIDE_LOOP                                                                                              \
        (x)[lane] = spread[(start) + lane];                                                                           \
    } while (0)

/* FLAG_PARTITION: a part begins at each true, and at the first element. Gives how many there are. */
MATH_INLINE int64_t kernel_wide_parts(const uint8_t *flags, int64_t length, int64_t *starts, int64_t *lengths)
{
    int64_t count = 0, first = 0;
    for (int64_t i = 1; i <= length; i++)
        if (i == length || flags[i]) {
            starts[count] = first;
            lengths[count++] = i - first;
            first = i;
        }
    return count;
}

/* Parts of `width` elements, of which the last may lack some. */
MATH_INLINE int64_t kernel_wide_part_count(int64_t length, int64_t width)
{
    return length / width + (length % width != 0);
}

MATH_INLINE int64_t kernel_wide_part_width(int64_t length, int64_t width, OpFlag *failed)
{
    *failed |= length > width && length % width != 0;
    return length < width ? length : width;
}

MATH_INLINE int64_t kernel_wide_width(const int64_t *lengths, int64_t count, OpFlag *failed)
{
    int64_t width = count == 0 ? 0 : lengths[0];
    for (int64_t i = 0; i < count; i++)
        *failed |= lengths[i] != width;
    return width;
}

/* ---- points of a call ---- */

/* Does one point; false if it failed. */
typedef bool KernelPoint(const KernelCall *call, const KernelScalars *scalars, int64_t point);
/* The same for up to KERNEL_WIDE of them, of the same lengths; false if nothing was done. Absent points are like one of them. */
typedef bool KernelPoints(const KernelCall *call, const KernelScalars *scalars, const int64_t *points, int64_t count);
/* A number that the lengths of its vectors decide; null where points have none. */
typedef uint64_t KernelKey(const KernelCall *call, int64_t point);

typedef struct KernelShape {
    uint64_t key;
    int64_t count;
    int64_t points[KERNEL_WIDE];
} KernelShape;

typedef struct KernelWideEntry {
    const KernelCall *call;
    KernelScalars scalars;
    KernelPoint *one;        /* null if there is no such code */
    KernelPoints *many;
    int64_t least;           /* the first point that failed, or was not done */
    bool is_left;            /* ... for want of code */
    uint32_t misses, hits;
    uint32_t shape_count;
    uint8_t places[KERNEL_WIDE_PLACES]; /* where the shape with such a key may be */
    KernelShape *shapes;
} KernelWideEntry;

static void kernel_wide_one(KernelWideEntry *entry, int64_t point)
{
    if (point >= entry->least || (entry->one != NULL && entry->one(entry->call, &entry->scalars, point)))
        return;
    entry->least = point;
    entry->is_left |= entry->one == NULL && !kernel_is_over(entry->call);
}

static void kernel_wide_shape(KernelWideEntry *entry, KernelShape *shape)
{
    bool is_tried = shape->count >= (entry->one == NULL ? 1 : KERNEL_WIDE_LEAST);
    for (int64_t i = shape->count; i < KERNEL_WIDE && is_tried; i++)
        shape->points[i] = shape->points[0];
    bool is_done = is_tried && entry->many(entry->call, &entry->scalars, shape->points, shape->count);
    entry->hits += is_done;
    entry->misses += is_tried && !is_done;
    for (int64_t i = 0; i < shape->count && !is_done; i++)
        kernel_wide_one(entry, shape->points[i]);
    shape->count = 0;
}

/* Where points of these lengths are collected; null if there are too many such places. */
static KernelShape *kernel_wide_find(KernelWideEntry *entry, uint64_t key)
{
    uint8_t *place = &entry->places[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (KERNEL_WIDE_PLACES - 1)];
    if (!OP_RARELY(*place >= entry->shape_count || entry->shapes[*place].key != key))
        return &entry->shapes[*place];
    for (uint32_t i = 0; i < entry->shape_count; i++)
        if (entry->shapes[i].key == key) {
            *place = (uint8_t)i;
            return &entry->shapes[i];
        }
    if (entry->shape_count == KERNEL_WIDE_SHAPES)
        return NULL;
    *place = (uint8_t)entry->shape_count;
    KernelShape *shape = &entry->shapes[entry->shape_count++];
    shape->key = key;
    shape->count = 0;
    return shape;
}

/* By their lengths. */
static void kernel_wide_sorted(KernelWideEntry *entry, KernelKey *key)
{
    for (int64_t i = 0; i < entry->call->count; i++) {
        bool is_tried = entry->misses < KERNEL_WIDE_MISSES + entry->hits;
        KernelShape *shape = is_tried ? kernel_wide_find(entry, key(entry->call, i)) : NULL;
        if (shape == NULL) {
            kernel_wide_one(entry, i);
            continue;
        }
        shape->points[shape->count++] = i;
        if (shape->count == KERNEL_WIDE)
            kernel_wide_shape(entry, shape);
    }
    for (uint32_t i = 0; i < entry->shape_count; i++)
        kernel_wide_shape(entry, &entry->shapes[i]);
}

/* As they come: they are all alike. */
static void kernel_wide_rows(KernelWideEntry *entry)
{
    KernelShape *shape = &entry->shapes[0];
    for (int64_t first = 0; first < entry->call->count; first += KERNEL_WIDE) {
        const int64_t left = entry->call->count - first, count = left < KERNEL_WIDE ? left : KERNEL_WIDE;
        bool is_tried = entry->misses < KERNEL_WIDE_MISSES + entry->hits;
        for (int64_t i = 0; i < count; i++)
            shape->points[i] = first + i;
        shape->count = is_tried ? count : 0;
        for (int64_t i = 0; i < count && !is_tried; i++)
            kernel_wide_one(entry, first + i);
        kernel_wide_shape(entry, shape);
    }
}

__attribute__((noinline, unused)) static uint64_t kernel_wide_entry(const KernelCall *call, KernelKey *key, KernelPoints *many, KernelPoint *one)
{
    KernelShape shapes[KERNEL_WIDE_SHAPES];
    KernelWideEntry entry = {.call = call, .scalars = kernel_scalars(call), .one = one, .many = many, .least = call->count, .shapes = shapes};
    if (call->together != NULL)
        kernel_wide_one(&entry, 0);
    else if (key == NULL)
        kernel_wide_rows(&entry);
    else
        kernel_wide_sorted(&entry, key);
    *call->done = entry.least;
    return entry.least == call->count ? 0 : entry.is_left ? KERNEL_LEFT : KERNEL_FAILED;
}

#endif
