/* Expressions: precedence climbing with the powers of tokens.def, and everything that is not in brackets.
 *
 * Chains of left-associative operators and of list items are loops. Whatever nests in the tree counts: `depth` bounds
 * the parser's own recursion, `height` that of the passes over the tree. */
#include "front/parse_internal.h"

/* ---- nodes ---- */

Expr *expr_new(Parser *parser, ExprKind kind, uint32_t start)
{
    Expr *expr = ARENA_NEW(parser->arena, Expr);
    expr->kind = kind;
    expr->span = (Span){start, start};
    return expr;
}

static uint32_t taller(uint32_t height, const Expr *child)
{
    return child != NULL && child->height > height ? child->height : height;
}

static uint32_t height_of_comprehension(const Comprehension *comprehension)
{
    uint32_t height = taller(0, comprehension->body);
    for (uint32_t i = 0; i < comprehension->qualifier_count; i++) {
        const Qualifier *qualifier = &comprehension->qualifiers[i];
        height = taller(height, qualifier->filter);
        for (uint32_t j = 0; j < qualifier->generator_count; j++)
            height = taller(height, qualifier->generators[j].source);
    }
    height = taller(height, comprehension->group_value);
    height = taller(height, comprehension->order_key);
    uint32_t count = comprehension->qualifier_count;
    return count > 1 ? height + count - 1 : height; /* what follows a qualifier stands inside it */
}

static uint32_t height_of_children(const Expr *expr)
{
    uint32_t height = expr->kind == EXPR_COMPREHENSION ? height_of_comprehension(expr->comprehension) : 0;
    for (uint32_t i = 0; i < expr->item_count; i++)
        height = taller(height, expr->items[i]);
    if (expr->kind == EXPR_LET)
        for (uint32_t i = 0; i < expr->count; i++)
            height = taller(height, expr->bindings[i].value);
    if (expr->kind == EXPR_CALL)
        for (uint32_t i = 0; i < expr->count; i++)
            height = taller(height, expr->keywords[i].value);
    return height;
}

static uint32_t height_of(const Expr *expr)
{
    /* Passes walk a left spine in a loop, so its further operators add nothing. */
    if (expr->kind == EXPR_BINARY && expr->items[0]->kind == EXPR_BINARY) {
        uint32_t left = expr->items[0]->height, right = expr->items[1]->height + 1u;
        return left > right ? left : right;
    }
    return height_of_children(expr) + 1;
}

Expr *expr_finish(Parser *parser, Expr *expr)
{
    expr->span = parser_span_from(parser, expr->span.start);
    uint32_t height = height_of(expr);
    if (height > PARSE_DEPTH_MAX) {
        parser_fail_too_deep(parser);
        height = PARSE_DEPTH_MAX;
    }
    expr->height = (uint16_t)height;
    return expr;
}

static void set_items(Parser *parser, Expr *expr, Expr *first, Expr *second)
{
    expr->item_count = second == NULL ? 1 : 2;
    expr->items = ARENA_ARRAY(parser->arena, Expr *, expr->item_count);
    expr->items[0] = first;
    if (second != NULL)
        expr->items[1] = second;
}

Expr *expr_new_name(Parser *parser, Name name, Span span)
{
    Expr *expr = expr_new(parser, EXPR_NAME, span.start);
    expr->span = span;
    expr->name = name;
    expr->height = 1;
    return expr;
}

/* A place holder for what failed to parse. */
static Expr *expr_missing(Parser *parser)
{
    return expr_finish(parser, expr_new(parser, EXPR_TUPLE, parser_start(parser)));
}

/* ---- literals and names ---- */

static ExprKind literal_kind(TokenKind kind)
{
    switch ((int)kind) {
    case TOKEN_INT:
        return EXPR_INT;
    case TOKEN_FLOAT:
        return EXPR_FLOAT;
    case TOKEN_CHAR:
        return EXPR_CHAR;
    case TOKEN_STRING:
        return EXPR_STRING;
    }
    return EXPR_BOOL;
}

/* The literal at the current token, which must be one. */
Expr *expr_new_literal(Parser *parser)
{
    const Token *token = parser_token(parser);
    Expr *expr = expr_new(parser, literal_kind((TokenKind)token->kind), token->span.start);
    if (expr->kind == EXPR_FLOAT) {
        expr->number = token->number;
    } else if (expr->kind == EXPR_STRING) {
        expr->text = token->text;
        expr->count = token->extra;
    } else if (expr->kind == EXPR_BOOL) {
        expr->magnitude = token->kind == TOKEN_TRUE;
    } else {
        expr->magnitude = token->magnitude;
    }
    parser_advance(parser);
    return expr_finish(parser, expr);
}

