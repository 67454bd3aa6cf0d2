#include "kernel/lanes.h"

#include "kernel/function_text.h"
#include "kernel/function_vectors.h"

typedef struct Finder {
    const Fusion *fusion;
    const FlowNetwork *network;
    const Kernel *kernel;
    uint32_t scope;  /* whose points are done at once */
    bool *is_needed; /* by position in the kernel */
} Finder;

/* Whether all points have the same value; the operand is resolved. */
static bool is_the_same(const Finder *f, FlowOperand operand)
{
    return operand.is_constant || fuse_is_uniform(f->network, &operand) || fuse_scope_of_stream(f->network, f->kernel, operand.stream) != f->scope;
}

/* A choice whose sides were computed under a condition. */
static bool has_sides(const Finder *f, const FlowNode *merge)
{
    for (uint32_t i = 0; i < merge->input_count; i++) {
        FlowOperand operand = fuse_resolve(f->fusion, f->kernel, merge->inputs[i]);
        uint32_t scope = operand.is_constant ? KERNEL_NO_SCOPE : fuse_scope_of_stream(f->network, f->kernel, operand.stream);
        if (scope != KERNEL_NO_SCOPE && scope != f->scope && f->kernel->scopes.items[scope].kind == SCOPE_IF)
            return true;
    }
    return false;
}

/* What is computed of a point's own values. */
static bool is_simple(const Finder *f, const FlowNode *node)
{
    switch (node->op) {
    case FLOW_OPERATION:
    case FLOW_RANGE:
    case FLOW_LOCAL_INDEX:
    case FLOW_SLICES:
    case FLOW_INDEX:
    case FLOW_GATHER: return true;
    case FLOW_MERGE: return !has_sides(f, node);
    default: return false;
    }
}

static bool can_be_ahead(const Finder *f, FlowOperand operand);

static bool inputs_can_be_ahead(const Finder *f, const FlowNode *node)
{
    for (uint32_t i = 0; i < fuse_value_inputs(node); i++)
        if (!fuse_is_driver(node, i) && !can_be_ahead(f, node->inputs[i]))
            return false;
    return true;
}

/* Whether a value can be computed for later points. Marks the nodes that it takes. */
static bool can_be_ahead(const Finder *f, FlowOperand operand)
{
    operand = fuse_resolve(f->fusion, f->kernel, operand);
    if (is_the_same(f, operand))
        return true;
    FlowNodeId maker = f->network->streams.items[operand.stream].node;
    int position = fuse_position_of(f->kernel, maker);
    if (position < 0 || f->is_needed[position])
        return true;
    f->is_needed[position] = true;
    const FlowNode *node = &f->network->nodes.items[maker];
    return is_simple(f, node) && inputs_can_be_ahead(f, node);
}

/* Of the function's arguments the leaf that an input is. */
static uint32_t leaf_of(const FlowNode *call, uint32_t input)
{
    uint32_t leaf = 0;
    for (uint32_t i = 0; i < input; i++)
        leaf += !fuse_is_driver(call, i);
    return leaf;
}

bool lanes_have_in_common(const FunctionTexts *functions, const FlowNode *call, uint32_t input)
{
    return function_text_lanes_have_in_common(functions, call->function, leaf_of(call, input));
}

/* Whether all points have what lanes must have in common. */
static bool are_in_common(const Finder *f, const FunctionTexts *functions, const FlowNode *call)
{
    for (uint32_t i = 0; i < call->input_count; i++)
        if (!fuse_is_driver(call, i) && lanes_have_in_common(functions, call, i) && !is_the_same(f, fuse_resolve(f->fusion, f->kernel, call->inputs[i])))
            return false;
    return true;
}

const bool *lanes_find(FunctionTexts *functions, const Fusion *fusion, const Kernel *kernel, const FlowNode *call)
{
    if (call->op != FLOW_SCALAR_CALL)
        return NULL;
    Finder finder = {.fusion = fusion,
                     .network = fusion->network,
                     .kernel = kernel,
                     .scope = fuse_scope_of_node(fusion->network, kernel, call),
                     .is_needed = ARENA_ARRAY(functions->arena, bool, kernel->nodes.count)};
    bool can_be = kernel->scopes.items[finder.scope].kind != SCOPE_IF && function_text_has_lanes(functions, call->function) &&
                  are_in_common(&finder, functions, call) && inputs_can_be_ahead(&finder, call);
    return can_be ? finder.is_needed : NULL;
}

bool lanes_at_root(FunctionTexts *functions, const Fusion *fusion, const Kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &fusion->network->nodes.items[kernel->nodes.items[i]];
        if (lanes_find(functions, fusion, kernel, node) != NULL && fuse_scope_of_node(fusion->network, kernel, node) == KERNEL_ROOT)
            return true;
    }
    return false;
}

/* ---- rows ---- */

static bool is_same_operand(FlowOperand a, FlowOperand b)
{
    return a.is_constant == b.is_constant && (a.is_constant ? a.constant.integer == b.constant.integer : a.stream == b.stream);
}

bool lanes_want_rows(const FunctionTexts *functions, const FlowNode *call, uint32_t input)
{
    return !fuse_is_driver(call, input) && function_text_lanes_row_columns(functions, call->function, leaf_of(call, input)) > 0;
}

/* The vector that begins with an input: false if not all points of the kernel have the same. */
static bool find_vector(const Fusion *fusion, const Kernel *kernel, const FlowNode *call, uint32_t input, KernelRows *rows)
{
    FlowOperand leaves[VECTOR_LEAVES];
    for (uint32_t i = 0; i < VECTOR_LEAVES; i++) {
        leaves[i] = fuse_resolve(fusion, kernel, call->inputs[input + i]);
        if (!fuse_is_uniform(fusion->network, &leaves[i]))
            return false;
    }
    *rows = (KernelRows){.array = leaves[VECTOR_ARRAY].stream, .start = leaves[VECTOR_START], .length = leaves[VECTOR_LENGTH]};
    return !leaves[VECTOR_ARRAY].is_constant;
}

int lanes_rows_number(const Fusion *fusion, const Kernel *kernel, const FlowNode *call, uint32_t input)
{
    KernelRows wanted;
    if (!find_vector(fusion, kernel, call, input, &wanted))
        return LANES_NO_ROWS;
    for (uint32_t i = 0; i < kernel->rows.count; i++) {
        const KernelRows *rows = &kernel->rows.items[i];
        if (rows->array == wanted.array && is_same_operand(rows->start, wanted.start) && is_same_operand(rows->length, wanted.length))
            return (int)i;
    }
    return LANES_NO_ROWS;
}

static void find_rows_of_call(Arena *arena, const FunctionTexts *functions, const Fusion *fusion, Kernel *kernel, const FlowNode *call)
{
    for (uint32_t i = 0; i < call->input_count; i++) {
        KernelRows rows;
        bool has_room = kernel->rows.count < KERNEL_ROWS_MAX;
        if (!has_room || !lanes_want_rows(functions, call, i) || lanes_rows_number(fusion, kernel, call, i) != LANES_NO_ROWS || !find_vector(fusion, kernel, call, i, &rows))
            continue;
        rows.columns = function_text_lanes_row_columns(functions, call->function, leaf_of(call, i));
        *vec_push(arena, &kernel->rows) = rows;
    }
}

void lanes_find_rows(Arena *arena, FunctionTexts *functions, const Fusion *fusion, Kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &fusion->network->nodes.items[kernel->nodes.items[i]];
        if (lanes_find(functions, fusion, kernel, node) != NULL)
            find_rows_of_call(arena, functions, fusion, kernel, node);
    }
}
