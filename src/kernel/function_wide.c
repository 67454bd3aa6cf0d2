/* Values, loops over lanes, statements and functions of wide versions. */
#include "kernel/function_wide.h"

#include "kernel/c_text.h"
#include "kernel/op_text.h"

#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 1 << 17,   /* of a function: C compilers take their time */
    ROUNDS_MAX = 8,       /* until it is known which variables of a loop differ from point to point */
    PICKED = 48,          /* weight of a side of an `if` for which lanes are brought together */
    STORE_MARK = '\001',  /* in text, before the number of a lane: there it goes to its array if there is one */
};

_Noreturn void wide_refuse(Wide *wide)
{
    vectors_refuse(&wide->writer);
}

/* ---- lines ---- */

void wide_line(Wide *wide, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    c_line(wide->writer.out, wide->writer.depth, format, arguments);
    va_end(arguments);
}

void wide_lane_line(Wide *wide, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    c_line(&wide->lanes, wide->writer.depth + 1 + wide->branches, format, arguments);
    va_end(arguments);
}

static bool is_line(const Wide *wide)
{
    const char *end = strchr(text_string(&wide->lanes), '\n');
    return !wide->lanes_can_fail && end != NULL && end[1] == '\0';
}

/* How many lanes are done. */
static const char *lane_count(Wide *wide)
{
    if (wide->is_at_basis)
        return "KERNEL_BASIS";
    return wide->pick == NULL ? "KERNEL_WIDE" : arena_format(wide->writer.arena, "%s_count", wide->pick);
}

void wide_end_lanes(Wide *wide)
{
    if (wide->lanes.length == 0)
        return;
    if (wide->branches > 0)
        wide_refuse(wide);
    if (wide->pick == NULL && !wide->is_at_basis)
        wide_line(wide, "%s {", is_line(wide) ? "KERNEL_WIDE_LINE" : "KERNEL_WIDE_LOOP");
    else
        wide_line(wide, "KERNEL_PICKED_LOOP(%s) {", lane_count(wide));
    if (wide->lanes_can_fail)
        wide_line(wide, "    OpFlag lane_failed = 0;");
    if (wide->lanes_can_fail && wide->mask != NULL)
        wide_lane_line(wide, "failed |= lane_failed & -(OpFlag)%s;", wide_scalar(wide, wide->mask));
    else if (wide->lanes_can_fail)
        wide_lane_line(wide, "failed |= lane_failed;");
    text_add(wide->writer.out, text_string(&wide->lanes));
    wide_line(wide, "}");
    if (wide->lanes_can_fail)
        write_check(&wide->writer);
    text_clear(&wide->lanes);
    wide->lanes_can_fail = false;
    wide->loop++;
}

void wide_open(Wide *wide, const char *format, ...)
{
    wide_end_lanes(wide);
    va_list arguments;
    va_start(arguments, format);
    c_line(wide->writer.out, wide->writer.depth++, format, arguments);
    va_end(arguments);
}

void wide_close(Wide *wide)
{
    wide_end_lanes(wide);
    wide->writer.depth--;
    wide_line(wide, "}");
}

void wide_give_up_if(Wide *wide, const char *format, ...)
{
    Text text;
    text_init(&text, wide->writer.out->memory);
    va_list arguments;
    va_start(arguments, format);
    text_add_list(&text, format, arguments);
    va_end(arguments);
    wide_line(wide, "if (OP_RARELY(%s))", text_string(&text));
    wide_line(wide, "    return false;");
    text_free(&text);
}

static Text *new_text(Wide *wide)
{
    Text *text = ARENA_NEW(wide->writer.arena, Text);
    text_init(text, wide->writer.out->memory);
    *vec_push(wide->writer.arena, &wide->apart) = text;
    return text;
}

Text *wide_begin_apart(Wide *wide)
{
    wide_end_lanes(wide);
    Text *outer = wide->writer.out;
    wide->writer.out = new_text(wide);
    return outer;
}

void wide_add_apart(Wide *wide, Text *outer, Text *text)
{
    wide->writer.out = outer;
    text_add(outer, text_string(text));
}

/* Also those that a refusal has left. */
static void free_texts(Wide *wide)
{
    for (uint32_t i = 0; i < wide->apart.count; i++)
        text_free(wide->apart.items[i]);
    text_free(&wide->lanes);
}

/* ---- values ---- */

const char *wide_word(Wide *wide)
{
    return write_word(&wide->writer, 0);
}

static Lane *new_lane(Wide *wide, ScalarType type, const char *word, uint32_t loop)
{
    Lane *lane = ARENA_NEW(wide->writer.arena, Lane);
    *lane = (Lane){.word = word, .type = type, .loop = loop, .number = wide->all.count};
    *vec_push(wide->writer.arena, &wide->all) = lane;
    return lane;
}

WidePart wide_lane(Wide *wide, ScalarType type, const char *word)
{
    WidePart part = {.type = type, .lane = new_lane(wide, type, word, wide->loop)};
    if (wide->branches == 0)
        text_addf(&wide->lanes, "%c%u\n", STORE_MARK, wide->all.count - 1);
    return part;
}

WidePart wide_array_lane(Wide *wide, ScalarType type, const char *word)
{
    WidePart part = {.type = type, .lane = new_lane(wide, type, word, 0)};
    part.lane->is_stored = true;
    return part;
}

WidePart wide_same(ScalarType type, const char *word)
{
    return (WidePart){.type = type, .word = word};
}

const char *wide_scalar(Wide *wide, const WidePart *part)
{
    if (part->vector != NULL)
        wide_refuse(wide);
    if (part->lane == NULL)
        return part->word;
    if (part->lane->loop == wide->loop)
        return part->lane->word;
    bool is_before = part->lane->number < wide->picked_from, is_outside = wide->pick != NULL && is_before;
    if (wide->is_at_basis && is_before) {
        wide->writer.has_flag = wide->lanes_can_fail = true;
        return part->lane->at_basis;
    }
    part->lane->is_stored = true;
    const char *at = is_outside ? arena_format(wide->writer.arena, "%s[lane]", wide->pick) : "lane";
    return arena_format(wide->writer.arena, part->lane->loop == 0 ? "%s[%s]" : "%s_w[%s]", part->lane->word, at);
}

