/* Folds and movements over segments: nanoseconds per point, next to plain loops in the same program. Points of both levels count: a million
 * empty segments are a million points, a million of length one are two million.
 *
 *     flat     one call for all elements, without segments
 *     chunks   the same for 8192 elements, again and again, from the first-level cache
 *     giant    one segment
 *     empty    a million segments without elements
 *     ones     a million of length one
 *     few      a million of lengths 0 to 2
 *     random   a million of lengths 1 to 32
 *     cached   20000 of lengths 1 to 32, again and again, from the second- or third-level cache
 *
 * Answers are compared with those of the plain loops before anything is timed; sums of floats may differ in the last places. */
#define _POSIX_C_SOURCE 200809L

#include "vm/fold.h"
#include "vm/movement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MILLION = 1000000, FLAT = 4 * MILLION, CACHED_ELEMENTS = 8192, CACHED_SEGMENTS = 20000, RUNS_LEAST = 7 };
#define SECONDS_LEAST 0.2

typedef struct Shape {
    const char *name;
    size_t segments, elements;
    int64_t *ends;
    size_t repeats; /* how often one run does it: more for what is small */
} Shape;

typedef struct Task {
    const Shape *shape;
    const double *floats;
    const int64_t *integers;
    const bool *flags;
    void *out;
} Task;

typedef void Run(const Task *task);

typedef struct Row {
    const char *name;
    Run *flat, *segments, *plain_flat, *plain_segments;
    bool is_float; /* compare as floats */
    bool is_each;  /* one output for each element, not for each segment */
} Row;

/* ---- folds ---- */

#define FOLD_ROW(name, op, type, source, Result)                                                                       \
    static void name##_flat(const Task *task)                                                                          \
    {                                                                                                                  \
        const FoldKind *kind = fold_kind(op, type);                                                                    \
        uint64_t state[FOLD_STATE_MAX / 8];                                                                            \
        fold_start(kind, state);                                                                                       \
        fold_add(NULL, kind, state, (Cells){task->source, false}, task->shape->elements);                                    \
        fold_result(kind, state, task->out);                                                                           \
    }                                                                                                                  \
    static void name##_segments(const Task *task)                                                                      \
    {                                                                                                                  \
        fold_segments(NULL, fold_kind(op, type), (Cells){task->source, false}, 0, task->shape->ends, task->shape->segments,  \
                      task->out);                                                                                      \
    }
FOLD_ROW(sum_f64, OP_SUM, SCALAR_F64, floats, double)
FOLD_ROW(sum_i64, OP_SUM, SCALAR_I64, integers, int64_t)
FOLD_ROW(max_f64, OP_MAX_VAL, SCALAR_F64, floats, double)

static void scan_f64_flat(const Task *task)
{
    const FoldKind *kind = fold_kind(OP_PLUS_SCAN, SCALAR_F64);
    uint64_t state[FOLD_STATE_MAX / 8];
    fold_start(kind, state);
    fold_scan(NULL, kind, state, (Cells){task->floats, false}, task->shape->elements, task->out);
}

static void scan_f64_segments(const Task *task)
{
    fold_scan_segments(NULL, fold_kind(OP_PLUS_SCAN, SCALAR_F64), (Cells){task->floats, false}, 0, task->shape->ends,
                       task->shape->segments, task->out);
}

/* The plain loops: what one would write by hand, compiled like everything else. */
#define PLAIN_ROW(name, source, Result, START, STEP)                                                                   \
    static void plain_##name##_flat(const Task *task)                                                                  \
    {                                                                                                                  \
        Result total = START;                                                                                          \
        for (size_t i = 0; i < task->shape->elements; i++) {                                                           \
            Result element = task->source[i];                                                                          \
            total = STEP;                                                                                              \
        }                                                                                                              \
        *(Result *)task->out = total;                                                                                  \
    }                                                                                                                  \
    static void plain_##name##_segments(const Task *task)                                                              \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
        for (size_t k = 0; k < task->shape->segments; k++) {                                                           \
            Result total = START;                                                                                      \
            for (; i < (size_t)task->shape->ends[k]; i++) {                                                            \
                Result element = task->source[i];                                                                      \
                total = STEP;                                                                                          \
            }                                                                                                          \
            ((Result *)task->out)[k] = total;                                                                          \
        }                                                                                                              \
    }
