/* What a kernel whose nodes and scopes are known takes, gives and shares. */
#include "kernel/fuse_private.h"

#include "kernel/members.h"

/* ---- what it takes ---- */

static void add_stream(Arena *arena, void *list, FlowStreamId stream)
{
    VEC(FlowStreamId) *streams = list;
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->items[i] == stream)
            return;
    *vec_push(arena, streams) = stream;
}

static void add_column(Finder *finder, Kernel *kernel, const FlowNode *node, FlowStreamId array)
{
    LeafType type = finder->network->streams.items[node->outputs[0]].type;
    for (uint32_t i = 0; i < kernel->columns.count; i++)
        if (kernel->columns.items[i].array == array && kernel->columns.items[i].leaf == node->leaf)
            return;
    *vec_push(finder->arena, &kernel->columns) = (KernelLeaf){array, node->leaf, type};
}

static bool is_output(const Kernel *kernel, FlowStreamId stream)
{
    for (uint32_t i = 0; i < kernel->outputs.count; i++)
        if (kernel->outputs.items[i] == stream)
            return true;
    return false;
}

/* An operand that is not constant, if others make it. */
static void find_input(Finder *finder, Kernel *kernel, FlowOperand operand)
{
    operand = fuse_resolve(finder->fusion, kernel, operand);
    if (operand.is_constant)
        return;
    if (fuse_is_uniform(finder->network, &operand))
        add_stream(finder->arena, &kernel->uniforms, operand.stream);
    else if (!fuse_is_member(kernel, finder->network->streams.items[operand.stream].node))
        add_stream(finder->arena, &kernel->streams, operand.stream);
}

/* What a node takes from outside, its outputs known. */
static void find_inputs(Finder *finder, Kernel *kernel, const FlowNode *node)
{
    const FlowNetwork *network = finder->network;
    for (uint32_t i = 0; i < fuse_value_inputs(node); i++) {
        FlowOperand operand = fuse_resolve(finder->fusion, kernel, node->inputs[i]);
        bool is_passed_on = (node->op == FLOW_DISTRIBUTE || node->op == FLOW_PACK) && !is_output(kernel, node->outputs[0]);
        if ((is_passed_on && i == 0) || fuse_is_driver(node, i))
            continue;
        bool is_vector = i == 0 && operand.type == LEAF_ARRAY && (node->op == FLOW_SLICES || node->op == FLOW_GATHER);
        bool is_count = node->op == FLOW_RANGE && node->segments == SEGMENTS_SINGLE;
        if (node->op == FLOW_SCATTER && i < SCATTER_LENGTH)
            continue; /* of the vector only the memory of its copy is wanted */
        if (is_vector && fuse_is_uniform(network, &operand))
            add_column(finder, kernel, node, operand.stream);
        else if (!is_count)
            find_input(finder, kernel, operand);
    }
}

/* ---- what it gives ---- */

/* Whether somebody outside reads it, and looks at its elements. */
static void find_use(const Finder *finder, FlowStreamId stream, const Kernel *kernel, bool *is_given, bool *is_looked_at)
{
    Readers readers = finder->readers_of[stream];
    bool is_ends = finder->network->streams.items[stream].type == LEAF_ENDS;
    *is_given = *is_looked_at = false;
    for (uint32_t i = 0; i < readers.count; i++) {
        Reader reader = finder->readers[readers.first + i];
        if (reader.node != NOWHERE && fuse_is_member(kernel, reader.node))
            continue;
        *is_given = true;
        *is_looked_at |= is_ends || reader.node == NOWHERE || !fuse_is_driver(&finder->network->nodes.items[reader.node], reader.input);
    }
}

static void find_outputs(Finder *finder, Kernel *kernel, const FlowNode *node)
{
    const FlowNetwork *network = finder->network;
    for (uint32_t k = 0; k < node->output_count; k++) {
        FlowStreamId stream = node->outputs[k];
        if (stream == 0 || fuse_scope_of_stream(network, kernel, stream) == KERNEL_NO_SCOPE)
            continue;
        bool is_given, is_looked_at;
        find_use(finder, stream, kernel, &is_given, &is_looked_at);
        is_looked_at &= network->streams.items[stream].type != LEAF_POINTS;
        if (is_looked_at)
            *vec_push(finder->arena, &kernel->outputs) = stream;
        else if (is_given)
            *vec_push(finder->arena, &kernel->counted) = stream;
    }
}

