/* Vectors that are never made: what is only traversed once, where it was made, is streamed through.
 *
 *     sum({x * x : x in [0:n]})  =  sum(tab(each(seq(tab(range)))))      becomes one pass, as if there were neither tab nor seq
 *
 * A vector goes through when it is used once, by an operation of the same block (so at the same points) that traverses it, and
 *  - that operation is a fold, which waits for nothing else: it takes elements as soon as they would be stored; or
 *  - the vector is made from what is *alone*: from ranges and vectors by operations in one pass, in this block, each sequence on the way used once.
 * Networks that do input or output make all their vectors: what fails must do so before anything is written.
 *
 * Why a program can still be streamed, in the words of core/streamability.c: the sources of what is alone hang together with nothing else, and
 * the traversal of the vector is a source of its own, so that joining the two closes no cycle of meetings; of all events only that
 * traversal waits for the end of what is alone, so that letting both start together closes no cycle of events. */
#include "flow/flatten_internal.h"

static ThroughFacts *facts_of(Flattener *f, CoreVar variable)
{
    while (f->through.count <= variable)
        *vec_push(f->arena, &f->through) = (ThroughFacts){0};
    return &f->through.items[variable];
}

/* ---- who uses what ---- */

static void add_use(Flattener *f, const CoreBlock *block, const CoreAtom *atom, Use use)
{
    if (atom->is_constant)
        return;
    ThroughFacts *facts = facts_of(f, atom->variable);
    facts->use_count++;
    facts->last_use = facts->block == block ? use : USE_OTHER;
}

/* How a statement uses an argument, be it a vector or a sequence. */
static Use use_of(const CoreStatement *statement, uint32_t argument)
{
    if (statement->kind != CORE_OP)
        return USE_OTHER;
    switch ((int)statement->op) {
    case OP_LENGTH:
    case OP_EMPTY:
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) case OP_##reduction:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_COUNT_TRUE:
        return USE_FOLD;
    case OP_SEQ:
    case OP_CONCAT:
    case OP_FLATTEN:
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                \
    case OP_##scan:                                                                                                    \
    case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_SCAN_INCLUSIVE:
    case OP_PREVIOUS:
    case OP_NEXT:
        return argument == 0 ? USE_TRAVERSAL : USE_OTHER;
    case OP_REDUCE:
    case OP_SCAN:
    case OP_READ:
    case OP_WRITE:
    case OP_PUT_WITH:
    case OP_MULTISCAN:
        return argument == 1 ? USE_TRAVERSAL : USE_OTHER;
    case OP_ZIP:
    case OP_INTERLEAVE:
    case OP_FLAG_MERGE:
        return USE_TRAVERSAL;
    }
    return USE_OTHER;
}

static void add_uses(Flattener *f, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        facts_of(f, block->parameters[i])->block = block;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        facts_of(f, statement->target)->block = block;
        for (uint32_t j = 0; j < statement->argument_count; j++)
            add_use(f, block, &statement->arguments[j], use_of(statement, j));
        for (uint32_t j = 0; j < statement->captured_count; j++)
            add_use(f, block, &statement->captured[j], USE_OTHER);
        for (uint32_t j = 0; j < 2; j++)
            if (statement->blocks[j] != NULL)
                add_uses(f, statement->blocks[j]);
    }
    add_use(f, block, &block->result, USE_OTHER);
}

/* ---- what goes through ---- */

/* Operations whose result is there in one pass over what they traverse. */
static bool is_one_pass(Op op)
{
    switch ((int)op) {
    case OP_TAB:
    case OP_SEQ:
    case OP_IOTA:
    case OP_INDICES:
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE:
    case OP_NESL_RANGE:
    case OP_CONCAT:
    case OP_FLATTEN:
    case OP_APPEND:
    case OP_CONS:
    case OP_SNOC:
    case OP_ZIP:
    case OP_READ:
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                \
    case OP_##scan:                                                                                                    \
    case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_SCAN:
    case OP_SCAN_INCLUSIVE:
    case OP_PREVIOUS:
    case OP_NEXT:
    case OP_WORDS:
        return true;
    }
    return false;
}

/* The parts of a vector, one after the other. */
static bool cuts_vector(const Flattener *f, const CoreStatement *statement)
{
    return statement->kind == CORE_OP && statement->op == OP_PARTITION && type_is_vector(f->types, statement->arguments[0].type) &&
           type_is_vector(f->types, statement->arguments[1].type);
}

/* Whether nothing else is traversed together with what a statement makes. Bodies of EACH see no sequences but their own (core.h). */
static bool is_alone(Flattener *f, const CoreBlock *block, const CoreStatement *statement)
{
    bool is_make = statement->kind == CORE_MAKE;
    if (!is_make && statement->kind != CORE_EACH && !(statement->kind == CORE_OP && is_one_pass(statement->op)) && !cuts_vector(f, statement))
        return false;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        if (type_is_concrete(f->types, atom->type))
            continue;
        const ThroughFacts *facts = facts_of(f, atom->variable);
        if (is_make || !facts->is_alone || facts->use_count > 1 || facts->block != block)
            return false;
    }
    return true;
}

static void find_through(Flattener *f, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        ThroughFacts *facts = facts_of(f, statement->target);
        facts->is_alone = is_alone(f, block, statement);
        bool is_stream_enough = facts->last_use == USE_FOLD || (facts->last_use == USE_TRAVERSAL && facts->is_alone);
        facts->goes_through = facts->use_count == 1 && is_stream_enough;
        for (uint32_t j = 0; j < 2; j++)
            if (statement->blocks[j] != NULL)
                find_through(f, statement->blocks[j]);
    }
}

void flatten_find_through(Flattener *f, const CoreBlock *body)
{
    add_uses(f, body);
    find_through(f, body);
}

void flatten_find_through_function(Flattener *f, CoreFunctionId function)
{
    flatten_facts(f, function);
    if (f->facts.items[function].is_through_known)
        return;
    f->facts.items[function].is_through_known = true;
    flatten_find_through(f, f->core->functions.items[function]->body);
}

bool flatten_goes_through(const Flattener *f, CoreVar variable)
{
    return !f->network->does_io && variable < f->through.count && f->through.items[variable].goes_through;
}
