/* The inside of scalar code: its instructions, and what is kept of functions.
 *
 * The machine has registers of 64 bits on a stack. An activation sees those from its base on:
 *
 *     header      the arguments, leaf by leaf; at the end, from the same first register on, the results or the arguments of a tail call
 *     constants   of the function, filled in when it is entered
 *     locals      one for each leaf of what statements compute
 *
 * A scalar is a register, a pair the registers of its components, a vector three registers as in its layout (array, start, length). So pairs and
 * wrappers are only names, and slices share the register of their array. The machine counts no references: the arrays that it can
 * reach are held by the arguments and globals while it runs.
 *
 * A call puts the arguments where the callee's activation begins, above everything the caller needs later, and finds the results there. A tail call
 * puts them into the caller's own header; one of the function itself becomes a jump back to its beginning. Addresses to return to are
 * on a stack of their own, whose height is the depth of the calls. */
#ifndef RUNNEL_VM_SCALAR_CODE_PRIVATE_H
#define RUNNEL_VM_SCALAR_CODE_PRIVATE_H

#include "vm/scalar_code.h"

#include <stdatomic.h>

typedef enum ScalarOpcode {
    CODE_NONE,
#define UNARY(OP, TYPE, result) CODE_##OP##_##TYPE,
#define REGISTERS(OP, TYPE, result) CODE_##OP##_##TYPE,
#define BINARY(OP, TYPE, result) CODE_##OP##_##TYPE, CODE_##OP##_##TYPE##_IMMEDIATE,
#define CHECKED(OP, TYPE, check, result) CODE_##OP##_##TYPE, CODE_##OP##_##TYPE##_IMMEDIATE,
#define CONVERSION(FROM, TO, check, result) CODE_##FROM##_TO_##TO,
#define OTHER(NAME, fields) CODE_##NAME,
#include "vm/scalar_opcodes.def"
#define LEAF(TYPE, c_type, kind) CODE_ELEMENT_##TYPE,
#include "vm/scalar_opcodes.def"
#define LEAF(TYPE, c_type, kind) CODE_LOAD_##TYPE,
#include "vm/scalar_opcodes.def"
#define CONDITION(NAME, TYPE, test) CODE_SET_##NAME##_##TYPE,
#define CONDITION_IMMEDIATE(NAME, TYPE, test) CODE_SET_##NAME##_##TYPE##_IMMEDIATE,
#include "vm/scalar_opcodes.def"
#define CONDITION(NAME, TYPE, test) CODE_JUMP_##NAME##_##TYPE,
#define CONDITION_IMMEDIATE(NAME, TYPE, test) CODE_JUMP_##NAME##_##TYPE##_IMMEDIATE,
#include "vm/scalar_opcodes.def"
#define CONDITION(NAME, TYPE, test) CODE_LOOP_##NAME##_##TYPE,
#define CONDITION_IMMEDIATE(NAME, TYPE, test) CODE_LOOP_##NAME##_##TYPE##_IMMEDIATE,
#include "vm/scalar_opcodes.def"
    CODE_COUNT
} ScalarOpcode;

enum {
    CODE_SET_FIRST = CODE_SET_EQUAL_I64,
    CODE_JUMP_FIRST = CODE_JUMP_EQUAL_I64,
    CODE_LOOP_FIRST = CODE_LOOP_EQUAL_I64,
    CONDITION_ROWS = CODE_JUMP_FIRST - CODE_SET_FIRST,
};

typedef struct Instruction {
    uint16_t opcode;
    uint16_t extra;
    uint32_t target; /* a register; jumps: how far in bytes, as an int32_t */
    uint32_t first;
    uint32_t second; /* a register or a constant, as an int32_t */
} Instruction;

/* What the fields of an instruction are. */
enum {
    WRITES_TARGET = 1,
    READS_TARGET = 2,
    READS_FIRST = 4,
    READS_SECOND = 8,
    READS_VECTOR = 16,        /* three registers from the first on */
    WRITES_SECOND_COUNT = 32, /* as many registers from the target on as the second says */
    CALLS = 64,               /* every register from the first on may be read and written */
    JUMPS = 128,
    FAILS = 256, /* for some operands */
};

typedef struct ScalarOpcodeInfo {
    const char *name;
    uint16_t fields;
} ScalarOpcodeInfo;

extern const ScalarOpcodeInfo scalar_opcodes[CODE_COUNT];

typedef enum Acceptance { ACCEPTANCE_UNKNOWN, ACCEPTANCE_YES, ACCEPTANCE_NO } Acceptance;

