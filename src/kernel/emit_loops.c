#include "kernel/emit_internal.h"

/* ---- loops ---- */

static void add_tile(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (!emit_fills_tiles(e, node))
        return;
    emit_line(e, "if (n%u > FOLD_TILE)", emit_scope_of(e, node));
    emit_line(e, "    %s_add(&fold%u, length);", emit_fold_type(node).text, id);
    emit_line(e, "else");
    emit_line(e, "    fold%u.total = %s_all(&fold%u, length);", id, emit_fold_type(node).text, id);
}

static bool has_tiles(const Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        if (node->op == FLOW_FOLD && emit_scope_of(e, node) == scope && emit_fills_tiles(e, node) && !emit_is_left_out(e, (KernelUnit){.index = e->kernel->nodes.items[i]}))
            return true;
    }
    return false;
}

void emit_slice_starts(Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        if (node->op == FLOW_SLICES && emit_scope_of(e, node) == scope)
            emit_slice_start(e, id, node);
    }
}

void emit_loop_count(Emitter *e, uint32_t number)
{
    const KernelScope *scope = &e->kernel->scopes.items[number];
    const FlowNode *maker = &e->network->nodes.items[scope->makers.items[0]];
    emit_show_source(e, maker->span);
    emit_line(e, "int64_t n%u = %s;", number, emit_operand_text(e, maker->inputs[0]).text);
    for (uint32_t i = 1; i < scope->makers.count; i++) {
        Word other = emit_operand_text(e, e->network->nodes.items[scope->makers.items[i]].inputs[0]);
        emit_line(e, "failed |= n%u != %s;", number, other.text);
        emit_line(e, "n%u = n%u < %s ? n%u : %s;", number, number, other.text, number, other.text);
    }
}

static bool has_own_arrays(const Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        FlowOperand array = node->inputs == NULL ? (FlowOperand){0} : fuse_resolve(e->fusion, e->kernel, node->inputs[0]);
        if (node->op == FLOW_SLICES && emit_scope_of(e, node) == scope && !fuse_is_uniform(e->network, &array))
            return true;
    }
    return false;
}

bool emit_gives_points(const Emitter *e, uint32_t scope)
{
    return e->needed == NULL && (e->kernel->given >> scope & 1) != 0;
}

/* Whether several calls may do parts of it. */
static bool is_shared(const Emitter *e, uint32_t loop)
{
    return ((e->kernel->shared & ~e->linear.scopes) >> loop & 1) != 0; /* linear ones are not done at points, but before them */
}

/* Before a loop: there must be room for all that it may give, or the kernel stops before this point of its root. */
static void emit_room_check(Emitter *e, uint32_t loop)
{
    const KernelScope *scopes = e->kernel->scopes.items;
    for (uint32_t given = 1; given < e->kernel->scopes.count; given++) {
        uint32_t scope = given;
        while (scope != loop && scopes[scope].kind == SCOPE_IF)
            scope = scopes[scope].parent;
        if (scope != loop || (e->kernel->stored >> given & 1) == 0)
            continue;
        emit_line(e, "if (%sn%u > call->room - given%u)", is_shared(e, loop) ? "!has_parts && " : "", loop, given); /* parts have room, and then all others */
        emit_line(e, "    goto full;");
    }
}

/* ---- loops cut short ----
 * A filter that compares the index, plus what does not change in the loop, with what does not either, keeps the points from some one on, or up to it: the loop has only these. */

typedef struct Cut {
    bool is_below; /* the first points are kept, else the last ones */
    bool is_equal; /* ... that at the limit too */
    FlowOperand value, limit;
} Cut;

static bool find_cut(const Emitter *e, uint32_t loop, uint32_t filter, Cut *cut)
{
    const KernelScope *scope = &e->kernel->scopes.items[filter];
    const FlowNode *node = emit_maker_of(e, scope->flags);
    if (node->op != FLOW_OPERATION || node->scalar != SCALAR_I64)
        return false;
    bool is_less = node->core_op == OP_LESS || node->core_op == OP_LESS_EQUAL;
    if (!is_less && node->core_op != OP_GREATER && node->core_op != OP_GREATER_EQUAL)
        return false;
    bool is_equal = node->core_op == OP_LESS_EQUAL || node->core_op == OP_GREATER_EQUAL;
    bool is_left = emit_is_affine(e, node->inputs[0], loop);
    *cut = (Cut){.is_below = (is_less == is_left) == scope->keep,
                 .is_equal = is_equal == scope->keep,
                 .value = node->inputs[is_left ? 0 : 1],
                 .limit = node->inputs[is_left ? 1 : 0]};
    return emit_is_affine(e, cut->value, loop) && !emit_varies(e, cut->limit);
}

