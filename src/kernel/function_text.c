#include "kernel/function_text.h"

#include "kernel/function_join.h"
#include "kernel/function_shape.h"
#include "kernel/function_write.h"
#include "kernel/op_text.h"
#include "kernel/preamble/call.h"

enum {
    STATEMENTS_MAX = 3000, /* of a function with all that it calls: C compilers take their time */
    LEAVES_MAX = 1000,     /* of a variable */
};

typedef enum Verdict { VERDICT_UNKNOWN, VERDICT_YES, VERDICT_NO } Verdict;

FunctionTexts *function_texts_new(Arena *arena, const CoreProgram *program, Layouts *layouts, uint32_t first_global)
{
    FunctionTexts *texts = ARENA_NEW(arena, FunctionTexts);
    *texts = (FunctionTexts){.arena = arena, .program = program, .layouts = layouts, .next_global = first_global};
    texts->is_listed = ARENA_ARRAY(arena, bool, program->functions.count);
    texts->has_entry = ARENA_ARRAY(arena, bool, program->functions.count);
    texts->is_alone = ARENA_ARRAY(arena, bool, program->functions.count);
    texts->is_together = ARENA_ARRAY(arena, bool, program->functions.count);
    texts->group_counts = ARENA_ARRAY(arena, uint32_t, program->functions.count);
    texts->is_wide = ARENA_ARRAY(arena, bool, program->functions.count);
    texts->is_complete = ARENA_ARRAY(arena, bool, program->functions.count);
    texts->is_shared = ARENA_ARRAY(arena, bool, program->functions.count);
    texts->values = ARENA_ARRAY(arena, const char **, program->variables.count);
    texts->shapes = ARENA_ARRAY(arena, VariableShape, program->variables.count);
    for (uint32_t i = 0; i < program->functions.count; i++)
        *vec_push(arena, &texts->verdicts) = *vec_push(arena, &texts->vector_verdicts) = VERDICT_UNKNOWN;
    return texts;
}

/* ---- which there is C for ---- */

/* A function being looked at, and all that it calls. */
typedef struct Walk {
    FunctionTexts *texts;
    VEC(CoreFunctionId) functions;
    bool *is_seen;
    uint32_t statements;
} Walk;

static void walk_to(Walk *walk, CoreFunctionId function)
{
    if (walk->is_seen[function])
        return;
    walk->is_seen[function] = true;
    *vec_push(walk->texts->arena, &walk->functions) = function;
}

static bool accepts_type(const Walk *walk, TypeId type)
{
    const Layout *layout = layout_of(walk->texts->layouts, type);
    return layout != NULL && layout->count <= LEAVES_MAX;
}

static bool accepts_op(const Walk *walk, const CoreStatement *statement)
{
    const CoreProgram *program = walk->texts->program;
    if (function_write_is_of_vectors(statement->op))
        return true;
    TypeId type = program->variables.items[statement->target].type;
    if (!type_is_scalar(program->types, type) || (statement->argument_count > 0 && !type_is_scalar(program->types, statement->arguments[0].type)))
        return false;
    ScalarType target = type_scalar(program->types, type);
    ScalarType operand = statement->argument_count == 0 ? target : type_scalar(program->types, statement->arguments[0].type);
    return op_text_exists(statement->op, operand, target);
}

static bool accepts_block(Walk *walk, const CoreBlock *block);

static bool accepts_statement(Walk *walk, const CoreStatement *statement)
{
    const CoreProgram *program = walk->texts->program;
    if (++walk->statements > STATEMENTS_MAX || !accepts_type(walk, program->variables.items[statement->target].type))
        return false;
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP:
        return true;
    case CORE_OP:
        return accepts_op(walk, statement);
    case CORE_CALL:
        walk_to(walk, statement->function);
        return program->functions.items[statement->function] != NULL;
    case CORE_IF:
        return accepts_block(walk, statement->blocks[0]) && accepts_block(walk, statement->blocks[1]);
    case CORE_MAKE:
    case CORE_TEXT:
    case CORE_EACH:
    case CORE_GUARD:
    case CORE_GROUP:
        break;
    }
    return false;
}

