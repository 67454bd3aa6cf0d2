/* Operations on the bits of integers and floats. Integers of all widths are kept extended to 64 bits, so each
 * operation first cuts its operand to its width and extends its result again. */
#include "math/elementary.h"
#include "ref/ref_private.h"

static uint64_t cut(ScalarType type, Scalar a)
{
    uint32_t width = scalar_bits(type);
    return width == 64 ? a.bits : a.bits & ((UINT64_C(1) << width) - 1);
}

static Scalar extend(ScalarType type, uint64_t bits)
{
    return (Scalar){.integer = scalar_wrap(type, (int64_t)bits)};
}

Scalar ref_popcount(ScalarType type, Scalar a)
{
    int64_t count = 0;
    for (uint64_t bits = cut(type, a); bits != 0; bits &= bits - 1)
        count++;
    return (Scalar){.integer = count};
}

Scalar ref_leading_zeros(ScalarType type, Scalar a)
{
    int64_t count = scalar_bits(type);
    for (uint64_t bits = cut(type, a); bits != 0; bits >>= 1)
        count--;
    return (Scalar){.integer = count};
}

Scalar ref_trailing_zeros(ScalarType type, Scalar a)
{
    uint64_t bits = cut(type, a);
    int64_t count = 0;
    for (; count < (int64_t)scalar_bits(type) && (bits & 1) == 0; bits >>= 1)
        count++;
    return (Scalar){.integer = count};
}

Scalar ref_reverse_bits(ScalarType type, Scalar a)
{
    uint64_t bits = cut(type, a), reversed = 0;
    for (uint32_t i = 0; i < scalar_bits(type); i++, bits >>= 1)
        reversed = reversed << 1 | (bits & 1);
    return extend(type, reversed);
}

bool ref_op_rotate_bits(OpCall *call)
{
    ScalarType type = type_scalar(call->machine->types, ref_argument_type(call, 0));
    uint32_t width = scalar_bits(type); /* a power of two: the mask is the modulus, for negative counts too */
    uint32_t left = (uint32_t)(call->arguments[1].scalar.bits & (width - 1));
    uint64_t bits = cut(type, call->arguments[0].scalar);
    call->result.scalar = left == 0 ? call->arguments[0].scalar : extend(type, bits << left | bits >> (width - left));
    return true;
}

bool ref_op_bits_float(OpCall *call)
{
    Scalar value = call->arguments[0].scalar;
    value.f64 = math_canonical(value.f64);
    call->result.scalar = value;
    return true;
}

bool ref_op_bits_f32(OpCall *call)
{
    uint32_t bits = (uint32_t)call->arguments[0].scalar.bits;
    Scalar value = {0};
    memcpy(&value.f32, &bits, sizeof bits);
    value.f32 = math_canonical_f32(value.f32);
    call->result.scalar = value;
    return true;
}

bool ref_op_f32_bits(OpCall *call)
{
    uint32_t bits;
    memcpy(&bits, &call->arguments[0].scalar.f32, sizeof bits);
    call->result.scalar.bits = bits;
    return true;
}
