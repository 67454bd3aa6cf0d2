/* Reductions of sequential versions by operators that are functions. */
#include "kernel/function_combine.h"

#include "core/builtin_operator.h"
#include "kernel/function_share.h"

const CoreBlock *reduce_operator(const Writer *writer, const CoreStatement *statement)
{
    return statement->function == 0 ? NULL : writer->program->functions.items[statement->function]->body;
}

bool reduce_is_straight(const Writer *writer, const CoreStatement *statement)
{
    return !writer->program->functions.items[statement->function]->is_recursive && shape_is_straight(writer->texts, reduce_operator(writer, statement));
}

static void bind_operator(Writer *writer, const CoreStatement *statement, const char **a, const char **b)
{
    const CoreBlock *body = reduce_operator(writer, statement);
    for (uint32_t i = 0; i < statement->captured_count; i++)
        writer->texts->values[body->parameters[i]] = write_atom(writer, &statement->captured[i]);
    writer->texts->values[body->parameters[statement->captured_count]] = a;
    writer->texts->values[body->parameters[statement->captured_count + 1]] = b;
}

const char **reduce_apply(Writer *writer, const CoreStatement *statement, const char **a, const char **b)
{
    const CoreBlock *body = reduce_operator(writer, statement);
    if (!reduce_is_straight(writer, statement) || shape_gives_up(body)) {
        vectors_refuse(writer);
        return a;
    }
    bind_operator(writer, statement, a, b);
    write_statements(writer, body);
    return write_atom(writer, &body->result);
}

const char **reduce_declare(Writer *writer, const Layout *layout, const char **values)
{
    const char **words = ARENA_ARRAY(writer->arena, const char *, layout->count);
    for (uint32_t i = 0; i < layout->count; i++) {
        words[i] = write_word(writer, 0);
        write_line(writer, "%s %s = %s;", write_leaf_type(layout->leaves[i].type), words[i], values == NULL ? "0" : values[i]);
    }
    return words;
}

/* All at once: a value that is among the targets is kept before it is overwritten. */
void reduce_assign(Writer *writer, const Layout *layout, const char **targets, const char **values)
{
    const char **kept = ARENA_ARRAY(writer->arena, const char *, layout->count);
    for (uint32_t i = 0; i < layout->count; i++) {
        kept[i] = values[i];
        for (uint32_t before = 0; before < i && kept[i] == values[i]; before++)
            if (values[i] == targets[before] && values[before] != targets[before]) {
                kept[i] = write_word(writer, 0);
                write_line(writer, "const %s %s = %s;", write_leaf_type(layout->leaves[i].type), kept[i], values[i]);
            }
    }
    for (uint32_t i = 0; i < layout->count; i++)
        if (kept[i] != targets[i])
            write_line(writer, "%s = %s;", targets[i], kept[i]);
}

/* The result goes to variables that may be among the operands. */
void combination_apply(Writer *writer, const Combination *combination, const char **to, const char **a, const char **b)
{
    reduce_assign(writer, combination->layout, to, reduce_apply(writer, combination->statement, a, b));
}

void combination_take_of_block(Writer *writer, Sink *sink, Element element)
{
    const Combination *c = (const Combination *)(const void *)sink;
    write_open_if(writer, "if (%s++ == 0)", c->count);
    reduce_assign(writer, c->layout, c->local, element.words);
    write_else(writer);
    combination_apply(writer, c, c->local, c->local, element.words);
    write_close_brace(writer);
}

static void take_combining(Writer *writer, Sink *sink, Element element)
{
    const Combination *c = (const Combination *)(const void *)sink;
    write_open_if(writer, "if ((%s & (COMBINE_BLOCK - 1)) == 0)", c->count);
    write_open_if(writer, "if (%s > COMBINE_BLOCK)", c->count);
    combination_apply(writer, c, c->carry, c->carry, c->local);
    write_else(writer);
    reduce_assign(writer, c->layout, c->carry, c->local);
    write_close_brace(writer);
    reduce_assign(writer, c->layout, c->local, element.words);
    write_else(writer);
    combination_apply(writer, c, c->local, c->local, element.words);
    write_close_brace(writer);
    write_line(writer, "%s++;", c->count);
}

