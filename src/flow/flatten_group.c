/* Groups, in one of two forms.
 *
 * Where a group's members are only reduced (flatten_members.c), the groups are a table: nothing is held but the distinct keys and an
 * accumulator for each. The members then have the points of what is grouped, in its order, and each knows the number of its group. Work
 * on each of them alone is done there; of the groups' own values they see only the key, of which the table gives each point a copy.
 *
 * Otherwise all points of a parent are collected, and come out in order of their groups. */
#include "flow/flatten_internal.h"

/* The leaves of an element, with room in front of them and behind. */
static uint32_t add_element_leaves(Flattener *f, FlowOperand *inputs, uint32_t at, const FlowValue *element,
                                   FlowSpaceId space)
{
    Leaves leaves = flatten_leaves(f, element);
    for (uint32_t i = 0; i < leaves.count; i++)
        inputs[at + i] = flatten_bring(f, leaves.items[i], space);
    return at + leaves.count;
}

/* ---- collected ---- */

/* The parameters of a group's body: the key, and a sequence of members for each further argument. */
static const FlowValue **collected_arguments(Flattener *f, const CoreStatement *statement, FlowSpaceId space,
                                             const FlowValue **elements, FlowSpaceId *groups)
{
    uint32_t count = statement->argument_count, leaf_count = 0, at = 1;
    FlowSpaceId parent = flatten_space(f, space)->parent;
    for (uint32_t i = 0; i < count; i++) {
        elements[i] = flatten_concrete(f, elements[i], space);
        leaf_count += flatten_leaves(f, elements[i]).count;
    }
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 2 + leaf_count + SEGMENT_INPUTS);
    inputs[0] = flatten_driver(f, space);
    for (uint32_t i = 0; i < count; i++)
        at = add_element_leaves(f, inputs, at, elements[i], space);
    TypeId key_type = flatten_element_type(f, statement->arguments[0].type);
    const Layout *key = flatten_layout(f, key_type);
    if (leaf_count == key->count) { /* members without leaves: something must drive their space */
        inputs[at++] = flatten_constant(SCALAR_BOOL, (Scalar){0});
        leaf_count++;
    }
    FlowSegments segments = flatten_segments(f, space, inputs, &at);
    *groups = flatten_new_space(f, (FlowSpace){.kind = SPACE_GROUP, .parent = parent, .segments = SEGMENTS_ENDS});
    FlowSpaceId members =
        flatten_new_space(f, (FlowSpace){.kind = SPACE_MEMBERS, .parent = *groups, .segments = SEGMENTS_ENDS});
    FlowNode *node = flatten_node(f, FLOW_GROUP, space, inputs, at);
    node->segments = segments;
    node->layout = key;
    FlowStreamId points = flatten_output(f, LEAF_POINTS, *groups);
    FlowStreamId group_ends = flatten_output(f, LEAF_ENDS, parent);
    FlowOperand *outputs = ARENA_ARRAY(f->arena, FlowOperand, leaf_count);
    for (uint32_t i = 0; i < key->count; i++)
        outputs[i] = flatten_stream(f, flatten_output(f, key->leaves[i].type, *groups));
    FlowStreamId member_ends = flatten_output(f, LEAF_ENDS, *groups);
    for (uint32_t i = key->count; i < leaf_count; i++)
        outputs[i] = flatten_stream(f, flatten_output(f, inputs[1 + i].type, members));
    flatten_space(f, *groups)->driver = points;
    flatten_space(f, *groups)->ends = group_ends;
    flatten_space(f, members)->driver = outputs[key->count].stream;
    flatten_space(f, members)->ends = member_ends;

    const FlowValue **arguments = ARENA_ARRAY(f->arena, const FlowValue *, count);
    arguments[0] = flatten_from_leaves(f, key_type, outputs, *groups);
    uint32_t first = key->count;
    for (uint32_t i = 1; i < count; i++) {
        TypeId type = flatten_element_type(f, statement->arguments[i].type);
        const FlowValue *element = flatten_from_leaves(f, type, outputs + first, members);
        arguments[i] = flatten_value_sequence(f, members, element, type);
        first += flatten_leaves(f, elements[i]).count;
    }
    return arguments;
}

/* ---- tables ---- */

/* The outputs of GROUP_TABLE. */
enum { TABLE_NUMBER, TABLE_KEYS };

static const FlowNode *table_node(const Flattener *f, FlowSpaceId members)
{
    FlowStreamId number = flatten_space(f, members)->number;
    return &f->network->nodes.items[f->network->streams.items[number].node];
}

static FlowStreamId group_number(const FlowNode *table)
{
    return table->outputs[TABLE_KEYS + table->layout->count + 1];
}

FlowOperand flatten_table_key(const Flattener *f, FlowOperand operand, FlowSpaceId members)
{
    const FlowNode *table = table_node(f, members);
    uint32_t count = table->layout->count;
    for (uint32_t i = 0; i < count; i++)
        if (table->outputs[TABLE_KEYS + count + 2 + i] == operand.stream)
            return flatten_stream(f, table->outputs[TABLE_KEYS + i]);
    bug("flatten", "a member of a group in a table needs a value of the group");
}

