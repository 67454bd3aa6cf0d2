#include "core/outline.h"

#include "core/builtin_operator.h"
#include "core/outline_join.h"

#include <string.h>

/* What becomes of a statement of the body. */
typedef enum Part {
    PART_MOVED,  /* it goes to the function */
    PART_SAME,   /* it is the same for all elements, and computed before the call, unless that takes no time */
    PART_BEHIND, /* it has to do with the sequence that the body gives, which a function cannot give, and follows the call */
} Part;

/* A comprehension whose body may become a function. */
typedef struct Body {
    const Outliner *outliner;
    const CoreBlock *block;
    uint8_t *parts;      /* Part, by statement of the block */
    uint32_t moved;      /* statements of that part */
    uint32_t variable_count;
    bool *is_bound;      /* by variable: bound in the block, and not the same for all elements */
    bool *is_behind;     /* by variable: bound by a statement that follows the call */
    CoreVar *renamed;    /* by variable: what it is called in the function; 0 for itself */
    VEC(CoreVar) captured;
    VEC(CoreVar) given;  /* variables of the function that are needed behind it */
} Body;

static TypeId type_of(const CoreProgram *program, CoreVar variable)
{
    return program->variables.items[variable].type;
}

/* ---- walking through blocks ---- */

typedef void AtomVisitor(void *context, const CoreAtom *atom);

static void visit_block(const CoreBlock *block, AtomVisitor *visit, void *context);

/* Every atom in a statement. */
static void visit_statement(const CoreStatement *statement, AtomVisitor *visit, void *context)
{
    for (uint32_t i = 0; i < statement->argument_count; i++)
        visit(context, &statement->arguments[i]);
    for (uint32_t i = 0; i < statement->captured_count; i++)
        visit(context, &statement->captured[i]);
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL)
            visit_block(statement->blocks[b], visit, context);
}

static void visit_block(const CoreBlock *block, AtomVisitor *visit, void *context)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        visit_statement(&block->statements[i], visit, context);
    visit(context, &block->result);
}

/* ---- which bodies are worth it ---- */

typedef struct Uses {
    CoreVar variable;
    uint32_t count;
} Uses;

static void count_use(void *context, const CoreAtom *atom)
{
    Uses *uses = context;
    uses->count += !atom->is_constant && atom->variable == uses->variable;
}

/* Whether a vector that is made here is only walked through once, by the next statement that has to do with it: such are not made. */
static bool is_walked_once(const CoreProgram *program, const CoreBlock *block, uint32_t index)
{
    Uses uses = {.variable = block->statements[index].target};
    visit_block(block, count_use, &uses);
    for (uint32_t i = index + 1; i < block->statement_count && uses.count == 1; i++) {
        const CoreStatement *user = &block->statements[i];
        if (user->kind == CORE_OP && user->argument_count > 0 && !user->arguments[0].is_constant && user->arguments[0].variable == uses.variable)
            return user->op == OP_SEQ || builtin_is_scan(user->op) || type_is_scalar(program->types, type_of(program, user->target));
    }
    return false;
}

static bool is_slice(Op op)
{
    switch ((int)op) {
    case OP_ELEMENT:
    case OP_INSIDE:
    case OP_SLICE:
    case OP_SUBSEQ:
    case OP_TAKE:
    case OP_DROP: return true;
    default: return false;
    }
}

/* A search that goes into functions that are called too, each looked at once. */
typedef struct Search {
    const CoreProgram *program;
    bool *is_seen; /* by function */
} Search;

static Search start_search(const CoreProgram *program)
{
    return (Search){.program = program, .is_seen = ARENA_ARRAY(program->arena, bool, program->functions.count)};
}

/* Whether a function is to be looked at: it will not be again. */
static bool search_goes_into(const Search *search, CoreFunctionId function)
{
    bool is_new = function != 0 && !search->is_seen[function];
    search->is_seen[function] = true;
    return is_new;
}

/* To end with a message is no effect: the message is the network's to give. */
static bool has_effect(Op op)
{
    return op_table[op].effect != EFFECT_PURE && op != OP_FAIL && op != OP_NOT_PROVIDED && op != OP_RAISE;
}

