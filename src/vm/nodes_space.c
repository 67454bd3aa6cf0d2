/* Nodes that make spaces, and the ends that tell whose their points are. */
#include "vm/movement.h"
#include "vm/points.h"

/* ---- ranges ---- */

enum { RANGE_COUNT, RANGE_DRIVER };
enum { RANGE_INDEX, RANGE_ENDS };

typedef struct Range {
    uint64_t inside;     /* points given of the parent that is open */
    uint64_t ends_given;
    int64_t total;       /* the last end given */
} Range;

static bool gives_ends(const Firing *firing)
{
    return firing->node->output_count > RANGE_ENDS && firing_is_wanted(firing, RANGE_ENDS);
}

/* Counts of parents at the cursor. */
typedef struct Counts {
    Cells cells;
    size_t parents;
} Counts;

static Counts range_counts(const Firing *firing)
{
    Counts counts = {.parents = firing_available(firing, RANGE_COUNT)};
    if (counts.parents > 0)
        counts.cells = firing_cells(firing, RANGE_COUNT);
    if (firing->node->segments == SEGMENTS_REGULAR)
        counts.parents = counts.parents > 0 ? firing_available(firing, RANGE_DRIVER) : 0;
    else if (firing->node->segments == SEGMENTS_SINGLE)
        counts.parents = counts.parents > 0;
    return counts;
}

static uint64_t count_at(const Counts *counts, size_t parent)
{
    return ((const uint64_t *)counts->cells.data)[cells_index(counts->cells, parent)];
}

static Cells counts_from(const Counts *counts, size_t parent)
{
    const Cells cells = counts->cells;
    return (Cells){(const int64_t *)cells.data + cells_index(cells, parent), cells.is_uniform};
}

/* Ends are known as soon as the counts are. `done` parents lie before the cursor. Points are given only under parents whose end was. */
static void give_range_ends(Firing *firing, Counts *counts, uint64_t done)
{
    Range *state = firing->state;
    size_t first = (size_t)(state->ends_given - done);
    size_t count = points_least(counts->parents - first, firing_room(firing, RANGE_ENDS));
    int64_t *out = firing_reserve(firing, RANGE_ENDS, count);
    if (count > 0) {
        movement_ends(firing->vm->team, out, counts_from(counts, first), count, state->total, INT64_MAX);
        state->total = out[count - 1];
    }
    state->ends_given += count;
    counts->parents = first + count;
    firing_produce(firing, RANGE_ENDS, count);
}

/* Gives indices as far as there is room; gives the number of parents that are complete. */
static size_t give_indices(Firing *firing, const Counts *counts)
{
    Range *state = firing->state;
    size_t room = firing_room(firing, RANGE_INDEX), parent = 0, given = 0, wanted = 0;
    for (size_t i = 0; i < counts->parents && wanted < room; i++)
        wanted += points_least(room - wanted, count_at(counts, i) - (i == 0 ? state->inside : 0));
    int64_t *out = firing_reserve(firing, RANGE_INDEX, wanted);
    for (; parent < counts->parents; parent++) {
        uint64_t count = count_at(counts, parent);
        size_t now = points_least(wanted - given, count - state->inside);
        movement_progression(firing->vm->team, out + given, (int64_t)state->inside, 1, now);
        given += now;
        state->inside += now;
        if (state->inside < count)
            break;
        state->inside = 0;
    }
    firing_produce(firing, RANGE_INDEX, given);
    return parent;
}

static void fire_range(Firing *firing)
{
    FlowSegments segments = firing->node->segments;
    uint32_t driver = segments == SEGMENTS_REGULAR ? RANGE_DRIVER : RANGE_COUNT;
    Counts counts = range_counts(firing);
    if (gives_ends(firing))
        give_range_ends(firing, &counts, firing_position(firing, driver));
    size_t done = firing_is_wanted(firing, RANGE_INDEX) ? give_indices(firing, &counts) : counts.parents;
    firing_consume(firing, driver, done);
    if (segments == SEGMENTS_SINGLE ? done > 0 : firing_is_ended(firing, driver))
        firing_finish(firing);
}

const NodeKind node_kind_RANGE = {.fire = fire_range, .state_size = sizeof(Range)};

/* ---- filters ---- */

