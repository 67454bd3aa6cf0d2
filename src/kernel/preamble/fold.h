/* Reductions inside emitted loops whose order matters: sums and products of floats, as math/combine.h orders them.
 *
 * Elements are put into a tile; a full tile is added to the lanes. What is absent is padded by the exact identity, which no result can tell from absence. */
#ifndef RUNNEL_KERNEL_PREAMBLE_FOLD_H
#define RUNNEL_KERNEL_PREAMBLE_FOLD_H

#include "kernel/preamble/call.h"
#include "kernel/preamble/ops.h"
#include "math/combine.h"

enum { FOLD_TILE = 128 }; /* elements: a part of a block, a number of whole groups */

/* Lanes are held in as few registers as they fit in: compilers that must split a vector keep it in memory. */
#if defined __AVX512F__
enum { FOLD_REGISTER = 64 };
#define FOLD_EACH_F32 8 /* of these numbers a register has */
#define FOLD_EACH_F64 8
#elif defined __AVX__
enum { FOLD_REGISTER = 32 };
#define FOLD_EACH_F32 8
#define FOLD_EACH_F64 4
#else
enum { FOLD_REGISTER = 16 };
#define FOLD_EACH_F32 4
#define FOLD_EACH_F64 2
#endif
#define FOLD_PART(Number) (COMBINE_LANES * sizeof(Number) < FOLD_REGISTER ? COMBINE_LANES * sizeof(Number) : FOLD_REGISTER)
#define FOLD_PARTS(Lanes) (sizeof((Lanes){0}.parts) / sizeof *(Lanes){0}.parts)

/* Some lanes of a register, as one that has no others. */
#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define FOLD_SOME(x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)
#endif
#endif
#ifndef FOLD_SOME
#define FOLD_SOME(x, ...)                                                                                             \
    __extension__({                                                                                                   \
        const int from[] = {__VA_ARGS__};                                                                             \
        typedef __typeof__((x)[0]) Some __attribute__((vector_size(sizeof from / sizeof *from * sizeof (x)[0])));     \
        Some some;                                                                                                    \
        for (size_t k = 0; k < sizeof from / sizeof *from; k++)                                                       \
            some[k] = (x)[from[k]];                                                                                   \
        some;                                                                                                         \
    })
#endif

/* Halves of the lanes in `parts` are combined until one is left, register by register: lanes that are taken out one by one go through memory. */
#define FOLD_HALVE(each, parts, operator) FOLD_HALVE_OF(each, parts, operator)
#define FOLD_HALVE_OF(each, parts, operator) FOLD_HALVE_##each(parts, operator)
#define FOLD_HALVE_8(parts, operator)                                                                                 \
    __auto_type four = FOLD_SOME(parts[0], 0, 1, 2, 3) operator FOLD_SOME(parts[0], 4, 5, 6, 7);                      \
    FOLD_HALVE_FOUR(operator)
#define FOLD_HALVE_4(parts, operator)                                                                                 \
    __auto_type four = parts[0] operator parts[1];                                                                    \
    FOLD_HALVE_FOUR(operator)
#define FOLD_HALVE_FOUR(operator)                                                                                     \
    __auto_type two = FOLD_SOME(four, 0, 1) operator FOLD_SOME(four, 2, 3);                                           \
    return two[0] operator two[1];
#define FOLD_HALVE_2(parts, operator)                                                                                 \
    __auto_type two = (parts[0] operator parts[2]) operator (parts[1] operator parts[3]);                             \
    return two[0] operator two[1];

