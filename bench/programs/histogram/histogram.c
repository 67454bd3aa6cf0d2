/* How often each number occurs. Each thread counts in tables of its own; it has several, used in turn, so that equal neighbours do not
 * wait for each other. */
#include "harness.h"

#include <omp.h>
#include <string.h>

const char bench_arguments[] = "VALUES BINS";
static Array values;
static size_t bins;
static int64_t *result;

enum { TABLES = 4 };

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_I64);
    bins = (size_t)argument_int(arguments[1]);
}

static void count(const int64_t *v, size_t n, int64_t *restrict tables)
{
    size_t i = 0;
    for (; i + TABLES <= n; i += TABLES)
        for (size_t k = 0; k < TABLES; k++)
            tables[k * bins + (size_t)v[i + k]]++;
    for (; i < n; i++)
        tables[v[i]]++;
}

void bench_run(void)
{
    release(result);
    result = allocate(bins * sizeof *result);
    size_t tables = (size_t)omp_get_max_threads() * TABLES;
    int64_t *counts = allocate(tables * bins * sizeof *counts);
#pragma omp parallel
    {
        size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        size_t low = values.rows * me / threads, high = values.rows * (me + 1) / threads;
        int64_t *mine = counts + me * TABLES * bins;
        memset(mine, 0, TABLES * bins * sizeof *mine);
        count((const int64_t *)values.data + low, high - low, mine);
    }
    memcpy(result, counts, bins * sizeof *result);
    for (size_t table = 1; table < tables; table++)
        for (size_t bin = 0; bin < bins; bin++)
            result[bin] += counts[table * bins + bin];
    release(counts);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, bins, 1, (const int64_t *const[]){result});
}
