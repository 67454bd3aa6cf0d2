/* The parser's entry points, its view of the tokens, and how it fails and recovers. */
#include "front/parse_internal.h"

#include <stdio.h>
#include <string.h>

Span parser_span_from(const Parser *parser, uint32_t start)
{
    uint32_t end = parser->at == 0 ? start : parser->tokens[parser->at - 1].span.end;
    return (Span){start, end < start ? start : end};
}

bool parser_is_word(const Parser *parser, uint32_t index, const char *word)
{
    return parser_kind_at(parser, index) == TOKEN_NAME &&
           strcmp(names_text(parser->names, parser->tokens[index].name), word) == 0;
}

/* ---- failing ---- */

enum { SHOWN_TOKEN_MAX = 40, MESSAGE_MAX = 400 };

const char *parser_describe(Parser *parser, uint32_t index)
{
    const Token *token = &parser->tokens[index];
    if (token->kind == TOKEN_END)
        return "the end of the text";
    if (token->kind == TOKEN_STRING)
        return "a string";
    if (token->kind == TOKEN_CHAR)
        return "a char";
    uint32_t length = token->span.end - token->span.start;
    const char *more = length > SHOWN_TOKEN_MAX ? "..." : "";
    if (length > SHOWN_TOKEN_MAX)
        length = SHOWN_TOKEN_MAX;
    const char *text = parser->source->text + (token->span.start - parser->source->base);
    return arena_format(parser->arena, "`%.*s%s`", (int)length, text, more);
}

bool parser_fail(Parser *parser, ErrorCode code, Span span, const char *format, ...)
{
    if (parser->has_failed)
        return false;
    parser->has_failed = true;
    parser->failed_at = parser->at;
    parser->at = parser->end;
    if (parser->is_silent)
        return false;
    char message[MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    diagnostics_error(parser->diagnostics, code, span, "%s", message);
    return true;
}

/* Found where they cannot stand, these tokens tell what the writer probably meant. */
static const struct {
    Dialect dialect;
    TokenKind kind;
    const char *hint;
} token_hints[] = {
    {DIALECT_RUNNEL, TOKEN_EQUAL, "equality is written `==`"},
    {DIALECT_NESL, TOKEN_EQUAL, "equality is written `==`; if this starts a new binding, a `;` is missing before it"},
    {DIALECT_RUNNEL, TOKEN_AMPERSAND, "logical conjunction is written `and`"},
    {DIALECT_RUNNEL, TOKEN_FAT_ARROW, "the left side of `=>` must be a pattern such as `x` or `(a, b)`"},
    {DIALECT_NESL, TOKEN_FAT_ARROW, "the left side of `=>` must be a pattern such as `x` or `(a, b)`"},
    {DIALECT_RUNNEL, TOKEN_COLON_EQUAL, "`name := value` is for arguments of calls and parameters"},
    {DIALECT_NESL, TOKEN_COLON_EQUAL, "`name := value` is for arguments of calls and parameters"},
    {DIALECT_RUNNEL, TOKEN_IN, "what stands before `in` must be a pattern such as `x` or `(a, b)`"},
    {DIALECT_RUNNEL, TOKEN_RANGE_BELOW, "ranges are written in brackets: `[a ..< b]`"},
    {DIALECT_RUNNEL, TOKEN_RANGE_UPTO, "ranges are written in brackets: `[a ..= b]`"},
};

/* NESL's tokens for what Runnel leaves out. */
static const struct {
    TokenKind kind;
    const char *message;
} tokens_not_provided[] = {
    {TOKEN_BANG, "the Lisp escape `!` is not provided"},
    {TOKEN_BAR_EQUAL, "storing a value in a file with `|=` is not provided"},
    {TOKEN_AMPERSAND_EQUAL, "running in the background with `&=` is not provided"},
};

static bool starts_argument(TokenKind kind)
{
    return kind == TOKEN_NAME || (kind >= TOKEN_INT && kind <= TOKEN_STRING) || kind == TOKEN_TRUE ||
           kind == TOKEN_FALSE;
}

/* Words that begin a form in other languages. */
static const struct {
    const char *word, *hint;
} foreign_words[] = {
    {"def", "a function is written `function name(parameters) = expression`"},
    {"fun", "a function is written `function name(parameters) = expression`"},
    {"func", "a function is written `function name(parameters) = expression`"},
    {"fn", "a function is written `function name(parameters) = expression`"},
    {"var", "a binding is written `name = expression;`"},
    {"val", "a binding is written `name = expression;`"},
    {"const", "a binding is written `name = expression;`"},
    {"for", "`{e : x in xs}` computes e for each element"},
    {"while", "a loop is a recursive function"},
    {"return", "the body of a function is one expression, and its value the result"},
};

/* Words that stand between operands in other languages. */
static const struct {
    const char *word, *hint;
} foreign_infixes[] = {
    {"mod", "`mod` is a function: `mod(a, b)`"},
    {"rem", "`rem` is a function: `rem(a, b)`"},
    {"min", "`min` is a function: `min(a, b)`"},
    {"max", "`max` is a function: `max(a, b)`"},
    {"div", "division of integers is written `/`"},
    {"for", "`{e : x in xs}` computes e for each element"},
    {"where", "a condition stands after a bar: `{e : x in xs | condition}`"},
};

/* False if there is nothing to say. */
static bool note_infix(Parser *parser, uint32_t index)
{
    if (index == 0 || parser_kind_at(parser, index) != TOKEN_NAME || parser->tokens[index].is_first_on_line)
        return false;
    const char *word = names_text(parser->names, parser->tokens[index].name);
    for (size_t i = 0; i < sizeof foreign_infixes / sizeof *foreign_infixes; i++)
        if (strcmp(foreign_infixes[i].word, word) == 0) {
            diagnostics_note(parser->diagnostics, (Span){0, 0}, "%s", foreign_infixes[i].hint);
            return true;
        }
    return false;
}

/* `f x` looks natural to whoever knows NESL. */
static void note_juxtaposition(Parser *parser, uint32_t index)
{
    if (parser_is_nesl(parser) || index == 0 || parser->tokens[index].is_first_on_line)
        return;
    if (!starts_argument(parser_kind_at(parser, index)) || parser_kind_at(parser, index - 1) != TOKEN_NAME)
        return;
    const char *word = names_text(parser->names, parser->tokens[index - 1].name);
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++)
        if (strcmp(foreign_words[i].word, word) == 0) {
            diagnostics_note(parser->diagnostics, (Span){0, 0}, "%s", foreign_words[i].hint);
            return;
        }
    diagnostics_note(parser->diagnostics, (Span){0, 0}, "to apply a function, write its argument in parentheses: `%s(...)`",
                     word);
}

