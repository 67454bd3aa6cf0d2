/* SCATTER: a vector for each parent, with elements written at indices.
 *
 * Short vectors of several parents are made in one array; a long one has an array of its own, and so lives no longer than it must. Indices
 * are checked before anything else is looked at: a permutation with an index out of range fails for that, also where another one occurs
 * twice before. */
#include "vm/nodes.h"

#include <string.h>

enum { SCATTER_SHARED_MAX = 1 << 14 }; /* elements of an array to which one more vector is added */

/* The inputs on P come first: a vector, or for PERMUTE a length. */
enum { VECTOR_ARRAY, VECTOR_START, VECTOR_LENGTH, VECTOR_INPUTS };

typedef struct Repeat {
    bool is_found;
    int64_t index;
    uint64_t first, second; /* positions */
} Repeat;

typedef struct Scatter {
    WalkState walk;
    bool is_open;   /* a vector is being made, */
    Array *array;   /* at the end of this array, */
    size_t start;   /* ... from here, */
    size_t length;  /* ... of this length */
    uint64_t *taken; /* PERMUTE: for each index the position that goes there + 1 */
    size_t taken_capacity;
    Repeat repeat;
} Scatter;

static void release_scatter(Vm *vm, const FlowNode *node, void *state_memory)
{
    (void)node;
    Scatter *state = state_memory;
    array_release(vm->memory, state->array);
    memory_free(vm->memory, state->taken, state->taken_capacity * sizeof *state->taken);
}

static bool is_permutation(const Firing *firing)
{
    return firing->node->core_op == OP_PERMUTE;
}

static Inputs vector_inputs(const Firing *firing)
{
    return (Inputs){0, is_permutation(firing) ? 1 : VECTOR_INPUTS};
}

/* Leaf `leaf` of the vector being made. */
static char *column_of(const Scatter *state, uint32_t leaf)
{
    const Layout *layout = state->array->layout;
    return (char *)state->array->columns[leaf].data + state->start * leaf_size(layout->leaves[leaf].type);
}

/* ---- beginning a vector ---- */

/* Chooses the array for a vector. */
static void begin_array(Firing *firing, size_t length)
{
    Scatter *state = firing->state;
    Memory *memory = firing->vm->memory;
    if (state->array != NULL && state->array->count + length > SCATTER_SHARED_MAX) {
        array_release(memory, state->array);
        state->array = NULL;
    }
    if (state->array == NULL)
        state->array = array_new(memory, firing->node->layout);
    state->start = state->array->count;
    state->length = length;
}

static void begin_copy(Firing *firing, size_t parent)
{
    Scatter *state = firing->state;
    Cells arrays = firing_cells(firing, VECTOR_ARRAY);
    const Array *from = ((Array *const *)arrays.data)[cells_index(arrays, parent)];
    size_t start = cells_scalar(SCALAR_I64, firing_cells(firing, VECTOR_START), parent).bits;
    begin_array(firing, cells_scalar(SCALAR_I64, firing_cells(firing, VECTOR_LENGTH), parent).bits);
    array_extend_by(firing->vm, state->array, from, start, state->length);
}

static void begin_permutation(Firing *firing, size_t parent)
{
    Scatter *state = firing->state;
    Memory *memory = firing->vm->memory;
    begin_array(firing, cells_scalar(SCALAR_I64, firing_cells(firing, 0), parent).bits);
    array_extend(memory, state->array, state->length);
    if (state->length > state->taken_capacity) {
        size_t size = sizeof *state->taken;
        state->taken = memory_resize(memory, state->taken, state->taken_capacity * size, state->length * size);
        state->taken_capacity = state->length;
    }
    if (state->length > 0)
        memset(state->taken, 0, state->length * sizeof *state->taken);
    state->repeat.is_found = false;
}

static void open_vector(Firing *firing, size_t parent)
{
    Scatter *state = firing->state;
    if (state->is_open)
        return;
    if (is_permutation(firing))
        begin_permutation(firing, parent);
    else
        begin_copy(firing, parent);
    state->is_open = true;
}

/* ---- writing ---- */

#define SCATTER(SIZE)                                                                                                 \
    static void scatter_##SIZE(char *out, Cells from, Cells index, size_t first, size_t count)                        \
    {                                                                                                                 \
        const int64_t *places = index.data;                                                                           \
        for (size_t i = first; i < first + count; i++)                                                                \
            memcpy(out + (size_t)places[cells_index(index, i)] * SIZE,                                                \
                   (const char *)from.data + cells_index(from, i) * SIZE, SIZE);                                      \
    }
SCATTER(1)
SCATTER(2)
SCATTER(4)
SCATTER(8)
#undef SCATTER

