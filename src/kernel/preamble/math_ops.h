/* The elementary functions as operations (see ops.h). Which are rows of math/functions.def: those of kind VECTOR vectorise; those of kind ANGLE do
 * in their fast version, which is right but for huge angles; those of kind SCALAR do not. ln and exp of f64 vectorise, but the versions for usual
 * operands take a third less time. */
#ifndef RUNNEL_KERNEL_PREAMBLE_MATH_OPS_H
#define RUNNEL_KERNEL_PREAMBLE_MATH_OPS_H

#include "kernel/preamble/ops.h"
#include "math/elementary.h"

MATH_INLINE double op_angle_F64(double x, OpFlag *slow)
{
    *slow |= math_is_huge_angle(x);
    return x;
}

/* All of f32 that is too large is so in f64. */
MATH_INLINE float op_angle_F32(float x, OpFlag *slow)
{
    return (float)op_angle_F64((double)x, slow);
}

/* What is not usual only sets the flag. */
#define OP_USUAL(name)                                                                                                \
    MATH_INLINE double op_##name##_usual(double x, OpFlag *slow)                                                      \
    {                                                                                                                 \
        *slow |= UINT64_C(0) - (uint64_t)!math_is_usual_for_##name(x); /* a mask, as comparisons of vectors give it */  \
        return math_##name##_usual(x);                                                                                \
    }
OP_USUAL(ln)
OP_USUAL(exp)
#undef OP_USUAL

#define OP_MATH_ROWS_OF(A, UNARY, BINARY, UNARY_FAST)                                                                 \
    UNARY(LN, A, A, OP_NAME_##A(ln)(a))                                                                               \
    BINARY(LOG_BASE, A, A, A, OP_NAME_##A(log_base)(a, b))                                                            \
    UNARY(LOG2, A, A, OP_NAME_##A(log2)(a))                                                                           \
    UNARY(LOG10, A, A, OP_NAME_##A(log10)(a))                                                                         \
    UNARY(LOG1P, A, A, OP_NAME_##A(log1p)(a))                                                                         \
    UNARY(EXP, A, A, OP_NAME_##A(exp)(a))                                                                             \
    UNARY(EXP2, A, A, OP_NAME_##A(exp2)(a))                                                                           \
    UNARY(EXP10, A, A, OP_NAME_##A(exp10)(a))                                                                         \
    UNARY(EXPM1, A, A, OP_NAME_##A(expm1)(a))                                                                         \
    BINARY(EXPT, A, A, A, OP_NAME_##A(pow)(a, b))                                                                     \
    UNARY(CBRT, A, A, OP_NAME_##A(cbrt)(a))                                                                           \
    BINARY(HYPOT, A, A, A, OP_NAME_##A(hypot)(a, b))                                                                  \
    UNARY(SIN, A, A, OP_NAME_##A(sin)(a))                                                                             \
    UNARY(COS, A, A, OP_NAME_##A(cos)(a))                                                                             \
    UNARY(TAN, A, A, OP_NAME_##A(tan)(a))                                                                             \
    UNARY_FAST(SIN, A, A, OP_NAME_##A(sin_fast)(op_angle_##A(a, slow)))                                               \
    UNARY_FAST(COS, A, A, OP_NAME_##A(cos_fast)(op_angle_##A(a, slow)))                                               \
    UNARY_FAST(TAN, A, A, OP_NAME_##A(tan_fast)(op_angle_##A(a, slow)))                                               \
    UNARY(ASIN, A, A, OP_NAME_##A(asin)(a))                                                                           \
    UNARY(ACOS, A, A, OP_NAME_##A(acos)(a))                                                                           \
    UNARY(ATAN, A, A, OP_NAME_##A(atan)(a))                                                                           \
    BINARY(ATAN2, A, A, A, OP_NAME_##A(atan2)(a, b))                                                                  \
    UNARY(SINH, A, A, OP_NAME_##A(sinh)(a))                                                                           \
    UNARY(COSH, A, A, OP_NAME_##A(cosh)(a))                                                                           \
    UNARY(TANH, A, A, OP_NAME_##A(tanh)(a))                                                                           \
    UNARY(ASINH, A, A, OP_NAME_##A(asinh)(a))                                                                         \
    UNARY(ACOSH, A, A, OP_NAME_##A(acosh)(a))                                                                         \
    UNARY(ATANH, A, A, OP_NAME_##A(atanh)(a))                                                                         \
    UNARY(ERF, A, A, OP_NAME_##A(erf)(a))                                                                             \
    UNARY(ERFC, A, A, OP_NAME_##A(erfc)(a))                                                                           \
    UNARY(GAMMA, A, A, OP_NAME_##A(gamma)(a))                                                                         \
    UNARY(LGAMMA, A, A, OP_NAME_##A(lgamma)(a))
#define OP_MATH_ROWS(UNARY, BINARY, UNARY_FAST)                                                                       \
    OP_IF_F32(OP_MATH_ROWS_OF(F32, UNARY, BINARY, UNARY_FAST))                                                        \
    OP_IF_F64(OP_MATH_ROWS_OF(F64, UNARY, BINARY, UNARY_FAST))                                                        \
    OP_IF_F64(UNARY_FAST(LN, F64, F64, op_ln_usual(a, slow)))                                                         \
    OP_IF_F64(UNARY_FAST(EXP, F64, F64, op_exp_usual(a, slow)))

OP_MATH_ROWS(OP_DEFINE_UNARY, OP_DEFINE_BINARY, OP_DEFINE_UNARY_FAST)

#endif
