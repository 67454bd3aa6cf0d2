/* What becomes of an instance in which nodes have failed.
 *
 * The others go on as far as they can. Nodes that wait for what will never come are *cut*: they let go of their inputs, so that nothing is held back
 * by them, and which failures are found does not depend on the size of buffers. Each remembers the failure it waited for: where a node reads
 * from several that failed, that is the one it met first in the order of its own points. What the last nodes of the network waited for is
 * what counts.
 *
 * Points that come after a failure are of no interest, and nodes that are only there because they may fail need not go on to them: `cut_at` says how far
 * each set of points has come where a failure holds it up. Streams may be very long. */
#include "vm/instance.h"

/* ---- recording ---- */

static uint32_t points_of(const Instance *instance, FlowSpaceId space)
{
    return instance->plan->network->spaces.items[space].points;
}

/* Sets of points have the numbers of spaces. */
static uint32_t points_count(const Instance *instance)
{
    return instance->plan->network->spaces.count + 1;
}

static void set_up(Vm *vm, Instance *instance)
{
    if (instance->blame != NULL)
        return;
    instance->blame = memory_alloc(vm->memory, instance->plan->node_count * sizeof(uint32_t));
    instance->cut_at = memory_alloc(vm->memory, points_count(instance) * sizeof(uint64_t));
    for (uint32_t i = 0; i < points_count(instance); i++)
        instance->cut_at[i] = UINT64_MAX;
}

FailedNode *instance_add_failure(Vm *vm, Instance *instance, FlowNodeId node)
{
    set_up(vm, instance);
    if (instance->failed_count == instance->failed_capacity) {
        uint32_t capacity = instance->failed_capacity * 2 + 1;
        instance->failed = memory_resize(vm->memory, instance->failed, instance->failed_capacity * sizeof(FailedNode),
                                         capacity * sizeof(FailedNode));
        instance->failed_capacity = capacity;
    }
    FailedNode *failed = &instance->failed[instance->failed_count++];
    *failed = (FailedNode){.node = node};
    failure_init(&failed->failure, vm->memory);
    instance->blame[node] = instance->failed_count;
    return failed;
}

void instance_free_failures(Vm *vm, Instance *instance)
{
    for (uint32_t i = 0; i < instance->failed_count; i++)
        failure_free(&instance->failed[i].failure);
    memory_free(vm->memory, instance->failed, instance->failed_capacity * sizeof(FailedNode));
    if (instance->blame != NULL)
        memory_free(vm->memory, instance->blame, instance->plan->node_count * sizeof(uint32_t));
    if (instance->cut_at != NULL)
        memory_free(vm->memory, instance->cut_at, points_count(instance) * sizeof(uint64_t));
}

/* ---- which comes first ---- */

/* Whether one failure comes before another: at an earlier point where they are on the same points, else by the order of the nodes. What comes
 * from outside is good as far as the others had it, so its failures come last. */
static bool failure_is_before(const Instance *instance, const FailedNode *a, const FailedNode *b)
{
    uint32_t points_a = points_of(instance, instance->plan->nodes[a->node].node->space);
    uint32_t points_b = points_of(instance, instance->plan->nodes[b->node].node->space);
    if (points_a == points_b && a->position != b->position)
        return a->position < b->position;
    bool is_input_a = instance->plan->nodes[a->node].node->op == FLOW_INPUT;
    bool is_input_b = instance->plan->nodes[b->node].node->op == FLOW_INPUT;
    return is_input_a != is_input_b ? is_input_b : a->node < b->node;
}

/* The first of two failures, by number; 0 is none. */
static uint32_t first_of(const Instance *instance, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0)
        return a == 0 ? b : a;
    return failure_is_before(instance, &instance->failed[b - 1], &instance->failed[a - 1]) ? b : a;
}

/* ---- what nodes wait for ---- */

/* What a node waits for. */
typedef struct Waiting {
    uint32_t failure; /* the first of those it waits for; 0 if for none */
    bool is_certain;  /* nothing it waits for will come */
} Waiting;

/* The node has read up the input, of which there may be more. */
static bool is_read_up(const Firing *firing, uint32_t input)
{
    const InputPlan *plan = &firing->inputs[input];
    if (plan->mode == INPUT_CONSTANT || firing->cursors[input] == CURSOR_DONE)
        return false;
    const Stream *stream = &firing->streams[plan->stream];
    return !stream->is_closed && firing->cursors[input] >= stream_end(stream);
}

static void wait_for_input(const Firing *firing, uint32_t input, Waiting *waiting)
{
    const NodeKind *kind = firing->plan->kind;
    if (!is_read_up(firing, input) || (kind->needs != NULL && !kind->needs(firing, input)))
        return;
    const Instance *instance = firing->instance;
    FlowStreamId stream = firing->inputs[input].stream;
    if (instance->streams[stream].is_cut)
        waiting->failure = first_of(instance, waiting->failure, instance->blame[instance->plan->streams[stream].node]);
    else
        waiting->is_certain = false;
}

