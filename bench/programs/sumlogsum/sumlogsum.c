/* The sum over k from 1 to n of the sum of log i for i from 1 to k^2. Every logarithm is computed, as the program says. */
#include "harness.h"
#include "simd_math.h"

const char bench_arguments[] = "N";
static int64_t n;
static double result;

void bench_prepare(char **arguments)
{
    n = argument_int(arguments[0]);
    if (n > 46340)
        fail("n is at most 46340, so that its square is a 32-bit integer; not %lld", (long long)n);
}

static double log_sum(int count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 1; i <= count; i++)
        sum += log(i);
    return sum;
}

/* Long inner sums first, so that the threads end together. */
void bench_run(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
    for (int64_t k = n; k >= 1; k--)
        sum += log_sum((int)(k * k));
    result = sum;
}

void bench_result(FILE *out)
{
    print_float(out, result);
}
