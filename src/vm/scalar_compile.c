/* From Core to scalar code, block by block.
 *
 * A comparison, or a combination of them, that is used once is not computed where it stands but where it is used: most are the condition of an
 * `if`, and become jumps. They cannot fail, and variables do not change, so nobody can tell. */
#include "vm/scalar_emit.h"

enum { CONDITION_NESTING_MAX = 100 };

/* A block being compiled. */
typedef struct Scope {
    uint32_t start; /* position of its first instruction */
    uint32_t first_local;
    uint32_t first_loaded;
} Scope;

/* Where the value of a block goes. */
typedef struct Destination {
    bool is_tail; /* it is the value of the function; otherwise: */
    uint32_t first;
    uint32_t count;
} Destination;

typedef struct Compiler {
    ScalarCode *code;
    const CoreProgram *program;
    Emitter emitter;
    Arena *arena;
    CoreFunctionId function;
    Scope scope;
    VEC(CoreVar) loaded; /* globals that are in registers now */
    VEC(CoreFunctionId) pending;
} Compiler;

/* ---- variables ---- */

static ScalarVariable *variable_of(Compiler *compiler, CoreVar variable)
{
    ScalarCode *code = compiler->code;
    while (code->variables.count <= variable)
        *vec_push(&code->arena, &code->variables) = (ScalarVariable){0};
    return &code->variables.items[variable];
}

static TypeId type_of(const Compiler *compiler, CoreVar variable)
{
    return compiler->program->variables.items[variable].type;
}

static uint32_t leaf_count(Compiler *compiler, TypeId type)
{
    return layout_of(compiler->code->layouts, type)->count;
}

static bool is_global(const Compiler *compiler, const CoreAtom *atom)
{
    return !atom->is_constant && compiler->program->variables.items[atom->variable].is_global;
}

/* The registers from `first` on, as those of a variable. */
static const uint32_t *in_row(Compiler *compiler, uint32_t first, uint32_t count)
{
    uint32_t *registers = ARENA_ARRAY(compiler->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        registers[i] = first + i;
    return registers;
}

/* New registers for a variable; gives the first. */
static uint32_t place(Compiler *compiler, CoreVar variable)
{
    uint32_t count = leaf_count(compiler, type_of(compiler, variable));
    uint32_t first = emit_locals(&compiler->emitter, count);
    variable_of(compiler, variable)->registers = in_row(compiler, first, count);
    return first;
}

static void count_use(Compiler *compiler, const CoreAtom *atom)
{
    if (!atom->is_constant && !is_global(compiler, atom))
        variable_of(compiler, atom->variable)->uses++;
}

static void count_uses(Compiler *compiler, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        *variable_of(compiler, block->parameters[i]) = (ScalarVariable){0};
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        *variable_of(compiler, statement->target) = (ScalarVariable){0};
        for (uint32_t a = 0; a < statement->argument_count; a++)
            count_use(compiler, &statement->arguments[a]);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                count_uses(compiler, statement->blocks[b]);
    }
    count_use(compiler, &block->result);
}

/* ---- globals ---- */

static uint32_t number_global(Compiler *compiler, CoreVar variable)
{
    ScalarCode *code = compiler->code;
    ScalarVariable *known = variable_of(compiler, variable);
    if (known->global == 0) {
        const Layout *layout = layout_of(code->layouts, type_of(compiler, variable));
        Scalar *values = ARENA_ARRAY(&code->arena, Scalar, layout->count);
        *vec_push(&code->arena, &code->globals) =
            (ScalarGlobal){.variable = variable, .layout = layout, .values = values};
        known->global = code->globals.count;
    }
    return known->global - 1;
}

static void load_global(Compiler *compiler, CoreVar variable)
{
    uint32_t number = number_global(compiler, variable);
    uint32_t first = place(compiler, variable);
    emit(&compiler->emitter, CODE_GLOBAL, first, number, leaf_count(compiler, type_of(compiler, variable)));
    *vec_push(compiler->arena, &compiler->loaded) = variable;
}

/* Of a statement, in the order of its arguments and before anything else: a global may have no value. */
static void load_globals(Compiler *compiler, const CoreStatement *statement)
{
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        if (is_global(compiler, atom) && variable_of(compiler, atom->variable)->registers == NULL)
            load_global(compiler, atom->variable);
    }
}

static void forget_loaded(Compiler *compiler, uint32_t count)
{
    while (compiler->loaded.count > count)
        variable_of(compiler, vec_pop(&compiler->loaded))->registers = NULL;
}

/* ---- operands ---- */

static void set_condition(Compiler *compiler, const CoreStatement *statement);

