#include "kernel/function_recall.h"

#include "kernel/function_supply.h"
#include "kernel/op_text.h"

#include <string.h>

enum { STATEMENTS_MAX = 64 };

/* What is kept of all that is computed in one loop. */
typedef struct Recall {
    CoreVar number;           /* of the loop */
    VEC(const char *) key;    /* words, */
    VEC(const char *) arrays; /* ... and those for arrays among them */
    size_t bytes;             /* of the values of an element */
    const char *recalled;     /* a word for what is kept, or null; its elements are */
    const char *length;       /* ... so many */
} Recall;

typedef enum Need {
    NEED_INTEGERS, /* and constants, and vectors that are there before the loop */
    NEED_INDEX,    /* too */
    NEED_MORE,
} Need;

/* What is found out about the statements of a body. */
typedef struct Search {
    Writer *writer;
    const CoreBlock *body;
    const bool *is_index;
    Need needs[STATEMENTS_MAX];
    bool is_long[STATEMENTS_MAX]; /* it takes long, or is made of what does */
} Search;

/* The number of the statement that gives a variable, plus one; 0 if none of the body does. */
static uint32_t find_statement(const Search *search, const CoreAtom *atom)
{
    for (uint32_t i = 0; i < search->body->statement_count && !atom->is_constant; i++)
        if (search->body->statements[i].target == atom->variable)
            return i + 1;
    return 0;
}

/* The number of the parameter, plus one; 0 if it is none. */
static uint32_t find_parameter(const Search *search, const CoreAtom *atom)
{
    for (uint32_t i = 0; i < search->body->parameter_count && !atom->is_constant; i++)
        if (search->body->parameters[i] == atom->variable)
            return i + 1;
    return 0;
}

static bool is_of_body(const Search *search, const CoreAtom *atom)
{
    return find_statement(search, atom) != 0 || find_parameter(search, atom) != 0;
}

static bool is_scalar(const Search *search, TypeId type)
{
    return type_is_scalar(search->writer->program->types, type);
}

/* Floats hardly ever come again. */
static bool is_integer(const Search *search, const CoreAtom *atom)
{
    return is_scalar(search, atom->type) && scalar_kind(type_scalar(search->writer->program->types, atom->type)) != KIND_FLOATING;
}

static bool is_there(const Search *search, const CoreAtom *atom)
{
    const FunctionTexts *texts = search->writer->texts;
    return !atom->is_constant && texts->values[atom->variable] != NULL && texts->shapes[atom->variable].picked == NULL;
}

static Need need_of_atom(const Search *search, const CoreAtom *atom)
{
    uint32_t statement = find_statement(search, atom), parameter = find_parameter(search, atom);
    if (statement != 0)
        return search->needs[statement - 1];
    if (parameter != 0)
        return search->is_index[parameter - 1] ? NEED_INDEX : NEED_MORE;
    return atom->is_constant || (is_integer(search, atom) && is_there(search, atom)) ? NEED_INTEGERS : NEED_MORE;
}

static bool reads_vector(const CoreStatement *statement)
{
    return statement->op == OP_ELEMENT || statement->op == OP_INSIDE;
}

/* A vector that is made for this point is there no more at the next. */
static bool is_older(const Search *search, const CoreAtom *vector)
{
    return write_region_of(search->writer, search->writer->texts->values[vector->variable][VECTOR_ARRAY]) == NULL;
}

/* Whether a statement is an operation on scalars, or reads one from a vector that is there. */
static bool is_simple(const Search *search, const CoreStatement *statement)
{
    if (statement->kind != CORE_OP || statement->argument_count == 0 || !is_scalar(search, write_type(search->writer, statement->target)))
        return false;
    const CoreAtom *first = &statement->arguments[0];
    if (reads_vector(statement))
        return is_there(search, first) && !is_of_body(search, first) && is_older(search, first);
    const Types *types = search->writer->program->types;
    return is_scalar(search, first->type) &&
           op_text_exists(statement->op, type_scalar(types, first->type), type_scalar(types, write_type(search->writer, statement->target)));
}

static bool takes_long(const Search *search, const CoreStatement *statement)
{
    const Types *types = search->writer->program->types;
    ScalarType operand = reads_vector(statement) ? SCALAR_I64 : type_scalar(types, statement->arguments[0].type);
    ScalarType target = type_scalar(types, write_type(search->writer, statement->target));
    return !reads_vector(statement) && (op_text_needs_math(statement->op, operand, target) || op_text_wants_fast(statement->op, operand, target));
}

