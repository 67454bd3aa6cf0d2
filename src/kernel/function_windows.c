/* Vectors of rows that one comprehension reads a few rows at a time, as the sums of rows of a stencil are: `{... rows[i - 1] ... row ... rows[i + 1] ... : row in rows ...}`.
 *
 * Such a vector is not made. Each turn of the comprehension first sees to it that the rows are there which it needs, in a window of a few rows (kernel/preamble/window.h): those that are not, it makes. So rows
 * are still in the caches when they are read, and of threads that do a point together each makes its own. Every turn needs the row at its own index, so that all rows are made, and whatever fails in one of them is
 * seen. The indices of the others depend on that index alone; a turn in the middle, looked at before the loop, tells how far away they are. */
#include "kernel/function_supply.h"

/* ---- what is read in that way ---- */

static const VariableShape *shape_of(const FunctionTexts *texts, const CoreAtom *atom)
{
    return atom->is_constant ? NULL : &texts->shapes[atom->variable];
}

/* The operation that defines a variable; null if none does. */
static const CoreStatement *find_operation(const FunctionTexts *texts, const CoreAtom *atom)
{
    const VariableShape *shape = shape_of(texts, atom);
    bool is_it = shape != NULL && shape->definition != NULL && shape->member == 0 && shape->definition->kind == CORE_OP;
    return is_it ? shape->definition : NULL;
}

/* The vector that a sequence goes over, which is there; null if it is none of these. */
static const CoreAtom *find_vector(const FunctionTexts *texts, const CoreAtom *sequence)
{
    const CoreStatement *seq = find_operation(texts, sequence);
    const VariableShape *vector = seq == NULL || seq->op != OP_SEQ ? NULL : shape_of(texts, &seq->arguments[0]);
    return vector == NULL || vector->is_delayed || !texts->shapes[seq->target].is_delayed ? NULL : &seq->arguments[0];
}

static bool is_range(const FunctionTexts *texts, const CoreAtom *sequence)
{
    const CoreStatement *range = find_operation(texts, sequence);
    if (range == NULL || !texts->shapes[range->target].is_delayed)
        return false;
    return range->op == OP_INDICES || range->op == OP_RANGE || range->op == OP_RANGE_INCLUSIVE || range->op == OP_NESL_RANGE;
}

/* Whether a comprehension goes over ranges and vectors that are there: its elements can be had in any order. */
static bool is_over_what_is_there(const FunctionTexts *texts, const CoreStatement *each)
{
    for (uint32_t i = 0; i < each->argument_count; i++)
        if (find_vector(texts, &each->arguments[i]) == NULL && !is_range(texts, &each->arguments[i]))
            return false;
    return true;
}

/* The statement of a body that makes what it gives, a vector of scalars whose length is known before; null if it gives something else. */
static const CoreStatement *find_row(const FunctionTexts *texts, const CoreBlock *body)
{
    for (uint32_t i = 0; i < body->statement_count; i++) {
        const CoreStatement *statement = &body->statements[i];
        if (shape_is_variable(&body->result, statement->target) && statement->kind == CORE_OP && statement->op == OP_TAB && shape_makes(texts, statement))
            return shape_steps(texts, &statement->arguments[0]) && !shape_has_arrays(texts, type_element(texts->program->types, body->result.type)) ? statement : NULL;
    }
    return NULL;
}

/* The comprehension that a vector of rows is made by; null if it is none. */
static const CoreStatement *find_maker(const FunctionTexts *texts, const CoreStatement *tab)
{
    const VariableShape *shape = &texts->shapes[tab->target];
    if (tab->kind != CORE_OP || tab->op != OP_TAB || !shape_makes(texts, tab) || shape->is_delayed || shape->is_joined)
        return NULL;
    const CoreStatement *each = shape_of(texts, &tab->arguments[0])->definition;
    return each->kind == CORE_EACH && is_over_what_is_there(texts, each) && find_row(texts, each->blocks[0]) != NULL ? each : NULL;
}

/* What says how long a sequence is: a vector, or an integer; 0 if neither does. */
static CoreVar measure_of(const FunctionTexts *texts, const CoreAtom *sequence)
{
    const CoreStatement *operation = find_operation(texts, sequence);
    if ((operation->op != OP_SEQ && operation->op != OP_INDICES) || operation->arguments[0].is_constant)
        return 0;
    const CoreStatement *length = operation->op == OP_INDICES ? find_operation(texts, &operation->arguments[0]) : NULL;
    return length != NULL && length->op == OP_LENGTH ? length->arguments[0].variable : operation->arguments[0].variable;
}

