/* Bundles done by compiled code: kernels (kernel/fuse.h).
 *
 * A kernel takes some of its root's points at a time and does all that hangs on them. Spaces below are private to it, so their points are not counted: where the bundle
 * is dissolved, they begin anew from 0. */
#include "vm/bundle_doing.h"
#include "vm/bundle_rows.h"

#include "base/least.h"
#include "base/machine.h"
#include "kernel/members.h"
#include "vm/call.h"

#include <string.h>

enum {
    FIRST_POINTS = 16,        /* of a kernel with loops, for each thread, before it is known how long one takes */
    PIECE_PICOSECONDS = 20000000,
    PIECES_EACH = 64,         /* of a thread, at least, where points may differ, */
    PIECES_EACH_ALIKE = 8,    /* ... and where they are alike */
    LANES_LONGER = 16,        /* times as long are calls and firings with functions that take a new point where one has left: what they begin and end with takes longer */
    FIRING_PICOSECONDS = 500000000, /* for each thread, */
    FIRING_BYTES = 1 << 20,   /* ... and what streams below the root hold in the meantime: what reads them should find it in a cache */
    COLUMN_MAX = 64 << 20,    /* bytes: larger columns of one repeated element are not written out */
    ROOM_LEAST = 1024,        /* elements that a tile may give below the root, */
    ROOM_MOST = 64 << 20,     /* ... and that one point may, */
    COUNTED_MOST = 4 << 20,   /* ... and tiles that were counted, but for one, or done again, */
    SPILL_GROWTH = 4,         /* times as much as it had no room in gets a tile that is done again, */
    SPILL_MOST = 1 << 20,     /* ... up to this */
    SHARE_LEAST = 128 << 10,   /* elements of a share of a vector in which elements are replaced, */
    SHARES_EACH = 4,           /* ... and how many of them for each thread */
};

struct BundleKernel {
    const Kernel *kernel;
    KernelFunction *function;
    uint32_t *cursors;    /* of `streams`: some input that reads it */
    uint64_t picoseconds; /* that a point took the last time; 0 while none was done */
    double elements;      /* and how many it gave below the root, */
    size_t element_size;  /* ... each of so many bytes in streams */
};

/* ---- finding them ---- */

/* Of which points a node's state counts how many were done. The last position is that of points that nobody counts. */
static void find_scopes(Plan *plan, NodePlan *node, const Kernel *kernel)
{
    const FlowNetwork *network = plan->network;
    const FlowNode *flow = node->node;
    uint32_t none = kernel->scopes.count;
    uint32_t scope = fuse_scope_of_node(network, kernel, flow), parent = KERNEL_NO_SCOPE;
    if (flow->op == FLOW_COMPOSE)
        parent = fuse_scope_of_stream(network, kernel, flow->inputs[1].stream);
    else if (scope != KERNEL_NO_SCOPE)
        parent = kernel->scopes.items[scope].parent;
    if (fuse_is_structure(flow) && flow->outputs[0] != 0)
        scope = fuse_scope_of_ends(network, kernel, flow->outputs[0]);
    node->scope = scope == KERNEL_NO_SCOPE ? none : scope;
    node->parent_scope = parent == KERNEL_NO_SCOPE ? none : parent;
}

static uint32_t find_cursor(const Bundle *bundle, const Plan *plan, FlowStreamId stream)
{
    for (uint32_t i = 0; i < bundle->outside.count; i++)
        if (plan->inputs[bundle->outside.items[i]].stream == stream)
            return bundle->outside.items[i];
    bug("vm", "a kernel reads stream %u, but none of its nodes does", stream);
}

static bool fits(const Kernel *kernel)
{
    return kernel->streams.count <= DOING_TABLE_MAX && kernel->uniforms.count <= DOING_TABLE_MAX && kernel->columns.count <= DOING_TABLE_MAX &&
           kernel->outputs.count + kernel->ordered.count + kernel->sinks.count + kernel->scatters.count <= DOING_TABLE_MAX && kernel->totals.count <= DOING_TABLE_MAX &&
           kernel->scans.count <= DOING_TABLE_MAX && kernel->partials.count <= DOING_TABLE_MAX;
}

