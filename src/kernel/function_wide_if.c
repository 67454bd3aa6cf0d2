/* Ifs of wide versions: one side for all points, each point its own in the loop over lanes, or sides that are done for the points that take them. */
#include "kernel/function_wide.h"

#include "kernel/op_text.h"

enum { PICKED = 48 }; /* weight of a side of an `if` for which lanes are brought together */

/* What two ways to a value have in common is where they differ from point to point; vectors lie in memory on both. */
void wide_join_part(Wide *wide, Slot *slot, const WidePart *part, bool is_first)
{
    if (is_first)
        *slot = (Slot){.part = {.type = part->type}, .vector = part->vector};
    slot->is_varying |= part->lane != NULL;
    if (part->vector == NULL)
        return;
    const WideVector *a = slot->vector, *b = part->vector;
    if (a->kind != WIDE_MADE || b->kind != WIDE_MADE || a->length == NULL || b->length == NULL)
        wide_refuse(wide);
    for (uint32_t i = 0; i < write_layout(&wide->writer, a->element)->count; i++)
        if (a->are_varying[i] != b->are_varying[i])
            wide_refuse(wide);
}

const char *wide_cells_type(bool is_varying, ScalarType type, const char *word, Wide *wide)
{
    return arena_format(wide->writer.arena, is_varying ? "%s (*%s)[KERNEL_WIDE]" : "%s *%s", c_type(type), word);
}

static void declare_vector(Wide *wide, Slot *slot)
{
    const Layout *leaves = write_layout(&wide->writer, slot->vector->element);
    WideVector vector = *slot->vector;
    vector.is_owned = slot->is_owned;
    vector.length = wide_word(wide);
    vector.known_length = 0;
    vector.columns = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    wide_line(wide, "int64_t %s;", vector.length);
    for (uint32_t i = 0; i < leaves->count; i++) {
        vector.columns[i] = wide_word(wide);
        wide_line(wide, "%s;", wide_cells_type(vector.are_varying[i], (ScalarType)leaves->leaves[i].type, vector.columns[i], wide));
    }
    slot->part = wide_vector(wide, vector)->parts[0];
}

void wide_declare_slot(Wide *wide, Slot *slot)
{
    if (slot->vector != NULL) {
        declare_vector(wide, slot);
        return;
    }
    const char *word = wide_word(wide);
    if (slot->is_varying) {
        slot->part = wide_array_lane(wide, slot->part.type, word);
        return; /* arrays are declared at the beginning */
    }
    slot->part = wide_same(slot->part.type, word);
    wide_line(wide, "%s %s;", c_type(slot->part.type), word);
}

/* All at once: what is assigned may be what others are assigned from. */
void wide_assign_slots(Wide *wide, const Slot *slots, const WideValue *value)
{
    const char **words = ARENA_ARRAY(wide->writer.arena, const char *, value->count);
    bool *are_same = ARENA_ARRAY(wide->writer.arena, bool, value->count);
    for (uint32_t i = 0; i < value->count; i++) {
        const WidePart *from = &value->parts[i];
        are_same[i] = from->vector != NULL ? from->vector == slots[i].part.vector : from->lane != NULL && from->lane == slots[i].part.lane;
        if (are_same[i] || from->vector != NULL)
            continue;
        words[i] = wide_word(wide);
        if (slots[i].is_varying)
            wide_lane_line(wide, "const %s %s = %s;", c_type(from->type), words[i], wide_scalar(wide, from));
        else
            wide_line(wide, "const %s %s = %s;", c_type(from->type), words[i], from->word);
    }
    for (uint32_t i = 0; i < value->count; i++)
        if (slots[i].is_varying && !are_same[i])
            wide_lane_line(wide, "%s[lane] = %s;", slots[i].part.lane->word, words[i]);
    wide_end_lanes(wide);
    const char ***columns = ARENA_ARRAY(wide->writer.arena, const char **, value->count);
    for (uint32_t i = 0; i < value->count; i++) {
        const WideVector *from = value->parts[i].vector;
        if (from == NULL || are_same[i])
            continue;
        const Layout *leaves = write_layout(&wide->writer, from->element);
        columns[i] = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
        words[i] = wide_word(wide);
        wide_line(wide, "const int64_t %s = %s;", words[i], from->length);
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++) {
            columns[i][leaf] = wide_word(wide);
            wide_line(wide, "%s = %s;", wide_cells_type(from->are_varying[leaf], (ScalarType)leaves->leaves[leaf].type, columns[i][leaf], wide), from->columns[leaf]);
        }
    }
    for (uint32_t i = 0; i < value->count; i++) {
        const WideVector *from = value->parts[i].vector, *to = slots[i].part.vector;
        if (are_same[i] || slots[i].is_varying)
            continue;
        wide_line(wide, "%s = %s;", from == NULL ? slots[i].part.word : to->length, words[i]);
        for (uint32_t leaf = 0; from != NULL && leaf < write_layout(&wide->writer, from->element)->count; leaf++)
            wide_line(wide, "%s = %s;", to->columns[leaf], columns[i][leaf]);
    }
}

