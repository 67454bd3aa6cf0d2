/* Element-wise kernels beside plain loops in C, which this file is compiled for: -O3 -march=native (Makefile, bench-micro).
 *
 * Both run over the same 4096 elements in cache, and must agree. The plain loops do not make nans canonical; where C has no loop that
 * vectorises (logarithms), theirs calls the C library. A kernel of every level that the machine has is shown. */
#define _POSIX_C_SOURCE 200809L
#include "vm/elementwise_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LENGTH = 4096, REPEATS = 200, ROUNDS = 25 };

typedef void PlainLoop(void *restrict out, const void *restrict a, const void *restrict b);

#define PLAIN(name, A, B, R, expression)                                                                              \
    static __attribute__((noinline)) void plain_##name(void *restrict out, const void *restrict x, const void *restrict y) \
    {                                                                                                                 \
        R *to = out;                                                                                                  \
        const A *a = x;                                                                                               \
        const B *b = y;                                                                                               \
        (void)b;                                                                                                      \
        for (size_t i = 0; i < LENGTH; i++)                                                                           \
            to[i] = (R)(expression);                                                                                  \
    }

/* X(name, operation, type of the arguments, of the result, their C types, the plain loop's expression, whether it rounds as the kernel does) */
#define ROWS(X)                                                                                                       \
    X(add_f64, ADD, F64, F64, double, double, a[i] + b[i], true)                                                      \
    X(multiply_f64, MULTIPLY, F64, F64, double, double, a[i] * b[i], true)                                            \
    X(divide_f64, DIVIDE, F64, F64, double, double, a[i] / b[i], true)                                                \
    X(min_f64, MINIMUM, F64, F64, double, double, a[i] < b[i] ? a[i] : b[i], true)                                    \
    X(less_f64, LESS, F64, BOOL, double, bool, a[i] < b[i], true)                                                     \
    X(ln_f64, LN, F64, F64, double, double, log(a[i]), false)                                                         \
    X(exp_f64, EXP, F64, F64, double, double, exp(a[i]), false)                                                       \
    X(sin_f64, SIN, F64, F64, double, double, sin(a[i]), false)                                                       \
    X(add_i64, ADD, I64, I64, int64_t, int64_t, a[i] + b[i], true)                                                    \
    X(multiply_i64, MULTIPLY, I64, I64, int64_t, int64_t, a[i] * b[i], true)                                          \
    X(divide_i64, DIVIDE, I64, I64, int64_t, int64_t, a[i] / b[i], true)                                              \
    X(modulo_i64, MODULO, I64, I64, int64_t, int64_t, (a[i] % b[i] + b[i]) % b[i], true)                              \
    X(less_i64, LESS, I64, BOOL, int64_t, bool, a[i] < b[i], true)                                                    \
    X(f64_to_i64, TO_I64, F64, I64, double, int64_t, a[i], true)                                                      \
    X(i64_to_f64, TO_F64, I64, F64, int64_t, double, a[i], true)                                                      \
    X(and_bool, AND, BOOL, BOOL, bool, bool, a[i] & b[i], true)

#define ROW(name, OP, operand, result, A, R, expression, is_exact) PLAIN(name, A, A, R, expression)
ROWS(ROW)
#undef ROW

typedef struct Row {
    const char *name;
    Op op;
    ScalarType operand, result;
    PlainLoop *plain;
    bool is_exact;
} Row;

static const Row rows[] = {
#define ROW(name, OP, operand, result, A, R, expression, is_exact)                                                    \
    {#name, OP_##OP, SCALAR_##operand, SCALAR_##result, plain_##name, is_exact},
    ROWS(ROW)
#undef ROW
};

static _Alignas(64) char arguments[2][LENGTH * sizeof(Scalar)];
static _Alignas(64) char results[2][LENGTH * sizeof(Scalar)];

static void fill(ScalarType type)
{
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < LENGTH; i++) {
            int64_t number = (int64_t)((i * 7919 + k * 104729) % 100003) + 1;
            Scalar scalar = type == SCALAR_F64    ? (Scalar){.f64 = (double)number / 1000.0}
                            : type == SCALAR_BOOL ? (Scalar){.integer = number & 1}
                                                  : (Scalar){.integer = number};
            cells_set_scalar(type, arguments[k], i, scalar);
        }
}

static void run(const Row *row, ElementwiseKernel kernel)
{
    Cells args[] = {{arguments[0], false}, {arguments[1], false}};
    if (kernel != NULL)
        kernel(row->operand, row->result, results[0], args, LENGTH);
    else
        row->plain(results[1], arguments[0], arguments[1]);
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Nanoseconds for an element, the best of several rounds; a null kernel is the plain loop. */
static double measure(const Row *row, ElementwiseKernel kernel)
{
    double best = (double)INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (int i = 0; i < REPEATS; i++)
            run(row, kernel);
        best = fmin(best, seconds() - start);
    }
    return best * 1e9 / REPEATS / LENGTH;
}

static bool is_right(const Row *row)
{
    return !row->is_exact || memcmp(results[0], results[1], LENGTH * leaf_size((LeafType)row->result)) == 0;
}

int main(void)
{
    bool all_right = true;
    printf("ns/element    plain C");
    for (VectorLevel level = 0; level <= vector_level(); level++)
        printf("%10s", vector_level_name(level));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const Row *row = &rows[i];
        fill(row->operand);
        printf("\n%-12s %8.3f", row->name, measure(row, NULL));
        for (VectorLevel level = 0; level <= vector_level(); level++) {
            printf("%10.3f", measure(row, elementwise_kernel_of(level, row->op, row->operand, row->result)));
            all_right = all_right && is_right(row);
        }
    }
    printf("\n%s", all_right ? "" : "results differ\n");
    return all_right ? 0 : 1;
}
