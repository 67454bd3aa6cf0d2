/* Pull: vectors that are never made, for whoever wants an element of one computes that element.
 *
 *     reverse(v)[i]                      v[#v - 1 - i], once i was compared with #v
 *     sum(reverse({f(x) : x in v}))      sum({f(v[#v - 1 - i]) : i in indices of v})
 *     flatten({{f(x, y) : y in w} : x in v})    a sequence of sequences instead, and one vector of their elements
 *
 * A *recipe* is a sequence made from vectors and ranges by pure comprehensions: it has a size, and an element at every index, as expressions. A
 * vector tab(recipe) is *delayed* when all its uses can do with elements or with a traversal of the recipe made again, and nothing is computed
 * more often for that than before, but for cheap scalar work:
 *  - it is used once, where it is made or in a branch there; or for an element in a comprehension there, at an index that is never the same twice; or
 *  - an element is next to no work, a few operations that cannot fail and one load, and the places of its uses are not much deeper.
 * What an element is made from may itself be a vector that could be delayed: that is decided in another round, when the uses are known that it
 * then has. A vector that is traversed once in its own block is left to flattening, which streams it (flow/flatten_through.c).
 *
 * Errors: where an index is out of range, the message is that of the index written. An error in an element nobody asks for vanishes with it. Units
 * with input or output delay nothing, for what fails must fail before anything is written.
 *
 * A round is a plan, made on the unit as it is, and a walk that rewrites the unit by it (simplify_block.c asks for each statement). */
#include "core/simplify_internal.h"

enum {
    CHEAP_WORK = 8, /* operations that all elements asked for may be together, for each time */
    NOT_CHEAP = 1000,
    INDEX_DEPTH_MAX = 8, /* of additions looked through in an index */
};

typedef VEC(CoreVar) VariableList;

PullFacts *simplify_pull_facts(Simplifier *s, CoreVar variable)
{
    while (s->pull.count <= variable)
        *vec_push(s->arena, &s->pull) = (PullFacts){0};
    return &s->pull.items[variable];
}

/* What binds an atom's variable in this unit, or null. */
const CoreStatement *simplify_definition(Simplifier *s, const CoreAtom *atom)
{
    if (atom->is_constant || s->to->variables.items[atom->variable].is_global)
        return NULL;
    const PullFacts *facts = simplify_pull_facts(s, atom->variable);
    return facts->parameter == 0 ? facts->definition : NULL;
}

static bool is_op(const CoreStatement *statement, Op op)
{
    return statement->kind == CORE_OP && statement->op == op;
}

/* ---- who uses what ---- */

static bool is_fold(Op op)
{
    switch ((int)op) {
    case OP_EMPTY:
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) case OP_##reduction:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_COUNT_TRUE:
        return true;
    }
    return false;
}

static bool is_comparison(Op op)
{
    switch ((int)op) {
#define SCALAR_COMPARISON(OP, orders) case OP_##OP:
#include "math/scalar_ops.def"
        return true;
    }
    return false;
}

static bool is_part(Op op)
{
    return op == OP_TAKE || op == OP_DROP || op == OP_SUBSEQ || op == OP_SLICE;
}

static bool joins_rows(Op op)
{
    return op == OP_CONCAT || op == OP_FLATTEN;
}

static PullUse use_of(const CoreStatement *statement, uint32_t argument)
{
    if (statement->kind != CORE_OP)
        return USE_OTHER;
    if ((statement->op == OP_ELEMENT || statement->op == OP_INSIDE) && argument == 0)
        return USE_ELEMENT;
    if (statement->op == OP_SEQ || is_fold(statement->op))
        return USE_TRAVERSAL;
    if (is_part(statement->op) && argument == 0)
        return USE_PART;
    if (joins_rows(statement->op))
        return USE_ROWS;
    return is_comparison(statement->op) ? USE_COMPARISON : USE_OTHER;
}

typedef struct Place {
    const CoreBlock *block;
    uint32_t loops;
} Place;