const WideValue *wide_value(Wide *wide, const WidePart *parts, uint32_t count)
{
    WideValue *value = ARENA_NEW(wide->writer.arena, WideValue);
    *value = (WideValue){count, ARENA_ARRAY(wide->writer.arena, WidePart, count)};
    for (uint32_t i = 0; i < count; i++)
        value->parts[i] = parts[i];
    return value;
}

static const WideValue *value_of_words(Wide *wide, TypeId type, const char **words)
{
    const Layout *layout = write_layout(&wide->writer, type);
    WideValue value = {0, ARENA_ARRAY(wide->writer.arena, WidePart, layout->count)};
    for (uint32_t i = 0; i < layout->count; i++) {
        if (layout->leaves[i].type != LEAF_ARRAY) {
            value.parts[value.count++] = wide_same((ScalarType)layout->leaves[i].type, words[i]);
            continue;
        }
        value.parts[value.count++] = wide_given(wide, layout->leaves[i].elements->type, words + i);
        i += VECTOR_LEAVES - 1;
    }
    return wide_value(wide, value.parts, value.count);
}

const WideValue *wide_atom(Wide *wide, const CoreAtom *atom)
{
    if (atom->is_constant)
        return wide_known(wide, type_scalar(wide->writer.program->types, atom->type), atom->constant);
    const WideValue *value = wide->values[atom->variable];
    if (value == NULL)
        wide_refuse(wide);
    return value;
}

uint32_t wide_count(Wide *wide, TypeId type)
{
    if (type_is_sequence(wide->writer.program->types, type))
        return 1;
    if (!type_is_concrete(wide->writer.program->types, type))
        wide_refuse(wide);
    const Layout *layout = write_layout(&wide->writer, type);
    uint32_t count = layout->count;
    for (uint32_t i = 0; i < layout->count; i++)
        count -= layout->leaves[i].type == LEAF_ARRAY ? VECTOR_LEAVES - 1 : 0;
    return count;
}

/* ---- operations on scalars ---- */

static bool is_varying(const WideValue *value)
{
    return value->parts[0].lane != NULL;
}

/* Whether an integer is divided by a power of two: compilers know how. */
static bool divides_by_power(const CoreStatement *statement)
{
    if (statement->argument_count != 2 || !statement->arguments[1].is_constant || statement->arguments[1].type != TYPE_INT)
        return false;
    int64_t divisor = statement->arguments[1].constant.integer;
    return divisor > 0 && (divisor & (divisor - 1)) == 0;
}

/* The version that vectorises, where there is one: what it does not do counts as a failure. */
static void add_op(Wide *wide, Text *out, const CoreStatement *statement, ScalarType operand, ScalarType target, const char *const *arguments, bool in_lanes)
{
    bool is_fast = in_lanes && op_text_wants_fast(statement->op, operand, target) && !divides_by_power(statement);
    const char *flag = arena_format(wide->writer.arena, "&%s", in_lanes ? wide->flag : "failed");
    if (is_fast)
        op_text_fast(out, statement->op, operand, target, arguments, flag, flag);
    else
        op_text(out, statement->op, operand, target, arguments, flag);
    if (is_fast || op_text_can_fail(statement->op, operand, target)) {
        wide->writer.has_flag = true;
        wide->lanes_can_fail |= in_lanes;
        if (!in_lanes)
            text_add(out, ";\n    if (OP_RARELY(failed))\n        return false");
    }
}

static void write_scalar(Wide *wide, const CoreStatement *statement)
{
    enum { ARGUMENTS_MAX = 3 };
    const WideValue *values[ARGUMENTS_MAX];
    const char *arguments[ARGUMENTS_MAX] = {0};
    Writer *writer = &wide->writer;
    TypeId type = write_type(writer, statement->target);
    if (!type_is_scalar(writer->program->types, type) || statement->argument_count > ARGUMENTS_MAX)
        wide_refuse(wide);
    ScalarType target = type_scalar(writer->program->types, type), operand = target;
    bool in_lanes = wide->branches > 0;
    write_note_type(writer, type);
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        values[i] = wide_atom(wide, &statement->arguments[i]);
        if (!type_is_scalar(writer->program->types, statement->arguments[i].type))
            wide_refuse(wide);
        write_note_type(writer, statement->arguments[i].type);
        in_lanes |= is_varying(values[i]);
    }
    if (statement->argument_count > 0)
        operand = type_scalar(writer->program->types, statement->arguments[0].type);
    if (!op_text_exists(statement->op, operand, target))
        wide_refuse(wide);
    *writer->with_math |= op_text_needs_math(statement->op, operand, target);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        arguments[i] = wide_scalar(wide, &values[i]->parts[0]);
    const char *word = wide_word(wide);
    Text text;
    text_init(&text, writer->out->memory);
    add_op(wide, &text, statement, operand, target, arguments, in_lanes);
    if (in_lanes)
        wide_lane_line(wide, "const %s %s = %s;", c_type(target), word, text_string(&text));
    else
        wide_line(wide, "const %s %s = %s;", c_type(target), word, text_string(&text));
    text_free(&text);
    WidePart part = in_lanes ? wide_lane(wide, target, word) : wide_same(target, word);
    if (in_lanes)
        wide_note_form(wide, statement, values, part.lane);
    wide->values[statement->target] = wide_value(wide, &part, 1);
}

