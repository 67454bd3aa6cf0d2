#include "vm/walk.h"

#include "vm/instance.h"

/* ---- inputs and outputs ---- */

static bool is_stream(const Firing *firing, uint32_t input)
{
    const FlowOperand *operand = &firing->node->inputs[input];
    return !operand->is_constant && !operand->is_uniform;
}

size_t inputs_available(const Firing *firing, Inputs inputs)
{
    size_t available = SIZE_MAX;
    for (uint32_t i = 0; i < inputs.count; i++)
        available = least(available, firing_available(firing, inputs.first + i));
    return available;
}

void inputs_consume(Firing *firing, Inputs inputs, size_t count)
{
    for (uint32_t i = 0; count > 0 && i < inputs.count; i++)
        if (is_stream(firing, inputs.first + i))
            firing_consume(firing, inputs.first + i, count);
}

void inputs_cells(const Firing *firing, Inputs inputs, Cells *cells)
{
    for (uint32_t i = 0; i < inputs.count; i++)
        cells[i] = firing_cells(firing, inputs.first + i);
}

uint32_t inputs_driver(const Firing *firing, Inputs inputs)
{
    for (uint32_t i = 0; i < inputs.count; i++)
        if (is_stream(firing, inputs.first + i))
            return inputs.first + i;
    return UINT32_MAX;
}

size_t outputs_room(const Firing *firing, uint32_t first, uint32_t count)
{
    size_t room = SIZE_MAX;
    for (uint32_t i = 0; i < count; i++)
        room = least(room, firing_room(firing, first + i));
    return room;
}

/* ---- what there is ---- */

static void look_at_regular(Walk *walk)
{
    uint32_t count_input = walk->segments + 1;
    walk->segment_count = firing_available(walk->firing, walk->segments);
    if (firing_available(walk->firing, count_input) == 0)
        walk->segment_count = 0;
    if (walk->segment_count > 0)
        walk->regular_count = cells_scalar(SCALAR_I64, firing_cells(walk->firing, count_input), 0).bits;
}

static void look_at_ends(Walk *walk)
{
    walk->segment_count = firing_available(walk->firing, walk->segments);
    walk->frontier = (uint64_t)firing_frontier(walk->firing, walk->segments);
    if (walk->segment_count > 0)
        walk->ends = firing_cells(walk->firing, walk->segments);
}

static void look(Walk *walk)
{
    walk->child_count = inputs_available(walk->firing, walk->on_children);
    if (walk->driver != UINT32_MAX)
        walk->child_count = least(walk->child_count, firing_available(walk->firing, walk->driver));
    walk->parent_count = inputs_available(walk->firing, walk->on_parents);
    switch (walk->kind) {
    case SEGMENTS_SINGLE:
        walk->parent_count = least(walk->parent_count, walk->state->is_over ? 0 : 1);
        break;
    case SEGMENTS_REGULAR:
        look_at_regular(walk);
        break;
    case SEGMENTS_ENDS:
        look_at_ends(walk);
        break;
    }
}

Walk walk_begin(Firing *firing, WalkState *state, Inputs on_children, Inputs on_parents, uint32_t segments)
{
    return walk_begin_driven(firing, state, inputs_driver(firing, on_children), on_children, on_parents, segments);
}

Walk walk_begin_driven(Firing *firing, WalkState *state, uint32_t driver, Inputs on_children, Inputs on_parents,
                       uint32_t segments)
{
    Walk walk = {
        .firing = firing,
        .state = state,
        .kind = firing->node->segments,
        .driver = driver,
        .on_children = on_children,
        .on_parents = on_parents,
        .segments = segments,
        .start = state->start,
    };
    look(&walk);
    return walk;
}

/* ---- walking ---- */

uint64_t walk_position(const Walk *walk)
{
    return walk->state->position + walk->child;
}

static uint64_t end_at(const Walk *walk, size_t parent)
{
    if (walk->kind == SEGMENTS_REGULAR)
        return walk->start + (parent - walk->parent + 1) * walk->regular_count;
    return (uint64_t)((const int64_t *)walk->ends.data)[cells_index(walk->ends, parent)];
}

static uint64_t end_of_parent(const Walk *walk)
{
    return end_at(walk, walk->parent);
}

/* Points of C below it belong to the parent at hand, or to those before. */
static uint64_t limit(const Walk *walk)
{
    if (walk->kind == SEGMENTS_SINGLE)
        return UINT64_MAX;
    if (walk->parent < walk->segment_count)
        return end_of_parent(walk);
    return walk->kind == SEGMENTS_ENDS && walk->parent == walk->segment_count ? walk->frontier : 0;
}