static Expr *parse_name(Parser *parser)
{
    const Token *token = parser_token(parser);
    if (!parser_is_nesl(parser) && parser_is_word(parser, parser->at, "_")) {
        parser_fail(parser, ERROR_SYNTAX, token->span, "`_` has no value; it stands for what a pattern ignores");
        return expr_missing(parser);
    }
    parser_advance(parser);
    return expr_new_name(parser, token->name, token->span);
}

/* An operator where an operand should be, directly before `,` or `)`, is meant as a function: reduce(+, 0, xs). */
static bool is_operator_name(const Parser *parser)
{
    TokenKind kind = parser_kind(parser);
    TokenKind next = parser_kind_at(parser, parser->at + 1);
    bool is_operator =
        (token_infos[kind].left_power > 0 && kind != TOKEN_COMMA) || kind == TOKEN_HASH || kind == TOKEN_AT;
    return is_operator && (next == TOKEN_COMMA || next == TOKEN_CLOSE_PAREN);
}

static Name operator_name(Parser *parser, TokenKind kind)
{
    return names_of(parser->names, token_infos[kind].spelling[parser->dialect]);
}

static Expr *parse_operator_name(Parser *parser)
{
    Name name = operator_name(parser, parser_kind(parser));
    Span span = parser_token(parser)->span;
    parser_advance(parser);
    return expr_new_name(parser, name, span);
}

/* ---- parentheses ---- */

/* `e : type` inside parentheses, the expression already parsed. */
static Expr *parse_annotated(Parser *parser, Expr *value, uint32_t start)
{
    if (value->kind == EXPR_TUPLE && !value->is_parenthesised) {
        parser_fail(parser, ERROR_SYNTAX, parser_token(parser)->span,
                    "found `:` after a tuple; write `(a, (b : type))` or `((a, b) : type)`");
        return value;
    }
    parser_advance(parser);
    Expr *expr = expr_new(parser, EXPR_ANNOTATION, start);
    set_items(parser, expr, value, NULL);
    expr->element_type = parse_annotation(parser);
    return expr_finish(parser, expr);
}

static Expr *parse_parenthesised(Parser *parser)
{
    uint32_t start = parser_start(parser);
    uint32_t open = parser->at;
    Expr *expr;
    parser_enter(parser);
    parser_advance(parser);
    if (parser_kind(parser) == TOKEN_CLOSE_PAREN) {
        expr = expr_new(parser, EXPR_TUPLE, start);
    } else {
        uint32_t inner = parser_start(parser);
        expr = parse_expression(parser, POWER_TUPLE);
        if (parser_kind(parser) == TOKEN_COLON)
            expr = parse_annotated(parser, expr, inner);
    }
    parser_expect_close(parser, open);
    if (expr->kind == EXPR_TUPLE && !expr->is_parenthesised) {
        expr->span.start = start; /* a tuple's parentheses are its own */
        expr_finish(parser, expr);
    }
    expr->is_parenthesised = true;
    parser_leave(parser);
    return expr;
}

/* ---- what stands alone ---- */

static Expr *parse_primary(Parser *parser)
{
    if (is_operator_name(parser))
        return parse_operator_name(parser);
    switch ((int)parser_kind(parser)) {
    case TOKEN_NAME:
        return parse_name(parser);
    case TOKEN_INT:
    case TOKEN_FLOAT:
    case TOKEN_CHAR:
    case TOKEN_STRING:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        return expr_new_literal(parser);
    case TOKEN_OPEN_PAREN:
        return parse_parenthesised(parser);
    case TOKEN_OPEN_SQUARE:
    case TOKEN_OPEN_BRACE:
        return parse_brackets(parser);
    }
    parser_fail_expected(parser, "an expression");
    return expr_missing(parser);
}

/* ---- calls, indices, components ---- */

/* The arguments of a call as one expression: itself if it is one, else their tuple. */
static Expr *join_arguments(Parser *parser, Expr **items, uint32_t count, uint32_t start)
{
    if (count == 1)
        return items[0];
    Expr *tuple = expr_new(parser, EXPR_TUPLE, start);
    tuple->items = items;
    tuple->item_count = count;
    return expr_finish(parser, tuple);
}

