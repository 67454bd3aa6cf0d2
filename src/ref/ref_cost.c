/* Counting the cost of a run: figure 3 of Madsen & Filinski (2013) on Core, as docs/cost.md has it.
 *
 * A block is nested lets: let x1 = e1 in let x2 = e2 in ... in the result. From the rule of let, work and depth of the
 * statements add up, and the space is the largest of (what is bound before a statement) + (what it needs); so one pass
 * from left to right suffices. A last statement that gives the block's result is not bound, it is the body of the
 * innermost let. */
#include "ref/ref_private.h"

/* ---- contexts ---- */

/* Something is evaluated with everything bound so far held. */
static void context_evaluate(CostContext *context, Cost cost)
{
    context->work = cost_add(context->work, cost.work);
    context->depth = cost_add(context->depth, cost.depth);
    context->peak = footprint_maximum(context->peak, footprint_add(context->held, cost.footprint));
}

static void context_hold(CostContext *context, Footprint size)
{
    context->held = footprint_add(context->held, size);
}

/* Literals are bound before what uses them. */
static void context_bind_literals(CostContext *context, uint64_t count)
{
    context->work = cost_add(context->work, count);
    context->depth = cost_add(context->depth, count);
    context_hold(context, footprint_of(count));
}

/* `inner` is the rest of `outer`. */
static CostContext context_compose(const CostContext *outer, const CostContext *inner)
{
    CostContext both = *outer;
    both.work = cost_add(outer->work, inner->work);
    both.depth = cost_add(outer->depth, inner->depth);
    both.peak = footprint_maximum(outer->peak, footprint_add(outer->held, inner->peak));
    both.held = footprint_add(outer->held, inner->held);
    both.merges = cost_add(outer->merges, inner->merges);
    if (inner->merges > 0)
        both.merging = footprint_maximum(outer->merging, footprint_add(outer->held, inner->merging));
    return both;
}

/* The whole, once its value is known. */
static Cost context_close(const CostContext *context, Footprint value)
{
    Cost cost = {context->work, context->depth, context->peak};
    cost.work = cost_add(cost.work, cost_multiply(context->merges, value.parallel));
    Footprint merged = footprint_add(context->merging, footprint_add(value, footprint_add(value, value)));
    if (context->merges > 0)
        cost.footprint = footprint_maximum(cost.footprint, merged);
    return cost;
}

/* ---- help ---- */

static Frame *top_frame(const Interpreter *machine)
{
    return &machine->frames[machine->frame_count - 1];
}

static CostFrame *top_cost(const Interpreter *machine)
{
    return &machine->cost.frames[machine->frame_count - 1];
}

static TypeId variable_type(const Interpreter *machine, CoreVar variable)
{
    return machine->program->variables.items[variable].type;
}

static uint64_t count_literals(const CoreStatement *statement)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        count += statement->arguments[i].is_constant;
    return count;
}

static bool gives_result(const CoreBlock *block, const CoreStatement *statement)
{
    return statement == &block->statements[block->statement_count - 1] && !block->result.is_constant &&
           block->result.variable == statement->target;
}

/* ---- preparing ---- */

static void add_free_variable(Interpreter *machine, BlockCost *cost, CoreVar variable)
{
    for (uint32_t i = 0; i < cost->free_variables.count; i++)
        if (cost->free_variables.items[i] == variable)
            return;
    *vec_push(&machine->arena, &cost->free_variables) = variable;
    cost->packing = cost_add(cost->packing, ref_cost_type_size(machine, variable_type(machine, variable)));
}

void ref_cost_note_use(Interpreter *machine, PreparedBlock *block, const CoreAtom *atom)
{
    if (atom->is_constant)
        return;
    bool is_global = machine->program->variables.items[atom->variable].is_global;
    const PreparedBlock *binding = is_global ? NULL : machine->variables.items[atom->variable].block;
    for (; block != binding; block = block->outer)
        add_free_variable(machine, &block->cost, atom->variable);
}

/* ---- entering ---- */

static void reserve(Interpreter *machine)
{
    CostCounter *counter = &machine->cost;
    if (machine->frame_count <= counter->capacity)
        return;
    size_t unit = sizeof *counter->frames;
    if (machine->frame_capacity > SIZE_MAX / unit)
        memory_fail(machine->memory);
    counter->frames = memory_resize(machine->memory, counter->frames, counter->capacity * unit,
                                    machine->frame_capacity * unit);
    counter->capacity = machine->frame_capacity;
}

