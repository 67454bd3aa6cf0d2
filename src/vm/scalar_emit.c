#include "vm/scalar_emit.h"

#include <string.h>

enum {
    RENAME_DISTANCE = 2000,   /* instructions looked at to save a move */
    RENAME_MOVES = 256,       /* at once */
    CONSTANTS_COMPARED = 64,  /* constants looked at to save one */
};

void emit_start(Emitter *emitter, Arena *arena, CoreFunctionId function)
{
    *emitter = (Emitter){.arena = arena};
    emit(emitter, CODE_CONSTANTS, REGISTER_CONSTANT, function, 0);
}

/* ---- registers ---- */

void emit_header(Emitter *emitter, uint32_t count)
{
    if (emitter->header_count < count)
        emitter->header_count = count;
}

uint32_t emit_locals(Emitter *emitter, uint32_t count)
{
    uint32_t first = emitter->free;
    emitter->free += count;
    if (emitter->local_count < emitter->free)
        emitter->local_count = emitter->free;
    return REGISTER_LOCAL | first;
}

uint32_t emit_constant(Emitter *emitter, Scalar value)
{
    uint32_t count = emitter->constants.count;
    for (uint32_t i = 0; i < count && i < CONSTANTS_COMPARED; i++)
        if (emitter->constants.items[count - 1 - i].bits == value.bits)
            return REGISTER_CONSTANT | (count - 1 - i);
    *vec_push(emitter->arena, &emitter->constants) = value;
    return REGISTER_CONSTANT | count;
}

/* ---- instructions ---- */

Instruction *emit(Emitter *emitter, ScalarOpcode opcode, uint32_t target, uint32_t first, uint32_t second)
{
    *vec_push(emitter->arena, &emitter->origins) = emitter->origin;
    Instruction *instruction = vec_push(emitter->arena, &emitter->code);
    *instruction = (Instruction){.opcode = (uint16_t)opcode, .target = target, .first = first, .second = second};
    return instruction;
}

void emit_jump(Emitter *emitter, ScalarOpcode opcode, uint32_t first, uint32_t second, Label *label)
{
    emit(emitter, opcode, label->last, first, second);
    label->last = emitter->code.count;
}

void emit_label(Emitter *emitter, Label label)
{
    while (label.last != 0) {
        Instruction *jump = &emitter->code.items[label.last - 1];
        label.last = jump->target;
        jump->target = emitter->code.count;
    }
}

void emit_loop(Emitter *emitter)
{
    emit(emitter, CODE_LOOP, EMIT_BEGIN, 0, 0);
}

/* ---- renaming ---- */

static uint16_t fields_of(const Instruction *instruction)
{
    return scalar_opcodes[instruction->opcode].fields;
}

/* Whether it is one of several registers that an instruction takes by the number of the first: such a register cannot be renamed. */
static bool is_in_row(const Instruction *instruction, uint32_t place)
{
    uint16_t fields = fields_of(instruction);
    if (fields & READS_VECTOR)
        return place >= instruction->first && place < instruction->first + 3;
    if (fields & WRITES_SECOND_COUNT)
        return place >= instruction->target && place < instruction->target + instruction->second;
    return (fields & CALLS) && place >= instruction->first;
}

static bool reads(const Instruction *instruction, uint32_t place)
{
    uint16_t fields = fields_of(instruction);
    return ((fields & READS_TARGET) && instruction->target == place) ||
           ((fields & READS_FIRST) && instruction->first == place) ||
           ((fields & READS_SECOND) && instruction->second == place);
}

static bool writes(const Instruction *instruction, uint32_t place)
{
    return (fields_of(instruction) & WRITES_TARGET) && instruction->target == place;
}

static void rename_in(Instruction *instruction, uint32_t from, uint32_t to)
{
    uint16_t fields = fields_of(instruction);
    if ((fields & (WRITES_TARGET | READS_TARGET)) && instruction->target == from)
        instruction->target = to;
    if ((fields & READS_FIRST) && instruction->first == from)
        instruction->first = to;
    if ((fields & READS_SECOND) && instruction->second == from)
        instruction->second = to;
}

static bool touches(const Instruction *instruction, uint32_t place)
{
    return reads(instruction, place) || writes(instruction, place) || is_in_row(instruction, place);
}

