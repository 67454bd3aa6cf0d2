/* Functions at many points at once.
 *
 * A loop that each point leaves when it likes does not vectorise. Here it is done for KERNEL_LANES points together, turn by turn: both sides of every `if` are computed for all
 * lanes, and masks say which lanes take the next values from where. A lane that has left keeps its values, and so would leave in every turn that follows. Where all have
 * left, or others have waited for them for too long, their results are computed, and they take the next points (a change). Compilers make vectors of the loop over lanes. Where few are going and no point waits, these are
 * done one by one.
 * That is right for functions whose operations are total and cheap, and pays for those on floats; others keep to one point at a time. Elements may be taken from vectors that all
 * lanes have in common, in all turns: a lane that is not here takes whatever is there, and one that is and wants what is not there ends the whole. Where such a vector is given as rows
 * too (preamble/rows.h), a turn is several loops: one for each element that is taken, which finds where it is and computes again what that needs, and the one that does the rest. */
#include "kernel/function_write.h"

#include "kernel/c_text.h"
#include "kernel/function_vectors.h"
#include "kernel/op_text.h"
#include "kernel/preamble/rows.h"

#include <string.h>

enum { ROW_COLUMNS_LEAST = 3 }; /* that are used of a vector whose elements are taken as rows */

/* ---- which ---- */

/* What is done in vectors of 64-bit lanes. */
static bool is_lane_type(LeafType type)
{
    return type == (LeafType)SCALAR_F64 || type == (LeafType)SCALAR_I64 || type == (LeafType)SCALAR_U64;
}

static bool is_logical(Op op)
{
    return op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_NAND || op == OP_NOR || op == OP_NOT;
}

static bool is_comparison(Op op)
{
    return op == OP_EQUAL || op == OP_NOT_EQUAL || op == OP_LESS || op == OP_LESS_EQUAL || op == OP_GREATER || op == OP_GREATER_EQUAL;
}

static bool is_arithmetic(Op op, ScalarType type)
{
    switch ((int)op) {
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
    case OP_NEGATE:
    case OP_ABSOLUTE:
    case OP_MINIMUM:
    case OP_MAXIMUM:
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
    case OP_TO_F64:
    case OP_TO_I64:
    case OP_TO_U64:
    case OP_CONVERT: return true;
    case OP_DIVIDE:
    case OP_SQRT: return scalar_kind(type) == KIND_FLOATING;
    default: return is_logical(op);
    }
}

/* A function being looked at. */
typedef struct Look {
    const FunctionTexts *texts;
    CoreFunctionId function;
    uint32_t float_ops;
} Look;

/* All leaves are numbers in lanes or, inside, truths, which are masks there. */
static bool has_lane_leaves(const Look *look, TypeId type, bool may_be_truth)
{
    const Layout *layout = layout_of(look->texts->layouts, type);
    for (uint32_t i = 0; i < layout->count; i++)
        if (!is_lane_type(layout->leaves[i].type) && !(may_be_truth && layout->leaves[i].type == (LeafType)SCALAR_BOOL))
            return false;
    return true;
}

/* A vector that all lanes have in common, with elements that are numbers in lanes. */
static bool is_common_vector(const Look *look, CoreVar variable)
{
    const CoreProgram *program = look->texts->program;
    TypeId type = program->variables.items[variable].type;
    return type_is_vector(program->types, type) && has_lane_leaves(look, type_element(program->types, type), false) &&
           write_is_kept(program, look->function, variable);
}

static bool is_of_elements(Op op)
{
    return op == OP_ELEMENT || op == OP_INSIDE || op == OP_LENGTH;
}

static bool accepts_op(Look *look, const CoreStatement *statement)
{
    const CoreProgram *program = look->texts->program;
    if (is_of_elements(statement->op))
        return true;
    if (function_write_is_of_vectors(statement->op) || statement->argument_count == 0)
        return false;
    ScalarType target = type_scalar(program->types, program->variables.items[statement->target].type);
    ScalarType operand = type_scalar(program->types, statement->arguments[0].type);
    if (operand == SCALAR_BOOL)
        return is_logical(statement->op);
    look->float_ops += scalar_kind(operand) == KIND_FLOATING;
    if (target == SCALAR_BOOL)
        return is_comparison(statement->op);
    return is_arithmetic(statement->op, operand) && !op_text_can_fail(statement->op, operand, target);
}

static bool accepts_block(Look *look, const CoreBlock *block, bool is_tail);

