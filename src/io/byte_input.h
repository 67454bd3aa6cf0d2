/* The bytes of a file or of standard input, as they come: reading waits for some, not for all that were asked for.
 *
 * What is longer than a block is read ahead by a thread of its own, so that waiting for the other end of a pipe and computing go on side by side. What
 * comes from a terminal is not: nothing is taken from it that is not wanted. What is compressed is decoded on the way, by the same thread. */
#ifndef RUNNEL_IO_BYTE_INPUT_H
#define RUNNEL_IO_BYTE_INPUT_H

#include "base/memory.h"
#include "base/stop.h"
#include "base/text.h"
#include "io/compression.h"

typedef struct Decoding Decoding;
typedef struct ReadAhead ReadAhead;

enum { BYTE_INPUT_HEAD_MAX = 8 };

typedef struct ByteInput {
    int descriptor;
    bool is_open;
    const char *reason;   /* why opening or reading failed; null if it did not */
    const StopFlag *stop; /* what is waited for is given up when this is set; may be null */
    Memory *memory;
    size_t direct;        /* bytes read by the thread that wants them */
    bool is_in_bulk;      /* they are to be read where they are wanted, in large pieces: no thread reads ahead */
    unsigned char head[BYTE_INPUT_HEAD_MAX]; /* bytes that were looked at and not yet read */
    size_t head_count;
    uint64_t start;       /* of an ordinary file: where reading began */
    Decoding *decoding;   /* null if it is not compressed */
    ReadAhead *ahead;     /* null while it reads them itself */
} ByteInput;

/* Opens a file to be read, as open does, but a named pipe without waiting for who writes to it: that wait could not be given up. */
int byte_input_open_path(const char *path);
/* Opens a file by a path in the program, which may have a zero in it, as no name of a file has. False if it cannot be opened. */
bool byte_input_open_text(ByteInput *input, const Text *path, const StopFlag *stop);
/* Opens a file, or standard input if the path is null. False if it cannot be opened. */
bool byte_input_open(ByteInput *input, const char *path, Memory *memory, const StopFlag *stop);
/* What is in it is compressed so; before any of it is read. False if it cannot be decoded here. */
bool byte_input_decode(ByteInput *input, Compression compression);
/* Nothing more is read, for this reason. */
void byte_input_refuse(ByteInput *input, const char *reason);
/* At least one and at most `size` bytes; 0 at the end, after a failure, and when it is stopped. */
size_t byte_input_read(ByteInput *input, void *bytes, size_t size);
/* Whether some are there without waiting, as far as that can be seen. */
bool byte_input_has_more(const ByteInput *input);
/* The same, but as many as were asked for unless they end before. */
size_t byte_input_read_all(ByteInput *input, void *bytes, size_t size);
/* Whether the next bytes are those, at most BYTE_INPUT_HEAD_MAX; they stay to be read. Waits for no more than it takes to tell. */
bool byte_input_starts_with(ByteInput *input, const void *bytes, size_t size);
/* Whether it could not be read to its end: a failure, or it was stopped. Then nothing is to be said about what is missing. */
bool byte_input_is_cut(const ByteInput *input);
/* Of an ordinary file, its size from where reading began, and bytes from anywhere in it; UINT64_MAX for anything else. */
uint64_t byte_input_file_size(const ByteInput *input);
size_t byte_input_read_at(ByteInput *input, uint64_t position, void *bytes, size_t size);
/* The same for several threads at once: why it failed is told at *reason, which is left as it is otherwise. */
size_t byte_input_read_part(const ByteInput *input, uint64_t position, void *bytes, size_t size, const char **reason);
/* An ordinary file will be read from its beginning to its end, in parts. */
void byte_input_expect_parts(const ByteInput *input);
/* May be called again. */
void byte_input_close(ByteInput *input);

#endif
