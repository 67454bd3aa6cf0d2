/* A walk over the points of a space C by their parents in P, for nodes with <C/P> (flow/flow.def).
 *
 *     Walk walk = walk_begin(firing, &state->walk, on_children, on_parents, segments);
 *     for (;;) {
 *         size_t count = least(walk_points(&walk), room);
 *         ... elements [walk.child, walk.child + count) of the inputs on C belong to element walk.parent of those on P ...
 *         walk.child += count;
 *         if (!walk_is_parent_done(&walk)) break;
 *         ...
 *         walk_next_parent(&walk);
 *     }
 *     return walk_end(&walk); // false: nothing more can be done now
 *
 * A walk sees what there was when it began, and nothing is consumed before walk_end: so a node may look ahead over many parents, and cells
 * it has asked for stay where they are. Every input on C, and every one on P, advances together. */
#ifndef RUNNEL_VM_WALK_H
#define RUNNEL_VM_WALK_H

#include "base/least.h"
#include "vm/vm_private.h"

/* Inputs of a node that stand next to each other. */
typedef struct Inputs {
    uint32_t first, count;
} Inputs;

/* Elements that all of them have; SIZE_MAX where each is constant or uniform, or there are none. */
size_t inputs_available(const Firing *firing, Inputs inputs);
void inputs_consume(Firing *firing, Inputs inputs, size_t count);
void inputs_cells(const Firing *firing, Inputs inputs, Cells *cells);
/* One whose points count: neither constant nor uniform. UINT32_MAX if there is none. */
uint32_t inputs_driver(const Firing *firing, Inputs inputs);
/* Room that outputs [first, first + count) have. */
size_t outputs_room(const Firing *firing, uint32_t first, uint32_t count);

/* What a node remembers from walk to walk; zeros at first. */
typedef struct WalkState {
    uint64_t position; /* points of C that were walked over */
    uint64_t start;    /* those of earlier parents among them */
    bool is_over;      /* SINGLE: the only parent is done */
} WalkState;

typedef struct Walk {
    Firing *firing;
    WalkState *state;
    FlowSegments kind;
    uint32_t driver; /* an input on C; UINT32_MAX if all of them are constant or uniform */
    Inputs on_children, on_parents;
    uint32_t segments; /* the first of the inputs that tell segments */
    /* what there was when it began */
    size_t child_count;   /* elements of the inputs on C */
    size_t parent_count;  /* of those on P */
    size_t segment_count; /* of the segments' own: parents whose number of points is known */
    Cells ends;
    uint64_t frontier;
    uint64_t regular_count;
    /* where it is */
    size_t child, parent; /* elements beyond the cursors */
    uint64_t start;       /* of this parent, among all points of C */
    bool has_moved;
} Walk;

Walk walk_begin(Firing *firing, WalkState *state, Inputs on_children, Inputs on_parents, uint32_t segments);
/* The same for nodes whose driver stands apart from their other inputs on C. */
Walk walk_begin_driven(Firing *firing, WalkState *state, uint32_t driver, Inputs on_children, Inputs on_parents,
                       uint32_t segments);
/* Points of the parent at hand, from walk.child on, that are there. None unless the inputs on P have that parent's elements. */
size_t walk_points(const Walk *walk);
/* Whether the parent at hand has no points beyond walk.child. (SINGLE: settles first, for only an input that was read up can be seen to end.) */
bool walk_is_parent_done(Walk *walk);
void walk_next_parent(Walk *walk);
/* Parents from the one at hand on, of which no point was walked over yet, whose points are all there: as many as have at most so many points together. None for SINGLE. */
size_t walk_whole_parents(const Walk *walk, size_t points_max);
/* Where the points of the first so many of these end, counted from walk.child. */
size_t walk_parents_end(const Walk *walk, size_t parents);
/* Walks over all points of so many, up to the end of the last, which is the parent at hand then. */
void walk_over(Walk *walk, size_t parents);
/* The position of walk.child among all points of C, and under the parent at hand. */
uint64_t walk_position(const Walk *walk);
uint64_t walk_index(const Walk *walk);
/* Consumes what was walked over, and finishes the node if no parent is left. Gives true if the walk got anywhere and there may be more. */
bool walk_end(Walk *walk);

/* The node fails at point walk.child + offset, or at the parent at hand. */
Failure *walk_fail(Walk *walk, size_t offset);
Failure *walk_fail_parent(Walk *walk);
/* The node fails at the only point of unit, whatever was read of the input. */
Failure *firing_fail_unit(Firing *firing, uint32_t input);

#endif
