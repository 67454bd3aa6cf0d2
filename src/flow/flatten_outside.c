/* What comes from outside and goes there: parameters that are read while the program runs, results that are printed while they are computed. */
#include "flow/flatten_internal.h"

/* ---- input ---- */

bool flatten_is_input(const Flattener *f, TypeId type)
{
    return f->network->is_item && type_is_sequence(f->types, type);
}

const FlowValue *flatten_input(Flattener *f, TypeId type, uint32_t index)
{
    TypeId element_type = type_element(f->types, type);
    const Layout *layout = flatten_layout(f, element_type);
    FlowSpaceId space = flatten_new_space(
        f, (FlowSpace){.kind = SPACE_INPUT, .parent = FLOW_UNIT, .segments = SEGMENTS_SINGLE});
    FlowNode *node = flatten_node(f, FLOW_INPUT, space, NULL, 0);
    node->layout = layout;
    node->index = index;
    FlowOperand *leaves = ARENA_ARRAY(f->arena, FlowOperand, layout->count + 1);
    for (uint32_t i = 0; i < layout->count; i++)
        leaves[i] = flatten_stream(f, flatten_output(f, layout->leaves[i].type, space));
    if (layout->count == 0)
        leaves[0] = flatten_stream(f, flatten_output(f, LEAF_POINTS, space));
    flatten_space(f, space)->driver = leaves[0].stream;
    const FlowValue *element = flatten_from_leaves(f, element_type, leaves, space);
    return flatten_value_sequence(f, space, element, element_type);
}

/* ---- output ---- */

typedef struct Parts {
    VEC(FlowOperand) operands;
} Parts;

static void add_concrete(Flattener *f, Parts *parts, const FlowValue *value, FlowSpaceId space)
{
    Leaves leaves = flatten_leaves(f, value);
    for (uint32_t i = 0; i < leaves.count; i++)
        *vec_push(f->arena, &parts->operands) = flatten_bring(f, leaves.items[i], space);
}

/* The parts of a value at a space, in the order of its type (io/value_pieces.h). */
static void add_parts(Flattener *f, Parts *parts, TypeId type, const FlowValue *value, FlowSpaceId space)
{
    if (type_is_concrete(f->types, type)) {
        add_concrete(f, parts, value, space);
        return;
    }
    if (type_kind(f->types, type) == TYPE_CLOSURE)
        return; /* is only named */
    if (type_kind(f->types, type) == TYPE_PAIR) {
        add_parts(f, parts, type_first(f->types, type), value->first, space);
        add_parts(f, parts, type_rest(f->types, type), value->rest, space);
        return;
    }
    FlowOperand driver = flatten_driver(f, value->space);
    *vec_push(f->arena, &parts->operands) = driver;
    if (space != FLOW_UNIT) {
        FlowOperand ends = flatten_ends(f, value->space);
        *vec_push(f->arena, &parts->operands) = ends;
    }
    add_parts(f, parts, type_element(f->types, type), value->element, value->space);
}

static bool does_io(const FlowNode *node)
{
    if (node->op == FLOW_ROWS)
        return flatten_op_does_io(node->core_op);
    return node->op == FLOW_CALL && node->is_serial;
}

/* The last output of the program itself comes before its result; that is ordered after all others before it. */
static void print_last(Flattener *f)
{
    FlowNetwork *network = f->network;
    FlowNodeId id = network->nodes.count - 1, last = id;
    while (last > 0 && !does_io(&network->nodes.items[last - 1]))
        last--;
    if (last == 0)
        return;
    FlowNode *node = &network->nodes.items[id];
    node->after = ARENA_ARRAY(f->arena, FlowNodeId, 1);
    node->after[node->after_count++] = last - 1;
}

void flatten_print(Flattener *f, TypeId type, const FlowValue *value)
{
    Parts parts = {0};
    const Layout *layout = flatten_layout(f, type); /* also where there are too many parts */
    add_parts(f, &parts, type, value, FLOW_UNIT);
    flatten_node(f, FLOW_RESULT, FLOW_UNIT, parts.operands.items, parts.operands.count)->layout = layout;
    print_last(f);
}
