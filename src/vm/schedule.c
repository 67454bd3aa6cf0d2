/* Which node fires next, and what to do when none can. */
#include "base/machine.h"
#include "vm/stages.h"
#include "vm/survey.h"

enum { FIRINGS_BETWEEN_WATCHES = 32 };

/* ---- firing ---- */

/* The lowest set bit of words [first, end), the first one cut by `mask`. */
static FlowNodeId find_ready(const Instance *instance, uint32_t first, uint32_t end, uint64_t mask)
{
    for (uint32_t i = first; i < end; i++, mask = UINT64_MAX) {
        uint64_t bits = instance->ready[i] & mask;
        if (bits != 0)
            return i * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return NO_NODE;
}

/* Sweeps through the nodes again and again: what one makes, those after it take in the same sweep. */
static FlowNodeId next_ready(const Instance *instance)
{
    uint32_t words = (instance->plan->node_count + 63) / 64;
    FlowNodeId next = instance->next_node;
    FlowNodeId id = next / 64 < words ? find_ready(instance, next / 64, words, UINT64_MAX << next % 64) : NO_NODE;
    return id != NO_NODE ? id : find_ready(instance, 0, words, UINT64_MAX);
}

/* Nobody wants what it makes, and it cannot fail. */
static bool is_useless(const Instance *instance, FlowNodeId id)
{
    const NodePlan *plan = &instance->plan->nodes[id];
    if ((instance->status[id] & NODE_UNREAD) == 0 || plan->can_fail)
        return false;
    for (uint32_t i = 0; i < plan->node->output_count; i++)
        if (instance->streams[plan->node->outputs[i]].is_read)
            return false;
    return true;
}

static void fire(Vm *vm, Instance *instance, FlowNodeId id)
{
    instance->ready[id / 64] &= ~(UINT64_C(1) << id % 64);
    instance->next_node = id + 1;
    if ((instance->status[id] & NODE_DONE) != 0 || (instance->plan->has_order && instance->waits[id] > 0))
        return;
    const NodePlan *plan = &instance->plan->nodes[id];
    uint64_t start = vm->options.measures ? machine_clock() : 0, produced = vm->produced;
    if (!bundle_fire(vm, instance, id)) {
        if (is_useless(instance, id)) {
            instance_finish_node(vm, instance, id);
            return;
        }
        Firing firing = instance_firing(vm, instance, id);
        plan->kind->fire(&firing);
    }
    vm->stats.firings++;
    if (vm->options.measures)
        stages_count(vm, instance->plan, id, start, produced);
    if ((instance->status[id] & NODE_FAILED) != 0)
        instance_cut_node(vm, instance, id);
}

/* ---- when nothing moves ---- */

static bool is_full(const Instance *instance, FlowStreamId id)
{
    const Stream *stream = &instance->streams[id];
    return stream->is_read && stream->count >= stream->limit &&
           (instance->status[instance->plan->streams[id].node] & NODE_DONE) == 0;
}

/* Nodes that have filled a buffer, but have not been seen to need more room there, are fired once more. */
static bool ask_again(Instance *instance)
{
    bool has_asked = false;
    for (FlowStreamId id = 1; id < instance->plan->stream_count; id++)
        if (is_full(instance, id) && !instance->streams[id].was_full && !instance->streams[id].was_asked) {
            instance->streams[id].was_asked = true;
            instance_wake(instance, instance->plan->streams[id].node);
            has_asked = true;
        }
    return has_asked;
}

/* Nodes that let others go first have their turn. */
static bool urge_waiting(Instance *instance)
{
    bool has_urged = false;
    for (FlowNodeId id = 0; id < instance->plan->node_count; id++)
        if ((instance->status[id] & NODE_WAITS) != 0) {
            instance->status[id] ^= NODE_WAITS | NODE_URGED;
            instance_wake(instance, id);
            has_urged = true;
        }
    return has_urged;
}

/* A node wants to give more than there is room for. */
static bool holds_back(const Instance *instance, FlowStreamId id)
{
    return is_full(instance, id) && instance->streams[id].was_full;
}

/* Gives more room to the least buffer that holds back the node that fills it. */
static bool grow_least(Vm *vm, Instance *instance)
{
    FlowStreamId least = 0;
    size_t least_bytes = SIZE_MAX;
    for (FlowStreamId id = 1; id < instance->plan->stream_count; id++) {
        size_t bytes = (size_t)instance->streams[id].limit * (instance->plan->streams[id].size + 1u);
        if (bytes < least_bytes && holds_back(instance, id)) {
            least = id;
            least_bytes = bytes;
        }
    }
    if (least == 0)
        return false;
    Stream *stream = &instance->streams[least];
    if (stream->limit > UINT32_MAX / 2)
        memory_fail(vm->memory);
    stream->limit *= 2;
    stream->was_full = stream->was_asked = false;
    vm->stats.growths++;
    instance_wake(instance, instance->plan->streams[least].node);
    return true;
}

static _Noreturn void report_stuck(Vm *vm, const Instance *instance)
{
    Text text;
    text_init(&text, vm->memory);
    for (FlowNodeId id = 0; id < instance->plan->node_count; id++)
        if ((instance->status[id] & NODE_DONE) == 0)
            text_addf(&text, " %u (%s)", id, flow_op_table[instance->plan->nodes[id].node->op].name);
    bug("vm", "nodes of network %u cannot go on:%s", instance->plan->id, text_string(&text));
}

/* Makes something move again; false if the run is over. */
static bool get_moving(Vm *vm, Instance *instance)
{
    if (instance->unfinished == 0)
        return false;
    bool has_failed = instance->failed_count > 0;
    if (urge_waiting(instance))
        return true;
    if (bundles_dissolve(vm, instance) || (has_failed && cut_blocked(vm, instance, true)) || ask_again(instance) || grow_least(vm, instance))
        return true;
    if (!has_failed)
        report_stuck(vm, instance);
    return cut_blocked(vm, instance, false);
}

/* ---- running ---- */

/* Between firings: stops the whole run if somebody wants that, or too much memory is held; tells how far it is. */
static bool is_stopped(Vm *vm)
{
    if (vm->memory->live_bytes > vm->options.memory_limit && !chunks_shrink_all(vm)) {
        failure_memory(failure_at(&vm->failure, vm->diagnostics->sources, (Span){0}), vm->options.memory_limit);
        vm->has_failed = true;
    }
    if (!vm->has_failed && stop_reason(vm->options.stop) != STOP_NOT)
        vm_stop(vm);
    if (progress_is_wanted(vm->options.progress))
        survey_run(vm);
    return vm->has_failed;
}

/* A stretch of running that is measured. */
typedef struct Watch {
    uint64_t start, produced;
    uint64_t firings; /* of the VM until then */
} Watch;

static Watch watch_start(const Vm *vm, const Instance *instance)
{
    if (instance->plan->chunks.is_fixed)
        return (Watch){.firings = UINT64_MAX / 2};
    return (Watch){.start = machine_clock(), .produced = vm->produced, .firings = vm->stats.firings};
}

static void watch_end(Vm *vm, Instance *instance, const Watch *watch)
{
    if (!instance->plan->chunks.is_fixed)
        chunks_measure(&instance->plan->chunks, vm, machine_clock() - watch->start, vm->produced - watch->produced);
}

static void watch_now(Vm *vm, Instance *instance, Watch *watch)
{
    watch_end(vm, instance, watch);
    chunks_follow(vm, instance);
    *watch = watch_start(vm, instance);
}

static RunStatus run(Vm *vm, Instance *instance, bool is_probe, Watch *watch)
{
    size_t depth = vm->frame_count;
    for (;;) {
        FlowNodeId id = next_ready(instance);
        if (id < instance->next_node && vm->stats.firings >= watch->firings + FIRINGS_BETWEEN_WATCHES)
            watch_now(vm, instance, watch);
        if (id != NO_NODE)
            fire(vm, instance, id);
        else if (!get_moving(vm, instance))
            return instance->failed_count > 0 ? RUN_FAILED : RUN_FINISHED;
        if ((is_probe && instance->failed_count > 0) || is_stopped(vm))
            return RUN_FAILED;
        if (vm->frame_count != depth)
            return RUN_CALLED;
    }
}

RunStatus instance_run(Vm *vm, Instance *instance, bool is_probe)
{
    chunks_follow(vm, instance);
    Watch watch = watch_start(vm, instance);
    RunStatus status = run(vm, instance, is_probe, &watch);
    watch_end(vm, instance, &watch);
    return status;
}
