#include "kernel/narrow.h"

#include "kernel/members.h"
#include "kernel/op_text.h"

/* What is known of operations on integers. */
typedef struct OpRow {
    const char *range; /* the function of the preamble that bounds the result */
    bool pays;         /* it is much cheaper on 32 bits */
    bool asks;         /* ... or a little: only its operands count, the result is no integer */
} OpRow;

static const OpRow op_rows[OP_COUNT] = {
    [OP_ADD] = {.range = "add"},
    [OP_SUBTRACT] = {.range = "subtract"},
    [OP_MULTIPLY] = {.range = "multiply"},
    [OP_DIVIDE] = {.range = "divide", .pays = true},
    [OP_REMAINDER] = {.range = "remainder", .pays = true},
    [OP_MODULO] = {.range = "modulo", .pays = true},
    [OP_MINIMUM] = {.range = "minimum"},
    [OP_MAXIMUM] = {.range = "maximum"},
    [OP_EQUAL] = {.asks = true},
    [OP_NOT_EQUAL] = {.asks = true},
    [OP_LESS] = {.asks = true},
    [OP_LESS_EQUAL] = {.asks = true},
    [OP_GREATER] = {.asks = true},
    [OP_GREATER_EQUAL] = {.asks = true},
};

typedef struct Finder {
    Narrow narrow;
    const FlowNetwork *network;
    bool *can_be; /* by position in the kernel */
} Finder;

static bool is_int(LeafType type)
{
    return type == (LeafType)SCALAR_I64;
}

static bool fits(FlowOperand operand)
{
    return is_int(operand.type) && operand.constant.integer >= INT32_MIN && operand.constant.integer <= INT32_MAX;
}

static bool is_so(const Narrow *narrow, const bool *marks, FlowOperand operand)
{
    const FlowNetwork *network = narrow->fusion->network;
    operand = fuse_resolve(narrow->fusion, narrow->kernel, operand);
    if (operand.is_constant)
        return fits(operand);
    if (fuse_is_uniform(network, &operand))
        return is_int(operand.type);
    int position = fuse_position_of(narrow->kernel, network->streams.items[operand.stream].node);
    return position >= 0 && marks[position];
}

static bool can_be(const Finder *f, FlowOperand operand)
{
    return is_so(&f->narrow, f->can_be, operand);
}

bool narrow_has(const Narrow *narrow, FlowOperand operand)
{
    return narrow->is_narrow != NULL && is_so(narrow, narrow->is_narrow, operand);
}

static bool is_index(const FlowNode *node)
{
    return node->op == FLOW_RANGE || node->op == FLOW_LOCAL_INDEX;
}

static bool has_range(const Finder *f, const FlowNode *node)
{
    return node->op == FLOW_OPERATION && node->scalar == SCALAR_I64 && op_rows[node->core_op].range != NULL && node->input_count == 2 &&
           node->outputs[0] != 0 && is_int(f->network->streams.items[node->outputs[0]].type);
}

/* Values that are made of indices, constants and uniforms alone. */
static bool can_node_be(const Finder *f, const FlowNode *node)
{
    if (fuse_scope_of_node(f->network, f->narrow.kernel, node) != KERNEL_ROOT)
        return false;
    if (is_index(node))
        return node->outputs[0] != 0;
    if (node->op == FLOW_MERGE)
        return node->input_count == 3 && is_int(node->inputs[1].type) && can_be(f, node->inputs[1]) && can_be(f, node->inputs[2]);
    return has_range(f, node) && can_be(f, node->inputs[0]) && can_be(f, node->inputs[1]);
}

static void want(Finder *f, FlowOperand operand)
{
    operand = fuse_resolve(f->narrow.fusion, f->narrow.kernel, operand);
    if (operand.is_constant || fuse_is_uniform(f->network, &operand))
        return;
    f->narrow.is_narrow[fuse_position_of(f->narrow.kernel, f->network->streams.items[operand.stream].node)] = true;
}

static void want_inputs(Finder *f, const FlowNode *node)
{
    for (uint32_t i = node->op == FLOW_MERGE; i < node->input_count && !is_index(node); i++)
        want(f, node->inputs[i]);
}