/* The registers of an atom's leaves. */
static const uint32_t *registers_of(Compiler *compiler, const CoreAtom *atom)
{
    if (atom->is_constant)
        return in_row(compiler, emit_constant(&compiler->emitter, atom->constant), 1);
    ScalarVariable *variable = variable_of(compiler, atom->variable);
    if (variable->condition != NULL) {
        const CoreStatement *statement = variable->condition;
        variable->condition = NULL;
        set_condition(compiler, statement);
    } else if (variable->registers == NULL) {
        load_global(compiler, atom->variable);
    }
    return variable_of(compiler, atom->variable)->registers;
}

static uint32_t register_of(Compiler *compiler, const CoreAtom *atom)
{
    return registers_of(compiler, atom)[0];
}

static bool is_single(Compiler *compiler, const CoreAtom *atom)
{
    return !atom->is_constant && !is_global(compiler, atom) && variable_of(compiler, atom->variable)->is_single;
}

static bool fits_instruction(const CoreAtom *atom)
{
    return atom->is_constant && atom->constant.integer >= INT32_MIN && atom->constant.integer <= INT32_MAX;
}

/* The type as which the registers of a type can be seen. */
static ScalarType carrier_of(ScalarType type)
{
    return scalar_kind(type) == KIND_FLOATING || type == SCALAR_U64 ? type : SCALAR_I64;
}

static ScalarType scalar_type(const Compiler *compiler, const CoreAtom *atom)
{
    return type_scalar(compiler->program->types, atom->type);
}

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
    ScalarType carrier = carrier_of(scalar_type(compiler, a));
    if (scalar_kind(carrier) != KIND_FLOATING && fits_instruction(b))
        return (TestRow){first_row(carrier, true) + comparison->with_constant, register_of(compiler, a),
                         (uint32_t)b->constant.integer};
    if (scalar_kind(carrier) != KIND_FLOATING && fits_instruction(a))
        return (TestRow){first_row(carrier, true) + comparison->with_constant_first, register_of(compiler, b),
                         (uint32_t)a->constant.integer};
    uint32_t first = register_of(compiler, a), second = register_of(compiler, b);
    return (TestRow){first_row(carrier, false) + comparison->registers, comparison->is_swapped ? second : first,
                     comparison->is_swapped ? first : second};
}

static bool is_logical(const Compiler *compiler, const CoreStatement *statement)
{
    return (statement->op == OP_AND || statement->op == OP_OR || statement->op == OP_NOT) &&
           scalar_type(compiler, &statement->arguments[0]) == SCALAR_BOOL;
}

static bool is_condition(const Compiler *compiler, const CoreStatement *statement)
{
    return comparisons[statement->op].is_one || is_logical(compiler, statement);
}

static void jump_on(Compiler *compiler, const CoreAtom *condition, bool value, Label *label);

static void jump_on_both(Compiler *compiler, const CoreStatement *statement, bool value, Label *label)
{
    bool decides = statement->op == OP_OR; /* the value of one operand that decides */
    Label past = {0};
    jump_on(compiler, &statement->arguments[0], decides, value == decides ? label : &past);
    jump_on(compiler, &statement->arguments[1], value, label);
    emit_label(&compiler->emitter, past);
}

static void jump_on_test(Compiler *compiler, const CoreStatement *statement, bool value, Label *label)
{
    TestRow test = test_row(compiler, statement);
    uint32_t row = value ? test.row : test.row ^ 1;
    emit_jump(&compiler->emitter, (ScalarOpcode)(CODE_JUMP_FIRST + row), test.first, test.second, label);
}

/* Jumps when a condition has this value. */
static void jump_on(Compiler *compiler, const CoreAtom *condition, bool value, Label *label)
{
    if (condition->is_constant) {
        if ((condition->constant.bits != 0) == value)
            emit_jump(&compiler->emitter, CODE_JUMP, 0, 0, label);
        return;
    }
    const CoreStatement *statement = variable_of(compiler, condition->variable)->condition;
    if (statement == NULL) {
        ScalarOpcode opcode = value ? CODE_JUMP_NOT_EQUAL_I64_IMMEDIATE : CODE_JUMP_EQUAL_I64_IMMEDIATE;
        emit_jump(&compiler->emitter, opcode, register_of(compiler, condition), 0, label);
    } else if (statement->op == OP_NOT) {
        jump_on(compiler, &statement->arguments[0], !value, label);
    } else if (comparisons[statement->op].is_one) {
        jump_on_test(compiler, statement, value, label);
    } else {
        jump_on_both(compiler, statement, value, label);
    }
}

static void compile_scalar_op(Compiler *compiler, const CoreStatement *statement);

