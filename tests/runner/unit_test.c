/* Unit tests: programs that end with status 0 when all is well, 77 when they cannot run here. The one named
 * `replay` is given the corpus of the fuzz target. */
#include "runner.h"

enum { SHOWN_MAX = 4000 };

/* The end of what it wrote: there it says what went wrong. */
static const char *tail_of(const Buffer *text)
{
    return buffer_text(text) + (text->length > SHOWN_MAX ? text->length - SHOWN_MAX : 0);
}

TestResult unit_test_run(const Test *test, Buffer *report)
{
    Lines words = {0};
    lines_add(&words, test->path);
    if (has_suffix(test->path, "/replay"))
        lines_add(&words, "tests/fuzz/corpus");
    Outcome outcome;
    process_run(&words, NULL, &outcome);
    TestResult result = outcome.status == 0               ? TEST_PASSED
                        : outcome.status == TEST_SKIPPED ? TEST_SKIPPED
                                                         : TEST_FAILED;
    if (result == TEST_FAILED)
        buffer_addf(report, "  %s, status %d\n%s%s", outcome.is_out_of_time ? "out of time" : "failed", outcome.status,
                    tail_of(&outcome.out), tail_of(&outcome.err));
    outcome_free(&outcome);
    lines_free(&words);
    return result;
}
