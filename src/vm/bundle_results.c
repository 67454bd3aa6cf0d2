/* Where what a kernel's tiles give goes, and how it becomes streams, vectors and reductions when they are done. */
#include "vm/bundle_doing.h"

#include "base/least.h"

#include <string.h>

enum {
    COPY_PICOSECONDS = 300,   /* for an element */
    FORESIGHT = 4,            /* times what a vector has that it gets room for, if it is expected to grow as much, */
    KNOWN_POINTS = 256,       /* ... or all that is expected, when it is known what so many points gave */
    EXPECTED_MOST = 64 << 20, /* ... if that is not more than this */
};

/* ---- where results go ---- */

static Array *array_of_sink(const Doing *doing, const KernelSink *sink)
{
    const NodePlan *node = &doing->instance->plan->nodes[sink->node];
    return node->kind->array(doing->vm, node->node, instance_state(doing->instance, node));
}

/* Room at the end of a vector's column. */
static char *sink_room(Doing *doing, const KernelSink *sink, size_t count)
{
    Array *array = array_of_sink(doing, sink);
    if (sink->leaf == 0)
        array_reserve(doing->vm->memory, array, count);
    array_write_out(doing->vm->memory, array, sink->leaf);
    return (char *)array->columns[sink->leaf].data + array->count * leaf_size(sink->operand.type);
}

size_t doing_points_to_come(const Doing *doing)
{
    size_t least_count = SIZE_MAX;
    for (uint32_t i = 0; i < doing->bundle->counts.count; i++) {
        uint64_t all = *(const uint64_t *)bundle_operand_cells(doing->instance, doing->bundle, doing->bundle->counts.items[i]).data;
        least_count = least(least_count, (size_t)(all - (uint64_t)doing->position));
    }
    return least_count == SIZE_MAX ? doing->count : least_count;
}

size_t doing_given_by(const Doing *doing, size_t tiles, uint32_t scope)
{
    size_t given = 0;
    for (size_t tile = 0; tile < tiles; tile++)
        given += (size_t)doing->given[tile * doing->kernel->scopes.count + scope];
    return given;
}

/* Elements that a vector will have room for, if the points to come give as many as these. */
static size_t elements_expected(const Doing *doing, const KernelSink *sink, size_t count)
{
    size_t most = FORESIGHT * (array_of_sink(doing, sink)->count + count);
    double expected = 1.02 * (double)count * (double)doing_points_to_come(doing) / (double)doing->count;
    bool is_known = doing->position + (int64_t)doing->count >= KNOWN_POINTS && expected <= EXPECTED_MOST;
    return expected < (double)count ? count : is_known || expected < (double)most ? (size_t)expected : most;
}

static bool is_much_memory(const Vm *vm, size_t count, size_t size)
{
    size_t live = vm->memory->live_bytes, limit = vm->options.memory_limit;
    return live >= limit || count > (limit - live) / 2 / size;
}

static bool has_room(const Array *array, const KernelSink *sink, size_t count)
{
    const Column *column = &array->columns[sink->leaf];
    return !column->is_uniform && column->capacity >= array->count + count;
}

/* Elements that a vector gets room for, with its first column, of which the next `count` are needed now. */
static size_t elements_to_come(const Doing *doing, const KernelSink *sink, size_t count)
{
    const Array *array = array_of_sink(doing, sink);
    if (sink->leaf != 0 || has_room(array, sink, count))
        return count;
    size_t counted = doing_count_to_come(doing, sink->scope);
    return counted < count || is_much_memory(doing->vm, counted, array_row_size(array)) ? elements_expected(doing, sink, count) : counted;
}

/* The same when they are found already: a vector that grew little by little would be copied from block to block. */
static size_t elements_to_join(const Doing *doing, const KernelSink *sink, size_t count)
{
    const Array *array = array_of_sink(doing, sink);
    if (sink->leaf != 0 || has_room(array, sink, count))
        return count;
    size_t expected = elements_expected(doing, sink, count);
    return is_much_memory(doing->vm, expected, array_row_size(array)) ? count : expected;
}

/* Elements on the root's points go straight to where they are wanted, all others to a place of the tile's. */
static char *output_room(Doing *doing, uint32_t number)
{
    const Kernel *kernel = doing->kernel;
    Instance *instance = doing->instance;
    bool is_on_root = doing->scopes[number] == BUNDLE_ROOT;
    if (!is_on_root && !doing->is_direct)
        return doing_reserve(doing, doing_tile_count(doing) * doing->room * doing->sizes[number]);
    size_t count = doing->places != NULL && !is_on_root ? doing_given_by(doing, doing_tile_count(doing), doing->scopes[number]) : doing->count;
    if (number < kernel->outputs.count && instance->streams[kernel->outputs.items[number]].is_read)
        return stream_reserve(doing->vm, instance, kernel->outputs.items[number], count);
    if (number < kernel->outputs.count + kernel->ordered.count)
        return doing_reserve(doing, (doing->bundle->needs_blocks ? count / COMBINE_BLOCK + 1 : count) * doing->sizes[number]);
    const KernelSink *sink = &kernel->sinks.items[number - kernel->outputs.count - kernel->ordered.count];
    return sink_room(doing, sink, is_on_root ? doing_points_to_come(doing) : doing->places != NULL ? elements_to_come(doing, sink, count) : count);
}