/* Computes a condition as a value. */
static void set_condition(Compiler *compiler, const CoreStatement *statement)
{
    if (!comparisons[statement->op].is_one) {
        compile_scalar_op(compiler, statement);
        return;
    }
    TestRow test = test_row(compiler, statement);
    uint32_t target = place(compiler, statement->target);
    variable_of(compiler, statement->target)->is_single = variable_of(compiler, statement->target)->uses == 1;
    emit(&compiler->emitter, (ScalarOpcode)(CODE_SET_FIRST + test.row), target, test.first, test.second);
}

static void compile_condition(Compiler *compiler, const CoreStatement *statement)
{
    uint16_t nesting = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        if (!atom->is_constant && variable_of(compiler, atom->variable)->nesting > nesting)
            nesting = variable_of(compiler, atom->variable)->nesting;
    }
    ScalarVariable *target = variable_of(compiler, statement->target);
    if (target->uses != 1 || nesting >= CONDITION_NESTING_MAX) {
        set_condition(compiler, statement);
        return;
    }
    target->condition = statement;
    target->nesting = (uint16_t)(nesting + 1);
}

/* ---- operations on scalars ---- */

/* The instructions of an operation on a type: with both operands in registers, and with a constant second. */
typedef struct TypedOpcodes {
    uint16_t registers, immediate;
} TypedOpcodes;

static const TypedOpcodes typed_opcodes[OP_COUNT][SCALAR_COUNT] = {
#define UNARY(OP, TYPE, result) [OP_##OP][SCALAR_##TYPE] = {CODE_##OP##_##TYPE, CODE_NONE},
#define REGISTERS(OP, TYPE, result) [OP_##OP][SCALAR_##TYPE] = {CODE_##OP##_##TYPE, CODE_NONE},
#define BINARY(OP, TYPE, result) [OP_##OP][SCALAR_##TYPE] = {CODE_##OP##_##TYPE, CODE_##OP##_##TYPE##_IMMEDIATE},
#define CHECKED(OP, TYPE, check, result) BINARY(OP, TYPE, result)
#include "vm/scalar_opcodes.def"
};

static TypedOpcodes opcodes_of(Op op, ScalarType type)
{
    TypedOpcodes exact = typed_opcodes[op][type];
    return exact.registers != CODE_NONE ? exact : typed_opcodes[op][carrier_of(type)];
}

static bool is_commutative(Op op)
{
    return op == OP_ADD || op == OP_MULTIPLY || op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_MINIMUM ||
           op == OP_MAXIMUM;
}

static void emit_to(Compiler *compiler, CoreVar target, ScalarOpcode opcode, uint32_t first, uint32_t second)
{
    emit(&compiler->emitter, opcode, place(compiler, target), first, second);
}

static void compile_binary(Compiler *compiler, CoreVar target, Op op, ScalarType type, const CoreAtom *a,
                           const CoreAtom *b)
{
    TypedOpcodes opcodes = opcodes_of(op, type);
    if (opcodes.immediate != CODE_NONE && is_commutative(op) && fits_instruction(a)) {
        const CoreAtom *constant = a;
        a = b, b = constant;
    }
    uint32_t first = register_of(compiler, a);
    if (opcodes.immediate != CODE_NONE && fits_instruction(b))
        emit_to(compiler, target, opcodes.immediate, first, (uint32_t)b->constant.integer);
    else
        emit_to(compiler, target, opcodes.registers, first, register_of(compiler, b));
}

/* Division by a power of two needs no division. False if it is none. */
static bool compile_power(Compiler *compiler, const CoreStatement *statement, ScalarType type)
{
    const CoreAtom *divisor = &statement->arguments[1];
    if (!fits_instruction(divisor) || divisor->constant.integer < 1 ||
        (divisor->constant.integer & (divisor->constant.integer - 1)) != 0 || scalar_kind(type) == KIND_FLOATING)
        return false;
    bool is_signed = scalar_kind(type) == KIND_SIGNED;
    uint32_t mask = (uint32_t)divisor->constant.integer - 1, power = 0;
    while (mask >> power != 0)
        power++;
    ScalarOpcode opcode;
    if (statement->op == OP_DIVIDE)
        opcode = is_signed ? CODE_DIVIDE_POWER : CODE_SHIFT_RIGHT_U64_IMMEDIATE;
    else if (statement->op == OP_REMAINDER)
        opcode = is_signed ? CODE_REMAINDER_POWER : CODE_AND_U64_IMMEDIATE;
    else if (statement->op == OP_MODULO)
        opcode = CODE_AND_I64_IMMEDIATE;
    else
        return false;
    uint32_t first = register_of(compiler, &statement->arguments[0]);
    emit_to(compiler, statement->target, opcode, first, statement->op == OP_DIVIDE ? power : mask);
    return true;
}

