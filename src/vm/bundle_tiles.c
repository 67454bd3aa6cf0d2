/* Bundles done by the VM's own loops, tile by tile. */
#include "vm/bundle_private.h"

#include "base/least.h"
#include "kernel/members.h"

#include <string.h>

/* Tiles begin at the same place of a page: a store then does not look as if it wrote what a later load reads. */
#define TILE_BYTES ((size_t)BUNDLE_TILE * sizeof(uint64_t))

enum {
    NODES_MAX = 20000, /* larger networks are left as they are: looking for bundles takes time */
    NOWHERE = UINT32_MAX,
};

/* Where an operand comes from: the result of a step, or an input of the plan. */
typedef struct Operand {
    bool is_step;
    uint32_t index; /* of the step; of the cursor */
} Operand;

typedef struct Step {
    FlowNodeId node;
    uint32_t first_operand; /* of the bundle's */
    uint32_t slot;       /* for the result, in tiles */
    FlowStreamId output; /* if somebody else reads it too, else 0 */
    uint32_t fold;       /* number among the reductions, or NOWHERE */
    uint8_t size;        /* of the result's cells */
} Step;

struct BundleTiles {
    uint32_t step_count, slot_count, fold_count;
    uint32_t operand_max; /* of one step */
    Step *steps;
    VEC(Operand) operands;
    uint64_t picoseconds; /* for a point, about */
};

/* ---- finding them ---- */

typedef struct Finder {
    Vm *vm;
    Plan *plan;
    uint32_t points;
    FlowNodeId first, last; /* nodes of these points lie between */
    uint32_t *depths; /* by node: how often it must wait for others on the way from the points' nodes, from 1; 0 if it does not hang on them */
    bool *is_candidate; /* by node */
    uint32_t *step_of;  /* by stream: the step that makes it, if its node is of the bundle that is made */
} Finder;

/* By set of points: where the nodes are that could be done together. */
typedef struct Extent {
    FlowNodeId first, last;
    uint32_t count;
} Extent;

static bool can_be_member(const Plan *plan, FlowNodeId id)
{
    const NodePlan *node = &plan->nodes[id];
    const TileKind *tile = node->kind->tile;
    return tile != NULL && node->node->after_count == 0 && node->later_count == 0 &&
           plan_node_points(plan, node->node) != FLOW_UNIT && tile->accepts(plan->network, node->node);
}

static bool is_of_points(const Finder *finder, FlowNodeId id)
{
    return finder->is_candidate[id] && plan_node_points(finder->plan, finder->plan->nodes[id].node) == finder->points;
}

/* Nodes that wait for another that waits for one of them cannot be done together with it: those on either side make different bundles. */
static uint32_t depth_of(const Finder *finder, FlowNodeId id)
{
    const Plan *plan = finder->plan;
    const NodePlan *node = &plan->nodes[id];
    bool is_member = is_of_points(finder, id);
    uint32_t depth = is_member;
    for (uint32_t i = 0; i < node->node->input_count; i++) {
        const InputPlan *input = &plan->inputs[node->first_cursor + i];
        FlowNodeId maker = input->mode == INPUT_CONSTANT ? NO_NODE : plan->streams[input->stream].node;
        if (maker == NO_NODE || maker < finder->first || finder->depths[maker] == 0)
            continue;
        bool is_direct = input->mode == INPUT_STREAM && is_of_points(finder, maker) &&
                         plan_stream_points(plan, input->stream) == finder->points;
        uint32_t through = finder->depths[maker] + (is_member && !is_direct);
        depth = through > depth ? through : depth;
    }
    return depth;
}

/* ---- making one ---- */

static void add_operands(Finder *finder, BundleTiles *tiles, const Bundle *bundle, Step *step)
{
    const Plan *plan = finder->plan;
    const NodePlan *node = &plan->nodes[step->node];
    step->first_operand = tiles->operands.count;
    for (uint32_t i = 0; i < node->node->input_count; i++) {
        uint32_t cursor = node->first_cursor + i;
        const InputPlan *input = &plan->inputs[cursor];
        bool is_step = input->mode != INPUT_CONSTANT && bundle_is_by_point(plan, bundle, input) &&
                       plan->nodes[plan->streams[input->stream].node].bundle == node->bundle;
        *vec_push(&finder->vm->arena, &tiles->operands) =
            (Operand){.is_step = is_step, .index = is_step ? finder->step_of[input->stream] : cursor};
    }
    if (node->node->input_count > tiles->operand_max)
        tiles->operand_max = node->node->input_count;
}

static uint64_t cost_of(const NodePlan *node)
{
    enum { OTHER = 300 };
    return node->node->op == FLOW_OPERATION ? node->elementwise.picoseconds : OTHER;
}

