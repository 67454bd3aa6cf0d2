/* Nodes between a space and its parent. Each walks over stretches (segments.h): many whole parents at once, or part of one. */
#include "vm/instance.h"
#include "vm/movement.h"
#include "vm/points.h"
#include "vm/segments.h"

/* ---- from the parent to its points ---- */

enum { DISTRIBUTE_VALUE, DISTRIBUTE_DRIVER, DISTRIBUTE_SEGMENTS };

static void distribute_single(Firing *firing)
{
    size_t count = least(firing_available(firing, DISTRIBUTE_DRIVER), firing_room(firing, 0));
    if (count > 0 && firing_available(firing, DISTRIBUTE_VALUE) > 0) {
        firing_produce_uniform(firing, 0, firing_cells(firing, DISTRIBUTE_VALUE).data, count);
        firing_consume(firing, DISTRIBUTE_DRIVER, count);
    }
    if (firing_is_ended(firing, DISTRIBUTE_DRIVER))
        firing_finish(firing);
}

static void distribute_stretch(Firing *firing, const Stretch *stretch)
{
    Cells values = firing_cells(firing, DISTRIBUTE_VALUE);
    LeafType type = firing->node->inputs[DISTRIBUTE_VALUE].type;
    if (values.is_uniform || !stretch->is_whole || stretch->parents == 1) {
        firing_produce_uniform(firing, 0, values.data, stretch->points);
        return;
    }
    void *out = firing_reserve(firing, 0, stretch->points);
    if (stretch->ends != NULL)
        movement_distribute(firing->vm->team, leaf_size(type), out, values.data, stretch->first, stretch->ends, stretch->parents);
    else
        movement_distribute_regular(firing->vm->team, leaf_size(type), out, values.data, stretch->length, stretch->parents);
    cells_retain(type, out, stretch->points);
    firing_produce(firing, 0, stretch->points);
}

static void fire_distribute(Firing *firing)
{
    if (firing->node->segments == SEGMENTS_SINGLE) {
        distribute_single(firing);
        return;
    }
    Segments *segments = firing->state;
    Stretch stretch;
    for (;;) {
        size_t parents = firing_available(firing, DISTRIBUTE_VALUE);
        size_t points = least(firing_available(firing, DISTRIBUTE_DRIVER), firing_room(firing, 0));
        if (parents == 0 || !segments_next(firing, segments, DISTRIBUTE_SEGMENTS, points, false, parents, &stretch))
            break;
        distribute_stretch(firing, &stretch);
        firing_consume(firing, DISTRIBUTE_DRIVER, stretch.points);
        firing_consume(firing, DISTRIBUTE_VALUE, stretch.parents);
        segments_take(firing, segments, DISTRIBUTE_SEGMENTS, &stretch);
    }
    if (firing_is_ended(firing, DISTRIBUTE_DRIVER))
        firing_finish(firing);
}

static bool tile_accepts_distribute(const FlowNetwork *network, const FlowNode *node)
{
    (void)network;
    return node->segments == SEGMENTS_SINGLE && node->inputs[DISTRIBUTE_VALUE].type != LEAF_ARRAY && node->outputs[0] != 0;
}

static Cells tile_distribute(const NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done)
{
    (void)plan, (void)room, (void)position, (void)count, (void)done;
    return (Cells){.data = inputs[DISTRIBUTE_VALUE].data, .is_uniform = true};
}

static const TileKind tile_of_distribute = {.accepts = tile_accepts_distribute, .compute = tile_distribute};
const NodeKind node_kind_DISTRIBUTE = {
    .fire = fire_distribute, .state_size = sizeof(Segments), .tile = &tile_of_distribute, .skip = segments_skip};

/* ---- indices ---- */

enum { DRIVER, DRIVER_SEGMENTS };

static void index_stretch(Team *team, int64_t *out, const Stretch *stretch, uint64_t inside)
{
    if (!stretch->is_whole)
        movement_progression(team, out, (int64_t)inside, 1, stretch->points);
    else if (stretch->ends != NULL)
        movement_local_index(team, out, stretch->first, stretch->ends, stretch->parents);
    else
        movement_local_index_regular(team, out, stretch->length, stretch->parents);
}

