/* Comment lines of both dialects, seen as carriers of directives. */
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <string.h>

static char *rnl_line(const char *line)
{
    const char *text = after_prefix(line, "--");
    return text == NULL ? NULL : checked_copy(text + (*text == ' '));
}

/* Only comments that open at the start of a line carry directives, so that `%` inside strings and
 * character literals cannot be mistaken for one. */
static char *nesl_line(DirectiveReader *reader, const char *line)
{
    const char *text = skip_blanks(line);
    if (!reader->is_in_comment) {
        if (*text != '%')
            return NULL;
        text = skip_blanks(text + 1);
    }
    size_t length = strcspn(text, "%");
    reader->is_in_comment = text[length] != '%';
    char *copy = checked_format("%.*s", (int)length, text);
    trim_end(copy);
    return copy;
}

char *directive_line(DirectiveReader *reader, const char *line)
{
    return reader->is_nesl ? nesl_line(reader, line) : rnl_line(line);
}
