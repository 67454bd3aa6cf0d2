/* Benchmarks: a program is run until its times say something. docs/bench.md says what is timed. */
#include "base/json.h"
#include "base/machine.h"
#include "base/statistics.h"
#include "driver/commands.h"
#include "driver/host.h"
#include "driver/output.h"
#include "driver/progress_line.h"
#include "driver/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times are settled when so many runs in a row are so near to each other. Warming up ends then, or after so long (nanoseconds). */
enum { SETTLED_RUNS = 3, WARM_UP_TIME = 200000000 };
static const double settled_part = 0.05;

/* Where nobody says how many: so many runs that take so long together (seconds), unless it takes forever. */
enum { RUNS_LEAST = 10, RUNS_MOST = 1000 };
static const double enough_seconds = 1;
static const uint64_t forever = UINT64_C(30000000000);

/* ---- the result ---- */

/* That of the first run, to which those of the others are compared as they come. */
typedef struct Result {
    char *text;
    size_t length, capacity;
    bool is_known;   /* the first run is over */
    size_t at;       /* so much of it this run has given */
    bool has_varied; /* there came something else then */
    bool is_out_of_memory;
} Result;

static void result_add(Result *result, const char *bytes, size_t length)
{
    if (length > result->capacity - result->length) {
        size_t capacity = 2 * (result->length + length);
        char *longer = realloc(result->text, capacity);
        result->is_out_of_memory |= longer == NULL;
        if (longer == NULL)
            return;
        result->text = longer;
        result->capacity = capacity;
    }
    memcpy(result->text + result->length, bytes, length);
    result->length += length;
}

static void result_compare(Result *result, const char *bytes, size_t length)
{
    size_t left = result->length - result->at, same = 0;
    if (length <= left && memcmp(result->text + result->at, bytes, length) == 0)
        same = length;
    while (same < length && same < left && bytes[same] == result->text[result->at + same])
        same++;
    result->at += same;
    result->has_varied = same < length;
}

static void result_take(void *context, const char *bytes, size_t length)
{
    Result *result = context;
    if (!result->is_known)
        result_add(result, bytes, length);
    else if (!result->has_varied)
        result_compare(result, bytes, length);
}

/* What comes next is compared with nothing before it. */
static void result_forget(Result *result)
{
    result->is_known = false;
    result->length = 0;
}

/* A run is over. False after an error. */
static bool result_end_run(Result *result, size_t run)
{
    if (result->is_out_of_memory) {
        report_error("out-of-memory", "there is not enough memory to hold the result as text");
        return false;
    }
    bool is_same = !result->is_known || (!result->has_varied && result->at == result->length);
    if (!is_same)
        report_error("result-varies",
                     "run %zu gives another result than run 1, from byte %zu on: only what gives the same each time can be timed. Random "
                     "numbers need a seed in what is run: rand_seed(seed), or random(seed, i)",
                     run, result->at);
    result->is_known = true;
    result->at = 0;
    return is_same;
}

/* Without the end of its last line. */
static size_t result_length(const Result *result)
{
    return result->length > 0 && result->text[result->length - 1] == '\n' ? result->length - 1 : result->length;
}

/* ---- times ---- */

typedef struct Times {
    double *seconds;
    size_t count, capacity;
    double sum;
    uint64_t start; /* when the first of them began, by the clock */
} Times;

static void times_begin(Times *times)
{
    times->count = 0;
    times->sum = 0;
    times->start = machine_clock();
}

/* False after an error. */
static bool times_add(Times *times, double seconds)
{
    if (times->count == times->capacity) {
        size_t capacity = times->capacity == 0 ? RUNS_MOST : 2 * times->capacity;
        double *more = realloc(times->seconds, capacity * sizeof *more);
        if (more == NULL) {
            report_error("out-of-memory", "there is not enough memory for the times of %zu runs", times->count + 1);
            return false;
        }
        times->seconds = more;
        times->capacity = capacity;
    }
    times->seconds[times->count++] = seconds;
    times->sum += seconds;
    return true;
}

