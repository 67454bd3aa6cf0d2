#include "kernel/emit_internal.h"

#include <math.h>

/* ---- values ---- */

Word emit_canonical(LeafType type, Word value)
{
    bool is_float = type < (LeafType)SCALAR_COUNT && scalar_kind((ScalarType)type) == KIND_FLOATING;
    if (!is_float)
        return value;
    Word word;
    snprintf(word.text, sizeof word.text, "canonical_%s(%.60s)", type == (LeafType)SCALAR_F32 ? "F32" : "F64", value.text);
    return word;
}

const FlowNode *emit_maker_of(const Emitter *e, FlowStreamId stream)
{
    return &e->network->nodes.items[e->network->streams.items[stream].node];
}

/* What is stored of a value. One that was only loaded is as it was. */
static Word stored(const Emitter *e, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    const FlowNode *maker = operand.is_constant ? NULL : emit_maker_of(e, operand.stream);
    bool is_loaded = maker != NULL && (maker->op == FLOW_SLICES || maker->op == FLOW_GATHER);
    Word value = emit_operand_text(e, operand);
    return is_loaded ? value : emit_canonical(operand.type, value);
}

bool emit_has_two_passes(const Kernel *kernel)
{
    return kernel->scans.count > 0 || kernel->is_counted;
}

bool emit_may_be_full(const Emitter *e)
{
    return e->kernel->is_deep && !e->kernel->is_counted;
}

uint32_t emit_scope_of_output(const Emitter *e, uint32_t output, LeafType *type)
{
    const Kernel *kernel = e->kernel;
    if (output < kernel->outputs.count) {
        *type = e->network->streams.items[kernel->outputs.items[output]].type;
        return emit_scope_of_stream(e, kernel->outputs.items[output]);
    }
    output -= kernel->outputs.count;
    if (output < kernel->ordered.count) {
        *type = e->network->nodes.items[kernel->ordered.items[output]].inputs[0].type;
        return KERNEL_ROOT;
    }
    *type = kernel->sinks.items[output - kernel->ordered.count].operand.type;
    return kernel->sinks.items[output - kernel->ordered.count].scope;
}

uint32_t emit_output_count(const Kernel *kernel)
{
    return kernel->outputs.count + kernel->ordered.count + kernel->sinks.count;
}

void emit_store(Emitter *e, uint32_t output, uint32_t scope, Word value)
{
    if (e->needed != NULL)
        return;
    bool is_conditional = emit_has_two_passes(e->kernel) && (scope == KERNEL_ROOT || !e->is_packing);
    if (is_conditional)
        emit_line(e, "if (!wants_totals)");
    const char *indent = is_conditional ? "    " : "";
    if (scope == KERNEL_ROOT)
        emit_line(e, "%sout%u[i] = %s;", indent, output, value.text);
    else if (e->is_packing)
        emit_line(e, "pack%u[i - first] = %s;", output, value.text);
    else
        emit_line(e, "%sout%u[given%u] = %s;", indent, output, scope, value.text);
}

void emit_output(Emitter *e, FlowStreamId stream)
{
    int output = emit_index_of(&e->kernel->outputs, stream);
    if (output < 0 || e->is_searching || e->network->streams.items[stream].type == LEAF_ENDS)
        return;
    uint32_t scope = emit_scope_of_stream(e, stream);
    LeafType type = e->network->streams.items[stream].type;
    FlowOperand operand = {.type = type, .stream = stream};
    emit_store(e, (uint32_t)output, scope, stored(e, operand));
}

void emit_sinks(Emitter *e, FlowNodeId id)
{
    for (uint32_t i = 0; i < e->kernel->sinks.count && !e->is_searching; i++) {
        const KernelSink *sink = &e->kernel->sinks.items[i];
        if (sink->node == id)
            emit_store(e, e->kernel->outputs.count + e->kernel->ordered.count + i, sink->scope,
                       stored(e, sink->operand));
    }
}

