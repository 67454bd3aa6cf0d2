/* The dot product of two vectors. */
#include "harness.h"

const char bench_arguments[] = "X Y";
static Array x, y;
static double result;

void bench_prepare(char **arguments)
{
    x = argument_array(arguments[0], ELEMENT_F64);
    y = argument_array(arguments[1], ELEMENT_F64);
}

static double dot_product(size_t n, const double *restrict a, const double *restrict b)
{
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void bench_run(void)
{
    result = dot_product(x.rows, x.data, y.data);
}

void bench_result(FILE *out)
{
    print_float(out, result);
}
