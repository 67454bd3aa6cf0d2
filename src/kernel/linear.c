#include "kernel/linear.h"

#include "kernel/linear_form.h"
#include "kernel/members.h"

typedef struct Finder {
    const Fusion *fusion;
    const FlowNetwork *network;
    const Kernel *kernel;
    Form *forms; /* of the first output, by position in the kernel */
} Finder;

enum { NODES_MAX = 1000 }; /* larger kernels are left as they are: looking takes time */

static const Form unknown = {DEPENDS_OTHERWISE, false, false};

static Form form_of(const Finder *f, FlowOperand operand)
{
    operand = fuse_resolve(f->fusion, f->kernel, operand);
    if (!operand.is_constant && fuse_is_uniform(f->network, &operand))
        return (Form){DEPENDS_NOT, false, false};
    if (!operand.is_constant) {
        int position = fuse_position_of(f->kernel, f->network->streams.items[operand.stream].node);
        return position < 0 ? unknown : f->forms[position];
    }
    return operand.type < (LeafType)SCALAR_COUNT ? form_of_constant((ScalarType)operand.type, operand.constant) : (Form){DEPENDS_NOT, false, false};
}

static Form form_of_node_operation(const Finder *f, const FlowNode *node)
{
    enum { BINARY = 2 };
    Form forms[BINARY] = {{DEPENDS_NOT, true, true}, {DEPENDS_NOT, true, true}};
    bool is_fixed = true;
    for (uint32_t i = 0; i < node->input_count; i++) {
        Form form = form_of(f, node->inputs[i]);
        is_fixed &= form.dependence == DEPENDS_NOT;
        if (i < BINARY)
            forms[i] = form;
    }
    const Scalar *second = node->input_count == BINARY && node->inputs[1].is_constant ? &node->inputs[1].constant : NULL;
    Form form = node->input_count <= BINARY ? form_of_operation(node->core_op, node->scalar, forms[0], forms[1], second) : unknown;
    if (is_fixed)
        form.dependence = DEPENDS_NOT;
    return form;
}

static Form fixed_if_inputs_are(const Finder *f, const FlowNode *node)
{
    for (uint32_t i = 0; i < fuse_value_inputs(node); i++)
        if (!fuse_is_driver(node, i) && form_of(f, node->inputs[i]).dependence != DEPENDS_NOT)
            return unknown;
    return (Form){DEPENDS_NOT, false, false};
}

static Form form_of_index(const Finder *f, const FlowNode *node)
{
    bool is_root = fuse_scope_of_node(f->network, f->kernel, node) == KERNEL_ROOT;
    return (Form){is_root ? DEPENDS_LINEARLY : DEPENDS_NOT, true, false};
}

static Form form_of_slices(const Finder *f, const FlowNode *node)
{
    return fuse_scope_of_node(f->network, f->kernel, node) == KERNEL_ROOT ? unknown : fixed_if_inputs_are(f, node);
}

static Form form_of_merge(const Finder *f, const FlowNode *node)
{
    Form selector = form_of(f, node->inputs[0]), no = form_of(f, node->inputs[1]), yes = form_of(f, node->inputs[2]);
    Form values = {forms_both(no, yes), no.is_natural && yes.is_natural, no.is_bit && yes.is_bit};
    values.dependence = forms_product(selector, values);
    return values;
}

/* Its elements, as far as the filters between them and the root's points let them through, combined by exclusive or. */
static Form form_of_fold(const Finder *f, const FlowNode *node)
{
    Form form = form_of(f, node->inputs[0]);
    uint32_t scope = fuse_scope_of_node(f->network, f->kernel, node);
    if (node->op != FLOW_FOLD || member_scan_operator(node) != OP_PARITY || scope == KERNEL_NO_SCOPE || fuse_is_total(f->network, node) ||
        fuse_parent_scope(f->network, f->kernel, node) != KERNEL_ROOT)
        return unknown;
    for (; f->kernel->scopes.items[scope].kind == SCOPE_IF; scope = f->kernel->scopes.items[scope].parent) {
        FlowOperand flags = {.type = (LeafType)SCALAR_BOOL, .stream = f->kernel->scopes.items[scope].flags};
        form.dependence = forms_product(form, form_of(f, flags));
    }
    return form;
}

/* On a filter outside of loops. */
static bool is_on_filter_of_root(const Finder *f, const FlowNode *node)
{
    uint32_t scope = fuse_scope_of_node(f->network, f->kernel, node);
    if (scope == KERNEL_NO_SCOPE || scope == KERNEL_ROOT)
        return false;
    while (f->kernel->scopes.items[scope].kind == SCOPE_IF)
        scope = f->kernel->scopes.items[scope].parent;
    return scope == KERNEL_ROOT;
}

static Form form_of_node(const Finder *f, const FlowNode *node)
{
    if (is_on_filter_of_root(f, node))
        return unknown;
    switch (node->op) {
    case FLOW_RANGE:
    case FLOW_LOCAL_INDEX: return form_of_index(f, node);
    case FLOW_SLICES: return form_of_slices(f, node);
    case FLOW_INDEX:
    case FLOW_GATHER: return fixed_if_inputs_are(f, node);
    case FLOW_OPERATION: return form_of_node_operation(f, node);
    case FLOW_MERGE: return form_of_merge(f, node);
    case FLOW_FOLD: return form_of_fold(f, node);
    default: return unknown;
    }
}

