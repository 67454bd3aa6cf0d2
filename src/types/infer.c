/* Inference of definitions: groups that refer to each other are found (Tarjan's algorithm, without recursion) and inferred together,
 * what they need first. Functions are generalised; bindings and expressions are not. */
#include "types/infer.h"

#include <string.h>

/* ---- one definition ---- */

static void infer_parameters(Infer *infer, const Item *item, TypeId expected)
{
    TypeId *types = ARENA_ARRAY(infer->arena, TypeId, item->parameter_count);
    for (uint32_t i = 0; i < item->parameter_count; i++) {
        types[i] = infer_fresh(infer);
        infer_pattern(infer, item->parameters[i].pattern, types[i]);
    }
    infer_expect(infer, expected, type_tuple(infer->types, types, item->parameter_count), item->name_span,
                 (Reason){.text = "the function's type is declared here",
                          .span = item->type != NULL ? item->type->span : (Span){0}});
}

/* A default must fit its parameter. */
static void infer_defaults(Infer *infer, Definition *function)
{
    if (function->defaults == NULL)
        return;
    uint32_t count = function->item->parameter_count;
    function->default_uses = ARENA_ARRAY(infer->arena, Expr *, count);
    for (uint32_t i = 0; i < count; i++) {
        Definition *fallback = function->defaults[i];
        if (fallback == NULL)
            continue;
        Expr *use = ARENA_NEW(infer->arena, Expr);
        *use = (Expr){.kind = EXPR_NAME, .span = fallback->span, .reference = REFERENCE_DEFINITION, .definition = fallback};
        function->default_uses[i] = use;
        TypeId type = type_resolve(infer->types, infer_expr(infer, use));
        const Pattern *parameter = function->item->parameters[i].pattern;
        if (type_kind(infer->types, type) == TYPE_FUNCTION) /* else it is wrong, and reported already */
            infer_expect(infer, parameter->type_id, type_node(infer->types, type)->b, fallback->span,
                         (Reason){.text = "the parameter is here", .span = parameter->span});
    }
}

/* What a function's head says, before any body of its group is looked at. */
static void infer_head(Infer *infer, Definition *definition)
{
    if (definition->kind != DEFINITION_FUNCTION)
        return;
    infer->definition = definition;
    const Item *item = definition->item;
    TypeNode type = *type_node(infer->types, definition->type);
    infer_context(infer, &item->context);
    infer_parameters(infer, item, type.a);
    if (item->type != NULL) {
        TypeId declared = infer_type_expr(infer, item->type);
        infer_expect(infer, declared, item->is_whole_type ? definition->type : type.b, item->type->span, (Reason){0});
    }
}

static void infer_function(Infer *infer, Definition *definition)
{
    const Item *item = definition->item;
    TypeNode type = *type_node(infer->types, definition->type);
    infer_defaults(infer, definition);
    infer_expr(infer, item->value);
    infer_expect(infer, type.b, item->value->type, item->value->span,
                 (Reason){.text = item->type != NULL ? "the result's type is declared here" : NULL,
                          .span = item->type != NULL ? item->type->span : (Span){0}});
}

static void infer_definition(Infer *infer, Definition *definition)
{
    infer->definition = definition;
    switch (definition->kind) {
    case DEFINITION_FUNCTION:
        infer_function(infer, definition);
        break;
    case DEFINITION_BINDING:
        infer_expr(infer, definition->item->value);
        infer_pattern(infer, definition->item->pattern, definition->item->value->type);
        definition->type = definition->item->value->type;
        break;
    case DEFINITION_EXPRESSION:
        definition->type = infer_expr(infer, definition->item->value);
        break;
    case DEFINITION_CONSTRUCTOR:
    case DEFINITION_OP:
    case DEFINITION_OVERLOAD:
    case DEFINITION_VALUE:
        break;
    }
}

/* ---- after a group ---- */

static void require_concrete_recursion(Infer *infer, Definition *definition)
{
    if (!definition->is_recursive || definition->kind != DEFINITION_FUNCTION)
        return;
    infer->definition = definition;
    TypeNode type = *type_node(infer->types, definition->type);
    Reason reason = {.text = "the parameters and results of recursive functions are concrete"};
    if (infer_require(infer, type.a, CLASS_CONCRETE, definition->span, reason))
        infer_require(infer, type.b, CLASS_CONCRETE, definition->span, reason);
}

