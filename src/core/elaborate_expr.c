/* Elaboration of expressions: each becomes statements of the current block and an atom. */
#include "core/elaborate_internal.h"

#include <string.h>

void elaborate_failed(Elaborator *e)
{
    e->has_errors = true;
}

CoreAtom *elaborate_local(Elaborator *e, LocalId local)
{
    const Expr *lambda = e->scope->lambda;
    if (lambda == NULL)
        return &e->scope->locals[local];
    if (local >= lambda->first_local)
        return &e->scope->locals[lambda->capture_count + (local - lambda->first_local)];
    for (uint32_t i = 0; i < lambda->capture_count; i++)
        if (lambda->captures[i] == local)
            return &e->scope->locals[i];
    bug("elaborate", "a lambda uses a variable that it did not capture");
}

bool elaborate_nest(Elaborator *e, Span span)
{
    if (++e->nesting <= ELABORATE_NESTING_MAX)
        return true;
    diagnostics_error(e->diagnostics, ERROR_ENDLESS_SPECIALISATION, span,
                      "functions that return functions are specialised here inside one another, and too deeply");
    elaborate_failed(e);
    return false;
}

bool elaborate_check_depth(Elaborator *e, Span span)
{
    if (!e->types->is_too_deep || e->has_errors)
        return !e->has_errors;
    diagnostics_error(e->diagnostics, ERROR_TYPE_TOO_LARGE, span,
                      "a type here is nested more than %d deep, once it is known what the function is used with",
                      TYPE_DEPTH_MAX);
    elaborate_failed(e);
    return false;
}

TypeId elaborate_ground(Elaborator *e, TypeId type)
{
    return type_substitute(e->types, type, e->scope->types, e->scope->type_count);
}

/* ---- statements ---- */

static CoreAtom emit(Elaborator *e, CoreKind kind, TypeId type, Span span, const CoreAtom *arguments, uint32_t count)
{
    return core_target(e->builder, core_emit(e->builder, kind, type, span, arguments, count));
}

CoreAtom elaborate_project(Elaborator *e, CoreAtom pair, uint32_t component, Span span)
{
    TypeId type = component == 0 ? type_first(e->types, pair.type) : type_rest(e->types, pair.type);
    CoreStatement *statement = core_emit(e->builder, CORE_PROJECT, type, span, &pair, 1);
    statement->component = component;
    return core_target(e->builder, statement);
}

void elaborate_components(Elaborator *e, CoreAtom tuple, CoreAtom *components, uint32_t count, Span span)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count;
        components[i] = is_last ? tuple : elaborate_project(e, tuple, 0, span);
        if (!is_last)
            tuple = elaborate_project(e, tuple, 1, span);
    }
}

CoreAtom elaborate_tuple(Elaborator *e, const CoreAtom *items, uint32_t count, Span span)
{
    if (count == 0)
        return emit(e, CORE_UNIT, TYPE_UNIT_ID, span, NULL, 0);
    CoreAtom tuple = items[count - 1];
    for (uint32_t i = count - 1; i > 0; i--) {
        CoreAtom pair[2] = {items[i - 1], tuple};
        tuple = emit(e, CORE_PAIR, type_pair(e->types, pair[0].type, pair[1].type), span, pair, 2);
    }
    return tuple;
}

void elaborate_open(Elaborator *e, OpenBlock *block)
{
    *block = (OpenBlock){.builder = {.program = e->program}, .outer = e->builder};
    e->builder = &block->builder;
}

CoreBlock *elaborate_close(Elaborator *e, OpenBlock *block, const CoreVar *parameters, uint32_t count, CoreAtom result)
{
    CoreBlock *closed = core_block(&block->builder, parameters, count, result);
    e->builder = block->outer;
    return closed;
}

/* ---- meeting values ---- */

static void report_mixed(Elaborator *e, Span span)
{
    diagnostics_error(e->diagnostics, ERROR_MIXED_FUNCTIONS, span,
                      "different functions meet here: a container or an `if` can hold one function only");
    diagnostics_note(e->diagnostics, (Span){0}, "choose between their results instead of between the functions");
    elaborate_failed(e);
}

