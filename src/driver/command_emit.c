#include "driver/commands.h"
#include "driver/host.h"
#include "driver/report.h"

const char *const emit_forms[] = {"core", "simple", "outlined", "flow", "counts", "kernels", "c", "c-body", NULL};

int command_emit(const Options *options)
{
    size_t form;
    if (!report_choice("form", emit_forms, options->words[1], &form))
        return RUNNEL_COMPILE_ERROR;
    Host host;
    if (!host_open(&host, options))
        return RUNNEL_RUN_ERROR;
    RunnelStatus status = host_report(&host, runnel_load_file(host.session, options->words[2]));
    if (status == RUNNEL_OK)
        status = host_report(&host, runnel_write_form(host.session, options->words[1]));
    return host_close(&host, status);
}
