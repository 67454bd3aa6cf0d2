/* The reference interpreter: a direct evaluator of Core, slow and obviously right, the oracle of every other engine.
 *
 * Sequences are materialised like vectors. It keeps its own stack of frames: the depth of the program never becomes depth of
 * the C stack. A run-time error is reported with its position and the run's objects are freed; globals stay. */
#ifndef RUNNEL_REF_REF_H
#define RUNNEL_REF_REF_H

#include "base/stop.h"
#include "core/core.h"
#include "io/value.h"
#include "io/world.h"

typedef struct Interpreter Interpreter;

/* What a run costs, by the rules of docs/cost.md. Numbers that would exceed 64 bits stay at UINT64_MAX. */
typedef struct Cost {
    uint64_t work, depth;
    Footprint footprint;
} Cost;

typedef struct InterpreterOptions {
    uint64_t max_depth; /* nested calls other than tail calls; beyond it ERROR_TOO_DEEP */
    WorldOutput output; /* of the program */
    const StopFlag *stop; /* polled; null for never */
    bool counts_costs; /* for ref_cost */
} InterpreterOptions;

Interpreter *ref_new(Memory *memory, const CoreProgram *program, Diagnostics *diagnostics,
                     InterpreterOptions options);
void ref_free(Interpreter *interpreter);

/* Values made by or for the interpreter live on this heap. */
Heap *ref_heap(Interpreter *interpreter);

/* Runs an item's block and gives its value (owned by the caller); binds the item's global. False after an error. */
bool ref_run_item(Interpreter *interpreter, uint32_t item_index, const CoreItem *item, Value *result);

/* Calls a function; takes over the arguments. False after an error. */
bool ref_call(Interpreter *interpreter, CoreFunctionId function, const Value *arguments, uint32_t count, Span span,
              Value *result);

/* Nanoseconds that the last run took. */
uint64_t ref_run_time(const Interpreter *interpreter);
/* The cost of everything run so far, as one program: items in order, the values of bindings held to the end. */
Cost ref_cost(const Interpreter *interpreter);

#endif
