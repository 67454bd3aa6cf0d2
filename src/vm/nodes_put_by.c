/* PUT_BY and SCAN_BY: points combined into the places of a vector by a built-in operator, for each parent one vector. PUT_BY gives the vectors, SCAN_BY what
 * it finds at a point's place before the point is combined into it. */
#include "vm/made_vector.h"
#include "vm/nodes.h"
#include "vm/places.h"

enum { POINT_INDEX = VECTOR_PARTS, POINT_VALUE, POINT_SEGMENTS };

typedef struct PutBy {
    WalkState walk;
    MadeVector made;
    PlacesCopies copies;
} PutBy;

static void release_put_by(Vm *vm, const FlowNode *node, void *state)
{
    (void)node;
    array_release(vm->memory, ((PutBy *)state)->made.array);
    places_forget(vm->memory, &((PutBy *)state)->copies);
}

static Placing placing_of(const PutBy *state, const PlacesKind *kind)
{
    return (Placing){.kind = kind, .table = made_vector_cells(&state->made, 0), .length = state->made.length};
}

static bool scans(const Firing *firing)
{
    return firing->node->op == FLOW_SCAN_BY;
}

/* Takes the next `count` points; false after a failure. */
static bool take_points(Firing *firing, Walk *walk, const PlacesKind *kind, size_t count)
{
    PutBy *state = firing->state;
    Placing placing = placing_of(state, kind);
    placing.index = firing_cells(firing, POINT_INDEX);
    placing.values = firing_cells(firing, POINT_VALUE);
    size_t first = walk->child, good;
    if (scans(firing)) {
        good = places_scan(&placing, first, first + count, firing_reserve(firing, 0, count)) - first;
        firing_produce(firing, 0, good);
    } else
        good = places_put(firing->vm, &state->copies, &placing, first, first + count) - first;
    if (good == count) {
        walk->child += count;
        return true;
    }
    int64_t index = cells_scalar(SCALAR_I64, placing.index, first + good).integer;
    return failure_index(walk_fail(walk, good), scans(firing) ? OP_MULTISCAN : OP_PUT_WITH, index, placing.length);
}

static void open_vector(Firing *firing, size_t parent)
{
    PutBy *state = firing->state;
    if (!state->made.is_open)
        made_vector_copy(firing, &state->made, parent);
}

/* The parent has no more points. */
static void close_vector(Firing *firing, const PlacesKind *kind, size_t parent)
{
    PutBy *state = firing->state;
    if (!scans(firing)) {
        open_vector(firing, parent);
        Placing placing = placing_of(state, kind);
        places_join(firing->vm, &state->copies, &placing);
        made_vector_give(firing, &state->made);
    }
    state->made.is_open = false;
}

/* False when nothing more can be done now, or ever. */
static bool put_by(Firing *firing, const PlacesKind *kind)
{
    PutBy *state = firing->state;
    Walk walk = walk_begin(firing, &state->walk, (Inputs){POINT_INDEX, 2}, (Inputs){0, VECTOR_PARTS}, POINT_SEGMENTS);
    for (;;) {
        size_t count = walk_points(&walk);
        if (scans(firing))
            count = least(count, firing_room(firing, 0));
        if (count > 0)
            open_vector(firing, walk.parent);
        if (count > 0 && !take_points(firing, &walk, kind, count))
            return false;
        if (!walk_is_parent_done(&walk) || (!scans(firing) && outputs_room(firing, 0, VECTOR_PARTS) == 0))
            return walk_end(&walk);
        close_vector(firing, kind, walk.parent);
        walk_next_parent(&walk);
    }
}

static void fire_put_by(Firing *firing)
{
    const FlowNode *node = firing->node;
    const PlacesKind *kind = places_kind(node->core_op, (ScalarType)node->layout->leaves[0].type);
    while (put_by(firing, kind))
        continue;
}

const NodeKind node_kind_PUT_BY = {.fire = fire_put_by, .state_size = sizeof(PutBy), .release = release_put_by};
const NodeKind node_kind_SCAN_BY = {.fire = fire_put_by, .state_size = sizeof(PutBy), .release = release_put_by};
