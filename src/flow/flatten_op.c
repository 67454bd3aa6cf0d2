/* Operations: what each of ops.def becomes. Where one works on both containers, vectors are streamed, and the result is collected. */
#include "core/builtin_operator.h"
#include "flow/flatten_internal.h"
#include "math/scalar_range.h"

/* An operation being flattened. */
typedef struct Operation {
    Flattener *f;
    const CoreStatement *statement;
    Op op;
    FlowSpaceId space;           /* of the context */
    const FlowValue **arguments;
    TypeId type; /* of the result, by representation */
} Operation;

static bool is_vector_result(const Operation *o)
{
    return type_is_vector(o->f->types, o->type);
}

static TypeId result_element(const Operation *o)
{
    return type_element(o->f->types, o->type);
}

static const FlowValue *sequence_argument(const Operation *o, uint32_t argument)
{
    return flatten_as_sequence(o->f, o->arguments[argument], o->space);
}

static FlowOperand scalar_argument(const Operation *o, uint32_t argument)
{
    return o->arguments[argument]->scalar;
}

/* The vector of a sequence's elements; only the sequence if that is all its reader wants. */
static const FlowValue *give_vector(const Operation *o, const FlowValue *sequence)
{
    if (!flatten_goes_through(o->f, o->statement->target))
        return flatten_collect(o->f, sequence);
    const FlowValue *element = flatten_concrete(o->f, sequence->element, sequence->space);
    return flatten_value_sequence(o->f, sequence->space, element, sequence->element_type);
}

/* The sequence, or the vector of its elements if that is what the operation gives. */
static const FlowValue *give_container(const Operation *o, FlowSpaceId space, const FlowValue *element)
{
    const FlowValue *sequence = flatten_value_sequence(o->f, space, element, result_element(o));
    return is_vector_result(o) ? give_vector(o, sequence) : sequence;
}

static const FlowValue *give_stream(const Operation *o, LeafType type, FlowSpaceId space)
{
    return flatten_value_scalar(o->f, flatten_stream(o->f, flatten_output(o->f, type, space)));
}

/* ---- scalars ---- */

typedef enum ScalarClass { CLASS_NOT_SCALAR, CLASS_TOTAL, CLASS_PARTIAL, CLASS_COSTLY } ScalarClass;

/* Of operations in math/scalar_ops.def: those that never fail and are cheap, those that may fail, those that cost more. */
static ScalarClass scalar_class(Op op)
{
    switch (op) {
#define SCALAR_UNARY(OP, function) case OP_##OP:
#define SCALAR_BINARY(OP, function) case OP_##OP:
#define SCALAR_COMPARISON(OP, orders) case OP_##OP:
#include "math/scalar_ops.def"
        return CLASS_TOTAL;
#define SCALAR_PARTIAL(OP, function) case OP_##OP:
#include "math/scalar_ops.def"
        return CLASS_PARTIAL;
#define SCALAR_MATH_1(OP, function) case OP_##OP:
#define SCALAR_MATH_2(OP, function) case OP_##OP:
#include "math/scalar_ops.def"
        return CLASS_COSTLY;
    default:
        return CLASS_NOT_SCALAR;
    }
}

bool flatten_may_fail(Op op, ScalarType operand, ScalarType result)
{
    bool is_float = scalar_kind(operand) == KIND_FLOATING, to_float = scalar_kind(result) == KIND_FLOATING;
    if (scalar_class(op) != CLASS_PARTIAL)
        return false;
    switch (op) {
    case OP_DIVIDE:
    case OP_REMAINDER:
    case OP_MODULO:
        return !is_float;
    case OP_POWER:
        return true;
    case OP_FMA:
    case OP_LDEXP:
    case OP_RANDOM:
    case OP_PI:
    case OP_NAN:
    case OP_INF:
    case OP_MAX_INT:
    case OP_MIN_INT:
    case OP_IS_NAN:
    case OP_IS_INF:
    case OP_IS_FINITE:
    case OP_SIGNBIT:
    case OP_TO_BOOL:
        return false;
    default:
        return is_float && !to_float; /* conversions */
    }
}

static ScalarType scalar_of(Flattener *f, TypeId type)
{
    return type_scalar(f->types, flatten_representation(f, type));
}

static bool is_scalar_type(Flattener *f, TypeId type)
{
    return type_kind(f->types, flatten_representation(f, type)) == TYPE_SCALAR;
}

bool flatten_is_cheap_op(Flattener *f, const CoreStatement *statement)
{
    ScalarClass class = scalar_class(statement->op);
    TypeId target = f->core->variables.items[statement->target].type;
    if (class == CLASS_NOT_SCALAR || class == CLASS_COSTLY || statement->argument_count == 0 ||
        !is_scalar_type(f, statement->arguments[0].type))
        return false;
    return !flatten_may_fail(statement->op, scalar_of(f, statement->arguments[0].type), scalar_of(f, target)) &&
           statement->op != OP_DIVIDE && statement->op != OP_RANDOM;
}

static bool fold_constants(Op op, ScalarType result, const FlowOperand *operands, uint32_t count, Scalar *value)
{
    Scalar arguments[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!operands[i].is_constant)
            return false;
        arguments[i] = operands[i].constant;
    }
    return scalar_apply(op, count == 0 ? result : (ScalarType)operands[0].type, result, arguments, value);
}

/* Operands at a space, at least one of them read point by point: that tells how often. */
static void bring_all(Flattener *f, const FlowOperand *operands, uint32_t count, FlowSpaceId space, FlowOperand *inputs)
{
    bool has_stream = false;
    for (uint32_t i = 0; i < count; i++) {
        inputs[i] = flatten_bring(f, operands[i], space);
        has_stream |= !inputs[i].is_constant && !inputs[i].is_uniform;
    }
    if (!has_stream)
        inputs[0] = flatten_bring_stream(f, operands[0], space);
}

FlowOperand flatten_scalar_op(Flattener *f, Op op, ScalarType result, const FlowOperand *operands, uint32_t count)
{
    Scalar value;
    if (fold_constants(op, result, operands, count, &value))
        return flatten_constant(result, value);
    ScalarType type = (ScalarType)operands[0].type;
    bool may_fail = flatten_may_fail(op, type, result);
    FlowSpaceId space = may_fail ? f->context->space : flatten_place(f, operands, count);
    FlowOperand inputs[3];
    bring_all(f, operands, count, space, inputs);
    FlowNode *node = flatten_node(f, FLOW_OPERATION, space, inputs, count);
    node->core_op = op;
    node->scalar = type;
    flatten_output(f, (LeafType)result, space);
    return may_fail ? flatten_stream(f, vec_last(&f->network->nodes).outputs[0]) : flatten_shared(f);
}

static FlowOperand binary(Flattener *f, Op op, ScalarType result, FlowOperand a, FlowOperand b)
{
    FlowOperand operands[] = {a, b};
    return flatten_scalar_op(f, op, result, operands, 2);
}

static const FlowValue *op_scalar(const Operation *o)
{
    FlowOperand operands[3];
    for (uint32_t i = 0; i < o->statement->argument_count; i++)
        operands[i] = scalar_argument(o, i);
    return flatten_value_scalar(o->f, flatten_scalar_op(o->f, o->op, type_scalar(o->f->types, o->type), operands,
                                                        o->statement->argument_count));
}

/* ---- whole values, point by point ---- */

static bool does_io(Op op)
{
    return op_table[op].effect == EFFECT_IO && op != OP_FAIL && op != OP_NOT_PROVIDED && op != OP_RAISE;
}

/* Makes a node ROWS at the context; its outputs are the caller's to add. */
static void make_rows(const Operation *o)
{
    Flattener *f = o->f;
    uint32_t count = o->statement->argument_count, input_count = 1;
    const Layout **layouts = ARENA_ARRAY(f->arena, const Layout *, count);
    Leaves *leaves = ARENA_ARRAY(f->arena, Leaves, count);
    for (uint32_t i = 0; i < count; i++) {
        const FlowValue *argument = flatten_concrete(f, o->arguments[i], o->space);
        layouts[i] = flatten_layout(f, o->statement->arguments[i].type);
        leaves[i] = flatten_leaves(f, argument);
        input_count += leaves[i].count;
    }
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, input_count);
    inputs[0] = flatten_driver(f, o->space);
    uint32_t at = 1;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t leaf = 0; leaf < leaves[i].count; leaf++)
            inputs[at++] = flatten_bring(f, leaves[i].items[leaf], o->space);
    const Layout *layout = flatten_layout(f, o->type);
    FlowNode *node = flatten_node(f, FLOW_ROWS, o->space, inputs, input_count);
    node->core_op = o->op;
    node->layouts = layouts;
    node->layout_count = count;
    node->layout = layout;
    if (does_io(o->op))
        flatten_order(f);
}

