#define _POSIX_C_SOURCE 200809L
#include "base/thread.h"

#include <signal.h>

bool thread_start(pthread_t *thread, void *(*main)(void *argument), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(thread, NULL, main, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

void thread_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec thread_deadline(uint64_t milliseconds)
{
    enum { NANOSECONDS = 1000000000 };
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    /* beyond this a deadline is never reached, and need not be told apart */
    const uint64_t most = UINT64_C(1000) * 3600 * 24 * 365 * 100;
    if (milliseconds > most)
        milliseconds = most;
    time.tv_sec += (time_t)(milliseconds / 1000);
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (time.tv_nsec >= NANOSECONDS) {
        time.tv_nsec -= NANOSECONDS;
        time.tv_sec++;
    }
    return time;
}
