#include "driver/commands.h"

#include "driver/report.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LANGUAGE_OPTION = OPTION_BIT(OPTION_NESL) };
enum { LIMIT_OPTIONS = OPTION_BIT(OPTION_MAX_DEPTH) | OPTION_BIT(OPTION_PRINT_LENGTH) | OPTION_BIT(OPTION_TIME) };
enum { COMPILE_OPTIONS = OPTION_BIT(OPTION_NO_SIMPLIFY) | OPTION_BIT(OPTION_MATERIALIZE) };
enum { ENGINE_OPTIONS = OPTION_BIT(OPTION_ENGINE) | OPTION_BIT(OPTION_CHUNK) | OPTION_BIT(OPTION_THREADS) | OPTION_BIT(OPTION_PIECE) |
                        OPTION_BIT(OPTION_MEMORY) | OPTION_BIT(OPTION_STATS) | OPTION_BIT(OPTION_CC) | OPTION_BIT(OPTION_FAST) };
enum { FILE_OPTIONS = OPTION_BIT(OPTION_FORMAT) | OPTION_BIT(OPTION_HEADER) | OPTION_BIT(OPTION_EMPTY) };
enum { RUN_OPTIONS = ENGINE_OPTIONS | LIMIT_OPTIONS | COMPILE_OPTIONS };
enum { SHOW_OPTIONS = OPTION_BIT(OPTION_NO_PROGRESS) };

static const char *const cache_words[] = {"clear", NULL};

