/* Stages: the parts of a network that run as one, and what they did.
 *
 * Nodes belong to one stage if streams that are not held as a whole connect them: on spaces below the network's own points. What lies
 * between stages is there completely before it is used. */
#ifndef RUNNEL_VM_STAGES_H
#define RUNNEL_VM_STAGES_H

#include "vm/instance.h"

struct Stage {
    FlowNodeId first; /* its first node */
    uint32_t node_count;
    uint64_t firings, elements, nanoseconds;
};

/* Finds the stages of a plan whose nodes and streams are there. */
void stages_find(Vm *vm, Plan *plan);

/* Counts a firing that began at `start`, when vm->produced was `produced`. */
void stages_count(Vm *vm, const Plan *plan, FlowNodeId node, uint64_t start, uint64_t produced);

#endif
