/* Prints nanoseconds per element of log, exp and sin in loops over an array that fits the second-level cache: ours, which
 * the compiler vectorises, the C library's one by one, and the C library's vectors (libmvec), where the compiler knows
 * them.
 *
 *     gcc -O3 -march=x86-64-v3 -ffp-contract=off -fno-math-errno -Isrc -o math_speed tools/math_speed.c -lmvec -lm
 *
 * The results of a run are in docs/math.md; nothing depends on them. */
#define _POSIX_C_SOURCE 199309L
#include "math/elementary.h"

#include <stdio.h>
#include <time.h>

typedef void Loop(double *restrict result, const double *restrict x, int count);

enum { COUNT = 4096, ROUNDS = 2000 };

typedef double Lanes __attribute__((vector_size(32)));
Lanes _ZGVdN4v_log(Lanes);
Lanes _ZGVdN4v_exp(Lanes);
Lanes _ZGVdN4v_sin(Lanes);

#define LOOPS(name, library)                                                                                          \
    static void ours_##name(double *restrict result, const double *restrict x, int count)                             \
    {                                                                                                                 \
        for (int i = 0; i < count; i++)                                                                               \
            result[i] = math_##name(x[i]);                                                                            \
    }                                                                                                                 \
    static void library_##name(double *restrict result, const double *restrict x, int count)                          \
    {                                                                                                                 \
        for (int i = 0; i < count; i++)                                                                               \
            result[i] = library(x[i]);                                                                                \
    }                                                                                                                 \
    static void vectors_##name(double *restrict result, const double *restrict x, int count)                          \
    {                                                                                                                 \
        for (int i = 0; i < count; i += 4) {                                                                          \
            Lanes lanes;                                                                                              \
            memcpy(&lanes, x + i, sizeof lanes);                                                                      \
            lanes = _ZGVdN4v_##library(lanes);                                                                        \
            memcpy(result + i, &lanes, sizeof lanes);                                                                 \
        }                                                                                                             \
    }
LOOPS(ln, log)
LOOPS(exp, exp)

/* As an engine does it: the fast path for all, then the rare others. */
static void ours_sin(double *restrict result, const double *restrict x, int count)
{
    uint64_t is_any_huge = 0;
    for (int i = 0; i < count; i++) {
        result[i] = math_sin_fast(x[i]);
        is_any_huge |= (uint64_t)math_is_huge_angle(x[i]);
    }
    for (int i = 0; is_any_huge != 0 && i < count; i++)
        if (math_is_huge_angle(x[i]))
            result[i] = math_sin_slow(x[i]);
}

static void library_sin(double *restrict result, const double *restrict x, int count)
{
    for (int i = 0; i < count; i++)
        result[i] = sin(x[i]);
}

static void vectors_sin(double *restrict result, const double *restrict x, int count)
{
    for (int i = 0; i < count; i += 4) {
        Lanes lanes;
        memcpy(&lanes, x + i, sizeof lanes);
        lanes = _ZGVdN4v_sin(lanes);
        memcpy(result + i, &lanes, sizeof lanes);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double measure(Loop *loop, double low, double high)
{
    static double x[COUNT], result[COUNT];
    double best = 1e9;
    for (int i = 0; i < COUNT; i++)
        x[i] = low + (high - low) * ((double)((uint32_t)i * 2654435761u % COUNT) + 0.5) / COUNT;
    for (int trial = 0; trial < 10; trial++) {
        double start = seconds();
        for (int round = 0; round < ROUNDS / 10; round++)
            loop(result, x, COUNT);
        double taken = (seconds() - start) / (ROUNDS / 10) / COUNT * 1e9;
        best = taken < best ? taken : best;
    }
    return best;
}

#define ROW(name, ours, low, high)                                                                                    \
    printf("| %s | %.2f | %.2f | %.2f |\n", name, measure(ours_##ours, low, high), measure(library_##ours, low, high), \
           measure(vectors_##ours, low, high))

int main(void)
{
    printf("| function | ours | libm, one by one | libmvec |\n|---|---:|---:|---:|\n");
    ROW("log", ln, 0.001, 1000.0);
    ROW("exp", exp, -20.0, 20.0);
    ROW("sin", sin, -100.0, 100.0);
    return 0;
}
