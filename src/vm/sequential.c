#define _POSIX_C_SOURCE 200809L
#include "vm/sequential.h"

#include "base/least.h"
#include "kernel/preamble/region.h"
#include "vm/code.h"
#include "vm/forks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECES = 64,     /* of a thread, at most: more cost more than they even out */
    WIDE_GRAIN = 16 * KERNEL_WIDE, /* points of a piece, where many are done at once: fewer leave lanes empty */
    SHARING_THREADS = 4, /* that one point feeds with calls, */
    SHARED_LEAST = 4096, /* ... of so many elements, for pieces of a microsecond */
    OWN_BLOCK = 2 * KERNEL_BLOCK, /* bytes of a block that a thread keeps, */
    ROOM_LEAST = 2 << 20,         /* ... and of all blocks, from which on it is worth giving back what is free before results are copied */
    KEPT_LEAST = 1 << 20,         /* bytes of what was made that are worth keeping where they are, */
    KEPT_MAX = 8,                 /* ... and columns that are */
    LENGTH_PICOSECONDS = 500,     /* to look at one, about */
    TOGETHER_LEAST = 1 << 14,     /* elements of a point that all threads are to do, for pieces of a microsecond, */
    TOGETHER_SHARES = 4,          /* ... and of the share of one: what one does last the others wait for */
};

/* Of a call that was taken from another thread. */
typedef struct Guest Guest;
struct Guest {
    KernelWorkspace workspace;
    Guest *next, *next_free;
};

/* What was made in a block that the session keeps. */
typedef struct Kept {
    SharedCells *cells;
    size_t used; /* bytes of the block */
} Kept;

/* What compiled code takes memory from. Threads take blocks at the same time, and not through the session's memory, which belongs to one. */
struct Workspaces {
    uint32_t count;
    pthread_mutex_t lock; /* of the next two */
    KernelBlock *blocks;  /* that nobody uses, */
    size_t bytes;         /* ... and of all that there are */
    size_t known_bytes;   /* ... that the session's memory knows of */
    size_t limit;
    Guest *guests, *free_guests;
    Kept kept[KEPT_MAX]; /* of the results that are taken over now */
    uint32_t kept_count;
    KernelWorkspace members[];
};

/* ---- memory ---- */

/* With the lock held, as the next two. The smallest of those that nobody uses, if it is not much too large; null if there is none. */
static KernelBlock *reuse_block(struct Workspaces *all, size_t bytes)
{
    KernelBlock **best = NULL;
    for (KernelBlock **place = &all->blocks; *place != NULL; place = &(*place)->next)
        if ((*place)->size >= bytes && (*place)->size / 2 <= bytes && (best == NULL || (*place)->size < (*best)->size))
            best = place;
    KernelBlock *block = best == NULL ? NULL : *best;
    if (block != NULL)
        *best = block->next;
    return block;
}

static void free_blocks(struct Workspaces *all, KernelBlock **blocks)
{
    for (KernelBlock *block = *blocks; block != NULL;) {
        KernelBlock *next = block->next;
        all->bytes -= block->size;
        memory_free_outside(block, block->size);
        block = next;
    }
    *blocks = NULL;
}

static KernelBlock *new_block(struct Workspaces *all, size_t bytes)
{
    if (all->bytes + bytes > all->limit)
        free_blocks(all, &all->blocks);
    KernelBlock *block = all->bytes + bytes > all->limit ? NULL : memory_alloc_outside(bytes);
    if (block != NULL) {
        block->size = bytes;
        all->bytes += bytes;
    }
    return block;
}

static KernelBlock *take_block(KernelWorkspace *workspace, size_t bytes)
{
    struct Workspaces *all = workspace->context;
    pthread_mutex_lock(&all->lock);
    KernelBlock *block = reuse_block(all, bytes);
    if (block == NULL)
        block = new_block(all, bytes);
    pthread_mutex_unlock(&all->lock);
    return block;
}

static void free_workspace(struct Workspaces *all, KernelWorkspace *workspace)
{
    for (uint32_t r = 0; r < KERNEL_REGIONS; r++)
        free_blocks(all, &workspace->regions[r].first);
}

