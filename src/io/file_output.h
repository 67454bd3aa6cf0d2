/* A file on its way out: whole or not at all (whole_file.h), compressed if its name says so; or the host's standard output. Failures are remembered: `reason` is
 * then why. */
#ifndef RUNNEL_IO_FILE_OUTPUT_H
#define RUNNEL_IO_FILE_OUTPUT_H

#include "io/compression.h"
#include "io/whole_file.h"
#include "io/world.h"

enum { FILE_OUTPUT_BLOCK = 1 << 16 };

typedef struct FileOutput {
    Memory *memory;
    WholeFile whole; /* its file is null where the host writes */
    WorldOutput host;
    bool is_open;
    long start;       /* where writing began */
    Encoder *encoder; /* null: as it is */
    const char *reason;
    char *block; /* what the encoder has made */
} FileOutput;

/* False if it cannot be written. */
bool file_output_open(FileOutput *output, Memory *memory, const char *path, Compression compression);
/* What the host has; it looks after failures itself. */
void file_output_to_host(FileOutput *output, WorldOutput host);
/* Standard output by another way, if that is an ordinary file in which what was written can be changed; false if it is not. */
bool file_output_to_changeable(FileOutput *output, Memory *memory);
bool file_output_write(FileOutput *output, const void *bytes, size_t size);
/* Whether what was written can be changed. */
bool file_output_can_change(const FileOutput *output);
/* Writes over the beginning. */
bool file_output_change(FileOutput *output, const void *bytes, size_t size);
/* Gives it its name; false, and nothing is left of it, if that or anything before has failed. */
bool file_output_finish(FileOutput *output);
/* Nothing is left of it; may be called again. */
void file_output_abandon(FileOutput *output);

#endif
