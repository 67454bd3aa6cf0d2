/* suite: runs the benchmarks of bench/programs on both sides, checks their answers, and shows times. See `suite --help` for what can be asked for; `make
 * bench` does so. */
#define _POSIX_C_SOURCE 200809L
#include "../../tests/runner/process.h"
#include "results.h"
#include "smoke.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    Setup setup;
    const char *names;    /* null: all */
    const char *base;     /* null: none */
    const char *engines;  /* for tests */
    const char *smoke;    /* null: no test */
    const char *compiler;
    unsigned threads;
    bool is_quick;
} Options;

static const char usage[] =
    "suite [--names \"a b\"] [--quick] [--base FILE] [--runnel PROGRAM] [--directory DIR] [--engine NAME]\n"
    "      [--threads N] [--seconds S] [--compiler TEXT]\n"
    "suite --smoke NAME [--engines \"a b\"]   only whether the answers are right, at a tiny size\n";

/* ---- options ---- */

static bool take_text(const char *word, const char *name, const char *value, const char **into)
{
    if (strcmp(word, name) == 0)
        *into = value;
    return strcmp(word, name) == 0;
}

static bool take_number(const char *word, const char *name, const char *value, double *into)
{
    if (strcmp(word, name) == 0)
        *into = atof(value);
    return strcmp(word, name) == 0;
}

static bool take_option(Options *options, const char *word, const char *value)
{
    double threads = options->threads;
    bool is_taken = take_text(word, "--names", value, &options->names) || take_text(word, "--base", value, &options->base) ||
                    take_text(word, "--engines", value, &options->engines) || take_text(word, "--smoke", value, &options->smoke) ||
                    take_text(word, "--compiler", value, &options->compiler) || take_text(word, "--runnel", value, &options->setup.runnel) ||
                    take_text(word, "--directory", value, &options->setup.directory) ||
                    take_text(word, "--engine", value, &options->setup.engine) ||
                    take_number(word, "--seconds", value, &options->setup.seconds) || take_number(word, "--threads", value, &threads);
    options->threads = threads < 1 ? 1 : (unsigned)threads;
    return is_taken;
}

static Options read_options(int count, char **words)
{
    Options options = {.setup = {.runnel = "./runnel", .directory = "build/bench", .seconds = 60},
                       .engines = "ref vm c",
                       .compiler = "unknown",
                       .threads = 2};
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--quick") == 0) {
            options.is_quick = true;
        } else if (i + 1 >= count || !take_option(&options, words[i], words[i + 1])) {
            fputs(usage, stderr);
            exit(2);
        } else {
            i++;
        }
    }
    return options;
}

/* ---- what Runnel says of itself ---- */

static char *ask_runnel(const Setup *setup, const char *command)
{
    enum { TIME_LIMIT = 60 };
    Lines words = {0};
    Outcome outcome;
    char *line = checked_format("%s %s", setup->runnel, command);
    words = words_of(line);
    process_run_within(TIME_LIMIT, &words, NULL, &outcome);
    char *text = checked_copy(buffer_text(&outcome.out));
    outcome_free(&outcome);
    lines_free(&words);
    free(line);
    return text;
}

/* So nobody else's is touched. */
static void use_own_cache(const Setup *setup)
{
    char *cache = checked_format("%s/cache", setup->directory);
    setenv("RUNNEL_CACHE", cache, 1);
    free(cache);
}

static bool knows_fast(const Setup *setup)
{
    char *help = ask_runnel(setup, "help bench");
    bool is_known = strstr(help, "--fast") != NULL;
    free(help);
    return is_known;
}

static double count_materialisations(const Setup *setup, const Case *benchmark)
{
    static const char key[] = "materialisations ";
    char *command = checked_format("emit counts %s", benchmark->program), *text = ask_runnel(setup, command);
    const char *found = strstr(text, key);
    double number = found == NULL ? NAN : atof(found + sizeof key - 1);
    free(text);
    free(command);
    return number;
}

/* ---- measuring ---- */

/* Where a goal seems to be missed, unless it takes too long. */
static bool needs_second_look(const Case *benchmark, const Pair *pair)
{
    enum { RUNS_ENOUGH = 10 };
    return pair_ratio(pair) > benchmark->goal && pair->runnel.runs >= RUNS_ENOUGH;
}

