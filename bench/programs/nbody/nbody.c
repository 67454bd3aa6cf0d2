/* All pairs of bodies in three dimensions, one step. Coordinates are vectors of their own, so that the inner loop is SIMD. A force is divided as the formula
 * says, by component; with RECIPROCAL it is multiplied by the reciprocal of the divisor, which rounds twice. */
#include "harness.h"

#include <math.h>

const char bench_arguments[] = "X Y Z VX VY VZ EPS";
static Array input[6]; /* x, y, z, vx, vy, vz */
static double eps;
static double *output[6];
static size_t n;

void bench_prepare(char **arguments)
{
    for (int k = 0; k < 6; k++)
        input[k] = argument_array(arguments[k], ELEMENT_F64);
    eps = argument_float(arguments[6]);
    n = input[0].rows;
}

static void step(size_t i, const double *restrict x, const double *restrict y, const double *restrict z)
{
    double ax = 0, ay = 0, az = 0, px = x[i], py = y[i], pz = z[i];
#pragma omp simd reduction(+ : ax, ay, az)
    for (size_t j = 0; j < n; j++) {
        double dx = px - x[j], dy = py - y[j], dz = pz - z[j];
        double d = dx * dx + dy * dy + dz * dz + eps;
        double cube = d * sqrt(d);
#ifdef RECIPROCAL
        double f = 1 / cube;
        ax += dx * f;
        ay += dy * f;
        az += dz * f;
#else
        ax += dx / cube;
        ay += dy / cube;
        az += dz / cube;
#endif
    }
    double a[3] = {ax, ay, az};
    for (int k = 0; k < 3; k++) {
        double v = ((double *)input[3 + k].data)[i];
        output[k][i] = ((double *)input[k].data)[i] + v + a[k] / 2;
        output[3 + k][i] = v + a[k];
    }
}

void bench_run(void)
{
    for (int k = 0; k < 6; k++) {
        release(output[k]);
        output[k] = allocate(n * sizeof(double));
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        step(i, input[0].data, input[1].data, input[2].data);
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, n, 6, (const double *const *)output);
}
