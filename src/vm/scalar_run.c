/* Runs of scalar code: one machine on the calling thread, or one on each thread of a team.
 *
 * What a point costs is not known before it was run, and may be anything from nanoseconds to minutes. So points are handed out in ascending order
 * to machines that ask for them, as many at a time as seem worth a piece of the team's work by what those before have taken. When a point
 * fails, no others are handed out, and the machines at work on later ones are halted: all before the least point that fails have their results.
 *
 * A shared machine cannot make its stacks larger. A point that needs that is run by the calling thread alone, with a few that follow; then all
 * stacks are made as large as the ones that this took. */
#define _POSIX_C_SOURCE 200809L
#include "vm/scalar_code_private.h"

#include "base/least.h"

#include <time.h>

enum {
    STACK_SHARED = 1 << 11, /* items of a stack at first, if machines are shared */
    STACK_KEPT = 1 << 17,   /* what deep recursion needs beyond that is given back after the run */
    ALONE_AFTER_FULL = 64,  /* points */
    RUNS_BETWEEN_LOOKS = 8, /* at the time, for runs that are likely short */
    LEAST_BATCHES = 4,      /* that each member should have still to do */
};

/* A run under way. */
typedef struct Running {
    ScalarCode *code;
    ScalarFunction *function;
    ScalarRun *run;
    uint64_t piece; /* nanoseconds that are worth sharing; 0 if there is nobody to share with */
    bool has_globals;
} Running;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- stacks ---- */

static void prepare_stacks(ScalarCode *code, uint32_t member, size_t registers, size_t returns)
{
    ScalarStacks *stacks = &code->stacks[member];
    if (stacks->register_capacity < registers)
        scalar_resize_registers(code, stacks, scalar_capacity(stacks->register_capacity, registers));
    if (stacks->return_capacity < returns)
        scalar_resize_returns(code, stacks, scalar_capacity(stacks->return_capacity, returns));
}

static void prepare_members(ScalarCode *code, uint32_t count)
{
    if (code->stacks_count >= count)
        return;
    size_t size = sizeof *code->stacks;
    code->stacks = memory_resize(code->memory, code->stacks, code->stacks_count * size, count * size);
    for (; code->stacks_count < count; code->stacks_count++)
        code->stacks[code->stacks_count] = (ScalarStacks){0};
}

/* All stacks as large as those of the calling thread, within reason. */
static void prepare_shared_stacks(const Running *running, uint32_t members)
{
    ScalarCode *code = running->code;
    prepare_members(code, members);
    size_t registers = least(greater(code->stacks[0].register_capacity, STACK_SHARED), STACK_KEPT);
    size_t returns = least(greater(code->stacks[0].return_capacity, STACK_SHARED), STACK_KEPT);
    for (uint32_t i = 0; i < members; i++)
        prepare_stacks(code, i, greater(registers, running->function->register_count), returns);
}

/* What deep recursion needed is given back. */
static void shrink_stacks(ScalarCode *code)
{
    ScalarStacks *stacks = &code->stacks[0];
    if (stacks->register_capacity > STACK_KEPT)
        scalar_resize_registers(code, stacks, STACK_KEPT);
    if (stacks->return_capacity > STACK_KEPT)
        scalar_resize_returns(code, stacks, STACK_KEPT);
}

/* ---- machines ---- */

/* Calls that may be nested in the one of the run. */
static size_t depth_left(const ScalarRun *run)
{
    uint64_t left = run->max_depth > run->depth ? run->max_depth - run->depth : 0;
    return left > SIZE_MAX / 64 ? SIZE_MAX / 64 : (size_t)left;
}

static ScalarMachine machine_of(const Running *running, uint32_t member)
{
    static const _Atomic bool never = false;
    return (ScalarMachine){.code = running->code,
                           .run = running->run,
                           .function = running->function,
                           .results = running->run->results,
                           .stacks = &running->code->stacks[member],
                           .return_limit = depth_left(running->run) + 1,
                           .is_halted = &never};
}

static const CoreStatement *origin_of(const ScalarCode *code, const Instruction *instruction)
{
    for (uint32_t i = 0; i < code->functions.count; i++) {
        const ScalarFunction *function = &code->functions.items[i];
        if (function->code != NULL && instruction >= function->code && instruction < function->code + function->count)
            return function->origins[instruction - function->code];
    }
    return NULL;
}

/* The machine has run the first points that were left, all of them or up to where it stopped. */
static ScalarOutcome take_outcome(const Running *running, const ScalarMachine *machine, ScalarOutcome outcome)
{
    ScalarRun *run = running->run;
    run->done = machine->point;
    if (outcome == OUTCOME_FAILED) {
        run->problem = machine->problem;
        run->problem.statement = origin_of(running->code, machine->failed);
    }
    return outcome;
}

