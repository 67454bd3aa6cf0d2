/* The points of the Mandelbrot set in SIMD lanes: what to aim for beyond a scalar loop. A few vectors of neighbours take steps together, since those of
 * one wait for each other, until all have escaped. A point that has escaped goes on, but never comes back within the circle (or is no number any more). */
#include "harness.h"

const char bench_arguments[] = "N LIMIT";
static int64_t n, limit;
static int64_t *steps;

typedef double Vector __attribute__((vector_size(32)));
typedef int64_t Mask __attribute__((vector_size(32)));
enum { WIDTH = sizeof(Vector) / sizeof(double), VECTORS = 3, LANES = WIDTH * VECTORS, BETWEEN_LOOKS = 5 };

void bench_prepare(char **arguments)
{
    n = argument_int(arguments[0]);
    limit = argument_int(arguments[1]);
}

/* Whether all have escaped is looked at now and then. */
static void escape_lanes(const Vector cx[VECTORS], double cy, Mask counts[VECTORS])
{
    Vector x[VECTORS], y[VECTORS];
    Mask inside[VECTORS], count[VECTORS], any;
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; v++) {
        x[v] = y[v] = (Vector){0};
        inside[v] = ~(Mask){0};
        count[v] = (Mask){0};
    }
    for (int64_t k = 0; k < limit;) {
        for (int64_t end = k + BETWEEN_LOOKS < limit ? k + BETWEEN_LOOKS : limit; k < end; k++)
#pragma GCC unroll 8
            for (int v = 0; v < VECTORS; v++) {
                Vector xx = x[v] * x[v], yy = y[v] * y[v], xy = x[v] * y[v];
                inside[v] &= xx + yy <= 4;
                count[v] -= inside[v]; /* a lane of a mask is 0 or -1 */
                x[v] = xx - yy + cx[v];
                y[v] = xy + xy + cy;
            }
        any = inside[0];
#pragma GCC unroll 8
        for (int v = 1; v < VECTORS; v++)
            any |= inside[v];
        if ((any[0] | any[1] | any[2] | any[3]) == 0)
            break;
    }
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; v++)
        counts[v] = count[v];
}

static void escape_row(int64_t j)
{
    double side = (double)n, cy = -1 + 2 * ((double)j + 0.5) / side;
    for (int64_t i = 0; i < n; i += LANES) {
        Vector cx[VECTORS];
        Mask counts[VECTORS];
        for (int64_t l = 0; l < LANES; l++)
            cx[l / WIDTH][l % WIDTH] = -2 + 3 * ((double)(i + l) + 0.5) / side;
        escape_lanes(cx, cy, counts);
        for (int64_t l = 0; l < LANES && i + l < n; l++)
            steps[j * n + i + l] = counts[l / WIDTH][l % WIDTH];
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