static void compile_not(Compiler *compiler, const CoreStatement *statement, ScalarType type)
{
    CoreAtom ones = core_constant(TYPE_OF_SCALAR(type), scalar_all_ones(type));
    compile_binary(compiler, statement->target, OP_XOR, type, &statement->arguments[0], &ones);
}

/* ---- conversions ---- */

/* Whether every value of an integer type, truths and characters included, stands in a register as the same value of another. */
static bool is_same_in_register(ScalarType from, ScalarType to)
{
    if (from == to)
        return true;
    if (scalar_kind(from) == KIND_FLOATING || scalar_kind(to) == KIND_FLOATING || to == SCALAR_BOOL)
        return false;
    if (from == SCALAR_BOOL || scalar_bits(to) == 64)
        return true;
    bool from_signed = scalar_kind(from) == KIND_SIGNED, to_signed = scalar_kind(to) == KIND_SIGNED;
    if (from_signed || (to_signed && scalar_bits(to) == scalar_bits(from)))
        return to_signed && from_signed && scalar_bits(from) <= scalar_bits(to);
    return scalar_bits(from) <= scalar_bits(to);
}

static ScalarOpcode conversion_opcode(ScalarType from, ScalarType to)
{
    static const uint16_t opcodes[SCALAR_COUNT][SCALAR_COUNT] = {
#define CONVERSION(FROM, TO, check, result) [SCALAR_##FROM][SCALAR_##TO] = CODE_##FROM##_TO_##TO,
#include "vm/scalar_opcodes.def"
    };
    uint16_t opcode = opcodes[carrier_of(from)][to];
    return opcode == CODE_NONE && from == SCALAR_U64 ? opcodes[SCALAR_I64][to] : opcode; /* cut in the same way */
}

static bool is_conversion(Op op)
{
    static const bool conversions[OP_COUNT] = {
#define SCALAR(ID, name, c_type, kind) [OP_TO_##ID] = true,
#include "ops/scalars.def"
#undef SCALAR
        [OP_CONVERT] = true, [OP_BTOI] = true, [OP_CODE_CHAR] = true, [OP_CHAR_CODE] = true,
    };
    return conversions[op];
}

/* False if there is no instruction for it. */
static bool compile_conversion(Compiler *compiler, const CoreStatement *statement, ScalarType from)
{
    ScalarType to = type_scalar(compiler->program->types, type_of(compiler, statement->target));
    const CoreAtom *operand = &statement->arguments[0];
    if (is_same_in_register(from, to)) {
        const uint32_t *registers = registers_of(compiler, operand);
        variable_of(compiler, statement->target)->registers = registers;
        return true;
    }
    ScalarOpcode opcode = conversion_opcode(from, to);
    if (to == SCALAR_BOOL && scalar_kind(from) != KIND_FLOATING)
        opcode = CODE_SET_NOT_EQUAL_I64_IMMEDIATE;
    if (opcode == CODE_NONE)
        return false;
    emit_to(compiler, statement->target, opcode, register_of(compiler, operand), 0);
    return true;
}

/* ---- by scalar_apply ---- */

static uint16_t number_application(Compiler *compiler, ScalarApplication application)
{
    ScalarCode *code = compiler->code;
    for (uint32_t i = 0; i < code->applications.count; i++) {
        const ScalarApplication *known = &code->applications.items[i];
        if (known->op == application.op && known->operand == application.operand &&
            known->target == application.target)
            return (uint16_t)i;
    }
    *vec_push(&code->arena, &code->applications) = application;
    return (uint16_t)(code->applications.count - 1);
}

/* Three operands are taken from registers in a row. */
static uint32_t gather_operands(Compiler *compiler, const CoreStatement *statement)
{
    uint32_t sources[3];
    for (uint32_t i = 0; i < 3; i++)
        sources[i] = register_of(compiler, &statement->arguments[i]);
    uint32_t row = emit_locals(&compiler->emitter, 3);
    for (uint32_t i = 0; i < 3; i++)
        emit(&compiler->emitter, CODE_MOVE, row + i, sources[i], 0);
    return row;
}

static void compile_application(Compiler *compiler, const CoreStatement *statement, ScalarType operand)
{
    static const ScalarOpcode opcodes[] = {CODE_NONE, CODE_APPLY_1, CODE_APPLY_2, CODE_APPLY_3};
    ScalarType target = type_scalar(compiler->program->types, type_of(compiler, statement->target));
    uint16_t number = number_application(compiler, (ScalarApplication){statement->op, operand, target});
    uint32_t count = statement->argument_count;
    uint32_t first = count == 3 ? gather_operands(compiler, statement)
                                : register_of(compiler, &statement->arguments[0]);
    uint32_t second = count == 2 ? register_of(compiler, &statement->arguments[1]) : 0;
    uint32_t place_of_result = place(compiler, statement->target);
    emit(&compiler->emitter, opcodes[count], place_of_result, first, second)->extra = number;
}

