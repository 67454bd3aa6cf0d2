/* The primes below n: the sieve of Eratosthenes on odd numbers, in segments that fit the first-level cache. */
#include "harness.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char bench_arguments[] = "N";
static int64_t n;
static int64_t *primes;
static size_t found;

enum { SEGMENT = 32 << 10 }; /* odd numbers in a segment; entry i stands for 2 i + 1 */

void bench_prepare(char **arguments)
{
    n = argument_int(arguments[0]);
}

/* Odd primes whose square is below n, in order; ends with one that is too large. */
static int64_t *root_primes(void)
{
    int64_t room = 4;
    while (room * room < n)
        room *= 2;
    unsigned char *composite = calloc((size_t)room, 1);
    int64_t *roots = allocate(((size_t)room + 1) * sizeof *roots), count = 0;
    for (int64_t p = 3; p < room; p += 2)
        if (!composite[p]) {
            roots[count++] = p;
            for (int64_t m = p * p; m < room; m += 2 * p)
                composite[m] = 1;
        }
    roots[count] = room;
    free(composite);
    return roots;
}

/* flags[i] is 1 if the odd number 2 (low + i) + 1 is prime. */
static void sieve_segment(unsigned char *flags, int64_t low, int64_t length, const int64_t *roots)
{
    memset(flags, 1, (size_t)length);
    int64_t largest = 2 * (low + length) - 1;
    for (; *roots * *roots <= largest; roots++) {
        int64_t p = *roots, first = p * p > 2 * low + 1 ? p * p : (2 * low + p) / p * p;
        first += first % 2 == 0 ? p : 0;
        for (int64_t i = first / 2 - low; i < length; i += p)
            flags[i] = 0;
    }
    if (low == 0)
        flags[0] = 0;
}

static size_t count_flags(const unsigned char *flags, int64_t length)
{
    size_t count = 0;
    for (int64_t i = 0; i < length; i++)
        count += flags[i];
    return count;
}

/* Eight flags at a time. */
static void extract(const unsigned char *flags, int64_t low, int64_t length, int64_t *to)
{
    int64_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, flags + i, 8);
        for (; word != 0; word &= word - 1)
            *to++ = 2 * (low + i + __builtin_ctzll(word) / 8) + 1;
    }
    for (; i < length; i++)
        if (flags[i])
            *to++ = 2 * (low + i) + 1;
}

void bench_run(void)
{
    release(primes);
    int64_t odd = n / 2, segments = odd / SEGMENT + 1, *roots = root_primes();
    unsigned char *flags = allocate((size_t)odd);
    size_t *starts = allocate((size_t)(segments + 1) * sizeof *starts);
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t s = 0; s < segments; s++) {
        int64_t low = s * SEGMENT, length = odd - low < SEGMENT ? odd - low : SEGMENT;
        sieve_segment(flags + low, low, length, roots);
        starts[s + 1] = count_flags(flags + low, length);
    }
    starts[0] = n > 2;
    for (int64_t s = 0; s < segments; s++)
        starts[s + 1] += starts[s];
    found = starts[segments];
    primes = allocate(found * sizeof *primes);
    primes[0] = 2;
#pragma omp parallel for schedule(static)
    for (int64_t s = 0; s < segments; s++) {
        int64_t low = s * SEGMENT, length = odd - low < SEGMENT ? odd - low : SEGMENT;
        extract(flags + low, low, length, primes + starts[s]);
    }
    release(roots);
    release(flags);
    release(starts);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, found, 1, (const int64_t *const[]){primes});
}