static bool accepts_block(Walk *walk, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        if (!accepts_type(walk, walk->texts->program->variables.items[block->parameters[i]].type))
            return false;
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (!accepts_statement(walk, &block->statements[i]))
            return false;
    return true;
}

static Verdict judge(FunctionTexts *texts, CoreFunctionId function)
{
    Walk walk = {.texts = texts, .is_seen = ARENA_ARRAY(texts->arena, bool, texts->program->functions.count)};
    walk_to(&walk, function);
    for (uint32_t i = 0; i < walk.functions.count; i++) {
        CoreFunctionId next = walk.functions.items[i];
        if (texts->verdicts.items[next] == VERDICT_NO || !accepts_block(&walk, texts->program->functions.items[next]->body))
            return VERDICT_NO;
    }
    return VERDICT_YES;
}

bool function_text_accepts(FunctionTexts *texts, CoreFunctionId function)
{
    uint8_t *verdict = &texts->verdicts.items[function];
    if (*verdict == VERDICT_UNKNOWN)
        *verdict = (uint8_t)judge(texts, function);
    return *verdict == VERDICT_YES;
}

/* ---- functions that make vectors ---- */

static bool fits(const Walk *walk, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        if (!accepts_type(walk, walk->texts->program->variables.items[block->parameters[i]].type))
            return false;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (!accepts_type(walk, walk->texts->program->variables.items[statement->target].type))
            return false;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && !fits(walk, statement->blocks[b]))
                return false;
    }
    return true;
}

const CoreBlock *function_text_body(const FunctionTexts *texts, CoreFunctionId function)
{
    const CoreFunction *of = texts->program->functions.items[function];
    return texts->is_alone[function] ? of->alone : of->body;
}

/* The body for a single point is taken if that can be written. */
static bool is_possible(const Walk *walk, CoreFunctionId function, Writer *trial)
{
    FunctionTexts *texts = walk->texts;
    const CoreFunction *of = texts->program->functions.items[function];
    if (of == NULL)
        return false;
    texts->is_alone[function] = of->alone != NULL && fits(walk, of->alone);
    if (texts->is_alone[function] && function_write_is_possible(texts, function, trial))
        return true;
    texts->is_alone[function] = false;
    return fits(walk, of->body) && function_write_is_possible(texts, function, trial);
}

/* Whether one can be written is found by writing it. */
static Verdict judge_vectors(FunctionTexts *texts, CoreFunctionId function)
{
    Walk walk = {.texts = texts, .is_seen = ARENA_ARRAY(texts->arena, bool, texts->program->functions.count)};
    walk_to(&walk, function);
    for (uint32_t i = 0; i < walk.functions.count; i++) {
        CoreFunctionId next = walk.functions.items[i];
        Writer trial;
        if (texts->vector_verdicts.items[next] == VERDICT_YES)
            continue;
        if (texts->vector_verdicts.items[next] == VERDICT_NO || !is_possible(&walk, next, &trial))
            return VERDICT_NO;
        for (uint32_t c = 0; c < trial.callees.count; c++)
            walk_to(&walk, trial.callees.items[c]);
    }
    for (uint32_t i = 0; i < walk.functions.count; i++)
        texts->vector_verdicts.items[walk.functions.items[i]] = VERDICT_YES;
    return VERDICT_YES;
}

bool function_text_accepts_vectors(FunctionTexts *texts, CoreFunctionId function)
{
    uint8_t *verdict = &texts->vector_verdicts.items[function];
    if (function_text_accepts(texts, function))
        return false;
    if (*verdict == VERDICT_UNKNOWN)
        *verdict = (uint8_t)judge_vectors(texts, function);
    return *verdict == VERDICT_YES;
}

const Layout *function_text_results(const FunctionTexts *texts, CoreFunctionId function)
{
    return layout_of(texts->layouts, texts->program->functions.items[function]->result_type);
}