const WideValue *wide_value_of_slots(Wide *wide, const Slot *slots, uint32_t count)
{
    WidePart *parts = ARENA_ARRAY(wide->writer.arena, WidePart, count);
    for (uint32_t i = 0; i < count; i++)
        parts[i] = slots[i].part;
    return wide_value(wide, parts, count);
}

/* The value of a block, with all its vectors in memory. */
static const WideValue *write_block(Wide *wide, const CoreBlock *block)
{
    wide_write_statements(wide, block);
    return wide_made(wide, wide_atom(wide, &block->result));
}

/* A side of an `if`: its text, and the loop over lanes at its end, in which its value goes where it is wanted. */
typedef struct Side {
    const WideValue *value;
    Text *text, *lanes;
    bool lanes_can_fail;
    uint32_t loop;
    uint32_t first_lane, end_lane; /* those that are its own */
} Side;

static Side begin_side(Wide *wide, const CoreBlock *block)
{
    Text *outer = wide_begin_apart(wide);
    Side side = {.text = wide->writer.out, .first_lane = wide->all.count};
    wide->writer.depth++;
    side.value = write_block(wide, block);
    wide->writer.depth--;
    side.lanes = wide_new_text(wide);
    side.loop = wide->loop++;
    side.lanes_can_fail = wide->lanes_can_fail;
    side.end_lane = wide->all.count;
    text_add(side.lanes, text_string(&wide->lanes));
    text_clear(&wide->lanes);
    wide->lanes_can_fail = false;
    wide->writer.out = outer;
    return side;
}

static void end_side(Wide *wide, const Side *side, const Slot *slots)
{
    uint32_t next = wide->loop;
    wide_add_apart(wide, wide->writer.out, side->text);
    text_add(&wide->lanes, text_string(side->lanes));
    wide->loop = side->loop;
    wide->lanes_can_fail = side->lanes_can_fail;
    wide_assign_slots(wide, slots, side->value);
    wide->loop = next;
}

/* Whether a scalar lies in an array of a side's own, that of an `if` in it: then that may be what the value is joined in. */
static bool is_own_array(const Wide *wide, const Side *side, const WidePart *part)
{
    for (uint32_t i = side->first_lane; i < side->end_lane; i++)
        if (wide->all.items[i] == part->lane)
            return part->lane->loop == 0;
    return false;
}

static void declare_joined(Wide *wide, const Side *sides, uint32_t part, Slot *slot)
{
    for (uint32_t i = 0; i < 2; i++)
        if (slot->vector == NULL && is_own_array(wide, &sides[i], &sides[i].value->parts[part])) {
            slot->part = sides[i].value->parts[part];
            return;
        }
    wide_declare_slot(wide, slot);
}