static void fire_local_index(Firing *firing)
{
    Segments *segments = firing->state;
    Stretch stretch;
    for (;;) {
        size_t points = least(firing_available(firing, DRIVER), firing_room(firing, 0));
        if (!segments_next(firing, segments, DRIVER_SEGMENTS, points, false, SIZE_MAX, &stretch))
            break;
        index_stretch(firing->vm->team, firing_reserve(firing, 0, stretch.points), &stretch, segments->inside);
        firing_produce(firing, 0, stretch.points);
        firing_consume(firing, DRIVER, stretch.points);
        segments_take(firing, segments, DRIVER_SEGMENTS, &stretch);
    }
    if (firing_is_ended(firing, DRIVER))
        firing_finish(firing);
}

const NodeKind node_kind_LOCAL_INDEX = {.fire = fire_local_index, .state_size = sizeof(Segments), .skip = segments_skip};

/* ---- lengths ---- */

typedef struct Lengths {
    int64_t last;    /* SINGLE: points so far; ENDS: the end before the parent in turn */
    bool is_decided; /* EMPTY: the parent in turn has its answer */
} Lengths;

static void length_single(Firing *firing)
{
    Lengths *state = firing->state;
    size_t count = firing_available(firing, DRIVER);
    state->last += (int64_t)count;
    firing_consume(firing, DRIVER, count);
    if (!firing_is_ended(firing, DRIVER))
        return;
    firing_produce_uniform(firing, 0, &state->last, 1);
    firing_finish(firing);
}

static void length_regular(Firing *firing)
{
    firing_ignore(firing, DRIVER);
    size_t count = least(firing_available(firing, DRIVER_SEGMENTS), firing_room(firing, 0));
    if (count > 0 && firing_available(firing, DRIVER_SEGMENTS + 1) > 0) {
        firing_produce_uniform(firing, 0, firing_cells(firing, DRIVER_SEGMENTS + 1).data, count);
        firing_consume(firing, DRIVER_SEGMENTS, count);
    }
    if (firing_is_ended(firing, DRIVER_SEGMENTS))
        firing_finish(firing);
}

typedef struct Differences {
    const int64_t *ends;
    int64_t before; /* the end before them */
    int64_t *lengths;
    bool *are_empty;
} Differences;

static void subtract_ends(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Differences *differences = context;
    const int64_t *ends = differences->ends;
    differences->lengths[first] = ends[first] - (first == 0 ? differences->before : ends[first - 1]);
    for (size_t i = first + 1; i < end; i++)
        differences->lengths[i] = ends[i] - ends[i - 1];
}

static void compare_ends(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Differences *differences = context;
    const int64_t *ends = differences->ends;
    differences->are_empty[first] = ends[first] == (first == 0 ? differences->before : ends[first - 1]);
    for (size_t i = first + 1; i < end; i++)
        differences->are_empty[i] = ends[i] == ends[i - 1];
}

/* One output for each of `count` > 0 parents, whose ends are consumed. */
static void give_differences(Firing *firing, Differences differences, size_t count, TeamWork *work)
{
    enum { POINT = 200 }; /* picoseconds */
    Lengths *state = firing->state;
    Team *team = firing->vm->team;
    differences.ends = firing_cells(firing, DRIVER_SEGMENTS).data;
    differences.before = state->last;
    team_run(team, count, team_grain(team, POINT), work, &differences);
    state->last = differences.ends[count - 1];
    firing_produce(firing, 0, count);
    firing_consume(firing, DRIVER_SEGMENTS, count);
}

static void length_by_ends(Firing *firing)
{
    firing_ignore(firing, DRIVER);
    size_t count = least(firing_available(firing, DRIVER_SEGMENTS), firing_room(firing, 0));
    if (count > 0)
        give_differences(firing, (Differences){.lengths = firing_reserve(firing, 0, count)}, count, subtract_ends);
    if (firing_is_ended(firing, DRIVER_SEGMENTS))
        firing_finish(firing);
}