static const FlowValue *op_rows(const Operation *o)
{
    make_rows(o);
    const Layout *layout = vec_last(&o->f->network->nodes).layout;
    FlowOperand *outputs = ARENA_ARRAY(o->f->arena, FlowOperand, layout->count);
    for (uint32_t i = 0; i < layout->count; i++)
        outputs[i] = flatten_stream(o->f, flatten_output(o->f, layout->leaves[i].type, o->space));
    return flatten_from_leaves(o->f, o->type, outputs, o->space);
}

static bool is_top_space(const Flattener *f, FlowSpaceId space)
{
    while (flatten_space(f, space)->kind == SPACE_FILTER)
        space = flatten_space(f, space)->parent;
    return space == FLOW_UNIT || flatten_space(f, space)->kind == SPACE_ROOT;
}

void flatten_order(Flattener *f)
{
    FlowNetwork *network = f->network;
    FlowNodeId id = network->nodes.count - 1;
    FlowNode *node = &network->nodes.items[id];
    node->after = ARENA_ARRAY(f->arena, FlowNodeId, id - f->first_after_io);
    for (FlowNodeId i = f->first_after_io; i < id; i++) {
        const FlowNode *earlier = &network->nodes.items[i];
        FlowSpaceId made_on = earlier->output_count > 0 ? network->streams.items[earlier->outputs[0]].space : earlier->space;
        if (i == f->first_after_io || is_top_space(f, made_on))
            node->after[node->after_count++] = i;
    }
    f->first_after_io = id;
}

/* A value of a type whose streams the node made last has as outputs, and never gives an element of. */
static const FlowValue *never(Flattener *f, TypeId type, FlowSpaceId space)
{
    type = flatten_representation(f, type);
    if (type_kind(f->types, type) == TYPE_SCALAR)
        return flatten_value_scalar(
            f, flatten_stream(f, flatten_output(f, (LeafType)type_scalar(f->types, type), space)));
    if (type_kind(f->types, type) == TYPE_PAIR) {
        const FlowValue *first = never(f, type_first(f->types, type), space);
        return flatten_value_pair(f, first, never(f, type_rest(f->types, type), space));
    }
    if (type_kind(f->types, type) != TYPE_CONTAINER)
        return flatten_value_unit(f);
    TypeId element_type = type_element(f->types, type);
    if (type_is_vector(f->types, type)) {
        FlowOperand array = flatten_stream(f, flatten_output(f, LEAF_ARRAY, space));
        FlowOperand start = flatten_stream(f, flatten_output(f, SCALAR_I64, space));
        return flatten_value_vector(f, array, start, flatten_stream(f, flatten_output(f, SCALAR_I64, space)),
                                    element_type);
    }
    FlowSpaceId none =
        flatten_new_space(f, (FlowSpace){.kind = SPACE_PART, .parent = space, .segments = SEGMENTS_ENDS});
    FlowStreamId points = flatten_output(f, LEAF_POINTS, none);
    FlowStreamId ends = flatten_output(f, LEAF_ENDS, space);
    flatten_space(f, none)->driver = points;
    flatten_space(f, none)->ends = ends;
    return flatten_value_sequence(f, none, never(f, element_type, none), element_type);
}

static const FlowValue *op_never(const Operation *o)
{
    make_rows(o);
    return never(o->f, o->type, o->space);
}

/* Whether an Order is one of those for which the comparison holds. */
static const FlowValue *is_one_of(const Operation *o, FlowOperand order, Order orders)
{
    FlowOperand mask = flatten_constant(SCALAR_I32, (Scalar){.integer = orders});
    FlowOperand none = flatten_constant(SCALAR_I32, (Scalar){.integer = 0});
    FlowOperand found = binary(o->f, OP_AND, SCALAR_I32, order, mask);
    return flatten_value_scalar(o->f, binary(o->f, OP_NOT_EQUAL, SCALAR_BOOL, found, none));
}

static const FlowValue *compare_sequences(const Operation *o)
{
    FlowOperand order = flatten_order_of(o->f, o->statement->arguments[0].type, o->arguments[0], o->arguments[1]);
    switch ((int)o->op) {
#define SCALAR_COMPARISON(OP, orders)                                                                                 \
    case OP_##OP: return is_one_of(o, order, orders);
#include "math/scalar_ops.def"
    }
    bug("flatten", "there is no such comparison");
}

static const FlowValue *op_compare(const Operation *o)
{
    if (flatten_has_sequence(o->arguments[0]))
        return compare_sequences(o);
    return is_scalar_type(o->f, o->statement->arguments[0].type) ? op_scalar(o) : op_rows(o);
}

/* ---- ranges ---- */

/* Where counts depend on nothing below, they are computed above, so that the space is regular; what makes the operation fail is still
 * looked for at the points of the context. */
static FlowOperand count_node(const Operation *o, const FlowOperand *operands, uint32_t count, FlowSpaceId space,
                              bool checks)
{
    Flattener *f = o->f;
    FlowOperand inputs[3];
    bring_all(f, operands, count, space, inputs);
    FlowNode *node = flatten_node(f, FLOW_COUNT, space, inputs, count);
    node->core_op = o->op;
    node->scalar = (ScalarType)operands[0].type;
    node->keep = checks;
    FlowStreamId made = flatten_output(f, SCALAR_I64, space);
    return checks ? flatten_stream(f, made) : flatten_shared(f);
}

static bool can_count_fail(const Operation *o, const FlowOperand *operands, uint32_t count)
{
    if (o->op == OP_IOTA)
        return !operands[0].is_constant || operands[0].constant.integer < 0;
    if (o->op == OP_RANGE) {
        double step = operands[2].type == SCALAR_F64   ? operands[2].constant.f64
                      : operands[2].type == SCALAR_F32 ? (double)operands[2].constant.f32
                                                       : (double)operands[2].constant.integer;
        return !operands[2].is_constant || step == 0.0;
    }
    (void)count;
    return o->op == OP_NESL_RANGE;
}

static bool are_constants(const FlowOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!operands[i].is_constant)
            return false;
    return true;
}

/* How many elements a range between constants has; more than can be counted are not. */
static bool fold_count(const Operation *o, const FlowOperand *operands, FlowOperand *count)
{
    bool is_inclusive = o->op == OP_RANGE_INCLUSIVE;
    if ((o->op != OP_RANGE && !is_inclusive) || !operands[0].is_constant || !operands[1].is_constant || can_count_fail(o, operands, 3))
        return false;
    ScalarType type = (ScalarType)operands[0].type;
    Scalar first = operands[0].constant, end = operands[1].constant;
    uint64_t elements = is_inclusive ? range_count_inclusive(type, first, end) : range_count(type, first, end, operands[2].constant);
    if (elements > INT64_MAX)
        return false;
    *count = flatten_int((int64_t)elements);
    return true;
}

static FlowOperand count_range(const Operation *o, const FlowOperand *operands, uint32_t count)
{
    FlowOperand folded;
    if (o->op == OP_INDICES || (o->op == OP_IOTA && !can_count_fail(o, operands, count)))
        return operands[0];
    if (fold_count(o, operands, &folded))
        return folded;
    FlowSpaceId place = flatten_place(o->f, operands, count);
    if (are_constants(operands, count))
        place = o->space; /* nothing else tells how often */
    if (!can_count_fail(o, operands, count))
        return count_node(o, operands, count, place, false);
    if (flatten_points(o->f, place) == flatten_points(o->f, o->space))
        return count_node(o, operands, count, place, true);
    count_node(o, operands, count, o->space, true);
    return count_node(o, operands, count, place, false);
}

static bool is_constant_int(FlowOperand operand, int64_t value)
{
    return operand.is_constant && scalar_kind((ScalarType)operand.type) != KIND_FLOATING &&
           operand.constant.integer == value;
}

static FlowOperand range_element(const Operation *o, FlowOperand index, FlowOperand first, FlowOperand step)
{
    Flattener *f = o->f;
    ScalarType type = (ScalarType)first.type;
    if (type != SCALAR_I64)
        index = flatten_scalar_op(f, op_conversion_to(type), type, &index, 1);
    if (!is_constant_int(step, 1))
        index = binary(f, OP_MULTIPLY, type, index, step);
    return is_constant_int(first, 0) ? index : binary(f, OP_ADD, type, first, index);
}