/* Equality of tuples of scalars. */
static bool write_equality(Wide *wide, const CoreStatement *statement)
{
    bool is_equality = statement->op == OP_EQUAL || statement->op == OP_NOT_EQUAL;
    if (!is_equality || type_is_scalar(wide->writer.program->types, statement->arguments[0].type))
        return false;
    const WideValue *a = wide_atom(wide, &statement->arguments[0]), *b = wide_atom(wide, &statement->arguments[1]);
    const char *word = wide_word(wide);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->parts[i].vector != NULL)
            wide_refuse(wide);
    Text text;
    text_init(&text, wide->writer.out->memory);
    for (uint32_t i = 0; i < a->count; i++)
        text_addf(&text, "%s(%s == %s)", i == 0 ? "" : " & ", wide_scalar(wide, &a->parts[i]), wide_scalar(wide, &b->parts[i]));
    wide_lane_line(wide, "const uint8_t %s = %s(%s);", word, statement->op == OP_EQUAL ? "" : "!", a->count == 0 ? "1" : text_string(&text));
    text_free(&text);
    WidePart part = wide_lane(wide, SCALAR_BOOL, word);
    wide->values[statement->target] = wide_value(wide, &part, 1);
    return true;
}

/* ---- ifs ---- */

/* A variable for a part of a value that comes from one of several places. */
typedef struct Slot {
    WidePart part;      /* what refers to it */
    bool is_varying;
    bool is_owned;      /* whichever way it comes */
    WideVector *vector; /* like this one */
} Slot;

/* What two ways to a value have in common is where they differ from point to point; vectors lie in memory on both. */
static void join_part(Wide *wide, Slot *slot, const WidePart *part, bool is_first)
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

static const char *cells_type(bool is_varying, ScalarType type, const char *word, Wide *wide)
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
        wide_line(wide, "%s;", cells_type(vector.are_varying[i], (ScalarType)leaves->leaves[i].type, vector.columns[i], wide));
    }
    slot->part = wide_vector(wide, vector)->parts[0];
}

static void declare_slot(Wide *wide, Slot *slot)
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
static void assign_slots(Wide *wide, const Slot *slots, const WideValue *value)
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
            wide_line(wide, "%s = %s;", cells_type(from->are_varying[leaf], (ScalarType)leaves->leaves[leaf].type, columns[i][leaf], wide), from->columns[leaf]);
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

static const WideValue *value_of_slots(Wide *wide, const Slot *slots, uint32_t count)
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
    side.lanes = new_text(wide);
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
    assign_slots(wide, slots, side->value);
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
    declare_slot(wide, slot);
}

static void write_same_if(Wide *wide, const CoreStatement *statement, const char *condition)
{
    uint32_t count = wide_count(wide, write_type(&wide->writer, statement->target));
    Slot *slots = ARENA_ARRAY(wide->writer.arena, Slot, count);
    Side sides[2];
    for (uint32_t i = 0; i < 2; i++) { /* to see what they are like */
        sides[i] = begin_side(wide, statement->blocks[i]);
        for (uint32_t part = 0; part < count; part++)
            join_part(wide, &slots[part], &sides[i].value->parts[part], i == 0);
    }
    for (uint32_t i = 0; i < count; i++)
        declare_joined(wide, sides, i, &slots[i]);
    for (uint32_t i = 0; i < 2; i++) {
        wide_open(wide, i == 0 ? "if (%s) {" : "else {", condition);
        end_side(wide, &sides[i], slots);
        wide_close(wide);
    }
    wide->values[statement->target] = value_of_slots(wide, slots, count);
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

static bool is_flat(const Layout *elements)
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

/* `const uint8_t word = ...`, a mask. */
static const WidePart *new_mask(Wide *wide, const WidePart *condition, bool side)
{
    const char *word = wide_word(wide), *test = wide_scalar(wide, condition);
    if (wide->mask == NULL)
        wide_lane_line(wide, "const uint8_t %s = %s%s;", word, side ? "" : "!", test);
    else
        wide_lane_line(wide, "const uint8_t %s = %s & %s%s;", word, wide_scalar(wide, wide->mask), side ? "" : "!", test);
    WidePart part = wide_lane(wide, SCALAR_BOOL, word);
    return wide_value(wide, &part, 1)->parts;
}

/* A side of an `if` that is done for all lanes if one of them takes it. */
static void write_masked_side(Wide *wide, const CoreBlock *block, const WidePart *mask, const Slot *slots, const WidePart *condition)
{
    const WidePart *outer = wide->mask;
    wide_end_lanes(wide);
    mask->lane->is_stored = true;
    wide_open(wide, "if (kernel_wide_any(%s_w, %s)) {", mask->lane->word, lane_count(wide));
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

/* A side that takes long is done for the lanes that take it only, which are brought together. */
static void write_picked_side(Wide *wide, const CoreBlock *block, const WidePart *mask, const Slot *slots)
{
    const WidePart *outer = wide->mask;
    const char *pick = wide_word(wide);
    wide_end_lanes(wide);
    mask->lane->is_stored = true;
    wide_line(wide, "int %s[KERNEL_WIDE + KERNEL_PICKED];", pick);
    wide_line(wide, "const int %s_count = kernel_wide_pick(%s_w, %s);", pick, mask->lane->word, pick);
    wide_open(wide, "if (%s_count > 0) {", pick);
    wide->mask = NULL;
    wide->pick = pick;
    wide->picked_from = wide->all.count;
    wide_write_statements(wide, block);
    const WideValue *value = wide_atom(wide, &block->result);
    for (uint32_t i = 0; i < value->count; i++)
        wide_lane_line(wide, "%s[%s[lane]] = %s;", slots[i].part.lane->word, pick, wide_scalar(wide, &value->parts[i]));
    wide_close(wide);
    wide->pick = NULL;
    wide->mask = outer;
}

static void write_masked_if(Wide *wide, const CoreStatement *statement, const WidePart *condition)
{
    const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, statement->target));
    Slot *slots = ARENA_ARRAY(wide->writer.arena, Slot, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++) {
        slots[i] = (Slot){.part = {.type = (ScalarType)leaves->leaves[i].type}, .is_varying = true};
        declare_slot(wide, &slots[i]);
    }
    const WidePart *yes = new_mask(wide, condition, true), *no = new_mask(wide, condition, false);
    bool are_picked[2];
    for (uint32_t i = 0; i < 2; i++)
        are_picked[i] = wide->pick == NULL && is_plain(wide, statement->blocks[i]) && weight_of(wide, statement->blocks[i]) >= PICKED;
    for (uint32_t i = 0; i < 2; i++) /* one that is not picked writes to all lanes, or to those of its own */
        if (!are_picked[i])
            write_masked_side(wide, statement->blocks[i], i == 0 ? yes : no, slots, i == 0 ? NULL : condition);
    for (uint32_t i = 0; i < 2; i++)
        if (are_picked[i])
            write_picked_side(wide, statement->blocks[i], i == 0 ? yes : no, slots);
    wide->values[statement->target] = value_of_slots(wide, slots, leaves->count);
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
    if (!is_flat(leaves) || (!fits && wide->branches > 0))
        wide_refuse(wide);
    if (wide->branches == 0 && (is_heavy || !fits))
        write_masked_if(wide, statement, condition);
    else
        write_lane_if(wide, statement, condition);
}

