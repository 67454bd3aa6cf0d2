/* Operations on scalars by their row in math/scalar_ops.def. */
#include "math/elementary.h"
#include "math/scalar.h"

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

static const struct {
    ScalarUnary unary;
    ScalarBinary binary;
    ScalarPartial partial;
    unsigned orders;
} rows[OP_COUNT] = {
#define SCALAR_UNARY(OP, function) [OP_##OP] = {.unary = function},
#define SCALAR_BINARY(OP, function) [OP_##OP] = {.binary = function},
#define SCALAR_PARTIAL(OP, function) [OP_##OP] = {.partial = function},
#define SCALAR_MATH_1(OP, name) [OP_##OP] = {.unary = apply_##OP},
#define SCALAR_MATH_2(OP, name) [OP_##OP] = {.binary = apply_##OP},
#define SCALAR_COMPARISON(OP, accepted) [OP_##OP] = {.orders = accepted},
#include "math/scalar_ops.def"
};

bool scalar_apply(Op op, ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)
{
    if (rows[op].partial != NULL)
        return rows[op].partial(operand, target, arguments, result);
    if (rows[op].unary != NULL)
        *result = rows[op].unary(operand, arguments[0]);
    else if (rows[op].binary != NULL)
        *result = rows[op].binary(operand, arguments[0], arguments[1]);
    else if (rows[op].orders != 0)
        *result = (Scalar){.integer = (scalar_order(operand, arguments[0], arguments[1]) & rows[op].orders) != 0};
    else
        return false;
    return true;
}
