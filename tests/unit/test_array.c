/* Arrays: columns uniform and not, references, values there and back, order and hash as the reference has them, sorting. */
#include "ref/ref_private.h"
#include "vm/array.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Teams that share even the smallest loops. */
static const uint32_t team_sizes[] = {1, 2, 3, 8};
enum { TEAM_COUNT = sizeof team_sizes / sizeof *team_sizes };

typedef struct Fixture {
    Memory memory;
    Memory array_memory; /* apart, so that the bytes of arrays can be counted */
    Arena arena;
    Names names;
    Types types;
    Layouts layouts;
    Heap heap;
    Memory team_memory;
    Team *teams[TEAM_COUNT];
    unsigned turn;
    uint64_t random;
} Fixture;

static void set_up(Fixture *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    types_init(&f->types, &f->arena, &f->names);
    layouts_init(&f->layouts, &f->arena, &f->types);
    heap_init(&f->heap, &f->memory);
    for (int i = 0; i < TEAM_COUNT; i++)
        f->teams[i] = team_new(&f->team_memory, (TeamOptions){.threads = team_sizes[i], .piece_picoseconds = 1000});
}

static void tear_down(Fixture *f)
{
    CHECK(f->array_memory.live_bytes == 0);
    CHECK(f->heap.objects == NULL);
    for (int i = 0; i < TEAM_COUNT; i++)
        team_free(f->teams[i]);
    CHECK(f->team_memory.live_bytes == 0);
    heap_free(&f->heap);
    arena_free(&f->arena);
    CHECK(f->memory.live_bytes == 0);
}

static uint64_t next_random(Fixture *f)
{
    return random_hash(5, f->random++);
}

static size_t random_below_size(Fixture *f, size_t limit)
{
    return (size_t)random_below(next_random(f), limit);
}

/* One after the other. */
static Team *a_team(Fixture *f)
{
    return f->teams[f->turn++ % TEAM_COUNT];
}

/* ---- types and values at random ---- */

static TypeId random_type(Fixture *f, int depth)
{
    switch (random_below_size(f, depth == 0 ? 5 : 10)) {
    case 0:
        return TYPE_FLOAT;
    case 1:
        return random_below_size(f, 3) == 0 ? TYPE_UNIT_ID : TYPE_CHAR;
    case 2:
    case 3:
    case 4:
        return TYPE_OF_SCALAR(random_below_size(f, SCALAR_COUNT));
    case 5:
    case 6: {
        TypeId first = random_type(f, depth - 1);
        return type_pair(&f->types, first, random_type(f, depth - 1));
    }
    case 7: {
        Datatype datatype = {.name = names_of(&f->names, "box"), .contents = random_type(f, depth - 1)};
        *vec_push(&f->arena, &f->types.datatypes) = datatype;
        return type_data(&f->types, f->types.datatypes.count - 1, TYPE_UNIT_ID);
    }
    default:
        return type_vector(&f->types, random_type(f, depth - 1));
    }
}

/* From few values, so that many are equal; extremes, -0 and nan among them; or from all. */
static Scalar random_scalar(Fixture *f, ScalarType type)
{
    static const double specials[] = {0.0, -0.0, 1.5, -1.5, (double)INFINITY, -(double)INFINITY, (double)NAN, 1e-40};
    uint64_t bits = next_random(f);
    bool is_plain = random_below_size(f, 3) == 0;
    if (type == SCALAR_F64)
        return scalar_of_f64(is_plain ? specials[bits % 8] : (double)(int64_t)bits * 0x1p-40);
    if (type == SCALAR_F32)
        return scalar_of_f32(is_plain ? (float)specials[bits % 8] : (float)(int64_t)bits * 0x1p-40f);
    if (type == SCALAR_BOOL)
        return (Scalar){.bits = bits & 1};
    if (random_below_size(f, 8) == 0)
        return bits & 1 ? scalar_least(type) : scalar_greatest(type);
    return (Scalar){.integer = scalar_wrap(type, is_plain ? (int64_t)(bits % 3) : (int64_t)bits)};
}

static Value random_value(Fixture *f, TypeId type)
{
    Types *types = &f->types;
    type = type_underlying(types, type);
    if (type_kind(types, type) == TYPE_PAIR) {
        Value first = random_value(f, type_first(types, type));
        return value_pair(&f->heap, types, type, first, random_value(f, type_rest(types, type)));
    }
    if (type_kind(types, type) == TYPE_CONTAINER) {
        Object *container = value_container(&f->heap, types, type, 0);
        for (size_t i = random_below_size(f, 4); i > 0; i--)
            container = value_append(&f->heap, container, random_value(f, type_element(types, type)));
        return (Value){.object = container};
    }
    return (Value){.scalar = type_is_scalar(types, type) ? random_scalar(f, type_scalar(types, type)) : (Scalar){0}};
}

enum { LEAVES = 100 };

static void cells_of(const Array *array, size_t start, Cells *cells)
{
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++)
        cells[leaf] = array_cells(array, leaf, start);
}

