#include "driver/commands.h"
#include "driver/host.h"
#include "driver/report.h"

#include <string.h>

static const char *const forms[] = {"core", "simple", "flow", "counts", "c"};

static bool is_form(const char *name)
{
    Suggestion suggestion = suggestion_for(name);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i], name) == 0)
            return true;
        suggestion_try(&suggestion, forms[i]);
    }
    report_unknown("form", &suggestion, "the forms are: core, simple, flow, counts");
    return false;
}

int command_emit(const Options *options)
{
    if (!is_form(options->words[1]))
        return RUNNEL_COMPILE_ERROR;
    Host host;
    if (!host_open(&host, options))
        return RUNNEL_RUN_ERROR;
    RunnelStatus status = host_report(&host, runnel_load_file(host.session, options->words[2]));
    if (status == RUNNEL_OK)
        status = host_report(&host, runnel_write_form(host.session, options->words[1]));
    return host_close(&host, status);
}
