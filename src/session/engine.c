#include "session/engine.h"

static bool is_reference(const RunnelSession *session)
{
    return session->options.engine == RUNNEL_ENGINE_REFERENCE;
}

void engine_open(RunnelSession *session)
{
    const RunnelOptions *options = &session->options;
    WorldOutput output = {.write = options->write, .flush = options->flush, .context = options->write_context};
    if (is_reference(session)) {
        session->interpreter = ref_new(&session->memory, session->running, &session->diagnostics,
                                       (InterpreterOptions){.max_depth = options->max_depth,
                                                            .output = output,
                                                            .stop = &session->stop,
                                                            .counts_costs = options->counts_costs});
        return;
    }
    session->vm = vm_new(&session->memory, &session->flow, &session->diagnostics,
                         (VmOptions){.max_depth = options->max_depth,
                                     .chunk = options->chunk,
                                     .memory_limit = options->memory_limit,
                                     .threads = options->threads,
                                     .piece_nanoseconds = options->piece_nanoseconds,
                                     .measures = options->measures,
                                     .compiles = options->engine == RUNNEL_ENGINE_C,
                                     .is_fast = options->is_fast,
                                     .compiler = options->compiler,
                                     .names = &session->names,
                                     .output = output,
                                     .stop = &session->stop,
                                     .progress = &session->progress});
}

void engine_close(RunnelSession *session)
{
    if (session->interpreter != NULL)
        ref_free(session->interpreter);
    if (session->vm != NULL)
        vm_free(session->vm);
}

Heap *engine_heap(RunnelSession *session)
{
    return is_reference(session) ? ref_heap(session->interpreter) : vm_heap(session->vm);
}

bool engine_streams(const RunnelSession *session)
{
    return !is_reference(session);
}

bool engine_prints(const RunnelSession *session, TypeId type)
{
    return engine_streams(session) && !type_is_concrete(&session->types, type);
}

uint64_t engine_run_time(const RunnelSession *session)
{
    return is_reference(session) ? ref_run_time(session->interpreter) : vm_run_time(session->vm);
}

uint32_t engine_threads(const RunnelSession *session)
{
    return is_reference(session) ? 1 : vm_threads(session->vm);
}

Sharing engine_sharing(RunnelSession *session)
{
    return is_reference(session) ? (Sharing){0} : vm_sharing(session->vm);
}

/* The reference interpreter's values are there, wanted or not. */
static void give_or_release(RunnelSession *session, TypeId type, Value value, Value *result)
{
    if (result != NULL)
        *result = value;
    else
        value_release(ref_heap(session->interpreter), &session->types, type, value);
}

uint64_t engine_kernels(const RunnelSession *session)
{
    return is_reference(session) ? 0 : vm_kernels(session->vm);
}

uint64_t engine_vector_bytes(const RunnelSession *session)
{
    return is_reference(session) ? 0 : vm_vector_bytes(session->vm);
}

double engine_compile_seconds(const RunnelSession *session)
{
    return is_reference(session) ? 0 : vm_compile_milliseconds(session->vm) / 1e3;
}

bool engine_run_item(RunnelSession *session, uint32_t index, const VmPrinter *printer, Value *result)
{
    const CoreItem *item = &session->running->items.items[index];
    if (!is_reference(session))
        return vm_run_item(session->vm, index, item, printer, result);
    Value value;
    bool is_done = ref_run_item(session->interpreter, index, item, &value);
    if (is_done)
        give_or_release(session, item->block->result.type, value, result);
    return is_done;
}

bool engine_call(RunnelSession *session, const EngineCall *call, Value *result)
{
    if (!is_reference(session))
        return vm_call(session->vm, call->function, call->arguments, call->sources, call->printer, result);
    Value value;
    bool is_done = ref_call(session->interpreter, call->function, call->arguments, call->count, call->span, &value);
    if (is_done)
        give_or_release(session, session->running->functions.items[call->function]->result_type, value, result);
    return is_done;
}
