/* sin, cos, tan.
 *
 * x = k pi/2 + r with |r| <= pi/4. Up to MATH_HUGE_ANGLE, k has 20 bits and pi/2 four parts, so that k times each of the
 * first three is exact: r is known as a pair to 2^-130 absolutely, and no f64 in the range lies nearer than 2^-61 to a
 * multiple of pi/2. Beyond, the bits of 2/pi that matter are multiplied with x in integers (Payne and Hanek): rare, slow,
 * one element at a time. A loop that vectorises computes math_sin_fast for all of its elements, and then math_sin_slow
 * for those with math_is_huge_angle.
 *
 * sin r = r + r^3 tail(r^2), cos r = 1 - r^2/2 + r^4 tail(r^2), both tails of degree 6. */
#ifndef RUNNEL_MATH_TRIG_H
#define RUNNEL_MATH_TRIG_H

#include "math/polynomials.h"

#define MATH_HUGE_ANGLE 0x1p20

MATH_INLINE bool math_is_huge_angle(double x)
{
    return math_magnitude(x) > MATH_HUGE_ANGLE;
}

typedef struct MathAngle {
    uint64_t quadrant; /* the low two bits count */
    MathPair r;
} MathAngle;

MATH_INLINE MathAngle math_angle_fast(double x)
{
    double k = math_nearest(x * MATH_TWO_OVER_PI);
    double a = x - k * MATH_PI_2_1;
    MathPair b = math_two_sum(a, -(k * MATH_PI_2_2));
    MathPair c = math_two_sum(b.high, -(k * MATH_PI_2_3));
    double low = (b.low + c.low) - k * MATH_PI_2_4;
    return (MathAngle){math_integer_bits(k), math_quick_two_sum(c.high, low)};
}

MATH_INLINE uint64_t math_multiply_high(uint64_t a, uint64_t b)
{
    uint64_t a_low = a & UINT32_MAX, a_high = a >> 32, b_low = b & UINT32_MAX, b_high = b >> 32;
    uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
    uint64_t middle_low = a_low * b_high + (middle & UINT32_MAX);
    return a_high * b_high + (middle >> 32) + (middle_low >> 32);
}

/* 64 bits of 2/pi from bit `position` on, counted from the start of the table. */
MATH_INLINE uint64_t math_two_over_pi_bits(uint64_t position)
{
    uint64_t word = position / 64, shift = position % 64;
    return shift == 0 ? math_two_over_pi[word]
                      : math_two_over_pi[word] << shift | math_two_over_pi[word + 1] >> (64 - shift);
}

/* x = integer 2^e, |x| > 2^20. Bits of 2/pi whose product with 2^e is a multiple of 4 do not matter; of the 192 from
 * there on, the product with the integer, modulo 2^192, has the quadrant in its top two bits and the fraction of it, to
 * 2^-137, below. */
static inline MathAngle math_angle_slow(double x)
{
    uint64_t bits = math_bits(x) & ~MATH_SIGN_BIT;
    uint64_t integer = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x10000000000000);
    uint64_t position = (bits >> 52) - 1075 + 62; /* bit e - 1 after the point, and the 64 zeros before it */
    uint64_t t2 = math_two_over_pi_bits(position);
    uint64_t t1 = math_two_over_pi_bits(position + 64);
    uint64_t t0 = math_two_over_pi_bits(position + 128);
    uint64_t p0 = integer * t0;
    uint64_t carry = math_multiply_high(integer, t0);
    uint64_t p1 = integer * t1 + carry;
    uint64_t p2 = integer * t2 + math_multiply_high(integer, t1) + (p1 < carry);
    uint64_t quadrant = p2 >> 62;
    /* the fraction, as two's complement around the nearest integer */
    p2 <<= 2;
    p2 |= p1 >> 62;
    p1 = p1 << 2 | p0 >> 62;
    p0 <<= 2;
    bool is_negative = p2 >> 63;
    if (is_negative) {
        quadrant++;
        p0 = ~p0;
        p1 = ~p1;
        p2 = ~p2; /* one's complement is off by 2^-190 */
    }
    /* halves of words are exact as f64 */
    MathPair fraction = math_quick_two_sum((double)(p2 >> 32) * 0x1p-32, (double)(p2 & UINT32_MAX) * 0x1p-64);
    MathPair lower = math_quick_two_sum((double)(p1 >> 32) * 0x1p-96, (double)(p1 & UINT32_MAX) * 0x1p-128);
    lower.low += (double)(p0 >> 32) * 0x1p-160;
    MathPair sum = math_two_sum(fraction.high, lower.high);
    sum = math_quick_two_sum(sum.high, sum.low + (fraction.low + lower.low));
    MathPair r = math_two_product(sum.high, MATH_HALF_PI);
    r = math_quick_two_sum(r.high, r.low + (sum.high * MATH_HALF_PI_REST + sum.low * MATH_HALF_PI));
    bool is_turned = is_negative != (math_bits(x) >> 63 != 0);
    if (math_bits(x) >> 63)
        quadrant = UINT64_C(0) - quadrant;
    return (MathAngle){quadrant, is_turned ? (MathPair){-r.high, -r.low} : r};
}