/* Truths that others know, as globals, are no masks; nor are constants that become part of a tuple. */
static bool accepts_atom(const Look *look, const CoreStatement *statement, const CoreAtom *atom)
{
    bool is_global = !atom->is_constant && look->texts->program->variables.items[atom->variable].is_global;
    bool is_part = atom->is_constant && statement->kind == CORE_PAIR;
    bool may_be_vector = statement->kind == CORE_CALL || (statement->kind == CORE_OP && is_of_elements(statement->op));
    if (may_be_vector && !atom->is_constant && is_common_vector(look, atom->variable))
        return true;
    return has_lane_leaves(look, atom->type, !is_global && !is_part);
}

static bool accepts_statement(Look *look, const CoreStatement *statement, bool is_end)
{
    if (!has_lane_leaves(look, look->texts->program->variables.items[statement->target].type, true))
        return false;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        if (!accepts_atom(look, statement, &statement->arguments[i]))
            return false;
    switch ((int)statement->kind) {
    case CORE_COPY:
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP: return true;
    case CORE_OP: return accepts_op(look, statement);
    case CORE_CALL: return is_end && statement->function == look->function;
    case CORE_IF: return accepts_block(look, statement->blocks[0], is_end) && accepts_block(look, statement->blocks[1], is_end);
    default: return false;
    }
}

static bool accepts_block(Look *look, const CoreBlock *block, bool is_tail)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (!accepts_statement(look, &block->statements[i], is_tail && write_is_last(block, i)))
            return false;
    bool is_global = !block->result.is_constant && look->texts->program->variables.items[block->result.variable].is_global;
    return has_lane_leaves(look, block->result.type, !is_global);
}

bool function_lanes_accepts(const FunctionTexts *texts, CoreFunctionId function)
{
    const CoreBlock *body = texts->program->functions.items[function]->body;
    Look look = {.texts = texts, .function = function};
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (!has_lane_leaves(&look, texts->program->variables.items[body->parameters[i]].type, false) && !is_common_vector(&look, body->parameters[i]))
            return false;
    return has_lane_leaves(&look, body->result.type, false) && write_has_turn(body, function) && accepts_block(&look, body, true) &&
           look.float_ops > 0;
}

bool function_lanes_have_in_common(const FunctionTexts *texts, CoreFunctionId function, uint32_t leaf)
{
    const CoreBlock *body = texts->program->functions.items[function]->body;
    for (uint32_t i = 0; i < body->parameter_count; i++) {
        TypeId type = texts->program->variables.items[body->parameters[i]].type;
        uint32_t leaves = layout_of(texts->layouts, type)->count;
        if (leaf < leaves)
            return type_is_vector(texts->program->types, type);
        leaf -= leaves;
    }
    return false;
}

static bool takes_elements(const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (shape_takes_element(statement))
            return true;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && takes_elements(statement->blocks[b]))
                return true;
    }
    return false;
}

/* An element, or a part of it: which of its leaves are used, from `first` on. */
static void mark_used(const FunctionTexts *texts, const CoreBlock *block, CoreVar part, uint32_t first, bool *is_used);

static void mark_all(const FunctionTexts *texts, CoreVar part, uint32_t first, bool *is_used)
{
    uint32_t count = layout_of(texts->layouts, texts->program->variables.items[part].type)->count;
    for (uint32_t i = 0; i < count; i++)
        is_used[first + i] = true;
}

static void mark_used_by(const FunctionTexts *texts, const CoreBlock *body, const CoreStatement *statement, CoreVar part, uint32_t first, bool *is_used)
{
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const CoreAtom *atom = &statement->arguments[i];
        if (atom->is_constant || atom->variable != part)
            continue;
        if (statement->kind != CORE_PROJECT) {
            mark_all(texts, part, first, is_used);
            continue;
        }
        uint32_t count = layout_of(texts->layouts, texts->program->variables.items[statement->target].type)->count;
        uint32_t behind = statement->component == 0 ? 0 : layout_of(texts->layouts, atom->type)->count - count;
        if (count == 1)
            is_used[first + behind] = true;
        else
            mark_used(texts, body, statement->target, first + behind, is_used);
    }
}

static void mark_used(const FunctionTexts *texts, const CoreBlock *block, CoreVar part, uint32_t first, bool *is_used)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        mark_used_by(texts, block, statement, part, first, is_used);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                mark_used(texts, statement->blocks[b], part, first, is_used);
    }
    if (!block->result.is_constant && block->result.variable == part)
        mark_all(texts, part, first, is_used);
}

static void mark_elements(const FunctionTexts *texts, const CoreBlock *block, CoreVar vector, bool *is_used)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (shape_takes_element(statement) && statement->arguments[0].variable == vector)
            mark_used(texts, block, statement->target, 0, is_used);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                mark_elements(texts, statement->blocks[b], vector, is_used);
    }
}