static void scatter_arrays(Memory *memory, Array **out, Cells from, Cells index, size_t first, size_t count)
{
    const int64_t *places = index.data;
    for (size_t i = first; i < first + count; i++) {
        Array **place = &out[places[cells_index(index, i)]], *old = *place;
        *place = array_retain(((Array *const *)from.data)[cells_index(from, i)]);
        array_release(memory, old);
    }
}

static void scatter_leaf(Memory *memory, LeafType type, void *out, Cells from, Cells index, size_t first, size_t count)
{
    if (type == LEAF_ARRAY) {
        scatter_arrays(memory, out, from, index, first, count);
        return;
    }
    switch (leaf_size(type)) {
    case 1: scatter_1(out, from, index, first, count); break;
    case 2: scatter_2(out, from, index, first, count); break;
    case 4: scatter_4(out, from, index, first, count); break;
    case 8: scatter_8(out, from, index, first, count); break;
    }
}

/* Of `count` points from `first` on, those before the first with an index out of range. */
static size_t count_good(const Scatter *state, Cells index, size_t first, size_t count)
{
    const int64_t *places = index.data;
    size_t good = 0;
    while (good < count && (uint64_t)places[cells_index(index, first + good)] < state->length)
        good++;
    return good;
}

/* Notes where permuted elements go; the first index that occurs again is remembered. */
static void take_places(Scatter *state, Cells index, size_t first, size_t count, uint64_t position)
{
    const int64_t *places = index.data;
    for (size_t i = 0; i < count && !state->repeat.is_found; i++) {
        int64_t place = places[cells_index(index, first + i)];
        if (state->taken[place] != 0)
            state->repeat = (Repeat){true, place, state->taken[place] - 1, position + i};
        state->taken[place] = position + i + 1;
    }
}

static void write_points(Firing *firing, const Walk *walk, Cells index, size_t count)
{
    Scatter *state = firing->state;
    const Layout *layout = firing->node->layout;
    uint32_t leaves = walk->on_children.first + 1;
    if (is_permutation(firing))
        take_places(state, index, walk->child, count, walk_index(walk));
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        scatter_leaf(firing->vm->memory, layout->leaves[leaf].type, column_of(state, leaf),
                     firing_cells(firing, leaves + leaf), index, walk->child, count);
}

/* Takes the next `count` points; false after a failure. */
static bool take_points(Firing *firing, Walk *walk, size_t count)
{
    Scatter *state = firing->state;
    Cells index = firing_cells(firing, walk->on_children.first);
    size_t good = count_good(state, index, walk->child, count);
    if (good < count) {
        int64_t place = cells_scalar(SCALAR_I64, index, walk->child + good).integer;
        return failure_index(walk_fail(walk, good), firing->node->core_op, place, state->length);
    }
    write_points(firing, walk, index, count);
    walk->child += count;
    return true;
}

/* ---- giving ---- */

static void give_vector(Firing *firing)
{
    Scatter *state = firing->state;
    int64_t start = (int64_t)state->start, length = (int64_t)state->length;
    firing_give(firing, VECTOR_ARRAY, LEAF_ARRAY, &state->array);
    firing_give(firing, VECTOR_START, SCALAR_I64, &start);
    firing_give(firing, VECTOR_LENGTH, SCALAR_I64, &length);
    state->is_open = false;
}

/* False when nothing more can be done now, or ever. */
static bool scatter(Firing *firing)
{
    Scatter *state = firing->state;
    Inputs on_parents = vector_inputs(firing);
    Inputs on_children = {on_parents.count, 1 + firing->node->layout->count};
    Walk walk = walk_begin(firing, &state->walk, on_children, on_parents, on_parents.count + on_children.count);
    for (;;) {
        size_t count = walk_points(&walk);
        if (count > 0)
            open_vector(firing, walk.parent);
        if (count > 0 && !take_points(firing, &walk, count))
            return false;
        if (!walk_is_parent_done(&walk) || outputs_room(firing, 0, VECTOR_INPUTS) == 0)
            return walk_end(&walk);
        open_vector(firing, walk.parent);
        if (state->repeat.is_found)
            return failure_repeated(walk_fail_parent(&walk), state->repeat.index, state->repeat.first,
                                    state->repeat.second);
        if (is_permutation(firing) && walk_index(&walk) < state->length)
            return walk_end(&walk); /* the lengths differ, of which SAME_LENGTHS tells: the vector must not be seen */
        give_vector(firing);
        walk_next_parent(&walk);
    }
}

static void fire_scatter(Firing *firing)
{
    while (scatter(firing))
        continue;
}

const NodeKind node_kind_SCATTER = {.fire = fire_scatter, .state_size = sizeof(Scatter), .release = release_scatter};