/* Whether an element of an array is a value. */
static bool is_value(Fixture *f, const Array *array, size_t i, Value value)
{
    Cells cells[LEAVES];
    cells_of(array, 0, cells);
    TypeId type = array->layout->type;
    Value again = rows_value(&f->heap, &f->types, array->layout, cells, i);
    bool is_same = value_compare(&f->types, type, value, again) == 0 &&
                   value_hash(&f->types, type, value, 7) == value_hash(&f->types, type, again, 7);
    value_release(&f->heap, &f->types, type, again);
    return is_same;
}

/* ---- cells ---- */

static void test_scalars(Fixture *f)
{
    for (int i = 0; i < 2000; i++) {
        ScalarType type = (ScalarType)(i % SCALAR_COUNT);
        Scalar value = random_scalar(f, type);
        uint64_t room[4] = {0};
        cells_set_scalar(type, room, 2, value);
        CHECK(cells_scalar(type, (Cells){room, false}, 2).bits == value.bits);
        const char *cell = (const char *)room + 2 * leaf_size((LeafType)type);
        CHECK(cells_scalar(type, (Cells){cell, true}, 9).bits == value.bits);
    }
}

enum { CELLS = 3000 };

static void test_fill_and_copy(Fixture *f, ScalarType type)
{
    static uint64_t from[CELLS], out[CELLS];
    size_t count = random_below_size(f, CELLS / 2), first = random_below_size(f, CELLS / 2);
    for (size_t i = 0; i < CELLS; i++)
        cells_set_scalar(type, from, i, random_scalar(f, type));
    Cells cells = {from, random_below_size(f, 3) == 0};
    memset(out, 0xa5, sizeof out);
    cells_copy((LeafType)type, out, cells, first, count);
    size_t size = leaf_size((LeafType)type);
    for (size_t i = 0; i < count; i++)
        CHECK(memcmp((char *)out + i * size, (char *)from + cells_index(cells, first + i) * size, size) == 0);
    for (size_t i = count * size; i < sizeof out; i++)
        CHECK(((unsigned char *)out)[i] == 0xa5);
}

static Array *random_array(Fixture *f, TypeId type, size_t count)
{
    Array *array = array_new(&f->array_memory, layout_of(&f->layouts, type));
    for (size_t i = 0; i < count; i++) {
        Value value = random_value(f, type);
        array_append_value(&f->array_memory, &f->types, array, value);
        value_release(&f->heap, &f->types, type, value);
    }
    return array;
}

/* Whether out[i] is column 0 of arrays[i] at index[i]. */
static void check_gathered(ScalarType type, const uint64_t *out, Cells arrays, Cells index, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const Array *array = ((Array *const *)arrays.data)[cells_index(arrays, i)];
        int64_t position = ((const int64_t *)index.data)[cells_index(index, i)];
        Scalar expected = cells_scalar(type, array_cells(array, 0, 0), (size_t)position);
        CHECK(cells_scalar(type, (Cells){out, false}, i).bits == expected.bits);
    }
}

static void test_gather(Fixture *f, ScalarType type)
{
    enum { COUNT = 50 };
    TypeId element = TYPE_OF_SCALAR(type);
    Array *three[3] = {random_array(f, element, COUNT), random_array(f, element, COUNT),
                       array_new(&f->array_memory, layout_of(&f->layouts, element))};
    Cells one = array_cells(three[0], 0, 0);
    one.is_uniform = true;
    array_append(&f->array_memory, a_team(f), three[2], &one, 0, COUNT);
    CHECK(three[2]->columns[0].is_uniform);
    Array *arrays[COUNT];
    int64_t index[COUNT];
    uint64_t out[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        arrays[i] = three[random_below_size(f, 3)];
        index[i] = (int64_t)random_below_size(f, COUNT);
    }
    for (int way = 0; way < 8; way++) {
        Cells from = {way & 4 ? &three[2] : arrays, way & 1}, positions = {index, way & 2};
        size_t count = from.data == arrays || from.is_uniform ? COUNT : 1;
        cells_gather(a_team(f), (LeafType)type, out, from, 0, positions, count);
        check_gathered(type, out, from, positions, count);
        cells_gather(a_team(f), (LeafType)type, out, from, 0, positions, 0);
    }
    for (int i = 0; i < 3; i++)
        array_release(&f->array_memory, three[i]);
    CHECK(f->array_memory.live_bytes == 0);
}

/* ---- columns ---- */

static const Layout *nested_layout(Fixture *f)
{
    return layout_of(&f->layouts, type_vector(&f->types, TYPE_INT));
}

static Array *ints(Fixture *f, int64_t first, size_t count)
{
    Array *array = array_new(&f->array_memory, layout_of(&f->layouts, TYPE_INT));
    for (size_t i = 0; i < count; i++) {
        int64_t value = first + (int64_t)i;
        array_append(&f->array_memory, a_team(f), array, &(Cells){&value, false}, 0, 1);
    }
    return array;
}

static void append_vector(Fixture *f, Array *array, Array *inner, int64_t start, int64_t length)
{
    Cells cells[] = {{&inner, false}, {&start, false}, {&length, false}};
    array_append(&f->array_memory, a_team(f), array, cells, 0, 1);
}

