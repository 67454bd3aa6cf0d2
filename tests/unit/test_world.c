/* The outside world as engines see it: lines across the blocks that are read, descriptors, object files, failures. */
#include "io/failure.h"
#include "io/line_reader.h"
#include "io/object_file.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Memory memory;
    Arena arena;
    Names names;
    Types types;
    Heap heap;
    Text path, text;
    World world;
} Fixture;

static const char file_name[] = "test_world.tmp";

static void collect(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
}

static void set_up(Fixture *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    types_init(&f->types, &f->arena, &f->names);
    heap_init(&f->heap, &f->memory);
    text_init(&f->path, &f->memory);
    text_init(&f->text, &f->memory);
    text_add(&f->path, file_name);
    world_init(&f->world, &f->memory, (WorldOutput){.write = collect, .context = &f->text}, NULL);
}

static void tear_down(Fixture *f)
{
    CHECK(f->heap.objects == NULL);
    world_free(&f->world);
    text_free(&f->path);
    text_free(&f->text);
    arena_free(&f->arena);
    CHECK(f->memory.live_bytes == 0);
    remove(file_name);
}

/* ---- lines ---- */

static void write_file(Fixture *f, const char *bytes, size_t length)
{
    const char *reason;
    int64_t file = world_open(&f->world, &f->path, WORLD_WRITE, &reason);
    CHECK(reason == NULL && world_write(&f->world, file, bytes, length) == NULL);
    CHECK(world_close(&f->world, file) == NULL);
}

/* A first line of `length` bytes, then two short ones: the ends of the lines fall everywhere around the end of a block. */
static void test_long_line(Fixture *f, size_t length, const char *line_end)
{
    text_clear(&f->text);
    text_add_repeated(&f->text, 'x', length);
    text_addf(&f->text, "%s%sab%s\r", line_end, line_end, line_end);
    write_file(f, f->text.bytes, f->text.length);

    const size_t expected[] = {length, 0, 2, 0};
    LineReader reader;
    const char *bytes;
    size_t found, count = 0;
    line_reader_init(&reader, &f->memory, NULL);
    CHECK(line_reader_open(&reader, &f->path));
    while (line_reader_next(&reader, &bytes, &found)) {
        CHECK(count < 4 && found == expected[count]);
        CHECK(count != 2 || memcmp(bytes, "ab", 2) == 0);
        count++;
    }
    CHECK(count == 4 && reader.reason == NULL);
    line_reader_close(&reader);
}

static void test_lines(Fixture *f)
{
    for (size_t length = 1; length < 300000; length = length * 2 + 1)
        for (int is_long = 0; is_long < 2; is_long++)
            test_long_line(f, length, is_long ? "\r\n" : "\n");
    for (size_t length = 65530; length < 65540; length++)
        test_long_line(f, length, "\r\n");
    write_file(f, "", 0);
    LineReader reader;
    const char *bytes;
    size_t length;
    line_reader_init(&reader, &f->memory, NULL);
    CHECK(line_reader_open(&reader, &f->path) && !line_reader_next(&reader, &bytes, &length));
    text_add(&f->path, ".none");
    CHECK(reader.reason == NULL && !line_reader_open(&reader, &f->path) && reader.reason != NULL);
    line_reader_close(&reader);
    text_clear(&f->path);
    text_add(&f->path, file_name);
}

/* ---- descriptors ---- */

