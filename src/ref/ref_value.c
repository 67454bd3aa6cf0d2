/* Operations on values of any concrete type: order, hash, the zero value, sorting. */
#include "math/elementary.h"
#include "ref/ref_private.h"

#include <string.h>

TypeId ref_representation(Types *types, TypeId type)
{
    TypeKind kind = type_kind(types, type);
    while (kind == TYPE_DATA || kind == TYPE_CLOSURE) {
        type = type_representation(types, type);
        kind = type_kind(types, type);
    }
    return type;
}

/* ---- order ---- */

static Order container_order(Types *types, TypeId element, const Object *a, const Object *b)
{
    size_t common = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < common; i++) {
        Order order = ref_order(types, element, a->items[i], b->items[i]);
        if (order != ORDER_EQUAL)
            return order;
    }
    return scalar_order_of(a->count < b->count, a->count == b->count, true);
}

Order ref_order(Types *types, TypeId type, Value a, Value b)
{
    type = ref_representation(types, type);
    for (; type_kind(types, type) == TYPE_PAIR; type = ref_representation(types, type_rest(types, type))) {
        Order order = ref_order(types, type_first(types, type), a.object->items[0], b.object->items[0]);
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
static uint64_t scalar_hash_bits(ScalarType type, Scalar a)
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

/* Left to right over the leaves, containers with their lengths in front. */
uint64_t ref_hash(Types *types, TypeId type, Value value, uint64_t seed)
{
    type = ref_representation(types, type);
    for (; type_kind(types, type) == TYPE_PAIR; type = ref_representation(types, type_rest(types, type))) {
        seed = ref_hash(types, type_first(types, type), value.object->items[0], seed);
        value = value.object->items[1];
    }
    if (type_kind(types, type) == TYPE_SCALAR)
        return random_hash(seed, scalar_hash_bits(type_scalar(types, type), value.scalar));
    if (type_kind(types, type) == TYPE_CONTAINER) {
        seed = random_hash(seed, value.object->count);
        for (size_t i = 0; i < value.object->count; i++)
            seed = ref_hash(types, type_element(types, type), value.object->items[i], seed);
    }
    return seed;
}

/* ---- the zero value ---- */

Value ref_identity(Interpreter *machine, TypeId type)
{
    Types *types = machine->types;
    type = ref_representation(types, type);
    switch (type_kind(types, type)) {
    case TYPE_PAIR: {
        Value first = ref_identity(machine, type_first(types, type));
        Value rest = ref_identity(machine, type_rest(types, type));
        return value_pair(&machine->heap, types, type, first, rest);
    }
    case TYPE_CONTAINER:
        return (Value){.object = value_container(&machine->heap, types, type, 0)};
    case TYPE_SCALAR:
        return (Value){.scalar.integer = type == TYPE_CHAR ? ' ' : 0};
    case TYPE_NONE:
    case TYPE_UNIT:
    case TYPE_FUNCTION:
    case TYPE_DATA:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return (Value){0};
}

/* ---- sorting ---- */

typedef struct Sorting {
    Types *types;
    TypeId type;
    const Value *items;
    bool is_descending;
} Sorting;

/* Whether the element at b must come before the one at a, which stood first. */
static bool is_out_of_order(const Sorting *sorting, size_t a, size_t b)
{
    int order = value_compare(sorting->types, sorting->type, sorting->items[a], sorting->items[b]);
    return sorting->is_descending ? order < 0 : order > 0;
}

static void merge(const Sorting *sorting, const size_t *from, size_t start, size_t middle, size_t end, size_t *to)
{
    size_t left = start, right = middle;
    for (size_t i = start; i < end; i++) {
        bool takes_right =
            left == middle || (right < end && is_out_of_order(sorting, from[left], from[right]));
        to[i] = takes_right ? from[right++] : from[left++];
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t *ref_new_positions(Interpreter *machine, size_t count)
{
    ref_free_positions(machine, &machine->positions);
    if (count > SIZE_MAX / sizeof(size_t))
        memory_fail(machine->memory);
    size_t *items = memory_alloc(machine->memory, count * sizeof(size_t));
    machine->positions = (Positions){items, count};
    return items;
}

void ref_free_positions(Interpreter *machine, Positions *positions)
{
    memory_free(machine->memory, positions->items, positions->capacity * sizeof(size_t));
    *positions = (Positions){0};
}

void ref_grade(Interpreter *machine, TypeId element, const Object *container, bool is_descending)
{
    size_t length = container->count;
    Sorting sorting = {machine->types, element, container->items, is_descending};
    size_t *items = ref_new_positions(machine, 2 * length);
    size_t *from = items, *to = items + length;
    for (size_t i = 0; i < length; i++)
        from[i] = i;
    for (size_t width = 1; width < length; width *= 2) {
        for (size_t start = 0; start < length; start += 2 * width)
            merge(&sorting, from, start, least(start + width, length), least(start + 2 * width, length), to);
        size_t *merged = to;
        to = from;
        from = merged;
    }
    if (from != items)
        memcpy(items, from, length * sizeof *items);
}
