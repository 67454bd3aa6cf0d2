/* PUT_BY and SCAN_BY: points combined into the places of a vector by a built-in operator, for each parent one vector. PUT_BY gives the vectors, SCAN_BY what
 * it finds at a point's place before the point is combined into it.
 *
 * A team shares PUT_BY where points may be combined in any order and the vector is short beside the points at hand: each member combines its points into a
 * copy of its own, which begins with the identity everywhere; the copies are joined when the vector is complete. */
#include "vm/fold.h"
#include "vm/made_vector.h"
#include "vm/nodes.h"
#include "vm/places.h"
#include "vm/team_check.h"

enum { POINT_INDEX = VECTOR_PARTS, POINT_VALUE, POINT_SEGMENTS };
enum {
    /* estimates, in one thread: */
    CHECK_PICOSECONDS = 400, /* an index looked at, */
    PUT_PICOSECONDS = 1000,  /* a point combined into its place */
};

enum { COPY_GAP = 64 }; /* bytes between copies: members share no cache line */

typedef struct PutBy {
    WalkState walk;
    MadeVector made;
    /* the members' copies of the vector that is open */
    unsigned char *copies;
    size_t copies_size; /* of the memory */
    size_t copy_step;   /* from a copy to the next; 0 while there are none */
} PutBy;

static void release_put_by(Vm *vm, const FlowNode *node, void *state_memory)
{
    (void)node;
    PutBy *state = state_memory;
    array_release(vm->memory, state->made.array);
    memory_free(vm->memory, state->copies, state->copies_size);
}

static ScalarType cell_type(const FlowNode *node)
{
    return (ScalarType)node->layout->leaves[0].type;
}

/* ---- by a team ---- */

static uint64_t identity_cell(const FlowNode *node)
{
    const FoldKind *kind = fold_kind(node->core_op, cell_type(node));
    uint64_t state[FOLD_STATE_MAX / sizeof(uint64_t)], cell = 0;
    fold_start(kind, state);
    fold_result(kind, state, &cell);
    return cell;
}

static void begin_copies(Firing *firing)
{
    PutBy *state = firing->state;
    const FlowNode *node = firing->node;
    size_t members = team_size(firing->vm->team), length = state->made.length;
    uint64_t identity = identity_cell(node);
    if (state->copy_step > 0)
        return;
    state->copy_step = (length * leaf_size((LeafType)cell_type(node)) / COPY_GAP + 2) * COPY_GAP;
    if (members * state->copy_step > state->copies_size) {
        state->copies = memory_resize(firing->vm->memory, state->copies, state->copies_size, members * state->copy_step);
        state->copies_size = members * state->copy_step;
    }
    for (size_t member = 0; member < members; member++)
        cells_fill((LeafType)cell_type(node), state->copies + member * state->copy_step, &identity, length);
}

/* The copies are part of the vector from now on. */
static void join_copies(Firing *firing, const PlacesKind *kind)
{
    PutBy *state = firing->state;
    for (size_t member = 0; state->copy_step > 0 && member < team_size(firing->vm->team); member++)
        places_join(kind, made_vector_cells(&state->made, 0), state->copies + member * state->copy_step, state->made.length);
    state->copy_step = 0;
}

typedef struct SharedPlacing {
    const PutBy *state;
    Placing placing; /* but for the table */
    size_t first;
} SharedPlacing;

static size_t check_places(const void *context, size_t first, size_t end)
{
    const SharedPlacing *shared = context;
    const uint64_t *index = shared->placing.index.data;
    for (; first < end; first++)
        if (index[cells_index(shared->placing.index, shared->first + first)] >= shared->placing.length)
            break;
    return first;
}

static void put_piece(void *context, size_t first, size_t end, uint32_t member)
{
    const SharedPlacing *shared = context;
    Placing placing = shared->placing;
    placing.table = shared->state->copies + member * shared->state->copy_step;
    places_put(&placing, shared->first + first, shared->first + end);
}

