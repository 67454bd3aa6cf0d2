/* exp, exp2, exp10, expm1, sinh, cosh, tanh.
 *
 * exp x = 2^k exp r with k the integer nearest to x / ln 2 and |r| <= ln 2 / 2 = 0.347. ln 2 is the sum of two f64; x - k times
 * the first is an f64, since both are multiples of 2^-54 unless k is 0: so r is known as a pair. exp r = 1 + r + r^2 curve(r), a
 * polynomial of degree 9 for the curve. */
#ifndef RUNNEL_MATH_EXP_H
#define RUNNEL_MATH_EXP_H

#include "math/polynomials.h"

typedef struct MathReduced {
    double k;   /* an integer */
    MathPair r; /* the rest */
} MathReduced;

/* x + low = k ln 2 + r for |x| < 1500. */
MATH_INLINE MathReduced math_exp_reduce(double x, double low)
{
    double k = math_nearest(x * MATH_LOG2_E);
    double rest = math_fused(-k, MATH_LN_2, x); /* exact */
    return (MathReduced){k, math_quick_two_sum(rest, math_fused(-k, MATH_LN_2_REST, low))};
}

/* exp r, as what is to be added. 1 + r is exact as a pair, so only the last addition rounds at full weight: r^2 curve(r) is at
 * most 0.07, its roundings and the polynomial's error 2^-57 add 0.15 ulp. */
MATH_INLINE MathPair math_exp_parts(double r)
{
    double line = 1.0 + r;
    return (MathPair){line, math_fused(r * r, math_exp_curve(r), r - (line - 1.0))};
}

/* Error below 0.7 ulp; where the scaling that follows gives a subnormal number, 0.85. */
MATH_INLINE double math_exp_of(MathPair r)
{
    MathPair parts = math_exp_parts(r.high);
    return parts.high + (parts.low + math_fused(r.high, r.low, r.low));
}

/* exp(x - k ln 2) for |x| < 1500. The rounding of r adds 0.18 ulp: error below 0.85 ulp, where subnormal 0.93. */
MATH_INLINE double math_exp_rest(double x, double k)
{
    double r = math_fused(-k, MATH_LN_2_REST, math_fused(-k, MATH_LN_2, x));
    MathPair parts = math_exp_parts(r);
    return parts.high + parts.low;
}

MATH_INLINE double math_exp(double x)
{
    double k = math_fused(x, MATH_LOG2_E, MATH_ROUNDER) - MATH_ROUNDER;
    double result = math_scale(math_exp_rest(x, k), k);
    double end = math_select(x > 0.0, MATH_INFINITY, 0.0);
    return math_select(math_magnitude(x) >= 746.0, end, result); /* nan stays */
}

/* Whether exp x is a normal number, and math_exp_usual finds it: the scaling is an addition to the exponent then. */
MATH_INLINE bool math_is_usual_for_exp(double x)
{
    return math_magnitude(x) < 708.0;
}

MATH_INLINE double math_exp_usual(double x)
{
    double shifted = math_fused(x, MATH_LOG2_E, MATH_ROUNDER);
    double rest = math_exp_rest(x, shifted - MATH_ROUNDER);
    return math_of_bits(math_bits(rest) + (math_bits(shifted) << 52));
}

/* 2^x = 2^k exp(f ln 2), k nearest to x, f = x - k exact. */
MATH_INLINE double math_exp2(double x)
{
    double inside = math_at_most(x, 1025.0);
    inside = math_at_least(inside, -1080.0);
    double k = math_nearest(inside);
    double f = inside - k;
    MathPair r = math_two_product(f, MATH_LN_2);
    r.low += f * MATH_LN_2_REST;
    return math_scale(math_exp_of(r), k);
}

/* 10^x = 2^k exp(f ln 10) with f = x - k log10 2. */
MATH_INLINE double math_exp10(double x)
{
    double inside = math_at_most(x, 309.0);
    inside = math_at_least(inside, -325.0);
    double k = math_nearest(inside * MATH_LOG2_10);
    MathPair f = math_quick_two_sum(inside - k * MATH_LG2_HIGH, -(k * MATH_LG2_LOW));
    MathPair r = math_two_product(f.high, MATH_LN_10);
    r.low += f.high * MATH_LN_10_REST + f.low * MATH_LN_10;
    return math_scale(math_exp_of(r), k);
}

