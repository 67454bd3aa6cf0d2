#define RECIPROCAL
#include "nbody.c"
