/* Elementary functions: one piece of C each, used by every engine, so that results agree to the bit. For now they are the C
 * library's; f32 functions are computed by their own code, not by rounding f64 results. */
#ifndef RUNNEL_MATH_ELEMENTARY_H
#define RUNNEL_MATH_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* MATH_UNARY(our name, the C library's) */
#define MATH_UNARY_FUNCTIONS                                                                                          \
    MATH_UNARY(sqrt, sqrt)                                                                                            \
    MATH_UNARY(ln, log)                                                                                               \
    MATH_UNARY(exp, exp)                                                                                              \
    MATH_UNARY(sin, sin)                                                                                              \
    MATH_UNARY(cos, cos)                                                                                              \
    MATH_UNARY(tan, tan)                                                                                              \
    MATH_UNARY(asin, asin)                                                                                            \
    MATH_UNARY(acos, acos)                                                                                            \
    MATH_UNARY(atan, atan)                                                                                            \
    MATH_UNARY(sinh, sinh)                                                                                            \
    MATH_UNARY(cosh, cosh)                                                                                            \
    MATH_UNARY(tanh, tanh)

#define MATH_BINARY_FUNCTIONS                                                                                         \
    MATH_BINARY(expt, pow)                                                                                            \
    MATH_BINARY(atan2, atan2)

#define MATH_UNARY(name, library)                                                                                     \
    static inline double math_##name(double x) { return library(x); }                                                 \
    static inline float math_##name##_f32(float x) { return library##f(x); }
MATH_UNARY_FUNCTIONS
#undef MATH_UNARY

#define MATH_BINARY(name, library)                                                                                    \
    static inline double math_##name(double x, double y) { return library(x, y); }                                    \
    static inline float math_##name##_f32(float x, float y) { return library##f(x, y); }
MATH_BINARY_FUNCTIONS
#undef MATH_BINARY

static inline double math_log_base(double x, double base)
{
    return math_ln(x) / math_ln(base);
}

static inline float math_log_base_f32(float x, float base)
{
    return math_ln_f32(x) / math_ln_f32(base);
}

static inline double math_fma(double x, double y, double z)
{
    return fma(x, y, z);
}

static inline float math_fma_f32(float x, float y, float z)
{
    return fmaf(x, y, z);
}

/* ---- integer powers ----
 * Repeated squaring from the low bit of the exponent on: the result is the product of the squares x, x^2, x^4, ... whose bits
 * are set, multiplied in this order, and 1 when none is. So x^2 is x * x and x^3 is x * (x * x). */
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

#endif
