/* What is kept of scalar code, how it prints, and its failures in words. */
#include "vm/scalar_code_private.h"

const ScalarOpcodeInfo scalar_opcodes[CODE_COUNT] = {
#define ROW(NAME, fields) [CODE_##NAME] = {#NAME, fields},
#define UNARY(OP, TYPE, result) ROW(OP##_##TYPE, WRITES_TARGET | READS_FIRST)
#define REGISTERS(OP, TYPE, result) ROW(OP##_##TYPE, WRITES_TARGET | READS_FIRST | READS_SECOND)
#define BINARY(OP, TYPE, result)                                                                                      \
    REGISTERS(OP, TYPE, result) ROW(OP##_##TYPE##_IMMEDIATE, WRITES_TARGET | READS_FIRST)
#define CHECKED(OP, TYPE, check, result)                                                                              \
    ROW(OP##_##TYPE, WRITES_TARGET | READS_FIRST | READS_SECOND | FAILS)                                              \
    ROW(OP##_##TYPE##_IMMEDIATE, WRITES_TARGET | READS_FIRST | FAILS)
#define CONVERSION(FROM, TO, check, result) ROW(FROM##_TO_##TO, WRITES_TARGET | READS_FIRST | FAILS)
#define LEAF(TYPE, c_type, kind)                                                                                      \
    ROW(ELEMENT_##TYPE, WRITES_TARGET | READS_VECTOR | READS_SECOND | FAILS)                                          \
    ROW(LOAD_##TYPE, WRITES_TARGET | READS_FIRST | READS_SECOND)
#define CONDITION(NAME, TYPE, test)                                                                                   \
    ROW(SET_##NAME##_##TYPE, WRITES_TARGET | READS_FIRST | READS_SECOND)                                              \
    ROW(JUMP_##NAME##_##TYPE, JUMPS | READS_FIRST | READS_SECOND)                                                     \
    ROW(LOOP_##NAME##_##TYPE, JUMPS | READS_FIRST | READS_SECOND)
#define CONDITION_IMMEDIATE(NAME, TYPE, test)                                                                         \
    ROW(SET_##NAME##_##TYPE##_IMMEDIATE, WRITES_TARGET | READS_FIRST)                                                 \
    ROW(JUMP_##NAME##_##TYPE##_IMMEDIATE, JUMPS | READS_FIRST)                                                        \
    ROW(LOOP_##NAME##_##TYPE##_IMMEDIATE, JUMPS | READS_FIRST)
#define OTHER(NAME, fields) ROW(NAME, fields)
#include "vm/scalar_opcodes.def"
#undef ROW
};

ScalarCode *scalar_code_new(Memory *memory, const CoreProgram *program, Layouts *layouts)
{
    ScalarCode *code = memory_alloc(memory, sizeof *code);
    code->memory = memory;
    code->program = program;
    code->layouts = layouts;
    arena_init(&code->arena, memory);
    arena_init(&code->scratch, memory);
    return code;
}

void scalar_code_free(ScalarCode *code)
{
    if (code == NULL)
        return;
    for (uint32_t i = 0; i < code->stacks_count; i++) {
        const ScalarStacks *stacks = &code->stacks[i];
        memory_free(code->memory, stacks->registers, stacks->register_capacity * sizeof *stacks->registers);
        memory_free(code->memory, stacks->returns, stacks->return_capacity * sizeof *stacks->returns);
    }
    memory_free(code->memory, code->stacks, code->stacks_count * sizeof *code->stacks);
    arena_free(&code->scratch);
    arena_free(&code->arena);
    memory_free(code->memory, code, sizeof *code);
}

ScalarFunction *scalar_function_of(ScalarCode *code, CoreFunctionId function)
{
    while (code->functions.count <= function)
        *vec_push(&code->arena, &code->functions) = (ScalarFunction){0};
    return &code->functions.items[function];
}

void scalar_code_forget(ScalarCode *code, uint32_t function_count)
{
    if (code->functions.count > function_count)
        code->functions.count = function_count;
}

/* ---- failures ---- */

static void word_operation(const ScalarCode *code, const ScalarProblem *problem, Failure *failure)
{
    const CoreStatement *statement = problem->statement;
    Types *types = code->program->types;
    ScalarType operand = type_scalar(types, statement->arguments[0].type);
    ScalarType target = type_scalar(types, code->program->variables.items[statement->target].type);
    failure_scalar(failure, statement->op, operand, target, problem->numbers);
}

void scalar_code_word(const ScalarCode *code, const ScalarRun *run, const Sources *sources, Failure *failure)
{
    const ScalarProblem *problem = &run->problem;
    const CoreStatement *statement = problem->statement;
    const CoreProgram *program = code->program;
    const Scalar *numbers = problem->numbers;
    failure_at(failure, sources, statement == NULL ? (Span){0} : statement->span);
    switch (problem->kind) {
    case SCALAR_PROBLEM_NONE:
        break;
    case SCALAR_PROBLEM_OPERATION:
        word_operation(code, problem, failure);
        break;
    case SCALAR_PROBLEM_INDEX:
        failure_index(failure, statement->op, numbers[0].integer, numbers[1].bits);
        break;
    case SCALAR_PROBLEM_SLICE:
        failure_subseq(failure, numbers[0].integer, numbers[1].integer, numbers[2].bits);
        break;
    case SCALAR_PROBLEM_CUT:
        failure_cut(failure, statement->op, numbers[0].integer, numbers[1].bits);
        break;
    case SCALAR_PROBLEM_GLOBAL:
        failure_no_value(failure, names_text(program->names, program->variables.items[problem->global].name));
        break;
    case SCALAR_PROBLEM_TOO_DEEP:
        failure_too_deep(failure, run->max_depth);
        break;
    case SCALAR_PROBLEM_STOPPED:
        failure_stopped(failure, run->stop);
        break;
    }
}

/* ---- printing ----
 *
 *     gcd: 4 registers, constants 0
 *        0  JUMP_EQUAL_I64_IMMEDIATE r1 0 -> 4
 *        1  REMAINDER_I64 r2 = r0 r1
 */

static void print_operand(Text *out, bool is_register, uint32_t value)
{
    if (is_register)
        text_addf(out, " r%u", value);
    else
        text_addf(out, " %d", (int32_t)value);
}

static void print_instruction(const Instruction *instruction, uint32_t position, Text *out)
{
    const ScalarOpcodeInfo *info = &scalar_opcodes[instruction->opcode];
    uint16_t fields = info->fields;
    text_addf(out, "%4u  %s", position, info->name);
    if (fields & (WRITES_TARGET | WRITES_SECOND_COUNT))
        text_addf(out, " r%u =", instruction->target);
    else if (!(fields & JUMPS))
        print_operand(out, fields & READS_TARGET, instruction->target);
    print_operand(out, fields & (READS_FIRST | READS_VECTOR | CALLS), instruction->first);
    print_operand(out, fields & READS_SECOND, instruction->second);
    if (instruction->extra != 0)
        text_addf(out, " (%u)", instruction->extra);
    if (fields & JUMPS)
        text_addf(out, " -> %d", (int32_t)position + (int32_t)instruction->target / (int32_t)sizeof(Instruction));
    text_add_char(out, '\n');
}

void scalar_code_print(ScalarCode *code, CoreFunctionId function, Text *out)
{
    scalar_compile(code, function);
    const ScalarFunction *compiled = &code->functions.items[function];
    const CoreFunction *core = code->program->functions.items[function];
    text_addf(out, "%s: %u registers\n", names_text(code->program->names, core->name), compiled->register_count);
    for (uint32_t i = 0; i < compiled->count; i++)
        print_instruction(&compiled->code[i], i, out);
}
