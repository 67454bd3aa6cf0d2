#include "driver/report.h"

#include "base/names.h"
#include "driver/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void show(const char *code, const char *format, va_list arguments)
{
    output_flush();
    fprintf(stderr, "runnel: error[%s]: ", code);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void report_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    show("usage", format, arguments);
    va_end(arguments);
}

void report_error(const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    show(code, format, arguments);
    va_end(arguments);
}

Suggestion suggestion_for(const char *word)
{
    /* A third of the word may be wrong, and one letter always. */
    size_t allowed = strlen(word) / 3;
    return (Suggestion){.word = word, .distance = (allowed < 1 ? 1 : (uint32_t)allowed) + 1};
}

void suggestion_try(Suggestion *suggestion, const char *name)
{
    uint32_t distance = names_distance(suggestion->word, name, suggestion->distance);
    if (distance < suggestion->distance) {
        suggestion->best = name;
        suggestion->distance = distance;
    }
}

void report_unknown(const char *kind, const Suggestion *suggestion, const char *hint)
{
    if (suggestion->best != NULL)
        report_usage("there is no %s `%s`; did you mean `%s`?", kind, suggestion->word, suggestion->best);
    else
        report_usage("there is no %s `%s`; %s", kind, suggestion->word, hint);
}
