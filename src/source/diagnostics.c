#include "source/diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    ErrorPhase phase;
} error_codes[ERROR_CODE_COUNT] = {
#define ERROR(ID, code, phase) [ERROR_##ID] = {code, PHASE_##phase},
#include "source/errors.def"
#undef ERROR
};

const char *error_code_text(ErrorCode code)
{
    return error_codes[code].text;
}

ErrorCode error_code_named(const char *text)
{
    for (ErrorCode code = 0; code < ERROR_CODE_COUNT; code++)
        if (strcmp(error_codes[code].text, text) == 0)
            return code;
    bug("error_code_named", "there is no error code %s", text);
}

ErrorPhase error_code_phase(ErrorCode code)
{
    return error_codes[code].phase;
}

void diagnostics_init(Diagnostics *diagnostics, Arena *arena, const Sources *sources)
{
    *diagnostics = (Diagnostics){.arena = arena, .sources = sources, .error_limit = DIAGNOSTICS_ERROR_LIMIT};
}

void diagnostics_clear(Diagnostics *diagnostics)
{
    diagnostics->list.count = 0;
    diagnostics->error_count = 0;
}

static const char *format_message(Diagnostics *diagnostics, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *message = arena_alloc(diagnostics->arena, (size_t)length + 1);
    vsnprintf(message, (size_t)length + 1, format, again);
    va_end(again);
    return message;
}

static void report(Diagnostics *diagnostics, Diagnostic diagnostic, const char *format, va_list arguments)
{
    if (diagnostics_is_full(diagnostics))
        return;
    diagnostic.message = format_message(diagnostics, format, arguments);
    *vec_push(diagnostics->arena, &diagnostics->list) = diagnostic;
}

void diagnostics_error(Diagnostics *diagnostics, ErrorCode code, Span span, const char *format, ...)
{
    diagnostics->error_count++;
    diagnostics->last_phase = error_code_phase(code);
    va_list arguments;
    va_start(arguments, format);
    report(diagnostics, (Diagnostic){.severity = SEVERITY_ERROR, .code = code, .span = span}, format, arguments);
    va_end(arguments);
}

void diagnostics_warning(Diagnostics *diagnostics, Span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(diagnostics, (Diagnostic){.severity = SEVERITY_WARNING, .span = span}, format, arguments);
    va_end(arguments);
}

void diagnostics_note(Diagnostics *diagnostics, Span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(diagnostics, (Diagnostic){.severity = SEVERITY_NOTE, .span = span}, format, arguments);
    va_end(arguments);
}

/* What begins and ends coloured text on a terminal; empty where there are no colours. */
typedef struct Colours {
    const char *place, *word, *end;
} Colours;

static Colours colours_of(const Diagnostics *diagnostics, Severity severity)
{
    static const char *const words[] = {
        [SEVERITY_ERROR] = "\033[1;31m", [SEVERITY_WARNING] = "\033[1;35m", [SEVERITY_NOTE] = "\033[1;36m"};
    return diagnostics->is_coloured ? (Colours){"\033[1m", words[severity], "\033[0m"} : (Colours){"", "", ""};
}

enum { SHOWN_LINE_MAX = 160 };

/* The line with a caret under the span; long lines are cut to a window around the caret. */
static void print_excerpt(Span span, Location at, Colours colours, Text *out)
{
    const Source *source = at.source;
    uint32_t start = source->line_starts[at.line - 1];
    uint32_t end = start;
    while (end < source->length && source->text[end] != '\n')
        end++;
    uint32_t column = at.column - 1;
    if (column > SHOWN_LINE_MAX / 2 && end - start > SHOWN_LINE_MAX) {
        uint32_t cut = column - SHOWN_LINE_MAX / 2;
        start += cut;
        column -= cut;
    }
    if (end - start > SHOWN_LINE_MAX)
        end = start + SHOWN_LINE_MAX;
    text_addf(out, "%5u | ", at.line);
    for (uint32_t i = start; i < end; i++) {
        char c = source->text[i];
        text_add_char(out, c == '\t' || (unsigned char)c < ' ' ? ' ' : c);
    }
    text_add(out, "\n      | ");
    text_add_repeated(out, ' ', column);
    uint32_t width = span.end > span.start ? span.end - span.start : 1;
    uint32_t room = end - start > column ? end - start - column : 1;
    text_add(out, colours.word);
    text_add_repeated(out, '^', width < room ? width : room);
    text_addf(out, "%s\n", colours.end);
}

static void print_one(const Diagnostics *diagnostics, const Diagnostic *diagnostic, Text *out)
{
    Location at = sources_locate(diagnostics->sources, diagnostic->span.start);
    Colours colours = colours_of(diagnostics, diagnostic->severity);
    if (at.source != NULL)
        text_addf(out, "%s%s:%u:%u:%s ", colours.place, at.source->path, at.line, at.column, colours.end);
    else if (diagnostic->severity != SEVERITY_NOTE)
        text_add(out, "runnel: ");
    text_add(out, colours.word);
    switch (diagnostic->severity) {
    case SEVERITY_ERROR:
        text_addf(out, "error[%s]:", error_code_text(diagnostic->code));
        break;
    case SEVERITY_WARNING:
        text_add(out, "warning:");
        break;
    case SEVERITY_NOTE:
        text_add(out, "note:");
        break;
    }
    text_addf(out, "%s %s", colours.end, diagnostic->message);
    text_add_char(out, '\n');
    if (at.source != NULL)
        print_excerpt(diagnostic->span, at, colours, out);
}

/* An error or warning and the notes after it. */
typedef struct Entry {
    uint32_t start; /* its position */
    uint32_t index; /* in the list */
} Entry;

static int compare_entries(const void *a, const void *b)
{
    const Entry *left = a, *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

void diagnostics_print(const Diagnostics *diagnostics, Text *out)
{
    uint32_t count = diagnostics->list.count, entry_count = 0;
    const Diagnostic *list = diagnostics->list.items;
    Entry *entries = ARENA_ARRAY(diagnostics->arena, Entry, count);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].severity != SEVERITY_NOTE)
            entries[entry_count++] = (Entry){list[i].span.start, i};
    qsort(entries, entry_count, sizeof *entries, compare_entries);
    for (uint32_t i = 0; i < entry_count; i++) {
        uint32_t next = entries[i].index;
        do
            print_one(diagnostics, &list[next++], out);
        while (next < count && list[next].severity == SEVERITY_NOTE);
    }
    if (diagnostics_is_full(diagnostics)) {
        uint32_t more = diagnostics->error_count - diagnostics->error_limit;
        text_addf(out, "(%u more error%s)\n", more, more == 1 ? "" : "s");
    }
}

_Noreturn void bug(const char *where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "runnel: internal error in %s: ", where);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}
