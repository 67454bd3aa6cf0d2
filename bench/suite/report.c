#define _POSIX_C_SOURCE 200809L
#include "results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEGABYTE = 1000000 };
/* What a program that streams may hold, whatever the size; what others may, times what C does. */
static const double stream_bytes = 64.0 * (1 << 20), memory_factor = 1.5;
/* Fewer runs than this are marked. */
static const double runs_enough = 10;

/* ---- cells ---- */

static void add_seconds(Buffer *out, double seconds)
{
    if (!isfinite(seconds))
        buffer_addf(out, " - |");
    else if (seconds >= 1)
        buffer_addf(out, " %.2f s |", seconds);
    else if (seconds >= 1e-3)
        buffer_addf(out, " %.*f ms |", seconds >= 0.1 ? 0 : seconds >= 0.01 ? 1 : 2, seconds * 1e3);
    else
        buffer_addf(out, " %.*f us |", seconds >= 1e-4 ? 0 : 1, seconds * 1e6);
}

static void add_sample(Buffer *out, const Sample *sample)
{
    add_seconds(out, sample->is_good ? sample->seconds : NAN);
}

/* With so many digits after the point, or "-" for a number nobody knows. */
static void add_number(Buffer *out, double number, int digits, const char *unit)
{
    if (isfinite(number))
        buffer_addf(out, " %.*f%s |", digits, number, unit);
    else
        buffer_addf(out, " - |");
}

static bool is_short(const Pair *pair)
{
    return isfinite(pair_ratio(pair)) && (pair->runnel.runs < runs_enough || pair->c.runs < runs_enough);
}

static void add_ratio(Buffer *out, const Pair *pair, double goal)
{
    double ratio = pair_ratio(pair);
    if (!isfinite(ratio))
        buffer_addf(out, " - |");
    else
        buffer_addf(out, " %s%.2f%s%s |", ratio > goal ? "**" : "", ratio, ratio > goal ? "**" : "", is_short(pair) ? "\\*" : "");
}

static double speed_up(const Sample *one, const Sample *all)
{
    return one->is_good && all->is_good ? one->seconds / all->seconds : NAN;
}

/* ---- the table ---- */

void report_header(const Results *results, Buffer *out)
{
    unsigned all = results->machine.threads;
    buffer_addf(out, "| benchmark | size | Runnel 1 | C 1 | ratio 1 | Runnel %u | C %u | ratio %u | goal | speed-up | C's | of limit |", all, all, all);
    if (results->has_fast)
        buffer_addf(out, " fast 1 | C fast 1 | ratio 1 | fast %u | C fast %u | ratio %u |", all, all, all);
    buffer_addf(out, " memory | C's | compile | kernels | vectors made | at places |\n|");
    for (int i = results->has_fast ? 24 : 18; i > 0; i--)
        buffer_addf(out, "---|");
    buffer_addf(out, "\n");
}

static void add_pair(Buffer *out, const Pair *pair, double goal)
{
    add_sample(out, &pair->runnel);
    add_sample(out, &pair->c);
    add_ratio(out, pair, goal);
}

/* How much of what the machine could do is done, by all threads. */
static double share_of_limit(const Results *results, const Entry *entry)
{
    const Sample *runnel = &entry->pairs[MODE_EXACT][THREADS_ALL].runnel;
    double limit = machine_limit(&results->machine, entry->benchmark, entry->size, results->machine.threads);
    return runnel->is_good ? limit / runnel->seconds : NAN;
}

static void add_problem(Buffer *out, const Entry *entry, const char *side, const Sample *sample, ArithmeticMode mode, unsigned threads)
{
    const char *words = sample->is_good ? sample->warning : sample->problem;
    if (words != NULL)
        buffer_addf(out, "| %s | | %s%s, %u thread%s: %s |\n", entry->benchmark->name, side, mode == MODE_FAST ? " fast" : "", threads,
                    threads == 1 ? "" : "s", words);
}

static void add_problems(const Results *results, const Entry *entry, Buffer *out)
{
    for (ArithmeticMode mode = MODE_EXACT; mode < MODES; mode++)
        for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++) {
            unsigned threads = results_threads(results, kind);
            add_problem(out, entry, "Runnel", &entry->pairs[mode][kind].runnel, mode, threads);
            add_problem(out, entry, "C", &entry->pairs[mode][kind].c, mode, threads);
        }
}

