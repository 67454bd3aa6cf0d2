/* The operations of math/scalar_ops.def as functions for loops that compilers vectorise. This header, with those it includes, is the
 * first part of every emitted C file (kernel/preamble.h); the elementary functions are in math_ops.h.
 *
 *   op_ADD_I64(a, b)                       an operation and the type of its first operand; results are those of scalar_apply
 *   op_CONVERT_F64_I32(a, &failed)         all conversions: from, to
 *   op_DIVIDE_I64(a, b, &failed)           what may fail sets the flag where it does, and then gives any value
 *   op_DIVIDE_I64_fast(a, b, &failed, &slow)
 *                                          vectorises where the exact function does not; sets `slow` where its value may be
 *                                          wrong. A block with that flag set is computed again with the exact function
 *
 * Flags are only ever set, never cleared; they are as wide as most elements, since loops that gather a bool do not vectorise. A bool is a byte, 0
 * or 1, for the same reason. A nan may have any bits, in operands and in results: what stores a float in memory makes it canonical
 * (canonical_F64). Nothing here is undefined in C for any operand.
 *
 * No function has a branch unless it says so. A condition between a constant and a value would be made one by gcc (it computes what
 * follows the constant in advance), so there are masks and sums instead. */
#ifndef RUNNEL_KERNEL_PREAMBLE_OPS_H
#define RUNNEL_KERNEL_PREAMBLE_OPS_H

#include "math/float_pieces.h"
#include "math/random.h"

/* A condition that hardly ever holds. Compilers think so of no branch themselves, and after many of those that end a function they take what follows for code that is never
 * reached, and make no vectors there. */
#if defined __has_builtin && __has_builtin(__builtin_expect_with_probability)
#define OP_RARELY(condition) __builtin_expect_with_probability(!!(condition), 0, 0.999999)
#else
#define OP_RARELY(condition) __builtin_expect(!!(condition), 0)
#endif

typedef uint64_t OpFlag;
typedef uint8_t OpBOOL, OpCHAR, OpU8;
typedef uint16_t OpU16;
typedef uint32_t OpU32;
typedef uint64_t OpU64;
typedef int8_t OpI8;
typedef int16_t OpI16;
typedef int32_t OpI32;
typedef int64_t OpI64;
typedef float OpF32;
typedef double OpF64;

#define canonical_F32 float_canonical_F32
#define canonical_F64 float_canonical_F64

/* Most programs have few types, and a file is compiled the faster the fewer functions it has: an emitted file defines those of its types
 * only, by defining these macros beforehand. */
#ifndef OP_IF_BOOL
#define OP_IF_BOOL(...) __VA_ARGS__
#define OP_IF_CHAR(...) __VA_ARGS__
#define OP_IF_I8(...) __VA_ARGS__
#define OP_IF_I16(...) __VA_ARGS__
#define OP_IF_I32(...) __VA_ARGS__
#define OP_IF_I64(...) __VA_ARGS__
#define OP_IF_U8(...) __VA_ARGS__
#define OP_IF_U16(...) __VA_ARGS__
#define OP_IF_U32(...) __VA_ARGS__
#define OP_IF_U64(...) __VA_ARGS__
#define OP_IF_F32(...) __VA_ARGS__
#define OP_IF_F64(...) __VA_ARGS__
#endif

/* X(type, word, ...): the type without sign that is as wide. */
#define OP_SIGNED(X, ...)                                                                                             \
    OP_IF_I8(X(I8, U8, __VA_ARGS__))                                                                                  \
    OP_IF_I16(X(I16, U16, __VA_ARGS__))                                                                               \
    OP_IF_I32(X(I32, U32, __VA_ARGS__))                                                                               \
    OP_IF_I64(X(I64, U64, __VA_ARGS__))
#define OP_UNSIGNED(X, ...)                                                                                           \
    OP_IF_U8(X(U8, U8, __VA_ARGS__))                                                                                  \
    OP_IF_U16(X(U16, U16, __VA_ARGS__))                                                                               \
    OP_IF_U32(X(U32, U32, __VA_ARGS__))                                                                               \
    OP_IF_U64(X(U64, U64, __VA_ARGS__))
#define OP_INTEGERS(X, ...) OP_SIGNED(X, __VA_ARGS__) OP_UNSIGNED(X, __VA_ARGS__)
#define OP_WIDTH(type) ((int)sizeof(Op##type) * 8)

/* ---- operands that are harmless, and the flags of those that were not ---- */

