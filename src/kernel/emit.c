#include "kernel/emit.h"

#include "kernel/c_text.h"
#include "kernel/linear.h"
#include "kernel/members.h"
#include "kernel/narrow.h"
#include "kernel/op_text.h"
#include "kernel/preamble.h"
#include "math/scalar.h"

#include <stdio.h>

enum {
    OPERAND_SIZE = 96,
    OPERANDS_MAX = 8,
    FLAT_OPERATIONS = 24, /* of filters without branches: more are done at fewer points */
};

/* A loop of groups (below) is written twice: for whole groups, and for the few elements after the last. */
typedef enum GroupStep { GROUP_NONE, GROUP_WHOLE, GROUP_REST } GroupStep;

typedef struct Emitter {
    const EmitContext *context;
    const Fusion *fusion;
    const FlowNetwork *network;
    const Kernel *kernel;
    Text *out;
    uint32_t depth;  /* of braces */
    uint32_t line;   /* of the source, that was shown last */
    bool has_fast;   /* two versions, of which one is for most operands */
    bool calls_functions;
    bool is_shared;    /* some loop can be shared by calls */
    bool may_stop;     /* some loop looks whether it is to go on */
    bool is_searching; /* values are computed ahead of the points they are for, and nothing is given */
    uint32_t flat;     /* the innermost filter around that is computed whatever its condition; KERNEL_ROOT for none */
    GroupStep group;   /* in the loop that is being written */
    bool has_groups;   /* that can fail */
    bool is_packing;   /* what filters keep is first put aside */
    bool *varying;     /* in the loop that is being written: by node of the kernel, whether it differs between points */
    LinearLoops linear; /* whose results come from a table */
    Narrow narrow;      /* values that are 32 bits wide in the version that is being written */
} Emitter;

/* ---- lines ---- */

__attribute__((format(printf, 2, 3))) static void line(Emitter *e, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    c_line(e->out, e->depth, format, arguments);
    va_end(arguments);
}

static void open_brace(Emitter *e)
{
    e->depth++;
}

static void close_brace(Emitter *e)
{
    e->depth--;
    line(e, "}");
}

static void show_source(Emitter *e, Span span)
{
    c_source(e->out, e->depth, e->context->sources, span, &e->line);
}

/* ---- names and types ---- */

typedef struct Word {
    char text[OPERAND_SIZE];
} Word;

static const char *leaf_c_type(LeafType type)
{
    if (type == LEAF_ENDS)
        return "int64_t";
    return type == LEAF_ARRAY ? "KernelArrayRef" : c_type((ScalarType)type);
}

/* A variable for a stream: its name in the source, as far as C allows, and its number. */
static Word variable(const Emitter *e, FlowStreamId stream)
{
    Word word;
    char letters[C_NAME_MAX + 1] = "";
    Name name = e->network->streams.items[stream].name;
    bool is_named = name != 0 && e->context->names != NULL && c_name(names_text(e->context->names, name), letters) > 0;
    snprintf(word.text, sizeof word.text, "%s%s%u", letters, is_named ? "_" : "v", stream);
    return word;
}

static Word operand_text(const Emitter *e, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (!operand.is_constant)
        return variable(e, operand.stream);
    Text text;
    text_init(&text, e->out->memory);
    constant_text(&text, (ScalarType)operand.type, operand.constant);
    Word word;
    snprintf(word.text, sizeof word.text, "%s", text_string(&text));
    text_free(&text);
    return word;
}

static Word constant_word(const Emitter *e, ScalarType type, Scalar value)
{
    return operand_text(e, (FlowOperand){.type = (LeafType)type, .is_constant = true, .constant = value});
}

static uint32_t scope_of(const Emitter *e, const FlowNode *node)
{
    return fuse_scope_of_node(e->network, e->kernel, node);
}

static uint32_t scope_of_stream(const Emitter *e, FlowStreamId stream)
{
    return fuse_scope_of_stream(e->network, e->kernel, stream);
}

static int index_of(const void *list, FlowStreamId stream)
{
    const VEC(FlowStreamId) *streams = list;
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->items[i] == stream)
            return (int)i;
    return -1;
}

/* ---- what a kernel is given ---- */

static uint32_t column_of(const Emitter *e, FlowStreamId array, uint32_t leaf)
{
    for (uint32_t i = 0; i < e->kernel->columns.count; i++)
        if (e->kernel->columns.items[i].array == array && e->kernel->columns.items[i].leaf == leaf)
            return i;
    return UINT32_MAX;
}

static uint32_t first_scatter(const Kernel *kernel)
{
    return kernel->outputs.count + kernel->ordered.count + kernel->sinks.count;
}

static void emit_parameters(Emitter *e)
{
    const Kernel *kernel = e->kernel;
    for (uint32_t i = 0; i < kernel->uniforms.count; i++) {
        FlowStreamId stream = kernel->uniforms.items[i];
        const char *type = leaf_c_type(e->network->streams.items[stream].type);
        line(e, "const %s %s = *(const %s *)call->uniforms[%u];", type, variable(e, stream).text, type, i);
    }
    for (uint32_t i = 0; i < kernel->columns.count; i++) {
        const char *type = leaf_c_type(kernel->columns.items[i].type);
        line(e, "%s const *const restrict column%u = call->columns[%u];", type, i, i);
    }
    for (uint32_t i = 0; i < kernel->streams.count; i++) {
        const char *type = leaf_c_type(e->network->streams.items[kernel->streams.items[i]].type);
        line(e, "%s const *const restrict in%u = call->streams[%u];", type, i, i);
    }
    for (uint32_t i = 0; i < kernel->outputs.count; i++)
        line(e, "%s *const restrict out%u = call->outputs[%u];",
             leaf_c_type(e->network->streams.items[kernel->outputs.items[i]].type), i, i);
    for (uint32_t i = 0; i < kernel->ordered.count; i++) {
        const FlowNode *node = &e->network->nodes.items[kernel->ordered.items[i]];
        uint32_t number = kernel->outputs.count + i;
        line(e, "%s *const restrict out%u = call->outputs[%u];", leaf_c_type(node->inputs[0].type), number, number);
    }
    for (uint32_t i = 0; i < kernel->sinks.count; i++) {
        uint32_t number = kernel->outputs.count + kernel->ordered.count + i;
        line(e, "%s *const restrict out%u = call->outputs[%u];", leaf_c_type(kernel->sinks.items[i].operand.type), number, number);
    }
    for (uint32_t i = 0; i < kernel->scatters.count; i++) {
        uint32_t number = first_scatter(kernel) + i;
        line(e, "%s *const restrict out%u = call->outputs[%u];", leaf_c_type(kernel->scatters.items[i].operand.type), number, number);
    }
}

/* ---- values ---- */

static Word canonical(LeafType type, Word value)
{
    bool is_float = type < (LeafType)SCALAR_COUNT && scalar_kind((ScalarType)type) == KIND_FLOATING;
    if (!is_float)
        return value;
    Word word;
    snprintf(word.text, sizeof word.text, "canonical_%s(%.60s)", type == (LeafType)SCALAR_F32 ? "F32" : "F64", value.text);
    return word;
}

static const FlowNode *maker_of(const Emitter *e, FlowStreamId stream)
{
    return &e->network->nodes.items[e->network->streams.items[stream].node];
}

/* What is stored of a value. One that was only loaded is as it was. */
static Word stored(const Emitter *e, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    const FlowNode *maker = operand.is_constant ? NULL : maker_of(e, operand.stream);
    bool is_loaded = maker != NULL && (maker->op == FLOW_SLICES || maker->op == FLOW_GATHER);
    Word value = operand_text(e, operand);
    return is_loaded ? value : canonical(operand.type, value);
}

/* It may be called for totals, of scans or of what it will give, before it is called to give it. */
static bool has_two_passes(const Kernel *kernel)
{
    return kernel->scans.count > 0 || kernel->is_counted;
}

/* Nobody knows beforehand how much it gives, so there may be no room for it. */
static bool may_be_full(const Emitter *e)
{
    return e->kernel->is_deep && !e->kernel->is_counted;
}

static void emit_store(Emitter *e, uint32_t output, uint32_t scope, Word value)
{
    bool is_conditional = has_two_passes(e->kernel) && (scope == KERNEL_ROOT || !e->is_packing);
    if (is_conditional)
        line(e, "if (!wants_totals)");
    const char *indent = is_conditional ? "    " : "";
    if (scope == KERNEL_ROOT)
        line(e, "%sout%u[i] = %s;", indent, output, value.text);
    else if (e->is_packing)
        line(e, "pack%u[i - first] = %s;", output, value.text);
    else
        line(e, "%sout%u[given%u] = %s;", indent, output, scope, value.text);
}

/* Gives an output of a node to others. */
static void emit_output(Emitter *e, FlowStreamId stream)
{
    int output = index_of(&e->kernel->outputs, stream);
    if (output < 0 || e->is_searching || e->network->streams.items[stream].type == LEAF_ENDS)
        return;
    uint32_t scope = scope_of_stream(e, stream);
    LeafType type = e->network->streams.items[stream].type;
    FlowOperand operand = {.type = type, .stream = stream};
    emit_store(e, (uint32_t)output, scope, stored(e, operand));
}

/* The last elements of vectors that are made. */
static void emit_sinks(Emitter *e, FlowNodeId id)
{
    for (uint32_t i = 0; i < e->kernel->sinks.count && !e->is_searching; i++) {
        const KernelSink *sink = &e->kernel->sinks.items[i];
        if (sink->node == id)
            emit_store(e, e->kernel->outputs.count + e->kernel->ordered.count + i, sink->scope,
                       stored(e, sink->operand));
    }
}

/* Elements are replaced only as long as all is well: what follows a failure may have come to a wrong place, and what is replaced stays so. */
static void emit_scatter(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word place = operand_text(e, node->inputs[SCATTER_INDEX]), length = operand_text(e, node->inputs[SCATTER_LENGTH]);
    line(e, "failed |= (uint64_t)%s >= (uint64_t)%s;", place.text, length.text);
    line(e, "if ((failed%s%s) == 0) {", e->has_fast ? " | slow" : "", has_two_passes(e->kernel) ? " | wants_totals" : "");
    open_brace(e);
    for (uint32_t i = 0; i < e->kernel->scatters.count; i++) {
        const KernelSink *scatter = &e->kernel->scatters.items[i];
        if (scatter->node == id)
            line(e, "KERNEL_REPLACE(out%u[%s], %s);", first_scatter(e->kernel) + i, place.text,
                 canonical(scatter->operand.type, operand_text(e, scatter->operand)).text);
    }
    close_brace(e);
}

/* After a scope inside `scope`: where the points end that others see, of it and of scopes inside. */
static void emit_ends(Emitter *e, uint32_t scope, uint32_t inside)
{
    for (uint32_t i = 0; i < e->kernel->outputs.count; i++) {
        FlowStreamId stream = e->kernel->outputs.items[i];
        if (e->network->streams.items[stream].type != LEAF_ENDS || scope_of_stream(e, stream) != scope)
            continue;
        uint32_t of = fuse_scope_of_ends(e->network, e->kernel, stream);
        Word value;
        snprintf(value.text, sizeof value.text, "given%u", of);
        if ((e->kernel->scopes.items[of].ancestors >> inside & 1) != 0)
            emit_store(e, i, scope, value);
    }
}

/* A MERGE outside of the filter it is on reads it: it is declared out there. */
static bool is_merged(const Emitter *e, FlowStreamId stream)
{
    uint32_t scope = scope_of_stream(e, stream);
    if (scope == KERNEL_NO_SCOPE || e->kernel->scopes.items[scope].kind != SCOPE_IF)
        return false;
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        for (uint32_t k = 1; node->op == FLOW_MERGE && k < node->input_count; k++) {
            FlowOperand operand = fuse_resolve(e->fusion, e->kernel, node->inputs[k]);
            if (!operand.is_constant && operand.stream == stream && scope_of(e, node) != scope)
                return true;
        }
    }
    return false;
}

/* A choice of values of which some are on filters. */
static bool has_merged(const Emitter *e, const FlowNode *merge)
{
    for (uint32_t i = 0; i < merge->input_count; i++) {
        FlowOperand operand = fuse_resolve(e->fusion, e->kernel, merge->inputs[i]);
        if (!operand.is_constant && is_merged(e, operand.stream))
            return true;
    }
    return false;
}

