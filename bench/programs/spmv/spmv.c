/* A sparse matrix times a vector. Rows are given by their lengths; each thread takes as many nonzeros as the others, wherever rows begin and
 * end. A row that is shared by threads is added up from their parts. */
#include "harness.h"

#include <omp.h>

const char bench_arguments[] = "LENGTHS COLUMNS VALUES X";
static Array lengths, columns, values, vector;
static double *product;

enum { THREADS_MAX = 256 };

void bench_prepare(char **arguments)
{
    lengths = argument_array(arguments[0], ELEMENT_I64);
    columns = argument_array(arguments[1], ELEMENT_I64);
    values = argument_array(arguments[2], ELEMENT_F64);
    vector = argument_array(arguments[3], ELEMENT_F64);
}

static inline double row_sum(const double *restrict v, const int64_t *restrict column, const double *restrict x, int64_t low, int64_t high)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = low; k < high; k++)
        sum += v[k] * x[column[k]];
    return sum;
}

/* The nonzeros from low to high, of the rows from row on, the first of which has begun at start. Rows that begin here are stored; what belongs to a
 * row that began before is returned. */
static double multiply_part(int64_t row, int64_t start, int64_t low, int64_t high, int64_t rows_end)
{
    const int64_t *length = lengths.data;
    double before = 0;
    if (start < low) {
        int64_t end = start + length[row];
        before = row_sum(values.data, columns.data, vector.data, low, end < high ? end : high);
        start = end;
        row++;
    }
    for (; row < rows_end; row++) {
        int64_t end = start + length[row];
        product[row] = row_sum(values.data, columns.data, vector.data, start, end < high ? end : high);
        start = end;
    }
    return before;
}

typedef struct Part {
    int64_t row, start; /* the row that the part begins in, and where that begins */
    double before;
} Part;

/* Where the rows begin that hold the nonzeros at which parts begin; the last part ends with the rows. */
static void find_parts(Part *parts, int64_t count)
{
    const int64_t *length = lengths.data;
    int64_t nonzeros = (int64_t)values.rows, rows = (int64_t)lengths.rows, start = 0, part = 0;
    for (int64_t row = 0; row < rows && part < count; row++) {
        while (part < count && nonzeros * part / count < start + length[row])
            parts[part++] = (Part){row, start, 0};
        start += length[row];
    }
    while (part < count)
        parts[part++] = (Part){rows, start, 0};
    parts[0] = (Part){0, 0, 0};
    parts[count] = (Part){rows, start, 0};
}

void bench_run(void)
{
    release(product);
    product = allocate(lengths.rows * sizeof *product);
    Part parts[THREADS_MAX + 1];
    int threads = omp_get_max_threads() < THREADS_MAX ? omp_get_max_threads() : THREADS_MAX;
    int64_t nonzeros = (int64_t)values.rows;
    if (threads > 1)
        find_parts(parts, threads);
    else
        parts[0] = (Part){0, 0, 0}, parts[1] = (Part){(int64_t)lengths.rows, nonzeros, 0};
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        int64_t low = nonzeros * t / threads, high = nonzeros * (t + 1) / threads;
        /* The row in which the next part begins is stored by whoever has its beginning. */
        int64_t rows_end = parts[t + 1].row + (parts[t + 1].start < high);
        parts[t].before = multiply_part(parts[t].row, parts[t].start, low, high, rows_end);
    }
    for (int t = 1; t < threads; t++)
        if (parts[t].start < nonzeros * t / threads)
            product[parts[t].row] += parts[t].before;
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, lengths.rows, 1, (const double *const[]){product});
}
