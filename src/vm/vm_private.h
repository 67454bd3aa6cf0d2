/* The inside of the VM: streams, nodes being run, calls.
 *
 * An *instance* is a network being run. Its streams are buffers: a window of the elements that some reader still needs. Every input of a
 * node has a cursor of its own; what all cursors have passed is dropped. A buffer holds at most a chunk, unless nothing else can
 * go on: then the least of those that are full is given more room (Parks 1995), so that no accepted program can stand still.
 *
 * A node's firing function takes what is available, gives what there is room for, and returns; it is called again when either changes. It
 * must make progress whenever it can, may stop anywhere, and keeps what it must remember in its state. When it is done it calls
 * firing_finish, which closes its outputs.
 *
 * Errors: a node that fails at a point gives everything before that point, records the failure, and never fires again. The others go on until
 * nothing moves any more; then the least failure counts: by position in the spaces that the failed points have in common, then by the order
 * of the nodes. So what is reported does not depend on the size of chunks. */
#ifndef RUNNEL_VM_VM_PRIVATE_H
#define RUNNEL_VM_VM_PRIVATE_H

#include "vm/array.h"
#include "vm/vm.h"

typedef struct Instance Instance;

/* One node of an instance, while it is being fired. */
typedef struct Firing {
    Vm *vm;
    Instance *instance;
    const FlowNode *node;
    FlowNodeId id;
    void *state; /* of the size that the node's kind asked for, zeroed at first */
} Firing;

/* ---- reading ---- */
/* Elements that can be read now at the input's cursor; SIZE_MAX for constants and for uniform operands whose value is there. Elements of LEAF_ENDS count
 * those given. Several elements are contiguous, or the view is uniform. */
size_t firing_available(const Firing *firing, uint32_t input);
Cells firing_cells(const Firing *firing, uint32_t input);
void firing_consume(Firing *firing, uint32_t input, size_t count);
/* Everything was read and nothing will come. Never for constants and uniform operands. */
bool firing_is_ended(const Firing *firing, uint32_t input);
/* How many elements were consumed so far: the absolute position of the cursor. */
uint64_t firing_position(const Firing *firing, uint32_t input);
/* LEAF_ENDS: points of the child space below it have a known parent (flow.h). At least the last end given. INT64_MAX once the stream is closed. */
int64_t firing_frontier(const Firing *firing, uint32_t input);

/* ---- writing ---- */
/* Room in all outputs; SIZE_MAX for an output nobody reads. */
size_t firing_room(const Firing *firing, uint32_t output);
/* Where up to firing_room elements go; then says how many were written. References in cells of arrays are handed over. An output nobody reads
 * gives scratch memory, and what is written there is released and forgotten. */
void *firing_reserve(Firing *firing, uint32_t output, size_t count);
void firing_produce(Firing *firing, uint32_t output, size_t count);
/* The same value count times, in constant space where possible; retains. */
void firing_produce_uniform(Firing *firing, uint32_t output, const void *cell, size_t count);
void firing_set_frontier(Firing *firing, uint32_t output, int64_t frontier);
bool firing_is_wanted(const Firing *firing, uint32_t output); /* somebody reads it */

/* ---- ending ---- */
/* Closes the outputs; the node will not fire again, and its cursors no longer hold anything back. */
void firing_finish(Firing *firing);
/* The node fails at the point that is `offset` elements beyond the cursor of `input` (the input that counts its points). Gives the Failure to be worded (see
 * failure.h); the node will not fire again. */
struct Failure *firing_fail(Firing *firing, uint32_t input, size_t offset);

#endif
