/* runner [--only TEXT] [--update] [UNIT-TEST...]: finds the tests, runs them side by side, shows those that fail, and
 * closes with the line `N passed, N failed, N skipped`. The environment: RUNNEL is the program under test,
 * JOBS the number of tests at a time, TEST_TIME_FACTOR stretches the time limit, BENCH_SUITE runs a benchmark as a test,
 * TEST_TIMES is a file that gets a line for each test: seconds, those of processors, and its name. RUNNEL_FLAGS are options to run programs with: then only
 * tests of whole programs are run, which must give the same with them. */
#define _DEFAULT_SOURCE /* wait4 */
#define _XOPEN_SOURCE 700
#include "runner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Settings settings;

void tests_add(Tests *tests, char *name, const char *path, TestResult (*run)(const Test *, Buffer *))
{
    if (settings.only != NULL && strstr(name, settings.only) == NULL) {
        free(name);
        return;
    }
    tests->items = checked_resize(tests->items, (tests->count + 1) * sizeof *tests->items);
    tests->items[tests->count++] = (Test){.name = name, .path = checked_copy(path), .run = run};
}

static int keep_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, "imported") != 0;
}

void files_visit(const char *directory, void (*visit)(const char *path, void *context), void *context)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, keep_entry, alphasort);
    for (int i = 0; i < count; i++) {
        char *path = checked_format("%s/%s", directory, entries[i]->d_name);
        struct stat status;
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
            files_visit(path, visit, context);
        else
            visit(path, context);
        free(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void add_file(const char *path, void *context)
{
    Tests *tests = context;
    const char *in_tests = after_prefix(path, "tests/");
    char *name = checked_copy(in_tests != NULL ? in_tests : path);
    if (has_suffix(path, ".rnl") || has_suffix(path, ".nesl"))
        tests_add(tests, name, path, program_test_run);
    else if (has_suffix(path, ".test") && settings.flags == NULL) /* these say their options themselves */
        tests_add(tests, name, path, command_test_run);
    else if (has_suffix(path, ".md") && document_has_commands(path))
        tests_add(tests, name, path, document_test_run);
    else
        free(name);
}

static void collect_directories(Tests *tests, const char *const *directories, size_t count)
{
    for (size_t i = 0; i < count; i++)
        files_visit(directories[i], add_file, tests);
}

static void collect_tests(Tests *tests, int unit_count, char **units)
{
    static const char *const programs[] = {"tests/programs", "tests/operations", "tests/errors", "examples", "bench/rows"};
    static const char *const others[] = {"tests/golden", "tests/cli", "docs"};
    for (int i = 0; i < unit_count && settings.flags == NULL; i++) /* first, as some take long: nobody waits for one that began last */
        tests_add(tests, checked_format("unit/%s", strrchr(units[i], '/') + 1), units[i], unit_test_run);
    collect_directories(tests, programs, sizeof programs / sizeof *programs);
    if (settings.flags != NULL)
        return;
    collect_directories(tests, others, sizeof others / sizeof *others);
    add_file("README.md", tests);
    add_file("ARCHITECTURE.md", tests);
    codes_collect(tests);
    operations_collect(tests);
    benchmarks_collect(tests);
}

/* A test under way: its process, and the file that receives its report. */
typedef struct Job {
    pid_t process;
    const Test *test;
    FILE *report;
    double start;
} Job;

typedef struct Counts {
    unsigned passed, failed, skipped;
} Counts;

static double in_seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void start_job(Job *job, const Test *test)
{
    *job = (Job){.test = test, .report = tmpfile(), .start = process_now()};
    fflush(stdout);
    job->process = job->report == NULL ? -1 : fork();
    if (job->process < 0) {
        perror("runner: cannot start a test");
        exit(3);
    }
    if (job->process > 0)
        return;
    Buffer report = {0};
    TestResult result = test->run(test, &report);
    fputs(buffer_text(&report), job->report);
    fflush(job->report);
    _exit((int)result);
}

static void show_report(const Job *job)
{
    printf("FAILED %s\n", job->test->name);
    rewind(job->report);
    for (int byte; (byte = getc(job->report)) != EOF;)
        putchar(byte);
}

static void note_time(const Job *job, const struct rusage *used)
{
    const char *path = getenv("TEST_TIMES");
    FILE *times = path == NULL ? NULL : fopen(path, "a");
    if (times == NULL)
        return;
    fprintf(times, "%.2f %.2f %s\n", process_now() - job->start, in_seconds(used->ru_utime) + in_seconds(used->ru_stime), job->test->name);
    fclose(times);
}

/* Waits until some test ends, counts it, and frees its place. */
static void finish_job(Job *jobs, size_t count, Counts *counts)
{
    int status;
    struct rusage used;
    pid_t ended = wait4(-1, &status, 0, &used);
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].test == NULL || jobs[i].process != ended)
            continue;
        int result = WIFEXITED(status) ? WEXITSTATUS(status) : TEST_FAILED;
        if (result == TEST_PASSED) {
            counts->passed++;
        } else if (result == TEST_SKIPPED) {
            counts->skipped++;
        } else {
            counts->failed++;
            show_report(&jobs[i]);
        }
        note_time(&jobs[i], &used);
        fclose(jobs[i].report);
        jobs[i] = (Job){0};
        return;
    }
}

