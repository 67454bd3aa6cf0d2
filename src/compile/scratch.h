/* A directory for the files of one compilation, which nobody else can enter and which is removed with all that is in it. */
#ifndef RUNNEL_COMPILE_SCRATCH_H
#define RUNNEL_COMPILE_SCRATCH_H

#include "compile/path.h"
#include "compile/problem.h"

#include <stddef.h>

typedef struct Scratch {
    char directory[PATH_SIZE];
    char text[PATH_SIZE];   /* the C text */
    char object[PATH_SIZE]; /* what becomes of it */
    char output[PATH_SIZE]; /* what the compiler says */
} Scratch;

/* Makes the directory below $TMPDIR, or /tmp. */
bool scratch_open(Scratch *scratch, Problem *problem);
bool scratch_write_text(const Scratch *scratch, const char *text, size_t length, Problem *problem);
/* The beginning of what the compiler said; how long it is, at most `size - 1`. */
size_t scratch_read_output(const Scratch *scratch, char *bytes, size_t size);
void scratch_close(const Scratch *scratch);

#endif