static void fire_filter(Firing *firing)
{
    bool keep = firing->node->keep;
    for (;;) {
        size_t count = points_least(firing_available(firing, 0), firing_room(firing, 0));
        if (count == 0)
            break;
        Cells cells = firing_cells(firing, 0);
        const bool *flags = cells.data;
        size_t kept = !cells.is_uniform ? movement_count(firing->vm->team, flags, count, keep) : flags[0] == keep ? count : 0;
        firing_produce_uniform(firing, 0, &kept, kept);
        firing_consume(firing, 0, count);
    }
    if (firing_is_ended(firing, 0))
        firing_finish(firing);
}

const NodeKind node_kind_FILTER = {.fire = fire_filter};

static void count_running(Team *team, int64_t *out, Cells cells, size_t count, bool keep, int64_t start)
{
    const bool *flags = cells.data;
    int64_t step = flags[0] == keep ? 1 : 0;
    if (cells.is_uniform)
        movement_progression(team, out, start + step, step, count);
    else
        movement_count_running(team, out, flags, count, keep, start);
}

static void fire_flag_ends(Firing *firing)
{
    int64_t *total = firing->state;
    size_t count = points_least(firing_available(firing, 0), firing_room(firing, 0));
    if (count > 0) {
        int64_t *out = firing_reserve(firing, 0, count);
        count_running(firing->vm->team, out, firing_cells(firing, 0), count, firing->node->keep, *total);
        *total = out[count - 1];
        firing_produce(firing, 0, count);
        firing_consume(firing, 0, count);
    }
    if (firing_is_ended(firing, 0))
        firing_finish(firing);
}

const NodeKind node_kind_FLAG_ENDS = {.fire = fire_flag_ends, .state_size = sizeof(int64_t)};

enum { PACK_ELEMENTS, PACK_FLAGS };

/* Packs `count` elements, of which there is room for all; gives how many were kept. */
static size_t pack(Firing *firing, Cells elements, Cells flags, size_t count)
{
    bool keep = firing->node->keep;
    LeafType type = firing->node->inputs[PACK_ELEMENTS].type;
    const bool *flag = flags.data;
    size_t kept = !flags.is_uniform ? count : flag[0] == keep ? count : 0;
    if (elements.is_uniform) {
        kept = flags.is_uniform ? kept : movement_count(firing->vm->team, flag, count, keep);
        firing_produce_uniform(firing, 0, elements.data, kept);
        return kept;
    }
    void *out = firing_reserve(firing, 0, kept);
    if (flags.is_uniform)
        cells_copy(type, out, elements, 0, kept);
    else {
        kept = movement_pack(firing->vm->team, leaf_size(type), out, elements.data, flag, count, keep);
        cells_retain(type, out, kept);
    }
    firing_produce(firing, 0, kept);
    return kept;
}

/* Points below the first end not yet passed on belong to the parent it stands for, and so to the next one here. */
static void pass_frontier(Firing *firing)
{
    if (firing_available(firing, PACK_ELEMENTS) > 0)
        firing_set_frontier(firing, 0, *(const int64_t *)firing_cells(firing, PACK_ELEMENTS).data);
    else if (!firing_is_ended(firing, PACK_ELEMENTS))
        firing_set_frontier(firing, 0, firing_frontier(firing, PACK_ELEMENTS));
}

static void fire_pack(Firing *firing)
{
    for (;;) {
        size_t count = points_least(firing_available(firing, PACK_ELEMENTS), firing_available(firing, PACK_FLAGS));
        count = points_least(count, firing_room(firing, 0));
        if (count == 0)
            break;
        pack(firing, firing_cells(firing, PACK_ELEMENTS), firing_cells(firing, PACK_FLAGS), count);
        firing_consume(firing, PACK_ELEMENTS, count);
        firing_consume(firing, PACK_FLAGS, count);
    }
    if (firing_is_ended(firing, PACK_FLAGS)) {
        firing_finish(firing);
        return;
    }
    if (firing->node->inputs[PACK_ELEMENTS].type == LEAF_ENDS)
        pass_frontier(firing);
}

const NodeKind node_kind_PACK = {.fire = fire_pack};

/* ---- ends ---- */

