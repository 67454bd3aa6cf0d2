/* Inference of expressions and patterns.
 *
 * Every expression gets its type before specialisation. Let-bound variables and lambda parameters are monomorphic; uses of definitions
 * are instances of their schemes, recorded for the elaborator. */
#include "types/infer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const Reason no_reason = {0};

TypeId infer_container(Infer *infer, TypeId mark, TypeId element, Span span)
{
    TypeId container = type_container(infer->types, mark, element);
    if (mark != TYPE_MARK_SEQUENCE && !type_node(infer->types, container)->is_ground)
        *vec_push(infer->arena, &infer->containers) = (PendingContainer){.container = container, .span = span};
    else if (mark == TYPE_MARK_VECTOR)
        infer_require(infer, element, CLASS_CONCRETE, span, (Reason){.text = "the elements of a vector are concrete"});
    return container;
}

/* ---- uses of definitions ---- */

/* NESL has no classes below number: there a function for all integer types is one for int, for all floats one for float. */
static TypeId fresh_like(Infer *infer, TypeId variable)
{
    TypeVariable model = *type_variable_of(infer->types, variable);
    bool is_nesl = infer->definition->dialect == DIALECT_NESL;
    if (is_nesl && (model.class_set == CLASS_INTEGER || model.class_set == CLASS_FLOATING))
        return model.class_set == CLASS_INTEGER ? TYPE_INT : TYPE_FLOAT;
    TypeId fresh = model.is_container ? type_container_variable(infer->types)
                                      : type_variable(infer->types, model.class_set);
    type_variable_of(infer->types, fresh)->is_float_literal = model.is_float_literal;
    return fresh;
}

static TypeId instantiate(Infer *infer, Definition *definition, Expr *use)
{
    if (definition->kind == DEFINITION_OP)
        infer_built_in(infer->environment, definition);
    if (definition->kind == DEFINITION_CONSTRUCTOR)
        infer_constructor(infer->environment, definition);
    if (definition->state == DEFINITION_WRONG) {
        infer->has_errors = true; /* reported where it is defined */
        infer->definition->state = DEFINITION_WRONG;
        return infer_fresh(infer);
    }
    if (definition->state == DEFINITION_INFERRING || definition->variable_count == 0)
        return definition->type;
    use->instance.count = definition->variable_count;
    use->instance.types = ARENA_ARRAY(infer->arena, TypeId, definition->variable_count);
    for (uint32_t i = 0; i < definition->variable_count; i++)
        use->instance.types[i] = fresh_like(infer, definition->variables[i]);
    for (uint32_t i = 0; i < definition->open_containers.count; i++) {
        TypeId container = type_substitute(infer->types, definition->open_containers.items[i], use->instance.types,
                                           use->instance.count);
        *vec_push(infer->arena, &infer->containers) = (PendingContainer){.container = container, .span = use->span};
    }
    return type_substitute(infer->types, definition->type, use->instance.types, use->instance.count);
}

static TypeId infer_name(Infer *infer, Expr *expr)
{
    switch (expr->reference) {
    case REFERENCE_LOCAL:
        return infer->definition->locals.items[expr->local].type;
    case REFERENCE_DEFINITION:
        if (expr->definition->kind == DEFINITION_OVERLOAD)
            expr->definition = expr->definition->alternatives[0];
        if (expr->definition->kind == DEFINITION_VALUE && expr->definition->owner->state == DEFINITION_WRONG)
            expr->definition->state = DEFINITION_WRONG;
        return instantiate(infer, expr->definition, expr);
    case REFERENCE_NONE: /* reported by resolve */
        break;
    }
    infer_failed(infer);
    return infer_fresh(infer);
}

/* ---- calls ---- */

/* Compares argument by argument, so that an error points at the first one that is wrong. */
static void expect_arguments(Infer *infer, TypeId expected, Expr *argument, Reason reason)
{
    uint32_t count = argument->kind == EXPR_TUPLE ? argument->item_count : 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        TypeId resolved = type_resolve(infer->types, expected);
        if (type_kind(infer->types, resolved) != TYPE_PAIR) {
            TypeId rest[2] = {argument->items[i]->type, infer_fresh(infer)};
            if (!infer_expect(infer, resolved, type_tuple(infer->types, rest, 2), argument->span, reason))
                return;
            expected = rest[1];
            continue;
        }
        if (!infer_expect(infer, type_first(infer->types, resolved), argument->items[i]->type,
                          argument->items[i]->span, reason))
            return;
        expected = type_rest(infer->types, resolved);
    }
    const Expr *last = count == 0 ? argument : argument->items[count - 1];
    infer_expect(infer, expected, last->type, last->span, reason);
}

