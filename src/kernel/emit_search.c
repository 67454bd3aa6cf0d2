#include "kernel/emit_internal.h"

/* ---- searching ----
 * A filter that keeps few points makes a loop that cannot be done in vectors, since it may store. Where the condition is an equation, which seldom holds, a
 * part of the loop is first searched for any point that is kept, in vectors; most parts are then done. */

static bool is_equation(const Emitter *e, FlowStreamId flags)
{
    const FlowNode *maker = &e->network->nodes.items[e->network->streams.items[flags].node];
    return maker->op == FLOW_OPERATION && maker->core_op == OP_EQUAL;
}

/* Without it nothing is lost if it is computed where it would not have been. */
static bool is_harmless(const Emitter *e, const FlowNode *node)
{
    switch (node->op) {
    case FLOW_OPERATION: {
        ScalarType target = member_result_type(e->network, node);
        return !op_text_can_fail(node->core_op, node->scalar, target) && !op_text_has_fast(node->core_op, node->scalar, target) && !emit_can_be_slow(e, node);
    }
    case FLOW_RANGE:
    case FLOW_PACK:
    case FLOW_FILTER:
    case FLOW_DISTRIBUTE:
    case FLOW_LOCAL_INDEX:
    case FLOW_COLLECT:
    case FLOW_SLICES: return true;
    default: return false;
    }
}

uint32_t emit_only_filter(const Emitter *e, uint32_t scope)
{
    const KernelScope *s = &e->kernel->scopes.items[scope];
    uint32_t found = scope;
    for (uint32_t i = 0; i < s->body.count; i++) {
        KernelUnit unit = s->body.items[i];
        if (!unit.is_scope && is_harmless(e, &e->network->nodes.items[unit.index]))
            continue;
        if (!unit.is_scope || found != scope || e->kernel->scopes.items[unit.index].kind != SCOPE_IF)
            return KERNEL_NO_SCOPE;
        found = unit.index;
    }
    return found;
}

uint32_t emit_searched_filter(const Emitter *e, uint32_t loop)
{
    uint32_t scope = loop;
    for (uint32_t next = emit_only_filter(e, scope); next != scope; next = emit_only_filter(e, scope)) {
        if (next == KERNEL_NO_SCOPE)
            return KERNEL_NO_SCOPE;
        scope = next;
    }
    bool is_only_stored = (e->kernel->stored & ~(UINT64_C(1) << scope) & ~e->kernel->scopes.items[loop].ancestors) == 0 &&
                          (e->kernel->stored >> loop & 1) == 0;
    return scope != loop && is_only_stored && (e->kernel->stored >> scope & 1) != 0 && is_equation(e, e->kernel->scopes.items[scope].flags)
               ? scope
               : KERNEL_NO_SCOPE;
}

/* The values of a scope and of those inside it, whatever their conditions. */
static void emit_all_values(Emitter *e, uint32_t scope)
{
    const KernelScope *s = &e->kernel->scopes.items[scope];
    for (uint32_t i = 0; i < s->body.count; i++)
        if (s->body.items[i].is_scope)
            emit_all_values(e, s->body.items[i].index);
        else
            emit_node(e, s->body.items[i].index);
}

void emit_poll_of_tiles(Emitter *e, uint32_t number, const char *at, const char *tile)
{
    e->may_stop = true;
    emit_line(e, "if (%s%u %% KERNEL_STRIP < %s && %s%u >= KERNEL_STRIP && kernel_is_over(call))", at, number, tile, at, number);
    emit_line(e, "    goto stopped;");
}

void emit_poll_of_turns(Emitter *e, uint32_t number)
{
    e->may_stop = true;
    emit_line(e, "if (i%u %% KERNEL_ROUNDS == KERNEL_ROUNDS - 1 && kernel_is_over(call))", number);
    emit_line(e, "    goto stopped;");
}

