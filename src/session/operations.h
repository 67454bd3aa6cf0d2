/* The operations and library functions as text. */
#ifndef RUNNEL_SESSION_OPERATIONS_H
#define RUNNEL_SESSION_OPERATIONS_H

#include "session/session.h"

/* All of them in sections, as a document (docs/operations.md). */
void operations_write_all(RunnelSession *session, Text *out);

/* One of them: its type in each dialect and what it does. False if there is none of this name. */
bool operations_write_one(RunnelSession *session, const char *name, Text *out);

/* The name that is most like this one; null if none is near. */
const char *operations_nearest(RunnelSession *session, const char *name);

#endif
