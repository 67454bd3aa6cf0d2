#include "io/line_reader.h"

#include <errno.h>
#include <string.h>

enum { BLOCK_SIZE = 1 << 16 };

void line_reader_init(LineReader *reader, Memory *memory)
{
    *reader = (LineReader){0};
    text_init(&reader->pending, memory);
}

void line_reader_close(LineReader *reader)
{
    if (reader->file != NULL)
        fclose(reader->file);
    memory_free(reader->pending.memory, reader->block, BLOCK_SIZE);
    text_free(&reader->pending);
    reader->file = NULL;
    reader->block = NULL;
    reader->start = reader->end = 0;
}

bool line_reader_open(LineReader *reader, const Text *path)
{
    line_reader_close(reader);
    reader->block = memory_alloc(reader->pending.memory, BLOCK_SIZE);
    reader->file = world_open_file(path, WORLD_READ);
    reader->reason = reader->file == NULL ? strerror(errno) : NULL;
    return reader->file != NULL;
}

/* Reads the next block; false if there is none. */
static bool read_block(LineReader *reader)
{
    errno = 0;
    reader->start = 0;
    reader->end = fread(reader->block, 1, BLOCK_SIZE, reader->file);
    if (reader->end == 0 && ferror(reader->file))
        reader->reason = strerror(errno);
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
