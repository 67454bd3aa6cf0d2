/* Nodes on vectors: made from points, taken apart, indexed, sliced. */
#include "kernel/members.h"
#include "vm/instance.h"
#include "vm/points.h"
#include "vm/segments.h"
#include "vm/team_check.h"
#include "vm/walk.h"

enum {
    /* estimates, for one thing in one thread */
    SLICE_PICOSECONDS = 4000, /* a slice copied, however short, */
    COPY_PICOSECONDS = 100,   /* ... and a byte of it */
    INDEX_PICOSECONDS = 1000,
    CUT_PICOSECONDS = 4000,
};

/* ---- points into vectors ---- */

enum { COLLECT_DRIVER, COLLECT_LEAVES };
enum { COLLECT_ARRAY, COLLECT_START, COLLECT_LENGTH };
enum { ARRAY_ELEMENTS = 4096 }; /* an array with more is left to the vectors in it */

typedef struct Collect {
    Segments segments;
    Array *array;
    size_t start; /* of the vector that is open */
} Collect;

static void release_collect(Vm *vm, const FlowNode *node, void *memory)
{
    (void)node;
    array_release(vm->memory, ((Collect *)memory)->array);
}

static Array *collect_array(Vm *vm, const FlowNode *node, void *memory)
{
    Collect *state = memory;
    if (state->array == NULL)
        state->array = array_new(vm->memory, node->layout);
    return state->array;
}

static void append_points(Firing *firing, size_t count)
{
    Collect *state = firing->state;
    Memory *memory = firing->vm->memory;
    collect_array(firing->vm, firing->node, state);
    PointsViews views;
    points_views(firing, COLLECT_LEAVES, count == 0 ? 0 : firing->node->layout->count, &views);
    array_append(memory, firing->vm->team, state->array, views.cells, 0, count);
    points_views_free(firing, &views);
}

static void give_regular(Firing *firing, size_t length, size_t count)
{
    Collect *state = firing->state;
    int64_t *starts = firing_reserve(firing, COLLECT_START, count);
    for (size_t i = 0; i < count; i++)
        starts[i] = (int64_t)(state->start + i * length);
    firing_produce(firing, COLLECT_START, count);
    firing_produce_uniform(firing, COLLECT_LENGTH, &length, count);
    state->start += count * length;
}

static void give_by_ends(Firing *firing, const Stretch *stretch)
{
    Collect *state = firing->state;
    size_t count = stretch->parents;
    int64_t *starts = firing_reserve(firing, COLLECT_START, count);
    int64_t *lengths = firing_reserve(firing, COLLECT_LENGTH, count);
    int64_t last = stretch->first;
    for (size_t i = 0; i < count; i++) {
        starts[i] = (int64_t)state->start + (last - stretch->first);
        lengths[i] = stretch->ends[i] - last;
        last = stretch->ends[i];
    }
    firing_produce(firing, COLLECT_START, count);
    firing_produce(firing, COLLECT_LENGTH, count);
    state->start += stretch->points;
}

/* The vectors of parents that end with the stretch. */
static void give_vectors(Firing *firing, const Stretch *stretch)
{
    Collect *state = firing->state;
    firing_produce_uniform(firing, COLLECT_ARRAY, &state->array, stretch->parents);
    if (stretch->is_whole && stretch->ends != NULL)
        give_by_ends(firing, stretch);
    else
        give_regular(firing, stretch->is_whole ? stretch->length : state->array->count - state->start, stretch->parents);
    if (state->array->count < ARRAY_ELEMENTS)
        return;
    array_release(firing->vm->memory, state->array);
    state->array = NULL;
    state->start = 0;
}

static void fire_collect(Firing *firing)
{
    Collect *state = firing->state;
    uint32_t input = COLLECT_LEAVES + firing->node->layout->count;
    Stretch stretch;
    for (;;) {
        size_t available = firing_available(firing, COLLECT_DRIVER);
        for (uint32_t i = COLLECT_LEAVES; i < input; i++)
            available = least(available, firing_available(firing, i));
        if (!segments_next(firing, &state->segments, input, available, firing_is_ended(firing, COLLECT_DRIVER),
                           points_room(firing), &stretch))
            break;
        append_points(firing, stretch.points);
        if (stretch.parents > 0)
            give_vectors(firing, &stretch);
        for (uint32_t i = 0; i < input; i++)
            firing_consume(firing, i, stretch.points);
        segments_take(firing, &state->segments, input, &stretch);
    }
    if (segments_are_ended(firing, &state->segments, input))
        firing_finish(firing);
}

