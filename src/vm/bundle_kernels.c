/* Bundles done by compiled code: kernels (kernel/fuse.h).
 *
 * A kernel takes some of its root's points at a time and does all that hangs on them. Spaces below are private to it, so their points are not counted: where the bundle
 * is dissolved, they begin anew from 0. */
#include "vm/bundle_private.h"

#include "base/least.h"
#include "base/machine.h"
#include "vm/code.h"

#include <string.h>

enum {
    TABLE_MAX = 64,           /* entries of each table of a call, on the stack */
    FIRST_POINTS = 16,        /* of a kernel with loops, for each thread, before it is known how long one takes */
    PIECE_PICOSECONDS = 20000000,
    FIRING_PICOSECONDS = 500000000, /* for each thread */
    COLUMN_MAX = 64 << 20,    /* bytes: larger columns of one repeated element are not written out */
};

struct BundleKernel {
    const Kernel *kernel;
    KernelFunction *function;
    uint32_t *cursors;    /* of `streams`: some input that reads it */
    uint64_t picoseconds; /* that a point took the last time; 0 while none was done */
};

/* ---- finding them ---- */

/* The scope whose ends a stream has. */
static uint32_t scope_of_ends(const FlowNetwork *network, const Kernel *kernel, FlowStreamId ends)
{
    const FlowNode *node = &network->nodes.items[network->streams.items[ends].node];
    switch (node->op) {
    case FLOW_COMPOSE: return scope_of_ends(network, kernel, node->inputs[1].stream);
    case FLOW_FLAG_ENDS:
        for (uint32_t i = 1; i < kernel->scopes.count; i++) {
            const KernelScope *scope = &kernel->scopes.items[i];
            if (scope->kind != SCOPE_IF)
                continue;
            const FlowNode *filter = &network->nodes.items[scope->makers.items[0]];
            if (filter->inputs[0].stream == node->inputs[0].stream && filter->keep == node->keep)
                return i;
        }
        return KERNEL_NO_SCOPE;
    default:
        for (uint32_t i = 0; i < kernel->scopes.count; i++)
            if (kernel->scopes.items[i].points == network->spaces.items[node->space].points)
                return i;
        return KERNEL_NO_SCOPE;
    }
}

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
        scope = scope_of_ends(network, kernel, flow->outputs[0]);
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
    return kernel->streams.count <= TABLE_MAX && kernel->uniforms.count <= TABLE_MAX && kernel->columns.count <= TABLE_MAX &&
           kernel->outputs.count + kernel->ordered.count <= TABLE_MAX && kernel->totals.count <= TABLE_MAX;
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
                                     .cursors = ARENA_ARRAY(&vm->arena, uint32_t, kernel->streams.count)};
    for (uint32_t i = 0; i < kernel->streams.count; i++)
        bundle->kernel->cursors[i] = find_cursor(bundle, plan, kernel->streams.items[i]);
    bundle->needs_blocks = kernel->ordered.count > 0 && !kernel->has_loops;
}

void bundle_kernels_find(Vm *vm, Plan *plan)
{
    const Fusion *fusion = code_of_network(vm, plan->id);
    for (uint32_t i = 0; fusion != NULL && i < fusion->kernels.count; i++)
        if (fits(&fusion->kernels.items[i]))
            add_kernel(vm, plan, &fusion->kernels.items[i]);
}

/* ---- how many points ---- */

size_t bundle_kernel_limit(const Vm *vm, const Bundle *bundle, size_t count, bool is_over)
{
    const BundleKernel *kernel = bundle->kernel;
    if (kernel->kernel->has_loops) {
        uint64_t each = kernel->picoseconds == 0 ? FIRST_POINTS : FIRING_PICOSECONDS / kernel->picoseconds + 1;
        return least(count, (size_t)each * vm->options.threads);
    }
    bool is_last_block = is_over && count < COMBINE_BLOCK;
    return bundle->needs_blocks && !is_last_block ? count - count % COMBINE_BLOCK : count;
}

/* ---- doing points ---- */