TypeId elaborate_join(Elaborator *e, TypeId a, TypeId b, Span span)
{
    if (a == b || !elaborate_check_depth(e, span))
        return a;
    TypeNode left = *type_node(e->types, a), right = *type_node(e->types, b);
    if (left.kind == TYPE_CLOSURE && right.kind == TYPE_CLOSURE) {
        if (left.a == 0 || right.a == 0)
            return left.a == 0 ? b : a;
        if (left.a == right.a) /* what they captured may hold functions, known here and not known there */
            return type_closure(e->types, left.a, elaborate_join(e, left.b, right.b, span));
        report_mixed(e, span);
        return a;
    }
    if (left.kind != right.kind)
        bug("elaborate", "types that do not fit meet");
    switch (left.kind) {
    case TYPE_PAIR: {
        TypeId first = elaborate_join(e, left.a, right.a, span);
        return type_pair(e->types, first, elaborate_join(e, left.b, right.b, span));
    }
    case TYPE_CONTAINER:
        return type_container(e->types, left.a, elaborate_join(e, left.b, right.b, span));
    case TYPE_DATA:
        return type_data(e->types, left.a, elaborate_join(e, left.b, right.b, span));
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_UNIT:
    case TYPE_FUNCTION:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    bug("elaborate", "types that do not fit meet");
}

/* Only a function not known yet keeps a value from being of the type that it has in common with others. */
static void expect_known(Elaborator *e, TypeId actual, TypeId common, Span span)
{
    if (actual == common || e->has_errors)
        return;
    if (e->is_lenient)
        e->was_lenient = true;
    else
        report_mixed(e, span);
}

/* ---- operations ---- */

typedef struct Matching {
    Elaborator *e;
    TypeId *values; /* of the scheme's variables; 0 while unknown */
    uint32_t count;
    Span span;
} Matching;

/* Finds what the scheme's variables stand for by comparing with a specialised type. */
static void match(Matching *m, TypeId scheme, TypeId actual)
{
    Elaborator *e = m->e;
    scheme = type_resolve(e->types, scheme);
    TypeNode left = *type_node(e->types, scheme);
    if (left.kind == TYPE_VARIABLE) {
        uint32_t index = type_variable_of(e->types, scheme)->scheme_index;
        if (index == 0 || index > m->count)
            return;
        TypeId known = m->values[index - 1];
        m->values[index - 1] = known == 0 ? actual : elaborate_join(e, known, actual, m->span);
        return;
    }
    TypeNode right = *type_node(e->types, actual);
    if (left.is_ground || left.kind != right.kind)
        return;
    if (left.kind == TYPE_PAIR || left.kind == TYPE_CONTAINER)
        match(m, left.a, right.a);
    if (left.kind == TYPE_PAIR || left.kind == TYPE_CONTAINER || left.kind == TYPE_DATA)
        match(m, left.b, right.b);
}

/* What comparing left open is as inference had it. */
static void fill_from_instance(Matching *m, const Instance *instance)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->values[i] == 0 && instance != NULL && i < instance->count)
            m->values[i] = specialise_assume(m->e, elaborate_ground(m->e, instance->types[i]));
}

static bool not_concrete(Elaborator *e, TypeId type, Span span)
{
    diagnostics_error(e->diagnostics, ERROR_NOT_CONCRETE, span,
                      "a function that captured a sequence is used where a concrete value is needed (type `%s`)",
                      type_text(e->types, type));
    diagnostics_note(e->diagnostics, (Span){0}, "let it capture tab(s) instead of the sequence s");
    elaborate_failed(e);
    return false;
}

bool elaborate_check_type(Elaborator *e, TypeId type, Span span)
{
    TypeNode node = *type_node(e->types, type);
    if (!node.has_sequence || node.closure_depth == 0)
        return true; /* inference has seen to it */
    switch (node.kind) {
    case TYPE_PAIR:
        return elaborate_check_type(e, node.a, span) && elaborate_check_type(e, node.b, span);
    case TYPE_CONTAINER:
        if (node.a == TYPE_MARK_VECTOR)
            return not_concrete(e, type, span);
        return elaborate_check_type(e, node.b, span);
    case TYPE_DATA:
        return not_concrete(e, type, span);
    case TYPE_CLOSURE:
        return elaborate_check_type(e, node.b, span);
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_UNIT:
    case TYPE_FUNCTION:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return true;
}

/* What inference could not see: variables of a class without sequences that stand for functions with captured ones. */
static bool check_classes(const Matching *m, const Definition *definition)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const TypeVariable *variable = type_variable_of(m->e->types, definition->variables[i]);
        bool is_restricted = !variable->is_container && (variable->class_set & CLASS_BIT_SEQUENCES) == 0;
        if (is_restricted && m->values[i] != 0 && !type_is_concrete(m->e->types, m->values[i]))
            return not_concrete(m->e, m->values[i], m->span);
    }
    return true;
}

