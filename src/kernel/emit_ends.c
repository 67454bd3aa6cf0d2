#include "kernel/emit_internal.h"

/* ---- operations that are usual at all points ----
 * An operation with a version for most operands, whose operand goes up or down with the index of its loop, has one of these at every point if it has one at the first and at the last,
 * for operands that it is right for are next to each other. So these two are tried before the loop, which needs no flags then.
 *
 * Integers that step with the index go up as long as they do not pass the largest: those that become floats are small. Rounding keeps the order of floats. */

static bool is_float_of_integer(const Emitter *e, const FlowNode *node)
{
    ScalarType target = member_result_type(e->network, node);
    return node->op == FLOW_OPERATION && node->scalar == SCALAR_I64 && target == SCALAR_F64 && op_text_has_fast(node->core_op, node->scalar, target);
}

static bool is_in_order(const Emitter *e, FlowOperand operand, uint32_t loop);

/* Whether one operand keeps the order, and the other does not change. */
static bool keeps_order(const Emitter *e, const FlowNode *node, uint32_t loop)
{
    switch ((int)node->core_op) {
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
        if (!emit_varies(e, node->inputs[0]) && is_in_order(e, node->inputs[1], loop))
            return true;
        return !emit_varies(e, node->inputs[1]) && is_in_order(e, node->inputs[0], loop);
    case OP_DIVIDE: return !emit_varies(e, node->inputs[1]) && is_in_order(e, node->inputs[0], loop);
    default: return false;
    }
}

/* Whether a float goes up with the points of a loop, or down. */
static bool is_in_order(const Emitter *e, FlowOperand operand, uint32_t loop)
{
    if (!emit_varies(e, operand))
        return false;
    const FlowNode *node = emit_maker_of(e, fuse_resolve(e->fusion, e->kernel, operand).stream);
    if (node->op != FLOW_OPERATION || emit_scope_of(e, node) != loop)
        return false;
    if (is_float_of_integer(e, node))
        return emit_is_affine(e, node->inputs[0], loop);
    return node->scalar == SCALAR_F64 && member_result_type(e->network, node) == SCALAR_F64 && keeps_order(e, node, loop);
}

static bool is_usual_between_ends(const Emitter *e, const FlowNode *node, uint32_t loop)
{
    if (node->op != FLOW_OPERATION || emit_scope_of(e, node) != loop || node->outputs[0] == 0)
        return false;
    if (is_float_of_integer(e, node))
        return emit_is_affine(e, node->inputs[0], loop);
    return node->input_count == 1 && op_text_has_fast(node->core_op, node->scalar, member_result_type(e->network, node)) &&
           is_in_order(e, node->inputs[0], loop);
}

void emit_find_usual(Emitter *e)
{
    bool *usual = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    e->usual = NULL;
    for (uint32_t loop = 0; e->has_fast && loop < e->kernel->scopes.count; loop++) {
        if (e->kernel->scopes.items[loop].kind == SCOPE_IF)
            continue;
        emit_find_varying(e, loop);
        for (uint32_t i = 0; i < e->kernel->nodes.count; i++)
            if (is_usual_between_ends(e, &e->network->nodes.items[e->kernel->nodes.items[i]], loop)) {
                usual[i] = true;
                e->usual = usual;
            }
    }
}

bool emit_is_usual(const Emitter *e, const FlowNode *node)
{
    if (e->usual == NULL || e->is_at_ends || node->outputs[0] == 0)
        return false;
    return e->usual[fuse_position_of(e->kernel, e->network->streams.items[node->outputs[0]].node)];
}

/* Marks the nodes of a scope that a node takes, and that one. */
static void mark_taken(const Emitter *e, FlowNodeId id, uint32_t scope, bool *is_taken)
{
    int position = fuse_position_of(e->kernel, id);
    const FlowNode *node = &e->network->nodes.items[id];
    if (position < 0 || is_taken[position] || emit_scope_of(e, node) != scope)
        return;
    is_taken[position] = true;
    for (uint32_t i = 0; i < fuse_value_inputs(node); i++) {
        FlowOperand operand = fuse_resolve(e->fusion, e->kernel, node->inputs[i]);
        if (!operand.is_constant && !fuse_is_driver(node, i))
            mark_taken(e, e->network->streams.items[operand.stream].node, scope, is_taken);
    }
}

static void emit_end(Emitter *e, uint32_t loop, const bool *is_taken)
{
    uint32_t line = e->line;
    e->is_searching = e->is_at_ends = true;
    for (uint32_t i = 0; i < e->kernel->scopes.items[loop].body.count; i++) {
        KernelUnit unit = e->kernel->scopes.items[loop].body.items[i];
        if (unit.is_scope || !is_taken[fuse_position_of(e->kernel, unit.index)])
            continue;
        emit_node(e, unit.index);
        const FlowNode *node = &e->network->nodes.items[unit.index];
        if (is_float_of_integer(e, node))
            emit_line(e, "op_small_I64(%s, &slow);", emit_operand_text(e, node->inputs[0]).text);
    }
    e->is_searching = e->is_at_ends = false;
    e->line = line;
}

void emit_tests_of_ends(Emitter *e, uint32_t loop)
{
    bool *is_taken = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count), is_any = false;
    for (uint32_t i = 0; e->usual != NULL && i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        if (!e->usual[i] || emit_scope_of(e, &e->network->nodes.items[id]) != loop)
            continue;
        mark_taken(e, id, loop, is_taken);
        is_any = true;
    }
    if (!is_any)
        return;
    Word index = emit_loop_index(e, loop);
    if (loop == KERNEL_ROOT)
        emit_line(e, "for (int64_t i = 0; i < count && !is_exact; i += count > 1 ? count - 1 : 1) {");
    else
        emit_line(e, "for (int64_t %s = from%u; %s < n%u && !is_exact; %s += n%u - from%u > 1 ? n%u - from%u - 1 : 1) {", index.text, loop, index.text, loop, index.text, loop, loop,
                  loop, loop);
    emit_open_brace(e);
    emit_end(e, loop, is_taken);
    emit_close_brace(e);
}