static void write_if(Wide *wide, const CoreStatement *statement)
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

/* ---- calls ---- */

/* A function that is a loop, written where it is called. */
typedef struct Turns {
    const CoreBlock *body;
    CoreFunctionId function;
    bool *are_kept;        /* by parameter: every turn has the same */
    Slot **parameters;     /* ... the variables of the others */
    Slot *results;
    bool has_results;      /* they are known */
    bool is_settled;       /* so are all variables: the text counts */
} Turns;

static void find_kept(const CoreBlock *block, const Turns *turns)
{
    if (block->statement_count == 0 || !write_is_last(block, block->statement_count - 1))
        return;
    const CoreStatement *last = &block->statements[block->statement_count - 1];
    for (uint32_t i = 0; i < 2 && last->kind == CORE_IF; i++)
        find_kept(last->blocks[i], turns);
    for (uint32_t i = 0; last->kind == CORE_CALL && last->function == turns->function && i < last->argument_count; i++)
        turns->are_kept[i] &= shape_is_variable(&last->arguments[i], turns->body->parameters[i]);
}

/* Notes what a turn gives the next one: more may differ from point to point than was thought. */
static void write_turn(Wide *wide, const CoreStatement *call, Turns *turns)
{
    WidePart *parts;
    Slot *slots;
    uint32_t count = 0, filled = 0;
    for (uint32_t i = 0; i < call->argument_count; i++)
        count += turns->are_kept[i] ? 0 : wide_count(wide, call->arguments[i].type);
    parts = ARENA_ARRAY(wide->writer.arena, WidePart, count);
    slots = ARENA_ARRAY(wide->writer.arena, Slot, count);
    for (uint32_t i = 0; i < call->argument_count; i++) {
        if (turns->are_kept[i])
            continue;
        bool is_owned = wide_owns(wide, call, i);
        const WideValue *value = wide_made(wide, wide_atom(wide, &call->arguments[i]));
        for (uint32_t part = 0; part < value->count; part++) {
            Slot *slot = &turns->parameters[i][part];
            bool was_varying = slot->is_varying, was_owned = slot->is_owned;
            join_part(wide, slot, &value->parts[part], false);
            slot->is_owned &= is_owned;
            turns->is_settled &= was_varying == slot->is_varying && was_owned == slot->is_owned;
            slots[filled] = *slot;
            parts[filled++] = value->parts[part];
        }
    }
    if (turns->is_settled)
        assign_slots(wide, slots, wide_value(wide, parts, count));
}

static void write_result(Wide *wide, const CoreBlock *block, Turns *turns)
{
    const WideValue *value = wide_made(wide, wide_atom(wide, &block->result));
    for (uint32_t i = 0; i < value->count; i++) {
        bool was_varying = turns->results[i].is_varying;
        join_part(wide, &turns->results[i], &value->parts[i], !turns->has_results);
        turns->is_settled &= was_varying == turns->results[i].is_varying;
    }
    turns->is_settled &= turns->has_results;
    turns->has_results = true;
    if (turns->is_settled)
        assign_slots(wide, turns->results, value);
    wide_end_lanes(wide);
    wide_line(wide, "break;");
}

static void write_tail(Wide *wide, const CoreBlock *block, Turns *turns)
{
    uint32_t count = block->statement_count;
    const CoreStatement *last = count > 0 && write_is_last(block, count - 1) ? &block->statements[count - 1] : NULL;
    bool is_turn = last != NULL && last->kind == CORE_CALL && last->function == turns->function;
    bool is_choice = last != NULL && last->kind == CORE_IF && write_has_turn(block, turns->function);
    CoreBlock before = *block;
    before.statement_count -= is_turn || is_choice;
    wide_write_statements(wide, &before);
    if (is_turn) {
        write_turn(wide, last, turns);
        return;
    }
    if (!is_choice) {
        write_result(wide, block, turns);
        return;
    }
    const WidePart *condition = &wide_atom(wide, &last->arguments[0])->parts[0];
    if (condition->lane != NULL)
        wide_refuse(wide);
    for (uint32_t i = 0; i < 2; i++) {
        wide_open(wide, i == 0 ? "if (%s) {" : "else {", condition->word);
        write_tail(wide, last->blocks[i], turns);
        wide_close(wide);
    }
}

static void write_turns(Wide *wide, Turns *turns)
{
    wide_open(wide, "for (uint32_t turn = 1;; turn++) {");
    wide_give_up_if(wide, "!kernel_may_turn(turn, scalars)");
    for (uint32_t i = 0; i < turns->body->parameter_count; i++)
        if (!turns->are_kept[i])
            wide->values[turns->body->parameters[i]] = value_of_slots(wide, turns->parameters[i], wide_count(wide, write_type(&wide->writer, turns->body->parameters[i])));
    write_tail(wide, turns->body, turns);
    wide_close(wide);
}

