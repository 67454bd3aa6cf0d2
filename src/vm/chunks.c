#include "vm/chunks.h"

#include "vm/call.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

enum {
    LEAST_BYTES = 1024,
    FIRST_SIZE = 4,
    FUNCTION_SIZE = 6,
    TEXT_SIZE = 8, /* where texts are read: about what is found in a block of a file (vm/text_block.h) */
    SCARCE_SIZE = 1, /* smaller ones save little, until nothing else helps */
    WINDOWS = 3,      /* measured at each size: the best of them counts, for others may be at work on the machine */
    TRIES = 3,        /* larger sizes that are tried beyond the best: it may take several steps until threads have enough to share */
    SLOW_WINDOWS = 8, /* before sizes are tried again */
};
static const uint64_t window_time = 200 * 1000;           /* nanoseconds */
static const size_t instance_bytes = (size_t)16 << 20;    /* all buffers of an instance, about */
static const float as_good = 1.04f, much_slower = 2.0f;

size_t chunk_bytes(uint8_t size)
{
    return (size_t)LEAST_BYTES << size;
}

/* Streams that have buffers: somebody wants to see their elements, and there may be more than one. */
static size_t buffer_count(const Plan *plan)
{
    size_t count = 0;
    for (FlowStreamId id = 1; id < plan->stream_count; id++)
        count += plan->streams[id].is_looked_at && plan->network->streams.items[id].space != FLOW_UNIT;
    return count;
}

static bool reads_texts(const FlowNetwork *network)
{
    for (FlowNodeId id = 0; id < network->nodes.count; id++)
        if (network->nodes.items[id].op == FLOW_LINES)
            return true;
    return false;
}

static uint8_t first_size(const FlowNetwork *network)
{
    return flow_has_root(network) ? FUNCTION_SIZE : reads_texts(network) ? TEXT_SIZE : FIRST_SIZE;
}

void chunks_init(Chunks *chunks, const Vm *vm, const Plan *plan)
{
    const FlowNetwork *network = plan->network;
    size_t buffers = buffer_count(plan);
    size_t budget = vm->options.memory_limit / 16 < instance_bytes ? vm->options.memory_limit / 16 : instance_bytes;
    *chunks = (Chunks){.is_fixed = vm->options.chunk != 0, .slow_limit = SLOW_WINDOWS, .most = CHUNK_SIZES - 1};
    while (chunks->most > 0 && chunk_bytes(chunks->most) * buffers > budget)
        chunks->most--;
    uint8_t size = first_size(network);
    chunks->size = chunks->most < size ? chunks->most : size;
    chunks->is_steady = flow_has_root(network);
    chunks->steady_time = flow_has_root(network) ? FLT_MAX : 0;
}

uint32_t chunks_elements(const Chunks *chunks, const Vm *vm, size_t element_size)
{
    if (chunks->is_fixed)
        return vm->options.chunk < UINT32_MAX / 4 ? (uint32_t)vm->options.chunk : UINT32_MAX / 4;
    return (uint32_t)(chunk_bytes(chunks->size) / (element_size == 0 ? sizeof(int64_t) : element_size));
}

/* ---- deciding ---- */

static void go_to(Chunks *chunks, uint8_t size, ChunkReason reason)
{
    if (chunks->step_count < CHUNK_STEPS)
        chunks->steps[chunks->step_count] =
            (ChunkStep){.size = chunks->size, .reason = reason, .picoseconds = chunks->least_time[chunks->size]};
    chunks->step_count++;
    chunks->size = size;
    chunks->windows = 0;
}

static bool memory_is_scarce(const Vm *vm)
{
    return vm->memory->live_bytes > vm->options.memory_limit / 4 * 3;
}

static uint8_t best_size(const Chunks *chunks)
{
    uint8_t best = chunks->size;
    for (uint8_t i = 0; i <= chunks->most; i++)
        if (chunks->least_time[i] != 0 && chunks->least_time[i] < chunks->least_time[best])
            best = i;
    return best;
}

static void choose(Chunks *chunks)
{
    uint8_t size = 0;
    float limit = chunks->least_time[best_size(chunks)] * as_good;
    while (chunks->least_time[size] == 0 || chunks->least_time[size] > limit)
        size++;
    go_to(chunks, size, CHUNK_CHOSEN);
    chunks->is_steady = true;
    chunks->steady_time = chunks->least_time[size];
}

static void explore(Chunks *chunks)
{
    if (chunks->windows <= WINDOWS)
        return;
    if (chunks->size < chunks->most && chunks->size < best_size(chunks) + TRIES)
        go_to(chunks, chunks->size + 1, CHUNK_TRIED);
    else
        choose(chunks);
}

