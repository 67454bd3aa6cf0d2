/* The lesser of two sizes. */
#ifndef RUNNEL_BASE_LEAST_H
#define RUNNEL_BASE_LEAST_H

#include <stddef.h>

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
