/* What becomes of an instance in which nodes have failed.
 *
 * The others go on as far as they can. Nodes that wait for what will never come are *cut*: they let go of their inputs, so that nothing is held back
 * by them, and which failures are found does not depend on the size of buffers. Each remembers the failure it waited for: where a node reads
 * from several that failed, that is the one it met first in the order of its own points. What the last nodes of the network waited for is
 * what counts. */
#include "vm/instance.h"

/* ---- recording ---- */

FailedNode *instance_add_failure(Vm *vm, Instance *instance, FlowNodeId node)
{
    if (instance->blame == NULL)
        instance->blame = memory_alloc(vm->memory, instance->plan->node_count * sizeof(uint32_t));
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
}

/* ---- which comes first ---- */

/* Whether one failure comes before another: at an earlier point where they are on the same points, else by the order of the nodes. What comes
 * from outside is good as far as the others had it, so its failures come last. */
static bool failure_is_before(const Instance *instance, const FailedNode *a, const FailedNode *b)
{
    const FlowNetwork *network = instance->plan->network;
    const FlowSpace *space_a = &network->spaces.items[instance->plan->nodes[a->node].node->space];
    const FlowSpace *space_b = &network->spaces.items[instance->plan->nodes[b->node].node->space];
    if (space_a->points == space_b->points && a->position != b->position)
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

/* ---- cutting ---- */

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

bool cut_blocked(Vm *vm, Instance *instance, bool is_certain)
{
    bool has_cut = false;
    for (FlowNodeId id = 0; id < instance->plan->node_count; id++) {
        if ((instance->status[id] & NODE_DONE) != 0)
            continue;
        Waiting waiting = find_waiting(vm, instance, id);
        if (waiting.failure == 0 || (is_certain && !waiting.is_certain))
            continue;
        instance->blame[id] = waiting.failure;
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
