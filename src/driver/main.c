/* runnel: the command line, a thin user of the library. */
#include "base/machine.h"
#include "driver/commands.h"
#include "driver/output.h"
#include "driver/report.h"

#include <limits.h>
#include <malloc.h>
#include <signal.h>

/* False after showing an error. */
static bool check_usage(const Command *command, const Options *options)
{
    size_t count = options->word_count - 1;
    for (OptionId id = 0; id < OPTION_COUNT; id++)
        if (options_has(options, id) && ((command->options | COMMON_OPTIONS) & OPTION_BIT(id)) == 0) {
            report_usage("`%s` has no option `%s`; `runnel help %s` lists those it has", command->name, option_rows[id].name, command->name);
            return false;
        }
    if (!options_agree(options))
        return false;
    if (count < command->least || count > command->most) {
        char usage[USAGE_SIZE];
        command_usage(command, usage, sizeof usage);
        report_usage("too %s arguments; usage: runnel %s", count < command->least ? "few" : "many", usage);
        return false;
    }
    return true;
}

static int run_command(const Options *options)
{
    if (options_has(options, OPTION_VERSION)) {
        output_print("runnel %s\n", RUNNEL_VERSION);
        return RUNNEL_OK;
    }
    if (options_has(options, OPTION_HELP))
        return help_show(options->word_count > 0 ? options->words[0] : NULL, options);
    if (options->word_count == 0) {
        report_usage("no command; `runnel help` lists them");
        return RUNNEL_COMPILE_ERROR;
    }
    const Command *command = command_find(options->words[0]);
    if (command == NULL) {
        command_report_unknown(options->words[0]);
        return RUNNEL_COMPILE_ERROR;
    }
    return check_usage(command, options) ? command->run(options) : RUNNEL_COMPILE_ERROR;
}

/* Large vectors come and go: their memory is kept for the next ones, for pages that the system gives anew cost more than what is done with them. */
static void keep_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, machine_memory() / 8 < INT_MAX ? (int)(machine_memory() / 8) : INT_MAX);
    mallopt(M_TOP_PAD, 4 << 20);
#endif
}

int main(int count, char **arguments)
{
    keep_memory();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of writing, seen by output_finish */
    Options options;
    int status = options_parse(&options, count, arguments) ? run_command(&options) : RUNNEL_COMPILE_ERROR;
    return output_finish(status);
}