/* ---- searching in half the width ----
 * Integers have 64 bits, which vectors are slow to multiply and have few of. Where what an equation compares is made of the loop's index and of what does not change in the loop by
 * adding, subtracting and multiplying, a bound of all of it is known before the loop; most often 32 bits do, and give the same answer. */

static bool is_index(const FlowNode *node)
{
    return node->op == FLOW_RANGE || node->op == FLOW_LOCAL_INDEX;
}

static bool is_varying(const Emitter *e, const bool *varying, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (operand.is_constant || fuse_is_uniform(e->network, &operand))
        return false;
    int position = fuse_position_of(e->kernel, e->network->streams.items[operand.stream].node);
    return position >= 0 && varying[position];
}

void emit_find_varying(Emitter *e, uint32_t loop)
{
    e->varying = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        uint32_t scope = emit_scope_of(e, node);
        bool is_on_loop = scope != KERNEL_NO_SCOPE && (e->kernel->scopes.items[scope].ancestors >> loop & 1) != 0;
        e->varying[i] = is_on_loop && node->op != FLOW_OPERATION;
        for (uint32_t k = 0; is_on_loop && node->op == FLOW_OPERATION && k < node->input_count; k++)
            e->varying[i] |= is_varying(e, e->varying, node->inputs[k]);
    }
}

bool emit_varies(const Emitter *e, FlowOperand operand)
{
    return is_varying(e, e->varying, operand);
}

static const char *narrow_symbol(Op op)
{
    switch (op) {
    case OP_ADD: return "+";
    case OP_SUBTRACT: return "-";
    case OP_MULTIPLY: return "*";
    default: return NULL;
    }
}

static bool is_narrow_operation(const FlowNode *node)
{
    return node->op == FLOW_OPERATION && node->scalar == SCALAR_I64 && narrow_symbol(node->core_op) != NULL;
}

/* Whether what varies is made of the index by such operations alone, by no more than `rest` of them: each is written where it is used. */
static bool can_be_narrow(const Emitter *e, FlowOperand operand, uint32_t *rest)
{
    if (!emit_varies(e, operand))
        return true;
    const FlowNode *node = emit_maker_of(e, fuse_resolve(e->fusion, e->kernel, operand).stream);
    bool result = (is_index(node) || is_narrow_operation(node)) && *rest > 0;
    *rest -= result;
    for (uint32_t i = 0; result && is_narrow_operation(node) && i < node->input_count; i++)
        result = can_be_narrow(e, node->inputs[i], rest);
    return result;
}

static const FlowNode *narrow_equation(const Emitter *e, uint32_t filter)
{
    enum { OPERATIONS_MAX = 32 };
    uint32_t rest = OPERATIONS_MAX;
    const KernelScope *scope = &e->kernel->scopes.items[filter];
    const FlowNode *equation = emit_maker_of(e, scope->flags);
    bool is_narrow = scope->keep && equation->scalar == SCALAR_I64 && can_be_narrow(e, equation->inputs[0], &rest) &&
                     can_be_narrow(e, equation->inputs[1], &rest);
    return is_narrow && rest < OPERATIONS_MAX ? equation : NULL;
}

bool emit_is_affine(const Emitter *e, FlowOperand operand, uint32_t loop)
{
    if (!emit_varies(e, operand))
        return false;
    const FlowNode *node = emit_maker_of(e, fuse_resolve(e->fusion, e->kernel, operand).stream);
    if (is_index(node))
        return emit_scope_of(e, node) == loop;
    if (!is_narrow_operation(node) || node->core_op == OP_MULTIPLY)
        return false;
    bool is_left = !emit_varies(e, node->inputs[1]) && emit_is_affine(e, node->inputs[0], loop);
    return is_left || (node->core_op == OP_ADD && !emit_varies(e, node->inputs[0]) && emit_is_affine(e, node->inputs[1], loop));
}

