/* Resolve: binds every name in a definition to a local variable or a definition.
 *
 * Local variables are numbered in the order they are bound, so that "bound outside" is a comparison of numbers: a
 * lambda captures, and a comprehension uses freely, the locals whose number is below the first one bound inside.
 *
 * Some forms are rewritten here into others: keyword arguments and defaults into full argument tuples, time(e)
 * into readings of the clock, a comprehension without a body into one whose body is its first pattern. */
#include "types/environment.h"

#include <string.h>

/* What lies between a local variable and its use: a lambda, or a comprehension past its first generators. */
typedef struct Frame {
    uint32_t number; /* in the order of opening, from 1 */
    LocalId first_inside;
    VEC(LocalId) free;
    VEC(Span) spans;
} Frame;

typedef struct ScopeEntry {
    Name name;
    LocalId local;
    uint32_t shadowed; /* entry number + 1 of the same name further out */
} ScopeEntry;

typedef struct Resolver {
    Environment *environment;
    Definition *definition;
    Arena *arena;
    VEC(ScopeEntry) scope;
    VEC(Frame) frames;
    uint32_t frame_count; /* opened so far */
    uint32_t union_count; /* of the locals of several frames, made so far */
} Resolver;

static void resolve_expr(Resolver *r, Expr *expr);

static void fail(Resolver *r)
{
    r->definition->state = DEFINITION_WRONG;
}

/* ---- local variables ---- */

static uint32_t *top_of(Resolver *r, Name name)
{
    Environment *environment = r->environment;
    while (environment->local_tops.count <= name)
        *vec_push(r->arena, &environment->local_tops) = 0;
    return &environment->local_tops.items[name];
}

static LocalId new_local(Resolver *r, Name name, Span span)
{
    LocalId local = r->definition->locals.count;
    *vec_push(r->arena, &r->definition->locals) = (Local){.name = name, .span = span};
    return local;
}

static void enter_local(Resolver *r, Name name, LocalId local)
{
    uint32_t *top = top_of(r, name);
    *vec_push(r->arena, &r->scope) = (ScopeEntry){.name = name, .local = local, .shadowed = *top};
    *top = r->scope.count;
}

static void leave_scope(Resolver *r, uint32_t count)
{
    while (r->scope.count > count) {
        ScopeEntry entry = vec_pop(&r->scope);
        *top_of(r, entry.name) = entry.shadowed;
    }
}

static void note_use(Frame *frame, Arena *arena, LocalId local, Span span)
{
    *vec_push(arena, &frame->free) = local;
    *vec_push(arena, &frame->spans) = span;
}

/* Frames open and close like brackets: those opened before the last one that noted a local, and still open, have noted it too. */
static void use_local(Resolver *r, Expr *expr, LocalId local)
{
    Local *info = &r->definition->locals.items[local];
    expr->reference = REFERENCE_LOCAL;
    expr->local = local;
    info->is_used = true;
    uint32_t noted_before = info->last_frame;
    for (uint32_t i = r->frames.count; i > 0; i--) {
        Frame *frame = &r->frames.items[i - 1];
        if (local >= frame->first_inside || frame->number <= noted_before)
            break;
        note_use(frame, r->arena, local, expr->span);
        if (frame->number > info->last_frame)
            info->last_frame = frame->number;
    }
}

/* ---- patterns ---- */

/* `first` is the first local of the whole pattern; the newest of each name is remembered. */
static void check_bound_once(Resolver *r, const Pattern *pattern, LocalId first)
{
    Environment *environment = r->environment;
    while (environment->local_newest.count <= pattern->name)
        *vec_push(r->arena, &environment->local_newest) = 0;
    uint32_t *newest = &environment->local_newest.items[pattern->name];
    const Definition *definition = r->definition;
    LocalId other = *newest; /* of this definition or an earlier one: its name tells */
    if (other >= first && other < definition->locals.count && definition->locals.items[other].name == pattern->name) {
        diagnostics_error(environment->diagnostics, ERROR_BOUND_TWICE, pattern->span, "`%s` is bound twice in one pattern",
                          names_text(environment->names, pattern->name));
        diagnostics_note(environment->diagnostics, definition->locals.items[other].span, "the other binding is here");
        fail(r);
    }
    *newest = definition->locals.count;
}

