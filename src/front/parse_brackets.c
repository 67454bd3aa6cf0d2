/* What stands in `[ ]` and `{ }`: lists, ranges and comprehensions, the latter with each dialect's own qualifiers.
 *
 * A `.rnl` qualifier is a generator when a pattern and `in` or `<-` stand at its head, else a filter. NESL's bindings
 * all come after the `:`, zipped by `;`, and may be bare names. */
#include "front/parse_internal.h"

typedef VEC(Qualifier) Qualifiers;
typedef VEC(Generator) Generators;

/* One pair of brackets on its way to becoming an expression. */
typedef struct Enclosure {
    uint32_t open;  /* index of the opening token */
    uint32_t start; /* its position */
    Brackets brackets;
    TokenKind close;
} Enclosure;

static void add_filter(Parser *parser, Qualifiers *qualifiers, Expr *filter)
{
    *vec_push(parser->arena, qualifiers) = (Qualifier){.filter = filter};
}

static void add_generators(Parser *parser, Qualifiers *qualifiers, const Generators *generators)
{
    *vec_push(parser->arena, qualifiers) =
        (Qualifier){.generators = generators->items, .generator_count = generators->count};
}

static Expr *new_comprehension(Parser *parser, Brackets brackets, uint32_t start)
{
    Expr *expr = expr_new(parser, EXPR_COMPREHENSION, start);
    expr->brackets = brackets;
    expr->comprehension = ARENA_NEW(parser->arena, Comprehension);
    expr->comprehension->brackets = brackets;
    return expr;
}

static void set_qualifiers(Comprehension *comprehension, const Qualifiers *qualifiers)
{
    comprehension->qualifiers = qualifiers->items;
    comprehension->qualifier_count = qualifiers->count;
}

/* ---- qualifiers of .rnl ---- */

static bool starts_generator(Parser *parser, uint32_t index)
{
    uint32_t after = parser_skip_pattern(parser, index);
    if (after == 0)
        return false;
    if (parser_kind_at(parser, after) == TOKEN_IN)
        return true;
    /* `(xs ++ ys) <- ps == zs` is a comparison with a NESL write. */
    return parser_kind_at(parser, after) == TOKEN_WRITE && parser_is_pattern(parser, index);
}

static Generator parse_generator(Parser *parser)
{
    Generator generator = {0};
    if (!starts_generator(parser, parser->at))
        parser_fail_expected(parser, "a generator `pattern in container`");
    generator.pattern = parse_pattern(parser);
    parser_advance(parser); /* `in` or `<-` */
    generator.source = parse_expression(parser, POWER_ITEM);
    return generator;
}

static void parse_zipped_generators(Parser *parser, Qualifiers *qualifiers)
{
    Generators generators = {0};
    do
        *vec_push(parser->arena, &generators) = parse_generator(parser);
    while (parser_accept(parser, TOKEN_SEMICOLON));
    add_generators(parser, qualifiers, &generators);
}

/* Qualifiers separated by commas. */
static void parse_qualifiers(Parser *parser, Qualifiers *qualifiers)
{
    do {
        if (starts_generator(parser, parser->at))
            parse_zipped_generators(parser, qualifiers);
        else
            add_filter(parser, qualifiers, parse_expression(parser, POWER_ITEM));
    } while (parser_accept(parser, TOKEN_COMMA));
}

/* `| c` after the qualifiers. */
static void parse_last_filter(Parser *parser, Qualifiers *qualifiers)
{
    if (!parser_accept(parser, TOKEN_BAR))
        return;
    if (starts_generator(parser, parser->at))
        parser_fail_expected(parser, "a filter; generators stand before the `|`, separated by `,` or zipped by `;`");
    add_filter(parser, qualifiers, parse_expression(parser, POWER_ITEM));
}

static bool accept_words(Parser *parser, const char *first, const char *second)
{
    if (!parser_is_word(parser, parser->at, first) || !parser_is_word(parser, parser->at + 1, second))
        return false;
    parser_advance(parser);
    parser_advance(parser);
    return true;
}

