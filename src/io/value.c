/* Values at run time: the heap, sharing and comparing. Printing and reading are in value_print.c and value_read.c.
 *
 * Every object is on its heap's list from the moment it is allocated, so that a failed allocation anywhere leaves nothing
 * that heap_free does not find. */
#include "io/value.h"

/* A count that reached this stays there: the object lives until the heap goes. */
#define REFERENCES_MAX UINT32_MAX

enum { CAPACITY_FIRST = 4 };

/* ---- the heap ---- */

void heap_init(Heap *heap, Memory *memory)
{
    *heap = (Heap){.memory = memory};
}

static size_t object_size(const Object *object)
{
    return sizeof(Object) + object->capacity * sizeof(Value);
}

void heap_free(Heap *heap)
{
    Object *object = heap->objects;
    heap->objects = NULL;
    while (object != NULL) {
        Object *next = object->next;
        memory_free(heap->memory, object, object_size(object));
        object = next;
    }
}

static size_t size_for(Heap *heap, size_t capacity)
{
    if (capacity > (SIZE_MAX - sizeof(Object)) / sizeof(Value))
        memory_fail(heap->memory);
    return sizeof(Object) + capacity * sizeof(Value);
}

/* Makes the list point to where the object now is. */
static void relink(Heap *heap, Object *object)
{
    if (object->previous != NULL)
        object->previous->next = object;
    else
        heap->objects = object;
    if (object->next != NULL)
        object->next->previous = object;
}

static void unlink_object(Heap *heap, const Object *object)
{
    if (object->previous != NULL)
        object->previous->next = object->next;
    else
        heap->objects = object->next;
    if (object->next != NULL)
        object->next->previous = object->previous;
}

static Object *new_object(Heap *heap, size_t capacity)
{
    Object *object = memory_alloc(heap->memory, size_for(heap, capacity));
    object->capacity = capacity;
    object->references = 1;
    object->next = heap->objects;
    relink(heap, object);
    return object;
}

/* ---- making values ---- */

/* The type whose values stand for values of `type`: DATA and CLOSURE are what they are made of. */
static TypeId representation(Types *types, TypeId type)
{
    TypeKind kind = type_kind(types, type);
    while (kind == TYPE_DATA || kind == TYPE_CLOSURE) {
        type = type_representation(types, type);
        kind = type_kind(types, type);
    }
    return type;
}

bool value_is_object(Types *types, TypeId type)
{
    TypeKind kind = type_kind(types, representation(types, type));
    return kind == TYPE_PAIR || kind == TYPE_CONTAINER;
}

Value value_pair(Heap *heap, Types *types, TypeId type, Value first, Value rest)
{
    TypeId pair = representation(types, type);
    unsigned objects = (unsigned)value_is_object(types, type_first(types, pair)) |
                       (unsigned)value_is_object(types, type_rest(types, pair)) << 1;
    Object *object = new_object(heap, 2);
    object->is_pair = true;
    object->object_items = (uint8_t)objects;
    object->count = 2;
    object->items[0] = first;
    object->items[1] = rest;
    return (Value){.object = object};
}

Object *value_container(Heap *heap, Types *types, TypeId type, size_t capacity)
{
    TypeId container = representation(types, type);
    bool objects = value_is_object(types, type_element(types, container));
    Object *object = new_object(heap, capacity);
    object->object_items = objects;
    return object;
}

Object *value_append(Heap *heap, Object *container, Value element)
{
    if (container->count == container->capacity) {
        size_t capacity = container->capacity < CAPACITY_FIRST ? CAPACITY_FIRST : container->capacity * 2;
        size_t size = size_for(heap, capacity);
        container = memory_resize(heap->memory, container, object_size(container), size);
        container->capacity = capacity;
        relink(heap, container);
    }
    container->items[container->count++] = element;
    container->is_measured = false;
    return container;
}

/* ---- sharing and letting go ---- */

Value value_share(Types *types, TypeId type, Value value)
{
    if (value_is_object(types, type) && value.object->references != REFERENCES_MAX)
        value.object->references++;
    return value;
}

/* Takes one reference away; a dead object moves from the heap's list to `dead`, threaded through `next`. */
static void let_go(Heap *heap, Object *object, Object **dead)
{
    if (object->references == REFERENCES_MAX || --object->references != 0)
        return;
    unlink_object(heap, object);
    object->next = *dead;
    *dead = object;
}

static bool item_is_object(const Object *object, size_t i)
{
    return object->is_pair ? (object->object_items >> i & 1) != 0 : object->object_items != 0;
}

void value_release(Heap *heap, Types *types, TypeId type, Value value)
{
    if (!value_is_object(types, type))
        return;
    /* a work list rather than recursion: values may be nested deeper than the C stack */
    Object *dead = NULL;
    let_go(heap, value.object, &dead);
    while (dead != NULL) {
        Object *object = dead;
        dead = object->next;
        if (object->object_items != 0)
            for (size_t i = 0; i < object->count; i++)
                if (item_is_object(object, i))
                    let_go(heap, object->items[i].object, &dead);
        memory_free(heap->memory, object, object_size(object));
    }
}

/* ---- comparing ---- */

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

static int compare_scalar(ScalarType type, Scalar a, Scalar b)
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
    element = representation(types, element);
    bool is_scalar = type_is_scalar(types, element);
    for (size_t i = 0; i < common; i++) {
        int order = is_scalar ? compare_scalar(type_scalar(types, element), a->items[i].scalar, b->items[i].scalar)
                              : value_compare(types, element, a->items[i], b->items[i]);
        if (order != 0)
            return order;
    }
    return compare_unsigned(a->count, b->count);
}

int value_compare(Types *types, TypeId type, Value a, Value b)
{
    for (;;) {
        type = representation(types, type);
        switch (type_kind(types, type)) {
        case TYPE_SCALAR:
            return compare_scalar(type_scalar(types, type), a.scalar, b.scalar);
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
