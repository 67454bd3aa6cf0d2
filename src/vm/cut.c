#include "vm/cut.h"

size_t cut_ends(const int64_t *ends, size_t count, int64_t limit)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (ends[low + half] <= limit) {
            low += half + 1;
            count -= half + 1;
        } else
            count = half;
    }
    return low;
}

static size_t segments_before(const CutSegments *segments, size_t point)
{
    if (segments->ends == NULL)
        return point / (segments->length + 1);
    size_t low = 0, count = segments->count;
    while (count > 0) {
        size_t half = count / 2, middle = low + half;
        if (cut_end(segments, middle) + middle < point) {
            low = middle + 1;
            count -= half + 1;
        } else
            count = half;
    }
    return low;
}

Cut cut_at(const CutSegments *segments, size_t point)
{
    size_t before = segments_before(segments, point);
    return (Cut){.segments = before, .elements = point - before};
}