static void measure_mode(const Setup *setup, Entry *entry, const Lines *arguments, const char *expected, ArithmeticMode mode, unsigned all)
{
    for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++) {
        Pair *pair = &entry->pairs[mode][kind];
        unsigned threads = kind == THREADS_ONE ? 1 : all;
        pair_measure(pair, setup, entry->benchmark, arguments, expected, mode, threads);
        if (needs_second_look(entry->benchmark, pair))
            pair_measure(pair, setup, entry->benchmark, arguments, expected, mode, threads);
    }
}

static void measure_stretch(const Setup *setup, Entry *entry, const Lines *arguments, const char *expected, unsigned all)
{
    for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++) {
        entry->stretch[kind] = sample_none();
        if (case_stretch(entry->benchmark) != NULL)
            sample_stretch(&entry->stretch[kind], setup, entry->benchmark, arguments, expected, kind == THREADS_ONE ? 1 : all);
    }
}

static Entry measure_entry(const Options *options, const Case *benchmark)
{
    Entry entry = {.benchmark = benchmark, .size = benchmark->sizes[options->is_quick ? SIZE_QUICK : SIZE_FULL]};
    const Setup *setup = &options->setup;
    Lines arguments = {0};
    for (ArithmeticMode mode = MODE_EXACT; mode < MODES; mode++)
        for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++)
            entry.pairs[mode][kind] = (Pair){sample_none(), sample_none()};
    entry.materialisations = count_materialisations(setup, benchmark);
    if (!case_arguments(benchmark, entry.size, setup->directory, &arguments))
        exit(1);
    char *expected = expected_result(setup, benchmark, entry.size, &arguments);
    for (ArithmeticMode mode = MODE_EXACT; mode <= (setup->has_fast ? MODE_FAST : MODE_EXACT); mode++)
        measure_mode(setup, &entry, &arguments, expected, mode, options->threads);
    measure_stretch(setup, &entry, &arguments, expected, options->threads);
    free(expected);
    lines_free(&arguments);
    return entry;
}

/* ---- time for each element ---- */

static bool add_point(const Options *options, Results *results, const Case *benchmark, uint64_t size)
{
    enum { RUNS = 3 };
    const Setup *setup = &options->setup;
    Lines arguments = {0};
    if (!case_arguments(benchmark, size, setup->directory, &arguments))
        exit(1);
    SweepPoint point = {.benchmark = benchmark, .size = size, .pair = {sample_none(), sample_none()}};
    sample_runnel(&point.pair.runnel, setup, benchmark, &arguments, MODE_EXACT, options->threads, RUNS);
    sample_c(&point.pair.c, setup, benchmark, &arguments, MODE_EXACT, options->threads, RUNS);
    pair_check(&point.pair, benchmark, NULL, MODE_EXACT);
    lines_free(&arguments);
    results->points = checked_resize(results->points, (results->point_count + 1) * sizeof *results->points);
    results->points[results->point_count++] = point;
    return point.pair.runnel.is_good && point.pair.c.is_good;
}

/* Ten times as many each time, as long as that will not take too long. */
static void sweep(const Options *options, Results *results, const Case *benchmark)
{
    enum { FIRST = 10000, CALLS = 8 };
    double last = 0;
    for (uint64_t size = FIRST; size <= benchmark->sweep && 10 * last * CALLS < options->setup.seconds; size *= 10) {
        if (!add_point(options, results, benchmark, size))
            return;
        last = results->points[results->point_count - 1].pair.runnel.seconds;
    }
}

/* ---- showing ---- */

static void show(Buffer *text)
{
    fputs(buffer_text(text), stdout);
    fflush(stdout);
    buffer_free(text);
    *text = (Buffer){0};
}

static void write_file(const char *directory, const char *name, Buffer *text)
{
    char *path = checked_format("%s/%s", directory, name);
    if (!file_write(path, buffer_text(text)))
        perror(path);
    free(path);
    buffer_free(text);
    *text = (Buffer){0};
}

/* After every benchmark, so that a run that is interrupted leaves what it has. */
static void write_record(const Options *options, const Results *results)
{
    Buffer text = {0};
    record_write(results, &text);
    write_file(options->setup.directory, options->is_quick ? "results-quick.json" : "results.json", &text);
}

/* What belongs into the tree is only written by a full run of everything. */
static void write_documents(const Options *options, const Results *results)
{
    bool is_whole = !options->is_quick && options->names == NULL;
    const char *place = is_whole ? "bench" : options->setup.directory;
    Buffer text = {0};
    plot_write(results, &text);
    write_file(place, "results.svg", &text);
    report_document(results, "results.svg", &text);
    write_file(place, "RESULTS.md", &text);
    printf("\n%s/RESULTS.md has all of it\n", place);
}

