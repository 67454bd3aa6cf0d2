/* What is known when a wide version is written: scalars that are made of constants, and so the turns of loops that count from one constant to another. */
#include "kernel/function_wide.h"

#include "kernel/op_text.h"
#include "math/scalar.h"

enum { UNROLLED_MAX = 2048 }; /* statements of all turns of a loop that is written turn by turn */

/* ---- scalars ---- */

const WideValue *wide_known(Wide *wide, ScalarType type, Scalar value)
{
    Text text;
    text_init(&text, wide->writer.out->memory);
    constant_text(&text, type, value);
    WidePart part = wide_same(type, arena_text(wide->writer.arena, text_string(&text), text.length));
    text_free(&text);
    Scalar *known = ARENA_NEW(wide->writer.arena, Scalar);
    *known = value;
    part.known = known;
    return wide_value(wide, &part, 1);
}

/* Of a scalar; null if it is not known. */
static const Scalar *known_atom(Wide *wide, const CoreAtom *atom)
{
    if (!type_is_scalar(wide->writer.program->types, atom->type))
        return NULL;
    return wide_atom(wide, atom)->parts[0].known;
}

const CoreBlock *wide_known_side(Wide *wide, const CoreStatement *statement)
{
    const Scalar *condition = known_atom(wide, &statement->arguments[0]);
    return condition == NULL ? NULL : statement->blocks[condition->integer != 0 ? 0 : 1];
}

/* The statement that makes a top-level vector of its elements; null if there is none. */
static const CoreStatement *find_literal(const CoreProgram *program, CoreVar global)
{
    for (uint32_t i = 0; i < program->items.count; i++) {
        const CoreItem *item = &program->items.items[i];
        if (item->block == NULL || item->global != global || item->block->statement_count != 1 || !write_is_last(item->block, 0))
            continue;
        const CoreStatement *statement = &item->block->statements[0];
        return statement->kind == CORE_MAKE ? statement : NULL;
    }
    return NULL;
}

/* An element of a top-level vector that is written down. */
static bool fold_element(Wide *wide, const CoreStatement *statement, ScalarType target)
{
    const CoreProgram *program = wide->writer.program;
    const CoreAtom *vector = &statement->arguments[0];
    const Scalar *index = known_atom(wide, &statement->arguments[1]);
    if (index == NULL || vector->is_constant || !program->variables.items[vector->variable].is_global)
        return false;
    const CoreStatement *literal = find_literal(program, vector->variable);
    if (literal == NULL || (uint64_t)index->integer >= literal->argument_count || !literal->arguments[index->integer].is_constant)
        return false;
    wide->values[statement->target] = wide_known(wide, target, literal->arguments[index->integer].constant);
    return true;
}

bool wide_fold(Wide *wide, const CoreStatement *statement)
{
    enum { ARGUMENTS_MAX = 3 };
    const Types *types = wide->writer.program->types;
    TypeId type = write_type(&wide->writer, statement->target);
    Scalar arguments[ARGUMENTS_MAX], value;
    if (!type_is_scalar(types, type) || statement->argument_count == 0 || statement->argument_count > ARGUMENTS_MAX)
        return false;
    if (statement->op == OP_ELEMENT || statement->op == OP_INSIDE)
        return fold_element(wide, statement, type_scalar(types, type));
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const Scalar *known = known_atom(wide, &statement->arguments[i]);
        if (known == NULL)
            return false;
        arguments[i] = *known;
    }
    if (!scalar_apply(statement->op, type_scalar(types, statement->arguments[0].type), type_scalar(types, type), arguments, &value))
        return false;
    wide->values[statement->target] = wide_known(wide, type_scalar(types, type), value);
    return true;
}

/* ---- loops ---- */

/* A loop that is followed turn by turn. */
typedef struct Path {
    const CoreBlock *body;
    CoreFunctionId function;
    bool is_written;    /* or only looked at */
    uint32_t left;      /* statements that may still come */
} Path;

static bool follow_statements(Wide *wide, const CoreBlock *block, uint32_t count, Path *path);

