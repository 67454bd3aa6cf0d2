/* The arguments of `main`: from the command line, from files, or the parameters' defaults. */
#ifndef RUNNEL_SESSION_ARGUMENTS_H
#define RUNNEL_SESSION_ARGUMENTS_H

#include "session/session.h"

typedef struct Arguments {
    const char *const *texts;
    size_t count;
} Arguments;

/* One for each parameter. What the engine streams has a source, which stays the session's; everything else is a value. False after an error. */
bool arguments_read(RunnelSession *session, const Arguments *arguments, Value *values, ValueSource **sources);
/* Frees the sources. */
void arguments_close(RunnelSession *session);

#endif
