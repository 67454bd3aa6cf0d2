#define _POSIX_C_SOURCE 200809L
#include "session/watchdog.h"

#include "base/thread.h"

static void *watch(void *argument)
{
    Watchdog *watchdog = argument;
    pthread_mutex_lock(&watchdog->mutex);
    int status = 0;
    while (!watchdog->is_over && status == 0)
        status = pthread_cond_timedwait(&watchdog->change, &watchdog->mutex, &watchdog->deadline);
    if (!watchdog->is_over)
        stop_set(watchdog->stop, STOP_TIME);
    pthread_mutex_unlock(&watchdog->mutex);
    return NULL;
}

bool watchdog_start(Watchdog *watchdog, StopFlag *stop)
{
    *watchdog = (Watchdog){.stop = stop};
    if (stop->time_limit_milliseconds == 0)
        return true;
    watchdog->deadline = thread_deadline(stop->time_limit_milliseconds);
    pthread_mutex_init(&watchdog->mutex, NULL);
    thread_condition_init(&watchdog->change);
    watchdog->is_started = thread_start(&watchdog->thread, watch, watchdog);
    return watchdog->is_started;
}

void watchdog_end(Watchdog *watchdog)
{
    if (watchdog->is_started) {
        pthread_mutex_lock(&watchdog->mutex);
        watchdog->is_over = true;
        pthread_cond_signal(&watchdog->change);
        pthread_mutex_unlock(&watchdog->mutex);
        pthread_join(watchdog->thread, NULL);
    }
    if (watchdog->stop->time_limit_milliseconds != 0) {
        pthread_cond_destroy(&watchdog->change);
        pthread_mutex_destroy(&watchdog->mutex);
    }
}
