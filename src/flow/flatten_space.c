/* Spaces: how they are made, how points find their parents, and how values get from one to another. */
#include "flow/flatten_internal.h"

FlowSpace *flatten_space(const Flattener *f, FlowSpaceId space)
{
    return &f->network->spaces.items[space];
}

FlowSpaceId flatten_new_space(Flattener *f, FlowSpace space)
{
    if (space.points == 0) {
        space.points = f->points.count;
        *vec_push(f->arena, &f->points) = space.points;
    }
    if (space.parent != 0 && flatten_is_unit(f, space.parent))
        space.segments = SEGMENTS_SINGLE;
    FlowSpaceId id = f->network->spaces.count;
    *vec_push(f->arena, &f->network->spaces) = space;
    return id;
}

/* ---- sets of points ---- */

static uint32_t representative(const Flattener *f, uint32_t points)
{
    while (f->points.items[points] != points)
        points = f->points.items[points];
    return points;
}

uint32_t flatten_points(const Flattener *f, FlowSpaceId space)
{
    return representative(f, f->network->spaces.items[space].points);
}

bool flatten_is_unit(const Flattener *f, FlowSpaceId space)
{
    return flatten_points(f, space) == FLOW_UNIT;
}

void flatten_unite(Flattener *f, FlowSpaceId a, FlowSpaceId b)
{
    uint32_t first = flatten_points(f, a), second = flatten_points(f, b);
    if (first < second) /* the older one stands for both: unit stays unit */
        f->points.items[second] = first;
    else
        f->points.items[first] = second;
}

static FlowSpaceId space_of(const Flattener *f, FlowOperand operand)
{
    return f->network->streams.items[operand.stream].space;
}

bool flatten_is_on(const Flattener *f, FlowOperand operand, FlowSpaceId space)
{
    return !operand.is_constant && flatten_points(f, space_of(f, operand)) == flatten_points(f, space);
}

/* ---- making spaces ---- */

FlowSpaceId flatten_range(Flattener *f, FlowSpaceId parent, FlowOperand count)
{
    count = flatten_bring(f, count, parent);
    bool is_single = flatten_is_unit(f, parent);
    bool is_regular = !is_single && (count.is_constant || count.is_uniform);
    FlowSpaceId space = flatten_new_space(
        f, (FlowSpace){.kind = SPACE_RANGE,
                       .parent = parent,
                       .segments = is_single ? SEGMENTS_SINGLE : is_regular ? SEGMENTS_REGULAR : SEGMENTS_ENDS,
                       .count = count});
    FlowOperand inputs[2] = {count};
    uint32_t input_count = 1;
    if (is_regular)
        inputs[input_count++] = flatten_driver(f, parent);
    FlowNode *node = flatten_node(f, FLOW_RANGE, space, inputs, input_count);
    node->segments = flatten_space(f, space)->segments;
    FlowStreamId index = flatten_output(f, SCALAR_I64, space);
    flatten_space(f, space)->driver = index;
    if (!is_single && !is_regular)
        flatten_space(f, space)->ends = flatten_output(f, LEAF_ENDS, parent);
    return space;
}

FlowSpaceId flatten_filter(Flattener *f, FlowSpaceId parent, FlowOperand flags, bool keep)
{
    flags = flatten_bring_stream(f, flags, parent);
    FlowSpaceId space = flatten_new_space(f, (FlowSpace){.kind = SPACE_FILTER,
                                                         .parent = parent,
                                                         .segments = SEGMENTS_ENDS,
                                                         .flags = flags.stream,
                                                         .keep = keep});
    flatten_node(f, FLOW_FILTER, space, &flags, 1)->keep = keep;
    FlowStreamId points = flatten_output(f, LEAF_POINTS, space);
    flatten_space(f, space)->driver = points;
    return space;
}

/* The number of points of regular spaces below each other. */
static FlowOperand multiply_counts(Flattener *f, FlowOperand a, FlowOperand b)
{
    FlowOperand operands[] = {a, b};
    operands[0].is_uniform = operands[1].is_uniform = false;
    if (a.is_constant && b.is_constant)
        return flatten_int((int64_t)((uint64_t)a.constant.integer * (uint64_t)b.constant.integer));
    FlowNode *node = flatten_node(f, FLOW_OPERATION, FLOW_UNIT, operands, 2);
    node->core_op = OP_MULTIPLY;
    node->scalar = SCALAR_I64;
    flatten_output(f, SCALAR_I64, FLOW_UNIT);
    FlowOperand count = flatten_shared(f);
    count.is_uniform = true;
    return count;
}