static uint32_t spine_length(const Types *types, TypeId type)
{
    uint32_t length = 1;
    for (type = type_resolve(types, type); type_kind(types, type) == TYPE_PAIR; length++)
        type = type_resolve(types, type_rest(types, type));
    return length;
}

/* A count of arguments that cannot fit is told as such. */
static bool check_argument_count(Infer *infer, const Expr *function, TypeId expected, const Expr *argument)
{
    TypeId given_type = type_resolve(infer->types, argument->type);
    bool is_literal = type_kind(infer->types, given_type) == TYPE_VARIABLE &&
                      type_variable_of(infer->types, given_type)->is_literal;
    bool is_one = argument->kind != EXPR_TUPLE && (is_literal || type_is_scalar(infer->types, given_type) ||
                                                   type_kind(infer->types, given_type) == TYPE_CONTAINER);
    if (argument->kind != EXPR_TUPLE && !is_one)
        return true;
    TypeId end = type_resolve(infer->types, expected);
    while (type_kind(infer->types, end) == TYPE_PAIR)
        end = type_resolve(infer->types, type_rest(infer->types, end));
    uint32_t wanted = end == TYPE_UNIT_ID && spine_length(infer->types, expected) == 1
                          ? 0
                          : spine_length(infer->types, expected);
    uint32_t given = is_one ? 1 : argument->item_count;
    /* a last parameter of any type may be a tuple of what is left */
    bool is_open = type_kind(infer->types, end) == TYPE_VARIABLE &&
                   (type_variable_of(infer->types, end)->class_set & CLASS_BIT_STRUCTURED) != 0;
    bool may_end_in_tuple = argument->kind == EXPR_TUPLE && given > 1 && given < wanted;
    bool is_unit = is_open && given == 0 && wanted == 1;
    if (given == wanted || (is_open && given > wanted) || may_end_in_tuple || is_unit)
        return true;
    if (function->kind != EXPR_NAME)
        return true;
    diagnostics_error(infer->diagnostics, ERROR_TYPE_MISMATCH, argument->span.start != 0 ? argument->span : function->span,
                      "`%s` takes %u argument%s, but %u %s given", names_text(infer->environment->names, function->name),
                      wanted, wanted == 1 ? "" : "s", given, given == 1 ? "is" : "are");
    infer_note_callee(infer, function);
    infer_failed(infer);
    return false;
}

static TypeId apply(Infer *infer, Expr *function, Expr *argument, Span span)
{
    TypeId type = type_resolve(infer->types, function->type);
    if (type_kind(infer->types, type) == TYPE_FUNCTION) {
        TypeNode node = *type_node(infer->types, type);
        function->type = type;
        if (check_argument_count(infer, function, node.a, argument))
            expect_arguments(infer, node.a, argument, (Reason){.callee = function});
        return node.b;
    }
    TypeId result = infer_fresh(infer);
    if (type_kind(infer->types, type) == TYPE_VARIABLE) {
        infer_expect(infer, type, type_function(infer->types, argument->type, result), span, no_reason);
        return result;
    }
    diagnostics_error(infer->diagnostics, ERROR_NOT_A_FUNCTION, function->span,
                      "this is not a function but `%s`, so it cannot be called", infer_text(infer, type));
    if (function->kind == EXPR_BOOL && infer->definition->dialect == DIALECT_NESL)
        diagnostics_note(infer->diagnostics, (Span){0}, "in NESL, `t` and `f` are the truth values");
    infer_note_line_break(infer);
    infer_failed(infer);
    return result;
}

static void choose_overload(Infer *infer, Expr *function, const Expr *argument)
{
    bool is_overloaded = function->kind == EXPR_NAME && function->reference == REFERENCE_DEFINITION &&
                         function->definition->kind == DEFINITION_OVERLOAD;
    if (!is_overloaded)
        return;
    TypeId type = type_resolve(infer->types, argument->type);
    bool has_two = type_kind(infer->types, type) == TYPE_PAIR;
    function->definition = function->definition->alternatives[has_two ? 1 : 0];
}

static bool is_on_later_line(const Infer *infer, Span before, Span after)
{
    const Source *source = sources_find(infer->environment->sources, before.end);
    if (source == NULL || after.start < before.end || after.start > source->base + source->length)
        return false;
    return memchr(source->text + (before.end - source->base), '\n', after.start - before.end) != NULL;
}

