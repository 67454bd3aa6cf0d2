#define _POSIX_C_SOURCE 200809L
#include "vm/team.h"

#include "base/machine.h"
#include "base/thread.h"
#include "source/diagnostics.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { CACHE_LINE = 64, PIECES_PER_MEMBER = 4, LARGER_PART = 2, WAKING_PIECES = 16, SPINS = 20000, SPINS_BETWEEN_YIELDS = 64 };
static const uint64_t default_piece_picoseconds = 1000 * 1000;

/* What a member has still to do: [low half, high half), counted in grains. */
typedef struct Member {
    _Alignas(CACHE_LINE) _Atomic uint64_t share;
    _Atomic uint64_t busy_time;
    _Atomic uint32_t processor; /* where it was when it last took part */
    pthread_t thread;
    Team *team;
    uint32_t number;
} Member;

/* The loop is open while `state` says so, and members enter and leave by counting themselves there: it is over when it is closed and they have all
 * left, and only then is the next one written. */
enum { STATE_ACTIVE = 0xffff, STATE_OPEN = 0x10000, STATE_LOOP = 0x20000 };

typedef struct Loop {
    TeamWork *work;
    void *context;
    size_t count, grain;
    uint32_t members; /* that may take part */
    uint32_t part;    /* of what it has left a member takes one in so many */
    bool is_together; /* each of them does it once */
} Loop;

/* Temporary memory, in a ring; what the caller sees begins at the next cache line. */
typedef struct Block Block;
struct Block {
    Block *next, *previous;
    void *allocated;
    size_t size;
};
_Static_assert(sizeof(Block) <= CACHE_LINE, "a block's links take one cache line");

struct Team {
    Memory *memory;
    Block blocks;
    TeamOptions options;
    size_t block_size; /* of this struct with its members */
    void *block;
    uint32_t started; /* members, this thread included */
    bool can_spin;    /* there is a processor for every member */
    bool is_running;
    uint64_t waiting_time;
    Loop loop;
    _Alignas(CACHE_LINE) _Atomic uint64_t state;
    _Atomic bool is_over;
    _Atomic uint32_t sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    Member members[];
};

/* ---- shares ---- */

static uint64_t share_of(uint64_t first, uint64_t end)
{
    return end << 32 | first;
}

/* A part of a share, in grains. */
typedef struct Part {
    uint32_t first, end;
} Part;

static Part part_of(uint64_t share)
{
    return (Part){(uint32_t)share, (uint32_t)(share >> 32)};
}

/* A piece from the front: large ones while there is much left, so that they are few. */
static bool take_piece(const Loop *loop, Member *member, Part *piece)
{
    uint64_t share = atomic_load_explicit(&member->share, memory_order_relaxed);
    for (;;) {
        Part part = part_of(share);
        if (part.first >= part.end)
            return false;
        uint32_t taken = (part.end - part.first + loop->part - 1) / loop->part;
        *piece = (Part){part.first, part.first + taken};
        if (atomic_compare_exchange_weak(&member->share, &share, share_of(piece->end, part.end)))
            return true;
    }
}

/* Half of what another has, from its end, becomes the member's own. */
static bool steal(Team *team, Member *member)
{
    for (uint32_t i = 1; i < team->loop.members; i++) {
        Member *other = &team->members[(member->number + i) % team->loop.members];
        uint64_t share = atomic_load_explicit(&other->share, memory_order_relaxed);
        for (;;) {
            Part part = part_of(share);
            if (part.first >= part.end)
                break;
            uint32_t middle = part.first + (part.end - part.first) / 2;
            if (!atomic_compare_exchange_weak(&other->share, &share, share_of(part.first, middle)))
                continue;
            atomic_store(&member->share, share_of(middle, part.end));
            return true;
        }
    }
    return false;
}