static void test_uniform_scalars(Fixture *f)
{
    Array *array = array_new(&f->array_memory, layout_of(&f->layouts, TYPE_INT));
    int64_t values[] = {7, 8, 9};
    Cells seven = {values, true}, all = {values, false};
    array_append(&f->array_memory, a_team(f), array, &seven, 0, 1000000);
    array_append(&f->array_memory, a_team(f), array, &seven, 5, 10);
    CHECK(array->columns[0].is_uniform && array->count == 1000010);
    CHECK(f->array_memory.live_bytes < 1000);
    array_append(&f->array_memory, a_team(f), array, &all, 1, 2);
    CHECK(!array->columns[0].is_uniform && array->count == 1000012);
    const int64_t *column = array->columns[0].data;
    CHECK(column[0] == 7 && column[1000009] == 7 && column[1000010] == 8 && column[1000011] == 9);
    array_append(&f->array_memory, a_team(f), array, &seven, 0, 3);
    column = array->columns[0].data;
    CHECK(!array->columns[0].is_uniform && column[1000014] == 7);
    array_release(&f->array_memory, array);
    CHECK(f->array_memory.live_bytes == 0);
}

static void test_uniform_arrays(Fixture *f)
{
    Array *outer = array_new(&f->array_memory, nested_layout(f));
    Array *a = ints(f, 0, 10), *b = ints(f, 100, 10);
    append_vector(f, outer, a, 0, 3);
    append_vector(f, outer, a, 3, 0);
    append_vector(f, outer, a, 3, 7);
    CHECK(outer->columns[0].is_uniform && a->references == 2);
    append_vector(f, outer, b, 5, 5);
    CHECK(!outer->columns[0].is_uniform && a->references == 4 && b->references == 2);
    Array *copy = array_copy(&f->array_memory, a_team(f), outer, 1, 3);
    CHECK(copy->count == 3 && a->references == 6 && b->references == 3);
    array_append_slice(&f->array_memory, a_team(f), copy, copy, 0, 3); /* to itself */
    array_append_slice(&f->array_memory, a_team(f), copy, outer, 0, 0);
    CHECK(copy->count == 6 && a->references == 8 && b->references == 4);
    CHECK(((Array **)copy->columns[0].data)[5] == b && ((int64_t *)copy->columns[2].data)[4] == 7);
    array_release(&f->array_memory, outer);
    CHECK(a->references == 5 && b->references == 3);
    array_release(&f->array_memory, a);
    array_release(&f->array_memory, b);
    array_release(&f->array_memory, copy);
    array_release(&f->array_memory, NULL);
    CHECK(f->array_memory.live_bytes == 0);
}

/* A slice of a uniform column keeps it so; a copy for scattering does not. */
static void test_uniform_slices(Fixture *f)
{
    Array *outer = array_new(&f->array_memory, nested_layout(f)), *inner = ints(f, 0, 4);
    int64_t starts[] = {0, 1, 2, 3}, one = 1;
    Array *inners[] = {inner, inner, inner, inner};
    Cells cells[] = {{inners, false}, {starts, false}, {&one, true}};
    array_append(&f->array_memory, a_team(f), outer, cells, 1, 3);
    CHECK(outer->columns[0].is_uniform && !outer->columns[1].is_uniform && outer->columns[2].is_uniform);
    Array *slice = array_new(&f->array_memory, outer->layout);
    array_append_slice(&f->array_memory, a_team(f), slice, outer, 1, 2);
    CHECK(slice->columns[0].is_uniform && slice->columns[2].is_uniform && inner->references == 3);
    CHECK(((int64_t *)slice->columns[1].data)[0] == 2);
    Array *copy = array_copy(&f->array_memory, a_team(f), outer, 1, 2);
    CHECK(!copy->columns[0].is_uniform && !copy->columns[2].is_uniform && inner->references == 5);
    CHECK(((int64_t *)copy->columns[2].data)[1] == 1);
    array_release(&f->array_memory, array_copy(&f->array_memory, a_team(f), outer, 3, 0));
    array_release(&f->array_memory, copy);
    array_release(&f->array_memory, slice);
    array_release(&f->array_memory, outer);
    CHECK(inner->references == 1);
    array_release(&f->array_memory, inner);
    CHECK(f->array_memory.live_bytes == 0);
}

/* Buffers of cells own references; null cells count nothing. */
static void test_cell_references(Fixture *f)
{
    Array *a = ints(f, 0, 3), *b = ints(f, 0, 3);
    Array *cells[] = {a, a, NULL, b, a}, *out[5];
    cells_copy(LEAF_ARRAY, out, (Cells){cells, false}, 0, 5);
    CHECK(a->references == 4 && b->references == 2);
    cells_release(&f->array_memory, LEAF_ARRAY, out, 5);
    cells_fill(LEAF_ARRAY, out, &b, 5);
    CHECK(a->references == 1 && b->references == 6);
    cells_release(&f->array_memory, LEAF_ARRAY, out, 5);
    cells_release(&f->array_memory, LEAF_ARRAY, (Array *[]){a, b}, 2);
    CHECK(f->array_memory.live_bytes == 0);
}

