/* Results that are joined: functions whose value is one vector, put together of what calls give and of other vectors and elements, as that of
 *
 *     sort(lt) ++ eq ++ sort(gt)
 *
 * or [root] ++ concat({tree(v) : v in parts | #v > 0}). Elements may tell how long parts are that come after them, as in [(root, #below)] ++ below: they get their place, and are stored when
 * all parts are there.
 *
 * Such a function is written as one that puts its elements *onto* those that there are already (kernel/function_onto.c): what it calls puts them there too, and nothing is copied from level
 * to level of a recursion. */
#ifndef RUNNEL_KERNEL_FUNCTION_JOIN_H
#define RUNNEL_KERNEL_FUNCTION_JOIN_H

#include "kernel/function_text.h"

enum { JOIN_MAX = 64, JOIN_LENGTHS_MAX = 8 };

typedef enum JoinKind {
    JOIN_VECTOR,   /* atoms[0] */
    JOIN_ELEMENTS, /* atoms */
    JOIN_CALL,     /* what a call gives */
    JOIN_TURN,     /* what the call gives that a turn of a comprehension over a few elements ends in */
    JOIN_LOOP,     /* what the calls give that are the elements of a sequence, atoms[0] */
} JoinKind;

typedef struct JoinPart {
    JoinKind kind;
    const CoreAtom *atoms;
    uint32_t atom_count;
    const CoreStatement *call;
    const CoreStatement *each; /* of a turn, */
    uint32_t turn;             /* ... which this one is */
    bool is_late;              /* of elements: they tell a length */
} JoinPart;

/* A variable for parts from `first` on, before `end`, of which the length is wanted. */
typedef struct JoinLength {
    CoreVar variable;
    uint32_t first, end;
} JoinLength;

typedef struct Join {
    JoinPart parts[JOIN_MAX];
    uint32_t count;
    JoinLength lengths[JOIN_LENGTHS_MAX];
    uint32_t length_count;
} Join;

/* Whether a function puts its elements onto others: it joins what calls of itself give, or of a function that does so. */
bool join_is_onto(FunctionTexts *texts, CoreFunctionId function);

/* What a block in tail position of such a function gives. */
void join_find(FunctionTexts *texts, CoreFunctionId function, const CoreBlock *block, Join *join);

/* The length that a statement of the block wants; null if it wants none. */
const JoinLength *join_find_length(const Join *join, const CoreStatement *statement);

/* Marks the variables of such a function that are only there to be joined (VariableShape.is_joined), and those that wait for lengths (VariableShape.is_late). */
void join_mark(FunctionTexts *texts, CoreFunctionId function);

#endif
