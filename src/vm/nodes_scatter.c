/* SCATTER: a vector for each parent, with elements written at indices.
 *
 * Indices are checked before anything else is looked at: a permutation with an index out of range fails for that, also where another one occurs
 * twice before.
 *
 * Of several values for one place the last counts. A team that shares the writing does not keep to that order; so when all is written, every value is
 * looked up again at its place. If all are found it did not matter, as no place got two that differ; else they are written once more, in order, and
 * for the rest of its life the node writes alone. A permutation that has several for one place is not seen, so that this makes no difference there.
 *
 * Vectors of parents that have few points are made many at once, each by one thread. */
#include "vm/made_vector.h"
#include "vm/nodes.h"
#include "vm/team_check.h"

#include <stdatomic.h>
#include <string.h>

enum {
    /* estimates, in one thread: */
    CHECK_PICOSECONDS = 500, /* an index looked at, */
    NEAR_PICOSECONDS = 1000, /* an element written to a cache, */
    FAR_PICOSECONDS = 5000,  /* ... and to memory beyond it */
    NEAR_BYTES = 1 << 18,
    CLEAR_PICOSECONDS = 500, /* a word */
};

typedef struct Repeat {
    bool is_found;
    int64_t index;
    uint64_t first, second; /* positions */
} Repeat;

typedef struct Scatter {
    WalkState walk;
    MadeVector made;
    uint64_t *taken; /* PERMUTE: for each index the position that goes there + 1 */
    size_t taken_capacity;
    Repeat repeat;
    bool is_alone; /* places have got several values before */
} Scatter;

static void release_scatter(Vm *vm, const FlowNode *node, void *state_memory)
{
    (void)node;
    Scatter *state = state_memory;
    array_release(vm->memory, state->made.array);
    memory_free(vm->memory, state->taken, state->taken_capacity * sizeof *state->taken);
}

static bool is_permutation(const Firing *firing)
{
    return firing->node->core_op == OP_PERMUTE;
}

/* The inputs on P come first: a vector, or for PERMUTE a length. */
static Inputs vector_inputs(const Firing *firing)
{
    return (Inputs){0, is_permutation(firing) ? 1 : VECTOR_PARTS};
}

/* ---- beginning a vector ---- */

static void clear_words(void *context, size_t first, size_t end, uint32_t member)
{
    uint64_t *words = context;
    (void)member;
    memset(words + first, 0, (end - first) * sizeof *words);
}

static void begin_permutation(Firing *firing, size_t parent)
{
    Scatter *state = firing->state;
    Memory *memory = firing->vm->memory;
    MadeVector *made = &state->made;
    made_vector_begin(firing, made, cells_scalar(SCALAR_I64, firing_cells(firing, 0), parent).bits);
    array_extend(memory, made->array, made->length);
    if (made->length > state->taken_capacity) {
        size_t size = sizeof *state->taken;
        state->taken = memory_resize(memory, state->taken, state->taken_capacity * size, made->length * size);
        state->taken_capacity = made->length;
    }
    Team *team = firing->vm->team;
    team_run(team, made->length, team_grain(team, CLEAR_PICOSECONDS), clear_words, state->taken);
    state->repeat.is_found = false;
}

static void open_vector(Firing *firing, size_t parent)
{
    Scatter *state = firing->state;
    if (state->made.is_open)
        return;
    if (is_permutation(firing))
        begin_permutation(firing, parent);
    else
        made_vector_copy(firing, &state->made, parent);
}

/* ---- writing ---- */

/* Cells `from`, which go to places. */
typedef struct Writing {
    size_t size;
    void *out;
    Cells from, places;
    size_t first; /* of the points that are written */
} Writing;

/* Loops for one size of cells: in order, up to the first place that is none, with one of their own where one value goes to all places; in any order, and looking
 * them up then. */
