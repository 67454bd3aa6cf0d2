/* Conversions between scalar types. All are rows of OP_CONVERT; elementwise.c knows which operations are conversions.
 *
 * Those of integers never fail. A block of floats that are all in range is converted in one loop, any other up to the first that is
 * not. */
#include "math/float_pieces.h"
#include "vm/elementwise_internal.h"

/* ---- from integers: wrapping, so the target's sign does not matter, nor the source's where it is not extended ---- */

#define SOURCES(X, ...) WORDS(X, __VA_ARGS__) SIGNED_TYPES(X, __VA_ARGS__)

#define DEFINE(source, target) KERNEL_1(source##_TO_##target, Cell##source, Cell##target, a)
SOURCES(DEFINE, U8)
SOURCES(DEFINE, U16)
SOURCES(DEFINE, U32)
SOURCES(DEFINE, U64)
SOURCES(DEFINE, F32)
#undef DEFINE

#define DEFINE(word, unused) KERNEL_1(word##_TO_BOOL, Cell##word, CellBOOL, a != 0)
WORDS(DEFINE, )
#undef DEFINE

#define DEFINE(source, convert) KERNEL_1(source##_TO_F64, Cell##source, double, convert(a))
DEFINE(U8, (double))
DEFINE(U16, (double))
DEFINE(U32, float_of_small)
DEFINE(U64, float_of_unsigned)
DEFINE(I8, (double))
DEFINE(I16, (double))
DEFINE(I32, (double))
DEFINE(I64, float_of_signed)
#undef DEFINE

/* ---- between floats, and whether they are zero ---- */

KERNEL_1(F32_TO_F32, float, float, float_canonical_F32(a))
KERNEL_1(F32_TO_F64, float, double, float_canonical_F64((double)a))
KERNEL_1(F64_TO_F32, double, float, float_canonical_F32((float)a))
KERNEL_1(F64_TO_F64, double, double, float_canonical_F64(a))
KERNEL_1(F32_TO_BOOL, float, CellBOOL, a != 0.0f)
KERNEL_1(F64_TO_BOOL, double, CellBOOL, a != 0.0)

/* ---- from floats to integers: X(target, above, limit, way), for above < x < limit ----
 *
 * C cuts off the fraction. What is narrow passes through int32_t, which machines convert to in vectors; for what is wide see below. A
 * character is any integer modulo 256. The number before -2^63 is as near as f64 comes to -2^63 - 1. */

#define INTEGER_TARGETS(X, ...)                                                                                       \
    X(I8, -129.0, 0x1p7, NARROW, __VA_ARGS__)                                                                         \
    X(I16, -32769.0, 0x1p15, NARROW, __VA_ARGS__)                                                                     \
    X(I32, -2147483649.0, 0x1p31, NARROW, __VA_ARGS__)                                                                \
    X(I64, -0x1.0000000000001p63, 0x1p63, WIDE_SIGNED, __VA_ARGS__)                                                   \
    X(U8, -1.0, 0x1p8, NARROW, __VA_ARGS__)                                                                           \
    X(U16, -1.0, 0x1p16, NARROW, __VA_ARGS__)                                                                         \
    X(U32, -1.0, 0x1p32, WIDE_SIGNED, __VA_ARGS__)                                                                    \
    X(U64, -1.0, 0x1p64, WIDE_UNSIGNED, __VA_ARGS__)                                                                  \
    X(CHAR, -0x1.0000000000001p63, 0x1p63, WIDE_SIGNED, __VA_ARGS__)