static void parse_group(Parser *parser, Comprehension *comprehension)
{
    if (!accept_words(parser, "group", "by"))
        return;
    if (parser_kind(parser) != TOKEN_NAME && parser_kind(parser) != TOKEN_OPEN_PAREN)
        parser_fail_expected(parser, "the key: a variable, or `k = expression` for a computed one");
    comprehension->group_key = parse_pattern(parser);
    if (parser_accept(parser, TOKEN_EQUAL))
        comprehension->group_value = parse_expression(parser, POWER_ITEM);
    else if (!token_is_close(parser_kind(parser)) && parser_kind(parser) != TOKEN_NAME)
        parser_fail_expected(parser, "the end of the key; a computed key has a name: `group by k = expression`");
}

static void parse_order(Parser *parser, Comprehension *comprehension)
{
    if (!accept_words(parser, "order", "by"))
        return;
    comprehension->order_key = parse_expression(parser, POWER_ITEM);
    comprehension->is_descending = parser_is_word(parser, parser->at, "desc");
    if (comprehension->is_descending || parser_is_word(parser, parser->at, "asc"))
        parser_advance(parser);
}

static void parse_clauses(Parser *parser, Comprehension *comprehension)
{
    parse_group(parser, comprehension);
    parse_order(parser, comprehension);
}

/* ---- `[e | x <- xs, c | y <- ys]` ---- */

typedef VEC(Name) NameList;

static void collect_names(Parser *parser, const Pattern *pattern, NameList *names)
{
    for (uint32_t i = 0; i < pattern->item_count; i++)
        collect_names(parser, pattern->items[i], names);
    if (pattern->kind != PATTERN_NAME)
        return;
    for (uint32_t i = 0; i < names->count; i++)
        if (names->items[i] == pattern->name)
            return; /* bound again by a later generator, which hides it */
    *vec_push(parser->arena, names) = pattern->name;
}

static Pattern *names_as_pattern(Parser *parser, const NameList *names, Span span)
{
    Pattern **items = ARENA_ARRAY(parser->arena, Pattern *, names->count);
    for (uint32_t i = 0; i < names->count; i++)
        items[i] = pattern_new_name(parser, names->items[i], span);
    return pattern_new_tuple(parser, items, names->count, span);
}

static Expr *names_as_expr(Parser *parser, const NameList *names, Span span)
{
    if (names->count == 1)
        return expr_new_name(parser, names->items[0], span);
    Expr *tuple = expr_new(parser, EXPR_TUPLE, span.start);
    tuple->item_count = names->count;
    tuple->items = ARENA_ARRAY(parser->arena, Expr *, names->count);
    for (uint32_t i = 0; i < names->count; i++)
        tuple->items[i] = expr_new_name(parser, names->items[i], span);
    return expr_finish(parser, tuple);
}

/* A zipped branch with several qualifiers is one generator: all its variables, from a comprehension of its own. */
static Generator branch_as_generator(Parser *parser, const Qualifiers *branch, uint32_t start)
{
    NameList names = {0};
    Span span = parser_span_from(parser, start);
    for (uint32_t i = 0; i < branch->count; i++)
        for (uint32_t j = 0; j < branch->items[i].generator_count; j++)
            collect_names(parser, branch->items[i].generators[j].pattern, &names);
    Expr *source = new_comprehension(parser, BRACKETS_BRACES, start);
    source->comprehension->body = names_as_expr(parser, &names, span);
    set_qualifiers(source->comprehension, branch);
    return (Generator){names_as_pattern(parser, &names, span), expr_finish(parser, source)};
}

static void zip_branch(Parser *parser, const Qualifiers *branch, uint32_t start, Generators *zipped)
{
    bool is_plain = branch->count == 1;
    if (!is_plain) {
        *vec_push(parser->arena, zipped) = branch_as_generator(parser, branch, start);
        return;
    }
    for (uint32_t i = 0; i < branch->items[0].generator_count; i++)
        *vec_push(parser->arena, zipped) = branch->items[0].generators[i];
}

/* After the first branch: the others, zipped with it into one qualifier; a branch that is no generator is the last
 * filter. */
