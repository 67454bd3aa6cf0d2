/* Functions that are loops: their vectors from turn to turn.
 *
 * Where a turn gives the next nothing but vectors that it made, and parameters that never change, the two regions change places after each turn: what it was given, and what it needed
 * besides, is released at once. At the end the result is moved to where it belongs, if it is not there.
 *
 * In other loops what a turn gives to the next is built where the result is; it would pile up there. So now and then, when most of it is not needed any more, what is needed is moved together. A vector
 * that the loop made, and that nobody else has, is changed in place by what would give a changed copy of it: a flag for each parameter says whether it is such a one. */
#include "kernel/function_share.h"

static const CoreBlock *body_of(const Writer *writer)
{
    return function_text_body(writer->texts, writer->function);
}

static bool is_vector(const Writer *writer, CoreVar variable)
{
    return type_is_vector(writer->program->types, write_type(writer, variable));
}

/* ---- loops whose regions change places ---- */

/* What is found out about the parameters of a loop. */
typedef struct Turns {
    Writer *writer;
    const CoreBlock *body;
    bool *are_kept; /* by parameter: every turn gives it to the next as it is */
} Turns;

/* The number of a parameter of the function, or that of all of them. */
static uint32_t parameter_of(const CoreBlock *body, const CoreAtom *atom)
{
    uint32_t i = 0;
    while (i < body->parameter_count && (atom->is_constant || atom->variable != body->parameters[i]))
        i++;
    return i;
}

typedef bool TailTest(Turns *turns, const CoreBlock *block, const CoreStatement *call);

/* Whether all ways through a block in tail position pass a test; `call` is the next turn, or null. */
static bool all_tails(Turns *turns, const CoreBlock *block, TailTest *test)
{
    const CoreStatement *last = block->statement_count == 0 ? NULL : &block->statements[block->statement_count - 1];
    bool is_tail = last != NULL && write_is_last(block, block->statement_count - 1);
    if (is_tail && last->kind == CORE_IF)
        return all_tails(turns, last->blocks[0], test) && all_tails(turns, last->blocks[1], test);
    bool is_turn = is_tail && last->kind == CORE_CALL && last->function == turns->writer->function;
    return test(turns, block, is_turn ? last : NULL);
}

static bool note_kept(Turns *turns, const CoreBlock *block, const CoreStatement *call)
{
    (void)block;
    for (uint32_t i = 0; call != NULL && i < turns->body->parameter_count; i++)
        turns->are_kept[i] &= parameter_of(turns->body, &call->arguments[i]) == i;
    return true;
}

/* Whether all arrays of a value were made in this turn, or belong to parameters that never change. */
static bool is_fresh(const Turns *turns, const CoreAtom *atom)
{
    const FunctionTexts *texts = turns->writer->texts;
    if (atom->is_constant || texts->program->variables.items[atom->variable].is_global)
        return true;
    uint32_t parameter = parameter_of(turns->body, atom);
    const VariableShape *shape = &texts->shapes[atom->variable];
    const CoreStatement *definition = shape->definition;
    if (parameter < turns->body->parameter_count)
        return turns->are_kept[parameter] || !shape_has_arrays(texts, atom->type);
    if (!type_is_sequence(texts->program->types, atom->type) && !shape_has_arrays(texts, atom->type))
        return true;
    if (shape->member != 0)
        return shape->member <= definition->argument_count && is_fresh(turns, &definition->arguments[shape->member - 1]);
    switch (definition->kind) {
    case CORE_EACH: return !shape_has_arrays(texts, definition->blocks[0]->result.type) || is_fresh(turns, &definition->blocks[0]->result);
    case CORE_IF: return is_fresh(turns, &definition->blocks[0]->result) && is_fresh(turns, &definition->blocks[1]->result);
    case CORE_OP: break;
    case CORE_COPY:
    case CORE_PAIR:
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP:
    case CORE_MAKE:
        for (uint32_t i = 0; i < definition->argument_count; i++)
            if (!is_fresh(turns, &definition->arguments[i]))
                return false;
        return true;
    default: return false;
    }
    switch ((int)definition->op) {
    case OP_TAB:
    case OP_SEQ:
    case OP_ELEMENT:
    case OP_INSIDE:
    case OP_SLICE:
    case OP_SUBSEQ:
    case OP_TAKE:
    case OP_DROP: return is_fresh(turns, &definition->arguments[0]);
    case OP_INDICES:
    case OP_IOTA: return true;
    default: return false;
    }
}

