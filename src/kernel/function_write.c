/* From Core to C. Tuples are no more than names for their leaves; every operation is a constant of its own, for the C compiler to put where it likes. */
#include "kernel/function_vectors.h"

#include "kernel/c_text.h"
#include "kernel/function_join.h"
#include "kernel/op_text.h"
#include "source/diagnostics.h"

#include <string.h>

/* Where the value of a block goes. */
typedef struct Destination {
    bool is_tail;         /* it is the value of the function; otherwise: */
    const char **targets; /* variables */
} Destination;

/* ---- lines ---- */

__attribute__((format(printf, 2, 3))) void write_line(Writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    c_line(writer->out, writer->depth, format, arguments);
    va_end(arguments);
}

void write_open_brace(Writer *writer, const char *head)
{
    write_line(writer, "%s {", head);
    writer->depth++;
}

/* What was found inside is not known any more. */
static void leave_braces(Writer *writer)
{
    writer->depth--;
    while (writer->cells.count > 0 && writer->cells.items[writer->cells.count - 1].depth > writer->depth)
        writer->cells.count--;
    while (writer->runs.count > 0 && writer->runs.items[writer->runs.count - 1].depth > writer->depth)
        writer->runs.count--;
    while (writer->made_late.count > 0 && writer->made_late.items[writer->made_late.count - 1].depth > writer->depth)
        writer->texts->values[writer->made_late.items[--writer->made_late.count].variable] = NULL;
}

void write_close_brace(Writer *writer)
{
    leave_braces(writer);
    write_line(writer, "}");
}

void write_open_if(Writer *writer, const char *format, const char *word)
{
    write_open_brace(writer, arena_format(writer->arena, format, word));
}

void write_else(Writer *writer)
{
    leave_braces(writer);
    write_open_brace(writer, "} else");
}

static const MadeArray *find_made(const Writer *writer, const char *array)
{
    for (uint32_t i = writer->made.count; i-- > 0;)
        if (writer->made.items[i].array == array)
            return &writer->made.items[i];
    return NULL;
}

bool write_is_shared(const Writer *writer, const char *array)
{
    const MadeArray *made = find_made(writer, array);
    return made != NULL && made->is_shared;
}

const char *write_region_of(const Writer *writer, const char *array)
{
    const MadeArray *made = find_made(writer, array);
    return made == NULL ? NULL : made->region;
}

bool write_is_flat(const Writer *writer, const char *array)
{
    return write_region_of(writer, array) != NULL;
}

void write_check(Writer *writer)
{
    writer->has_flag = true;
    writer->has_pending |= writer->is_deferred;
    if (writer->is_deferred)
        return;
    write_line(writer, "if (OP_RARELY(failed))");
    write_line(writer, "    return false;");
}

/* ---- types and names ---- */

TypeId write_type(const Writer *writer, CoreVar variable)
{
    return writer->program->variables.items[variable].type;
}

TypeId write_element_type(const Writer *writer, TypeId type)
{
    return type_element(writer->program->types, type_underlying(writer->program->types, type));
}

const Layout *write_layout(const Writer *writer, TypeId type)
{
    return layout_of(writer->texts->layouts, type);
}

const char *write_leaf_type(LeafType type)
{
    return type == LEAF_ARRAY ? "KernelArrayRef" : c_type((ScalarType)type);
}

const char *write_word(Writer *writer, Name name)
{
    char letters[C_NAME_MAX + 1];
    uint32_t number = writer->variables++;
    if (name == 0 || c_name(names_text(writer->program->names, name), letters) == 0)
        return arena_format(writer->arena, "v%u", number);
    return arena_format(writer->arena, "%s_%u", letters, number);
}

/* Names for the leaves of a variable. */
const char **write_new_words(Writer *writer, CoreVar variable)
{
    uint32_t count = write_layout(writer, write_type(writer, variable))->count;
    const char **words = ARENA_ARRAY(writer->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++)
        words[i] = write_word(writer, writer->program->variables.items[variable].name);
    writer->texts->values[variable] = words;
    return words;
}

const char **write_atom(Writer *writer, const CoreAtom *atom)
{
    if (!atom->is_constant) {
        const char **words = writer->texts->values[atom->variable];
        bool is_delayed = writer->into != NULL && words == NULL && writer->texts->shapes[atom->variable].is_delayed;
        return is_delayed ? vectors_make(writer, atom) : words;
    }
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
    text_addf(out, "%s_f%u", letters, function);
}

/* ---- operations on scalars ---- */

