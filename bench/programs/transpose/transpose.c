/* A matrix transposed in tiles: a tile's rows of the source and of the target both stay in the first-level cache. */
#include "harness.h"

const char bench_arguments[] = "VALUES";
static Array values;
static int64_t *result;

enum { TILE = 16 };

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_I64);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void transpose(size_t rows, size_t columns, const int64_t *restrict from, int64_t *restrict to)
{
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < columns; j += TILE)
        for (size_t i = 0; i < rows; i += TILE)
            for (size_t q = j; q < smaller(j + TILE, columns); q++)
                for (size_t p = i; p < smaller(i + TILE, rows); p++)
                    to[q * rows + p] = from[p * columns + q];
}

void bench_run(void)
{
    release(result);
    result = allocate(values.rows * values.columns * sizeof *result);
    transpose(values.rows, values.columns, values.data, result);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, values.rows * values.columns, 1, (const int64_t *const[]){result});
}
