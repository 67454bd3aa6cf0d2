/* For each point of a part of the plane, how many steps z -> z^2 + c stay within the circle of radius 2. The loop of a point is scalar, as
 * compilers leave it. */
#include "harness.h"

const char bench_arguments[] = "N LIMIT";
static int64_t n, limit;
static int64_t *steps;

void bench_prepare(char **arguments)
{
    n = argument_int(arguments[0]);
    limit = argument_int(arguments[1]);
}

static int64_t escape(double cx, double cy)
{
    double x = 0, y = 0;
    int64_t k = 0;
    while (k != limit && !(x * x + y * y > 4)) {
        double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        k++;
    }
    return k;
}

void bench_run(void)
{
    release(steps);
    steps = allocate((size_t)(n * n) * sizeof *steps);
    double side = (double)n;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            steps[j * n + i] = escape(-2 + 3 * ((double)i + 0.5) / side, -1 + 2 * ((double)j + 0.5) / side);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, (size_t)(n * n), 1, (const int64_t *const[]){steps});
}
