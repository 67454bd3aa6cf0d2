/* Scalar operations of the reference interpreter.
 *
 * Integers of all widths are computed in 64 bits without sign and cut back (scalar_wrap), so nothing overflows; f32 is
 * computed in f32. Every float result is canonical. */
#include "math/elementary.h"
#include "ref/ref_private.h"

#include <inttypes.h>

/* ---- making scalars ---- */

static Scalar of_f64(double value)
{
    return (Scalar){.f64 = math_canonical(value)};
}

static Scalar of_f32(float value)
{
    Scalar scalar = {0}; /* the upper half is zero, so that bits can be compared */
    scalar.f32 = math_canonical_f32(value);
    return scalar;
}

static Scalar of_bits(ScalarType type, uint64_t bits)
{
    return (Scalar){.integer = scalar_wrap(type, (int64_t)bits)};
}

static bool is_signed(ScalarType type)
{
    return scalar_kind(type) == KIND_SIGNED;
}

Scalar ref_scalar_of_int(ScalarType type, int64_t value)
{
    if (type == SCALAR_F64)
        return of_f64((double)value);
    if (type == SCALAR_F32)
        return of_f32((float)value);
    return of_bits(type, (uint64_t)value);
}

static uint64_t low_ones(uint32_t bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

Scalar ref_least(ScalarType type)
{
    switch (scalar_kind(type)) {
    case KIND_FLOATING:
        return type == SCALAR_F32 ? of_f32(-INFINITY) : of_f64(-(double)INFINITY);
    case KIND_SIGNED:
        return of_bits(type, UINT64_C(1) << (scalar_bits(type) - 1));
    case KIND_TRUTH:
    case KIND_CHARACTER:
    case KIND_UNSIGNED:
        break;
    }
    return (Scalar){.bits = 0};
}

Scalar ref_greatest(ScalarType type)
{
    switch (scalar_kind(type)) {
    case KIND_FLOATING:
        return type == SCALAR_F32 ? of_f32(INFINITY) : of_f64((double)INFINITY);
    case KIND_SIGNED:
        return of_bits(type, low_ones(scalar_bits(type)) >> 1);
    case KIND_TRUTH:
        return (Scalar){.bits = 1};
    case KIND_CHARACTER:
    case KIND_UNSIGNED:
        break;
    }
    return (Scalar){.bits = low_ones(scalar_bits(type))};
}

Scalar ref_all_ones(ScalarType type)
{
    return type == SCALAR_BOOL ? (Scalar){.bits = 1} : of_bits(type, UINT64_MAX);
}

/* ---- arithmetic and logic ---- */

#define ARITHMETIC(name, operator)                                                                                    \
    Scalar ref_##name(ScalarType type, Scalar a, Scalar b)                                                            \
    {                                                                                                                 \
        if (type == SCALAR_F64)                                                                                       \
            return of_f64(a.f64 operator b.f64);                                                                      \
        if (type == SCALAR_F32)                                                                                       \
            return of_f32(a.f32 operator b.f32);                                                                      \
        return of_bits(type, a.bits operator b.bits);                                                                 \
    }
ARITHMETIC(add, +)
ARITHMETIC(subtract, -)
ARITHMETIC(multiply, *)

Scalar ref_and(ScalarType type, Scalar a, Scalar b)
{
    return of_bits(type, a.bits & b.bits);
}

Scalar ref_or(ScalarType type, Scalar a, Scalar b)
{
    return of_bits(type, a.bits | b.bits);
}

Scalar ref_xor(ScalarType type, Scalar a, Scalar b)
{
    return of_bits(type, a.bits ^ b.bits);
}

Scalar ref_not(ScalarType type, Scalar a)
{
    return ref_xor(type, a, ref_all_ones(type));
}

Scalar ref_nand(ScalarType type, Scalar a, Scalar b)
{
    return ref_not(type, ref_and(type, a, b));
}

Scalar ref_nor(ScalarType type, Scalar a, Scalar b)
{
    return ref_not(type, ref_or(type, a, b));
}

Scalar ref_negate(ScalarType type, Scalar a)
{
    if (type == SCALAR_F64)
        return of_f64(-a.f64);
    if (type == SCALAR_F32)
        return of_f32(-a.f32);
    return of_bits(type, UINT64_C(0) - a.bits);
}

Scalar ref_absolute(ScalarType type, Scalar a)
{
    if (type == SCALAR_F64)
        return of_f64(fabs(a.f64));
    if (type == SCALAR_F32)
        return of_f32(fabsf(a.f32));
    return is_signed(type) && a.integer < 0 ? ref_negate(type, a) : a;
}

/* Nan if either is; -0 lies below +0. */
static bool float_is_below(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static bool is_below(ScalarType type, Scalar a, Scalar b)
{
    if (type == SCALAR_F64)
        return float_is_below(a.f64, b.f64);
    if (type == SCALAR_F32)
        return float_is_below((double)a.f32, (double)b.f32);
    return is_signed(type) ? a.integer < b.integer : a.bits < b.bits;
}

static bool is_nan(ScalarType type, Scalar a)
{
    return (type == SCALAR_F64 && a.f64 != a.f64) || (type == SCALAR_F32 && a.f32 != a.f32);
}

Scalar ref_minimum(ScalarType type, Scalar a, Scalar b)
{
    if (is_nan(type, a) || is_nan(type, b))
        return is_nan(type, a) ? a : b;
    return is_below(type, b, a) ? b : a;
}

Scalar ref_maximum(ScalarType type, Scalar a, Scalar b)
{
    if (is_nan(type, a) || is_nan(type, b))
        return is_nan(type, a) ? a : b;
    return is_below(type, a, b) ? b : a;
}

/* ---- division ---- */

static ScalarType scalar_type(const OpCall *call)
{
    return type_scalar(call->machine->types, ref_argument_type(call, 0));
}

static Scalar quotient(ScalarType type, Scalar a, Scalar b)
{
    if (!is_signed(type))
        return of_bits(type, a.bits / b.bits);
    if (b.integer == -1)
        return ref_negate(type, a); /* min / -1 wraps */
    return of_bits(type, (uint64_t)(a.integer / b.integer));
}

static Scalar remainder_of(ScalarType type, Scalar a, Scalar b)
{
    if (!is_signed(type))
        return of_bits(type, a.bits % b.bits);
    if (b.integer == -1)
        return (Scalar){.integer = 0};
    return of_bits(type, (uint64_t)(a.integer % b.integer));
}

bool ref_op_divide(OpCall *call)
{
    ScalarType type = scalar_type(call);
    Scalar a = call->arguments[0].scalar, b = call->arguments[1].scalar;
    if (type == SCALAR_F64)
        call->result.scalar = of_f64(a.f64 / b.f64);
    else if (type == SCALAR_F32)
        call->result.scalar = of_f32(a.f32 / b.f32);
    else if (b.bits == 0)
        return ref_fail_in(call->machine, ERROR_DIVISION_BY_ZERO, call->statement->span, "division by zero",
                           "Divide by zero.");
    else
        call->result.scalar = quotient(type, a, b);
    return true;
}

bool ref_op_remainder(OpCall *call)
{
    Scalar a = call->arguments[0].scalar, b = call->arguments[1].scalar;
    if (b.bits == 0)
        return ref_fail_in(call->machine, ERROR_DIVISION_BY_ZERO, call->statement->span, "division by zero in rem",
                           "Divide by zero in function REM.");
    call->result.scalar = remainder_of(scalar_type(call), a, b);
    return true;
}

bool ref_op_modulo(OpCall *call)
{
    ScalarType type = scalar_type(call);
    Scalar a = call->arguments[0].scalar, b = call->arguments[1].scalar;
    if (b.bits == 0)
        return ref_fail_in(call->machine, ERROR_DIVISION_BY_ZERO, call->statement->span, "division by zero in mod",
                           "Divide by zero in function MOD.");
    Scalar remainder = remainder_of(type, a, b);
    if (is_signed(type) && remainder.integer != 0 && (remainder.integer < 0) != (b.integer < 0))
        remainder = ref_add(type, remainder, b);
    call->result.scalar = remainder;
    return true;
}

/* ---- powers and shifts ---- */

static uint64_t integer_power(uint64_t x, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, x *= x)
        if (exponent & 1)
            result *= x;
    return result;
}

bool ref_op_power(OpCall *call)
{
    ScalarType type = scalar_type(call);
    Scalar a = call->arguments[0].scalar;
    int64_t exponent = call->arguments[1].scalar.integer;
    if (exponent < 0)
        return ref_fail_in(call->machine, ERROR_BAD_ARGUMENT, call->statement->span,
                           "the exponent of ^ must not be negative, it is %" PRId64,
                           "The power must be nonnegative for ^ . (%" PRId64 ")", exponent);
    if (type == SCALAR_F64)
        call->result.scalar = of_f64(math_power(a.f64, (uint64_t)exponent));
    else if (type == SCALAR_F32)
        call->result.scalar = of_f32(math_power_f32(a.f32, (uint64_t)exponent));
    else
        call->result.scalar = of_bits(type, integer_power(a.bits, (uint64_t)exponent));
    return true;
}

/* The count modulo the width, which is a power of two. */
static uint32_t shift_count(const OpCall *call)
{
    return (uint32_t)(call->arguments[1].scalar.bits & (scalar_bits(scalar_type(call)) - 1));
}

bool ref_op_shift_left(OpCall *call)
{
    call->result.scalar = of_bits(scalar_type(call), call->arguments[0].scalar.bits << shift_count(call));
    return true;
}

bool ref_op_shift_right(OpCall *call)
{
    ScalarType type = scalar_type(call);
    uint64_t bits = call->arguments[0].scalar.bits;
    /* of a negative number the complement is shifted: C leaves the other way open */
    bool is_flipped = is_signed(type) && call->arguments[0].scalar.integer < 0;
    call->result.scalar = of_bits(type, is_flipped ? ~(~bits >> shift_count(call)) : bits >> shift_count(call));
    return true;
}

/* ---- conversions ---- */

static bool float_fits(ScalarType target, double whole)
{
    double limit = ldexp(1.0, (int)scalar_bits(target) - (is_signed(target) ? 1 : 0));
    double least = is_signed(target) ? -limit : 0.0;
    return whole >= least && whole < limit;
}

static bool fail_conversion(OpCall *call, ScalarType target, double value)
{
    Text *number = &call->machine->text;
    text_clear(number);
    if (scalar_type(call) == SCALAR_F32)
        value_print_f32((float)value, number);
    else
        value_print_f64(value, number);
    const char *format = value == value ? "%s is outside the range of %s" : "%s cannot be converted to %s";
    Span span = call->statement->span;
    return ref_fail(call->machine, ERROR_CONVERSION_RANGE, span, format, text_string(number), scalar_name(target));
}

static bool float_to_integer(OpCall *call, ScalarType target, double value, double whole)
{
    if (!float_fits(target, whole))
        return fail_conversion(call, target, value);
    if (is_signed(target))
        call->result.scalar.integer = (int64_t)whole;
    else
        call->result.scalar.bits = (uint64_t)whole;
    return true;
}

static double float_argument(const OpCall *call)
{
    Scalar a = call->arguments[0].scalar;
    return scalar_type(call) == SCALAR_F32 ? (double)a.f32 : a.f64;
}

static bool convert_from_float(OpCall *call, ScalarType target)
{
    double value = float_argument(call);
    switch (scalar_kind(target)) {
    case KIND_FLOATING:
        call->result.scalar = target == SCALAR_F32 ? of_f32((float)value) : of_f64(value);
        return true;
    case KIND_TRUTH:
        call->result.scalar = (Scalar){.integer = value != 0.0};
        return true;
    case KIND_CHARACTER:
        if (!float_to_integer(call, SCALAR_I64, value, trunc(value)))
            return false;
        call->result.scalar = of_bits(SCALAR_CHAR, call->result.scalar.bits);
        return true;
    case KIND_SIGNED:
    case KIND_UNSIGNED:
        break;
    }
    return float_to_integer(call, target, value, trunc(value));
}

static Scalar convert_from_integer(ScalarType source, ScalarType target, Scalar a)
{
    if (target == SCALAR_BOOL)
        return (Scalar){.integer = a.bits != 0};
    if (target == SCALAR_F64)
        return of_f64(is_signed(source) ? (double)a.integer : (double)a.bits);
    if (target == SCALAR_F32)
        return of_f32(is_signed(source) ? (float)a.integer : (float)a.bits);
    return of_bits(target, a.bits);
}

bool ref_op_convert(OpCall *call, ScalarType target)
{
    ScalarType source = scalar_type(call);
    if (scalar_kind(source) == KIND_FLOATING)
        return convert_from_float(call, target);
    call->result.scalar = convert_from_integer(source, target, call->arguments[0].scalar);
    return true;
}

bool ref_op_float_to_int(OpCall *call, double (*rounding)(double))
{
    double value = float_argument(call);
    return float_to_integer(call, SCALAR_I64, value, rounding(value));
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
    return is_signed(type) ? a.integer > 0 : a.bits > 0;
}

bool ref_op_rand(OpCall *call)
{
    ScalarType type = scalar_type(call);
    Scalar limit = call->arguments[0].scalar;
    if (!is_positive(type, limit))
        return fail_rand(call);
    uint64_t bits = random_draw(&call->machine->random);
    if (type == SCALAR_F64)
        call->result.scalar = of_f64(random_scale_f64(bits, limit.f64));
    else if (type == SCALAR_F32)
        call->result.scalar = of_f32(random_scale_f32(bits, limit.f32));
    else
        call->result.scalar.bits = random_below(bits, limit.bits);
    return true;
}
