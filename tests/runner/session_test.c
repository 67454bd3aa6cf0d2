/* Session tests: commands and what they print, as on a terminal.
 *
 *   $ runnel eval '1 +
 *   > 2'
 *   3
 *
 * A .test file is one session: `#` begins a comment line, `status: N` and `stderr: TEXT` follow the output of
 * the command they belong to, `skip-mode: asan` leaves the file out in a mode, `needs: zstd` where runnel was built without that (TEST_LIBRARIES lists
 * what it was built with). Standard output is compared, and the status, which is 0 when not given.
 *
 * In a document, a fenced block marked `runnel-session` is one, and so are the commands that begin with `$ runnel`
 * or `$ ./runnel` in any other block. There a reader sees standard output and errors together, so they are compared
 * together, and the status is free. A block marked ```runnel NAME.rnl is the file that later commands use.
 *
 * All commands of a file run in one new directory, which holds `runnel` and a link to the examples. */
#define _XOPEN_SOURCE 700
#include "runner.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Step {
    size_t line;
    char *file;    /* a file to write, or null */
    char *command; /* null for a file */
    Buffer text;   /* the output expected, or the file's contents */
    Lines stderr_texts;
    int status;
} Step;

typedef struct Session {
    Step *steps;
    size_t count;
    bool is_document;
    bool is_skipped;
} Session;

static Step *add_step(Session *session, size_t line)
{
    session->steps = checked_resize(session->steps, (session->count + 1) * sizeof *session->steps);
    Step *step = &session->steps[session->count++];
    *step = (Step){.line = line};
    return step;
}

/* Adds a line to the step it belongs to: more of the command, something about its end, or its output. */
static void add_line(Session *session, Step *step, const char *line)
{
    const char *text;
    if (step->command != NULL && step->text.length == 0 && (text = after_prefix(line, "> ")) != NULL) {
        char *longer = checked_format("%s\n%s", step->command, text);
        free(step->command);
        step->command = longer;
    } else if (!session->is_document && (text = after_prefix(line, "status: ")) != NULL) {
        step->status = atoi(text);
    } else if (!session->is_document && (text = after_prefix(line, "stderr: ")) != NULL) {
        lines_add(&step->stderr_texts, text);
    } else {
        buffer_addf(&step->text, "%s\n", line);
    }
}

/* Blank lines before the next command are layout, not output. */
static void trim_outputs(Session *session)
{
    for (size_t i = 0; i < session->count; i++) {
        Buffer *text = &session->steps[i].text;
        while (text->length > 1 && text->bytes[text->length - 1] == '\n' && text->bytes[text->length - 2] == '\n')
            text->bytes[--text->length] = '\0';
        if (strcmp(buffer_text(text), "\n") == 0)
            text->bytes[text->length = 0] = '\0';
    }
}

static bool has_library(const char *name)
{
    const char *libraries = getenv("TEST_LIBRARIES");
    Lines words = words_of(libraries == NULL ? "" : libraries);
    bool is_found = false;
    for (size_t i = 0; i < words.count; i++)
        is_found |= strcmp(words.items[i], name) == 0;
    lines_free(&words);
    return is_found;
}

static void parse_commands(Session *session, const Lines *lines)
{
    const char *mode = getenv("TEST_MODE");
    Step *step = NULL;
    for (size_t i = 0; i < lines->count; i++) {
        const char *line = lines->items[i];
        const char *text;
        if (*line == '#')
            continue;
        if ((text = after_prefix(line, "skip-mode: ")) != NULL) {
            session->is_skipped |= mode != NULL && strcmp(text, mode) == 0;
        } else if ((text = after_prefix(line, "needs: ")) != NULL) {
            session->is_skipped |= !has_library(text);
        } else if ((text = after_prefix(line, "$ ")) != NULL) {
            step = add_step(session, i + 1);
            step->command = checked_copy(text);
        } else if (step != NULL) {
            add_line(session, step, line);
        }
    }
}

typedef enum BlockKind { BLOCK_NONE, BLOCK_OTHER, BLOCK_SESSION, BLOCK_FILE } BlockKind;

/* The kind of block that a fence opens; its name when it is a file. */
static BlockKind block_kind(const char *information, char **name)
{
    Lines words = words_of(information);
    BlockKind kind = BLOCK_OTHER;
    if (words.count == 1 && strcmp(words.items[0], "runnel-session") == 0) {
        kind = BLOCK_SESSION;
    } else if (words.count == 2 && (strcmp(words.items[0], "runnel") == 0 || strcmp(words.items[0], "nesl") == 0)) {
        kind = BLOCK_FILE;
        *name = checked_copy(words.items[1]);
    }
    lines_free(&words);
    return kind;
}

static bool is_run_in(BlockKind kind, const char *command)
{
    return kind == BLOCK_SESSION || after_prefix(command, "runnel ") != NULL ||
           after_prefix(command, "./runnel ") != NULL;
}

