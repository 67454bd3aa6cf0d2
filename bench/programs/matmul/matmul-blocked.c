/* The product of two matrices, blocked for registers and caches: what to aim for beyond plain loops.
 *
 * A panel of B, PANEL rows by COLUMNS columns, is copied so that it lies in one piece; it stays in the first-level cache while ROWS rows of A
 * pass by it. ROWS by COLUMNS elements of the product are held in registers. */
#include "harness.h"

#include <string.h>

const char bench_arguments[] = "A B";
static Array a, b;
static double *product;

typedef double Vector __attribute__((vector_size(32)));
enum { LANES = sizeof(Vector) / sizeof(double), ROWS = 4, VECTORS = 3, COLUMNS = VECTORS * LANES, PANEL = 256 };

void bench_prepare(char **arguments)
{
    a = argument_array(arguments[0], ELEMENT_F64);
    b = argument_array(arguments[1], ELEMENT_F64);
}

static void copy_panel(Vector *restrict panel, size_t depth, size_t k, size_t j, size_t width)
{
    const double *y = b.data;
    for (size_t p = 0; p < depth; p++)
        for (size_t q = 0; q < COLUMNS; q++)
            ((double *)panel)[p * COLUMNS + q] = q < width ? y[(k + p) * b.columns + j + q] : 0;
}

/* sums += rows of A times the panel. */
static void multiply_tile(Vector sums[ROWS][VECTORS], const Vector *restrict panel, size_t depth, const double *const rows[ROWS])
{
    Vector local[ROWS][VECTORS];
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 16
        for (int q = 0; q < VECTORS; q++)
            local[r][q] = sums[r][q];
    for (size_t p = 0; p < depth; p++)
#pragma GCC unroll 16
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 16
            for (int q = 0; q < VECTORS; q++)
                local[r][q] += rows[r][p] * panel[p * VECTORS + (size_t)q];
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 16
        for (int q = 0; q < VECTORS; q++)
            sums[r][q] = local[r][q];
}

/* Rows i .. i + height - 1 of a strip of columns; rows beyond the matrix repeat the last, and are not stored. */
static void multiply_rows(const Vector *panel, size_t depth, size_t i, size_t k, size_t j, size_t width)
{
    const double *x = a.data, *rows[ROWS];
    Vector sums[ROWS][VECTORS] = {{{0}}};
    size_t height = a.rows - i < ROWS ? a.rows - i : ROWS;
    for (size_t r = 0; r < ROWS; r++)
        rows[r] = x + (i + (r < height ? r : height - 1)) * a.columns + k;
    for (size_t r = 0; r < height && k > 0; r++)
        memcpy(sums[r], product + (i + r) * b.columns + j, width * sizeof(double));
    multiply_tile(sums, panel, depth, rows);
    for (size_t r = 0; r < height; r++)
        memcpy(product + (i + r) * b.columns + j, sums[r], width * sizeof(double));
}

void bench_run(void)
{
    release(product);
    product = allocate(a.rows * b.columns * sizeof *product);
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < b.columns; j += COLUMNS) {
        Vector panel[PANEL * VECTORS];
        size_t width = b.columns - j < COLUMNS ? b.columns - j : COLUMNS;
        for (size_t k = 0; k < a.columns; k += PANEL) {
            size_t depth = a.columns - k < PANEL ? a.columns - k : PANEL;
            copy_panel(panel, depth, k, j, width);
            for (size_t i = 0; i < a.rows; i += ROWS)
                multiply_rows(panel, depth, i, k, j, width);
        }
    }
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, a.rows * b.columns, 1, (const double *const[]){product});
}
