/* Excerpts of differences: the lines that two texts have in common at both ends are left out. */
#include "runner.h"

#include <string.h>

enum { CONTEXT_LINES = 2, SHOWN_LINES = 12, SHOWN_COLUMNS = 200 };

static void show_lines(Buffer *report, const char *mark, const Lines *lines, size_t from, size_t to)
{
    size_t shown_to = to - from > SHOWN_LINES ? from + SHOWN_LINES : to;
    for (size_t i = from; i < shown_to; i++)
        buffer_addf(report, "    %s%.*s%s\n", mark, SHOWN_COLUMNS, lines->items[i],
                    strlen(lines->items[i]) > SHOWN_COLUMNS ? " ..." : "");
    if (shown_to < to)
        buffer_addf(report, "    %s(%zu more lines)\n", mark, to - shown_to);
}

static void show_difference(Buffer *report, const Lines *expected, const Lines *actual)
{
    size_t least = expected->count < actual->count ? expected->count : actual->count;
    size_t head = 0, tail = 0;
    while (head < least && strcmp(expected->items[head], actual->items[head]) == 0)
        head++;
    while (tail < least - head && strcmp(expected->items[expected->count - 1 - tail],
                                         actual->items[actual->count - 1 - tail]) == 0)
        tail++;
    buffer_addf(report, "    @@ line %zu @@\n", head + 1);
    show_lines(report, " ", expected, head > CONTEXT_LINES ? head - CONTEXT_LINES : 0, head);
    show_lines(report, "-", expected, head, expected->count - tail);
    show_lines(report, "+", actual, head, actual->count - tail);
}

bool compare_texts(const char *what, const char *expected, const char *actual, Buffer *report)
{
    if (strcmp(expected, actual) == 0)
        return true;
    Lines expected_lines = lines_of(expected), actual_lines = lines_of(actual);
    buffer_addf(report, "  %s (- expected, + actual)\n", what);
    show_difference(report, &expected_lines, &actual_lines);
    lines_free(&expected_lines);
    lines_free(&actual_lines);
    return false;
}

void show_text(const char *what, const char *text, Buffer *report)
{
    Lines lines = lines_of(text);
    if (lines.count > 0)
        buffer_addf(report, "  %s\n", what);
    show_lines(report, "", &lines, 0, lines.count);
    lines_free(&lines);
}