static void take_part(Team *team, Member *member)
{
    const Loop *loop = &team->loop;
    uint64_t start = machine_clock();
    Part piece;
    if (loop->is_together)
        loop->work(loop->context, member->number, member->number + 1, member->number);
    while (!loop->is_together && stop_reason(team->options.stop) == STOP_NOT &&
           (take_piece(loop, member, &piece) || (steal(team, member) && take_piece(loop, member, &piece)))) {
        size_t end = (size_t)piece.end * loop->grain;
        loop->work(loop->context, (size_t)piece.first * loop->grain, end < loop->count ? end : loop->count, member->number);
    }
    uint64_t busy = atomic_load_explicit(&member->busy_time, memory_order_relaxed);
    atomic_store_explicit(&member->busy_time, busy + machine_clock() - start, memory_order_relaxed);
}

/* ---- members other than this thread ---- */

static void pause_briefly(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}

/* The system may put threads that wake each other on one processor, and leave them there for long although others are idle. Whoever then runs moves away, unless it is the
 * owner. */
static void keep_apart(Team *team, Member *member)
{
    uint32_t here = machine_processor();
    for (uint32_t i = 0; i < member->number; i++)
        if (atomic_load_explicit(&team->members[i].processor, memory_order_relaxed) == here) {
            machine_leave_processor(pthread_self(), here);
            here = machine_processor();
            break;
        }
    atomic_store_explicit(&member->processor, here, memory_order_relaxed);
}

static bool is_called(Team *team, uint64_t last)
{
    uint64_t state = atomic_load(&team->state);
    return (state & STATE_OPEN) != 0 && state / STATE_LOOP != last;
}

static void sleep_until_called(Team *team, uint64_t last)
{
    pthread_mutex_lock(&team->mutex);
    atomic_fetch_add(&team->sleepers, 1);
    while (!is_called(team, last) && !atomic_load(&team->is_over))
        pthread_cond_wait(&team->wake, &team->mutex);
    atomic_fetch_sub(&team->sleepers, 1);
    pthread_mutex_unlock(&team->mutex);
}

/* Loops follow each other closely: it pays to wait awake for a while. */
static void wait_until_called(Team *team, uint64_t last)
{
    for (uint32_t i = 0; team->can_spin && i < SPINS; i++) {
        if (is_called(team, last) || atomic_load(&team->is_over))
            return;
        pause_briefly();
    }
    sleep_until_called(team, last);
}

/* Counts itself in, if the loop is open; gives its number. */
static bool enter(Team *team, uint64_t *loop)
{
    uint64_t state = atomic_load(&team->state);
    while ((state & STATE_OPEN) != 0)
        if (atomic_compare_exchange_weak(&team->state, &state, state + 1)) {
            *loop = state / STATE_LOOP;
            return true;
        }
    return false;
}

static void *member_main(void *argument)
{
    Member *member = argument;
    Team *team = member->team;
    uint64_t loop = 0;
    while (!atomic_load(&team->is_over)) {
        wait_until_called(team, loop);
        if (team->can_spin)
            keep_apart(team, member);
        if (!enter(team, &loop))
            continue;
        if (member->number < team->loop.members)
            take_part(team, member);
        atomic_fetch_sub(&team->state, 1);
    }
    return NULL;
}

/* Where the system has no more threads the team stays smaller. A new thread may be put behind this one, and would wait until it is interrupted: a few milliseconds. */
static void start_members(Team *team, uint32_t count)
{
    while (team->started < count && thread_start(&team->members[team->started].thread, member_main, &team->members[team->started])) {
        if (team->can_spin)
            machine_leave_processor(team->members[team->started].thread, machine_processor());
        team->started++;
    }
    if (team->started < count)
        team->options.threads = team->started;
}

/* ---- the team ---- */

static void *next_line(void *block)
{
    return (char *)block + (CACHE_LINE - (uintptr_t)block % CACHE_LINE) % CACHE_LINE;
}

