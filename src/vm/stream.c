/* Streams: windows of elements, contiguous in memory.
 *
 * A stream that holds one element, or one element many times, has it in `cell` and needs no memory of its own. A buffer holds the window
 * somewhere within it; when its end is reached, what is left at the front is moved down if that is little, else the buffer grows: so an element
 * is moved a constant number of times. Elements of a vector that are given as they are stay where they are: the stream holds on to the vector's memory. */
#include "vm/instance.h"

#include <string.h>

/* ---- memory ---- */

static void free_buffer(Vm *vm, Stream *stream, size_t size)
{
    if (stream->lender != NULL)
        shared_cells_release(vm->memory, stream->lender);
    else if (stream->data != NULL && stream->data != &stream->cell && !stream->is_borrowed)
        memory_free(vm->memory, stream->data, stream->capacity * size);
    stream->lender = NULL;
    stream->data = NULL;
    stream->capacity = 0;
    stream->head = 0;
}

static uint32_t larger_capacity(Vm *vm, const Stream *stream, size_t needed)
{
    if (needed > UINT32_MAX)
        memory_fail(vm->memory);
    size_t doubled = (size_t)stream->capacity * 2;
    return doubled > needed && doubled <= UINT32_MAX ? (uint32_t)doubled : (uint32_t)needed;
}

static void grow_buffer(Vm *vm, Stream *stream, size_t size, size_t needed)
{
    uint32_t capacity = larger_capacity(vm, stream, needed);
    void *data = memory_resize(vm->memory, NULL, 0, capacity * size);
    if (stream->count > 0)
        memcpy(data, (char *)stream->data + stream->head * size, stream->count * size);
    free_buffer(vm, stream, size);
    stream->data = data;
    stream->capacity = capacity;
}

/* Makes the buffer hold `count` elements more after those that are there. */
static void make_room(Vm *vm, Stream *stream, size_t size, size_t count)
{
    size_t needed = stream->count + count;
    if (stream->head + needed <= stream->capacity)
        return;
    if (stream->count == 0 && stream->lender != NULL)
        free_buffer(vm, stream, size);
    if (needed == 1 && stream->capacity == 0) {
        stream->data = &stream->cell;
        stream->capacity = 1;
    } else if (needed <= stream->capacity && stream->count <= stream->capacity / 4) {
        memmove(stream->data, (char *)stream->data + stream->head * size, stream->count * size);
        stream->head = 0;
    } else
        grow_buffer(vm, stream, size, needed);
}

/* From one cell for all to one for each. */
static void expand(Vm *vm, Stream *stream, const StreamPlan *plan, size_t more)
{
    uint64_t cell = stream->cell;
    uint32_t count = stream->count;
    stream->count = 0;
    make_room(vm, stream, plan->size, count + more);
    stream->count = count;
    stream->is_uniform = false;
    cells_fill(plan->type, stream->data, &cell, count);
    cells_release(vm->memory, plan->type, &cell, 1);
}

/* ---- writing ---- */

void *stream_reserve(Vm *vm, Instance *instance, FlowStreamId id, size_t count)
{
    Stream *stream = &instance->streams[id];
    const StreamPlan *plan = &instance->plan->streams[id];
    if (plan->size == 0)
        return &stream->cell;
    if (stream->is_uniform)
        expand(vm, stream, plan, count);
    else
        make_room(vm, stream, plan->size, count);
    return (char *)stream->data + (stream->head + stream->count) * (size_t)plan->size;
}

void stream_wake_readers(Instance *instance, FlowStreamId id)
{
    const StreamPlan *plan = &instance->plan->streams[id];
    instance->ready[plan->wake_word] |= plan->wake_mask;
    for (uint32_t i = 0; plan->wakes_more && i < plan->reader_count; i++)
        if (plan->readers[i].node != NO_NODE)
            instance_wake(instance, plan->readers[i].node);
}

static void raise_frontier(Stream *stream, int64_t frontier)
{
    if (stream->frontier < frontier)
        stream->frontier = frontier;
}

void stream_produce(Instance *instance, FlowStreamId id, size_t count)
{
    if (count == 0)
        return;
    Stream *stream = &instance->streams[id];
    stream->count += (uint32_t)count;
    if (instance->plan->streams[id].type == LEAF_ENDS)
        raise_frontier(stream, ((const int64_t *)stream->data)[stream->head + stream->count - 1]);
    stream_wake_readers(instance, id);
}

static void begin_uniform(Stream *stream, const StreamPlan *plan, const void *cell)
{
    memcpy(&stream->cell, cell, plan->size);
    cells_retain(plan->type, &stream->cell, 1);
    stream->is_uniform = true;
}

void stream_produce_uniform(Vm *vm, Instance *instance, FlowStreamId id, const void *cell, size_t count)
{
    Stream *stream = &instance->streams[id];
    const StreamPlan *plan = &instance->plan->streams[id];
    bool is_same = stream->is_uniform && memcmp(&stream->cell, cell, plan->size) == 0;
    if (count == 0)
        return;
    if (plan->size != 0 && !is_same) {
        if (stream->count == 0 && plan->type != LEAF_ENDS)
            begin_uniform(stream, plan, cell);
        else
            cells_fill(plan->type, stream_reserve(vm, instance, id, count), cell, count);
    }
    stream_produce(instance, id, count);
}