#define DEFINE(source, unused)                                                                                        \
    /* Whether above < x < limit for all; nan is nowhere. */                                                          \
    static bool all_inside_##source(const Cell##source *from, double above, double limit, size_t length)              \
    {                                                                                                                 \
        uint64_t outside = 0;                                                                                         \
        for (size_t i = 0; i < length; i++)                                                                           \
            outside |= (uint64_t)!(((double)from[i] > above) & ((double)from[i] < limit));                            \
        return outside == 0;                                                                                          \
    }                                                                                                                 \
    static size_t count_inside_##source(const Cell##source *from, double above, double limit, size_t length)          \
    {                                                                                                                 \
        if (all_inside_##source(from, above, limit, length))                                                          \
            return length;                                                                                            \
        size_t i = 0;                                                                                                 \
        while ((double)from[i] > above && (double)from[i] < limit)                                                    \
            i++;                                                                                                      \
        return i;                                                                                                     \
    }
FLOATS(DEFINE, )
#undef DEFINE

/* Where machines convert to 64 bits one at a time, an addition does it for a block of small ones. */
static const bool is_small_better = FLOAT_ROUNDS_IN_VECTORS && !FLOAT_CONVERTS_IN_VECTORS;

MATH_INLINE int64_t small_of(double x)
{
    return float_to_small(float_trunc(x));
}

#define CONVERT_LOOP(target, convert)                                                                                 \
    INDEPENDENT for (size_t i = 0; i < length; i++)                                                                   \
        to[i] = (Cell##target)convert(from[i]);
#define CONVERT_INSIDE(target, source, above, limit, convert)                                                         \
    length = count_inside_##source(from, above, limit, length);                                                       \
    CONVERT_LOOP(target, convert)
#define CONVERT_WIDE(target, source, above, limit, convert)                                                           \
    if (is_small_better && all_inside_##source(from, fmax(above, -FLOAT_SMALL), fmin(limit, FLOAT_SMALL), length)) {  \
        CONVERT_LOOP(target, small_of)                                                                                \
        return length;                                                                                                \
    }                                                                                                                 \
    CONVERT_INSIDE(target, source, above, limit, convert)

#define NARROW(target, source, above, limit) CONVERT_INSIDE(target, source, above, limit, (int32_t))
#define WIDE_SIGNED(target, source, above, limit) CONVERT_WIDE(target, source, above, limit, (int64_t))
#define WIDE_UNSIGNED(target, source, above, limit) CONVERT_WIDE(target, source, above, limit, (uint64_t))

#define DEFINE(target, above, limit, CONVERT, source)                                                                 \
    BLOCK_SIGNATURE(source##_TO_##target)                                                                             \
    {                                                                                                                 \
        Cell##target *to = out;                                                                                       \
        const Cell##source *from = args[0];                                                                           \
        CONVERT(target, source, above, limit)                                                                         \
        return length;                                                                                                \
    }                                                                                                                 \
    BLOCK_KERNEL(source##_TO_##target, 1, Cell##target, sizeof(Cell##source))
INTEGER_TARGETS(DEFINE, F32)
INTEGER_TARGETS(DEFINE, F64)
#undef DEFINE

/* ---- rounding to int in other ways than towards zero ---- */

#define DEFINE(source, rounding)                                                                                      \
    BLOCK_SIGNATURE(source##_##rounding)                                                                              \
    {                                                                                                                 \
        double whole[BLOCK_LENGTH];                                                                                   \
        const Cell##source *from = args[0];                                                                           \
        for (size_t i = 0; i < length; i++)                                                                           \
            whole[i] = float_##rounding((double)from[i]);                                                             \
        return F64_TO_I64_block(out, (const void *[]){whole}, length);                                                \
    }                                                                                                                 \
    BLOCK_KERNEL(source##_##rounding, 1, int64_t, sizeof(Cell##source))
FLOATS(DEFINE, floor)
FLOATS(DEFINE, ceil)
FLOATS(DEFINE, round)
#undef DEFINE

/* ---- the table ---- */

#define ROW(source, target, kernel) {OP_CONVERT, SCALAR_##source, SCALAR_##target, kernel},
#define ROW_OF_TARGET(target, word, source, cell) ROW(source, target, cell##_TO_##word)
#define ROW_OF_FLOAT(target, above, limit, way, source) ROW(source, target, source##_TO_##target)
/* The source, and the types it is read as where it is extended, and where only bits matter. */
#define ROWS_OF_SOURCE(source, cell, word)                                                                            \
    INTEGERS_AS_WORDS(ROW_OF_TARGET, source, cell)                                                                    \
    ROW(source, CHAR, cell##_TO_U8)                                                                                   \
    ROW(source, BOOL, word##_TO_BOOL)                                                                                 \
    ROW(source, F32, cell##_TO_F32)                                                                                   \
    ROW(source, F64, cell##_TO_F64)
#define ROWS_OF_FLOAT(type, unused)                                                                                   \
    INTEGER_TARGETS(ROW_OF_FLOAT, type)                                                                               \
    ROW(type, BOOL, type##_TO_BOOL)                                                                                   \
    ROW(type, F32, type##_TO_F32)                                                                                     \
    ROW(type, F64, type##_TO_F64)
#define ROW_OF_ROUNDING(source, OP, rounding) {OP_##OP, SCALAR_##source, SCALAR_I64, source##_##rounding},

ELEMENTWISE_TABLE(convert) = {
    ROWS_OF_SOURCE(BOOL, U8, U8)
    ROWS_OF_SOURCE(CHAR, U8, U8)
    ROWS_OF_SOURCE(I8, I8, U8)
    ROWS_OF_SOURCE(I16, I16, U16)
    ROWS_OF_SOURCE(I32, I32, U32)
    ROWS_OF_SOURCE(I64, I64, U64)
    ROWS_OF_SOURCE(U8, U8, U8)
    ROWS_OF_SOURCE(U16, U16, U16)
    ROWS_OF_SOURCE(U32, U32, U32)
    ROWS_OF_SOURCE(U64, U64, U64)
    FLOATS(ROWS_OF_FLOAT, )
    FLOATS(ROW_OF_ROUNDING, FLOOR, floor)
    FLOATS(ROW_OF_ROUNDING, CEIL, ceil)
    FLOATS(ROW_OF_ROUNDING, TRUNC, TO_I64)
    FLOATS(ROW_OF_ROUNDING, ROUND, round)
    ELEMENTWISE_END,
};
