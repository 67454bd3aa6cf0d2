/* Results that go to a file instead of standard output. */
#ifndef RUNNEL_SESSION_RESULT_FILE_H
#define RUNNEL_SESSION_RESULT_FILE_H

#include "session/session.h"

/* Before a run whose result has this type; nothing if results are shown. False after an error. */
bool result_file_open(RunnelSession *session, TypeId type);
/* Whether a result goes to a file, and that as it would be shown. */
bool result_file_is_open(const RunnelSession *session);
bool result_file_takes_text(const RunnelSession *session);
void result_file_text(RunnelSession *session, const char *bytes, size_t length);
/* For the engine that gives rows; the context is the session. */
Columns *result_file_rows(void *context);
const char *result_file_take_rows(void *context, const Columns *rows);

/* The run has ended: the file appears, with this value if there is one and it is not given in other ways, or nothing is left of it. False after an error. */
bool result_file_end(RunnelSession *session, bool is_right, const Value *value);
/* Forgets what a run without memory has left. */
void result_file_close(RunnelSession *session);

#endif
