/* Outline: bodies of comprehensions that make vectors become functions of their own.
 *
 *     each x in xs { statements }     each x in xs { what is the same for all x; f(captured, x) }
 *
 * A network makes the vectors of all points at once, and writes every one of them to memory. A function that is called at the points can be compiled for a single
 * one instead (kernel/function_text.h): its vectors are short-lived, and its loops are those one would write. So this is done for engines that compile, and
 * for bodies that the compiler takes. What does not depend on the element stays outside, where it is computed once, unless it
 * is only a name, a tuple or an element of a vector. */
#ifndef RUNNEL_CORE_OUTLINE_H
#define RUNNEL_CORE_OUTLINE_H

#include "core/core.h"

typedef struct Outliner {
    CoreProgram *program;  /* to be changed: its simplified form */
    CoreProgram *original; /* gets a function without content for each new one, so that both have the same ids */
    bool (*accepts)(void *context, CoreFunctionId function); /* whether a function of `program` can be compiled, */
    bool (*shares)(void *context, CoreFunctionId function);  /* ... and does the calls that it joins side by side */
    void *context;
} Outliner;

/* A new function of `program`, whose content is to be filled in. */
CoreFunctionId outline_new_function(const Outliner *outliner, const char *name, Span span);

/* Functions from one on, and items from one on. Bodies are changed by putting new ones in their place: what others hold stays as it was. */
void outline_program(const Outliner *outliner, CoreFunctionId first_function, uint32_t first_item);

#endif