static void note_use(Simplifier *s, const CoreAtom *atom, PullUse use, const CoreStatement *user, Place place)
{
    if (atom->is_constant)
        return;
    PullFacts *facts = simplify_pull_facts(s, atom->variable);
    facts->uses[use]++;
    if (place.loops > facts->deepest[use])
        facts->deepest[use] = place.loops;
    if (facts->user_count < USERS_KEPT)
        facts->users[facts->user_count] = user;
    facts->user_count++;
    facts->user_block = place.block;
}

static void note_block(Simplifier *s, const CoreBlock *block, const CoreStatement *around, uint32_t loops,
                       VariableList *candidates);

static void note_statement(Simplifier *s, const CoreStatement *statement, Place place, VariableList *candidates)
{
    *simplify_pull_facts(s, statement->target) = (PullFacts){.definition = statement, .block = place.block, .loops = place.loops};
    for (uint32_t i = 0; i < statement->argument_count; i++)
        note_use(s, &statement->arguments[i], use_of(statement, i), statement, place);
    for (uint32_t i = 0; i < statement->captured_count; i++)
        note_use(s, &statement->captured[i], USE_OTHER, statement, place);
    bool is_loop = statement->kind == CORE_EACH || statement->kind == CORE_GROUP;
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL)
            note_block(s, statement->blocks[b], statement, place.loops + is_loop, candidates);
    if (is_op(statement, OP_TAB) || is_op(statement, OP_TRANSPOSE) || (s->is_alone && simplify_is_join(statement)))
        *vec_push(s->arena, candidates) = statement->target;
}

static void note_block(Simplifier *s, const CoreBlock *block, const CoreStatement *around, uint32_t loops,
                       VariableList *candidates)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        *simplify_pull_facts(s, block->parameters[i]) =
            (PullFacts){.definition = around, .block = block, .parameter = i + 1, .loops = loops};
    for (uint32_t i = 0; i < block->statement_count; i++)
        note_statement(s, &block->statements[i], (Place){block, loops}, candidates);
    note_use(s, &block->result, USE_OTHER, NULL, (Place){block, loops});
}

/* ---- recipes ---- */

static bool is_range(Op op)
{
    return op == OP_IOTA || op == OP_INDICES || op == OP_RANGE || op == OP_RANGE_INCLUSIVE || op == OP_NESL_RANGE;
}

/* All of it stands in one block, that of the vector: there its size can be said, with whatever may fail in that. */
static bool is_recipe(Simplifier *s, const CoreAtom *atom, const CoreBlock *block, uint32_t depth)
{
    const CoreStatement *definition = simplify_definition(s, atom);
    if (definition == NULL || s->facts.items[definition->target].effects != 0 || depth == RECIPE_DEPTH_MAX ||
        simplify_pull_facts(s, definition->target)->block != block)
        return false;
    if (definition->kind == CORE_OP)
        return is_range(definition->op) ||
               (definition->op == OP_SEQ && type_is_vector(s->types, definition->arguments[0].type));
    if (definition->kind != CORE_EACH)
        return false;
    for (uint32_t i = 0; i < definition->argument_count; i++)
        if (!is_recipe(s, &definition->arguments[i], block, depth + 1))
            return false;
    return type_is_concrete(s->types, definition->blocks[0]->result.type);
}

/* ---- how much work an element is ---- */

typedef struct ElementWork {
    uint32_t operations, loads;
} ElementWork;

static ElementWork work_of_block(Simplifier *s, const CoreBlock *block);

static ElementWork work_of_statement(Simplifier *s, const CoreStatement *statement)
{
    ElementWork work = {0};
    if (statement->kind == CORE_PAIR || statement->kind == CORE_WRAP || simplify_is_cheap(s, statement)) {
        work.operations = statement->kind == CORE_OP;
    } else if (is_op(statement, OP_ELEMENT) || is_op(statement, OP_INSIDE)) {
        work.operations = is_op(statement, OP_ELEMENT);
        work.loads = 1;
    } else if (is_op(statement, OP_SLICE)) {
        work.operations = 1;
    } else if (statement->kind == CORE_IF) {
        ElementWork yes = work_of_block(s, statement->blocks[0]), no = work_of_block(s, statement->blocks[1]);
        work.operations = 1 + yes.operations + no.operations;
        work.loads = yes.loads + no.loads;
    } else {
        work.operations = NOT_CHEAP;
    }
    return work;
}