static TypeId infer_call(Infer *infer, Expr *call)
{
    bool is_nesl = infer->definition->dialect == DIALECT_NESL && !infer->definition->is_library;
    if (is_nesl && is_on_later_line(infer, call->items[0]->span, call->items[1]->span))
        infer->line_break = call->items[1]->span;
    infer_expr(infer, call->items[1]);
    choose_overload(infer, call->items[0], call->items[1]);
    infer_expr(infer, call->items[0]);
    return apply(infer, call->items[0], call->items[1], call->span);
}

/* ---- operators ---- */

/* The operator's type is instantiated on the node itself; operands are compared one by one. */
static TypeId infer_operator(Infer *infer, Expr *expr)
{
    TypeNode scheme = *type_node(infer->types, instantiate(infer, expr->definition, expr));
    if (scheme.kind != TYPE_FUNCTION)
        return infer_fresh(infer);
    /* after a failure the result is anything, so that one mistake is one error */
    if (expr->kind == EXPR_UNARY)
        return infer_expect(infer, scheme.a, expr->items[0]->type, expr->items[0]->span, no_reason)
                   ? scheme.b
                   : infer_fresh(infer);
    TypeId operands = type_resolve(infer->types, scheme.a);
    TypeId left = type_first(infer->types, operands), right = type_rest(infer->types, operands);
    const char *spelling = names_text(infer->environment->names, expr->name);
    bool compares = infer->definition->dialect == DIALECT_NESL &&
                    (strcmp(spelling, "==") == 0 || strcmp(spelling, "/=") == 0);
    Reason left_reason = {.text = compares ? "eql(a, b) compares values of any type" : NULL};
    bool is_right = infer_expect(infer, left, expr->items[0]->type, expr->items[0]->span, left_reason) &&
                    infer_expect(infer, right, expr->items[1]->type, expr->items[1]->span, (Reason){.operator = expr});
    return is_right ? scheme.b : infer_fresh(infer);
}

/* Walks the left spine of a chain of operators from its innermost operand outwards. */
static TypeId infer_binary(Infer *infer, Expr *expr)
{
    VEC(Expr *) spine = {0};
    Expr *left = expr;
    for (; left->kind == EXPR_BINARY; left = left->items[0])
        *vec_push(infer->arena, &spine) = left;
    infer_expr(infer, left);
    while (spine.count > 0) {
        Expr *node = vec_pop(&spine);
        infer_expr(infer, node->items[1]);
        node->type = infer_operator(infer, node);
    }
    return expr->type;
}

/* ---- literals ---- */

double infer_literal_value(const Expr *literal)
{
    if (literal->kind == EXPR_FLOAT)
        return literal->number;
    return literal->is_negative ? -(double)literal->magnitude : (double)literal->magnitude;
}

static bool fits(const Expr *literal, ScalarType scalar)
{
    if (scalar_kind(scalar) == KIND_FLOATING)
        return scalar != SCALAR_F32 || !isinf((float)infer_literal_value(literal));
    uint32_t bits = scalar_bits(scalar);
    bool is_signed = scalar_kind(scalar) == KIND_SIGNED;
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t limit = is_signed ? all / 2 + literal->is_negative : literal->is_negative ? 0 : all;
    return literal->magnitude <= limit;
}

bool infer_check_literal(Environment *environment, const Expr *literal, TypeId type, Dialect dialect)
{
    bool wraps = dialect == DIALECT_NESL; /* as NESL's literals do */
    if (wraps || fits(literal, type_scalar(environment->types, type)))
        return true;
    if (literal->kind == EXPR_INT)
        diagnostics_error(environment->diagnostics, ERROR_LITERAL_RANGE, literal->span, "%s%llu does not fit the type %s",
                          literal->is_negative ? "-" : "", (unsigned long long)literal->magnitude,
                          type_text(environment->types, type));
    else
        diagnostics_error(environment->diagnostics, ERROR_LITERAL_RANGE, literal->span, "%g does not fit the type %s",
                          literal->number, type_text(environment->types, type));
    return false;
}

static void settle_literals(Infer *infer)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < infer->literals.count; i++) {
        const Expr *literal = infer->literals.items[i];
        TypeId type = type_resolve(infer->types, literal->type);
        if (!type_is_scalar(infer->types, type))
            infer->literals.items[kept++] = literal;
        else if (!infer_check_literal(infer->environment, literal, type, infer->definition->dialect))
            infer_failed(infer);
    }
    infer->literals.count = kept;
}