void write_note_type(Writer *writer, TypeId type)
{
    if (type_is_scalar(writer->program->types, type))
        *writer->types |= (ClassSet)1 << type_scalar(writer->program->types, type);
}

static void begin_constant(Writer *writer, LeafType type, const char *name)
{
    text_add_repeated(writer->out, ' ', writer->depth * C_INDENT);
    text_addf(writer->out, "const %s %s = ", write_leaf_type(type), name);
}

static const char *find_divisor(const Writer *writer, const char *divisor)
{
    for (uint32_t i = 0; i < writer->divisors.count; i++)
        if (strcmp(writer->divisors.items[i].divisor, divisor) == 0)
            return writer->divisors.items[i].word;
    return NULL;
}

void write_scalar_op(Writer *writer, const CoreStatement *statement)
{
    enum { ARGUMENTS_MAX = 3 };
    const char *arguments[ARGUMENTS_MAX] = {0};
    ScalarType target = type_scalar(writer->program->types, write_type(writer, statement->target)), operand = target;
    write_note_type(writer, write_type(writer, statement->target));
    for (uint32_t i = 0; i < statement->argument_count && i < ARGUMENTS_MAX; i++) {
        arguments[i] = write_atom(writer, &statement->arguments[i])[0];
        write_note_type(writer, statement->arguments[i].type);
    }
    if (statement->argument_count > 0)
        operand = type_scalar(writer->program->types, statement->arguments[0].type);
    *writer->with_math |= op_text_needs_math(statement->op, operand, target);
    begin_constant(writer, (LeafType)target, write_new_words(writer, statement->target)[0]);
    const char *divisor = statement->op == OP_DIVIDE ? find_divisor(writer, arguments[1]) : NULL;
    if (divisor != NULL)
        text_addf(writer->out, "%s(%s(%s, &%s), %s)", writer->divide, writer->tests_dividends ? "kernel_tested" : "kernel_watched", arguments[0], writer->slow, divisor);
    else if (writer->is_fast && op_text_needs_math(statement->op, operand, target) && op_text_wants_fast(statement->op, operand, target))
        op_text_fast(writer->out, statement->op, operand, target, arguments, "&failed", arena_format(writer->arena, "&%s", writer->slow));
    else
        op_text(writer->out, statement->op, operand, target, arguments, "&failed");
    text_add(writer->out, ";\n");
    if (op_text_can_fail(statement->op, operand, target))
        write_check(writer);
}

/* ---- operations on vectors: three leaves, of which slices have the first in common ---- */

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
    const char **vector = write_atom(writer, &statement->arguments[0]), *index = write_atom(writer, &statement->arguments[1])[0];
    const Layout *elements = write_layout(writer, write_type(writer, statement->target));
    const char **targets = write_new_words(writer, statement->target), *place = write_word(writer, 0);
    write_line(writer, "const int64_t %s = kernel_index(%s, %s, %s, &failed);", place, index, vector[VECTOR_START], vector[VECTOR_LENGTH]);
    write_check(writer);
    for (uint32_t i = 0; i < elements->count; i++) {
        const char *stride, *cells = vectors_cells(writer, vector[VECTOR_ARRAY], i, elements->leaves[i].type, &stride);
        write_line(writer, "const %s %s = %s[%s & -%s];", write_leaf_type(elements->leaves[i].type), targets[i], cells, place, stride); /* 0 or 1 */
    }
}

static bool is_kept_by(const CoreProgram *program, CoreFunctionId function, const CoreBlock *block, CoreVar variable)
{
    const CoreBlock *body = program->functions.items[function]->body;
    uint32_t parameter = 0;
    if (program->variables.items[variable].is_global)
        return true;
    while (parameter < body->parameter_count && body->parameters[parameter] != variable)
        parameter++;
    if (parameter == body->parameter_count)
        return false;
    if (block->statement_count == 0 || !write_is_last(block, block->statement_count - 1))
        return true;
    const CoreStatement *last = &block->statements[block->statement_count - 1];
    if (last->kind == CORE_IF)
        return is_kept_by(program, function, last->blocks[0], variable) && is_kept_by(program, function, last->blocks[1], variable);
    return last->kind != CORE_CALL || last->function != function ||
           (!last->arguments[parameter].is_constant && last->arguments[parameter].variable == variable);
}

bool write_is_kept(const CoreProgram *program, CoreFunctionId function, CoreVar variable)
{
    return is_kept_by(program, function, program->functions.items[function]->body, variable);
}

