#include "kernel/emit_internal.h"

/* ---- lines ---- */

__attribute__((format(printf, 2, 3))) void emit_line(Emitter *e, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    c_line(e->out, e->depth, format, arguments);
    va_end(arguments);
}

void emit_open_brace(Emitter *e)
{
    e->depth++;
}

void emit_close_brace(Emitter *e)
{
    e->depth--;
    emit_line(e, "}");
}

void emit_show_source(Emitter *e, Span span)
{
    c_source(e->out, e->depth, e->context->sources, span, &e->line);
}

/* ---- names and types ---- */

const char *emit_leaf_c_type(LeafType type)
{
    if (type == LEAF_ENDS)
        return "int64_t";
    return type == LEAF_ARRAY ? "KernelArrayRef" : c_type((ScalarType)type);
}

Word emit_variable(const Emitter *e, FlowStreamId stream)
{
    Word word;
    char letters[C_NAME_MAX + 1] = "";
    Name name = e->network->streams.items[stream].name;
    bool is_named = name != 0 && e->context->names != NULL && c_name(names_text(e->context->names, name), letters) > 0;
    snprintf(word.text, sizeof word.text, "%s%s%u", letters, is_named ? "_" : "v", stream);
    return word;
}

Word emit_operand_text(const Emitter *e, FlowOperand operand)
{
    operand = fuse_resolve(e->fusion, e->kernel, operand);
    if (!operand.is_constant)
        return emit_variable(e, operand.stream);
    Text text;
    text_init(&text, e->out->memory);
    constant_text(&text, (ScalarType)operand.type, operand.constant);
    Word word;
    snprintf(word.text, sizeof word.text, "%s", text_string(&text));
    text_free(&text);
    return word;
}

Word emit_constant_word(const Emitter *e, ScalarType type, Scalar value)
{
    return emit_operand_text(e, (FlowOperand){.type = (LeafType)type, .is_constant = true, .constant = value});
}

uint32_t emit_scope_of(const Emitter *e, const FlowNode *node)
{
    return fuse_scope_of_node(e->network, e->kernel, node);
}

uint32_t emit_scope_of_stream(const Emitter *e, FlowStreamId stream)
{
    return fuse_scope_of_stream(e->network, e->kernel, stream);
}

int emit_index_of(const void *list, FlowStreamId stream)
{
    const VEC(FlowStreamId) *streams = list;
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->items[i] == stream)
            return (int)i;
    return -1;
}

/* ---- what a kernel is given ---- */

uint32_t emit_column_of(const Emitter *e, FlowStreamId array, uint32_t leaf)
{
    for (uint32_t i = 0; i < e->kernel->columns.count; i++)
        if (e->kernel->columns.items[i].array == array && e->kernel->columns.items[i].leaf == leaf)
            return i;
    return UINT32_MAX;
}

uint32_t emit_first_scatter(const Kernel *kernel)
{
    return kernel->outputs.count + kernel->ordered.count + kernel->sinks.count;
}

void emit_parameters(Emitter *e)
{
    const Kernel *kernel = e->kernel;
    for (uint32_t i = 0; i < kernel->uniforms.count; i++) {
        FlowStreamId stream = kernel->uniforms.items[i];
        const char *type = emit_leaf_c_type(e->network->streams.items[stream].type);
        emit_line(e, "const %s %s = *(const %s *)call->uniforms[%u];", type, emit_variable(e, stream).text, type, i);
    }
    for (uint32_t i = 0; i < kernel->columns.count; i++) {
        const char *type = emit_leaf_c_type(kernel->columns.items[i].type);
        emit_line(e, "%s const *const restrict column%u = call->columns[%u];", type, i, i);
    }
    for (uint32_t i = 0; i < kernel->streams.count; i++) {
        const char *type = emit_leaf_c_type(e->network->streams.items[kernel->streams.items[i]].type);
        emit_line(e, "%s const *const restrict in%u = call->streams[%u];", type, i, i);
    }
    for (uint32_t i = 0; i < kernel->outputs.count; i++)
        emit_line(e, "%s *const restrict out%u = call->outputs[%u];",
                  emit_leaf_c_type(e->network->streams.items[kernel->outputs.items[i]].type), i, i);
    for (uint32_t i = 0; i < kernel->ordered.count; i++) {
        const FlowNode *node = &e->network->nodes.items[kernel->ordered.items[i]];
        uint32_t number = kernel->outputs.count + i;
        emit_line(e, "%s *const restrict out%u = call->outputs[%u];", emit_leaf_c_type(node->inputs[0].type), number, number);
    }
    for (uint32_t i = 0; i < kernel->sinks.count; i++) {
        uint32_t number = kernel->outputs.count + kernel->ordered.count + i;
        emit_line(e, "%s *const restrict out%u = call->outputs[%u];", emit_leaf_c_type(kernel->sinks.items[i].operand.type), number, number);
    }
    for (uint32_t i = 0; i < kernel->scatters.count; i++) {
        uint32_t number = emit_first_scatter(kernel) + i;
        emit_line(e, "%s *const restrict out%u = call->outputs[%u];", emit_leaf_c_type(kernel->scatters.items[i].operand.type), number, number);
    }
}

void emit_inputs(Emitter *e)
{
    for (uint32_t i = 0; i < e->kernel->streams.count; i++) {
        FlowStreamId stream = e->kernel->streams.items[i];
        emit_line(e, "const %s %s = in%u[i];", emit_leaf_c_type(e->network->streams.items[stream].type), emit_variable(e, stream).text, i);
    }
}
