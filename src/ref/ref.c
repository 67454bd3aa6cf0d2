/* The machine of the reference interpreter: its two stacks, statements, calls and errors. */
#include "base/machine.h"
#include "ref/ref_private.h"

#include <string.h>

Failure *ref_failure(Interpreter *machine, Span span)
{
    return failure_at(&machine->failure, machine->diagnostics->sources, span);
}

/* ---- variables ---- */

static bool read_global(Interpreter *machine, CoreVar variable, Span span, Value *value)
{
    if (variable < machine->globals.count && machine->globals.items[variable].is_present) {
        *value = machine->globals.items[variable].value;
        return true;
    }
    const char *name = names_text(machine->program->names, machine->program->variables.items[variable].name);
    return failure_no_value(ref_failure(machine, span), name);
}

bool ref_read(Interpreter *machine, size_t base, const CoreAtom *atom, Span span, Value *value)
{
    if (atom->is_constant) {
        value->scalar = atom->constant;
        return true;
    }
    if (machine->program->variables.items[atom->variable].is_global)
        return read_global(machine, atom->variable, span, value);
    *value = machine->slots[base + machine->variables.items[atom->variable].slot];
    return true;
}

bool ref_take(Interpreter *machine, size_t base, const CoreAtom *atom, Span span, Value *value)
{
    if (!ref_read(machine, base, atom, span, value))
        return false;
    bool is_global = !atom->is_constant && machine->program->variables.items[atom->variable].is_global;
    if (is_global || (!atom->is_constant && machine->variables.items[atom->variable].is_object))
        value_share(machine->types, atom->type, *value);
    return true;
}

void ref_set(Interpreter *machine, size_t base, CoreVar variable, Value value)
{
    machine->slots[base + machine->variables.items[variable].slot] = value;
}

static void bind_global(Interpreter *machine, CoreVar variable, Value value)
{
    while (machine->globals.count <= variable)
        *vec_push(&machine->arena, &machine->globals) = (MaybeValue){0};
    MaybeValue *global = &machine->globals.items[variable];
    TypeId type = machine->program->variables.items[variable].type;
    if (global->is_present)
        value_release(&machine->heap, machine->types, type, global->value);
    *global = (MaybeValue){.value = value_share(machine->types, type, value), .is_present = true};
}

/* ---- the stacks ---- */

static void *grow(Memory *memory, void *items, size_t *capacity, size_t needed, size_t item_size)
{
    size_t new_capacity = *capacity == 0 ? 256 : *capacity;
    while (new_capacity < needed)
        new_capacity += new_capacity / 2;
    if (new_capacity > SIZE_MAX / item_size)
        memory_fail(memory);
    items = memory_resize(memory, items, *capacity * item_size, new_capacity * item_size);
    *capacity = new_capacity;
    return items;
}

static void reserve_frame(Interpreter *machine)
{
    if (machine->frame_count == machine->frame_capacity)
        machine->frames = grow(machine->memory, machine->frames, &machine->frame_capacity, machine->frame_count + 1,
                               sizeof *machine->frames);
}

static void reserve_slots(Interpreter *machine, size_t count)
{
    size_t needed = machine->slot_count + count;
    if (needed > machine->slot_capacity)
        machine->slots = grow(machine->memory, machine->slots, &machine->slot_capacity, needed, sizeof *machine->slots);
}

void ref_push_block(Interpreter *machine, const PreparedBlock *block, size_t base)
{
    reserve_frame(machine);
    for (uint32_t i = 0; i < block->object_count; i++)
        machine->slots[base + block->object_slots[i].slot].object = NULL;
    machine->frames[machine->frame_count++] = (Frame){.block = block, .base = base};
    if (machine->options.counts_costs)
        ref_cost_enter(machine);
}

Loop *ref_push_loop(Interpreter *machine, const PreparedStatement *statement, size_t base, size_t count)
{
    reserve_frame(machine);
    Loop *loop = memory_alloc(machine->memory, sizeof *loop);
    loop->statement = statement;
    loop->count = count;
    machine->frames[machine->frame_count++] = (Frame){.loop = loop, .base = base};
    if (machine->options.counts_costs)
        ref_cost_enter(machine);
    return loop;
}

