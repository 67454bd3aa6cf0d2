/* A file on its way out: whole or not at all (whole_file.h), compressed if its name says so. Failures are remembered: `reason` is then why. */
#ifndef RUNNEL_IO_FILE_OUTPUT_H
#define RUNNEL_IO_FILE_OUTPUT_H

#include "io/compression.h"
#include "io/whole_file.h"

enum { FILE_OUTPUT_BLOCK = 1 << 16 };

typedef struct FileOutput {
    Memory *memory;
    WholeFile whole;
    bool is_open;
    Encoder *encoder; /* null: as it is */
    const char *reason;
    char *block; /* what the encoder has made */
} FileOutput;

/* Standard output if the path is null, as it is. False if it cannot be written. */
bool file_output_open(FileOutput *output, Memory *memory, const char *path, Compression compression);
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
