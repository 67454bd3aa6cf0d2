/* What the C programs of the benchmarks share: main, arguments, timing and the report.
 *
 *     NAME [--threads T] [--runs N] ARG...
 *
 * An argument is written as for Runnel: a number, @FILE.npy, or a text in double quotes.
 *
 * A program defines the four things below. The harness reads the arguments once, runs the program until its times settle, times further runs as
 * `runnel bench` does (docs/bench.md), and prints one JSON object on one line. A run takes the memory for its results and gives that of the
 * run before back, as programs in Runnel do. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include "arguments.h"
#include "digest.h"
#include "npy.h"

#include <stdio.h>

/* Defined by the program: the names of its arguments, separated by spaces. */
extern const char bench_arguments[];

/* Reads the arguments, as many as bench_arguments names. Not timed. */
void bench_prepare(char **arguments);

/* One run, which is timed. It must leave the same result every time. */
void bench_run(void);

/* The result of the last run, as Runnel would print it. Not timed. */
void bench_result(FILE *out);


#endif