/* Whether an operation that asks for it has operands that can be narrow. */
static bool asks(const Finder *f, const FlowNode *node)
{
    return node->op == FLOW_OPERATION && node->scalar == SCALAR_I64 && op_rows[node->core_op].asks && can_be(f, node->inputs[0]) &&
           can_be(f, node->inputs[1]);
}

/* From the last node to the first: what is wanted, and for that its operands. Gives whether it pays. */
static bool find_wanted(Finder *f)
{
    bool is_worth = false;
    for (uint32_t i = f->narrow.kernel->nodes.count; i-- > 0;) {
        const FlowNode *node = &f->network->nodes.items[f->narrow.kernel->nodes.items[i]];
        bool pays = f->can_be[i] && node->op == FLOW_OPERATION && op_rows[node->core_op].pays;
        f->narrow.is_narrow[i] |= pays;
        is_worth |= pays;
        if (f->narrow.is_narrow[i] || asks(f, node))
            want_inputs(f, node);
    }
    return is_worth;
}

/* A loop without others in it, whose text is not long when it is there once more. */
static bool is_small(const FlowNetwork *network, const Kernel *kernel)
{
    enum { NODES_MAX = 200 };
    bool result = !kernel->has_loops && kernel->scans.count == 0 && kernel->nodes.count <= NODES_MAX;
    for (uint32_t i = 0; result && i < kernel->nodes.count; i++) {
        const FlowNode *node = &network->nodes.items[kernel->nodes.items[i]];
        result = node->op != FLOW_OPERATION || !op_text_needs_math(node->core_op, node->scalar, member_result_type(network, node));
    }
    return result;
}

Narrow narrow_find(Arena *arena, const Fusion *fusion, const Kernel *kernel)
{
    Finder finder = {.narrow = {.fusion = fusion, .kernel = kernel}, .network = fusion->network};
    if (!is_small(fusion->network, kernel))
        return finder.narrow;
    finder.narrow.is_narrow = ARENA_ARRAY(arena, bool, kernel->nodes.count);
    finder.can_be = ARENA_ARRAY(arena, bool, kernel->nodes.count);
    for (uint32_t i = 0; i < kernel->nodes.count; i++)
        finder.can_be[i] = can_node_be(&finder, &fusion->network->nodes.items[kernel->nodes.items[i]]);
    if (!find_wanted(&finder))
        finder.narrow.is_narrow = NULL;
    return finder.narrow;
}

/* ---- the test ---- */

static void write_range(const Narrow *narrow, Text *out, FlowOperand operand)
{
    const Kernel *kernel = narrow->kernel;
    operand = fuse_resolve(narrow->fusion, kernel, operand);
    if (operand.is_constant) {
        text_addf(out, "kernel_range(%lld, %lld, &is_wide)", (long long)operand.constant.integer, (long long)operand.constant.integer);
        return;
    }
    for (uint32_t i = 0; i < kernel->uniforms.count; i++)
        if (kernel->uniforms.items[i] == operand.stream) {
            text_addf(out, "kernel_range(*(const int64_t *)call->uniforms[%u], *(const int64_t *)call->uniforms[%u], &is_wide)", i, i);
            return;
        }
    text_addf(out, "r%u", operand.stream);
}

static void write_node(const Narrow *narrow, Text *out, const FlowNode *node)
{
    text_addf(out, "    const KernelRange r%u = ", node->outputs[0]);
    if (is_index(node)) {
        text_add(out, "kernel_range(call->position, call->position + call->count - (call->count > 0), &is_wide);\n");
        return;
    }
    uint32_t first = node->op == FLOW_MERGE;
    text_addf(out, "kernel_range_%s(", first == 1 ? "either" : op_rows[node->core_op].range);
    write_range(narrow, out, node->inputs[first]);
    text_add(out, ", ");
    write_range(narrow, out, node->inputs[first + 1]);
    text_add(out, ", &is_wide);\n");
}

void narrow_write_test(const Narrow *narrow, Text *out)
{
    text_addf(out, "\nstatic bool kernel_%u_is_narrow(const KernelCall *call)\n{\n    bool is_wide = call->position > INT32_MAX - call->count;\n", narrow->kernel->number);
    for (uint32_t i = 0; i < narrow->kernel->nodes.count; i++)
        if (narrow->is_narrow[i])
            write_node(narrow, out, &narrow->fusion->network->nodes.items[narrow->kernel->nodes.items[i]]);
    text_add(out, "    return !is_wide;\n}\n");
}
