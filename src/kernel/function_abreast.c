/* Several turns of a loop at once. Where a body computes sums of floats over as many elements in every turn, as
 *
 *     {sum({(x - y) * (x - y) : x in point; y in centre}) : centre in centres}
 *
 * the sums of several turns are one loop: what they have in common is read once, and no turn waits for the sum of the one before. The turns that are left are taken one by one.
 *
 * The statements of the body are written one after the other, each in all turns; its variables have other values in each of them. Whether the sums can be one loop is found by writing it: if not,
 * what was written is taken back. */
#include "kernel/function_supply.h"

struct Abreast {
    const CoreBlock *block;
    uint32_t count;
    const char ***values[REDUCE_TOGETHER]; /* by turn: those of the block's variables; while it has them, those that it took the place of */
    const char *mark;
    bool is_refused;
};

/* ---- which loops ---- */

/* Whether it is computed without a loop, or is a sequence whose elements are. */
static bool is_straight(const Writer *writer, CoreStatement *statement)
{
    if (writer->texts->shapes[statement->target].is_delayed)
        return statement->blocks[0] == NULL || shape_is_straight(writer->texts, statement->blocks[0]);
    return shape_is_straight(writer->texts, &(CoreBlock){.statements = statement, .statement_count = 1});
}

/* How many turns have no more sums than stay in registers; one if there is no sum, if something else takes a loop, or if turns cannot be begun again one by one (abreast_end_if). */
static uint32_t find_count(const Writer *writer, const Supply *supply)
{
    const CoreBlock *block = supply->kind == SUPPLY_EACH && supply->table == NULL ? supply->statement->blocks[0] : NULL;
    if (block == NULL || supply_has_scan(supply) || shape_gives_up(block) || (!block->result.is_constant && writer->texts->shapes[block->result.variable].is_delayed))
        return 1;
    uint32_t sums = 0;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        bool is_sum = reduce_is_sum(writer, &block->statements[i]);
        if (!is_sum && !is_straight(writer, &block->statements[i]))
            return 1;
        sums += is_sum;
    }
    return sums > 0 && sums < REDUCE_TOGETHER ? REDUCE_TOGETHER / sums : 1;
}

