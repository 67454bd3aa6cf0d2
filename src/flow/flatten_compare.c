/* Comparing sequences as they stream: nothing is held but the order found so far.
 *
 * Values are compared part by part, and the first part that differs decides; but every part is walked to its end, as the streams are there.
 * Sequences of concrete elements are one node. Of sequences of sequences, those elements that have a counterpart are made one space, on
 * which the elements are compared as any values; the first of them that differ, or else the lengths, decide. */
#include "flow/flatten_internal.h"
#include "math/scalar.h"

static FlowOperand order_constant(Order order)
{
    return flatten_constant(SCALAR_I32, (Scalar){.integer = order});
}

static FlowOperand binary(Flattener *f, Op op, ScalarType result, FlowOperand a, FlowOperand b)
{
    FlowOperand operands[] = {a, b};
    return flatten_scalar_op(f, op, result, operands, 2);
}

/* At the context. */
static FlowOperand choose(Flattener *f, FlowOperand condition, FlowOperand if_true, FlowOperand if_false)
{
    if (condition.is_constant)
        return condition.constant.bits != 0 ? if_true : if_false;
    const FlowValue *values[] = {flatten_value_scalar(f, if_false), flatten_value_scalar(f, if_true)};
    FlowSpaceId spaces[] = {f->context->space, f->context->space};
    return flatten_merge(f, condition, f->context->space, values, spaces, 2)->scalar;
}

static FlowOperand first_that_differs(Flattener *f, FlowOperand first, FlowOperand second)
{
    FlowOperand is_equal = binary(f, OP_EQUAL, SCALAR_BOOL, first, order_constant(ORDER_EQUAL));
    return choose(f, is_equal, second, first);
}

/* ---- one node ---- */

static uint32_t add_leaves(Flattener *f, FlowOperand *inputs, uint32_t at, const FlowValue *value, FlowSpaceId space)
{
    Leaves leaves = flatten_leaves(f, value);
    for (uint32_t i = 0; i < leaves.count; i++)
        inputs[at++] = flatten_bring(f, leaves.items[i], space);
    return at;
}

static FlowOperand order_concrete(Flattener *f, TypeId type, const FlowValue *a, const FlowValue *b)
{
    FlowSpaceId space = f->context->space;
    const Layout *layout = flatten_layout(f, type);
    if (layout->count == 0)
        return order_constant(ORDER_EQUAL);
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 1 + 2 * layout->count);
    inputs[0] = flatten_driver(f, space);
    uint32_t count = add_leaves(f, inputs, 1, a, space);
    count = add_leaves(f, inputs, count, b, space);
    flatten_node(f, FLOW_ORDER, space, inputs, count)->layout = layout;
    return flatten_stream(f, flatten_output(f, SCALAR_I32, space));
}

/* Adds the ends of two spaces, unless they are below unit. */
static FlowSegments add_ends(Flattener *f, FlowOperand *inputs, uint32_t *count, FlowSpaceId a, FlowSpaceId b)
{
    if (flatten_is_unit(f, f->context->space))
        return SEGMENTS_SINGLE;
    inputs[(*count)++] = flatten_ends(f, a);
    inputs[(*count)++] = flatten_ends(f, b);
    return SEGMENTS_ENDS;
}

static FlowOperand order_elements(Flattener *f, const FlowValue *a, const FlowValue *b)
{
    const Layout *layout = flatten_layout(f, a->element_type);
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 2 + 2 * layout->count + 2);
    uint32_t count = 0;
    inputs[count++] = flatten_driver(f, a->space);
    count = add_leaves(f, inputs, count, a->element, a->space);
    inputs[count++] = flatten_driver(f, b->space);
    count = add_leaves(f, inputs, count, b->element, b->space);
    FlowSegments segments = add_ends(f, inputs, &count, a->space, b->space);
    FlowNode *node = flatten_node(f, FLOW_COMPARE, f->context->space, inputs, count);
    node->segments = segments;
    node->layout = layout;
    return flatten_stream(f, flatten_output(f, SCALAR_I32, f->context->space));
}

/* ---- sequences of sequences ---- */

static FlowOperand order_of(Flattener *f, TypeId type, const FlowValue *a, const FlowValue *b);