const NodeKind node_kind_COLLECT = {
    .fire = fire_collect, .state_size = sizeof(Collect), .release = release_collect, .skip = segments_skip, .array = collect_array};

/* ---- columns in common ---- */

enum { SHARE_LENGTH, SHARE_LEAVES };
enum { LEAF_SOURCE, LEAF_START, LEAF_NUMBER, SHARE_LEAF_INPUTS };

static uint64_t unit_cell(const Firing *firing, uint32_t input)
{
    return *(const uint64_t *)firing_cells(firing, input).data;
}

/* Where lengths differ, somebody else will say so, but nobody may look beyond an end. */
static bool is_inside(const Firing *firing, uint32_t input, size_t length)
{
    const Array *array = *(Array *const *)firing_cells(firing, input + LEAF_SOURCE).data;
    size_t start = unit_cell(firing, input + LEAF_START), count = array == NULL ? 0 : array->count;
    return start <= count && length <= count - start;
}

static bool can_share(const Firing *firing, Inputs inputs)
{
    if (inputs_available(firing, inputs) == 0 || points_room(firing) == 0)
        return false;
    for (uint32_t i = SHARE_LEAVES; i < inputs.count; i += SHARE_LEAF_INPUTS)
        if (!is_inside(firing, i, unit_cell(firing, SHARE_LENGTH)))
            return false;
    return true;
}

static void share_leaves(Firing *firing, Array *array, size_t length)
{
    for (uint32_t leaf = 0; length > 0 && leaf < firing->node->layout->count; leaf++) {
        uint32_t input = SHARE_LEAVES + leaf * SHARE_LEAF_INPUTS;
        array_share_column(firing->vm->memory, array, leaf, *(Array *const *)firing_cells(firing, input + LEAF_SOURCE).data,
                           (uint32_t)unit_cell(firing, input + LEAF_NUMBER), unit_cell(firing, input + LEAF_START), length);
    }
    array_count_shared(array, length);
}

static void fire_share(Firing *firing)
{
    Inputs inputs = {0, firing->node->input_count};
    if (!can_share(firing, inputs))
        return;
    Array **array = firing->state;
    size_t length = unit_cell(firing, SHARE_LENGTH), start = 0;
    *array = array_new(firing->vm->memory, firing->node->layout);
    share_leaves(firing, *array, length);
    firing_produce_uniform(firing, COLLECT_ARRAY, array, 1);
    firing_produce_uniform(firing, COLLECT_START, &start, 1);
    firing_produce_uniform(firing, COLLECT_LENGTH, &length, 1);
    firing_finish(firing);
}

static void release_share(Vm *vm, const FlowNode *node, void *state)
{
    (void)node;
    array_release(vm->memory, *(Array **)state);
}

const NodeKind node_kind_SHARE = {.fire = fire_share, .state_size = sizeof(Array *), .release = release_share};

/* ---- vectors into points ---- */

enum { SLICES_ARRAY, SLICES_START, SLICES_DRIVER, SLICES_SEGMENTS };

typedef struct Slices {
    Team *team;
    uint32_t leaf;
    Cells arrays, starts;
    LeafType type;
    size_t size;
    char *out;
    Stretch stretch;
} Slices;

/* The cells of the vector at a parent, from one of its elements on. */
static Cells slice_cells(const Slices *slices, size_t parent, uint64_t from)
{
    const Array *array = ((Array *const *)slices->arrays.data)[cells_index(slices->arrays, parent)];
    int64_t start = ((const int64_t *)slices->starts.data)[cells_index(slices->starts, parent)];
    return array_cells(array, slices->leaf, (size_t)start + (size_t)from);
}

/* Where the points of parent i begin, among those of a stretch of whole parents. */
static size_t parent_start(const Stretch *stretch, size_t i)
{
    if (stretch->ends == NULL)
        return i * stretch->length;
    return i == 0 ? 0 : (size_t)(stretch->ends[i - 1] - stretch->first);
}

