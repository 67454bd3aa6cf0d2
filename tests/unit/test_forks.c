/* Calls that threads take from each other: each is done once, and its result is that of who did it. */
#define _POSIX_C_SOURCE 200809L
#include "vm/forks.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, DEPTH = 14 };

/* ---- memory: workspaces that are counted ---- */

static int taken, most_taken, takes_allowed;

static KernelWorkspace *take(void *context)
{
    (void)context;
    if (taken == takes_allowed)
        return NULL;
    taken++;
    most_taken = taken > most_taken ? taken : most_taken;
    return calloc(1, sizeof(KernelWorkspace));
}

static void give(void *context, KernelWorkspace *workspace)
{
    (void)context;
    taken--;
    free(workspace);
}

/* ---- a recursion that adds up ---- */

typedef struct Sum {
    KernelTask task;
    int depth;
    int64_t from, result;
} Sum;

static int64_t failing; /* a leaf that fails, or -1 */

static bool add_up(int depth, int64_t from, int64_t *result, const KernelCall *call);

static bool run(KernelTask *task, const KernelCall *call)
{
    Sum *sum = (Sum *)(void *)task;
    return call->workspace != NULL && add_up(sum->depth, sum->from, &sum->result, call);
}

static bool add_up(int depth, int64_t from, int64_t *result, const KernelCall *call)
{
    *result = from;
    if (depth == 0)
        return from != failing;
    Sum other = {.task = {.run = run, .call = call}, .depth = depth - 1, .from = 2 * from + 1};
    int64_t first = 0, second = 0;
    call->forks->offer(call->forks, &other.task);
    bool is_good = add_up(depth - 1, 2 * from, &first, call);
    if (call->forks->settle(call->forks, &other.task)) {
        is_good &= other.task.is_good;
        second = other.result;
        call->forks->finish(call->forks, &other.task);
    } else
        is_good = add_up(depth - 1, 2 * from + 1, &second, call) && is_good;
    *result = first + second;
    return is_good;
}

/* ---- threads ---- */

static Forks forks;
static _Atomic bool is_over;

static void *help(void *argument)
{
    (void)argument;
    while (!atomic_load(&is_over))
        forks_help(&forks, NULL);
    return NULL;
}

static void test_sum(int memory, int64_t wrong)
{
    pthread_t threads[THREADS];
    KernelWorkspace own = {0};
    takes_allowed = memory;
    failing = wrong;
    forks_init(&forks, (ForkMemory){take, give, NULL}, 1);
    atomic_store(&is_over, false);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, help, NULL) == 0);
    KernelCall call = {.workspace = &own, .forks = &forks.calls};
    int64_t result = 0, leaves = INT64_C(1) << DEPTH;
    bool is_good = add_up(DEPTH, 1, &result, &call);
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(is_good == (wrong < 0));
    CHECK(result == leaves * (3 * leaves - 1) / 2);
    CHECK(taken == 0);
    CHECK(forks.count == 0);
    forks_free(&forks);
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        test_sum(1000, -1);
        test_sum(1, -1);
        test_sum(0, -1);
        test_sum(1000, (INT64_C(1) << DEPTH) + 77);
    }
    return failures == 0 ? 0 : 1;
}
