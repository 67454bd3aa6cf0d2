#include "kernel/function_shape.h"

#include "kernel/function_join.h"
#include "kernel/function_write.h"
#include "kernel/op_text.h"

bool shape_has_arrays(const FunctionTexts *texts, TypeId type)
{
    const Layout *layout = layout_of(texts->layouts, type);
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->leaves[i].type == LEAF_ARRAY)
            return true;
    return false;
}

static VariableShape *shape_of(const FunctionTexts *texts, CoreVar variable)
{
    return &texts->shapes[variable];
}

static TypeId type_of(const FunctionTexts *texts, CoreVar variable)
{
    return texts->program->variables.items[variable].type;
}

/* ---- definitions and uses ---- */

static void use(FunctionTexts *texts, const CoreAtom *atom, uint32_t level)
{
    if (atom->is_constant)
        return;
    VariableShape *shape = shape_of(texts, atom->variable);
    shape->uses++;
    if (level > shape->use_level)
        shape->use_level = level;
}

static void walk_block(FunctionTexts *texts, const CoreBlock *block, const CoreStatement *owner, uint32_t level)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        *shape_of(texts, block->parameters[i]) = (VariableShape){.definition = owner, .member = i + 1, .level = level};
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        *shape_of(texts, statement->target) = (VariableShape){.definition = statement, .level = level};
        for (uint32_t a = 0; a < statement->argument_count; a++)
            use(texts, &statement->arguments[a], level);
        for (uint32_t a = 0; a < statement->captured_count; a++)
            use(texts, &statement->captured[a], level);
        bool is_loop = statement->kind == CORE_EACH || statement->kind == CORE_GROUP;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                walk_block(texts, statement->blocks[b], statement, level + is_loop);
    }
    use(texts, &block->result, level);
}

/* ---- what is not made ---- */

bool shape_traverses(Op op, uint32_t argument)
{
    switch ((int)op) {
    case OP_SEQ:
    case OP_TAB:
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) \
    case OP_##reduction:                                                \
    case OP_##scan:                                                     \
    case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_COUNT_TRUE: return argument == 0;
    case OP_REDUCE: return argument == 1;
    case OP_APPEND:
    case OP_ZIP: return true;
    case OP_CONS:
    case OP_WRITE:
    case OP_PUT_WITH:
    case OP_SCAN:
    case OP_READ: return argument == 1;
    case OP_SNOC:
    case OP_SCAN_INCLUSIVE: return argument == 0;
    default: return false;
    }
}

/* Whether a sequence or vector can be had element by element, as its statement makes it. */
static bool can_be_traversed(const CoreStatement *statement)
{
    if (statement->kind != CORE_OP)
        return statement->kind == CORE_EACH || statement->kind == CORE_GUARD;
    switch ((int)statement->op) {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) \
    case OP_##scan:                                                     \
    case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_SCAN:
    case OP_SCAN_INCLUSIVE:
    case OP_SEQ:
    case OP_TAB:
    case OP_IOTA:
    case OP_INDICES:
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE:
    case OP_NESL_RANGE:
    case OP_ZIP:
    case OP_READ: return true;
    default: return false;
    }
}

/* Sequences that are joined are traversed one after the other; vectors are copied. */
static bool is_join_of_sequences(const FunctionTexts *texts, const CoreStatement *statement)
{
    bool is_join = statement->kind == CORE_OP && (statement->op == OP_CONCAT || statement->op == OP_FLATTEN || statement->op == OP_APPEND);
    return is_join && type_is_sequence(texts->program->types, type_of(texts, statement->target));
}

/* Parts of what is appended are put where they belong at once. */
static bool is_part(const CoreStatement *statement)
{
    return statement->kind == CORE_MAKE || (statement->kind == CORE_OP && statement->op == OP_APPEND);
}

static bool appends(const CoreStatement *statement)
{
    return statement->op == OP_APPEND || statement->op == OP_CONS || statement->op == OP_SNOC;
}

bool shape_is_traversable(const FunctionTexts *texts, const CoreStatement *statement)
{
    bool is_alias = statement->kind == CORE_OP && (statement->op == OP_SEQ || statement->op == OP_TAB);
    return !is_alias && (can_be_traversed(statement) || is_join_of_sequences(texts, statement));
}

