/* The subcommands: one row of the table and one file each. */
#ifndef RUNNEL_DRIVER_COMMANDS_H
#define RUNNEL_DRIVER_COMMANDS_H

#include "driver/options.h"
#include "driver/page.h"

typedef struct Command {
    const char *name;
    const char *arguments; /* as in the usage line */
    const char *summary;
    const char *help;
    size_t least; /* number of arguments, without the command's name */
    size_t most;
    unsigned options; /* OPTION_BITs it understands beside --help */
    int (*run)(const Options *options); /* returns the exit status; words[0] is the command's name */
    const char *const *choices; /* the words its first argument may be, ended by null; null if there are too many */
} Command;

extern const Command commands[];
extern const size_t command_count;

/* Null when there is none. */
const Command *command_find(const char *name);
void command_report_unknown(const char *name);
/* `run FILE [ARG...]`, with a blank at most between the two. */
enum { USAGE_SIZE = 64 };
void command_usage(const Command *command, char *text, size_t size);

int command_run(const Options *options);
int command_eval(const Options *options);
int command_cost(const Options *options);
int command_bench(const Options *options);
int command_check(const Options *options);
int command_emit(const Options *options);
int command_repl(const Options *options);
int command_cache(const Options *options);
int command_help(const Options *options);
int command_completions(const Options *options);

/* What `emit` and `completions` can be asked for. */
extern const char *const emit_forms[];
extern const char *const completion_shells[];

/* Shows help on a command, an option, a subject, an operation or an error, or an overview when `subject` is null; returns the exit status. */
int help_show(const char *subject, const Options *options);
/* The section of options, as the help and the manual page have it. */
void help_options(Page *page, unsigned bits);
/* The manual page, for man(1). */
void manual_show(void);

#endif
