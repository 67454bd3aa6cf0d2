/* Loops of the machine: comprehensions, groups, and operations with a user's operator.
 *
 * A loop is a frame with a state. Whenever it needs its body or operator it pushes that and returns; the value comes back as
 * `arrived`, and ref_loop_step goes on. */
#include "ref/ref_private.h"

/* Arguments of operations with an operator, the operator aside. What is traversed comes last. */
enum { ARGUMENT_IDENTITY = 0, ARGUMENT_DESTINATION = 0, ARGUMENT_PAIRS = 1 };

bool ref_op_has_operator(Op op)
{
    return op == OP_REDUCE || op == OP_SCAN || op == OP_SCAN_INCLUSIVE || op == OP_PUT_WITH || op == OP_MULTISCAN;
}

/* ---- owned values ---- */

static TypeId element_type(const Interpreter *machine, TypeId container)
{
    return type_element(machine->types, type_underlying(machine->types, container));
}

static void release(Interpreter *machine, TypeId type, MaybeValue *maybe)
{
    if (maybe->is_present)
        value_release(&machine->heap, machine->types, type, maybe->value);
    maybe->is_present = false;
}

static MaybeValue present(Value value)
{
    return (MaybeValue){.value = value, .is_present = true};
}

static Value move(MaybeValue *maybe)
{
    maybe->is_present = false;
    return maybe->value;
}

/* The type of what the body or operator gives: what the loop's values are. */
static TypeId value_type(const Interpreter *machine, const CoreStatement *statement)
{
    if (statement->kind != CORE_OP)
        return element_type(machine, machine->program->variables.items[statement->target].type);
    return machine->program->functions.items[statement->function]->result_type;
}

void ref_loop_release(Interpreter *machine, Loop *loop)
{
    const CoreStatement *statement = loop->statement->core;
    TypeId type = value_type(machine, statement);
    release(machine, type, &loop->arrived);
    release(machine, type, &loop->local);
    release(machine, type, &loop->carry);
    if (loop->result != NULL)
        value_release(&machine->heap, machine->types, machine->program->variables.items[statement->target].type,
                      (Value){.object = loop->result});
    loop->result = NULL;
    if (loop->table != NULL)
        value_release(&machine->heap, machine->types, statement->arguments[ARGUMENT_DESTINATION].type,
                      (Value){.object = loop->table});
    loop->table = NULL;
}

void ref_loop_free(Interpreter *machine, Loop *loop)
{
    ref_free_positions(machine, &loop->order);
    memory_free(machine->memory, loop, sizeof *loop);
}

/* ---- the loop on top of the stack ---- */

static Frame *top(Interpreter *machine)
{
    return &machine->frames[machine->frame_count - 1];
}

static void append(Interpreter *machine, Loop *loop, Value element)
{
    loop->result = value_append(&machine->heap, loop->result, element);
}

static bool finish(Interpreter *machine, Value value)
{
    Loop *loop = top(machine)->loop;
    if (machine->options.counts_costs)
        ref_cost_leave_loop(machine, value);
    if (loop->statement->draws)
        machine->random = loop->outer;
    machine->frame_count--;
    ref_loop_release(machine, loop);
    ref_loop_free(machine, loop);
    ref_deliver(machine, value);
    return true;
}

static bool finish_container(Interpreter *machine, Loop *loop)
{
    Value value = {.object = loop->result};
    loop->result = NULL;
    return finish(machine, value);
}

static bool loop_argument(Interpreter *machine, const Frame *frame, uint32_t argument, Value *value)
{
    const CoreStatement *statement = frame->loop->statement->core;
    return ref_read(machine, frame->base, &statement->arguments[argument], statement->span, value);
}

/* Element `index` of a container among the arguments, as an owned reference. */
static Value take_element(Interpreter *machine, const Frame *frame, uint32_t argument, size_t index)
{
    Value container = {0};
    loop_argument(machine, frame, argument, &container); /* cannot fail: it was read when the loop began */
    TypeId type = element_type(machine, frame->loop->statement->core->arguments[argument].type);
    return value_share(machine->types, type, container.object->items[index]);
}

/* ---- bodies and operators that draw random numbers ---- */

static void start_drawing(Interpreter *machine, Loop *loop)
{
    if (!loop->statement->draws)
        return;
    loop->draw = random_draw(&machine->random);
    loop->outer = machine->random;
}

static void start_element(Interpreter *machine, const Loop *loop, size_t position)
{
    if (loop->statement->draws)
        machine->random = random_element(loop->draw, position);
}