static ElementWork work_of_block(Simplifier *s, const CoreBlock *block)
{
    ElementWork work = {0};
    for (uint32_t i = 0; i < block->statement_count && work.operations < NOT_CHEAP; i++) {
        ElementWork more = work_of_statement(s, &block->statements[i]);
        work.operations += more.operations;
        work.loads += more.loads;
    }
    return work;
}

static ElementWork work_of_recipe(Simplifier *s, const CoreAtom *recipe)
{
    const CoreStatement *definition = simplify_definition(s, recipe);
    if (definition->kind == CORE_OP)
        return definition->op == OP_SEQ ? (ElementWork){.loads = 1} : (ElementWork){.operations = definition->op == OP_RANGE};
    ElementWork work = work_of_block(s, definition->blocks[0]);
    for (uint32_t i = 0; i < definition->argument_count; i++) {
        ElementWork more = work_of_recipe(s, &definition->arguments[i]);
        work.operations += more.operations;
        work.loads += more.loads;
    }
    return work;
}

/* ---- indices that are never the same twice ---- */

/* Whether the elements of a sequence are different integers. */
static bool has_distinct_elements(Simplifier *s, const CoreAtom *sequence)
{
    const CoreStatement *definition = simplify_definition(s, sequence);
    if (definition == NULL || definition->kind != CORE_OP)
        return false;
    if (definition->op == OP_SEQ || definition->op == OP_TAB)
        return has_distinct_elements(s, &definition->arguments[0]);
    if (definition->op == OP_RANGE)
        return definition->arguments[2].is_constant && definition->arguments[2].type == TYPE_INT;
    return is_range(definition->op);
}

/* The parameter that an index is computed from by adding and subtracting, or null. */
static const PullFacts *origin_of(Simplifier *s, const CoreAtom *index)
{
    for (;;) {
        if (index->is_constant)
            return NULL;
        const PullFacts *facts = simplify_pull_facts(s, index->variable);
        if (facts->parameter > 0 || facts->definition == NULL)
            return facts->parameter > 0 ? facts : NULL;
        if (!is_op(facts->definition, OP_ADD))
            return NULL;
        index = &facts->definition->arguments[0];
    }
}

/* if j < n then j else j - n, for j from n integers in a row: j going round, as rotate has it. */
static const CoreAtom *unwrapped_index(Simplifier *s, const CoreStatement *choice)
{
    const CoreBlock *yes = choice->blocks[0], *no = choice->blocks[1];
    const CoreStatement *condition = simplify_definition(s, &choice->arguments[0]);
    if (condition == NULL || !is_op(condition, OP_LESS) || yes->statement_count > 0 || no->statement_count != 1 ||
        !is_op(&no->statements[0], OP_SUBTRACT) || no->result.is_constant ||
        no->result.variable != no->statements[0].target)
        return NULL;
    const CoreAtom *index = &condition->arguments[0], *count = &condition->arguments[1];
    const PullFacts *origin = origin_of(s, index);
    const CoreStatement *source =
        origin == NULL || origin->definition->kind != CORE_EACH
            ? NULL
            : simplify_definition(s, &origin->definition->arguments[origin->parameter - 1]);
    bool is_round = simplify_is_same(index, &yes->result) && simplify_is_same(index, &no->statements[0].arguments[0]) &&
                    simplify_is_same(count, &no->statements[0].arguments[1]) && source != NULL &&
                    is_op(source, OP_INDICES) && simplify_is_same(count, &source->arguments[0]);
    return is_round ? index : NULL;
}

