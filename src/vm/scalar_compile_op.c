/* Operations of scalar code, on scalars and on vectors. */
#include "vm/scalar_compile.h"

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
    return exact.registers != CODE_NONE ? exact : typed_opcodes[op][compile_carrier(type)];
}

static bool is_commutative(Op op)
{
    return op == OP_ADD || op == OP_MULTIPLY || op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_MINIMUM ||
           op == OP_MAXIMUM;
}

static void emit_to(Compiler *compiler, CoreVar target, ScalarOpcode opcode, uint32_t first, uint32_t second)
{
    emit(&compiler->emitter, opcode, compile_place(compiler, target), first, second);
}

static void compile_binary(Compiler *compiler, CoreVar target, Op op, ScalarType type, const CoreAtom *a,
                           const CoreAtom *b)
{
    TypedOpcodes opcodes = opcodes_of(op, type);
    if (opcodes.immediate != CODE_NONE && is_commutative(op) && compile_fits(a)) {
        const CoreAtom *constant = a;
        a = b, b = constant;
    }
    uint32_t first = compile_operand(compiler, a);
    if (opcodes.immediate != CODE_NONE && compile_fits(b))
        emit_to(compiler, target, opcodes.immediate, first, (uint32_t)b->constant.integer);
    else
        emit_to(compiler, target, opcodes.registers, first, compile_operand(compiler, b));
}

