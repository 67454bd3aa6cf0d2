/* The rest of <math.h>, scalar, within 4 ulp: hypot, erf, erfc, gamma, lgamma. They have branches and do not vectorise. */
#ifndef RUNNEL_MATH_SPECIAL_H
#define RUNNEL_MATH_SPECIAL_H

#include "math/basic.h"
#include "math/power.h"
#include "math/trig.h"

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
