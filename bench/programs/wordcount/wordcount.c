/* The most frequent words of a text.
 *
 * Eight bytes are looked at at once: the first that is a blank or a control character ends the word. The table's keys are the words' first sixteen
 * bytes, as two numbers; longer words are compared as texts. Each thread has its own table, and they are joined in the end. */
#define _GNU_SOURCE
#include "harness.h"
#include "text_blocks.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char bench_arguments[] = "PATH";
static char *path;

enum { BEST = 20, INLINE = 16 };

typedef struct Word {
    uint64_t head[2]; /* the first bytes; zeros follow a shorter word */
    int64_t count;    /* 0: the slot is free */
    char *text;       /* of a longer word, which ends with a zero; otherwise null */
} Word;

/* Open addressing; at most half of the slots are used. */
typedef struct Table {
    Word *slots;
    size_t used;
    int bits;
} Table;

static Table *tables;
static Word best[BEST];
static size_t best_count;

void bench_prepare(char **arguments)
{
    path = argument_text(arguments[0]);
}

static Table new_table(int bits)
{
    Table table = {allocate(sizeof(Word) << bits), 0, bits};
    memset(table.slots, 0, sizeof(Word) << bits);
    return table;
}

static bool is_same(const Word *slot, const uint64_t head[2], const char *text, size_t length)
{
    if (slot->head[0] != head[0] || slot->head[1] != head[1])
        return false;
    if (slot->text == NULL || length <= INLINE)
        return slot->text == NULL && length <= INLINE;
    return strncmp(slot->text, text, length) == 0 && slot->text[length] == '\0';
}

static size_t hash(const uint64_t head[2], int bits)
{
    uint64_t mixed = (head[0] ^ (head[1] * 0xA0761D6478BD642Fu)) * 0x9E3779B97F4A7C15u;
    return (mixed ^ mixed >> 29) * 0xD6E8FEB86659FD93u >> (64 - bits);
}

static Word *find(const Table *table, const uint64_t head[2], const char *text, size_t length)
{
    size_t mask = ((size_t)1 << table->bits) - 1, at = hash(head, table->bits);
    while (table->slots[at].count > 0 && !is_same(&table->slots[at], head, text, length))
        at = (at + 1) & mask;
    return &table->slots[at];
}

static void grow(Table *table)
{
    Table larger = new_table(table->bits + 1);
    for (size_t i = 0; i >> table->bits == 0; i++) {
        Word *word = &table->slots[i];
        if (word->count > 0)
            *find(&larger, word->head, word->text, word->text == NULL ? 0 : strlen(word->text)) = *word;
    }
    larger.used = table->used;
    release(table->slots);
    *table = larger;
}

static inline void add(Table *table, const uint64_t head[2], const char *text, size_t length, int64_t count)
{
    Word *slot = find(table, head, text, length);
    slot->count += count;
    if (slot->count > count)
        return;
    slot->head[0] = head[0];
    slot->head[1] = head[1];
    slot->text = length <= INLINE ? NULL : strndup(text, length);
    if (2 * ++table->used >> table->bits != 0)
        grow(table);
}

static uint64_t load(const char *text)
{
    uint64_t bytes;
    memcpy(&bytes, text, 8);
    return bytes;
}

/* A bit for bytes below '!', the top one of each; above the first such byte bits may be wrong. */
static uint64_t separators(uint64_t bytes)
{
    return (bytes - 0x2121212121212121u) & ~bytes & 0x8080808080808080u;
}

/* The length of the word at text, which may be 0. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    uint64_t found;
    while ((found = separators(load(text + length))) == 0)
        length += 8;
    return length + (size_t)__builtin_ctzll(found) / 8;
}

/* Bytes from `from` on of a word, zeros behind it. */
static uint64_t head_part(const char *text, size_t length, size_t from)
{
    if (length <= from)
        return 0;
    uint64_t bytes = load(text + from);
    return length - from >= 8 ? bytes : bytes & (((uint64_t)1 << 8 * (length - from)) - 1);
}

static void count_words(const char *text, size_t length, int64_t offset, int thread)
{
    (void)offset;
    Table table = tables[thread]; /* a copy, so that its fields stay in registers */
    for (const char *end = text + length; text < end;) {
        size_t word = word_length(text);
        if (word > 0)
            add(&table, (uint64_t[2]){head_part(text, word, 0), head_part(text, word, 8)}, text, word, 1);
        text += word + 1;
    }
    tables[thread] = table;
}

static int compare_texts(const Word *a, const Word *b)
{
    for (int k = 0; k < 2; k++)
        if (a->head[k] != b->head[k])
            return __builtin_bswap64(a->head[k]) < __builtin_bswap64(b->head[k]) ? -1 : 1;
    return strcmp(a->text == NULL ? "" : a->text, b->text == NULL ? "" : b->text);
}

static bool is_better(const Word *a, const Word *b)
{
    return a->count != b->count ? a->count > b->count : compare_texts(a, b) < 0;
}

/* Inserts the word among the best, if it belongs there. */
static void consider(const Word *word)
{
    size_t at = best_count < BEST ? best_count++ : BEST;
    for (; at > 0 && is_better(word, &best[at - 1]); at--)
        if (at < BEST)
            best[at] = best[at - 1];
    if (at < BEST)
        best[at] = *word;
}

static void join(Table *table, Table *other)
{
    for (size_t i = 0; i >> other->bits == 0; i++) {
        Word *word = &other->slots[i];
        if (word->count > 0)
            add(table, word->head, word->text, word->text == NULL ? 0 : strlen(word->text), word->count);
    }
}

static void release_table(Table *table)
{
    for (size_t i = 0; i >> table->bits == 0; i++)
        free(table->slots[i].text);
    release(table->slots);
}

void bench_run(void)
{
    int threads = omp_get_max_threads();
    tables = allocate((size_t)threads * sizeof *tables);
    for (int t = 0; t < threads; t++)
        tables[t] = new_table(12);
    text_blocks_each(path, count_words);
    for (int t = 1; t < threads; t++) {
        join(&tables[0], &tables[t]);
        release_table(&tables[t]);
    }
    for (size_t i = 0; i < best_count; i++)
        free(best[i].text);
    best_count = 0;
    for (size_t i = 0; i >> tables[0].bits == 0; i++)
        if (tables[0].slots[i].count > 0)
            consider(&tables[0].slots[i]);
    for (size_t i = 0; i < best_count; i++)
        best[i].text = best[i].text == NULL ? NULL : strdup(best[i].text);
    release_table(&tables[0]);
    release(tables);
}

void bench_result(FILE *out)
{
    fputc('[', out);
    for (size_t i = 0; i < best_count; i++) {
        char head[INLINE + 1] = {0};
        memcpy(head, best[i].head, INLINE);
        fprintf(out, "%s(\"%s\", %lld)", i == 0 ? "" : ", ", best[i].text == NULL ? head : best[i].text, (long long)best[i].count);
    }
    fputc(']', out);
}