static void add_sinks(Finder *finder, Kernel *kernel, FlowNodeId id)
{
    const FlowNode *node = &finder->network->nodes.items[id];
    for (uint32_t leaf = 0; leaf < node->layout->count; leaf++)
        *vec_push(finder->arena, &kernel->sinks) = (KernelSink){.node = id,
                                                                .leaf = leaf,
                                                                .scope = fuse_scope_of_node(finder->network, kernel, node),
                                                                .operand = node->inputs[leaf + 1]};
}

static void add_scatters(Finder *finder, Kernel *kernel, FlowNodeId id)
{
    const FlowNode *node = &finder->network->nodes.items[id];
    for (uint32_t leaf = 0; leaf < node->layout->count; leaf++)
        *vec_push(finder->arena, &kernel->scatters) = (KernelSink){.node = id,
                                                                   .leaf = leaf,
                                                                   .scope = fuse_scope_of_node(finder->network, kernel, node),
                                                                   .operand = node->inputs[SCATTER_LEAVES + leaf]};
}

static void note_given(Kernel *kernel, uint32_t scope, bool is_stored)
{
    if (scope == KERNEL_ROOT || scope == KERNEL_NO_SCOPE)
        return;
    kernel->given |= UINT64_C(1) << scope;
    kernel->stored |= (uint64_t)is_stored << scope;
    for (; is_stored && scope != KERNEL_ROOT; scope = kernel->scopes.items[scope].parent)
        kernel->is_deep |= kernel->scopes.items[scope].kind == SCOPE_LOOP;
}

/* A node whose points are told apart by ends that somebody else makes must go on from the right ones. */
static void note_foreign_ends(const FlowNetwork *network, Kernel *kernel, const FlowNode *node)
{
    if (!member_has_segments(node) || node->segments != SEGMENTS_ENDS)
        return;
    FlowStreamId ends = node->inputs[node->input_count - 1].stream;
    if (!fuse_is_member(kernel, network->streams.items[ends].node))
        note_given(kernel, fuse_scope_of_node(network, kernel, node), false);
}

/* The scopes whose points somebody else sees. */
static void find_given(const FlowNetwork *network, Kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->outputs.count; i++) {
        FlowStreamId stream = kernel->outputs.items[i];
        note_given(kernel, fuse_scope_of_stream(network, kernel, stream), true);
        if (network->streams.items[stream].type == LEAF_ENDS)
            note_given(kernel, fuse_scope_of_ends(network, kernel, stream), false);
    }
    for (uint32_t i = 0; i < kernel->counted.count; i++)
        note_given(kernel, fuse_scope_of_stream(network, kernel, kernel->counted.items[i]), false);
    for (uint32_t i = 0; i < kernel->sinks.count; i++)
        note_given(kernel, kernel->sinks.items[i].scope, true);
    for (uint32_t i = 0; i < kernel->nodes.count; i++)
        note_foreign_ends(network, kernel, &network->nodes.items[kernel->nodes.items[i]]);
}

/* ---- how much of it ---- */

/* What is had of a point of the root without doing loops or filters. */
static bool is_early_node(const FlowNode *node)
{
    switch (node->op) {
    case FLOW_OPERATION:
    case FLOW_COUNT:
    case FLOW_RANGE:
    case FLOW_SLICES:
    case FLOW_INDEX:
    case FLOW_GATHER: return true;
    default: return false;
    }
}

static bool is_early(const Finder *finder, const Kernel *kernel, FlowOperand operand, uint32_t *rest)
{
    operand = fuse_resolve(finder->fusion, kernel, operand);
    if (operand.is_constant || fuse_is_uniform(finder->network, &operand))
        return true;
    FlowNodeId maker = finder->network->streams.items[operand.stream].node;
    if (!fuse_is_member(kernel, maker))
        return true;
    const FlowNode *node = &finder->network->nodes.items[maker];
    if (fuse_scope_of_node(finder->network, kernel, node) != KERNEL_ROOT || !is_early_node(node) || *rest == 0)
        return false;
    --*rest;
    for (uint32_t i = 0; i < fuse_value_inputs(node); i++)
        if (!fuse_is_driver(node, i) && !is_early(finder, kernel, node->inputs[i], rest))
            return false;
    return true;
}

/* Whether a node takes long, and is done to find out how many points there are too: loops are then left out. */
static bool delays_counting(const Finder *finder, const Kernel *kernel, const FlowNode *node)
{
    if (node->op != FLOW_SCALAR_CALL)
        return false;
    uint32_t scope = fuse_scope_of_node(finder->network, kernel, node);
    while (scope != KERNEL_ROOT && kernel->scopes.items[scope].kind != SCOPE_LOOP)
        scope = kernel->scopes.items[scope].parent;
    return scope == KERNEL_ROOT;
}

