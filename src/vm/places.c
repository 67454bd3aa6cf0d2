#include "vm/places.h"

#include "math/elementary.h"
#include "vm/fold_keys.h"
#include "vm/fold_private.h"

#include <stdatomic.h>

struct PlacesKind {
    size_t (*put)(const Placing *placing, size_t first, size_t end);
    size_t (*scan)(const Placing *placing, size_t first, size_t end, void *out);
    void (*join)(void *table, const void *copy, size_t length);
    void (*start)(void *table, size_t count);
    bool is_exact;
    size_t cell_size;
};

/* Values that are uniform, and indices that are not, have loops of their own: histograms. */
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
    static const PlacesKind name = {name##_put, name##_scan, name##_join, name##_start, IS_EXACT, sizeof(Cell)};

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
static const PlacesKind *const kinds[FOLD_OPERATOR_COUNT][SCALAR_COUNT] = {
    NUMBERS(ROW, PLUS, plus)
    NUMBERS(ROW, MULT, mult)
    ORDINALS(ROW, MAX, max)
    ORDINALS(ROW, MIN, min)
    LOGICALS(ROW, OR, or, or_8)
    LOGICALS(ROW, AND, and, and_bool)
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

void places_start(const PlacesKind *kind, void *table, size_t count)
{
    kind->start(table, count);
}

size_t places_scan(const Placing *placing, size_t first, size_t end, void *out)
{
    return placing->kind->scan(placing, first, end, out);
}

/* ---- by a team ---- */

enum { PUT_PICOSECONDS = 1000 }; /* an estimate, in one thread */
enum { COPY_GAP = 64 };          /* bytes between copies: members share no cache line */
enum { POINTS_PER_PLACE = 4 };   /* at least as many points for each place of all copies, which are filled and joined */

typedef struct Copies {
    const Placing *placing;
    size_t first;
    unsigned char *items;
    size_t step; /* from a copy to the next */
    atomic_bool is_bad; /* an index is */
} Copies;

static void put_piece(void *context, size_t first, size_t end, uint32_t member)
{
    Copies *copies = context;
    Placing placing = *copies->placing;
    placing.table = copies->items + member * copies->step;
    if (placing.kind->put(&placing, copies->first + first, copies->first + end) < copies->first + end)
        atomic_store_explicit(&copies->is_bad, true, memory_order_relaxed);
}

static size_t first_bad(const Placing *placing, size_t first, size_t end)
{
    const uint64_t *index = placing->index.data;
    while (first < end && index[cells_index(placing->index, first)] < placing->length)
        first++;
    return first;
}

static size_t put_together(Team *team, const Placing *placing, size_t first, size_t end)
{
    const PlacesKind *kind = placing->kind;
    size_t members = team_size(team);
    Copies copies = {.placing = placing, .first = first};
    copies.step = (placing->length * kind->cell_size / COPY_GAP + 2) * COPY_GAP;
    copies.items = team_alloc(team, members * copies.step);
    for (size_t member = 0; member < members; member++)
        kind->start(copies.items + member * copies.step, placing->length);
    team_run(team, end - first, team_grain(team, PUT_PICOSECONDS), put_piece, &copies);
    for (size_t member = 0; member < members; member++)
        kind->join(placing->table, copies.items + member * copies.step, placing->length);
    team_give_back(team, copies.items);
    return atomic_load(&copies.is_bad) ? first_bad(placing, first, end) : end;
}

static bool is_shared(const Team *team, const Placing *placing, size_t count)
{
    return team != NULL && placing->kind->is_exact && team_shares(team, count, team_grain(team, PUT_PICOSECONDS)) &&
           placing->length <= count / (POINTS_PER_PLACE * team_size(team));
}

size_t places_put(Team *team, const Placing *placing, size_t first, size_t end)
{
    return is_shared(team, placing, end - first) ? put_together(team, placing, first, end)
                                                 : placing->kind->put(placing, first, end);
}