static const FlowValue *op_range(const Operation *o)
{
    Flattener *f = o->f;
    FlowOperand operands[3];
    uint32_t count = o->statement->argument_count;
    for (uint32_t i = 0; i < count; i++)
        operands[i] = scalar_argument(o, i);
    FlowSpaceId space = flatten_range(f, o->space, count_range(o, operands, count));
    FlowOperand index = flatten_driver(f, space);
    if (o->op != OP_IOTA && o->op != OP_INDICES) {
        FlowOperand one = flatten_constant((ScalarType)operands[0].type, (Scalar){.integer = 1});
        flatten_enter(f, space, false);
        index = range_element(o, index, operands[0], o->op == OP_RANGE_INCLUSIVE ? one : operands[2]);
        flatten_leave(f);
    }
    return flatten_value_sequence(f, space, flatten_value_scalar(f, index), result_element(o));
}

/* ---- zip, append, concat ---- */

static void check_lengths(Flattener *f, Op op, FlowSpaceId a, FlowSpaceId b)
{
    FlowSpaceId parent = flatten_space(f, a)->parent;
    bool is_single = flatten_is_unit(f, parent);
    FlowOperand inputs[] = {is_single ? flatten_driver(f, a) : flatten_ends(f, a),
                            is_single ? flatten_driver(f, b) : flatten_ends(f, b)};
    FlowNode *node = flatten_node(f, FLOW_SAME_LENGTHS, parent, inputs, 2);
    node->segments = is_single ? SEGMENTS_SINGLE : SEGMENTS_ENDS;
    node->core_op = op;
}

static bool is_same_range(const Flattener *f, FlowSpaceId a, FlowSpaceId b)
{
    const FlowSpace *first = flatten_space(f, a), *second = flatten_space(f, b);
    return first->kind == SPACE_RANGE && second->kind == SPACE_RANGE &&
           flatten_points(f, first->parent) == flatten_points(f, second->parent) && first->count.type == SCALAR_I64 &&
           second->count.type == SCALAR_I64 && flatten_is_same_operand(first->count, second->count);
}

FlowSpaceId flatten_zip(Flattener *f, Op op, const FlowSpaceId *spaces, const FlowValue **elements, uint32_t count)
{
    /* what is above one of the spaces is not above the others */
    for (uint32_t i = 0; i < count && count > 1; i++)
        elements[i] = flatten_settle(f, elements[i], spaces[i]);
    for (uint32_t i = 1; i < count; i++) {
        if (flatten_points(f, spaces[0]) == flatten_points(f, spaces[i]))
            continue;
        if (!is_same_range(f, spaces[0], spaces[i]))
            check_lengths(f, op, spaces[0], spaces[i]);
        flatten_unite(f, spaces[0], spaces[i]);
    }
    return spaces[0];
}

static const FlowValue *op_zip(const Operation *o)
{
    const FlowValue *a = sequence_argument(o, 0), *b = sequence_argument(o, 1);
    FlowSpaceId spaces[] = {a->space, b->space};
    const FlowValue *elements[] = {a->element, b->element};
    FlowSpaceId space = flatten_zip(o->f, o->op, spaces, elements, 2);
    return give_container(o, space, flatten_value_pair(o->f, elements[0], elements[1]));
}

const FlowValue *flatten_join(Flattener *f, Op op, const FlowValue *const *operands, uint32_t count)
{
    FlowSpaceId parent = f->context->space;
    bool is_single = flatten_is_unit(f, parent);
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, count);
    FlowSpaceId *spaces = ARENA_ARRAY(f->arena, FlowSpaceId, count);
    const FlowValue **elements = ARENA_ARRAY(f->arena, const FlowValue *, count);
    for (uint32_t i = 0; i < count; i++) {
        spaces[i] = operands[i]->space;
        elements[i] = operands[i]->element;
        inputs[i] = is_single ? flatten_driver(f, spaces[i]) : flatten_ends(f, spaces[i]);
    }
    FlowSpaceId space =
        flatten_new_space(f, (FlowSpace){.kind = SPACE_JOIN, .parent = parent, .segments = SEGMENTS_ENDS});
    FlowNode *node = flatten_node(f, FLOW_JOIN, space, inputs, count);
    node->segments = is_single ? SEGMENTS_SINGLE : SEGMENTS_ENDS;
    node->core_op = op;
    FlowStreamId selector = flatten_output(f, SCALAR_I32, space);
    flatten_space(f, space)->driver = selector;
    FlowStreamId ends = flatten_output(f, LEAF_ENDS, parent);
    flatten_space(f, space)->ends = ends;
    const FlowValue *element = flatten_merge(f, flatten_stream(f, selector), space, elements, spaces, count);
    return flatten_value_sequence(f, space, element, operands[0]->element_type);
}

static const FlowValue *op_interleave(const Operation *o)
{
    const FlowValue *first = sequence_argument(o, 0);
    const FlowValue *operands[] = {first, sequence_argument(o, 1)};
    const FlowValue *joined = flatten_join(o->f, o->op, operands, 2);
    return give_container(o, joined->space, joined->element);
}

/* What ++, cons and snoc join: a container, or one element as a container. */
static bool is_element(const Operation *o, uint32_t argument)
{
    return (o->op == OP_CONS && argument == 0) || (o->op == OP_SNOC && argument == 1);
}

static const FlowValue *joined_sequence(const Operation *o, uint32_t argument)
{
    const FlowValue *value = flatten_atom(o->f, &o->statement->arguments[argument]);
    return is_element(o, argument) ? flatten_literal(o->f, &value, 1, result_element(o)) : value;
}

static const Rope *joined_rope(const Operation *o, uint32_t argument)
{
    const FlowValue *value = flatten_lazy_atom(o->f, &o->statement->arguments[argument]);
    if (!is_element(o, argument))
        return flatten_rope(o->f, value);
    const FlowValue **element = ARENA_ARRAY(o->f->arena, const FlowValue *, 1);
    element[0] = flatten_atom(o->f, &o->statement->arguments[argument]);
    return flatten_rope_literal(o->f, element, 1);
}

static const FlowValue *op_append(const Operation *o)
{
    if (is_vector_result(o)) {
        const Rope *left = joined_rope(o, 0);
        return flatten_rope_value(o->f, flatten_rope_append(o->f, left, joined_rope(o, 1)), result_element(o));
    }
    const FlowValue *first = joined_sequence(o, 0);
    const FlowValue *operands[] = {first, joined_sequence(o, 1)};
    return flatten_join(o->f, o->op, operands, 2);
}

static const FlowValue *op_concat(const Operation *o)
{
    const FlowValue *outer = sequence_argument(o, 0);
    const FlowValue *inner = flatten_as_sequence(o->f, outer->element, outer->space);
    return give_container(o, flatten_flat(o->f, inner->space, outer->space), inner->element);
}

static const FlowValue *op_flag_merge(const Operation *o)
{
    Flattener *f = o->f;
    const FlowValue *flags = sequence_argument(o, 0), *xs = sequence_argument(o, 1), *ys = sequence_argument(o, 2);
    bool is_single = flatten_is_unit(f, o->space);
    FlowOperand selector = flatten_bring_stream(f, flags->element->scalar, flags->space);
    FlowOperand inputs[4] = {selector};
    uint32_t count = 1;
    if (!is_single)
        inputs[count++] = flatten_ends(f, flags->space);
    inputs[count++] = is_single ? flatten_driver(f, xs->space) : flatten_ends(f, xs->space);
    inputs[count++] = is_single ? flatten_driver(f, ys->space) : flatten_ends(f, ys->space);
    flatten_node(f, FLOW_CHECK_MERGE, flags->space, inputs, count)->segments =
        is_single ? SEGMENTS_SINGLE : SEGMENTS_ENDS;
    FlowSpaceId spaces[] = {xs->space, ys->space};
    const FlowValue *elements[] = {xs->element, ys->element};
    return give_container(o, flags->space, flatten_merge(f, selector, flags->space, elements, spaces, 2));
}

/* ---- partitions of sequences; of vectors they are slices, cut point by point ---- */

/* The points of a sequence seen from parts, whose ends on the parts are given. */
static const FlowValue *give_parts(const Operation *o, FlowSpaceId parts, const FlowValue *sequence, FlowOperand ends)
{
    Flattener *f = o->f;
    FlowSpace from = *flatten_space(f, sequence->space);
    FlowSpaceId parted = flatten_new_space(f, (FlowSpace){.kind = SPACE_PARTED,
                                                          .parent = parts,
                                                          .points = flatten_points(f, sequence->space),
                                                          .base = sequence->space,
                                                          .driver = from.driver,
                                                          .segments = SEGMENTS_ENDS,
                                                          .ends = ends.stream});
    const FlowValue *part =
        flatten_value_sequence(f, parted, sequence->element, sequence->element_type);
    return flatten_value_sequence(f, parts, part, result_element(o));
}

