/* Completions: scripts for shells, made from the tables of commands and options. What comes after a command is seen in its usage line: FILE is a
 * program, ARG a value or @PATH, and anything else one of the command's choices. */
#include "driver/commands.h"
#include "driver/output.h"
#include "driver/report.h"
#include "driver/subjects.h"

#include <stdio.h>
#include <string.h>

/* ---- words that all shells offer ---- */

/* Writes the words with `between` between them. */
static void write_words(const char *const *words, const char *between)
{
    for (size_t i = 0; words[i] != NULL; i++)
        output_print("%s%s", i == 0 ? "" : between, words[i]);
}

static void write_command_names(const char *between)
{
    for (size_t i = 0; i < command_count; i++)
        output_print("%s%s", i == 0 ? "" : between, commands[i].name);
}

/* What `help` can be asked, but for operations and errors: they are many. */
static void write_subjects(const char *between)
{
    write_command_names(between);
    for (size_t i = 0; i < subject_count; i++)
        output_print("%s%s", between, subjects[i].name);
    output_print("%soperations%smanual", between, between);
    for (size_t i = 0; i < document_file_count; i++)
        output_print("%s%s", between, document_name(&document_files[i]));
}

static bool takes_subject(const Command *command)
{
    return strstr(command->arguments, "SUBJECT") != NULL;
}

static bool takes_program(const Command *command)
{
    return strstr(command->arguments, "FILE") != NULL;
}

static bool takes_values(const Command *command)
{
    return strstr(command->arguments, "ARG") != NULL;
}

static bool has_choices(const Command *command)
{
    return command->choices != NULL || takes_subject(command);
}

static void write_choices(const Command *command, const char *between)
{
    if (command->choices != NULL)
        write_words(command->choices, between);
    else if (takes_subject(command))
        write_subjects(between);
}

static unsigned options_of(const Command *command)
{
    return command->options | COMMON_OPTIONS;
}

static void write_option_names(unsigned bits, const char *between)
{
    const char *before = "";
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        if ((bits & OPTION_BIT(id)) != 0) {
            output_print("%s%s", before, option_rows[id].name);
            before = between;
        }
}

/* ---- bash ---- */

static void write_bash_values(void)
{
    output_print("    case $previous in\n");
    for (OptionId id = 0; id < OPTION_COUNT; id++) {
        if (option_rows[id].value == NULL)
            continue;
        output_print("    %s) ", option_rows[id].name);
        if (option_rows[id].choices != NULL) {
            output_print("COMPREPLY=($(compgen -W '");
            write_words(option_rows[id].choices, " ");
            output_print("' -- \"$current\")); ");
        }
        output_print("return ;;\n");
    }
    output_print("    esac\n");
}

static void write_bash_options(void)
{
    output_print("        case $command in\n");
    for (size_t i = 0; i < command_count; i++) {
        output_print("        %s) options='", commands[i].name);
        write_option_names(options_of(&commands[i]), " ");
        output_print("' ;;\n");
    }
    output_print("        *) options='");
    write_option_names(OPTION_BIT(OPTION_COUNT) - 1, " ");
    output_print("' ;;\n        esac\n");
}

/* Of each command, the words of its first argument, and the place of its program, counted from 1. */
static void write_bash_arguments(void)
{
    output_print("    case $command in\n    '') choices='");
    write_command_names(" ");
    output_print("' ;;\n");
    for (size_t i = 0; i < command_count; i++) {
        const Command *command = &commands[i];
        if (!has_choices(command) && !takes_program(command))
            continue;
        output_print("    %s) ", command->name);
        if (takes_program(command))
            output_print("program=%d; ", has_choices(command) ? 2 : 1);
        if (takes_values(command))
            output_print("values=yes; ");
        if (has_choices(command)) {
            output_print("if ((place == 1)); then choices='");
            write_choices(command, " ");
            output_print("'; fi ");
        }
        output_print(";;\n");
    }
    output_print("    esac\n");
}

