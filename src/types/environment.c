#include "types/environment.h"

#include <string.h>

/* ---- tables of names ---- */

static Definition **slot_of(Environment *environment, DefinitionTable *table, Name name)
{
    while (table->count <= name)
        *vec_push(environment->arena, table) = NULL;
    return &table->items[name];
}

static Definition *find_in(const DefinitionTable *table, Name name)
{
    return name < table->count ? table->items[name] : NULL;
}

static Definition *new_definition(Environment *environment, DefinitionKind kind, Name name, Span span)
{
    Definition *definition = ARENA_NEW(environment->arena, Definition);
    definition->kind = kind;
    definition->name = name;
    definition->span = span;
    return definition;
}

static void add_op(Environment *environment, Op op, Dialect dialect)
{
    Name name = names_of(environment->names, op_name(op));
    Definition *definition = new_definition(environment, DEFINITION_OP, name, (Span){0});
    definition->op = op;
    definition->dialect = dialect;
    definition->is_library = true;
    environment->ops[dialect][op] = definition;
}

static void name_built_in(Environment *environment, Dialect dialect, const char *name, Definition *definition)
{
    if (name == NULL)
        return;
    Definition **slot = slot_of(environment, &environment->built_in[dialect], names_of(environment->names, name));
    if (*slot == NULL)
        *slot = definition;
}

/* log(x) is the natural logarithm, log(x, b) has base b, in both dialects. */
static void add_overloads(Environment *environment, Dialect dialect)
{
    Definition *log = new_definition(environment, DEFINITION_OVERLOAD, names_of(environment->names, "log"), (Span){0});
    log->dialect = dialect;
    log->is_library = true;
    log->alternatives[0] = environment->ops[dialect][OP_LN];
    log->alternatives[1] = environment->ops[dialect][OP_LOG_BASE];
    name_built_in(environment, dialect, "log", log);
}

void environment_init(Environment *environment, Memory *memory, Arena *arena, Names *names, Sources *sources,
                      Diagnostics *diagnostics, Types *types)
{
    *environment = (Environment){.memory = memory,
                                 .arena = arena,
                                 .names = names,
                                 .sources = sources,
                                 .diagnostics = diagnostics,
                                 .types = types,
                                 .next_position = 1};
    for (Op op = 0; op < OP_COUNT; op++) {
        add_op(environment, op, DIALECT_RUNNEL);
        add_op(environment, op, DIALECT_NESL);
        name_built_in(environment, DIALECT_RUNNEL, op_table[op].rnl_name, environment->ops[DIALECT_RUNNEL][op]);
        name_built_in(environment, DIALECT_NESL, op_table[op].nesl_name, environment->ops[DIALECT_NESL][op]);
    }
    add_overloads(environment, DIALECT_RUNNEL);
    add_overloads(environment, DIALECT_NESL);
}

/* ---- adding forms ---- */

/* A parameter's default is a function of (), so that it is typed and run like any other. */
static Definition *add_default(Environment *environment, Definition *function, const Parameter *parameter)
{
    Item *item = ARENA_NEW(environment->arena, Item);
    *item = (Item){.kind = ITEM_FUNCTION,
                   .span = parameter->default_value->span,
                   .name_span = parameter->default_value->span,
                   .name = function->name,
                   .value = parameter->default_value};
    Definition *definition = new_definition(environment, DEFINITION_FUNCTION, function->name, item->span);
    definition->dialect = function->dialect;
    definition->is_library = function->is_library;
    definition->is_hidden = true;
    definition->position = function->position;
    definition->item = item;
    return definition;
}

static void add_defaults(Environment *environment, Definition *function)
{
    const Item *item = function->item;
    bool has_defaults = false;
    for (uint32_t i = 0; i < item->parameter_count; i++) {
        bool is_default = item->parameters[i].default_value != NULL;
        if (has_defaults && !is_default)
            diagnostics_error(environment->diagnostics, ERROR_BAD_KEYWORD, item->parameters[i].pattern->span,
                              "a parameter without a default stands after one with a default");
        has_defaults |= is_default;
    }
    if (!has_defaults)
        return;
    function->defaults = ARENA_ARRAY(environment->arena, Definition *, item->parameter_count);
    for (uint32_t i = 0; i < item->parameter_count; i++)
        if (item->parameters[i].default_value != NULL)
            function->defaults[i] = add_default(environment, function, &item->parameters[i]);
}

/* `x = e` in the library is a function of (): it costs nothing where it is not used. */
static const Item *constant_as_function(Environment *environment, const Item *item)
{
    if (item->kind != ITEM_BINDING || item->pattern->kind != PATTERN_NAME)
        return item;
    Item *function = ARENA_NEW(environment->arena, Item);
    *function = *item;
    function->kind = ITEM_FUNCTION;
    function->name = item->pattern->name;
    function->name_span = item->pattern->span;
    return function;
}

