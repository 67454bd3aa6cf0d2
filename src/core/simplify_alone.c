/* Alone: bodies of functions that are loops, for whoever does one point at a time and leaves it to others to find out what failed, and where (kernel/function_vectors.h).
 *
 *     let a = {f(x) : x in v} in {g(y) : y in a}         {g(f(x)) : x in v}
 *     {h(x, y) : x in v; y in [v[0]] ++ v[: #v - 1]}     {h(v[i], if i < 1 then v[0] else v[i - 1]) : i in indices of v}
 *
 * As written, all of `a` is made before the first of g: if both fail for some element, f is what is reported. Here that does not count, so a comprehension over
 * others that nobody else goes over takes their bodies into its own, and vectors put together from a few others are taken element by element. A step of a stencil thus becomes
 * one loop over rows, and in each row one over cells, that reads its neighbours where they are. Calls are inlined, as far as that goes, for the same end. Nothing is computed twice
 * that is more than an index and a load. */
#include "core/simplify_internal.h"

enum { JOIN_USES_MAX = 2, MERGED_MAX = 64 };

/* ---- vectors put together from two ---- */

bool simplify_is_join(const CoreStatement *statement)
{
    return statement->kind == CORE_OP && (statement->op == OP_APPEND || statement->op == OP_CONS || statement->op == OP_SNOC);
}

static bool is_vector(const Simplifier *s, const CoreAtom *atom)
{
    return type_is_vector(s->types, atom->type);
}

/* The pieces must be there, or be next to nothing: a piece that is made only for the join is better made in its place. */
static bool is_piece_there(Simplifier *s, const CoreAtom *piece)
{
    const CoreStatement *definition = simplify_definition(s, piece);
    if (definition == NULL || definition->kind == CORE_MAKE || definition->kind != CORE_OP)
        return definition == NULL || definition->kind == CORE_MAKE;
    switch ((int)definition->op) {
    case OP_SUBSEQ:
    case OP_SLICE:
    case OP_TAKE:
    case OP_DROP:
    case OP_ELEMENT:
    case OP_INSIDE:
    case OP_APPEND:
    case OP_CONS:
    case OP_SNOC: return true;
    default: return simplify_pull_facts(s, definition->target)->user_count > 1;
    }
}

bool simplify_is_join_worth_delaying(Simplifier *s, const PullFacts *facts)
{
    const CoreStatement *join = facts->definition;
    uint32_t streamed = facts->uses[USE_TRAVERSAL], picked = facts->uses[USE_ELEMENT];
    if (facts->user_count != streamed + picked || facts->user_count > JOIN_USES_MAX || facts->deepest[USE_TRAVERSAL] > facts->loops ||
        facts->deepest[USE_ELEMENT] > facts->loops + 1)
        return false;
    for (uint32_t i = 0; i < facts->user_count; i++)
        if (facts->users[i]->op != OP_SEQ && facts->users[i]->op != OP_ELEMENT && facts->users[i]->op != OP_INSIDE)
            return false;
    for (uint32_t i = 0; i < 2; i++) {
        bool is_element = join->op == (i == 0 ? OP_CONS : OP_SNOC);
        if (!is_element && (!is_vector(s, &join->arguments[i]) || !is_piece_there(s, &join->arguments[i])))
            return false;
    }
    return true;
}

/* The element of a side of a join at an index that counts from its own first. */
static CoreAtom side_element(Simplifier *s, const CoreStatement *join, uint32_t side, CoreAtom index)
{
    CoreAtom from = simplify_resolve(s, join->arguments[side]);
    if (join->op == (side == 0 ? OP_CONS : OP_SNOC))
        return from;
    CoreAtom arguments[] = {from, index};
    return simplify_emit_op(s, OP_INSIDE, type_element(s->types, from.type), join->span, arguments, 2);
}

