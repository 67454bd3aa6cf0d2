/* Kernels as text, for people and golden tests: what is done together, what that reads and gives, and what is left to others.
 *
 *     item
 *       kernel 1: for each point of C1
 *           -- line 2: function main(n : int) = sum({logsum(k * k) : k in {1:n}})
 *           s3 : int = index
 *           s4 : int = 1 + s3
 *           s5 : int = s4 * s4
 *           -- line 1: function logsum(n : int) : float = sum({log(float(i)) : i in {1:n}})
 *           s6 : int = count(1, s5, 1)
 *           for each point of C2, s6 of them
 *               s7 : int = index
 *               ...
 *               sum(s11) -> s12 @C1, in order
 *           sum(s12) -> s13 @unit, in order
 *         reduces to s13 @unit : float
 *       outside: parameters, count
 *       made beyond the result: nothing
 *       buffers: none
 *
 *     kernels 1, made beyond the result 0 vectors, buffers 0 of 0 bytes a point
 *
 * `index` is that of a point among those of its parent. What only distributes or packs is not shown: its readers name what it passes on. Streams and
 * spaces are named as in flow_print.c. `outside` are nodes of no kernel. Vectors that are made count as the result's if they are, or are
 * elements of, what the network gives. A buffer holds a stream between a kernel or node that makes it and others that
 * read it, chunk by chunk; what is on unit or root is one value or one for each point of a call, and is not counted. */
#ifndef RUNNEL_KERNEL_PRINT_H
#define RUNNEL_KERNEL_PRINT_H

#include "kernel/fuse.h"
#include "source/source.h"

/* `fusions` by network; [0] unused. */
void kernels_print(const FlowProgram *program, const Sources *sources, const Fusion *const *fusions, Text *out);

#endif