/* Whether a number is the same whatever the element of the comprehension at `loops`. */
static bool is_fixed(Simplifier *s, const CoreAtom *atom, uint32_t loops, uint32_t depth)
{
    if (atom->is_constant || s->to->variables.items[atom->variable].is_global)
        return true;
    const PullFacts *facts = simplify_pull_facts(s, atom->variable);
    if (facts->loops < loops)
        return true;
    const CoreStatement *definition = simplify_definition(s, atom);
    if (definition == NULL || depth == INDEX_DEPTH_MAX || (!is_op(definition, OP_ADD) && !is_op(definition, OP_SUBTRACT)))
        return false;
    return is_fixed(s, &definition->arguments[0], loops, depth + 1) &&
           is_fixed(s, &definition->arguments[1], loops, depth + 1);
}

/* Whether an index in the body of the comprehension at `loops` is its parameter, plus or minus what does not change there. Wrapping does no harm. */
static bool is_distinct(Simplifier *s, const CoreAtom *index, uint32_t loops, uint32_t depth)
{
    if (depth == INDEX_DEPTH_MAX || index->is_constant || s->to->variables.items[index->variable].is_global)
        return false;
    const PullFacts *facts = simplify_pull_facts(s, index->variable);
    const CoreStatement *definition = facts->definition;
    if (facts->loops != loops || definition == NULL)
        return false;
    if (facts->parameter > 0)
        return definition->kind == CORE_EACH &&
               has_distinct_elements(s, &definition->arguments[facts->parameter - 1]);
    if (definition->kind == CORE_IF) {
        const CoreAtom *unwrapped = unwrapped_index(s, definition);
        return unwrapped != NULL && is_distinct(s, unwrapped, loops, depth + 1);
    }
    if (!is_op(definition, OP_ADD) && !is_op(definition, OP_SUBTRACT))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (is_fixed(s, &definition->arguments[1 - i], loops, depth + 1) &&
            is_distinct(s, &definition->arguments[i], loops, depth + 1))
            return true;
    }
    return false;
}

/* ---- the plan ---- */

static bool is_used_once_well(Simplifier *s, const PullFacts *facts)
{
    if (facts->uses[USE_TRAVERSAL] > 0)
        return facts->deepest[USE_TRAVERSAL] == facts->loops && facts->user_block != facts->block;
    if (facts->uses[USE_COMPARISON] > 0)
        return facts->deepest[USE_COMPARISON] == facts->loops;
    if (facts->uses[USE_PART] > 0)
        return facts->deepest[USE_PART] == facts->loops;
    uint32_t deepest = facts->deepest[USE_ELEMENT];
    return deepest == facts->loops ||
           (deepest == facts->loops + 1 && is_distinct(s, &facts->users[0]->arguments[1], deepest, 0));
}

/* Whether all parts taken of a vector are only walked through: else it is better made once than its parts one by one. */
static bool are_parts_streamed(Simplifier *s, const PullFacts *facts)
{
    if (facts->uses[USE_PART] > 0 && facts->user_count > USERS_KEPT)
        return false;
    for (uint32_t i = 0; i < facts->user_count && i < USERS_KEPT; i++) {
        const CoreStatement *user = facts->users[i];
        if (user->kind != CORE_OP || !is_part(user->op))
            continue;
        const PullFacts *part = simplify_pull_facts(s, user->target);
        if (part->user_count != 1 || part->uses[USE_TRAVERSAL] != 1 || part->user_block != part->block)
            return false;
    }
    return true;
}

/* Elements that are cheap may be computed again for each use; but a traversal that is repeated is better one of an array. */
static bool is_cheap_enough(Simplifier *s, const PullFacts *facts, uint32_t uses)
{
    if (facts->deepest[USE_TRAVERSAL] > facts->loops || facts->deepest[USE_COMPARISON] > facts->loops ||
        facts->deepest[USE_PART] > facts->loops || facts->deepest[USE_ELEMENT] > facts->loops + 1 ||
        !are_parts_streamed(s, facts))
        return false;
    ElementWork work = work_of_recipe(s, &facts->definition->arguments[0]);
    bool is_only_traversed = facts->uses[USE_TRAVERSAL] == uses; /* ... where the first time would be that of making it */
    return work.loads <= 1 && work.operations * (is_only_traversed ? uses - 1 : uses) <= CHEAP_WORK;
}