/* sin r: r + (r^3 tail + r_low cos r); the part in brackets is at most 0.08, its roundings add 0.25 ulp of the
 * result at pi/4. */
MATH_INLINE MathPair math_sin_parts(MathPair r)
{
    double z = r.high * r.high;
    double curve = r.high * z * math_sin_tail(z) + (r.low - 0.5 * z * r.low);
    return (MathPair){r.high, curve};
}

/* cos r: 1 - r^2/2 is exact as a pair but for the rounding of r^2, which is 2^-55. */
MATH_INLINE MathPair math_cos_parts(MathPair r)
{
    double z = r.high * r.high;
    MathPair line = math_quick_two_sum(1.0, -0.5 * z);
    return (MathPair){line.high, line.low + (z * z * math_cos_tail(z) - r.high * r.low)};
}

/* The sine of quadrant * pi/2 + r. */
MATH_INLINE double math_sin_of(MathAngle angle)
{
    MathPair s = math_sin_parts(angle.r), c = math_cos_parts(angle.r);
    double value = math_select((angle.quadrant & 1) != 0, c.high + c.low, s.high + s.low);
    return math_of_bits(math_bits(value) ^ (angle.quadrant & 2) << 62);
}

MATH_INLINE double math_cos_of(MathAngle angle)
{
    angle.quadrant++;
    return math_sin_of(angle);
}

/* sin r / cos r, in odd quadrants -cos r / sin r, as a quotient of pairs. r^2 is exact in the cosine; the sine's r^3
 * tail has 0.25 ulp. Error below 0.92 ulp. */
MATH_INLINE double math_tan_of(MathAngle angle)
{
    MathPair s = math_sin_parts(angle.r);
    MathPair square = math_two_square(angle.r.high);
    double z = square.high;
    MathPair c = math_quick_two_sum(1.0, -0.5 * z);
    c.low += z * z * math_cos_tail(z) - (0.5 * square.low + angle.r.high * angle.r.low);
    s = math_quick_two_sum(s.high, s.low);
    c = math_quick_two_sum(c.high, c.low);
    bool is_odd = (angle.quadrant & 1) != 0;
    MathPair above = {math_select(is_odd, -c.high, s.high), math_select(is_odd, -c.low, s.low)};
    MathPair below = {math_select(is_odd, s.high, c.high), math_select(is_odd, s.low, c.low)};
    MathPair quotient = math_pair_divide(above, below);
    return quotient.high + quotient.low;
}

/* -0 must not meet +0 on its way. */
MATH_INLINE double math_sin_fast(double x)
{
    return math_select(x == 0.0, x, math_sin_of(math_angle_fast(x)));
}

MATH_INLINE double math_cos_fast(double x)
{
    return math_cos_of(math_angle_fast(x));
}

MATH_INLINE double math_tan_fast(double x)
{
    return math_select(x == 0.0, x, math_tan_of(math_angle_fast(x)));
}

static inline double math_sin_slow(double x)
{
    return math_magnitude(x) < MATH_INFINITY ? math_sin_of(math_angle_slow(x)) : MATH_NAN;
}

static inline double math_cos_slow(double x)
{
    return math_magnitude(x) < MATH_INFINITY ? math_cos_of(math_angle_slow(x)) : MATH_NAN;
}

static inline double math_tan_slow(double x)
{
    return math_magnitude(x) < MATH_INFINITY ? math_tan_of(math_angle_slow(x)) : MATH_NAN;
}

static inline double math_sin(double x)
{
    return math_is_huge_angle(x) ? math_sin_slow(x) : math_sin_fast(x);
}

static inline double math_cos(double x)
{
    return math_is_huge_angle(x) ? math_cos_slow(x) : math_cos_fast(x);
}

static inline double math_tan(double x)
{
    return math_is_huge_angle(x) ? math_tan_slow(x) : math_tan_fast(x);
}

#endif
