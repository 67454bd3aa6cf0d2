/* Somebody who has the items of a loop done by several threads: for what knows of no team of threads itself. */
#ifndef RUNNEL_BASE_SHARING_H
#define RUNNEL_BASE_SHARING_H

#include <stddef.h>
#include <stdint.h>

/* Items [first, end); `member` tells the threads apart. Allocates nothing. */
typedef void SharedWork(void *context, size_t first, size_t end, uint32_t member);

typedef struct Sharing {
    /* Has all of [0, count) done, in any order; or not all, when the run is stopped. Null: the calling thread does it. */
    void (*run)(void *owner, size_t count, SharedWork *work, void *context);
    void *owner;
    uint32_t members; /* threads */
} Sharing;

static inline void sharing_run(const Sharing *sharing, size_t count, SharedWork *work, void *context)
{
    if (sharing->run == NULL || count == 1)
        work(context, 0, count, 0);
    else
        sharing->run(sharing->owner, count, work, context);
}

#endif
