/* Plans: what is computed once for each network. */
#include "kernel/fuse.h"
#include "kernel/members.h"
#include "vm/stages.h"

const NodeKind *const node_kinds[FLOW_OP_COUNT] = {
#define FLOW(ID, name, can_fail, fields, signature) [FLOW_##ID] = &node_kind_##ID,
#include "flow/flow.def"
#undef FLOW
};

enum { ALIGNMENT = 8 };

/* ---- who reads what ---- */

static void plan_streams(Vm *vm, Plan *plan)
{
    const FlowNetwork *network = plan->network;
    plan->streams = ARENA_ARRAY(&vm->arena, StreamPlan, plan->stream_count);
    for (uint32_t i = 1; i < plan->stream_count; i++) {
        const FlowStream *stream = &network->streams.items[i];
        size_t size = leaf_size(stream->type);
        plan->streams[i] = (StreamPlan){.type = stream->type, .size = (uint8_t)size, .node = stream->node};
    }
}

static InputPlan plan_input(const FlowOperand *operand)
{
    InputPlan input = {.size = (uint8_t)leaf_size(operand->type)};
    if (operand->is_constant) {
        input.mode = INPUT_CONSTANT;
        cells_set_scalar((ScalarType)operand->type, &input.constant, 0, operand->constant);
        return input;
    }
    input.mode = operand->is_uniform ? INPUT_UNIFORM : INPUT_STREAM;
    input.stream = operand->stream;
    return input;
}

static void plan_inputs(Vm *vm, Plan *plan)
{
    const FlowNetwork *network = plan->network;
    plan->inputs = ARENA_ARRAY(&vm->arena, InputPlan, plan->cursor_count);
    uint32_t cursor = 0;
    for (FlowNodeId id = 0; id < plan->node_count; id++) {
        const FlowNode *node = plan->nodes[id].node;
        plan->nodes[id].first_cursor = cursor;
        for (uint32_t i = 0; i < node->input_count; i++)
            plan->inputs[cursor++] = plan_input(&node->inputs[i]);
    }
    if (network->is_item)
        for (uint32_t i = 0; i < network->result_count; i++)
            plan->inputs[cursor++] = plan_input(&network->result[i]);
}

static void add_reader(Plan *plan, uint32_t cursor, FlowNodeId node, bool looks_at_elements)
{
    if (plan->inputs[cursor].mode == INPUT_CONSTANT)
        return;
    StreamPlan *stream = &plan->streams[plan->inputs[cursor].stream];
    stream->is_looked_at |= looks_at_elements;
    stream->readers[stream->reader_count++] = (Reader){.node = node, .cursor = cursor};
}

static void plan_readers(Vm *vm, Plan *plan)
{
    for (uint32_t i = 0; i < plan->cursor_count; i++)
        if (plan->inputs[i].mode != INPUT_CONSTANT)
            plan->streams[plan->inputs[i].stream].reader_count++;
    for (uint32_t i = 1; i < plan->stream_count; i++) {
        StreamPlan *stream = &plan->streams[i];
        stream->readers = ARENA_ARRAY(&vm->arena, Reader, stream->reader_count);
        stream->reader_count = 0;
    }
    uint32_t cursor = 0;
    for (FlowNodeId id = 0; id < plan->node_count; id++)
        for (uint32_t i = 0; i < plan->nodes[id].node->input_count; i++)
            add_reader(plan, cursor++, id, !fuse_is_driver(plan->nodes[id].node, i));
    while (cursor < plan->cursor_count)
        add_reader(plan, cursor++, NO_NODE, true);
}

/* Most networks have few nodes: then waking the readers of a stream is one operation. */
static void plan_waking(Plan *plan)
{
    for (uint32_t i = 1; i < plan->stream_count; i++) {
        StreamPlan *stream = &plan->streams[i];
        for (uint32_t k = 0; k < stream->reader_count; k++) {
            FlowNodeId node = stream->readers[k].node;
            if (node == NO_NODE)
                continue;
            if (stream->wake_mask == 0)
                stream->wake_word = node / 64;
            if (node / 64 == stream->wake_word)
                stream->wake_mask |= UINT64_C(1) << node % 64;
            else
                stream->wakes_more = true;
        }
    }
}

/* ---- nodes ---- */

static bool makes_calls(FlowOp op)
{
    return op == FLOW_CALL || op == FLOW_FOLD_WITH || op == FLOW_SCAN_WITH || op == FLOW_PUT_WITH;
}

/* What the node will do with elements, looked up once. */
static void plan_work(const FlowNetwork *network, NodePlan *plan)
{
    const FlowNode *node = plan->node;
    if (node->op == FLOW_FOLD || node->op == FLOW_SCAN)
        plan->fold = fold_kind(node->core_op, (ScalarType)node->inputs[0].type);
    if (node->op == FLOW_FOLD_LEFT)
        plan->fold = fold_left_kind(node->core_op, (ScalarType)node->inputs[0].type);
    if (node->op == FLOW_COUNT)
        plan->can_fail = node->keep;
    if (node->op != FLOW_OPERATION)
        return;
    ScalarType result = member_result_type(network, node);
    plan->can_fail = elementwise_can_fail(node->core_op, node->scalar, result);
    plan->elementwise = elementwise_of(node->core_op, node->scalar, result);
    if (plan->elementwise.kernel == NULL)
        bug("vm", "%s is not an operation on scalars", op_name(node->core_op));
}