static bool has_measure(const FunctionTexts *texts, const CoreStatement *each, CoreVar measure)
{
    for (uint32_t i = 0; i < each->argument_count; i++)
        if (measure_of(texts, &each->arguments[i]) == measure)
            return true;
    return false;
}

/* Whether a comprehension has as many elements as another, which makes a vector. */
static bool is_as_long(const FunctionTexts *texts, const CoreStatement *reader, const CoreStatement *maker, CoreVar vector)
{
    bool is_same = has_measure(texts, reader, vector);
    for (uint32_t i = 0; i < maker->argument_count && !is_same; i++) {
        CoreVar measure = measure_of(texts, &maker->arguments[i]);
        is_same = measure != 0 && has_measure(texts, reader, measure);
    }
    return is_same;
}

/* ---- what of a body depends on the index alone ---- */

/* A body, and those of its statements that indices of rows are made by. */
typedef struct IndexPart {
    const FunctionTexts *texts;
    const CoreStatement *each;
    bool *are_in;
    bool has_index; /* the index is needed for them */
} IndexPart;

static bool follow_statement(IndexPart *part, const CoreStatement *statement);

static bool follow(IndexPart *part, const CoreAtom *atom)
{
    const CoreBlock *body = part->each->blocks[0];
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (shape_is_variable(atom, body->parameters[i])) {
            part->has_index = true;
            return is_range(part->texts, &part->each->arguments[i]);
        }
    for (uint32_t i = 0; i < body->statement_count; i++)
        if (shape_is_variable(atom, body->statements[i].target)) {
            part->are_in[i] = true;
            return follow_statement(part, &body->statements[i]);
        }
    return true;
}

static bool follow_statement(IndexPart *part, const CoreStatement *statement)
{
    const CoreProgram *program = part->texts->program;
    CoreBlock alone = {.statements = (CoreStatement *)statement, .statement_count = 1, .result = core_bool(true)};
    bool is_scalar = type_is_scalar(program->types, program->variables.items[statement->target].type);
    if (!is_scalar || !shape_is_straight(part->texts, &alone))
        return false;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        if (!follow(part, &statement->arguments[i]))
            return false;
    for (uint32_t b = 0; b < 2; b++) {
        const CoreBlock *block = statement->blocks[b];
        for (uint32_t i = 0; block != NULL && i < block->statement_count; i++)
            if (!follow_statement(part, &block->statements[i]))
                return false;
        if (block != NULL && !follow(part, &block->result))
            return false;
    }
    return true;
}

static IndexPart part_of(const FunctionTexts *texts, const CoreStatement *each)
{
    return (IndexPart){.texts = texts, .each = each, .are_in = ARENA_ARRAY(texts->arena, bool, each->blocks[0]->statement_count)};
}

/* Whether a statement takes a row at an index that depends on that of the turn. */
static bool takes_row(const FunctionTexts *texts, const CoreStatement *each, const CoreStatement *statement, CoreVar vector)
{
    IndexPart part = part_of(texts, each);
    return shape_takes_element(statement) && shape_is_variable(&statement->arguments[0], vector) && follow(&part, &statement->arguments[1]) && part.has_index;
}

/* Whether all that is wanted of a vector are rows for the turns of a comprehension. */
static bool is_read_by(const FunctionTexts *texts, CoreVar vector, const CoreStatement *each)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < each->argument_count; i++) {
        const CoreAtom *over = find_vector(texts, &each->arguments[i]);
        uses += over != NULL && over->variable == vector && texts->shapes[each->arguments[i].variable].uses == 1;
    }
    for (uint32_t i = 0; i < each->blocks[0]->statement_count; i++)
        uses += takes_row(texts, each, &each->blocks[0]->statements[i], vector);
    return uses == texts->shapes[vector].uses;
}

void windows_mark(FunctionTexts *texts, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i], *maker = find_maker(texts, statement);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                windows_mark(texts, statement->blocks[b]);
        if (maker == NULL || shape_rises(texts, statement->target))
            continue;
        for (uint32_t k = i + 1; k < block->statement_count; k++) {
            const CoreStatement *reader = find_maker(texts, &block->statements[k]);
            if (reader != NULL && is_as_long(texts, reader, maker, statement->target) && is_read_by(texts, statement->target, reader))
                texts->shapes[statement->target].read_by = reader;
        }
    }
}

