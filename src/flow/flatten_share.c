/* Zipping without copying.
 *
 * The elements of a vector of tuples are in columns, one for each component, so a vector whose components are those of other vectors, each in its place, can have
 * its columns in common with them. What is left to do is comparing the lengths. */
#include "flow/flatten_internal.h"

enum { SLICES_ARRAY, SLICES_START };
enum { COLLECT_DRIVER, COLLECT_LEAVES };

static const FlowNode *maker_of(const FlowNetwork *network, const FlowOperand *operand)
{
    return operand->is_constant ? NULL : &network->nodes.items[network->streams.items[operand->stream].node];
}

/* The node that makes the points of unit's range with this driver; null if they are others. */
static const FlowNode *single_range(const FlowNetwork *network, const FlowOperand *driver)
{
    const FlowNode *maker = maker_of(network, driver);
    return maker != NULL && maker->op == FLOW_RANGE && maker->segments == SEGMENTS_SINGLE ? maker : NULL;
}

/* The elements of a vector on unit, one after the other; not one that serves all points. */
static const FlowNode *whole_slices(const FlowNetwork *network, const FlowOperand *operand)
{
    const FlowNode *maker = maker_of(network, operand);
    return maker != NULL && !operand->is_uniform && maker->op == FLOW_SLICES && maker->segments == SEGMENTS_SINGLE ? maker : NULL;
}

static bool has_common_columns(const FlowNetwork *network, const FlowNode *node)
{
    bool is_whole = node->op == FLOW_COLLECT && node->segments == SEGMENTS_SINGLE && node->after_count == 0 && node->layout->count > 0 &&
                    single_range(network, &node->inputs[COLLECT_DRIVER]) != NULL;
    for (uint32_t i = 0; is_whole && i < node->layout->count; i++)
        is_whole = node->layout->leaves[i].type != LEAF_ARRAY && whole_slices(network, &node->inputs[COLLECT_LEAVES + i]) != NULL;
    return is_whole;
}

static void share_columns(Flattener *f, FlowNode *node)
{
    enum { INPUTS_OF_LEAF = 3 };
    const FlowNetwork *network = f->network;
    uint32_t count = 1 + INPUTS_OF_LEAF * node->layout->count;
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, count), *next = inputs;
    *next++ = single_range(network, &node->inputs[COLLECT_DRIVER])->inputs[0];
    for (uint32_t i = 0; i < node->layout->count; i++) {
        const FlowNode *slices = whole_slices(network, &node->inputs[COLLECT_LEAVES + i]);
        *next++ = slices->inputs[SLICES_ARRAY];
        *next++ = slices->inputs[SLICES_START];
        *next++ = flatten_int((int64_t)slices->leaf);
    }
    node->op = FLOW_SHARE;
    node->space = FLOW_UNIT;
    node->inputs = inputs;
    node->input_count = count;
}

void flatten_share_columns(Flattener *f)
{
    for (FlowNodeId id = 0; id < f->network->nodes.count; id++)
        if (has_common_columns(f->network, &f->network->nodes.items[id]))
            share_columns(f, &f->network->nodes.items[id]);
}

/* ---- lengths ---- */

static bool is_comparison(const FlowNode *node)
{
    return node->op == FLOW_SAME_LENGTHS && node->segments == SEGMENTS_SINGLE;
}

/* By stream: whether anybody does more than compare how long it is. */
static bool *find_looked_at(Flattener *f, const bool *needed)
{
    const FlowNetwork *network = f->network;
    bool *looked_at = ARENA_ARRAY(f->arena, bool, network->streams.count);
    for (FlowNodeId id = 0; id < network->nodes.count; id++) {
        const FlowNode *node = &network->nodes.items[id];
        for (uint32_t i = 0; needed[id] && !is_comparison(node) && i < node->input_count; i++)
            if (!node->inputs[i].is_constant)
                looked_at[node->inputs[i].stream] = true;
    }
    for (uint32_t i = 0; network->is_item && i < network->result_count; i++)
        if (!network->result[i].is_constant)
            looked_at[network->result[i].stream] = true;
    return looked_at;
}

void flatten_compare_counts(Flattener *f, const bool *needed)
{
    const FlowNetwork *network = f->network;
    const bool *looked_at = find_looked_at(f, needed);
    for (FlowNodeId id = 0; id < network->nodes.count; id++) {
        FlowNode *node = &network->nodes.items[id];
        if (!is_comparison(node) || node->after_count > 0)
            continue;
        const FlowNode *first = single_range(network, &node->inputs[0]), *second = single_range(network, &node->inputs[1]);
        if (first == NULL || second == NULL || looked_at[node->inputs[0].stream] || looked_at[node->inputs[1].stream])
            continue;
        node->op = FLOW_SAME_COUNTS;
        node->inputs[0] = first->inputs[0];
        node->inputs[1] = second->inputs[0];
    }
}
