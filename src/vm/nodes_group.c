/* GROUP: the points of each parent by keys.
 *
 * The points of one parent are collected, or of several whose points are all there and not many; then their order is known, and with it everything that is given. There are
 * four kinds of outputs, each of which goes on as far as it has room, whatever the others do: the groups with their keys, their ends, the members, and the ends of the
 * parents. */
#include "vm/nodes.h"

#include <string.h>

enum { GROUP_DRIVER, GROUP_KEYS };
enum {
    COMPARE_PICOSECONDS = 10000, /* about what two keys take, in one thread */
    POINTS_MAX = 1 << 15,        /* of several parents */
};
enum { GROUP_OUT_POINTS, GROUP_OUT_PARENT_ENDS, GROUP_OUT_KEYS };

/* Positions. */
typedef struct Places {
    int64_t *items;
    size_t count, capacity;
} Places;

typedef struct Group {
    WalkState walk;
    Layout *member_layout; /* of the further leaves that have cells */
    Cells *cells;      /* for one firing: as many as there are inputs */
    Array *keys, *members; /* the points of the parents at hand */
    Places order;          /* sorts them, those of each parent for themselves */
    Places firsts, ends;   /* of each group: a member whose key is given, and where it ends in the order */
    Places parents;        /* of each parent: where its points end, then where its groups do */
    bool is_giving;        /* no more points come, and these are in order */
    size_t parents_given, groups_given, ends_given, members_given;
    int64_t group_total, member_total; /* of the parents before */
} Group;

static Inputs key_inputs(const FlowNode *node)
{
    return (Inputs){GROUP_KEYS, node->layout->count};
}

static uint32_t segment_inputs(const FlowNode *node)
{
    static const uint8_t counts[] = {[SEGMENTS_SINGLE] = 0, [SEGMENTS_REGULAR] = 2, [SEGMENTS_ENDS] = 1};
    return counts[node->segments];
}

static Inputs member_inputs(const FlowNode *node)
{
    uint32_t first = GROUP_KEYS + node->layout->count;
    return (Inputs){first, node->input_count - segment_inputs(node) - first};
}

static uint32_t ends_output(const FlowNode *node)
{
    return GROUP_OUT_KEYS + node->layout->count;
}

/* ---- memory ---- */

static size_t member_layout_size(const FlowNode *node)
{
    return sizeof(Layout) + member_inputs(node).count * sizeof(Leaf);
}

static void free_places(Memory *memory, Places *places)
{
    memory_free(memory, places->items, places->capacity * sizeof *places->items);
    *places = (Places){0};
}

static void make_places(Memory *memory, Places *places, size_t count)
{
    places->items = memory_resize(memory, NULL, 0, count * sizeof *places->items);
    places->count = places->capacity = count;
}

static void forget_points(Memory *memory, Group *state)
{
    array_release(memory, state->keys);
    array_release(memory, state->members);
    state->keys = state->members = NULL;
    free_places(memory, &state->order);
    free_places(memory, &state->firsts);
    free_places(memory, &state->ends);
    free_places(memory, &state->parents);
}

static void release_group(Vm *vm, const FlowNode *node, void *state_memory)
{
    Group *state = state_memory;
    forget_points(vm->memory, state);
    if (state->member_layout != NULL)
        memory_free(vm->memory, state->member_layout, member_layout_size(node));
    if (state->cells != NULL)
        memory_free(vm->memory, state->cells, node->input_count * sizeof *state->cells);
}

/* A driver that members keep has no cells, hence no column. */
static void make_member_layout(Firing *firing)
{
    Group *state = firing->state;
    Inputs inputs = member_inputs(firing->node);
    state->member_layout = memory_alloc(firing->vm->memory, member_layout_size(firing->node));
    for (uint32_t i = 0; i < inputs.count; i++) {
        LeafType type = firing->node->inputs[inputs.first + i].type;
        if (type != LEAF_POINTS)
            state->member_layout->leaves[state->member_layout->count++] = (Leaf){.type = type};
    }
}

/* ---- collecting ---- */

