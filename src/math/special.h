/* The rest of <math.h>, scalar, within 4 ulp: hypot, fmod, remainder, erf, erfc, gamma, lgamma; and what is exact:
 * rounding to whole floats, signs, exponents, neighbours. Most have branches and need not vectorise. */
#ifndef RUNNEL_MATH_SPECIAL_H
#define RUNNEL_MATH_SPECIAL_H

#include "math/power.h"
#include "math/trig.h"

/* ---- exact ---- */

static inline bool math_is_nan(double x)
{
    return x != x;
}

static inline bool math_is_inf(double x)
{
    return math_magnitude(x) == MATH_INFINITY;
}

static inline bool math_is_finite(double x)
{
    return math_magnitude(x) < MATH_INFINITY;
}

/* All nans are one value, and it has no sign. */
static inline bool math_signbit(double x)
{
    return x == x && math_bits(x) >> 63 != 0;
}

static inline double math_copysign(double x, double sign)
{
    return math_signbit(sign) ? -math_magnitude(x) : math_magnitude(x);
}

/* Whole numbers, without branches: below 2^52 the sum with it has no room for a fraction. The sign stays, also that of 0. */
MATH_INLINE double math_round_even(double x)
{
    double magnitude = math_magnitude(x);
    return math_select(magnitude < 0x1p52, math_with_sign((magnitude + 0x1p52) - 0x1p52, x), x);
}

MATH_INLINE double math_floor(double x)
{
    double nearest = math_round_even(x);
    return math_select(nearest > x, math_with_sign(nearest - 1.0, x), nearest);
}

MATH_INLINE double math_ceil(double x)
{
    return -math_floor(-x);
}

MATH_INLINE double math_trunc(double x)
{
    return math_with_sign(math_floor(math_magnitude(x)), x);
}

/* Halves away from zero. */
MATH_INLINE double math_round(double x)
{
    double magnitude = math_magnitude(x), whole = math_floor(magnitude);
    return math_with_sign(whole + math_select(magnitude - whole >= 0.5, 1.0, 0.0), x);
}

/* x = significand 2^logb with a significand from 1 up to 2, as C: of 0 and what is not finite, logb is -inf, inf or nan. */
static inline double math_logb(double x)
{
    double magnitude = math_magnitude(x);
    if (magnitude == 0.0)
        return -MATH_INFINITY;
    if (!(magnitude < MATH_INFINITY))
        return magnitude;
    bool is_subnormal = magnitude < 0x1p-1022;
    uint64_t exponent = math_bits(is_subnormal ? magnitude * 0x1p54 : magnitude) >> 52;
    return (double)exponent - (is_subnormal ? 1023.0 + 54.0 : 1023.0);
}

static inline double math_significand(double x)
{
    double magnitude = math_magnitude(x);
    if (magnitude == 0.0 || !(magnitude < MATH_INFINITY))
        return x;
    uint64_t bits = math_bits(magnitude < 0x1p-1022 ? x * 0x1p54 : x);
    return math_of_bits((bits & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x3ff0000000000000));
}

/* x 2^n, rounded once: where a step before the last is not exact, the result is 0 in any case. */
static inline double math_ldexp(double x, int64_t n)
{
    for (int step = 0; n > 1023 && step < 3; step++, n -= 1023)
        x *= 0x1p1023;
    for (int step = 0; n < -1022 && step < 3; step++, n += 969)
        x *= 0x1p-969;
    double rest = n > 1023 ? 1023.0 : n < -1022 ? -1022.0 : (double)n;
    return x * math_power_of_two(rest);
}

/* The float after x in the direction of y. */
static inline double math_nextafter(double x, double y)
{
    if (x != x || y != y)
        return MATH_NAN;
    if (x == y)
        return y;
    if (x == 0.0)
        return math_with_sign(0x1p-1074, y);
    return math_of_bits((x < y) == (x > 0.0) ? math_bits(x) + 1 : math_bits(x) - 1);
}

static inline double math_fdim(double x, double y)
{
    if (x != x || y != y)
        return MATH_NAN;
    return x > y ? x - y : 0.0;
}

/* A finite magnitude as integer 2^exponent, the integer below 2^53. */
static inline uint64_t math_integer_of(double magnitude, int *exponent)
{
    uint64_t bits = math_bits(magnitude);
    int field = (int)(bits >> 52);
    *exponent = field == 0 ? -1074 : field - 1075;
    uint64_t fraction = bits & UINT64_C(0xfffffffffffff);
    return field == 0 ? fraction : fraction | UINT64_C(0x10000000000000);
}