static void look_at(Search *search, uint32_t number)
{
    const CoreStatement *statement = &search->body->statements[number];
    search->needs[number] = NEED_MORE;
    search->is_long[number] = false;
    if (!is_simple(search, statement))
        return;
    Need most = NEED_INTEGERS;
    bool is_long = takes_long(search, statement);
    for (uint32_t i = reads_vector(statement); i < statement->argument_count; i++) {
        Need need = need_of_atom(search, &statement->arguments[i]);
        uint32_t made = find_statement(search, &statement->arguments[i]);
        most = need > most ? need : most;
        is_long |= made != 0 && search->is_long[made - 1];
    }
    search->needs[number] = most;
    search->is_long[number] = is_long;
}

/* Whether what a statement gives is kept, or only what is made of it. */
static bool is_kept(const Search *search, uint32_t number)
{
    return search->needs[number] == NEED_INDEX && search->is_long[number];
}

/* ---- the parts of a body ---- */

static bool is_result(const CoreBlock *body, CoreVar variable)
{
    return !body->result.is_constant && body->result.variable == variable;
}

/* From the last to the first: what the rest has, as bits. What needs more is always there, since it may fail. */
static uint64_t find_rest(const Search *search)
{
    const CoreBlock *body = search->body;
    uint64_t rest = 0;
    for (uint32_t i = body->statement_count; i-- > 0;) {
        CoreVar target = body->statements[i].target;
        bool is_needed = search->needs[i] == NEED_MORE || is_result(body, target);
        for (uint32_t later = i + 1; later < body->statement_count && !is_needed; later++)
            is_needed = (rest >> later & 1) != 0 && shape_uses(&body->statements[later], target);
        if (is_needed && !is_kept(search, i))
            rest |= (uint64_t)1 << i;
    }
    return rest;
}

static CoreBlock part_of(const Search *search, uint64_t chosen)
{
    CoreBlock part = *search->body;
    part.statements = ARENA_ARRAY(search->writer->arena, CoreStatement, part.statement_count);
    part.statement_count = 0;
    for (uint32_t i = 0; i < search->body->statement_count; i++)
        if ((chosen >> i & 1) != 0)
            part.statements[part.statement_count++] = search->body->statements[i];
    return part;
}

/* What is kept and needed by the rest; false if it is too much. */
static bool find_values(const Search *search, RecallPart *part)
{
    for (uint32_t i = 0; i < search->body->statement_count; i++) {
        CoreVar target = search->body->statements[i].target;
        bool is_needed = is_result(search->body, target);
        for (uint32_t k = 0; k < part->rest.statement_count && !is_needed; k++)
            is_needed = shape_uses(&part->rest.statements[k], target);
        if (!is_kept(search, i) || !is_needed)
            continue;
        if (part->value_count == RECALL_VALUES)
            return false;
        part->values[part->value_count++] = target;
    }
    return part->value_count > 0;
}

/* ---- the key ---- */

static void add_to_key(Writer *writer, Recall *recall, const char *text)
{
    for (uint32_t i = 0; i < recall->key.count; i++)
        if (strcmp(recall->key.items[i], text) == 0)
            return;
    *vec_push(writer->arena, &recall->key) = text;
}

static void add_word_to_key(Writer *writer, Recall *recall, const char *word)
{
    add_to_key(writer, recall, arena_format(writer->arena, "(int64_t)%s", word));
}

static void add_vector_to_key(Writer *writer, Recall *recall, const char **vector)
{
    uint32_t before = recall->key.count;
    add_to_key(writer, recall, arena_format(writer->arena, "(int64_t)(uintptr_t)%s", vector[VECTOR_ARRAY]));
    if (recall->key.count > before)
        *vec_push(writer->arena, &recall->arrays) = vector[VECTOR_ARRAY];
    add_word_to_key(writer, recall, vector[VECTOR_START]);
    add_word_to_key(writer, recall, vector[VECTOR_LENGTH]);
}

static void find_key(const Search *search, Recall *recall, const CoreBlock *filling)
{
    Writer *writer = search->writer;
    for (uint32_t i = 0; i < filling->statement_count; i++) {
        const CoreStatement *statement = &filling->statements[i];
        if (reads_vector(statement))
            add_vector_to_key(writer, recall, write_atom(writer, &statement->arguments[0]));
        for (uint32_t a = reads_vector(statement); a < statement->argument_count; a++)
            if (!statement->arguments[a].is_constant && !is_of_body(search, &statement->arguments[a]))
                add_word_to_key(writer, recall, write_atom(writer, &statement->arguments[a])[0]);
    }
}