Combination combination_new(Writer *writer, const CoreStatement *statement, TypeId element)
{
    Combination combination = {.statement = statement, .layout = write_layout(writer, element)};
    if (layout_has_arrays(combination.layout))
        vectors_refuse(writer);
    combination.local = reduce_declare(writer, combination.layout, NULL);
    combination.carry = reduce_declare(writer, combination.layout, NULL);
    combination.count = write_word(writer, 0);
    write_line(writer, "int64_t %s = 0;", combination.count);
    return combination;
}

/* An operator that gives one of its operands (kernel/function_fold.c): many elements at once are asked whether any is picked. */
typedef struct Picking {
    Sink sink;
    const Combination *combination;
    const Pick *pick;
    const char *picks; /* a flag; null where elements are picked */
} Picking;

static void take_first(Writer *writer, Sink *sink, Element element)
{
    const Combination *c = ((const Picking *)(const void *)sink)->combination;
    reduce_assign(writer, c->layout, c->local, element.words);
}

static void take_picking(Writer *writer, Sink *sink, Element element)
{
    const Picking *picking = (const Picking *)(const void *)sink;
    const Combination *c = picking->combination;
    bind_operator(writer, c->statement, c->local, element.words);
    if (picking->picks != NULL) {
        fold_write_condition(writer, picking->pick, arena_format(writer->arena, "%s |= %%s%%s;", picking->picks));
        return;
    }
    fold_write_condition(writer, picking->pick, "if (%s%s) {");
    writer->depth++;
    reduce_assign(writer, c->layout, c->local, element.words);
    write_close_brace(writer);
}

struct PickedFold {
    Traversal *traversal;
    Combination combination;
    Pick pick;
};

PickedFold *reduce_begin_picking(Writer *writer, const CoreStatement *statement, Traversal *traversal)
{
    Pick pick;
    if (!sequence_is_exact(traversal) || !sequence_is_straight(writer, traversal) || !sequence_is_repeatable(traversal) || writer->is_deferred ||
        !fold_find_pick(writer->texts, reduce_operator(writer, statement), &pick))
        return NULL;
    PickedFold *fold = ARENA_NEW(writer->arena, PickedFold);
    *fold = (PickedFold){traversal, combination_new(writer, statement, write_type(writer, statement->target)), pick};
    return fold;
}

/* What the block comes to is combined with those before. */
void combination_carry(Writer *writer, const Combination *c, const char *block)
{
    write_open_if(writer, "if (%s > 0)", block);
    combination_apply(writer, c, c->carry, c->carry, c->local);
    write_else(writer);
    reduce_assign(writer, c->layout, c->carry, c->local);
    write_close_brace(writer);
}

static void pick_of_block(Writer *writer, const PickedFold *fold, const char *block, const char *block_end)
{
    const Combination *c = &fold->combination;
    const char *strip = write_word(writer, 0), *strip_end = write_word(writer, 0);
    Picking picking = {.sink = {.take = take_first, .is_straight = true}, .combination = c, .pick = &fold->pick, .picks = write_word(writer, 0)};
    sequence_traverse_part(writer, fold->traversal, &picking.sink, block, arena_format(writer->arena, "%s + 1", block));
    picking.sink.take = take_picking;
    picking.sink.applied = reduce_operator(writer, c->statement);
    reduce_open_strips(writer, strip, arena_format(writer->arena, "%s + 1", block), block_end, "KERNEL_FOLD_STRIP", strip_end);
    write_line(writer, "uint8_t %s = 0;", picking.picks);
    sequence_traverse_part(writer, fold->traversal, &picking.sink, strip, strip_end);
    write_open_if(writer, "if (%s)", picking.picks);
    picking.picks = NULL;
    sequence_traverse_part(writer, fold->traversal, &picking.sink, strip, strip_end);
    write_close_brace(writer);
    write_close_brace(writer);
}

