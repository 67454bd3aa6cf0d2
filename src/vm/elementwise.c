/* Which kernel computes an operation, and on which threads; kernels that go through scalar_apply; what kernels in blocks share. */
#include "vm/elementwise_internal.h"
#include "vm/team_check.h"

#include <string.h>

/* ---- properties of operations ---- */

typedef enum Failure { FAILS_NEVER, FAILS_SOMETIMES, FAILS_ON_INTEGERS, FAILS_FROM_FLOATS } Failure;

/* Picoseconds for an element of 8 bytes, as bench/micro/elementwise.c measures them, rounded; those of CHEAP are in proportion to its width. Many
 * functions, which have none here, lie around the last. */
enum { CHEAP = 250, ROUNDING = 600, DIVISION = 800, ELEMENTARY = 4000 };

static const struct {
    uint32_t picoseconds;
    Failure failure;
    bool is_conversion; /* its kernels are those of OP_CONVERT */
} properties[OP_COUNT] = {
    [OP_ADD] = {.picoseconds = CHEAP},
    [OP_SUBTRACT] = {.picoseconds = CHEAP},
    [OP_MULTIPLY] = {.picoseconds = CHEAP},
    [OP_NEGATE] = {.picoseconds = CHEAP},
    [OP_ABSOLUTE] = {.picoseconds = CHEAP},
    [OP_MINIMUM] = {.picoseconds = CHEAP},
    [OP_MAXIMUM] = {.picoseconds = CHEAP},
    [OP_SHIFT_LEFT] = {.picoseconds = CHEAP},
    [OP_SHIFT_RIGHT] = {.picoseconds = CHEAP},
    [OP_ROTATE_BITS] = {.picoseconds = CHEAP},
    [OP_FLOAT_BITS] = {.picoseconds = CHEAP},
    [OP_BITS_FLOAT] = {.picoseconds = CHEAP},
    [OP_F32_BITS] = {.picoseconds = CHEAP},
    [OP_BITS_F32] = {.picoseconds = CHEAP},
    [OP_EQUAL] = {.picoseconds = CHEAP},
    [OP_NOT_EQUAL] = {.picoseconds = CHEAP},
    [OP_LESS] = {.picoseconds = CHEAP},
    [OP_LESS_EQUAL] = {.picoseconds = CHEAP},
    [OP_GREATER] = {.picoseconds = CHEAP},
    [OP_GREATER_EQUAL] = {.picoseconds = CHEAP},
    [OP_AND] = {.picoseconds = CHEAP},
    [OP_OR] = {.picoseconds = CHEAP},
    [OP_XOR] = {.picoseconds = CHEAP},
    [OP_NAND] = {.picoseconds = CHEAP},
    [OP_NOR] = {.picoseconds = CHEAP},
    [OP_NOT] = {.picoseconds = CHEAP},
    [OP_IS_NAN] = {.picoseconds = CHEAP},
    [OP_IS_INF] = {.picoseconds = CHEAP},
    [OP_IS_FINITE] = {.picoseconds = CHEAP},
    [OP_SIGNBIT] = {.picoseconds = CHEAP},
    [OP_PI] = {.picoseconds = CHEAP},
    [OP_MAX_INT] = {.picoseconds = CHEAP},
    [OP_MIN_INT] = {.picoseconds = CHEAP},
    [OP_NAN] = {.picoseconds = CHEAP},
    [OP_INF] = {.picoseconds = CHEAP},
    [OP_DIVIDE] = {.picoseconds = DIVISION, .failure = FAILS_ON_INTEGERS},
    [OP_REMAINDER] = {.picoseconds = DIVISION, .failure = FAILS_ON_INTEGERS},
    [OP_MODULO] = {.picoseconds = DIVISION, .failure = FAILS_ON_INTEGERS},
    [OP_SQRT] = {.picoseconds = DIVISION},
    [OP_POWER] = {.failure = FAILS_SOMETIMES},
    [OP_FLOOR] = {.picoseconds = ROUNDING, .failure = FAILS_SOMETIMES},
    [OP_CEIL] = {.picoseconds = ROUNDING, .failure = FAILS_SOMETIMES},
    [OP_TRUNC] = {.picoseconds = ROUNDING, .failure = FAILS_SOMETIMES},
    [OP_ROUND] = {.picoseconds = ROUNDING, .failure = FAILS_SOMETIMES},
    [OP_FLOOR_FLOAT] = {.picoseconds = ROUNDING},
    [OP_CEIL_FLOAT] = {.picoseconds = ROUNDING},
    [OP_TRUNC_FLOAT] = {.picoseconds = ROUNDING},
    [OP_ROUND_FLOAT] = {.picoseconds = ROUNDING},
    [OP_ROUND_EVEN] = {.picoseconds = ROUNDING},
    [OP_FMA] = {.picoseconds = ROUNDING},
    [OP_FDIM] = {.picoseconds = ROUNDING},
    [OP_COPYSIGN] = {.picoseconds = ROUNDING},
    [OP_NEXTAFTER] = {.picoseconds = ROUNDING},
    [OP_SIGNIFICAND] = {.picoseconds = ROUNDING},
    [OP_POPCOUNT] = {.picoseconds = ROUNDING},
    [OP_TRAILING_ZEROS] = {.picoseconds = ROUNDING},
    [OP_EXPT] = {.picoseconds = 15000},
    [OP_ERF] = {.picoseconds = 15000},
    [OP_ERFC] = {.picoseconds = 25000},
    [OP_GAMMA] = {.picoseconds = 400000},
    [OP_LGAMMA] = {.picoseconds = 500000},
#define CONVERSION {.picoseconds = CHEAP, .failure = FAILS_FROM_FLOATS, .is_conversion = true}
#define SCALAR(ID, name, c_type, kind) [OP_TO_##ID] = CONVERSION,
#include "ops/scalars.def"
#undef SCALAR
    [OP_CONVERT] = CONVERSION,
    [OP_BTOI] = CONVERSION,
    [OP_CODE_CHAR] = CONVERSION,
    [OP_CHAR_CODE] = CONVERSION,
#undef CONVERSION
};