static size_t bytes_below_root(const Plan *plan, const Kernel *kernel)
{
    size_t size = 0;
    for (uint32_t i = 0; i < kernel->outputs.count; i++)
        if (fuse_scope_of_stream(plan->network, kernel, kernel->outputs.items[i]) != KERNEL_ROOT)
            size += plan->streams[kernel->outputs.items[i]].size;
    return size;
}

static void add_kernel(Vm *vm, Plan *plan, const Kernel *kernel)
{
    Bundle *bundle = bundle_add(plan, kernel->scopes.items[KERNEL_ROOT].points, kernel->scopes.count + 1);
    for (uint32_t i = 0; i < kernel->nodes.count; i++)
        plan->nodes[kernel->nodes.items[i]].bundle = plan->bundle_count;
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        find_scopes(plan, &plan->nodes[kernel->nodes.items[i]], kernel);
        bundle_add_member(vm, plan, bundle, kernel->nodes.items[i], kernel);
    }
    bundle->kernel = ARENA_NEW(&vm->arena, BundleKernel);
    *bundle->kernel = (BundleKernel){.kernel = kernel,
                                     .function = code_of_kernel(vm, kernel),
                                     .element_size = bytes_below_root(plan, kernel),
                                     .cursors = ARENA_ARRAY(&vm->arena, uint32_t, kernel->streams.count)};
    for (uint32_t i = 0; i < kernel->streams.count; i++)
        bundle->kernel->cursors[i] = find_cursor(bundle, plan, kernel->streams.items[i]);
    bundle->needs_blocks = kernel->ordered.count > 0 && !kernel->has_loops;
}

bool bundle_kernels_find(Vm *vm, Plan *plan)
{
    const Fusion *fusion = code_of_network(vm, plan->id);
    for (uint32_t i = 0; fusion != NULL && i < fusion->kernels.count; i++)
        if (fits(&fusion->kernels.items[i]))
            add_kernel(vm, plan, &fusion->kernels.items[i]);
    return fusion != NULL;
}

/* ---- how many points ---- */

/* Whether a point may take much longer than another. Loops that are linear are gone through for a few points only. */
static bool has_unlike_points(const Kernel *kernel)
{
    return kernel->has_loops && !kernel->is_linear;
}

/* Whether nothing is put aside for its points, and they are gone over once: then there may be as many as there are. */
static bool leaves_nothing(const Kernel *kernel)
{
    bool is_on_root = kernel->given == 0 && kernel->stored == 0;
    return !has_unlike_points(kernel) && kernel->scans.count == 0 && is_on_root;
}

size_t bundle_kernel_most(const Vm *vm, const Bundle *bundle)
{
    const BundleKernel *kernel = bundle->kernel;
    size_t each = BUNDLE_POINTS_MAX;
    if (leaves_nothing(kernel->kernel) && kernel->picoseconds > 0 && FIRING_PICOSECONDS / kernel->picoseconds > each)
        each = FIRING_PICOSECONDS / kernel->picoseconds;
    return each * vm->options.threads;
}

static uint64_t lengthened(const Kernel *kernel, uint64_t picoseconds)
{
    return kernel->has_lanes ? LANES_LONGER * picoseconds : picoseconds;
}