/* Traversing it again costs no more than traversing what would be made. */
static bool is_cheap(const CoreStatement *statement)
{
    return statement->kind == CORE_OP && (statement->op == OP_SEQ || statement->op == OP_IOTA || statement->op == OP_INDICES);
}

/* A vector is traversed where it is used if that is once, in one place. */
static void delay_argument(FunctionTexts *texts, const CoreStatement *user, uint32_t argument)
{
    const CoreAtom *atom = &user->arguments[argument];
    if (atom->is_constant || user->kind != CORE_OP || !shape_traverses(user->op, argument) || !type_is_vector(texts->program->types, atom->type))
        return;
    VariableShape *shape = shape_of(texts, atom->variable);
    if (shape->definition != NULL && shape->member == 0 && shape->uses == 1 && shape->use_level == shape->level)
        shape->is_delayed = can_be_traversed(shape->definition) || (is_part(shape->definition) && appends(user));
}

static void delay_sequence(FunctionTexts *texts, const CoreStatement *statement)
{
    VariableShape *shape = shape_of(texts, statement->target);
    bool is_traversable = can_be_traversed(statement) || is_join_of_sequences(texts, statement);
    if (type_is_sequence(texts->program->types, type_of(texts, statement->target)))
        shape->is_delayed = is_traversable && (shape->uses == 1 || is_cheap(statement));
}

/* A vector of a few elements that are written down, only to be traversed: null if it is something else. */
static VariableShape *find_few(const FunctionTexts *texts, const CoreAtom *sequence)
{
    const VariableShape *shape = sequence->is_constant ? NULL : shape_of(texts, sequence->variable);
    if (shape == NULL || shape->uses != 1 || shape->member != 0 || shape->definition == NULL || shape->definition->kind != CORE_OP || shape->definition->op != OP_SEQ)
        return NULL;
    const CoreAtom *vector = &shape->definition->arguments[0];
    VariableShape *made = vector->is_constant ? NULL : shape_of(texts, vector->variable);
    bool is_made = made != NULL && made->uses == 1 && made->use_level == made->level && made->member == 0 && made->definition != NULL &&
                   made->definition->kind == CORE_MAKE;
    return is_made && made->definition->argument_count >= 1 && made->definition->argument_count <= SHAPE_FEW ? made : NULL;
}

/* A comprehension over such vectors is written out for each of their elements. */
static void delay_few(FunctionTexts *texts, const CoreStatement *each)
{
    for (uint32_t i = 0; i < each->argument_count; i++) {
        const VariableShape *first = find_few(texts, &each->arguments[0]), *made = find_few(texts, &each->arguments[i]);
        if (made == NULL || made->definition->argument_count != first->definition->argument_count)
            return;
    }
    for (uint32_t i = 0; i < each->argument_count; i++)
        find_few(texts, &each->arguments[i])->is_delayed = true;
}

static void delay_block(FunctionTexts *texts, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        delay_sequence(texts, statement);
        if (statement->kind == CORE_EACH)
            delay_few(texts, statement);
        for (uint32_t a = 0; a < statement->argument_count; a++)
            delay_argument(texts, statement, a);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                delay_block(texts, statement->blocks[b]);
    }
}

/* ---- what belongs to the value of a block ---- */

/* Of an operation whose result is a vector: whether the result refers to arrays of its arguments. */
static bool refers_to_arguments(const FunctionTexts *texts, const CoreStatement *statement)
{
    const Types *types = texts->program->types;
    switch ((int)statement->op) {
    case OP_ELEMENT:
    case OP_INSIDE:
    case OP_THE:
    case OP_SLICE:
    case OP_SUBSEQ:
    case OP_TAKE:
    case OP_DROP:
    case OP_TAB:
    case OP_SEQ: return true;
    default: break;
    }
    TypeId type = type_of(texts, statement->target);
    bool is_container = type_is_vector(types, type) || type_is_sequence(types, type);
    return !is_container || shape_has_arrays(texts, type_element(types, type));
}