static TypeId infer_number(Infer *infer, const Expr *expr)
{
    *vec_push(infer->arena, &infer->literals) = expr;
    bool is_float = expr->kind == EXPR_FLOAT;
    if (infer->definition->dialect == DIALECT_NESL)
        return is_float ? TYPE_FLOAT : TYPE_INT;
    TypeId type = type_variable(infer->types, is_float ? CLASS_FLOATING : CLASS_NUMBER);
    type_variable_of(infer->types, type)->is_literal = true;
    type_variable_of(infer->types, type)->is_float_literal = is_float;
    return type;
}

/* A numeric literal in a list takes the list's element type without a variable of its own: lists may be long. */
static bool share_literal_type(Infer *infer, Expr *item, TypeId element)
{
    bool is_number = item->kind == EXPR_INT || item->kind == EXPR_FLOAT;
    if (!is_number || infer->definition->dialect == DIALECT_NESL)
        return false;
    TypeId resolved = type_resolve(infer->types, element);
    ClassSet wanted = item->kind == EXPR_INT ? CLASS_NUMBER : CLASS_FLOATING;
    if (infer_restrict(infer, resolved, wanted) != UNIFY_OK)
        return false;
    if (item->kind == EXPR_FLOAT && type_kind(infer->types, resolved) == TYPE_VARIABLE)
        type_variable_of(infer->types, resolved)->is_float_literal = true;
    item->type = element;
    *vec_push(infer->arena, &infer->literals) = item;
    return true;
}

static TypeId infer_list(Infer *infer, Expr *list)
{
    TypeId element = infer_fresh(infer);
    if (list->element_type != NULL)
        infer_expect(infer, element, infer_type_expr(infer, list->element_type), list->span, no_reason);
    for (uint32_t i = 0; i < list->item_count; i++) {
        Expr *item = list->items[i];
        if (i > 0 && share_literal_type(infer, item, element))
            continue;
        infer_expr(infer, item);
        infer_expect(infer, element, item->type, item->span,
                     i == 0 ? no_reason
                            : (Reason){.text = "the elements of a container have one type; the first is here",
                                       .span = list->items[0]->span});
    }
    TypeId mark = list->brackets == BRACKETS_SQUARE ? TYPE_MARK_VECTOR : TYPE_MARK_SEQUENCE;
    return infer_container(infer, mark, element, list->span);
}

static TypeId infer_range(Infer *infer, Expr *range)
{
    TypeId element = infer->definition->dialect == DIALECT_NESL
                         ? TYPE_INT
                         : type_variable(infer->types, range->is_inclusive ? CLASS_INTEGER : CLASS_NUMBER);
    for (uint32_t i = 0; i < range->item_count; i++) {
        infer_expr(infer, range->items[i]);
        infer_expect(infer, element, range->items[i]->type, range->items[i]->span,
                     (Reason){.text = "the bounds and the step of a range have one type", .span = range->span});
    }
    TypeId mark = range->brackets == BRACKETS_SQUARE ? TYPE_MARK_VECTOR : TYPE_MARK_SEQUENCE;
    return type_container(infer->types, mark, element);
}

/* ---- indexing and selection ---- */

static TypeId infer_element(Infer *infer, Expr *expr)
{
    TypeId element = infer_fresh(infer);
    TypeId vector = infer_container(infer, TYPE_MARK_VECTOR, element, expr->items[0]->span);
    infer_expr(infer, expr->items[0]);
    infer_expect(infer, vector, expr->items[0]->type, expr->items[0]->span,
                 (Reason){.text = "only vectors can be indexed", .span = expr->span});
    for (uint32_t i = 1; i < expr->item_count; i++) {
        if (expr->items[i] == NULL)
            continue;
        infer_expr(infer, expr->items[i]);
        infer_expect(infer, TYPE_INT, expr->items[i]->type, expr->items[i]->span,
                     (Reason){.text = "indices are of type int"});
    }
    return expr->kind == EXPR_SLICE ? vector : element;
}

/* Where x.i stands on the spine of x's type: at a component, or where the type is not known yet. */
typedef struct Spine {
    TypeId type;       /* what is there */
    uint32_t missing;  /* components still to go, this one included: 1 if `type` is at the index */
    bool is_component; /* the index is reached, and `type` is the component's type */
    bool is_last;
    bool is_too_long; /* the tuple ends before the index */
} Spine;

