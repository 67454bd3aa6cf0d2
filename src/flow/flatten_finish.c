/* The end of flattening: what nobody needs goes, sets of points get their final names; and the programs's entry points. */
#include "flow/flatten_internal.h"

/* ---- dead nodes ---- */

static bool is_needed_itself(const FlowNode *node)
{
    switch (node->op) {
    case FLOW_OPERATION:
        return false; /* decided by type, below */
    case FLOW_COUNT:
        return node->keep;
    case FLOW_PARAMETERS:
    case FLOW_RETURN:
        return true;
    default:
        return flow_op_table[node->op].can_fail;
    }
}

static bool may_fail(const FlowNetwork *network, const FlowNode *node)
{
    if (node->op != FLOW_OPERATION)
        return is_needed_itself(node);
    return flatten_may_fail(node->core_op, node->scalar, (ScalarType)network->streams.items[node->outputs[0]].type);
}

static void need_operand(const FlowNetwork *network, const FlowOperand *operand, bool *needed, bool *read)
{
    if (operand->is_constant)
        return;
    read[operand->stream] = true;
    needed[network->streams.items[operand->stream].node] = true;
}

static void find_needed(const FlowNetwork *network, bool *needed, bool *read)
{
    for (uint32_t i = 0; network->is_item && i < network->result_count; i++)
        need_operand(network, &network->result[i], needed, read);
    for (uint32_t id = network->nodes.count; id-- > 0;) {
        const FlowNode *node = &network->nodes.items[id];
        needed[id] = needed[id] || may_fail(network, node);
        for (uint32_t i = 0; needed[id] && i < node->input_count; i++)
            need_operand(network, &node->inputs[i], needed, read);
    }
}

static void remove_dead(Flattener *f, const bool *needed, const bool *read)
{
    FlowNetwork *network = f->network;
    FlowNodeId *renamed = ARENA_ARRAY(f->arena, FlowNodeId, network->nodes.count);
    uint32_t count = 0;
    for (FlowNodeId id = 0; id < network->nodes.count; id++) {
        if (!needed[id])
            continue;
        renamed[id] = count;
        FlowNode *node = &network->nodes.items[count++];
        *node = network->nodes.items[id];
        for (uint32_t i = 0; i < node->output_count; i++) {
            network->streams.items[node->outputs[i]].node = renamed[id];
            if (!read[node->outputs[i]] && node->op != FLOW_PARAMETERS)
                node->outputs[i] = 0;
        }
        uint32_t after_count = 0;
        for (uint32_t i = 0; i < node->after_count; i++)
            if (needed[node->after[i]])
                node->after[after_count++] = renamed[node->after[i]];
        node->after_count = after_count;
    }
    network->nodes.count = count;
}

void flatten_finish(Flattener *f)
{
    FlowNetwork *network = f->network;
    bool *needed = ARENA_ARRAY(f->arena, bool, network->nodes.count);
    bool *read = ARENA_ARRAY(f->arena, bool, network->streams.count);
    find_needed(network, needed, read);
    remove_dead(f, needed, read);
    for (FlowSpaceId i = 1; i < network->spaces.count; i++)
        network->spaces.items[i].points = flatten_points(f, i);
}

/* ---- programs ---- */

void flow_program_init(FlowProgram *program, Arena *arena, const CoreProgram *core, Layouts *layouts)
{
    *program = (FlowProgram){.arena = arena, .core = core, .layouts = layouts};
    *vec_push(arena, &program->networks) = NULL;
}

static void flatten_entry(Flattener *f, CoreFunctionId id)
{
    FlowProgram *program = f->program;
    while (program->by_entry.count <= id)
        *vec_push(f->arena, &program->by_entry) = 0;
    if (program->by_entry.items[id] != 0)
        return;
    const CoreFunction *function = f->core->functions.items[id];
    FlowNetworkId network = flatten_item_network(f, function->body, function->name, function->span);
    program->by_entry.items[id] = network;
}

bool flatten_program(FlowProgram *program, Diagnostics *diagnostics, const FlattenOptions *options,
                     const CoreFunctionId *entries, uint32_t entry_count)
{
    Flattener flattener = {.program = program,
                           .core = program->core,
                           .types = program->core->types,
                           .layouts = program->layouts,
                           .arena = program->arena,
                           .diagnostics = diagnostics,
                           .options = options};
    Flattener *f = &flattener;
    for (uint32_t i = program->by_item.count; i < program->core->items.count && !f->has_failed; i++) {
        const CoreItem *item = &program->core->items.items[i];
        *vec_push(f->arena, &program->by_item) = flatten_item_network(f, item->block, 0, item->span);
        flatten_wanted(f);
    }
    for (uint32_t i = 0; i < entry_count && !f->has_failed; i++) {
        if (entries[i] != 0)
            flatten_entry(f, entries[i]);
        flatten_wanted(f);
    }
    return !f->has_failed;
}

void flatten_forget(FlowProgram *program, uint32_t function_count, uint32_t item_count)
{
    if (program->by_item.count > item_count)
        program->by_item.count = item_count;
    if (program->by_function.count > function_count)
        program->by_function.count = function_count;
    if (program->by_entry.count > function_count)
        program->by_entry.count = function_count;
}
