/* Teams: every item of a loop is done once, whoever does it. */
#define _POSIX_C_SOURCE 200809L
#include "base/machine.h"
#include "vm/team.h"
#include "check.h"

#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 100003 };

typedef struct Loop {
    unsigned char *done;
    size_t grain, count;
    uint32_t members;
    _Atomic bool is_wrong;
} Loop;

static void mark(void *context, size_t first, size_t end, uint32_t member)
{
    Loop *loop = context;
    if (first % loop->grain != 0 || (end % loop->grain != 0 && end != loop->count) || member >= loop->members || first >= end)
        atomic_store(&loop->is_wrong, true);
    for (size_t i = first; i < end; i++)
        loop->done[i]++;
}

static void test_every_item_once(Memory *memory, uint32_t threads, size_t count, size_t grain)
{
    static unsigned char done[ITEMS];
    Team *team = team_new(memory, (TeamOptions){.threads = threads});
    for (int round = 1; round < 50; round++) {
        memset(done, 0, sizeof done);
        Loop loop = {.done = done, .grain = grain, .count = count, .members = threads};
        team_run(team, count, grain, mark, &loop);
        CHECK(!atomic_load(&loop.is_wrong));
        size_t once = 0;
        for (size_t i = 0; i < ITEMS; i++)
            once += done[i] == (i < count);
        CHECK(once == ITEMS);
    }
    CHECK(team_size(team) == threads);
    team_free(team);
}

typedef struct Meeting {
    _Atomic uint32_t arrived;
    uint32_t members;
    unsigned char done[64];
} Meeting;

/* Goes on when all have come. */
static void meet(void *context, size_t first, size_t end, uint32_t member)
{
    Meeting *meeting = context;
    CHECK(first == member && end == first + 1);
    meeting->done[member]++;
    atomic_fetch_add(&meeting->arrived, 1);
    while (atomic_load(&meeting->arrived) < meeting->members)
        sched_yield();
}

static void test_together(Memory *memory, uint32_t threads)
{
    Team *team = team_new(memory, (TeamOptions){.threads = threads});
    for (int round = 0; round < 20; round++) {
        Meeting meeting = {.members = team_start(team)};
        team_run_together(team, meet, &meeting);
        for (uint32_t i = 0; i < meeting.members; i++)
            CHECK(meeting.done[i] == 1);
    }
    team_free(team);
}

static void test_pieces(Memory *memory)
{
    Team *team = team_new(memory, (TeamOptions){.threads = 3});
    for (size_t count = 0; count < 5000; count += 37)
        for (size_t grain = 1; grain < 200; grain += 50) {
            TeamPieces pieces = team_pieces(team, count, grain);
            CHECK(pieces.count >= 1 && (count <= grain || pieces.length % grain == 0));
            CHECK(pieces.count * pieces.length >= count);
            CHECK(pieces.count == 1 || (pieces.count - 1) * pieces.length < count);
        }
    CHECK(team_grain(team, 1000) >= 1);
    team_free(team);
}

typedef struct Stopping {
    StopFlag flag;
    jmp_buf back;
    _Atomic size_t done;
} Stopping;

static void stop_soon(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    Stopping *stopping = context;
    if (atomic_fetch_add(&stopping->done, end - first) > 1000)
        stop_set(&stopping->flag, STOP_TIME);
}

static void come_back(void *context)
{
    longjmp(((Stopping *)context)->back, 1);
}

static void test_stop(Memory *memory, uint32_t threads)
{
    Stopping stopping = {.flag = STOP_NOT};
    Team *team = team_new(
        memory, (TeamOptions){.threads = threads, .stop = &stopping.flag, .stopped = come_back, .context = &stopping});
    if (setjmp(stopping.back) == 0) {
        team_run(team, SIZE_MAX / 2, 1, stop_soon, &stopping);
        CHECK(!"stopped");
    }
    CHECK(stop_reason(&stopping.flag) == STOP_TIME);
    team_free(team);
}

static void test_memory(Memory *memory)
{
    Team *team = team_new(memory, (TeamOptions){.threads = 1});
    size_t before = memory->live_bytes;
    char *blocks[5];
    for (size_t i = 0; i < 5; i++) {
        blocks[i] = team_alloc(team, i * 100);
        CHECK((uintptr_t)blocks[i] % 64 == 0);
        memset(blocks[i], (int)i, i * 100);
    }
    team_give_back(team, blocks[2]);
    team_give_back(team, NULL);
    CHECK(blocks[4][399] == 4 && blocks[1][0] == 1);
    team_give_back_all(team);
    CHECK(memory->live_bytes == before);
    team_alloc(team, 10); /* goes with the team */
    team_free(team);
}

int main(void)
{
    Memory memory = {0};
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        test_every_item_once(&memory, threads[i], ITEMS, 1000);
        test_every_item_once(&memory, threads[i], 5, 1);
        test_every_item_once(&memory, threads[i], 1, 1);
        test_every_item_once(&memory, threads[i], 0, 7);
        test_every_item_once(&memory, threads[i], 64, 64);
        test_stop(&memory, threads[i]);
        test_together(&memory, threads[i]);
    }
    test_every_item_once(&memory, 2, ITEMS, 1);
    test_pieces(&memory);
    test_memory(&memory);
    CHECK(machine_processors() >= 1 && machine_memory() > 1 << 20);
    CHECK(memory.live_bytes == 0);
    return failures != 0;
}