/* `type name = `, or `name = ` where it is declared already. */
static void begin_value(Emitter *e, FlowStreamId stream)
{
    text_add_repeated(e->out, ' ', e->depth * C_INDENT);
    LeafType type = e->network->streams.items[stream].type;
    bool is_narrow = narrow_has(&e->narrow, (FlowOperand){.type = type, .stream = stream});
    if (!is_merged(e, stream))
        text_addf(e->out, "const %s ", is_narrow ? "int32_t" : leaf_c_type(type));
    text_addf(e->out, "%s = ", variable(e, stream).text);
}

__attribute__((format(printf, 3, 4))) static void emit_value(Emitter *e, FlowStreamId stream, const char *format, ...)
{
    begin_value(e, stream);
    va_list arguments;
    va_start(arguments, format);
    text_add_list(e->out, format, arguments);
    va_end(arguments);
    text_add(e->out, ";\n");
    emit_output(e, stream);
}

/* `failed` or `slow`; of what is computed in vain, another one. */
static Word flag_name(const Emitter *e, const char *name)
{
    Word word;
    if (e->flat == KERNEL_ROOT)
        snprintf(word.text, sizeof word.text, "&%s", name);
    else
        snprintf(word.text, sizeof word.text, "&%s%u", name, e->flat);
    return word;
}

static void emit_operation(Emitter *e, const FlowNode *node)
{
    ScalarType target = member_result_type(e->network, node);
    Word words[OPERANDS_MAX];
    const char *arguments[OPERANDS_MAX];
    for (uint32_t i = 0; i < node->input_count && i < OPERANDS_MAX; i++) {
        words[i] = operand_text(e, node->inputs[i]);
        arguments[i] = words[i].text;
    }
    bool is_wanted = node->outputs[0] != 0;
    bool is_narrow = is_wanted && narrow_has(&e->narrow, (FlowOperand){.type = (LeafType)target, .stream = node->outputs[0]});
    ScalarType scalar = is_narrow ? SCALAR_I32 : node->scalar;
    target = is_narrow ? SCALAR_I32 : target;
    bool has_fast = e->has_fast && op_text_has_fast(node->core_op, scalar, target);
    if (is_wanted)
        begin_value(e, node->outputs[0]);
    else {
        text_add_repeated(e->out, ' ', e->depth * C_INDENT);
        text_add(e->out, "(void)(");
    }
    if (has_fast)
        text_add(e->out, "is_exact ? ");
    Word failed = flag_name(e, "failed"), slow = flag_name(e, "slow");
    op_text(e->out, node->core_op, scalar, target, arguments, failed.text);
    if (has_fast) {
        text_add(e->out, " : ");
        op_text_fast(e->out, node->core_op, scalar, target, arguments, failed.text, slow.text);
    }
    text_add(e->out, is_wanted ? ";\n" : ");\n");
    if (is_wanted)
        emit_output(e, node->outputs[0]);
}

static void emit_count(Emitter *e, const FlowNode *node)
{
    Word a = operand_text(e, node->inputs[0]);
    if (node->core_op == OP_IOTA) {
        if (node->keep)
            line(e, "failed |= %s < 0;", a.text);
        emit_value(e, node->outputs[0], "%s < 0 ? 0 : %s", a.text, a.text);
        return;
    }
    Word b = operand_text(e, node->inputs[1]);
    if (node->core_op == OP_RANGE_INCLUSIVE) {
        emit_value(e, node->outputs[0], "kernel_distance_inclusive(%s, %s, &failed)", a.text, b.text);
        return;
    }
    Word step = operand_text(e, node->inputs[2]);
    if (node->core_op == OP_NESL_RANGE && node->keep)
        line(e, "failed |= (%s < %s) | (%s <= 0);", b.text, a.text, step.text);
    if (node->inputs[2].is_constant && node->inputs[2].constant.integer == 1)
        emit_value(e, node->outputs[0], "kernel_distance(%s, %s, &failed)", a.text, b.text);
    else if (node->core_op == OP_NESL_RANGE) /* in steps that go down there is nothing */
        emit_value(e, node->outputs[0], "%s <= 0 ? 0 : kernel_steps(%s, %s, %s, false, &failed)", step.text, a.text, b.text, step.text);
    else
        emit_value(e, node->outputs[0], "kernel_steps(%s, %s, %s, %s, &failed)", a.text, b.text, step.text, node->keep ? "true" : "false");
}

/* The variable that counts a scope's points within their parent. */
static Word counter(const Emitter *e, uint32_t scope)
{
    Word word;
    const char *of_root = e->narrow.is_narrow != NULL ? "((int32_t)call->position + i)" : "(call->position + i)";
    snprintf(word.text, sizeof word.text, scope == KERNEL_ROOT ? of_root : "i%u", scope);
    return word;
}

static bool contains_loops(const Emitter *e, uint32_t number)
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
    return !fuse_is_uniform(e->network, &array) && contains_loops(e, scope_of(e, node));
}

static void emit_slices(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    uint32_t scope = scope_of(e, node);
    Word index = {"i"}, stride = {""};
    if (scope != KERNEL_ROOT)
        index = counter(e, scope);
    if (has_stride(e, node))
        snprintf(stride.text, sizeof stride.text, " * stride%u", id);
    emit_value(e, node->outputs[0], "slice%u[%s%s]", id, index.text, stride.text);
}

static void emit_strided_slice(Emitter *e, FlowNodeId id, const FlowNode *node, FlowOperand array)
{
    const char *type = leaf_c_type(e->network->streams.items[node->outputs[0]].type);
    Word start = operand_text(e, node->inputs[1]), vector = operand_text(e, array);
    const char *position = scope_of(e, node) == KERNEL_ROOT ? " + call->position" : "";
    if (fuse_is_uniform(e->network, &array)) {
        uint32_t column = column_of(e, array.stream, node->leaf);
        line(e, "const int64_t stride%u = call->strides[%u];", id, column);
        line(e, "%s const *const slice%u = column%u + (%s%s) * stride%u;", type, id, column, start.text, position, id);
    } else {
        line(e, "const int64_t stride%u = kernel_place(%s, %u, 1);", id, vector.text, node->leaf);
        line(e, "%s const *const slice%u = (%s const *)kernel_cells(%s, %u) + (%s%s) * stride%u;", type, id, type, vector.text, node->leaf,
             start.text, position, id);
    }
}

/* The elements that a loop goes over: their place does not change in it. */
static void emit_slice_start(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    const char *type = leaf_c_type(e->network->streams.items[node->outputs[0]].type);
    FlowOperand array = fuse_resolve(e->fusion, e->kernel, node->inputs[0]);
    if (has_stride(e, node)) {
        emit_strided_slice(e, id, node, array);
        return;
    }
    Word start = operand_text(e, node->inputs[1]);
    const char *position = scope_of(e, node) == KERNEL_ROOT ? " + call->position" : "";
    if (fuse_is_uniform(e->network, &array))
        line(e, "%s const *const restrict slice%u = column%u + %s%s;", type, id, column_of(e, array.stream, node->leaf), start.text,
             position);
    else
        line(e, "%s const *const restrict slice%u = (%s const *)kernel_column(%s, %u, &failed) + %s%s;", type, id, type,
             operand_text(e, array).text, node->leaf, start.text, position);
}

/* Whether an index is inside, as a variable beside the index itself. */
static Word inside_flag(const Emitter *e, FlowStreamId index)
{
    Word word;
    snprintf(word.text, sizeof word.text, "inside_%.80s", variable(e, index).text);
    return word;
}

/* ---- indices that step with the points of the root ----
 * Where one is the index of its point, plus or minus constants and uniforms, all are inside if the first and the last are, which is tested before the loop. */

static bool is_given_before(const Emitter *e, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    return operand.is_constant || fuse_is_uniform(e->network, &operand);
}

static bool steps_with_root(const Emitter *e, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (is_given_before(e, operand) || scope_of_stream(e, operand.stream) != KERNEL_ROOT)
        return false;
    const FlowNode *node = maker_of(e, operand.stream);
    if (index_of(&e->kernel->nodes, e->network->streams.items[operand.stream].node) < 0)
        return false;
    if (node->op == FLOW_RANGE || node->op == FLOW_LOCAL_INDEX)
        return true;
    if (node->op != FLOW_OPERATION || node->scalar != SCALAR_I64 || (node->core_op != OP_ADD && node->core_op != OP_SUBTRACT))
        return false;
    bool is_left = steps_with_root(e, node->inputs[0]) && is_given_before(e, node->inputs[1]);
    return is_left || (node->core_op == OP_ADD && is_given_before(e, node->inputs[0]) && steps_with_root(e, node->inputs[1]));
}

static bool is_tested_before(const Emitter *e, const FlowNode *node)
{
    return node->op == FLOW_INDEX && scope_of(e, node) == KERNEL_ROOT && steps_with_root(e, node->inputs[0]) &&
           is_given_before(e, node->inputs[1]) && is_given_before(e, node->inputs[2]);
}

/* What such an index is at the first point. */
static void add_first_step(const Emitter *e, Text *out, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    const FlowNode *node = is_given_before(e, operand) ? NULL : maker_of(e, operand.stream);
    if (node == NULL)
        text_add(out, operand_text(e, operand).text);
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

static void emit_tests_before(Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        if (!is_tested_before(e, node))
            continue;
        text_add_repeated(e->out, ' ', e->depth * C_INDENT);
        text_add(e->out, "if (!kernel_are_inside(");
        add_first_step(e, e->out, node->inputs[0]);
        text_addf(e->out, ", count, %s))\n", operand_text(e, node->inputs[2]).text);
        line(e, "    return KERNEL_FAILED;");
    }
}

static void emit_index(Emitter *e, const FlowNode *node)
{
    Word index = operand_text(e, node->inputs[0]), start = operand_text(e, node->inputs[1]), length = operand_text(e, node->inputs[2]);
    if (is_tested_before(e, node)) {
        emit_value(e, node->outputs[0], "%s + %s", start.text, index.text);
        return;
    }
    Word inside = inside_flag(e, node->outputs[0]);
    line(e, "const bool %s = kernel_is_inside(%s, %s, &failed);", inside.text, index.text, length.text);
    emit_value(e, node->outputs[0], "%s ? %s + %s : 0", inside.text, start.text, index.text);
}

/* An element of a column that serves all points. */
static void emit_gather_from(Emitter *e, const FlowNode *node, uint32_t column)
{
    FlowOperand index = fuse_resolve(e->fusion, e->kernel, node->inputs[1]);
    const FlowNode *maker = index.is_constant ? NULL : maker_of(e, index.stream);
    Word at = operand_text(e, index);
    if (e->kernel->columns.items[column].type == LEAF_ARRAY)
        emit_value(e, node->outputs[0], "column%u[%s * call->strides[%u]]", column, at.text, column);
    else if (maker != NULL && maker->op == FLOW_INDEX && !is_tested_before(e, maker))
        emit_value(e, node->outputs[0], "KERNEL_ELEMENT(%s, column%u, %s)", inside_flag(e, index.stream).text, column, at.text);
    else
        emit_value(e, node->outputs[0], "column%u[%s]", column, at.text);
}

static void emit_gather(Emitter *e, const FlowNode *node)
{
    FlowOperand array = fuse_resolve(e->fusion, e->kernel, node->inputs[0]);
    if (fuse_is_uniform(e->network, &array)) {
        emit_gather_from(e, node, column_of(e, array.stream, node->leaf));
        return;
    }
    const char *type = leaf_c_type(e->network->streams.items[node->outputs[0]].type);
    Word vector = operand_text(e, array), index = operand_text(e, node->inputs[1]);
    emit_value(e, node->outputs[0], "((%s const *)kernel_cells(%s, %u))[kernel_place(%s, %u, %s)]", type, vector.text, node->leaf, vector.text,
               node->leaf, index.text);
}

static void emit_merge(Emitter *e, const FlowNode *node)
{
    Word selector = operand_text(e, node->inputs[0]), no = operand_text(e, node->inputs[1]), yes = operand_text(e, node->inputs[2]);
    emit_value(e, node->outputs[0], "%s ? %s : %s", selector.text, yes.text, no.text);
}

/* ---- calls of functions ----
 *
 * Where a function has lanes and its arguments are known early, those of several points are computed in advance, and the function is called for all of them:
 *
 *     for (int64_t i = 0; i < count; i++) {
 *         if ((i & (KERNEL_LANES - 1)) == 0) {
 *             for (int64_t lane = 0, first = i; lane < lanes; lane++) {
 *                 const int64_t i = first + lane;
 *                 ... what the arguments need; compilers remove it below, unless somebody else needs it too
 *             }
 *             call
 *         }
 *         ... with the results of point i
 *     } */