/* pi and the like. */
static void compile_named_constant(Compiler *compiler, const CoreStatement *statement)
{
    ScalarType type = type_scalar(compiler->program->types, type_of(compiler, statement->target));
    Scalar value = {0};
    scalar_apply(statement->op, type, type, NULL, &value);
    uint32_t constant = emit_constant(&compiler->emitter, value);
    variable_of(compiler, statement->target)->registers = in_row(compiler, constant, 1);
}

static void compile_scalar_op(Compiler *compiler, const CoreStatement *statement)
{
    Op op = statement->op;
    if (statement->argument_count == 0) {
        compile_named_constant(compiler, statement);
        return;
    }
    ScalarType type = scalar_type(compiler, &statement->arguments[0]);
    ScalarVariable *target = variable_of(compiler, statement->target);
    target->is_single = target->uses == 1;
    TypedOpcodes opcodes = opcodes_of(op, type);
    if (op == OP_NOT)
        compile_not(compiler, statement, type);
    else if (is_conversion(op) && compile_conversion(compiler, statement, type))
        target->is_single = false; /* it may be the operand itself */
    else if (opcodes.registers == CODE_NONE)
        compile_application(compiler, statement, type);
    else if (statement->argument_count == 1)
        emit_to(compiler, statement->target, opcodes.registers, register_of(compiler, &statement->arguments[0]), 0);
    else if (!compile_power(compiler, statement, type))
        compile_binary(compiler, statement->target, op, type, &statement->arguments[0], &statement->arguments[1]);
}

/* ---- operations on vectors ---- */

static ScalarOpcode leaf_opcode(LeafType type, ScalarOpcode array, ScalarOpcode first_scalar)
{
    return type == LEAF_ARRAY ? array : (ScalarOpcode)(first_scalar + type);
}

/* The elements of a vector whose registers are in a row are read by one instruction each, checks included. */
static void read_elements(Compiler *compiler, const Layout *elements, uint32_t target, uint32_t vector,
                          uint32_t index)
{
    for (uint32_t i = 0; i < elements->count; i++) {
        ScalarOpcode opcode = leaf_opcode(elements->leaves[i].type, CODE_ELEMENT_ARRAY, CODE_ELEMENT_BOOL);
        emit(&compiler->emitter, opcode, target + i, vector, index)->extra = (uint16_t)i;
    }
}

static void load_elements(Compiler *compiler, const Layout *elements, uint32_t target, const uint32_t *vector,
                          uint32_t index)
{
    Emitter *emitter = &compiler->emitter;
    emit(emitter, CODE_CHECK_INDEX, 0, index, vector[2]);
    if (elements->count == 0)
        return;
    uint32_t position = emit_locals(emitter, 1);
    emit(emitter, CODE_ADD_I64, position, vector[1], index);
    for (uint32_t i = 0; i < elements->count; i++) {
        ScalarOpcode opcode = leaf_opcode(elements->leaves[i].type, CODE_LOAD_ARRAY, CODE_LOAD_BOOL);
        emit(emitter, opcode, target + i, vector[0], position)->extra = (uint16_t)i;
    }
}

static void compile_element(Compiler *compiler, const CoreStatement *statement)
{
    const uint32_t *vector = registers_of(compiler, &statement->arguments[0]);
    uint32_t index = register_of(compiler, &statement->arguments[1]);
    const Layout *elements = layout_of(compiler->code->layouts, type_of(compiler, statement->target));
    uint32_t target = place(compiler, statement->target);
    ScalarVariable *variable = variable_of(compiler, statement->target);
    variable->is_single = variable->uses == 1;
    if (elements->count > 0 && vector[1] == vector[0] + 1 && vector[2] == vector[0] + 2)
        read_elements(compiler, elements, target, vector[0], index);
    else
        load_elements(compiler, elements, target, vector, index);
}

static void place_slice(Compiler *compiler, CoreVar target, uint32_t array, uint32_t start, uint32_t length)
{
    uint32_t *registers = ARENA_ARRAY(compiler->arena, uint32_t, 3);
    registers[0] = array, registers[1] = start, registers[2] = length;
    variable_of(compiler, target)->registers = registers;
}

/* A new register with the result of an instruction. */
static uint32_t computed(Compiler *compiler, ScalarOpcode opcode, uint32_t first, uint32_t second)
{
    uint32_t target = emit_locals(&compiler->emitter, 1);
    emit(&compiler->emitter, opcode, target, first, second);
    return target;
}