static LeafType type_of_value(const Writer *writer, const RecallPart *part, uint32_t number)
{
    return (LeafType)type_scalar(writer->program->types, write_type(writer, part->values[number]));
}

static RecallPart *find_in_body(Writer *writer, Recall *recall, const CoreBlock *body, const bool *is_index)
{
    Search search = {.writer = writer, .body = body, .is_index = is_index};
    if (body->statement_count > STATEMENTS_MAX)
        return NULL;
    uint64_t filling = 0;
    bool is_any_kept = false;
    for (uint32_t i = 0; i < body->statement_count; i++) {
        look_at(&search, i);
        filling |= (uint64_t)(search.needs[i] != NEED_MORE) << i;
        is_any_kept |= is_kept(&search, i);
    }
    if (!is_any_kept)
        return NULL;
    RecallPart *part = ARENA_NEW(writer->arena, RecallPart);
    *part = (RecallPart){.filling = part_of(&search, filling), .rest = part_of(&search, find_rest(&search)), .before = recall->bytes};
    if (!find_values(&search, part))
        return NULL;
    find_key(&search, recall, &part->filling);
    for (uint32_t i = 0; i < part->value_count; i++)
        recall->bytes += leaf_size(type_of_value(writer, part, i));
    return part;
}

/* ---- text ---- */

static void write_search(Writer *writer, Recall *recall, const char *length)
{
    Text text;
    text_init(&text, writer->out->memory);
    recall->recalled = write_word(writer, 0);
    recall->length = length;
    text_addf(&text, "KernelRecalled *const %s = ", recall->recalled);
    for (uint32_t i = 0; i < recall->arrays.count; i++)
        text_addf(&text, "!kernel_recall_knows(%s) ? NULL : ", recall->arrays.items[i]);
    text_addf(&text, "kernel_recall(scalars->call->workspace, (const int64_t[]){%u, %s", recall->number, length);
    for (uint32_t i = 0; i < recall->key.count; i++)
        text_addf(&text, ", %s", recall->key.items[i]);
    text_addf(&text, "}, %u, %s, %zu);", recall->key.count + 2, length, recall->bytes);
    write_line(writer, "%s", text_string(&text));
    text_free(&text);
}

static void write_cells(Writer *writer, const Recall *recall, RecallPart *part)
{
    size_t before = part->before;
    for (uint32_t i = 0; i < part->value_count; i++) {
        LeafType type = type_of_value(writer, part, i);
        part->cells[i] = write_word(writer, 0);
        write_line(writer, "%s *const %s = kernel_recall_column(%s, %s, %zu);", write_leaf_type(type), part->cells[i], recall->recalled, recall->length, before);
        before += leaf_size(type);
    }
}

static void write_put(Writer *writer, const RecallPart *part, const char *index)
{
    for (uint32_t i = 0; i < part->value_count; i++)
        write_line(writer, "%s[%s] = %s;", part->cells[i], index, writer->texts->values[part->values[i]][0]);
}

void recall_write_get(Writer *writer, const RecallPart *part, const char *index)
{
    for (uint32_t i = 0; i < part->value_count; i++)
        write_line(writer, "const %s %s = %s[%s];", write_leaf_type(type_of_value(writer, part, i)), write_new_words(writer, part->values[i])[0],
                   part->cells[i], index);
}

/* ---- loops ---- */

/* The comprehensions of which something may be kept: the supply itself, or those that are joined in it. */
static Supply **comprehensions_of(Supply **supply, uint32_t *count)
{
    bool is_joined = (*supply)->kind == SUPPLY_ZIP;
    *count = is_joined ? (*supply)->member_count : 1;
    return is_joined ? (*supply)->members : supply;
}

static RecallPart *find_part(Writer *writer, Recall *recall, const Supply *supply)
{
    if (supply->kind != SUPPLY_EACH || supply->table != NULL)
        return NULL;
    uint32_t turn = abreast_enter(writer, supply->turn);
    bool *is_index = ARENA_ARRAY(writer->arena, bool, supply->member_count);
    for (uint32_t i = 0; i < supply->member_count; i++)
        is_index[i] = supply->members[i]->kind == SUPPLY_RANGE;
    RecallPart *part = find_in_body(writer, recall, supply->statement->blocks[0], is_index);
    for (uint32_t i = 0; i < supply->member_count && part != NULL; i++)
        if (is_index[i] && supply->members[i]->words != NULL && supply->members[i]->words[0] != NULL)
            add_word_to_key(writer, recall, supply->members[i]->words[0]);
    if (part != NULL && recall->number == 0)
        recall->number = supply->statement->target;
    else if (part != NULL)
        add_word_to_key(writer, recall, arena_format(writer->arena, "%u", supply->statement->target));
    abreast_enter(writer, turn);
    return part;
}

