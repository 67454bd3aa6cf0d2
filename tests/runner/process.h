/* Runs a command with a time limit and keeps what it writes. */
#ifndef RUNNER_PROCESS_H
#define RUNNER_PROCESS_H

#include "buffer.h"

typedef struct Outcome {
    Buffer out;
    Buffer err;
    int status;          /* the exit status, or 128 + the signal that ended it */
    bool is_out_of_time; /* it was ended by us */
} Outcome;

/* `directory` may be null for the current one. Standard input is empty. */
void process_run(const Lines *words, const char *directory, Outcome *outcome);
/* The same, with a time limit of its own. */
void process_run_within(double seconds, const Lines *words, const char *directory, Outcome *outcome);
/* From now on a signal that ends this process ends the command under way too: it is in a process group of its own, where no terminal reaches it. */
void process_share_signals(void);
void outcome_free(Outcome *outcome);

/* Seconds that a command may take: 30, times TEST_TIME_FACTOR. */
double process_time_limit(void);
/* Seconds of a clock that only moves forward. */
double process_now(void);

#endif
