/* Elements of a vector at random places. */
#include "harness.h"

const char bench_arguments[] = "VALUES INDICES";
static Array values, indices;
static double *result;

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_F64);
    indices = argument_array(arguments[1], ELEMENT_I64);
}

static void gather(size_t n, const double *restrict from, const int64_t *restrict at, double *restrict to)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        to[i] = from[at[i]];
}

void bench_run(void)
{
    release(result);
    result = allocate(indices.rows * sizeof *result);
    gather(indices.rows, values.data, indices.data, result);
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, indices.rows, 1, (const double *const[]){result});
}