/* The vector that a body gives, if it is made of a sequence there and nobody else has either. */
static const CoreStatement *row_of(Simplifier *s, const CoreBlock *body)
{
    const CoreStatement *row = simplify_definition(s, &body->result);
    bool is_row = row != NULL && is_op(row, OP_TAB) && simplify_pull_facts(s, row->target)->block == body && simplify_pull_facts(s, row->target)->user_count == 1;
    return is_row && simplify_pull_facts(s, row->arguments[0].variable)->user_count == 1 ? row : NULL;
}

/* Whether the elements of a vector are vectors that are only put one after the other: sequences will do. */
static bool are_rows_joined(Simplifier *s, const PullFacts *facts)
{
    const CoreStatement *each = simplify_definition(s, &facts->definition->arguments[0]);
    return facts->user_count == 1 && facts->user_block == facts->block && each != NULL && each->kind == CORE_EACH &&
           simplify_pull_facts(s, each->target)->block == facts->block && simplify_pull_facts(s, each->target)->user_count == 1 &&
           s->facts.items[each->target].effects == 0 && row_of(s, each->blocks[0]) != NULL;
}

static bool is_worth_delaying(Simplifier *s, const PullFacts *facts)
{
    uint32_t uses = facts->user_count;
    if (facts->is_needed || facts->uses[USE_OTHER] > 0 || uses == 0)
        return false;
    if (simplify_is_join(facts->definition))
        return simplify_is_join_worth_delaying(s, facts);
    if (facts->definition->op == OP_TRANSPOSE) /* columns, each for itself; to walk through all of them is better done in tiles */
        return facts->uses[USE_ELEMENT] == uses && facts->deepest[USE_ELEMENT] == facts->loops;
    if (facts->uses[USE_ROWS] > 0)
        return are_rows_joined(s, facts);
    if (!is_recipe(s, &facts->definition->arguments[0], facts->block, 0))
        return false;
    bool is_streamed = uses == 1 && facts->uses[USE_TRAVERSAL] == 1 && facts->user_block == facts->block;
    if (is_streamed)
        return s->is_alone; /* the traversals are put into each other */
    return (uses == 1 && is_used_once_well(s, facts)) || is_cheap_enough(s, facts, uses);
}

static void mark_needed(Simplifier *s, const CoreAtom *atom);

static void mark_needed_by(Simplifier *s, const CoreStatement *statement);

static void mark_needed_in(Simplifier *s, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        mark_needed_by(s, &block->statements[i]);
    mark_needed(s, &block->result);
}

static void mark_needed_by(Simplifier *s, const CoreStatement *statement)
{
    for (uint32_t i = 0; i < statement->argument_count; i++)
        mark_needed(s, &statement->arguments[i]);
    for (uint32_t i = 0; i < statement->captured_count; i++)
        mark_needed(s, &statement->captured[i]);
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL)
            mark_needed_in(s, statement->blocks[b]);
}

/* A vector that is read, or the recipe of one. */
static void mark_needed(Simplifier *s, const CoreAtom *atom)
{
    if (atom->is_constant)
        return;
    simplify_pull_facts(s, atom->variable)->is_needed = true;
    if (type_is_sequence(s->types, atom->type) && simplify_definition(s, atom) != NULL)
        mark_needed_by(s, simplify_definition(s, atom));
}

static bool does_io(const Simplifier *s, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        bool only_fails = is_op(statement, OP_FAIL) || is_op(statement, OP_RAISE) || is_op(statement, OP_NOT_PROVIDED);
        if (!only_fails && (simplify_own_effects(s, statement) & HAS_IO) != 0)
            return true;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && does_io(s, statement->blocks[b]))
                return true;
    }
    return false;
}

/* Comprehensions that others can be put into. */
static bool has_merges(Simplifier *s, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (simplify_can_merge(s, statement))
            return true;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && has_merges(s, statement->blocks[b]))
                return true;
    }
    return false;
}

