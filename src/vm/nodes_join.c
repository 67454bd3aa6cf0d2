/* JOIN and CHOOSE: spaces whose points come from several others, one after the other or in turn. */
#include "vm/points.h"

enum { JOIN_WHICH, JOIN_ENDS };

/* What is known of an operand's points under the parent in turn. */
typedef struct Operand {
    int64_t start;  /* ENDS: its first point there */
    uint64_t taken; /* of its points there */
} Operand;

typedef struct Join {
    Operand *operands;
    uint32_t count;
    uint32_t current;
    int64_t total;  /* points given */
    bool is_uneven; /* INTERLEAVE: one is too long; only their lengths still matter */
} Join;

typedef struct Known {
    uint64_t points; /* that exist for sure, taken ones included */
    bool is_all;
} Known;

static void set_up(Firing *firing, uint32_t count)
{
    Join *state = firing->state;
    if (state->operands != NULL)
        return;
    state->operands = memory_alloc(firing->vm->memory, count * sizeof(Operand));
    state->count = count;
}

static void release_join(Vm *vm, const FlowNode *node, void *memory)
{
    (void)node;
    Join *state = memory;
    memory_free(vm->memory, state->operands, state->count * sizeof(Operand));
}

static Known known_of_points(const Firing *firing, uint32_t input, const Operand *from)
{
    return (Known){.points = from->taken + firing_available(firing, input), .is_all = firing_is_ended(firing, input)};
}

static Known known_by_ends(const Firing *firing, uint32_t input, const Operand *from)
{
    if (firing_available(firing, input) > 0) {
        int64_t end = *(const int64_t *)firing_cells(firing, input).data;
        return (Known){.points = (uint64_t)(end - from->start), .is_all = true};
    }
    int64_t frontier = firing_is_ended(firing, input) ? 0 : firing_frontier(firing, input);
    return (Known){.points = frontier > from->start ? (uint64_t)(frontier - from->start) : 0};
}

static Known known(const Firing *firing, uint32_t operand)
{
    const Operand *from = &((const Join *)firing->state)->operands[operand];
    return firing->node->segments == SEGMENTS_SINGLE ? known_of_points(firing, operand, from)
                                                     : known_by_ends(firing, operand, from);
}

/* Takes points of an operand that come next. */
static void take(Firing *firing, uint32_t operand, uint32_t input, size_t count)
{
    Join *state = firing->state;
    int32_t which = (int32_t)operand;
    firing_produce_uniform(firing, JOIN_WHICH, &which, count);
    state->operands[operand].taken += count;
    state->total += (int64_t)count;
    if (firing->node->op == FLOW_JOIN && firing->node->segments == SEGMENTS_SINGLE)
        firing_consume(firing, input, count);
}

static bool has_ends(const Firing *firing)
{
    return firing->node->output_count > JOIN_ENDS;
}

/* Gives the end of the parent in turn; false if there is no room. */
static bool give_end(Firing *firing)
{
    const Join *state = firing->state;
    if (!has_ends(firing))
        return true;
    if (firing_room(firing, JOIN_ENDS) == 0)
        return false;
    *(int64_t *)firing_reserve(firing, JOIN_ENDS, 1) = state->total;
    firing_produce(firing, JOIN_ENDS, 1);
    return true;
}

static void show_frontier(Firing *firing)
{
    if (has_ends(firing))
        firing_set_frontier(firing, JOIN_ENDS, ((const Join *)firing->state)->total);
}

/* The operand's points under this parent are all taken. */
static void next_segment(Firing *firing, uint32_t input, Operand *from)
{
    from->start = *(const int64_t *)firing_cells(firing, input).data;
    from->taken = 0;
    firing_consume(firing, input, 1);
}

/* Ends the parent in turn; false if nothing more can be done now. */
static bool end_parent(Firing *firing)
{
    Join *state = firing->state;
    if (!give_end(firing))
        return false;
    state->current = 0;
    if (firing->node->segments == SEGMENTS_SINGLE) {
        firing_finish(firing);
        return false;
    }
    for (uint32_t i = 0; i < state->count; i++)
        next_segment(firing, i, &state->operands[i]);
    if (!firing_is_ended(firing, 0))
        return true;
    firing_finish(firing);
    return false;
}

/* ---- one after the other ---- */

static bool step_in_order(Firing *firing)
{
    Join *state = firing->state;
    if (state->current == state->count)
        return end_parent(firing);
    Operand *from = &state->operands[state->current];
    Known all = known(firing, state->current);
    size_t count = least((size_t)(all.points - from->taken), firing_room(firing, JOIN_WHICH));
    if (count > 0)
        take(firing, state->current, state->current, count);
    if (all.is_all && from->taken == all.points) {
        state->current++;
        return true;
    }
    return count > 0;
}

