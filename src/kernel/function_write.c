/* From Core to C. Tuples are no more than names for their leaves; every operation is a constant of its own, for the C compiler to put where it likes. */
#include "kernel/function_write.h"

#include "kernel/c_text.h"
#include "kernel/op_text.h"
#include "source/diagnostics.h"

#include <string.h>

/* Where the value of a block goes. */
typedef struct Destination {
    bool is_tail;         /* it is the value of the function; otherwise: */
    const char **targets; /* variables */
} Destination;

typedef struct Writer {
    FunctionTexts *texts;
    const CoreProgram *program;
    Arena *arena;
    const Sources *sources;
    Text *out;
    uint32_t depth; /* of braces */
    uint32_t shown; /* line of the source */
    uint32_t variables; /* that there are so far */
    CoreFunctionId function;
    bool has_flag; /* operations that can fail */
    ClassSet *types;
    bool *with_math;
} Writer;

/* ---- lines ---- */

__attribute__((format(printf, 2, 3))) static void line(Writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    c_line(writer->out, writer->depth, format, arguments);
    va_end(arguments);
}

static void open_brace(Writer *writer, const char *head)
{
    line(writer, "%s {", head);
    writer->depth++;
}

static void close_brace(Writer *writer)
{
    writer->depth--;
    line(writer, "}");
}

/* After whatever can fail. */
static void check(Writer *writer)
{
    writer->has_flag = true;
    line(writer, "if (failed)");
    line(writer, "    return false;");
}

/* ---- types and names ---- */

static TypeId type_of(const Writer *writer, CoreVar variable)
{
    return writer->program->variables.items[variable].type;
}

static const Layout *layout(const Writer *writer, TypeId type)
{
    return layout_of(writer->texts->layouts, type);
}

static const char *leaf_c_type(LeafType type)
{
    return type == LEAF_ARRAY ? "KernelArrayRef" : c_type((ScalarType)type);
}

static const char *word(Writer *writer, Name name)
{
    char letters[C_NAME_MAX + 1];
    uint32_t number = writer->variables++;
    if (name == 0 || c_name(names_text(writer->program->names, name), letters) == 0)
        return arena_format(writer->arena, "v%u", number);
    return arena_format(writer->arena, "%s_%u", letters, number);
}

/* Names for the leaves of a variable. */
static const char **new_words(Writer *writer, CoreVar variable)
{
    uint32_t count = layout(writer, type_of(writer, variable))->count;
    const char **words = ARENA_ARRAY(writer->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++)
        words[i] = word(writer, writer->program->variables.items[variable].name);
    writer->texts->values[variable] = words;
    return words;
}

static const char **atom_words(const Writer *writer, const CoreAtom *atom)
{
    if (!atom->is_constant)
        return writer->texts->values[atom->variable];
    Text text;
    text_init(&text, writer->out->memory);
    constant_text(&text, type_scalar(writer->program->types, atom->type), atom->constant);
    const char **words = ARENA_ARRAY(writer->arena, const char *, 1);
    words[0] = arena_text(writer->arena, text_string(&text), text.length);
    text_free(&text);
    return words;
}

void function_text_name(const FunctionTexts *texts, CoreFunctionId function, Text *out)
{
    char letters[C_NAME_MAX + 1];
    c_name(names_text(texts->program->names, texts->program->functions.items[function]->name), letters);
    text_addf(out, "%s_f%u(", letters, function);
}

/* ---- operations on scalars ---- */

static void note_type(Writer *writer, TypeId type)
{
    if (type_is_scalar(writer->program->types, type))
        *writer->types |= (ClassSet)1 << type_scalar(writer->program->types, type);
}

static void begin_constant(Writer *writer, LeafType type, const char *name)
{
    text_add_repeated(writer->out, ' ', writer->depth * C_INDENT);
    text_addf(writer->out, "const %s %s = ", leaf_c_type(type), name);
}

