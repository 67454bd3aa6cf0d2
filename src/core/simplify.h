/* Simplify: from Core to less Core with the same meaning.
 *
 * Functions are inlined; copies, known pairs and known wrappers are seen through; what is computed twice is computed once; vectors that are
 * wanted for their size, for an element or for one walk through them are not made (simplify_pull.c); what nobody uses goes. The result is a second program beside the first, which stays as it is: `runnel cost` and `emit core` want
 * the program as written.
 *
 * What is kept true:
 *  - nothing is computed more often than before, and nothing that was not, but for cheap scalar work that cannot fail;
 *  - input, output and random draws are neither dropped, merged nor reordered;
 *  - an error in a value nobody uses may vanish; other errors are the same, at the same place;
 *  - two sequences written separately stay two.
 *
 * What is inlined: a function that is not recursive is put in the place of its calls
 *  - when a parameter or the result holds a sequence: streams do not cross the boundaries of functions;
 *  - when there is one call of it;
 *  - when it is small;
 *  - while the function around the call has not yet grown by more than its own size.
 * All but the first make a program at most longer by a constant factor. The first can double a program with each call of a chain, so
 * there is an end to it (simplify_internal.h), after which calls stay calls. */
#ifndef RUNNEL_CORE_SIMPLIFY_H
#define RUNNEL_CORE_SIMPLIFY_H

#include "core/core.h"

typedef struct Simplifier Simplifier;

/* `to` is an empty program with the arena, types and names of `from`. Functions and items have the same ids in both; a
 * function that nothing calls any more is null in `to`. */
Simplifier *simplify_new(const CoreProgram *from, CoreProgram *to);

/* Says that a function will be called from outside: the next simplify_program keeps it. */
void simplify_entry(Simplifier *simplifier, CoreFunctionId function);

/* Adds to `to` the items that `from` has beyond it, the new entries, and the functions they need. Gives the least id of the
 * functions added, or their number when none was. */
CoreFunctionId simplify_program(Simplifier *simplifier);

/* Functions of `to` from one on that are loops get a body for whoever does a single point at a time, and leaves it to others to find out what failed. */
void simplify_alone(Simplifier *simplifier, CoreFunctionId first);

/* After an error: `from` has been cut back to these numbers, and `to` follows. */
void simplify_forget(Simplifier *simplifier, uint32_t function_count, uint32_t item_count);

#endif