#define SCATTER(SIZE, Word)                                                                                           \
    static inline size_t scatter_by_##SIZE(const Writing *writing, size_t count, size_t length, size_t place_step,    \
                                           size_t value_step)                                                         \
    {                                                                                                                 \
        const int64_t *places = (const int64_t *)writing->places.data + writing->first * place_step;                  \
        const char *from = (const char *)writing->from.data + writing->first * value_step * SIZE;                     \
        char *out = writing->out;                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                          \
            size_t place = (size_t)places[i * place_step];                                                            \
            if (place >= length)                                                                                      \
                return i;                                                                                             \
            memcpy(out + place * SIZE, from + i * value_step * SIZE, SIZE);                                           \
        }                                                                                                             \
        return count;                                                                                                 \
    }                                                                                                                 \
    static size_t scatter_##SIZE(const Writing *writing, size_t count, size_t length)                                 \
    {                                                                                                                 \
        if (writing->places.is_uniform)                                                                               \
            return scatter_by_##SIZE(writing, count, length, 0, writing->from.is_uniform ? 0 : 1);                    \
        return writing->from.is_uniform ? scatter_by_##SIZE(writing, count, length, 1, 0)                             \
                                        : scatter_by_##SIZE(writing, count, length, 1, 1);                            \
    }                                                                                                                 \
    static void write_##SIZE(const Writing *writing, size_t first, size_t end)                                        \
    {                                                                                                                 \
        const int64_t *places = writing->places.data;                                                                 \
        _Atomic Word *out = writing->out;                                                                             \
        for (size_t i = first; i < end; i++) {                                                                        \
            Word word;                                                                                                \
            memcpy(&word, (const char *)writing->from.data + cells_index(writing->from, i) * SIZE, SIZE);             \
            atomic_store_explicit(&out[places[cells_index(writing->places, i)]], word, memory_order_relaxed);         \
        }                                                                                                             \
    }                                                                                                                 \
    static size_t find_##SIZE(const Writing *writing, size_t first, size_t end)                                       \
    {                                                                                                                 \
        const int64_t *places = writing->places.data;                                                                 \
        const _Atomic Word *out = writing->out;                                                                       \
        for (size_t i = first; i < end; i++) {                                                                        \
            Word word;                                                                                                \
            memcpy(&word, (const char *)writing->from.data + cells_index(writing->from, i) * SIZE, SIZE);             \
            if (atomic_load_explicit(&out[places[cells_index(writing->places, i)]], memory_order_relaxed) != word)    \
                return i;                                                                                             \
        }                                                                                                             \
        return end;                                                                                                   \
    }
SCATTER(1, uint8_t)
SCATTER(2, uint16_t)
SCATTER(4, uint32_t)
SCATTER(8, uint64_t)
#undef SCATTER

/* Gives how many have places that there are. */
static size_t scatter_in_order(const Writing *writing, size_t count, size_t length)
{
    switch (writing->size) {
    case 1: return scatter_1(writing, count, length);
    case 2: return scatter_2(writing, count, length);
    case 4: return scatter_4(writing, count, length);
    case 8: return scatter_8(writing, count, length);
    }
    return count;
}

static void write_piece(void *context, size_t first, size_t end, uint32_t member)
{
    const Writing *writing = context;
    (void)member;
    first += writing->first;
    end += writing->first;
    switch (writing->size) {
    case 1: write_1(writing, first, end); break;
    case 2: write_2(writing, first, end); break;
    case 4: write_4(writing, first, end); break;
    case 8: write_8(writing, first, end); break;
    }
}

static size_t find_piece(const void *context, size_t first, size_t end)
{
    const Writing *writing = context;
    first += writing->first;
    end += writing->first;
    switch (writing->size) {
    case 1: return find_1(writing, first, end) - writing->first;
    case 2: return find_2(writing, first, end) - writing->first;
    case 4: return find_4(writing, first, end) - writing->first;
    case 8: return find_8(writing, first, end) - writing->first;
    }
    return end - writing->first;
}

static size_t scatter_picoseconds(const Scatter *state, size_t size)
{
    return state->made.length > NEAR_BYTES / size ? FAR_PICOSECONDS : NEAR_PICOSECONDS;
}