/* An activation in the place on top of the stack; `depth` is the caller's business. */
static void push_root(Interpreter *machine, const PreparedFunction *function)
{
    size_t base = machine->slot_count;
    reserve_frame(machine);
    reserve_slots(machine, function->slot_count);
    machine->slot_count += function->slot_count;
    ref_push_block(machine, function->body, base);
    machine->frames[machine->frame_count - 1].is_root = true;
}

bool ref_push_activation(Interpreter *machine, const PreparedFunction *function, Span span)
{
    if (machine->depth > machine->options.max_depth)
        return failure_too_deep(ref_failure(machine, span), machine->options.max_depth);
    push_root(machine, function);
    machine->depth++;
    return true;
}

static void release_slots(Interpreter *machine, size_t base, const ObjectSlot *places, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        Value *slot = &machine->slots[base + places[i].slot];
        if (slot->object != NULL)
            value_release(&machine->heap, machine->types, places[i].type, *slot);
        slot->object = NULL;
    }
}

static void release_block(Interpreter *machine, const Frame *frame)
{
    release_slots(machine, frame->base, frame->block->object_slots, frame->block->object_count);
}

/* Goes on to the next statement of the block on top of the stack. */
static void advance(Interpreter *machine)
{
    Frame *frame = &machine->frames[machine->frame_count - 1];
    const PreparedStatement *done = &frame->block->statements[frame->next++];
    release_slots(machine, frame->base, done->dead, done->dead_count);
}

static void pop_frame(Interpreter *machine)
{
    Frame *frame = &machine->frames[machine->frame_count - 1];
    if (frame->block != NULL) {
        release_block(machine, frame);
    } else {
        ref_loop_release(machine, frame->loop);
        ref_loop_free(machine, frame->loop);
    }
    if (frame->is_root) {
        machine->slot_count = frame->base;
        machine->depth--;
    }
    machine->frame_count--;
}

static void release_scratch(Interpreter *machine)
{
    ref_free_positions(machine, &machine->positions);
    text_free(&machine->contents);
    line_reader_close(&machine->lines);
}

/* Forgets what is left of a run: after an error, or when an allocation failed in the run before. */
static void unwind(Interpreter *machine)
{
    while (machine->frame_count > 0)
        pop_frame(machine);
    if (machine->building != NULL)
        value_release(&machine->heap, machine->types, machine->building_type, (Value){.object = machine->building});
    machine->building = NULL;
    release_scratch(machine);
    machine->depth = 0;
    machine->slot_count = 0;
}

void ref_deliver(Interpreter *machine, Value value)
{
    if (machine->frame_count == 0) {
        machine->result = value;
        return;
    }
    Frame *frame = &machine->frames[machine->frame_count - 1];
    if (frame->block == NULL) {
        frame->loop->arrived = (MaybeValue){.value = value, .is_present = true};
        if (machine->options.counts_costs)
            ref_cost_arrive(machine);
        return;
    }
    const CoreStatement *statement = frame->block->statements[frame->next].core;
    if (statement->kind == CORE_GUARD) {
        TypeId type = machine->program->variables.items[statement->target].type;
        Object *one = value_container(&machine->heap, machine->types, type, 1);
        value.object = value_append(&machine->heap, one, value);
    }
    ref_set(machine, frame->base, statement->target, value);
    if (machine->options.counts_costs)
        ref_cost_delivered(machine, value);
    advance(machine);
}

/* ---- containers under construction ---- */

Object *ref_build(Interpreter *machine, TypeId type, size_t capacity)
{
    machine->building = value_container(&machine->heap, machine->types, type, capacity);
    machine->building_type = type;
    return machine->building;
}

Object *ref_built(Interpreter *machine)
{
    Object *built = machine->building;
    machine->building = NULL;
    return built;
}

/* ---- statements that only make a value ---- */