enum { ENDS_POINTS, ENDS_PARENTS, ENDS_COUNT };

static void fire_single_ends(Firing *firing)
{
    int64_t *total = firing->state;
    size_t count = firing_available(firing, ENDS_POINTS);
    *total += (int64_t)count;
    firing_consume(firing, ENDS_POINTS, count);
    firing_set_frontier(firing, 0, *total);
    if (!firing_is_ended(firing, ENDS_POINTS) || firing_room(firing, 0) == 0)
        return;
    *(int64_t *)firing_reserve(firing, 0, 1) = *total;
    firing_produce(firing, 0, 1);
    firing_finish(firing);
}

static void fire_regular_ends(Firing *firing)
{
    int64_t *total = firing->state;
    firing_ignore(firing, ENDS_POINTS);
    size_t count = points_least(firing_available(firing, ENDS_PARENTS), firing_room(firing, 0));
    if (count > 0 && firing_available(firing, ENDS_COUNT) > 0) {
        int64_t length = *(const int64_t *)firing_cells(firing, ENDS_COUNT).data;
        int64_t *out = firing_reserve(firing, 0, count);
        movement_progression(firing->vm->team, out, *total + length, length, count);
        *total = out[count - 1];
        firing_produce(firing, 0, count);
        firing_consume(firing, ENDS_PARENTS, count);
    }
    if (firing_is_ended(firing, ENDS_PARENTS))
        firing_finish(firing);
}

static void fire_ends(Firing *firing)
{
    if (firing->node->segments == SEGMENTS_SINGLE)
        fire_single_ends(firing);
    else
        fire_regular_ends(firing);
}

const NodeKind node_kind_ENDS = {.fire = fire_ends, .state_size = sizeof(int64_t)};

enum { COMPOSE_OUTER, COMPOSE_INNER };

typedef struct Compose {
    int64_t middle; /* points of M passed */
    int64_t last;   /* the end in S of the last of them */
} Compose;

/* Passes points of M up to `limit`, as far as their ends are known. */
static void compose_up_to(Firing *firing, int64_t limit)
{
    Compose *state = firing->state;
    size_t known = firing_available(firing, COMPOSE_INNER);
    size_t count = limit > state->middle ? points_least(known, (size_t)(limit - state->middle)) : 0;
    if (count == 0)
        return;
    state->last = ((const int64_t *)firing_cells(firing, COMPOSE_INNER).data)[count - 1];
    state->middle += (int64_t)count;
    firing_consume(firing, COMPOSE_INNER, count);
}

/* Gives the ends of parents whose points of M are all passed. */
static void give_composed(Firing *firing)
{
    const Compose *state = firing->state;
    size_t count = points_least(firing_available(firing, COMPOSE_OUTER), firing_room(firing, 0)), done = 0;
    if (count == 0)
        return;
    const int64_t *outer = firing_cells(firing, COMPOSE_OUTER).data;
    int64_t *out = firing_reserve(firing, 0, count);
    for (; done < count; done++) {
        compose_up_to(firing, outer[done]);
        if (state->middle < outer[done])
            break;
        out[done] = state->last;
    }
    firing_produce(firing, 0, done);
    firing_consume(firing, COMPOSE_OUTER, done);
}

static void fire_compose(Firing *firing)
{
    Compose *state = firing->state;
    give_composed(firing);
    if (firing_is_ended(firing, COMPOSE_OUTER)) {
        firing_finish(firing);
        return;
    }
    if (firing_available(firing, COMPOSE_OUTER) == 0)
        compose_up_to(firing, firing_frontier(firing, COMPOSE_OUTER));
    int64_t limit = firing_available(firing, COMPOSE_OUTER) > 0
                        ? *(const int64_t *)firing_cells(firing, COMPOSE_OUTER).data
                        : firing_frontier(firing, COMPOSE_OUTER);
    bool is_inside = state->middle < limit; /* the next point of M belongs to the parent in turn */
    bool has_more = is_inside && !firing_is_ended(firing, COMPOSE_INNER);
    firing_set_frontier(firing, 0, has_more ? firing_frontier(firing, COMPOSE_INNER) : state->last);
}

const NodeKind node_kind_COMPOSE = {.fire = fire_compose, .state_size = sizeof(Compose)};
