/* Elementary functions: one piece of C each, used by every engine, so that results agree to the bit (math/bits.h says how
 * they are written, docs/math.md how accurate they are). `math_NAME` is of f64, `math_NAME_f32` of f32. This header
 * includes them all. */
#ifndef RUNNEL_MATH_ELEMENTARY_H
#define RUNNEL_MATH_ELEMENTARY_H

#include "math/arc.h"
#include "math/exp.h"
#include "math/log.h"
#include "math/power.h"
#include "math/single.h"
#include "math/special.h"
#include "math/trig.h"

/* Correctly rounded by IEEE 754, in every library and on every machine. */
MATH_INLINE double math_sqrt(double x)
{
    return sqrt(x);
}

MATH_INLINE float math_sqrt_f32(float x)
{
    return sqrtf(x);
}

static inline double math_fma(double x, double y, double z)
{
    return fma(x, y, z);
}

static inline float math_fma_f32(float x, float y, float z)
{
    return fmaf(x, y, z);
}

static inline double math_log_base(double x, double base)
{
    return math_ln(x) / math_ln(base);
}

static inline float math_log_base_f32(float x, float base)
{
    return math_ln_f32(x) / math_ln_f32(base);
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
