/* Functions as the VM calls them: for points in memory, one after the other. */
#include "kernel/function_write.h"

static void write_entry_call(Writer *writer, const CoreBlock *body, uint32_t *arguments)
{
    const Layout *results = write_layout(writer, body->result.type);
    for (uint32_t i = 0; i < results->count; i++)
        write_line(writer, "%s result%u;", write_leaf_type(results->leaves[i].type), i);
    Text call;
    text_init(&call, writer->out->memory);
    function_text_name(writer->texts, writer->function, &call);
    text_add_char(&call, '(');
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, ++*arguments)
            text_addf(&call, "((%s const *)call->streams[%u])[i * call->strides[%u]], ", write_leaf_type(leaves->leaves[leaf].type),
                      *arguments, *arguments);
    }
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(&call, "&result%u, ", i);
    if (!function_text_accepts(writer->texts, writer->function))
        text_add(&call, "&call->workspace->regions[0], &call->workspace->regions[1], ");
    write_line(writer, "if (!%scall->depth, &scalars)) {", text_string(&call));
    if (!function_text_accepts(writer->texts, writer->function))
        write_line(writer, "    kernel_release(&call->workspace->regions[1], mark);");
    write_line(writer, "    *call->done = i;");
    write_line(writer, "    return KERNEL_FAILED;");
    write_line(writer, "}");
    text_free(&call);
}

static void write_entry_results(Writer *writer, const Layout *results)
{
    for (uint32_t i = 0; i < results->count; i++) {
        ScalarType type = (ScalarType)results->leaves[i].type;
        const char *canonical = type == SCALAR_F64 ? "canonical_F64" : type == SCALAR_F32 ? "canonical_F32" : "";
        write_line(writer, "((%s *)call->outputs[%u])[i] = %s(result%u);", write_leaf_type(results->leaves[i].type), i, canonical, i);
    }
}

void function_write_entry(FunctionTexts *texts, CoreFunctionId function, Text *out)
{
    const CoreBlock *body = function_text_body(texts, function);
    Writer writer = writer_of(texts, function);
    writer.out = out;
    uint32_t arguments = 0;
    text_addf(out, "\nuint64_t entry_%u(const KernelCall *restrict call)\n{\n", function);
    write_line(&writer, "const KernelScalars scalars = kernel_scalars(call);");
    if (!function_text_accepts(texts, function))
        write_line(&writer, "const KernelMark mark = kernel_mark(&call->workspace->regions[1]);");
    write_open_brace(&writer, "for (int64_t i = 0; i < call->count; i++)");
    write_entry_call(&writer, body, &arguments);
    write_entry_results(&writer, write_layout(&writer, body->result.type));
    write_close_brace(&writer);
    write_line(&writer, "*call->done = call->count;");
    write_line(&writer, "return 0;");
    text_add(out, "}\n");
}