/* {e | c}: the free variables are packed. */
static void enter_guard(CostContext *context, uint64_t packing)
{
    context->work = cost_add(context->work, packing);
    context->depth = cost_add(context->depth, packing);
    context_hold(context, footprint_of(cost_add(packing, 1)));
}

/* if c then a else b is the({a | c} ++ {b | not c}): both sides pack, `not`, ++ and `the` are a step each; the value v is
 * copied by ++. Three copies are held at the end ({v}, {v} ++ {}, v), `not c` and two flags with them. */
static void enter_branch(CostContext *context, const PreparedStatement *statement, const PreparedBlock *taken)
{
    uint64_t packing = cost_add(statement->blocks[0]->cost.packing, statement->blocks[1]->cost.packing);
    context->work = cost_add(context->work, cost_add(packing, 2));
    context->depth = cost_add(context->depth, cost_add(packing, 3));
    context->merges = 1;
    context->merging = footprint_add(context->held, footprint_of(3));
    bool is_else = taken == statement->blocks[1]; /* `not c` is held while it runs */
    context_hold(context, footprint_of(cost_add(taken->cost.packing, is_else ? 2 : 1)));
}

static void enter_from_statement(CostContext *context, const PreparedStatement *statement, const PreparedBlock *block)
{
    context_bind_literals(context, count_literals(statement->core));
    if (statement->core->kind == CORE_GUARD)
        enter_guard(context, block->cost.packing);
    if (statement->core->kind == CORE_IF)
        enter_branch(context, statement, block);
}

void ref_cost_enter(Interpreter *machine)
{
    reserve(machine);
    *top_cost(machine) = (CostFrame){0};
    const Frame *frame = top_frame(machine), *below = frame - 1;
    if (frame->block == NULL || machine->frame_count == 1 || below->block == NULL)
        return;
    enter_from_statement(&top_cost(machine)->context, &below->block->statements[below->next], frame->block);
}

void ref_cost_fold_caller(Interpreter *machine)
{
    size_t root = machine->frame_count - 2;
    while (!machine->frames[root].is_root)
        root--;
    CostFrame *frames = machine->cost.frames;
    for (size_t i = root + 1; i < machine->frame_count; i++)
        frames[root].context = context_compose(&frames[root].context, &frames[i].context);
}

/* ---- leaving blocks ---- */

void ref_cost_leave(Interpreter *machine, Value value)
{
    const CoreBlock *block = top_frame(machine)->block->core;
    CostContext *context = &top_cost(machine)->context;
    Footprint size = ref_cost_size(machine, block->result.type, value);
    bool is_given = block->statement_count > 0 && gives_result(block, &block->statements[block->statement_count - 1]);
    uint64_t literal = block->result.is_constant;
    if (!is_given)
        context_evaluate(context, (Cost){literal, literal, size});
    machine->cost.delivered = context_close(context, size);
}

/* ---- statements ---- */

static void bind(Interpreter *machine, const CoreStatement *statement, Value value, Cost cost)
{
    CostContext *context = &top_cost(machine)->context;
    context_evaluate(context, cost);
    if (!gives_result(top_frame(machine)->block->core, statement))
        context_hold(context, ref_cost_size(machine, variable_type(machine, statement->target), value));
}

static bool has_vectors(const Interpreter *machine, TypeId container)
{
    const Types *types = machine->types;
    return type_is_vector(types, container) || type_is_vector(types, type_element(types, container));
}

/* By the column of the table. */
static uint64_t operation_work(const Interpreter *machine, const CoreStatement *statement, uint64_t result)
{
    const CostCounter *counter = &machine->cost;
    switch (op_table[statement->op].work) {
    case WORK_NONE:
        return 0;
    case WORK_UNIT:
        return 1;
    case WORK_VALUE:
        return counter->argument_size;
    case WORK_INPUT:
        return counter->argument_length;
    case WORK_RESULT:
        return result;
    case WORK_BOTH:
        return cost_add(counter->argument_length, result);
    case WORK_TRAVERSE:
        return cost_add(counter->sequence_length, result);
    case WORK_JOIN:
        return cost_add(counter->argument_length, has_vectors(machine, statement->arguments[0].type) ? result : 0);
    }
    return 0;
}

