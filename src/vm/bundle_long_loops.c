/* Loops that take very long. A point that has one is done alone, the loop by all threads: each does some parts of it by calls of the code that give the elements of these, and what reductions come to
 * in each of their blocks; the call that is to give the point's results is then told what these come to together. */
#include "vm/bundle_doing.h"

#include "base/least.h"
#include "kernel/members.h"

#include <string.h>

enum {
    LONG_PIECES = 32, /* a loop that takes as long as so many pieces is shared, at one nanosecond for a point, */
    PARTS_EACH = 16,  /* ... at most in so many parts for each thread */
};

int64_t doing_long_loop(const Doing *doing)
{
    const Team *team = doing->vm->team;
    if (doing->kernel->shared == 0 || team == NULL || team_size(team) == 1)
        return INT64_MAX;
    size_t points = LONG_PIECES * team_grain(team, 1000);
    return points < 2 * COMBINE_BLOCK ? 2 * COMBINE_BLOCK : (int64_t)points;
}

typedef struct LongLoop {
    Doing *doing;
    const KernelCall *call;
    const DoingParts *parts;
    void *totals[DOING_TABLE_MAX]; /* by number in the kernel's list: a cell for each block, or what is known of another loop */
    bool wants_totals;             /* only those of scans */
    _Atomic bool is_full;          /* there was no room for what a part gives */
} LongLoop;

static size_t partial_size(const Doing *doing, FlowNodeId id)
{
    const FlowNode *node = doing_node(doing, id);
    return node->op == FLOW_FOLD || node->op == FLOW_SCAN ? fold_result_size(doing_fold(doing, id)) : sizeof(int64_t);
}

/* Where the elements of a part go: those of other scopes nowhere, as what comes before the loop may store something for its point. */
static void find_part_outputs(const LongLoop *loop, size_t part, uint64_t *nothing, void **outputs)
{
    const Doing *doing = loop->doing;
    for (uint32_t i = 0; i < DOING_TABLE_MAX; i++)
        outputs[i] = &nothing[i];
    for (uint32_t i = 0; i < doing_output_count(doing->kernel) && doing->outputs != NULL; i++) {
        if (doing->parts[doing->scopes[i]] != loop->parts)
            continue;
        size_t place = doing->is_direct ? (size_t)doing_part_start(loop->parts, part) : doing_part_room(loop->parts, part);
        outputs[i] = (doing->is_direct ? doing->outputs[i] : doing_tile_output(doing, i, 0)) + place * doing->sizes[i];
    }
}

static bool do_part(LongLoop *loop, size_t part)
{
    const Doing *doing = loop->doing;
    const DoingParts *all = loop->parts;
    KernelLoopParts parts = *loop->call->parts;
    uint64_t nothing[DOING_TABLE_MAX], carries[DOING_TABLE_MAX];
    void *outputs[DOING_TABLE_MAX], *own_carries[DOING_TABLE_MAX], *totals[DOING_TABLE_MAX];
    int64_t done = 1;
    KernelCall call = *loop->call;
    find_part_outputs(loop, part, nothing, outputs);
    for (uint32_t i = 0; i < doing->kernel->scans.count; i++) {
        carries[i] = *(const uint64_t *)loop->call->carries[i];
        own_carries[i] = &carries[i];
    }
    for (uint32_t i = 0; i < doing->kernel->totals.count; i++)
        totals[i] = &nothing[i];
    call.outputs = outputs;
    call.carries = own_carries;
    call.totals = totals;
    call.room = (int64_t)(doing_part_room(all, part + 1) - doing_part_room(all, part));
    call.given = all->given + part * doing->kernel->scopes.count;
    call.done = &done;
    call.parts = &parts;
    parts.totals = loop->totals;
    parts.scope = parts.wanted;
    parts.wants_totals = loop->wants_totals;
    parts.from = doing_part_start(all, part);
    parts.end = doing_part_start(all, part + 1);
    if (doing->function(&call) != 0)
        return false;
    if (done == 0)
        atomic_store_explicit(&loop->is_full, true, memory_order_relaxed);
    return true;
}

static void do_parts(void *context, size_t first, size_t end, uint32_t member)
{
    LongLoop *loop = context;
    Doing *doing = loop->doing;
    (void)member;
    for (size_t part = first; part < end && !atomic_load_explicit(&doing->has_failed, memory_order_relaxed); part++)
        if (!do_part(loop, part))
            atomic_store_explicit(&doing->has_failed, true, memory_order_relaxed);
}

/* What blocks come to together. */
static void join_blocks(const Doing *doing, FlowNodeId id, void *totals, size_t blocks, void *cell)
{
    const FlowNode *node = doing_node(doing, id);
    if (node->op != FLOW_FOLD) {
        int64_t sum = 0;
        for (size_t i = 0; i < blocks; i++)
            sum += ((const int64_t *)totals)[i];
        memcpy(cell, &sum, sizeof sum);
        return;
    }
    const FoldKind *fold = doing_fold(doing, id);
    _Alignas(8) unsigned char state[FOLD_STATE_MAX];
    fold_start(fold, state);
    if (member_is_ordered(node) || node->core_op == OP_COUNT_TRUE)
        fold_join_totals(fold, state, totals, blocks);
    else
        fold_add(NULL, fold, state, (Cells){.data = totals}, blocks);
    fold_result(fold, state, cell);
}

