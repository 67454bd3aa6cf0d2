/* Conversions between scalar types. All are rows of OP_CONVERT; elementwise.c knows which operations are conversions.
 *
 * Those of integers never fail. A float is made whole first; a block where all are in range is then converted in one loop, any other
 * up to the first that is not. */
#include "vm/elementwise_float.h"
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

/* ---- from floats to integers: X(target, type of its range, least, limit); a character is any integer modulo 256 ---- */

#define INTEGER_TARGETS(X, ...)                                                                                       \
    X(I8, I8, -0x1p7, 0x1p7, __VA_ARGS__)                                                                             \
    X(I16, I16, -0x1p15, 0x1p15, __VA_ARGS__)                                                                         \
    X(I32, I32, -0x1p31, 0x1p31, __VA_ARGS__)                                                                         \
    X(I64, I64, -0x1p63, 0x1p63, __VA_ARGS__)                                                                         \
    X(U8, U8, 0.0, 0x1p8, __VA_ARGS__)                                                                                \
    X(U16, U16, 0.0, 0x1p16, __VA_ARGS__)                                                                             \
    X(U32, U32, 0.0, 0x1p32, __VA_ARGS__)                                                                             \
    X(U64, U64, 0.0, 0x1p64, __VA_ARGS__)                                                                             \
    X(CHAR, I64, -0x1p63, 0x1p63, __VA_ARGS__)

/* The whole numbers of one block, as f64. */
#define DEFINE_WHOLE(source, rounding)                                                                                \
    static void source##_##rounding(double *restrict whole, const Cell##source *from, size_t length)                  \
    {                                                                                                                 \
        for (size_t i = 0; i < length; i++)                                                                           \
            whole[i] = float_##rounding((double)from[i]);                                                             \
    }
FLOATS(DEFINE_WHOLE, trunc)
FLOATS(DEFINE_WHOLE, floor)
FLOATS(DEFINE_WHOLE, ceil)
FLOATS(DEFINE_WHOLE, round)
#undef DEFINE_WHOLE

/* Whether all are in [least, limit); nan is not. */
static bool all_inside(const double *whole, double least, double limit, size_t length)
{
    uint64_t outside = 0;
    for (size_t i = 0; i < length; i++)
        outside |= (uint64_t)!((whole[i] >= least) & (whole[i] < limit));
    return outside == 0;
}

static size_t count_inside(const double *whole, double least, double limit, size_t length)
{
    if (all_inside(whole, least, limit, length))
        return length;
    size_t i = 0;
    while (whole[i] >= least && whole[i] < limit)
        i++;
    return i;
}

/* In range and small: one addition. Else as C converts, which machines before AVX-512 do one at a time. */
#define DEFINE(target, range, least, limit, unused)                                                                   \
    static size_t whole_to_##target(Cell##target *to, const double *whole, size_t length)                             \
    {                                                                                                                 \
        size_t inside = count_inside(whole, least, limit, length);                                                    \
        if (limit < FLOAT_SMALL || all_inside(whole, -FLOAT_SMALL, FLOAT_SMALL, inside)) {                            \
            INDEPENDENT for (size_t i = 0; i < inside; i++)                                                           \
                to[i] = (Cell##target)float_to_small(whole[i]);                                                       \
        } else {                                                                                                      \
            INDEPENDENT for (size_t i = 0; i < inside; i++)                                                           \
                to[i] = (Cell##target)(Cell##range)whole[i];                                                          \
        }                                                                                                             \
        return inside;                                                                                                \
    }
INTEGER_TARGETS(DEFINE, )
#undef DEFINE

#define DEFINE(source, target, rounding)                                                                              \
    BLOCK_SIGNATURE(source##_##rounding##_##target)                                                                   \
    {                                                                                                                 \
        double whole[BLOCK_LENGTH];                                                                                   \
        source##_##rounding(whole, args[0], length);                                                                  \
        return whole_to_##target(out, whole, length);                                                                 \
    }                                                                                                                 \
    BLOCK_KERNEL(source##_##rounding##_##target, 1, Cell##target, sizeof(Cell##source))
#define DEFINE_TRUNC(target, range, least, limit, source) DEFINE(source, target, trunc)
INTEGER_TARGETS(DEFINE_TRUNC, F32)
INTEGER_TARGETS(DEFINE_TRUNC, F64)
FLOATS(DEFINE, I64, floor)
FLOATS(DEFINE, I64, ceil)
FLOATS(DEFINE, I64, round)
#undef DEFINE_TRUNC
#undef DEFINE

/* ---- the table ---- */

#define ROW(source, target, kernel) {OP_CONVERT, SCALAR_##source, SCALAR_##target, kernel},
#define ROW_OF_TARGET(target, word, source, cell) ROW(source, target, cell##_TO_##word)
#define ROW_OF_TRUNC(target, range, least, limit, source) ROW(source, target, source##_trunc_##target)
/* The source, and the types it is read as where it is extended, and where only bits matter. */
#define ROWS_OF_SOURCE(source, cell, word)                                                                            \
    INTEGERS_AS_WORDS(ROW_OF_TARGET, source, cell)                                                                    \
    ROW(source, CHAR, cell##_TO_U8)                                                                                   \
    ROW(source, BOOL, word##_TO_BOOL)                                                                                 \
    ROW(source, F32, cell##_TO_F32)                                                                                   \
    ROW(source, F64, cell##_TO_F64)
#define ROWS_OF_FLOAT(type, unused)                                                                                   \
    INTEGER_TARGETS(ROW_OF_TRUNC, type)                                                                               \
    ROW(type, BOOL, type##_TO_BOOL)                                                                                   \
    ROW(type, F32, type##_TO_F32)                                                                                     \
    ROW(type, F64, type##_TO_F64)
#define ROW_OF_ROUNDING(source, OP, rounding) {OP_##OP, SCALAR_##source, SCALAR_I64, source##_##rounding##_I64},

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
    FLOATS(ROW_OF_ROUNDING, TRUNC, trunc)
    FLOATS(ROW_OF_ROUNDING, ROUND, round)
    ELEMENTWISE_END,
};
