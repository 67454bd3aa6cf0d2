/* Running another program to its end, or until this run is to end. */
#ifndef RUNNEL_COMPILE_CHILD_H
#define RUNNEL_COMPILE_CHILD_H

#include "base/stop.h"

typedef struct Child {
    const char *path;         /* of the program */
    char *const *words;       /* its name and arguments, then null */
    char *const *environment; /* then null */
    const char *output_path;  /* a file for what it writes, to standard output and error */
    const StopFlag *stop;     /* may be null */
} Child;

typedef enum ChildEnd {
    CHILD_EXITED,      /* with a status */
    CHILD_KILLED,      /* by a signal */
    CHILD_STOPPED,     /* by us, with all that it started */
    CHILD_NOT_STARTED, /* for a reason of errno */
} ChildEnd;

typedef struct ChildResult {
    ChildEnd end;
    int number; /* the status, signal or reason */
} ChildResult;

ChildResult child_run(const Child *child);

#endif
