/* Rewriting a unit: its statements in order, each with what is known of its arguments, into a new block.
 *
 * Calls that are inlined, and the branch taken by an `if` whose condition is known, are rewritten in their place: they
 * become splices on top of the one being rewritten, and their result is bound when they end. A function with one call is rewritten from
 * its original text, so that a chain of such functions is walked once; others from their simplified body, whose calls stay as
 * they are: they were decided on before. */
#include "core/simplify_internal.h"

static CoreAtom rewrite_statements(Simplifier *s, Renaming *names, const CoreBlock *block);

/* ---- variables ---- */

static CoreVar new_variable(Simplifier *s, TypeId type, Name name)
{
    CoreVar v = core_variable(s->to, type, name);
    while (s->facts.count <= v)
        *vec_push(s->arena, &s->facts) = (Fact){0};
    return v;
}

static void replace(Simplifier *s, Renaming *names, CoreVar v, CoreAtom value)
{
    while (names->atoms.count <= v)
        *vec_push(s->arena, &names->atoms) = (CoreAtom){0};
    names->atoms.items[v] = value;
}

/* The same; a temporary takes over the name that the variable has in the source. */
static void bind(Simplifier *s, Renaming *names, CoreVar v, CoreAtom value)
{
    replace(s, names, v, value);
    if (value.is_constant)
        return;
    CoreVariable *variable = &s->to->variables.items[value.variable];
    if (variable->name == 0 && !variable->is_global)
        variable->name = names->program->variables.items[v].name;
}

CoreVar simplify_global(Simplifier *s, CoreVar global)
{
    Renaming *names = &s->from_names;
    if (global >= names->atoms.count || names->atoms.items[global].type == 0) {
        const CoreVariable *variable = &s->from->variables.items[global];
        CoreVar v = new_variable(s, variable->type, variable->name);
        s->to->variables.items[v].is_global = true;
        replace(s, names, global, core_atom(s->to, v));
    }
    return names->atoms.items[global].variable;
}

static CoreAtom resolve(Simplifier *s, const Renaming *names, CoreAtom atom)
{
    if (atom.is_constant)
        return atom;
    if (!names->program->variables.items[atom.variable].is_global)
        return names->atoms.items[atom.variable];
    return names == &s->to_names ? atom : core_atom(s->to, simplify_global(s, atom.variable));
}

static CoreAtom *resolve_atoms(Simplifier *s, const Renaming *names, const CoreAtom *atoms, uint32_t count)
{
    CoreAtom *resolved = count == 0 ? NULL : ARENA_ARRAY(s->arena, CoreAtom, count);
    for (uint32_t i = 0; i < count; i++)
        resolved[i] = resolve(s, names, atoms[i]);
    return resolved;
}

static CoreStatement resolve_statement(Simplifier *s, const Renaming *names, const CoreStatement *statement)
{
    CoreStatement resolved = *statement;
    resolved.arguments = resolve_atoms(s, names, statement->arguments, statement->argument_count);
    resolved.captured = resolve_atoms(s, names, statement->captured, statement->captured_count);
    return resolved;
}

/* ---- statements ---- */

static bool can_share(const Simplifier *s, const CoreStatement *statement, TypeId type, Effects effects)
{
    return effects == 0 && statement->blocks[0] == NULL && type_is_concrete(s->types, type);
}

static CoreAtom append(Simplifier *s, CoreStatement statement, TypeId type, Name name, Effects effects)
{
    statement.target = new_variable(s, type, name);
    s->facts.items[statement.target] =
        (Fact){.kind = statement.kind,
               .op = statement.op,
               .arguments = statement.arguments,
               .count = statement.kind == CORE_TEXT ? statement.text_length : statement.argument_count,
               .component = statement.component,
               .body = statement.kind == CORE_EACH ? statement.blocks[0] : NULL,
               .nesting = s->nesting,
               .span = statement.span,
               .effects = effects};
    if (statement.kind == CORE_OP && statement.op == OP_CHECKED_INDEX)
        s->facts.items[statement.target].bound = statement.arguments[1];
    *vec_push(s->arena, &s->open->builder.statements) = statement;
    s->open->effects |= effects;
    return core_atom(s->to, statement.target);
}

