/* A vector backwards. */
#include "harness.h"

const char bench_arguments[] = "VALUES";
static Array values;
static int64_t *result;

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_I64);
}

static void reverse(size_t n, const int64_t *restrict from, int64_t *restrict to)
{
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        to[i] = from[n - 1 - i];
}

void bench_run(void)
{
    release(result);
    result = allocate(values.rows * sizeof *result);
    reverse(values.rows, values.data, result);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, values.rows, 1, (const int64_t *const[]){result});
}