/* Nothing of it is used any more: all but small blocks are for others too, very large ones also outside. */
static void trim_workspace(struct Workspaces *all, KernelWorkspace *workspace)
{
    kernel_workspace_reset(workspace);
    pthread_mutex_lock(&all->lock);
    for (uint32_t r = 0; r < KERNEL_REGIONS; r++)
        for (KernelBlock **place = &workspace->regions[r].first; *place != NULL;) {
            KernelBlock *block = *place;
            if (block->size <= OWN_BLOCK) {
                place = &block->next;
                continue;
            }
            *place = block->next;
            block->next = NULL;
            if (block->size >= KERNEL_BLOCK_LARGE)
                free_blocks(all, &block);
            else {
                block->next = all->blocks;
                all->blocks = block;
            }
        }
    pthread_mutex_unlock(&all->lock);
}

/* Those that nothing was taken from: they lie behind the current one. */
static void free_untouched(struct Workspaces *all, KernelWorkspace *workspace)
{
    for (uint32_t r = 0; r < KERNEL_REGION_RECALL; r++) {
        KernelRegion *region = &workspace->regions[r];
        free_blocks(all, region->block == NULL ? &region->first : &region->block->next);
    }
}

static KernelWorkspace *take_guest(void *context)
{
    struct Workspaces *all = context;
    Guest *guest = all->free_guests;
    if (guest != NULL) {
        all->free_guests = guest->next_free;
        return &guest->workspace;
    }
    guest = memory_alloc_outside(sizeof *guest);
    if (guest == NULL)
        return NULL;
    *guest = (Guest){.next = all->guests};
    kernel_workspace_init(&guest->workspace, take_block, all);
    all->guests = guest;
    return &guest->workspace;
}

static void give_guest(void *context, KernelWorkspace *workspace)
{
    struct Workspaces *all = context;
    Guest *guest = (Guest *)(void *)workspace;
    trim_workspace(all, workspace);
    guest->next_free = all->free_guests;
    all->free_guests = guest;
}

static void free_guests(struct Workspaces *all)
{
    for (Guest *guest = all->guests; guest != NULL;) {
        Guest *next = guest->next;
        free_workspace(all, &guest->workspace);
        memory_free_outside(guest, sizeof *guest);
        guest = next;
    }
}

static size_t workspaces_size(uint32_t count)
{
    return sizeof(struct Workspaces) + count * sizeof(KernelWorkspace);
}

static void prepare_workspaces(Vm *vm)
{
    if (vm->workspaces == NULL) {
        uint32_t count = team_size(vm->team);
        vm->workspaces = memory_alloc(vm->memory, workspaces_size(count));
        vm->workspaces->count = count;
        pthread_mutex_init(&vm->workspaces->lock, NULL);
        for (uint32_t i = 0; i < count; i++)
            kernel_workspace_init(&vm->workspaces->members[i], take_block, vm->workspaces);
    }
    struct Workspaces *all = vm->workspaces;
    for (uint32_t i = 0; i < all->count; i++) /* a run that was stopped may have left something */
        kernel_workspace_reset(&all->members[i]);
    all->free_guests = NULL;
    all->kept_count = 0;
    for (Guest *guest = all->guests; guest != NULL; guest = guest->next)
        give_guest(all, &guest->workspace);
    size_t others = vm->memory->live_bytes - all->known_bytes;
    all->limit = vm->options.memory_limit > others ? vm->options.memory_limit - others : 0;
}

/* What was taken counts as the session's. */
static void note_bytes(Vm *vm)
{
    struct Workspaces *all = vm->workspaces;
    memory_count_outside(vm->memory, all->known_bytes, all->bytes);
    all->known_bytes = all->bytes;
}

/* So that what was made can be copied to where functions had what they needed meanwhile. What several threads give back lies here and there, and would serve for
 * nothing. */
static void make_room(Vm *vm)
{
    struct Workspaces *all = vm->workspaces;
    note_bytes(vm); /* as many as there were at once */
    if (all->count > 1 || all->bytes < ROOM_LEAST)
        return;
    free_untouched(all, &all->members[0]);
    free_blocks(all, &all->blocks);
    note_bytes(vm);
}

