#include "kernel/members.h"

#include "kernel/fuse.h"
#include "kernel/op_text.h"

ScalarType member_result_type(const FlowNetwork *network, const FlowNode *node)
{
    if (node->outputs[0] != 0)
        return (ScalarType)network->streams.items[node->outputs[0]].type;
    switch ((int)node->core_op) {
#define SCALAR(ID, name, c_type, kind)                                                                                \
    case OP_TO_##ID: return SCALAR_##ID;
#include "ops/scalars.def"
#undef SCALAR
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
    case OP_ROUND: return SCALAR_I64;
    case OP_CONVERT: return (ScalarType)node->inputs[1].type;
    default: return node->scalar;
    }
}

static bool is_int(const FlowOperand *operand)
{
    return operand->type == (LeafType)SCALAR_I64;
}

static bool accepts_range(const FlowNode *node)
{
    bool gives_ends = node->output_count > 1 && node->outputs[1] != 0;
    return node->segments != SEGMENTS_SINGLE || (node->outputs[0] != 0 && !gives_ends);
}

/* A choice between two values. */
static bool accepts_merge(const FlowNode *node)
{
    enum { SELECTOR, OPERANDS, INPUTS = OPERANDS + 2 };
    return node->input_count == INPUTS && node->inputs[SELECTOR].type == (LeafType)SCALAR_BOOL &&
           !node->inputs[SELECTOR].is_constant;
}

static bool is_value(LeafType type)
{
    return type < (LeafType)SCALAR_COUNT || type == LEAF_ARRAY;
}

static bool accepts_kind(const FlowNetwork *network, const FlowNode *node, FunctionTexts *functions)
{
    switch (node->op) {
    case FLOW_OPERATION: return op_text_exists(node->core_op, node->scalar, member_result_type(network, node));
    case FLOW_COUNT: return node->outputs[0] != 0 && is_int(&node->inputs[0]);
    case FLOW_RANGE: return accepts_range(node);
    case FLOW_MERGE: return node->outputs[0] != 0 && accepts_merge(node) && is_value(node->inputs[1].type);
    case FLOW_PACK:
    case FLOW_DISTRIBUTE: return node->outputs[0] != 0 && is_value(node->inputs[0].type);
    case FLOW_ENDS: return node->segments == SEGMENTS_REGULAR;
    case FLOW_FILTER:
    case FLOW_FLAG_ENDS:
    case FLOW_COMPOSE:
    case FLOW_SAME_LENGTHS: return true;
    case FLOW_COLLECT: return member_is_sink(node);
    case FLOW_SCATTER: return member_is_scatter(network, node);
    case FLOW_LOCAL_INDEX:
    case FLOW_LENGTH:
    case FLOW_EMPTY:
    case FLOW_FOLD:
    case FLOW_SCAN:
    case FLOW_SLICES:
    case FLOW_INDEX:
    case FLOW_GATHER: return node->outputs[0] != 0;
    case FLOW_SCALAR_CALL: return functions != NULL && function_text_accepts(functions, node->function);
    default: return false;
    }
}

static bool is_made_of_scalars(const Layout *layout)
{
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->leaves[i].type == LEAF_ARRAY)
            return false;
    return layout->count > 0;
}

bool member_is_sink(const FlowNode *node)
{
    return node->op == FLOW_COLLECT && node->segments == SEGMENTS_SINGLE && is_made_of_scalars(node->layout);
}

bool member_is_scatter(const FlowNetwork *network, const FlowNode *node)
{
    if (node->op != FLOW_SCATTER || node->core_op == OP_PERMUTE || node->segments != SEGMENTS_SINGLE || !is_made_of_scalars(node->layout))
        return false;
    for (uint32_t i = 0; i < SCATTER_LEAVES + node->layout->count; i++)
        if (fuse_is_uniform(network, &node->inputs[i]) != (i != SCATTER_INDEX))
            return false;
    return true;
}

bool member_is_lent(const FlowNetwork *network, const FlowNode *node)
{
    return node->op == FLOW_SLICES && node->segments == SEGMENTS_SINGLE && node->outputs[0] != 0 &&
           network->streams.items[node->outputs[0]].type < (LeafType)SCALAR_COUNT;
}

bool member_accepts(const FlowNetwork *network, const FlowNode *node, FunctionTexts *functions)
{
    return node->after_count == 0 && accepts_kind(network, node, functions);
}

bool member_has_segments(const FlowNode *node)
{
    switch (node->op) {
    case FLOW_DISTRIBUTE:
    case FLOW_LOCAL_INDEX:
    case FLOW_LENGTH:
    case FLOW_EMPTY:
    case FLOW_FOLD:
    case FLOW_SCAN:
    case FLOW_SLICES: return true;
    default: return false;
    }
}

bool member_needs_loop(const FlowNode *node)
{
    return node->op == FLOW_SLICES || node->op == FLOW_LOCAL_INDEX;
}

Op member_scan_operator(const FlowNode *node)
{
    switch ((int)node->core_op) {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                            \
    case OP_##scan:                                                                                                    \
    case OP_##inclusive: return OP_##reduction;
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    default: return node->core_op;
    }
}

bool member_is_inclusive(const FlowNode *node)
{
    switch ((int)node->core_op) {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
        return true;
    default: return false;
    }
}

bool member_is_ordered(const FlowNode *node)
{
    Op operator = member_scan_operator(node);
    return (node->op == FLOW_FOLD || node->op == FLOW_SCAN) && (operator == OP_SUM || operator == OP_PRODUCT) &&
           scalar_kind((ScalarType)node->inputs[0].type) == KIND_FLOATING;
}

bool member_may_go_on(const FlowNode *node)
{
    return node->op == FLOW_SCAN && scalar_kind((ScalarType)node->inputs[0].type) != KIND_FLOATING;
}

bool member_may_be_total(const FlowNode *node)
{
    return node->op == FLOW_LENGTH || (node->op == FLOW_FOLD && !member_is_ordered(node));
}
