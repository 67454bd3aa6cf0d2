/* Tables of texts (vm/text_keys.h) against comparing with all that were seen: texts of all lengths around the head of a slot, with the same beginnings, zeros at their ends, texts of which one
 * character stands for all, in one array or several. */
#include "math/random.h"
#include "types/types.h"
#include "vm/text_keys.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 3000, LONGEST = 40 };

typedef struct Fixture {
    Memory memory;
    Arena arena;
    Names names;
    Types types;
    Layouts layouts;
    const Layout *text, *chars;
    int failures;
} Fixture;

static uint64_t drawn;

static uint64_t draw(uint64_t limit)
{
    return random_hash(7, drawn++) % limit;
}

static void check(Fixture *f, bool is_right, const char *what, size_t i)
{
    if (!is_right && f->failures++ < 20)
        fprintf(stderr, "%s is wrong at row %zu\n", what, i);
}

/* Rows of texts, in the form that nodes have them. */
typedef struct Rows {
    Array *arrays[ROWS];
    int64_t starts[ROWS], lengths[ROWS];
    Cells cells[3];
} Rows;

/* Appends a text with few different characters, so that many are the same or begin alike. */
static void append_text(Fixture *f, Array *array, size_t length)
{
    char text[LONGEST];
    size_t odd = draw(LONGEST);
    for (size_t i = 0; i < length; i++)
        text[i] = i == odd ? (char)draw(3) : 'a';
    Cells cells = {.data = text};
    array_append(&f->memory, NULL, array, &cells, 0, length);
}

static char character(const Array *array, size_t start, size_t i)
{
    Cells cells = array_cells(array, 0, start);
    return ((const char *)cells.data)[cells_index(cells, i)];
}

static bool is_same(const Rows *rows, size_t a, size_t b)
{
    if (rows->lengths[a] != rows->lengths[b])
        return false;
    for (size_t i = 0; i < (size_t)rows->lengths[a]; i++)
        if (character(rows->arrays[a], (size_t)rows->starts[a], i) != character(rows->arrays[b], (size_t)rows->starts[b], i))
            return false;
    return true;
}

/* As many rows as `run` are in one array, then perhaps in another. */
static void make_rows(Fixture *f, Rows *rows, size_t array_count, size_t run)
{
    Array *arrays[4], *array = NULL;
    for (size_t i = 0; i < array_count; i++)
        arrays[i] = array_new(&f->memory, f->chars);
    for (size_t i = 0; i < ROWS; i++) {
        array = i % run == 0 ? arrays[draw(array_count)] : array;
        bool is_uniform = array_count > 1 && array == arrays[0]; /* the first array has one character only */
        size_t length = draw(LONGEST), start = array->count;
        if (is_uniform)
            array_append(&f->memory, NULL, array, &(Cells){"a", true}, 0, length);
        else
            append_text(f, array, length);
        rows->arrays[i] = array;
        rows->starts[i] = (int64_t)start;
        rows->lengths[i] = (int64_t)length;
    }
    rows->cells[0] = (Cells){rows->arrays, array_count == 1};
    rows->cells[1] = (Cells){.data = rows->starts};
    rows->cells[2] = (Cells){.data = rows->lengths};
}

/* By plain comparison. */
static int64_t expected_number(const Rows *rows, const size_t *seen, size_t count, size_t i)
{
    for (size_t k = 0; k < count; k++)
        if (is_same(rows, seen[k], i))
            return (int64_t)k;
    return -1;
}

static void test_rows(Fixture *f, size_t array_count, size_t run)
{
    static Rows rows;
    static size_t seen[ROWS];
    static int64_t numbers[ROWS];
    TextKeys table = {0};
    Array *keys = array_new(&f->memory, f->text);
    size_t count = 0;
    make_rows(f, &rows, array_count, run);
    for (size_t i = 0; i < ROWS; i++) {
        int64_t expected = expected_number(&rows, seen, count, i);
        if (i > 0 && i % 100 == 0) {
            bool is_all = text_keys_look_up(&table, keys, rows.cells, i, 1, numbers);
            check(f, numbers[0] == expected && is_all == (expected >= 0), "looking up one", i);
        }
        check(f, text_keys_find(&table, &f->memory, keys, rows.cells, i) == (expected < 0 ? (int64_t)count : expected), "adding", i);
        if (expected < 0)
            seen[count++] = i;
    }
    check(f, keys->count == count, "how many there are", ROWS);
    check(f, text_keys_look_up(&table, keys, rows.cells, 1, ROWS - 1, numbers), "looking up", ROWS);
    for (size_t i = 1; i < ROWS; i++)
        check(f, numbers[i - 1] == expected_number(&rows, seen, count, i), "looking up many", i);
    text_keys_free(&table, &f->memory);
    array_release(&f->memory, keys);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = i + 1; j < ROWS && rows.arrays[i] != NULL; j++)
            rows.arrays[j] = rows.arrays[j] == rows.arrays[i] ? NULL : rows.arrays[j];
        array_release(&f->memory, rows.arrays[i]);
    }
}

int main(void)
{
    Fixture f = {.failures = 0};
    arena_init(&f.arena, &f.memory);
    names_init(&f.names, &f.arena);
    types_init(&f.types, &f.arena, &f.names);
    layouts_init(&f.layouts, &f.arena, &f.types);
    f.chars = layout_of(&f.layouts, TYPE_CHAR);
    f.text = layout_of(&f.layouts, type_vector(&f.types, TYPE_CHAR));
    for (size_t arrays = 1; arrays <= 4; arrays++) {
        test_rows(&f, arrays, 1);
        test_rows(&f, arrays, 150);
    }
    arena_free(&f.arena);
    check(&f, f.memory.live_bytes == 0, "memory", 0);
    return f.failures != 0;
}
