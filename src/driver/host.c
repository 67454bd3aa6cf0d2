#define _POSIX_C_SOURCE 200809L
#include "driver/host.h"

#include "base/machine.h"
#include "driver/output.h"
#include "driver/progress_line.h"
#include "driver/report.h"
#include "driver/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* What the signal handler needs. */
static RunnelSession *_Atomic interrupt_session;
static volatile sig_atomic_t interrupt_count;
static uint64_t first_interrupt; /* its time */

/* The first Ctrl-C asks the session to stop, which it does in an orderly way; a second one does not wait. One that comes at once is the same one, sent to
 * the process and to its group. */
static void on_interrupt(int signal_number)
{
    (void)signal_number;
    RunnelSession *session = interrupt_session;
    enum { APART = 200 * 1000 * 1000 }; /* nanoseconds */
    if (session != NULL && interrupt_count > 0 && machine_clock() - first_interrupt > APART)
        _exit(STATUS_INTERRUPTED);
    if (interrupt_count == 0)
        first_interrupt = machine_clock();
    interrupt_count = interrupt_count + 1;
    if (session != NULL)
        runnel_interrupt(session);
}

static void install_handlers(void)
{
    struct sigaction on_sigint = {.sa_handler = on_interrupt}; /* without SA_RESTART: reading a line ends too */
    sigemptyset(&on_sigint.sa_mask);
    sigaction(SIGINT, &on_sigint, NULL);
}

/* When nobody reads the results any more, computing them is pointless. */
static void write_out(const Host *host, const char *bytes, size_t length)
{
    bool is_seen = length > 0 && isatty(STDOUT_FILENO);
    if (is_seen)
        progress_make_room();
    if (!output_write(bytes, length))
        runnel_interrupt(host->session);
    if (is_seen)
        progress_go_on(bytes[length - 1] != '\n');
}

static void write_output(void *context, const char *bytes, size_t length)
{
    Host *host = context;
    switch (host->output) {
    case HOST_OUTPUT:
        write_out(host, bytes, length);
        if (length > 0)
            host->is_inside_line = bytes[length - 1] != '\n';
        break;
    case HOST_ERRORS: fwrite(bytes, 1, length, stderr); break;
    case HOST_NOWHERE: break;
    }
}

static void write_result(void *context, const char *bytes, size_t length)
{
    const Host *host = context;
    if (host->take_result != NULL)
        host->take_result(host->take_context, bytes, length);
    else
        write_out(host, bytes, length);
}

static void flush_results(void *context, bool is_awaited)
{
    (void)context;
    if (is_awaited) {
        progress_stay_away();
        output_flush();
    } else {
        progress_notice_waiting();
        output_hurry();
    }
}

/* Nobody waits for the reader of the results after Ctrl-C, or when the time for them is over. */
static bool is_stopping(void *context)
{
    const RunnelSession *session = context;
    return interrupt_count > 0 || (session != NULL && runnel_is_stopping(session));
}

bool host_open(Host *host, const Options *options)
{
    *host = (Host){0};
    RunnelOptions session_options = {
        .write = write_output,
        .write_result = write_result,
        .flush = flush_results,
        .write_context = host,
        .engine = options_engine(options),
        .compiler = options->compiler,
        .is_fast = options_has(options, OPTION_FAST),
        .chunk = options->chunk,
        .threads = (uint32_t)options->threads,
        .piece_nanoseconds = options->piece,
        .measures = options_has(options, OPTION_STATS),
        .memory_limit = options->memory,
        .time_limit_milliseconds = options->time,
        .file_format = options->format,
        .header = options->header,
        .empty_field = options->empty,
        .out_path = options->out == NULL && options->out_format != NULL ? "-" : options->out,
        .out_format = options->out_format,
        .max_depth = options->max_depth,
        .colours_messages = terminal_is_coloured(STDERR_FILENO),
        .print_length = options->print_length,
        .materializes = options_has(options, OPTION_MATERIALIZE),
        .counts_costs = options_has(options, OPTION_COST),
        .is_unsimplified = options_has(options, OPTION_NO_SIMPLIFY),
    };
    host->session = runnel_open(&session_options);
    if (host->session == NULL) {
        report_error("out-of-memory", "there is not enough memory to start");
        return false;
    }
    output_set_stopping(is_stopping, host->session);
    host->shows_progress = !options_has(options, OPTION_NO_PROGRESS);
    host_begin_work(host);
    install_handlers();
    return true;
}

int host_close(Host *host, RunnelStatus status)
{
    host_end_work(host);
    output_flush();
    output_set_stopping(is_stopping, NULL);
    fputs(runnel_stats(host->session), stderr);
    runnel_close(host->session);
    return host_take_interrupt() ? STATUS_INTERRUPTED : (int)status;
}

/* How far it came before Ctrl-C. */
static void show_summary(const Host *host)
{
    char summary[256];
    progress_summarize(host->session, summary, sizeof summary);
    fprintf(stderr, "note: stopped after %s\n", summary);
}

RunnelStatus host_report(const Host *host, RunnelStatus status)
{
    progress_make_room();
    if (output_flush())
        fputs(runnel_messages(host->session), stderr);
    if (status == RUNNEL_RUN_ERROR && interrupt_count > 0)
        show_summary(host);
    progress_go_on(false);
    return status;
}

RunnelStatus host_show_cost(const Host *host, const Options *options, RunnelStatus status)
{
    if (status != RUNNEL_OK || !options_has(options, OPTION_COST))
        return status;
    return host_report(host, runnel_write_cost(host->session));
}

void host_begin_work(const Host *host)
{
    interrupt_session = host->session;
    progress_begin(host->session, host->shows_progress);
}

void host_end_work(const Host *host)
{
    (void)host;
    interrupt_session = NULL;
    progress_end();
}

bool host_take_interrupt(void)
{
    bool is_taken = interrupt_count > 0;
    interrupt_count = 0;
    return is_taken;
}
