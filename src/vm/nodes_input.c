/* INPUT: the elements of a sequence that is given from outside, as they come. */
#include "vm/array_columns.h"
#include "vm/instance.h"
#include "vm/nodes.h"

#include <string.h>

/* A firing reads at most so many elements, and stops when a vector for all its elements' vectors has become so long. */
enum { INPUT_ELEMENTS_MAX = 1 << 14, INPUT_INNER_MAX = 1 << 16, VECTOR_LEAVES = 3 };

typedef struct Input {
    uint64_t position; /* elements given */
    Array *rows;       /* read in this firing; of columns, the elements of one leaf */
    Columns *columns;  /* in the VM's arena; null until there are some */
} Input;

static void release_input(Vm *vm, const FlowNode *node, void *state)
{
    (void)node;
    array_release(vm->memory, ((Input *)state)->rows);
    columns_free(((Input *)state)->columns);
}

static size_t read_scalars(Firing *firing, ValueSource *source, size_t room)
{
    size_t count = value_source_read_scalars(source, firing_reserve(firing, 0, room), room);
    firing_produce(firing, 0, count);
    return count;
}

static bool is_long(const Array *rows)
{
    for (uint32_t i = 0; i < rows->layout->count; i++) {
        if (rows->layout->leaves[i].type != LEAF_ARRAY)
            continue;
        const Array *inner = *(Array *const *)array_cells(rows, i, 0).data;
        if (inner != NULL && inner->count > INPUT_INNER_MAX)
            return true;
    }
    return false;
}

/* Reads elements into state->rows. */
static void read_rows(Firing *firing, ValueSource *source, size_t room)
{
    Vm *vm = firing->vm;
    Array *rows = array_new(vm->memory, firing->node->layout);
    ((Input *)firing->state)->rows = rows;
    TypeId type = value_source_element_type(source);
    Value value;
    for (size_t i = 0; i < room && value_source_next(source, &value); i++) {
        array_append_value(vm->memory, vm->types, rows, value);
        value_release(&vm->heap, vm->types, type, value);
        if (!value_source_is_at_hand(source) || is_long(rows))
            return;
    }
}

static size_t read_values(Firing *firing, ValueSource *source, size_t room)
{
    Input *state = firing->state;
    read_rows(firing, source, room);
    size_t count = state->rows->count;
    for (uint32_t i = 0; i < firing->node->layout->count; i++) {
        LeafType type = firing->node->layout->leaves[i].type;
        if (!firing_is_wanted(firing, i))
            continue;
        cells_copy(type, firing_reserve(firing, i, count), array_cells(state->rows, i, 0), 0, count);
        firing_produce(firing, i, count);
    }
    if (firing->node->layout->count == 0)
        firing_produce(firing, 0, count);
    array_release(firing->vm->memory, state->rows);
    state->rows = NULL;
    return count;
}

/* Scalars are read to where they go. */
static Columns *begin_columns(Firing *firing, const ValueSource *source, size_t room)
{
    Input *state = firing->state;
    if (state->columns == NULL)
        state->columns = columns_new(&firing->vm->arena, firing->vm->types, value_source_element_type(source));
    Columns *columns = state->columns;
    columns_clear(columns);
    for (uint32_t i = 0, output = 0; i < columns->leaf_count; i++) {
        bool is_vector = columns->leaves[i].elements != NULL;
        if (!is_vector)
            columns_borrow(columns, i, firing_reserve(firing, output, room), room);
        output += is_vector ? VECTOR_LEAVES : 1;
    }
    return columns;
}

/* The vectors of a leaf, whose elements become an array. */
static void give_vectors(Firing *firing, uint32_t output, const ColumnLeaf *leaf, size_t count)
{
    Input *state = firing->state;
    Memory *memory = firing->vm->memory;
    state->rows = array_new(memory, firing->node->layout->leaves[output].elements);
    array_take_columns(memory, state->rows, leaf->elements);
    firing_produce_uniform(firing, output, &state->rows, count);
    int64_t *starts = firing_reserve(firing, output + 1, count);
    columns_vectors(leaf, count, starts, firing_reserve(firing, output + 2, count));
    firing_produce(firing, output + 1, count);
    firing_produce(firing, output + 2, count);
    array_release(memory, state->rows);
    state->rows = NULL;
}

static size_t read_columns(Firing *firing, ValueSource *source, size_t room)
{
    Columns *columns = begin_columns(firing, source, room);
    size_t count = value_source_read_columns(source, columns, room);
    for (uint32_t i = 0, output = 0; count > 0 && i < columns->leaf_count; i++) {
        const ColumnLeaf *leaf = &columns->leaves[i];
        if (leaf->elements != NULL)
            give_vectors(firing, output, leaf, count);
        else
            firing_produce(firing, output, count);
        output += leaf->elements != NULL ? VECTOR_LEAVES : 1;
    }
    return count;
}

static size_t read_some(Firing *firing, ValueSource *source, size_t room)
{
    if (type_is_scalar(firing->vm->types, value_source_element_type(source)))
        return read_scalars(firing, source, room);
    return value_source_has_columns(source) ? read_columns(firing, source, room) : read_values(firing, source, room);
}

static void fail(Firing *firing, const ValueSource *source)
{
    const char *problem = value_source_problem(source);
    Failure *failure = firing_fail_at(firing, ((Input *)firing->state)->position);
    failure->span = (Span){0};
    failure_raise(failure, value_source_error(source), problem, strlen(problem));
}

/* Reads what is there and lets the others have it before it waits for more. */
static void fire_input(Firing *firing)
{
    Input *state = firing->state;
    ValueSource *source = firing->vm->sources[firing->node->index];
    size_t room = least(outputs_room(firing, 0, firing->node->output_count), INPUT_ELEMENTS_MAX);
    if (room == 0)
        return;
    if (!value_source_is_at_hand(source))
        world_flush(&firing->vm->world, false);
    size_t count = read_some(firing, source, room);
    state->position += count;
    if (count > 0)
        instance_wake(firing->instance, firing->id);
    else if (value_source_has_failed(source))
        fail(firing, source);
    else
        firing_finish(firing);
}

const NodeKind node_kind_INPUT = {.fire = fire_input, .state_size = sizeof(Input), .release = release_input};
