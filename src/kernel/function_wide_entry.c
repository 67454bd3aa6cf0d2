/* Entries of wide versions: points of a call that are like each other are brought together, and their results put where they belong. */
#include "kernel/function_wide.h"

static const char *stream_text(Wide *wide, LeafType type, uint32_t leaf, const char *point)
{
    return arena_format(wide->writer.arena, "((%s const *)call->streams[%u])[%s * call->strides[%u]]", write_leaf_type(type), leaf, point, leaf);
}

static void begin_entry(Wide *wide, const char *suffix, const char *type, const char *parameters)
{
    text_addf(wide->writer.out, "\nstatic %s ", type);
    function_text_name(wide->writer.texts, wide->writer.function, wide->writer.out);
    text_addf(wide->writer.out, "_%s(%s)\n{\n", suffix, parameters);
}

static void end_entry(Wide *wide, const char *result)
{
    wide_line(wide, "return %s;", result);
    text_add(wide->writer.out, "}\n");
}

/* Lengths of vectors that points have of their own: without any, points are all alike. */
static uint32_t count_own_lengths(Wide *wide, const CoreBlock *body)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++)
            count += !wide_is_shared(wide, i) && wide_is_length(leaves, leaf);
    }
    return count;
}

/* A point is like others if the vectors of its own are as long as theirs. A single length is the key itself. */
static void write_key(Wide *wide, const CoreBlock *body)
{
    begin_entry(wide, "key", "uint64_t", "const KernelCall *call, int64_t point");
    wide_line(wide, "uint64_t key = 0;");
    for (uint32_t i = 0, filled = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++)
            if (!wide_is_shared(wide, i) && wide_is_length(leaves, leaf))
                wide_line(wide, "key = key * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)%s;", stream_text(wide, (LeafType)SCALAR_I64, filled, "point"));
    }
    end_entry(wide, "key");
}

static void write_point(Wide *wide, const CoreBlock *body)
{
    Writer *writer = &wide->writer;
    const Layout *results = write_layout(writer, body->result.type);
    begin_entry(wide, "point", "bool", "const KernelCall *call, const KernelScalars *scalars, int64_t point");
    wide_line(wide, "KernelRegion *const regions = call->workspace->regions;");
    wide_line(wide, "const KernelMark mark = kernel_mark(&regions[1]);");
    for (uint32_t i = 0; i < results->count; i++)
        wide_line(wide, "%s result%u;", write_leaf_type(results->leaves[i].type), i);
    text_add(writer->out, "    if (!");
    function_text_name(writer->texts, writer->function, writer->out);
    text_add_char(writer->out, '(');
    for (uint32_t i = 0, filled = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++)
            text_addf(writer->out, "%s, ", stream_text(wide, leaves->leaves[leaf].type, filled, "point"));
    }
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(writer->out, "&result%u, ", i);
    text_add(writer->out, "&regions[0], &regions[1], call->depth, scalars)) {\n");
    wide_line(wide, "    kernel_release(&regions[1], mark);");
    wide_line(wide, "    return false;");
    wide_line(wide, "}");
    for (uint32_t i = 0; i < results->count; i++)
        wide_line(wide, "((%s *)call->outputs[%u])[point] = %s;", write_leaf_type(results->leaves[i].type), i,
                  vectors_canonical(writer, results->leaves[i].type, arena_format(writer->arena, "result%u", i)));
    end_entry(wide, "true");
}

/* One value that is to be the same for all points; `is_key` if points are brought together by it. */
static void write_same(Wide *wide, LeafType type, uint32_t leaf, bool is_key)
{
    wide_line(wide, "const %s a%u = s%u[points[0] & m%u];", write_leaf_type(type), leaf, leaf, leaf);
    if (is_key)
        return;
    wide_line(wide, "for (int64_t lane = 1; lane < count && m%u != 0; lane++)", leaf);
    wide_line(wide, "    differs |= __builtin_memcmp(&s%u[points[lane]], &a%u, sizeof a%u) != 0;", leaf, leaf, leaf);
}

