/* Those of the elementary functions that are exact, against the C library, whose results are exact as well. */
#include "math/elementary.h"

#include <stdio.h>

static int failures;

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool is_same(double a, double b)
{
    return (a != a && b != b) || math_bits(a) == math_bits(b);
}

static void check(const char *name, double x, double y, double found, double expected)
{
    if (is_same(found, expected))
        return;
    if (failures++ < 20)
        fprintf(stderr, "%s(%a, %a) is %a, not %a\n", name, x, y, found, expected);
}

#define CHECK_1(name, library)                                                                                        \
    check(#name, x, 0.0, math_##name(x), library(x));                                                                 \
    check(#name "_f32", x, 0.0, (double)math_##name##_f32((float)x), (double)library##f((float)x))
#define CHECK_2(name, library)                                                                                        \
    check(#name, x, y, math_##name(x, y), library(x, y));                                                             \
    check(#name "_f32", x, y, (double)math_##name##_f32((float)x, (float)y), (double)library##f((float)x, (float)y))

static void check_pair(double x, double y)
{
    CHECK_1(floor, floor);
    CHECK_1(ceil, ceil);
    CHECK_1(trunc, trunc);
    CHECK_1(round, round);
    CHECK_1(round_even, rint);
    CHECK_1(logb, logb);
    CHECK_1(sqrt, sqrt);
    CHECK_2(fmod, fmod);
    CHECK_2(remainder, remainder);
    CHECK_2(nextafter, nextafter);
    CHECK_2(fdim, fdim);
    if (y == y) { /* our nans have no sign */
        CHECK_2(copysign, copysign);
    }
    check("signbit", x, 0.0, math_signbit(x), x == x && signbit(x));
    check("is_nan", x, 0.0, math_is_nan(x), isnan(x) != 0);
    check("is_inf", x, 0.0, math_is_inf(x), isinf(x) != 0);
    check("is_finite", x, 0.0, math_is_finite(x), isfinite(x) != 0);
    double power = math_logb(x), part = math_significand(x);
    if (isfinite(power)) {
        check("significand", x, 0.0, ldexp(part, (int)power), x);
        check("significand", x, 0.0, fabs(part) >= 1.0 && fabs(part) < 2.0, 1.0);
    } else {
        check("significand", x, 0.0, part, x);
    }
}

static void check_ldexp(double x, int n)
{
    check("ldexp", x, n, math_ldexp(x, n), ldexp(x, n));
    check("ldexp_f32", x, n, (double)math_ldexp_f32((float)x, n), (double)ldexpf((float)x, n));
}

static void check_power(double x, uint64_t n)
{
    double product = 1.0;
    for (uint64_t i = 0; i < n; i++)
        product *= x;
    check("power", x, (double)n, math_power(x, n), product);
    check("power_f32", x, (double)n, (double)math_power_f32((float)x, n), (double)(float)product);
}

int main(void)
{
    static const double specials[] = {
        0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 0.49999999999999994, 0x1p52, 0x1p52 - 0.5, 0x1p51 + 0.5,
        0x1p23 + 1.0, 0x1p53, 0x1p-1074, 0x1p-1022, 0x1p-1073, 0x1p-1021, 0x1.fffffffffffffp1023, 0x1p1023, 0x1p-149,
        0x1p-126, 0x1.fffffep127, (double)INFINITY, -(double)INFINITY, (double)NAN,
    };
    enum { SPECIALS = sizeof specials / sizeof specials[0] };
    static const int shifts[] = {
        0, 1, -1, 52, -53, 1023, -1022, -1023, -1074, -1075, 1074, 2098, -2098, 2200, -2200, 1000000, -1000000,
    };
    for (int i = 0; i < SPECIALS; i++) {
        for (int j = 0; j < SPECIALS; j++)
            check_pair(specials[i], specials[j]);
        for (size_t j = 0; j < sizeof shifts / sizeof shifts[0]; j++)
            check_ldexp(specials[i], shifts[j]);
    }
    uint64_t state = 3;
    for (int i = 0; i < 200000; i++) {
        double x = math_of_bits(next_random(&state)), y = math_of_bits(next_random(&state));
        check_pair(x, y);
        double near = (double)(int64_t)next_random(&state) * 0x1p-60;
        double other = (double)(int64_t)next_random(&state) * 0x1p-61;
        check_pair(near, other);
        check_pair(floor(near) + 0.5, floor(other));
        check_pair(math_of_bits(next_random(&state) >> 12), math_of_bits(next_random(&state) >> (12 + i % 50)));
        check_ldexp(x, (int)(next_random(&state) % 4400) - 2200);
        check_ldexp(near, (int)(next_random(&state) % 2200) - 1100);
    }
    check("ldexp", 1.0, 0.0, math_ldexp(1.0, INT64_MIN), 0.0);
    check("ldexp", 1.0, 0.0, math_ldexp(1.0, INT64_MAX), MATH_INFINITY);
    for (uint64_t n = 0; n < 12; n++) {
        check_power(3.0, n);
        check_power(-2.0, n);
        check_power(0.5, n);
    }
    return failures == 0 ? 0 : 1;
}