static void fire_length(Firing *firing)
{
    switch (firing->node->segments) {
    case SEGMENTS_SINGLE: length_single(firing); break;
    case SEGMENTS_REGULAR: length_regular(firing); break;
    case SEGMENTS_ENDS: length_by_ends(firing); break;
    }
}

/* Of one parent the points are counted as they are done. */
static void skip_lengths(const FlowNode *node, void *state, uint64_t points, uint64_t parents)
{
    (void)parents;
    if (node->segments != SEGMENTS_SINGLE)
        ((Lengths *)state)->last = (int64_t)points;
}

static void *running_length(const NodePlan *plan, void *state)
{
    (void)plan;
    return &((Lengths *)state)->last;
}

const NodeKind node_kind_LENGTH = {
    .fire = fire_length, .state_size = sizeof(Lengths), .skip = skip_lengths, .running = running_length};

static void empty_single(Firing *firing)
{
    bool has_points = firing_available(firing, DRIVER) > 0;
    if (!has_points && !firing_is_ended(firing, DRIVER))
        return;
    firing_produce_uniform(firing, 0, &(bool){!has_points}, 1);
    firing_finish(firing);
}

static void empty_regular(Firing *firing)
{
    firing_ignore(firing, DRIVER);
    size_t count = least(firing_available(firing, DRIVER_SEGMENTS), firing_room(firing, 0));
    if (count > 0 && firing_available(firing, DRIVER_SEGMENTS + 1) > 0) {
        int64_t length = *(const int64_t *)firing_cells(firing, DRIVER_SEGMENTS + 1).data;
        firing_produce_uniform(firing, 0, &(bool){length == 0}, count);
        firing_consume(firing, DRIVER_SEGMENTS, count);
    }
    if (firing_is_ended(firing, DRIVER_SEGMENTS))
        firing_finish(firing);
}

/* Parents whose end is known. One that was answered for before only passes. */
static void empty_known(Firing *firing)
{
    Lengths *state = firing->state;
    if (state->is_decided && firing_available(firing, DRIVER_SEGMENTS) > 0) {
        state->last = *(const int64_t *)firing_cells(firing, DRIVER_SEGMENTS).data;
        state->is_decided = false;
        firing_consume(firing, DRIVER_SEGMENTS, 1);
    }
    size_t count = least(firing_available(firing, DRIVER_SEGMENTS), firing_room(firing, 0));
    if (count > 0)
        give_differences(firing, (Differences){.are_empty = firing_reserve(firing, 0, count)}, count, compare_ends);
}

/* Answers for the parent in turn as soon as it is known to have a point. */
static void empty_by_ends(Firing *firing)
{
    Lengths *state = firing->state;
    firing_ignore(firing, DRIVER);
    empty_known(firing);
    if (firing_is_ended(firing, DRIVER_SEGMENTS)) {
        firing_finish(firing);
        return;
    }
    bool has_point = firing_available(firing, DRIVER_SEGMENTS) == 0 && firing_frontier(firing, DRIVER_SEGMENTS) > state->last;
    if (has_point && !state->is_decided && firing_room(firing, 0) > 0) {
        firing_produce_uniform(firing, 0, &(bool){false}, 1);
        state->is_decided = true;
    }
}

static void fire_empty(Firing *firing)
{
    switch (firing->node->segments) {
    case SEGMENTS_SINGLE: empty_single(firing); break;
    case SEGMENTS_REGULAR: empty_regular(firing); break;
    case SEGMENTS_ENDS: empty_by_ends(firing); break;
    }
}

const NodeKind node_kind_EMPTY = {.fire = fire_empty, .state_size = sizeof(Lengths), .skip = skip_lengths};

/* ---- reductions and scans ---- */

typedef struct Fold {
    Segments segments;
    bool is_open; /* `running` holds the parent in turn */
    _Alignas(8) unsigned char running[FOLD_STATE_MAX];
} Fold;

static void open_fold(Fold *state, const FoldKind *kind)
{
    if (!state->is_open)
        fold_start(kind, state->running);
    state->is_open = true;
}

