/* The built-in operators on cells, for the loops of reductions, scans and places. Maxima and minima of floats are those of integers, their keys, which are
 * ordered as the floats are to be: -0 below +0, and nan beyond them all. */
#ifndef RUNNEL_VM_FOLD_KEYS_H
#define RUNNEL_VM_FOLD_KEYS_H

#include <stdint.h>

/* ---- keys ---- */

typedef int64_t __attribute__((may_alias)) Bits64; /* f64 as bits */
typedef int32_t __attribute__((may_alias)) Bits32;

#define SAME(x) (x)

/* Flips the magnitude of negative numbers; its own inverse. nan is above all. */
static inline int64_t key_f64(int64_t bits)
{
    return bits ^ (bits < 0 ? INT64_MAX : 0);
}

static inline int32_t key_f32(int32_t bits)
{
    return bits ^ (bits < 0 ? INT32_MAX : 0);
}

/* For minima the keys are shifted until +inf is the greatest integer: nan has come round to below -inf. */
#define LOW_SHIFT_F64 UINT64_C(0x000fffffffffffff)
#define LOW_SHIFT_F32 UINT32_C(0x007fffff)

static inline int64_t low_key_f64(int64_t bits)
{
    return (int64_t)((uint64_t)key_f64(bits) + LOW_SHIFT_F64);
}

static inline int64_t low_value_f64(int64_t key)
{
    return key_f64((int64_t)((uint64_t)key - LOW_SHIFT_F64));
}

static inline int32_t low_key_f32(int32_t bits)
{
    return (int32_t)((uint32_t)key_f32(bits) + LOW_SHIFT_F32);
}

static inline int32_t low_value_f32(int32_t key)
{
    return key_f32((int32_t)((uint32_t)key - LOW_SHIFT_F32));
}

#define KEY_LEAST_F64 (-INT64_C(0x7ff0000000000001)) /* of -inf */
#define KEY_LEAST_F32 (-INT32_C(0x7f800001))

/* ---- operators: the 1u keeps products of short integers from being of type int ---- */
#define PLUS(a, b) ((a) + (b))
#define MULT(a, b) (1u * (a) * (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define OR(a, b) ((a) | (b))
#define AND(a, b) ((a) & (b))
#define XOR(a, b) ((a) ^ (b))
#define TIMES(a, b) ((a) * (b)) /* of floats */

/* ---- tables by operator and type: ROW(OPERATOR, TYPE, name) for each type that an operator has loops for, which are named after it ---- */
#define INTEGERS(ROW, OPERATOR, operator)                                                                              \
    ROW(OPERATOR, I8, operator##_8) ROW(OPERATOR, I16, operator##_16) ROW(OPERATOR, I32, operator##_32)                \
    ROW(OPERATOR, I64, operator##_64) ROW(OPERATOR, U8, operator##_8) ROW(OPERATOR, U16, operator##_16)                \
    ROW(OPERATOR, U32, operator##_32) ROW(OPERATOR, U64, operator##_64)
#define NUMBERS(ROW, OPERATOR, operator)                                                                               \
    INTEGERS(ROW, OPERATOR, operator) ROW(OPERATOR, F32, operator##_f32) ROW(OPERATOR, F64, operator##_f64)
#define ORDINALS(ROW, OPERATOR, operator)                                                                              \
    ROW(OPERATOR, CHAR, operator##_u8) ROW(OPERATOR, I8, operator##_i8) ROW(OPERATOR, I16, operator##_i16)             \
    ROW(OPERATOR, I32, operator##_i32) ROW(OPERATOR, I64, operator##_i64) ROW(OPERATOR, U8, operator##_u8)             \
    ROW(OPERATOR, U16, operator##_u16) ROW(OPERATOR, U32, operator##_u32) ROW(OPERATOR, U64, operator##_u64)           \
    ROW(OPERATOR, F32, operator##_f32) ROW(OPERATOR, F64, operator##_f64)
#define LOGICALS(ROW, OPERATOR, operator, of_bool)                                                                     \
    INTEGERS(ROW, OPERATOR, operator) ROW(OPERATOR, BOOL, of_bool)

#endif
