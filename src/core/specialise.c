/* Specialisation: one Core function for each function and the types, and functions, it is used with.
 *
 * A function's result type is known from inference unless it holds functions; then the body is made at once,
 * assuming at first that nothing is known of them, and again if that was wrong. All other bodies wait in a queue, so that
 * long chains of calls do not become depth of the C stack.
 *
 * Library functions are specialised for each call in the user's text too, and their statements carry the position of that call:
 * an error in them is shown where the user can do something about it, whatever engine runs them. */
#include "core/elaborate_internal.h"

#include <string.h>

/* ---- labels ---- */

static bool is_same_label(const Label *a, const Label *b)
{
    if (a->lambda != b->lambda || a->definition != b->definition || a->type_count != b->type_count)
        return false;
    for (uint32_t i = 0; i < a->type_count; i++)
        if (a->types[i] != b->types[i])
            return false;
    return true;
}

static uint64_t hash_label(const Label *label)
{
    uint64_t hash = (uint64_t)(uintptr_t)label->definition * 31 + (uint64_t)(uintptr_t)label->lambda;
    hash *= UINT64_C(0x94d049bb133111eb);
    for (uint32_t i = 0; i < label->type_count; i++)
        hash = (hash ^ label->types[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

/* The slot of a label, or the free one where it would be. */
static uint32_t *label_slot(const Elaborator *e, const Label *label)
{
    uint32_t mask = e->label_slot_count - 1;
    uint32_t slot = (uint32_t)(hash_label(label) >> 32) & mask;
    while (e->label_slots[slot] != 0 && !is_same_label(&e->labels.items[e->label_slots[slot]], label))
        slot = (slot + 1) & mask;
    return &e->label_slots[slot];
}

static void grow_label_slots(Elaborator *e)
{
    e->label_slot_count = e->label_slot_count == 0 ? 64 : e->label_slot_count * 2;
    e->label_slots = ARENA_ARRAY(e->arena, uint32_t, e->label_slot_count);
    for (uint32_t i = 1; i < e->labels.count; i++)
        *label_slot(e, &e->labels.items[i]) = i;
}

uint32_t specialise_label(Elaborator *e, Label label)
{
    if (e->labels.count * 2 >= e->label_slot_count)
        grow_label_slots(e);
    uint32_t *slot = label_slot(e, &label);
    if (*slot == 0) {
        *slot = e->labels.count;
        *vec_push(e->arena, &e->labels) = label;
    }
    return *slot;
}

CoreAtom elaborate_closure(Elaborator *e, Label label, const CoreAtom *captured, uint32_t count, Span span)
{
    CoreAtom contents = elaborate_tuple(e, captured, count, span);
    TypeId type = type_closure(e->types, specialise_label(e, label), contents.type);
    CoreStatement *statement = core_emit(e->builder, CORE_WRAP, type, span, &contents, 1);
    return core_target(e->builder, statement);
}

TypeId specialise_assume(Elaborator *e, TypeId ground)
{
    TypeNode node = *type_node(e->types, ground);
    if (!node.has_function)
        return ground;
    switch (node.kind) {
    case TYPE_FUNCTION:
        return type_closure(e->types, 0, TYPE_UNIT_ID);
    case TYPE_PAIR: {
        TypeId first = specialise_assume(e, node.a);
        return type_pair(e->types, first, specialise_assume(e, node.b));
    }
    case TYPE_CONTAINER:
        return type_container(e->types, node.a, specialise_assume(e, node.b));
    case TYPE_DATA:
        return type_data(e->types, node.a, specialise_assume(e, node.b));
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_UNIT:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return ground;
}

bool specialise_has_captured(const Label *label)
{
    return label->lambda != NULL && label->lambda->capture_count > 0;
}

uint32_t specialise_arity(const Label *label)
{
    if (label->lambda != NULL) {
        const Pattern *pattern = label->lambda->pattern;
        return pattern->kind == PATTERN_TUPLE ? pattern->item_count : 1;
    }
    switch (label->definition->kind) {
    case DEFINITION_FUNCTION:
        return label->definition->item->parameter_count;
    case DEFINITION_OP: {
        /* a comma at depth 0 of the argument's parentheses separates operands */
        const char *text = op_table[label->definition->op].type;
        if (text[0] != '(')
            return 1;
        uint32_t commas = 0, depth = 0;
        for (; *text != '\0'; text++) {
            depth += *text == '(' || *text == '[' || *text == '{';
            depth -= *text == ')' || *text == ']' || *text == '}';
            commas += *text == ',' && depth == 1;
            if (depth == 0)
                break;
        }
        return op_table[label->definition->op].type[1] == ')' ? 0 : commas + 1;
    }
    case DEFINITION_CONSTRUCTOR:
    case DEFINITION_OVERLOAD:
    case DEFINITION_BINDING:
    case DEFINITION_VALUE:
    case DEFINITION_EXPRESSION:
        break;
    }
    return 1;
}

/* ---- the table ---- */

/* What makes a specialisation different from others of its label. */
typedef struct Key {
    Label label;
    uint32_t epoch;
    Span call;
    const TypeId *parameters;
    uint32_t count;
} Key;

static uint32_t hash_key(const Key *key)
{
    uint64_t hash = hash_label(&key->label) + key->epoch;
    hash = (hash ^ key->call.start) * UINT64_C(0x94d049bb133111eb);
    for (uint32_t i = 0; i < key->count; i++)
        hash = (hash ^ key->parameters[i]) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(hash >> 32);
}

static Key key_of(const Specialisation *made)
{
    return (Key){made->label, made->epoch, made->call, made->parameters, made->parameter_count};
}

static bool is_same_key(const Key *a, const Key *b)
{
    if (a->epoch != b->epoch || a->count != b->count || a->call.start != b->call.start ||
        a->call.end != b->call.end || !is_same_label(&a->label, &b->label))
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->parameters[i] != b->parameters[i])
            return false;
    return true;
}

static uint32_t *slot_of(const SpecialisationTable *table, const Key *key)
{
    return &table->slots[hash_key(key) & (table->slot_count - 1)];
}

static void link_in_table(SpecialisationTable *table, uint32_t index)
{
    Specialisation *made = table->list.items[index];
    Key key = key_of(made);
    uint32_t *slot = slot_of(table, &key);
    made->next = *slot;
    *slot = index + 1;
}

static void grow_table(Elaborator *e, SpecialisationTable *table)
{
    table->slot_count = table->slot_count == 0 ? 256 : table->slot_count * 2;
    table->slots = ARENA_ARRAY(e->arena, uint32_t, table->slot_count);
    for (uint32_t i = 0; i < table->list.count; i++)
        link_in_table(table, i);
}

static void add_to_table(Elaborator *e, SpecialisationTable *table, Specialisation *made)
{
    *vec_push(e->arena, &table->list) = made;
    if (table->list.count * 2 > table->slot_count)
        grow_table(e, table);
    else
        link_in_table(table, table->list.count - 1);
}

/* The last one heads its chain, so taking it out is quick. */
static Specialisation *take_last(SpecialisationTable *table)
{
    Specialisation *last = vec_pop(&table->list);
    Key key = key_of(last);
    *slot_of(table, &key) = last->next;
    return last;
}

static Specialisation *find(const SpecialisationTable *table, const Key *key)
{
    if (table->slot_count == 0)
        return NULL;
    for (uint32_t i = *slot_of(table, key); i != 0;) {
        Specialisation *made = table->list.items[i - 1];
        Key other = key_of(made);
        if (is_same_key(&other, key))
            return made;
        i = made->next;
    }
    return NULL;
}

/* ---- making bodies ---- */

/* The variables of the function's parameters, with the names the source gives them. */
static CoreVar *make_parameters(Elaborator *e, const Specialisation *made)
{
    CoreVar *variables = ARENA_ARRAY(e->arena, CoreVar, made->parameter_count);
    for (uint32_t i = 0; i < made->parameter_count; i++)
        variables[i] = core_variable(e->program, made->parameters[i], 0);
    return variables;
}

static void bind_captured(Elaborator *e, const Specialisation *made, CoreVar closure)
{
    const Expr *lambda = made->label.lambda;
    CoreAtom wrapped = core_atom(e->program, closure);
    CoreStatement *statement = core_emit(e->builder, CORE_UNWRAP, type_representation(e->types, wrapped.type),
                                         lambda->span, &wrapped, 1);
    CoreAtom tuple = core_target(e->builder, statement);
    CoreAtom *captured = ARENA_ARRAY(e->arena, CoreAtom, lambda->capture_count);
    elaborate_components(e, tuple, captured, lambda->capture_count, lambda->span);
    for (uint32_t i = 0; i < lambda->capture_count; i++) {
        e->scope->locals[i] = captured[i];
        CoreVariable *variable = &e->program->variables.items[captured[i].variable];
        if (variable->name == 0)
            variable->name = e->scope->definition->locals.items[lambda->captures[i]].name;
    }
}

/* The parameters as the source has them. A call passes just these, but reduce and its like pass two operands, whatever the
 * operator's parameters are: one for the pair, or more for the parts of the second. */
static CoreAtom *source_parameters(Elaborator *e, const Specialisation *made, const CoreVar *parameters, uint32_t count, Span span)
{
    uint32_t arity = specialise_arity(&made->label);
    CoreAtom *given = ARENA_ARRAY(e->arena, CoreAtom, count + 1);
    for (uint32_t i = 0; i < count; i++)
        given[i] = core_atom(e->program, parameters[i]);
    if (arity == count || arity == 0)
        return given;
    CoreAtom *atoms = ARENA_ARRAY(e->arena, CoreAtom, arity);
    elaborate_components(e, elaborate_tuple(e, given, count, span), atoms, arity, span);
    return atoms;
}

static CoreAtom lambda_body(Elaborator *e, const Specialisation *made, const CoreVar *parameters)
{
    const Expr *lambda = made->label.lambda;
    bool has_captured = specialise_has_captured(&made->label);
    if (has_captured)
        bind_captured(e, made, parameters[0]);
    const Pattern *pattern = lambda->pattern;
    uint32_t arity = specialise_arity(&made->label);
    CoreAtom *atoms =
        source_parameters(e, made, parameters + has_captured, made->parameter_count - has_captured, lambda->span);
    for (uint32_t i = 0; i < arity; i++)
        elaborate_pattern(e, pattern->kind == PATTERN_TUPLE ? pattern->items[i] : pattern, atoms[i]);
    return elaborate_expr(e, lambda->items[0]);
}

static CoreAtom definition_body(Elaborator *e, const Specialisation *made, const CoreVar *parameters, Span span)
{
    const Definition *definition = made->label.definition;
    uint32_t arity = specialise_arity(&made->label);
    CoreAtom *atoms = source_parameters(e, made, parameters, made->parameter_count, span);
    if (definition->kind == DEFINITION_OP) {
        Instance instance = {.types = (TypeId *)made->label.types, .count = made->label.type_count};
        return elaborate_op(e, definition->op, atoms, arity, &instance, span);
    }
    if (definition->kind == DEFINITION_CONSTRUCTOR) {
        Instance instance = {.types = (TypeId *)made->label.types, .count = made->label.type_count};
        return elaborate_construct(e, definition, atoms[0], &instance, span);
    }
    for (uint32_t i = 0; i < arity; i++)
        elaborate_pattern(e, definition->item->parameters[i].pattern, atoms[i]);
    return elaborate_expr(e, definition->item->value);
}

static Span span_of(const Specialisation *made)
{
    return made->label.lambda != NULL ? made->label.lambda->span : made->label.definition->span;
}

/* Statements of a library function are at the user's call. */
static void move_to_call(CoreBlock *block, Span call)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        block->statements[i].span = call;
        for (uint32_t b = 0; b < 2; b++)
            if (block->statements[i].blocks[b] != NULL)
                move_to_call(block->statements[i].blocks[b], call);
    }
}

/* Makes the body once, under the result type assumed; gives the type it has. */
static TypeId make_body_once(Elaborator *e, Specialisation *made)
{
    Definition *definition = made->label.definition;
    const Expr *lambda = made->label.lambda;
    uint32_t local_count = lambda != NULL ? lambda->capture_count + lambda->local_count : definition->locals.count;
    Scope scope = {.definition = definition,
                   .lambda = lambda,
                   .locals = ARENA_ARRAY(e->arena, CoreAtom, local_count),
                   .types = made->label.types,
                   .type_count = made->label.type_count,
                   .call = made->call};
    Scope *outer_scope = e->scope;
    e->scope = &scope;
    OpenBlock block;
    elaborate_open(e, &block);
    CoreVar *parameters = make_parameters(e, made);
    CoreAtom result = made->label.lambda != NULL ? lambda_body(e, made, parameters)
                                                 : definition_body(e, made, parameters, span_of(made));
    CoreBlock *body = elaborate_close(e, &block, parameters, made->parameter_count, result);
    e->scope = outer_scope;
    if (made->call.start != 0)
        move_to_call(body, made->call);
    CoreFunction *function = e->program->functions.items[made->function];
    function->body = body;
    function->result_type = result.type;
    function->is_recursive = made->label.lambda == NULL && definition->is_recursive;
    return result.type;
}

static void report_endless(Elaborator *e, const Label *label, Span span)
{
    diagnostics_error(e->diagnostics, ERROR_ENDLESS_SPECIALISATION, span,
                      "`%s` would have to be specialised without end: each call passes it a new function",
                      names_text(e->names, label->definition->name));
    elaborate_failed(e);
}

static void report_endless_result(Elaborator *e, const Label *label, Span span)
{
    diagnostics_error(e->diagnostics, ERROR_ENDLESS_SPECIALISATION, span,
                      "the function that `%s` returns would hold other functions without end",
                      names_text(e->names, label->definition->name));
    elaborate_failed(e);
}

/* ---- assuming ---- */

/* What a try at a body has added. */
typedef struct Try {
    uint32_t specialisations, functions, waiting;
} Try;

static Try start_try(const Elaborator *e)
{
    return (Try){e->made.list.count, e->program->functions.count, e->waiting.count};
}

/* Forgets what was specialised under an assumption that was wrong, but for the results: made again, their bodies are right
 * at the first try. Otherwise bodies inside bodies would be made exponentially often. */
static void undo_try(Elaborator *e, Try undone)
{
    while (e->made.list.count > undone.specialisations) {
        Specialisation *last = take_last(&e->made);
        Key key = key_of(last);
        Specialisation *known = find(&e->undone, &key);
        if (known != NULL)
            known->result = last->result;
        else
            add_to_table(e, &e->undone, last);
    }
    e->program->functions.count = undone.functions;
    e->waiting.count = undone.waiting;
}

enum { ASSUMPTIONS_MAX = 100 };

/* The first try lets pass what is not known of functions; if that mattered, the body is made again with what was learnt. */
static void make_body(Elaborator *e, Specialisation *made)
{
    bool outer_lenient = e->is_lenient, outer_was_lenient = e->was_lenient;
    bool is_right = false;
    for (uint32_t i = 0; !is_right && !e->has_errors; i++) {
        Try attempt = start_try(e);
        e->is_lenient = i == 0 || outer_lenient;
        e->was_lenient = false;
        made->is_assumed = false;
        TypeId type = make_body_once(e, made);
        bool was_right = type == made->result || !made->is_assumed;
        made->result = type;
        is_right = was_right && (!e->was_lenient || outer_lenient);
        if (is_right || e->has_errors)
            break;
        undo_try(e, attempt);
        if (i == ASSUMPTIONS_MAX || type_node(e->types, type)->closure_depth > CLOSURE_DEPTH_MAX)
            report_endless_result(e, &made->label, span_of(made));
    }
    e->was_lenient |= outer_was_lenient;
    e->is_lenient = outer_lenient;
    made->is_done = true;
}

void specialise_waiting(Elaborator *e)
{
    while (e->waiting.count > 0 && !e->has_errors)
        make_body(e, vec_pop(&e->waiting));
    e->waiting.count = 0;
}

/* ---- asking for one ---- */

/* What inference knows of the result; functions in it are assumed unknown. */
static TypeId expected_result(Elaborator *e, const Label *label)
{
    TypeId type;
    if (label->lambda != NULL)
        type = label->lambda->items[0]->type;
    else
        type = type_node(e->types, type_resolve(e->types, label->definition->type))->b;
    return type_substitute(e->types, type, label->types, label->type_count);
}

static Specialisation *add(Elaborator *e, const Key *key)
{
    Specialisation *made = ARENA_NEW(e->arena, Specialisation);
    made->label = key->label;
    made->epoch = key->epoch;
    made->call = key->call;
    made->parameters = ARENA_ARRAY(e->arena, TypeId, key->count);
    for (uint32_t i = 0; i < key->count; i++)
        made->parameters[i] = key->parameters[i];
    made->parameter_count = key->count;
    Name name = key->label.lambda != NULL ? names_of(e->names, "lambda") : key->label.definition->name;
    made->function = core_function(e->program, name, span_of(made));
    add_to_table(e, &e->made, made);
    return made;
}

Specialisation *specialise(Elaborator *e, Label label, const TypeId *parameters, uint32_t count, Span span)
{
    bool is_library = label.definition->is_library && label.definition->kind == DEFINITION_FUNCTION;
    Span call = e->scope->call.start != 0 ? e->scope->call : span;
    Key key = {label, e->epoch, is_library ? call : (Span){0}, parameters, count};
    Specialisation *made = find(&e->made, &key);
    if (made != NULL) {
        made->is_assumed |= !made->is_done;
        return made;
    }
    TypeId all = type_tuple(e->types, parameters, count);
    uint32_t closure_depth = type_node(e->types, all)->closure_depth;
    if (closure_depth > CLOSURE_DEPTH_MAX || e->made.list.count > SPECIALISATIONS_MAX) {
        report_endless(e, &label, call);
        return NULL;
    }
    bool is_recursive = label.lambda == NULL && label.definition->is_recursive;
    if (is_recursive && !type_is_concrete(e->types, all)) {
        diagnostics_error(e->diagnostics, ERROR_NOT_CONCRETE, call,
                          "the recursive function `%s` is given a function that captured a sequence",
                          names_text(e->names, label.definition->name));
        diagnostics_note(e->diagnostics, (Span){0}, "let it capture tab(s) instead of the sequence s");
        elaborate_failed(e);
        return NULL;
    }
    TypeId result = expected_result(e, &label);
    made = add(e, &key);
    const Specialisation *before = find(&e->undone, &key);
    made->result = before != NULL ? before->result : specialise_assume(e, result);
    e->program->functions.items[made->function]->result_type = made->result;
    bool is_known = !type_node(e->types, result)->has_function;
    if (is_known) {
        made->is_done = true;
        *vec_push(e->arena, &e->waiting) = made;
        return made;
    }
    CoreBuilder *builder = e->builder;
    e->nesting += BODY_NESTING;
    make_body(e, made);
    e->nesting -= BODY_NESTING;
    e->builder = builder;
    return e->has_errors ? NULL : made;
}