void emit_scatter(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word place = emit_operand_text(e, node->inputs[SCATTER_INDEX]), length = emit_operand_text(e, node->inputs[SCATTER_LENGTH]);
    emit_line(e, "failed |= (uint64_t)%s >= (uint64_t)%s;", place.text, length.text);
    emit_line(e, "if ((failed%s%s) == 0) {", e->has_fast ? " | slow" : "", emit_has_two_passes(e->kernel) ? " | wants_totals" : "");
    emit_open_brace(e);
    for (uint32_t i = 0; i < e->kernel->scatters.count; i++) {
        const KernelSink *scatter = &e->kernel->scatters.items[i];
        if (scatter->node == id)
            emit_line(e, "KERNEL_REPLACE(out%u[%s], %s);", emit_first_scatter(e->kernel) + i, place.text,
                      emit_canonical(scatter->operand.type, emit_operand_text(e, scatter->operand)).text);
    }
    emit_close_brace(e);
}

void emit_ends(Emitter *e, uint32_t scope, uint32_t inside)
{
    for (uint32_t i = 0; i < e->kernel->outputs.count; i++) {
        FlowStreamId stream = e->kernel->outputs.items[i];
        if (e->network->streams.items[stream].type != LEAF_ENDS || emit_scope_of_stream(e, stream) != scope)
            continue;
        uint32_t of = fuse_scope_of_ends(e->network, e->kernel, stream);
        Word value;
        snprintf(value.text, sizeof value.text, "given%u", of);
        if ((e->kernel->scopes.items[of].ancestors >> inside & 1) != 0)
            emit_store(e, i, scope, value);
    }
}

bool emit_is_merged(const Emitter *e, FlowStreamId stream)
{
    uint32_t scope = emit_scope_of_stream(e, stream);
    if (scope == KERNEL_NO_SCOPE || e->kernel->scopes.items[scope].kind != SCOPE_IF)
        return false;
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        for (uint32_t k = 1; node->op == FLOW_MERGE && k < node->input_count; k++) {
            FlowOperand operand = fuse_resolve(e->fusion, e->kernel, node->inputs[k]);
            if (!operand.is_constant && operand.stream == stream && emit_scope_of(e, node) != scope)
                return true;
        }
    }
    return false;
}

/* `type name = `, or `name = ` where it is declared already. */
static void begin_value(Emitter *e, FlowStreamId stream)
{
    text_add_repeated(e->out, ' ', e->depth * C_INDENT);
    LeafType type = e->network->streams.items[stream].type;
    bool is_narrow = narrow_has(&e->narrow, (FlowOperand){.type = type, .stream = stream});
    if (!emit_is_merged(e, stream))
        text_addf(e->out, "const %s ", is_narrow ? "int32_t" : emit_leaf_c_type(type));
    text_addf(e->out, "%s = ", emit_variable(e, stream).text);
}

__attribute__((format(printf, 3, 4))) void emit_value(Emitter *e, FlowStreamId stream, const char *format, ...)
{
    begin_value(e, stream);
    va_list arguments;
    va_start(arguments, format);
    text_add_list(e->out, format, arguments);
    va_end(arguments);
    text_add(e->out, ";\n");
    emit_output(e, stream);
}

Word emit_flag_name(const Emitter *e, const char *name)
{
    Word word;
    if (e->flat == KERNEL_ROOT)
        snprintf(word.text, sizeof word.text, "&%s", name);
    else
        snprintf(word.text, sizeof word.text, "&%s%u", name, e->flat);
    return word;
}

/* ---- indices that step with the points of the root ----
 * Where one is the index of its point, plus or minus constants and uniforms, all are inside if the first and the last are, which is tested before the loop. */

bool emit_is_given_before(const Emitter *e, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    return operand.is_constant || fuse_is_uniform(e->network, &operand);
}

static bool steps_with_root(const Emitter *e, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (emit_is_given_before(e, operand) || emit_scope_of_stream(e, operand.stream) != KERNEL_ROOT)
        return false;
    const FlowNode *node = emit_maker_of(e, operand.stream);
    if (fuse_position_of(e->kernel, e->network->streams.items[operand.stream].node) < 0)
        return false;
    if (node->op == FLOW_RANGE || node->op == FLOW_LOCAL_INDEX)
        return true;
    if (node->op != FLOW_OPERATION || node->scalar != SCALAR_I64 || (node->core_op != OP_ADD && node->core_op != OP_SUBTRACT))
        return false;
    bool is_left = steps_with_root(e, node->inputs[0]) && emit_is_given_before(e, node->inputs[1]);
    return is_left || (node->core_op == OP_ADD && emit_is_given_before(e, node->inputs[0]) && steps_with_root(e, node->inputs[1]));
}