static FlowOperand ends_node(Flattener *f, FlowOp op, FlowOperand input, FlowSpaceId from, FlowSpaceId parts)
{
    FlowOperand inputs[1 + SEGMENT_INPUTS] = {input};
    uint32_t count = 1;
    FlowSegments segments = SEGMENTS_SINGLE;
    if (op == FLOW_PARTITION_ENDS)
        segments = flatten_segments(f, from, inputs, &count);
    flatten_node(f, op, parts, inputs, count)->segments = segments;
    return flatten_stream(f, flatten_output(f, LEAF_ENDS, parts));
}

/* The lengths of the parts of a sequence must add up to its own. */
static const FlowValue *check_parts(const Operation *o, const FlowValue *parted, FlowSpaceId original)
{
    Flattener *f = o->f;
    FlowSpaceId inner = parted->element->space;
    FlowSpaceId flat = flatten_new_space(f, (FlowSpace){.kind = SPACE_FLAT,
                                                        .parent = o->space,
                                                        .middle = parted->space,
                                                        .points = flatten_points(f, inner),
                                                        .base = inner,
                                                        .driver = flatten_space(f, inner)->driver,
                                                        .segments = SEGMENTS_ENDS});
    FlowOperand inputs[] = {flatten_ends(f, flat), flatten_ends(f, original)};
    FlowNode *node = flatten_node(f, FLOW_SAME_LENGTHS, o->space, inputs, 2);
    node->segments = SEGMENTS_ENDS;
    node->core_op = o->op;
    return parted;
}

static const FlowValue *op_part(const Operation *o)
{
    if (is_vector_result(o))
        return op_rows(o);
    Flattener *f = o->f;
    const FlowValue *xs = o->arguments[0], *flags = o->arguments[1];
    FlowOperand stream = flatten_bring_stream(f, flags->element->scalar, flags->space);
    FlowOperand inputs[1 + SEGMENT_INPUTS] = {stream};
    uint32_t count = 1;
    FlowSegments segments = flatten_segments(f, flags->space, inputs, &count);
    flatten_node(f, FLOW_CHECK_PART, flags->space, inputs, count)->segments = segments;
    FlowSpaceId parts = flatten_flat(f, flatten_filter(f, flags->space, stream, true), flags->space);
    FlowOperand ends = ends_node(f, FLOW_PART_ENDS, stream, flags->space, parts);
    return check_parts(o, give_parts(o, parts, xs, ends), xs->space);
}

static FlowOperand fold_stream(const Operation *o, FlowOp kind, Op op, FlowOperand element, FlowSpaceId space, LeafType result,
                               FlowSpaceId result_space);

/* The parts of a vector for somebody who only goes through them: where each begins is a running sum of lengths. */
static const FlowValue *pass_parts(const Operation *o)
{
    Flattener *f = o->f;
    const FlowValue *xs = o->arguments[0], *lengths = o->arguments[1];
    FlowOperand inputs[] = {xs->length, lengths->array, lengths->start, lengths->length};
    flatten_node(f, FLOW_CHECK_PARTS, FLOW_UNIT, inputs, sizeof inputs / sizeof *inputs);
    FlowOperand count = flatten_stream(f, flatten_output(f, SCALAR_I64, FLOW_UNIT));
    const FlowValue *checked = flatten_value_vector(f, lengths->array, lengths->start, count, lengths->element_type);
    const FlowValue *parts = flatten_as_sequence(f, checked, FLOW_UNIT);
    FlowOperand length = parts->element->scalar;
    FlowOperand before = fold_stream(o, FLOW_SCAN, OP_PLUS_SCAN, length, parts->space, SCALAR_I64, parts->space);
    FlowOperand start = binary(f, OP_ADD, SCALAR_I64, xs->start, before);
    const FlowValue *part = flatten_value_vector(f, xs->array, start, length, xs->element_type);
    return flatten_value_sequence(f, parts->space, part, result_element(o));
}

static const FlowValue *op_partition(const Operation *o)
{
    if (is_vector_result(o))
        return flatten_goes_through(o->f, o->statement->target) && flatten_is_unit(o->f, o->space) ? pass_parts(o) : op_rows(o);
    Flattener *f = o->f;
    const FlowValue *xs = o->arguments[0], *lengths = o->arguments[1];
    FlowOperand stream = flatten_bring_stream(f, lengths->element->scalar, lengths->space);
    FlowOperand ends = ends_node(f, FLOW_PARTITION_ENDS, stream, lengths->space, lengths->space);
    return check_parts(o, give_parts(o, lengths->space, xs, ends), xs->space);
}

static const FlowValue *op_flag_partition(const Operation *o)
{
    if (is_vector_result(o))
        return op_rows(o);
    Flattener *f = o->f;
    const FlowValue *xs = o->arguments[0], *flags = o->arguments[1];
    FlowSpaceId spaces[] = {xs->space, flags->space};
    const FlowValue *elements[] = {xs->element, flags->element};
    FlowSpaceId space = flatten_zip(f, o->op, spaces, elements, 2);
    xs = flatten_value_sequence(f, space, elements[0], xs->element_type);
    FlowOperand inputs[1 + SEGMENT_INPUTS] = {flatten_bring_stream(f, elements[1]->scalar, space)};
    uint32_t count = 1;
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    FlowSpaceId parts =
        flatten_new_space(f, (FlowSpace){.kind = SPACE_PART, .parent = o->space, .segments = SEGMENTS_ENDS});
    flatten_node(f, FLOW_FLAG_PARTITION, space, inputs, count)->segments = segments;
    FlowStreamId points = flatten_output(f, LEAF_POINTS, parts);
    FlowStreamId part_ends = flatten_output(f, LEAF_ENDS, o->space);
    FlowStreamId ends = flatten_output(f, LEAF_ENDS, parts);
    flatten_space(f, parts)->driver = points;
    flatten_space(f, parts)->ends = part_ends;
    return give_parts(o, parts, xs, flatten_stream(f, ends));
}

/* ---- lengths, elements, slices ---- */

/* A node on driver@C, <C/P>, with further inputs in front. */
static FlowNode *segment_node(Flattener *f, FlowOp op, FlowSpaceId on, const FlowOperand *first, uint32_t first_count,
                              FlowSpaceId space)
{
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, first_count + SEGMENT_INPUTS);
    for (uint32_t i = 0; i < first_count; i++)
        inputs[i] = first[i];
    uint32_t count = first_count;
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    FlowNode *node = flatten_node(f, op, on, inputs, count);
    node->segments = segments;
    return node;
}

static FlowOperand count_members(Flattener *f, FlowSpaceId space)
{
    return flatten_fold_by(f, OP_SUM, flatten_int(1), SCALAR_I64, space);
}

static const FlowValue *op_length(const Operation *o)
{
    Flattener *f = o->f;
    const FlowValue *container = o->arguments[0];
    if (container->kind == VALUE_VECTOR)
        return flatten_value_scalar(f, container->length);
    if (flatten_table(f, container->space) != 0)
        return flatten_value_scalar(f, count_members(f, container->space));
    const FlowSpace *known = flatten_space(f, container->space);
    if (known->kind == SPACE_RANGE && known->count.type == SCALAR_I64)
        return flatten_value_scalar(f, known->count);
    FlowOperand driver = flatten_driver(f, container->space);
    segment_node(f, FLOW_LENGTH, container->space, &driver, 1, container->space);
    flatten_output(f, SCALAR_I64, o->space);
    return flatten_value_scalar(f, flatten_shared(f));
}

static FlowOperand is_empty(const Operation *o, const FlowValue *container)
{
    Flattener *f = o->f;
    if (container->kind == VALUE_VECTOR)
        return binary(f, OP_EQUAL, SCALAR_BOOL, container->length, flatten_int(0));
    if (flatten_table(f, container->space) != 0)
        return binary(f, OP_EQUAL, SCALAR_BOOL, count_members(f, container->space), flatten_int(0));
    FlowOperand driver = flatten_driver(f, container->space);
    segment_node(f, FLOW_EMPTY, container->space, &driver, 1, container->space);
    flatten_output(f, SCALAR_BOOL, o->space);
    return flatten_shared(f);
}

static const FlowValue *op_empty(const Operation *o)
{
    return flatten_value_scalar(o->f, is_empty(o, o->arguments[0]));
}

