/* The loops of places, compiled once for each level of vector instructions. */
#include "kernel/preamble/ahead.h"
#include "math/elementary.h"
#include "vm/fold_keys.h"
#include "vm/places_private.h"

enum { BLOCK = 64 }; /* points whose indices are looked at together */

/* Whether an index of a block is none of the table: then it is negative, or the last one minus it is. */
static bool has_bad(const int64_t *index, uint64_t length)
{
    uint64_t signs = 0;
    for (size_t k = 0; k < BLOCK; k++)
        signs |= (uint64_t)index[k] | (length - 1 - (uint64_t)index[k]);
    return signs >> 63 != 0;
}

/* Values that are uniform, and indices that are not, have loops of their own: histograms. Those of lanes combine neighbouring points into tables of their own,
 * `lane_step` bytes apart, so that points of the same place do not wait for each other; they stop before a block with an index that is none. */
#define PLACES(name, Cell, COMBINE, IDENTITY, IS_EXACT)                                                                \
    MATH_INLINE size_t name##_put_by(const Placing *placing, size_t first, size_t end, size_t index_step, size_t value_step)\
    {                                                                                                                  \
        Cell *table = placing->table;                                                                                  \
        const int64_t *index = placing->index.data;                                                                    \
        const Cell *values = placing->values.data;                                                                     \
        for (size_t i = first; i < end; i++) {                                                                         \
            uint64_t place = (uint64_t)index[i * index_step];                                                          \
            if (place >= placing->length)                                                                              \
                return i;                                                                                              \
            table[place] = (Cell)COMBINE(table[place], values[i * value_step]);                                        \
        }                                                                                                              \
        return end;                                                                                                    \
    }                                                                                                                  \
    static size_t name##_put(const Placing *placing, size_t first, size_t end)                                         \
    {                                                                                                                  \
        if (placing->index.is_uniform)                                                                                 \
            return name##_put_by(placing, first, end, 0, placing->values.is_uniform ? 0 : 1);                          \
        return placing->values.is_uniform ? name##_put_by(placing, first, end, 1, 0)                                   \
                                          : name##_put_by(placing, first, end, 1, 1);                                  \
    }                                                                                                                  \
    MATH_INLINE size_t name##_put_lanes_by(const Placing *placing, size_t first, size_t end, size_t lane_step, size_t value_step)\
    {                                                                                                                  \
        Cell *tables[PLACES_LANES];                                                                                           \
        const int64_t *index = placing->index.data;                                                                    \
        const Cell *values = placing->values.data, same = values[0];                                                   \
        for (size_t lane = 0; lane < PLACES_LANES; lane++)                                                                    \
            tables[lane] = (Cell *)(void *)((unsigned char *)placing->table + lane * lane_step);                       \
        for (; end - first >= BLOCK && !has_bad(index + first, placing->length); first += BLOCK) {                     \
            kernel_ask_ahead(index + first, BLOCK * sizeof *index);                                                    \
            kernel_ask_ahead(values + value_step * first, value_step * BLOCK * sizeof(Cell));                          \
            for (size_t i = first; i < first + BLOCK; i += PLACES_LANES)                                               \
                for (size_t lane = 0; lane < PLACES_LANES; lane++) {                                                   \
                    Cell *cell = &tables[lane][index[i + lane]];                                                       \
                    *cell = (Cell)COMBINE(*cell, (value_step == 0 ? same : values[i + lane]));                         \
                }                                                                                                      \
        }                                                                                                              \
        return end - first < BLOCK ? name##_put_by(placing, first, end, 1, value_step) : first;                  \
    }                                                                                                                  \
    static size_t name##_put_lanes(const Placing *placing, size_t first, size_t end, size_t lane_step)                 \
    {                                                                                                                  \
        return placing->values.is_uniform ? name##_put_lanes_by(placing, first, end, lane_step, 0)                     \
                                          : name##_put_lanes_by(placing, first, end, lane_step, 1);                    \
    }                                                                                                                  \
    static size_t name##_scan(const Placing *placing, size_t first, size_t end, void *out)                             \
    {                                                                                                                  \
        Cell *table = placing->table, *found = out;                                                                    \
        const int64_t *index = placing->index.data;                                                                    \
        const Cell *values = placing->values.data;                                                                     \
        for (size_t i = first; i < end; i++) {                                                                         \
            uint64_t place = (uint64_t)index[cells_index(placing->index, i)];                                          \
            if (place >= placing->length)                                                                              \
                return i;                                                                                              \
            *found++ = table[place];                                                                                   \
            table[place] = (Cell)COMBINE(table[place], values[cells_index(placing->values, i)]);                       \
        }                                                                                                              \
        return end;                                                                                                    \
    }                                                                                                                  \
    static void name##_join(void *table, const void *copy, size_t length)                                              \
    {                                                                                                                  \
        for (size_t i = 0; i < length; i++)                                                                            \
            ((Cell *)table)[i] = (Cell)COMBINE(((Cell *)table)[i], ((const Cell *)copy)[i]);                           \
    }                                                                                                                  \
    static void name##_start(void *table, size_t count)                                                                \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            ((Cell *)table)[i] = (Cell)(IDENTITY);                                                                     \
    }                                                                                                                  \
    static const PlacesKind name = {name##_put, name##_put_lanes, name##_scan, name##_join, name##_start, IS_EXACT, sizeof(Cell)};

#define MAX_F32(a, b) key_f32(MAX(key_f32(a), key_f32(b)))
#define MAX_F64(a, b) key_f64(MAX(key_f64(a), key_f64(b)))
#define MIN_F32(a, b) low_value_f32(MIN(low_key_f32(a), low_key_f32(b)))
#define MIN_F64(a, b) low_value_f64(MIN(low_key_f64(a), low_key_f64(b)))
#define PLUS_F32(a, b) math_canonical_f32(PLUS(a, b))
#define PLUS_F64(a, b) math_canonical(PLUS(a, b))
#define MULT_F32(a, b) math_canonical_f32(TIMES(a, b))
#define MULT_F64(a, b) math_canonical(TIMES(a, b))

/* Wrapping, so the same for both signs. */
#define PLACES_WORDS(operator, OPERATOR, IDENTITY)                                                                     \
    PLACES(operator##_8, uint8_t, OPERATOR, IDENTITY, true)                                                            \
    PLACES(operator##_16, uint16_t, OPERATOR, IDENTITY, true)                                                          \
    PLACES(operator##_32, uint32_t, OPERATOR, IDENTITY, true)                                                          \
    PLACES(operator##_64, uint64_t, OPERATOR, IDENTITY, true)
PLACES_WORDS(plus, PLUS, 0)
PLACES_WORDS(mult, MULT, 1)
PLACES_WORDS(or, OR, 0)
PLACES_WORDS(and, AND, -1)
PLACES_WORDS(xor, XOR, 0)
PLACES(and_bool, uint8_t, AND, 1, true)
PLACES(plus_f32, float, PLUS_F32, 0, false)
PLACES(plus_f64, double, PLUS_F64, 0, false)
PLACES(mult_f32, float, MULT_F32, 1, false)
PLACES(mult_f64, double, MULT_F64, 1, false)

PLACES(max_u8, uint8_t, MAX, 0, true)
PLACES(max_u16, uint16_t, MAX, 0, true)
PLACES(max_u32, uint32_t, MAX, 0, true)
PLACES(max_u64, uint64_t, MAX, 0, true)
PLACES(max_i8, int8_t, MAX, INT8_MIN, true)
PLACES(max_i16, int16_t, MAX, INT16_MIN, true)
PLACES(max_i32, int32_t, MAX, INT32_MIN, true)
PLACES(max_i64, int64_t, MAX, INT64_MIN, true)
PLACES(max_f32, Bits32, MAX_F32, key_f32(KEY_LEAST_F32), true)
PLACES(max_f64, Bits64, MAX_F64, key_f64(KEY_LEAST_F64), true)

PLACES(min_u8, uint8_t, MIN, UINT8_MAX, true)
PLACES(min_u16, uint16_t, MIN, UINT16_MAX, true)
PLACES(min_u32, uint32_t, MIN, UINT32_MAX, true)
PLACES(min_u64, uint64_t, MIN, UINT64_MAX, true)
PLACES(min_i8, int8_t, MIN, INT8_MAX, true)
PLACES(min_i16, int16_t, MIN, INT16_MAX, true)
PLACES(min_i32, int32_t, MIN, INT32_MAX, true)
PLACES(min_i64, int64_t, MIN, INT64_MAX, true)
PLACES(min_f32, Bits32, MIN_F32, low_value_f32(INT32_MAX), true)
PLACES(min_f64, Bits64, MIN_F64, low_value_f64(INT64_MAX), true)

#define ROW(OPERATOR, TYPE, kind) [FOLD_##OPERATOR][SCALAR_##TYPE] = &kind,
const PlacesTable VECTOR_NAME(places_table) = {
    NUMBERS(ROW, PLUS, plus)
    NUMBERS(ROW, MULT, mult)
    ORDINALS(ROW, MAX, max)
    ORDINALS(ROW, MIN, min)
    LOGICALS(ROW, OR, or, or_8)
    LOGICALS(ROW, AND, and, and_bool)
    LOGICALS(ROW, XOR, xor, xor_8)
};
