/* MERGE and MAKE: one stream out of several. */
#include "vm/instance.h"
#include "vm/movement.h"
#include "vm/points.h"
#include "vm/team_check.h"

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
    const Plan *plan = firing->instance->plan;
    const FlowOperand *operand = &firing->node->inputs[input];
    return !operand->is_constant && !operand->is_uniform &&
           plan_stream_points(plan, operand->stream) == plan_node_points(plan, firing->node);
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
        count = least(count, merging->known[i]);
        merging->known[i] = SIZE_MAX;
    }
    return count;
}

static uint32_t select_at(Cells selector, LeafType type, size_t i)
{
    size_t at = cells_index(selector, i);
    return type == SCALAR_BOOL ? ((const bool *)selector.data)[at] : (uint32_t)((const int32_t *)selector.data)[at];
}

/* ---- selecting in pieces ----
 * What the points of a piece select begins where that of the pieces before it ends: which is known once these have been counted. */

typedef struct Pieces {
    Cells selector;
    LeafType type;
    const Merging *merging;
    TeamPieces pieces;
    size_t count;
    size_t *taken; /* by piece and operand: how many of it are selected there, then how many before */
    char *out;
    size_t size; /* of a cell */
} Pieces;

enum { SELECT_PICOSECONDS = 1000 };

static size_t piece_end(const Pieces *pieces, size_t piece)
{
    return least((piece + 1) * pieces->pieces.length, pieces->count);
}

static void count_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Pieces *pieces = context;
    uint32_t operands = pieces->merging->count;
    for (size_t piece = first; piece < end; piece++) {
        size_t *taken = pieces->taken + piece * operands;
        memset(taken, 0, operands * sizeof *taken);
        for (size_t i = piece * pieces->pieces.length; i < piece_end(pieces, piece); i++)
            taken[select_at(pieces->selector, pieces->type, i)]++;
    }
}

/* Makes of the counts in pieces what lies before them; leaves the whole in `taken`. */
static void add_up(const Pieces *pieces, size_t *taken)
{
    uint32_t operands = pieces->merging->count;
    memset(taken, 0, operands * sizeof *taken);
    for (size_t i = 0; i < pieces->pieces.count * operands; i++) {
        size_t in_piece = pieces->taken[i];
        pieces->taken[i] = taken[i % operands];
        taken[i % operands] += in_piece;
    }
}

static Pieces select_in_pieces(Team *team, const Merging *merging, Cells selector, LeafType type, size_t count)
{
    Pieces pieces = {.selector = selector,
                     .type = type,
                     .merging = merging,
                     .pieces = team_pieces(team, count, team_grain(team, SELECT_PICOSECONDS)),
                     .count = count};
    if (pieces.pieces.count == 1)
        return pieces;
    pieces.taken = team_alloc(team, pieces.pieces.count * merging->count * sizeof(size_t));
    team_run(team, pieces.pieces.count, 1, count_pieces, &pieces);
    add_up(&pieces, merging->taken);
    return pieces;
}

/* Whether all points have what they select, as far as that is seen by counting on several threads. */
static bool are_ready(Team *team, const Merging *merging, Cells selector, LeafType type, size_t count)
{
    Pieces pieces = select_in_pieces(team, merging, selector, type, count);
    bool is_ready = pieces.taken != NULL;
    for (uint32_t i = 0; i < merging->count && is_ready; i++)
        is_ready = merging->taken[i] <= merging->known[i];
    team_give_back(team, pieces.taken);
    memset(merging->taken, 0, merging->count * sizeof *merging->taken);
    return is_ready;
}