/* The stream of results, or 0. */
static FlowStreamId result_stream(const NodePlan *node)
{
    return node->kind->tile->compute != NULL ? node->node->outputs[0] : 0;
}

static void add_step(Finder *finder, Bundle *bundle, FlowNodeId id)
{
    const NodePlan *node = &finder->plan->nodes[id];
    BundleTiles *tiles = bundle->tiles;
    uint32_t number = tiles->step_count++;
    Step *step = &tiles->steps[number];
    *step = (Step){.node = id, .fold = node->kind->running != NULL ? tiles->fold_count++ : NOWHERE};
    bundle->needs_blocks |= step->fold != NOWHERE;
    bundle_add_member(finder->vm, finder->plan, bundle, id, NULL);
    add_operands(finder, tiles, bundle, step);
    tiles->picoseconds += cost_of(node);
    FlowStreamId stream = result_stream(node);
    if (stream == 0)
        return;
    finder->step_of[stream] = number;
    step->size = finder->plan->streams[stream].size;
    step->output = bundle_is_read_elsewhere(finder->plan, stream, node->bundle) ? stream : 0;
}

/* Slots are used again once nobody needs what is in them. */
static void give_slots(Finder *finder, BundleTiles *tiles)
{
    const Plan *plan = finder->plan;
    uint32_t *last_use = ARENA_ARRAY(&finder->vm->arena, uint32_t, tiles->step_count);
    for (uint32_t i = 0; i < tiles->step_count; i++) {
        const Step *step = &tiles->steps[i];
        last_use[i] = i;
        for (uint32_t k = 0; k < plan->nodes[step->node].node->input_count; k++) {
            Operand operand = tiles->operands.items[step->first_operand + k];
            if (operand.is_step)
                last_use[operand.index] = i;
        }
    }
    NumberList free = {0};
    for (uint32_t i = 0; i < tiles->step_count; i++) {
        Step *step = &tiles->steps[i];
        step->slot = free.count > 0 ? free.items[--free.count] : tiles->slot_count++;
        for (uint32_t k = 0; k < plan->nodes[step->node].node->input_count; k++) {
            Operand operand = tiles->operands.items[step->first_operand + k];
            if (!operand.is_step || last_use[operand.index] != i)
                continue;
            *vec_push(&finder->vm->arena, &free) = tiles->steps[operand.index].slot;
            last_use[operand.index] = NOWHERE; /* it may be an operand twice */
        }
        if (last_use[i] == i)
            *vec_push(&finder->vm->arena, &free) = step->slot;
    }
}

/* The nodes of this depth, if they are several. */
static void make_bundle(Finder *finder, uint32_t depth)
{
    Plan *plan = finder->plan;
    uint32_t count = 0, computed = 0;
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        if (finder->depths[id] == depth && is_of_points(finder, id)) {
            count++;
            computed += plan->nodes[id].node->op != FLOW_RANGE && !member_is_lent(plan->network, plan->nodes[id].node);
        }
    if (computed < 2)
        return;
    Bundle *bundle = bundle_add(plan, finder->points, 1);
    bundle->tiles = ARENA_NEW(&finder->vm->arena, BundleTiles);
    bundle->tiles->steps = ARENA_ARRAY(&finder->vm->arena, Step, count);
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        if (finder->depths[id] == depth && is_of_points(finder, id))
            plan->nodes[id].bundle = plan->bundle_count;
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        if (plan->nodes[id].bundle == plan->bundle_count)
            add_step(finder, bundle, id);
    give_slots(finder, bundle->tiles);
    if (bundle->counts.count == 0 && bundle->outside.count == 0)
        bug("vm", "the nodes of a bundle have no points");
}

static void find_of_points(Finder *finder)
{
    uint32_t deepest = 0;
    for (FlowNodeId id = finder->first; id <= finder->last; id++) {
        finder->depths[id] = depth_of(finder, id);
        deepest = finder->depths[id] > deepest ? finder->depths[id] : deepest;
    }
    for (uint32_t depth = 1; depth <= deepest; depth++)
        make_bundle(finder, depth);
}

/* One more than the greatest number of a set of points. */
static uint32_t points_bound(const FlowNetwork *network)
{
    uint32_t bound = 0;
    for (uint32_t i = 1; i < network->spaces.count; i++)
        if (network->spaces.items[i].points >= bound)
            bound = network->spaces.items[i].points + 1;
    return bound;
}

