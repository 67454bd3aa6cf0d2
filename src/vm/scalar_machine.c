/* The machine that runs scalar code: its instructions, its stacks, the points it is given. */
#include "math/elementary.h"
#include "vm/scalar_code_private.h"

#include <string.h>

/* ---- cells ---- */

static Scalar read_cell(LeafType type, const void *data, size_t i)
{
    Scalar value = {0};
    switch (type) {
#define CELL_TRUTH(c_type) value.integer = (int64_t)((const c_type *)data)[i]
#define CELL_CHARACTER(c_type) CELL_TRUTH(c_type)
#define CELL_SIGNED(c_type) CELL_TRUTH(c_type)
#define CELL_UNSIGNED(c_type) CELL_TRUTH(c_type)
#define CELL_FLOATING(c_type) memcpy(&value, (const c_type *)data + i, sizeof(c_type))
#define LEAF(TYPE, c_type, kind)                                                                                      \
    case SCALAR_##TYPE:                                                                                               \
        CELL_##kind(c_type);                                                                                          \
        break;
#include "vm/scalar_opcodes.def"
    case LEAF_ARRAY:
        memcpy(&value, (Array *const *)data + i, sizeof(Array *));
        break;
    default:
        break;
    }
    return value;
}

static Array *array_in(Scalar value)
{
    Array *array;
    memcpy(&array, &value, sizeof array);
    return array;
}

static void write_cell(LeafType type, void *data, size_t i, Scalar value)
{
    switch (type) {
#define STORE_TRUTH(c_type) ((c_type *)data)[i] = (c_type)value.integer
#define STORE_CHARACTER(c_type) STORE_TRUTH(c_type)
#define STORE_SIGNED(c_type) STORE_TRUTH(c_type)
#define STORE_UNSIGNED(c_type) STORE_TRUTH(c_type)
#define STORE_FLOATING(c_type) memcpy((c_type *)data + i, &value, sizeof(c_type))
#define LEAF(TYPE, c_type, kind)                                                                                      \
    case SCALAR_##TYPE:                                                                                               \
        STORE_##kind(c_type);                                                                                         \
        break;
#include "vm/scalar_opcodes.def"
    case LEAF_ARRAY:
        ((Array **)data)[i] = array_in(value);
        break;
    default:
        break;
    }
}

/* ---- points ---- */

/* Leaves whose cells are registers as they are. */
static const bool is_wide[LEAF_ARRAY + 1] = {
    [SCALAR_I64] = true, [SCALAR_U64] = true, [SCALAR_F64] = true, [LEAF_ARRAY] = true};

static void begin_point(const ScalarMachine *machine, Scalar *registers)
{
    const ScalarFunction *function = machine->function;
    for (uint32_t i = 0; i < function->argument_count; i++) {
        Cells cells = machine->run->arguments[i];
        LeafType type = function->arguments[i];
        size_t index = cells_index(cells, machine->point);
        if (is_wide[type])
            memcpy(&registers[i], (const Scalar *)cells.data + index, sizeof(Scalar));
        else
            registers[i] = read_cell(type, cells.data, index);
    }
}

static void end_point(ScalarMachine *machine, const Scalar *registers)
{
    const ScalarFunction *function = machine->function;
    for (uint32_t i = 0; i < function->result_count; i++) {
        LeafType type = function->results[i];
        write_cell(type, machine->results[i], machine->point, registers[i]);
        if (type == LEAF_ARRAY && !machine->is_shared)
            array_retain(array_in(registers[i]));
    }
    machine->point++;
}

/* ---- stacks ---- */

enum { STACK_FIRST = 256 }; /* items */

size_t scalar_capacity(size_t capacity, size_t needed)
{
    size_t grown = capacity < STACK_FIRST ? STACK_FIRST : capacity;
    while (grown < needed)
        grown += grown / 2;
    return grown;
}

void scalar_resize_registers(ScalarCode *code, ScalarStacks *stacks, size_t capacity)
{
    stacks->registers = memory_resize(code->memory, stacks->registers, stacks->register_capacity * sizeof(Scalar),
                                      capacity * sizeof(Scalar));
    stacks->register_capacity = capacity;
}

void scalar_resize_returns(ScalarCode *code, ScalarStacks *stacks, size_t capacity)
{
    size_t size = sizeof(const Instruction *);
    stacks->returns = memory_resize(code->memory, stacks->returns, stacks->return_capacity * size, capacity * size);
    stacks->return_capacity = capacity;
}

