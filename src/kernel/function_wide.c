/* Values, loops over lanes, statements and functions of wide versions. */
#include "kernel/function_wide.h"

#include "kernel/c_text.h"
#include "kernel/op_text.h"

#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 1 << 17,   /* of a function: C compilers take their time */
    ROUNDS_MAX = 8,       /* until it is known which variables of a loop differ from point to point */
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

const char *wide_lane_count(Wide *wide)
{
    if (wide->is_at_basis)
        return "KERNEL_BASIS";
    return wide->pick == NULL ? "KERNEL_WIDE" : arena_format(wide->writer.arena, "%s_full", wide->pick);
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
        wide_line(wide, "KERNEL_PICKED_LOOP(%s) {", wide_lane_count(wide));
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

Text *wide_new_text(Wide *wide)
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
    wide->writer.out = wide_new_text(wide);
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

bool wide_is_truth(const Lane *lane)
{
    return lane->type == SCALAR_BOOL && !lane->is_given;
}

const char *wide_array_type(const Lane *lane)
{
    return wide_is_truth(lane) ? "KernelTruth" : c_type(lane->type);
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

/* A lane from before those that are brought together. */
static const char *packed_lane(Wide *wide, Lane *lane)
{
    bool is_known = false;
    for (uint32_t i = 0; i < wide->packed.count; i++)
        is_known |= wide->packed.items[i] == lane;
    if (!is_known)
        *vec_push(wide->writer.arena, &wide->packed) = lane;
    return arena_format(wide->writer.arena, "%s_%s[lane]", wide->pick, lane->word);
}

const char *wide_scalar(Wide *wide, const WidePart *part)
{
    if (part->vector != NULL)
        wide_refuse(wide);
    if (part->lane == NULL)
        return part->word;
    if (part->lane->loop == wide->loop)
        return part->lane->word;
    bool is_before = part->lane->number < wide->picked_from;
    if (wide->is_at_basis && is_before) {
        wide->writer.has_flag = wide->lanes_can_fail = true;
        return part->lane->at_basis;
    }
    if (part->lane->again != NULL && wide->pick == NULL && !wide->is_at_basis)
        return part->lane->again;
    part->lane->is_stored = true;
    if (wide->pick != NULL && is_before)
        return packed_lane(wide, part->lane);
    return arena_format(wide->writer.arena, part->lane->loop == 0 ? "%s[lane]" : "%s_w[lane]", part->lane->word);
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
            wide_join_part(wide, slot, &value->parts[part], false);
            slot->is_owned &= is_owned;
            turns->is_settled &= was_varying == slot->is_varying && was_owned == slot->is_owned;
            slots[filled] = *slot;
            parts[filled++] = value->parts[part];
        }
    }
    if (turns->is_settled)
        wide_assign_slots(wide, slots, wide_value(wide, parts, count));
}

static void write_result(Wide *wide, const CoreBlock *block, Turns *turns)
{
    const WideValue *value = wide_made(wide, wide_atom(wide, &block->result));
    for (uint32_t i = 0; i < value->count; i++) {
        bool was_varying = turns->results[i].is_varying;
        wide_join_part(wide, &turns->results[i], &value->parts[i], !turns->has_results);
        turns->is_settled &= was_varying == turns->results[i].is_varying;
    }
    turns->is_settled &= turns->has_results;
    turns->has_results = true;
    if (turns->is_settled)
        wide_assign_slots(wide, turns->results, value);
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
            wide->values[turns->body->parameters[i]] = wide_value_of_slots(wide, turns->parameters[i], wide_count(wide, write_type(&wide->writer, turns->body->parameters[i])));
    write_tail(wide, turns->body, turns);
    wide_close(wide);
}

static void declare_parameters(Wide *wide, const Turns *turns, const WideValue *const *arguments)
{
    for (uint32_t i = 0; i < turns->body->parameter_count; i++) {
        if (turns->are_kept[i])
            continue;
        for (uint32_t part = 0; part < arguments[i]->count; part++)
            wide_declare_slot(wide, &turns->parameters[i][part]);
        wide_assign_slots(wide, turns->parameters[i], arguments[i]);
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
            wide_join_part(wide, &turns->parameters[i][part], from, true);
            turns->parameters[i][part].is_owned = from->vector != NULL && from->vector->is_owned;
        }
    }
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        Text *outer = wide_begin_apart(wide);
        declare_parameters(wide, turns, arguments);
        for (uint32_t i = 0; i < results && turns->has_results; i++)
            wide_declare_slot(wide, &turns->results[i]);
        turns->is_settled = true;
        write_turns(wide, turns);
        if (turns->is_settled) {
            wide_add_apart(wide, outer, wide->writer.out);
            wide->values[statement->target] = wide_value_of_slots(wide, turns->results, results);
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
    case CORE_IF: wide_write_if(wide, statement); return;
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

bool wide_is_shared(const Wide *wide, uint32_t parameter)
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
        wide_line(wide, "%s = kernel_wide_bytes(region, mark, %s, %s, %u, %s);", wide_cells_type(true, (ScalarType)elements->leaves[i].type, vector.columns[i], wide),
                  words[VECTOR_ARRAY], words[VECTOR_START], i, words[VECTOR_LENGTH]);
        wide_give_up_if(wide, "%s == NULL", vector.columns[i]);
    }
    return wide_vector(wide, vector)->parts[0];
}

/* A vector that each point has another of: pointers to its cells, in columns none of which is one cell for all. */
static WidePart write_own_vector(Wide *wide, const Layout *elements, const char **words)
{
    WideVector vector = {.kind = WIDE_GIVEN, .element = elements->type, .length = words[VECTOR_LENGTH]};
    if (!wide_is_flat(elements))
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

bool wide_is_length(const Layout *leaves, uint32_t leaf)
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
            bool is_one = wide_is_shared(wide, i) || wide_is_length(leaves, leaf);
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
    if (!wide_is_flat(results))
        wide_refuse(wide);
    wide_give_up_if(wide, "!kernel_may_enter(depth, scalars)");
    wide_line(wide, "const KernelMark mark = kernel_mark(region);");
    write_global_words(wide, body, 0);
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(&wide->writer, write_type(&wide->writer, body->parameters[i]));
        const char **words = wide->writer.texts->values[body->parameters[i]];
        wide->values[body->parameters[i]] = wide_is_shared(wide, i) ? value_of_words(wide, leaves->type, words) : write_own_parameter(wide, leaves, words);
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
        if (lane->is_stored && !lane->is_given && !lane->is_placed)
            text_addf(out, "    %s %s%s[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;\n", wide_array_type(lane), lane->word,
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
