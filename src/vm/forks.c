#define _POSIX_C_SOURCE 200809L
#include "vm/forks.h"

#include <sched.h>

enum { NESTED_MAX = 4 };

/* Of a task. One that found no room stays as it was made. */
enum { TASK_NEW, TASK_OFFERED, TASK_TAKEN, TASK_DONE };

static Forks *forks_of(KernelForks *calls)
{
    return (Forks *)(void *)calls;
}

static void offer(KernelForks *calls, KernelTask *task)
{
    Forks *forks = forks_of(calls);
    pthread_mutex_lock(&forks->mutex);
    if (forks->count < FORKS_OFFERED) {
        task->state = TASK_OFFERED;
        forks->offered[forks->count++] = task;
        atomic_store_explicit(&forks->waiting, forks->count, memory_order_relaxed);
    }
    pthread_mutex_unlock(&forks->mutex);
}

/* With the lock held. */
static void remove_offer(Forks *forks, uint32_t place)
{
    forks->count--;
    for (uint32_t i = place; i < forks->count; i++)
        forks->offered[i] = forks->offered[i + 1];
    atomic_store_explicit(&forks->waiting, forks->count, memory_order_relaxed);
}

/* Null if nobody offers one, or there is no memory. */
static KernelTask *take(Forks *forks)
{
    if (atomic_load_explicit(&forks->waiting, memory_order_relaxed) == 0)
        return NULL;
    KernelTask *task = NULL;
    pthread_mutex_lock(&forks->mutex);
    KernelWorkspace *workspace = forks->count == 0 ? NULL : forks->memory.take(forks->memory.context);
    if (workspace != NULL) {
        task = forks->offered[0];
        remove_offer(forks, 0);
        task->workspace = workspace;
        __atomic_store_n(&task->state, TASK_TAKEN, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&forks->mutex);
    return task;
}

static bool do_one(Forks *forks, uint32_t nested, KernelRegion *spare)
{
    KernelTask *task = nested > NESTED_MAX ? NULL : take(forks);
    if (task == NULL)
        return false;
    KernelCall call = *task->call;
    call.workspace = task->workspace;
    call.spare = spare;
    call.nested = nested;
    task->is_good = task->run(task, &call);
    __atomic_store_n(&task->state, TASK_DONE, __ATOMIC_RELEASE); /* it may be gone from here on */
    return true;
}

void forks_help(Forks *forks, KernelRegion *spare)
{
    if (!do_one(forks, 0, spare))
        sched_yield();
}

/* Takes back what nobody has taken. */
static bool withdraw(Forks *forks, const KernelTask *task)
{
    bool is_ours = __atomic_load_n(&task->state, __ATOMIC_RELAXED) == TASK_NEW;
    pthread_mutex_lock(&forks->mutex);
    for (uint32_t i = forks->count; i-- > 0 && !is_ours;)
        if (forks->offered[i] == task) {
            remove_offer(forks, i);
            is_ours = true;
        }
    pthread_mutex_unlock(&forks->mutex);
    return is_ours;
}

static bool settle(KernelForks *calls, KernelTask *task)
{
    Forks *forks = forks_of(calls);
    if (withdraw(forks, task))
        return false;
    while (__atomic_load_n(&task->state, __ATOMIC_ACQUIRE) != TASK_DONE)
        if (!do_one(forks, task->call->nested + 1, task->call->spare))
            sched_yield();
    return true;
}

static void finish(KernelForks *calls, KernelTask *task)
{
    Forks *forks = forks_of(calls);
    pthread_mutex_lock(&forks->mutex);
    forks->memory.give(forks->memory.context, task->workspace);
    pthread_mutex_unlock(&forks->mutex);
}

void forks_init(Forks *forks, ForkMemory memory, int64_t least)
{
    *forks = (Forks){.calls = {.offer = offer, .settle = settle, .finish = finish, .least = least}, .memory = memory};
    pthread_mutex_init(&forks->mutex, NULL);
}

void forks_free(Forks *forks)
{
    pthread_mutex_destroy(&forks->mutex);
}
