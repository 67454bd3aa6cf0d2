/* All that was measured, and the ways to show it. */
#ifndef SUITE_RESULTS_H
#define SUITE_RESULTS_H

#include "machine.h"
#include "sample.h"

typedef enum ThreadKind { THREADS_ONE, THREADS_ALL, THREAD_KINDS } ThreadKind;

typedef struct Entry {
    const Case *benchmark;
    uint64_t size;
    Pair pairs[MODES][THREAD_KINDS];
    Sample stretch[THREAD_KINDS]; /* of another C version, if there is one */
    double materialisations; /* places in the program where a vector is made */
} Entry;

/* The time for each element at one size, all threads. */
typedef struct SweepPoint {
    const Case *benchmark;
    uint64_t size;
    Pair pair;
} SweepPoint;

typedef struct Results {
    MachineFacts machine;
    const char *engine;
    bool has_fast;
    Entry *entries;
    size_t entry_count;
    SweepPoint *points;
    size_t point_count;
} Results;

static inline unsigned results_threads(const Results *results, ThreadKind kind)
{
    return kind == THREADS_ONE ? 1 : results->machine.threads;
}

/* ---- report.c: as Markdown ---- */
void report_header(const Results *results, Buffer *out);
void report_entry(const Results *results, const Entry *entry, Buffer *out);
void report_notes(Buffer *out);
void report_stretches(const Results *results, Buffer *out);
void report_sweeps(const Results *results, Buffer *out);
void report_missed(const Results *results, Buffer *out);
/* All of it, as a document; `plot` is the name of the picture. */
void report_document(const Results *results, const char *plot, Buffer *out);

/* ---- record.c: as JSON, an object on each line, and what has changed since ---- */
void record_write(const Results *results, Buffer *out);
/* `base` are the lines of such a file. */
void record_compare(const Results *results, const Lines *base, Buffer *out);

/* ---- plot.c: as a picture ---- */
void plot_write(const Results *results, Buffer *out);

#endif