/* Division by a power of two needs no division. False if it is none. */
static bool compile_power(Compiler *compiler, const CoreStatement *statement, ScalarType type)
{
    const CoreAtom *divisor = &statement->arguments[1];
    if (!compile_fits(divisor) || divisor->constant.integer < 1 ||
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
    uint32_t first = compile_operand(compiler, &statement->arguments[0]);
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
    uint16_t opcode = opcodes[compile_carrier(from)][to];
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
    ScalarType to = type_scalar(compiler->program->types, compile_type(compiler, statement->target));
    const CoreAtom *operand = &statement->arguments[0];
    if (is_same_in_register(from, to)) {
        const uint32_t *registers = compile_atom(compiler, operand);
        compile_variable(compiler, statement->target)->registers = registers;
        return true;
    }
    ScalarOpcode opcode = conversion_opcode(from, to);
    if (to == SCALAR_BOOL && scalar_kind(from) != KIND_FLOATING)
        opcode = CODE_SET_NOT_EQUAL_I64_IMMEDIATE;
    if (opcode == CODE_NONE)
        return false;
    emit_to(compiler, statement->target, opcode, compile_operand(compiler, operand), 0);
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
        sources[i] = compile_operand(compiler, &statement->arguments[i]);
    uint32_t row = emit_locals(&compiler->emitter, 3);
    for (uint32_t i = 0; i < 3; i++)
        emit(&compiler->emitter, CODE_MOVE, row + i, sources[i], 0);
    return row;
}

static void compile_application(Compiler *compiler, const CoreStatement *statement, ScalarType operand)
{
    static const ScalarOpcode opcodes[] = {CODE_NONE, CODE_APPLY_1, CODE_APPLY_2, CODE_APPLY_3};
    ScalarType target = type_scalar(compiler->program->types, compile_type(compiler, statement->target));
    uint16_t number = number_application(compiler, (ScalarApplication){statement->op, operand, target});
    uint32_t count = statement->argument_count;
    uint32_t first = count == 3 ? gather_operands(compiler, statement)
                                : compile_operand(compiler, &statement->arguments[0]);
    uint32_t second = count == 2 ? compile_operand(compiler, &statement->arguments[1]) : 0;
    uint32_t place_of_result = compile_place(compiler, statement->target);
    emit(&compiler->emitter, opcodes[count], place_of_result, first, second)->extra = number;
}

/* pi and the like. */
static void compile_named_constant(Compiler *compiler, const CoreStatement *statement)
{
    ScalarType type = type_scalar(compiler->program->types, compile_type(compiler, statement->target));
    Scalar value = {0};
    scalar_apply(statement->op, type, type, NULL, &value);
    uint32_t constant = emit_constant(&compiler->emitter, value);
    compile_variable(compiler, statement->target)->registers = compile_row(compiler, constant, 1);
}

void compile_scalar_op(Compiler *compiler, const CoreStatement *statement)
{
    Op op = statement->op;
    if (statement->argument_count == 0) {
        compile_named_constant(compiler, statement);
        return;
    }
    ScalarType type = compile_scalar_type(compiler, &statement->arguments[0]);
    ScalarVariable *target = compile_variable(compiler, statement->target);
    target->is_single = target->uses == 1;
    TypedOpcodes opcodes = opcodes_of(op, type);
    if (op == OP_NOT)
        compile_not(compiler, statement, type);
    else if (is_conversion(op) && compile_conversion(compiler, statement, type))
        target->is_single = false; /* it may be the operand itself */
    else if (opcodes.registers == CODE_NONE)
        compile_application(compiler, statement, type);
    else if (statement->argument_count == 1)
        emit_to(compiler, statement->target, opcodes.registers, compile_operand(compiler, &statement->arguments[0]), 0);
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
    const uint32_t *vector = compile_atom(compiler, &statement->arguments[0]);
    uint32_t index = compile_operand(compiler, &statement->arguments[1]);
    const Layout *elements = layout_of(compiler->code->layouts, compile_type(compiler, statement->target));
    uint32_t target = compile_place(compiler, statement->target);
    ScalarVariable *variable = compile_variable(compiler, statement->target);
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
    compile_variable(compiler, target)->registers = registers;
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
    const uint32_t *vector = compile_atom(compiler, &statement->arguments[0]);
    const CoreAtom *from = &statement->arguments[1];
    uint32_t start = compile_operand(compiler, from), end = compile_operand(compiler, &statement->arguments[2]);
    emit(&compiler->emitter, CODE_CHECK_SLICE, vector[2], start, end);
    if (from->is_constant && from->constant.integer == 0) {
        place_slice(compiler, statement->target, vector[0], vector[1], end);
        return;
    }
    uint32_t new_start = computed(compiler, CODE_ADD_I64, vector[1], start);
    uint32_t new_length = computed(compiler, CODE_SUBTRACT_I64, end, start);
    place_slice(compiler, statement->target, vector[0], new_start, new_length);
}

static void compile_slice(Compiler *compiler, const CoreStatement *statement)
{
    const uint32_t *vector = compile_atom(compiler, &statement->arguments[0]);
    uint32_t start = compile_operand(compiler, &statement->arguments[1]);
    uint32_t length = compile_operand(compiler, &statement->arguments[2]);
    place_slice(compiler, statement->target, vector[0], computed(compiler, CODE_ADD_I64, vector[1], start), length);
}

static void compile_checked_index(Compiler *compiler, const CoreStatement *statement)
{
    uint32_t *index = ARENA_ARRAY(compiler->arena, uint32_t, 1);
    index[0] = compile_operand(compiler, &statement->arguments[0]);
    emit(&compiler->emitter, CODE_CHECK_INDEX, 0, index[0], compile_operand(compiler, &statement->arguments[1]));
    compile_variable(compiler, statement->target)->registers = index;
}

static void compile_cut(Compiler *compiler, const CoreStatement *statement)
{
    const uint32_t *vector = compile_atom(compiler, &statement->arguments[0]);
    uint32_t count = compile_operand(compiler, &statement->arguments[1]);
    uint32_t cut = computed(compiler, CODE_CUT, vector[2], count);
    if (statement->op == OP_TAKE) {
        place_slice(compiler, statement->target, vector[0], vector[1], cut);
        return;
    }
    uint32_t new_start = computed(compiler, CODE_ADD_I64, vector[1], cut);
    uint32_t new_length = computed(compiler, CODE_SUBTRACT_I64, vector[2], cut);
    place_slice(compiler, statement->target, vector[0], new_start, new_length);
}

void compile_op(Compiler *compiler, const CoreStatement *statement)
{
    switch (statement->op) {
    case OP_LENGTH: {
        const uint32_t *vector = compile_atom(compiler, &statement->arguments[0]);
        compile_variable(compiler, statement->target)->registers = vector + 2;
        return;
    }
    case OP_ELEMENT:
    case OP_INSIDE: /* checked like the others: it is one instruction */
        compile_element(compiler, statement);
        return;
    case OP_SUBSEQ:
        compile_subseq(compiler, statement);
        return;
    case OP_SLICE:
        compile_slice(compiler, statement);
        return;
    case OP_CHECKED_INDEX:
        compile_checked_index(compiler, statement);
        return;
    case OP_TAKE:
    case OP_DROP:
        compile_cut(compiler, statement);
        return;
    default:
        if (compile_is_condition(compiler, statement))
            compile_condition(compiler, statement);
        else
            compile_scalar_op(compiler, statement);
    }
}
