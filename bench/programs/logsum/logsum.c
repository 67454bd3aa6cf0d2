/* The sum of log i for i from 1 to n. AVX2 has no conversion from 64-bit integers to floats, so a block counts in 32 bits. */
#include "harness.h"
#include "simd_math.h"

const char bench_arguments[] = "N";
static int64_t n;
static double result;

enum { BLOCK = 1 << 16 };

void bench_prepare(char **arguments)
{
    n = argument_int(arguments[0]);
}

static double sum_from(int64_t first, int count)
{
    double sum = 0, start = (double)first;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < count; i++)
        sum += log(start + i);
    return sum;
}

void bench_run(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int64_t first = 1; first <= n; first += BLOCK)
        sum += sum_from(first, n - first < BLOCK ? (int)(n - first + 1) : BLOCK);
    result = sum;
}

void bench_result(FILE *out)
{
    print_float(out, result);
}