/* How the loop around the points of a scope counts them, and how many there are. */
static Word loop_index(const Emitter *e, uint32_t scope)
{
    return scope == KERNEL_ROOT ? (Word){"i"} : counter(e, scope);
}

static Word loop_end(uint32_t scope)
{
    Word word;
    snprintf(word.text, sizeof word.text, scope == KERNEL_ROOT ? "count" : "n%u", scope);
    return word;
}

static bool can_be_ahead(const Emitter *e, FlowOperand operand, uint32_t scope, bool *is_needed);

/* What is computed of a point's own values. */
static bool is_simple(const Emitter *e, const FlowNode *node)
{
    switch (node->op) {
    case FLOW_OPERATION:
    case FLOW_RANGE:
    case FLOW_LOCAL_INDEX:
    case FLOW_SLICES:
    case FLOW_INDEX:
    case FLOW_GATHER: return true;
    case FLOW_MERGE: return !has_merged(e, node);
    default: return false;
    }
}

static bool inputs_can_be_ahead(const Emitter *e, const FlowNode *node, uint32_t scope, bool *is_needed)
{
    for (uint32_t i = 0; i < fuse_value_inputs(node); i++)
        if (!fuse_is_driver(node, i) && !can_be_ahead(e, node->inputs[i], scope, is_needed))
            return false;
    return true;
}

/* Whether a value can be computed for later points of a scope. Marks the nodes that it takes, by position in the kernel. */
static bool can_be_ahead(const Emitter *e, FlowOperand operand, uint32_t scope, bool *is_needed)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (operand.is_constant || fuse_is_uniform(e->network, &operand) || scope_of_stream(e, operand.stream) != scope)
        return true;
    FlowNodeId maker = e->network->streams.items[operand.stream].node;
    int position = index_of(&e->kernel->nodes, maker);
    if (position < 0 || is_needed[position])
        return true;
    is_needed[position] = true;
    const FlowNode *node = &e->network->nodes.items[maker];
    return is_simple(e, node) && inputs_can_be_ahead(e, node, scope, is_needed);
}

/* The nodes that the arguments of a call take; null if these are not known early. */
static const bool *needed_nodes(const Emitter *e, const FlowNode *call)
{
    bool *is_needed = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    return inputs_can_be_ahead(e, call, scope_of(e, call), is_needed) ? is_needed : NULL;
}

static bool has_lanes(const Emitter *e, const FlowNode *node)
{
    return node->op == FLOW_SCALAR_CALL && e->kernel->scopes.items[scope_of(e, node)].kind != SCOPE_IF &&
           function_text_has_lanes(e->context->functions, node->function) && needed_nodes(e, node) != NULL;
}

/* Room for results, before the loop. */
static void declare_lanes(Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        if (scope_of(e, node) != scope || !has_lanes(e, node))
            continue;
        const Layout *results = function_text_results(e->context->functions, node->function);
        for (uint32_t k = 0; k < results->count; k++)
            line(e, "%s lanes%u_%u[KERNEL_LANES];", leaf_c_type(results->leaves[k].type), id, k);
    }
}

static void emit_node(Emitter *e, FlowNodeId id);
static void emit_inputs(Emitter *e);

static void emit_lane_arguments(Emitter *e, uint32_t scope, const FlowNode *node)
{
    const bool *is_needed = needed_nodes(e, node);
    Word index = loop_index(e, scope);
    line(e, "for (int64_t lane = 0, first = %s; lane < lanes; lane++) {", index.text);
    open_brace(e);
    line(e, "const int64_t %s = first + lane;", index.text);
    if (scope == KERNEL_ROOT)
        emit_inputs(e);
    e->is_searching = true;
    for (uint32_t i = 0; i < e->kernel->scopes.items[scope].body.count; i++) {
        KernelUnit unit = e->kernel->scopes.items[scope].body.items[i];
        if (!unit.is_scope && is_needed[index_of(&e->kernel->nodes, unit.index)])
            emit_node(e, unit.index);
    }
    e->is_searching = false;
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!fuse_is_driver(node, i))
            line(e, "argument%u[lane] = %s;", i, operand_text(e, node->inputs[i]).text);
    close_brace(e);
}

static void emit_lane_call(Emitter *e, uint32_t scope, FlowNodeId id, const FlowNode *node)
{
    Text call;
    text_init(&call, e->out->memory);
    function_text_name(e->context->functions, node->function, &call);
    text_add(&call, "_lanes(lanes, ");
    Word index = loop_index(e, scope), end = loop_end(scope);
    show_source(e, node->span);
    line(e, "if ((%s & (KERNEL_LANES - 1)) == 0) {", index.text);
    open_brace(e);
    line(e, "const int64_t lanes = %s - %s < KERNEL_LANES ? %s - %s : KERNEL_LANES;", end.text, index.text, end.text, index.text);
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!fuse_is_driver(node, i)) {
            line(e, "%s argument%u[KERNEL_LANES];", leaf_c_type(node->inputs[i].type), i);
            text_addf(&call, "argument%u, ", i);
        }
    emit_lane_arguments(e, scope, node);
    for (uint32_t i = 0; i < node->output_count; i++)
        text_addf(&call, "lanes%u_%u, ", id, i);
    line(e, "if (failed || !%scall->depth, &scalars))", text_string(&call));
    line(e, "    return KERNEL_FAILED;");
    close_brace(e);
    text_free(&call);
}

/* At the beginning of the loop's body. */
static void emit_lanes(Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        if (scope_of(e, node) == scope && has_lanes(e, node))
            emit_lane_call(e, scope, id, node);
    }
}

static void emit_lane_results(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word index = loop_index(e, scope_of(e, node));
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != 0)
            emit_value(e, node->outputs[i], "lanes%u_%u[%s & (KERNEL_LANES - 1)]", id, i, index.text);
}

/* A function is called with values that are right, or not at all: it might not come to its end. */
static void emit_scalar_call(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (has_lanes(e, node)) {
        emit_lane_results(e, id, node);
        return;
    }
    Text call;
    text_init(&call, e->out->memory);
    function_text_name(e->context->functions, node->function, &call);
    text_add_char(&call, '(');
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!fuse_is_driver(node, i))
            text_addf(&call, "%s, ", operand_text(e, node->inputs[i]).text);
    const Layout *results = function_text_results(e->context->functions, node->function);
    for (uint32_t i = 0; i < results->count; i++) {
        const char *type = leaf_c_type(results->leaves[i].type);
        if (node->outputs[i] == 0) {
            text_addf(&call, "&(%s){0}, ", type);
            continue;
        }
        if (!is_merged(e, node->outputs[i]))
            line(e, "%s %s;", type, variable(e, node->outputs[i]).text);
        text_addf(&call, "&%s, ", variable(e, node->outputs[i]).text);
    }
    line(e, "if (failed || !%scall->depth, &scalars))", text_string(&call));
    line(e, "    return KERNEL_FAILED;");
    text_free(&call);
    for (uint32_t i = 0; i < results->count; i++)
        if (node->outputs[i] != 0)
            emit_output(e, node->outputs[i]);
}

/* ---- reductions ---- */

/* The struct of a reduction whose order matters. */
static Word fold_type(const FlowNode *node)
{
    Word word;
    snprintf(word.text, sizeof word.text, "%s%s_%s", node->op == FLOW_SCAN ? "Scan" : "Fold",
             member_scan_operator(node) == OP_SUM ? "SUM" : "PRODUCT",
             node->inputs[0].type == (LeafType)SCALAR_F32 ? "F32" : "F64");
    return word;
}

static const char *fold_symbol(const FlowNode *node)
{
    return member_scan_operator(node) == OP_SUM ? "+" : "*";
}

/* Its elements are put into the tile by their index. */
static bool fills_tiles(const Emitter *e, const FlowNode *node)
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

/* The type of the variable in which an exact reduction goes on. */
static const char *total_type(const Emitter *e, const FlowNode *node)
{
    LeafType result = e->network->streams.items[node->outputs[0]].type;
    if ((node->op != FLOW_FOLD && node->op != FLOW_SCAN) || node->core_op == OP_COUNT_TRUE)
        return "int64_t";
    return is_sum_of_integers(node) ? unsigned_type((ScalarType)result) : leaf_c_type(result);
}

static Word condition_of(const Emitter *e, uint32_t filter)
{
    const KernelScope *scope = &e->kernel->scopes.items[filter];
    Word word, flag = operand_text(e, (FlowOperand){.type = (LeafType)SCALAR_BOOL, .stream = scope->flags});
    snprintf(word.text, sizeof word.text, "%s%.90s", scope->keep ? "" : "!", flag.text);
    return word;
}

/* An element of an exact reduction; of a point that is computed in vain, what makes no difference. */
static Word element_text(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word value = operand_text(e, node->inputs[0]), word;
    if (e->flat == KERNEL_ROOT)
        return value;
    ScalarType type = (ScalarType)node->inputs[0].type;
    Word nothing = constant_word(e, type, identity_of(node, type));
    line(e, "const %s element%u = is_kept%u ? %s : %s;", c_type(type), id, e->flat, value.text, nothing.text);
    snprintf(word.text, sizeof word.text, "element%u", id);
    return word;
}

static void emit_fold_step(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word value = element_text(e, id, node);
    const char *type = total_type(e, node);
    bool is_float = scalar_kind((ScalarType)node->inputs[0].type) == KIND_FLOATING;
    const char *suffix = node->inputs[0].type == (LeafType)SCALAR_F32 ? "F32" : "F64";
    switch ((int)member_scan_operator(node)) {
    case OP_SUM: line(e, "total%u += (%s)%s;", id, type, value.text); break;
    case OP_PRODUCT: line(e, "total%u = (%s)(1u * total%u * (%s)%s);", id, type, id, type, value.text); break;
    case OP_COUNT_TRUE: line(e, "total%u += %s;", id, value.text); break;
    case OP_ANY: line(e, "total%u |= %s;", id, value.text); break;
    case OP_ALL: line(e, "total%u &= %s;", id, value.text); break;
    case OP_PARITY: line(e, "total%u ^= %s;", id, value.text); break;
    case OP_MAX_VAL:
        if (is_float)
            line(e, "total%u = float_maximum_%s(total%u, %s);", id, suffix, id, value.text);
        else
            line(e, "total%u = %s > total%u ? %s : total%u;", id, value.text, id, value.text, id);
        break;
    case OP_MIN_VAL:
        if (is_float)
            line(e, "total%u = float_minimum_%s(total%u, %s);", id, suffix, id, value.text);
        else
            line(e, "total%u = %s < total%u ? %s : total%u;", id, value.text, id, value.text, id);
        break;
    }
}

/* Reductions to unit whose order matters are done here block by block where points are many and alike; else their elements are given. */
static bool folds_blocks(const Emitter *e)
{
    return e->kernel->ordered.count > 0 && !e->kernel->has_loops;
}

/* One more element. */
static void emit_element(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (node->op != FLOW_FOLD && e->flat == KERNEL_ROOT) {
        line(e, "total%u++;", id);
        return;
    }
    if (node->op != FLOW_FOLD) {
        line(e, "total%u += is_kept%u;", id, e->flat);
        return;
    }
    if (!member_is_ordered(node)) {
        emit_fold_step(e, id, node);
        return;
    }
    Word value = operand_text(e, node->inputs[0]);
    int ordered = index_of(&e->kernel->ordered, id);
    if (ordered >= 0 && folds_blocks(e))
        line(e, "fold%u.tile[i - first] = %s;", id, value.text);
    else if (ordered >= 0)
        emit_store(e, e->kernel->outputs.count + (uint32_t)ordered, KERNEL_ROOT, canonical(node->inputs[0].type, value));
    else if (e->group == GROUP_WHOLE)
        line(e, "group%u[k%u] = %s;", id, scope_of(e, node), value.text);
    else if (e->group == GROUP_REST)
        line(e, "block%u = block%u %s %s;", id, id, fold_symbol(node), value.text);
    else if (fills_tiles(e, node))
        line(e, "fold%u.tile[k%u] = %s;", id, scope_of(e, node), value.text);
    else
        line(e, "%s_push(&fold%u, %s);", fold_type(node).text, id, value.text);
}

