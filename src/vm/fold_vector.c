/* The loops of reductions and scans, compiled once for each level of vector instructions.
 *
 * Exact operators (on integers and truth values, and all maxima and minima) give the same in every order, so their loops are as plain as
 * they can be, and the compiler makes vectors of them. Maxima and minima of floats are those of integers, their keys, which are ordered
 * as the floats are to be: -0 below +0, and nan beyond them all.
 *
 * Sums and products of floats are ordered (math/combine.h). What is absent is padded by the exact identity of the operator, -0 or 1,
 * which no result can tell from absence; so a segment has one loop, wherever it begins and ends:
 *     reduction:  total = carry op (halved lanes op rest[0] op rest[1] ...)
 *     scan:       out = carry op local
 * A block on its own keeps only as many additions in flight as it has lanes, one for a scan: where several whole blocks are at hand they
 * run interleaved.
 *
 * Nan never leaves a running sum or product, nor carry op local within a segment (an infinity of local stays one, or becomes nan; likewise a
 * zero of local). So a scan makes its outputs canonical only after it saw nan in the last of a segment. */
#include "vm/fold_keys.h"
#include "vm/fold_private.h"
#include "base/least.h"

#include "math/combine.h"
#include "math/elementary.h"
#include "vm/lengths.h"
#include "vm/movement_private.h"

/* Below this length a plain loop beats what the compiler makes of long ones. */
enum { SHORT = 16 };

/* ---- windows ----
 * Segments of varying short lengths cost more for loops whose end is guessed wrong than for their elements. Those that fit in a window are folded
 * without a loop: what is in the window but not in the segment counts as the identity. */

enum { NARROW = 8, WIDE = 32 };

/* 0 where loops do better. */
static size_t window_for(int64_t first, const int64_t *ends, size_t segments)
{
    double average = lengths_average(first, ends, segments);
    if (average > 100.0 || !lengths_vary(ends, segments))
        return 0;
    return average < 5.0 ? NARROW : WIDE;
}

/* PRESENT(Cell) + (WIDE - count) are masks of all ones for `count` cells, zero for those after. */
#define ONES_8 -1, -1, -1, -1, -1, -1, -1, -1
#define ONES_32 ONES_8, ONES_8, ONES_8, ONES_8
static const int8_t present_8[2 * WIDE] = {ONES_32};
static const int16_t present_16[2 * WIDE] = {ONES_32};
static const int32_t present_32[2 * WIDE] = {ONES_32};
static const int64_t present_64[2 * WIDE] = {ONES_32};
#define PRESENT(Cell)                                                                                                  \
    ((const Cell *)(sizeof(Cell) == 1 ? (const void *)present_8                                                        \
                  : sizeof(Cell) == 2 ? (const void *)present_16                                                       \
                  : sizeof(Cell) == 4 ? (const void *)present_32                                                       \
                                      : (const void *)present_64))

/* ---- exact operators ----
 * The state is the total so far, as a key. */