static void declare_parameters(Wide *wide, const Turns *turns, const WideValue *const *arguments)
{
    for (uint32_t i = 0; i < turns->body->parameter_count; i++) {
        if (turns->are_kept[i])
            continue;
        for (uint32_t part = 0; part < arguments[i]->count; part++)
            declare_slot(wide, &turns->parameters[i][part]);
        assign_slots(wide, turns->parameters[i], arguments[i]);
    }
}

static void write_loop(Wide *wide, const CoreStatement *statement, Turns *turns, const WideValue **arguments)
{
    uint32_t parameters = turns->body->parameter_count, results = wide_count(wide, write_type(&wide->writer, statement->target));
    turns->are_kept = ARENA_ARRAY(wide->writer.arena, bool, parameters);
    turns->parameters = ARENA_ARRAY(wide->writer.arena, Slot *, parameters);
    turns->results = ARENA_ARRAY(wide->writer.arena, Slot, results);
    memset(turns->are_kept, true, parameters);
    find_kept(turns->body, turns);
    for (uint32_t i = 0; i < parameters; i++) {
        wide->values[turns->body->parameters[i]] = arguments[i];
        if (turns->are_kept[i])
            continue;
        arguments[i] = wide_made(wide, arguments[i]);
        turns->parameters[i] = ARENA_ARRAY(wide->writer.arena, Slot, arguments[i]->count);
        for (uint32_t part = 0; part < arguments[i]->count; part++) {
            const WidePart *from = &arguments[i]->parts[part];
            join_part(wide, &turns->parameters[i][part], from, true);
            turns->parameters[i][part].is_owned = from->vector != NULL && from->vector->is_owned;
        }
    }
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        Text *outer = wide_begin_apart(wide);
        declare_parameters(wide, turns, arguments);
        for (uint32_t i = 0; i < results && turns->has_results; i++)
            declare_slot(wide, &turns->results[i]);
        turns->is_settled = true;
        write_turns(wide, turns);
        if (turns->is_settled) {
            wide_add_apart(wide, outer, wide->writer.out);
            wide->values[statement->target] = value_of_slots(wide, turns->results, results);
            return;
        }
        wide->writer.out = outer;
    }
    wide_refuse(wide);
}

const WideValue *wide_passed(Wide *wide, const CoreStatement *call, uint32_t argument)
{
    const WideValue *value = wide_atom(wide, &call->arguments[argument]), *passed = wide_value(wide, value->parts, value->count);
    bool is_owned = wide_owns(wide, call, argument);
    for (uint32_t i = 0; i < passed->count; i++)
        if (passed->parts[i].vector != NULL && passed->parts[i].vector->is_owned != is_owned) {
            WideVector vector = *passed->parts[i].vector;
            vector.is_owned = is_owned;
            passed->parts[i] = wide_vector(wide, vector)->parts[0];
        }
    return passed;
}

/* A function has one value for each of its variables: a call of it inside of itself would take the place of what the outer one still needs. */
static void begin_call(Wide *wide, CoreFunctionId function)
{
    bool is_again = function == wide->writer.function;
    for (uint32_t i = 0; i < wide->calls; i++)
        is_again |= wide->called[i] == function;
    if (wide->branches > 0 || is_again || wide->calls == WIDE_CALLS)
        wide_refuse(wide);
    wide->called[wide->calls++] = function;
}

static void write_call(Wide *wide, const CoreStatement *statement)
{
    const CoreBlock *outer = wide->body;
    const CoreFunction *function = wide->writer.program->functions.items[statement->function];
    if (function == NULL)
        wide_refuse(wide);
    begin_call(wide, statement->function);
    const WideValue **arguments = ARENA_ARRAY(wide->writer.arena, const WideValue *, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        arguments[i] = wide_passed(wide, statement, i);
    shape_function(wide->writer.texts, statement->function);
    wide->body = function->body;
    if (write_has_turn(function->body, statement->function)) {
        Turns turns = {.body = function->body, .function = statement->function};
        if (!wide_write_unrolled(wide, statement, arguments))
            write_loop(wide, statement, &turns, arguments);
    } else {
        for (uint32_t i = 0; i < statement->argument_count; i++)
            wide->values[function->body->parameters[i]] = arguments[i];
        wide_write_statements(wide, function->body);
        wide->values[statement->target] = wide_atom(wide, &function->body->result);
    }
    wide->body = outer;
    wide->calls--;
}

/* ---- statements ---- */

static void write_pair(Wide *wide, const CoreStatement *statement)
{
    const WideValue *first = wide_atom(wide, &statement->arguments[0]), *rest = wide_atom(wide, &statement->arguments[1]);
    WidePart *parts = ARENA_ARRAY(wide->writer.arena, WidePart, first->count + rest->count);
    for (uint32_t i = 0; i < first->count + rest->count; i++)
        parts[i] = i < first->count ? first->parts[i] : rest->parts[i - first->count];
    wide->values[statement->target] = wide_value(wide, parts, first->count + rest->count);
}

static void write_project(Wide *wide, const CoreStatement *statement)
{
    const CoreAtom *pair = &statement->arguments[0];
    const WideValue *value = wide_atom(wide, pair);
    uint32_t split = wide_count(wide, type_first(wide->writer.program->types, pair->type)), skipped = statement->component == 0 ? 0 : split;
    wide->values[statement->target] = wide_value(wide, value->parts + skipped, statement->component == 0 ? split : value->count - split);
}

bool wide_write_name(Wide *wide, const CoreStatement *statement)
{
    switch ((int)statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP: wide->values[statement->target] = wide_atom(wide, &statement->arguments[0]); return true;
    case CORE_UNIT: wide->values[statement->target] = wide_value(wide, NULL, 0); return true;
    case CORE_PAIR: write_pair(wide, statement); return true;
    case CORE_PROJECT: write_project(wide, statement); return true;
    default: return false;
    }
}

static void write_statement(Wide *wide, const CoreStatement *statement)
{
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP:
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_PROJECT: wide_write_name(wide, statement); return;
    case CORE_MAKE: wide_write_make(wide, statement); return;
    case CORE_EACH: wide_write_each(wide, statement); return;
    case CORE_GUARD: wide_write_guard(wide, statement); return;
    case CORE_IF: write_if(wide, statement); return;
    case CORE_CALL: write_call(wide, statement); return;
    case CORE_OP:
        if (!wide_fold(wide, statement) && !write_equality(wide, statement) && !wide_write_vector_op(wide, statement))
            write_scalar(wide, statement);
        return;
    case CORE_TEXT:
    case CORE_GROUP: wide_refuse(wide);
    }
}