static void note_hints(Parser *parser, uint32_t index)
{
    for (size_t i = 0; i < sizeof token_hints / sizeof *token_hints; i++)
        if (token_hints[i].dialect == parser->dialect && token_hints[i].kind == parser_kind_at(parser, index))
            diagnostics_note(parser->diagnostics, (Span){0, 0}, "%s", token_hints[i].hint);
    if (!note_infix(parser, index))
        note_juxtaposition(parser, index);
}

/* Whether the current token is one of NESL's that are not provided; the form fails if so. */
static bool fail_not_provided(Parser *parser)
{
    for (size_t i = 0; i < sizeof tokens_not_provided / sizeof *tokens_not_provided; i++)
        if (tokens_not_provided[i].kind == parser_kind(parser)) {
            parser_fail(parser, ERROR_NOT_PROVIDED, parser_token(parser)->span, "%s", tokens_not_provided[i].message);
            return true;
        }
    return false;
}

void parser_fail_expected(Parser *parser, const char *expected)
{
    if (parser->has_failed || fail_not_provided(parser))
        return;
    uint32_t index = parser->at;
    const char *found = parser->is_silent ? "" : parser_describe(parser, index);
    if (parser_fail(parser, ERROR_SYNTAX, parser_token(parser)->span, "found %s, expected %s", found, expected))
        note_hints(parser, index);
}

void parser_expect(Parser *parser, TokenKind kind)
{
    if (parser_accept(parser, kind) || parser->has_failed)
        return;
    char expected[16];
    snprintf(expected, sizeof expected, "`%s`", token_infos[kind].spelling[parser->dialect]);
    parser_fail_expected(parser, expected);
}

void parser_expect_close(Parser *parser, uint32_t open)
{
    bool had_failed = parser->has_failed || parser->is_silent;
    bool is_range = parser_kind(parser) == TOKEN_COLON && parser->tokens[open].kind == TOKEN_OPEN_PAREN;
    parser_expect(parser, (TokenKind)(parser->tokens[open].kind + 1));
    if (!parser->has_failed || had_failed)
        return;
    diagnostics_note(parser->diagnostics, parser->tokens[open].span, "the opening bracket is here");
    if (is_range)
        diagnostics_note(parser->diagnostics, (Span){0, 0}, "a range is written `[a:b]`, or `{a:b}` as a sequence");
}

