/* Types as written: annotations, the types of operations, datatypes. */
#include "front/parse.h"
#include "types/infer.h"

#include <ctype.h>
#include <string.h>

/* ---- names of types ---- */

/* One letter, perhaps with digits: a, b, a0. Any other name must be declared in the context. */
static bool looks_like_variable(const char *name)
{
    if (!isalpha((unsigned char)name[0]))
        return false;
    for (name++; *name != '\0'; name++)
        if (!isdigit((unsigned char)*name))
            return false;
    return true;
}

static AnnotatedVariable *find_annotated(Infer *infer, Name name)
{
    for (uint32_t i = 0; i < infer->annotated.count; i++) {
        AnnotatedVariable *annotated = &infer->annotated.items[i];
        if (annotated->name == name && annotated->definition == infer->definition)
            return annotated;
    }
    return NULL;
}

static TypeId add_annotated(Infer *infer, Name name, TypeId variable, ClassSet declared, Span span)
{
    *vec_push(infer->arena, &infer->annotated) =
        (AnnotatedVariable){.name = name,
                            .variable = variable,
                            .is_container = type_variable_of(infer->types, variable)->is_container,
                            .span = span,
                            .declared = declared,
                            .definition = infer->definition};
    return variable;
}

static TypeId fresh_annotated(Infer *infer, bool is_container)
{
    return is_container ? type_container_variable(infer->types) : infer_fresh(infer);
}

/* A name stands for types or for containers, not for both. */
static TypeId annotated_variable(Infer *infer, Name name, bool is_container, Span span)
{
    const AnnotatedVariable *known = find_annotated(infer, name);
    if (known == NULL)
        return add_annotated(infer, name, fresh_annotated(infer, is_container), CLASS_ANY, span);
    if (known->is_container == is_container)
        return known->variable;
    const char *text = names_text(infer->environment->names, name);
    if (is_container)
        diagnostics_error(infer->diagnostics, ERROR_TYPE_ARGUMENTS, span,
                          "`%s` is a type in this definition, so it takes no type", text);
    else
        diagnostics_error(infer->diagnostics, ERROR_TYPE_ARGUMENTS, span,
                          "`%s` is a container in this definition, so it takes the type of its elements: `%s[...]`", text,
                          text);
    diagnostics_note(infer->diagnostics, known->span, "it first stands here");
    infer_failed(infer);
    return fresh_annotated(infer, is_container);
}

/* What types are called elsewhere. */
static const struct {
    const char *name, *here;
} foreign_types[] = {
    {"integer", "int"}, {"long", "int"},    {"int64", "i64"},  {"int32", "i32"},   {"double", "float"},
    {"number", "int"},  {"float64", "f64"}, {"float32", "f32"}, {"boolean", "bool"}, {"byte", "u8"},
    {"string", "[char]"}, {"str", "[char]"}, {"text", "[char]"}, {"unit", "()"},     {"void", "()"},
};

static const char *similar_type(const char *text)
{
    for (size_t i = 0; i < sizeof foreign_types / sizeof foreign_types[0]; i++)
        if (strcmp(text, foreign_types[i].name) == 0)
            return foreign_types[i].here;
    for (uint32_t scalar = 0; scalar < SCALAR_COUNT; scalar++)
        if (strlen(text) > 2 && names_distance(text, scalar_name((ScalarType)scalar), 3) < 3)
            return scalar_name((ScalarType)scalar);
    return NULL;
}

static TypeId unknown_type(Infer *infer, const TypeExpr *expr)
{
    const char *text = names_text(infer->environment->names, expr->name);
    diagnostics_error(infer->diagnostics, ERROR_UNKNOWN_TYPE, expr->span, "there is no type called `%s`", text);
    const char *similar = similar_type(text);
    if (similar != NULL)
        diagnostics_note(infer->diagnostics, (Span){0}, "did you mean `%s`?", similar);
    diagnostics_note(infer->diagnostics, (Span){0},
                     "a type variable is a single letter, or declared by `:: (%s in any)`", text);
    infer_failed(infer);
    return infer_fresh(infer);
}

