/* Standard output, where results go. A write that fails (a full disk, a reader that went away) is remembered,
 * and makes the command fail at its end. */
#ifndef RUNNEL_DRIVER_OUTPUT_H
#define RUNNEL_DRIVER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* False when this or an earlier write failed. */
bool output_write(const char *bytes, size_t length);
bool output_flush(void);

/* Whether every write so far worked. */
bool output_is_good(void);

/* The command's exit status: `status`, unless results were lost. Says why they were, except when the reader
 * closed the pipe: it knows. */
int output_finish(int status);

#endif