typedef struct Doing {
    Vm *vm;
    Instance *instance;
    const Bundle *bundle;
    const Kernel *kernel;
    KernelFunction *function;
    int64_t position;
    size_t tile;            /* points of a call */
    const char **streams;   /* by number in the kernel's list */
    const void **uniforms;
    const void **columns;
    int64_t *strides;
    char **outputs;         /* of streams, then of the elements of reductions that are kept */
    char **block_totals;    /* by ordered reduction, if it is done in blocks */
    char *tiles;            /* for the elements of those, of every member of the team */
    int64_t *given;         /* by tile and scope */
    char *totals;           /* by member and number: state of a reduction that goes on */
    const void **globals;
    _Atomic bool has_failed;
} Doing;

#define TILE_BYTES ((size_t)BUNDLE_TILE * sizeof(uint64_t))
/* A state, and room before and after it so that members do not share cache lines. */
enum { TOTAL_BYTES = FOLD_STATE_MAX + 64 };

static const FlowNode *node_of(const Doing *doing, FlowNodeId id)
{
    return doing->instance->plan->nodes[id].node;
}

static const FoldKind *fold_of(const Doing *doing, FlowNodeId id)
{
    return doing->instance->plan->nodes[id].fold;
}

static char *total_of(const Doing *doing, uint32_t member, uint32_t number)
{
    return doing->totals + ((size_t)member * doing->kernel->totals.count + number) * TOTAL_BYTES;
}

/* Counts of points are added, whatever is reduced. */
static bool is_count(const FlowNode *node)
{
    return node->op != FLOW_FOLD || node->core_op == OP_COUNT_TRUE;
}

static void join_total(const Doing *doing, uint32_t member, uint32_t number, const uint64_t *cell)
{
    FlowNodeId id = doing->kernel->totals.items[number];
    char *state = total_of(doing, member, number);
    if (is_count(node_of(doing, id)))
        *(int64_t *)(void *)state += *(const int64_t *)cell;
    else
        fold_add(NULL, fold_of(doing, id), state, (Cells){.data = cell}, 1);
}

static void fill_tables(const Doing *doing, size_t first, uint32_t member, const void **streams, void **outputs)
{
    const Kernel *kernel = doing->kernel;
    const Plan *plan = doing->instance->plan;
    for (uint32_t i = 0; i < kernel->streams.count; i++)
        streams[i] = doing->streams[i] + first * plan->streams[kernel->streams.items[i]].size;
    for (uint32_t i = 0; i < kernel->outputs.count; i++)
        outputs[i] = doing->outputs[i] + first * plan->streams[kernel->outputs.items[i]].size;
    for (uint32_t i = 0; i < kernel->ordered.count; i++) {
        uint32_t number = kernel->outputs.count + i;
        size_t size = leaf_size(node_of(doing, kernel->ordered.items[i])->inputs[0].type);
        outputs[number] = doing->block_totals != NULL
                              ? doing->tiles + ((size_t)member * kernel->ordered.count + i) * TILE_BYTES
                              : doing->outputs[number] + first * size;
    }
}

/* Calls that may be nested in one of a function. */
static int64_t depth_left(const Vm *vm)
{
    uint64_t depth = vm->frame_count - 1, left = vm->options.max_depth > depth ? vm->options.max_depth - depth : 0;
    return left > INT64_MAX ? INT64_MAX : (int64_t)left;
}

/* The flag as code sees it. */
static const volatile int *stop_word(const StopFlag *stop)
{
    static const int never = STOP_NOT;
    return stop == NULL ? &never : (const volatile int *)(const void *)&stop->reason;
}

