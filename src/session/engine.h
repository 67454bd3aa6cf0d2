/* The engine of a session: what runs the program. */
#ifndef RUNNEL_SESSION_ENGINE_H
#define RUNNEL_SESSION_ENGINE_H

#include "session/session.h"

void engine_open(RunnelSession *session);
void engine_close(RunnelSession *session);

/* Values made by or for the engine live on this heap. */
Heap *engine_heap(RunnelSession *session);
/* Whether a result of this type is printed while it is computed, instead of given. */
bool engine_prints(const RunnelSession *session, TypeId type);
/* Runs an item and gives its value (owned by the caller), unless it is printed, or `result` is null. False after an error. */
bool engine_run_item(RunnelSession *session, uint32_t item, const VmPrinter *printer, Value *result);
/* Whether sequences given to `main` are read while it runs. */
bool engine_streams(const RunnelSession *session);
/* What the last run took, in nanoseconds. */
uint64_t engine_run_time(const RunnelSession *session);
/* Those that share the work. */
uint32_t engine_threads(const RunnelSession *session);
/* ... with those who read its arguments. */
Sharing engine_sharing(RunnelSession *session);
/* Kernels that were compiled. */
uint64_t engine_kernels(const RunnelSession *session);
uint64_t engine_vector_bytes(const RunnelSession *session);
double engine_compile_seconds(const RunnelSession *session);
/* A call of `main`. What is given stays the caller's, but for the values, which are taken over. */
typedef struct EngineCall {
    CoreFunctionId function;
    Span span;
    const Value *arguments;
    ValueSource *const *sources; /* instead of a value, where one is streamed */
    uint32_t count;
    const VmPrinter *printer;
} EngineCall;

/* Calls `main`, or a default of one of its parameters, which takes nothing and is not printed. Gives the result as above. */
bool engine_call(RunnelSession *session, const EngineCall *call, Value *result);

#endif