static bool is_warm(const Times *times)
{
    return machine_clock() - times->start >= WARM_UP_TIME ||
           statistics_have_settled(times->seconds, times->count, SETTLED_RUNS, settled_part);
}

static bool is_enough(const Times *times, uint64_t runs)
{
    if (runs > 0)
        return times->count >= runs;
    return (times->count >= RUNS_LEAST && times->sum >= enough_seconds) || times->count >= RUNS_MOST ||
           machine_clock() - times->start >= forever;
}

/* ---- running ---- */

typedef struct Bench {
    const Options *options;
    Host host;
    Result result;
    Times times;
    RunnelRunInfo info;     /* of the last run */
    size_t runs;            /* all of them */
    double load_seconds;    /* reading, checking and compiling the program, but for kernels */
    size_t peak_bytes;      /* when all was measured */
} Bench;

/* Whether there was a result. False after an error. */
static bool has_result(const Bench *bench)
{
    if (bench->result.length == 0)
        report_error("no-main", "there is nothing to time: the program has neither a function `main` nor top-level expressions");
    return bench->result.length > 0;
}

static bool is_for_digest(const Bench *bench)
{
    return options_has(bench->options, OPTION_DIGEST);
}

static RunnelStatus run_once(Bench *bench)
{
    RunnelStatus status = runnel_run_prepared(bench->host.session, &bench->info);
    bench->host.output = HOST_NOWHERE;
    bench->runs++;
    bool has_messages = *runnel_messages(bench->host.session) != '\0'; /* of the first run there may be warnings */
    if (status != RUNNEL_OK || has_messages)
        host_report(&bench->host, status);
    if (status != RUNNEL_OK)
        return status;
    if (!is_for_digest(bench) && !has_result(bench))
        return RUNNEL_COMPILE_ERROR;
    bool is_good = result_end_run(&bench->result, bench->runs) && times_add(&bench->times, bench->info.seconds);
    return is_good ? RUNNEL_OK : RUNNEL_RUN_ERROR;
}

static RunnelStatus warm_up(Bench *bench)
{
    RunnelStatus status;
    times_begin(&bench->times);
    do
        status = run_once(bench);
    while (status == RUNNEL_OK && !is_warm(&bench->times));
    return status;
}

static RunnelStatus measure(Bench *bench)
{
    RunnelStatus status;
    times_begin(&bench->times);
    do
        status = run_once(bench);
    while (status == RUNNEL_OK && !is_enough(&bench->times, bench->options->runs));
    return status;
}

/* A large result is not even made in the runs that are timed: so its text takes no memory, and no time between them. */
static RunnelStatus run_for_digest(Bench *bench)
{
    result_forget(&bench->result);
    runnel_set_results(bench->host.session, RUNNEL_RESULTS_DIGESTED);
    RunnelStatus status = host_report(&bench->host, runnel_run_prepared(bench->host.session, &(RunnelRunInfo){0}));
    return status != RUNNEL_OK || has_result(bench) ? status : RUNNEL_COMPILE_ERROR;
}

static RunnelStatus load(Bench *bench, const char *path)
{
    uint64_t start = machine_clock();
    RunnelStatus status = runnel_load_file(bench->host.session, path);
    bench->load_seconds = (double)(machine_clock() - start) / 1e9;
    return host_report(&bench->host, status);
}

static RunnelStatus prepare(Bench *bench)
{
    const char *const *arguments = (const char *const *)bench->options->words + 2;
    return host_report(&bench->host, runnel_prepare(bench->host.session, arguments, bench->options->word_count - 2));
}

static RunnelStatus run_all(Bench *bench)
{
    if (is_for_digest(bench))
        runnel_set_results(bench->host.session, RUNNEL_RESULTS_IGNORED);
    RunnelStatus status = warm_up(bench);
    if (status == RUNNEL_OK)
        status = measure(bench);
    bench->peak_bytes = machine_peak_memory();
    return status == RUNNEL_OK && is_for_digest(bench) ? run_for_digest(bench) : status;
}

