#include "kernel/op_text.h"

#include "kernel/preamble/math_ops.h"
#include "math/scalar.h"

/* ---- types and constants ---- */

static const struct {
    const char *id;
    const char *c_type;
} types[SCALAR_COUNT] = {
#define SCALAR(ID, name, c_type, kind) [SCALAR_##ID] = {#ID, #c_type},
#include "ops/scalars.def"
#undef SCALAR
};

const char *c_type(ScalarType type)
{
    return type == SCALAR_BOOL ? c_type(SCALAR_U8) : types[type].c_type;
}

enum { F64_FRACTION_BITS = 52, F64_EXPONENT_MAX = 0x7ff };

/* Neither %g nor %a, which would write the user's decimal separator. What is finite as f32 is so as f64. */
static void finite_text(Text *out, double value, const char *suffix)
{
    double magnitude = math_magnitude(value);
    uint64_t bits = math_bits(magnitude), fraction = bits & ((UINT64_C(1) << F64_FRACTION_BITS) - 1);
    int exponent = (int)(bits >> F64_FRACTION_BITS);
    const char *open = math_signbit(value) ? "(-" : "", *close = math_signbit(value) ? ")" : "";
    if (magnitude < 0x1p53 && magnitude == math_floor(magnitude)) {
        text_addf(out, "%s%llu.0%s%s", open, (unsigned long long)magnitude, suffix, close);
        return;
    }
    text_addf(out, "%s0x%d.%013llxp%d%s%s", open, exponent != 0, (unsigned long long)fraction,
              exponent != 0 ? exponent - 1023 : -1022, suffix, close);
}

static void float_text(Text *out, ScalarType type, Scalar value)
{
    bool is_single = type == SCALAR_F32;
    double wide = is_single ? (double)value.f32 : value.f64;
    if (math_is_nan(wide) && is_single)
        text_addf(out, "float_of_bits_F32(0x%xu)", (unsigned)value.bits);
    else if (math_is_nan(wide))
        text_addf(out, "float_of_bits_F64(UINT64_C(0x%llx))", (unsigned long long)value.bits);
    else if (math_is_inf(wide))
        text_add(out, wide > 0 ? is_single ? "INFINITY" : "MATH_INFINITY" : is_single ? "(-INFINITY)" : "(-MATH_INFINITY)");
    else
        finite_text(out, wide, is_single ? "f" : "");
}

void constant_text(Text *out, ScalarType type, Scalar value)
{
    switch (scalar_kind(type)) {
    case KIND_FLOATING:
        float_text(out, type, value);
        return;
    case KIND_SIGNED:
        if (value.integer == INT64_MIN)
            text_add(out, "INT64_MIN");
        else
            text_addf(out, value.integer < 0 ? "(%lld)" : "%lld", (long long)value.integer);
        return;
    case KIND_UNSIGNED:
        text_addf(out, "%lluu", (unsigned long long)value.bits);
        return;
    case KIND_TRUTH:
    case KIND_CHARACTER:
        break;
    }
    text_addf(out, "%llu", (unsigned long long)value.bits);
}

/* ---- what there is: the rows of the preamble ---- */

typedef struct Row {
    Op op;
    ScalarType operand, target;
    uint8_t argument_count;
    bool can_fail, is_fast, needs_math;
    bool is_minor; /* is_fast, but not worth a loop of its own */
} Row;

