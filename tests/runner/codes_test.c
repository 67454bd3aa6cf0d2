/* The error codes: src/source/errors.def read as text, so that a code cannot be added without its paragraph
 * in docs/errors.md and its test in tests/errors. */
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_MAX = 64 };

typedef struct Code {
    char text[CODE_MAX];
    char phase[CODE_MAX];
} Code;

static bool parse_code(const char *line, Code *code)
{
    return sscanf(line, "ERROR(%*[A-Z0-9_], \"%63[^\"]\", %63[A-Z])", code->text, code->phase) == 2;
}

static Lines read_lines(const char *path)
{
    Buffer text = {0};
    file_read(path, &text);
    Lines lines = lines_of(buffer_text(&text));
    buffer_free(&text);
    return lines;
}

static Lines definition_lines(void)
{
    return read_lines("src/source/errors.def");
}

int code_status(const char *text)
{
    Lines lines = definition_lines();
    Code code;
    int status = -1;
    for (size_t i = 0; i < lines.count; i++)
        if (parse_code(lines.items[i], &code) && strcmp(code.text, text) == 0)
            status = strcmp(code.phase, "RUN") == 0 ? 1 : 2;
    lines_free(&lines);
    return status;
}

static TestResult documented_run(const Test *test, Buffer *report)
{
    char *heading = checked_format("## %s", test->path);
    char *quoted = checked_format("## `%s`", test->path);
    Lines lines = read_lines("docs/errors.md");
    TestResult result = TEST_FAILED;
    for (size_t i = 0; i < lines.count; i++) {
        trim_end(lines.items[i]);
        if (strcmp(lines.items[i], heading) == 0 || strcmp(lines.items[i], quoted) == 0)
            result = TEST_PASSED;
    }
    if (result == TEST_FAILED)
        buffer_addf(report, "  docs/errors.md has no section `%s`\n", heading);
    lines_free(&lines);
    free(heading);
    free(quoted);
    return result;
}

typedef struct CodeSearch {
    const char *code;
    bool is_found;
} CodeSearch;

static bool names_code(const char *line, const char *code)
{
    const char *text = after_prefix(line, "error:");
    if (text == NULL)
        return false;
    text = after_prefix(skip_blanks(text), code);
    return text != NULL && (*text == '\0' || *text == ' ');
}

/* A program names the code in an `error:` directive, a command test in what standard error holds. */
static void search_file(const char *path, void *context)
{
    CodeSearch *search = context;
    DirectiveReader reader = {.is_nesl = has_suffix(path, ".nesl")};
    bool is_command_test = has_suffix(path, ".test");
    char *mark = checked_format("error[%s]", search->code);
    Lines lines = read_lines(path);
    for (size_t i = 0; i < lines.count; i++) {
        char *line = is_command_test ? NULL : directive_line(&reader, lines.items[i]);
        search->is_found |= is_command_test ? strstr(lines.items[i], mark) != NULL
                                            : line != NULL && names_code(line, search->code);
        free(line);
    }
    lines_free(&lines);
    free(mark);
}

static TestResult tested_run(const Test *test, Buffer *report)
{
    CodeSearch search = {.code = test->path};
    files_visit("tests/errors", search_file, &search);
    if (!search.is_found)
        buffer_addf(report, "  no test in tests/errors expects this error\n");
    return search.is_found ? TEST_PASSED : TEST_FAILED;
}

void codes_collect(Tests *tests)
{
    Lines lines = definition_lines();
    Code code;
    for (size_t i = 0; i < lines.count; i++)
        if (parse_code(lines.items[i], &code)) {
            tests_add(tests, checked_format("codes/%s is documented", code.text), code.text, documented_run);
            tests_add(tests, checked_format("codes/%s is tested", code.text), code.text, tested_run);
        }
    lines_free(&lines);
}
