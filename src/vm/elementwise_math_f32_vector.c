/* Elementary functions of f32. */
#define OF_F32
#include "vm/elementwise_math_vector.c"
