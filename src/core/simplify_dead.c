/* Dead code: pure statements whose values nobody uses.
 *
 * Uses are counted over the whole unit; then blocks are walked backwards, so that what a removed statement used is looked at
 * after it. A value that has one use may be dead with another way to write that. */
#include "core/simplify_internal.h"

static void change_use(Simplifier *s, const CoreAtom *atom, uint32_t change)
{
    if (!atom->is_constant)
        s->facts.items[atom->variable].uses += change;
}

/* Adds `change` to the uses of everything in the block: 1, or -1 modulo 2^32. */
static void change_uses(Simplifier *s, const CoreBlock *block, uint32_t change);

static void change_uses_of_statement(Simplifier *s, const CoreStatement *statement, uint32_t change)
{
    for (uint32_t i = 0; i < statement->argument_count; i++)
        change_use(s, &statement->arguments[i], change);
    for (uint32_t i = 0; i < statement->captured_count; i++)
        change_use(s, &statement->captured[i], change);
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL)
            change_uses(s, statement->blocks[b], change);
}

static void change_uses(Simplifier *s, const CoreBlock *block, uint32_t change)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        change_uses_of_statement(s, &block->statements[i], change);
    change_use(s, &block->result, change);
}

/* What an index that is checked was wanted for is used, though it may not depend on the index: {1 : x in v}[i]. */
static bool is_dead(const Simplifier *s, const CoreStatement *statement)
{
    const Fact *fact = &s->facts.items[statement->target];
    bool is_check = statement->kind == CORE_OP && statement->op == OP_CHECKED_INDEX && !fact->is_covered;
    return fact->uses == 0 && fact->effects == 0 && !is_check;
}

/* Scalars that are read in the order of a vector's own grade, which nothing else wants, are that vector sorted: no positions are needed. */
static void sort_themselves(Simplifier *s, CoreStatement *statement)
{
    if (statement->kind != CORE_OP || statement->op != OP_READ || statement->arguments[1].is_constant)
        return;
    const CoreAtom *vector = &statement->arguments[0];
    const Fact *order = &s->facts.items[statement->arguments[1].variable];
    bool is_graded = order->kind == CORE_OP && (order->op == OP_GRADE || order->op == OP_GRADE_DOWN) &&
                     type_is_scalar(s->types, type_element(s->types, vector->type));
    Fact *fact = &s->facts.items[statement->target];
    if (!is_graded || order->uses != 1 || order->nesting != fact->nesting || !simplify_is_same(&order->arguments[0], vector))
        return;
    change_use(s, &statement->arguments[1], UINT32_MAX);
    statement->op = fact->op = order->op == OP_GRADE ? OP_SORTED : OP_SORTED_DOWN;
    statement->argument_count = fact->count = 1;
}

static void sweep(Simplifier *s, CoreBlock *block, uint32_t nesting, FunctionInfo *result)
{
    uint32_t kept = block->statement_count; /* those from here on stay */
    for (uint32_t i = block->statement_count; i > 0; i--) {
        CoreStatement *statement = &block->statements[i - 1];
        sort_themselves(s, statement);
        if (is_dead(s, statement)) {
            change_uses_of_statement(s, statement, UINT32_MAX);
            continue;
        }
        s->facts.items[s->facts.items[statement->target].check].is_covered = true;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                sweep(s, statement->blocks[b], nesting + 1, result);
        block->statements[--kept] = *statement;
    }
    if (kept > 0) { /* else there may be no array */
        block->statements += kept;
        block->statement_count -= kept;
    }
    result->size += block->statement_count;
    if (nesting > result->nesting)
        result->nesting = nesting;
}

void simplify_remove_dead(Simplifier *s, CoreBlock *block, FunctionInfo *result)
{
    result->size = 0;
    result->nesting = 0;
    change_uses(s, block, 1);
    sweep(s, block, 0, result);
}
