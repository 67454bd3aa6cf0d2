/* pow and cbrt. */
#ifndef RUNNEL_MATH_POWER_H
#define RUNNEL_MATH_POWER_H

#include "math/exp.h"
#include "math/log.h"

/* ln(2^k m) as a pair good to 2^-70 of itself where k is 0, and else to 2^-71 absolutely. With s = (m - 1) / (m + 1), a pair,
 * ln m = 2 (s + s^3 (1/3 + s^2 (1/5 + s^2 tail(s^2)))), all pairs but for s^2 tail < 0.005, which has the weight s^4 < 0.001. */
MATH_INLINE MathPair math_log_accurate(MathSplit split)
{
    MathPair s = math_pair_divide((MathPair){split.m - 1.0, 0.0}, math_two_sum(1.0, split.m));
    MathPair square = math_two_square(s.high);
    square.low += 2.0 * s.high * s.low;
    MathPair cube = math_two_product(square.high, s.high);
    cube.low += square.low * s.high + square.high * s.low;
    MathPair fifth = math_quick_two_sum(MATH_FIFTH, square.high * math_power_tail(square.high));
    fifth.low += MATH_FIFTH_REST;
    MathPair product = math_two_product(square.high, fifth.high);
    product.low += square.high * fifth.low + square.low * fifth.high;
    MathPair third = math_quick_two_sum(MATH_THIRD, product.high);
    third.low += product.low + MATH_THIRD_REST;
    MathPair curve = math_two_product(cube.high, third.high);
    curve.low += cube.high * third.low + cube.low * third.high;
    MathPair half = math_quick_two_sum(s.high, curve.high);
    half = math_quick_two_sum(half.high, half.low + (s.low + curve.low));
    MathPair sum = math_two_sum(split.k * MATH_LN2_HIGH, 2.0 * half.high);
    return math_quick_two_sum(sum.high, sum.low + (2.0 * half.low + split.k * MATH_LN2_LOW));
}

/* exp(p) of a pair; beyond the limits infinite or 0. */
MATH_INLINE double math_exp_of_pair(MathPair p)
{
    bool is_inside = (p.high < 712.0) & (p.high > -750.0);
    double limit = math_select(p.high > 0.0, 712.0, -750.0);
    MathReduced reduced = math_exp_reduce(math_select(is_inside, p.high, limit), math_select(is_inside, p.low, 0.0));
    return math_scale(math_exp_of(reduced.r), reduced.k);
}

MATH_INLINE bool math_is_integer(double x)
{
    double magnitude = math_magnitude(x);
    return (magnitude >= 0x1p52) | ((magnitude + 0x1p52) - 0x1p52 == magnitude);
}

/* x^y = exp(y ln |x|), with a sign. |y ln |x|| is below 745, so the logarithm's error becomes 2^-60 at most and the result has
 * the error of exp: below 0.7 ulp, where it is subnormal 0.85. An exponent beyond 2^64 overflows or underflows for every x
 * but 1, so it is cut there. */
MATH_INLINE double math_pow(double x, double y)
{
    double a = math_magnitude(x);
    double exponent = math_at_most(y, 0x1p64);
    exponent = math_at_least(exponent, -0x1p64);
    bool is_end = (a == 0.0) | (a == MATH_INFINITY);
    MathPair ln = math_log_accurate(math_split(math_select(is_end, 1.0, a)));
    MathPair p = math_two_product(exponent, ln.high);
    p.low += exponent * ln.low;
    double result = math_exp_of_pair(p);

    bool is_growing = (y > 0.0) == (a > 1.0);
    result = math_select(is_end, math_select(is_growing, MATH_INFINITY, 0.0), result);
    bool is_whole = math_is_integer(y), is_odd = is_whole & !math_is_integer(0.5 * y);
    bool is_negative = (math_bits(x) >> 63) != 0;
    result = math_select(is_negative & is_odd, -result, result);
    result = math_select(is_negative & !is_whole & !is_end, MATH_NAN, result);
    result = math_select((x != x) | (y != y), MATH_NAN, result);
    return math_select((y == 0.0) | (x == 1.0), 1.0, result);
}

/* |x| = 8^q m with 1/2 <= m < 4: a polynomial of degree 6 gives the root of m to 2^-10, Halley's step (cubic) to 2^-30.
 * It is cut to 26 bits, so that its square is exact, and a last step t (1 + (r - t) / (2 t + r)), r = m / t^2, has one
 * third of r's rounding error. Error below 0.67 ulp. */
MATH_INLINE double math_cbrt(double x)
{
    double a = math_magnitude(x);
    bool is_subnormal = a < 0x1p-1022;
    uint64_t bits = math_bits(math_select(is_subnormal, a * 0x1p54, a));
    double exponent = math_of_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023.0);
    double q = math_nearest((exponent - 0.25) * MATH_THIRD); /* the rest is -1, 0 or 1 */
    double m = math_of_bits((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000)) *
               math_power_of_two(exponent - 3.0 * q);
    double t = math_cbrt_start(m);
    double cube = t * t * t;
    t = t * (cube + 2.0 * m) / (2.0 * cube + m);
    t = math_upper_half(t);
    double r = m / (t * t);
    double root = t + t * ((r - t) / (t + t + r));
    double result = root * math_power_of_two(q - math_select(is_subnormal, 18.0, 0.0));
    result = math_select((a > 0.0) & (a < MATH_INFINITY), result, a);
    return math_with_sign(result, x);
}

#endif
