/* What firing functions see of their instance. */
#include "vm/call.h"

#include <string.h>

static const InputPlan *input_plan(const Firing *firing, uint32_t input)
{
    return &firing->instance->plan->inputs[firing->plan->first_cursor + input];
}

static uint64_t *input_cursor(const Firing *firing, uint32_t input)
{
    return &firing->instance->cursors[firing->plan->first_cursor + input];
}

static uint64_t stream_end(const Stream *stream)
{
    return stream->base + stream->count;
}

/* ---- reading ---- */

size_t firing_available(const Firing *firing, uint32_t input)
{
    const InputPlan *plan = input_plan(firing, input);
    if (plan->mode == INPUT_CONSTANT)
        return SIZE_MAX;
    const Stream *stream = &firing->instance->streams[plan->stream];
    if (plan->mode == INPUT_UNIFORM)
        return stream->count > 0 ? SIZE_MAX : 0;
    uint64_t cursor = *input_cursor(firing, input), end = stream_end(stream);
    return cursor < end ? end - cursor : 0;
}

Cells firing_cells(const Firing *firing, uint32_t input)
{
    const InputPlan *plan = input_plan(firing, input);
    if (plan->mode == INPUT_CONSTANT)
        return (Cells){.data = &plan->constant, .is_uniform = true};
    Cells cells = stream_cells(&firing->instance->streams[plan->stream], plan->size, *input_cursor(firing, input));
    cells.is_uniform |= plan->mode == INPUT_UNIFORM;
    return cells;
}

void firing_consume(Firing *firing, uint32_t input, size_t count)
{
    const InputPlan *plan = input_plan(firing, input);
    uint64_t *cursor = input_cursor(firing, input);
    if (count == 0 || plan->mode != INPUT_STREAM || *cursor == CURSOR_DONE)
        return;
    uint64_t before = *cursor;
    *cursor += count;
    if (before == firing->instance->streams[plan->stream].base)
        stream_leave(firing->vm, firing->instance, plan->stream, before);
}

void firing_ignore(Firing *firing, uint32_t input)
{
    const InputPlan *plan = input_plan(firing, input);
    uint64_t *cursor = input_cursor(firing, input);
    if (*cursor == CURSOR_DONE)
        return;
    uint64_t before = *cursor;
    *cursor = CURSOR_DONE;
    if (plan->mode != INPUT_CONSTANT)
        stream_leave(firing->vm, firing->instance, plan->stream, before);
}

bool firing_is_ended(const Firing *firing, uint32_t input)
{
    const InputPlan *plan = input_plan(firing, input);
    if (plan->mode != INPUT_STREAM)
        return false;
    const Stream *stream = &firing->instance->streams[plan->stream];
    return stream->is_closed && *input_cursor(firing, input) >= stream_end(stream);
}

uint64_t firing_position(const Firing *firing, uint32_t input)
{
    return *input_cursor(firing, input);
}

int64_t firing_frontier(const Firing *firing, uint32_t input)
{
    return firing->instance->streams[input_plan(firing, input)->stream].frontier;
}

uint32_t firing_space_points(const Firing *firing, FlowSpaceId space)
{
    return firing->instance->plan->network->spaces.items[space].points;
}

uint32_t firing_points(const Firing *firing, FlowStreamId stream)
{
    return firing_space_points(firing, firing->instance->plan->network->streams.items[stream].space);
}

/* ---- writing ---- */

static FlowStreamId output_stream(const Firing *firing, uint32_t output)
{
    return firing->node->outputs[output];
}

bool firing_is_wanted(const Firing *firing, uint32_t output)
{
    return firing->instance->streams[output_stream(firing, output)].is_read;
}

LeafType firing_output_type(const Firing *firing, uint32_t output)
{
    return firing->instance->plan->streams[output_stream(firing, output)].type;
}

size_t firing_room(const Firing *firing, uint32_t output)
{
    return stream_room(&firing->instance->streams[output_stream(firing, output)]);
}

/* Memory for an output nobody reads; each output of a node has its own. */
static void *scratch(Vm *vm, uint32_t output, size_t bytes)
{
    if (output >= vm->scratch_count) {
        size_t count = output + 1;
        vm->scratch = memory_resize(vm->memory, vm->scratch, vm->scratch_count * sizeof *vm->scratch,
                                    count * sizeof *vm->scratch);
        for (size_t i = vm->scratch_count; i < count; i++)
            vm->scratch[i] = (Scratch){0};
        vm->scratch_count = count;
    }
    Scratch *room = &vm->scratch[output];
    if (room->bytes < bytes) {
        room->data = memory_resize(vm->memory, room->data, room->bytes, bytes);
        room->bytes = bytes;
    }
    return room->data;
}

void *firing_reserve(Firing *firing, uint32_t output, size_t count)
{
    FlowStreamId stream = output_stream(firing, output);
    if (firing->instance->streams[stream].is_read)
        return stream_reserve(firing->vm, firing->instance, stream, count);
    return scratch(firing->vm, output, (count == 0 ? 1 : count) * sizeof(uint64_t));
}

void firing_produce(Firing *firing, uint32_t output, size_t count)
{
    FlowStreamId stream = output_stream(firing, output);
    firing->vm->produced += count;
    if (firing->instance->streams[stream].is_read)
        stream_produce(firing->instance, stream, count);
    else if (count > 0 && stream != 0)
        cells_release(firing->vm->memory, firing->instance->plan->streams[stream].type,
                      firing->vm->scratch[output].data, count);
}

void firing_produce_uniform(Firing *firing, uint32_t output, const void *cell, size_t count)
{
    FlowStreamId stream = output_stream(firing, output);
    firing->vm->produced += count;
    if (firing->instance->streams[stream].is_read)
        stream_produce_uniform(firing->vm, firing->instance, stream, cell, count);
}

void firing_set_frontier(Firing *firing, uint32_t output, int64_t frontier)
{
    FlowStreamId stream = output_stream(firing, output);
    if (firing->instance->streams[stream].is_read)
        stream_set_frontier(firing->instance, stream, frontier);
}

/* ---- ending ---- */

void firing_finish(Firing *firing)
{
    instance_finish_node(firing->vm, firing->instance, firing->id);
}

static FailedNode *add_failed(Vm *vm, Instance *instance)
{
    if (instance->failed_count == instance->failed_capacity) {
        uint32_t capacity = instance->failed_capacity * 2 + 1;
        instance->failed = memory_resize(vm->memory, instance->failed, instance->failed_capacity * sizeof(FailedNode),
                                         capacity * sizeof(FailedNode));
        instance->failed_capacity = capacity;
    }
    FailedNode *failed = &instance->failed[instance->failed_count++];
    *failed = (FailedNode){0};
    failure_init(&failed->failure, vm->memory);
    return failed;
}

Failure *firing_fail(Firing *firing, uint32_t input, size_t offset)
{
    FailedNode *failed = add_failed(firing->vm, firing->instance);
    failed->node = firing->id;
    failed->position = firing_position(firing, input) + offset;
    firing->instance->status[firing->id] |= NODE_FAILED; /* cut when it returns: its inputs are still needed for the wording */
    return failure_at(&failed->failure, firing->vm->diagnostics->sources, firing->node->span);
}