static void test_reserve(Fixture *f)
{
    Array *array = array_new(&f->array_memory, layout_of(&f->layouts, type_pair(&f->types, TYPE_INT, TYPE_CHAR)));
    array_reserve(&f->array_memory, array, 1000);
    const void *ints_at = array->columns[0].data, *chars_at = array->columns[1].data;
    int64_t number = 1;
    char character = 'a';
    Cells cells[] = {{&number, false}, {&character, false}};
    for (int i = 0; i < 1000; i++)
        array_append(&f->array_memory, a_team(f), array, cells, 0, 1);
    CHECK(array->columns[0].data == ints_at && array->columns[1].data == chars_at);
    array_release(&f->array_memory, array);
    Array *units = array_new(&f->array_memory, layout_of(&f->layouts, TYPE_UNIT_ID));
    array_append(&f->array_memory, a_team(f), units, NULL, 0, 100);
    CHECK(units->count == 100);
    array_release(&f->array_memory, units);
    CHECK(f->array_memory.live_bytes == 0);
}

/* An append fails after its first column became uniform; another array comes instead. */
static void test_failed_start(Fixture *f)
{
    Array *outer = array_new(&f->array_memory, nested_layout(f)), *a = ints(f, 0, 3), *b = ints(f, 3, 3);
    jmp_buf recovery;
    f->array_memory.on_failure = &recovery;
    f->array_memory.fail_after = 2;
    if (setjmp(recovery) == 0)
        append_vector(f, outer, a, 0, 3);
    f->array_memory.fail_after = 0;
    f->array_memory.on_failure = NULL;
    CHECK(outer->count == 0 && a->references == 2);
    Array *both[] = {b, a};
    int64_t numbers[] = {0, 1};
    array_append(&f->array_memory, a_team(f), outer, (Cells[]){{both, false}, {numbers, false}, {numbers, false}}, 0, 2);
    CHECK(outer->count == 2 && a->references == 2 && b->references == 2);
    cells_release(&f->array_memory, LEAF_ARRAY, (Array *[]){a, b, outer}, 3);
    CHECK(f->array_memory.live_bytes == 0);
}

/* Sizes that no memory has fail as allocations do, and leave the array as it was. */
static void test_overflow(Fixture *f)
{
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 8 + 1, SIZE_MAX / 16 + 1};
    Array *array = ints(f, 0, 3);
    volatile int failed = 0;
    for (volatile size_t i = 0; i < sizeof counts / sizeof *counts; i = i + 1) {
        jmp_buf recovery;
        f->array_memory.on_failure = &recovery;
        if (setjmp(recovery) == 0)
            array_reserve(&f->array_memory, array, counts[i]);
        else
            failed = failed + 1;
    }
    f->array_memory.on_failure = NULL;
    CHECK(failed == 4 && array->count == 3);
    array_release(&f->array_memory, array);
}

/* ---- values ---- */

/* Values appended one by one, and now and then all that is there once more: inner arrays are then shared. */
static void check_round_trip(Fixture *f, TypeId type)
{
    Array *array = array_new(&f->array_memory, layout_of(&f->layouts, type));
    Value values[5], expected[64];
    for (size_t i = 0; i < 5; i++) {
        expected[array->count] = values[i] = random_value(f, type);
        array_append_value(&f->array_memory, &f->types, array, values[i]);
        if (random_below_size(f, 4) == 0) {
            memcpy(expected + array->count, expected, array->count * sizeof *expected);
            array_append_slice(&f->array_memory, a_team(f), array, array, 0, array->count);
        }
    }
    for (size_t i = 0; i < array->count; i++)
        CHECK(is_value(f, array, i, expected[i]));
    for (size_t i = 0; i < 5; i++)
        value_release(&f->heap, &f->types, type, values[i]);
    array_release(&f->array_memory, array);
    CHECK(f->array_memory.live_bytes == 0);
}

static void test_round_trip(Fixture *f)
{
    for (int round = 0; round < 1000; round++) {
        TypeId type = random_type(f, 4);
        if (layout_of(&f->layouts, type)->count <= LEAVES)
            check_round_trip(f, type);
    }
}

/* Inner vectors share one array; not with one that somebody else refers to. */
static void test_inner_arrays(Fixture *f)
{
    TypeId type = type_vector(&f->types, TYPE_INT);
    Array *array = random_array(f, type, 100);
    CHECK(array->columns[0].is_uniform);
    Array *inner = array_retain(*(Array **)array->columns[0].data);
    size_t count = inner->count;
    Value value = random_value(f, type);
    array_append_value(&f->array_memory, &f->types, array, value);
    CHECK(inner->count == count && !array->columns[0].is_uniform && is_value(f, array, 100, value));
    value_release(&f->heap, &f->types, type, value);
    array_release(&f->array_memory, array);
    CHECK(inner->references == 1);
    array_release(&f->array_memory, inner);
    CHECK(f->array_memory.live_bytes == 0);
}

