/* Lines typed by the user: with editing and history on a terminal where libedit is there, else plain. */
#ifndef RUNNEL_DRIVER_LINE_H
#define RUNNEL_DRIVER_LINE_H

#include <stdbool.h>

typedef struct LineReader LineReader;

typedef enum LineResult { LINE_READ, LINE_END, LINE_INTERRUPTED } LineResult;

/* Whether a user sits in front of standard input and output; prompts are shown only then. */
bool line_is_interactive(void);

/* Null when there is no memory. */
LineReader *line_open(void);
/* Keeps the history. */
void line_close(LineReader *reader);

/* Reads a line into `*text`, without its newline; the text belongs to the reader until the next call. */
LineResult line_read(LineReader *reader, const char *prompt, const char **text);

#endif
