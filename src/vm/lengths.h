/* What loops over segments ask about their lengths before they choose how to go about them. */
#ifndef RUNNEL_VM_LENGTHS_H
#define RUNNEL_VM_LENGTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline double lengths_average(int64_t first, const int64_t *ends, size_t segments)
{
    return (double)(ends[segments - 1] - first) / (double)segments;
}

/* Whether some of the segments looked at differ in length. Where none do, the processor guesses right how often a loop over each is
 * taken; where they do, a wrong guess costs more than a dozen elements. */
static inline bool lengths_vary(const int64_t *ends, size_t segments)
{
    enum { SAMPLES = 16 };
    if (segments < 3)
        return false;
    size_t step = (segments + SAMPLES - 1) / SAMPLES;
    int64_t length = ends[1] - ends[0];
    for (size_t k = 1; k < segments; k += step)
        if (ends[k] - ends[k - 1] != length)
            return true;
    return false;
}

#endif