void sequential_free(Vm *vm)
{
    struct Workspaces *all = vm->workspaces;
    if (all == NULL)
        return;
    for (uint32_t i = 0; i < all->count; i++)
        free_workspace(all, &all->members[i]);
    free_guests(all);
    free_blocks(all, &all->blocks);
    pthread_mutex_destroy(&all->lock);
    memory_count_outside(vm->memory, all->known_bytes, 0);
    memory_free(vm->memory, all, workspaces_size(all->count));
    vm->workspaces = NULL;
}

/* ---- whether ---- */

enum { MEASURE_TILE = 256 };

/* Adds the lengths of vectors to the sizes of points. */
static void add_lengths(uint64_t *sizes, const int64_t *lengths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sizes[i] += (uint64_t)lengths[i];
}

/* How large points are: elements of the vectors that each has of its own. */
static void measure_tile(const Call *call, size_t first, size_t count, uint64_t *sizes)
{
    for (size_t i = 0; i < count; i++)
        sizes[i] = 1;
    for (uint32_t leaf = 0; leaf + 2 < call->signature.parameter_count; leaf++)
        if (call->signature.parameters[leaf] == LEAF_ARRAY && !call->arguments[leaf + 2].is_uniform)
            add_lengths(sizes, (const int64_t *)call->arguments[leaf + 2].data + first, count);
}

/* All together. One thread does this: it is to be quick. */
static uint64_t measure(const Call *call)
{
    uint64_t tile[MEASURE_TILE], total = 0;
    for (size_t first = call->good; first < call->count; first += MEASURE_TILE) {
        size_t count = least(MEASURE_TILE, call->count - first);
        measure_tile(call, first, count, tile);
        for (size_t i = 0; i < count; i++)
            total += tile[i];
    }
    return total;
}

/* Lengths joined bit by bit, which takes less than comparing them. */
typedef struct JoinedBits {
    const uint64_t *lengths;
    _Atomic uint64_t bits;
} JoinedBits;

static void join_bits(void *context, size_t first, size_t end, uint32_t member)
{
    JoinedBits *joined = context;
    uint64_t bits = 0;
    (void)member;
    for (size_t i = first; i < end; i++)
        bits |= joined->lengths[i];
    atomic_fetch_or(&joined->bits, bits);
}

/* At least what the largest point has. Each thread looks at the lengths that it will look at again when it does the points, and may have written: others would have to wait
 * for them, and so would whoever writes there next. */
static uint64_t bound_largest(const Vm *vm, const Call *call)
{
    uint64_t bound = 1;
    for (uint32_t leaf = 0; leaf + 2 < call->signature.parameter_count; leaf++) {
        if (call->signature.parameters[leaf] != LEAF_ARRAY || call->arguments[leaf + 2].is_uniform)
            continue;
        JoinedBits joined = {.lengths = (const uint64_t *)call->arguments[leaf + 2].data + call->good};
        team_run(vm->team, call->count - call->good, team_grain(vm->team, LENGTH_PICOSECONDS), join_bits, &joined);
        bound += joined.bits;
    }
    return bound;
}

/* Nobody should have more than half as much again as a fair share: another level of a recursion by networks costs more than what that loses. */
static uint64_t fair_size(const Vm *vm, uint64_t total)
{
    return 3 * total / (2 * team_size(vm->team));
}

/* The first large point from `first` on; `end` if there is none before that. */
static size_t find_large(const Call *call, size_t first, size_t end)
{
    uint64_t tile[MEASURE_TILE];
    for (; first < end; first += MEASURE_TILE) {
        size_t count = least(MEASURE_TILE, end - first);
        measure_tile(call, first, count, tile);
        for (size_t i = 0; i < count; i++)
            if (tile[i] > call->fair)
                return first + i;
    }
    return end;
}

/* Where large points end, with those between them and behind that are too few for all threads. */
static size_t end_of_large(const Call *call, size_t first, size_t threads)
{
    for (size_t end = first + 1;;) {
        if (call->count - end < threads)
            return call->count;
        size_t next = find_large(call, end, end + threads);
        if (next == end + threads)
            return end;
        end = next + 1;
    }
}

enum { SHORT_OPERATOR = 12 }; /* statements */

static bool is_short(const CoreBlock *body)
{
    bool has_calls = false;
    for (uint32_t i = 0; i < body->statement_count; i++)
        has_calls |= body->statements[i].kind == CORE_CALL;
    return !has_calls && body->statement_count <= SHORT_OPERATOR;
}