/* How many of the first `count` points have what they select. Leaves `taken` zero. */
static size_t count_ready(Team *team, const Merging *merging, Cells selector, LeafType type, size_t count)
{
    if (type == SCALAR_BOOL && !selector.is_uniform) {
        size_t trues = movement_count(team, selector.data, count, true);
        if (trues <= merging->known[1] && count - trues <= merging->known[0])
            return count;
    }
    if (are_ready(team, merging, selector, type, count))
        return count;
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

/* Any mixture of direct operands and others: points [first, end), given what those before them have taken. */
static void merge_points(const Pieces *pieces, size_t *taken, size_t first, size_t end)
{
    const Merging *merging = pieces->merging;
    size_t size = pieces->size;
    for (size_t i = first; i < end; i++) {
        uint32_t which = select_at(pieces->selector, pieces->type, i);
        size_t at = merging->is_direct[which] ? i : taken[which]++;
        Cells from = merging->cells[which];
        memcpy(pieces->out + i * size, (const char *)from.data + cells_index(from, at) * size, size);
    }
}

static void merge_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Pieces *pieces = context;
    for (size_t piece = first; piece < end; piece++)
        merge_points(pieces, pieces->taken + piece * pieces->merging->count, piece * pieces->pieces.length,
                     piece_end(pieces, piece));
}

static void merge_mixed(Team *team, size_t size, char *out, const Merging *merging, Cells selector, LeafType type, size_t count)
{
    Pieces pieces = select_in_pieces(team, merging, selector, type, count);
    pieces.out = out;
    pieces.size = size;
    if (pieces.taken == NULL)
        merge_points(&pieces, merging->taken, 0, count);
    else
        team_run(team, pieces.pieces.count, 1, merge_pieces, &pieces);
    team_give_back(team, pieces.taken);
}

static void merge_into(Team *team, void *out, const Merging *merging, size_t size, Cells selector, LeafType type, size_t count)
{
    bool is_bool = type == SCALAR_BOOL;
    if (selector.is_uniform || (merging->has_direct && (merging->has_next || !is_bool)))
        merge_mixed(team, size, out, merging, selector, type, count);
    else if (merging->has_direct)
        movement_select(team, size, out, selector.data, count, merging->cells);
    else if (is_bool)
        movement_merge_bool(team, size, out, selector.data, count, merging->cells, merging->taken);
    else
        movement_merge_int32(team, size, out, selector.data, count, merging->cells, merging->taken, merging->count);
}

static void merge(Firing *firing, Merging *merging)
{
    Team *team = firing->vm->team;
    Cells selector = firing_cells(firing, MERGE_SELECTOR);
    LeafType selector_type = firing->node->inputs[MERGE_SELECTOR].type;
    LeafType type = firing->node->inputs[MERGE_OPERANDS].type;
    size_t count = least(firing_available(firing, MERGE_SELECTOR), firing_room(firing, 0));
    count = count_ready(team, merging, selector, selector_type, look(firing, merging, count));
    if (count == 0)
        return;
    void *out = firing_reserve(firing, 0, count);
    merge_into(team, out, merging, leaf_size(type), selector, selector_type, count);
    cells_retain(type, out, count);
    firing_produce(firing, 0, count);
    firing_consume(firing, MERGE_SELECTOR, count);
    for (uint32_t i = 0; i < merging->count; i++)
        firing_consume(firing, MERGE_OPERANDS + i, merging->is_direct[i] ? count : merging->taken[i]);
}