bool function_text_has_lanes(FunctionTexts *texts, CoreFunctionId function)
{
    return function_text_accepts(texts, function) && function_lanes_accepts(texts, function);
}

bool function_text_lanes_have_in_common(const FunctionTexts *texts, CoreFunctionId function, uint32_t leaf)
{
    return function_lanes_have_in_common(texts, function, leaf);
}

uint32_t function_text_lanes_row_columns(const FunctionTexts *texts, CoreFunctionId function, uint32_t leaf)
{
    return function_lanes_row_columns(texts, function, leaf);
}

/* ---- which are needed ---- */

void function_text_need(FunctionTexts *texts, CoreFunctionId function)
{
    if (texts->is_listed[function])
        return;
    texts->is_listed[function] = true;
    *vec_push(texts->arena, &texts->functions) = function;
}

static bool can_be_entry(const FunctionTexts *texts, CoreFunctionId id)
{
    const CoreFunction *function = texts->program->functions.items[id];
    uint32_t arguments = 0;
    for (uint32_t i = 0; i < function->body->parameter_count; i++)
        arguments += layout_of(texts->layouts, texts->program->variables.items[function->body->parameters[i]].type)->count;
    return arguments <= KERNEL_ENTRY_LEAVES && function_text_results(texts, id)->count <= KERNEL_ENTRY_LEAVES;
}

bool function_text_gives_arrays(const FunctionTexts *texts, CoreFunctionId function)
{
    return shape_has_arrays(texts, texts->program->functions.items[function]->result_type);
}

bool function_text_need_entry(FunctionTexts *texts, CoreFunctionId function)
{
    if ((!function_text_accepts(texts, function) && !function_text_accepts_vectors(texts, function)) || !can_be_entry(texts, function))
        return false;
    if (texts->has_entry[function])
        return true;
    for (uint32_t i = 0; i < texts->entries.count; i++)
        if (texts->entries.items[i] == function)
            return true;
    *vec_push(texts->arena, &texts->entries) = function;
    texts->is_wide[function] = !function_text_accepts(texts, function) && function_wide_is_possible(texts, function);
    texts->is_complete[function] |= !texts->is_wide[function];
    if (texts->is_complete[function])
        function_text_need(texts, function);
    return true;
}

bool function_text_shares(FunctionTexts *texts, CoreFunctionId function)
{
    return function_text_accepts_vectors(texts, function) && can_be_entry(texts, function) && join_is_onto(texts, function);
}

bool function_text_need_complete_entry(FunctionTexts *texts, CoreFunctionId function)
{
    texts->has_entry[function] = false;
    texts->is_complete[function] = true;
    return function_text_need_entry(texts, function);
}

/* Adds it to a list of those that are needed in that way. */
#define NEED_IN(list)                                                                                                  \
    do {                                                                                                               \
        for (uint32_t i = 0; i < (list)->count; i++)                                                                   \
            if ((list)->items[i] == function)                                                                          \
                return;                                                                                                \
        function_text_need(texts, function);                                                                           \
        *vec_push(texts->arena, (list)) = function;                                                                    \
    } while (0)

void function_text_need_fold(FunctionTexts *texts, CoreFunctionId function)
{
    NEED_IN(&texts->folds);
}

void function_text_need_scan(FunctionTexts *texts, CoreFunctionId function)
{
    NEED_IN(&texts->scans);
}

static void need_global(FunctionTexts *texts, const CoreAtom *atom)
{
    if (atom->is_constant || !texts->program->variables.items[atom->variable].is_global)
        return;
    for (uint32_t i = 0; i < texts->globals.count; i++)
        if (texts->globals.items[i].variable == atom->variable)
            return;
    FunctionGlobal global = {atom->variable, texts->next_global, layout_of(texts->layouts, atom->type)->count};
    texts->next_global += global.count;
    *vec_push(texts->arena, &texts->globals) = global;
}

