/* Arithmetic on scalars of every type, one piece for all engines and for the compiler's folding of constants.
 *
 * Integers of all widths are computed in 64 bits without sign and cut back (scalar_wrap), so nothing overflows; f32 is
 * computed in f32. Every float result is canonical. */
#ifndef RUNNEL_MATH_SCALAR_H
#define RUNNEL_MATH_SCALAR_H

#include "ops/ops.h"

typedef Scalar (*ScalarUnary)(ScalarType type, Scalar a);
typedef Scalar (*ScalarBinary)(ScalarType type, Scalar a, Scalar b);
/* `operand` is the type of the first argument, `target` that of the result. False when there is none: division by zero, a negative
 * exponent, a float out of the integer's range. */
typedef bool (*ScalarPartial)(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result);

/* How `<` and `==` see two values; nan has no order to anything. */
typedef enum Order { ORDER_LESS = 1, ORDER_EQUAL = 2, ORDER_GREATER = 4, ORDER_NONE = 8 } Order;

Scalar scalar_of_int(ScalarType type, int64_t value); /* a small number as any type */
Scalar scalar_of_f64(double value);
Scalar scalar_of_f32(float value);
Scalar scalar_least(ScalarType type);
Scalar scalar_greatest(ScalarType type);
Scalar scalar_all_ones(ScalarType type); /* the identity of `and` */

Order scalar_order(ScalarType type, Scalar a, Scalar b);
Order scalar_order_of(bool is_less, bool is_equal, bool is_greater);

/* The functions of math/scalar_ops.def. */
#define SCALAR_UNARY(OP, function) Scalar function(ScalarType type, Scalar a);
#define SCALAR_BINARY(OP, function) Scalar function(ScalarType type, Scalar a, Scalar b);
#define SCALAR_PARTIAL(OP, function)                                                                                  \
    bool function(ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result);
#include "math/scalar_ops.def"

/* Computes any operation of math/scalar_ops.def. False for others, and when it fails. */
bool scalar_apply(Op op, ScalarType operand, ScalarType target, const Scalar *arguments, Scalar *result);

#endif
