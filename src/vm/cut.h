/* Where segments can be cut so that each piece has as much work. Points of both levels count: every element, and every segment, which stands
 * behind its elements. So neither a segment longer than all others together nor a million empty ones make a piece that is larger than the others. */
#ifndef RUNNEL_VM_CUT_H
#define RUNNEL_VM_CUT_H

#include <stddef.h>
#include <stdint.h>

/* Elements are counted from `first` on: segment k is elements [ends[k - 1] - first, ends[k] - first). */
typedef struct CutSegments {
    int64_t first;
    const int64_t *ends; /* null: all have `length` elements */
    size_t length;
    size_t count;
} CutSegments;

/* What lies before a point. */
typedef struct Cut {
    size_t segments; /* whole ones */
    size_t elements; /* theirs, and those of the next segment that lie before it too */
} Cut;

/* How many of the ends are at most `limit`; they ascend. */
size_t cut_ends(const int64_t *ends, size_t count, int64_t limit);

static inline size_t cut_end(const CutSegments *segments, size_t k)
{
    return segments->ends != NULL ? (size_t)(segments->ends[k] - segments->first) : (k + 1) * segments->length;
}
static inline size_t cut_start(const CutSegments *segments, size_t k)
{
    return k == 0 ? 0 : cut_end(segments, k - 1);
}
/* Points of both levels. */
static inline size_t cut_points(const CutSegments *segments)
{
    return cut_start(segments, segments->count) + segments->count;
}
/* `point` is at most cut_points. */
Cut cut_at(const CutSegments *segments, size_t point);

#endif