/* A value at a space whose points are the only ones of their parents, as the parents see it: sequences in it are theirs. */
static const FlowValue *lift(Flattener *f, const FlowValue *value, FlowSpaceId space)
{
    if (!flatten_has_sequence(value))
        return value;
    if (value->kind == VALUE_SEQUENCE)
        return flatten_value_sequence(f, flatten_flat(f, value->space, space), value->element, value->element_type);
    const FlowValue *first = lift(f, value->first, space);
    return flatten_value_pair(f, first, lift(f, value->rest, space));
}

static const FlowValue *op_the(const Operation *o)
{
    Flattener *f = o->f;
    const FlowValue *sequence = sequence_argument(o, 0);
    FlowOperand driver = flatten_driver(f, sequence->space);
    segment_node(f, FLOW_ONE_EACH, sequence->space, &driver, flatten_is_unit(f, o->space) ? 1 : 0, sequence->space);
    const FlowValue *element = lift(f, flatten_settle(f, sequence->element, sequence->space), sequence->space);
    flatten_unite(f, sequence->space, o->space);
    return element;
}

/* The elements of vectors at positions in their arrays. */
static const FlowValue *gather(Flattener *f, const FlowValue *vector, FlowOperand position, FlowSpaceId space)
{
    const Layout *layout = flatten_layout(f, vector->element_type);
    FlowOperand *leaves = ARENA_ARRAY(f->arena, FlowOperand, layout->count);
    for (uint32_t i = 0; i < layout->count; i++) {
        FlowOperand inputs[] = {flatten_bring(f, vector->array, space), position};
        flatten_node(f, FLOW_GATHER, space, inputs, 2)->leaf = i;
        flatten_output(f, layout->leaves[i].type, space);
        leaves[i] = flatten_shared(f);
    }
    return flatten_from_leaves(f, vector->element_type, leaves, space);
}

/* start + index, once that was compared with the length. */
static FlowOperand checked_position(const Operation *o, Op op, const FlowOperand operands[3], FlowSpaceId space)
{
    FlowOperand inputs[3];
    bring_all(o->f, operands, 3, space, inputs);
    flatten_node(o->f, FLOW_INDEX, space, inputs, 3)->core_op = op;
    return flatten_stream(o->f, flatten_output(o->f, SCALAR_I64, space));
}

static const FlowValue *index_vector(const Operation *o, const FlowValue *vector, FlowOperand index, FlowSpaceId space)
{
    FlowOperand operands[] = {index, vector->start, vector->length};
    return gather(o->f, vector, checked_position(o, o->op, operands, space), space);
}

static const FlowValue *op_checked_index(const Operation *o)
{
    FlowOperand operands[] = {scalar_argument(o, 0), flatten_int(0), scalar_argument(o, 1)};
    return flatten_value_scalar(o->f, checked_position(o, OP_ELEMENT, operands, o->space));
}

/* Where an element is: start + index. */
static FlowOperand position_of(Flattener *f, const FlowValue *vector, FlowOperand index)
{
    return is_constant_int(index, 0) ? vector->start : binary(f, OP_ADD, SCALAR_I64, vector->start, index);
}

/* An element is there only where it is asked for, so it is read at the context, however high its index is known. */
static const FlowValue *op_inside(const Operation *o)
{
    const FlowValue *vector = o->arguments[0];
    FlowOperand position = position_of(o->f, vector, scalar_argument(o, 1));
    return gather(o->f, vector, flatten_bring_stream(o->f, position, o->space), o->space);
}

static const FlowValue *op_known_slice(const Operation *o)
{
    const FlowValue *vector = o->arguments[0];
    FlowOperand start = position_of(o->f, vector, scalar_argument(o, 1));
    return flatten_value_vector(o->f, vector->array, start, scalar_argument(o, 2), vector->element_type);
}

static const FlowValue *op_element(const Operation *o)
{
    return index_vector(o, o->arguments[0], scalar_argument(o, 1), o->space);
}

static const FlowValue *op_read(const Operation *o)
{
    const FlowValue *indices = sequence_argument(o, 1);
    return give_container(o, indices->space,
                          index_vector(o, o->arguments[0], indices->element->scalar, indices->space));
}

typedef struct Bounds {
    FlowOperand start, length;
} Bounds;

/* What slicing by `op` and the arguments after the first makes of these. */
static Bounds slice_bounds(const Operation *o, Op op, Bounds whole)
{
    Flattener *f = o->f;
    uint32_t count = o->statement->argument_count;
    FlowOperand operands[4] = {whole.start, whole.length}, inputs[4];
    for (uint32_t i = 1; i < count; i++)
        operands[1 + i] = scalar_argument(o, i);
    bring_all(f, operands, 1 + count, o->space, inputs);
    flatten_node(f, FLOW_SLICE, o->space, inputs, 1 + count)->core_op = op;
    FlowStreamId start = flatten_output(f, SCALAR_I64, o->space);
    FlowStreamId length = flatten_output(f, SCALAR_I64, o->space);
    return (Bounds){flatten_stream(f, start), flatten_stream(f, length)};
}

static const FlowValue *op_slice(const Operation *o)
{
    const FlowValue *vector = o->arguments[0];
    Bounds slice = slice_bounds(o, o->op, (Bounds){vector->start, vector->length});
    return flatten_value_vector(o->f, vector->array, slice.start, slice.length, vector->element_type);
}

static FlowOperand int_op(Flattener *f, Op op, FlowOperand a, FlowOperand b)
{
    return binary(f, op, SCALAR_I64, a, b);
}

/* 1 if low <= value <= high, else 0. */
static FlowOperand is_between(Flattener *f, FlowOperand low, FlowOperand value, FlowOperand high)
{
    FlowOperand both = binary(f, OP_AND, SCALAR_BOOL, binary(f, OP_LESS_EQUAL, SCALAR_BOOL, low, value),
                              binary(f, OP_LESS_EQUAL, SCALAR_BOOL, value, high));
    return flatten_scalar_op(f, OP_BTOI, SCALAR_I64, &both, 1);
}

/* The same bounds by arithmetic that cannot fail; of what would fail a part without elements. */
static Bounds total_bounds(const Operation *o, Op op)
{
    Flattener *f = o->f;
    FlowOperand length = scalar_argument(o, 0), first = scalar_argument(o, 1), zero = flatten_int(0);
    if (op == OP_SUBSEQ) {
        FlowOperand end = scalar_argument(o, 2);
        FlowOperand is_inside = int_op(f, OP_MULTIPLY, is_between(f, zero, first, end), is_between(f, first, end, length));
        return (Bounds){first, int_op(f, OP_MULTIPLY, is_inside, int_op(f, OP_SUBTRACT, end, first))};
    }
    FlowOperand is_negative = binary(f, OP_LESS, SCALAR_BOOL, first, zero);
    FlowOperand from_end = flatten_scalar_op(f, OP_BTOI, SCALAR_I64, &is_negative, 1);
    FlowOperand cut = int_op(f, OP_ADD, first, int_op(f, OP_MULTIPLY, from_end, length));
    FlowOperand is_inside = is_between(f, zero, cut, length);
    if (op == OP_TAKE)
        return (Bounds){zero, int_op(f, OP_MULTIPLY, is_inside, cut)};
    FlowOperand kept = int_op(f, OP_MULTIPLY, is_inside, int_op(f, OP_SUBTRACT, length, cut));
    return (Bounds){int_op(f, OP_SUBTRACT, length, kept), kept};
}

/* Of a vector of which only the length is known. As with ranges, what depends on nothing below is computed above, so that what is made by it is
 * regular; what fails is looked for here. */
static Bounds bounds_alone(const Operation *o, Op op)
{
    FlowOperand operands[3];
    for (uint32_t i = 0; i < o->statement->argument_count; i++)
        operands[i] = scalar_argument(o, i);
    FlowSpaceId place = flatten_place(o->f, operands, o->statement->argument_count);
    Bounds checked = slice_bounds(o, op, (Bounds){flatten_int(0), operands[0]});
    return flatten_points(o->f, place) == flatten_points(o->f, o->space) ? checked : total_bounds(o, op);
}

/* Likewise; where they differ, the lesser is the one that does no harm. */
static const FlowValue *op_common_length(const Operation *o)
{
    FlowOperand operands[] = {scalar_argument(o, 0), scalar_argument(o, 1)};
    FlowSpaceId place = flatten_place(o->f, operands, 2);
    const FlowValue *checked = op_rows(o);
    if (flatten_points(o->f, place) == flatten_points(o->f, o->space))
        return checked;
    return flatten_value_scalar(o->f, int_op(o->f, OP_MINIMUM, operands[0], operands[1]));
}

