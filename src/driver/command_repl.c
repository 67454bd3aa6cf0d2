/* The interactive session: definitions stay, errors do not end it. When a program feeds it, it shows no
 * prompts and behaves otherwise the same. */
#include "driver/commands.h"
#include "driver/host.h"
#include "driver/line.h"
#include "driver/output.h"
#include "driver/report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Repl {
    Host host;
    RunnelDialect dialect;
    LineReader *lines;
    char *input; /* the lines of an input that is not finished yet */
    size_t length;
    bool is_ended;
} Repl;

static const struct {
    const char *prompt, *continuation;
} prompts[] = {
    [RUNNEL_DIALECT_RNL] = {"> ", ". "},
    [RUNNEL_DIALECT_NESL] = {"<Nesl> ", "> "},
};

/* Whether it could be loaded. */
static bool evaluate_loaded(Repl *repl, RunnelStatus status)
{
    if (host_report(&repl->host, status) == RUNNEL_OK)
        host_report(&repl->host, runnel_run_items(repl->host.session));
    return status == RUNNEL_OK;
}

static bool evaluate_text(Repl *repl)
{
    host_begin_work(&repl->host);
    bool is_loaded = evaluate_loaded(repl, runnel_load_text(repl->host.session, "repl", repl->input, repl->length, repl->dialect));
    host_end_work(&repl->host);
    host_take_interrupt(); /* it ended this input, nothing else */
    return is_loaded;
}

typedef struct ReplCommand {
    const char *name;
    const char *nesl_name; /* what NESL users type; null if the same is meant otherwise there */
    const char *argument;  /* null: takes none */
    const char *summary;
    void (*run)(Repl *repl, const char *argument);
} ReplCommand;

static void run_help(Repl *repl, const char *argument);

static void run_load(Repl *repl, const char *argument)
{
    host_begin_work(&repl->host);
    evaluate_loaded(repl, runnel_load_file(repl->host.session, argument));
    host_end_work(&repl->host);
    host_take_interrupt();
}

static void run_types(Repl *repl, const char *argument)
{
    (void)argument;
    host_report(&repl->host, runnel_write_types(repl->host.session));
}

static void run_quit(Repl *repl, const char *argument)
{
    (void)argument;
    repl->is_ended = true;
}

static const ReplCommand repl_commands[] = {
    {":help", "help", NULL, "show this", run_help},
    {":load", NULL, "FILE", "read a program and evaluate its expressions", run_load},
    {":types", NULL, NULL, "show the types of the definitions", run_types},
    {":quit", "exit", NULL, "end; so does the end of the input (Ctrl-D)", run_quit},
};

enum { REPL_COMMAND_COUNT = sizeof repl_commands / sizeof *repl_commands };

static void run_help(Repl *repl, const char *argument)
{
    (void)repl, (void)argument;
    output_print("Type a definition or an expression; it goes on in the next line while it is not finished.\n");
    for (size_t i = 0; i < REPL_COMMAND_COUNT; i++) {
        const ReplCommand *command = &repl_commands[i];
        output_print("  %-6s %-4s  %s\n", command->name, command->argument == NULL ? "" : command->argument,
                     command->summary);
    }
    output_print("Ctrl-C stops what is running, or drops what was typed.\n");
}

static void report_unknown_command(const char *name)
{
    Suggestion suggestion = suggestion_for(name);
    for (size_t i = 0; i < REPL_COMMAND_COUNT; i++)
        suggestion_try(&suggestion, repl_commands[i].name);
    report_unknown("command", &suggestion, "`:help` lists them");
}

static bool is_named(const ReplCommand *command, RunnelDialect dialect, const char *name)
{
    return strcmp(command->name, name) == 0 ||
           (dialect == RUNNEL_DIALECT_NESL && command->nesl_name != NULL && strcmp(command->nesl_name, name) == 0);
}

/* Cuts blanks, and in NESL the `;` that ends a command, off both ends. */
static char *trim(char *text, bool is_nesl)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && (isspace((unsigned char)text[length - 1]) || (is_nesl && text[length - 1] == ';')))
        text[--length] = '\0';
    return text;
}