static void start_application(Interpreter *machine, const Loop *loop, size_t position, CombineKind kind)
{
    if (loop->statement->draws)
        machine->random = random_application(loop->draw, position, kind);
}

/* ---- comprehensions ---- */

static bool each_step(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    if (loop->arrived.is_present)
        append(machine, loop, move(&loop->arrived));
    if (loop->index == loop->count)
        return finish_container(machine, loop);
    size_t base = frame->base;
    const CoreStatement *statement = loop->statement->core;
    const PreparedBlock *body = loop->statement->blocks[0];
    start_element(machine, loop, loop->index);
    ref_push_block(machine, body, base);
    frame = top(machine) - 1; /* pushing may have moved the frames */
    for (uint32_t i = 0; i < statement->argument_count; i++)
        ref_set(machine, base, body->core->parameters[i], take_element(machine, frame, i, loop->index));
    if (machine->options.counts_costs)
        ref_cost_body(machine, 0);
    loop->index++;
    return true;
}

/* ---- groups ---- */

static size_t group_end(Interpreter *machine, const Frame *frame)
{
    const Loop *loop = frame->loop;
    Value keys = {0};
    loop_argument(machine, frame, 0, &keys);
    TypeId type = element_type(machine, loop->statement->core->arguments[0].type);
    size_t end = loop->index + 1;
    while (end < loop->count && value_compare(machine->types, type, keys.object->items[loop->order.items[loop->index]],
                                              keys.object->items[loop->order.items[end]]) == 0)
        end++;
    return end;
}

/* The elements of one argument that belong to the group [loop->index, end). */
static Value group_values(Interpreter *machine, const Frame *frame, uint32_t argument, size_t end)
{
    const Loop *loop = frame->loop;
    const CoreBlock *body = loop->statement->core->blocks[0];
    TypeId type = machine->program->variables.items[body->parameters[argument]].type;
    Object *values = ref_build(machine, type, end - loop->index);
    for (size_t i = loop->index; i < end; i++)
        values->items[values->count++] = take_element(machine, frame, argument, loop->order.items[i]);
    return (Value){.object = ref_built(machine)};
}

static bool group_step(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    if (loop->arrived.is_present)
        append(machine, loop, move(&loop->arrived));
    if (loop->index == loop->count)
        return finish_container(machine, loop);
    size_t base = frame->base;
    size_t end = group_end(machine, frame);
    const PreparedBlock *body = loop->statement->blocks[0];
    start_element(machine, loop, loop->group_number++);
    ref_push_block(machine, body, base);
    frame = top(machine) - 1;
    ref_set(machine, base, body->core->parameters[0], take_element(machine, frame, 0, loop->order.items[loop->index]));
    for (uint32_t i = 1; i < body->core->parameter_count; i++)
        ref_set(machine, base, body->core->parameters[i], group_values(machine, frame, i, end));
    if (machine->options.counts_costs)
        ref_cost_body(machine, 0);
    loop->index = end;
    return true;
}

/* ---- operations with a user's operator (math/combine.h) ---- */

/* Calls the operator on two values, taking them over; its result arrives later. `position` is that of the last element in `second`. */
static bool call_operator(Interpreter *machine, Frame *frame, CombineKind kind, size_t position, Value first, Value second)
{
    const CoreStatement *statement = frame->loop->statement->core;
    TypeId type = value_type(machine, statement);
    size_t base = frame->base;
    frame->loop->awaiting = kind;
    start_application(machine, frame->loop, position, kind);
    const PreparedFunction *function = ref_prepare_function(machine, statement->function);
    if (!ref_push_activation(machine, function, statement->span)) {
        value_release(&machine->heap, machine->types, type, first);
        value_release(&machine->heap, machine->types, type, second);
        return false;
    }
    size_t new_base = top(machine)->base;
    const CoreVar *parameters = function->body->core->parameters;
    ref_set(machine, new_base, parameters[statement->captured_count], first);
    ref_set(machine, new_base, parameters[statement->captured_count + 1], second);
    if (machine->options.counts_costs)
        ref_cost_body(machine, statement->captured_count);
    for (uint32_t i = 0; i < statement->captured_count; i++) {
        Value captured;
        if (!ref_take(machine, base, &statement->captured[i], statement->span, &captured))
            return false;
        ref_set(machine, new_base, parameters[i], captured);
    }
    return true;
}

