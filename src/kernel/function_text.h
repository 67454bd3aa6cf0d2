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

struct VariableShape; /* kernel/function_shape.h */

/* What is known of the functions of a program as long as it does not change. */
typedef struct FunctionTexts {
    Arena *arena;
    const CoreProgram *program;
    Layouts *layouts;
    VEC(uint8_t) verdicts;           /* by function: on scalars, */
    VEC(uint8_t) vector_verdicts;    /* ... and those that make vectors or traverse sequences */
    VEC(CoreFunctionId) functions;   /* to be emitted: those asked for, and what they call */
    bool *is_listed;                 /* by function */
    VEC(CoreFunctionId) entries;     /* those that are called from outside of kernels too */
    VEC(CoreFunctionId) folds;       /* those by which elements in memory are folded, */
    VEC(CoreFunctionId) scans;       /* ... and those by which they are scanned */
    bool *is_alone;                  /* by function: the body that is written is the one for a single point, CoreFunction.alone */
    bool *is_together;               /* by function: a loop whose turns are nothing but loops that threads can share: they do one point together */
    uint32_t *group_counts;          /* by function: scatters of a loop whose points are grouped by place (kernel/function_groups.c) */
    bool *has_entry;                 /* by function: there is compiled code already, which serves those that come later */
    bool *is_wide;                   /* by function: its entry does many points at once (kernel/function_wide.h); known once it is needed, */
    bool *is_complete;               /* ... and one by one where that cannot be; otherwise it stops there */
    bool *is_shared;                 /* by function: it offers calls to other threads (kernel/function_forks.c); known once it is written */
    VEC(FunctionGlobal) globals;     /* of these */
    uint32_t next_global;            /* entry */
    struct VariableShape *shapes;    /* by variable, of functions that make vectors */
    const char ***values;            /* by variable, of the function that is being written: expressions for its leaves */
} FunctionTexts;

/* `first_global` is the entry of its first global. */
FunctionTexts *function_texts_new(Arena *arena, const CoreProgram *program, Layouts *layouts, uint32_t first_global);

/* Whether there is C for a function that is scalar code, and for all that it calls. */
bool function_text_accepts(FunctionTexts *texts, CoreFunctionId function);

/* Whether there is C for a function that makes vectors or traverses sequences, and for all that it calls: a sequential version (kernel/function_vectors.h). */
bool function_text_accepts_vectors(FunctionTexts *texts, CoreFunctionId function);

/* An accepted function is called somewhere. */
void function_text_need(FunctionTexts *texts, CoreFunctionId function);

/* The same, and it is called from outside of kernels; also for functions with vectors. There is a function entry_ID for it, a KernelFunction. Its `streams` are the leaves of the arguments,
 * with `strides`, its `outputs` those of the result; `done` says how many points are, also where it fails. False if there can be none. */
bool function_text_need_entry(FunctionTexts *texts, CoreFunctionId function);

/* Whether there can be one which offers calls to other threads, and puts what they give together. */
bool function_text_shares(FunctionTexts *texts, CoreFunctionId function);

/* The same for one that does all points, also those that are not wide: it replaces an entry that there is. */
bool function_text_need_complete_entry(FunctionTexts *texts, CoreFunctionId function);

/* For an operator that there is an entry for, without arrays: there is a function fold_ID too, a KernelFunction. Its `streams` are the leaves of what it captured, one cell each, and
 * those of `count` elements with `strides`; its `outputs` are the value so far, one cell each, which the elements are combined into from left to right. It fails without having done anything. */
void function_text_need_fold(FunctionTexts *texts, CoreFunctionId function);
/* The same for scan_ID: `carries` are the value before the elements, one cell each, and `outputs` get what comes of each element. With `blocks` 1 that is what it is combined to with all before it, with KERNEL_FOLD_BLOCKS the same in so
 * many blocks, COMBINE_BLOCK apart, with 0 it is that value combined with the element alone, of which there are COMBINE_BLOCK at most. It may have written outputs when it fails, but not with 0. */
void function_text_need_scan(FunctionTexts *texts, CoreFunctionId function);

/* Whether there are arrays in its result, which an entry gives as they are: whoever calls it retains those that are not of a region. */
bool function_text_gives_arrays(const FunctionTexts *texts, CoreFunctionId function);

/* Writes the functions that are needed, none of which is external. The types that their operations have to do with are added to *types; sets *with_math if the preamble
 * must be. `sources`, for comments, may be null. */
void function_texts_write(FunctionTexts *texts, const Sources *sources, Text *out, ClassSet *types, bool *with_math);
/* ... and behind them those that are, one by one: entries, folds and scans. */
uint32_t function_texts_external_count(const FunctionTexts *texts);
void function_texts_write_external(FunctionTexts *texts, uint32_t index, const Sources *sources, Text *out, ClassSet *types, bool *with_math);
/* How many points the wide versions among them do at once. */
uint32_t function_texts_wide(const FunctionTexts *texts);

/* Whether a function also exists at many points at once, NAME_lanes: it is one loop, which each point leaves when it likes. It takes how many points there are, no more than
 * KERNEL_LANE_POINTS; pointers to as many values of each argument, and to those of the result; then the rest as usual. Vectors are the same for all points: of them it
 * takes the leaves themselves. */
bool function_text_has_lanes(FunctionTexts *texts, CoreFunctionId function);
/* Of one that has: whether a leaf of its arguments is one for all points. */
bool function_text_lanes_have_in_common(const FunctionTexts *texts, CoreFunctionId function, uint32_t leaf);

/* ... and if that is the first of a vector of tuples whose elements it takes, how many numbers these have; else 0. Of each such vector it takes the rows too (preamble/rows.h), or null,
 * behind the arguments. */
uint32_t function_text_lanes_row_columns(const FunctionTexts *texts, CoreFunctionId function, uint32_t leaf);

/* The body that its text is written from. */
const CoreBlock *function_text_body(const FunctionTexts *texts, CoreFunctionId function);
/* What a function gives. */
const Layout *function_text_results(const FunctionTexts *texts, CoreFunctionId function);
/* What it is called in C. */
void function_text_name(const FunctionTexts *texts, CoreFunctionId function, Text *out);

#endif