static TypeId datatype_type(Infer *infer, const TypeExpr *expr, Definition *definition)
{
    infer_constructor(infer->environment, definition);
    if (definition->state == DEFINITION_WRONG) {
        infer_failed(infer); /* reported where it is defined */
        return infer_fresh(infer);
    }
    const Datatype *datatype = &infer->types->datatypes.items[definition->datatype];
    if (expr->item_count != datatype->visible_count) {
        diagnostics_error(infer->diagnostics, ERROR_TYPE_ARGUMENTS, expr->span, "`%s` takes %u types, not %u",
                          names_text(infer->environment->names, expr->name), datatype->visible_count,
                          expr->item_count);
        infer_failed(infer);
        return infer_fresh(infer);
    }
    uint32_t count = datatype->parameter_count;
    TypeId *arguments = ARENA_ARRAY(infer->arena, TypeId, count);
    for (uint32_t i = 0; i < expr->item_count; i++)
        arguments[i] = infer_type_expr(infer, expr->items[i]);
    for (uint32_t i = expr->item_count; i < count; i++)
        arguments[i] = type_substitute(infer->types, datatype->functions[i - expr->item_count], arguments,
                                       expr->item_count);
    return type_data(infer->types, definition->datatype, type_tuple(infer->types, arguments, count));
}

static TypeId named_type(Infer *infer, const TypeExpr *expr)
{
    const char *text = names_text(infer->environment->names, expr->name);
    TypeId scalar = type_scalar_named(text);
    if (scalar != 0 && expr->item_count == 0)
        return scalar;
    const Definition *here = infer->definition;
    if (find_annotated(infer, expr->name) == NULL) {
        Definition *found = environment_lookup(infer->environment, expr->name, here->dialect, here->is_library,
                                               here->position);
        if (found != NULL && found->kind == DEFINITION_CONSTRUCTOR)
            return datatype_type(infer, expr, found);
    }
    bool is_variable = expr->item_count == 0 && (find_annotated(infer, expr->name) != NULL || looks_like_variable(text));
    return is_variable ? annotated_variable(infer, expr->name, false, expr->span) : unknown_type(infer, expr);
}

TypeId infer_type_expr(Infer *infer, const TypeExpr *expr)
{
    Types *types = infer->types;
    if (expr->context != NULL)
        infer_context(infer, expr->context);
    switch (expr->kind) {
    case TYPE_EXPR_NAME:
        return named_type(infer, expr);
    case TYPE_EXPR_VECTOR:
        return infer_container(infer, TYPE_MARK_VECTOR, infer_type_expr(infer, expr->items[0]), expr->span);
    case TYPE_EXPR_SEQUENCE:
        return type_sequence(types, infer_type_expr(infer, expr->items[0]));
    case TYPE_EXPR_CONTAINER: {
        TypeId mark = annotated_variable(infer, expr->name, true, expr->span);
        return infer_container(infer, mark, infer_type_expr(infer, expr->items[0]), expr->span);
    }
    case TYPE_EXPR_TUPLE: {
        TypeId *items = ARENA_ARRAY(infer->arena, TypeId, expr->item_count);
        for (uint32_t i = 0; i < expr->item_count; i++)
            items[i] = infer_type_expr(infer, expr->items[i]);
        return type_tuple(types, items, expr->item_count);
    }
    case TYPE_EXPR_FUNCTION: {
        TypeId argument = infer_type_expr(infer, expr->items[0]);
        return type_function(types, argument, infer_type_expr(infer, expr->items[1]));
    }
    }
    return 0;
}

static ClassSet declared_class(Infer *infer, const ClassConstraint *constraint)
{
    const char *name = names_text(infer->environment->names, constraint->class_name);
    ClassSet set = class_named(name);
    if (set != 0)
        return set;
    diagnostics_error(infer->diagnostics, ERROR_UNKNOWN_TYPE, constraint->span, "there is no class called `%s`", name);
    diagnostics_note(infer->diagnostics, (Span){0},
                     "the classes are any, concrete, scalar, ordinal, number, logical, integer, floating and container");
    infer_failed(infer);
    return CLASS_ANY;
}

static void report_declared_twice(Infer *infer, const ClassConstraint *constraint, const AnnotatedVariable *known)
{
    const char *name = names_text(infer->environment->names, constraint->variable);
    diagnostics_error(infer->diagnostics, ERROR_BOUND_TWICE, constraint->span,
                      "`%s` has another class in this definition already", name);
    diagnostics_note(infer->diagnostics, known->span, "it first stands here");
    infer_failed(infer);
}

