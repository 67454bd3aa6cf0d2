#include "core/elaborate.h"

#include "core/elaborate_internal.h"

Elaborator *elaborate_new(Environment *environment, CoreProgram *program)
{
    Elaborator *e = ARENA_NEW(environment->arena, Elaborator);
    *e = (Elaborator){.environment = environment,
                      .program = program,
                      .types = environment->types,
                      .names = environment->names,
                      .arena = environment->arena,
                      .diagnostics = environment->diagnostics};
    *vec_push(e->arena, &e->labels) = (Label){0};
    return e;
}

void elaborate_forget(Elaborator *e, uint32_t function_count)
{
    if (e->program->functions.count == function_count)
        return;
    e->program->functions.count = function_count;
    e->made = e->undone = (SpecialisationTable){0};
    e->waiting.count = 0;
}

/* ---- effects ---- */

static Effect stronger(Effect a, Effect b)
{
    return a == EFFECT_IO || b == EFFECT_IO ? EFFECT_IO : a == EFFECT_PURE ? b : a;
}

static Effect effect_of_block(const CoreProgram *program, const CoreBlock *block)
{
    Effect effect = EFFECT_PURE;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_OP)
            effect = stronger(effect, op_table[statement->op].effect);
        if (statement->function != 0)
            effect = stronger(effect, program->functions.items[statement->function]->effect);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                effect = stronger(effect, effect_of_block(program, statement->blocks[b]));
    }
    return effect;
}

/* Calls go both ways between new functions, so it is repeated until nothing changes. */
static void find_effects(CoreProgram *program, uint32_t first)
{
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = program->functions.count; i > first; i--) {
            CoreFunction *function = program->functions.items[i - 1];
            Effect effect = effect_of_block(program, function->body);
            is_changed |= effect != function->effect;
            function->effect = effect;
        }
    }
}

/* ---- entry points ---- */

static void start(Elaborator *e, Scope *scope, uint32_t position)
{
    e->has_errors = false;
    e->nesting = 0;
    e->types->is_too_deep = false;
    e->position = position;
    e->epoch = environment_epoch(e->environment, position);
    e->scope = scope;
    e->builder = NULL;
}

static Scope top_scope(Elaborator *e, Definition *definition)
{
    return (Scope){.definition = definition, .locals = ARENA_ARRAY(e->arena, CoreAtom, definition->locals.count)};
}

static void print_label(const Elaborator *e, const Pattern *pattern, Text *out)
{
    switch (pattern->kind) {
    case PATTERN_NAME:
        text_add(out, names_text(e->names, pattern->name));
        break;
    case PATTERN_WILDCARD:
        text_add(out, "_");
        break;
    case PATTERN_TYPED:
        print_label(e, pattern->items[0], out);
        break;
    case PATTERN_CONSTRUCTOR:
        text_add(out, names_text(e->names, pattern->name));
        if (pattern->items[0]->kind != PATTERN_TUPLE)
            text_add(out, "(");
        print_label(e, pattern->items[0], out);
        if (pattern->items[0]->kind != PATTERN_TUPLE)
            text_add(out, ")");
        break;
    case PATTERN_TUPLE:
        text_add(out, "(");
        for (uint32_t i = 0; i < pattern->item_count; i++) {
            text_add(out, i == 0 ? "" : ", ");
            print_label(e, pattern->items[i], out);
        }
        text_add(out, ")");
        break;
    }
}

static const char *label_text(Elaborator *e, const Definition *definition)
{
    if (definition->kind != DEFINITION_BINDING)
        return "it";
    Text text;
    text_init(&text, e->environment->memory);
    print_label(e, definition->item->pattern, &text);
    const char *copy = arena_text(e->arena, text_string(&text), text.length);
    text_free(&text);
    return copy;
}

