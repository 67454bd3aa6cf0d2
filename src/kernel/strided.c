#include "kernel/strided.h"

#include "kernel/members.h"

enum { LOOP = 1, SCOPES = 2 }; /* the root, and one loop in it */

typedef struct Finder {
    const Fusion *fusion;
    const FlowNetwork *network;
    const Kernel *kernel;
    bool *is_affine; /* by position in the kernel: one step more at each turn of the loop */
} Finder;

static bool is_inside_loop(const Finder *f, const FlowNode *node)
{
    return fuse_scope_of_node(f->network, f->kernel, node) == LOOP;
}

/* Of operands that are made in the loop, the position of their node; -1 for what is the same at all its turns. */
static int position_in_loop(const Finder *f, FlowOperand operand)
{
    operand = fuse_resolve(f->fusion, f->kernel, operand);
    FlowNodeId maker = operand.is_constant ? 0 : f->network->streams.items[operand.stream].node;
    for (uint32_t i = 0; !operand.is_constant && i < f->kernel->nodes.count; i++)
        if (f->kernel->nodes.items[i] == maker)
            return is_inside_loop(f, &f->network->nodes.items[maker]) ? (int)i : -1;
    return -1;
}

static bool is_affine(const Finder *f, FlowOperand operand)
{
    int position = position_in_loop(f, operand);
    return position < 0 || f->is_affine[position];
}

static bool is_affine_operation(const Finder *f, const FlowNode *node)
{
    if (node->op != FLOW_OPERATION || node->scalar != SCALAR_I64)
        return false;
    switch ((int)node->core_op) {
    case OP_ADD:
    case OP_SUBTRACT: return is_affine(f, node->inputs[0]) && is_affine(f, node->inputs[1]);
    case OP_MULTIPLY:
        return is_affine(f, node->inputs[0]) && is_affine(f, node->inputs[1]) &&
               (position_in_loop(f, node->inputs[0]) < 0 || position_in_loop(f, node->inputs[1]) < 0);
    default: return false;
    }
}

/* Whether a node of the loop may be there; marks those that are affine. */
static bool accepts(Finder *f, uint32_t position)
{
    const FlowNode *node = &f->network->nodes.items[f->kernel->nodes.items[position]];
    switch (node->op) {
    case FLOW_RANGE:
    case FLOW_LOCAL_INDEX: return f->is_affine[position] = true;
    case FLOW_DISTRIBUTE: return true;
    case FLOW_SCATTER:
        return is_affine(f, node->inputs[SCATTER_INDEX]) && position_in_loop(f, node->inputs[SCATTER_INDEX]) >= 0 &&
               fuse_is_uniform(f->network, &node->inputs[SCATTER_LENGTH]);
    default: return fuse_is_structure(node) || (f->is_affine[position] = is_affine_operation(f, node));
    }
}

/* Whether nothing is left of it but what was replaced, at places that one node gives. */
static bool only_replaces(const Kernel *kernel)
{
    for (uint32_t i = 1; i < kernel->scatters.count; i++)
        if (kernel->scatters.items[i].node != kernel->scatters.items[0].node)
            return false;
    return kernel->scatters.count > 0 && kernel->outputs.count + kernel->ordered.count + kernel->sinks.count == 0 && kernel->given == 0 &&
           kernel->totals.count + kernel->scans.count + kernel->counted.count == 0;
}

static bool has_plain_values(const Finder *f)
{
    for (uint32_t i = 0; i < f->kernel->scatters.count; i++) {
        FlowOperand value = fuse_resolve(f->fusion, f->kernel, f->kernel->scatters.items[i].operand);
        if (!value.is_constant && !fuse_is_uniform(f->network, &value))
            return false;
    }
    return true;
}

bool strided_is(Arena *arena, const Fusion *fusion, const Kernel *kernel)
{
    Finder finder = {fusion, fusion->network, kernel, NULL};
    if (kernel->scopes.count != SCOPES || kernel->scopes.items[LOOP].kind != SCOPE_LOOP || !only_replaces(kernel) || !has_plain_values(&finder))
        return false;
    finder.is_affine = ARENA_ARRAY(arena, bool, kernel->nodes.count);
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &fusion->network->nodes.items[kernel->nodes.items[i]];
        if (node->op == FLOW_SCALAR_CALL || (is_inside_loop(&finder, node) && !accepts(&finder, i)))
            return false;
    }
    return true;
}