/* The remainder of x / y with the sign of x: long division, eleven bits at a time. */
static inline double math_fmod(double x, double y)
{
    double a = math_magnitude(x), b = math_magnitude(y);
    if (!(a < MATH_INFINITY) || !(b > 0.0))
        return MATH_NAN;
    if (a < b)
        return x;
    int a_exponent, b_exponent;
    uint64_t rest = math_integer_of(a, &a_exponent), divisor = math_integer_of(b, &b_exponent);
    rest %= divisor;
    for (int bits = a_exponent - b_exponent; bits > 0; bits -= 11)
        rest = (rest << (bits < 11 ? bits : 11)) % divisor;
    return math_with_sign(math_scale((double)rest, (double)b_exponent), x);
}

/* x - n y with n the integer nearest to x / y, ties to even. */
static inline double math_remainder(double x, double y)
{
    double a = math_magnitude(x), b = math_magnitude(y);
    if (!(a < MATH_INFINITY) || !(b > 0.0))
        return MATH_NAN;
    if (b < 0x1p1023)
        a = math_fmod(a, b + b);
    bool is_turned = false;
    if (b < 0x1p-1021 ? a + a > b : a > 0.5 * b) {
        a -= b;
        if (b < 0x1p-1021 ? a + a >= b : a >= 0.5 * b)
            a -= b;
        is_turned = a < 0.0;
    }
    double result = math_magnitude(a);
    return math_times_sign(is_turned ? -result : result, x);
}

/* ---- hypot ----
 * The sum of the squares as a pair; the larger is scaled to the middle of the range. Error below 0.51 ulp. */
static inline double math_hypot(double x, double y)
{
    double a = math_magnitude(x), b = math_magnitude(y);
    if (a == MATH_INFINITY || b == MATH_INFINITY)
        return MATH_INFINITY;
    double larger = a > b ? a : b;
    if (x != x || y != y || larger == 0.0)
        return a + b;
    double scale = larger > 0x1p400 ? 0x1p-700 : larger < 0x1p-400 ? 0x1p700 : 1.0;
    MathPair u = math_two_square(a * scale), v = math_two_square(b * scale);
    MathPair sum = math_two_sum(u.high, v.high);
    MathPair root = math_pair_sqrt(math_quick_two_sum(sum.high, sum.low + (u.low + v.low)));
    return (root.high + root.low) / scale;
}

/* ---- erf and erfc ----
 * Up to 1, erf x = x (2 / sqrt pi + x^2 tail(x^2)). From 1/2 on, erfc x = exp(-x^2) P(t) / (x + 1/2), t = (x - 3) / (x +
 * 3), with the square and the quotient as pairs; P(t) goes smoothly to 1 / sqrt pi. The one is 1 minus the other where that
 * is no loss. */
static inline double math_erfc_far(double x)
{
    if (x > 28.0)
        return 0.0;
    MathPair square = math_two_square(x);
    MathPair scaled = {math_erfc_scaled((x - 3.0) / (x + 3.0)), 0.0};
    MathPair scale = math_pair_divide(scaled, math_two_sum(x, 0.5));
    /* the factor is at least 0.01: the power is made 2^64 times as large so that only the last product can be subnormal */
    MathPair exponent = math_two_sum(-square.high, 64.0 * MATH_LN_2);
    exponent.low += 64.0 * MATH_LN_2_REST - square.low;
    double power = math_exp_of_pair(exponent);
    return (power * scale.high + power * scale.low) * 0x1p-64;
}

static inline double math_erf_near(double x)
{
    double z = x * x;
    return x * (MATH_TWO_OVER_ROOT_PI + z * math_erf_tail(z));
}

static inline double math_erf(double x)
{
    double magnitude = math_magnitude(x);
    if (!(magnitude > 1.0))
        return math_erf_near(x);
    return math_with_sign(magnitude > 6.0 ? 1.0 : 1.0 - math_erfc_far(magnitude), x);
}

static inline double math_erfc(double x)
{
    if (x > 0.5)
        return math_erfc_far(x);
    return x < -1.0 ? 2.0 - math_erfc_far(-x) : 1.0 - math_erf_near(x);
}

/* ---- gamma and lgamma ----
 * From 12 on, Stirling: ln gamma x = (x - 1/2) ln x - x + ln(2 pi)/2 + S(1/x^2) / x, ten terms, as a pair good to 2^-55
 * absolutely up to 171. Below, gamma x = gamma(x + n) / (x (x + 1) ... (x + n - 1)) with the product as a pair; of
 * negative numbers, gamma(-x) = -pi / (x sin(pi x) gamma x). */
#define MATH_STIRLING_LEAST 12.0

static inline MathPair math_pair_add(MathPair a, MathPair b)
{
    MathPair sum = math_two_sum(a.high, b.high);
    return math_quick_two_sum(sum.high, sum.low + (a.low + b.low));
}