static void forget_recall(Supply *supply)
{
    uint32_t count;
    Supply **each = comprehensions_of(&supply, &count);
    for (uint32_t i = 0; i < count; i++)
        each[i]->recall = NULL;
}

/* Whether something of what the loop of a supply computes may be kept; then it is there, until it is forgotten. */
static bool find_recall(Writer *writer, Supply *supply, Recall *recall)
{
    *recall = (Recall){0};
    if (supply == NULL || supply->few > 0 || writer->is_deferred || !supply_is_straight(writer, supply) || !supply_may_go_on(writer, supply, &(Sink){0}))
        return false;
    uint32_t count;
    Supply **each = comprehensions_of(&supply, &count);
    for (uint32_t i = 0; i < count; i++)
        each[i]->recall = find_part(writer, recall, each[i]);
    if (recall->bytes > 0 && recall->key.count + 2 <= KERNEL_RECALL_KEY)
        return true;
    forget_recall(supply);
    return false;
}

static void write_all_cells(Writer *writer, Supply *supply, const Recall *recall)
{
    uint32_t count;
    Supply **each = comprehensions_of(&supply, &count);
    for (uint32_t i = 0; i < count; i++)
        if (each[i]->recall != NULL)
            write_cells(writer, recall, each[i]->recall);
}

static void fill_part(Writer *writer, const Supply *supply, const char *index)
{
    const CoreBlock *block = &supply->recall->filling;
    uint32_t turn = abreast_enter(writer, supply->turn);
    for (uint32_t i = 0; i < supply->member_count; i++)
        if (supply->members[i]->kind == SUPPLY_RANGE)
            writer->texts->values[block->parameters[i]] = supply_step(writer, supply->members[i], index).words;
    write_statements(writer, block);
    write_put(writer, supply->recall, index);
    abreast_enter(writer, turn);
}

/* Computes what is not there yet, if it is to be kept. */
static void fill_recall(Writer *writer, Supply *supply, Recall *recall)
{
    uint32_t count;
    Supply **each = comprehensions_of(&supply, &count);
    const char *index = write_word(writer, 0);
    write_search(writer, recall, supply->length);
    write_open_brace(writer, arena_format(writer->arena, "if (%s != NULL && !%s->is_filled)", recall->recalled, recall->recalled));
    write_all_cells(writer, supply, recall);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = 0; %s < %s; %s++)", index, index, supply->length, index));
    writer->is_deferred = true;
    for (uint32_t i = 0; i < count; i++)
        if (each[i]->recall != NULL)
            fill_part(writer, each[i], index);
    writer->is_deferred = false;
    write_close_brace(writer);
    if (writer->has_pending)
        write_check(writer);
    writer->has_pending = false;
    write_line(writer, "%s->is_filled = true;", recall->recalled);
    write_close_brace(writer);
}

void sequence_write_versions(Writer *writer, Traversal *traversal, TraversalWriter *write, void *context)
{
    Recall recall;
    if (traversal->filters || !find_recall(writer, traversal->supply, &recall)) {
        write(writer, traversal, context);
        return;
    }
    fill_recall(writer, traversal->supply, &recall);
    if (writer->abreast != NULL) {
        abreast_end_if(writer, arena_format(writer->arena, "%s == NULL", recall.recalled));
        write_all_cells(writer, traversal->supply, &recall);
        write(writer, traversal, context);
        forget_recall(traversal->supply);
        return;
    }
    write_open_brace(writer, arena_format(writer->arena, "if (%s != NULL)", recall.recalled));
    write_all_cells(writer, traversal->supply, &recall);
    write(writer, traversal, context);
    forget_recall(traversal->supply);
    write_else(writer);
    write(writer, traversal, context);
    write_close_brace(writer);
}

bool sequence_can_be_light(Writer *writer, const Traversal *traversal)
{
    Recall recall;
    bool has_recall = sequence_is_exact(traversal) && find_recall(writer, traversal->supply, &recall), is_light = sequence_is_light(writer, traversal);
    if (has_recall)
        forget_recall(traversal->supply);
    return is_light;
}