/* What such an index is at the first point. */
static void add_first_step(const Emitter *e, Text *out, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    const FlowNode *node = emit_is_given_before(e, operand) ? NULL : emit_maker_of(e, operand.stream);
    if (node == NULL)
        text_add(out, emit_operand_text(e, operand).text);
    else if (node->op != FLOW_OPERATION)
        text_add(out, "call->position");
    else {
        text_addf(out, "op_%s_I64(", node->core_op == OP_ADD ? "ADD" : "SUBTRACT");
        add_first_step(e, out, node->inputs[0]);
        text_add(out, ", ");
        add_first_step(e, out, node->inputs[1]);
        text_add_char(out, ')');
    }
}

/* ---- operations ---- */

/* What steps with the points: one addition to what it is at the first. */
static void emit_step(Emitter *e, FlowOperand operand)
{
    begin_value(e, operand.stream);
    text_add(e->out, "op_ADD_I64(");
    add_first_step(e, e->out, operand);
    text_add(e->out, ", i);\n");
    emit_output(e, operand.stream);
}

/* Whether it divides floats by a constant for which multiplications are faster, and give the same bits (preamble/divide.h). Powers of two are left to the C compiler. */
static bool divides_by_constant(const FlowNode *node)
{
    if (node->core_op != OP_DIVIDE || node->scalar != SCALAR_F64 || !node->inputs[1].is_constant)
        return false;
    double divisor = node->inputs[1].constant.f64;
    int exponent;
    return divisor >= 0x1p-50 && divisor <= 0x1p50 && frexp(divisor, &exponent) != 0.5;
}

bool emit_can_be_slow(const Emitter *e, const FlowNode *node)
{
    return e->has_fast && node->op == FLOW_OPERATION &&
           (divides_by_constant(node) || op_text_has_fast(node->core_op, node->scalar, member_result_type(e->network, node)));
}

void emit_operation(Emitter *e, const FlowNode *node)
{
    FlowOperand result = {.type = (LeafType)SCALAR_I64, .stream = node->outputs[0]};
    if (result.stream != 0 && e->narrow.is_narrow == NULL && steps_with_root(e, result)) {
        emit_step(e, result);
        return;
    }
    ScalarType target = member_result_type(e->network, node);
    Word words[OPERANDS_MAX];
    const char *arguments[OPERANDS_MAX];
    for (uint32_t i = 0; i < node->input_count && i < OPERANDS_MAX; i++) {
        words[i] = emit_operand_text(e, node->inputs[i]);
        arguments[i] = words[i].text;
    }
    bool is_wanted = node->outputs[0] != 0;
    bool is_narrow = is_wanted && narrow_has(&e->narrow, (FlowOperand){.type = (LeafType)target, .stream = node->outputs[0]});
    ScalarType scalar = is_narrow ? SCALAR_I32 : node->scalar;
    target = is_narrow ? SCALAR_I32 : target;
    bool divides = e->has_fast && divides_by_constant(node), has_fast = divides || (e->has_fast && op_text_has_fast(node->core_op, scalar, target));
    if (is_wanted)
        begin_value(e, node->outputs[0]);
    else {
        text_add_repeated(e->out, ' ', e->depth * C_INDENT);
        text_add(e->out, "(void)(");
    }
    if (has_fast)
        text_add(e->out, "is_exact ? ");
    Word failed = emit_flag_name(e, "failed"), slow = emit_is_usual(e, node) ? (Word){"&tested"} : emit_flag_name(e, "slow");
    op_text(e->out, node->core_op, scalar, target, arguments, failed.text);
    if (has_fast) {
        text_add(e->out, " : ");
        if (divides)
            text_addf(e->out, "kernel_divide_by_constant(%s, %s, %s)", arguments[0], arguments[1], slow.text);
        else
            op_text_fast(e->out, node->core_op, scalar, target, arguments, failed.text, slow.text);
    }
    text_add(e->out, is_wanted ? ";\n" : ");\n");
    if (is_wanted)
        emit_output(e, node->outputs[0]);
}