static void receive(Interpreter *machine, Loop *loop)
{
    if (!loop->arrived.is_present)
        return;
    Value value = move(&loop->arrived);
    switch (loop->awaiting) {
    case COMBINE_LOCAL:
        loop->local = present(value);
        break;
    case COMBINE_CARRY:
        loop->carry = present(value);
        break;
    case COMBINE_OUTPUT:
        append(machine, loop, value);
        break;
    }
}

static uint32_t traversed_argument(const CoreStatement *statement)
{
    return statement->kind == CORE_OP ? statement->argument_count - 1 : 0;
}

static Value next_element(Interpreter *machine, const Frame *frame)
{
    const Loop *loop = frame->loop;
    return take_element(machine, frame, traversed_argument(loop->statement->core), loop->index);
}

static bool reduce_step(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    receive(machine, loop);
    for (;;) {
        bool is_block_done = loop->index % COMBINE_BLOCK == 0 || loop->index == loop->count;
        if (loop->local.is_present && is_block_done) {
            if (loop->carry.is_present)
                return call_operator(machine, frame, COMBINE_CARRY, loop->index - 1, move(&loop->carry),
                                     move(&loop->local));
            loop->carry = present(move(&loop->local));
        }
        if (loop->index == loop->count)
            return finish(machine, move(&loop->carry));
        Value element = next_element(machine, frame);
        size_t position = loop->index++;
        if (loop->local.is_present)
            return call_operator(machine, frame, COMBINE_LOCAL, position, move(&loop->local), element);
        loop->local = present(element);
    }
}

static bool reduce_begin(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    if (loop->count > 0)
        return true;
    const CoreStatement *statement = loop->statement->core;
    Value identity;
    if (!ref_take(machine, frame->base, &statement->arguments[ARGUMENT_IDENTITY], statement->span, &identity))
        return false;
    loop->carry = present(identity); /* the result as it stands */
    return true;
}

/* The output after the element at loop->index: carry op local, where what is absent is left out. */
static bool scan_emit(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    TypeId type = value_type(machine, loop->statement->core);
    loop->stage = SCAN_NEXT;
    if (loop->carry.is_present && loop->local.is_present)
        return call_operator(machine, frame, COMBINE_OUTPUT, loop->index,
                             value_share(machine->types, type, loop->carry.value),
                             value_share(machine->types, type, loop->local.value));
    MaybeValue only = loop->carry.is_present ? loop->carry : loop->local;
    append(machine, loop, value_share(machine->types, type, only.value));
    return true;
}

static bool scan_absorb(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    Value element = next_element(machine, frame);
    loop->stage = SCAN_CLOSE_BLOCK;
    if (loop->local.is_present)
        return call_operator(machine, frame, COMBINE_LOCAL, loop->index, move(&loop->local), element);
    loop->local = present(element);
    return true;
}

static bool scan_close_block(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    loop->stage = SCAN_EMIT;
    if ((loop->index + 1) % COMBINE_BLOCK != 0)
        return true;
    if (loop->carry.is_present)
        return call_operator(machine, frame, COMBINE_CARRY, loop->index, move(&loop->carry), move(&loop->local));
    loop->carry = present(move(&loop->local));
    return true;
}

/* An exclusive scan does not need its last element. */
static bool is_scan_done(const Loop *loop)
{
    size_t unused = loop->statement->core->op == OP_SCAN ? 1 : 0;
    return loop->index + unused >= loop->count;
}

/* One stage of the scan; the machine comes back for the next. */
static bool scan_step(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    receive(machine, loop);
    switch (loop->stage) {
    case SCAN_ABSORB:
        if (is_scan_done(loop))
            return finish_container(machine, loop);
        return scan_absorb(machine, frame);
    case SCAN_CLOSE_BLOCK:
        return scan_close_block(machine, frame);
    case SCAN_EMIT:
        return scan_emit(machine, frame);
    case SCAN_NEXT:
        loop->index++;
        loop->stage = SCAN_ABSORB;
        return true;
    }
    return true;
}

static bool scan_begin(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    if (loop->count == 0)
        return true;
    const CoreStatement *statement = loop->statement->core;
    Value identity;
    if (!ref_take(machine, frame->base, &statement->arguments[ARGUMENT_IDENTITY], statement->span, &identity))
        return false;
    append(machine, loop, identity);
    return true;
}

static bool finish_put_with(Interpreter *machine, Loop *loop)
{
    if (loop->statement->core->op == OP_MULTISCAN)
        return finish_container(machine, loop);
    Value table = {.object = loop->table};
    loop->table = NULL;
    return finish(machine, table);
}