/* Whether a node may take long for an element. */
static bool takes_long(const Vm *vm, const FlowNode *node)
{
    switch (node->op) {
    case FLOW_CALL:
    case FLOW_SCALAR_CALL:
    case FLOW_ROWS:
    case FLOW_ORDER:
    case FLOW_GROUP:
    case FLOW_GROUP_TABLE:
    case FLOW_FOLD_BY: return true;
    case FLOW_FOLD_WITH:
    case FLOW_SCAN_WITH:
    case FLOW_PUT_WITH: return !is_short(vm->program->core->functions.items[node->function]->body);
    default: return false;
    }
}

/* Whether a node goes over a large point in less time than loops do, and by all threads: with several tables, or several blocks at once. */
static bool is_fast_for_large(const Vm *vm, const FlowNode *node)
{
    switch (node->op) {
    case FLOW_PUT_BY: return true;
    case FLOW_FOLD_WITH:
    case FLOW_SCAN_WITH: return !core_has_blocks(vm->program->core->functions.items[node->function]->body);
    default: return false;
    }
}

/* Whether large points are for the network. A loop of many turns may be one for few elements each, and is left to code. */
static bool is_made_for_large(const Vm *vm, const FlowNetwork *network)
{
    bool is_made = false;
    for (uint32_t i = 0; i < network->nodes.count; i++)
        is_made |= is_fast_for_large(vm, &network->nodes.items[i]);
    return is_made && !vm->program->core->functions.items[network->function]->is_recursive;
}

/* Whether a network does little for each element, but brings it from node to node through memory: that takes a few times as long as loops do, and a few threads do not make up for it. */
static bool is_roundabout(const Vm *vm, const FlowNetwork *network)
{
    for (uint32_t i = 0; i < network->nodes.count; i++)
        if (takes_long(vm, &network->nodes.items[i]))
            return false;
    return !is_made_for_large(vm, network);
}

/* Whether all points are for compiled code, however large one is. */
static bool is_for_code(const Vm *vm, const Call *call)
{
    size_t threads = team_size(vm->team), count = call->count - call->good;
    return threads == 1 || (code_is_shared(vm, call->plan->network->function) && count >= threads / SHARING_THREADS) ||
           (threads < SHARING_THREADS && is_roundabout(vm, call->plan->network));
}

/* What is worth sharing, given for pieces of a microsecond. */
static uint64_t for_pieces(const Vm *vm, uint64_t least)
{
    uint64_t piece = vm->options.piece_nanoseconds;
    return piece == 0 ? least : least * piece / 1000;
}

/* The largest size of points that are to be done by one thread each, where all can do one together. */
static uint64_t own_size(const Vm *vm, const Call *call)
{
    uint64_t least = for_pieces(vm, TOGETHER_LEAST);
    if (bound_largest(vm, call) <= least)
        return UINT64_MAX;
    uint64_t share = measure(call) / (TOGETHER_SHARES * team_size(vm->team));
    return share > least ? share : least;
}

/* Where the points end that compiled code is to do. Large ones are left to the network, those before and behind them are not. */
static size_t end_of_fair(const Vm *vm, Call *call)
{
    size_t threads = team_size(vm->team), count = call->count - call->good;
    if (is_for_code(vm, call))
        return call->count;
    if (count < threads)
        return call->good;
    if (call->fair == 0) {
        if (bound_largest(vm, call) <= fair_size(vm, count))
            return call->count;
        call->fair = fair_size(vm, measure(call));
    }
    size_t large = find_large(call, call->good, call->count);
    if (large < call->count)
        call->large_end = end_of_large(call, large, threads);
    return large - call->good < threads ? call->good : large;
}

/* ---- doing points ---- */

typedef struct Handover {
    Vm *vm;
    const Call *call;
    KernelFunction *code;
    void **outputs;      /* by leaf of the result, for points from the first on */
    const void **globals;
    size_t first;        /* point of the call */
    _Atomic size_t done; /* points before the first that was not, of all that have ended */
    _Atomic bool has_failed;
    atomic_bool is_left; /* ... and other code can do it */
    size_t count, grain; /* points, and those of a piece */
    /* where calls are offered to other threads: */
    Forks *forks;
    _Atomic size_t next;     /* point that nobody has taken yet */
    _Atomic size_t finished; /* points */
    KernelTogether together; /* without members if each point is done by one thread */
} Handover;

