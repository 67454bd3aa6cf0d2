/* SHIFT: every element goes to its neighbour's place; the place that gets none takes the fill. */
#include "vm/nodes.h"

#include <string.h>

enum { SHIFT_ELEMENTS, SHIFT_FILL, SHIFT_SEGMENTS };

typedef struct Shift {
    WalkState walk;
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

static void put_fill(const Firing *firing, const Walk *walk, void *out)
{
    cells_copy(shifted_type(firing), out, firing_cells(firing, SHIFT_FILL),
               walk->parent, 1);
}

/* Gives `count` > 0 points the elements before them. */
static void give_previous(Firing *firing, const Walk *walk, size_t count)
{
    Shift *state = firing->state;
    LeafType type = shifted_type(firing);
    size_t size = leaf_size(type);
    Cells elements = firing_cells(firing, SHIFT_ELEMENTS);
    char *out = firing_reserve(firing, 0, count);
    if (state->has_held)
        memcpy(out, state->held, size); /* its reference goes along */
    else
        put_fill(firing, walk, out);
    cells_copy(type, out + size, elements, walk->child, count - 1);
    cells_copy(type, state->held, elements, walk->child + count - 1, 1);
    state->has_held = true;
    firing_produce(firing, 0, count);
}

/* Gives the `count` > 0 elements from walk.child on to the points before them; the first of a parent has no such point. */
static void give_next(Firing *firing, const Walk *walk, size_t count)
{
    LeafType type = shifted_type(firing);
    size_t skipped = walk_index(walk) == 0 ? 1 : 0;
    char *out = firing_reserve(firing, 0, count - skipped);
    cells_copy(type, out, firing_cells(firing, SHIFT_ELEMENTS), walk->child + skipped, count - skipped);
    firing_produce(firing, 0, count - skipped);
}

/* The last point of the parent gets the fill. False when there is no room. */
static bool end_next(Firing *firing, const Walk *walk)
{
    if (walk_index(walk) == 0)
        return true;
    if (firing_room(firing, 0) == 0)
        return false;
    put_fill(firing, walk, firing_reserve(firing, 0, 1));
    firing_produce(firing, 0, 1);
    return true;
}

static bool shift(Firing *firing)
{
    Shift *state = firing->state;
    bool is_next = firing->node->core_op == OP_NEXT;
    Walk walk = walk_begin(firing, &state->walk, (Inputs){SHIFT_ELEMENTS, 1}, (Inputs){SHIFT_FILL, 1}, SHIFT_SEGMENTS);
    for (;;) {
        size_t count = least(walk_points(&walk), firing_room(firing, 0));
        if (count > 0 && is_next)
            give_next(firing, &walk, count);
        else if (count > 0)
            give_previous(firing, &walk, count);
        walk.child += count;
        if (!walk_is_parent_done(&walk) || (is_next && !end_next(firing, &walk)))
            return walk_end(&walk);
        drop_held(firing->vm->memory, shifted_type(firing), state);
        walk_next_parent(&walk);
    }
}

static void fire_shift(Firing *firing)
{
    while (shift(firing))
        continue;
}

const NodeKind node_kind_SHIFT = {.fire = fire_shift, .state_size = sizeof(Shift), .release = release_shift};