static DefinitionKind kind_of_item(const Item *item)
{
    switch (item->kind) {
    case ITEM_FUNCTION:
        return DEFINITION_FUNCTION;
    case ITEM_DATATYPE:
        return DEFINITION_CONSTRUCTOR;
    case ITEM_BINDING:
        return DEFINITION_BINDING;
    case ITEM_STUB:
    case ITEM_EXPRESSION:
    case ITEM_IMPORT:
    case ITEM_LOAD:
    case ITEM_SET:
    case ITEM_COMMAND:
        break;
    }
    return DEFINITION_EXPRESSION;
}

static void add_datatype(Environment *environment, Definition *definition)
{
    definition->datatype = environment->types->datatypes.count;
    *vec_push(environment->arena, &environment->types->datatypes) =
        (Datatype){.name = definition->name, .span = definition->span};
}

static Definition *make_definition(Environment *environment, const Source *source, const Item *item)
{
    Definition *definition = new_definition(environment, kind_of_item(item), item->name, item->name_span);
    definition->item = item;
    definition->dialect = source->dialect;
    definition->is_library = source->is_library;
    definition->position = environment->next_position++;
    if (item->is_broken)
        definition->state = DEFINITION_WRONG;
    else if (definition->kind == DEFINITION_FUNCTION)
        add_defaults(environment, definition);
    if (definition->kind == DEFINITION_CONSTRUCTOR)
        add_datatype(environment, definition);
    return definition;
}

/* A definition of the library under one of its names. */
static void name_library(Environment *environment, const Source *source, const char *name, Definition *definition)
{
    name_built_in(environment, DIALECT_NESL, name, definition);
    if (source->dialect != DIALECT_NESL)
        name_built_in(environment, DIALECT_RUNNEL, name, definition);
}

void environment_add_library(Environment *environment, const Source *source, Items items, bool is_nesl)
{
    for (uint32_t i = 0; i < items.count; i++) {
        const Item *item = constant_as_function(environment, items.list[i]);
        Definition *definition = make_definition(environment, source, item);
        definition->is_constant = item != items.list[i];
        definition->is_nesl_name = is_nesl;
        *vec_push(environment->arena, &environment->library) = definition;
        const char *name = names_text(environment->names, item->name);
        name_library(environment, source, name, definition);
        if (strcmp(name, "pad") == 0)
            name_library(environment, source, "||", definition);
    }
}

/* Built-in names of NESL that its programs may define again; the others may not. */
static const char *const nesl_redefinable[] = {
    "index", "sum",    "max_val", "min_val", "any",  "all",    "put",    "cond_put", "enumerate", "count",     "max_index", "min_index",
    "rotate", "unpack", "join",    "subseq",  "drop", "take",   "split",  "bottop",   "head_rest", "rest_tail",
};

static bool is_own_name_of_nesl(const Environment *environment, Name name)
{
    const Definition *built_in = find_in(&environment->built_in[DIALECT_NESL], name);
    if (built_in == NULL)
        return false;
    for (uint32_t i = 0; i < sizeof nesl_redefinable / sizeof nesl_redefinable[0]; i++)
        if (strcmp(nesl_redefinable[i], names_text(environment->names, name)) == 0)
            return false;
    if (built_in->kind == DEFINITION_OP)
        return op_table[built_in->op].nesl_name != NULL;
    return built_in->kind == DEFINITION_OVERLOAD || built_in->is_nesl_name;
}

bool environment_check_reserved(const Environment *environment, Name name, Span span, Dialect dialect)
{
    static const char *const reserved[] = {"pair", "closure", "time"};
    if (dialect != DIALECT_NESL)
        return true;
    for (uint32_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(reserved[i], names_text(environment->names, name)) == 0) {
            diagnostics_error(environment->diagnostics, ERROR_RESERVED_NAME, span,
                              "`%s` is reserved and cannot be bound", reserved[i]);
            return false;
        }
    return true;
}

static void check_name(Environment *environment, const Definition *definition)
{
    const char *text = names_text(environment->names, definition->name);
    const Definition *older = definition->older;
    bool is_same_pattern = older != NULL && older->owner != NULL && older->owner == definition->owner;
    if (is_same_pattern) {
        diagnostics_error(environment->diagnostics, ERROR_BOUND_TWICE, definition->span,
                          "`%s` is bound twice in one pattern", text);
        diagnostics_note(environment->diagnostics, older->span, "the other binding is here");
        return;
    }
    environment_check_reserved(environment, definition->name, definition->span, definition->dialect);
    if (definition->kind == DEFINITION_CONSTRUCTOR && type_scalar_named(text) != 0)
        diagnostics_error(environment->diagnostics, ERROR_BUILT_IN, definition->span,
                          "%s is a built-in type, it cannot be redefined.", text);
    if (definition->dialect == DIALECT_NESL) {
        if (is_own_name_of_nesl(environment, definition->name))
            diagnostics_error(environment->diagnostics, ERROR_BUILT_IN, definition->span,
                              "%s is built in, it cannot be redefined.", text);
        return;
    }
    if (older != NULL && older->position >= environment->load_start) {
        diagnostics_error(environment->diagnostics, ERROR_DEFINED_TWICE, definition->span, "`%s` is defined twice",
                          text);
        diagnostics_note(environment->diagnostics, older->span, "the first definition is here");
    }
}