static void show_bash(void)
{
    output_print("# Completion of `runnel` for bash; made by `runnel completions bash`.\n"
                 "_runnel() {\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local command='' place=0 options='' choices='' program=0 values='' i word\n"
                 "    COMPREPLY=()\n"
                 "    if [[ $current == = ]]; then current=''; fi\n"
                 "    if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                 "        word=${COMP_WORDS[i]}\n"
                 "        case $word in\n"
                 "        ");
    const char *before = "";
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        if (option_rows[id].value != NULL) {
            output_print("%s%s", before, option_rows[id].name);
            before = "|";
        }
    output_print(")\n"
                 "            [[ ${COMP_WORDS[i+1]} == = ]] && ((i++))\n"
                 "            ((i++)) ;;\n"
                 "        -*) ;;\n"
                 "        *) if [[ -z $command ]]; then command=$word; else ((place++)); fi ;;\n"
                 "        esac\n"
                 "    done\n"
                 "    [[ -n $command ]] && ((place++))\n");
    write_bash_values();
    output_print("    if [[ $current == -* ]]; then\n");
    write_bash_options();
    output_print("        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
                 "        return\n"
                 "    fi\n");
    write_bash_arguments();
    output_print("    if [[ -n $choices ]]; then\n"
                 "        COMPREPLY=($(compgen -W \"$choices\" -- \"$current\"))\n"
                 "    elif ((program > 0 && place == program)); then\n"
                 "        local IFS=$'\\n'\n"
                 "        compopt -o filenames 2>/dev/null\n"
                 "        COMPREPLY=($(compgen -f -X '!*.rnl' -- \"$current\"; compgen -f -X '!*.nesl' -- \"$current\"; compgen -d -- \"$current\"))\n"
                 "    elif [[ -n $values && $current == @* ]]; then\n"
                 "        local IFS=$'\\n'\n"
                 "        compopt -o filenames 2>/dev/null\n"
                 "        COMPREPLY=($(compgen -f -P @ -- \"${current#@}\"))\n"
                 "    fi\n"
                 "}\n"
                 "complete -F _runnel runnel\n");
}

/* ---- zsh ---- */

/* Within single quotes, and for `_arguments`, where brackets and colons mean something. */
static void write_zsh_text(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            output_print("'\\''");
        else if (strchr("[]:\\", *c) != NULL)
            output_print("\\%c", *c);
        else
            output_write(c, 1);
    }
}

static void write_zsh_option(OptionId id)
{
    const OptionRow *row = &option_rows[id];
    output_print(" \\\n            '%s%s[", row->name, row->value == NULL ? "" : "=");
    write_zsh_text(row->summary);
    output_print("]");
    if (row->value != NULL)
        output_print(":%s:", row->value);
    if (row->choices != NULL) {
        output_print("(");
        write_words(row->choices, " ");
        output_print(")");
    }
    output_print("'");
}

static void write_zsh_arguments(const Command *command)
{
    if (has_choices(command)) {
        output_print(" \\\n            '1:%s:(", command->name);
        write_choices(command, " ");
        output_print(")'");
    }
    if (takes_program(command))
        output_print(" \\\n            '%d:program:_files -g \"*.(rnl|nesl)\"'", has_choices(command) ? 2 : 1);
    if (takes_values(command))
        output_print(" \\\n            '*:argument:_runnel_value'");
}

