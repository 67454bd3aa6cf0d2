/* Kernels that only replace elements of a vector at places that are progressions, one for each point of the root: multiples, rows or columns of a matrix, diagonals.
 * All their places are known by the first, the step and how many there are: so one test says that all are inside, and parts of the vector can be done one after the other, or by different
 * threads, each with all progressions. */
#ifndef RUNNEL_KERNEL_STRIDED_H
#define RUNNEL_KERNEL_STRIDED_H

#include "kernel/fuse.h"

bool strided_is(Arena *arena, const Fusion *fusion, const Kernel *kernel);

#endif