/* The last parent that begins at a point of the stretch or before it: the one that the point is of. */
static size_t parent_of(const Stretch *stretch, size_t point)
{
    if (stretch->ends == NULL)
        return stretch->length == 0 ? 0 : point / stretch->length;
    size_t low = 0, high = stretch->parents;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (parent_start(stretch, middle) <= point)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Copies the slices of points [first, end). */
static void copy_slices(void *context, size_t first, size_t end, uint32_t member)
{
    const Slices *slices = context;
    const Stretch *stretch = &slices->stretch;
    (void)member;
    size_t parent = first == 0 ? 0 : parent_of(stretch, first), start = parent_start(stretch, parent);
    for (; first < end; parent++) {
        size_t next = parent_start(stretch, parent + 1), stop = next < end ? next : end;
        if (stop > first)
            cells_copy_unretained(slices->type, slices->out + first * slices->size,
                                  slice_cells(slices, parent, first - start), 0, stop - first);
        first = stop;
        start = next;
    }
}

static void copy_stretch(Slices *slices, uint64_t inside)
{
    const Stretch *stretch = &slices->stretch;
    if (!stretch->is_whole || stretch->parents == 1) {
        cells_copy_shared(slices->team, slices->type, slices->out, slice_cells(slices, 0, inside), 0, stretch->points);
        return;
    }
    size_t cost = stretch->points * slices->size * COPY_PICOSECONDS + stretch->parents * SLICE_PICOSECONDS;
    team_run(slices->team, stretch->points, team_grain(slices->team, cost / stretch->points), copy_slices, slices);
    cells_retain(slices->type, slices->out, stretch->points);
}

static bool can_lend(const Firing *firing)
{
    return firing_is_wanted(firing, 0) && member_is_lent(firing->instance->plan->network, firing->node);
}

static bool lend_slice(Firing *firing, size_t points, uint64_t inside)
{
    Array *array = *(Array *const *)firing_cells(firing, SLICES_ARRAY).data;
    int64_t start = *(const int64_t *)firing_cells(firing, SLICES_START).data;
    return firing_lend(firing, 0, array, firing->node->leaf, (size_t)start + (size_t)inside, points);
}

/* Room for a stretch in the output; nothing is copied where nobody reads. */
static void give_slices(Firing *firing, const Stretch *stretch, uint64_t inside)
{
    if (stretch->points == 0 || !firing_is_wanted(firing, 0) || (can_lend(firing) && lend_slice(firing, stretch->points, inside)))
        return;
    LeafType type = firing_output_type(firing, 0);
    Slices slices = {.team = firing->vm->team,
                     .leaf = firing->node->leaf,
                     .arrays = firing_cells(firing, SLICES_ARRAY),
                     .starts = firing_cells(firing, SLICES_START),
                     .type = type,
                     .size = leaf_size(type),
                     .out = firing_reserve(firing, 0, stretch->points),
                     .stretch = *stretch};
    copy_stretch(&slices, inside);
    firing_produce(firing, 0, stretch->points);
}

static void fire_slices(Firing *firing)
{
    Segments *segments = firing->state;
    bool is_single = firing->node->segments == SEGMENTS_SINGLE;
    Stretch stretch;
    for (;;) {
        size_t parents = least(firing_available(firing, SLICES_ARRAY), firing_available(firing, SLICES_START));
        size_t room = can_lend(firing) ? firing_wide_room(firing, 0) : firing_room(firing, 0);
        size_t points = least(firing_available(firing, SLICES_DRIVER), room);
        if (parents == 0 || !segments_next(firing, segments, SLICES_SEGMENTS, points, false, parents, &stretch))
            break;
        give_slices(firing, &stretch, segments->inside);
        firing_consume(firing, SLICES_DRIVER, stretch.points);
        if (!is_single) {
            firing_consume(firing, SLICES_ARRAY, stretch.parents);
            firing_consume(firing, SLICES_START, stretch.parents);
        }
        segments_take(firing, segments, SLICES_SEGMENTS, &stretch);
    }
    if (firing_is_ended(firing, SLICES_DRIVER))
        firing_finish(firing);
}

static bool is_unit_operand(const FlowNetwork *network, const FlowOperand *operand)
{
    return operand->is_constant || operand->is_uniform ||
           flow_is_unit(network->streams.items[operand->stream].space);
}

/* One vector of scalars for all points. */
static bool tile_accepts_slices(const FlowNetwork *network, const FlowNode *node)
{
    return node->segments == SEGMENTS_SINGLE && node->outputs[0] != 0 &&
           network->streams.items[node->outputs[0]].type != LEAF_ARRAY &&
           is_unit_operand(network, &node->inputs[SLICES_ARRAY]) && is_unit_operand(network, &node->inputs[SLICES_START]);
}

/* What is there already is not copied. */
static Cells tile_slices(const NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done)
{
    (void)room, (void)count, (void)done;
    const Array *array = *(Array *const *)inputs[SLICES_ARRAY].data;
    return array_cells(array, plan->node->leaf, (size_t)*(const int64_t *)inputs[SLICES_START].data + (size_t)position);
}

static const TileKind tile_of_slices = {.accepts = tile_accepts_slices, .compute = tile_slices};
const NodeKind node_kind_SLICES = {
    .fire = fire_slices, .state_size = sizeof(Segments), .tile = &tile_of_slices, .skip = segments_skip};

/* ---- indices ---- */

static int64_t int_at(Cells cells, size_t i)
{
    return ((const int64_t *)cells.data)[cells_index(cells, i)];
}

/* An input that counts the node's points. */
static uint32_t point_input(const FlowNode *node)
{
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!node->inputs[i].is_constant && !node->inputs[i].is_uniform)
            return i;
    return 0;
}