/* Some points, by one call of the code. */
static bool do_tile(Doing *doing, size_t first, size_t count, uint32_t member)
{
    const Kernel *kernel = doing->kernel;
    const void *streams[TABLE_MAX];
    void *outputs[TABLE_MAX], *totals[TABLE_MAX];
    uint64_t cells[TABLE_MAX];
    for (uint32_t i = 0; i < kernel->totals.count; i++)
        totals[i] = &cells[i];
    fill_tables(doing, first, member, streams, outputs);
    KernelCall call = {.position = doing->position + (int64_t)first,
                       .count = (int64_t)count,
                       .streams = streams,
                       .uniforms = doing->uniforms,
                       .columns = doing->columns,
                       .strides = doing->strides,
                       .outputs = outputs,
                       .given = doing->given == NULL ? NULL : doing->given + first / doing->tile * kernel->scopes.count,
                       .totals = totals,
                       .globals = doing->globals,
                       .depth = depth_left(doing->vm),
                       .stop = stop_word(doing->vm->options.stop),
                       .has_failed = (const volatile bool *)(const void *)&doing->has_failed};
    if (doing->function(&call) != 0)
        return false;
    for (uint32_t i = 0; i < kernel->totals.count; i++)
        join_total(doing, member, i, &cells[i]);
    for (uint32_t i = 0; i < kernel->ordered.count && doing->block_totals != NULL; i++) {
        const FoldKind *fold = fold_of(doing, kernel->ordered.items[i]);
        fold_block_totals(fold, outputs[kernel->outputs.count + i], count / COMBINE_BLOCK,
                          doing->block_totals[i] + first / COMBINE_BLOCK * fold_result_size(fold));
    }
    return true;
}

static void do_tiles(void *context, size_t first, size_t end, uint32_t member)
{
    Doing *doing = context;
    for (size_t at = first; at < end && !atomic_load_explicit(&doing->has_failed, memory_order_relaxed); at += doing->tile)
        if (!do_tile(doing, at, least(end - at, doing->tile), member))
            atomic_store_explicit(&doing->has_failed, true, memory_order_relaxed);
}

/* ---- before ---- */

static void *reserve(Doing *doing, size_t bytes)
{
    return team_alloc(doing->vm->team, bytes + 1);
}

/* Elements of a stream; one that stands for all is written out. */
static const char *stream_elements(Doing *doing, uint32_t cursor, size_t count)
{
    const InputPlan *input = &doing->instance->plan->inputs[cursor];
    Cells cells = bundle_operand_cells(doing->instance, doing->bundle, cursor);
    if (!cells.is_uniform || input->size == 0)
        return cells.data;
    char *room = reserve(doing, count * input->size);
    for (size_t i = 0; i < count; i++)
        memcpy(room + i * input->size, cells.data, input->size);
    return room;
}

static const void *uniform_cell(const Doing *doing, FlowStreamId id)
{
    const Stream *stream = &doing->instance->streams[id];
    return stream_cells(stream, doing->instance->plan->streams[id].size, stream->base).data;
}