static void bind_constructor(Resolver *r, Pattern *pattern)
{
    Definition *found = environment_lookup(r->environment, pattern->name, r->definition->dialect,
                                           r->definition->is_library, r->definition->position);
    if (found != NULL && found->kind == DEFINITION_CONSTRUCTOR) {
        pattern->definition = found;
        if (found->last_referrer != r->definition) {
            found->last_referrer = r->definition;
            *vec_push(r->arena, &r->definition->references) = found;
        }
        return;
    }
    diagnostics_error(r->environment->diagnostics, ERROR_NOT_A_CONSTRUCTOR, pattern->span,
                      "`%s` is not the constructor of a datatype, so it cannot stand in a pattern",
                      names_text(r->environment->names, pattern->name));
    fail(r);
}

/* Numbers the names of a pattern; `first` is the first local of the whole pattern. Names enter scope later, so
 * that generators in lock step do not see each other. */
static void number_pattern(Resolver *r, Pattern *pattern, LocalId first)
{
    switch (pattern->kind) {
    case PATTERN_NAME:
        check_bound_once(r, pattern, first);
        if (!environment_check_reserved(r->environment, pattern->name, pattern->span, r->definition->dialect))
            fail(r);
        pattern->local = new_local(r, pattern->name, pattern->span);
        break;
    case PATTERN_CONSTRUCTOR:
        bind_constructor(r, pattern);
        break;
    case PATTERN_WILDCARD:
    case PATTERN_TUPLE:
    case PATTERN_TYPED:
        break;
    }
    for (uint32_t i = 0; i < pattern->item_count; i++)
        number_pattern(r, pattern->items[i], first);
}

static void enter_pattern(Resolver *r, const Pattern *pattern)
{
    if (pattern->kind == PATTERN_NAME)
        enter_local(r, pattern->name, pattern->local);
    for (uint32_t i = 0; i < pattern->item_count; i++)
        enter_pattern(r, pattern->items[i]);
}

static void bind_pattern(Resolver *r, Pattern *pattern)
{
    number_pattern(r, pattern, r->definition->locals.count);
    enter_pattern(r, pattern);
}

/* ---- names ---- */

typedef struct Suggestion {
    const char *wanted;
    const char *best;
    uint32_t distance;
} Suggestion;

static void consider_name(void *context, const char *name)
{
    Suggestion *suggestion = context;
    uint32_t distance = names_distance(suggestion->wanted, name, suggestion->distance);
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->best = name;
    }
}

static void use_definition(Resolver *r, Expr *expr, Definition *found)
{
    expr->reference = REFERENCE_DEFINITION;
    expr->definition = found;
    Definition *wanted = found->kind == DEFINITION_VALUE ? found->owner : found;
    if (wanted->last_referrer == r->definition)
        return;
    wanted->last_referrer = r->definition;
    *vec_push(r->arena, &r->definition->references) = wanted;
}

static void use_op(Resolver *r, Expr *expr, Op op)
{
    use_definition(r, expr, r->environment->ops[r->definition->dialect][op]);
}

/* NESL's functions for plotting and its internals, which Runnel does not provide: names, and families of names by what
 * they begin with. */
static bool is_not_provided(const Resolver *r, const char *name)
{
    static const char *const families[] = {"w_", "xps_", "prim_", "draw_"};
    static const char *const singles[] = {"make_window", "make_segdes", "nest"};
    if (r->definition->dialect != DIALECT_NESL)
        return false;
    for (uint32_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strncmp(name, families[i], strlen(families[i])) == 0)
            return true;
    for (uint32_t i = 0; i < sizeof singles / sizeof singles[0]; i++)
        if (strcmp(name, singles[i]) == 0)
            return true;
    return false;
}

/* Such a name is _ => _not_provided("name"): it fails when it is called. */
static void use_not_provided(Resolver *r, Expr *expr)
{
    const char *text = names_text(r->environment->names, expr->name);
    Pattern *pattern = ARENA_NEW(r->arena, Pattern);
    *pattern = (Pattern){.kind = PATTERN_WILDCARD, .span = expr->span};
    Expr *parts = ARENA_ARRAY(r->arena, Expr, 3);
    parts[0] = (Expr){.kind = EXPR_NAME, .span = expr->span};
    use_op(r, &parts[0], OP_NOT_PROVIDED);
    parts[1] = (Expr){.kind = EXPR_STRING, .span = expr->span, .text = text, .count = (uint32_t)strlen(text)};
    parts[2] = (Expr){.kind = EXPR_CALL, .span = expr->span, .item_count = 2};
    parts[2].items = ARENA_ARRAY(r->arena, Expr *, 2);
    parts[2].items[0] = &parts[0];
    parts[2].items[1] = &parts[1];
    *expr = (Expr){.kind = EXPR_LAMBDA, .span = expr->span, .item_count = 1, .pattern = pattern};
    expr->items = ARENA_ARRAY(r->arena, Expr *, 1);
    expr->items[0] = &parts[2];
    resolve_expr(r, expr);
}

