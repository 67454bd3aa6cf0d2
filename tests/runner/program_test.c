/* Program tests: .rnl and .nesl files with directives in comments (`-- expect: 3`, `% expect: it = 3 : int %`):
 *
 *   args: WORDS        begins a run of `run FILE WORDS`
 *   large: WORDS       the same, but left out where runs are slow (settings.are_runs_slow); there is a smaller one that does the same
 *   run: WORDS         begins a run of another command line, in which FILE stands for this file
 *   expect: LINE       the next line of standard output
 *   error: CODE [LINE:COL] [WORDS]   this error is reported, there, with these words in its message
 *   errors: N          exactly so many errors are reported
 *   stderr: TEXT       occurs in standard error
 *   status: N          the exit status; otherwise that of the errors expected, or 0
 *
 * Without `args:` and `run:` there is one run, of `run FILE`. Standard output is always compared as a whole:
 * with the `expect:` lines of the run, or, when NAME.expected or NAME.rnl.expected is there, all runs'
 * together with that. A file without directives and without .expected is an error unless it lies in a
 * directory named `imported`, which the runner does not look into. */
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Run {
    char *command; /* the words after `runnel` */
    bool is_large;
    Buffer expected;
    Lines errors;      /* the texts of the directives */
    Lines stderr_texts;
    int status;        /* -1: not stated */
    int error_count;   /* -1: not stated */
} Run;

typedef struct ProgramTest {
    const char *path;
    Run *runs;
    size_t run_count;
    char *expected_path; /* null: the directives have it */
    bool has_directives;
} ProgramTest;

static Run *add_run(ProgramTest *program, char *command)
{
    program->runs = checked_resize(program->runs, (program->run_count + 1) * sizeof *program->runs);
    Run *run = &program->runs[program->run_count++];
    *run = (Run){.command = command, .status = -1, .error_count = -1};
    return run;
}

static Run *current_run(ProgramTest *program)
{
    if (program->run_count == 0)
        add_run(program, checked_copy("run FILE"));
    return &program->runs[program->run_count - 1];
}

static void on_args(ProgramTest *program, const char *text)
{
    add_run(program, checked_format("run FILE %s", text));
}

static void on_large(ProgramTest *program, const char *text)
{
    add_run(program, checked_format("run FILE %s", text))->is_large = true;
}

static void on_run(ProgramTest *program, const char *text)
{
    add_run(program, checked_copy(text));
}

static void on_expect(ProgramTest *program, const char *text)
{
    buffer_addf(&current_run(program)->expected, "%s\n", text);
}

static void on_error(ProgramTest *program, const char *text)
{
    lines_add(&current_run(program)->errors, text);
}

static void on_errors(ProgramTest *program, const char *text)
{
    current_run(program)->error_count = atoi(text);
}

static void on_stderr(ProgramTest *program, const char *text)
{
    lines_add(&current_run(program)->stderr_texts, text);
}

static void on_status(ProgramTest *program, const char *text)
{
    current_run(program)->status = atoi(text);
}

static const struct {
    const char *key;
    void (*apply)(ProgramTest *program, const char *text);
} directives[] = {
    {"args:", on_args},   {"large:", on_large},   {"run:", on_run},       {"expect:", on_expect},
    {"error:", on_error}, {"errors:", on_errors}, {"stderr:", on_stderr}, {"status:", on_status},
};

static void apply_directive(ProgramTest *program, const char *line)
{
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        const char *text = after_prefix(line, directives[i].key);
        if (text != NULL) {
            program->has_directives = true;
            directives[i].apply(program, text + (*text == ' '));
            return;
        }
    }
}

/* NAME.rnl.expected, or NAME.expected when only one dialect has the name. */
static char *find_expected(const char *path)
{
    char *whole = checked_format("%s.expected", path);
    if (access(whole, R_OK) == 0)
        return whole;
    free(whole);
    char *stem = checked_format("%.*s.expected", (int)(strrchr(path, '.') - path), path);
    if (access(stem, R_OK) == 0)
        return stem;
    free(stem);
    return NULL;
}

