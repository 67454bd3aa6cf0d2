/* Lines and words of texts (vm/text_cuts.h) against plain loops: every level of vector instructions this processor has, lengths around blocks, texts from all blanks to none,
 * every amount of room. Memory is allocated to the byte, for the address sanitizer. */
#include "math/random.h"
#include "vm/text_cuts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

static int failures;
static uint64_t drawn;
static const TextCutLoops *loops;
static int level_now;

typedef struct Cuts {
    int64_t starts[MOST], lengths[MOST];
    size_t count;
} Cuts;

static uint64_t draw(uint64_t limit)
{
    return random_hash(5, drawn++) % limit;
}

static void check(bool is_right, const char *what, size_t length, size_t room)
{
    if (is_right)
        return;
    if (failures++ < 20)
        fprintf(stderr, "%s at level %d are wrong for %zu bytes with room for %zu\n", what, level_now, length, room);
}

static void add(Cuts *cuts, int64_t start, int64_t length)
{
    cuts->starts[cuts->count] = start;
    cuts->lengths[cuts->count++] = length;
}

static bool is_same(const Cuts *a, const Cuts *b)
{
    return a->count == b->count && memcmp(a->starts, b->starts, a->count * sizeof *a->starts) == 0 &&
           memcmp(a->lengths, b->lengths, a->count * sizeof *a->lengths) == 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static void plain_lines(const CutText *text, Cuts *cuts)
{
    int64_t start = 0;
    for (size_t i = 0; i < text->length; i++)
        if (text->bytes[i] == '\n') {
            int64_t length = (int64_t)i - start;
            add(cuts, text->offset + start, length - (length > 0 && text->bytes[i - 1] == '\r'));
            start = (int64_t)i + 1;
        }
}

static void plain_words(const CutText *text, Cuts *cuts)
{
    for (size_t i = 0, start = 0; i <= text->length; i++)
        if (i == text->length || is_blank(text->bytes[i])) {
            if (i > start)
                add(cuts, text->offset + (int64_t)start, (int64_t)(i - start));
            start = i + 1;
        }
}

/* In steps of so many; places for more would be written beyond the allocation. */
static void all_lines(const CutText *text, size_t room, Cuts *cuts)
{
    int64_t start = text->offset;
    size_t before;
    do {
        CutText rest = *text;
        size_t done = (size_t)(start - text->offset);
        rest.bytes += done;
        rest.length -= done;
        rest.readable -= done;
        rest.offset += (int64_t)done;
        before = cuts->count;
        TextCuts made = {malloc(room * sizeof(int64_t)), malloc(room * sizeof(int64_t)), 0, room};
        loops->lines(&rest, &start, &made);
        for (size_t i = 0; i < made.count; i++)
            add(cuts, made.starts[i], made.lengths[i]);
        free(made.starts);
        free(made.lengths);
    } while (cuts->count > before);
}

static void all_words(const CutText *text, size_t room, Cuts *cuts)
{
    size_t position = 0;
    while (position < text->length) {
        TextCuts made = {malloc(room * sizeof(int64_t)), malloc(room * sizeof(int64_t)), 0, room};
        loops->words(text, &position, &made);
        for (size_t i = 0; i < made.count; i++)
            add(cuts, made.starts[i], made.lengths[i]);
        free(made.starts);
        free(made.lengths);
    }
}

static void test_text(const CutText *text)
{
    static const size_t rooms[] = {1, 2, 7, 33, 34, 40, 41, 42, 80, MOST};
    Cuts lines = {.count = 0}, words = {.count = 0};
    plain_lines(text, &lines);
    plain_words(text, &words);
    size_t last = SIZE_MAX;
    check(loops->count_lines(text, &last) == lines.count, "counted lines", text->length, 0);
    check((last == SIZE_MAX) == (lines.count == 0) && (last == SIZE_MAX || text->bytes[last] == '\n'), "last newlines", text->length, 0);
    check(last == SIZE_MAX || memchr(text->bytes + last + 1, '\n', text->length - last - 1) == NULL, "last newlines", text->length, 0);
    check(loops->count_words(text) == words.count, "counted words", text->length, 0);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        Cuts some_lines = {.count = 0}, some_words = {.count = 0};
        all_lines(text, rooms[i], &some_lines);
        all_words(text, rooms[i], &some_words);
        check(is_same(&lines, &some_lines), "lines", text->length, rooms[i]);
        check(is_same(&words, &some_words), "words", text->length, rooms[i]);
    }
}

/* A text of which `share` characters in 100 are blanks, and so many bytes behind it that may be read. */
static void test_length(size_t length, uint64_t share, size_t behind)
{
    char *bytes = malloc(length + behind + 1);
    for (size_t i = 0; i < length + behind; i++)
        bytes[i] = draw(100) < share ? " \n\t\r"[draw(4)] : (char)(draw(4) == 0 ? draw(256) : 'a' + draw(26));
    char *exact = memcpy(malloc(length + behind), bytes, length + behind);
    test_text(&(CutText){exact, length, length + behind, (int64_t)draw(1000)});
    free(exact);
    free(bytes);
}

static void test_level(void)
{
    static const size_t lengths[] = {1, 2, 31, 62, 63, 64, 65, 127, 128, 129, 200, 300};
    static const uint64_t shares[] = {0, 3, 20, 50, 97, 100};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t j = 0; j < sizeof shares / sizeof *shares; j++)
            for (size_t behind = 0; behind < 100; behind += 33)
                test_length(lengths[i], shares[j], behind);
}

int main(void)
{
    for (int level = 0; level <= (int)vector_level(); level++) {
        level_now = level;
        loops = text_cut_loops_at((VectorLevel)level);
        test_level();
    }
    return failures != 0;
}