/* Whether all that is given below the root is of loops right there, as many points of each as is known early, and so is what scans go over. */
static bool can_be_counted(const Finder *finder, const Kernel *kernel)
{
    enum { WORK_MAX = 64 };
    bool result = kernel->is_deep;
    for (uint32_t i = 0; result && i < kernel->scans.count; i++) {
        const FlowNode *scan = &finder->network->nodes.items[kernel->scans.items[i]];
        uint32_t rest = WORK_MAX;
        result = fuse_scope_of_node(finder->network, kernel, scan) == KERNEL_ROOT && is_early(finder, kernel, scan->inputs[0], &rest);
    }
    for (uint32_t i = 1; result && i < kernel->scopes.count; i++) {
        const KernelScope *scope = &kernel->scopes.items[i];
        if ((kernel->given >> i & 1) == 0)
            continue;
        uint32_t rest = WORK_MAX;
        result = scope->kind == SCOPE_LOOP && scope->parent == KERNEL_ROOT;
        for (uint32_t k = 0; result && k < scope->makers.count; k++)
            result = is_early(finder, kernel, finder->network->nodes.items[scope->makers.items[k]].inputs[0], &rest);
    }
    for (uint32_t i = 0; result && i < kernel->nodes.count; i++)
        result = !delays_counting(finder, kernel, &finder->network->nodes.items[kernel->nodes.items[i]]);
    return result;
}

/* ---- loops that calls can share ---- */

bool fuse_is_along_loop(const FlowNetwork *network, const Kernel *kernel, const FlowNode *node)
{
    uint32_t number = fuse_scope_of_node(network, kernel, node);
    const KernelScope *scope = &kernel->scopes.items[number];
    return scope->kind == SCOPE_LOOP && scope->parent == fuse_scope_of_stream(network, kernel, node->outputs[0]);
}

static bool is_below(const Kernel *kernel, uint32_t scope, uint32_t of)
{
    return scope != KERNEL_NO_SCOPE && (kernel->scopes.items[scope].ancestors >> of & 1) != 0;
}

/* The outermost loop that a scope is in; KERNEL_ROOT if it is in none. */
static uint32_t outermost_loop(const Kernel *kernel, uint32_t scope)
{
    uint32_t loop = KERNEL_ROOT;
    for (; scope != KERNEL_ROOT; scope = kernel->scopes.items[scope].parent)
        if (kernel->scopes.items[scope].kind == SCOPE_LOOP)
            loop = scope;
    return loop;
}

/* A reduction or a scan of points in a loop, all of them. */
static bool ends_with_loop(const FlowNetwork *network, const Kernel *kernel, const FlowNode *node, uint32_t loop)
{
    bool is_scan = node->op == FLOW_SCAN && !fuse_goes_on(network, node);
    return (fuse_is_reduction(node) || is_scan) && is_below(kernel, fuse_scope_of_node(network, kernel, node), loop) &&
           fuse_parent_scope(network, kernel, node) == kernel->scopes.items[loop].parent;
}

static void mark_needed_node(const FlowNetwork *network, const Kernel *kernel, FlowNodeId id, bool *is_needed)
{
    int position = fuse_position_of(kernel, id);
    if (position < 0 || is_needed[position])
        return;
    is_needed[position] = true;
    const FlowNode *node = &network->nodes.items[id];
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!node->inputs[i].is_constant && !fuse_is_driver(node, i))
            fuse_mark_needed(network, kernel, node->inputs[i].stream, is_needed);
    for (uint32_t scope = fuse_scope_of_node(network, kernel, node); scope != KERNEL_NO_SCOPE && scope != KERNEL_ROOT; scope = kernel->scopes.items[scope].parent) {
        const KernelScope *around = &kernel->scopes.items[scope];
        if (around->kind == SCOPE_IF)
            fuse_mark_needed(network, kernel, around->flags, is_needed);
        for (uint32_t i = 0; i < around->makers.count; i++)
            mark_needed_node(network, kernel, around->makers.items[i], is_needed);
    }
}

void fuse_mark_needed(const FlowNetwork *network, const Kernel *kernel, FlowStreamId stream, bool *is_needed)
{
    mark_needed_node(network, kernel, network->streams.items[stream].node, is_needed);
}