FlowSpaceId flatten_flat(Flattener *f, FlowSpaceId inner, FlowSpaceId outer)
{
    FlowSpace from = *flatten_space(f, inner);
    FlowSpace middle = *flatten_space(f, outer);
    FlowSpace flat = {.kind = SPACE_FLAT,
                      .parent = middle.parent,
                      .middle = outer,
                      .points = flatten_points(f, inner),
                      .base = inner,
                      .driver = from.driver,
                      .segments = SEGMENTS_ENDS};
    if (from.segments == SEGMENTS_REGULAR && middle.segments == SEGMENTS_REGULAR) {
        flat.segments = SEGMENTS_REGULAR;
        flat.count = multiply_counts(f, from.count, middle.count);
    }
    return flatten_new_space(f, flat);
}

FlowSpaceId flatten_restricted(Flattener *f, FlowSpaceId space, FlowSpaceId filter)
{
    for (FlowSpaceId i = 1; i < f->network->spaces.count; i++) {
        const FlowSpace *known = flatten_space(f, i);
        if (known->kind == SPACE_RESTRICT && flatten_space(f, known->base)->parent == space && known->parent == filter)
            return i;
    }
    FlowSpace by = *flatten_space(f, filter);
    FlowOperand flags = flatten_bring_stream(f, flatten_stream(f, by.flags), space);
    FlowSpaceId kept = flatten_filter(f, space, flags, by.keep);
    return flatten_new_space(f, (FlowSpace){.kind = SPACE_RESTRICT,
                                            .parent = filter,
                                            .points = flatten_points(f, kept),
                                            .base = kept,
                                            .driver = flatten_space(f, kept)->driver,
                                            .segments = SEGMENTS_ENDS});
}

/* ---- segments ---- */

FlowOperand flatten_driver(Flattener *f, FlowSpaceId space)
{
    return flatten_stream(f, flatten_space(f, space)->driver);
}

FlowOperand flatten_compose(Flattener *f, FlowSpaceId parent, FlowOperand outer, FlowOperand inner)
{
    FlowOperand inputs[] = {outer, inner};
    flatten_node(f, FLOW_COMPOSE, parent, inputs, 2);
    flatten_output(f, LEAF_ENDS, parent);
    return flatten_shared(f);
}

static FlowOperand flag_ends(Flattener *f, const FlowSpace *filter)
{
    FlowOperand flags = flatten_stream(f, filter->flags);
    flatten_node(f, FLOW_FLAG_ENDS, filter->parent, &flags, 1)->keep = filter->keep;
    flatten_output(f, LEAF_ENDS, filter->parent);
    return flatten_shared(f);
}

/* The ends of a space that has none of its own, from what its parent sees. */
static FlowOperand known_ends(Flattener *f, FlowSpaceId space, const FlowSpace *known)
{
    FlowOperand inputs[1 + SEGMENT_INPUTS] = {flatten_driver(f, space)};
    uint32_t count = 1;
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    flatten_node(f, FLOW_ENDS, known->parent, inputs, count)->segments = segments;
    flatten_output(f, LEAF_ENDS, known->parent);
    return flatten_shared(f);
}

static FlowOperand restricted_ends(Flattener *f, const FlowSpace *known)
{
    FlowSpace kept = *flatten_space(f, known->base), filter = *flatten_space(f, known->parent);
    FlowOperand all = flatten_compose(f, filter.parent, flatten_ends(f, kept.parent), flag_ends(f, &kept));
    FlowOperand inputs[] = {all, flatten_stream(f, filter.flags)};
    flatten_node(f, FLOW_PACK, known->parent, inputs, 2)->keep = filter.keep;
    flatten_output(f, LEAF_ENDS, known->parent);
    return flatten_shared(f);
}

FlowOperand flatten_ends(Flattener *f, FlowSpaceId space)
{
    FlowSpace known = *flatten_space(f, space);
    if (known.ends != 0)
        return flatten_stream(f, known.ends);
    FlowOperand ends;
    if (known.kind == SPACE_FILTER)
        ends = flag_ends(f, &known);
    else if (known.kind == SPACE_RESTRICT)
        ends = restricted_ends(f, &known);
    else if (known.kind == SPACE_FLAT) {
        FlowOperand inner = flatten_ends(f, known.base);
        FlowOperand outer = flatten_ends(f, known.middle);
        ends = flatten_compose(f, known.parent, outer, inner);
    } else
        ends = known_ends(f, space, &known);
    flatten_space(f, space)->ends = ends.stream;
    return ends;
}

