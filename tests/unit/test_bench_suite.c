/* The suite of benchmarks: which results agree, what is read from JSON, and what tables, records and the plot hold, from numbers that are made up. */
#define _POSIX_C_SOURCE 200809L
#include "../../bench/suite/compare.h"
#include "../../bench/suite/json.h"
#include "../../bench/suite/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(bool is_true, const char *what)
{
    if (is_true)
        return;
    printf("wrong: %s\n", what);
    failures++;
}

static void expect_text(const Buffer *text, const char *part)
{
    if (strstr(buffer_text(text), part) != NULL)
        return;
    printf("wrong: `%s` is not in\n%s\n", part, buffer_text(text));
    failures++;
}

/* ---- agreement ---- */

static void test_agreement(void)
{
    static const struct {
        Comparison comparison;
        double tolerance;
        const char *a, *b;
        bool agree;
    } rows[] = {
        {COMPARE_EXACT, 0, "{\"abc\"}", "{\"abc\"}", true},
        {COMPARE_EXACT, 0, "12", "12.0", false},
        {COMPARE_EXACT, 0, "", "", false},
        {COMPARE_FLOAT, 1e-9, "1000.0", "1000.0000001", true},
        {COMPARE_FLOAT, 1e-9, "1000.0", "1000.00001", false},
        {COMPARE_FLOAT, 1e-9, "1000.0", "1000.0 or so", false},
        {COMPARE_FLOAT, 1e-9, "nan", "1.0", false},
        {COMPARE_FLOAT, 0, "3.136", "3.1360", true},
        {COMPARE_DIGEST, 1e-9, "i 3 9 11", "i 3 9 11", true},
        {COMPARE_DIGEST, 1e-9, "i 3 9 11", "i 3 9 12", false},
        {COMPARE_DIGEST, 1e-9, "i 3 9 11", "f 3 9 9 11", false},
        {COMPARE_DIGEST, 1e-9, "f 2 1e6 1e-7 0.5", "f 2 1e6 2e-7 0.5", true},
        {COMPARE_DIGEST, 1e-9, "f 2 1e6 1e-2 0.5", "f 2 1e6 2e-2 0.5", false},
        {COMPARE_DIGEST, 1e-9, "f 2 1 1 1", "f 3 1 1 1", false},
        {COMPARE_DIGEST, 1e-9, "f 2 1 1", "f 2 1 1.0", false},
        {COMPARE_DIGEST, 1e-9, "f 2 1 1 nan", "f 2 1 1 1", false},
        {COMPARE_DIGEST, 1e-9, "f 2 1 1 1", "f 2 1 1 1 1", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Case benchmark = {.comparison = rows[i].comparison, .tolerance = rows[i].tolerance};
        char *what = checked_format("`%s` and `%s`", rows[i].a, rows[i].b);
        expect(results_agree(&benchmark, rows[i].a, rows[i].b) == rows[i].agree, what);
        free(what);
    }
}

static void test_near_agreement(void)
{
    Case benchmark = {.comparison = COMPARE_DIGEST};
    expect(results_nearly_agree(&benchmark, "i 2 10000000 5", "i 2 10000001 7"), "sums that are near");
    expect(!results_nearly_agree(&benchmark, "i 2 10000000 5", "i 2 10001000 5"), "sums that are not");
    expect(!results_nearly_agree(&benchmark, "i 2 10000000 5", "i 3 10000000 5"), "other counts");
    expect(!results_nearly_agree(&benchmark, "i 2 10000000 5", "f 2 1 1 1"), "other kinds of digests");
    benchmark.comparison = COMPARE_EXACT;
    expect(!results_nearly_agree(&benchmark, "i 2 10000000 5", "i 2 10000001 5"), "texts that differ");
}

static void test_plain(void)
{
    static const char *const rows[][2] = {
        {"it = 11.0 : float", "11.0"}, {"it = \"a : b\" : [char]", "\"a : b\""}, {"[(1, 2)]", "[(1, 2)]"}, {"", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *plain = result_plain(rows[i][0]);
        expect(strcmp(plain, rows[i][1]) == 0, rows[i][0]);
        free(plain);
    }
}

/* ---- JSON ---- */

static void test_json(void)
{
    const char *line = "{\"min\": 0.25, \"text\": \"say \\\"min\\\": 7\\u0009\\n\", \"result\": \"x\"}";
    double number = 0;
    expect(json_number(line, "min", &number) && number == 0.25, "a number");
    expect(!json_number(line, "text", &number) && !json_number(line, "max", &number), "what is no number");
    char *text = json_text(line, "text");
    expect(text != NULL && strcmp(text, "say \"min\": 7\t\n") == 0, "a text");
    expect(json_text(line, "min") == NULL, "a number is no text");
    Buffer out = {0};
    buffer_addf(&out, "{");
    json_add_text(&out, "text", text);
    json_add_number(&out, "gone", NAN);
    json_add_number(&out, "n", 3);
    expect_text(&out, "{\"text\": \"say \\\"min\\\": 7\\u0009\\u000a\", \"n\": 3");
    free(text);
    buffer_free(&out);
}

/* ---- tables ---- */

static Sample sample_of(double seconds, double peak, double runs)
{
    Sample sample = sample_none();
    sample.seconds = seconds;
    sample.peak_bytes = peak;
    sample.runs = runs;
    return sample;
}

/* logsum misses its goal by one thread, after few runs, and its memory; dotp gives a wrong answer. */
static void fill(Results *results, Entry *entries, SweepPoint *point)
{
    *results = (Results){.machine = {.processor = "a processor", .caches = "L1", .memory = "1 GiB", .system = "a system", .compiler = "cc", .load = 3, .threads = 4,
                                     .one = {1e10, 1e9, 1e10}, .all = {2e10, 4e9, 4e10}},
                         .engine = "vm",
                         .entries = entries,
                         .entry_count = 2,
                         .points = point,
                         .point_count = 1};
    entries[0] = (Entry){.benchmark = case_named("logsum"), .size = 100000000, .materialisations = 0};
    entries[0].pairs[MODE_EXACT][THREADS_ONE] = (Pair){sample_of(2, 1e7, 4), sample_of(1, 1e6, 10)};
    entries[0].pairs[MODE_EXACT][THREADS_ALL] = (Pair){sample_of(0.05, 1e9, 10), sample_of(0.1, 1e6, 10)};
    entries[1] = (Entry){.benchmark = case_named("dotp"), .size = 1000, .materialisations = 2};
    for (ThreadKind kind = THREADS_ONE; kind < THREAD_KINDS; kind++)
        entries[1].pairs[MODE_EXACT][kind] = (Pair){sample_of(1, 1e6, 10), sample_of(1, 1e6, 10)};
    for (size_t i = 0; i < 4; i++)
        entries[i / 2].pairs[MODE_FAST][i % 2] = (Pair){sample_none(), sample_none()};
    Pair *wrong = &entries[1].pairs[MODE_EXACT][THREADS_ALL];
    wrong->runnel.result = checked_copy("3.0");
    wrong->c.result = checked_copy("4.0");
    pair_check(wrong, entries[1].benchmark, "4.0", MODE_EXACT);
    *point = (SweepPoint){.benchmark = case_named("logsum"), .size = 10000, .pair = {sample_of(1e-4, 5e6, 3), sample_of(5e-5, 1e6, 3)}};
}

static void test_report(const Results *results)
{
    Buffer out = {0};
    report_document(results, "results.svg", &out);
    expect_text(&out, "| logsum | 100000000 | 2.00 s | 1.00 s | **2.00**\\* | 50.0 ms | 100 ms | 0.50 | 0.8 | 40.00 | 10.00 | 50 % | 1000.0 MB | 1.0 MB | - | - "
                      "| - | 0 |");
    expect_text(&out, "| dotp | 1000 | 1.00 s | 1.00 s | 1.00 | - | 1.00 s | - |");
    expect_text(&out, "- logsum, 1 thread: 2.00 times C's time, goal 0.8\n- logsum: 1000.0 MB of memory, C 1.0 MB; goal 64 MiB\n"
                      "- dotp, 4 threads: no time: wrong answer: 3.0, not 4.0\n");
    expect_text(&out, "| logsum | 10000 | 10.00 ns | 5.00 ns | 2.00 | 5.0 MB |");
    expect_text(&out, "**The machine was busy with other things (load average 3.0)");
    expect_text(&out, "| 4 | 20.0 GB/s | 4000 million/s | 40.0 billion/s |");
    buffer_free(&out);
}

static void test_record(const Results *results)
{
    Buffer record = {0}, out = {0};
    record_write(results, &record);
    expect_text(&record, "\"kind\": \"benchmark\", \"name\": \"logsum\", \"size\": 100000000, \"mode\": \"exact\", \"threads\": 1, \"runnel\": 2, \"c\": 1, "
                         "\"ratio\": 2");
    expect_text(&record, "\"runnel_problem\": \"wrong answer: 3.0, not 4.0\"");
    Lines base = lines_of(buffer_text(&record));
    results->entries[0].pairs[MODE_EXACT][THREADS_ONE].runnel.seconds = 1;
    record_compare(results, &base, &out);
    expect_text(&out, "| logsum | exact | 1 | 2.000000 s | 1.000000 s | 0.50 | 1.00 |\n| logsum | exact | 4 |");
    lines_free(&base);
    buffer_free(&record);
    buffer_free(&out);
}

static void test_plot(const Results *results)
{
    Buffer out = {0};
    plot_write(results, &out);
    expect_text(&out, "<svg ");
    expect_text(&out, ">dotp</text>");
    expect_text(&out, "</svg>\n");
    expect(strstr(buffer_text(&out), "nan") == NULL, "a place that is no number in the plot");
    buffer_free(&out);
}

/* ---- the table ---- */

static void test_cases(void)
{
    expect(case_named("no such benchmark") == NULL, "an unknown name");
    for (size_t i = 0; i < case_count; i++) {
        const Case *row = &cases[i];
        expect(case_named(row->name) == row, row->name);
        expect(row->sizes[SIZE_TINY] < row->sizes[SIZE_QUICK] && row->sizes[SIZE_QUICK] < row->sizes[SIZE_FULL], row->name);
        expect(case_stretch(row) == NULL || after_prefix(case_stretch(row), row->name) != NULL, row->name);
        expect((row->limit == LIMIT_NONE) == (row->amount(100) == 0), row->name);
    }
    char *name = case_c_name(case_named("spmv-giant"));
    expect(strcmp(name, "spmv") == 0, "the name of a C version");
    free(name);
}

int main(void)
{
    Results results;
    Entry entries[2];
    SweepPoint point;
    test_agreement();
    test_near_agreement();
    test_plain();
    test_json();
    test_cases();
    fill(&results, entries, &point);
    test_report(&results);
    test_record(&results);
    test_plot(&results);
    pair_free(&entries[1].pairs[MODE_EXACT][THREADS_ALL]);
    return failures > 0;
}
