/* The sums of the elements before each. With one thread one pass; with more, the threads first add up a part each, then scan their parts from
 * where those before end. */
#include "harness.h"

#include <omp.h>

const char bench_arguments[] = "VALUES";
static Array values;
static int64_t *result;

enum { THREADS_MAX = 256 };

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_I64);
}

static int64_t sum_of(const int64_t *v, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

static void scan_from(int64_t sum, const int64_t *restrict v, int64_t *restrict to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = sum;
        sum += v[i];
    }
}

static void scan(size_t n, const int64_t *v, int64_t *to)
{
    int64_t sums[THREADS_MAX];
#pragma omp parallel num_threads(omp_get_max_threads() < THREADS_MAX ? omp_get_max_threads() : THREADS_MAX)
    {
        size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        size_t low = n * me / threads, high = n * (me + 1) / threads;
        if (me + 1 < threads)
            sums[me] = sum_of(v + low, high - low);
#pragma omp barrier
        scan_from(sum_of(sums, me), v + low, to + low, high - low);
    }
}

void bench_run(void)
{
    release(result);
    result = allocate(values.rows * sizeof *result);
    scan(values.rows, values.data, result);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, values.rows, 1, (const int64_t *const[]){result});
}
