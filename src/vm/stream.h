/* Streams of an instance, and the inputs that read them: what firing functions look at most. */
#ifndef RUNNEL_VM_STREAM_H
#define RUNNEL_VM_STREAM_H

#include "flow/flow.h"
#include "vm/array.h"

typedef struct Stream {
    void *data;     /* null, or the buffer */
    SharedCells *lender; /* null, or what the buffer is a part of, which is only read */
    uint64_t cell;  /* the one cell of a uniform stream; the buffer of one that holds no more than one */
    uint64_t base;  /* number of the first element held */
    int64_t frontier;
    uint32_t head;  /* where in the buffer that is */
    uint32_t count;
    uint32_t capacity; /* of the buffer */
    uint32_t limit;    /* elements that may be held */
    uint32_t holding;  /* readers at the first element held; 0 while nobody has counted them */
    bool is_closed;
    bool is_uniform;
    bool is_borrowed;  /* the buffer and the references in it belong to somebody else */
    bool is_read;      /* somebody will still look at it */
    bool was_full;     /* the node that fills it found no room since elements were last dropped */
    bool was_asked;    /* it was fired to see that */
    bool is_cut;       /* what made it failed: nothing will come */
} Stream;

/* Where an input is that wants nothing more. */
#define CURSOR_DONE UINT64_MAX

typedef enum InputMode { INPUT_CONSTANT, INPUT_UNIFORM, INPUT_STREAM } InputMode;

typedef struct InputPlan {
    uint8_t mode;
    uint8_t size;
    FlowStreamId stream;
    uint64_t constant; /* the cell */
} InputPlan;

static inline uint64_t stream_end(const Stream *stream)
{
    return stream->base + stream->count;
}

/* Cells from the element at a position on. */
static inline Cells stream_cells(const Stream *stream, size_t size, uint64_t position)
{
    if (stream->is_uniform || size == 0)
        return (Cells){.data = &stream->cell, .is_uniform = true};
    return (Cells){.data = (const char *)stream->data + (stream->head + (position - stream->base)) * size};
}

/* Of a stream that may hold that many elements. SIZE_MAX if nobody reads it. */
static inline size_t stream_room_within(Stream *stream, uint32_t limit)
{
    if (!stream->is_read)
        return SIZE_MAX;
    if (stream->count < limit)
        return limit - stream->count;
    stream->was_full = true;
    return 0;
}

static inline size_t stream_room(Stream *stream)
{
    return stream_room_within(stream, stream->limit);
}

#endif
