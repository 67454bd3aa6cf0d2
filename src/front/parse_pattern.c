/* Patterns, and the questions about what follows them that tell generators, bindings and lambdas from expressions. */
#include "front/parse_internal.h"

static Pattern *pattern_new(Parser *parser, PatternKind kind, Span span)
{
    Pattern *pattern = ARENA_NEW(parser->arena, Pattern);
    pattern->kind = kind;
    pattern->span = span;
    return pattern;
}

Pattern *pattern_new_name(Parser *parser, Name name, Span span)
{
    Pattern *pattern = pattern_new(parser, PATTERN_NAME, span);
    pattern->name = name;
    return pattern;
}

Pattern *pattern_new_tuple(Parser *parser, Pattern **items, uint32_t count, Span span)
{
    if (count == 1)
        return items[0];
    Pattern *pattern = pattern_new(parser, PATTERN_TUPLE, span);
    pattern->items = items;
    pattern->item_count = count;
    return pattern;
}

static Pattern **one_item(Parser *parser, Pattern *item)
{
    Pattern **items = ARENA_ARRAY(parser->arena, Pattern *, 1);
    items[0] = item;
    return items;
}

Pattern *parse_pattern_type(Parser *parser, Pattern *pattern, uint32_t start)
{
    if (parser_kind(parser) != TOKEN_COLON)
        return pattern;
    if (parser_is_nesl(parser)) {
        parser_fail(parser, ERROR_NOT_IN_DIALECT, parser_token(parser)->span,
                    "NESL has no types in patterns; a function's type stands after its parameters");
        return pattern;
    }
    parser_advance(parser);
    TypeExpr *type = parse_annotation(parser);
    Pattern *typed = pattern_new(parser, PATTERN_TYPED, parser_span_from(parser, start));
    typed->items = one_item(parser, pattern);
    typed->item_count = 1;
    typed->type = type;
    return typed;
}

/* At `(`: unit, a pattern in parentheses, or a tuple. */
static Pattern *parse_pattern_in_parentheses(Parser *parser)
{
    uint32_t start = parser_start(parser);
    uint32_t open = parser->at;
    VEC(Pattern *) items = {0};
    parser_advance(parser);
    if (parser_kind(parser) == TOKEN_CLOSE_PAREN && parser_is_nesl(parser))
        parser_fail_expected(parser, "a pattern; NESL has no empty tuple");
    if (parser_kind(parser) != TOKEN_CLOSE_PAREN)
        do {
            uint32_t item_start = parser_start(parser);
            Pattern *item = parse_pattern(parser);
            *vec_push(parser->arena, &items) = parse_pattern_type(parser, item, item_start);
        } while (parser_accept(parser, TOKEN_COMMA));
    parser_expect_close(parser, open);
    return pattern_new_tuple(parser, items.items, items.count, parser_span_from(parser, start));
}

/* A name, `_`, or a constructor with its argument. */
static Pattern *parse_named_pattern(Parser *parser)
{
    uint32_t start = parser_start(parser);
    bool is_wildcard = !parser_is_nesl(parser) && parser_is_word(parser, parser->at, "_");
    Name name = parser_token(parser)->name;
    Span span = parser_token(parser)->span;
    parser_advance(parser);
    if (is_wildcard)
        return pattern_new(parser, PATTERN_WILDCARD, span);
    if (parser_kind(parser) != TOKEN_OPEN_PAREN)
        return pattern_new_name(parser, name, span);
    Pattern *argument = parse_pattern_in_parentheses(parser);
    Pattern *pattern = pattern_new(parser, PATTERN_CONSTRUCTOR, parser_span_from(parser, start));
    pattern->name = name;
    pattern->items = one_item(parser, argument);
    pattern->item_count = 1;
    return pattern;
}

Pattern *parse_pattern(Parser *parser)
{
    Pattern *pattern = NULL;
    parser_enter(parser);
    if (parser_kind(parser) == TOKEN_NAME) {
        pattern = parse_named_pattern(parser);
    } else if (parser_kind(parser) == TOKEN_OPEN_PAREN) {
        pattern = parse_pattern_in_parentheses(parser);
    } else {
        parser_fail_name(parser, "a name or a pattern such as `(a, b)`");
        pattern = pattern_new(parser, PATTERN_WILDCARD, parser_token(parser)->span);
    }
    parser_leave(parser);
    return pattern;
}

Pattern *parse_binding_pattern(Parser *parser)
{
    uint32_t start = parser_start(parser);
    Pattern *first = parse_pattern(parser);
    if (!parser_is_nesl(parser))
        return parse_pattern_type(parser, first, start);
    VEC(Pattern *) items = {0};
    *vec_push(parser->arena, &items) = first;
    while (parser_accept(parser, TOKEN_COMMA))
        *vec_push(parser->arena, &items) = parse_pattern(parser);
    return pattern_new_tuple(parser, items.items, items.count, parser_span_from(parser, start));
}

uint32_t parser_skip_pattern(const Parser *parser, uint32_t index)
{
    if (parser_kind_at(parser, index) == TOKEN_NAME) {
        index++;
        if (parser_kind_at(parser, index) != TOKEN_OPEN_PAREN)
            return index;
    }
    if (parser_kind_at(parser, index) != TOKEN_OPEN_PAREN || parser->tokens[index].extra == 0)
        return 0;
    return parser->tokens[index].extra + 1;
}

bool parser_is_pattern(Parser *parser, uint32_t index)
{
    Parser trial = *parser;
    trial.is_silent = true;
    trial.at = index;
    trial.depth = 0; /* nesting too deep is for the real parse to report */
    parse_pattern(&trial);
    return !trial.has_failed;
}
