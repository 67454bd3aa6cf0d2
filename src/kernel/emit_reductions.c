#include "kernel/emit_internal.h"

/* ---- reductions ---- */

Word emit_fold_type(const FlowNode *node)
{
    Word word;
    snprintf(word.text, sizeof word.text, "%s%s_%s", node->op == FLOW_SCAN ? "Scan" : "Fold",
             member_scan_operator(node) == OP_SUM ? "SUM" : "PRODUCT",
             node->inputs[0].type == (LeafType)SCALAR_F32 ? "F32" : "F64");
    return word;
}

const char *emit_fold_symbol(const FlowNode *node)
{
    return member_scan_operator(node) == OP_SUM ? "+" : "*";
}

bool emit_fills_tiles(const Emitter *e, const FlowNode *node)
{
    if (node->op != FLOW_FOLD || !member_is_ordered(node) || fuse_is_total(e->network, node))
        return false;
    return fuse_is_along_loop(e->network, e->kernel, node);
}

static Scalar identity_of(const FlowNode *node, ScalarType type)
{
    switch ((int)member_scan_operator(node)) {
    case OP_PRODUCT: return scalar_of_int(type, 1);
    case OP_MAX_VAL: return scalar_least(type);
    case OP_MIN_VAL: return scalar_greatest(type);
    case OP_ALL: return scalar_all_ones(type);
    default: return scalar_of_int(type, 0);
    }
}

static const char *unsigned_type(ScalarType type)
{
    switch (leaf_size((LeafType)type)) {
    case 1: return "uint8_t";
    case 2: return "uint16_t";
    case 4: return "uint32_t";
    default: return "uint64_t";
    }
}

static bool is_sum_of_integers(const FlowNode *node)
{
    return member_scan_operator(node) == OP_SUM || member_scan_operator(node) == OP_PRODUCT;
}

const char *emit_total_type(const Emitter *e, const FlowNode *node)
{
    LeafType result = e->network->streams.items[node->outputs[0]].type;
    if ((node->op != FLOW_FOLD && node->op != FLOW_SCAN) || node->core_op == OP_COUNT_TRUE)
        return "int64_t";
    return is_sum_of_integers(node) ? unsigned_type((ScalarType)result) : emit_leaf_c_type(result);
}

Word emit_condition_of(const Emitter *e, uint32_t filter)
{
    const KernelScope *scope = &e->kernel->scopes.items[filter];
    Word word, flag = emit_operand_text(e, (FlowOperand){.type = (LeafType)SCALAR_BOOL, .stream = scope->flags});
    snprintf(word.text, sizeof word.text, "%s%.90s", scope->keep ? "" : "!", flag.text);
    return word;
}

/* An element of an exact reduction; of a point that is computed in vain, what makes no difference. */
static Word element_text(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word value = emit_operand_text(e, node->inputs[0]), word;
    if (e->flat == KERNEL_ROOT)
        return value;
    ScalarType type = (ScalarType)node->inputs[0].type;
    Word nothing = emit_constant_word(e, type, identity_of(node, type));
    emit_line(e, "const %s element%u = is_kept%u ? %s : %s;", c_type(type), id, e->flat, value.text, nothing.text);
    snprintf(word.text, sizeof word.text, "element%u", id);
    return word;
}

static void emit_fold_step(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word value = element_text(e, id, node);
    const char *type = emit_total_type(e, node);
    bool is_float = scalar_kind((ScalarType)node->inputs[0].type) == KIND_FLOATING;
    const char *suffix = node->inputs[0].type == (LeafType)SCALAR_F32 ? "F32" : "F64";
    switch ((int)member_scan_operator(node)) {
    case OP_SUM: emit_line(e, "total%u += (%s)%s;", id, type, value.text); break;
    case OP_PRODUCT: emit_line(e, "total%u = (%s)(1u * total%u * (%s)%s);", id, type, id, type, value.text); break;
    case OP_COUNT_TRUE: emit_line(e, "total%u += %s;", id, value.text); break;
    case OP_ANY: emit_line(e, "total%u |= %s;", id, value.text); break;
    case OP_ALL: emit_line(e, "total%u &= %s;", id, value.text); break;
    case OP_PARITY: emit_line(e, "total%u ^= %s;", id, value.text); break;
    case OP_MAX_VAL:
        if (is_float)
            emit_line(e, "total%u = float_maximum_%s(total%u, %s);", id, suffix, id, value.text);
        else
            emit_line(e, "total%u = %s > total%u ? %s : total%u;", id, value.text, id, value.text, id);
        break;
    case OP_MIN_VAL:
        if (is_float)
            emit_line(e, "total%u = float_minimum_%s(total%u, %s);", id, suffix, id, value.text);
        else
            emit_line(e, "total%u = %s < total%u ? %s : total%u;", id, value.text, id, value.text, id);
        break;
    }
}