/* On which points an output is, and how large its elements. */
static void describe_output(const Doing *doing, uint32_t number, uint32_t *scope, uint8_t *size)
{
    const Kernel *kernel = doing->kernel;
    const FlowNetwork *network = doing->instance->plan->network;
    *scope = BUNDLE_ROOT;
    if (number < kernel->outputs.count) {
        *scope = fuse_scope_of_stream(network, kernel, kernel->outputs.items[number]);
        *size = doing->instance->plan->streams[kernel->outputs.items[number]].size;
    } else if (doing_is_ordered_output(kernel, number))
        *size = (uint8_t)leaf_size(doing_node(doing, kernel->ordered.items[number - kernel->outputs.count])->inputs[0].type);
    else {
        const KernelSink *sink = &kernel->sinks.items[number - kernel->outputs.count - kernel->ordered.count];
        *scope = sink->scope;
        *size = (uint8_t)leaf_size(sink->operand.type);
    }
}

static char *replaced_cells(const Doing *doing, const KernelSink *scatter)
{
    Firing firing = instance_firing(doing->vm, doing->instance, scatter->node);
    return doing->instance->plan->nodes[scatter->node].kind->replaced(&firing, scatter->leaf);
}

void doing_find_outputs(Doing *doing)
{
    const Kernel *kernel = doing->kernel;
    size_t outputs = doing_output_count(kernel);
    doing->outputs = doing_reserve(doing, (outputs + kernel->scatters.count) * sizeof *doing->outputs);
    doing->sizes = doing_reserve(doing, outputs * sizeof *doing->sizes);
    doing->scopes = doing_reserve(doing, outputs * sizeof *doing->scopes);
    for (uint32_t i = 0; i < outputs; i++) {
        describe_output(doing, i, &doing->scopes[i], &doing->sizes[i]);
        doing->outputs[i] = output_room(doing, i);
    }
    for (uint32_t i = 0; i < kernel->scatters.count; i++)
        doing->outputs[outputs + i] = replaced_cells(doing, &kernel->scatters.items[i]);
}

/* ---- after ---- */

/* What is given on a scope comes in pieces: from tiles, or from the parts of the long loop that it is in. */
static size_t piece_count(const Doing *doing, size_t tiles, uint32_t scope)
{
    return doing->parts[scope] == NULL ? tiles : doing->parts[scope]->count;
}

/* By scope: how much a piece of `scope` has. */
static const int64_t *piece_given(const Doing *doing, size_t piece, uint32_t scope)
{
    const int64_t *given = doing->parts[scope] == NULL ? doing->given : doing->parts[scope]->given;
    return given + piece * doing->kernel->scopes.count;
}

static const char *piece_cells(const Doing *doing, size_t piece, uint32_t output)
{
    const DoingParts *parts = doing->parts[doing->scopes[output]];
    if (parts == NULL)
        return doing_tile_output(doing, output, piece);
    return doing_tile_output(doing, output, 0) + doing_part_room(parts, piece) * doing->sizes[output];
}

typedef struct Joining {
    const Doing *doing;
    uint32_t output;
    const size_t *places; /* of what each piece has, in elements */
    char *out;
} Joining;

static void join_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const Joining *joining = context;
    const Doing *doing = joining->doing;
    size_t size = doing->sizes[joining->output];
    (void)member;
    for (size_t piece = first; piece < end; piece++) {
        size_t given = joining->places[piece + 1] - joining->places[piece];
        if (given > 0) /* there may be no memory for nothing */
            memcpy(joining->out + joining->places[piece] * size, piece_cells(doing, piece, joining->output), given * size);
    }
}

/* Copies what pieces have given of a scope below the root, one after the other. */
static void join_given(Doing *doing, size_t tiles, uint32_t output, char *out)
{
    uint32_t scope = doing->scopes[output];
    size_t pieces = piece_count(doing, tiles, scope), *places = doing_reserve(doing, (pieces + 1) * sizeof *places);
    places[0] = 0;
    for (size_t piece = 0; piece < pieces; piece++)
        places[piece + 1] = places[piece] + (size_t)piece_given(doing, piece, scope)[scope];
    size_t each = places[pieces] / (pieces + 1) + 1; /* elements of a piece */
    Joining joining = {doing, output, places, out};
    team_run(doing->vm->team, pieces, team_grain(doing->vm->team, each * COPY_PICOSECONDS), join_pieces, &joining);
}

