/* The lesser of two sizes, and the least of those that threads find. */
#ifndef RUNNEL_BASE_LEAST_H
#define RUNNEL_BASE_LEAST_H

#include <stdatomic.h>
#include <stddef.h>

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* `kept` becomes `value` if that is less. */
static inline void least_keep(_Atomic size_t *kept, size_t value)
{
    size_t known = atomic_load_explicit(kept, memory_order_relaxed);
    while (value < known && !atomic_compare_exchange_weak(kept, &known, value))
        continue;
}

#endif
