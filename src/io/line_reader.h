/* The lines of a file one at a time, so that a file may be larger than memory.
 *
 *     if (!line_reader_open(&reader, path)) ... reader.reason
 *     while (line_reader_next(&reader, &bytes, &length)) ...
 *     if (reader.reason != NULL) ...
 *     line_reader_close(&reader);
 *
 * A line ends at a newline or at the end of the file; a carriage return before its end is not part of it. */
#ifndef RUNNEL_IO_LINE_READER_H
#define RUNNEL_IO_LINE_READER_H

#include "base/text.h"
#include "io/byte_input.h"

typedef struct LineReader {
    ByteInput input;
    char *block;        /* what was read last, */
    size_t start, end;  /* ... and what of it was not given yet */
    Text pending;       /* the beginning of a line whose end is not in the same block */
    const char *reason; /* why opening or reading failed; lasts until the next call that can fail */
} LineReader;

/* Waiting for lines ends, as if there were none, when the flag is set, which may be null. */
void line_reader_init(LineReader *reader, Memory *memory, const StopFlag *stop);
/* Opens another file; closes the one before. False if it cannot be opened. */
bool line_reader_open(LineReader *reader, const Text *path);
/* The next line; its bytes last until the next call. False at the end, and after a failure. */
bool line_reader_next(LineReader *reader, const char **bytes, size_t *length);
/* Gives everything back; may be called at any time after line_reader_init, also again. */
void line_reader_close(LineReader *reader);

#endif