static void check_annotated(Infer *infer, const AnnotatedVariable *annotated)
{
    const char *name = names_text(infer->environment->names, annotated->name);
    TypeId type = type_resolve(infer->types, annotated->variable);
    infer->definition = (Definition *)annotated->definition;
    if (type_kind(infer->types, type) != TYPE_VARIABLE) {
        bool is_mark = type_kind(infer->types, type) == TYPE_MARK;
        diagnostics_error(infer->diagnostics, ERROR_TYPE_TOO_GENERAL, annotated->span,
                          "the annotation promises any %s `%s`, but the definition works for `%s` only",
                          is_mark ? "container" : "type", name,
                          !is_mark ? infer_text(infer, type) : type == TYPE_MARK_VECTOR ? "vectors" : "sequences");
        infer_failed(infer);
        return;
    }
    ClassSet needed = type_variable_of(infer->types, type)->class_set;
    /* That a type must be concrete need not be written down. */
    if (needed != annotated->declared && needed != (annotated->declared & CLASS_CONCRETE)) {
        diagnostics_error(infer->diagnostics, ERROR_TYPE_TOO_GENERAL, annotated->span,
                          "the annotation promises any type `%s` in class %s, but the definition needs class %s", name,
                          class_name(annotated->declared), class_name(needed));
        diagnostics_note(infer->diagnostics, (Span){0}, "write `:: (%s in %s)` after the type", name,
                         class_name(needed));
        infer_failed(infer);
    }
}

static void check_distinct(Infer *infer, uint32_t index)
{
    const AnnotatedVariable *annotated = &infer->annotated.items[index];
    for (uint32_t i = 0; i < index; i++) {
        const AnnotatedVariable *other = &infer->annotated.items[i];
        bool is_same = type_resolve(infer->types, other->variable) == type_resolve(infer->types, annotated->variable);
        if (!is_same || other->definition != annotated->definition)
            continue;
        diagnostics_error(infer->diagnostics, ERROR_TYPE_TOO_GENERAL, annotated->span,
                          "the annotation promises that `%s` and `%s` may differ, but the definition needs them equal",
                          names_text(infer->environment->names, annotated->name),
                          names_text(infer->environment->names, other->name));
        infer->definition = (Definition *)annotated->definition;
        infer_failed(infer);
    }
}

static void check_annotations(Infer *infer)
{
    if (infer->has_errors)
        return;
    for (uint32_t i = 0; i < infer->annotated.count; i++) {
        const AnnotatedVariable *annotated = &infer->annotated.items[i];
        bool is_promise = annotated->definition->kind == DEFINITION_FUNCTION;
        if (!is_promise)
            continue;
        check_annotated(infer, annotated);
        check_distinct(infer, i);
    }
}

static void make_vector(void *context, TypeId variable)
{
    Infer *infer = context;
    TypeVariable *info = type_variable_of(infer->types, variable);
    if (info->is_container)
        info->link = TYPE_MARK_VECTOR;
}

/* Fixes what is still open to its default. */
static void make_default(void *context, TypeId variable)
{
    Infer *infer = context;
    type_variable_of(infer->types, variable)->link = type_substitute(infer->types, variable, NULL, 0);
}

static void note_in_parameters(void *context, TypeId variable)
{
    Infer *infer = context;
    type_variable_of(infer->types, variable)->is_in_parameters = true;
}

static void default_free_literal(void *context, TypeId variable)
{
    const Infer *infer = context;
    const TypeVariable *info = type_variable_of(infer->types, variable);
    if (info->is_literal && !info->is_in_parameters)
        make_default(context, variable);
}

/* The type of a literal that no argument decides is int or float. */
static void default_free_literals(Infer *infer, Definition **group, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (group[i]->kind == DEFINITION_FUNCTION)
            type_each_variable(infer->types, type_node(infer->types, group[i]->type)->a, note_in_parameters, infer);
    for (uint32_t i = 0; i < count; i++)
        if (group[i]->kind == DEFINITION_FUNCTION && !group[i]->is_hidden) /* a default takes its parameter's type */
            type_each_variable(infer->types, group[i]->type, default_free_literal, infer);
}