static void watch(Chunks *chunks, float time)
{
    chunks->slow_windows = time / much_slower > chunks->steady_time ? chunks->slow_windows + 1 : 0;
    if (chunks->slow_windows < chunks->slow_limit)
        return;
    go_to(chunks, chunks->size < FIRST_SIZE ? chunks->size : FIRST_SIZE, CHUNK_SLOWER);
    memset(chunks->least_time, 0, sizeof chunks->least_time);
    chunks->is_steady = false;
    chunks->slow_windows = 0;
    chunks->slow_limit = chunks->slow_limit < UINT8_MAX / 2 ? chunks->slow_limit * 2 : UINT8_MAX;
}

static void end_window(Chunks *chunks, const Vm *vm, float time)
{
    if (memory_is_scarce(vm) && chunks->size > SCARCE_SIZE) {
        chunks->most = chunks->size - 1;
        go_to(chunks, chunks->most, CHUNK_MEMORY);
        return;
    }
    if (++chunks->windows == 1)
        return; /* buffers were made and filled */
    float *least = &chunks->least_time[chunks->size];
    *least = *least == 0 || time < *least ? time : *least;
    if (chunks->is_steady)
        watch(chunks, time);
    else
        explore(chunks);
    if (chunks->windows == UINT8_MAX)
        chunks->windows--;
}

void chunks_measure(Chunks *chunks, const Vm *vm, uint64_t time, uint64_t elements)
{
    if (chunks->is_fixed)
        return;
    chunks->time += time;
    chunks->elements += elements;
    if (chunks->time < window_time || chunks->elements == 0)
        return;
    end_window(chunks, vm, (float)chunks->time * 1000 / (float)chunks->elements);
    chunks->time = chunks->elements = 0;
}

/* ---- following ---- */

/* Buffers that had to grow for the program to go on keep what they have. Whether they hold anything back must be seen anew. */
static void set_limits(Vm *vm, Instance *instance, const Chunks *before)
{
    const Plan *plan = instance->plan;
    for (FlowStreamId id = 1; id < plan->stream_count; id++) {
        Stream *stream = &instance->streams[id];
        uint32_t old = chunks_elements(before, vm, plan->streams[id].size);
        uint32_t new = chunks_elements(&plan->chunks, vm, plan->streams[id].size);
        if (stream->limit <= old || stream->limit < new)
            stream->limit = new;
        stream->was_full = stream->was_asked = false;
        stream_trim(vm, instance, id);
    }
}

void chunks_follow(Vm *vm, Instance *instance)
{
    const Plan *plan = instance->plan;
    if (instance->chunk_size == plan->chunks.size)
        return;
    set_limits(vm, instance, &(Chunks){.size = instance->chunk_size});
    instance->chunk_size = plan->chunks.size;
    for (FlowNodeId id = 0; id < plan->node_count; id++)
        instance_wake(instance, id);
}

bool chunks_shrink_all(Vm *vm)
{
    bool has_shrunk = false;
    for (size_t i = 0; i < vm->frame_count; i++) {
        Instance *instance = vm->frames[i].instance;
        if (instance == NULL || instance->plan->chunks.is_fixed)
            continue;
        Chunks *chunks = &instance->plan->chunks;
        if (chunks->size > 0) {
            chunks->most = 0;
            go_to(chunks, 0, CHUNK_MEMORY);
        }
        has_shrunk |= instance->chunk_size != 0;
        chunks_follow(vm, instance);
    }
    return has_shrunk;
}

/* ---- showing ---- */

static void show_size(Text *out, uint8_t size)
{
    text_addf(out, "%zu KiB", chunk_bytes(size) / 1024);
}

void chunks_show(const Chunks *chunks, Text *out)
{
    static const char *const reasons[] = {[CHUNK_TRIED] = " ->",
                                          [CHUNK_CHOSEN] = "; steady at",
                                          [CHUNK_SLOWER] = "; slower, again from",
                                          [CHUNK_MEMORY] = "; memory is scarce, down to"};
    if (chunks->step_count == 0)
        return;
    text_add(out, "    chunks: ");
    uint32_t shown = chunks->step_count < CHUNK_STEPS ? chunks->step_count : CHUNK_STEPS;
    for (uint32_t i = 0; i < shown; i++) {
        const ChunkStep *step = &chunks->steps[i];
        show_size(out, step->size);
        if (step->picoseconds != 0)
            text_addf(out, " (%.2f ns)", (double)step->picoseconds / 1000);
        text_addf(out, "%s ", reasons[step->reason]);
    }
    if (shown < chunks->step_count)
        text_addf(out, "... (%u more) ", chunks->step_count - shown);
    show_size(out, chunks->size);
    text_add(out, "\n");
}