/* The operator of reduce, scan ...: a Core function of the two operands. */
static void attach_function(Elaborator *e, CoreStatement *statement, CoreAtom closure, const TypeId *operands,
                            uint32_t operand_count)
{
    const TypeNode *node = type_node(e->types, closure.type);
    if (!elaborate_check_depth(e, statement->span))
        return;
    if (node->kind != TYPE_CLOSURE)
        bug("elaborate", "an operator is no function");
    if (node->a == 0) {
        if (!e->is_lenient)
            report_mixed(e, statement->span);
        e->was_lenient = true;
        return;
    }
    Label label = e->labels.items[node->a];
    bool has_captured = specialise_has_captured(&label);
    TypeId *parameters = ARENA_ARRAY(e->arena, TypeId, operand_count + 1);
    if (has_captured)
        parameters[0] = closure.type;
    for (uint32_t i = 0; i < operand_count; i++)
        parameters[i + has_captured] = operands[i];
    Specialisation *made = specialise(e, label, parameters, operand_count + has_captured, statement->span);
    if (made == NULL)
        return;
    statement->function = made->function;
    statement->captured = ARENA_ARRAY(e->arena, CoreAtom, 1);
    statement->captured[0] = closure;
    statement->captured_count = has_captured;
}

static uint32_t tuple_types(const Types *types, TypeId tuple, TypeId *items, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i++) {
        items[i] = type_first(types, tuple);
        tuple = type_rest(types, tuple);
    }
    items[count - 1] = tuple;
    return count;
}

CoreAtom elaborate_op(Elaborator *e, Op op, const CoreAtom *arguments, uint32_t count, const Instance *instance, Span span)
{
    if (e->has_errors)
        return core_int(0);
    Definition *definition = e->environment->ops[DIALECT_RUNNEL][op];
    infer_built_in(e->environment, definition);
    if (instance != NULL && instance->count != definition->variable_count)
        instance = NULL; /* .nesl has fewer variables; its types are decided by the arguments */
    TypeNode scheme = *type_node(e->types, definition->type);
    bool is_constant = scheme.kind != TYPE_FUNCTION;
    Matching m = {.e = e,
                  .values = ARENA_ARRAY(e->arena, TypeId, definition->variable_count),
                  .count = definition->variable_count,
                  .span = span};
    TypeId *expected = ARENA_ARRAY(e->arena, TypeId, count + 1);
    if (count > 0)
        tuple_types(e->types, scheme.a, expected, count);
    for (uint32_t i = 0; i < count; i++)
        match(&m, expected[i], arguments[i].type);
    for (uint32_t i = 0; i < count && !e->has_errors; i++)
        if (type_kind(e->types, expected[i]) != TYPE_FUNCTION)
            expect_known(e, arguments[i].type, type_substitute(e->types, expected[i], m.values, m.count), span);
    fill_from_instance(&m, instance);
    if (e->has_errors || !check_classes(&m, definition))
        return core_int(0);
    TypeId result = type_substitute(e->types, is_constant ? definition->type : scheme.b, m.values, m.count);
    if (!elaborate_check_type(e, result, span))
        return core_int(0);
    bool takes_function = count > 0 && type_kind(e->types, expected[0]) == TYPE_FUNCTION;
    CoreStatement *statement = core_emit(e->builder, CORE_OP, result, span, arguments + takes_function, count - takes_function);
    statement->op = op;
    CoreAtom target = core_target(e->builder, statement);
    if (takes_function) {
        TypeId operand = type_substitute(e->types, type_node(e->types, expected[0])->a, m.values, m.count);
        TypeId operands[2];
        CoreStatement working = *statement;
        attach_function(e, &working, arguments[0], operands, tuple_types(e->types, operand, operands, 2));
        e->builder->statements.items[e->builder->statements.count - 1] = working;
    }
    return target;
}

/* ---- literals ---- */

static CoreAtom float_constant(const Types *types, TypeId type, double value)
{
    Scalar scalar = {.bits = 0};
    if (type_scalar(types, type) == SCALAR_F32)
        scalar.f32 = (float)value;
    else
        scalar.f64 = value;
    return core_constant(type, scalar);
}

static CoreAtom int_constant(Elaborator *e, const Expr *expr, TypeId type)
{
    ScalarType scalar = type_scalar(e->types, type);
    uint64_t value = expr->is_negative ? 0 - expr->magnitude : expr->magnitude;
    return core_constant(type, (Scalar){.integer = scalar_wrap(scalar, (int64_t)value)});
}

