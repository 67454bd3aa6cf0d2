#include "kernel/function_join.h"

#include "kernel/function_shape.h"
#include "kernel/function_write.h"

/* ---- functions that can ---- */

static bool gives_one_flat_vector(const FunctionTexts *texts, CoreFunctionId function)
{
    TypeId type = texts->program->functions.items[function]->result_type;
    if (!type_is_vector(texts->program->types, type))
        return false;
    TypeId element = type_element(texts->program->types, type);
    return layout_of(texts->layouts, element)->count > 0 && !shape_has_arrays(texts, element);
}

/* Loops keep their vectors from turn to turn in another way (kernel/function_turns.c). */
static bool is_suitable(FunctionTexts *texts, CoreFunctionId id)
{
    const CoreFunction *function = texts->program->functions.items[id];
    return function != NULL && function->alone == NULL && !function_text_accepts(texts, id) && gives_one_flat_vector(texts, id) && !write_has_turn(function->body, id);
}

/* ---- what is joined ---- */

/* A join that is being found. */
typedef struct Search {
    FunctionTexts *texts;
    const CoreBlock *block;
    CoreFunctionId function; /* calls of it count, */
    bool counts_others;      /* ... and those of others that are onto */
    Join *join;
    CoreVar joined[4 * JOIN_MAX]; /* variables that are not needed besides, */
    uint32_t joined_count;
    CoreVar late[JOIN_MAX];       /* ... and those that wait for lengths */
    uint32_t late_count;
    bool takes_lengths;
    bool is_too_long;
} Search;

static JoinPart *add_part(Search *search, JoinPart part)
{
    search->is_too_long |= search->join->count == JOIN_MAX;
    if (search->is_too_long)
        return &search->join->parts[0];
    search->join->parts[search->join->count] = part;
    return &search->join->parts[search->join->count++];
}

static void add_joined(Search *search, CoreVar variable)
{
    enum { ROOM = sizeof search->joined / sizeof search->joined[0] };
    search->is_too_long |= search->joined_count == ROOM;
    if (!search->is_too_long)
        search->joined[search->joined_count++] = variable;
}

static const CoreStatement *find_definition(const CoreBlock *block, const CoreAtom *atom)
{
    for (uint32_t i = 0; i < block->statement_count && !atom->is_constant; i++)
        if (block->statements[i].target == atom->variable)
            return &block->statements[i];
    return NULL;
}

/* The statement of the block that gives a value which is used that often; null if there is none. */
static const CoreStatement *find_used(const Search *search, const CoreAtom *atom, uint32_t uses)
{
    const CoreStatement *definition = find_definition(search->block, atom);
    return definition != NULL && shape_count_uses(search->block, definition->target) == uses ? definition : NULL;
}

static bool is_op(const CoreStatement *statement, Op op)
{
    return statement != NULL && statement->kind == CORE_OP && statement->op == op;
}

static bool is_length_of(const CoreStatement *statement, CoreVar variable)
{
    return is_op(statement, OP_LENGTH) && !statement->arguments[0].is_constant && statement->arguments[0].variable == variable;
}

static uint32_t count_lengths(const Search *search, const CoreAtom *atom)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < search->block->statement_count && search->takes_lengths && !atom->is_constant; i++)
        count += is_length_of(&search->block->statements[i], atom->variable);
    return count;
}

static bool joins(FunctionTexts *texts, CoreFunctionId function, bool counts_others);

static bool counts(const Search *search, CoreFunctionId function)
{
    return function == search->function || (search->counts_others && joins(search->texts, function, false));
}

/* How many elements a comprehension is over, if they are written down; otherwise 0. */
static uint32_t count_few(const Search *search, const CoreStatement *each)
{
    uint32_t few = 0;
    for (uint32_t i = 0; i < each->argument_count; i++) {
        const CoreStatement *sequence = find_used(search, &each->arguments[i], 1);
        const CoreStatement *made = is_op(sequence, OP_SEQ) ? find_used(search, &sequence->arguments[0], 1) : NULL;
        if (made == NULL || made->kind != CORE_MAKE || (i > 0 && made->argument_count != few))
            return 0;
        few = made->argument_count;
    }
    return few <= SHAPE_FEW ? few : 0;
}