static void write_scalar_op(Writer *writer, const CoreStatement *statement)
{
    enum { ARGUMENTS_MAX = 3 };
    const char *arguments[ARGUMENTS_MAX] = {0};
    ScalarType target = type_scalar(writer->program->types, type_of(writer, statement->target)), operand = target;
    note_type(writer, type_of(writer, statement->target));
    for (uint32_t i = 0; i < statement->argument_count && i < ARGUMENTS_MAX; i++) {
        arguments[i] = atom_words(writer, &statement->arguments[i])[0];
        note_type(writer, statement->arguments[i].type);
    }
    if (statement->argument_count > 0)
        operand = type_scalar(writer->program->types, statement->arguments[0].type);
    *writer->with_math |= op_text_needs_math(statement->op, operand, target);
    begin_constant(writer, (LeafType)target, new_words(writer, statement->target)[0]);
    op_text(writer->out, statement->op, operand, target, arguments, "&failed");
    text_add(writer->out, ";\n");
    if (op_text_can_fail(statement->op, operand, target))
        check(writer);
}

/* ---- operations on vectors: three leaves, of which slices have the first in common ---- */

enum { VECTOR_ARRAY, VECTOR_START, VECTOR_LENGTH, VECTOR_LEAVES };

bool function_write_is_of_vectors(Op op)
{
    switch ((int)op) {
    case OP_LENGTH:
    case OP_ELEMENT:
    case OP_INSIDE:
    case OP_SLICE:
    case OP_SUBSEQ:
    case OP_TAKE:
    case OP_DROP:
    case OP_CHECKED_INDEX: return true;
    default: return false;
    }
}

static void write_element(Writer *writer, const CoreStatement *statement)
{
    const char **vector = atom_words(writer, &statement->arguments[0]), *index = atom_words(writer, &statement->arguments[1])[0];
    const Layout *elements = layout(writer, type_of(writer, statement->target));
    const char **targets = new_words(writer, statement->target), *place = word(writer, 0);
    line(writer, "const int64_t %s = kernel_index(%s, %s, %s, &failed);", place, index, vector[VECTOR_START], vector[VECTOR_LENGTH]);
    check(writer);
    for (uint32_t i = 0; i < elements->count; i++) {
        const char *type = leaf_c_type(elements->leaves[i].type), *array = vector[VECTOR_ARRAY];
        line(writer, "const %s %s = ((%s const *)kernel_cells(%s, %u))[kernel_place(%s, %u, %s)];", type, targets[i], type, array, i,
             array, i, place);
    }
}

static void place_slice(Writer *writer, CoreVar target, const char *array, const char *start, const char *length)
{
    const char **words = ARENA_ARRAY(writer->arena, const char *, VECTOR_LEAVES);
    words[VECTOR_ARRAY] = array;
    words[VECTOR_START] = start;
    words[VECTOR_LENGTH] = length;
    writer->texts->values[target] = words;
}

/* The sum or difference of two ints, which is known not to overflow. */
static const char *computed(Writer *writer, const char *a, char operator, const char *b)
{
    const char *target = word(writer, 0);
    line(writer, "const int64_t %s = %s %c %s;", target, a, operator, b);
    return target;
}

static void write_slice(Writer *writer, const CoreStatement *statement)
{
    const char **vector = atom_words(writer, &statement->arguments[0]);
    const char *from = atom_words(writer, &statement->arguments[1])[0], *last = atom_words(writer, &statement->arguments[2])[0];
    bool is_checked = statement->op == OP_SUBSEQ;
    if (is_checked) {
        line(writer, "kernel_check_slice(%s, %s, %s, &failed);", from, last, vector[VECTOR_LENGTH]);
        check(writer);
    }
    const char *start = computed(writer, vector[VECTOR_START], '+', from);
    place_slice(writer, statement->target, vector[VECTOR_ARRAY], start, is_checked ? computed(writer, last, '-', from) : last);
}

static void write_cut(Writer *writer, const CoreStatement *statement)
{
    const char **vector = atom_words(writer, &statement->arguments[0]), *cut = word(writer, 0);
    line(writer, "const int64_t %s = kernel_cut(%s, %s, &failed);", cut, atom_words(writer, &statement->arguments[1])[0],
         vector[VECTOR_LENGTH]);
    check(writer);
    if (statement->op == OP_TAKE)
        place_slice(writer, statement->target, vector[VECTOR_ARRAY], vector[VECTOR_START], cut);
    else
        place_slice(writer, statement->target, vector[VECTOR_ARRAY], computed(writer, vector[VECTOR_START], '+', cut),
                    computed(writer, vector[VECTOR_LENGTH], '-', cut));
}

