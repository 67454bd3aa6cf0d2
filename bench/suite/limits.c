/* limits THREADS: what this machine can do at most, measured by so many threads: bytes copied, logarithms and multiply-adds each second. Every number is
 * the best of several tries. */
#include "simd_math.h"

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIES = 7, COPY_BYTES = 1 << 28, LOG_COUNT = 2048, LOG_ROUNDS = 4096, LANES = 96, FMA_ROUNDS = 1 << 20 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Each thread copies its own part; bytes read and bytes written both count. */
static double copy_once(char *to, const char *from)
{
#pragma omp parallel
    {
        size_t part = COPY_BYTES / (size_t)omp_get_num_threads(), start = part * (size_t)omp_get_thread_num();
        memcpy(to + start, from + start, part);
    }
    return 2.0 * COPY_BYTES;
}

static double log_once(double *sink)
{
    double total = 0;
#pragma omp parallel reduction(+ : total)
    {
        double numbers[LOG_COUNT];
        for (int i = 0; i < LOG_COUNT; i++)
            numbers[i] = 1.0 + i;
        for (int round = 0; round < LOG_ROUNDS; round++) {
            double sum = 0, shift = round;
#pragma omp simd reduction(+ : sum)
            for (int i = 0; i < LOG_COUNT; i++)
                sum += log(numbers[i] + shift);
            total += sum;
        }
    }
    *sink += total;
    return (double)LOG_COUNT * LOG_ROUNDS * omp_get_max_threads();
}

/* As many sums side by side as hide the latency of an addition, and all of them in registers. */
static double fma_once(double *sink)
{
    double total = 0;
#pragma omp parallel reduction(+ : total)
    {
        double sums[LANES];
        for (int i = 0; i < LANES; i++)
            sums[i] = i;
        for (int round = 0; round < FMA_ROUNDS; round++)
#pragma GCC unroll 96
            for (int i = 0; i < LANES; i++)
                sums[i] = sums[i] * 0.999 + 0.5;
        for (int i = 0; i < LANES; i++)
            total += sums[i];
    }
    *sink += total;
    return (double)LANES * FMA_ROUNDS * omp_get_max_threads();
}

static double best(double rate, double amount, double start)
{
    double found = amount / (now() - start);
    return found > rate ? found : rate;
}

int main(int count, char **words)
{
    int threads = count == 2 ? atoi(words[1]) : 0;
    char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
    if (threads < 1 || from == NULL || to == NULL) {
        fputs(threads < 1 ? "usage: limits THREADS\n" : "limits: out of memory\n", stderr);
        return 2;
    }
    omp_set_num_threads(threads);
    memset(from, 1, COPY_BYTES);
    memset(to, 0, COPY_BYTES);
    double copies = 0, logs = 0, fmas = 0, sink = 0;
    for (int i = 0; i < TRIES; i++) {
        double start = now();
        copies = best(copies, copy_once(to, from), start);
        start = now();
        logs = best(logs, log_once(&sink), start);
        start = now();
        fmas = best(fmas, fma_once(&sink), start);
    }
    printf("{\"threads\": %d, \"bytes\": %.6g, \"logs\": %.6g, \"fmas\": %.6g, \"ignore\": %d}\n", threads, copies, logs, fmas, sink == 0);
    free(from);
    free(to);
    return 0;
}
