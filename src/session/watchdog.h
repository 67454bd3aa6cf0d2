/* A thread that stops a run when its time is over. */
#ifndef RUNNEL_SESSION_WATCHDOG_H
#define RUNNEL_SESSION_WATCHDOG_H

#include "base/stop.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

typedef struct Watchdog {
    StopFlag *stop;
    struct timespec deadline;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t change;
    bool is_over;    /* the run is; guarded by the mutex */
    bool is_started;
} Watchdog;

/* Sets STOP_TIME when the flag's limit has passed; does nothing if it has none. False if no thread can be had. */
bool watchdog_start(Watchdog *watchdog, StopFlag *stop);
/* After a start, whatever it gave. When this returns the flag is not touched any more. */
void watchdog_end(Watchdog *watchdog);

#endif
