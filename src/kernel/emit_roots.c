#include "kernel/emit_internal.h"

/* Whether every point stores what it gives in its own place. Compilers do not believe pointers alone that elements which are read from anywhere are others than those that are written. */
static bool writes_apart(const Emitter *e)
{
    return e->kernel->scopes.count == KERNEL_ROOT + 1 && e->kernel->scatters.count == 0;
}

/* Indices of points count as wide as the values that are made of them. */
static void emit_points(Emitter *e, const char *from, const char *to)
{
    if (writes_apart(e))
        emit_line(e, "KERNEL_APART");
    if (e->narrow.is_narrow != NULL)
        emit_line(e, "for (int32_t i = (int32_t)%s; i < (int32_t)%s; i++) {", from, to);
    else
        emit_line(e, "for (int64_t i = %s; i < %s; i++) {", from, to);
    emit_open_brace(e);
    if (emit_may_be_full(e))
        emit_marks(e, MARK_SET);
    emit_lanes(e, KERNEL_ROOT);
    emit_inputs(e);
    emit_body(e, KERNEL_ROOT);
    emit_close_brace(e);
}

/* Where elements are taken from anywhere, points are done in parts, before each of which the elements of the next are asked for, in these points or behind them. */
void emit_root_loop(Emitter *e, const char *from, const char *to)
{
    FarElements far;
    if (!emit_find_far(e, &far)) {
        emit_points(e, from, to);
        return;
    }
    emit_line(e, "for (int64_t near = %s, near_end; near < %s; near = near_end) {", from, to);
    emit_open_brace(e);
    emit_test_of_far(e, &far);
    emit_line(e, "near_end = is_far && %s - near > KERNEL_NEAR ? near + KERNEL_NEAR : %s;", to, to);
    emit_line(e, "if (is_far) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t next_end = count - near_end < KERNEL_NEAR ? count : near_end + KERNEL_NEAR;");
    emit_ask_far(e, &far, "near_end", "next_end");
    emit_ask_in_order(e, "near", "near_end");
    emit_close_brace(e);
    emit_points(e, "near", "near_end");
    emit_close_brace(e);
}

/* ---- values that are linear in the index (linear.h) ----
 * Their loops are done at 0 and at powers of two; these give a table for the points of a block, which serves all blocks, each with its first value. */

void emit_linear_result(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_value(e, node->outputs[0], "base%u ^ linear%u[call->position + i - base]", id, id);
}

static void declare_linear(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    const char *type = emit_leaf_c_type(e->network->streams.items[node->outputs[0]].type);
    emit_line(e, "%s bits%u[KERNEL_INDEX_BITS + 1], linear%u[KERNEL_LINEAR], base%u = 0;", type, id, id, id);
}

/* What a bit of the index makes of a difference; the first is the value at 0, where blocks begin. */
static void store_linear_bit(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word value = emit_variable(e, node->outputs[0]);
    emit_line(e, "base%u = k == 0 ? %s : base%u;", id, value.text, id);
    emit_line(e, "bits%u[k] = %s ^ base%u;", id, value.text, id);
}

static void fill_linear_table(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    (void)node;
    emit_line(e, "KERNEL_LINEAR_TABLE(linear%u, bits%u, block);", id, id);
}

static void change_linear_base(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    (void)node;
    emit_line(e, "base%u ^= bits%u[kernel_lowest_bit(changed) + 1];", id, id);
}

static void each_linear(Emitter *e, void (*emit)(Emitter *, FlowNodeId, const FlowNode *))
{
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if ((e->linear.scopes >> i & 1) != 0)
            emit_each_reduction(e, i, emit);
}

static void emit_linear_bits(Emitter *e)
{
    emit_line(e, "const int64_t index_bits = kernel_linear_bits(call);");
    emit_line(e, "for (int64_t k = 0; k < index_bits; k++) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t i = (k == 0 ? 0 : INT64_C(1) << (k - 1)) - call->position;");
    e->is_searching = true;
    for (uint32_t i = 0; i < e->kernel->scopes.items[KERNEL_ROOT].body.count; i++) {
        KernelUnit unit = e->kernel->scopes.items[KERNEL_ROOT].body.items[i];
        if (unit.is_scope && (e->linear.scopes >> unit.index & 1) != 0)
            emit_inner_loop(e, unit.index);
        else if (!unit.is_scope && e->linear.is_needed[fuse_position_of(e->kernel, unit.index)])
            emit_node(e, unit.index);
    }
    e->is_searching = false;
    each_linear(e, store_linear_bit);
    emit_close_brace(e);
}