/* Ends are counted from the start of their piece: those given before are added. */
static void rebase_ends(const Doing *doing, size_t tiles, uint32_t output, int64_t *ends)
{
    const Kernel *kernel = doing->kernel;
    uint32_t scope = doing->scopes[output], of = fuse_scope_of_ends(doing->instance->plan->network, kernel, kernel->outputs.items[output]);
    int64_t before = (int64_t)bundle_positions(doing->instance, doing->bundle)[of];
    for (size_t piece = 0; piece < piece_count(doing, tiles, scope); piece++) {
        const int64_t *given = piece_given(doing, piece, scope);
        size_t count = scope == BUNDLE_ROOT ? (size_t)doing->done[piece] : (size_t)given[scope];
        for (size_t i = 0; i < count; i++)
            ends[i] += before;
        ends += count;
        before += given[of];
    }
}

static bool is_output(const Kernel *kernel, FlowStreamId stream, uint32_t *number)
{
    for (*number = 0; *number < kernel->outputs.count; ++*number)
        if (kernel->outputs.items[*number] == stream)
            return true;
    return false;
}

static void give_stream(Doing *doing, const MadeStream *made, size_t tiles, size_t count)
{
    Instance *instance = doing->instance;
    uint32_t number;
    if (!is_output(doing->kernel, made->stream, &number)) {
        uint64_t anything = 0;
        stream_produce_uniform(doing->vm, instance, made->stream, &anything, count);
        return;
    }
    char *out = doing->outputs[number];
    if (made->scope != BUNDLE_ROOT && !doing->is_direct) {
        out = stream_reserve(doing->vm, instance, made->stream, count);
        join_given(doing, tiles, number, out);
    }
    if (instance->plan->streams[made->stream].type == LEAF_ENDS)
        rebase_ends(doing, tiles, number, (int64_t *)(void *)out);
    stream_produce(instance, made->stream, count);
}

static void give_sinks(Doing *doing, size_t tiles, const size_t *given)
{
    const Kernel *kernel = doing->kernel;
    for (uint32_t i = 0; i < kernel->sinks.count && !doing->is_direct; i++) {
        const KernelSink *sink = &kernel->sinks.items[i];
        if (sink->scope != BUNDLE_ROOT)
            join_given(doing, tiles, kernel->outputs.count + kernel->ordered.count + i,
                       sink_room(doing, sink, elements_to_join(doing, sink, given[sink->scope])));
    }
    for (uint32_t i = 0; i < kernel->sinks.count; i++)
        if (kernel->sinks.items[i].leaf == 0)
            array_count_more(doing->vm->memory, array_of_sink(doing, &kernel->sinks.items[i]), given[kernel->sinks.items[i].scope]);
}

void doing_give_outputs(Doing *doing, size_t tiles, size_t points)
{
    Instance *instance = doing->instance;
    size_t given[KERNEL_SCOPES_MAX] = {points};
    for (uint32_t scope = 1; scope < doing->kernel->scopes.count; scope++)
        given[scope] = doing_given_by(doing, tiles, scope);
    for (uint32_t i = 0; i < doing->bundle->made.count; i++) {
        const MadeStream *made = &doing->bundle->made.items[i];
        if (made->is_given && instance->streams[made->stream].is_read)
            give_stream(doing, made, tiles, given[made->scope]);
    }
    give_sinks(doing, tiles, given);
    uint64_t *positions = bundle_positions(instance, doing->bundle);
    for (uint32_t scope = 0; scope < doing->kernel->scopes.count; scope++) {
        positions[scope] += given[scope];
        bundle_advance_given(doing->vm, instance, doing->bundle, scope, given[scope]);
    }
    bundle_advance_outside(doing->vm, instance, doing->bundle, points);
}

void doing_join_ordered(const Doing *doing, size_t points)
{
    const Kernel *kernel = doing->kernel;
    for (uint32_t i = 0; i < kernel->ordered.count; i++) {
        FlowNodeId id = kernel->ordered.items[i];
        char *given = doing->outputs[kernel->outputs.count + i];
        if (doing->bundle->needs_blocks) /* the last one may be shorter: then nothing follows */
            fold_join_totals(doing_fold(doing, id), doing_running(doing, id), given, (points + COMBINE_BLOCK - 1) / COMBINE_BLOCK);
        else
            fold_add(doing->vm->team, doing_fold(doing, id), doing_running(doing, id), (Cells){.data = given}, points);
    }
}

static void join_total(const Doing *doing, FlowNodeId id, uint64_t *cell)
{
    void *running = doing_running(doing, id);
    const FlowNode *node = doing_node(doing, id);
    if (node->op != FLOW_FOLD)
        *(int64_t *)running += *(const int64_t *)cell;
    else if (node->core_op == OP_COUNT_TRUE)
        fold_join_totals(doing_fold(doing, id), running, cell, 1);
    else
        fold_add(NULL, doing_fold(doing, id), running, (Cells){.data = cell}, 1);
}

void doing_join_totals(const Doing *doing, size_t tiles)
{
    uint32_t count = doing->kernel->totals.count;
    for (size_t tile = 0; tile < tiles; tile++)
        for (uint32_t i = 0; i < count; i++)
            join_total(doing, doing->kernel->totals.items[i], &doing->totals[tile * count + i]);
}