static bool is_pure_block(const Search *search, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_OP && has_effect(statement->op))
            return false;
        if (search_goes_into(search, statement->function) && !is_pure_block(search, search->program->functions.items[statement->function]->body))
            return false;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && !is_pure_block(search, statement->blocks[b]))
                return false;
    }
    return true;
}

static bool makes_vectors(const Search *search, const CoreBlock *block);

static bool makes_vector(const Search *search, const CoreBlock *block, uint32_t index)
{
    const CoreProgram *program = search->program;
    const CoreStatement *statement = &block->statements[index];
    bool is_vector = type_is_vector(program->types, type_of(program, statement->target));
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP:
    case CORE_TEXT:
        return false;
    case CORE_MAKE:
    case CORE_GROUP:
        return is_vector;
    case CORE_CALL:
        return search_goes_into(search, statement->function) &&
               makes_vectors(search, search->program->functions.items[statement->function]->body);
    case CORE_OP:
        return is_vector && !is_slice(statement->op) && !is_walked_once(program, block, index);
    case CORE_IF:
    case CORE_EACH:
    case CORE_GUARD:
        break;
    }
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL && makes_vectors(search, statement->blocks[b]))
            return true;
    return false;
}

static bool makes_vectors(const Search *search, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (makes_vector(search, block, i))
            return true;
    return false;
}

/* The vector that a body gives is stored where it belongs as it is computed, if it is the only one. */
static bool is_result(const CoreBlock *block, const CoreStatement *statement)
{
    return statement->kind == CORE_OP && (statement->op == OP_TAB || builtin_is_scan(statement->op)) && !block->result.is_constant && block->result.variable == statement->target;
}

static bool is_worth_outlining(const Body *body)
{
    const CoreBlock *block = body->block;
    Search search = start_search(body->outliner->program);
    for (uint32_t i = 0; i < block->statement_count; i++) {
        if (body->parts[i] != PART_MOVED || is_result(block, &block->statements[i]))
            continue;
        if (body->moved == 1 && block->statements[i].kind == CORE_CALL)
            return false; /* it is what this would make of it */
        if (makes_vector(&search, block, i))
            return true;
    }
    return false;
}

/* ---- what is the same for all elements ---- */

typedef struct Bound {
    const Body *body;
    bool is_any;
} Bound;

static void find_bound(void *context, const CoreAtom *atom)
{
    Bound *bound = context;
    bound->is_any |= !atom->is_constant && bound->body->is_bound[atom->variable];
}

static void bind_block(Body *body, const CoreBlock *block);

static void bind_statement(Body *body, const CoreStatement *statement)
{
    body->is_bound[statement->target] = true;
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL)
            bind_block(body, statement->blocks[b]);
}

static void bind_block(Body *body, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        body->is_bound[block->parameters[i]] = true;
    for (uint32_t i = 0; i < block->statement_count; i++)
        bind_statement(body, &block->statements[i]);
}

/* Whether a statement depends on nothing that is bound so far. */
static bool is_same_for_all(const Body *body, const CoreStatement *statement)
{
    Bound bound = {.body = body};
    visit_statement(statement, find_bound, &bound);
    return !bound.is_any;
}

static void part_statements(Body *body, const bool *is_moved)
{
    const CoreBlock *block = body->block;
    memset(body->is_bound, 0, body->variable_count * sizeof *body->is_bound);
    for (uint32_t i = 0; i < block->parameter_count; i++)
        body->is_bound[block->parameters[i]] = true;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        /* what is bound inside of a statement is not free in it */
        body->parts[i] = !is_moved[i] && is_same_for_all(body, statement) ? PART_SAME : PART_MOVED;
        if (body->parts[i] != PART_SAME)
            bind_statement(body, statement);
    }
}

