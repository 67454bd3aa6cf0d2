/* The sum of the values of each key, keys ascending. Each thread adds up in a hash table of its own, which fits a cache since there are few keys; the
 * tables are joined and what is in them sorted. */
#include "harness.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char bench_arguments[] = "KEYS VALUES";
static Array keys, values;

typedef struct Sum {
    int64_t key, sum;
    bool is_used;
} Sum;

/* Open addressing; at most half of the slots are used. */
typedef struct Table {
    Sum *slots;
    size_t used;
    int bits;
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
    Table table = {allocate(sizeof(Sum) << bits), 0, bits};
    memset(table.slots, 0, sizeof(Sum) << bits);
    return table;
}

static Sum *find(Table *table, int64_t key)
{
    size_t mask = ((size_t)1 << table->bits) - 1, at = ((uint64_t)key * 0x9E3779B97F4A7C15u) >> (64 - table->bits);
    while (table->slots[at].is_used && table->slots[at].key != key)
        at = (at + 1) & mask;
    return &table->slots[at];
}

static void add(Table *table, int64_t key, int64_t value);

static void grow(Table *table)
{
    Table larger = new_table(table->bits + 1);
    for (size_t i = 0; i >> table->bits == 0; i++)
        if (table->slots[i].is_used)
            add(&larger, table->slots[i].key, table->slots[i].sum);
    release(table->slots);
    *table = larger;
}

static void add(Table *table, int64_t key, int64_t value)
{
    Sum *slot = find(table, key);
    slot->sum += value;
    if (slot->is_used)
        return;
    slot->key = key;
    slot->is_used = true;
    if (2 * ++table->used >> table->bits != 0)
        grow(table);
}

static int compare_sums(const void *a, const void *b)
{
    int64_t x = ((const Sum *)a)->key, y = ((const Sum *)b)->key;
    return (x > y) - (x < y);
}

/* The used slots move to the front and are sorted. */
static void finish(Table *table)
{
    groups = 0;
    for (size_t i = 0; i >> table->bits == 0; i++)
        if (table->slots[i].is_used)
            table->slots[groups++] = table->slots[i];
    qsort(table->slots, groups, sizeof(Sum), compare_sums);
    release(result_keys);
    release(result_sums);
    result_keys = allocate(groups * sizeof *result_keys);
    result_sums = allocate(groups * sizeof *result_sums);
    for (size_t i = 0; i < groups; i++)
        result_keys[i] = table->slots[i].key, result_sums[i] = table->slots[i].sum;
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
    for (int t = 1; t < threads; t++) {
        for (size_t i = 0; i >> tables[t].bits == 0; i++)
            if (tables[t].slots[i].is_used)
                add(&tables[0], tables[t].slots[i].key, tables[t].slots[i].sum);
        release(tables[t].slots);
    }
    finish(&tables[0]);
    release(tables[0].slots);
    release(tables);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, groups, 2, (const int64_t *const[]){result_keys, result_sums});
}
