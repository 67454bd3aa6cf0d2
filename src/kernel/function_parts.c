/* Loops that are written more than once: for the parts of their range in which a condition has one value, for divisors that need no correction, some, or real divisions, and for elementary functions of most operands and of all. */
#include "kernel/function_supply.h"

/* ---- conditions on the index ---- */

enum { SPLITS_MAX = 2 }; /* a loop is written for every way in which that many conditions can come out */

/* A condition in a body that holds for the first indices and then no more: index + a < b. */
typedef struct Split {
    CoreVar condition;
    const char *a, *b;
} Split;

static const CoreStatement *find_definition(const CoreBlock *block, const CoreAtom *atom)
{
    for (uint32_t i = 0; i < block->statement_count && !atom->is_constant; i++)
        if (block->statements[i].target == atom->variable)
            return &block->statements[i];
    return NULL;
}

static bool is_of_body(const CoreBlock *block, const CoreAtom *atom)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        if (!atom->is_constant && atom->variable == block->parameters[i])
            return true;
    return find_definition(block, atom) != NULL;
}

/* Whether the atom is a parameter that goes with the index. */
static bool is_index(const Supply *supply, const CoreAtom *atom)
{
    const CoreBlock *block = supply->statement->blocks[0];
    for (uint32_t i = 0; i < block->parameter_count; i++) {
        const Supply *member = supply->members[i];
        bool is_plain = member->kind == SUPPLY_RANGE && (member->words == NULL || member->words[0] == NULL);
        if (!atom->is_constant && atom->variable == block->parameters[i])
            return is_plain;
    }
    return false;
}

/* What an `if` chooses by, where that is an index, plus something, below something else: as rotating does it, and what takes elements of joined vectors. */
static bool find_split(Writer *writer, const Supply *supply, const CoreStatement *choice, Split *split)
{
    const CoreBlock *block = supply->statement->blocks[0];
    const CoreStatement *less = choice->kind == CORE_IF ? find_definition(block, &choice->arguments[0]) : NULL;
    if (less == NULL || less->kind != CORE_OP || less->op != OP_LESS || less->arguments[0].type != TYPE_INT || is_of_body(block, &less->arguments[1]))
        return false;
    *split = (Split){less->target, "0", write_atom(writer, &less->arguments[1])[0]};
    if (is_index(supply, &less->arguments[0]))
        return true;
    const CoreStatement *sum = find_definition(block, &less->arguments[0]);
    if (sum == NULL || sum->kind != CORE_OP || sum->op != OP_ADD || !is_index(supply, &sum->arguments[0]) || is_of_body(block, &sum->arguments[1]))
        return false;
    split->a = write_atom(writer, &sum->arguments[1])[0];
    return true;
}

/* The first conditions of that kind. */
static uint32_t find_splits(Writer *writer, const Supply *supply, Split *splits)
{
    uint32_t count = 0;
    const CoreBlock *block = supply->kind == SUPPLY_EACH ? supply->statement->blocks[0] : NULL;
    for (uint32_t i = 0; block != NULL && i < block->statement_count && count < SPLITS_MAX; i++) {
        bool is_new = find_split(writer, supply, &block->statements[i], &splits[count]);
        for (uint32_t k = 0; is_new && k < count; k++)
            is_new = splits[k].condition != splits[count].condition;
        count += is_new;
    }
    return count;
}

/* A loop from `first` on, before `end`, in which the conditions have one value each. */
static void loop_in_parts(Writer *writer, Supply *supply, Sink *sink, const Split *splits, uint32_t count, const char *first, const char *end)
{
    if (count == 0) {
        supply_loop(writer, supply, sink, first, end, true);
        return;
    }
    const char *middle = write_word(writer, 0);
    write_line(writer, "const int64_t %s = kernel_split(%s, %s, %s, %s, &failed);", middle, first, end, splits->a, splits->b);
    write_check(writer);
    for (uint32_t part = 0; part < 2; part++) {
        *vec_push(writer->arena, &writer->decided) = (DecidedCondition){splits->condition, part == 0};
        loop_in_parts(writer, supply, sink, splits + 1, count - 1, part == 0 ? first : middle, part == 0 ? middle : end);
        writer->decided.count--;
    }
}

/* ---- divisions by what stays the same ---- */

