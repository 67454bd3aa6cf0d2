/* Scans of sequential versions. */
#include "kernel/function_combine.h"
#include "kernel/function_supply.h"

#include "kernel/op_text.h"

struct ScanState {
    Fold fold;
    ScalarType type;
    const char *state;
    const char *first;         /* what there is before the first element */
    Combination *combination;  /* by an operator that is a function, */
    const char **identity;     /* ... null if it is inclusive */
};

/* Of floats whose order matters, in the preamble. */
static const char *scan_type(const Writer *writer, const ScanState *scan)
{
    return arena_format(writer->arena, "Scan%s_%s", op_table[scan->fold.operator].id, reduce_suffix(scan->type));
}

static void start_combining(Writer *writer, ScanState *scan, const CoreStatement *statement)
{
    scan->combination = ARENA_NEW(writer->arena, Combination);
    *scan->combination = combination_new(writer, statement, write_element_type(writer, write_type(writer, statement->target)));
    scan->identity = statement->op == OP_SCAN ? write_atom(writer, &statement->arguments[0]) : NULL;
}

static const char **step_combining(Writer *writer, ScanState *scan, const char **element)
{
    const Combination *c = scan->combination;
    const char **output = reduce_declare(writer, c->layout, NULL);
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool gives = (pass == 0) == (scan->identity != NULL);
        if (gives) { /* the blocks before and the part of this one that counts, as far as there are such */
            write_open_if(writer, scan->identity != NULL ? "if (%s == 0)" : "if (false)", c->count);
            reduce_assign(writer, c->layout, output, scan->identity != NULL ? scan->identity : element);
            write_else(writer);
            write_open_if(writer, scan->identity != NULL ? "if (%s <= COMBINE_BLOCK - 1)" : "if (%s < COMBINE_BLOCK)", c->count);
            reduce_assign(writer, c->layout, output, c->local);
            write_else(writer);
            write_open_if(writer, scan->identity != NULL ? "if ((%s & (COMBINE_BLOCK - 1)) == 0)" : "if (false)", c->count);
            reduce_assign(writer, c->layout, output, c->carry);
            write_else(writer);
            combination_apply(writer, c, output, c->carry, c->local);
            write_close_brace(writer);
            write_close_brace(writer);
            write_close_brace(writer);
            continue;
        }
        write_open_if(writer, "if ((%s & (COMBINE_BLOCK - 1)) == 0)", c->count);
        reduce_assign(writer, c->layout, c->local, element);
        write_else(writer);
        combination_apply(writer, c, c->local, c->local, element);
        write_close_brace(writer);
    }
    write_open_if(writer, "if (((%s + 1) & (COMBINE_BLOCK - 1)) == 0)", c->count);
    write_open_if(writer, "if (%s < COMBINE_BLOCK)", c->count);
    reduce_assign(writer, c->layout, c->carry, c->local);
    write_else(writer);
    combination_apply(writer, c, c->carry, c->carry, c->local);
    write_close_brace(writer);
    write_close_brace(writer);
    write_line(writer, "%s++;", c->count);
    return output;
}

ScanState *reduce_scan_start(Writer *writer, const CoreStatement *statement)
{
    ScanState *scan = ARENA_NEW(writer->arena, ScanState);
    *scan = (ScanState){.state = write_word(writer, 0)};
    TypeId element = write_element_type(writer, write_type(writer, statement->target));
    if (!reduce_find_fold(statement->op, &scan->fold)) {
        start_combining(writer, scan, statement);
        return scan;
    }
    scan->type = type_scalar(writer->program->types, element);
    write_note_type(writer, element);
    scan->first = reduce_neutral(writer, scan->fold.operator, scan->type);
    if (reduce_is_ordered(scan->fold.operator, scan->type)) {
        const char *type = scan_type(writer, scan);
        write_line(writer, "%s %s;", type, scan->state);
        write_line(writer, "%s_start(&%s);", type, scan->state);
    } else {
        const char *c = reduce_total_type(scan->fold.operator, scan->type);
        write_line(writer, "%s %s = (%s)%s;", c, scan->state, c, scan->first);
    }
    return scan;
}

const char **reduce_scan_step(Writer *writer, ScanState *scan, const char **element)
{
    if (scan->combination != NULL)
        return step_combining(writer, scan, element);
    const char **words = ARENA_ARRAY(writer->arena, const char *, 1), *c = c_type(scan->type);
    words[0] = write_word(writer, 0);
    if (reduce_is_ordered(scan->fold.operator, scan->type)) {
        write_line(writer, "const %s %s = %s_next(&%s, %s, %s, %s);", c, words[0], scan_type(writer, scan), scan->state, element[0], scan->fold.is_inclusive ? "true" : "false", scan->first);
        return words;
    }
    if (scan->fold.is_inclusive)
        reduce_write_step(writer, scan->fold.operator, scan->type, scan->state, element[0]);
    write_line(writer, "const %s %s = (%s)%s;", c, words[0], c, scan->state);
    if (!scan->fold.is_inclusive)
        reduce_write_step(writer, scan->fold.operator, scan->type, scan->state, element[0]);
    return words;
}

