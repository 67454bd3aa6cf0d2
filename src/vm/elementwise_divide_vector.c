/* What fails for some integers: quotients and remainders by zero, powers with a negative exponent.
 *
 * Machines divide integers one at a time, but floats in vectors. For integers |a| and |b| up to 2^p, p the precision, trunc(a / b)
 * in floats is the integer quotient: a / b lies below the next integer q + 1 by at least 1 / b, which is more than half an ulp
 * there since (q + 1) b <= a + b <= 2^(p + 1). q b and the remainder are then exact too. So integers of 8 and 16 bits are divided as
 * f32, those of 32 as f64, and those of 64 as f64 where all in a block are small, as they mostly are. */
#include "math/float_pieces.h"
#include "vm/elementwise_internal.h"

/* ---- the position of what has no result ---- */

#define DEFINE(word, unused)                                                                                          \
    static size_t count_nonzero_##word(const Cell##word *divisors, size_t length)                                     \
    {                                                                                                                 \
        Cell##word zeros = 0;                                                                                         \
        for (size_t i = 0; i < length; i++)                                                                           \
            zeros |= (Cell##word)(divisors[i] == 0);                                                                  \
        if (zeros == 0)                                                                                               \
            return length;                                                                                            \
        size_t i = 0;                                                                                                 \
        while (divisors[i] != 0)                                                                                      \
            i++;                                                                                                      \
        return i;                                                                                                     \
    }
WORDS(DEFINE, )
#undef DEFINE

static size_t count_not_negative(const int64_t *exponents, size_t length)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < length; i++)
        bits |= (uint64_t)exponents[i];
    if (bits >> 63 == 0)
        return length;
    size_t i = 0;
    while (exponents[i] >= 0)
        i++;
    return i;
}

/* ---- quotient, remainder and modulus in floats ---- */

MATH_INLINE float whole_F32(float x)
{
    return (float)(int32_t)x;
}

#define whole_F64 float_trunc

#define DEFINE(type, unused)                                                                                          \
    MATH_INLINE Cell##type divide_##type(Cell##type a, Cell##type b)                                                  \
    {                                                                                                                 \
        return whole_##type(a / b);                                                                                   \
    }                                                                                                                 \
    MATH_INLINE Cell##type remainder_##type(Cell##type a, Cell##type b)                                               \
    {                                                                                                                 \
        return a - whole_##type(a / b) * b;                                                                           \
    }                                                                                                                 \
    MATH_INLINE Cell##type modulo_##type(Cell##type a, Cell##type b)                                                  \
    {                                                                                                                 \
        Cell##type rest = remainder_##type(a, b);                                                                     \
        return rest + (rest * b < 0 ? b : 0);                                                                         \
    }
FLOATS(DEFINE, )
#undef DEFINE

/* How an integer type gets to floats and back. */
#define TO_FLOAT_32(x) ((float)(x))
#define FROM_FLOAT_32(x) ((int32_t)(x))
#define TO_FLOAT_64(x) float_of_small((int64_t)(x))
#define FROM_FLOAT_64(x) float_to_small(x)

#define LOOP_IN_FLOATS(type, operation, width)                                                                        \
    INDEPENDENT for (size_t i = 0; i < length; i++)                                                                   \
        to[i] = (Cell##type)FROM_FLOAT_##width(operation##_F##width(TO_FLOAT_##width(a[i]), TO_FLOAT_##width(b[i])));

#define NARROW(type, operation)                                                                                       \
    static void operation##_##type(Cell##type *to, const Cell##type *a, const Cell##type *b, size_t length)           \
    {                                                                                                                 \
        LOOP_IN_FLOATS(type, operation, 32)                                                                           \
    }

/* ---- 32 and 64 bits: in floats or else one by one ---- */

#define WIDE(type, operation)                                                                                         \
    static void operation##_##type(Cell##type *to, const Cell##type *a, const Cell##type *b, size_t length)           \
    {                                                                                                                 \
        if (FLOAT_ROUNDS_IN_VECTORS && all_small_##type(a, b, length)) {                                              \
            LOOP_IN_FLOATS(type, operation, 64)                                                                       \
        } else {                                                                                                      \
            for (size_t i = 0; i < length; i++)                                                                       \
                to[i] = operation##_one_##type(a[i], b[i]);                                                           \
        }                                                                                                             \
    }

/* Whether all |x| < 2^50. */
static bool all_small_I64(const int64_t *a, const int64_t *b, size_t length)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < length; i++)
        bits |= ((uint64_t)a[i] + (UINT64_C(1) << 50)) | ((uint64_t)b[i] + (UINT64_C(1) << 50));
    return bits >> 51 == 0;
}