enum { INDEX_INDEX, INDEX_START, INDEX_LENGTH };

typedef struct Indices {
    int64_t *out;
    Cells index, start, length;
} Indices;

static size_t check_indices(const void *context, size_t first, size_t end)
{
    const Indices *indices = context;
    int64_t *out = indices->out;
    Cells index = indices->index, start = indices->start, length = indices->length;
    for (size_t i = first; i < end; i++) {
        int64_t at = int_at(index, i);
        if ((uint64_t)at >= (uint64_t)int_at(length, i))
            return i;
        out[i] = int_at(start, i) + at;
    }
    return end;
}

static void fire_index(Firing *firing)
{
    size_t count = least(points_available(firing), firing_room(firing, 0));
    if (count > 0) {
        Cells index = firing_cells(firing, INDEX_INDEX), length = firing_cells(firing, INDEX_LENGTH);
        Indices indices = {firing_reserve(firing, 0, count), index, firing_cells(firing, INDEX_START), length};
        Team *team = firing->vm->team;
        size_t done = team_check(team, count, INDEX_PICOSECONDS, check_indices, &indices);
        firing_produce(firing, 0, done);
        if (done < count) {
            failure_index(firing_fail(firing, point_input(firing->node), done), firing->node->core_op,
                          int_at(index, done), (uint64_t)int_at(length, done));
            return;
        }
    }
    points_take(firing, count);
}

static bool tile_accepts_index(const FlowNetwork *network, const FlowNode *node)
{
    (void)network;
    return node->outputs[0] != 0;
}

static Cells tile_index(const NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done)
{
    (void)plan, (void)position;
    Indices indices = {room, inputs[INDEX_INDEX], inputs[INDEX_START], inputs[INDEX_LENGTH]};
    *done = check_indices(&indices, 0, count);
    return (Cells){.data = room};
}

static const TileKind tile_of_index = {.accepts = tile_accepts_index, .compute = tile_index};
const NodeKind node_kind_INDEX = {.fire = fire_index, .tile = &tile_of_index};

/* ---- slices ---- */

enum { SLICE_START, SLICE_LENGTH, SLICE_ARGUMENTS };

typedef struct Slice {
    Op op;
    int64_t start, length;
    int64_t arguments[2];
} Slice;

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? UINT64_C(0) - (uint64_t)a : (uint64_t)a;
}

/* Narrows the slice; false if it is outside. */
static bool cut(Slice *slice)
{
    int64_t first = slice->arguments[0], end = slice->arguments[1];
    if (slice->op == OP_SUBSEQ) {
        if (first < 0 || end < first || end > slice->length)
            return false;
        slice->start += first;
        slice->length = end - first;
        return true;
    }
    if (magnitude(first) > (uint64_t)slice->length)
        return false;
    int64_t at = first < 0 ? slice->length + first : first;
    slice->start += slice->op == OP_DROP ? at : 0;
    slice->length = slice->op == OP_DROP ? slice->length - at : at;
    return true;
}

