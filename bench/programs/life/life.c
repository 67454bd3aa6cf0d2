/* The game of life on a torus, a byte for each cell. A row's sums of three above one another, and then three of those side by side, count a cell with its
 * neighbours; both loops are SIMD on bytes. */
#include "harness.h"

#include <string.h>

const char bench_arguments[] = "BOARD STEPS";
static Array board;
static int64_t steps;
static uint8_t *now, *next;

void bench_prepare(char **arguments)
{
    board = argument_array(arguments[0], ELEMENT_U8);
    steps = argument_int(arguments[1]);
}

/* sums has an element more on each side. */
static void step_row(size_t n, const uint8_t *restrict above, const uint8_t *restrict row, const uint8_t *restrict below, uint8_t *restrict to,
                     uint8_t *restrict sums)
{
    for (size_t j = 0; j < n; j++)
        sums[j + 1] = (uint8_t)(above[j] + row[j] + below[j]);
    sums[0] = sums[n];
    sums[n + 1] = sums[1];
    for (size_t j = 0; j < n; j++) {
        uint8_t with_itself = (uint8_t)(sums[j] + sums[j + 1] + sums[j + 2]);
        to[j] = (uint8_t)(with_itself == 3) | (uint8_t)(row[j] & (uint8_t)(with_itself == 4));
    }
}

void bench_run(void)
{
    release(now);
    size_t rows = board.rows, columns = board.columns;
    now = allocate(rows * columns);
    next = allocate(rows * columns);
    memcpy(now, board.data, rows * columns);
#pragma omp parallel
    {
        uint8_t *sums = allocate(columns + 2);
        for (int64_t step = 0; step < steps; step++) {
#pragma omp for schedule(static)
            for (size_t i = 0; i < rows; i++)
                step_row(columns, now + (i == 0 ? rows - 1 : i - 1) * columns, now + i * columns, now + (i + 1 == rows ? 0 : i + 1) * columns,
                         next + i * columns, sums);
#pragma omp single
            {
                uint8_t *swap = now;
                now = next;
                next = swap;
            }
        }
        release(sums);
    }
    release(next);
}

void bench_result(FILE *out)
{
    Digest digest = {0};
    for (size_t i = 0; i < board.rows * board.columns; i++)
        digest_int(&digest, now[i]);
    digest_print_ints(&digest, out);
}
