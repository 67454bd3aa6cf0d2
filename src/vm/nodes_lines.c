/* LINES: the lines of files, read as they are wanted. Lines are vectors in the blocks that were read. */
#include "vm/instance.h"
#include "vm/nodes.h"
#include "vm/text_block.h"
#include "vm/text_cuts.h"

enum { LINES_DRIVER, LINES_PATH, LINES_START, LINES_LENGTH, LINES_INPUTS };
enum { LINES_ENDS, LINES_OUT_ARRAY, LINES_OUT_START, LINES_OUT_LENGTH, LINES_OUTPUTS };

enum { PIECE_BYTES = 1 << 15, PIECES_MAX = 128 }; /* what one thread cuts at a time */
enum { LINE_BYTES = 32 };                         /* expected, before any was seen */
enum { LINES_AT_ONCE = 1 << 16 };                 /* at most: nobody may read what is given, and then there is no other limit */

typedef struct Lines {
    TextBlock block;
    size_t searched; /* no line ends in the block between its beginning and here */
    Text path;
    int64_t total; /* lines of all files so far, */
    int64_t bytes; /* ... and theirs */
    bool is_begun;
    bool is_open;
} Lines;

static void close_file(Vm *vm, Lines *state)
{
    text_block_close(&state->block, vm->memory);
    state->searched = 0;
    state->is_open = false;
}

static void release_lines(Vm *vm, const FlowNode *node, void *state_memory)
{
    (void)node;
    Lines *state = state_memory;
    if (!state->is_begun)
        return;
    close_file(vm, state);
    text_free(&state->path);
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
    const char *reason = state->block.input.reason;
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
    state->is_open = text_block_open(&state->block, &state->path, firing->vm->options.stop);
    return state->is_open || fail(firing);
}

/* ---- cutting ---- */

/* Some bytes of a block whose lines are counted by one thread, and then cut. */
typedef struct Piece {
    size_t count;  /* newlines, */
    size_t last;   /* ... and where the last of them is */
    int64_t start; /* of the line that the first newline ends */
    size_t line;   /* its number among all that are cut */
} Piece;

typedef struct Cutting {
    const TextCutLoops *loops;
    CutText text;
    TextCuts *cuts;
    Piece pieces[PIECES_MAX];
} Cutting;

/* What is in the block from `searched` on. */
static CutText searched_text(const Lines *state)
{
    const Column *chars = &state->block.chars->columns[0];
    size_t from = state->searched;
    return (CutText){(const char *)chars->data + from, text_block_end(&state->block) - from, chars->capacity - from, (int64_t)from};
}

static CutText piece_text(const Cutting *cutting, size_t piece)
{
    const CutText *all = &cutting->text;
    size_t first = piece * PIECE_BYTES;
    return (CutText){all->bytes + first, least(PIECE_BYTES, all->length - first), all->readable - first, all->offset + (int64_t)first};
}

static void count_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    Cutting *cutting = context;
    (void)member;
    for (size_t i = first; i < end; i++) {
        CutText text = piece_text(cutting, i);
        Piece piece = {0};
        piece.count = cutting->loops->count_lines(&text, &piece.last);
        cutting->pieces[i] = piece;
    }
}

static void cut_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const Cutting *cutting = context;
    (void)member;
    for (size_t i = first; i < end; i++) {
        CutText text = piece_text(cutting, i);
        const Piece *piece = &cutting->pieces[i];
        TextCuts cuts = {cutting->cuts->starts + piece->line, cutting->cuts->lengths + piece->line, 0, piece->count};
        int64_t start = piece->start;
        cutting->loops->lines(&text, &start, &cuts);
    }
}

/* Says where the lines of pieces begin and go, as long as there is room for all of a piece; gives how many pieces that is. */
static size_t place_pieces(Cutting *cutting, size_t count, int64_t *start)
{
    TextCuts *cuts = cutting->cuts;
    size_t placed = 0;
    for (; placed < count && cutting->pieces[placed].count <= cuts->room - cuts->count; placed++) {
        Piece *piece = &cutting->pieces[placed];
        piece->start = *start;
        piece->line = cuts->count;
        cuts->count += piece->count;
        if (piece->count > 0)
            *start = cutting->text.offset + (int64_t)(placed * PIECE_BYTES + piece->last) + 1;
    }
    return placed;
}

/* How many pieces are worth counting: those whose lines there may be room for. */
static size_t pieces_wanted(const Lines *state, size_t length, size_t room)
{
    size_t line = (size_t)((state->bytes + LINE_BYTES) / (state->total + 1));
    size_t pieces = (length + PIECE_BYTES - 1) / PIECE_BYTES;
    return least(least(pieces, PIECES_MAX), 1 + (size_t)((double)room * (double)line / PIECE_BYTES));
}

