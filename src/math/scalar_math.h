/* The elementary functions as operations on scalars. They are compiled for each level of vector instructions (base/vector.h), not for the vectors but
 * for math_fused, which the lowest level of x86 has to compose of many instructions. */
#ifndef RUNNEL_MATH_SCALAR_MATH_H
#define RUNNEL_MATH_SCALAR_MATH_H

#include "base/vector.h"
#include "math/scalar.h"

typedef struct ScalarMath {
    ScalarUnary unary;
    ScalarBinary binary;
} ScalarMath;

/* For each level, a table of the SCALAR_MATH rows of math/scalar_ops.def; all else is null. */
#define SCALAR_MATH_AT_LEVEL(level) extern const ScalarMath VECTOR_NAME_AT(scalar_math, level)[OP_COUNT];
VECTOR_LEVELS(SCALAR_MATH_AT_LEVEL)
#undef SCALAR_MATH_AT_LEVEL

#endif
