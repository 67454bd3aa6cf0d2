/* What the nodes share that work on whole values, parts, groups and users' operators. What a node does is said in flow/flow.def. */
#ifndef RUNNEL_VM_NODES_H
#define RUNNEL_VM_NODES_H

#include "vm/walk.h"

/* Makes an array that has no uniform columns longer by `count` elements, for the caller to write: references among them are null. */
void array_extend(Memory *memory, Array *array, size_t count);
/* The same with copies of elements [start, start + count) of another array of the same layout. */
void array_extend_by(Vm *vm, Array *array, const Array *from, size_t start, size_t count);

/* For when nothing more can be done now: finishes the node if nothing will come either. Gives false. */
bool firing_rest(Firing *firing, uint32_t driver);

/* Gives one element, for which there is room; retains. */
void firing_give(Firing *firing, uint32_t output, LeafType type, const void *cell);

#endif
