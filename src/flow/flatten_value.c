/* Values of the flattener: taken apart into leaves, streamed, materialised, merged, restricted. */
#include "flow/flatten_internal.h"

#include <string.h>

/* ---- making ---- */

static FlowValue *new_value(Flattener *f, FlowValueKind kind)
{
    FlowValue *value = ARENA_NEW(f->arena, FlowValue);
    value->kind = kind;
    return value;
}

const FlowValue *flatten_value_unit(Flattener *f)
{
    return new_value(f, VALUE_UNIT);
}

const FlowValue *flatten_value_scalar(Flattener *f, FlowOperand operand)
{
    FlowValue *value = new_value(f, VALUE_SCALAR);
    value->scalar = operand;
    value->leaf_count = 1;
    return value;
}

const FlowValue *flatten_value_pair(Flattener *f, const FlowValue *first, const FlowValue *rest)
{
    FlowValue *value = new_value(f, VALUE_PAIR);
    value->first = first;
    value->rest = rest;
    value->has_sequence = first->has_sequence || rest->has_sequence;
    bool is_huge = first->leaf_count > UINT32_MAX - rest->leaf_count;
    value->leaf_count = is_huge ? UINT32_MAX : first->leaf_count + rest->leaf_count;
    return value;
}

const FlowValue *flatten_value_vector(Flattener *f, FlowOperand array, FlowOperand start, FlowOperand length,
                                      TypeId element_type)
{
    FlowValue *value = new_value(f, VALUE_VECTOR);
    value->array = array;
    value->start = start;
    value->length = length;
    value->element_type = element_type;
    value->leaf_count = 3;
    return value;
}

const FlowValue *flatten_value_sequence(Flattener *f, FlowSpaceId space, const FlowValue *element, TypeId element_type)
{
    FlowValue *value = new_value(f, VALUE_SEQUENCE);
    value->space = space;
    value->element = element;
    value->element_type = element_type;
    value->has_sequence = true;
    return value;
}

TypeId flatten_representation(Flattener *f, TypeId type)
{
    while (type_kind(f->types, type) == TYPE_DATA || type_kind(f->types, type) == TYPE_CLOSURE)
        type = type_representation(f->types, type);
    return type;
}

_Noreturn static void fail_too_large(Flattener *f)
{
    flatten_error(f, ERROR_TYPE_TOO_LARGE, f->span, "the values here have too many components");
}

const Layout *flatten_layout(Flattener *f, TypeId type)
{
    const Layout *layout = layout_of(f->layouts, type);
    if (layout == NULL)
        fail_too_large(f);
    return layout;
}

/* ---- leaves ---- */

static void add_leaves(const FlowValue *value, Leaves *leaves)
{
    for (; value->kind == VALUE_PAIR; value = value->rest)
        add_leaves(value->first, leaves);
    if (value->kind == VALUE_SCALAR)
        leaves->items[leaves->count++] = value->scalar;
    if (value->kind != VALUE_VECTOR)
        return;
    leaves->items[leaves->count++] = value->array;
    leaves->items[leaves->count++] = value->start;
    leaves->items[leaves->count++] = value->length;
}

Leaves flatten_leaves(Flattener *f, const FlowValue *value)
{
    if (value->leaf_count > LAYOUT_LEAVES_MAX)
        fail_too_large(f);
    Leaves leaves = {.items = ARENA_ARRAY(f->arena, FlowOperand, value->leaf_count)};
    add_leaves(value, &leaves);
    return leaves;
}

static const FlowValue *from_leaves(Flattener *f, TypeId type, const FlowOperand **leaves, FlowSpaceId space)
{
    type = flatten_representation(f, type);
    if (type_kind(f->types, type) == TYPE_SCALAR)
        return flatten_value_scalar(f, *(*leaves)++);
    if (type_kind(f->types, type) == TYPE_PAIR) {
        const FlowValue *first = from_leaves(f, type_first(f->types, type), leaves, space);
        return flatten_value_pair(f, first, from_leaves(f, type_rest(f->types, type), leaves, space));
    }
    if (type_kind(f->types, type) != TYPE_CONTAINER)
        return flatten_value_unit(f);
    const FlowOperand *vector = *leaves;
    *leaves += 3;
    const FlowValue *value =
        flatten_value_vector(f, vector[0], vector[1], vector[2], type_element(f->types, type));
    return type_is_sequence(f->types, type) ? flatten_as_sequence(f, value, space) : value;
}