void reduce_pick_in_block(Writer *writer, const PickedFold *fold, const char *block, const char *block_end)
{
    pick_of_block(writer, fold, block, block_end);
    combination_carry(writer, &fold->combination, block);
}

const char **reduce_picked(const PickedFold *fold)
{
    return fold->combination.carry;
}

void reduce_end_picking(Writer *writer, const CoreStatement *statement, const char **picked, const char *count)
{
    const char **empty = write_atom(writer, &statement->arguments[0]);
    write_open_if(writer, "if (%s == 0)", count);
    reduce_assign(writer, write_layout(writer, write_type(writer, statement->target)), picked, empty);
    write_close_brace(writer);
    writer->texts->values[statement->target] = picked;
}

/* Block by block of the order of combination, all before the next. */
static void write_own_blocks(Writer *writer, const PickedFold *fold, const char *length)
{
    const char *block = write_word(writer, 0), *block_end = write_word(writer, 0);
    reduce_open_strips(writer, block, "0", length, "COMBINE_BLOCK", block_end);
    reduce_pick_in_block(writer, fold, block, block_end);
    write_close_brace(writer);
}

/* Between memory and the value of a block. */
void combination_move(Writer *writer, const Combination *c, const char *table, const char *length, const char *block, bool stores)
{
    for (uint32_t i = 0; i < c->layout->count; i++) {
        const char *word = c->local[i], *cell = share_block_cell(writer, table, length, i, block);
        write_line(writer, "__builtin_memcpy(&%s, &%s, sizeof %s);", stores ? cell : word, stores ? word : cell, word);
    }
}

/* The same by threads that share the blocks. */
static void write_shared_blocks(Writer *writer, Combination *c, Traversal *traversal, const PickedFold *fold)
{
    const char *length = sequence_most(traversal), *block = write_word(writer, 0), *block_end = write_word(writer, 0), *joined = write_word(writer, 0);
    Share share = share_begin(writer, traversal, length, "COMBINE_BLOCK");
    const char *table = share_new_blocks(writer, length, c->layout->count);
    reduce_open_strips(writer, block, share.first, share.end, "COMBINE_BLOCK", block_end);
    if (fold != NULL)
        pick_of_block(writer, fold, block, block_end);
    else {
        c->sink.take = combination_take_of_block;
        write_line(writer, "%s = 0;", c->count);
        sequence_traverse_part(writer, traversal, &c->sink, block, block_end);
    }
    write_open_if(writer, "if (%s == NULL)", table);
    combination_carry(writer, c, block);
    write_else(writer);
    combination_move(writer, c, table, length, block, true);
    write_close_brace(writer);
    write_close_brace(writer);
    share_end(writer, &share);
    write_open_if(writer, "if (%s != NULL)", table);
    share_meet(writer);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = 0; %s < %s; %s += COMBINE_BLOCK)", joined, joined, length, joined));
    combination_move(writer, c, table, length, joined, false);
    combination_carry(writer, c, joined);
    write_close_brace(writer);
    write_close_brace(writer);
}

static bool write_pick_combination(Writer *writer, const CoreStatement *statement, Traversal *traversal)
{
    PickedFold *fold = reduce_begin_picking(writer, statement, traversal);
    if (fold == NULL)
        return false;
    if (share_is_possible(writer, traversal))
        write_shared_blocks(writer, &fold->combination, traversal, fold);
    else
        write_own_blocks(writer, fold, sequence_most(traversal));
    reduce_end_picking(writer, statement, reduce_picked(fold), sequence_most(traversal));
    return true;
}

/* The operators of the components of an operator that is built in and gives the same in every order; 0 if it is none. */
static uint32_t exact_operators(const Writer *writer, const CoreStatement *statement, const Layout *layout, const BuiltinOperator **operators)
{
    uint32_t count = builtin_operators(reduce_operator(writer, statement), statement->captured_count, operators);
    for (uint32_t i = 0; i < count; i++)
        if (!builtin_is_exact(operators[i], (ScalarType)layout->leaves[i].type))
            return 0;
    return count;
}

