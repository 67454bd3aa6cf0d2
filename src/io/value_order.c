/* How values compare, and their hash. All go down the type, which bounds the depth, and along tuples in a loop. */
#include "io/value.h"
#include "math/elementary.h"
#include "math/random.h"

/* ---- the order of sorting ---- */

static int compare_signed(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_unsigned(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_float(double a, double b)
{
    bool a_is_nan = a != a;
    bool b_is_nan = b != b;
    if (a_is_nan || b_is_nan)
        return a_is_nan - b_is_nan;
    return (a > b) - (a < b);
}

int value_compare_scalars(ScalarType type, Scalar a, Scalar b)
{
    switch (scalar_kind(type)) {
    case KIND_TRUTH:
    case KIND_CHARACTER:
    case KIND_UNSIGNED:
        return compare_unsigned(a.bits, b.bits);
    case KIND_SIGNED:
        return compare_signed(a.integer, b.integer);
    case KIND_FLOATING:
        return type == SCALAR_F32 ? compare_float((double)a.f32, (double)b.f32) : compare_float(a.f64, b.f64);
    }
    return 0;
}

static int compare_containers(Types *types, TypeId element, const Object *a, const Object *b)
{
    size_t common = a->count < b->count ? a->count : b->count;
    element = type_underlying(types, element);
    bool is_scalar = type_is_scalar(types, element);
    for (size_t i = 0; i < common; i++) {
        Value x = a->items[i], y = b->items[i];
        int order = is_scalar ? value_compare_scalars(type_scalar(types, element), x.scalar, y.scalar)
                              : value_compare(types, element, x, y);
        if (order != 0)
            return order;
    }
    return compare_unsigned(a->count, b->count);
}

int value_compare(Types *types, TypeId type, Value a, Value b)
{
    for (;;) {
        type = type_underlying(types, type);
        switch (type_kind(types, type)) {
        case TYPE_SCALAR:
            return value_compare_scalars(type_scalar(types, type), a.scalar, b.scalar);
        case TYPE_PAIR: {
            int order = value_compare(types, type_first(types, type), a.object->items[0], b.object->items[0]);
            if (order != 0)
                return order;
            a = a.object->items[1];
            b = b.object->items[1];
            type = type_rest(types, type);
            continue;
        }
        case TYPE_CONTAINER:
            return compare_containers(types, type_element(types, type), a.object, b.object);
        case TYPE_UNIT:
            return 0;
        case TYPE_NONE:
        case TYPE_FUNCTION:
        case TYPE_DATA:
        case TYPE_CLOSURE:
        case TYPE_MARK:
        case TYPE_VARIABLE:
            bug("value_compare", "a type that has no values");
        }
    }
}

/* ---- the order of `<` and `==` ---- */

static Order container_order(Types *types, TypeId element, const Object *a, const Object *b)
{
    size_t common = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < common; i++) {
        Order order = value_order(types, element, a->items[i], b->items[i]);
        if (order != ORDER_EQUAL)
            return order;
    }
    return scalar_order_of(a->count < b->count, a->count == b->count, true);
}

Order value_order(Types *types, TypeId type, Value a, Value b)
{
    type = type_underlying(types, type);
    for (; type_kind(types, type) == TYPE_PAIR; type = type_underlying(types, type_rest(types, type))) {
        Order order = value_order(types, type_first(types, type), a.object->items[0], b.object->items[0]);
        if (order != ORDER_EQUAL)
            return order;
        a = a.object->items[1];
        b = b.object->items[1];
    }
    if (type_kind(types, type) == TYPE_SCALAR)
        return scalar_order(type_scalar(types, type), a.scalar, b.scalar);
    if (type_kind(types, type) == TYPE_CONTAINER)
        return container_order(types, type_element(types, type), a.object, b.object);
    return ORDER_EQUAL; /* unit */
}

/* ---- hash ---- */

/* The bits of a scalar such that equal values have equal bits: no -0, one nan, f32 as itself. */
static uint64_t hash_bits(ScalarType type, Scalar a)
{
    Scalar same = {0};
    if (type == SCALAR_F64)
        same.f64 = a.f64 == 0.0 ? 0.0 : math_canonical(a.f64);
    else if (type == SCALAR_F32)
        same.f32 = a.f32 == 0.0f ? 0.0f : math_canonical_f32(a.f32);
    else
        same = a;
    return same.bits;
}

uint64_t value_hash_scalar(ScalarType type, Scalar value, uint64_t seed)
{
    return random_hash(seed, hash_bits(type, value));
}

uint64_t value_hash_length(uint64_t length, uint64_t seed)
{
    return random_hash(seed, length);
}

uint64_t value_hash(Types *types, TypeId type, Value value, uint64_t seed)
{
    type = type_underlying(types, type);
    for (; type_kind(types, type) == TYPE_PAIR; type = type_underlying(types, type_rest(types, type))) {
        seed = value_hash(types, type_first(types, type), value.object->items[0], seed);
        value = value.object->items[1];
    }
    if (type_kind(types, type) == TYPE_SCALAR)
        return value_hash_scalar(type_scalar(types, type), value.scalar, seed);
    if (type_kind(types, type) == TYPE_CONTAINER) {
        seed = value_hash_length(value.object->count, seed);
        for (size_t i = 0; i < value.object->count; i++)
            seed = value_hash(types, type_element(types, type), value.object->items[i], seed);
    }
    return seed;
}
