#include "kernel/linear.h"

#include "kernel/members.h"

/* How a value depends on the index of the root. */
typedef enum Dependence {
    DEPENDS_OTHERWISE, /* or not known */
    DEPENDS_NOT,       /* it is the same at all points of the root */
    DEPENDS_LINEARLY,
} Dependence;

typedef struct Form {
    Dependence dependence;
    bool is_natural; /* not negative */
    bool is_bit;     /* 0 or 1 */
} Form;

typedef struct Finder {
    const Fusion *fusion;
    const FlowNetwork *network;
    const Kernel *kernel;
    Form *forms; /* of the first output, by position in the kernel */
} Finder;

enum { NODES_MAX = 1000 }; /* larger kernels are left as they are: looking takes time */

static const Form unknown = {DEPENDS_OTHERWISE, false, false};

static bool is_whole(LeafType type)
{
    return type < (LeafType)SCALAR_COUNT && scalar_kind((ScalarType)type) != KIND_FLOATING;
}

static Form form_of(const Finder *f, FlowOperand operand)
{
    operand = fuse_resolve(f->fusion, f->kernel, operand);
    if (!operand.is_constant && fuse_is_uniform(f->network, &operand))
        return (Form){DEPENDS_NOT, false, false};
    if (!operand.is_constant) {
        int position = fuse_position_of(f->kernel, f->network->streams.items[operand.stream].node);
        return position < 0 ? unknown : f->forms[position];
    }
    if (!is_whole(operand.type))
        return (Form){DEPENDS_NOT, false, false};
    bool is_signed = scalar_kind((ScalarType)operand.type) == KIND_SIGNED;
    return (Form){DEPENDS_NOT, !is_signed || operand.constant.integer >= 0, operand.constant.bits <= 1};
}

static bool is_constant_of(FlowOperand operand, uint64_t bits)
{
    return operand.is_constant && operand.constant.bits == bits;
}

static bool is_power_of_two(FlowOperand operand)
{
    return operand.is_constant && operand.constant.integer > 0 && (operand.constant.bits & (operand.constant.bits - 1)) == 0;
}

static Dependence both(Form a, Form b)
{
    if (a.dependence == DEPENDS_OTHERWISE || b.dependence == DEPENDS_OTHERWISE)
        return DEPENDS_OTHERWISE;
    return a.dependence == DEPENDS_LINEARLY ? a.dependence : b.dependence;
}

/* Of bit by bit operations that are no exclusive or, and of what is chosen or shifted by another value: one of the two is fixed. */
static Dependence product(Form a, Form b)
{
    return a.dependence == DEPENDS_LINEARLY && b.dependence == DEPENDS_LINEARLY ? DEPENDS_OTHERWISE : both(a, b);
}

/* Bits by which a value that is not negative is told from 0 are one: it is 0 or 1. */
static Form form_of_comparison(const FlowNode *node, Form a)
{
    bool is_simple = a.is_bit && (is_constant_of(node->inputs[1], 0) || is_constant_of(node->inputs[1], 1));
    return is_simple ? (Form){a.dependence, true, true} : unknown;
}

static Form form_of_linear_operation(const FlowNode *node, Form a, Form b)
{
    bool are_natural = a.is_natural && b.is_natural, are_bits = a.is_bit && b.is_bit;
    switch ((int)node->core_op) {
    case OP_XOR: return (Form){both(a, b), are_natural, are_bits};
    case OP_AND: return (Form){product(a, b), a.is_natural || b.is_natural, a.is_bit || b.is_bit};
    case OP_OR: return (Form){product(a, b), are_natural, are_bits};
    case OP_NOT: return (Form){a.dependence, node->scalar == SCALAR_BOOL, node->scalar == SCALAR_BOOL};
    case OP_SHIFT_LEFT: return (Form){b.dependence == DEPENDS_NOT ? a.dependence : DEPENDS_OTHERWISE, false, false};
    case OP_SHIFT_RIGHT: return (Form){b.dependence == DEPENDS_NOT ? a.dependence : DEPENDS_OTHERWISE, a.is_natural, a.is_bit};
    case OP_DIVIDE:
        return a.is_natural && is_power_of_two(node->inputs[1]) ? (Form){a.dependence, true, a.is_bit} : unknown;
    case OP_REMAINDER:
    case OP_MODULO:
        if (a.is_natural && is_power_of_two(node->inputs[1]))
            return (Form){a.dependence, true, is_constant_of(node->inputs[1], 2)};
        return unknown;
    case OP_NOT_EQUAL:
    case OP_EQUAL: return form_of_comparison(node, a);
    default: return unknown;
    }
}

static Form form_of_operation(const Finder *f, const FlowNode *node)
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
    Form form = node->input_count <= BINARY && is_whole((LeafType)node->scalar) ? form_of_linear_operation(node, forms[0], forms[1]) : unknown;
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
    Form values = {both(no, yes), no.is_natural && yes.is_natural, no.is_bit && yes.is_bit};
    values.dependence = product(selector, values);
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
        form.dependence = product(form, form_of(f, flags));
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
    case FLOW_OPERATION: return form_of_operation(f, node);
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
