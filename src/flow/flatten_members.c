/* Which groups can be a table: those whose body does nothing with its collections but reduce them, after work on each member alone.
 *
 * The body is walked once, functions that are put in place of their calls too, and every variable gets a class. Members may go through
 * comprehensions (with filters and dependent generators, which are guards and concat), zip with members of the same space, and seq and tab, into
 * built-in reductions, # and empty. A comprehension over them may use the key, or parts of it, and what is outside the group, but nothing
 * else that is computed for the group. What is done with members in a branch is done for some groups only: then the answer is no. */
#include "flow/flatten_internal.h"

/* Of a variable: outside the group, or inside a comprehension; a value of the group; its key, or a part of that; or a collection
 * of members. Members of the same class from MEMBERS on are on the same space. */
enum { CLASS_OUTSIDE, CLASS_GROUP, CLASS_KEY, CLASS_MEMBERS };

/* Beyond this the answer is no. */
enum { STATEMENTS_MAX = 20000, CALLS_MAX = 100 };

typedef struct Analysis {
    Flattener *f;
    uint32_t space_count; /* of members */
    uint32_t statement_count;
    uint32_t depth; /* of calls */
} Analysis;

/* ---- classes ---- */

static void set_class(Analysis *analysis, CoreVar variable, uint32_t class)
{
    Flattener *f = analysis->f;
    while (f->member_classes.count <= variable)
        *vec_push(f->arena, &f->member_classes) = (MemberClass){0};
    f->member_classes.items[variable] = (MemberClass){.analysis = f->member_analyses, .class = class};
}

static uint32_t class_of(const Analysis *analysis, const CoreAtom *atom)
{
    const Flattener *f = analysis->f;
    if (atom->is_constant || atom->variable >= f->member_classes.count ||
        f->member_classes.items[atom->variable].analysis != f->member_analyses)
        return CLASS_OUTSIDE;
    return f->member_classes.items[atom->variable].class;
}

static bool has_members(const Analysis *analysis, const CoreAtom *atoms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (class_of(analysis, &atoms[i]) >= CLASS_MEMBERS)
            return true;
    return false;
}

/* Members, all of them, on the same space. */
static bool are_same_members(const Analysis *analysis, const CoreAtom *atoms, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (class_of(analysis, &atoms[i]) != class_of(analysis, &atoms[0]))
            return false;
    return has_members(analysis, atoms, count);
}

/* Whether a block, the blocks in it included, uses variables of this class or a later one, the key aside. */
static bool uses_class(const Analysis *analysis, const CoreBlock *block, uint32_t class);

static bool is_used(const Analysis *analysis, const CoreAtom *atoms, uint32_t count, uint32_t class)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = class_of(analysis, &atoms[i]);
        if (found >= class && found != CLASS_KEY)
            return true;
    }
    return false;
}

static bool statement_uses(const Analysis *analysis, const CoreStatement *statement, uint32_t class)
{
    if (is_used(analysis, statement->arguments, statement->argument_count, class) ||
        is_used(analysis, statement->captured, statement->captured_count, class))
        return true;
    for (uint32_t i = 0; i < 2; i++)
        if (statement->blocks[i] != NULL && uses_class(analysis, statement->blocks[i], class))
            return true;
    return false;
}

static bool uses_class(const Analysis *analysis, const CoreBlock *block, uint32_t class)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (statement_uses(analysis, &block->statements[i], class))
            return true;
    return is_used(analysis, &block->result, 1, class);
}

/* ---- statements: each gives the class of its value in *class, or false ---- */

static bool is_sequence(Flattener *f, TypeId type)
{
    return type_is_sequence(f->types, flatten_representation(f, type));
}

static bool has_concrete_elements(Flattener *f, TypeId container)
{
    return type_is_concrete(f->types, flatten_element_type(f, container));
}

