/* Why a run should end before its time. The flag is set by a signal handler or another thread, and polled by whatever may take long. */
#ifndef RUNNEL_BASE_STOP_H
#define RUNNEL_BASE_STOP_H

#include <stdatomic.h>

typedef enum StopReason { STOP_NOT, STOP_INTERRUPTED, STOP_TIME } StopReason;

typedef _Atomic int StopFlag;

static inline StopReason stop_reason(const StopFlag *flag)
{
    return flag == NULL ? STOP_NOT : (StopReason)atomic_load_explicit(flag, memory_order_relaxed);
}

/* The first reason stands. */
static inline void stop_set(StopFlag *flag, StopReason reason)
{
    int none = STOP_NOT;
    atomic_compare_exchange_strong(flag, &none, (int)reason);
}

#endif