static void show_zsh(void)
{
    output_print("#compdef runnel\n"
                 "# Completion of `runnel` for zsh; made by `runnel completions zsh`.\n"
                 "_runnel_value() {\n"
                 "    compset -P @ && _files\n"
                 "}\n"
                 "_runnel() {\n"
                 "    local context state state_descr line\n"
                 "    typeset -A opt_args\n"
                 "    local -a commands=(");
    for (size_t i = 0; i < command_count; i++) {
        output_print("\n        '%s:", commands[i].name);
        write_zsh_text(commands[i].summary);
        output_print("'");
    }
    output_print(")\n"
                 "    if ((CURRENT == 2)) && [[ $PREFIX != -* ]]; then\n"
                 "        _describe command commands\n"
                 "        return\n"
                 "    fi\n"
                 "    local command=$words[2]\n"
                 "    if ((CURRENT > 2)); then\n"
                 "        words=(\"${(@)words[2,-1]}\")\n"
                 "        ((CURRENT--))\n"
                 "    fi\n"
                 "    case $command in\n");
    for (size_t i = 0; i < command_count; i++) {
        output_print("    %s)\n        _arguments -s", commands[i].name);
        for (OptionId id = 0; id < OPTION_COUNT; id++)
            if ((options_of(&commands[i]) & OPTION_BIT(id)) != 0)
                write_zsh_option(id);
        write_zsh_arguments(&commands[i]);
        output_print(" ;;\n");
    }
    output_print("    *)\n        _arguments -s");
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        write_zsh_option(id);
    output_print(" ;;\n    esac\n}\n"
                 "if [[ $funcstack[1] == _runnel ]]; then\n"
                 "    _runnel \"$@\"\n"
                 "else\n"
                 "    compdef _runnel runnel\n"
                 "fi\n");
}

/* ---- fish ---- */

static void write_fish_text(const char *text)
{
    output_print("'");
    for (const char *c = text; *c != '\0'; c++)
        output_print(*c == '\'' || *c == '\\' ? "\\%c" : "%c", *c);
    output_print("'");
}

static void write_fish_command(const Command *command)
{
    output_print("complete -c runnel -n __fish_use_subcommand -a %s -d ", command->name);
    write_fish_text(command->summary);
    output_print("\n");
    if (has_choices(command)) {
        output_print("complete -c runnel -n '__runnel_place %s 1' -a '", command->name);
        write_choices(command, " ");
        output_print("'\n");
    }
    if (takes_program(command))
        output_print("complete -c runnel -n '__runnel_place %s %d' -a '(__fish_complete_suffix .rnl; __fish_complete_suffix .nesl)'\n",
                     command->name, has_choices(command) ? 2 : 1);
    if (takes_values(command))
        output_print("complete -c runnel -n '__fish_seen_subcommand_from %s; and string match -q -- \"@*\" (commandline -ct)' -a "
                     "'@(__fish_complete_path (string sub -s 2 -- (commandline -ct)))'\n",
                     command->name);
}

static void write_fish_option(OptionId id)
{
    const OptionRow *row = &option_rows[id];
    output_print("complete -c runnel -l %s ", row->name + 2);
    if ((COMMON_OPTIONS & OPTION_BIT(id)) == 0) {
        const char *before = "-n '__fish_seen_subcommand_from";
        for (size_t i = 0; i < command_count; i++)
            if ((options_of(&commands[i]) & OPTION_BIT(id)) != 0) {
                output_print("%s %s", before, commands[i].name);
                before = "";
            }
        output_print(*before == '\0' ? "' " : "-n '__fish_use_subcommand' ");
    }
    if (row->value != NULL)
        output_print("-x ");
    if (row->choices != NULL) {
        output_print("-a '");
        write_words(row->choices, " ");
        output_print("' ");
    }
    output_print("-d ");
    write_fish_text(row->summary);
    output_print("\n");
}

static void show_fish(void)
{
    output_print("# Completion of `runnel` for fish; made by `runnel completions fish`.\n"
                 "# Whether the word to come is argument number $argv[2] of command $argv[1]; options do not count.\n"
                 "function __runnel_place\n"
                 "    set -l words (string match -v -- '-*' (commandline -poc))\n"
                 "    test (count $words) -eq (math $argv[2] + 1); and test \"$words[2]\" = $argv[1]\n"
                 "end\n"
                 "complete -c runnel -f\n");
    for (size_t i = 0; i < command_count; i++)
        write_fish_command(&commands[i]);
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        write_fish_option(id);
}

/* ---- the command ---- */

const char *const completion_shells[] = {"bash", "zsh", "fish", NULL};
static void (*const writers[])(void) = {show_bash, show_zsh, show_fish};

int command_completions(const Options *options)
{
    size_t shell;
    if (!report_choice("shell", completion_shells, options->words[1], &shell))
        return RUNNEL_COMPILE_ERROR;
    writers[shell]();
    return RUNNEL_OK;
}