/* Where functions have what they need meanwhile. */
static KernelRegion *spare_of(const Handover *handover, uint32_t member)
{
    return &handover->vm->workspaces->members[member].regions[1];
}

static void do_points(void *context, size_t first, size_t end, uint32_t member)
{
    Handover *handover = context;
    const Call *call = handover->call;
    const Signature *signature = &call->signature;
    const void *streams[KERNEL_ENTRY_LEAVES];
    int64_t strides[KERNEL_ENTRY_LEAVES], done = 0;
    void *outputs[KERNEL_ENTRY_LEAVES];
    for (uint32_t i = 0; i < signature->parameter_count; i++) {
        Cells cells = call->arguments[i];
        strides[i] = !cells.is_uniform;
        streams[i] = (const char *)cells.data + (cells.is_uniform ? 0 : (handover->first + first) * leaf_size(signature->parameters[i]));
    }
    bool is_helper = handover->together.members > 0 && member > 0; /* it has the same result, which nobody wants twice */
    uint64_t ignored[KERNEL_ENTRY_LEAVES];
    for (uint32_t i = 0; i < signature->result_count; i++)
        outputs[i] = is_helper ? (char *)&ignored[i] : (char *)handover->outputs[i] + first * leaf_size(signature->results[i]);
    KernelCall kernel_call = {.count = (int64_t)(end - first),
                              .streams = streams,
                              .strides = strides,
                              .outputs = outputs,
                              .done = &done,
                              .globals = handover->globals,
                              .depth = (int64_t)(handover->vm->options.max_depth - least(handover->vm->options.max_depth, handover->vm->frame_count)),
                              .stop = code_stop_word(handover->vm->options.stop),
                              .has_failed = (const volatile bool *)(const void *)&handover->has_failed,
                              .workspace = &handover->vm->workspaces->members[member],
                              .spare = spare_of(handover, member),
                              .forks = handover->forks == NULL ? NULL : &handover->forks->calls,
                              .together = handover->together.members > 0 ? &handover->together : NULL,
                              .member = member};
    uint64_t status = handover->code(&kernel_call);
    if ((size_t)done == end - first)
        return;
    if (status == KERNEL_LEFT)
        atomic_store(&handover->is_left, true);
    handover->has_failed = true;
    least_keep(&handover->done, first + (size_t)done);
}

/* Pieces of `grain` points. */
static void do_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const Handover *handover = context;
    do_points(context, first * handover->grain, least(handover->count, end * handover->grain), member);
}

/* Takes points as long as there are some; then helps with those of others. */
static void do_points_and_help(void *context, size_t first_role, size_t end_role, uint32_t member)
{
    Handover *handover = context;
    (void)first_role, (void)end_role;
    for (;;) {
        size_t first = atomic_fetch_add(&handover->next, handover->grain);
        if (first >= handover->count)
            break;
        size_t end = least(handover->count, first + handover->grain);
        do_points(handover, first, end, member);
        atomic_fetch_add(&handover->finished, end - first);
    }
    while (atomic_load(&handover->finished) < handover->count)
        forks_help(handover->forks, spare_of(handover, member));
}

/* The only point is done by all members. */
static void do_together(void *context, size_t first, size_t end, uint32_t member)
{
    (void)first, (void)end;
    do_points(context, 0, 1, member);
}

static void give_way(void)
{
    sched_yield();
}

/* Where the cells of a leaf of the result go: those of vectors aside, for they are not the call's yet. */
static bool is_aside(const Signature *signature, uint32_t leaf)
{
    return signature->results[leaf] == LEAF_ARRAY || (leaf > 0 && signature->results[leaf - 1] == LEAF_ARRAY);
}

static void *result_cells(const Call *call, uint32_t leaf)
{
    return (char *)call->results[leaf].data + call->good * leaf_size(call->signature.results[leaf]);
}

