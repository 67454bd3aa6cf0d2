/* Calls, and the networks of functions. */
#include "flow/flatten_internal.h"

#include <string.h>

/* Statements put in place of calls: beyond this a program is refused. */
enum { INLINED_MAX = 500000 };

/* ---- facts about functions ---- */

bool flatten_op_does_io(Op op)
{
    return op_table[op].effect == EFFECT_IO && op != OP_FAIL && op != OP_NOT_PROVIDED && op != OP_RAISE && op != OP_LINES;
}

/* What a block does itself, and whom it calls. */
static void add_block_facts(Flattener *f, const CoreBlock *block, FunctionFacts *facts)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_OP) {
            Effect effect = op_table[statement->op].effect;
            facts->draws |= effect == EFFECT_RANDOM;
            facts->does_io |= flatten_op_does_io(statement->op);
        }
        if (statement->function != 0)
            *vec_push(f->arena, &facts->callees) = statement->function;
        for (uint32_t j = 0; j < 2; j++)
            if (statement->blocks[j] != NULL)
                add_block_facts(f, statement->blocks[j], facts);
    }
}

/* Takes over what the functions called do; whether that is anything new. */
static bool take_over(Flattener *f, FunctionFacts *facts)
{
    bool draws = facts->draws, does_io = facts->does_io;
    for (uint32_t i = 0; i < facts->callees.count; i++) {
        const FunctionFacts *callee = &f->facts.items[facts->callees.items[i]];
        facts->draws |= callee->draws;
        facts->does_io |= callee->does_io;
    }
    return draws != facts->draws || does_io != facts->does_io;
}

FunctionFacts flatten_facts(Flattener *f, CoreFunctionId function)
{
    while (f->facts.count < f->core->functions.count)
        *vec_push(f->arena, &f->facts) = (FunctionFacts){0};
    if (f->facts.items[function].is_known)
        return f->facts.items[function];
    VEC(CoreFunctionId) reached = {0};
    *vec_push(f->arena, &reached) = function;
    f->facts.items[function].is_known = true;
    for (uint32_t i = 0; i < reached.count; i++) {
        FunctionFacts *facts = &f->facts.items[reached.items[i]];
        add_block_facts(f, f->core->functions.items[reached.items[i]]->body, facts);
        for (uint32_t j = 0; j < facts->callees.count; j++)
            if (!f->facts.items[facts->callees.items[j]].is_known) {
                f->facts.items[facts->callees.items[j]].is_known = true;
                *vec_push(f->arena, &reached) = facts->callees.items[j];
            }
    }
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (uint32_t i = reached.count; i-- > 0;)
            is_new |= take_over(f, &f->facts.items[reached.items[i]]);
    }
    return f->facts.items[function];
}

static FunctionFacts block_facts(Flattener *f, const CoreBlock *block)
{
    FunctionFacts facts = {0};
    add_block_facts(f, block, &facts);
    for (uint32_t i = 0; i < facts.callees.count; i++)
        flatten_facts(f, facts.callees.items[i]);
    take_over(f, &facts);
    return facts;
}

bool flatten_block_draws(Flattener *f, const CoreBlock *block)
{
    return block_facts(f, block).draws;
}

bool flatten_block_does_io(Flattener *f, const CoreBlock *block)
{
    return block_facts(f, block).does_io;
}

/* ---- calls ---- */

bool flatten_is_put_in_place(Flattener *f, const CoreFunction *function)
{
    if (!type_is_concrete(f->types, function->result_type))
        return true;
    for (uint32_t i = 0; i < function->body->parameter_count; i++)
        if (!type_is_concrete(f->types, f->core->variables.items[function->body->parameters[i]].type))
            return true;
    return false;
}

static FlowNetworkId *network_of(Flattener *f, Wanted wanted)
{
    FlowProgram *program = f->program;
    while (program->by_function.count <= wanted.function)
        *vec_push(f->arena, &program->by_function) = 0;
    while (program->by_single.count <= wanted.function)
        *vec_push(f->arena, &program->by_single) = 0;
    return wanted.is_single ? &program->by_single.items[wanted.function] : &program->by_function.items[wanted.function];
}

