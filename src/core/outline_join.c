#include "core/outline_join.h"

enum { STATEMENTS_MAX = 1000 }; /* of the block: who looks at longer ones takes long */

/* A vector that is joined of what several calls give, and of others. */
typedef struct Joined {
    const Outliner *outliner;
    const CoreBlock *block;
    bool *is_moved;            /* by statement: it goes to the function */
    uint32_t moved, first, last; /* how many do, and where they are */
    uint32_t calls;
    VEC(CoreVar) captured;     /* from outside, */
    VEC(CoreVar) parameters;   /* ... and what they are called in the function */
} Joined;

static uint32_t count_uses(const CoreBlock *block, CoreVar variable)
{
    uint32_t uses = !block->result.is_constant && block->result.variable == variable;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        for (uint32_t a = 0; a < statement->argument_count; a++)
            uses += !statement->arguments[a].is_constant && statement->arguments[a].variable == variable;
        for (uint32_t a = 0; a < statement->captured_count; a++)
            uses += !statement->captured[a].is_constant && statement->captured[a].variable == variable;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                uses += count_uses(statement->blocks[b], variable);
    }
    return uses;
}

static bool is_append(const CoreProgram *program, const CoreStatement *statement)
{
    return statement->kind == CORE_OP && statement->op == OP_APPEND && type_is_vector(program->types, program->variables.items[statement->target].type);
}

/* A call that may take long, and does nothing but compute. */
static bool is_long_call(const CoreProgram *program, const CoreStatement *statement)
{
    const CoreFunction *function = statement->kind == CORE_CALL ? program->functions.items[statement->function] : NULL;
    return function != NULL && function->is_recursive && function->effect == EFFECT_PURE;
}

/* From an operand of a join back to what it is joined of. */
static void move_operand(Joined *joined, const CoreAtom *atom)
{
    const CoreProgram *program = joined->outliner->program;
    for (uint32_t i = joined->last; i-- > 0 && !atom->is_constant;) {
        const CoreStatement *statement = &joined->block->statements[i];
        if (statement->target != atom->variable)
            continue;
        bool is_call = is_long_call(program, statement);
        if ((!is_call && !is_append(program, statement)) || count_uses(joined->block, statement->target) != 1)
            return;
        joined->is_moved[i] = true;
        joined->moved++;
        joined->calls += is_call;
        joined->first = i < joined->first ? i : joined->first;
    }
}

/* From its last statement backwards: operands come before what they are joined to. */
static void move_statements(Joined *joined)
{
    joined->is_moved[joined->last] = true;
    joined->moved = 1;
    joined->first = joined->last;
    for (uint32_t i = joined->last + 1; i-- > joined->first;)
        if (joined->is_moved[i] && is_append(joined->outliner->program, &joined->block->statements[i]))
            for (uint32_t operand = 0; operand < 2; operand++)
                move_operand(joined, &joined->block->statements[i].arguments[operand]);
}

static bool is_harmless(const CoreStatement *statement)
{
    return statement->kind != CORE_OP && statement->kind != CORE_CALL && statement->blocks[0] == NULL;
}

static bool passes_nothing_that_fails(const Joined *joined)
{
    for (uint32_t i = joined->first; i < joined->last; i++)
        if (!joined->is_moved[i] && !is_harmless(&joined->block->statements[i]))
            return false;
    return true;
}

/* ---- the function ---- */

/* What an atom is called in the function. */
static CoreAtom inside(Joined *joined, CoreAtom atom)
{
    CoreProgram *program = joined->outliner->program;
    if (atom.is_constant || program->variables.items[atom.variable].is_global)
        return atom;
    for (uint32_t i = 0; i < joined->captured.count; i++)
        if (joined->captured.items[i] == atom.variable)
            return core_atom(program, joined->parameters.items[i]);
    *vec_push(program->arena, &joined->captured) = atom.variable;
    CoreVar variable = core_variable(program, atom.type, program->variables.items[atom.variable].name);
    *vec_push(program->arena, &joined->parameters) = variable;
    return core_atom(program, variable);
}

/* Variables that the moved statements bind have new names too: `names`, by statement. */
static CoreAtom renamed(Joined *joined, const CoreVar *names, CoreAtom atom)
{
    for (uint32_t i = joined->first; i <= joined->last && !atom.is_constant; i++)
        if (joined->is_moved[i] && joined->block->statements[i].target == atom.variable)
            return core_atom(joined->outliner->program, names[i]);
    return inside(joined, atom);
}

