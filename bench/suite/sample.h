/* Times of one program, and of two in turn. */
#ifndef SUITE_SAMPLE_H
#define SUITE_SAMPLE_H

#include "cases.h"

/* How programs are run. */
typedef struct Setup {
    const char *runnel;    /* the program */
    const char *directory; /* of the C programs and all data */
    const char *engine;    /* null: Runnel's choice */
    double seconds;        /* that one configuration of a benchmark may take, about */
    bool has_fast;         /* Runnel knows --fast */
} Setup;

typedef enum ArithmeticMode { MODE_EXACT, MODE_FAST, MODES } ArithmeticMode;

/* What was seen of a program so far. Numbers nobody told are nan. */
typedef struct Sample {
    bool is_good;        /* it ended well, and with the right answer */
    char *problem;       /* why not */
    double seconds;      /* the least */
    double runs;
    double peak_bytes;
    double compile_seconds;             /* Runnel's, the longest: when nothing was known yet */
    double kernels, vector_bytes; /* Runnel's */
    char *result;        /* without NESL's decoration */
    char *engine;        /* Runnel's */
    char *warning;       /* what it said though it ended well; null for nothing */
} Sample;

typedef struct Pair {
    Sample runnel, c;
} Pair;

Sample sample_none(void);
void sample_free(Sample *sample);

/* One call of `runnel bench` or of the C version, of `runs` runs that are timed; the sample keeps the best. Without a number of threads (0) it is Runnel's
 * choice. */
void sample_runnel(Sample *sample, const Setup *setup, const Case *benchmark, const Lines *arguments, ArithmeticMode mode, unsigned threads, unsigned runs);
void sample_c(Sample *sample, const Setup *setup, const Case *benchmark, const Lines *arguments, ArithmeticMode mode, unsigned threads, unsigned runs);
/* The same for another C version, without turns. */
void sample_stretch(Sample *sample, const Setup *setup, const Case *benchmark, const Lines *arguments, const char *expected, unsigned threads);

/* Both in turn, until there are ten runs of each or the time is over; called again, ten more. `expected` is the answer, null if nobody knows: then C is the
 * witness. */
void pair_measure(Pair *pair, const Setup *setup, const Case *benchmark, const Lines *arguments, const char *expected, ArithmeticMode mode,
                  unsigned threads);
/* A side with the wrong answer has no time. */
void pair_check(Pair *pair, const Case *benchmark, const char *expected, ArithmeticMode mode);
/* nan if one of them has no time. */
double pair_ratio(const Pair *pair);
void pair_free(Pair *pair);

/* The answer by a program that is neither; kept beside the data. Null if it takes too long. To be freed. */
char *expected_result(const Setup *setup, const Case *benchmark, uint64_t size, const Lines *arguments);

#endif