PLAIN_ROW(sum_f64, floats, double, 0.0, total + element)
PLAIN_ROW(sum_i64, integers, int64_t, 0, total + element)
PLAIN_ROW(max_f64, floats, double, -(double)INFINITY, total > element ? total : element)

static void plain_scan_f64_flat(const Task *task)
{
    double total = 0.0;
    for (size_t i = 0; i < task->shape->elements; i++) {
        ((double *)task->out)[i] = total;
        total += task->floats[i];
    }
}

static void plain_scan_f64_segments(const Task *task)
{
    size_t i = 0;
    for (size_t k = 0; k < task->shape->segments; k++) {
        double total = 0.0;
        for (; i < (size_t)task->shape->ends[k]; i++) {
            ((double *)task->out)[i] = total;
            total += task->floats[i];
        }
    }
}

/* ---- movements ---- */

static void distribute_flat(const Task *task)
{
    movement_distribute_regular(NULL, 8, task->out, task->integers, task->shape->elements, 1);
}

static void distribute_segments(const Task *task)
{
    movement_distribute(NULL, 8, task->out, task->integers, 0, task->shape->ends, task->shape->segments);
}

static void plain_distribute_flat(const Task *task)
{
    for (size_t i = 0; i < task->shape->elements; i++)
        ((int64_t *)task->out)[i] = task->integers[0];
}

static void plain_distribute_segments(const Task *task)
{
    size_t i = 0;
    for (size_t k = 0; k < task->shape->segments; k++)
        for (; i < (size_t)task->shape->ends[k]; i++)
            ((int64_t *)task->out)[i] = task->integers[k];
}

static void local_index_flat(const Task *task)
{
    movement_local_index(NULL, task->out, 0, (const int64_t[]){(int64_t)task->shape->elements}, 1);
}

static void local_index_segments(const Task *task)
{
    movement_local_index(NULL, task->out, 0, task->shape->ends, task->shape->segments);
}

static void plain_local_index_flat(const Task *task)
{
    for (size_t i = 0; i < task->shape->elements; i++)
        ((int64_t *)task->out)[i] = (int64_t)i;
}

static void plain_local_index_segments(const Task *task)
{
    size_t i = 0;
    for (size_t k = 0; k < task->shape->segments; k++)
        for (size_t start = i; i < (size_t)task->shape->ends[k]; i++)
            ((int64_t *)task->out)[i] = (int64_t)(i - start);
}

/* A pack of segments packs the elements and turns the ends into those of what is kept. */
static void pack_flat(const Task *task)
{
    movement_pack(NULL, 8, task->out, task->integers, task->flags, task->shape->elements, true);
}

static void pack_segments(const Task *task)
{
    int64_t *ends = (int64_t *)task->out + task->shape->elements;
    const bool *flags = task->flags;
    movement_pack(NULL, 8, task->out, task->integers, flags, task->shape->elements, true);
    fold_segments(NULL, fold_kind(OP_COUNT_TRUE, SCALAR_BOOL), (Cells){flags, false}, 0, task->shape->ends,
                  task->shape->segments, ends);
}

static void plain_pack_flat(const Task *task)
{
    size_t kept = 0;
    for (size_t i = 0; i < task->shape->elements; i++)
        if (task->flags[i])
            ((int64_t *)task->out)[kept++] = task->integers[i];
}

static void plain_pack_segments(const Task *task)
{
    int64_t *counts = (int64_t *)task->out + task->shape->elements;
    size_t kept = 0, i = 0;
    for (size_t k = 0; k < task->shape->segments; k++) {
        size_t before = kept;
        for (; i < (size_t)task->shape->ends[k]; i++)
            if (task->flags[i])
                ((int64_t *)task->out)[kept++] = task->integers[i];
        counts[k] = (int64_t)(kept - before);
    }
}