static CoreBlock *function_block(Joined *joined)
{
    CoreProgram *program = joined->outliner->program;
    CoreBlock *made = ARENA_NEW(program->arena, CoreBlock);
    CoreVar *names = ARENA_ARRAY(program->arena, CoreVar, joined->block->statement_count);
    made->statements = ARENA_ARRAY(program->arena, CoreStatement, joined->moved);
    for (uint32_t i = joined->first; i <= joined->last; i++) {
        if (!joined->is_moved[i])
            continue;
        CoreStatement statement = joined->block->statements[i];
        CoreAtom *arguments = ARENA_ARRAY(program->arena, CoreAtom, statement.argument_count);
        for (uint32_t a = 0; a < statement.argument_count; a++)
            arguments[a] = renamed(joined, names, statement.arguments[a]);
        names[i] = core_variable(program, program->variables.items[statement.target].type, program->variables.items[statement.target].name);
        statement.target = names[i];
        statement.arguments = arguments;
        made->statements[made->statement_count++] = statement;
    }
    made->result = core_atom(program, names[joined->last]);
    made->parameters = joined->parameters.items;
    made->parameter_count = joined->parameters.count;
    return made;
}

static CoreBlock *calling_block(const Joined *joined, CoreFunctionId function)
{
    CoreProgram *program = joined->outliner->program;
    CoreBlock *made = ARENA_NEW(program->arena, CoreBlock);
    *made = *joined->block;
    made->statement_count = 0;
    made->statements = ARENA_ARRAY(program->arena, CoreStatement, joined->block->statement_count);
    for (uint32_t i = 0; i < joined->block->statement_count; i++) {
        const CoreStatement *statement = &joined->block->statements[i];
        if (i == joined->last) {
            CoreStatement call = {.kind = CORE_CALL, .function = function, .span = statement->span, .target = statement->target, .argument_count = joined->captured.count};
            call.arguments = ARENA_ARRAY(program->arena, CoreAtom, call.argument_count);
            for (uint32_t a = 0; a < call.argument_count; a++)
                call.arguments[a] = core_atom(program, joined->captured.items[a]);
            made->statements[made->statement_count++] = call;
        } else if (!joined->is_moved[i])
            made->statements[made->statement_count++] = *statement;
    }
    return made;
}

/* What the block becomes if the join that ends in a statement is worth it; null if it is not. */
static CoreBlock *outline_join(const Outliner *outliner, const CoreBlock *block, uint32_t last)
{
    CoreProgram *program = outliner->program;
    Joined joined = {.outliner = outliner, .block = block, .last = last, .is_moved = ARENA_ARRAY(program->arena, bool, block->statement_count)};
    if (!is_append(program, &block->statements[last]))
        return NULL;
    move_statements(&joined);
    if (joined.calls < 2 || !passes_nothing_that_fails(&joined))
        return NULL;
    CoreFunctionId id = outline_new_function(outliner, "joined", block->statements[last].span);
    CoreFunction *function = program->functions.items[id];
    function->body = function_block(&joined);
    function->result_type = function->body->result.type;
    if (outliner->shares(outliner->context, id))
        return calling_block(&joined, id);
    program->functions.items[id] = NULL;
    return NULL;
}

/* Sides of an `if` are done at the same points as what is around them. */
static bool outline_sides(const Outliner *outliner, CoreStatement *statement)
{
    bool is_changed = false;
    for (uint32_t b = 0; b < 2 && statement->kind == CORE_IF; b++) {
        CoreBlock *side = statement->blocks[b];
        statement->blocks[b] = outline_joins(outliner, side);
        is_changed |= statement->blocks[b] != side;
    }
    return is_changed;
}

CoreBlock *outline_joins(const Outliner *outliner, CoreBlock *block)
{
    CoreProgram *program = outliner->program;
    if (block->statement_count > STATEMENTS_MAX)
        return block;
    for (uint32_t i = block->statement_count; i-- > 0;) { /* whole joins before their operands */
        CoreBlock *changed = outline_join(outliner, block, i);
        if (changed != NULL)
            return outline_joins(outliner, changed);
    }
    CoreStatement *statements = ARENA_ARRAY(program->arena, CoreStatement, block->statement_count);
    bool is_changed = false;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        statements[i] = block->statements[i];
        is_changed |= outline_sides(outliner, &statements[i]);
    }
    if (!is_changed)
        return block;
    CoreBlock *changed = ARENA_NEW(program->arena, CoreBlock);
    *changed = *block;
    changed->statements = statements;
    return changed;
}