static void test_descriptors(Fixture *f)
{
    const char *reason;
    Text delimiters, found;
    text_init(&delimiters, &f->memory);
    text_init(&found, &f->memory);
    text_add(&delimiters, ",;");
    write_file(f, "ab,c;defg", 9);
    int64_t file = world_open(&f->world, &f->path, WORLD_READ, &reason);
    CHECK(file == 3);
    CHECK(world_read(&f->world, file, &delimiters, -1, &found, &reason) == ',');
    CHECK(world_read(&f->world, file, &delimiters, 9, &found, &reason) == ';');
    CHECK(world_read(&f->world, file, &delimiters, 2, &found, &reason) == WORLD_FULL);
    CHECK(world_read(&f->world, file, &delimiters, -1, &found, &reason) == WORLD_END && reason == NULL);
    CHECK(strcmp(text_string(&found), "abcdefg") == 0);
    CHECK(world_close(&f->world, file) == NULL && world_close(&f->world, file) != NULL);
    CHECK(world_read(&f->world, file, &delimiters, -1, &found, &reason) == WORLD_FAILED && reason != NULL);
    text_clear(&f->text);
    CHECK(world_write(&f->world, 1, "out", 3) == NULL && strcmp(text_string(&f->text), "out") == 0);
    text_free(&delimiters);
    text_free(&found);
}

static void test_object_file(Fixture *f)
{
    TypeId chars = type_vector(&f->types, TYPE_CHAR);
    TypeId type = type_pair(&f->types, TYPE_FLOAT, chars);
    Value number = {.scalar.f64 = 2.5}, text = {.object = value_chars(&f->heap, &f->types, chars, "a\nb", 3)};
    Value pair = value_pair(&f->heap, &f->types, type, number, text), back;
    const char *reason;
    text_clear(&f->text);
    CHECK(object_file_write(&f->world, 1, &f->heap, &f->types, type, pair) == NULL);
    CHECK(strcmp(text_string(&f->text), "( 2.5 )\n[ 3 ]\n3\na\nb\n") == 0);
    write_file(f, f->text.bytes, f->text.length);
    int64_t file = world_open(&f->world, &f->path, WORLD_READ, &reason);
    CHECK(object_file_read(&f->world, file, &f->heap, &f->types, type, &back) == NULL);
    CHECK(value_order(&f->types, type, pair, back) == ORDER_EQUAL);
    CHECK(value_hash(&f->types, type, pair, 0) == value_hash(&f->types, type, back, 0));
    value_release(&f->heap, &f->types, type, back);
    CHECK(object_file_read(&f->world, file, &f->heap, &f->types, TYPE_FLOAT, &back) != NULL);
    CHECK(back.scalar.bits == 0);
    CHECK(world_close(&f->world, file) == NULL);
    CHECK(object_file_read(&f->world, file, &f->heap, &f->types, TYPE_FLOAT, &back) != NULL);
    value_release(&f->heap, &f->types, type, pair);
}

/* ---- failures ---- */

static void test_failures(Fixture *f)
{
    Sources sources;
    Diagnostics diagnostics;
    Failure failure;
    sources_init(&sources, &f->arena);
    diagnostics_init(&diagnostics, &f->arena, &sources);
    uint32_t runnel = sources_add(&sources, "a.rnl", "v[3]", 4, DIALECT_RUNNEL)->base;
    uint32_t nesl = sources_add(&sources, "b.nesl", "v[3]", 4, DIALECT_NESL)->base;
    failure_init(&failure, &f->memory);
    CHECK(!failure_index(failure_at(&failure, &sources, (Span){nesl, nesl + 4}), OP_ELEMENT, 3, 2));
    CHECK(strcmp(text_string(&failure.text),
                    "Sequence reference (a[i]) out of bounds. (index 3, length 2)") == 0);
    CHECK(!failure_index(failure_at(&failure, &sources, (Span){runnel, runnel + 4}), OP_ELEMENT, 3, 2));
    failure_report(&failure, &diagnostics);
    CHECK(diagnostics.error_count == 1 && diagnostics.list.items[0].code == ERROR_INDEX_RANGE);
    CHECK(strcmp(diagnostics.list.items[0].message, "index 3 is outside a vector of length 2") == 0);
    failure_not_provided(failure_at(&failure, &sources, (Span){0}), "f\0g", 3);
    CHECK(strcmp(text_string(&failure.text), "f is not provided by Runnel") == 0);
    failure_free(&failure);
}

int main(void)
{
    Fixture f;
    set_up(&f);
    test_lines(&f);
    test_descriptors(&f);
    test_object_file(&f);
    test_failures(&f);
    tear_down(&f);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