void emit_count(Emitter *e, const FlowNode *node)
{
    Word a = emit_operand_text(e, node->inputs[0]);
    if (node->core_op == OP_IOTA) {
        if (node->keep)
            emit_line(e, "failed |= %s < 0;", a.text);
        emit_value(e, node->outputs[0], "%s < 0 ? 0 : %s", a.text, a.text);
        return;
    }
    Word b = emit_operand_text(e, node->inputs[1]);
    if (node->core_op == OP_RANGE_INCLUSIVE) {
        emit_value(e, node->outputs[0], "kernel_distance_inclusive(%s, %s, &failed)", a.text, b.text);
        return;
    }
    Word step = emit_operand_text(e, node->inputs[2]);
    if (node->core_op == OP_NESL_RANGE && node->keep)
        emit_line(e, "failed |= (%s < %s) | (%s <= 0);", b.text, a.text, step.text);
    if (node->inputs[2].is_constant && node->inputs[2].constant.integer == 1)
        emit_value(e, node->outputs[0], "kernel_distance(%s, %s, &failed)", a.text, b.text);
    else if (node->core_op == OP_NESL_RANGE) /* in steps that go down there is nothing */
        emit_value(e, node->outputs[0], "%s <= 0 ? 0 : kernel_steps(%s, %s, %s, false, &failed)", step.text, a.text, b.text, step.text);
    else
        emit_value(e, node->outputs[0], "kernel_steps(%s, %s, %s, %s, &failed)", a.text, b.text, step.text, node->keep ? "true" : "false");
}

Word emit_counter(const Emitter *e, uint32_t scope)
{
    Word word;
    const char *of_root = e->narrow.is_narrow != NULL ? "((int32_t)call->position + i)" : "(call->position + i)";
    snprintf(word.text, sizeof word.text, scope == KERNEL_ROOT ? of_root : "i%u", scope);
    return word;
}

bool emit_contains_loops(const Emitter *e, uint32_t number)
{
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if (i != number && e->kernel->scopes.items[i].kind == SCOPE_LOOP && (e->kernel->scopes.items[i].ancestors >> number & 1) != 0)
            return true;
    return false;
}

/* A column in which one cell may stand for all: there is a factor for the index. Of columns that serve all points, numbers are written out; elsewhere only loops of
 * vectors would suffer from it. */
static bool has_stride(const Emitter *e, const FlowNode *node)
{
    if (e->network->streams.items[node->outputs[0]].type == LEAF_ARRAY)
        return true;
    FlowOperand array = fuse_resolve(e->fusion, e->kernel, node->inputs[0]);
    return !fuse_is_uniform(e->network, &array) && emit_contains_loops(e, emit_scope_of(e, node));
}

void emit_slices(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    uint32_t scope = emit_scope_of(e, node);
    Word index = {"i"}, stride = {""};
    if (scope != KERNEL_ROOT)
        index = emit_counter(e, scope);
    if (has_stride(e, node))
        snprintf(stride.text, sizeof stride.text, " * stride%u", id);
    emit_value(e, node->outputs[0], "slice%u[%s%s]", id, index.text, stride.text);
}

static void emit_strided_slice(Emitter *e, FlowNodeId id, const FlowNode *node, FlowOperand array)
{
    const char *type = emit_leaf_c_type(e->network->streams.items[node->outputs[0]].type);
    Word start = emit_operand_text(e, node->inputs[1]), vector = emit_operand_text(e, array);
    const char *position = emit_scope_of(e, node) == KERNEL_ROOT ? " + call->position" : "";
    if (fuse_is_uniform(e->network, &array)) {
        uint32_t column = emit_column_of(e, array.stream, node->leaf);
        emit_line(e, "const int64_t stride%u = call->strides[%u];", id, column);
        emit_line(e, "%s const *const slice%u = column%u + (%s%s) * stride%u;", type, id, column, start.text, position, id);
    } else {
        emit_line(e, "const int64_t stride%u = kernel_place(%s, %u, 1);", id, vector.text, node->leaf);
        emit_line(e, "%s const *const slice%u = (%s const *)kernel_cells(%s, %u) + (%s%s) * stride%u;", type, id, type, vector.text, node->leaf,
                  start.text, position, id);
    }
}

