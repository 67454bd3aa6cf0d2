/* Types and their contexts. The grammar is the same in both dialects. */
#include "front/parse_internal.h"

static TypeExpr *type_new(Parser *parser, TypeExprKind kind, uint32_t start, TypeExpr **items, uint32_t count)
{
    TypeExpr *type = ARENA_NEW(parser->arena, TypeExpr);
    type->kind = kind;
    type->span = parser_span_from(parser, start);
    type->items = items;
    type->item_count = count;
    return type;
}

static TypeExpr **one_item(Parser *parser, TypeExpr *item)
{
    TypeExpr **items = ARENA_ARRAY(parser->arena, TypeExpr *, 1);
    items[0] = item;
    return items;
}

/* `t, t, ...` up to something else; the count is stored. */
static TypeExpr **parse_types(Parser *parser, uint32_t *count)
{
    VEC(TypeExpr *) items = {0};
    do
        *vec_push(parser->arena, &items) = parse_type(parser);
    while (parser_accept(parser, TOKEN_COMMA));
    *count = items.count;
    return items.items;
}

/* `[t]` or `{t}`, the name of a container variable before it already taken. */
static TypeExpr *parse_type_in_brackets(Parser *parser, TypeExprKind kind, uint32_t start)
{
    uint32_t open = parser->at;
    parser_advance(parser);
    TypeExpr *element = parse_type(parser);
    parser_expect_close(parser, open);
    return type_new(parser, kind, start, one_item(parser, element), 1);
}

static TypeExpr *parse_type_in_parentheses(Parser *parser, uint32_t start)
{
    uint32_t open = parser->at;
    parser_advance(parser);
    if (parser_accept(parser, TOKEN_CLOSE_PAREN))
        return type_new(parser, TYPE_EXPR_TUPLE, start, NULL, 0);
    uint32_t count = 0;
    TypeExpr **items = parse_types(parser, &count);
    parser_expect_close(parser, open);
    return count == 1 ? items[0] : type_new(parser, TYPE_EXPR_TUPLE, start, items, count);
}

/* `int`, `hashtable(int, [char])` or, with the bracket directly after the name, `c[t]`. */
static TypeExpr *parse_named_type(Parser *parser, uint32_t start)
{
    Name name = parser_token(parser)->name;
    parser_advance(parser);
    TypeExpr *type;
    const Token *next = parser_token(parser);
    if (next->kind == TOKEN_OPEN_SQUARE && next->is_adjacent) {
        type = parse_type_in_brackets(parser, TYPE_EXPR_CONTAINER, start);
    } else if (next->kind == TOKEN_OPEN_PAREN && (next->is_adjacent || parser_is_nesl(parser))) {
        uint32_t open = parser->at;
        uint32_t count = 0;
        parser_advance(parser);
        TypeExpr **arguments = parse_types(parser, &count);
        parser_expect_close(parser, open);
        type = type_new(parser, TYPE_EXPR_NAME, start, arguments, count);
    } else {
        type = type_new(parser, TYPE_EXPR_NAME, start, NULL, 0);
    }
    type->name = name;
    return type;
}

static TypeExpr *parse_type_primary(Parser *parser)
{
    uint32_t start = parser_start(parser);
    switch ((int)parser_kind(parser)) {
    case TOKEN_NAME:
        return parse_named_type(parser, start);
    case TOKEN_OPEN_SQUARE:
        return parse_type_in_brackets(parser, TYPE_EXPR_VECTOR, start);
    case TOKEN_OPEN_BRACE:
        return parse_type_in_brackets(parser, TYPE_EXPR_SEQUENCE, start);
    case TOKEN_OPEN_PAREN:
        return parse_type_in_parentheses(parser, start);
    }
    parser_fail_expected(parser, "a type");
    return type_new(parser, TYPE_EXPR_TUPLE, start, NULL, 0);
}

TypeExpr *parse_type_atom(Parser *parser)
{
    parser_enter(parser);
    TypeExpr *type = parse_type_primary(parser);
    parser_leave(parser);
    return type;
}

TypeExpr *parse_type(Parser *parser)
{
    uint32_t start = parser_start(parser);
    TypeExpr *argument = parse_type_atom(parser);
    if (!parser_accept(parser, TOKEN_READ))
        return argument;
    TypeExpr **items = ARENA_ARRAY(parser->arena, TypeExpr *, 2);
    items[0] = argument;
    parser_enter(parser);
    items[1] = parse_type(parser);
    parser_leave(parser);
    return type_new(parser, TYPE_EXPR_FUNCTION, start, items, 2);
}

TypeExpr *parse_type_list(Parser *parser)
{
    uint32_t start = parser_start(parser);
    uint32_t count = 0;
    TypeExpr **items = parse_types(parser, &count);
    return count == 1 ? items[0] : type_new(parser, TYPE_EXPR_TUPLE, start, items, count);
}

static ClassConstraint parse_constraint(Parser *parser)
{
    uint32_t start = parser_start(parser);
    ClassConstraint constraint = {0};
    constraint.variable = parser_expect_name(parser, "a type variable");
    parser_expect(parser, TOKEN_IN);
    constraint.class_name = parser_expect_name(parser, "a class: any, number, ordinal or logical");
    constraint.span = parser_span_from(parser, start);
    return constraint;
}

/* Without parentheses a `;` goes on with the context only if a constraint follows: it may end the form. */
static bool accept_constraint_separator(Parser *parser, bool is_in_parentheses)
{
    if (!is_in_parentheses && (parser_kind_at(parser, parser->at + 1) != TOKEN_NAME ||
                               parser_kind_at(parser, parser->at + 2) != TOKEN_IN))
        return false;
    return parser_accept(parser, TOKEN_SEMICOLON) || (is_in_parentheses && parser_accept(parser, TOKEN_COMMA));
}

TypeContext parse_context(Parser *parser)
{
    VEC(ClassConstraint) constraints = {0};
    if (!parser_accept(parser, TOKEN_COLON_COLON))
        return (TypeContext){0};
    uint32_t open = parser->at;
    bool is_in_parentheses = parser_accept(parser, TOKEN_OPEN_PAREN);
    do
        *vec_push(parser->arena, &constraints) = parse_constraint(parser);
    while (accept_constraint_separator(parser, is_in_parentheses));
    if (is_in_parentheses)
        parser_expect_close(parser, open);
    return (TypeContext){.items = constraints.items, .count = constraints.count};
}

TypeExpr *parse_annotation(Parser *parser)
{
    TypeExpr *type = parse_type(parser);
    if (parser_kind(parser) == TOKEN_COLON_COLON) {
        type->context = ARENA_NEW(parser->arena, TypeContext);
        *type->context = parse_context(parser);
    }
    return type;
}
