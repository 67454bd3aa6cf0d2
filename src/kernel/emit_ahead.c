#include "kernel/emit_internal.h"

/* ---- elements in order ---- */

void emit_ask_in_order(Emitter *e, const char *from, const char *to)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        if (node->op == FLOW_SLICES && emit_scope_of(e, node) == KERNEL_ROOT && e->network->streams.items[node->outputs[0]].type != LEAF_ARRAY)
            emit_line(e, "kernel_ask_ahead(slice%u + %s, (size_t)(%s - %s) * sizeof *slice%u);", id, from, to, from, id);
    }
}

/* ---- elements from anywhere ---- */

/* Whether all that a place depends on is at hand long before, and some of it is loaded: else it steps with the points, and processors see that. */
static bool is_known_before(const Emitter *e, const bool *is_needed)
{
    bool is_loaded = false;
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        if (is_needed[i] && (emit_scope_of(e, node) != KERNEL_ROOT || !emit_is_repeatable(e, node)))
            return false;
        is_loaded |= is_needed[i] && node->op == FLOW_SLICES;
    }
    return is_loaded;
}

/* Adds what the place of an element needs; false if nothing is asked for it. */
static bool find_place(const Emitter *e, const FlowNode *node, bool *is_needed)
{
    if (node->op != FLOW_GATHER || emit_scope_of(e, node) != KERNEL_ROOT)
        return false;
    FlowOperand array = fuse_resolve(e->fusion, e->kernel, node->inputs[0]), index = fuse_resolve(e->fusion, e->kernel, node->inputs[1]);
    if (!fuse_is_uniform(e->network, &array) || index.is_constant || e->network->streams.items[node->outputs[0]].type == LEAF_ARRAY)
        return false;
    const FlowNode *maker = emit_maker_of(e, index.stream);
    if (maker->op != FLOW_INDEX || !emit_is_given_before(e, maker->inputs[2]))
        return false;
    bool *own = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    fuse_mark_needed(e->network, e->kernel, index.stream, own);
    if (!is_known_before(e, own))
        return false;
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++)
        is_needed[i] |= own[i];
    return true;
}

bool emit_find_far(const Emitter *e, FarElements *far)
{
    *far = (FarElements){.is_needed = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count)};
    for (uint32_t i = 0; i < e->kernel->nodes.count && e->needed == NULL && e->narrow.is_narrow == NULL; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        if (find_place(e, node, far->is_needed))
            *vec_push(e->context->functions->arena, &far->gathers) = node;
    }
    return far->gathers.count > 0;
}

static uint32_t column_of(const Emitter *e, const FlowNode *gather)
{
    return emit_column_of(e, fuse_resolve(e->fusion, e->kernel, gather->inputs[0]).stream, gather->leaf);
}

void emit_test_of_far(Emitter *e, const FarElements *far)
{
    emit_line(e, "bool is_far = false;");
    for (uint32_t i = 0; i < far->gathers.count; i++) {
        const FlowNode *gather = far->gathers.items[i], *maker = emit_maker_of(e, fuse_resolve(e->fusion, e->kernel, gather->inputs[1]).stream);
        emit_line(e, "is_far |= %s > KERNEL_FAR / (int64_t)sizeof *column%u;", emit_operand_text(e, maker->inputs[2]).text, column_of(e, gather));
    }
}

void emit_ask_far(Emitter *e, const FarElements *far, const char *from, const char *to)
{
    text_add(e->out, "#pragma GCC unroll 8\n");
    emit_line(e, "for (int64_t i = %s; i < %s; i++) {", from, to);
    emit_open_brace(e);
    e->needed = far->is_needed;
    emit_inputs(e);
    emit_body(e, KERNEL_ROOT);
    e->needed = NULL;
    for (uint32_t i = 0; i < far->gathers.count; i++)
        emit_line(e, "kernel_ask(&column%u[%s]);", column_of(e, far->gathers.items[i]), emit_operand_text(e, far->gathers.items[i]->inputs[1]).text);
    emit_close_brace(e);
}
