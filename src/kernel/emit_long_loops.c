#include "kernel/emit_internal.h"

/* Loops that calls share.
 * A long one is done in parts by several calls, which give what its reductions come to in each block; the call that gives the point's results is told what these come to together. If it has
 * scans there are other calls before: these only find what scans come to in each block, so that those that give elements know what comes before it. */

static const char *partial_type(const Emitter *e, const FlowNode *node)
{
    return member_is_ordered(node) ? emit_leaf_c_type(node->inputs[0].type) : emit_total_type(e, node);
}

/* Whether the reduction is a struct, and not a variable with its total. */
static bool has_struct(const Emitter *e, const FlowNode *node)
{
    return member_is_ordered(node) && (node->op == FLOW_SCAN || !emit_is_grouped(e, emit_scope_of(e, node)));
}

/* The cell of a reduction or a scan, of the block at hand. */
static Word block_cell(const Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word word;
    int number = emit_partial_of(e, id);
    snprintf(word.text, sizeof word.text, "((%s *)call->parts->totals[%d])[kernel_part_block(part%u)]", partial_type(e, node), number, e->kernel->partials.items[number].loop);
    return word;
}

static void give_scan(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word cell = block_cell(e, id, node);
    if (has_struct(e, node))
        emit_line(e, "%s = fold%u.local;", cell.text, id);
    else
        emit_line(e, "%s = total%u;", cell.text, id);
}

static void resume_scan(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (node->op != FLOW_SCAN)
        return;
    Word before = block_cell(e, id, node);
    if (has_struct(e, node))
        emit_line(e, "%s_resume(&fold%u, %s, kernel_part_block(part%u));", emit_fold_type(node).text, id, before.text, emit_scope_of(e, node));
    else
        emit_line(e, "total%u = %s;", id, before.text);
}

static bool has_scans(const Emitter *e, uint32_t loop)
{
    for (uint32_t i = 0; i < e->kernel->partials.count; i++)
        if (e->kernel->partials.items[i].loop == loop && e->network->nodes.items[e->kernel->partials.items[i].node].op == FLOW_SCAN)
            return true;
    return false;
}

/* ---- totals of several blocks at once ----
 * Additions of floats that wait for each other take three times as long as it takes to read the elements. */

static Word scan_type(const Emitter *e, const FlowNode *node)
{
    Word word = emit_fold_type(node);
    if (!has_struct(e, node))
        snprintf(word.text, sizeof word.text, "%s", emit_total_type(e, node));
    return word;
}

static const char *scan_name(const Emitter *e, const FlowNode *node)
{
    return has_struct(e, node) ? "fold" : "total";
}

static void declare_abreast(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_line(e, "%s abreast%u[KERNEL_ABREAST];", scan_type(e, node).text, id);
}

static void take_abreast(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_line(e, "%s %s%u = abreast%u[k];", scan_type(e, node).text, scan_name(e, node), id, id);
}

static void keep_abreast(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_line(e, "abreast%u[k] = %s%u;", id, scan_name(e, node), id);
}

/* Whether what scans need of a loop is little work, and some of them wait. */
static bool wants_abreast(const Emitter *e, uint32_t loop)
{
    const KernelScope *scope = &e->kernel->scopes.items[loop];
    bool waits = false;
    for (uint32_t i = 0; i < scope->body.count; i++) {
        KernelUnit unit = scope->body.items[i];
        if (emit_is_left_out(e, unit))
            continue;
        const FlowNode *node = unit.is_scope ? NULL : &e->network->nodes.items[unit.index];
        if (node == NULL || node->op == FLOW_SCALAR_CALL)
            return false;
        waits |= node->op == FLOW_SCAN && member_is_ordered(node);
    }
    return waits && e->usual == NULL;
}

static void emit_totals_abreast(Emitter *e, uint32_t loop)
{
    emit_line(e, "if (kernel_has_abreast(part%u)) {", loop);
    emit_open_brace(e);
    e->may_stop = true;
    emit_line(e, "if (kernel_is_over(call))");
    emit_line(e, "    goto stopped;");
    emit_each_reduction(e, loop, declare_abreast);
    emit_line(e, "for (int64_t k = 0; k < KERNEL_ABREAST; k++) {");
    emit_open_brace(e);
    emit_each_reduction(e, loop, emit_fold_start);
    emit_each_reduction(e, loop, keep_abreast);
    emit_close_brace(e);
    emit_line(e, "for (int64_t first%u = from%u; first%u < from%u + COMBINE_BLOCK; first%u++) {", loop, loop, loop, loop, loop);
    emit_open_brace(e);
    text_add(e->out, "#pragma GCC unroll 8\n");
    emit_line(e, "for (int64_t k = 0; k < KERNEL_ABREAST; k++) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t i%u = first%u + k * COMBINE_BLOCK;", loop, loop);
    emit_each_reduction(e, loop, take_abreast);
    emit_body(e, loop);
    emit_each_reduction(e, loop, keep_abreast);
    emit_close_brace(e);
    emit_close_brace(e);
    emit_line(e, "for (int64_t k = 0; k < KERNEL_ABREAST; k++) {");
    emit_open_brace(e);
    emit_line(e, "part%u.next += k > 0 ? COMBINE_BLOCK : 0;", loop);
    emit_each_reduction(e, loop, take_abreast);
    emit_each_reduction(e, loop, give_scan);
    emit_close_brace(e);
    emit_line(e, "continue;");
    emit_close_brace(e);
}

