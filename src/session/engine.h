/* The engine of a session: what runs the program. */
#ifndef RUNNEL_SESSION_ENGINE_H
#define RUNNEL_SESSION_ENGINE_H

#include "session/session.h"

void engine_open(RunnelSession *session);
void engine_close(RunnelSession *session);

/* Values made by or for the engine live on this heap. */
Heap *engine_heap(RunnelSession *session);
/* Runs an item and gives its value (owned by the caller). False after an error. */
bool engine_run_item(RunnelSession *session, uint32_t item, Value *result);
/* Whether sequences given to `main` are read while it runs. */
bool engine_streams(const RunnelSession *session);
/* Calls a function, main or a default of it; takes over the arguments. Those that have a source are streamed instead. False after an error. */
bool engine_call(RunnelSession *session, CoreFunctionId function, const Value *arguments, ValueSource **sources,
                 uint32_t count, Span span, Value *result);

#endif