static void word_slice(Failure *failure, const Slice *slice)
{
    if (slice->op == OP_SUBSEQ)
        failure_subseq(failure, slice->arguments[0], slice->arguments[1], (uint64_t)slice->length);
    else
        failure_cut(failure, slice->op, slice->arguments[0], (uint64_t)slice->length);
}

/* Points being sliced. */
typedef struct Cutting {
    Op op;
    PointsViews views;
    int64_t *starts, *lengths;
} Cutting;

static Slice slice_at(Op op, const PointsViews *views, size_t i)
{
    Slice slice = {.op = op,
                   .start = int_at(views->cells[SLICE_START], i),
                   .length = int_at(views->cells[SLICE_LENGTH], i)};
    for (uint32_t k = SLICE_ARGUMENTS; k < views->count; k++)
        slice.arguments[k - SLICE_ARGUMENTS] = int_at(views->cells[k], i);
    return slice;
}

static size_t cut_points(const void *context, size_t first, size_t end)
{
    const Cutting *cutting = context;
    for (size_t i = first; i < end; i++) {
        Slice slice = slice_at(cutting->op, &cutting->views, i);
        if (!cut(&slice))
            return i;
        cutting->starts[i] = slice.start;
        cutting->lengths[i] = slice.length;
    }
    return end;
}

static void fail_slice(Firing *firing, const Cutting *cutting, size_t i)
{
    Slice slice = slice_at(cutting->op, &cutting->views, i);
    word_slice(firing_fail(firing, point_input(firing->node), i), &slice);
}

static void fire_slice(Firing *firing)
{
    size_t count = least(points_available(firing), points_room(firing));
    Cutting cutting = {.op = firing->node->core_op};
    points_views(firing, 0, count == 0 ? 0 : firing->node->input_count, &cutting.views);
    cutting.starts = firing_reserve(firing, 0, count);
    cutting.lengths = firing_reserve(firing, 1, count);
    Team *team = firing->vm->team;
    size_t done = team_check(team, count, CUT_PICOSECONDS, cut_points, &cutting);
    firing_produce(firing, 0, done);
    firing_produce(firing, 1, done);
    if (done < count)
        fail_slice(firing, &cutting, done);
    else
        points_take(firing, count);
}

const NodeKind node_kind_SLICE = {.fire = fire_slice};

/* ---- elements ---- */

enum { GATHER_ARRAY, GATHER_INDEX };

static void fire_gather(Firing *firing)
{
    size_t count = least(points_available(firing), firing_room(firing, 0));
    if (count > 0 && firing_is_wanted(firing, 0)) {
        Cells arrays = firing_cells(firing, GATHER_ARRAY), index = firing_cells(firing, GATHER_INDEX);
        cells_gather(firing->vm->team, firing_output_type(firing, 0), firing_reserve(firing, 0, count), arrays,
                     firing->node->leaf, index, count);
        firing_produce(firing, 0, count);
    }
    points_take(firing, count);
}

/* Scalars of one vector: nothing is retained. */
static bool tile_accepts_gather(const FlowNetwork *network, const FlowNode *node)
{
    return node->outputs[0] != 0 && network->streams.items[node->outputs[0]].type != LEAF_ARRAY &&
           is_unit_operand(network, &node->inputs[GATHER_ARRAY]);
}

static Cells tile_gather(const NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done)
{
    (void)position, (void)done;
    const Layout *layout = (*(Array *const *)inputs[GATHER_ARRAY].data)->layout;
    cells_gather(NULL, layout->leaves[plan->node->leaf].type, room,
                 (Cells){.data = inputs[GATHER_ARRAY].data, .is_uniform = true}, plan->node->leaf, inputs[GATHER_INDEX], count);
    return (Cells){.data = room};
}

static const TileKind tile_of_gather = {.accepts = tile_accepts_gather, .compute = tile_gather};
const NodeKind node_kind_GATHER = {.fire = fire_gather, .tile = &tile_of_gather};