/* Latest first, so that it is known of each vector whether others are made from it where they are used. */
bool simplify_plan_pull(Simplifier *s, const CoreBlock *unit)
{
    VariableList candidates = {0};
    bool is_any = false;
    simplify_pull_facts(s, s->to->variables.count); /* those that follow stay where they are */
    note_block(s, unit, NULL, 0, &candidates);
    if ((candidates.count == 0 && !s->is_alone) || does_io(s, unit))
        return false;
    for (uint32_t i = candidates.count; i > 0; i--) {
        PullFacts *facts = simplify_pull_facts(s, candidates.items[i - 1]);
        if (!is_worth_delaying(s, facts))
            continue;
        facts->is_delayed = is_any = true;
        mark_needed_by(s, facts->definition);
    }
    return is_any || (s->is_alone && has_merges(s, unit));
}

/* ---- rewriting ---- */

static bool is_delayed(Simplifier *s, const CoreAtom *atom)
{
    return !atom->is_constant && !s->to->variables.items[atom->variable].is_global && simplify_pull_facts(s, atom->variable)->is_delayed;
}

static CoreAtom emit_op(Simplifier *s, Op op, TypeId type, Span span, CoreAtom first, const CoreAtom *second)
{
    CoreAtom arguments[] = {first, second == NULL ? first : *second};
    return simplify_emit_op(s, op, type, span, arguments, second == NULL ? 1 : 2);
}

/* first + index * step, in the arithmetic of the range's type. */
static CoreAtom range_element(Simplifier *s, const CoreStatement *range, CoreAtom index)
{
    if (range->op == OP_IOTA || range->op == OP_INDICES)
        return index;
    CoreAtom first = simplify_resolve(s, range->arguments[0]);
    TypeId type = first.type;
    index = emit_op(s, op_conversion_to(type_scalar(s->types, type)), type, range->span, index, NULL);
    if (range->op != OP_RANGE_INCLUSIVE) {
        CoreAtom step = simplify_resolve(s, range->arguments[2]);
        index = emit_op(s, OP_MULTIPLY, type, range->span, index, &step);
    }
    return emit_op(s, OP_ADD, type, range->span, first, &index);
}

static CoreAtom element_at(Simplifier *s, const CoreAtom *recipe, CoreAtom index, Span span)
{
    const CoreStatement *definition = simplify_definition(s, recipe);
    if (definition->kind == CORE_EACH) {
        CoreAtom *elements = ARENA_ARRAY(s->arena, CoreAtom, definition->argument_count);
        for (uint32_t i = 0; i < definition->argument_count; i++)
            elements[i] = element_at(s, &definition->arguments[i], index, span);
        return simplify_inline_block(s, definition->blocks[0], elements);
    }
    if (definition->op != OP_SEQ)
        return range_element(s, definition, index);
    TypeId type = type_element(s->types, recipe->type);
    return emit_op(s, OP_INSIDE, type, span, simplify_resolve(s, definition->arguments[0]), &index);
}

typedef struct Part {
    CoreAtom start, length;
    Span span;
} Part;

static CoreAtom slice_of(Simplifier *s, CoreAtom vector, const Part *part)
{
    CoreAtom arguments[] = {vector, part->start, part->length};
    return simplify_emit_op(s, OP_SLICE, vector.type, part->span, arguments, 3);
}

typedef struct RangePart {
    const CoreStatement *range;
    const Part *part;
} RangePart;

static CoreAtom part_element(Simplifier *s, CoreAtom index, const void *context)
{
    const RangePart *of = context;
    CoreAtom start = of->part->start;
    return range_element(s, of->range, emit_op(s, OP_ADD, TYPE_INT, of->part->span, index, &start));
}

