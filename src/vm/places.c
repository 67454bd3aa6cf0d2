#include "vm/places.h"

#include "math/elementary.h"
#include "vm/fold_keys.h"
#include "vm/fold_private.h"

struct PlacesKind {
    size_t (*put)(const Placing *placing, size_t first, size_t end);
    size_t (*scan)(const Placing *placing, size_t first, size_t end, void *out);
    void (*join)(void *table, const void *copy, size_t length);
    bool is_exact;
};

/* Values that are uniform, and indices that are not, have loops of their own: histograms. */
#define PLACES(name, Cell, COMBINE, IS_EXACT)                                                                          \
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
    static const PlacesKind name = {name##_put, name##_scan, name##_join, IS_EXACT};

#define MAX_F32(a, b) key_f32(MAX(key_f32(a), key_f32(b)))
#define MAX_F64(a, b) key_f64(MAX(key_f64(a), key_f64(b)))
#define MIN_F32(a, b) low_value_f32(MIN(low_key_f32(a), low_key_f32(b)))
#define MIN_F64(a, b) low_value_f64(MIN(low_key_f64(a), low_key_f64(b)))
#define PLUS_F32(a, b) math_canonical_f32(PLUS(a, b))
#define PLUS_F64(a, b) math_canonical(PLUS(a, b))
#define MULT_F32(a, b) math_canonical_f32(TIMES(a, b))
#define MULT_F64(a, b) math_canonical(TIMES(a, b))

/* Wrapping, so the same for both signs. */
#define PLACES_WORDS(operator, OPERATOR)                                                                               \
    PLACES(operator##_8, uint8_t, OPERATOR, true)                                                                      \
    PLACES(operator##_16, uint16_t, OPERATOR, true)                                                                    \
    PLACES(operator##_32, uint32_t, OPERATOR, true)                                                                    \
    PLACES(operator##_64, uint64_t, OPERATOR, true)
PLACES_WORDS(plus, PLUS)
PLACES_WORDS(mult, MULT)
PLACES_WORDS(or, OR)
PLACES_WORDS(and, AND)
PLACES_WORDS(xor, XOR)
PLACES(plus_f32, float, PLUS_F32, false)
PLACES(plus_f64, double, PLUS_F64, false)
PLACES(mult_f32, float, MULT_F32, false)
PLACES(mult_f64, double, MULT_F64, false)

#define PLACES_ORDINALS(operator, OPERATOR, OF_F32, OF_F64)                                                            \
    PLACES(operator##_u8, uint8_t, OPERATOR, true)                                                                     \
    PLACES(operator##_u16, uint16_t, OPERATOR, true)                                                                   \
    PLACES(operator##_u32, uint32_t, OPERATOR, true)                                                                   \
    PLACES(operator##_u64, uint64_t, OPERATOR, true)                                                                   \
    PLACES(operator##_i8, int8_t, OPERATOR, true)                                                                      \
    PLACES(operator##_i16, int16_t, OPERATOR, true)                                                                    \
    PLACES(operator##_i32, int32_t, OPERATOR, true)                                                                    \
    PLACES(operator##_i64, int64_t, OPERATOR, true)                                                                    \
    PLACES(operator##_f32, Bits32, OF_F32, true)                                                                       \
    PLACES(operator##_f64, Bits64, OF_F64, true)
PLACES_ORDINALS(max, MAX, MAX_F32, MAX_F64)
PLACES_ORDINALS(min, MIN, MIN_F32, MIN_F64)

#define ROW(OPERATOR, TYPE, kind) [FOLD_##OPERATOR][SCALAR_##TYPE] = &kind,
static const PlacesKind *const kinds[FOLD_OPERATOR_COUNT][SCALAR_COUNT] = {
    NUMBERS(ROW, PLUS, plus)
    NUMBERS(ROW, MULT, mult)
    ORDINALS(ROW, MAX, max)
    ORDINALS(ROW, MIN, min)
    LOGICALS(ROW, OR, or, or_8)
    LOGICALS(ROW, AND, and, and_8)
    LOGICALS(ROW, XOR, xor, xor_8)
};

const PlacesKind *places_kind(Op reduction, ScalarType type)
{
    FoldOperator operator = fold_operator(reduction);
    return operator == FOLD_OPERATOR_COUNT ? NULL : kinds[operator][type];
}

bool places_are_exact(const PlacesKind *kind)
{
    return kind->is_exact;
}

size_t places_put(const Placing *placing, size_t first, size_t end)
{
    return placing->kind->put(placing, first, end);
}

size_t places_scan(const Placing *placing, size_t first, size_t end, void *out)
{
    return placing->kind->scan(placing, first, end, out);
}

void places_join(const PlacesKind *kind, void *table, const void *copy, size_t length)
{
    kind->join(table, copy, length);
}
