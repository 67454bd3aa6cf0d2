#define _POSIX_C_SOURCE 200809L
#include "smoke.h"

#include "compare.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_right(const Case *benchmark, const char *side, const Sample *sample, const char *expected)
{
    if (!sample->is_good)
        printf("%s: %s: %s\n", benchmark->name, side, sample->problem);
    else if (sample->warning != NULL)
        printf("%s: %s: %s\n", benchmark->name, side, sample->warning);
    else if (!results_agree(benchmark, sample->result, expected))
        printf("%s: %s gives\n    %s\nbut the answer is\n    %s\n", benchmark->name, side, sample->result, expected);
    return sample->is_good && sample->warning == NULL && results_agree(benchmark, sample->result, expected);
}

static bool check_c(const Setup *setup, const Case *benchmark, const Lines *arguments, const char *expected)
{
    bool is_good = true;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        Sample sample = sample_none();
        sample_c(&sample, setup, benchmark, arguments, MODE_EXACT, threads, 1);
        is_good &= is_right(benchmark, threads == 1 ? "C" : "C with threads", &sample, expected);
        sample_free(&sample);
    }
    return is_good;
}

static bool check_stretch(const Setup *setup, const Case *benchmark, const Lines *arguments, const char *expected)
{
    Sample sample = sample_none();
    bool is_good = true;
    if (case_stretch(benchmark) != NULL) {
        sample_stretch(&sample, setup, benchmark, arguments, expected, 2);
        is_good = is_right(benchmark, case_stretch(benchmark), &sample, expected);
    }
    sample_free(&sample);
    return is_good;
}

static bool check_runnel(const Setup *setup, const Case *benchmark, const Lines *arguments, const char *expected)
{
    Sample sample = sample_none();
    sample_runnel(&sample, setup, benchmark, arguments, MODE_EXACT, 0, 1);
    bool is_good = is_right(benchmark, setup->engine, &sample, expected);
    sample_free(&sample);
    return is_good;
}

bool smoke_test(const Setup *setup, const Case *benchmark, const Lines *engines)
{
    uint64_t size = benchmark->sizes[SIZE_TINY];
    Lines arguments = {0};
    bool is_good = case_arguments(benchmark, size, setup->directory, &arguments);
    char *expected = is_good ? expected_result(setup, benchmark, size, &arguments) : NULL;
    if (expected == NULL) {
        printf("%s: there is no answer to compare with\n", benchmark->name);
        is_good = false;
    }
    is_good = is_good && check_c(setup, benchmark, &arguments, expected) && check_stretch(setup, benchmark, &arguments, expected);
    for (size_t i = 0; i < engines->count && expected != NULL; i++) {
        Setup one = *setup;
        one.engine = engines->items[i];
        is_good &= check_runnel(&one, benchmark, &arguments, expected);
    }
    free(expected);
    lines_free(&arguments);
    return is_good;
}