/* An operation on members. */
static bool check_op(Analysis *analysis, const CoreStatement *statement, TypeId type, uint32_t *class)
{
    Flattener *f = analysis->f;
    const CoreAtom *arguments = statement->arguments;
    switch ((int)statement->op) {
    case OP_LENGTH:
    case OP_EMPTY:
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive) case OP_##reduction:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_COUNT_TRUE:
        return true;
    case OP_SEQ:
    case OP_TAB: /* a vector that is only reduced need not be made */
        *class = class_of(analysis, &arguments[0]);
        return has_concrete_elements(f, arguments[0].type);
    case OP_ZIP:
        *class = class_of(analysis, &arguments[0]);
        return is_sequence(f, type) && has_concrete_elements(f, type) && are_same_members(analysis, arguments, 2);
    case OP_CONCAT:
    case OP_FLATTEN:
        *class = CLASS_MEMBERS + analysis->space_count++;
        return is_sequence(f, type);
    default:
        return false;
    }
}

static bool check_each(Analysis *analysis, const CoreStatement *statement, TypeId type, uint32_t *class)
{
    if (!has_members(analysis, statement->arguments, statement->argument_count))
        return !uses_class(analysis, statement->blocks[0], CLASS_MEMBERS);
    *class = class_of(analysis, &statement->arguments[0]);
    TypeId element = flatten_element_type(analysis->f, type);
    return are_same_members(analysis, statement->arguments, statement->argument_count) &&
           !uses_class(analysis, statement->blocks[0], CLASS_GROUP) &&
           (type_is_concrete(analysis->f->types, element) || is_sequence(analysis->f, element));
}

static bool check_block(Analysis *analysis, const CoreBlock *block);

/* A call that is replaced by the function's body. */
static bool check_call(Analysis *analysis, const CoreStatement *statement, uint32_t *class)
{
    const CoreFunction *function = analysis->f->core->functions.items[statement->function];
    if (!has_members(analysis, statement->arguments, statement->argument_count))
        return true;
    if (function->is_recursive || !flatten_is_put_in_place(analysis->f, function) || analysis->depth >= CALLS_MAX)
        return false;
    for (uint32_t i = 0; i < statement->argument_count; i++)
        set_class(analysis, function->body->parameters[i], class_of(analysis, &statement->arguments[i]));
    analysis->depth++;
    bool is_good = check_block(analysis, function->body);
    analysis->depth--;
    *class = class_of(analysis, &function->body->result);
    return is_good;
}

static bool check_statement(Analysis *analysis, const CoreStatement *statement, TypeId type, uint32_t *class)
{
    const CoreAtom *arguments = statement->arguments;
    bool uses_members = has_members(analysis, arguments, statement->argument_count);
    *class = CLASS_GROUP;
    switch (statement->kind) {
    case CORE_COPY:
        *class = class_of(analysis, &arguments[0]);
        return true;
    case CORE_PROJECT:
    case CORE_WRAP:
    case CORE_UNWRAP:
        if (class_of(analysis, &arguments[0]) == CLASS_KEY)
            *class = CLASS_KEY;
        return !uses_members;
    case CORE_UNIT:
    case CORE_PAIR:
    case CORE_MAKE:
    case CORE_TEXT:
        return !uses_members;
    case CORE_OP:
        return uses_members ? check_op(analysis, statement, type, class)
                            : !has_members(analysis, statement->captured, statement->captured_count);
    case CORE_CALL:
        return check_call(analysis, statement, class);
    case CORE_EACH:
        return check_each(analysis, statement, type, class);
    case CORE_IF:
    case CORE_GUARD:
    case CORE_GROUP:
        return !statement_uses(analysis, statement, CLASS_MEMBERS);
    }
    return false;
}

static bool check_block(Analysis *analysis, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        uint32_t class;
        if (++analysis->statement_count > STATEMENTS_MAX ||
            !check_statement(analysis, statement, analysis->f->core->variables.items[statement->target].type, &class))
            return false;
        set_class(analysis, statement->target, class);
    }
    return true;
}

bool flatten_reduces_members(Flattener *f, const CoreStatement *group)
{
    const CoreBlock *body = group->blocks[0];
    Analysis analysis = {.f = f, .space_count = 1};
    for (uint32_t i = 0; i < group->argument_count; i++)
        if (!has_concrete_elements(f, group->arguments[i].type))
            return false;
    if (flatten_block_draws(f, body) || flatten_block_does_io(f, body))
        return false;
    f->member_analyses++;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        set_class(&analysis, body->parameters[i], i == 0 ? CLASS_KEY : CLASS_MEMBERS);
    return check_block(&analysis, body) && class_of(&analysis, &body->result) < CLASS_MEMBERS;
}