const FlowValue *flatten_from_leaves(Flattener *f, TypeId type, const FlowOperand *leaves, FlowSpaceId space)
{
    return from_leaves(f, type, &leaves, space);
}

/* ---- vectors and sequences ---- */

static FlowOperand slices(Flattener *f, const FlowValue *vector, uint32_t leaf, LeafType type, FlowSpaceId parent,
                          FlowSpaceId space)
{
    FlowOperand inputs[3 + SEGMENT_INPUTS] = {flatten_bring(f, vector->array, parent),
                                              flatten_bring(f, vector->start, parent), flatten_driver(f, space)};
    uint32_t count = 3;
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    FlowNode *node = flatten_node(f, FLOW_SLICES, space, inputs, count);
    node->segments = segments;
    node->leaf = leaf;
    return flatten_stream(f, flatten_output(f, type, space));
}

const FlowValue *flatten_as_sequence(Flattener *f, const FlowValue *value, FlowSpaceId parent)
{
    if (value->kind == VALUE_SEQUENCE)
        return value;
    const Layout *layout = flatten_layout(f, value->element_type);
    FlowSpaceId space = flatten_range(f, parent, value->length);
    FlowOperand *leaves = ARENA_ARRAY(f->arena, FlowOperand, layout->count);
    for (uint32_t i = 0; i < layout->count; i++)
        leaves[i] = slices(f, value, i, layout->leaves[i].type, parent, space);
    const FlowValue *element = flatten_from_leaves(f, value->element_type, leaves, space);
    return flatten_value_sequence(f, space, element, value->element_type);
}

/* How many elements each vector of a sequence's elements has: if that is known beforehand, what is made at a regular space is regular when it
 * is read again. */
static FlowOperand collected_length(const Flattener *f, FlowSpaceId space, FlowStreamId counted)
{
    const FlowSpace *known = flatten_space(f, space);
    bool is_known = (known->kind == SPACE_RANGE && known->count.type == SCALAR_I64) || known->segments == SEGMENTS_REGULAR;
    return is_known ? known->count : flatten_stream(f, counted);
}

const FlowValue *flatten_collect(Flattener *f, const FlowValue *sequence)
{
    FlowSpaceId space = sequence->space;
    const FlowValue *element = flatten_concrete(f, sequence->element, space);
    Leaves leaves = flatten_leaves(f, element);
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 1 + leaves.count + SEGMENT_INPUTS);
    inputs[0] = flatten_driver(f, space);
    for (uint32_t i = 0; i < leaves.count; i++)
        inputs[1 + i] = flatten_bring(f, leaves.items[i], space);
    uint32_t count = 1 + leaves.count;
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    FlowSpaceId parent = flatten_space(f, space)->parent;
    const Layout *layout = flatten_layout(f, sequence->element_type);
    FlowNode *node = flatten_node(f, FLOW_COLLECT, space, inputs, count);
    node->segments = segments;
    node->layout = layout;
    FlowStreamId array = flatten_output(f, LEAF_ARRAY, parent);
    FlowStreamId start = flatten_output(f, SCALAR_I64, parent);
    FlowStreamId length = flatten_output(f, SCALAR_I64, parent);
    return flatten_value_vector(f, flatten_stream(f, array), flatten_stream(f, start),
                                collected_length(f, space, length), sequence->element_type);
}

const FlowValue *flatten_concrete(Flattener *f, const FlowValue *value, FlowSpaceId space)
{
    if (!flatten_has_sequence(value))
        return value;
    if (value->kind == VALUE_SEQUENCE)
        return flatten_collect(f, value);
    const FlowValue *first = flatten_concrete(f, value->first, space);
    return flatten_value_pair(f, first, flatten_concrete(f, value->rest, space));
}