/* The comprehension that computes sums, among those whose elements a loop steps through; null if there is none, or turns must wait for rows that are made for each. */
static Supply *find_sums(const Writer *writer, Supply *supply)
{
    if (supply->windows != NULL)
        return NULL;
    if (find_count(writer, supply) > 1)
        return supply;
    for (uint32_t i = 0; i < supply->member_count; i++) {
        Supply *found = find_sums(writer, supply->members[i]);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* ---- turns ---- */

static void exchange(const char ***a, const char ***b)
{
    const char **kept = *a;
    *a = *b;
    *b = kept;
}

static void exchange_values(Writer *writer, uint32_t turn)
{
    const CoreBlock *block = writer->abreast->block;
    const char ***values = writer->abreast->values[turn - 1];
    for (uint32_t i = 0; i < block->parameter_count; i++)
        exchange(&writer->texts->values[block->parameters[i]], &values[i]);
    for (uint32_t i = 0; i < block->statement_count; i++)
        exchange(&writer->texts->values[block->statements[i].target], &values[block->parameter_count + i]);
}

uint32_t abreast_enter(Writer *writer, uint32_t turn)
{
    uint32_t before = writer->turn;
    if (writer->abreast == NULL)
        return 0;
    if (turn != before && before != 0)
        exchange_values(writer, before);
    if (turn != before && turn != 0)
        exchange_values(writer, turn);
    writer->turn = turn;
    return before;
}

uint32_t abreast_count(const Writer *writer)
{
    return writer->abreast == NULL ? 1 : writer->abreast->count;
}

void abreast_refuse(Writer *writer)
{
    if (writer->abreast != NULL)
        writer->abreast->is_refused = true;
}

void abreast_end_if(Writer *writer, const char *condition)
{
    write_open_brace(writer, arena_format(writer->arena, "if (%s)", condition));
    write_line(writer, "kernel_release(%s, %s);", writer->aside, writer->abreast->mark);
    write_line(writer, "break;");
    write_close_brace(writer);
}

/* ---- loops ---- */

static void write_parameters(Writer *writer, const Supply *sums, const char **indices)
{
    const Abreast *abreast = writer->abreast;
    for (uint32_t turn = 1; turn <= abreast->count; turn++) {
        abreast_enter(writer, turn);
        for (uint32_t i = 0; i < sums->member_count; i++)
            supply_bind(writer, abreast->block->parameters[i], supply_step(writer, sums->members[i], indices[turn - 1]));
    }
}

/* Sums find their turns themselves. */
static void write_body(Writer *writer)
{
    const Abreast *abreast = writer->abreast;
    for (uint32_t i = 0; i < abreast->block->statement_count; i++) {
        bool is_sum = reduce_is_sum(writer, &abreast->block->statements[i]);
        for (uint32_t turn = 1; turn <= (is_sum ? 1 : abreast->count); turn++) {
            abreast_enter(writer, is_sum ? 0 : turn);
            write_statement_of(writer, abreast->block, i);
        }
    }
}

/* What the sums' comprehension gives in each turn, by all of the body. */
static void write_sums(Writer *writer, const Supply *sums, const char **indices, const char ***words)
{
    Abreast *abreast = writer->abreast;
    for (uint32_t i = 0; i < abreast->count; i++)
        abreast->values[i] = ARENA_ARRAY(writer->arena, const char **, abreast->block->parameter_count + abreast->block->statement_count);
    write_parameters(writer, sums, indices);
    write_body(writer);
    for (uint32_t turn = 1; turn <= abreast->count; turn++) {
        abreast_enter(writer, turn);
        words[turn - 1] = write_atom(writer, &abreast->block->result);
    }
    abreast_enter(writer, 0);
}

/* The rest of each turn follows when the sums are there, as it is without them: it may have loops of its own. */
static void write_turns(Writer *writer, Supply *each, Supply *sums, Sink *sink, const char *first)
{
    uint32_t count = writer->abreast->count;
    const char *indices[REDUCE_TOGETHER] = {first}, **words[REDUCE_TOGETHER];
    for (uint32_t i = 1; i < count; i++) {
        indices[i] = write_word(writer, 0);
        write_line(writer, "const int64_t %s = %s + %u;", indices[i], first, i);
    }
    write_sums(writer, sums, indices, words);
    writer->abreast = NULL;
    for (uint32_t i = 0; i < count; i++) {
        sums->given = words[i];
        supply_give_turn(writer, each, sink, indices[i]);
    }
    sums->given = NULL;
}

const char *abreast_write(Writer *writer, Supply *each, Sink *sink, const char *first, const char *end)
{
    Supply *sums = writer->is_deferred || writer->abreast != NULL ? NULL : find_sums(writer, each);
    if (sums == NULL)
        return first;
    Writer before = *writer;
    size_t length = writer->out->length;
    Abreast abreast = {.block = sums->statement->blocks[0], .count = find_count(writer, sums)};
    const char *index = write_word(writer, 0);
    write_line(writer, "int64_t %s = %s;", index, first);
    write_open_brace(writer, arena_format(writer->arena, "for (; %s - %s >= %u; %s += %u)", end, index, abreast.count, index, abreast.count));
    writer->has_unshared |= writer->loops == 0;
    writer->loops++;
    Around around = supply_open_turn(writer, false, false, sink);
    abreast.mark = around.mark;
    writer->abreast = &abreast;
    write_turns(writer, each, sums, sink, index);
    supply_close_turn(writer, around);
    writer->loops--;
    write_close_brace(writer);
    if (!abreast.is_refused)
        return index;
    *writer = before;
    text_cut(writer->out, length);
    return first;
}