static void check_binding(Infer *infer, Definition *binding)
{
    infer->definition = binding;
    TypeId type = type_substitute(infer->types, binding->type, NULL, 0);
    if (type_node(infer->types, type)->has_sequence && binding->state != DEFINITION_WRONG) {
        diagnostics_error(infer->diagnostics, ERROR_SEQUENCE_BINDING, binding->item->value->span,
                          "a top-level binding cannot hold a sequence, but this is of type `%s`",
                          infer_text(infer, type));
        diagnostics_note(infer->diagnostics, (Span){0},
                         "tab(...) materialises it; a function makes it anew at each use");
        infer_failed(infer);
    }
}

static void check_not_too_deep(Infer *infer, Definition *definition)
{
    if (!infer->types->is_too_deep)
        return;
    infer->types->is_too_deep = false;
    diagnostics_error(infer->diagnostics, ERROR_TYPE_TOO_LARGE, definition->item->span,
                      "a type in this definition is nested more than %d deep", TYPE_DEPTH_MAX);
    infer->definition = definition;
    infer_failed(infer);
}

/* ---- a group ---- */

static void note_latest_binding(Definition *definition, Definition *binding)
{
    if (binding != NULL &&
        (definition->latest_binding == NULL || definition->latest_binding->position < binding->position))
        definition->latest_binding = binding;
}

/* The last top-level binding each needs, calls included: the group shares it. */
static void find_latest_binding(Definition **group, uint32_t count)
{
    Definition *latest = group[0];
    latest->latest_binding = NULL;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t r = 0; r < group[i]->references.count; r++) {
            Definition *reference = group[i]->references.items[r];
            note_latest_binding(latest, reference->kind == DEFINITION_BINDING ? reference : reference->latest_binding);
        }
    for (uint32_t i = 1; i < count; i++)
        group[i]->latest_binding = latest->latest_binding;
}

static void check_order(Infer *infer, Definition *definition)
{
    Definition *latest = definition->latest_binding;
    bool is_run_in_order = definition->kind == DEFINITION_BINDING || definition->kind == DEFINITION_EXPRESSION;
    if (!is_run_in_order || latest == NULL || latest->position < definition->position)
        return;
    infer->definition = definition;
    if (latest == definition) {
        diagnostics_error(infer->diagnostics, ERROR_CYCLIC_BINDING, definition->item->span,
                          "this binding needs its own value");
    } else {
        diagnostics_error(infer->diagnostics, ERROR_USED_TOO_EARLY, definition->item->span,
                          "this needs a value that is only bound further down");
        diagnostics_note(infer->diagnostics, latest->item->span, "bound here");
    }
    infer_failed(infer);
}

static void start_type(Infer *infer, Definition *definition)
{
    if (definition->kind == DEFINITION_FUNCTION)
        definition->type = type_function(infer->types, infer_fresh(infer),
                                         infer_fresh(infer));
    else
        definition->type = infer_fresh(infer);
}

static void generalise(Infer *infer, Definition **group, uint32_t count)
{
    Environment *environment = infer->environment;
    for (uint32_t i = 0; i < count; i++) {
        Definition *definition = group[i];
        bool is_function = definition->kind == DEFINITION_FUNCTION;
        if (is_function && definition->dialect == DIALECT_NESL)
            type_each_variable(infer->types, definition->type, make_vector, infer);
        if (!is_function)
            type_each_variable(infer->types, definition->type, make_default, infer);
    }
    if (group[0]->kind == DEFINITION_FUNCTION)
        infer_collect_scheme(environment, group, count);
}

/* Names that mean nothing make types that mean nothing: such a group is not inferred. */
static bool is_unresolved(Definition **group, uint32_t count)
{
    bool is_wrong = false;
    for (uint32_t i = 0; i < count; i++)
        is_wrong |= group[i]->state == DEFINITION_WRONG;
    for (uint32_t i = 0; i < count && is_wrong; i++)
        group[i]->state = DEFINITION_WRONG;
    return is_wrong;
}

