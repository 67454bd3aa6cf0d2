/* What the elementary functions are made of: the bits of floats, selection without branches, sums and products whose
 * rounding errors are kept.
 *
 * Rules for all functions of this directory. They use + - * / sqrt and math_fused alone, each rounded once and to nearest, in
 * the order written: no contraction (-ffp-contract=off, and -fno-math-errno so that sqrt is an instruction), no tables in
 * main paths, no call of the C library where it may round differently elsewhere. So a result is the same bits whatever
 * compiles it, in whatever lanes it runs, with an instruction for math_fused or without. Main paths have no branches; all cases are computed and math_select takes one,
 * through integer masks, since a compiler may not move a floating-point operation across a condition and would not
 * vectorise the loop around it. Which nan a function returns is not said: engines make them canonical. */
#ifndef RUNNEL_MATH_BITS_H
#define RUNNEL_MATH_BITS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Inlined always: the functions exceed what compilers inline by themselves, and a call would not be vectorised. */
#define MATH_INLINE static inline __attribute__((always_inline))

#define MATH_INFINITY ((double)INFINITY)
#define MATH_NAN ((double)NAN)
#define MATH_SIGN_BIT (UINT64_C(1) << 63)

MATH_INLINE uint64_t math_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

MATH_INLINE double math_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

MATH_INLINE double math_select(bool condition, double if_true, double if_false)
{
    uint64_t mask = UINT64_C(0) - (uint64_t)condition;
    return math_of_bits((math_bits(if_true) & mask) | (math_bits(if_false) & ~mask));
}

/* The smaller and the larger of the two, where x may be nan and stays so. */
MATH_INLINE double math_at_most(double x, double limit)
{
    return math_select(x > limit, limit, x);
}

MATH_INLINE double math_at_least(double x, double limit)
{
    return math_select(x < limit, limit, x);
}

MATH_INLINE double math_magnitude(double x)
{
    return math_of_bits(math_bits(x) & ~MATH_SIGN_BIT);
}

/* The sign of `sign` on x. */
MATH_INLINE double math_with_sign(double x, double sign)
{
    return math_of_bits((math_bits(x) & ~MATH_SIGN_BIT) | (math_bits(sign) & MATH_SIGN_BIT));
}

/* x with its sign turned where that of `sign` is minus. */
MATH_INLINE double math_times_sign(double x, double sign)
{
    return math_of_bits(math_bits(x) ^ (math_bits(sign) & MATH_SIGN_BIT));
}

/* The nearest integer, ties to even, for |x| < 2^51: adding this constant leaves no room for a fraction. The integer is
 * also in the low bits of the sum, which is how it is had without a conversion; AVX2 has none for 64 bits. */
#define MATH_ROUNDER 0x1.8p52

MATH_INLINE double math_nearest(double x)
{
    return (x + MATH_ROUNDER) - MATH_ROUNDER;
}

/* The low bits of an integer |k| < 2^51. */
MATH_INLINE uint64_t math_integer_bits(double k)
{
    return math_bits(k + MATH_ROUNDER);
}

/* 2^k for an integer k, -1022 <= k <= 1023. */
MATH_INLINE double math_power_of_two(double k)
{
    return math_of_bits((math_integer_bits(k) + 1023) << 52);
}

/* x * 2^k for an integer |k| <= 2044, in two steps so that results may be subnormal or infinite. The result is rounded once,
 * when the first step is exact, as it is for x near 1. */
MATH_INLINE double math_scale(double x, double k)
{
    uint64_t bits = math_integer_bits(k + 2046.0), half = bits >> 1; /* the low 12 bits are what is meant */
    return x * math_of_bits(half << 52) * math_of_bits((bits - half) << 52);
}

/* ---- pairs: the unevaluated sum high + low, with low at most about half an ulp of high ---- */

typedef struct MathPair {
    double high, low;
} MathPair;

/* a + b exactly (Knuth). */
MATH_INLINE MathPair math_two_sum(double a, double b)
{
    double sum = a + b;
    double part = sum - a;
    return (MathPair){sum, (a - (sum - part)) + (b - part)};
}

/* a + b exactly, where |a| >= |b| or a is 0 (Dekker). */
MATH_INLINE MathPair math_quick_two_sum(double a, double b)
{
    double sum = a + b;
    return (MathPair){sum, b - (sum - a)};
}

/* Whether the machine multiplies and adds in one instruction. */
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
#define MATH_CAN_FUSE true
#else
#define MATH_CAN_FUSE false
#endif

/* The upper 26 bits of x, for |x| < 2^996; x minus them has 26 bits as well (Veltkamp). */
MATH_INLINE double math_upper_half(double x)
{
    double shifted = x * 0x1.0000002p27;
    return shifted - (shifted - x);
}

/* a * b exactly, barring overflow and underflow (Dekker). */
MATH_INLINE MathPair math_two_product(double a, double b)
{
    double product = a * b;
    if (MATH_CAN_FUSE)
        return (MathPair){product, fma(a, b, -product)};
    double a_high = math_upper_half(a), b_high = math_upper_half(b);
    double a_low = a - a_high, b_low = b - b_high;
    double error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return (MathPair){product, error};
}

MATH_INLINE MathPair math_two_square(double a)
{
    double product = a * a;
    if (MATH_CAN_FUSE)
        return (MathPair){product, fma(a, a, -product)};
    double high = math_upper_half(a);
    double low = a - high;
    return (MathPair){product, ((high * high - product) + 2.0 * high * low) + low * low};
}

/* a + b rounded to odd: what is not exact becomes the neighbour whose last bit is 1, so that rounding again gives what
 * rounding once would have given. */
MATH_INLINE double math_sum_to_odd(double a, double b)
{
    MathPair sum = math_two_sum(a, b);
    uint64_t bits = math_bits(sum.high);
    uint64_t is_moved = (uint64_t)(sum.low != 0.0) & ~bits;
    uint64_t is_nearer_zero = is_moved & (math_bits(sum.low) ^ bits) >> 63;
    return math_of_bits(bits + is_moved - 2 * is_nearer_zero);
}

/* a * b + c, rounded once. Where there is no instruction for it, it takes some forty others, and is right barring overflow and
 * underflow, but for the sign of 0 (Boldo and Melquiond 2008). */
MATH_INLINE double math_fused(double a, double b, double c)
{
    if (MATH_CAN_FUSE)
        return fma(a, b, c);
    MathPair product = math_two_product(a, b);
    MathPair low = math_two_sum(c, product.low), high = math_two_sum(product.high, low.high);
    return high.high + math_sum_to_odd(low.low, high.low);
}

/* The quotient of pairs, to about 100 bits. */
MATH_INLINE MathPair math_pair_divide(MathPair a, MathPair b)
{
    double quotient = a.high / b.high;
    MathPair product = math_two_product(quotient, b.high);
    double rest = ((a.high - product.high) - product.low) + (a.low - quotient * b.low);
    return (MathPair){quotient, rest / b.high};
}

/* The square root of a pair, to about 100 bits; not of 0. */
MATH_INLINE MathPair math_pair_sqrt(MathPair a)
{
    double root = sqrt(a.high);
    MathPair square = math_two_square(root);
    double rest = ((a.high - square.high) - square.low) + a.low;
    return (MathPair){root, rest / (root + root)};
}

#endif
