#define _POSIX_C_SOURCE 200809L
#include "sample.h"

#include "../../tests/runner/process.h"
#include "compare.h"
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Runs are taken in turns, so that what disturbs the machine for a while disturbs both sides. */
enum { ROUNDS = 5, RUNS_OF_ROUND = 2 };

/* A call may take longer than a configuration is meant to, so that slow programs have a time at all. */
static double call_limit(const Setup *setup)
{
    enum { FACTOR = 10 };
    return FACTOR * setup->seconds;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

Sample sample_none(void)
{
    return (Sample){.is_good = true,
                    .seconds = INFINITY,
                    .peak_bytes = NAN,
                    .compile_seconds = NAN,
                    .kernels = NAN,
                    .vector_bytes = NAN};
}

void sample_free(Sample *sample)
{
    free(sample->problem);
    free(sample->result);
    free(sample->engine);
    free(sample->warning);
    *sample = sample_none();
}

static void sample_fail(Sample *sample, char *problem)
{
    if (!sample->is_good) {
        free(problem);
        return;
    }
    sample->is_good = false;
    sample->problem = problem;
}

/* ---- one call ---- */

/* What a program that failed said first. */
static char *first_line(const char *text)
{
    size_t length = strcspn(text, "\n");
    return length == 0 ? checked_copy("failed") : checked_format("%.*s", (int)length, text);
}

/* Of Runnel the same text each time; of C the same within the tolerance, for its threads may add in any order. */
static bool is_same(const Case *benchmark, bool is_runnel, const char *a, const char *b)
{
    return is_runnel ? strcmp(a, b) == 0 : results_agree(benchmark, a, b);
}

static void take_result(Sample *sample, const Case *benchmark, bool is_runnel, const char *line)
{
    char *text = json_text(line, "result");
    char *plain = result_plain(text == NULL ? "" : text);
    free(text);
    if (sample->result == NULL) {
        sample->result = plain;
        return;
    }
    if (!is_same(benchmark, is_runnel, sample->result, plain))
        sample_fail(sample, checked_copy("the result varies"));
    free(plain);
}

static void take_numbers(Sample *sample, const char *line)
{
    double seconds = INFINITY, runs = 0, peak = NAN, compile = NAN;
    json_number(line, "min", &seconds);
    json_number(line, "runs", &runs);
    json_number(line, "peak_bytes", &peak);
    json_number(line, "compile", &compile);
    json_number(line, "kernels", &sample->kernels);
    json_number(line, "vector_bytes", &sample->vector_bytes);
    if (sample->engine == NULL)
        sample->engine = json_text(line, "engine");
    sample->seconds = fmin(sample->seconds, seconds);
    sample->runs += runs;
    sample->peak_bytes = fmax(sample->peak_bytes, peak);
    sample->compile_seconds = fmax(sample->compile_seconds, compile);
}

static void sample_call(Sample *sample, const Setup *setup, const Case *benchmark, bool is_runnel, const Lines *words)
{
    Outcome outcome;
    double limit = call_limit(setup);
    process_run_within(limit, words, NULL, &outcome);
    if (outcome.is_out_of_time)
        sample_fail(sample, checked_format("takes more than %.0f s", limit));
    else if (outcome.status != 0)
        sample_fail(sample, first_line(buffer_text(&outcome.err)));
    if (sample->is_good && sample->warning == NULL && outcome.err.length > 0)
        sample->warning = first_line(buffer_text(&outcome.err));
    if (sample->is_good) {
        take_numbers(sample, buffer_text(&outcome.out));
        take_result(sample, benchmark, is_runnel, buffer_text(&outcome.out));
    }
    outcome_free(&outcome);
}

static void add_words(Lines *words, char *text)
{
    Lines further = words_of(text);
    for (size_t i = 0; i < further.count; i++)
        lines_add(words, further.items[i]);
    lines_free(&further);
    free(text);
}

static void add_lines(Lines *words, const Lines *more)
{
    for (size_t i = 0; i < more->count; i++)
        lines_add(words, more->items[i]);
}

void sample_runnel(Sample *sample, const Setup *setup, const Case *benchmark, const Lines *arguments, ArithmeticMode mode, unsigned threads, unsigned runs)
{
    Lines words = {0};
    lines_add(&words, setup->runnel);
    add_words(&words, checked_format("bench --json --runs %u %s", runs, benchmark->program));
    if (threads > 0)
        add_words(&words, checked_format("--threads %u", threads));
    add_lines(&words, arguments);
    if (benchmark->comparison == COMPARE_DIGEST)
        lines_add(&words, "--digest");
    if (setup->engine != NULL)
        add_words(&words, checked_format("--engine %s", setup->engine));
    if (mode == MODE_FAST)
        lines_add(&words, "--fast");
    sample_call(sample, setup, benchmark, true, &words);
    lines_free(&words);
}

static void call_c(Sample *sample, const Setup *setup, const Case *benchmark, const char *name, const Lines *arguments, ArithmeticMode mode, unsigned threads, unsigned runs)
{
    Lines words = {0};
    char *program = checked_format("%s/%s%s", setup->directory, name, mode == MODE_FAST ? "-fast" : "");
    lines_add(&words, program);
    add_words(&words, checked_format("--threads %u --runs %u", threads, runs));
    add_lines(&words, arguments);
    sample_call(sample, setup, benchmark, false, &words);
    lines_free(&words);
    free(program);
}

void sample_c(Sample *sample, const Setup *setup, const Case *benchmark, const Lines *arguments, ArithmeticMode mode, unsigned threads, unsigned runs)
{
    char *name = case_c_name(benchmark);
    call_c(sample, setup, benchmark, name, arguments, mode, threads, runs);
    free(name);
}

/* ---- two in turn ---- */

static void check_answer(Sample *sample, const Case *benchmark, const char *expected, ArithmeticMode mode)
{
    bool (*agree)(const Case *, const char *, const char *) = mode == MODE_FAST ? results_nearly_agree : results_agree;
    if (sample->is_good && expected != NULL && !agree(benchmark, sample->result, expected))
        sample_fail(sample, checked_format("wrong answer: %.60s, not %.60s", sample->result, expected));
}

void sample_stretch(Sample *sample, const Setup *setup, const Case *benchmark, const Lines *arguments, const char *expected, unsigned threads)
{
    call_c(sample, setup, benchmark, case_stretch(benchmark), arguments, MODE_EXACT, threads, ROUNDS * RUNS_OF_ROUND);
    check_answer(sample, benchmark, expected, MODE_EXACT);
}

void pair_check(Pair *pair, const Case *benchmark, const char *expected, ArithmeticMode mode)
{
    check_answer(&pair->runnel, benchmark, expected, mode);
    check_answer(&pair->c, benchmark, expected, mode);
    if (expected == NULL && pair->c.is_good)
        check_answer(&pair->runnel, benchmark, pair->c.result, mode);
}

void pair_measure(Pair *pair, const Setup *setup, const Case *benchmark, const Lines *arguments, const char *expected, ArithmeticMode mode,
                  unsigned threads)
{
    double start = now(), longest = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        if (pair->runnel.is_good)
            sample_runnel(&pair->runnel, setup, benchmark, arguments, mode, threads, RUNS_OF_ROUND);
        if (pair->c.is_good)
            sample_c(&pair->c, setup, benchmark, arguments, mode, threads, RUNS_OF_ROUND);
        pair_check(pair, benchmark, expected, mode);
        longest = fmax(longest, now() - begin);
        if ((!pair->runnel.is_good && !pair->c.is_good) || now() - start + longest > setup->seconds)
            return;
    }
}