static void cut_together(Firing *firing, TextCuts *cuts)
{
    Lines *state = firing->state;
    Team *team = firing->vm->team;
    Cutting cutting;
    cutting.loops = text_cut_loops();
    cutting.text = searched_text(state);
    cutting.cuts = cuts;
    size_t count = pieces_wanted(state, cutting.text.length, cuts->room);
    int64_t start = (int64_t)state->block.begin;
    if (!team_shares(team, count, 1))
        return;
    team_run(team, count, 1, count_pieces, &cutting);
    size_t placed = place_pieces(&cutting, count, &start);
    team_run(team, placed, 1, cut_pieces, &cutting);
    state->searched += least(placed * PIECE_BYTES, cutting.text.length);
    state->block.begin = (size_t)start;
}

static void cut_alone(Lines *state, TextCuts *cuts)
{
    CutText text = searched_text(state);
    int64_t start = (int64_t)state->block.begin;
    text_cut_loops()->lines(&text, &start, cuts);
    state->block.begin = (size_t)start;
    state->searched = cuts->count < cuts->room ? text_block_end(&state->block) : state->block.begin;
}

/* The last line has no newline. */
static void cut_last(Lines *state, TextCuts *cuts)
{
    size_t end = text_block_end(&state->block), length = end - state->block.begin;
    if (length == 0 || state->block.input.reason != NULL)
        return;
    bool has_return = ((const char *)state->block.chars->columns[0].data)[end - 1] == '\r';
    cuts->starts[0] = (int64_t)state->block.begin;
    cuts->lengths[0] = (int64_t)(length - has_return);
    cuts->count = 1;
    state->block.begin = state->searched = end;
}

/* ---- giving ---- */

/* Cuts what is at hand; reads more only if there is no line in it. */
static void find_lines(Firing *firing, TextCuts *cuts)
{
    Lines *state = firing->state;
    Vm *vm = firing->vm;
    TextBlock *block = &state->block;
    while (cuts->count == 0) {
        if (state->searched < text_block_end(block)) {
            cut_together(firing, cuts);
            if (cuts->count == 0)
                cut_alone(state, cuts);
        } else if (block->is_over) {
            cut_last(state, cuts);
            return;
        } else {
            size_t before = block->begin;
            text_block_read(block, vm->team, vm->memory, &vm->world, layout_of(vm->program->layouts, TYPE_CHAR));
            state->searched -= before - block->begin;
        }
    }
}

/* Gives lines of the open file. Zero at its end, and when reading has failed. */
static size_t give_lines(Firing *firing, size_t room)
{
    Lines *state = firing->state;
    int64_t *starts = firing_reserve(firing, LINES_OUT_START, room);
    int64_t *lengths = firing_reserve(firing, LINES_OUT_LENGTH, room);
    TextCuts cuts = {starts, lengths, 0, room};
    find_lines(firing, &cuts);
    if (cuts.count == 0)
        return 0;
    firing_produce_uniform(firing, LINES_OUT_ARRAY, &state->block.chars, cuts.count);
    state->bytes += starts[cuts.count - 1] + lengths[cuts.count - 1] - starts[0];
    state->total += (int64_t)cuts.count;
    firing_produce(firing, LINES_OUT_START, cuts.count);
    firing_produce(firing, LINES_OUT_LENGTH, cuts.count);
    firing_set_frontier(firing, LINES_ENDS, state->total);
    return cuts.count;
}

static void end_file(Firing *firing)
{
    Lines *state = firing->state;
    close_file(firing->vm, state);
    firing_give(firing, LINES_ENDS, LEAF_ENDS, &state->total);
    inputs_consume(firing, (Inputs){LINES_DRIVER, LINES_INPUTS}, 1);
}

/* Whether lines that were given are still to be taken: those of one block at a time have one array, and are still in the cache. */
static bool are_held(const Firing *firing)
{
    const Stream *stream = &firing->streams[firing->node->outputs[LINES_OUT_LENGTH]];
    return stream->is_read && stream->count > 0;
}

/* False when nothing more can be done now, or ever. */
static bool lines(Firing *firing)
{
    Lines *state = firing->state;
    size_t room = outputs_room(firing, LINES_OUT_ARRAY, LINES_OUTPUTS - LINES_OUT_ARRAY);
    if (!state->is_open && !open_next(firing))
        return false;
    if (room == 0 || firing_room(firing, LINES_ENDS) == 0 || (are_held(firing) && firing_wait(firing)))
        return false;
    if (give_lines(firing, least(room, LINES_AT_ONCE)) > 0) {
        instance_wake(firing->instance, firing->id); /* the others have these lines before more are waited for */
        return false;
    }
    if (state->block.input.reason != NULL)
        return fail(firing);
    end_file(firing);
    return true;
}

static void fire_lines(Firing *firing)
{
    Lines *state = firing->state;
    if (!state->is_begun) {
        text_init(&state->path, firing->vm->memory);
        state->is_begun = true;
    }
    while (lines(firing))
        continue;
}

const NodeKind node_kind_LINES = {.fire = fire_lines, .state_size = sizeof(Lines), .release = release_lines};