/* As deep as types go. */
static void test_depth(Fixture *f)
{
    TypeId type = TYPE_INT;
    for (int i = 0; i < TYPE_DEPTH_MAX - 10; i++)
        type = type_vector(&f->types, type);
    Object *object = NULL;
    TypeId level = TYPE_INT;
    for (int i = 0; i < TYPE_DEPTH_MAX - 10; i++) {
        level = type_vector(&f->types, level);
        Object *outer = value_container(&f->heap, &f->types, level, 0);
        Value element = i == 0 ? (Value){.scalar.integer = 3} : (Value){.object = object};
        object = value_append(&f->heap, outer, element);
    }
    Value value = {.object = object};
    Array *array = array_new(&f->array_memory, layout_of(&f->layouts, type));
    array_append_value(&f->array_memory, &f->types, array, value);
    CHECK(is_value(f, array, 0, value));
    Cells cells[3];
    cells_of(array, 0, cells);
    CHECK(rows_order(array->layout, cells, 0, cells, 0) == ORDER_EQUAL);
    CHECK(rows_hash(array->layout, cells, 0, 1) == value_hash(&f->types, type, value, 1));
    value_release(&f->heap, &f->types, type, value);
    array_release(&f->array_memory, array);
    CHECK(f->array_memory.live_bytes == 0);
}

/* ---- order and hash ---- */

static void check_pair(Fixture *f, const Array *array, size_t i, Value a, size_t j, Value b)
{
    const Layout *layout = array->layout;
    Cells cells[LEAVES], later[LEAVES];
    cells_of(array, 0, cells);
    cells_of(array, j, later);
    CHECK(rows_compare(layout, cells, i, later, 0) == value_compare(&f->types, layout->type, a, b));
    CHECK(rows_order(layout, cells, i, later, 0) == value_order(&f->types, layout->type, a, b));
    CHECK(rows_hash(layout, later, 0, 99) == value_hash(&f->types, layout->type, b, 99));
}

