/* Nodes that compute values point by point, and those that have them from elsewhere: globals, texts. */
#include "math/scalar_range.h"
#include "vm/instance.h"
#include "vm/points.h"
#include "vm/team_check.h"

/* ---- sources ---- */

/* Parameters are there when an instance begins (call.c); this is for networks without any. */
static void fire_parameters(Firing *firing)
{
    firing_finish(firing);
}

const NodeKind node_kind_PARAMETERS = {.fire = fire_parameters};

static void fire_global(Firing *firing)
{
    const Vm *vm = firing->vm;
    CoreVar variable = firing->node->variable;
    const Array *row = variable < vm->globals.count ? vm->globals.items[variable] : NULL;
    if (row == NULL) {
        const CoreProgram *core = vm->program->core;
        failure_no_value(firing_fail(firing, 0, 0), names_text(core->names, core->variables.items[variable].name));
        return;
    }
    for (uint32_t i = 0; i < firing->node->output_count; i++)
        firing_produce_uniform(firing, i, array_cells(row, i, 0).data, 1);
    firing_finish(firing);
}

const NodeKind node_kind_GLOBAL = {.fire = fire_global};

/* What a literal is made of while it is made, so that it is found when an allocation fails. */
typedef struct Literal {
    Array *array;
    Cells *cells;
} Literal;

static void release_literal(Vm *vm, const FlowNode *node, void *state_memory)
{
    Literal *state = state_memory;
    array_release(vm->memory, state->array);
    if (state->cells != NULL)
        memory_free(vm->memory, state->cells, node->layout->count * sizeof(Cells));
}

static void fire_text(Firing *firing)
{
    Vm *vm = firing->vm;
    Literal *state = firing->state;
    state->array = array_new(vm->memory, layout_of(vm->program->layouts, TYPE_CHAR));
    array_append(vm->memory, vm->team, state->array, &(Cells){.data = firing->node->text}, 0, firing->node->text_length);
    firing_produce_uniform(firing, 0, &state->array, 1);
    firing_finish(firing);
}

const NodeKind node_kind_TEXT = {.fire = fire_text, .state_size = sizeof(Literal), .release = release_literal};

static void fire_constants(Firing *firing)
{
    Memory *memory = firing->vm->memory;
    const FlowNode *node = firing->node;
    Literal *state = firing->state;
    state->array = array_new(memory, node->layout);
    state->cells = memory_alloc(memory, node->layout->count * sizeof(Cells));
    for (uint32_t i = 0; i < node->layout->count; i++)
        state->cells[i] = (Cells){.data = node->columns[i]};
    array_append(memory, firing->vm->team, state->array, state->cells, 0, node->index);
    firing_produce_uniform(firing, 0, &state->array, 1);
    firing_finish(firing);
}

const NodeKind node_kind_CONSTANTS = {
    .fire = fire_constants, .state_size = sizeof(Literal), .release = release_literal};

/* ---- operations on scalars ---- */

enum { ARGUMENTS_MAX = 4 };

static void fail_operation(Firing *firing, const PointsViews *views, size_t offset)
{
    const FlowNode *node = firing->node;
    Scalar arguments[ARGUMENTS_MAX] = {0};
    uint32_t driver = 0;
    for (uint32_t i = 0; i < views->count; i++) {
        arguments[i] = cells_scalar((ScalarType)node->inputs[i].type, views->cells[i], offset);
        if (!node->inputs[i].is_constant && !node->inputs[i].is_uniform)
            driver = i;
    }
    ScalarType result = firing->plan->elementwise.result;
    failure_scalar(firing_fail(firing, driver, offset), node->core_op, node->scalar, result, arguments);
}