static Extent *find_extents(Finder *finder)
{
    const Plan *plan = finder->plan;
    Extent *extents = ARENA_ARRAY(&finder->vm->arena, Extent, points_bound(plan->network));
    for (FlowNodeId id = 0; id < plan->node_count; id++) {
        finder->is_candidate[id] = can_be_member(plan, id);
        Extent *extent = &extents[plan_node_points(plan, plan->nodes[id].node)];
        if (!finder->is_candidate[id])
            continue;
        if (extent->count++ == 0)
            extent->first = id;
        extent->last = id;
    }
    return extents;
}

void bundle_tiles_find(Vm *vm, Plan *plan)
{
    if (plan->node_count > NODES_MAX)
        return;
    Finder finder = {.vm = vm,
                     .plan = plan,
                     .depths = ARENA_ARRAY(&vm->arena, uint32_t, plan->node_count),
                     .is_candidate = ARENA_ARRAY(&vm->arena, bool, plan->node_count),
                     .step_of = ARENA_ARRAY(&vm->arena, uint32_t, plan->stream_count)};
    Extent *extents = find_extents(&finder);
    for (uint32_t points = 0; points < points_bound(plan->network); points++)
        if (extents[points].count > 1) {
            finder.points = points;
            finder.first = extents[points].first;
            finder.last = extents[points].last;
            find_of_points(&finder);
        }
}

/* ---- doing points ---- */

typedef struct Doing {
    Vm *vm;
    Instance *instance;
    const Bundle *bundle;
    const BundleTiles *work;
    uint64_t position; /* of the first point */
    Cells *operands;   /* of the bundle, where they are not results of steps: as they were when it began */
    char **outputs;    /* by step: where its results go, null if they stay in a tile */
    char **totals;     /* by reduction: those of its blocks */
    char *tiles;       /* slots, of every member of the team */
    Cells *views;      /* the same: operands of the step at hand, then results of steps */
    _Atomic bool has_failed;
} Doing;

static Cells cells_at(Cells cells, size_t size, size_t offset)
{
    return cells.is_uniform ? cells : (Cells){.data = (const char *)cells.data + offset * size};
}

/* The cells of a step's operands for points from `first` on, counted from where it began. */
static void find_operands(const Doing *doing, const Step *step, size_t first, const Cells *results, Cells *found)
{
    const Plan *plan = doing->instance->plan;
    const FlowNode *node = plan->nodes[step->node].node;
    for (uint32_t i = 0; i < node->input_count; i++) {
        uint32_t number = step->first_operand + i;
        Operand operand = doing->work->operands.items[number];
        found[i] = operand.is_step ? results[operand.index]
                                   : cells_at(doing->operands[number], plan->inputs[operand.index].size, first);
    }
}

static const void *expand(Cells cells, size_t size, void *room, size_t count)
{
    if (!cells.is_uniform)
        return cells.data;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)room + i * size, cells.data, size);
    return room;
}

static void fold_tile(const Doing *doing, const Step *step, Cells elements, void *room, size_t first, size_t count)
{
    const NodePlan *node = &doing->instance->plan->nodes[step->node];
    size_t size = fold_result_size(node->fold);
    fold_block_totals(node->fold, expand(elements, leaf_size(node->node->inputs[0].type), room, count), count / COMBINE_BLOCK,
                      doing->totals[step->fold] + first / COMBINE_BLOCK * size);
}

/* What is not where it should be is copied there. */
static void deliver(Cells result, size_t size, char *out, size_t count)
{
    if (result.is_uniform)
        expand(result, size, out, count);
    else if (result.data != out)
        memcpy(out, result.data, count * size);
}

/* One step for a tile; gives how many points were done. */
static size_t do_step(const Doing *doing, uint32_t number, char *room, Cells *views, size_t first, size_t count)
{
    const Step *step = &doing->work->steps[number];
    const NodePlan *node = &doing->instance->plan->nodes[step->node];
    Cells *results = views + doing->work->operand_max;
    find_operands(doing, step, first, results, views);
    if (step->fold != NOWHERE)
        fold_tile(doing, step, views[0], room, first, count);
    if (node->kind->tile->compute == NULL)
        return count;
    char *out = doing->outputs[number] != NULL ? doing->outputs[number] + first * step->size : room;
    size_t done = count;
    results[number] = node->kind->tile->compute(node, views, out, doing->position + first, count, &done);
    if (doing->outputs[number] != NULL && done == count)
        deliver(results[number], step->size, out, count);
    return done;
}

/* Of one member; no two of them write to the same cache line, nor to neighbouring ones. */
static size_t view_count(const BundleTiles *work)
{
    enum { LINES = 128 / sizeof(Cells) };
    return (work->operand_max + work->step_count + LINES - 1) / LINES * LINES + LINES;
}