static void check_order_and_hash(Fixture *f, TypeId type)
{
    enum { COUNT = 6 };
    Array *array = array_new(&f->array_memory, layout_of(&f->layouts, type));
    Value values[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = random_value(f, type);
        array_append_value(&f->array_memory, &f->types, array, values[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++)
            check_pair(f, array, i, values[i], j, values[j]);
    for (size_t i = 0; i < COUNT; i++)
        value_release(&f->heap, &f->types, type, values[i]);
    array_release(&f->array_memory, array);
}

static void test_order_and_hash(Fixture *f)
{
    for (int round = 0; round < 2000; round++) {
        TypeId type = random_type(f, 3);
        if (layout_of(&f->layouts, type)->count <= LEAVES)
            check_order_and_hash(f, type);
    }
    CHECK(f->array_memory.live_bytes == 0);
}

/* Vectors in uniform columns are as others are. */
static void test_order_of_uniform(Fixture *f)
{
    const Layout *layout = nested_layout(f);
    Array *same = array_new(&f->array_memory, layout->leaves[0].elements), *plain = ints(f, 7, 1);
    int64_t seven = 7;
    array_append(&f->array_memory, a_team(f), same, &(Cells){&seven, true}, 0, 5);
    for (int i = 0; i < 4; i++)
        array_append(&f->array_memory, a_team(f), plain, &(Cells){&seven, true}, 0, 1);
    int64_t start = 1, length = 4;
    Cells a[] = {{&same, true}, {&start, true}, {&length, true}}, b[] = {{&plain, true}, {&start, true}, {&length, true}};
    CHECK(rows_compare(layout, a, 3, b, 4) == 0 && rows_hash(layout, a, 0, 1) == rows_hash(layout, b, 0, 1));
    int64_t shorter = 3;
    b[2].data = &shorter;
    CHECK(rows_compare(layout, a, 0, b, 0) == 1 && rows_order(layout, b, 0, a, 0) == ORDER_LESS);
    array_release(&f->array_memory, same);
    array_release(&f->array_memory, plain);
}

/* ---- sorting ---- */

/* A merge sort as plain as can be, to compare with. */
static void sort_naively(const Layout *layout, const Cells *cells, bool is_descending, int64_t *positions, size_t count)
{
    if (count < 2)
        return;
    size_t half = count / 2, left = 0, right = half;
    sort_naively(layout, cells, is_descending, positions, half);
    sort_naively(layout, cells, is_descending, positions + half, count - half);
    int64_t *merged = malloc(count * sizeof *merged);
    for (size_t i = 0; i < count; i++) {
        bool takes_right = left == half;
        if (left < half && right < count) {
            int order = rows_compare(layout, cells, (size_t)positions[left], cells, (size_t)positions[right]);
            takes_right = is_descending ? order < 0 : order > 0;
        }
        merged[i] = takes_right ? positions[right++] : positions[left++];
    }
    memcpy(positions, merged, count * sizeof *merged);
    free(merged);
}

typedef struct Sorted {
    const Array *array;
    size_t start, count;
    bool is_descending;
    int64_t *expected, *found; /* one more than count, which is -1 */
} Sorted;

static void check_found(const Sorted *sorted, const Team *team, const char *what)
{
    if (memcmp(sorted->found, sorted->expected, (sorted->count + 1) * sizeof(int64_t)) == 0)
        return;
    failures++;
    fprintf(stderr, "%zu elements of type %u (%s) are sorted wrongly by %u\n", sorted->count,
            (unsigned)sorted->array->layout->type, what, team_size(team));
}

/* Scalars themselves, as they would be gathered by the positions that were expected: every bit. */
static void check_elements(const Sorted *sorted, Team *team, const char *what)
{
    LeafType type = sorted->array->layout->leaves[0].type;
    size_t size = leaf_size(type), count = sorted->count;
    const Column *column = &sorted->array->columns[0];
    char *found = calloc(count + 1, size);
    arrays_sort(team, &(Grade){sorted->array, sorted->start, count, found}, 1, sorted->is_descending);
    for (size_t i = 0; i < count; i++) {
        size_t from = column->is_uniform ? 0 : sorted->start + (size_t)sorted->expected[i];
        if (memcmp(found + i * size, (const char *)column->data + from * size, size) == 0)
            continue;
        failures++;
        fprintf(stderr, "of %zu scalars of type %u (%s) the one at %zu is wrong, sorted by %u\n", count,
                (unsigned)sorted->array->layout->type, what, i, team_size(team));
        break;
    }
    free(found);
}

static void check_with_team(const Sorted *sorted, const Cells *cells, Team *team, const char *what)
{
    if (sorted->array->layout->count == 1)
        check_elements(sorted, team, what);
    memset(sorted->found, 0, sorted->count * sizeof(int64_t));
    array_grade(team, sorted->array, sorted->start, sorted->count, sorted->is_descending, sorted->found);
    check_found(sorted, team, what);
    if (team_size(team) > 1 && sorted->count > 1000)
        return;
    memset(sorted->found, 0, sorted->count * sizeof(int64_t));
    rows_grade(team, sorted->array->layout, cells, sorted->count, sorted->is_descending, sorted->found);
    check_found(sorted, team, what);
}

static void check_sorting(Fixture *f, const Array *array, size_t start, size_t count, const char *what)
{
    Cells cells[LEAVES];
    cells_of(array, start, cells);
    size_t size = (count + 1) * sizeof(int64_t);
    Sorted sorted = {array, start, count, .expected = malloc(size), .found = malloc(size)};
    for (int is_descending = 0; is_descending < 2; is_descending++) {
        for (size_t i = 0; i < count; i++)
            sorted.expected[i] = (int64_t)i;
        sorted.expected[count] = sorted.found[count] = -1;
        sorted.is_descending = is_descending;
        sort_naively(array->layout, cells, is_descending, sorted.expected, count);
        check_with_team(&sorted, cells, f->teams[0], what);
        check_with_team(&sorted, cells, f->teams[1 + random_below_size(f, TEAM_COUNT - 1)], what);
    }
    free(sorted.expected);
    free(sorted.found);
}

/* Kinds of keys: anything; in a small range; in a small range but for one; with zeros below; sorted; the other way round; all the same but for one; zeros of both
 * signs among others; groups that agree in their leading bits; anything of a few; as often of one magnitude as of another. */
enum {
    KEYS_ANY,
    KEYS_SMALL,
    KEYS_OUTLIER,
    KEYS_HIGH,
    KEYS_SORTED,
    KEYS_REVERSED,
    KEYS_SAME,
    KEYS_ZEROS,
    KEYS_CLUSTERED,
    KEYS_FEW,
    KEYS_MAGNITUDES,
    KEYS_COUNT
};

static Scalar random_key(Fixture *f, ScalarType type, int kind, size_t i)
{
    uint64_t bits = next_random(f);
    switch (kind) {
    case KEYS_SMALL:
        return scalar_of_int(type, (int64_t)(bits % 100));
    case KEYS_OUTLIER:
        return i == 5 ? scalar_greatest(type) : scalar_of_int(type, (int64_t)(bits % 1000));
    case KEYS_HIGH:
        return scalar_of_int(type, (int64_t)(bits << 50));
    case KEYS_SORTED:
        return scalar_of_int(type, (int64_t)i);
    case KEYS_REVERSED:
        return scalar_of_int(type, -(int64_t)i);
    case KEYS_SAME:
        return scalar_of_int(type, i == 77 ? 6 : 7);
    case KEYS_ZEROS:
        return bits % 2 == 0 ? scalar_of_int(type, (int64_t)(bits >> 60)) : scalar_negate(type, scalar_of_int(type, 0));
    case KEYS_CLUSTERED:
        return scalar_of_int(type, (int64_t)((bits & 7) << 60 | (bits >> 32 & 3) << 20 | (bits >> 40 & 0xfff)));
    case KEYS_FEW:
        return scalar_of_int(type, (int64_t)random_hash(6, bits % 300));
    case KEYS_MAGNITUDES:
        return scalar_of_int(type, (int64_t)(bits >> (bits & 63)));
    default:
        return random_scalar(f, type);
    }
}

static void test_sorting_scalars(Fixture *f, size_t count, ScalarType type)
{
    const Layout *layout = layout_of(&f->layouts, TYPE_OF_SCALAR(type));
    for (int kind = 0; kind < KEYS_COUNT; kind++) {
        Array *array = array_new(&f->array_memory, layout);
        for (size_t i = 0; i < count + 3; i++) {
            Scalar key = random_key(f, type, kind, i);
            uint64_t cell;
            if (type == SCALAR_BOOL)
                key.bits &= 1;
            if (type == SCALAR_F64 && key.f64 != key.f64)
                key.bits ^= next_random(f) << 63 | (next_random(f) & 0xff); /* nans of all kinds */
            if (type == SCALAR_F32 && key.f32 != key.f32)
                key.bits ^= (next_random(f) & 1) << 31 | (next_random(f) & 0xff);
            cells_set_scalar(type, &cell, 0, key);
            array_append(&f->array_memory, a_team(f), array, &(Cells){&cell, false}, 0, 1);
        }
        check_sorting(f, array, 3, count, "scalars");
        array_release(&f->array_memory, array);
    }
}

static void test_sorting_values(Fixture *f, size_t count, TypeId type)
{
    if (layout_of(&f->layouts, type)->count > LEAVES)
        return;
    Array *array = random_array(f, type, count + 2);
    check_sorting(f, array, 2, count, "values");
    array_release(&f->array_memory, array);
}

enum { SORTED_BY_BUCKETS = 70000 }; /* elements, by one thread too */

static void test_sorting(Fixture *f)
{
    static const size_t counts[] = {0, 1, 2, 3, 16, 17, 31, 32, 33, 100, 1000, 8192, 8193, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int type = 0; type < SCALAR_COUNT; type++)
            test_sorting_scalars(f, counts[i], (ScalarType)type);
    test_sorting_scalars(f, SORTED_BY_BUCKETS, SCALAR_I64);
    test_sorting_scalars(f, SORTED_BY_BUCKETS, SCALAR_F64);
    for (int i = 0; i < 400; i++)
        test_sorting_values(f, random_below_size(f, i % 10 == 0 ? 1000 : 60), random_type(f, 3));
    TypeId text = type_vector(&f->types, TYPE_CHAR), vector = type_vector(&f->types, TYPE_INT);
    for (int i = 0; i < 5; i++) {
        test_sorting_values(f, 2000, text);
        test_sorting_values(f, 2000, type_vector(&f->types, text));
        test_sorting_values(f, 2000, type_pair(&f->types, TYPE_BOOL, type_pair(&f->types, vector, TYPE_FLOAT)));
        test_sorting_values(f, 500, type_vector(&f->types, TYPE_UNIT_ID));
    }
    CHECK(f->array_memory.live_bytes == 0);
}

/* Columns that are uniform, texts longer than a key. */
static void test_sorting_uniform(Fixture *f)
{
    enum { COUNT = 500 };
    TypeId text = type_vector(&f->types, TYPE_CHAR);
    const Layout *layout = layout_of(&f->layouts, type_pair(&f->types, TYPE_INT, text));
    Array *chars = array_new(&f->array_memory, layout_of(&f->layouts, TYPE_CHAR));
    for (size_t i = 0; i < COUNT + 30; i++) {
        char letter = i % 16 < 12 ? 'a' : (char)('a' + random_below_size(f, 3));
        array_append(&f->array_memory, a_team(f), chars, &(Cells){&letter, false}, 0, 1);
    }
    int64_t number = 4, starts[COUNT], lengths[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        starts[i] = (int64_t)random_below_size(f, COUNT);
        lengths[i] = (int64_t)random_below_size(f, 30);
    }
    Array *array = array_new(&f->array_memory, layout);
    array_append(&f->array_memory, a_team(f), array, (Cells[]){{&number, true}, {&chars, true}, {starts, false}, {lengths, false}}, 0,
                 COUNT);
    check_sorting(f, array, 10, COUNT - 10, "uniform");
    array_release(&f->array_memory, array);
    array_release(&f->array_memory, chars);
    CHECK(f->array_memory.live_bytes == 0);
}

/* Slices of many lengths, all at once: as each would be on its own. */
static void check_slices(Fixture *f, const Array *array, const size_t *lengths, size_t count)
{
    int64_t *found = malloc((array->count + 1) * sizeof *found), *expected = malloc((array->count + 1) * sizeof *found);
    Grade *slices = malloc(count * sizeof *slices);
    for (int is_descending = 0; is_descending < 2; is_descending++)
        for (int team = 0; team < TEAM_COUNT; team++) {
            size_t start = 0;
            for (size_t i = 0; i < count; start += lengths[i++]) {
                slices[i] = (Grade){lengths[i] == 0 ? NULL : array, start, lengths[i], found + start};
                if (lengths[i] > 0)
                    array_grade(f->teams[0], array, start, lengths[i], is_descending, expected + start);
            }
            memset(found, 0, start * sizeof *found);
            arrays_grade(f->teams[team], slices, count, is_descending);
            CHECK(memcmp(found, expected, start * sizeof *found) == 0);
            arrays_rank(f->teams[team], slices, count, is_descending);
            start = 0;
            for (size_t i = 0; i < count; start += lengths[i++])
                for (size_t j = 0; j < lengths[i]; j++)
                    CHECK(found[start + (size_t)expected[start + j]] == (int64_t)j);
            if (array->layout->leaves[0].type != SCALAR_I64)
                continue;
            arrays_sort(f->teams[team], slices, count, is_descending);
            start = 0;
            for (size_t i = 0; i < count; start += lengths[i++])
                for (size_t j = start; j < start + lengths[i]; j++)
                    CHECK(found[j] == ((const int64_t *)array->columns[0].data)[start + (size_t)expected[j]]);
        }
    free(found);
    free(expected);
    free(slices);
}

static void test_slices(Fixture *f)
{
    enum { SLICES = 500, LONGEST = 5000 };
    static size_t lengths[SLICES];
    for (int shape = 0; shape < 5; shape++) {
        size_t total = 0;
        for (size_t i = 0; i < SLICES; total += lengths[i++])
            lengths[i] = shape == 0   ? 0
                         : shape == 1 ? 1
                         : shape == 2 ? random_below_size(f, 100)
                         : shape == 3 ? (i == 250 ? LONGEST : i % 3)
                                      : (i % 100 == 0 ? 700 : 33);
        Array *array = random_array(f, shape % 2 == 0 ? TYPE_INT : type_vector(&f->types, TYPE_CHAR), total);
        check_slices(f, array, lengths, SLICES);
        array_release(&f->array_memory, array);
    }
    CHECK(f->array_memory.live_bytes == 0);
}

/* ---- failing allocations ---- */

/* What a run has made, where the failure finds it. */
typedef struct Made {
    Array *array, *other, *copy, *numbers;
    Team *team;
} Made;

static void make_and_use(Fixture *f, Made *made, Value value, Value other)
{
    TypeId type = type_vector(&f->types, type_pair(&f->types, TYPE_INT, type_vector(&f->types, TYPE_CHAR)));
    int64_t positions[100];
    made->array = array_new(&f->array_memory, layout_of(&f->layouts, type));
    made->other = array_new(&f->array_memory, layout_of(&f->layouts, type));
    for (int i = 0; i < 5; i++) {
        array_append_value(&f->array_memory, &f->types, made->array, value);
        array_append_value(&f->array_memory, &f->types, made->other, other);
    }
    array_append_slice(&f->array_memory, a_team(f), made->array, made->other, 0, 5);
    array_append_value(&f->array_memory, &f->types, made->array, value);
    made->copy = array_copy(&f->array_memory, a_team(f), made->array, 1, 9);
    for (int i = 0; i < 3; i++)
        array_append_slice(&f->array_memory, a_team(f), made->copy, made->copy, 0, made->copy->count);
    made->team = team_new(&f->array_memory, (TeamOptions){.threads = 2, .piece_picoseconds = 1});
    array_grade(made->team, made->copy, 0, 70, false, positions);
    made->numbers = array_new(&f->array_memory, layout_of(&f->layouts, TYPE_INT));
    array_append(&f->array_memory, a_team(f), made->numbers, &(Cells){positions, false}, 0, 70);
    arrays_sort(made->team, &(Grade){made->numbers, 0, 70, positions}, 1, true);
}

/* Every allocation fails once; nothing is lost, and nothing freed twice. */
static void test_allocation_failure(Fixture *f)
{
    TypeId type = type_vector(&f->types, type_pair(&f->types, TYPE_INT, type_vector(&f->types, TYPE_CHAR)));
    Value value = random_value(f, type), other = random_value(f, type);
    volatile uint64_t n = 0;
    volatile bool is_done = false;
    static Made made;
    while (!is_done) {
        jmp_buf recovery;
        n = n + 1;
        made = (Made){0};
        f->array_memory.on_failure = &recovery;
        if (setjmp(recovery) == 0) {
            f->array_memory.fail_after = n;
            make_and_use(f, &made, value, other);
            is_done = true;
        }
        f->array_memory.fail_after = 0;
        CHECK(f->array_memory.on_failure == &recovery);
        array_release(&f->array_memory, made.copy);
        array_release(&f->array_memory, made.numbers);
        array_release(&f->array_memory, made.array);
        array_release(&f->array_memory, made.other);
        team_free(made.team);
        CHECK(f->array_memory.live_bytes == 0);
    }
    CHECK(n > 30);
    f->array_memory.on_failure = NULL;
    value_release(&f->heap, &f->types, type, value);
    value_release(&f->heap, &f->types, type, other);
}

int main(void)
{
    Fixture f;
    set_up(&f);
    test_scalars(&f);
    for (int i = 0; i < 20 * SCALAR_COUNT; i++) {
        test_fill_and_copy(&f, (ScalarType)(i % SCALAR_COUNT));
        test_gather(&f, (ScalarType)(i % SCALAR_COUNT));
    }
    test_uniform_scalars(&f);
    test_uniform_arrays(&f);
    test_uniform_slices(&f);
    test_cell_references(&f);
    test_reserve(&f);
    test_failed_start(&f);
    test_overflow(&f);
    test_round_trip(&f);
    test_inner_arrays(&f);
    test_depth(&f);
    test_order_and_hash(&f);
    test_order_of_uniform(&f);
    test_sorting(&f);
    test_sorting_uniform(&f);
    test_slices(&f);
    test_allocation_failure(&f);
    tear_down(&f);
    return failures == 0 ? 0 : 1;
}
