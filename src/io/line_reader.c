#include "io/line_reader.h"

#include <string.h>

enum { BLOCK_SIZE = 1 << 16 };

void line_reader_init(LineReader *reader, Memory *memory, const StopFlag *stop)
{
    *reader = (LineReader){.input = {.stop = stop}};
    text_init(&reader->pending, memory);
}

void line_reader_close(LineReader *reader)
{
    byte_input_close(&reader->input);
    memory_free(reader->pending.memory, reader->block, BLOCK_SIZE);
    text_free(&reader->pending);
    reader->block = NULL;
    reader->start = reader->end = 0;
}

bool line_reader_open(LineReader *reader, const Text *path)
{
    line_reader_close(reader);
    reader->block = memory_alloc(reader->pending.memory, BLOCK_SIZE);
    byte_input_open_text(&reader->input, path, reader->input.stop);
    reader->reason = reader->input.reason;
    return reader->reason == NULL;
}

/* Reads the next block; false if there is none. */
static bool read_block(LineReader *reader)
{
    reader->start = 0;
    reader->end = byte_input_read(&reader->input, reader->block, BLOCK_SIZE);
    reader->reason = reader->input.reason;
    return reader->end > 0;
}

/* Gives a line that begins in `pending`, if there is anything, and ends in the bytes given. */
static bool give(LineReader *reader, const char *last, size_t last_length, const char **bytes, size_t *length)
{
    *bytes = last;
    *length = last_length;
    if (reader->pending.length > 0) {
        text_add_bytes(&reader->pending, last, last_length);
        *bytes = text_string(&reader->pending);
        *length = reader->pending.length;
    }
    if (*length > 0 && (*bytes)[*length - 1] == '\r')
        --*length;
    return true;
}

bool line_reader_next(LineReader *reader, const char **bytes, size_t *length)
{
    text_clear(&reader->pending);
    while (reader->start < reader->end || read_block(reader)) {
        const char *rest = reader->block + reader->start;
        const char *newline = memchr(rest, '\n', reader->end - reader->start);
        if (newline != NULL) {
            reader->start += (size_t)(newline - rest) + 1;
            return give(reader, rest, (size_t)(newline - rest), bytes, length);
        }
        text_add_bytes(&reader->pending, rest, reader->end - reader->start);
        reader->start = reader->end;
    }
    if (reader->reason != NULL || reader->pending.length == 0)
        return false;
    return give(reader, "", 0, bytes, length);
}
