#include "vm/bundle_rows.h"
#include "vm/bundle_spill.h"

#include "base/least.h"

enum { POINTS_LEAST = 2 * COMBINE_BLOCK }; /* buffers must hold so many for reductions to get whole blocks */

void bundles_find(Vm *vm, Plan *plan)
{
    plan->bundles = ARENA_ARRAY(&vm->arena, Bundle, plan->node_count);
    if (!vm->options.compiles || !bundle_kernels_find(vm, plan))
        bundle_tiles_find(vm, plan);
}

/* ---- making one ---- */

Bundle *bundle_add(Plan *plan, uint32_t points, uint32_t scope_count)
{
    Bundle *bundle = &plan->bundles[plan->bundle_count++];
    *bundle = (Bundle){.points = points, .scope_count = scope_count, .first_position = plan->position_count};
    plan->position_count += scope_count;
    return bundle;
}

bool bundle_is_by_point(const Plan *plan, const Bundle *bundle, const InputPlan *input)
{
    return input->mode == INPUT_STREAM && plan_stream_points(plan, input->stream) == bundle->points;
}

bool bundle_is_read_elsewhere(const Plan *plan, FlowStreamId stream, uint32_t number)
{
    const StreamPlan *made = &plan->streams[stream];
    for (uint32_t i = 0; i < made->reader_count; i++)
        if (made->readers[i].node == NO_NODE || plan->nodes[made->readers[i].node].bundle != number)
            return true;
    return false;
}

static uint32_t scope_of(const Plan *plan, const Kernel *kernel, FlowStreamId stream)
{
    return kernel == NULL ? BUNDLE_ROOT : fuse_scope_of_stream(plan->network, kernel, stream);
}

static void add_input(Vm *vm, Plan *plan, Bundle *bundle, uint32_t cursor, uint32_t number, const Kernel *kernel)
{
    const InputPlan *input = &plan->inputs[cursor];
    if (input->mode == INPUT_CONSTANT)
        return;
    bool is_made_inside = plan->nodes[plan->streams[input->stream].node].bundle == number;
    uint32_t scope = is_made_inside && input->mode == INPUT_STREAM ? scope_of(plan, kernel, input->stream) : KERNEL_NO_SCOPE;
    if (scope != KERNEL_NO_SCOPE) {
        InsideCursor inside = {cursor, scope};
        *vec_push(&vm->arena, &bundle->inside) = inside;
        if (bundle_is_read_elsewhere(plan, input->stream, number))
            *vec_push(&vm->arena, &bundle->given) = inside;
    } else if (bundle_is_by_point(plan, bundle, input))
        *vec_push(&vm->arena, &bundle->outside) = cursor;
    else
        *vec_push(&vm->arena, &bundle->uniform) = cursor;
}

void bundle_add_member(Vm *vm, Plan *plan, Bundle *bundle, FlowNodeId id, const Kernel *kernel)
{
    const NodePlan *node = &plan->nodes[id];
    *vec_push(&vm->arena, &bundle->nodes) = id;
    if (node->node->op == FLOW_RANGE && node->node->segments == SEGMENTS_SINGLE)
        *vec_push(&vm->arena, &bundle->counts) = node->first_cursor;
    for (uint32_t i = 0; i < node->node->input_count; i++)
        add_input(vm, plan, bundle, node->first_cursor + i, node->bundle, kernel);
    for (uint32_t i = 0; i < node->node->output_count; i++) {
        FlowStreamId stream = node->node->outputs[i];
        uint32_t scope = stream == 0 ? KERNEL_NO_SCOPE : scope_of(plan, kernel, stream);
        bool is_on_unit = stream != 0 && plan_stream_points(plan, stream) == FLOW_UNIT;
        if (scope != KERNEL_NO_SCOPE && !is_on_unit)
            *vec_push(&vm->arena, &bundle->made) =
                (MadeStream){stream, scope, bundle_is_read_elsewhere(plan, stream, node->bundle)};
    }
}

/* ---- dissolving ---- */

static void free_rows(Vm *vm, BundleState *state)
{
    bundle_rows_free(vm, state->rows);
    state->rows = NULL;
}

