/* Vectors that are never made: what is only traversed once, where it was made, is streamed through.
 *
 *     sum({x * x : x in [0:n]})  =  sum(tab(each(seq(tab(range)))))      becomes one pass, as if there were neither tab nor seq
 *
 * A vector goes through when
 *  - it is used once, by an operation of the same block that traverses it: the two are evaluated at the same points;
 *  - it is made from a sequence that is *alone*: made in this block from ranges and vectors only, by operations on one pass, each
 *    sequence on the way used once. So nothing else is traversed together with it;
 *  - the network does no input or output: what fails must do so before anything is written.
 *
 * Why the program can still be streamed, in the words of core/streamability.c: the sources of the sequence hang together with nothing else, and
 * the traversal of the vector is a source of its own, so that joining the two adds no cycle to the forest; of all events only the vector's
 * traversal waits for the end of the sequence, so that letting both start together adds none to the order of events. */
#include "flow/flatten_internal.h"

static ThroughFacts *facts_of(Flattener *f, CoreVar variable)
{
    while (f->through.count <= variable)
        *vec_push(f->arena, &f->through) = (ThroughFacts){0};
    return &f->through.items[variable];
}

/* ---- who uses what ---- */

static void add_use(Flattener *f, const CoreBlock *block, const CoreAtom *atom, bool is_traversal)
{
    if (atom->is_constant)
        return;
    ThroughFacts *facts = facts_of(f, atom->variable);
    facts->use_count++;
    facts->is_traversed = is_traversal && facts->block == block;
}

/* Whether an operation reads an argument from front to back, be it a vector or a sequence. */
static bool is_traversal(const CoreStatement *statement, uint32_t argument)
{
    if (statement->kind != CORE_OP)
        return false;
    switch ((int)statement->op) {
    case OP_SEQ:
    case OP_CONCAT:
    case OP_FLATTEN:
    case OP_LENGTH:
    case OP_EMPTY:
    case OP_SUM:
    case OP_PRODUCT:
    case OP_MAX_VAL:
    case OP_MIN_VAL:
    case OP_ANY:
    case OP_ALL:
    case OP_PARITY:
    case OP_COUNT_TRUE:
    case OP_PLUS_SCAN:
    case OP_MULT_SCAN:
    case OP_MAX_SCAN:
    case OP_MIN_SCAN:
    case OP_OR_SCAN:
    case OP_AND_SCAN:
    case OP_XOR_SCAN:
    case OP_PLUS_SCAN_INCLUSIVE:
    case OP_MULT_SCAN_INCLUSIVE:
    case OP_MAX_SCAN_INCLUSIVE:
    case OP_MIN_SCAN_INCLUSIVE:
    case OP_OR_SCAN_INCLUSIVE:
    case OP_AND_SCAN_INCLUSIVE:
    case OP_XOR_SCAN_INCLUSIVE:
    case OP_SCAN_INCLUSIVE:
    case OP_PREVIOUS:
    case OP_NEXT:
        return argument == 0;
    case OP_REDUCE:
    case OP_SCAN:
    case OP_READ:
    case OP_WRITE:
    case OP_PUT_WITH:
    case OP_MULTISCAN:
        return argument == 1;
    case OP_ZIP:
    case OP_INTERLEAVE:
    case OP_FLAG_MERGE:
        return true;
    }
    return false;
}

static void add_uses(Flattener *f, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        facts_of(f, block->parameters[i])->block = block;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        facts_of(f, statement->target)->block = block;
        for (uint32_t j = 0; j < statement->argument_count; j++)
            add_use(f, block, &statement->arguments[j], is_traversal(statement, j));
        for (uint32_t j = 0; j < statement->captured_count; j++)
            add_use(f, block, &statement->captured[j], false);
        for (uint32_t j = 0; j < 2; j++)
            if (statement->blocks[j] != NULL)
                add_uses(f, statement->blocks[j]);
    }
    add_use(f, block, &block->result, false);
}

/* ---- what goes through ---- */

/* Operations whose result, in order, is one pass over all the containers that they traverse; each with flatten_op.c's give_container. */
static bool is_one_pass(Op op)
{
    switch ((int)op) {
    case OP_TAB:
    case OP_SEQ:
    case OP_IOTA:
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE:
    case OP_NESL_RANGE:
    case OP_CONCAT:
    case OP_FLATTEN:
    case OP_ZIP:
    case OP_READ:
    case OP_PLUS_SCAN:
    case OP_MULT_SCAN:
    case OP_MAX_SCAN:
    case OP_MIN_SCAN:
    case OP_OR_SCAN:
    case OP_AND_SCAN:
    case OP_XOR_SCAN:
    case OP_PLUS_SCAN_INCLUSIVE:
    case OP_MULT_SCAN_INCLUSIVE:
    case OP_MAX_SCAN_INCLUSIVE:
    case OP_MIN_SCAN_INCLUSIVE:
    case OP_OR_SCAN_INCLUSIVE:
    case OP_AND_SCAN_INCLUSIVE:
    case OP_XOR_SCAN_INCLUSIVE:
    case OP_SCAN:
    case OP_SCAN_INCLUSIVE:
    case OP_PREVIOUS:
    case OP_NEXT:
        return true;
    }
    return false;
}

/* Whether nothing else is traversed together with what a statement makes. Bodies of EACH see no sequences but their own (core.h). */
static bool is_alone(Flattener *f, const CoreBlock *block, const CoreStatement *statement)
{
    if (statement->kind != CORE_EACH && !(statement->kind == CORE_OP && is_one_pass(statement->op)))
        return false;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        if (type_is_concrete(f->types, atom->type))
            continue;
        const ThroughFacts *facts = facts_of(f, atom->variable);
        if (!facts->is_alone || facts->use_count > 1 || facts->block != block)
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
        facts->goes_through = facts->is_alone && statement->kind == CORE_OP && facts->use_count == 1 &&
                              facts->is_traversed;
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