void emit_add_first_value(Emitter *e, Text *out, FlowOperand operand, uint32_t loop)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (!emit_varies(e, operand)) {
        text_add(out, emit_operand_text(e, operand).text);
        return;
    }
    const FlowNode *node = emit_maker_of(e, operand.stream);
    if (is_index(node)) {
        text_add(out, "0");
        return;
    }
    text_addf(out, "op_%s_I64(", node->core_op == OP_ADD ? "ADD" : "SUBTRACT");
    emit_add_first_value(e, out, node->inputs[0], loop);
    text_add(out, ", ");
    emit_add_first_value(e, out, node->inputs[1], loop);
    text_add(out, ")");
}

void emit_invariants(Emitter *e, FlowOperand operand, uint32_t loop, bool *is_done)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    uint32_t scope = operand.is_constant || fuse_is_uniform(e->network, &operand) ? KERNEL_NO_SCOPE : emit_scope_of_stream(e, operand.stream);
    if (scope == KERNEL_NO_SCOPE || (e->kernel->scopes.items[scope].ancestors >> loop & 1) == 0)
        return;
    FlowNodeId id = e->network->streams.items[operand.stream].node;
    const FlowNode *node = &e->network->nodes.items[id];
    int position = fuse_position_of(e->kernel, id);
    if (position < 0 || is_index(node) || is_done[position])
        return;
    is_done[position] = true;
    for (uint32_t i = 0; i < node->input_count; i++)
        emit_invariants(e, node->inputs[i], loop, is_done);
    if (!emit_varies(e, operand))
        emit_node(e, id);
}

/* Adds an expression of a value: of 32 bits, or (`is_bound`) of the largest magnitude that it can have. */
static void add_narrow(Emitter *e, Text *out, FlowOperand operand, uint32_t loop, bool is_bound)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (!emit_varies(e, operand)) {
        text_addf(out, is_bound ? "kernel_size(%s, &sizes)" : "(uint32_t)%s", emit_operand_text(e, operand).text);
        return;
    }
    const FlowNode *node = emit_maker_of(e, operand.stream);
    if (!is_bound && emit_is_affine(e, operand, loop)) {
        text_addf(out, "at%u", operand.stream);
        return;
    }
    if (is_index(node)) {
        text_addf(out, "kernel_size(n%u, &sizes)", loop);
        return;
    }
    const char *symbol = is_bound && node->core_op == OP_SUBTRACT ? "+" : narrow_symbol(node->core_op);
    text_add(out, is_bound ? "kernel_bound(" : "(");
    add_narrow(e, out, node->inputs[0], loop, is_bound);
    text_addf(out, " %s ", symbol);
    add_narrow(e, out, node->inputs[1], loop, is_bound);
    text_add(out, is_bound ? ", &sizes)" : ")");
}

/* Before the loop: whether 32 bits will do. */
static void emit_narrow_bounds(Emitter *e, uint32_t loop, const FlowNode *equation)
{
    bool *is_done = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    e->is_searching = true;
    emit_invariants(e, equation->inputs[0], loop, is_done);
    emit_invariants(e, equation->inputs[1], loop, is_done);
    e->is_searching = false;
    emit_line(e, "uint64_t sizes = 0;");
    for (uint32_t i = 0; i < 2; i++) {
        text_add_repeated(e->out, ' ', e->depth * C_INDENT);
        add_narrow(e, e->out, equation->inputs[i], loop, true);
        text_add(e->out, ";\n");
    }
    emit_line(e, "const bool is_narrow = sizes <= INT32_MAX;");
}

/* Registers of numbers one after the other: `at` of the stream whose values they have. */
static void declare_steps(Emitter *e, FlowOperand operand, uint32_t loop, bool *is_done, Text *steps)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (!emit_varies(e, operand))
        return;
    FlowNodeId id = e->network->streams.items[operand.stream].node;
    const FlowNode *node = &e->network->nodes.items[id];
    bool *is_node_done = &is_done[fuse_position_of(e->kernel, id)];
    if (emit_is_affine(e, operand, loop) && !*is_node_done) {
        text_add_repeated(e->out, ' ', e->depth * C_INDENT);
        text_addf(e->out, "KernelNarrow at%u = kernel_narrow_from((uint32_t)", operand.stream);
        emit_add_first_value(e, e->out, operand, loop);
        text_addf(e->out, " + (uint32_t)first%u);\n", loop);
        text_addf(steps, ", at%u += KERNEL_NARROW", operand.stream);
        *is_node_done = true;
    }
    for (uint32_t i = 0; !*is_node_done && i < node->input_count; i++)
        declare_steps(e, node->inputs[i], loop, is_done, steps);
}

