/* What firing functions see of their instance. */
#include "vm/call.h"

#include <string.h>

/* ---- reading ---- */

void firing_ignore(Firing *firing, uint32_t input)
{
    const InputPlan *plan = &firing->inputs[input];
    uint64_t *cursor = &firing->cursors[input];
    if (*cursor == CURSOR_DONE)
        return;
    uint64_t before = *cursor;
    *cursor = CURSOR_DONE;
    if (plan->mode != INPUT_CONSTANT)
        stream_leave(firing->vm, firing->instance, plan->stream, before);
}

/* ---- writing ---- */

enum { WIDE_ROOM = 1 << 20 }; /* what nodes do with so many elements at once is still soon done, and what they need for it little memory */

static FlowStreamId output_stream(const Firing *firing, uint32_t output)
{
    return firing->node->outputs[output];
}

LeafType firing_output_type(const Firing *firing, uint32_t output)
{
    return firing->instance->plan->streams[output_stream(firing, output)].type;
}

size_t firing_wide_room(const Firing *firing, uint32_t output)
{
    Stream *stream = &firing->streams[output_stream(firing, output)];
    bool is_wide = !firing->instance->plan->chunks.is_fixed && stream->limit < WIDE_ROOM;
    return stream_room_within(stream, is_wide ? WIDE_ROOM : stream->limit);
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
    else if (count > 0 && stream != 0 && firing->instance->plan->streams[stream].type != LEAF_POINTS) /* points have no cells */
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

bool firing_lend(Firing *firing, uint32_t output, Array *array, uint32_t leaf, size_t start, size_t count)
{
    if (!stream_lend(firing->vm, firing->instance, output_stream(firing, output), array, leaf, start, count))
        return false;
    firing->vm->produced += count;
    return true;
}

void firing_set_frontier(Firing *firing, uint32_t output, int64_t frontier)
{
    FlowStreamId stream = output_stream(firing, output);
    if (firing->instance->streams[stream].is_read)
        stream_set_frontier(firing->instance, stream, frontier);
}

bool firing_wait(Firing *firing)
{
    uint8_t *status = &firing->instance->status[firing->id];
    bool is_urged = (*status & NODE_URGED) != 0;
    *status &= (uint8_t)~(NODE_WAITS | NODE_URGED);
    *status |= is_urged ? 0 : NODE_WAITS;
    return !is_urged;
}

/* ---- ending ---- */

void firing_finish(Firing *firing)
{
    instance_finish_node(firing->vm, firing->instance, firing->id);
}

Failure *firing_fail(Firing *firing, uint32_t input, size_t offset)
{
    return firing_fail_at(firing, firing_position(firing, input) + offset);
}

Failure *firing_fail_at(Firing *firing, uint64_t position)
{
    FailedNode *failed = instance_add_failure(firing->vm, firing->instance, firing->id);
    failed->position = position;
    firing->instance->status[firing->id] |= NODE_FAILED; /* cut when it returns: its inputs are still needed for the wording */
    return failure_at(&failed->failure, firing->vm->diagnostics->sources, firing->node->span);
}
