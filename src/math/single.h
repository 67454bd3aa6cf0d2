/* The functions of f32, computed in f64 and rounded at the end.
 *
 * The most frequent have shorter polynomials of their own, good to 2^-32 or better, and no pairs: f64 arithmetic has 29
 * bits to spare. The others round the f64 function's result. Either way the error is 0.5 ulp and a little. Both
 * vectorise. */
#ifndef RUNNEL_MATH_SINGLE_H
#define RUNNEL_MATH_SINGLE_H

#include "math/arc.h"
#include "math/special.h"

/* ---- exponentials ---- */

/* 2^k exp r; out of f32's range the conversion makes it infinite or 0. */
MATH_INLINE float math_exp_single(double k, double r)
{
    double result = 1.0 + (r + r * r * math_exp_tail_f32(r));
    return (float)(result * math_power_of_two(k));
}

MATH_INLINE float math_exp_f32(float x)
{
    double inside = math_at_least(math_at_most((double)x, 120.0), -120.0);
    double k = math_nearest(inside * MATH_LOG2_E);
    return math_exp_single(k, inside - k * MATH_LN_2);
}

MATH_INLINE float math_exp2_f32(float x)
{
    double inside = math_at_least(math_at_most((double)x, 160.0), -160.0);
    double k = math_nearest(inside);
    return math_exp_single(k, (inside - k) * MATH_LN_2);
}

MATH_INLINE float math_exp10_f32(float x)
{
    double inside = math_at_least(math_at_most((double)x, 60.0), -60.0);
    double k = math_nearest(inside * MATH_LOG2_10);
    return math_exp_single(k, inside * MATH_LN_10 - k * MATH_LN_2);
}

/* ---- logarithms: every f32 is a normal f64 ---- */

MATH_INLINE double math_log_single(double m)
{
    double s = (m - 1.0) / (m + 1.0);
    double z = s * s;
    return s * (2.0 + z * math_log_tail_f32(z));
}

MATH_INLINE float math_ln_f32(float x)
{
    MathSplit split = math_split_normal((double)x);
    double result = split.k * MATH_LN_2 + math_log_single(split.m);
    return (float)math_log_ends((double)x, result);
}

MATH_INLINE float math_log2_f32(float x)
{
    MathSplit split = math_split_normal((double)x);
    double result = split.k + math_log_single(split.m) * MATH_LOG2_E;
    return (float)math_log_ends((double)x, result);
}

MATH_INLINE float math_log10_f32(float x)
{
    MathSplit split = math_split_normal((double)x);
    double result = split.k * (MATH_LG2_HIGH + MATH_LG2_LOW) + math_log_single(split.m) * MATH_LOG10_E;
    return (float)math_log_ends((double)x, result);
}

MATH_INLINE float math_log_base_f32(float x, float base)
{
    return math_ln_f32(x) / math_ln_f32(base);
}

/* ---- sin, cos, tan: r in one f64, from pi/2 in two parts; no f32 below 2^20 lies nearer than 2^-32 to a multiple of it ---- */

typedef struct MathAngleSingle {
    uint64_t quadrant;
    double sine, cosine; /* of the rest */
} MathAngleSingle;

MATH_INLINE MathAngleSingle math_angle_single(double x)
{
    double k = math_nearest(x * MATH_TWO_OVER_PI);
    double r = (x - k * MATH_PI_2_1) - k * (MATH_PI_2_2 + MATH_PI_2_3);
    double z = r * r;
    double sine = r + r * z * math_sin_tail_f32(z);
    double cosine = 1.0 - z * (0.5 - z * math_cos_tail_f32(z));
    return (MathAngleSingle){math_integer_bits(k), sine, cosine};
}

MATH_INLINE double math_sin_single(MathAngleSingle angle)
{
    double value = math_select((angle.quadrant & 1) != 0, angle.cosine, angle.sine);
    return math_of_bits(math_bits(value) ^ (angle.quadrant & 2) << 62);
}

MATH_INLINE bool math_is_huge_angle_f32(float x)
{
    return math_is_huge_angle((double)x);
}

MATH_INLINE float math_sin_fast_f32(float x)
{
    double wide = (double)x;
    return (float)math_select(wide == 0.0, wide, math_sin_single(math_angle_single(wide)));
}

MATH_INLINE float math_cos_fast_f32(float x)
{
    MathAngleSingle angle = math_angle_single((double)x);
    angle.quadrant++;
    return (float)math_sin_single(angle);
}

MATH_INLINE float math_tan_fast_f32(float x)
{
    double wide = (double)x;
    MathAngleSingle angle = math_angle_single(wide);
    bool is_odd = (angle.quadrant & 1) != 0;
    double result = math_select(is_odd, -angle.cosine, angle.sine) / math_select(is_odd, angle.sine, angle.cosine);
    return (float)math_select(wide == 0.0, wide, result);
}