static void emit_scan(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    FlowStreamId stream = node->outputs[0];
    if (member_is_ordered(node)) {
        ScalarType type = (ScalarType)node->inputs[0].type;
        emit_value(e, stream, "%s_next(&fold%u, %s, %s, %s)", fold_type(node).text, id, operand_text(e, node->inputs[0]).text,
                   member_is_inclusive(node) ? "true" : "false", constant_word(e, type, identity_of(node, type)).text);
        return;
    }
    const char *type = leaf_c_type(e->network->streams.items[stream].type);
    if (member_is_inclusive(node)) {
        emit_fold_step(e, id, node);
        emit_value(e, stream, "(%s)total%u", type, id);
    } else {
        emit_value(e, stream, "(%s)total%u", type, id);
        emit_fold_step(e, id, node);
    }
}

static bool can_fail(const Emitter *e, const FlowNode *node)
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
        return !op_text_needs_math(node->core_op, node->scalar, target) && !(e->has_fast && op_text_has_fast(node->core_op, node->scalar, target));
    case FLOW_FOLD: return fills_tiles(e, node);
    case FLOW_RANGE:
    case FLOW_SLICES:
    case FLOW_INDEX:
    case FLOW_GATHER:
    case FLOW_DISTRIBUTE: return true;
    default: return fuse_is_structure(node);
    }
}

/* Where a loop does little for a point and only adds up, it goes by groups of as many elements as there are lanes: most of what short segments
 * cost is beginning and ending. */
static bool is_grouped(const Emitter *e, uint32_t number)
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
    return has_sums && scope->kind == SCOPE_LOOP && scope->body.count <= NODES_MAX && (e->kernel->given >> number & 1) == 0;
}

/* Before the loop. */
static void emit_fold_start(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (fills_tiles(e, node) && is_grouped(e, scope_of(e, node))) {
        line(e, "%s total%u = %s_identity();", leaf_c_type(node->inputs[0].type), id, fold_type(node).text);
        return;
    }
    if (member_is_ordered(node)) {
        line(e, "%s fold%u;", fold_type(node).text, id);
        if (fills_tiles(e, node))
            line(e, "if (n%u > FOLD_TILE)", scope_of(e, node));
        line(e, "%s%s_start(&fold%u);", fills_tiles(e, node) ? "    " : "", fold_type(node).text, id);
        return;
    }
    ScalarType result = (ScalarType)e->network->streams.items[node->outputs[0]].type;
    Word identity = (node->op == FLOW_FOLD || node->op == FLOW_SCAN) && node->core_op != OP_COUNT_TRUE ? constant_word(e, result, identity_of(node, result))
                                                                            : (Word){"0"};
    const char *type = total_type(e, node);
    line(e, "%s total%u = (%s)%s;", type, id, type, identity.text);
}

/* After it. */
static void emit_fold_result(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (node->op == FLOW_SCAN)
        return;
    FlowStreamId stream = node->outputs[0];
    const char *type = leaf_c_type(e->network->streams.items[stream].type);
    if (member_is_ordered(node)) {
        ScalarType scalar = (ScalarType)node->inputs[0].type;
        Word empty = constant_word(e, scalar, identity_of(node, scalar));
        uint32_t loop = scope_of(e, node);
        if (fills_tiles(e, node) && is_grouped(e, loop))
            emit_value(e, stream, "n%u > 0 ? total%u : %s", loop, id, empty.text);
        else if (fills_tiles(e, node))
            emit_value(e, stream, "n%u > FOLD_TILE ? %s_result(&fold%u, %s) : n%u > 0 ? fold%u.total : %s", loop, fold_type(node).text, id,
                       empty.text, loop, id, empty.text);
        else
            emit_value(e, stream, "%s_result(&fold%u, %s)", fold_type(node).text, id, empty.text);
    } else if (node->op == FLOW_EMPTY)
        emit_value(e, stream, "total%u == 0", id);
    else
        emit_value(e, stream, "(%s)total%u", type, id);
}

/* ---- scopes ---- */

static void emit_body(Emitter *e, uint32_t number);

/* Calls `emit` for the reductions of points in a scope, or of those below it, that end with it. */
static void each_reduction(Emitter *e, uint32_t scope, void (*emit)(Emitter *, FlowNodeId, const FlowNode *))
{
    const KernelScope *scopes = e->kernel->scopes.items;
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        bool is_scan = node->op == FLOW_SCAN && !fuse_goes_on(e->network, node);
        if ((!fuse_is_reduction(node) || fuse_is_total(e->network, node)) && !is_scan)
            continue;
        uint32_t to = fuse_parent_scope(e->network, e->kernel, node), from = scope_of(e, node);
        if (scopes[scope].parent == to && (scopes[from].ancestors >> scope & 1) != 0)
            emit(e, id, node);
    }
}

static void add_tile(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    if (!fills_tiles(e, node))
        return;
    line(e, "if (n%u > FOLD_TILE)", scope_of(e, node));
    line(e, "    %s_add(&fold%u, length);", fold_type(node).text, id);
    line(e, "else");
    line(e, "    fold%u.total = %s_all(&fold%u, length);", id, fold_type(node).text, id);
}

static bool has_tiles(const Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        if (node->op == FLOW_FOLD && scope_of(e, node) == scope && fills_tiles(e, node))
            return true;
    }
    return false;
}

static void emit_slice_starts(Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        FlowNodeId id = e->kernel->nodes.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        if (node->op == FLOW_SLICES && scope_of(e, node) == scope)
            emit_slice_start(e, id, node);
    }
}

/* How many points a loop has: as many as each of the sequences that are traversed together. */
static void emit_loop_count(Emitter *e, uint32_t number)
{
    const KernelScope *scope = &e->kernel->scopes.items[number];
    const FlowNode *maker = &e->network->nodes.items[scope->makers.items[0]];
    show_source(e, maker->span);
    line(e, "int64_t n%u = %s;", number, operand_text(e, maker->inputs[0]).text);
    for (uint32_t i = 1; i < scope->makers.count; i++) {
        Word other = operand_text(e, e->network->nodes.items[scope->makers.items[i]].inputs[0]);
        line(e, "failed |= n%u != %s;", number, other.text);
        line(e, "n%u = n%u < %s ? n%u : %s;", number, number, other.text, number, other.text);
    }
}

static bool has_own_arrays(const Emitter *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        FlowOperand array = node->inputs == NULL ? (FlowOperand){0} : fuse_resolve(e->fusion, e->kernel, node->inputs[0]);
        if (node->op == FLOW_SLICES && scope_of(e, node) == scope && !fuse_is_uniform(e->network, &array))
            return true;
    }
    return false;
}

static bool gives_points(const Emitter *e, uint32_t scope)
{
    return e->kernel->given >> scope & 1;
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
        line(e, "if (n%u > call->room - given%u)", loop, given);
        line(e, "    goto full;");
    }
}

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
        return !op_text_can_fail(node->core_op, node->scalar, target) && !op_text_has_fast(node->core_op, node->scalar, target);
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

/* The one filter in a scope whose other parts are harmless; KERNEL_NO_SCOPE if that is not so, `scope` itself if there is none. */
static uint32_t only_filter(const Emitter *e, uint32_t scope)
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

/* The innermost of the filters that a loop consists of, if it is an equation whose points are stored and nothing else is; else KERNEL_NO_SCOPE. */
static uint32_t searched_filter(const Emitter *e, uint32_t loop)
{
    uint32_t scope = loop;
    for (uint32_t next = only_filter(e, scope); next != scope; next = only_filter(e, scope)) {
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

/* Long loops look now and then whether anybody still wants them to go on. */
static void emit_poll_of_tiles(Emitter *e, uint32_t number, const char *at, const char *tile)
{
    e->may_stop = true;
    line(e, "if (%s%u %% KERNEL_STRIP < %s && %s%u >= KERNEL_STRIP && kernel_is_over(call))", at, number, tile, at, number);
    line(e, "    goto stopped;");
}

static void emit_poll_of_turns(Emitter *e, uint32_t number)
{
    e->may_stop = true;
    line(e, "if (i%u %% KERNEL_ROUNDS == KERNEL_ROUNDS - 1 && kernel_is_over(call))", number);
    line(e, "    goto stopped;");
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
    int position = index_of(&e->kernel->nodes, e->network->streams.items[operand.stream].node);
    return position >= 0 && varying[position];
}

/* Finds the nodes whose values differ between points of the loop, since they depend on its index. */
static void find_varying(Emitter *e, uint32_t loop)
{
    e->varying = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        uint32_t scope = scope_of(e, node);
        bool is_on_loop = scope != KERNEL_NO_SCOPE && (e->kernel->scopes.items[scope].ancestors >> loop & 1) != 0;
        e->varying[i] = is_on_loop && node->op != FLOW_OPERATION;
        for (uint32_t k = 0; is_on_loop && node->op == FLOW_OPERATION && k < node->input_count; k++)
            e->varying[i] |= is_varying(e, e->varying, node->inputs[k]);
    }
}

static bool varies(const Emitter *e, FlowOperand operand)
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
    if (!varies(e, operand))
        return true;
    const FlowNode *node = maker_of(e, fuse_resolve(e->fusion, e->kernel, operand).stream);
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
    const FlowNode *equation = maker_of(e, scope->flags);
    bool is_narrow = scope->keep && equation->scalar == SCALAR_I64 && can_be_narrow(e, equation->inputs[0], &rest) &&
                     can_be_narrow(e, equation->inputs[1], &rest);
    return is_narrow && rest < OPERATIONS_MAX ? equation : NULL;
}

/* Whether a value is the index, or one more or less by what does not change in the loop. */
static bool is_affine(const Emitter *e, FlowOperand operand, uint32_t loop)
{
    if (!varies(e, operand))
        return false;
    const FlowNode *node = maker_of(e, fuse_resolve(e->fusion, e->kernel, operand).stream);
    if (is_index(node))
        return scope_of(e, node) == loop;
    if (!is_narrow_operation(node) || node->core_op == OP_MULTIPLY)
        return false;
    bool is_left = !varies(e, node->inputs[1]) && is_affine(e, node->inputs[0], loop);
    return is_left || (node->core_op == OP_ADD && !varies(e, node->inputs[0]) && is_affine(e, node->inputs[1], loop));
}

/* The value at the loop's first point. */
static void add_first_value(Emitter *e, Text *out, FlowOperand operand, uint32_t loop)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (!varies(e, operand)) {
        text_add(out, operand_text(e, operand).text);
        return;
    }
    const FlowNode *node = maker_of(e, operand.stream);
    if (is_index(node)) {
        text_add(out, "0");
        return;
    }
    text_addf(out, "op_%s_I64(", node->core_op == OP_ADD ? "ADD" : "SUBTRACT");
    add_first_value(e, out, node->inputs[0], loop);
    text_add(out, ", ");
    add_first_value(e, out, node->inputs[1], loop);
    text_add(out, ")");
}

/* Emits, once each and after what they take, `invariant` values of the loop as they are. */
static void emit_invariants(Emitter *e, FlowOperand operand, uint32_t loop, bool *is_done)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    uint32_t scope = operand.is_constant || fuse_is_uniform(e->network, &operand) ? KERNEL_NO_SCOPE : scope_of_stream(e, operand.stream);
    if (scope == KERNEL_NO_SCOPE || (e->kernel->scopes.items[scope].ancestors >> loop & 1) == 0)
        return;
    FlowNodeId id = e->network->streams.items[operand.stream].node;
    const FlowNode *node = &e->network->nodes.items[id];
    int position = index_of(&e->kernel->nodes, id);
    if (position < 0 || is_index(node) || is_done[position])
        return;
    is_done[position] = true;
    for (uint32_t i = 0; i < node->input_count; i++)
        emit_invariants(e, node->inputs[i], loop, is_done);
    if (!varies(e, operand))
        emit_node(e, id);
}

/* Adds an expression of a value: of 32 bits, or (`is_bound`) of the largest magnitude that it can have. */
static void add_narrow(Emitter *e, Text *out, FlowOperand operand, uint32_t loop, bool is_bound)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (!varies(e, operand)) {
        text_addf(out, is_bound ? "kernel_size(%s, &sizes)" : "(uint32_t)%s", operand_text(e, operand).text);
        return;
    }
    const FlowNode *node = maker_of(e, operand.stream);
    if (!is_bound && is_affine(e, operand, loop)) {
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
    line(e, "uint64_t sizes = 0;");
    for (uint32_t i = 0; i < 2; i++) {
        text_add_repeated(e->out, ' ', e->depth * C_INDENT);
        add_narrow(e, e->out, equation->inputs[i], loop, true);
        text_add(e->out, ";\n");
    }
    line(e, "const bool is_narrow = sizes <= INT32_MAX;");
}

