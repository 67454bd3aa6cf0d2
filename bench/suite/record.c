#define _POSIX_C_SOURCE 200809L
#include "json.h"
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {[MODE_EXACT] = "exact", [MODE_FAST] = "fast"};

/* ---- writing ---- */

static void add_machine(const Results *results, Buffer *out)
{
    const MachineFacts *machine = &results->machine;
    buffer_addf(out, "{");
    json_add_text(out, "processor", machine->processor);
    json_add_text(out, "caches", machine->caches);
    json_add_text(out, "memory", machine->memory);
    json_add_text(out, "system", machine->system);
    json_add_text(out, "compiler", machine->compiler);
    json_add_text(out, "engine", results->engine);
    json_add_number(out, "all_threads", machine->threads);
    json_add_number(out, "load", machine->load);
    json_add_number(out, "bytes_1", machine->one.bytes);
    json_add_number(out, "logs_1", machine->one.logs);
    json_add_number(out, "fmas_1", machine->one.fmas);
    json_add_number(out, "bytes_all", machine->all.bytes);
    json_add_number(out, "logs_all", machine->all.logs);
    json_add_number(out, "fmas_all", machine->all.fmas);
    buffer_addf(out, "}");
}

static double seconds_of(const Sample *sample)
{
    return sample->is_good ? sample->seconds : NAN;
}

static void add_pair(const Pair *pair, Buffer *out)
{
    json_add_number(out, "runnel", seconds_of(&pair->runnel));
    json_add_number(out, "c", seconds_of(&pair->c));
    json_add_number(out, "ratio", pair_ratio(pair));
    json_add_number(out, "runnel_runs", pair->runnel.runs);
    json_add_number(out, "c_runs", pair->c.runs);
    json_add_number(out, "runnel_peak_bytes", pair->runnel.peak_bytes);
    json_add_number(out, "c_peak_bytes", pair->c.peak_bytes);
    json_add_number(out, "compile", pair->runnel.compile_seconds);
    json_add_number(out, "kernels", pair->runnel.kernels);
    json_add_number(out, "vector_bytes", pair->runnel.vector_bytes);
    if (!pair->runnel.is_good)
        json_add_text(out, "runnel_problem", pair->runnel.problem);
    if (!pair->c.is_good)
        json_add_text(out, "c_problem", pair->c.problem);
}

static void add_line(const char *kind, const Case *benchmark, uint64_t size, ArithmeticMode mode, unsigned threads, const Pair *pair, Buffer *out)
{
    buffer_addf(out, ",\n{");
    json_add_text(out, "kind", kind);
    json_add_text(out, "name", benchmark->name);
    json_add_number(out, "size", (double)size);
    json_add_text(out, "mode", mode_names[mode]);
    json_add_number(out, "threads", threads);
    add_pair(pair, out);
}

static void add_entry(const Results *results, const Entry *entry, Buffer *out)
{
    for (ArithmeticMode mode = MODE_EXACT; mode <= (results->has_fast ? MODE_FAST : MODE_EXACT); mode++)
        for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++) {
            unsigned threads = results_threads(results, kind);
            add_line("benchmark", entry->benchmark, entry->size, mode, threads, &entry->pairs[mode][kind], out);
            json_add_number(out, "goal", entry->benchmark->goal);
            json_add_number(out, "limit", machine_limit(&results->machine, entry->benchmark, entry->size, threads));
            json_add_number(out, "materialisations", entry->materialisations);
            if (mode == MODE_EXACT && case_stretch(entry->benchmark) != NULL)
                json_add_number(out, "stretch", seconds_of(&entry->stretch[kind]));
            buffer_addf(out, "}");
        }
}

void record_write(const Results *results, Buffer *out)
{
    buffer_addf(out, "[\n");
    add_machine(results, out);
    for (size_t i = 0; i < results->entry_count; i++)
        add_entry(results, &results->entries[i], out);
    for (size_t i = 0; i < results->point_count; i++) {
        const SweepPoint *point = &results->points[i];
        add_line("sweep", point->benchmark, point->size, MODE_EXACT, results->machine.threads, &point->pair, out);
        buffer_addf(out, "}");
    }
    buffer_addf(out, "\n]\n");
}

/* ---- comparing ---- */

static bool has_text(const char *line, const char *key, const char *wanted)
{
    char *text = json_text(line, key);
    bool is_same = text != NULL && strcmp(text, wanted) == 0;
    free(text);
    return is_same;
}

static bool has_number(const char *line, const char *key, double wanted)
{
    double number;
    return json_number(line, key, &number) && number == wanted;
}

/* The line of the same measurement; null if there is none. */
static const char *same_line(const Lines *base, const Entry *entry, ArithmeticMode mode, unsigned threads)
{
    for (size_t i = 0; i < base->count; i++) {
        const char *line = base->items[i];
        if (has_text(line, "kind", "benchmark") && has_text(line, "name", entry->benchmark->name) && has_text(line, "mode", mode_names[mode]) &&
            has_number(line, "size", (double)entry->size) && has_number(line, "threads", threads))
            return line;
    }
    return NULL;
}

static void add_change(const char *line, const Entry *entry, const Pair *pair, ArithmeticMode mode, unsigned threads, Buffer *out)
{
    double runnel = NAN, c = NAN;
    json_number(line, "runnel", &runnel);
    json_number(line, "c", &c);
    double now = seconds_of(&pair->runnel), c_now = seconds_of(&pair->c);
    buffer_addf(out, "| %s | %s | %u | %.6f s | %.6f s | %.2f | %.2f |\n", entry->benchmark->name, mode_names[mode], threads, runnel, now, now / runnel,
                c_now / c);
}

static void compare_entry(const Results *results, const Entry *entry, const Lines *base, Buffer *out)
{
    for (ArithmeticMode mode = MODE_EXACT; mode <= (results->has_fast ? MODE_FAST : MODE_EXACT); mode++)
        for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++) {
            unsigned threads = results_threads(results, kind);
            const char *line = same_line(base, entry, mode, threads);
            if (line != NULL)
                add_change(line, entry, &entry->pairs[mode][kind], mode, threads, out);
        }
}

void record_compare(const Results *results, const Lines *base, Buffer *out)
{
    buffer_addf(out, "| benchmark | arithmetic | threads | before | now | now / before | C's now / before |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < results->entry_count; i++)
        compare_entry(results, &results->entries[i], base, out);
}
