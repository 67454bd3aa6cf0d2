/* The firing functions of the nodes that work on whole values, parts, groups and users' operators, and what they share. What a node does
 * is said in flow/flow.def. */
#ifndef RUNNEL_VM_NODES_H
#define RUNNEL_VM_NODES_H

#include "io/failure.h"
#include "io/world.h"
#include "vm/walk.h"

Memory *firing_memory(const Firing *firing);
Types *firing_types(const Firing *firing);
Heap *firing_heap(const Firing *firing);
World *firing_world(const Firing *firing);

/* Makes an array that has no uniform columns longer by `count` elements, for the caller to write: references among them are null. */
void array_extend(Memory *memory, Array *array, size_t count);

#endif