static void bind_global(Elaborator *e, Definition *definition, CoreItem *item)
{
    CoreVar *global = ARENA_NEW(e->arena, CoreVar);
    const Pattern *pattern = definition->item->pattern;
    *global = core_variable(e->program, item->block->result.type, pattern->kind == PATTERN_NAME ? pattern->name : 0);
    e->program->variables.items[*global].is_global = true;
    item->kind = CORE_ITEM_BINDING;
    item->global = *global;
    definition->core = global;
}

bool elaborate_item(Elaborator *e, Definition *definition)
{
    uint32_t function_count = e->program->functions.count;
    Scope scope = top_scope(e, definition);
    OpenBlock block;
    start(e, &scope, definition->position);
    elaborate_open(e, &block);
    CoreAtom result = elaborate_expr(e, definition->item->value);
    CoreItem item = {.kind = CORE_ITEM_EXPRESSION,
                     .span = definition->item->span,
                     .dialect = definition->dialect,
                     .block = elaborate_close(e, &block, NULL, 0, result)};
    specialise_waiting(e);
    elaborate_check_depth(e, definition->item->span);
    if (definition->kind == DEFINITION_BINDING && !e->has_errors && !type_is_concrete(e->types, result.type)) {
        diagnostics_error(e->diagnostics, ERROR_SEQUENCE_BINDING, definition->item->value->span,
                          "a top-level binding cannot hold a function that captured a sequence");
        elaborate_failed(e);
    }
    if (e->has_errors) {
        elaborate_forget(e, function_count);
        return false;
    }
    item.label = label_text(e, definition);
    if (definition->kind == DEFINITION_BINDING)
        bind_global(e, definition, &item);
    *vec_push(e->arena, &e->program->items) = item;
    find_effects(e->program, function_count);
    return true;
}

/* The scope of a function called from outside: its open types are at their defaults. */
static Scope entry_scope(Elaborator *e, Definition *function)
{
    Scope scope = top_scope(e, function);
    TypeId *types = ARENA_ARRAY(e->arena, TypeId, function->variable_count);
    for (uint32_t i = 0; i < function->variable_count; i++)
        types[i] = type_substitute(e->types, function->variables[i], NULL, 0);
    scope.types = types;
    scope.type_count = function->variable_count;
    return scope;
}

static CoreFunctionId make_entry(Elaborator *e, Label label, const TypeId *parameters, uint32_t count, Span span)
{
    uint32_t function_count = e->program->functions.count;
    const Specialisation *made = specialise(e, label, parameters, count, span);
    specialise_waiting(e);
    elaborate_check_depth(e, span);
    if (made == NULL || e->has_errors) {
        elaborate_forget(e, function_count);
        return 0;
    }
    find_effects(e->program, function_count);
    return made->function;
}

CoreFunctionId elaborate_entry(Elaborator *e, Definition *function)
{
    Scope scope = entry_scope(e, function);
    start(e, &scope, e->environment->next_position);
    uint32_t count = function->item->parameter_count;
    TypeId *parameters = ARENA_ARRAY(e->arena, TypeId, count);
    bool takes_function = false;
    for (uint32_t i = 0; i < count; i++) {
        parameters[i] = elaborate_ground(e, function->item->parameters[i].pattern->type_id);
        takes_function |= type_node(e->types, parameters[i])->has_function;
    }
    if (takes_function) {
        diagnostics_error(e->diagnostics, ERROR_NOT_CONCRETE, function->span,
                          "`%s` takes a function, so it cannot be called from outside",
                          names_text(e->names, function->name));
        return 0;
    }
    Label label = {.definition = function, .types = scope.types, .type_count = scope.type_count};
    return make_entry(e, label, parameters, count, function->span);
}

CoreFunctionId elaborate_default(Elaborator *e, Definition *function, uint32_t parameter)
{
    Scope scope = entry_scope(e, function);
    start(e, &scope, e->environment->next_position);
    const Expr *use = function->default_uses[parameter];
    return make_entry(e, elaborate_label(e, use), NULL, 0, use->span);
}