static void plan_nodes(Vm *vm, Plan *plan)
{
    const FlowNetwork *network = plan->network;
    plan->parameters = NO_NODE;
    plan->nodes = ARENA_ARRAY(&vm->arena, NodePlan, plan->node_count);
    for (FlowNodeId id = 0; id < plan->node_count; id++) {
        const FlowNode *node = &network->nodes.items[id];
        plan->nodes[id] = (NodePlan){.node = node,
                                     .kind = node_kinds[node->op],
                                     .can_fail = flow_op_table[node->op].can_fail,
                                     .call = makes_calls(node->op) ? plan->call_count++ : UINT32_MAX};
        plan_work(network, &plan->nodes[id]);
        if (node->op == FLOW_PARAMETERS)
            plan->parameters = id;
        plan->cursor_count += node->input_count;
        plan->has_order |= node->after_count > 0;
    }
    if (network->is_item)
        plan->cursor_count += network->result_count;
}

/* For each node those that wait for it. */
static void plan_order(Vm *vm, Plan *plan)
{
    for (FlowNodeId id = 0; id < plan->node_count; id++)
        for (uint32_t i = 0; i < plan->nodes[id].node->after_count; i++)
            plan->nodes[plan->nodes[id].node->after[i]].later_count++;
    for (FlowNodeId id = 0; id < plan->node_count; id++) {
        NodePlan *node = &plan->nodes[id];
        node->later = ARENA_ARRAY(&vm->arena, FlowNodeId, node->later_count);
        node->later_count = 0;
    }
    for (FlowNodeId id = 0; id < plan->node_count; id++)
        for (uint32_t i = 0; i < plan->nodes[id].node->after_count; i++) {
            NodePlan *before = &plan->nodes[plan->nodes[id].node->after[i]];
            before->later[before->later_count++] = id;
        }
}

/* ---- the block of an instance ---- */

/* Takes room for a table; gives its offset. */
static uint32_t place(Vm *vm, Plan *plan, size_t count, size_t item_size)
{
    size_t offset = (plan->instance_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    plan->instance_size = offset + count * item_size;
    if (plan->instance_size > UINT32_MAX)
        memory_fail(vm->memory);
    return (uint32_t)offset;
}

static void plan_block(Vm *vm, Plan *plan)
{
    plan->instance_size = sizeof(Instance);
    place(vm, plan, plan->stream_count, sizeof(Stream));
    plan->cursors_at = place(vm, plan, plan->cursor_count, sizeof(uint64_t));
    plan->ready_at = place(vm, plan, (plan->node_count + 63) / 64, sizeof(uint64_t));
    plan->calls_at = place(vm, plan, plan->call_count, sizeof(Call *));
    plan->bundles_at = place(vm, plan, plan->bundle_count, sizeof(BundleState));
    plan->positions_at = place(vm, plan, plan->position_count, sizeof(uint64_t));
    plan->status_at = place(vm, plan, plan->node_count, sizeof(uint8_t));
    plan->waits_at = place(vm, plan, plan->has_order ? plan->node_count : 0, sizeof(uint32_t));
    for (FlowNodeId id = 0; id < plan->node_count; id++)
        plan->nodes[id].state = place(vm, plan, 1, plan->nodes[id].kind->state_size);
}

static void plan_image(Vm *vm, Plan *plan)
{
    Instance *image = arena_alloc(&vm->arena, plan->instance_size);
    plan->image = image;
    instance_place_tables(image, plan);
    for (uint32_t i = 1; i < plan->stream_count; i++) {
        image->streams[i].limit = chunks_elements(&plan->chunks, vm, plan->streams[i].size);
        image->streams[i].is_read = plan->streams[i].reader_count > 0;
    }
    for (FlowNodeId id = 0; id < plan->node_count; id++) {
        instance_wake(image, id);
        if (plan->has_order)
            image->waits[id] = plan->nodes[id].node->after_count;
    }
    for (uint32_t i = 0; i < plan->bundle_count; i++)
        image->bundles[i].is_active = true;
    image->plan = plan;
    image->chunk_size = plan->chunks.size;
    image->unfinished = plan->node_count;
}

static Plan *make_plan(Vm *vm, FlowNetworkId id)
{
    const FlowNetwork *network = vm->program->networks.items[id];
    Plan *plan = ARENA_NEW(&vm->arena, Plan);
    *plan = (Plan){.id = id,
                   .network = network,
                   .node_count = network->nodes.count,
                   .stream_count = network->streams.count};
    plan_nodes(vm, plan);
    plan_streams(vm, plan);
    plan_inputs(vm, plan);
    plan_readers(vm, plan);
    plan_waking(plan);
    plan_order(vm, plan);
    chunks_init(&plan->chunks, vm, plan);
    return plan;
}

void plan_compile(Vm *vm, Plan *plan)
{
    if (plan->image != NULL)
        return;
    bundles_find(vm, plan);
    plan_block(vm, plan);
    plan_image(vm, plan);
    if (vm->options.measures)
        stages_find(vm, plan);
}

Plan *plan_of(Vm *vm, FlowNetworkId network)
{
    while (vm->plans.count <= network)
        *vec_push(&vm->arena, &vm->plans) = NULL;
    Plan *plan = vm->plans.items[network];
    if (plan != NULL && plan->network == vm->program->networks.items[network])
        return plan;
    if (plan != NULL)
        instance_free_spares(vm, plan); /* of a program that was cut back */
    vm->plans.items[network] = make_plan(vm, network);
    return vm->plans.items[network];
}
