#include "io/columns.h"

#include <string.h>

/* ---- which leaves there are ---- */

/* Calls `add`, unless it is null, for the type of each leaf; gives their number. */
static uint32_t each_leaf(Types *types, TypeId type, void (*add)(void *context, TypeId leaf), void *context)
{
    uint32_t count = 0;
    type = type_underlying(types, type);
    for (; type_kind(types, type) == TYPE_PAIR; type = type_underlying(types, type_rest(types, type)))
        count += each_leaf(types, type_first(types, type), add, context);
    if (type_kind(types, type) != TYPE_SCALAR && type_kind(types, type) != TYPE_CONTAINER)
        return count; /* unit */
    if (add != NULL)
        add(context, type);
    return count + 1;
}

typedef struct Making {
    Arena *arena;
    Columns *columns;
} Making;

static void add_leaf(void *context, TypeId type)
{
    Making *making = context;
    Columns *columns = making->columns;
    ColumnLeaf *leaf = &columns->leaves[columns->leaf_count++];
    bool is_scalar = type_is_scalar(columns->types, type);
    leaf->scalar = is_scalar ? type_scalar(columns->types, type) : SCALAR_I64;
    if (!is_scalar)
        leaf->elements = columns_new(making->arena, columns->types, type_element(columns->types, type));
}

Columns *columns_new(Arena *arena, Types *types, TypeId type)
{
    uint32_t count = each_leaf(types, type, NULL, NULL);
    Columns *columns = arena_alloc(arena, sizeof *columns + count * sizeof(ColumnLeaf));
    columns->memory = arena->memory;
    columns->types = types;
    columns->type = type;
    each_leaf(types, type, add_leaf, &(Making){arena, columns});
    return columns;
}

void columns_free(Columns *columns)
{
    if (columns == NULL)
        return;
    for (uint32_t i = 0; i < columns->leaf_count; i++) {
        ColumnLeaf *leaf = &columns->leaves[i];
        if (!leaf->is_borrowed)
            memory_free(columns->memory, leaf->cells, leaf->capacity * scalar_size(leaf->scalar));
        leaf->cells = NULL;
        leaf->capacity = 0;
        columns_free(leaf->elements);
    }
    columns->count = 0;
}

void columns_clear(Columns *columns)
{
    columns->count = 0;
    for (uint32_t i = 0; i < columns->leaf_count; i++)
        if (columns->leaves[i].elements != NULL)
            columns_clear(columns->leaves[i].elements);
}

/* ---- cells ---- */

/* At least doubles what is there, so that appending is linear in the end. */
void *columns_room(Columns *columns, uint32_t index, size_t more)
{
    ColumnLeaf *leaf = &columns->leaves[index];
    size_t size = scalar_size(leaf->scalar), limit = SIZE_MAX / 2 / size;
    if (more > limit - columns->count)
        memory_fail(columns->memory);
    size_t needed = columns->count + more;
    if (needed > leaf->capacity) {
        size_t capacity = leaf->capacity > needed / 2 ? leaf->capacity * 2 : needed;
        capacity = capacity < limit ? capacity : limit;
        leaf->cells = memory_resize(columns->memory, leaf->cells, leaf->capacity * size, capacity * size);
        leaf->capacity = capacity;
    }
    return (char *)leaf->cells + columns->count * size;
}

void columns_borrow(Columns *columns, uint32_t index, void *cells, size_t capacity)
{
    ColumnLeaf *leaf = &columns->leaves[index];
    leaf->is_borrowed = true;
    leaf->cells = cells;
    leaf->capacity = capacity;
}

/* ---- appending ---- */

static void append_ends(Columns *columns, uint32_t index, const ColumnLeaf *from, size_t first, size_t count)
{
    int64_t *ends = columns_room(columns, index, count);
    ColumnLeaf *leaf = &columns->leaves[index];
    size_t start = columns_start(from, first), end = columns_start(from, first + count);
    int64_t shift = (int64_t)leaf->elements->count - (int64_t)start;
    for (size_t i = 0; i < count; i++)
        ends[i] = ((const int64_t *)from->cells)[first + i] + shift;
    columns_append(leaf->elements, from->elements, start, end - start);
}

void columns_append(Columns *columns, const Columns *from, size_t first, size_t count)
{
    for (uint32_t i = 0; count > 0 && i < columns->leaf_count; i++) {
        const ColumnLeaf *leaf = &from->leaves[i];
        size_t size = scalar_size(leaf->scalar);
        if (leaf->elements != NULL)
            append_ends(columns, i, leaf, first, count);
        else
            memcpy(columns_room(columns, i, count), (const char *)leaf->cells + first * size, count * size);
    }
    columns->count += count;
}

/* ---- from values ---- */

typedef struct Putting {
    Columns *columns;
    uint32_t next; /* leaf */
} Putting;

static void put_leaf(Columns *columns, uint32_t index, TypeId type, Value value)
{
    ColumnLeaf *leaf = &columns->leaves[index];
    void *cell = columns_room(columns, index, 1);
    if (type_is_scalar(columns->types, type)) {
        scalar_store(leaf->scalar, cell, 0, value.scalar);
        return;
    }
    columns_append_values(leaf->elements, value.object->items, value.object->count);
    *(int64_t *)cell = (int64_t)leaf->elements->count;
}

static void put_value(Putting *putting, TypeId type, Value value)
{
    Types *types = putting->columns->types;
    type = type_underlying(types, type);
    for (; type_kind(types, type) == TYPE_PAIR; type = type_underlying(types, type_rest(types, type))) {
        put_value(putting, type_first(types, type), value.object->items[0]);
        value = value.object->items[1];
    }
    if (type_kind(types, type) == TYPE_SCALAR || type_kind(types, type) == TYPE_CONTAINER)
        put_leaf(putting->columns, putting->next++, type, value);
}

void columns_append_values(Columns *columns, const Value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_value(&(Putting){.columns = columns}, columns->type, values[i]);
        columns->count++;
    }
}

/* ---- to values ---- */

typedef struct Taking {
    Heap *heap;
    const Columns *columns;
    size_t row;
    uint32_t next; /* leaf */
} Taking;

static Value take_vector(const Taking *taking, TypeId type, const ColumnLeaf *leaf)
{
    size_t start = columns_start(leaf, taking->row), end = columns_start(leaf, taking->row + 1);
    Object *container = value_container(taking->heap, taking->columns->types, type, end - start);
    for (size_t i = start; i < end; i++)
        container = value_append(taking->heap, container, columns_value(taking->heap, leaf->elements, i));
    return (Value){.object = container};
}

static Value take_value(Taking *taking, TypeId type)
{
    const Columns *columns = taking->columns;
    type = type_underlying(columns->types, type);
    TypeKind kind = type_kind(columns->types, type);
    if (kind == TYPE_PAIR) {
        Value first = take_value(taking, type_first(columns->types, type));
        Value rest = take_value(taking, type_rest(columns->types, type));
        return value_pair(taking->heap, columns->types, type, first, rest);
    }
    if (kind != TYPE_SCALAR && kind != TYPE_CONTAINER)
        return (Value){0}; /* unit */
    const ColumnLeaf *leaf = &columns->leaves[taking->next++];
    if (kind == TYPE_CONTAINER)
        return take_vector(taking, type, leaf);
    return (Value){.scalar = scalar_load(leaf->scalar, leaf->cells, taking->row)};
}

Value columns_value(Heap *heap, const Columns *columns, size_t row)
{
    return take_value(&(Taking){.heap = heap, .columns = columns, .row = row}, columns->type);
}