static void take_outputs(Handover *handover, size_t count)
{
    const Signature *signature = &handover->call->signature;
    handover->outputs = team_alloc(handover->vm->team, (signature->result_count + 1) * sizeof(void *));
    for (uint32_t i = 0; i < signature->result_count; i++)
        handover->outputs[i] = is_aside(signature, i) ? team_alloc(handover->vm->team, count * leaf_size(signature->results[i]))
                                                      : result_cells(handover->call, i);
}

/* A block becomes the session's, its first `used` bytes at least, and is the region's no more: nothing else is taken from this before it is empty again. */
static SharedCells *keep_block(Vm *vm, KernelRegion *region, KernelBlock **place, size_t used)
{
    struct Workspaces *all = vm->workspaces;
    KernelBlock *block = *place;
    SharedCells *cells = memory_alloc(vm->memory, sizeof *cells);
    *cells = (SharedCells){.references = 1, .data = block, .size = block->size};
    *place = block->next;
    region->block = NULL;
    region->top = region->end = NULL;
    all->bytes -= block->size;
    all->known_bytes -= block->size; /* it was counted as the session's before */
    all->kept[all->kept_count++] = (Kept){cells, used};
    return cells;
}

/* `keep` of MadeVectors. */
static SharedCells *keep_cells(void *context, const void *cells, size_t bytes)
{
    Vm *vm = context;
    struct Workspaces *all = vm->workspaces;
    uintptr_t at = (uintptr_t)cells;
    for (uint32_t i = 0; i < all->count && bytes >= KEPT_LEAST && all->kept_count < KEPT_MAX; i++)
        for (uint32_t r = 0; r < KERNEL_REGIONS; r++) {
            KernelRegion *region = &all->members[i].regions[r];
            for (KernelBlock **place = &region->first; *place != NULL; place = &(*place)->next) {
                size_t size = (*place)->size, before = at - (uintptr_t)*place, used = before + bytes;
                if (at >= (uintptr_t)*place && before < size)
                    return bytes >= memory_cut_size(size, used) / 2 ? keep_block(vm, region, place, used) : NULL;
            }
        }
    return NULL;
}

/* Once all results were taken from where they were made: what lies behind those that were kept there. */
static void cut_kept(Vm *vm)
{
    struct Workspaces *all = vm->workspaces;
    for (uint32_t i = 0; i < all->kept_count; i++) {
        SharedCells *cells = all->kept[i].cells;
        size_t size = memory_cut_outside(cells->data, cells->size, all->kept[i].used);
        memory_count_outside(vm->memory, cells->size, size);
        cells->size = size;
    }
    all->kept_count = 0;
}

/* Vectors of points that were done become the call's. */
static void adopt_results(const Handover *handover, size_t count)
{
    Vm *vm = handover->vm;
    const Call *call = handover->call;
    const CoreFunction *function = vm->program->core->functions.items[call->plan->network->function];
    const Layout *layout = layout_of(vm->program->layouts, function->result_type);
    for (uint32_t i = 0; i < layout->count && count > 0; i++) {
        if (layout->leaves[i].type != LEAF_ARRAY)
            continue;
        MadeVectors made = {handover->outputs[i], handover->outputs[i + 1], handover->outputs[i + 2], count, keep_cells, vm};
        vectors_adopt(vm->memory, vm->team, layout->leaves[i].elements, &made, result_cells(call, i), result_cells(call, i + 1));
    }
    cut_kept(vm);
}

static void give_back(Handover *handover)
{
    Team *team = handover->vm->team;
    const Signature *signature = &handover->call->signature;
    for (uint32_t i = 0; i < signature->result_count; i++)
        if (is_aside(signature, i))
            team_give_back(team, handover->outputs[i]);
    team_give_back(team, handover->outputs);
    team_give_back(team, handover->globals);
    for (uint32_t i = 0; i < handover->vm->workspaces->count; i++)
        trim_workspace(handover->vm->workspaces, &handover->vm->workspaces->members[i]);
    note_bytes(handover->vm);
}

static bool has_code(const Vm *vm, const Call *call)
{
    CoreFunctionId function = call->plan->network->function;
    return vm->options.compiles && function != 0 && code_of_function(vm, function) != NULL;
}