/* ---- in parts ----
 * Each thread goes over its part once to see what it comes to, or what each of its blocks does, which all put into a table. */

typedef struct PartScan {
    Sink sink;
    ScanState *scan;
    const char *total; /* where the elements go */
} PartScan;

static void take_into_block(Writer *writer, Sink *sink, Element element)
{
    const PartScan *part = (const PartScan *)(const void *)sink;
    write_line(writer, "(void)%s_next(&%s, %s, true, %s);", scan_type(writer, part->scan), part->total, element.words[0], part->scan->first);
}

static void take_into_part(Writer *writer, Sink *sink, Element element)
{
    const PartScan *part = (const PartScan *)(const void *)sink;
    reduce_write_step(writer, part->scan->fold.operator, part->scan->type, part->total, element.words[0]);
}

/* All blocks before the part, from the first on. */
static const char *open_blocks_before(Writer *writer, const Share *share)
{
    const char *block = write_word(writer, 0);
    share_meet(writer);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = 0; %s < %s; %s += COMBINE_BLOCK)", block, block, share->first, block));
    return block;
}

static void resume_ordered(Writer *writer, ScanState *scan, Supply *operand, const Share *share)
{
    const char *table = share_new_blocks(writer, operand->length, 1), *block = write_word(writer, 0), *end = write_word(writer, 0), *type = scan_type(writer, scan);
    PartScan part = {.sink = {.take = take_into_block, .is_straight = true}, .scan = scan, .total = write_word(writer, 0)};
    reduce_open_strips(writer, block, share->first, share->end, "COMBINE_BLOCK", end);
    vectors_fail_if(writer, "kernel_is_over(scalars->call)");
    write_line(writer, "%s %s;", type, part.total);
    write_line(writer, "%s_start(&%s);", type, part.total);
    supply_loop(writer, operand, &part.sink, block, end, false);
    write_line(writer, "__builtin_memcpy(&%s[%s / COMBINE_BLOCK], &%s.carry, sizeof %s.carry);", table, block, part.total, part.total);
    write_close_brace(writer);
    const char *before = open_blocks_before(writer, share);
    write_line(writer, "%s_skip(&%s, &%s[%s / COMBINE_BLOCK]);", type, scan->state, table, before);
    write_close_brace(writer);
}

static void resume_exact(Writer *writer, ScanState *scan, Supply *operand, const Share *share)
{
    const char *c = reduce_total_type(scan->fold.operator, scan->type), *member = write_word(writer, 0), *before = write_word(writer, 0);
    PartScan part = {.sink = {.take = take_into_part, .is_straight = true}, .scan = scan, .total = write_word(writer, 0)};
    write_line(writer, "%s %s = (%s)%s;", c, part.total, c, scan->first);
    supply_loop(writer, operand, &part.sink, share->first, share->end, true);
    const char *table = share_new_table(writer, "scalars->call->together->members");
    write_line(writer, "__builtin_memcpy(&%s[scalars->call->member], &%s, sizeof %s);", table, part.total, part.total);
    share_meet(writer);
    write_open_brace(writer, arena_format(writer->arena, "for (uint32_t %s = 0; %s < scalars->call->member; %s++)", member, member, member));
    write_line(writer, "%s %s;", c, before);
    write_line(writer, "__builtin_memcpy(&%s, &%s[%s], sizeof %s);", before, table, member, before);
    reduce_write_step(writer, scan->fold.operator, scan->type, scan->state, before);
    write_close_brace(writer);
}

static void resume_combining(Writer *writer, ScanState *scan, Supply *operand, const Share *share)
{
    Combination *c = scan->combination;
    const char *table = share_new_blocks(writer, operand->length, c->layout->count), *block = write_word(writer, 0), *end = write_word(writer, 0);
    c->sink = (Sink){.take = combination_take_of_block, .is_straight = true, .applied = reduce_operator(writer, c->statement)};
    reduce_open_strips(writer, block, share->first, share->end, "COMBINE_BLOCK", end);
    vectors_fail_if(writer, "kernel_is_over(scalars->call)");
    write_line(writer, "%s = 0;", c->count);
    supply_loop(writer, operand, &c->sink, block, end, false);
    combination_move(writer, c, table, operand->length, block, true);
    write_close_brace(writer);
    const char *before = open_blocks_before(writer, share);
    combination_move(writer, c, table, operand->length, before, false);
    combination_carry(writer, c, before);
    write_close_brace(writer);
    write_line(writer, "%s = %s;", c->count, share->first);
}

void reduce_scan_resume(Writer *writer, ScanState *scan, Supply *operand, const Share *share)
{
    if (scan->combination != NULL)
        resume_combining(writer, scan, operand, share);
    else if (reduce_is_ordered(scan->fold.operator, scan->type))
        resume_ordered(writer, scan, operand, share);
    else
        resume_exact(writer, scan, operand, share);
}
