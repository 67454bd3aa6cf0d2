/* Folds and movements by one thread, by a team, and by OpenMP: nanoseconds per point, elements and segments counted alike.
 *
 *     chunk    one segment of 262144 elements, again and again: a chunk of a stream
 *     flat     one segment of 8 million
 *     tiny     a million segments of lengths 0 to 2
 *     random   a million of lengths 1 to 32
 *     giant    the same as `tiny`, and one of 8 million among them
 *
 * Loops over segments are shared segment by segment in OpenMP, as one would write them. Answers are compared before anything is timed; sums of
 * floats may differ in the last places. The number of threads is the first argument, 2 if there is none. */
#define _POSIX_C_SOURCE 200809L

#include "vm/fold.h"
#include "vm/movement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MILLION = 1000000, FLAT = 8 * MILLION, CHUNK = 262144, RUNS_LEAST = 7, THREADS_MAX = 64 };
#define SECONDS_LEAST 0.2
/* Segments that an OpenMP thread takes at once. */
enum { AT_ONCE = 4096 };

static int threads = 2;
static Team *team; /* of the run that is timed: null for one thread */

typedef struct Shape {
    const char *name;
    size_t segments, elements, repeats;
    int64_t *ends;
    bool is_flat;
} Shape;

typedef struct Task {
    const Shape *shape;
    const double *floats;
    const int64_t *integers;
    const bool *flags;
    void *out;
} Task;

typedef void Run(const Task *task);

static size_t start_of(const Shape *shape, size_t k)
{
    return k == 0 ? 0 : (size_t)shape->ends[k - 1];
}

/* ---- by a team ---- */

static void fold(const Task *task, Op op, ScalarType type, const void *elements)
{
    const FoldKind *kind = fold_kind(op, type);
    const Shape *shape = task->shape;
    uint64_t state[FOLD_STATE_MAX / 8];
    if (!shape->is_flat) {
        fold_segments(team, kind, (Cells){elements, false}, 0, shape->ends, shape->segments, task->out);
        return;
    }
    fold_start(kind, state);
    fold_add(team, kind, state, (Cells){elements, false}, shape->elements);
    fold_result(kind, state, task->out);
}

static void scan(const Task *task, ScalarType type, const void *elements)
{
    const FoldKind *kind = fold_kind(OP_PLUS_SCAN, type);
    const Shape *shape = task->shape;
    uint64_t state[FOLD_STATE_MAX / 8];
    if (!shape->is_flat) {
        fold_scan_segments(team, kind, (Cells){elements, false}, 0, shape->ends, shape->segments, task->out);
        return;
    }
    fold_start(kind, state);
    fold_scan(team, kind, state, (Cells){elements, false}, shape->elements, task->out);
}

static void sum_f64(const Task *task)
{
    fold(task, OP_SUM, SCALAR_F64, task->floats);
}

static void sum_i64(const Task *task)
{
    fold(task, OP_SUM, SCALAR_I64, task->integers);
}

static void scan_f64(const Task *task)
{
    scan(task, SCALAR_F64, task->floats);
}

static void scan_i64(const Task *task)
{
    scan(task, SCALAR_I64, task->integers);
}

static void distribute(const Task *task)
{
    movement_distribute(team, 8, task->out, task->integers, 0, task->shape->ends, task->shape->segments);
}

static void local_index(const Task *task)
{
    movement_local_index(team, task->out, 0, task->shape->ends, task->shape->segments);
}

static void pack(const Task *task)
{
    movement_pack(team, 8, task->out, task->integers, task->flags, task->shape->elements, true);
}

static void running(const Task *task)
{
    movement_count_running(team, task->out, task->flags, task->shape->elements, true, 0);
}

/* ---- by OpenMP ---- */

#define EACH_SEGMENT(body)                                                                                             \
    const Shape *shape = task->shape;                                                                                  \
    _Pragma("omp parallel for num_threads(threads) schedule(dynamic, AT_ONCE)")                                        \
    for (size_t k = 0; k < shape->segments; k++) {                                                                     \
        size_t start = start_of(shape, k), end = (size_t)shape->ends[k];                                               \
        body                                                                                                           \
    }

