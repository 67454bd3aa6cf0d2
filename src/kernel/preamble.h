/* The first part of every emitted C file: the functions that op_text calls (kernel/preamble/ops.h says what they keep true), with all
 * that they need. It compiles as gnu17 with gcc and clang, given -ffp-contract=off -fno-math-errno; loops vectorise
 * with -fno-trapping-math. It needs libm where the machine has no instruction for fma. */
#ifndef RUNNEL_KERNEL_PREAMBLE_H
#define RUNNEL_KERNEL_PREAMBLE_H

#include "base/text.h"
#include "ops/scalars.h"

/* The operations on the scalar types of `types` and between them; with_math, those of which op_text_needs_math is true as well.
 * Reading it is most of the time that a small file takes to compile. */
void kernel_preamble(Text *out, ClassSet types, bool with_math);
/* What follows it in files with kernels: how they are called, and reductions. `wide` is how many points wide versions do at once. */
void kernel_preamble_calls(Text *out, uint32_t wide);

#endif
