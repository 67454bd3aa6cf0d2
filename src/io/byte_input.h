/* The bytes of a file or of standard input, as they come: reading waits for some, not for all that were asked for. */
#ifndef RUNNEL_IO_BYTE_INPUT_H
#define RUNNEL_IO_BYTE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ByteInput {
    int descriptor;
    bool is_open;
    const volatile int *is_interrupted; /* what is waited for is given up when this is set; may be null */
    const char *reason;                 /* why opening or reading failed; null if it did not */
} ByteInput;

/* Opens a file, or standard input if the path is null. False if it cannot be opened. */
bool byte_input_open(ByteInput *input, const char *path, const volatile int *is_interrupted);
/* At least one and at most `size` bytes; 0 at the end, and after a failure. */
size_t byte_input_read(ByteInput *input, void *bytes, size_t size);
bool byte_input_was_interrupted(const ByteInput *input);
/* May be called again. */
void byte_input_close(ByteInput *input);

#endif
