/* Loops of sequential versions that threads share which do a point together (KernelCall.together): each does a part of their turns. What loops come to that reduce, the threads put into a table,
 * for each part of the loop or for each block of the order of combination, and each of them combines all that is there. */
#include "kernel/function_share.h"

bool share_is_possible(const Writer *writer, const Traversal *traversal)
{
    return writer->may_share && writer->loops == 0 && writer->abreast == NULL && !writer->is_deferred && sequence_is_in_parts(traversal);
}

Share share_begin(Writer *writer, const char *length, const char *grain)
{
    Share share = {write_word(writer, 0), write_word(writer, 0), writer->has_unshared};
    write_line(writer, "const int64_t %s = kernel_part(scalars->call, %s, 0, %s);", share.first, length, grain);
    write_line(writer, "const int64_t %s = kernel_part(scalars->call, %s, 1, %s);", share.end, length, grain);
    return share;
}

void share_end(Writer *writer, const Share *share)
{
    writer->has_unshared = share->had_unshared;
    writer->has_shared = true;
}

const char *share_new_table(Writer *writer, const char *count)
{
    const char *table = write_word(writer, 0);
    write_line(writer, "uint64_t *%s = NULL;", table);
    vectors_fail_if(writer, "scalars->call->together != NULL && (%s = kernel_totals(scalars->call, %s, (size_t)(%s))) == NULL", table, writer->aside, count);
    return table;
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
