/* Arithmetic, logic and bits that never fail; the quotients of floats among them.
 *
 * Words narrower than int are promoted to int, which could overflow: the factor 1u makes it unsigned, and does nothing to wider ones. */
#include "math/elementary.h"
#include "math/float_pieces.h"
#include "math/random.h"
#include "vm/elementwise_internal.h"

/* ---- words: the expression is of a and b without sign ---- */

#define WORD_COMMUTATIVE(X)                                                                                           \
    X(ADD, 1u * a + b)                                                                                                \
    X(MULTIPLY, 1u * a * b)                                                                                           \
    X(AND, a & b)                                                                                                     \
    X(OR, a | b)                                                                                                      \
    X(XOR, a ^ b)                                                                                                     \
    X(NAND, ~(a & b))                                                                                                 \
    X(NOR, ~(a | b))
#define WORD_UNARY(X)                                                                                                 \
    X(NEGATE, 0u - a)                                                                                                 \
    X(NOT, ~a)

#define DEFINE(word, OP, expression) KERNEL_2_COMMUTATIVE(OP##_##word, Cell##word, Cell##word, expression)
#define DEFINE_WORDS(OP, expression) WORDS(DEFINE, OP, expression)
WORD_COMMUTATIVE(DEFINE_WORDS)
#undef DEFINE
#define DEFINE(word, OP, expression) KERNEL_1(OP##_##word, Cell##word, Cell##word, expression)
WORD_UNARY(DEFINE_WORDS)
#undef DEFINE
#undef DEFINE_WORDS

#define DEFINE(word, unused) KERNEL_2(SUBTRACT_##word, Cell##word, Cell##word, Cell##word, 1u * a - b)
WORDS(DEFINE, )
#undef DEFINE

/* A count modulo the width, in a word of that width, so that all of a loop's vectors have the same length. Right shifts of negative
 * numbers extend the sign in the compilers we use. */
