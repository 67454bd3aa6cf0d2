/* Threads that serve another one, and waiting for so long at most. */
#ifndef RUNNEL_BASE_THREAD_H
#define RUNNEL_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Starts a thread that no signal is delivered to: they are for the host's own. False if the system has no more. */
bool thread_start(pthread_t *thread, void *(*main)(void *argument), void *argument);

/* A condition whose deadlines are by the clock that nobody sets. */
void thread_condition_init(pthread_cond_t *condition);
/* That many milliseconds from now, for pthread_cond_timedwait on such a condition. */
struct timespec thread_deadline(uint64_t milliseconds);

#endif
