/* Flatten: from Core to Flow.
 *
 * A block is evaluated once for all points of a space, its *context*: a comprehension's body at the space of its sequence, a branch at
 * the points that take it. What the five forms of nesting become:
 *
 *     each      the body at the sequence's space
 *     guard     a filter, and the body there
 *     if        two filters, a branch at each, and their values merged; branches that are cheap and cannot fail are both computed at all points
 *     group     a space of groups with a space of their members below it: collected in order of groups, or, where they are only reduced, a table
 *               of keys and accumulators, the members being the points of what is grouped
 *     call      functions with sequences in their types are put in place of their calls; scalar functions are scalar code; other functions are
 *               networks of their own, called on the points of the context
 *
 * A body that prints or does other I/O becomes a network too, called at one point after the other. Random draws become values: the key and the
 * counter are passed along (math/random.h). */
#ifndef RUNNEL_FLOW_FLATTEN_H
#define RUNNEL_FLOW_FLATTEN_H

#include "flow/flow.h"
#include "source/diagnostics.h"

/* Which functions an engine runs as scalar code. */
typedef struct FlattenOptions {
    bool (*is_scalar_code)(void *context, CoreFunctionId function);
    void *context;
} FlattenOptions;

void flow_program_init(FlowProgram *program, Arena *arena, const CoreProgram *core, Layouts *layouts);

/* A function that is called from outside. */
typedef struct FlattenEntry {
    CoreFunctionId function; /* 0: none */
    bool is_printed;         /* its result is shown and nothing else is done with it: sequences in it need not be held */
} FlattenEntry;

/* Adds networks for the items that Core has beyond those flattened, for the entries, and for all functions they need. Parameters of entries that are
 * sequences are read from outside. False after an error: a function that cannot be put in place of its calls, a type too large. */
bool flatten_program(FlowProgram *program, Diagnostics *diagnostics, const FlattenOptions *options,
                     const FlattenEntry *entries, uint32_t entry_count);

/* After an error: forgets networks from a number on, and items from one on. */
void flatten_forget(FlowProgram *program, uint32_t network_count, uint32_t item_count);

#endif