/* Variables that are one more at each point: `at` of the stream whose values they have. */
static void declare_steps(Emitter *e, FlowOperand operand, uint32_t loop, bool *is_done, Text *steps)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (!varies(e, operand))
        return;
    FlowNodeId id = e->network->streams.items[operand.stream].node;
    const FlowNode *node = &e->network->nodes.items[id];
    bool *is_node_done = &is_done[index_of(&e->kernel->nodes, id)];
    if (is_affine(e, operand, loop) && !*is_node_done) {
        text_add_repeated(e->out, ' ', e->depth * C_INDENT);
        text_addf(e->out, "uint32_t at%u = (uint32_t)", operand.stream);
        add_first_value(e, e->out, operand, loop);
        text_addf(e->out, " + (uint32_t)first%u;\n", loop);
        text_addf(steps, ", at%u++", operand.stream);
        *is_node_done = true;
    }
    for (uint32_t i = 0; !*is_node_done && i < node->input_count; i++)
        declare_steps(e, node->inputs[i], loop, is_done, steps);
}

/* Unsigned, where compilers may reorder. Whole vectors are searched: a hit behind the end is only looked at in vain. */
static void emit_narrow_search(Emitter *e, uint32_t loop, const FlowNode *equation)
{
    Text steps;
    text_init(&steps, e->out->memory);
    bool *is_done = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    declare_steps(e, equation->inputs[0], loop, is_done, &steps);
    declare_steps(e, equation->inputs[1], loop, is_done, &steps);
    line(e, "const uint32_t length = ((uint32_t)(end%u - first%u) + 7) & ~UINT32_C(7);", loop, loop);
    line(e, "uint32_t hits = 0;");
    line(e, "for (uint32_t k%u = 0; k%u < length; k%u++%s)", loop, loop, loop, text_string(&steps));
    text_free(&steps);
    text_add_repeated(e->out, ' ', (e->depth + 1) * C_INDENT);
    text_add(e->out, "hits += ");
    add_narrow(e, e->out, equation->inputs[0], loop, false);
    text_add(e->out, " == ");
    add_narrow(e, e->out, equation->inputs[1], loop, false);
    text_add(e->out, ";\n");
    line(e, "found = hits != 0;");
}

static void emit_wide_search(Emitter *e, uint32_t number, uint32_t filter)
{
    line(e, "for (int64_t i%u = first%u; i%u < end%u; i%u++) {", number, number, number, number, number);
    open_brace(e);
    e->is_searching = true;
    emit_all_values(e, number);
    e->is_searching = false;
    text_add_repeated(e->out, ' ', e->depth * C_INDENT);
    text_add(e->out, "found |= (OpFlag)(1");
    for (uint32_t scope = filter; scope != number; scope = e->kernel->scopes.items[scope].parent) {
        Word flag = operand_text(e, (FlowOperand){.type = (LeafType)SCALAR_BOOL, .stream = e->kernel->scopes.items[scope].flags});
        text_addf(e->out, " & %s%s", e->kernel->scopes.items[scope].keep ? "" : "!", flag.text);
    }
    text_add(e->out, ");\n");
    close_brace(e);
}

static void emit_search(Emitter *e, uint32_t number, uint32_t filter)
{
    const FlowNode *narrow = narrow_equation(e, filter);
    line(e, "{");
    open_brace(e);
    if (narrow != NULL)
        emit_narrow_bounds(e, number, narrow);
    line(e, "for (int64_t first%u = from%u; first%u < n%u; first%u += KERNEL_SEARCH) {", number, number, number, number, number);
    open_brace(e);
    emit_poll_of_tiles(e, number, "first", "KERNEL_SEARCH");
    line(e, "const int64_t end%u = n%u - first%u < KERNEL_SEARCH ? n%u : first%u + KERNEL_SEARCH;", number, number, number, number, number);
    line(e, "OpFlag found = 0;");
    if (narrow != NULL) {
        line(e, "if (is_narrow) {");
        open_brace(e);
        emit_narrow_search(e, number, narrow);
        e->depth--;
        line(e, "} else {");
        open_brace(e);
    }
    emit_wide_search(e, number, filter);
    if (narrow != NULL)
        close_brace(e);
    line(e, "for (int64_t i%u = first%u; found != 0 && i%u < end%u; i%u++) {", number, number, number, number, number);
    open_brace(e);
    emit_body(e, number);
    close_brace(e);
    close_brace(e);
    close_brace(e);
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
    const FlowNode *node = maker_of(e, scope->flags);
    if (node->op != FLOW_OPERATION || node->scalar != SCALAR_I64)
        return false;
    bool is_less = node->core_op == OP_LESS || node->core_op == OP_LESS_EQUAL;
    if (!is_less && node->core_op != OP_GREATER && node->core_op != OP_GREATER_EQUAL)
        return false;
    bool is_equal = node->core_op == OP_LESS_EQUAL || node->core_op == OP_GREATER_EQUAL;
    bool is_left = is_affine(e, node->inputs[0], loop);
    *cut = (Cut){.is_below = (is_less == is_left) == scope->keep,
                 .is_equal = is_equal == scope->keep,
                 .value = node->inputs[is_left ? 0 : 1],
                 .limit = node->inputs[is_left ? 1 : 0]};
    return is_affine(e, cut->value, loop) && !varies(e, cut->limit);
}

static void emit_cut(Emitter *e, uint32_t loop, const Cut *cut)
{
    line(e, "{");
    open_brace(e);
    bool *is_done = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    e->is_searching = true;
    emit_invariants(e, cut->value, loop, is_done);
    emit_invariants(e, cut->limit, loop, is_done);
    e->is_searching = false;
    text_add_repeated(e->out, ' ', e->depth * C_INDENT);
    text_addf(e->out, "kernel_cut_%s(&from%u, &n%u, ", cut->is_below ? "below" : "above", loop, loop);
    add_first_value(e, e->out, cut->value, loop);
    text_addf(e->out, ", %s, %d);\n", operand_text(e, cut->limit).text, cut->is_equal);
    close_brace(e);
}

/* Whether nobody sees a loop's points but through the filters that it consists of. */
static bool is_only_filtered(const Emitter *e, uint32_t loop)
{
    return (e->kernel->given >> loop & 1) == 0;
}

static void emit_cuts(Emitter *e, uint32_t loop)
{
    uint32_t scope = loop, next = is_only_filtered(e, loop) ? only_filter(e, loop) : KERNEL_NO_SCOPE;
    while (next != KERNEL_NO_SCOPE && next != scope) {
        Cut cut;
        if (find_cut(e, loop, next, &cut))
            emit_cut(e, loop, &cut);
        scope = next;
        next = only_filter(e, scope);
    }
}

/* Marks the nodes that a stream takes, by position in the kernel. */
static void mark_needed(const Emitter *e, FlowStreamId stream, bool *is_needed)
{
    int position = index_of(&e->kernel->nodes, e->network->streams.items[stream].node);
    if (position < 0 || is_needed[position])
        return;
    is_needed[position] = true;
    const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[position]];
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!node->inputs[i].is_constant)
            mark_needed(e, node->inputs[i].stream, is_needed);
    for (uint32_t scope = scope_of(e, node); scope != KERNEL_NO_SCOPE && scope != KERNEL_ROOT; scope = e->kernel->scopes.items[scope].parent)
        if (e->kernel->scopes.items[scope].kind == SCOPE_IF)
            mark_needed(e, e->kernel->scopes.items[scope].flags, is_needed);
}

/* Whether what a loop gives is needed for the totals of scans. */
static bool do_scans_need(const Emitter *e, uint32_t loop)
{
    bool *is_needed = ARENA_ARRAY(e->context->functions->arena, bool, e->kernel->nodes.count);
    for (uint32_t i = 0; i < e->kernel->scans.count; i++)
        mark_needed(e, e->network->nodes.items[e->kernel->scans.items[i]].outputs[0], is_needed);
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        uint32_t scope = is_needed[i] ? scope_of(e, &e->network->nodes.items[e->kernel->nodes.items[i]]) : KERNEL_NO_SCOPE;
        if (scope != KERNEL_NO_SCOPE && (e->kernel->scopes.items[scope].ancestors >> loop & 1) != 0)
            return true;
    }
    return false;
}

static void emit_only_counted(Emitter *e, uint32_t number)
{
    line(e, "if (wants_totals) {");
    open_brace(e);
    if (gives_points(e, number))
        line(e, "kernel_count(&given%u, n%u, &failed);", number, number);
    line(e, "n%u = 0;", number);
    close_brace(e);
}

/* ---- loops by groups ---- */

/* Whether that is so of any node in a scope, or in one inside it. */
static bool any_inside(const Emitter *e, uint32_t scope, bool (*is_so)(const Emitter *, const FlowNode *))
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        uint32_t own = scope_of(e, node);
        if (own != KERNEL_NO_SCOPE && (e->kernel->scopes.items[own].ancestors >> scope & 1) != 0 && is_so(e, node))
            return true;
    }
    return false;
}

static void begin_groups(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    line(e, "%sLanes lanes%u = %s_none();", fold_type(node).text, id, fold_type(node).text);
}

static void declare_group(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    line(e, "%s group%u[COMBINE_LANES];", c_type((ScalarType)node->inputs[0].type), id);
}

static void add_group(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    line(e, "lanes%u = %s_groups(lanes%u, group%u, 0, COMBINE_LANES);", id, fold_type(node).text, id, id);
}

static void end_groups(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    line(e, "%s block%u = %s_halve(lanes%u);", c_type((ScalarType)node->inputs[0].type), id, fold_type(node).text, id);
}

static void add_block(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    line(e, "total%u = total%u %s block%u;", id, id, fold_symbol(node), id);
}

static void emit_group(Emitter *e, uint32_t number)
{
    bool fails = any_inside(e, number, can_fail);
    each_reduction(e, number, declare_group);
    if (fails)
        line(e, "OpFlag flags%u[COMBINE_LANES];", number);
    text_add(e->out, "#pragma GCC unroll 1\n"); /* else it is no loop any more when vectors are looked for */
    line(e, "for (int64_t k%u = 0; k%u < COMBINE_LANES; k%u++) {", number, number, number);
    open_brace(e);
    line(e, "const int64_t i%u = first%u + k%u;", number, number, number);
    if (fails)
        line(e, "OpFlag failed = 0;");
    e->group = GROUP_WHOLE;
    emit_body(e, number);
    e->group = GROUP_NONE;
    if (fails)
        line(e, "flags%u[k%u] = failed;", number, number);
    close_brace(e);
    each_reduction(e, number, add_group);
    if (fails)
        line(e, "kernel_add_flags(&failed_lanes, flags%u);", number);
    e->has_groups |= fails;
}

/* Block by block, as sums are ordered (math/combine.h): groups of elements, added to lanes, then the rest one by one. */
static void emit_loop_of_groups(Emitter *e, uint32_t number)
{
    line(e, "for (int64_t start%u = from%u; start%u < n%u; start%u += COMBINE_BLOCK) {", number, number, number, number, number);
    open_brace(e);
    emit_poll_of_tiles(e, number, "start", "COMBINE_BLOCK");
    line(e, "const int64_t end%u = n%u - start%u < COMBINE_BLOCK ? n%u : start%u + COMBINE_BLOCK;", number, number, number, number, number);
    each_reduction(e, number, begin_groups);
    line(e, "int64_t first%u = start%u;", number, number);
    line(e, "for (; end%u - first%u >= COMBINE_LANES; first%u += COMBINE_LANES) {", number, number, number);
    open_brace(e);
    emit_group(e, number);
    close_brace(e);
    each_reduction(e, number, end_groups);
    line(e, "for (int64_t i%u = first%u; i%u < end%u; i%u++) {", number, number, number, number, number);
    open_brace(e);
    line(e, "KERNEL_FEW_TURNS(i%u);", number);
    e->group = GROUP_REST;
    emit_body(e, number);
    e->group = GROUP_NONE;
    close_brace(e);
    each_reduction(e, number, add_block);
    close_brace(e);
}

