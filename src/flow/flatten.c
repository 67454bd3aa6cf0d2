/* Statements and blocks: what each form of Core becomes. */
#include "flow/flatten_internal.h"

void flatten_error(Flattener *f, ErrorCode code, Span span, const char *message)
{
    diagnostics_error(f->diagnostics, code, span, "%s", message);
    longjmp(f->on_error, 1);
}

/* ---- contexts and variables ---- */

Context *flatten_enter(Flattener *f, FlowSpaceId space, bool is_filter)
{
    Context *outer = f->context, *context = ARENA_NEW(f->arena, Context);
    *context = (Context){.outer = outer, .space = space, .is_filter = is_filter};
    context->floor = is_filter || outer == NULL ? space : outer->floor;
    context->table = is_filter ? 0 : flatten_table(f, space);
    if (outer != NULL)
        context->draws = outer->draws;
    f->context = context;
    return context;
}

void flatten_leave(Flattener *f)
{
    f->context = f->context->outer;
}

void flatten_bind(Flattener *f, CoreVar variable, const FlowValue *value)
{
    while (f->bindings.count <= variable)
        *vec_push(f->arena, &f->bindings) = (Binding){0};
    f->bindings.items[variable] = (Binding){.value = value, .context = f->context, .network = f->id};
}

/* A top-level value: the same for all points, so it is read on unit. */
static const FlowValue *read_global(Flattener *f, CoreVar variable)
{
    TypeId type = f->core->variables.items[variable].type;
    const Layout *layout = flatten_layout(f, type);
    flatten_node(f, FLOW_GLOBAL, FLOW_UNIT, NULL, 0)->variable = variable;
    FlowOperand *leaves = ARENA_ARRAY(f->arena, FlowOperand, layout->count);
    for (uint32_t i = 0; i < layout->count; i++)
        leaves[i] = flatten_stream(f, flatten_output(f, layout->leaves[i].type, FLOW_UNIT));
    return flatten_from_leaves(f, type, leaves, FLOW_UNIT);
}

/* The value as the context `to` sees it: sequences are restricted by the filters entered since. */
static const FlowValue *seen_from(Flattener *f, const FlowValue *value, const Context *from, const Context *to)
{
    if (to == from || !flatten_has_sequence(value))
        return value;
    value = seen_from(f, value, from, to->outer);
    return to->is_filter ? flatten_restrict(f, value, to->space) : value;
}

/* Makes a vector that is still to be made, where it belongs. */
static void force_binding(Flattener *f, CoreVar variable)
{
    Binding *binding = &f->bindings.items[variable];
    if (binding->value->rope == NULL)
        return;
    Context *context = f->context;
    f->context = binding->context;
    const FlowValue *value = flatten_force(f, binding->value);
    f->bindings.items[variable].value = value;
    f->context = context;
}

static const FlowValue *read_variable(Flattener *f, CoreVar variable, bool is_lazy)
{
    bool is_known = variable < f->bindings.count && f->bindings.items[variable].network == f->id &&
                    f->bindings.items[variable].value != NULL;
    if (f->core->variables.items[variable].is_global && !is_known) {
        const FlowValue *value = read_global(f, variable);
        Context *context = f->context;
        while (f->context->outer != NULL)
            f->context = f->context->outer;
        flatten_bind(f, variable, value);
        f->context = context;
        return value;
    }
    if (!is_known)
        bug("flatten", "a variable is used before it is bound");
    if (!is_lazy)
        force_binding(f, variable);
    Binding binding = f->bindings.items[variable];
    return seen_from(f, binding.value, binding.context, f->context);
}

static const FlowValue *read_atom(Flattener *f, const CoreAtom *atom, bool is_lazy)
{
    if (atom->is_constant)
        return flatten_value_scalar(f, flatten_constant(type_scalar(f->types, atom->type), atom->constant));
    return read_variable(f, atom->variable, is_lazy);
}

const FlowValue *flatten_atom(Flattener *f, const CoreAtom *atom)
{
    return read_atom(f, atom, false);
}