static void write_checked_index(Writer *writer, const CoreStatement *statement)
{
    const char **index = atom_words(writer, &statement->arguments[0]);
    line(writer, "(void)kernel_index(%s, 0, %s, &failed);", index[0], atom_words(writer, &statement->arguments[1])[0]);
    check(writer);
    writer->texts->values[statement->target] = index;
}

static void write_op(Writer *writer, const CoreStatement *statement)
{
    switch ((int)statement->op) {
    case OP_LENGTH:
        writer->texts->values[statement->target] = atom_words(writer, &statement->arguments[0]) + VECTOR_LENGTH;
        return;
    case OP_ELEMENT:
    case OP_INSIDE: write_element(writer, statement); return;
    case OP_SLICE:
    case OP_SUBSEQ: write_slice(writer, statement); return;
    case OP_TAKE:
    case OP_DROP: write_cut(writer, statement); return;
    case OP_CHECKED_INDEX: write_checked_index(writer, statement); return;
    default: write_scalar_op(writer, statement); return;
    }
}

/* ---- names for what is there ---- */

static void write_pair(Writer *writer, const CoreStatement *statement)
{
    uint32_t counts[2], filled = 0;
    for (uint32_t i = 0; i < 2; i++)
        counts[i] = layout(writer, statement->arguments[i].type)->count;
    const char **words = ARENA_ARRAY(writer->arena, const char *, counts[0] + counts[1]);
    for (uint32_t i = 0; i < 2; i++) {
        const char **component = atom_words(writer, &statement->arguments[i]);
        for (uint32_t leaf = 0; leaf < counts[i]; leaf++)
            words[filled++] = component[leaf];
    }
    writer->texts->values[statement->target] = words;
}

static void write_project(Writer *writer, const CoreStatement *statement)
{
    const CoreAtom *pair = &statement->arguments[0];
    TypeId first = type_first(writer->program->types, pair->type);
    uint32_t skipped = statement->component == 0 ? 0 : layout(writer, first)->count;
    writer->texts->values[statement->target] = atom_words(writer, pair) + skipped;
}

/* ---- calls ---- */

static uint32_t argument_leaves(const Writer *writer, const CoreStatement *statement)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        count += layout(writer, statement->arguments[i].type)->count;
    return count;
}

static const char **argument_words(Writer *writer, const CoreStatement *statement)
{
    const char **words = ARENA_ARRAY(writer->arena, const char *, argument_leaves(writer, statement));
    for (uint32_t i = 0, filled = 0; i < statement->argument_count; i++) {
        const char **argument = atom_words(writer, &statement->arguments[i]);
        for (uint32_t leaf = 0; leaf < layout(writer, statement->arguments[i].type)->count; leaf++)
            words[filled++] = argument[leaf];
    }
    return words;
}

static void write_arguments(Writer *writer, const CoreStatement *statement)
{
    const char **arguments = argument_words(writer, statement);
    function_text_name(writer->texts, statement->function, writer->out);
    for (uint32_t i = 0; i < argument_leaves(writer, statement); i++)
        text_addf(writer->out, "%s, ", arguments[i]);
}

static void write_call(Writer *writer, const CoreStatement *statement)
{
    const Layout *results = layout(writer, type_of(writer, statement->target));
    const char **targets = new_words(writer, statement->target);
    for (uint32_t i = 0; i < results->count; i++)
        line(writer, "%s %s;", leaf_c_type(results->leaves[i].type), targets[i]);
    text_add_repeated(writer->out, ' ', writer->depth * C_INDENT);
    text_add(writer->out, "if (!");
    write_arguments(writer, statement);
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(writer->out, "&%s, ", targets[i]);
    text_add(writer->out, "depth - 1, scalars))\n");
    line(writer, "    return false;");
}

/* Parameters take their next values; one that is overwritten before it is read is kept. */
static void write_turn(Writer *writer, const CoreStatement *statement)
{
    const CoreBlock *body = writer->program->functions.items[writer->function]->body;
    uint32_t count = argument_leaves(writer, statement), filled = 0;
    const char **sources = argument_words(writer, statement);
    const char **targets = ARENA_ARRAY(writer->arena, const char *, count);
    LeafType *types = ARENA_ARRAY(writer->arena, LeafType, count);
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = layout(writer, type_of(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++) {
            targets[filled] = writer->texts->values[body->parameters[i]][leaf];
            types[filled] = leaves->leaves[leaf].type;
        }
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t before = 0; before < i; before++)
            if (strcmp(sources[i], targets[before]) == 0 && strcmp(sources[before], targets[before]) != 0) {
                const char *kept = word(writer, 0);
                line(writer, "const %s %s = %s;", leaf_c_type(types[before]), kept, sources[i]);
                sources[i] = kept;
                break;
            }
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sources[i], targets[i]) != 0)
            line(writer, "%s = %s;", targets[i], sources[i]);
    line(writer, "continue;");
}