const FlowValue *flatten_settle(Flattener *f, const FlowValue *value, FlowSpaceId space)
{
    switch (value->kind) {
    case VALUE_PAIR: {
        const FlowValue *first = flatten_settle(f, value->first, space);
        return flatten_value_pair(f, first, flatten_settle(f, value->rest, space));
    }
    case VALUE_SCALAR:
        return flatten_value_scalar(f, flatten_bring(f, value->scalar, space));
    case VALUE_VECTOR:
        return flatten_value_vector(f, flatten_bring(f, value->array, space), flatten_bring(f, value->start, space),
                                    flatten_bring(f, value->length, space), value->element_type);
    case VALUE_UNIT:
    case VALUE_SEQUENCE:
        break;
    }
    return value;
}

static const FlowValue *empty_vector(Flattener *f, TypeId element_type)
{
    FlowSpaceId space = flatten_range(f, FLOW_UNIT, flatten_int(0));
    const FlowValue *element = flatten_zero(f, element_type, space);
    const FlowValue *vector = flatten_collect(f, flatten_value_sequence(f, space, element, element_type));
    return flatten_value_vector(f, vector->array, flatten_int(0), flatten_int(0), element_type);
}

const FlowValue *flatten_zero(Flattener *f, TypeId type, FlowSpaceId space)
{
    type = flatten_representation(f, type);
    if (type_kind(f->types, type) == TYPE_SCALAR) {
        ScalarType scalar = type_scalar(f->types, type);
        return flatten_value_scalar(
            f, flatten_constant(scalar, (Scalar){.integer = scalar == SCALAR_CHAR ? ' ' : 0}));
    }
    if (type_kind(f->types, type) == TYPE_PAIR) {
        const FlowValue *first = flatten_zero(f, type_first(f->types, type), space);
        return flatten_value_pair(f, first, flatten_zero(f, type_rest(f->types, type), space));
    }
    if (type_kind(f->types, type) != TYPE_CONTAINER)
        return flatten_value_unit(f);
    TypeId element_type = type_element(f->types, type);
    if (type_is_vector(f->types, type))
        return empty_vector(f, element_type);
    FlowSpaceId none = flatten_range(f, space, flatten_int(0));
    return flatten_value_sequence(f, none, flatten_zero(f, element_type, none), element_type);
}

/* ---- merging ---- */

typedef struct Merge {
    FlowOperand selector;
    FlowSpaceId space;
    const FlowSpaceId *spaces;
    uint32_t count;
} Merge;

static bool are_all_same(const Flattener *f, const Merge *merge, const FlowOperand *operands)
{
    for (uint32_t i = 0; i < merge->count; i++)
        if (!flatten_is_same_operand(operands[0], operands[i]) || !flatten_reaches(f, operands[i], merge->space))
            return false;
    return true;
}

static FlowOperand merge_leaf(Flattener *f, const Merge *merge, const FlowOperand *operands)
{
    if (are_all_same(f, merge, operands))
        return operands[0];
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 1 + merge->count);
    inputs[0] = flatten_bring_stream(f, merge->selector, merge->space);
    for (uint32_t i = 0; i < merge->count; i++)
        inputs[1 + i] = flatten_bring(
            f, operands[i], flatten_reaches(f, operands[i], merge->space) ? merge->space : merge->spaces[i]);
    flatten_node(f, FLOW_MERGE, merge->space, inputs, 1 + merge->count);
    flatten_output(f, operands[0].type, merge->space);
    return flatten_shared(f);
}

static const FlowValue *merge_values(Flattener *f, const Merge *merge, const FlowValue *const *values);