Team *team_new(Memory *memory, TeamOptions options)
{
    size_t size = sizeof(Team) + options.threads * sizeof(Member) + CACHE_LINE;
    void *block = memory_alloc(memory, size);
    Team *team = next_line(block);
    team->memory = memory;
    team->block = block;
    team->block_size = size;
    team->options = options;
    if (options.piece_picoseconds == 0)
        team->options.piece_picoseconds = default_piece_picoseconds;
    team->blocks.next = team->blocks.previous = &team->blocks;
    team->started = 1;
    team->can_spin = options.threads <= machine_processors();
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->wake, NULL);
    for (uint32_t i = 0; i < options.threads; i++) {
        team->members[i].team = team;
        team->members[i].number = i;
    }
    return team;
}

void team_free(Team *team)
{
    if (team == NULL)
        return;
    team_give_back_all(team);
    pthread_mutex_lock(&team->mutex);
    atomic_store(&team->is_over, true);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->mutex);
    for (uint32_t i = 1; i < team->started; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->mutex);
    memory_free(team->memory, team->block, team->block_size);
}

uint32_t team_size(const Team *team)
{
    return team->options.threads;
}

uint64_t team_busy_time(const Team *team)
{
    uint64_t time = 0;
    for (uint32_t i = 1; i < team->started; i++)
        time += atomic_load_explicit(&team->members[i].busy_time, memory_order_relaxed);
    return time;
}

uint64_t team_waiting_time(const Team *team)
{
    return team->waiting_time;
}

size_t team_grain(const Team *team, size_t item_picoseconds)
{
    return team == NULL ? SIZE_MAX : (team->options.piece_picoseconds + item_picoseconds - 1) / item_picoseconds;
}

TeamPieces team_pieces(const Team *team, size_t count, size_t grain)
{
    if (!team_shares(team, count, grain))
        return (TeamPieces){.count = 1, .length = count};
    size_t grains = (count + grain - 1) / grain, most = (size_t)team_size(team) * PIECES_PER_MEMBER;
    size_t length = (grains + most - 1) / most * grain;
    return (TeamPieces){.count = (count + length - 1) / length, .length = length};
}

/* ---- running ---- */

/* Every member that takes part begins with as much. */
static void share_out(Team *team, size_t grains)
{
    uint32_t members = team->loop.members;
    for (uint32_t i = 0; i < members; i++)
        atomic_store_explicit(&team->members[i].share, share_of(grains * i / members, grains * (i + 1) / members),
                              memory_order_relaxed);
}

static void wake_members(Team *team)
{
    if (atomic_load(&team->sleepers) == 0)
        return;
    pthread_mutex_lock(&team->mutex);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->mutex);
}

static void wait_for_members(Team *team)
{
    uint64_t state = atomic_fetch_and(&team->state, ~(uint64_t)STATE_OPEN);
    uint64_t start = (state & STATE_ACTIVE) != 0 ? machine_clock() : 0;
    for (uint32_t i = 1; (state & STATE_ACTIVE) != 0; i++) {
        if (i % SPINS_BETWEEN_YIELDS == 0)
            sched_yield();
        else
            pause_briefly();
        state = atomic_load(&team->state);
    }
    if (start != 0)
        team->waiting_time += machine_clock() - start;
}

/* Waking takes about as long as several pieces: for a few of them it is not worth it. */
static bool is_worth_waking(Team *team, uint64_t picoseconds)
{
    return picoseconds / WAKING_PIECES >= team->options.piece_picoseconds ||
           atomic_load_explicit(&team->sleepers, memory_order_relaxed) + 1 < team->started;
}

static void run_shared(Team *team, size_t grains)
{
    start_members(team, team->loop.members);
    if (team->loop.members > team->started)
        team->loop.members = team->started;
    share_out(team, grains);
    keep_apart(team, &team->members[0]);
    atomic_store(&team->state, ((atomic_load(&team->state) / STATE_LOOP) + 1) * STATE_LOOP | STATE_OPEN);
    wake_members(team);
    take_part(team, &team->members[0]);
    wait_for_members(team);
}