/* A name like the one nothing is called; null if there is none. */
static const char *similar_name(const Resolver *r, const char *text)
{
    size_t length = strlen(text);
    if (length < 2)
        return NULL;
    Suggestion suggestion = {.wanted = text, .distance = length < 5 ? 2 : length < 9 ? 3 : 4};
    for (uint32_t i = r->scope.count; i > 0; i--)
        consider_name(&suggestion, names_text(r->environment->names, r->scope.items[i - 1].name));
    environment_each_name(r->environment, r->definition->dialect, consider_name, &suggestion);
    return suggestion.best;
}

/* What names of other languages, and of the other dialect, are here. */
static const struct {
    const char *name;
    Dialect dialect;
    const char *hint;
} foreign_names[] = {
    {"true", DIALECT_NESL, "NESL writes `t` and `f`"},
    {"false", DIALECT_NESL, "NESL writes `t` and `f`"},
    {"T", DIALECT_RUNNEL, "the truth values are `true` and `false`"},
    {"F", DIALECT_RUNNEL, "the truth values are `true` and `false`"},
    {"True", DIALECT_RUNNEL, "the truth values are `true` and `false`"},
    {"False", DIALECT_RUNNEL, "the truth values are `true` and `false`"},
    {"len", DIALECT_RUNNEL, "the length of a container is `#xs`"},
    {"len", DIALECT_NESL, "the length of a sequence is `#a`"},
    {"size", DIALECT_RUNNEL, "the length of a container is `#xs`"},
    {"size", DIALECT_NESL, "the length of a sequence is `#a`"},
    {"range", DIALECT_RUNNEL, "a range is `[a:b]` or `{a:b}`"},
    {"range", DIALECT_NESL, "a range is `[a:b]`"},
    {"fold", DIALECT_RUNNEL, "reduce(op, identity, xs) combines the elements"},
    {"foldl", DIALECT_RUNNEL, "reduce(op, identity, xs) combines the elements"},
    {"foldr", DIALECT_RUNNEL, "reduce(op, identity, xs) combines the elements"},
    {"for", DIALECT_NESL, "`{e : x in xs}` computes e for each element"},
    {"while", DIALECT_NESL, "a loop is a recursive function"},
    {"return", DIALECT_NESL, "the body of a function is one expression, and its value the result"},
};

static const char *foreign_hint(const Resolver *r, const char *text)
{
    for (size_t i = 0; i < sizeof foreign_names / sizeof foreign_names[0]; i++)
        if (foreign_names[i].dialect == r->definition->dialect && strcmp(foreign_names[i].name, text) == 0)
            return foreign_names[i].hint;
    return NULL;
}

static void report_unknown_name(Resolver *r, const Expr *expr)
{
    Diagnostics *diagnostics = r->environment->diagnostics;
    const char *text = names_text(r->environment->names, expr->name);
    diagnostics_error(diagnostics, ERROR_UNKNOWN_NAME, expr->span, "nothing is called `%s` here", text);
    const char *hint = foreign_hint(r, text);
    /* all names are compared, which would be slow for errors that are not shown */
    const char *similar = hint != NULL || diagnostics_is_full(diagnostics) ? NULL : similar_name(r, text);
    if (hint != NULL)
        diagnostics_note(diagnostics, (Span){0}, "%s", hint);
    if (similar != NULL)
        diagnostics_note(diagnostics, (Span){0}, "did you mean `%s`?", similar);
    fail(r);
}

