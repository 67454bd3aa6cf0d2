/* The same of engine c. */
#define TEST_ENGINE RUNNEL_ENGINE_C
#include "test_determinism.c"
