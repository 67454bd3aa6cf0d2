/* Unification of types with classes and containers.
 *
 * Binding a variable restricts what it is bound to by the variable's class. A container that must be concrete is a vector. */
#include "types/infer.h"

/* Types are graphs; this bounds the walk over one as a tree. Its depth is bounded too: links of variables may make types deeper
 * than any node says. */
enum { UNIFY_STEPS_MAX = 1000000 };

static Unification failure(Infer *infer, Unification why, TypeId expected, TypeId found)
{
    infer->failed_expected = expected;
    infer->failed_found = found;
    return why;
}

/* ---- classes ---- */

static Unification restrict_type(Infer *infer, TypeId type, ClassSet class_set);

/* A class is expected, no type. */
static Unification class_failure(Infer *infer, TypeId type, ClassSet class_set)
{
    infer->failed_class = class_set;
    return failure(infer, class_set == CLASS_CONCRETE ? UNIFY_NOT_CONCRETE : UNIFY_CLASS, 0, type);
}

static Unification restrict_variable(Infer *infer, TypeId type, ClassSet class_set)
{
    TypeVariable *variable = type_variable_of(infer->types, type);
    ClassSet meet = variable->class_set & class_set;
    bool is_one_of_both = meet == variable->class_set || meet == class_set;
    /* NESL does not compute the meet of number and logical. */
    if (meet == 0 || (infer->definition->dialect == DIALECT_NESL && !infer->definition->is_library && !is_one_of_both))
        return class_failure(infer, type, class_set);
    variable->class_set = meet;
    return UNIFY_OK;
}

static Unification restrict_container(Infer *infer, TypeId type)
{
    TypeNode node = *type_node(infer->types, type);
    TypeId mark = type_resolve(infer->types, node.a);
    if (mark == TYPE_MARK_SEQUENCE)
        return class_failure(infer, type, CLASS_CONCRETE);
    if (mark != TYPE_MARK_VECTOR)
        type_variable_of(infer->types, mark)->link = TYPE_MARK_VECTOR;
    return restrict_type(infer, node.b, CLASS_CONCRETE);
}

/* Counts a step of the walk over a type; false when it has become too long, or too deep for the stack. */
static bool is_within_bounds(Infer *infer)
{
    return ++infer->steps <= UNIFY_STEPS_MAX && infer->depth <= TYPE_DEPTH_MAX;
}