bool elementwise_can_fail(Op op, ScalarType operand, ScalarType result)
{
    bool is_float = scalar_kind(operand) == KIND_FLOATING;
    switch (properties[op].failure) {
    case FAILS_NEVER:
        return false;
    case FAILS_SOMETIMES:
        return true;
    case FAILS_ON_INTEGERS:
        return !is_float;
    case FAILS_FROM_FLOATS:
        return is_float && (scalar_is_integer(result) || result == SCALAR_CHAR);
    }
    return true;
}

/* ---- arguments, as ops.def writes their types: "a -> a", "(a, int) -> a", or a constant ---- */

static ScalarType scalar_named(const char *text, size_t length)
{
    for (ScalarType type = 0; type < SCALAR_COUNT; type++)
        if (strlen(scalar_name(type)) == length && memcmp(scalar_name(type), text, length) == 0)
            return type;
    return SCALAR_COUNT;
}

uint32_t elementwise_argument_types(Op op, ScalarType operand, ScalarType types[ELEMENTWISE_ARGUMENTS_MAX])
{
    const char *text = op_table[op].type, *arrow = strstr(text, "->");
    uint32_t count = 0;
    for (const char *end; arrow != NULL && text < arrow && count < ELEMENTWISE_ARGUMENTS_MAX; text = end) {
        text += strspn(text, "(), ");
        end = text + strcspn(text, "(), -");
        if (end > text)
            types[count++] = *text == 'a' && end == text + 1 ? operand : scalar_named(text, (size_t)(end - text));
        else
            end++;
    }
    return count;
}

/* ---- any operation, one element at a time ---- */