/* Whether what a scan comes to in a part of a loop is known without what comes before it: it needs no other scan of the loop. */
static bool has_totals_alone(const Finder *finder, const Kernel *kernel, const FlowNode *scan, uint32_t loop)
{
    const FlowNetwork *network = finder->network;
    bool *is_needed = ARENA_ARRAY(finder->arena, bool, kernel->nodes.count);
    fuse_mark_needed(network, kernel, scan->outputs[0], is_needed);
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &network->nodes.items[kernel->nodes.items[i]];
        if (is_needed[i] && node != scan && node->op == FLOW_SCAN && ends_with_loop(network, kernel, node, loop))
            return false;
    }
    return true;
}

/* Whether a node inside of a loop leaves nothing behind but elements that follow each other and what the loop's reductions and scans come to, in whatever order its parts are done. Where those
 * whose order matters have only some of the points, it is not known where their blocks begin. */
static bool can_be_in_parts(const Finder *finder, const Kernel *kernel, const FlowNode *node, uint32_t loop)
{
    const FlowNetwork *network = finder->network;
    if (node->op == FLOW_SCATTER)
        return false;
    if ((!fuse_is_reduction(node) && node->op != FLOW_SCAN) || is_below(kernel, fuse_parent_scope(network, kernel, node), loop))
        return true;
    if (!ends_with_loop(network, kernel, node, loop))
        return false;
    if (node->op == FLOW_SCAN)
        return (!member_is_ordered(node) || fuse_scope_of_node(network, kernel, node) == loop) && has_totals_alone(finder, kernel, node, loop);
    return !member_is_ordered(node) || fuse_is_along_loop(network, kernel, node);
}

static bool can_be_shared(const Finder *finder, const Kernel *kernel, uint32_t loop)
{
    const FlowNetwork *network = finder->network;
    if (outermost_loop(kernel, loop) != loop)
        return false;
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &network->nodes.items[kernel->nodes.items[i]];
        if (is_below(kernel, fuse_scope_of_node(network, kernel, node), loop) && !can_be_in_parts(finder, kernel, node, loop))
            return false;
    }
    return true;
}

/* Every call that does a part of one loop goes through the others of its point that are not known: these must not give elements, each time anew. */
static bool gives_elsewhere(const Kernel *kernel)
{
    for (uint32_t scope = 1; scope < kernel->scopes.count; scope++) {
        uint32_t loop = outermost_loop(kernel, scope);
        if ((kernel->given >> scope & 1) != 0 && loop != KERNEL_ROOT && (kernel->shared >> loop & 1) == 0)
            return true;
    }
    return false;
}

static void find_shared(Finder *finder, Kernel *kernel)
{
    for (uint32_t loop = 1; loop < kernel->scopes.count; loop++)
        kernel->shared |= (uint64_t)can_be_shared(finder, kernel, loop) << loop;
    if (gives_elsewhere(kernel))
        kernel->shared = 0;
    for (uint32_t loop = 1; loop < kernel->scopes.count; loop++)
        for (uint32_t i = 0; i < kernel->nodes.count && (kernel->shared >> loop & 1) != 0; i++)
            if (ends_with_loop(finder->network, kernel, &finder->network->nodes.items[kernel->nodes.items[i]], loop))
                *vec_push(finder->arena, &kernel->partials) = (KernelPartial){kernel->nodes.items[i], loop};
}

/* ---- all of it ---- */

void fuse_find_lists(Finder *finder, Kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        FlowNodeId id = kernel->nodes.items[i];
        const FlowNode *node = &finder->network->nodes.items[id];
        find_outputs(finder, kernel, node);
        find_inputs(finder, kernel, node);
        kernel->has_loops |= node->op == FLOW_SCALAR_CALL;
        if (node->op == FLOW_COLLECT)
            add_sinks(finder, kernel, id);
        if (node->op == FLOW_SCATTER)
            add_scatters(finder, kernel, id);
        if (fuse_goes_on(finder->network, node))
            *vec_push(finder->arena, &kernel->scans) = id;
        if (fuse_is_total(finder->network, node))
            *(member_is_ordered(node) ? vec_push(finder->arena, &kernel->ordered)
                                      : vec_push(finder->arena, &kernel->totals)) = id;
    }
    for (uint32_t i = 0; i < kernel->scopes.count; i++) {
        const KernelScope *scope = &kernel->scopes.items[i];
        kernel->has_loops |= scope->kind == SCOPE_LOOP;
        if (scope->kind == SCOPE_IF)
            find_input(finder, kernel, (FlowOperand){.type = (LeafType)SCALAR_BOOL, .stream = scope->flags});
    }
    find_given(finder->network, kernel);
    kernel->is_counted = can_be_counted(finder, kernel);
    find_shared(finder, kernel);
}