static bool read_program(const char *path, ProgramTest *program, Buffer *report)
{
    *program = (ProgramTest){.path = path, .expected_path = find_expected(path)};
    Buffer text = {0};
    if (!file_read(path, &text)) {
        buffer_addf(report, "  cannot read %s\n", path);
        return false;
    }
    Lines lines = lines_of(buffer_text(&text));
    DirectiveReader reader = {.is_nesl = has_suffix(path, ".nesl")};
    for (size_t i = 0; i < lines.count; i++) {
        char *line = directive_line(&reader, lines.items[i]);
        if (line != NULL)
            apply_directive(program, line);
        free(line);
    }
    lines_free(&lines);
    buffer_free(&text);
    current_run(program);
    if (!program->has_directives && program->expected_path == NULL)
        buffer_addf(report, "  the file says nothing about what to expect\n");
    return program->has_directives || program->expected_path != NULL;
}

/* Commands that show what a pass makes of a program are not given flags: they would show something else. */
static void add_flags(const char *command, Lines *words)
{
    bool is_run = strcmp(command, "run") == 0 || strcmp(command, "eval") == 0 || strcmp(command, "check") == 0;
    if (settings.flags == NULL || !is_run)
        return;
    Lines flags = words_of(settings.flags);
    for (size_t i = 0; i < flags.count; i++)
        lines_add(words, flags.items[i]);
    lines_free(&flags);
}

static void execute(const ProgramTest *program, const Run *run, Outcome *outcome)
{
    Lines words = {0}, given = words_of(run->command);
    lines_add(&words, settings.runnel);
    for (size_t i = 0; i < given.count; i++) {
        lines_add(&words, strcmp(given.items[i], "FILE") == 0 ? program->path : given.items[i]);
        if (i == 0)
            add_flags(given.items[0], &words);
    }
    process_run(&words, NULL, outcome);
    lines_free(&given);
    lines_free(&words);
}

static bool contains_words(const char *message, const Lines *words, size_t from)
{
    for (size_t i = from; i < words->count; i++)
        if (strstr(message, words->items[i]) == NULL)
            return false;
    return true;
}

static bool is_place(const char *word)
{
    unsigned line, column;
    char rest;
    return sscanf(word, "%u:%u%c", &line, &column, &rest) == 2;
}

/* Plain words: quotes in messages mean themselves. */
static Lines plain_words(const char *text)
{
    Lines words = {0};
    for (text = skip_blanks(text); *text != '\0'; text = skip_blanks(text)) {
        size_t length = strcspn(text, " \t");
        char *word = checked_format("%.*s", (int)length, text);
        lines_add(&words, word);
        free(word);
        text += length;
    }
    return words;
}

/* Whether a line of standard error reports the error that the directive describes. */
static bool check_error(const char *directive, const Lines *messages, Buffer *report)
{
    Lines words = plain_words(directive);
    if (words.count == 0) {
        buffer_addf(report, "  `error:` names no code\n");
        return false;
    }
    bool has_place = words.count > 1 && is_place(words.items[1]);
    char *mark = has_place ? checked_format(":%s: error[%s]:", words.items[1], words.items[0])
                           : checked_format(": error[%s]:", words.items[0]);
    bool is_found = false;
    for (size_t i = 0; i < messages->count && !is_found; i++) {
        const char *found = strstr(messages->items[i], mark);
        is_found = found != NULL && contains_words(found + strlen(mark), &words, has_place ? 2 : 1);
    }
    if (!is_found)
        buffer_addf(report, "  not reported: %s\n", directive);
    free(mark);
    lines_free(&words);
    return is_found;
}