/* ---- what scans come to in the blocks of a part ---- */

/* By node of the kernel: what the scans of a loop take. */
static const bool *find_needed(const Emitter *e, uint32_t loop)
{
    bool *is_needed = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    for (uint32_t i = 0; i < e->kernel->partials.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->partials.items[i].node];
        if (e->kernel->partials.items[i].loop == loop && node->op == FLOW_SCAN)
            fuse_mark_needed(e->network, e->kernel, node->outputs[0], is_needed);
    }
    return is_needed;
}

static void emit_scan_totals(Emitter *e, uint32_t loop)
{
    emit_line(e, "if (has_parts && is_long%u && call->parts->scope == %u && call->parts->wants_totals) {", loop, loop);
    emit_open_brace(e);
    emit_line(e, "do {");
    emit_open_brace(e);
    bool *varying = e->varying; /* loops inside find their own */
    e->needed = find_needed(e, loop);
    if (wants_abreast(e, loop))
        emit_totals_abreast(e, loop);
    emit_each_reduction(e, loop, emit_fold_start);
    emit_all_turns(e, loop);
    emit_each_reduction(e, loop, give_scan);
    e->needed = NULL;
    e->varying = varying;
    e->depth--;
    emit_line(e, "} while (kernel_next_part_block(&part%u, &from%u, &n%u));", loop, loop, loop);
    emit_line(e, "goto parted;");
    emit_close_brace(e);
}

void emit_begin_sharing(Emitter *e, uint32_t loop, bool is_left_out_of_totals)
{
    const char *unless = is_left_out_of_totals ? "!wants_totals && " : "";
    const char *longer = emit_contains_loops(e, loop) ? " / KERNEL_LONGER_TURNS" : "";
    e->is_shared = true;
    emit_line(e, "KernelPart part%u = {0};", loop);
    emit_line(e, "const bool is_long%u = %sOP_RARELY(n%u >= call->long_loop%s);", loop, unless, loop, longer);
    emit_line(e, "if (is_long%u && !kernel_take_part(call->parts, has_parts, %u, &part%u, &from%u, &n%u)) {", loop, loop, loop, loop, loop);
    emit_line(e, "    *call->done = i;");
    emit_line(e, "    return KERNEL_LONG;");
    emit_line(e, "}");
    if (has_scans(e, loop))
        emit_scan_totals(e, loop);
    emit_line(e, "block%u:;", loop);
}

void emit_resume_scans(Emitter *e, uint32_t loop)
{
    if (!has_scans(e, loop))
        return;
    emit_line(e, "if (has_parts && is_long%u && call->parts->scope == %u) {", loop, loop);
    emit_open_brace(e);
    emit_each_reduction(e, loop, resume_scan);
    emit_close_brace(e);
}

static void give_partial(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (node->op == FLOW_SCAN)
        return;
    Word cell = block_cell(e, id, node);
    if (has_struct(e, node))
        emit_line(e, "%s = %s_result(&fold%u, 0);", cell.text, emit_fold_type(node).text, id);
    else
        emit_line(e, "%s = total%u;", cell.text, id);
}

static void take_partial(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    int number = emit_partial_of(e, id);
    if (node->op == FLOW_SCAN)
        return;
    if (has_struct(e, node))
        emit_line(e, "%s_set(&fold%u, *(const %s *)call->parts->totals[%d]);", emit_fold_type(node).text, id, partial_type(e, node), number);
    else
        emit_line(e, "total%u = *(const %s *)call->parts->totals[%d];", id, partial_type(e, node), number);
}

/* What calls for parts have given. */
static void take_given(Emitter *e, uint32_t loop)
{
    for (uint32_t scope = 1; scope < e->kernel->scopes.count; scope++)
        if (emit_gives_points(e, scope) && (e->kernel->scopes.items[scope].ancestors >> loop & 1) != 0)
            emit_line(e, "given%u += call->parts->given[%u];", scope, scope);
}

void emit_end_sharing(Emitter *e, uint32_t loop)
{
    emit_line(e, "if (has_parts && is_long%u) {", loop);
    emit_open_brace(e);
    emit_line(e, "if (call->parts->scope == %u) {", loop);
    emit_open_brace(e);
    emit_each_reduction(e, loop, give_partial);
    emit_line(e, "if (kernel_next_part_block(&part%u, &from%u, &n%u))", loop, loop, loop);
    emit_line(e, "    goto block%u;", loop);
    emit_line(e, "goto parted;");
    emit_close_brace(e);
    emit_each_reduction(e, loop, take_partial);
    take_given(e, loop);
    emit_close_brace(e);
}
