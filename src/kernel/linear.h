/* Values that are linear in the bits of the root's index: exclusive ors of bits of it and of what does not depend on it, as in Gray codes, Sobol's numbers and checksums. Of such a value f,
 *
 *     f(a + b) = f(a) ^ f(b) ^ f(0)        where a has none of the bits of b
 *
 * so f at 0 and at the powers of two gives f everywhere: where f takes a loop, that is done for these few points only. */
#ifndef RUNNEL_KERNEL_LINEAR_H
#define RUNNEL_KERNEL_LINEAR_H

#include "kernel/fuse.h"

typedef struct LinearLoops {
    uint64_t scopes; /* loops directly below the root whose results are all linear, and which do nothing else; as bits */
    bool *is_needed; /* by position in the kernel: the root's own nodes that they take */
} LinearLoops;

LinearLoops linear_find(Arena *arena, const Fusion *fusion, const Kernel *kernel);

#endif
