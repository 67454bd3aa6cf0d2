/* How a value depends on an index, bit by bit: what exclusive or, shifts and the like make of values that are linear in its bits (kernel/linear.h) is linear too. */
#ifndef RUNNEL_KERNEL_LINEAR_FORM_H
#define RUNNEL_KERNEL_LINEAR_FORM_H

#include "ops/ops.h"
#include "ops/scalars.h"

typedef enum Dependence {
    DEPENDS_OTHERWISE, /* or not known */
    DEPENDS_NOT,
    DEPENDS_LINEARLY,
} Dependence;

typedef struct Form {
    Dependence dependence;
    bool is_natural; /* not negative */
    bool is_bit;     /* 0 or 1 */
} Form;

/* Of the exclusive or of two values. */
Dependence forms_both(Form a, Form b);
/* Of bit by bit operations that are no exclusive or, and of what is chosen or shifted by another value: one of the two is fixed. */
Dependence forms_product(Form a, Form b);

Form form_of_constant(ScalarType type, Scalar value);
/* `type` is that of the operands; `second` is the value of the second, if that is a constant. */
Form form_of_operation(Op op, ScalarType type, Form a, Form b, const Scalar *second);

#endif