void write_hoist_cells(Writer *writer, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (shape_takes_element(statement) && write_is_kept(writer->program, writer->function, statement->arguments[0].variable)) {
            const Layout *elements = write_layout(writer, write_type(writer, statement->target));
            const char *array = writer->texts->values[statement->arguments[0].variable][VECTOR_ARRAY], *stride;
            for (uint32_t leaf = 0; leaf < elements->count; leaf++)
                vectors_cells(writer, array, leaf, elements->leaves[leaf].type, &stride);
        }
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                write_hoist_cells(writer, statement->blocks[b]);
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
    const char *target = write_word(writer, 0);
    write_line(writer, "const int64_t %s = %s %c %s;", target, a, operator, b);
    return target;
}

static void write_slice(Writer *writer, const CoreStatement *statement)
{
    const char **vector = write_atom(writer, &statement->arguments[0]);
    const char *from = write_atom(writer, &statement->arguments[1])[0], *last = write_atom(writer, &statement->arguments[2])[0];
    bool is_checked = statement->op == OP_SUBSEQ;
    if (is_checked) {
        write_line(writer, "kernel_check_slice(%s, %s, %s, &failed);", from, last, vector[VECTOR_LENGTH]);
        write_check(writer);
    }
    const char *start = computed(writer, vector[VECTOR_START], '+', from);
    place_slice(writer, statement->target, vector[VECTOR_ARRAY], start, is_checked ? computed(writer, last, '-', from) : last);
}

static void write_cut(Writer *writer, const CoreStatement *statement)
{
    const char **vector = write_atom(writer, &statement->arguments[0]), *cut = write_word(writer, 0);
    if (type_is_sequence(writer->program->types, statement->arguments[0].type))
        vectors_fail_if(writer, "%s < 0", write_atom(writer, &statement->arguments[1])[0]);
    write_line(writer, "const int64_t %s = kernel_cut(%s, %s, &failed);", cut, write_atom(writer, &statement->arguments[1])[0],
         vector[VECTOR_LENGTH]);
    write_check(writer);
    if (statement->op == OP_TAKE)
        place_slice(writer, statement->target, vector[VECTOR_ARRAY], vector[VECTOR_START], cut);
    else
        place_slice(writer, statement->target, vector[VECTOR_ARRAY], computed(writer, vector[VECTOR_START], '+', cut),
                    computed(writer, vector[VECTOR_LENGTH], '-', cut));
}

static void write_checked_index(Writer *writer, const CoreStatement *statement)
{
    const char **index = write_atom(writer, &statement->arguments[0]);
    write_line(writer, "(void)kernel_index(%s, 0, %s, &failed);", index[0], write_atom(writer, &statement->arguments[1])[0]);
    write_check(writer);
    writer->texts->values[statement->target] = index;
}

