#include "driver/commands.h"
#include "driver/host.h"

int command_check(const Options *options)
{
    Host host;
    if (!host_open(&host, options))
        return RUNNEL_RUN_ERROR;
    RunnelStatus status = host_report(&host, runnel_load_file(host.session, options->words[1]));
    if (status == RUNNEL_OK)
        status = host_report(&host, runnel_write_types(host.session));
    return host_close(&host, status);
}