double pair_ratio(const Pair *pair)
{
    return pair->runnel.is_good && pair->c.is_good ? pair->runnel.seconds / pair->c.seconds : NAN;
}

void pair_free(Pair *pair)
{
    sample_free(&pair->runnel);
    sample_free(&pair->c);
}

/* ---- the answer ---- */

static bool is_current(const char *path, const char *program)
{
    struct stat file, maker;
    return stat(path, &file) == 0 && stat(program, &maker) == 0 && file.st_mtime >= maker.st_mtime;
}

static char *ask(const Setup *setup, const Case *benchmark, const char *program, const Lines *arguments)
{
    Lines words = {0};
    Outcome outcome;
    lines_add(&words, program);
    lines_add(&words, benchmark->name);
    add_lines(&words, arguments);
    process_run_within(call_limit(setup), &words, NULL, &outcome);
    char *answer = outcome.status == 0 ? checked_copy(buffer_text(&outcome.out)) : NULL;
    if (answer != NULL)
        trim_end(answer);
    outcome_free(&outcome);
    lines_free(&words);
    return answer;
}

char *expected_result(const Setup *setup, const Case *benchmark, uint64_t size, const Lines *arguments)
{
    char *program = checked_format("%s/check", setup->directory);
    char *path = checked_format("%s/answers/%s-%" PRIu64, setup->directory, benchmark->name, size);
    char *answer = NULL;
    Buffer kept = {0};
    if (is_current(path, program) && file_read(path, &kept)) {
        answer = checked_copy(buffer_text(&kept));
    } else if ((answer = ask(setup, benchmark, program, arguments)) != NULL) {
        char *parent = checked_format("%s/answers", setup->directory);
        mkdir(parent, 0777);
        file_write(path, answer);
        free(parent);
    }
    buffer_free(&kept);
    free(program);
    free(path);
    return answer;
}