static Waiting find_waiting(Vm *vm, Instance *instance, FlowNodeId id)
{
    Firing firing = instance_firing(vm, instance, id);
    Waiting waiting = {.is_certain = true};
    if (!instance->plan->has_order || instance->waits[id] == 0)
        for (uint32_t i = 0; i < firing.node->input_count; i++)
            wait_for_input(&firing, i, &waiting);
    for (uint32_t i = 0; i < firing.node->after_count; i++) {
        FlowNodeId before = firing.node->after[i];
        if ((instance->status[before] & NODE_CUT) != 0)
            waiting.failure = first_of(instance, waiting.failure, instance->blame[before]);
    }
    return waiting;
}

/* The node could give more if there were room. */
static bool is_held_back(const Instance *instance, const FlowNode *node)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        const Stream *stream = &instance->streams[node->outputs[i]];
        if (stream->is_read && stream->count >= stream->limit)
            return true;
    }
    return false;
}

static bool can_be_cut(const Instance *instance, FlowNodeId id, const Waiting *waiting)
{
    bool is_ready = (instance->ready[id / 64] >> id % 64 & 1) != 0;
    return waiting->is_certain && !is_ready && !is_held_back(instance, instance->plan->nodes[id].node);
}

/* ---- how far points matter ---- */

/* Whether a set of points is that of a space, or of one above it. */
static bool is_above(const FlowNetwork *network, uint32_t points, FlowSpaceId id)
{
    const FlowSpace *space = &network->spaces.items[id];
    return space->points == points || (space->base != 0 && is_above(network, points, space->base)) ||
           (space->parent != 0 && is_above(network, points, space->parent));
}

static void cut_points(Instance *instance, uint32_t points, uint64_t position)
{
    if (points < points_count(instance) && position < instance->cut_at[points])
        instance->cut_at[points] = position;
}

/* A node that was cut says where the failure is among the points it gives, if these stand above those that failed. */
static void note_cut(Instance *instance, FlowNodeId id)
{
    const FlowNetwork *network = instance->plan->network;
    const FlowNode *node = instance->plan->nodes[id].node;
    const FailedNode *failed = &instance->failed[instance->blame[id] - 1];
    FlowSpaceId failed_space = instance->plan->nodes[failed->node].node->space;
    for (uint32_t i = 0; i < node->output_count; i++) {
        FlowStreamId stream = node->outputs[i];
        uint32_t points = points_of(instance, network->streams.items[stream].space);
        if (stream != 0 && instance->streams[stream].is_read && is_above(network, points, failed_space))
            cut_points(instance, points, stream_end(&instance->streams[stream]));
    }
}

bool is_past_failure(Vm *vm, Instance *instance, FlowNodeId id)
{
    Firing firing = instance_firing(vm, instance, id);
    uint32_t points = points_of(instance, firing.node->space);
    for (uint32_t i = 0; i < firing.node->output_count; i++)
        if (firing_is_wanted(&firing, i))
            return false;
    for (uint32_t i = 0; points < points_count(instance) && i < firing.node->input_count; i++)
        if (firing.inputs[i].mode == INPUT_STREAM && firing_points(&firing, firing.inputs[i].stream) == points)
            return firing.cursors[i] > instance->cut_at[points];
    return false;
}

/* ---- cutting ---- */

bool cut_blocked(Vm *vm, Instance *instance, bool is_certain)
{
    bool has_cut = false;
    for (uint32_t i = 0; i < instance->failed_count; i++) {
        const FailedNode *failed = &instance->failed[i];
        cut_points(instance, points_of(instance, instance->plan->nodes[failed->node].node->space), failed->position);
    }
    for (FlowNodeId id = 0; id < instance->plan->node_count; id++) {
        if ((instance->status[id] & NODE_DONE) != 0)
            continue;
        Waiting waiting = find_waiting(vm, instance, id);
        if (waiting.failure == 0 || (is_certain && !can_be_cut(instance, id, &waiting)))
            continue;
        instance->blame[id] = waiting.failure;
        note_cut(instance, id);
        instance_cut_node(vm, instance, id);
        has_cut = true;
    }
    return has_cut;
}

/* ---- the one that counts ---- */

/* No other node has waited for what it makes. */
static bool is_last(const Instance *instance, FlowNodeId id)
{
    const FlowNode *node = instance->plan->nodes[id].node;
    for (uint32_t i = 0; i < node->output_count; i++) {
        const StreamPlan *stream = &instance->plan->streams[node->outputs[i]];
        for (uint32_t k = 0; node->outputs[i] != 0 && k < stream->reader_count; k++)
            if (stream->readers[k].node != NO_NODE && instance->blame[stream->readers[k].node] != 0)
                return false;
    }
    return true;
}

FailedNode *instance_failure(const Instance *instance)
{
    uint32_t first = 0;
    for (FlowNodeId id = 0; id < instance->plan->node_count; id++)
        if (instance->blame[id] != 0 && is_last(instance, id))
            first = first_of(instance, first, instance->blame[id]);
    return &instance->failed[first == 0 ? 0 : first - 1];
}
