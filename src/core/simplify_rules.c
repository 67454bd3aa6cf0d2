/* The algebra of the simplifier: which statements are a value that is there already. Every rule holds to the bit, floats included. */
#include "core/simplify_internal.h"
#include "math/scalar.h"

enum { FOLDED_ARGUMENTS_MAX = 3 };

/* ---- looking at atoms ---- */

bool simplify_is_same(const CoreAtom *a, const CoreAtom *b)
{
    if (a->is_constant != b->is_constant)
        return false;
    return a->is_constant ? a->type == b->type && a->constant.bits == b->constant.bits : a->variable == b->variable;
}

static bool is_truth(const CoreAtom *atom, bool value)
{
    return atom->is_constant && atom->type == TYPE_BOOL && atom->constant.bits == value;
}

/* What binds the atom's variable, if that is a statement of this kind. */
static const Fact *bound_by(const Simplifier *s, const CoreAtom *atom, CoreKind kind)
{
    if (atom->is_constant || s->facts.items[atom->variable].kind != kind)
        return NULL;
    return &s->facts.items[atom->variable];
}

static const Fact *bound_by_op(const Simplifier *s, const CoreAtom *atom, Op op)
{
    const Fact *fact = bound_by(s, atom, CORE_OP);
    return fact != NULL && fact->op == op ? fact : NULL;
}

/* ---- pairs and wrappers ---- */

static bool project_pair(const Simplifier *s, const CoreStatement *statement, CoreAtom *value)
{
    const Fact *pair = bound_by(s, &statement->arguments[0], CORE_PAIR);
    if (pair != NULL)
        *value = pair->arguments[statement->component];
    return pair != NULL;
}

/* (first(p), rest(p)) is p. */
static bool pair_projections(const Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    const Fact *parts[2];
    for (uint32_t i = 0; i < 2; i++) {
        parts[i] = bound_by(s, &statement->arguments[i], CORE_PROJECT);
        if (parts[i] == NULL || parts[i]->component != i || parts[i]->arguments[0].type != type)
            return false;
    }
    *value = parts[0]->arguments[0];
    return simplify_is_same(&parts[0]->arguments[0], &parts[1]->arguments[0]);
}

static bool unwrap_wrapped(const Simplifier *s, const CoreStatement *statement, CoreAtom *value)
{
    const Fact *wrapped = bound_by(s, &statement->arguments[0], CORE_WRAP);
    if (wrapped != NULL)
        *value = wrapped->arguments[0];
    return wrapped != NULL;
}

static bool wrap_unwrapped(const Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    const Fact *unwrapped = bound_by(s, &statement->arguments[0], CORE_UNWRAP);
    if (unwrapped == NULL || unwrapped->arguments[0].type != type)
        return false;
    *value = unwrapped->arguments[0];
    return true;
}

/* ---- blocks ---- */

/* Whether a block checks an index that its result may not depend on. */
static bool has_check(const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (statement->kind == CORE_OP && statement->op == OP_CHECKED_INDEX)
            return true;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL && has_check(statement->blocks[b]))
                return true;
    }
    return false;
}

/* {x : x in xs} is xs. Two generators would have their lengths compared. */
static bool each_itself(const CoreStatement *statement, CoreAtom *value)
{
    const CoreBlock *body = statement->blocks[0];
    *value = statement->arguments[0];
    return statement->argument_count == 1 && !body->result.is_constant &&
           body->result.variable == body->parameters[0] && !has_check(body);
}

/* Branches with the same result: it comes from outside, or it is a constant. */
static bool choose_same(const CoreStatement *statement, CoreAtom *value)
{
    const CoreAtom *yes = &statement->blocks[0]->result, *no = &statement->blocks[1]->result;
    bool is_condition = is_truth(yes, true) && is_truth(no, false);
    *value = is_condition ? statement->arguments[0] : *yes;
    return (is_condition || simplify_is_same(yes, no)) && !has_check(statement->blocks[0]) && !has_check(statement->blocks[1]);
}

