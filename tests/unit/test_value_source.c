/* Sources of elements: texts longer than their window, elements that lie across it, raw scalars, ends and failures. */
#define _POSIX_C_SOURCE 200809L
#include "io/value_source.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Fixture {
    Memory memory;
    Arena arena;
    Names names;
    Types types;
    Heap heap;
    Text text, printed;
    char path[64];
} Fixture;

static void set_up(Fixture *f)
{
    *f = (Fixture){0};
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    types_init(&f->types, &f->arena, &f->names);
    heap_init(&f->heap, &f->memory);
    text_init(&f->text, &f->memory);
    text_init(&f->printed, &f->memory);
    snprintf(f->path, sizeof f->path, "/tmp/runnel-source-%ld", (long)getpid());
}

static void tear_down(Fixture *f)
{
    remove(f->path);
    text_free(&f->text);
    text_free(&f->printed);
    CHECK(f->heap.objects == NULL);
    heap_free(&f->heap);
    arena_free(&f->arena);
    CHECK(f->memory.live_bytes == 0);
}

static ValueSourceOf source_of(Fixture *f, TypeId element, bool is_sequence)
{
    TypeId type = is_sequence ? type_sequence(&f->types, element) : type_vector(&f->types, element);
    return (ValueSourceOf){.heap = &f->heap, .types = &f->types, .type = type, .what = "it"};
}

static void write_file(Fixture *f, const void *bytes, size_t length)
{
    FILE *file = fopen(f->path, "wb");
    fwrite(bytes, 1, length, file);
    fclose(file);
}

static ValueSource *open_text(Fixture *f, ValueSourceOf of)
{
    write_file(f, text_string(&f->text), f->text.length);
    return value_source_from_file(of, f->path, &(FileOptions){0});
}

static const char *expect_text(Fixture *f, const Value *value, TypeId type)
{
    text_clear(&f->printed);
    value_print(&f->types, type, *value, (ValueFormat){0}, &f->printed);
    return text_string(&f->printed);
}

/* ---- texts ---- */

static void test_scalars(Fixture *f)
{
    enum { COUNT = 60000 };
    text_clear(&f->text);
    text_add(&f->text, "{");
    for (int i = 0; i < COUNT; i++)
        text_addf(&f->text, "%s%d", i > 0 ? i % 7 == 0 ? " ,\n\t " : ", " : "", i * 37 - 1000);
    text_add(&f->text, " }\n");
    for (size_t room = 1; room < 10000; room = room * 3 + 4) {
        ValueSource *source = open_text(f, source_of(f, TYPE_INT, true));
        int64_t cells[10000], next = 0;
        size_t count;
        bool is_right = true;
        while ((count = value_source_read_scalars(source, cells, room)) > 0)
            for (size_t i = 0; i < count; i++, next++)
                is_right &= cells[i] == next * 37 - 1000;
        CHECK(is_right && next == COUNT && !value_source_has_failed(source));
        value_source_free(source);
    }
}

/* Elements of all lengths, some longer than a block, read one by one and as a whole. */
static void test_values(Fixture *f)
{
    TypeId element = type_pair(&f->types, type_vector(&f->types, TYPE_CHAR), TYPE_FLOAT);
    ValueSourceOf of = source_of(f, element, true);
    text_clear(&f->text);
    text_add(&f->text, "{");
    for (int i = 0; i < 300; i++) {
        text_addf(&f->text, "%s(\"", i > 0 ? ", " : "");
        text_add_repeated(&f->text, (char)('a' + i % 26), (size_t)(i * i * i) % 150001);
        text_addf(&f->text, "\", %d.5)", i);
    }
    text_add(&f->text, "}");
    ValueSource *source = open_text(f, of);
    Value whole, value;
    CHECK(value_source_read_whole(source, &whole));
    value_source_free(source);
    CHECK(strcmp(expect_text(f, &whole, of.type), text_string(&f->text)) == 0);
    source = open_text(f, of);
    size_t count = 0;
    while (value_source_next(source, &value)) {
        CHECK(value_compare(&f->types, element, value, whole.object->items[count++]) == 0);
        value_release(&f->heap, &f->types, element, value);
    }
    CHECK(count == 300 && !value_source_has_failed(source));
    value_source_free(source);
    source = value_source_from_value(of, whole);
    CHECK(value_source_next(source, &value));
    value_release(&f->heap, &f->types, element, value);
    value_source_free(source);
}

/* ---- failures ---- */