static void do_tile(Doing *doing, size_t first, size_t count, uint32_t member)
{
    const BundleTiles *work = doing->work;
    Cells *views = doing->views + (size_t)member * view_count(work);
    char *tiles = doing->tiles + (size_t)member * work->slot_count * TILE_BYTES;
    for (uint32_t i = 0; i < work->step_count; i++)
        if (do_step(doing, i, tiles + work->steps[i].slot * TILE_BYTES, views, first, count) < count) {
            atomic_store_explicit(&doing->has_failed, true, memory_order_relaxed);
            return;
        }
}

static void do_tiles(void *context, size_t first, size_t end, uint32_t member)
{
    Doing *doing = context;
    for (size_t at = first; at < end && !atomic_load_explicit(&doing->has_failed, memory_order_relaxed); at += BUNDLE_TILE)
        do_tile(doing, at, end - at < BUNDLE_TILE ? end - at : BUNDLE_TILE, member);
}

/* Whole tiles, as many as are worth a piece. */
static size_t grain_of(const Doing *doing)
{
    size_t grain = team_grain(doing->vm->team, doing->work->picoseconds + 1);
    return (grain + BUNDLE_TILE - 1) / BUNDLE_TILE * BUNDLE_TILE;
}

/* ---- before and after ---- */

static char *output_room(Doing *doing, const Step *step, size_t count)
{
    bool is_wanted = step->output != 0 && doing->instance->streams[step->output].is_read;
    return is_wanted ? stream_reserve(doing->vm, doing->instance, step->output, count) : NULL;
}

static void prepare(Doing *doing, size_t count)
{
    Vm *vm = doing->vm;
    const BundleTiles *work = doing->work;
    size_t members = team_size(vm->team);
    doing->operands = team_alloc(vm->team, (work->operands.count + 1) * sizeof(Cells));
    for (uint32_t i = 0; i < work->operands.count; i++)
        if (!work->operands.items[i].is_step)
            doing->operands[i] = bundle_operand_cells(doing->instance, doing->bundle, work->operands.items[i].index);
    doing->outputs = team_alloc(vm->team, work->step_count * sizeof(char *));
    doing->totals = team_alloc(vm->team, (work->fold_count + 1) * sizeof(char *));
    for (uint32_t i = 0; i < work->step_count; i++) {
        const Step *step = &work->steps[i];
        doing->outputs[i] = output_room(doing, step, count);
        if (step->fold != NOWHERE)
            doing->totals[step->fold] = team_alloc(
                vm->team, count / COMBINE_BLOCK * fold_result_size(doing->instance->plan->nodes[step->node].fold));
    }
    doing->views = team_alloc(vm->team, members * view_count(work) * sizeof(Cells));
    doing->tiles = vm_tiles(vm, members * work->slot_count * TILE_BYTES);
}

static void give_back(Doing *doing)
{
    Team *team = doing->vm->team;
    for (uint32_t i = 0; i < doing->work->fold_count; i++)
        team_give_back(team, doing->totals[i]);
    team_give_back(team, doing->views);
    team_give_back(team, doing->totals);
    team_give_back(team, doing->outputs);
    team_give_back(team, doing->operands);
}

/* Results are given, operands taken, reductions go on. */
static void conclude(Doing *doing, size_t count)
{
    Instance *instance = doing->instance;
    const BundleTiles *work = doing->work;
    for (uint32_t i = 0; i < work->step_count; i++) {
        const Step *step = &work->steps[i];
        const NodePlan *node = &instance->plan->nodes[step->node];
        if (doing->outputs[i] != NULL)
            stream_produce(instance, step->output, count);
        if (step->fold != NOWHERE)
            fold_join_totals(node->fold, node->kind->running(node, instance_state(instance, node)),
                             doing->totals[step->fold], count / COMBINE_BLOCK);
    }
    bundle_positions(instance, doing->bundle)[BUNDLE_ROOT] += count;
    bundle_advance_outside(doing->vm, instance, doing->bundle, count);
    bundle_advance_given(doing->vm, instance, doing->bundle, BUNDLE_ROOT, count);
    doing->vm->produced += count * work->step_count;
}

bool bundle_tiles_do(Vm *vm, Instance *instance, Bundle *bundle, size_t count)
{
    Doing doing = {.vm = vm,
                   .instance = instance,
                   .bundle = bundle,
                   .work = bundle->tiles,
                   .position = bundle_positions(instance, bundle)[BUNDLE_ROOT]};
    prepare(&doing, count);
    team_run(vm->team, count, grain_of(&doing), do_tiles, &doing);
    bool is_done = !atomic_load(&doing.has_failed);
    if (is_done)
        conclude(&doing, count);
    give_back(&doing);
    return is_done;
}