static void emit_turns(Emitter *e, uint32_t number)
{
    bool is_tiled = has_tiles(e, number), is_outer = contains_loops(e, number);
    if (is_tiled) {
        line(e, "for (int64_t first%u = from%u; first%u < n%u; first%u += FOLD_TILE) {", number, number, number, number, number);
        open_brace(e);
        emit_poll_of_tiles(e, number, "first", "FOLD_TILE");
        line(e, "const int64_t length = n%u - first%u < FOLD_TILE ? n%u - first%u : FOLD_TILE;", number, number, number, number);
        line(e, "for (int64_t k%u = 0; k%u < length; k%u++) {", number, number, number);
        open_brace(e);
        line(e, "const int64_t i%u = first%u + k%u;", number, number, number);
    } else if (is_outer) {
        line(e, "for (int64_t i%u = from%u; i%u < n%u; i%u++) {", number, number, number, number, number);
        open_brace(e);
    } else {
        line(e, "for (int64_t first%u = from%u; first%u < n%u; first%u += KERNEL_STRIP) {", number, number, number, number, number);
        open_brace(e);
        emit_poll_of_tiles(e, number, "first", "KERNEL_STRIP");
        line(e, "const int64_t end%u = n%u - first%u < KERNEL_STRIP ? n%u : first%u + KERNEL_STRIP;", number, number, number, number, number);
        line(e, "for (int64_t i%u = first%u; i%u < end%u; i%u++) {", number, number, number, number, number);
        open_brace(e);
    }
    if (is_outer)
        emit_poll_of_turns(e, number);
    emit_lanes(e, number);
    emit_body(e, number);
    if (gives_points(e, number))
        line(e, "given%u++;", number);
    close_brace(e);
    if (is_tiled)
        each_reduction(e, number, add_tile);
    if (is_tiled || !is_outer)
        close_brace(e);
}

/* ---- choices made before the loop ----
 * A filter without branches whose condition is known before the loop begins is the same at all its points: there are two loops, and in each of them the condition is a constant. */

static bool is_flat(const Emitter *e, uint32_t number, uint32_t *rest);

/* The condition, of the loop's first filter of that kind; false if there is none. */
static bool find_choice(const Emitter *e, uint32_t loop, FlowOperand *choice)
{
    const KernelScope *scope = &e->kernel->scopes.items[loop];
    for (uint32_t i = 0; i < scope->body.count && !contains_loops(e, loop); i++) {
        uint32_t filter = scope->body.items[i].index, rest = FLAT_OPERATIONS;
        if (!scope->body.items[i].is_scope || !is_flat(e, filter, &rest))
            continue;
        *choice = fuse_resolve(e->fusion, e->kernel, (FlowOperand){.type = (LeafType)SCALAR_BOOL, .stream = e->kernel->scopes.items[filter].flags});
        uint32_t made_on = choice->is_constant ? loop : scope_of_stream(e, choice->stream);
        if (made_on == KERNEL_NO_SCOPE || (e->kernel->scopes.items[made_on].ancestors >> loop & 1) == 0)
            return true;
    }
    return false;
}

static void emit_chosen(Emitter *e, uint32_t number, FlowOperand choice, bool value)
{
    open_brace(e);
    line(e, "const uint8_t %s = %d;", operand_text(e, choice).text, value);
    emit_turns(e, number);
    e->depth--;
}

static void emit_choice(Emitter *e, uint32_t number, FlowOperand choice)
{
    line(e, "if (%s) {", operand_text(e, choice).text);
    emit_chosen(e, number, choice, true);
    line(e, "} else {");
    emit_chosen(e, number, choice, false);
    line(e, "}");
}

/* ---- loops that calls share ----
 * A long one is done in parts by several calls, which give what its reductions come to there; the call that gives the point's results is told what these come to together. */

static bool is_partial(const Emitter *e, FlowNodeId id, uint32_t *number)
{
    for (*number = 0; *number < e->kernel->partials.count; ++*number)
        if (e->kernel->partials.items[*number].node == id)
            return true;
    return false;
}

static bool is_shared(const Emitter *e, uint32_t loop)
{
    bool is_linear = (e->linear.scopes >> loop & 1) != 0; /* then it is not done at points, but before them */
    for (uint32_t i = 0; !is_linear && i < e->kernel->partials.count; i++)
        if (e->kernel->partials.items[i].loop == loop)
            return true;
    return false;
}

static void begin_sharing(Emitter *e, uint32_t loop)
{
    line(e, "const bool is_long%u = OP_RARELY(n%u >= call->long_loop);", loop, loop);
    line(e, "if (is_long%u && !kernel_take_part(call->parts, %u, &from%u, &n%u)) {", loop, loop, loop, loop);
    line(e, "    *call->done = i;");
    line(e, "    return KERNEL_LONG;");
    line(e, "}");
}

static const char *partial_type(const Emitter *e, const FlowNode *node)
{
    return member_is_ordered(node) ? leaf_c_type(node->inputs[0].type) : total_type(e, node);
}

/* Whether the reduction is a struct, and not a variable with its total. */
static bool has_struct(const Emitter *e, const FlowNode *node)
{
    return member_is_ordered(node) && !is_grouped(e, scope_of(e, node));
}

static void give_partial(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    uint32_t number;
    if (!is_partial(e, id, &number))
        return;
    if (has_struct(e, node))
        line(e, "*(%s *)call->parts->totals[%u] = %s_result(&fold%u, 0);", partial_type(e, node), number, fold_type(node).text, id);
    else
        line(e, "*(%s *)call->parts->totals[%u] = total%u;", partial_type(e, node), number, id);
}

static void take_partial(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    uint32_t number;
    if (!is_partial(e, id, &number))
        return;
    if (has_struct(e, node))
        line(e, "%s_set(&fold%u, *(const %s *)call->parts->totals[%u]);", fold_type(node).text, id, partial_type(e, node), number);
    else
        line(e, "total%u = *(const %s *)call->parts->totals[%u];", id, partial_type(e, node), number);
}

static void end_sharing(Emitter *e, uint32_t loop)
{
    e->is_shared = true;
    line(e, "if (is_long%u) {", loop);
    open_brace(e);
    line(e, "if (call->parts->scope == %u) {", loop);
    open_brace(e);
    each_reduction(e, loop, give_partial);
    line(e, "goto parted;");
    close_brace(e);
    each_reduction(e, loop, take_partial);
    close_brace(e);
}

static void emit_loop(Emitter *e, uint32_t number)
{
    emit_loop_count(e, number);
    emit_slice_starts(e, number);
    if (has_own_arrays(e, number))
        line(e, "n%u = failed ? 0 : n%u;", number, number);
    line(e, "int64_t from%u = 0;", number);
    find_varying(e, number);
    emit_cuts(e, number);
    if (e->kernel->is_counted || (e->kernel->scans.count > 0 && !do_scans_need(e, number)))
        emit_only_counted(e, number);
    if (may_be_full(e))
        emit_room_check(e, number);
    if (is_shared(e, number))
        begin_sharing(e, number);
    each_reduction(e, number, emit_fold_start);
    uint32_t searched = searched_filter(e, number);
    if (searched != KERNEL_NO_SCOPE) {
        emit_search(e, number, searched);
        return;
    }
    declare_lanes(e, number);
    FlowOperand choice;
    if (is_grouped(e, number))
        emit_loop_of_groups(e, number);
    else if (find_choice(e, number, &choice))
        emit_choice(e, number, choice);
    else
        emit_turns(e, number);
    if (is_shared(e, number))
        end_sharing(e, number);
    each_reduction(e, number, emit_fold_result);
}

static bool is_merely_packed(const Emitter *e, const KernelScope *scope)
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
            if (node->outputs[k] != 0 && scope_of_stream(e, node->outputs[k]) == number && is_merged(e, node->outputs[k]))
                line(e, "%s %s = 0;", leaf_c_type(e->network->streams.items[node->outputs[k]].type),
                     variable(e, node->outputs[k]).text);
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
        if (index_of(&e->kernel->outputs, node->outputs[i]) >= 0)
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

static bool is_flat(const Emitter *e, uint32_t number, uint32_t *rest)
{
    const KernelScope *scope = &e->kernel->scopes.items[number];
    if (scope->kind != SCOPE_IF || gives_points(e, number))
        return false;
    for (uint32_t i = 0; i < scope->body.count; i++) {
        KernelUnit unit = scope->body.items[i];
        if (unit.is_scope ? !is_flat(e, unit.index, rest) : !is_flat_node(e, &e->network->nodes.items[unit.index]))
            return false;
        bool is_work = !unit.is_scope && e->network->nodes.items[unit.index].op == FLOW_OPERATION;
        if (is_work && (*rest)-- == 0)
            return false;
    }
    return true;
}

static bool can_be_slow(const Emitter *e, const FlowNode *node)
{
    return node->op == FLOW_OPERATION && e->has_fast && op_text_has_fast(node->core_op, node->scalar, member_result_type(e->network, node));
}

static void emit_flat_if(Emitter *e, uint32_t number)
{
    const struct {
        const char *name;
        bool is_wanted;
        Word outer;
    } flags[] = {{"failed", any_inside(e, number, can_fail), flag_name(e, "failed")},
                 {"slow", any_inside(e, number, can_be_slow), flag_name(e, "slow")}};
    enum { FLAGS = sizeof flags / sizeof *flags };
    uint32_t outer = e->flat;
    Word condition = condition_of(e, number);
    declare_merged(e, number);
    each_reduction(e, number, emit_fold_start);
    line(e, "{");
    open_brace(e);
    if (outer == KERNEL_ROOT)
        line(e, "const bool is_kept%u = %s;", number, condition.text);
    else
        line(e, "const bool is_kept%u = is_kept%u & (%s);", number, outer, condition.text);
    for (uint32_t i = 0; i < FLAGS; i++)
        if (flags[i].is_wanted)
            line(e, "OpFlag %s%u = 0;", flags[i].name, number);
    e->flat = number;
    emit_body(e, number);
    e->flat = outer;
    for (uint32_t i = 0; i < FLAGS; i++)
        if (flags[i].is_wanted)
            line(e, "*%s |= is_kept%u ? %s%u : 0;", flags[i].outer.text, number, flags[i].name, number);
    close_brace(e);
    each_reduction(e, number, emit_fold_result);
}

static void emit_if(Emitter *e, uint32_t number)
{
    const KernelScope *scope = &e->kernel->scopes.items[number];
    Word condition = condition_of(e, number);
    uint32_t rest = FLAT_OPERATIONS;
    if (is_merely_packed(e, scope)) {
        /* what is written and not kept is written over by the next one */
        emit_body(e, number);
        if (gives_points(e, number) && e->is_packing)
            line(e, "keep%u[i - first] = %s;", number, condition.text);
        else if (gives_points(e, number))
            line(e, "given%u += %s;", number, condition.text);
        return;
    }
    if (is_flat(e, number, &rest)) {
        emit_flat_if(e, number);
        return;
    }
    declare_merged(e, number);
    each_reduction(e, number, emit_fold_start);
    line(e, "if (%s) {", condition.text);
    open_brace(e);
    emit_body(e, number);
    if (gives_points(e, number))
        line(e, "given%u++;", number);
    close_brace(e);
    each_reduction(e, number, emit_fold_result);
}

static void emit_node(Emitter *e, FlowNodeId id)
{
    const FlowNode *node = &e->network->nodes.items[id];
    if (node->op != FLOW_PACK && node->op != FLOW_DISTRIBUTE && node->op != FLOW_FILTER && node->op != FLOW_RANGE &&
        node->op != FLOW_COLLECT)
        show_source(e, node->span);
    switch (node->op) {
    case FLOW_OPERATION: emit_operation(e, node); break;
    case FLOW_COUNT: emit_count(e, node); break;
    case FLOW_RANGE:
        if (node->outputs[0] != 0)
            emit_value(e, node->outputs[0], "%s", counter(e, scope_of(e, node)).text);
        break;
    case FLOW_LOCAL_INDEX: emit_value(e, node->outputs[0], "%s", counter(e, scope_of(e, node)).text); break;
    case FLOW_SLICES: emit_slices(e, id, node); break;
    case FLOW_INDEX: emit_index(e, node); break;
    case FLOW_GATHER: emit_gather(e, node); break;
    case FLOW_MERGE: emit_merge(e, node); break;
    case FLOW_SCALAR_CALL: emit_scalar_call(e, id, node); break;
    case FLOW_FOLD:
    case FLOW_LENGTH:
    case FLOW_EMPTY: emit_element(e, id, node); break;
    case FLOW_SCAN: emit_scan(e, id, node); break;
    case FLOW_COLLECT: emit_sinks(e, id); break;
    case FLOW_SCATTER: emit_scatter(e, id, node); break;
    case FLOW_PACK:
    case FLOW_DISTRIBUTE: emit_output(e, node->outputs[0]); break;
    default: break; /* only says how points lie */
    }
}

