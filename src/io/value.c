/* Values at run time: the heap, making, sharing. Comparing is in value_order.c, text in value_print.c and value_read.c.
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

bool value_is_object(Types *types, TypeId type)
{
    TypeKind kind = type_kind(types, type_underlying(types, type));
    return kind == TYPE_PAIR || kind == TYPE_CONTAINER;
}

Value value_pair(Heap *heap, Types *types, TypeId type, Value first, Value rest)
{
    TypeId pair = type_underlying(types, type);
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
    TypeId container = type_underlying(types, type);
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

Object *value_chars(Heap *heap, Types *types, TypeId type, const char *bytes, size_t length)
{
    Object *chars = value_container(heap, types, type, length);
    for (size_t i = 0; i < length; i++)
        chars->items[i].scalar.integer = (unsigned char)bytes[i];
    chars->count = length;
    return chars;
}

void value_add_chars(const Object *chars, Text *out)
{
    for (size_t i = 0; i < chars->count; i++)
        text_add_char(out, (char)chars->items[i].scalar.bits);
}

Value value_identity(Heap *heap, Types *types, TypeId type)
{
    type = type_underlying(types, type);
    switch (type_kind(types, type)) {
    case TYPE_PAIR: {
        Value first = value_identity(heap, types, type_first(types, type));
        Value rest = value_identity(heap, types, type_rest(types, type));
        return value_pair(heap, types, type, first, rest);
    }
    case TYPE_CONTAINER:
        return (Value){.object = value_container(heap, types, type, 0)};
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