/* ---- operations on constants ---- */

/* What fails stays, and fails when it runs. */
static bool fold_constants(const Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    Scalar operands[FOLDED_ARGUMENTS_MAX] = {0};
    uint32_t count = statement->argument_count;
    if (count > FOLDED_ARGUMENTS_MAX || !type_is_scalar(s->types, type))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!statement->arguments[i].is_constant)
            return false;
        operands[i] = statement->arguments[i].constant;
    }
    ScalarType target = type_scalar(s->types, type);
    ScalarType operand = count == 0 ? target : type_scalar(s->types, statement->arguments[0].type);
    Scalar result = {0};
    if (!scalar_apply(statement->op, operand, target, operands, &result))
        return false;
    *value = core_constant(type, result);
    return true;
}

/* ---- operations with a constant ---- */

typedef enum Which { ZERO, ONE, ALL_ONES, NEGATIVE_ZERO } Which;
typedef enum Side { FIRST = 1, SECOND = 2, EITHER = 3 } Side;

/* Operations with a constant that give their other operand. x + 0.0 is not among them, for -0.0 + 0.0 is 0.0; nor are those that give the
 * constant whatever x is (x * 0): an error in x would vanish, though x is used. */
static const struct {
    Op op;
    Side side;      /* where the constant stands */
    ClassSet types; /* of the constant */
    Which constant;
} identities[] = {
    {OP_ADD, EITHER, CLASS_INTEGER, ZERO},
    {OP_ADD, EITHER, CLASS_FLOATING, NEGATIVE_ZERO},
    {OP_SUBTRACT, SECOND, CLASS_NUMBER, ZERO},
    {OP_MULTIPLY, EITHER, CLASS_NUMBER, ONE},
    {OP_DIVIDE, SECOND, CLASS_NUMBER, ONE},
    {OP_POWER, SECOND, CLASS_INTEGER, ONE},
    {OP_SHIFT_LEFT, SECOND, CLASS_INTEGER, ZERO},
    {OP_SHIFT_RIGHT, SECOND, CLASS_INTEGER, ZERO},
    {OP_AND, EITHER, CLASS_LOGICAL, ALL_ONES},
    {OP_OR, EITHER, CLASS_LOGICAL, ZERO},
    {OP_XOR, EITHER, CLASS_LOGICAL, ZERO},
};

static Scalar scalar_which(ScalarType type, Which which)
{
    switch (which) {
    case ZERO:
    case ONE:
        return scalar_of_int(type, which == ONE);
    case ALL_ONES:
        return scalar_all_ones(type);
    case NEGATIVE_ZERO:
        break;
    }
    return scalar_negate(type, scalar_of_int(type, 0));
}

static bool is_constant_of(const Simplifier *s, const CoreAtom *atom, ClassSet types, Which which)
{
    if (!atom->is_constant)
        return false;
    ScalarType type = type_scalar(s->types, atom->type);
    return ((ClassSet)1 << type & types) != 0 && atom->constant.bits == scalar_which(type, which).bits;
}

static bool apply_identity(const Simplifier *s, const CoreStatement *statement, CoreAtom *value)
{
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        if (identities[i].op != statement->op)
            continue;
        for (uint32_t a = 0; a < 2; a++) {
            if ((identities[i].side & (a == 0 ? FIRST : SECOND)) == 0 ||
                !is_constant_of(s, &statement->arguments[a], identities[i].types, identities[i].constant))
                continue;
            *value = statement->arguments[1 - a];
            return true;
        }
    }
    return false;
}

/* min(x, x) and the like. */
static bool apply_to_itself(const CoreStatement *statement, CoreAtom *value)
{
    Op op = statement->op;
    *value = statement->arguments[0];
    return (op == OP_MINIMUM || op == OP_MAXIMUM || op == OP_AND || op == OP_OR) &&
           simplify_is_same(&statement->arguments[0], &statement->arguments[1]);
}

