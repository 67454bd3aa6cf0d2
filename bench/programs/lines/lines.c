/* The points of many line segments (Elsman and Larsen 2020), line by line. Where a line's points begin is known before they are computed; the points of one
 * line are a SIMD loop. */
#include "harness.h"

#include <math.h>

const char bench_arguments[] = "X1 Y1 X2 Y2";
static Array ends[4]; /* x1, y1, x2, y2 */
static int64_t *xs, *ys;
static size_t points;

void bench_prepare(char **arguments)
{
    for (int k = 0; k < 4; k++)
        ends[k] = argument_array(arguments[k], ELEMENT_I64);
}

static inline int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* Halves away from zero, in operations that SIMD has. */
static inline int32_t rounded(double x)
{
    double whole = trunc(x);
    return (int32_t)(whole + (fabs(x - whole) >= 0.5 ? copysign(1, x) : 0));
}

/* From (from, other) on, `count` steps towards `to`; the other coordinate changes by the slope. */
static inline void walk(int64_t from, int64_t to, int64_t other, int64_t other_to, int32_t count, int64_t *restrict along, int64_t *restrict across)
{
    int64_t direction = (to > from) - (from > to);
    double slope = to == from ? (other_to > other ? 1 : -1) : (double)(other_to - other) / fabs((double)(to - from));
    for (int32_t i = 0; i < count; i++) {
        along[i] = from + direction * i;
        across[i] = other + rounded(slope * i);
    }
}

static void draw(int64_t ax, int64_t ay, int64_t bx, int64_t by, int64_t *restrict px, int64_t *restrict py)
{
    int64_t width = distance(ax, bx), height = distance(ay, by);
    if (width > height)
        walk(ax, bx, ay, by, (int32_t)width + 1, px, py);
    else
        walk(ay, by, ax, bx, (int32_t)height + 1, py, px);
}

/* starts[i] becomes the number of points of lines before i. */
static size_t find_starts(size_t n, const int64_t *ax, const int64_t *ay, const int64_t *bx, const int64_t *by, size_t *restrict starts)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t width = distance(ax[i], bx[i]), height = distance(ay[i], by[i]);
        starts[i] = sum;
        sum += (size_t)(width > height ? width : height) + 1;
    }
    return sum;
}

void bench_run(void)
{
    const int64_t *ax = ends[0].data, *ay = ends[1].data, *bx = ends[2].data, *by = ends[3].data;
    size_t n = ends[0].rows, *starts = allocate(n * sizeof *starts);
    release(xs);
    release(ys);
    points = find_starts(n, ax, ay, bx, by, starts);
    xs = allocate(points * sizeof *xs);
    ys = allocate(points * sizeof *ys);
#pragma omp parallel for schedule(dynamic, 4096)
    for (size_t i = 0; i < n; i++)
        draw(ax[i], ay[i], bx[i], by[i], xs + starts[i], ys + starts[i]);
    release(starts);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, points, 2, (const int64_t *const[]){xs, ys});
}
