/* How much faster the engines are with all threads than with one, next to loops in C with OpenMP that do the same, in the same run: seconds, speed-up, and
 * the share of C's speed-up that Runnel reaches. (Times themselves are not the point here: the VM's own loops are not fused.) The last lines show what a
 * small program and an empty one cost.
 *
 * Answers are compared before anything is shown. */
#define _POSIX_C_SOURCE 200809L

#include "base/machine.h"
#include "math/elementary.h"
#include "runnel.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MILLION = 1000000, RUNS = 3, ROWS = 100000 };

/* ---- data, the same for both ---- */

static int64_t mix(int64_t i)
{
    return (i * 7919 + i / 3 * 104729) % 1000003;
}

/* Lengths of rows fall off as a power: some have thousands of elements, most have two. */
static int64_t row_length(int64_t i)
{
    return 2 + 200000 / (i + 1);
}

static const char prelude[] =
    "function mix(i : int) : int = rem(i * 7919 + i / 3 * 104729, 1000003)\n"
    "v = {float(mix(i)) * 1.0e-6 : i in [0 : 10000000]};\n"
    "keys = {rem(mix(i), 1000) : i in [0 : 10000000]};\n"
    "ints = {mix(i) * 1000 + rem(i, 1000) : i in [0 : 10000000]};\n"
    "few = take(ints, 1000000);\n"
    "x = take(v, 100000);\n"
    "rows = {{(rem(i * 31 + j * 17, 100000), v[i + j]) : j in [0 : 2 + 200000 / (i + 1)]} : i in [0 : 100000]};\n"
    "function quicksort(a : [int]) : [int] =\n"
    "  if #a < 2 then a else\n"
    "  let p = a[#a / 2];\n"
    "      parts = {quicksort(b) : b in [{y : y in a | y < p}, {y : y in a | y > p}]}\n"
    "  in parts[0] ++ {y : y in a | y == p} ++ parts[1]\n"
    "function collatz(i : int, steps : int) : int =\n"
    "  if i <= 1 then steps else collatz(if rem(i, 2) == 0 then i / 2 else 3 * i + 1, steps + 1)\n";

static double *v, *sums;
static int64_t *keys, *ints, *sorted, *scratch, *starts, *columns;
static double *values;

static void *make(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (block == NULL)
        exit(1);
    return block;
}

static void make_rows(void)
{
    starts = make(ROWS + 1, sizeof *starts);
    for (int64_t i = 0; i < ROWS; i++)
        starts[i + 1] = starts[i] + row_length(i);
    columns = make((size_t)starts[ROWS], sizeof *columns);
    values = make((size_t)starts[ROWS], sizeof *values);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < starts[i + 1] - starts[i]; j++) {
            columns[starts[i] + j] = (i * 31 + j * 17) % 100000;
            values[starts[i] + j] = v[i + j];
        }
}

static void make_data(void)
{
    v = make(10 * MILLION, sizeof *v);
    keys = make(10 * MILLION, sizeof *keys);
    ints = make(10 * MILLION, sizeof *ints);
    sorted = make(10 * MILLION, sizeof *sorted);
    scratch = make(10 * MILLION, sizeof *scratch);
    sums = make(10 * MILLION, sizeof *sums);
    for (int64_t i = 0; i < 10 * MILLION; i++) {
        v[i] = (double)mix(i) * 1.0e-6;
        keys[i] = mix(i) % 1000;
        ints[i] = mix(i) * 1000 + i % 1000;
    }
    make_rows();
}

/* ---- in C ---- */

static int thread_count(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static int thread_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

static double c_one_segment(void)
{
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (int64_t i = 0; i < 100 * MILLION; i++)
        sum += (double)i * 0.5;
    return sum;
}

static double c_segments_of_one(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < 100 * MILLION; i++) {
        double inner = 0;
        for (int64_t j = 0; j < (i < 5 ? 0 : 1); j++)
            inner += (double)(i + j);
        sum += inner;
    }
    return sum;
}

static double c_logsum(void)
{
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (int64_t i = 1; i <= 50 * MILLION; i++)
        sum += math_ln((double)i); /* it vectorises, unlike the library's */
    return sum;
}

static double c_matrix_vector(void)
{
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum)
    for (int64_t i = 0; i < ROWS; i++) {
        double row = 0;
        for (int64_t j = starts[i]; j < starts[i + 1]; j++)
            row += values[j] * v[columns[j]];
        sum += row * (double)(i % 7);
    }
    return sum;
}

