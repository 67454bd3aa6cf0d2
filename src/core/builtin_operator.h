/* Operators given as functions that are built in: whether what reduce, scan or put_with is given only combines the components of its two operands, each by one
 * of the operators of ops/fold_operators.def. `+`, `max`, (a, b) => a and b, ((a, b), (c, d)) => (a + c, max(b, d)) are. */
#ifndef RUNNEL_CORE_BUILTIN_OPERATOR_H
#define RUNNEL_CORE_BUILTIN_OPERATOR_H

#include "core/core.h"

typedef struct BuiltinOperator {
    Op on_scalars, reduction, scan, inclusive;
} BuiltinOperator;

enum { BUILTIN_COMPONENTS_MAX = 8 };

/* Of a function's body, whose parameters are `captured_count` values and the two operands: the operators of the components, in the order of their
 * layout. Gives how many there are; 0 if the function is anything else. */
uint32_t builtin_operators(const CoreBlock *body, uint32_t captured_count,
                           const BuiltinOperator *operators[BUILTIN_COMPONENTS_MAX]);

/* Whether an operation is a scan by one of them: it goes through its operand and gives its result element by element. */
bool builtin_is_scan(Op op);
/* Whether it gives the same in every order: everything but sums and products of floats. */
bool builtin_is_exact(const BuiltinOperator *operator, ScalarType type);
/* What its reduction of nothing gives, and its exclusive scan first. */
Scalar builtin_neutral(const BuiltinOperator *operator, ScalarType type);

#endif