static void compile_subseq(Compiler *compiler, const CoreStatement *statement)
{
    const uint32_t *vector = registers_of(compiler, &statement->arguments[0]);
    const CoreAtom *from = &statement->arguments[1];
    uint32_t start = register_of(compiler, from), end = register_of(compiler, &statement->arguments[2]);
    emit(&compiler->emitter, CODE_CHECK_SLICE, vector[2], start, end);
    if (from->is_constant && from->constant.integer == 0) {
        place_slice(compiler, statement->target, vector[0], vector[1], end);
        return;
    }
    uint32_t new_start = computed(compiler, CODE_ADD_I64, vector[1], start);
    uint32_t new_length = computed(compiler, CODE_SUBTRACT_I64, end, start);
    place_slice(compiler, statement->target, vector[0], new_start, new_length);
}

static void compile_cut(Compiler *compiler, const CoreStatement *statement)
{
    const uint32_t *vector = registers_of(compiler, &statement->arguments[0]);
    uint32_t count = register_of(compiler, &statement->arguments[1]);
    uint32_t cut = computed(compiler, CODE_CUT, vector[2], count);
    if (statement->op == OP_TAKE) {
        place_slice(compiler, statement->target, vector[0], vector[1], cut);
        return;
    }
    uint32_t new_start = computed(compiler, CODE_ADD_I64, vector[1], cut);
    uint32_t new_length = computed(compiler, CODE_SUBTRACT_I64, vector[2], cut);
    place_slice(compiler, statement->target, vector[0], new_start, new_length);
}

static void compile_op(Compiler *compiler, const CoreStatement *statement)
{
    switch (statement->op) {
    case OP_LENGTH: {
        const uint32_t *vector = registers_of(compiler, &statement->arguments[0]);
        variable_of(compiler, statement->target)->registers = vector + 2;
        return;
    }
    case OP_ELEMENT:
        compile_element(compiler, statement);
        return;
    case OP_SUBSEQ:
        compile_subseq(compiler, statement);
        return;
    case OP_TAKE:
    case OP_DROP:
        compile_cut(compiler, statement);
        return;
    default:
        if (is_condition(compiler, statement))
            compile_condition(compiler, statement);
        else
            compile_scalar_op(compiler, statement);
    }
}

/* ---- names for what is there ---- */

static void alias(Compiler *compiler, CoreVar target, const uint32_t *registers, bool is_single)
{
    ScalarVariable *variable = variable_of(compiler, target);
    variable->registers = registers;
    variable->is_single = is_single && variable->uses == 1;
}

static void compile_pair(Compiler *compiler, const CoreStatement *statement)
{
    uint32_t counts[2], filled = 0;
    for (uint32_t i = 0; i < 2; i++)
        counts[i] = leaf_count(compiler, statement->arguments[i].type);
    uint32_t *registers = ARENA_ARRAY(compiler->arena, uint32_t, counts[0] + counts[1]);
    bool are_single = true;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t *component = registers_of(compiler, &statement->arguments[i]);
        are_single &= statement->arguments[i].is_constant || is_single(compiler, &statement->arguments[i]);
        for (uint32_t j = 0; j < counts[i]; j++)
            registers[filled++] = component[j];
    }
    alias(compiler, statement->target, registers, are_single);
}

static void compile_project(Compiler *compiler, const CoreStatement *statement)
{
    const CoreAtom *pair = &statement->arguments[0];
    const uint32_t *registers = registers_of(compiler, pair);
    TypeId first = type_first(compiler->program->types, pair->type);
    uint32_t skipped = statement->component == 0 ? 0 : leaf_count(compiler, first);
    alias(compiler, statement->target, registers + skipped, is_single(compiler, pair));
}

/* ---- calls ---- */

/* The leaves of a call's arguments, and which of them nothing else needs. */
typedef struct Arguments {
    uint32_t *sources;
    bool *are_single;
    uint32_t count;
} Arguments;

static Arguments gather_arguments(Compiler *compiler, const CoreStatement *statement)
{
    Arguments arguments = {0};
    for (uint32_t i = 0; i < statement->argument_count; i++)
        arguments.count += leaf_count(compiler, statement->arguments[i].type);
    arguments.sources = ARENA_ARRAY(compiler->arena, uint32_t, arguments.count);
    arguments.are_single = ARENA_ARRAY(compiler->arena, bool, arguments.count);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        const uint32_t *registers = registers_of(compiler, atom);
        uint32_t count = leaf_count(compiler, atom->type);
        for (uint32_t j = 0; j < count; j++, filled++) {
            arguments.sources[filled] = registers[j];
            arguments.are_single[filled] = is_single(compiler, atom);
        }
    }
    return arguments;
}