void ref_cost_arguments(Interpreter *machine, const CoreStatement *statement, const Value *arguments)
{
    CostCounter *counter = &machine->cost;
    counter->argument_length = counter->sequence_length = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        TypeId type = type_underlying(machine->types, statement->arguments[i].type);
        if (type_kind(machine->types, type) != TYPE_CONTAINER)
            continue;
        uint64_t length = arguments[i].object->count;
        counter->argument_length = cost_maximum(counter->argument_length, length);
        if (type_is_sequence(machine->types, type))
            counter->sequence_length = cost_maximum(counter->sequence_length, length);
    }
    if (op_table[statement->op].work == WORK_VALUE)
        counter->argument_size = ref_cost_size(machine, statement->arguments[0].type, arguments[0]).parallel;
}

/* {e1, ..., ek} is one operation; [e1, ..., ek] is tab({e1, ..., ek}). */
static Cost make_cost(Interpreter *machine, TypeId type, Object *container, Footprint size)
{
    if (type_is_sequence(machine->types, type))
        return (Cost){size.parallel, 1, size};
    Footprint both = footprint_add(ref_cost_sequence_size(machine, type, container), size);
    return (Cost){both.parallel, 2, both};
}

/* A statement that has no frames of its own. */
static Cost statement_cost(Interpreter *machine, const PreparedStatement *prepared, TypeId type, Value value)
{
    const CoreStatement *statement = prepared->core;
    Footprint size = ref_cost_size(machine, type, value);
    switch (statement->kind) {
    case CORE_MAKE:
        return make_cost(machine, type_underlying(machine->types, type), value.object, size);
    case CORE_TEXT:
        return (Cost){size.parallel, 1, size};
    case CORE_OP:
        return (Cost){operation_work(machine, statement, size.parallel), 1, size};
    case CORE_GUARD: { /* {e | false} */
        uint64_t packing = prepared->blocks[0]->cost.packing;
        return (Cost){packing, packing, footprint_of(1)};
    }
    case CORE_COPY:
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP:
    case CORE_CALL:
    case CORE_IF:
    case CORE_EACH:
    case CORE_GROUP:
        break;
    }
    return (Cost){0, 0, size}; /* tuples and other names for what is there */
}

static Cost with_literals(Cost cost, uint64_t count)
{
    return (Cost){cost_add(cost.work, count), cost_add(cost.depth, count), footprint_add(cost.footprint, footprint_of(count))};
}

void ref_cost_statement(Interpreter *machine, Value value)
{
    const Frame *frame = top_frame(machine);
    const PreparedStatement *prepared = &frame->block->statements[frame->next];
    TypeId type = variable_type(machine, prepared->core->target);
    Cost cost = statement_cost(machine, prepared, type, value);
    bind(machine, prepared->core, value, with_literals(cost, count_literals(prepared->core)));
}

void ref_cost_delivered(Interpreter *machine, Value value)
{
    const Frame *frame = top_frame(machine);
    bind(machine, frame->block->statements[frame->next].core, value, machine->cost.delivered);
}

/* ---- loops ---- */

void ref_cost_body(Interpreter *machine, uint32_t first)
{
    const Frame *frame = top_frame(machine);
    const CoreBlock *body = frame->block->core;
    Footprint size = {0, 0};
    for (uint32_t i = first; i < body->parameter_count; i++) {
        CoreVar parameter = body->parameters[i];
        Value value = machine->slots[frame->base + machine->variables.items[parameter].slot];
        size = footprint_add(size, ref_cost_size(machine, variable_type(machine, parameter), value));
    }
    machine->cost.frames[machine->frame_count - 2].tally.element = size;
}

void ref_cost_arrive(Interpreter *machine)
{
    const Cost *body = &machine->cost.delivered;
    CostTally *tally = &top_cost(machine)->tally;
    Footprint footprint = footprint_add(tally->element, body->footprint);
    tally->bodies++;
    tally->work = cost_add(tally->work, body->work);
    tally->depth = cost_maximum(tally->depth, body->depth);
    tally->elements = footprint_append(tally->elements, tally->element);
    tally->most = footprint_maximum(tally->most, footprint);
    tally->all = footprint_add(tally->all, footprint);
}

