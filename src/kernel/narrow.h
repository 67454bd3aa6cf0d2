/* Integers of which 32 bits are enough. Where all that a kernel divides is made of its index, of constants and of uniforms, bounds of it are known when the kernel is called; if they fit
 * 32 bits, there is a version whose loop has these values so: it does more of them at once, and multiplies and divides much faster. What is neither divided nor compared stays as wide as it was:
 * often that is the last step, and the one that needs 64 bits. */
#ifndef RUNNEL_KERNEL_NARROW_H
#define RUNNEL_KERNEL_NARROW_H

#include "kernel/fuse.h"

typedef struct Narrow {
    const Fusion *fusion;
    const Kernel *kernel;
    bool *is_narrow; /* by position in the kernel; null if no other version is worth while */
} Narrow;

Narrow narrow_find(Arena *arena, const Fusion *fusion, const Kernel *kernel);
/* Whether a value is one of them, or a constant that fits. */
bool narrow_has(const Narrow *narrow, FlowOperand operand);
/* Writes the function kernel_N_is_narrow: whether the values that it is about will fit, in a call. */
void narrow_write_test(const Narrow *narrow, Text *out);

#endif
