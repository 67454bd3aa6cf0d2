/* Operations on scalars, over blocks of cells: loops that the compiler vectorises, chosen by type.
 *
 * Results are those of scalar_apply (math/scalar.h) bit for bit, given cells as engines make them: bools are 0 or 1, nans canonical. */
#ifndef RUNNEL_VM_ELEMENTWISE_H
#define RUNNEL_VM_ELEMENTWISE_H

#include "vm/array.h"
#include "vm/team.h"

/* Computes out[i] = op(args[0][i], ...) for i < count. Every argument is contiguous or uniform (one cell for all). Gives the number of
 * leading elements that were computed: `count`, or the position of the first that has no result (division by zero, negative
 * exponent, conversion out of range); cells of `out` from there on are then undefined. `out` may be the same memory as a contiguous
 * argument of the same cell size. */
typedef size_t (*ElementwiseKernel)(ScalarType operand, ScalarType result, void *out, const Cells *args, size_t count);

/* Null for operations that are not in math/scalar_ops.def. `operand` is the type of the first argument, `result` that of the result. */
ElementwiseKernel elementwise_kernel(Op op, ScalarType operand, ScalarType result);

/* Whether the operation can fail on these types, so that it must not be computed where nobody asked for it. */
bool elementwise_can_fail(Op op, ScalarType operand, ScalarType result);

/* An operation on given types, looked up once. */
enum { ELEMENTWISE_ARGUMENTS_MAX = 3 };
typedef struct Elementwise {
    ElementwiseKernel kernel; /* null as that of elementwise_kernel */
    ScalarType operand, result;
    uint32_t picoseconds; /* for an element, about */
    uint32_t argument_count;
    uint8_t argument_sizes[ELEMENTWISE_ARGUMENTS_MAX]; /* of cells; 0 for an argument whose value does not matter */
    uint8_t result_size;
} Elementwise;

Elementwise elementwise_of(Op op, ScalarType operand, ScalarType result);
/* Computes as its kernel does, shared by the team. */
size_t elementwise_run(Team *team, const Elementwise *elementwise, void *out, const Cells *args, size_t count);

#endif
