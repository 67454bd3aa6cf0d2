/* Holding a sequence in memory: `tab` where it is bound, `seq` wherever it is used. */
#ifndef RUNNEL_CORE_MATERIALIZE_H
#define RUNNEL_CORE_MATERIALIZE_H

#include "core/core.h"

/* Whether a variable is a sequence that a vector can hold. */
bool materialize_is_possible(const CoreProgram *program, CoreVar variable);

/* Rewrites the block that binds the variable. Every use becomes a traversal of its own. */
void materialize_variable(CoreProgram *program, CoreVar variable);

#endif
