/* CALL, RETURN, TAIL_CALL: the ends of calls that nodes see; call.c is what lies between. */
#include "vm/call.h"
#include "vm/points.h"

enum { CALL_DRIVER, CALL_ARGUMENTS };

typedef struct CallNode {
    size_t given; /* results of the call that were passed on */
} CallNode;

/* How many points are called together: as many as a buffer of theirs would hold. Where there is one at most, there may be more if it is an error that has yet to be seen. */
static size_t batch_size(const Firing *firing)
{
    const FlowNetwork *network = firing->vm->program->networks.items[firing->node->network];
    if (firing->node->is_serial || network->does_io || network->is_single)
        return 1;
    return chunks_elements(&firing->instance->plan->chunks, firing->vm, sizeof(int64_t));
}

static void begin_call(Firing *firing)
{
    size_t count = least(points_available(firing), batch_size(firing));
    if (count == 0) {
        points_take(firing, 0);
        return;
    }
    PointsViews views;
    points_views(firing, CALL_ARGUMENTS, firing->node->input_count - CALL_ARGUMENTS, &views);
    firing_call(firing, firing->node->network, views.cells, count);
    points_views_free(firing, &views);
    ((CallNode *)firing->state)->given = 0;
}

static void give_results(Firing *firing, const CallResult *result, size_t first, size_t count)
{
    const FlowNetwork *network = firing->vm->program->networks.items[firing->node->network];
    for (uint32_t i = 0; i < firing->node->output_count; i++) {
        if (!firing_is_wanted(firing, i))
            continue;
        cells_copy(network->results[i], firing_reserve(firing, i, count), result->columns[i], first, count);
        firing_produce(firing, i, count);
    }
}

/* Passes on as much as there is room for; true when that was all. */
static bool pass_results(Firing *firing, const CallResult *result)
{
    CallNode *state = firing->state;
    size_t count = least(result->count - state->given, points_room(firing));
    if (count > 0)
        give_results(firing, result, state->given, count);
    state->given += count;
    return state->given == result->count;
}

static void fire_call(Firing *firing)
{
    const CallResult *result = firing_call_result(firing);
    if (result == NULL) {
        begin_call(firing);
        return;
    }
    if (!pass_results(firing, result))
        return;
    if (result->has_failed) {
        firing_fail_call(firing, CALL_DRIVER, result->count);
        return;
    }
    size_t count = result->count;
    firing_call_done(firing);
    points_take(firing, count);
    if (firing_available(firing, CALL_DRIVER) > 0)
        begin_call(firing);
}

const NodeKind node_kind_CALL = {.fire = fire_call, .state_size = sizeof(CallNode)};

/* ---- the results of the network itself ---- */

enum { RETURN_SLOT, RETURN_LEAVES };

/* Hands over what is there: slots and leaves. */
static void hand_over(Firing *firing, bool is_tail_call)
{
    size_t count = points_available(firing);
    if (count > 0) {
        PointsViews views;
        points_views(firing, RETURN_LEAVES, firing->node->input_count - RETURN_LEAVES, &views);
        Cells slots = firing_cells(firing, RETURN_SLOT);
        if (is_tail_call)
            call_collect(firing->vm, firing->node->network, slots, views.cells, count);
        else
            call_return(firing->vm, slots, views.cells, count);
        points_views_free(firing, &views);
    }
    points_take(firing, count);
}

static void fire_return(Firing *firing)
{
    hand_over(firing, false);
}

const NodeKind node_kind_RETURN = {.fire = fire_return};

static void fire_tail_call(Firing *firing)
{
    hand_over(firing, true);
}

const NodeKind node_kind_TAIL_CALL = {.fire = fire_tail_call};
