#include "math/scalar_math.h"

#include "math/elementary.h"

#define SCALAR_MATH_1(OP, name)                                                                                       \
    static Scalar apply_##OP(ScalarType type, Scalar a)                                                               \
    {                                                                                                                 \
        return type == SCALAR_F32 ? scalar_of_f32(math_##name##_f32(a.f32)) : scalar_of_f64(math_##name(a.f64));      \
    }
#define SCALAR_MATH_2(OP, name)                                                                                       \
    static Scalar apply_##OP(ScalarType type, Scalar a, Scalar b)                                                     \
    {                                                                                                                 \
        return type == SCALAR_F32 ? scalar_of_f32(math_##name##_f32(a.f32, b.f32))                                    \
                                  : scalar_of_f64(math_##name(a.f64, b.f64));                                         \
    }
#include "math/scalar_ops.def"

const ScalarMath VECTOR_NAME(scalar_math)[OP_COUNT] = {
#define SCALAR_MATH_1(OP, name) [OP_##OP] = {.unary = apply_##OP},
#define SCALAR_MATH_2(OP, name) [OP_##OP] = {.binary = apply_##OP},
#include "math/scalar_ops.def"
};