/* A loop without its members, that takes one of them about that long. */
static void run_loop(Team *team, Loop loop, uint64_t picoseconds)
{
    if (loop.count == 0)
        return;
    if (team == NULL || loop.count <= loop.grain) {
        loop.work(loop.context, 0, loop.count, 0);
        return;
    }
    while (loop.count / loop.grain >= UINT32_MAX)
        loop.grain *= 2;
    size_t grains = (loop.count + loop.grain - 1) / loop.grain;
    loop.members = grains < team->options.threads ? (uint32_t)grains : team->options.threads;
    if (team->is_running)
        bug("team", "a loop inside a loop");
    team->is_running = true;
    team->loop = loop;
    if (loop.members > 1 && is_worth_waking(team, picoseconds))
        run_shared(team, grains);
    else {
        team->loop.members = 1;
        share_out(team, grains);
        take_part(team, &team->members[0]);
    }
    team->is_running = false;
    if (stop_reason(team->options.stop) != STOP_NOT)
        team->options.stopped(team->options.context);
}

void team_run_long(Team *team, size_t count, size_t grain, uint64_t picoseconds, TeamWork *work, void *context)
{
    run_loop(team, (Loop){work, context, count, grain, .part = PIECES_PER_MEMBER}, picoseconds);
}

/* Loops over pieces that were cut beforehand are large. */
static uint64_t guess_picoseconds(const Team *team, size_t count, size_t grain)
{
    uint64_t pieces = grain == 1 ? WAKING_PIECES : count / grain + 1;
    return team == NULL ? 0 : pieces * team->options.piece_picoseconds;
}

void team_run(Team *team, size_t count, size_t grain, TeamWork *work, void *context)
{
    team_run_long(team, count, grain, guess_picoseconds(team, count, grain), work, context);
}

void team_run_alike(Team *team, size_t count, size_t grain, TeamWork *work, void *context)
{
    run_loop(team, (Loop){work, context, count, grain, .part = LARGER_PART}, guess_picoseconds(team, count, grain));
}

uint32_t team_start(Team *team)
{
    start_members(team, team->options.threads);
    return team->started;
}

/* Whoever comes too late finds the loop closed, as one has given up. */
void team_run_together(Team *team, TeamWork *work, void *context)
{
    if (team->is_running)
        bug("team", "a loop inside a loop");
    team->is_running = true;
    team->loop = (Loop){.work = work, .context = context, .count = team->started, .grain = 1, .members = team->started, .is_together = true};
    run_shared(team, team->started);
    team->is_running = false;
    if (stop_reason(team->options.stop) != STOP_NOT)
        team->options.stopped(team->options.context);
}

/* ---- temporary memory ---- */

void *team_alloc(Team *team, size_t size)
{
    if (size > SIZE_MAX - 2 * CACHE_LINE)
        memory_fail(team->memory);
    size_t whole = size + 2 * CACHE_LINE;
    void *allocated = memory_resize(team->memory, NULL, 0, whole);
    Block *block = next_line(allocated);
    *block = (Block){.next = team->blocks.next, .previous = &team->blocks, .allocated = allocated, .size = whole};
    block->next->previous = block;
    team->blocks.next = block;
    return (char *)block + CACHE_LINE;
}

void team_give_back(Team *team, void *memory)
{
    if (memory == NULL)
        return;
    Block *block = (Block *)(void *)((char *)memory - CACHE_LINE);
    block->next->previous = block->previous;
    block->previous->next = block->next;
    memory_free(team->memory, block->allocated, block->size);
}

void team_give_back_all(Team *team)
{
    while (team->blocks.next != &team->blocks)
        team_give_back(team, (char *)team->blocks.next + CACHE_LINE);
}