/* ---- C ---- */

struct Window {
    CoreVar vector;
    const Supply *maker;
    const CoreStatement *row; /* of its body: makes what it gives */
    const char *region;
    const char *word;         /* for the KernelWindow */
    const char **own;         /* words for the row at the turn's own index */
    VEC(const CoreStatement *) loads; /* statements that take other rows */
};

struct Windows {
    VEC(Window *) items;
    CoreBlock indices; /* statements of the body that indices of rows are made by; */
    CoreBlock rest;    /* those that are left, without these and without the loads */
};

static Window *find_window(const Windows *windows, CoreVar vector)
{
    for (uint32_t i = 0; i < windows->items.count; i++)
        if (windows->items.items[i]->vector == vector)
            return windows->items.items[i];
    return NULL;
}

static Window *add_window(Writer *writer, Windows *windows, const CoreStatement *each, CoreVar vector)
{
    VariableShape *shape = &writer->texts->shapes[vector];
    if (shape->read_by != each)
        return NULL;
    Window *window = find_window(windows, vector);
    if (window != NULL)
        return window;
    window = ARENA_NEW(writer->arena, Window);
    *window = (Window){.vector = vector, .region = vectors_region(writer, vector)};
    const CoreAtom *rows = &shape->definition->arguments[0];
    window->maker = sequence_prepare(writer, rows)->supply;
    window->row = find_row(writer->texts, window->maker->statement->blocks[0]);
    shape->window = window;
    *vec_push(writer->arena, &windows->items) = window;
    return window;
}

/* The statements of a body are those for indices, loads, and others. */
static void divide_body(Writer *writer, Windows *windows, const CoreStatement *each)
{
    const CoreBlock *body = each->blocks[0];
    IndexPart part = part_of(writer->texts, each);
    windows->indices = windows->rest = *body;
    windows->indices.statements = ARENA_ARRAY(writer->arena, CoreStatement, body->statement_count);
    windows->rest.statements = ARENA_ARRAY(writer->arena, CoreStatement, body->statement_count);
    windows->indices.statement_count = windows->rest.statement_count = 0;
    bool *are_loads = ARENA_ARRAY(writer->arena, bool, body->statement_count);
    for (uint32_t i = 0; i < body->statement_count; i++) {
        bool is_load = shape_takes_element(&body->statements[i]) && !body->statements[i].arguments[0].is_constant;
        Window *window = is_load ? add_window(writer, windows, each, body->statements[i].arguments[0].variable) : NULL;
        if (window == NULL)
            continue;
        are_loads[i] = true;
        follow(&part, &body->statements[i].arguments[1]);
        *vec_push(writer->arena, &window->loads) = &body->statements[i];
    }
    for (uint32_t i = 0; i < body->statement_count; i++) {
        CoreBlock *to = part.are_in[i] ? &windows->indices : &windows->rest;
        if (!are_loads[i])
            to->statements[to->statement_count++] = body->statements[i];
    }
}

Windows *windows_prepare(Writer *writer, const CoreStatement *each)
{
    Windows *windows = ARENA_NEW(writer->arena, Windows);
    *windows = (Windows){0};
    for (uint32_t i = 0; i < each->argument_count; i++) {
        const CoreAtom *over = find_vector(writer->texts, &each->arguments[i]);
        if (over != NULL)
            add_window(writer, windows, each, over->variable);
    }
    divide_body(writer, windows, each);
    return windows->items.count == 0 ? NULL : windows;
}

const CoreBlock *windows_rest(const Windows *windows)
{
    return &windows->rest;
}

const char *windows_length(const Window *window)
{
    return window->maker->length;
}

const char **windows_own_row(const Window *window)
{
    return window->own;
}

/* Writes what makes the indices of rows from that of the turn. */
static void write_indices(Writer *writer, const Supply *each, const char *index)
{
    const CoreBlock *body = each->statement->blocks[0];
    for (uint32_t i = 0; i < each->member_count; i++)
        if (each->members[i]->kind == SUPPLY_RANGE)
            writer->texts->values[body->parameters[i]] = supply_step(writer, each->members[i], index).words;
    write_statements(writer, &each->windows->indices);
}