/* The comprehension over a few elements, each of which is given to a call that counts, that a vector is made from: null if it is made from something else. */
static const CoreStatement *find_calls(const Search *search, const CoreStatement *table, uint32_t *few)
{
    const CoreStatement *each = is_op(table, OP_TAB) ? find_used(search, &table->arguments[0], 1) : NULL;
    if (each == NULL || each->kind != CORE_EACH || core_has_blocks(each->blocks[0]))
        return NULL;
    const CoreStatement *call = forks_find_call(search->texts, each->blocks[0]);
    *few = count_few(search, each);
    return call != NULL && *few > 0 && counts(search, call->function) ? each : NULL;
}

static void add_turn(Search *search, const CoreStatement *each, uint32_t turn, const CoreAtom *value)
{
    const CoreBlock *body = each->blocks[0];
    add_part(search, (JoinPart){.kind = JOIN_TURN, .atoms = value, .atom_count = 1, .call = &body->statements[body->statement_count - 1], .each = each, .turn = turn});
}

static bool add_loop(Search *search, const CoreStatement *table)
{
    const CoreStatement *call = is_op(table, OP_TAB) ? forks_find_element_call(search->texts, search->block, &table->arguments[0]) : NULL;
    if (call == NULL || !counts(search, call->function))
        return false;
    add_joined(search, table->target);
    add_part(search, (JoinPart){.kind = JOIN_LOOP, .atoms = &table->arguments[0], .atom_count = 1, .call = call});
    return true;
}

/* All vectors of a vector of them. */
static bool add_flattened(Search *search, const CoreStatement *flatten)
{
    uint32_t few;
    const CoreStatement *table = find_used(search, &flatten->arguments[0], 1), *each = find_calls(search, table, &few);
    if (each == NULL)
        return add_loop(search, table);
    add_joined(search, table->target);
    for (uint32_t turn = 0; turn < few; turn++)
        add_turn(search, each, turn, NULL);
    return true;
}

/* One of them; in the end each must have been taken once. */
static bool add_element(Search *search, const CoreStatement *element, const CoreAtom *value)
{
    uint32_t few;
    const CoreStatement *table = find_definition(search->block, &element->arguments[0]), *each = find_calls(search, table, &few);
    const CoreAtom *index = &element->arguments[1];
    if (each == NULL || !index->is_constant || (uint64_t)index->constant.integer >= few || shape_count_uses(search->block, table->target) != few)
        return false;
    add_turn(search, each, (uint32_t)index->constant.integer, value);
    return true;
}

static void add_length(Search *search, JoinLength length)
{
    search->is_too_long |= search->join->length_count == JOIN_LENGTHS_MAX;
    if (!search->is_too_long)
        search->join->lengths[search->join->length_count++] = length;
}

static void add_value(Search *search, const CoreAtom *atom, uint32_t nesting);

static bool add_op(Search *search, const CoreStatement *statement, const CoreAtom *value, uint32_t nesting)
{
    const CoreAtom *arguments = statement->arguments;
    switch ((int)statement->op) {
    case OP_APPEND:
        add_value(search, &arguments[0], nesting + 1);
        add_value(search, &arguments[1], nesting + 1);
        return true;
    case OP_CONS:
        add_part(search, (JoinPart){.kind = JOIN_ELEMENTS, .atoms = &arguments[0], .atom_count = 1});
        add_value(search, &arguments[1], nesting + 1);
        return true;
    case OP_SNOC:
        add_value(search, &arguments[0], nesting + 1);
        add_part(search, (JoinPart){.kind = JOIN_ELEMENTS, .atoms = &arguments[1], .atom_count = 1});
        return true;
    case OP_CONCAT:
    case OP_FLATTEN: return add_flattened(search, statement);
    case OP_ELEMENT:
    case OP_INSIDE: return add_element(search, statement, value);
    default: return false;
    }
}