static void write_op(Writer *writer, const CoreStatement *statement)
{
    switch ((int)statement->op) {
    case OP_LENGTH:
        writer->texts->values[statement->target] = write_atom(writer, &statement->arguments[0]) + VECTOR_LENGTH;
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
        counts[i] = write_layout(writer, statement->arguments[i].type)->count;
    const char **words = ARENA_ARRAY(writer->arena, const char *, counts[0] + counts[1]);
    for (uint32_t i = 0; i < 2; i++) {
        const char **component = write_atom(writer, &statement->arguments[i]);
        for (uint32_t leaf = 0; leaf < counts[i]; leaf++)
            words[filled++] = component[leaf];
    }
    writer->texts->values[statement->target] = words;
}

static void write_project(Writer *writer, const CoreStatement *statement)
{
    const CoreAtom *pair = &statement->arguments[0];
    TypeId first = type_first(writer->program->types, pair->type);
    uint32_t skipped = statement->component == 0 ? 0 : write_layout(writer, first)->count;
    writer->texts->values[statement->target] = write_atom(writer, pair) + skipped;
}

bool write_alias(Writer *writer, const CoreStatement *statement)
{
    switch ((int)statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP: writer->texts->values[statement->target] = write_atom(writer, &statement->arguments[0]); return true;
    case CORE_UNIT: writer->texts->values[statement->target] = NULL; return true;
    case CORE_PAIR: write_pair(writer, statement); return true;
    case CORE_PROJECT: write_project(writer, statement); return true;
    default: return false;
    }
}

/* ---- calls ---- */

const char **write_arguments(Writer *writer, const CoreStatement *statement, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        *count += write_layout(writer, statement->arguments[i].type)->count;
    const char **words = ARENA_ARRAY(writer->arena, const char *, *count);
    for (uint32_t i = 0, filled = 0; i < statement->argument_count; i++) {
        const char **argument = write_atom(writer, &statement->arguments[i]);
        for (uint32_t leaf = 0; leaf < write_layout(writer, statement->arguments[i].type)->count; leaf++)
            words[filled++] = argument[leaf];
    }
    return words;
}

/* Whether the function called makes vectors: then it is given regions, first the one for its result. */
static const char *write_regions(Writer *writer, CoreFunctionId function, const char *into)
{
    if (writer->into == NULL || function_text_accepts(writer->texts, function))
        return "";
    *vec_push(writer->arena, &writer->callees) = function;
    return arena_format(writer->arena, "%s, %s, ", into, vectors_other(writer, into));
}

static void begin_call(Writer *writer, const CoreStatement *statement)
{
    uint32_t count;
    const char **arguments = write_arguments(writer, statement, &count);
    function_text_name(writer->texts, statement->function, writer->out);
    text_add_char(writer->out, '(');
    for (uint32_t i = 0; i < count; i++)
        text_addf(writer->out, "%s, ", arguments[i]);
}

static void write_call(Writer *writer, const CoreStatement *statement)
{
    const Layout *results = write_layout(writer, write_type(writer, statement->target));
    const char **targets = write_new_words(writer, statement->target);
    uint32_t ignored;
    write_arguments(writer, statement, &ignored); /* makes what is not made yet */
    for (uint32_t i = 0; i < results->count; i++)
        write_line(writer, "%s %s;", write_leaf_type(results->leaves[i].type), targets[i]);
    text_add_repeated(writer->out, ' ', writer->depth * C_INDENT);
    text_add(writer->out, "if (OP_RARELY(!");
    begin_call(writer, statement);
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(writer->out, "&%s, ", targets[i]);
    const char *into = writer->into == NULL ? NULL : vectors_region(writer, statement->target);
    text_addf(writer->out, "%sdepth - 1, scalars)))\n", write_regions(writer, statement->function, into));
    write_line(writer, "    return false;");
}

/* Parameters take their next values; one that is overwritten before it is read is kept. */
static void write_turn(Writer *writer, const CoreStatement *statement)
{
    const CoreBlock *body = function_text_body(writer->texts, writer->function);
    uint32_t count, filled = 0;
    const char **sources = write_arguments(writer, statement, &count);
    if (writer->into != NULL)
        turns_own(writer, statement);
    const char **targets = ARENA_ARRAY(writer->arena, const char *, count);
    LeafType *types = ARENA_ARRAY(writer->arena, LeafType, count);
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++) {
            targets[filled] = writer->texts->values[body->parameters[i]][leaf];
            types[filled] = leaves->leaves[leaf].type;
        }
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t before = 0; before < i; before++)
            if (strcmp(sources[i], targets[before]) == 0 && strcmp(sources[before], targets[before]) != 0) {
                const char *kept = write_word(writer, 0);
                write_line(writer, "const %s %s = %s;", write_leaf_type(types[before]), kept, sources[i]);
                sources[i] = kept;
                break;
            }
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sources[i], targets[i]) != 0)
            write_line(writer, "%s = %s;", targets[i], sources[i]);
    if (writer->into != NULL)
        turns_turn(writer);
    write_line(writer, "continue;");
}

/* `result`, or `result0` and so on. */
const char *write_result_word(const Writer *writer, uint32_t leaf, uint32_t count)
{
    return count == 1 ? "result" : arena_format(writer->arena, "result%u", leaf);
}

/* The result is there. */
static void write_return(Writer *writer)
{
    bool releases = writer->into != NULL && !writer->alternates && writer->part != PART_EXIT;
    if (releases && writer->may_share) /* others may still need it; the VM has it back after the point */
        write_line(writer, "if (scalars->call->together == NULL)");
    if (releases)
        write_line(writer, "%skernel_release(aside, mark);", writer->may_share ? "    " : "");
    if (writer->has_turns)
        turns_return(writer);
    write_line(writer, "return true;");
}

static void write_tail_call(Writer *writer, const CoreStatement *statement)
{
    if (statement->function == writer->function) {
        write_turn(writer, statement);
        return;
    }
    uint32_t count = write_layout(writer, write_type(writer, statement->target))->count;
    bool releases = writer->into != NULL;
    uint32_t ignored;
    write_arguments(writer, statement, &ignored); /* makes what is not made yet */
    text_add_repeated(writer->out, ' ', writer->depth * C_INDENT);
    text_add(writer->out, releases ? "const bool is_done = " : "return ");
    begin_call(writer, statement);
    for (uint32_t i = 0; i < count; i++)
        text_addf(writer->out, "%s, ", write_result_word(writer, i, count));
    text_addf(writer->out, "%sdepth, scalars);\n", write_regions(writer, statement->function, writer->into));
    if (releases) {
        vectors_fail_if(writer, "!is_done");
        write_return(writer);
    }
}