static void emit_cut(Emitter *e, uint32_t loop, const Cut *cut)
{
    emit_line(e, "{");
    emit_open_brace(e);
    bool *is_done = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    e->is_searching = true;
    emit_invariants(e, cut->value, loop, is_done);
    emit_invariants(e, cut->limit, loop, is_done);
    e->is_searching = false;
    text_add_repeated(e->out, ' ', e->depth * C_INDENT);
    text_addf(e->out, "kernel_cut_%s(&from%u, &n%u, ", cut->is_below ? "below" : "above", loop, loop);
    emit_add_first_value(e, e->out, cut->value, loop);
    text_addf(e->out, ", %s, %d);\n", emit_operand_text(e, cut->limit).text, cut->is_equal);
    emit_close_brace(e);
}

/* Whether nobody sees a loop's points but through the filters that it consists of. */
static bool is_only_filtered(const Emitter *e, uint32_t loop)
{
    return (e->kernel->given >> loop & 1) == 0;
}

static void emit_cuts(Emitter *e, uint32_t loop)
{
    uint32_t scope = loop, next = is_only_filtered(e, loop) ? emit_only_filter(e, loop) : KERNEL_NO_SCOPE;
    while (next != KERNEL_NO_SCOPE && next != scope) {
        Cut cut;
        if (find_cut(e, loop, next, &cut))
            emit_cut(e, loop, &cut);
        scope = next;
        next = emit_only_filter(e, scope);
    }
}

/* Whether what a loop gives is needed for the totals of scans. */
static bool do_scans_need(const Emitter *e, uint32_t loop)
{
    bool *is_needed = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    for (uint32_t i = 0; i < e->kernel->scans.count; i++)
        fuse_mark_needed(e->network, e->kernel, e->network->nodes.items[e->kernel->scans.items[i]].outputs[0], is_needed);
    return emit_any_needed(e, loop, is_needed);
}

/* Whether calls that are to give no more than totals leave the loop out. */
static bool is_left_out_of_totals(const Emitter *e, uint32_t number)
{
    return e->kernel->is_counted || (e->kernel->scans.count > 0 && !do_scans_need(e, number));
}

static void emit_only_counted(Emitter *e, uint32_t number)
{
    emit_line(e, "if (wants_totals) {");
    emit_open_brace(e);
    if (emit_gives_points(e, number))
        emit_line(e, "kernel_count(&given%u, n%u, &failed);", number, number);
    emit_line(e, "n%u = 0;", number);
    emit_close_brace(e);
}

/* ---- loops by groups ---- */

bool emit_any_needed(const Emitter *e, uint32_t scope, const bool *is_needed)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        uint32_t own = is_needed[i] ? emit_scope_of(e, &e->network->nodes.items[e->kernel->nodes.items[i]]) : KERNEL_NO_SCOPE;
        if (own != KERNEL_NO_SCOPE && (e->kernel->scopes.items[own].ancestors >> scope & 1) != 0)
            return true;
    }
    return false;
}

bool emit_any_inside(const Emitter *e, uint32_t scope, bool (*is_so)(const Emitter *, const FlowNode *))
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        uint32_t own = emit_scope_of(e, node);
        if (own != KERNEL_NO_SCOPE && (e->kernel->scopes.items[own].ancestors >> scope & 1) != 0 && is_so(e, node))
            return true;
    }
    return false;
}

static void begin_groups(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_line(e, "%sLanes lanes%u = %s_none();", emit_fold_type(node).text, id, emit_fold_type(node).text);
}

static void declare_group(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_line(e, "%s group%u[COMBINE_LANES];", c_type((ScalarType)node->inputs[0].type), id);
}

static void add_group(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_line(e, "lanes%u = %s_groups(lanes%u, group%u, 0, COMBINE_LANES);", id, emit_fold_type(node).text, id, id);
}