/* The ends of the stacks, for the machine: beyond them is more room, or none. */
static const Instruction **end_of_returns(const ScalarMachine *machine)
{
    size_t capacity = machine->stacks->return_capacity;
    return machine->stacks->returns + (capacity < machine->return_limit ? capacity : machine->return_limit);
}

static Scalar *end_of_registers(const ScalarStacks *stacks)
{
    return stacks->registers + stacks->register_capacity;
}

/* Makes room for one more address; the new top of the stack. */
static const Instruction **more_returns(const ScalarMachine *machine, const Instruction **returns)
{
    ScalarStacks *stacks = machine->stacks;
    size_t height = (size_t)(returns - stacks->returns);
    machine->run->done = machine->point;
    scalar_resize_returns(machine->code, stacks, scalar_capacity(stacks->return_capacity, height + 1));
    return stacks->returns + height;
}

/* Makes room for an activation at `registers`, which may move. */
static Scalar *more_registers(const ScalarMachine *machine, Scalar *registers, uint32_t count)
{
    ScalarStacks *stacks = machine->stacks;
    size_t base = (size_t)(registers - stacks->registers);
    machine->run->done = machine->point;
    scalar_resize_registers(machine->code, stacks, scalar_capacity(stacks->register_capacity, base + count));
    return stacks->registers + base;
}

/* ---- failures ---- */

static ScalarOutcome fail(ScalarMachine *machine, const Instruction *at, ScalarProblemKind kind, Scalar a, Scalar b, Scalar c)
{
    machine->failed = at;
    machine->problem.kind = kind;
    machine->problem.numbers[0] = a;
    machine->problem.numbers[1] = b;
    machine->problem.numbers[2] = c;
    return OUTCOME_FAILED;
}

static bool is_unwanted(const ScalarMachine *machine)
{
    return machine->point >= atomic_load_explicit(machine->halt, memory_order_relaxed);
}

/* ---- what instructions need ---- */