/* ---- blocks ---- */

static void write_block(Writer *writer, const CoreBlock *block, Destination destination);

static void write_if(Writer *writer, const CoreStatement *statement, Destination destination)
{
    write_open_brace(writer, arena_format(writer->arena, "if (%s)", write_atom(writer, &statement->arguments[0])[0]));
    write_block(writer, statement->blocks[0], destination);
    write_else(writer);
    write_block(writer, statement->blocks[1], destination);
    write_close_brace(writer);
}

const DecidedCondition *write_find_decided(const Writer *writer, CoreVar condition)
{
    for (uint32_t i = 0; i < writer->decided.count; i++)
        if (writer->decided.items[i].variable == condition)
            return &writer->decided.items[i];
    return NULL;
}

/* An `if` whose value is needed here. */
static void write_inner_if(Writer *writer, const CoreStatement *statement)
{
    const CoreAtom *condition = &statement->arguments[0];
    const DecidedCondition *decided = condition->is_constant ? NULL : write_find_decided(writer, condition->variable);
    if (decided != NULL) {
        const CoreBlock *block = statement->blocks[decided->is_true ? 0 : 1];
        write_statements(writer, block);
        writer->texts->values[statement->target] = write_atom(writer, &block->result);
        return;
    }
    const Layout *leaves = write_layout(writer, write_type(writer, statement->target));
    Destination destination = {.targets = write_new_words(writer, statement->target)};
    for (uint32_t i = 0; i < leaves->count; i++)
        write_line(writer, "%s %s;", write_leaf_type(leaves->leaves[i].type), destination.targets[i]);
    write_if(writer, statement, destination);
}

/* Whether a statement was written with one before it; it is not the next time. */
static bool was_written_ahead(Writer *writer, const CoreStatement *statement)
{
    for (uint32_t i = 0; i < writer->ahead.count; i++)
        if (writer->ahead.items[i] == statement->target) {
            writer->ahead.items[i] = writer->ahead.items[--writer->ahead.count];
            return true;
        }
    return false;
}

void write_statement_of(Writer *writer, const CoreBlock *block, uint32_t number)
{
    const CoreStatement *statement = &block->statements[number];
    c_source(writer->out, writer->depth, writer->sources, statement->span, &writer->shown);
    writer->following = statement + 1;
    writer->following_count = block->statement_count - number - 1;
    if (was_written_ahead(writer, statement))
        return;
    if (writer->into != NULL && vectors_write_statement(writer, statement))
        return;
    if (write_alias(writer, statement))
        return;
    if (statement->kind == CORE_OP)
        write_op(writer, statement);
    else if (statement->kind == CORE_CALL)
        write_call(writer, statement);
    else if (statement->kind == CORE_IF)
        write_inner_if(writer, statement);
    else
        bug("kernels", "a function was not accepted and is written");
}

/* Nothing of the function is needed after the statement. */
bool write_is_last(const CoreBlock *block, uint32_t statement)
{
    return statement + 1 == block->statement_count && !block->result.is_constant &&
           block->result.variable == block->statements[statement].target;
}

static void write_result(Writer *writer, const CoreBlock *block, Destination destination)
{
    if (destination.is_tail && writer->is_onto) {
        onto_write_result(writer, block);
        write_return(writer);
        return;
    }
    uint32_t count = write_layout(writer, block->result.type)->count;
    const char **words = write_atom(writer, &block->result);
    for (uint32_t i = 0; i < count; i++)
        if (destination.is_tail)
            write_line(writer, "*%s = %s;", write_result_word(writer, i, count), words[i]);
        else
            write_line(writer, "%s = %s;", destination.targets[i], words[i]);
    if (destination.is_tail)
        write_return(writer);
}

/* Whether a block has become the end of the function: it would end the run with a message, which is not for this function to say. */
static bool write_end(Writer *writer, const CoreBlock *block)
{
    bool is_end = writer->into != NULL && shape_gives_up(block);
    if (is_end)
        write_line(writer, "return false;");
    return is_end;
}

void write_statements(Writer *writer, const CoreBlock *block)
{
    if (write_end(writer, block)) {
        for (uint32_t i = 0; i < block->statement_count; i++)
            writer->texts->values[block->statements[i].target] = NULL;
        vectors_refuse(writer);
        return;
    }
    for (uint32_t i = 0; i < block->statement_count; i++)
        write_statement_of(writer, block, i);
}