static Keyword parse_keyword(Parser *parser)
{
    Keyword keyword = {.name = parser_token(parser)->name, .span = parser_token(parser)->span};
    parser_advance(parser);
    parser_advance(parser);
    keyword.value = parse_expression(parser, POWER_ITEM);
    return keyword;
}

static bool at_keyword(const Parser *parser)
{
    return parser_kind(parser) == TOKEN_NAME && parser_kind_at(parser, parser->at + 1) == TOKEN_COLON_EQUAL;
}

static Expr *parse_call(Parser *parser, Expr *function, uint32_t start)
{
    VEC(Expr *) items = {0};
    VEC(Keyword) keywords = {0};
    uint32_t open = parser->at;
    uint32_t open_start = parser_start(parser);
    parser_enter(parser);
    parser_advance(parser);
    if (parser_kind(parser) == TOKEN_CLOSE_PAREN && parser_is_nesl(parser))
        parser_fail_expected(parser, "an argument; NESL has no empty argument list");
    if (parser_kind(parser) != TOKEN_CLOSE_PAREN)
        do {
            if (at_keyword(parser))
                *vec_push(parser->arena, &keywords) = parse_keyword(parser);
            else if (keywords.count > 0)
                parser_fail_expected(parser, "`name := value`, as after every keyword argument");
            else
                *vec_push(parser->arena, &items) = parse_expression(parser, POWER_ITEM);
        } while (parser_accept(parser, TOKEN_COMMA));
    parser_expect_close(parser, open);
    Expr *call = expr_new(parser, EXPR_CALL, start);
    set_items(parser, call, function, join_arguments(parser, items.items, items.count, open_start));
    call->keywords = keywords.items;
    call->count = keywords.count;
    parser_leave(parser);
    return expr_finish(parser, call);
}

/* `xs[lower : upper]`, the lower bound already parsed or missing. */
static Expr *parse_slice(Parser *parser, Expr *sliced, Expr *lower, uint32_t start)
{
    if (parser_is_nesl(parser))
        parser_fail(parser, ERROR_NOT_IN_DIALECT, parser_token(parser)->span,
                    "NESL has no slices; use `subseq(a, start, end)`");
    parser_advance(parser);
    Expr *expr = expr_new(parser, EXPR_SLICE, start);
    expr->items = ARENA_ARRAY(parser->arena, Expr *, 3);
    expr->item_count = 3;
    expr->items[0] = sliced;
    expr->items[1] = lower;
    if (parser_kind(parser) != TOKEN_CLOSE_SQUARE)
        expr->items[2] = parse_expression(parser, POWER_ITEM);
    return expr;
}

static Expr *parse_index_or_slice(Parser *parser, Expr *indexed, uint32_t start)
{
    uint32_t open = parser->at;
    Expr *expr;
    Expr *lower = NULL;
    parser_enter(parser);
    parser_advance(parser);
    if (parser_kind(parser) != TOKEN_COLON)
        lower = parse_expression(parser, parser_is_nesl(parser) ? POWER_TUPLE : POWER_ITEM);
    if (parser_kind(parser) == TOKEN_COLON) {
        expr = parse_slice(parser, indexed, lower, start);
    } else {
        expr = expr_new(parser, EXPR_INDEX, start);
        set_items(parser, expr, indexed, lower == NULL ? expr_missing(parser) : lower);
    }
    parser_expect_close(parser, open);
    parser_leave(parser);
    return expr_finish(parser, expr);
}

static Expr *parse_selection(Parser *parser, Expr *tuple, uint32_t start)
{
    parser_advance(parser);
    const Token *token = parser_token(parser);
    if (token->kind != TOKEN_INT)
        parser_fail_expected(parser, "the number of a component, as in `x.1`");
    else if (token->magnitude == 0)
        parser_fail(parser, ERROR_NO_SUCH_COMPONENT, token->span, "found component 0; components count from 1");
    parser_advance(parser);
    Expr *expr = expr_new(parser, EXPR_SELECT, start);
    set_items(parser, expr, tuple, NULL);
    expr->magnitude = token->kind == TOKEN_INT ? token->magnitude : 1;
    return expr_finish(parser, expr);
}