/* Gives how many points come before the first with a bad index. */
static size_t put_together(Firing *firing, const Placing *placing, size_t first, size_t count)
{
    Team *team = firing->vm->team;
    SharedPlacing shared = {firing->state, *placing, first};
    size_t good = team_check(team, count, CHECK_PICOSECONDS, check_places, &shared);
    begin_copies(firing);
    team_run(team, good, team_grain(team, PUT_PICOSECONDS), put_piece, &shared);
    return good;
}

/* ---- points ---- */

static Placing placing_at(Firing *firing, const PlacesKind *kind)
{
    const PutBy *state = firing->state;
    return (Placing){.kind = kind,
                     .table = made_vector_cells(&state->made, 0),
                     .length = state->made.length,
                     .index = firing_cells(firing, POINT_INDEX),
                     .values = firing_cells(firing, POINT_VALUE)};
}

static bool is_shared(const Firing *firing, const Placing *placing, size_t count)
{
    const Team *team = firing->vm->team;
    return places_are_exact(placing->kind) && placing->length <= count &&
           team_shares(team, count, team_grain(team, PUT_PICOSECONDS));
}

static bool scans(const Firing *firing)
{
    return firing->node->op == FLOW_SCAN_BY;
}

/* Takes the next `count` points; false after a failure. */
static bool take_points(Firing *firing, Walk *walk, const PlacesKind *kind, size_t count)
{
    Placing placing = placing_at(firing, kind);
    size_t first = walk->child, good;
    if (scans(firing)) {
        good = places_scan(&placing, first, first + count, firing_reserve(firing, 0, count)) - first;
        firing_produce(firing, 0, good);
    } else if (is_shared(firing, &placing, count))
        good = put_together(firing, &placing, first, count);
    else
        good = places_put(&placing, first, first + count) - first;
    if (good == count) {
        walk->child += count;
        return true;
    }
    int64_t index = cells_scalar(SCALAR_I64, placing.index, first + good).integer;
    return failure_index(walk_fail(walk, good), scans(firing) ? OP_MULTISCAN : OP_PUT_WITH, index, placing.length);
}

static void open_vector(Firing *firing, size_t parent)
{
    PutBy *state = firing->state;
    if (!state->made.is_open)
        made_vector_copy(firing, &state->made, parent);
}

/* The parent has no more points. */
static void close_vector(Firing *firing, size_t parent, const PlacesKind *kind)
{
    PutBy *state = firing->state;
    if (!scans(firing)) {
        open_vector(firing, parent);
        join_copies(firing, kind);
        made_vector_give(firing, &state->made);
    }
    state->made.is_open = false;
}

/* False when nothing more can be done now, or ever. */
static bool put_by(Firing *firing, const PlacesKind *kind)
{
    PutBy *state = firing->state;
    Walk walk = walk_begin(firing, &state->walk, (Inputs){POINT_INDEX, 2}, (Inputs){0, VECTOR_PARTS}, POINT_SEGMENTS);
    for (;;) {
        size_t count = walk_points(&walk);
        if (scans(firing))
            count = least(count, firing_room(firing, 0));
        if (count > 0)
            open_vector(firing, walk.parent);
        if (count > 0 && !take_points(firing, &walk, kind, count))
            return false;
        if (!walk_is_parent_done(&walk) || (!scans(firing) && outputs_room(firing, 0, VECTOR_PARTS) == 0))
            return walk_end(&walk);
        close_vector(firing, walk.parent, kind);
        walk_next_parent(&walk);
    }
}

static void fire_put_by(Firing *firing)
{
    const PlacesKind *kind = places_kind(firing->node->core_op, cell_type(firing->node));
    while (put_by(firing, kind))
        continue;
}

const NodeKind node_kind_PUT_BY = {.fire = fire_put_by, .state_size = sizeof(PutBy), .release = release_put_by};
const NodeKind node_kind_SCAN_BY = {.fire = fire_put_by, .state_size = sizeof(PutBy), .release = release_put_by};
