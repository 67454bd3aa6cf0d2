/* Results that are joined: functions whose value is one vector, put together of what calls give and of other vectors and elements, as that of
 *
 *     sort(lt) ++ eq ++ sort(gt)
 *
 * Such a function is written as one that puts its elements *onto* those that there are already (kernel/function_onto.c): what it calls puts them there too, and nothing is copied from level
 * to level of a recursion. */
#ifndef RUNNEL_KERNEL_FUNCTION_JOIN_H
#define RUNNEL_KERNEL_FUNCTION_JOIN_H

#include "kernel/function_text.h"

enum { JOIN_MAX = 64 };

typedef enum JoinKind {
    JOIN_VECTOR,   /* atoms[0] */
    JOIN_ELEMENTS, /* atoms */
    JOIN_CALL,     /* what a call gives */
    JOIN_TURN,     /* what the call gives that a turn of a comprehension over a few elements ends in */
} JoinKind;

typedef struct JoinPart {
    JoinKind kind;
    const CoreAtom *atoms;
    uint32_t atom_count;
    const CoreStatement *call;
    const CoreStatement *each; /* of a turn, */
    uint32_t turn;             /* ... which this one is */
} JoinPart;

typedef struct Join {
    JoinPart parts[JOIN_MAX];
    uint32_t count;
} Join;

/* Whether a function puts its elements onto others: it joins what calls of itself give, or of a function that does so. */
bool join_is_onto(FunctionTexts *texts, CoreFunctionId function);

/* What a block in tail position of such a function gives. */
void join_find(FunctionTexts *texts, CoreFunctionId function, const CoreBlock *block, Join *join);

/* Marks the variables of such a function that are only there to be joined (VariableShape.is_joined). */
void join_mark(FunctionTexts *texts, CoreFunctionId function);

#endif