static CoreAtom elaborate_number(Elaborator *e, const Expr *expr)
{
    TypeId type = elaborate_ground(e, expr->type);
    bool is_float = scalar_kind(type_scalar(e->types, type)) == KIND_FLOATING;
    if (!infer_check_literal(e->environment, expr, type, e->scope->definition->dialect))
        elaborate_failed(e);
    return is_float ? float_constant(e->types, type, infer_literal_value(expr)) : int_constant(e, expr, type);
}

static CoreAtom elaborate_string(Elaborator *e, const Expr *expr)
{
    CoreStatement *statement = core_emit(e->builder, CORE_TEXT, type_vector(e->types, TYPE_CHAR), expr->span, NULL, 0);
    statement->text = expr->text;
    statement->text_length = expr->count;
    return core_target(e->builder, statement);
}

static CoreAtom elaborate_list(Elaborator *e, Expr *list)
{
    CoreAtom *items = ARENA_ARRAY(e->arena, CoreAtom, list->item_count);
    TypeId type = specialise_assume(e, elaborate_ground(e, list->type));
    TypeId mark = type_node(e->types, type)->a;
    for (uint32_t i = 0; i < list->item_count && !e->has_errors; i++) {
        items[i] = elaborate_expr(e, list->items[i]);
        TypeId element = i == 0 ? items[0].type
                                : elaborate_join(e, type_element(e->types, type), items[i].type, list->items[i]->span);
        type = type_container(e->types, mark, element);
    }
    for (uint32_t i = 0; i < list->item_count && !e->has_errors; i++)
        expect_known(e, items[i].type, type_element(e->types, type), list->items[i]->span);
    if (e->has_errors || !elaborate_check_type(e, type, list->span))
        return core_int(0);
    return emit(e, CORE_MAKE, type, list->span, items, list->item_count);
}

static CoreAtom elaborate_range(Elaborator *e, Expr *range)
{
    CoreAtom bounds[3];
    for (uint32_t i = 0; i < range->item_count; i++)
        bounds[i] = elaborate_expr(e, range->items[i]);
    if (e->has_errors)
        return core_int(0);
    uint32_t count = range->is_inclusive ? 2 : 3;
    if (count > range->item_count) {
        bool is_float = scalar_kind(type_scalar(e->types, bounds[0].type)) == KIND_FLOATING;
        bounds[2] = is_float ? float_constant(e->types, bounds[0].type, 1.0)
                             : core_constant(bounds[0].type, (Scalar){.integer = 1});
    }
    CoreAtom sequence = elaborate_op(e, range->definition->op, bounds, count, NULL, range->span);
    return range->brackets == BRACKETS_SQUARE ? elaborate_tab(e, sequence, range->span) : sequence;
}

/* ---- names and calls ---- */

/* Finds a top-level name in the pattern that binds it, projecting on the way; false if it is not there. */
static bool find_in_pattern(Elaborator *e, const Pattern *pattern, const Definition *value, CoreAtom *atom, Span span)
{
    switch (pattern->kind) {
    case PATTERN_NAME:
        return pattern->definition == value;
    case PATTERN_WILDCARD:
        return false;
    case PATTERN_TYPED:
        return find_in_pattern(e, pattern->items[0], value, atom, span);
    case PATTERN_CONSTRUCTOR: {
        CoreAtom contents = emit(e, CORE_UNWRAP, type_representation(e->types, atom->type), span, atom, 1);
        *atom = contents;
        return find_in_pattern(e, pattern->items[0], value, atom, span);
    }
    case PATTERN_TUPLE: {
        CoreAtom rest = *atom;
        for (uint32_t i = 0; i < pattern->item_count; i++) {
            bool is_last = i + 1 == pattern->item_count;
            CoreAtom part = is_last ? rest : elaborate_project(e, rest, 0, span);
            if (find_in_pattern(e, pattern->items[i], value, &part, span)) {
                *atom = part;
                return true;
            }
            if (!is_last)
                rest = elaborate_project(e, rest, 1, span);
        }
        return false;
    }
    }
    return false;
}

static CoreAtom elaborate_value(Elaborator *e, const Definition *value, Span span)
{
    const CoreVar *global = value->owner->core;
    if (global == NULL) { /* its own item has failed, or a function that replaced another one needs it too early */
        if (value->owner->position >= e->position) {
            diagnostics_error(e->diagnostics, ERROR_USED_TOO_EARLY, span,
                              "a form further up needs this value, through a function that was defined again");
            diagnostics_note(e->diagnostics, value->owner->item->span, "bound here");
        }
        elaborate_failed(e);
        return core_int(0);
    }
    CoreAtom atom = core_atom(e->program, *global);
    find_in_pattern(e, value->owner->item->pattern, value, &atom, span);
    return atom;
}

