/* What the files of element-wise kernels share.
 *
 * Each file src/vm/elementwise_SET_vector.c is compiled once for every level of vector instructions (base/vector.h) and exports one table of
 * kernels, elementwise_SET_LEVEL. elementwise.c takes a kernel from the best level that the machine has, and what has no kernel in any set
 * goes through scalar_apply.
 *
 * There are two ways to write a kernel. KERNEL_1 and KERNEL_2 are for what never fails and is cheap: one loop over all elements for
 * each way the arguments can be uniform. BLOCK_KERNEL is for what is expensive, or must look at a block before it computes: its
 * loop sees contiguous arguments only, at most BLOCK_LENGTH elements at a time, since elementwise_in_blocks repeats uniform ones. */
#ifndef RUNNEL_VM_ELEMENTWISE_INTERNAL_H
#define RUNNEL_VM_ELEMENTWISE_INTERNAL_H

#include "vm/elementwise.h"
#include "base/vector.h"

/* X(set, ...) */
#define ELEMENTWISE_SETS(X, ...)                                                                                      \
    X(arithmetic, __VA_ARGS__)                                                                                        \
    X(compare, __VA_ARGS__)                                                                                           \
    X(convert, __VA_ARGS__)                                                                                           \
    X(divide, __VA_ARGS__)                                                                                            \
    X(math, __VA_ARGS__)                                                                                              \
    X(math_f32, __VA_ARGS__)
enum {
#define SET(name, unused) ELEMENTWISE_SET_##name,
    ELEMENTWISE_SETS(SET, )
#undef SET
        ELEMENTWISE_SET_COUNT
};

/* As elementwise_kernel, of one level; null where it has no kernel of its own. */
ElementwiseKernel elementwise_kernel_of(VectorLevel level, Op op, ScalarType operand, ScalarType result);

/* The types of an operation's arguments, whose number it gives; SCALAR_COUNT for one whose value does not matter. */
uint32_t elementwise_argument_types(Op op, ScalarType operand, ScalarType types[ELEMENTWISE_ARGUMENTS_MAX]);

typedef struct ElementwiseRow {
    Op op;
    ScalarType operand;
    ScalarType result; /* SCALAR_COUNT: the only one there is for the operand */
    ElementwiseKernel kernel; /* null in the last row of a table */
} ElementwiseRow;

/* ---- for the sets ---- */

#define ELEMENTWISE_TABLE_NAMED(name) const ElementwiseRow VECTOR_NAME(elementwise_##name)[]
#define ELEMENTWISE_TABLE(set) ELEMENTWISE_TABLE_NAMED(set)
#define ELEMENTWISE_END {OP_COUNT, SCALAR_COUNT, SCALAR_COUNT, NULL}

/* Before a loop whose steps are independent: `out` is an argument or does not overlap it. Some do not vectorise all the same, which is
 * no cause for warnings. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* The C types of cells; a bool is read as its byte. */
typedef uint8_t CellBOOL, CellCHAR, CellU8;
typedef uint16_t CellU16;
typedef uint32_t CellU32;
typedef uint64_t CellU64;
typedef int8_t CellI8;
typedef int16_t CellI16;
typedef int32_t CellI32;
typedef int64_t CellI64;
typedef float CellF32;
typedef double CellF64;

/* Where signs do not matter, integers and all that is as wide are computed as words without sign. X(type, word, ...) */
#define INTEGERS_AS_WORDS(X, ...)                                                                                     \
    X(I8, U8, __VA_ARGS__)                                                                                            \
    X(I16, U16, __VA_ARGS__)                                                                                          \
    X(I32, U32, __VA_ARGS__)                                                                                          \
    X(I64, U64, __VA_ARGS__)                                                                                          \
    X(U8, U8, __VA_ARGS__)                                                                                            \
    X(U16, U16, __VA_ARGS__)                                                                                          \
    X(U32, U32, __VA_ARGS__)                                                                                          \
    X(U64, U64, __VA_ARGS__)
#define WORDS(X, ...) X(U8, __VA_ARGS__) X(U16, __VA_ARGS__) X(U32, __VA_ARGS__) X(U64, __VA_ARGS__)
#define SIGNED_TYPES(X, ...) X(I8, __VA_ARGS__) X(I16, __VA_ARGS__) X(I32, __VA_ARGS__) X(I64, __VA_ARGS__)
#define FLOATS(X, ...) X(F32, __VA_ARGS__) X(F64, __VA_ARGS__)

/* 1 if one result is enough for all elements (but 0 for none), else `count`; elementwise_spread then copies it. */
static inline size_t elementwise_distinct(const Cells *args, uint32_t args_count, size_t count)
{
    for (uint32_t i = 0; i < args_count; i++)
        if (!args[i].is_uniform)
            return count;
    return count != 0;
}

