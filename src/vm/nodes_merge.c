/* MERGE and MAKE: one stream out of several. */
#include "vm/instance.h"
#include "vm/movement.h"
#include "vm/points.h"

#include <string.h>

/* ---- merging by a selector ---- */

enum { MERGE_SELECTOR, MERGE_OPERANDS, FEW_OPERANDS = 8 };

/* Operands of a merge as they are now. */
typedef struct Merging {
    uint32_t count;
    Cells *cells;
    size_t *known; /* how many can be taken; SIZE_MAX for those that are uniform, or direct */
    size_t *taken;
    bool *is_direct; /* on the points of the result */
    bool has_direct, has_next;
} Merging;

static bool is_direct(const Firing *firing, uint32_t input)
{
    const FlowOperand *operand = &firing->node->inputs[input];
    return !operand->is_constant && !operand->is_uniform &&
           firing_points(firing, operand->stream) == firing_space_points(firing, firing->node->space);
}

/* Looks at the operands; gives how many points the direct ones allow. */
static size_t look(const Firing *firing, Merging *merging, size_t count)
{
    for (uint32_t i = 0; i < merging->count; i++) {
        uint32_t input = MERGE_OPERANDS + i;
        merging->known[i] = firing_available(firing, input);
        merging->cells[i] = merging->known[i] > 0 ? firing_cells(firing, input) : (Cells){0};
        merging->taken[i] = 0;
        merging->is_direct[i] = is_direct(firing, input);
        merging->has_direct |= merging->is_direct[i];
        merging->has_next |= !merging->is_direct[i] && merging->known[i] != SIZE_MAX;
        if (!merging->is_direct[i])
            continue;
        count = points_least(count, merging->known[i]);
        merging->known[i] = SIZE_MAX;
    }
    return count;
}

static uint32_t select_at(Cells selector, LeafType type, size_t i)
{
    size_t at = cells_index(selector, i);
    return type == SCALAR_BOOL ? ((const bool *)selector.data)[at] : (uint32_t)((const int32_t *)selector.data)[at];
}

/* How many of the first `count` points have what they select. Leaves in `taken` how many of each operand they select. */
static size_t count_ready(Team *team, const Merging *merging, Cells selector, LeafType type, size_t count)
{
    if (type == SCALAR_BOOL && !selector.is_uniform) {
        size_t trues = movement_count(team, selector.data, count, true);
        if (trues <= merging->known[1] && count - trues <= merging->known[0])
            return count;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t which = select_at(selector, type, i);
        if (merging->taken[which] == merging->known[which]) {
            memset(merging->taken, 0, merging->count * sizeof *merging->taken);
            return i;
        }
        merging->taken[which]++;
    }
    memset(merging->taken, 0, merging->count * sizeof *merging->taken);
    return count;
}

/* Any mixture of direct operands and others. */
static void merge_mixed(size_t size, char *out, const Merging *merging, Cells selector, LeafType type, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t which = select_at(selector, type, i);
        size_t at = merging->is_direct[which] ? i : merging->taken[which]++;
        Cells from = merging->cells[which];
        memcpy(out + i * size, (const char *)from.data + cells_index(from, at) * size, size);
    }
}

static void merge_into(Team *team, void *out, const Merging *merging, size_t size, Cells selector, LeafType type, size_t count)
{
    bool is_bool = type == SCALAR_BOOL;
    if (selector.is_uniform || (merging->has_direct && (merging->has_next || !is_bool)))
        merge_mixed(size, out, merging, selector, type, count);
    else if (merging->has_direct)
        movement_select(team, size, out, selector.data, count, merging->cells);
    else if (is_bool)
        movement_merge_bool(team, size, out, selector.data, count, merging->cells, merging->taken);
    else
        movement_merge_int32(team, size, out, selector.data, count, merging->cells, merging->taken, merging->count);
}

static void merge(Firing *firing, Merging *merging)
{
    Cells selector = firing_cells(firing, MERGE_SELECTOR);
    LeafType selector_type = firing->node->inputs[MERGE_SELECTOR].type;
    LeafType type = firing->node->inputs[MERGE_OPERANDS].type;
    size_t count = points_least(firing_available(firing, MERGE_SELECTOR), firing_room(firing, 0));
    count = count_ready(firing->vm->team, merging, selector, selector_type, look(firing, merging, count));
    if (count == 0)
        return;
    void *out = firing_reserve(firing, 0, count);
    merge_into(firing->vm->team, out, merging, leaf_size(type), selector, selector_type, count);
    cells_retain(type, out, count);
    firing_produce(firing, 0, count);
    firing_consume(firing, MERGE_SELECTOR, count);
    for (uint32_t i = 0; i < merging->count; i++)
        firing_consume(firing, MERGE_OPERANDS + i, merging->is_direct[i] ? count : merging->taken[i]);
}

