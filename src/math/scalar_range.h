/* Ranges of any scalar type (see range.h). */
#ifndef RUNNEL_MATH_SCALAR_RANGE_H
#define RUNNEL_MATH_SCALAR_RANGE_H

#include "math/range.h"
#include "math/scalar.h"

static inline bool range_step_is_zero(ScalarType type, Scalar step)
{
    return type == SCALAR_F64 ? step.f64 == 0.0 : type == SCALAR_F32 ? step.f32 == 0.0f : step.bits == 0;
}

/* The step is not zero. */
static inline uint64_t range_count(ScalarType type, Scalar first, Scalar end, Scalar step)
{
    if (type == SCALAR_F64)
        return range_count_f64(first.f64, end.f64, step.f64);
    if (type == SCALAR_F32)
        return range_count_f32(first.f32, end.f32, step.f32);
    return scalar_kind(type) == KIND_SIGNED ? range_count_signed(first.integer, end.integer, step.integer)
                                            : range_count_unsigned(first.bits, end.bits, step.bits);
}

/* Of integers, the last included; the one range of 2^64 elements counts as one less, which nobody can hold either. */
static inline uint64_t range_count_inclusive(ScalarType type, Scalar first, Scalar last)
{
    bool is_empty = scalar_kind(type) == KIND_SIGNED ? last.integer < first.integer : last.bits < first.bits;
    uint64_t distance = last.bits - first.bits;
    return is_empty ? 0 : distance == UINT64_MAX ? UINT64_MAX : distance + 1;
}

#endif