/* A source of a recipe, or a part of it. */
static CoreAtom traverse_source(Simplifier *s, const CoreStatement *source, TypeId type, const Part *part)
{
    if (part == NULL) {
        CoreStatement again = *source;
        again.arguments = ARENA_ARRAY(s->arena, CoreAtom, source->argument_count);
        for (uint32_t i = 0; i < source->argument_count; i++)
            again.arguments[i] = simplify_resolve(s, source->arguments[i]);
        return simplify_emit(s, &again, type, 0, 0);
    }
    if (source->op == OP_SEQ)
        return emit_op(s, OP_SEQ, type, source->span, slice_of(s, simplify_resolve(s, source->arguments[0]), part), NULL);
    CoreAtom indices = emit_op(s, OP_INDICES, type_sequence(s->types, TYPE_INT), source->span, part->length, NULL);
    return simplify_emit_each(s, indices, source->span, part_element, &(RangePart){source, part});
}

/* The recipe made again, a traversal of its own; or a part of that. */
static CoreAtom traverse(Simplifier *s, const CoreAtom *recipe, const Part *part)
{
    const CoreStatement *definition = simplify_definition(s, recipe);
    if (definition->kind == CORE_OP)
        return traverse_source(s, definition, recipe->type, part);
    CoreStatement again = *definition;
    again.arguments = ARENA_ARRAY(s->arena, CoreAtom, definition->argument_count);
    for (uint32_t i = 0; i < definition->argument_count; i++)
        again.arguments[i] = traverse(s, &definition->arguments[i], part);
    again.blocks[0] = simplify_copy_body(s, definition->blocks[0], again.arguments);
    return simplify_emit(s, &again, recipe->type, 0, 0);
}

static CoreAtom traverse_vector(Simplifier *s, const CoreAtom *vector, Span span)
{
    if (is_delayed(s, vector) && simplify_is_join(simplify_definition(s, vector)))
        return simplify_traverse_join(s, simplify_definition(s, vector), simplify_pull_facts(s, vector->variable)->size);
    if (is_delayed(s, vector))
        return traverse(s, &simplify_pull_facts(s, vector->variable)->definition->arguments[0], NULL);
    TypeId type = type_sequence(s->types, type_element(s->types, vector->type));
    return emit_op(s, OP_SEQ, type, span, simplify_resolve(s, *vector), NULL);
}

/* Which elements a statement takes of a vector of this size. */
static Part part_of(Simplifier *s, const CoreStatement *statement, CoreAtom size)
{
    Part part = {.start = core_int(0), .span = statement->span};
    CoreAtom arguments[] = {size, simplify_resolve(s, statement->arguments[1]), size};
    switch ((int)statement->op) {
    case OP_TAKE:
        part.length = simplify_emit_op(s, OP_TAKEN, TYPE_INT, part.span, arguments, 2);
        return part;
    case OP_DROP:
        part.start = simplify_emit_op(s, OP_DROPPED, TYPE_INT, part.span, arguments, 2);
        part.length = emit_op(s, OP_SUBTRACT, TYPE_INT, part.span, size, &part.start);
        return part;
    }
    part.start = arguments[1];
    part.length = arguments[2] = simplify_resolve(s, statement->arguments[2]);
    if (statement->op == OP_SUBSEQ)
        part.length = simplify_emit_op(s, OP_SUBSEQ_LENGTH, TYPE_INT, part.span, arguments, 3);
    return part;
}

static CoreAtom pull_part(Simplifier *s, const CoreStatement *statement)
{
    const PullFacts *facts = simplify_pull_facts(s, statement->arguments[0].variable);
    Part part = part_of(s, statement, facts->size);
    CoreAtom elements = traverse(s, &facts->definition->arguments[0], &part);
    return emit_op(s, OP_TAB, statement->arguments[0].type, statement->span, elements, NULL);
}

typedef struct Column {
    CoreAtom matrix, index;
    Span span;
} Column;

static CoreAtom column_element(Simplifier *s, CoreAtom row, const void *context)
{
    const Column *column = context;
    TypeId type = type_element(s->types, column->matrix.type);
    CoreAtom vector = emit_op(s, OP_INSIDE, type, column->span, column->matrix, &row);
    return emit_op(s, OP_INSIDE, type_element(s->types, type), column->span, vector, &column->index);
}