static void open_parent(Firing *firing)
{
    Group *state = firing->state;
    Memory *memory = firing->vm->memory;
    if (state->cells == NULL)
        state->cells = memory_alloc(memory, firing->node->input_count * sizeof *state->cells);
    if (state->member_layout == NULL)
        make_member_layout(firing);
    if (state->keys == NULL)
        state->keys = array_new(memory, firing->node->layout);
    if (state->members == NULL)
        state->members = array_new(memory, state->member_layout);
}

/* Appends points of some inputs to an array, those without cells left out. */
static void collect(Firing *firing, Array *array, Inputs inputs, size_t first, size_t count)
{
    Group *state = firing->state;
    uint32_t used = 0;
    for (uint32_t i = 0; i < inputs.count; i++)
        if (firing->node->inputs[inputs.first + i].type != LEAF_POINTS)
            state->cells[used++] = firing_cells(firing, inputs.first + i);
    array_append(firing->vm->memory, firing->vm->team, array, state->cells, first, count);
}

static void collect_points(Firing *firing, const Walk *walk, size_t count)
{
    Group *state = firing->state;
    open_parent(firing);
    collect(firing, state->keys, key_inputs(firing->node), walk->child, count);
    collect(firing, state->members, member_inputs(firing->node), walk->child, count);
}

/* All points of so many parents. */
static void collect_parents(Firing *firing, Walk *walk, size_t parents)
{
    Group *state = firing->state;
    size_t points = walk_parents_end(walk, parents);
    if (points > 0)
        collect_points(firing, walk, points);
    make_places(firing->vm->memory, &state->parents, parents);
    for (size_t i = 0; i < parents; i++)
        state->parents.items[i] = (int64_t)walk_parents_end(walk, i + 1);
    walk_over(walk, parents);
}

/* ---- ordering ---- */

/* Groups being found among ordered points, in pieces: first it is noted where one begins, then their places are written. */
typedef struct Finding {
    Group *state;
    TeamPieces pieces;
    bool *is_first; /* at first of those that no other of their parent comes before */
    size_t *counts; /* by piece: groups that begin in it, then in those before */
} Finding;

/* A key that is one integer of 64 bits, the most common kind; null if it is another. */
static const int64_t *integer_keys(const Group *state)
{
    const Layout *layout = state->keys->layout;
    bool is_one = layout->count == 1 && layout->leaves[0].type == (LeafType)SCALAR_I64 && !state->cells[0].is_uniform;
    return is_one ? state->cells[0].data : NULL;
}

static bool is_same_key(const Group *state, const int64_t *integers, size_t i)
{
    const int64_t *order = state->order.items;
    if (integers != NULL)
        return integers[order[i - 1]] == integers[order[i]];
    return rows_compare(state->keys->layout, state->cells, (size_t)order[i - 1], state->cells,
                        (size_t)order[i]) == 0;
}

static size_t piece_end(const Finding *finding, size_t piece)
{
    return least((piece + 1) * finding->pieces.length, finding->state->order.count);
}

static void note_firsts(void *context, size_t piece, size_t end, uint32_t member)
{
    const Finding *finding = context;
    const int64_t *integers = integer_keys(finding->state);
    (void)member;
    for (; piece < end; piece++) {
        size_t groups = 0;
        for (size_t i = piece * finding->pieces.length; i < piece_end(finding, piece); i++) {
            finding->is_first[i] = finding->is_first[i] || !is_same_key(finding->state, integers, i);
            groups += finding->is_first[i];
        }
        finding->counts[piece] = groups;
    }
}

enum { TILE = 256 };

/* Where groups begin among points [first, end), at most a tile of them. */
static size_t find_firsts(const bool *is_first, size_t first, size_t end, size_t firsts[TILE])
{
    size_t count = 0;
    for (size_t i = first; i < end; i++) { /* which are firsts cannot be guessed */
        firsts[count] = i;
        count += is_first[i];
    }
    return count;
}