static void fire_operation(Firing *firing)
{
    const FlowNode *node = firing->node;
    size_t count = least(points_available(firing), firing_room(firing, 0));
    if (count == 0) {
        points_take(firing, 0);
        return;
    }
    PointsViews views;
    points_views(firing, 0, node->input_count, &views);
    bool is_uniform = points_are_uniform(&views);
    uint64_t cell;
    void *out = is_uniform ? (void *)&cell : firing_reserve(firing, 0, count);
    size_t wanted = is_uniform ? 1 : count;
    size_t done = elementwise_run(firing->vm->team, &firing->plan->elementwise, out, views.cells, wanted);
    if (!is_uniform)
        firing_produce(firing, 0, done);
    else if (done == 1)
        firing_produce_uniform(firing, 0, &cell, count);
    if (done < wanted)
        fail_operation(firing, &views, done);
    else
        points_take(firing, count);
}

static bool tile_accepts_operation(const FlowNetwork *network, const FlowNode *node)
{
    (void)network;
    return node->outputs[0] != 0;
}

static Cells tile_operation(const NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done)
{
    (void)position;
    bool is_uniform = true;
    for (uint32_t i = 0; i < plan->node->input_count; i++)
        is_uniform &= inputs[i].is_uniform;
    size_t wanted = is_uniform ? 1 : count;
    size_t computed = elementwise_run(NULL, &plan->elementwise, room, inputs, wanted);
    *done = computed < wanted ? computed : count;
    return (Cells){.data = room, .is_uniform = is_uniform};
}

static const TileKind tile_of_operation = {.accepts = tile_accepts_operation, .compute = tile_operation};
const NodeKind node_kind_OPERATION = {.fire = fire_operation, .tile = &tile_of_operation};

/* ---- counts of ranges ---- */

typedef struct Counting {
    Op op;
    ScalarType type;
    Scalar first, end, step;
} Counting;

/* False where the operation fails. */
static bool count_elements(const Counting *c, uint64_t *count)
{
    *count = 0;
    switch ((int)c->op) {
    case OP_RANGE:
        if (range_step_is_zero(c->type, c->step))
            return false;
        *count = range_count(c->type, c->first, c->end, c->step);
        return true;
    case OP_RANGE_INCLUSIVE: *count = range_count_inclusive(c->type, c->first, c->end); return true;
    case OP_NESL_RANGE:
        if (c->end.integer < c->first.integer || c->step.integer <= 0)
            return false;
        *count = range_count_signed(c->first.integer, c->end.integer, c->step.integer);
        return true;
    default:
        if (c->first.integer < 0)
            return false;
        *count = c->first.bits;
        return true;
    }
}

static void word_count(Failure *failure, const Counting *c)
{
    if (c->op == OP_RANGE)
        failure_range_step(failure);
    else if (c->op == OP_NESL_RANGE)
        failure_nesl_range(failure, c->first.integer, c->end.integer, c->step.integer);
    else
        failure_negative_count(failure, c->first.integer);
}

static Counting counting_at(const FlowNode *node, const Cells *cells, size_t i)
{
    Scalar arguments[3] = {0};
    for (uint32_t k = 0; k < node->input_count; k++)
        arguments[k] = cells_scalar((ScalarType)node->inputs[k].type, cells[k], i);
    return (Counting){.op = node->core_op,
                      .type = (ScalarType)node->inputs[0].type,
                      .first = arguments[0],
                      .end = arguments[1],
                      .step = arguments[2]};
}

static uint32_t point_input(const FlowNode *node)
{
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!node->inputs[i].is_constant && !node->inputs[i].is_uniform)
            return i;
    return 0;
}

typedef struct CountLoop {
    const FlowNode *node;
    const Cells *cells;
    int64_t *out;
} CountLoop;

/* Stops where the operation fails, and where there are more elements than anybody can hold. */
static size_t count_one_by_one(const CountLoop *loop, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        Counting counting = counting_at(loop->node, loop->cells, i);
        uint64_t elements;
        bool is_good = count_elements(&counting, &elements) || !loop->node->keep;
        if (!is_good || elements > INT64_MAX)
            return i;
        loop->out[i] = (int64_t)elements;
    }
    return end;
}