/* ---- operations on one value ---- */

static bool is_conversion(Op op)
{
#define SCALAR(ID, name, c_type, kind)                                                                                \
    if (op == OP_TO_##ID)                                                                                             \
        return true;
#include "ops/scalars.def"
#undef SCALAR
    return false;
}

/* Conversions to the type it has already, `seq` of a sequence, `tab` of a vector. */
static bool keeps_value(const CoreStatement *statement, TypeId type)
{
    bool is_view = statement->op == OP_SEQ || statement->op == OP_TAB || is_conversion(statement->op);
    return is_view && statement->arguments[0].type == type;
}

/* not(not(x)), -(-x), tab(seq(v)) are what they are applied to twice. */
static bool undo(const Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    static const struct {
        Op outer, inner;
    } inverses[] = {{OP_NOT, OP_NOT}, {OP_NEGATE, OP_NEGATE}, {OP_TAB, OP_SEQ}};
    for (size_t i = 0; i < sizeof inverses / sizeof *inverses; i++) {
        const Fact *inner = inverses[i].outer != statement->op
                                ? NULL
                                : bound_by_op(s, &statement->arguments[0], inverses[i].inner);
        if (inner != NULL && inner->arguments[0].type == type) {
            *value = inner->arguments[0];
            return true;
        }
    }
    return false;
}

/* #[a, b] and #"text". The length of a sequence stays: it is a traversal. */
static bool known_length(const Simplifier *s, const CoreStatement *statement, CoreAtom *value)
{
    const CoreAtom *container = &statement->arguments[0];
    if (statement->op != OP_LENGTH || !type_is_vector(s->types, container->type))
        return false;
    const Fact *made = bound_by(s, container, CORE_MAKE);
    if (made == NULL)
        made = bound_by(s, container, CORE_TEXT);
    if (made != NULL)
        *value = core_int(made->count);
    return made != NULL;
}

/* [a, b][1] */
static bool known_element(const Simplifier *s, const CoreStatement *statement, CoreAtom *value)
{
    if (statement->op != OP_ELEMENT || !statement->arguments[1].is_constant)
        return false;
    const Fact *made = bound_by(s, &statement->arguments[0], CORE_MAKE);
    uint64_t index = statement->arguments[1].constant.bits;
    if (made == NULL || index >= made->count)
        return false; /* out of range: an error, when it runs */
    *value = made->arguments[index];
    return true;
}

/* The zero of the elements' type does not depend on them. */
static bool zero_of_elements(const Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    if (statement->op != OP_ELEMENT_IDENTITY || !type_is_scalar(s->types, type))
        return false;
    ScalarType scalar = type_scalar(s->types, type);
    *value = core_constant(type, scalar == SCALAR_CHAR ? (Scalar){.bits = ' '} : scalar_of_int(scalar, 0));
    return true;
}

static bool apply_op(const Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    if (fold_constants(s, statement, type, value))
        return true;
    if (statement->argument_count == 1) {
        *value = statement->arguments[0];
        return zero_of_elements(s, statement, type, value) || keeps_value(statement, type) || undo(s, statement, type, value) ||
               known_length(s, statement, value);
    }
    return statement->argument_count == 2 &&
           (apply_identity(s, statement, value) || apply_to_itself(statement, value) ||
            known_element(s, statement, value));
}

bool simplify_rule(const Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    switch (statement->kind) {
    case CORE_PAIR:
        return pair_projections(s, statement, type, value);
    case CORE_PROJECT:
        return project_pair(s, statement, value);
    case CORE_WRAP:
        return wrap_unwrapped(s, statement, type, value);
    case CORE_UNWRAP:
        return unwrap_wrapped(s, statement, value);
    case CORE_OP:
        return apply_op(s, statement, type, value);
    case CORE_IF:
        return choose_same(statement, value);
    case CORE_EACH:
        return each_itself(statement, value);
    case CORE_COPY:
    case CORE_UNIT:
    case CORE_MAKE:
    case CORE_TEXT:
    case CORE_CALL:
    case CORE_GUARD:
    case CORE_GROUP:
        break;
    }
    return false;
}

/* ---- truth values ---- */

enum { CHEAP_COUNT = 8 };

/* Scalar operations that cost next to nothing and cannot fail. */
static bool is_cheap_op(Op op)
{
    static const bool cheap[OP_COUNT] = {
        [OP_ADD] = true,        [OP_SUBTRACT] = true,   [OP_MULTIPLY] = true,      [OP_NEGATE] = true,
        [OP_ABSOLUTE] = true,   [OP_MINIMUM] = true,    [OP_MAXIMUM] = true,       [OP_SHIFT_LEFT] = true,
        [OP_SHIFT_RIGHT] = true, [OP_EQUAL] = true,     [OP_NOT_EQUAL] = true,     [OP_LESS] = true,
        [OP_LESS_EQUAL] = true, [OP_GREATER] = true,    [OP_GREATER_EQUAL] = true, [OP_AND] = true,
        [OP_OR] = true,         [OP_XOR] = true,        [OP_NAND] = true,          [OP_NOR] = true,
        [OP_NOT] = true,        [OP_SAME] = true,       [OP_BTOI] = true,          [OP_CODE_CHAR] = true,
        [OP_CHAR_CODE] = true,
    };
    return cheap[op];
}

bool simplify_is_cheap(const Simplifier *s, const CoreStatement *statement)
{
    if (statement->kind != CORE_OP)
        return statement->kind == CORE_PROJECT || statement->kind == CORE_UNWRAP;
    if (statement->op == OP_LENGTH)
        return type_is_vector(s->types, statement->arguments[0].type);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        if (!type_is_scalar(s->types, statement->arguments[i].type))
            return false;
    return is_cheap_op(statement->op);
}

static bool is_cheap_block(const Simplifier *s, const CoreBlock *block)
{
    if (block->statement_count > CHEAP_COUNT)
        return false;
    for (uint32_t i = 0; i < block->statement_count; i++)
        if (!simplify_is_cheap(s, &block->statements[i]))
            return false;
    return true;
}

/* Evaluates a branch whatever the condition; gives its result. */
static CoreAtom hoist(Simplifier *s, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        *vec_push(s->arena, &s->open->builder.statements) = block->statements[i];
    return block->result;
}

static void become_op(Simplifier *s, CoreStatement *statement, Op op, const CoreBlock *other)
{
    uint32_t count = other == NULL ? 1 : 2;
    CoreAtom *arguments = ARENA_ARRAY(s->arena, CoreAtom, count);
    arguments[0] = statement->arguments[0];
    if (other != NULL)
        arguments[1] = hoist(s, other);
    statement->kind = CORE_OP;
    statement->op = op;
    statement->arguments = arguments;
    statement->argument_count = count;
    statement->blocks[0] = statement->blocks[1] = NULL;
}

void simplify_condition(Simplifier *s, CoreStatement *statement)
{
    const CoreBlock *yes = statement->blocks[0], *no = statement->blocks[1];
    if (yes->result.type != TYPE_BOOL || (is_truth(&yes->result, true) && is_truth(&no->result, false)))
        return; /* the condition itself: simplify_rule sees it */
    if (is_truth(&yes->result, false) && is_truth(&no->result, true))
        become_op(s, statement, OP_NOT, NULL);
    else if (is_truth(&no->result, false) && is_cheap_block(s, yes))
        become_op(s, statement, OP_AND, yes);
    else if (is_truth(&yes->result, true) && is_cheap_block(s, no))
        become_op(s, statement, OP_OR, no);
}