static void raise_all(FunctionTexts *texts, const CoreAtom *atoms, uint32_t count, uint32_t lowest);

/* What the variable is made of belongs to the value too, if it is defined at the lowest level or above. */
static void raise(FunctionTexts *texts, const CoreAtom *atom, uint32_t lowest)
{
    if (atom->is_constant || texts->program->variables.items[atom->variable].is_global || !shape_has_arrays(texts, atom->type))
        return;
    VariableShape *shape = shape_of(texts, atom->variable);
    bool is_outside = shape->level < lowest;
    if (is_outside ? !shape->is_delayed : shape->raised_from != 0 && shape->raised_from <= lowest + 1)
        return;
    if (!is_outside)
        shape->raised_from = lowest + 1;
    const CoreStatement *statement = shape->definition;
    if (statement == NULL)
        return;
    if (shape->member != 0) {
        if (shape->member <= statement->argument_count)
            raise(texts, &statement->arguments[shape->member - 1], lowest);
        return;
    }
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL)
            raise(texts, &statement->blocks[b]->result, lowest);
    if (statement->kind != CORE_EACH && statement->kind != CORE_IF && statement->kind != CORE_GUARD &&
        (statement->kind != CORE_OP || refers_to_arguments(texts, statement)))
        raise_all(texts, statement->arguments, statement->argument_count, lowest);
}

static void raise_all(FunctionTexts *texts, const CoreAtom *atoms, uint32_t count, uint32_t lowest)
{
    for (uint32_t i = 0; i < count; i++)
        raise(texts, &atoms[i], lowest);
}

void shape_keep(FunctionTexts *texts, const CoreAtom *atoms, uint32_t count)
{
    raise_all(texts, atoms, count, 1);
}

/* The elements of what is made belong to it: inside the bodies that give them. */
static void raise_elements(FunctionTexts *texts, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        const VariableShape *shape = shape_of(texts, statement->target);
        bool is_loop = statement->kind == CORE_EACH || statement->kind == CORE_GROUP;
        for (uint32_t a = 0; a < statement->argument_count; a++)
            if (!shape->is_delayed || !shape_steps(texts, &statement->arguments[a]))
                raise(texts, &statement->arguments[a], shape->level + 1);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && !shape->is_delayed)
                raise(texts, &statement->blocks[b]->result, shape->level + (is_loop || statement->kind == CORE_IF));
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                raise_elements(texts, statement->blocks[b]);
    }
}

/* ---- what is needed no more ---- */

typedef struct Search {
    const FunctionTexts *texts;
    CoreVar variable;
    const CoreStatement *statement;
    bool is_found;  /* the statement, */
    bool is_needed; /* ... and the variable is used in another way than it may be */
} Search;

bool shape_is_variable(const CoreAtom *atom, CoreVar variable)
{
    return !atom->is_constant && atom->variable == variable;
}

bool shape_takes_element(const CoreStatement *statement)
{
    return statement->kind == CORE_OP && (statement->op == OP_ELEMENT || statement->op == OP_INSIDE);
}

static uint32_t count_uses(const CoreStatement *statement, CoreVar variable)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        uses += shape_is_variable(&statement->arguments[i], variable);
    for (uint32_t i = 0; i < statement->captured_count; i++)
        uses += shape_is_variable(&statement->captured[i], variable);
    return uses;
}

static bool only_reads(const Search *search, const CoreStatement *statement)
{
    bool is_length = statement->kind == CORE_OP && statement->op == OP_LENGTH;
    return is_length || (shape_takes_element(statement) && !shape_has_arrays(search->texts, type_of(search->texts, statement->target)));
}

uint32_t shape_count_uses(const CoreBlock *block, CoreVar variable)
{
    uint32_t uses = shape_is_variable(&block->result, variable);
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        uses += count_uses(statement, variable);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                uses += shape_count_uses(statement->blocks[b], variable);
    }
    return uses;
}

bool shape_uses(const CoreStatement *statement, CoreVar variable)
{
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL && shape_count_uses(statement->blocks[b], variable) > 0)
            return true;
    return count_uses(statement, variable) > 0;
}

