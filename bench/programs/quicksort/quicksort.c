/* Quicksort in place: the pivot is the median of three, partitioning has no branch that depends on the data, short parts are sorted by insertion.
 * Large parts are tasks of their own. */
#include "harness.h"

#include <string.h>

const char bench_arguments[] = "VALUES";
static Array values;
static int64_t *result;

enum { SHORT = 16, TASK = 20000 };

void bench_prepare(char **arguments)
{
    values = argument_array(arguments[0], ELEMENT_I64);
}

static void insertion_sort(int64_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int64_t x = v[i];
        size_t j = i;
        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t old = *a;
    *a = *b;
    *b = old;
}

/* Brings the median of the first, the middle and the last element to the front. */
static void choose_pivot(int64_t *v, size_t n)
{
    int64_t *a = v, *b = v + n / 2, *c = v + n - 1;
    if (*b < *a)
        swap(a, b);
    if (*c < *b)
        swap(b, c);
    if (*b < *a)
        swap(a, b);
    swap(a, b);
}

/* Elements that are less than the first come before it; returns where it then is. The loop always swaps, and counts those that are less. */
static size_t partition(int64_t *v, size_t n)
{
    int64_t pivot = v[0];
    size_t less = 1;
    for (size_t i = 1; i < n; i++) {
        int64_t x = v[i];
        v[i] = v[less];
        v[less] = x;
        less += x < pivot;
    }
    swap(v, v + less - 1);
    return less - 1;
}

/* The elements that equal the pivot, which is at v[0] and not greater than any, are skipped. */
static size_t skip_equal(const int64_t *v, size_t n)
{
    size_t i = 1;
    while (i < n && v[i] == v[0])
        i++;
    return i;
}

static void quicksort(int64_t *v, size_t n)
{
    while (n > SHORT) {
        choose_pivot(v, n);
        size_t middle = partition(v, n), right = middle + skip_equal(v + middle, n - middle);
        if (n > TASK) {
#pragma omp task
            quicksort(v, middle);
        } else
            quicksort(v, middle);
        v += right;
        n -= right;
    }
    insertion_sort(v, n);
}

void bench_run(void)
{
    release(result);
    result = allocate(values.rows * sizeof *result);
    memcpy(result, values.data, values.rows * sizeof *result);
#pragma omp parallel
#pragma omp single
    quicksort(result, values.rows);
}

void bench_result(FILE *out)
{
    digest_int_vectors(out, values.rows, 1, (const int64_t *const[]){result});
}