static void end_groups(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_line(e, "%s block%u = %s_halve(lanes%u);", c_type((ScalarType)node->inputs[0].type), id, emit_fold_type(node).text, id);
}

/* Of the points of the root, blocks are given one by one: calls have but some of them. */
static void add_block(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    int ordered = emit_index_of(&e->kernel->ordered, id);
    if (ordered >= 0)
        emit_line(e, "out%u[start0 / COMBINE_BLOCK] = block%u;", e->kernel->outputs.count + (uint32_t)ordered, id);
    else
        emit_line(e, "total%u = total%u %s block%u;", id, id, emit_fold_symbol(node), id);
}

static void each_sum(Emitter *e, uint32_t number, void (*emit)(Emitter *, FlowNodeId, const FlowNode *))
{
    const Kernel *kernel = e->kernel;
    if (number != KERNEL_ROOT)
        emit_each_reduction(e, number, emit);
    for (uint32_t i = 0; number == KERNEL_ROOT && i < kernel->ordered.count; i++)
        emit(e, kernel->ordered.items[i], &e->network->nodes.items[kernel->ordered.items[i]]);
}

static void emit_body_in_group(Emitter *e, uint32_t number, GroupStep step)
{
    e->group = step;
    if (number == KERNEL_ROOT)
        emit_inputs(e);
    emit_body(e, number);
    e->group = GROUP_NONE;
}

static void emit_group(Emitter *e, uint32_t number)
{
    bool fails = emit_any_inside(e, number, emit_can_fail);
    each_sum(e, number, declare_group);
    if (fails)
        emit_line(e, "OpFlag flags%u[COMBINE_LANES];", number);
    text_add(e->out, "#pragma GCC unroll 1\n"); /* else it is no loop any more when vectors are looked for */
    emit_line(e, "for (int64_t k%u = 0; k%u < COMBINE_LANES; k%u++) {", number, number, number);
    emit_open_brace(e);
    emit_line(e, "const int64_t %s = first%u + k%u;", emit_loop_index(e, number).text, number, number);
    if (fails)
        emit_line(e, "OpFlag failed = 0;");
    emit_body_in_group(e, number, GROUP_WHOLE);
    if (fails)
        emit_line(e, "flags%u[k%u] = failed;", number, number);
    emit_close_brace(e);
    each_sum(e, number, add_group);
    if (fails)
        emit_line(e, "kernel_add_flags(&failed_lanes, flags%u);", number);
    e->has_groups |= fails;
}

/* Before a group of the root's points: elements of one that comes after some others. In loops below, which are shorter, it takes longer than it gains. */
static void emit_ask_for_group(Emitter *e, const FarElements *far)
{
    emit_line(e, "if (is_far && n0 - first0 >= KERNEL_NEAR + COMBINE_LANES) {");
    emit_open_brace(e);
    emit_line(e, "const int64_t next = first0 + KERNEL_NEAR, next_end = next + COMBINE_LANES;");
    emit_ask_far(e, far, "next", "next_end");
    emit_ask_in_order(e, "next", "next_end");
    emit_close_brace(e);
}

void emit_loop_of_groups(Emitter *e, uint32_t number)
{
    Word index = emit_loop_index(e, number);
    FarElements far;
    bool is_far = number == KERNEL_ROOT && emit_find_far(e, &far);
    if (is_far)
        emit_test_of_far(e, &far);
    emit_line(e, "for (int64_t start%u = from%u; start%u < n%u; start%u += COMBINE_BLOCK) {", number, number, number, number, number);
    emit_open_brace(e);
    if (number != KERNEL_ROOT)
        emit_poll_of_tiles(e, number, "start", "COMBINE_BLOCK");
    emit_line(e, "const int64_t end%u = n%u - start%u < COMBINE_BLOCK ? n%u : start%u + COMBINE_BLOCK;", number, number, number, number, number);
    each_sum(e, number, begin_groups);
    emit_line(e, "int64_t first%u = start%u;", number, number);
    emit_line(e, "for (; end%u - first%u >= COMBINE_LANES; first%u += COMBINE_LANES) {", number, number, number);
    emit_open_brace(e);
    if (is_far)
        emit_ask_for_group(e, &far);
    emit_group(e, number);
    emit_close_brace(e);
    each_sum(e, number, end_groups);
    emit_line(e, "for (int64_t %s = first%u; %s < end%u; %s++) {", index.text, number, index.text, number, index.text);
    emit_open_brace(e);
    emit_line(e, "KERNEL_FEW_TURNS(%s);", index.text);
    emit_body_in_group(e, number, GROUP_REST);
    emit_close_brace(e);
    each_sum(e, number, add_block);
    emit_close_brace(e);
}