/* ---- showing ---- */

static double compile_seconds(const Bench *bench)
{
    return bench->load_seconds + bench->info.compile_seconds;
}

static void show_json_text(const char *text, size_t length)
{
    char character[JSON_CHARACTER_SIZE];
    for (size_t at = 0; at < length;) {
        size_t plain = json_plain_length(text + at, length - at);
        output_write(text + at, plain);
        at += plain;
        if (at < length) {
            at += json_character(text + at, length - at, character);
            output_write(character, strlen(character));
        }
    }
}

static void show_json(const Bench *bench, double median)
{
    output_print("{\"min\": %.9f, \"median\": %.9f, \"runs\": %zu, \"threads\": %" PRIu32
                 ", \"engine\": \"%s\", \"compile\": %.9f, \"peak_bytes\": %zu, \"kernels\": %" PRIu64 ", \"vector_bytes\": %" PRIu64
                 ", \"result\": \"",
                 bench->times.seconds[0], median, bench->times.count, bench->info.threads,
                 options_engine_name(bench->options), compile_seconds(bench), bench->peak_bytes, bench->info.kernels,
                 bench->info.vector_bytes);
    show_json_text(bench->result.text, result_length(&bench->result));
    output_print("\"}\n");
}

/* On one line; what is left out becomes dots. */
static void show_result(const Result *result)
{
    enum { LENGTH_MOST = 60 };
    char line[LENGTH_MOST + 1];
    size_t length = result_length(result), shown = length <= LENGTH_MOST ? length : LENGTH_MOST - 3;
    while (shown < length && shown > 0 && ((unsigned char)result->text[shown] & 0xC0) == 0x80)
        shown--; /* not within a character of UTF-8 */
    for (size_t i = 0; i < shown; i++)
        line[i] = (unsigned char)result->text[i] < ' ' ? ' ' : result->text[i];
    line[shown] = '\0';
    output_print("result   %s%s\n", line, shown < length ? "..." : "");
}

static void show_table(const Bench *bench, double median)
{
    output_print("%smin      %.9f s\n", bench->host.is_inside_line ? "\n" : "", bench->times.seconds[0]);
    output_print("median   %.9f s\n", median);
    output_print("runs     %zu\n", bench->times.count);
    output_print("threads  %" PRIu32 "\n", bench->info.threads);
    output_print("engine   %s\n", options_engine_name(bench->options));
    output_print("compile  %.9f s\n", compile_seconds(bench));
    output_print("peak     %.1f MiB\n", (double)bench->peak_bytes / (1 << 20));
    output_print("kernels  %" PRIu64 "\n", bench->info.kernels);
    output_print("vectors  %" PRIu64 " bytes\n", bench->info.vector_bytes);
    show_result(&bench->result);
}

static void show(Bench *bench)
{
    Times *times = &bench->times;
    statistics_sort(times->seconds, times->count);
    double median = statistics_median(times->seconds, times->count);
    if (options_has(bench->options, OPTION_JSON))
        show_json(bench, median);
    else
        show_table(bench, median);
}

int command_bench(const Options *options)
{
    Bench bench = {.options = options};
    Host *host = &bench.host;
    if (!host_open(host, options))
        return RUNNEL_RUN_ERROR;
    progress_end(); /* nothing else runs beside what is timed */
    host->take_result = result_take;
    host->take_context = &bench.result;
    if (options_has(options, OPTION_JSON))
        host->output = HOST_ERRORS;
    RunnelStatus status = load(&bench, options->words[1]);
    if (status == RUNNEL_OK)
        status = prepare(&bench);
    if (status == RUNNEL_OK)
        status = run_all(&bench);
    if (status == RUNNEL_OK)
        show(&bench);
    free(bench.result.text);
    free(bench.times.seconds);
    return host_close(host, status);
}
