/* Preparing Core for the machine: slots for variables, lists of object slots for blocks, which calls are tail calls,
 * which bodies and operators draw random numbers.
 *
 * Blocks may be nested deeply (a chain of else-ifs), so they are walked by work lists. */
#include "ref/ref_private.h"

/* ---- does it draw? ---- */

typedef VEC(const CoreBlock *) BlockList;

static FunctionSummary *summary_of(Interpreter *machine, CoreFunctionId function)
{
    while (machine->summaries.count <= function)
        *vec_push(&machine->arena, &machine->summaries) = (FunctionSummary){0};
    return &machine->summaries.items[function];
}

/* Collects what a block draws itself and calls, nested blocks included. */
static void summarise_block(Arena *arena, const CoreBlock *block, FunctionSummary *summary)
{
    BlockList pending = {0};
    *vec_push(arena, &pending) = block;
    while (pending.count > 0) {
        const CoreBlock *current = vec_pop(&pending);
        for (uint32_t i = 0; i < current->statement_count; i++) {
            const CoreStatement *statement = &current->statements[i];
            if (statement->kind == CORE_OP && op_table[statement->op].effect == EFFECT_RANDOM)
                summary->draws_itself = true;
            if (statement->function != 0)
                *vec_push(arena, &summary->callees) = statement->function;
            for (uint32_t b = 0; b < 2; b++)
                if (statement->blocks[b] != NULL)
                    *vec_push(arena, &pending) = statement->blocks[b];
        }
    }
}

static FunctionSummary *summarise_function(Interpreter *machine, CoreFunctionId function)
{
    FunctionSummary *summary = summary_of(machine, function);
    if (!summary->is_known) {
        FunctionSummary fresh = {.is_known = true};
        summarise_block(&machine->arena, machine->program->functions.items[function]->body, &fresh);
        *summary = fresh;
    }
    return summary;
}

typedef VEC(CoreFunctionId) FunctionList;

/* Whether any of the functions draws, with everything they call. If not, `seen` ends up with all of them. */
static bool any_draws(Interpreter *machine, FunctionList *seen)
{
    for (uint32_t next = 0; next < seen->count; next++) {
        FunctionSummary *summary = summarise_function(machine, seen->items[next]);
        if (summary->draws_itself || summary->drawing == DRAWING_YES)
            return true;
        if (summary->drawing == DRAWING_NO)
            continue;
        for (uint32_t i = 0; i < summary->callees.count; i++) {
            CoreFunctionId callee = summary->callees.items[i];
            FunctionSummary *known = summary_of(machine, callee);
            summary = summary_of(machine, seen->items[next]); /* the table may have moved */
            if (known->visit == machine->visit)
                continue;
            known->visit = machine->visit;
            *vec_push(&machine->arena, seen) = callee;
        }
    }
    return false;
}

static bool function_draws(Interpreter *machine, CoreFunctionId function)
{
    FunctionSummary *summary = summary_of(machine, function);
    if (summary->drawing == DRAWING_UNKNOWN) {
        FunctionList seen = {0};
        summary->visit = ++machine->visit;
        *vec_push(&machine->arena, &seen) = function;
        bool draws = any_draws(machine, &seen);
        if (draws)
            summary_of(machine, function)->drawing = DRAWING_YES;
        else
            for (uint32_t i = 0; i < seen.count; i++)
                summary_of(machine, seen.items[i])->drawing = DRAWING_NO;
    }
    return summary_of(machine, function)->drawing == DRAWING_YES;
}

static bool block_draws(Interpreter *machine, const CoreBlock *block)
{
    FunctionSummary summary = {0};
    summarise_block(&machine->arena, block, &summary);
    bool draws = summary.draws_itself;
    for (uint32_t i = 0; !draws && i < summary.callees.count; i++)
        draws = function_draws(machine, summary.callees.items[i]);
    return draws;
}

/* ---- slots ---- */

enum { NEVER_USED = UINT32_MAX };

typedef struct PendingBlock {
    PreparedBlock *block;
    uint32_t first_slot;
    bool is_tail; /* its value is the value of the function */
} PendingBlock;

typedef struct Preparation {
    Interpreter *machine;
    VEC(PendingBlock) pending;
    VEC(PreparedBlock *) blocks; /* all of them, outer ones first */
    uint32_t slot_count;
} Preparation;

static PreparedBlock *add_block(Preparation *preparation, const CoreBlock *core, uint32_t first_slot, bool is_tail)
{
    Arena *arena = &preparation->machine->arena;
    PreparedBlock *block = ARENA_NEW(arena, PreparedBlock);
    block->core = core;
    *vec_push(arena, &preparation->pending) = (PendingBlock){block, first_slot, is_tail};
    *vec_push(arena, &preparation->blocks) = block;
    return block;
}

static void place_variable(Interpreter *machine, PreparedBlock *block, CoreVar variable, uint32_t slot)
{
    while (machine->variables.count <= variable)
        *vec_push(&machine->arena, &machine->variables) = (VariableInfo){0};
    const CoreVariable *core = &machine->program->variables.items[variable];
    bool is_object = value_is_object(machine->types, core->type);
    machine->variables.items[variable] =
        (VariableInfo){.slot = slot, .is_object = is_object, .block = block, .object_index = block->object_count};
    if (is_object)
        block->object_slots[block->object_count++] = (ObjectSlot){slot, NEVER_USED, core->type};
}

static uint32_t place_variables(Interpreter *machine, PreparedBlock *block, uint32_t slot)
{
    const CoreBlock *core = block->core;
    block->object_slots = ARENA_ARRAY(&machine->arena, ObjectSlot, core->parameter_count + core->statement_count);
    for (uint32_t i = 0; i < core->parameter_count; i++)
        place_variable(machine, block, core->parameters[i], slot++);
    for (uint32_t i = 0; i < core->statement_count; i++)
        place_variable(machine, block, core->statements[i].target, slot++);
    return slot;
}