void report_entry(const Results *results, const Entry *entry, Buffer *out)
{
    const Pair *one = &entry->pairs[MODE_EXACT][THREADS_ONE], *all = &entry->pairs[MODE_EXACT][THREADS_ALL];
    double goal = entry->benchmark->goal, share = share_of_limit(results, entry);
    buffer_addf(out, "| %s | %" PRIu64 " |", entry->benchmark->name, entry->size);
    add_pair(out, one, goal);
    add_pair(out, all, goal);
    add_number(out, goal, 1, "");
    add_number(out, speed_up(&one->runnel, &all->runnel), 2, "");
    add_number(out, speed_up(&one->c, &all->c), 2, "");
    add_number(out, 100 * share, 0, " %");
    for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS && results->has_fast; kind++)
        add_pair(out, &entry->pairs[MODE_FAST][kind], goal);
    add_number(out, all->runnel.peak_bytes / MEGABYTE, 1, " MB");
    add_number(out, all->c.peak_bytes / MEGABYTE, 1, " MB");
    add_seconds(out, fmax(one->runnel.compile_seconds, all->runnel.compile_seconds));
    add_number(out, all->runnel.kernels, 0, "");
    add_number(out, all->runnel.vector_bytes / MEGABYTE, 1, " MB");
    add_number(out, entry->materialisations, 0, "");
    buffer_addf(out, "\n");
    add_problems(results, entry, out);
}

void report_notes(Buffer *out)
{
    buffer_addf(out, "\nTimes are the least of at least ten runs of each side in turns, without reading arguments and printing results; of fewer where a "
                     "star says so. Ratios are Runnel's time divided by C's by as many threads: lower is better; bold ones miss the goal, after a second "
                     "look unless there is a star. Speed-ups are from one thread to all. `of limit` is how near the machine's measured limit Runnel comes by all threads: the "
                     "least bytes that must be moved, or what must be computed. Memory is the peak of the process, arguments included. Vectors made are "
                     "bytes that a run writes to vectors, the result included, and the places in the program where that is done. `compile` is the first time, when nothing was known.\n");
}

/* ---- goals ---- */

static bool is_memory_missed(const Entry *entry)
{
    const Pair *pair = &entry->pairs[MODE_EXACT][THREADS_ALL];
    if (!pair->runnel.is_good)
        return false;
    if (entry->benchmark->memory == MEMORY_STREAMS)
        return pair->runnel.peak_bytes > stream_bytes;
    return pair->c.is_good && pair->runnel.peak_bytes > memory_factor * pair->c.peak_bytes;
}

static void add_heading(const Results *results, const Entry *entry, ThreadKind kind, Buffer *out)
{
    unsigned threads = results_threads(results, kind);
    buffer_addf(out, "- %s, %u thread%s: ", entry->benchmark->name, threads, threads == 1 ? "" : "s");
}

static void add_missed_times(const Results *results, const Entry *entry, Buffer *out)
{
    for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++) {
        const Pair *pair = &entry->pairs[MODE_EXACT][kind];
        double ratio = pair_ratio(pair);
        if (isfinite(ratio) && ratio <= entry->benchmark->goal)
            continue;
        add_heading(results, entry, kind, out);
        if (!pair->runnel.is_good)
            buffer_addf(out, "no time: %s\n", pair->runnel.problem);
        else if (!pair->c.is_good)
            buffer_addf(out, "C has no time: %s\n", pair->c.problem);
        else
            buffer_addf(out, "%.2f times C's time, goal %.2g\n", ratio, entry->benchmark->goal);
    }
}

void report_missed(const Results *results, Buffer *out)
{
    for (size_t i = 0; i < results->entry_count; i++) {
        const Entry *entry = &results->entries[i];
        const Pair *pair = &entry->pairs[MODE_EXACT][THREADS_ALL];
        add_missed_times(results, entry, out);
        if (is_memory_missed(entry))
            buffer_addf(out, "- %s: %.1f MB of memory, C %.1f MB; goal %s\n", entry->benchmark->name, pair->runnel.peak_bytes / MEGABYTE,
                        pair->c.peak_bytes / MEGABYTE, entry->benchmark->memory == MEMORY_STREAMS ? "64 MiB" : "1.5 times C's");
    }
}

/* ---- other C versions ---- */

