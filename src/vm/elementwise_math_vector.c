/* Elementary functions, of f64 here; elementwise_math_f32_vector.c includes this file for f32. Which loop a function gets says its row in
 * math/functions.def; branches remain in those of kinds SCALAR and EXACT, some of which vectorise nevertheless. */
#include "math/elementary.h"
#include "math/float_pieces.h"
#include "vm/elementwise_internal.h"

#ifdef OF_F32
typedef float Number;
#define TYPE F32
#define TABLE math_f32
#define FUNCTION(name) math_##name##_f32
#define CANONICAL float_canonical_F32
#else
typedef double Number;
#define TYPE F64
#define TABLE math
#define FUNCTION(name) math_##name
#define CANONICAL float_canonical_F64
#endif

#define SIZE sizeof(Number)

#define LOOP_1(name, kernel)                                                                                          \
    BLOCK_SIGNATURE(kernel)                                                                                           \
    {                                                                                                                 \
        Number *to = out;                                                                                             \
        const Number *x = args[0];                                                                                    \
        INDEPENDENT for (size_t i = 0; i < length; i++)                                                               \
            to[i] = CANONICAL(FUNCTION(name)(x[i]));                                                                  \
        return length;                                                                                                \
    }
#define LOOP_2(name, kernel)                                                                                          \
    BLOCK_SIGNATURE(kernel)                                                                                           \
    {                                                                                                                 \
        Number *to = out;                                                                                             \
        const Number *x = args[0], *y = args[1];                                                                      \
        INDEPENDENT for (size_t i = 0; i < length; i++)                                                               \
            to[i] = CANONICAL(FUNCTION(name)(x[i], y[i]));                                                            \
        return length;                                                                                                \
    }

static bool all_are_small_angles(const Number *x, size_t length)
{
    uint64_t huge = 0;
    for (size_t i = 0; i < length; i++)
        huge |= FUNCTION(is_huge_angle)(x[i]);
    return huge == 0;
}

/* A huge angle is rare, and makes its block slow. */
#define LOOP_ANGLE(name, kernel)                                                                                      \
    LOOP_1(name##_fast, kernel##_fast)                                                                                \
    LOOP_1(name, kernel##_any)                                                                                        \
    BLOCK_SIGNATURE(kernel)                                                                                           \
    {                                                                                                                 \
        BlockLoop loop = all_are_small_angles(args[0], length) ? kernel##_fast_block : kernel##_any_block;            \
        return loop(out, args, length);                                                                               \
    }

/* ---- the functions ---- */

#define LOOP_1_VECTOR LOOP_1
#define LOOP_1_ANGLE LOOP_ANGLE
#define LOOP_1_SCALAR LOOP_1
#define LOOP_1_EXACT LOOP_1
#define LOOP_2_VECTOR LOOP_2
#define LOOP_2_SCALAR LOOP_2
#define LOOP_2_EXACT LOOP_2

#define MATH_1(name, kind)                                                                                            \
    LOOP_1_##kind(name, kernel_##name)                                                                                \
    BLOCK_KERNEL(kernel_##name, 1, Number, SIZE)
#define MATH_2(name, kind)                                                                                            \
    LOOP_2_##kind(name, kernel_##name)                                                                                \
    BLOCK_KERNEL(kernel_##name, 2, Number, SIZE, SIZE)
#include "math/functions.def"
#undef MATH_1
#undef MATH_2

LOOP_2(log_base, kernel_log_base)
BLOCK_KERNEL(kernel_log_base, 2, Number, SIZE, SIZE)

BLOCK_SIGNATURE(kernel_fma)
{
    Number *to = out;
    const Number *x = args[0], *y = args[1], *z = args[2];
    INDEPENDENT for (size_t i = 0; i < length; i++)
        to[i] = CANONICAL(FUNCTION(fma)(x[i], y[i], z[i]));
    return length;
}
BLOCK_KERNEL(kernel_fma, 3, Number, SIZE, SIZE, SIZE)

/* ---- the table ---- */

#define ROW_OF_TYPE_2(type, OP, name) {OP_##OP, SCALAR_##type, SCALAR_COUNT, kernel_##name},
#define ROW_OF_TYPE(type, OP, name) ROW_OF_TYPE_2(type, OP, name)

ELEMENTWISE_TABLE(TABLE) = {
#define SCALAR_MATH_1(OP, name) ROW_OF_TYPE(TYPE, OP, name)
#define SCALAR_MATH_2(OP, name) ROW_OF_TYPE(TYPE, OP, name)
#include "math/scalar_ops.def"
    ROW_OF_TYPE(TYPE, FMA, fma)
    ELEMENTWISE_END,
};
