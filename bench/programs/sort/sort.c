/* Radix sort from the top bits down.
 *
 * The first pass spreads the elements over up to 2^10 buckets by their top bits, the threads each a part of the input; then each bucket is sorted alone, in a
 * cache, by as many further bits as leave about four elements together. In what is then almost in order neighbours change places, without branches and many at once, in as
 * many rounds as the largest bucket has elements; some 256 elements at a time stay in the nearest cache. Random numbers so need two passes. Bits that all elements share, above the range between the least and the greatest, are left out. */
#include "harness.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

const char bench_arguments[] = "VALUES";
static Array values;
static int64_t *result;

enum { DIGIT_MAX = 10, BUCKETS_MAX = 1 << DIGIT_MAX, FEW = 24, TOGETHER = 2 /* log2 of the elements that a digit leaves in a bucket */, SETTLED = 256 };

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_I64);
    if (values.rows > UINT32_MAX)
        fail("places in buckets are 32-bit integers, so elements are less than 2^32; not %zu", values.rows);
}

/* Bits needed for the number. */
static int width(uint64_t x)
{
    return x == 0 ? 0 : 64 - __builtin_clzll(x);
}

static int digit_bits(size_t n, int bits_left)
{
    int bits = width(n) - TOGETHER;
    bits = bits < 1 ? 1 : bits > DIGIT_MAX ? DIGIT_MAX : bits;
    return bits < bits_left ? bits : bits_left;
}

/* Elements that are in order but for groups of at most so many, from one place to another or within one. */
static void settle(const int64_t *from, int64_t *to, size_t n, size_t group)
{
    if (from != to)
        memcpy(to, from, n * sizeof *to);
    for (size_t round = 0; round < group && group > 1; round++)
        for (size_t i = round % 2; i + 1 < n; i += 2) {
            int64_t a = to[i], b = to[i + 1];
            to[i] = a < b ? a : b;
            to[i + 1] = a < b ? b : a;
        }
}

/* Counts become the places where buckets begin. */
static void counts_to_starts(uint32_t *counts, size_t buckets)
{
    uint32_t sum = 0;
    for (size_t b = 0; b < buckets; b++) {
        uint32_t count = counts[b];
        counts[b] = sum;
        sum += count;
    }
}

/* Sorts elements that differ from `least` in the lowest bits only; the result is in `spare` if asked for, otherwise in place. */
static void sort_bucket(int64_t *restrict from, int64_t *restrict spare, size_t n, int bits, uint64_t least, bool to_spare)
{
    if (n <= FEW || bits == 0) {
        settle(from, to_spare ? spare : from, n, bits == 0 ? 0 : n);
        return;
    }
    int digit = digit_bits(n, bits), shift = bits - digit;
    size_t buckets = (size_t)1 << digit;
    uint64_t mask = buckets - 1;
    uint32_t places[BUCKETS_MAX];
    memset(places, 0, buckets * sizeof *places);
    for (size_t i = 0; i < n; i++)
        places[((uint64_t)from[i] - least) >> shift & mask]++;
    counts_to_starts(places, buckets);
    for (size_t i = 0; i < n; i++)
        spare[places[((uint64_t)from[i] - least) >> shift & mask]++] = from[i];
    int64_t *to = to_spare ? spare : from;
    size_t settled = 0, group = 0;
    for (size_t b = 0, start = 0; b < buckets; start = places[b++]) { /* a place is now the end of its bucket */
        size_t here = places[b] - start;
        if (here > FEW || start - settled >= SETTLED) {
            settle(spare + settled, to + settled, start - settled, group);
            settled = start;
            group = 0;
        }
        if (here > FEW) {
            sort_bucket(spare + start, from + start, here, shift, least, !to_spare);
            settled = places[b];
        } else if (here > group)
            group = here;
    }
    settle(spare + settled, to + settled, n - settled, group);
}

static void range_of(const int64_t *v, size_t n, int64_t *least, int64_t *greatest)
{
    int64_t low = v[0], high = v[0];
#pragma omp parallel for reduction(min : low) reduction(max : high) schedule(static)
    for (size_t i = 0; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    *least = low;
    *greatest = high;
}

/* Spreads elements by their top bits. places has a row of counts for each thread, which become the places where that thread puts its elements; starts[b] is
 * where bucket b begins. */
static void spread(const int64_t *restrict from, int64_t *restrict to, size_t n, int shift, size_t buckets, uint64_t least, size_t (*places)[BUCKETS_MAX],
                   size_t *starts)
{
#pragma omp parallel
    {
        size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
        size_t low = n * me / threads, high = n * (me + 1) / threads, *mine = places[me];
        memset(mine, 0, buckets * sizeof *mine);
        for (size_t i = low; i < high; i++)
            mine[((uint64_t)from[i] - least) >> shift]++;
#pragma omp barrier
#pragma omp single
        for (size_t b = 0, sum = 0; b < buckets; b++) {
            starts[b] = sum;
            for (size_t t = 0; t < threads; t++) {
                size_t count = places[t][b];
                places[t][b] = sum;
                sum += count;
            }
        }
        for (size_t i = low; i < high; i++)
            to[mine[((uint64_t)from[i] - least) >> shift]++] = from[i];
    }
    starts[buckets] = n;
}

static void radix_sort(const int64_t *from, int64_t *to, size_t n)
{
    int64_t least, greatest;
    range_of(from, n, &least, &greatest);
    int bits = width((uint64_t)greatest - (uint64_t)least), digit = digit_bits(n, bits), shift = bits - digit;
    size_t buckets = (size_t)1 << digit, starts[BUCKETS_MAX + 1];
    int64_t *spare = allocate(n * sizeof *spare);
    size_t(*places)[BUCKETS_MAX] = allocate((size_t)omp_get_max_threads() * sizeof *places);
    spread(from, spare, n, shift, buckets, (uint64_t)least, places, starts);
#pragma omp parallel for schedule(dynamic, 8)
    for (size_t b = 0; b < buckets; b++)
        sort_bucket(spare + starts[b], to + starts[b], starts[b + 1] - starts[b], shift, (uint64_t)least, true);
    release(places);
    release(spare);
}

void bench_run(void)
{
    release(result);
    result = allocate(values.rows * sizeof *result);
    if (values.rows > 0)
        radix_sort(values.data, result, values.rows);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, values.rows, 1, (const int64_t *const[]){result});
}