static void move(Compiler *compiler, uint32_t target, uint32_t *sources, const bool *may_rename, uint32_t count)
{
    MoveSet moves = {.target = target,
                     .sources = sources,
                     .may_rename = may_rename,
                     .count = count,
                     .start = compiler->scope.start,
                     .first_local = compiler->scope.first_local};
    emit_moves(&compiler->emitter, &moves);
}

static void need_function(Compiler *compiler, CoreFunctionId function)
{
    if (scalar_function_of(compiler->code, function)->code == NULL)
        *vec_push(compiler->arena, &compiler->pending) = function;
}

static void compile_tail_call(Compiler *compiler, const CoreStatement *statement)
{
    Arguments arguments = gather_arguments(compiler, statement);
    emit_header(&compiler->emitter, arguments.count);
    move(compiler, 0, arguments.sources, NULL, arguments.count);
    if (statement->function == compiler->function) {
        emit_loop(&compiler->emitter);
        return;
    }
    need_function(compiler, statement->function);
    emit(&compiler->emitter, CODE_TAIL_CALL, statement->function, 0, 0);
}

/* Whether the arguments are the last locals, as if put there for the call. */
static bool are_in_place(const Compiler *compiler, const Arguments *arguments)
{
    uint32_t free = compiler->emitter.free;
    if (arguments->count > free)
        return false;
    for (uint32_t i = 0; i < arguments->count; i++)
        if (arguments->sources[i] != (REGISTER_LOCAL | (free - arguments->count + i)) || !arguments->are_single[i])
            return false;
    return true;
}

static void compile_call(Compiler *compiler, const CoreStatement *statement)
{
    Emitter *emitter = &compiler->emitter;
    Arguments arguments = gather_arguments(compiler, statement);
    uint32_t base = emitter->free;
    if (are_in_place(compiler, &arguments)) {
        base -= arguments.count;
    } else {
        emit_locals(emitter, arguments.count);
        move(compiler, REGISTER_LOCAL | base, arguments.sources, arguments.are_single, arguments.count);
    }
    need_function(compiler, statement->function);
    emit(emitter, CODE_CALL, statement->function, REGISTER_LOCAL | base, 0);
    emitter->free = base;
    place(compiler, statement->target);
    ScalarVariable *target = variable_of(compiler, statement->target);
    target->is_single = target->uses == 1;
}

/* ---- blocks ---- */

static void compile_block(Compiler *compiler, const CoreBlock *block, Destination destination);

static void compile_if(Compiler *compiler, const CoreStatement *statement, Destination destination)
{
    Emitter *emitter = &compiler->emitter;
    Label otherwise = {0}, end = {0};
    jump_on(compiler, &statement->arguments[0], false, &otherwise);
    compile_block(compiler, statement->blocks[0], destination);
    if (!destination.is_tail)
        emit_jump(emitter, CODE_JUMP, 0, 0, &end);
    emit_label(emitter, otherwise);
    compile_block(compiler, statement->blocks[1], destination);
    emit_label(emitter, end);
}

/* An `if` whose value is needed here. */
static void compile_inner_if(Compiler *compiler, const CoreStatement *statement)
{
    uint32_t first = place(compiler, statement->target);
    uint32_t count = leaf_count(compiler, type_of(compiler, statement->target));
    ScalarVariable *target = variable_of(compiler, statement->target);
    target->is_single = target->uses == 1;
    compile_if(compiler, statement, (Destination){.first = first, .count = count});
}

static void compile_statement(Compiler *compiler, const CoreStatement *statement)
{
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP: {
        const uint32_t *registers = registers_of(compiler, &statement->arguments[0]);
        alias(compiler, statement->target, registers, is_single(compiler, &statement->arguments[0]));
        return;
    }
    case CORE_UNIT:
        alias(compiler, statement->target, in_row(compiler, 0, 0), false);
        return;
    case CORE_PAIR:
        compile_pair(compiler, statement);
        return;
    case CORE_PROJECT:
        compile_project(compiler, statement);
        return;
    case CORE_OP:
        compile_op(compiler, statement);
        return;
    case CORE_CALL:
        compile_call(compiler, statement);
        return;
    case CORE_IF:
        compile_inner_if(compiler, statement);
        return;
    case CORE_MAKE:
    case CORE_TEXT:
    case CORE_EACH:
    case CORE_GUARD:
    case CORE_GROUP:
        break;
    }
    bug("scalar code", "a function was not accepted and is compiled");
}

/* Nothing of the function is needed after the statement: the same as in src/ref. */
static bool is_last(const CoreBlock *block, uint32_t statement)
{
    return statement + 1 == block->statement_count && !block->result.is_constant &&
           block->result.variable == block->statements[statement].target;
}

