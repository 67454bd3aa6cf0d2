/* Truths of scalar code.
 *
 * A comparison, or a combination of them, that is used once is not computed where it stands but where it is used: most are the condition of an
 * `if`, and become jumps. They cannot fail, and variables do not change, so nobody can tell. */
#include "vm/scalar_compile.h"

enum { CONDITION_NESTING_MAX = 100 };

/* ---- conditions ---- */

/* The six tests, in the order of the rows of scalar_opcodes.def: the contrary of one is next to it. */
typedef enum Test {
    TEST_EQUAL,
    TEST_NOT_EQUAL,
    TEST_LESS,
    TEST_NOT_LESS,
    TEST_LESS_EQUAL,
    TEST_NOT_LESS_EQUAL,
    TEST_COUNT,
} Test;

/* Comparisons as tests. On floats, only those of two registers: not less is not the same as greater or equal there. */
typedef struct Comparison {
    bool is_one;
    bool is_swapped; /* in two registers: (b, a) is tested */
    Test registers;
    Test with_constant;  /* a integer, b constant */
    Test with_constant_first; /* a constant, b integer; the test is of (b, a) */
} Comparison;

static const Comparison comparisons[OP_COUNT] = {
    [OP_EQUAL] = {true, false, TEST_EQUAL, TEST_EQUAL, TEST_EQUAL},
    [OP_NOT_EQUAL] = {true, false, TEST_NOT_EQUAL, TEST_NOT_EQUAL, TEST_NOT_EQUAL},
    [OP_LESS] = {true, false, TEST_LESS, TEST_LESS, TEST_NOT_LESS_EQUAL},
    [OP_LESS_EQUAL] = {true, false, TEST_LESS_EQUAL, TEST_LESS_EQUAL, TEST_NOT_LESS},
    [OP_GREATER] = {true, true, TEST_LESS, TEST_NOT_LESS_EQUAL, TEST_LESS},
    [OP_GREATER_EQUAL] = {true, true, TEST_LESS_EQUAL, TEST_NOT_LESS, TEST_LESS_EQUAL},
};

/* A test and its operands: a row of conditions. */
typedef struct TestRow {
    uint32_t row;
    uint32_t first, second;
} TestRow;

static uint32_t first_row(ScalarType carrier, bool has_constant)
{
    static const uint16_t in_registers[SCALAR_COUNT] = {
        [SCALAR_I64] = CODE_SET_EQUAL_I64,
        [SCALAR_U64] = CODE_SET_EQUAL_U64,
        [SCALAR_F32] = CODE_SET_EQUAL_F32,
        [SCALAR_F64] = CODE_SET_EQUAL_F64,
    };
    if (!has_constant)
        return in_registers[carrier] - (uint32_t)CODE_SET_FIRST;
    return (carrier == SCALAR_U64 ? CODE_SET_EQUAL_U64_IMMEDIATE : CODE_SET_EQUAL_I64_IMMEDIATE) - CODE_SET_FIRST;
}

static TestRow test_row(Compiler *compiler, const CoreStatement *statement)
{
    const Comparison *comparison = &comparisons[statement->op];
    const CoreAtom *a = &statement->arguments[0], *b = &statement->arguments[1];
    ScalarType carrier = compile_carrier(compile_scalar_type(compiler, a));
    if (scalar_kind(carrier) != KIND_FLOATING && compile_fits(b))
        return (TestRow){first_row(carrier, true) + comparison->with_constant, compile_operand(compiler, a),
                         (uint32_t)b->constant.integer};
    if (scalar_kind(carrier) != KIND_FLOATING && compile_fits(a))
        return (TestRow){first_row(carrier, true) + comparison->with_constant_first, compile_operand(compiler, b),
                         (uint32_t)a->constant.integer};
    uint32_t first = compile_operand(compiler, a), second = compile_operand(compiler, b);
    return (TestRow){first_row(carrier, false) + comparison->registers, comparison->is_swapped ? second : first,
                     comparison->is_swapped ? first : second};
}

static bool is_logical(const Compiler *compiler, const CoreStatement *statement)
{
    return (statement->op == OP_AND || statement->op == OP_OR || statement->op == OP_NOT) &&
           compile_scalar_type(compiler, &statement->arguments[0]) == SCALAR_BOOL;
}

bool compile_is_condition(const Compiler *compiler, const CoreStatement *statement)
{
    return comparisons[statement->op].is_one || is_logical(compiler, statement);
}

static void jump_on_both(Compiler *compiler, const CoreStatement *statement, bool value, Label *label)
{
    bool decides = statement->op == OP_OR; /* the value of one operand that decides */
    Label past = {0};
    compile_jump(compiler, &statement->arguments[0], decides, value == decides ? label : &past);
    compile_jump(compiler, &statement->arguments[1], value, label);
    emit_label(&compiler->emitter, past);
}

static void jump_on_test(Compiler *compiler, const CoreStatement *statement, bool value, Label *label)
{
    TestRow test = test_row(compiler, statement);
    uint32_t row = value ? test.row : test.row ^ 1;
    emit_jump(&compiler->emitter, (ScalarOpcode)(CODE_JUMP_FIRST + row), test.first, test.second, label);
}

void compile_jump(Compiler *compiler, const CoreAtom *condition, bool value, Label *label)
{
    if (condition->is_constant) {
        if ((condition->constant.bits != 0) == value)
            emit_jump(&compiler->emitter, CODE_JUMP, 0, 0, label);
        return;
    }
    const CoreStatement *statement = compile_variable(compiler, condition->variable)->condition;
    if (statement == NULL) {
        ScalarOpcode opcode = value ? CODE_JUMP_NOT_EQUAL_I64_IMMEDIATE : CODE_JUMP_EQUAL_I64_IMMEDIATE;
        emit_jump(&compiler->emitter, opcode, compile_operand(compiler, condition), 0, label);
    } else if (statement->op == OP_NOT) {
        compile_jump(compiler, &statement->arguments[0], !value, label);
    } else if (comparisons[statement->op].is_one) {
        jump_on_test(compiler, statement, value, label);
    } else {
        jump_on_both(compiler, statement, value, label);
    }
}

void compile_condition_value(Compiler *compiler, const CoreStatement *statement)
{
    if (!comparisons[statement->op].is_one) {
        compile_scalar_op(compiler, statement);
        return;
    }
    TestRow test = test_row(compiler, statement);
    uint32_t target = compile_place(compiler, statement->target);
    compile_variable(compiler, statement->target)->is_single = compile_variable(compiler, statement->target)->uses == 1;
    emit(&compiler->emitter, (ScalarOpcode)(CODE_SET_FIRST + test.row), target, test.first, test.second);
}

void compile_condition(Compiler *compiler, const CoreStatement *statement)
{
    uint16_t nesting = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        if (!atom->is_constant && compile_variable(compiler, atom->variable)->nesting > nesting)
            nesting = compile_variable(compiler, atom->variable)->nesting;
    }
    ScalarVariable *target = compile_variable(compiler, statement->target);
    if (target->uses != 1 || nesting >= CONDITION_NESTING_MAX) {
        compile_condition_value(compiler, statement);
        return;
    }
    target->condition = statement;
    target->nesting = (uint16_t)(nesting + 1);
}
