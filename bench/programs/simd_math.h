/* The elementary functions of glibc's libmvec, for loops marked `omp simd`. <math.h> declares them only under -ffast-math, which would
 * change the arithmetic around the calls too; these declarations say of each function alone that it has vector versions. */
#ifndef BENCH_SIMD_MATH_H
#define BENCH_SIMD_MATH_H

#include <math.h>

#if defined __x86_64__ && defined __GLIBC__ && defined __OPTIMIZE__
#pragma omp declare simd notinbranch
double exp(double);
#pragma omp declare simd notinbranch
double log(double);
#endif

#endif