/* Whether a sequence that is the same for all elements is wanted by something that is not: it cannot be passed to a function. */
static bool is_wanted_inside(const Body *body, uint32_t index)
{
    const CoreProgram *program = body->outliner->program;
    const CoreBlock *block = body->block;
    Uses uses = {.variable = block->statements[index].target};
    if (body->parts[index] != PART_SAME || type_is_concrete(program->types, type_of(program, uses.variable)))
        return false;
    for (uint32_t i = index + 1; i < block->statement_count; i++)
        if (body->parts[i] != PART_SAME)
            visit_statement(&block->statements[i], count_use, &uses);
    count_use(&uses, &block->result);
    return uses.count > 0;
}

static void find_same(Body *body)
{
    uint32_t count = body->block->statement_count;
    bool *is_moved = ARENA_ARRAY(body->outliner->program->arena, bool, count);
    part_statements(body, is_moved);
    for (uint32_t i = 0; i < count; i++)
        if (is_wanted_inside(body, i)) {
            is_moved[i] = true;
            part_statements(body, is_moved);
            i = UINT32_MAX; /* from the beginning: more may be moved now */
        }
}

/* ---- what follows the call ---- */

/* A variable that a statement behind the call needs: a sequence is made there too, anything else is given by the function. */
static void need_behind(void *context, const CoreAtom *atom)
{
    Body *body = context;
    const CoreProgram *program = body->outliner->program;
    if (atom->is_constant || !body->is_bound[atom->variable])
        return;
    if (!type_is_concrete(program->types, atom->type))
        body->is_behind[atom->variable] = true;
    for (uint32_t i = 0; i < body->given.count; i++)
        if (body->given.items[i] == atom->variable)
            return;
    bool is_own = false; /* bound at the top of the block: not inside of the statement, not a parameter */
    for (uint32_t i = 0; i < body->block->statement_count; i++)
        is_own |= body->block->statements[i].target == atom->variable;
    if (is_own && !body->is_behind[atom->variable])
        *vec_push(program->arena, &body->given) = atom->variable;
}

/* From the sequence that the body gives back to what it is made from. */
static void find_behind(Body *body)
{
    const CoreBlock *block = body->block;
    need_behind(body, &block->result);
    for (uint32_t i = block->statement_count; i-- > 0;)
        if (body->parts[i] != PART_SAME && body->is_behind[block->statements[i].target]) {
            body->parts[i] = PART_BEHIND;
            visit_statement(&block->statements[i], need_behind, body);
        }
}

typedef struct Behind {
    const Body *body;
    bool is_any;
} Behind;

static void find_behind_use(void *context, const CoreAtom *atom)
{
    Behind *behind = context;
    behind->is_any |= !atom->is_constant && behind->body->is_behind[atom->variable];
}

static bool has_sequences(const Body *body)
{
    const CoreProgram *program = body->outliner->program;
    for (uint32_t i = 0; i < body->block->parameter_count; i++)
        if (!type_is_concrete(program->types, type_of(program, body->block->parameters[i])))
            return true;
    return false;
}

/* False if the function would need what cannot be passed to it, or what comes after it. */
static bool sort_statements(Body *body)
{
    find_same(body);
    find_behind(body);
    Behind behind = {.body = body, .is_any = has_sequences(body)};
    for (uint32_t i = 0; i < body->block->statement_count; i++)
        if (body->parts[i] == PART_MOVED) {
            visit_statement(&body->block->statements[i], find_behind_use, &behind);
            body->moved++;
        }
    return !behind.is_any && body->given.count > 0;
}

/* ---- what takes no time ---- */

/* Names, and elements: to be given one takes as long as to take it from the vector. What may fail would be done at every point, too. */
static bool is_light(const CoreProgram *program, const CoreStatement *statement)
{
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP: return type_is_concrete(program->types, type_of(program, statement->target));
    case CORE_OP: return (statement->op == OP_ELEMENT || statement->op == OP_INSIDE) && type_is_scalar(program->types, type_of(program, statement->target));
    default: return false;
    }
}

/* Whether only the function needs what a statement gives. */
static bool is_for_function(const Body *body, uint32_t index)
{
    Uses uses = {.variable = body->block->statements[index].target};
    count_use(&uses, &body->block->result);
    for (uint32_t i = index + 1; i < body->block->statement_count; i++)
        if (body->parts[i] != PART_MOVED)
            visit_statement(&body->block->statements[i], count_use, &uses);
    return uses.count == 0;
}