static void dissolve(Vm *vm, Instance *instance, uint32_t number)
{
    const Plan *plan = instance->plan;
    const Bundle *bundle = &plan->bundles[number];
    const uint64_t *positions = bundle_positions(instance, bundle);
    instance->bundles[number].is_active = false;
    free_rows(vm, &instance->bundles[number]);
    for (uint32_t i = 0; i < bundle->nodes.count; i++) {
        const NodePlan *node = &plan->nodes[bundle->nodes.items[i]];
        if (node->kind->skip != NULL)
            node->kind->skip(node->node, instance_state(instance, node), positions[node->scope], positions[node->parent_scope]);
        instance_wake(instance, bundle->nodes.items[i]);
    }
    for (uint32_t i = 0; i < bundle->made.count; i++) {
        const MadeStream *made = &bundle->made.items[i];
        if (made->is_given)
            continue;
        instance->streams[made->stream].base = positions[made->scope];
        instance->streams[made->stream].holding = 0;
    }
    for (uint32_t i = 0; i < bundle->inside.count; i++)
        instance->cursors[bundle->inside.items[i].cursor] = positions[bundle->inside.items[i].scope];
}

bool bundles_dissolve(Vm *vm, Instance *instance)
{
    bool has_dissolved = false;
    for (uint32_t i = 0; i < instance->plan->bundle_count; i++)
        if (instance->bundles[i].is_active) {
            dissolve(vm, instance, i);
            has_dissolved = true;
        }
    return has_dissolved;
}

/* ---- what can be done ---- */

static bool has_values(const Instance *instance, const NumberList *cursors)
{
    for (uint32_t i = 0; i < cursors->count; i++)
        if (instance->streams[instance->plan->inputs[cursors->items[i]].stream].count == 0)
            return false;
    return true;
}

void bundles_free(Vm *vm, Instance *instance)
{
    for (uint32_t i = 0; i < instance->plan->bundle_count; i++) {
        free_rows(vm, &instance->bundles[i]);
        bundle_spills_free(&instance->bundles[i]);
    }
}

const void *bundle_uniform_cell(const Instance *instance, FlowStreamId id)
{
    const Stream *stream = &instance->streams[id];
    return stream_cells(stream, instance->plan->streams[id].size, stream->base).data;
}

int64_t bundle_uniform_integer(const Instance *instance, FlowOperand operand)
{
    return operand.is_constant ? operand.constant.integer : *(const int64_t *)bundle_uniform_cell(instance, operand.stream);
}

Cells bundle_operand_cells(const Instance *instance, const Bundle *bundle, uint32_t cursor)
{
    const InputPlan *input = &instance->plan->inputs[cursor];
    if (input->mode == INPUT_CONSTANT)
        return (Cells){.data = &input->constant, .is_uniform = true};
    const Stream *stream = &instance->streams[input->stream];
    bool has_points = bundle_is_by_point(instance->plan, bundle, input);
    Cells cells = stream_cells(stream, input->size, has_points ? instance->cursors[cursor] : stream->base);
    cells.is_uniform |= !has_points;
    return cells;
}

typedef struct Prospect {
    size_t count;    /* points that can be done now */
    bool is_over;    /* there will be no more than these */
    bool is_cramped; /* buffers are too small for whole blocks */
} Prospect;

static void look_at_count(const Instance *instance, const Bundle *bundle, uint32_t cursor, uint64_t position, Prospect *prospect)
{
    uint64_t rest = *(const uint64_t *)bundle_operand_cells(instance, bundle, cursor).data - position;
    prospect->is_over |= rest <= prospect->count;
    prospect->count = least(prospect->count, rest);
}

static void look_at_inputs(const Instance *instance, const Bundle *bundle, Prospect *prospect)
{
    for (uint32_t i = 0; i < bundle->outside.count; i++) {
        uint32_t cursor = bundle->outside.items[i];
        const Stream *stream = &instance->streams[instance->plan->inputs[cursor].stream];
        size_t available = (size_t)(stream_end(stream) - instance->cursors[cursor]);
        prospect->is_over |= stream->is_closed && available <= prospect->count;
        prospect->is_cramped |= stream->limit < POINTS_LEAST && !stream->is_closed;
        prospect->count = least(prospect->count, available);
    }
}