/* take and drop of a sequence: those whose number among their siblings is small, or not. */
static const FlowValue *op_cut(const Operation *o)
{
    if (o->arguments[0]->kind == VALUE_VECTOR)
        return op_slice(o);
    Flattener *f = o->f;
    const FlowValue *sequence = o->arguments[0];
    FlowSpaceId space = sequence->space;
    FlowOperand inputs[] = {flatten_bring(f, scalar_argument(o, 1), o->space), flatten_driver(f, space)};
    segment_node(f, FLOW_CHECK_CUT, space, inputs, 2, space)->core_op = o->op;
    FlowOperand index = flatten_local_index(f, space);
    flatten_enter(f, space, false);
    FlowOperand is_before = binary(f, OP_LESS, SCALAR_BOOL, index, scalar_argument(o, 1));
    flatten_leave(f);
    FlowSpaceId kept = flatten_filter(f, space, is_before, o->op == OP_TAKE);
    const FlowValue *element = flatten_restrict(f, sequence->element, kept);
    return flatten_value_sequence(f, flatten_flat(f, kept, space), element, sequence->element_type);
}

static const FlowValue *op_shift(const Operation *o)
{
    Flattener *f = o->f;
    const FlowValue *sequence = sequence_argument(o, 0);
    Leaves elements = flatten_leaves(f, sequence->element), fills = flatten_leaves(f, o->arguments[1]);
    for (uint32_t i = 0; i < elements.count; i++) {
        FlowOperand inputs[] = {flatten_bring_stream(f, elements.items[i], sequence->space),
                                flatten_bring(f, fills.items[i], o->space)};
        segment_node(f, FLOW_SHIFT, sequence->space, inputs, 2, sequence->space)->core_op = o->op;
        elements.items[i] = flatten_stream(f, flatten_output(f, inputs[0].type, sequence->space));
    }
    return give_container(o, sequence->space,
                          flatten_from_leaves(f, sequence->element_type, elements.items, sequence->space));
}

/* ---- reductions and scans ---- */

/* A node of this kind that reduces or scans a stream by `op`. */
static FlowOperand fold_stream(const Operation *o, FlowOp kind, Op op, FlowOperand element, FlowSpaceId space,
                               LeafType result, FlowSpaceId result_space)
{
    Flattener *f = o->f;
    FlowOperand input = flatten_bring_stream(f, element, space);
    FlowNode *node = segment_node(f, kind, space, &input, 1, space);
    node->core_op = op;
    node->scalar = (ScalarType)input.type;
    flatten_output(f, result, result_space);
    return flatten_shared(f);
}

static const FlowValue *op_fold(const Operation *o)
{
    Flattener *f = o->f;
    const FlowValue *sequence = sequence_argument(o, 0);
    FlowOperand element = sequence->element->scalar;
    LeafType result = (LeafType)type_scalar(f->types, o->type);
    bool is_table = flatten_table(f, sequence->space) != 0;
    return flatten_value_scalar(f, is_table ? flatten_fold_by(f, o->op, element, result, sequence->space)
                                            : fold_stream(o, FLOW_FOLD, o->op, element, sequence->space, result, o->space));
}

static const FlowValue *op_scan(const Operation *o)
{
    const FlowValue *sequence = sequence_argument(o, 0);
    FlowOperand element = sequence->element->scalar;
    FlowSpaceId space = sequence->space;
    return give_container(
        o, space, flatten_value_scalar(o->f, fold_stream(o, FLOW_SCAN, o->op, element, space, element.type, space)));
}

/* ---- operators that are built in, given as functions ---- */

/* Their operators, one for each leaf. */
typedef struct Builtin {
    const BuiltinOperator *operators[BUILTIN_COMPONENTS_MAX];
    uint32_t count;
} Builtin;

static Builtin builtin_of(const Operation *o)
{
    Builtin builtin;
    const CoreFunction *function = o->f->core->functions.items[o->statement->function];
    builtin.count = builtin_operators(function->body, o->statement->captured_count, builtin.operators);
    return builtin;
}

static bool are_neutral(const Builtin *builtin, const Leaves *identity)
{
    for (uint32_t i = 0; i < builtin->count; i++) {
        const FlowOperand *leaf = &identity->items[i];
        if (!leaf->is_constant || leaf->constant.bits != builtin_neutral(builtin->operators[i], (ScalarType)leaf->type).bits)
            return false;
    }
    return true;
}

/* reduce(op, identity, container): the identity only takes the place of nothing. */
static const FlowValue *reduce_builtin(const Operation *o, const Builtin *builtin)
{
    Flattener *f = o->f;
    const FlowValue *sequence = sequence_argument(o, 1);
    Leaves leaves = flatten_leaves(f, sequence->element), identity = flatten_leaves(f, o->arguments[0]);
    for (uint32_t i = 0; i < builtin->count; i++) {
        LeafType type = leaves.items[i].type;
        FlowOp kind = builtin_is_exact(builtin->operators[i], (ScalarType)type) ? FLOW_FOLD : FLOW_FOLD_LEFT;
        leaves.items[i] =
            fold_stream(o, kind, builtin->operators[i]->reduction, leaves.items[i], sequence->space, type, o->space);
    }
    const FlowValue *total = flatten_from_leaves(f, sequence->element_type, leaves.items, o->space);
    if (are_neutral(builtin, &identity))
        return total;
    const FlowValue *container = o->arguments[1]->kind == VALUE_VECTOR ? o->arguments[1] : sequence;
    const FlowValue *choices[] = {total, o->arguments[0]};
    FlowSpaceId spaces[] = {o->space, o->space};
    return flatten_merge(f, is_empty(o, container), o->space, choices, spaces, 2);
}

/* An inclusive scan, shifted, is an exclusive one with any identity. */
static FlowOperand scan_builtin_leaf(const Operation *o, const BuiltinOperator *operator, FlowOperand element,
                                     FlowOperand identity, FlowSpaceId space)
{
    Flattener *f = o->f;
    LeafType type = element.type;
    FlowOperand scanned = fold_stream(o, FLOW_SCAN, operator->inclusive, element, space, type, space);
    FlowOperand inputs[] = {scanned, flatten_bring(f, identity, o->space)};
    segment_node(f, FLOW_SHIFT, space, inputs, 2, space)->core_op = OP_PREVIOUS;
    return flatten_stream(f, flatten_output(f, type, space));
}

/* scan(op, identity, container) and scan_inclusive(op, container) */
static const FlowValue *scan_builtin(const Operation *o, const Builtin *builtin)
{
    Flattener *f = o->f;
    bool is_inclusive = o->op == OP_SCAN_INCLUSIVE;
    const FlowValue *sequence = sequence_argument(o, is_inclusive ? 0 : 1);
    Leaves leaves = flatten_leaves(f, sequence->element);
    Leaves identity = is_inclusive ? (Leaves){0} : flatten_leaves(f, o->arguments[0]);
    bool is_plain = is_inclusive || are_neutral(builtin, &identity);
    for (uint32_t i = 0; i < builtin->count; i++) {
        const BuiltinOperator *operator = builtin->operators[i];
        FlowOperand element = leaves.items[i];
        leaves.items[i] = is_plain ? fold_stream(o, FLOW_SCAN, is_inclusive ? operator->inclusive : operator->scan, element,
                                                 sequence->space, element.type, sequence->space)
                                   : scan_builtin_leaf(o, operator, element, identity.items[i], sequence->space);
    }
    return give_container(o, sequence->space,
                          flatten_from_leaves(f, sequence->element_type, leaves.items, sequence->space));
}

/* ---- operators of the user ---- */

typedef struct Inputs {
    FlowOperand *items;
    uint32_t count;
} Inputs;

static void add_leaves_at(const Operation *o, Inputs *inputs, const FlowValue *value, FlowSpaceId space)
{
    Leaves leaves = flatten_leaves(o->f, value);
    for (uint32_t i = 0; i < leaves.count; i++)
        inputs->items[inputs->count++] = flatten_bring(o->f, leaves.items[i], space);
}

/* The values an operator captured, at the context. */
static uint32_t add_captured(const Operation *o, Inputs *inputs)
{
    uint32_t before = inputs->count;
    for (uint32_t i = 0; i < o->statement->captured_count; i++)
        add_leaves_at(o, inputs, flatten_atom(o->f, &o->statement->captured[i]), o->space);
    return inputs->count - before;
}