static void write_block(Writer *writer, const CoreBlock *block, Destination destination)
{
    if (write_end(writer, block))
        return;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        bool is_end = destination.is_tail && write_is_last(block, i);
        c_source(writer->out, writer->depth, writer->sources, statement->span, &writer->shown);
        if (is_end && statement->kind == CORE_CALL && !writer->is_onto) {
            write_tail_call(writer, statement);
            return;
        }
        if (is_end && statement->kind == CORE_IF) {
            write_if(writer, statement, destination);
            return;
        }
        write_statement_of(writer, block, i);
    }
    write_result(writer, block, destination);
}

/* ---- functions ---- */

/* Whether a block in tail position ends in a call of this function, on some way through it. */
bool write_has_turn(const CoreBlock *block, CoreFunctionId function)
{
    if (block->statement_count == 0 || !write_is_last(block, block->statement_count - 1))
        return false;
    const CoreStatement *last = &block->statements[block->statement_count - 1];
    if (last->kind == CORE_IF)
        return write_has_turn(last->blocks[0], function) || write_has_turn(last->blocks[1], function);
    return last->kind == CORE_CALL && last->function == function;
}

static void load_global(Writer *writer, const CoreAtom *atom)
{
    if (atom->is_constant || !writer->program->variables.items[atom->variable].is_global ||
        writer->texts->values[atom->variable] != NULL)
        return;
    FunctionGlobal trial = {.variable = atom->variable};
    if (writer->is_trial)
        *vec_push(writer->arena, &writer->trial_globals) = atom->variable;
    const FunctionGlobal *global = writer->is_trial ? &trial : writer->texts->globals.items;
    while (global->variable != atom->variable)
        global++;
    const Layout *leaves = write_layout(writer, atom->type);
    const char **words = write_new_words(writer, atom->variable);
    for (uint32_t i = 0; i < leaves->count; i++) {
        const char *type = write_leaf_type(leaves->leaves[i].type);
        write_line(writer, "if (scalars->call->globals[%u] == NULL)", global->first + i);
        write_line(writer, "    return false;");
        write_line(writer, "const %s %s = *(const %s *)scalars->call->globals[%u];", type, words[i], type, global->first + i);
    }
}

/* Those that a function reads, at its beginning: each may have no value yet. */
void write_globals(Writer *writer, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        for (uint32_t a = 0; a < statement->argument_count; a++)
            load_global(writer, &statement->arguments[a]);
        for (uint32_t a = 0; a < statement->captured_count; a++)
            load_global(writer, &statement->captured[a]);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                write_globals(writer, statement->blocks[b]);
        bool is_applied_here = writer->into != NULL && statement->kind == CORE_OP && statement->function != 0 && reduce_is_straight(writer, statement);
        if (is_applied_here)
            write_globals(writer, reduce_operator(writer, statement));
    }
    load_global(writer, &block->result);
}

void write_forget_globals(Writer *writer)
{
    for (uint32_t i = 0; i < writer->texts->globals.count; i++)
        writer->texts->values[writer->texts->globals.items[i].variable] = NULL;
}

static void write_name(const Writer *writer, FunctionPart part, Text *out)
{
    function_text_name(writer->texts, writer->function, out);
    text_addf(out, "%s%s(", writer->is_onto ? "_onto" : "", part == PART_REST ? "_rest" : "");
}

static void write_header(Writer *writer, Text *out)
{
    const CoreBlock *body = function_text_body(writer->texts, writer->function);
    text_add(out, writer->part == PART_EXIT ? "MATH_INLINE bool " : "static bool ");
    write_name(writer, writer->part, out);
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        const char **words = write_new_words(writer, body->parameters[i]);
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++)
            text_addf(out, "%s %s, ", write_leaf_type(leaves->leaves[leaf].type), words[leaf]);
    }
    const Layout *results = write_layout(writer, body->result.type);
    for (uint32_t i = 0; i < results->count && !writer->is_onto; i++)
        text_addf(out, "%s *%s, ", write_leaf_type(results->leaves[i].type), write_result_word(writer, i, results->count));
    text_addf(out, "%s%s%sint64_t depth, const KernelScalars *scalars)", writer->is_onto ? "KernelOnto *onto, " : "",
              function_text_accepts(writer->texts, writer->function) ? "" : "KernelRegion *into, KernelRegion *aside, ", writer->is_onto ? "char *given, " : "");
}

Writer writer_of(FunctionTexts *texts, CoreFunctionId function)
{
    return (Writer){.texts = texts, .program = texts->program, .arena = texts->arena, .depth = 1, .variables = 1, .function = function};
}