static void check_problem(Fixture *f, const char *text, size_t before, const char *problem, int line)
{
    ValueSource *source = value_source_from_text(source_of(f, TYPE_INT, true), text, strlen(text));
    int64_t cell;
    size_t count = 0;
    while (value_source_read_scalars(source, &cell, 1) > 0)
        count++;
    check(count == before && strcmp(value_source_problem(source), problem) == 0, value_source_problem(source), __FILE__, line);
    check(value_source_has_failed(source) == (*problem != '\0'), "has failed", __FILE__, line);
    check(value_source_read_scalars(source, &cell, 1) == 0, "nothing after the end", __FILE__, line);
    value_source_free(source);
}

static void test_failures(Fixture *f)
{
    check_problem(f, " {1, 2, 3} ", 3, "", __LINE__);
    check_problem(f, "[]", 0, "", __LINE__);
    check_problem(f, "{5:1:-2}", 2, "", __LINE__);
    check_problem(f, "{1 : 1}", 0, "", __LINE__);
    check_problem(f, "1, 2", 0, "it: expected { or [ at byte 0, found \"1\"", __LINE__);
    check_problem(f, "{1, 2, x}", 2, "it: expected an int at byte 7, found \"x\"", __LINE__);
    check_problem(f, "{1, 2", 2, "it: expected , or } at byte 5, found the end", __LINE__);
    check_problem(f, "{1, 2} 3", 2, "it: expected the end at byte 7, found \"3\"", __LINE__);
    check_problem(f, "{1, 99999999999999999999}", 1, "it: 99999999999999999999 does not fit int", __LINE__);
}

/* Positions are those in the file, not in the window. */
static void test_far_failure(Fixture *f)
{
    text_clear(&f->text);
    text_add(&f->text, "[");
    for (int i = 0; i < 100000; i++)
        text_add(&f->text, "12, ");
    text_add(&f->text, "many]");
    ValueSource *source = open_text(f, source_of(f, TYPE_INT, false));
    Value value;
    CHECK(!value_source_read_whole(source, &value));
    CHECK(value_source_error(source) == ERROR_BAD_VALUE);
    CHECK(strcmp(value_source_problem(source), "it: expected an int at byte 400001, found \"many\"") == 0);
    value_source_free(source);
}

/* ---- raw files ---- */

static void test_raw(Fixture *f, ScalarType scalar)
{
    enum { COUNT = 10000 };
    static unsigned char bytes[COUNT * 8 + 1], cells[(COUNT + 7) * 8];
    size_t size = scalar_size(scalar);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = scalar == SCALAR_BOOL ? i % 3 == 0 : (unsigned char)(i * i % 251 % 127);
    FileFormat format = file_format_named(scalar_name(scalar));
    CHECK(format.kind == FORMAT_RAW && format.scalar == scalar);
    for (size_t extra = 0; extra < 2 && extra < size; extra++) {
        write_file(f, bytes, COUNT * size + extra);
        ValueSource *source =
            value_source_from_file(source_of(f, TYPE_OF_SCALAR(scalar), true), f->path, &(FileOptions){.otherwise = format});
        size_t count = 0, some;
        while ((some = value_source_read_scalars(source, cells + count * size, count < COUNT ? 7 : 1)) > 0 && count < COUNT)
            count += some;
        CHECK(count == COUNT && memcmp(cells, bytes, COUNT * size) == 0);
        CHECK(value_source_has_failed(source) == (extra > 0));
        value_source_free(source);
    }
}

static void test_other_formats(Fixture *f)
{
    CHECK(file_format_named("text").kind == FORMAT_TEXT);
    CHECK(file_format_named("f64").scalar == SCALAR_F64);
    CHECK(file_format_named("i64").scalar == SCALAR_I64);
    CHECK(file_format_named("number").kind == FORMAT_NONE);
    Value value;
    FileFormat format = {.kind = FORMAT_RAW, .scalar = SCALAR_F32};
    ValueSource *source = value_source_from_file(source_of(f, TYPE_INT, true), f->path, &(FileOptions){.otherwise = format});
    CHECK(!value_source_read_whole(source, &value) && value_source_has_failed(source));
    value_source_free(source);
    source = value_source_from_file(source_of(f, TYPE_INT, true), "/nowhere/at/all", &(FileOptions){0});
    CHECK(!value_source_next(source, &value) && value_source_error(source) == ERROR_IO_FAILURE);
    value_source_free(source);
}

