/* Values of a comprehension that depend on an index alone: what is made of elements of vectors, all at the same index, as `ranks[u] / float(degrees[u])` is.
 *
 * Where there are more points than the vectors have elements, such a value is computed once for every element, in a table, and read from there for each point: one element from anywhere instead of
 * several, and no arithmetic. Where there are fewer, the table has no elements, and points outside of it compute the value as they would have. Nothing in it can fail, but for an index that is
 * outside of the vectors, and so of the table. */
#include "kernel/function_supply.h"

struct IndexTable {
    CoreVar index;   /* the parameter of the body, */
    CoreVar value;   /* ... and what depends on it alone, */
    CoreBlock made;  /* ... by these statements; */
    CoreBlock rest;  /* the others */
    LeafType type;
    const char *cells, *length;
};

/* ---- what depends on an index ---- */

/* A body, and which of its statements depend on one of its parameters alone. */
typedef struct Dependents {
    const Writer *writer;
    const CoreBlock *body;
    CoreVar index;
    bool *are; /* by statement */
} Dependents;

static bool is_parameter(const CoreBlock *body, CoreVar variable)
{
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (body->parameters[i] == variable)
            return true;
    return false;
}

/* The number of the statement that gives an atom, or that of all of them. */
static uint32_t statement_of(const CoreBlock *body, const CoreAtom *atom)
{
    uint32_t i = 0;
    while (i < body->statement_count && (atom->is_constant || body->statements[i].target != atom->variable))
        i++;
    return i;
}

static bool is_outside(const CoreBlock *body, const CoreAtom *atom)
{
    return atom->is_constant || (!is_parameter(body, atom->variable) && statement_of(body, atom) == body->statement_count);
}

static bool is_scalar(const Dependents *d, TypeId type)
{
    return type_is_scalar(d->writer->program->types, type);
}

static bool is_load_at_index(const Dependents *d, const CoreStatement *statement)
{
    const CoreAtom *arguments = statement->arguments;
    return shape_takes_element(statement) && is_scalar(d, write_type(d->writer, statement->target)) && is_outside(d->body, &arguments[0]) && !arguments[1].is_constant &&
           arguments[1].variable == d->index;
}

static bool is_made_of_dependents(const Dependents *d, const CoreStatement *statement)
{
    bool is_any = false;
    CoreBlock alone = {.statements = (CoreStatement *)statement, .statement_count = 1, .result = core_bool(true)};
    if (statement->kind != CORE_OP || !is_scalar(d, write_type(d->writer, statement->target)) || !shape_cannot_fail(d->writer->texts, &alone))
        return false;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        uint32_t from = statement_of(d->body, &statement->arguments[i]);
        bool depends = from < d->body->statement_count && d->are[from];
        if (!is_scalar(d, statement->arguments[i].type) || (!depends && !is_outside(d->body, &statement->arguments[i])))
            return false;
        is_any |= depends;
    }
    return is_any;
}

static bool uses(const CoreStatement *statement, CoreVar variable);

static bool uses_in(const CoreBlock *block, CoreVar variable)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (uses(&block->statements[i], variable))
            return true;
    return !block->result.is_constant && block->result.variable == variable;
}

static bool uses(const CoreStatement *statement, CoreVar variable)
{
    for (uint32_t i = 0; i < statement->argument_count; i++)
        if (!statement->arguments[i].is_constant && statement->arguments[i].variable == variable)
            return true;
    for (uint32_t i = 0; i < statement->captured_count; i++)
        if (!statement->captured[i].is_constant && statement->captured[i].variable == variable)
            return true;
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL && uses_in(statement->blocks[b], variable))
            return true;
    return false;
}

/* Whether others than dependents want a value. */
static bool is_wanted(const Dependents *d, CoreVar variable)
{
    for (uint32_t i = 0; i < d->body->statement_count; i++)
        if (!d->are[i] && uses(&d->body->statements[i], variable))
            return true;
    return !d->body->result.is_constant && d->body->result.variable == variable;
}

/* The only one of them that is wanted, if it is more than an element; else null. */
static const CoreStatement *find_dependents(Dependents *d)
{
    const CoreStatement *wanted = NULL;
    uint32_t wanted_count = 0;
    for (uint32_t i = 0; i < d->body->statement_count; i++)
        d->are[i] = is_load_at_index(d, &d->body->statements[i]) || is_made_of_dependents(d, &d->body->statements[i]);
    for (uint32_t i = 0; i < d->body->statement_count; i++)
        if (d->are[i] && is_wanted(d, d->body->statements[i].target)) {
            wanted = &d->body->statements[i];
            wanted_count++;
        }
    return wanted_count == 1 && !shape_takes_element(wanted) ? wanted : NULL;
}