const Command commands[] = {
    {"run", "FILE [ARG...]", "run a program",
     "Runs the program in FILE, which ends in .rnl or .nesl. If it defines `main`, that is called with the\n"
     "arguments, which are values in the language's notation, such as 3, 2.5, \"text\" or '[(1, true)]'.\n"
     "An argument @PATH is what a file holds, @- what standard input does; sequences are read as they are needed.\n"
     "Without `main` the top-level expressions are evaluated and printed in order.\n",
     1, SIZE_MAX, RUN_OPTIONS | FILE_OPTIONS | SHOW_OPTIONS | OPTION_BIT(OPTION_OUT) | OPTION_BIT(OPTION_OUT_FORMAT), command_run, NULL},
    {"eval", "EXPR", "evaluate an expression",
     "Evaluates EXPR and prints the result. EXPR may also be a list of definitions and expressions, as in\n"
     "a file.\n",
     1, 1, RUN_OPTIONS | LANGUAGE_OPTION | SHOW_OPTIONS | OPTION_BIT(OPTION_COST), command_eval, NULL},
    {"cost", "FILE [ARG...]", "run a program and show what it costs",
     "Runs the program in FILE as `run` does, then prints one line `W=... D=... M=... N=...`:\n"
     "  W   work: operations on single values, the time on one processor\n"
     "  D   depth: the longest chain of operations that wait for each other, the time on as many as can be used\n"
     "  M   sequential space: values held at once when sequences are processed one element at a time\n"
     "  N   parallel space: values held at once when all that can run at once does\n"
     "\n"
     "They follow from the program as written, not from how it is compiled; `runnel help cost.md` has the rules.\n",
     1, SIZE_MAX, LIMIT_OPTIONS | FILE_OPTIONS | SHOW_OPTIONS, command_cost, NULL},
    {"bench", "FILE [ARG...]", "time a program",
     "Runs the program in FILE as `run` does, again and again, and shows the least and the median time of a run,\n"
     "peak memory and the result. Compiling, reading arguments and the first runs are not timed. A program without\n"
     "`main` is timed on its top-level expressions together. All runs must give the same result; what the program\n"
     "prints itself is shown for the first one. `runnel help bench.md` says what exactly is measured.\n",
     1, SIZE_MAX, RUN_OPTIONS | FILE_OPTIONS | OPTION_BIT(OPTION_RUNS) | OPTION_BIT(OPTION_JSON) | OPTION_BIT(OPTION_DIGEST),
     command_bench, NULL},
    {"check", "FILE", "check a program and show its types",
     "Reads and checks the program in FILE without running it, and prints `name : type` for each of its\n"
     "definitions.\n",
     1, 1, ENGINE_OPTIONS | COMPILE_OPTIONS, command_check, NULL},
    {"emit", "FORM FILE", "show a program in an intermediate form",
     "Prints what the program in FILE becomes on its way through the compiler. FORM is\n"
     "  core      typed, monomorphic, first order, every intermediate result named\n"
     "  simple    the same after simplification: functions inlined, nothing computed twice or in vain\n"
     "  outlined  the same for engine c: bodies of comprehensions that make vectors are functions\n"
     "  flow      after flattening: streams on spaces, which the VM runs chunk by chunk\n"
     "  counts    how many spaces, segment descriptors, copies and nodes of other kinds that has\n"
     "  kernels   what engine c does together, as loops, and what it leaves to the VM (`runnel help kernels.md`)\n"
     "  c         the C file that is compiled for engine c\n"
     "  c-body    the same without what every such file begins with\n",
     2, 2, COMPILE_OPTIONS, command_emit, emit_forms},
    {"repl", "", "read and evaluate interactively",
     "Reads definitions and expressions, line by line, and evaluates them. What is defined stays defined; an\n"
     "error does not end it. Input that is not finished goes on in the next line. `:help` lists the commands.\n",
     0, 0, RUN_OPTIONS | LANGUAGE_OPTION | SHOW_OPTIONS, command_repl, NULL},
    {"cache", "[clear]", "show or clear the cache of compiled code",
     "Shows the directory where compiled code is kept for the next time, and how many files and bytes it holds;\n"
     "`runnel cache clear` removes them. The directory is $RUNNEL_CACHE, else $XDG_CACHE_HOME/runnel, else\n"
     "~/.cache/runnel. What was not used for longest is removed by itself when there are more than 256 MiB.\n",
     0, 1, 0, command_cache, cache_words},
    {"completions", "SHELL", "show what makes a shell complete the words after `runnel`",
     "Prints a script for SHELL, which is bash, zsh or fish. A package of the system has them in place; else\n"
     "\n"
     "    runnel completions bash > ~/.local/share/bash-completion/completions/runnel\n"
     "    runnel completions zsh > DIRECTORY/_runnel    where DIRECTORY is one of $fpath\n"
     "    runnel completions fish > ~/.config/fish/completions/runnel.fish\n",
     1, 1, 0, command_completions, completion_shells},
    {"help", "[SUBJECT]", "show help",
     "Shows an overview, or what SUBJECT is:\n"
     "  COMMAND  what it does, and its options\n"
     "  --OPTION  what it does, and which commands have it\n"
     "  OPERATION  what an operation of the language does, with its type, such as `scan`; `operations` are all of them\n"
     "  CODE  what an error means, such as `index-range`: the word in brackets when it is reported\n"
     "  manual  the manual page, as man(1) reads it\n"
     "\n"
     "or one of the subjects and documents that the overview lists.\n",
     0, 1, 0, command_help, NULL},
};

const size_t command_count = sizeof commands / sizeof *commands;

const Command *command_find(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

void command_usage(const Command *command, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", command->name, *command->arguments == '\0' ? "" : " ", command->arguments);
}

static bool is_program(const char *name)
{
    const char *suffix = strrchr(name, '.');
    return suffix != NULL && (strcmp(suffix, ".rnl") == 0 || strcmp(suffix, ".nesl") == 0);
}

void command_report_unknown(const char *name)
{
    if (is_program(name)) {
        report_usage("there is no command `%s`; to run the file: runnel run %s", name, name);
        return;
    }
    Suggestion suggestion = suggestion_for(name);
    for (size_t i = 0; i < command_count; i++)
        suggestion_try(&suggestion, commands[i].name);
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        if (strcmp(option_rows[id].name + 2, name) == 0)
            suggestion.best = option_rows[id].name;
    report_unknown("command", &suggestion, "`runnel help` lists them");
}