/* ---- stores within lines ----
 * A register that is stored across the end of a line of memory takes as long as two. Where a loop does nothing but compute and give an element at each turn, the turns that fill one register are followed by that whose element
 * begins a line, so that all others are stored within lines; a few are done twice. */

bool emit_is_repeatable(const Emitter *e, const FlowNode *node)
{
    switch (node->op) {
    case FLOW_OPERATION: return !op_text_needs_math(node->core_op, node->scalar, member_result_type(e->network, node));
    case FLOW_MERGE:
    case FLOW_PACK:
    case FLOW_FILTER:
    case FLOW_DISTRIBUTE:
    case FLOW_LOCAL_INDEX:
    case FLOW_RANGE:
    case FLOW_SLICES:
    case FLOW_INDEX:
    case FLOW_COLLECT: return true;
    default: return fuse_is_structure(node);
    }
}

/* The output with the largest elements that such a loop gives; false if it does something else too. */
static bool find_largest_given(const Emitter *e, uint32_t loop, uint32_t *largest)
{
    const Kernel *kernel = e->kernel;
    for (uint32_t i = 0; i < kernel->scopes.count; i++) {
        uint32_t rest = FLAT_OPERATIONS;
        if (i != loop && (kernel->scopes.items[i].ancestors >> loop & 1) != 0 && !emit_is_flat(e, i, &rest))
            return false;
    }
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[kernel->nodes.items[i]];
        uint32_t scope = emit_scope_of(e, node);
        if (scope != KERNEL_NO_SCOPE && (kernel->scopes.items[scope].ancestors >> loop & 1) != 0 && !emit_is_repeatable(e, node))
            return false;
    }
    size_t size = 0;
    for (uint32_t i = 0; i < emit_output_count(kernel); i++) {
        LeafType type;
        size_t own = emit_scope_of_output(e, i, &type) == loop ? leaf_size(type) : 0;
        if (own > size)
            *largest = i;
        size = own > size ? own : size;
    }
    return size > 0 && emit_gives_points(e, loop);
}

/* Of the loop's next turns, as many as are done until it looks whether it is to go on. */
static void emit_strip(Emitter *e, uint32_t number, bool is_within_lines, uint32_t given)
{
    emit_line(e, "for (int64_t first%u = from%u, end%u; first%u < n%u; first%u = end%u) {", number, number, number, number, number, number, number);
    emit_open_brace(e);
    emit_poll_of_tiles(e, number, "first", "KERNEL_STRIP");
    emit_line(e, "end%u = n%u - first%u < KERNEL_STRIP ? n%u : first%u + KERNEL_STRIP;", number, number, number, number, number);
    if (is_within_lines)
        emit_line(e, "const int64_t again%u = kernel_to_line(out%u + given%u, sizeof *out%u, first%u, &end%u);", number, given, number, given, number, number);
}