void emit_linear_blocks(Emitter *e)
{
    each_linear(e, declare_linear);
    emit_linear_bits(e);
    emit_line(e, "const int64_t block = kernel_linear_block(call);");
    each_linear(e, fill_linear_table);
    emit_line(e, "for (int64_t start = 0, end, before = 0; start < count; start = end) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t base = (call->position + start) & -block, rest = base + block - call->position;");
    emit_line(e, "for (int64_t changed = base ^ before; changed != 0; changed &= changed - 1) {");
    emit_open_brace(e);
    each_linear(e, change_linear_base);
    emit_close_brace(e);
    emit_line(e, "before = base;");
    emit_line(e, "end = rest < count ? rest : count;");
    emit_root_loop(e, "start", "end");
    emit_close_brace(e);
}

void emit_blocks(Emitter *e)
{
    const Kernel *kernel = e->kernel;
    if (emit_is_grouped(e, KERNEL_ROOT)) {
        emit_line(e, "const int64_t from0 = 0, n0 = count;");
        emit_loop_of_groups(e, KERNEL_ROOT);
        return;
    }
    emit_line(e, "for (int64_t block = 0; block < count; block += COMBINE_BLOCK) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t block_end = count - block < COMBINE_BLOCK ? count : block + COMBINE_BLOCK;");
    for (uint32_t i = 0; i < kernel->ordered.count; i++)
        emit_fold_start(e, kernel->ordered.items[i], &e->network->nodes.items[kernel->ordered.items[i]]);
    emit_line(e, "for (int64_t first = block; first < block_end; first += FOLD_TILE) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t end = block_end - first < FOLD_TILE ? block_end : first + FOLD_TILE;");
    emit_root_loop(e, "first", "end");
    for (uint32_t i = 0; i < kernel->ordered.count; i++)
        emit_line(e, "%s_add(&fold%u, end - first);", emit_fold_type(&e->network->nodes.items[kernel->ordered.items[i]]).text, kernel->ordered.items[i]);
    emit_close_brace(e);
    for (uint32_t i = 0; i < kernel->ordered.count; i++)
        emit_line(e, "out%u[block / COMBINE_BLOCK] = %s_result(&fold%u, 0);", kernel->outputs.count + i,
                  emit_fold_type(&e->network->nodes.items[kernel->ordered.items[i]]).text, kernel->ordered.items[i]);
    emit_close_brace(e);
}

/* ---- filters whose elements are packed several at a time ----
 * Elements and flags of some points are computed first, which vectorises; then what is kept is put together. */

bool emit_can_pack(const Emitter *e)
{
    const Kernel *kernel = e->kernel;
    bool is_any = false;
    for (uint32_t i = 1; i < kernel->scopes.count; i++) {
        const KernelScope *scope = &kernel->scopes.items[i];
        if (scope->kind != SCOPE_IF || (emit_gives_points(e, i) && (scope->parent != KERNEL_ROOT || !emit_is_merely_packed(e, scope))))
            return false;
    }
    for (uint32_t i = 0; i < emit_output_count(kernel); i++) {
        LeafType type;
        is_any |= emit_scope_of_output(e, i, &type) != KERNEL_ROOT;
        if (type == LEAF_ENDS)
            return false;
    }
    return is_any && !e->calls_functions && !emit_folds_blocks(e) && !kernel->has_loops;
}

/* Calls `emit` for each output on a filter. */
static void each_packed(Emitter *e, void (*emit)(Emitter *e, uint32_t output, uint32_t scope, LeafType type))
{
    for (uint32_t i = 0; i < emit_output_count(e->kernel); i++) {
        LeafType type;
        uint32_t scope = emit_scope_of_output(e, i, &type);
        if (scope != KERNEL_ROOT)
            emit(e, i, scope, type);
    }
}

static void declare_packed(Emitter *e, uint32_t output, uint32_t scope, LeafType type)
{
    (void)scope;
    emit_line(e, "%s pack%u[KERNEL_PACK];", emit_leaf_c_type(type), output);
}

