/* The points of the Mandelbrot set in SIMD lanes: what to aim for beyond a scalar loop. LANES neighbours take steps together until the last of them has
 * escaped; one that has escaped is no longer counted. */
#include "harness.h"

const char bench_arguments[] = "N LIMIT";
static int64_t n, limit;
static int64_t *steps;

enum { LANES = 16 };

void bench_prepare(char **arguments)
{
    n = argument_int(arguments[0]);
    limit = argument_int(arguments[1]);
}

/* Counts are floats, so that lanes are as wide as the coordinates. A lane that has escaped stays outside: its square is kept. */
static void escape_lanes(const double *restrict cx, double cy, double counts[LANES])
{
    double x[LANES] = {0}, y[LANES] = {0}, count[LANES] = {0};
    for (int64_t k = 0; k < limit; k++) {
        double inside = 0;
#pragma omp simd reduction(+ : inside)
        for (int l = 0; l < LANES; l++) {
            double xx = x[l] * x[l], yy = y[l] * y[l], in = xx + yy > 4 ? 0 : 1;
            double next = xx - yy + cx[l];
            y[l] = in != 0 ? 2 * x[l] * y[l] + cy : y[l];
            x[l] = in != 0 ? next : x[l];
            count[l] += in;
            inside += in;
        }
        if (inside == 0)
            break;
    }
    for (int l = 0; l < LANES; l++)
        counts[l] = count[l];
}

static void escape_row(int64_t j)
{
    double side = (double)n, cy = -1 + 2 * ((double)j + 0.5) / side;
    for (int64_t i = 0; i < n; i += LANES) {
        double cx[LANES], counts[LANES];
        for (int64_t l = 0; l < LANES; l++)
            cx[l] = -2 + 3 * ((double)(i + l) + 0.5) / side;
        escape_lanes(cx, cy, counts);
        for (int64_t l = 0; l < LANES && i + l < n; l++)
            steps[j * n + i + l] = (int64_t)counts[l];
    }
}

void bench_run(void)
{
    release(steps);
    steps = allocate((size_t)(n * n) * sizeof *steps);
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t j = 0; j < n; j++)
        escape_row(j);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, (size_t)(n * n), 1, (const int64_t *const[]){steps});
}