/* A binding does not see itself, but what its name meant before: n = n + 1. */
static Definition *lookup(const Resolver *r, Name name)
{
    const Definition *definition = r->definition;
    bool is_binding = definition->kind == DEFINITION_BINDING;
    Definition *found = environment_lookup(r->environment, name, definition->dialect, definition->is_library,
                                           definition->position - is_binding);
    bool is_itself = is_binding && found != NULL && found->owner == definition;
    if (!is_itself)
        return found;
    Definition *before = environment_built_in(r->environment, name, definition->dialect);
    /* NESL reads its forms one by one: a name bound here is not known yet. In .rnl such a binding is called cyclic. */
    return before != NULL || definition->dialect == DIALECT_NESL ? before : found;
}

/* A constant of the library is called wherever it is named. */
static void call_constant(Resolver *r, Expr *expr)
{
    Expr *function = ARENA_NEW(r->arena, Expr);
    *function = *expr;
    Expr *unit = ARENA_NEW(r->arena, Expr);
    *unit = (Expr){.kind = EXPR_TUPLE, .span = expr->span};
    Expr **items = ARENA_ARRAY(r->arena, Expr *, 2);
    items[0] = function;
    items[1] = unit;
    *expr = (Expr){.kind = EXPR_CALL, .span = expr->span, .items = items, .item_count = 2};
}

static void resolve_name(Resolver *r, Expr *expr)
{
    uint32_t top = *top_of(r, expr->name);
    if (top != 0) {
        use_local(r, expr, r->scope.items[top - 1].local);
        return;
    }
    Definition *found = lookup(r, expr->name);
    if (found == NULL) {
        if (is_not_provided(r, names_text(r->environment->names, expr->name)))
            use_not_provided(r, expr);
        else
            report_unknown_name(r, expr);
        return;
    }
    use_definition(r, expr, found);
    if (found->is_constant)
        call_constant(r, expr);
}

/* Operators always mean the built-in operation. */
static void resolve_operator(Resolver *r, Expr *expr)
{
    const char *spelling = names_text(r->environment->names, expr->name);
    if (strcmp(spelling, "&") == 0)
        use_op(r, expr, OP_IOTA);
    else
        use_definition(r, expr, environment_built_in(r->environment, expr->name, r->definition->dialect));
}

/* ---- calls ---- */

static Expr *new_expr(Resolver *r, ExprKind kind, Span span)
{
    Expr *expr = ARENA_NEW(r->arena, Expr);
    expr->kind = kind;
    expr->span = span;
    return expr;
}

static Expr *new_items(Resolver *r, Expr *expr, uint32_t count)
{
    expr->items = ARENA_ARRAY(r->arena, Expr *, count);
    expr->item_count = count;
    return expr;
}

static Expr *new_name(Resolver *r, Span span, Name name, Definition *definition)
{
    Expr *expr = new_expr(r, EXPR_NAME, span);
    expr->name = name;
    if (definition != NULL)
        use_definition(r, expr, definition);
    return expr;
}

static Expr *new_call(Resolver *r, Span span, Expr *function, Expr *argument)
{
    Expr *call = new_items(r, new_expr(r, EXPR_CALL, span), 2);
    call->items[0] = function;
    call->items[1] = argument;
    return call;
}

static Name parameter_name(const Parameter *parameter)
{
    const Pattern *pattern = parameter->pattern;
    while (pattern->kind == PATTERN_TYPED)
        pattern = pattern->items[0];
    return pattern->kind == PATTERN_NAME ? pattern->name : 0;
}

static const Keyword *find_keyword(const Expr *call, Name name)
{
    for (uint32_t i = 0; i < call->count; i++)
        if (name != 0 && call->keywords[i].name == name)
            return &call->keywords[i];
    return NULL;
}

static void bad_keyword(Resolver *r, Span span, const Definition *function, const char *what, Name name)
{
    diagnostics_error(r->environment->diagnostics, ERROR_BAD_KEYWORD, span, "`%s` %s%s%s",
                      names_text(r->environment->names, function->name), what, name == 0 ? "" : " ",
                      name == 0 ? "" : names_text(r->environment->names, name));
    diagnostics_note(r->environment->diagnostics, function->span, "it is defined here");
    fail(r);
}

static bool check_keywords(Resolver *r, const Expr *call, const Definition *function)
{
    const Item *item = function->item;
    for (uint32_t k = 0; k < call->count; k++) {
        if (find_keyword(call, call->keywords[k].name) != &call->keywords[k]) {
            bad_keyword(r, call->keywords[k].span, function, "is given two values for", call->keywords[k].name);
            return false;
        }
        bool is_known = false;
        for (uint32_t i = 0; i < item->parameter_count; i++)
            is_known |= parameter_name(&item->parameters[i]) == call->keywords[k].name;
        if (!is_known) {
            bad_keyword(r, call->keywords[k].span, function, "has no parameter called", call->keywords[k].name);
            return false;
        }
    }
    return true;
}