/* The label of the definition that stands in for another one, with the types in the order of its own variables. */
static Label replacement(Elaborator *e, const Label *replaced)
{
    Definition *newer = replaced->definition->replaced_by;
    TypeId *types = ARENA_ARRAY(e->arena, TypeId, newer->variable_count);
    for (uint32_t i = 0; i < newer->variable_count; i++) {
        uint32_t index = replaced->definition->replaced_variables[i];
        types[i] = index < replaced->type_count ? replaced->types[index]
                                                : type_substitute(e->types, newer->variables[i], NULL, 0);
    }
    return (Label){.definition = newer, .types = types, .type_count = newer->variable_count};
}

Label elaborate_label(Elaborator *e, const Expr *use)
{
    /* a recursive use has the types of the scope */
    Label label = {.definition = use->definition, .types = e->scope->types, .type_count = e->scope->type_count};
    if (use->instance.count > 0 || use->definition->variable_count == 0) {
        TypeId *types = ARENA_ARRAY(e->arena, TypeId, use->instance.count);
        for (uint32_t i = 0; i < use->instance.count; i++)
            types[i] = elaborate_ground(e, use->instance.types[i]);
        label.types = types;
        label.type_count = use->instance.count;
    }
    while (environment_is_replaced(label.definition, e->position))
        label = replacement(e, &label);
    return label;
}

static CoreAtom elaborate_name(Elaborator *e, Expr *expr)
{
    if (expr->reference == REFERENCE_LOCAL)
        return *elaborate_local(e, expr->local);
    Definition *definition = expr->definition;
    if (definition->kind == DEFINITION_VALUE)
        return elaborate_value(e, definition, expr->span);
    bool is_constant = definition->kind == DEFINITION_OP && type_kind(e->types, definition->type) != TYPE_FUNCTION;
    if (is_constant)
        return elaborate_op(e, definition->op, NULL, 0, NULL, expr->span);
    return elaborate_closure(e, elaborate_label(e, expr), NULL, 0, expr->span);
}

/* The argument of a call as `arity` atoms. */
static void elaborate_arguments(Elaborator *e, Expr *argument, CoreAtom *atoms, uint32_t arity)
{
    bool is_spread = argument->kind == EXPR_TUPLE && argument->item_count >= arity && arity > 0;
    if (!is_spread) {
        CoreAtom whole = elaborate_expr(e, argument);
        if (arity > 0 && !e->has_errors)
            elaborate_components(e, whole, atoms, arity, argument->span);
        return;
    }
    CoreAtom *items = ARENA_ARRAY(e->arena, CoreAtom, argument->item_count);
    for (uint32_t i = 0; i < argument->item_count && !e->has_errors; i++)
        items[i] = elaborate_expr(e, argument->items[i]);
    if (e->has_errors)
        return;
    for (uint32_t i = 0; i + 1 < arity; i++)
        atoms[i] = items[i];
    atoms[arity - 1] = elaborate_tuple(e, items + arity - 1, argument->item_count - arity + 1, argument->span);
}

/* Functions of the library that are operations where they are given a vector. */
static const struct {
    const char *name;
    Op op;
} on_vectors[] = {
    {"wordify", OP_WORDS},
};

static bool is_on_vector(const Elaborator *e, const Label *label, const CoreAtom *arguments, uint32_t count, Op *op)
{
    if (label->lambda != NULL || !label->definition->is_library || count != 1 || !type_is_vector(e->types, arguments[0].type))
        return false;
    for (size_t i = 0; i < sizeof on_vectors / sizeof *on_vectors; i++)
        if (strcmp(names_text(e->names, label->definition->name), on_vectors[i].name) == 0) {
            *op = on_vectors[i].op;
            return true;
        }
    return false;
}

static CoreAtom emit_call(Elaborator *e, Label label, const CoreAtom *arguments, uint32_t count, Span span)
{
    Op op;
    if (e->has_errors)
        return core_int(0);
    if (is_on_vector(e, &label, arguments, count, &op))
        return elaborate_op(e, op, arguments, count, NULL, span);
    TypeId *types = ARENA_ARRAY(e->arena, TypeId, count);
    for (uint32_t i = 0; i < count; i++)
        types[i] = arguments[i].type;
    Specialisation *made = specialise(e, label, types, count, span);
    if (made == NULL)
        return core_int(0);
    CoreStatement *statement = core_emit(e->builder, CORE_CALL, made->result, span, arguments, count);
    statement->function = made->function;
    return core_target(e->builder, statement);
}