static void write_same_if(Wide *wide, const CoreStatement *statement, const char *condition)
{
    uint32_t count = wide_count(wide, write_type(&wide->writer, statement->target));
    Slot *slots = ARENA_ARRAY(wide->writer.arena, Slot, count);
    Side sides[2];
    for (uint32_t i = 0; i < 2; i++) { /* to see what they are like */
        sides[i] = begin_side(wide, statement->blocks[i]);
        for (uint32_t part = 0; part < count; part++)
            wide_join_part(wide, &slots[part], &sides[i].value->parts[part], i == 0);
    }
    for (uint32_t i = 0; i < count; i++)
        declare_joined(wide, sides, i, &slots[i]);
    for (uint32_t i = 0; i < 2; i++) {
        wide_open(wide, i == 0 ? "if (%s) {" : "else {", condition);
        end_side(wide, &sides[i], slots);
        wide_close(wide);
    }
    wide->values[statement->target] = wide_value_of_slots(wide, slots, count);
}

/* What can be done inside of a loop over lanes. */
static bool fits_lanes(Wide *wide, const CoreBlock *block)
{
    const Types *types = wide->writer.program->types;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        bool is_if = statement->kind == CORE_IF;
        bool is_of_scalars = statement->kind == CORE_OP && type_is_scalar(types, write_type(&wide->writer, statement->target)) &&
                             (statement->argument_count == 0 || type_is_scalar(types, statement->arguments[0].type) || statement->op == OP_ELEMENT ||
                              statement->op == OP_INSIDE || statement->op == OP_LENGTH);
        bool is_name = statement->kind == CORE_COPY || statement->kind == CORE_UNIT || statement->kind == CORE_PAIR || statement->kind == CORE_PROJECT ||
                       statement->kind == CORE_WRAP || statement->kind == CORE_UNWRAP;
        if (is_if ? !fits_lanes(wide, statement->blocks[0]) || !fits_lanes(wide, statement->blocks[1]) : !is_of_scalars && !is_name && statement->kind != CORE_MAKE)
            return false;
    }
    return true;
}

bool wide_is_flat(const Layout *elements)
{
    for (uint32_t i = 0; i < elements->count; i++)
        if (elements->leaves[i].type == LEAF_ARRAY)
            return false;
    return true;
}

/* Whether what fits into a loop over lanes may be computed where it is not wanted: then so are both sides of an `if`, and one is chosen. In place of an element that is not there the first cell is
 * read, so only what ends the run may not. */
static bool is_harmless(const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_IF && (!is_harmless(statement->blocks[0]) || !is_harmless(statement->blocks[1])))
            return false;
    }
    return !shape_gives_up(block);
}

/* One side of an if, for all lanes; only failures of those that take it count. */
static const WideValue *write_computed_side(Wide *wide, const CoreBlock *block, const char *condition, bool side)
{
    const char *outer = wide->flag, *flag = wide_word(wide);
    bool could_fail = wide->lanes_can_fail;
    wide_lane_line(wide, "OpFlag %s = 0;", flag);
    wide->flag = flag;
    wide->lanes_can_fail = false;
    wide->branches++;
    wide_write_statements(wide, block);
    const WideValue *value = wide_atom(wide, &block->result);
    wide->branches--;
    wide->flag = outer;
    if (wide->lanes_can_fail)
        wide_lane_line(wide, "%s |= %s & -(OpFlag)%s%s;", outer, flag, side ? "" : "!", condition);
    wide->lanes_can_fail |= could_fail;
    return value;
}

static void write_choice(Wide *wide, const CoreStatement *statement, const char *condition, const char **words)
{
    const WideValue *yes = write_computed_side(wide, statement->blocks[0], condition, true), *no = write_computed_side(wide, statement->blocks[1], condition, false);
    for (uint32_t i = 0; i < yes->count; i++)
        wide_lane_line(wide, "const %s %s = %s ? %s : %s;", c_type(yes->parts[i].type), words[i], condition, wide_scalar(wide, &yes->parts[i]),
                       wide_scalar(wide, &no->parts[i]));
}

static void write_side(Wide *wide, const CoreBlock *block, const char **words)
{
    wide->branches++;
    if (shape_gives_up(block)) {
        wide_lane_line(wide, "%s = 1;", wide->flag);
        wide->lanes_can_fail = wide->writer.has_flag = true;
    } else {
        wide_write_statements(wide, block);
        const WideValue *value = wide_atom(wide, &block->result);
        for (uint32_t i = 0; i < value->count; i++)
            wide_lane_line(wide, "%s = %s;", words[i], wide_scalar(wide, &value->parts[i]));
    }
    wide->branches--;
}