/* The draw that is the key of the operator's applications, if it draws. */
static void add_draw(const Operation *o, Inputs *inputs)
{
    if (flatten_facts(o->f, o->statement->function).draws)
        inputs->items[inputs->count++] = flatten_bring(o->f, flatten_next_draw(o->f), o->space);
}

/* Room for the inputs of an operator's node: a driver, leaves of what it captured, a draw, leaves of its arguments and of their elements. */
static Inputs operator_inputs(const Operation *o)
{
    Flattener *f = o->f;
    uint32_t room = 2 + SEGMENT_INPUTS;
    for (uint32_t i = 0; i < o->statement->captured_count; i++)
        room += flatten_layout(f, o->statement->captured[i].type)->count;
    for (uint32_t i = 0; i < o->statement->argument_count; i++) {
        TypeId type = flatten_representation(f, o->statement->arguments[i].type);
        room += flatten_layout(f, type)->count;
        if (type_kind(f->types, type) == TYPE_CONTAINER)
            room += flatten_layout(f, type_element(f->types, type))->count;
    }
    return (Inputs){.items = ARENA_ARRAY(f->arena, FlowOperand, room)};
}

static FlowNode *operator_node(const Operation *o, FlowOp op, FlowSpaceId space, Inputs *inputs, uint32_t captured)
{
    Flattener *f = o->f;
    CoreFunctionId id = o->statement->function;
    const Layout *layout = flatten_layout(f, f->core->functions.items[id]->result_type);
    FunctionFacts facts = flatten_facts(f, id);
    bool is_scalar = !facts.draws && f->options->is_scalar_code != NULL &&
                     f->options->is_scalar_code(f->options->context, id);
    FlowNetworkId network = is_scalar ? 0 : flatten_network_of(f, id, false);
    FlowSegments segments = flatten_segments(f, space, inputs->items, &inputs->count);
    FlowNode *node = flatten_node(f, op, space, inputs->items, inputs->count);
    node->segments = segments;
    node->core_op = o->op;
    node->layout = layout;
    node->captured_count = captured;
    node->function = id;
    node->network = network;
    node->draws = facts.draws;
    node->is_serial = facts.does_io;
    return node;
}

static const FlowValue *layout_outputs(Flattener *f, TypeId type, const Layout *layout, FlowSpaceId space)
{
    FlowOperand *outputs = ARENA_ARRAY(f->arena, FlowOperand, layout->count);
    for (uint32_t i = 0; i < layout->count; i++)
        outputs[i] = flatten_stream(f, flatten_output(f, layout->leaves[i].type, space));
    return flatten_from_leaves(f, type, outputs, space);
}

static const FlowValue *op_fold_with(const Operation *o)
{
    Flattener *f = o->f;
    bool is_scan = o->op != OP_REDUCE, has_identity = o->op != OP_SCAN_INCLUSIVE;
    Builtin builtin = builtin_of(o);
    if (builtin.count > 0)
        return is_scan ? scan_builtin(o, &builtin) : reduce_builtin(o, &builtin);
    const FlowValue *sequence = sequence_argument(o, has_identity ? 1 : 0);
    Inputs inputs = operator_inputs(o);
    inputs.items[inputs.count++] = flatten_driver(f, sequence->space);
    uint32_t captured = add_captured(o, &inputs);
    add_draw(o, &inputs);
    if (has_identity)
        add_leaves_at(o, &inputs, o->arguments[0], o->space);
    add_leaves_at(o, &inputs, sequence->element, sequence->space);
    FlowNode *node =
        operator_node(o, is_scan ? FLOW_SCAN_WITH : FLOW_FOLD_WITH, sequence->space, &inputs, captured);
    const Layout *layout = node->layout;
    if (!is_scan)
        return layout_outputs(f, sequence->element_type, layout, o->space);
    return give_container(o, sequence->space,
                          layout_outputs(f, sequence->element_type, layout, sequence->space));
}

static const FlowValue *vector_outputs(const Operation *o, TypeId element_type)
{
    Flattener *f = o->f;
    FlowStreamId array = flatten_output(f, LEAF_ARRAY, o->space);
    FlowStreamId start = flatten_output(f, SCALAR_I64, o->space);
    FlowStreamId length = flatten_output(f, SCALAR_I64, o->space);
    return flatten_value_vector(f, flatten_stream(f, array), flatten_stream(f, start), flatten_stream(f, length),
                                element_type);
}

/* One scalar combined into another by a built-in operator; `reduction` names that. */
static const FlowValue *put_builtin(const Operation *o, Op reduction)
{
    Flattener *f = o->f;
    const FlowValue *pairs = sequence_argument(o, 1);
    TypeId type = o->arguments[0]->element_type;
    Inputs inputs = operator_inputs(o);
    add_leaves_at(o, &inputs, o->arguments[0], o->space);
    inputs.items[inputs.count++] = flatten_bring_stream(f, pairs->element->first->scalar, pairs->space);
    add_leaves_at(o, &inputs, pairs->element->rest, pairs->space);
    const Layout *layout = flatten_layout(f, type);
    FlowSegments segments = flatten_segments(f, pairs->space, inputs.items, &inputs.count);
    FlowNode *node =
        flatten_node(f, o->op == OP_PUT_WITH ? FLOW_PUT_BY : FLOW_SCAN_BY, pairs->space, inputs.items, inputs.count);
    node->segments = segments;
    node->core_op = reduction;
    node->layout = layout;
    if (o->op == OP_PUT_WITH)
        return vector_outputs(o, type);
    return give_container(o, pairs->space, layout_outputs(f, type, layout, pairs->space));
}

static const FlowValue *op_put_with(const Operation *o)
{
    Flattener *f = o->f;
    Builtin builtin = builtin_of(o);
    if (builtin.count == 1)
        return put_builtin(o, builtin.operators[0]->reduction);
    const FlowValue *pairs = sequence_argument(o, 1);
    Inputs inputs = operator_inputs(o);
    add_leaves_at(o, &inputs, o->arguments[0], o->space);
    uint32_t captured = add_captured(o, &inputs);
    add_draw(o, &inputs);
    inputs.items[inputs.count++] = flatten_bring_stream(f, pairs->element->first->scalar, pairs->space);
    add_leaves_at(o, &inputs, pairs->element->rest, pairs->space);
    FlowNode *node = operator_node(o, FLOW_PUT_WITH, pairs->space, &inputs, captured);
    TypeId type = o->arguments[0]->element_type;
    const Layout *layout = node->layout;
    if (o->op == OP_PUT_WITH)
        return vector_outputs(o, type);
    return give_container(o, pairs->space, layout_outputs(f, type, layout, pairs->space));
}

/* ---- moving elements ---- */

static const FlowValue *scatter(const Operation *o, const FlowValue *destination, FlowOperand index,
                                const FlowValue *element, FlowSpaceId space)
{
    Flattener *f = o->f;
    TypeId type = result_element(o);
    Leaves leaves = flatten_leaves(f, element);
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 4 + leaves.count + SEGMENT_INPUTS);
    uint32_t count = 0;
    if (o->op != OP_PERMUTE) {
        inputs[count++] = flatten_bring(f, destination->array, o->space);
        inputs[count++] = flatten_bring(f, destination->start, o->space);
    }
    inputs[count++] = flatten_bring_stream(f, destination->length, o->space);
    inputs[count++] = flatten_bring_stream(f, index, space);
    for (uint32_t i = 0; i < leaves.count; i++)
        inputs[count++] = flatten_bring(f, leaves.items[i], space);
    FlowSegments segments = flatten_segments(f, space, inputs, &count);
    const Layout *layout = flatten_layout(f, type);
    FlowNode *node = flatten_node(f, FLOW_SCATTER, space, inputs, count);
    node->segments = segments;
    node->core_op = o->op;
    node->layout = layout;
    return vector_outputs(o, type);
}

static const FlowValue *op_write(const Operation *o)
{
    const FlowValue *pairs = sequence_argument(o, 1);
    return scatter(o, o->arguments[0], pairs->element->first->scalar, pairs->element->rest, pairs->space);
}

/* put(values, indices, destination) and permute(values, indices) */
static const FlowValue *op_put(const Operation *o)
{
    const FlowValue *values = sequence_argument(o, 0), *indices = sequence_argument(o, 1);
    FlowSpaceId spaces[] = {values->space, indices->space};
    const FlowValue *elements[] = {values->element, indices->element};
    FlowSpaceId space = flatten_zip(o->f, o->op, spaces, elements, 2);
    const FlowValue *destination = o->op == OP_PERMUTE ? o->arguments[0] : o->arguments[2];
    return scatter(o, destination, elements[1]->scalar, elements[0], space);
}