bool emit_folds_blocks(const Emitter *e)
{
    return e->kernel->ordered.count > 0 && !e->kernel->has_loops;
}

void emit_element(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (node->op != FLOW_FOLD && e->flat == KERNEL_ROOT) {
        emit_line(e, "total%u++;", id);
        return;
    }
    if (node->op != FLOW_FOLD) {
        emit_line(e, "total%u += is_kept%u;", id, e->flat);
        return;
    }
    if (!member_is_ordered(node)) {
        emit_fold_step(e, id, node);
        return;
    }
    Word value = emit_operand_text(e, node->inputs[0]);
    int ordered = emit_index_of(&e->kernel->ordered, id);
    if (e->group == GROUP_WHOLE)
        emit_line(e, "group%u[k%u] = %s;", id, emit_scope_of(e, node), value.text);
    else if (e->group == GROUP_REST)
        emit_line(e, "block%u = block%u %s %s;", id, id, emit_fold_symbol(node), value.text);
    else if (ordered >= 0 && emit_folds_blocks(e))
        emit_line(e, "fold%u.tile[i - first] = %s;", id, value.text);
    else if (ordered >= 0)
        emit_store(e, e->kernel->outputs.count + (uint32_t)ordered, KERNEL_ROOT, emit_canonical(node->inputs[0].type, value));
    else if (emit_fills_tiles(e, node))
        emit_line(e, "fold%u.tile[k%u] = %s;", id, emit_scope_of(e, node), value.text);
    else
        emit_line(e, "%s_push(&fold%u, %s);", emit_fold_type(node).text, id, value.text);
}

int emit_partial_of(const Emitter *e, FlowNodeId id)
{
    for (uint32_t i = 0; i < e->kernel->partials.count; i++)
        if (e->kernel->partials.items[i].node == id)
            return (int)i;
    return -1;
}

/* One more element of a scan of which only the total is wanted. */
static void emit_scan_step(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (member_is_ordered(node))
        emit_line(e, "%s_push(&fold%u, %s);", emit_fold_type(node).text, id, emit_operand_text(e, node->inputs[0]).text);
    else
        emit_fold_step(e, id, node);
}

void emit_scan(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    FlowStreamId stream = node->outputs[0];
    if (e->needed != NULL && emit_partial_of(e, id) >= 0) {
        emit_scan_step(e, id, node);
        return;
    }
    if (member_is_ordered(node)) {
        ScalarType type = (ScalarType)node->inputs[0].type;
        emit_value(e, stream, "%s_next(&fold%u, %s, %s, %s)", emit_fold_type(node).text, id, emit_operand_text(e, node->inputs[0]).text,
                   member_is_inclusive(node) ? "true" : "false", emit_constant_word(e, type, identity_of(node, type)).text);
        return;
    }
    const char *type = emit_leaf_c_type(e->network->streams.items[stream].type);
    if (member_is_inclusive(node)) {
        emit_fold_step(e, id, node);
        emit_value(e, stream, "(%s)total%u", type, id);
    } else {
        emit_value(e, stream, "(%s)total%u", type, id);
        emit_fold_step(e, id, node);
    }
}

bool emit_can_fail(const Emitter *e, const FlowNode *node)
{
    return node->op == FLOW_INDEX ||
           (node->op == FLOW_OPERATION && op_text_can_fail(node->core_op, node->scalar, member_result_type(e->network, node)));
}

/* Whether a node in a loop of groups may be there: it is little work, and leaves nothing for the next point. */
static bool is_fit_for_groups(const Emitter *e, const FlowNode *node)
{
    ScalarType target;
    switch (node->op) {
    case FLOW_OPERATION:
        target = member_result_type(e->network, node);
        return !op_text_needs_math(node->core_op, node->scalar, target) && !emit_can_be_slow(e, node);
    case FLOW_FOLD: return emit_fills_tiles(e, node) || emit_scope_of(e, node) == KERNEL_ROOT;
    case FLOW_RANGE:
    case FLOW_LOCAL_INDEX:
    case FLOW_SAME_LENGTHS:
    case FLOW_SLICES:
    case FLOW_INDEX:
    case FLOW_GATHER:
    case FLOW_DISTRIBUTE: return true;
    default: return fuse_is_structure(node);
    }
}

