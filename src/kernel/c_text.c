#include "kernel/c_text.h"

#include <string.h>

void c_line(Text *out, uint32_t depth, const char *format, va_list arguments)
{
    text_add_repeated(out, ' ', depth * C_INDENT);
    text_add_list(out, format, arguments);
    text_add_char(out, '\n');
}

/* Without anything that could end the comment or mean something to the compiler. */
static void add_harmless(Text *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool is_plain = c >= ' ' && c < 0x7f && c != '\\' && c != '?' && !(c == '/' && i > 0 && bytes[i - 1] == '*') &&
                        !(c == '*' && i > 0 && bytes[i - 1] == '/');
        text_add_char(out, is_plain ? (char)c : c == '/' || c == '*' ? ' ' : '.');
    }
}

void c_source(Text *out, uint32_t depth, const Sources *sources, Span span, uint32_t *shown)
{
    if (span.start == 0 || sources == NULL)
        return;
    Location location = sources_locate(sources, span.start);
    if (location.source == NULL || location.line == *shown)
        return;
    *shown = location.line;
    const char *text = location.source->text + location.source->line_starts[location.line - 1];
    size_t length = strcspn(text, "\n"), blanks = strspn(text, " \t");
    text_add_repeated(out, ' ', depth * C_INDENT);
    text_addf(out, "/* line %u: ", location.line);
    add_harmless(out, text + (blanks < length ? blanks : length), blanks < length ? length - blanks : 0);
    text_add(out, " */\n");
}

size_t c_name(const char *name, char word[C_NAME_MAX + 1])
{
    size_t length = 0;
    for (const char *c = name; *c != '\0' && length < C_NAME_MAX; c++)
        if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' || (*c >= '0' && *c <= '9' && length > 0))
            word[length++] = *c;
    word[length] = '\0';
    return length;
}
