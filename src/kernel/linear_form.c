#include "kernel/linear_form.h"

static const Form unknown = {DEPENDS_OTHERWISE, false, false};

static bool is_whole(ScalarType type)
{
    return scalar_kind(type) != KIND_FLOATING;
}

Dependence forms_both(Form a, Form b)
{
    if (a.dependence == DEPENDS_OTHERWISE || b.dependence == DEPENDS_OTHERWISE)
        return DEPENDS_OTHERWISE;
    return a.dependence == DEPENDS_LINEARLY ? a.dependence : b.dependence;
}

Dependence forms_product(Form a, Form b)
{
    return a.dependence == DEPENDS_LINEARLY && b.dependence == DEPENDS_LINEARLY ? DEPENDS_OTHERWISE : forms_both(a, b);
}

Form form_of_constant(ScalarType type, Scalar value)
{
    if (!is_whole(type))
        return (Form){DEPENDS_NOT, false, false};
    return (Form){DEPENDS_NOT, scalar_kind(type) != KIND_SIGNED || value.integer >= 0, value.bits <= 1};
}

static bool is_power_of_two(const Scalar *value)
{
    return value != NULL && value->integer > 0 && (value->bits & (value->bits - 1)) == 0;
}

/* Bits by which a value that is not negative is told from 0 are one: it is 0 or 1. */
static Form form_of_comparison(Form a, const Scalar *second)
{
    return a.is_bit && second != NULL && second->bits <= 1 ? (Form){a.dependence, true, true} : unknown;
}

Form form_of_operation(Op op, ScalarType type, Form a, Form b, const Scalar *second)
{
    bool are_natural = a.is_natural && b.is_natural, are_bits = a.is_bit && b.is_bit;
    if (!is_whole(type))
        return unknown;
    switch ((int)op) {
    case OP_XOR: return (Form){forms_both(a, b), are_natural, are_bits};
    case OP_AND: return (Form){forms_product(a, b), a.is_natural || b.is_natural, a.is_bit || b.is_bit};
    case OP_OR: return (Form){forms_product(a, b), are_natural, are_bits};
    case OP_NOT: return (Form){a.dependence, type == SCALAR_BOOL, type == SCALAR_BOOL};
    case OP_SHIFT_LEFT: return (Form){b.dependence == DEPENDS_NOT ? a.dependence : DEPENDS_OTHERWISE, false, false};
    case OP_SHIFT_RIGHT: return (Form){b.dependence == DEPENDS_NOT ? a.dependence : DEPENDS_OTHERWISE, a.is_natural, a.is_bit};
    case OP_DIVIDE: return a.is_natural && is_power_of_two(second) ? (Form){a.dependence, true, a.is_bit} : unknown;
    case OP_REMAINDER:
    case OP_MODULO: return a.is_natural && is_power_of_two(second) ? (Form){a.dependence, true, second->bits == 2} : unknown;
    case OP_NOT_EQUAL:
    case OP_EQUAL: return form_of_comparison(a, second);
    default: return unknown;
    }
}
