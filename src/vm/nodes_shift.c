/* SHIFT: every element goes to its neighbour's place; the place that gets none takes the fill. Many whole parents are done at once, or part of
 * one. */
#include "vm/movement.h"
#include "vm/nodes.h"
#include "vm/segments.h"

#include <string.h>

enum { SHIFT_ELEMENTS, SHIFT_FILL, SHIFT_SEGMENTS };

typedef struct Shift {
    Segments segments;
    bool has_held;
    _Alignas(8) char held[8]; /* PREVIOUS: the element before the one to come; owned */
} Shift;

static LeafType shifted_type(const Firing *firing)
{
    return firing->node->inputs[SHIFT_ELEMENTS].type;
}

static void drop_held(Memory *memory, LeafType type, Shift *state)
{
    if (state->has_held)
        cells_release(memory, type, state->held, 1);
    state->has_held = false;
}

static void release_shift(Vm *vm, const FlowNode *node, void *state)
{
    drop_held(vm->memory, node->inputs[SHIFT_ELEMENTS].type, state);
}

/* Copies elements, which are retained. */
static void copy_elements(Firing *firing, void *out, size_t first, size_t count)
{
    LeafType type = shifted_type(firing);
    Cells elements = firing_cells(firing, SHIFT_ELEMENTS);
    elements.data = (const char *)elements.data + leaf_size(type) * cells_index(elements, first);
    movement_copy(firing->vm->team, leaf_size(type), out, elements, count);
    cells_retain(type, out, count);
}

static void shift_whole(Firing *firing, const Stretch *stretch)
{
    if (stretch->points == 0)
        return;
    LeafType type = shifted_type(firing);
    CutSegments segments = {.first = stretch->first, .ends = stretch->ends, .length = stretch->length, .count = stretch->parents};
    void *out = firing_reserve(firing, 0, stretch->points);
    movement_shift(firing->vm->team, leaf_size(type), out, firing_cells(firing, SHIFT_ELEMENTS),
                   firing_cells(firing, SHIFT_FILL), segments, firing->node->core_op == OP_NEXT);
    cells_retain(type, out, stretch->points);
    firing_produce(firing, 0, stretch->points);
}

/* Gives points of the open parent the elements before them. */
static void give_previous(Firing *firing, const Stretch *stretch)
{
    Shift *state = firing->state;
    LeafType type = shifted_type(firing);
    size_t size = leaf_size(type), count = stretch->points;
    if (count > 0) {
        char *out = firing_reserve(firing, 0, count);
        if (state->has_held)
            memcpy(out, state->held, size); /* its reference goes along */
        else
            cells_copy(type, out, firing_cells(firing, SHIFT_FILL), 0, 1);
        copy_elements(firing, out + size, 0, count - 1);
        copy_elements(firing, state->held, count - 1, 1);
        state->has_held = true;
        firing_produce(firing, 0, count);
    }
    if (stretch->parents > 0)
        drop_held(firing->vm->memory, type, state);
}

/* Gives the elements to the points before them; the first of the parent has no such point. With the parent's end its last point gets the fill. */
static void give_next(Firing *firing, const Stretch *stretch)
{
    const Shift *state = firing->state;
    LeafType type = shifted_type(firing);
    size_t skipped = state->segments.inside == 0 && stretch->points > 0 ? 1 : 0, count = stretch->points - skipped;
    size_t fills = stretch->parents > 0 && state->segments.inside + stretch->points > 0 ? 1 : 0;
    char *out = firing_reserve(firing, 0, count + fills);
    if (count > 0)
        copy_elements(firing, out, skipped, count);
    if (fills > 0)
        cells_copy(type, out + leaf_size(type) * count, firing_cells(firing, SHIFT_FILL), 0, 1);
    firing_produce(firing, 0, count + fills);
}

/* The next stretch for whose points there is room. The fill at the end of a parent that was begun before takes a place more than there are points. */
static bool next_stretch(const Firing *firing, Stretch *stretch)
{
    const Shift *state = firing->state;
    size_t room = firing_room(firing, 0), points = least(firing_available(firing, SHIFT_ELEMENTS), room);
    size_t parents = firing_available(firing, SHIFT_FILL);
    if (parents == 0 || !segments_next(firing, &state->segments, SHIFT_SEGMENTS, points, firing_is_ended(firing, SHIFT_ELEMENTS),
                                       parents, stretch))
        return false;
    if (firing->node->core_op == OP_NEXT && !stretch->is_whole && state->segments.inside > 0 && stretch->points == room)
        stretch->parents = 0;
    return stretch->points > 0 || stretch->parents > 0;
}

static void fire_shift(Firing *firing)
{
    Shift *state = firing->state;
    Stretch stretch;
    while (next_stretch(firing, &stretch)) {
        if (stretch.is_whole)
            shift_whole(firing, &stretch);
        else if (firing->node->core_op == OP_NEXT)
            give_next(firing, &stretch);
        else
            give_previous(firing, &stretch);
        firing_consume(firing, SHIFT_ELEMENTS, stretch.points);
        firing_consume(firing, SHIFT_FILL, stretch.parents);
        segments_take(firing, &state->segments, SHIFT_SEGMENTS, &stretch);
    }
    if (segments_are_ended(firing, &state->segments, SHIFT_SEGMENTS))
        firing_finish(firing);
}

const NodeKind node_kind_SHIFT = {.fire = fire_shift, .state_size = sizeof(Shift), .release = release_shift};