/* As many points, at least, as are done at once. */
static size_t whole_lanes(const Kernel *kernel, size_t points)
{
    return kernel->has_lanes ? (points + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES : points;
}

/* Points of a kernel with loops that a thread does in a firing. */
static size_t points_of_firing(const BundleKernel *kernel)
{
    if (kernel->picoseconds == 0)
        return FIRST_POINTS;
    double by_time = (double)lengthened(kernel->kernel, FIRING_PICOSECONDS) / (double)kernel->picoseconds;
    double bytes = kernel->elements * (double)kernel->element_size, by_bytes = bytes * by_time > FIRING_BYTES ? FIRING_BYTES / bytes : by_time;
    return whole_lanes(kernel->kernel, (size_t)by_bytes + 1);
}

size_t bundle_kernel_limit(const Vm *vm, const Bundle *bundle, size_t count, bool is_over)
{
    const BundleKernel *kernel = bundle->kernel;
    if (kernel->kernel->has_loops && !kernel->kernel->is_strided)
        return least(count, points_of_firing(kernel) * vm->options.threads);
    bool is_last_block = is_over && count < COMBINE_BLOCK;
    return bundle->needs_blocks && !is_last_block ? count - count % COMBINE_BLOCK : count;
}

/* ---- doing points ---- */

static void fill_tables(const Doing *doing, size_t first, const void **streams, void **outputs)
{
    const Kernel *kernel = doing->kernel;
    const Plan *plan = doing->instance->plan;
    for (uint32_t i = 0; i < kernel->streams.count; i++)
        streams[i] = doing->streams[i] + first * plan->streams[kernel->streams.items[i]].size;
    for (uint32_t i = 0; i < doing_output_count(kernel) && doing->outputs != NULL; i++) {
        uint32_t scope = doing->scopes[i];
        size_t tile = first / doing->tile;
        if (scope != BUNDLE_ROOT && !doing->is_direct) {
            outputs[i] = doing_tile_output(doing, i, tile);
            continue;
        }
        size_t place = scope == BUNDLE_ROOT    ? first
                       : doing->places != NULL ? doing->places[tile * kernel->scopes.count + scope]
                                               : doing->so_far[scope];
        if (doing_is_ordered_output(kernel, i) && doing->bundle->needs_blocks)
            place = first / COMBINE_BLOCK;
        outputs[i] = doing->outputs[i] + place * doing->sizes[i];
    }
    for (uint32_t i = 0; i < kernel->scatters.count && doing->outputs != NULL; i++)
        outputs[doing_output_count(kernel) + i] = doing->outputs[doing_output_count(kernel) + i];
}

/* Calls that may be nested in one of a function. */
static int64_t depth_left(const Vm *vm)
{
    uint64_t depth = call_depth(vm), left = vm->options.max_depth > depth ? vm->options.max_depth - depth : 0;
    return left > INT64_MAX ? INT64_MAX : (int64_t)left;
}

/* ---- room for more than was expected ----
 * A tile that had no room for all that its points give is done again, with more. */

static BundleState *state_of(const Doing *doing)
{
    return &doing->instance->bundles[doing->bundle - doing->instance->plan->bundles];
}

/* Of scans and reductions, before a tile. */
static void keep_cells(const KernelCall *call, const Kernel *kernel, uint64_t *kept)
{
    for (uint32_t i = 0; i < kernel->scans.count; i++)
        *kept++ = *(const uint64_t *)call->carries[i];
    for (uint32_t i = 0; i < kernel->totals.count; i++)
        *kept++ = *(const uint64_t *)call->totals[i];
}

static void restore_cells(const KernelCall *call, const Kernel *kernel, const uint64_t *kept)
{
    for (uint32_t i = 0; i < kernel->scans.count; i++)
        *(uint64_t *)call->carries[i] = *kept++;
    for (uint32_t i = 0; i < kernel->totals.count; i++)
        *(uint64_t *)call->totals[i] = *kept++;
}

static bool find_more_room(Doing *doing, size_t tile, KernelCall *call)
{
    if (doing->spilled == NULL || doing->is_direct || doing->wants_totals)
        return false;
    size_t room = SPILL_GROWTH * (size_t)call->room;
    bool is_much = room > SPILL_MOST || atomic_fetch_add(&doing->spilled_room, room) + room > COUNTED_MOST;
    BundleSpill *spill = is_much ? NULL : bundle_spill(state_of(doing), doing->sizes, doing_output_count(doing->kernel), room);
    if (spill == NULL)
        return false;
    doing->spilled[tile] = spill;
    call->room = (int64_t)room;
    return true;
}

/* Some points, by one call of the code. */
static bool do_tile(Doing *doing, size_t first, size_t count, size_t share)
{
    const Kernel *kernel = doing->kernel;
    size_t number = first / doing->tile;
    const void *streams[DOING_TABLE_MAX];
    void *outputs[DOING_TABLE_MAX], *totals[DOING_TABLE_MAX], *carries[DOING_TABLE_MAX];
    for (uint32_t i = 0; i < kernel->totals.count; i++)
        totals[i] = &doing->totals[number * kernel->totals.count + i];
    for (uint32_t i = 0; i < kernel->scans.count; i++) {
        uint64_t *carry = &doing->carries[number * kernel->scans.count + i];
        if (doing->is_in_order && number > 0)
            *carry = *(carry - kernel->scans.count);
        carries[i] = carry;
    }
    fill_tables(doing, first, streams, outputs);
    if (share == 0)
        doing->done[number] = (int64_t)count;
    KernelCall call = {.position = doing->position + (int64_t)first,
                       .count = (int64_t)count,
                       .share = (int64_t)share,
                       .shares = (int64_t)doing->shares,
                       .owns_share = doing->shares > 1 || doing->vm->options.threads == 1,
                       .streams = streams,
                       .uniforms = doing->uniforms,
                       .columns = doing->columns,
                       .rows = doing->rows,
                       .strides = doing->strides,
                       .outputs = outputs,
                       .room = (int64_t)doing->room,
                       .given = doing->given + number * kernel->scopes.count,
                       .done = &doing->done[number],
                       .wants_totals = doing->wants_totals,
                       .carries = carries,
                       .totals = totals,
                       .globals = doing->globals,
                       .depth = depth_left(doing->vm),
                       .stop = code_stop_word(doing->vm->options.stop),
                       .has_failed = (const volatile bool *)(const void *)&doing->has_failed,
                       .long_loop = doing_long_loop(doing)};
    uint64_t kept[2 * DOING_TABLE_MAX];
    keep_cells(&call, kernel, kept);
    bool is_good = doing_call(doing, number, &call);
    while (is_good && *call.done < call.count && find_more_room(doing, number, &call)) {
        restore_cells(&call, kernel, kept);
        fill_tables(doing, first, streams, outputs);
        *call.done = call.count;
        is_good = doing_call(doing, number, &call);
    }
    if (!is_good)
        return false;
    for (uint32_t scope = 1; scope < kernel->scopes.count && doing->is_direct && doing->places == NULL; scope++)
        doing->so_far[scope] += (size_t)call.given[scope];
    return true;
}

/* Whether nobody would look at what a tile gives. */
static bool is_in_vain(const Doing *doing, size_t tile)
{
    return atomic_load_explicit(&doing->has_failed, memory_order_relaxed) || tile > atomic_load_explicit(&doing->long_tile, memory_order_relaxed);
}

static void do_tiles(void *context, size_t first, size_t end, uint32_t member)
{
    Doing *doing = context;
    (void)member;
    for (size_t at = first; at < end && !is_in_vain(doing, at / doing->tile); at += doing->tile)
        if (!do_tile(doing, at, least(end - at, doing->tile), 0))
            atomic_store_explicit(&doing->has_failed, true, memory_order_relaxed);
}

/* All points, for some shares of the vector in which elements are replaced. */
static void do_shares(void *context, size_t first, size_t end, uint32_t member)
{
    Doing *doing = context;
    (void)member;
    for (size_t share = first; share < end && !atomic_load_explicit(&doing->has_failed, memory_order_relaxed); share++)
        if (!do_tile(doing, 0, doing->count, share))
            atomic_store_explicit(&doing->has_failed, true, memory_order_relaxed);
}

/* ---- before ---- */

/* Elements of a stream; one that stands for all is written out. */
static const char *stream_elements(Doing *doing, uint32_t cursor)
{
    const InputPlan *input = &doing->instance->plan->inputs[cursor];
    Cells cells = bundle_operand_cells(doing->instance, doing->bundle, cursor);
    if (!cells.is_uniform || input->size == 0)
        return cells.data;
    char *room = doing_reserve(doing, doing->count * input->size);
    for (size_t i = 0; i < doing->count; i++)
        memcpy(room + i * input->size, cells.data, input->size);
    return room;
}

/* The elements of a column of an array that serves all points; false if code cannot read them. */
static bool find_column(Doing *doing, const KernelLeaf *leaf, const void **elements, int64_t *stride)
{
    static const uint64_t nothing[2];
    Array *array = *(Array *const *)bundle_uniform_cell(doing->instance, leaf->array);
    *elements = nothing;
    *stride = 0;
    if (array == NULL || array->columns[leaf->leaf].data == NULL)
        return true;
    if (array->columns[leaf->leaf].is_uniform && array->count > 1 && leaf->type != LEAF_ARRAY) {
        if (array->count > COLUMN_MAX / leaf_size(leaf->type))
            return false;
        array_write_out(doing->vm->memory, array, leaf->leaf);
    }
    *stride = !array->columns[leaf->leaf].is_uniform;
    *elements = array->columns[leaf->leaf].data;
    return true;
}

/* That these points take, if others took any. */
static uint64_t expected_nanoseconds(const Doing *doing)
{
    return doing->bundle->kernel->picoseconds * doing->count / 1000;
}

static bool find_inputs(Doing *doing)
{
    const Kernel *kernel = doing->kernel;
    doing->streams = doing_reserve(doing, kernel->streams.count * sizeof *doing->streams);
    doing->uniforms = doing_reserve(doing, kernel->uniforms.count * sizeof *doing->uniforms);
    doing->columns = doing_reserve(doing, kernel->columns.count * sizeof *doing->columns);
    doing->strides = doing_reserve(doing, kernel->columns.count * sizeof *doing->strides);
    for (uint32_t i = 0; i < kernel->streams.count; i++)
        doing->streams[i] = stream_elements(doing, doing->bundle->kernel->cursors[i]);
    for (uint32_t i = 0; i < kernel->uniforms.count; i++)
        doing->uniforms[i] = bundle_uniform_cell(doing->instance, kernel->uniforms.items[i]);
    for (uint32_t i = 0; i < kernel->columns.count; i++)
        if (!find_column(doing, &kernel->columns.items[i], &doing->columns[i], &doing->strides[i]))
            return false;
    if (kernel->rows.count > 0)
        doing->rows = bundle_rows_find(doing->vm, doing->instance, state_of(doing), kernel, expected_nanoseconds(doing));
    return true;
}

/* What tiles tell of what they have done. */
static void find_tallies(Doing *doing)
{
    const Kernel *kernel = doing->kernel;
    size_t tiles = doing_tile_count(doing);
    doing->done = doing_reserve(doing, tiles * sizeof *doing->done);
    doing->given = doing_reserve(doing, tiles * kernel->scopes.count * sizeof *doing->given);
    doing->totals = doing_reserve(doing, tiles * kernel->totals.count * sizeof *doing->totals);
    doing->carries = doing_reserve(doing, tiles * kernel->scans.count * sizeof *doing->carries);
    memset(doing->done, 0, tiles * sizeof *doing->done);
    memset(doing->given, 0, tiles * kernel->scopes.count * sizeof *doing->given);
    doing->spilled_room = 0;
    doing->spilled = kernel->is_deep && !kernel->is_counted && !kernel->is_strided ? doing_reserve(doing, tiles * sizeof *doing->spilled) : NULL;
    for (size_t i = 0; i < tiles && doing->spilled != NULL; i++)
        doing->spilled[i] = NULL;
}

/* What a point is expected to take. */
static uint64_t picoseconds_of(const BundleKernel *kernel)
{
    return kernel->picoseconds == 0 ? 1000 : kernel->picoseconds;
}

static size_t grain_of(const Doing *doing)
{
    const BundleKernel *kernel = doing->bundle->kernel;
    if (kernel->kernel->has_loops)
        return doing->tile;
    size_t grain = team_grain(doing->vm->team, picoseconds_of(kernel));
    return (grain + doing->tile - 1) / doing->tile * doing->tile;
}

static void run_tiles(Doing *doing)
{
    team_run_long(doing->vm->team, doing->count, grain_of(doing), doing->count * picoseconds_of(doing->bundle->kernel), do_tiles, doing);
}

/* ---- scans ----
 * The state of one by integers is its value. With several threads the totals of all tiles are found first, which gives each the value before it. */

static void start_carries(const Doing *doing, size_t tiles, bool from_identity)
{
    const Kernel *kernel = doing->kernel;
    for (uint32_t i = 0; i < kernel->scans.count; i++) {
        const FoldKind *fold = doing_fold(doing, kernel->scans.items[i]);
        _Alignas(8) unsigned char state[FOLD_STATE_MAX];
        fold_start(fold, state);
        const void *from = from_identity ? state : doing_running(doing, kernel->scans.items[i]);
        for (size_t tile = 0; tile < tiles; tile++)
            memcpy(&doing->carries[tile * kernel->scans.count + i], from, fold_result_size(fold));
    }
}

/* From the totals of tiles to the values before them. */
static void join_carries(const Doing *doing)
{
    const Kernel *kernel = doing->kernel;
    for (uint32_t i = 0; i < kernel->scans.count; i++) {
        const FoldKind *fold = doing_fold(doing, kernel->scans.items[i]);
        _Alignas(8) unsigned char state[FOLD_STATE_MAX];
        memcpy(state, doing_running(doing, kernel->scans.items[i]), fold_state_size(fold));
        for (size_t tile = 0; tile < doing_tile_count(doing); tile++) {
            uint64_t total = doing->carries[tile * kernel->scans.count + i], result;
            memcpy(&doing->carries[tile * kernel->scans.count + i], state, fold_result_size(fold));
            fold_scan(NULL, fold, state, (Cells){.data = &total}, 1, &result);
        }
    }
}

/* Asks all tiles for the totals of scans, and how much they will give if that is known without doing it. */
static void find_totals(Doing *doing)
{
    start_carries(doing, doing_tile_count(doing), true);
    doing->wants_totals = true;
    run_tiles(doing);
    doing->wants_totals = false;
    join_carries(doing);
}

/* Asks all tiles how much they will give. */
static bool count_tiles(Doing *doing)
{
    find_tallies(doing);
    find_totals(doing);
    return !atomic_load(&doing->has_failed);
}

size_t doing_count_to_come(const Doing *doing, uint32_t scope)
{
    Doing all = {.vm = doing->vm,
                 .instance = doing->instance,
                 .bundle = doing->bundle,
                 .kernel = doing->kernel,
                 .function = doing->function,
                 .position = doing->position,
                 .count = doing_points_to_come(doing),
                 .tile = BUNDLE_TILE,
                 .long_tile = SIZE_MAX,
                 .streams = doing->streams,
                 .uniforms = doing->uniforms,
                 .columns = doing->columns,
                 .rows = doing->rows,
                 .strides = doing->strides,
                 .globals = doing->globals};
    bool is_all_there = doing->bundle->outside.count == 0;
    return is_all_there && count_tiles(&all) ? doing_given_by(&all, doing_tile_count(&all), scope) : 0;
}

/* ---- after ---- */

static size_t tile_points(const Doing *doing, size_t tile)
{
    return least(doing->tile, doing->count - tile * doing->tile);
}

/* Tiles that count: all, up to the first that had no room for all its points; gives how many, and of how many points. */
static size_t accept_tiles(const Doing *doing, size_t *points)
{
    size_t tiles = 0;
    *points = 0;
    while (tiles < doing_tile_count(doing)) {
        size_t done = (size_t)doing->done[tiles];
        *points += done;
        tiles++;
        if (done < tile_points(doing, tiles - 1))
            break;
    }
    return tiles;
}

/* ---- how much at a time ---- */

/* Points of a call that are alike: many, for at the beginning of each a loop waits for memory. */
static size_t tile_of_alike(const Vm *vm, const BundleKernel *kernel, size_t count)
{
    size_t tile = kernel->picoseconds == 0 ? 0 : PIECE_PICOSECONDS / kernel->picoseconds;
    if (vm->options.threads > 1)
        tile = least(tile, count / (PIECES_EACH_ALIKE * vm->options.threads));
    return (least(tile, count) / BUNDLE_TILE + 1) * BUNDLE_TILE;
}

/* Points of a call, and of a piece: few where each takes long, or may take longer than those before. */
static size_t tile_of(const Vm *vm, const Bundle *bundle, size_t count)
{
    const BundleKernel *kernel = bundle->kernel;
    if (!kernel->kernel->has_loops)
        return tile_of_alike(vm, kernel, count);
    size_t most = kernel->kernel->is_linear ? BUNDLE_POINTS_MAX : BUNDLE_TILE, threads = vm->options.threads;
    if (threads > 1 && !kernel->kernel->is_linear)
        most = least(most, count / ((kernel->kernel->has_lanes ? PIECES_EACH_ALIKE : PIECES_EACH) * threads) + 1);
    size_t points = kernel->picoseconds == 0 ? 1 : least(most, lengthened(kernel->kernel, PIECE_PICOSECONDS) / kernel->picoseconds + 1);
    return least(whole_lanes(kernel->kernel, points), count / threads + 1);
}

/* How many shares a vector has in which elements are replaced: every one takes all points, so there must not be many of these. */
static size_t shares_of(const Doing *doing)
{
    if (!doing->kernel->is_strided || doing->vm->options.threads == 1)
        return 1;
    FlowOperand length = doing_node(doing, doing->kernel->scatters.items[0].node)->inputs[SCATTER_LENGTH];
    int64_t elements = bundle_uniform_integer(doing->instance, length);
    size_t shares = least(elements > 0 ? (size_t)elements / SHARE_LEAST : 0, (size_t)doing->vm->options.threads * SHARES_EACH);
    return shares > 1 && doing->count <= (size_t)elements / shares / SHARES_EACH ? shares : 1;
}

/* Elements that a tile may give below the root: twice what those before gave, or, in filters, one for each point. */
static size_t room_of(const Bundle *bundle, size_t tile)
{
    const BundleKernel *kernel = bundle->kernel;
    if (!kernel->kernel->is_deep)
        return tile;
    return (size_t)(2.0 * kernel->elements * (double)tile) + ROOM_LEAST;
}

/* What the points took, and gave, is what the next ones are expected to. */
static void measure(const Doing *doing, uint64_t nanoseconds, size_t tiles, size_t points)
{
    BundleKernel *kernel = doing->bundle->kernel;
    kernel->picoseconds = nanoseconds * 1000 * doing->vm->options.threads / doing->count + 1;
    double most = 0;
    for (uint32_t scope = 1; scope < doing->kernel->scopes.count && points > 0; scope++) {
        double each = (double)doing_given_by(doing, tiles, scope) / (double)points;
        most = each > most ? each : most;
    }
    kernel->elements = most;
}

/* The value after the last tile that counts. */
static void keep_carries(const Doing *doing, size_t tiles)
{
    const Kernel *kernel = doing->kernel;
    for (uint32_t i = 0; i < kernel->scans.count; i++)
        memcpy(doing_running(doing, kernel->scans.items[i]), &doing->carries[(tiles - 1) * kernel->scans.count + i],
               fold_result_size(doing_fold(doing, kernel->scans.items[i])));
}

static void do_all_tiles(Doing *doing)
{
    if (doing->shares > 1) {
        team_run(doing->vm->team, doing->shares, 1, do_shares, doing);
        return;
    }
    bool needs_carries = doing->kernel->scans.count > 0 && doing->places == NULL; /* they were found when what is given was counted */
    if (needs_carries && team_shares(doing->vm->team, doing->count, grain_of(doing)))
        find_totals(doing);
    else if (needs_carries) {
        start_carries(doing, 1, false);
        doing->is_in_order = true;
    }
    if (!atomic_load(&doing->has_failed))
        run_tiles(doing);
}

/* ---- counting what is given ----
 * Where that takes little, tiles are first asked how much they will give below the root. So each knows where that belongs, and can put it there. */

/* From what tiles will give to what is given before them. Tiles are left for later if all would give too much. False if even one does. */
static bool find_places(Doing *doing)
{
    uint32_t scopes = doing->kernel->scopes.count;
    size_t tiles = doing_tile_count(doing);
    size_t *places = doing_reserve(doing, (tiles + 1) * scopes * sizeof *places), tile = 0;
    memset(places, 0, scopes * sizeof *places);
    for (bool is_much = false; tile < tiles && !is_much; tile++)
        for (uint32_t scope = 0; scope < scopes; scope++) {
            size_t given = (size_t)doing->given[tile * scopes + scope];
            if (given > ROOM_MOST)
                return false;
            places[(tile + 1) * scopes + scope] = places[tile * scopes + scope] + given;
            is_much |= places[(tile + 1) * scopes + scope] > COUNTED_MOST;
        }
    doing->count = least(doing->count, tile * doing->tile);
    doing->places = places;
    doing->is_direct = true;
    return true;
}

static bool count_given(Doing *doing)
{
    doing->outputs = NULL;
    doing->places = NULL;
    doing->is_direct = false;
    return count_tiles(doing) && find_places(doing);
}

/* Gives how many points were done: none if it failed. */
static size_t do_once(Doing *doing)
{
    memset(doing->parts, 0, sizeof doing->parts);
    atomic_store(&doing->long_tile, SIZE_MAX);
    doing->is_direct = doing->kernel->stored != 0 && !doing->kernel->is_deep && !team_shares(doing->vm->team, doing->count, grain_of(doing));
    if (!doing->kernel->is_counted)
        find_tallies(doing);
    else if (!count_given(doing))
        return 0;
    doing_find_outputs(doing);
    uint64_t start = machine_clock();
    do_all_tiles(doing);
    if (atomic_load(&doing->has_failed))
        return 0;
    size_t points, tiles = accept_tiles(doing, &points);
    bool is_usual = !doing->is_alone && atomic_load(&doing->long_tile) == SIZE_MAX;
    if (is_usual)
        measure(doing, machine_clock() - start, tiles, points);
    if (points == 0)
        return 0;
    doing_give_outputs(doing, tiles, points);
    doing_join_ordered(doing, points);
    doing_join_totals(doing, tiles);
    keep_carries(doing, tiles);
    doing->vm->produced += points * doing->bundle->nodes.count;
    return points;
}

/* Where not even one point had room for what it gives, it is tried again with more. One that takes very long is done alone. */
bool bundle_kernel_do(Vm *vm, Instance *instance, Bundle *bundle, size_t count)
{
    Doing doing = {.vm = vm,
                   .instance = instance,
                   .bundle = bundle,
                   .kernel = bundle->kernel->kernel,
                   .function = bundle->kernel->function,
                   .position = (int64_t)bundle_positions(instance, bundle)[BUNDLE_ROOT],
                   .count = count,
                   .tile = tile_of(vm, bundle, count)};
    doing.globals = code_global_cells(vm);
    doing.shares = shares_of(&doing);
    if (doing.shares > 1 || (doing.kernel->is_strided && vm->options.threads == 1))
        doing.tile = count;
    doing.room = room_of(bundle, doing.tile);
    size_t points = 0;
    bool is_possible = find_inputs(&doing);
    for (; is_possible && points == 0 && !doing.has_failed && doing.room < ROOM_MOST; doing.room *= 8) {
        points = do_once(&doing);
        bundle_spills_free(state_of(&doing));
        doing.count = doing.tile = 1;
        doing.is_alone = true;
    }
    team_give_back_all(vm->team); /* nobody else holds any of it between firings */
    return points > 0;
}