/* ---- what points cost ---- */

/* Half of what was believed, and half of what was seen. */
static void learn(ScalarFunction *function, uint64_t time, size_t points)
{
    uint64_t seen = points == 0 ? function->point_time : time / points + 1;
    function->point_time = function->point_time == 0 ? seen : (function->point_time + seen) / 2;
}

static bool is_likely_short(const Running *running, size_t points)
{
    uint64_t time = running->function->point_time;
    return time != 0 && points < running->piece / time / 4;
}

/* If nothing is known, the cost may be anything, and there is more to lose by not sharing it. */
static bool is_worth_sharing(const Running *running, size_t points)
{
    uint64_t time = running->function->point_time;
    return running->piece != 0 && points > 1 && (time == 0 || points > 2 * running->piece / time);
}

/* Points that are likely worth a piece. */
static size_t batch_of(const Running *running)
{
    uint64_t time = running->function->point_time;
    return time == 0 ? 1 : (size_t)greater(running->piece / time, 1);
}

/* ---- alone ---- */

static ScalarOutcome run_alone(const Running *running, size_t count)
{
    ScalarMachine machine = machine_of(running, 0);
    machine.point = running->run->done;
    machine.end = machine.point + count;
    return take_outcome(running, &machine, scalar_execute_compiled(&machine));
}

/* Some of the points that do not seem worth sharing; afterwards more is known. */
static ScalarOutcome run_some(const Running *running, size_t left)
{
    bool is_looking = running->piece != 0 && left > 1 &&
                      (!is_likely_short(running, left) || running->code->run % RUNS_BETWEEN_LOOKS == 0);
    if (!is_looking)
        return run_alone(running, left);
    size_t before = running->run->done;
    uint64_t start = now();
    ScalarOutcome outcome = run_alone(running, least(left, batch_of(running)));
    learn(running->function, now() - start, running->run->done - before);
    return outcome;
}

/* ---- shared ---- */

typedef struct Member {
    ScalarMachine machine;
    ScalarOutcome outcome;
    uint64_t time; /* nanoseconds that were spent, */
    size_t points; /* ... on as many points */
} Member;

typedef struct Sharing {
    const Running *running;
    size_t count, batch;
    uint32_t member_count;
    _Alignas(MACHINE_ALIGNMENT) _Atomic size_t next; /* the first point that nobody was given */
    _Alignas(MACHINE_ALIGNMENT) _Atomic size_t halt; /* the least point that did not come to its end */
    _Atomic bool is_halted;
    Member members[];
} Sharing;

static void halt_at(Sharing *sharing, size_t point)
{
    least_keep(&sharing->halt, point);
    atomic_store(&sharing->is_halted, true);
}

/* Gives the machine its next points. Those before a point that failed meanwhile are still wanted. */
static bool take_points(Sharing *sharing, ScalarMachine *machine, size_t batch)
{
    size_t point = atomic_fetch_add(&sharing->next, batch);
    if (point >= atomic_load(&sharing->halt)) /* which is the number of points while none has failed */
        return false;
    machine->point = point;
    machine->end = least(point + batch, sharing->count);
    return true;
}

/* As many as are worth a piece if they cost what the last ones did; fewer at the end, so that all members come to it together. */
static size_t next_batch(const Sharing *sharing, size_t batch, uint64_t time)
{
    size_t next = atomic_load_explicit(&sharing->next, memory_order_relaxed);
    size_t left = next < sharing->count ? sharing->count - next : 0;
    size_t fitting = time == 0 ? 2 * batch : least(batch * (sharing->running->piece / time + 1), 2 * batch);
    if (time > sharing->running->piece)
        fitting = batch / 2;
    return greater(least(fitting, left / (LEAST_BATCHES * sharing->member_count)), 1);
}

static void run_member(void *context, size_t first, size_t end, uint32_t number)
{
    (void)first, (void)end;
    Sharing *sharing = context;
    Member *member = &sharing->members[number];
    size_t batch = sharing->batch;
    uint64_t start = now();
    while (member->outcome == OUTCOME_DONE && take_points(sharing, &member->machine, batch)) {
        size_t before = member->machine.point;
        member->outcome = scalar_execute_compiled(&member->machine);
        if (member->outcome != OUTCOME_DONE)
            halt_at(sharing, member->machine.point);
        uint64_t time = now() - start;
        start += time;
        member->time += time;
        member->points += member->machine.point - before;
        batch = next_batch(sharing, batch, time);
    }
}