/* The first instruction from `start` on that computes `place`, or the end of the code. */
static uint32_t find_write(const Emitter *emitter, uint32_t start, uint32_t place)
{
    while (start < emitter->code.count && !writes(&emitter->code.items[start], place))
        start++;
    return start;
}

/* Makes the instructions from the one at `start`, which writes `from`, compute in `to` what they compute in `from`, if nothing needs what `to` holds
 * meanwhile. An instruction reads its operands before it writes, so the first one may be the last use of `to`. */
static bool rename_register(Emitter *emitter, uint32_t start, uint32_t from, uint32_t to)
{
    Instruction *code = emitter->code.items;
    uint32_t end = emitter->code.count;
    for (uint32_t i = start; i < end; i++)
        if (is_in_row(&code[i], from) || is_in_row(&code[i], to) || writes(&code[i], to) ||
            (i > start && reads(&code[i], to)))
            return false;
    for (uint32_t i = start; i < end; i++)
        rename_in(&code[i], from, to);
    return true;
}

static bool overwrites_operand(const Instruction *instruction, const Instruction *of)
{
    return ((fields_of(of) & READS_FIRST) && (writes(instruction, of->first) || is_in_row(instruction, of->first))) ||
           ((fields_of(of) & READS_SECOND) && (writes(instruction, of->second) || is_in_row(instruction, of->second)));
}

/* Whether an instruction can as well come last: it cannot fail, and nothing in between needs its result or changes its operands. */
static bool can_sink(const Emitter *emitter, uint32_t position)
{
    const Instruction *code = emitter->code.items;
    const Instruction *sinking = &code[position];
    if (fields_of(sinking) & (FAILS | READS_VECTOR))
        return false;
    for (uint32_t i = position + 1; i < emitter->code.count; i++)
        if ((fields_of(&code[i]) & JUMPS) || touches(&code[i], sinking->target) || overwrites_operand(&code[i], sinking))
            return false;
    return true;
}

static void sink(Emitter *emitter, uint32_t position)
{
    uint32_t behind = emitter->code.count - position - 1;
    Instruction *code = &emitter->code.items[position];
    const CoreStatement **origins = &emitter->origins.items[position];
    Instruction sinking = code[0];
    const CoreStatement *origin = origins[0];
    memmove(code, code + 1, behind * sizeof *code);
    memmove(origins, origins + 1, behind * sizeof *origins);
    code[behind] = sinking;
    origins[behind] = origin;
}

/* Has `from` computed in `to` right away, which saves a move at the end. */
static bool compute_in(Emitter *emitter, uint32_t start, uint32_t from, uint32_t to)
{
    uint32_t position = find_write(emitter, start, from);
    if (position == emitter->code.count)
        return false;
    if (rename_register(emitter, position, from, to))
        return true;
    if (!can_sink(emitter, position))
        return false;
    sink(emitter, position);
    return rename_register(emitter, emitter->code.count - 1, from, to);
}

/* ---- moves ---- */

static bool is_a_source(const MoveSet *moves, uint32_t place)
{
    for (uint32_t i = 0; i < moves->count; i++)
        if (moves->sources[i] == place)
            return true;
    return false;
}

static bool may_rename(const Emitter *emitter, const MoveSet *moves, uint32_t i)
{
    uint32_t source = moves->sources[i];
    return (source & REGISTER_LOCAL) != 0 && (source & ~(uint32_t)REGISTER_LOCAL) >= moves->first_local &&
           (moves->may_rename == NULL || moves->may_rename[i]) &&
           moves->count <= RENAME_MOVES && emitter->code.count - moves->start <= RENAME_DISTANCE;
}

static void rename_sources(Emitter *emitter, MoveSet *moves)
{
    for (uint32_t i = 0; i < moves->count; i++) {
        uint32_t source = moves->sources[i], target = moves->target + i;
        if (source == target || !may_rename(emitter, moves, i) || is_a_source(moves, target) ||
            !compute_in(emitter, moves->start, source, target))
            continue;
        for (uint32_t j = 0; j < moves->count; j++)
            if (moves->sources[j] == source)
                moves->sources[j] = target;
    }
}

/* The moves that remain, while they are put in order. */
typedef struct MoveOrder {
    MoveSet *moves;
    uint32_t *readers; /* of each target: moves still to be made that read it */
    bool *is_done;
    VEC(uint32_t) ready; /* moves whose target nobody reads any more */
} MoveOrder;

static uint32_t target_number(const MoveSet *moves, uint32_t place)
{
    return place >= moves->target && place - moves->target < moves->count ? place - moves->target : UINT32_MAX;
}