FlowNetworkId flatten_network_of(Flattener *f, CoreFunctionId function, bool is_single)
{
    Wanted wanted = {function, is_single};
    FlowNetworkId *id = network_of(f, wanted);
    if (*id == 0) {
        *id = f->program->networks.count;
        FlowNetwork *network = ARENA_NEW(f->arena, FlowNetwork);
        FunctionFacts facts = flatten_facts(f, function);
        network->function = function;
        network->is_single = is_single;
        network->draws = facts.draws;
        network->does_io = facts.does_io;
        *vec_push(f->arena, &f->program->networks) = network;
        *vec_push(f->arena, &f->wanted) = wanted;
    }
    return *network_of(f, wanted);
}

/* What is called here is called at one point. */
static bool is_at_one_point(const Flattener *f)
{
    return f->context->space == FLOW_UNIT;
}

/* Puts the body in place of the call: streams do not cross the boundaries of networks. */
static const FlowValue *inline_call(Flattener *f, const CoreStatement *statement, const CoreFunction *function)
{
    const CoreBlock *body = function->body;
    flatten_find_through_function(f, statement->function);
    bool *is_inlining = &f->facts.items[statement->function].is_inlining;
    f->inlined += body->statement_count;
    if (*is_inlining || f->inlined > INLINED_MAX)
        flatten_error(f, ERROR_NOT_STREAMABLE, statement->span,
                      "the program becomes too large when this function is put in place of its calls, which its sequences need; use "
                      "vectors, or fewer levels of functions");
    const FlowValue **arguments = ARENA_ARRAY(f->arena, const FlowValue *, body->parameter_count);
    for (uint32_t i = 0; i < body->parameter_count; i++)
        arguments[i] = flatten_atom(f, &statement->arguments[i]);
    for (uint32_t i = 0; i < body->parameter_count; i++)
        flatten_bind(f, body->parameters[i], arguments[i]);
    *is_inlining = true;
    const FlowValue *value = flatten_block(f, body);
    f->facts.items[statement->function].is_inlining = false;
    return value;
}

typedef struct Inputs {
    FlowOperand *items;
    uint32_t count;
} Inputs;

/* The leaves of arguments at the context, behind a first operand, with the state of random numbers if they are drawn. */
static Inputs call_inputs(Flattener *f, FlowOperand first, const FlowValue *const *arguments, uint32_t count, bool draws)
{
    uint32_t room = 3;
    Leaves *leaves = ARENA_ARRAY(f->arena, Leaves, count);
    for (uint32_t i = 0; i < count; i++) {
        leaves[i] = flatten_leaves(f, arguments[i]);
        room += leaves[i].count;
    }
    Inputs inputs = {.items = ARENA_ARRAY(f->arena, FlowOperand, room)};
    FlowSpaceId space = f->context->space;
    inputs.items[inputs.count++] = first;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t leaf = 0; leaf < leaves[i].count; leaf++)
            inputs.items[inputs.count++] = flatten_bring(f, leaves[i].items[leaf], space);
    if (draws) {
        inputs.items[inputs.count++] = flatten_bring(f, f->context->draws.key, space);
        inputs.items[inputs.count++] = flatten_bring(f, f->context->draws.counter, space);
    }
    return inputs;
}

/* The outputs of a call, which has just been made. */
static const FlowValue *call_outputs(Flattener *f, TypeId type, bool draws)
{
    const Layout *layout = flatten_layout(f, type);
    FlowSpaceId space = f->context->space;
    FlowOperand *outputs = ARENA_ARRAY(f->arena, FlowOperand, layout->count);
    for (uint32_t i = 0; i < layout->count; i++)
        outputs[i] = flatten_stream(f, flatten_output(f, layout->leaves[i].type, space));
    if (draws) {
        f->context->draws.key = flatten_stream(f, flatten_output(f, SCALAR_U64, space));
        f->context->draws.counter = flatten_stream(f, flatten_output(f, SCALAR_U64, space));
    }
    return flatten_from_leaves(f, type, outputs, space);
}

static bool is_scalar_code(Flattener *f, CoreFunctionId function)
{
    return f->options->is_scalar_code != NULL && f->options->is_scalar_code(f->options->context, function);
}