static Spine walk_spine(const Infer *infer, const Expr *select)
{
    TypeId type = type_resolve(infer->types, select->items[0]->type);
    for (uint64_t i = 1;; i++) {
        bool is_pair = type_kind(infer->types, type) == TYPE_PAIR;
        if (is_pair && i == select->magnitude)
            return (Spine){.type = type_first(infer->types, type), .missing = 1, .is_component = true};
        if (!is_pair) {
            uint64_t missing = select->magnitude - i + 1;
            bool is_open = type_kind(infer->types, type) == TYPE_VARIABLE &&
                           (type_variable_of(infer->types, type)->class_set & CLASS_BIT_STRUCTURED) != 0;
            bool is_last = !is_open && missing == 1 && i > 1;
            return (Spine){.type = type,
                           .missing = missing > 1000 ? 1000 : (uint32_t)missing,
                           .is_component = is_last,
                           .is_last = is_last,
                           .is_too_long = !is_open && !is_last};
        }
        type = type_resolve(infer->types, type_rest(infer->types, type));
    }
}

static void report_no_component(Infer *infer, const Expr *select)
{
    diagnostics_error(infer->diagnostics, ERROR_NO_SUCH_COMPONENT, select->span,
                      "there is no component %llu in `%s`", (unsigned long long)select->magnitude,
                      infer_text(infer, select->items[0]->type));
    infer_failed(infer);
}

/* False when it must wait until more is known. */
static bool try_select(Infer *infer, Expr *select)
{
    Spine spine = walk_spine(infer, select);
    if (select->magnitude == 0 || spine.is_too_long) {
        report_no_component(infer, select);
        return true;
    }
    if (!spine.is_component)
        return false;
    select->is_last_component = spine.is_last;
    infer_expect(infer, select->type, spine.type, select->span, no_reason);
    return true;
}

static TypeId infer_select(Infer *infer, Expr *select)
{
    infer_expr(infer, select->items[0]);
    select->type = infer_fresh(infer);
    if (!try_select(infer, select))
        *vec_push(infer->arena, &infer->selects) = select;
    return select->type;
}

/* The largest number of components that any waiting selection needs of this variable. */
static uint32_t components_needed(const Infer *infer, TypeId variable)
{
    uint32_t needed = 0;
    for (uint32_t i = 0; i < infer->selects.count; i++) {
        Spine spine = walk_spine(infer, infer->selects.items[i]);
        if (spine.type == variable && spine.missing > needed)
            needed = spine.missing;
    }
    return needed;
}

static void retry_selects(Infer *infer)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < infer->selects.count; i++)
        if (!try_select(infer, infer->selects.items[i]))
            infer->selects.items[kept++] = infer->selects.items[i];
    infer->selects.count = kept;
}

/* Decides for the selection that waits first: the end of the spine is a component, or becomes the smallest tuple that fits. */
static void force_select(Infer *infer)
{
    Expr *select = infer->selects.items[0];
    Spine spine = walk_spine(infer, select);
    uint32_t needed = components_needed(infer, spine.type);
    bool is_whole = type_resolve(infer->types, select->items[0]->type) == spine.type;
    if (needed == 1 && !is_whole) {
        select->is_last_component = true;
        infer_expect(infer, select->type, spine.type, select->span, no_reason);
        infer->selects.items[0] = vec_pop(&infer->selects);
        return;
    }
    uint32_t count = needed < 2 ? 2 : needed;
    TypeId *components = ARENA_ARRAY(infer->arena, TypeId, count);
    for (uint32_t i = 0; i < count; i++)
        components[i] = infer_fresh(infer);
    if (!infer_expect(infer, type_tuple(infer->types, components, count), spine.type, select->span, no_reason))
        infer->selects.items[0] = vec_pop(&infer->selects);
}

static void settle_selects(Infer *infer)
{
    retry_selects(infer);
    while (infer->selects.count > 0) {
        force_select(infer);
        retry_selects(infer);
    }
}

/* ---- containers whose kind was open ---- */