/* Of a parameter that is a vector whose elements are wanted as rows: their numbers; else 0. Few columns are as well where they are. */
static uint32_t row_columns(const FunctionTexts *texts, const CoreBlock *body, CoreVar parameter)
{
    TypeId type = texts->program->variables.items[parameter].type;
    if (!type_is_vector(texts->program->types, type))
        return 0;
    uint32_t columns = layout_of(texts->layouts, type_element(texts->program->types, type))->count, used = 0;
    bool is_used[KERNEL_ROW_COLUMNS] = {false};
    if (columns > KERNEL_ROW_COLUMNS)
        return 0;
    mark_elements(texts, body, parameter, is_used);
    for (uint32_t i = 0; i < columns; i++)
        used += is_used[i];
    return used >= ROW_COLUMNS_LEAST ? columns : 0;
}

uint32_t function_lanes_row_columns(const FunctionTexts *texts, CoreFunctionId function, uint32_t leaf)
{
    const CoreBlock *body = texts->program->functions.items[function]->body;
    for (uint32_t i = 0, first = 0; i < body->parameter_count && first <= leaf; i++) {
        if (first == leaf)
            return row_columns(texts, body, body->parameters[i]);
        first += layout_of(texts->layouts, texts->program->variables.items[body->parameters[i]].type)->count;
    }
    return 0;
}

/* ---- operations: truths are masks, all ones or zeros ---- */

static const char *lane_type(LeafType type)
{
    return type == (LeafType)SCALAR_BOOL ? "int64_t" : c_type((ScalarType)type);
}

static bool is_truth(const Writer *writer, TypeId type)
{
    return type_is_scalar(writer->program->types, type) && type_scalar(writer->program->types, type) == SCALAR_BOOL;
}

static const char *mask_of(Writer *writer, const CoreAtom *atom)
{
    if (atom->is_constant)
        return atom->constant.bits != 0 ? "INT64_C(-1)" : "INT64_C(0)";
    return write_atom(writer, atom)[0];
}

/* The leaves of any atom. */
static const char **lane_atom(Writer *writer, const CoreAtom *atom)
{
    if (!atom->is_constant || !is_truth(writer, atom->type))
        return write_atom(writer, atom);
    const char **words = ARENA_ARRAY(writer->arena, const char *, 1);
    words[0] = mask_of(writer, atom);
    return words;
}

static void write_logical(Writer *writer, const CoreStatement *statement)
{
    static const char *const symbols[OP_COUNT] = {[OP_AND] = "&", [OP_NAND] = "&", [OP_OR] = "|", [OP_NOR] = "|", [OP_XOR] = "^"};
    const char *first = mask_of(writer, &statement->arguments[0]);
    const char *target = write_new_words(writer, statement->target)[0];
    if (statement->op == OP_NOT) {
        write_line(writer, "const int64_t %s = ~%s;", target, first);
        return;
    }
    bool is_negated = statement->op == OP_NAND || statement->op == OP_NOR;
    write_line(writer, "const int64_t %s = %s(%s %s %s);", target, is_negated ? "~" : "", first, symbols[statement->op],
               mask_of(writer, &statement->arguments[1]));
}

static void write_comparison(Writer *writer, const CoreStatement *statement)
{
    const char *arguments[] = {write_atom(writer, &statement->arguments[0])[0], write_atom(writer, &statement->arguments[1])[0]};
    Text text;
    text_init(&text, writer->out->memory);
    op_text(&text, statement->op, type_scalar(writer->program->types, statement->arguments[0].type), SCALAR_BOOL, arguments, "");
    write_line(writer, "const int64_t %s = %s ? -1 : 0;", write_new_words(writer, statement->target)[0], text_string(&text));
    text_free(&text);
}

/* How the elements of a vector are taken from rows, at places that another loop over lanes finds. */
typedef struct RowPass {
    const char *text;     /* what that loop does up to there, */
    const char *place;    /* ... and where the element is */
    CoreVar vector;
    const Layout *elements;
    const char **columns; /* the names of arrays for them */
} RowPass;

/* What lanes do in a turn, or at the end. */
typedef struct LaneState {
    bool is_end;
    uint32_t parameter_count, result_count;
    bool *are_common;        /* by leaf of the parameters: all lanes have it in common, */
    const char **points;     /* ... the values of all points, or that, */
    const char **arrays;     /* ... those of lanes, or that, */
    const char **parameters; /* ... that of a lane in this turn, */
    const char **nexts;      /* ... and a variable for that in the next, */
    bool *are_changed;       /* ... if it differs */
    bool has_rows;           /* elements are taken from rows, where these are wanted: */
    VEC(RowPass) passes;     /* for each of them what comes before */
} LaneState;