void wide_write_statements(Wide *wide, const CoreBlock *block)
{
    const CoreBlock *outer = wide->block;
    if (shape_gives_up(block) || wide->writer.out->length > TEXT_MAX)
        wide_refuse(wide);
    wide->block = block;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        Text *out = wide->branches > 0 ? &wide->lanes : wide->writer.out;
        if (wide->lanes.length == 0)
            c_source(out, wide->writer.depth + wide->branches, wide->writer.sources, block->statements[i].span, &wide->writer.shown);
        write_statement(wide, &block->statements[i]);
    }
    wide->block = outer;
}

/* ---- functions ---- */

/* Whether a parameter is mostly the same for all points. */
static bool is_shared(const Wide *wide, uint32_t parameter)
{
    return parameter < wide->writer.program->functions.items[wide->writer.function]->shared_count;
}

static bool is_of_bytes(const Layout *elements)
{
    for (uint32_t i = 0; i < elements->count; i++)
        if (scalar_size((ScalarType)elements->leaves[i].type) != 1)
            return false;
    return true;
}

/* A vector of bytes that each point has another of: they are brought together several at a time. */
static WidePart write_own_bytes(Wide *wide, const Layout *elements, const char **words)
{
    WideVector vector = {.kind = WIDE_MADE, .element = elements->type, .length = words[VECTOR_LENGTH]};
    vector.columns = ARENA_ARRAY(wide->writer.arena, const char *, elements->count);
    vector.are_varying = ARENA_ARRAY(wide->writer.arena, bool, elements->count);
    for (uint32_t i = 0; i < elements->count; i++) {
        vector.columns[i] = wide_word(wide);
        vector.are_varying[i] = true;
        wide_line(wide, "%s = kernel_wide_bytes(region, mark, %s, %s, %u, %s);", cells_type(true, (ScalarType)elements->leaves[i].type, vector.columns[i], wide),
                  words[VECTOR_ARRAY], words[VECTOR_START], i, words[VECTOR_LENGTH]);
        wide_give_up_if(wide, "%s == NULL", vector.columns[i]);
    }
    return wide_vector(wide, vector)->parts[0];
}

/* A vector that each point has another of: pointers to its cells, in columns none of which is one cell for all. */
static WidePart write_own_vector(Wide *wide, const Layout *elements, const char **words)
{
    WideVector vector = {.kind = WIDE_GIVEN, .element = elements->type, .length = words[VECTOR_LENGTH]};
    if (!is_flat(elements))
        wide_refuse(wide);
    if (is_of_bytes(elements))
        return write_own_bytes(wide, elements, words);
    vector.columns = ARENA_ARRAY(wide->writer.arena, const char *, elements->count);
    for (uint32_t i = 0; i < elements->count; i++) {
        const char *c = write_leaf_type(elements->leaves[i].type);
        vector.columns[i] = wide_word(wide);
        wide_line(wide, "%s const *%s[KERNEL_WIDE];", c, vector.columns[i]);
        wide_line(wide, "if (!kernel_wide_cells((const void **)%s, %s, %s, %u, sizeof(%s), %s))", vector.columns[i], words[VECTOR_ARRAY], words[VECTOR_START], i, c,
                  words[VECTOR_LENGTH]);
        wide_line(wide, "    return false;");
    }
    return wide_vector(wide, vector)->parts[0];
}

static const WideValue *write_own_parameter(Wide *wide, const Layout *leaves, const char **words)
{
    WideValue value = {0, ARENA_ARRAY(wide->writer.arena, WidePart, leaves->count)};
    for (uint32_t i = 0; i < leaves->count; i++) {
        if (leaves->leaves[i].type != LEAF_ARRAY) {
            WidePart part = wide_array_lane(wide, (ScalarType)leaves->leaves[i].type, words[i]);
            part.lane->is_given = true;
            if (part.type == SCALAR_I64)
                wide_note_index(wide, part.lane);
            value.parts[value.count++] = part;
            continue;
        }
        value.parts[value.count++] = write_own_vector(wide, leaves->leaves[i].elements, words + i);
        i += VECTOR_LEAVES - 1;
    }
    return wide_value(wide, value.parts, value.count);
}

static bool is_length(const Layout *leaves, uint32_t leaf)
{
    return leaf >= VECTOR_LENGTH && leaves->leaves[leaf - VECTOR_LENGTH].type == LEAF_ARRAY;
}

static void write_header(Wide *wide, const CoreBlock *body, Text *out)
{
    Writer *writer = &wide->writer;
    text_add(out, "\n/* The same at many points at once. */\nstatic bool ");
    function_text_name(writer->texts, writer->function, out);
    text_add(out, "_wide(");
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        const char **words = write_new_words(writer, body->parameters[i]);
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++) {
            bool is_one = is_shared(wide, i) || is_length(leaves, leaf);
            text_addf(out, "%s %s%s, ", write_leaf_type(leaves->leaves[leaf].type), is_one ? "" : "const *", words[leaf]);
        }
    }
    const Layout *results = write_layout(writer, body->result.type);
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(out, "%s *%s, ", write_leaf_type(results->leaves[i].type), write_result_word(writer, i, results->count));
    text_add(out, "KernelRegion *region, int64_t depth, const KernelScalars *scalars)\n{\n");
}

static void note_global(Wide *wide, const CoreAtom *atom)
{
    const char **words = atom->is_constant ? NULL : wide->writer.texts->values[atom->variable];
    if (words != NULL && wide->values[atom->variable] == NULL && wide->writer.program->variables.items[atom->variable].is_global)
        wide->values[atom->variable] = value_of_words(wide, atom->type, words);
}