const FlowValue *flatten_lazy_atom(Flattener *f, const CoreAtom *atom)
{
    return read_atom(f, atom, true);
}

FlowOperand flatten_scalar_atom(Flattener *f, const CoreAtom *atom)
{
    return flatten_atom(f, atom)->scalar;
}

static TypeId target_type(const Flattener *f, const CoreStatement *statement)
{
    return f->core->variables.items[statement->target].type;
}

TypeId flatten_element_type(Flattener *f, TypeId container)
{
    return type_element(f->types, flatten_representation(f, container));
}

/* ---- places ---- */

/* What depends on a group's key alone is computed for each member if members need it: groups are known only at the end. */
static FlowSpaceId below_groups(const Flattener *f, FlowSpaceId place)
{
    for (const Context *context = f->context; context != NULL; context = context->outer)
        if (context->table != 0 &&
            flatten_points(f, flatten_space(f, context->table)->parent) == flatten_points(f, place))
            return context->space;
    return place;
}

FlowSpaceId flatten_place(Flattener *f, const FlowOperand *operands, uint32_t count)
{
    FlowSpaceId place = f->context->floor;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].is_constant)
            continue;
        FlowSpaceId space = f->network->streams.items[operands[i].stream].space;
        if (flatten_sees(f, place, space))
            continue;
        if (!flatten_sees(f, space, place))
            return f->context->space;
        place = space;
    }
    return below_groups(f, place);
}

/* ---- draws of random numbers ---- */

static FlowOperand draw(Flattener *f, FlowSpaceId space, FlowOperand key, FlowOperand counter)
{
    FlowOperand inputs[] = {flatten_bring_stream(f, key, space), flatten_bring(f, counter, space)};
    flatten_node(f, FLOW_DRAW, space, inputs, 2);
    return flatten_stream(f, flatten_output(f, SCALAR_U64, space));
}

static FlowOperand next_draw(Flattener *f)
{
    Draws *draws = &f->context->draws;
    FlowOperand bits = draw(f, f->context->space, draws->key, draws->counter);
    FlowOperand operands[] = {draws->counter, flatten_constant(SCALAR_U64, (Scalar){.bits = 1})};
    draws->counter = flatten_scalar_op(f, OP_ADD, SCALAR_U64, operands, 2);
    return bits;
}

FlowOperand flatten_next_draw(Flattener *f)
{
    return next_draw(f);
}

/* The state with which each point of a comprehension's body starts, `bits` being the comprehension's own draw. */
static void start_draws(Flattener *f, FlowOperand bits, FlowSpaceId space)
{
    f->context->draws.key = draw(f, space, bits, flatten_local_index(f, space));
    f->context->draws.counter = flatten_constant(SCALAR_U64, (Scalar){.bits = 0});
}

/* After branches that draw: each point goes on from the state its branch left. */
static void merge_draws(Flattener *f, FlowOperand selector, const Draws *draws, const FlowSpaceId *spaces,
                        uint32_t count)
{
    const FlowValue **keys = ARENA_ARRAY(f->arena, const FlowValue *, count);
    const FlowValue **counters = ARENA_ARRAY(f->arena, const FlowValue *, count);
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = flatten_value_scalar(f, draws[i].key);
        counters[i] = flatten_value_scalar(f, draws[i].counter);
    }
    Context *context = f->context;
    context->draws.key = flatten_merge(f, selector, context->space, keys, spaces, count)->scalar;
    context->draws.counter = flatten_merge(f, selector, context->space, counters, spaces, count)->scalar;
}

/* ---- conditionals ---- */

enum { CHEAP_STATEMENTS = 8 };