/* What all loops share: free variables are distributed to the bodies, which run at once. Sequentially, one body is there at
 * a time. */
static Cost bodies_cost(const CostTally *tally, uint64_t distributed)
{
    uint64_t copies = cost_multiply(tally->bodies, distributed);
    return (Cost){
        .work = cost_add(cost_add(copies, distributed), tally->work),
        .depth = cost_add(distributed, tally->depth),
        .footprint = {cost_add(distributed, tally->most.sequential), cost_add(copies, tally->all.parallel)},
    };
}

/* Several sources are zipped first, which is a step without work. */
static Cost each_cost(const CostTally *tally, const PreparedStatement *statement)
{
    Cost cost = bodies_cost(tally, statement->blocks[0]->cost.packing);
    cost.footprint = footprint_add(cost.footprint, footprint_of(1));
    if (statement->core->argument_count == 1)
        return cost;
    cost.depth = cost_add(cost.depth, 1);
    cost.footprint = footprint_add(cost.footprint, tally->elements);
    return cost;
}

/* Grouping, which makes a sequence of groups; a comprehension over it, whose bodies are all open until the input ends, so
 * that their spaces add up even sequentially; tabulation. */
static Cost group_cost(const CostTally *tally, const PreparedStatement *statement, Footprint result)
{
    uint64_t packing = statement->blocks[0]->cost.packing;
    Cost cost = bodies_cost(tally, packing);
    cost.footprint.sequential = cost_add(cost_multiply(tally->bodies, packing), tally->all.sequential);
    cost.work = cost_add(cost.work, cost_add(tally->elements.parallel, result.parallel));
    cost.depth = cost_add(cost.depth, 2);
    cost.footprint = footprint_add(cost.footprint, footprint_add(footprint_of(1), result));
    return cost;
}

/* As other operations, and a comprehension over the pairs that the operator combines. */
static Cost operator_cost(Interpreter *machine, const CostTally *tally, const Loop *loop, Footprint result)
{
    const CoreStatement *statement = loop->statement->core;
    uint64_t captured = 0;
    for (uint32_t i = 0; i < statement->captured_count; i++)
        captured = cost_add(captured, ref_cost_type_size(machine, statement->captured[i].type));
    machine->cost.argument_length = loop->count;
    Cost cost = bodies_cost(tally, captured);
    cost.work = cost_add(cost.work, operation_work(machine, statement, result.parallel));
    cost.depth = cost_add(cost.depth, 1);
    cost.footprint = footprint_add(cost.footprint, result);
    return cost;
}

static Cost loop_cost(Interpreter *machine, const CostTally *tally, const Loop *loop, Footprint result)
{
    CoreKind kind = loop->statement->core->kind;
    return kind == CORE_EACH    ? each_cost(tally, loop->statement)
           : kind == CORE_GROUP ? group_cost(tally, loop->statement, result)
                                : operator_cost(machine, tally, loop, result);
}

void ref_cost_leave_loop(Interpreter *machine, Value value)
{
    const Loop *loop = top_frame(machine)->loop;
    const CoreStatement *statement = loop->statement->core;
    Footprint size = ref_cost_size(machine, variable_type(machine, statement->target), value);
    Cost cost = loop_cost(machine, &top_cost(machine)->tally, loop, size);
    machine->cost.delivered = with_literals(cost, count_literals(statement));
}

/* ---- the whole run ---- */

void ref_cost_end_item(Interpreter *machine, const CoreItem *item, Value value)
{
    CostContext *program = &machine->cost.program;
    context_evaluate(program, machine->cost.delivered);
    if (item->kind == CORE_ITEM_BINDING)
        context_hold(program, ref_cost_size(machine, item->block->result.type, value));
}

void ref_cost_end_call(Interpreter *machine)
{
    context_evaluate(&machine->cost.program, machine->cost.delivered);
}

Cost ref_cost(const Interpreter *machine)
{
    return context_close(&machine->cost.program, footprint_of(0));
}

void ref_cost_free(Interpreter *machine)
{
    CostCounter *counter = &machine->cost;
    memory_free(machine->memory, counter->frames, counter->capacity * sizeof *counter->frames);
    counter->frames = NULL;
    counter->capacity = 0;
}
