/* Comparisons, and what is asked of floats: results are bools.
 *
 * Bools and characters compare as bytes. Whether words are equal does not depend on signs. a > b is b < a. */
#include "math/float_pieces.h"
#include "vm/elementwise_internal.h"

#define DEFINE(type, unused)                                                                                          \
    KERNEL_2_COMMUTATIVE(EQUAL_##type, Cell##type, CellBOOL, a == b)                                                  \
    KERNEL_2_COMMUTATIVE(NOT_EQUAL_##type, Cell##type, CellBOOL, a != b)
WORDS(DEFINE, )
FLOATS(DEFINE, )
#undef DEFINE

#define SWAPPED_KERNEL(name, kernel)                                                                                  \
    KERNEL_SIGNATURE(name)                                                                                            \
    {                                                                                                                 \
        return kernel(operand, result, out, (const Cells[]){args[1], args[0]}, count);                                \
    }

#define DEFINE(type, unused)                                                                                          \
    KERNEL_2(LESS_##type, Cell##type, Cell##type, CellBOOL, a < b)                                                    \
    KERNEL_2(LESS_EQUAL_##type, Cell##type, Cell##type, CellBOOL, a <= b)                                             \
    SWAPPED_KERNEL(GREATER_##type, LESS_##type)                                                                       \
    SWAPPED_KERNEL(GREATER_EQUAL_##type, LESS_EQUAL_##type)
WORDS(DEFINE, )
SIGNED_TYPES(DEFINE, )
FLOATS(DEFINE, )
#undef DEFINE

/* Nans are canonical and have no sign. */
#define DEFINE(type, unused)                                                                                          \
    KERNEL_1(IS_NAN_##type, Cell##type, CellBOOL, a != a)                                                             \
    KERNEL_1(IS_INF_##type, Cell##type, CellBOOL, float_magnitude_##type(a) == (Cell##type)INFINITY)                  \
    KERNEL_1(IS_FINITE_##type, Cell##type, CellBOOL, float_magnitude_##type(a) < (Cell##type)INFINITY)                \
    KERNEL_1(SIGNBIT_##type, Cell##type, CellBOOL, float_bits_##type(a) >> (sizeof a * 8 - 1))
FLOATS(DEFINE, )
#undef DEFINE

/* ---- the table ---- */

#define ROW(operand, OP, kernel) {OP_##OP, SCALAR_##operand, SCALAR_COUNT, kernel},
#define ROW_OF_WORD(type, word, OP) ROW(type, OP, OP##_##word)
#define ROW_OF_TYPE(type, OP) ROW(type, OP, OP##_##type)
#define ROWS_OF_BYTES(OP) ROW(BOOL, OP, OP##_U8) ROW(CHAR, OP, OP##_U8)
#define ROWS_OF_FLOATS(OP) FLOATS(ROW_OF_TYPE, OP)
#define ROWS_OF_EQUALITY(OP) INTEGERS_AS_WORDS(ROW_OF_WORD, OP) ROWS_OF_BYTES(OP) ROWS_OF_FLOATS(OP)
#define ROWS_OF_ORDER(OP) WORDS(ROW_OF_TYPE, OP) SIGNED_TYPES(ROW_OF_TYPE, OP) ROWS_OF_BYTES(OP) ROWS_OF_FLOATS(OP)

ELEMENTWISE_TABLE(compare) = {
    ROWS_OF_EQUALITY(EQUAL)
    ROWS_OF_EQUALITY(NOT_EQUAL)
    ROWS_OF_ORDER(LESS)
    ROWS_OF_ORDER(LESS_EQUAL)
    ROWS_OF_ORDER(GREATER)
    ROWS_OF_ORDER(GREATER_EQUAL)
    ROWS_OF_FLOATS(IS_NAN)
    ROWS_OF_FLOATS(IS_INF)
    ROWS_OF_FLOATS(IS_FINITE)
    ROWS_OF_FLOATS(SIGNBIT)
    ELEMENTWISE_END,
};