/* A register at a time, unsigned. Whole ones are searched: a hit behind the end is only looked at in vain. */
static void emit_narrow_search(Emitter *e, uint32_t loop, const FlowNode *equation)
{
    Text steps;
    text_init(&steps, e->out->memory);
    bool *is_done = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    declare_steps(e, equation->inputs[0], loop, is_done, &steps);
    declare_steps(e, equation->inputs[1], loop, is_done, &steps);
    emit_line(e, "KernelNarrow hits = {0};");
    emit_line(e, "for (int64_t k%u = first%u; k%u < end%u; k%u += KERNEL_NARROW%s)", loop, loop, loop, loop, loop, text_string(&steps));
    text_free(&steps);
    text_add_repeated(e->out, ' ', (e->depth + 1) * C_INDENT);
    text_add(e->out, "hits |= (KernelNarrow)(");
    add_narrow(e, e->out, equation->inputs[0], loop, false);
    text_add(e->out, " == ");
    add_narrow(e, e->out, equation->inputs[1], loop, false);
    text_add(e->out, ");\n");
    emit_line(e, "found = kernel_narrow_any(hits);");
}

static void emit_wide_search(Emitter *e, uint32_t number, uint32_t filter)
{
    emit_line(e, "for (int64_t i%u = first%u; i%u < end%u; i%u++) {", number, number, number, number, number);
    emit_open_brace(e);
    e->is_searching = true;
    emit_all_values(e, number);
    e->is_searching = false;
    text_add_repeated(e->out, ' ', e->depth * C_INDENT);
    text_add(e->out, "found |= (OpFlag)(1");
    for (uint32_t scope = filter; scope != number; scope = e->kernel->scopes.items[scope].parent) {
        Word flag = emit_operand_text(e, (FlowOperand){.type = (LeafType)SCALAR_BOOL, .stream = e->kernel->scopes.items[scope].flags});
        text_addf(e->out, " & %s%s", e->kernel->scopes.items[scope].keep ? "" : "!", flag.text);
    }
    text_add(e->out, ");\n");
    emit_close_brace(e);
}

void emit_search(Emitter *e, uint32_t number, uint32_t filter)
{
    const FlowNode *narrow = narrow_equation(e, filter);
    emit_line(e, "{");
    emit_open_brace(e);
    if (narrow != NULL)
        emit_narrow_bounds(e, number, narrow);
    emit_line(e, "for (int64_t first%u = from%u; first%u < n%u; first%u += KERNEL_SEARCH) {", number, number, number, number, number);
    emit_open_brace(e);
    emit_poll_of_tiles(e, number, "first", "KERNEL_SEARCH");
    emit_line(e, "const int64_t end%u = n%u - first%u < KERNEL_SEARCH ? n%u : first%u + KERNEL_SEARCH;", number, number, number, number, number);
    emit_line(e, "OpFlag found = 0;");
    if (narrow != NULL) {
        emit_line(e, "if (is_narrow) {");
        emit_open_brace(e);
        emit_narrow_search(e, number, narrow);
        e->depth--;
        emit_line(e, "} else {");
        emit_open_brace(e);
    }
    emit_wide_search(e, number, filter);
    if (narrow != NULL)
        emit_close_brace(e);
    emit_line(e, "for (int64_t i%u = first%u; found != 0 && i%u < end%u; i%u++) {", number, number, number, number, number);
    emit_open_brace(e);
    emit_body(e, number);
    emit_close_brace(e);
    emit_close_brace(e);
    emit_close_brace(e);
}
