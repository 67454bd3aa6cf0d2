/* The end of flattening: what nobody needs goes, sets of points get their final names; and the programs's entry points. */
#include "flow/flatten_internal.h"

#include <string.h>

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
    case FLOW_RESULT:
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

static void remove_nodes(Flattener *f, const bool *needed, const bool *read)
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
        for (uint32_t i = 0; i < node->output_count; i++)
            if (!read[node->outputs[i]])
                node->outputs[i] = 0;
        uint32_t after_count = 0;
        for (uint32_t i = 0; i < node->after_count; i++)
            if (needed[node->after[i]])
                node->after[after_count++] = renamed[node->after[i]];
        node->after_count = after_count;
    }
    network->nodes.count = count;
}

/* ---- dead streams and spaces ---- */

static void rename_operands(FlowOperand *operands, uint32_t count, const FlowStreamId *renamed)
{
    for (uint32_t i = 0; i < count; i++)
        if (!operands[i].is_constant)
            operands[i].stream = renamed[operands[i].stream];
}

/* Numbers streams anew in the order of the nodes that make them; what no node makes any more is gone. */
static void remove_streams(Flattener *f)
{
    FlowNetwork *network = f->network;
    FlowStreamId *renamed = ARENA_ARRAY(f->arena, FlowStreamId, network->streams.count);
    VEC(FlowStream) streams = {0};
    *vec_push(f->arena, &streams) = (FlowStream){0};
    for (FlowNodeId id = 0; id < network->nodes.count; id++) {
        FlowNode *node = &network->nodes.items[id];
        rename_operands(node->inputs, node->input_count, renamed);
        for (uint32_t i = 0; i < node->output_count; i++) {
            if (node->outputs[i] == 0)
                continue;
            FlowStream stream = network->streams.items[node->outputs[i]];
            stream.node = id;
            renamed[node->outputs[i]] = streams.count;
            node->outputs[i] = streams.count;
            *vec_push(f->arena, &streams) = stream;
        }
    }
    if (network->is_item)
        rename_operands(network->result, network->result_count, renamed);
    for (FlowSpaceId i = 1; i < network->spaces.count; i++) {
        FlowSpace *space = &network->spaces.items[i];
        space->driver = renamed[space->driver];
        space->ends = renamed[space->ends];
        space->flags = renamed[space->flags];
        space->number = renamed[space->number];
        if (space->segments != SEGMENTS_REGULAR)
            continue;
        rename_operands(&space->count, 1, renamed);
        if (!space->count.is_constant && space->count.stream == 0)
            space->count = flatten_int(0); /* nobody asks for it */
    }
    memcpy(&network->streams, &streams, sizeof streams);
}

static void need_space(const FlowNetwork *network, FlowSpaceId space, bool *needed)
{
    if (space == 0 || needed[space])
        return;
    needed[space] = true;
    need_space(network, network->spaces.items[space].parent, needed);
    need_space(network, network->spaces.items[space].base, needed);
    need_space(network, network->spaces.items[space].middle, needed);
}

static void remove_spaces(Flattener *f)
{
    FlowNetwork *network = f->network;
    bool *needed = ARENA_ARRAY(f->arena, bool, network->spaces.count);
    FlowSpaceId *renamed = ARENA_ARRAY(f->arena, FlowSpaceId, network->spaces.count);
    needed[FLOW_UNIT] = true;
    if (flow_has_root(network))
        needed[FLOW_ROOT] = true;
    for (FlowNodeId i = 0; i < network->nodes.count; i++)
        need_space(network, network->nodes.items[i].space, needed);
    for (FlowStreamId i = 1; i < network->streams.count; i++)
        need_space(network, network->streams.items[i].space, needed);
    uint32_t count = 1;
    for (FlowSpaceId i = 1; i < network->spaces.count; i++) {
        if (!needed[i])
            continue;
        FlowSpace space = network->spaces.items[i];
        space.parent = renamed[space.parent]; /* parents and bases are older */
        space.base = renamed[space.base];
        space.middle = renamed[space.middle];
        renamed[i] = count;
        network->spaces.items[count++] = space;
    }
    network->spaces.count = count;
    for (FlowNodeId i = 0; i < network->nodes.count; i++)
        network->nodes.items[i].space = renamed[network->nodes.items[i].space];
    for (FlowStreamId i = 1; i < network->streams.count; i++)
        network->streams.items[i].space = renamed[network->streams.items[i].space];
}