/* What a function calls and reads. In a wide version all that it calls is written where that is: then `inlined` marks, by function, what was looked at. */
static void need_callees(FunctionTexts *texts, const CoreBlock *block, bool *inlined)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_CALL && inlined == NULL)
            function_text_need(texts, statement->function);
        bool is_here = statement->kind == CORE_OP ? statement->function != 0 /* an operator, which is applied where the operation is */
                                                  : statement->kind == CORE_CALL && inlined != NULL && !inlined[statement->function];
        if (is_here && inlined != NULL)
            inlined[statement->function] = true;
        if (is_here)
            need_callees(texts, texts->program->functions.items[statement->function]->body, inlined);
        for (uint32_t a = 0; a < statement->argument_count; a++)
            need_global(texts, &statement->arguments[a]);
        for (uint32_t a = 0; a < statement->captured_count; a++)
            need_global(texts, &statement->captured[a]);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                need_callees(texts, statement->blocks[b], inlined);
    }
    need_global(texts, &block->result);
}

/* Whether each point has vectors of its own. */
static bool takes_own_vectors(const FunctionTexts *texts, CoreFunctionId id)
{
    const CoreFunction *function = texts->program->functions.items[id];
    for (uint32_t i = function->shared_count; i < function->body->parameter_count; i++)
        if (shape_has_arrays(texts, texts->program->variables.items[function->body->parameters[i]].type))
            return true;
    return false;
}

/* Points that are given scalars only are all alike, and fill larger blocks; what they have in common is then computed less often, and more of them are brought together where few go another way. */
uint32_t function_texts_wide(const FunctionTexts *texts)
{
    enum { WIDER = 2 * KERNEL_WIDE };
    uint32_t wide = WIDER;
    for (uint32_t i = 0; i < texts->entries.count; i++)
        if (texts->is_wide[texts->entries.items[i]] && takes_own_vectors(texts, texts->entries.items[i]))
            wide = KERNEL_WIDE;
    return wide;
}

void function_texts_write(FunctionTexts *texts, const Sources *sources, Text *out, ClassSet *types, bool *with_math)
{
    for (uint32_t i = 0; i < texts->functions.count; i++)
        need_callees(texts, function_text_body(texts, texts->functions.items[i]), NULL);
    for (uint32_t i = 0; i < texts->entries.count; i++)
        if (texts->is_wide[texts->entries.items[i]])
            need_callees(texts, texts->program->functions.items[texts->entries.items[i]]->body, ARENA_ARRAY(texts->arena, bool, texts->program->functions.count));
    for (uint32_t i = 0; i < texts->functions.count; i++)
        function_write_prototype(texts, texts->functions.items[i], out);
    for (uint32_t i = 0; i < texts->functions.count; i++)
        if (forks_can_be_shared(texts, texts->functions.items[i]))
            forks_write_task(texts, texts->functions.items[i], out);
    for (uint32_t i = 0; i < texts->functions.count; i++) {
        function_write(texts, texts->functions.items[i], sources, out, types, with_math);
        if (function_text_has_lanes(texts, texts->functions.items[i]))
            function_lanes_write(texts, texts->functions.items[i], out, types, with_math);
    }
}

uint32_t function_texts_external_count(const FunctionTexts *texts)
{
    return texts->entries.count + texts->folds.count + texts->scans.count;
}

void function_texts_write_external(FunctionTexts *texts, uint32_t index, const Sources *sources, Text *out, ClassSet *types, bool *with_math)
{
    if (index >= texts->entries.count) {
        uint32_t fold = index - texts->entries.count;
        if (fold < texts->folds.count)
            function_write_fold(texts, texts->folds.items[fold], out, types, with_math);
        else
            function_write_scan(texts, texts->scans.items[fold - texts->folds.count], out, types, with_math);
        return;
    }
    CoreFunctionId entry = texts->entries.items[index];
    if (texts->is_wide[entry]) {
        function_wide_write(texts, entry, sources, out, types, with_math);
        function_wide_write_entry(texts, entry, out);
    } else
        function_write_entry(texts, entry, out);
}