/* Counts of digits by thread, then every thread moves what it has counted. */
static void radix_pass(const int64_t *from, int64_t *to, size_t count, int shift)
{
    enum { DIGITS = 2048, THREADS = 256 };
    static size_t counts[THREADS][DIGITS];
    memset(counts, 0, sizeof counts);
#pragma omp parallel
    {
        size_t *mine = counts[thread_number()];
#pragma omp for schedule(static)
        for (size_t i = 0; i < count; i++)
            mine[from[i] >> shift & (DIGITS - 1)]++;
#pragma omp single
        for (size_t digit = 0, sum = 0; digit < DIGITS; digit++)
            for (int t = 0; t < thread_count(); t++) {
                size_t here = counts[t][digit];
                counts[t][digit] = sum;
                sum += here;
            }
#pragma omp for schedule(static)
        for (size_t i = 0; i < count; i++)
            to[mine[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    }
}

static double c_sort(void)
{
    radix_pass(ints, scratch, 10 * MILLION, 0);
    radix_pass(scratch, sorted, 10 * MILLION, 11);
    radix_pass(sorted, scratch, 10 * MILLION, 22);
    return (double)scratch[1234567];
}

static double c_group(void)
{
    static double sum[1000];
    memset(sum, 0, sizeof sum);
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < 10 * MILLION; i++)
        sum[keys[i]] += v[i];
    return sum[77];
}

static double c_filter(void)
{
    static size_t counts[257];
    size_t total = 0;
    memset(counts, 0, sizeof counts);
#pragma omp parallel
    {
        int t = thread_number();
        size_t from = 10u * MILLION * (size_t)t / (size_t)thread_count();
        size_t end = 10u * MILLION * (size_t)(t + 1) / (size_t)thread_count();
        size_t count = 0;
        for (size_t i = from; i < end; i++)
            count += v[i] > 0.3;
        counts[t + 1] = count;
#pragma omp barrier
#pragma omp single
        for (int k = 0; k < thread_count(); k++)
            total = counts[k + 1] += counts[k];
        double *to = sums + counts[t];
        for (size_t i = from; i < end; i++) {
            *to = v[i];
            to += v[i] > 0.3;
        }
    }
    return sums[total / 2];
}

static double c_scan(void)
{
    static double totals[257];
    memset(totals, 0, sizeof totals);
#pragma omp parallel
    {
        int t = thread_number();
        size_t from = 10u * MILLION * (size_t)t / (size_t)thread_count();
        size_t end = 10u * MILLION * (size_t)(t + 1) / (size_t)thread_count();
        double sum = 0;
        for (size_t i = from; i < end; i++)
            sum += v[i];
        totals[t + 1] = sum;
#pragma omp barrier
#pragma omp single
        for (int k = 0; k < thread_count(); k++)
            totals[k + 1] += totals[k];
        sum = totals[t];
        for (size_t i = from; i < end; i++) {
            sums[i] = sum;
            sum += v[i];
        }
    }
    return sums[9 * MILLION];
}

static void quicksort(int64_t *a, int64_t count)
{
    while (count > 1) {
        int64_t p = a[count / 2], i = 0, j = count - 1;
        while (i <= j) {
            while (a[i] < p)
                i++;
            while (a[j] > p)
                j--;
            if (i <= j) {
                int64_t other = a[i];
                a[i++] = a[j];
                a[j--] = other;
            }
        }
        int64_t *low = a, low_count = j + 1;
#pragma omp task if (low_count > 2000) firstprivate(low, low_count)
        quicksort(low, low_count);
        a += i;
        count -= i;
    }
#pragma omp taskwait
}

static double c_quicksort(void)
{
    memcpy(scratch, ints, MILLION * sizeof *scratch);
#pragma omp parallel
#pragma omp single
    quicksort(scratch, MILLION);
    return (double)scratch[123456];
}

static double c_recursion(void)
{
    int64_t sum = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : sum)
    for (int64_t i = 1; i < 300000; i++)
        for (int64_t n = i; n > 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1)
            sum++;
    return (double)sum;
}

/* ---- what is measured ---- */

typedef struct Row {
    const char *name;
    const char *program; /* prints a number */
    double (*in_c)(void);
} Row;

static const Row rows[] = {
    {"one segment of 10^8", "sum({float(i) * 0.5 : i in iota(100000000)})", c_one_segment},
    {"10^8 segments of one", "sum({sum({float(i + j) : j in iota(if i < 5 then 0 else 1)}) : i in iota(100000000)})",
     c_segments_of_one},
    {"logsum", "sum({log(float(i)) : i in {1 : 50000001}})", c_logsum},
    {"sparse matrix, power law",
     "sum({sum({a * x[j] : (j, a) in row}) * float(rem(i, 7)) : row in rows; i in [0 : #rows]})", c_matrix_vector},
    {"sort", "sort(ints)[1234567]", c_sort},
    {"group by", "{sum(y) : (k, y) in {(k, y) : k in keys; y in v} group by k}[77]", c_group},
    {"filter", "let f = {y : y in v | y > 0.3} in f[#f / 2]", c_filter},
    {"scan", "plus_scan(v)[9000000]", c_scan},
    {"quicksort", "quicksort(few)[123456]", c_quicksort},
    {"scalar recursion", "sum({collatz(i, 0) : i in iota(300000) | i > 0})", c_recursion},
};

/* ---- Runnel ---- */

static char output[256];

