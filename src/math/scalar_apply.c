/* Operations on scalars by their row in math/scalar_ops.def. */
#include "math/scalar_math.h"

static const struct {
    ScalarUnary unary;
    ScalarBinary binary;
    ScalarPartial partial;
    unsigned orders;
} rows[OP_COUNT] = {
#define SCALAR_UNARY(OP, function) [OP_##OP] = {.unary = function},
#define SCALAR_BINARY(OP, function) [OP_##OP] = {.binary = function},
#define SCALAR_PARTIAL(OP, function) [OP_##OP] = {.partial = function},
#define SCALAR_COMPARISON(OP, accepted) [OP_##OP] = {.orders = accepted},
#include "math/scalar_ops.def"
};

static const ScalarMath *math_row(Op op)
{
    static const ScalarMath *const tables[VECTOR_LEVEL_COUNT] = {
#define TABLE(level) [VECTOR_##level] = VECTOR_NAME_AT(scalar_math, level),
        VECTOR_LEVELS(TABLE)
#undef TABLE
    };
    return &tables[vector_level()][op];
}

/* False if it is none. */
static bool apply_math(Op op, ScalarType operand, const Scalar *arguments, Scalar *result)
{
    const ScalarMath *math = math_row(op);
    if (math->unary != NULL)
        *result = math->unary(operand, arguments[0]);
    else if (math->binary != NULL)
        *result = math->binary(operand, arguments[0], arguments[1]);
    return math->unary != NULL || math->binary != NULL;
}

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
        return apply_math(op, operand, arguments, result);
    return true;
}