static bool add_definition(Search *search, const CoreStatement *statement, const CoreAtom *value, uint32_t nesting)
{
    switch ((int)statement->kind) {
    case CORE_OP: return add_op(search, statement, value, nesting);
    case CORE_MAKE: add_part(search, (JoinPart){.kind = JOIN_ELEMENTS, .atoms = statement->arguments, .atom_count = statement->argument_count}); return true;
    case CORE_CALL:
        if (!counts(search, statement->function))
            return false;
        add_part(search, (JoinPart){.kind = JOIN_CALL, .call = statement});
        return true;
    default: return false;
    }
}

static void add_value(Search *search, const CoreAtom *atom, uint32_t nesting)
{
    uint32_t lengths = count_lengths(search, atom), first = search->join->count;
    const CoreStatement *definition = nesting > JOIN_MAX ? NULL : find_used(search, atom, 1 + lengths);
    if (definition != NULL && add_definition(search, definition, atom, nesting)) {
        add_joined(search, definition->target);
        if (lengths > 0)
            add_length(search, (JoinLength){definition->target, first, search->join->count});
    } else
        add_part(search, (JoinPart){.kind = JOIN_VECTOR, .atoms = atom, .atom_count = 1});
}

static bool has_turn(const Join *join, const CoreStatement *each, uint32_t turn)
{
    for (uint32_t i = 0; i < join->count; i++)
        if (join->parts[i].kind == JOIN_TURN && join->parts[i].each == each && join->parts[i].turn == turn)
            return true;
    return false;
}

static bool has_all_turns(const Search *search, const CoreStatement *each)
{
    for (uint32_t turn = 0; turn < count_few(search, each); turn++)
        if (!has_turn(search->join, each, turn))
            return false;
    return true;
}

/* Single turns are only for those who take all of them. */
static void settle_turns(Search *search)
{
    for (uint32_t i = 0; i < search->join->count; i++) {
        JoinPart *part = &search->join->parts[i];
        if (part->kind != JOIN_TURN || part->atoms == NULL)
            continue;
        const CoreStatement *element = find_definition(search->block, part->atoms);
        if (has_all_turns(search, part->each))
            add_joined(search, element->arguments[0].variable);
        else
            search->is_too_long = true;
    }
}

/* ---- what waits for lengths ---- */

const JoinLength *join_find_length(const Join *join, const CoreStatement *statement)
{
    for (uint32_t i = 0; i < join->length_count; i++)
        if (is_length_of(statement, join->lengths[i].variable))
            return &join->lengths[i];
    return NULL;
}

static bool is_among(const CoreVar *variables, uint32_t count, CoreVar variable)
{
    for (uint32_t i = 0; i < count; i++)
        if (variables[i] == variable)
            return true;
    return false;
}

static bool uses_late(const Search *search, const CoreStatement *statement)
{
    for (uint32_t i = 0; i < search->late_count; i++)
        if (shape_uses(statement, search->late[i]))
            return true;
    return false;
}

/* Whether a statement may be written after all parts: it computes scalars, and no more. */
static bool can_wait(const Search *search, const CoreStatement *statement)
{
    const Types *types = search->texts->program->types;
    switch ((int)statement->kind) {
    case CORE_COPY:
    case CORE_PAIR:
    case CORE_PROJECT: break;
    case CORE_OP:
        for (uint32_t i = 0; i < statement->argument_count; i++)
            if (!type_is_scalar(types, statement->arguments[i].type))
                return false;
        break;
    default: return false;
    }
    return !shape_has_arrays(search->texts, search->texts->program->variables.items[statement->target].type);
}