static void keep(void *context, const char *bytes, size_t length)
{
    (void)context;
    size_t kept = length < sizeof output - 1 ? length : sizeof output - 1;
    memcpy(output, bytes, kept);
    output[kept] = '\0';
}

static RunnelSession *open_session(RunnelEngine engine, uint32_t threads)
{
    RunnelSession *session = runnel_open(&(RunnelOptions){.engine = engine, .write = keep, .threads = threads});
    if (session == NULL)
        exit(1);
    return session;
}

static void load(RunnelSession *session, const char *text)
{
    if (runnel_load_text(session, "bench", text, strlen(text), RUNNEL_DIALECT_RNL) != RUNNEL_OK) {
        fputs(runnel_messages(session), stderr);
        exit(1);
    }
}

static double run(RunnelSession *session, const char *program)
{
    char text[512];
    snprintf(text, sizeof text, "%s;", program);
    load(session, text);
    RunnelRunInfo info;
    if (runnel_prepare(session, NULL, 0) != RUNNEL_OK || runnel_run_prepared(session, &info) != RUNNEL_OK) {
        fputs(runnel_messages(session), stderr);
        exit(1);
    }
    return info.seconds;
}

static double least(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

/* ---- comparing ---- */

typedef struct Times {
    double runnel[2], c[2]; /* with one thread, with all */
} Times;

static double time_c(const Row *row, int threads, double *answer)
{
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
    uint64_t start = machine_clock();
    *answer = row->in_c();
    return (double)(machine_clock() - start) * 1e-9;
}

static void check(const Row *row, double expected)
{
    double answer = strtod(output, NULL);
    if (fabs(answer - expected) <= 1e-9 * fabs(expected))
        return;
    fprintf(stderr, "%s: Runnel says %s, C %.17g\n", row->name, output, expected);
    exit(1);
}

/* Threads that have just worked wait awake for more, and would take time from whoever is measured next. */
static void settle(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

static void show(const Row *row, RunnelSession *const *sessions, int threads)
{
    Times times = {{0, 0}, {0, 0}};
    for (int round = 0; round < RUNS; round++)
        for (int i = 0; i < 2; i++) {
            double answer;
            settle();
            times.c[i] = least(times.c[i], time_c(row, i == 0 ? 1 : threads, &answer));
            settle();
            times.runnel[i] = least(times.runnel[i], run(sessions[i], row->program));
            check(row, answer);
        }
    double by_runnel = times.runnel[0] / times.runnel[1], by_c = times.c[0] / times.c[1];
    printf("%-26s %8.3f %8.3f %6.2f   %8.3f %8.3f %6.2f   %6.2f\n", row->name, times.runnel[0], times.runnel[1], by_runnel,
           times.c[0], times.c[1], by_c, by_runnel / by_c);
    fflush(stdout);
}

/* ---- what is small ---- */

static double time_small(RunnelSession *session)
{
    double time = 0;
    for (int i = 0; i < 200; i++)
        time = least(time, run(session, "sum({log(float(i)) : i in {1 : 101}}) + float(sort({100 - i : i in [0 : 100]})[3])"));
    return time;
}

static double time_start(uint32_t threads)
{
    double time = 0;
    for (int i = 0; i < 20; i++) {
        uint64_t start = machine_clock();
        RunnelSession *session = open_session(RUNNEL_ENGINE_VM, threads);
        load(session, "1 + 1;");
        runnel_run(session, NULL, 0);
        runnel_close(session);
        time = least(time, (double)(machine_clock() - start) * 1e-9);
    }
    return time;
}

static void show_engine(RunnelEngine engine, const char *name, uint32_t threads, const char *only)
{
    RunnelSession *sessions[2] = {open_session(engine, 1), open_session(engine, threads)};
    for (int i = 0; i < 2; i++) {
        load(sessions[i], prelude);
        run(sessions[i], "#v");
    }
    printf("threads 1 and %u, engine %-3s Runnel: seconds, speed-up   C with OpenMP              ratio\n", threads, name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i].name, only) != NULL)
            show(&rows[i], sessions, (int)threads);
    if (engine == RUNNEL_ENGINE_VM)
        printf("a program over a hundred elements: %.1f us with one thread, %.1f us with %u\n", time_small(sessions[0]) * 1e6,
               time_small(sessions[1]) * 1e6, threads);
    for (int i = 0; i < 2; i++)
        runnel_close(sessions[i]);
}

int main(int argument_count, char **arguments)
{
    const char *only = argument_count > 1 ? arguments[1] : "";
    uint32_t threads = machine_processors();
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* as the command does */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    make_data();
    show_engine(RUNNEL_ENGINE_VM, "vm", threads, only);
    if (runnel_has_compiler())
        show_engine(RUNNEL_ENGINE_C, "c", threads, only);
    printf("a session that computes 1 + 1: %.1f ms with one thread, %.1f ms with %u\n", time_start(1) * 1e3,
           time_start(threads) * 1e3, threads);
    return 0;
}