static inline MathPair math_pair_multiply(MathPair a, MathPair b)
{
    MathPair product = math_two_product(a.high, b.high);
    return math_quick_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static inline MathPair math_pair_negate(MathPair a)
{
    return (MathPair){-a.high, -a.low};
}

/* ln of a positive normal pair. */
static inline MathPair math_pair_log(MathPair a)
{
    MathPair log = math_log_accurate(math_split(a.high));
    return math_quick_two_sum(log.high, log.low + a.low / a.high);
}

/* 12 <= x.high < 2^60. */
static inline MathPair math_stirling(MathPair x)
{
    MathPair log = math_pair_log(x);
    MathPair sum = math_pair_multiply((MathPair){x.high - 0.5, x.low}, log);
    sum = math_pair_add(sum, math_pair_negate(x));
    sum = math_pair_add(sum, (MathPair){MATH_HALF_LN_TWO_PI, MATH_HALF_LN_TWO_PI_REST});
    double reciprocal = 1.0 / x.high;
    return math_pair_add(sum, (MathPair){reciprocal * math_stirling_tail(reciprocal * reciprocal), 0.0});
}

/* x + n, at least 12, and the product x (x + 1) ... (x + n - 1), for 2^-60 < x < 12. */
static inline MathPair math_gamma_shift(double x, MathPair *product)
{
    MathPair shifted = {x, 0.0};
    *product = (MathPair){1.0, 0.0};
    for (double n = 1.0; shifted.high < MATH_STIRLING_LEAST; n++) {
        *product = math_pair_multiply(*product, shifted);
        shifted = math_two_sum(x, n);
    }
    return shifted;
}

/* ln gamma x as a pair, 2^-60 < x < 2^60. */
static inline MathPair math_lgamma_pair(double x)
{
    if (x >= MATH_STIRLING_LEAST)
        return math_stirling((MathPair){x, 0.0});
    MathPair product, shifted = math_gamma_shift(x, &product);
    return math_pair_add(math_stirling(shifted), math_pair_negate(math_pair_log(product)));
}

/* x |sin(pi x)| as a pair, x > 0 and not whole: with f the distance to the nearest integer, sin(pi f), or cos(pi (1/2 -
 * f)). */
static inline MathPair math_times_sine(double x)
{
    double f = math_magnitude(x - math_round_even(x));
    bool is_steep = f > 0.25;
    double g = is_steep ? 0.5 - f : f;
    MathPair r = math_pair_multiply((MathPair){g, 0.0}, (MathPair){MATH_PI, MATH_PI_REST});
    MathPair sine = is_steep ? math_cos_parts(r) : math_sin_parts(r);
    return math_pair_multiply((MathPair){x, 0.0}, math_quick_two_sum(sine.high, sine.low));
}

static inline double math_gamma_negative(double x)
{
    double a = -x;
    if (a == math_floor(a))
        return MATH_NAN; /* a pole, infinity too */
    bool is_even = math_is_integer(0.5 * math_floor(a)); /* minus between 0 and -1, then in turn */
    if (a > 200.0)
        return is_even ? -0.0 : 0.0;
    MathPair factor = math_pair_divide((MathPair){MATH_PI, MATH_PI_REST}, math_times_sine(a));
    /* 2^64 times as large, so that only the last product can be subnormal */
    MathPair shift = {64.0 * MATH_LN_2, 64.0 * MATH_LN_2_REST};
    MathPair exponent = math_pair_add(shift, math_pair_negate(math_lgamma_pair(a)));
    double result = math_exp_of_pair(exponent) * (factor.high + factor.low) * 0x1p-64;
    return is_even ? -result : result;
}

static inline double math_gamma(double x)
{
    if (math_magnitude(x) < 0x1p-60)
        return 1.0 / x;
    if (!(x < MATH_INFINITY) || x > 172.0)
        return x > 172.0 ? MATH_INFINITY : x;
    if (x < 0.0)
        return math_gamma_negative(x);
    if (x >= MATH_STIRLING_LEAST)
        return math_exp_of_pair(math_stirling((MathPair){x, 0.0}));
    MathPair product, shifted = math_gamma_shift(x, &product);
    MathPair result = math_pair_divide((MathPair){math_exp_of_pair(math_stirling(shifted)), 0.0}, product);
    return result.high + result.low;
}

/* ln |gamma x|. Near its zeros the error is absolute. */
static inline double math_lgamma(double x)
{
    double a = math_magnitude(x);
    if (!(a < MATH_INFINITY))
        return a;
    if (a < 0x1p-60)
        return -math_ln(a);
    if (x == 1.0 || x == 2.0)
        return 0.0;
    if (x >= 0x1p60) {
        MathPair log = math_log_accurate(math_split(x));
        return x * ((log.high - 1.0) + log.low);
    }
    if (x > 0.0) {
        MathPair result = math_lgamma_pair(x);
        return result.high + result.low;
    }
    if (a == math_floor(a))
        return MATH_INFINITY;
    MathPair result = math_pair_add(math_lgamma_pair(a), math_pair_log(math_times_sine(a)));
    result = math_pair_add((MathPair){MATH_LN_PI, MATH_LN_PI_REST}, math_pair_negate(result));
    return result.high + result.low;
}

#endif