static void infer_group_of(Environment *environment, Definition **group, uint32_t count)
{
    Infer infer = {.environment = environment,
                   .types = environment->types,
                   .arena = environment->arena,
                   .diagnostics = environment->diagnostics,
                   .definition = group[0]};
    find_latest_binding(group, count);
    if (is_unresolved(group, count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        group[i]->state = DEFINITION_INFERRING;
        start_type(&infer, group[i]);
        check_order(&infer, group[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        infer_head(&infer, group[i]);
    for (uint32_t i = 0; i < count; i++) {
        infer_definition(&infer, group[i]);
        check_not_too_deep(&infer, group[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        require_concrete_recursion(&infer, group[i]);
    infer_settle(&infer);
    check_annotations(&infer);
    default_free_literals(&infer, group, count);
    generalise(&infer, group, count);
    infer_settle(&infer); /* defaults may have made vectors of open containers */
    for (uint32_t i = 0; i < count; i++) {
        if (group[i]->kind == DEFINITION_BINDING)
            check_binding(&infer, group[i]);
        check_not_too_deep(&infer, group[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        group[i]->state = infer.has_errors ? DEFINITION_WRONG : DEFINITION_TYPED;
}

/* ---- finding groups ---- */

typedef struct Visit {
    Definition *definition;
    uint32_t next_reference;
} Visit;

typedef struct GroupSearch {
    Environment *environment;
    VEC(Visit) path;
    VEC(Definition *) open; /* visited, not yet in a group */
    uint32_t next_index;
} GroupSearch;

static bool needs_visit(const Definition *definition)
{
    return definition->search_index == 0 &&
           (definition->state == DEFINITION_NEW || definition->state == DEFINITION_RESOLVED) &&
           (definition->kind == DEFINITION_FUNCTION || definition->kind == DEFINITION_BINDING ||
            definition->kind == DEFINITION_EXPRESSION);
}

static void start_visit(GroupSearch *search, Definition *definition)
{
    resolve_definition(search->environment, definition);
    if (definition->defaults != NULL)
        for (uint32_t i = 0; i < definition->item->parameter_count; i++)
            if (definition->defaults[i] != NULL)
                *vec_push(search->environment->arena, &definition->references) = definition->defaults[i];
    definition->search_index = definition->search_low = ++search->next_index;
    definition->is_on_search_stack = true;
    *vec_push(search->environment->arena, &search->open) = definition;
    *vec_push(search->environment->arena, &search->path) = (Visit){.definition = definition};
}

static bool refers_to(const Definition *definition, const Definition *wanted)
{
    for (uint32_t i = 0; i < definition->references.count; i++)
        if (definition->references.items[i] == wanted)
            return true;
    return false;
}

static void close_group(GroupSearch *search, Definition *root)
{
    uint32_t first = search->open.count;
    do
        search->open.items[--first]->is_on_search_stack = false;
    while (search->open.items[first] != root);
    Definition **group = &search->open.items[first];
    uint32_t count = search->open.count - first;
    for (uint32_t i = 0; i < count; i++)
        group[i]->is_recursive = count > 1 || refers_to(group[i], group[i]);
    search->open.count = first;
    infer_group_of(search->environment, group, count);
}

static void lower(Definition *definition, uint32_t index)
{
    if (index < definition->search_low)
        definition->search_low = index;
}

static void visit(GroupSearch *search, Definition *start)
{
    if (!needs_visit(start))
        return;
    start_visit(search, start);
    while (search->path.count > 0) {
        Visit *top = &vec_last(&search->path);
        Definition *definition = top->definition;
        if (top->next_reference < definition->references.count) {
            Definition *reference = definition->references.items[top->next_reference++];
            if (needs_visit(reference))
                start_visit(search, reference);
            else if (reference->is_on_search_stack)
                lower(definition, reference->search_index);
            continue;
        }
        search->path.count--;
        if (search->path.count > 0)
            lower(vec_last(&search->path).definition, definition->search_low);
        if (definition->search_low == definition->search_index)
            close_group(search, definition);
    }
}

/* ---- definitions given again ---- */

/* Two schemes side by side, and which variable of one is which of the other. */
typedef struct SchemePair {
    Types *types;
    uint32_t *older_of; /* by index of the newer's variables: index + 1 of the older's, 0 while not met */
    uint32_t *newer_of; /* the other way round */
    ClassSet compared;  /* what classes are compared in */
} SchemePair;

static bool is_same_variable(const SchemePair *pair, TypeId newer, TypeId older)
{
    const TypeVariable *left = type_variable_of(pair->types, newer), *right = type_variable_of(pair->types, older);
    uint32_t l = left->scheme_index, r = right->scheme_index;
    bool is_alike = l != 0 && r != 0 && left->is_container == right->is_container &&
                    ((left->class_set ^ right->class_set) & pair->compared) == 0;
    if (!is_alike)
        return false;
    if (pair->older_of[l - 1] == 0 && pair->newer_of[r - 1] == 0) {
        pair->older_of[l - 1] = r;
        pair->newer_of[r - 1] = l;
    }
    return pair->older_of[l - 1] == r && pair->newer_of[r - 1] == l;
}

/* Equal but for the names of variables. What was found equal is remembered: types are graphs. */
static bool is_same_type(const SchemePair *pair, TypeId newer, TypeId older)
{
    newer = type_resolve(pair->types, newer);
    older = type_resolve(pair->types, older);
    TypeNode left = *type_node(pair->types, newer), right = *type_node(pair->types, older);
    if (left.kind != right.kind || left.is_ground != right.is_ground)
        return false;
    if (left.is_ground)
        return newer == older;
    if (left.kind == TYPE_VARIABLE)
        return is_same_variable(pair, newer, older);
    if (*type_memo(pair->types, newer) == older)
        return true;
    bool is_first_type = left.kind != TYPE_DATA && left.kind != TYPE_CLOSURE;
    bool is_same = (is_first_type ? is_same_type(pair, left.a, right.a) : left.a == right.a) &&
                   is_same_type(pair, left.b, right.b);
    if (is_same)
        *type_memo(pair->types, newer) = older;
    return is_same;
}

/* Sets `replaced_variables` of the older one when their types are the same. */
static bool has_same_type(Environment *environment, const Definition *newer, Definition *older)
{
    /* NESL knows no sequences, so there `concrete` says nothing */
    bool is_nesl = newer->dialect == DIALECT_NESL && older->dialect == DIALECT_NESL;
    SchemePair pair = {.types = environment->types,
                       .older_of = ARENA_ARRAY(environment->arena, uint32_t, newer->variable_count),
                       .newer_of = ARENA_ARRAY(environment->arena, uint32_t, older->variable_count),
                       .compared = is_nesl ? CLASS_CONCRETE : CLASS_ANY};
    type_memo_start(environment->types);
    if (!is_same_type(&pair, newer->type, older->type))
        return false;
    uint32_t *indices = ARENA_ARRAY(environment->arena, uint32_t, newer->variable_count);
    for (uint32_t i = 0; i < newer->variable_count; i++)
        indices[i] = pair.older_of[i] == 0 ? UINT32_MAX : pair.older_of[i] - 1; /* a variable of others in its group */
    older->replaced_variables = indices;
    return true;
}

static void replace_older(Environment *environment, Definition *definition)
{
    Definition *older = definition->older;
    if (definition->kind != DEFINITION_FUNCTION || older == NULL || older->kind != DEFINITION_FUNCTION ||
        definition->state != DEFINITION_TYPED || older->state != DEFINITION_TYPED)
        return;
    bool is_again = definition->dialect == DIALECT_NESL || older->position < environment->load_start;
    if (!is_again)
        return; /* reported as defined twice */
    if (has_same_type(environment, definition, older)) {
        older->replaced_by = definition;
        *vec_push(environment->arena, &environment->replacements) = definition->position;
    } else
        diagnostics_warning(environment->diagnostics, definition->span,
                            "Redefining %s with a new type.  Old calls will not be modified.",
                            names_text(environment->names, definition->name));
}

void infer_definitions(Environment *environment, Definition **definitions, uint32_t count)
{
    GroupSearch search = {.environment = environment};
    for (uint32_t i = 0; i < count; i++)
        if (definitions[i]->kind == DEFINITION_CONSTRUCTOR)
            infer_constructor(environment, definitions[i]);
        else
            visit(&search, definitions[i]);
    for (uint32_t i = 0; i < count; i++)
        replace_older(environment, definitions[i]);
}
