/* The outside world of a running program: its output, files by descriptor, the environment, the clock. Every engine
 * goes through here; what it passes are bytes and numbers, never its own values.
 *
 * Descriptors are standard input (0), output (1), errors (2), and the files a program has opened after them. Standard
 * output is the host's, so that what is written there stays in order with what is printed. What is written to a file is
 * there at once: every write is flushed, and a full disk is noticed where it happens. A file that is to replace another one is there once it
 * is closed.
 *
 * Failures are results here. A reason is a text that lasts until the next call, null where nothing failed. A World
 * belongs to one thread at a time. */
#ifndef RUNNEL_IO_WORLD_H
#define RUNNEL_IO_WORLD_H

#include "base/stop.h"
#include "base/text.h"
#include "io/whole_file.h"

/* Standard output, the host's. */
typedef struct WorldOutput {
    void (*write)(void *context, const char *bytes, size_t length); /* null throws it away */
    void (*flush)(void *context, bool is_awaited); /* see RunnelOptions; may be null */
    void *context;
} WorldOutput;

/* A file that a program has opened. */
typedef struct WorldFile {
    WholeFile whole; /* its file is null when it is closed; the rest is for REPLACE */
    bool is_whole;   /* REPLACE */
    bool is_broken;  /* a write has failed */
} WorldFile;

typedef struct World {
    Memory *memory;
    WorldOutput output;
    const StopFlag *stop; /* what waits to be read ends when it is set; null for never */
    WorldFile *files; /* by descriptor, after the first three */
    size_t file_count;
    Text scratch;
} World;

typedef enum WorldMode {
    WORLD_READ,
    WORLD_WRITE,
    WORLD_APPEND,
    WORLD_REPLACE, /* as WRITE, but the file is there under its name once it is closed, if every write has worked; see whole_file.h */
} WorldMode;

/* How reading ended, if not with the code of a delimiter. */
enum { WORLD_END = -1, WORLD_FULL = -2, WORLD_FAILED = -3 };

void world_init(World *world, Memory *memory, WorldOutput output, const StopFlag *stop);
/* Closes all files. */
void world_free(World *world);
/* A run has failed: what it was about to replace stays as it was. */
void world_abandon(World *world);

void world_print(World *world, const char *bytes, size_t length);
/* What was printed is to be seen: with `is_awaited`, when this returns, otherwise soon. */
void world_flush(World *world, bool is_awaited);

/* The descriptor, or -1 and the reason. */
int64_t world_open(World *world, const Text *path, WorldMode mode, const char **reason);
const char *world_close(World *world, int64_t descriptor);
/* Appends to `out` what comes before one of the delimiters, which is consumed; at most `most` bytes if that is not
 * negative. Gives the delimiter or one of the above. */
int64_t world_read(World *world, int64_t descriptor, const Text *delimiters, int64_t most, Text *out,
                   const char **reason);
const char *world_write(World *world, int64_t descriptor, const char *bytes, size_t length);
/* The file behind a descriptor, to be read from; null and the reason if it is not open. */
FILE *world_file(World *world, int64_t descriptor, const char **reason);
/* The next byte of such a file, as getc gives it; EOF, and errno is EINTR, if the run is to end before there is one. */
int world_get_byte(const World *world, FILE *file);

/* Null if there is none. */
const char *world_environment_variable(const Text *name);
/* Processor time of this process in seconds. */
double world_clock(void);

#endif
