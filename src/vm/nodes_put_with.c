/* PUT_WITH and MULTISCAN: points combined into the places of a vector, for each parent one.
 *
 * The vectors are rows of a table, so that points of several parents can be combined at once. A batch goes in rounds: the first points at
 * all places, then the second ones, and so on. MULTISCAN gives what it finds in the table before a point is combined into it. */
#include "vm/operator.h"

#include <string.h>

enum { VECTOR_ARRAY, VECTOR_START, VECTOR_LENGTH, VECTOR_INPUTS };

/* Rows that nobody needs, before the vector that is open, are left behind when there are more of them. */
enum { TABLE_REST_MAX = 1 << 14 };

typedef struct Point {
    size_t place; /* row of the table */
    size_t parent;
    uint64_t index; /* under the parent */
    size_t round;
} Point;

typedef struct Points {
    Point *items;
    size_t count, capacity;
} Points;

typedef struct Vector {
    size_t start, length;
} Vector;

typedef struct Vectors {
    Vector *items;
    size_t count, capacity;
} Vectors;

typedef struct Places {
    size_t *items;
    size_t count, capacity;
} Places;

/* How often each place occurs: a table with open addressing, of places + 1. */
typedef struct Occurrences {
    size_t *places, *counts;
    size_t size; /* a power of two */
} Occurrences;

typedef struct PutWith {
    WalkState walk;
    Operator operator;
    Array *table;
    bool is_open; /* a vector at the end of the table, for the parent at hand */
    Vector open;
    /* the batch */
    WalkState walk_before;
    Walk walk_after;
    bool was_open;
    Vector open_before;
    Points points;
    Vectors done;    /* of parents that have no more points */
    Array *before;   /* a row for each point: what was at its place. For PUT_WITH only in the first round, where undoing needs it */
    Places order;    /* the points by rounds */
    Places rounds;   /* where in the order each round begins */
    size_t round;    /* the one asked for next */
    Occurrences occurrences;
} PutWith;

static bool is_multiscan(const FlowNode *node)
{
    return node->core_op == OP_MULTISCAN;
}

static Inputs own_inputs(const FlowNode *node)
{
    return operator_inputs(node, VECTOR_INPUTS);
}

static uint32_t index_input(const FlowNode *node)
{
    return VECTOR_INPUTS + own_inputs(node).count;
}

static void free_occurrences(Memory *memory, Occurrences *occurrences)
{
    if (occurrences->places != NULL)
        memory_free(memory, occurrences->places, occurrences->size * sizeof(size_t));
    if (occurrences->counts != NULL)
        memory_free(memory, occurrences->counts, occurrences->size * sizeof(size_t));
    *occurrences = (Occurrences){0};
}

static void release_put_with(Vm *vm, const FlowNode *node, void *state_memory)
{
    PutWith *state = state_memory;
    Memory *memory = vm->memory;
    operator_release(memory, node, &state->operator);
    array_release(memory, state->table);
    array_release(memory, state->before);
    LIST_FREE(memory, &state->points);
    LIST_FREE(memory, &state->done);
    LIST_FREE(memory, &state->order);
    LIST_FREE(memory, &state->rounds);
    free_occurrences(memory, &state->occurrences);
}

/* ---- the table ---- */

/* Leaves behind what earlier parents have made: it is kept alive by those who use it. */
static void tidy_table(Firing *firing)
{
    PutWith *state = firing->state;
    Memory *memory = firing->vm->memory;
    size_t kept = state->is_open ? state->open.length : 0;
    if (state->table != NULL && state->table->count - kept <= TABLE_REST_MAX + kept)
        return;
    array_renew(memory, &state->before, firing->node->layout, 0);
    if (state->is_open)
        array_extend_by(firing->vm, state->before, state->table, state->open.start, kept);
    array_release(memory, state->table);
    state->table = state->before;
    state->before = NULL;
    state->open.start = 0;
}

static void open_vector(Firing *firing, size_t parent)
{
    PutWith *state = firing->state;
    if (state->is_open)
        return;
    Cells arrays = firing_cells(firing, VECTOR_ARRAY);
    const Array *from = ((Array *const *)arrays.data)[cells_index(arrays, parent)];
    size_t start = cells_scalar(SCALAR_I64, firing_cells(firing, VECTOR_START), parent).bits;
    state->open.length = cells_scalar(SCALAR_I64, firing_cells(firing, VECTOR_LENGTH), parent).bits;
    state->open.start = state->table->count;
    array_extend_by(firing->vm, state->table, from, start, state->open.length);
    state->is_open = true;
}

/* ---- taking a batch ---- */