/* NESL: whether the current token is the operand of an application `f x`. */
static bool at_juxtaposed(const Parser *parser)
{
    switch ((int)parser_kind(parser)) {
    case TOKEN_NAME:
    case TOKEN_INT:
    case TOKEN_FLOAT:
    case TOKEN_CHAR:
    case TOKEN_STRING:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_OPEN_BRACE:
        return parser_is_nesl(parser);
    }
    return false;
}

static Expr *parse_juxtaposed(Parser *parser, Expr *function, uint32_t start)
{
    bool is_clause = parser_is_word(parser, parser->at, "group") || parser_is_word(parser, parser->at, "order");
    if (is_clause && parser_is_word(parser, parser->at + 1, "by"))
        parser_fail(parser, ERROR_NOT_IN_DIALECT, parser_token(parser)->span,
                    "NESL has no `group by` or `order by`; they are part of .rnl");
    Expr *argument = parse_primary(parser);
    Expr *call = expr_new(parser, EXPR_CALL, start);
    set_items(parser, call, function, argument);
    return expr_finish(parser, call);
}

/* In .rnl a bracket in the first column starts a new form: definitions need no `;` before it. */
static bool at_postfix_bracket(const Parser *parser, TokenKind kind)
{
    return parser_kind(parser) == kind && (parser_is_nesl(parser) || !parser_token(parser)->is_at_margin);
}

static Expr *parse_postfix(Parser *parser, Expr *expr, uint32_t start)
{
    for (;;) {
        if (at_postfix_bracket(parser, TOKEN_OPEN_PAREN))
            expr = parse_call(parser, expr, start);
        else if (at_postfix_bracket(parser, TOKEN_OPEN_SQUARE))
            expr = parse_index_or_slice(parser, expr, start);
        else if (parser_kind(parser) == TOKEN_DOT && !parser_is_nesl(parser))
            expr = parse_selection(parser, expr, start);
        else if (at_juxtaposed(parser))
            expr = parse_juxtaposed(parser, expr, start);
        else
            return expr;
    }
}

/* ---- if, let, lambda, prefix operators ---- */

Expr *parse_part(Parser *parser)
{
    return parse_expression(parser, parser_is_nesl(parser) ? POWER_TUPLE : POWER_ITEM);
}

static void expect_else(Parser *parser)
{
    bool had_failed = parser->has_failed;
    parser_expect(parser, TOKEN_ELSE);
    if (parser->has_failed && !had_failed && !parser->is_silent)
        diagnostics_note(parser->diagnostics, (Span){0, 0}, "every `if` has an `else`");
}

static Expr *parse_if(Parser *parser)
{
    Expr *expr = expr_new(parser, EXPR_IF, parser_start(parser));
    expr->items = ARENA_ARRAY(parser->arena, Expr *, 3);
    expr->item_count = 3;
    parser_enter(parser);
    parser_advance(parser);
    expr->items[0] = parse_part(parser);
    parser_expect(parser, TOKEN_THEN);
    expr->items[1] = parse_part(parser);
    expect_else(parser);
    expr->items[2] = parse_part(parser);
    parser_leave(parser);
    return expr_finish(parser, expr);
}

static LetBinding parse_let_binding(Parser *parser)
{
    LetBinding binding = {.pattern = parse_binding_pattern(parser)};
    if (parser_kind(parser) == TOKEN_COMMA)
        parser_fail_expected(parser, "`=`; a tuple pattern is written in parentheses: `let (a, b) = ...`");
    parser_expect(parser, TOKEN_EQUAL);
    binding.value = parse_part(parser);
    return binding;
}

static Expr *parse_let(Parser *parser)
{
    VEC(LetBinding) bindings = {0};
    Expr *expr = expr_new(parser, EXPR_LET, parser_start(parser));
    parser_enter(parser);
    parser_advance(parser);
    do
        *vec_push(parser->arena, &bindings) = parse_let_binding(parser);
    while (parser_accept(parser, TOKEN_SEMICOLON) && parser_kind(parser) != TOKEN_IN);
    if (!parser_accept(parser, TOKEN_IN))
        parser_fail_expected(parser, "`in` or `;` and a further binding of `let`");
    expr->bindings = bindings.items;
    expr->count = bindings.count;
    set_items(parser, expr, parse_part(parser), NULL);
    parser_leave(parser);
    return expr_finish(parser, expr);
}

static bool starts_lambda(const Parser *parser)
{
    uint32_t after = parser_skip_pattern(parser, parser->at);
    return after != 0 && parser_kind_at(parser, after) == TOKEN_FAT_ARROW;
}

