/* Pi by the share of Sobol's points that lie within the unit circle.
 *
 * A point's coordinates are exclusive ors of direction numbers chosen by the bits of its Gray code, which is linear: within an aligned block, point
 * base + j is point base combined with point j. So a table of BLOCK points serves all blocks, by SIMD. */
#include "harness.h"

const char bench_arguments[] = "N";
static int64_t n;
static double result;

enum { BLOCK = 1024 };
static uint32_t directions[2][32];

void bench_prepare(char **arguments)
{
    n = argument_int(arguments[0]);
    if (n > (int64_t)1 << 32)
        fail("at most 2^32 points, not %lld", (long long)n);
    uint32_t m = 1;
    for (int k = 0; k < 32; k++, m ^= m << 1) {
        directions[0][k] = (uint32_t)1 << (31 - k);
        directions[1][k] = m << (31 - k);
    }
}

static uint32_t coordinate(int which, uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t gray = i ^ i >> 1; gray != 0; gray &= gray - 1)
        sum ^= directions[which][__builtin_ctz(gray)];
    return sum;
}

/* The conversion to float is exact: from a signed number, which SIMD has, half the range away. */
static inline double fraction(uint32_t bits)
{
    return ((double)(int32_t)(bits ^ 0x80000000u) + 0x1p31) * 0x1p-32;
}

static int64_t count_inside(uint32_t base, int32_t length, const uint32_t *restrict xs, const uint32_t *restrict ys)
{
    uint32_t x0 = coordinate(0, base), y0 = coordinate(1, base);
    int32_t inside = 0;
#pragma omp simd reduction(+ : inside)
    for (int32_t j = 0; j < length; j++) {
        double x = fraction(x0 ^ xs[j]), y = fraction(y0 ^ ys[j]);
        inside += x * x + y * y < 1;
    }
    return inside;
}

void bench_run(void)
{
    uint32_t xs[BLOCK], ys[BLOCK];
    for (uint32_t j = 0; j < BLOCK; j++)
        xs[j] = coordinate(0, j), ys[j] = coordinate(1, j);
    int64_t inside = 0;
#pragma omp parallel for reduction(+ : inside) schedule(static)
    for (int64_t base = 0; base < n; base += BLOCK)
        inside += count_inside((uint32_t)base, n - base < BLOCK ? (int32_t)(n - base) : BLOCK, xs, ys);
    result = 4.0 * (double)inside / (double)n;
}

void bench_result(FILE *out)
{
    print_float(out, result);
}
