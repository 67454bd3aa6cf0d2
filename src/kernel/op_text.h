/* Scalar operations, constants and types as C: what emitted loops compute. The text calls the functions of the preamble
 * (kernel/preamble.h). */
#ifndef RUNNEL_KERNEL_OP_TEXT_H
#define RUNNEL_KERNEL_OP_TEXT_H

#include "base/text.h"
#include "ops/ops.h"

/* The type of variables and of elements in memory; a bool is a byte. */
const char *c_type(ScalarType type);

/* An expression for any value of the type, the same bits; a negative one is in parentheses. */
void constant_text(Text *out, ScalarType type, Scalar value);

/* Writes an operation of math/scalar_ops.def as an expression of its arguments, which are expressions as well: names, constants, calls. `operand` is
 * the type of the first argument, `target` that of the result. An operation that can fail sets the flag that `failed` points to
 * ("&failed", of type OpFlag), and then has any value. False, and nothing is written, where there is no such operation on these types. */
bool op_text(Text *out, Op op, ScalarType operand, ScalarType target, const char *const *arguments, const char *failed);

/* Whether there is such an operation. */
bool op_text_exists(Op op, ScalarType operand, ScalarType target);
/* Whether it can fail on these types: `failed` is used. */
bool op_text_can_fail(Op op, ScalarType operand, ScalarType target);
/* Whether the preamble must be with_math. */
bool op_text_needs_math(Op op, ScalarType operand, ScalarType target);

/* Some operations that do not vectorise, or not well, have a version that does, right for all operands but rare ones: quotients of integers below
 * 2^50, powers with exponents below 64, functions of angles below 2^20, logarithms and exponentials that are normal numbers. It sets the flag that `slow` points to where its value may be wrong.
 * So a block of elements is computed in a loop with op_text_fast; if the flag is set then, it is computed again in one with op_text,
 * which is to be found elsewhere in the code and seldom. `failed` is as in op_text in both. op_text_fast is false where there is no such version. */
bool op_text_has_fast(Op op, ScalarType operand, ScalarType target);
/* Whether there is one that makes up for two loops instead of one: floats of integers below 2^50 are only a little faster. */
bool op_text_wants_fast(Op op, ScalarType operand, ScalarType target);
bool op_text_fast(Text *out, Op op, ScalarType operand, ScalarType target, const char *const *arguments, const char *failed,
                  const char *slow);

#endif