/* Each point takes its own side, inside of the loop over lanes. */
static void write_lane_if(Wide *wide, const CoreStatement *statement, const WidePart *condition)
{
    const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, statement->target));
    const char **words = ARENA_ARRAY(wide->writer.arena, const char *, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++)
        words[i] = wide_word(wide);
    if (is_harmless(statement->blocks[0]) && is_harmless(statement->blocks[1]))
        write_choice(wide, statement, wide_scalar(wide, condition), words);
    else {
        for (uint32_t i = 0; i < leaves->count; i++)
            wide_lane_line(wide, "%s %s = 0;", c_type((ScalarType)leaves->leaves[i].type), words[i]);
        wide_lane_line(wide, "if (%s) {", wide_scalar(wide, condition));
        write_side(wide, statement->blocks[0], words);
        wide_lane_line(wide, "} else {");
        write_side(wide, statement->blocks[1], words);
        wide_lane_line(wide, "}");
    }
    WidePart *parts = ARENA_ARRAY(wide->writer.arena, WidePart, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++)
        parts[i] = wide_lane(wide, (ScalarType)leaves->leaves[i].type, words[i]);
    wide->values[statement->target] = wide_value(wide, parts, leaves->count);
}

/* `const uint8_t word = ...`, a mask; where a variable is to tell whether it holds for some lane, in the loop that computes it. */
static const WidePart *new_mask(Wide *wide, const WidePart *condition, bool side, const char *any)
{
    const char *word = wide_word(wide), *test = wide_scalar(wide, condition);
    if (wide->mask == NULL)
        wide_lane_line(wide, "const uint8_t %s = %s%s;", word, side ? "" : "!", test);
    else
        wide_lane_line(wide, "const uint8_t %s = %s & %s%s;", word, wide_scalar(wide, wide->mask), side ? "" : "!", test);
    if (any != NULL) {
        wide_line(wide, "KernelTruth %s = 0;", any);
        wide_lane_line(wide, "%s |= %s;", any, word);
    }
    WidePart part = wide_lane(wide, SCALAR_BOOL, word);
    return wide_value(wide, &part, 1)->parts;
}

/* A side of an `if` that is done for all lanes if one of them takes it. */
static void write_masked_side(Wide *wide, const CoreBlock *block, const WidePart *mask, const char *any, const Slot *slots, const WidePart *condition)
{
    const WidePart *outer = wide->mask;
    wide_open(wide, "if (%s) {", any);
    wide->mask = mask;
    if (shape_gives_up(block))
        wide_line(wide, "return false;");
    else {
        wide_write_statements(wide, block);
        const WideValue *value = wide_atom(wide, &block->result);
        for (uint32_t i = 0; i < value->count; i++) {
            const char *x = wide_scalar(wide, &value->parts[i]), *to = slots[i].part.lane->word;
            if (condition == NULL)
                wide_lane_line(wide, "%s[lane] = %s;", to, x);
            else
                wide_lane_line(wide, "%s[lane] = %s ? %s[lane] : %s;", to, wide_scalar(wide, condition), to, x);
        }
    }
    wide_close(wide);
    wide->mask = outer;
}

/* About how long a block takes. */
static uint32_t weight_of(Wide *wide, const CoreBlock *block)
{
    enum { MATH_WEIGHT = 8 };
    uint32_t weight = 0;
    const Types *types = wide->writer.program->types;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        TypeId type = write_type(&wide->writer, statement->target);
        if (statement->kind == CORE_OP && type_is_scalar(types, type) && (statement->argument_count == 0 || type_is_scalar(types, statement->arguments[0].type))) {
            ScalarType target = type_scalar(types, type), operand = statement->argument_count == 0 ? target : type_scalar(types, statement->arguments[0].type);
            weight += op_text_needs_math(statement->op, operand, target) ? MATH_WEIGHT : 1;
        }
        for (uint32_t b = 0; b < 2; b++)
            weight += statement->blocks[b] == NULL ? 0 : weight_of(wide, statement->blocks[b]);
    }
    return weight;
}