/* Adds a statement with its arguments resolved to the open block, unless its value is there already. */
static CoreAtom emit(Simplifier *s, CoreStatement statement, TypeId type, Name name, Effects effects)
{
    CoreAtom value;
    CoreVar check = 0;
    if (effects == 0) {
        check = simplify_checks(s, &statement);
        if (simplify_is_checked(s, &statement))
            return statement.arguments[0];
        if (simplify_rule(s, &statement, type, &value) || simplify_size(s, &statement, &value) ||
            simplify_positions(s, &statement, type, &value) || simplify_operator(s, &statement, type, &value))
            return value;
    }
    bool is_shared = can_share(s, &statement, type, effects);
    const CoreAtom *found = is_shared ? simplify_find(s, &statement, type) : NULL;
    if (found != NULL)
        return *found;
    value = append(s, statement, type, name, effects);
    s->facts.items[value.variable].check = check;
    if (is_shared)
        simplify_make_available(s, &statement, type, value);
    return value;
}

CoreAtom simplify_emit(Simplifier *s, const CoreStatement *statement, TypeId type, Name name, Effects effects)
{
    return emit(s, *statement, type, name, effects);
}

static void emit_for(Simplifier *s, Renaming *names, const CoreStatement *statement, Effects effects)
{
    const CoreVariable *target = &names->program->variables.items[statement->target];
    TypeId type = target->type;
    Name name = target->name;
    bind(s, names, statement->target, emit(s, *statement, type, name, effects));
}

CoreAtom simplify_emit_op(Simplifier *s, Op op, TypeId type, Span span, const CoreAtom *arguments, uint32_t count)
{
    CoreStatement statement = {.kind = CORE_OP, .op = op, .span = span, .argument_count = count};
    statement.arguments = ARENA_ARRAY(s->arena, CoreAtom, count);
    for (uint32_t i = 0; i < count; i++)
        statement.arguments[i] = arguments[i];
    return emit(s, statement, type, 0, 0);
}

/* ---- blocks ---- */

static void open_block(Simplifier *s, RewrittenBlock *block)
{
    *block = (RewrittenBlock){
        .builder = {.program = s->to}, .available_count = s->available.count, .outer = s->open};
    s->open = block;
    s->nesting++;
}

static CoreBlock *close_block(Simplifier *s, RewrittenBlock *block, const CoreVar *parameters, uint32_t count,
                              CoreAtom result)
{
    simplify_forget_available(s, block->available_count);
    s->nesting--;
    s->open = block->outer;
    return core_block(&block->builder, parameters, count, result);
}

/* `sequences` are those whose elements its parameters take, or null. */
static CoreBlock *rewrite_block(Simplifier *s, Renaming *names, const CoreBlock *block, const CoreAtom *sequences,
                                Effects *effects)
{
    RewrittenBlock made;
    open_block(s, &made);
    CoreVar *parameters = ARENA_ARRAY(s->arena, CoreVar, block->parameter_count);
    for (uint32_t i = 0; i < block->parameter_count; i++) {
        CoreVariable parameter = names->program->variables.items[block->parameters[i]];
        parameters[i] = new_variable(s, parameter.type, parameter.name);
        replace(s, names, block->parameters[i], core_atom(s->to, parameters[i]));
        if (sequences != NULL)
            simplify_bound_parameter(s, parameters[i], &sequences[i]);
    }
    CoreAtom result = rewrite_statements(s, names, block);
    *effects |= made.effects;
    return close_block(s, &made, parameters, block->parameter_count, result);
}

