/* Pythagorean triples x <= y <= z < n by trying all z below x + y. A SIMD loop finds whether there is a z at all; few x and y have one. */
#include "harness.h"

#include <stdlib.h>

const char bench_arguments[] = "N";
static int32_t n;

typedef struct Triples {
    int64_t (*items)[3];
    size_t count, room;
} Triples;

static Triples found;

void bench_prepare(char **arguments)
{
    int64_t bound = argument_int(arguments[0]);
    if (bound > 32768)
        fail("numbers are below 32768, so that sums of squares are 32-bit integers; not %lld", (long long)bound);
    n = (int32_t)bound;
}

static void triples_add(Triples *triples, int64_t x, int64_t y, int64_t z)
{
    if (triples->count == triples->room) {
        triples->room = 2 * triples->room + 16;
        triples->items = realloc(triples->items, triples->room * sizeof *triples->items);
        if (triples->items == NULL)
            fail("no memory for %zu triples", triples->room);
    }
    triples->items[triples->count][0] = x;
    triples->items[triples->count][1] = y;
    triples->items[triples->count++][2] = z;
}

static inline int32_t count_roots(int32_t square, int32_t low, int32_t high)
{
    int32_t count = 0;
    for (int32_t z = low; z < high; z++)
        count += z * z == square;
    return count;
}

static void triples_of(Triples *triples, int32_t x)
{
    for (int32_t y = x; y < n; y++) {
        int32_t square = x * x + y * y, high = x + y < n ? x + y : n;
        if (count_roots(square, y, high) == 0)
            continue;
        for (int32_t z = y; z < high; z++)
            if (z * z == square)
                triples_add(triples, x, y, z);
    }
}

void bench_run(void)
{
    Triples *parts = calloc((size_t)n, sizeof *parts);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t x = 1; x < n; x++)
        triples_of(&parts[x], x);
    found.count = 0;
    for (int32_t x = 1; x < n; x++) {
        for (size_t i = 0; i < parts[x].count; i++)
            triples_add(&found, parts[x].items[i][0], parts[x].items[i][1], parts[x].items[i][2]);
        free(parts[x].items);
    }
    free(parts);
}

void bench_result(FILE *out)
{
    Digest digest = {0};
    for (size_t i = 0; i < found.count; i++)
        for (int k = 0; k < 3; k++)
            digest_int(&digest, found.items[i][k]);
    digest_print_ints(&digest, out);
}