/* Writes in any order; false if some place did not keep what it got. */
static bool scatter_together(Team *team, size_t picoseconds, Writing *writing, size_t count)
{
    team_run(team, count, team_grain(team, picoseconds), write_piece, writing);
    return team_check(team, count, picoseconds, find_piece, writing) == count;
}

static bool is_shared(Team *team, const Scatter *state, size_t size, size_t count)
{
    return !state->is_alone && team_shares(team, count, team_grain(team, scatter_picoseconds(state, size)));
}

static void scatter_cells(const Firing *firing, Writing *writing, size_t count)
{
    Scatter *state = firing->state;
    Team *team = firing->vm->team;
    size_t picoseconds = scatter_picoseconds(state, writing->size);
    if (is_permutation(firing)) {
        team_run(team, count, team_grain(team, picoseconds), write_piece, writing);
        return;
    }
    if (is_shared(team, state, writing->size, count)) {
        if (scatter_together(team, picoseconds, writing, count))
            return;
        state->is_alone = true;
    }
    scatter_in_order(writing, count, state->made.length);
}

/* References are counted by this thread only. */
static void scatter_arrays(Memory *memory, Array **out, Cells from, Cells index, size_t first, size_t count)
{
    const int64_t *places = index.data;
    for (size_t i = first; i < first + count; i++) {
        Array **place = &out[places[cells_index(index, i)]], *old = *place;
        *place = array_retain(((Array *const *)from.data)[cells_index(from, i)]);
        array_release(memory, old);
    }
}

static void scatter_leaf(Firing *firing, uint32_t leaf, Cells from, Cells index, size_t first, size_t count)
{
    Scatter *state = firing->state;
    LeafType type = firing->node->layout->leaves[leaf].type;
    Writing writing = {leaf_size(type), made_vector_cells(&state->made, leaf), from, index, first};
    if (type == LEAF_ARRAY)
        scatter_arrays(firing->vm->memory, writing.out, from, index, first, count);
    else
        scatter_cells(firing, &writing, count);
}

/* ---- indices ---- */

typedef struct Places {
    const Scatter *state;
    Cells index;
    size_t first;
} Places;

static size_t place_at(const Places *places, size_t i)
{
    return (size_t)((const int64_t *)places->index.data)[cells_index(places->index, places->first + i)];
}

static size_t check_places(const void *context, size_t first, size_t end)
{
    const Places *places = context;
    while (first < end && place_at(places, first) < places->state->made.length)
        first++;
    return first;
}

/* Of `count` points from `first` on, those before the first with an index out of range. */
static size_t count_good(Team *team, const Scatter *state, Cells index, size_t first, size_t count)
{
    Places places = {state, index, first};
    return team_check(team, count, CHECK_PICOSECONDS, check_places, &places);
}

/* Notes where permuted elements go; the first index that occurs again is remembered. */
static void take_in_order(Scatter *state, const Places *places, size_t count, uint64_t position)
{
    for (size_t i = 0; i < count && !state->repeat.is_found; i++) {
        size_t place = place_at(places, i);
        if (state->taken[place] != 0)
            state->repeat = (Repeat){true, (int64_t)place, state->taken[place] - 1, position + i};
        state->taken[place] = position + i + 1;
    }
}

typedef struct Taking {
    const Places *places;
    uint64_t position;
    atomic_bool is_repeated; /* a place was taken already */
} Taking;

static void take_piece(void *context, size_t first, size_t end, uint32_t member)
{
    Taking *taking = context;
    _Atomic uint64_t *taken = (_Atomic uint64_t *)taking->places->state->taken;
    bool is_repeated = false;
    (void)member;
    for (size_t i = first; i < end && !is_repeated; i++) {
        _Atomic uint64_t *place = &taken[place_at(taking->places, i)];
        is_repeated = atomic_load_explicit(place, memory_order_relaxed) != 0;
        if (!is_repeated)
            atomic_store_explicit(place, taking->position + i + 1, memory_order_relaxed);
    }
    if (is_repeated)
        atomic_store(&taking->is_repeated, true);
}

