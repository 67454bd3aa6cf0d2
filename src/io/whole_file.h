/* A file that is written as a whole or not at all: until it is complete it has another name, beside its own, and what was there before stays.
 *
 * Where that cannot be, it is written in its place: what is no ordinary file, has several names, or lies where no other file may be made. */
#ifndef RUNNEL_IO_WHOLE_FILE_H
#define RUNNEL_IO_WHOLE_FILE_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct WholeFile {
    FILE *file; /* to be written to */
    char *path; /* its own name, and the other one after it; null where it is written in its place */
    char *other;
    size_t size; /* of both */
} WholeFile;

/* False, and errno says why, if it cannot be written. */
bool whole_file_open(WholeFile *whole, Memory *memory, const char *path);
/* Gives it its name. False, and errno says why, if that fails: then it is as if it had not been written. */
bool whole_file_finish(WholeFile *whole, Memory *memory);
/* Instead: nothing is left of it. */
void whole_file_abandon(WholeFile *whole, Memory *memory);

#endif