static Expr *parse_lambda(Parser *parser)
{
    Expr *expr = expr_new(parser, EXPR_LAMBDA, parser_start(parser));
    parser_enter(parser);
    expr->pattern = parse_pattern(parser);
    parser_expect(parser, TOKEN_FAT_ARROW);
    set_items(parser, expr, parse_expression(parser, POWER_ITEM), NULL);
    parser_leave(parser);
    return expr_finish(parser, expr);
}

static bool at_negative_literal(const Parser *parser)
{
    TokenKind next = parser_kind_at(parser, parser->at + 1);
    return !parser_is_nesl(parser) && parser_kind(parser) == TOKEN_MINUS &&
           (next == TOKEN_INT || next == TOKEN_FLOAT);
}

static Expr *parse_negative_literal(Parser *parser)
{
    uint32_t start = parser_start(parser);
    parser_advance(parser);
    Expr *expr = expr_new_literal(parser);
    expr->span.start = start;
    expr->is_negative = true;
    if (expr->kind == EXPR_FLOAT)
        expr->number = -expr->number;
    return expr;
}

static Expr *parse_prefix(Parser *parser)
{
    TokenKind kind = parser_kind(parser);
    Expr *expr = expr_new(parser, EXPR_UNARY, parser_start(parser));
    expr->name = kind == TOKEN_MINUS ? names_of(parser->names, "negate") : operator_name(parser, kind);
    parser_enter(parser);
    parser_advance(parser);
    set_items(parser, expr, parse_expression(parser, POWER_PREFIX), NULL);
    parser_leave(parser);
    return expr_finish(parser, expr);
}

static bool at_prefix(const Parser *parser)
{
    TokenKind kind = parser_kind(parser);
    return kind == TOKEN_MINUS || kind == TOKEN_HASH || kind == TOKEN_AT ||
           (kind == TOKEN_AMPERSAND && !parser_is_nesl(parser));
}

/* An operand with everything that binds tighter than any infix operator. */
static Expr *parse_operand(Parser *parser, uint32_t power)
{
    uint32_t start = parser_start(parser);
    if (parser_kind(parser) == TOKEN_IF)
        return parse_if(parser);
    if (parser_kind(parser) == TOKEN_LET)
        return parse_let(parser);
    if (at_negative_literal(parser))
        return parse_postfix(parser, parse_negative_literal(parser), start);
    if (at_prefix(parser) && !is_operator_name(parser))
        return parse_prefix(parser);
    if (power < POWER_LAMBDA && starts_lambda(parser))
        return parse_lambda(parser);
    return parse_postfix(parser, parse_primary(parser), start);
}

/* ---- infix operators ---- */

/* The further components of `a, b, c`. */
static Expr *parse_tuple_rest(Parser *parser, Expr *first, uint32_t start)
{
    VEC(Expr *) items = {0};
    *vec_push(parser->arena, &items) = first;
    while (parser_accept(parser, TOKEN_COMMA))
        *vec_push(parser->arena, &items) = parse_expression(parser, POWER_ITEM);
    return join_arguments(parser, items.items, items.count, start);
}

/* Counted apart from other nesting, so that `1 + (1 + (...` may be as deep as `((...`. Each right operand inside another
 * adds a level to the tree, which would be too high in the end: failing on the way down saves the stack. */
static Expr *parse_right_operand(Parser *parser, uint32_t power)
{
    if (++parser->operator_depth > PARSE_DEPTH_MAX)
        parser_fail_too_deep(parser);
    Expr *right = parse_expression(parser, power);
    parser->operator_depth--;
    return right;
}

static Expr *parse_binary(Parser *parser, Expr *left, uint32_t start)
{
    TokenKind kind = parser_kind(parser);
    parser_advance(parser);
    Expr *right = parse_right_operand(parser, token_infos[kind].right_power);
    Expr *expr = expr_new(parser, EXPR_BINARY, start);
    expr->name = operator_name(parser, kind);
    set_items(parser, expr, left, right);
    return expr_finish(parser, expr);
}

Expr *parse_expression(Parser *parser, uint32_t power)
{
    uint32_t start = parser_start(parser);
    Expr *left = parse_operand(parser, power);
    while (token_infos[parser_kind(parser)].left_power > power) {
        if (parser_kind(parser) == TOKEN_COMMA)
            left = parse_tuple_rest(parser, left, start);
        else
            left = parse_binary(parser, left, start);
    }
    return left;
}
