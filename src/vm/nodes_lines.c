/* LINES: the lines of files, read as they are wanted. The lines of one firing share an array. */
#include "io/line_reader.h"
#include "vm/instance.h"
#include "vm/nodes.h"

enum { LINES_DRIVER, LINES_PATH, LINES_START, LINES_LENGTH, LINES_INPUTS };
enum { LINES_ENDS, LINES_OUT_ARRAY, LINES_OUT_START, LINES_OUT_LENGTH, LINES_OUTPUTS };

/* A firing stops after this many characters: what it made is kept as long as one of its lines is. */
enum { LINES_CHARS_MAX = 1 << 16 };

typedef struct Lines {
    LineReader reader;
    Text path;
    Array *chars; /* of the lines read in this firing */
    int64_t total; /* lines of all files so far */
    bool is_begun;
    bool is_open;
} Lines;

static void release_lines(Vm *vm, const FlowNode *node, void *state_memory)
{
    (void)node;
    Lines *state = state_memory;
    if (!state->is_begun)
        return;
    line_reader_close(&state->reader);
    text_free(&state->path);
    array_release(vm->memory, state->chars);
}

static void read_path(Firing *firing)
{
    Lines *state = firing->state;
    Array *array = *(Array *const *)firing_cells(firing, LINES_PATH).data;
    size_t start = cells_scalar(SCALAR_I64, firing_cells(firing, LINES_START), 0).bits;
    size_t length = cells_scalar(SCALAR_I64, firing_cells(firing, LINES_LENGTH), 0).bits;
    text_clear(&state->path);
    for (size_t i = 0; i < length; i++)
        text_add_char(&state->path, (char)cells_scalar(SCALAR_CHAR, array_cells(array, 0, start), i).integer);
}

/* The path is shown from the VM's arena, for the node has nothing of its own any more once it has failed. */
static bool fail(Firing *firing)
{
    Lines *state = firing->state;
    const char *reason = state->reader.reason;
    size_t length = state->path.length;
    const char *path = arena_text(&firing->vm->arena, text_string(&state->path), length);
    return failure_cannot_read(firing_fail(firing, LINES_DRIVER, 0), path, length, reason);
}

/* Opens the file of the next point. False when there is none, or it cannot be read. */
static bool open_next(Firing *firing)
{
    Lines *state = firing->state;
    if (inputs_available(firing, (Inputs){LINES_DRIVER, LINES_INPUTS}) == 0)
        return firing_rest(firing, LINES_DRIVER);
    read_path(firing);
    state->is_open = line_reader_open(&state->reader, &state->path);
    return state->is_open || fail(firing);
}

/* Reads up to `room` lines into state->chars, as many as are there. */
static size_t read_lines(Firing *firing, size_t room, int64_t *starts, int64_t *lengths)
{
    Lines *state = firing->state;
    const char *bytes;
    size_t made = 0, length;
    while (made < room && state->chars->count < LINES_CHARS_MAX && (made == 0 || line_reader_is_at_hand(&state->reader)) &&
           line_reader_next(&state->reader, &bytes, &length)) {
        Cells cells = {.data = bytes};
        starts[made] = (int64_t)state->chars->count;
        lengths[made++] = (int64_t)length;
        array_append(firing->vm->memory, firing->vm->team, state->chars, &cells, 0, length);
    }
    return made;
}

/* Gives lines of the open file. Zero at its end, and when reading has failed. */
static size_t give_lines(Firing *firing, size_t room)
{
    Lines *state = firing->state;
    int64_t *starts = firing_reserve(firing, LINES_OUT_START, room);
    int64_t *lengths = firing_reserve(firing, LINES_OUT_LENGTH, room);
    state->chars = array_new(firing->vm->memory, layout_of(firing->vm->program->layouts, TYPE_CHAR));
    if (!line_reader_is_at_hand(&state->reader))
        world_flush(&firing->vm->world, false);
    size_t made = read_lines(firing, room, starts, lengths);
    firing_produce_uniform(firing, LINES_OUT_ARRAY, &state->chars, made);
    firing_produce(firing, LINES_OUT_START, made);
    firing_produce(firing, LINES_OUT_LENGTH, made);
    array_release(firing->vm->memory, state->chars);
    state->chars = NULL;
    state->total += (int64_t)made;
    firing_set_frontier(firing, LINES_ENDS, state->total);
    return made;
}

static void end_file(Firing *firing)
{
    Lines *state = firing->state;
    state->is_open = false;
    line_reader_close(&state->reader);
    firing_give(firing, LINES_ENDS, LEAF_ENDS, &state->total);
    inputs_consume(firing, (Inputs){LINES_DRIVER, LINES_INPUTS}, 1);
}

/* False when nothing more can be done now, or ever. */
static bool lines(Firing *firing)
{
    Lines *state = firing->state;
    enum { LINES_AT_ONCE = 4096 };
    size_t room = least(outputs_room(firing, LINES_OUT_ARRAY, LINES_OUTPUTS - LINES_OUT_ARRAY), LINES_AT_ONCE);
    if (!state->is_open && !open_next(firing))
        return false;
    if (room == 0 || firing_room(firing, LINES_ENDS) == 0)
        return false;
    if (give_lines(firing, room) > 0) {
        instance_wake(firing->instance, firing->id); /* the others have these lines before more are waited for */
        return false;
    }
    if (state->reader.reason != NULL)
        return fail(firing);
    end_file(firing);
    return true;
}

static void fire_lines(Firing *firing)
{
    Lines *state = firing->state;
    if (!state->is_begun) {
        line_reader_init(&state->reader, firing->vm->memory, firing->vm->options.stop);
        text_init(&state->path, firing->vm->memory);
        state->is_begun = true;
    }
    while (lines(firing))
        continue;
}

const NodeKind node_kind_LINES = {.fire = fire_lines, .state_size = sizeof(Lines), .release = release_lines};