static void add_stretch(const Entry *entry, Buffer *out)
{
    buffer_addf(out, "| %s |", case_stretch(entry->benchmark));
    for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++) {
        Pair pair = {entry->pairs[MODE_EXACT][kind].runnel, entry->stretch[kind]};
        add_sample(out, &pair.c);
        add_number(out, pair_ratio(&pair), 2, "");
    }
    buffer_addf(out, "\n");
}

static bool has_stretch(const Results *results)
{
    for (size_t i = 0; i < results->entry_count; i++)
        if (case_stretch(results->entries[i].benchmark) != NULL)
            return true;
    return false;
}

void report_stretches(const Results *results, Buffer *out)
{
    unsigned all = results->machine.threads;
    if (!has_stretch(results))
        return;
    buffer_addf(out, "\nOther versions in C, with another algorithm or more trouble taken:\n\n");
    buffer_addf(out, "| C | time 1 | Runnel's / it | time %u | Runnel's / it |\n|---|---|---|---|---|\n", all);
    for (size_t i = 0; i < results->entry_count; i++)
        if (case_stretch(results->entries[i].benchmark) != NULL)
            add_stretch(&results->entries[i], out);
}

/* ---- sweeps ---- */

static void add_time_per_element(Buffer *out, const Sample *sample, uint64_t size)
{
    add_number(out, sample->is_good ? sample->seconds / (double)size * 1e9 : NAN, 2, " ns");
}

void report_sweeps(const Results *results, Buffer *out)
{
    buffer_addf(out, "| benchmark | elements | Runnel | C | ratio | memory |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < results->point_count; i++) {
        const SweepPoint *point = &results->points[i];
        buffer_addf(out, "| %s | %" PRIu64 " |", point->benchmark->name, point->size);
        add_time_per_element(out, &point->pair.runnel, point->size);
        add_time_per_element(out, &point->pair.c, point->size);
        add_number(out, pair_ratio(&point->pair), 2, "");
        add_number(out, point->pair.runnel.peak_bytes / MEGABYTE, 1, " MB");
        buffer_addf(out, "\n");
    }
}

/* ---- the document ---- */

static void add_rates(Buffer *out, const char *what, const Rates *rates)
{
    buffer_addf(out, "| %s | %.1f GB/s | %.0f million/s | %.1f billion/s |\n", what, rates->bytes / 1e9, rates->logs / 1e6, rates->fmas / 1e9);
}

static void add_machine(const Results *results, Buffer *out)
{
    const MachineFacts *machine = &results->machine;
    buffer_addf(out, "| | |\n|---|---|\n| processor | %s, %u threads |\n| caches | %s |\n| memory | %s |\n| system | %s |\n| C compiler | %s |\n| engine | %s |\n\n",
                machine->processor, machine->threads, machine->caches, machine->memory, machine->system, machine->compiler, results->engine);
    if (machine_is_busy(machine))
        buffer_addf(out, "**The machine was busy with other things (load average %.1f): these times are not to be relied on.**\n\n", machine->load);
    buffer_addf(out, "What the machine can do, measured in the same run (a byte that is copied is read and written, and counts twice):\n\n"
                     "| threads | copying | logarithms | multiply-adds |\n|---|---|---|---|\n");
    add_rates(out, "1", &machine->one);
    char *all = checked_format("%u", machine->threads);
    add_rates(out, all, &machine->all);
    free(all);
}

void report_document(const Results *results, const char *plot, Buffer *out)
{
    buffer_addf(out, "# Results of the benchmarks\n\nMade by `make bench`; [NOTES.md](NOTES.md) has notes on the programs of both sides.\n\n## The machine\n\n");
    add_machine(results, out);
    buffer_addf(out, "\n## Times\n\n");
    report_header(results, out);
    for (size_t i = 0; i < results->entry_count; i++)
        report_entry(results, &results->entries[i], out);
    report_notes(out);
    if (!results->has_fast)
        buffer_addf(out, "\nThis Runnel has no `--fast`, so there are no columns that compare it with C that may contract.\n");
    report_stretches(results, out);
    buffer_addf(out, "\n![Ratios, and distance to the machine's limit](%s)\n", plot);
    if (results->point_count > 0) {
        buffer_addf(out, "\n## Time for each element\n\nOf programs that stream, by all threads.\n\n");
        report_sweeps(results, out);
    }
    buffer_addf(out, "\n## Goals missed\n\n");
    size_t before = out->length;
    report_missed(results, out);
    if (out->length == before)
        buffer_addf(out, "None.\n");
}