static const FlowValue **call_arguments(Flattener *f, const CoreStatement *statement)
{
    const FlowValue **arguments = ARENA_ARRAY(f->arena, const FlowValue *, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        arguments[i] = flatten_atom(f, &statement->arguments[i]);
    return arguments;
}

const FlowValue *flatten_call(Flattener *f, const CoreStatement *statement)
{
    const CoreFunction *function = f->core->functions.items[statement->function];
    if (flatten_is_put_in_place(f, function))
        return inline_call(f, statement, function);
    bool is_scalar = function->is_recursive && is_scalar_code(f, statement->function);
    FunctionFacts facts = flatten_facts(f, statement->function);
    Inputs inputs = call_inputs(f, flatten_driver(f, f->context->space), call_arguments(f, statement),
                                statement->argument_count, facts.draws);
    FlowNetworkId network = is_scalar ? 0 : flatten_network_of(f, statement->function, is_at_one_point(f));
    FlowNode *node = flatten_node(f, is_scalar ? FLOW_SCALAR_CALL : FLOW_CALL, f->context->space, inputs.items,
                                  inputs.count);
    node->network = network;
    node->function = statement->function;
    node->is_serial = facts.does_io;
    if (facts.does_io)
        flatten_order(f);
    return call_outputs(f, function->result_type, facts.draws);
}

/* ---- results in tail position ---- */

static const CoreStatement *last_statement(const CoreBlock *block)
{
    if (block->statement_count == 0 || block->result.is_constant)
        return NULL;
    const CoreStatement *last = &block->statements[block->statement_count - 1];
    return last->target == block->result.variable ? last : NULL;
}

static bool is_tail_call(Flattener *f, const CoreStatement *statement)
{
    if (statement->kind != CORE_CALL)
        return false;
    const CoreFunction *function = f->core->functions.items[statement->function];
    return function->is_recursive && !flatten_is_put_in_place(f, function) && !is_scalar_code(f, statement->function);
}

/* Whether a block ends in a call whose value is the function's, on some way through it. */
static bool has_tail_call(Flattener *f, const CoreBlock *block)
{
    const CoreStatement *last = last_statement(block);
    if (last == NULL)
        return false;
    if (last->kind == CORE_IF)
        return has_tail_call(f, last->blocks[0]) || has_tail_call(f, last->blocks[1]);
    return is_tail_call(f, last);
}

static void give_result(Flattener *f, const FlowValue *value)
{
    FlowOperand slot = flatten_bring_stream(f, f->slot, f->context->space);
    const FlowValue *concrete = flatten_concrete(f, value, f->context->space);
    Inputs inputs = call_inputs(f, slot, &concrete, 1, f->network->draws);
    flatten_node(f, FLOW_RETURN, f->context->space, inputs.items, inputs.count);
}

static void tail_call(Flattener *f, const CoreStatement *statement)
{
    Span span = f->span;
    f->span = statement->span;
    FlowOperand slot = flatten_bring_stream(f, f->slot, f->context->space);
    /* the callee takes the state of random numbers only if it draws; what this function must give back is then the callee's */
    Inputs inputs = call_inputs(f, slot, call_arguments(f, statement), statement->argument_count, f->network->draws);
    FlowNetworkId network = flatten_network_of(f, statement->function, is_at_one_point(f));
    FlowNode *node = flatten_node(f, FLOW_TAIL_CALL, f->context->space, inputs.items, inputs.count);
    node->network = network;
    node->function = statement->function;
    node->is_serial = f->network->does_io;
    f->span = span;
}

static void flatten_tail(Flattener *f, const CoreBlock *block);
static void tail_call_branch(Flattener *f, const CoreBlock *block);

static void tail_branch(Flattener *f, const CoreBlock *block, FlowOperand condition, FlowSpaceId here, bool keep)
{
    flatten_enter(f, flatten_filter(f, here, condition, keep), true);
    if (here == FLOW_UNIT && flatten_is_branch(f, block))
        tail_call_branch(f, block);
    else
        flatten_tail(f, block);
    flatten_leave(f);
}

/* Evaluates a block whose value is the function's result. */
static void flatten_tail(Flattener *f, const CoreBlock *block)
{
    if (!has_tail_call(f, block)) {
        give_result(f, flatten_block(f, block));
        return;
    }
    for (uint32_t i = 0; i + 1 < block->statement_count; i++)
        flatten_step(f, &block->statements[i]);
    const CoreStatement *last = last_statement(block);
    if (last->kind != CORE_IF) {
        bool draws = flatten_facts(f, last->function).draws;
        if (draws == f->network->draws && flatten_facts(f, last->function).does_io == f->network->does_io)
            tail_call(f, last);
        else {
            flatten_step(f, last);
            give_result(f, flatten_atom(f, &block->result));
        }
        return;
    }
    FlowOperand condition = flatten_scalar_atom(f, &last->arguments[0]);
    if (condition.is_constant) {
        flatten_tail(f, last->blocks[condition.constant.bits != 0 ? 0 : 1]);
        return;
    }
    FlowSpaceId here = f->context->space;
    condition = flatten_bring_stream(f, condition, here);
    tail_branch(f, last->blocks[0], condition, here, true);
    tail_branch(f, last->blocks[1], condition, here, false);
}

/* ---- networks ---- */

/* What is being built: saved while a network inside another is made. */
typedef struct Building {
    FlowNetworkId id;
    FlowNetwork *network;
    Context *context;
    Span span;
    FlowOperand slot;
    VEC(uint32_t) points;
    FlowNodeId *same;
    uint32_t same_size, same_count;
    FlowNodeId first_after_io;
} Building;

static Building save_building(const Flattener *f)
{
    Building saved = {.id = f->id,
                      .network = f->network,
                      .context = f->context,
                      .span = f->span,
                      .slot = f->slot,
                      .same = f->same,
                      .same_size = f->same_size,
                      .same_count = f->same_count,
                      .first_after_io = f->first_after_io};
    memcpy(&saved.points, &f->points, sizeof saved.points);
    return saved;
}

static void restore_building(Flattener *f, const Building *saved)
{
    f->id = saved->id;
    f->network = saved->network;
    f->context = saved->context;
    f->span = saved->span;
    f->slot = saved->slot;
    f->same = saved->same;
    f->same_size = saved->same_size;
    f->same_count = saved->same_count;
    f->first_after_io = saved->first_after_io;
    memcpy(&f->points, &saved->points, sizeof f->points);
}

/* Starts a network whose points are those of its calls (or the one of an item), with its parameters in `types`. Gives their values. */
static const FlowValue **start_network(Flattener *f, FlowNetworkId id, const TypeId *types, uint32_t count)
{
    FlowNetwork *network = f->program->networks.items[id];
    f->id = id;
    f->network = network;
    f->context = NULL;
    f->span = network->span;
    memset(&f->points, 0, sizeof f->points);
    *vec_push(f->arena, &f->points) = 0;
    f->same = NULL;
    f->same_size = f->same_count = 0;
    f->first_after_io = 0;
    *vec_push(f->arena, &network->spaces) = (FlowSpace){0};
    *vec_push(f->arena, &network->streams) = (FlowStream){0};
    FlowSpaceId root = flatten_new_space(f, (FlowSpace){.kind = SPACE_UNIT});
    if (flow_has_root(network))
        root = flatten_new_space(f, (FlowSpace){.kind = SPACE_ROOT, .parent = FLOW_UNIT, .segments = SEGMENTS_SINGLE});
    flatten_enter(f, root, false);
    f->context->floor = FLOW_UNIT;

    flatten_node(f, FLOW_PARAMETERS, root, NULL, 0);
    FlowStreamId slot = flatten_output(f, SCALAR_I64, root);
    flatten_space(f, root)->driver = slot;
    f->slot = flatten_stream(f, slot);
    uint32_t leaf_count = network->draws ? 2 : 0;
    for (uint32_t i = 0; i < count; i++)
        leaf_count += flatten_layout(f, types[i])->count;
    network->parameters = ARENA_ARRAY(f->arena, LeafType, leaf_count);
    FlowOperand **leaves = ARENA_ARRAY(f->arena, FlowOperand *, count);
    for (uint32_t i = 0; i < count; i++) {
        if (flatten_is_input(f, types[i]))
            continue;
        const Layout *layout = flatten_layout(f, types[i]);
        leaves[i] = ARENA_ARRAY(f->arena, FlowOperand, layout->count);
        for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
            network->parameters[network->parameter_count++] = layout->leaves[leaf].type;
            leaves[i][leaf] = flatten_stream(f, flatten_output(f, layout->leaves[leaf].type, root));
        }
    }
    if (network->draws) {
        network->parameters[network->parameter_count++] = SCALAR_U64;
        network->parameters[network->parameter_count++] = SCALAR_U64;
        f->context->draws.key = flatten_stream(f, flatten_output(f, SCALAR_U64, root));
        f->context->draws.counter = flatten_stream(f, flatten_output(f, SCALAR_U64, root));
    }
    const FlowValue **values = ARENA_ARRAY(f->arena, const FlowValue *, count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = flatten_is_input(f, types[i]) ? flatten_input(f, types[i], i)
                                                  : flatten_from_leaves(f, types[i], leaves[i], root);
    return values;
}

static void set_result_types(Flattener *f, TypeId type)
{
    const Layout *layout = flatten_layout(f, type);
    FlowNetwork *network = f->network;
    network->results = ARENA_ARRAY(f->arena, LeafType, layout->count + 2);
    for (uint32_t i = 0; !network->prints && i < layout->count; i++)
        network->results[network->result_count++] = layout->leaves[i].type;
    if (!network->draws)
        return;
    network->results[network->result_count++] = SCALAR_U64;
    network->results[network->result_count++] = SCALAR_U64;
}

static const FlowValue **start_block_network(Flattener *f, FlowNetworkId id, const CoreBlock *block)
{
    TypeId *types = ARENA_ARRAY(f->arena, TypeId, block->parameter_count);
    for (uint32_t i = 0; i < block->parameter_count; i++)
        types[i] = f->core->variables.items[block->parameters[i]].type;
    const FlowValue **values = start_network(f, id, types, block->parameter_count);
    for (uint32_t i = 0; i < block->parameter_count; i++)
        flatten_bind(f, block->parameters[i], values[i]);
    return values;
}

static void flatten_function(Flattener *f, Wanted wanted)
{
    const CoreFunction *function = f->core->functions.items[wanted.function];
    FlowNetworkId network_id = *network_of(f, wanted);
    FlowNetwork *network = f->program->networks.items[network_id];
    network->name = function->name;
    network->span = function->span;
    start_block_network(f, network_id, function->body);
    flatten_find_through_function(f, wanted.function);
    set_result_types(f, function->result_type);
    flatten_tail(f, function->body);
    flatten_finish(f);
}

void flatten_wanted(Flattener *f)
{
    while (f->wanted.count > 0)
        flatten_function(f, vec_pop(&f->wanted));
}

/* An item, or a function as it is called from outside: everything is on unit. */
FlowNetworkId flatten_item_network(Flattener *f, const CoreBlock *block, Name name, Span span, bool is_printed)
{
    FlowNetworkId id = f->program->networks.count;
    FlowNetwork *network = ARENA_NEW(f->arena, FlowNetwork);
    *vec_push(f->arena, &f->program->networks) = network;
    network->name = name;
    network->span = span;
    network->is_item = true;
    network->does_io = flatten_block_does_io(f, block);
    network->draws = flatten_block_draws(f, block);
    network->prints = is_printed && !type_is_concrete(f->types, block->result.type);
    start_block_network(f, id, block);
    set_result_types(f, block->result.type);
    const FlowValue *value = flatten_block(f, block);
    Leaves leaves = {0};
    if (network->prints)
        flatten_print(f, block->result.type, value);
    else
        leaves = flatten_leaves(f, flatten_concrete(f, value, FLOW_UNIT));
    network->result = ARENA_ARRAY(f->arena, FlowOperand, leaves.count + 2);
    if (leaves.count > 0)
        memcpy(network->result, leaves.items, leaves.count * sizeof *leaves.items);
    if (network->draws) {
        network->result[leaves.count] = f->context->draws.key;
        network->result[leaves.count + 1] = f->context->draws.counter;
    }
    flatten_finish(f);
    return id;
}

/* ---- bodies with input and output, branches ---- */

typedef struct FreeVariables {
    VEC(CoreVar) variables;
} FreeVariables;

static void add_free(Flattener *f, FreeVariables *free, const CoreAtom *atom)
{
    if (atom->is_constant || f->core->variables.items[atom->variable].is_global)
        return;
    for (uint32_t i = 0; i < free->variables.count; i++)
        if (free->variables.items[i] == atom->variable)
            return;
    *vec_push(f->arena, &free->variables) = atom->variable;
}

/* Variables used in a block; those bound in it are left out by the caller, who knows what was bound before. */
static void add_used(Flattener *f, const CoreBlock *block, FreeVariables *used)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        for (uint32_t j = 0; j < statement->argument_count; j++)
            add_free(f, used, &statement->arguments[j]);
        for (uint32_t j = 0; j < statement->captured_count; j++)
            add_free(f, used, &statement->captured[j]);
        for (uint32_t j = 0; j < 2; j++)
            if (statement->blocks[j] != NULL)
                add_used(f, statement->blocks[j], used);
    }
    add_free(f, used, &block->result);
}

