#include "kernel/emit_internal.h"

bool emit_is_merely_packed(const Emitter *e, const KernelScope *scope)
{
    for (uint32_t i = 0; i < scope->body.count; i++) {
        FlowOp op = scope->body.items[i].is_scope ? FLOW_CALL : e->network->nodes.items[scope->body.items[i].index].op;
        if (op != FLOW_PACK && op != FLOW_FILTER && op != FLOW_COLLECT)
            return false;
    }
    return true;
}

static void declare_merged(Emitter *e, uint32_t number)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        for (uint32_t k = 0; k < node->output_count; k++)
            if (node->outputs[k] != 0 && emit_scope_of_stream(e, node->outputs[k]) == number && emit_is_merged(e, node->outputs[k]))
                emit_line(e, "%s %s = 0;", emit_leaf_c_type(e->network->streams.items[node->outputs[k]].type),
                          emit_variable(e, node->outputs[k]).text);
    }
}

/* ---- filters without branches ----
 * A little arithmetic is as well done at all points, for then several can be done at once. What it says of failing counts only at points that are kept. */

static bool is_flat_reduction(const FlowNode *node)
{
    return fuse_is_reduction(node) && !member_is_ordered(node) &&
           (node->op != FLOW_FOLD || scalar_kind((ScalarType)node->inputs[0].type) != KIND_FLOATING);
}

static bool is_flat_node(const Emitter *e, const FlowNode *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (emit_index_of(&e->kernel->outputs, node->outputs[i]) >= 0)
            return false;
    switch (node->op) {
    case FLOW_OPERATION: {
        ScalarType target = member_result_type(e->network, node);
        return !op_text_needs_math(node->core_op, node->scalar, target) && !op_text_wants_fast(node->core_op, node->scalar, target);
    }
    case FLOW_MERGE:
    case FLOW_PACK:
    case FLOW_FILTER: return true;
    default: return is_flat_reduction(node);
    }
}

bool emit_is_flat(const Emitter *e, uint32_t number, uint32_t *rest)
{
    const KernelScope *scope = &e->kernel->scopes.items[number];
    if (scope->kind != SCOPE_IF || emit_gives_points(e, number))
        return false;
    for (uint32_t i = 0; i < scope->body.count; i++) {
        KernelUnit unit = scope->body.items[i];
        if (unit.is_scope ? !emit_is_flat(e, unit.index, rest) : !is_flat_node(e, &e->network->nodes.items[unit.index]))
            return false;
        bool is_work = !unit.is_scope && e->network->nodes.items[unit.index].op == FLOW_OPERATION;
        if (is_work && (*rest)-- == 0)
            return false;
    }
    return true;
}

static void emit_flat_if(Emitter *e, uint32_t number)
{
    const struct {
        const char *name;
        bool is_wanted;
        Word outer;
    } flags[] = {{"failed", emit_any_inside(e, number, emit_can_fail), emit_flag_name(e, "failed")},
                 {"slow", emit_any_inside(e, number, emit_can_be_slow), emit_flag_name(e, "slow")}};
    enum { FLAGS = sizeof flags / sizeof *flags };
    uint32_t outer = e->flat;
    Word condition = emit_condition_of(e, number);
    declare_merged(e, number);
    emit_each_reduction(e, number, emit_fold_start);
    emit_line(e, "{");
    emit_open_brace(e);
    if (outer == KERNEL_ROOT)
        emit_line(e, "const bool is_kept%u = %s;", number, condition.text);
    else
        emit_line(e, "const bool is_kept%u = is_kept%u & (%s);", number, outer, condition.text);
    for (uint32_t i = 0; i < FLAGS; i++)
        if (flags[i].is_wanted)
            emit_line(e, "OpFlag %s%u = 0;", flags[i].name, number);
    e->flat = number;
    emit_body(e, number);
    e->flat = outer;
    for (uint32_t i = 0; i < FLAGS; i++)
        if (flags[i].is_wanted)
            emit_line(e, "*%s |= is_kept%u ? %s%u : 0;", flags[i].outer.text, number, flags[i].name, number);
    emit_close_brace(e);
    emit_each_reduction(e, number, emit_fold_result);
}

void emit_if(Emitter *e, uint32_t number)
{
    const KernelScope *scope = &e->kernel->scopes.items[number];
    Word condition = emit_condition_of(e, number);
    uint32_t rest = FLAT_OPERATIONS;
    if (emit_is_merely_packed(e, scope)) {
        /* what is written and not kept is written over by the next one */
        emit_body(e, number);
        if (emit_gives_points(e, number) && e->is_packing)
            emit_line(e, "keep%u[i - first] = %s;", number, condition.text);
        else if (emit_gives_points(e, number))
            emit_line(e, "given%u += %s;", number, condition.text);
        return;
    }
    if (emit_is_flat(e, number, &rest)) {
        emit_flat_if(e, number);
        return;
    }
    declare_merged(e, number);
    emit_each_reduction(e, number, emit_fold_start);
    emit_line(e, "if (%s) {", condition.text);
    emit_open_brace(e);
    emit_body(e, number);
    if (emit_gives_points(e, number))
        emit_line(e, "given%u++;", number);
    emit_close_brace(e);
    emit_each_reduction(e, number, emit_fold_result);
}