/* A call of a function that is not known, at least not yet. */
static CoreAtom call_unknown(Elaborator *e, const Expr *call)
{
    if (e->is_lenient)
        e->was_lenient = true;
    else {
        diagnostics_error(e->diagnostics, ERROR_MIXED_FUNCTIONS, call->span,
                          "it cannot be told which function is called here: no value ever reaches this place");
        elaborate_failed(e);
    }
    return core_atom(e->program, core_variable(e->program, specialise_assume(e, elaborate_ground(e, call->type)), 0));
}

/* A call of a function value: the label is in its type, what it captured is passed first. */
static CoreAtom call_closure(Elaborator *e, const Expr *call, CoreAtom closure)
{
    if (!elaborate_check_depth(e, call->span))
        return core_int(0);
    TypeNode node = *type_node(e->types, closure.type);
    if (node.kind != TYPE_CLOSURE)
        bug("elaborate", "a value that is no function is called");
    if (node.a == 0)
        return call_unknown(e, call);
    Label label = e->labels.items[node.a];
    bool has_captured = specialise_has_captured(&label);
    uint32_t arity = specialise_arity(&label);
    CoreAtom *arguments = ARENA_ARRAY(e->arena, CoreAtom, arity + 1);
    arguments[0] = closure;
    elaborate_arguments(e, call->items[1], arguments + has_captured, arity);
    return emit_call(e, label, arguments, arity + has_captured, call->span);
}

CoreAtom elaborate_construct(Elaborator *e, const Definition *constructor, CoreAtom contents, const Instance *instance,
                             Span span)
{
    if (e->has_errors)
        return core_int(0);
    const Datatype *datatype = &e->types->datatypes.items[constructor->datatype];
    uint32_t count = datatype->parameter_count;
    Matching m = {.e = e, .values = ARENA_ARRAY(e->arena, TypeId, count), .count = count, .span = span};
    match(&m, datatype->contents, contents.type);
    fill_from_instance(&m, instance);
    TypeId type = type_data(e->types, constructor->datatype, type_tuple(e->types, m.values, count));
    if (e->has_errors || !elaborate_check_type(e, type, span))
        return core_int(0);
    return emit(e, CORE_WRAP, type, span, &contents, 1);
}

static CoreAtom call_op(Elaborator *e, const Expr *use, Expr *argument, Span span)
{
    uint32_t count = specialise_arity(&(Label){.definition = use->definition});
    CoreAtom *atoms = ARENA_ARRAY(e->arena, CoreAtom, count + 1);
    elaborate_arguments(e, argument, atoms, count);
    return elaborate_op(e, use->definition->op, atoms, count, &use->instance, span);
}

static CoreAtom elaborate_call(Elaborator *e, Expr *call)
{
    Expr *function = call->items[0];
    bool is_defined = function->kind == EXPR_NAME && function->reference == REFERENCE_DEFINITION;
    if (is_defined && function->definition->kind == DEFINITION_OP)
        return call_op(e, function, call->items[1], call->span);
    if (is_defined && function->definition->kind == DEFINITION_CONSTRUCTOR)
        return elaborate_construct(e, function->definition, elaborate_expr(e, call->items[1]), &function->instance,
                                   call->span);
    if (is_defined && function->definition->kind == DEFINITION_FUNCTION) {
        Label label = elaborate_label(e, function);
        uint32_t arity = specialise_arity(&label);
        CoreAtom *arguments = ARENA_ARRAY(e->arena, CoreAtom, arity + 1);
        elaborate_arguments(e, call->items[1], arguments, arity);
        return emit_call(e, label, arguments, arity, call->span);
    }
    CoreAtom closure = elaborate_expr(e, function);
    return call_closure(e, call, closure);
}

/* ---- operators ---- */

