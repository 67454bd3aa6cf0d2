/* The call graph of Core: which functions are recursive, what effects they have, and an order with callees first.
 *
 * Recursion is looked for in the graph itself: a function value may close a cycle that no definition shows. Strongly connected components
 * are found by Tarjan's algorithm on a stack of its own, for chains of calls may be long. */
#include "core/simplify_internal.h"

/* ---- one function ---- */

static Effects effects_of(Effect effect)
{
    return effect == EFFECT_IO ? HAS_IO : effect == EFFECT_RANDOM ? HAS_DRAWS : 0;
}

Effects simplify_own_effects(const Simplifier *s, const CoreStatement *statement)
{
    Effects effects = statement->kind == CORE_OP ? effects_of(op_table[statement->op].effect) : 0;
    if (statement->function != 0)
        effects |= simplify_function(s, statement->function)->effects;
    return effects;
}

Effects simplify_block_effects(const Simplifier *s, const CoreBlock *block)
{
    Effects effects = 0;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        effects |= simplify_own_effects(s, &block->statements[i]);
        for (uint32_t b = 0; b < 2; b++)
            if (block->statements[i].blocks[b] != NULL)
                effects |= simplify_block_effects(s, block->statements[i].blocks[b]);
    }
    return effects;
}

Effect simplify_strongest(Effects effects)
{
    return (effects & HAS_IO) != 0 ? EFFECT_IO : (effects & HAS_DRAWS) != 0 ? EFFECT_RANDOM : EFFECT_PURE;
}

static void summarise(const Simplifier *s, const CoreBlock *block, uint32_t nesting, FunctionInfo *info)
{
    info->size += block->statement_count;
    if (nesting > info->nesting)
        info->nesting = nesting;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_OP)
            info->effects |= effects_of(op_table[statement->op].effect);
        if (statement->function != 0)
            *vec_push(s->arena, &info->callees) = statement->function;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                summarise(s, statement->blocks[b], nesting + 1, info);
    }
}

static bool holds_sequence(const Simplifier *s, const CoreFunction *function)
{
    const CoreBlock *body = function->body;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (!type_is_concrete(s->types, s->from->variables.items[body->parameters[i]].type))
            return true;
    return !type_is_concrete(s->types, function->result_type);
}

static void summarise_function(Simplifier *s, CoreFunctionId f)
{
    const CoreFunction *function = s->from->functions.items[f];
    FunctionInfo info = {.holds_sequence = holds_sequence(s, function)};
    summarise(s, function->body, 0, &info);
    s->functions.items[f] = info;
}

/* ---- components ---- */

typedef struct Search {
    Simplifier *s;
    VEC(CoreFunctionId) path;  /* functions being visited, each called by the one before */
    VEC(CoreFunctionId) stack; /* visited, in no finished component */
    uint32_t index;
} Search;

static void enter(Search *search, CoreFunctionId f)
{
    FunctionInfo *info = simplify_function(search->s, f);
    info->index = info->low_link = ++search->index;
    info->is_on_stack = true;
    *vec_push(search->s->arena, &search->path) = f;
    *vec_push(search->s->arena, &search->stack) = f;
}

/* The members of the component that starts at `root` are on top of the stack. A function by itself is recursive if it
 * calls itself. */
static void finish_component(Search *search, CoreFunctionId root)
{
    Simplifier *s = search->s;
    uint32_t first = search->stack.count;
    Effects effects = 0;
    do {
        FunctionInfo *info = simplify_function(s, search->stack.items[--first]);
        effects |= info->effects;
    } while (search->stack.items[first] != root);
    bool is_cycle = first + 1 < search->stack.count;
    for (uint32_t i = first; i < search->stack.count; i++) {
        FunctionInfo *info = simplify_function(s, search->stack.items[i]);
        info->is_on_stack = false;
        info->is_recursive |= is_cycle;
        info->effects = effects;
        info->order = ++s->order_count;
    }
    search->stack.count = first;
}

static void leave(Search *search)
{
    CoreFunctionId f = vec_pop(&search->path);
    FunctionInfo *info = simplify_function(search->s, f);
    if (info->low_link == info->index)
        finish_component(search, f);
    if (search->path.count == 0)
        return;
    FunctionInfo *caller = simplify_function(search->s, vec_last(&search->path));
    if (info->low_link < caller->low_link)
        caller->low_link = info->low_link;
    caller->effects |= info->effects;
}

static void follow(Search *search, CoreFunctionId from, CoreFunctionId to)
{
    FunctionInfo *caller = simplify_function(search->s, from);
    const FunctionInfo *callee = simplify_function(search->s, to);
    caller->is_recursive |= from == to;
    if (callee->order == 0 && callee->index == 0) {
        enter(search, to);
        return;
    }
    caller->effects |= callee->effects;
    if (callee->is_on_stack && callee->index < caller->low_link)
        caller->low_link = callee->index;
}

static void visit(Search *search, CoreFunctionId start)
{
    enter(search, start);
    while (search->path.count > 0) {
        CoreFunctionId f = vec_last(&search->path);
        FunctionInfo *info = simplify_function(search->s, f);
        if (info->next_callee < info->callees.count)
            follow(search, f, info->callees.items[info->next_callee++]);
        else
            leave(search);
    }
}

void simplify_analyse(Simplifier *s)
{
    uint32_t first = s->analysed_count, count = s->from->functions.count;
    while (s->functions.count < count)
        *vec_push(s->arena, &s->functions) = (FunctionInfo){0};
    for (CoreFunctionId f = first; f < count; f++)
        summarise_function(s, f);
    Search search = {.s = s};
    for (CoreFunctionId f = first; f < count; f++)
        if (simplify_function(s, f)->index == 0)
            visit(&search, f);
    s->analysed_count = count;
}