static size_t check_taken(const void *context, size_t first, size_t end)
{
    const Taking *taking = context;
    const uint64_t *taken = taking->places->state->taken;
    while (first < end && taken[place_at(taking->places, first)] == taking->position + first + 1)
        first++;
    return first;
}

/* Nobody has taken any of these places; those that others had before keep them. */
static void forget_taken(const Taking *taking, size_t count)
{
    uint64_t *taken = taking->places->state->taken;
    for (size_t i = 0; i < count; i++) {
        uint64_t *place = &taken[place_at(taking->places, i)];
        *place = *place > taking->position ? 0 : *place;
    }
}

/* Notes them in any order. If an index occurs again nothing is noted, and false given. */
static bool take_together(Team *team, size_t picoseconds, const Places *places, size_t count, uint64_t position)
{
    Taking taking = {.places = places, .position = position};
    team_run(team, count, team_grain(team, picoseconds), take_piece, &taking);
    if (!atomic_load(&taking.is_repeated) && team_check(team, count, picoseconds, check_taken, &taking) == count)
        return true;
    forget_taken(&taking, count);
    return false;
}

static void take_places(Team *team, Scatter *state, Cells index, size_t first, size_t count, uint64_t position)
{
    Places places = {state, index, first};
    size_t picoseconds = scatter_picoseconds(state, sizeof *state->taken);
    if (state->repeat.is_found)
        return;
    if (!team_shares(team, count, team_grain(team, picoseconds)) || !take_together(team, picoseconds, &places, count, position))
        take_in_order(state, &places, count, position);
}

static void write_points(Firing *firing, const Walk *walk, Cells index, size_t count)
{
    Scatter *state = firing->state;
    uint32_t leaves = walk->on_children.first + 1;
    if (is_permutation(firing))
        take_places(firing->vm->team, state, index, walk->child, count, walk_index(walk));
    for (uint32_t leaf = 0; leaf < firing->node->layout->count; leaf++)
        scatter_leaf(firing, leaf, firing_cells(firing, leaves + leaf), index, walk->child, count);
}

/* Whether indices can be looked at as elements are written: after a failure nobody sees the vector. */
static bool is_one_pass(const Firing *firing, size_t count)
{
    const Layout *layout = firing->node->layout;
    bool is_plain = !is_permutation(firing) && layout->count == 1 && layout->leaves[0].type != LEAF_ARRAY;
    return is_plain && !is_shared(firing->vm->team, firing->state, leaf_size(layout->leaves[0].type), count);
}

/* Gives how many points come before the first with an index out of range. If there is none, all are written. */
static size_t write_good(Firing *firing, const Walk *walk, Cells index, size_t count)
{
    Scatter *state = firing->state;
    if (is_one_pass(firing, count)) {
        Writing writing = {leaf_size(firing->node->layout->leaves[0].type), made_vector_cells(&state->made, 0),
                           firing_cells(firing, walk->on_children.first + 1), index, walk->child};
        return scatter_in_order(&writing, count, state->made.length);
    }
    size_t good = count_good(firing->vm->team, state, index, walk->child, count);
    if (good == count)
        write_points(firing, walk, index, count);
    return good;
}

/* Takes the next `count` points; false after a failure. */
static bool take_points(Firing *firing, Walk *walk, size_t count)
{
    Scatter *state = firing->state;
    Cells index = firing_cells(firing, walk->on_children.first);
    size_t good = write_good(firing, walk, index, count);
    if (good < count) {
        int64_t place = cells_scalar(SCALAR_I64, index, walk->child + good).integer;
        return failure_index(walk_fail(walk, good), firing->node->core_op, place, state->made.length);
    }
    walk->child += count;
    return true;
}

/* ---- many short vectors ---- */

enum {
    SHORT_MAX = 1024,        /* elements of a vector that is made with others, */
    ELEMENTS_MAX = 1 << 15,  /* ... which have so many together, about */
    PARENT_PICOSECONDS = 20000,
};