static const char *rows_word(const Writer *writer, CoreVar vector)
{
    return arena_format(writer->arena, "rows_%s", writer->texts->values[vector][VECTOR_ARRAY]);
}

/* The element of a lane, as another loop has taken it from its row. */
static void write_row_element(Writer *writer, const CoreStatement *statement, const char *here, LaneState *state)
{
    const char **vector = write_atom(writer, &statement->arguments[0]), *index = write_atom(writer, &statement->arguments[1])[0];
    RowPass pass = {.text = arena_format(writer->arena, "%s", text_string(writer->out)),
                    .place = arena_format(writer->arena, "kernel_lane_index(%s, 0, %s, %s, &missing)", index, vector[VECTOR_LENGTH], here == NULL ? "-1" : here),
                    .vector = statement->arguments[0].variable,
                    .elements = write_layout(writer, write_type(writer, statement->target))};
    const char **targets = write_new_words(writer, statement->target);
    pass.columns = ARENA_ARRAY(writer->arena, const char *, pass.elements->count);
    for (uint32_t i = 0; i < pass.elements->count; i++) {
        pass.columns[i] = arena_format(writer->arena, "column_%s", targets[i]);
        write_line(writer, "const %s %s = %s[lane];", lane_type(pass.elements->leaves[i].type), targets[i], pass.columns[i]);
    }
    *vec_push(writer->arena, &state->passes) = pass;
}

/* `here` are the lanes that want the element: all if that is null. */
static void write_element(Writer *writer, const CoreStatement *statement, const char *here, LaneState *state)
{
    const CoreBlock *body = writer->program->functions.items[writer->function]->body;
    if (state->has_rows && row_columns(writer->texts, body, statement->arguments[0].variable) > 0) {
        write_row_element(writer, statement, here, state);
        return;
    }
    const char **vector = write_atom(writer, &statement->arguments[0]), *index = write_atom(writer, &statement->arguments[1])[0];
    const Layout *elements = write_layout(writer, write_type(writer, statement->target));
    const char **targets = write_new_words(writer, statement->target), *place = write_word(writer, 0);
    write_line(writer, "const int64_t %s = kernel_lane_index(%s, %s, %s, %s, &missing);", place, index, vector[VECTOR_START], vector[VECTOR_LENGTH],
               here == NULL ? "-1" : here);
    for (uint32_t i = 0; i < elements->count; i++) {
        LeafType type = elements->leaves[i].type;
        const char *stride, *cells = vectors_cells(writer, vector[VECTOR_ARRAY], i, type, &stride);
        write_line(writer, "const %s %s = %s[%s & -%s];", lane_type(type), targets[i], cells, place, stride); /* 0 or 1 */
    }
}

static void write_op(Writer *writer, const CoreStatement *statement, const char *here, LaneState *state)
{
    if (statement->op == OP_LENGTH)
        writer->texts->values[statement->target] = write_atom(writer, &statement->arguments[0]) + VECTOR_LENGTH;
    else if (is_of_elements(statement->op))
        write_element(writer, statement, here, state);
    else if (is_truth(writer, statement->arguments[0].type))
        write_logical(writer, statement);
    else if (is_truth(writer, write_type(writer, statement->target)))
        write_comparison(writer, statement);
    else
        write_scalar_op(writer, statement);
}

/* ---- blocks ---- */

static const char **write_value(Writer *writer, const CoreBlock *block, const char *here, LaneState *state);

/* The lanes that take one side of an `if`, of those that are here: all if that is null. */
static const char *masked(Writer *writer, const char *here, const char *mask, bool side)
{
    if (here == NULL && side)
        return mask;
    const char *target = write_word(writer, 0);
    write_line(writer, "const int64_t %s = %s%s%s%s;", target, here == NULL ? "" : here, here == NULL ? "" : " & ", side ? "" : "~", mask);
    return target;
}

/* `here ? value : otherwise` */
static const char *chosen(const Writer *writer, const char *here, const char *value, const char *otherwise)
{
    return here == NULL ? value : arena_format(writer->arena, "%s ? %s : %s", here, value, otherwise);
}

/* Both values, and a choice. */
static void write_choice(Writer *writer, const CoreStatement *statement, const char *here, LaneState *state)
{
    const char *mask = mask_of(writer, &statement->arguments[0]);
    const char **yes = write_value(writer, statement->blocks[0], masked(writer, here, mask, true), state);
    const char **no = write_value(writer, statement->blocks[1], masked(writer, here, mask, false), state);
    const Layout *leaves = write_layout(writer, write_type(writer, statement->target));
    const char **targets = write_new_words(writer, statement->target);
    for (uint32_t i = 0; i < leaves->count; i++)
        write_line(writer, "const %s %s = %s ? %s : %s;", lane_type(leaves->leaves[i].type), targets[i], mask, yes[i], no[i]);
}