/* ---- in turn ---- */

/* One of them is longer by two or more: its length is still to be found out. */
static bool step_uneven(Firing *firing)
{
    Join *state = firing->state;
    Known a = known(firing, 0), b = known(firing, 1);
    if (firing->node->segments == SEGMENTS_SINGLE)
        for (uint32_t i = 0; i < 2; i++) {
            size_t count = firing_available(firing, i);
            state->operands[i].taken += count;
            firing_consume(firing, i, count);
        }
    a.is_all |= firing->node->segments == SEGMENTS_SINGLE && firing_is_ended(firing, 0);
    b.is_all |= firing->node->segments == SEGMENTS_SINGLE && firing_is_ended(firing, 1);
    if (a.is_all && b.is_all)
        failure_interleave(firing_fail(firing, 0, 0), a.points, b.points);
    return false;
}

/* The operand whose turn it is has ended: the other may have one point more. */
static bool step_last(Firing *firing, uint32_t other, Known all)
{
    Join *state = firing->state;
    uint64_t left = all.points - state->operands[other].taken;
    if (all.points > state->operands[1 - other].taken + 1) {
        state->is_uneven = true;
        return true;
    }
    if (!all.is_all && firing->node->segments != SEGMENTS_SINGLE)
        return false;
    if (left == 1) {
        if (firing_room(firing, JOIN_WHICH) == 0)
            return false;
        take(firing, other, other, 1);
        return true;
    }
    return all.is_all && end_parent(firing);
}

static bool step_in_turn(Firing *firing)
{
    Join *state = firing->state;
    if (state->is_uneven)
        return step_uneven(firing);
    uint32_t turn = state->operands[0].taken > state->operands[1].taken;
    Known all = known(firing, turn);
    uint64_t left = all.points - state->operands[turn].taken;
    if (left == 0)
        return all.is_all && step_last(firing, 1 - turn, known(firing, 1 - turn));
    if (firing_room(firing, JOIN_WHICH) == 0)
        return false;
    take(firing, turn, turn, 1);
    return true;
}

static void fire_join(Firing *firing)
{
    if (firing->node->segments != SEGMENTS_SINGLE && firing_is_ended(firing, 0)) {
        firing_finish(firing);
        return;
    }
    set_up(firing, firing->node->input_count);
    bool (*step)(Firing *) = firing->node->core_op == OP_INTERLEAVE ? step_in_turn : step_in_order;
    while (step(firing))
        ;
    show_frontier(firing);
}

const NodeKind node_kind_JOIN = {.fire = fire_join, .state_size = sizeof(Join), .release = release_join};

/* ---- chosen ---- */

enum { CHOOSE_SELECTOR, CHOOSE_OPERANDS };

static uint32_t selected(const Firing *firing)
{
    const void *cell = firing_cells(firing, CHOOSE_SELECTOR).data;
    return firing->node->inputs[CHOOSE_SELECTOR].type == SCALAR_BOOL ? *(const bool *)cell
                                                                     : (uint32_t) * (const int32_t *)cell;
}

static bool step_chosen(Firing *firing)
{
    if (firing_available(firing, CHOOSE_SELECTOR) == 0)
        return false;
    Join *state = firing->state;
    uint32_t operand = selected(firing), input = CHOOSE_OPERANDS + operand;
    Operand *from = &state->operands[operand];
    Known all = known_by_ends(firing, input, from);
    size_t count = least((size_t)(all.points - from->taken), firing_room(firing, JOIN_WHICH));
    if (count > 0)
        take(firing, operand, input, count);
    if (!all.is_all || from->taken < all.points)
        return count > 0;
    if (!give_end(firing))
        return false;
    next_segment(firing, input, from);
    firing_consume(firing, CHOOSE_SELECTOR, 1);
    return true;
}

static void fire_choose(Firing *firing)
{
    set_up(firing, firing->node->input_count - CHOOSE_OPERANDS);
    while (step_chosen(firing))
        ;
    show_frontier(firing);
    if (firing_is_ended(firing, CHOOSE_SELECTOR))
        firing_finish(firing);
}

static bool choose_needs(const Firing *firing, uint32_t input)
{
    return input == CHOOSE_SELECTOR ||
           (firing_available(firing, CHOOSE_SELECTOR) > 0 && input == CHOOSE_OPERANDS + selected(firing));
}

const NodeKind node_kind_CHOOSE = {
    .fire = fire_choose, .state_size = sizeof(Join), .release = release_join, .needs = choose_needs};
