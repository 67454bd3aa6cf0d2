#define _POSIX_C_SOURCE 200809L
#include "driver/report.h"

#include "base/names.h"
#include "driver/output.h"
#include "driver/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void show(const char *code, const char *format, va_list arguments)
{
    output_flush();
    bool is_coloured = terminal_is_coloured(STDERR_FILENO);
    fprintf(stderr, "runnel: %serror[%s]:%s ", is_coloured ? "\033[1;31m" : "", code, is_coloured ? "\033[0m" : "");
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
    /* The beginning of a name is as good as one letter wrong. */
    size_t length = strlen(suggestion->word);
    uint32_t distance = length > 1 && strncmp(suggestion->word, name, length) == 0 ? 1 : names_distance(suggestion->word, name, suggestion->distance);
    if (distance < suggestion->distance) {
        suggestion->best = name;
        suggestion->distance = distance;
    }
}

/* `a, b, c`, as much as there is room for. */
static void list_words(const char *const *words, char *list, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; words[i] != NULL && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", i == 0 ? "" : ", ", words[i]);
}

bool report_choice(const char *kind, const char *const *choices, const char *word, size_t *index)
{
    Suggestion suggestion = suggestion_for(word);
    for (size_t i = 0; choices[i] != NULL; i++) {
        *index = i;
        if (strcmp(choices[i], word) == 0)
            return true;
        suggestion_try(&suggestion, choices[i]);
    }
    char list[256] = "there are: ";
    size_t used = strlen(list);
    list_words(choices, list + used, sizeof list - used);
    report_unknown(kind, &suggestion, list);
    return false;
}

void report_unknown(const char *kind, const Suggestion *suggestion, const char *hint)
{
    if (suggestion->best != NULL)
        report_usage("there is no %s `%s`; did you mean `%s`?", kind, suggestion->word, suggestion->best);
    else
        report_usage("there is no %s `%s`; %s", kind, suggestion->word, hint);
}
