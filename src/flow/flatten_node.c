/* Nodes, streams and operands of the network being built. */
#include "flow/flatten_internal.h"

#include <string.h>

FlowOperand flatten_constant(ScalarType type, Scalar value)
{
    return (FlowOperand){.type = (LeafType)type, .is_constant = true, .constant = value};
}

FlowOperand flatten_int(int64_t value)
{
    return flatten_constant(SCALAR_I64, (Scalar){.integer = value});
}

FlowOperand flatten_stream(const Flattener *f, FlowStreamId stream)
{
    return (FlowOperand){.type = f->network->streams.items[stream].type, .stream = stream};
}

bool flatten_is_same_operand(FlowOperand a, FlowOperand b)
{
    if (a.type != b.type || a.is_constant != b.is_constant)
        return false;
    return a.is_constant ? a.constant.bits == b.constant.bits : a.stream == b.stream;
}

FlowNode *flatten_node(Flattener *f, FlowOp op, FlowSpaceId space, const FlowOperand *inputs, uint32_t input_count)
{
    FlowNode *node = vec_push(f->arena, &f->network->nodes);
    *node = (FlowNode){.op = op, .space = space, .span = f->span, .input_count = input_count};
    node->inputs = ARENA_ARRAY(f->arena, FlowOperand, input_count);
    if (input_count > 0)
        memcpy(node->inputs, inputs, input_count * sizeof *inputs);
    return node;
}

FlowStreamId flatten_output(Flattener *f, LeafType type, FlowSpaceId space)
{
    FlowNetwork *network = f->network;
    FlowNode *node = &vec_last(&network->nodes);
    FlowStreamId stream = network->streams.count;
    *vec_push(f->arena, &network->streams) =
        (FlowStream){.type = type, .space = space, .node = network->nodes.count - 1};
    if ((node->output_count & (node->output_count - 1)) == 0) { /* 0, 1, 2, 4 ...: full */
        FlowStreamId *outputs = ARENA_ARRAY(f->arena, FlowStreamId, node->output_count == 0 ? 1 : 2 * node->output_count);
        if (node->output_count > 0)
            memcpy(outputs, node->outputs, node->output_count * sizeof *outputs);
        node->outputs = outputs;
    }
    node->outputs[node->output_count++] = stream;
    return stream;
}

/* ---- equal nodes ---- */

static uint64_t mix(uint64_t hash, uint64_t bits)
{
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static uint64_t node_hash(const Flattener *f, const FlowNode *node)
{
    uint64_t hash = mix(node->op, flatten_points(f, node->space));
    for (uint32_t i = 0; i < node->input_count; i++) {
        const FlowOperand *input = &node->inputs[i];
        hash = mix(hash, input->is_constant ? input->constant.bits : UINT64_C(1) << 40 | input->stream);
    }
    hash = mix(hash, (uint64_t)node->core_op << 8 | (uint64_t)node->scalar << 1 | node->keep);
    return mix(hash, (uint64_t)node->leaf << 2 | node->segments);
}

static bool is_same_node(const Flattener *f, const FlowNode *a, const FlowNode *b)
{
    if (a->op != b->op || a->input_count != b->input_count || a->output_count != b->output_count ||
        a->core_op != b->core_op || a->scalar != b->scalar || a->keep != b->keep || a->leaf != b->leaf ||
        a->segments != b->segments || flatten_points(f, a->space) != flatten_points(f, b->space))
        return false;
    for (uint32_t i = 0; i < a->input_count; i++)
        if (!flatten_is_same_operand(a->inputs[i], b->inputs[i]) || a->inputs[i].is_uniform != b->inputs[i].is_uniform)
            return false;
    const FlowStream *streams = f->network->streams.items;
    for (uint32_t i = 0; i < a->output_count; i++)
        if (streams[a->outputs[i]].type != streams[b->outputs[i]].type)
            return false;
    return true;
}

static FlowNodeId *find_slot(const Flattener *f, FlowNodeId *table, uint32_t size, const FlowNode *node)
{
    uint32_t at = (uint32_t)node_hash(f, node) & (size - 1);
    while (table[at] != 0 && !is_same_node(f, &f->network->nodes.items[table[at] - 1], node))
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void grow_table(Flattener *f)
{
    uint32_t size = f->same_size == 0 ? 64 : 2 * f->same_size;
    FlowNodeId *table = ARENA_ARRAY(f->arena, FlowNodeId, size);
    for (uint32_t i = 0; i < f->same_size; i++)
        if (f->same[i] != 0)
            *find_slot(f, table, size, &f->network->nodes.items[f->same[i] - 1]) = f->same[i];
    f->same = table;
    f->same_size = size;
}

FlowOperand flatten_shared(Flattener *f)
{
    if (2 * f->same_count >= f->same_size)
        grow_table(f);
    FlowNode *node = &vec_last(&f->network->nodes);
    FlowNodeId *slot = find_slot(f, f->same, f->same_size, node);
    if (*slot != 0) {
        FlowStreamId found = f->network->nodes.items[*slot - 1].outputs[0];
        f->network->streams.count -= node->output_count;
        f->network->nodes.count--;
        return flatten_stream(f, found);
    }
    *slot = f->network->nodes.count;
    f->same_count++;
    return flatten_stream(f, node->outputs[0]);
}
