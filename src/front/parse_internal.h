/* What the files of the parser share.
 *
 * Failing: the first error of a form is reported, and the parser then stands at the end of the text until the form is
 * given up. Every loop and every rule stops there by itself, so no rule checks for failure, and what they return
 * meanwhile is never looked at. */
#ifndef RUNNEL_FRONT_PARSE_INTERNAL_H
#define RUNNEL_FRONT_PARSE_INTERNAL_H

#include "front/lex.h"
#include "front/parse.h"

typedef struct Parser {
    Arena *arena;
    Names *names;
    Diagnostics *diagnostics;
    const Source *source;
    Dialect dialect;
    const Token *tokens;
    uint32_t at;    /* index of the current token */
    uint32_t end;   /* index of TOKEN_END, which is never passed */
    uint32_t depth; /* of nesting */
    uint32_t operator_depth; /* right operands inside each other */
    bool has_failed;
    bool is_silent;     /* a trial: nothing is reported */
    uint32_t failed_at; /* the token at which the form failed */
} Parser;

/* How tightly an expression must bind to be taken: operators with a left power above it belong to it. */
enum {
    POWER_TUPLE = 3,   /* a whole expression, commas included */
    POWER_ITEM = 4,    /* stops at a comma */
    POWER_LAMBDA = 5,  /* left power of `=>` */
    POWER_PREFIX = 25, /* operand of # @ - & */
};

/* ---- tokens (parse.c) ---- */

static inline TokenKind parser_kind(const Parser *parser)
{
    return (TokenKind)parser->tokens[parser->at].kind;
}

/* The kind of the token at `index`, which may lie beyond the end. */
static inline TokenKind parser_kind_at(const Parser *parser, uint32_t index)
{
    return index < parser->end ? (TokenKind)parser->tokens[index].kind : TOKEN_END;
}

static inline const Token *parser_token(const Parser *parser)
{
    return &parser->tokens[parser->at];
}

static inline uint32_t parser_start(const Parser *parser)
{
    return parser->tokens[parser->at].span.start;
}

static inline void parser_advance(Parser *parser)
{
    if (parser->at < parser->end)
        parser->at++;
}

static inline bool parser_accept(Parser *parser, TokenKind kind)
{
    if (parser_kind(parser) != kind)
        return false;
    parser_advance(parser);
    return true;
}

static inline bool parser_is_nesl(const Parser *parser)
{
    return parser->dialect == DIALECT_NESL;
}

/* From `start` to the end of the token before the current one. */
Span parser_span_from(const Parser *parser, uint32_t start);

/* Whether the token is this contextual word. */
bool parser_is_word(const Parser *parser, uint32_t index, const char *word);

/* The token as messages show it. */
const char *parser_describe(Parser *parser, uint32_t index);

/* Gives up the form. False when nothing was reported, so that notes must not be added. */
__attribute__((format(printf, 4, 5))) bool parser_fail(Parser *parser, ErrorCode code, Span span, const char *format,
                                                       ...);

/* Fails at the current token, which is not what was `expected`, with whatever hint fits. */
void parser_fail_expected(Parser *parser, const char *expected);

/* The same where a name was expected: says so when the word is reserved. */
void parser_fail_name(Parser *parser, const char *expected);

/* Takes a token of this kind or fails. */
void parser_expect(Parser *parser, TokenKind kind);

/* Takes the bracket that closes the one at index `open`, or fails and shows both. */
void parser_expect_close(Parser *parser, uint32_t open);

/* A name, or failure and 0; `what` says what the name is for. */
Name parser_expect_name(Parser *parser, const char *what);

/* Around everything that nests; fails beyond PARSE_DEPTH_MAX. */
void parser_enter(Parser *parser);
void parser_leave(Parser *parser);
void parser_fail_too_deep(Parser *parser);

/* Index of the `;` or `$` that ends the form of which `from` is the first token, or of TOKEN_END; not before `least`.
 * What surely starts another form ends it too: a definition's keyword at the start of a line. */
uint32_t parser_find_form_end(const Parser *parser, uint32_t from, uint32_t least);

/* ---- types (parse_type.c) ---- */

TypeExpr *parse_type(Parser *parser);

/* With commas at the top: `int, float`. */
TypeExpr *parse_type_list(Parser *parser);

/* Without an arrow at the top. */
TypeExpr *parse_type_atom(Parser *parser);

/* `type [:: context]`; the context is kept in the type. */
TypeExpr *parse_annotation(Parser *parser);

/* `[:: context]` */
TypeContext parse_context(Parser *parser);

/* ---- patterns (parse_pattern.c) ---- */

Pattern *parse_pattern(Parser *parser);

/* What may stand left of `=`: in .nesl with commas, in .rnl with `: type`. */
Pattern *parse_binding_pattern(Parser *parser);

Pattern *pattern_new_name(Parser *parser, Name name, Span span);
Pattern *pattern_new_tuple(Parser *parser, Pattern **items, uint32_t count, Span span);

/* `: type` after a pattern in parentheses, a parameter or a binding. */
Pattern *parse_pattern_type(Parser *parser, Pattern *pattern, uint32_t start);

/* The index after what has the outline of a single pattern at `index`; 0 if nothing there has. */
uint32_t parser_skip_pattern(const Parser *parser, uint32_t index);

/* Whether a pattern can be parsed at `index`. */
bool parser_is_pattern(Parser *parser, uint32_t index);

/* ---- expressions (parse_expression.c) ---- */

Expr *parse_expression(Parser *parser, uint32_t power);

/* A part of `if` or `let`: in NESL it takes commas. */
Expr *parse_part(Parser *parser);

Expr *expr_new(Parser *parser, ExprKind kind, uint32_t start);

/* Completes the span and the height of a node whose last token was just taken. */
Expr *expr_finish(Parser *parser, Expr *expr);

Expr *expr_new_name(Parser *parser, Name name, Span span);
Expr *expr_new_literal(Parser *parser);

/* ---- brackets (parse_brackets.c) ---- */

/* At `[` or `{`: lists, ranges and comprehensions. */
Expr *parse_brackets(Parser *parser);

/* ---- top level (parse_item.c) ---- */

/* One form with its end; null if it failed. */
Item *parse_item(Parser *parser);

#endif