static void emit_linear_result(Emitter *e, FlowNodeId id, const FlowNode *node);

static void emit_body(Emitter *e, uint32_t number)
{
    const KernelScope *scope = &e->kernel->scopes.items[number];
    for (uint32_t i = 0; i < scope->body.count; i++) {
        KernelUnit unit = scope->body.items[i];
        if (!unit.is_scope) {
            emit_node(e, unit.index);
            continue;
        }
        if ((e->linear.scopes >> unit.index & 1) != 0)
            each_reduction(e, unit.index, emit_linear_result);
        else if (e->kernel->scopes.items[unit.index].kind == SCOPE_LOOP)
            emit_loop(e, unit.index);
        else
            emit_if(e, unit.index);
        emit_ends(e, number, unit.index);
    }
}

/* ---- kernels ---- */

static void emit_totals(Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->totals.count; i++) {
        FlowNodeId id = e->kernel->totals.items[i];
        const FlowNode *node = &e->network->nodes.items[id];
        ScalarType type = node->op == FLOW_FOLD ? (ScalarType)node->inputs[0].type : SCALAR_I64;
        bool is_float = scalar_kind(type) == KIND_FLOATING;
        const char *cell = total_type(e, node);
        line(e, "*(%s *)call->totals[%u] = %stotal%u%s;", cell, i,
             is_float ? type == SCALAR_F32 ? "canonical_F32(" : "canonical_F64(" : "", id, is_float ? ")" : "");
    }
}

static void emit_given(Emitter *e, bool is_start)
{
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++) {
        if (!gives_points(e, i))
            continue;
        if (is_start)
            line(e, "int64_t given%u = 0;", i);
        else
            line(e, "call->given[%u] = given%u;", i, i);
    }
}

/* Elements that others make, read where the first of the bodies begins. */
static void emit_inputs(Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->streams.count; i++) {
        FlowStreamId stream = e->kernel->streams.items[i];
        line(e, "const %s %s = in%u[i];", leaf_c_type(e->network->streams.items[stream].type), variable(e, stream).text, i);
    }
}

static bool calls_functions(const Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++)
        if (e->network->nodes.items[e->kernel->nodes.items[i]].op == FLOW_SCALAR_CALL)
            return true;
    return false;
}

/* The value of scans before the first point, and after the last. */
static void emit_carries(Emitter *e, bool is_start)
{
    for (uint32_t i = 0; i < e->kernel->scans.count; i++) {
        FlowNodeId id = e->kernel->scans.items[i];
        const char *type = total_type(e, &e->network->nodes.items[id]);
        if (is_start)
            line(e, "%s total%u = *(const %s *)call->carries[%u];", type, id, type, i);
        else
            line(e, "*(%s *)call->carries[%u] = total%u;", type, i, id);
    }
}

/* What was given and counted before the point at hand, to go back to. */
typedef enum MarkStep { MARK_DECLARE, MARK_SET, MARK_GO_BACK } MarkStep;

static void emit_mark_of_total(Emitter *e, FlowNodeId id, MarkStep step)
{
    const char *type = total_type(e, &e->network->nodes.items[id]);
    switch (step) {
    case MARK_DECLARE: line(e, "%s before%u = total%u;", type, id, id); break;
    case MARK_SET: line(e, "before%u = total%u;", id, id); break;
    case MARK_GO_BACK: line(e, "total%u = before%u;", id, id); break;
    }
}

static void emit_marks(Emitter *e, MarkStep step)
{
    static const char *const of_points[] = {
        [MARK_DECLARE] = "int64_t mark%u = given%u;", [MARK_SET] = "mark%u = given%u;", [MARK_GO_BACK] = "given%u = mark%u;"};
    static const char *const of_root[] = {
        [MARK_DECLARE] = "int64_t done = 0;", [MARK_SET] = "done = i;", [MARK_GO_BACK] = "*call->done = done;"};
    line(e, "%s", of_root[step]);
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if (gives_points(e, i)) {
            text_add_repeated(e->out, ' ', e->depth * C_INDENT);
            text_addf(e->out, of_points[step], i, i);
            text_add_char(e->out, '\n');
        }
    for (uint32_t i = 0; i < e->kernel->totals.count; i++)
        emit_mark_of_total(e, e->kernel->totals.items[i], step);
    for (uint32_t i = 0; i < e->kernel->scans.count; i++)
        emit_mark_of_total(e, e->kernel->scans.items[i], step);
}

static void emit_status(Emitter *e)
{
    line(e, e->has_groups ? "if (failed || kernel_any_flag(failed_lanes))" : "if (failed)");
    line(e, "    return KERNEL_FAILED;");
    if (e->has_fast) {
        line(e, "if (slow)");
        line(e, "    return KERNEL_SLOW;");
    }
}

/* What is told when the points, or as many as there was room for, are done. */
static void emit_results(Emitter *e)
{
    emit_status(e);
    emit_carries(e, false);
    emit_given(e, false);
    emit_totals(e);
    line(e, "return 0;");
}

/* Indices of points count as wide as the values that are made of them. */
static void emit_root_loop(Emitter *e, const char *from, const char *to)
{
    if (e->narrow.is_narrow != NULL)
        line(e, "for (int32_t i = (int32_t)%s; i < (int32_t)%s; i++) {", from, to);
    else
        line(e, "for (int64_t i = %s; i < %s; i++) {", from, to);
    open_brace(e);
    if (may_be_full(e))
        emit_marks(e, MARK_SET);
    emit_lanes(e, KERNEL_ROOT);
    emit_inputs(e);
    emit_body(e, KERNEL_ROOT);
    close_brace(e);
}

/* ---- values that are linear in the index (linear.h) ----
 * Their loops are done at 0 and at powers of two; these give a table for the points of a block, which serves all blocks, each with its first value. */

static void emit_linear_result(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    emit_value(e, node->outputs[0], "base%u ^ linear%u[call->position + i - base]", id, id);
}

static void declare_linear(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    const char *type = leaf_c_type(e->network->streams.items[node->outputs[0]].type);
    line(e, "%s bits%u[KERNEL_INDEX_BITS + 1], linear%u[KERNEL_LINEAR], base%u = 0;", type, id, id, id);
}

/* What a bit of the index makes of a difference; the first is the value at 0, where blocks begin. */
static void store_linear_bit(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    Word value = variable(e, node->outputs[0]);
    line(e, "base%u = k == 0 ? %s : base%u;", id, value.text, id);
    line(e, "bits%u[k] = %s ^ base%u;", id, value.text, id);
}

static void fill_linear_table(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    (void)node;
    line(e, "KERNEL_LINEAR_TABLE(linear%u, bits%u, block);", id, id);
}

static void change_linear_base(Emitter *e, FlowNodeId id, const FlowNode *node)
{
    (void)node;
    line(e, "base%u ^= bits%u[kernel_lowest_bit(changed) + 1];", id, id);
}

static void each_linear(Emitter *e, void (*emit)(Emitter *, FlowNodeId, const FlowNode *))
{
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if ((e->linear.scopes >> i & 1) != 0)
            each_reduction(e, i, emit);
}

static void emit_linear_bits(Emitter *e)
{
    line(e, "const int64_t index_bits = kernel_linear_bits(call);");
    line(e, "for (int64_t k = 0; k < index_bits; k++) {");
    open_brace(e);
    line(e, "const int64_t i = (k == 0 ? 0 : INT64_C(1) << (k - 1)) - call->position;");
    e->is_searching = true;
    for (uint32_t i = 0; i < e->kernel->scopes.items[KERNEL_ROOT].body.count; i++) {
        KernelUnit unit = e->kernel->scopes.items[KERNEL_ROOT].body.items[i];
        if (unit.is_scope && (e->linear.scopes >> unit.index & 1) != 0)
            emit_loop(e, unit.index);
        else if (!unit.is_scope && e->linear.is_needed[index_of(&e->kernel->nodes, unit.index)])
            emit_node(e, unit.index);
    }
    e->is_searching = false;
    each_linear(e, store_linear_bit);
    close_brace(e);
}

static void emit_linear_blocks(Emitter *e)
{
    each_linear(e, declare_linear);
    emit_linear_bits(e);
    line(e, "const int64_t block = kernel_linear_block(call);");
    each_linear(e, fill_linear_table);
    line(e, "for (int64_t start = 0, end, before = 0; start < count; start = end) {");
    open_brace(e);
    line(e, "const int64_t base = (call->position + start) & -block, rest = base + block - call->position;");
    line(e, "for (int64_t changed = base ^ before; changed != 0; changed &= changed - 1) {");
    open_brace(e);
    each_linear(e, change_linear_base);
    close_brace(e);
    line(e, "before = base;");
    line(e, "end = rest < count ? rest : count;");
    emit_root_loop(e, "start", "end");
    close_brace(e);
}

static void emit_blocks(Emitter *e)
{
    const Kernel *kernel = e->kernel;
    line(e, "for (int64_t block = 0; block < count; block += COMBINE_BLOCK) {");
    open_brace(e);
    line(e, "const int64_t block_end = count - block < COMBINE_BLOCK ? count : block + COMBINE_BLOCK;");
    for (uint32_t i = 0; i < kernel->ordered.count; i++)
        emit_fold_start(e, kernel->ordered.items[i], &e->network->nodes.items[kernel->ordered.items[i]]);
    line(e, "for (int64_t first = block; first < block_end; first += FOLD_TILE) {");
    open_brace(e);
    line(e, "const int64_t end = block_end - first < FOLD_TILE ? block_end : first + FOLD_TILE;");
    emit_root_loop(e, "first", "end");
    for (uint32_t i = 0; i < kernel->ordered.count; i++)
        line(e, "%s_add(&fold%u, end - first);", fold_type(&e->network->nodes.items[kernel->ordered.items[i]]).text, kernel->ordered.items[i]);
    close_brace(e);
    for (uint32_t i = 0; i < kernel->ordered.count; i++)
        line(e, "out%u[block / COMBINE_BLOCK] = %s_result(&fold%u, 0);", kernel->outputs.count + i,
             fold_type(&e->network->nodes.items[kernel->ordered.items[i]]).text, kernel->ordered.items[i]);
    close_brace(e);
}

/* ---- filters whose elements are packed several at a time ----
 * Elements and flags of some points are computed first, which vectorises; then what is kept is put together. */

/* The scope that an output is on, and the type of its elements. */
static uint32_t scope_of_output(const Emitter *e, uint32_t output, LeafType *type)
{
    const Kernel *kernel = e->kernel;
    if (output < kernel->outputs.count) {
        *type = e->network->streams.items[kernel->outputs.items[output]].type;
        return scope_of_stream(e, kernel->outputs.items[output]);
    }
    output -= kernel->outputs.count;
    if (output < kernel->ordered.count) {
        *type = e->network->nodes.items[kernel->ordered.items[output]].inputs[0].type;
        return KERNEL_ROOT;
    }
    *type = kernel->sinks.items[output - kernel->ordered.count].operand.type;
    return kernel->sinks.items[output - kernel->ordered.count].scope;
}

static uint32_t output_count(const Kernel *kernel)
{
    return kernel->outputs.count + kernel->ordered.count + kernel->sinks.count;
}

static bool can_pack(const Emitter *e)
{
    const Kernel *kernel = e->kernel;
    bool is_any = false;
    for (uint32_t i = 1; i < kernel->scopes.count; i++) {
        const KernelScope *scope = &kernel->scopes.items[i];
        if (scope->kind != SCOPE_IF || (gives_points(e, i) && (scope->parent != KERNEL_ROOT || !is_merely_packed(e, scope))))
            return false;
    }
    for (uint32_t i = 0; i < output_count(kernel); i++) {
        LeafType type;
        is_any |= scope_of_output(e, i, &type) != KERNEL_ROOT;
        if (type == LEAF_ENDS)
            return false;
    }
    return is_any && !e->calls_functions && !folds_blocks(e) && !kernel->has_loops;
}

/* Calls `emit` for each output on a filter. */
static void each_packed(Emitter *e, void (*emit)(Emitter *e, uint32_t output, uint32_t scope, LeafType type))
{
    for (uint32_t i = 0; i < output_count(e->kernel); i++) {
        LeafType type;
        uint32_t scope = scope_of_output(e, i, &type);
        if (scope != KERNEL_ROOT)
            emit(e, i, scope, type);
    }
}

static void declare_packed(Emitter *e, uint32_t output, uint32_t scope, LeafType type)
{
    (void)scope;
    line(e, "%s pack%u[KERNEL_PACK];", leaf_c_type(type), output);
}