/* a and b is if a then b else false; a or b is if a then true else b. */
static CoreAtom elaborate_short_circuit(Elaborator *e, CoreAtom left, Expr *right, bool is_and, Span span)
{
    CoreStatement *statement;
    OpenBlock block;
    CoreBlock *blocks[2];
    for (uint32_t i = 0; i < 2; i++) {
        elaborate_open(e, &block);
        bool is_right = is_and == (i == 0);
        CoreAtom result = is_right ? elaborate_expr(e, right) : core_bool(!is_and);
        blocks[i] = elaborate_close(e, &block, NULL, 0, result);
    }
    statement = core_emit(e->builder, CORE_IF, TYPE_BOOL, span, &left, 1);
    statement->blocks[0] = blocks[0];
    statement->blocks[1] = blocks[1];
    return core_target(e->builder, statement);
}

static CoreAtom elaborate_operator(Elaborator *e, Expr *expr, CoreAtom left)
{
    const Definition *definition = expr->definition;
    Op op = definition->op;
    bool is_logical = definition->kind == DEFINITION_OP && (op == OP_AND || op == OP_OR);
    if (is_logical && left.type == TYPE_BOOL)
        return elaborate_short_circuit(e, left, expr->items[1], op == OP_AND, expr->span);
    CoreAtom arguments[2] = {left};
    if (expr->kind == EXPR_BINARY)
        arguments[1] = elaborate_expr(e, expr->items[1]);
    uint32_t count = expr->kind == EXPR_BINARY ? 2 : 1;
    if (definition->kind == DEFINITION_FUNCTION)
        return emit_call(e, elaborate_label(e, expr), arguments, count, expr->span);
    return elaborate_op(e, op, arguments, count, &expr->instance, expr->span);
}

static CoreAtom elaborate_binary(Elaborator *e, Expr *expr)
{
    VEC(Expr *) spine = {0};
    Expr *left = expr;
    for (; left->kind == EXPR_BINARY; left = left->items[0])
        *vec_push(e->arena, &spine) = left;
    CoreAtom atom = elaborate_expr(e, left);
    while (spine.count > 0 && !e->has_errors)
        atom = elaborate_operator(e, vec_pop(&spine), atom);
    return atom;
}

/* ---- the rest ---- */

static CoreAtom elaborate_slice(Elaborator *e, Expr *slice)
{
    CoreAtom arguments[3] = {elaborate_expr(e, slice->items[0])};
    arguments[1] = slice->items[1] != NULL ? elaborate_expr(e, slice->items[1]) : core_int(0);
    arguments[2] = slice->items[2] != NULL ? elaborate_expr(e, slice->items[2])
                                           : elaborate_op(e, OP_LENGTH, arguments, 1, NULL, slice->span);
    return elaborate_op(e, OP_SUBSEQ, arguments, 3, NULL, slice->span);
}

static CoreAtom elaborate_index(Elaborator *e, Expr *index)
{
    CoreAtom arguments[2] = {elaborate_expr(e, index->items[0])};
    arguments[1] = elaborate_expr(e, index->items[1]);
    return elaborate_op(e, OP_ELEMENT, arguments, 2, NULL, index->span);
}

static CoreAtom elaborate_select(Elaborator *e, Expr *select)
{
    CoreAtom atom = elaborate_expr(e, select->items[0]);
    for (uint64_t i = 1; i < select->magnitude && !e->has_errors; i++)
        atom = elaborate_project(e, atom, 1, select->span);
    return select->is_last_component || e->has_errors ? atom : elaborate_project(e, atom, 0, select->span);
}

static CoreAtom elaborate_if(Elaborator *e, Expr *expr)
{
    CoreAtom condition = elaborate_expr(e, expr->items[0]);
    CoreBlock *blocks[2];
    for (uint32_t i = 0; i < 2; i++) {
        OpenBlock block;
        elaborate_open(e, &block);
        CoreAtom result = elaborate_expr(e, expr->items[i + 1]);
        blocks[i] = elaborate_close(e, &block, NULL, 0, result);
    }
    if (e->has_errors)
        return core_int(0);
    TypeId type = elaborate_join(e, blocks[0]->result.type, blocks[1]->result.type, expr->span);
    for (uint32_t i = 0; i < 2; i++)
        expect_known(e, blocks[i]->result.type, type, expr->items[i + 1]->span);
    CoreStatement *statement = core_emit(e->builder, CORE_IF, type, expr->span, &condition, 1);
    statement->blocks[0] = blocks[0];
    statement->blocks[1] = blocks[1];
    return core_target(e->builder, statement);
}

static CoreAtom elaborate_let(Elaborator *e, Expr *let)
{
    for (uint32_t i = 0; i < let->count && !e->has_errors; i++)
        elaborate_pattern(e, let->bindings[i].pattern, elaborate_expr(e, let->bindings[i].value));
    return elaborate_expr(e, let->items[0]);
}