/* The tables of operands, on the stack if there are few. */
static void merge_operands(Firing *firing)
{
    uint32_t count = firing->node->input_count - MERGE_OPERANDS;
    Cells few_cells[FEW_OPERANDS];
    size_t few_known[FEW_OPERANDS], few_taken[FEW_OPERANDS];
    bool few_direct[FEW_OPERANDS];
    Merging merging = {
        .count = count, .cells = few_cells, .known = few_known, .taken = few_taken, .is_direct = few_direct};
    size_t size = sizeof(Cells) + 2 * sizeof(size_t) + sizeof(bool);
    if (count > FEW_OPERANDS) {
        merging.cells = team_alloc(firing->vm->team, count * size);
        merging.known = (size_t *)(merging.cells + count);
        merging.taken = merging.known + count;
        merging.is_direct = (bool *)(merging.taken + count);
    }
    merge(firing, &merging);
    if (count > FEW_OPERANDS)
        team_give_back(firing->vm->team, merging.cells);
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

/* One of two scalars at the same point. */
static bool tile_accepts_merge(const FlowNetwork *network, const FlowNode *node)
{
    enum { TWO = MERGE_OPERANDS + 2 };
    if (node->input_count != TWO || node->inputs[MERGE_SELECTOR].type != (LeafType)SCALAR_BOOL || node->outputs[0] == 0 ||
        node->inputs[MERGE_OPERANDS].type == LEAF_ARRAY)
        return false;
    uint32_t points = network->spaces.items[node->space].points;
    for (uint32_t i = MERGE_OPERANDS; i < TWO; i++) {
        const FlowOperand *operand = &node->inputs[i];
        bool is_by_point = !operand->is_constant && !operand->is_uniform;
        if (is_by_point && network->spaces.items[network->streams.items[operand->stream].space].points != points)
            return false;
    }
    return true;
}

static Cells tile_merge(const NodePlan *plan, const Cells *inputs, void *room, uint64_t position, size_t count, size_t *done)
{
    (void)position, (void)done;
    Cells selector = inputs[MERGE_SELECTOR];
    size_t size = leaf_size(plan->node->inputs[MERGE_OPERANDS].type);
    if (selector.is_uniform) { /* copied: the operand's place is used again once it was read */
        Cells chosen = inputs[MERGE_OPERANDS + *(const bool *)selector.data];
        memcpy(room, chosen.data, chosen.is_uniform ? size : count * size);
        return (Cells){.data = room, .is_uniform = chosen.is_uniform};
    }
    movement_select(NULL, size, room, selector.data, count, inputs + MERGE_OPERANDS);
    return (Cells){.data = room};
}

static const TileKind tile_of_merge = {.accepts = tile_accepts_merge, .compute = tile_merge};
const NodeKind node_kind_MERGE = {.fire = fire_merge, .needs = merge_needs, .tile = &tile_of_merge};

/* ---- so many values for each point ---- */

enum { MAKE_DRIVER, MAKE_VALUES };
enum { VALUE_PICOSECONDS = 1000 };

typedef struct MakeLoop {
    const Firing *firing;
    char *out;
    size_t size; /* of a cell */
    uint32_t width;
} MakeLoop;

/* Each value of some points into every `width`-th place. */
static size_t make_points(const void *context, size_t first, size_t end)
{
    MakeLoop loop = *(const MakeLoop *)context;
    for (uint32_t k = 0; k < loop.width; k++) {
        Cells values = firing_cells(loop.firing, MAKE_VALUES + k);
        for (size_t i = first; i < end; i++)
            memcpy(loop.out + (i * loop.width + k) * loop.size,
                   (const char *)values.data + cells_index(values, i) * loop.size, loop.size);
    }
    return end;
}

/* All values of several points. */
static void make_whole(Firing *firing, uint32_t width, size_t points)
{
    LeafType type = firing->node->inputs[MAKE_VALUES].type;
    MakeLoop loop = {
        .firing = firing, .out = firing_reserve(firing, 0, points * width), .size = leaf_size(type), .width = width};
    team_check(firing->vm->team, points, VALUE_PICOSECONDS * (size_t)width, make_points, &loop);
    cells_retain(type, loop.out, points * width);
    firing_produce(firing, 0, points * width);
}

/* The next values of one point, as many as there is room for; gives whether its last one was among them. */
static bool make_some(Firing *firing, uint32_t width, size_t room)
{
    uint32_t *next = firing->state;
    LeafType type = firing->node->inputs[MAKE_VALUES].type;
    size_t size = leaf_size(type), count = least(width - *next, room);
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
        size_t whole = width == 0 ? points : *next > 0 ? 0 : least(points, room / width);
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