#define EXACT_REDUCTION(name, Cell, OPERATOR, IDENTITY, KEY, VALUE)                                                    \
    static void name##_start(void *state)                                                                              \
    {                                                                                                                  \
        *(Cell *)state = (Cell)(IDENTITY);                                                                             \
    }                                                                                                                  \
    static Cell name##_total(Cell total, const Cell *elements, size_t count)                                           \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            total = (Cell)OPERATOR(total, KEY(elements[i]));                                                           \
        return total;                                                                                                  \
    }                                                                                                                  \
    static void name##_add(void *state, const void *elements, size_t count)                                            \
    {                                                                                                                  \
        *(Cell *)state = name##_total(*(Cell *)state, elements, count);                                                \
    }                                                                                                                  \
    static void name##_result(const void *state, void *out)                                                            \
    {                                                                                                                  \
        *(Cell *)out = VALUE(*(const Cell *)state);                                                                    \
    }                                                                                                                  \
    static size_t name##_open(const void *state)                                                                       \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static void name##_totals(const void *elements, size_t blocks, void *totals, void *out)                            \
    {                                                                                                                  \
        (void)out;                                                                                                     \
        for (size_t b = 0; b < blocks; b++)                                                                            \
            ((Cell *)totals)[b] =                                                                                      \
                name##_total((Cell)(IDENTITY), (const Cell *)elements + b * COMBINE_BLOCK, COMBINE_BLOCK);             \
    }                                                                                                                  \
    static void name##_join_totals(void *state, void *totals, size_t blocks)                                           \
    {                                                                                                                  \
        for (size_t b = 0; b < blocks; b++) {                                                                          \
            Cell before = *(Cell *)state;                                                                              \
            *(Cell *)state = (Cell)OPERATOR(before, ((Cell *)totals)[b]);                                              \
            ((Cell *)totals)[b] = before;                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static inline Cell name##_short(const Cell *elements, const Cell *end)                                             \
    {                                                                                                                  \
        Cell total = (Cell)(IDENTITY);                                                                                 \
        for (; elements < end; elements++) {                                                                           \
            VECTOR_HIDE(elements);                                                                                     \
            total = (Cell)OPERATOR(total, KEY(*elements));                                                             \
        }                                                                                                              \
        return total;                                                                                                  \
    }                                                                                                                  \
    /* Up to `window` elements, though all of them are read. */                                                        \
    MATH_INLINE Cell name##_window(const Cell *elements, size_t count, size_t window)                                  \
    {                                                                                                                  \
        const Cell *present = PRESENT(Cell) + (WIDE - count);                                                          \
        Cell total = (Cell)(IDENTITY);                                                                                 \
        _Pragma("GCC unroll 1") /* or it is not a loop any more when vectors are made of loops */                      \
        for (size_t i = 0; i < window; i++) {                                                                          \
            Cell key = (Cell)((KEY(elements[i]) & present[i]) | ((Cell)(IDENTITY) & ~present[i]));                     \
            total = (Cell)OPERATOR(total, key);                                                                        \
        }                                                                                                              \
        return total;                                                                                                  \
    }                                                                                                                  \
    MATH_INLINE void name##_segments_in(const Cell *elements, int64_t first, const int64_t *ends, size_t segments,     \
                                        Cell *results, size_t window)                                                  \
    {                                                                                                                  \
        int64_t start = first, readable = ends[segments - 1] - (int64_t)window;                                        \
        for (size_t k = 0; k < segments; start = ends[k++]) {                                                          \
            const Cell *segment = elements + (start - first);                                                          \
            size_t count = (size_t)(ends[k] - start);                                                                  \
            if (window == 0 && count <= 1)                                                                             \
                results[k] = count == 0 ? VALUE((Cell)(IDENTITY)) : segment[0];                                        \
            else if (window > 0 && count <= window && start <= readable)                                               \
                results[k] = VALUE(name##_window(segment, count, window));                                             \
            else if (count < SHORT)                                                                                    \
                results[k] = VALUE(name##_short(segment, segment + count));                                            \
            else                                                                                                       \
                results[k] = VALUE(name##_total((Cell)(IDENTITY), segment, count));                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_segments(const void *elements, int64_t first, const int64_t *ends, size_t segments, void *out)  \
    {                                                                                                                  \
        switch (window_for(first, ends, segments)) {                                                                   \
        case 0: name##_segments_in(elements, first, ends, segments, out, 0); break;                                    \
        case NARROW: name##_segments_in(elements, first, ends, segments, out, NARROW); break;                          \
        case WIDE: name##_segments_in(elements, first, ends, segments, out, WIDE); break;                              \
        }                                                                                                              \
    }

#define EXACT_SCAN(name, scan, Cell, OPERATOR, IDENTITY, KEY, VALUE, IS_INCLUSIVE)                                     \
    static inline Cell name##_##scan##_run(Cell total, const Cell *restrict elements, size_t count, Cell *restrict out)\
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            Cell before = total;                                                                                       \
            total = (Cell)OPERATOR(total, KEY(elements[i]));                                                           \
            out[i] = VALUE(IS_INCLUSIVE ? total : before);                                                             \
        }                                                                                                              \
        return total;                                                                                                  \
    }                                                                                                                  \
    static void name##_##scan(void *state, const void *elements, size_t count, void *out)                              \
    {                                                                                                                  \
        *(Cell *)state = name##_##scan##_run(*(Cell *)state, elements, count, out);                                    \
    }                                                                                                                  \
    static void name##_##scan##_segments(const void *elements, int64_t first, const int64_t *ends, size_t segments,    \
                                         void *out)                                                                    \
    {                                                                                                                  \
        int64_t start = first;                                                                                         \
        for (size_t k = 0; k < segments; start = ends[k++])                                                            \
            name##_##scan##_run((Cell)(IDENTITY), (const Cell *)elements + (start - first), (size_t)(ends[k] - start), \
                                (Cell *)out + (start - first));                                                        \
    }                                                                                                                  \
    static void name##_##scan##_totals(const void *elements, size_t blocks, void *totals, void *out)                   \
    {                                                                                                                  \
        name##_totals(elements, blocks, totals, out);                                                                  \
    }                                                                                                                  \
    static void name##_##scan##_complete(const void *before, const void *elements, size_t blocks, void *out)           \
    {                                                                                                                  \
        for (size_t b = 0; b < blocks; b++)                                                                            \
            name##_##scan##_run(((const Cell *)before)[b], (const Cell *)elements + b * COMBINE_BLOCK, COMBINE_BLOCK,  \
                                (Cell *)out + b * COMBINE_BLOCK);                                                      \
    }

#define KIND(name, form, Cell) .segments = name##form##_segments, .totals = name##form##_totals, CELLS(Cell, Cell)
#define KINDS(name, Cell, REDUCTION_STATE, SCAN_STATE, LEFT)                                                           \
    static const FoldKind name[FOLD_FORM_COUNT] = {                                                                    \
        [FOLD_REDUCTION] = {REDUCTION_STATE, .add = name##_add, .result = name##_result, KIND(name, , Cell)},          \
        [FOLD_SCAN] = {SCAN_STATE, .scan = name##_scan, .complete = name##_scan_complete, KIND(name, _scan, Cell)},    \
        [FOLD_SCAN_INCLUSIVE] = {SCAN_STATE, .scan = name##_inclusive, .complete = name##_inclusive_complete,          \
                                 KIND(name, _inclusive, Cell)},                                                        \
        LEFT                                                                                                           \
    };
#define LEFT_KIND(name, Cell)                                                                                          \
    [FOLD_LEFT] = {.state_size = sizeof(name##_ScanState), .start = name##_scan_start, .open = name##_left_open,       \
                   .join = name##_scan_join_totals, .add = name##_left_add, .result = name##_left_result,              \
                   KIND(name, _left, Cell)},
#define CELLS(Element, Result) .cell_size = sizeof(Element), .result_size = sizeof(Result)
#define STATE(size, prefix, joining) .state_size = size, .start = prefix##_start, .open = prefix##_open, .join = joining

#define EXACT(name, Cell, OPERATOR, IDENTITY, KEY, VALUE)                                                              \
    EXACT_REDUCTION(name, Cell, OPERATOR, IDENTITY, KEY, VALUE)                                                        \
    EXACT_SCAN(name, scan, Cell, OPERATOR, IDENTITY, KEY, VALUE, false)                                                \
    EXACT_SCAN(name, inclusive, Cell, OPERATOR, IDENTITY, KEY, VALUE, true)                                            \
    KINDS(name, Cell, STATE(sizeof(Cell), name, name##_join_totals), STATE(sizeof(Cell), name, name##_join_totals), )

/* EXACT_INTEGER(operator, OPERATOR, identity): wrapping, so the same for both signs. */
#define EXACT_INTEGER(operator, OPERATOR, IDENTITY)                                                                    \
    EXACT(operator##_8, uint8_t, OPERATOR, IDENTITY, SAME, SAME)                                                       \
    EXACT(operator##_16, uint16_t, OPERATOR, IDENTITY, SAME, SAME)                                                     \
    EXACT(operator##_32, uint32_t, OPERATOR, IDENTITY, SAME, SAME)                                                     \
    EXACT(operator##_64, uint64_t, OPERATOR, IDENTITY, SAME, SAME)

EXACT_INTEGER(plus, PLUS, 0)
EXACT_INTEGER(mult, MULT, 1)
EXACT_INTEGER(or, OR, 0)
EXACT_INTEGER(and, AND, -1)
EXACT_INTEGER(xor, XOR, 0)
EXACT(and_bool, uint8_t, AND, 1, SAME, SAME)

EXACT(max_u8, uint8_t, MAX, 0, SAME, SAME)
EXACT(max_u16, uint16_t, MAX, 0, SAME, SAME)
EXACT(max_u32, uint32_t, MAX, 0, SAME, SAME)
EXACT(max_u64, uint64_t, MAX, 0, SAME, SAME)
EXACT(max_i8, int8_t, MAX, INT8_MIN, SAME, SAME)
EXACT(max_i16, int16_t, MAX, INT16_MIN, SAME, SAME)
EXACT(max_i32, int32_t, MAX, INT32_MIN, SAME, SAME)
EXACT(max_i64, int64_t, MAX, INT64_MIN, SAME, SAME)
EXACT(max_f32, Bits32, MAX, KEY_LEAST_F32, key_f32, key_f32)
EXACT(max_f64, Bits64, MAX, KEY_LEAST_F64, key_f64, key_f64)

EXACT(min_u8, uint8_t, MIN, UINT8_MAX, SAME, SAME)
EXACT(min_u16, uint16_t, MIN, UINT16_MAX, SAME, SAME)
EXACT(min_u32, uint32_t, MIN, UINT32_MAX, SAME, SAME)
EXACT(min_u64, uint64_t, MIN, UINT64_MAX, SAME, SAME)
EXACT(min_i8, int8_t, MIN, INT8_MAX, SAME, SAME)
EXACT(min_i16, int16_t, MIN, INT16_MAX, SAME, SAME)
EXACT(min_i32, int32_t, MIN, INT32_MAX, SAME, SAME)
EXACT(min_i64, int64_t, MIN, INT64_MAX, SAME, SAME)
EXACT(min_f32, Bits32, MIN, INT32_MAX, low_key_f32, low_value_f32)
EXACT(min_f64, Bits64, MIN, INT64_MAX, low_key_f64, low_value_f64)

/* ---- how many are true: a sum of integers, of which a flag is a small one ---- */

static void count_add(void *state, const void *elements, size_t count)
{
    *(int64_t *)state += (int64_t)VECTOR_NAME(movement_loops).count(elements, count, true);
}

/* The count of a window fits in a byte. */
static inline int64_t count_segment(const uint8_t *flags, size_t length, bool is_window)
{
    if (is_window)
        return plus_8_window(flags, length, WIDE);
    if (length < SHORT)
        return plus_8_short(flags, flags + length);
    return (int64_t)VECTOR_NAME(movement_loops).count((const bool *)flags, length, true);
}

static void count_segments(const void *elements, int64_t first, const int64_t *ends, size_t segments, void *out)
{
    const uint8_t *next = elements;
    int64_t *results = out;
    bool has_window = window_for(first, ends, segments) > 0;
    int64_t readable = has_window ? ends[segments - 1] - WIDE : first - 1;
    for (size_t k = 0; k < segments; first = ends[k++]) {
        size_t length = (size_t)(ends[k] - first);
        results[k] = count_segment(next, length, length <= WIDE && first <= readable);
        next += length;
    }
}

static void count_totals(const void *elements, size_t blocks, void *totals, void *out)
{
    (void)out;
    for (size_t b = 0; b < blocks; b++)
        ((int64_t *)totals)[b] =
            (int64_t)VECTOR_NAME(movement_loops).count((const bool *)elements + b * COMBINE_BLOCK, COMBINE_BLOCK, true);
}

static const FoldKind count_bool[FOLD_FORM_COUNT] = {
    [FOLD_REDUCTION] = {.state_size = sizeof(int64_t), .start = plus_64_start, .add = count_add, .result = plus_64_result,
                        .segments = count_segments, .open = plus_64_open, .totals = count_totals,
                        .join = plus_64_join_totals, CELLS(bool, int64_t)},
};

/* ---- ordered operators: the lanes of a block ---- */

/* Lanes are held in as few registers as they fit in. */
enum { PART_F32 = VECTOR_BYTES < 32 ? VECTOR_BYTES : 32, PART_F64 = VECTOR_BYTES };
typedef float PartF32 __attribute__((vector_size(PART_F32)));
typedef double PartF64 __attribute__((vector_size(PART_F64)));
typedef int32_t IndexF32;
typedef int64_t IndexF64;
typedef IndexF32 MaskF32 __attribute__((vector_size(PART_F32)));
typedef IndexF64 MaskF64 __attribute__((vector_size(PART_F64)));
typedef PartF32 UnalignedF32 __attribute__((aligned(4), may_alias)); /* in memory */
typedef PartF64 UnalignedF64 __attribute__((aligned(8), may_alias));
typedef struct LanesF32 {
    PartF32 parts[COMBINE_LANES * sizeof(float) / sizeof(PartF32)];
} LanesF32;
typedef struct LanesF64 {
    PartF64 parts[COMBINE_LANES * sizeof(double) / sizeof(PartF64)];
} LanesF64;

#define PARTS(suffix) (sizeof(Lanes##suffix) / sizeof(Part##suffix))
/* Unrolled, or the parts would be in memory. */
#define EACH_BLOCK(b) _Pragma("GCC unroll 8") for (size_t b = 0; b < blocks; b++)
#define EACH_PART(suffix, p) _Pragma("GCC unroll 8") for (size_t p = 0; p < PARTS(suffix); p++)
/* Whole blocks that run interleaved: enough for eight additions in flight, but not more than the first-level cache has ways. */
#define BLOCKS_AT_ONCE(suffix) (PARTS(suffix) > 2 ? 2 : 4)
#define PER_PART(suffix) (sizeof(Part##suffix) / sizeof(Index##suffix))

#define FIRST_INDICES(suffix) (*(const Mask##suffix *)indices_##suffix)
_Alignas(MaskF32) static const IndexF32 indices_F32[] = {0, 1, 2, 3, 4, 5, 6, 7};
_Alignas(MaskF64) static const IndexF64 indices_F64[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* mask ? a : b, lane by lane. The compiler knows no instruction for it but the one it is told. */
static inline PartF32 blend_F32(MaskF32 mask, PartF32 a, PartF32 b)
{
#if defined __AVX2__ && !defined __AVX512F__
    return __builtin_ia32_blendvps256(b, a, (PartF32)mask);
#else
    return (PartF32)(((MaskF32)a & mask) | ((MaskF32)b & ~mask));
#endif
}

static inline PartF64 blend_F64(MaskF64 mask, PartF64 a, PartF64 b)
{
#if defined __AVX2__ && !defined __AVX512F__
    return __builtin_ia32_blendvpd256(b, a, (PartF64)mask);
#else
    return (PartF64)(((MaskF64)a & mask) | ((MaskF64)b & ~mask));
#endif
}

#define ORDERED_LANES(name, Cell, suffix, OPERATOR, PAD)                                                               \
    static inline Lanes##suffix name##_lanes(const Cell *elements)                                                     \
    {                                                                                                                  \
        Lanes##suffix lanes;                                                                                           \
        EACH_PART(suffix, p)                                                                                           \
            lanes.parts[p] = ((const Unaligned##suffix *)elements)[p];                                                 \
        return lanes;                                                                                                  \
    }                                                                                                                  \
    static inline Lanes##suffix name##_lanes_padded(void)                                                              \
    {                                                                                                                  \
        Lanes##suffix lanes;                                                                                           \
        EACH_PART(suffix, p)                                                                                           \
            lanes.parts[p] = PAD - (Part##suffix){0};                                                                  \
        return lanes;                                                                                                  \
    }                                                                                                                  \
    static inline void name##_store(Cell *cells, Lanes##suffix lanes)                                                  \
    {                                                                                                                  \
        EACH_PART(suffix, p)                                                                                           \
            ((Unaligned##suffix *)cells)[p] = lanes.parts[p];                                                          \
    }                                                                                                                  \
    static inline Lanes##suffix name##_join(Lanes##suffix lanes, Lanes##suffix group)                                  \
    {                                                                                                                  \
        EACH_PART(suffix, p)                                                                                           \
            lanes.parts[p] = OPERATOR(lanes.parts[p], group.parts[p]);                                                 \
        return lanes;                                                                                                  \
    }                                                                                                                  \
    static inline Lanes##suffix name##_group(Lanes##suffix lanes, const Cell *elements)                                \
    {                                                                                                                  \
        return name##_join(lanes, name##_lanes(elements));                                                             \
    }                                                                                                                  \
    static inline Cell name##_halved(Lanes##suffix lanes)                                                              \
    {                                                                                                                  \
        Cell lane[COMBINE_LANES];                                                                                      \
        memcpy(lane, &lanes, sizeof lane);                                                                             \
        for (size_t half = COMBINE_LANES / 2; half > 0; half /= 2)                                                     \
            for (size_t j = 0; j < half; j++)                                                                          \
                lane[j] = OPERATOR(lane[j], lane[j + half]);                                                           \
        return lane[0];                                                                                                \
    }

/* Totals of whole blocks. */
#define ORDERED_BLOCKS(name, Cell, suffix, OPERATOR)                                                                   \
    static inline void name##_blocks(const Cell *elements, size_t blocks, Cell *totals)                                \
    {                                                                                                                  \
        Lanes##suffix lanes[BLOCKS_AT_ONCE(suffix)];                                                                   \
        EACH_BLOCK(b)                                                                                                  \
            lanes[b] = name##_lanes(elements + b * COMBINE_BLOCK);                                                     \
        for (size_t i = COMBINE_LANES; i < COMBINE_BLOCK; i += COMBINE_LANES)                                          \
            EACH_BLOCK(b)                                                                                              \
                lanes[b] = name##_group(lanes[b], elements + b * COMBINE_BLOCK + i);                                   \
        EACH_BLOCK(b)                                                                                                  \
            totals[b] = name##_halved(lanes[b]);                                                                       \
    }                                                                                                                  \
    static void name##_totals(const void *elements, size_t blocks, void *totals, void *out)                            \
    {                                                                                                                  \
        enum { AT_ONCE = BLOCKS_AT_ONCE(suffix) };                                                                     \
        (void)out;                                                                                                     \
        size_t b = 0;                                                                                                  \
        for (; b + AT_ONCE <= blocks; b += AT_ONCE)                                                                    \
            name##_blocks((const Cell *)elements + b * COMBINE_BLOCK, AT_ONCE, (Cell *)totals + b);                    \
        for (; b < blocks; b++)                                                                                        \
            name##_blocks((const Cell *)elements + b * COMBINE_BLOCK, 1, (Cell *)totals + b);                          \
    }                                                                                                                  \
    /* carry op all whole blocks of the elements */                                                                    \
    static Cell name##_carry(Cell carry, const Cell *elements, size_t count)                                           \
    {                                                                                                                  \
        enum { AT_ONCE = BLOCKS_AT_ONCE(suffix) };                                                                     \
        Cell totals[AT_ONCE];                                                                                          \
        for (; count >= AT_ONCE * COMBINE_BLOCK; count -= AT_ONCE * COMBINE_BLOCK, elements += AT_ONCE * COMBINE_BLOCK) { \
            name##_blocks(elements, AT_ONCE, totals);                                                                  \
            for (size_t b = 0; b < AT_ONCE; b++)                                                                       \
                carry = OPERATOR(carry, totals[b]);                                                                    \
        }                                                                                                              \
        for (; count >= COMBINE_BLOCK; count -= COMBINE_BLOCK, elements += COMBINE_BLOCK) {                            \
            name##_blocks(elements, 1, totals);                                                                        \
            carry = OPERATOR(carry, totals[0]);                                                                        \
        }                                                                                                              \
        return carry;                                                                                                  \
    }

/* ---- ordered reductions ---- */

#define ORDERED_STATE(name, Cell, suffix, OPERATOR, PAD, IDENTITY, CANONICAL)                                          \
    /* Each total becomes the carry before its block; gives that after them all. */                                    \
    static Cell name##_join_carry(Cell carry, Cell *totals, size_t blocks)                                             \
    {                                                                                                                  \
        for (size_t b = 0; b < blocks; b++) {                                                                          \
            Cell before = carry;                                                                                       \
            carry = OPERATOR(carry, totals[b]);                                                                        \
            totals[b] = before;                                                                                        \
        }                                                                                                              \
        return carry;                                                                                                  \
    }                                                                                                                  \
    typedef struct name##_State {                                                                                      \
        size_t count;              /* of all elements so far */                                                        \
        Cell carry;                /* of whole blocks */                                                               \
        Cell lanes[COMBINE_LANES]; /* of whole groups of the block begun */                                            \
        Cell rest[COMBINE_LANES];  /* elements of the group begun */                                                   \
    } name##_State;                                                                                                    \
    static void name##_begin_block(name##_State *state)                                                                \
    {                                                                                                                  \
        name##_store(state->lanes, name##_lanes_padded());                                                             \
    }                                                                                                                  \
    static void name##_start(void *opaque)                                                                             \
    {                                                                                                                  \
        name##_State *state = opaque;                                                                                  \
        state->count = 0;                                                                                              \
        state->carry = PAD;                                                                                            \
        name##_begin_block(state);                                                                                     \
    }                                                                                                                  \
    static size_t name##_open(const void *state)                                                                       \
    {                                                                                                                  \
        return (COMBINE_BLOCK - ((const name##_State *)state)->count % COMBINE_BLOCK) % COMBINE_BLOCK;                 \
    }                                                                                                                  \
    static void name##_join_totals(void *opaque, void *totals, size_t blocks)                                          \
    {                                                                                                                  \
        name##_State *state = opaque;                                                                                  \
        state->count += blocks * COMBINE_BLOCK;                                                                        \
        state->carry = name##_join_carry(state->carry, totals, blocks);                                                \
    }                                                                                                                  \
    static void name##_result(const void *opaque, void *out)                                                           \
    {                                                                                                                  \
        const name##_State *state = opaque;                                                                            \
        Cell block = name##_halved(name##_lanes(state->lanes));                                                        \
        for (size_t i = 0; i < state->count % COMBINE_LANES; i++)                                                      \
            block = OPERATOR(block, state->rest[i]);                                                                   \
        *(Cell *)out = state->count == 0 ? IDENTITY : CANONICAL(OPERATOR(state->carry, block));                        \
    }

#define ORDERED_ADD(name, Cell, suffix, OPERATOR)                                                                      \
    /* Completes the group begun as far as elements go; gives how many it took. */                                     \
    static size_t name##_fill_group(name##_State *state, const Cell *elements, size_t count)                           \
    {                                                                                                                  \
        size_t begun = state->count % COMBINE_LANES;                                                                   \
        size_t taken = begun == 0 ? 0 : least(count, COMBINE_LANES - begun);                                           \
        if (taken == 0)                                                                                                \
            return 0;                                                                                                  \
        memcpy(state->rest + begun, elements, taken * sizeof(Cell));                                                   \
        if (begun + taken == COMBINE_LANES)                                                                            \
            name##_store(state->lanes, name##_group(name##_lanes(state->lanes), state->rest));                         \
        return taken;                                                                                                  \
    }                                                                                                                  \
    static void name##_add_groups(name##_State *state, const Cell *elements, size_t count)                             \
    {                                                                                                                  \
        Lanes##suffix lanes = name##_lanes(state->lanes);                                                              \
        size_t grouped = count - count % COMBINE_LANES;                                                                \
        for (size_t i = 0; i < grouped; i += COMBINE_LANES)                                                            \
            lanes = name##_group(lanes, elements + i);                                                                 \
        name##_store(state->lanes, lanes);                                                                             \
        memcpy(state->rest, elements + grouped, (count - grouped) * sizeof(Cell));                                     \
    }                                                                                                                  \
    /* Elements of one block. */                                                                                       \
    static void name##_add_piece(name##_State *state, const Cell *elements, size_t count)                              \
    {                                                                                                                  \
        size_t filled = name##_fill_group(state, elements, count);                                                     \
        if (filled < count)                                                                                            \
            name##_add_groups(state, elements + filled, count - filled);                                               \
        state->count += count;                                                                                         \
        if (state->count % COMBINE_BLOCK == 0) {                                                                       \
            state->carry = OPERATOR(state->carry, name##_halved(name##_lanes(state->lanes)));                          \
            name##_begin_block(state);                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_add(void *opaque, const void *elements, size_t count)                                           \
    {                                                                                                                  \
        name##_State *state = opaque;                                                                                  \
        const Cell *next = elements;                                                                                   \
        size_t before = least(count, name##_open(state));                                                              \
        if (before > 0)                                                                                                \
            name##_add_piece(state, next, before);                                                                     \
        size_t whole = (count - before) / COMBINE_BLOCK * COMBINE_BLOCK;                                               \
        state->carry = name##_carry(state->carry, next + before, whole);                                               \
        state->count += whole;                                                                                         \
        if (before + whole < count)                                                                                    \
            name##_add_piece(state, next + before + whole, count - before - whole);                                    \
    }

#define ORDERED_SEGMENTS(name, Cell, suffix, OPERATOR, PAD, IDENTITY, CANONICAL)                                       \
    static inline Cell name##_block(const Cell *elements, size_t count)                                                \
    {                                                                                                                  \
        if (count == 0)                                                                                                \
            return IDENTITY;                                                                                           \
        size_t i = COMBINE_LANES;                                                                                      \
        Cell total = elements[0];                                                                                      \
        if (count < COMBINE_LANES) {                                                                                   \
            i = 1;                                                                                                     \
        } else {                                                                                                       \
            Lanes##suffix lanes = name##_lanes(elements);                                                              \
            for (; i + COMBINE_LANES <= count; i += COMBINE_LANES)                                                     \
                lanes = name##_group(lanes, elements + i);                                                             \
            total = name##_halved(lanes);                                                                              \
        }                                                                                                              \
        for (; i < count; i++)                                                                                         \
            total = OPERATOR(total, elements[i]);                                                                      \
        return total;                                                                                                  \
    }                                                                                                                  \
    static Cell name##_long(const Cell *elements, size_t count)                                                        \
    {                                                                                                                  \
        size_t whole = count / COMBINE_BLOCK * COMBINE_BLOCK;                                                          \
        Cell total = name##_carry(PAD, elements, whole);                                                               \
        return whole == count ? total : OPERATOR(total, name##_block(elements + whole, count - whole));                \
    }                                                                                                                  \
    /* Elements [at, at + 8), though those from `present` on are padding; all are read. */                             \
    static inline Lanes##suffix name##_padded(const Cell *elements, size_t at, size_t present)                         \
    {                                                                                                                  \
        Lanes##suffix lanes = name##_lanes(elements + at), pads = name##_lanes_padded();                               \
        EACH_PART(suffix, p) {                                                                                         \
            Mask##suffix index = FIRST_INDICES(suffix) + (Index##suffix)(at + p * PER_PART(suffix));                   \
            lanes.parts[p] = blend_##suffix(index < (Index##suffix)present, lanes.parts[p], pads.parts[p]);            \
        }                                                                                                              \
        return lanes;                                                                                                  \
    }                                                                                                                  \
    /* As name##_block: a rest, and before it in the wide window groups. */                                            \
    MATH_INLINE Cell name##_window(const Cell *elements, size_t count, size_t window)                                  \
    {                                                                                                                  \
        size_t grouped = window == NARROW ? 0 : count - count % COMBINE_LANES;                                         \
        Cell total = PAD, rest[COMBINE_LANES];                                                                         \
        if (window == WIDE) {                                                                                          \
            Lanes##suffix lanes = name##_padded(elements, 0, grouped);                                                 \
            _Pragma("GCC unroll 8") for (size_t i = COMBINE_LANES; i < window; i += COMBINE_LANES)                     \
                lanes = name##_join(lanes, name##_padded(elements, i, grouped));                                       \
            total = name##_halved(lanes);                                                                              \
        }                                                                                                              \
        name##_store(rest, name##_padded(elements + grouped, 0, count - grouped));                                     \
        for (size_t i = 0; i + 1 < COMBINE_LANES; i++)                                                                 \
            total = OPERATOR(total, rest[i]);                                                                          \
        static const Cell nothing[2] = {PAD, IDENTITY}; /* a table, since the compiler makes a branch of a choice */   \
        return OPERATOR(total, nothing[count == 0]);                                                                   \
    }                                                                                                                  \
    MATH_INLINE void name##_segments_in(const void *elements, int64_t first, const int64_t *ends, size_t segments,     \
                                          void *out, size_t window)                                                    \
    {                                                                                                                  \
        const Cell *next = elements;                                                                                   \
        Cell *results = out;                                                                                           \
        size_t fitting = window == NARROW ? NARROW : WIDE + COMBINE_LANES;                                             \
        int64_t readable = ends[segments - 1] - (int64_t)fitting;                                                      \
        for (size_t k = 0; k < segments; first = ends[k++]) {                                                          \
            size_t count = (size_t)(ends[k] - first);                                                                  \
            Cell total;                                                                                                \
            if (window == 0 && count <= 1)                                                                             \
                total = count == 0 ? IDENTITY : next[0];                                                               \
            else if (window > 0 && count < fitting && first <= readable)                                               \
                total = name##_window(next, count, window);                                                            \
            else                                                                                                       \
                total = count <= COMBINE_BLOCK ? name##_block(next, count) : name##_long(next, count);                 \
            results[k] = CANONICAL(total);                                                                             \
            next += count;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_segments(const void *elements, int64_t first, const int64_t *ends, size_t segments, void *out)  \
    {                                                                                                                  \
        switch (window_for(first, ends, segments)) {                                                                   \
        case 0: name##_segments_in(elements, first, ends, segments, out, 0); break;                                    \
        case NARROW: name##_segments_in(elements, first, ends, segments, out, NARROW); break;                          \
        case WIDE: name##_segments_in(elements, first, ends, segments, out, WIDE); break;                              \
        }                                                                                                              \
    }

/* ---- ordered scans ---- */

#define ORDERED_SCAN_STATE(name, Cell, PAD, CANONICAL)                                                                 \
    typedef struct name##_ScanState {                                                                                  \
        size_t count; /* of all elements so far */                                                                     \
        Cell carry;   /* of whole blocks */                                                                            \
        Cell local;   /* of the block begun */                                                                         \
    } name##_ScanState;                                                                                                \
    static void name##_scan_start(void *opaque)                                                                        \
    {                                                                                                                  \
        *(name##_ScanState *)opaque = (name##_ScanState){0, PAD, PAD};                                                 \
    }                                                                                                                  \
    /* The first block of a segment is not like the others: nothing comes before it, and its first output is the identity. */\
    static size_t name##_scan_open(const void *opaque)                                                                 \
    {                                                                                                                  \
        const name##_ScanState *state = opaque;                                                                        \
        return state->count == 0 ? COMBINE_BLOCK : (COMBINE_BLOCK - state->count % COMBINE_BLOCK) % COMBINE_BLOCK;     \
    }                                                                                                                  \
    static void name##_scan_join_totals(void *opaque, void *totals, size_t blocks)                                     \
    {                                                                                                                  \
        name##_ScanState *state = opaque;                                                                              \
        state->count += blocks * COMBINE_BLOCK;                                                                        \
        state->carry = name##_join_carry(state->carry, totals, blocks);                                                \
    }                                                                                                                  \
    static void name##_canonical(Cell *out, size_t count)                                                              \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            out[i] = CANONICAL(out[i]);                                                                                \
    }

#define ORDERED_SCAN(name, scan, Cell, OPERATOR, PAD, IDENTITY, IS_INCLUSIVE)                                          \
    /* Without a carry; gives the total. */                                                                            \
    static inline Cell name##_##scan##_local(Cell local, const Cell *restrict elements, size_t count, Cell *restrict out) \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            Cell before = local;                                                                                       \
            local = OPERATOR(local, elements[i]);                                                                      \
            out[i] = IS_INCLUSIVE ? local : before;                                                                    \
        }                                                                                                              \
        return local;                                                                                                  \
    }                                                                                                                  \
    /* The same for several blocks, interleaved. */                                                                    \
    MATH_INLINE void name##_##scan##_locals(const Cell *restrict elements, Cell *restrict out, Cell *restrict totals)  \
    {                                                                                                                  \
        Cell local[SCAN_AT_ONCE];                                                                                      \
        for (size_t b = 0; b < SCAN_AT_ONCE; b++)                                                                      \
            local[b] = PAD;                                                                                            \
        for (size_t i = 0; i < COMBINE_BLOCK; i++)                                                                     \
            for (size_t b = 0; b < SCAN_AT_ONCE; b++) {                                                                \
                Cell before = local[b];                                                                                \
                local[b] = OPERATOR(before, elements[b * COMBINE_BLOCK + i]);                                          \
                out[b * COMBINE_BLOCK + i] = IS_INCLUSIVE ? local[b] : before;                                         \
            }                                                                                                          \
        memcpy(totals, local, sizeof local);                                                                           \
    }                                                                                                                  \
    /* Whole blocks without their carries. */                                                                          \
    static void name##_##scan##_totals(const void *elements, size_t blocks, void *totals, void *out)                   \
    {                                                                                                                  \
        const Cell *next = elements;                                                                                   \
        Cell *total = totals, *local = out;                                                                            \
        size_t b = 0;                                                                                                  \
        for (; b + SCAN_AT_ONCE <= blocks; b += SCAN_AT_ONCE)                                                          \
            name##_##scan##_locals(next + b * COMBINE_BLOCK, local + b * COMBINE_BLOCK, total + b);                    \
        for (; b < blocks; b++)                                                                                        \
            total[b] = name##_##scan##_local(PAD, next + b * COMBINE_BLOCK, COMBINE_BLOCK, local + b * COMBINE_BLOCK); \
    }                                                                                                                  \
    static inline void name##_##scan##_carry(Cell carry, Cell *out)                                                    \
    {                                                                                                                  \
        for (size_t i = 0; i < COMBINE_BLOCK; i++)                                                                     \
            out[i] = OPERATOR(carry, out[i]);                                                                          \
    }                                                                                                                  \
    static void name##_##scan##_complete(const void *before, const void *elements, size_t blocks, void *out)           \
    {                                                                                                                  \
        (void)elements;                                                                                                \
        Cell *outputs = out;                                                                                           \
        for (size_t b = 0; b < blocks; b++)                                                                            \
            name##_##scan##_carry(((const Cell *)before)[b], outputs + b * COMBINE_BLOCK);                             \
        Cell last = outputs[blocks * COMBINE_BLOCK - 1];                                                               \
        if (last != last)                                                                                              \
            name##_canonical(outputs, blocks * COMBINE_BLOCK);                                                         \
    }                                                                                                                  \
    /* Several blocks at once; gives the carry after them. */                                                          \
    static Cell name##_##scan##_blocks(Cell carry, const Cell *restrict elements, Cell *restrict out)                  \
    {                                                                                                                  \
        Cell totals[SCAN_AT_ONCE];                                                                                     \
        name##_##scan##_locals(elements, out, totals);                                                                 \
        for (size_t b = 0; b < SCAN_AT_ONCE; b++) {                                                                    \
            name##_##scan##_carry(carry, out + b * COMBINE_BLOCK);                                                     \
            carry = OPERATOR(carry, totals[b]);                                                                        \
        }                                                                                                              \
        return carry;                                                                                                  \
    }                                                                                                                  \
    /* Elements of one block. */                                                                                       \
    static void name##_##scan##_piece(name##_ScanState *state, const Cell *restrict elements, size_t count,            \
                                      Cell *restrict out)                                                              \
    {                                                                                                                  \
        Cell local = state->local, carry = state->carry;                                                               \
        for (size_t i = 0; i < count; i++) {                                                                           \
            Cell before = local;                                                                                       \
            local = OPERATOR(local, elements[i]);                                                                      \
            out[i] = OPERATOR(carry, IS_INCLUSIVE ? local : before);                                                   \
        }                                                                                                              \
        state->count += count;                                                                                         \
        bool is_complete = state->count % COMBINE_BLOCK == 0;                                                          \
        state->local = is_complete ? PAD : local;                                                                      \
        state->carry = is_complete ? OPERATOR(carry, local) : carry;                                                   \
    }                                                                                                                  \
    static void name##_##scan##_pieces(name##_ScanState *state, const Cell *elements, size_t count, Cell *out)         \
    {                                                                                                                  \
        enum { TOGETHER = SCAN_AT_ONCE * COMBINE_BLOCK };                                                              \
        while (count > 0) {                                                                                            \
            size_t at = state->count % COMBINE_BLOCK;                                                                  \
            bool is_together = at == 0 && count >= TOGETHER;                                                           \
            size_t taken = is_together ? TOGETHER : least(count, COMBINE_BLOCK - at);                                  \
            if (is_together) {                                                                                         \
                state->carry = name##_##scan##_blocks(state->carry, elements, out);                                    \
                state->count += TOGETHER;                                                                              \
            } else {                                                                                                   \
                name##_##scan##_piece(state, elements, taken, out);                                                    \
            }                                                                                                          \
            elements += taken;                                                                                         \
            out += taken;                                                                                              \
            count -= taken;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_##scan(void *opaque, const void *elements, size_t count, void *out)                             \
    {                                                                                                                  \
        name##_ScanState *state = opaque;                                                                              \
        Cell *outputs = out;                                                                                           \
        if (count == 0)                                                                                                \
            return;                                                                                                    \
        bool is_start = state->count == 0;                                                                             \
        name##_##scan##_pieces(state, elements, count, outputs);                                                       \
        if (is_start && !IS_INCLUSIVE)                                                                                 \
            outputs[0] = IDENTITY;                                                                                     \
        if (outputs[count - 1] != outputs[count - 1])                                                                  \
            name##_canonical(outputs, count);                                                                          \
    }                                                                                                                  \
    /* One whole segment; gives its last output, or anything but nan if there is none. */                              \
    static inline Cell name##_##scan##_segment(const Cell *elements, size_t count, Cell *out)                          \
    {                                                                                                                  \
        if (count == 0)                                                                                                \
            return 0;                                                                                                  \
        if (count <= COMBINE_BLOCK) {                                                                                  \
            name##_##scan##_local(PAD, elements, count, out);                                                          \
            if (!IS_INCLUSIVE)                                                                                         \
                out[0] = IDENTITY;                                                                                     \
        } else {                                                                                                       \
            name##_ScanState state;                                                                                    \
            name##_scan_start(&state);                                                                                 \
            name##_##scan(&state, elements, count, out);                                                               \
        }                                                                                                              \
        return out[count - 1];                                                                                         \
    }                                                                                                                  \
    static void name##_##scan##_segments(const void *elements, int64_t first, const int64_t *ends, size_t segments,    \
                                         void *out)                                                                    \
    {                                                                                                                  \
        int64_t start = first;                                                                                         \
        bool has_nan = false;                                                                                          \
        for (size_t k = 0; k < segments; start = ends[k++]) {                                                          \
            Cell last = name##_##scan##_segment((const Cell *)elements + (start - first), (size_t)(ends[k] - start),   \
                                                (Cell *)out + (start - first));                                        \
            has_nan |= last != last;                                                                                   \
        }                                                                                                              \
        if (has_nan)                                                                                                   \
            name##_canonical(out, (size_t)(start - first));                                                            \
    }

/* ---- ordered reductions from left to right, as users' operators are applied ----
 * The state is a scan's. */

#define ORDERED_LEFT(name, Cell, OPERATOR, PAD, IDENTITY, CANONICAL)                                                   \
    static size_t name##_left_open(const void *opaque)                                                                 \
    {                                                                                                                  \
        return (COMBINE_BLOCK - ((const name##_ScanState *)opaque)->count % COMBINE_BLOCK) % COMBINE_BLOCK;            \
    }                                                                                                                  \
    static inline Cell name##_left_local(Cell local, const Cell *elements, size_t count)                               \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            local = OPERATOR(local, elements[i]);                                                                      \
        return local;                                                                                                  \
    }                                                                                                                  \
    /* The totals of several blocks, interleaved. */                                                                   \
    MATH_INLINE void name##_left_locals(const Cell *restrict elements, Cell *restrict totals)                          \
    {                                                                                                                  \
        Cell local[SCAN_AT_ONCE];                                                                                      \
        for (size_t b = 0; b < SCAN_AT_ONCE; b++)                                                                      \
            local[b] = PAD;                                                                                            \
        for (size_t i = 0; i < COMBINE_BLOCK; i++)                                                                     \
            for (size_t b = 0; b < SCAN_AT_ONCE; b++)                                                                  \
                local[b] = OPERATOR(local[b], elements[b * COMBINE_BLOCK + i]);                                        \
        memcpy(totals, local, sizeof local);                                                                           \
    }                                                                                                                  \
    static void name##_left_totals(const void *elements, size_t blocks, void *totals, void *out)                       \
    {                                                                                                                  \
        (void)out;                                                                                                     \
        const Cell *next = elements;                                                                                   \
        Cell *total = totals;                                                                                          \
        size_t b = 0;                                                                                                  \
        for (; b + SCAN_AT_ONCE <= blocks; b += SCAN_AT_ONCE)                                                          \
            name##_left_locals(next + b * COMBINE_BLOCK, total + b);                                                   \
        for (; b < blocks; b++)                                                                                        \
            total[b] = name##_left_local(PAD, next + b * COMBINE_BLOCK, COMBINE_BLOCK);                                \
    }                                                                                                                  \
    /* Elements of one block. */                                                                                       \
    static void name##_left_piece(name##_ScanState *state, const Cell *elements, size_t count)                         \
    {                                                                                                                  \
        state->local = name##_left_local(state->local, elements, count);                                               \
        state->count += count;                                                                                         \
        if (count > 0 && state->count % COMBINE_BLOCK == 0) {                                                          \
            state->carry = OPERATOR(state->carry, state->local);                                                       \
            state->local = PAD;                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_left_add(void *opaque, const void *elements, size_t count)                                      \
    {                                                                                                                  \
        const Cell *next = elements;                                                                                   \
        size_t before = least(count, name##_left_open(opaque));                                                        \
        name##_left_piece(opaque, next, before);                                                                       \
        next += before;                                                                                                \
        count -= before;                                                                                               \
        for (size_t blocks; count >= COMBINE_BLOCK; next += blocks * COMBINE_BLOCK, count -= blocks * COMBINE_BLOCK) { \
            Cell totals[SCAN_AT_ONCE];                                                                                 \
            blocks = least(count / COMBINE_BLOCK, SCAN_AT_ONCE);                                                       \
            name##_left_totals(next, blocks, totals, NULL);                                                            \
            name##_scan_join_totals(opaque, totals, blocks);                                                           \
        }                                                                                                              \
        name##_left_piece(opaque, next, count);                                                                        \
    }                                                                                                                  \
    static void name##_left_result(const void *opaque, void *out)                                                      \
    {                                                                                                                  \
        const name##_ScanState *state = opaque;                                                                        \
        *(Cell *)out = state->count == 0 ? IDENTITY : CANONICAL(OPERATOR(state->carry, state->local));                 \
    }                                                                                                                  \
    static void name##_left_segments(const void *elements, int64_t first, const int64_t *ends, size_t segments, void *out)\
    {                                                                                                                  \
        const Cell *next = elements;                                                                                   \
        for (size_t k = 0; k < segments; first = ends[k++]) {                                                          \
            size_t count = (size_t)(ends[k] - first);                                                                  \
            name##_ScanState state;                                                                                    \
            name##_scan_start(&state);                                                                                 \
            if (count > COMBINE_BLOCK) {                                                                               \
                name##_left_add(&state, next, count);                                                                  \
            } else {                                                                                                   \
                state.local = name##_left_local(PAD, next, count);                                                     \
                state.count = count;                                                                                   \
            }                                                                                                          \
            name##_left_result(&state, (Cell *)out + k);                                                               \
            next += count;                                                                                             \
        }                                                                                                              \
    }

/* A scan has one addition of each block in flight. */
enum { SCAN_AT_ONCE = 4 };

#define ORDERED(name, Cell, suffix, OPERATOR, PAD, IDENTITY, CANONICAL)                                                \
    ORDERED_LANES(name, Cell, suffix, OPERATOR, PAD)                                                                   \
    ORDERED_BLOCKS(name, Cell, suffix, OPERATOR)                                                                       \
    ORDERED_STATE(name, Cell, suffix, OPERATOR, PAD, IDENTITY, CANONICAL)                                              \
    ORDERED_ADD(name, Cell, suffix, OPERATOR)                                                                          \
    ORDERED_SEGMENTS(name, Cell, suffix, OPERATOR, PAD, IDENTITY, CANONICAL)                                           \
    ORDERED_SCAN_STATE(name, Cell, PAD, CANONICAL)                                                                     \
    ORDERED_SCAN(name, scan, Cell, OPERATOR, PAD, IDENTITY, false)                                                     \
    ORDERED_SCAN(name, inclusive, Cell, OPERATOR, PAD, IDENTITY, true)                                                 \
    ORDERED_LEFT(name, Cell, OPERATOR, PAD, IDENTITY, CANONICAL)                                                       \
    _Static_assert(sizeof(name##_State) <= FOLD_STATE_MAX, "the state of a fold is too large");                        \
    KINDS(name, Cell, STATE(sizeof(name##_State), name, name##_join_totals),                                           \
          STATE(sizeof(name##_ScanState), name##_scan, name##_scan_join_totals), LEFT_KIND(name, Cell))

ORDERED(plus_f32, float, F32, PLUS, -0.0f, 0.0f, math_canonical_f32)
ORDERED(plus_f64, double, F64, PLUS, -0.0, 0.0, math_canonical)
ORDERED(mult_f32, float, F32, TIMES, 1.0f, 1.0f, math_canonical_f32)
ORDERED(mult_f64, double, F64, TIMES, 1.0, 1.0, math_canonical)

/* ---- the table ---- */

#define ROW(OPERATOR, TYPE, kinds) [FOLD_##OPERATOR][SCALAR_##TYPE] = kinds,
const FoldTable VECTOR_NAME(fold_table) = {
    NUMBERS(ROW, PLUS, plus)
    NUMBERS(ROW, MULT, mult)
    ORDINALS(ROW, MAX, max)
    ORDINALS(ROW, MIN, min)
    LOGICALS(ROW, OR, or, or_8)
    LOGICALS(ROW, AND, and, and_bool)
    LOGICALS(ROW, XOR, xor, xor_8)
    ROW(COUNT, BOOL, count_bool)
};
