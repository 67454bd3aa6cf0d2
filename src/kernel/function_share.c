/* Loops of sequential versions that threads share which do a point together (KernelCall.together): each does a part of their turns. Scans in them are done twice: first for what
 * the parts come to, then from there on. What loops come to that reduce, the threads put into a table,
 * for each part of the loop or for each block of the order of combination, and each of them combines all that is there. */
#include "kernel/function_share.h"

bool share_is_open(const Writer *writer)
{
    return writer->may_share && writer->loops == 0 && writer->abreast == NULL && !writer->is_deferred;
}

bool share_is_possible(const Writer *writer, const Traversal *traversal)
{
    return share_is_open(writer) && sequence_is_in_parts(traversal);
}

Share share_begin(Writer *writer, const Traversal *traversal, const char *length, const char *grain)
{
    bool has_scans = traversal != NULL && !sequence_is_repeatable(traversal);
    grain = has_scans ? "COMBINE_BLOCK" : grain;
    Share share = {write_word(writer, 0), write_word(writer, 0), writer->has_unshared};
    write_line(writer, "const int64_t %s = kernel_part(scalars->call, %s, 0, %s);", share.first, length, grain);
    write_line(writer, "const int64_t %s = kernel_part(scalars->call, %s, 1, %s);", share.end, length, grain);
    if (has_scans) {
        write_open_brace(writer, "if (scalars->call->together != NULL)");
        sequence_resume_scans(writer, traversal, &share);
        write_close_brace(writer);
    }
    return share;
}

void share_end(Writer *writer, const Share *share)
{
    writer->has_unshared = share->had_unshared;
    writer->has_shared = true;
}

const char *share_join_parts(Writer *writer, const char *region, const char *array, const char *count, const Layout *elements)
{
    const char *joined = write_word(writer, 0);
    write_line(writer, "KernelArray *const %s = kernel_join_parts(scalars->call, %s, %s, &%s, %s);", joined, region, array, count, vectors_sizes(writer, elements));
    vectors_fail_if(writer, "%s == NULL", joined);
    *vec_push(writer->arena, &writer->made) = (MadeArray){.array = joined, .region = region, .is_shared = true};
    return joined;
}

const char *share_new_table(Writer *writer, const char *count)
{
    const char *table = write_word(writer, 0);
    write_line(writer, "uint64_t *%s = NULL;", table);
    vectors_fail_if(writer, "scalars->call->together != NULL && (%s = kernel_totals(scalars->call, %s, (size_t)(%s))) == NULL", table, writer->aside, count);
    return table;
}

const char *share_new_blocks(Writer *writer, const char *length, uint32_t rows)
{
    return share_new_table(writer, arena_format(writer->arena, "%u * (%s / COMBINE_BLOCK + 1)", rows, length));
}

const char *share_block_cell(Writer *writer, const char *table, const char *length, uint32_t row, const char *first)
{
    return arena_format(writer->arena, "%s[%u * (%s / COMBINE_BLOCK + 1) + %s / COMBINE_BLOCK]", table, row, length, first);
}

void share_meet(Writer *writer)
{
    vectors_fail_if(writer, "!kernel_meet(scalars->call)");
}

const char *share_open_totals(Writer *writer, const char *c, const char *total)
{
    write_open_brace(writer, "if (scalars->call->together != NULL)");
    const char *table = share_new_table(writer, "scalars->call->together->members"), *member = write_word(writer, 0), *part = write_word(writer, 0);
    write_line(writer, "__builtin_memcpy(&%s[scalars->call->member], &%s, sizeof %s);", table, total, total);
    share_meet(writer);
    write_open_brace(writer, arena_format(writer->arena, "for (uint32_t %s = 0; %s < scalars->call->together->members; %s++)", member, member, member));
    write_line(writer, "%s %s;", c, part);
    write_line(writer, "__builtin_memcpy(&%s, &%s[%s], sizeof %s);", part, table, member, part);
    write_line(writer, "%s = %s == 0 ? %s : %s;", total, member, part, total);
    write_open_brace(writer, arena_format(writer->arena, "if (%s > 0)", member));
    return part;
}

void share_close_totals(Writer *writer)
{
    write_close_brace(writer);
    write_close_brace(writer);
    write_close_brace(writer);
}