static const Row rows[] = {
#define ROW(OP, A, R, count, ...) {OP_##OP, SCALAR_##A, SCALAR_##R, count, __VA_ARGS__},
#define UNARY(OP, A, R, expression) ROW(OP, A, R, 1, .can_fail = false)
#define BINARY(OP, A, B, R, expression) ROW(OP, A, R, 2, .can_fail = false)
#define TERNARY(OP, A, R, expression) ROW(OP, A, R, 3, .can_fail = false)
#define UNARY_PARTIAL(OP, A, R, expression) ROW(OP, A, R, 1, .can_fail = true)
#define BINARY_PARTIAL(OP, A, B, R, expression) ROW(OP, A, R, 2, .can_fail = true)
#define BINARY_PARTIAL_FAST(OP, A, B, R, expression) ROW(OP, A, R, 2, .can_fail = true, .is_fast = true)
#define CONVERSION(A, R, expression) ROW(CONVERT, A, R, 1, .can_fail = false)
#define CONVERSION_PARTIAL(A, R, expression) ROW(CONVERT, A, R, 1, .can_fail = true)
#define CONVERSION_FAST(A, R, expression) ROW(CONVERT, A, R, 1, .is_fast = true, .is_minor = true)
#define MATH_UNARY(OP, A, R, expression) ROW(OP, A, R, 1, .needs_math = true)
#define MATH_BINARY(OP, A, B, R, expression) ROW(OP, A, R, 2, .needs_math = true)
#define MATH_UNARY_FAST(OP, A, R, expression) ROW(OP, A, R, 1, .is_fast = true, .needs_math = true)
    OP_ROWS(UNARY, BINARY, TERNARY, UNARY_PARTIAL, BINARY_PARTIAL, BINARY_PARTIAL_FAST)
    OP_CONVERSION_ROWS(CONVERSION, CONVERSION_PARTIAL)
    OP_FAST_CONVERSION_ROWS(CONVERSION_FAST)
    OP_MATH_ROWS(MATH_UNARY, MATH_BINARY, MATH_UNARY_FAST)
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* Operations that are the conversion from `operand` to `target`, and those that are a constant. */
typedef enum Form { FORM_FUNCTION, FORM_CONVERSION, FORM_CONSTANT } Form;

static const Form forms[OP_COUNT] = {
#define SCALAR(ID, name, c_type, kind) [OP_TO_##ID] = FORM_CONVERSION,
#include "ops/scalars.def"
#undef SCALAR
    [OP_CONVERT] = FORM_CONVERSION,  [OP_BTOI] = FORM_CONVERSION,   [OP_CODE_CHAR] = FORM_CONVERSION,
    [OP_CHAR_CODE] = FORM_CONVERSION, [OP_PI] = FORM_CONSTANT,      [OP_MAX_INT] = FORM_CONSTANT,
    [OP_MIN_INT] = FORM_CONSTANT,    [OP_NAN] = FORM_CONSTANT,      [OP_INF] = FORM_CONSTANT,
};

static const Row *find_row(Op op, ScalarType operand, ScalarType target, bool is_fast)
{
    Op function = forms[op] == FORM_CONVERSION ? OP_CONVERT : op;
    for (const Row *row = rows; row < rows + ROW_COUNT; row++)
        if (row->op == function && row->operand == operand && row->target == target && row->is_fast == is_fast)
            return row;
    return NULL;
}

bool op_text_exists(Op op, ScalarType operand, ScalarType target)
{
    return forms[op] == FORM_CONSTANT || find_row(op, operand, target, false) != NULL;
}

bool op_text_can_fail(Op op, ScalarType operand, ScalarType target)
{
    const Row *row = find_row(op, operand, target, false);
    return row != NULL && row->can_fail;
}

bool op_text_needs_math(Op op, ScalarType operand, ScalarType target)
{
    const Row *row = find_row(op, operand, target, false);
    return row != NULL && row->needs_math;
}

bool op_text_has_fast(Op op, ScalarType operand, ScalarType target)
{
    return find_row(op, operand, target, true) != NULL;
}

bool op_text_wants_fast(Op op, ScalarType operand, ScalarType target)
{
    const Row *row = find_row(op, operand, target, true);
    return row != NULL && !row->is_minor;
}

/* ---- expressions ---- */

/* C's operators, where they do the same and are easier to read: integers would overflow. */
static const struct {
    const char *symbol;
    bool is_of_floats_only;
} operators[OP_COUNT] = {
    [OP_ADD] = {"+", true},      [OP_SUBTRACT] = {"-", true},     [OP_MULTIPLY] = {"*", true},
    [OP_DIVIDE] = {"/", true},   [OP_EQUAL] = {"==", false},      [OP_NOT_EQUAL] = {"!=", false},
    [OP_LESS] = {"<", false},    [OP_LESS_EQUAL] = {"<=", false}, [OP_GREATER] = {">", false},
    [OP_GREATER_EQUAL] = {">=", false},
};

static bool has_operator(const Row *row)
{
    return operators[row->op].symbol != NULL &&
           (!operators[row->op].is_of_floats_only || scalar_kind(row->operand) == KIND_FLOATING);
}

static void call_text(Text *out, const Row *row, const char *const *arguments, const char *failed, const char *slow)
{
    text_addf(out, "op_%s_%s", op_table[row->op].id, types[row->operand].id);
    if (row->op == OP_CONVERT)
        text_addf(out, "_%s", types[row->target].id);
    text_addf(out, "%s(%s", row->is_fast ? "_fast" : "", arguments[0]);
    for (uint32_t i = 1; i < row->argument_count; i++)
        text_addf(out, ", %s", arguments[i]);
    if (row->can_fail)
        text_addf(out, ", %s", failed);
    if (row->is_fast)
        text_addf(out, ", %s", slow);
    text_add_char(out, ')');
}

static bool nullary_text(Text *out, Op op, ScalarType target)
{
    Scalar value;
    if (!scalar_apply(op, target, target, NULL, &value))
        return false;
    constant_text(out, target, value);
    return true;
}

bool op_text(Text *out, Op op, ScalarType operand, ScalarType target, const char *const *arguments, const char *failed)
{
    if (forms[op] == FORM_CONSTANT)
        return nullary_text(out, op, target);
    const Row *row = find_row(op, operand, target, false);
    if (row == NULL)
        return false;
    if (has_operator(row))
        text_addf(out, "(%s %s %s)", arguments[0], operators[op].symbol, arguments[1]);
    else
        call_text(out, row, arguments, failed, NULL);
    return true;
}

bool op_text_fast(Text *out, Op op, ScalarType operand, ScalarType target, const char *const *arguments, const char *failed,
                  const char *slow)
{
    const Row *row = find_row(op, operand, target, true);
    if (row != NULL)
        call_text(out, row, arguments, failed, slow);
    return row != NULL;
}