static void add_bound(Flattener *f, const CoreBlock *block, FreeVariables *bound)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        *vec_push(f->arena, &bound->variables) = block->parameters[i];
    for (uint32_t i = 0; i < block->statement_count; i++) {
        *vec_push(f->arena, &bound->variables) = block->statements[i].target;
        for (uint32_t j = 0; j < 2; j++)
            if (block->statements[i].blocks[j] != NULL)
                add_bound(f, block->statements[i].blocks[j], bound);
    }
}

static bool contains(const FreeVariables *set, CoreVar variable)
{
    for (uint32_t i = 0; i < set->variables.count; i++)
        if (set->variables.items[i] == variable)
            return true;
    return false;
}

/* The variables from outside that a block uses. */
static FreeVariables free_variables(Flattener *f, const CoreBlock *block)
{
    FreeVariables used = {0}, bound = {0}, free = {0};
    add_used(f, block, &used);
    add_bound(f, block, &bound);
    for (uint32_t i = 0; i < used.variables.count; i++)
        if (!contains(&bound, used.variables.items[i]))
            *vec_push(f->arena, &free.variables) = used.variables.items[i];
    return free;
}

/* The network of a body: its parameters are the variables from outside, then those of the block. What kind it is, `as` says. */
static FlowNetworkId body_network(Flattener *f, const CoreBlock *block, const FreeVariables *free, const FlowNetwork *as, bool is_tail)
{
    Building outer = save_building(f);
    uint32_t free_count = free->variables.count, count = free_count + block->parameter_count;
    CoreVar *variables = ARENA_ARRAY(f->arena, CoreVar, count);
    TypeId *types = ARENA_ARRAY(f->arena, TypeId, count);
    Binding *bindings = ARENA_ARRAY(f->arena, Binding, free_count);
    for (uint32_t i = 0; i < count; i++) {
        variables[i] = i < free_count ? free->variables.items[i] : block->parameters[i - free_count];
        types[i] = f->core->variables.items[variables[i]].type;
    }
    for (uint32_t i = 0; i < free_count; i++)
        bindings[i] = f->bindings.items[variables[i]];
    FlowNetworkId id = f->program->networks.count;
    FlowNetwork *network = ARENA_NEW(f->arena, FlowNetwork);
    *vec_push(f->arena, &f->program->networks) = network;
    *network = *as;
    network->name = outer.network->name;
    network->span = outer.span;
    const FlowValue **values = start_network(f, id, types, count);
    for (uint32_t i = 0; i < count; i++)
        flatten_bind(f, variables[i], values[i]);
    set_result_types(f, block->result.type);
    if (is_tail)
        flatten_tail(f, block);
    else
        give_result(f, flatten_block(f, block));
    flatten_finish(f);
    for (uint32_t i = 0; i < free_count; i++)
        f->bindings.items[variables[i]] = bindings[i];
    restore_building(f, &outer);
    return id;
}

