/* Bundles: nodes that compute point by point on the same points, done together tile by tile.
 *
 * What one gives the next stays in the cache, needs no buffer, and a team shares the work of all of them in one loop. A bundle works on the bulk only. It is
 * *dissolved* where anything else is to be done: at the end of its points, where one of them fails, where nothing else moves. Then its nodes
 * go on from there, each by itself, as they would have without it. */
#ifndef RUNNEL_VM_BUNDLE_H
#define RUNNEL_VM_BUNDLE_H

#include "vm/vm_private.h"

/* What a kind of node must know to be part of one. */
struct TileKind {
    /* Whether this node computes its points one by one. */
    bool (*accepts)(const FlowNetwork *network, const FlowNode *node);
    /* Computes points [position, position + count); `inputs` are the cells of its operands from there on. The result is in `room`, or anywhere else. Sets *done if
     * fewer could be computed. Null for nodes that only take: reductions, lengths. */
    Cells (*compute)(const struct NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done);
};

typedef struct Bundle Bundle;
typedef struct BundleRows BundleRows; /* bundle_rows.h */

/* What an instance knows of one. */
typedef struct BundleState {
    bool is_active;
    uint64_t nanoseconds; /* that its points took, or were about to, if rows are wanted for them; */
    BundleRows *rows;     /* ... null as long as there are none */
    _Atomic(struct BundleSpill *) spills; /* while its points are done */
} BundleState;

/* Finds the bundles of a plan whose nodes, inputs and readers are there. */
void bundles_find(Vm *vm, Plan *plan);
/* Does points of the bundle that this node is of, if it is active; else false. */
bool bundle_fire(Vm *vm, Instance *instance, FlowNodeId node);
/* Points that the bundle of a node has done so far; 0 if it is of none. */
uint64_t bundle_points_done(const Instance *instance, FlowNodeId node);
/* False if none was active. */
bool bundles_dissolve(Vm *vm, Instance *instance);
/* What bundles of an instance hold. */
void bundles_free(Vm *vm, Instance *instance);

#endif
