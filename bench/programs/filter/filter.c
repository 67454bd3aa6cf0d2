/* The elements above zero, in order. With one thread one pass without branches; with more, the threads first count. */
#include "harness.h"

#include <omp.h>

const char bench_arguments[] = "VALUES";
static Array values;
static double *result;
static size_t kept;

enum { THREADS_MAX = 256 };

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_F64);
}

static size_t count(const double *v, size_t n)
{
    size_t positive = 0;
    for (size_t i = 0; i < n; i++)
        positive += v[i] > 0;
    return positive;
}

/* Writes one element more than it keeps, at most; room is the number of elements there is room for. */
static size_t copy_positive(const double *restrict v, size_t n, double *restrict to, size_t room)
{
    size_t k = 0, i = 0;
    for (; i < n && k < room; i++) {
        to[k] = v[i];
        k += v[i] > 0;
    }
    return k;
}

void bench_run(void)
{
    release(result);
    result = allocate(values.rows * sizeof *result);
    const double *v = values.data;
    size_t counts[THREADS_MAX];
#pragma omp parallel num_threads(omp_get_max_threads() < THREADS_MAX ? omp_get_max_threads() : THREADS_MAX)
    {
        size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        size_t low = values.rows * me / threads, high = values.rows * (me + 1) / threads, start = 0;
        counts[me] = threads == 1 ? high - low : count(v + low, high - low);
#pragma omp barrier
        for (size_t k = 0; k < me; k++)
            start += counts[k];
        size_t copied = copy_positive(v + low, high - low, result + start, counts[me]);
        if (me + 1 == threads)
            kept = start + copied;
    }
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, kept, 1, (const double *const[]){result});
}