/* Values that depend on lengths are only for elements, and must be known for nothing else. */
static void find_late(Search *search)
{
    for (uint32_t i = 0; i < search->block->statement_count && search->join->length_count > 0; i++) {
        const CoreStatement *statement = &search->block->statements[i];
        bool is_length = join_find_length(search->join, statement) != NULL;
        if (!is_length && !uses_late(search, statement))
            continue;
        bool gives_elements = statement->kind != CORE_CALL && is_among(search->joined, search->joined_count, statement->target);
        if (!is_length && gives_elements)
            continue;
        search->is_too_long |= (!is_length && !can_wait(search, statement)) || search->late_count == JOIN_MAX;
        if (!search->is_too_long)
            search->late[search->late_count++] = statement->target;
    }
    for (uint32_t i = 0; i < search->join->count; i++) {
        JoinPart *part = &search->join->parts[i];
        for (uint32_t a = 0; a < part->atom_count && part->kind == JOIN_ELEMENTS; a++)
            part->is_late |= !part->atoms[a].is_constant && is_among(search->late, search->late_count, part->atoms[a].variable);
    }
}

static bool is_found(Search *search, bool takes_lengths)
{
    search->takes_lengths = takes_lengths;
    search->is_too_long = false;
    search->joined_count = search->late_count = 0;
    *search->join = (Join){.count = 0};
    add_value(search, &search->block->result, 0);
    settle_turns(search);
    find_late(search);
    return !search->is_too_long;
}

/* What cannot be taken apart is one vector. */
static void find(Search *search)
{
    if (is_found(search, true) || is_found(search, false))
        return;
    search->joined_count = 0;
    search->join->parts[0] = (JoinPart){.kind = JOIN_VECTOR, .atoms = &search->block->result, .atom_count = 1};
    search->join->count = 1;
}

/* ---- functions that do ---- */

typedef bool TailVisit(void *context, const CoreBlock *block);

/* Whether a visit says so of a block in tail position that ends in no `if`. */
static bool any_tail(const CoreBlock *block, TailVisit *visit, void *context)
{
    const CoreStatement *last = block->statement_count == 0 ? NULL : &block->statements[block->statement_count - 1];
    if (last != NULL && last->kind == CORE_IF && write_is_last(block, block->statement_count - 1))
        return any_tail(last->blocks[0], visit, context) || any_tail(last->blocks[1], visit, context);
    return visit(context, block);
}

/* What a block joins, as somebody looks for it. */
static Search find_in(const Search *looked, const CoreBlock *block, Join *join)
{
    Search search = *looked;
    search.block = block;
    search.join = join;
    find(&search);
    return search;
}

static bool joins_calls(void *context, const CoreBlock *block)
{
    Join join;
    find_in(context, block, &join);
    for (uint32_t i = 0; i < join.count; i++)
        if (join.parts[i].call != NULL && (join.count > 1 || join.parts[i].kind == JOIN_LOOP))
            return true;
    return false;
}

/* Its own calls or, if those count too, others that are onto. */
static bool joins(FunctionTexts *texts, CoreFunctionId function, bool counts_others)
{
    Search search = {.texts = texts, .function = function, .counts_others = counts_others};
    return is_suitable(texts, function) && any_tail(texts->program->functions.items[function]->body, joins_calls, &search);
}

bool join_is_onto(FunctionTexts *texts, CoreFunctionId function)
{
    return joins(texts, function, true);
}

void join_find(FunctionTexts *texts, CoreFunctionId function, const CoreBlock *block, Join *join)
{
    Search search = {.texts = texts, .block = block, .function = function, .counts_others = true, .join = join};
    find(&search);
}

static bool mark(void *context, const CoreBlock *block)
{
    Join join;
    Search search = find_in(context, block, &join);
    for (uint32_t i = 0; i < search.joined_count; i++)
        search.texts->shapes[search.joined[i]].is_joined = true;
    for (uint32_t i = 0; i < search.late_count; i++)
        search.texts->shapes[search.late[i]].is_late = true;
    for (uint32_t i = 0; i < join.count; i++)
        if (join.parts[i].kind == JOIN_LOOP)
            shape_keep(search.texts, join.parts[i].call->arguments, join.parts[i].call->argument_count);
    return false;
}

void join_mark(FunctionTexts *texts, CoreFunctionId function)
{
    Search search = {.texts = texts, .function = function, .counts_others = true};
    any_tail(texts->program->functions.items[function]->body, mark, &search);
}