/* Whether nothing else is made of the root's points. */
static bool only_folds_blocks(const Emitter *e)
{
    const Kernel *kernel = e->kernel;
    return emit_folds_blocks(e) &&
           kernel->outputs.count + kernel->sinks.count + kernel->totals.count + kernel->scans.count + kernel->scatters.count == 0;
}

bool emit_is_grouped(const Emitter *e, uint32_t number)
{
    enum { NODES_MAX = 24 };
    const KernelScope *scope = &e->kernel->scopes.items[number];
    bool has_sums = false;
    for (uint32_t i = 0; i < scope->body.count; i++) {
        const FlowNode *node = scope->body.items[i].is_scope ? NULL : &e->network->nodes.items[scope->body.items[i].index];
        if (node == NULL || !is_fit_for_groups(e, node))
            return false;
        has_sums |= node->op == FLOW_FOLD;
    }
    bool is_only_summed = number == KERNEL_ROOT ? only_folds_blocks(e) : scope->kind == SCOPE_LOOP && (e->kernel->given >> number & 1) == 0;
    return has_sums && is_only_summed && scope->body.count <= NODES_MAX;
}

void emit_fold_start(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (emit_fills_tiles(e, node) && emit_is_grouped(e, emit_scope_of(e, node))) {
        emit_line(e, "%s total%u = %s_identity();", emit_leaf_c_type(node->inputs[0].type), id, emit_fold_type(node).text);
        return;
    }
    if (member_is_ordered(node)) {
        emit_line(e, "%s fold%u;", emit_fold_type(node).text, id);
        if (emit_fills_tiles(e, node))
            emit_line(e, "if (n%u > FOLD_TILE)", emit_scope_of(e, node));
        emit_line(e, "%s%s_start(&fold%u);", emit_fills_tiles(e, node) ? "    " : "", emit_fold_type(node).text, id);
        return;
    }
    ScalarType result = (ScalarType)e->network->streams.items[node->outputs[0]].type;
    Word identity = (node->op == FLOW_FOLD || node->op == FLOW_SCAN) && node->core_op != OP_COUNT_TRUE ? emit_constant_word(e, result, identity_of(node, result))
                                                                            : (Word){"0"};
    const char *type = emit_total_type(e, node);
    emit_line(e, "%s total%u = (%s)%s;", type, id, type, identity.text);
}

void emit_fold_result(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (node->op == FLOW_SCAN)
        return;
    FlowStreamId stream = node->outputs[0];
    const char *type = emit_leaf_c_type(e->network->streams.items[stream].type);
    if (member_is_ordered(node)) {
        ScalarType scalar = (ScalarType)node->inputs[0].type;
        Word empty = emit_constant_word(e, scalar, identity_of(node, scalar));
        uint32_t loop = emit_scope_of(e, node);
        if (emit_fills_tiles(e, node) && emit_is_grouped(e, loop))
            emit_value(e, stream, "n%u > 0 ? total%u : %s", loop, id, empty.text);
        else if (emit_fills_tiles(e, node))
            emit_value(e, stream, "n%u > FOLD_TILE ? %s_result(&fold%u, %s) : n%u > 0 ? fold%u.total : %s", loop, emit_fold_type(node).text, id,
                       empty.text, loop, id, empty.text);
        else
            emit_value(e, stream, "%s_result(&fold%u, %s)", emit_fold_type(node).text, id, empty.text);
    } else if (node->op == FLOW_EMPTY)
        emit_value(e, stream, "total%u == 0", id);
    else
        emit_value(e, stream, "(%s)total%u", type, id);
}

void emit_each_reduction(Emitter *e, uint32_t scope, void (*emit)(Emitter *, FlowNodeId, const FlowNode *))
{
    const KernelScope *scopes = e->kernel->scopes.items;
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        bool is_scan = node->op == FLOW_SCAN && !fuse_goes_on(e->network, node);
        if (emit_is_left_out(e, (KernelUnit){.index = id}))
            continue;
        if ((!fuse_is_reduction(node) || fuse_is_total(e->network, node)) && !is_scan)
            continue;
        uint32_t to = fuse_parent_scope(e->network, e->kernel, node), from = emit_scope_of(e, node);
        if (scopes[scope].parent == to && (scopes[from].ancestors >> scope & 1) != 0)
            emit(e, id, node);
    }
}