/* `result`, or `result0` and so on. */
static const char *result_word(const Writer *writer, uint32_t leaf, uint32_t count)
{
    return count == 1 ? "result" : arena_format(writer->arena, "result%u", leaf);
}

static void write_tail_call(Writer *writer, const CoreStatement *statement)
{
    if (statement->function == writer->function) {
        write_turn(writer, statement);
        return;
    }
    uint32_t count = layout(writer, type_of(writer, statement->target))->count;
    text_add_repeated(writer->out, ' ', writer->depth * C_INDENT);
    text_add(writer->out, "return ");
    write_arguments(writer, statement);
    for (uint32_t i = 0; i < count; i++)
        text_addf(writer->out, "%s, ", result_word(writer, i, count));
    text_add(writer->out, "depth, scalars);\n");
}

/* ---- blocks ---- */

static void write_block(Writer *writer, const CoreBlock *block, Destination destination);

static void write_if(Writer *writer, const CoreStatement *statement, Destination destination)
{
    open_brace(writer, arena_format(writer->arena, "if (%s)", atom_words(writer, &statement->arguments[0])[0]));
    write_block(writer, statement->blocks[0], destination);
    writer->depth--;
    open_brace(writer, "} else");
    write_block(writer, statement->blocks[1], destination);
    close_brace(writer);
}

/* An `if` whose value is needed here. */
static void write_inner_if(Writer *writer, const CoreStatement *statement)
{
    const Layout *leaves = layout(writer, type_of(writer, statement->target));
    Destination destination = {.targets = new_words(writer, statement->target)};
    for (uint32_t i = 0; i < leaves->count; i++)
        line(writer, "%s %s;", leaf_c_type(leaves->leaves[i].type), destination.targets[i]);
    write_if(writer, statement, destination);
}

static void write_statement(Writer *writer, const CoreStatement *statement)
{
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP:
        writer->texts->values[statement->target] = atom_words(writer, &statement->arguments[0]);
        return;
    case CORE_UNIT:
        writer->texts->values[statement->target] = NULL;
        return;
    case CORE_PAIR: write_pair(writer, statement); return;
    case CORE_PROJECT: write_project(writer, statement); return;
    case CORE_OP: write_op(writer, statement); return;
    case CORE_CALL: write_call(writer, statement); return;
    case CORE_IF: write_inner_if(writer, statement); return;
    case CORE_MAKE:
    case CORE_TEXT:
    case CORE_EACH:
    case CORE_GUARD:
    case CORE_GROUP: break;
    }
    bug("kernels", "a function was not accepted and is written");
}

/* Nothing of the function is needed after the statement. */
static bool is_last(const CoreBlock *block, uint32_t statement)
{
    return statement + 1 == block->statement_count && !block->result.is_constant &&
           block->result.variable == block->statements[statement].target;
}

static void write_result(Writer *writer, const CoreBlock *block, Destination destination)
{
    uint32_t count = layout(writer, block->result.type)->count;
    const char **words = atom_words(writer, &block->result);
    for (uint32_t i = 0; i < count; i++)
        if (destination.is_tail)
            line(writer, "*%s = %s;", result_word(writer, i, count), words[i]);
        else
            line(writer, "%s = %s;", destination.targets[i], words[i]);
    if (destination.is_tail)
        line(writer, "return true;");
}

static void write_block(Writer *writer, const CoreBlock *block, Destination destination)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        bool is_end = destination.is_tail && is_last(block, i);
        c_source(writer->out, writer->depth, writer->sources, statement->span, &writer->shown);
        if (is_end && statement->kind == CORE_CALL) {
            write_tail_call(writer, statement);
            return;
        }
        if (is_end && statement->kind == CORE_IF) {
            write_if(writer, statement, destination);
            return;
        }
        write_statement(writer, statement);
    }
    write_result(writer, block, destination);
}

/* ---- functions ---- */

