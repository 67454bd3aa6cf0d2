/* The functions of emitted C (kernel/preamble/) against scalar_apply: every operation on every type it exists for, the same bits and the
 * same failures, for nans of any bits. */
#include "kernel/preamble/math_ops.h"
#include "scalar_cases.h"
#include "vm/elementwise_internal.h"

#include <stdio.h>

enum { TUPLES = 3000, FAILURES_SHOWN = 20, ARGUMENTS_MAX = ELEMENTWISE_ARGUMENTS_MAX };

static int failures;

/* ---- a function of scalars for each row ---- */

typedef struct Outcome {
    bool has_failed, is_slow;
    Scalar value;
} Outcome;

typedef struct Row {
    Op op;
    ScalarType operand, target;
    bool is_fast;
    Outcome (*apply)(const Scalar *arguments);
} Row;

#define APPLY(name, A, B, R, call)                                                                                    \
    static Outcome apply_##name(const Scalar *arguments)                                                              \
    {                                                                                                                 \
        OpFlag flag_failed = 0, flag_slow = 0, *failed = &flag_failed, *slow = &flag_slow;                            \
        Op##A a, c;                                                                                                   \
        Op##B b;                                                                                                      \
        scalar_store(SCALAR_##A, &a, 0, arguments[0]);                                                                \
        scalar_store(SCALAR_##B, &b, 0, arguments[1]);                                                                \
        scalar_store(SCALAR_##A, &c, 0, arguments[2]);                                                                \
        (void)failed, (void)slow, (void)b, (void)c;                                                                   \
        Op##R result = call;                                                                                          \
        Scalar value = with_canonical_nan(SCALAR_##R, scalar_load(SCALAR_##R, &result, 0));                           \
        return (Outcome){flag_failed != 0, flag_slow != 0, value};                                                    \
    }
#define APPLY_UNARY(OP, A, R, expression) APPLY(OP##_##A, A, A, R, op_##OP##_##A(a))
#define APPLY_BINARY(OP, A, B, R, expression) APPLY(OP##_##A, A, B, R, op_##OP##_##A(a, b))
#define APPLY_TERNARY(OP, A, R, expression) APPLY(OP##_##A, A, A, R, op_##OP##_##A(a, b, c))
#define APPLY_UNARY_PARTIAL(OP, A, R, expression) APPLY(OP##_##A, A, A, R, op_##OP##_##A(a, failed))
#define APPLY_BINARY_PARTIAL(OP, A, B, R, expression) APPLY(OP##_##A, A, B, R, op_##OP##_##A(a, b, failed))
#define APPLY_UNARY_FAST(OP, A, R, expression) APPLY(OP##_##A##_fast, A, A, R, op_##OP##_##A##_fast(a, slow))
#define APPLY_BINARY_PARTIAL_FAST(OP, A, B, R, expression)                                                            \
    APPLY(OP##_##A##_fast, A, B, R, op_##OP##_##A##_fast(a, b, failed, slow))
#define APPLY_CONVERSION(A, R, expression) APPLY(CONVERT_##A##_##R, A, A, R, op_CONVERT_##A##_##R(a))
#define APPLY_CONVERSION_PARTIAL(A, R, expression) APPLY(CONVERT_##A##_##R, A, A, R, op_CONVERT_##A##_##R(a, failed))
OP_ROWS(APPLY_UNARY, APPLY_BINARY, APPLY_TERNARY, APPLY_UNARY_PARTIAL, APPLY_BINARY_PARTIAL, APPLY_BINARY_PARTIAL_FAST)
OP_CONVERSION_ROWS(APPLY_CONVERSION, APPLY_CONVERSION_PARTIAL)
OP_MATH_ROWS(APPLY_UNARY, APPLY_BINARY, APPLY_UNARY_FAST)

static const Row rows[] = {
#define ROW(OP, A, R, is_fast, name) {OP_##OP, SCALAR_##A, SCALAR_##R, is_fast, apply_##name},
#define ROW_A_R(OP, A, R, expression) ROW(OP, A, R, false, OP##_##A)
#define ROW_A_B_R(OP, A, B, R, expression) ROW(OP, A, R, false, OP##_##A)
#define ROW_A_R_FAST(OP, A, R, expression) ROW(OP, A, R, true, OP##_##A##_fast)
#define ROW_A_B_R_FAST(OP, A, B, R, expression) ROW(OP, A, R, true, OP##_##A##_fast)
#define ROW_CONVERSION(A, R, expression) ROW(CONVERT, A, R, false, CONVERT_##A##_##R)
    OP_ROWS(ROW_A_R, ROW_A_B_R, ROW_A_R, ROW_A_R, ROW_A_B_R, ROW_A_B_R_FAST)
    OP_CONVERSION_ROWS(ROW_CONVERSION, ROW_CONVERSION)
    OP_MATH_ROWS(ROW_A_R, ROW_A_B_R, ROW_A_R_FAST)
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static bool is_used[ROW_COUNT];

/* ---- one operation on given types ---- */

static void complain(Op op, const Row *row, const char *what, const Scalar *arguments)
{
    if (failures++ < FAILURES_SHOWN)
        fprintf(stderr, "%s of %s to %s%s: %s for %#llx, %#llx, %#llx\n", op_table[op].id, scalar_name(row->operand),
                scalar_name(row->target), row->is_fast ? ", fast" : "", what, (unsigned long long)arguments[0].bits,
                (unsigned long long)arguments[1].bits, (unsigned long long)arguments[2].bits);
}

/* Whether it had to be right. */
static bool check_tuple(Op op, const Row *row, const Scalar *arguments, const Scalar *odd)
{
    Scalar expected = {0};
    bool is_good = scalar_apply(op, row->operand, row->target, arguments, &expected);
    Outcome outcome = row->apply(odd);
    if (outcome.has_failed == is_good)
        complain(op, row, is_good ? "failed" : "should fail", odd);
    else if (is_good && !outcome.is_slow && outcome.value.bits != expected.bits)
        complain(op, row, "wrong result", odd);
    return !outcome.is_slow;
}

static void check_row(Op op, const Row *row)
{
    ScalarType types[ARGUMENTS_MAX];
    uint32_t count = elementwise_argument_types(op, row->operand, types);
    bool is_ever_right = false;
    for (int i = 0; i < TUPLES; i++) {
        Scalar arguments[ARGUMENTS_MAX] = {0}, odd[ARGUMENTS_MAX] = {0};
        for (uint32_t k = 0; k < count; k++)
            if (types[k] != SCALAR_COUNT) {
                arguments[k] = random_scalar(types[k], (Flavour)(next_random() % FLAVOUR_COUNT));
                odd[k] = with_odd_nan(types[k], arguments[k]);
            }
        is_ever_right |= check_tuple(op, row, arguments, odd);
    }
    if (!is_ever_right)
        complain(op, row, "always slow", (Scalar[ARGUMENTS_MAX]){0});
}

static bool is_conversion(Op op)
{
    return (op >= OP_TO_BOOL && op <= OP_TO_F64) || op == OP_BTOI || op == OP_CODE_CHAR || op == OP_CHAR_CODE;
}

static void check_case(Op op, ScalarType operand, ScalarType target)
{
    bool is_there = false;
    for (uint32_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].op == (is_conversion(op) ? OP_CONVERT : op) && rows[i].operand == operand && rows[i].target == target) {
            is_there |= !rows[i].is_fast;
            is_used[i] = true;
            check_row(op, &rows[i]);
        }
    if (!is_there)
        complain(op, &(Row){op, operand, target, false, NULL}, "no function", (Scalar[ARGUMENTS_MAX]){0});
}

/* Operations without arguments are constants, no functions. */
static void check_op(Op op)
{
    ScalarType types[ARGUMENTS_MAX];
    if (elementwise_argument_types(op, SCALAR_I64, types) == 0)
        return;
    for (ScalarType operand = 0; operand < SCALAR_COUNT; operand++)
        for (ScalarType target = 0; target < SCALAR_COUNT; target++)
            if (operand_types(op) >> operand & 1 && result_types(op, operand) >> target & 1)
                check_case(op, operand, target);
}

int main(void)
{
    for (Op op = 0; op < OP_COUNT; op++)
        if (is_scalar_op[op])
            check_op(op);
    for (uint32_t i = 0; i < ROW_COUNT; i++)
        if (!is_used[i])
            complain(rows[i].op, &rows[i], "not in the language", (Scalar[ARGUMENTS_MAX]){0});
    if (failures != 0)
        fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