/* What takes no time is done by the function, so that it need not be given as many values. */
static void move_light(Body *body)
{
    for (uint32_t i = body->block->statement_count; i-- > 0;) {
        const CoreStatement *statement = &body->block->statements[i];
        if (body->parts[i] != PART_SAME || !is_light(body->outliner->program, statement) || !is_for_function(body, i))
            continue;
        body->parts[i] = PART_MOVED;
        body->moved++;
        bind_statement(body, statement);
    }
}

/* ---- making the function ---- */

static CoreAtom renamed_atom(const Body *body, CoreAtom atom)
{
    if (!atom.is_constant && body->renamed[atom.variable] != 0)
        atom.variable = body->renamed[atom.variable];
    return atom;
}

static CoreAtom *renamed_atoms(const Body *body, const CoreAtom *atoms, uint32_t count)
{
    CoreAtom *copy = ARENA_ARRAY(body->outliner->program->arena, CoreAtom, count);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = renamed_atom(body, atoms[i]);
    return copy;
}

static CoreBlock *renamed_block(const Body *body, const CoreBlock *block);

static CoreStatement renamed_statement(const Body *body, CoreStatement statement)
{
    if (body->renamed[statement.target] != 0)
        statement.target = body->renamed[statement.target];
    statement.arguments = renamed_atoms(body, statement.arguments, statement.argument_count);
    statement.captured = renamed_atoms(body, statement.captured, statement.captured_count);
    for (uint32_t b = 0; b < 2; b++)
        if (statement.blocks[b] != NULL)
            statement.blocks[b] = renamed_block(body, statement.blocks[b]);
    return statement;
}

static CoreBlock *renamed_block(const Body *body, const CoreBlock *block)
{
    CoreBlock *copy = ARENA_NEW(body->outliner->program->arena, CoreBlock);
    *copy = *block;
    copy->statements = ARENA_ARRAY(body->outliner->program->arena, CoreStatement, block->statement_count);
    for (uint32_t i = 0; i < block->statement_count; i++)
        copy->statements[i] = renamed_statement(body, block->statements[i]);
    copy->result = renamed_atom(body, block->result);
    return copy;
}

/* A variable of outside that the function needs. */
static void capture(void *context, const CoreAtom *atom)
{
    Body *body = context;
    CoreProgram *program = body->outliner->program;
    if (atom->is_constant || body->is_bound[atom->variable] || body->renamed[atom->variable] != 0 ||
        program->variables.items[atom->variable].is_global)
        return;
    *vec_push(program->arena, &body->captured) = atom->variable;
    body->renamed[atom->variable] = core_variable(program, atom->type, program->variables.items[atom->variable].name);
}

/* What is passed to the function: what it captures, then the elements. */
static CoreVar argument_variable(const Body *body, uint32_t i)
{
    return i < body->captured.count ? body->captured.items[i] : body->block->parameters[i - body->captured.count];
}

static CoreVar fresh_variable(CoreProgram *program, CoreVar like)
{
    return core_variable(program, type_of(program, like), program->variables.items[like].name);
}

static void name_variables(Body *body)
{
    const CoreBlock *block = body->block;
    CoreProgram *program = body->outliner->program;
    for (uint32_t i = 0; i < block->parameter_count; i++)
        body->renamed[block->parameters[i]] = fresh_variable(program, block->parameters[i]);
    for (uint32_t i = 0; i < body->given.count; i++)
        body->renamed[body->given.items[i]] = fresh_variable(program, body->given.items[i]);
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (body->parts[i] == PART_MOVED)
            visit_statement(&block->statements[i], capture, body);
}