/* Takes points up to the first with an index out of range. False if it came to that. */
static bool take_points(Firing *firing, Walk *walk, size_t count)
{
    PutWith *state = firing->state;
    Cells index = firing_cells(firing, index_input(firing->node));
    for (size_t i = 0; i < count; i++, walk->child++) {
        uint64_t place = cells_scalar(SCALAR_I64, index, walk->child).bits;
        if (place >= state->open.length)
            return false;
        *LIST_PUSH(firing->vm->memory, &state->points) =
            (Point){.place = state->open.start + place, .parent = walk->parent, .index = walk_index(walk)};
    }
    return true;
}

typedef enum Taken { TAKEN_ALL, TAKEN_ENOUGH, TAKEN_BAD } Taken;

static Taken take_parent(Firing *firing, Walk *walk, size_t room)
{
    PutWith *state = firing->state;
    size_t count = walk_points(walk);
    if (is_multiscan(firing->node))
        count = least(count, room - state->points.count);
    if (state->operator.is_alone)
        count = least(count, 1);
    if (count > 0)
        open_vector(firing, walk->parent);
    if (!take_points(firing, walk, count))
        return TAKEN_BAD;
    if (count > 0 && (walk->kind == SEGMENTS_SINGLE || state->operator.is_alone))
        return TAKEN_ENOUGH; /* nothing is consumed yet, so that the end of an only parent cannot be seen */
    bool has_room = is_multiscan(firing->node) || state->done.count < room;
    if (!has_room || !walk_is_parent_done(walk))
        return TAKEN_ENOUGH;
    if (!is_multiscan(firing->node))
        open_vector(firing, walk->parent);
    *LIST_PUSH(firing->vm->memory, &state->done) = state->open;
    state->is_open = false;
    walk_next_parent(walk);
    return TAKEN_ALL;
}

static bool fail_index(Firing *firing, Walk *walk)
{
    PutWith *state = firing->state;
    Cells index = firing_cells(firing, index_input(firing->node));
    int64_t place = cells_scalar(SCALAR_I64, index, walk->child).integer;
    return failure_index(walk_fail(walk, 0), firing->node->core_op, place, state->open.length);
}

/* ---- rounds ---- */

/* How often the place has occurred before. */
static size_t count_occurrence(Occurrences *occurrences, size_t place)
{
    size_t mask = occurrences->size - 1, i = (size_t)random_mix(place) & mask;
    while (occurrences->places[i] != 0 && occurrences->places[i] != place + 1)
        i = (i + 1) & mask;
    occurrences->places[i] = place + 1;
    return occurrences->counts[i]++;
}

static void clear_occurrences(Memory *memory, Occurrences *occurrences, size_t count)
{
    size_t size = 16;
    while (size < 2 * count)
        size *= 2;
    if (size > occurrences->size) {
        free_occurrences(memory, occurrences);
        occurrences->size = size;
        occurrences->places = memory_alloc(memory, size * sizeof(size_t));
        occurrences->counts = memory_alloc(memory, size * sizeof(size_t));
        return;
    }
    memset(occurrences->places, 0, occurrences->size * sizeof(size_t));
    memset(occurrences->counts, 0, occurrences->size * sizeof(size_t));
}

static void set_count(Memory *memory, Places *places, size_t count)
{
    while (places->capacity < count)
        places->items = list_grow(memory, places->items, places->capacity, &places->capacity, sizeof *places->items);
    places->count = count;
    if (count > 0)
        memset(places->items, 0, count * sizeof *places->items);
}

/* Sorts the points by rounds, by counting. */
static void plan_rounds(Firing *firing)
{
    PutWith *state = firing->state;
    Memory *memory = firing->vm->memory;
    size_t count = state->points.count, round_count = 0;
    clear_occurrences(memory, &state->occurrences, count);
    for (size_t i = 0; i < count; i++) {
        Point *point = &state->points.items[i];
        point->round = count_occurrence(&state->occurrences, point->place);
        round_count = point->round + 1 > round_count ? point->round + 1 : round_count;
    }
    set_count(memory, &state->rounds, round_count + 2);
    set_count(memory, &state->order, count);
    size_t *starts = state->rounds.items;
    for (size_t i = 0; i < count; i++)
        starts[state->points.items[i].round + 2]++;
    for (size_t round = 2; round < round_count + 2; round++)
        starts[round] += starts[round - 1];
    for (size_t i = 0; i < count; i++) /* afterwards starts[round] is where that round begins */
        state->order.items[starts[state->points.items[i].round + 1]++] = i;
    state->round = 0;
}