/* Vectors of several parents that are made at once, in one array; each by one thread, in order. */
typedef struct ShortVectors {
    const Firing *firing;
    const Walk *walk;
    Array *array;
    const size_t *starts; /* in the array, by parent, and the end of the last */
    atomic_size_t good;   /* parents before the first that cannot be made */
} ShortVectors;

static size_t parent_length(const Firing *firing, size_t parent)
{
    return cells_scalar(SCALAR_I64, firing_cells(firing, is_permutation(firing) ? 0 : VECTOR_LENGTH), parent).bits;
}

/* Whether `count` places are all different, and less than that. */
static bool is_permuting(const Places *places, size_t count)
{
    uint64_t taken[SHORT_MAX / 64] = {0};
    bool is_good = true;
    for (size_t i = 0; i < count; i++) {
        size_t place = place_at(places, i), word = place % SHORT_MAX / 64;
        uint64_t bit = UINT64_C(1) << place % 64;
        is_good &= place < count && (taken[word] & bit) == 0;
        taken[word] |= bit;
    }
    return is_good;
}

static void begin_copy(const ShortVectors *vectors, uint32_t leaf, size_t parent, size_t length, void *out)
{
    const Firing *firing = vectors->firing;
    Cells arrays = firing_cells(firing, VECTOR_ARRAY);
    size_t start = cells_scalar(SCALAR_I64, firing_cells(firing, VECTOR_START), parent).bits;
    if (length > 0)
        cells_copy_unretained(firing->node->layout->leaves[leaf].type, out,
                              array_cells(((Array *const *)arrays.data)[cells_index(arrays, parent)], leaf, start), 0, length);
}

/* Makes that of one parent, whose points are [first, end) from walk.child on; false if it is not as it should be: somebody else will see. */
static bool make_short(const ShortVectors *vectors, size_t i, size_t first, size_t end)
{
    const Firing *firing = vectors->firing;
    const Layout *layout = firing->node->layout;
    size_t parent = vectors->walk->parent + i, length = vectors->starts[i + 1] - vectors->starts[i];
    uint32_t index = vectors->walk->on_children.first;
    Places places = {.index = first == end ? (Cells){0} : firing_cells(firing, index), .first = vectors->walk->child + first};
    if (is_permutation(firing) && (length != end - first || !is_permuting(&places, length)))
        return false;
    for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
        size_t size = leaf_size(layout->leaves[leaf].type);
        char *out = (char *)vectors->array->columns[leaf].data + vectors->starts[i] * size;
        if (!is_permutation(firing))
            begin_copy(vectors, leaf, parent, length, out);
        if (first == end)
            continue;
        Writing writing = {size, out, firing_cells(firing, index + 1 + leaf), places.index, places.first};
        if (scatter_in_order(&writing, end - first, length) < end - first)
            return false;
    }
    return true;
}

static void make_shorts(void *context, size_t first, size_t end, uint32_t member)
{
    ShortVectors *vectors = context;
    (void)member;
    size_t start = walk_parents_end(vectors->walk, first);
    for (size_t i = first; i < end; i++) {
        size_t stop = walk_parents_end(vectors->walk, i + 1);
        if (!make_short(vectors, i, start, stop)) {
            least_keep(&vectors->good, i);
            return;
        }
        start = stop;
    }
}

/* Where vectors of the parents at hand come to lie, one behind the other, up to the first that is long; gives how many these are. */
static size_t place_shorts(const Firing *firing, const Walk *walk, size_t parents, size_t *starts)
{
    size_t i = 0;
    for (starts[0] = 0; i < parents && starts[i] < ELEMENTS_MAX; i++) {
        size_t length = parent_length(firing, walk->parent + i);
        if (length > SHORT_MAX)
            break;
        starts[i + 1] = starts[i] + length;
    }
    return i;
}

