/* The arguments of `main`: from the command line, from files, or the parameters' defaults. */
#ifndef RUNNEL_SESSION_ARGUMENTS_H
#define RUNNEL_SESSION_ARGUMENTS_H

#include "session/session.h"

typedef struct Arguments {
    const char *const *texts;
    size_t count;
} Arguments;

/* How many parameters `main` has. */
uint32_t arguments_wanted(const RunnelSession *session);
GivenArguments arguments_room(RunnelSession *session);

/* For one call. False after an error. */
bool arguments_read(RunnelSession *session, const Arguments *arguments, GivenArguments *given);

/* For many: reads everything into memory, then gives it for each of the calls. False after an error. */
bool arguments_hold(RunnelSession *session, const Arguments *arguments);
bool arguments_give(RunnelSession *session, GivenArguments *given);

/* Frees the sources. */
void arguments_close(RunnelSession *session);

#endif
