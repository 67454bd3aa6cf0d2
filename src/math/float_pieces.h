/* Pieces of float arithmetic without branches, for loops that vectorise. Suffixes are scalar types. */
#ifndef RUNNEL_MATH_FLOAT_PIECES_H
#define RUNNEL_MATH_FLOAT_PIECES_H

#include "math/basic.h"

/* Whether C's conversion of floats to integers of 64 bits is one instruction for vectors. */
#if defined(__AVX512DQ__) || defined(__aarch64__)
#define FLOAT_CONVERTS_IN_VECTORS true
#else
#define FLOAT_CONVERTS_IN_VECTORS false
#endif

MATH_INLINE uint32_t float_bits_F32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

MATH_INLINE float float_of_bits_F32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define float_bits_F64 math_bits
#define float_of_bits_F64 math_of_bits

#define FLOAT_PIECES(type, Number, Bits, nan_bits)                                                                    \
    MATH_INLINE Number float_canonical_##type(Number x)                                                               \
    {                                                                                                                 \
        return x == x ? x : float_of_bits_##type(nan_bits);                                                           \
    }                                                                                                                 \
    /* Of the canonical nan, that nan. */                                                                             \
    MATH_INLINE Number float_magnitude_##type(Number x)                                                               \
    {                                                                                                                 \
        return float_of_bits_##type(float_bits_##type(x) & ((Bits)-1 >> 1));                                          \
    }                                                                                                                 \
    /* Equal numbers differ in the sign of zero at most: `and` and `or` of their bits choose it. */                   \
    MATH_INLINE Number float_minimum_##type(Number a, Number b)                                                       \
    {                                                                                                                 \
        Number equal = float_of_bits_##type(float_bits_##type(a) | float_bits_##type(b));                             \
        Number least = a < b ? a : b;                                                                                 \
        least = a == b ? equal : least;                                                                               \
        return a != a ? a : b != b ? b : least;                                                                       \
    }                                                                                                                 \
    MATH_INLINE Number float_maximum_##type(Number a, Number b)                                                       \
    {                                                                                                                 \
        Number equal = float_of_bits_##type(float_bits_##type(a) & float_bits_##type(b));                             \
        Number greatest = a > b ? a : b;                                                                              \
        greatest = a == b ? equal : greatest;                                                                         \
        return a != a ? a : b != b ? b : greatest;                                                                    \
    }
FLOAT_PIECES(F32, float, uint32_t, MATH_NAN_BITS_F32)
FLOAT_PIECES(F64, double, uint64_t, MATH_NAN_BITS_F64)
#undef FLOAT_PIECES

/* ---- integers as f64, and back: machines before AVX-512 convert 64 bits one at a time ----
 *
 * The halves of the integer become the low bits of 2^52 and of 2^84, where they weigh what they should. What was added in excess is
 * subtracted from the upper one, exactly; the sum of both is rounded once. */
MATH_INLINE double float_of_unsigned(uint64_t integer)
{
    if (FLOAT_CONVERTS_IN_VECTORS)
        return (double)integer;
    double low = math_of_bits((integer & UINT32_MAX) | UINT64_C(0x4330000000000000));
    double high = math_of_bits(integer >> 32 | UINT64_C(0x4530000000000000));
    return (high - (0x1p84 + 0x1p52)) + low;
}

MATH_INLINE double float_of_signed(int64_t integer)
{
    if (FLOAT_CONVERTS_IN_VECTORS)
        return (double)integer;
    uint64_t bits = (uint64_t)integer;
    double low = math_of_bits((bits & UINT32_MAX) | UINT64_C(0x4330000000000000));
    double high = math_of_bits(bits >> 32 ^ UINT64_C(0x4530000080000000)); /* raised by 2^63, so that it has no sign */
    return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
}

/* An integer below FLOAT_SMALL in magnitude from or to f64, with one addition. */
#define FLOAT_SMALL 0x1p51

MATH_INLINE double float_of_small(int64_t integer)
{
    return math_of_bits(math_bits(MATH_ROUNDER) + (uint64_t)integer) - MATH_ROUNDER;
}

MATH_INLINE int64_t float_to_small(double whole)
{
    return (int64_t)(math_integer_bits(whole) - math_bits(MATH_ROUNDER));
}

/* Whole numbers in one instruction where there is one. Else loops that must round are not worth their detours through floats. */
#if defined(__SSE4_1__) || defined(__aarch64__)
#define FLOAT_ROUNDS_IN_VECTORS true
#define float_trunc __builtin_trunc
#define float_floor __builtin_floor
#define float_ceil __builtin_ceil
/* Halves away from zero: what is added is the float below a half. From a half on the sum reaches the next whole number, or is rounded to it, and below it does not. */
MATH_INLINE double float_round(double x)
{
    return __builtin_trunc(x + __builtin_copysign(0x1.fffffffffffffp-2, x));
}
#else
#define FLOAT_ROUNDS_IN_VECTORS false
#define float_trunc math_trunc
#define float_floor math_floor
#define float_ceil math_ceil
#define float_round math_round
#endif

/* Floats to integers of 64 bits, cut to the whole part: its upper and its lower half are small each. */
MATH_INLINE uint64_t float_halves(double x)
{
    double whole = float_trunc(x), upper = float_floor(whole * 0x1p-32);
    return ((uint64_t)float_to_small(upper) << 32) + (uint64_t)float_to_small(whole - upper * 0x1p32);
}

/* An integer whose float gcc must not take to be the whole part of the float it comes from: of -0.5 that is -0.0. */
#if defined __has_builtin
#if __has_builtin(__builtin_assoc_barrier)
#define FLOAT_CUT(integer) __builtin_assoc_barrier(integer)
#endif
#endif
#ifndef FLOAT_CUT
#define FLOAT_CUT(integer) (integer)
#endif

/* -2^63 <= x < 2^63. */
MATH_INLINE int64_t float_to_signed(double x)
{
    return FLOAT_CONVERTS_IN_VECTORS ? FLOAT_CUT((int64_t)x) : (int64_t)float_halves(x);
}

/* -1 < x < 2^64. */
MATH_INLINE uint64_t float_to_unsigned(double x)
{
    return FLOAT_CONVERTS_IN_VECTORS ? FLOAT_CUT((uint64_t)x) : float_halves(x);
}

/* ---- integers as f32, rounded once ----
 * The way is through f64, where it is exact: the low 11 bits of what f64 cannot hold become one that says whether any was set (rounding to
 * odd), which is all that rounding to the 24 bits of f32 wants to know of them. */
MATH_INLINE uint64_t float_sticky(uint64_t integer)
{
    return (((integer & 0x7ff) + 0x7ff) | integer) & ~UINT64_C(0x7ff);
}

MATH_INLINE float single_of_unsigned(uint64_t integer)
{
    if (FLOAT_CONVERTS_IN_VECTORS)
        return (float)integer;
    return (float)float_of_unsigned(integer >> 53 != 0 ? float_sticky(integer) : integer);
}

MATH_INLINE float single_of_signed(int64_t integer)
{
    if (FLOAT_CONVERTS_IN_VECTORS)
        return (float)integer;
    uint64_t bits = (uint64_t)integer;
    bool is_wide = bits + (UINT64_C(1) << 53) >= UINT64_C(1) << 54;
    return (float)float_of_signed((int64_t)(is_wide ? float_sticky(bits) : bits));
}

#endif
