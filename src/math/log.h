/* ln, log2, log10, log1p, asinh, acosh, atanh.
 *
 * x = 2^k m with sqrt(1/2) <= m < sqrt 2, f = m - 1 (exact), s = f / (2 + f), |s| <= 0.172. Then
 *     ln m = 2 atanh s = f - s (f - s^2 tail(s^2)),
 * where f is exact and everything after it is at most 0.07, so that its roundings count little; the tail is a polynomial of
 * degree 7. k ln 2 is added in two parts, products of k with the first being exact. */
#ifndef RUNNEL_MATH_LOG_H
#define RUNNEL_MATH_LOG_H

#include "math/polynomials.h"

typedef struct MathSplit {
    double k; /* an integer */
    double m; /* from sqrt(1/2) up to sqrt 2 */
} MathSplit;

#define MATH_ROOT_HALF_BITS UINT64_C(0x3fe6a09e667f3bcd)

/* x = 2^k m for a normal x > 0: the exponent changes where the mantissa passes that of sqrt 2. */
MATH_INLINE MathSplit math_split_normal(double x)
{
    uint64_t shifted = math_bits(x) + (UINT64_C(0x3ff0000000000000) - MATH_ROOT_HALF_BITS);
    double k = math_of_bits((shifted >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023.0);
    return (MathSplit){k, math_of_bits((shifted & UINT64_C(0xfffffffffffff)) + MATH_ROOT_HALF_BITS)};
}

/* Likewise for every x > 0. */
MATH_INLINE MathSplit math_split(double x)
{
    bool is_subnormal = x < 0x1p-1022;
    MathSplit split = math_split_normal(math_select(is_subnormal, x * 0x1p54, x));
    split.k -= math_select(is_subnormal, 54.0, 0.0);
    return split;
}

/* The values of logarithms where the computation has none: nan below 0 and of nan, infinities of 0 and infinity. */
MATH_INLINE double math_log_ends(double x, double result)
{
    result = math_select(x == MATH_INFINITY, x, result);
    result = math_select(x == 0.0, -MATH_INFINITY, result);
    return math_select(x >= 0.0, result, MATH_NAN);
}

/* k ln 2 + ln(1 + f), |f| <= 0.4143, two_more = 2 + f, as what is to be added. k ln 2 + f is exact as a pair; the rest rounds by less than 2^-55,
 * at a result of at least 0.34 or, for k = 0, in proportion to f. At f = 0.414, the roundings of 2 + f, s, f - ... and the rest
 * are 0.42 ulp of the result together: error below 0.94 ulp there, and less elsewhere. */
MATH_INLINE MathPair math_log_parts(double k, double f, double two_more)
{
    double s = f / two_more;
    double z = s * s;
    double line = math_fused(k, MATH_LN2_HIGH, f);
    double rest = f + math_fused(k, MATH_LN2_HIGH, -line);
    rest = math_fused(k, MATH_LN2_LOW, rest);
    return (MathPair){line, math_fused(-s, math_fused(-z, math_log_tail(z), f), rest)};
}

MATH_INLINE double math_log_of(MathSplit split)
{
    MathPair parts = math_log_parts(split.k, split.m - 1.0, split.m + 1.0); /* which need not wait for f */
    return parts.high + parts.low;
}

MATH_INLINE double math_ln(double x)
{
    return math_log_ends(x, math_log_of(math_split(x)));
}

/* Whether x is finite, normal and above 0, so that math_ln_usual is ln: with one comparison. */
MATH_INLINE bool math_is_usual_for_ln(double x)
{
    uint64_t least = UINT64_C(0x0010000000000000), end = UINT64_C(0x7ff0000000000000);
    return !((int64_t)(math_bits(x) - least + MATH_SIGN_BIT) > (int64_t)(end - 1 - least + MATH_SIGN_BIT));
}

MATH_INLINE double math_ln_usual(double x)
{
    return math_log_of(math_split_normal(x));
}

/* k ln 2 + ln(1 + f + f_low), f_low at most an ulp of f: the derivative 1 / (1 + f) is that of f_low and needs few bits. */
MATH_INLINE double math_log_sum(double k, double f, double f_low)
{
    MathPair parts = math_log_parts(k, f, 2.0 + f);
    return parts.high + (parts.low + f_low * (1.0 - f + f * f));
}

MATH_INLINE double math_log_base(double x, double base)
{
    return math_ln(x) / math_ln(base);
}

/* ln(1 + f) as a pair good to 2^-58: f^2 is exact, and what is left, s (f^2/2 + ...), is below 0.018. */
MATH_INLINE MathPair math_log_pair(double f)
{
    MathPair square = math_two_square(f);
    double half_square = 0.5 * square.high;
    double s = f / (2.0 + f);
    double z = s * s;
    MathPair sum = math_quick_two_sum(f, -half_square);
    double low = sum.low + (s * (half_square + z * math_log_tail(z)) - 0.5 * square.low);
    return math_quick_two_sum(sum.high, low);
}

/* log2 x = k + ln m / ln 2. */
MATH_INLINE double math_log2(double x)
{
    MathSplit split = math_split(x);
    MathPair ln = math_log_pair(split.m - 1.0);
    MathPair part = math_two_product(ln.high, MATH_LOG2_E);
    part.low += ln.high * MATH_LOG2_E_REST + ln.low * MATH_LOG2_E;
    MathPair sum = math_quick_two_sum(split.k, part.high);
    return math_log_ends(x, sum.high + (sum.low + part.low));
}

/* log10 x = k log10 2 + ln m / ln 10. */
MATH_INLINE double math_log10(double x)
{
    MathSplit split = math_split(x);
    MathPair ln = math_log_pair(split.m - 1.0);
    MathPair part = math_two_product(ln.high, MATH_LOG10_E);
    part.low += (ln.high * MATH_LOG10_E_REST + ln.low * MATH_LOG10_E) + split.k * MATH_LG2_LOW;
    MathPair sum = math_quick_two_sum(split.k * MATH_LG2_HIGH, part.high);
    return math_log_ends(x, sum.high + (sum.low + part.low));
}

/* ln(1 + x + low) for -1 < x < infinity. 1 + x is exact as a pair; scaled by 2^-k its high part minus 1, plus its low
 * part, is f again as a pair: for k = 0 it is x itself. */
MATH_INLINE double math_log1p_of(double x, double low)
{
    MathPair sum = math_two_sum(1.0, x);
    MathSplit split = math_split_normal(sum.high);
    double scale = math_power_of_two(-math_at_most(split.k, 1000.0));
    MathPair f = math_quick_two_sum(split.m - 1.0, (sum.low + low) * scale);
    return math_log_sum(split.k, f.high, f.low);
}

MATH_INLINE double math_log1p(double x)
{
    double result = math_with_sign(math_log1p_of(x, 0.0), x);
    result = math_select(x == MATH_INFINITY, x, result);
    result = math_select(x == -1.0, -MATH_INFINITY, result);
    return math_select(x >= -1.0, result, MATH_NAN);
}

/* ---- inverse hyperbolic functions ---- */

/* ln(2^extra (a.high + a.low)), a.high >= 1/2. */
MATH_INLINE double math_log_of_pair(MathPair a, double extra)
{
    MathSplit split = math_split_normal(a.high);
    double scale = math_power_of_two(-math_at_most(split.k, 1000.0));
    MathPair f = math_quick_two_sum(split.m - 1.0, a.low * scale);
    return math_log_sum(split.k + extra, f.high, f.low);
}

/* Beyond this, x + sqrt(x^2 +- 1) is 2 x to 2^-62. */
#define MATH_LARGE_AREA 0x1p30

/* Up to 1/2 a polynomial of degree 12 after x; beyond, ln(x + sqrt(x^2 + 1)), at least 0.48, of a pair. */
MATH_INLINE double math_asinh(double x)
{
    double a = math_magnitude(x);
    double z = a * a;
    double small = a + a * z * math_asinh_tail(z);
    bool is_large = a > MATH_LARGE_AREA;
    double middle = math_select(is_large, 1.0, a);
    MathPair square = math_two_square(middle);
    MathPair sum = math_two_sum(square.high, 1.0);
    sum.low += square.low;
    MathPair root = math_pair_sqrt(sum);
    MathPair argument = math_two_sum(middle, root.high);
    argument.high = math_select(is_large, a, argument.high);
    argument.low = math_select(is_large, 0.0, argument.low + root.low);
    double log = math_log_of_pair(argument, math_select(is_large, 1.0, 0.0));
    double result = math_select(a <= 0.5, small, log);
    result = math_select(a < MATH_INFINITY, result, a);
    return math_with_sign(result, x);
}

/* With t = x - 1 (exact up to 2^53): ln(1 + (t + sqrt(t^2 + 2 t))), all pairs, which keeps the relative accuracy near 1. */
MATH_INLINE double math_acosh(double x)
{
    bool is_large = x > MATH_LARGE_AREA;
    double t = math_select(is_large, 1.0, x - 1.0);
    MathPair square = math_two_square(t);
    MathPair sum = math_two_sum(2.0 * t, square.high);
    sum.low += square.low;
    MathPair root = math_pair_sqrt(sum);
    MathPair argument = math_two_sum(t, root.high);
    argument.low += root.low;
    double near = math_log1p_of(argument.high, argument.low);
    double far = math_log_of_pair((MathPair){math_select(is_large, x, 1.0), 0.0}, 1.0);
    double result = math_select(is_large, far, near);
    result = math_select(x == 1.0, 0.0, result);
    result = math_select(x == MATH_INFINITY, x, result);
    return math_select(x >= 1.0, result, MATH_NAN);
}

/* (1 + x) / (1 - x) = 2^k m, so atanh x = k ln 2 / 2 + atanh s with s = (m - 1) / (m + 1) = ((1 + x) - 2^k (1 - x)) / ((1
 * + x) + 2^k (1 - x)), a quotient of pairs; for k = 0 it is x itself. atanh s = s + s^3 tail(s^2) / 2. */
MATH_INLINE double math_atanh(double x)
{
    double a = math_magnitude(x);
    double inside = math_select(a < 1.0, a, 0.0);
    MathPair plus = math_two_sum(1.0, inside), minus = math_two_sum(1.0, -inside);
    double k = math_split_normal(plus.high / minus.high).k;
    double scale = math_power_of_two(k);
    MathPair above = math_two_sum(plus.high, -(scale * minus.high));
    above = math_two_sum(above.high, above.low + (plus.low - scale * minus.low));
    MathPair below = math_two_sum(plus.high, scale * minus.high);
    below.low += plus.low + scale * minus.low;
    MathPair s = math_pair_divide(above, below);
    double z = s.high * s.high;
    double curve = 0.5 * (s.high * z * math_log_tail(z)) + s.low;
    MathPair line = math_quick_two_sum(0.5 * k * MATH_LN2_HIGH, s.high);
    double result = line.high + (line.low + (curve + 0.5 * k * MATH_LN2_LOW));
    result = math_select(a == 1.0, MATH_INFINITY, result);
    result = math_select(a <= 1.0, result, MATH_NAN);
    return math_with_sign(result, x);
}

#endif