static void rewrite_nested(Simplifier *s, Renaming *names, CoreStatement *statement)
{
    Effects effects = 0;
    const CoreAtom *sequences = statement->kind == CORE_EACH ? statement->arguments : NULL;
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL)
            statement->blocks[b] = rewrite_block(s, names, statement->blocks[b], sequences, &effects);
    if (statement->kind == CORE_IF && effects == 0)
        simplify_condition(s, statement);
    emit_for(s, names, statement, effects);
}

/* ---- splices ---- */

static void push_splice(Simplifier *s, const CoreBlock *block, Renaming *names, const CoreStatement *replaced,
                        Renaming *replaced_names)
{
    *vec_push(s->arena, &s->splices) =
        (Splice){.block = block, .names = names, .replaced = *replaced, .replaced_names = replaced_names};
}

static void finish_splice(Simplifier *s, const Splice *splice, CoreAtom result)
{
    const CoreStatement *replaced = &splice->replaced;
    if (replaced->kind == CORE_CALL &&
        can_share(s, replaced, result.type, simplify_function(s, replaced->function)->effects))
        simplify_make_available(s, replaced, result.type, result);
    bind(s, splice->replaced_names, replaced->target, result);
}

/* A comprehension whose body draws takes a draw for itself, so a branch that draws stays, taken or not. */
static void rewrite_if(Simplifier *s, Renaming *names, CoreStatement *statement)
{
    const CoreAtom *condition = &statement->arguments[0];
    if (condition->is_constant) {
        const CoreBlock *taken = statement->blocks[condition->constant.bits != 0 ? 0 : 1];
        const CoreBlock *dropped = statement->blocks[condition->constant.bits != 0 ? 1 : 0];
        if ((simplify_block_effects(s, dropped) & HAS_DRAWS) == 0) {
            push_splice(s, taken, names, statement, names);
            return;
        }
    }
    rewrite_nested(s, names, statement);
}

/* The rule is in simplify.h. */
static bool is_inlined(Simplifier *s, const FunctionInfo *callee)
{
    bool is_copied = callee->body != NULL;
    if (callee->is_recursive || s->nesting + callee->nesting > NESTING_MAX ||
        (is_copied && s->copy_count + callee->size > COPIES_MAX))
        return false;
    if (callee->holds_sequence || callee->use_count == 1 || callee->size <= SMALL_SIZE)
        return true;
    if (callee->size > s->growth)
        return false;
    s->growth -= callee->size;
    return true;
}

static void inline_call(Simplifier *s, Renaming *names, const CoreStatement *call)
{
    const FunctionInfo *callee = simplify_function(s, call->function);
    bool is_simplified = callee->body != NULL;
    if (is_simplified)
        s->copy_count += callee->size;
    else
        s->growth += callee->size; /* it belongs to the unit now */
    const CoreBlock *body = is_simplified ? callee->body : s->from->functions.items[call->function]->body;
    Renaming *inner = is_simplified ? &s->to_names : &s->from_names;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        replace(s, inner, body->parameters[i], call->arguments[i]);
    push_splice(s, body, inner, call, names);
}

static void rewrite_call(Simplifier *s, Renaming *names, const CoreStatement *call)
{
    const FunctionInfo *callee = simplify_function(s, call->function);
    TypeId type = names->program->variables.items[call->target].type;
    bool is_shared = can_share(s, call, type, callee->effects);
    bool is_decided = names == &s->to_names || (is_shared && simplify_find(s, call, type) != NULL);
    if (!is_decided && is_inlined(s, callee))
        inline_call(s, names, call);
    else
        emit_for(s, names, call, callee->effects);
}