/* Whether nothing in a block has to do with vectors, and all is written where it is. */
static bool is_plain(const Wide *wide, const CoreBlock *block)
{
    const Types *types = wide->writer.program->types;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        bool is_name = statement->kind == CORE_COPY || statement->kind == CORE_PAIR || statement->kind == CORE_PROJECT;
        bool is_op = statement->kind == CORE_OP && type_is_scalar(types, write_type(&wide->writer, statement->target));
        for (uint32_t a = 0; a < statement->argument_count && is_op; a++)
            is_op = type_is_scalar(types, statement->arguments[a].type);
        if (statement->kind == CORE_IF ? !is_plain(wide, statement->blocks[0]) || !is_plain(wide, statement->blocks[1]) : !is_name && !is_op)
            return false;
    }
    return !shape_gives_up(block);
}

static bool is_packed_in_registers(const Lane *lane)
{
    return wide_is_truth(lane) || scalar_size(lane->type) == sizeof(uint64_t);
}

/* Brings the lanes together for which a condition holds: their numbers, and what is needed of them. */
static void write_packed(Wide *wide, const Lane *condition)
{
    const char *pick = wide->pick;
    wide_line(wide, "int64_t %s[KERNEL_WIDE + KERNEL_PICKED] KERNEL_WIDE_ALIGNED;", pick);
    for (uint32_t i = 0; i < wide->packed.count; i++)
        wide_line(wide, "%s %s_%s[KERNEL_WIDE + KERNEL_PICKED] KERNEL_WIDE_ALIGNED;", wide_array_type(wide->packed.items[i]), pick, wide->packed.items[i]->word);
    wide_line(wide, "int %s_count = 0;", pick);
    wide_line(wide, "KERNEL_PICK_LOOP {");
    wide_line(wide, "    const uint64_t bits = kernel_bits_8(%s_w + first);", condition->word);
    wide_line(wide, "    kernel_keep_8(%s + %s_count, kernel_wide_numbers + first, bits, KERNEL_PICKED);", pick, pick);
    for (uint32_t i = 0; i < wide->packed.count; i++) {
        const Lane *lane = wide->packed.items[i];
        if (is_packed_in_registers(lane))
            wide_line(wide, "    kernel_keep_8(%s_%s + %s_count, %s%s + first, bits, KERNEL_PICKED);", pick, lane->word, pick, lane->word, lane->loop == 0 ? "" : "_w");
    }
    wide_line(wide, "    %s_count += __builtin_popcountll(bits);", pick);
    wide_line(wide, "}");
    wide_line(wide, "const int %s_full = kernel_wide_full(%s_count);", pick, pick);
    wide_line(wide, "for (; %s_count < %s_full; %s_count++) {", pick, pick, pick);
    wide_line(wide, "    %s[%s_count] = %s[0];", pick, pick, pick);
    for (uint32_t i = 0; i < wide->packed.count; i++)
        if (is_packed_in_registers(wide->packed.items[i]))
            wide_line(wide, "    %s_%s[%s_count] = %s_%s[0];", pick, wide->packed.items[i]->word, pick, pick, wide->packed.items[i]->word);
    wide_line(wide, "}");
    for (uint32_t i = 0; i < wide->packed.count; i++) {
        const Lane *lane = wide->packed.items[i];
        if (is_packed_in_registers(lane))
            continue;
        wide_line(wide, "KERNEL_PICKED_LOOP(%s_full)", pick);
        wide_line(wide, "    %s_%s[lane] = %s%s[%s[lane]];", pick, lane->word, lane->word, lane->loop == 0 ? "" : "_w", pick);
    }
}