static bool contains(const CoreBlock *block, const CoreStatement *wanted)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement == wanted)
            return true;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && contains(statement->blocks[b], wanted))
                return true;
    }
    return false;
}

/* Whether all uses of the variable in a block, outside of bodies of comprehensions, read scalars from it, and are done where they are written. */
static bool only_reads_there(const Search *search, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (count_uses(statement, search->variable) > 0 && !only_reads(search, statement))
            return false;
        for (uint32_t b = 0; b < 2; b++) {
            const CoreBlock *inner = statement->blocks[b];
            if (inner != NULL && !(statement->kind == CORE_IF ? only_reads_there(search, inner) : shape_count_uses(inner, search->variable) == 0))
                return false;
        }
    }
    return !shape_is_variable(&block->result, search->variable);
}

/* Bodies of comprehensions may be computed where their sequence is used, and often: a use in one is one too many. */
static void search_block(Search *search, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count && !search->is_needed; i++) {
        const CoreStatement *statement = &block->statements[i];
        uint32_t uses = count_uses(statement, search->variable);
        if (statement == search->statement) {
            search->is_found = true;
            search->is_needed |= uses > 1;
            continue;
        }
        search->is_needed |= uses > 0 && (search->is_found || !only_reads(search, statement));
        for (uint32_t b = 0; b < 2; b++) {
            if (statement->blocks[b] == NULL)
                continue;
            if (statement->kind == CORE_IF && contains(statement->blocks[b], search->statement)) {
                search_block(search, statement->blocks[b]);
                break;
            }
            bool is_other_side = statement->kind == CORE_IF && contains(statement->blocks[1 - b], search->statement);
            bool is_read_before = statement->kind == CORE_IF && !search->is_found && only_reads_there(search, statement->blocks[b]);
            search->is_needed |= !is_other_side && !is_read_before && shape_count_uses(statement->blocks[b], search->variable) > 0;
        }
    }
    search->is_needed |= shape_is_variable(&block->result, search->variable);
}

bool shape_is_spent(const FunctionTexts *texts, const CoreBlock *body, CoreVar variable, const CoreStatement *statement)
{
    Search search = {.texts = texts, .variable = variable, .statement = statement};
    search_block(&search, body);
    return search.is_found && !search.is_needed;
}

/* Whether all that is wanted of a vector is elements whose indices are constants below `count` and, perhaps, its length. */
static bool is_looked_at(const CoreBlock *body, CoreVar variable, uint32_t count, bool may_count)
{
    for (uint32_t i = 0; i < body->statement_count; i++) {
        const CoreStatement *statement = &body->statements[i];
        bool picks = shape_takes_element(statement) && shape_is_variable(&statement->arguments[0], variable) &&
                     statement->arguments[1].is_constant && (uint64_t)statement->arguments[1].constant.integer < count;
        bool counts = may_count && statement->kind == CORE_OP && statement->op == OP_LENGTH;
        if (!picks && !counts && count_uses(statement, variable) > 0)
            return false;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && !is_looked_at(statement->blocks[b], variable, count, may_count))
                return false;
    }
    return !shape_is_variable(&body->result, variable);
}

bool shape_is_picked(const CoreBlock *body, CoreVar variable, uint32_t count)
{
    return is_looked_at(body, variable, count, false);
}

bool shape_is_begun(const CoreBlock *body, CoreVar variable, uint32_t count)
{
    return is_looked_at(body, variable, count, true);
}

bool shape_makes(const FunctionTexts *texts, const CoreStatement *statement)
{
    if (statement->kind == CORE_MAKE || statement->kind == CORE_TEXT)
        return true;
    if (statement->kind != CORE_OP)
        return false;
    switch ((int)statement->op) {
    case OP_TAB: { /* what is used in other places too may be made for one of them, and is then the same vector */
        const VariableShape *argument = shape_of(texts, statement->arguments[0].variable);
        return !statement->arguments[0].is_constant && argument->is_delayed && argument->uses == 1;
    }
    case OP_SEQ:
    case OP_SLICE:
    case OP_SUBSEQ:
    case OP_TAKE:
    case OP_DROP:
    case OP_ELEMENT:
    case OP_INSIDE:
    case OP_THE:
    case OP_IDENTITY:
    case OP_ELEMENT_IDENTITY: return false;
    default: return true;
    }
}