/* An array of what differs; where points follow each other, as they lie, if that are enough of them. */
static void write_own(Wide *wide, LeafType type, uint32_t leaf, bool is_row)
{
    const char *c = write_leaf_type(type);
    if (!is_row) {
        wide_line(wide, "%s a%u[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;", c, leaf);
        wide_line(wide, "KERNEL_WIDE_MOVE");
        wide_line(wide, "    a%u[lane] = s%u[points[lane] & m%u];", leaf, leaf, leaf);
        return;
    }
    wide_line(wide, "%s b%u[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;", c, leaf);
    wide_line(wide, "%s const *a%u = s%u + points[0];", c, leaf, leaf);
    wide_line(wide, "if (m%u == 0 || count < KERNEL_WIDE) {", leaf);
    wide_line(wide, "    KERNEL_WIDE_MOVE");
    wide_line(wide, "        b%u[lane] = s%u[points[lane] & m%u];", leaf, leaf, leaf);
    wide_line(wide, "    a%u = b%u;", leaf, leaf);
    wide_line(wide, "}");
}

static void write_argument(Wide *wide, LeafType type, uint32_t leaf, bool is_one, bool is_key, bool is_row)
{
    wide_line(wide, "%s const *const s%u = call->streams[%u];", write_leaf_type(type), leaf, leaf);
    wide_line(wide, "const int64_t m%u = -call->strides[%u];", leaf, leaf);
    if (is_one)
        write_same(wide, type, leaf, is_key);
    else
        write_own(wide, type, leaf, is_row);
}

static void write_points(Wide *wide, const CoreBlock *body)
{
    Writer *writer = &wide->writer;
    const Layout *results = write_layout(writer, body->result.type);
    uint32_t filled = 0, own_lengths = count_own_lengths(wide, body);
    bool is_row = own_lengths == 0;
    begin_entry(wide, "points", "bool", "const KernelCall *call, const KernelScalars *scalars, const int64_t *points, int64_t count");
    wide_line(wide, "bool differs = false;");
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++) {
            bool is_own_length = !wide_is_shared(wide, i) && wide_is_length(leaves, leaf);
            write_argument(wide, leaves->leaves[leaf].type, filled, wide_is_shared(wide, i) || is_own_length, is_own_length && own_lengths == 1, is_row);
        }
    }
    for (uint32_t i = 0; i < results->count; i++)
        wide_line(wide, "%s result%u[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;", write_leaf_type(results->leaves[i].type), i);
    wide_line(wide, "KernelRegion *const region = &call->workspace->regions[1];");
    wide_line(wide, "const KernelMark mark = kernel_mark(region);");
    text_add(writer->out, "    const bool is_done = !differs && ");
    function_text_name(writer->texts, writer->function, writer->out);
    text_add(writer->out, "_wide(");
    for (uint32_t i = 0; i < filled; i++)
        text_addf(writer->out, "a%u, ", i);
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(writer->out, "result%u, ", i);
    text_add(writer->out, "region, call->depth, scalars);\n");
    wide_line(wide, "kernel_release(region, mark);");
    for (uint32_t i = 0; i < results->count; i++) {
        wide_line(wide, "%s *const o%u = call->outputs[%u];", write_leaf_type(results->leaves[i].type), i, i);
        wide_line(wide, "for (int64_t lane = 0; lane < count && is_done; lane++)");
        wide_line(wide, "    o%u[%s] = result%u[lane];", i, is_row ? "points[0] + lane" : "points[lane]", i);
    }
    end_entry(wide, "is_done");
}

void function_wide_write_entry(FunctionTexts *texts, CoreFunctionId function, Text *out)
{
    const CoreBlock *body = texts->program->functions.items[function]->body;
    Wide wide = {.writer = writer_of(texts, function)};
    Text name;
    wide.writer.out = out;
    text_init(&name, out->memory);
    function_text_name(texts, function, &name);
    bool is_complete = texts->is_complete[function], is_keyed = count_own_lengths(&wide, body) > 0;
    if (is_keyed)
        write_key(&wide, body);
    if (is_complete)
        write_point(&wide, body);
    write_points(&wide, body);
    text_addf(out, "\nuint64_t entry_%u(const KernelCall *restrict call)\n{\n", function);
    const char *point = is_complete ? arena_format(texts->arena, "%s_point", text_string(&name)) : "NULL";
    const char *key = is_keyed ? arena_format(texts->arena, "%s_key", text_string(&name)) : "NULL";
    wide_line(&wide, "return kernel_wide_entry(call, %s, %s_points, %s);", key, text_string(&name), point);
    text_add(out, "}\n");
    text_free(&name);
}