void function_write_prototype(FunctionTexts *texts, CoreFunctionId function, Text *out)
{
    for (uint32_t is_onto = 0; is_onto < (join_is_onto(texts, function) ? 2 : 1); is_onto++) {
        Writer writer = writer_of(texts, function);
        writer.is_onto = is_onto != 0;
        write_header(&writer, out);
        text_add(out, ";\n");
    }
}

static void write_body(Writer *writer, const CoreBlock *body)
{
    write_line(writer, "if (OP_RARELY(!kernel_may_enter(depth, scalars)))");
    write_line(writer, "    return false;");
    if (writer->into != NULL) {
        write_line(writer, "%sKernelMark mark = kernel_mark(aside);", write_has_turn(body, writer->function) ? "" : "const ");
        turns_begin(writer);
    }
    if (writer->is_onto)
        write_line(writer, "const char *const given_end = into->top;");
    write_globals(writer, body);
    bool loops = write_has_turn(body, writer->function);
    if (loops && writer->into == NULL)
        write_hoist_cells(writer, body);
    if (loops) {
        write_open_brace(writer, "for (uint32_t turn = 1;; turn++)");
        write_line(writer, "if (OP_RARELY(!kernel_may_turn(turn, scalars)))");
        write_line(writer, "    return false;");
    }
    write_block(writer, body, (Destination){.is_tail = true});
    if (loops)
        write_close_brace(writer);
    write_forget_globals(writer);
}

static void forget_block(const Writer *writer, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        writer->texts->values[block->parameters[i]] = NULL;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        writer->texts->values[statement->target] = NULL;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                forget_block(writer, statement->blocks[b]);
    }
}

static void forget_globals_of_trial(const Writer *writer)
{
    for (uint32_t i = 0; i < writer->trial_globals.count; i++)
        writer->texts->values[writer->trial_globals.items[i]] = NULL;
}

/* A function that makes vectors is looked at as a whole before. */
static void begin_vectors(Writer *writer)
{
    if (function_text_accepts(writer->texts, writer->function))
        return;
    forget_block(writer, function_text_body(writer->texts, writer->function));
    shape_function(writer->texts, writer->function);
    writer->into = "into";
    writer->aside = "aside";
    writer->is_onto = join_is_onto(writer->texts, writer->function);
}

/* False if it was refused. Nothing local changes on the way. */
static bool is_written(Writer *trial)
{
    jmp_buf refused;
    trial->on_refusal = &refused;
    if (setjmp(refused) != 0)
        return false;
    begin_vectors(trial);
    write_header(trial, trial->out);
    write_body(trial, function_text_body(trial->texts, trial->function));
    return true;
}

bool function_write_is_possible(FunctionTexts *texts, CoreFunctionId function, Writer *trial)
{
    Text body;
    ClassSet types = 0;
    bool with_math = false;
    enum { TEXT_MAX = 1 << 18 };
    text_init(&body, texts->program->arena->memory);
    *trial = writer_of(texts, function);
    trial->out = &body;
    trial->types = &types;
    trial->with_math = &with_math;
    trial->is_trial = true;
    bool is_possible = is_written(trial) && body.length <= TEXT_MAX;
    texts->group_counts[function] = trial->group_count;
    texts->is_together[function] = is_possible && trial->may_share && trial->has_shared && !trial->has_unshared && trial->callees.count == 0 &&
                                   (!trial->has_repeated || trial->group_count > 0);
    forget_globals_of_trial(trial);
    text_free(&body);
    return is_possible;
}

/* The function as others call it who want a vector. */
static void write_onto_beginning(FunctionTexts *texts, CoreFunctionId function, Text *out)
{
    Writer writer = writer_of(texts, function);
    writer.out = out;
    text_add_char(out, '\n');
    write_header(&writer, out);
    text_add(out, "\n{\n");
    onto_write_beginning(&writer, function_text_body(texts, function));
    text_add(out, "}\n");
}

/* ---- calls that end at once ----
 * A recursive function that begins with a test, and gives what takes neither loop nor call if that comes out one way, is written twice: the test and that side, which are put where the function is called, and, as the
 * rest, all of it. More than half of the calls of a recursion are its leaves. */

