/* The text of one function, of those that function_text.h lists: at one point (function_write.c), and at many points at once (function_lanes.c). */
#ifndef RUNNEL_KERNEL_FUNCTION_WRITE_H
#define RUNNEL_KERNEL_FUNCTION_WRITE_H

#include "kernel/function_text.h"

#include <setjmp.h>

enum { VECTOR_ARRAY, VECTOR_START, VECTOR_LENGTH, VECTOR_LEAVES };

/* A pointer to the cells of a column that there is a word for, inside the braces where it was made. */
typedef struct KnownCells {
    const char *array;
    uint32_t leaf;
    const char *cells, *stride;
    uint32_t depth;
} KnownCells;

/* A pointer to the first element of a vector, in a column: what follows there are the others, next to each other. */
typedef struct KnownRun {
    const char *array, *start, *length;
    uint32_t leaf;
    const char *cells;
    uint32_t depth;
} KnownRun;

/* An array that the function makes: no column of it is uniform. */
typedef struct MadeArray {
    const char *array, *region;
    bool is_shared; /* all threads that do the point have it */
    const char *place, *end; /* of several side by side: where in memory it begins, and where the last of them ends, words; else null, */
    bool is_last;            /* ... whether it is that */
} MadeArray;

/* A vector that was not made where its statement is but where it is needed: its words are known until the braces end. */
typedef struct MadeLate {
    CoreVar variable;
    uint32_t depth;
} MadeLate;

/* A condition that is known. */
typedef struct DecidedCondition {
    CoreVar variable;
    bool is_true;
} DecidedCondition;

/* A float that is the same in all turns of a loop, and divides there: words for it and for what is known of it before the loop. */
typedef struct KnownDivisor {
    const char *divisor, *word;
} KnownDivisor;

typedef struct Abreast Abreast; /* kernel/function_abreast.c */

/* A function may be written in two parts: its exit, which is put where it is called, and all of it, for those who do not leave there (kernel/function_write.c). */
typedef enum FunctionPart { PART_WHOLE, PART_REST, PART_EXIT } FunctionPart;

/* A function that is being written. */
typedef struct Writer {
    FunctionTexts *texts;
    const CoreProgram *program;
    Arena *arena;
    const Sources *sources;
    Text *out;
    uint32_t depth;     /* of braces */
    uint32_t shown;     /* line of the source */
    uint32_t variables; /* that there are so far */
    CoreFunctionId function;
    bool has_flag; /* operations that can fail */
    ClassSet *types;
    bool *with_math;
    /* Functions that make vectors (kernel/function_vectors.h): */
    const char *into, *aside; /* regions; null for functions on scalars */
    bool is_deferred;         /* in a loop after which failures are looked for, */
    bool has_pending;         /* ... and there may be some */
    bool is_trial;            /* only to see whether it can be written, */
    jmp_buf *on_refusal;      /* ... if not, writing ends there */
    VEC(KnownCells) cells;
    VEC(KnownRun) runs;
    VEC(DecidedCondition) decided; /* in the loop that is being written */
    VEC(KnownDivisor) divisors; /* in the loop that is being written, */
    const char *divide;       /* ... what divides by them there, */
    bool tests_dividends;     /* ... whether what they divide is tested, */
    bool is_fast;             /* ... whether elementary functions are those for most operands, */
    const char *slow;         /* ... and the flag for what cannot be done so */
    VEC(MadeArray) made;
    VEC(MadeLate) made_late;
    const CoreStatement *following; /* statements of the same block, while one is begun, */
    uint32_t following_count;
    VEC(CoreVar) ahead;       /* ... and those of them that were written with one before, by target */
    VEC(CoreFunctionId) callees; /* that make vectors */
    VEC(CoreVar) trial_globals;
    FunctionPart part;
    bool is_onto;             /* its elements are put onto others (kernel/function_join.h) */
    bool has_turns;           /* it is a loop, */
    bool alternates;          /* ... whose turns build in one region and the other by turns (kernel/function_turns.c), */
    bool may_share;           /* ... and whose loops may be shared by threads (FunctionTexts.is_together), */
    bool has_shared, has_unshared; /* ... and whether there are such, and others, */
    bool has_repeated;        /* ... or some that each of the threads does as a whole, */
    uint32_t group_count;     /* ... scatters whose points are grouped (kernel/function_groups.c), */
    const bool *kept;         /* ... by parameter: it never changes, */
    uint32_t loops;           /* ... around what is being written */
    const char **owned;       /* ... by parameter: a flag (kernel/function_turns.c); null if it is no vector */
    Abreast *abreast;          /* turns of a loop that are written at once (kernel/function_abreast.c), or null, */
    uint32_t turn;            /* ... and the one of them whose variables have their values, from 1 on; 0 if none */
} Writer;

