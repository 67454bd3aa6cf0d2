/* The dates of Easter of the years 1 to n (Knuth 1962). Everything but the result fits 32 bits, of which a SIMD register has more. */
#include "harness.h"

const char bench_arguments[] = "N";
static int32_t n;
static int64_t *dates;

void bench_prepare(char **arguments)
{
    int64_t years = argument_int(arguments[0]);
    if (years < 0 || years > 400000000)
        fail("years are at most 400000000, so that five times as many fit 32 bits; not %lld", (long long)years);
    n = (int32_t)years;
}

/* 100 * month + day; numbers that are divided are positive, so they are unsigned. */
static inline uint32_t easter(uint32_t year)
{
    uint32_t golden = year % 19 + 1, century = year / 100 + 1;
    uint32_t x = 3 * century / 4 - 12, z = (8 * century + 5) / 25 - 5; /* may wrap, and back in the sums below */
    uint32_t d = 5 * year / 4 - x - 10;
    /* 30 * century is a multiple of 30 that makes the sum positive */
    uint32_t e = (11 * golden + 20 + z - x + 30 * century) % 30;
    e += (e == 25 && golden > 11) || e == 24;
    uint32_t k = 44 - e;
    k += k < 21 ? 30 : 0;
    k += 7 - (d + k + 70) % 7; /* d is at least -9, and 70 a multiple of 7 */
    return k > 31 ? 400 + k - 31 : 300 + k;
}

static void all_dates(int32_t count, int64_t *restrict to)
{
#pragma omp parallel for simd schedule(static)
    for (int32_t i = 0; i < count; i++)
        to[i] = (int64_t)(i + 1) * 10000 + (int64_t)easter((uint32_t)i + 1);
}

void bench_run(void)
{
    release(dates);
    dates = allocate((size_t)n * sizeof *dates);
    all_dates(n, dates);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, (size_t)n, 1, (const int64_t *const[]){dates});
}