static const FlowValue *merge_sequences(Flattener *f, const Merge *merge, const FlowValue *const *values)
{
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 1 + merge->count);
    FlowSpaceId *spaces = ARENA_ARRAY(f->arena, FlowSpaceId, merge->count);
    const FlowValue **elements = ARENA_ARRAY(f->arena, const FlowValue *, merge->count);
    inputs[0] = flatten_bring_stream(f, merge->selector, merge->space);
    for (uint32_t i = 0; i < merge->count; i++) {
        inputs[1 + i] = flatten_ends(f, values[i]->space);
        spaces[i] = values[i]->space;
        elements[i] = values[i]->element;
    }
    FlowSpaceId space = flatten_new_space(
        f, (FlowSpace){.kind = SPACE_CHOICE, .parent = merge->space, .segments = SEGMENTS_ENDS});
    flatten_node(f, FLOW_CHOOSE, space, inputs, 1 + merge->count);
    FlowStreamId selector = flatten_output(f, SCALAR_I32, space);
    FlowStreamId ends = flatten_output(f, LEAF_ENDS, merge->space);
    flatten_space(f, space)->driver = selector;
    flatten_space(f, space)->ends = ends;
    const FlowValue *element =
        flatten_merge(f, flatten_stream(f, selector), space, elements, spaces, merge->count);
    return flatten_value_sequence(f, space, element, values[0]->element_type);
}

/* The leaves of all values that `leaf` picks, merged. */
static FlowOperand merge_part(Flattener *f, const Merge *merge, const FlowValue *const *values, size_t offset)
{
    FlowOperand *operands = ARENA_ARRAY(f->arena, FlowOperand, merge->count);
    for (uint32_t i = 0; i < merge->count; i++)
        operands[i] = *(const FlowOperand *)((const char *)values[i] + offset);
    return merge_leaf(f, merge, operands);
}

static const FlowValue *merge_component(Flattener *f, const Merge *merge, const FlowValue *const *values, bool is_first)
{
    const FlowValue **components = ARENA_ARRAY(f->arena, const FlowValue *, merge->count);
    for (uint32_t i = 0; i < merge->count; i++)
        components[i] = is_first ? values[i]->first : values[i]->rest;
    return merge_values(f, merge, components);
}

static const FlowValue *merge_values(Flattener *f, const Merge *merge, const FlowValue *const *values)
{
    switch (values[0]->kind) {
    case VALUE_UNIT:
        return values[0];
    case VALUE_SCALAR:
        return flatten_value_scalar(f, merge_part(f, merge, values, offsetof(FlowValue, scalar)));
    case VALUE_VECTOR: {
        FlowOperand array = merge_part(f, merge, values, offsetof(FlowValue, array));
        FlowOperand start = merge_part(f, merge, values, offsetof(FlowValue, start));
        FlowOperand length = merge_part(f, merge, values, offsetof(FlowValue, length));
        return flatten_value_vector(f, array, start, length, values[0]->element_type);
    }
    case VALUE_PAIR: {
        const FlowValue *first = merge_component(f, merge, values, true);
        return flatten_value_pair(f, first, merge_component(f, merge, values, false));
    }
    case VALUE_SEQUENCE:
        break;
    }
    return merge_sequences(f, merge, values);
}

const FlowValue *flatten_merge(Flattener *f, FlowOperand selector, FlowSpaceId space, const FlowValue *const *values,
                               const FlowSpaceId *spaces, uint32_t count)
{
    Merge merge = {.selector = selector, .space = space, .spaces = spaces, .count = count};
    return merge_values(f, &merge, values);
}

/* ---- restricting ---- */

const FlowValue *flatten_restrict(Flattener *f, const FlowValue *value, FlowSpaceId filter)
{
    if (!flatten_has_sequence(value))
        return value;
    if (value->kind == VALUE_PAIR) {
        const FlowValue *first = flatten_restrict(f, value->first, filter);
        return flatten_value_pair(f, first, flatten_restrict(f, value->rest, filter));
    }
    FlowSpaceId space = flatten_restricted(f, value->space, filter);
    /* elements that are sequences have children of the points that survive, in the filter below the restriction */
    const FlowValue *element = flatten_restrict(f, value->element, flatten_space(f, space)->base);
    return flatten_value_sequence(f, space, element, value->element_type);
}