static void parse_document(Session *session, const Lines *lines)
{
    BlockKind kind = BLOCK_NONE;
    Step *step = NULL;
    for (size_t i = 0; i < lines->count; i++) {
        const char *line = lines->items[i];
        const char *text;
        if ((text = after_prefix(line, "```")) != NULL) {
            char *name = NULL;
            kind = kind == BLOCK_NONE ? block_kind(text, &name) : BLOCK_NONE;
            step = kind == BLOCK_FILE ? add_step(session, i + 1) : NULL;
            if (step != NULL)
                step->file = name;
        } else if (kind != BLOCK_NONE && kind != BLOCK_FILE && (text = after_prefix(line, "$ ")) != NULL) {
            step = is_run_in(kind, text) ? add_step(session, i + 1) : NULL;
            if (step != NULL)
                step->command = checked_copy(text);
        } else if (step != NULL) {
            add_line(session, step, line);
        }
    }
}

static void parse_session(const char *path, bool is_document, Session *session)
{
    *session = (Session){.is_document = is_document};
    Buffer text = {0};
    file_read(path, &text);
    Lines lines = lines_of(buffer_text(&text));
    (is_document ? parse_document : parse_commands)(session, &lines);
    trim_outputs(session);
    lines_free(&lines);
    buffer_free(&text);
}

static void free_session(Session *session)
{
    for (size_t i = 0; i < session->count; i++) {
        free(session->steps[i].file);
        free(session->steps[i].command);
        buffer_free(&session->steps[i].text);
        lines_free(&session->steps[i].stderr_texts);
    }
    free(session->steps);
}

bool document_has_commands(const char *path)
{
    Session session;
    parse_session(path, true, &session);
    bool is_found = false;
    for (size_t i = 0; i < session.count; i++)
        is_found |= session.steps[i].command != NULL;
    free_session(&session);
    return is_found;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void link_into(const char *directory, const char *name, const char *target)
{
    char *path = checked_format("%s/%s", directory, name);
    if (symlink(target, path) != 0)
        perror(path);
    free(path);
}

static char *make_directory(void)
{
    char *directory = checked_copy("/tmp/runnel-test-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return NULL;
    link_into(directory, "runnel", settings.runnel);
    char *examples = checked_format("%s/examples", settings.root);
    link_into(directory, "examples", examples);
    char *search = checked_format("%s:%s", directory, getenv("PATH"));
    setenv("PATH", search, 1);
    setenv("HOME", directory, 1);
    unsetenv("RUNNEL_CACHE"); /* sessions have one of their own, at home */
    setenv("ROOT", settings.root, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    return directory;
}

static bool check_outcome(const Session *session, const Step *step, const Outcome *outcome, Buffer *report)
{
    bool is_good = compare_texts("output", buffer_text(&step->text), buffer_text(&outcome->out), report);
    bool is_status_good =
        !outcome->is_out_of_time && (session->is_document ? outcome->status < 128 : outcome->status == step->status);
    if (outcome->is_out_of_time)
        buffer_addf(report, "  not finished after %g s\n", process_time_limit());
    else if (!is_status_good)
        buffer_addf(report, "  status %d, not %d\n", outcome->status, step->status);
    for (size_t i = 0; i < step->stderr_texts.count; i++)
        if (strstr(buffer_text(&outcome->err), step->stderr_texts.items[i]) == NULL) {
            buffer_addf(report, "  not in standard error: %s\n", step->stderr_texts.items[i]);
            is_good = false;
        }
    return is_good && is_status_good;
}

static bool run_command(const Session *session, const Step *step, const char *directory, Buffer *report)
{
    Lines words = {0};
    lines_add(&words, "bash");
    lines_add(&words, "-c");
    char *merged = checked_format("exec 2>&1\n%s", step->command);
    lines_add(&words, session->is_document ? merged : step->command);
    Outcome outcome;
    process_run(&words, directory, &outcome);
    Buffer details = {0};
    bool is_good = check_outcome(session, step, &outcome, &details);
    if (!is_good) {
        buffer_addf(report, "  line %zu: $ %s\n%s", step->line, step->command, buffer_text(&details));
        show_text("standard error", buffer_text(&outcome.err), report);
    }
    buffer_free(&details);
    outcome_free(&outcome);
    lines_free(&words);
    free(merged);
    return is_good;
}

static bool write_step_file(const Step *step, const char *directory, Buffer *report)
{
    char *path = checked_format("%s/%s", directory, step->file);
    bool is_written = file_write(path, buffer_text(&step->text));
    if (!is_written)
        buffer_addf(report, "  line %zu: cannot write %s\n", step->line, path);
    free(path);
    return is_written;
}

static TestResult run_session(const char *path, bool is_document, Buffer *report)
{
    Session session;
    parse_session(path, is_document, &session);
    if (session.is_skipped)
        return TEST_SKIPPED;
    char *directory = make_directory();
    bool is_good = directory != NULL && session.count > 0;
    if (!is_good)
        buffer_addf(report, "  %s\n", directory == NULL ? "no temporary directory" : "no commands in this file");
    for (size_t i = 0; directory != NULL && i < session.count; i++) {
        const Step *step = &session.steps[i];
        is_good &= step->file != NULL ? write_step_file(step, directory, report)
                                      : run_command(&session, step, directory, report);
    }
    if (directory != NULL)
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return is_good ? TEST_PASSED : TEST_FAILED; /* the process ends here, and with it what was allocated */
}

TestResult command_test_run(const Test *test, Buffer *report)
{
    return run_session(test->path, false, report);
}

TestResult document_test_run(const Test *test, Buffer *report)
{
    return run_session(test->path, true, report);
}
