#include "vm/points.h"

size_t points_available(const Firing *firing)
{
    size_t available = SIZE_MAX;
    for (uint32_t i = 0; i < firing->node->input_count && available > 0; i++)
        available = least(available, firing_available(firing, i));
    return available == SIZE_MAX ? 1 : available;
}

size_t points_room(const Firing *firing)
{
    size_t room = SIZE_MAX;
    for (uint32_t i = 0; i < firing->node->output_count; i++)
        room = least(room, firing_room(firing, i));
    return room;
}

static bool is_read_by_point(const FlowOperand *operand)
{
    return !operand->is_constant && !operand->is_uniform;
}

void points_take(Firing *firing, size_t count)
{
    bool has_points = false, is_ended = false;
    for (uint32_t i = 0; i < firing->node->input_count; i++) {
        if (!is_read_by_point(&firing->node->inputs[i]))
            continue;
        firing_consume(firing, i, count);
        has_points = true;
        is_ended |= firing_is_ended(firing, i);
    }
    if (has_points ? is_ended : count > 0)
        firing_finish(firing);
}

void points_views(const Firing *firing, uint32_t first, uint32_t count, PointsViews *views)
{
    views->count = count;
    views->cells = count <= POINTS_FEW ? views->few : team_alloc(firing->vm->team, count * sizeof(Cells));
    for (uint32_t i = 0; i < count; i++)
        views->cells[i] = firing_cells(firing, first + i);
}

void points_views_free(const Firing *firing, PointsViews *views)
{
    if (views->cells != views->few)
        team_give_back(firing->vm->team, views->cells);
}

bool points_are_uniform(const PointsViews *views)
{
    for (uint32_t i = 0; i < views->count; i++)
        if (!views->cells[i].is_uniform)
            return false;
    return true;
}