typedef struct ExactCombination {
    Sink sink;
    const Layout *layout;
    const BuiltinOperator *operators[BUILTIN_COMPONENTS_MAX];
    const char *totals[BUILTIN_COMPONENTS_MAX];
    const char *count;
} ExactCombination;

static void take_components(Writer *writer, Sink *sink, Element element)
{
    const ExactCombination *c = (const ExactCombination *)(const void *)sink;
    for (uint32_t i = 0; i < c->layout->count; i++)
        reduce_write_step(writer, c->operators[i]->reduction, (ScalarType)c->layout->leaves[i].type, c->totals[i], element.words[i]);
    write_line(writer, "%s++;", c->count);
}

static void write_shared_components(Writer *writer, ExactCombination *c, Traversal *traversal)
{
    sequence_traverse_shared(writer, traversal, &c->sink);
    for (uint32_t i = 0; i < c->layout->count; i++) {
        ScalarType type = (ScalarType)c->layout->leaves[i].type;
        Op operator = c->operators[i]->reduction;
        reduce_write_step(writer, operator, type, c->totals[i], share_open_totals(writer, reduce_total_type(operator, type), c->totals[i]));
        share_close_totals(writer);
    }
    write_line(writer, "%s += %s;", c->count, share_open_totals(writer, "int64_t", c->count));
    share_close_totals(writer);
}

static bool write_exact_combination(Writer *writer, const CoreStatement *statement)
{
    ExactCombination c = {.layout = write_layout(writer, write_type(writer, statement->target)), .sink = {.take = take_components, .is_straight = true}};
    if (exact_operators(writer, statement, c.layout, c.operators) == 0)
        return false;
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[1]);
    const char **empty = write_atom(writer, &statement->arguments[0]), **targets = write_new_words(writer, statement->target);
    c.count = write_word(writer, 0);
    write_line(writer, "int64_t %s = 0;", c.count);
    for (uint32_t i = 0; i < c.layout->count; i++) {
        ScalarType type = (ScalarType)c.layout->leaves[i].type;
        const char *total_c = reduce_total_type(c.operators[i]->reduction, type);
        c.totals[i] = write_word(writer, 0);
        *writer->types |= (ClassSet)1 << type;
        write_line(writer, "%s %s = (%s)%s;", total_c, c.totals[i], total_c, reduce_constant(writer, type, builtin_neutral(c.operators[i], type)));
    }
    if (share_is_possible(writer, traversal))
        write_shared_components(writer, &c, traversal);
    else
        sequence_traverse(writer, traversal, &c.sink);
    for (uint32_t i = 0; i < c.layout->count; i++) {
        const char *type = write_leaf_type(c.layout->leaves[i].type);
        write_line(writer, "const %s %s = %s == 0 ? %s : (%s)%s;", type, targets[i], c.count, empty[i], type, c.totals[i]);
    }
    return true;
}

void combination_write(Writer *writer, const CoreStatement *statement)
{
    if (write_exact_combination(writer, statement))
        return;
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[1]);
    if (write_pick_combination(writer, statement, traversal))
        return;
    const char **empty = write_atom(writer, &statement->arguments[0]);
    Combination c = combination_new(writer, statement, write_type(writer, statement->target));
    c.sink = (Sink){.take = take_combining, .is_straight = true, .applied = reduce_operator(writer, statement)};
    if (sequence_is_exact(traversal) && share_is_possible(writer, traversal)) {
        write_shared_blocks(writer, &c, traversal, NULL);
        reduce_end_picking(writer, statement, c.carry, sequence_most(traversal));
        return;
    }
    sequence_traverse(writer, traversal, &c.sink);
    write_open_if(writer, "if (%s == 0)", c.count);
    reduce_assign(writer, c.layout, c.local, empty);
    write_else(writer);
    write_open_if(writer, "if (%s > COMBINE_BLOCK)", c.count);
    combination_apply(writer, &c, c.local, c.carry, c.local);
    write_close_brace(writer);
    write_close_brace(writer);
    writer->texts->values[statement->target] = c.local;
}