static bool make_pair(Interpreter *machine, const CoreStatement *statement, TypeId type, size_t base, Value *value)
{
    Value first, rest;
    if (!ref_read(machine, base, &statement->arguments[0], statement->span, &first) ||
        !ref_read(machine, base, &statement->arguments[1], statement->span, &rest))
        return false;
    *value = value_pair(&machine->heap, machine->types, type, first, rest);
    value_share(machine->types, statement->arguments[0].type, first);
    value_share(machine->types, statement->arguments[1].type, rest);
    return true;
}

static bool project(Interpreter *machine, const CoreStatement *statement, TypeId type, size_t base, Value *value)
{
    Value pair;
    if (!ref_read(machine, base, &statement->arguments[0], statement->span, &pair))
        return false;
    *value = value_share(machine->types, type, pair.object->items[statement->component]);
    return true;
}

static bool make_container(Interpreter *machine, const CoreStatement *statement, TypeId type, size_t base,
                           Value *value)
{
    ref_build(machine, type, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        Value element;
        if (!ref_take(machine, base, &statement->arguments[i], statement->span, &element))
            return false;
        machine->building = value_append(&machine->heap, machine->building, element);
    }
    value->object = ref_built(machine);
    return true;
}

static bool make_text(Interpreter *machine, const CoreStatement *statement, TypeId type, Value *value)
{
    value->object = value_chars(&machine->heap, machine->types, type, statement->text, statement->text_length);
    return true;
}

/* Takes the first argument out of its slot if nothing else refers to it, now or later. */
static bool take_first(Interpreter *machine, const PreparedStatement *prepared, size_t base)
{
    const CoreAtom *first = &prepared->core->arguments[0];
    if (first->is_constant || machine->program->variables.items[first->variable].is_global)
        return false;
    for (uint32_t i = 1; i < prepared->core->argument_count; i++)
        if (!prepared->core->arguments[i].is_constant && prepared->core->arguments[i].variable == first->variable)
            return false;
    const VariableInfo *info = &machine->variables.items[first->variable];
    Value *slot = &machine->slots[base + info->slot];
    for (uint32_t i = 0; i < prepared->dead_count; i++)
        if (prepared->dead[i].slot == info->slot && slot->object->references == 1) {
            slot->object->is_measured = false;
            slot->object = NULL;
            return true;
        }
    return false;
}

static bool execute_op(Interpreter *machine, const PreparedStatement *prepared, size_t base, Value *value)
{
    const CoreStatement *statement = prepared->core;
    Value arguments[REF_ARGUMENTS_MAX] = {0};
    if (statement->argument_count > REF_ARGUMENTS_MAX)
        bug("ref", "%s has %u arguments", op_name(statement->op), statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        if (!ref_read(machine, base, &statement->arguments[i], statement->span, &arguments[i]))
            return false;
    OpCall call = {.machine = machine, .statement = statement, .arguments = arguments};
    if (machine->options.counts_costs)
        ref_cost_arguments(machine, statement, arguments);
    call.owns_first = statement->op == OP_APPEND && take_first(machine, prepared, base);
    bool is_done = ref_op(&call);
    *value = call.result;
    return is_done;
}

/* ---- statements that go elsewhere ---- */

static bool pass_arguments(Interpreter *machine, const CoreStatement *statement, const PreparedFunction *function,
                           size_t from, size_t to)
{
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        Value value;
        if (!ref_take(machine, from, &statement->arguments[i], statement->span, &value))
            return false;
        ref_set(machine, to, function->body->core->parameters[i], value);
    }
    return true;
}

/* Moves the activation on top of the stack down to where the caller's was, which nothing needs any more. */
static void replace_caller(Interpreter *machine, const PreparedFunction *function)
{
    size_t new_base = machine->slot_count - function->slot_count;
    if (machine->options.counts_costs)
        ref_cost_fold_caller(machine);
    machine->frame_count--; /* set aside; popped frames below do not touch its slots */
    while (!machine->frames[machine->frame_count - 1].is_root)
        pop_frame(machine);
    size_t base = machine->frames[machine->frame_count - 1].base;
    pop_frame(machine);
    memmove(machine->slots + base, machine->slots + new_base, function->slot_count * sizeof(Value));
    machine->slot_count = base + function->slot_count;
    machine->frames[machine->frame_count++] = (Frame){.block = function->body, .base = base, .is_root = true};
}