/* exp x - 1 = 2^k ((1 - 2^-k) + (exp r - 1)). Both parts may cancel to a third of their size (k = 1), so exp r - 1 = r +
 * r^2/2 + ... is a pair whose r^2 is exact; what rounds is r^3 tail(r) < 0.008. Error below 0.65 ulp. */
MATH_INLINE double math_expm1(double x)
{
    double inside = math_at_most(x, 710.0);
    inside = math_at_least(inside, -50.0);
    MathReduced reduced = math_exp_reduce(inside, 0.0);
    double r = reduced.r.high, k = reduced.k;
    MathPair square = math_two_square(r);
    MathPair part = math_quick_two_sum(r, 0.5 * square.high);
    part.low += r * square.high * math_exp_tail(r) + (0.5 * square.low + (reduced.r.low + reduced.r.low * r));
    double scale = math_power_of_two(-math_at_most(k, 1000.0));
    MathPair start = math_two_sum(1.0, -scale);
    MathPair sum = math_two_sum(start.high, part.high);
    double result = math_scale(sum.high + (sum.low + (start.low + part.low)), k);
    return math_with_sign(result, x);
}

/* ---- hyperbolic functions ----
 * With |x| = k ln 2 + r, S = sinh r, C = cosh r and w = 2^-2k:
 *     2 sinh |x| = 2^k ((C + S) - w (C - S)),    2 cosh |x| = 2^k ((C + S) + w (C - S)),
 * all as pairs; where k = 0 the first is 2 S, which keeps its relative accuracy near 0. S = r + r^3 tail(r^2), C = 1 +
 * r^2/2 + r^4 tail(r^2) with r^2 exact; both are good to 2^-60. */
typedef struct MathHyperbolic {
    double k;            /* k - 1 is the exponent of both */
    MathPair sinh, cosh; /* times 2^(k - 1) */
} MathHyperbolic;

MATH_INLINE MathHyperbolic math_hyperbolic(double magnitude)
{
    MathReduced reduced = math_exp_reduce(magnitude, 0.0);
    double r = reduced.r.high, k = reduced.k;
    MathPair square = math_two_square(r);
    double z = square.high;
    MathPair s = math_quick_two_sum(r, r * z * math_sinh_tail(z) + (reduced.r.low + 0.5 * z * reduced.r.low));
    MathPair c = math_quick_two_sum(1.0, 0.5 * z);
    c = math_quick_two_sum(c.high, c.low + (0.5 * square.low + (z * z * math_cosh_tail(z) + r * reduced.r.low)));
    MathPair plus = math_two_sum(c.high, s.high), minus = math_two_sum(c.high, -s.high);
    plus.low += c.low + s.low;
    minus.low += c.low - s.low;
    double w = math_power_of_two(-2.0 * math_at_most(k, 500.0));
    MathPair difference = math_two_sum(plus.high, -(w * minus.high));
    MathPair sum = math_two_sum(plus.high, w * minus.high);
    difference.low += plus.low - w * minus.low;
    sum.low += plus.low + w * minus.low;
    MathHyperbolic result = {k, difference, sum};
    result.sinh.high = math_select(k == 0.0, 2.0 * s.high, difference.high);
    result.sinh.low = math_select(k == 0.0, 2.0 * s.low, difference.low);
    return result;
}

/* Beyond the limit both are infinite, through the scaling. */
MATH_INLINE double math_sinh(double x)
{
    double magnitude = math_magnitude(x);
    MathHyperbolic h = math_hyperbolic(math_at_most(magnitude, 712.0));
    return math_with_sign(math_scale(h.sinh.high + h.sinh.low, h.k - 1.0), x);
}

MATH_INLINE double math_cosh(double x)
{
    double magnitude = math_magnitude(x);
    MathHyperbolic h = math_hyperbolic(math_at_most(magnitude, 712.0));
    return math_scale(h.cosh.high + h.cosh.low, h.k - 1.0);
}

/* From 22 on the result is 1. */
MATH_INLINE double math_tanh(double x)
{
    double magnitude = math_magnitude(x);
    MathHyperbolic h = math_hyperbolic(math_at_most(magnitude, 22.0));
    MathPair quotient = math_pair_divide(h.sinh, h.cosh);
    return math_with_sign(quotient.high + quotient.low, x);
}

#endif