void flatten_finish(Flattener *f)
{
    FlowNetwork *network = f->network;
    bool *needed = ARENA_ARRAY(f->arena, bool, network->nodes.count);
    bool *read = ARENA_ARRAY(f->arena, bool, network->streams.count);
    for (FlowSpaceId i = 1; i < network->spaces.count; i++)
        network->spaces.items[i].points = flatten_points(f, i);
    flatten_share_columns(f);
    find_needed(network, needed, read);
    flatten_compare_counts(f, needed);
    memset(needed, 0, network->nodes.count * sizeof *needed);
    memset(read, 0, network->streams.count * sizeof *read);
    find_needed(network, needed, read);
    remove_nodes(f, needed, read);
    remove_streams(f);
    remove_spaces(f);
}

/* ---- programs ---- */

void flow_program_init(FlowProgram *program, Arena *arena, const CoreProgram *core, Layouts *layouts)
{
    *program = (FlowProgram){.arena = arena, .core = core, .layouts = layouts};
    *vec_push(arena, &program->networks) = NULL;
}

static void flatten_entry(Flattener *f, const FlattenEntry *entry)
{
    CoreFunctionId id = entry->function;
    FlowProgram *program = f->program;
    while (program->by_entry.count <= id)
        *vec_push(f->arena, &program->by_entry) = 0;
    if (program->by_entry.items[id] != 0)
        return;
    const CoreFunction *function = f->core->functions.items[id];
    flatten_find_through_function(f, id);
    FlowNetworkId network =
        flatten_item_network(f, function->body, function->name, function->span, entry->is_printed);
    program->by_entry.items[id] = network;
}

bool flatten_program(FlowProgram *program, Diagnostics *diagnostics, const FlattenOptions *options,
                     const FlattenEntry *entries, uint32_t entry_count)
{
    Flattener flattener = {.program = program,
                           .core = program->core,
                           .types = program->core->types,
                           .layouts = program->layouts,
                           .arena = program->arena,
                           .diagnostics = diagnostics,
                           .options = options};
    Flattener *f = &flattener;
    if (setjmp(f->on_error) != 0)
        return false;
    for (uint32_t i = program->by_item.count; i < program->core->items.count; i++) {
        const CoreItem *item = &program->core->items.items[i];
        flatten_find_through(f, item->block);
        bool is_printed = item->kind == CORE_ITEM_EXPRESSION;
        FlowNetworkId network = flatten_item_network(f, item->block, 0, item->span, is_printed);
        *vec_push(f->arena, &program->by_item) = network;
        flatten_wanted(f);
    }
    for (uint32_t i = 0; i < entry_count; i++) {
        if (entries[i].function != 0)
            flatten_entry(f, &entries[i]);
        flatten_wanted(f);
    }
    return true;
}

void flatten_forget(FlowProgram *program, uint32_t network_count, uint32_t item_count)
{
    program->networks.count = network_count;
    if (program->by_item.count > item_count)
        program->by_item.count = item_count;
    for (uint32_t i = 0; i < program->by_function.count; i++)
        if (program->by_function.items[i] >= network_count)
            program->by_function.items[i] = 0;
    for (uint32_t i = 0; i < program->by_single.count; i++)
        if (program->by_single.items[i] >= network_count)
            program->by_single.items[i] = 0;
    for (uint32_t i = 0; i < program->by_entry.count; i++)
        if (program->by_entry.items[i] >= network_count)
            program->by_entry.items[i] = 0;
}
