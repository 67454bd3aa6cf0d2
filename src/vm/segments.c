#include "vm/segments.h"
#include "base/least.h"

#include "vm/cut.h"
#include "vm/movement.h"

/* ---- one parent for all ---- */

static bool next_single(const Segments *segments, size_t points, bool is_ended, size_t parents, Stretch *stretch)
{
    stretch->points = points;
    stretch->parents = is_ended && parents > 0;
    return !segments->is_closed && (stretch->points > 0 || stretch->parents > 0);
}

/* ---- as many points for each ---- */

static bool next_regular(const Firing *firing, const Segments *segments, uint32_t input, size_t points, size_t parents,
                         Stretch *stretch)
{
    if (firing_available(firing, input + 1) == 0)
        return false;
    size_t length = (size_t)*(const int64_t *)firing_cells(firing, input + 1).data;
    parents = least(parents, firing_available(firing, input));
    size_t whole = segments->inside > 0 ? 0 : length == 0 ? parents : least(points / length, parents);
    if (whole > 0) {
        *stretch = (Stretch){.points = whole * length,
                             .parents = whole,
                             .is_whole = true,
                             .first = (int64_t)segments->position,
                             .length = length};
        return true;
    }
    stretch->points = least(points, length - segments->inside);
    stretch->parents = parents > 0 && length > 0 && segments->inside + stretch->points == length;
    return stretch->points > 0 || stretch->parents > 0;
}

/* ---- by ends ---- */

static bool next_by_ends(const Firing *firing, const Segments *segments, uint32_t input, size_t points, size_t parents,
                         Stretch *stretch)
{
    size_t known = firing_available(firing, input);
    const int64_t *ends = known > 0 ? firing_cells(firing, input).data : NULL;
    int64_t position = (int64_t)segments->position;
    parents = least(parents, known);
    size_t whole = segments->inside > 0 ? 0 : cut_ends(ends, parents, position + (int64_t)points);
    if (whole > 0) {
        *stretch = (Stretch){.points = (size_t)(ends[whole - 1] - position),
                             .parents = whole,
                             .is_whole = true,
                             .first = position,
                             .ends = ends};
        if (movement_is_regular(firing->vm->team, position, ends, whole, &stretch->length))
            stretch->ends = NULL;
        return true;
    }
    int64_t limit = known > 0 ? ends[0] : firing_frontier(firing, input);
    stretch->points = limit > position ? least(points, (size_t)(limit - position)) : 0;
    stretch->parents = parents > 0 && position + (int64_t)stretch->points == limit;
    stretch->ends = ends;
    return stretch->points > 0 || stretch->parents > 0;
}

/* ---- all of them ---- */

bool segments_next(const Firing *firing, const Segments *segments, uint32_t input, size_t points, bool is_ended, size_t parents,
                   Stretch *stretch)
{
    *stretch = (Stretch){.first = (int64_t)segments->position};
    switch (firing->node->segments) {
    case SEGMENTS_SINGLE: return next_single(segments, points, is_ended, parents, stretch);
    case SEGMENTS_REGULAR: return next_regular(firing, segments, input, points, parents, stretch);
    case SEGMENTS_ENDS: return next_by_ends(firing, segments, input, points, parents, stretch);
    }
    return false;
}

void segments_take(Firing *firing, Segments *segments, uint32_t input, const Stretch *stretch)
{
    segments->position += stretch->points;
    segments->inside = stretch->parents > 0 ? 0 : segments->inside + stretch->points;
    if (stretch->parents == 0)
        return;
    if (firing->node->segments == SEGMENTS_SINGLE)
        segments->is_closed = true;
    else
        firing_consume(firing, input, stretch->parents);
}

bool segments_are_ended(const Firing *firing, const Segments *segments, uint32_t input)
{
    return firing->node->segments == SEGMENTS_SINGLE ? segments->is_closed : firing_is_ended(firing, input);
}

void segments_skip(const FlowNode *node, void *segments_memory, uint64_t points, uint64_t parents)
{
    (void)parents;
    Segments *segments = segments_memory;
    segments->position = points;
    segments->inside = node->segments == SEGMENTS_SINGLE ? points : 0;
}