/* Runs the line and gives true if it is a command. */
static bool try_command(Repl *repl, const char *line)
{
    bool is_nesl = repl->dialect == RUNNEL_DIALECT_NESL;
    char words[4096];
    if (snprintf(words, sizeof words, "%s", line) >= (int)sizeof words)
        return false;
    char *name = trim(words, is_nesl);
    char *argument = name + strcspn(name, " \t");
    if (*argument != '\0')
        *argument++ = '\0';
    argument = trim(argument, is_nesl);
    for (size_t i = 0; i < REPL_COMMAND_COUNT; i++) {
        const ReplCommand *command = &repl_commands[i];
        if (!is_named(command, repl->dialect, name))
            continue;
        if ((command->argument != NULL) != (*argument != '\0'))
            report_usage("usage: %s %s", command->name, command->argument == NULL ? "" : command->argument);
        else
            command->run(repl, argument);
        return true;
    }
    if (*name == ':')
        report_unknown_command(name);
    return *name == ':';
}

/* What could not be evaluated may be a command without its colon, or NESL's word for it. */
static void note_command(const char *line)
{
    for (size_t i = 0; i < REPL_COMMAND_COUNT; i++) {
        const ReplCommand *command = &repl_commands[i];
        if (strcmp(command->name + 1, line) == 0 || (command->nesl_name != NULL && strcmp(command->nesl_name, line) == 0))
            fprintf(stderr, "note: the command is `%s`\n", command->name);
    }
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\f\v")] == '\0';
}

static void drop_input(Repl *repl)
{
    repl->length = 0;
}

/* False when there is no memory. */
static bool add_input(Repl *repl, const char *line)
{
    size_t length = strlen(line);
    char *longer = realloc(repl->input, repl->length + length + 2);
    if (longer == NULL)
        return false;
    repl->input = longer;
    memcpy(longer + repl->length, line, length);
    repl->length += length;
    memcpy(longer + repl->length, "\n", 2);
    repl->length++;
    return true;
}

static void take_line(Repl *repl, const char *line)
{
    bool is_first = repl->length == 0;
    if (is_first && (is_blank(line) || try_command(repl, line)))
        return;
    if (!add_input(repl, line)) {
        report_error("out-of-memory", "there is not enough memory for this input");
        drop_input(repl);
    } else if (!runnel_is_unfinished(repl->host.session, repl->input, repl->length, repl->dialect)) {
        if (!evaluate_text(repl) && is_first)
            note_command(line);
        drop_input(repl);
    }
}

/* At the end of the input, what is not finished is evaluated all the same, so that its error is shown. */
static void end_input(Repl *repl)
{
    if (repl->length > 0)
        evaluate_text(repl);
    else if (line_is_interactive())
        output_print("\n");
    repl->is_ended = true;
}

static void read_and_evaluate(Repl *repl)
{
    while (!repl->is_ended && output_is_good()) {
        output_flush();
        const char *line;
        bool is_first = repl->length == 0;
        switch (line_read(repl->lines, is_first ? prompts[repl->dialect].prompt : prompts[repl->dialect].continuation,
                          &line)) {
        case LINE_READ:
            take_line(repl, line);
            break;
        case LINE_INTERRUPTED:
            host_take_interrupt();
            drop_input(repl);
            output_print("\n");
            break;
        case LINE_END:
            end_input(repl);
            break;
        }
    }
}

int command_repl(const Options *options)
{
    Repl repl = {.dialect = options_dialect(options)};
    if (!host_open(&repl.host, options))
        return RUNNEL_RUN_ERROR;
    host_end_work(&repl.host);
    repl.lines = line_open();
    if (repl.lines == NULL) {
        report_error("out-of-memory", "there is not enough memory to start");
        return host_close(&repl.host, RUNNEL_RUN_ERROR);
    }
    if (line_is_interactive())
        output_print("Runnel %s; :help shows what can be done here.\n", RUNNEL_VERSION);
    read_and_evaluate(&repl);
    line_close(repl.lines);
    free(repl.input);
    return host_close(&repl.host, RUNNEL_OK);
}