/* The elements of a column of an array that serves all points; false if code cannot read them. */
static bool find_column(Doing *doing, const KernelLeaf *leaf, const void **elements, int64_t *stride)
{
    static const uint64_t nothing[2];
    Array *array = *(Array *const *)uniform_cell(doing, leaf->array);
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

static bool find_inputs(Doing *doing, size_t count)
{
    const Kernel *kernel = doing->kernel;
    doing->streams = reserve(doing, kernel->streams.count * sizeof *doing->streams);
    doing->uniforms = reserve(doing, kernel->uniforms.count * sizeof *doing->uniforms);
    doing->columns = reserve(doing, kernel->columns.count * sizeof *doing->columns);
    doing->strides = reserve(doing, kernel->columns.count * sizeof *doing->strides);
    for (uint32_t i = 0; i < kernel->streams.count; i++)
        doing->streams[i] = stream_elements(doing, doing->bundle->kernel->cursors[i], count);
    for (uint32_t i = 0; i < kernel->uniforms.count; i++)
        doing->uniforms[i] = uniform_cell(doing, kernel->uniforms.items[i]);
    for (uint32_t i = 0; i < kernel->columns.count; i++)
        if (!find_column(doing, &kernel->columns.items[i], &doing->columns[i], &doing->strides[i]))
            return false;
    return true;
}

/* Room for what the code gives. What nobody reads any more is written nevertheless. */
static void find_outputs(Doing *doing, size_t count)
{
    const Kernel *kernel = doing->kernel;
    Instance *instance = doing->instance;
    size_t members = team_size(doing->vm->team);
    doing->outputs = reserve(doing, (kernel->outputs.count + kernel->ordered.count) * sizeof(char *));
    for (uint32_t i = 0; i < kernel->outputs.count; i++) {
        FlowStreamId stream = kernel->outputs.items[i];
        doing->outputs[i] = instance->streams[stream].is_read ? stream_reserve(doing->vm, instance, stream, count)
                                                              : reserve(doing, count * instance->plan->streams[stream].size);
    }
    bool in_blocks = doing->bundle->needs_blocks && count >= COMBINE_BLOCK;
    if (in_blocks) {
        doing->block_totals = reserve(doing, kernel->ordered.count * sizeof(char *));
        doing->tiles = vm_tiles(doing->vm, members * kernel->ordered.count * TILE_BYTES);
    }
    for (uint32_t i = 0; i < kernel->ordered.count; i++) {
        FlowNodeId id = kernel->ordered.items[i];
        if (in_blocks)
            doing->block_totals[i] = reserve(doing, count / COMBINE_BLOCK * fold_result_size(fold_of(doing, id)));
        else
            doing->outputs[kernel->outputs.count + i] = reserve(doing, count * leaf_size(node_of(doing, id)->inputs[0].type));
    }
}

static bool gives_filtered(const Doing *doing)
{
    for (uint32_t i = 0; i < doing->bundle->made.count; i++)
        if (doing->bundle->made.items[i].is_given && doing->bundle->made.items[i].scope != BUNDLE_ROOT)
            return true;
    return false;
}

static void start_totals(Doing *doing, size_t count)
{
    const Kernel *kernel = doing->kernel;
    size_t members = team_size(doing->vm->team);
    if (gives_filtered(doing)) {
        size_t tiles = (count + doing->tile - 1) / doing->tile;
        doing->given = reserve(doing, tiles * kernel->scopes.count * sizeof(int64_t));
        memset(doing->given, 0, tiles * kernel->scopes.count * sizeof(int64_t));
    }
    doing->totals = reserve(doing, members * kernel->totals.count * TOTAL_BYTES);
    for (uint32_t member = 0; member < members; member++)
        for (uint32_t i = 0; i < kernel->totals.count; i++) {
            FlowNodeId id = kernel->totals.items[i];
            if (is_count(node_of(doing, id)))
                *(int64_t *)(void *)total_of(doing, member, i) = 0;
            else
                fold_start(fold_of(doing, id), total_of(doing, member, i));
        }
}

/* ---- after ---- */

/* What tiles have given of a filter's points is moved together; gives how many there are. */
static size_t join_given(const Doing *doing, uint32_t scope, char *elements, size_t size, size_t count)
{
    size_t done = 0;
    for (size_t first = 0; first < count; first += doing->tile) {
        size_t given = (size_t)doing->given[first / doing->tile * doing->kernel->scopes.count + scope];
        if (elements != NULL && done < first)
            memmove(elements + done * size, elements + first * size, given * size);
        done += given;
    }
    return done;
}

static bool is_output(const Kernel *kernel, FlowStreamId stream, uint32_t *number)
{
    for (*number = 0; *number < kernel->outputs.count; ++*number)
        if (kernel->outputs.items[*number] == stream)
            return true;
    return false;
}

static void give_outputs(Doing *doing, size_t count)
{
    Instance *instance = doing->instance;
    size_t given[KERNEL_SCOPES_MAX] = {count};
    for (uint32_t scope = 1; scope < doing->kernel->scopes.count; scope++)
        given[scope] = doing->given == NULL ? 0 : join_given(doing, scope, NULL, 0, count);
    for (uint32_t i = 0; i < doing->bundle->made.count; i++) {
        const MadeStream *made = &doing->bundle->made.items[i];
        uint32_t number;
        if (!made->is_given || !instance->streams[made->stream].is_read)
            continue;
        if (!is_output(doing->kernel, made->stream, &number)) {
            uint64_t anything = 0;
            stream_produce_uniform(doing->vm, instance, made->stream, &anything, given[made->scope]);
            continue;
        }
        if (made->scope != BUNDLE_ROOT)
            join_given(doing, made->scope, doing->outputs[number], instance->plan->streams[made->stream].size, count);
        stream_produce(instance, made->stream, given[made->scope]);
    }
    uint64_t *positions = bundle_positions(instance, doing->bundle);
    for (uint32_t scope = 1; scope < doing->kernel->scopes.count; scope++) {
        positions[scope] += given[scope];
        bundle_advance_given(doing->vm, instance, doing->bundle, scope, given[scope]);
    }
    bundle_advance_given(doing->vm, instance, doing->bundle, BUNDLE_ROOT, count);
}

static void *running_of(const Doing *doing, FlowNodeId id)
{
    const NodePlan *node = &doing->instance->plan->nodes[id];
    return node->kind->running(node, instance_state(doing->instance, node));
}

static void join_ordered(const Doing *doing, size_t count)
{
    const Kernel *kernel = doing->kernel;
    for (uint32_t i = 0; i < kernel->ordered.count; i++) {
        FlowNodeId id = kernel->ordered.items[i];
        if (doing->block_totals != NULL)
            fold_join_totals(fold_of(doing, id), running_of(doing, id), doing->block_totals[i], count / COMBINE_BLOCK);
        else
            fold_add(doing->vm->team, fold_of(doing, id), running_of(doing, id),
                     (Cells){.data = doing->outputs[kernel->outputs.count + i]}, count);
    }
}

static void join_totals(const Doing *doing)
{
    const Kernel *kernel = doing->kernel;
    for (uint32_t i = 0; i < kernel->totals.count; i++) {
        FlowNodeId id = kernel->totals.items[i];
        void *running = running_of(doing, id);
        for (uint32_t member = 0; member < team_size(doing->vm->team); member++) {
            uint64_t cell = 0;
            if (node_of(doing, id)->op != FLOW_FOLD)
                *(int64_t *)running += *(const int64_t *)(const void *)total_of(doing, member, i);
            else if (is_count(node_of(doing, id)))
                fold_join_totals(fold_of(doing, id), running, total_of(doing, member, i), 1);
            else {
                fold_result(fold_of(doing, id), total_of(doing, member, i), &cell);
                fold_add(NULL, fold_of(doing, id), running, (Cells){.data = &cell}, 1);
            }
        }
    }
}

/* Everything that was reserved, last first. */
static void give_back(Doing *doing)
{
    team_give_back_all(doing->vm->team);
}

/* Points of a call, and of a piece: few where each takes long. */
static size_t tile_of(const Bundle *bundle)
{
    const BundleKernel *kernel = bundle->kernel;
    if (!kernel->kernel->has_loops)
        return BUNDLE_TILE;
    return kernel->picoseconds == 0 ? 1 : least(BUNDLE_TILE, PIECE_PICOSECONDS / kernel->picoseconds + 1);
}

static size_t grain_of(const Doing *doing)
{
    const BundleKernel *kernel = doing->bundle->kernel;
    if (kernel->kernel->has_loops)
        return doing->tile;
    size_t grain = team_grain(doing->vm->team, kernel->picoseconds == 0 ? 1000 : kernel->picoseconds);
    return (grain + BUNDLE_TILE - 1) / BUNDLE_TILE * BUNDLE_TILE;
}

static void measure(BundleKernel *kernel, const Vm *vm, uint64_t nanoseconds, size_t count)
{
    uint64_t members = vm->options.threads;
    kernel->picoseconds = nanoseconds * 1000 * members / count + 1;
}

bool bundle_kernel_do(Vm *vm, Instance *instance, Bundle *bundle, size_t count)
{
    Doing doing = {.vm = vm,
                   .instance = instance,
                   .bundle = bundle,
                   .kernel = bundle->kernel->kernel,
                   .function = bundle->kernel->function,
                   .position = (int64_t)bundle_positions(instance, bundle)[BUNDLE_ROOT],
                   .tile = tile_of(bundle)};
    bool is_done = find_inputs(&doing, count);
    if (is_done) {
        find_outputs(&doing, count);
        start_totals(&doing, count);
        doing.globals = code_global_cells(vm);
        uint64_t start = machine_clock();
        team_run(vm->team, count, grain_of(&doing), do_tiles, &doing);
        measure(bundle->kernel, vm, machine_clock() - start, count);
        is_done = !atomic_load(&doing.has_failed);
    }
    if (is_done) {
        give_outputs(&doing, count);
        join_ordered(&doing, count);
        join_totals(&doing);
        bundle_advance_outside(vm, instance, bundle, count);
        vm->produced += count * bundle->nodes.count;
    }
    give_back(&doing);
    return is_done;
}
