/* The operations: docs/operations.md is what the program says of itself, every operation in it is documented and
 * tested by some program in tests/operations (a directive `operation: NAME...`), and every name of NESL's is known. */
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char document[] = "docs/operations.md";
static const char nesl_names[] = "tests/operations/nesl-names.txt";

static Lines read_lines(const char *path)
{
    Buffer text = {0};
    file_read(path, &text);
    Lines lines = lines_of(buffer_text(&text));
    buffer_free(&text);
    return lines;
}

/* ---- the document ---- */

static TestResult current_run(const Test *test, Buffer *report)
{
    (void)test;
    Lines words = {0};
    lines_add(&words, settings.runnel);
    lines_add(&words, "help");
    lines_add(&words, "operations");
    Outcome outcome;
    process_run(&words, NULL, &outcome);
    Buffer committed = {0};
    file_read(document, &committed);
    bool is_good = true;
    if (settings.is_updating)
        file_write(document, buffer_text(&outcome.out));
    else
        is_good = compare_texts(document, buffer_text(&committed), buffer_text(&outcome.out), report);
    buffer_free(&committed);
    outcome_free(&outcome);
    lines_free(&words);
    return is_good ? TEST_PASSED : TEST_FAILED;
}

/* The name in a row of the document's tables, to be freed; null for other lines. */
static char *row_name(const char *line)
{
    const char *start = after_prefix(line, "| `");
    const char *end = start == NULL ? NULL : strstr(start, "` |");
    return end == NULL ? NULL : checked_format("%.*s", (int)(end - start), start);
}

static TestResult documented_run(const Test *test, Buffer *report)
{
    (void)test;
    Lines lines = read_lines(document);
    TestResult result = TEST_PASSED;
    for (size_t i = 0; i < lines.count; i++) {
        char *name = row_name(lines.items[i]);
        if (name != NULL && has_suffix(lines.items[i], "|  |")) {
            buffer_addf(report, "  %s has no documentation\n", name);
            result = TEST_FAILED;
        }
        free(name);
    }
    lines_free(&lines);
    return result;
}

/* ---- tests ---- */

/* The text of a comment line, to be freed; null for other lines. */
static char *comment(DirectiveReader *reader, bool is_command_test, const char *line)
{
    if (!is_command_test)
        return directive_line(reader, line);
    const char *text = after_prefix(line, "# ");
    return text == NULL ? NULL : checked_copy(text);
}

static void collect_tested(const char *path, void *context)
{
    Lines *tested = context;
    DirectiveReader reader = {.is_nesl = has_suffix(path, ".nesl")};
    bool is_command_test = has_suffix(path, ".test");
    Lines lines = read_lines(path);
    for (size_t i = 0; i < lines.count; i++) {
        char *line = comment(&reader, is_command_test, lines.items[i]);
        const char *names = line == NULL ? NULL : after_prefix(line, "operation:");
        if (names != NULL) {
            Lines words = words_of(names);
            for (size_t k = 0; k < words.count; k++)
                lines_add(tested, words.items[k]);
            lines_free(&words);
        }
        free(line);
    }
    lines_free(&lines);
}

static bool contains(const Lines *lines, const char *text)
{
    for (size_t i = 0; i < lines->count; i++)
        if (strcmp(lines->items[i], text) == 0)
            return true;
    return false;
}

static TestResult tested_run(const Test *test, Buffer *report)
{
    (void)test;
    Lines tested = {0}, rows = read_lines(document);
    files_visit("tests/operations", collect_tested, &tested);
    size_t missing = 0;
    for (size_t i = 0; i < rows.count; i++) {
        char *name = row_name(rows.items[i]);
        if (name != NULL && !contains(&tested, name)) {
            buffer_addf(report, "  no test in tests/operations: %s\n", name);
            missing++;
        }
        free(name);
    }
    lines_free(&tested);
    lines_free(&rows);
    return missing == 0 ? TEST_PASSED : TEST_FAILED;
}

/* ---- NESL's names ---- */

/* A program that names each of them; what is unknown is reported as such. */
static bool write_naming_program(const char *path)
{
    Lines names = read_lines(nesl_names);
    Buffer program = {0};
    for (size_t i = 0; i < names.count; i++)
        if (names.items[i][0] != '\0' && names.items[i][0] != '#')
            buffer_addf(&program, "(%s);\n", names.items[i]);
    bool is_written = program.length > 0 && file_write(path, buffer_text(&program));
    buffer_free(&program);
    lines_free(&names);
    return is_written;
}

static TestResult nesl_names_run(const Test *test, Buffer *report)
{
    (void)test;
    char directory[] = "/tmp/runnel-test-XXXXXX";
    if (mkdtemp(directory) == NULL)
        return TEST_FAILED;
    char *path = checked_format("%s/names.nesl", directory);
    Lines words = {0};
    lines_add(&words, settings.runnel);
    lines_add(&words, "check");
    lines_add(&words, path);
    bool is_good = write_naming_program(path);
    Outcome outcome;
    process_run(&words, NULL, &outcome);
    is_good &= strstr(buffer_text(&outcome.err), "error[") == NULL && outcome.status == 0;
    if (!is_good)
        show_text("names of NESL that are not known", buffer_text(&outcome.err), report);
    outcome_free(&outcome);
    lines_free(&words);
    unlink(path);
    rmdir(directory);
    free(path);
    return is_good ? TEST_PASSED : TEST_FAILED;
}

void operations_collect(Tests *tests)
{
    tests_add(tests, checked_copy("operations/docs/operations.md is current"), document, current_run);
    tests_add(tests, checked_copy("operations/all are documented"), document, documented_run);
    tests_add(tests, checked_copy("operations/all are tested"), document, tested_run);
    tests_add(tests, checked_copy("operations/all names of NESL are known"), nesl_names, nesl_names_run);
}