#define FOLD_ORDERED(name, Number, operator, identity, each)                                                          \
    typedef Number name##Part __attribute__((vector_size(FOLD_PART(Number))));                                        \
    typedef struct name##Lanes {                                                                                      \
        name##Part parts[COMBINE_LANES * sizeof(Number) / FOLD_PART(Number)];                                         \
    } name##Lanes;                                                                                                    \
    typedef struct name {                                                                                             \
        name##Lanes lanes;                                                                                            \
        Number total;    /* of the blocks before */                                                                   \
        int64_t count;   /* elements added */                                                                         \
        int64_t fill;    /* of the tile */                                                                            \
        Number tile[FOLD_TILE];                                                                                       \
    } name;                                                                                                           \
    MATH_INLINE Number name##_identity(void)                                                                          \
    {                                                                                                                 \
        return identity;                                                                                              \
    }                                                                                                                 \
    MATH_INLINE name##Lanes name##_none(void)                                                                         \
    {                                                                                                                 \
        name##Lanes lanes;                                                                                            \
        for (size_t i = 0; i < FOLD_PARTS(name##Lanes); i++)                                                          \
            lanes.parts[i] = identity - (name##Part){0};                                                              \
        return lanes;                                                                                                 \
    }                                                                                                                 \
    MATH_INLINE void name##_start(name *fold)                                                                         \
    {                                                                                                                 \
        fold->lanes = name##_none();                                                                                  \
        fold->total = identity;                                                                                       \
        fold->count = fold->fill = 0;                                                                                 \
    }                                                                                                                 \
    MATH_INLINE Number name##_halve(name##Lanes x)                                                                    \
    {                                                                                                                 \
        FOLD_HALVE(each, x.parts, operator)                                                                           \
    }                                                                                                                 \
    MATH_INLINE name##Lanes name##_load(const Number *elements)                                                       \
    {                                                                                                                 \
        name##Lanes lanes;                                                                                            \
        memcpy(&lanes, elements, sizeof lanes);                                                                       \
        return lanes;                                                                                                 \
    }                                                                                                                 \
    /* Adds the groups of elements from `first` on up to `end`. */                                                    \
    MATH_INLINE name##Lanes name##_groups(name##Lanes lanes, const Number *elements, int64_t first, int64_t end)      \
    {                                                                                                                 \
        for (int64_t i = first; i < end; i += COMBINE_LANES) {                                                        \
            name##Lanes x = name##_load(elements + i);                                                                \
            for (size_t k = 0; k < FOLD_PARTS(name##Lanes); k++)                                                      \
                lanes.parts[k] = lanes.parts[k] operator x.parts[k];                                                  \
        }                                                                                                             \
        return lanes;                                                                                                 \
    }                                                                                                                 \
    /* The tile has `count` elements; fewer than it can hold only at the end of a segment. */                         \
    MATH_INLINE void name##_add(name *fold, int64_t count)                                                            \
    {                                                                                                                 \
        int64_t whole = count & ~(int64_t)(COMBINE_LANES - 1);                                                        \
        name##Lanes lanes = name##_groups(fold->lanes, fold->tile, 0, whole);                                         \
        fold->count += count;                                                                                         \
        if (count == FOLD_TILE && (fold->count & (COMBINE_BLOCK - 1)) != 0) {                                         \
            fold->lanes = lanes;                                                                                      \
            return;                                                                                                   \
        }                                                                                                             \
        Number block = name##_halve(lanes);                                                                           \
        for (int64_t i = whole; i < count; i++)                                                                       \
            block = block operator fold->tile[i];                                                                     \
        fold->total = fold->total operator block;                                                                     \
        fold->lanes = name##_none();                                                                                  \
    }                                                                                                                 \
    /* A whole segment that fits in the tile: what most of many short ones cost is beginning and ending. */           \
    MATH_INLINE Number name##_all(const name *fold, int64_t count)                                                    \
    {                                                                                                                 \
        Number total = fold->tile[0];                                                                                 \
        int64_t i = 1;                                                                                                \
        if (count >= COMBINE_LANES) {                                                                                 \
            i = count & ~(int64_t)(COMBINE_LANES - 1);                                                                \
            total = name##_halve(name##_groups(name##_load(fold->tile), fold->tile, COMBINE_LANES, i));               \
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
    /* A segment of which the totals of all blocks are known. */                                                      \
    MATH_INLINE Number name##_joined(const uint64_t *totals, int64_t count, Number empty)                             \
    {                                                                                                                 \
        Number total = count > 0 ? identity : empty, block;                                                           \
        for (int64_t i = 0; i < count; i += COMBINE_BLOCK) {                                                          \
            memcpy(&block, &totals[i / COMBINE_BLOCK], sizeof block);                                                 \
            total = total operator block;                                                                             \
        }                                                                                                             \
        return total;                                                                                                 \
    }                                                                                                                 \
    /* As if a long segment had this total. */                                                                        \
    MATH_INLINE void name##_set(name *fold, Number total)                                                             \
    {                                                                                                                 \
        fold->total = total;                                                                                          \
        fold->count = COMBINE_BLOCK;                                                                                  \
        fold->fill = 0;                                                                                               \
    }                                                                                                                 \
    /* `empty` is the result where there was no element. */                                                           \
    MATH_INLINE Number name##_result(name *fold, Number empty)                                                        \
    {                                                                                                                 \
        if (fold->fill > 0 || (fold->count & (COMBINE_BLOCK - 1) & -(int64_t)FOLD_TILE) != 0)                         \
            name##_add(fold, fold->fill);                                                                             \
        return fold->count == 0 ? empty : fold->total;                                                                \
    }
FOLD_ORDERED(FoldSUM_F32, float, +, -0.0f, FOLD_EACH_F32)
FOLD_ORDERED(FoldSUM_F64, double, +, -0.0, FOLD_EACH_F64)
FOLD_ORDERED(FoldPRODUCT_F32, float, *, 1.0f, FOLD_EACH_F32)
FOLD_ORDERED(FoldPRODUCT_F64, double, *, 1.0, FOLD_EACH_F64)
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
    }                                                                                                                 \
    /* A whole block that comes to this. */                                                                           \
    MATH_INLINE void name##_skip(name *scan, const uint64_t *block)                                                   \
    {                                                                                                                 \
        Number local;                                                                                                 \
        memcpy(&local, block, sizeof local);                                                                          \
        scan->carry = scan->carry operator local;                                                                     \
        scan->count += COMBINE_BLOCK;                                                                                 \
    }                                                                                                                 \
    /* What it comes to in a block. */                                                                                \
    MATH_INLINE void name##_push(name *scan, Number element)                                                          \
    {                                                                                                                 \
        scan->local = scan->local operator element;                                                                   \
    }                                                                                                                 \
    /* Goes on with a block, if that is what those before it come to. */                                              \
    MATH_INLINE void name##_resume(name *scan, Number carry, int64_t block)                                           \
    {                                                                                                                 \
        scan->carry = carry;                                                                                          \
        scan->local = identity;                                                                                       \
        scan->count = block * COMBINE_BLOCK;                                                                          \
    }
SCAN_ORDERED(ScanSUM_F32, float, +, -0.0f)
SCAN_ORDERED(ScanSUM_F64, double, +, -0.0)
SCAN_ORDERED(ScanPRODUCT_F32, float, *, 1.0f)
SCAN_ORDERED(ScanPRODUCT_F64, double, *, 1.0)
#undef SCAN_ORDERED

/* ---- long loops ---- */

enum {
    KERNEL_STRIP = 1 << 16, /* points of an innermost loop after which it looks whether it is to go on, */
    KERNEL_ROUNDS = 256,     /* ... and of one around others, */
    KERNEL_LONGER_TURNS = 8, /* ... whose turns are taken to be so many times longer */
    KERNEL_SEARCH = 1024,    /* points that are searched at once for one that is kept */
#ifdef __AVX512F__
    KERNEL_NARROW = 16,      /* ... where 32 bits are enough for them, so many in a register */
#else
    KERNEL_NARROW = 8,
#endif
};

/* Numbers of 32 bits, and comparisons of them: all bits of one where it holds. */
typedef uint32_t KernelNarrow __attribute__((vector_size(4 * KERNEL_NARROW)));

/* One after the other. */
MATH_INLINE KernelNarrow kernel_narrow_from(uint32_t first)
{
    KernelNarrow all;
    for (uint32_t i = 0; i < KERNEL_NARROW; i++)
        all[i] = i;
    return all + first;
}

MATH_INLINE bool kernel_narrow_any(KernelNarrow hits)
{
#if defined __AVX512F__ && !defined __clang__
    typedef int Lanes __attribute__((vector_size(64)));
    return __builtin_ia32_ptestmd512((Lanes)hits, (Lanes)hits, (unsigned short)-1) != 0;
#else
    uint32_t any = 0;
    for (int i = 0; i < KERNEL_NARROW; i++)
        any |= hits[i];
    return any != 0;
#endif
}

/* Where a loop stores an element of that size at each of its turns, the first of them at `cell`, and there are many: lets it end after those that fill a register, unless that begins a line of memory. Gives how many of them are
 * to be done again, for the next register to begin one. */
MATH_INLINE int64_t kernel_to_line(const void *cell, size_t size, int64_t first, int64_t *end)
{
    enum { FEW_REGISTERS = 4 };
    const int64_t turns = KERNEL_CELLS_ALIGNMENT / (int64_t)size, again = (int64_t)((uintptr_t)cell % KERNEL_CELLS_ALIGNMENT / size);
    if (again == 0 || *end - first < FEW_REGISTERS * turns)
        return 0;
    *end = first + turns;
    return again;
}

/* The blocks of a part of a long loop that are still to be done. */
typedef struct KernelPart {
    int64_t next, end;
    int64_t least; /* the loop's first point */
} KernelPart;

/* The points of the next block; false if there is none. */
MATH_INLINE bool kernel_next_part_block(KernelPart *part, int64_t *from, int64_t *count)
{
    if (part->next >= part->end)
        return false;
    const int64_t end = part->next + COMBINE_BLOCK;
    *from = part->next > part->least ? part->next : part->least;
    *count = end < part->end ? end : part->end;
    part->next = end;
    return true;
}

/* The number of the block that has just been done. */
MATH_INLINE int64_t kernel_part_block(KernelPart part)
{
    return part.next / COMBINE_BLOCK - 1;
}

enum { KERNEL_ABREAST = 8 }; /* blocks of a part that are done at the same time, where each waits for its own additions */

/* Whether as many whole blocks are there, with the one at hand. */
MATH_INLINE bool kernel_has_abreast(KernelPart part)
{
    return part.next >= part.least + COMBINE_BLOCK && part.next + (KERNEL_ABREAST - 1) * COMBINE_BLOCK <= part.end;
}

MATH_INLINE bool kernel_has_parts(const KernelCall *call)
{
    return call->parts->scope != 0 || call->parts->known != 0;
}

/* A long loop has only the points of this part, block by block, or none if it is known; false if it is still to be shared, as all are for calls without parts. */
MATH_INLINE bool kernel_take_part(KernelLoopParts *parts, bool has_parts, uint32_t scope, KernelPart *part, int64_t *from, int64_t *count)
{
    if (has_parts && parts->scope == scope) {
        *part = (KernelPart){.next = parts->from, .end = parts->end < *count ? parts->end : *count, .least = *from};
        return kernel_next_part_block(part, from, count);
    }
    if (has_parts && (parts->known >> scope & 1) != 0) {
        *from = *count;
        return true;
    }
    parts->wanted = scope;
    parts->length = *count;
    return false;
}

/* ---- values that are linear in the bits of the root's index ---- */

enum {
    KERNEL_LINEAR = 512, /* points at most of a block, in which they come from a table */
    KERNEL_INDEX_BITS = 63,
};

/* How many bits the indices of the call have, and one more for 0; none if there are no points. */
MATH_INLINE int64_t kernel_linear_bits(const KernelCall *call)
{
    uint64_t last = (uint64_t)(call->position + call->count - 1);
    return call->count == 0 ? 0 : last == 0 ? 1 : 65 - __builtin_clzll(last);
}

/* How many points of a block: a power of two, and not more than make use of the table. */
MATH_INLINE int64_t kernel_linear_block(const KernelCall *call)
{
    int64_t block = 1, end = call->position + call->count;
    while (block < KERNEL_LINEAR && block < call->count && block < end)
        block *= 2;
    return block;
}

/* What the bits below a block's size make of a difference, together: each bit doubles the table. */
#define KERNEL_LINEAR_TABLE(table, bits, block)                                                                       \
    do {                                                                                                              \
        (table)[0] = 0;                                                                                               \
        for (int64_t size = 1, bit = 1; size < (block); size *= 2, bit++)                                             \
            for (int64_t at = 0; at < size; at++)                                                                     \
                (table)[size + at] = (table)[at] ^ (bits)[bit];                                                       \
    } while (0)

MATH_INLINE int64_t kernel_lowest_bit(int64_t bits)
{
    return __builtin_ctzll((uint64_t)bits);
}

/* ---- counts and indices ---- */

/* How many integers there are from a up to b, without b. */
MATH_INLINE int64_t kernel_distance(int64_t a, int64_t b, OpFlag *failed)
{
    int64_t distance = (int64_t)((uint64_t)b - (uint64_t)a);
    *failed |= (b > a) & (distance < 0);
    return b > a ? distance : 0;
}

/* How many integers there are from a up to b, b included. */
MATH_INLINE int64_t kernel_distance_inclusive(int64_t a, int64_t b, OpFlag *failed)
{
    int64_t distance = (int64_t)((uint64_t)b - (uint64_t)a + 1);
    *failed |= (b >= a) & (distance <= 0);
    return b >= a ? distance : 0;
}

/* How many there are from a on, in steps, before b is reached or passed. There are none of step 0, which fails if it is checked. */
MATH_INLINE int64_t kernel_steps(int64_t a, int64_t b, int64_t step, bool is_checked, OpFlag *failed)
{
    *failed |= is_checked & (step == 0);
    bool is_up = step > 0;
    if (step == 0 || (is_up ? a >= b : a <= b))
        return 0;
    uint64_t distance = is_up ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b, each = is_up ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t count = (distance - 1) / each + 1;
    *failed |= count > INT64_MAX;
    return (int64_t)(count & INT64_MAX);
}

/* An element that several threads may replace at once, all by the same one. */
#define KERNEL_REPLACE(cell, value)                                                                                   \
    do {                                                                                                              \
        __typeof__(cell) replacement = value;                                                                         \
        __atomic_store(&(cell), &replacement, __ATOMIC_RELAXED);                                                      \
    } while (0)

/* ---- progressions of places where elements are replaced ----
 * Blocks of the vector that stay in the first-level cache are done one after the other, each with all progressions; larger ones where these would have few elements in each. */

enum {
    KERNEL_PROGRESSIONS = 512, /* that are done together */
    KERNEL_CACHED = 32 << 10,  /* elements */
    KERNEL_WORTH = 4,          /* elements of a progression in a block, on average, that are worth looking at it */
    KERNEL_SHORT_STEP = 16,    /* in bytes: several of a progression are in a register, */
    KERNEL_ROUND = 64,         /* ... and in a round of whole registers there are so many */
};

typedef struct KernelProgressions {
    int64_t length; /* of the vector */
    int64_t low, high, end, block; /* elements of the block at hand, of all that are to be done, and of a block */
    int64_t count, elements;
    bool owns_block;
    int64_t next[KERNEL_PROGRESSIONS], step[KERNEL_PROGRESSIONS], last[KERNEL_PROGRESSIONS]; /* places, upwards */
} KernelProgressions;

MATH_INLINE void kernel_start_progressions(KernelProgressions *all, int64_t length)
{
    all->length = length;
    all->count = all->elements = 0;
}

/* One with `count` places, of which the first two are given. All must be inside. */
MATH_INLINE void kernel_add_progression(KernelProgressions *all, const int64_t places[2], int64_t count, OpFlag *failed)
{
    int64_t first = places[0], step = count > 1 ? (int64_t)((uint64_t)places[1] - (uint64_t)first) : 0;
    if (count <= 0)
        return;
    uint64_t size = step < 0 ? -(uint64_t)step : (uint64_t)step;
    bool is_inside = (uint64_t)first < (uint64_t)all->length;
    uint64_t room = !is_inside ? 0 : (uint64_t)(step < 0 ? first : all->length - 1 - first);
    if (!is_inside || (count > 1 && size > room / (uint64_t)(count - 1))) {
        *failed = 1;
        return;
    }
    int64_t last = first + step * (count - 1);
    all->next[all->count] = step < 0 ? last : first;
    all->last[all->count] = step < 0 ? first : last;
    all->step[all->count] = step == 0 ? 1 : (int64_t)size;
    all->elements += step == 0 ? 1 : count;
    all->count++;
}

MATH_INLINE void kernel_begin_blocks(KernelProgressions *all, const KernelCall *call)
{
    int64_t part = all->length / call->shares + 1, worth = all->elements / call->shares / (KERNEL_WORTH * (all->count + 1)) + 1;
    all->owns_block = call->owns_share;
    all->high = part * call->share < all->length ? part * call->share : all->length;
    all->end = all->length - all->high < part ? all->length : all->high + part;
    all->block = part / worth + 1 < KERNEL_CACHED ? KERNEL_CACHED : part / worth + 1;
    for (int64_t k = 0; k < all->count; k++)
        if (all->next[k] < all->high)
            all->next[k] += (all->high - all->next[k] + all->step[k] - 1) / all->step[k] * all->step[k];
}

MATH_INLINE bool kernel_next_block(KernelProgressions *all)
{
    all->low = all->high;
    all->high = all->end - all->low < all->block ? all->end : all->low + all->block;
    return all->low < all->end;
}

/* Bytes at a progression of short steps, as long as there are whole rounds of them: all bytes of a round are written, most with what they were. So nobody else may
 * write there. Gives the place that is next. */
MATH_INLINE int64_t kernel_replace_rounds(uint8_t *bytes, uint8_t value, int64_t at, int64_t step, int64_t limit)
{
    uint8_t places[KERNEL_SHORT_STEP * KERNEL_ROUND]; /* all bits of those that are replaced */
    const int64_t round = step * KERNEL_ROUND;
    if (limit - at < round)
        return at;
    memset(places, 0, (size_t)round);
    for (int64_t i = 0; i < round; i += step)
        places[i] = UINT8_MAX;
    for (; limit - at >= round; at += round)
        for (int64_t i = 0; i < round; i++)
            bytes[at + i] = (uint8_t)((bytes[at + i] & ~places[i]) | (value & places[i]));
    return at;
}

#define KERNEL_REPLACE_BLOCK(cells, value, all, is_last_column)                                                       \
    for (int64_t k = 0; k < (all)->count; k++) {                                                                      \
        const int64_t step = (all)->step[k], limit = (all)->last[k] < (all)->high ? (all)->last[k] : (all)->high - 1; \
        int64_t at = (all)->next[k];                                                                                  \
        if (sizeof *(cells) == 1 && (all)->owns_block && step <= KERNEL_SHORT_STEP) {                                 \
            const __typeof__(*(cells)) replacement = value;                                                           \
            at = kernel_replace_rounds((uint8_t *)(cells), *(const uint8_t *)&replacement, at, step, limit);          \
        }                                                                                                             \
        for (; at <= limit; at += step)                                                                               \
            KERNEL_REPLACE((cells)[at], value);                                                                       \
        if (is_last_column)                                                                                           \
            (all)->next[k] = at;                                                                                      \
    }

/* Adds to what will be given. So much that its sum could not be counted is not. */
MATH_INLINE void kernel_count(int64_t *given, int64_t count, OpFlag *failed)
{
    *failed |= count >> 40 != 0;
    *given += count;
}

/* A loop's points have the values from `first` on, one more each, unless that passes the largest number. Only those are kept that are less than the limit, or equal if `is_equal`. */
MATH_INLINE void kernel_cut_below(int64_t *from, int64_t *count, int64_t first, int64_t limit, bool is_equal)
{
    int64_t last;
    if (*count <= *from || __builtin_add_overflow(first, *count - 1, &last))
        return;
    if (last > limit)
        *count = first > limit ? 0 : limit - first + 1;
    if (!is_equal && *count > 0 && first + (*count - 1) == limit)
        --*count;
}

/* The same where those greater than the limit are kept. */
MATH_INLINE void kernel_cut_above(int64_t *from, int64_t *count, int64_t first, int64_t limit, bool is_equal)
{
    int64_t last;
    if (*count <= *from || __builtin_add_overflow(first, *count - 1, &last))
        return;
    int64_t skipped = last < limit ? *count : first >= limit ? 0 : limit - first;
    if (!is_equal && skipped < *count && first + skipped == limit)
        skipped++;
    *from = skipped > *from ? skipped : *from;
}

/* How large a number is; all sizes that are asked for are joined in `sizes`, which is small only if all are. */
MATH_INLINE uint64_t kernel_bound(uint64_t size, uint64_t *sizes)
{
    *sizes |= size;
    return size;
}

MATH_INLINE uint64_t kernel_size(int64_t number, uint64_t *sizes)
{
    return kernel_bound(number < 0 ? -(uint64_t)number : (uint64_t)number, sizes);
}

/* ---- bounds of integers ----
 * Of a result, from those of the operands (kernel/narrow.h). What does not fit 32 bits sets `is_wide`, and is as if it did: so nothing overflows here. */

typedef struct KernelRange {
    int64_t low, high;
} KernelRange;

MATH_INLINE KernelRange kernel_range(int64_t low, int64_t high, bool *is_wide)
{
    *is_wide |= low < INT32_MIN || high > INT32_MAX;
    return *is_wide ? (KernelRange){0, 0} : (KernelRange){low, high};
}

MATH_INLINE int64_t kernel_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

MATH_INLINE int64_t kernel_greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The largest magnitude. */
MATH_INLINE int64_t kernel_range_size(KernelRange a)
{
    return kernel_greatest(-a.low, a.high);
}

/* Between the least and the greatest of four results. */
MATH_INLINE KernelRange kernel_range_of(int64_t a, int64_t b, int64_t c, int64_t d, bool *is_wide)
{
    return kernel_range(kernel_least(kernel_least(a, b), kernel_least(c, d)), kernel_greatest(kernel_greatest(a, b), kernel_greatest(c, d)), is_wide);
}

MATH_INLINE KernelRange kernel_range_add(KernelRange a, KernelRange b, bool *is_wide)
{
    return kernel_range(a.low + b.low, a.high + b.high, is_wide);
}

MATH_INLINE KernelRange kernel_range_subtract(KernelRange a, KernelRange b, bool *is_wide)
{
    return kernel_range(a.low - b.high, a.high - b.low, is_wide);
}

MATH_INLINE KernelRange kernel_range_multiply(KernelRange a, KernelRange b, bool *is_wide)
{
    return kernel_range_of(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high, is_wide);
}

/* Divisors of both signs leave the magnitude, or turn the sign. */
MATH_INLINE KernelRange kernel_range_divide(KernelRange a, KernelRange b, bool *is_wide)
{
    if (b.low > 0)
        return kernel_range_of(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high, is_wide);
    return kernel_range(-kernel_range_size(a), kernel_range_size(a), is_wide);
}

MATH_INLINE KernelRange kernel_range_remainder(KernelRange a, KernelRange b, bool *is_wide)
{
    int64_t most = kernel_range_size(b);
    return kernel_range(a.low < 0 ? -most : 0, a.high > 0 ? most : 0, is_wide);
}

MATH_INLINE KernelRange kernel_range_modulo(KernelRange a, KernelRange b, bool *is_wide)
{
    (void)a;
    return kernel_range(b.low < 0 ? b.low : 0, b.high > 0 ? b.high : 0, is_wide);
}

MATH_INLINE KernelRange kernel_range_minimum(KernelRange a, KernelRange b, bool *is_wide)
{
    return kernel_range(kernel_least(a.low, b.low), kernel_least(a.high, b.high), is_wide);
}

MATH_INLINE KernelRange kernel_range_maximum(KernelRange a, KernelRange b, bool *is_wide)
{
    return kernel_range(kernel_greatest(a.low, b.low), kernel_greatest(a.high, b.high), is_wide);
}

MATH_INLINE KernelRange kernel_range_either(KernelRange a, KernelRange b, bool *is_wide)
{
    return kernel_range(kernel_least(a.low, b.low), kernel_greatest(a.high, b.high), is_wide);
}

/* Flags of groups of elements, by lane, in registers as above. */
typedef OpFlag KernelFlagsPart __attribute__((vector_size(FOLD_PART(OpFlag))));
typedef struct KernelFlags {
    KernelFlagsPart parts[COMBINE_LANES * sizeof(OpFlag) / FOLD_PART(OpFlag)];
} KernelFlags;

MATH_INLINE KernelFlags kernel_no_flags(void)
{
    return (KernelFlags){0};
}

MATH_INLINE void kernel_add_flags(KernelFlags *flags, const OpFlag *group)
{
    KernelFlags more;
    memcpy(&more, group, sizeof more);
    for (size_t i = 0; i < FOLD_PARTS(KernelFlags); i++)
        flags->parts[i] |= more.parts[i];
}

MATH_INLINE bool kernel_any_flag(KernelFlags flags)
{
    OpFlag all[COMBINE_LANES], any = 0;
    memcpy(all, &flags, sizeof all);
    for (size_t i = 0; i < COMBINE_LANES; i++)
        any |= all[i];
    return any != 0;
}

/* Before a loop that fills a new vector: it reads nothing of what it writes, so there is no need of a second one for vectors that overlap. */
#if defined __clang__
#define KERNEL_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define KERNEL_APART _Pragma("GCC ivdep")
#endif

/* In a loop that has few turns: compilers shall not make vectors of them. */
#define KERNEL_FEW_TURNS(i) __asm__("" : "+r"(i))

MATH_INLINE bool kernel_is_inside(int64_t index, int64_t length, OpFlag *failed)
{
    bool is_inside = (uint64_t)index < (uint64_t)length;
    *failed |= !is_inside;
    return is_inside;
}

/* So many indices, one after the other. */
MATH_INLINE bool kernel_are_inside(int64_t first, int64_t count, int64_t length)
{
    return count == 0 || ((uint64_t)first < (uint64_t)length && count <= length - first);
}

/* Where the element is; 0 if there is none. */
MATH_INLINE int64_t kernel_index(int64_t index, int64_t start, int64_t length, OpFlag *failed)
{
    return kernel_is_inside(index, length, failed) ? start + index : 0;
}

/* The element at an index that kernel_index gave. Where compilers are told that the processor loads vectors of elements from anywhere well, a load that depends on a flag
 * begins with a register of zeros, where one that does not waits for whatever the register had before. Elsewhere vectors are put together of single elements, but only of
 * such as are loaded in any case: the first one in place of one that is not inside. */
#ifdef KERNEL_GATHERS
#define KERNEL_ELEMENT(is_inside, column, index) ((is_inside) ? (column)[index] : 0)
#else
#define KERNEL_ELEMENT(is_inside, column, index) ((column)[index])
#endif

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