/* Whether a type holds a sequence, whatever its variables stand for. */
static bool has_sequence(Infer *infer, TypeId type, uint32_t depth)
{
    type = type_resolve(infer->types, type);
    TypeNode node = *type_node(infer->types, type);
    if (node.is_ground || *type_memo(infer->types, type) != 0 || depth > TYPE_DEPTH_MAX)
        return node.has_sequence;
    *type_memo(infer->types, type) = type;
    switch (node.kind) {
    case TYPE_PAIR:
        return has_sequence(infer, node.a, depth + 1) || has_sequence(infer, node.b, depth + 1);
    case TYPE_CONTAINER:
        return type_resolve(infer->types, node.a) == TYPE_MARK_SEQUENCE || has_sequence(infer, node.b, depth + 1);
    case TYPE_DATA:
        return has_sequence(infer, node.b, depth + 1);
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_UNIT:
    case TYPE_FUNCTION:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return false;
}

/* Decides what can be decided of a container: the elements of a vector are concrete, and a container of sequences is a
 * sequence. False while nothing is known. */
static bool settle_container(Infer *infer, PendingContainer pending)
{
    TypeNode node = *type_node(infer->types, pending.container);
    TypeId mark = type_resolve(infer->types, node.a);
    if (mark == TYPE_MARK_VECTOR)
        infer_require(infer, node.b, CLASS_CONCRETE, pending.span,
                      (Reason){.text = "the elements of a vector are concrete"});
    if (type_kind(infer->types, mark) != TYPE_VARIABLE)
        return true;
    type_memo_start(infer->types);
    if (!has_sequence(infer, node.b, 1))
        return false;
    type_variable_of(infer->types, mark)->link = TYPE_MARK_SEQUENCE;
    return true;
}

/* One container decided may decide others. */
static void settle_containers(Infer *infer)
{
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < infer->containers.count; i++) {
            PendingContainer pending = infer->containers.items[i];
            if (settle_container(infer, pending))
                is_changed = true;
            else
                infer->containers.items[kept++] = pending;
        }
        infer->containers.count = kept;
    }
}

void infer_settle(Infer *infer)
{
    settle_selects(infer);
    settle_containers(infer);
    settle_literals(infer);
}

/* ---- patterns ---- */

static void report_pattern(Infer *infer, const Pattern *pattern, TypeId type)
{
    if (pattern->item_count == 0)
        diagnostics_error(infer->diagnostics, ERROR_TYPE_MISMATCH, pattern->span,
                          "the pattern `()` expects the unit value, found `%s`", infer_text(infer, type));
    else
        diagnostics_error(infer->diagnostics, ERROR_TYPE_MISMATCH, pattern->span,
                          "the pattern expects a tuple of %u components, found `%s`", pattern->item_count,
                          infer_text(infer, type));
    infer_failed(infer);
}

static void infer_tuple_pattern(Infer *infer, Pattern *pattern, TypeId type)
{
    TypeId *items = ARENA_ARRAY(infer->arena, TypeId, pattern->item_count);
    for (uint32_t i = 0; i < pattern->item_count; i++)
        items[i] = infer_fresh(infer);
    TypeId tuple = type_tuple(infer->types, items, pattern->item_count);
    if (infer_unify(infer, type, tuple) != UNIFY_OK)
        report_pattern(infer, pattern, type);
    for (uint32_t i = 0; i < pattern->item_count; i++)
        infer_pattern(infer, pattern->items[i], items[i]);
}

static void infer_constructor_pattern(Infer *infer, Pattern *pattern, TypeId type)
{
    Expr use = {.kind = EXPR_NAME, .span = pattern->span};
    TypeNode constructor = *type_node(infer->types, instantiate(infer, pattern->definition, &use));
    if (constructor.kind != TYPE_FUNCTION) { /* wrong, and reported where it is defined */
        infer_pattern(infer, pattern->items[0], infer_fresh(infer));
        return;
    }
    infer_expect(infer, type, constructor.b, pattern->span, no_reason);
    infer_pattern(infer, pattern->items[0], constructor.a);
}

void infer_pattern(Infer *infer, Pattern *pattern, TypeId type)
{
    pattern->type_id = type;
    switch (pattern->kind) {
    case PATTERN_NAME:
        if (pattern->definition != NULL)
            pattern->definition->type = type;
        else
            infer->definition->locals.items[pattern->local].type = type;
        break;
    case PATTERN_WILDCARD:
        break;
    case PATTERN_TUPLE:
        infer_tuple_pattern(infer, pattern, type);
        break;
    case PATTERN_CONSTRUCTOR:
        infer_constructor_pattern(infer, pattern, type);
        break;
    case PATTERN_TYPED:
        infer_expect(infer, infer_type_expr(infer, pattern->type), type, pattern->span,
                     (Reason){.text = "the pattern is annotated here", .span = pattern->type->span});
        infer_pattern(infer, pattern->items[0], type);
        break;
    }
}

