/* The centroid of the four lowest frequencies of windows of irregular size over a sound. Cosines and sines of each length of window and each frequency are
 * copied from a table of 2048 to vectors of their own, so that the eight sums of a window are one SIMD loop.
 *
 * With FOLDED (windows-folded.c) the four quarters of a window are first added and subtracted, as the first stage of a fast Fourier transform does: what to aim for
 * beyond the sums as written. */
#include "harness.h"

#include <math.h>

const char bench_arguments[] = "SAMPLES STARTS LENGTHS";
static Array samples, starts, lengths;
static double *centroids;

enum { TABLE = 2048, FREQUENCIES = 4, LENGTHS = 12 }; /* lengths are powers of two up to the table's */

/* For windows of one length: cosine and sine of each frequency in turn. */
typedef struct Waves {
    double *cosine[FREQUENCIES], *sine[FREQUENCIES];
} Waves;

void bench_prepare(char **arguments)
{
    samples = argument_array(arguments[0], ELEMENT_F64);
    starts = argument_array(arguments[1], ELEMENT_I64);
    lengths = argument_array(arguments[2], ELEMENT_I64);
    for (size_t i = 0; i < lengths.rows; i++) {
        int64_t length = ((int64_t *)lengths.data)[i];
        if (length < 4 || length > TABLE || (length & (length - 1)) != 0)
            fail("windows are as long as powers of two from 4 to %d, not %lld", TABLE, (long long)length);
    }
}

static Waves new_waves(const double *table, size_t length)
{
    Waves waves;
    size_t stride = TABLE / length;
    for (size_t k = 0; k < FREQUENCIES; k++) {
        waves.cosine[k] = allocate(length * sizeof(double));
        waves.sine[k] = allocate(length * sizeof(double));
        for (size_t j = 0; j < length; j++) {
            waves.cosine[k][j] = table[(k + 1) * j * stride % TABLE];
            waves.sine[k][j] = table[((k + 1) * j * stride + 3 * TABLE / 4) % TABLE];
        }
    }
    return waves;
}

static void release_waves(Waves waves)
{
    for (int k = 0; k < FREQUENCIES; k++) {
        release(waves.cosine[k]);
        release(waves.sine[k]);
    }
}

/* The eight sums of a window. */
typedef struct Sums {
    double re[FREQUENCIES], im[FREQUENCIES];
} Sums;

#ifndef FOLDED
static Sums sums_of(const double *restrict s, size_t length, const Waves *waves)
{
    const double *restrict c1 = waves->cosine[0], *restrict c2 = waves->cosine[1], *restrict c3 = waves->cosine[2], *restrict c4 = waves->cosine[3];
    const double *restrict s1 = waves->sine[0], *restrict s2 = waves->sine[1], *restrict s3 = waves->sine[2], *restrict s4 = waves->sine[3];
    double r1 = 0, r2 = 0, r3 = 0, r4 = 0, i1 = 0, i2 = 0, i3 = 0, i4 = 0;
#pragma omp simd reduction(+ : r1, r2, r3, r4, i1, i2, i3, i4)
    for (size_t j = 0; j < length; j++) {
        r1 += s[j] * c1[j], i1 += s[j] * s1[j];
        r2 += s[j] * c2[j], i2 += s[j] * s2[j];
        r3 += s[j] * c3[j], i3 += s[j] * s3[j];
        r4 += s[j] * c4[j], i4 += s[j] * s4[j];
    }
    return (Sums){{r1, r2, r3, r4}, {i1, i2, i3, i4}};
}
#else
/* From one quarter of the window to the next, the wave of frequency k turns by k quarters. */
static Sums sums_of(const double *restrict s, size_t length, const Waves *waves)
{
    const double *restrict c1 = waves->cosine[0], *restrict c2 = waves->cosine[1], *restrict c3 = waves->cosine[2], *restrict c4 = waves->cosine[3];
    const double *restrict s1 = waves->sine[0], *restrict s2 = waves->sine[1], *restrict s3 = waves->sine[2], *restrict s4 = waves->sine[3];
    double r1 = 0, r2 = 0, r3 = 0, r4 = 0, i1 = 0, i2 = 0, i3 = 0, i4 = 0;
    size_t quarter = length / 4;
#pragma omp simd reduction(+ : r1, r2, r3, r4, i1, i2, i3, i4)
    for (size_t j = 0; j < quarter; j++) {
        double a = s[j], b = s[j + quarter], c = s[j + 2 * quarter], d = s[j + 3 * quarter];
        double all = a + c + (b + d), turned = a + c - (b + d), first = a - c, second = b - d;
        r1 += first * c1[j] - second * s1[j], i1 += first * s1[j] + second * c1[j];
        r2 += turned * c2[j], i2 += turned * s2[j];
        r3 += first * c3[j] + second * s3[j], i3 += first * s3[j] - second * c3[j];
        r4 += all * c4[j], i4 += all * s4[j];
    }
    return (Sums){{r1, r2, r3, r4}, {i1, i2, i3, i4}};
}
#endif

static double centroid(Sums sums)
{
    double total = 0, weighted = 0;
    for (int k = 0; k < FREQUENCIES; k++) {
        double power = sums.re[k] * sums.re[k] + sums.im[k] * sums.im[k];
        total += power;
        weighted += (k + 1) * power;
    }
    return total == 0 ? 0 : weighted / total;
}

void bench_run(void)
{
    double table[TABLE];
    for (int i = 0; i < TABLE; i++)
        table[i] = cos(2 * 3.141592653589793 * i / TABLE);
    Waves waves[LENGTHS];
    for (int k = 0; k < LENGTHS; k++)
        waves[k] = new_waves(table, (size_t)1 << k);
    release(centroids);
    centroids = allocate(starts.rows * sizeof *centroids);
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t i = 0; i < starts.rows; i++) {
        int64_t length = ((int64_t *)lengths.data)[i];
        const double *first = (double *)samples.data + ((int64_t *)starts.data)[i];
        centroids[i] = centroid(sums_of(first, (size_t)length, &waves[__builtin_ctzll((uint64_t)length)]));
    }
    for (int k = 0; k < LENGTHS; k++)
        release_waves(waves[k]);
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, starts.rows, 1, (const double *const[]){centroids});
}