static void write_global_words(Wide *wide, const CoreBlock *block, uint32_t depth)
{
    if (depth > WIDE_CALLS)
        return;
    write_globals(&wide->writer, block);
    note_global(wide, &block->result);
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        const CoreFunction *called = statement->kind == CORE_CALL ? wide->writer.program->functions.items[statement->function] : NULL;
        for (uint32_t a = 0; a < statement->argument_count; a++)
            note_global(wide, &statement->arguments[a]);
        if (called != NULL)
            write_global_words(wide, called->body, depth + 1);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                write_global_words(wide, statement->blocks[b], depth + 1);
    }
}

static void write_body(Wide *wide, const CoreBlock *body)
{
    const Layout *results = write_layout(&wide->writer, body->result.type);
    if (!is_flat(results))
        wide_refuse(wide);
    wide_give_up_if(wide, "!kernel_may_enter(depth, scalars)");
    wide_line(wide, "const KernelMark mark = kernel_mark(region);");
    write_global_words(wide, body, 0);
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, body->parameters[i]));
        const char **words = wide->writer.texts->values[body->parameters[i]];
        wide->values[body->parameters[i]] = is_shared(wide, i) ? value_of_words(wide, leaves->type, words) : write_own_parameter(wide, leaves, words);
    }
    wide_write_statements(wide, body);
    const WideValue *value = wide_atom(wide, &body->result);
    for (uint32_t i = 0; i < value->count; i++)
        wide_lane_line(wide, "%s[lane] = %s;", write_result_word(&wide->writer, i, value->count),
                       vectors_canonical(&wide->writer, results->leaves[i].type, wide_scalar(wide, &value->parts[i])));
    wide_end_lanes(wide);
    wide_line(wide, "return true;");
}

/* Arrays of lanes, and where they are filled. */
static void add_text(const Wide *wide, const Text *body, Text *out)
{
    for (uint32_t i = 0; i < wide->all.count; i++) {
        const Lane *lane = wide->all.items[i];
        if (lane->is_stored && !lane->is_given)
            text_addf(out, "    %s %s%s[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;\n", lane->type == SCALAR_BOOL ? "KernelTruth" : c_type(lane->type), lane->word,
                      lane->loop == 0 ? "" : "_w");
    }
    wide_add_bases(wide, out);
    const char *rest = text_string(body);
    for (const char *mark; (mark = strchr(rest, STORE_MARK)) != NULL;) {
        char *end;
        const Lane *lane = wide->all.items[strtoul(mark + 1, &end, 10)];
        text_add_bytes(out, rest, (size_t)(mark - rest));
        if (lane->is_stored)
            text_addf(out, "        %s_w[lane] = %s;\n", lane->word, lane->word);
        rest = end + 1;
    }
    text_add(out, rest);
}

static Wide new_wide(FunctionTexts *texts, CoreFunctionId function, Text *body, ClassSet *types, bool *with_math)
{
    Wide wide = {.writer = writer_of(texts, function), .loop = 1, .flag = "lane_failed"};
    wide.writer.out = body;
    wide.writer.types = types;
    wide.writer.with_math = with_math;
    wide.writer.into = wide.writer.aside = "region";
    wide.values = ARENA_ARRAY(texts->arena, const WideValue *, texts->program->variables.count);
    return wide;
}

static void write_function(Wide *wide, Text *header)
{
    const CoreBlock *body = wide->writer.program->functions.items[wide->writer.function]->body;
    shape_function(wide->writer.texts, wide->writer.function);
    wide->body = body;
    write_header(wide, body, header);
    write_body(wide, body);
}

/* False if it was refused. Nothing local changes on the way. */
static bool is_written(Wide *trial, Text *header)
{
    jmp_buf refused;
    trial->writer.on_refusal = &refused;
    if (setjmp(refused) != 0)
        return false;
    write_function(trial, header);
    return true;
}

bool function_wide_is_possible(FunctionTexts *texts, CoreFunctionId function)
{
    Text body, header;
    ClassSet types = 0;
    bool with_math = false;
    text_init(&body, texts->program->arena->memory);
    text_init(&header, texts->program->arena->memory);
    Wide trial = new_wide(texts, function, &body, &types, &with_math);
    text_init(&trial.lanes, texts->program->arena->memory);
    trial.writer.is_trial = true;
    bool is_possible = is_written(&trial, &header) && body.length <= TEXT_MAX;
    for (uint32_t i = 0; i < trial.writer.trial_globals.count; i++)
        texts->values[trial.writer.trial_globals.items[i]] = NULL;
    free_texts(&trial);
    text_free(&body);
    text_free(&header);
    return is_possible;
}

void function_wide_write(FunctionTexts *texts, CoreFunctionId function, const Sources *sources, Text *out, ClassSet *types, bool *with_math)
{
    Text body;
    text_init(&body, out->memory);
    Wide wide = new_wide(texts, function, &body, types, with_math);
    text_init(&wide.lanes, out->memory);
    wide.writer.sources = sources;
    write_function(&wide, out);
    write_forget_globals(&wide.writer);
    text_addf(out, "%s", wide.writer.has_flag ? "    OpFlag failed = 0;\n" : "");
    add_text(&wide, &body, out);
    text_add(out, "}\n");
    free_texts(&wide);
    text_free(&body);
}

/* ---- entries ---- */

static const char *stream_text(Wide *wide, LeafType type, uint32_t leaf, const char *point)
{
    return arena_format(wide->writer.arena, "((%s const *)call->streams[%u])[%s * call->strides[%u]]", write_leaf_type(type), leaf, point, leaf);
}

static void begin_entry(Wide *wide, const char *suffix, const char *type, const char *parameters)
{
    text_addf(wide->writer.out, "\nstatic %s ", type);
    function_text_name(wide->writer.texts, wide->writer.function, wide->writer.out);
    text_addf(wide->writer.out, "_%s(%s)\n{\n", suffix, parameters);
}