/* A division of floats by something that is the same in all turns. */
static bool divides_by_the_same(const Writer *writer, const CoreBlock *block, const CoreStatement *statement)
{
    const Types *types = writer->program->types;
    return statement->kind == CORE_OP && statement->op == OP_DIVIDE && type_is_scalar(types, statement->arguments[1].type) &&
           type_scalar(types, statement->arguments[1].type) == SCALAR_F64 && !statement->arguments[1].is_constant && !is_of_body(block, &statement->arguments[1]);
}

/* Whether elementary functions are computed in a turn: digits that they lose below the least numbers, as exponentials often do, would be taken for those of quotients (kernel/preamble/divide.h). */
static bool supply_has_math(const Writer *writer, const Supply *supply)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        if (supply_has_math(writer, supply->members[i]))
            return true;
    return supply->kind == SUPPLY_EACH && shape_has_math(writer->texts, supply->statement->blocks[0]);
}

static void declare_slow(Writer *writer)
{
    writer->slow = write_word(writer, 0);
    write_line(writer, "OpFlag %s = 0;", writer->slow);
}

/* Such divisions are multiplications by the reciprocal that give the same bits (kernel/preamble/divide.h). `dull` becomes a word for whether they have to be corrected for that. */
static bool find_divisors(Writer *writer, const Supply *supply, bool has_math, const char **dull)
{
    const CoreBlock *block = supply->kind == SUPPLY_EACH ? supply->statement->blocks[0] : NULL;
    for (uint32_t i = 0; block != NULL && i < block->statement_count; i++) {
        if (!divides_by_the_same(writer, block, &block->statements[i]))
            continue;
        KnownDivisor divisor = {write_atom(writer, &block->statements[i].arguments[1])[0], write_word(writer, 0)};
        if (writer->divisors.count == 0) {
            declare_slow(writer);
            *dull = write_word(writer, 0);
            write_line(writer, "OpFlag %s = 0;", *dull);
            if (!has_math)
                write_line(writer, "kernel_clear_mark(%s);", supply->length);
        }
        write_line(writer, "const KernelDivisor %s = kernel_divisor(scalars->call->workspace, %s, %s, &%s, &%s);", divisor.word, divisor.divisor, supply->length, writer->slow, *dull);
        *vec_push(writer->arena, &writer->divisors) = divisor;
    }
    return writer->divisors.count > 0;
}

/* ---- all of them ---- */

/* The loop as parts, for divisors that are known, and with elementary functions for most operands. */
typedef struct Turns {
    Supply *supply;
    Sink *sink;
    const char *first, *end;
    Split splits[SPLITS_MAX];
    uint32_t split_count;
    bool has_math;
} Turns;

static void write_parts(Writer *writer, const Turns *turns)
{
    writer->is_fast = turns->has_math;
    loop_in_parts(writer, turns->supply, turns->sink, turns->splits, turns->split_count, turns->first, turns->end);
    writer->is_fast = false;
}

static void write_with_divisors(Writer *writer, const Turns *turns, const char *dull)
{
    for (uint32_t corrects = 0; corrects < 2; corrects++) {
        writer->divide = corrects ? "kernel_divide_by" : "kernel_divide_sharply";
        writer->tests_dividends = corrects || turns->has_math;
        write_open_brace(writer, arena_format(writer->arena, corrects ? "if (!%s && %s)" : "if (!%s && !%s)", writer->slow, dull));
        write_parts(writer, turns);
        if (!writer->tests_dividends)
            write_line(writer, "%s |= kernel_find_mark();", writer->slow);
        write_close_brace(writer);
    }
    writer->divisors.count = 0;
}

void supply_traverse(Writer *writer, Supply *supply, Sink *sink, const char *first, const char *end)
{
    bool is_innermost = sink->is_straight && supply_is_straight(writer, supply) && !writer->is_deferred && supply->few == 0;
    bool has_math = is_innermost && sink->is_repeatable && supply_has_math(writer, supply);
    Turns turns = {.supply = supply, .sink = sink, .first = first, .end = end, .has_math = has_math};
    turns.split_count = is_innermost ? find_splits(writer, supply, turns.splits) : 0;
    const char *dull = NULL;
    bool has_divisors = is_innermost && sink->is_repeatable && find_divisors(writer, supply, has_math, &dull);
    if (!has_divisors && has_math)
        declare_slow(writer);
    if (has_divisors)
        write_with_divisors(writer, &turns, dull);
    else
        write_parts(writer, &turns);
    if (!has_divisors && !has_math)
        return;
    write_open_brace(writer, arena_format(writer->arena, "if (OP_RARELY(%s))", writer->slow));
    supply_loop(writer, supply, sink, first, end, true);
    write_close_brace(writer);
}