/* What leaves the turn is all of this turn, or all of what it was given. */
static bool can_alternate(Turns *turns, const CoreBlock *block, const CoreStatement *call)
{
    for (uint32_t i = 0; call != NULL && i < call->argument_count; i++)
        if (!turns->are_kept[i] && !is_fresh(turns, &call->arguments[i]))
            return false;
    return call != NULL || parameter_of(turns->body, &block->result) < turns->body->parameter_count || is_fresh(turns, &block->result);
}

bool turns_keeps(const Writer *writer, const CoreAtom *atom)
{
    const CoreBlock *body = body_of(writer);
    uint32_t parameter = parameter_of(body, atom);
    return writer->kept != NULL && parameter < body->parameter_count && writer->kept[parameter];
}

static bool alternates(Writer *writer)
{
    const CoreBlock *body = body_of(writer);
    Turns turns = {.writer = writer, .body = body, .are_kept = ARENA_ARRAY(writer->arena, bool, body->parameter_count)};
    for (uint32_t i = 0; i < body->parameter_count; i++)
        turns.are_kept[i] = true;
    all_tails(&turns, body, note_kept);
    writer->kept = turns.are_kept;
    return all_tails(&turns, body, can_alternate);
}

void turns_begin(Writer *writer)
{
    const CoreBlock *body = body_of(writer);
    writer->has_turns = write_has_turn(body, writer->function);
    writer->alternates = writer->has_turns && alternates(writer);
    writer->may_share = (writer->alternates || !writer->has_turns) && (writer->is_trial || writer->texts->is_together[writer->function]);
    if (!writer->has_turns)
        return;
    if (writer->texts->group_counts[writer->function] > 0) {
        write_line(writer, "KernelGroups *groups[%u] = {NULL};", writer->texts->group_counts[writer->function]);
        write_line(writer, "const KernelMark kept = kernel_mark(&scalars->call->workspace->regions[KERNEL_REGION_LOOPS]);");
    }
    if (writer->alternates) {
        write_line(writer, "KernelMark start = kernel_mark(into);");
        write_line(writer, "KernelRegion *const home = into;");
        return;
    }
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
    for (uint32_t i = 0; i < body_of(writer)->parameter_count && writer->has_turns && !writer->alternates; i++)
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
    for (uint32_t i = 0; i < body_of(writer)->parameter_count && !writer->alternates; i++) {
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
    if (writer->alternates) {
        if (writer->may_share) /* the others may still need what is released */
            share_meet(writer);
        write_line(writer, "kernel_release(aside, mark);");
        write_line(writer, "kernel_exchange(&into, &start, &aside, &mark);");
        return;
    }
    write_line(writer, "kernel_release(aside, mark);");
    Moved moved = {0};
    text_init(&moved.text, writer->out->memory);
    for (uint32_t i = 0; i < body->parameter_count; i++)
        add_vectors(writer, &moved, write_layout(writer, write_type(writer, body->parameters[i])), writer->texts->values[body->parameters[i]]);
    write_moved(writer, &moved, "limit");
    text_free(&moved.text);
}

/* Where regions change places, a result may be in the one that is given back. One that threads have made together stays where it is: parts of it are in the regions of all. */
static void write_home(Writer *writer, Moved *moved)
{
    if (writer->may_share) {
        write_line(writer, "if (scalars->call->together != NULL)");
        write_line(writer, "    return true;");
    }
    if (writer->texts->group_counts[writer->function] > 0)
        write_line(writer, "kernel_release(&scalars->call->workspace->regions[KERNEL_REGION_LOOPS], kept);");
    if (moved->arrays.count > 0) {
        write_line(writer, "KernelVector vectors[] = {%s};", text_string(&moved->text));
        vectors_fail_if(writer, "!kernel_move_home(home, into, start, aside, mark, vectors, %u)", moved->arrays.count);
        for (uint32_t i = 0; i < moved->arrays.count; i++) {
            write_line(writer, "%s = vectors[%u].array;", moved->arrays.items[i], i);
            write_line(writer, "%s = vectors[%u].start;", moved->starts.items[i], i);
        }
    } else
        write_line(writer, "(void)kernel_move_home(home, into, start, aside, mark, NULL, 0);");
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
    if (writer->alternates)
        write_home(writer, &moved);
    else if (moved.arrays.count == 0)
        write_line(writer, "kernel_release(into, start);");
    else
        write_line(writer, "limit = KERNEL_LEFTOVER;");
    if (!writer->alternates)
        write_moved(writer, &moved, "limit");
    text_free(&moved.text);
}
