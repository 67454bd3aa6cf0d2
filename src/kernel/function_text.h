/* Functions on scalars as C: those that the VM would run as scalar code (vm/scalar_code.h), called from kernels.
 *
 *     static bool gcd_f7(int64_t a_1, int64_t b_2, int64_t *result, int64_t depth, const KernelScalars *scalars)
 *
 * takes the leaves of the parameters, and gives those of the result through pointers; false if it failed or must end, then nothing was given. It fails at once,
 * so that nothing runs on after a failure. A tail call of itself is a loop. `depth` is how deep calls may still be nested, tail calls not counted; how much stack
 * they may take is bounded too (preamble/function.h). */
#ifndef RUNNEL_KERNEL_FUNCTION_TEXT_H
#define RUNNEL_KERNEL_FUNCTION_TEXT_H

#include "base/text.h"
#include "core/core.h"
#include "flow/layout.h"

/* A global that functions read: its leaves are entries of KernelCall.globals, from `first` on. */
typedef struct FunctionGlobal {
    CoreVar variable;
    uint32_t first;
    uint32_t count;
} FunctionGlobal;

/* What is known of the functions of a program as long as it does not change. */
typedef struct FunctionTexts {
    Arena *arena;
    const CoreProgram *program;
    Layouts *layouts;
    VEC(uint8_t) verdicts;           /* by function */
    VEC(CoreFunctionId) functions;   /* to be emitted: those asked for, and what they call */
    bool *is_listed;                 /* by function */
    VEC(FunctionGlobal) globals;     /* of these */
    uint32_t next_global;            /* entry */
    const char ***values;            /* by variable, of the function that is being written: expressions for its leaves */
} FunctionTexts;

/* `first_global` is the entry of its first global. */
FunctionTexts *function_texts_new(Arena *arena, const CoreProgram *program, Layouts *layouts, uint32_t first_global);

/* Whether there is C for a function that is scalar code, and for all that it calls. */
bool function_text_accepts(FunctionTexts *texts, CoreFunctionId function);

/* An accepted function is called somewhere. */
void function_text_need(FunctionTexts *texts, CoreFunctionId function);

/* Writes the functions that are needed. The types that their operations have to do with are added to *types; sets *with_math if the preamble
 * must be. `sources`, for comments, may be null. */
void function_texts_write(FunctionTexts *texts, const Sources *sources, Text *out, ClassSet *types, bool *with_math);

/* What a function gives. */
const Layout *function_text_results(const FunctionTexts *texts, CoreFunctionId function);
/* Begins a call, as far as the first argument. */
void function_text_name(const FunctionTexts *texts, CoreFunctionId function, Text *out);

#endif