static void write_statement(Writer *writer, const CoreStatement *statement, const char *here, LaneState *state)
{
    if (statement->kind == CORE_OP)
        write_op(writer, statement, here, state);
    else if (statement->kind == CORE_IF)
        write_choice(writer, statement, here, state);
    else if (statement->kind == CORE_COPY)
        writer->texts->values[statement->target] = lane_atom(writer, &statement->arguments[0]);
    else
        write_alias(writer, statement);
}

static const char **write_value(Writer *writer, const CoreBlock *block, const char *here, LaneState *state)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        write_statement(writer, &block->statements[i], here, state);
    return lane_atom(writer, &block->result);
}

static void write_next(Writer *writer, const CoreStatement *call, const char *here, const LaneState *state)
{
    uint32_t count;
    const char **sources = write_arguments(writer, call, &count);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sources[i], state->parameters[i]) != 0) {
            write_line(writer, "%s = %s;", state->nexts[i], chosen(writer, here, sources[i], state->nexts[i]));
            state->are_changed[i] = true;
        }
    write_line(writer, "going -= %s;", here == NULL ? "-1" : here); /* as a mask is -1 */
}

static const char *final_word(const Writer *writer, uint32_t leaf)
{
    return arena_format(writer->arena, "final%u", leaf);
}

static void write_results(Writer *writer, const CoreBlock *block, const char *here, const LaneState *state)
{
    const char **words = write_atom(writer, &block->result);
    for (uint32_t i = 0; i < state->result_count; i++)
        write_line(writer, "%s = %s;", final_word(writer, i), chosen(writer, here, words[i], final_word(writer, i)));
    write_line(writer, "gone |= %s;", here == NULL ? "-1" : here);
}

/* Whether a block in tail position gives the value itself, on some way through it. */
static bool has_end(const CoreBlock *block)
{
    if (block->statement_count == 0 || !write_is_last(block, block->statement_count - 1))
        return true;
    const CoreStatement *last = &block->statements[block->statement_count - 1];
    return last->kind == CORE_IF ? has_end(last->blocks[0]) || has_end(last->blocks[1]) : last->kind != CORE_CALL;
}

static void write_tail(Writer *writer, const CoreBlock *block, const char *here, LaneState *state);

/* In a turn only those sides matter on which there is a next one, at the end only the others. */
static void write_tail_if(Writer *writer, const CoreStatement *statement, const char *here, LaneState *state)
{
    const char *mask = mask_of(writer, &statement->arguments[0]);
    for (uint32_t i = 0; i < 2; i++) {
        const CoreBlock *side = statement->blocks[i];
        if (state->is_end ? has_end(side) : write_has_turn(side, writer->function))
            write_tail(writer, side, masked(writer, here, mask, i == 0), state);
    }
}

/* A block whose value is that of the function, in the lanes that are here. */
static void write_tail(Writer *writer, const CoreBlock *block, const char *here, LaneState *state)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        bool is_end = write_is_last(block, i);
        if (is_end && statement->kind == CORE_CALL) {
            write_next(writer, statement, here, state);
            return;
        }
        if (is_end && statement->kind == CORE_IF) {
            write_tail_if(writer, statement, here, state);
            return;
        }
        write_statement(writer, statement, here, state);
    }
    write_results(writer, block, here, state);
}

/* ---- functions ---- */

/* The names of the arrays of arguments are those that the function at one point gives its parameters. */
static void write_header(Writer *writer, const CoreBlock *body, LaneState *state, Text *out)
{
    const Layout *results = write_layout(writer, body->result.type);
    state->result_count = results->count;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        state->parameter_count += write_layout(writer, write_type(writer, body->parameters[i]))->count;
    state->nexts = ARENA_ARRAY(writer->arena, const char *, state->parameter_count);
    state->parameters = ARENA_ARRAY(writer->arena, const char *, state->parameter_count);
    state->points = ARENA_ARRAY(writer->arena, const char *, state->parameter_count);
    state->arrays = ARENA_ARRAY(writer->arena, const char *, state->parameter_count);
    state->are_changed = ARENA_ARRAY(writer->arena, bool, state->parameter_count);
    state->are_common = ARENA_ARRAY(writer->arena, bool, state->parameter_count);
    text_add(out, "\n/* The same at many points at once. */\nstatic bool ");
    function_text_name(writer->texts, writer->function, out);
    text_add(out, "_lanes(int64_t count, ");
    for (uint32_t i = 0, filled = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        const char **words = write_new_words(writer, body->parameters[i]);
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++) {
            bool is_common = function_lanes_have_in_common(writer->texts, writer->function, filled);
            state->are_common[filled] = is_common;
            state->points[filled] = words[leaf];
            state->arrays[filled] = is_common ? words[leaf] : arena_format(writer->arena, "lanes_%s", words[leaf]);
            text_addf(out, is_common ? "%s %s, " : "%s const *restrict %s, ", write_leaf_type(leaves->leaves[leaf].type), words[leaf]);
        }
    }
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (row_columns(writer->texts, body, body->parameters[i]) > 0)
            text_addf(out, "const KernelRowCell *%s, ", rows_word(writer, body->parameters[i]));
    for (uint32_t i = 0; i < results->count; i++)
        text_addf(out, "%s *restrict %s, ", lane_type(results->leaves[i].type), write_result_word(writer, i, results->count));
    text_add(out, "int64_t depth, const KernelScalars *scalars)\n{\n");
}