#define PLACES(count, word) ((Cell##word)(count) & (sizeof(Cell##word) * 8 - 1))
#define DEFINE(word, unused)                                                                                          \
    KERNEL_2(SHIFT_LEFT_##word, Cell##word, uint64_t, Cell##word, 1u * a << PLACES(b, word))                          \
    KERNEL_2(SHIFT_RIGHT_##word, Cell##word, uint64_t, Cell##word, a >> PLACES(b, word))                              \
    KERNEL_2(ROTATE_BITS_##word, Cell##word, uint64_t, Cell##word, 1u * a << PLACES(b, word) | a >> PLACES(0 - b, word))
WORDS(DEFINE, )
#undef DEFINE
#define DEFINE(type, word) KERNEL_2(SHIFT_RIGHT_##type, Cell##type, uint64_t, Cell##type, a >> PLACES(b, word))
DEFINE(I8, U8)
DEFINE(I16, U16)
DEFINE(I32, U32)
DEFINE(I64, U64)
#undef DEFINE

KERNEL_2_COMMUTATIVE(NAND_BOOL, CellBOOL, CellBOOL, (a & b) ^ 1)
KERNEL_2_COMMUTATIVE(NOR_BOOL, CellBOOL, CellBOOL, (a | b) ^ 1)
KERNEL_1(NOT_BOOL, CellBOOL, CellBOOL, a ^ 1)

/* ---- integers with their signs ---- */

#define DEFINE(type, unused)                                                                                          \
    KERNEL_2_COMMUTATIVE(MINIMUM_##type, Cell##type, Cell##type, a < b ? a : b)                                       \
    KERNEL_2_COMMUTATIVE(MAXIMUM_##type, Cell##type, Cell##type, a > b ? a : b)
WORDS(DEFINE, )
SIGNED_TYPES(DEFINE, )
#undef DEFINE

#define DEFINE(type, word) KERNEL_1(ABSOLUTE_##type, Cell##type, Cell##word, a < 0 ? 0u - (Cell##word)a : (Cell##word)a)
DEFINE(I8, U8)
DEFINE(I16, U16)
DEFINE(I32, U32)
DEFINE(I64, U64)
#undef DEFINE
#define DEFINE(word, unused) KERNEL_1(ABSOLUTE_##word, Cell##word, Cell##word, a)
WORDS(DEFINE, )
#undef DEFINE

/* ---- bits ---- */

#define DEFINE(word, unused)                                                                                          \
    KERNEL_1(POPCOUNT_##word, Cell##word, int64_t, __builtin_popcountll(a))                                           \
    KERNEL_1(LEADING_ZEROS_##word, Cell##word, int64_t,                                                               \
             a == 0 ? (int)sizeof a * 8 : __builtin_clzll(a) - (64 - (int)sizeof a * 8))                              \
    KERNEL_1(TRAILING_ZEROS_##word, Cell##word, int64_t, a == 0 ? (int)sizeof a * 8 : __builtin_ctzll(a))
WORDS(DEFINE, )
#undef DEFINE

KERNEL_1(BITS_FLOAT_U64, uint64_t, double, float_canonical_F64(math_of_bits(a)))
KERNEL_1(BITS_F32_U32, uint32_t, float, float_canonical_F32(float_of_bits_F32(a)))

/* ---- floats ---- */

#define FLOAT_COMMUTATIVE(X)                                                                                          \
    X(ADD, +)                                                                                                         \
    X(MULTIPLY, *)
#define FLOAT_ORDERED(X)                                                                                              \
    X(SUBTRACT, -)                                                                                                    \
    X(DIVIDE, /)

#define DEFINE(type, OP, operator) KERNEL_2_COMMUTATIVE(OP##_##type, Cell##type, Cell##type, float_canonical_##type(a operator b))
#define DEFINE_FLOATS(OP, operator) FLOATS(DEFINE, OP, operator)
FLOAT_COMMUTATIVE(DEFINE_FLOATS)
#undef DEFINE
#define DEFINE(type, OP, operator) KERNEL_2(OP##_##type, Cell##type, Cell##type, Cell##type, float_canonical_##type(a operator b))
FLOAT_ORDERED(DEFINE_FLOATS)
#undef DEFINE
#undef DEFINE_FLOATS

#define DEFINE(type, unused)                                                                                          \
    KERNEL_1(NEGATE_##type, Cell##type, Cell##type, float_canonical_##type(-a))                                       \
    KERNEL_1(ABSOLUTE_##type, Cell##type, Cell##type, float_magnitude_##type(a))                                      \
    KERNEL_2_COMMUTATIVE(MINIMUM_##type, Cell##type, Cell##type, float_minimum_##type(a, b))                          \
    KERNEL_2_COMMUTATIVE(MAXIMUM_##type, Cell##type, Cell##type, float_maximum_##type(a, b))
FLOATS(DEFINE, )
#undef DEFINE

/* ---- random numbers: with a uniform seed its round of the hash is computed once ---- */

KERNEL_2(RANDOM_I64, uint64_t, uint64_t, double, float_of_unsigned(random_hash(a, b) >> 11) * 0x1p-53)

/* ---- the table ---- */

#define ROW(operand, OP, kernel) {OP_##OP, SCALAR_##operand, SCALAR_COUNT, kernel},
#define ROW_OF_WORD(type, word, OP) ROW(type, OP, OP##_##word)
#define ROW_OF_TYPE(type, OP) ROW(type, OP, OP##_##type)
#define ROWS_OF_WORDS(OP, unused) INTEGERS_AS_WORDS(ROW_OF_WORD, OP)
#define ROWS_OF_INTEGERS(OP) WORDS(ROW_OF_TYPE, OP) SIGNED_TYPES(ROW_OF_TYPE, OP)
#define ROWS_OF_FLOATS(OP, unused) FLOATS(ROW_OF_TYPE, OP)

ELEMENTWISE_TABLE(arithmetic) = {
    WORD_COMMUTATIVE(ROWS_OF_WORDS)
    WORD_UNARY(ROWS_OF_WORDS)
    ROWS_OF_WORDS(SUBTRACT, )
    ROWS_OF_WORDS(SHIFT_LEFT, )
    ROWS_OF_WORDS(ROTATE_BITS, )
    ROWS_OF_WORDS(POPCOUNT, )
    ROWS_OF_WORDS(LEADING_ZEROS, )
    ROWS_OF_WORDS(TRAILING_ZEROS, )
    ROWS_OF_INTEGERS(SHIFT_RIGHT)
    ROWS_OF_INTEGERS(MINIMUM)
    ROWS_OF_INTEGERS(MAXIMUM)
    ROWS_OF_INTEGERS(ABSOLUTE)
    ROW(CHAR, MINIMUM, MINIMUM_U8)
    ROW(CHAR, MAXIMUM, MAXIMUM_U8)
    ROW(BOOL, AND, AND_U8)
    ROW(BOOL, OR, OR_U8)
    ROW(BOOL, XOR, XOR_U8)
    ROW(BOOL, NAND, NAND_BOOL)
    ROW(BOOL, NOR, NOR_BOOL)
    ROW(BOOL, NOT, NOT_BOOL)
    FLOAT_COMMUTATIVE(ROWS_OF_FLOATS)
    FLOAT_ORDERED(ROWS_OF_FLOATS)
    ROWS_OF_FLOATS(NEGATE, )
    ROWS_OF_FLOATS(ABSOLUTE, )
    ROWS_OF_FLOATS(MINIMUM, )
    ROWS_OF_FLOATS(MAXIMUM, )
    ROW(F64, FLOAT_BITS, ABSOLUTE_U64) /* a copy */
    ROW(F32, F32_BITS, ABSOLUTE_U32)
    ROW(U64, BITS_FLOAT, BITS_FLOAT_U64)
    ROW(U32, BITS_F32, BITS_F32_U32)
    ROW(I64, RANDOM, RANDOM_I64)
    ELEMENTWISE_END,
};
