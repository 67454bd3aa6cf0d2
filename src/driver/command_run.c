#include "driver/commands.h"
#include "driver/host.h"

int command_run(const Options *options)
{
    Host host;
    if (!host_open(&host, options))
        return RUNNEL_RUN_ERROR;
    const char *const *arguments = (const char *const *)options->words + 2;
    RunnelStatus status = host_report(&host, runnel_load_file(host.session, options->words[1]));
    if (status == RUNNEL_OK)
        status = host_report(&host, runnel_run(host.session, arguments, options->word_count - 2));
    status = host_show_cost(&host, options, status);
    return host_close(&host, status);
}