static bool begin_put(Firing *firing)
{
    PutWith *state = firing->state;
    const FlowNode *node = firing->node;
    Inputs children = {index_input(node), 1 + node->layout->count}, parents = {0, children.first};
    size_t room = outputs_room(firing, 0, is_multiscan(node) ? node->layout->count : VECTOR_INPUTS);
    tidy_table(firing);
    state->points.count = state->done.count = 0;
    state->walk_before = state->walk;
    state->was_open = state->is_open;
    state->open_before = state->open;
    Walk walk = walk_begin(firing, &state->walk, children, parents, children.first + children.count);
    Taken taken = TAKEN_ALL;
    while (taken == TAKEN_ALL)
        taken = take_parent(firing, &walk, room);
    state->walk_after = walk;
    if (state->points.count == 0 && walk.parent == 0) {
        if (taken == TAKEN_BAD)
            return fail_index(firing, &walk);
        walk_end(&walk);
        return false;
    }
    plan_rounds(firing);
    array_renew(firing->vm->memory, &state->before, node->layout, state->points.count);
    return true;
}

static bool ask_put(Firing *firing)
{
    PutWith *state = firing->state;
    Operator *operator = &state->operator;
    Inputs values = {index_input(firing->node) + 1, firing->node->layout->count};
    if (state->round + 2 >= state->rounds.count)
        return false;
    array_views(state->table, operator->left);
    inputs_cells(firing, values, operator->right);
    for (size_t i = state->rounds.items[state->round]; i < state->rounds.items[state->round + 1]; i++) {
        size_t number = state->order.items[i];
        const Point *point = &state->points.items[number];
        if (state->round == 0 || is_multiscan(firing->node))
            row_put(firing->vm->memory, state->before, number, operator->left, point->place);
        Application application = {COMBINE_LOCAL, point->index};
        operator_add_pair(firing, operator, own_inputs(firing->node), point->parent, application, operator->left,
                          point->place, operator->right, number);
    }
    return true;
}

static void take_put(Firing *firing, const Cells *results)
{
    PutWith *state = firing->state;
    size_t first = state->rounds.items[state->round], end = state->rounds.items[++state->round];
    for (size_t i = first; i < end; i++)
        row_put(firing->vm->memory, state->table, state->points.items[state->order.items[i]].place, results, i - first);
}

/* What the points of the first round have found is what was there before the batch. */
static void undo_put(Firing *firing)
{
    PutWith *state = firing->state;
    array_views(state->before, state->operator.left);
    for (size_t i = 0; state->round > 0 && i < state->rounds.items[1]; i++) {
        size_t number = state->order.items[i];
        row_put(firing->vm->memory, state->table, state->points.items[number].place, state->operator.left, number);
    }
    state->walk = state->walk_before;
    state->is_open = state->was_open;
    state->open = state->open_before;
}

/* ---- ending a batch ---- */

static void give_before(Firing *firing)
{
    PutWith *state = firing->state;
    const Layout *layout = firing->node->layout;
    size_t count = state->points.count;
    for (uint32_t leaf = 0; count > 0 && leaf < layout->count; leaf++) {
        if (!firing_is_wanted(firing, leaf))
            continue;
        cells_copy(layout->leaves[leaf].type, firing_reserve(firing, leaf, count), array_cells(state->before, leaf, 0), 0,
                   count);
        firing_produce(firing, leaf, count);
    }
}

static void give_vectors(Firing *firing)
{
    PutWith *state = firing->state;
    size_t count = state->done.count;
    if (count == 0)
        return;
    int64_t *starts = firing_reserve(firing, VECTOR_START, count);
    int64_t *lengths = firing_reserve(firing, VECTOR_LENGTH, count);
    for (size_t i = 0; i < count; i++) {
        starts[i] = (int64_t)state->done.items[i].start;
        lengths[i] = (int64_t)state->done.items[i].length;
    }
    firing_produce(firing, VECTOR_START, count);
    firing_produce(firing, VECTOR_LENGTH, count);
    firing_produce_uniform(firing, VECTOR_ARRAY, &state->table, count);
}

static bool end_put(Firing *firing)
{
    PutWith *state = firing->state;
    if (is_multiscan(firing->node))
        give_before(firing);
    else
        give_vectors(firing);
    Walk walk = state->walk_after;
    walk.firing = firing;
    return walk_end(&walk);
}

/* Pair by pair there is one point, the next. */
static size_t put_offset(const Firing *firing)
{
    (void)firing;
    return 0;
}

static void fire_put_with(Firing *firing)
{
    OperatorNode node = {begin_put, ask_put, take_put, undo_put, end_put, put_offset, index_input(firing->node)};
    PutWith *state = firing->state;
    operator_run(firing, &state->operator, &node);
}

const NodeKind node_kind_PUT_WITH = {
    .fire = fire_put_with, .state_size = sizeof(PutWith), .release = release_put_with};