/* An element of a transposed matrix. */
static CoreAtom emit_column(Simplifier *s, CoreAtom matrix, CoreAtom index, Span span)
{
    CoreAtom height = emit_op(s, OP_LENGTH, TYPE_INT, span, matrix, NULL);
    CoreAtom indices = emit_op(s, OP_INDICES, type_sequence(s->types, TYPE_INT), span, height, NULL);
    CoreAtom elements = simplify_emit_each(s, indices, span, column_element, &(Column){matrix, index, span});
    return emit_op(s, OP_TAB, type_element(s->types, matrix.type), span, elements, NULL);
}

static CoreAtom pull_element(Simplifier *s, const CoreStatement *statement)
{
    const PullFacts *facts = simplify_pull_facts(s, statement->arguments[0].variable);
    const CoreStatement *definition = facts->definition;
    CoreAtom size = facts->size, index = simplify_resolve(s, statement->arguments[1]);
    if (statement->op == OP_ELEMENT)
        index = emit_op(s, OP_CHECKED_INDEX, TYPE_INT, statement->span, index, &size);
    if (simplify_is_join(definition))
        return simplify_join_element(s, definition, index);
    if (definition->op == OP_TRANSPOSE)
        return emit_column(s, simplify_resolve(s, definition->arguments[0]), index, statement->span);
    return element_at(s, &definition->arguments[0], index, statement->span);
}

static CoreAtom pull_comparison(Simplifier *s, const CoreStatement *statement)
{
    CoreAtom first = traverse_vector(s, &statement->arguments[0], statement->span);
    CoreAtom second = traverse_vector(s, &statement->arguments[1], statement->span);
    return emit_op(s, statement->op, TYPE_BOOL, statement->span, first, &second);
}

static CoreAtom pull_rows(Simplifier *s, const CoreStatement *statement, TypeId type)
{
    const CoreStatement *each = simplify_definition(s, &simplify_pull_facts(s, statement->arguments[0].variable)->definition->arguments[0]);
    CoreStatement again = *each;
    again.arguments = ARENA_ARRAY(s->arena, CoreAtom, each->argument_count);
    for (uint32_t i = 0; i < each->argument_count; i++)
        again.arguments[i] = simplify_resolve(s, each->arguments[i]);
    CoreBlock body = *each->blocks[0];
    body.result = row_of(s, each->blocks[0])->arguments[0];
    again.blocks[0] = simplify_copy_body(s, &body, again.arguments);
    CoreAtom rows = simplify_emit(s, &again, type_sequence(s->types, body.result.type), 0, 0);
    CoreAtom elements = emit_op(s, OP_CONCAT, body.result.type, statement->span, rows, NULL);
    return emit_op(s, OP_TAB, type, statement->span, elements, NULL);
}

bool simplify_pull(Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    if (statement->kind != CORE_OP || statement->argument_count == 0)
        return false;
    bool is_first = is_delayed(s, &statement->arguments[0]);
    bool is_second = statement->argument_count == 2 && is_delayed(s, &statement->arguments[1]);
    if (!is_first && !is_second)
        return false;
    if (statement->op == OP_ELEMENT || statement->op == OP_INSIDE)
        *value = pull_element(s, statement);
    else if (is_comparison(statement->op))
        *value = pull_comparison(s, statement);
    else if (is_part(statement->op))
        *value = pull_part(s, statement);
    else if (joins_rows(statement->op))
        *value = pull_rows(s, statement, type);
    else if (statement->op == OP_SEQ)
        *value = traverse_vector(s, &statement->arguments[0], statement->span);
    else
        *value = emit_op(s, statement->op, type, statement->span,
                         traverse_vector(s, &statement->arguments[0], statement->span), NULL);
    return true;
}

/* After a delayed vector was bound: its size is said where it stands. */
void simplify_note_delayed(Simplifier *s, const CoreStatement *statement)
{
    if (!simplify_pull_facts(s, statement->target)->is_delayed)
        return;
    CoreAtom vector = core_atom(s->to, statement->target);
    CoreAtom size = emit_op(s, OP_LENGTH, TYPE_INT, statement->span, simplify_resolve(s, vector), NULL);
    simplify_pull_facts(s, statement->target)->size = size;
}
