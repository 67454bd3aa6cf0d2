/* The interface of movements: finds the loops for a size of cells. */
#include "vm/movement_private.h"

static const MovementLoops *const loops[] = {
#define VECTOR_LEVEL_ROW(level) [VECTOR_##level] = &VECTOR_NAME_AT(movement_loops, level),
    VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW
};

const MovementLoops *movement_loops_at(VectorLevel level)
{
    return loops[level];
}

static const MovementLoops *best(void)
{
    return loops[vector_level()];
}

size_t movement_count(const bool *flags, size_t count, bool keep)
{
    return best()->count(flags, count, keep);
}

void movement_count_running(int64_t *running, const bool *flags, size_t count, bool keep, int64_t start)
{
    best()->count_running(running, flags, count, keep, start);
}

void movement_local_index(int64_t *out, int64_t first, const int64_t *ends, size_t segments)
{
    best()->local_index(out, first, ends, segments);
}

/* ---- by size; cells of no bytes are only counted ---- */

static void count_bool(const bool *selector, size_t count, size_t *taken)
{
    size_t second = movement_count(selector, count, true);
    taken[0] += count - second;
    taken[1] += second;
}

static void count_int32(const int32_t *selector, size_t count, size_t *taken)
{
    for (size_t i = 0; i < count; i++)
        taken[selector[i]]++;
}

size_t movement_pack(size_t size, void *out, const void *from, const bool *flags, size_t count, bool keep)
{
    if (size == 0)
        return movement_count(flags, count, keep);
    return best()->sizes[size].pack(out, from, flags, count, keep);
}

void movement_distribute(size_t size, void *out, const void *from, int64_t first, const int64_t *ends, size_t segments)
{
    if (size > 0)
        best()->sizes[size].distribute(out, from, first, ends, segments);
}

void movement_distribute_regular(size_t size, void *out, const void *from, size_t length, size_t segments)
{
    if (size > 0)
        best()->sizes[size].distribute_regular(out, from, length, segments);
}

void movement_merge_bool(size_t size, void *out, const bool *selector, size_t count, const Cells sources[2],
                         size_t taken[2])
{
    if (size == 0)
        count_bool(selector, count, taken);
    else
        best()->sizes[size].merge_bool(out, selector, count, sources, taken);
}

void movement_merge_int32(size_t size, void *out, const int32_t *selector, size_t count, const Cells *sources,
                          size_t *taken)
{
    if (size == 0)
        count_int32(selector, count, taken);
    else
        best()->sizes[size].merge_int32(out, selector, count, sources, taken);
}

void movement_select(size_t size, void *out, const bool *selector, size_t count, const Cells sources[2])
{
    if (size > 0)
        best()->sizes[size].select(out, selector, count, sources);
}