/* New names for the values of a lane. */
static void name_lane(Writer *writer, const CoreBlock *body, LaneState *state)
{
    for (uint32_t i = 0, filled = 0; i < body->parameter_count; i++) {
        bool is_common = state->are_common[filled];
        const char **words = is_common ? writer->texts->values[body->parameters[i]] : write_new_words(writer, body->parameters[i]);
        for (uint32_t leaf = 0; leaf < write_layout(writer, write_type(writer, body->parameters[i]))->count; leaf++, filled++) {
            state->parameters[filled] = words[leaf];
            state->nexts[filled] = arena_format(writer->arena, "next_%s", words[leaf]);
        }
    }
}

static void load_lane(Writer *writer, const CoreBlock *body, const LaneState *state)
{
    for (uint32_t i = 0, filled = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++) {
            if (state->are_common[filled])
                continue;
            const char *type = lane_type(leaves->leaves[leaf].type);
            write_line(writer, "const %s %s = %s[lane];", type, state->parameters[filled], state->arrays[filled]);
            if (state->are_changed[filled] && !state->is_end)
                write_line(writer, "%s %s = %s;", type, state->nexts[filled], state->parameters[filled]);
        }
    }
}

/* What a lane has at the end of a turn, or of the last one. */
static void store_lane(Writer *writer, const LaneState *state)
{
    for (uint32_t i = 0; i < state->parameter_count && !state->is_end; i++)
        if (state->are_changed[i])
            write_line(writer, "%s[lane] = %s;", state->arrays[i], state->nexts[i]);
    for (uint32_t i = 0; i < state->result_count && state->is_end; i++)
        write_line(writer, "%ss[lane] = %s;", final_word(writer, i), final_word(writer, i));
    if (state->is_end)
        write_line(writer, "left[lane] = gone;");
}

static void declare_finals(Writer *writer, const CoreBlock *body)
{
    const Layout *results = write_layout(writer, body->result.type);
    for (uint32_t i = 0; i < results->count; i++)
        write_line(writer, "%s %s = 0;", lane_type(results->leaves[i].type), final_word(writer, i));
    write_line(writer, "int64_t gone = 0;");
}

static void open_lane(Writer *writer, const CoreBlock *body, const LaneState *state)
{
    write_open_brace(writer, "for (int lane = 0; lane < KERNEL_LANES; lane++)");
    load_lane(writer, body, state);
}

/* The columns of a vector's rows at places that are known, four at a time. */
static void write_columns(Writer *writer, const RowPass *pass)
{
    uint32_t count = pass->elements->count;
    int64_t width = kernel_row_width(count);
    const char *rows = rows_word(writer, pass->vector);
    for (uint32_t i = 0; i < count; i += 4) {
        if (i + 1 == count) {
            write_line(writer, "kernel_rows_1(%s + %u, %lld, places, KERNEL_LANES, %s);", rows, i, (long long)width, pass->columns[i]);
            continue;
        }
        const char *columns[4];
        for (uint32_t k = 0; k < 4; k++)
            columns[k] = i + k < count ? pass->columns[i + k] : "NULL";
        write_line(writer, "kernel_rows_4(%s + %u, %lld, places, KERNEL_LANES, %s, %s, %s, %s);", rows, i, (long long)width, columns[0], columns[1], columns[2], columns[3]);
    }
}