/* ---- random numbers, files ---- */

static const FlowValue *op_rand(const Operation *o)
{
    Flattener *f = o->f;
    FlowOperand bits = flatten_next_draw(f);
    FlowOperand inputs[] = {flatten_bring_stream(f, bits, o->space),
                            flatten_bring(f, scalar_argument(o, 0), o->space)};
    ScalarType type = (ScalarType)inputs[1].type;
    flatten_node(f, FLOW_RAND, o->space, inputs, 2)->scalar = type;
    return give_stream(o, (LeafType)type, o->space);
}

static const FlowValue *op_rand_seed(const Operation *o)
{
    FlowOperand key = scalar_argument(o, 0);
    o->f->context->draws.key = flatten_scalar_op(o->f, OP_TO_U64, SCALAR_U64, &key, 1);
    o->f->context->draws.counter = flatten_constant(SCALAR_U64, (Scalar){.bits = 0});
    return flatten_value_scalar(o->f, flatten_constant(SCALAR_BOOL, (Scalar){.bits = 1}));
}

/* LINES or WORDS: of a text at each point, texts; they are the elements of a space of this kind. */
static FlowSpaceId cut_node(const Operation *o, FlowOp op, FlowSpaceKind kind)
{
    Flattener *f = o->f;
    const FlowValue *text = o->arguments[0];
    FlowOperand inputs[] = {flatten_driver(f, o->space), flatten_bring(f, text->array, o->space),
                            flatten_bring(f, text->start, o->space), flatten_bring(f, text->length, o->space)};
    FlowSpaceId space = flatten_new_space(f, (FlowSpace){.kind = kind, .parent = o->space, .segments = SEGMENTS_ENDS});
    flatten_node(f, op, space, inputs, sizeof inputs / sizeof *inputs);
    return space;
}

static const FlowValue *cut_texts(const Operation *o, FlowSpaceId space)
{
    Flattener *f = o->f;
    FlowStreamId ends = flatten_output(f, LEAF_ENDS, o->space);
    FlowStreamId array = flatten_output(f, LEAF_ARRAY, space);
    FlowStreamId start = flatten_output(f, SCALAR_I64, space);
    FlowStreamId length = flatten_output(f, SCALAR_I64, space);
    flatten_space(f, space)->driver = array;
    flatten_space(f, space)->ends = ends;
    return give_container(o, space,
                          flatten_value_vector(f, flatten_stream(f, array), flatten_stream(f, start), flatten_stream(f, length), TYPE_CHAR));
}

static const FlowValue *op_lines(const Operation *o)
{
    FlowSpaceId space = cut_node(o, FLOW_LINES, SPACE_LINES);
    flatten_order(o->f);
    return cut_texts(o, space);
}

static const FlowValue *op_words(const Operation *o)
{
    return cut_texts(o, cut_node(o, FLOW_WORDS, SPACE_PART));
}

static const FlowValue *op_same_value(const Operation *o)
{
    const FlowValue *value = o->arguments[0];
    if (value->kind == VALUE_SEQUENCE && flatten_table(o->f, value->space) != 0)
        return value; /* which will only be reduced */
    if (is_vector_result(o))
        return value->kind == VALUE_SEQUENCE ? give_vector(o, value) : value;
    return flatten_as_sequence(o->f, value, o->space);
}

/* ---- the table ---- */

static const FlowValue *dispatch(const Operation *o)
{
    switch (o->op) {
#define SCALAR_COMPARISON(OP, orders) case OP_##OP:
#include "math/scalar_ops.def"
        return op_compare(o);
#define SCALAR_UNARY(OP, function) case OP_##OP:
#define SCALAR_BINARY(OP, function) case OP_##OP:
#define SCALAR_PARTIAL(OP, function) case OP_##OP:
#define SCALAR_MATH_1(OP, name) case OP_##OP:
#define SCALAR_MATH_2(OP, name) case OP_##OP:
#include "math/scalar_ops.def"
        return op_scalar(o);

    case OP_IOTA:
    case OP_INDICES:
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE:
    case OP_NESL_RANGE: return op_range(o);
    case OP_SEQ:
    case OP_TAB: return op_same_value(o);
    case OP_INTERLEAVE: return op_interleave(o);
    case OP_CONS:
    case OP_SNOC:
    case OP_APPEND: return op_append(o);
    case OP_CONCAT:
    case OP_FLATTEN: return op_concat(o);
    case OP_PART: return op_part(o);
    case OP_FLAG_PARTITION: return op_flag_partition(o);
    case OP_PARTITION: return op_partition(o);
    case OP_ZIP: return op_zip(o);
    case OP_FLAG_MERGE: return op_flag_merge(o);

    case OP_LENGTH: return op_length(o);
    case OP_EMPTY: return op_empty(o);
    case OP_THE: return op_the(o);
    case OP_ELEMENT: return op_element(o);
    case OP_INSIDE: return op_inside(o);
    case OP_CHECKED_INDEX: return op_checked_index(o);
    case OP_SLICE: return op_known_slice(o);
    case OP_COMMON_LENGTH: return op_common_length(o);
    case OP_TAKEN: return flatten_value_scalar(o->f, bounds_alone(o, OP_TAKE).length);
    case OP_DROPPED: return flatten_value_scalar(o->f, bounds_alone(o, OP_DROP).start);
    case OP_SUBSEQ_LENGTH: return flatten_value_scalar(o->f, bounds_alone(o, OP_SUBSEQ).length);
    case OP_SUBSEQ: return op_slice(o);
    case OP_TAKE:
    case OP_DROP: return op_cut(o);
    case OP_PREVIOUS:
    case OP_NEXT: return op_shift(o);

#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) case OP_##reduction:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_COUNT_TRUE: return op_fold(o);

#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                \
    case OP_##scan:                                                                                                    \
    case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
        return op_scan(o);

    case OP_REDUCE:
    case OP_SCAN:
    case OP_SCAN_INCLUSIVE: return op_fold_with(o);
    case OP_PUT_WITH:
    case OP_MULTISCAN: return op_put_with(o);

    case OP_READ: return op_read(o);
    case OP_WRITE: return op_write(o);
    case OP_PUT:
    case OP_PERMUTE: return op_put(o);

    case OP_IDENTITY:
    case OP_ELEMENT_IDENTITY: return flatten_zero(o->f, o->type, o->space);
    case OP_RAND: return op_rand(o);
    case OP_RAND_SEED: return op_rand_seed(o);
    case OP_LINES: return op_lines(o);
    case OP_WORDS: return op_words(o);

    case OP_FAIL:
    case OP_NOT_PROVIDED:
    case OP_RAISE: return op_never(o);

    case OP_SAME:
    case OP_WIDTH:
    case OP_TRANSPOSE:
    case OP_REPLACE:
    case OP_GRADE:
    case OP_GRADE_DOWN:
    case OP_RANK:
    case OP_RANK_DOWN:
    case OP_SORTED:
    case OP_SORTED_DOWN:
    case OP_HASH:
    case OP_STRING:
    case OP_EXP_STRING:
    case OP_PARSE_INT:
    case OP_PARSE_FLOAT:
    case OP_PRINT_STRING:
    case OP_CLOCK:
    case OP_ENVIRONMENT_VARIABLE:
    case OP_OPEN_FILE:
    case OP_CLOSE_FILE:
    case OP_READ_CHARS:
    case OP_WRITE_CHARS:
    case OP_READ_VALUE:
    case OP_WRITE_VALUE: return op_rows(o);
    case OP_COUNT: break;
    }
    bug("flatten", "there is no such operation");
}

static const FlowValue *read_argument(Flattener *f, const CoreStatement *statement, const CoreAtom *atom)
{
    if (statement->op == OP_APPEND || statement->op == OP_CONS || statement->op == OP_SNOC)
        return flatten_lazy_atom(f, atom);
    if (atom->is_constant || !flatten_goes_through(f, atom->variable))
        return flatten_atom(f, atom);
    const FlowValue *value = flatten_lazy_atom(f, atom);
    return value->rope != NULL ? flatten_rope_sequence(f, value) : value;
}

const FlowValue *flatten_op(Flattener *f, const CoreStatement *statement)
{
    const FlowValue **arguments = ARENA_ARRAY(f->arena, const FlowValue *, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        arguments[i] = read_argument(f, statement, &statement->arguments[i]);
    Operation operation = {
        .f = f,
        .statement = statement,
        .op = statement->op,
        .space = f->context->space,
        .arguments = arguments,
        .type = flatten_representation(f, f->core->variables.items[statement->target].type),
    };
    return dispatch(&operation);
}
