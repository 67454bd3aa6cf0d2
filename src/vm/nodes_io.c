/* Rows that look at the world, and errors that the program makes itself. The world's failures are results. */
#include "vm/nodes_rows.h"

#include "io/object_file.h"

#include <string.h>

enum { IO_DRIVER, VECTOR_LEAVES = 3 };

static const Text *text_argument(RowsCall *call, uint32_t leaf, size_t row)
{
    Text *text = &call->state->text;
    text_clear(text);
    rows_add_text(call, leaf, row, text);
    return text;
}

/* ---- output, the environment, the clock ---- */

bool row_print_string(RowsCall *call, size_t row)
{
    const Text *text = text_argument(call, 0, row);
    world_print(&call->firing->vm->world, text_string(text), text->length);
    ((bool *)call->results[0])[row] = true;
    return true;
}

bool row_clock(RowsCall *call, size_t row)
{
    ((double *)call->results[0])[row] = world_clock();
    return true;
}

bool row_environment_variable(RowsCall *call, size_t row)
{
    rows_give_string(call, 0, row, world_environment_variable(text_argument(call, 0, row)));
    return true;
}

/* ---- descriptors ---- */

bool row_open_file(RowsCall *call, size_t row)
{
    const Text *path = text_argument(call, 0, row);
    const char *reason;
    WorldMode mode = (WorldMode)rows_integer(call, VECTOR_LEAVES, row);
    int64_t descriptor = world_open(&call->firing->vm->world, path, mode, &reason);
    ((int64_t *)call->results[0])[row] = descriptor;
    rows_give_string(call, 1, row, reason);
    return true;
}

bool row_close_file(RowsCall *call, size_t row)
{
    rows_give_string(call, 0, row, world_close(&call->firing->vm->world, rows_integer(call, 0, row)));
    return true;
}

/* (delimiters, most, descriptor) -> (characters, how it ended) */
bool row_read_chars(RowsCall *call, size_t row)
{
    const Text *delimiters = text_argument(call, 0, row);
    int64_t most = rows_integer(call, VECTOR_LEAVES, row);
    int64_t descriptor = rows_integer(call, VECTOR_LEAVES + 1, row);
    Text *contents = &call->state->other_text;
    const char *reason = NULL;
    text_clear(contents);
    int64_t status = world_read(&call->firing->vm->world, descriptor, delimiters, most, contents, &reason);
    if (status == WORLD_FAILED)
        rows_give_string(call, 0, row, reason);
    else
        rows_give_text(call, 0, row, text_string(contents), contents->length);
    ((int64_t *)call->results[VECTOR_LEAVES])[row] = status;
    return true;
}

bool row_write_chars(RowsCall *call, size_t row)
{
    const Text *text = text_argument(call, 0, row);
    int64_t descriptor = rows_integer(call, VECTOR_LEAVES, row);
    rows_give_string(call, 0, row,
                     world_write(&call->firing->vm->world, descriptor, text_string(text), text->length));
    return true;
}

bool row_write_value(RowsCall *call, size_t row)
{
    Types *types = call->firing->vm->types;
    Heap *heap = &call->firing->vm->heap;
    const Layout *layout = call->node->layouts[0];
    Value value = rows_value(heap, types, layout, call->arguments, row);
    int64_t descriptor = rows_integer(call, layout->count, row);
    const char *reason =
        object_file_write(&call->firing->vm->world, descriptor, heap, types, layout->type, value);
    value_release(heap, types, layout->type, value);
    rows_give_string(call, 0, row, reason);
    return true;
}

/* ---- reading values ---- */

/* Reads a value into state->vectors, as its only element. Gives the reason of a failure. */
static const char *read_value(Firing *firing, const Layout *layout, int64_t descriptor)
{
    RowsState *state = firing->state;
    Types *types = firing->vm->types;
    Heap *heap = &firing->vm->heap;
    Value value;
    const char *reason = object_file_read(&firing->vm->world, descriptor, heap, types, layout->type, &value);
    state->vectors = array_new(firing->vm->memory, layout);
    array_append_value(firing->vm->memory, types, state->vectors, value);
    value_release(heap, types, layout->type, value);
    return reason;
}

static void put_reason(Firing *firing, const Layout *chars, const char *reason)
{
    RowsState *state = firing->state;
    Cells cells = {.data = reason};
    state->inner = array_new(firing->vm->memory, chars);
    array_append(firing->vm->memory, firing->vm->team, state->inner, &cells, 0, reason == NULL ? 0 : strlen(reason));
}

/* One row: the leaves of the value read, then the reason as a vector. */
static void give_value(Firing *firing, const Layout *layout)
{
    RowsState *state = firing->state;
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        firing_give(firing, leaf, layout->leaves[leaf].type, array_cells(state->vectors, leaf, 0).data);
    int64_t start = 0, length = (int64_t)state->inner->count;
    firing_give(firing, layout->count, LEAF_ARRAY, &state->inner);
    firing_give(firing, layout->count + 1, SCALAR_I64, &start);
    firing_give(firing, layout->count + 2, SCALAR_I64, &length);
    array_release(firing->vm->memory, state->vectors);
    array_release(firing->vm->memory, state->inner);
    state->vectors = state->inner = NULL;
}

/* (a value of the type wanted, descriptor) -> (value, reason) */
void rows_fire_read_value(Firing *firing)
{
    const FlowNode *node = firing->node;
    const Layout *layout = node->layouts[0];
    Inputs inputs = {IO_DRIVER, node->input_count};
    while (inputs_available(firing, inputs) > 0 && outputs_room(firing, 0, node->output_count) > 0) {
        int64_t descriptor = cells_scalar(SCALAR_I64, firing_cells(firing, node->input_count - 1), 0).integer;
        const char *reason = read_value(firing, layout, descriptor);
        put_reason(firing, node->layout->leaves[layout->count].elements, reason);
        give_value(firing, layout);
        inputs_consume(firing, inputs, 1);
    }
    firing_rest(firing, IO_DRIVER);
}

/* ---- errors of the program ---- */

/* A text among the arguments of the first point; in the VM's arena, for the node has nothing of its own any more once it has failed. */
static const char *message_text(Firing *firing, uint32_t leaf, size_t *length)
{
    RowsState *state = firing->state;
    RowsCall call = {.firing = firing, .node = firing->node, .state = state, .arguments = state->arguments};
    inputs_cells(firing, (Inputs){1, firing->node->input_count - 1}, state->arguments);
    const Text *text = text_argument(&call, leaf, 0);
    *length = text->length;
    return arena_text(&firing->vm->arena, text_string(text), text->length);
}

static void raise(Firing *firing)
{
    size_t name_length, length;
    const char *name = message_text(firing, 0, &name_length);
    const char *message = message_text(firing, VECTOR_LEAVES, &length);
    failure_raise(firing_fail(firing, IO_DRIVER, 0), error_code_named(name), message, length);
}

static void fail(Firing *firing)
{
    size_t length;
    const char *text = message_text(firing, 0, &length);
    Failure *failure = firing_fail(firing, IO_DRIVER, 0);
    if (firing->node->core_op == OP_NOT_PROVIDED)
        failure_not_provided(failure, text, length);
    else
        failure_user_error(failure, text, length);
}

void rows_fire_error(Firing *firing)
{
    if (inputs_available(firing, (Inputs){IO_DRIVER, firing->node->input_count}) > 0)
        firing->node->core_op == OP_RAISE ? raise(firing) : fail(firing);
    else
        firing_rest(firing, IO_DRIVER);
}
