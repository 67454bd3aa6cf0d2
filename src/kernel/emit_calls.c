#include "kernel/emit_internal.h"

#include "kernel/lanes.h"

/* ---- calls of functions ----
 *
 * Where a function has lanes and its arguments are known early, those of several points are computed in advance, and the function is called for all of them:
 *
 *     for (int64_t i = 0; i < count; i++) {
 *         if ((i & (KERNEL_LANE_POINTS - 1)) == 0) {
 *             for (int64_t point = 0, first = i; point < points; point++) {
 *                 const int64_t i = first + point;
 *                 ... what the arguments need; compilers remove it below, unless somebody else needs it too
 *             }
 *             call
 *         }
 *         ... with the results of point i
 *     } */

Word emit_loop_index(const Emitter *e, uint32_t scope)
{
    return scope == KERNEL_ROOT ? (Word){"i"} : emit_counter(e, scope);
}

static Word loop_end(uint32_t scope)
{
    Word word;
    snprintf(word.text, sizeof word.text, scope == KERNEL_ROOT ? "count" : "n%u", scope);
    return word;
}

static const bool *find_lanes(const Emitter *e, const FlowNode *node)
{
    return lanes_find(e->context->functions, e->fusion, e->kernel, node);
}

static bool is_common(const Emitter *e, const FlowNode *call, uint32_t input)
{
    return lanes_have_in_common(e->context->functions, call, input);
}

void emit_declare_lanes(Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        if (emit_scope_of(e, node) != scope || find_lanes(e, node) == NULL || emit_is_left_out(e, (KernelUnit){.index = id}))
            continue;
        const Layout *results = function_text_results(e->context->functions, node->function);
        for (uint32_t k = 0; k < results->count; k++)
            emit_line(e, "%s lanes%u_%u[KERNEL_LANE_POINTS];", emit_leaf_c_type(results->leaves[k].type), id, k);
    }
}

static void emit_lane_arguments(Emitter *e, uint32_t scope, const FlowNode *node)
{
    const bool *is_needed = find_lanes(e, node);
    Word index = emit_loop_index(e, scope);
    emit_line(e, "for (int64_t point = 0, first = %s; point < points; point++) {", index.text);
    emit_open_brace(e);
    emit_line(e, "const int64_t %s = first + point;", index.text);
    if (scope == KERNEL_ROOT)
        emit_inputs(e);
    e->is_searching = true;
    for (uint32_t i = 0; i < e->kernel->scopes.items[scope].body.count; i++) {
        KernelUnit unit = e->kernel->scopes.items[scope].body.items[i];
        if (!unit.is_scope && is_needed[fuse_position_of(e->kernel, unit.index)])
            emit_node(e, unit.index);
    }
    e->is_searching = false;
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!fuse_is_driver(node, i) && !is_common(e, node, i))
            emit_line(e, "argument%u[point] = %s;", i, emit_operand_text(e, node->inputs[i]).text);
    emit_close_brace(e);
}

static void add_rows(const Emitter *e, const FlowNode *node, uint32_t input, Text *call)
{
    int number = lanes_rows_number(e->fusion, e->kernel, node, input);
    if (number == LANES_NO_ROWS)
        text_add(call, "NULL, ");
    else
        text_addf(call, "call->rows[%d], ", number);
}

static void emit_lane_call(Emitter *e, uint32_t scope, FlowNodeId id, const FlowNode *node)
{
    Text call;
    text_init(&call, e->out->memory);
    function_text_name(e->context->functions, node->function, &call);
    text_add(&call, "_lanes(points, ");
    Word index = emit_loop_index(e, scope), end = loop_end(scope);
    emit_show_source(e, node->span);
    emit_line(e, "if ((%s & (KERNEL_LANE_POINTS - 1)) == 0) {", index.text);
    emit_open_brace(e);
    emit_line(e, "const int64_t points = %s - %s < KERNEL_LANE_POINTS ? %s - %s : KERNEL_LANE_POINTS;", end.text, index.text, end.text, index.text);
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!fuse_is_driver(node, i) && is_common(e, node, i))
            text_addf(&call, "%s, ", emit_operand_text(e, node->inputs[i]).text);
        else if (!fuse_is_driver(node, i)) {
            emit_line(e, "%s argument%u[KERNEL_LANE_POINTS];", emit_leaf_c_type(node->inputs[i].type), i);
            text_addf(&call, "argument%u, ", i);
        }
    emit_lane_arguments(e, scope, node);
    for (uint32_t i = 0; i < node->input_count; i++)
        if (lanes_want_rows(e->context->functions, node, i))
            add_rows(e, node, i, &call);
    for (uint32_t i = 0; i < node->output_count; i++)
        text_addf(&call, "lanes%u_%u, ", id, i);
    emit_line(e, "if (failed || !%scall->depth, &scalars))", text_string(&call));
    emit_line(e, "    return KERNEL_FAILED;");
    emit_close_brace(e);
    text_free(&call);
}

void emit_lanes(Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        if (emit_scope_of(e, node) == scope && find_lanes(e, node) != NULL && !emit_is_left_out(e, (KernelUnit){.index = id}))
            emit_lane_call(e, scope, id, node);
    }
}

static void emit_lane_results(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word index = emit_loop_index(e, emit_scope_of(e, node));
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != 0)
            emit_value(e, node->outputs[i], "lanes%u_%u[%s & (KERNEL_LANE_POINTS - 1)]", id, i, index.text);
}

void emit_scalar_call(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (find_lanes(e, node) != NULL) {
        emit_lane_results(e, id, node);
        return;
    }
    Text call;
    text_init(&call, e->out->memory);
    function_text_name(e->context->functions, node->function, &call);
    text_add_char(&call, '(');
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!fuse_is_driver(node, i))
            text_addf(&call, "%s, ", emit_operand_text(e, node->inputs[i]).text);
    const Layout *results = function_text_results(e->context->functions, node->function);
    for (uint32_t i = 0; i < results->count; i++) {
        const char *type = emit_leaf_c_type(results->leaves[i].type);
        if (node->outputs[i] == 0) {
            text_addf(&call, "&(%s){0}, ", type);
            continue;
        }
        if (!emit_is_merged(e, node->outputs[i]))
            emit_line(e, "%s %s;", type, emit_variable(e, node->outputs[i]).text);
        text_addf(&call, "&%s, ", emit_variable(e, node->outputs[i]).text);
    }
    emit_line(e, "if (failed || !%scall->depth, &scalars))", text_string(&call));
    emit_line(e, "    return KERNEL_FAILED;");
    text_free(&call);
    for (uint32_t i = 0; i < results->count; i++)
        if (node->outputs[i] != 0)
            emit_output(e, node->outputs[i]);
}