/* ---- function_write.c ---- */
/* An operation on vectors that there is text for. */
bool function_write_is_of_vectors(Op op);
void function_write_prototype(FunctionTexts *texts, CoreFunctionId function, Text *out);
/* What operations need of the preamble is added to *types and *with_math. */
void function_write(FunctionTexts *texts, CoreFunctionId function, const Sources *sources, Text *out, ClassSet *types,
                    bool *with_math);

/* Whether there is text for a function that makes vectors, provided that there is for trial->callees, which are found then. */
bool function_write_is_possible(FunctionTexts *texts, CoreFunctionId function, Writer *trial);

/* ---- pieces of it ---- */
Writer writer_of(FunctionTexts *texts, CoreFunctionId function);
__attribute__((format(printf, 2, 3))) void write_line(Writer *writer, const char *format, ...);
void write_open_brace(Writer *writer, const char *head);
/* The same, with a word in it. */
void write_open_if(Writer *writer, const char *format, const char *word);
void write_else(Writer *writer);
void write_close_brace(Writer *writer);
TypeId write_type(const Writer *writer, CoreVar variable);
/* Of a container, which may be wrapped. */
TypeId write_element_type(const Writer *writer, TypeId type);
const Layout *write_layout(const Writer *writer, TypeId type);
/* A new name, of a variable of the source if it has one there. */
const char *write_word(Writer *writer, Name name);
/* Names for the leaves of a variable, which it has from now on. */
const char **write_new_words(Writer *writer, CoreVar variable);
/* Those that an atom has. */
const char **write_atom(Writer *writer, const CoreAtom *atom);
/* After whatever can fail. */
void write_check(Writer *writer);
const char *write_leaf_type(LeafType type);
/* What is known of a condition, or null. */
const DecidedCondition *write_find_decided(const Writer *writer, CoreVar condition);
/* Whether no column of an array is uniform. */
bool write_is_flat(const Writer *writer, const char *array);
/* Whether threads that do a point together have made it together. */
bool write_is_shared(const Writer *writer, const char *array);
/* Where it was made; null if it was not made here. */
const char *write_region_of(const Writer *writer, const char *array);
/* The statements of a block that is not in tail position; or one of them, by number. */
void write_statements(Writer *writer, const CoreBlock *block);
void write_statement_of(Writer *writer, const CoreBlock *block, uint32_t number);
void write_note_type(Writer *writer, TypeId type);
/* A statement that only gives new names to what there is; false if it does more. */
bool write_alias(Writer *writer, const CoreStatement *statement);
/* `const type name = operation`, for scalars. */
void write_scalar_op(Writer *writer, const CoreStatement *statement);
const char **write_arguments(Writer *writer, const CoreStatement *statement, uint32_t *count);
/* The function's own parameters as arguments of a call: `a_1, a_2, `. */
void write_own_parameters(const Writer *writer, const CoreBlock *body, Text *call);
/* Reads the globals that the function reads; forgets them at its end. */
void write_globals(Writer *writer, const CoreBlock *body);
void write_forget_globals(Writer *writer);
/* Whether nothing of the function is needed after the statement. */
bool write_is_last(const CoreBlock *block, uint32_t statement);
/* Whether a block in tail position ends in a call of this function, on some way through it. */
bool write_has_turn(const CoreBlock *block, CoreFunctionId function);
/* Whether all turns have the same vector: a global, or a parameter that each gives to the next. */
bool write_is_kept(const CoreProgram *program, CoreFunctionId function, CoreVar variable);
/* Before the turns: where the vectors are that elements are taken from. */
void write_hoist_cells(Writer *writer, const CoreBlock *block);
/* `result`, or `result0` and so on. */
const char *write_result_word(const Writer *writer, uint32_t leaf, uint32_t count);