void infer_context(Infer *infer, const TypeContext *context)
{
    for (uint32_t i = 0; i < context->count; i++) {
        const ClassConstraint *constraint = &context->items[i];
        bool is_container = strcmp(names_text(infer->environment->names, constraint->class_name), "container") == 0;
        ClassSet set = is_container ? CLASS_ANY : declared_class(infer, constraint);
        const AnnotatedVariable *known = find_annotated(infer, constraint->variable);
        if (known == NULL) {
            TypeId variable = is_container ? type_container_variable(infer->types)
                                           : type_variable(infer->types, set);
            add_annotated(infer, constraint->variable, variable, set, constraint->span);
        } else if (known->is_container != is_container || known->declared != set)
            report_declared_twice(infer, constraint, known);
    }
}

/* ---- schemes ---- */

typedef struct SchemeBuilder {
    Types *types;
    Arena *arena;
    VEC(TypeId) variables;
} SchemeBuilder;

static void add_to_scheme(void *context, TypeId variable)
{
    SchemeBuilder *builder = context;
    TypeVariable *info = type_variable_of(builder->types, variable);
    if (info->scheme_index != 0)
        return;
    *vec_push(builder->arena, &builder->variables) = variable;
    info->scheme_index = builder->variables.count;
}

static void collect_open_containers(Environment *environment, Definition *definition, TypeId type, uint32_t depth)
{
    Types *types = environment->types;
    type = type_resolve(types, type);
    TypeNode node = *type_node(types, type);
    if (node.is_ground || *type_memo(types, type) != 0 || depth > TYPE_DEPTH_MAX)
        return;
    *type_memo(types, type) = type;
    if (node.kind == TYPE_CONTAINER && type_kind(types, type_resolve(types, node.a)) == TYPE_VARIABLE)
        *vec_push(environment->arena, &definition->open_containers) = type;
    if (node.kind == TYPE_PAIR || node.kind == TYPE_FUNCTION)
        collect_open_containers(environment, definition, node.a, depth + 1);
    if (node.kind != TYPE_VARIABLE)
        collect_open_containers(environment, definition, node.b, depth + 1);
}

void infer_collect_scheme(Environment *environment, Definition **definitions, uint32_t count)
{
    SchemeBuilder builder = {.types = environment->types, .arena = environment->arena};
    for (uint32_t i = 0; i < count; i++)
        type_each_variable(environment->types, definitions[i]->type, add_to_scheme, &builder);
    for (uint32_t i = 0; i < count; i++) {
        definitions[i]->variables = builder.variables.items;
        definitions[i]->variable_count = builder.variables.count;
        type_memo_start(environment->types);
        collect_open_containers(environment, definitions[i], definitions[i]->type, 1);
    }
}

/* ---- operations ---- */

static Infer infer_alone(Environment *environment, Definition *definition)
{
    return (Infer){.environment = environment,
                   .types = environment->types,
                   .arena = environment->arena,
                   .diagnostics = environment->diagnostics,
                   .definition = definition};
}

/* NESL has no classes below number: what is there for all integer types is for int, and for all floats float. */
static void narrow_for_nesl(Infer *infer)
{
    for (uint32_t i = 0; i < infer->annotated.count; i++) {
        TypeVariable *variable = type_variable_of(infer->types, infer->annotated.items[i].variable);
        if (variable->class_set == CLASS_INTEGER)
            variable->link = TYPE_INT;
        else if (variable->class_set == CLASS_FLOATING)
            variable->link = TYPE_FLOAT;
    }
}

void infer_built_in(Environment *environment, Definition *definition)
{
    if (definition->state == DEFINITION_TYPED)
        return;
    bool is_nesl = definition->dialect == DIALECT_NESL;
    const OpInfo *info = &op_table[definition->op];
    const char *text = is_nesl && info->nesl_type != NULL ? info->nesl_type : info->type;
    const Source *source =
        sources_add(environment->sources, "(built in)", text, strlen(text), DIALECT_RUNNEL);
    TypeContext context = {0};
    TypeExpr *expr =
        parse_type_text(environment->arena, environment->names, environment->diagnostics, source, &context);
    if (expr == NULL)
        bug("ops.def", "the type of %s does not parse: %s", info->id, text);
    Infer infer = infer_alone(environment, definition);
    infer_context(&infer, &context);
    definition->type = infer_type_expr(&infer, expr);
    if (is_nesl)
        narrow_for_nesl(&infer);
    infer_settle(&infer);
    if (infer.has_errors)
        bug("ops.def", "the type of %s is wrong: %s", info->id, text);
    infer_collect_scheme(environment, &definition, 1);
    definition->state = DEFINITION_TYPED;
}

