/* A line on the terminal that shows how far a long run is:
 *
 *     12.3 s, 1.53 G elements, 124 M/s, 45 %, 15 s left, 12.5 MiB
 *
 * There is none unless standard error is a terminal, none for what is over soon, and none once the program itself has talked to the user there. A thread of its
 * own draws it; whoever else writes to the terminal asks for room first. */
#ifndef RUNNEL_DRIVER_PROGRESS_LINE_H
#define RUNNEL_DRIVER_PROGRESS_LINE_H

#include "runnel.h"

/* A run begins. Only one is under way at a time. */
void progress_begin(RunnelSession *session, bool is_shown);
/* The run is over, or nobody wants to see how far it is; may be called again. */
void progress_end(void);

/* The line makes room for what is written to the terminal until progress_go_on. `is_inside_line`: then it comes back only after something else has been
 * written, which is not. Nothing happens while there is no line. */
void progress_make_room(void);
void progress_go_on(bool is_inside_line);
/* The program talks to the user: no line until the next run. */
void progress_stay_away(void);
/* The program waits for input: if that can only come from the user at the terminal, the same. */
void progress_notice_waiting(void);

/* After a run that was interrupted: `12.3 s, 1.53 G elements, 45 %, 12.5 MiB`, the last at its most. */
void progress_summarize(RunnelSession *session, char *text, size_t size);

#endif