/* What a statement gives, as far as that is known without writing it. */
static bool look_at(Wide *wide, const CoreStatement *statement, Path *path)
{
    const CoreBlock *side = statement->kind == CORE_IF ? wide_known_side(wide, statement) : NULL;
    if (path->left-- == 0)
        return false;
    if (side != NULL) {
        if (!follow_statements(wide, side, side->statement_count, path))
            return false;
        wide->values[statement->target] = wide_atom(wide, &side->result);
        return true;
    }
    for (uint32_t i = 0; i < 2; i++)
        if (statement->blocks[i] != NULL && statement->blocks[i]->statement_count > path->left)
            return false;
    if (wide_write_name(wide, statement) || (statement->kind == CORE_OP && wide_fold(wide, statement)))
        return true;
    uint32_t parts = wide_count(wide, write_type(&wide->writer, statement->target));
    wide->values[statement->target] = wide_value(wide, ARENA_ARRAY(wide->writer.arena, WidePart, parts), parts);
    return true;
}

static bool follow_statements(Wide *wide, const CoreBlock *block, uint32_t count, Path *path)
{
    CoreBlock before = *block;
    before.statement_count = count;
    if (path->is_written)
        wide_write_statements(wide, &before);
    for (uint32_t i = 0; i < count && !path->is_written; i++)
        if (!look_at(wide, &block->statements[i], path))
            return false;
    return true;
}

/* What the next turn begins with. */
static void take_turn(Wide *wide, const CoreStatement *call, const Path *path)
{
    const WideValue **values = ARENA_ARRAY(wide->writer.arena, const WideValue *, call->argument_count);
    for (uint32_t i = 0; i < call->argument_count; i++) {
        values[i] = wide_passed(wide, call, i);
        if (path->is_written)
            values[i] = wide_made(wide, values[i]);
    }
    for (uint32_t i = 0; i < call->argument_count; i++)
        wide->values[path->body->parameters[i]] = values[i];
}

/* One turn. False where the way is not known; `end` is the block that the loop ends in, or null if it goes on. */
static bool follow_turn(Wide *wide, Path *path, const CoreBlock **end)
{
    for (const CoreBlock *block = path->body;;) {
        uint32_t count = block->statement_count;
        const CoreStatement *last = count > 0 && write_is_last(block, count - 1) ? &block->statements[count - 1] : NULL;
        bool is_turn = last != NULL && last->kind == CORE_CALL && last->function == path->function;
        bool is_choice = last != NULL && last->kind == CORE_IF && write_has_turn(block, path->function);
        if (shape_gives_up(block) || !follow_statements(wide, block, count - (is_turn || is_choice), path))
            return false;
        *end = is_turn ? NULL : block;
        if (is_turn)
            take_turn(wide, last, path);
        if (!is_choice)
            return true;
        block = wide_known_side(wide, last);
        if (block == NULL)
            return false;
    }
}

/* The block that the loop ends in; null if the way there is not known, or is long. */
static const CoreBlock *follow(Wide *wide, Path *path, const WideValue *const *arguments)
{
    const CoreBlock *end = NULL;
    for (uint32_t i = 0; i < path->body->parameter_count; i++)
        wide->values[path->body->parameters[i]] = arguments[i];
    while (end == NULL) {
        bool is_long = !path->is_written && path->left-- == 0;
        if (is_long || !follow_turn(wide, path, &end))
            return NULL;
    }
    return end;
}

bool wide_write_unrolled(Wide *wide, const CoreStatement *statement, const WideValue *const *arguments)
{
    Path path = {.body = wide->writer.program->functions.items[statement->function]->body, .function = statement->function, .left = UNROLLED_MAX};
    if (follow(wide, &path, arguments) == NULL)
        return false;
    const WideValue **made = ARENA_ARRAY(wide->writer.arena, const WideValue *, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        made[i] = wide_made(wide, arguments[i]);
    path.is_written = true;
    const CoreBlock *end = follow(wide, &path, made);
    if (end == NULL)
        wide_refuse(wide);
    wide->values[statement->target] = wide_atom(wide, &end->result);
    return true;
}