static void entry_free(Entry *entry)
{
    for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++) {
        for (ArithmeticMode mode = MODE_EXACT; mode < MODES; mode++)
            pair_free(&entry->pairs[mode][kind]);
        sample_free(&entry->stretch[kind]);
    }
}

static void results_free(Results *results)
{
    for (size_t i = 0; i < results->entry_count; i++)
        entry_free(&results->entries[i]);
    for (size_t i = 0; i < results->point_count; i++)
        pair_free(&results->points[i].pair);
    free(results->entries);
    free(results->points);
    machine_facts_free(&results->machine);
}

/* ---- all of it ---- */

static bool is_chosen(const Options *options, const Case *benchmark)
{
    if (options->names == NULL)
        return true;
    Lines names = words_of(options->names);
    bool is_named = false;
    char *program = case_c_name(benchmark);
    for (size_t i = 0; i < names.count; i++)
        is_named |= strcmp(names.items[i], benchmark->name) == 0 || strcmp(names.items[i], program) == 0;
    free(program);
    lines_free(&names);
    return is_named;
}

static void measure_all(const Options *options, Results *results)
{
    Buffer text = {0};
    report_header(results, &text);
    show(&text);
    results->entries = checked_alloc(case_count * sizeof *results->entries);
    for (size_t i = 0; i < case_count; i++) {
        if (!is_chosen(options, &cases[i]))
            continue;
        Entry *entry = &results->entries[results->entry_count++];
        *entry = measure_entry(options, &cases[i]);
        if (entry->pairs[MODE_EXACT][THREADS_ALL].runnel.engine != NULL)
            results->engine = entry->pairs[MODE_EXACT][THREADS_ALL].runnel.engine;
        report_entry(results, entry, &text);
        show(&text);
        write_record(options, results);
    }
    report_notes(&text);
    report_stretches(results, &text);
    show(&text);
}

static void sweep_all(const Options *options, Results *results)
{
    Buffer text = {0};
    for (size_t i = 0; i < case_count && !options->is_quick; i++)
        if (is_chosen(options, &cases[i]))
            sweep(options, results, &cases[i]);
    if (results->point_count > 0) {
        buffer_addf(&text, "\nTime for each element:\n\n");
        report_sweeps(results, &text);
    }
    show(&text);
}

/* Before anything is measured, for the same file may be written then. */
static Lines read_base(const char *path)
{
    Buffer text = {0};
    if (!file_read(path, &text)) {
        perror(path);
        exit(2);
    }
    Lines lines = lines_of(buffer_text(&text));
    buffer_free(&text);
    return lines;
}

static int run_suite(Options *options)
{
    Buffer text = {0};
    Lines base = {0};
    if (options->base != NULL)
        base = read_base(options->base);
    free(ask_runnel(&options->setup, "cache clear")); /* what compiling takes is to be seen */
    options->setup.has_fast = knows_fast(&options->setup);
    Results results = {.machine = machine_facts(options->setup.directory, options->threads, options->compiler),
                       .engine = options->setup.engine == NULL ? "" : options->setup.engine,
                       .has_fast = options->setup.has_fast};
    if (machine_is_busy(&results.machine))
        fprintf(stderr, "suite: the machine is busy with other things (load average %.1f): wait until it is not, or do not rely on times\n",
                results.machine.load);
    measure_all(options, &results);
    sweep_all(options, &results);
    if (results.entry_count == 0) {
        fprintf(stderr, "suite: there is no benchmark named %s\n", options->names);
        return 2;
    }
    buffer_addf(&text, "\nGoals missed:\n\n");
    report_missed(&results, &text);
    if (options->base != NULL) {
        buffer_addf(&text, "\nCompared with %s:\n\n", options->base);
        record_compare(&results, &base, &text);
    }
    show(&text);
    lines_free(&base);
    write_record(options, &results);
    write_documents(options, &results);
    results_free(&results);
    return 0;
}

static int run_smoke(const Options *options)
{
    const Case *benchmark = case_named(options->smoke);
    if (benchmark == NULL) {
        fprintf(stderr, "suite: there is no benchmark named %s\n", options->smoke);
        return 2;
    }
    Lines engines = words_of(options->engines);
    bool is_good = smoke_test(&options->setup, benchmark, &engines);
    lines_free(&engines);
    return is_good ? 0 : 1;
}

int main(int count, char **words)
{
    Options options = read_options(count, words);
    process_share_signals();
    use_own_cache(&options.setup);
    return options.smoke != NULL ? run_smoke(&options) : run_suite(&options);
}
