/* What a function that makes vectors does with its variables: where sequences and vectors are traversed instead of made, and which of those that are made belong to
 * what its blocks give. */
#ifndef RUNNEL_KERNEL_FUNCTION_SHAPE_H
#define RUNNEL_KERNEL_FUNCTION_SHAPE_H

#include "kernel/function_text.h"

enum { SHAPE_FEW = 4 }; /* elements of a vector that loops over it are written out for */

/* A variable. Its level is how many bodies of comprehensions are around its definition. */
typedef struct VariableShape {
    const CoreStatement *definition; /* null for parameters of functions; for those of EACH the statement, */
    uint32_t member;                 /* ... of which it takes argument member - 1 */
    uint32_t level;
    uint32_t uses;
    uint32_t use_level;    /* of the deepest use */
    uint32_t raised_from;  /* level + 1 below which raising it goes on; 0 if it is not raised */
    const char ***picked;  /* of a vector that is not made because single elements of it are all that is wanted: the words of each */
    bool is_delayed;       /* a sequence, or a vector, that is not made: whoever uses it computes its elements */
    CoreVar made_with;     /* the filter where this one is made too; 0 if it is made where it is itself (kernel/function_filters.c) */
    CoreVar made_next;     /* the next one that is made there; 0 if there is none */
    const CoreStatement *fold; /* of a filter: the reduction that is done with it (kernel/function_filters.c), `made_with` of whose target is the filter; null if there is none */
    const char *fold_count; /* of such a target: a word for how many elements there were, while the function is written */
    bool is_late;          /* known when the length of something that is joined is: written then */
    bool is_joined;        /* only there to be part of what the function gives (kernel/function_join.h) */
    const CoreStatement *read_by; /* the comprehension whose turns make what they need of it (kernel/function_windows.c); null if it is made where it is, */
    struct Window *window; /* ... and what there is of it, while that comprehension is written */
    const char *place;     /* a word for where it is made in a window, while that is written; null if it is none of these */
} VariableShape;

/* Finds out about all variables of a function. */
void shape_function(FunctionTexts *texts, CoreFunctionId function);
/* Whether a value with vectors belongs to what the body of the comprehension or function around it gives: those are to be built there. */
bool shape_rises(const FunctionTexts *texts, CoreVar variable);

/* What atoms in bodies of comprehensions are made of is to be kept until the loops around them are over. */
void shape_keep(FunctionTexts *texts, const CoreAtom *atoms, uint32_t count);

bool shape_has_arrays(const FunctionTexts *texts, TypeId type);

/* Whether a variable is not needed any more once a statement is done, on the way to which nobody has got hold of its value: only scalars were read from it. `body` is the function's. */
bool shape_is_spent(const FunctionTexts *texts, const CoreBlock *body, CoreVar variable, const CoreStatement *statement);
bool shape_is_variable(const CoreAtom *atom, CoreVar variable);
/* Whether a statement takes an element of a vector. */
bool shape_takes_element(const CoreStatement *statement);
/* How often a variable is used in a block and those inside. */
uint32_t shape_count_uses(const CoreBlock *block, CoreVar variable);
/* Whether a statement makes the vector that it gives. */
bool shape_makes(const FunctionTexts *texts, const CoreStatement *statement);

/* Whether all that is wanted of a vector of `count` elements is some of them, whose indices are constants. */
bool shape_is_picked(const CoreBlock *body, CoreVar variable, uint32_t count);
/* The same of a vector that may have any number of elements, of those before `count`; its length may be wanted too. */
bool shape_is_begun(const CoreBlock *body, CoreVar variable, uint32_t count);

/* Whether a statement needs a variable, in its blocks too. */
bool shape_uses(const CoreStatement *statement, CoreVar variable);

/* Whether an operation only traverses an argument that is a vector, once. */
bool shape_traverses(Op op, uint32_t argument);

/* Whether a statement gives a sequence, or a vector, whose elements can be computed in a traversal of it. */
bool shape_is_traversable(const FunctionTexts *texts, const CoreStatement *statement);

/* Whether the elements of a sequence or vector can be had one by one, by index, in order: as many as are known beforehand. Everything that is made can. */
bool shape_steps(const FunctionTexts *texts, const CoreAtom *atom);

/* Whether a block does no more than to end the run with a message. */
bool shape_gives_up(const CoreBlock *block);

/* Neither loops nor calls nor new vectors: a block that may be part of an innermost loop. */
bool shape_is_straight(const FunctionTexts *texts, const CoreBlock *block);
/* Whether nothing in such a block can fail. */
bool shape_cannot_fail(const FunctionTexts *texts, const CoreBlock *block);
/* Whether it does little, besides, and the same for all elements. */
bool shape_is_light(const FunctionTexts *texts, const CoreBlock *block);
/* Whether it, or a block in it, computes elementary functions. */
bool shape_has_math(const FunctionTexts *texts, const CoreBlock *block);
/* What is known on the way through such blocks, one after the other. */
typedef struct Progress {
    bool has_failed; /* perhaps */
    bool must_stop;  /* where something has failed the rest may not be computed nonetheless */
} Progress;
void shape_go_on(const FunctionTexts *texts, const CoreBlock *block, Progress *progress);

#endif