/* PUT_WITH and MULTISCAN: pair by pair into the table; MULTISCAN notes what it finds there first. */
static bool put_with_step(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    const CoreStatement *statement = loop->statement->core;
    TypeId type = value_type(machine, statement);
    Value pairs = {0};
    loop_argument(machine, frame, ARGUMENT_PAIRS, &pairs);
    if (loop->arrived.is_present) {
        int64_t index = pairs.object->items[loop->index - 1].object->items[0].scalar.integer;
        Value old = loop->table->items[index];
        loop->table->items[index] = move(&loop->arrived);
        value_release(&machine->heap, machine->types, type, old);
    }
    if (loop->index == loop->count)
        return finish_put_with(machine, loop);
    size_t position = loop->index++;
    const Object *pair = pairs.object->items[position].object;
    int64_t index = pair->items[0].scalar.integer;
    if (!ref_check_index(machine, statement, index, loop->table->count))
        return false;
    if (statement->op == OP_MULTISCAN)
        append(machine, loop, value_share(machine->types, type, loop->table->items[index]));
    return call_operator(machine, frame, COMBINE_LOCAL, position,
                         value_share(machine->types, type, loop->table->items[index]),
                         value_share(machine->types, type, pair->items[1]));
}

static bool put_with_begin(Interpreter *machine, Frame *frame)
{
    Loop *loop = frame->loop;
    TypeId type = value_type(machine, loop->statement->core);
    Value destination;
    if (!loop_argument(machine, frame, ARGUMENT_DESTINATION, &destination))
        return false;
    size_t count = destination.object->count;
    loop->table = value_container(&machine->heap, machine->types,
                                  loop->statement->core->arguments[ARGUMENT_DESTINATION].type, count);
    for (size_t i = 0; i < count; i++)
        loop->table->items[loop->table->count++] =
            value_share(machine->types, type, destination.object->items[i]);
    return true;
}

/* ---- beginning and going on ---- */

/* Reads the containers from `first` on and checks that their lengths agree. */
static bool read_lengths(Interpreter *machine, const CoreStatement *statement, size_t base, uint32_t first,
                         size_t *count)
{
    for (uint32_t i = first; i < statement->argument_count; i++) {
        Value container;
        if (!ref_read(machine, base, &statement->arguments[i], statement->span, &container))
            return false;
        if (i > first && container.object->count != *count)
            return ref_fail_lengths(machine, statement, *count, container.object->count);
        *count = container.object->count;
    }
    return true;
}

static bool gives_container(const CoreStatement *statement)
{
    return statement->kind != CORE_OP || (statement->op != OP_REDUCE && statement->op != OP_PUT_WITH);
}

bool ref_loop_begin(Interpreter *machine, const PreparedStatement *prepared, size_t base)
{
    const CoreStatement *statement = prepared->core;
    size_t count = 0;
    if (!read_lengths(machine, statement, base, traversed_argument(statement), &count))
        return false;
    Loop *loop = ref_push_loop(machine, prepared, base, count);
    if (gives_container(statement))
        loop->result = value_container(&machine->heap, machine->types,
                                       machine->program->variables.items[statement->target].type, 0);
    start_drawing(machine, loop);
    if (statement->kind == CORE_GROUP) {
        Value keys = {0};
        loop_argument(machine, top(machine), 0, &keys);
        ref_grade(machine, element_type(machine, statement->arguments[0].type), keys.object, false);
        loop->order = machine->positions;
        machine->positions = (Positions){0};
    }
    if (statement->kind != CORE_OP)
        return true;
    if (statement->op == OP_REDUCE)
        return reduce_begin(machine, top(machine));
    if (statement->op == OP_SCAN)
        return scan_begin(machine, top(machine));
    if (statement->op == OP_SCAN_INCLUSIVE)
        return true;
    return put_with_begin(machine, top(machine));
}

bool ref_loop_step(Interpreter *machine)
{
    Frame *frame = top(machine);
    const CoreStatement *statement = frame->loop->statement->core;
    if (statement->kind == CORE_EACH)
        return each_step(machine, frame);
    if (statement->kind == CORE_GROUP)
        return group_step(machine, frame);
    if (statement->op == OP_REDUCE)
        return reduce_step(machine, frame);
    if (statement->op == OP_SCAN || statement->op == OP_SCAN_INCLUSIVE)
        return scan_step(machine, frame);
    return put_with_step(machine, frame);
}
