/* Nodes that make spaces, and the ends that tell whose their points are. */
#include "vm/cut.h"
#include "vm/instance.h"
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
    else if (counts.parents > 1 && !counts.cells.is_uniform)
        counts.cells.is_uniform = movement_are_equal(firing->vm->team, counts.cells.data, counts.parents);
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

/* More points than can be counted: from there on no end is reached. Those before it are in order. */
static void saturate_ends(int64_t *ends, size_t count, int64_t before)
{
    bool has_wrapped = ends[0] < before;
    for (size_t i = 1; i < count; i++)
        has_wrapped |= ends[i] < ends[i - 1];
    if (!has_wrapped)
        return;
    for (size_t i = 0; i < count; i++) {
        ends[i] = ends[i] < before ? INT64_MAX : ends[i];
        before = ends[i];
    }
}

/* Ends are known as soon as the counts are. `done` parents lie before the cursor. Points are given only under parents whose end was. */
static void give_range_ends(Firing *firing, Counts *counts, uint64_t done)
{
    Range *state = firing->state;
    size_t first = (size_t)(state->ends_given - done);
    size_t count = least(counts->parents - first, firing_room(firing, RANGE_ENDS));
    int64_t *out = firing_reserve(firing, RANGE_ENDS, count);
    if (count > 0) {
        movement_ends(firing->vm->team, out, counts_from(counts, first), count, state->total, INT64_MAX);
        saturate_ends(out, count, state->total);
        state->total = out[count - 1];
    }
    state->ends_given += count;
    counts->parents = first + count;
    firing_produce(firing, RANGE_ENDS, count);
}

/* Gives indices of the parent in turn, as far as there is room; says whether that were all. */
static bool give_one_range(Firing *firing, uint64_t count)
{
    Range *state = firing->state;
    size_t given = least(firing_room(firing, RANGE_INDEX), count - state->inside);
    if (given > 0)
        movement_progression(firing->vm->team, firing_reserve(firing, RANGE_INDEX, given), (int64_t)state->inside, 1, given);
    firing_produce(firing, RANGE_INDEX, given);
    state->inside += given;
    if (state->inside < count)
        return false;
    state->inside = 0;
    return true;
}

/* Gives all points of those of the parents, from `first` on, for which there is room; gives how many parents these are. `ends` is memory for those
 * of `most` parents, the most to look at. */
static size_t give_whole_ranges(Firing *firing, const Counts *counts, size_t first, size_t most, int64_t *ends)
{
    Team *team = firing->vm->team;
    size_t room = firing_room(firing, RANGE_INDEX);
    movement_ends(team, ends, counts_from(counts, first), most, 0, (int64_t)room + 1);
    size_t whole = cut_ends(ends, most, (int64_t)room);
    if (whole == 0 || ends[whole - 1] == 0)
        return whole;
    size_t points = (size_t)ends[whole - 1];
    movement_local_index(team, firing_reserve(firing, RANGE_INDEX, points), 0, ends, whole);
    firing_produce(firing, RANGE_INDEX, points);
    return whole;
}

/* The same where all have as many. */
static size_t give_regular_ranges(Firing *firing, size_t length, size_t parents)
{
    if (length == 0)
        return parents;
    size_t whole = least(parents, firing_room(firing, RANGE_INDEX) / length);
    if (whole == 0)
        return 0;
    movement_local_index_regular(firing->vm->team, firing_reserve(firing, RANGE_INDEX, whole * length), length, whole);
    firing_produce(firing, RANGE_INDEX, whole * length);
    return whole;
}

/* Looks at few parents first, since one may fill all the room, then at more and more. */
static size_t give_ranges(Firing *firing, const Counts *counts, size_t first)
{
    enum { FEW = 64 };
    size_t done = first, parents = counts->parents;
    if (parents - first < 2)
        return 0;
    if (counts->cells.is_uniform)
        return give_regular_ranges(firing, count_at(counts, first), parents - first);
    int64_t few[FEW];
    for (size_t most = FEW; done < parents; most *= 2) {
        size_t looked = least(parents - done, most);
        int64_t *many = looked > FEW ? team_alloc(firing->vm->team, looked * sizeof *many) : NULL;
        size_t whole = give_whole_ranges(firing, counts, done, looked, many != NULL ? many : few);
        team_give_back(firing->vm->team, many);
        done += whole;
        if (whole < looked)
            break;
    }
    return done - first;
}

/* Gives indices as far as there is room; gives the number of parents that are complete. */
static size_t give_indices(Firing *firing, const Counts *counts)
{
    const Range *state = firing->state;
    size_t done = 0;
    while (done < counts->parents) {
        if (state->inside == 0)
            done += give_ranges(firing, counts, done);
        if (done == counts->parents || !give_one_range(firing, count_at(counts, done)))
            break;
        done++;
    }
    return done;
}

/* The same where nobody looks at them, and points are only counted. */
static size_t give_points(Firing *firing, const Counts *counts)
{
    Range *state = firing->state;
    size_t room = firing_wide_room(firing, RANGE_INDEX), given = 0, done = 0;
    for (; done < counts->parents; done++) {
        uint64_t left = count_at(counts, done) - state->inside;
        if (left > room - given) {
            state->inside += room - given;
            given = room;
            break;
        }
        given += left;
        state->inside = 0;
    }
    firing_produce_uniform(firing, RANGE_INDEX, &(int64_t){0}, given);
    return done;
}