static CoreBlock part_of(const Dependents *d, bool are_dependent)
{
    CoreBlock part = *d->body;
    part.statements = ARENA_ARRAY(d->writer->arena, CoreStatement, part.statement_count);
    part.statement_count = 0;
    for (uint32_t i = 0; i < d->body->statement_count; i++)
        if (d->are[i] == are_dependent)
            part.statements[part.statement_count++] = d->body->statements[i];
    return part;
}

static IndexTable *find_table(Writer *writer, const CoreBlock *body)
{
    Dependents d = {.writer = writer, .body = body, .are = ARENA_ARRAY(writer->arena, bool, body->statement_count)};
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        d.index = body->parameters[i];
        const CoreStatement *value = write_type(writer, d.index) == TYPE_INT ? find_dependents(&d) : NULL;
        if (value == NULL)
            continue;
        IndexTable *table = ARENA_NEW(writer->arena, IndexTable);
        LeafType type = write_layout(writer, write_type(writer, value->target))->leaves[0].type;
        *table = (IndexTable){.index = d.index, .value = value->target, .made = part_of(&d, true), .rest = part_of(&d, false), .type = type};
        return table;
    }
    return NULL;
}

/* ---- text ---- */

/* As many elements as each of the vectors has, or none if points are too few for that. */
static void write_length(Writer *writer, IndexTable *table, const char *points)
{
    table->length = write_word(writer, 0);
    write_line(writer, "int64_t %s = KERNEL_COUNT_MAX;", table->length);
    for (uint32_t i = 0; i < table->made.statement_count; i++) {
        if (!shape_takes_element(&table->made.statements[i]))
            continue;
        const char *length = write_atom(writer, &table->made.statements[i].arguments[0])[VECTOR_LENGTH];
        write_line(writer, "%s = %s < %s ? %s : %s;", table->length, length, table->length, length, table->length);
    }
    write_line(writer, "%s = %s <= %s / 2 ? %s : 0;", table->length, table->length, points, table->length);
}

static const char *write_made(Writer *writer, const IndexTable *table)
{
    write_statements(writer, &table->made);
    return writer->texts->values[table->value][0];
}

static void fill(Writer *writer, const IndexTable *table)
{
    const char *index = write_word(writer, 0), **indices = ARENA_ARRAY(writer->arena, const char *, 1);
    const char *first = arena_format(writer->arena, "kernel_part(scalars->call, %s, 0, KERNEL_LINE)", table->length), *end = write_word(writer, 0);
    write_line(writer, "const int64_t %s = kernel_part(scalars->call, %s, 1, KERNEL_LINE);", end, table->length);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = %s; %s < %s; %s++)", index, first, index, end, index));
    indices[0] = index;
    writer->texts->values[table->index] = indices;
    write_line(writer, "%s[%s] = %s;", table->cells, index, vectors_canonical(writer, table->type, write_made(writer, table)));
    write_close_brace(writer);
}

void tables_prepare(Writer *writer, Supply *each)
{
    IndexTable *table = each->kind == SUPPLY_EACH ? find_table(writer, each->statement->blocks[0]) : NULL;
    if (table == NULL)
        return;
    const Layout *element = write_layout(writer, write_type(writer, table->value));
    write_length(writer, table, each->length);
    if (writer->may_share)
        vectors_shared_array(writer, writer->aside, element, table->length, NULL, &table->cells);
    else
        vectors_new_array(writer, writer->aside, element, table->length, &table->cells);
    bool had_pending = writer->has_pending;
    writer->is_deferred = true;
    fill(writer, table);
    writer->is_deferred = false;
    writer->has_pending = had_pending;
    if (writer->may_share)
        share_meet(writer);
    each->table = table;
}

const CoreBlock *tables_read(Writer *writer, const IndexTable *table)
{
    const char *index = writer->texts->values[table->index][0], **words = ARENA_ARRAY(writer->arena, const char *, 1);
    words[0] = write_word(writer, 0);
    write_line(writer, "%s %s;", write_leaf_type(table->type), words[0]);
    write_open_brace(writer, arena_format(writer->arena, "if (OP_RARELY((uint64_t)%s >= (uint64_t)%s))", index, table->length));
    write_line(writer, "%s = %s;", words[0], write_made(writer, table));
    write_else(writer);
    write_line(writer, "%s = %s[%s];", words[0], table->cells, index);
    write_close_brace(writer);
    writer->texts->values[table->value] = words;
    return &table->rest;
}
