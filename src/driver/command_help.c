#include "driver/commands.h"
#include "driver/host.h"
#include "driver/output.h"
#include "driver/report.h"

#include <stdio.h>
#include <string.h>

static void show_option(const OptionRow *row)
{
    char usage[32];
    snprintf(usage, sizeof usage, "%s %s", row->name, row->value == NULL ? "" : row->value);
    output_print("  %-18s  %s\n", usage, row->summary);
}

static void show_options(unsigned bits)
{
    output_print("\nOptions:\n");
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        if ((bits & OPTION_BIT(id)) != 0)
            show_option(&option_rows[id]);
}

static void show_overview(void)
{
    output_print("Runnel %s runs nested data-parallel programs.\n\nCommands:\n", RUNNEL_VERSION);
    for (size_t i = 0; i < command_count; i++) {
        char usage[64];
        snprintf(usage, sizeof usage, "%s %s", commands[i].name, commands[i].arguments);
        output_print("  runnel %-19s  %s\n", usage, commands[i].summary);
    }
    show_options(OPTION_BIT(OPTION_COUNT) - 1);
    output_print("\nOptions may stand anywhere. `-3` is a value, and so is everything after `--`.\n"
                 "Exit status: 0, or 1 when the program failed, 2 when it or the command line is wrong, 130 after Ctrl-C.\n");
}

static void show_command(const Command *command)
{
    output_print("runnel %s%s%s\n\n%s", command->name, *command->arguments == '\0' ? "" : " ", command->arguments,
           command->help);
    show_options(command->options | OPTION_BIT(OPTION_HELP));
}

/* What is no command may be an operation; `operations` are all of them. */
static int show_operations(const char *subject, const Options *options)
{
    Host host;
    if (!host_open(&host, options))
        return RUNNEL_RUN_ERROR;
    bool is_everything = strcmp(subject, "operations") == 0;
    RunnelStatus status = runnel_write_operations(host.session, is_everything ? NULL : subject);
    if (status != RUNNEL_OK)
        command_report_unknown(subject);
    return host_close(&host, status);
}

int help_show(const char *subject, const Options *options)
{
    if (subject == NULL) {
        show_overview();
        return RUNNEL_OK;
    }
    const Command *command = command_find(subject);
    if (command == NULL)
        return show_operations(subject, options);
    show_command(command);
    return RUNNEL_OK;
}

int command_help(const Options *options)
{
    return help_show(options->word_count > 1 ? options->words[1] : NULL, options);
}
