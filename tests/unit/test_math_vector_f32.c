/* The test of vectorised loops for f32. */
#define OF_F32
#include "test_math_vector.c"
