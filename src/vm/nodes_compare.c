/* ORDER, COMPARE, PAIRS: values and sequences side by side.
 *
 * Two sequences under the same parent are walked over in step, each by what there is of it. Which of them is longer is known as soon as one has
 * ended and the other has a point more. Once they differ, the rest of both is let go. */
#include "vm/nodes.h"
#include "vm/team_check.h"

#include <string.h>

/* ---- values ---- */

enum { ORDER_DRIVER, ORDER_LEAVES };

typedef struct Leaves {
    Cells *cells; /* of both operands; kept so that it is found when an allocation fails */
} Leaves;

static void open_leaves(Firing *firing, Leaves *leaves)
{
    if (leaves->cells == NULL)
        leaves->cells = memory_alloc(firing->vm->memory, 2 * firing->node->layout->count * sizeof *leaves->cells);
}

static void free_leaves(Vm *vm, const FlowNode *node, Leaves *leaves)
{
    if (leaves->cells != NULL)
        memory_free(vm->memory, leaves->cells, 2 * node->layout->count * sizeof *leaves->cells);
}

/* Rows of both operands, side by side. */
typedef struct OrderLoop {
    const Layout *layout;
    const Cells *a, *b;
    int32_t *out;
} OrderLoop;

/* Vectors in them may be long, or the first look may be enough. */
static size_t row_picoseconds(const Layout *layout)
{
    return 5000 * (size_t)(layout->count + 1);
}

static size_t order_rows(const void *context, size_t first, size_t end)
{
    OrderLoop loop = *(const OrderLoop *)context;
    for (size_t i = first; i < end; i++)
        loop.out[i] = (int32_t)rows_order(loop.layout, loop.a, i, loop.b, i);
    return end;
}

static bool order(Firing *firing)
{
    Leaves *leaves = firing->state;
    const Layout *layout = firing->node->layout;
    Inputs inputs = {ORDER_DRIVER, firing->node->input_count};
    size_t count = least(inputs_available(firing, inputs), firing_room(firing, 0));
    if (count == 0)
        return firing_rest(firing, ORDER_DRIVER);
    open_leaves(firing, leaves);
    inputs_cells(firing, (Inputs){ORDER_LEAVES, 2 * layout->count}, leaves->cells);
    OrderLoop loop = {layout, leaves->cells, leaves->cells + layout->count, firing_reserve(firing, 0, count)};
    team_check(firing->vm->team, count, row_picoseconds(layout), order_rows, &loop);
    firing_produce(firing, 0, count);
    inputs_consume(firing, inputs, count);
    return true;
}

static void fire_order(Firing *firing)
{
    while (order(firing))
        continue;
}

static void release_order(Vm *vm, const FlowNode *node, void *state)
{
    free_leaves(vm, node, state);
}

const NodeKind node_kind_ORDER = {.fire = fire_order, .state_size = sizeof(Leaves), .release = release_order};

/* ---- two sequences ---- */

enum { SIDES = 2 };

/* One of the sequences: what stands in the state, and where its inputs are. */
typedef struct Side {
    Firing *firing;
    Inputs inputs;    /* the driver, then the leaves of an element */
    uint32_t ends;    /* its input of ends, if it has one */
    uint64_t *taken;  /* points that were walked over */
} Side;

static Side side_of(Firing *firing, uint64_t *taken, uint32_t side, uint32_t leaf_count)
{
    return (Side){.firing = firing,
                  .inputs = {side * (1 + leaf_count), 1 + leaf_count},
                  .ends = SIDES * (1 + leaf_count) + side,
                  .taken = &taken[side]};
}

static bool is_single(const Side *side)
{
    return side->firing->node->segments == SEGMENTS_SINGLE;
}

/* Points of the parent at hand that are there. */
static size_t side_points(const Side *side)
{
    size_t there = inputs_available(side->firing, side->inputs);
    if (is_single(side))
        return there;
    bool is_known = firing_available(side->firing, side->ends) > 0;
    int64_t limit = is_known ? *(const int64_t *)firing_cells(side->firing, side->ends).data
                             : firing_frontier(side->firing, side->ends);
    uint64_t belonging = (uint64_t)limit - *side->taken;
    return belonging < there ? (size_t)belonging : there;
}

/* The parent at hand has no further points. */
static bool side_is_done(const Side *side)
{
    if (is_single(side))
        return firing_is_ended(side->firing, side->inputs.first);
    return firing_available(side->firing, side->ends) > 0 &&
           (uint64_t)*(const int64_t *)firing_cells(side->firing, side->ends).data == *side->taken;
}

static void side_take(Side *side, size_t count)
{
    inputs_consume(side->firing, side->inputs, count);
    *side->taken += count;
}

/* Both have ended under the parent at hand. False once there is no other. */
static bool next_parent(Side *sides)
{
    Firing *firing = sides[0].firing;
    if (is_single(&sides[0])) {
        firing_finish(firing);
        return false;
    }
    firing_consume(firing, sides[0].ends, 1);
    firing_consume(firing, sides[1].ends, 1);
    return true;
}

static void finish_after_last(Side *sides)
{
    if (!is_single(&sides[0]) && firing_is_ended(sides[0].firing, sides[0].ends))
        firing_finish(sides[0].firing);
}

/* ---- their order ---- */

