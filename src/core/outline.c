#include "core/outline.h"

#include <string.h>

/* A comprehension whose body may become a function. */
typedef struct Body {
    const Outliner *outliner;
    const CoreBlock *block;
    bool *is_bound;      /* by variable: bound in the block, and not the same for all elements */
    CoreVar *renamed;    /* by variable: what it is called in the function; 0 for itself */
    VEC(CoreVar) captured;
    uint32_t kept; /* statements that are the same for all elements */
    bool *is_kept; /* by statement of the block */
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

static bool is_pure_block(const CoreProgram *program, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_OP && op_table[statement->op].effect != EFFECT_PURE)
            return false;
        if (statement->function != 0 && program->functions.items[statement->function]->effect != EFFECT_PURE)
            return false;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && !is_pure_block(program, statement->blocks[b]))
                return false;
    }
    return true;
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
            return user->op == OP_SEQ || type_is_scalar(program->types, type_of(program, user->target));
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

static bool makes_vectors(const CoreProgram *program, const CoreBlock *block);

static bool makes_vector(const CoreProgram *program, const CoreBlock *block, uint32_t index)
{
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
        return true;
    case CORE_OP:
        return is_vector && !is_slice(statement->op) && !is_walked_once(program, block, index);
    case CORE_IF:
    case CORE_EACH:
    case CORE_GUARD:
        break;
    }
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL && makes_vectors(program, statement->blocks[b]))
            return true;
    return false;
}

static bool makes_vectors(const CoreProgram *program, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (makes_vector(program, block, i))
            return true;
    return false;
}

static bool is_worth_outlining(const Body *body)
{
    const CoreBlock *block = body->block;
    uint32_t rest = block->statement_count - body->kept;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        if (body->is_kept[i])
            continue;
        if (rest == 1 && block->statements[i].kind == CORE_CALL)
            return false; /* it is what this would make of it */
        if (makes_vector(body->outliner->program, block, i))
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

/* Whether a statement depends on nothing that is bound so far. Sequences do not leave the body: they cannot be passed to a function. */
static bool is_same_for_all(const Body *body, const CoreStatement *statement)
{
    const CoreProgram *program = body->outliner->program;
    Bound bound = {.body = body};
    visit_statement(statement, find_bound, &bound);
    return !bound.is_any && type_is_concrete(program->types, type_of(program, statement->target));
}

static void sort_statements(Body *body)
{
    const CoreBlock *block = body->block;
    for (uint32_t i = 0; i < block->parameter_count; i++)
        body->is_bound[block->parameters[i]] = true;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        /* what is bound inside of a statement is not free in it */
        body->is_kept[i] = is_same_for_all(body, statement);
        body->kept += body->is_kept[i];
        if (!body->is_kept[i])
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

/* The statements that depend on the element, as the block of a function. */
static CoreBlock *function_block(Body *body)
{
    const CoreBlock *block = body->block;
    CoreProgram *program = body->outliner->program;
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (!body->is_kept[i])
            visit_statement(&block->statements[i], capture, body);
    capture(body, &block->result);
    CoreBlock *made = ARENA_NEW(program->arena, CoreBlock);
    made->parameter_count = body->captured.count + block->parameter_count;
    made->parameters = ARENA_ARRAY(program->arena, CoreVar, made->parameter_count);
    for (uint32_t i = 0; i < body->captured.count; i++)
        made->parameters[i] = body->renamed[body->captured.items[i]];
    for (uint32_t i = 0; i < block->parameter_count; i++) {
        CoreVar parameter = block->parameters[i];
        CoreVar name = core_variable(program, type_of(program, parameter), program->variables.items[parameter].name);
        made->parameters[body->captured.count + i] = body->renamed[parameter] = name;
    }
    made->statements = ARENA_ARRAY(program->arena, CoreStatement, block->statement_count);
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (!body->is_kept[i])
            made->statements[made->statement_count++] = renamed_statement(body, block->statements[i]);
    made->result = renamed_atom(body, block->result);
    return made;
}

static CoreFunctionId make_function(Body *body, Span span)
{
    CoreProgram *program = body->outliner->program;
    CoreFunctionId id = core_function(program, names_of(program->names, "body"), span);
    CoreFunction *function = program->functions.items[id];
    function->body = function_block(body);
    function->result_type = body->block->result.type;
    return id;
}

/* Both programs number their functions alike. */
static void make_placeholder(CoreProgram *original, Span span)
{
    CoreFunctionId id = core_function(original, names_of(original->names, "body"), span);
    CoreFunction *function = original->functions.items[id];
    function->body = ARENA_NEW(original->arena, CoreBlock);
    function->body->result = core_int(0);
    function->result_type = TYPE_INT;
}

/* The block that calls it. */
static CoreBlock *calling_block(const Body *body, CoreFunctionId function, Span span)
{
    CoreProgram *program = body->outliner->program;
    const CoreBlock *block = body->block;
    CoreBlock *made = ARENA_NEW(program->arena, CoreBlock);
    *made = *block;
    made->statement_count = 0;
    made->statements = ARENA_ARRAY(program->arena, CoreStatement, body->kept + 1);
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (body->is_kept[i])
            made->statements[made->statement_count++] = block->statements[i];
    CoreStatement call = {.kind = CORE_CALL, .function = function, .span = span};
    call.argument_count = body->captured.count + block->parameter_count;
    call.arguments = ARENA_ARRAY(program->arena, CoreAtom, call.argument_count);
    for (uint32_t i = 0; i < call.argument_count; i++)
        call.arguments[i] = core_atom(program, i < body->captured.count ? body->captured.items[i] : block->parameters[i - body->captured.count]);
    call.target = core_variable(program, block->result.type, 0);
    made->statements[made->statement_count++] = call;
    made->result = core_atom(program, call.target);
    return made;
}

/* ---- going through a program ---- */

/* What a comprehension's body becomes; null if it stays. */
static CoreBlock *outline_body(const Outliner *outliner, const CoreBlock *block, Span span)
{
    CoreProgram *program = outliner->program;
    if (!type_is_concrete(program->types, block->result.type) || !is_pure_block(program, block))
        return NULL;
    /* variables that are made on the way are not looked up */
    uint32_t count = program->variables.count;
    Body body = {.outliner = outliner,
                 .block = block,
                 .is_bound = ARENA_ARRAY(program->arena, bool, count),
                 .renamed = ARENA_ARRAY(program->arena, CoreVar, count),
                 .is_kept = ARENA_ARRAY(program->arena, bool, block->statement_count)};
    sort_statements(&body);
    if (!is_worth_outlining(&body))
        return NULL;
    CoreFunctionId function = make_function(&body, span);
    make_placeholder(outliner->original, span);
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
            CoreBlock *body = outline_block(outliner, program->functions.items[f]->body);
            program->functions.items[f]->body = body;
        }
    for (uint32_t i = first_item; i < program->items.count; i++) {
        CoreBlock *block = outline_block(outliner, program->items.items[i].block);
        program->items.items[i].block = block;
    }
}
