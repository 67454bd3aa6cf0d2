/* The temperature of a chip, step by step: a stencil of five points. Constants and physics are those of the Rodinia suite (Che et al. 2009). */
#include "harness.h"

#include <string.h>

const char bench_arguments[] = "TEMPERATURE POWER STEPS";
static Array temperature, power;
static int64_t steps;
static double *now, *next;

/* Factors of the terms of a step. */
typedef struct Factors {
    double step, x, y, z;
} Factors;

static const double AMBIENT = 80;

void bench_prepare(char **arguments)
{
    temperature = argument_array(arguments[0], ELEMENT_F64);
    power = argument_array(arguments[1], ELEMENT_F64);
    steps = argument_int(arguments[2]);
}

static Factors factors_of(size_t n)
{
    double thickness = 0.0005, conductivity = 100, heat = 1.75e6, factor = 0.5, power_max = 3e6, precision = 0.001;
    double grid = 0.016 / (double)n, capacity = factor * heat * thickness * grid * grid;
    double rx = grid / (2 * conductivity * thickness * grid), rz = thickness / (conductivity * grid * grid);
    return (Factors){precision / (power_max / (factor * thickness * heat)) / capacity, 1 / rx, 1 / rx, 1 / rz};
}

static inline double step_cell(Factors f, double t, double p, double north, double south, double west, double east)
{
    return t + f.step * (p + (south + north - 2 * t) * f.y + (east + west - 2 * t) * f.x + (AMBIENT - t) * f.z);
}

static void step_row(Factors f, size_t n, const double *restrict north, const double *restrict t, const double *restrict south,
                     const double *restrict p, double *restrict to)
{
    to[0] = step_cell(f, t[0], p[0], north[0], south[0], t[0], t[n > 1]);
    for (size_t j = 1; j + 1 < n; j++)
        to[j] = step_cell(f, t[j], p[j], north[j], south[j], t[j - 1], t[j + 1]);
    if (n > 1)
        to[n - 1] = step_cell(f, t[n - 1], p[n - 1], north[n - 1], south[n - 1], t[n - 2], t[n - 1]);
}

void bench_run(void)
{
    release(now);
    size_t rows = temperature.rows, columns = temperature.columns, bytes = rows * columns * sizeof(double);
    now = allocate(bytes);
    next = allocate(bytes);
    memcpy(now, temperature.data, bytes);
    Factors factors = factors_of(rows);
#pragma omp parallel
    for (int64_t step = 0; step < steps; step++) {
#pragma omp for schedule(static)
        for (size_t i = 0; i < rows; i++)
            step_row(factors, columns, now + (i == 0 ? 0 : i - 1) * columns, now + i * columns, now + (i + 1 == rows ? i : i + 1) * columns,
                     (double *)power.data + i * columns, next + i * columns);
#pragma omp single
        {
            double *swap = now;
            now = next;
            next = swap;
        }
    }
    release(next);
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, temperature.rows * temperature.columns, 1, (const double *const[]){now});
}