/* The function gives one value, or a tuple of them. */
static CoreAtom add_result(const Body *body, CoreBlock *made, Span span)
{
    CoreProgram *program = body->outliner->program;
    uint32_t count = body->given.count;
    CoreAtom result = core_atom(program, body->renamed[body->given.items[count - 1]]);
    for (uint32_t i = count - 1; i-- > 0;) {
        CoreStatement pair = {.kind = CORE_PAIR, .span = span, .argument_count = 2, .arguments = ARENA_ARRAY(program->arena, CoreAtom, 2)};
        pair.arguments[0] = core_atom(program, body->renamed[body->given.items[i]]);
        pair.arguments[1] = result;
        pair.target = core_variable(program, type_pair(program->types, pair.arguments[0].type, result.type), 0);
        made->statements[made->statement_count++] = pair;
        result = core_atom(program, pair.target);
    }
    return result;
}

/* The statements that are moved, as the block of a function. */
static CoreBlock *function_block(Body *body, Span span)
{
    const CoreBlock *block = body->block;
    CoreProgram *program = body->outliner->program;
    name_variables(body);
    CoreBlock *made = ARENA_NEW(program->arena, CoreBlock);
    made->parameter_count = body->captured.count + block->parameter_count;
    made->parameters = ARENA_ARRAY(program->arena, CoreVar, made->parameter_count);
    for (uint32_t i = 0; i < made->parameter_count; i++)
        made->parameters[i] = body->renamed[argument_variable(body, i)];
    made->statements = ARENA_ARRAY(program->arena, CoreStatement, body->moved + body->given.count);
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (body->parts[i] == PART_MOVED)
            made->statements[made->statement_count++] = renamed_statement(body, block->statements[i]);
    made->result = add_result(body, made, span);
    return made;
}

/* Both programs number their functions alike. */
CoreFunctionId outline_new_function(const Outliner *outliner, const char *name, Span span)
{
    CoreProgram *original = outliner->original;
    CoreFunctionId id = core_function(original, names_of(original->names, name), span);
    CoreFunction *placeholder = original->functions.items[id];
    placeholder->body = ARENA_NEW(original->arena, CoreBlock);
    placeholder->body->result = core_int(0);
    placeholder->result_type = TYPE_INT;
    return core_function(outliner->program, names_of(outliner->program->names, name), span);
}

static CoreFunctionId make_function(Body *body, Span span)
{
    CoreProgram *program = body->outliner->program;
    CoreFunctionId id = outline_new_function(body->outliner, "body", span);
    CoreFunction *function = program->functions.items[id];
    function->body = function_block(body, span);
    function->result_type = function->body->result.type;
    function->shared_count = body->captured.count;
    return id;
}

static void copy_part(const Body *body, Part part, CoreBlock *made)
{
    for (uint32_t i = 0; i < body->block->statement_count; i++)
        if (body->parts[i] == part)
            made->statements[made->statement_count++] = body->block->statements[i];
}

/* The components of what the function gives have the names that they had in the body. */
static void take_apart(const Body *body, CoreAtom value, CoreBlock *made, Span span)
{
    CoreProgram *program = body->outliner->program;
    for (uint32_t i = 0; i + 1 < body->given.count; i++) {
        for (uint32_t component = 0; component < 2; component++) {
            CoreStatement project = {.kind = CORE_PROJECT, .span = span, .component = component, .argument_count = 1};
            project.arguments = ARENA_NEW(program->arena, CoreAtom);
            project.arguments[0] = value;
            bool is_last = i + 2 == body->given.count;
            project.target = component == 0 ? body->given.items[i]
                             : is_last      ? body->given.items[i + 1]
                                            : core_variable(program, type_rest(program->types, value.type), 0);
            made->statements[made->statement_count++] = project;
        }
        value = core_atom(program, made->statements[made->statement_count - 1].target);
    }
}