/* ---- what is computed element by element ---- */

static bool op_steps(const FunctionTexts *texts, const CoreStatement *statement)
{
    switch ((int)statement->op) {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) \
    case OP_##scan:                                                     \
    case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_SCAN_INCLUSIVE:
    case OP_SEQ:
    case OP_TAB: return shape_steps(texts, &statement->arguments[0]);
    case OP_IOTA:
    case OP_INDICES:
    case OP_RANGE_INCLUSIVE:
    case OP_RANGE:
    case OP_NESL_RANGE: return true;
    case OP_ZIP: return shape_steps(texts, &statement->arguments[0]) && shape_steps(texts, &statement->arguments[1]);
    case OP_SCAN:
    case OP_READ: return shape_steps(texts, &statement->arguments[1]);
    default: return false;
    }
}

bool shape_steps(const FunctionTexts *texts, const CoreAtom *atom)
{
    const VariableShape *shape = shape_of(texts, atom->variable);
    if (atom->is_constant || !shape->is_delayed)
        return true;
    const CoreStatement *statement = shape->definition;
    if (statement->kind == CORE_OP)
        return op_steps(texts, statement);
    for (uint32_t i = 0; i < statement->argument_count && statement->kind == CORE_EACH; i++)
        if (!shape_steps(texts, &statement->arguments[i]))
            return false;
    return statement->kind == CORE_EACH || statement->kind == CORE_MAKE;
}

/* ---- innermost loops ---- */

typedef struct OpShape {
    bool is_straight, can_fail;
    bool ends; /* nothing may be computed after it where it has failed */
    bool trusts; /* it reads where it is told */
} OpShape;

static OpShape op_shape(const FunctionTexts *texts, const CoreStatement *statement)
{
    const Types *types = texts->program->types;
    bool of_scalar = type_is_scalar(types, type_of(texts, statement->target)) &&
                     (statement->argument_count == 0 || type_is_scalar(types, statement->arguments[0].type));
    switch ((int)statement->op) {
    case OP_LENGTH: return (OpShape){.is_straight = type_is_vector(types, statement->arguments[0].type)};
    case OP_ELEMENT:
    case OP_COMMON_LENGTH:
    case OP_TAKEN:
    case OP_DROPPED:
    case OP_SUBSEQ_LENGTH:
    case OP_CHECKED_INDEX: return (OpShape){.is_straight = true, .can_fail = true};
    case OP_INSIDE:
    case OP_SLICE: return (OpShape){.is_straight = true, .trusts = true};
    case OP_TAKE:
    case OP_DROP:
    case OP_SUBSEQ: return (OpShape){.is_straight = type_is_vector(types, statement->arguments[0].type), .can_fail = true, .ends = true};
    case OP_RAISE:
    case OP_FAIL:
    case OP_NOT_PROVIDED: return (OpShape){.is_straight = true, .can_fail = true, .ends = true};
    default: break;
    }
    if (!of_scalar)
        return (OpShape){0};
    ScalarType target = type_scalar(types, type_of(texts, statement->target));
    ScalarType operand = statement->argument_count == 0 ? target : type_scalar(types, statement->arguments[0].type);
    return (OpShape){.is_straight = op_text_exists(statement->op, operand, target), .can_fail = op_text_can_fail(statement->op, operand, target)};
}

bool shape_gives_up(const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_OP && (statement->op == OP_RAISE || statement->op == OP_FAIL || statement->op == OP_NOT_PROVIDED))
            return true;
    }
    return false;
}

bool shape_is_straight(const FunctionTexts *texts, const CoreBlock *block)
{
    if (shape_gives_up(block))
        return true;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        switch (statement->kind) {
        case CORE_COPY:
        case CORE_UNIT:
        case CORE_PAIR:
        case CORE_PROJECT:
        case CORE_WRAP:
        case CORE_UNWRAP: break;
        case CORE_OP:
            if (!op_shape(texts, statement).is_straight)
                return false;
            break;
        case CORE_IF:
            if (type_is_sequence(texts->program->types, type_of(texts, statement->target)) || !shape_is_straight(texts, statement->blocks[1]))
                return false;
            if (!shape_is_straight(texts, statement->blocks[0]))
                return false;
            break;
        case CORE_GUARD:
            if (!shape_of(texts, statement->target)->is_delayed || !shape_is_straight(texts, statement->blocks[0]))
                return false;
            break;
        case CORE_MAKE:
        case CORE_TEXT:
        case CORE_CALL:
        case CORE_EACH:
        case CORE_GROUP: return false;
        }
    }
    return true;
}