/* ---- last uses ---- */

/* A use in a nested block is a use by the statement that holds it. */
static void note_use(Interpreter *machine, PreparedBlock *block, uint32_t statement, const CoreAtom *atom)
{
    if (machine->options.counts_costs)
        ref_cost_note_use(machine, block, atom);
    if (atom->is_constant || machine->program->variables.items[atom->variable].is_global)
        return;
    const VariableInfo *info = &machine->variables.items[atom->variable];
    if (!info->is_object)
        return;
    for (; block != info->block; block = block->outer)
        statement = block->outer_statement;
    ObjectSlot *place = &block->object_slots[info->object_index];
    if (place->last_use == NEVER_USED || place->last_use < statement)
        place->last_use = statement;
}

static void note_uses(Interpreter *machine, PreparedBlock *block)
{
    const CoreBlock *core = block->core;
    for (uint32_t i = 0; i < core->statement_count; i++) {
        const CoreStatement *statement = &core->statements[i];
        for (uint32_t a = 0; a < statement->argument_count; a++)
            note_use(machine, block, i, &statement->arguments[a]);
        for (uint32_t c = 0; c < statement->captured_count; c++)
            note_use(machine, block, i, &statement->captured[c]);
    }
    note_use(machine, block, core->statement_count, &core->result);
}

/* Sorts the slots of a block by the statement that uses them last. What nobody uses stays until the block ends. */
static void find_dead_slots(Interpreter *machine, PreparedBlock *block)
{
    uint32_t statement_count = block->core->statement_count;
    ObjectSlot *dead = ARENA_ARRAY(&machine->arena, ObjectSlot, block->object_count);
    for (uint32_t i = 0; i < block->object_count; i++)
        if (block->object_slots[i].last_use < statement_count)
            block->statements[block->object_slots[i].last_use].dead_count++;
    for (uint32_t i = 0; i < statement_count; i++) {
        block->statements[i].dead = dead;
        dead += block->statements[i].dead_count;
        block->statements[i].dead_count = 0;
    }
    for (uint32_t i = 0; i < block->object_count; i++) {
        const ObjectSlot *place = &block->object_slots[i];
        if (place->last_use >= statement_count)
            continue;
        PreparedStatement *statement = &block->statements[place->last_use];
        statement->dead[statement->dead_count++] = *place;
    }
}

static bool is_last(const CoreBlock *block, uint32_t statement)
{
    return statement + 1 == block->statement_count && !block->result.is_constant &&
           block->result.variable == block->statements[statement].target;
}

static void prepare_statements(Preparation *preparation, PreparedBlock *block, uint32_t free_slot, bool is_tail)
{
    Interpreter *machine = preparation->machine;
    const CoreBlock *core = block->core;
    block->statements = ARENA_ARRAY(&machine->arena, PreparedStatement, core->statement_count);
    for (uint32_t i = 0; i < core->statement_count; i++) {
        PreparedStatement *statement = &block->statements[i];
        statement->core = &core->statements[i];
        statement->is_tail = is_tail && is_last(core, i);
        CoreKind kind = statement->core->kind;
        if (kind == CORE_EACH || kind == CORE_GROUP)
            statement->draws = block_draws(machine, statement->core->blocks[0]);
        if (kind == CORE_OP && ref_op_has_operator(statement->core->op))
            statement->draws = function_draws(machine, statement->core->function);
        bool are_tail = kind == CORE_IF && statement->is_tail;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->core->blocks[b] != NULL) {
                PreparedBlock *inner = add_block(preparation, statement->core->blocks[b], free_slot, are_tail);
                inner->outer = block;
                inner->outer_statement = i;
                statement->blocks[b] = inner;
            }
    }
    note_uses(machine, block);
}

static PreparedFunction prepare_block(Interpreter *machine, const CoreBlock *block)
{
    Preparation preparation = {.machine = machine};
    PreparedBlock *body = add_block(&preparation, block, 0, true);
    while (preparation.pending.count > 0) {
        PendingBlock pending = vec_pop(&preparation.pending);
        uint32_t free_slot = place_variables(machine, pending.block, pending.first_slot);
        if (free_slot > preparation.slot_count)
            preparation.slot_count = free_slot;
        prepare_statements(&preparation, pending.block, free_slot, pending.is_tail);
    }
    for (uint32_t i = 0; i < preparation.blocks.count; i++)
        find_dead_slots(machine, preparation.blocks.items[i]);
    return (PreparedFunction){.body = body, .slot_count = preparation.slot_count};
}

const PreparedFunction *ref_prepare_function(Interpreter *machine, CoreFunctionId function)
{
    while (machine->functions.count <= function)
        *vec_push(&machine->arena, &machine->functions) = (PreparedFunction){0};
    if (machine->functions.items[function].body == NULL) {
        PreparedFunction prepared = prepare_block(machine, machine->program->functions.items[function]->body);
        machine->functions.items[function] = prepared;
    }
    return &machine->functions.items[function];
}

/* An index may be that of another item by now, where one was forgotten. */
const PreparedFunction *ref_prepare_item(Interpreter *machine, uint32_t index, const CoreItem *item)
{
    while (machine->items.count <= index)
        *vec_push(&machine->arena, &machine->items) = (PreparedFunction){0};
    const PreparedBlock *body = machine->items.items[index].body;
    if (body == NULL || body->core != item->block) {
        PreparedFunction prepared = prepare_block(machine, item->block);
        machine->items.items[index] = prepared;
    }
    return &machine->items.items[index];
}
