/* The sum of a vector of integers. */
#include "harness.h"

const char bench_arguments[] = "VALUES";
static Array values;
static int64_t result;

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_I64);
}

static int64_t sum_of(size_t n, const int64_t *v)
{
    int64_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

void bench_run(void)
{
    result = sum_of(values.rows, values.data);
}

void bench_result(FILE *out)
{
    fprintf(out, "%lld", (long long)result);
}