static int64_t floored_remainder(int64_t a, int64_t b)
{
    int64_t remainder = b == -1 ? 0 : a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

static Scalar scalar_f32(float value)
{
    Scalar scalar = {0};
    scalar.f32 = math_canonical_f32(value);
    return scalar;
}

/* Where take and drop cut, counted from the end if negative; false if there is not so much. */
static bool find_cut(uint64_t length, int64_t count, Scalar *cut)
{
    uint64_t magnitude = count < 0 ? UINT64_C(0) - (uint64_t)count : (uint64_t)count;
    cut->bits = count < 0 ? length - magnitude : magnitude;
    return magnitude <= length;
}

bool scalar_find_global(ScalarCode *code, const ScalarRun *run, ScalarGlobal *global)
{
    uint32_t count = global->layout->count;
    Cells *cells = memory_alloc(code->memory, count * sizeof *cells);
    bool has_value = run->global(run->context, global->variable, cells);
    for (uint32_t i = 0; has_value && i < count; i++)
        global->values[i] = read_cell(global->layout->leaves[i].type, cells[i].data, 0);
    memory_free(code->memory, cells, count * sizeof *cells);
    if (has_value)
        global->run = code->run;
    return has_value;
}

/* The values of a global into registers; false if it has none. */
static bool read_global(ScalarMachine *machine, uint32_t number, Scalar *registers)
{
    ScalarCode *code = machine->code;
    ScalarGlobal *global = &code->globals.items[number];
    if (global->run != code->run) {
        machine->problem.global = global->variable;
        if (machine->is_shared)
            return false;
        machine->run->done = machine->point;
        if (!scalar_find_global(code, machine->run, global))
            return false;
    }
    if (global->layout->count > 0)
        memcpy(registers, global->values, global->layout->count * sizeof(Scalar));
    return true;
}

static const void *column_cell(Scalar array, uint32_t column, uint64_t position, size_t size)
{
    const Column *cells = &array_in(array)->columns[column];
    return (const char *)cells->data + (cells->is_uniform ? 0 : position) * size;
}

/* ---- instructions ---- */

#define BITS(value) ((Scalar){.bits = (value)})
#define INTEGER(value) ((Scalar){.integer = (value)})
#define WRAP(c_type, value) ((Scalar){.integer = (int64_t)(c_type)(value)})
#define F64(value) ((Scalar){.f64 = math_canonical(value)})
#define F32(value) scalar_f32(value)

#define RARE(condition) __builtin_expect(condition, 0)
#define LABEL(NAME) label_##NAME
#define FIRST registers[at->first]
#define SECOND registers[at->second]
#define CONSTANT INTEGER((int32_t)at->second)
#define TARGET registers[at->target]

/* Goes on with the instruction that `at` has become. */
#define CONTINUE goto *labels[at->opcode]
#define NEXT                                                                                                          \
    do {                                                                                                              \
        at++;                                                                                                         \
        CONTINUE;                                                                                                     \
    } while (0)
#define GO                                                                                                            \
    do {                                                                                                              \
        at = (const Instruction *)((const char *)at + (int32_t)at->target);                                           \
        CONTINUE;                                                                                                     \
    } while (0)
#define FAIL(kind, a, b, c) return fail(machine, at, SCALAR_PROBLEM_##kind, a, b, c)
#define POLL                                                                                                          \
    do {                                                                                                              \
        if (RARE(stop_reason(stop) != STOP_NOT))                                                                      \
            FAIL(STOPPED, none, none, none);                                                                          \
        if (RARE(atomic_load_explicit(is_halted, memory_order_relaxed)) && is_unwanted(machine))                      \
            return OUTCOME_HALTED;                                                                                    \
    } while (0)
#define ENTER(callee)                                                                                                 \
    do {                                                                                                              \
        if (RARE((size_t)(registers_end - registers) < (callee)->register_count)) {                                   \
            if (machine->is_shared)                                                                                   \
                return OUTCOME_FULL;                                                                                  \
            registers = more_registers(machine, registers, (callee)->register_count);                                 \
            registers_end = end_of_registers(stacks);                                                                 \
        }                                                                                                             \
        at = (callee)->code;                                                                                          \
        CONTINUE;                                                                                                     \
    } while (0)
#define RESULT(value)                                                                                                 \
    do {                                                                                                              \
        TARGET = (value);                                                                                             \
        NEXT;                                                                                                         \
    } while (0)
#define CHECKED_RESULT(check, value)                                                                                  \
    do {                                                                                                              \
        if (RARE(!(check)))                                                                                           \
            FAIL(OPERATION, a, b, none);                                                                              \
        RESULT(value);                                                                                                \
    } while (0)

/* The cell of an element, all checks done. */
#define CELL_SCALAR(TYPE, c_type, array, position)                                                                    \
    read_cell(SCALAR_##TYPE, column_cell(array, at->extra, position, sizeof(c_type)), 0)
#define CELL_ARRAY(array, position) read_cell(LEAF_ARRAY, column_cell(array, at->extra, position, sizeof(Array *)), 0)
/* An element of a vector in three registers. */
#define ELEMENT(cell)                                                                                                 \
    do {                                                                                                              \
        const Scalar *vector = &FIRST;                                                                                \
        uint64_t index = SECOND.bits;                                                                                 \
        if (RARE(index >= vector[2].bits))                                                                            \
            FAIL(INDEX, SECOND, vector[2], none);                                                                     \
        uint64_t position = vector[1].bits + index;                                                                   \
        RESULT(cell);                                                                                                 \
    } while (0)

/* One function, for its local variables are the machine's registers proper. */
ScalarOutcome scalar_execute(ScalarMachine *machine)
{
    static const void *const labels[CODE_COUNT] = {
        [CODE_NONE] = &&LABEL(NONE),
#define ROW(NAME) [CODE_##NAME] = &&LABEL(NAME),
#define UNARY(OP, TYPE, result) ROW(OP##_##TYPE)
#define REGISTERS(OP, TYPE, result) ROW(OP##_##TYPE)
#define BINARY(OP, TYPE, result) ROW(OP##_##TYPE) ROW(OP##_##TYPE##_IMMEDIATE)
#define CHECKED(OP, TYPE, check, result) BINARY(OP, TYPE, result)
#define CONVERSION(FROM, TO, check, result) ROW(FROM##_TO_##TO)
#define LEAF(TYPE, c_type, kind) ROW(ELEMENT_##TYPE) ROW(LOAD_##TYPE)
#define CONDITION(NAME, TYPE, test) ROW(SET_##NAME##_##TYPE) ROW(JUMP_##NAME##_##TYPE) ROW(LOOP_##NAME##_##TYPE)
#define CONDITION_IMMEDIATE(NAME, TYPE, test) CONDITION(NAME, TYPE##_IMMEDIATE, test)
#define OTHER(NAME, fields) ROW(NAME)
#include "vm/scalar_opcodes.def"
#undef ROW
    };
    static const Instruction frame_of_point[2] = {{.opcode = CODE_CALL}, {.opcode = CODE_STOP}};
    static const StopFlag never = {0};
    static const Scalar none = {0};

    const ScalarCode *code = machine->code;
    ScalarStacks *stacks = machine->stacks;
    const ScalarFunction *functions = code->functions.items;
    const StopFlag *stop = machine->run->stop == NULL ? &never : machine->run->stop;
    const _Atomic bool *is_halted = machine->is_halted;
    const Instruction *at = machine->function->code;
    Scalar *registers = stacks->registers, *registers_end = end_of_registers(stacks);
    const Instruction **returns = stacks->returns, **returns_end = end_of_returns(machine);
    *returns++ = frame_of_point;
    begin_point(machine, registers);
    CONTINUE;

#define UNARY(OP, TYPE, result)                                                                                       \
    LABEL(OP##_##TYPE) :                                                                                              \
    {                                                                                                                 \
        Scalar a = FIRST;                                                                                             \
        RESULT(result);                                                                                               \
    }
#define REGISTERS(OP, TYPE, result)                                                                                   \
    LABEL(OP##_##TYPE) :                                                                                              \
    {                                                                                                                 \
        Scalar a = FIRST, b = SECOND;                                                                                 \
        RESULT(result);                                                                                               \
    }
#define BINARY(OP, TYPE, result)                                                                                      \
    REGISTERS(OP, TYPE, result)                                                                                       \
    LABEL(OP##_##TYPE##_IMMEDIATE) :                                                                                  \
    {                                                                                                                 \
        Scalar a = FIRST, b = CONSTANT;                                                                               \
        RESULT(result);                                                                                               \
    }
#define CHECKED(OP, TYPE, check, result)                                                                              \
    LABEL(OP##_##TYPE) :                                                                                              \
    {                                                                                                                 \
        Scalar a = FIRST, b = SECOND;                                                                                 \
        CHECKED_RESULT(check, result);                                                                                \
    }                                                                                                                 \
    LABEL(OP##_##TYPE##_IMMEDIATE) :                                                                                  \
    {                                                                                                                 \
        Scalar a = FIRST, b = CONSTANT;                                                                               \
        CHECKED_RESULT(check, result);                                                                                \
    }
#define CONVERSION(FROM, TO, check, result)                                                                           \
    LABEL(FROM##_TO_##TO) :                                                                                           \
    {                                                                                                                 \
        Scalar a = FIRST, b = none;                                                                                   \
        CHECKED_RESULT(check, result);                                                                                \
    }
#define CONDITION_ON(NAME, TYPE, test, operand)                                                                       \
    LABEL(SET_##NAME##_##TYPE) :                                                                                      \
    {                                                                                                                 \
        Scalar a = FIRST, b = operand;                                                                                \
        RESULT(INTEGER(test));                                                                                        \
    }                                                                                                                 \
    LABEL(JUMP_##NAME##_##TYPE) :                                                                                     \
    {                                                                                                                 \
        Scalar a = FIRST, b = operand;                                                                                \
        if (test)                                                                                                     \
            GO;                                                                                                     \
        NEXT;                                                                                                         \
    }                                                                                                                 \
    LABEL(LOOP_##NAME##_##TYPE) :                                                                                     \
    {                                                                                                                 \
        Scalar a = FIRST, b = operand;                                                                                \
        POLL;                                                                                                         \
        if (test)                                                                                                     \
            GO;                                                                                                     \
        NEXT;                                                                                                         \
    }
#define CONDITION(NAME, TYPE, test) CONDITION_ON(NAME, TYPE, test, SECOND)
#define CONDITION_IMMEDIATE(NAME, TYPE, test) CONDITION_ON(NAME, TYPE##_IMMEDIATE, test, CONSTANT)
#define LEAF(TYPE, c_type, kind)                                                                                      \
    LABEL(ELEMENT_##TYPE) : ELEMENT(CELL_SCALAR(TYPE, c_type, vector[0], position));                                  \
    LABEL(LOAD_##TYPE) : RESULT(CELL_SCALAR(TYPE, c_type, FIRST, SECOND.bits));
#include "vm/scalar_opcodes.def"
#undef CONDITION_ON

LABEL(ELEMENT_ARRAY):
    ELEMENT(CELL_ARRAY(vector[0], position));
LABEL(LOAD_ARRAY):
    RESULT(CELL_ARRAY(FIRST, SECOND.bits));
LABEL(CHECK_INDEX):
    if (FIRST.bits >= SECOND.bits)
        FAIL(INDEX, FIRST, SECOND, none);
    NEXT;
LABEL(CHECK_SLICE):
    if (FIRST.integer < 0 || SECOND.integer < FIRST.integer || SECOND.integer > TARGET.integer)
        FAIL(SLICE, FIRST, SECOND, TARGET);
    NEXT;
LABEL(CUT): {
    Scalar cut;
    if (!find_cut(FIRST.bits, SECOND.integer, &cut))
        FAIL(CUT, SECOND, FIRST, none);
    RESULT(cut);
}

LABEL(MOVE):
    RESULT(FIRST);
LABEL(MOVE_TWO):
    TARGET = FIRST;
    registers[at->extra] = SECOND;
    NEXT;
LABEL(DIVIDE_POWER): {
    int64_t a = FIRST.integer;
    RESULT(INTEGER((a + ((a >> 63) & ((INT64_C(1) << at->second) - 1))) >> at->second));
}
LABEL(REMAINDER_POWER): {
    int64_t a = FIRST.integer, mask = (int32_t)at->second, bias = (a >> 63) & mask;
    RESULT(INTEGER(((a + bias) & mask) - bias));
}
LABEL(CONSTANTS):
    memcpy(&TARGET, functions[at->first].constants, at->second * sizeof(Scalar));
    NEXT;
LABEL(GLOBAL):
    if (!read_global(machine, at->first, &TARGET))
        FAIL(GLOBAL, none, none, none);
    NEXT;

LABEL(APPLY_1): {
    const ScalarApplication *apply = &code->applications.items[at->extra];
    Scalar operand = FIRST, result = none;
    if (!scalar_apply(apply->op, apply->operand, apply->target, &operand, &result))
        FAIL(OPERATION, operand, none, none);
    RESULT(result);
}
LABEL(APPLY_2): {
    const ScalarApplication *apply = &code->applications.items[at->extra];
    Scalar operands[] = {FIRST, SECOND}, result = none;
    if (!scalar_apply(apply->op, apply->operand, apply->target, operands, &result))
        FAIL(OPERATION, operands[0], operands[1], none);
    RESULT(result);
}
LABEL(APPLY_3): {
    const ScalarApplication *apply = &code->applications.items[at->extra];
    const Scalar *operands = &FIRST;
    Scalar result = none;
    if (!scalar_apply(apply->op, apply->operand, apply->target, operands, &result))
        FAIL(OPERATION, operands[0], operands[1], operands[2]);
    RESULT(result);
}

LABEL(JUMP):
    GO;
LABEL(LOOP):
    POLL;
    GO;
LABEL(CALL): {
    const ScalarFunction *callee = &functions[at->target];
    POLL;
    if (RARE(returns == returns_end)) {
        if (returns == stacks->returns + machine->return_limit)
            FAIL(TOO_DEEP, none, none, none);
        if (machine->is_shared)
            return OUTCOME_FULL;
        returns = more_returns(machine, returns);
        returns_end = end_of_returns(machine);
    }
    *returns++ = at;
    registers += at->first;
    ENTER(callee);
}
LABEL(TAIL_CALL): {
    const ScalarFunction *callee = &functions[at->target];
    POLL;
    ENTER(callee);
}
LABEL(RETURN):
    at = *--returns;
    registers -= at->first;
    NEXT;
LABEL(STOP):
    end_point(machine, registers);
    if (machine->point == machine->end)
        return OUTCOME_DONE;
    *returns++ = frame_of_point;
    begin_point(machine, registers);
    at = machine->function->code;
    POLL;
    CONTINUE;
LABEL(NONE):
    bug("scalar code", "an instruction that is none");
}