static bool all_small_U64(const uint64_t *a, const uint64_t *b, size_t length)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < length; i++)
        bits |= a[i] | b[i];
    return bits >> 50 == 0;
}

#define all_small_I32(a, b, length) true
#define all_small_U32(a, b, length) true

/* The least integer divided by -1 wraps. */
#define DEFINE(type, word)                                                                                            \
    MATH_INLINE Cell##type divide_one_##type(Cell##type a, Cell##type b)                                              \
    {                                                                                                                 \
        return b == -1 ? (Cell##type)(0 - (Cell##word)a) : a / b;                                                     \
    }                                                                                                                 \
    MATH_INLINE Cell##type remainder_one_##type(Cell##type a, Cell##type b)                                           \
    {                                                                                                                 \
        return b == -1 ? 0 : a % b;                                                                                   \
    }                                                                                                                 \
    MATH_INLINE Cell##type modulo_one_##type(Cell##type a, Cell##type b)                                              \
    {                                                                                                                 \
        Cell##type rest = remainder_one_##type(a, b);                                                                 \
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;                                                  \
    }
DEFINE(I32, U32)
DEFINE(I64, U64)
#undef DEFINE
#define DEFINE(type)                                                                                                  \
    MATH_INLINE Cell##type divide_one_##type(Cell##type a, Cell##type b)                                              \
    {                                                                                                                 \
        return a / b;                                                                                                 \
    }                                                                                                                 \
    MATH_INLINE Cell##type remainder_one_##type(Cell##type a, Cell##type b)                                           \
    {                                                                                                                 \
        return a % b;                                                                                                 \
    }
DEFINE(U32)
DEFINE(U64)
#undef DEFINE

/* ---- the kernels of division: X(OP, operation, type, word, loop); without signs, mod is rem ---- */

#define DIVISIONS_OF_SIGNED(X, OP, operation)                                                                         \
    X(OP, operation, I8, U8, NARROW)                                                                                  \
    X(OP, operation, I16, U16, NARROW)                                                                                \
    X(OP, operation, I32, U32, WIDE)                                                                                  \
    X(OP, operation, I64, U64, WIDE)
#define DIVISIONS_OF_WORDS(X, OP, operation)                                                                          \
    X(OP, operation, U8, U8, NARROW)                                                                                  \
    X(OP, operation, U16, U16, NARROW)                                                                                \
    X(OP, operation, U32, U32, WIDE)                                                                                  \
    X(OP, operation, U64, U64, WIDE)
#define DIVISIONS(X)                                                                                                  \
    DIVISIONS_OF_SIGNED(X, DIVIDE, divide)                                                                            \
    DIVISIONS_OF_SIGNED(X, REMAINDER, remainder)                                                                      \
    DIVISIONS_OF_SIGNED(X, MODULO, modulo)                                                                            \
    DIVISIONS_OF_WORDS(X, DIVIDE, divide)                                                                             \
    DIVISIONS_OF_WORDS(X, REMAINDER, remainder)

#define DEFINE(OP, operation, type, word, LOOP)                                                                       \
    LOOP(type, operation)                                                                                             \
    BLOCK_SIGNATURE(OP##_##type)                                                                                      \
    {                                                                                                                 \
        size_t computed = count_nonzero_##word(args[1], length);                                                      \
        operation##_##type(out, args[0], args[1], computed);                                                          \
        return computed;                                                                                              \
    }                                                                                                                 \
    BLOCK_KERNEL(OP##_##type, 2, Cell##type, sizeof(Cell##type), sizeof(Cell##type))
DIVISIONS(DEFINE)
#undef DEFINE

/* ---- powers: the product of the squares x, x^2, x^4, ... whose bits are set in the exponent, from the low end (math/power.h) ---- */

static bool all_same(const int64_t *exponents, size_t length)
{
    uint64_t difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= (uint64_t)(exponents[i] ^ exponents[0]);
    return difference == 0;
}

#define DEFINE_POWER(type, one_power, canonical)                                                                      \
    /* One exponent: step by step for the whole block. */                                                             \
    static void power_same_##type(Cell##type *to, const Cell##type *a, uint64_t exponent, size_t length)              \
    {                                                                                                                 \
        Cell##type squares[BLOCK_LENGTH], product[BLOCK_LENGTH];                                                      \
        memcpy(squares, a, length * sizeof *a);                                                                       \
        for (size_t i = 0; i < length; i++)                                                                           \
            product[i] = 1;                                                                                           \
        for (bool is_first = true; exponent != 0; exponent >>= 1) {                                                   \
            if (exponent & 1) {                                                                                       \
                for (size_t i = 0; i < length; i++)                                                                   \
                    product[i] = is_first ? squares[i] : (Cell##type)(1u * product[i] * squares[i]);                  \
                is_first = false;                                                                                     \
            }                                                                                                         \
            for (size_t i = 0; i < length; i++)                                                                       \
                squares[i] = (Cell##type)(1u * squares[i] * squares[i]);                                              \
        }                                                                                                             \
        for (size_t i = 0; i < length; i++)                                                                           \
            to[i] = canonical(product[i]);                                                                            \
    }                                                                                                                 \
    BLOCK_SIGNATURE(POWER_##type)                                                                                     \
    {                                                                                                                 \
        Cell##type *to = out;                                                                                         \
        const Cell##type *a = args[0];                                                                                \
        const int64_t *exponents = args[1];                                                                           \
        size_t computed = count_not_negative(exponents, length);                                                      \
        if (computed != 0 && all_same(exponents, computed))                                                           \
            power_same_##type(to, a, (uint64_t)exponents[0], computed);                                               \
        else                                                                                                          \
            for (size_t i = 0; i < computed; i++)                                                                     \
                to[i] = canonical((Cell##type)one_power(a[i], (uint64_t)exponents[i]));                               \
        return computed;                                                                                              \
    }                                                                                                                 \
    BLOCK_KERNEL(POWER_##type, 2, Cell##type, sizeof(Cell##type), sizeof(int64_t))

static uint64_t word_power(uint64_t x, uint64_t exponent)
{
    uint64_t product = 1;
    for (; exponent != 0; exponent >>= 1, x *= x)
        product *= exponent & 1 ? x : 1;
    return product;
}

WORDS(DEFINE_POWER, word_power, )
DEFINE_POWER(F32, math_power_f32, float_canonical_F32)
DEFINE_POWER(F64, math_power, float_canonical_F64)

/* ---- the table ---- */

#define ROW(operand, OP, kernel) {OP_##OP, SCALAR_##operand, SCALAR_COUNT, kernel},
#define ROW_OF_DIVISION(OP, operation, type, word, loop) ROW(type, OP, OP##_##type)
#define ROW_OF_MODULO(OP, operation, type, word, loop) ROW(type, MODULO, OP##_##type)
#define ROW_OF_POWER(type, word, unused) ROW(type, POWER, POWER_##word)

ELEMENTWISE_TABLE(divide) = {
    DIVISIONS(ROW_OF_DIVISION)
    DIVISIONS_OF_WORDS(ROW_OF_MODULO, REMAINDER, remainder)
    INTEGERS_AS_WORDS(ROW_OF_POWER, )
    ROW_OF_POWER(F32, F32, )
    ROW_OF_POWER(F64, F64, )
    ELEMENTWISE_END,
};