FlowSegments flatten_segments(Flattener *f, FlowSpaceId space, FlowOperand *inputs, uint32_t *count)
{
    FlowSpace known = *flatten_space(f, space);
    if (flatten_is_unit(f, known.parent))
        return SEGMENTS_SINGLE;
    if (flatten_table(f, space) != 0)
        bug("flatten", "the members of groups in a table have no segments");
    if (known.segments == SEGMENTS_REGULAR) {
        inputs[(*count)++] = flatten_driver(f, known.parent);
        inputs[(*count)++] = known.count;
        return SEGMENTS_REGULAR;
    }
    inputs[(*count)++] = flatten_ends(f, space);
    return SEGMENTS_ENDS;
}

/* ---- values from one space to another ---- */

/* The next spaces on the ways up: first through the space whose points it shows anew, then its parent. */
static uint32_t ways_up(const Flattener *f, FlowSpaceId space, FlowSpaceId ways[2])
{
    const FlowSpace *known = flatten_space(f, space);
    uint32_t count = 0;
    if (known->base != 0)
        ways[count++] = known->base;
    if (known->parent != 0)
        ways[count++] = known->parent;
    return count;
}

static bool is_above(const Flattener *f, uint32_t points, FlowSpaceId space)
{
    if (points == FLOW_UNIT || flatten_points(f, space) == points)
        return true;
    FlowSpaceId ways[2];
    uint32_t count = ways_up(f, space, ways);
    for (uint32_t i = 0; i < count; i++)
        if (is_above(f, points, ways[i]))
            return true;
    return false;
}

bool flatten_sees(const Flattener *f, FlowSpaceId space, FlowSpaceId above)
{
    return is_above(f, flatten_points(f, above), space);
}

bool flatten_reaches(const Flattener *f, FlowOperand operand, FlowSpaceId space)
{
    return operand.is_constant || is_above(f, flatten_points(f, space_of(f, operand)), space);
}

static FlowOperand distribute(Flattener *f, FlowOperand operand, FlowSpaceId space)
{
    FlowOperand inputs[2 + SEGMENT_INPUTS] = {operand, flatten_driver(f, space)};
    uint32_t count = 2;
    FlowSegments segments =
        operand.is_constant || operand.is_uniform ? SEGMENTS_SINGLE : flatten_segments(f, space, inputs, &count);
    flatten_node(f, FLOW_DISTRIBUTE, space, inputs, count)->segments = segments;
    flatten_output(f, operand.type, space);
    return flatten_shared(f);
}

static FlowOperand pack(Flattener *f, FlowOperand operand, FlowSpaceId space)
{
    FlowSpace filter = *flatten_space(f, space);
    FlowOperand inputs[] = {operand, flatten_stream(f, filter.flags)};
    flatten_node(f, FLOW_PACK, space, inputs, 2)->keep = filter.keep;
    flatten_output(f, operand.type, space);
    return flatten_shared(f);
}

FlowOperand flatten_bring(Flattener *f, FlowOperand operand, FlowSpaceId space)
{
    operand.is_uniform = false;
    if (operand.is_constant || flatten_is_on(f, operand, space))
        return operand;
    uint32_t points = flatten_points(f, space_of(f, operand));
    if (points == FLOW_UNIT) {
        operand.is_uniform = true;
        return operand;
    }
    FlowSpace target = *flatten_space(f, space);
    if (target.base != 0 && is_above(f, points, target.base))
        return flatten_bring(f, operand, target.base);
    if (target.parent == 0)
        bug("flatten", "a value cannot be brought to a space that does not see it");
    operand = flatten_bring(f, operand, target.parent);
    if (target.number != 0)
        return flatten_table_key(f, operand, space);
    return target.kind == SPACE_FILTER ? pack(f, operand, space) : distribute(f, operand, space);
}

FlowOperand flatten_bring_stream(Flattener *f, FlowOperand operand, FlowSpaceId space)
{
    operand = flatten_bring(f, operand, space);
    return operand.is_constant || operand.is_uniform ? distribute(f, operand, space) : operand;
}

FlowOperand flatten_local_index(Flattener *f, FlowSpaceId space)
{
    FlowSpace known = *flatten_space(f, space);
    const FlowNode *driving = &f->network->nodes.items[f->network->streams.items[known.driver].node];
    if (driving->op == FLOW_RANGE && driving->space == space && f->network->streams.items[known.driver].type == SCALAR_I64)
        return flatten_stream(f, known.driver); /* not if the range is another one with the same points */
    FlowOperand inputs[1 + SEGMENT_INPUTS] = {flatten_driver(f, space)};
    uint32_t count = 1;
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    flatten_node(f, FLOW_LOCAL_INDEX, space, inputs, count)->segments = segments;
    flatten_output(f, SCALAR_I64, space);
    return flatten_shared(f);
}