static void parse_zipped_branches(Parser *parser, Qualifiers *qualifiers, uint32_t first_start)
{
    Generators zipped = {0};
    Expr *filter = NULL;
    while (filter == NULL && parser_accept(parser, TOKEN_BAR)) {
        if (!starts_generator(parser, parser->at)) {
            filter = parse_expression(parser, POWER_ITEM);
            break;
        }
        if (zipped.count == 0)
            zip_branch(parser, qualifiers, first_start, &zipped);
        Qualifiers branch = {0};
        uint32_t start = parser_start(parser);
        parse_qualifiers(parser, &branch);
        zip_branch(parser, &branch, start, &zipped);
    }
    if (zipped.count > 0) {
        *qualifiers = (Qualifiers){0};
        add_generators(parser, qualifiers, &zipped);
    }
    if (filter != NULL)
        add_filter(parser, qualifiers, filter);
}

/* `e | c`: a guard. */
static void parse_guard(Parser *parser, Qualifiers *qualifiers)
{
    add_filter(parser, qualifiers, parse_expression(parser, POWER_ITEM));
    if (parser_kind(parser) == TOKEN_COMMA)
        parser_fail_expected(parser, "the closing bracket: a guard is one condition (join several by `and`), and "
                                     "qualifiers start with a generator");
}

/* At `|` after the body. */
static Expr *parse_bar_form(Parser *parser, const Enclosure *enclosure, Expr *body)
{
    Qualifiers qualifiers = {0};
    Expr *expr = new_comprehension(parser, enclosure->brackets, enclosure->start);
    expr->comprehension->body = body;
    parser_advance(parser);
    if (starts_generator(parser, parser->at)) {
        uint32_t start = parser_start(parser);
        parse_qualifiers(parser, &qualifiers);
        parse_zipped_branches(parser, &qualifiers, start);
        parse_clauses(parser, expr->comprehension);
    } else {
        parse_guard(parser, &qualifiers);
    }
    set_qualifiers(expr->comprehension, &qualifiers);
    return expr;
}

/* ---- `{e : x in xs | c}` of .rnl ---- */

/* At the first generator; the body is null for `{x in xs}`. */
static Expr *parse_colon_form(Parser *parser, const Enclosure *enclosure, Expr *body)
{
    Qualifiers qualifiers = {0};
    Expr *expr = new_comprehension(parser, enclosure->brackets, enclosure->start);
    expr->comprehension->body = body;
    parse_qualifiers(parser, &qualifiers);
    parse_last_filter(parser, &qualifiers);
    set_qualifiers(expr->comprehension, &qualifiers);
    parse_clauses(parser, expr->comprehension);
    return expr;
}

/* ---- NESL's apply-to-each ---- */

/* Whether `{` is followed by bindings without a body: a pattern and `in`, or a name that stands for itself. */
static bool starts_nesl_bindings(const Parser *parser, uint32_t index)
{
    uint32_t after = parser_skip_pattern(parser, index);
    bool is_name = after == index + 1;
    while (after != 0 && parser_kind_at(parser, after) == TOKEN_COMMA) {
        after = parser_skip_pattern(parser, after + 1);
        is_name = false;
    }
    TokenKind next = after == 0 ? TOKEN_END : parser_kind_at(parser, after);
    if (next == TOKEN_IN)
        return true;
    return is_name && (next == TOKEN_SEMICOLON || next == TOKEN_BAR || next == TOKEN_CLOSE_BRACE);
}

static void fail_not_nesl(Parser *parser, const char *message)
{
    parser_fail(parser, ERROR_NOT_IN_DIALECT, parser_token(parser)->span, "%s", message);
}

static Generator parse_nesl_binding(Parser *parser)
{
    Generator generator = {.pattern = parse_binding_pattern(parser)};
    if (parser_kind(parser) == TOKEN_WRITE)
        fail_not_nesl(parser, "NESL's generators are written with `in`, not `<-`");
    if (parser_accept(parser, TOKEN_IN))
        generator.source = parse_expression(parser, POWER_ITEM);
    else if (generator.pattern->kind == PATTERN_NAME)
        generator.source = expr_new_name(parser, generator.pattern->name, generator.pattern->span);
    else
        parser_expect(parser, TOKEN_IN);
    if (parser_kind(parser) == TOKEN_COMMA)
        fail_not_nesl(parser, "NESL has no dependent generators or filters after `,`; bindings are zipped by `;`, and "
                              "the filter stands after `|`");
    return generator;
}

