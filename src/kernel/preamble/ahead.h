/* Memory that is asked for before it is read. By itself a processor looks ahead as far as the operations reach that it has begun, a few hundred, and at what is read in order as long as nothing comes between. Where a loop loads all of
 * a block before it does anything else, or takes elements from anywhere in a vector that no cache holds, it waits at each block, or at each few elements, unless it has asked. This header is part of the VM and of emitted files. */
#ifndef RUNNEL_KERNEL_PREAMBLE_AHEAD_H
#define RUNNEL_KERNEL_PREAMBLE_AHEAD_H

#include "kernel/preamble/region.h"

enum {
    KERNEL_ASK_AHEAD = 8192, /* bytes from what is read in order to what is asked for */
    KERNEL_NEAR = 128,       /* points whose elements are asked for together: these are still in the nearest cache when the points are done */
    KERNEL_FAR = 16 << 20,   /* bytes of a vector from which on asking takes less than finding its elements in the last cache */
};

static inline void kernel_ask(const void *cell)
{
    __builtin_prefetch(cell);
}

/* Of memory that is read in order, as many bytes of what comes later as now. There may be none: nothing is read yet. */
static inline void kernel_ask_ahead(const void *cells, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += KERNEL_CELLS_ALIGNMENT)
        kernel_ask((const void *)((uintptr_t)cells + KERNEL_ASK_AHEAD + i));
}

#endif