static bool check_errors(const Run *run, const Outcome *outcome, Buffer *report)
{
    Lines messages = lines_of(buffer_text(&outcome->err));
    bool is_good = true;
    for (size_t i = 0; i < run->errors.count; i++)
        is_good &= check_error(run->errors.items[i], &messages, report);
    int count = 0;
    for (size_t i = 0; i < messages.count; i++)
        count += strstr(messages.items[i], ": error[") != NULL;
    if (run->error_count >= 0 && count != run->error_count) {
        buffer_addf(report, "  %d errors reported, not %d\n", count, run->error_count);
        is_good = false;
    }
    for (size_t i = 0; i < run->stderr_texts.count; i++)
        if (strstr(buffer_text(&outcome->err), run->stderr_texts.items[i]) == NULL) {
            buffer_addf(report, "  not in standard error: %s\n", run->stderr_texts.items[i]);
            is_good = false;
        }
    lines_free(&messages);
    return is_good;
}

/* Where a run was measured (RUNNEL_FLAGS=--stats), nothing in it has fallen back to one element at a time, but to find out where it failed. */
static bool check_fallbacks(const Outcome *outcome, Buffer *report)
{
    static const char mark[] = ", fallbacks ";
    const char *found = strstr(buffer_text(&outcome->err), mark);
    bool is_good = outcome->status != 0 || found == NULL || strncmp(found + sizeof mark - 1, "0\n", 2) == 0;
    if (!is_good)
        buffer_addf(report, "  elements were computed one at a time%.*s\n", (int)strcspn(found, "\n"), found);
    return is_good;
}

static int expected_status(const Run *run, Buffer *report)
{
    int status = 0;
    for (size_t i = 0; i < run->errors.count; i++) {
        Lines words = plain_words(run->errors.items[i]);
        int of_code = words.count == 0 ? -1 : code_status(words.items[0]);
        if (of_code < 0)
            buffer_addf(report, "  no such error code: %s\n", run->errors.items[i]);
        if (of_code > status)
            status = of_code;
        lines_free(&words);
    }
    return run->status >= 0 ? run->status : status;
}

static bool check_status(const Run *run, const Outcome *outcome, Buffer *report)
{
    int expected = expected_status(run, report);
    if (outcome->is_out_of_time)
        buffer_addf(report, "  not finished after %g s\n", process_time_limit());
    else if (outcome->status != expected)
        buffer_addf(report, "  status %d, not %d\n", outcome->status, expected);
    return !outcome->is_out_of_time && outcome->status == expected;
}

static bool check_run(const ProgramTest *program, const Run *run, Buffer *all_output, Buffer *report)
{
    Outcome outcome;
    execute(program, run, &outcome);
    bool is_good = check_status(run, &outcome, report);
    is_good &= check_errors(run, &outcome, report);
    is_good &= check_fallbacks(&outcome, report);
    if (program->expected_path == NULL)
        is_good &= compare_texts("standard output", buffer_text(&run->expected), buffer_text(&outcome.out), report);
    buffer_add(all_output, buffer_text(&outcome.out), outcome.out.length);
    if (!is_good) {
        buffer_addf(report, "  of: runnel %s\n", run->command);
        show_text("standard error", buffer_text(&outcome.err), report);
    }
    outcome_free(&outcome);
    return is_good;
}

static bool check_expected_file(const ProgramTest *program, const Buffer *output, Buffer *report)
{
    if (settings.is_updating)
        return file_write(program->expected_path, buffer_text(output));
    Buffer expected = {0};
    file_read(program->expected_path, &expected);
    bool is_good = compare_texts(program->expected_path, buffer_text(&expected), buffer_text(output), report);
    buffer_free(&expected);
    return is_good;
}

TestResult program_test_run(const Test *test, Buffer *report)
{
    ProgramTest program;
    if (!read_program(test->path, &program, report))
        return TEST_FAILED;
    Buffer output = {0};
    bool is_good = true;
    for (size_t i = 0; i < program.run_count; i++)
        if (!program.runs[i].is_large || !settings.are_runs_slow)
            is_good &= check_run(&program, &program.runs[i], &output, report);
    if (program.expected_path != NULL)
        is_good &= check_expected_file(&program, &output, report);
    return is_good ? TEST_PASSED : TEST_FAILED; /* the process ends here, and with it what was allocated */
}