/* A loop that only finds places: what else it counts is for nobody. */
static void write_pass(Writer *writer, const CoreBlock *body, const LaneState *state, const RowPass *pass)
{
    for (uint32_t i = 0; i < pass->elements->count; i++)
        write_line(writer, "_Alignas(64) %s %s[KERNEL_LANES];", lane_type(pass->elements->leaves[i].type), pass->columns[i]);
    open_lane(writer, body, state);
    write_line(writer, "int64_t going = 0;");
    text_add(writer->out, pass->text);
    write_line(writer, "places[lane] = %s;", pass->place);
    write_close_brace(writer);
    write_columns(writer, pass);
}

static void write_lane(Writer *writer, const CoreBlock *body, LaneState *state)
{
    Text tail, *out = writer->out;
    text_init(&tail, out->memory);
    name_lane(writer, body, state);
    state->passes.count = 0;
    writer->depth++;
    writer->out = &tail;
    write_tail(writer, body, NULL, state); /* which says what changes, and what is taken from rows */
    writer->out = out;
    writer->depth--;
    for (uint32_t i = 0; i < state->passes.count; i++)
        write_pass(writer, body, state, &state->passes.items[i]);
    open_lane(writer, body, state);
    if (state->is_end)
        declare_finals(writer, body);
    text_add(out, text_string(&tail));
    text_free(&tail);
    store_lane(writer, state);
    write_close_brace(writer);
}

static void declare_lanes(Writer *writer, const CoreBlock *body, const LaneState *state)
{
    const Layout *results = write_layout(writer, body->result.type);
    for (uint32_t i = 0, filled = 0; i < body->parameter_count; i++) {
        const Layout *leaves = write_layout(writer, write_type(writer, body->parameters[i]));
        for (uint32_t leaf = 0; leaf < leaves->count; leaf++, filled++)
            if (!state->are_common[filled])
                write_line(writer, "_Alignas(64) %s %s[KERNEL_LANES];", lane_type(leaves->leaves[leaf].type), state->arrays[filled]);
    }
    for (uint32_t i = 0; i < results->count; i++)
        write_line(writer, "_Alignas(64) %s %ss[KERNEL_LANES];", lane_type(results->leaves[i].type), final_word(writer, i));
    write_line(writer, "_Alignas(64) int64_t points[KERNEL_LANES], left[KERNEL_LANES];");
    write_line(writer, "int64_t taken = 0, going = 0, first = -1;");
}

/* A lane begins with a point. */
static void write_take(Writer *writer, const char *point, const LaneState *state)
{
    write_line(writer, "points[lane] = %s;", point);
    for (uint32_t i = 0; i < state->parameter_count; i++)
        if (!state->are_common[i])
            write_line(writer, "%s[lane] = %s[points[lane]];", state->arrays[i], state->points[i]);
}

/* Too few points: what is absent does as the first point does. */
static void write_take_few(Writer *writer, const LaneState *state)
{
    write_open_brace(writer, "if (count < KERNEL_LANES)");
    write_open_brace(writer, "for (int64_t lane = 0; lane < KERNEL_LANES; lane++)");
    write_take(writer, "lane < count ? lane : 0", state);
    write_close_brace(writer);
    write_line(writer, "taken = going = count;");
    write_close_brace(writer);
}

/* As many points as there are lanes, one after the other: compilers make vectors of that. */
static void write_take_all(Writer *writer, const LaneState *state)
{
    write_open_brace(writer, "if (going == 0)");
    write_open_brace(writer, "for (int64_t lane = 0; lane < KERNEL_LANES; lane++)");
    write_line(writer, "points[lane] = taken + lane;");
    for (uint32_t i = 0; i < state->parameter_count; i++)
        if (!state->are_common[i])
            write_line(writer, "%s[lane] = %s[taken + lane];", state->arrays[i], state->points[i]);
    write_close_brace(writer);
    write_line(writer, "first = taken;");
    write_line(writer, "taken += KERNEL_LANES;");
    write_line(writer, "going = KERNEL_LANES;");
    write_close_brace(writer);
}

static void write_results_at(Writer *writer, const LaneState *state, const char *place)
{
    for (uint32_t i = 0; i < state->result_count; i++)
        write_line(writer, "%s[%s] = %ss[lane];", write_result_word(writer, i, state->result_count), place, final_word(writer, i));
}

/* What lanes that have left give: in one go where all have that began together. */
static void write_give(Writer *writer, const LaneState *state)
{
    write_open_brace(writer, "if (going == 0 && first >= 0)");
    write_open_brace(writer, "for (int64_t lane = 0; lane < KERNEL_LANES; lane++)");
    write_results_at(writer, state, "first + lane");
    write_close_brace(writer);
    write_else(writer);
    write_open_brace(writer, "for (int64_t lane = 0; lane < KERNEL_LANES; lane++)");
    write_line(writer, "if (left[lane] == 0)");
    write_line(writer, "    continue;");
    write_results_at(writer, state, "points[lane]");
    write_close_brace(writer);
    write_close_brace(writer);
}