/* The tables of operands, on the stack if there are few. */
static void merge_operands(Firing *firing)
{
    Memory *memory = firing->vm->memory;
    uint32_t count = firing->node->input_count - MERGE_OPERANDS;
    Cells few_cells[FEW_OPERANDS];
    size_t few_known[FEW_OPERANDS], few_taken[FEW_OPERANDS];
    bool few_direct[FEW_OPERANDS];
    Merging merging = {
        .count = count, .cells = few_cells, .known = few_known, .taken = few_taken, .is_direct = few_direct};
    size_t size = sizeof(Cells) + 2 * sizeof(size_t) + sizeof(bool);
    if (count > FEW_OPERANDS) {
        merging.cells = memory_alloc(memory, count * size);
        merging.known = (size_t *)(merging.cells + count);
        merging.taken = merging.known + count;
        merging.is_direct = (bool *)(merging.taken + count);
    }
    merge(firing, &merging);
    if (count > FEW_OPERANDS)
        memory_free(memory, merging.cells, count * size);
}

static void fire_merge(Firing *firing)
{
    if (firing_available(firing, MERGE_SELECTOR) > 0 && firing_room(firing, 0) > 0)
        merge_operands(firing);
    if (firing_is_ended(firing, MERGE_SELECTOR))
        firing_finish(firing);
}

/* What is joined is all computed before. */
static bool joins_sequences(const Firing *firing)
{
    const FlowNetwork *network = firing->instance->plan->network;
    const FlowSpace *space = &network->spaces.items[firing->node->space];
    return space->kind == SPACE_JOIN && network->spaces.items[space->parent].points == FLOW_UNIT;
}

/* Of operands at different points only the one selected next. */
static bool merge_needs(const Firing *firing, uint32_t input)
{
    if (input == MERGE_SELECTOR || is_direct(firing, input) || joins_sequences(firing))
        return true;
    return firing_available(firing, MERGE_SELECTOR) > 0 &&
           select_at(firing_cells(firing, MERGE_SELECTOR), firing->node->inputs[MERGE_SELECTOR].type, 0) ==
               input - MERGE_OPERANDS;
}

const NodeKind node_kind_MERGE = {.fire = fire_merge, .needs = merge_needs};

/* ---- so many values for each point ---- */

enum { MAKE_DRIVER, MAKE_VALUES };

/* Writes value `which` of each point into every `step`-th place. */
static void write_every(char *out, size_t size, size_t step, Cells values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * step * size, (const char *)values.data + cells_index(values, i) * size, size);
}

/* All values of several points. */
static void make_whole(Firing *firing, uint32_t width, size_t points)
{
    LeafType type = firing->node->inputs[MAKE_VALUES].type;
    size_t size = leaf_size(type);
    char *out = firing_reserve(firing, 0, points * width);
    for (uint32_t i = 0; i < width; i++)
        write_every(out + i * size, size, width, firing_cells(firing, MAKE_VALUES + i), points);
    cells_retain(type, out, points * width);
    firing_produce(firing, 0, points * width);
}

/* The next values of one point, as many as there is room for; gives whether its last one was among them. */
static bool make_some(Firing *firing, uint32_t width, size_t room)
{
    uint32_t *next = firing->state;
    LeafType type = firing->node->inputs[MAKE_VALUES].type;
    size_t size = leaf_size(type), count = points_least(width - *next, room);
    char *out = firing_reserve(firing, 0, count);
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * size, firing_cells(firing, MAKE_VALUES + *next + (uint32_t)i).data, size);
    cells_retain(type, out, count);
    firing_produce(firing, 0, count);
    *next = *next + count == width ? 0 : *next + (uint32_t)count;
    return *next == 0;
}

static void fire_make(Firing *firing)
{
    const uint32_t *next = firing->state;
    uint32_t width = firing->node->input_count - MAKE_VALUES;
    for (;;) {
        size_t points = points_available(firing), room = firing_room(firing, 0);
        if (points == 0 || (room == 0 && width > 0))
            break;
        size_t whole = width == 0 ? points : *next > 0 ? 0 : points_least(points, room / width);
        if (whole > 0 && width > 0)
            make_whole(firing, width, whole);
        else if (width > 0)
            whole = make_some(firing, width, room);
        for (uint32_t i = 0; i < firing->node->input_count; i++)
            firing_consume(firing, i, whole);
    }
    if (firing_is_ended(firing, MAKE_DRIVER))
        firing_finish(firing);
}

const NodeKind node_kind_MAKE = {.fire = fire_make, .state_size = sizeof(uint32_t)};