/* 1 instead of 0. */
#define OP_PIECES(type, word, unused)                                                                                 \
    MATH_INLINE Op##type op_nonzero_##type(Op##type b, OpFlag *failed)                                                \
    {                                                                                                                 \
        *failed |= b == 0;                                                                                            \
        return (Op##type)(b + (b == 0));                                                                              \
    }
OP_INTEGERS(OP_PIECES, )
#undef OP_PIECES

/* 0 instead of what is not above < x < limit, as nan is not. */
MATH_INLINE double op_inside(double x, double above, double limit, OpFlag *failed)
{
    bool is_inside = (x > above) & (x < limit);
    *failed |= !is_inside;
    return math_of_bits(math_bits(x) & (UINT64_C(0) - (uint64_t)is_inside));
}

MATH_INLINE uint64_t op_exponent(int64_t b, OpFlag *failed)
{
    *failed |= (uint64_t)b >> 63;
    return (uint64_t)b & ~(UINT64_C(0) - ((uint64_t)b >> 63));
}

/* ---- division ----
 *
 * Machines divide integers one at a time, but floats in vectors. For integers |a| and |b| up to 2^p, p the precision, trunc(a / b)
 * in floats is the integer quotient (vm/elementwise_divide_vector.c says why). So those of 8 and 16 bits are divided as f32, those of 32
 * as f64; those of 64 too, in the fast functions, below 2^50. A divisor that the compiler knows becomes a product, which is better. */

MATH_INLINE OpI64 op_small_I64(OpI64 x, OpFlag *slow)
{
    *slow |= ((uint64_t)x + (UINT64_C(1) << 50)) >> 51;
    return x;
}

MATH_INLINE double op_float_of_small(OpI64 x, OpFlag *slow)
{
    return FLOAT_CONVERTS_IN_VECTORS ? (double)x : float_of_small(op_small_I64(x, slow));
}

MATH_INLINE OpI64 op_small_U64(OpU64 x, OpFlag *slow)
{
    *slow |= x >> 50;
    return (int64_t)x;
}

/* The least integer divided by -1 wraps: the divisor becomes 1, and the quotient's sign is turned. */
#define OP_PIECES(type, word, unused)                                                                                 \
    MATH_INLINE Op##type op_divide_one_##type(Op##type a, Op##type b)                                                 \
    {                                                                                                                 \
        Op##word turn = (Op##word)-(b == -1), quotient = (Op##word)(a / (b + 2 * (b == -1)));                         \
        return (Op##type)((quotient ^ turn) - 1u * turn);                                                             \
    }                                                                                                                 \
    MATH_INLINE Op##type op_remainder_one_##type(Op##type a, Op##type b)                                              \
    {                                                                                                                 \
        return (Op##type)(a % (b + 2 * (b == -1)));                                                                   \
    }
OP_SIGNED(OP_PIECES, )
#undef OP_PIECES
#define OP_PIECES(type, word, unused)                                                                                 \
    MATH_INLINE Op##type op_divide_one_##type(Op##type a, Op##type b)                                                 \
    {                                                                                                                 \
        return (Op##type)(a / b);                                                                                     \
    }                                                                                                                 \
    MATH_INLINE Op##type op_remainder_one_##type(Op##type a, Op##type b)                                              \
    {                                                                                                                 \
        return (Op##type)(a % b);                                                                                     \
    }
OP_UNSIGNED(OP_PIECES, )
#undef OP_PIECES

/* A divisor that the compiler knows to be a power of two: quotients and remainders are shifts and masks, also of 64 bits in vectors. */
#define OP_IS_SHIFT(b) (__builtin_constant_p(b) && (b) > 0 && ((b) & ((b) - 1)) == 0)

#define OP_QUOTIENT_16(a, b) ((int32_t)((float)(a) / (float)(b)))
#define OP_QUOTIENT_32(a, b) float_to_small(float_trunc(float_of_small(a) / float_of_small(b)))

#define OP_PIECES(type, word, quotient_by_floats)                                                                     \
    MATH_INLINE Op##type op_divide_##type(Op##type a, Op##type b)                                                     \
    {                                                                                                                 \
        if (__builtin_constant_p(b) || !FLOAT_ROUNDS_IN_VECTORS)                                                      \
            return op_divide_one_##type(a, b);                                                                        \
        return (Op##type)quotient_by_floats(a, b);                                                                    \
    }                                                                                                                 \
    MATH_INLINE Op##type op_remainder_##type(Op##type a, Op##type b)                                                  \
    {                                                                                                                 \
        return (Op##type)((Op##word)a - 1u * (Op##word)op_divide_##type(a, b) * (Op##word)b);                         \
    }
OP_IF_I8(OP_PIECES(I8, U8, OP_QUOTIENT_16))
OP_IF_I16(OP_PIECES(I16, U16, OP_QUOTIENT_16))
OP_IF_I32(OP_PIECES(I32, U32, OP_QUOTIENT_32))
OP_IF_U8(OP_PIECES(U8, U8, OP_QUOTIENT_16))
OP_IF_U16(OP_PIECES(U16, U16, OP_QUOTIENT_16))
OP_IF_U32(OP_PIECES(U32, U32, OP_QUOTIENT_32))
#undef OP_PIECES

#define op_divide_I64 op_divide_one_I64
#define op_divide_U64 op_divide_one_U64
#define op_remainder_I64 op_remainder_one_I64
#define op_remainder_U64 op_remainder_one_U64

/* What has not the sign of the divisor, and is not 0, is one divisor short. */
#define OP_PIECES(type, word, unused)                                                                                 \
    MATH_INLINE Op##type op_modulo_##type(Op##type rest, Op##type b)                                                  \
    {                                                                                                                 \
        bool is_short = (rest != 0) & ((rest ^ b) < 0);                                                               \
        return (Op##type)((Op##word)rest + ((Op##word)b & (Op##word)-is_short));                                      \
    }
OP_SIGNED(OP_PIECES, )
#undef OP_PIECES

/* By a divisor that the compiler knows, |x| < 2^50 is multiplied with a reciprocal that is too large by a part d of itself, 2^-52 < d < 3 * 2^-52: rounding the product leaves less than
 * 7 * 2^-53 of error, so it does not reach the integer above the quotient, from which that is at least 1 / |y| away, and it is not below one that the quotient is. */
MATH_INLINE double op_whole_quotient(double x, double y, bool is_known)
{
    return float_trunc(is_known ? x * (1.0 / y * (1.0 + 0x1p-51)) : x / y);
}

MATH_INLINE int64_t op_divide_small(int64_t a, int64_t b)
{
    double y = __builtin_constant_p(b) ? (double)b : float_of_small(b);
    return float_to_small(op_whole_quotient(float_of_small(a), y, __builtin_constant_p(b)));
}

MATH_INLINE int64_t op_remainder_small(int64_t a, int64_t b)
{
    double x = float_of_small(a), y = __builtin_constant_p(b) ? (double)b : float_of_small(b);
    return float_to_small(x - op_whole_quotient(x, y, __builtin_constant_p(b)) * y);
}

/* ---- powers: the product of the squares x, x^2, x^4, ... whose bits are set in the exponent, from the low end (math/basic.h). One that
 * the compiler knows and that is short is a few products; any other a loop, except in the fast functions ---- */

#define OP_SHORT_EXPONENT 64

/* The step for the exponent's lowest bit. 1 * x is x. */
#define OP_POWER_STEP(type, square)                                                                                   \
    product = (Op##type)(1u * product * (exponent & 1 ? x : (Op##type)1));                                            \
    exponent >>= 1;                                                                                                   \
    square

#define OP_PIECES(type, one_power)                                                                                    \
    MATH_INLINE Op##type op_power_short_##type(Op##type x, uint64_t exponent)                                         \
    {                                                                                                                 \
        Op##type product = (Op##type)1;                                                                               \
        OP_POWER_STEP(type, x = (Op##type)(1u * x * x);)                                                              \
        OP_POWER_STEP(type, x = (Op##type)(1u * x * x);)                                                              \
        OP_POWER_STEP(type, x = (Op##type)(1u * x * x);)                                                              \
        OP_POWER_STEP(type, x = (Op##type)(1u * x * x);)                                                              \
        OP_POWER_STEP(type, x = (Op##type)(1u * x * x);)                                                              \
        OP_POWER_STEP(type, )                                                                                         \
        return product;                                                                                               \
    }                                                                                                                 \
    MATH_INLINE Op##type op_power_##type(Op##type x, uint64_t exponent)                                               \
    {                                                                                                                 \
        if (__builtin_constant_p(exponent) && exponent < OP_SHORT_EXPONENT)                                           \
            return op_power_short_##type(x, exponent);                                                                \
        return (Op##type)one_power(x, exponent);                                                                      \
    }

static inline uint64_t op_word_power(uint64_t x, uint64_t exponent)
{
    uint64_t product = 1;
    for (; exponent != 0; exponent >>= 1, x *= x)
        product *= exponent & 1 ? x : 1;
    return product;
}

OP_PIECES(U8, op_word_power)
OP_PIECES(U16, op_word_power)
OP_PIECES(U32, op_word_power)
OP_PIECES(U64, op_word_power)
OP_PIECES(F32, math_power_f32)
OP_PIECES(F64, math_power)
#undef OP_PIECES

MATH_INLINE uint64_t op_short(uint64_t exponent, OpFlag *slow)
{
    *slow |= exponent & ~(uint64_t)(OP_SHORT_EXPONENT - 1);
    return exponent;
}

/* ---- bits of words, which are widened to 64 ---- */

#if defined(__AVX512VPOPCNTDQ__)
#define op_popcount __builtin_popcountll
#else
/* Sums of neighbours, 2, 4, 8, ... bits wide. The usual product at the end would be taken for a popcount, of which there is none in
 * vectors. */
MATH_INLINE int64_t op_popcount(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    bits += bits >> 8;
    bits += bits >> 16;
    bits += bits >> 32;
    return (int64_t)(bits & 0x7f);
}
#endif

/* The bits from the highest one set downwards. */
MATH_INLINE uint64_t op_filled(uint64_t bits)
{
    bits |= bits >> 1;
    bits |= bits >> 2;
    bits |= bits >> 4;
    bits |= bits >> 8;
    bits |= bits >> 16;
    bits |= bits >> 32;
    return bits;
}

/* Swaps neighbours of `width` bits, which are those of the mask and the others. */
#define OP_SWAP(bits, width, mask) (((bits) >> (width) & UINT64_C(mask)) | ((bits) & UINT64_C(mask)) << (width))

MATH_INLINE uint64_t op_reverse(uint64_t bits)
{
    bits = OP_SWAP(bits, 1, 0x5555555555555555);
    bits = OP_SWAP(bits, 2, 0x3333333333333333);
    bits = OP_SWAP(bits, 4, 0x0f0f0f0f0f0f0f0f);
    return __builtin_bswap64(bits);
}

/* ---- the rows: what there is, for the definitions below and for those who go through all of them ----
 *
 *   UNARY(OP, A, R, expression)                op_OP_A(a) of type R
 *   BINARY(OP, A, B, R, expression)            op_OP_A(a, b)
 *   TERNARY(OP, A, R, expression)              op_OP_A(a, b, c), all of type A
 *   UNARY_PARTIAL, BINARY_PARTIAL              with `failed`
 *   UNARY_FAST                                 op_OP_A_fast with `slow`, beside one of those above (math_ops.h)
 *   BINARY_PARTIAL_FAST                        with both flags
 *   CONVERSION(A, R, expression)               op_CONVERT_A_R(a)
 *   CONVERSION_PARTIAL                         with `failed`
 *   CONVERSION_FAST                            op_CONVERT_A_R_fast with `slow`, beside CONVERSION */

#define OP_COMPARISON_ROWS(A, BINARY)                                                                                 \
    BINARY(EQUAL, A, A, BOOL, a == b)                                                                                 \
    BINARY(NOT_EQUAL, A, A, BOOL, a != b)                                                                             \
    BINARY(LESS, A, A, BOOL, a < b)                                                                                   \
    BINARY(LESS_EQUAL, A, A, BOOL, a <= b)                                                                            \
    BINARY(GREATER, A, A, BOOL, a > b)                                                                                \
    BINARY(GREATER_EQUAL, A, A, BOOL, a >= b)
#define OP_EXTREME_ROWS(A, BINARY)                                                                                    \
    BINARY(MINIMUM, A, A, A, a < b ? a : b)                                                                           \
    BINARY(MAXIMUM, A, A, A, a > b ? a : b)

/* Without sign; what is narrower than int would be promoted to it and could overflow: the factor 1u makes it unsigned. A count is
 * taken modulo the width, in a word of that width. Right shifts of negative numbers extend the sign in the compilers we use. */
#define OP_A(W) ((Op##W)a)
#define OP_B(W) ((Op##W)b)
#define OP_PLACES(W, count) ((Op##W)(count) & (sizeof(Op##W) * 8 - 1))
#define OP_INTEGER_ROWS(A, W, UNARY, BINARY, BINARY_PARTIAL)                                                          \
    BINARY(ADD, A, A, A, 1u * OP_A(W) + OP_B(W))                                                                      \
    BINARY(SUBTRACT, A, A, A, 1u * OP_A(W) - OP_B(W))                                                                 \
    BINARY(MULTIPLY, A, A, A, 1u * OP_A(W) * OP_B(W))                                                                 \
    UNARY(NEGATE, A, A, 0u - OP_A(W))                                                                                 \
    BINARY(AND, A, A, A, a & b)                                                                                       \
    BINARY(OR, A, A, A, a | b)                                                                                        \
    BINARY(XOR, A, A, A, a ^ b)                                                                                       \
    BINARY(NAND, A, A, A, ~(a & b))                                                                                   \
    BINARY(NOR, A, A, A, ~(a | b))                                                                                    \
    UNARY(NOT, A, A, ~a)                                                                                              \
    OP_COMPARISON_ROWS(A, BINARY)                                                                                     \
    OP_EXTREME_ROWS(A, BINARY)                                                                                        \
    BINARY(SHIFT_LEFT, A, I64, A, 1u * OP_A(W) << OP_PLACES(W, b))                                                    \
    BINARY(SHIFT_RIGHT, A, I64, A, a >> OP_PLACES(W, b))                                                              \
    BINARY(ROTATE_BITS, A, I64, A, 1u * OP_A(W) << OP_PLACES(W, b) | 1u * OP_A(W) >> OP_PLACES(W, 0 - (uint64_t)b))   \
    UNARY(POPCOUNT, A, I64, op_popcount(OP_A(W)))                                                                     \
    UNARY(LEADING_ZEROS, A, I64, OP_WIDTH(W) - op_popcount(op_filled(OP_A(W))))                                       \
    UNARY(TRAILING_ZEROS, A, I64, op_popcount((Op##W)(~OP_A(W) & (OP_A(W) - 1u))))                                    \
    UNARY(REVERSE_BITS, A, A, op_reverse(OP_A(W)) >> (64 - OP_WIDTH(W)))                                              \
    BINARY_PARTIAL(DIVIDE, A, A, A, op_divide_##A(a, op_nonzero_##A(b, failed)))                                      \
    BINARY_PARTIAL(REMAINDER, A, A, A, op_remainder_##A(a, op_nonzero_##A(b, failed)))                                \
    BINARY_PARTIAL(POWER, A, I64, A, op_power_##W(OP_A(W), op_exponent(b, failed)))
#define OP_SIGNED_ROWS(A, W, UNARY, BINARY_PARTIAL)                                                                   \
    UNARY(ABSOLUTE, A, A, a < 0 ? 0u - OP_A(W) : OP_A(W))                                                             \
    BINARY_PARTIAL(MODULO, A, A, A,                                                                                   \
                   OP_IS_SHIFT(b) ? a & (b - 1) : op_modulo_##A(op_remainder_##A(a, op_nonzero_##A(b, failed)), b))
#define OP_UNSIGNED_ROWS(A, W, UNARY, BINARY_PARTIAL)                                                                 \
    UNARY(ABSOLUTE, A, A, a)                                                                                          \
    BINARY_PARTIAL(MODULO, A, A, A, op_remainder_##A(a, op_nonzero_##A(b, failed)))

#define OP_SMALL(A, x) op_small_##A(x, slow)
#define OP_SMALL_DIVISOR(A) OP_SMALL(A, op_nonzero_##A(b, failed))
#define OP_FAST_INTEGER_ROWS(A, MODULO_OF, BINARY_PARTIAL_FAST)                                                       \
    BINARY_PARTIAL_FAST(DIVIDE, A, A, A,                                                                              \
                        OP_IS_SHIFT(b) ? a / b : (Op##A)op_divide_small(OP_SMALL(A, a), OP_SMALL_DIVISOR(A)))         \
    BINARY_PARTIAL_FAST(REMAINDER, A, A, A,                                                                           \
                        OP_IS_SHIFT(b) ? a % b : (Op##A)op_remainder_small(OP_SMALL(A, a), OP_SMALL_DIVISOR(A)))      \
    BINARY_PARTIAL_FAST(MODULO, A, A, A,                                                                              \
                        OP_IS_SHIFT(b) ? a & (b - 1)                                                                  \
                                       : (Op##A)MODULO_OF(op_remainder_small(OP_SMALL(A, a), OP_SMALL_DIVISOR(A)), b))
#define OP_MODULO_WITHOUT_SIGN(rest, b) (rest)
#define OP_FAST_POWER_ROW(A, W, BINARY_PARTIAL_FAST)                                                                  \
    BINARY_PARTIAL_FAST(POWER, A, I64, A, op_power_short_##W((Op##W)a, op_short(op_exponent(b, failed), slow)))

/* A float's questions are of its value: nans have no sign. */
#define OP_NAME_F64(name) math_##name
#define OP_NAME_F32(name) math_##name##_f32
#define OP_I64_LIMITS -0x1.0000000000001p63, 0x1p63
#define OP_FLOAT_ROWS(A, UNARY, BINARY, TERNARY, UNARY_PARTIAL, BINARY_PARTIAL)                                       \
    BINARY(ADD, A, A, A, a + b)                                                                                       \
    BINARY(SUBTRACT, A, A, A, a - b)                                                                                  \
    BINARY(MULTIPLY, A, A, A, a * b)                                                                                  \
    BINARY(DIVIDE, A, A, A, a / b)                                                                                    \
    UNARY(NEGATE, A, A, -a)                                                                                           \
    UNARY(ABSOLUTE, A, A, float_magnitude_##A(a))                                                                     \
    BINARY(MINIMUM, A, A, A, float_minimum_##A(a, b))                                                                 \
    BINARY(MAXIMUM, A, A, A, float_maximum_##A(a, b))                                                                 \
    OP_COMPARISON_ROWS(A, BINARY)                                                                                     \
    UNARY(IS_NAN, A, BOOL, a != a)                                                                                    \
    UNARY(IS_INF, A, BOOL, float_magnitude_##A(a) == (Op##A)INFINITY)                                                 \
    UNARY(IS_FINITE, A, BOOL, float_magnitude_##A(a) < (Op##A)INFINITY)                                               \
    UNARY(SIGNBIT, A, BOOL, (a == a) & (float_bits_##A(a) >> (sizeof a * 8 - 1)))                                     \
    BINARY_PARTIAL(POWER, A, I64, A, op_power_##A(a, op_exponent(b, failed)))                                         \
    UNARY_PARTIAL(FLOOR, A, I64, float_to_signed(op_inside(float_floor((double)a), OP_I64_LIMITS, failed)))           \
    UNARY_PARTIAL(CEIL, A, I64, float_to_signed(op_inside(float_ceil((double)a), OP_I64_LIMITS, failed)))             \
    UNARY_PARTIAL(TRUNC, A, I64, float_to_signed(op_inside((double)a, OP_I64_LIMITS, failed)))                        \
    UNARY_PARTIAL(ROUND, A, I64, float_to_signed(op_inside(float_round((double)a), OP_I64_LIMITS, failed)))           \
    UNARY(FLOOR_FLOAT, A, A, float_floor((double)a))                                                                  \
    UNARY(CEIL_FLOAT, A, A, float_ceil((double)a))                                                                    \
    UNARY(TRUNC_FLOAT, A, A, float_trunc((double)a))                                                                  \
    UNARY(ROUND_FLOAT, A, A, float_round((double)a))                                                                  \
    UNARY(ROUND_EVEN, A, A, OP_NAME_##A(round_even)(a))                                                               \
    UNARY(SQRT, A, A, OP_NAME_##A(sqrt)(a))                                                                           \
    TERNARY(FMA, A, A, OP_NAME_##A(fma)(a, b, c))                                                                     \
    BINARY(FMOD, A, A, A, OP_NAME_##A(fmod)(a, b)) /* branches */                                                     \
    BINARY(IEEE_REMAINDER, A, A, A, OP_NAME_##A(remainder)(a, b)) /* branches */                                      \
    BINARY(FDIM, A, A, A, OP_NAME_##A(fdim)(a, b))                                                                    \
    BINARY(COPYSIGN, A, A, A, OP_NAME_##A(copysign)(a, b))                                                            \
    BINARY(NEXTAFTER, A, A, A, OP_NAME_##A(nextafter)(a, b))                                                          \
    BINARY(LDEXP, A, I64, A, OP_NAME_##A(ldexp)(a, b))                                                                \
    UNARY(LOGB, A, A, OP_NAME_##A(logb)(a))                                                                           \
    UNARY(SIGNIFICAND, A, A, OP_NAME_##A(significand)(a))

#define OP_BOOL_ROWS(UNARY, BINARY)                                                                                   \
    BINARY(AND, BOOL, BOOL, BOOL, a & b)                                                                              \
    BINARY(OR, BOOL, BOOL, BOOL, a | b)                                                                               \
    BINARY(XOR, BOOL, BOOL, BOOL, a ^ b)                                                                              \
    BINARY(NAND, BOOL, BOOL, BOOL, (a & b) ^ 1)                                                                       \
    BINARY(NOR, BOOL, BOOL, BOOL, (a | b) ^ 1)                                                                        \
    UNARY(NOT, BOOL, BOOL, a ^ 1)                                                                                     \
    OP_COMPARISON_ROWS(BOOL, BINARY)

#define OP_BITS_ROWS(UNARY, BINARY)                                                                                   \
    UNARY(FLOAT_BITS, F64, U64, float_bits_F64(canonical_F64(a)))                                                     \
    UNARY(F32_BITS, F32, U32, float_bits_F32(canonical_F32(a)))                                                       \
    UNARY(BITS_FLOAT, U64, F64, float_of_bits_F64(a))                                                                 \
    UNARY(BITS_F32, U32, F32, float_of_bits_F32(a))                                                                   \
    BINARY(RANDOM, I64, I64, F64, float_of_unsigned(random_hash((uint64_t)a, (uint64_t)b) >> 11) * 0x1p-53)

/* ---- conversions: integers wrap; floats are cut to their whole part, which must be in range. What is narrow passes through int32_t,
 * which machines convert to in vectors. A character is any integer modulo 256. -2^63 - 1 would be the next number of an f64. ---- */

#define OP_FROM_INTEGER_ROWS(A, to_f32, to_f64, CONVERSION)                                                           \
    OP_IF_BOOL(CONVERSION(A, BOOL, a != 0))                                                                           \
    OP_IF_CHAR(CONVERSION(A, CHAR, a))                                                                                \
    OP_IF_I8(CONVERSION(A, I8, a))                                                                                    \
    OP_IF_I16(CONVERSION(A, I16, a))                                                                                  \
    OP_IF_I32(CONVERSION(A, I32, a))                                                                                  \
    OP_IF_I64(CONVERSION(A, I64, a))                                                                                  \
    OP_IF_U8(CONVERSION(A, U8, a))                                                                                    \
    OP_IF_U16(CONVERSION(A, U16, a))                                                                                  \
    OP_IF_U32(CONVERSION(A, U32, a))                                                                                  \
    OP_IF_U64(CONVERSION(A, U64, a))                                                                                  \
    OP_IF_F32(CONVERSION(A, F32, to_f32(a)))                                                                          \
    OP_IF_F64(CONVERSION(A, F64, to_f64(a)))
#define OP_FROM_FLOAT_ROWS(A, CONVERSION, CONVERSION_PARTIAL)                                                         \
    OP_IF_BOOL(CONVERSION(A, BOOL, a != 0))                                                                           \
    OP_IF_CHAR(CONVERSION_PARTIAL(A, CHAR, float_to_signed(op_inside((double)a, OP_I64_LIMITS, failed))))             \
    OP_IF_I8(CONVERSION_PARTIAL(A, I8, FLOAT_CUT((int32_t)op_inside((double)a, -129.0, 0x1p7, failed))))              \
    OP_IF_I16(CONVERSION_PARTIAL(A, I16, FLOAT_CUT((int32_t)op_inside((double)a, -32769.0, 0x1p15, failed))))         \
    OP_IF_I32(CONVERSION_PARTIAL(A, I32, FLOAT_CUT((int32_t)op_inside((double)a, -2147483649.0, 0x1p31, failed))))    \
    OP_IF_I64(CONVERSION_PARTIAL(A, I64, float_to_signed(op_inside((double)a, OP_I64_LIMITS, failed))))               \
    OP_IF_U8(CONVERSION_PARTIAL(A, U8, FLOAT_CUT((int32_t)op_inside((double)a, -1.0, 0x1p8, failed))))                \
    OP_IF_U16(CONVERSION_PARTIAL(A, U16, FLOAT_CUT((int32_t)op_inside((double)a, -1.0, 0x1p16, failed))))             \
    OP_IF_U32(CONVERSION_PARTIAL(A, U32, float_to_small(float_trunc(op_inside((double)a, -1.0, 0x1p32, failed)))))    \
    OP_IF_U64(CONVERSION_PARTIAL(A, U64, float_to_unsigned(op_inside((double)a, -1.0, 0x1p64, failed))))              \
    OP_IF_F32(CONVERSION(A, F32, (float)a))                                                                           \
    OP_IF_F64(CONVERSION(A, F64, (double)a))

#define OP_CONVERSION_ROWS(CONVERSION, CONVERSION_PARTIAL)                                                            \
    OP_IF_BOOL(OP_FROM_INTEGER_ROWS(BOOL, (float), (double), CONVERSION))                                             \
    OP_IF_CHAR(OP_FROM_INTEGER_ROWS(CHAR, (float), (double), CONVERSION))                                             \
    OP_IF_I8(OP_FROM_INTEGER_ROWS(I8, (float), (double), CONVERSION))                                                 \
    OP_IF_I16(OP_FROM_INTEGER_ROWS(I16, (float), (double), CONVERSION))                                               \
    OP_IF_I32(OP_FROM_INTEGER_ROWS(I32, (float), (double), CONVERSION))                                               \
    OP_IF_I64(OP_FROM_INTEGER_ROWS(I64, single_of_signed, float_of_signed, CONVERSION))                               \
    OP_IF_U8(OP_FROM_INTEGER_ROWS(U8, (float), (double), CONVERSION))                                                 \
    OP_IF_U16(OP_FROM_INTEGER_ROWS(U16, (float), (double), CONVERSION))                                               \
    OP_IF_U32(OP_FROM_INTEGER_ROWS(U32, float_of_small, float_of_small, CONVERSION)) /* exact as f64 */               \
    OP_IF_U64(OP_FROM_INTEGER_ROWS(U64, single_of_unsigned, float_of_unsigned, CONVERSION))                           \
    OP_IF_F32(OP_FROM_FLOAT_ROWS(F32, CONVERSION, CONVERSION_PARTIAL))                                                \
    OP_IF_F64(OP_FROM_FLOAT_ROWS(F64, CONVERSION, CONVERSION_PARTIAL))

#define OP_FAST_CONVERSION_ROWS(CONVERSION_FAST) OP_IF_I64(OP_IF_F64(CONVERSION_FAST(I64, F64, op_float_of_small(a, slow))))

#define OP_ROWS(UNARY, BINARY, TERNARY, UNARY_PARTIAL, BINARY_PARTIAL, BINARY_PARTIAL_FAST)                           \
    OP_INTEGERS(OP_INTEGER_ROWS, UNARY, BINARY, BINARY_PARTIAL)                                                       \
    OP_SIGNED(OP_SIGNED_ROWS, UNARY, BINARY_PARTIAL)                                                                  \
    OP_UNSIGNED(OP_UNSIGNED_ROWS, UNARY, BINARY_PARTIAL)                                                              \
    OP_INTEGERS(OP_FAST_POWER_ROW, BINARY_PARTIAL_FAST)                                                               \
    OP_IF_I64(OP_FAST_INTEGER_ROWS(I64, op_modulo_I64, BINARY_PARTIAL_FAST))                                          \
    OP_IF_U64(OP_FAST_INTEGER_ROWS(U64, OP_MODULO_WITHOUT_SIGN, BINARY_PARTIAL_FAST))                                 \
    OP_IF_F32(OP_FLOAT_ROWS(F32, UNARY, BINARY, TERNARY, UNARY_PARTIAL, BINARY_PARTIAL))                              \
    OP_IF_F32(OP_FAST_POWER_ROW(F32, F32, BINARY_PARTIAL_FAST))                                                       \
    OP_IF_F64(OP_FLOAT_ROWS(F64, UNARY, BINARY, TERNARY, UNARY_PARTIAL, BINARY_PARTIAL))                              \
    OP_IF_F64(OP_FAST_POWER_ROW(F64, F64, BINARY_PARTIAL_FAST))                                                       \
    OP_IF_BOOL(OP_BOOL_ROWS(UNARY, BINARY))                                                                           \
    OP_IF_CHAR(OP_COMPARISON_ROWS(CHAR, BINARY) OP_EXTREME_ROWS(CHAR, BINARY))                                        \
    OP_BITS_ROWS(UNARY, BINARY)

/* ---- the functions ---- */

#define OP_DEFINE(R, name, parameters, expression)                                                                    \
    MATH_INLINE Op##R name parameters                                                                                 \
    {                                                                                                                 \
        return (Op##R)(expression);                                                                                   \
    }
#define OP_DEFINE_UNARY(OP, A, R, expression) OP_DEFINE(R, op_##OP##_##A, (Op##A a), expression)
#define OP_DEFINE_BINARY(OP, A, B, R, expression) OP_DEFINE(R, op_##OP##_##A, (Op##A a, Op##B b), expression)
#define OP_DEFINE_TERNARY(OP, A, R, expression) OP_DEFINE(R, op_##OP##_##A, (Op##A a, Op##A b, Op##A c), expression)
#define OP_DEFINE_UNARY_PARTIAL(OP, A, R, expression) OP_DEFINE(R, op_##OP##_##A, (Op##A a, OpFlag *failed), expression)
#define OP_DEFINE_BINARY_PARTIAL(OP, A, B, R, expression)                                                             \
    OP_DEFINE(R, op_##OP##_##A, (Op##A a, Op##B b, OpFlag *failed), expression)
#define OP_DEFINE_UNARY_FAST(OP, A, R, expression) OP_DEFINE(R, op_##OP##_##A##_fast, (Op##A a, OpFlag *slow), expression)
#define OP_DEFINE_BINARY_PARTIAL_FAST(OP, A, B, R, expression)                                                        \
    OP_DEFINE(R, op_##OP##_##A##_fast, (Op##A a, Op##B b, OpFlag *failed, OpFlag *slow), expression)
#define OP_DEFINE_CONVERSION(A, R, expression) OP_DEFINE(R, op_CONVERT_##A##_##R, (Op##A a), expression)
#define OP_DEFINE_CONVERSION_PARTIAL(A, R, expression) OP_DEFINE(R, op_CONVERT_##A##_##R, (Op##A a, OpFlag *failed), expression)
#define OP_DEFINE_CONVERSION_FAST(A, R, expression) OP_DEFINE(R, op_CONVERT_##A##_##R##_fast, (Op##A a, OpFlag *slow), expression)

OP_ROWS(OP_DEFINE_UNARY, OP_DEFINE_BINARY, OP_DEFINE_TERNARY, OP_DEFINE_UNARY_PARTIAL, OP_DEFINE_BINARY_PARTIAL,
        OP_DEFINE_BINARY_PARTIAL_FAST)
OP_CONVERSION_ROWS(OP_DEFINE_CONVERSION, OP_DEFINE_CONVERSION_PARTIAL)
OP_FAST_CONVERSION_ROWS(OP_DEFINE_CONVERSION_FAST)

#endif
