/* Nodes that compute point by point: how many points they can take now, and when there are none left. */
#ifndef RUNNEL_VM_POINTS_H
#define RUNNEL_VM_POINTS_H

#include "base/least.h"
#include "vm/vm_private.h"

/* Points that all inputs have now. A node that reads no stream point by point is on unit, and has one point. */
size_t points_available(const Firing *firing);
/* Room in all outputs. */
size_t points_room(const Firing *firing);
/* Takes the points from every input; finishes the node if there will be no more. */
void points_take(Firing *firing, size_t count);

/* Views of inputs [first, first + count), few of them on the stack. */
enum { POINTS_FEW = 16 };
typedef struct PointsViews {
    Cells *cells;
    uint32_t count;
    Cells few[POINTS_FEW];
} PointsViews;
void points_views(const Firing *firing, uint32_t first, uint32_t count, PointsViews *views);
void points_views_free(const Firing *firing, PointsViews *views);
bool points_are_uniform(const PointsViews *views);

#endif