/* Gives every parameter its argument: by position, by keyword, or its default. */
static void fill_arguments(Resolver *r, Expr *call, Definition *function)
{
    if (!check_keywords(r, call, function))
        return;
    const Item *item = function->item;
    Expr *given = call->items[1];
    bool is_list = given != NULL && given->kind == EXPR_TUPLE && !given->is_parenthesised;
    uint32_t given_count = given == NULL ? 0 : is_list ? given->item_count : 1;
    Expr *full = new_items(r, new_expr(r, EXPR_TUPLE, call->span), item->parameter_count);
    uint32_t used = 0;
    for (uint32_t i = 0; i < item->parameter_count; i++) {
        const Keyword *keyword = find_keyword(call, parameter_name(&item->parameters[i]));
        Definition *fallback = function->defaults == NULL ? NULL : function->defaults[i];
        if (used < given_count) {
            if (keyword != NULL) {
                bad_keyword(r, keyword->span, function, "is given two values for", keyword->name);
                return;
            }
            full->items[i] = is_list ? given->items[used] : given;
            used++;
        } else if (keyword != NULL)
            full->items[i] = keyword->value;
        else if (fallback != NULL)
            full->items[i] = new_call(r, call->span, new_name(r, call->span, function->name, fallback),
                                      new_items(r, new_expr(r, EXPR_TUPLE, call->span), 0));
        else {
            bad_keyword(r, call->span, function, "needs more arguments: there is none for parameter",
                        parameter_name(&item->parameters[i]));
            return;
        }
    }
    if (used < given_count) {
        bad_keyword(r, call->span, function, "is given too many arguments", 0);
        return;
    }
    call->items[1] = item->parameter_count == 1 ? full->items[0] : full;
    call->count = 0;
}

/* time(e) is let start = clock(); value = e in (value, clock() - start). */
static void resolve_time(Resolver *r, Expr *call)
{
    Names *names = r->environment->names;
    Span span = call->span;
    Expr *clocks[2];
    for (uint32_t i = 0; i < 2; i++) {
        Expr *clock = new_name(r, span, names_of(names, "clock"), r->environment->ops[r->definition->dialect][OP_CLOCK]);
        clocks[i] = new_call(r, span, clock, new_items(r, new_expr(r, EXPR_TUPLE, span), 0));
    }
    Name parts[2] = {names_of(names, "time's start"), names_of(names, "time's value")};
    LetBinding *bindings = ARENA_ARRAY(r->arena, LetBinding, 2);
    for (uint32_t i = 0; i < 2; i++) {
        Pattern *pattern = ARENA_NEW(r->arena, Pattern);
        *pattern = (Pattern){.kind = PATTERN_NAME, .span = span, .name = parts[i]};
        bindings[i] = (LetBinding){.pattern = pattern, .value = i == 0 ? clocks[0] : call->items[1]};
    }
    Expr *elapsed = new_items(r, new_expr(r, EXPR_BINARY, span), 2);
    elapsed->name = names_of(names, "-");
    elapsed->items[0] = clocks[1];
    elapsed->items[1] = new_name(r, span, parts[0], NULL);
    Expr *result = new_items(r, new_expr(r, EXPR_TUPLE, span), 2);
    result->items[0] = new_name(r, span, parts[1], NULL);
    result->items[1] = elapsed;
    call->kind = EXPR_LET;
    call->bindings = bindings;
    call->count = 2;
    call->items[0] = result;
    call->item_count = 1;
    resolve_expr(r, call);
}

static bool is_time(const Resolver *r, const Expr *call)
{
    const Expr *function = call->items[0];
    return function->kind == EXPR_NAME && *top_of((Resolver *)r, function->name) == 0 &&
           strcmp(names_text(r->environment->names, function->name), "time") == 0 && lookup(r, function->name) == NULL;
}