static bool is_output(const Kernel *kernel, FlowStreamId stream)
{
    for (uint32_t i = 0; i < kernel->outputs.count; i++)
        if (kernel->outputs.items[i] == stream)
            return true;
    return false;
}

/* Whether a node inside of a loop leaves nothing but results that are linear. */
static bool serves_linear_results(const Finder *f, FlowNodeId id)
{
    const FlowNode *node = &f->network->nodes.items[id];
    if (fuse_is_reduction(node))
        return f->forms[fuse_position_of(f->kernel, id)].dependence == DEPENDS_LINEARLY;
    for (uint32_t i = 0; i < node->output_count; i++)
        if (is_output(f->kernel, node->outputs[i]))
            return false;
    bool is_known = f->forms[fuse_position_of(f->kernel, id)].dependence != DEPENDS_OTHERWISE;
    return is_known || node->op == FLOW_PACK || node->op == FLOW_DISTRIBUTE || node->op == FLOW_FILTER || fuse_is_structure(node);
}

static bool is_linear_scope(const Finder *f, uint32_t number, bool *has_results)
{
    const KernelScope *scope = &f->kernel->scopes.items[number];
    if ((f->kernel->given >> number & 1) != 0)
        return false;
    for (uint32_t i = 0; i < scope->body.count; i++) {
        KernelUnit unit = scope->body.items[i];
        bool is_loop = unit.is_scope && f->kernel->scopes.items[unit.index].kind == SCOPE_LOOP;
        if (is_loop || !(unit.is_scope ? is_linear_scope(f, unit.index, has_results) : serves_linear_results(f, unit.index)))
            return false;
        *has_results |= !unit.is_scope && fuse_is_reduction(&f->network->nodes.items[unit.index]);
    }
    return true;
}

/* As many turns at every point of the root. */
static bool has_fixed_count(const Finder *f, const KernelScope *loop)
{
    for (uint32_t i = 0; i < loop->makers.count; i++)
        if (form_of(f, f->network->nodes.items[loop->makers.items[i]].inputs[0]).dependence != DEPENDS_NOT)
            return false;
    return true;
}

static void mark_needed(const Finder *f, bool *is_needed, FlowOperand operand)
{
    operand = fuse_resolve(f->fusion, f->kernel, operand);
    int position = operand.is_constant ? -1 : fuse_position_of(f->kernel, f->network->streams.items[operand.stream].node);
    if (position < 0 || is_needed[position])
        return;
    is_needed[position] = true;
    const FlowNode *node = &f->network->nodes.items[f->kernel->nodes.items[position]];
    for (uint32_t i = 0; i < node->input_count; i++)
        mark_needed(f, is_needed, node->inputs[i]);
}

static void mark_needed_in(const Finder *f, bool *is_needed, uint32_t scope)
{
    for (uint32_t i = 0; i < f->kernel->nodes.count; i++) {
        const FlowNode *node = &f->network->nodes.items[f->kernel->nodes.items[i]];
        uint32_t own = fuse_scope_of_node(f->network, f->kernel, node);
        bool is_inside = own != KERNEL_NO_SCOPE && (f->kernel->scopes.items[own].ancestors >> scope & 1) != 0;
        for (uint32_t k = 0; is_inside && k < node->input_count; k++)
            mark_needed(f, is_needed, node->inputs[k]);
    }
}

/* Whether all points are taken once, one after the other. */
static bool is_plain(const FlowNetwork *network, const Kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nodes.count; i++)
        if (network->nodes.items[kernel->nodes.items[i]].op == FLOW_SCALAR_CALL)
            return false;
    return kernel->scans.count == 0 && !kernel->is_deep && kernel->nodes.count <= NODES_MAX;
}

LinearLoops linear_find(Arena *arena, const Fusion *fusion, const Kernel *kernel)
{
    LinearLoops loops = {0};
    if (kernel->scopes.count == 1 || !is_plain(fusion->network, kernel))
        return loops;
    Finder finder = {fusion, fusion->network, kernel, ARENA_ARRAY(arena, Form, kernel->nodes.count)};
    for (uint32_t i = 0; i < kernel->nodes.count; i++)
        finder.forms[i] = form_of_node(&finder, &fusion->network->nodes.items[kernel->nodes.items[i]]);
    loops.is_needed = ARENA_ARRAY(arena, bool, kernel->nodes.count);
    for (uint32_t number = 1; number < kernel->scopes.count; number++) {
        const KernelScope *scope = &kernel->scopes.items[number];
        bool has_results = false;
        if (scope->kind == SCOPE_LOOP && scope->parent == KERNEL_ROOT && has_fixed_count(&finder, scope) &&
            is_linear_scope(&finder, number, &has_results) && has_results) {
            loops.scopes |= UINT64_C(1) << number;
            mark_needed_in(&finder, loops.is_needed, number);
        }
    }
    return loops;
}