static Expr *parse_nesl_comprehension(Parser *parser, const Enclosure *enclosure, Expr *body)
{
    Qualifiers qualifiers = {0};
    Generators generators = {0};
    Expr *expr = new_comprehension(parser, enclosure->brackets, enclosure->start);
    expr->comprehension->body = body;
    do
        *vec_push(parser->arena, &generators) = parse_nesl_binding(parser);
    while (parser_accept(parser, TOKEN_SEMICOLON));
    add_generators(parser, &qualifiers, &generators);
    if (parser_accept(parser, TOKEN_BAR))
        add_filter(parser, &qualifiers, parse_expression(parser, POWER_TUPLE));
    set_qualifiers(expr->comprehension, &qualifiers);
    return expr;
}

/* ---- lists and ranges ---- */

/* Whether a type follows `[]`. In .rnl the end of the line ends a definition, and clauses may follow. */
static bool at_element_type(const Parser *parser)
{
    TokenKind kind = parser_kind(parser);
    if (!parser_is_nesl(parser) && parser_token(parser)->is_first_on_line)
        return false;
    if (kind == TOKEN_NAME)
        return !parser_is_word(parser, parser->at + 1, "by") && !parser_is_word(parser, parser->at, "desc") &&
               !parser_is_word(parser, parser->at, "asc");
    return kind == TOKEN_OPEN_PAREN || kind == TOKEN_OPEN_SQUARE || kind == TOKEN_OPEN_BRACE;
}

static Expr *parse_empty(Parser *parser, const Enclosure *enclosure)
{
    if (enclosure->brackets == BRACKETS_BRACES && parser_is_nesl(parser))
        fail_not_nesl(parser, "NESL has no brace literals; an empty sequence is written `[] type`");
    parser_advance(parser);
    Expr *expr = expr_new(parser, EXPR_LIST, enclosure->start);
    expr->brackets = enclosure->brackets;
    if (at_element_type(parser))
        expr->element_type = parse_type_atom(parser);
    return expr_finish(parser, expr);
}

static Expr *parse_list(Parser *parser, const Enclosure *enclosure, Expr *first)
{
    VEC(Expr *) items = {0};
    *vec_push(parser->arena, &items) = first;
    while (parser_accept(parser, TOKEN_COMMA))
        *vec_push(parser->arena, &items) = parse_expression(parser, POWER_ITEM);
    Expr *expr = expr_new(parser, EXPR_LIST, enclosure->start);
    expr->brackets = enclosure->brackets;
    expr->items = items.items;
    expr->item_count = items.count;
    return expr;
}

/* At `:`, `..<` or `..=` after the lower bound. */
static Expr *parse_range(Parser *parser, const Enclosure *enclosure, Expr *lower)
{
    bool has_step_form = parser_kind(parser) == TOKEN_COLON;
    Expr *expr = expr_new(parser, EXPR_RANGE, enclosure->start);
    expr->brackets = enclosure->brackets;
    expr->is_inclusive = parser_kind(parser) == TOKEN_RANGE_UPTO;
    expr->items = ARENA_ARRAY(parser->arena, Expr *, 3);
    expr->item_count = 2;
    parser_advance(parser);
    expr->items[0] = lower;
    expr->items[1] = parse_expression(parser, POWER_ITEM);
    if (has_step_form && parser_accept(parser, TOKEN_COLON)) {
        expr->items[2] = parse_expression(parser, POWER_ITEM);
        expr->item_count = 3;
    }
    return expr;
}

/* ---- what follows the first expression decides ---- */

static Expr *parse_after_runnel_item(Parser *parser, const Enclosure *enclosure, Expr *first)
{
    switch ((int)parser_kind(parser)) {
    case TOKEN_COLON:
        if (!starts_generator(parser, parser->at + 1))
            return parse_range(parser, enclosure, first);
        parser_advance(parser);
        return parse_colon_form(parser, enclosure, first);
    case TOKEN_RANGE_BELOW:
    case TOKEN_RANGE_UPTO:
        return parse_range(parser, enclosure, first);
    case TOKEN_BAR:
        return parse_bar_form(parser, enclosure, first);
    }
    return parse_list(parser, enclosure, first);
}