/* Whether elements at `cells` follow those that the stream holds. */
static bool is_next(const Stream *stream, const char *cells, size_t size)
{
    return stream->lender != NULL && cells == (const char *)stream->data + ((size_t)stream->head + stream->count) * size;
}

bool stream_lend(Vm *vm, Instance *instance, FlowStreamId id, Array *array, uint32_t leaf, size_t start, size_t count)
{
    Stream *stream = &instance->streams[id];
    size_t size = instance->plan->streams[id].size;
    Cells cells = array_cells(array, leaf, start);
    if (cells.is_uniform) {
        stream_produce_uniform(vm, instance, id, cells.data, count);
        return true;
    }
    if (stream->count > 0 && !is_next(stream, cells.data, size))
        return false;
    if (stream->count == 0) {
        SharedCells *lender = array_lend_column(vm->memory, array, leaf);
        free_buffer(vm, stream, size);
        stream->lender = lender;
        stream->data = (void *)cells.data;
    }
    stream_produce(instance, id, count);
    return true;
}

void stream_set_frontier(Instance *instance, FlowStreamId id, int64_t frontier)
{
    Stream *stream = &instance->streams[id];
    if (frontier <= stream->frontier)
        return;
    stream->frontier = frontier;
    stream_wake_readers(instance, id);
}

/* ---- letting go ---- */

/* Releases the first `count` elements. */
static void release_front(Vm *vm, Stream *stream, const StreamPlan *plan, uint32_t count)
{
    if (plan->type != LEAF_ARRAY || stream->is_borrowed)
        return;
    if (!stream->is_uniform)
        cells_release(vm->memory, plan->type, (Array **)stream->data + stream->head, count);
    else if (count == stream->count)
        cells_release(vm->memory, plan->type, &stream->cell, 1);
}

/* Since the limit has shrunk. */
static bool is_oversized(const Stream *stream)
{
    return stream->capacity / 2 > stream->limit;
}

static void drop_front(Vm *vm, Stream *stream, const StreamPlan *plan, uint32_t count)
{
    release_front(vm, stream, plan, count);
    stream->was_full = stream->was_asked = false;
    stream->base += count;
    stream->count -= count;
    stream->head += stream->is_uniform || plan->size == 0 ? 0 : count;
    if (stream->count > 0)
        return;
    stream->head = 0;
    stream->is_uniform = false;
    if (stream->is_closed || is_oversized(stream))
        free_buffer(vm, stream, plan->size);
}

/* Where the hindmost readers are, and how many. */
static uint64_t least_cursor(const Instance *instance, const StreamPlan *plan, uint32_t *count)
{
    uint64_t least = CURSOR_DONE;
    *count = 0;
    for (uint32_t i = 0; i < plan->reader_count; i++) {
        uint64_t cursor = instance->cursors[plan->readers[i].cursor];
        *count = cursor < least ? 1 : *count + (cursor == least);
        least = cursor < least ? cursor : least;
    }
    return least;
}

/* Thousands of operands of one node may read the same stream: they are counted once, when the first of them leaves. */
void stream_leave(Vm *vm, Instance *instance, FlowStreamId id, uint64_t cursor)
{
    Stream *stream = &instance->streams[id];
    const StreamPlan *plan = &instance->plan->streams[id];
    if (cursor > stream->base)
        return; /* others are behind it */
    if (stream->holding > 1) {
        stream->holding--;
        return;
    }
    uint64_t least = least_cursor(instance, plan, &stream->holding);
    if (least == CURSOR_DONE) {
        stream->is_read = false;
        instance->status[plan->node] |= NODE_UNREAD;
    }
    uint64_t end = stream->base + stream->count;
    uint64_t dropped = (least < end ? least : end) - stream->base;
    if (dropped > 0)
        drop_front(vm, stream, plan, (uint32_t)dropped);
    if ((dropped > 0 || !stream->is_read) && (instance->status[plan->node] & NODE_DONE) == 0)
        instance_wake(instance, plan->node);
}

void stream_close(Vm *vm, Instance *instance, FlowStreamId id)
{
    Stream *stream = &instance->streams[id];
    stream->is_closed = true;
    stream->frontier = INT64_MAX;
    if (stream->count == 0)
        free_buffer(vm, stream, instance->plan->streams[id].size);
    stream_wake_readers(instance, id);
}

void stream_trim(Vm *vm, Instance *instance, FlowStreamId id)
{
    Stream *stream = &instance->streams[id];
    if (stream->count == 0 && !stream->is_borrowed && is_oversized(stream))
        free_buffer(vm, stream, instance->plan->streams[id].size);
}

void stream_free(Vm *vm, Stream *stream, LeafType type)
{
    StreamPlan plan = {.type = type, .size = (uint8_t)leaf_size(type)};
    if (stream->count > 0)
        drop_front(vm, stream, &plan, stream->count);
    free_buffer(vm, stream, plan.size);
}