/* Those without a value stay so: a machine that uses one fails. */
static void find_globals(Running *running)
{
    ScalarCode *code = running->code;
    for (size_t i = 0; i < code->globals.count && !running->has_globals; i++)
        if (code->globals.items[i].run != code->run)
            scalar_find_global(code, running->run, &code->globals.items[i]);
    running->has_globals = true;
}

/* Where machines put results: arrays aside, since only the calling thread may retain them. */
static void **open_results(const Running *running)
{
    const ScalarFunction *function = running->function;
    const ScalarRun *run = running->run;
    void **results = team_alloc(run->team, function->result_count * sizeof(void *));
    for (uint32_t i = 0; i < function->result_count; i++)
        results[i] = function->results[i] == LEAF_ARRAY ? team_alloc(run->team, run->count * sizeof(Array *)) : run->results[i];
    return results;
}

static void close_results(const Running *running, void **results, size_t first)
{
    const ScalarFunction *function = running->function;
    const ScalarRun *run = running->run;
    for (uint32_t i = 0; i < function->result_count; i++)
        if (function->results[i] == LEAF_ARRAY) {
            cells_copy(LEAF_ARRAY, (Array **)run->results[i] + first, (Cells){.data = results[i]}, first, run->done - first);
            team_give_back(run->team, results[i]);
        }
    team_give_back(run->team, results);
}

static Sharing *open_sharing(const Running *running, void *const *results)
{
    const ScalarRun *run = running->run;
    uint32_t members = team_size(run->team);
    Sharing *sharing = team_alloc(run->team, sizeof *sharing + members * sizeof(Member));
    *sharing = (Sharing){.running = running, .count = run->count, .member_count = members};
    sharing->batch = least(batch_of(running), (run->count - run->done) / (LEAST_BATCHES * members) + 1);
    atomic_init(&sharing->next, run->done);
    atomic_init(&sharing->halt, run->count);
    for (uint32_t i = 0; i < members; i++) {
        ScalarMachine machine = machine_of(running, i);
        machine.results = results;
        machine.is_shared = true;
        machine.is_halted = &sharing->is_halted;
        machine.halt = &sharing->halt;
        sharing->members[i] = (Member){.machine = machine};
    }
    return sharing;
}

static ScalarOutcome close_sharing(const Running *running, Sharing *sharing)
{
    size_t halt = atomic_load(&sharing->halt), points = 0;
    uint64_t time = 0;
    ScalarOutcome outcome = OUTCOME_DONE;
    running->run->done = halt;
    for (uint32_t i = 0; i < sharing->member_count; i++) {
        const Member *member = &sharing->members[i];
        time += member->time;
        points += member->points;
        if (member->outcome != OUTCOME_DONE && member->machine.point == halt)
            outcome = take_outcome(running, &member->machine, member->outcome);
    }
    learn(running->function, time, points);
    team_give_back(running->run->team, sharing);
    return outcome;
}

static ScalarOutcome run_shared(Running *running)
{
    Team *team = running->run->team;
    size_t first = running->run->done;
    prepare_shared_stacks(running, team_size(team));
    find_globals(running);
    void **results = open_results(running);
    Sharing *sharing = open_sharing(running, results);
    team_run(team, sharing->member_count, 1, run_member, sharing);
    ScalarOutcome outcome = close_sharing(running, sharing);
    close_results(running, results, first);
    return outcome;
}

/* ---- runs ---- */

static ScalarOutcome run_on(Running *running)
{
    size_t left = running->run->count - running->run->done;
    if (!is_worth_sharing(running, left))
        return run_some(running, left);
    ScalarOutcome outcome = run_shared(running);
    left = running->run->count - running->run->done;
    return outcome == OUTCOME_FULL ? run_alone(running, least(left, ALONE_AFTER_FULL)) : outcome;
}

bool scalar_code_run(ScalarCode *code, CoreFunctionId function, ScalarRun *run)
{
    scalar_compile(code, function);
    run->done = 0;
    run->problem = (ScalarProblem){0};
    if (run->count == 0)
        return true;
    code->run++;
    Running running = {.code = code, .function = &code->functions.items[function], .run = run};
    if (run->team != NULL && team_size(run->team) > 1)
        running.piece = team_grain(run->team, 1000);
    prepare_members(code, 1);
    prepare_stacks(code, 0, running.function->register_count, 1);
    ScalarOutcome outcome = OUTCOME_DONE;
    while (outcome == OUTCOME_DONE && run->done < run->count)
        outcome = run_on(&running);
    shrink_stacks(code);
    return outcome == OUTCOME_DONE;
}