/* Repeats the first cell up to `count` where only one was computed; gives `count`. */
size_t elementwise_spread(void *out, size_t cell_size, size_t computed, size_t count);

#define KERNEL_SIGNATURE(name)                                                                                        \
    static size_t name(ScalarType operand, ScalarType result, void *out, const Cells *args, size_t count)

/* `expression` is of a, the cell of type A. */
#define KERNEL_1(name, A, R, expression)                                                                              \
    KERNEL_SIGNATURE(name)                                                                                            \
    {                                                                                                                 \
        (void)operand, (void)result;                                                                                  \
        R *to = out;                                                                                                  \
        const A *from = args[0].data;                                                                                 \
        size_t length = elementwise_distinct(args, 1, count);                                                         \
        INDEPENDENT for (size_t i = 0; i < length; i++)                                                               \
        {                                                                                                             \
            const A a = from[i];                                                                                      \
            to[i] = (R)(expression);                                                                                  \
        }                                                                                                             \
        return elementwise_spread(to, sizeof(R), length, count);                                                      \
    }

#define KERNEL_LOOP_2(A, a_cell, B, b_cell, R, expression)                                                            \
    INDEPENDENT for (size_t i = 0; i < length; i++)                                                                   \
    {                                                                                                                 \
        const A a = a_cell;                                                                                           \
        const B b = b_cell;                                                                                           \
        to[i] = (R)(expression);                                                                                      \
    }

/* `expression` is of a and b. */
#define KERNEL_2(name, A, B, R, expression)                                                                           \
    KERNEL_SIGNATURE(name)                                                                                            \
    {                                                                                                                 \
        (void)operand, (void)result;                                                                                  \
        R *to = out;                                                                                                  \
        const A *x = args[0].data;                                                                                    \
        const B *y = args[1].data;                                                                                    \
        size_t length = elementwise_distinct(args, 2, count);                                                         \
        if (length == 0)                                                                                              \
            return 0;                                                                                                 \
        if (args[0].is_uniform == args[1].is_uniform) {                                                               \
            KERNEL_LOOP_2(A, x[i], B, y[i], R, expression)                                                            \
        } else if (args[1].is_uniform) {                                                                              \
            const B only = *y;                                                                                        \
            KERNEL_LOOP_2(A, x[i], B, only, R, expression)                                                            \
        } else {                                                                                                      \
            const A only = *x;                                                                                        \
            KERNEL_LOOP_2(A, only, B, y[i], R, expression)                                                            \
        }                                                                                                             \
        return elementwise_spread(to, sizeof(R), length, count);                                                      \
    }

/* Likewise where the order of arguments does not matter, which saves a loop. */
#define KERNEL_2_COMMUTATIVE(name, A, R, expression)                                                                  \
    KERNEL_SIGNATURE(name)                                                                                            \
    {                                                                                                                 \
        (void)operand, (void)result;                                                                                  \
        R *to = out;                                                                                                  \
        const A *x = args[args[0].is_uniform ? 1 : 0].data;                                                           \
        const A *y = args[args[0].is_uniform ? 0 : 1].data;                                                           \
        size_t length = elementwise_distinct(args, 2, count);                                                         \
        if (length == 0)                                                                                              \
            return 0;                                                                                                 \
        if (args[0].is_uniform == args[1].is_uniform) {                                                               \
            KERNEL_LOOP_2(A, x[i], A, y[i], R, expression)                                                            \
        } else {                                                                                                      \
            const A only = *y;                                                                                        \
            KERNEL_LOOP_2(A, x[i], A, only, R, expression)                                                            \
        }                                                                                                             \
        return elementwise_spread(to, sizeof(R), length, count);                                                      \
    }

enum { BLOCK_LENGTH = 512 };

/* Computes `length` elements, at most BLOCK_LENGTH, and gives how many leading ones have a result. */
typedef size_t (*BlockLoop)(void *out, const void *const *args, size_t length);

typedef struct BlockShape {
    uint32_t args_count;
    size_t out_size;
    size_t arg_sizes[ELEMENTWISE_ARGUMENTS_MAX];
} BlockShape;

size_t elementwise_in_blocks(BlockLoop loop, const BlockShape *shape, void *out, const Cells *args, size_t count);

/* BLOCK_KERNEL(name, args_count, R, sizes of the arguments...) after `static size_t name_block(...)`, a BlockLoop. */
#define BLOCK_SIGNATURE(name) static size_t name##_block(void *out, const void *const *args, size_t length)
#define BLOCK_KERNEL(name, count_of_args, R, ...)                                                                     \
    KERNEL_SIGNATURE(name)                                                                                            \
    {                                                                                                                 \
        static const BlockShape shape = {count_of_args, sizeof(R), {__VA_ARGS__}};                                    \
        (void)operand, (void)result;                                                                                  \
        return elementwise_in_blocks(name##_block, &shape, out, args, count);                                         \
    }

#endif