/* The usual counts, given as such or as the distance of two ints, in loops that vectorise. False if one of them is out of the ordinary. */
static bool count_plainly(const CountLoop *loop, size_t first, size_t end)
{
    const FlowNode *node = loop->node;
    bool is_distance = node->core_op == OP_RANGE;
    if (node->inputs[0].type != (LeafType)SCALAR_I64 || node->core_op == OP_RANGE_INCLUSIVE || node->core_op == OP_NESL_RANGE ||
        (is_distance && !(node->inputs[2].is_constant && node->inputs[2].constant.integer == 1)))
        return false;
    Cells upper = loop->cells[is_distance], lower = loop->cells[0];
    if (upper.is_uniform)
        return false;
    const int64_t *to = upper.data, *from = lower.data;
    int64_t *out = loop->out;
    uint64_t strange = 0, base = is_distance && lower.is_uniform ? (uint64_t)from[0] : 0;
    for (size_t i = first; i < end; i++) {
        uint64_t count = (uint64_t)to[i] - (is_distance && !lower.is_uniform ? (uint64_t)from[i] : base);
        strange |= count;
        out[i] = (int64_t)count;
    }
    return strange >> 63 == 0;
}

static size_t count_points(const void *context, size_t first, size_t end)
{
    return first == end || count_plainly(context, first, end) ? end : count_one_by_one(context, first, end);
}

static void fail_count(Firing *firing, const PointsViews *views, size_t offset)
{
    Counting counting = counting_at(firing->node, views->cells, offset);
    uint64_t elements;
    if (count_elements(&counting, &elements) || !firing->node->keep)
        memory_fail(firing->vm->memory);
    word_count(firing_fail(firing, point_input(firing->node), offset), &counting);
}

static void fire_count(Firing *firing)
{
    enum { POINT_PICOSECONDS = 1000 };
    size_t count = least(points_available(firing), firing_room(firing, 0));
    PointsViews views;
    points_views(firing, 0, count == 0 ? 0 : firing->node->input_count, &views);
    CountLoop loop = {.node = firing->node, .cells = views.cells, .out = firing_reserve(firing, 0, count)};
    size_t done = team_check(firing->vm->team, count, POINT_PICOSECONDS, count_points, &loop);
    firing_produce(firing, 0, done);
    if (done < count)
        fail_count(firing, &views, done);
    else
        points_take(firing, count);
}

static bool tile_accepts_count(const FlowNetwork *network, const FlowNode *node)
{
    (void)network;
    return node->outputs[0] != 0;
}

static Cells tile_count(const NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done)
{
    (void)position;
    *done = count_points(&(CountLoop){.node = plan->node, .cells = inputs, .out = room}, 0, count);
    return (Cells){.data = room};
}

static const TileKind tile_of_count = {.accepts = tile_accepts_count, .compute = tile_count};
const NodeKind node_kind_COUNT = {.fire = fire_count, .tile = &tile_of_count};

/* ---- random numbers ---- */

typedef struct DrawLoop {
    Cells keys, counters;
    uint64_t *out;
} DrawLoop;

static size_t draw(const void *context, size_t first, size_t end)
{
    DrawLoop loop = *(const DrawLoop *)context;
    const uint64_t *key = loop.keys.data, *counter = loop.counters.data;
    for (size_t i = first; i < end; i++)
        loop.out[i] = random_hash(key[cells_index(loop.keys, i)], counter[cells_index(loop.counters, i)]);
    return end;
}

static void fire_draw(Firing *firing)
{
    enum { POINT_PICOSECONDS = 2500 };
    size_t count = least(points_available(firing), firing_room(firing, 0));
    if (count > 0) {
        DrawLoop loop = {.keys = firing_cells(firing, 0),
                         .counters = firing_cells(firing, 1),
                         .out = firing_reserve(firing, 0, count)};
        team_check(firing->vm->team, count, POINT_PICOSECONDS, draw, &loop);
        firing_produce(firing, 0, count);
    }
    points_take(firing, count);
}

const NodeKind node_kind_DRAW = {.fire = fire_draw};