static void resolve_call(Resolver *r, Expr *call)
{
    if (is_time(r, call)) {
        resolve_time(r, call);
        return;
    }
    resolve_expr(r, call->items[0]);
    const Expr *function = call->items[0];
    bool is_defined = function->kind == EXPR_NAME && function->reference == REFERENCE_DEFINITION;
    Definition *definition = is_defined ? function->definition : NULL;
    bool has_defaults = definition != NULL && definition->defaults != NULL;
    if (has_defaults || (call->count > 0 && definition != NULL && definition->kind == DEFINITION_FUNCTION))
        fill_arguments(r, call, definition);
    else if (call->count > 0) {
        diagnostics_error(r->environment->diagnostics, ERROR_BAD_KEYWORD, call->keywords[0].span,
                          "keyword arguments need a function that is called by its name");
        fail(r);
    }
    resolve_expr(r, call->items[1]);
}

/* ---- lambdas and comprehensions ---- */

/* A frame's locals join those that a comprehension uses freely. */
static void close_comprehension_frame(Resolver *r, Frame *all)
{
    Frame frame = vec_pop(&r->frames);
    for (uint32_t i = 0; i < frame.free.count; i++) {
        Local *local = &r->definition->locals.items[frame.free.items[i]];
        if (local->last_union != r->union_count)
            note_use(all, r->arena, frame.free.items[i], frame.spans.items[i]);
        local->last_union = r->union_count;
    }
}

static void open_frame(Resolver *r, LocalId first_inside)
{
    Frame *frame = vec_push(r->arena, &r->frames);
    *frame = (Frame){.number = ++r->frame_count, .first_inside = first_inside};
}

static void resolve_lambda(Resolver *r, Expr *lambda)
{
    uint32_t scope = r->scope.count;
    open_frame(r, r->definition->locals.count);
    bind_pattern(r, lambda->pattern);
    resolve_expr(r, lambda->items[0]);
    Frame frame = vec_pop(&r->frames);
    leave_scope(r, scope);
    lambda->captures = frame.free.items;
    lambda->capture_count = frame.free.count;
    lambda->first_local = frame.first_inside;
    lambda->local_count = r->definition->locals.count - frame.first_inside;
}

/* The expression that rebuilds what a pattern took apart; null if a part is not named. */
static Expr *expr_of_pattern(Resolver *r, const Pattern *pattern)
{
    switch (pattern->kind) {
    case PATTERN_NAME: {
        Expr *name = new_expr(r, EXPR_NAME, pattern->span);
        name->name = pattern->name;
        return name;
    }
    case PATTERN_WILDCARD:
        return NULL;
    case PATTERN_TYPED:
        return expr_of_pattern(r, pattern->items[0]);
    case PATTERN_TUPLE: {
        Expr *tuple = new_items(r, new_expr(r, EXPR_TUPLE, pattern->span), pattern->item_count);
        for (uint32_t i = 0; i < pattern->item_count; i++)
            if ((tuple->items[i] = expr_of_pattern(r, pattern->items[i])) == NULL)
                return NULL;
        return tuple;
    }
    case PATTERN_CONSTRUCTOR: {
        Expr *argument = expr_of_pattern(r, pattern->items[0]);
        if (argument == NULL)
            return NULL;
        Expr *constructor = new_expr(r, EXPR_NAME, pattern->span);
        constructor->name = pattern->name;
        return new_call(r, pattern->span, constructor, argument);
    }
    }
    return NULL;
}

static void give_body(Resolver *r, Comprehension *c)
{
    if (c->body != NULL)
        return;
    const Pattern *first = c->qualifiers[0].generators[0].pattern;
    c->body = expr_of_pattern(r, first);
    if (c->body == NULL) {
        diagnostics_error(r->environment->diagnostics, ERROR_SYNTAX, first->span,
                          "a pattern with `_` cannot also be the body: write `e : pattern in ...`");
        fail(r);
        c->body = new_items(r, new_expr(r, EXPR_TUPLE, first->span), 0);
    }
}

/* Generators in lock step: all sources first, then all patterns. */
static void resolve_sources(Resolver *r, Qualifier *qualifier)
{
    for (uint32_t i = 0; i < qualifier->generator_count; i++)
        resolve_expr(r, qualifier->generators[i].source);
}

static void bind_generators(Resolver *r, Qualifier *qualifier)
{
    LocalId first = r->definition->locals.count;
    for (uint32_t i = 0; i < qualifier->generator_count; i++)
        number_pattern(r, qualifier->generators[i].pattern, first);
    for (uint32_t i = 0; i < qualifier->generator_count; i++)
        enter_pattern(r, qualifier->generators[i].pattern);
}