static Unification restrict_parts(Infer *infer, TypeId type)
{
    TypeNode node = *type_node(infer->types, type);
    switch (node.kind) {
    case TYPE_PAIR: {
        Unification first = restrict_type(infer, node.a, CLASS_CONCRETE);
        return first != UNIFY_OK ? first : restrict_type(infer, node.b, CLASS_CONCRETE);
    }
    case TYPE_CONTAINER:
        return restrict_container(infer, type);
    case TYPE_DATA:
        return restrict_type(infer, node.b, CLASS_CONCRETE);
    case TYPE_FUNCTION: /* what it captures is known after specialisation */
    case TYPE_CLOSURE:
    case TYPE_UNIT:
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return UNIFY_OK;
}

static Unification restrict_type(Infer *infer, TypeId type, ClassSet class_set)
{
    if (class_set == CLASS_ANY)
        return UNIFY_OK;
    if (!is_within_bounds(infer))
        return UNIFY_TOO_LARGE;
    type = type_resolve(infer->types, type);
    TypeNode node = *type_node(infer->types, type);
    if (node.kind == TYPE_VARIABLE)
        return restrict_variable(infer, type, class_set);
    if (node.kind == TYPE_SCALAR)
        return (class_set & 1u << node.a) != 0 ? UNIFY_OK : class_failure(infer, type, class_set);
    if ((class_set & CLASS_BIT_STRUCTURED) == 0)
        return class_failure(infer, type, class_set);
    if (node.is_ground)
        return node.has_sequence ? class_failure(infer, type, CLASS_CONCRETE) : UNIFY_OK;
    infer->depth++;
    Unification parts = restrict_parts(infer, type);
    infer->depth--;
    return parts;
}

Unification infer_restrict(Infer *infer, TypeId type, ClassSet class_set)
{
    infer->steps = 0;
    return restrict_type(infer, type, class_set);
}

/* ---- unification ---- */

typedef struct Search {
    TypeId variable;
    bool is_found;
} Search;

static void compare_variable(void *context, TypeId variable)
{
    Search *search = context;
    search->is_found |= variable == search->variable;
}

static bool occurs_in(Infer *infer, TypeId variable, TypeId type)
{
    if (type_node(infer->types, type)->is_ground)
        return false;
    Search search = {.variable = variable};
    type_each_variable(infer->types, type, compare_variable, &search);
    return search.is_found;
}

static Unification bind_variable(Infer *infer, TypeId variable, TypeId type)
{
    if (type_kind(infer->types, type) != TYPE_VARIABLE && occurs_in(infer, variable, type))
        return failure(infer, UNIFY_INFINITE, variable, type);
    TypeVariable *bound = type_variable_of(infer->types, variable);
    if (!bound->is_container) {
        Unification restricted = restrict_type(infer, type, bound->class_set);
        /* a literal that does not fit is told by its type, not by the class of all numbers */
        if (restricted == UNIFY_CLASS && type_variable_of(infer->types, variable)->is_literal &&
            type_kind(infer->types, type) != TYPE_VARIABLE)
            return failure(infer, UNIFY_MISMATCH, variable, type);
        if (restricted != UNIFY_OK)
            return restricted;
    }
    bound = type_variable_of(infer->types, variable);
    bound->link = type;
    if (type_kind(infer->types, type) == TYPE_VARIABLE) {
        type_variable_of(infer->types, type)->is_float_literal |= bound->is_float_literal;
        type_variable_of(infer->types, type)->is_literal |= bound->is_literal;
    }
    return UNIFY_OK;
}

static Unification unify(Infer *infer, TypeId expected, TypeId found);

static Unification unify_both(Infer *infer, const TypeNode *expected, const TypeNode *found)
{
    Unification first = unify(infer, expected->a, found->a);
    return first != UNIFY_OK ? first : unify(infer, expected->b, found->b);
}

static Unification unify_containers(Infer *infer, TypeId expected, TypeId found)
{
    TypeNode left = *type_node(infer->types, expected), right = *type_node(infer->types, found);
    if (unify(infer, left.a, right.a) != UNIFY_OK)
        return failure(infer, UNIFY_CONTAINER, expected, found);
    return unify(infer, left.b, right.b);
}

static Unification unify_nodes(Infer *infer, TypeId expected, TypeId found)
{
    TypeNode left = *type_node(infer->types, expected), right = *type_node(infer->types, found);
    if (left.kind != right.kind)
        return failure(infer, UNIFY_MISMATCH, expected, found);
    switch (left.kind) {
    case TYPE_PAIR:
    case TYPE_FUNCTION:
        return unify_both(infer, &left, &right);
    case TYPE_CONTAINER:
        return unify_containers(infer, expected, found);
    case TYPE_DATA:
        if (left.a != right.a)
            return failure(infer, UNIFY_MISMATCH, expected, found);
        return unify(infer, left.b, right.b);
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_UNIT:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return failure(infer, UNIFY_MISMATCH, expected, found);
}

static Unification unify(Infer *infer, TypeId expected, TypeId found)
{
    if (!is_within_bounds(infer))
        return UNIFY_TOO_LARGE;
    expected = type_resolve(infer->types, expected);
    found = type_resolve(infer->types, found);
    if (expected == found)
        return UNIFY_OK;
    if (type_kind(infer->types, found) == TYPE_VARIABLE) {
        Unification bound = bind_variable(infer, found, expected);
        return bound == UNIFY_CLASS ? failure(infer, bound, expected, found) : bound;
    }
    if (type_kind(infer->types, expected) == TYPE_VARIABLE)
        return bind_variable(infer, expected, found);
    infer->depth++;
    Unification parts = unify_nodes(infer, expected, found);
    infer->depth--;
    return parts;
}

Unification infer_unify(Infer *infer, TypeId expected, TypeId found)
{
    infer->steps = 0;
    return unify(infer, expected, found);
}

/* ---- reporting ---- */

const char *infer_text(const Infer *infer, TypeId type)
{
    bool is_nesl = infer->definition->dialect == DIALECT_NESL;
    return type_text_in(infer->types, type, is_nesl ? TYPE_STYLE_NESL : TYPE_STYLE_RUNNEL);
}

void infer_failed(Infer *infer)
{
    infer->has_errors = true;
    infer->definition->state = DEFINITION_WRONG;
}

static void report_container(Infer *infer, Span at)
{
    bool wants_vector = type_is_vector(infer->types, infer->failed_expected);
    diagnostics_error(infer->diagnostics, ERROR_CONTAINER_MISMATCH, at, "expected a %s `%s`, found a %s `%s`",
                      wants_vector ? "vector" : "sequence", infer_text(infer, infer->failed_expected),
                      wants_vector ? "sequence" : "vector", infer_text(infer, infer->failed_found));
    diagnostics_note(infer->diagnostics, (Span){0}, "%s",
                     wants_vector ? "tab(s) materialises a sequence, seq(v) streams a vector"
                                  : "seq(v) streams a vector, tab(s) materialises a sequence");
}

/* "`int`", or "a type in class number" for a variable. */
static const char *kind_text(Infer *infer, TypeId type)
{
    type = type_resolve(infer->types, type);
    const TypeVariable *variable =
        type_kind(infer->types, type) == TYPE_VARIABLE ? type_variable_of(infer->types, type) : NULL;
    if (variable == NULL || variable->is_literal)
        return arena_format(infer->arena, "`%s`", infer_text(infer, type));
    return arena_format(infer->arena, "a type in class %s", class_name(variable->class_set));
}

static void report_class(Infer *infer, Span at)
{
    const char *expected = infer->failed_expected != 0
                               ? kind_text(infer, infer->failed_expected)
                               : arena_format(infer->arena, "a type in class %s", class_name(infer->failed_class));
    diagnostics_error(infer->diagnostics, ERROR_CLASS_MISMATCH, at, "expected %s, found %s", expected,
                      kind_text(infer, infer->failed_found));
    TypeId found = type_resolve(infer->types, infer->failed_found);
    if (type_kind(infer->types, found) == TYPE_CONTAINER)
        diagnostics_note(infer->diagnostics, (Span){0}, "a comprehension such as `{x + 1 : x in xs}` computes with each element");
    bool is_between_classes = type_kind(infer->types, found) == TYPE_VARIABLE &&
                              (type_variable_of(infer->types, found)->class_set & CLASS_INTEGER) != 0;
    if (infer->definition->dialect == DIALECT_NESL && is_between_classes)
        diagnostics_note(infer->diagnostics, (Span){0}, "an annotation with int decides it");
}

static void report_not_concrete(Infer *infer, Span at)
{
    diagnostics_error(infer->diagnostics, ERROR_NOT_CONCRETE, at,
                      "`%s` contains a sequence, but a concrete type is needed here",
                      infer_text(infer, infer->failed_found));
    diagnostics_note(infer->diagnostics, (Span){0}, "tab(s) materialises a sequence");
}

/* Where a function is defined, if the user has written it. */
static Span callee_span(const Expr *callee)
{
    bool is_users = callee->kind == EXPR_NAME && callee->reference == REFERENCE_DEFINITION &&
                    !callee->definition->is_library;
    return is_users ? callee->definition->span : (Span){0};
}

void infer_note_callee(Infer *infer, const Expr *callee)
{
    if (callee->kind != EXPR_NAME)
        return;
    TypeId parameter = type_node(infer->types, type_resolve(infer->types, callee->type))->a;
    bool is_local = callee->reference == REFERENCE_LOCAL;
    diagnostics_note(infer->diagnostics, callee_span(callee), "`%s` takes %s%s",
                     names_text(infer->environment->names, callee->name), infer_text(infer, parameter),
                     is_local ? "; a local function has one type, a function at top level may have many" : "");
}

static void note_reason(Infer *infer, Reason reason)
{
    if (reason.text != NULL)
        diagnostics_note(infer->diagnostics, reason.span, "%s", reason.text);
    if (reason.callee != NULL)
        infer_note_callee(infer, reason.callee);
    if (reason.operator != NULL)
        diagnostics_note(infer->diagnostics, reason.operator->items[0]->span, "the left operand of `%s` is `%s`",
                         names_text(infer->environment->names, reason.operator->name),
                         infer_text(infer, reason.operator->items[0]->type));
}

/* The scalar type of a number or of a literal; SCALAR_COUNT for anything else. */
static ScalarType number_type(const Infer *infer, TypeId type)
{
    type = type_resolve(infer->types, type);
    if (type_kind(infer->types, type) == TYPE_VARIABLE && type_variable_of(infer->types, type)->is_literal)
        return type_variable_of(infer->types, type)->is_float_literal ? SCALAR_F64 : SCALAR_I64;
    bool is_number = type_is_scalar(infer->types, type) && (CLASS_NUMBER & 1u << type_scalar(infer->types, type)) != 0;
    return is_number ? type_scalar(infer->types, type) : SCALAR_COUNT;
}

/* There are no implicit conversions, which surprises many. */
static void note_conversion(Infer *infer, TypeId expected, TypeId found)
{
    ScalarType wanted = number_type(infer, expected), given = number_type(infer, found);
    if (wanted == SCALAR_COUNT || given == SCALAR_COUNT)
        return;
    bool is_cut = wanted == SCALAR_I64 && scalar_kind(given) == KIND_FLOATING;
    diagnostics_note(infer->diagnostics, (Span){0}, "numbers are converted by name: %s(x)%s",
                     is_cut ? "float" : scalar_name(wanted), is_cut ? ", trunc(x), round(x), floor(x), ceil(x)" : "");
}

void infer_note_line_break(Infer *infer)
{
    if (infer->line_break.start == 0)
        return;
    diagnostics_note(infer->diagnostics, infer->line_break,
                     "this is the argument of what ends the line before it; is a `;` missing there?");
    infer->line_break = (Span){0};
}

static void report(Infer *infer, Unification why, TypeId expected, TypeId found, Span at, Reason reason)
{
    infer_failed(infer);
    switch (why) {
    case UNIFY_OK:
        return;
    case UNIFY_MISMATCH:
        diagnostics_error(infer->diagnostics, ERROR_TYPE_MISMATCH, at, "expected `%s`, found `%s`",
                          infer_text(infer, expected), infer_text(infer, found));
        note_conversion(infer, expected, found);
        break;
    case UNIFY_CLASS:
        report_class(infer, at);
        break;
    case UNIFY_CONTAINER:
        report_container(infer, at);
        break;
    case UNIFY_INFINITE:
        diagnostics_error(infer->diagnostics, ERROR_INFINITE_TYPE, at,
                          "the type would contain itself: `%s` would have to be `%s`",
                          infer_text(infer, infer->failed_expected),
                          infer_text(infer, infer->failed_found));
        break;
    case UNIFY_NOT_CONCRETE:
        report_not_concrete(infer, at);
        break;
    case UNIFY_TOO_LARGE:
        diagnostics_error(infer->diagnostics, ERROR_TYPE_TOO_LARGE, at, "the types here are too large to compare");
        infer->has_given_up = true;
        break;
    }
    note_reason(infer, reason);
    infer_note_line_break(infer);
}

bool infer_expect(Infer *infer, TypeId expected, TypeId found, Span at, Reason reason)
{
    if (infer->has_given_up)
        return false;
    Unification result = infer_unify(infer, expected, found);
    if (result != UNIFY_OK)
        report(infer, result, expected, found, at, reason);
    return result == UNIFY_OK;
}

bool infer_require(Infer *infer, TypeId type, ClassSet class_set, Span at, Reason reason)
{
    if (infer->has_given_up)
        return false;
    Unification result = infer_restrict(infer, type, class_set);
    if (result != UNIFY_OK)
        report(infer, result, type, type, at, reason);
    return result == UNIFY_OK;
}
