/* The same for the program as simplified. */
#define TEST_SIMPLIFIED true
#include "test_function_vectors.c"