/* From what a scan comes to in each block to what comes before it. */
static void find_carries(const Doing *doing, FlowNodeId id, void *totals, size_t blocks)
{
    const FlowNode *node = doing_node(doing, id);
    _Alignas(8) unsigned char state[FOLD_STATE_MAX];
    if (member_is_ordered(node)) {
        fold_start(doing_fold(doing, id), state);
        fold_join_totals(doing_fold(doing, id), state, totals, blocks);
        return;
    }
    const FoldKind *fold = fold_kind(member_scan_operator(node), (ScalarType)node->inputs[0].type);
    size_t size = fold_result_size(fold);
    fold_start(fold, state);
    for (size_t i = 0; i < blocks; i++) {
        uint64_t total;
        char *cell = (char *)totals + i * size;
        memcpy(&total, cell, size);
        fold_result(fold, state, cell);
        fold_add(NULL, fold, state, (Cells){.data = &total}, 1);
    }
}

/* The parts of the loop that a call wants to be shared. */
static const DoingParts *cut_loop(Doing *doing, const KernelCall *call)
{
    const Kernel *kernel = doing->kernel;
    DoingParts *parts = doing_reserve(doing, sizeof *parts);
    size_t blocks = ((size_t)call->parts->length + COMBINE_BLOCK - 1) / COMBINE_BLOCK;
    *parts = (DoingParts){.count = least(blocks, PARTS_EACH * team_size(doing->vm->team)), .blocks = blocks, .points = call->parts->length, .room = call->room};
    parts->given = doing_reserve(doing, parts->count * kernel->scopes.count * sizeof *parts->given);
    memset(parts->given, 0, parts->count * kernel->scopes.count * sizeof *parts->given);
    for (uint32_t scope = 1; scope < kernel->scopes.count; scope++)
        if ((kernel->scopes.items[scope].ancestors >> call->parts->wanted & 1) != 0)
            doing->parts[scope] = parts;
    return parts;
}

/* The partials of a loop, one after the other. */
static bool next_partial(const Doing *doing, uint32_t loop, bool is_scan, uint32_t *number)
{
    const Kernel *kernel = doing->kernel;
    for (; *number < kernel->partials.count; ++*number) {
        const KernelPartial *partial = &kernel->partials.items[*number];
        if (partial->loop == loop && (doing_node(doing, partial->node)->op == FLOW_SCAN) == is_scan)
            return true;
    }
    return false;
}

/* What scans begin each block with; false if it is not found. */
static bool begin_scans(LongLoop *loop, uint32_t scope)
{
    Doing *doing = loop->doing;
    uint32_t number = 0;
    if (!next_partial(doing, scope, true, &number))
        return true;
    loop->wants_totals = true;
    team_run(doing->vm->team, loop->parts->count, 1, do_parts, loop);
    loop->wants_totals = false;
    if (atomic_load(&doing->has_failed))
        return false;
    for (; next_partial(doing, scope, true, &number); number++)
        find_carries(doing, doing->kernel->partials.items[number].node, loop->totals[number], loop->parts->blocks);
    return true;
}

typedef enum Outcome { OUTCOME_DONE, OUTCOME_FULL, OUTCOME_FAILED } Outcome;

/* Does the loop that a call has found to be long. */
static Outcome share_loop(Doing *doing, KernelCall *call, int64_t *given)
{
    const Kernel *kernel = doing->kernel;
    KernelLoopParts *parts = call->parts;
    LongLoop loop = {.doing = doing, .call = call, .parts = cut_loop(doing, call)};
    for (uint32_t i = 0; i < kernel->partials.count; i++) {
        const KernelPartial *partial = &kernel->partials.items[i];
        loop.totals[i] = partial->loop == parts->wanted ? doing_reserve(doing, loop.parts->blocks * partial_size(doing, partial->node)) : parts->totals[i];
    }
    if (!begin_scans(&loop, parts->wanted))
        return OUTCOME_FAILED;
    team_run(doing->vm->team, loop.parts->count, 1, do_parts, &loop);
    if (atomic_load(&doing->has_failed) || atomic_load(&loop.is_full))
        return atomic_load(&doing->has_failed) ? OUTCOME_FAILED : OUTCOME_FULL;
    for (uint32_t i = 0; next_partial(doing, parts->wanted, false, &i); i++)
        join_blocks(doing, kernel->partials.items[i].node, loop.totals[i], loop.parts->blocks, parts->totals[i]);
    for (uint32_t scope = 1; scope < kernel->scopes.count; scope++)
        for (size_t part = 0; part < loop.parts->count && doing->parts[scope] == loop.parts; part++)
            given[scope] += loop.parts->given[part * kernel->scopes.count + scope];
    parts->known |= UINT64_C(1) << parts->wanted;
    return OUTCOME_DONE;
}

/* A point that is alone, and has a long loop. Where one is shared all are that can be, so that no call for a part of one does another too. */
static Outcome share_point(Doing *doing, KernelCall *call, int64_t *given)
{
    if (call->long_loop == 0)
        return share_loop(doing, call, given);
    call->long_loop = 0;
    return OUTCOME_DONE;
}

bool doing_call(Doing *doing, size_t tile, KernelCall *call)
{
    uint64_t cells[DOING_TABLE_MAX], status;
    void *totals[DOING_TABLE_MAX];
    int64_t given[KERNEL_SCOPES_MAX] = {0};
    KernelLoopParts parts = {.totals = totals, .given = given};
    Outcome outcome = OUTCOME_DONE;
    for (uint32_t i = 0; i < doing->kernel->partials.count; i++)
        totals[i] = &cells[i];
    call->parts = &parts;
    while (outcome == OUTCOME_DONE && (status = doing->function(call)) == KERNEL_LONG) {
        if (doing->is_alone)
            outcome = share_point(doing, call, given);
        else {
            call->count = *call->done;
            least_keep(&doing->long_tile, tile);
        }
        *call->done = outcome == OUTCOME_FULL ? 0 : call->count;
    }
    return outcome == OUTCOME_FULL || (outcome == OUTCOME_DONE && status == 0);
}
