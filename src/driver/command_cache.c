#include "driver/commands.h"
#include "driver/host.h"
#include "driver/report.h"

#include <string.h>

int command_cache(const Options *options)
{
    bool is_cleared = options->word_count > 1;
    if (is_cleared && strcmp(options->words[1], "clear") != 0) {
        report_usage("`cache` can only be told to `clear`, not to `%s`; usage: runnel cache [clear]", options->words[1]);
        return RUNNEL_COMPILE_ERROR;
    }
    Host host;
    if (!host_open(&host, options))
        return RUNNEL_RUN_ERROR;
    return host_close(&host, host_report(&host, is_cleared ? runnel_clear_cache(host.session) : runnel_write_cache(host.session)));
}
