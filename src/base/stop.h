/* Why a run should end before its time. The flag is set by a signal handler or another thread, and polled by whatever may take long. */
#ifndef RUNNEL_BASE_STOP_H
#define RUNNEL_BASE_STOP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef enum StopReason { STOP_NOT, STOP_INTERRUPTED, STOP_TIME } StopReason;

typedef struct StopFlag {
    _Atomic int reason;
    uint64_t time_limit_milliseconds; /* what a run may take, to be told with STOP_TIME; fixed */
} StopFlag;

/* What waits for something else looks at the flag so often. */
enum { STOP_POLL_MILLISECONDS = 20 };

static inline StopReason stop_reason(const StopFlag *flag)
{
    return flag == NULL ? STOP_NOT : (StopReason)atomic_load_explicit(&flag->reason, memory_order_relaxed);
}

/* The first reason stands. */
static inline void stop_set(StopFlag *flag, StopReason reason)
{
    int none = STOP_NOT;
    atomic_compare_exchange_strong(&flag->reason, &none, (int)reason);
}

static inline void stop_clear(StopFlag *flag)
{
    atomic_store(&flag->reason, STOP_NOT);
}

#endif