/* `{own, others}`, which are words. */
static const char *wanted_rows(Writer *writer, const Window *window, const char *own)
{
    const char *list = arena_format(writer->arena, "{%s", own);
    for (uint32_t i = 0; i < window->loads.count; i++)
        list = arena_format(writer->arena, "%s, %s", list, write_atom(writer, &window->loads.items[i]->arguments[1])[0]);
    return arena_format(writer->arena, "%s}", list);
}

void windows_open(Writer *writer, const Supply *each)
{
    const Windows *windows = each->windows;
    for (uint32_t i = 0; i < windows->items.count; i++) {
        windows->items.items[i]->word = write_word(writer, 0);
        write_line(writer, "KernelWindow *%s;", windows->items.items[i]->word);
    }
    const char *middle = write_word(writer, 0);
    write_line(writer, "{");
    writer->depth++;
    write_line(writer, "const int64_t %s = %s / 2;", middle, each->length);
    write_indices(writer, each, middle);
    for (uint32_t i = 0; i < windows->items.count; i++) {
        const Window *window = windows->items.items[i];
        write_line(writer, "%s = kernel_window(%s, %s, (const int64_t[])%s, %u);", window->word, window->region, each->length, wanted_rows(writer, window, middle),
                   1 + window->loads.count);
        vectors_fail_if(writer, "%s == NULL", window->word);
    }
    write_close_brace(writer);
}

/* A row that was made is where it belongs already. */
static void take_nothing(Writer *writer, Sink *sink, Element element)
{
    (void)writer;
    (void)sink;
    (void)element;
}

/* The row in a place. */
static const char **name_row(Writer *writer, const Window *window, const char *place)
{
    const char *array = write_word(writer, 0), *length = write_word(writer, 0);
    write_line(writer, "const KernelArrayRef %s = %s->array;", array, place);
    write_line(writer, "const int64_t %s = (int64_t)%s->count;", length, array);
    *vec_push(writer->arena, &writer->made) = (MadeArray){.array = array, .region = window->region};
    return vectors_words(writer, array, "0", length);
}

static void make_row(Writer *writer, const Window *window, const char *wanted, const char *place)
{
    const char *row = write_word(writer, 0);
    write_line(writer, "const int64_t %s = %s;", row, wanted);
    Sink nowhere = {.take = take_nothing, .region = window->region};
    writer->texts->shapes[window->row->target].place = place;
    supply_write_turn(writer, window->maker, &nowhere, row, false, false);
    writer->texts->shapes[window->row->target].place = NULL;
}

static void write_rows(Writer *writer, Window *window, const char *own)
{
    uint32_t count = 1 + window->loads.count;
    const char *rows = write_word(writer, 0), *places = write_word(writer, 0), *number = write_word(writer, 0);
    for (uint32_t i = 0; i < window->loads.count; i++) {
        const CoreStatement *load = window->loads.items[i];
        if (load->op == OP_ELEMENT)
            vectors_fail_if(writer, "(uint64_t)%s >= (uint64_t)%s", write_atom(writer, &load->arguments[1])[0], window->maker->length);
    }
    write_line(writer, "const int64_t %s[] = %s;", rows, wanted_rows(writer, window, own));
    write_line(writer, "KernelWindowPlace *%s[%u];", places, count);
    write_line(writer, "%s->turn++;", window->word);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = 0; %s < %u; %s++)", number, number, count, number));
    write_open_brace(writer, arena_format(writer->arena, "if (!kernel_window_find(%s, %s[%s], %s, &%s[%s]))", window->word, rows, number, number, places, number));
    make_row(writer, window, arena_format(writer->arena, "%s[%s]", rows, number), arena_format(writer->arena, "%s[%s]", places, number));
    write_close_brace(writer);
    write_close_brace(writer);
    window->own = name_row(writer, window, arena_format(writer->arena, "%s[0]", places));
    for (uint32_t i = 0; i < window->loads.count; i++)
        writer->texts->values[window->loads.items[i]->target] = name_row(writer, window, arena_format(writer->arena, "%s[%u]", places, i + 1));
}

void windows_write_rows(Writer *writer, const Supply *each, const char *index)
{
    write_indices(writer, each, index);
    for (uint32_t i = 0; i < each->windows->items.count; i++)
        write_rows(writer, each->windows->items.items[i], index);
}