/* Whether a branch is so cheap, and so harmless, that computing it where it is not taken costs less than packing and merging. */
static bool is_cheap(Flattener *f, const CoreBlock *block)
{
    if (block->statement_count > CHEAP_STATEMENTS || !type_is_concrete(f->types, block->result.type))
        return false;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        switch (statement->kind) {
        case CORE_COPY:
        case CORE_UNIT:
        case CORE_PAIR:
        case CORE_PROJECT:
        case CORE_WRAP:
        case CORE_UNWRAP:
            break;
        case CORE_OP:
            if (!flatten_is_cheap_op(f, statement))
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

static const FlowValue *select_value(Flattener *f, FlowOperand condition, const CoreStatement *statement)
{
    const FlowValue *values[2];
    values[1] = flatten_block(f, statement->blocks[0]);
    values[0] = flatten_block(f, statement->blocks[1]);
    Leaves first = flatten_leaves(f, values[0]), second = flatten_leaves(f, values[1]);
    FlowOperand *operands = ARENA_ARRAY(f->arena, FlowOperand, 1 + 2 * first.count);
    operands[0] = condition;
    for (uint32_t i = 0; i < first.count; i++) {
        operands[1 + 2 * i] = first.items[i];
        operands[2 + 2 * i] = second.items[i];
    }
    FlowSpaceId space = flatten_place(f, operands, 1 + 2 * first.count);
    FlowSpaceId spaces[] = {space, space};
    return flatten_merge(f, condition, space, values, spaces, 2);
}

static const FlowValue *flatten_branch(Flattener *f, const CoreBlock *block, FlowSpaceId space, Draws *draws)
{
    bool is_at_one_point = f->context->space == FLOW_UNIT;
    flatten_enter(f, space, true);
    const FlowValue *value = is_at_one_point && flatten_is_branch(f, block) ? flatten_call_branch(f, block) : flatten_block(f, block);
    *draws = f->context->draws;
    flatten_leave(f);
    return value;
}

static const FlowValue *flatten_if(Flattener *f, const CoreStatement *statement)
{
    FlowOperand condition = flatten_scalar_atom(f, &statement->arguments[0]);
    if (condition.is_constant)
        return flatten_block(f, statement->blocks[condition.constant.bits != 0 ? 0 : 1]);
    if (is_cheap(f, statement->blocks[0]) && is_cheap(f, statement->blocks[1]))
        return select_value(f, condition, statement);
    FlowSpaceId here = f->context->space, spaces[2];
    condition = flatten_bring_stream(f, condition, here);
    Draws draws[2];
    const FlowValue *values[2];
    spaces[1] = flatten_filter(f, here, condition, true);
    spaces[0] = flatten_filter(f, here, condition, false);
    values[1] = flatten_branch(f, statement->blocks[0], spaces[1], &draws[1]);
    values[0] = flatten_branch(f, statement->blocks[1], spaces[0], &draws[0]);
    if (flatten_block_draws(f, statement->blocks[0]) || flatten_block_draws(f, statement->blocks[1]))
        merge_draws(f, condition, draws, spaces, 2);
    return flatten_merge(f, condition, here, values, spaces, 2);
}

static const FlowValue *flatten_guard(Flattener *f, const CoreStatement *statement)
{
    FlowSpaceId here = f->context->space;
    FlowOperand condition = flatten_bring_stream(f, flatten_scalar_atom(f, &statement->arguments[0]), here);
    FlowSpaceId space = flatten_filter(f, here, condition, true);
    Draws draws[2] = {f->context->draws};
    const FlowValue *value = flatten_branch(f, statement->blocks[0], space, &draws[1]);
    FlowSpaceId spaces[] = {here, space};
    if (flatten_block_draws(f, statement->blocks[0]))
        merge_draws(f, condition, draws, spaces, 2);
    return flatten_value_sequence(f, space, value, flatten_element_type(f, target_type(f, statement)));
}

/* ---- comprehensions ---- */

const FlowValue *flatten_body(Flattener *f, const CoreBlock *block, FlowSpaceId space, const FlowValue *const *arguments)
{
    bool draws = flatten_block_draws(f, block);
    FlowOperand bits = {0};
    if (draws)
        bits = next_draw(f);
    flatten_enter(f, space, false);
    if (draws)
        start_draws(f, bits, space);
    const FlowValue *value;
    if (flatten_block_does_io(f, block))
        value = flatten_serial_body(f, block, arguments);
    else {
        for (uint32_t i = 0; i < block->parameter_count; i++)
            flatten_bind(f, block->parameters[i], arguments[i]);
        value = flatten_block(f, block);
    }
    flatten_leave(f);
    return value;
}

FlowSpaceId flatten_zip_arguments(Flattener *f, const CoreStatement *statement, const FlowValue **elements)
{
    FlowSpaceId *spaces = ARENA_ARRAY(f->arena, FlowSpaceId, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const FlowValue *sequence = flatten_atom(f, &statement->arguments[i]);
        spaces[i] = sequence->space;
        elements[i] = sequence->element;
    }
    return flatten_zip(f, OP_COUNT, spaces, elements, statement->argument_count);
}

static const FlowValue *flatten_each(Flattener *f, const CoreStatement *statement)
{
    const FlowValue **elements = ARENA_ARRAY(f->arena, const FlowValue *, statement->argument_count);
    FlowSpaceId space = flatten_zip_arguments(f, statement, elements);
    const FlowValue *value = flatten_body(f, statement->blocks[0], space, elements);
    return flatten_value_sequence(f, space, value, flatten_element_type(f, target_type(f, statement)));
}

/* ---- literals ---- */

/* One element under each point: the points of the parent itself, seen as its children. */
FlowSpaceId flatten_single(Flattener *f, FlowSpaceId parent)
{
    FlowSpace from = *flatten_space(f, parent);
    return flatten_new_space(f, (FlowSpace){.kind = SPACE_RANGE,
                                            .parent = parent,
                                            .points = flatten_points(f, parent),
                                            .driver = from.driver,
                                            .segments = SEGMENTS_REGULAR,
                                            .count = flatten_int(1)});
}

static FlowOperand make_leaf(Flattener *f, FlowSpaceId parent, FlowSpaceId space, const FlowOperand *operands,
                             uint32_t count)
{
    bool is_same = true;
    for (uint32_t i = 1; i < count; i++)
        is_same &= flatten_is_same_operand(operands[0], operands[i]);
    if (is_same)
        return operands[0];
    FlowOperand *inputs = ARENA_ARRAY(f->arena, FlowOperand, 1 + count);
    inputs[0] = flatten_driver(f, parent);
    for (uint32_t i = 0; i < count; i++)
        inputs[1 + i] = flatten_bring(f, operands[i], parent);
    flatten_node(f, FLOW_MAKE, space, inputs, 1 + count);
    return flatten_stream(f, flatten_output(f, operands[0].type, space));
}

/* Elements that are sequences: point i of k takes the children of element i. */
static const FlowValue *make_choice(Flattener *f, FlowSpaceId parent, FlowSpaceId space, const FlowValue **values,
                                    uint32_t count)
{
    FlowOperand index = flatten_local_index(f, space);
    FlowOperand selector = flatten_scalar_op(f, OP_TO_I32, SCALAR_I32, &index, 1);
    FlowSpaceId *spaces = ARENA_ARRAY(f->arena, FlowSpaceId, count);
    for (uint32_t i = 0; i < count; i++)
        spaces[i] = parent;
    return flatten_merge(f, selector, space, values, spaces, count);
}

const FlowValue *flatten_literal(Flattener *f, const FlowValue **values, uint32_t count, TypeId type)
{
    FlowSpaceId parent = f->context->space;
    if (count == 0) {
        FlowSpaceId none = flatten_range(f, parent, flatten_int(0));
        return flatten_value_sequence(f, none, flatten_zero(f, type, none), type);
    }
    if (count == 1 && !flatten_has_sequence(values[0]))
        return flatten_value_sequence(f, flatten_single(f, parent), values[0], type);
    FlowSpaceId space = flatten_range(f, parent, flatten_int(count));
    if (flatten_has_sequence(values[0]))
        return flatten_value_sequence(f, space, make_choice(f, parent, space, values, count), type);
    Leaves *leaves = ARENA_ARRAY(f->arena, Leaves, count);
    for (uint32_t i = 0; i < count; i++)
        leaves[i] = flatten_leaves(f, values[i]);
    FlowOperand *made = ARENA_ARRAY(f->arena, FlowOperand, leaves[0].count);
    FlowOperand *operands = ARENA_ARRAY(f->arena, FlowOperand, count);
    for (uint32_t leaf = 0; leaf < leaves[0].count; leaf++) {
        for (uint32_t i = 0; i < count; i++)
            operands[i] = leaves[i].items[leaf];
        made[leaf] = make_leaf(f, parent, space, operands, count);
    }
    return flatten_value_sequence(f, space, flatten_from_leaves(f, type, made, space), type);
}

static const FlowValue *flatten_make(Flattener *f, const CoreStatement *statement)
{
    TypeId type = flatten_representation(f, target_type(f, statement)), element = type_element(f->types, type);
    uint32_t count = statement->argument_count;
    const FlowValue **values = ARENA_ARRAY(f->arena, const FlowValue *, count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = flatten_atom(f, &statement->arguments[i]);
    if (type_is_vector(f->types, type))
        return flatten_rope_value(f, flatten_rope_literal(f, values, count), element);
    return flatten_literal(f, values, count, element);
}

static const FlowValue *flatten_text(Flattener *f, const CoreStatement *statement)
{
    FlowNode *node = flatten_node(f, FLOW_TEXT, FLOW_UNIT, NULL, 0);
    node->text = statement->text;
    node->text_length = statement->text_length;
    FlowOperand array = flatten_stream(f, flatten_output(f, LEAF_ARRAY, FLOW_UNIT));
    return flatten_value_vector(f, array, flatten_int(0), flatten_int(statement->text_length), TYPE_CHAR);
}

/* ---- statements ---- */

static const FlowValue *flatten_statement(Flattener *f, const CoreStatement *statement)
{
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP:
        return flatten_atom(f, &statement->arguments[0]);
    case CORE_UNIT:
        return flatten_value_unit(f);
    case CORE_PAIR: {
        const FlowValue *first = flatten_atom(f, &statement->arguments[0]);
        return flatten_value_pair(f, first, flatten_atom(f, &statement->arguments[1]));
    }
    case CORE_PROJECT: {
        const FlowValue *pair = flatten_atom(f, &statement->arguments[0]);
        return statement->component == 0 ? pair->first : pair->rest;
    }
    case CORE_MAKE: return flatten_make(f, statement);
    case CORE_TEXT: return flatten_text(f, statement);
    case CORE_OP: return flatten_op(f, statement);
    case CORE_CALL: return flatten_call(f, statement);
    case CORE_IF: return flatten_if(f, statement);
    case CORE_EACH: return flatten_each(f, statement);
    case CORE_GUARD: return flatten_guard(f, statement);
    case CORE_GROUP: return flatten_group(f, statement);
    }
    bug("flatten", "an unknown statement");
}

/* Names the streams of a value after the variable, for readers of the printed form. */
static void name_streams(Flattener *f, const FlowValue *value, Name name)
{
    if (value->rope != NULL)
        return;
    FlowOperand leaf = value->kind == VALUE_SCALAR ? value->scalar : value->array;
    if (name != 0 && (value->kind == VALUE_SCALAR || value->kind == VALUE_VECTOR) && !leaf.is_constant &&
        f->network->streams.items[leaf.stream].name == 0)
        f->network->streams.items[leaf.stream].name = name;
}

void flatten_step(Flattener *f, const CoreStatement *statement)
{
    Span span = f->span;
    f->span = statement->span;
    const FlowValue *value = flatten_statement(f, statement);
    f->span = span;
    name_streams(f, value, f->core->variables.items[statement->target].name);
    flatten_bind(f, statement->target, value);
}

const FlowValue *flatten_block(Flattener *f, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        flatten_step(f, &block->statements[i]);
    return flatten_atom(f, &block->result);
}
