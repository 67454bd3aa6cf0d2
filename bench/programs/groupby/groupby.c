/* The sum of the values of each key, keys ascending. Each thread adds up in a hash table of its own, which fits a cache since there are few keys; the
 * tables are joined and what is in them sorted. */
#include "harness.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

const char bench_arguments[] = "KEYS VALUES";
static Array keys, values;

/* A slot is free if it has this key; the key itself has a sum of its own. */
static const int64_t FREE = INT64_MIN;

typedef struct Sum {
    int64_t key, sum;
} Sum;

/* Open addressing; at most half of the slots are used. */
typedef struct Table {
    Sum *slots;
    size_t used;
    int bits;
    bool has_free;
    int64_t free_sum;
} Table;

static int64_t *result_keys, *result_sums;
static size_t groups;

void bench_prepare(char **arguments)
{
    keys = argument_array(arguments[0], ELEMENT_I64);
    values = argument_array(arguments[1], ELEMENT_I64);
}

static Table new_table(int bits)
{
    Table table = {allocate(sizeof(Sum) << bits), 0, bits, false, 0};
    for (size_t i = 0; i >> bits == 0; i++)
        table.slots[i] = (Sum){FREE, 0};
    return table;
}

static Sum *find(Table *table, int64_t key)
{
    size_t mask = ((size_t)1 << table->bits) - 1, at = ((uint64_t)key * 0x9E3779B97F4A7C15u) >> (64 - table->bits);
    while (table->slots[at].key != FREE && table->slots[at].key != key)
        at = (at + 1) & mask;
    return &table->slots[at];
}

static void add(Table *table, int64_t key, int64_t value);

/* Adds what is in the other table, which is released. */
static void join(Table *table, Table *other)
{
    for (size_t i = 0; i >> other->bits == 0; i++)
        if (other->slots[i].key != FREE)
            add(table, other->slots[i].key, other->slots[i].sum);
    if (other->has_free)
        add(table, FREE, other->free_sum);
    release(other->slots);
}

static void grow(Table *table)
{
    Table larger = new_table(table->bits + 1);
    join(&larger, table);
    *table = larger;
}

static void add(Table *table, int64_t key, int64_t value)
{
    if (key == FREE) {
        table->has_free = true;
        table->free_sum += value;
        return;
    }
    Sum *slot = find(table, key);
    slot->sum += value;
    if (slot->key == key)
        return;
    slot->key = key;
    if (2 * ++table->used >> table->bits != 0)
        grow(table);
}

static int compare_sums(const void *a, const void *b)
{
    int64_t x = ((const Sum *)a)->key, y = ((const Sum *)b)->key;
    return (x > y) - (x < y);
}

/* The used slots move to the front and are sorted. The free key is the least of all. */
static void finish(Table *table)
{
    size_t used = 0, first = table->has_free ? 1 : 0;
    for (size_t i = 0; i >> table->bits == 0; i++)
        if (table->slots[i].key != FREE)
            table->slots[used++] = table->slots[i];
    qsort(table->slots, used, sizeof(Sum), compare_sums);
    groups = first + used;
    release(result_keys);
    release(result_sums);
    result_keys = allocate(groups * sizeof *result_keys);
    result_sums = allocate(groups * sizeof *result_sums);
    result_keys[0] = FREE;
    result_sums[0] = table->free_sum;
    for (size_t i = 0; i < used; i++)
        result_keys[first + i] = table->slots[i].key, result_sums[first + i] = table->slots[i].sum;
}

void bench_run(void)
{
    int threads = omp_get_max_threads();
    Table *tables = allocate((size_t)threads * sizeof *tables);
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        size_t low = keys.rows * (size_t)t / (size_t)threads, high = keys.rows * (size_t)(t + 1) / (size_t)threads;
        Table table = new_table(10);
        for (size_t i = low; i < high; i++)
            add(&table, ((int64_t *)keys.data)[i], ((int64_t *)values.data)[i]);
        tables[t] = table;
    }
    for (int t = 1; t < threads; t++)
        join(&tables[0], &tables[t]);
    finish(&tables[0]);
    release(tables[0].slots);
    release(tables);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, groups, 2, (const int64_t *const[]){result_keys, result_sums});
}