static void deliver_result(Compiler *compiler, const CoreBlock *block, Destination destination)
{
    uint32_t count = leaf_count(compiler, block->result.type);
    uint32_t *sources = ARENA_ARRAY(compiler->arena, uint32_t, count);
    const uint32_t *registers = registers_of(compiler, &block->result);
    for (uint32_t i = 0; i < count; i++)
        sources[i] = registers[i];
    move(compiler, destination.is_tail ? 0 : destination.first, sources, NULL, count);
    if (destination.is_tail)
        emit(&compiler->emitter, CODE_RETURN, 0, 0, 0);
}

/* Whether the statement ended the function. */
static bool compile_last(Compiler *compiler, const CoreStatement *statement, Destination destination)
{
    if (statement->kind == CORE_CALL)
        compile_tail_call(compiler, statement);
    else if (statement->kind == CORE_IF)
        compile_if(compiler, statement, destination);
    return statement->kind == CORE_CALL || statement->kind == CORE_IF;
}

static void compile_statements(Compiler *compiler, const CoreBlock *block, Destination destination)
{
    Emitter *emitter = &compiler->emitter;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        emitter->origin = statement;
        load_globals(compiler, statement);
        if (destination.is_tail && is_last(block, i) && compile_last(compiler, statement, destination))
            return;
        compile_statement(compiler, statement);
    }
    emitter->origin = NULL;
    deliver_result(compiler, block, destination);
}

static void compile_block(Compiler *compiler, const CoreBlock *block, Destination destination)
{
    Emitter *emitter = &compiler->emitter;
    Scope outer = compiler->scope;
    compiler->scope = (Scope){emitter->code.count, emitter->free, compiler->loaded.count};
    compile_statements(compiler, block, destination);
    forget_loaded(compiler, compiler->scope.first_loaded);
    emitter->free = compiler->scope.first_local;
    compiler->scope = outer;
}

/* ---- functions ---- */

static void add_leaves(Compiler *compiler, TypeId type, LeafType *leaves, uint32_t *count)
{
    const Layout *layout = layout_of(compiler->code->layouts, type);
    for (uint32_t i = 0; i < layout->count; i++)
        leaves[(*count)++] = layout->leaves[i].type;
}

/* Where a function's arguments come from and its results go. */
static void describe_header(Compiler *compiler, const CoreBlock *body, ScalarFunction *function)
{
    Arena *arena = &compiler->code->arena;
    uint32_t argument_count = 0;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        argument_count += leaf_count(compiler, type_of(compiler, body->parameters[i]));
    function->arguments = ARENA_ARRAY(arena, LeafType, argument_count);
    function->results = ARENA_ARRAY(arena, LeafType, leaf_count(compiler, body->result.type));
    function->argument_count = function->result_count = 0;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        add_leaves(compiler, type_of(compiler, body->parameters[i]), function->arguments, &function->argument_count);
    add_leaves(compiler, body->result.type, function->results, &function->result_count);
}

static void place_parameters(Compiler *compiler, const CoreBlock *body)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        uint32_t count = leaf_count(compiler, type_of(compiler, body->parameters[i]));
        variable_of(compiler, body->parameters[i])->registers = in_row(compiler, next, count);
        next += count;
    }
}

static void compile_function(Compiler *compiler, CoreFunctionId id)
{
    const CoreBlock *body = compiler->program->functions.items[id]->body;
    ScalarFunction function = *scalar_function_of(compiler->code, id);
    compiler->function = id;
    variable_of(compiler, compiler->program->variables.count - 1); /* pointers into the table stay */
    describe_header(compiler, body, &function);
    count_uses(compiler, body);
    place_parameters(compiler, body);
    emit_start(&compiler->emitter, compiler->arena, id);
    emit_header(&compiler->emitter, function.argument_count);
    emit_header(&compiler->emitter, function.result_count);
    compile_block(compiler, body, (Destination){.is_tail = true});
    emit_finish(&compiler->emitter, &compiler->code->arena, &function);
    *scalar_function_of(compiler->code, id) = function;
}

void scalar_compile(ScalarCode *code, CoreFunctionId function)
{
    if (scalar_function_of(code, function)->code != NULL)
        return;
    arena_free(&code->scratch);
    Compiler compiler = {.code = code, .program = code->program, .arena = &code->scratch};
    *vec_push(compiler.arena, &compiler.pending) = function;
    while (compiler.pending.count > 0) {
        CoreFunctionId next = vec_pop(&compiler.pending);
        if (scalar_function_of(code, next)->code == NULL)
            compile_function(&compiler, next);
    }
    arena_free(&code->scratch);
}