static size_t give_range_points(Firing *firing, const Counts *counts)
{
    if (!firing_is_wanted(firing, RANGE_INDEX))
        return counts->parents;
    bool is_looked_at = firing->instance->plan->streams[firing->node->outputs[RANGE_INDEX]].is_looked_at;
    return is_looked_at ? give_indices(firing, counts) : give_points(firing, counts);
}

static void fire_range(Firing *firing)
{
    FlowSegments segments = firing->node->segments;
    uint32_t driver = segments == SEGMENTS_REGULAR ? RANGE_DRIVER : RANGE_COUNT;
    Counts counts = range_counts(firing);
    if (gives_ends(firing))
        give_range_ends(firing, &counts, firing_position(firing, driver));
    size_t done = give_range_points(firing, &counts);
    firing_consume(firing, driver, done);
    if (segments == SEGMENTS_SINGLE ? done > 0 : firing_is_ended(firing, driver))
        firing_finish(firing);
}

static bool tile_accepts_range(const FlowNetwork *network, const FlowNode *node)
{
    (void)network;
    return node->segments == SEGMENTS_SINGLE && node->outputs[RANGE_INDEX] != 0 &&
           (node->output_count <= RANGE_ENDS || node->outputs[RANGE_ENDS] == 0);
}

static Cells tile_range(const NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done)
{
    (void)plan, (void)inputs, (void)done;
    movement_progression(NULL, room, (int64_t)position, 1, count);
    return (Cells){.data = room};
}

static void skip_range(const FlowNode *node, void *state_memory, uint64_t points, uint64_t parents)
{
    Range *state = state_memory;
    if (node->segments == SEGMENTS_SINGLE)
        state->inside = points;
    else
        *state = (Range){.ends_given = parents, .total = (int64_t)points};
}

static const TileKind tile_of_range = {.accepts = tile_accepts_range, .compute = tile_range};
const NodeKind node_kind_RANGE = {.fire = fire_range, .state_size = sizeof(Range), .tile = &tile_of_range, .skip = skip_range};

/* ---- filters ---- */

static void fire_filter(Firing *firing)
{
    bool keep = firing->node->keep;
    for (;;) {
        size_t count = least(firing_available(firing, 0), firing_room(firing, 0));
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
    size_t count = least(firing_available(firing, 0), firing_room(firing, 0));
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

/* The state is the last end given. */
static void skip_ends(const FlowNode *node, void *state, uint64_t points, uint64_t parents)
{
    (void)node, (void)parents;
    *(int64_t *)state = (int64_t)points;
}

const NodeKind node_kind_FLAG_ENDS = {.fire = fire_flag_ends, .state_size = sizeof(int64_t), .skip = skip_ends};

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
        size_t count = least(firing_available(firing, PACK_ELEMENTS), firing_available(firing, PACK_FLAGS));
        count = least(count, firing_room(firing, 0));
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
    size_t count = least(firing_available(firing, ENDS_PARENTS), firing_room(firing, 0));
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

const NodeKind node_kind_ENDS = {.fire = fire_ends, .state_size = sizeof(int64_t), .skip = skip_ends};

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
    size_t count = limit > state->middle ? least(known, (size_t)(limit - state->middle)) : 0;
    if (count == 0)
        return;
    state->last = ((const int64_t *)firing_cells(firing, COMPOSE_INNER).data)[count - 1];
    state->middle += (int64_t)count;
    firing_consume(firing, COMPOSE_INNER, count);
}

typedef struct Composing {
    int64_t *out;
    const int64_t *outer, *inner; /* `inner` are the ends of points of M that were not passed */
    Compose passed;
} Composing;

static void compose_part(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Composing *composing = context;
    for (size_t i = first; i < end; i++) {
        int64_t beyond = composing->outer[i] - composing->passed.middle;
        composing->out[i] = beyond > 0 ? composing->inner[beyond - 1] : composing->passed.last;
    }
}

/* Gives the ends of parents whose points of M all have known ends, and passes these. */
static void give_composed(Firing *firing)
{
    enum { POINT = 500 }; /* picoseconds */
    Team *team = firing->vm->team;
    Composing composing = {.passed = *(const Compose *)firing->state};
    size_t count = least(firing_available(firing, COMPOSE_OUTER), firing_room(firing, 0));
    size_t known = firing_available(firing, COMPOSE_INNER);
    if (count == 0)
        return;
    composing.outer = firing_cells(firing, COMPOSE_OUTER).data;
    composing.inner = known > 0 ? firing_cells(firing, COMPOSE_INNER).data : NULL;
    count = cut_ends(composing.outer, count, composing.passed.middle + (int64_t)known);
    if (count > 0) {
        composing.out = firing_reserve(firing, 0, count);
        team_run(team, count, team_grain(team, POINT), compose_part, &composing);
        compose_up_to(firing, composing.outer[count - 1]);
        firing_produce(firing, 0, count);
        firing_consume(firing, COMPOSE_OUTER, count);
    }
    if (firing_available(firing, COMPOSE_OUTER) > 0)
        compose_up_to(firing, *(const int64_t *)firing_cells(firing, COMPOSE_OUTER).data);
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

static void skip_compose(const FlowNode *node, void *state, uint64_t points, uint64_t parents)
{
    (void)node;
    *(Compose *)state = (Compose){.middle = (int64_t)parents, .last = (int64_t)points};
}

const NodeKind node_kind_COMPOSE = {.fire = fire_compose, .state_size = sizeof(Compose), .skip = skip_compose};