/* The values of variables, with room for more behind them. */
static const FlowValue **free_values(Flattener *f, const FreeVariables *free, uint32_t more)
{
    const FlowValue **values = ARENA_ARRAY(f->arena, const FlowValue *, free->variables.count + more);
    for (uint32_t i = 0; i < free->variables.count; i++) {
        CoreAtom atom = core_atom(f->core, free->variables.items[i]);
        values[i] = flatten_atom(f, &atom);
    }
    return values;
}

const FlowValue *flatten_serial_body(Flattener *f, const CoreBlock *block, const FlowValue *const *arguments)
{
    bool draws = flatten_block_draws(f, block);
    FreeVariables free = free_variables(f, block);
    uint32_t count = free.variables.count + block->parameter_count;
    const FlowValue **values = free_values(f, &free, block->parameter_count);
    for (uint32_t i = 0; i < block->parameter_count; i++)
        values[free.variables.count + i] = flatten_concrete(f, arguments[i], f->context->space);
    Inputs inputs = call_inputs(f, flatten_driver(f, f->context->space), values, count, draws);
    FlowNetworkId network = body_network(f, block, &free, &(FlowNetwork){.does_io = true, .draws = draws}, false);
    FlowNode *node = flatten_node(f, FLOW_CALL, f->context->space, inputs.items, inputs.count);
    node->network = network;
    node->is_serial = true;
    flatten_order(f);
    return call_outputs(f, block->result.type, draws);
}