void parser_fail_name(Parser *parser, const char *expected)
{
    TokenKind kind = parser_kind(parser);
    if (kind >= TOKEN_TRUE && kind <= TOKEN_XOR)
        parser_fail(parser, ERROR_RESERVED_NAME, parser_token(parser)->span,
                    "found `%s`, which is reserved and cannot be bound; expected %s",
                    token_infos[kind].spelling[parser->dialect], expected);
    else
        parser_fail_expected(parser, expected);
}

Name parser_expect_name(Parser *parser, const char *what)
{
    Name name = parser_kind(parser) == TOKEN_NAME ? parser_token(parser)->name : 0;
    if (!parser_accept(parser, TOKEN_NAME))
        parser_fail_name(parser, what);
    return name;
}

void parser_fail_too_deep(Parser *parser)
{
    parser_fail(parser, ERROR_NESTING_TOO_DEEP, parser_token(parser)->span,
                "this is nested more than %d levels deep", PARSE_DEPTH_MAX);
}

void parser_enter(Parser *parser)
{
    if (++parser->depth > PARSE_DEPTH_MAX)
        parser_fail_too_deep(parser);
}

void parser_leave(Parser *parser)
{
    parser->depth--;
}

/* ---- forms ---- */

/* Watches tokens go by and knows whether a `;` would end the form: not inside brackets, not between `let` and `in`. */
typedef struct FormTracker {
    uint32_t open_brackets;
    uint32_t open_lets; /* outside brackets */
} FormTracker;

static bool form_is_open(const FormTracker *tracker)
{
    return tracker->open_brackets > 0 || tracker->open_lets > 0;
}

static void track_token(FormTracker *tracker, TokenKind kind)
{
    if (token_is_open(kind))
        tracker->open_brackets++;
    else if (token_is_close(kind) && tracker->open_brackets > 0)
        tracker->open_brackets--;
    else if (kind == TOKEN_LET && tracker->open_brackets == 0)
        tracker->open_lets++;
    else if (kind == TOKEN_IN && tracker->open_brackets == 0 && tracker->open_lets > 0)
        tracker->open_lets--;
}

static bool starts_definition(TokenKind kind)
{
    return kind == TOKEN_FUNCTION || kind == TOKEN_DATATYPE || kind == TOKEN_IMPORT;
}

/* Whether a form starts at the token although no `;` stands before it. Definitions of .rnl need none, so after one
 * of them whatever stands in the first column counts. */
static bool starts_next_form(const Token *token, bool is_after_definition)
{
    if (is_after_definition && token->is_at_margin && !token_is_close((TokenKind)token->kind))
        return true;
    return token->is_first_on_line && starts_definition((TokenKind)token->kind);
}

/* After a `;`, even where a bracket seems open, what stands in the first column is most likely a new form. */
static bool is_in_first_column(const Parser *parser, uint32_t index)
{
    const Token *token = &parser->tokens[index];
    TokenKind kind = (TokenKind)token->kind;
    if (kind == TOKEN_END || kind == TOKEN_IN || token_is_close(kind))
        return false;
    uint32_t offset = token->span.start - parser->source->base;
    return offset > 0 && parser->source->text[offset - 1] == '\n';
}

uint32_t parser_find_form_end(const Parser *parser, uint32_t from, uint32_t least)
{
    FormTracker tracker = {0};
    bool is_definition = !parser_is_nesl(parser) && starts_definition(parser_kind_at(parser, from));
    for (uint32_t i = from; i < parser->end; i++) {
        const Token *token = &parser->tokens[i];
        if (i >= least && i > from && starts_next_form(token, is_definition))
            return i;
        if (i >= least && token_ends_form((TokenKind)token->kind) &&
            (!form_is_open(&tracker) || is_in_first_column(parser, i + 1)))
            return i;
        track_token(&tracker, (TokenKind)token->kind);
    }
    return parser->end;
}

/* Skips the rest of the failed form that started at `from`. */
static void recover(Parser *parser, uint32_t from)
{
    parser->has_failed = false;
    parser->depth = 0;
    parser->operator_depth = 0;
    parser->at = parser_find_form_end(parser, from, parser->failed_at);
    if (token_ends_form(parser_kind(parser)))
        parser_advance(parser);
}

static Parser parser_new(Arena *arena, Names *names, Diagnostics *diagnostics, const Source *source)
{
    Tokens tokens = lex_source(arena, names, diagnostics, source);
    return (Parser){
        .arena = arena,
        .names = names,
        .diagnostics = diagnostics,
        .source = source,
        .dialect = source->dialect,
        .tokens = tokens.list,
        .end = tokens.count - 1,
    };
}