static void collect_locals(const Pattern *pattern, LocalId *locals, uint32_t *count)
{
    if (pattern->kind == PATTERN_NAME)
        locals[(*count)++] = pattern->local;
    for (uint32_t i = 0; i < pattern->item_count; i++)
        collect_locals(pattern->items[i], locals, count);
}

static void collect_bound(Resolver *r, Comprehension *c, LocalId first)
{
    c->bound_locals = ARENA_ARRAY(r->arena, LocalId, r->definition->locals.count - first);
    for (uint32_t q = 0; q < c->qualifier_count; q++)
        for (uint32_t g = 0; g < c->qualifiers[q].generator_count; g++)
            collect_locals(c->qualifiers[q].generators[g].pattern, c->bound_locals, &c->bound_count);
}

/* Whether the name of a bound local still means it here, that is, no later generator has shadowed it. */
static bool is_visible(Resolver *r, LocalId local)
{
    uint32_t top = *top_of(r, r->definition->locals.items[local].name);
    return top != 0 && r->scope.items[top - 1].local == local;
}

static bool is_in_pattern(const Pattern *pattern, Name name)
{
    if (pattern->kind == PATTERN_NAME && pattern->name == name)
        return true;
    for (uint32_t i = 0; i < pattern->item_count; i++)
        if (is_in_pattern(pattern->items[i], name))
            return true;
    return false;
}

/* After `group by`, the key's names mean the key and all other bound names the collections of their values. */
static void resolve_group(Resolver *r, Comprehension *c)
{
    if (c->group_value == NULL)
        c->group_value = expr_of_pattern(r, c->group_key);
    if (c->group_value == NULL) {
        diagnostics_error(r->environment->diagnostics, ERROR_BAD_GROUPING, c->group_key->span,
                          "a grouping key without `=` is made of variables of the comprehension");
        fail(r);
        return;
    }
    resolve_expr(r, c->group_value);
    c->grouped_locals = ARENA_ARRAY(r->arena, LocalId, c->bound_count);
    for (uint32_t i = 0; i < c->bound_count; i++) {
        Local bound = r->definition->locals.items[c->bound_locals[i]];
        bool is_grouped = is_visible(r, c->bound_locals[i]) && !is_in_pattern(c->group_key, bound.name);
        c->grouped_locals[i] = is_grouped ? new_local(r, bound.name, bound.span) : UINT32_MAX;
    }
    for (uint32_t i = 0; i < c->bound_count; i++)
        if (c->grouped_locals[i] != UINT32_MAX)
            enter_local(r, r->definition->locals.items[c->grouped_locals[i]].name, c->grouped_locals[i]);
    bind_pattern(r, c->group_key);
}

static void resolve_comprehension(Resolver *r, Expr *expr)
{
    Comprehension *c = expr->comprehension;
    uint32_t scope = r->scope.count;
    bool has_generators = c->qualifiers[0].generator_count > 0;
    if (has_generators)
        give_body(r, c);
    LocalId first = r->definition->locals.count;
    uint32_t frame_count = r->frames.count;
    for (uint32_t q = 0; q < c->qualifier_count; q++) {
        Qualifier *qualifier = &c->qualifiers[q];
        if (qualifier->filter != NULL)
            resolve_expr(r, qualifier->filter);
        resolve_sources(r, qualifier);
        /* what stands after a group of generators runs many times, so what it uses from before them must last */
        if (qualifier->generator_count > 0)
            open_frame(r, r->definition->locals.count);
        bind_generators(r, qualifier);
    }
    collect_bound(r, c, first);
    if (c->group_key != NULL)
        resolve_group(r, c);
    if (c->order_key != NULL)
        resolve_expr(r, c->order_key);
    resolve_expr(r, c->body);
    /* what nobody asks for is not collected */
    for (uint32_t i = 0; c->grouped_locals != NULL && i < c->bound_count; i++)
        if (c->grouped_locals[i] != UINT32_MAX && !r->definition->locals.items[c->grouped_locals[i]].is_used)
            c->grouped_locals[i] = UINT32_MAX;
    leave_scope(r, scope);
    Frame all = {0};
    r->union_count++;
    while (r->frames.count > frame_count)
        close_comprehension_frame(r, &all);
    c->free_locals = all.free.items;
    c->free_spans = all.spans.items;
    c->free_count = all.free.count;
}