CoreAtom simplify_join_element(Simplifier *s, const CoreStatement *join, CoreAtom index)
{
    CoreAtom first = simplify_resolve(s, join->arguments[0]), operands[2] = {index, core_int(1)};
    if (join->op != OP_CONS)
        operands[1] = simplify_emit_op(s, OP_LENGTH, TYPE_INT, join->span, &first, 1);
    CoreStatement choice = {.kind = CORE_IF, .span = join->span, .argument_count = 1, .arguments = ARENA_NEW(s->arena, CoreAtom)};
    choice.arguments[0] = simplify_emit_op(s, OP_LESS, TYPE_BOOL, join->span, operands, 2);
    for (uint32_t side = 0; side < 2; side++) {
        RewrittenBlock block;
        simplify_open_block(s, &block);
        CoreAtom own = side == 0 ? index : simplify_emit_op(s, OP_SUBTRACT, TYPE_INT, join->span, operands, 2);
        CoreAtom element = side_element(s, join, side, own);
        choice.blocks[side] = simplify_close_block(s, &block, NULL, 0, element);
    }
    return simplify_emit(s, &choice, choice.blocks[0]->result.type, 0, 0);
}

static CoreAtom join_element(Simplifier *s, CoreAtom index, const void *context)
{
    return simplify_join_element(s, context, index);
}

CoreAtom simplify_traverse_join(Simplifier *s, const CoreStatement *join, CoreAtom size)
{
    CoreAtom indices = simplify_emit_op(s, OP_INDICES, type_sequence(s->types, TYPE_INT), join->span, &size, 1);
    return simplify_emit_each(s, indices, join->span, join_element, join);
}

/* ---- comprehensions over comprehensions ---- */

/* A comprehension that only `user` goes over, in the same block. */
static const CoreStatement *find_inner(Simplifier *s, const CoreStatement *user, const CoreAtom *argument)
{
    const CoreStatement *inner = simplify_definition(s, argument);
    if (inner == NULL || inner->kind != CORE_EACH || s->facts.items[inner->target].effects != 0)
        return NULL;
    const PullFacts *facts = simplify_pull_facts(s, inner->target);
    bool is_own = facts->user_count == 1 && facts->user_block == facts->block && type_is_concrete(s->types, inner->blocks[0]->result.type);
    return is_own && s->facts.items[user->target].effects == 0 ? inner : NULL;
}

bool simplify_can_merge(Simplifier *s, const CoreStatement *each)
{
    for (uint32_t i = 0; i < each->argument_count && each->kind == CORE_EACH; i++)
        if (find_inner(s, each, &each->arguments[i]) != NULL)
            return true;
    return false;
}

/* What a comprehension goes over in the end; its parameters. */
typedef struct Merged {
    CoreAtom sequences[MERGED_MAX], elements[MERGED_MAX];
    uint32_t count;
    bool is_too_much;
} Merged;

static const Fact *source_fact(const Simplifier *s, const CoreAtom *sequence)
{
    const Fact *fact = &s->facts.items[sequence->variable];
    return fact->kind == CORE_OP && (fact->op == OP_SEQ || fact->op == OP_INDICES) ? fact : NULL;
}

/* Sequences that are one after all are gone over once. */
static uint32_t find_sequence(Simplifier *s, const Merged *merged, CoreAtom sequence)
{
    for (uint32_t i = 0; i < merged->count; i++) {
        const Fact *a = source_fact(s, &merged->sequences[i]), *b = source_fact(s, &sequence);
        bool is_same = a != NULL && b != NULL && a->op == b->op && simplify_is_same(&a->arguments[0], &b->arguments[0]);
        if (is_same || simplify_is_same(&merged->sequences[i], &sequence))
            return i;
    }
    return merged->count;
}

static void collect(Simplifier *s, Merged *merged, const CoreStatement *each)
{
    for (uint32_t i = 0; i < each->argument_count && !merged->is_too_much; i++) {
        const CoreStatement *inner = find_inner(s, each, &each->arguments[i]);
        if (inner != NULL) {
            collect(s, merged, inner);
            continue;
        }
        CoreAtom sequence = simplify_resolve(s, each->arguments[i]);
        if (find_sequence(s, merged, sequence) < merged->count)
            continue;
        merged->is_too_much = merged->count == MERGED_MAX;
        if (!merged->is_too_much)
            merged->sequences[merged->count++] = sequence;
    }
}

