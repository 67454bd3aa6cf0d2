/* The product of two matrices by three plain loops, in the order that runs along rows (ikj). */
#include "harness.h"

#include <string.h>

const char bench_arguments[] = "A B";
static Array a, b;
static double *product;

void bench_prepare(char **arguments)
{
    a = argument_array(arguments[0], ELEMENT_F64);
    b = argument_array(arguments[1], ELEMENT_F64);
}

static void multiply(size_t rows, size_t inner, size_t columns, const double *restrict x, const double *restrict y, double *restrict z)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < rows; i++) {
        memset(z + i * columns, 0, columns * sizeof *z);
        for (size_t k = 0; k < inner; k++)
            for (size_t j = 0; j < columns; j++)
                z[i * columns + j] += x[i * inner + k] * y[k * columns + j];
    }
}

void bench_run(void)
{
    release(product);
    product = allocate(a.rows * b.columns * sizeof *product);
    multiply(a.rows, a.columns, b.columns, a.data, b.data, product);
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, a.rows * b.columns, 1, (const double *const[]){product});
}