typedef struct ScalarFunction {
    Acceptance acceptance;
    uint32_t candidate; /* while it is being decided: its number + 1 */
    Instruction *code; /* null until compiled */
    uint32_t count;
    uint32_t register_count; /* that it needs, without those of the activations above */
    LeafType *arguments, *results; /* of the layouts of its parameters, in order, and of its result */
    uint32_t argument_count, result_count;
    Scalar *constants;
    const CoreStatement **origins; /* for each instruction, the statement it was made from */
    uint64_t point_time; /* nanoseconds that a point takes, as far as known; 0: not at all */
} ScalarFunction;

/* A global that some code uses. */
typedef struct ScalarGlobal {
    CoreVar variable;
    const Layout *layout;
    Scalar *values;
    uint64_t run; /* the last run that asked for it and got it */
} ScalarGlobal;

/* An operation that is computed by scalar_apply. */
typedef struct ScalarApplication {
    Op op;
    ScalarType operand, target;
} ScalarApplication;

/* What the compiler knows of a variable. */
typedef struct ScalarVariable {
    const uint32_t *registers;      /* of its leaves; null while it has none */
    const CoreStatement *condition; /* a truth that is computed only where it is used */
    uint32_t uses;
    uint16_t nesting; /* of conditions in this one */
    bool is_single;   /* nothing but its one use needs its registers */
    uint32_t global;  /* number of the global + 1 */
} ScalarVariable;

/* The stacks of a machine. */
typedef struct ScalarStacks {
    Scalar *registers;
    size_t register_capacity;
    const Instruction **returns;
    size_t return_capacity;
} ScalarStacks;

struct ScalarCode {
    Memory *memory;
    const CoreProgram *program;
    Layouts *layouts;
    Arena arena;
    Arena scratch; /* of one compilation */
    VEC(ScalarFunction) functions; /* by CoreFunctionId */
    VEC(ScalarVariable) variables; /* by CoreVar */
    VEC(ScalarGlobal) globals;
    VEC(ScalarApplication) applications;
    uint64_t run; /* number of runs so far */
    /* by member of the team, the calling thread first; kept from run to run */
    ScalarStacks *stacks;
    uint32_t stacks_count;
};

ScalarFunction *scalar_function_of(ScalarCode *code, CoreFunctionId function);

/* scalar_compile.c: compiles a function, and what it calls, unless it was. */
void scalar_compile(ScalarCode *code, CoreFunctionId function);

/* ---- scalar_machine.c ---- */

/* How a machine came to stop. */
typedef enum ScalarOutcome {
    OUTCOME_DONE,
    OUTCOME_FAILED, /* at `point`: `problem` says how, `failed` where */
    OUTCOME_FULL,   /* `point` needs larger stacks, and these must not grow */
    OUTCOME_HALTED, /* `point` is not wanted any more */
} ScalarOutcome;

enum { MACHINE_ALIGNMENT = 64 };

/* One that runs points of a run. When several do, each on its own thread, they are *shared*: their stacks stay as they are, globals were
 * read before, and arrays in results are not retained. */
typedef struct ScalarMachine {
    _Alignas(MACHINE_ALIGNMENT) ScalarCode *code;
    ScalarRun *run;
    const ScalarFunction *function; /* called for every point */
    void *const *results;
    ScalarStacks *stacks;
    size_t return_limit; /* addresses that may be on their stack */
    bool is_shared;
    const _Atomic bool *is_halted; /* looked at now and then: whether points from `halt` on are not wanted any more */
    const _Atomic size_t *halt;
    size_t point, end; /* what is to be run */
    const Instruction *failed;
    ScalarProblem problem;
} ScalarMachine;

/* Runs points up to the end, or the first that does not come to its end. */
ScalarOutcome scalar_execute(ScalarMachine *machine);

/* scalar_compiled.c: the same, by compiled code as far as there is any. */
ScalarOutcome scalar_execute_compiled(ScalarMachine *machine);

void scalar_resize_registers(ScalarCode *code, ScalarStacks *stacks, size_t capacity);
void scalar_resize_returns(ScalarCode *code, ScalarStacks *stacks, size_t capacity);
/* The least of the capacities that stacks have which is enough. */
size_t scalar_capacity(size_t capacity, size_t needed);

/* Asks for the values of a global; false if it has none. */
bool scalar_find_global(ScalarCode *code, const ScalarRun *run, ScalarGlobal *global);

#endif