static void emit_turns(Emitter *e, uint32_t number)
{
    uint32_t given = 0;
    bool is_tiled = has_tiles(e, number), is_outer = emit_contains_loops(e, number);
    bool is_within_lines = !is_tiled && !is_outer && find_largest_given(e, number, &given);
    if (is_tiled) {
        emit_line(e, "for (int64_t first%u = from%u; first%u < n%u; first%u += FOLD_TILE) {", number, number, number, number, number);
        emit_open_brace(e);
        emit_poll_of_tiles(e, number, "first", "FOLD_TILE");
        emit_line(e, "const int64_t length = n%u - first%u < FOLD_TILE ? n%u - first%u : FOLD_TILE;", number, number, number, number);
        emit_line(e, "for (int64_t k%u = 0; k%u < length; k%u++) {", number, number, number);
        emit_open_brace(e);
        emit_line(e, "const int64_t i%u = first%u + k%u;", number, number, number);
    } else if (is_outer) {
        emit_line(e, "for (int64_t i%u = from%u; i%u < n%u; i%u++) {", number, number, number, number, number);
        emit_open_brace(e);
    } else {
        emit_strip(e, number, is_within_lines, given);
        emit_line(e, "for (int64_t i%u = first%u; i%u < end%u; i%u++) {", number, number, number, number, number);
        emit_open_brace(e);
    }
    if (is_outer)
        emit_poll_of_turns(e, number);
    emit_lanes(e, number);
    emit_body(e, number);
    if (emit_gives_points(e, number))
        emit_line(e, "given%u++;", number);
    emit_close_brace(e);
    if (is_tiled)
        emit_each_reduction(e, number, add_tile);
    if (is_within_lines) {
        emit_line(e, "end%u -= again%u;", number, number);
        emit_line(e, "given%u -= again%u;", number, number);
    }
    if (is_tiled || !is_outer)
        emit_close_brace(e);
}

/* ---- choices made before the loop ----
 * A filter without branches whose condition is known before the loop begins is the same at all its points: there are two loops, and in each of them the condition is a constant. */

/* The condition, of the loop's first filter of that kind; false if there is none. */
static bool find_choice(const Emitter *e, uint32_t loop, FlowOperand *choice)
{
    const KernelScope *scope = &e->kernel->scopes.items[loop];
    for (uint32_t i = 0; i < scope->body.count && !emit_contains_loops(e, loop); i++) {
        uint32_t filter = scope->body.items[i].index, rest = FLAT_OPERATIONS;
        if (!scope->body.items[i].is_scope || !emit_is_flat(e, filter, &rest))
            continue;
        *choice = fuse_resolve(e->fusion, e->kernel, (FlowOperand){.type = (LeafType)SCALAR_BOOL, .stream = e->kernel->scopes.items[filter].flags});
        uint32_t made_on = choice->is_constant ? loop : emit_scope_of_stream(e, choice->stream);
        if (made_on == KERNEL_NO_SCOPE || (e->kernel->scopes.items[made_on].ancestors >> loop & 1) == 0)
            return true;
    }
    return false;
}

static void emit_chosen(Emitter *e, uint32_t number, FlowOperand choice, bool value)
{
    emit_open_brace(e);
    emit_line(e, "const uint8_t %s = %d;", emit_operand_text(e, choice).text, value);
    emit_turns(e, number);
    e->depth--;
}

static void emit_choice(Emitter *e, uint32_t number, FlowOperand choice)
{
    emit_line(e, "if (%s) {", emit_operand_text(e, choice).text);
    emit_chosen(e, number, choice, true);
    emit_line(e, "} else {");
    emit_chosen(e, number, choice, false);
    emit_line(e, "}");
}

void emit_all_turns(Emitter *e, uint32_t number)
{
    FlowOperand choice;
    emit_declare_lanes(e, number);
    emit_tests_of_ends(e, number);
    if (emit_is_grouped(e, number))
        emit_loop_of_groups(e, number);
    else if (find_choice(e, number, &choice))
        emit_choice(e, number, choice);
    else
        emit_turns(e, number);
}

void emit_inner_loop(Emitter *e, uint32_t number)
{
    emit_loop_count(e, number);
    emit_slice_starts(e, number);
    if (has_own_arrays(e, number))
        emit_line(e, "n%u = failed ? 0 : n%u;", number, number);
    emit_line(e, "int64_t from%u = 0;", number);
    emit_find_varying(e, number);
    emit_cuts(e, number);
    if (is_left_out_of_totals(e, number))
        emit_only_counted(e, number);
    if (emit_may_be_full(e) && e->needed == NULL)
        emit_room_check(e, number);
    if (is_shared(e, number))
        emit_begin_sharing(e, number, is_left_out_of_totals(e, number));
    emit_each_reduction(e, number, emit_fold_start);
    if (is_shared(e, number))
        emit_resume_scans(e, number);
    uint32_t searched = emit_searched_filter(e, number);
    if (searched != KERNEL_NO_SCOPE)
        emit_search(e, number, searched);
    else
        emit_all_turns(e, number);
    if (is_shared(e, number))
        emit_end_sharing(e, number);
    emit_each_reduction(e, number, emit_fold_result);
}