/* ---- expressions ---- */

static void resolve_let(Resolver *r, Expr *let)
{
    uint32_t scope = r->scope.count;
    for (uint32_t i = 0; i < let->count; i++) {
        resolve_expr(r, let->bindings[i].value);
        bind_pattern(r, let->bindings[i].pattern);
    }
    resolve_expr(r, let->items[0]);
    leave_scope(r, scope);
}

/* Chains of operators are left-deep: their left spine is walked in a loop. */
static void resolve_binary(Resolver *r, Expr *expr)
{
    Expr *left = expr;
    for (; left->kind == EXPR_BINARY; left = left->items[0]) {
        resolve_operator(r, left);
        resolve_expr(r, left->items[1]);
    }
    resolve_expr(r, left);
}

static Op range_op(const Resolver *r, const Expr *range)
{
    if (range->is_inclusive)
        return OP_RANGE_INCLUSIVE;
    return r->definition->dialect == DIALECT_NESL ? OP_NESL_RANGE : OP_RANGE;
}

static void resolve_items(Resolver *r, Expr *expr)
{
    for (uint32_t i = 0; i < expr->item_count; i++)
        if (expr->items[i] != NULL)
            resolve_expr(r, expr->items[i]);
}

static void resolve_expr(Resolver *r, Expr *expr)
{
    switch (expr->kind) {
    case EXPR_NAME:
        if (expr->reference == REFERENCE_NONE)
            resolve_name(r, expr);
        return;
    case EXPR_CALL:
        resolve_call(r, expr);
        return;
    case EXPR_BINARY:
        resolve_binary(r, expr);
        return;
    case EXPR_LET:
        resolve_let(r, expr);
        return;
    case EXPR_LAMBDA:
        resolve_lambda(r, expr);
        return;
    case EXPR_COMPREHENSION:
        resolve_comprehension(r, expr);
        return;
    case EXPR_UNARY:
        resolve_operator(r, expr);
        break;
    case EXPR_INDEX:
        use_op(r, expr, OP_ELEMENT);
        break;
    case EXPR_SLICE:
        use_op(r, expr, OP_SUBSEQ);
        break;
    case EXPR_RANGE:
        use_op(r, expr, range_op(r, expr));
        break;
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_BOOL:
    case EXPR_CHAR:
    case EXPR_STRING:
    case EXPR_TUPLE:
    case EXPR_LIST:
    case EXPR_SELECT:
    case EXPR_IF:
    case EXPR_ANNOTATION:
        break;
    }
    resolve_items(r, expr);
}

/* ---- definitions ---- */

static void resolve_function(Resolver *r)
{
    const Item *item = r->definition->item;
    LocalId first = r->definition->locals.count;
    for (uint32_t i = 0; i < item->parameter_count; i++)
        number_pattern(r, item->parameters[i].pattern, first);
    for (uint32_t i = 0; i < item->parameter_count; i++)
        enter_pattern(r, item->parameters[i].pattern);
    resolve_expr(r, item->value);
}

/* Names of a top-level pattern are definitions already; only constructors are left. */
static void resolve_top_pattern(Resolver *r, Pattern *pattern)
{
    if (pattern->kind == PATTERN_CONSTRUCTOR)
        bind_constructor(r, pattern);
    for (uint32_t i = 0; i < pattern->item_count; i++)
        resolve_top_pattern(r, pattern->items[i]);
}

void resolve_definition(Environment *environment, Definition *definition)
{
    if (definition->state != DEFINITION_NEW)
        return;
    definition->state = DEFINITION_RESOLVED;
    Resolver r = {.environment = environment, .definition = definition, .arena = environment->arena};
    switch (definition->kind) {
    case DEFINITION_FUNCTION:
        resolve_function(&r);
        break;
    case DEFINITION_BINDING:
        resolve_top_pattern(&r, definition->item->pattern);
        resolve_expr(&r, definition->item->value);
        break;
    case DEFINITION_EXPRESSION:
        resolve_expr(&r, definition->item->value);
        break;
    case DEFINITION_OP:
    case DEFINITION_OVERLOAD:
    case DEFINITION_CONSTRUCTOR:
    case DEFINITION_VALUE:
        break;
    }
    leave_scope(&r, 0);
}