static bool execute_call(Interpreter *machine, const PreparedStatement *prepared, size_t base)
{
    const CoreStatement *statement = prepared->core;
    const PreparedFunction *function = ref_prepare_function(machine, statement->function);
    if (prepared->is_tail)
        push_root(machine, function), machine->depth++;
    else if (!ref_push_activation(machine, function, statement->span))
        return false;
    size_t new_base = machine->slot_count - function->slot_count;
    if (!pass_arguments(machine, statement, function, base, new_base))
        return false;
    if (prepared->is_tail)
        replace_caller(machine, function);
    return true;
}

static bool execute_if(Interpreter *machine, const PreparedStatement *prepared, size_t base)
{
    Value condition;
    if (!ref_read(machine, base, &prepared->core->arguments[0], prepared->core->span, &condition))
        return false;
    ref_push_block(machine, prepared->blocks[condition.scalar.integer != 0 ? 0 : 1], base);
    return true;
}

static bool execute_guard(Interpreter *machine, const PreparedStatement *prepared, size_t base)
{
    const CoreStatement *statement = prepared->core;
    Value condition;
    if (!ref_read(machine, base, &statement->arguments[0], statement->span, &condition))
        return false;
    if (condition.scalar.integer != 0) {
        ref_push_block(machine, prepared->blocks[0], base);
        return true;
    }
    TypeId type = machine->program->variables.items[statement->target].type;
    Value none = {.object = value_container(&machine->heap, machine->types, type, 0)};
    ref_set(machine, base, statement->target, none);
    if (machine->options.counts_costs)
        ref_cost_statement(machine, none);
    advance(machine);
    return true;
}

/* ---- running ---- */

static bool is_stopped(Interpreter *machine, Span span)
{
    return stop_reason(machine->options.stop) != STOP_NOT &&
           !failure_stopped(ref_failure(machine, span), machine->options.stop);
}

/* Executes the next statement of the block on top of the stack. */
static bool execute(Interpreter *machine, const PreparedStatement *prepared, size_t base)
{
    const CoreStatement *statement = prepared->core;
    TypeId type = machine->program->variables.items[statement->target].type;
    Value value = {0};
    bool is_done = true;
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP:
        is_done = ref_take(machine, base, &statement->arguments[0], statement->span, &value);
        break;
    case CORE_UNIT:
        break;
    case CORE_PAIR:
        is_done = make_pair(machine, statement, type, base, &value);
        break;
    case CORE_PROJECT:
        is_done = project(machine, statement, type, base, &value);
        break;
    case CORE_MAKE:
        is_done = make_container(machine, statement, type, base, &value);
        break;
    case CORE_TEXT:
        is_done = make_text(machine, statement, type, &value);
        break;
    case CORE_OP:
        if (ref_op_has_operator(statement->op))
            return ref_loop_begin(machine, prepared, base);
        is_done = execute_op(machine, prepared, base, &value);
        break;
    case CORE_CALL:
        return execute_call(machine, prepared, base);
    case CORE_IF:
        return execute_if(machine, prepared, base);
    case CORE_EACH:
    case CORE_GROUP:
        return ref_loop_begin(machine, prepared, base);
    case CORE_GUARD:
        return execute_guard(machine, prepared, base);
    }
    if (!is_done)
        return false;
    ref_set(machine, base, statement->target, value);
    if (machine->options.counts_costs)
        ref_cost_statement(machine, value);
    advance(machine);
    return true;
}

static bool finish_block(Interpreter *machine, const Frame *frame)
{
    Value value;
    if (!ref_take(machine, frame->base, &frame->block->core->result, machine->origin, &value))
        return false;
    if (machine->options.counts_costs)
        ref_cost_leave(machine, value);
    pop_frame(machine);
    ref_deliver(machine, value);
    return true;
}

