/* What needs no polynomials: questions about floats, rounding to whole ones, signs, exponents, neighbours, remainders, powers with an
 * integer exponent, roots and sums that IEEE 754 rounds correctly; of f64, and with the suffix _f32 of f32. All are exact or rounded
 * once, but for the powers. Those without branches vectorise. */
#ifndef RUNNEL_MATH_BASIC_H
#define RUNNEL_MATH_BASIC_H

#include "math/bits.h"

/* ---- nan ----
 * All nans are one value; its bits are these. */
#define MATH_NAN_BITS_F64 UINT64_C(0x7ff8000000000000)
#define MATH_NAN_BITS_F32 UINT32_C(0x7fc00000)

static inline double math_canonical(double x)
{
    if (x == x)
        return x;
    uint64_t bits = MATH_NAN_BITS_F64;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float math_canonical_f32(float x)
{
    if (x == x)
        return x;
    uint32_t bits = MATH_NAN_BITS_F32;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- questions ---- */

MATH_INLINE bool math_is_nan(double x)
{
    return x != x;
}

MATH_INLINE bool math_is_inf(double x)
{
    return math_magnitude(x) == MATH_INFINITY;
}

MATH_INLINE bool math_is_finite(double x)
{
    return math_magnitude(x) < MATH_INFINITY;
}

/* All nans are one value, and it has no sign. */
MATH_INLINE bool math_signbit(double x)
{
    return (x == x) & (math_bits(x) >> 63 != 0);
}

/* ---- correctly rounded by IEEE 754, in every library and on every machine ---- */

MATH_INLINE double math_sqrt(double x)
{
    return sqrt(x);
}

MATH_INLINE float math_sqrt_f32(float x)
{
    return sqrtf(x);
}

MATH_INLINE double math_fma(double x, double y, double z)
{
    return fma(x, y, z);
}

MATH_INLINE float math_fma_f32(float x, float y, float z)
{
    return fmaf(x, y, z);
}

/* ---- signs and differences ---- */

MATH_INLINE double math_copysign(double x, double sign)
{
    return math_of_bits((math_bits(x) & ~MATH_SIGN_BIT) | (uint64_t)math_signbit(sign) << 63);
}

MATH_INLINE double math_fdim(double x, double y)
{
    double difference = math_select(x > y, x - y, 0.0);
    return math_select((x != x) | (y != y), MATH_NAN, difference);
}

/* ---- whole numbers, without branches: below 2^52 the sum with it has no room for a fraction. The sign stays, also that of 0 ---- */

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

/* ---- exponents ---- */

/* x = significand 2^logb with a significand from 1 up to 2, as C: of 0 and what is not finite, logb is -inf, inf or nan. */
MATH_INLINE double math_logb(double x)
{
    double magnitude = math_magnitude(x);
    bool is_subnormal = magnitude < 0x1p-1022;
    uint64_t field = math_bits(math_select(is_subnormal, magnitude * 0x1p54, magnitude)) >> 52;
    double exponent = math_of_bits(field | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023.0);
    exponent -= math_select(is_subnormal, 54.0, 0.0);
    exponent = math_select(magnitude < MATH_INFINITY, exponent, magnitude);
    return math_select(magnitude == 0.0, -MATH_INFINITY, exponent);
}

MATH_INLINE double math_significand(double x)
{
    double magnitude = math_magnitude(x);
    uint64_t bits = math_bits(math_select(magnitude < 0x1p-1022, x * 0x1p54, x));
    double significand = math_of_bits((bits & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x3ff0000000000000));
    return math_select((magnitude > 0.0) & (magnitude < MATH_INFINITY), significand, x);
}

/* A step of math_ldexp that brings n nearer to where 2^n is a normal number. */
MATH_INLINE double math_ldexp_step(double x, int64_t *n)
{
    bool is_above = *n > 1023, is_below = *n < -1022;
    *n += (-(int64_t)is_above & -1023) + (-(int64_t)is_below & 969);
    return x * math_select(is_above, 0x1p1023, math_select(is_below, 0x1p-969, 1.0));
}

/* x 2^n, rounded once: where a step before the last is not exact, the result is 0 in any case. */
MATH_INLINE double math_ldexp(double x, int64_t n)
{
    x = math_ldexp_step(x, &n);
    x = math_ldexp_step(x, &n);
    x = math_ldexp_step(x, &n);
    int64_t rest = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
    return x * math_of_bits((uint64_t)(rest + 1023) << 52);
}

/* Wide enough an n to leave f32's range from every f32 is within the f64 range: the product is exact and rounded once. */
MATH_INLINE float math_ldexp_f32(float x, int64_t n)
{
    int64_t inside = n > 400 ? 400 : n < -400 ? -400 : n;
    return (float)((double)x * math_of_bits((uint64_t)(inside + 1023) << 52));
}

/* ---- neighbours: the float after x in the direction of y. After 0 comes the least subnormal, with the sign of y ---- */

MATH_INLINE double math_nextafter(double x, double y)
{
    uint64_t step = (x < y) == (x > 0.0) ? UINT64_C(1) : UINT64_MAX;
    uint64_t after_zero = (math_bits(y) & MATH_SIGN_BIT) | 1;
    double next = math_select(x == 0.0, math_of_bits(after_zero), math_of_bits(math_bits(x) + step));
    next = math_select(x == y, y, next);
    return math_select((x != x) | (y != y), MATH_NAN, next);
}

MATH_INLINE float math_nextafter_f32(float x, float y)
{
    uint32_t x_bits, y_bits;
    memcpy(&x_bits, &x, sizeof x_bits);
    memcpy(&y_bits, &y, sizeof y_bits);
    uint32_t bits = x_bits + ((x < y) == (x > 0.0f) ? UINT32_C(1) : UINT32_MAX);
    bits = x == 0.0f ? (y_bits & UINT32_C(0x80000000)) | 1 : bits;
    bits = x == y ? y_bits : bits;
    bits = ((x != x) | (y != y)) ? MATH_NAN_BITS_F32 : bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- remainders ---- */

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

/* ---- of f32, computed in f64 and rounded ---- */

#define MATH_ROUNDED_1(storage, name)                                                                                 \
    storage float math_##name##_f32(float x)                                                                          \
    {                                                                                                                 \
        return (float)math_##name((double)x);                                                                         \
    }
#define MATH_ROUNDED_2(storage, name)                                                                                 \
    storage float math_##name##_f32(float x, float y)                                                                 \
    {                                                                                                                 \
        return (float)math_##name((double)x, (double)y);                                                              \
    }
MATH_ROUNDED_1(MATH_INLINE, floor)
MATH_ROUNDED_1(MATH_INLINE, ceil)
MATH_ROUNDED_1(MATH_INLINE, trunc)
MATH_ROUNDED_1(MATH_INLINE, round)
MATH_ROUNDED_1(MATH_INLINE, round_even)
MATH_ROUNDED_1(MATH_INLINE, logb)
MATH_ROUNDED_1(MATH_INLINE, significand)
MATH_ROUNDED_2(MATH_INLINE, copysign)
MATH_ROUNDED_2(MATH_INLINE, fdim)
MATH_ROUNDED_2(static inline, fmod)
MATH_ROUNDED_2(static inline, remainder)

/* ---- integer powers ----
 * Repeated squaring from the low bit of the exponent on: the result is the product of the squares x, x^2, x^4, ... whose
 * bits are set, multiplied in this order, and 1 when none is. So x^2 is x * x and x^3 is x * (x * x). */
static inline double math_power(double x, uint64_t exponent)
{
    double result = 1.0;
    for (int is_first = 1; exponent != 0; exponent >>= 1, x *= x)
        if (exponent & 1) {
            result = is_first ? x : result * x;
            is_first = 0;
        }
    return result;
}

static inline float math_power_f32(float x, uint64_t exponent)
{
    float result = 1.0f;
    for (int is_first = 1; exponent != 0; exponent >>= 1, x *= x)
        if (exponent & 1) {
            result = is_first ? x : result * x;
            is_first = 0;
        }
    return result;
}

#endif