static CoreAtom elaborate_tuple_expr(Elaborator *e, Expr *tuple)
{
    CoreAtom *items = ARENA_ARRAY(e->arena, CoreAtom, tuple->item_count);
    for (uint32_t i = 0; i < tuple->item_count && !e->has_errors; i++)
        items[i] = elaborate_expr(e, tuple->items[i]);
    return e->has_errors ? core_int(0) : elaborate_tuple(e, items, tuple->item_count, tuple->span);
}

static CoreAtom elaborate_lambda(Elaborator *e, Expr *lambda)
{
    Label label = {.lambda = lambda,
                   .definition = e->scope->definition,
                   .types = e->scope->types,
                   .type_count = e->scope->type_count};
    CoreAtom *captured = ARENA_ARRAY(e->arena, CoreAtom, lambda->capture_count);
    for (uint32_t i = 0; i < lambda->capture_count; i++)
        captured[i] = *elaborate_local(e, lambda->captures[i]);
    return elaborate_closure(e, label, captured, lambda->capture_count, lambda->span);
}

/* Gives a temporary the name it has in the source; constants and shared values keep theirs. */
static void name_atom(Elaborator *e, CoreAtom atom, Name name)
{
    if (atom.is_constant)
        return;
    CoreVariable *variable = &e->program->variables.items[atom.variable];
    if (variable->name == 0)
        variable->name = name;
}

void elaborate_pattern(Elaborator *e, const Pattern *pattern, CoreAtom value)
{
    if (e->has_errors)
        return;
    switch (pattern->kind) {
    case PATTERN_NAME:
        *elaborate_local(e, pattern->local) = value;
        name_atom(e, value, pattern->name);
        break;
    case PATTERN_WILDCARD:
        break;
    case PATTERN_TYPED:
        elaborate_pattern(e, pattern->items[0], value);
        break;
    case PATTERN_CONSTRUCTOR:
        elaborate_pattern(e, pattern->items[0],
                          emit(e, CORE_UNWRAP, type_representation(e->types, value.type), pattern->span, &value, 1));
        break;
    case PATTERN_TUPLE: {
        CoreAtom *parts = ARENA_ARRAY(e->arena, CoreAtom, pattern->item_count);
        if (pattern->item_count > 0)
            elaborate_components(e, value, parts, pattern->item_count, pattern->span);
        for (uint32_t i = 0; i < pattern->item_count; i++)
            elaborate_pattern(e, pattern->items[i], parts[i]);
        break;
    }
    }
}

static CoreAtom elaborate_kind(Elaborator *e, Expr *expr)
{
    switch (expr->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
        return elaborate_number(e, expr);
    case EXPR_BOOL:
        return core_bool(expr->magnitude != 0);
    case EXPR_CHAR:
        return core_constant(TYPE_CHAR, (Scalar){.integer = (int64_t)expr->magnitude});
    case EXPR_STRING:
        return elaborate_string(e, expr);
    case EXPR_NAME:
        return elaborate_name(e, expr);
    case EXPR_TUPLE:
        return elaborate_tuple_expr(e, expr);
    case EXPR_LIST:
        return elaborate_list(e, expr);
    case EXPR_RANGE:
        return elaborate_range(e, expr);
    case EXPR_CALL:
        return elaborate_call(e, expr);
    case EXPR_INDEX:
        return elaborate_index(e, expr);
    case EXPR_SLICE:
        return elaborate_slice(e, expr);
    case EXPR_SELECT:
        return elaborate_select(e, expr);
    case EXPR_UNARY:
        return elaborate_operator(e, expr, elaborate_expr(e, expr->items[0]));
    case EXPR_BINARY:
        return elaborate_binary(e, expr);
    case EXPR_IF:
        return elaborate_if(e, expr);
    case EXPR_LET:
        return elaborate_let(e, expr);
    case EXPR_LAMBDA:
        return elaborate_lambda(e, expr);
    case EXPR_COMPREHENSION:
        return elaborate_comprehension(e, expr);
    case EXPR_ANNOTATION:
        return elaborate_expr(e, expr->items[0]);
    }
    return core_int(0);
}

CoreAtom elaborate_expr(Elaborator *e, Expr *expr)
{
    /* After an error nothing is built any more; the atom returned is not looked at. */
    if (e->has_errors || !elaborate_nest(e, expr->span))
        return core_int(0);
    CoreAtom atom = elaborate_kind(e, expr);
    e->nesting--;
    elaborate_check_depth(e, expr->span);
    return atom;
}
