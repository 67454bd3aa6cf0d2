/* Scalar operations of the reference interpreter, computed by math/scalar.h, and random draws. */
#include "ref/ref_private.h"

static ScalarType scalar_type(const OpCall *call)
{
    return type_scalar(call->machine->types, ref_argument_type(call, 0));
}

bool ref_op_scalar(OpCall *call)
{
    Scalar operands[REF_ARGUMENTS_MAX] = {0};
    uint32_t count = call->statement->argument_count;
    for (uint32_t i = 0; i < count; i++)
        operands[i] = call->arguments[i].scalar;
    ScalarType target = type_scalar(call->machine->types, ref_result_type(call));
    ScalarType operand = count == 0 ? target : scalar_type(call);
    return scalar_apply(call->statement->op, operand, target, operands, &call->result.scalar) ||
           failure_scalar(ref_op_failure(call), call->statement->op, operand, target, operands);
}

/* ---- random numbers ---- */

static bool is_positive(ScalarType type, Scalar a)
{
    if (type == SCALAR_F64)
        return a.f64 > 0.0 && a.f64 < (double)INFINITY;
    if (type == SCALAR_F32)
        return a.f32 > 0.0f && a.f32 < INFINITY;
    return scalar_kind(type) == KIND_SIGNED ? a.integer > 0 : a.bits > 0;
}

bool ref_op_rand(OpCall *call)
{
    ScalarType type = scalar_type(call);
    Scalar limit = call->arguments[0].scalar;
    if (!is_positive(type, limit))
        return failure_rand(ref_op_failure(call), type, limit);
    uint64_t bits = random_draw(&call->machine->random);
    if (type == SCALAR_F64)
        call->result.scalar = scalar_of_f64(random_scale_f64(bits, limit.f64));
    else if (type == SCALAR_F32)
        call->result.scalar = scalar_of_f32(random_scale_f32(bits, limit.f32));
    else
        call->result.scalar.bits = random_below(bits, limit.bits);
    return true;
}
