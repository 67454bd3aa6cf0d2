/* Streamability: whether one forward pass with bounded buffers computes a program.
 *
 * The verdict is about the program as elaborated, before anything is simplified, and is the same for every engine. */
#ifndef RUNNEL_CORE_STREAMABILITY_H
#define RUNNEL_CORE_STREAMABILITY_H

#include "core/core.h"
#include "source/diagnostics.h"

/* Checks functions and items from the given ones on, and with them `entry`, which is called from outside (0 for none);
 * reports ERROR_NOT_STREAMABLE. False after an error. */
bool streamability_check(const CoreProgram *program, Diagnostics *diagnostics, CoreFunctionId entry,
                         uint32_t first_function, uint32_t first_item);

/* Holds sequences in memory, with a warning for each, until the program can be streamed or nothing more can be done; a check
 * afterwards tells which. */
void streamability_materialize(CoreProgram *program, Diagnostics *diagnostics, CoreFunctionId entry,
                               uint32_t first_function, uint32_t first_item);

#endif
