/* For tests that go through all operations on scalars: which there are, on which types, and random operands that are likely to matter. */
#ifndef RUNNEL_TESTS_UNIT_SCALAR_CASES_H
#define RUNNEL_TESTS_UNIT_SCALAR_CASES_H

#include "math/elementary.h"
#include "math/random.h"
#include "math/scalar.h"

#include <string.h>

/* ---- operands ---- */

static uint64_t random_count = 1;

static uint64_t next_random(void)
{
    return random_hash(random_count++, 0);
}

/* Blocks of numbers below 2^50 take other ways than blocks with one above. */
typedef enum Flavour {
    FLAVOUR_SMALL,
    FLAVOUR_BELOW,
    FLAVOUR_ABOVE,
    FLAVOUR_BITS,
    FLAVOUR_SPECIAL,
    FLAVOUR_COUNT
} Flavour;

static double random_float(Flavour flavour)
{
    static const double specials[] = {0.0,  -0.0,   1.0,     -1.0,   0.5,     -0.5,    1.5,    2.5,     -2.5,    0x1p-1074, -0x1p-149,
                                      127.5, 128.0, -128.5,  255.9, -0.9,    32768.0, 65536.0, 0x1p31,  -0x1p31, 0x1p32,    0x1p51,
                                      -0x1p51, 0x1p52, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 0x1.fffffep62, 1e300, 0x1p20, 0x1.8p127};
    double unit = (double)(int64_t)next_random() * 0x1p-63;
    switch (flavour) {
    case FLAVOUR_SMALL:
        return unit * 100.0;
    case FLAVOUR_BELOW:
        return unit * 0x1p50;
    case FLAVOUR_ABOVE:
        return unit * ldexp(1.0, (int)(next_random() % 66));
    case FLAVOUR_BITS:
        return math_of_bits(next_random());
    case FLAVOUR_SPECIAL:
    case FLAVOUR_COUNT:
        break;
    }
    uint64_t which = next_random() % (sizeof specials / sizeof specials[0] + 3);
    return which == 0 ? MATH_NAN : which == 1 ? MATH_INFINITY : which == 2 ? -MATH_INFINITY : specials[which - 3];
}

static int64_t random_integer(ScalarType type, Flavour flavour)
{
    uint64_t small = next_random() % 7 - 3;
    switch (flavour) {
    case FLAVOUR_SMALL:
        return (int64_t)(next_random() % 201) - 100;
    case FLAVOUR_BELOW:
        return (int64_t)next_random() >> (14 + next_random() % 36);
    case FLAVOUR_ABOVE:
        return (int64_t)next_random() >> (8 + next_random() % 6);
    case FLAVOUR_BITS:
        return (int64_t)(next_random() >> next_random() % 64);
    case FLAVOUR_SPECIAL:
    case FLAVOUR_COUNT:
        break;
    }
    switch (next_random() % 4) {
    case 0: return (int64_t)small;
    case 1: return (int64_t)(scalar_least(type).bits + small);
    case 2: return (int64_t)(scalar_greatest(type).bits + small);
    }
    return (int64_t)((UINT64_C(1) << next_random() % 64) + small);
}

static Scalar random_scalar(ScalarType type, Flavour flavour)
{
    if (type == SCALAR_F64)
        return scalar_of_f64(random_float(flavour));
    if (type == SCALAR_F32 && flavour == FLAVOUR_BITS)
        return scalar_bits_f32(SCALAR_U32, (Scalar){.bits = next_random()});
    if (type == SCALAR_F32)
        return scalar_of_f32((float)random_float(flavour));
    if (type == SCALAR_BOOL)
        return (Scalar){.bits = next_random() % 2};
    return (Scalar){.integer = scalar_wrap(type, random_integer(type, flavour))};
}

/* The same value, but a nan with any of its bits. */
static inline Scalar with_odd_nan(ScalarType type, Scalar a)
{
    if (type == SCALAR_F64 && a.f64 != a.f64)
        a.bits = next_random() | UINT64_C(0x7ff0000000000001);
    else if (type == SCALAR_F32 && a.f32 != a.f32)
        a.bits = (next_random() | UINT64_C(0x7f800001)) & UINT32_MAX;
    return a;
}

/* The one value that all nans are. */
static inline Scalar with_canonical_nan(ScalarType type, Scalar a)
{
    return type == SCALAR_F64 ? scalar_of_f64(a.f64) : type == SCALAR_F32 ? scalar_of_f32(a.f32) : a;
}

/* ---- all cases, as ops.def gives their types ---- */

static ScalarType scalar_named(const char *text, size_t length)
{
    ScalarType type = 0;
    while (type < SCALAR_COUNT && (strlen(scalar_name(type)) != length || memcmp(scalar_name(type), text, length) != 0))
        type++;
    return type;
}

/* The types that the first argument, or of a constant the result, may have. */
static ClassSet operand_types(Op op)
{
    const char *type = op_table[op].type, *bound = strstr(type, "(a in ");
    if (bound != NULL) {
        char name[16] = {0};
        memcpy(name, bound + 6, strcspn(bound + 6, ";)"));
        return class_named(name) & CLASS_SCALAR;
    }
    type += strspn(type, "(");
    return (ClassSet)1 << scalar_named(type, strcspn(type, ", "));
}

static ClassSet result_types(Op op, ScalarType operand)
{
    const char *type = op_table[op].type, *arrow = strstr(type, "-> ");
    const char *name = arrow == NULL ? type : arrow + 3;
    ScalarType result = scalar_named(name, strcspn(name, " "));
    return *name == 'b' && name[1] == ' ' ? (ClassSet)CLASS_NUMBER : (ClassSet)1 << (result == SCALAR_COUNT ? operand : result);
}

static const bool is_scalar_op[OP_COUNT] = {
#define SCALAR_UNARY(OP, function) [OP_##OP] = true,
#define SCALAR_BINARY(OP, function) [OP_##OP] = true,
#define SCALAR_PARTIAL(OP, function) [OP_##OP] = true,
#define SCALAR_MATH_1(OP, name) [OP_##OP] = true,
#define SCALAR_MATH_2(OP, name) [OP_##OP] = true,
#define SCALAR_COMPARISON(OP, orders) [OP_##OP] = true,
#include "math/scalar_ops.def"
};

#endif