/* The points of both spaces that have a counterpart. */
static void find_pairs(Flattener *f, FlowSpaceId a, FlowSpaceId b, FlowSpaceId *paired_a, FlowSpaceId *paired_b)
{
    FlowOperand inputs[4] = {flatten_driver(f, a), flatten_driver(f, b)};
    uint32_t count = 2;
    FlowSegments segments = add_ends(f, inputs, &count, a, b);
    flatten_node(f, FLOW_PAIRS, f->context->space, inputs, count)->segments = segments;
    FlowStreamId in_a = flatten_output(f, SCALAR_BOOL, a), in_b = flatten_output(f, SCALAR_BOOL, b);
    *paired_a = flatten_filter(f, a, flatten_stream(f, in_a), true);
    *paired_b = flatten_filter(f, b, flatten_stream(f, in_b), true);
}

/* The orders of elements are numbers that grow with the index, INT64_MAX where they are equal: the least of them decides. */
enum { ORDERS = 16 };

static FlowOperand rank(Flattener *f, FlowSpaceId flat, FlowOperand order)
{
    FlowOperand index = flatten_local_index(f, flat);
    FlowOperand wide = flatten_scalar_op(f, OP_TO_I64, SCALAR_I64, &order, 1);
    FlowOperand scaled = binary(f, OP_MULTIPLY, SCALAR_I64, index, flatten_int(ORDERS));
    FlowOperand is_equal = binary(f, OP_EQUAL, SCALAR_BOOL, order, order_constant(ORDER_EQUAL));
    return choose(f, is_equal, flatten_int(INT64_MAX), binary(f, OP_ADD, SCALAR_I64, scaled, wide));
}

static FlowOperand least(Flattener *f, FlowSpaceId space, FlowOperand element)
{
    FlowOperand inputs[1 + SEGMENT_INPUTS] = {flatten_bring_stream(f, element, space)};
    uint32_t count = 1;
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    FlowNode *node = flatten_node(f, FLOW_FOLD, space, inputs, count);
    node->segments = segments;
    node->core_op = OP_MIN_VAL;
    node->scalar = SCALAR_I64;
    return flatten_stream(f, flatten_output(f, SCALAR_I64, f->context->space));
}

static FlowOperand length(Flattener *f, FlowSpaceId space)
{
    FlowOperand inputs[1 + SEGMENT_INPUTS] = {flatten_driver(f, space)};
    uint32_t count = 1;
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    flatten_node(f, FLOW_LENGTH, space, inputs, count)->segments = segments;
    flatten_output(f, SCALAR_I64, f->context->space);
    return flatten_shared(f);
}

static FlowOperand order_lengths(Flattener *f, FlowSpaceId a, FlowSpaceId b)
{
    const FlowValue *first = flatten_value_scalar(f, length(f, a));
    return order_concrete(f, TYPE_INT, first, flatten_value_scalar(f, length(f, b)));
}

static FlowOperand order_nested(Flattener *f, TypeId element_type, const FlowValue *a, const FlowValue *b)
{
    FlowSpaceId paired_a, paired_b;
    find_pairs(f, a->space, b->space, &paired_a, &paired_b);
    /* what is above one of the spaces is not above the other */
    const FlowValue *first = flatten_settle(f, flatten_restrict(f, a->element, paired_a), paired_a);
    const FlowValue *second = flatten_settle(f, flatten_restrict(f, b->element, paired_b), paired_b);
    FlowSpaceId flat = flatten_flat(f, paired_a, a->space);
    flatten_unite(f, paired_a, paired_b);
    flatten_enter(f, paired_a, true);
    FlowOperand ranks = rank(f, flat, order_of(f, element_type, first, second));
    flatten_leave(f);
    FlowOperand found = least(f, flat, ranks);
    FlowOperand order = binary(f, OP_AND, SCALAR_I64, found, flatten_int(ORDERS - 1));
    FlowOperand is_equal = binary(f, OP_EQUAL, SCALAR_BOOL, found, flatten_int(INT64_MAX));
    return choose(f, is_equal, order_lengths(f, a->space, b->space),
                  flatten_scalar_op(f, OP_TO_I32, SCALAR_I32, &order, 1));
}

/* ---- values ---- */

static FlowOperand order_of(Flattener *f, TypeId type, const FlowValue *a, const FlowValue *b)
{
    type = flatten_representation(f, type);
    if (!flatten_has_sequence(a))
        return order_concrete(f, type, a, b);
    if (a->kind == VALUE_PAIR) {
        FlowOperand first = order_of(f, type_first(f->types, type), a->first, b->first);
        return first_that_differs(f, first, order_of(f, type_rest(f->types, type), a->rest, b->rest));
    }
    if (!flatten_has_sequence(a->element))
        return order_elements(f, a, b);
    return order_nested(f, type_element(f->types, type), a, b);
}

FlowOperand flatten_order_of(Flattener *f, TypeId type, const FlowValue *a, const FlowValue *b)
{
    return order_of(f, type, a, b);
}
