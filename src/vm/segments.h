/* Segments: the points of a child space by parents, <C/P> of flow/flow.def, in stretches as long as possible. */
#ifndef RUNNEL_VM_SEGMENTS_H
#define RUNNEL_VM_SEGMENTS_H

#include "vm/vm_private.h"

/* Stands in the state of a node whose inputs from `input` on are <C/P>. */
typedef struct Segments {
    uint64_t position; /* points of C taken so far */
    uint64_t inside;   /* of them, those of the parent that is open */
    bool is_closed;    /* SINGLE: the one parent has ended */
} Segments;

/* Points that can be handled next: all of `parents` whole parents from the first point of one on; or some points of the parent that is
 * open, which ends with them if `parents` is 1 and goes on if it is 0. */
typedef struct Stretch {
    size_t points;
    size_t parents;
    bool is_whole;
    int64_t first;       /* the number of its first point */
    const int64_t *ends; /* of the parents that end, if they differ in length; else null */
    size_t length;       /* is_whole, no ends: of every parent */
} Stretch;

/* The next stretch of at most `points` points and `parents` parents; false if there is none now. `points` are those at hand in C, `is_ended` says that no
 * more will come. A stretch may have parents without points, and is never without both. */
bool segments_next(const Firing *firing, const Segments *segments, uint32_t input, size_t points, bool is_ended, size_t parents,
                   Stretch *stretch);
/* The stretch was handled: consumes the inputs of <C/P>. */
void segments_take(Firing *firing, Segments *segments, uint32_t input, const Stretch *stretch);
/* Brings it up to date where points were taken without it: a function of a NodeKind, for nodes whose state begins with it. */
void segments_skip(const FlowNode *node, void *segments, uint64_t points, uint64_t parents);
/* All parents have ended. */
bool segments_are_ended(const Firing *firing, const Segments *segments, uint32_t input);

#endif