/* A side that takes long is done for the lanes that take it only, which are brought together. */
static void write_picked_side(Wide *wide, const CoreBlock *block, const WidePart *mask, const Slot *slots)
{
    const WidePart *outer = wide->mask;
    Text *text = wide_begin_apart(wide), *side = wide->writer.out;
    mask->lane->is_stored = true;
    wide->mask = NULL;
    wide->pick = wide_word(wide);
    wide->picked_from = wide->all.count;
    wide->packed.count = 0;
    wide_open(wide, "if (%s_full > 0) {", wide->pick);
    wide_write_statements(wide, block);
    const WideValue *value = wide_atom(wide, &block->result);
    for (uint32_t i = 0; i < value->count; i++)
        wide_lane_line(wide, "%s[%s[lane]] = %s;", slots[i].part.lane->word, wide->pick, wide_scalar(wide, &value->parts[i]));
    wide_close(wide);
    wide->writer.out = text;
    write_packed(wide, mask->lane);
    wide_add_apart(wide, text, side);
    wide->pick = NULL;
    wide->mask = outer;
}

static void write_masked_if(Wide *wide, const CoreStatement *statement, const WidePart *condition)
{
    const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, statement->target));
    Slot *slots = ARENA_ARRAY(wide->writer.arena, Slot, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++) {
        slots[i] = (Slot){.part = {.type = (ScalarType)leaves->leaves[i].type}, .is_varying = true};
        wide_declare_slot(wide, &slots[i]);
    }
    bool are_picked[2];
    const WidePart *masks[2];
    const char *any[2];
    for (uint32_t i = 0; i < 2; i++) {
        are_picked[i] = wide->pick == NULL && is_plain(wide, statement->blocks[i]) && weight_of(wide, statement->blocks[i]) >= PICKED;
        any[i] = are_picked[i] ? NULL : wide_word(wide);
        masks[i] = new_mask(wide, condition, i == 0, any[i]);
    }
    for (uint32_t i = 0; i < 2; i++) /* one that is not picked writes to all lanes, or to those of its own */
        if (!are_picked[i])
            write_masked_side(wide, statement->blocks[i], masks[i], any[i], slots, i == 0 ? NULL : condition);
    for (uint32_t i = 0; i < 2; i++)
        if (are_picked[i])
            write_picked_side(wide, statement->blocks[i], masks[i], slots);
    wide->values[statement->target] = wide_value_of_slots(wide, slots, leaves->count);
}

/* An `if` in which each point has its own way. */
static void write_own_if(Wide *wide, const CoreStatement *statement, const WidePart *condition)
{
    enum { HEAVY = 12 };
    bool fits = true, is_heavy = false;
    const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, statement->target));
    for (uint32_t i = 0; i < 2; i++) {
        fits &= shape_gives_up(statement->blocks[i]) || fits_lanes(wide, statement->blocks[i]);
        is_heavy |= weight_of(wide, statement->blocks[i]) >= HEAVY;
    }
    if (!wide_is_flat(leaves) || (!fits && wide->branches > 0))
        wide_refuse(wide);
    if (wide->branches == 0 && (is_heavy || !fits))
        write_masked_if(wide, statement, condition);
    else
        write_lane_if(wide, statement, condition);
}

void wide_write_if(Wide *wide, const CoreStatement *statement)
{
    const WidePart *condition = &wide_atom(wide, &statement->arguments[0])->parts[0];
    const CoreBlock *side = wide_known_side(wide, statement);
    if (side != NULL && !shape_gives_up(side)) {
        wide_write_statements(wide, side);
        wide->values[statement->target] = wide_atom(wide, &side->result);
        return;
    }
    for (uint32_t i = 0; i < 2 && wide->branches == 0; i++)
        if (shape_gives_up(statement->blocks[i]) && condition->lane == NULL) { /* the other side is all there is */
            wide_give_up_if(wide, "%s%s", i == 0 ? "" : "!", condition->word);
            wide_write_statements(wide, statement->blocks[1 - i]);
            wide->values[statement->target] = wide_atom(wide, &statement->blocks[1 - i]->result);
            return;
        }
    if (condition->lane != NULL || wide->branches > 0)
        write_own_if(wide, statement, condition);
    else
        write_same_if(wide, statement, condition->word);
}
