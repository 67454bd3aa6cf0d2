/* How far a run is, for somebody who looks on from another thread. Nothing is counted until that is asked for: the one who looks on sets `is_wanted`, and
 * the run answers when it next comes by. */
#ifndef RUNNEL_BASE_PROGRESS_H
#define RUNNEL_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Progress {
    _Atomic bool is_wanted;
    _Atomic uint64_t elements; /* gone through so far, of what the run as a whole goes through */
    _Atomic uint64_t total;    /* how many there will be; 0 if that is not known */
} Progress;

static inline bool progress_is_wanted(const Progress *progress)
{
    return progress != NULL && atomic_load_explicit(&progress->is_wanted, memory_order_relaxed);
}

static inline void progress_tell(Progress *progress, uint64_t elements, uint64_t total)
{
    atomic_store(&progress->is_wanted, false);
    atomic_store(&progress->total, 0); /* so that nobody sees elements of one beside the total of another */
    atomic_store(&progress->elements, elements);
    atomic_store(&progress->total, total);
}

#endif