/* Whether there is something to be done for many points, or a call. */
static bool has_work(Flattener *f, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        bool takes_vector = false;
        for (uint32_t j = 0; statement->kind == CORE_OP && j < statement->argument_count; j++)
            takes_vector |= type_kind(f->types, statement->arguments[j].type) == TYPE_CONTAINER;
        if (takes_vector || statement->kind == CORE_EACH || statement->kind == CORE_GROUP || statement->kind == CORE_CALL)
            return true;
        for (uint32_t j = 0; j < 2; j++)
            if (statement->blocks[j] != NULL && has_work(f, statement->blocks[j]))
                return true;
    }
    return false;
}

/* At one point a branch is either taken or not: its nodes need not be there for the other case, and what they take is the same for all points below. So it is
 * a network of its own, which is called. Sequences do not cross the boundaries of networks, and the order of input and output is that of one. */
bool flatten_is_branch(Flattener *f, const CoreBlock *block)
{
    if (!type_is_concrete(f->types, block->result.type) || flatten_block_does_io(f, block) || !has_work(f, block))
        return false;
    FreeVariables free = free_variables(f, block);
    for (uint32_t i = 0; i < free.variables.count; i++)
        if (!type_is_concrete(f->types, f->core->variables.items[free.variables.items[i]].type))
            return false;
    return true;
}

