/* Work in a process of its own, so that a crash or an endless loop is a result like others. */
#ifndef GENERATE_ISOLATE_H
#define GENERATE_ISOLATE_H

#include "compare.h"

/* Memory that this process and its children share; zeroed. */
void *shared_alloc(size_t size);

/* A child that runs `work(context)` and ends. Its standard error goes to a file kept for child_finish. */
typedef struct Child {
    int process;
    int messages;
} Child;

Child child_start(void (*work)(void *context), void *context);
/* Whether the child has ended; then how, as a verdict: CRASHES with the first line of its messages, or AGREES if it ended by itself
 * with status 0. Does not wait. */
bool child_has_ended(Child *child, Verdict *verdict);
/* Ends a child that takes too long. */
void child_kill(Child *child);

/* compare_program in a child, with verdicts for crashes, and for hangs after `seconds`. */
void compare_isolated(const Given *given, double seconds, Verdict *verdict);

double now(void);
void pause_briefly(void);

#endif
