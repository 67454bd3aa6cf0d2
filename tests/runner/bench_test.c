/* The benchmarks (bench/programs): at a tiny size both sides give the right answer, Runnel on every engine, and the structure of what each program is
 * compiled to is what tests/golden/bench says. BENCH_SUITE is the command that does the former; without it, where the C side cannot be built, that is skipped. */
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of the table, so that rows of one program follow each other. */
typedef struct Benchmark {
    const char *name, *program;
} Benchmark;

static const Benchmark benchmarks[] = {
#define BENCHMARK(id, name, program, ...) {name, "bench/programs/" program},
#include "../../bench/programs/suite.def"
#undef BENCHMARK
};

static TestResult answers_run(const Test *test, Buffer *report)
{
    const char *suite = getenv("BENCH_SUITE");
    if (suite == NULL || *suite == '\0')
        return TEST_SKIPPED;
    Outcome outcome;
    char *command = checked_format("%s --smoke %s", suite, test->path);
    Lines words = words_of(command);
    process_run(&words, NULL, &outcome);
    if (outcome.status != 0)
        buffer_addf(report, "  %s, status %d\n%s%s", outcome.is_out_of_time ? "out of time" : "failed", outcome.status, buffer_text(&outcome.out),
                    buffer_text(&outcome.err));
    TestResult result = outcome.status == 0 ? TEST_PASSED : TEST_FAILED;
    outcome_free(&outcome);
    lines_free(&words);
    free(command);
    return result;
}

static char *golden_path(const char *program)
{
    return checked_format("tests/golden/bench/%s.expected", strrchr(program, '/') + 1);
}

static TestResult compare_golden(const Test *test, const char *actual, Buffer *report)
{
    char *path = golden_path(test->path);
    Buffer expected = {0};
    bool is_good = settings.is_updating ? file_write(path, actual) : file_read(path, &expected);
    if (!is_good)
        buffer_addf(report, "  %s cannot be %s\n", path, settings.is_updating ? "written" : "read");
    else if (!settings.is_updating)
        is_good = compare_texts("structure", buffer_text(&expected), actual, report);
    buffer_free(&expected);
    free(path);
    return is_good ? TEST_PASSED : TEST_FAILED;
}

static TestResult structure_run(const Test *test, Buffer *report)
{
    Outcome outcome;
    char *command = checked_format("%s emit counts %s", settings.runnel, test->path);
    Lines words = words_of(command);
    process_run(&words, NULL, &outcome);
    TestResult result = TEST_FAILED;
    if (outcome.status == 0)
        result = compare_golden(test, buffer_text(&outcome.out), report);
    else
        buffer_addf(report, "  status %d\n%s", outcome.status, buffer_text(&outcome.err));
    outcome_free(&outcome);
    lines_free(&words);
    free(command);
    return result;
}

void benchmarks_collect(Tests *tests)
{
    for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; i++) {
        const Benchmark *row = &benchmarks[i];
        tests_add(tests, checked_format("bench/%s", row->name), row->name, answers_run);
        if (i == 0 || strcmp(row->program, row[-1].program) != 0)
            tests_add(tests, checked_format("golden/bench/%s", strrchr(row->program, '/') + 1), row->program, structure_run);
    }
}