static void give_shorts(Firing *firing, Array *array, const size_t *starts, size_t parents)
{
    int64_t *out_starts = firing_reserve(firing, VECTOR_START, parents), *out_lengths = firing_reserve(firing, VECTOR_LENGTH, parents);
    for (size_t i = 0; i < parents; i++) {
        out_starts[i] = (int64_t)starts[i];
        out_lengths[i] = (int64_t)(starts[i + 1] - starts[i]);
    }
    firing_produce_uniform(firing, VECTOR_ARRAY, &array, parents);
    firing_produce(firing, VECTOR_START, parents);
    firing_produce(firing, VECTOR_LENGTH, parents);
}

/* Makes the vectors of as many of the next parents as have few points, all of which are there, and walks over them. */
static void scatter_shorts(Firing *firing, Walk *walk)
{
    Scatter *state = firing->state;
    Team *team = firing->vm->team;
    if (state->made.is_open || layout_has_arrays(firing->node->layout))
        return;
    size_t parents = least(walk_whole_parents(walk, ELEMENTS_MAX), outputs_room(firing, 0, VECTOR_PARTS));
    if (parents < 2 || parent_length(firing, walk->parent) > SHORT_MAX)
        return;
    array_release(firing->vm->memory, state->made.array); /* it may be full; and the next one is remembered here while it is made */
    state->made.array = NULL;
    state->made.array = array_new(firing->vm->memory, firing->node->layout);
    size_t *starts = team_alloc(team, (parents + 1) * sizeof *starts);
    ShortVectors vectors = {.firing = firing, .walk = walk, .array = state->made.array, .starts = starts};
    vectors.good = parents = place_shorts(firing, walk, parents, starts);
    array_extend(firing->vm->memory, vectors.array, starts[parents]);
    size_t points = walk_parents_end(walk, parents);
    size_t picoseconds = parents == 0 ? 1 : PARENT_PICOSECONDS + (points + starts[parents]) * NEAR_PICOSECONDS / parents;
    team_run(team, parents, team_grain(team, picoseconds), make_shorts, &vectors);
    parents = atomic_load(&vectors.good);
    if (parents > 0) {
        give_shorts(firing, vectors.array, starts, parents);
        walk_over(walk, parents);
        walk_next_parent(walk);
    }
    team_give_back(team, starts);
}

/* False when nothing more can be done now, or ever. */
static bool scatter(Firing *firing)
{
    Scatter *state = firing->state;
    Inputs on_parents = vector_inputs(firing);
    Inputs on_children = {on_parents.count, 1 + firing->node->layout->count};
    Walk walk = walk_begin(firing, &state->walk, on_children, on_parents, on_parents.count + on_children.count);
    for (;;) {
        scatter_shorts(firing, &walk);
        size_t count = walk_points(&walk);
        if (count > 0)
            open_vector(firing, walk.parent);
        if (count > 0 && !take_points(firing, &walk, count))
            return false;
        if (!walk_is_parent_done(&walk) || outputs_room(firing, 0, VECTOR_PARTS) == 0)
            return walk_end(&walk);
        open_vector(firing, walk.parent);
        if (state->repeat.is_found)
            return failure_repeated(walk_fail_parent(&walk), state->repeat.index, state->repeat.first,
                                    state->repeat.second);
        if (is_permutation(firing) && walk_index(&walk) < state->made.length)
            return walk_end(&walk); /* the lengths differ, of which SAME_LENGTHS tells: the vector must not be seen */
        made_vector_give(firing, &state->made);
        walk_next_parent(&walk);
    }
}

static void fire_scatter(Firing *firing)
{
    while (scatter(firing))
        continue;
}

/* ---- in bundles, of one vector ---- */

static void skip_scatter(const FlowNode *node, void *state_memory, uint64_t points, uint64_t parents)
{
    (void)node, (void)parents;
    Scatter *state = state_memory;
    state->walk.position = points;
}

static void *replaced_cells(Firing *firing, uint32_t leaf)
{
    Scatter *state = firing->state;
    open_vector(firing, 0);
    return made_vector_cells(&state->made, leaf);
}

const NodeKind node_kind_SCATTER = {.fire = fire_scatter,
                                    .state_size = sizeof(Scatter),
                                    .release = release_scatter,
                                    .skip = skip_scatter,
                                    .replaced = replaced_cells};