/* ---- held ---- */

/* How many elements there are if they are 0, 1, 2 and so on; SIZE_MAX otherwise. */
static size_t count_numbers(ValueSource *source)
{
    int64_t cells[100];
    size_t count = 0, some;
    while ((some = value_source_read_scalars(source, cells, 100)) > 0)
        for (size_t i = 0; i < some; i++)
            if (cells[i] != (int64_t)count++)
                return SIZE_MAX;
    return count;
}

/* What is held can be had again, in part and as a whole, with its file gone. */
static void test_held_scalars(Fixture *f)
{
    static int64_t numbers[50000];
    for (int64_t i = 0; i < 50000; i++)
        numbers[i] = i;
    write_file(f, numbers, sizeof numbers);
    ValueSourceOf of = source_of(f, TYPE_INT, true);
    ValueSource *sources[] = {
        value_source_from_text(of, "{0:50000}", 9),
        value_source_from_file(of, f->path, &(FileOptions){.otherwise = {.kind = FORMAT_RAW, .scalar = SCALAR_I64}})};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        CHECK(value_source_hold(sources[i], NULL));
        remove(f->path);
        CHECK(count_numbers(sources[i]) == 50000);
        CHECK(count_numbers(sources[i]) == 0);
        value_source_rewind(sources[i]);
        CHECK(count_numbers(sources[i]) == 50000);
        Value whole;
        value_source_rewind(sources[i]);
        CHECK(value_source_read_whole(sources[i], &whole) && whole.object->count == 50000);
        value_release(&f->heap, &f->types, of.type, whole);
        value_source_free(sources[i]);
    }
}

static void test_held_values(Fixture *f)
{
    static const char text[] = "[[1, 2], [], [3]]";
    ValueSourceOf of = source_of(f, type_vector(&f->types, TYPE_INT), true);
    ValueSource *source = value_source_from_text(of, text, strlen(text));
    Value value;
    CHECK(value_source_hold(source, NULL) && value_source_hold(source, NULL));
    for (int round = 0; round < 2; round++, value_source_rewind(source)) {
        size_t count = 0;
        for (; value_source_next(source, &value); count++)
            value_release(&f->heap, &f->types, value_source_element_type(source), value);
        CHECK(count == 3);
    }
    value_source_free(source);
}

static void count_let_go(Memory *memory, void *made)
{
    (void)memory;
    ++*(int *)made;
}

/* What somebody made of columns that are held stays with them. */
static void test_kept(Fixture *f)
{
    static const int64_t numbers[] = {1, 2, 3};
    int let_go = 0;
    write_file(f, numbers, sizeof numbers);
    ValueSource *source = value_source_from_file(source_of(f, TYPE_INT, false), f->path,
                                                 &(FileOptions){.otherwise = {.kind = FORMAT_RAW, .scalar = SCALAR_I64}});
    CHECK(!value_source_is_held(source));
    CHECK(value_source_hold(source, NULL) && value_source_is_held(source));
    CHECK(value_source_whole_columns(source)->count == 3 && value_source_kept(source) == NULL);
    value_source_keep(source, &let_go, count_let_go);
    value_source_rewind(source);
    CHECK(value_source_kept(source) == &let_go && let_go == 0);
    value_source_free(source);
    CHECK(let_go == 1);
}

static void test_not_held(Fixture *f)
{
    ValueSource *source = value_source_from_text(source_of(f, TYPE_INT, true), "{1, x}", 6);
    CHECK(!value_source_hold(source, NULL) && value_source_error(source) == ERROR_BAD_VALUE);
    value_source_free(source);
    StopFlag stop = {0};
    stop_set(&stop, STOP_INTERRUPTED);
    source = value_source_from_text(source_of(f, TYPE_INT, true), "{0:1000000000000}", 17);
    CHECK(!value_source_hold(source, &stop) && value_source_error(source) == ERROR_INTERRUPTED);
    value_source_free(source);
}

int main(void)
{
    Fixture f;
    set_up(&f);
    test_scalars(&f);
    test_values(&f);
    test_failures(&f);
    test_far_failure(&f);
    for (ScalarType scalar = 0; scalar < SCALAR_COUNT; scalar++)
        test_raw(&f, scalar);
    test_other_formats(&f);
    test_held_scalars(&f);
    test_held_values(&f);
    test_kept(&f);
    test_not_held(&f);
    tear_down(&f);
    return failures == 0 ? 0 : 1;
}