/* ---- function_entry.c ---- */
/* The same at many points, one after the other or many at once, for those who have them in memory. */
void function_write_entry(FunctionTexts *texts, CoreFunctionId function, Text *out);

/* ---- function_wide.c ---- */
/* Whether there is a wide version of a function that makes vectors (kernel/function_wide.h). */
bool function_wide_is_possible(FunctionTexts *texts, CoreFunctionId function);
void function_wide_write(FunctionTexts *texts, CoreFunctionId function, const Sources *sources, Text *out, ClassSet *types, bool *with_math);
/* What calls it for points in memory. */
void function_wide_write_entry(FunctionTexts *texts, CoreFunctionId function, Text *out);

/* ---- function_forks.c ---- */
/* Whether calls of a function may be done by other threads, and what that takes beside it. */
bool forks_can_be_shared(FunctionTexts *texts, CoreFunctionId function);
/* The call that a body ends in, if other threads may do it and what comes before takes neither loop nor call; else null. */
const CoreStatement *forks_find_call(FunctionTexts *texts, const CoreBlock *body);
/* The call that gives each element of a sequence of a block, which is traversed only, if other threads may do it; else null. Where shapes are known, the block may be null. */
const CoreStatement *forks_find_element_call(FunctionTexts *texts, const CoreBlock *block, const CoreAtom *sequence);
void forks_write_task(FunctionTexts *texts, CoreFunctionId function, Text *out);

/* ---- function_filters.c ---- */
/* Finds filters that are made together, in a block and those inside. */
void filters_mark(FunctionTexts *texts, const CoreBlock *block);

/* ---- function_windows.c ---- */
/* Finds vectors of rows that are made as they are read, in a block and those inside. */
void windows_mark(FunctionTexts *texts, const CoreBlock *block);

/* ---- function_fold.c ---- */
/* An operator that gives one of its two operands, as a decision between them says that cannot fail and takes neither loop nor call. */
typedef struct Pick {
    CoreBlock decision;         /* statements, */
    const CoreAtom *condition;  /* ... and what they decide: */
    bool is_second;             /* the second operand, if it holds; else the first */
} Pick;
bool fold_find_pick(const FunctionTexts *texts, const CoreBlock *body, Pick *pick);
/* `value |= whether another operand is picked`, or the operand is, where it is: `pick` is of an operator with its operands bound. */
void fold_write_condition(Writer *writer, const Pick *pick, const char *format);
/* Its fold of elements in memory (function_text_need_fold). */
void function_write_fold(FunctionTexts *texts, CoreFunctionId function, Text *out, ClassSet *types, bool *with_math);
void function_write_scan(FunctionTexts *texts, CoreFunctionId function, Text *out, ClassSet *types, bool *with_math);

/* ---- function_lanes.c ---- */
bool function_lanes_accepts(const FunctionTexts *texts, CoreFunctionId function);
bool function_lanes_have_in_common(const FunctionTexts *texts, CoreFunctionId function, uint32_t leaf);
uint32_t function_lanes_row_columns(const FunctionTexts *texts, CoreFunctionId function, uint32_t leaf);
void function_lanes_write(FunctionTexts *texts, CoreFunctionId function, Text *out, ClassSet *types, bool *with_math);

#endif