/* Every definition points to the one before and to one much further back, at distances like those of the digits of a
 * skew-binary number (Myers 1983), so that any of n is found in log n steps. */
static void link_older(Definition *definition, Definition *older)
{
    definition->older = definition->much_older = older;
    if (older == NULL)
        return;
    definition->age = older->age + 1;
    const Definition *first = older->much_older;
    const Definition *second = first == NULL ? NULL : first->much_older;
    bool are_equal_jumps = second != NULL && older->age - first->age == first->age - second->age;
    if (are_equal_jumps)
        definition->much_older = first->much_older;
}

static void name_definition(Environment *environment, Definition *definition)
{
    Definition **slot = slot_of(environment, &environment->user, definition->name);
    link_older(definition, *slot);
    *slot = definition;
    check_name(environment, definition);
}

static void add_values(Environment *environment, Definition *binding, Pattern *pattern)
{
    if (pattern->kind == PATTERN_NAME) {
        Definition *value = new_definition(environment, DEFINITION_VALUE, pattern->name, pattern->span);
        value->owner = binding;
        value->dialect = binding->dialect;
        value->position = binding->position;
        value->is_library = binding->is_library;
        pattern->definition = value;
        *vec_push(environment->arena, &environment->definitions) = value;
        name_definition(environment, value);
    }
    for (uint32_t i = 0; i < pattern->item_count; i++)
        add_values(environment, binding, pattern->items[i]);
}

Definition *environment_add_item(Environment *environment, const Source *source, const Item *item)
{
    Definition *definition = make_definition(environment, source, item);
    *vec_push(environment->arena, &environment->definitions) = definition;
    if (definition->kind == DEFINITION_FUNCTION || definition->kind == DEFINITION_CONSTRUCTOR)
        name_definition(environment, definition);
    if (definition->kind == DEFINITION_BINDING)
        add_values(environment, definition, item->pattern);
    return definition;
}

EnvironmentMark environment_mark(const Environment *environment)
{
    return (EnvironmentMark){.definition_count = environment->definitions.count,
                             .next_position = environment->next_position,
                             .replacement_count = environment->replacements.count};
}

void environment_rollback(Environment *environment, EnvironmentMark mark)
{
    while (environment->definitions.count > mark.definition_count) {
        Definition *definition = vec_pop(&environment->definitions);
        bool is_named = definition->name != 0 && definition->kind != DEFINITION_BINDING &&
                        definition->kind != DEFINITION_EXPRESSION;
        if (!is_named)
            continue;
        *slot_of(environment, &environment->user, definition->name) = definition->older;
        if (definition->older != NULL && definition->older->replaced_by == definition)
            definition->older->replaced_by = NULL;
    }
    environment->next_position = mark.next_position;
    environment->replacements.count = mark.replacement_count;
}

/* ---- looking up ---- */

Definition *environment_built_in(const Environment *environment, Name name, Dialect dialect)
{
    Definition *found = find_in(&environment->built_in[dialect], name);
    if (found == NULL && dialect == DIALECT_NESL) {
        /* Runnel's other names, where NESL has none: with the types that .nesl gives to operations */
        found = find_in(&environment->built_in[DIALECT_RUNNEL], name);
        if (found != NULL && found->kind == DEFINITION_OP)
            found = environment->ops[DIALECT_NESL][found->op];
    }
    return found;
}

bool environment_is_private(const Environment *environment, Name name)
{
    const char *text = names_text(environment->names, name);
    return text[0] == '_' && text[1] != '\0';
}

Definition *environment_lookup(const Environment *environment, Name name, Dialect dialect, bool is_library,
                               uint32_t position)
{
    Definition *found = is_library ? NULL : find_in(&environment->user, name);
    while (found != NULL && found->position > position && found->older != NULL)
        found = found->much_older->position > position ? found->much_older : found->older;
    if (found != NULL)
        return found;
    bool is_visible = is_library || !environment_is_private(environment, name);
    return is_visible ? environment_built_in(environment, name, dialect) : NULL;
}

bool environment_is_replaced(const Definition *definition, uint32_t position)
{
    return definition->replaced_by != NULL && definition->replaced_by->position <= position;
}

uint32_t environment_epoch(const Environment *environment, uint32_t position)
{
    uint32_t low = 0, high = environment->replacements.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (environment->replacements.items[middle] <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void environment_each_name(const Environment *environment, Dialect dialect,
                           void (*consider)(void *context, const char *name), void *context)
{
    for (Name name = 1; name < environment->names->entries.count; name++)
        if (environment_lookup(environment, name, dialect, false, UINT32_MAX) != NULL)
            consider(context, names_text(environment->names, name));
}