static Job *free_place(Job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i].test == NULL)
            return &jobs[i];
    return NULL;
}

static Counts run_tests(const Tests *tests, size_t job_count)
{
    Counts counts = {0};
    Job *jobs = checked_alloc(job_count * sizeof *jobs);
    for (size_t i = 0; i < tests->count; i++) {
        Job *job;
        while ((job = free_place(jobs, job_count)) == NULL)
            finish_job(jobs, job_count, &counts);
        start_job(job, &tests->items[i]);
    }
    while (counts.passed + counts.failed + counts.skipped < tests->count)
        finish_job(jobs, job_count, &counts);
    free(jobs);
    return counts;
}

static void tests_free(Tests *tests)
{
    for (size_t i = 0; i < tests->count; i++) {
        free(tests->items[i].name);
        free(tests->items[i].path);
    }
    free(tests->items);
}

static size_t count_jobs(void)
{
    const char *wanted = getenv("JOBS");
    long count = wanted != NULL ? atol(wanted) : sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (size_t)count;
}

/* Under the thread sanitizer, and where firings take a few elements each, a run takes many times as long. */
static bool are_runs_slow(void)
{
    enum { FEW = 100 };
    const char *mode = getenv("TEST_MODE");
    const char *chunk = settings.flags == NULL ? NULL : strstr(settings.flags, "--chunk ");
    return (mode != NULL && strcmp(mode, "tsan") == 0) || (chunk != NULL && atoi(chunk + strlen("--chunk ")) < FEW);
}

/* Reads the options and returns the index of the first argument that is none. */
static int read_settings(int count, char **arguments)
{
    const char *runnel = getenv("RUNNEL");
    settings.runnel = realpath(runnel != NULL ? runnel : "./runnel", NULL);
    settings.root = realpath(".", NULL);
    const char *flags = getenv("RUNNEL_FLAGS");
    settings.flags = flags != NULL && *flags != '\0' ? flags : NULL;
    settings.are_runs_slow = are_runs_slow();
    if (settings.runnel == NULL || settings.root == NULL) {
        perror(runnel != NULL ? runnel : "./runnel");
        exit(3);
    }
    int i = 1;
    for (; i < count && after_prefix(arguments[i], "--") != NULL; i++) {
        if (strcmp(arguments[i], "--update") == 0) {
            settings.is_updating = true;
        } else if (strcmp(arguments[i], "--only") == 0 && i + 1 < count) {
            settings.only = arguments[++i];
        } else {
            fputs("usage: runner [--only TEXT] [--update] [UNIT-TEST...]\n", stderr);
            exit(3);
        }
    }
    return i;
}

int main(int count, char **arguments)
{
    int first = read_settings(count, arguments);
    Tests tests = {0};
    collect_tests(&tests, count - first, arguments + first);
    Counts counts = run_tests(&tests, count_jobs());
    tests_free(&tests);
    free(settings.runnel);
    free(settings.root);
    printf("%u passed, %u failed, %u skipped\n", counts.passed, counts.failed, counts.skipped);
    return counts.failed > 0;
}
