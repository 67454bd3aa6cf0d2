/* What unit tests assert with: a failed check is shown with its place and counted, and the test goes on. */
#ifndef RUNNEL_TESTS_UNIT_CHECK_H
#define RUNNEL_TESTS_UNIT_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int failures;

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
#define CHECK_TEXT(found, expected) check_text((found), (expected), __FILE__, __LINE__)

static inline void check(bool condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    failures++;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
}

static inline void check_text(const char *found, const char *expected, const char *file, int line)
{
    if (strcmp(found, expected) == 0)
        return;
    failures++;
    fprintf(stderr, "%s:%d: found\n%s\nexpected\n%s\n", file, line, found, expected);
}

#endif
