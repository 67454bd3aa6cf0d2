/* Standard output, where results go. A write that fails (a full disk, a reader that went away) is remembered, and makes the command fail at its end.
 *
 * Everything is buffered, for a terminal up to the end of a line. Once there was more than a buffer of it, a thread writes behind, so that a slow reader
 * costs no more than its own time; until then nothing of the kind is started. */
#ifndef RUNNEL_DRIVER_OUTPUT_H
#define RUNNEL_DRIVER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Who says that waiting for the reader is to be given up: asked now and then while it lasts. What cannot be written then is lost. */
typedef bool OutputIsStopping(void *context);
void output_set_stopping(OutputIsStopping *is_stopping, void *context);

/* False when this or an earlier write failed. */
bool output_write(const char *bytes, size_t length);
__attribute__((format(printf, 1, 2))) bool output_print(const char *format, ...);
/* What was written so far is out when this returns. */
bool output_flush(void);
/* ... or soon after, if the thread writes it. */
void output_hurry(void);

/* Whether every write so far worked. */
bool output_is_good(void);

/* The command's exit status: `status`, unless results were lost. Says why they were, except when the reader
 * closed the pipe: it knows. */
int output_finish(int status);

#endif