/* Points of a piece, at least. */
static size_t grain_of(const Vm *vm, const Call *call, size_t count)
{
    size_t threads = team_size(vm->team), grain = count / (PIECES * threads);
    if (code_is_wide(vm, call->plan->network->function)) {
        size_t wanted = threads == 1 ? count : least(WIDE_GRAIN, (count + threads - 1) / threads);
        grain = grain > wanted ? grain : wanted;
    }
    return grain == 0 ? 1 : grain;
}

/* Every thread has a role. */
static void run_shared(Handover *handover)
{
    Vm *vm = handover->vm;
    Forks forks;
    forks_init(&forks, (ForkMemory){take_guest, give_guest, vm->workspaces}, (int64_t)for_pieces(vm, SHARED_LEAST));
    handover->forks = &forks;
    team_run(vm->team, team_size(vm->team), 1, do_points_and_help, handover);
    forks_free(&forks);
}

/* Points before `end`, or one point to all threads. Gives whether other code can go on with what is left of them. */
static bool hand_over(Vm *vm, Call *call, size_t end, KernelFunction *code, bool is_for_all)
{
    size_t count = end - call->good;
    prepare_workspaces(vm);
    Handover handover = {.vm = vm, .call = call, .code = code, .globals = code_global_cells(vm), .first = call->good, .done = count};
    take_outputs(&handover, count);
    handover.count = count;
    handover.grain = grain_of(vm, call, count);
    if (is_for_all && team_start(vm->team) > 1) {
        handover.together = (KernelTogether){.members = team_start(vm->team), .give_way = give_way};
        team_run_together(vm->team, do_together, &handover);
    } else if (team_size(vm->team) > 1 && code_is_shared(vm, call->plan->network->function))
        run_shared(&handover);
    else {
        size_t pieces = (count + handover.grain - 1) / handover.grain;
        (code_is_wide(vm, call->plan->network->function) ? team_run_alike : team_run)(vm->team, pieces, 1, do_pieces, &handover);
    }
    size_t done = atomic_load(&handover.done);
    make_room(vm);
    adopt_results(&handover, done);
    give_back(&handover);
    call->good += done;
    vm->stats.calls++;
    return atomic_load(&handover.is_left) && stop_reason(vm->options.stop) == STOP_NOT;
}

/* Points before `end`, each by one thread. */
static void run_each(Vm *vm, Call *call, size_t end)
{
    CoreFunctionId function = call->plan->network->function;
    bool is_left = hand_over(vm, call, end, code_of_points(vm, function, end - call->good), false);
    KernelFunction *complete = is_left ? code_complete(vm, function) : NULL;
    if (complete != NULL)
        hand_over(vm, call, end, complete, false);
}

/* The next point, by all threads. */
static void run_together(Vm *vm, Call *call)
{
    KernelFunction *complete = code_complete(vm, call->plan->network->function);
    if (complete != NULL)
        hand_over(vm, call, call->good + 1, complete, true);
}

/* The next point that all threads are to do. One that is alone is that if it is a loop, whatever it is given: who knows how many turns it takes. */
static size_t next_together(const Vm *vm, Call *call)
{
    if (call->count == 1 && vm->program->core->functions.items[call->plan->network->function]->is_recursive)
        return call->good;
    if (call->fair == 0)
        call->fair = own_size(vm, call);
    return call->fair == UINT64_MAX ? call->count : find_large(call, call->good, call->count);
}

/* Points up to one that stops it, large ones by all threads. */
static void run_mixed(Vm *vm, Call *call)
{
    for (size_t end = call->good; call->good == end && end < call->count;) {
        end = next_together(vm, call);
        if (end > call->good)
            run_each(vm, call, end);
        else {
            end++;
            run_together(vm, call);
        }
    }
}

bool sequential_run(Vm *vm, Call *call)
{
    CoreFunctionId function = call->plan->network->function;
    if (call->good == call->count || !has_code(vm, call))
        return false;
    if (team_size(vm->team) > 1 && code_is_together(vm, function) && !is_made_for_large(vm, call->plan->network)) {
        run_mixed(vm, call);
        return true;
    }
    size_t end = end_of_fair(vm, call);
    if (end == call->good)
        return false;
    run_each(vm, call, end);
    if (call->good < end)
        call->large_end = 0; /* first comes the point that stopped it */
    return true;
}
