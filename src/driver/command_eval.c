#include "driver/commands.h"
#include "driver/host.h"

#include <string.h>

int command_eval(const Options *options)
{
    Host host;
    if (!host_open(&host, options))
        return RUNNEL_RUN_ERROR;
    const char *text = options->words[1];
    RunnelStatus status = host_report(
        &host, runnel_load_text(host.session, "eval", text, strlen(text), options_dialect(options)));
    if (status == RUNNEL_OK)
        status = host_report(&host, runnel_run_items(host.session));
    status = host_show_cost(&host, options, status);
    return host_close(&host, status);
}