static void write_places(void *context, size_t piece, size_t end, uint32_t member)
{
    const Finding *finding = context;
    Group *state = finding->state;
    (void)member;
    for (; piece < end; piece++) {
        size_t group = finding->counts[piece], stop = piece_end(finding, piece), firsts[TILE];
        for (size_t tile = piece * finding->pieces.length; tile < stop; tile += TILE) {
            size_t count = find_firsts(finding->is_first, tile, least(tile + TILE, stop), firsts);
            for (size_t i = 0; i < count; i++, group++) {
                state->firsts.items[group] = state->order.items[firsts[i]];
                if (group > 0)
                    state->ends.items[group - 1] = (int64_t)firsts[i];
            }
        }
    }
}

/* Makes of the counts how many groups begin in the pieces before; gives how many there are. */
static size_t sum_counts(const Finding *finding)
{
    size_t sum = 0;
    for (size_t piece = 0; piece < finding->pieces.count; piece++) {
        size_t here = finding->counts[piece];
        finding->counts[piece] = sum;
        sum += here;
    }
    return sum;
}

static void mark_parents(const Finding *finding)
{
    const Places *parents = &finding->state->parents;
    size_t count = finding->state->order.count;
    memset(finding->is_first, 0, count);
    finding->is_first[0] = true;
    for (size_t i = 0; i < parents->count; i++)
        if ((size_t)parents->items[i] < count)
            finding->is_first[parents->items[i]] = true;
}

/* From where the points of parents end to where their groups do. */
static void end_parents(Group *state)
{
    size_t group = 0;
    for (size_t i = 0; i < state->parents.count; i++) {
        while (group < state->ends.count && state->ends.items[group] <= state->parents.items[i])
            group++;
        state->parents.items[i] = (int64_t)group;
    }
}

static void find_groups(Firing *firing)
{
    Group *state = firing->state;
    Team *team = firing->vm->team;
    size_t count = state->order.count;
    if (count == 0)
        return;
    for (uint32_t leaf = 0; leaf < state->keys->layout->count; leaf++)
        state->cells[leaf] = array_cells(state->keys, leaf, 0);
    Finding finding = {.state = state, .pieces = team_pieces(team, count, team_grain(team, COMPARE_PICOSECONDS))};
    finding.is_first = team_alloc(team, count);
    finding.counts = team_alloc(team, finding.pieces.count * sizeof *finding.counts);
    mark_parents(&finding);
    team_run(team, finding.pieces.count, 1, note_firsts, &finding);
    size_t groups = sum_counts(&finding);
    make_places(firing->vm->memory, &state->firsts, groups);
    make_places(firing->vm->memory, &state->ends, groups);
    team_run(team, finding.pieces.count, 1, write_places, &finding);
    state->ends.items[groups - 1] = (int64_t)count;
    team_give_back(team, finding.counts);
    team_give_back(team, finding.is_first);
}

/* The points of several parents, those of each for themselves. */
static void order_by_parents(Firing *firing)
{
    Group *state = firing->state;
    Team *team = firing->vm->team;
    const Places *parents = &state->parents;
    Grade *slices = team_alloc(team, parents->count * sizeof *slices);
    size_t start = 0;
    for (size_t i = 0; i < parents->count; i++) {
        size_t end = (size_t)parents->items[i];
        slices[i] = (Grade){state->keys, start, end - start, state->order.items + start};
        start = end;
    }
    arrays_grade(team, slices, parents->count, false);
    for (size_t i = 0; i < parents->count; i++)
        for (size_t k = 0; k < slices[i].length; k++)
            ((int64_t *)slices[i].out)[k] += (int64_t)slices[i].start;
    team_give_back(team, slices);
}

static void order_points(Firing *firing)
{
    Group *state = firing->state;
    Memory *memory = firing->vm->memory;
    open_parent(firing);
    size_t count = state->keys->count;
    make_places(memory, &state->order, count);
    if (state->parents.count == 0) {
        make_places(memory, &state->parents, 1);
        state->parents.items[0] = (int64_t)count;
    }
    if (count > 0 && state->parents.count > 1)
        order_by_parents(firing);
    else if (count > 0)
        array_grade(firing->vm->team, state->keys, 0, count, false, state->order.items);
    find_groups(firing);
    end_parents(state);
    state->parents_given = state->groups_given = state->ends_given = state->members_given = 0;
    state->is_giving = true;
}

/* ---- giving ---- */