const FlowValue *flatten_call_branch(Flattener *f, const CoreBlock *block)
{
    bool draws = flatten_block_draws(f, block);
    FreeVariables free = free_variables(f, block);
    Inputs inputs = call_inputs(f, flatten_driver(f, f->context->space), free_values(f, &free, 0), free.variables.count, draws);
    FlowNetworkId network =
        body_network(f, block, &free, &(FlowNetwork){.is_single = true, .is_branch = true, .draws = draws}, false);
    FlowNode *node = flatten_node(f, FLOW_CALL, f->context->space, inputs.items, inputs.count);
    node->network = network;
    return call_outputs(f, block->result.type, draws);
}

/* The branch takes the place of the network. */
static void tail_call_branch(Flattener *f, const CoreBlock *block)
{
    bool draws = f->network->draws;
    FreeVariables free = free_variables(f, block);
    FlowOperand slot = flatten_bring_stream(f, f->slot, f->context->space);
    Inputs inputs = call_inputs(f, slot, free_values(f, &free, 0), free.variables.count, draws);
    FlowNetworkId network = body_network(
        f, block, &free, &(FlowNetwork){.is_single = true, .is_branch = true, .draws = draws, .does_io = f->network->does_io}, true);
    FlowNode *node = flatten_node(f, FLOW_TAIL_CALL, f->context->space, inputs.items, inputs.count);
    node->network = network;
    node->is_serial = f->network->does_io;
}