typedef struct Compare {
    Leaves leaves;
    uint64_t taken[SIDES];
    Order order; /* of the parent at hand, so far; 0 at its start */
} Compare;

/* Whether cells are the same bits, and these say that values are equal: a quick look before a thorough one. */
static bool are_same(const Layout *layout, const Cells *a, const Cells *b, size_t count)
{
    if (layout->count == 0)
        return true;
    LeafType type = layout->leaves[0].type;
    return layout->count == 1 && type != SCALAR_F64 && type != SCALAR_F32 && !a->is_uniform && !b->is_uniform &&
           memcmp(a->data, b->data, count * leaf_size(type)) == 0;
}

/* The first two rows that are not equal. */
static size_t find_difference(const void *context, size_t first, size_t end)
{
    OrderLoop loop = *(const OrderLoop *)context;
    while (first < end && rows_order(loop.layout, loop.a, first, loop.b, first) == ORDER_EQUAL)
        first++;
    return first;
}

static Order compare_points(Firing *firing, const Side *sides, size_t count)
{
    Compare *state = firing->state;
    const Layout *layout = firing->node->layout;
    open_leaves(firing, &state->leaves);
    Cells *a = state->leaves.cells, *b = a + layout->count;
    inputs_cells(firing, (Inputs){sides[0].inputs.first + 1, layout->count}, a);
    inputs_cells(firing, (Inputs){sides[1].inputs.first + 1, layout->count}, b);
    if (are_same(layout, a, b, count))
        return ORDER_EQUAL;
    OrderLoop loop = {.layout = layout, .a = a, .b = b};
    size_t found = team_check(firing->vm->team, count, row_picoseconds(layout), find_difference, &loop);
    return found < count ? rows_order(layout, a, found, b, found) : ORDER_EQUAL;
}

/* Goes on under the parent at hand; false if nothing was there. */
static bool compare_some(Firing *firing, Side *sides)
{
    Compare *state = firing->state;
    size_t a = side_points(&sides[0]), b = side_points(&sides[1]), both = least(a, b);
    if (state->order == 0)
        state->order = ORDER_EQUAL;
    if (state->order != ORDER_EQUAL) {
        side_take(&sides[0], a);
        side_take(&sides[1], b);
        return a > 0 || b > 0;
    }
    if (both > 0) {
        state->order = compare_points(firing, sides, both);
        side_take(&sides[0], both);
        side_take(&sides[1], both);
        return true;
    }
    if (a > 0 && side_is_done(&sides[1]))
        state->order = ORDER_GREATER;
    else if (b > 0 && side_is_done(&sides[0]))
        state->order = ORDER_LESS;
    return state->order != ORDER_EQUAL;
}

static void fire_compare(Firing *firing)
{
    Compare *state = firing->state;
    uint32_t leaf_count = firing->node->layout->count;
    Side sides[SIDES] = {side_of(firing, state->taken, 0, leaf_count), side_of(firing, state->taken, 1, leaf_count)};
    for (;;) {
        if (compare_some(firing, sides))
            continue;
        if (!side_is_done(&sides[0]) || !side_is_done(&sides[1]) || firing_room(firing, 0) == 0)
            break;
        firing_produce_uniform(firing, 0, &(int32_t){(int32_t)state->order}, 1);
        state->order = 0;
        if (!next_parent(sides))
            return;
    }
    finish_after_last(sides);
}

static void release_compare(Vm *vm, const FlowNode *node, void *state_memory)
{
    Compare *state = state_memory;
    free_leaves(vm, node, &state->leaves);
}

const NodeKind node_kind_COMPARE = {.fire = fire_compare, .state_size = sizeof(Compare), .release = release_compare};

/* ---- their pairs ---- */

typedef struct Pairs {
    uint64_t taken[SIDES];
} Pairs;

static size_t give_flags(Side *sides, uint32_t side, bool flag, size_t count)
{
    count = least(count, firing_room(sides[side].firing, side));
    if (count == 0)
        return 0;
    firing_produce_uniform(sides[side].firing, side, &flag, count);
    side_take(&sides[side], count);
    return count;
}

/* Goes on under the parent at hand; false if nothing was there, or there was no room. */
static bool pair_some(Firing *firing, Side *sides)
{
    size_t a = side_points(&sides[0]), b = side_points(&sides[1]), both = least(a, b);
    if (both > 0) {
        both = least(both, least(firing_room(firing, 0), firing_room(firing, 1)));
        give_flags(sides, 0, true, both);
        give_flags(sides, 1, true, both);
        return both > 0;
    }
    if (a > 0 && side_is_done(&sides[1]))
        return give_flags(sides, 0, false, a) > 0;
    return b > 0 && side_is_done(&sides[0]) && give_flags(sides, 1, false, b) > 0;
}

static void fire_pairs(Firing *firing)
{
    Pairs *state = firing->state;
    Side sides[SIDES] = {side_of(firing, state->taken, 0, 0), side_of(firing, state->taken, 1, 0)};
    for (;;) {
        if (pair_some(firing, sides))
            continue;
        if (!side_is_done(&sides[0]) || !side_is_done(&sides[1]))
            break;
        if (!next_parent(sides))
            return;
    }
    finish_after_last(sides);
}

const NodeKind node_kind_PAIRS = {.fire = fire_pairs, .state_size = sizeof(Pairs)};