/* The points that come next, for lanes that have left. */
static void write_change(Writer *writer, const LaneState *state)
{
    write_line(writer, "if (going == 0 && count - taken >= KERNEL_LANES)");
    write_line(writer, "    continue;");
    write_open_brace(writer, "for (int lane = 0; lane < KERNEL_LANES && taken < count; lane++)");
    write_line(writer, "if (left[lane] == 0)");
    write_line(writer, "    continue;");
    write_take(writer, "taken++", state);
    write_line(writer, "left[lane] = 0;");
    write_line(writer, "first = -1;");
    write_line(writer, "going++;");
    write_close_brace(writer);
}

/* The same from where lanes are now, one by one. */
static void write_rest(Writer *writer, const LaneState *state)
{
    Text call;
    text_init(&call, writer->out->memory);
    function_text_name(writer->texts, writer->function, &call);
    text_add_char(&call, '(');
    for (uint32_t i = 0; i < state->parameter_count; i++)
        text_addf(&call, state->are_common[i] ? "%s, " : "%s[lane], ", state->arrays[i]);
    for (uint32_t i = 0; i < state->result_count; i++)
        text_addf(&call, "&%s[points[lane]], ", write_result_word(writer, i, state->result_count));
    write_open_brace(writer, "if (going < KERNEL_LANES_LEAST)");
    write_line(writer, "for (int lane = 0; lane < KERNEL_LANES; lane++)");
    write_line(writer, "    if (left[lane] == 0 && !%sdepth, scalars))", text_string(&call));
    write_line(writer, "        return false;");
    write_line(writer, "return true;");
    write_close_brace(writer);
    text_free(&call);
}

/* The names of rows that are given, in C as one condition: that all are there. Empty if there are none. */
static const char *rows_are_there(const Writer *writer, const CoreBlock *body)
{
    const char *condition = "";
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (row_columns(writer->texts, body, body->parameters[i]) > 0)
            condition = arena_format(writer->arena, "%s%s%s != NULL", condition, *condition == 0 ? "" : " && ", rows_word(writer, body->parameters[i]));
    return condition;
}

/* With rows, if they are there. */
static void write_turn(Writer *writer, const CoreBlock *body, LaneState *state)
{
    const char *condition = rows_are_there(writer, body);
    if (*condition == 0) {
        write_lane(writer, body, state);
        return;
    }
    state->has_rows = true;
    write_open_brace(writer, arena_format(writer->arena, "if (%s)", condition));
    write_line(writer, "_Alignas(64) int64_t places[KERNEL_LANES];");
    write_lane(writer, body, state);
    write_else(writer);
    state->has_rows = false;
    write_lane(writer, body, state);
    write_close_brace(writer);
}

static void write_if_missing(Writer *writer)
{
    write_line(writer, "if (OP_RARELY(missing != 0))");
    write_line(writer, "    return false;");
}

static void write_turns(Writer *writer, const CoreBlock *body, LaneState *state)
{
    bool can_miss = takes_elements(body);
    if (can_miss)
        write_line(writer, "int64_t missing = 0;");
    write_open_brace(writer, "for (uint32_t turn = 0;;)");
    write_take_all(writer, state);
    write_line(writer, "int64_t idle = 0;");
    write_open_brace(writer, "for (; kernel_lanes_go_on(going, turn, taken < count, &idle); turn++)");
    write_line(writer, "if (!kernel_may_turn(turn, scalars))");
    write_line(writer, "    return false;");
    write_line(writer, "going = 0;");
    write_turn(writer, body, state);
    if (can_miss)
        write_if_missing(writer);
    write_close_brace(writer);
    state->is_end = true;
    write_lane(writer, body, state);
    if (can_miss)
        write_if_missing(writer);
    write_give(writer, state);
    write_change(writer, state);
    write_rest(writer, state);
    write_close_brace(writer);
}

void function_lanes_write(FunctionTexts *texts, CoreFunctionId function, Text *out, ClassSet *types, bool *with_math)
{
    const CoreBlock *body = texts->program->functions.items[function]->body;
    LaneState state = {0};
    Writer writer = writer_of(texts, function);
    writer.out = out;
    writer.types = types;
    writer.with_math = with_math;
    write_header(&writer, body, &state, out);
    declare_lanes(&writer, body, &state);
    write_take_few(&writer, &state);
    write_globals(&writer, body);
    write_hoist_cells(&writer, body);
    write_turns(&writer, body, &state);
    write_forget_globals(&writer);
    text_add(out, "}\n");
}