static void end_entry(Wide *wide, const char *result)
{
    wide_line(wide, "return %s;", result);
    text_add(wide->writer.out, "}\n");
}

/* A point is like others if the vectors of its own are as long as theirs. */
static void write_key(Wide *wide, const CoreBlock *body)
{
    begin_entry(wide, "key", "uint64_t", "const KernelCall *call, int64_t point");
    wide_line(wide, "uint64_t key = 0;");
    for (uint32_t i = 0, filled = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++)
            if (!is_shared(wide, i) && is_length(leaves, leaf))
                wide_line(wide, "key = key * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)%s;", stream_text(wide, (LeafType)SCALAR_I64, filled, "point"));
    }
    end_entry(wide, "key");
}

static void write_point(Wide *wide, const CoreBlock *body)
{
    Writer *writer = &wide->writer;
    const Layout *results = write_layout(writer, body->result.type);
    begin_entry(wide, "point", "bool", "const KernelCall *call, const KernelScalars *scalars, int64_t point");
    wide_line(wide, "KernelRegion *const regions = call->workspace->regions;");
    wide_line(wide, "const KernelMark mark = kernel_mark(&regions[1]);");
    for (uint32_t i = 0; i < results->count; i++)
        wide_line(wide, "%s result%u;", write_leaf_type(results->leaves[i].type), i);
    text_add(writer->out, "    if (!");
    function_text_name(writer->texts, writer->function, writer->out);
    text_add_char(writer->out, '(');
    for (uint32_t i = 0, filled = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++)
            text_addf(writer->out, "%s, ", stream_text(wide, leaves->leaves[leaf].type, filled, "point"));
    }
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(writer->out, "&result%u, ", i);
    text_add(writer->out, "&regions[0], &regions[1], call->depth, scalars)) {\n");
    wide_line(wide, "    kernel_release(&regions[1], mark);");
    wide_line(wide, "    return false;");
    wide_line(wide, "}");
    for (uint32_t i = 0; i < results->count; i++)
        wide_line(wide, "((%s *)call->outputs[%u])[point] = %s;", write_leaf_type(results->leaves[i].type), i,
                  vectors_canonical(writer, results->leaves[i].type, arena_format(writer->arena, "result%u", i)));
    end_entry(wide, "true");
}

/* What is to be the same for all points is one value; the rest are arrays. */
static void write_gather(Wide *wide, LeafType type, uint32_t leaf, bool is_one)
{
    const char *c = write_leaf_type(type);
    wide_line(wide, "%s const *const s%u = call->streams[%u];", c, leaf, leaf);
    wide_line(wide, "const int64_t m%u = -call->strides[%u];", leaf, leaf);
    if (!is_one) {
        wide_line(wide, "%s a%u[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;", c, leaf);
        wide_line(wide, "KERNEL_WIDE_LINE");
        wide_line(wide, "    a%u[lane] = s%u[points[lane] & m%u];", leaf, leaf, leaf);
        return;
    }
    wide_line(wide, "const %s a%u = s%u[points[0] & m%u];", c, leaf, leaf, leaf);
    wide_line(wide, "for (int64_t lane = 1; lane < count && m%u != 0; lane++)", leaf);
    wide_line(wide, "    differs |= __builtin_memcmp(&s%u[points[lane]], &a%u, sizeof a%u) != 0;", leaf, leaf, leaf);
}

static void write_points(Wide *wide, const CoreBlock *body)
{
    Writer *writer = &wide->writer;
    const Layout *results = write_layout(writer, body->result.type);
    uint32_t filled = 0;
    begin_entry(wide, "points", "bool", "const KernelCall *call, const KernelScalars *scalars, const int64_t *points, int64_t count");
    wide_line(wide, "bool differs = false;");
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++)
            write_gather(wide, leaves->leaves[leaf].type, filled, is_shared(wide, i) || is_length(leaves, leaf));
    }
    for (uint32_t i = 0; i < results->count; i++)
        wide_line(wide, "%s result%u[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;", write_leaf_type(results->leaves[i].type), i);
    wide_line(wide, "KernelRegion *const region = &call->workspace->regions[1];");
    wide_line(wide, "const KernelMark mark = kernel_mark(region);");
    text_add(writer->out, "    const bool is_done = !differs && ");
    function_text_name(writer->texts, writer->function, writer->out);
    text_add(writer->out, "_wide(");
    for (uint32_t i = 0; i < filled; i++)
        text_addf(writer->out, "a%u, ", i);
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(writer->out, "result%u, ", i);
    text_add(writer->out, "region, call->depth, scalars);\n");
    wide_line(wide, "kernel_release(region, mark);");
    for (uint32_t i = 0; i < results->count; i++) {
        wide_line(wide, "%s *const o%u = call->outputs[%u];", write_leaf_type(results->leaves[i].type), i, i);
        wide_line(wide, "for (int64_t lane = 0; lane < count && is_done; lane++)");
        wide_line(wide, "    o%u[points[lane]] = result%u[lane];", i, i);
    }
    end_entry(wide, "is_done");
}

void function_wide_write_entry(FunctionTexts *texts, CoreFunctionId function, Text *out)
{
    const CoreBlock *body = texts->program->functions.items[function]->body;
    Wide wide = {.writer = writer_of(texts, function)};
    Text name;
    wide.writer.out = out;
    text_init(&name, out->memory);
    function_text_name(texts, function, &name);
    bool is_complete = texts->is_complete[function];
    write_key(&wide, body);
    if (is_complete)
        write_point(&wide, body);
    write_points(&wide, body);
    text_addf(out, "\nuint64_t entry_%u(const KernelCall *restrict call)\n{\n", function);
    const char *point = is_complete ? arena_format(texts->arena, "%s_point", text_string(&name)) : "NULL";
    wide_line(&wide, "return kernel_wide_entry(call, %s_key, %s_points, %s);", text_string(&name), text_string(&name), point);
    text_add(out, "}\n");
    text_free(&name);
}