/* Whether what a block gives is there, or a few scalars. */
static bool is_light_end(const Writer *writer, const CoreBlock *block)
{
    Join join = {.count = 0};
    if (writer->is_onto)
        join_find(writer->texts, writer->function, block, &join);
    for (uint32_t i = 0; i < join.count; i++)
        if (join.parts[i].call != NULL || join.parts[i].is_late)
            return false;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const VariableShape *shape = &writer->texts->shapes[block->statements[i].target];
        bool is_light = !shape->is_delayed && shape_is_light(writer->texts, &(CoreBlock){.statements = &block->statements[i], .statement_count = 1});
        if (!shape->is_joined && !is_light)
            return false;
    }
    return !shape_gives_up(block);
}

/* The test, if a function has such an end; which of its blocks that is. */
static const CoreStatement *find_exit(const Writer *writer, const CoreBlock *body, uint32_t *end)
{
    bool is_recursive = writer->program->functions.items[writer->function]->is_recursive && !write_has_turn(body, writer->function);
    CoreBlock before = *body;
    if (writer->into == NULL || !is_recursive || body->statement_count == 0 || !write_is_last(body, --before.statement_count))
        return NULL;
    const CoreStatement *test = &body->statements[before.statement_count];
    if (test->kind != CORE_IF || !shape_is_light(writer->texts, &before))
        return NULL;
    for (*end = 0; *end < 2; ++*end)
        if (is_light_end(writer, test->blocks[*end]))
            return test;
    return NULL;
}

void write_own_parameters(const Writer *writer, const CoreBlock *body, Text *call)
{
    for (uint32_t i = 0; i < body->parameter_count; i++)
        for (uint32_t leaf = 0; leaf < write_layout(writer, write_type(writer, body->parameters[i]))->count; leaf++)
            text_addf(call, "%s, ", writer->texts->values[body->parameters[i]][leaf]);
}

static void write_call_of_rest(Writer *writer, const CoreBlock *body)
{
    Text call;
    text_init(&call, writer->out->memory);
    write_name(writer, PART_REST, &call);
    write_own_parameters(writer, body, &call);
    const Layout *results = write_layout(writer, body->result.type);
    for (uint32_t i = 0; i < results->count && !writer->is_onto; i++)
        text_addf(&call, "%s, ", write_result_word(writer, i, results->count));
    write_line(writer, "return %s%s, depth, scalars);", text_string(&call), writer->is_onto ? "onto, into, aside, given" : "into, aside");
    text_free(&call);
}

static void write_exit(Writer *writer, const CoreBlock *body, const CoreStatement *test, uint32_t end)
{
    CoreBlock before = *body;
    before.statement_count--;
    before.result = test->arguments[0];
    write_line(writer, "if (OP_RARELY(depth < 0))");
    write_line(writer, "    return false;");
    write_globals(writer, &before);
    write_globals(writer, test->blocks[end]);
    write_statements(writer, &before);
    write_open_brace(writer, arena_format(writer->arena, "if (%s%s)", end == 0 ? "" : "!", write_atom(writer, &test->arguments[0])[0]));
    write_block(writer, test->blocks[end], (Destination){.is_tail = true});
    write_close_brace(writer);
    write_call_of_rest(writer, body);
    write_forget_globals(writer);
}

/* ---- whole functions ---- */

/* A function, or its rest if it has an exit, or that. */
static void write_part(Writer *writer, const CoreBlock *body, const CoreStatement *test, uint32_t end, Text *out)
{
    Text text;
    text_init(&text, out->memory);
    writer->out = &text;
    text_add_char(out, '\n');
    c_source(out, 0, writer->sources, writer->program->functions.items[writer->function]->span, &writer->shown);
    write_header(writer, out);
    if (writer->part == PART_EXIT)
        write_exit(writer, body, test, end);
    else
        write_body(writer, body);
    text_addf(out, "\n{\n%s", writer->has_flag ? "    OpFlag failed = 0;\n" : "");
    text_add(out, text_string(&text));
    text_add(out, "}\n");
    text_free(&text);
}

void function_write(FunctionTexts *texts, CoreFunctionId function, const Sources *sources, Text *out, ClassSet *types,
                    bool *with_math)
{
    const CoreBlock *body = function_text_body(texts, function);
    uint32_t end = 0;
    Writer writer = writer_of(texts, function);
    writer.sources = sources;
    writer.types = types;
    writer.with_math = with_math;
    begin_vectors(&writer);
    Writer leaving = writer;
    const CoreStatement *test = find_exit(&writer, body, &end);
    writer.part = test == NULL ? PART_WHOLE : PART_REST;
    write_part(&writer, body, test, end, out);
    if (test != NULL) {
        leaving.part = PART_EXIT;
        forget_block(&leaving, body);
        write_part(&leaving, body, test, end, out);
    }
    if (writer.is_onto)
        write_onto_beginning(texts, function, out);
}
