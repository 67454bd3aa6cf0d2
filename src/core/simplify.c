/* The simplifier as a whole: which functions are rewritten, in which order, and which remain. */
#include "core/simplify_internal.h"

#include <stdlib.h>

Simplifier *simplify_new(const CoreProgram *from, CoreProgram *to)
{
    Simplifier *s = ARENA_NEW(from->arena, Simplifier);
    *s = (Simplifier){.from = from, .to = to, .types = from->types, .arena = from->arena};
    s->analysed_count = 1; /* id 0 is none */
    s->from_names.program = from;
    s->to_names.program = to;
    return s;
}

typedef VEC(CoreFunctionId) FunctionList;

/* ---- what is needed ---- */

/* Counts a use; a function met for the first time in this round is listed. */
static void note_use(Simplifier *s, CoreFunctionId f, uint32_t weight, FunctionList *found)
{
    FunctionInfo *info = simplify_function(s, f);
    if (info->round != s->round) {
        info->round = s->round;
        info->use_count = 0;
        *vec_push(s->arena, found) = f;
    }
    info->use_count += weight;
}

static void note_uses_in_block(Simplifier *s, const CoreBlock *block, FunctionList *found)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->function != 0)
            note_use(s, statement->function, statement->kind == CORE_CALL ? 1 : 2, found);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                note_uses_in_block(s, statement->blocks[b], found);
    }
}

/* The functions that new items and entries reach in `from`. Those that were simplified before are not looked into. */
static FunctionList find_needed(Simplifier *s)
{
    FunctionList found = {0};
    for (uint32_t i = 0; i < s->entries.count; i++)
        note_use(s, s->entries.items[i], 2, &found);
    for (uint32_t i = s->to->items.count; i < s->from->items.count; i++)
        note_uses_in_block(s, s->from->items.items[i].block, &found);
    for (uint32_t i = 0; i < found.count; i++)
        if (simplify_function(s, found.items[i])->body == NULL)
            note_uses_in_block(s, s->from->functions.items[found.items[i]]->body, &found);
    return found;
}

/* ---- rewriting ---- */

static void simplify_one_function(Simplifier *s, CoreFunctionId f)
{
    FunctionInfo *info = simplify_function(s, f);
    Effects effects = info->effects;
    info->body = simplify_unit(s, s->from->functions.items[f]->body, info);
    if (info->is_recursive)
        info->effects = effects; /* with those of the others in its cycle */
}

static void simplify_one_item(Simplifier *s, const CoreItem *original)
{
    FunctionInfo ignored = {0};
    CoreItem item = *original;
    item.block = simplify_unit(s, original->block, &ignored);
    if (original->kind == CORE_ITEM_BINDING)
        item.global = simplify_global(s, original->global);
    *vec_push(s->arena, &s->to->items) = item;
}

typedef struct Ordered {
    uint32_t order;
    CoreFunctionId function;
} Ordered;

static int compare_order(const void *a, const void *b)
{
    uint32_t left = ((const Ordered *)a)->order, right = ((const Ordered *)b)->order;
    return (left > right) - (left < right);
}

/* Callees first. Functions with one call wait: they are rewritten where they are called. */
static void simplify_functions(Simplifier *s, const FunctionList *needed)
{
    Ordered *ordered = ARENA_ARRAY(s->arena, Ordered, needed->count);
    for (uint32_t i = 0; i < needed->count; i++)
        ordered[i] = (Ordered){simplify_function(s, needed->items[i])->order, needed->items[i]};
    if (needed->count > 0)
        qsort(ordered, needed->count, sizeof *ordered, compare_order);
    for (uint32_t i = 0; i < needed->count; i++) {
        const FunctionInfo *info = simplify_function(s, ordered[i].function);
        bool waits = info->use_count == 1 && !info->is_recursive;
        if (info->body == NULL && !waits)
            simplify_one_function(s, ordered[i].function);
    }
}

/* ---- what remains ---- */

static void place(Simplifier *s, CoreFunctionId f, FunctionList *placed)
{
    if (s->to->functions.items[f] != NULL)
        return;
    if (simplify_function(s, f)->body == NULL) /* its call stayed after all */
        simplify_one_function(s, f);
    const FunctionInfo *info = simplify_function(s, f);
    CoreFunction *function = ARENA_NEW(s->arena, CoreFunction);
    *function = *s->from->functions.items[f];
    function->body = info->body;
    function->effect = simplify_strongest(info->effects);
    function->is_recursive = info->is_recursive;
    s->to->functions.items[f] = function;
    *vec_push(s->arena, placed) = f;
}

static void place_callees(Simplifier *s, const CoreBlock *block, FunctionList *placed)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->function != 0)
            place(s, statement->function, placed);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                place_callees(s, statement->blocks[b], placed);
    }
}

/* The entries, and what they and items from `first_item` on still call, directly or not. */
static CoreFunctionId place_functions(Simplifier *s, uint32_t first_item)
{
    FunctionList placed = {0};
    for (uint32_t i = 0; i < s->entries.count; i++)
        place(s, s->entries.items[i], &placed);
    for (uint32_t i = first_item; i < s->to->items.count; i++)
        place_callees(s, s->to->items.items[i].block, &placed);
    CoreFunctionId first = s->to->functions.count;
    for (uint32_t i = 0; i < placed.count; i++) {
        CoreFunctionId f = placed.items[i];
        place_callees(s, s->to->functions.items[f]->body, &placed);
        first = f < first ? f : first;
    }
    return first;
}

void simplify_entry(Simplifier *s, CoreFunctionId function)
{
    *vec_push(s->arena, &s->entries) = function;
}

CoreFunctionId simplify_program(Simplifier *s)
{
    uint32_t first_item = s->to->items.count;
    s->round++;
    s->copy_count = 0;
    simplify_analyse(s);
    while (s->to->functions.count < s->from->functions.count)
        *vec_push(s->arena, &s->to->functions) = NULL;
    FunctionList needed = find_needed(s);
    simplify_functions(s, &needed);
    for (uint32_t i = first_item; i < s->from->items.count; i++)
        simplify_one_item(s, &s->from->items.items[i]);
    CoreFunctionId first_function = place_functions(s, first_item);
    s->entries.count = 0;
    return first_function;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void simplify_forget(Simplifier *s, uint32_t function_count, uint32_t item_count)
{
    s->analysed_count = least(s->analysed_count, function_count);
    s->functions.count = least(s->functions.count, function_count);
    s->to->functions.count = least(s->to->functions.count, function_count);
    s->to->items.count = least(s->to->items.count, item_count);
    s->entries.count = 0;
}