/* Whether a broken item is worth keeping for the names it defines. A broken command must not be carried out. */
static bool defines_names(const Item *item)
{
    if (item->kind == ITEM_BINDING)
        return item->pattern != NULL;
    return (item->kind == ITEM_FUNCTION || item->kind == ITEM_STUB || item->kind == ITEM_DATATYPE) && item->name != 0;
}

Items parse_source(Arena *arena, Names *names, Diagnostics *diagnostics, const Source *source)
{
    Parser parser = parser_new(arena, names, diagnostics, source);
    VEC(Item *) items = {0};
    while (parser_kind(&parser) != TOKEN_END || parser.has_failed) {
        uint32_t start = parser.at;
        if (token_ends_form(parser_kind(&parser))) {
            parser_advance(&parser);
            continue;
        }
        Item *item = parse_item(&parser);
        item->is_broken = parser.has_failed;
        if (item->is_broken)
            recover(&parser, start);
        if (!item->is_broken || defines_names(item))
            *vec_push(arena, &items) = item;
    }
    return (Items){.list = items.items, .count = items.count};
}

TypeExpr *parse_type_text(Arena *arena, Names *names, Diagnostics *diagnostics, const Source *source,
                          TypeContext *context)
{
    Parser parser = parser_new(arena, names, diagnostics, source);
    TypeExpr *type = parse_type_list(&parser);
    *context = parse_context(&parser);
    if (parser_kind(&parser) != TOKEN_END)
        parser_fail_expected(&parser, "the end of the type");
    return parser.has_failed ? NULL : type;
}

/* ---- interactive input ---- */

/* What the text read so far still waits for, at top level. */
typedef struct InputTracker {
    FormTracker form;
    uint32_t open_ifs;   /* without their `else` */
    bool has_tokens;     /* since the last form ended */
    bool wants_equal;    /* `function` without its `=` */
    TokenKind last;
} InputTracker;

static void track_input(InputTracker *input, TokenKind kind)
{
    input->last = kind;
    if (token_ends_form(kind) && !form_is_open(&input->form)) {
        *input = (InputTracker){.last = kind};
        return;
    }
    input->has_tokens = true;
    track_token(&input->form, kind);
    if (input->form.open_brackets > 0)
        return;
    if (kind == TOKEN_FUNCTION)
        input->wants_equal = true;
    else if (kind == TOKEN_EQUAL)
        input->wants_equal = false;
    else if (kind == TOKEN_IF)
        input->open_ifs++;
    else if (kind == TOKEN_ELSE && input->open_ifs > 0)
        input->open_ifs--;
}

/* Whether something must follow the token: an operator, a keyword, a separator. */
static bool wants_more(TokenKind kind)
{
    if (token_infos[kind].left_power > 0)
        return true;
    switch ((int)kind) {
    case TOKEN_FUNCTION:
    case TOKEN_DATATYPE:
    case TOKEN_IMPORT:
    case TOKEN_LET:
    case TOKEN_IN:
    case TOKEN_IF:
    case TOKEN_THEN:
    case TOKEN_ELSE:
    case TOKEN_COLON:
    case TOKEN_COLON_COLON:
    case TOKEN_COLON_EQUAL:
    case TOKEN_EQUAL:
    case TOKEN_FAT_ARROW:
    case TOKEN_DOT:
    case TOKEN_HASH:
    case TOKEN_AT:
    case TOKEN_AMPERSAND:
        return true;
    }
    return false;
}

bool parse_is_unfinished(Memory *memory, const char *text, size_t length, Dialect dialect)
{
    (void)memory; /* lexemes need none */
    Lexer lexer = {.text = text, .length = (uint32_t)length, .dialect = dialect};
    InputTracker input = {0};
    for (;;) {
        Lexeme lexeme = lexer_next(&lexer);
        if (lexeme.fault == FAULT_UNFINISHED_COMMENT)
            return true;
        /* A string of .rnl ends on its line, so further lines would not help it. */
        if (lexeme.fault == FAULT_UNFINISHED_STRING && dialect == DIALECT_NESL)
            return true;
        if (lexeme.kind != TOKEN_END)
            track_input(&input, lexeme.kind);
        else if (lexeme.fault == FAULT_NONE)
            break;
    }
    if (dialect == DIALECT_NESL || !input.has_tokens)
        return input.has_tokens;
    return form_is_open(&input.form) || input.open_ifs > 0 || input.wants_equal || wants_more(input.last);
}