/* ---- datatypes ---- */

typedef struct DatatypeBuilder {
    Infer *infer;
    VEC(TypeId) parameters;
    VEC(TypeId) functions;
} DatatypeBuilder;

static void add_parameter(DatatypeBuilder *builder, TypeId variable)
{
    *vec_push(builder->infer->arena, &builder->parameters) = variable;
    type_variable_of(builder->infer->types, variable)->scheme_index = builder->parameters.count;
}

/* Makes a hidden parameter of every function type. */
static TypeId hide_functions(DatatypeBuilder *builder, TypeId type)
{
    Types *types = builder->infer->types;
    type = type_resolve(types, type);
    TypeNode node = *type_node(types, type);
    if (!node.has_function)
        return type;
    switch (node.kind) {
    case TYPE_FUNCTION: {
        *vec_push(builder->infer->arena, &builder->functions) = type;
        TypeId hidden = type_variable(types, CLASS_CONCRETE);
        add_parameter(builder, hidden);
        return hidden;
    }
    case TYPE_PAIR: {
        TypeId first = hide_functions(builder, node.a);
        return type_pair(types, first, hide_functions(builder, node.b));
    }
    case TYPE_CONTAINER:
        return type_container(types, node.a, hide_functions(builder, node.b));
    case TYPE_DATA:
        return type_data(types, node.a, hide_functions(builder, node.b));
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_UNIT:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return type;
}

/* The type that the constructor's result has for inference: hidden parameters are the function types. */
static TypeId data_before_specialisation(const DatatypeBuilder *builder, uint32_t datatype, uint32_t visible)
{
    Infer *infer = builder->infer;
    TypeId *arguments = ARENA_ARRAY(infer->arena, TypeId, builder->parameters.count);
    for (uint32_t i = 0; i < builder->parameters.count; i++)
        arguments[i] = i < visible ? builder->parameters.items[i] : builder->functions.items[i - visible];
    return type_data(infer->types, datatype, type_tuple(infer->types, arguments, builder->parameters.count));
}

void infer_constructor(Environment *environment, Definition *definition)
{
    if (definition->state == DEFINITION_TYPED || definition->state == DEFINITION_WRONG)
        return;
    Infer infer = infer_alone(environment, definition);
    if (definition->state == DEFINITION_INFERRING) {
        diagnostics_error(environment->diagnostics, ERROR_RECURSIVE_DATATYPE, definition->span,
                          "the datatype `%s` contains itself, so its values would never end",
                          names_text(environment->names, definition->name));
        infer_failed(&infer);
        definition->type = type_function(environment->types, infer_fresh(&infer),
                                         infer_fresh(&infer));
        return;
    }
    definition->state = DEFINITION_INFERRING;
    infer_context(&infer, &definition->item->context);
    TypeId contents = infer_type_expr(&infer, definition->item->type);
    infer_settle(&infer);
    infer_require(&infer, contents, CLASS_CONCRETE, definition->item->type->span,
                  (Reason){.text = "a datatype holds concrete values only"});
    DatatypeBuilder builder = {.infer = &infer};
    for (uint32_t i = 0; i < infer.annotated.count; i++)
        add_parameter(&builder, infer.annotated.items[i].variable);
    uint32_t visible = builder.parameters.count;
    TypeId hidden_contents = hide_functions(&builder, contents);
    TypeId data = data_before_specialisation(&builder, definition->datatype, visible);
    Datatype *datatype = &environment->types->datatypes.items[definition->datatype];
    datatype->contents = hidden_contents;
    datatype->parameters = builder.parameters.items;
    datatype->parameter_count = builder.parameters.count;
    datatype->visible_count = visible;
    datatype->functions = builder.functions.items;
    definition->type = type_function(environment->types, contents, data);
    definition->variables = datatype->parameters;
    definition->variable_count = visible;
    if (definition->state == DEFINITION_INFERRING)
        definition->state = DEFINITION_TYPED;
}
