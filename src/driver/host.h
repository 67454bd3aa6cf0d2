/* A session as the commands use it: results to standard output, messages to standard error, Ctrl-C. */
#ifndef RUNNEL_DRIVER_HOST_H
#define RUNNEL_DRIVER_HOST_H

#include "driver/options.h"

enum { STATUS_INTERRUPTED = 130 };

/* Where what a program prints itself goes. */
typedef enum HostOutput { HOST_OUTPUT, HOST_ERRORS, HOST_NOWHERE } HostOutput;

typedef struct Host {
    RunnelSession *session;
    bool shows_progress;
    bool is_inside_line; /* what the program wrote last to standard output has not ended its line */
    /* For a command to change, once it is open. */
    HostOutput output;
    void (*take_result)(void *context, const char *bytes, size_t length); /* of printed results; null: to standard output */
    void *take_context;
} Host;

/* False after showing why. */
bool host_open(Host *host, const Options *options);
/* Returns the exit status of a command whose last call ended with `status`. */
int host_close(Host *host, RunnelStatus status);

/* Writes out the results so far, then shows the messages of the call that returned `status`, and returns it. */
RunnelStatus host_report(const Host *host, RunnelStatus status);

/* After a run that ended with `status`: shows its cost if the options ask for it. */
RunnelStatus host_show_cost(const Host *host, const Options *options, RunnelStatus status);

/* Something is to be run, as it is at first: Ctrl-C goes to the session, and a line shows how far it is if that takes long. Otherwise Ctrl-C is only counted. */
void host_begin_work(const Host *host);
void host_end_work(const Host *host);
/* Whether there was a Ctrl-C since this was last asked. */
bool host_take_interrupt(void);

#endif