/* ---- comprehensions ---- */

/* Gives the mark of the generators' containers, which are all of one kind. */
static TypeId infer_sources(Infer *infer, Qualifier *qualifier)
{
    TypeId mark = type_container_variable(infer->types);
    for (uint32_t i = 0; i < qualifier->generator_count; i++) {
        Expr *source = qualifier->generators[i].source;
        infer_expr(infer, source);
        TypeId element = infer_fresh(infer);
        TypeId container = infer_container(infer, mark, element, source->span);
        infer_expect(infer, container, source->type, source->span,
                     i == 0 ? (Reason){.text = "a generator draws from a vector or a sequence"}
                            : (Reason){.text = "containers in lock step are of one kind; the first is here",
                                       .span = qualifier->generators[0].source->span});
        qualifier->generators[i].pattern->type_id = element;
    }
    return mark;
}

static void infer_generator_patterns(Infer *infer, Qualifier *qualifier)
{
    for (uint32_t i = 0; i < qualifier->generator_count; i++)
        infer_pattern(infer, qualifier->generators[i].pattern, qualifier->generators[i].pattern->type_id);
}

static void infer_filter(Infer *infer, Expr *filter)
{
    infer_expr(infer, filter);
    infer_expect(infer, TYPE_BOOL, filter->type, filter->span, (Reason){.text = "a filter is of type bool"});
}

void infer_report_free_local(Environment *environment, const Local *local, TypeId type, Span use)
{
    diagnostics_error(environment->diagnostics, ERROR_NOT_CONCRETE, use,
                      "`%s` is of type `%s`, but a comprehension can use only concrete values of its surroundings",
                      names_text(environment->names, local->name), type_text(environment->types, type));
    diagnostics_note(environment->diagnostics, local->span,
                     "it is bound here; tab(...) before the comprehension would materialise the sequence");
}

/* Madsen & Filinski 2013, figure 1: what a comprehension uses of its surroundings is held while it runs. */
static void require_concrete_locals(Infer *infer, const Comprehension *c)
{
    for (uint32_t i = 0; i < c->free_count; i++) {
        const Local *local = &infer->definition->locals.items[c->free_locals[i]];
        if (infer_restrict(infer, local->type, CLASS_CONCRETE) == UNIFY_OK)
            continue;
        infer_report_free_local(infer->environment, local, local->type, c->free_spans[i]);
        infer_failed(infer);
    }
}

static void infer_group(Infer *infer, Comprehension *c, TypeId mark)
{
    if (c->group_value == NULL || c->grouped_locals == NULL)
        return;
    infer_expr(infer, c->group_value);
    infer_require(infer, c->group_value->type, CLASS_CONCRETE, c->group_value->span,
                  (Reason){.text = "a grouping key is concrete"});
    Local *locals = infer->definition->locals.items;
    for (uint32_t i = 0; i < c->bound_count; i++) {
        if (c->grouped_locals[i] == UINT32_MAX)
            continue;
        TypeId value = locals[c->bound_locals[i]].type;
        infer_require(infer, value, CLASS_CONCRETE, c->group_key->span,
                      (Reason){.text = "what is collected in groups is concrete",
                               .span = locals[c->bound_locals[i]].span});
        locals[c->grouped_locals[i]].type = infer_container(infer, mark, value, c->group_key->span);
    }
    infer_pattern(infer, c->group_key, c->group_value->type);
}

static void infer_order(Infer *infer, Comprehension *c, TypeId mark)
{
    infer_expr(infer, c->order_key);
    infer_require(infer, c->order_key->type, CLASS_CONCRETE, c->order_key->span,
                  (Reason){.text = "a sorting key is concrete"});
    if (c->group_key == NULL && mark != 0 && infer_unify(infer, TYPE_MARK_VECTOR, mark) != UNIFY_OK) {
        const Expr *source = c->qualifiers[0].generators[0].source;
        diagnostics_error(infer->diagnostics, ERROR_CONTAINER_MISMATCH, source->span,
                          "`order by` sorts a vector, but this is a sequence `%s`",
                          infer_text(infer, source->type));
        diagnostics_note(infer->diagnostics, (Span){0}, "tab(s) materialises a sequence");
        infer_failed(infer);
    }
}