/* Gives elements of an array at the places [first, first + count) to outputs from `output` on: one for each input, as it has its type. */
static void give_gathered(Firing *firing, Array *array, Inputs inputs, uint32_t output, const int64_t *places, size_t count)
{
    uint32_t column = 0;
    for (uint32_t i = 0; i < inputs.count; i++) {
        LeafType type = firing->node->inputs[inputs.first + i].type;
        bool is_wanted = firing_is_wanted(firing, output + i);
        if (is_wanted && type != LEAF_POINTS)
            cells_gather(firing->vm->team, type, firing_reserve(firing, output + i, count), (Cells){&array, true}, column,
                         (Cells){.data = places}, count);
        if (is_wanted)
            firing_produce(firing, output + i, count);
        column += type != LEAF_POINTS ? 1 : 0;
    }
}

/* The next groups with their keys. */
static void give_groups(Firing *firing)
{
    Group *state = firing->state;
    Inputs keys = key_inputs(firing->node);
    size_t room = least(firing_room(firing, GROUP_OUT_POINTS), outputs_room(firing, GROUP_OUT_KEYS, keys.count));
    size_t count = least(room, state->firsts.count - state->groups_given);
    if (count == 0)
        return;
    firing_produce(firing, GROUP_OUT_POINTS, count);
    give_gathered(firing, state->keys, keys, GROUP_OUT_KEYS, state->firsts.items + state->groups_given, count);
    state->groups_given += count;
}

static void give_members(Firing *firing)
{
    Group *state = firing->state;
    Inputs members = member_inputs(firing->node);
    uint32_t output = ends_output(firing->node) + 1;
    size_t count = least(outputs_room(firing, output, members.count), state->order.count - state->members_given);
    if (count == 0)
        return;
    give_gathered(firing, state->members, members, output, state->order.items + state->members_given, count);
    state->members_given += count;
}

/* Gives places, which count from the first of the parents at hand: `total` come before. Gives how many there was room for. */
static size_t give_places(Firing *firing, uint32_t output, const Places *places, size_t given, int64_t total)
{
    size_t count = least(firing_room(firing, output), places->count - given);
    if (count == 0)
        return 0;
    int64_t *out = firing_reserve(firing, output, count);
    for (size_t i = 0; i < count; i++)
        out[i] = total + places->items[given + i];
    firing_produce(firing, output, count);
    return count;
}

/* Gives what there is room for. True once everything of these parents is out. */
static bool give_parents(Firing *firing)
{
    Group *state = firing->state;
    state->parents_given += give_places(firing, GROUP_OUT_PARENT_ENDS, &state->parents, state->parents_given, state->group_total);
    give_groups(firing);
    state->ends_given += give_places(firing, ends_output(firing->node), &state->ends, state->ends_given, state->member_total);
    give_members(firing);
    if (state->parents_given < state->parents.count || state->groups_given < state->firsts.count || state->ends_given < state->ends.count ||
        state->members_given < state->order.count)
        return false;
    state->group_total += (int64_t)state->firsts.count;
    state->member_total += (int64_t)state->order.count;
    forget_points(firing->vm->memory, state);
    state->is_giving = false;
    return true;
}

/* False when nothing more can be done now, or ever. */
static bool group(Firing *firing)
{
    Group *state = firing->state;
    Inputs members = member_inputs(firing->node), points = {GROUP_DRIVER, members.first + members.count};
    Walk walk = walk_begin(firing, &state->walk, points, (Inputs){0}, points.count);
    for (;;) {
        size_t parents = state->is_giving ? 0 : walk_whole_parents(&walk, POINTS_MAX);
        if (parents > 1)
            collect_parents(firing, &walk, parents);
        size_t count = walk_points(&walk);
        if (count > 0)
            collect_points(firing, &walk, count);
        walk.child += count;
        if (!walk_is_parent_done(&walk))
            return walk_end(&walk);
        if (!state->is_giving)
            order_points(firing);
        if (!give_parents(firing))
            return walk_end(&walk);
        walk_next_parent(&walk);
    }
}

static void fire_group(Firing *firing)
{
    while (group(firing))
        continue;
}

const NodeKind node_kind_GROUP = {.fire = fire_group, .state_size = sizeof(Group), .release = release_group};