static Expr *parse_after_nesl_square_item(Parser *parser, const Enclosure *enclosure, Expr *first)
{
    uint32_t after = parser->at + 1;
    switch ((int)parser_kind(parser)) {
    case TOKEN_COLON:
        if (starts_generator(parser, after))
            fail_not_nesl(parser, "NESL's apply-to-each is written in braces: `{e : x in a}`");
        return parse_range(parser, enclosure, first);
    case TOKEN_BAR:
        fail_not_nesl(parser, "NESL's apply-to-each is written in braces: `{e : x in a | c}`");
        break;
    }
    return parse_list(parser, enclosure, first);
}

static Expr *parse_after_nesl_brace_item(Parser *parser, const Enclosure *enclosure, Expr *first)
{
    switch ((int)parser_kind(parser)) {
    case TOKEN_COLON:
        parser_advance(parser);
        if (parser_skip_pattern(parser, parser->at) == 0)
            fail_not_nesl(parser, "NESL's ranges are written in square brackets: `[a:b]`");
        return parse_nesl_comprehension(parser, enclosure, first);
    case TOKEN_BAR:
        fail_not_nesl(parser, "NESL has no guards; `|` follows the bindings of an apply-to-each");
        return first;
    case TOKEN_CLOSE_BRACE:
        fail_not_nesl(parser, "NESL has no brace literals; a sequence is written `[a, b]`");
        return first;
    }
    parser_fail_expected(parser, "`:` and the bindings of an apply-to-each");
    return first;
}

/* NESL's `{* e : ...}`; a star that is the name of an operator does not count. */
static bool accept_serial_star(Parser *parser, const Enclosure *enclosure)
{
    TokenKind next = parser_kind_at(parser, parser->at + 1);
    if (enclosure->brackets != BRACKETS_BRACES || next == TOKEN_COMMA || next == TOKEN_CLOSE_BRACE)
        return false;
    return parser_accept(parser, TOKEN_TIMES);
}

static Expr *parse_runnel_contents(Parser *parser, const Enclosure *enclosure)
{
    if (starts_generator(parser, parser->at))
        return parse_colon_form(parser, enclosure, NULL);
    Expr *first = parse_expression(parser, POWER_ITEM);
    return parse_after_runnel_item(parser, enclosure, first);
}

static Expr *parse_nesl_contents(Parser *parser, const Enclosure *enclosure)
{
    if (enclosure->brackets == BRACKETS_SQUARE) {
        Expr *first = parse_expression(parser, POWER_ITEM);
        return parse_after_nesl_square_item(parser, enclosure, first);
    }
    if (starts_nesl_bindings(parser, parser->at))
        return parse_nesl_comprehension(parser, enclosure, NULL);
    Expr *first = parse_expression(parser, POWER_TUPLE);
    return parse_after_nesl_brace_item(parser, enclosure, first);
}

static Expr *parse_contents(Parser *parser, const Enclosure *enclosure)
{
    bool is_serial = accept_serial_star(parser, enclosure);
    Expr *expr = parser_is_nesl(parser) ? parse_nesl_contents(parser, enclosure)
                                        : parse_runnel_contents(parser, enclosure);
    if (is_serial && expr->kind == EXPR_COMPREHENSION)
        expr->comprehension->is_serial = true;
    else if (is_serial)
        parser_fail_expected(parser, "`:` and generators, as `{*` starts a serial comprehension");
    return expr;
}

Expr *parse_brackets(Parser *parser)
{
    bool is_square = parser_kind(parser) == TOKEN_OPEN_SQUARE;
    Enclosure enclosure = {
        .open = parser->at,
        .start = parser_start(parser),
        .brackets = is_square ? BRACKETS_SQUARE : BRACKETS_BRACES,
        .close = is_square ? TOKEN_CLOSE_SQUARE : TOKEN_CLOSE_BRACE,
    };
    parser_advance(parser);
    if (parser_kind(parser) == enclosure.close)
        return parse_empty(parser, &enclosure);
    parser_enter(parser);
    Expr *expr = parse_contents(parser, &enclosure);
    parser_leave(parser);
    parser_expect_close(parser, enclosure.open);
    return expr_finish(parser, expr);
}
