/* Unit tests: programs that end with status 0 when all is well, 77 when they cannot run here. The one named
 * `replay` is given the corpus of the fuzz target, `generate` a seed and a time. */
#include "runner.h"

enum { SHOWN_MAX = 4000 };

/* The end of what it wrote: there it says what went wrong. */
static const char *tail_of(const Buffer *text)
{
    return buffer_text(text) + (text->length > SHOWN_MAX ? text->length - SHOWN_MAX : 0);
}

static void words_add(Lines *words, const char *text)
{
    Lines further = words_of(text);
    for (size_t i = 0; i < further.count; i++)
        lines_add(words, further.items[i]);
    lines_free(&further);
}

TestResult unit_test_run(const Test *test, Buffer *report)
{
    Lines words = {0};
    lines_add(&words, test->path);
    if (has_suffix(test->path, "/replay"))
        lines_add(&words, "tests/fuzz/corpus");
    if (has_suffix(test->path, "/generate"))
        words_add(&words, "--seed 1 --count 10000 --seconds 20");
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
