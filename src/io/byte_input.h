/* The bytes of a file or of standard input, as they come: reading waits for some, not for all that were asked for.
 *
 * What is longer than a block is read ahead by a thread of its own, so that waiting for the other end of a pipe and computing go on side by side. What
 * comes from a terminal is not: nothing is taken from it that is not wanted. */
#ifndef RUNNEL_IO_BYTE_INPUT_H
#define RUNNEL_IO_BYTE_INPUT_H

#include "base/memory.h"
#include "base/stop.h"

#include <stdbool.h>

typedef struct ReadAhead ReadAhead;

typedef struct ByteInput {
    int descriptor;
    bool is_open;
    const char *reason;   /* why opening or reading failed; null if it did not */
    const StopFlag *stop; /* what is waited for is given up when this is set; may be null */
    Memory *memory;
    size_t direct;        /* bytes read by the thread that wants them */
    ReadAhead *ahead;     /* null while it reads them itself */
} ByteInput;

/* Opens a file, or standard input if the path is null. False if it cannot be opened. */
bool byte_input_open(ByteInput *input, const char *path, Memory *memory, const StopFlag *stop);
/* At least one and at most `size` bytes; 0 at the end, after a failure, and when it is stopped. */
size_t byte_input_read(ByteInput *input, void *bytes, size_t size);
/* May be called again. */
void byte_input_close(ByteInput *input);

#endif