/* The block that calls it. */
static CoreBlock *calling_block(const Body *body, CoreFunctionId function, Span span)
{
    CoreProgram *program = body->outliner->program;
    const CoreBlock *block = body->block;
    CoreBlock *made = ARENA_NEW(program->arena, CoreBlock);
    *made = *block;
    made->statement_count = 0;
    made->statements = ARENA_ARRAY(program->arena, CoreStatement, block->statement_count - body->moved + 1 + 2 * body->given.count);
    copy_part(body, PART_SAME, made);
    CoreStatement call = {.kind = CORE_CALL, .function = function, .span = span};
    call.argument_count = body->captured.count + block->parameter_count;
    call.arguments = ARENA_ARRAY(program->arena, CoreAtom, call.argument_count);
    for (uint32_t i = 0; i < call.argument_count; i++)
        call.arguments[i] = core_atom(program, argument_variable(body, i));
    TypeId type = program->functions.items[function]->result_type;
    call.target = body->given.count == 1 ? body->given.items[0] : core_variable(program, type, 0);
    made->statements[made->statement_count++] = call;
    take_apart(body, core_atom(program, call.target), made, span);
    copy_part(body, PART_BEHIND, made);
    return made;
}

/* ---- going through a program ---- */

/* What a comprehension's body becomes; null if it stays. */
static CoreBlock *outline_body(const Outliner *outliner, const CoreBlock *block, Span span)
{
    CoreProgram *program = outliner->program;
    enum { STATEMENTS_MAX = 1000 }; /* of the block: who looks at longer ones takes long */
    Search search = start_search(program);
    if (block->statement_count > STATEMENTS_MAX || !is_pure_block(&search, block))
        return NULL;
    /* variables that are made on the way are not looked up */
    uint32_t count = program->variables.count;
    Body body = {.outliner = outliner,
                 .block = block,
                 .variable_count = count,
                 .is_bound = ARENA_ARRAY(program->arena, bool, count),
                 .renamed = ARENA_ARRAY(program->arena, CoreVar, count),
                 .is_behind = ARENA_ARRAY(program->arena, bool, count),
                 .parts = ARENA_ARRAY(program->arena, uint8_t, block->statement_count)};
    if (!sort_statements(&body) || !is_worth_outlining(&body))
        return NULL;
    move_light(&body);
    CoreFunctionId function = make_function(&body, span);
    if (outliner->accepts(outliner->context, function))
        return calling_block(&body, function, span);
    program->functions.items[function] = NULL;
    return NULL;
}

static CoreBlock *outline_block(const Outliner *outliner, CoreBlock *block);

/* Whether anything in it has changed. */
static bool outline_statement(const Outliner *outliner, CoreStatement *statement)
{
    CoreBlock *whole = statement->kind == CORE_EACH ? outline_body(outliner, statement->blocks[0], statement->span) : NULL;
    if (whole != NULL) {
        statement->blocks[0] = whole;
        return true;
    }
    bool is_changed = false;
    for (uint32_t b = 0; b < 2; b++) {
        CoreBlock *block = statement->blocks[b];
        if (block != NULL)
            statement->blocks[b] = outline_block(outliner, block);
        is_changed |= statement->blocks[b] != block;
    }
    return is_changed;
}

/* The block itself if nothing in it changes. */
static CoreBlock *outline_block(const Outliner *outliner, CoreBlock *block)
{
    Arena *arena = outliner->program->arena;
    CoreStatement *statements = ARENA_ARRAY(arena, CoreStatement, block->statement_count);
    bool is_changed = false;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        statements[i] = block->statements[i];
        is_changed |= outline_statement(outliner, &statements[i]);
    }
    if (!is_changed)
        return block;
    CoreBlock *changed = ARENA_NEW(arena, CoreBlock);
    *changed = *block;
    changed->statements = statements;
    return changed;
}

void outline_program(const Outliner *outliner, CoreFunctionId first_function, uint32_t first_item)
{
    CoreProgram *program = outliner->program;
    CoreFunctionId end = program->functions.count; /* what is added needs no second look */
    for (CoreFunctionId f = first_function; f < end; f++)
        if (program->functions.items[f] != NULL) {
            CoreFunction *function = program->functions.items[f];
            CoreBlock *body = outline_block(outliner, function->body);
            function->body = function->is_recursive ? body : outline_joins(outliner, body);
        }
    for (uint32_t i = first_item; i < program->items.count; i++) {
        CoreBlock *block = outline_joins(outliner, outline_block(outliner, program->items.items[i].block));
        program->items.items[i].block = block;
    }
}