static void emit_pack(Emitter *e, uint32_t output, uint32_t scope, LeafType type)
{
    emit_line(e, "%skernel_pack_%zu(out%u + given%u, pack%u, keep%u, end - first, call->room - given%u);",
              emit_has_two_passes(e->kernel) ? "if (!wants_totals) " : "", leaf_size(type), output, scope, output, scope, scope);
}

void emit_packed_loop(Emitter *e)
{
    emit_line(e, "for (int64_t first = 0; first < count; first += KERNEL_PACK) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t end = count - first < KERNEL_PACK ? count : first + KERNEL_PACK;");
    emit_ask_in_order(e, "first", "end");
    each_packed(e, declare_packed);
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if (emit_gives_points(e, i))
            emit_line(e, "uint8_t keep%u[KERNEL_PACK];", i);
    e->is_packing = true;
    emit_root_loop(e, "first", "end");
    e->is_packing = false;
    each_packed(e, emit_pack);
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if (emit_gives_points(e, i))
            emit_line(e, "given%u += kernel_count_kept(keep%u, end - first);", i, i);
    emit_close_brace(e);
}

/* ---- places that are progressions (strided.h) ----
 * They are found for some points of the root, from the places at the first two turns of the loop. */

static void emit_place(Emitter *e, int turn, FlowOperand place)
{
    emit_line(e, "{");
    emit_open_brace(e);
    emit_line(e, "const int64_t i1 = %d;", turn);
    const KernelScope *loop = &e->kernel->scopes.items[1];
    for (uint32_t i = 0; i < loop->body.count; i++)
        if (e->network->nodes.items[loop->body.items[i].index].op != FLOW_SCATTER)
            emit_node(e, loop->body.items[i].index);
    emit_line(e, "places[%d] = %s;", turn, emit_operand_text(e, place).text);
    emit_close_brace(e);
}

static void emit_progression(Emitter *e, const FlowNode *scatter)
{
    const KernelScope *root = &e->kernel->scopes.items[KERNEL_ROOT];
    for (uint32_t i = 0; i < root->body.count; i++)
        if (!root->body.items[i].is_scope)
            emit_node(e, root->body.items[i].index);
    emit_loop_count(e, 1);
    emit_line(e, "int64_t places[2];");
    emit_place(e, 0, scatter->inputs[SCATTER_INDEX]);
    emit_place(e, 1, scatter->inputs[SCATTER_INDEX]);
    emit_line(e, "kernel_add_progression(&progressions, places, n1, &failed);");
}

void emit_strided(Emitter *e)
{
    const FlowNode *scatter = &e->network->nodes.items[e->kernel->scatters.items[0].node];
    Word length = emit_operand_text(e, scatter->inputs[SCATTER_LENGTH]);
    e->may_stop = true;
    emit_line(e, "for (int64_t first = 0; first < count; first += KERNEL_PROGRESSIONS) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t end = count - first < KERNEL_PROGRESSIONS ? count : first + KERNEL_PROGRESSIONS;");
    emit_line(e, "KernelProgressions progressions;");
    emit_line(e, "kernel_start_progressions(&progressions, %s);", length.text);
    emit_line(e, "for (int64_t i = first; i < end; i++) {");
    emit_open_brace(e);
    emit_inputs(e);
    emit_progression(e, scatter);
    emit_close_brace(e);
    emit_line(e, "if (failed%s)", e->has_fast ? " | slow" : "");
    emit_line(e, "    break;");
    emit_line(e, "for (kernel_begin_blocks(&progressions, call); kernel_next_block(&progressions);) {");
    emit_open_brace(e);
    emit_line(e, "if (kernel_is_over(call))");
    emit_line(e, "    goto stopped;");
    for (uint32_t i = 0; i < e->kernel->scatters.count; i++) {
        const KernelSink *column = &e->kernel->scatters.items[i];
        emit_line(e, "KERNEL_REPLACE_BLOCK(out%u, %s, &progressions, %d);", emit_first_scatter(e->kernel) + i,
                  emit_canonical(column->operand.type, emit_operand_text(e, column->operand)).text, i + 1 == e->kernel->scatters.count);
    }
    emit_close_brace(e);
    emit_close_brace(e);
}
