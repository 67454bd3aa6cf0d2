#define _GNU_SOURCE
#include "harness.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* As docs/bench.md says of `runnel bench`. */
enum { RUNS_MIN = 10, RUNS_MAX = 1000 };
static const double WARM_UP_SECONDS = 0.2, TIMED_SECONDS = 1.0, LAST_START = 30.0, SETTLED = 1.0 / 20;

typedef struct Options {
    int threads;
    int runs; /* 0: as many as it takes */
    char **arguments;
} Options;

typedef struct Times {
    double *seconds;
    int count;
} Times;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int count_words(const char *text)
{
    int count = 0;
    for (const char *c = text; *c != '\0'; c++)
        count += *c != ' ' && (c == text || c[-1] == ' ');
    return count;
}

static Options parse_options(int count, char **words)
{
    Options options = {omp_get_num_procs(), 0, NULL};
    int i = 1;
    for (; i + 1 < count && words[i][0] == '-' && words[i][1] == '-'; i += 2) {
        int64_t value = argument_int(words[i + 1]);
        if (value < 1 || value > 100000)
            fail("%s is between 1 and 100000, not %lld", words[i], (long long)value);
        if (strcmp(words[i], "--threads") == 0)
            options.threads = (int)value;
        else if (strcmp(words[i], "--runs") == 0)
            options.runs = (int)value;
        else
            fail("unknown option %s; there are --threads and --runs", words[i]);
    }
    options.arguments = words + i;
    if (count - i != count_words(bench_arguments))
        fail("usage: %s [--threads T] [--runs N] %s", words[0], bench_arguments);
    return options;
}

static double timed_run(void)
{
    double start = now();
    bench_run();
    return now() - start;
}

/* Until three runs in a row take about the same time. */
static void warm_up(void)
{
    double start = now(), last[3] = {0};
    for (int i = 0;; i++) {
        last[i % 3] = timed_run();
        double low = fmin(last[0], fmin(last[1], last[2])), high = fmax(last[0], fmax(last[1], last[2]));
        if ((i >= 2 && high - low < SETTLED * high) || now() - start > WARM_UP_SECONDS)
            return;
    }
}

static bool wants_more(const Options *options, int done, double elapsed)
{
    if (options->runs > 0)
        return done < options->runs;
    return done < RUNS_MAX && elapsed < LAST_START && (done < RUNS_MIN || elapsed < TIMED_SECONDS);
}

static Times measure(const Options *options)
{
    Times times = {allocate(sizeof(double) * (size_t)(options->runs > 0 ? options->runs : RUNS_MAX)), 0};
    warm_up();
    double start = now();
    while (wants_more(options, times.count, now() - start))
        times.seconds[times.count++] = timed_run();
    return times;
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_json_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < 32)
            printf("\\u%04x", *text);
        else
            putchar(*text);
    putchar('"');
}

static void report(const Options *options, Times times)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage); /* before the text of the result takes memory */
    char *result;
    size_t length;
    FILE *out = open_memstream(&result, &length);
    bench_result(out);
    fclose(out);
    qsort(times.seconds, (size_t)times.count, sizeof(double), compare_seconds);
    double median = (times.seconds[times.count / 2] + times.seconds[(times.count - 1) / 2]) / 2;
    printf("{\"min\": %.9f, \"median\": %.9f, \"runs\": %d, \"threads\": %d, \"peak_bytes\": %lld, \"result\": ", times.seconds[0], median,
           times.count, options->threads, (long long)usage.ru_maxrss * 1024);
    print_json_string(result);
    puts("}");
    free(result);
    release(times.seconds);
}

int main(int count, char **words)
{
    Options options = parse_options(count, words);
    omp_set_num_threads(options.threads);
    omp_set_dynamic(0);
    bench_prepare(options.arguments);
    report(&options, measure(&options));
    return 0;
}
