/* The test of operations on floats; see test_kernel_op_text.c. */
#define OF_FLOATS
#include "test_kernel_op_text.c"