static size_t apply_each(Op op, ScalarType operand, ScalarType result, void *out, const Cells *args, size_t count)
{
    ScalarType types[ELEMENTWISE_ARGUMENTS_MAX];
    uint32_t args_count = elementwise_argument_types(op, operand, types);
    size_t length = elementwise_distinct(args, args_count, count);
    for (size_t i = 0; i < length; i++) {
        Scalar scalars[ELEMENTWISE_ARGUMENTS_MAX] = {0}, value;
        for (uint32_t k = 0; k < args_count; k++)
            if (types[k] != SCALAR_COUNT)
                scalars[k] = cells_scalar(types[k], args[k], i);
        if (!scalar_apply(op, operand, result, scalars, &value))
            return i;
        cells_set_scalar(result, out, i, value);
    }
    return elementwise_spread(out, leaf_size((LeafType)result), length, count);
}

#define GENERIC(name, op)                                                                                             \
    KERNEL_SIGNATURE(name)                                                                                            \
    {                                                                                                                 \
        return apply_each(op, operand, result, out, args, count);                                                     \
    }
#define SCALAR_UNARY(OP, function) GENERIC(generic_##OP, OP_##OP)
#define SCALAR_BINARY(OP, function) GENERIC(generic_##OP, OP_##OP)
#define SCALAR_PARTIAL(OP, function) GENERIC(generic_##OP, OP_##OP)
#define SCALAR_MATH_1(OP, name) GENERIC(generic_##OP, OP_##OP)
#define SCALAR_MATH_2(OP, name) GENERIC(generic_##OP, OP_##OP)
#define SCALAR_COMPARISON(OP, orders) GENERIC(generic_##OP, OP_##OP)
#include "math/scalar_ops.def"
#undef GENERIC

static const ElementwiseKernel generic_kernels[OP_COUNT] = {
#define SCALAR_UNARY(OP, function) [OP_##OP] = generic_##OP,
#define SCALAR_BINARY(OP, function) [OP_##OP] = generic_##OP,
#define SCALAR_PARTIAL(OP, function) [OP_##OP] = generic_##OP,
#define SCALAR_MATH_1(OP, name) [OP_##OP] = generic_##OP,
#define SCALAR_MATH_2(OP, name) [OP_##OP] = generic_##OP,
#define SCALAR_COMPARISON(OP, orders) [OP_##OP] = generic_##OP,
#include "math/scalar_ops.def"
};

/* ---- the choice ---- */

#define SET(name, level) extern const ElementwiseRow VECTOR_NAME_AT(elementwise_##name, level)[];
#define LEVEL(level) ELEMENTWISE_SETS(SET, level)
VECTOR_LEVELS(LEVEL)
#undef SET
#undef LEVEL

static const ElementwiseRow *const sets[VECTOR_LEVEL_COUNT][ELEMENTWISE_SET_COUNT] = {
#define SET(name, level) VECTOR_NAME_AT(elementwise_##name, level),
#define LEVEL(level) [VECTOR_##level] = {ELEMENTWISE_SETS(SET, level)},
    VECTOR_LEVELS(LEVEL)
#undef SET
#undef LEVEL
};

static ElementwiseKernel kernel_in_set(const ElementwiseRow *row, Op op, ScalarType operand, ScalarType result)
{
    for (; row->kernel != NULL; row++)
        if (row->op == op && row->operand == operand && (row->result == result || row->result == SCALAR_COUNT))
            return row->kernel;
    return NULL;
}

ElementwiseKernel elementwise_kernel_of(VectorLevel level, Op op, ScalarType operand, ScalarType result)
{
    ElementwiseKernel kernel = NULL;
    for (uint32_t set = 0; set < ELEMENTWISE_SET_COUNT && kernel == NULL; set++)
        kernel = kernel_in_set(sets[level][set], properties[op].is_conversion ? OP_CONVERT : op, operand, result);
    return kernel;
}

ElementwiseKernel elementwise_kernel(Op op, ScalarType operand, ScalarType result)
{
    ElementwiseKernel kernel = elementwise_kernel_of(vector_level(), op, operand, result);
    return kernel != NULL ? kernel : generic_kernels[op];
}

/* ---- all there is to know of an operation ---- */

static uint32_t picoseconds_of(Op op, ScalarType operand, ScalarType result)
{
    uint32_t picoseconds = properties[op].picoseconds;
    if (picoseconds != CHEAP)
        return picoseconds == 0 ? ELEMENTARY : picoseconds;
    size_t from = leaf_size((LeafType)operand), to = leaf_size((LeafType)result);
    return (uint32_t)(CHEAP / sizeof(Scalar) * (from < to ? to : from));
}