static const FlowValue *key_outputs(Flattener *f, TypeId type, const Layout *layout, FlowSpaceId space)
{
    FlowOperand *keys = ARENA_ARRAY(f->arena, FlowOperand, layout->count);
    for (uint32_t i = 0; i < layout->count; i++)
        keys[i] = flatten_stream(f, flatten_output(f, layout->leaves[i].type, space));
    return flatten_from_leaves(f, type, keys, space);
}

/* Gives the key at the groups. */
static const FlowValue *make_table(Flattener *f, FlowSpaceId space, const FlowValue *key, TypeId key_type,
                                   FlowSpaceId *groups, FlowSpaceId *members)
{
    FlowSpace from = *flatten_space(f, space);
    const Layout *layout = flatten_layout(f, key_type);
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 1 + layout->count + SEGMENT_INPUTS);
    inputs[0] = flatten_driver(f, space);
    uint32_t count = add_element_leaves(f, inputs, 1, key, space);
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    *groups = flatten_new_space(f, (FlowSpace){.kind = SPACE_GROUP, .parent = from.parent, .segments = SEGMENTS_ENDS});
    FlowNode *node = flatten_node(f, FLOW_GROUP_TABLE, space, inputs, count);
    node->segments = segments;
    node->layout = layout;
    FlowStreamId number = flatten_output(f, SCALAR_I64, space);
    key_outputs(f, key_type, layout, space);
    FlowStreamId ends = flatten_output(f, LEAF_ENDS, from.parent);
    FlowStreamId driver = flatten_output(f, SCALAR_I64, *groups);
    const FlowValue *group_key = key_outputs(f, key_type, layout, *groups);
    flatten_space(f, *groups)->driver = driver;
    flatten_space(f, *groups)->ends = ends;
    *members = flatten_new_space(f, (FlowSpace){.kind = SPACE_MEMBERS,
                                                .parent = *groups,
                                                .points = flatten_points(f, space),
                                                .base = space,
                                                .driver = from.driver,
                                                .segments = SEGMENTS_ENDS,
                                                .number = number});
    return group_key;
}

static const FlowValue **table_arguments(Flattener *f, const CoreStatement *statement, FlowSpaceId space,
                                         const FlowValue **elements, FlowSpaceId *groups)
{
    const FlowValue **arguments = ARENA_ARRAY(f->arena, const FlowValue *, statement->argument_count);
    FlowSpaceId members;
    TypeId key_type = flatten_element_type(f, statement->arguments[0].type);
    arguments[0] = make_table(f, space, elements[0], key_type, groups, &members);
    for (uint32_t i = 1; i < statement->argument_count; i++)
        arguments[i] = flatten_value_sequence(f, members, elements[i],
                                              flatten_element_type(f, statement->arguments[i].type));
    return arguments;
}

FlowSpaceId flatten_table(const Flattener *f, FlowSpaceId space)
{
    while (flatten_space(f, space)->kind == SPACE_FLAT)
        space = flatten_space(f, space)->middle;
    const FlowSpace *known = flatten_space(f, space);
    return known->kind == SPACE_MEMBERS && known->number != 0 ? space : 0;
}

/* The ends of a table's space as the parent of its groups sees it. */
static FlowOperand table_ends(Flattener *f, FlowSpaceId space, FlowSpaceId parent)
{
    if (flatten_space(f, space)->kind == SPACE_MEMBERS)
        return flatten_ends(f, flatten_space(f, space)->base);
    FlowOperand outer = table_ends(f, flatten_space(f, space)->middle, parent);
    return flatten_compose(f, parent, outer, flatten_ends(f, flatten_space(f, space)->base));
}

FlowOperand flatten_fold_by(Flattener *f, Op op, FlowOperand element, LeafType result, FlowSpaceId space)
{
    FlowSpaceId members = flatten_table(f, space), groups = flatten_space(f, members)->parent;
    FlowSpaceId parent = flatten_space(f, groups)->parent;
    FlowOperand inputs[5] = {flatten_bring(f, element, space)};
    inputs[1] = flatten_bring_stream(f, flatten_stream(f, flatten_space(f, members)->number), space);
    inputs[2] = flatten_stream(f, group_number(table_node(f, members)));
    uint32_t count = 3;
    bool is_single = flatten_is_unit(f, parent);
    if (!is_single) {
        inputs[count++] = table_ends(f, space, parent);
        inputs[count++] = flatten_ends(f, groups);
    }
    FlowNode *node = flatten_node(f, FLOW_FOLD_BY, space, inputs, count);
    node->segments = is_single ? SEGMENTS_SINGLE : SEGMENTS_ENDS;
    node->core_op = op;
    node->scalar = (ScalarType)element.type;
    flatten_output(f, result, groups);
    return flatten_shared(f);
}

/* ---- both ---- */

const FlowValue *flatten_group(Flattener *f, const CoreStatement *statement)
{
    const FlowValue **elements = ARENA_ARRAY(f->arena, const FlowValue *, statement->argument_count);
    FlowSpaceId space = flatten_zip_arguments(f, statement, elements), groups;
    const FlowValue **arguments = flatten_reduces_members(f, statement)
                                      ? table_arguments(f, statement, space, elements, &groups)
                                      : collected_arguments(f, statement, space, elements, &groups);
    const FlowValue *value = flatten_body(f, statement->blocks[0], groups, arguments);
    TypeId type = flatten_element_type(f, f->core->variables.items[statement->target].type);
    return flatten_collect(f, flatten_value_sequence(f, groups, value, type));
}