/* Whether a block in tail position ends in a call of this function, on some way through it. */
static bool has_turn(const CoreBlock *block, CoreFunctionId function)
{
    if (block->statement_count == 0 || !is_last(block, block->statement_count - 1))
        return false;
    const CoreStatement *last = &block->statements[block->statement_count - 1];
    if (last->kind == CORE_IF)
        return has_turn(last->blocks[0], function) || has_turn(last->blocks[1], function);
    return last->kind == CORE_CALL && last->function == function;
}

static void load_global(Writer *writer, const CoreAtom *atom)
{
    if (atom->is_constant || !writer->program->variables.items[atom->variable].is_global ||
        writer->texts->values[atom->variable] != NULL)
        return;
    const FunctionGlobal *global = writer->texts->globals.items;
    while (global->variable != atom->variable)
        global++;
    const Layout *leaves = layout(writer, atom->type);
    const char **words = new_words(writer, atom->variable);
    for (uint32_t i = 0; i < leaves->count; i++) {
        const char *type = leaf_c_type(leaves->leaves[i].type);
        line(writer, "if (scalars->call->globals[%u] == NULL)", global->first + i);
        line(writer, "    return false;");
        line(writer, "const %s %s = *(const %s *)scalars->call->globals[%u];", type, words[i], type, global->first + i);
    }
}

/* Those that a function reads, at its beginning: each may have no value yet. */
static void load_globals(Writer *writer, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        for (uint32_t a = 0; a < statement->argument_count; a++)
            load_global(writer, &statement->arguments[a]);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                load_globals(writer, statement->blocks[b]);
    }
    load_global(writer, &block->result);
}

static void forget_globals(Writer *writer)
{
    for (uint32_t i = 0; i < writer->texts->globals.count; i++)
        writer->texts->values[writer->texts->globals.items[i].variable] = NULL;
}

static void write_header(Writer *writer, Text *out)
{
    const CoreFunction *function = writer->program->functions.items[writer->function];
    text_add(out, "static bool ");
    function_text_name(writer->texts, writer->function, out);
    for (uint32_t i = 0; i < function->body->parameter_count; i++) {
        const Layout *leaves = layout(writer, type_of(writer, function->body->parameters[i]));
        const char **words = new_words(writer, function->body->parameters[i]);
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++)
            text_addf(out, "%s %s, ", leaf_c_type(leaves->leaves[leaf].type), words[leaf]);
    }
    const Layout *results = layout(writer, function->body->result.type);
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(out, "%s *%s, ", leaf_c_type(results->leaves[i].type), result_word(writer, i, results->count));
    text_add(out, "int64_t depth, const KernelScalars *scalars)");
}

static Writer writer_of(FunctionTexts *texts, CoreFunctionId function)
{
    return (Writer){.texts = texts, .program = texts->program, .arena = texts->arena, .depth = 1, .variables = 1, .function = function};
}

void function_write_prototype(FunctionTexts *texts, CoreFunctionId function, Text *out)
{
    Writer writer = writer_of(texts, function);
    write_header(&writer, out);
    text_add(out, ";\n");
}

static void write_body(Writer *writer, const CoreBlock *body)
{
    line(writer, "if (!kernel_may_enter(depth, scalars))");
    line(writer, "    return false;");
    load_globals(writer, body);
    bool loops = has_turn(body, writer->function);
    if (loops) {
        open_brace(writer, "for (uint32_t turn = 1;; turn++)");
        line(writer, "if (!kernel_may_turn(turn, scalars))");
        line(writer, "    return false;");
    }
    write_block(writer, body, (Destination){.is_tail = true});
    if (loops)
        close_brace(writer);
    forget_globals(writer);
}

void function_write(FunctionTexts *texts, CoreFunctionId function, const Sources *sources, Text *out, ClassSet *types,
                    bool *with_math)
{
    Text body;
    text_init(&body, out->memory);
    Writer writer = writer_of(texts, function);
    writer.sources = sources;
    writer.out = &body;
    writer.types = types;
    writer.with_math = with_math;
    text_add_char(out, '\n');
    c_source(out, 0, sources, texts->program->functions.items[function]->span, &writer.shown);
    write_header(&writer, out);
    write_body(&writer, texts->program->functions.items[function]->body);
    text_addf(out, "\n{\n%s", writer.has_flag ? "    OpFlag failed = 0;\n" : "");
    text_add(out, text_string(&body));
    text_add(out, "}\n");
    text_free(&body);
}
