/* Scalar operations of the reference interpreter: computed by math/scalar.h; here are their errors, and random draws. */
#include "ref/ref_private.h"

#include <inttypes.h>

static ScalarType scalar_type(const OpCall *call)
{
    return type_scalar(call->machine->types, ref_argument_type(call, 0));
}

/* ---- errors ---- */

static bool fail_division(OpCall *call)
{
    Interpreter *machine = call->machine;
    Span span = call->statement->span;
    if (call->statement->op == OP_REMAINDER)
        return ref_fail_in(machine, ERROR_DIVISION_BY_ZERO, span, "division by zero in rem",
                           "Divide by zero in function REM.");
    if (call->statement->op == OP_MODULO)
        return ref_fail_in(machine, ERROR_DIVISION_BY_ZERO, span, "division by zero in mod",
                           "Divide by zero in function MOD.");
    return ref_fail_in(machine, ERROR_DIVISION_BY_ZERO, span, "division by zero", "Divide by zero.");
}

static bool fail_power(OpCall *call)
{
    return ref_fail_in(call->machine, ERROR_BAD_ARGUMENT, call->statement->span,
                       "the exponent of ^ must not be negative, it is %" PRId64,
                       "The power must be nonnegative for ^ . (%" PRId64 ")", call->arguments[1].scalar.integer);
}

/* A float that is outside the range of an integer type; characters have the codes of all integers. */
static bool fail_conversion(OpCall *call)
{
    ScalarType target = type_scalar(call->machine->types, ref_result_type(call));
    Scalar value = call->arguments[0].scalar;
    Text *number = &call->machine->text;
    text_clear(number);
    if (scalar_type(call) == SCALAR_F32)
        value_print_f32(value.f32, number);
    else
        value_print_f64(value.f64, number);
    bool is_nan = scalar_is_nan(scalar_type(call), value).bits != 0;
    const char *format = is_nan ? "%s cannot be converted to %s" : "%s is outside the range of %s";
    return ref_fail(call->machine, ERROR_CONVERSION_RANGE, call->statement->span, format, text_string(number),
                    scalar_name(target == SCALAR_CHAR ? SCALAR_I64 : target));
}

static bool fail_scalar(OpCall *call)
{
    Op op = call->statement->op;
    if (op == OP_DIVIDE || op == OP_REMAINDER || op == OP_MODULO)
        return fail_division(call);
    return op == OP_POWER ? fail_power(call) : fail_conversion(call);
}

bool ref_op_scalar(OpCall *call)
{
    Scalar operands[REF_ARGUMENTS_MAX] = {0};
    uint32_t count = call->statement->argument_count;
    for (uint32_t i = 0; i < count; i++)
        operands[i] = call->arguments[i].scalar;
    ScalarType target = type_scalar(call->machine->types, ref_result_type(call));
    return scalar_apply(call->statement->op, count == 0 ? target : scalar_type(call), target, operands,
                        &call->result.scalar) ||
           fail_scalar(call);
}

/* ---- random numbers ---- */

static bool fail_rand(OpCall *call)
{
    Text *number = &call->machine->text;
    text_clear(number);
    ValueFormat format = {.style = VALUE_STYLE_RUNNEL};
    value_print(call->machine->types, ref_argument_type(call, 0), call->arguments[0], format, number);
    return ref_fail_in(call->machine, ERROR_BAD_ARGUMENT, call->statement->span,
                       "rand needs a positive number, not %s", "Rand only works with positive numbers. (%s)",
                       text_string(number));
}

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
        return fail_rand(call);
    uint64_t bits = random_draw(&call->machine->random);
    if (type == SCALAR_F64)
        call->result.scalar = scalar_of_f64(random_scale_f64(bits, limit.f64));
    else if (type == SCALAR_F32)
        call->result.scalar = scalar_of_f32(random_scale_f32(bits, limit.f32));
    else
        call->result.scalar.bits = random_below(bits, limit.bits);
    return true;
}
