#define _GNU_SOURCE
#include "text_blocks.h"

#include "memory.h"

#include <fcntl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 256 << 10, MORE = 4 << 10 };

typedef struct Buffer {
    char *text;
    size_t length, room;
} Buffer;

/* Appends up to so many bytes from the file; returns how many there were. */
static size_t read_more(Buffer *buffer, int file, int64_t offset, size_t bytes)
{
    if (buffer->room < buffer->length + bytes + TEXT_BLOCK_PADDING) {
        buffer->room = 2 * (buffer->length + bytes + TEXT_BLOCK_PADDING);
        buffer->text = realloc(buffer->text, buffer->room);
        if (buffer->text == NULL)
            fail("no memory for a line of %zu bytes", buffer->length);
    }
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(file, buffer->text + buffer->length, bytes - done, offset + (int64_t)done);
        if (got < 0)
            fail("a text cannot be read");
        if (got == 0)
            break;
        buffer->length += (size_t)got;
        done += (size_t)got;
    }
    return done;
}

/* Reads on until the last line that begins before the block's end is whole; then the text ends with it. */
static void finish_last_line(Buffer *buffer, int file, int64_t end)
{
    size_t searched = buffer->length - (buffer->length > 0);
    for (;;) {
        char *newline = memchr(buffer->text + searched, '\n', buffer->length - searched);
        if (newline != NULL) {
            buffer->length = (size_t)(newline - buffer->text) + 1;
            return;
        }
        searched = buffer->length;
        size_t got = read_more(buffer, file, end, MORE);
        if (got == 0)
            return;
        end += (int64_t)got;
    }
}

static void work_on_block(Buffer *buffer, int file, int64_t begin, TextBlockFunction *function)
{
    int64_t from = begin == 0 ? 0 : begin - 1; /* a byte more tells whether a line begins with the block */
    buffer->length = 0;
    size_t got = read_more(buffer, file, from, (size_t)(begin + BLOCK - from));
    char *first = buffer->text;
    if (begin > 0) {
        char *newline = memchr(buffer->text, '\n', got);
        if (newline == NULL || newline == buffer->text + BLOCK)
            return; /* no line begins here */
        first = newline + 1;
    }
    size_t skipped = (size_t)(first - buffer->text);
    finish_last_line(buffer, file, from + (int64_t)got);
    memset(buffer->text + buffer->length, 0, TEXT_BLOCK_PADDING);
    if (buffer->length > skipped)
        function(buffer->text + skipped, buffer->length - skipped, from + (int64_t)skipped, omp_get_thread_num());
}

void text_blocks_each(const char *path, TextBlockFunction *function)
{
    int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
        fail("%s: cannot be opened", path);
#pragma omp parallel
    {
        Buffer buffer = {NULL, 0, 0};
#pragma omp for schedule(dynamic)
        for (int64_t begin = 0; begin < status.st_size; begin += BLOCK)
            work_on_block(&buffer, file, begin, function);
        free(buffer.text);
    }
    close(file);
}