static void make_ready_moves(Emitter *emitter, MoveOrder *order)
{
    MoveSet *moves = order->moves;
    while (order->ready.count > 0) {
        uint32_t i = vec_pop(&order->ready);
        emit(emitter, CODE_MOVE, moves->target + i, moves->sources[i], 0);
        order->is_done[i] = true;
        uint32_t read = target_number(moves, moves->sources[i]);
        if (read != UINT32_MAX && --order->readers[read] == 0 && !order->is_done[read])
            *vec_push(emitter->arena, &order->ready) = read;
    }
}

static void find_ready_moves(Emitter *emitter, MoveOrder *order)
{
    MoveSet *moves = order->moves;
    for (uint32_t i = 0; i < moves->count; i++) {
        order->is_done[i] = moves->sources[i] == moves->target + i;
        uint32_t read = target_number(moves, moves->sources[i]);
        if (read != UINT32_MAX && !order->is_done[i])
            order->readers[read]++;
    }
    for (uint32_t i = 0; i < moves->count; i++)
        if (!order->is_done[i] && order->readers[i] == 0)
            *vec_push(emitter->arena, &order->ready) = i;
}

/* Of a cycle of moves, the target of one is put aside for the one that reads it. */
static void break_cycle(Emitter *emitter, MoveOrder *order, uint32_t i)
{
    MoveSet *moves = order->moves;
    uint32_t aside = emit_locals(emitter, 1), place = moves->target + i;
    emit(emitter, CODE_MOVE, aside, place, 0);
    uint32_t before = i;
    while (moves->sources[before] != place)
        before = target_number(moves, moves->sources[before]);
    moves->sources[before] = aside;
    order->readers[i] = 0;
    *vec_push(emitter->arena, &order->ready) = i;
}

void emit_moves(Emitter *emitter, MoveSet *moves)
{
    rename_sources(emitter, moves);
    MoveOrder order = {.moves = moves};
    order.readers = ARENA_ARRAY(emitter->arena, uint32_t, moves->count);
    order.is_done = ARENA_ARRAY(emitter->arena, bool, moves->count);
    uint32_t free = emitter->free;
    find_ready_moves(emitter, &order);
    make_ready_moves(emitter, &order);
    for (uint32_t i = 0; i < moves->count; i++)
        if (!order.is_done[i]) {
            break_cycle(emitter, &order, i);
            make_ready_moves(emitter, &order);
        }
    emitter->free = free;
}

/* ---- finishing ---- */

/* What becomes of each instruction. */
typedef struct Finish {
    Emitter *emitter;
    bool *is_target;     /* of a jump */
    uint32_t *positions; /* in the finished code; one more than there are instructions */
    ScalarFunction *function;
} Finish;

static bool is_conditional_jump(const Instruction *instruction)
{
    return instruction->opcode >= CODE_JUMP_FIRST && instruction->opcode < CODE_JUMP_FIRST + CONDITION_ROWS;
}

static uint32_t number_register(const Emitter *emitter, uint32_t place)
{
    uint32_t constant_count = emitter->constants.count;
    if (place & REGISTER_CONSTANT)
        return emitter->header_count + (place & ~(uint32_t)REGISTER_CONSTANT);
    if (place & REGISTER_LOCAL)
        return emitter->header_count + constant_count + (place & ~(uint32_t)REGISTER_LOCAL);
    return place;
}

static void number_registers(const Emitter *emitter, Instruction *instruction)
{
    uint16_t fields = fields_of(instruction);
    if (fields & (WRITES_TARGET | READS_TARGET | WRITES_SECOND_COUNT))
        instruction->target = number_register(emitter, instruction->target);
    if (fields & (READS_FIRST | READS_VECTOR | CALLS))
        instruction->first = number_register(emitter, instruction->first);
    if (fields & READS_SECOND)
        instruction->second = number_register(emitter, instruction->second);
}

static void mark_targets(Finish *finish)
{
    const Emitter *emitter = finish->emitter;
    finish->is_target = ARENA_ARRAY(emitter->arena, bool, emitter->code.count + 1);
    for (uint32_t i = 0; i < emitter->code.count; i++)
        if (fields_of(&emitter->code.items[i]) & JUMPS)
            finish->is_target[emitter->code.items[i].target] = true;
}