size_t walk_points(const Walk *walk)
{
    if (walk->parent >= walk->parent_count || limit(walk) <= walk_position(walk))
        return 0;
    uint64_t belonging = limit(walk) - walk_position(walk);
    size_t there = walk->child_count - walk->child;
    return belonging < there ? (size_t)belonging : there;
}

static bool is_apart(const Walk *walk)
{
    uint32_t first = walk->on_children.first, end = first + walk->on_children.count;
    return walk->driver != UINT32_MAX && (walk->driver < first || walk->driver >= end);
}

static void settle(Walk *walk)
{
    walk->has_moved |= walk->child > 0 || walk->parent > 0;
    walk->state->position += walk->child;
    walk->state->start = walk->start;
    inputs_consume(walk->firing, walk->on_children, walk->child);
    if (is_apart(walk))
        firing_consume(walk->firing, walk->driver, walk->child);
    inputs_consume(walk->firing, walk->on_parents, walk->parent);
    if (walk->kind != SEGMENTS_SINGLE)
        inputs_consume(walk->firing, (Inputs){walk->segments, 1}, walk->parent);
    walk->child = 0;
    walk->parent = 0;
}

bool walk_is_parent_done(Walk *walk)
{
    if (walk->parent >= walk->parent_count)
        return false;
    if (walk->kind != SEGMENTS_SINGLE)
        return walk->parent < walk->segment_count && walk_position(walk) == end_of_parent(walk);
    if (walk->child < walk->child_count)
        return false;
    settle(walk);
    look(walk);
    if (walk->driver == UINT32_MAX)
        bug("walk", "nothing tells how many points there are");
    return walk->child_count == 0 && firing_is_ended(walk->firing, walk->driver);
}

void walk_next_parent(Walk *walk)
{
    walk->start = walk_position(walk);
    walk->parent++;
    if (walk->kind == SEGMENTS_SINGLE)
        walk->state->is_over = true;
}

size_t walk_whole_parents(const Walk *walk, size_t points_max)
{
    size_t known = least(walk->parent_count, walk->segment_count), parent = walk->parent;
    uint64_t limit = walk_position(walk) + least(walk->child_count - walk->child, points_max);
    if (walk->kind == SEGMENTS_SINGLE || walk_index(walk) > 0)
        return 0;
    while (parent < known && end_at(walk, parent) <= limit)
        parent++;
    return parent - walk->parent;
}

size_t walk_parents_end(const Walk *walk, size_t parents)
{
    return parents == 0 ? 0 : (size_t)(end_at(walk, walk->parent + parents - 1) - walk_position(walk));
}

void walk_over(Walk *walk, size_t parents)
{
    size_t points = walk_parents_end(walk, parents);
    if (parents > 1)
        walk->start = end_at(walk, walk->parent + parents - 2);
    walk->parent += parents - 1;
    walk->child += points;
}

uint64_t walk_index(const Walk *walk)
{
    return walk_position(walk) - walk->start;
}

static bool is_over(const Walk *walk)
{
    if (walk->kind == SEGMENTS_SINGLE)
        return walk->state->is_over;
    return firing_is_ended(walk->firing, walk->segments);
}

bool walk_end(Walk *walk)
{
    settle(walk);
    if (!is_over(walk))
        return walk->has_moved;
    firing_finish(walk->firing);
    return false;
}

/* ---- failing ---- */

Failure *walk_fail(Walk *walk, size_t offset)
{
    if (walk->driver == UINT32_MAX)
        return walk_fail_parent(walk);
    return firing_fail(walk->firing, walk->driver, walk->child + offset);
}

/* Whether the points of an input are those of the node: failures are told apart by their positions among these. */
static bool is_on_own_points(const Firing *firing, uint32_t input)
{
    const FlowNetwork *network = firing->instance->plan->network;
    const FlowStream *stream = &network->streams.items[firing->node->inputs[input].stream];
    return network->spaces.items[stream->space].points == network->spaces.items[firing->node->space].points;
}

Failure *walk_fail_parent(Walk *walk)
{
    uint32_t driver = walk->driver;
    if (driver != UINT32_MAX && is_on_own_points(walk->firing, driver))
        return firing_fail(walk->firing, driver, walk->child - (walk_index(walk) > 0 ? 1 : 0)); /* its last point */
    if (walk->kind != SEGMENTS_SINGLE)
        return firing_fail(walk->firing, walk->segments, walk->parent);
    return firing_fail_unit(walk->firing, driver);
}

Failure *firing_fail_unit(Firing *firing, uint32_t input)
{
    return firing_fail(firing, input, 0 - firing_position(firing, input));
}