#define MATH_ANGLE_FUNCTION_F32(name)                                                                                 \
    static inline float math_##name##_slow_f32(float x)                                                               \
    {                                                                                                                 \
        return (float)math_##name##_slow((double)x);                                                                  \
    }                                                                                                                 \
    static inline float math_##name##_f32(float x)                                                                    \
    {                                                                                                                 \
        return math_is_huge_angle_f32(x) ? math_##name##_slow_f32(x) : math_##name##_fast_f32(x);                     \
    }
MATH_ANGLE_FUNCTION_F32(sin)
MATH_ANGLE_FUNCTION_F32(cos)
MATH_ANGLE_FUNCTION_F32(tan)
#undef MATH_ANGLE_FUNCTION_F32

/* ---- inverses, as in arc.h without the pairs ---- */

MATH_INLINE double math_arc_single(double magnitude, bool is_large)
{
    double half = 0.5 * (1.0 - magnitude);
    double z = math_select(is_large, half, magnitude * magnitude);
    double u = math_select(is_large, sqrt(half), magnitude);
    return u + u * z * math_asin_tail_f32(z);
}

MATH_INLINE float math_asin_f32(float x)
{
    double magnitude = math_magnitude((double)x);
    bool is_large = magnitude > 0.5;
    double arc = math_arc_single(magnitude, is_large);
    return (float)math_with_sign(math_select(is_large, MATH_HALF_PI - 2.0 * arc, arc), (double)x);
}

MATH_INLINE float math_acos_f32(float x)
{
    double wide = (double)x;
    double magnitude = math_magnitude(wide);
    bool is_large = magnitude > 0.5;
    double arc = math_arc_single(magnitude, is_large);
    double large = math_select(wide > 0.0, 2.0 * arc, MATH_PI - 2.0 * arc);
    return (float)math_select(is_large, large, MATH_HALF_PI - math_times_sign(arc, wide));
}

MATH_INLINE double math_angle_of_single(double y, double x, bool is_left)
{
    bool is_steep = y > x * 0x1.3504f333f9de6p+1;
    bool is_middle = (y > x * 0x1.a827999fcef32p-2) & !is_steep;
    double above = math_select(is_middle, y - x, math_select(is_steep, -x, y));
    double below = math_select(is_middle, y + x, math_select(is_steep, y, x));
    double u = above / below;
    double z = u * u;
    double base = math_select(is_middle, MATH_QUARTER_PI, math_select(is_steep, MATH_HALF_PI, 0.0));
    double angle = base + (u + u * z * math_atan_tail_f32(z));
    return math_select(is_left, MATH_PI - angle, angle);
}

MATH_INLINE float math_atan_f32(float x)
{
    double angle = math_angle_of_single(math_at_most(math_magnitude((double)x), 0x1p60), 1.0, false);
    return (float)math_with_sign(angle, (double)x);
}

MATH_INLINE float math_atan2_f32(float y, float x)
{
    double a = math_magnitude((double)y), b = math_magnitude((double)x);
    bool is_left = (math_bits((double)x) >> 63) != 0;
    bool is_up = a == MATH_INFINITY, is_aside = (b == MATH_INFINITY) | ((a == 0.0) & (b == 0.0));
    a = math_select(is_up, 1.0, math_select(is_aside, 0.0, a));
    b = math_select(is_aside, 1.0, math_select(is_up, 0.0, b));
    double angle = math_with_sign(math_angle_of_single(a, b, is_left), (double)y);
    bool is_nan = (x != x) | (y != y);
    return (float)math_select(is_nan, MATH_NAN, angle);
}

/* ---- those that round the f64 function's result (math/basic.h) ---- */

MATH_ROUNDED_1(MATH_INLINE, expm1)
MATH_ROUNDED_1(MATH_INLINE, log1p)
MATH_ROUNDED_1(MATH_INLINE, sinh)
MATH_ROUNDED_1(MATH_INLINE, cosh)
MATH_ROUNDED_1(MATH_INLINE, tanh)
MATH_ROUNDED_1(MATH_INLINE, asinh)
MATH_ROUNDED_1(MATH_INLINE, acosh)
MATH_ROUNDED_1(MATH_INLINE, atanh)
MATH_ROUNDED_1(MATH_INLINE, cbrt)
MATH_ROUNDED_2(MATH_INLINE, pow)
MATH_ROUNDED_1(static inline, erf)
MATH_ROUNDED_1(static inline, erfc)
MATH_ROUNDED_1(static inline, gamma)
MATH_ROUNDED_1(static inline, lgamma)
MATH_ROUNDED_2(static inline, hypot)

#endif
