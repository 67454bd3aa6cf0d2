/* Functions that are loops: their vectors from turn to turn.
 *
 * What a turn gives to the next is built where the result is; it would pile up there. So now and then, when most of it is not needed any more, what is needed is moved together. A vector
 * that the loop made, and that nobody else has, is changed in place by what would give a changed copy of it: a flag for each parameter says whether it is such a one. */
#include "kernel/function_vectors.h"

static const CoreBlock *body_of(const Writer *writer)
{
    return writer->program->functions.items[writer->function]->body;
}

static bool is_vector(const Writer *writer, CoreVar variable)
{
    return type_is_vector(writer->program->types, write_type(writer, variable));
}

void turns_begin(Writer *writer)
{
    const CoreBlock *body = body_of(writer);
    writer->has_turns = write_has_turn(body, writer->function);
    if (!writer->has_turns)
        return;
    write_line(writer, "const KernelMark start = kernel_mark(into);");
    write_line(writer, "size_t limit = KERNEL_LOOP;");
    writer->owned = ARENA_ARRAY(writer->arena, const char *, body->parameter_count);
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (is_vector(writer, body->parameters[i])) {
            writer->owned[i] = write_word(writer, 0);
            write_line(writer, "bool %s = false;", writer->owned[i]);
        }
}

/* ---- who else has a vector ---- */

const char *turns_ownership(const Writer *writer, const CoreStatement *statement, uint32_t argument)
{
    const CoreAtom *atom = &statement->arguments[argument];
    if (atom->is_constant || !shape_is_spent(writer->texts, body_of(writer), atom->variable, statement))
        return NULL;
    const VariableShape *shape = &writer->texts->shapes[atom->variable];
    if (shape->definition != NULL) {
        bool is_here = writer->texts->shapes[statement->target].level == shape->level && shape->member == 0;
        const char **words = writer->texts->values[atom->variable];
        const char *region = is_here && words != NULL ? write_region_of(writer, words[VECTOR_ARRAY]) : NULL;
        bool is_fresh = shape_makes(writer->texts, shape->definition);
        return region != NULL && is_fresh && region == vectors_region(writer, statement->target) ? "true" : NULL;
    }
    for (uint32_t i = 0; i < body_of(writer)->parameter_count && writer->has_turns; i++)
        if (body_of(writer)->parameters[i] == atom->variable && writer->texts->shapes[statement->target].level == 0 && shape_rises(writer->texts, statement->target))
            return writer->owned[i];
    return NULL;
}

/* What the flag of a parameter is after the turn. */
static const char *next_owned(const Writer *writer, const CoreStatement *call, uint32_t parameter)
{
    const CoreAtom *atom = &call->arguments[parameter];
    if (atom->is_constant || !shape_is_spent(writer->texts, body_of(writer), atom->variable, call))
        return "false";
    if (atom->variable == body_of(writer)->parameters[parameter])
        return writer->owned[parameter];
    const CoreStatement *definition = writer->texts->shapes[atom->variable].definition;
    return definition != NULL && shape_makes(writer->texts, definition) && writer->texts->shapes[atom->variable].member == 0 ? "true" : "false";
}

void turns_own(Writer *writer, const CoreStatement *call)
{
    for (uint32_t i = 0; i < body_of(writer)->parameter_count; i++) {
        const char *next = writer->owned[i] == NULL ? NULL : next_owned(writer, call, i);
        if (next != NULL && next != writer->owned[i])
            write_line(writer, "%s = %s;", writer->owned[i], next);
    }
}

/* ---- what is moved together ---- */

static void add_layout(Text *text, const Layout *layout)
{
    text_addf(text, "&(const KernelLayout){%u, (const KernelLeaf[]){", layout->count);
    for (uint32_t i = 0; i < layout->count; i++) {
        text_addf(text, "%s{%zu, ", i == 0 ? "" : ", ", leaf_size(layout->leaves[i].type));
        if (layout->leaves[i].type == LEAF_ARRAY)
            add_layout(text, layout->leaves[i].elements);
        else
            text_add(text, "NULL");
        text_add(text, "}");
    }
    text_add(text, "}}");
}

typedef struct Moved {
    VEC(const char *) arrays, starts; /* words that get new values */
    Text text;
} Moved;

static void add_vectors(Writer *writer, Moved *moved, const Layout *layout, const char **words)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        if (layout->leaves[i].type != LEAF_ARRAY)
            continue;
        text_add(&moved->text, moved->arrays.count == 0 ? "{" : ", {");
        add_layout(&moved->text, layout->leaves[i].elements);
        text_addf(&moved->text, ", %s, %s, %s}", words[i + VECTOR_ARRAY], words[i + VECTOR_START], words[i + VECTOR_LENGTH]);
        *vec_push(writer->arena, &moved->arrays) = words[i + VECTOR_ARRAY];
        *vec_push(writer->arena, &moved->starts) = words[i + VECTOR_START];
    }
}

static void write_moved(Writer *writer, Moved *moved, const char *limit)
{
    if (moved->arrays.count == 0)
        return;
    write_open_brace(writer, arena_format(writer->arena, "if (kernel_used(into, start) > %s)", limit));
    write_line(writer, "KernelVector vectors[] = {%s};", text_string(&moved->text));
    write_line(writer, "%s = kernel_compact(into, start, aside, mark, vectors, %u);", limit, moved->arrays.count);
    vectors_fail_if(writer, "%s == 0", limit);
    for (uint32_t i = 0; i < moved->arrays.count; i++) {
        write_line(writer, "%s = vectors[%u].array;", moved->arrays.items[i], i);
        write_line(writer, "%s = vectors[%u].start;", moved->starts.items[i], i);
    }
    write_close_brace(writer);
}

void turns_turn(Writer *writer)
{
    const CoreBlock *body = body_of(writer);
    Moved moved = {0};
    text_init(&moved.text, writer->out->memory);
    for (uint32_t i = 0; i < body->parameter_count; i++)
        add_vectors(writer, &moved, write_layout(writer, write_type(writer, body->parameters[i])), writer->texts->values[body->parameters[i]]);
    write_moved(writer, &moved, "limit");
    text_free(&moved.text);
}

void turns_return(Writer *writer)
{
    const Layout *results = write_layout(writer, body_of(writer)->result.type);
    const char **words = ARENA_ARRAY(writer->arena, const char *, results->count);
    Moved moved = {0};
    text_init(&moved.text, writer->out->memory);
    for (uint32_t i = 0; i < results->count; i++)
        words[i] = arena_format(writer->arena, "*%s", write_result_word(writer, i, results->count));
    add_vectors(writer, &moved, results, words);
    if (moved.arrays.count == 0)
        write_line(writer, "kernel_release(into, start);");
    else
        write_line(writer, "limit = KERNEL_LEFTOVER;");
    write_moved(writer, &moved, "limit");
    text_free(&moved.text);
}