Elementwise elementwise_of(Op op, ScalarType operand, ScalarType result)
{
    ScalarType types[ELEMENTWISE_ARGUMENTS_MAX];
    Elementwise elementwise = {.kernel = elementwise_kernel(op, operand, result),
                               .operand = operand,
                               .result = result,
                               .picoseconds = picoseconds_of(op, operand, result),
                               .argument_count = elementwise_argument_types(op, operand, types),
                               .result_size = (uint8_t)leaf_size((LeafType)result)};
    for (uint32_t i = 0; i < elementwise.argument_count; i++)
        elementwise.argument_sizes[i] = types[i] == SCALAR_COUNT ? 0 : (uint8_t)leaf_size((LeafType)types[i]);
    return elementwise;
}

/* ---- on several threads ---- */

typedef struct Computing {
    const Elementwise *elementwise;
    char *out;
    const Cells *args;
} Computing;

static Cells cells_from(Cells cells, size_t cell_size, size_t first)
{
    return cells.is_uniform ? cells : (Cells){.data = (const char *)cells.data + first * cell_size};
}

static size_t compute(const void *context, size_t first, size_t end)
{
    const Computing *computing = context;
    const Elementwise *elementwise = computing->elementwise;
    Cells args[ELEMENTWISE_ARGUMENTS_MAX];
    for (uint32_t i = 0; i < elementwise->argument_count; i++)
        args[i] = cells_from(computing->args[i], elementwise->argument_sizes[i], first);
    return first + elementwise->kernel(elementwise->operand, elementwise->result,
                                       computing->out + first * elementwise->result_size, args, end - first);
}

size_t elementwise_run(Team *team, const Elementwise *elementwise, void *out, const Cells *args, size_t count)
{
    Computing computing = {.elementwise = elementwise, .out = out, .args = args};
    return team_check(team, count, elementwise->picoseconds, compute, &computing);
}

/* ---- what kernels share ---- */

size_t elementwise_spread(void *out, size_t cell_size, size_t computed, size_t count)
{
    for (size_t filled = computed; filled < count; filled *= 2)
        memcpy((char *)out + filled * cell_size, out, (filled < count - filled ? filled : count - filled) * cell_size);
    return count;
}

enum { CELL_SIZE_MAX = sizeof(Scalar) };

/* Where the cells of a block from `start` on are; those of a uniform argument are in `repeated` already. */
static const void *block_cells(Cells cells, const void *repeated, size_t cell_size, size_t start)
{
    return cells.is_uniform ? repeated : (const char *)cells.data + start * cell_size;
}

size_t elementwise_in_blocks(BlockLoop loop, const BlockShape *shape, void *out, const Cells *args, size_t count)
{
    _Alignas(64) char repeated[ELEMENTWISE_ARGUMENTS_MAX][BLOCK_LENGTH * CELL_SIZE_MAX];
    size_t length = elementwise_distinct(args, shape->args_count, count);
    for (uint32_t k = 0; k < shape->args_count && length != 0; k++)
        if (args[k].is_uniform) {
            memcpy(repeated[k], args[k].data, shape->arg_sizes[k]);
            elementwise_spread(repeated[k], shape->arg_sizes[k], 1, length < BLOCK_LENGTH ? length : BLOCK_LENGTH);
        }
    for (size_t start = 0; start < length; start += BLOCK_LENGTH) {
        const void *block[ELEMENTWISE_ARGUMENTS_MAX];
        for (uint32_t k = 0; k < shape->args_count; k++)
            block[k] = block_cells(args[k], repeated[k], shape->arg_sizes[k], start);
        size_t block_length = length - start < BLOCK_LENGTH ? length - start : BLOCK_LENGTH;
        size_t computed = loop((char *)out + start * shape->out_size, block, block_length);
        if (computed < block_length)
            return start + computed;
    }
    return elementwise_spread(out, shape->out_size, length, count);
}
