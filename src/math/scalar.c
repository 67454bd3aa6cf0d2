#include "math/scalar.h"

#include "math/elementary.h"
#include "math/random.h"

#include <string.h>

/* ---- making scalars ---- */

Scalar scalar_of_f64(double value)
{
    return (Scalar){.f64 = math_canonical(value)};
}

Scalar scalar_of_f32(float value)
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

Scalar scalar_of_int(ScalarType type, int64_t value)
{
    if (type == SCALAR_F64)
        return scalar_of_f64((double)value);
    if (type == SCALAR_F32)
        return scalar_of_f32((float)value);
    return of_bits(type, (uint64_t)value);
}

static uint64_t low_ones(uint32_t bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

Scalar scalar_least(ScalarType type)
{
    switch (scalar_kind(type)) {
    case KIND_FLOATING:
        return type == SCALAR_F32 ? scalar_of_f32(-INFINITY) : scalar_of_f64(-(double)INFINITY);
    case KIND_SIGNED:
        return of_bits(type, UINT64_C(1) << (scalar_bits(type) - 1));
    case KIND_TRUTH:
    case KIND_CHARACTER:
    case KIND_UNSIGNED:
        break;
    }
    return (Scalar){.bits = 0};
}

Scalar scalar_greatest(ScalarType type)
{
    switch (scalar_kind(type)) {
    case KIND_FLOATING:
        return type == SCALAR_F32 ? scalar_of_f32(INFINITY) : scalar_of_f64((double)INFINITY);
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

Scalar scalar_all_ones(ScalarType type)
{
    return type == SCALAR_BOOL ? (Scalar){.bits = 1} : of_bits(type, UINT64_MAX);
}

/* ---- arithmetic and logic ---- */

#define ARITHMETIC(name, operator)                                                                                    \
    Scalar scalar_##name(ScalarType type, Scalar a, Scalar b)                                                            \
    {                                                                                                                 \
        if (type == SCALAR_F64)                                                                                       \
            return scalar_of_f64(a.f64 operator b.f64);                                                                      \
        if (type == SCALAR_F32)                                                                                       \
            return scalar_of_f32(a.f32 operator b.f32);                                                                      \
        return of_bits(type, a.bits operator b.bits);                                                                 \
    }
ARITHMETIC(add, +)
ARITHMETIC(subtract, -)
ARITHMETIC(multiply, *)

Scalar scalar_and(ScalarType type, Scalar a, Scalar b)
{
    return of_bits(type, a.bits & b.bits);
}

Scalar scalar_or(ScalarType type, Scalar a, Scalar b)
{
    return of_bits(type, a.bits | b.bits);
}

Scalar scalar_xor(ScalarType type, Scalar a, Scalar b)
{
    return of_bits(type, a.bits ^ b.bits);
}

Scalar scalar_not(ScalarType type, Scalar a)
{
    return scalar_xor(type, a, scalar_all_ones(type));
}

Scalar scalar_nand(ScalarType type, Scalar a, Scalar b)
{
    return scalar_not(type, scalar_and(type, a, b));
}

Scalar scalar_nor(ScalarType type, Scalar a, Scalar b)
{
    return scalar_not(type, scalar_or(type, a, b));
}

Scalar scalar_negate(ScalarType type, Scalar a)
{
    if (type == SCALAR_F64)
        return scalar_of_f64(-a.f64);
    if (type == SCALAR_F32)
        return scalar_of_f32(-a.f32);
    return of_bits(type, UINT64_C(0) - a.bits);
}

Scalar scalar_absolute(ScalarType type, Scalar a)
{
    if (type == SCALAR_F64)
        return scalar_of_f64(fabs(a.f64));
    if (type == SCALAR_F32)
        return scalar_of_f32(fabsf(a.f32));
    return is_signed(type) && a.integer < 0 ? scalar_negate(type, a) : a;
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

Scalar scalar_minimum(ScalarType type, Scalar a, Scalar b)
{
    if (is_nan(type, a) || is_nan(type, b))
        return is_nan(type, a) ? a : b;
    return is_below(type, b, a) ? b : a;
}

Scalar scalar_maximum(ScalarType type, Scalar a, Scalar b)
{
    if (is_nan(type, a) || is_nan(type, b))
        return is_nan(type, a) ? a : b;
    return is_below(type, a, b) ? b : a;
}

/* ---- order ---- */

Order scalar_order_of(bool is_less, bool is_equal, bool is_greater)
{
    return is_less ? ORDER_LESS : is_equal ? ORDER_EQUAL : is_greater ? ORDER_GREATER : ORDER_NONE;
}

Order scalar_order(ScalarType type, Scalar a, Scalar b)
{
    if (type == SCALAR_F64)
        return scalar_order_of(a.f64 < b.f64, a.f64 == b.f64, a.f64 > b.f64);
    if (type == SCALAR_F32)
        return scalar_order_of(a.f32 < b.f32, a.f32 == b.f32, a.f32 > b.f32);
    if (is_signed(type))
        return scalar_order_of(a.integer < b.integer, a.integer == b.integer, true);
    return scalar_order_of(a.bits < b.bits, a.bits == b.bits, true);
}

/* ---- division ---- */

static Scalar quotient(ScalarType type, Scalar a, Scalar b)
{
    if (!is_signed(type))
        return of_bits(type, a.bits / b.bits);
    if (b.integer == -1)
        return scalar_negate(type, a); /* min / -1 wraps */
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

bool scalar_divide(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)
{
    (void)target;
    Scalar a = arguments[0], b = arguments[1];
    if (operand == SCALAR_F64)
        *result = scalar_of_f64(a.f64 / b.f64);
    else if (operand == SCALAR_F32)
        *result = scalar_of_f32(a.f32 / b.f32);
    else if (b.bits == 0)
        return false;
    else
        *result = quotient(operand, a, b);
    return true;
}

bool scalar_remainder(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)
{
    (void)target;
    if (arguments[1].bits == 0)
        return false;
    *result = remainder_of(operand, arguments[0], arguments[1]);
    return true;
}

bool scalar_modulo(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)
{
    if (!scalar_remainder(operand, target, arguments, result))
        return false;
    if (is_signed(operand) && result->integer != 0 && (result->integer < 0) != (arguments[1].integer < 0))
        *result = scalar_add(operand, *result, arguments[1]);
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

bool scalar_power(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)
{
    (void)target;
    Scalar a = arguments[0];
    uint64_t exponent = arguments[1].bits;
    if (arguments[1].integer < 0)
        return false;
    if (operand == SCALAR_F64)
        *result = scalar_of_f64(math_power(a.f64, exponent));
    else if (operand == SCALAR_F32)
        *result = scalar_of_f32(math_power_f32(a.f32, exponent));
    else
        *result = of_bits(operand, integer_power(a.bits, exponent));
    return true;
}

/* The count modulo the width, which is a power of two; so for negative counts too. */
static uint32_t shift_count(ScalarType type, Scalar count)
{
    return (uint32_t)(count.bits & (scalar_bits(type) - 1));
}

Scalar scalar_shift_left(ScalarType type, Scalar a, Scalar count)
{
    return of_bits(type, a.bits << shift_count(type, count));
}

Scalar scalar_shift_right(ScalarType type, Scalar a, Scalar count)
{
    /* of a negative number the complement is shifted: C leaves the other way open */
    bool is_flipped = is_signed(type) && a.integer < 0;
    uint32_t places = shift_count(type, count);
    return of_bits(type, is_flipped ? ~(~a.bits >> places) : a.bits >> places);
}

/* ---- bits ---- */

/* The bits of an integer without what extends it to 64. */
static uint64_t cut(ScalarType type, Scalar a)
{
    return a.bits & low_ones(scalar_bits(type));
}

Scalar scalar_popcount(ScalarType type, Scalar a)
{
    int64_t count = 0;
    for (uint64_t bits = cut(type, a); bits != 0; bits &= bits - 1)
        count++;
    return (Scalar){.integer = count};
}

Scalar scalar_leading_zeros(ScalarType type, Scalar a)
{
    int64_t count = scalar_bits(type);
    for (uint64_t bits = cut(type, a); bits != 0; bits >>= 1)
        count--;
    return (Scalar){.integer = count};
}

Scalar scalar_trailing_zeros(ScalarType type, Scalar a)
{
    uint64_t bits = cut(type, a);
    int64_t count = 0;
    for (; count < (int64_t)scalar_bits(type) && (bits & 1) == 0; bits >>= 1)
        count++;
    return (Scalar){.integer = count};
}

Scalar scalar_reverse_bits(ScalarType type, Scalar a)
{
    uint64_t bits = cut(type, a), reversed = 0;
    for (uint32_t i = 0; i < scalar_bits(type); i++, bits >>= 1)
        reversed = reversed << 1 | (bits & 1);
    return of_bits(type, reversed);
}

Scalar scalar_rotate_bits(ScalarType type, Scalar a, Scalar count)
{
    uint32_t left = shift_count(type, count);
    uint64_t bits = cut(type, a);
    return left == 0 ? a : of_bits(type, bits << left | bits >> (scalar_bits(type) - left));
}

Scalar scalar_float_bits(ScalarType type, Scalar a)
{
    (void)type;
    return a;
}

Scalar scalar_bits_float(ScalarType type, Scalar a)
{
    (void)type;
    return scalar_of_f64(a.f64);
}

Scalar scalar_f32_bits(ScalarType type, Scalar a)
{
    (void)type;
    uint32_t bits;
    memcpy(&bits, &a.f32, sizeof bits);
    return (Scalar){.bits = bits};
}

Scalar scalar_bits_f32(ScalarType type, Scalar a)
{
    (void)type;
    uint32_t bits = (uint32_t)a.bits;
    float value;
    memcpy(&value, &bits, sizeof bits);
    return scalar_of_f32(value);
}

/* ---- conversions ---- */

static double widened(ScalarType type, Scalar a)
{
    return type == SCALAR_F32 ? (double)a.f32 : a.f64;
}

static bool float_fits(ScalarType target, double whole)
{
    double limit = ldexp(1.0, (int)scalar_bits(target) - (is_signed(target) ? 1 : 0));
    double least = is_signed(target) ? -limit : 0.0;
    return whole >= least && whole < limit;
}

static bool whole_to_integer(ScalarType target, double whole, Scalar *result)
{
    if (!float_fits(target, whole))
        return false;
    if (is_signed(target))
        result->integer = (int64_t)whole;
    else
        result->bits = (uint64_t)whole;
    return true;
}

static bool convert_from_float(ScalarType target, double value, Scalar *result)
{
    switch (scalar_kind(target)) {
    case KIND_FLOATING:
        *result = target == SCALAR_F32 ? scalar_of_f32((float)value) : scalar_of_f64(value);
        return true;
    case KIND_TRUTH:
        *result = (Scalar){.integer = value != 0.0};
        return true;
    case KIND_CHARACTER: /* any integer is the code of one, modulo 256 */
        if (!whole_to_integer(SCALAR_I64, trunc(value), result))
            return false;
        *result = of_bits(SCALAR_CHAR, result->bits);
        return true;
    case KIND_SIGNED:
    case KIND_UNSIGNED:
        break;
    }
    return whole_to_integer(target, trunc(value), result);
}

static Scalar convert_from_integer(ScalarType source, ScalarType target, Scalar a)
{
    if (target == SCALAR_BOOL)
        return (Scalar){.integer = a.bits != 0};
    if (target == SCALAR_F64)
        return scalar_of_f64(is_signed(source) ? (double)a.integer : (double)a.bits);
    if (target == SCALAR_F32)
        return scalar_of_f32(is_signed(source) ? (float)a.integer : (float)a.bits);
    return of_bits(target, a.bits);
}

bool scalar_convert(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)
{
    if (scalar_kind(operand) == KIND_FLOATING)
        return convert_from_float(target, widened(operand, arguments[0]), result);
    *result = convert_from_integer(operand, target, arguments[0]);
    return true;
}

#define ROUNDING(name)                                                                                                \
    bool scalar_##name(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)                \
    {                                                                                                                 \
        return whole_to_integer(target, name(widened(operand, arguments[0])), result);                                \
    }
ROUNDING(floor)
ROUNDING(ceil)
ROUNDING(trunc)
ROUNDING(round)

/* ---- mathematics that is no function of one float ---- */

bool scalar_fma(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)
{
    (void)target;
    Scalar x = arguments[0], y = arguments[1], z = arguments[2];
    *result = operand == SCALAR_F32 ? scalar_of_f32(math_fma_f32(x.f32, y.f32, z.f32))
                                    : scalar_of_f64(math_fma(x.f64, y.f64, z.f64));
    return true;
}

Scalar scalar_ldexp(ScalarType type, Scalar a, Scalar n)
{
    return type == SCALAR_F32 ? scalar_of_f32(math_ldexp_f32(a.f32, n.integer))
                              : scalar_of_f64(math_ldexp(a.f64, n.integer));
}

#define PREDICATE(name)                                                                                               \
    Scalar scalar_##name(ScalarType type, Scalar a)                                                                   \
    {                                                                                                                 \
        return (Scalar){.integer = math_##name(widened(type, a))};                                                    \
    }
PREDICATE(is_nan)
PREDICATE(is_inf)
PREDICATE(is_finite)
PREDICATE(signbit)

#define CONSTANT(name, value)                                                                                         \
    bool scalar_##name(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result)                \
    {                                                                                                                 \
        (void)operand, (void)target, (void)arguments;                                                                 \
        *result = value;                                                                                              \
        return true;                                                                                                  \
    }
CONSTANT(pi, scalar_of_f64(0x1.921fb54442d18p+1))
CONSTANT(max_int, (Scalar){.integer = INT64_MAX})
CONSTANT(min_int, (Scalar){.integer = INT64_MIN})
CONSTANT(nan, scalar_of_f64((double)NAN))
CONSTANT(inf, scalar_of_f64((double)INFINITY))

Scalar scalar_random(ScalarType type, Scalar seed, Scalar index)
{
    (void)type;
    return scalar_of_f64(random_unit_f64(random_hash(seed.bits, index.bits)));
}