void emit_slice_start(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    const char *type = emit_leaf_c_type(e->network->streams.items[node->outputs[0]].type);
    FlowOperand array = fuse_resolve(e->fusion, e->kernel, node->inputs[0]);
    if (has_stride(e, node)) {
        emit_strided_slice(e, id, node, array);
        return;
    }
    Word start = emit_operand_text(e, node->inputs[1]);
    const char *position = emit_scope_of(e, node) == KERNEL_ROOT ? " + call->position" : "";
    if (fuse_is_uniform(e->network, &array))
        emit_line(e, "%s const *const restrict slice%u = column%u + %s%s;", type, id, emit_column_of(e, array.stream, node->leaf), start.text,
                  position);
    else
        emit_line(e, "%s const *const restrict slice%u = (%s const *)kernel_column(%s, %u, &failed) + %s%s;", type, id, type,
                  emit_operand_text(e, array).text, node->leaf, start.text, position);
}

/* Whether an index is inside, as a variable beside the index itself. */
static Word inside_flag(const Emitter *e, FlowStreamId index)
{
    Word word;
    snprintf(word.text, sizeof word.text, "inside_%.80s", emit_variable(e, index).text);
    return word;
}
static bool is_tested_before(const Emitter *e, const FlowNode *node)
{
    return node->op == FLOW_INDEX && emit_scope_of(e, node) == KERNEL_ROOT && steps_with_root(e, node->inputs[0]) &&
           emit_is_given_before(e, node->inputs[1]) && emit_is_given_before(e, node->inputs[2]);
}

void emit_tests_before(Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        if (!is_tested_before(e, node))
            continue;
        text_add_repeated(e->out, ' ', e->depth * C_INDENT);
        text_add(e->out, "if (!kernel_are_inside(");
        add_first_step(e, e->out, node->inputs[0]);
        text_addf(e->out, ", count, %s))\n", emit_operand_text(e, node->inputs[2]).text);
        emit_line(e, "    return KERNEL_FAILED;");
    }
}

void emit_index(Emitter *e, const FlowNode *node)
{
    Word index = emit_operand_text(e, node->inputs[0]), start = emit_operand_text(e, node->inputs[1]), length = emit_operand_text(e, node->inputs[2]);
    if (is_tested_before(e, node)) {
        /* not +: mixed with operations that wrap, it hides from gcc that places step by one */
        emit_value(e, node->outputs[0], "op_ADD_I64(%s, %s)", start.text, index.text);
        return;
    }
    Word inside = inside_flag(e, node->outputs[0]);
    emit_line(e, "const bool %s = kernel_is_inside(%s, %s, &failed);", inside.text, index.text, length.text);
    emit_value(e, node->outputs[0], "%s ? %s + %s : 0", inside.text, start.text, index.text);
}

/* An element of a column that serves all points. */
static void emit_gather_from(Emitter *e, const FlowNode *node, uint32_t column)
{
    FlowOperand index = fuse_resolve(e->fusion, e->kernel, node->inputs[1]);
    const FlowNode *maker = index.is_constant ? NULL : emit_maker_of(e, index.stream);
    Word at = emit_operand_text(e, index);
    if (e->kernel->columns.items[column].type == LEAF_ARRAY)
        emit_value(e, node->outputs[0], "column%u[%s * call->strides[%u]]", column, at.text, column);
    else if (maker != NULL && maker->op == FLOW_INDEX && !is_tested_before(e, maker))
        emit_value(e, node->outputs[0], "KERNEL_ELEMENT(%s, column%u, %s)", inside_flag(e, index.stream).text, column, at.text);
    else
        emit_value(e, node->outputs[0], "column%u[%s]", column, at.text);
}

void emit_gather(Emitter *e, const FlowNode *node)
{
    FlowOperand array = fuse_resolve(e->fusion, e->kernel, node->inputs[0]);
    if (fuse_is_uniform(e->network, &array)) {
        emit_gather_from(e, node, emit_column_of(e, array.stream, node->leaf));
        return;
    }
    const char *type = emit_leaf_c_type(e->network->streams.items[node->outputs[0]].type);
    Word vector = emit_operand_text(e, array), index = emit_operand_text(e, node->inputs[1]);
    emit_value(e, node->outputs[0], "((%s const *)kernel_cells(%s, %u))[kernel_place(%s, %u, %s)]", type, vector.text, node->leaf, vector.text,
               node->leaf, index.text);
}

void emit_merge(Emitter *e, const FlowNode *node)
{
    Word selector = emit_operand_text(e, node->inputs[0]), no = emit_operand_text(e, node->inputs[1]), yes = emit_operand_text(e, node->inputs[2]);
    emit_value(e, node->outputs[0], "%s ? %s : %s", selector.text, yes.text, no.text);
}