static void emit_pack(Emitter *e, uint32_t output, uint32_t scope, LeafType type)
{
    line(e, "%skernel_pack_%zu(out%u + given%u, pack%u, keep%u, end - first, call->room - given%u);",
         has_two_passes(e->kernel) ? "if (!wants_totals) " : "", leaf_size(type), output, scope, output, scope, scope);
}

static void emit_packed_loop(Emitter *e)
{
    line(e, "for (int64_t first = 0; first < count; first += KERNEL_PACK) {");
    open_brace(e);
    line(e, "const int64_t end = count - first < KERNEL_PACK ? count : first + KERNEL_PACK;");
    each_packed(e, declare_packed);
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if (gives_points(e, i))
            line(e, "uint8_t keep%u[KERNEL_PACK];", i);
    e->is_packing = true;
    emit_root_loop(e, "first", "end");
    e->is_packing = false;
    each_packed(e, emit_pack);
    for (uint32_t i = 1; i < e->kernel->scopes.count; i++)
        if (gives_points(e, i))
            line(e, "given%u += kernel_count_kept(keep%u, end - first);", i, i);
    close_brace(e);
}

/* ---- places that are progressions (strided.h) ----
 * They are found for some points of the root, from the places at the first two turns of the loop. */

static void emit_place(Emitter *e, int turn, FlowOperand place)
{
    line(e, "{");
    open_brace(e);
    line(e, "const int64_t i1 = %d;", turn);
    const KernelScope *loop = &e->kernel->scopes.items[1];
    for (uint32_t i = 0; i < loop->body.count; i++)
        if (e->network->nodes.items[loop->body.items[i].index].op != FLOW_SCATTER)
            emit_node(e, loop->body.items[i].index);
    line(e, "places[%d] = %s;", turn, operand_text(e, place).text);
    close_brace(e);
}

static void emit_progression(Emitter *e, const FlowNode *scatter)
{
    const KernelScope *root = &e->kernel->scopes.items[KERNEL_ROOT];
    for (uint32_t i = 0; i < root->body.count; i++)
        if (!root->body.items[i].is_scope)
            emit_node(e, root->body.items[i].index);
    emit_loop_count(e, 1);
    line(e, "int64_t places[2];");
    emit_place(e, 0, scatter->inputs[SCATTER_INDEX]);
    emit_place(e, 1, scatter->inputs[SCATTER_INDEX]);
    line(e, "kernel_add_progression(&progressions, places, n1, &failed);");
}

static void emit_strided(Emitter *e)
{
    const FlowNode *scatter = &e->network->nodes.items[e->kernel->scatters.items[0].node];
    Word length = operand_text(e, scatter->inputs[SCATTER_LENGTH]);
    e->may_stop = true;
    line(e, "for (int64_t first = 0; first < count; first += KERNEL_PROGRESSIONS) {");
    open_brace(e);
    line(e, "const int64_t end = count - first < KERNEL_PROGRESSIONS ? count : first + KERNEL_PROGRESSIONS;");
    line(e, "KernelProgressions progressions;");
    line(e, "kernel_start_progressions(&progressions, %s);", length.text);
    line(e, "for (int64_t i = first; i < end; i++) {");
    open_brace(e);
    emit_inputs(e);
    emit_progression(e, scatter);
    close_brace(e);
    line(e, "if (failed%s)", e->has_fast ? " | slow" : "");
    line(e, "    break;");
    line(e, "for (kernel_begin_blocks(&progressions, call); kernel_next_block(&progressions);) {");
    open_brace(e);
    line(e, "if (kernel_is_over(call))");
    line(e, "    goto stopped;");
    for (uint32_t i = 0; i < e->kernel->scatters.count; i++) {
        const KernelSink *column = &e->kernel->scatters.items[i];
        line(e, "KERNEL_REPLACE_BLOCK(out%u, %s, &progressions, %d);", first_scatter(e->kernel) + i,
             canonical(column->operand.type, operand_text(e, column->operand)).text, i + 1 == e->kernel->scatters.count);
    }
    close_brace(e);
    close_brace(e);
}

static void emit_work(Emitter *e)
{
    emit_parameters(e);
    if (e->calls_functions)
        line(e, "const KernelScalars scalars = kernel_scalars(call);");
    emit_slice_starts(e, KERNEL_ROOT);
    emit_tests_before(e);
    emit_given(e, true);
    emit_carries(e, true);
    for (uint32_t i = 0; i < e->kernel->totals.count; i++)
        emit_fold_start(e, e->kernel->totals.items[i], &e->network->nodes.items[e->kernel->totals.items[i]]);
    if (may_be_full(e))
        emit_marks(e, MARK_DECLARE);
    declare_lanes(e, KERNEL_ROOT);
    if (folds_blocks(e))
        emit_blocks(e);
    else if (can_pack(e))
        emit_packed_loop(e);
    else if (e->linear.scopes != 0)
        emit_linear_blocks(e);
    else if (e->kernel->is_strided)
        emit_strided(e);
    else
        emit_root_loop(e, "0", "count");
    emit_results(e);
    if (may_be_full(e)) {
        text_add(e->out, "full:\n");
        emit_marks(e, MARK_GO_BACK);
        emit_results(e);
    }
    if (e->is_shared) {
        text_add(e->out, "parted:\n");
        emit_status(e);
        line(e, "return 0;");
    }
    if (e->may_stop) {
        text_add(e->out, "stopped:\n");
        line(e, "return KERNEL_FAILED;");
    }
}

/* Whether an operation in the kernel is worth a version for most operands. */
static bool wants_fast(const Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->nodes.count; i++) {
        const FlowNode *node = &e->network->nodes.items[e->kernel->nodes.items[i]];
        if (node->op == FLOW_OPERATION && op_text_wants_fast(node->core_op, node->scalar, member_result_type(e->network, node)))
            return true;
    }
    return false;
}

/* Writes one version of a kernel as a function. */
static void emit_version(Emitter *e, const char *suffix, bool has_flags)
{
    Text body, *out = e->out;
    text_init(&body, out->memory);
    e->out = &body;
    e->depth = 1;
    e->line = 0;
    e->may_stop = e->has_groups = e->is_shared = false;
    emit_work(e);
    e->out = out;
    if (has_flags)
        text_addf(out, "\nMATH_INLINE uint64_t kernel_%u%s(const KernelCall *restrict call, const bool is_exact, const bool wants_totals)\n{\n",
                  e->kernel->number, suffix);
    else
        text_addf(out, "\nuint64_t kernel_%u(const KernelCall *restrict call)\n{\n", e->kernel->number);
    text_addf(out, "    const int64_t count = call->count;\n    OpFlag failed = 0;\n%s%s", e->has_fast ? "    OpFlag slow = 0;\n" : "",
              e->has_groups ? "    KernelFlags failed_lanes = kernel_no_flags();\n" : "");
    text_add(out, text_string(&body));
    text_add(out, "}\n");
    text_free(&body);
}

/* A kernel is one function; or one for most operands and one for all, these again for totals alone, and one for narrow values, all made of one text. */
static void emit_kernel(Emitter *e)
{
    Text *out = e->out;
    e->calls_functions = calls_functions(e);
    e->has_fast = !e->calls_functions && wants_fast(e);
    e->linear = linear_find(e->context->functions->arena, e->fusion, e->kernel);
    uint32_t number = e->kernel->number;
    bool has_totals = has_two_passes(e->kernel);
    Narrow narrow = has_totals ? (Narrow){0} : narrow_find(e->context->functions->arena, e->fusion, e->kernel);
    emit_version(e, "_work", e->has_fast || has_totals);
    if (!e->has_fast && !has_totals)
        return;
    if (narrow.is_narrow != NULL) {
        e->narrow = narrow;
        emit_version(e, "_narrow", true);
        e->narrow = (Narrow){0};
        narrow_write_test(&narrow, out);
    }
    text_addf(out, "\nuint64_t kernel_%u(const KernelCall *call)\n{\n", number);
    if (has_totals)
        text_addf(out, "    uint64_t status = call->wants_totals ? kernel_%u_work(call, false, true) : kernel_%u_work(call, false, false);\n", number, number);
    else if (narrow.is_narrow != NULL)
        text_addf(out, "    uint64_t status = kernel_%u_is_narrow(call) ? kernel_%u_narrow(call, false, false) : kernel_%u_work(call, false, false);\n", number, number, number);
    else
        text_addf(out, "    uint64_t status = kernel_%u_work(call, false, false);\n", number);
    if (e->has_fast && has_totals)
        text_addf(out, "    if (status == KERNEL_SLOW)\n        status = kernel_%u_work(call, true, call->wants_totals);\n", number);
    else if (e->has_fast)
        text_addf(out, "    if (status == KERNEL_SLOW)\n        status = kernel_%u_work(call, true, false);\n", number);
    text_add(out, "    return status;\n}\n");
}

static bool is_scalar_function(FunctionTexts *functions, CoreFunctionId function)
{
    return function_text_accepts(functions, function) && !function_text_gives_arrays(functions, function);
}

void emit_need_functions(const EmitContext *context, const Fusion *const *fusions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (FlowNodeId id = 0; id < fusions[i]->network->nodes.count; id++) {
            const FlowNode *node = &fusions[i]->network->nodes.items[id];
            bool is_operator = (flow_op_table[node->op].fields & HAS_OPERATOR) != 0;
            bool is_call = node->op == FLOW_SCALAR_CALL || node->op == FLOW_CALL;
            if (node->function == 0 || (!is_operator && !is_call))
                continue;
            if (fusions[i]->kernel_of[id] != 0)
                function_text_need(context->functions, node->function);
            else if (node->op == FLOW_CALL)
                function_text_need_entry(context->functions, node->function);
            else if (is_scalar_function(context->functions, node->function) && function_text_need_entry(context->functions, node->function) &&
                     node->op == FLOW_FOLD_WITH && !node->draws && node->network == 0)
                function_text_need_fold(context->functions, node->function);
        }
}

static void emit_functions(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out, ClassSet *types,
                           bool *with_math)
{
    emit_need_functions(context, fusions, count);
    function_texts_write(context->functions, context->sources, out, types, with_math);
}

static void emit_kernels(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < fusions[i]->kernels.count; k++) {
            Emitter emitter = {.context = context,
                               .fusion = fusions[i],
                               .network = fusions[i]->network,
                               .kernel = &fusions[i]->kernels.items[k],
                               .out = out};
            emit_kernel(&emitter);
        }
}

/* ---- files ---- */

static void note_type(ClassSet *types, LeafType type)
{
    if (type < (LeafType)SCALAR_COUNT)
        *types |= (ClassSet)1 << type;
}

/* The types that operations have to do with, and whether elementary functions are among them. */
static void find_types(const Fusion *fusion, ClassSet *types, bool *with_math)
{
    for (FlowNodeId id = 0; id < fusion->network->nodes.count; id++) {
        const FlowNode *node = &fusion->network->nodes.items[id];
        if (fusion->kernel_of[id] == 0 || node->op != FLOW_OPERATION)
            continue;
        ScalarType target = member_result_type(fusion->network, node);
        note_type(types, (LeafType)target);
        if (node->scalar == SCALAR_I64 && op_text_wants_fast(node->core_op, node->scalar, target))
            note_type(types, (LeafType)SCALAR_I32); /* it may be divided as such (narrow.h) */
        for (uint32_t i = 0; i < node->input_count; i++)
            note_type(types, node->inputs[i].type);
        *with_math |= op_text_needs_math(node->core_op, node->scalar, target);
    }
}

/* What is the program's own, and what the file must begin with for it. */
static void emit_program(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out, ClassSet *types,
                         bool *with_math)
{
    for (uint32_t i = 0; i < count; i++)
        find_types(fusions[i], types, with_math);
    emit_functions(context, fusions, count, out, types, with_math);
    emit_kernels(context, fusions, count, out);
}

void emit_c(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out)
{
    ClassSet types = 0;
    bool with_math = false;
    Text program;
    text_init(&program, out->memory);
    emit_program(context, fusions, count, &program, &types, &with_math);
    kernel_preamble(out, types, with_math);
    kernel_preamble_calls(out);
    text_add(out, "\n/* ==== kernels ==== */\n");
    text_add_bytes(out, text_string(&program), program.length);
    text_free(&program);
}

void emit_c_body(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out)
{
    ClassSet types = 0;
    bool with_math = false;
    emit_program(context, fusions, count, out, &types, &with_math);
}