void shape_go_on(const FunctionTexts *texts, const CoreBlock *block, Progress *progress)
{
    progress->must_stop |= shape_gives_up(block);
    progress->has_failed |= shape_gives_up(block);
    for (uint32_t i = 0; i < block->statement_count && !progress->must_stop; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_OP) {
            OpShape shape = op_shape(texts, statement);
            progress->must_stop |= shape.ends || (shape.trusts && progress->has_failed);
            progress->has_failed |= shape.can_fail;
        }
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                shape_go_on(texts, statement->blocks[b], progress);
    }
}

bool shape_cannot_fail(const FunctionTexts *texts, const CoreBlock *block)
{
    Progress progress = {0};
    shape_go_on(texts, block, &progress);
    return !progress.has_failed && !progress.must_stop;
}

/* An operation on scalars, and of which types. */
static bool is_of_scalars(const FunctionTexts *texts, const CoreStatement *statement, ScalarType *operand, ScalarType *result)
{
    const Types *types = texts->program->types;
    TypeId target = type_of(texts, statement->target);
    if (statement->kind != CORE_OP || statement->argument_count == 0 || !type_is_scalar(types, statement->arguments[0].type) || !type_is_scalar(types, target))
        return false;
    *operand = type_scalar(types, statement->arguments[0].type);
    *result = type_scalar(types, target);
    return true;
}

static bool is_light(const FunctionTexts *texts, const CoreStatement *statement)
{
    ScalarType operand, result;
    if (statement->kind == CORE_IF || statement->kind == CORE_GUARD)
        return false;
    return !is_of_scalars(texts, statement, &operand, &result) ||
           (!op_text_needs_math(statement->op, operand, result) && !op_text_has_fast(statement->op, operand, result));
}

bool shape_is_light(const FunctionTexts *texts, const CoreBlock *block)
{
    enum { STATEMENTS_MAX = 24 };
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (!is_light(texts, &block->statements[i]))
            return false;
    return block->statement_count <= STATEMENTS_MAX && shape_is_straight(texts, block) && shape_cannot_fail(texts, block);
}

bool shape_has_math(const FunctionTexts *texts, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        ScalarType operand, result;
        if (is_of_scalars(texts, statement, &operand, &result) && op_text_needs_math(statement->op, operand, result))
            return true;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && shape_has_math(texts, statement->blocks[b]))
                return true;
    }
    return false;
}

/* What the next turn of a loop is given is not to be given back at the end of this one. */
static void raise_turns(FunctionTexts *texts, const CoreBlock *block, CoreFunctionId function)
{
    const CoreStatement *last = block->statement_count == 0 ? NULL : &block->statements[block->statement_count - 1];
    if (last == NULL || block->result.is_constant || block->result.variable != last->target)
        return;
    if (last->kind == CORE_CALL && last->function == function)
        raise_all(texts, last->arguments, last->argument_count, 0);
    for (uint32_t b = 0; b < 2 && last->kind == CORE_IF; b++)
        raise_turns(texts, last->blocks[b], function);
}

void shape_function(FunctionTexts *texts, CoreFunctionId function)
{
    const CoreBlock *body = function_text_body(texts, function);
    walk_block(texts, body, NULL, 0);
    delay_block(texts, body);
    if (join_is_onto(texts, function))
        join_mark(texts, function);
    else
        raise(texts, &body->result, 0);
    filters_mark(texts, body);
    raise_turns(texts, body, function);
    raise_elements(texts, body);
    windows_mark(texts, body);
}

bool shape_rises(const FunctionTexts *texts, CoreVar variable)
{
    return shape_of(texts, variable)->raised_from != 0;
}
