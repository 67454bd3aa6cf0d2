/* Scalar code: Core functions that work on scalars only are not flattened. They are run point by point by a register machine.
 *
 * Such a function takes, makes and gives scalars, tuples and datatypes of them, and vectors that it only passes on, reads and
 * slices; it calls functions of the same kind, recursively perhaps. What it computes, and how it fails, is what src/ref says.
 *
 * A function is compiled when it is first run, with everything it calls (scalar_code_private.h describes the code). */
#ifndef RUNNEL_VM_SCALAR_CODE_H
#define RUNNEL_VM_SCALAR_CODE_H

#include "core/core.h"
#include "io/failure.h"
#include "kernel/preamble/call.h"
#include "vm/array.h"
#include "vm/team.h"

typedef struct ScalarCode ScalarCode;

/* The program may grow while the code is in use; its functions and layouts stay. */
ScalarCode *scalar_code_new(Memory *memory, const CoreProgram *program, Layouts *layouts);
void scalar_code_free(ScalarCode *code);

/* Whether a function is scalar code. One that is null in the program is not. */
bool scalar_code_accepts(ScalarCode *code, CoreFunctionId function);

/* The program has been cut back: forgets what is known of the functions from `function_count` on. */
void scalar_code_forget(ScalarCode *code, uint32_t function_count);

typedef enum ScalarProblemKind {
    SCALAR_PROBLEM_NONE,
    SCALAR_PROBLEM_OPERATION, /* an operation that has no result for these operands */
    SCALAR_PROBLEM_INDEX,     /* of ELEMENT: index, length */
    SCALAR_PROBLEM_SLICE,     /* SUBSEQ: start, end, length */
    SCALAR_PROBLEM_CUT,       /* TAKE, DROP: count, length */
    SCALAR_PROBLEM_GLOBAL,    /* a global without a value */
    SCALAR_PROBLEM_TOO_DEEP,
    SCALAR_PROBLEM_STOPPED,
} ScalarProblemKind;

/* Why a run stopped. */
typedef struct ScalarProblem {
    ScalarProblemKind kind;
    const CoreStatement *statement; /* null: the result of a block is the global without a value */
    Scalar numbers[3];              /* as the kind says; operands */
    CoreVar global;
} ScalarProblem;

typedef struct ScalarRun {
    const Cells *arguments; /* one for each leaf of the parameters, in order */
    void *const *results;   /* for each leaf of the result: where `count` cells go; arrays among them are retained */
    size_t count;           /* points */
    Team *team;             /* shares them; null: the calling thread runs them alone */
    uint64_t depth;         /* calls nested around this one, tail calls not counted */
    uint64_t max_depth;
    const StopFlag *stop;   /* polled; null for never */
    /* Gives the cells of a global, one for each leaf, of which the first is read; false if it has no value. Asked at the first use in
     * the run or before, by the calling thread. What it gives stays as it is until the run ends. May be null if the program has no globals. */
    bool (*global)(void *context, CoreVar variable, Cells *leaves);
    void *context;
    /* Compiled code of the function (kernel/function_text.h), or null: runs what it can, and leaves the points that it fails at to the machine. */
    KernelFunction *compiled;
    const void *const *compiled_globals;
    const volatile int *compiled_stop;
    /* Out: the points whose results are complete, also when an allocation fails in between. */
    size_t done;
    ScalarProblem problem;
} ScalarRun;

/* Calls a function that is accepted, once for each point. False when the point number `done` has failed, the least that does. */
bool scalar_code_run(ScalarCode *code, CoreFunctionId function, ScalarRun *run);

/* Words the problem of a failed run. */
void scalar_code_word(const ScalarCode *code, const ScalarRun *run, const Sources *sources, Failure *failure);

/* The compiled form of an accepted function, for people and tests. */
void scalar_code_print(ScalarCode *code, CoreFunctionId function, Text *out);

#endif