static TypeId infer_comprehension(Infer *infer, Expr *expr)
{
    Comprehension *c = expr->comprehension;
    TypeId mark = 0;
    for (uint32_t q = 0; q < c->qualifier_count; q++) {
        Qualifier *qualifier = &c->qualifiers[q];
        if (qualifier->filter != NULL)
            infer_filter(infer, qualifier->filter);
        if (qualifier->generator_count == 0)
            continue;
        TypeId own_mark = infer_sources(infer, qualifier);
        infer_generator_patterns(infer, qualifier);
        if (q == 0)
            mark = own_mark;
    }
    require_concrete_locals(infer, c);
    if (c->group_key != NULL)
        infer_group(infer, c, mark);
    if (c->order_key != NULL)
        infer_order(infer, c, mark);
    infer_expr(infer, c->body);
    bool is_vector = c->brackets == BRACKETS_SQUARE || c->group_key != NULL || c->order_key != NULL;
    if (is_vector)
        mark = TYPE_MARK_VECTOR;
    else if (mark == 0)
        mark = TYPE_MARK_SEQUENCE;
    return infer_container(infer, mark, c->body->type, c->body->span);
}

/* ---- the rest ---- */

static TypeId infer_tuple(Infer *infer, Expr *tuple)
{
    TypeId *items = ARENA_ARRAY(infer->arena, TypeId, tuple->item_count);
    for (uint32_t i = 0; i < tuple->item_count; i++)
        items[i] = infer_expr(infer, tuple->items[i]);
    return type_tuple(infer->types, items, tuple->item_count);
}

static TypeId infer_if(Infer *infer, Expr *expr)
{
    infer_expr(infer, expr->items[0]);
    infer_expect(infer, TYPE_BOOL, expr->items[0]->type, expr->items[0]->span,
                 (Reason){.text = "the condition of `if` is of type bool"});
    infer_expr(infer, expr->items[1]);
    infer_expr(infer, expr->items[2]);
    infer_expect(infer, expr->items[1]->type, expr->items[2]->type, expr->items[2]->span,
                 (Reason){.text = "both branches have one type; the first is here", .span = expr->items[1]->span});
    return expr->items[1]->type;
}

static TypeId infer_let(Infer *infer, Expr *let)
{
    for (uint32_t i = 0; i < let->count; i++) {
        infer_expr(infer, let->bindings[i].value);
        infer_pattern(infer, let->bindings[i].pattern, let->bindings[i].value->type);
    }
    return infer_expr(infer, let->items[0]);
}

static TypeId infer_lambda(Infer *infer, Expr *lambda)
{
    TypeId parameter = infer_fresh(infer);
    infer_pattern(infer, lambda->pattern, parameter);
    return type_function(infer->types, parameter, infer_expr(infer, lambda->items[0]));
}

static TypeId infer_annotation(Infer *infer, Expr *expr)
{
    infer_expr(infer, expr->items[0]);
    TypeId type = infer_type_expr(infer, expr->element_type);
    infer_expect(infer, type, expr->items[0]->type, expr->items[0]->span,
                 (Reason){.text = "the annotation is here", .span = expr->element_type->span});
    return type;
}

static TypeId infer_kind(Infer *infer, Expr *expr)
{
    switch (expr->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
        return infer_number(infer, expr);
    case EXPR_BOOL:
        return TYPE_BOOL;
    case EXPR_CHAR:
        return TYPE_CHAR;
    case EXPR_STRING:
        return type_vector(infer->types, TYPE_CHAR);
    case EXPR_NAME:
        return infer_name(infer, expr);
    case EXPR_TUPLE:
        return infer_tuple(infer, expr);
    case EXPR_LIST:
        return infer_list(infer, expr);
    case EXPR_RANGE:
        return infer_range(infer, expr);
    case EXPR_CALL:
        return infer_call(infer, expr);
    case EXPR_INDEX:
    case EXPR_SLICE:
        return infer_element(infer, expr);
    case EXPR_SELECT:
        return infer_select(infer, expr);
    case EXPR_UNARY:
        infer_expr(infer, expr->items[0]);
        return infer_operator(infer, expr);
    case EXPR_BINARY:
        return infer_binary(infer, expr);
    case EXPR_IF:
        return infer_if(infer, expr);
    case EXPR_LET:
        return infer_let(infer, expr);
    case EXPR_LAMBDA:
        return infer_lambda(infer, expr);
    case EXPR_COMPREHENSION:
        return infer_comprehension(infer, expr);
    case EXPR_ANNOTATION:
        return infer_annotation(infer, expr);
    }
    return 0;
}

TypeId infer_expr(Infer *infer, Expr *expr)
{
    return expr->type = infer_kind(infer, expr);
}