static bool step(Interpreter *machine)
{
    const Frame *frame = &machine->frames[machine->frame_count - 1];
    if (frame->block == NULL)
        return !is_stopped(machine, frame->loop->statement->core->span) && ref_loop_step(machine);
    if (frame->next == frame->block->core->statement_count)
        return !is_stopped(machine, machine->origin) && finish_block(machine, frame);
    const PreparedStatement *statement = &frame->block->statements[frame->next];
    return !is_stopped(machine, statement->core->span) && execute(machine, statement, frame->base);
}

/* Runs until the frames are gone. */
static bool run(Interpreter *machine, Value *result)
{
    RandomState random = machine->random;
    uint64_t start = machine_clock();
    while (machine->frame_count > 0)
        if (!step(machine)) {
            unwind(machine);
            world_abandon(&machine->world);
            machine->random = random; /* what failed has drawn nothing */
            failure_report(&machine->failure, machine->diagnostics);
            return false;
        }
    machine->run_time = machine_clock() - start;
    *result = machine->result;
    return true;
}

/* Starts a run with an activation of its own. */
static void begin(Interpreter *machine, const PreparedFunction *function, Span origin)
{
    unwind(machine);
    machine->origin = origin;
    push_root(machine, function);
    machine->depth = 1;
}

/* ---- the interface ---- */

Interpreter *ref_new(Memory *memory, const CoreProgram *program, Diagnostics *diagnostics, InterpreterOptions options)
{
    Interpreter *machine = memory_alloc(memory, sizeof *machine);
    machine->memory = memory;
    machine->program = program;
    machine->types = program->types;
    machine->diagnostics = diagnostics;
    machine->options = options;
    machine->random = (RandomState){.key = RANDOM_FIRST_KEY};
    world_init(&machine->world, memory, options.output, options.stop);
    line_reader_init(&machine->lines, memory, options.stop);
    heap_init(&machine->heap, memory);
    arena_init(&machine->arena, memory);
    failure_init(&machine->failure, memory);
    text_init(&machine->text, memory);
    text_init(&machine->contents, memory);
    return machine;
}

void ref_free(Interpreter *machine)
{
    if (machine == NULL)
        return;
    /* frames left by a failed allocation: their values go with the heap */
    for (size_t i = 0; i < machine->frame_count; i++)
        if (machine->frames[i].block == NULL)
            ref_loop_free(machine, machine->frames[i].loop);
    release_scratch(machine);
    world_free(&machine->world);
    failure_free(&machine->failure);
    text_free(&machine->text);
    ref_cost_free(machine);
    heap_free(&machine->heap);
    arena_free(&machine->arena);
    memory_free(machine->memory, machine->frames, machine->frame_capacity * sizeof *machine->frames);
    memory_free(machine->memory, machine->slots, machine->slot_capacity * sizeof *machine->slots);
    memory_free(machine->memory, machine, sizeof *machine);
}

Heap *ref_heap(Interpreter *machine)
{
    return &machine->heap;
}

uint64_t ref_run_time(const Interpreter *machine)
{
    return machine->run_time;
}

bool ref_run_item(Interpreter *machine, uint32_t item_index, const CoreItem *item, Value *result)
{
    begin(machine, ref_prepare_item(machine, item_index, item), item->span);
    if (!run(machine, result))
        return false;
    if (machine->options.counts_costs)
        ref_cost_end_item(machine, item, *result);
    if (item->kind == CORE_ITEM_BINDING && item->global != 0)
        bind_global(machine, item->global, *result);
    return true;
}

bool ref_call(Interpreter *machine, CoreFunctionId function, const Value *arguments, uint32_t count, Span span,
              Value *result)
{
    const PreparedFunction *prepared = ref_prepare_function(machine, function);
    begin(machine, prepared, span);
    for (uint32_t i = 0; i < count; i++)
        ref_set(machine, 0, prepared->body->core->parameters[i], arguments[i]);
    if (!run(machine, result))
        return false;
    if (machine->options.counts_costs)
        ref_cost_end_call(machine);
    return true;
}