static void rewrite_statement(Simplifier *s, Renaming *names, const CoreStatement *original)
{
    CoreAtom value;
    if (s->is_pulling && simplify_pull(s, original, names->program->variables.items[original->target].type, &value)) {
        bind(s, names, original->target, value);
        return;
    }
    CoreStatement statement = resolve_statement(s, names, original);
    switch (statement.kind) {
    case CORE_COPY:
        bind(s, names, statement.target, statement.arguments[0]);
        return;
    case CORE_CALL:
        rewrite_call(s, names, &statement);
        return;
    case CORE_IF:
        rewrite_if(s, names, &statement);
        return;
    case CORE_EACH:
    case CORE_GUARD:
    case CORE_GROUP:
        rewrite_nested(s, names, &statement);
        return;
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP:
    case CORE_MAKE:
    case CORE_TEXT:
    case CORE_OP:
        emit_for(s, names, &statement, simplify_own_effects(s, &statement));
        if (s->is_pulling)
            simplify_note_delayed(s, original);
        return;
    }
}

/* Rewrites the statements of a block into the open one; gives its result. */
static CoreAtom rewrite_statements(Simplifier *s, Renaming *names, const CoreBlock *block)
{
    uint32_t base = s->splices.count;
    *vec_push(s->arena, &s->splices) = (Splice){.block = block, .names = names};
    for (;;) {
        Splice *top = &vec_last(&s->splices);
        if (top->next < top->block->statement_count) {
            rewrite_statement(s, top->names, &top->block->statements[top->next++]);
            continue;
        }
        Splice done = vec_pop(&s->splices);
        CoreAtom result = resolve(s, done.names, done.block->result);
        if (s->splices.count == base)
            return result;
        finish_splice(s, &done, result);
    }
}

CoreAtom simplify_resolve(Simplifier *s, CoreAtom atom)
{
    return resolve(s, &s->to_names, atom);
}

CoreAtom simplify_inline_block(Simplifier *s, const CoreBlock *block, const CoreAtom *values)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        replace(s, &s->to_names, block->parameters[i], values[i]);
    return rewrite_statements(s, &s->to_names, block);
}

CoreBlock *simplify_copy_body(Simplifier *s, const CoreBlock *block, const CoreAtom *sequences)
{
    Effects effects = 0;
    return rewrite_block(s, &s->to_names, block, sequences, &effects);
}

CoreAtom simplify_emit_each(Simplifier *s, CoreAtom sequence, Span span, EachBody *make, const void *context)
{
    RewrittenBlock made;
    open_block(s, &made);
    CoreVar parameter = new_variable(s, type_element(s->types, sequence.type), 0);
    simplify_bound_parameter(s, parameter, &sequence);
    CoreAtom result = make(s, core_atom(s->to, parameter), context);
    CoreStatement each = {.kind = CORE_EACH, .span = span, .argument_count = 1};
    each.arguments = ARENA_NEW(s->arena, CoreAtom);
    each.arguments[0] = sequence;
    CoreVar *parameters = ARENA_NEW(s->arena, CoreVar);
    parameters[0] = parameter;
    each.blocks[0] = close_block(s, &made, parameters, 1, result);
    return emit(s, each, type_sequence(s->types, result.type), 0, 0);
}

static uint32_t count_statements(const CoreBlock *block)
{
    uint32_t count = block->statement_count;
    for (uint32_t i = 0; i < block->statement_count; i++)
        for (uint32_t b = 0; b < 2; b++)
            if (block->statements[i].blocks[b] != NULL)
                count += count_statements(block->statements[i].blocks[b]);
    return count;
}

static CoreBlock *rewrite_unit(Simplifier *s, Renaming *names, const CoreBlock *block, FunctionInfo *result)
{
    Effects effects = 0;
    CoreBlock *body = rewrite_block(s, names, block, NULL, &effects);
    result->effects = effects;
    simplify_remove_dead(s, body, result);
    return body;
}

CoreBlock *simplify_unit(Simplifier *s, const CoreBlock *block, FunctionInfo *result)
{
    s->growth = count_statements(block) + GROWTH_BASE;
    CoreBlock *body = rewrite_unit(s, &s->from_names, block, result);
    for (uint32_t round = 0; round < PULL_ROUNDS_MAX && simplify_plan_pull(s, body); round++) {
        s->is_pulling = true;
        body = rewrite_unit(s, &s->to_names, body, result);
        s->is_pulling = false;
    }
    return body;
}
