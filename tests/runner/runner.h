/* The test runner: what a test is, and the kinds of tests there are.
 *
 *   program_test.c      .rnl and .nesl files that carry their expectation in comments
 *   session_test.c      command lines with their output: .test files and documents
 *   codes_test.c        every error code has a paragraph in docs/errors.md and a test in tests/errors
 *   operations_test.c   every operation is documented and tested, every name of NESL is known
 *   bench_test.c        benchmarks give right answers, and are compiled to what they were
 *   unit_test.c         programs that are tests themselves
 *
 * Each test runs in a process of its own and says in `report` what went wrong. */
#ifndef RUNNER_H
#define RUNNER_H

#include "process.h"

/* Also the exit status of the process that runs one test. */
typedef enum TestResult { TEST_PASSED = 0, TEST_FAILED = 1, TEST_SKIPPED = 77 } TestResult;

typedef struct Test {
    char *name; /* as shown, and as --only picks it */
    char *path; /* the file, or the code */
    TestResult (*run)(const struct Test *test, Buffer *report);
} Test;

typedef struct Tests {
    Test *items;
    size_t count;
} Tests;

typedef struct Settings {
    char *runnel; /* the absolute path of the program under test */
    char *root;   /* of the source tree; the current directory */
    const char *only;
    const char *flags; /* given to every program; null: none, and all kinds of tests are run */
    bool are_runs_slow; /* large ones are left out */
    bool is_updating; /* rewrite .expected files instead of comparing */
} Settings;

extern Settings settings; /* fixed before the first test starts */

void tests_add(Tests *tests, char *name, const char *path, TestResult (*run)(const Test *, Buffer *));

TestResult program_test_run(const Test *test, Buffer *report);
TestResult command_test_run(const Test *test, Buffer *report);
TestResult document_test_run(const Test *test, Buffer *report);
TestResult unit_test_run(const Test *test, Buffer *report);

/* Whether a document shows any command that can be run. */
bool document_has_commands(const char *path);

/* Adds two tests for each code of src/source/errors.def. */
void codes_collect(Tests *tests);
/* The exit status that an error with this code leads to; -1 for an unknown code. */
int code_status(const char *code);

/* Adds the tests of the table of operations. */
void operations_collect(Tests *tests);
/* Adds those of the table of benchmarks. */
void benchmarks_collect(Tests *tests);

/* Reads the comments of a test file line by line; starts with `is_in_comment` false. */
typedef struct DirectiveReader {
    bool is_nesl;
    bool is_in_comment;
} DirectiveReader;

/* The text of a comment line without its marks, to be freed; null for other lines. */
char *directive_line(DirectiveReader *reader, const char *line);

/* Says where two texts differ, as a unified excerpt; true when they are equal. */
bool compare_texts(const char *what, const char *expected, const char *actual, Buffer *report);

/* Shows a text, if it is not empty, under a heading. */
void show_text(const char *what, const char *text, Buffer *report);

/* Finds the files below `directory` in the order of their names and calls `visit` for each. */
void files_visit(const char *directory, void (*visit)(const char *path, void *context), void *context);

#endif