#define OPENMP_SUM(name, Cell, source)                                                                                 \
    static void openmp_##name(const Task *task)                                                                        \
    {                                                                                                                  \
        Cell all = 0;                                                                                                  \
        if (task->shape->is_flat) {                                                                                    \
            _Pragma("omp parallel for simd num_threads(threads) reduction(+ : all)")                                   \
            for (size_t i = 0; i < task->shape->elements; i++)                                                         \
                all += task->source[i];                                                                                \
            *(Cell *)task->out = all;                                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        EACH_SEGMENT({                                                                                                 \
            Cell total = 0;                                                                                            \
            for (size_t i = start; i < end; i++)                                                                       \
                total += task->source[i];                                                                              \
            ((Cell *)task->out)[k] = total;                                                                            \
        })                                                                                                             \
    }
OPENMP_SUM(sum_f64, double, floats)
OPENMP_SUM(sum_i64, int64_t, integers)

static size_t part_of(size_t count, int part)
{
    return count * (size_t)part / (size_t)threads;
}

/* In two passes: totals of as many parts as there are threads, then the outputs. */
#define OPENMP_SCAN(name, Cell, source)                                                                                \
    static void openmp_##name(const Task *task)                                                                        \
    {                                                                                                                  \
        Cell *out = task->out, totals[THREADS_MAX + 1] = {0};                                                          \
        if (task->shape->is_flat) {                                                                                    \
            size_t count = task->shape->elements;                                                                      \
            _Pragma("omp parallel for num_threads(threads)")                                                           \
            for (int t = 0; t < threads - 1; t++) {                                                                    \
                Cell total = 0;                                                                                        \
                _Pragma("omp simd reduction(+ : total)")                                                               \
                for (size_t i = part_of(count, t); i < part_of(count, t + 1); i++)                                     \
                    total += task->source[i];                                                                          \
                totals[t + 1] = total;                                                                                 \
            }                                                                                                          \
            for (int t = 0; t < threads; t++)                                                                          \
                totals[t + 1] += totals[t];                                                                            \
            _Pragma("omp parallel for num_threads(threads)")                                                           \
            for (int t = 0; t < threads; t++) {                                                                        \
                Cell total = totals[t];                                                                                \
                for (size_t i = part_of(count, t); i < part_of(count, t + 1); i++) {                                   \
                    out[i] = total;                                                                                    \
                    total += task->source[i];                                                                          \
                }                                                                                                      \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        EACH_SEGMENT({                                                                                                 \
            Cell total = 0;                                                                                            \
            for (size_t i = start; i < end; i++) {                                                                     \
                out[i] = total;                                                                                        \
                total += task->source[i];                                                                              \
            }                                                                                                          \
        })                                                                                                             \
    }
OPENMP_SCAN(scan_f64, double, floats)
OPENMP_SCAN(scan_i64, int64_t, integers)

static void openmp_distribute(const Task *task)
{
    EACH_SEGMENT({
        for (size_t i = start; i < end; i++)
            ((int64_t *)task->out)[i] = task->integers[k];
    })
}

static void openmp_local_index(const Task *task)
{
    EACH_SEGMENT({
        for (size_t i = start; i < end; i++)
            ((int64_t *)task->out)[i] = (int64_t)(i - start);
    })
}

/* What is kept by parts is counted first. */
static void count_parts(const Task *task, size_t *before)
{
    size_t count = task->shape->elements;
    before[0] = 0;
#pragma omp parallel for num_threads(threads)
    for (int t = 0; t < threads; t++) {
        size_t kept = 0;
        for (size_t i = part_of(count, t); i < part_of(count, t + 1); i++)
            kept += task->flags[i];
        before[t + 1] = kept;
    }
    for (int t = 0; t < threads; t++)
        before[t + 1] += before[t];
}

static void openmp_pack(const Task *task)
{
    size_t before[THREADS_MAX + 1], count = task->shape->elements;
    count_parts(task, before);
#pragma omp parallel for num_threads(threads)
    for (int t = 0; t < threads; t++) {
        size_t kept = before[t];
        for (size_t i = part_of(count, t); i < part_of(count, t + 1); i++)
            if (task->flags[i])
                ((int64_t *)task->out)[kept++] = task->integers[i];
    }
}

static void openmp_running(const Task *task)
{
    size_t before[THREADS_MAX + 1], count = task->shape->elements;
    count_parts(task, before);
#pragma omp parallel for num_threads(threads)
    for (int t = 0; t < threads; t++) {
        int64_t kept = (int64_t)before[t];
        for (size_t i = part_of(count, t); i < part_of(count, t + 1); i++)
            ((int64_t *)task->out)[i] = kept += task->flags[i];
    }
}

typedef struct Row {
    const char *name;
    Run *run, *openmp;
    bool is_float;   /* compare as floats */
    bool is_each;    /* one output for each element, not for each segment */
    bool is_flat;    /* knows nothing of segments */
} Row;

#define ROW(name, is_float, is_each, is_flat) {#name, name, openmp_##name, is_float, is_each, is_flat}
static const Row rows[] = {
    ROW(sum_f64, true, false, false),    ROW(sum_i64, false, false, false),    ROW(scan_f64, true, true, false),
    ROW(scan_i64, false, true, false),   ROW(distribute, false, true, false),  ROW(local_index, false, true, false),
    ROW(pack, false, true, true),        ROW(running, false, true, true),
};

/* ---- shapes ---- */

static uint64_t seed = 1;

static uint64_t draw(uint64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % limit;
}

/* Segments of lengths least to most, and one of length `giant` in the middle. */
static Shape shape_new(const char *name, size_t segments, size_t least, size_t most, size_t giant, size_t repeats)
{
    Shape shape = {name, segments, 0, repeats, malloc(segments * sizeof(int64_t)), segments == 1};
    for (size_t k = 0; k < segments; k++) {
        shape.elements += k == segments / 2 && giant > 0 ? giant : least + draw(most - least + 1);
        shape.ends[k] = (int64_t)shape.elements;
    }
    return shape;
}

/* ---- timing ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The best of many short runs: other programs disturb the rest. */
static double nanoseconds_per_point(Run *run, const Task *task, size_t points)
{
    double best = 1e9, spent = 0.0;
    for (int i = 0; i < RUNS_LEAST || spent < SECONDS_LEAST; i++) {
        double start = seconds();
        for (size_t repeat = 0; repeat < task->shape->repeats; repeat++)
            run(task);
        double taken = seconds() - start;
        best = taken < best ? taken : best;
        spent += taken;
    }
    return best * 1e9 / (double)(points * task->shape->repeats);
}

static bool is_close(const Row *row, const void *a, const void *b, size_t i)
{
    double x = ((const double *)a)[i], y = ((const double *)b)[i];
    return row->is_float ? fabs(x - y) <= 1e-6 * (1.0 + fabs(x)) : ((const int64_t *)a)[i] == ((const int64_t *)b)[i];
}

/* The team's answer is that of one thread to the bit, and close to OpenMP's. */
static void check(const Row *row, Task task, Team *shared)
{
    size_t outputs = row->is_each ? task.shape->elements : task.shape->segments, size = outputs * 8;
    void *outs[3] = {calloc(1, size), calloc(1, size), calloc(1, size)};
    for (size_t i = 0; i < 3; i++) {
        team = i == 1 ? shared : NULL;
        task.out = outs[i];
        (i == 2 ? row->openmp : row->run)(&task);
    }
    bool is_right = memcmp(outs[0], outs[1], size) == 0;
    for (size_t i = 0; i < outputs; i++)
        is_right = is_right && is_close(row, outs[0], outs[2], i);
    for (size_t i = 0; i < 3; i++)
        free(outs[i]);
    if (is_right)
        return;
    fprintf(stderr, "%s of %s is wrong\n", row->name, task.shape->name);
    exit(1);
}

static void measure(const Row *row, const Task *task, Team *shared)
{
    size_t points = task->shape->elements + (row->is_flat || task->shape->is_flat ? 0 : task->shape->segments);
    check(row, *task, shared);
    team = NULL;
    double alone = nanoseconds_per_point(row->run, task, points);
    team = shared;
    double together = nanoseconds_per_point(row->run, task, points);
    printf("  %5.2f /%5.2f /%5.2f", alone, together, nanoseconds_per_point(row->openmp, task, points));
    fflush(stdout);
}

enum { SHAPES = 5 };

int main(int argc, char **argv)
{
    if (argc > 1)
        threads = atoi(argv[1]);
    if (threads < 1 || threads > THREADS_MAX)
        return 1;
    const Shape shapes[SHAPES] = {
        shape_new("chunk", 1, CHUNK, CHUNK, 0, 10),   shape_new("flat", 1, FLAT, FLAT, 0, 1),
        shape_new("tiny", MILLION, 0, 2, 0, 1),       shape_new("random", MILLION, 1, 32, 0, 1),
        shape_new("giant", MILLION, 0, 2, FLAT, 1),
    };
    size_t most = shapes[3].elements;
    double *floats = malloc(most * sizeof *floats);
    int64_t *integers = malloc(most * sizeof *integers);
    bool *flags = malloc(most);
    for (size_t i = 0; i < most; i++) {
        integers[i] = (int64_t)draw(1000);
        floats[i] = (double)draw(1 << 20) / (1 << 20);
        flags[i] = draw(2) != 0;
    }
    Memory memory = {0};
    Team *shared = team_new(&memory, (TeamOptions){.threads = (uint32_t)threads});
    Task task = {NULL, floats, integers, flags, calloc(most, 8)};
    printf("threads: ns per point, 1 thread / team of %d / OpenMP with %d\n%-12s", threads, threads, "");
    for (size_t s = 0; s < SHAPES; s++)
        printf("  %-19s", shapes[s].name);
    printf("\n");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        printf("%-12s", rows[r].name);
        for (size_t s = 0; s < SHAPES; s++) {
            task.shape = &shapes[s];
            measure(&rows[r], &task, shared);
        }
        printf("\n");
    }
    team_free(shared);
    return 0;
}
