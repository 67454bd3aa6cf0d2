/* Elaborate: from typed syntax to Core. Functions are specialised to the types and functions they are used with;
 * comprehensions, patterns and operators become the few forms of Core. */
#ifndef RUNNEL_CORE_ELABORATE_H
#define RUNNEL_CORE_ELABORATE_H

#include "core/core.h"
#include "types/environment.h"

typedef struct Elaborator Elaborator;

Elaborator *elaborate_new(Environment *environment, CoreProgram *program);

/* Appends the item of a top-level binding or expression to the program, and the functions it needs. False after an
 * error, with the program as it was. */
bool elaborate_item(Elaborator *elaborator, Definition *definition);

/* Forgets the functions from `function_count` on, and whatever may call them. */
void elaborate_forget(Elaborator *elaborator, uint32_t function_count);

/* A function specialised to be called from outside, its open types at their defaults; 0 after an error. */
CoreFunctionId elaborate_entry(Elaborator *elaborator, Definition *function);
/* The default of a parameter of such a function, as a function of no arguments; 0 after an error. */
CoreFunctionId elaborate_default(Elaborator *elaborator, Definition *function, uint32_t parameter);

#endif