/* There is room for one element for each point, on filters too. */
static void look_at_outputs(Instance *instance, const Bundle *bundle, Prospect *prospect)
{
    for (uint32_t i = 0; i < bundle->made.count; i++)
        if (bundle->made.items[i].is_given) {
            Stream *stream = &instance->streams[bundle->made.items[i].stream];
            size_t room = stream_room(stream);
            prospect->is_over &= room >= prospect->count;
            prospect->is_cramped |= stream->limit < POINTS_LEAST;
            prospect->count = least(prospect->count, room);
        }
}

static bool is_partly_unread(const Instance *instance, const Bundle *bundle)
{
    for (uint32_t i = 0; i < bundle->nodes.count; i++)
        if ((instance->status[bundle->nodes.items[i]] & NODE_UNREAD) != 0)
            return true;
    return false;
}

static Prospect look(const Vm *vm, Instance *instance, const Bundle *bundle)
{
    Prospect prospect = {.count = bundle->kernel != NULL ? bundle_kernel_most(vm, bundle) : (size_t)BUNDLE_POINTS_MAX * vm->options.threads};
    for (uint32_t i = 0; i < bundle->counts.count; i++)
        look_at_count(instance, bundle, bundle->counts.items[i], bundle_positions(instance, bundle)[BUNDLE_ROOT], &prospect);
    look_at_inputs(instance, bundle, &prospect);
    look_at_outputs(instance, bundle, &prospect);
    if (bundle->kernel != NULL)
        prospect.count = bundle_kernel_limit(vm, bundle, prospect.count, prospect.is_over);
    else if (bundle->needs_blocks)
        prospect.count -= prospect.count % COMBINE_BLOCK;
    return prospect;
}

/* ---- doing it ---- */

void bundle_advance_outside(Vm *vm, Instance *instance, const Bundle *bundle, size_t count)
{
    for (uint32_t i = 0; i < bundle->outside.count; i++) {
        uint32_t cursor = bundle->outside.items[i];
        uint64_t before = instance->cursors[cursor];
        instance->cursors[cursor] = before + count;
        stream_leave(vm, instance, instance->plan->inputs[cursor].stream, before);
    }
}

void bundle_advance_given(Vm *vm, Instance *instance, const Bundle *bundle, uint32_t scope, size_t count)
{
    for (uint32_t i = 0; i < bundle->given.count; i++) {
        uint32_t cursor = bundle->given.items[i].cursor;
        uint64_t before = instance->cursors[cursor];
        if (bundle->given.items[i].scope != scope)
            continue;
        instance->cursors[cursor] = before + count;
        stream_leave(vm, instance, instance->plan->inputs[cursor].stream, before);
    }
}

static bool do_points(Vm *vm, Instance *instance, Bundle *bundle, size_t count)
{
    return bundle->kernel != NULL ? bundle_kernel_do(vm, instance, bundle, count) : bundle_tiles_do(vm, instance, bundle, count);
}

uint64_t bundle_points_done(const Instance *instance, FlowNodeId node)
{
    uint32_t number = instance->plan->nodes[node].bundle;
    return number == 0 ? 0 : bundle_positions(instance, &instance->plan->bundles[number - 1])[BUNDLE_ROOT];
}

bool bundle_fire(Vm *vm, Instance *instance, FlowNodeId node)
{
    const Plan *plan = instance->plan;
    if (plan->nodes[node].bundle == 0)
        return false;
    uint32_t number = plan->nodes[node].bundle - 1;
    Bundle *bundle = &plan->bundles[number];
    if (!instance->bundles[number].is_active)
        return false;
    if (!has_values(instance, &bundle->uniform))
        return true;
    Prospect prospect = look(vm, instance, bundle);
    bool must_wait = prospect.count == 0 && !prospect.is_over && !(prospect.is_cramped && bundle->needs_blocks);
    if (must_wait)
        return true;
    if (prospect.count > 0 && !is_partly_unread(instance, bundle) && do_points(vm, instance, bundle, prospect.count)) {
        instance_wake(instance, node);
    } else
        dissolve(vm, instance, number);
    return true;
}
