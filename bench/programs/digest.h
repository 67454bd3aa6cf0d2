/* A large result in one line, so that it can be compared: how many numbers, their sum, and a sum in which each counts differently by its
 * position. Numbers are added in the order in which the result is printed, tuples component by component.
 *
 *     i COUNT SUM MIX         integers, modulo 2^64
 *     f COUNT ABS SUM MIX     floats, in long double; ABS is the sum of absolute values, which tolerances are relative to */
#ifndef BENCH_DIGEST_H
#define BENCH_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Digest {
    uint64_t count, sum, mix;
    long double float_abs, float_sum, float_mix;
} Digest;

void digest_int(Digest *digest, int64_t value);
void digest_float(Digest *digest, double value);
void digest_print_ints(const Digest *digest, FILE *out);
void digest_print_floats(const Digest *digest, FILE *out);

/* Whole results: vectors of n elements side by side, an element of each in turn. */
void digest_int_vectors(FILE *out, size_t n, int vectors, const int64_t *const *columns);
void digest_float_vectors(FILE *out, size_t n, int vectors, const double *const *columns);

#endif