/* Two moves next to each other are one instruction. */
static bool joins_next_move(const Finish *finish, uint32_t i)
{
    const Instruction *code = finish->emitter->code.items;
    return i + 1 < finish->emitter->code.count && code[i].opcode == CODE_MOVE && code[i + 1].opcode == CODE_MOVE &&
           !finish->is_target[i + 1] && code[i + 1].target <= UINT16_MAX;
}

/* Going back to a condition is going where it leads. */
static bool repeats_condition(const Finish *finish, uint32_t i)
{
    const Instruction *code = finish->emitter->code.items;
    return code[i].opcode == CODE_LOOP && is_conditional_jump(&code[EMIT_BEGIN]);
}

static uint32_t place_instructions(Finish *finish)
{
    const Emitter *emitter = finish->emitter;
    uint32_t position = 0;
    finish->positions = ARENA_ARRAY(emitter->arena, uint32_t, emitter->code.count + 1);
    for (uint32_t i = 0; i < emitter->code.count; i++) {
        finish->positions[i] = position;
        if (i == 0 && emitter->constants.count == 0)
            continue;
        if (joins_next_move(finish, i))
            finish->positions[++i] = position;
        position += repeats_condition(finish, i) ? 2 : 1;
    }
    finish->positions[emitter->code.count] = position;
    return position;
}

static Instruction *put(Finish *finish, uint32_t position, uint32_t from)
{
    Instruction *instruction = &finish->function->code[position];
    *instruction = finish->emitter->code.items[from];
    finish->function->origins[position] = finish->emitter->origins.items[from];
    return instruction;
}

static void set_distance(const Finish *finish, Instruction *jump, uint32_t to)
{
    uint32_t position = (uint32_t)(jump - finish->function->code);
    jump->target = (finish->positions[to] - position) * (uint32_t)sizeof(Instruction); /* backwards: as an int32_t */
}

/* The condition at the beginning, in place of a jump back to it: first the way that led here, then the other. */
static void put_condition(Finish *finish, uint32_t position, uint32_t from)
{
    const Instruction *begin = &finish->emitter->code.items[EMIT_BEGIN];
    uint32_t row = begin->opcode - CODE_JUMP_FIRST;
    bool is_behind = from >= begin->target;
    Instruction *back = put(finish, position, EMIT_BEGIN);
    back->opcode = (uint16_t)(CODE_LOOP_FIRST + (is_behind ? row : row ^ 1));
    set_distance(finish, back, is_behind ? begin->target : EMIT_BEGIN + 1);
    Instruction *out = put(finish, position + 1, from);
    out->opcode = CODE_JUMP;
    set_distance(finish, out, is_behind ? EMIT_BEGIN + 1 : begin->target);
}

static void put_instruction(Finish *finish, uint32_t i)
{
    uint32_t position = finish->positions[i];
    if (repeats_condition(finish, i)) {
        put_condition(finish, position, i);
        return;
    }
    Instruction *instruction = put(finish, position, i);
    if (fields_of(instruction) & JUMPS)
        set_distance(finish, instruction, instruction->target);
    if (joins_next_move(finish, i)) {
        const Instruction *next = &finish->emitter->code.items[i + 1];
        instruction->opcode = CODE_MOVE_TWO;
        instruction->extra = (uint16_t)next->target;
        instruction->second = next->first;
    }
}

void emit_finish(Emitter *emitter, Arena *arena, ScalarFunction *function)
{
    uint32_t count = emitter->code.count, constant_count = emitter->constants.count;
    emitter->code.items[0].second = constant_count;
    for (uint32_t i = 0; i < count; i++)
        number_registers(emitter, &emitter->code.items[i]);
    Finish finish = {.emitter = emitter, .function = function};
    mark_targets(&finish);
    function->count = place_instructions(&finish);
    Instruction *code = ARENA_ARRAY(arena, Instruction, function->count);
    function->origins = ARENA_ARRAY(arena, const CoreStatement *, function->count);
    function->constants = ARENA_ARRAY(arena, Scalar, constant_count);
    function->register_count = emitter->header_count + constant_count + emitter->local_count;
    function->code = code;
    if (constant_count > 0)
        memcpy(function->constants, emitter->constants.items, constant_count * sizeof(Scalar));
    for (uint32_t i = constant_count == 0 ? 1 : 0; i < count; i++) {
        put_instruction(&finish, i);
        i += joins_next_move(&finish, i);
    }
}