static void fold_stretch(Firing *firing, const FoldKind *kind, const Stretch *stretch)
{
    Fold *state = firing->state;
    Cells elements = {0};
    if (stretch->points > 0)
        elements = firing_cells(firing, 0);
    if (stretch->is_whole && stretch->ends != NULL)
        fold_segments(firing->vm->team, kind, elements, stretch->first, stretch->ends, stretch->parents,
                      firing_reserve(firing, 0, stretch->parents));
    else if (stretch->is_whole)
        fold_regular(firing->vm->team, kind, elements, stretch->length, stretch->parents,
                     firing_reserve(firing, 0, stretch->parents));
    else {
        open_fold(state, kind);
        fold_add(firing->vm->team, kind, state->running, elements, stretch->points);
        if (stretch->parents == 0)
            return;
        fold_result(kind, state->running, firing_reserve(firing, 0, 1));
        state->is_open = false;
    }
    firing_produce(firing, 0, stretch->parents);
}

static void fire_fold(Firing *firing)
{
    Fold *state = firing->state;
    const FoldKind *kind = firing->plan->fold;
    Stretch stretch;
    while (segments_next(firing, &state->segments, 1, firing_available(firing, 0), firing_is_ended(firing, 0),
                         firing_room(firing, 0), &stretch)) {
        fold_stretch(firing, kind, &stretch);
        firing_consume(firing, 0, stretch.points);
        segments_take(firing, &state->segments, 1, &stretch);
    }
    if (segments_are_ended(firing, &state->segments, 1))
        firing_finish(firing);
}

static bool tile_accepts_fold(const FlowNetwork *network, const FlowNode *node)
{
    (void)network;
    return node->segments == SEGMENTS_SINGLE && !node->inputs[0].is_constant && !node->inputs[0].is_uniform;
}

static void *running_fold(const NodePlan *plan, void *state)
{
    open_fold(state, plan->fold);
    return ((Fold *)state)->running;
}

static const TileKind tile_of_fold = {.accepts = tile_accepts_fold};
const NodeKind node_kind_FOLD = {
    .fire = fire_fold, .state_size = sizeof(Fold), .tile = &tile_of_fold, .skip = segments_skip, .running = running_fold};
const NodeKind node_kind_FOLD_LEFT = {.fire = fire_fold, .state_size = sizeof(Fold)};

static void scan_stretch(Firing *firing, const FoldKind *kind, const Stretch *stretch)
{
    Fold *state = firing->state;
    if (stretch->points == 0) {
        state->is_open = state->is_open && stretch->parents == 0;
        return;
    }
    Cells elements = firing_cells(firing, 0);
    void *out = firing_reserve(firing, 0, stretch->points);
    if (stretch->is_whole && stretch->ends != NULL)
        fold_scan_segments(firing->vm->team, kind, elements, stretch->first, stretch->ends, stretch->parents, out);
    else if (stretch->is_whole)
        fold_scan_regular(firing->vm->team, kind, elements, stretch->length, stretch->parents, out);
    else {
        open_fold(state, kind);
        fold_scan(firing->vm->team, kind, state->running, elements, stretch->points, out);
        state->is_open = stretch->parents == 0;
    }
    firing_produce(firing, 0, stretch->points);
}

static void fire_scan(Firing *firing)
{
    Fold *state = firing->state;
    const FoldKind *kind = firing->plan->fold;
    Stretch stretch;
    for (;;) {
        size_t points = least(firing_available(firing, 0), firing_room(firing, 0));
        if (!segments_next(firing, &state->segments, 1, points, false, SIZE_MAX, &stretch))
            break;
        scan_stretch(firing, kind, &stretch);
        firing_consume(firing, 0, stretch.points);
        segments_take(firing, &state->segments, 1, &stretch);
    }
    if (firing_is_ended(firing, 0))
        firing_finish(firing);
}

const NodeKind node_kind_SCAN = {
    .fire = fire_scan, .state_size = sizeof(Fold), .skip = segments_skip, .running = running_fold};