/* v[i] is the element of v where i goes over its indices at the same time. */
static void note_elements(Simplifier *s, const Merged *merged)
{
    for (uint32_t v = 0; v < merged->count; v++)
        for (uint32_t i = 0; i < merged->count; i++) {
            const Fact *vector = source_fact(s, &merged->sequences[v]), *indices = source_fact(s, &merged->sequences[i]);
            if (vector == NULL || indices == NULL || vector->op != OP_SEQ || indices->op != OP_INDICES)
                continue;
            CoreStatement element = {.kind = CORE_OP, .op = OP_INSIDE, .argument_count = 2, .arguments = ARENA_ARRAY(s->arena, CoreAtom, 2)};
            element.arguments[0] = vector->arguments[0];
            element.arguments[1] = merged->elements[i];
            simplify_make_available(s, &element, merged->elements[v].type, merged->elements[v]);
        }
}

/* What a comprehension gives for an element of each sequence that is left. */
static CoreAtom body_of(Simplifier *s, const Merged *merged, const CoreStatement *each)
{
    CoreAtom *values = ARENA_ARRAY(s->arena, CoreAtom, each->argument_count);
    for (uint32_t i = 0; i < each->argument_count; i++) {
        const CoreStatement *inner = find_inner(s, each, &each->arguments[i]);
        values[i] = inner != NULL ? body_of(s, merged, inner)
                                  : merged->elements[find_sequence(s, merged, simplify_resolve(s, each->arguments[i]))];
    }
    return simplify_inline_block(s, each->blocks[0], values);
}

bool simplify_merge(Simplifier *s, const CoreStatement *each, TypeId type, CoreAtom *value)
{
    if (!simplify_can_merge(s, each))
        return false;
    Merged *merged = ARENA_NEW(s->arena, Merged);
    collect(s, merged, each);
    if (merged->is_too_much)
        return false;
    CoreStatement all = {.kind = CORE_EACH, .span = each->span, .argument_count = merged->count, .arguments = merged->sequences};
    CoreVar *parameters = ARENA_ARRAY(s->arena, CoreVar, merged->count);
    RewrittenBlock block;
    simplify_open_block(s, &block);
    for (uint32_t i = 0; i < merged->count; i++)
        merged->elements[i] = simplify_parameter(s, type_element(s->types, merged->sequences[i].type), &merged->sequences[i], &parameters[i]);
    note_elements(s, merged);
    CoreAtom result = body_of(s, merged, each);
    all.blocks[0] = simplify_close_block(s, &block, parameters, merged->count, result);
    *value = simplify_emit(s, &all, type, 0, 0);
    return true;
}

/* ---- which ---- */

/* Whether a block ends in a call of the function, on some way through it. */
static bool has_turn(const CoreBlock *block, CoreFunctionId function)
{
    if (block->statement_count == 0 || block->result.is_constant)
        return false;
    const CoreStatement *last = &block->statements[block->statement_count - 1];
    if (last->target != block->result.variable)
        return false;
    if (last->kind == CORE_IF)
        return has_turn(last->blocks[0], function) || has_turn(last->blocks[1], function);
    return last->kind == CORE_CALL && last->function == function;
}

static CoreBlock *body_alone(Simplifier *s, const CoreBlock *body)
{
    s->is_alone = true;
    s->growth = ALONE_GROWTH;
    CoreBlock *alone = simplify_again(s, body, false);
    bool has_gained = false;
    for (uint32_t round = 0; round < ALONE_ROUNDS_MAX && simplify_plan_pull(s, alone); round++) {
        alone = simplify_again(s, alone, true);
        has_gained = true;
    }
    s->is_alone = false;
    return has_gained ? alone : NULL;
}

void simplify_alone(Simplifier *s, CoreFunctionId first)
{
    for (CoreFunctionId f = first; f < s->to->functions.count; f++) {
        CoreFunction *function = s->to->functions.items[f];
        if (function != NULL && function->alone == NULL && function->effect == EFFECT_PURE && has_turn(function->body, f))
            function->alone = body_alone(s, function->body);
    }
}
