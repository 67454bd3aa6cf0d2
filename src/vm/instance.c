/* Instances, and what firing functions do with them. */
#include "vm/call.h"

#include <string.h>

enum { SPARE_BYTES = 1 << 20 }; /* kept for each network */

/* ---- making ---- */

static void *table(Instance *instance, uint32_t offset)
{
    return (char *)(void *)instance + offset;
}

static Instance *take_block(Vm *vm, Plan *plan)
{
    Instance *instance = plan->spare;
    if (instance == NULL)
        return memory_resize(vm->memory, NULL, 0, plan->instance_size);
    plan->spare = instance->next;
    plan->spare_count--;
    return instance;
}

void instance_place_tables(Instance *instance, const Plan *plan)
{
    instance->streams = (Stream *)(instance + 1);
    instance->cursors = table(instance, plan->cursors_at);
    instance->status = table(instance, plan->status_at);
    instance->waits = table(instance, plan->waits_at);
    instance->ready = table(instance, plan->ready_at);
    instance->calls = table(instance, plan->calls_at);
    instance->bundles = table(instance, plan->bundles_at);
    instance->positions = table(instance, plan->positions_at);
}

Instance *instance_new(Vm *vm, Plan *plan)
{
    plan_compile(vm, plan);
    Instance *instance = take_block(vm, plan);
    chunks_follow(vm, plan->image);
    memcpy(instance, plan->image, plan->instance_size);
    instance_place_tables(instance, plan);
    return instance;
}

void instance_borrow(Instance *instance, FlowStreamId id, Cells cells, size_t count)
{
    Stream *stream = &instance->streams[id];
    if (id == 0 || !stream->is_read)
        return;
    stream->is_borrowed = true;
    stream->is_uniform = cells.is_uniform;
    if (cells.is_uniform)
        memcpy(&stream->cell, cells.data, instance->plan->streams[id].size);
    else
        stream->data = (void *)cells.data;
    stream->count = (uint32_t)count;
}

/* ---- ending ---- */

static void release_state(Vm *vm, Instance *instance, FlowNodeId id)
{
    const NodePlan *node = &instance->plan->nodes[id];
    if (node->kind->release != NULL)
        node->kind->release(vm, node->node, instance_state(instance, node));
    if (node->call != UINT32_MAX && instance->calls[node->call] != NULL) {
        call_free(vm, instance->calls[node->call]);
        instance->calls[node->call] = NULL;
    }
}

static void let_go_of_inputs(Vm *vm, Instance *instance, const NodePlan *node)
{
    for (uint32_t i = 0; i < node->node->input_count; i++) {
        uint32_t cursor = node->first_cursor + i;
        uint64_t before = instance->cursors[cursor];
        if (before == CURSOR_DONE)
            continue;
        instance->cursors[cursor] = CURSOR_DONE;
        const InputPlan *input = &instance->plan->inputs[cursor];
        if (input->mode == INPUT_CONSTANT)
            continue;
        const Stream *stream = &instance->streams[input->stream];
        if (!stream->is_closed || before < stream_end(stream)) /* else it has held nothing back */
            stream_leave(vm, instance, input->stream, before);
    }
}

static void end_node(Vm *vm, Instance *instance, FlowNodeId id)
{
    instance->status[id] |= NODE_DONE;
    instance->unfinished--;
    release_state(vm, instance, id);
    let_go_of_inputs(vm, instance, &instance->plan->nodes[id]);
}

void instance_finish_node(Vm *vm, Instance *instance, FlowNodeId id)
{
    const NodePlan *node = &instance->plan->nodes[id];
    end_node(vm, instance, id);
    for (uint32_t i = 0; i < node->node->output_count; i++)
        if (node->node->outputs[i] != 0)
            stream_close(vm, instance, node->node->outputs[i]);
    for (uint32_t i = 0; i < node->later_count; i++)
        if (--instance->waits[node->later[i]] == 0)
            instance_wake(instance, node->later[i]);
}

void instance_cut_node(Vm *vm, Instance *instance, FlowNodeId id)
{
    const FlowNode *node = instance->plan->nodes[id].node;
    end_node(vm, instance, id);
    instance->status[id] |= NODE_CUT;
    for (uint32_t i = 0; i < node->output_count; i++)
        instance->streams[node->outputs[i]].is_cut = true; /* stream 0 is nobody's */
}

void instance_free(Vm *vm, Instance *instance)
{
    Plan *plan = instance->plan;
    for (FlowNodeId id = 0; instance->unfinished > 0 && id < plan->node_count; id++)
        if ((instance->status[id] & NODE_DONE) == 0)
            release_state(vm, instance, id);
    for (uint32_t i = 1; i < plan->stream_count; i++)
        if (instance->streams[i].count > 0 || instance->streams[i].data != NULL)
            stream_free(vm, &instance->streams[i], plan->streams[i].type);
    instance_free_failures(vm, instance);
    bundles_free(vm, instance);
    if (plan->instance_size * (plan->spare_count + 1) > SPARE_BYTES) {
        memory_free(vm->memory, instance, plan->instance_size);
        return;
    }
    instance->next = plan->spare;
    plan->spare = instance;
    plan->spare_count++;
}

void instance_free_spares(Vm *vm, Plan *plan)
{
    while (plan->spare != NULL) {
        Instance *instance = plan->spare;
        plan->spare = instance->next;
        memory_free(vm->memory, instance, plan->instance_size);
    }
    plan->spare_count = 0;
}