#define ROW(name, is_float, is_each) {#name, name##_flat, name##_segments, plain_##name##_flat, plain_##name##_segments, is_float, is_each}
static const Row rows[] = {
    ROW(sum_f64, true, false),      ROW(sum_i64, false, false),     ROW(max_f64, true, false), ROW(scan_f64, true, true),
    ROW(distribute, false, true), ROW(local_index, false, true), ROW(pack, false, true),
};

/* ---- shapes ---- */

static uint64_t seed = 1;

static uint64_t draw(uint64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % limit;
}

/* Segments of lengths least to most. */
static Shape shape_new(const char *name, size_t segments, size_t least, size_t most, size_t repeats)
{
    Shape shape = {name, segments, 0, malloc(segments * sizeof(int64_t)), repeats};
    for (size_t k = 0; k < segments; k++) {
        shape.elements += least + (most > least ? draw(most - least + 1) : 0);
        shape.ends[k] = (int64_t)shape.elements;
    }
    return shape;
}

/* ---- timing ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
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
    return row->is_float ? x == y || fabs(x - y) <= 1e-6 * (1.0 + fabs(x)) : ((const int64_t *)a)[i] == ((const int64_t *)b)[i];
}

static void check(const Row *row, Run *run, Run *plain, Task task, size_t outputs)
{
    size_t size = (task.shape->elements + task.shape->segments + 1) * 8;
    void *out = calloc(1, size), *expected = calloc(1, size);
    task.out = out;
    run(&task);
    task.out = expected;
    plain(&task);
    for (size_t i = 0; i < outputs; i++)
        if (!is_close(row, out, expected, i)) {
            fprintf(stderr, "%s of %s: output %zu is wrong\n", row->name, task.shape->name, i);
            exit(1);
        }
    free(out);
    free(expected);
}

static void measure(const Row *row, Run *run, Run *plain, const Task *task, bool is_flat)
{
    const Shape *shape = task->shape;
    size_t points = shape->elements + (is_flat ? 0 : shape->segments);
    size_t outputs = row->is_each ? shape->elements : is_flat ? 1 : shape->segments;
    check(row, run, plain, *task, outputs);
    printf("  %5.2f /%5.2f", nanoseconds_per_point(run, task, points), nanoseconds_per_point(plain, task, points));
    fflush(stdout);
}

enum { SHAPES = 8 };

static void measure_row(const Row *row, Task task, const Shape *shapes)
{
    printf("%-12s", row->name);
    for (size_t s = 0; s < SHAPES; s++) {
        bool is_flat = s < 2;
        task.shape = &shapes[s];
        measure(row, is_flat ? row->flat : row->segments, is_flat ? row->plain_flat : row->plain_segments, &task, is_flat);
    }
    printf("\n");
}

int main(void)
{
    const Shape shapes[SHAPES] = {
        shape_new("flat", 1, FLAT, FLAT, 1),
        shape_new("chunks", 1, CACHED_ELEMENTS, CACHED_ELEMENTS, 10),
        shape_new("giant", 1, FLAT, FLAT, 1),
        shape_new("empty", MILLION, 0, 0, 1),
        shape_new("ones", MILLION, 1, 1, 1),
        shape_new("few", MILLION, 0, 2, 1),
        shape_new("random", MILLION, 1, 32, 1),
        shape_new("cached", CACHED_SEGMENTS, 1, 32, 1),
    };
    size_t most = shapes[6].elements;
    double *floats = malloc(most * sizeof *floats);
    int64_t *integers = malloc(most * sizeof *integers);
    bool *flags = malloc(most);
    for (size_t i = 0; i < most; i++) {
        integers[i] = (int64_t)draw(1000);
        floats[i] = (double)draw(1 << 20) / (1 << 20);
        flags[i] = draw(2) != 0;
    }
    void *out = calloc(most + MILLION, 8);
    printf("segments: ns per point, runnel / plain C\n%-12s", "");
    for (size_t s = 0; s < SHAPES; s++)
        printf("  %-12s", shapes[s].name);
    printf("\n");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        measure_row(&rows[r], (Task){NULL, floats, integers, flags, out}, shapes);
    return 0;
}
