/* Calls that threads take from each other (kernel/function_forks.c), while compiled code does the points of a call.
 *
 * Whoever offers a call may do something else meanwhile, and does it itself if nobody has taken it then. Others take the call that was offered first, for that is the largest, mostly. A thread that waits
 * for a call that was taken does others meanwhile, but only a few one inside of the other, for each takes stack. The result of what was taken is put into memory of its own, for it stays there until whoever offered
 * it has copied it; what is needed on the way is the thread's, which has it back when the call is done. */
#ifndef RUNNEL_VM_FORKS_H
#define RUNNEL_VM_FORKS_H

#include "kernel/preamble/call.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FORKS_OFFERED = 256 };

/* Where memory for a call comes from that was taken. */
typedef struct ForkMemory {
    KernelWorkspace *(*take)(void *context); /* null if there is none; by one thread at a time, as is the next */
    void (*give)(void *context, KernelWorkspace *workspace);
    void *context;
} ForkMemory;

typedef struct Forks {
    KernelForks calls; /* what compiled code sees */
    ForkMemory memory;
    pthread_mutex_t mutex;
    KernelTask *offered[FORKS_OFFERED]; /* the first offered first */
    uint32_t count;
    _Atomic uint32_t waiting; /* of offered: looked at without the lock */
} Forks;

/* Calls of fewer elements than `least` are not offered. */
void forks_init(Forks *forks, ForkMemory memory, int64_t least);
void forks_free(Forks *forks);
/* Does a call that somebody has offered, and takes what it needs meanwhile from a region of this thread; if there is none, gives the processor to others. */
void forks_help(Forks *forks, KernelRegion *spare);

#endif
