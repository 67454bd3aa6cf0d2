/* Tokens: lexemes with their values, faults reported, brackets paired. */
#include "front/lex.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct LexJob {
    Arena *arena;
    Names *names;
    Diagnostics *diagnostics;
    const Source *source;
    VEC(Token) tokens;
    VEC(uint32_t) open; /* indices of brackets not yet closed */
} LexJob;

static Span span_of(const LexJob *job, uint32_t start, uint32_t end)
{
    return (Span){job->source->base + start, job->source->base + end};
}

/* ---- faults ---- */

static const struct {
    Dialect dialect;
    char character;
    const char *hint;
} character_hints[] = {
    {DIALECT_RUNNEL, '%', "the remainder is `rem(a, b)` or `mod(a, b)`; comments start with `--`"},
    {DIALECT_RUNNEL, '!', "\"not equal\" is `/=`, logical negation is `not(x)`"},
    {DIALECT_RUNNEL, '`', "a char is written 'a'"},
    {DIALECT_RUNNEL, '$', "forms end with `;`"},
};

static void report_bad_character(LexJob *job, const Lexeme *lexeme)
{
    char c = job->source->text[lexeme->start];
    Span span = span_of(job, lexeme->start, lexeme->end);
    if (c <= ' ' || c > '~') {
        diagnostics_error(job->diagnostics, ERROR_BAD_CHARACTER, span,
                          "found byte 0x%02x, which has no meaning outside strings and comments", (unsigned char)c);
        return;
    }
    diagnostics_error(job->diagnostics, ERROR_BAD_CHARACTER, span, "found `%c`, which has no meaning here", c);
    for (size_t i = 0; i < sizeof character_hints / sizeof *character_hints; i++)
        if (character_hints[i].dialect == job->source->dialect && character_hints[i].character == c)
            diagnostics_note(job->diagnostics, (Span){0, 0}, "%s", character_hints[i].hint);
}

static void report_fault(LexJob *job, const Lexeme *lexeme)
{
    Span span = span_of(job, lexeme->start, lexeme->end);
    Diagnostics *diagnostics = job->diagnostics;
    switch (lexeme->fault) {
    case FAULT_NONE:
        break;
    case FAULT_BAD_CHARACTER:
        report_bad_character(job, lexeme);
        break;
    case FAULT_UNFINISHED_COMMENT:
        diagnostics_error(diagnostics, ERROR_UNFINISHED_COMMENT, span_of(job, lexeme->start, lexeme->start + 1),
                          "this comment has no closing `%%`");
        break;
    case FAULT_UNFINISHED_STRING:
        diagnostics_error(diagnostics, ERROR_UNFINISHED_STRING, span, "this string has no closing `\"`%s",
                          job->source->dialect == DIALECT_RUNNEL ? " on its line" : "");
        break;
    case FAULT_UNFINISHED_CHAR:
        diagnostics_error(diagnostics, ERROR_UNFINISHED_STRING, span,
                          job->source->dialect == DIALECT_RUNNEL ? "this char has no closing `'` on its line"
                                                                 : "a back-quote must be followed by a character");
        break;
    case FAULT_BAD_NUMBER:
        diagnostics_error(diagnostics, ERROR_BAD_NUMBER, span, "`%.*s` is not a number; names start with a letter",
                          (int)(lexeme->end - lexeme->start > 60 ? 60 : lexeme->end - lexeme->start),
                          job->source->text + lexeme->start);
        break;
    case FAULT_BAD_QUOTE:
        diagnostics_error(diagnostics, ERROR_SYNTAX, span, "`'` must be directly followed by a name or an operator");
        break;
    }
}

/* ---- numbers ---- */

static uint32_t digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    return (uint32_t)((c | 0x20) - 'a') + 10;
}

/* NESL's integers wrap; those of .rnl must fit in 64 bits. */
static uint64_t read_integer(LexJob *job, const Lexeme *lexeme)
{
    const char *text = job->source->text + lexeme->start;
    uint32_t length = lexeme->end - lexeme->start;
    uint32_t base = 10, i = 0;
    char marker = length > 2 && text[0] == '0' ? (char)(text[1] | 0x20) : '\0';
    if (job->source->dialect == DIALECT_RUNNEL && (marker == 'x' || marker == 'b')) {
        base = marker == 'x' ? 16 : 2;
        i = 2;
    }
    uint64_t value = 0;
    bool is_too_large = false;
    for (; i < length; i++) {
        if (text[i] == '_')
            continue;
        uint64_t digit = digit_value(text[i]);
        is_too_large |= value > (UINT64_MAX - digit) / base;
        value = value * base + digit;
    }
    if (is_too_large && job->source->dialect == DIALECT_RUNNEL)
        diagnostics_error(job->diagnostics, ERROR_BAD_NUMBER, span_of(job, lexeme->start, lexeme->end),
                          "this integer is larger than 18446744073709551615, the largest of any type");
    return value;
}

static double read_float(LexJob *job, const Lexeme *lexeme)
{
    /* A copy, since what follows the number in the source could be read as part of it. */
    char *digits = arena_text(job->arena, job->source->text + lexeme->start, lexeme->end - lexeme->start);
    char *to = digits;
    for (const char *from = digits; *from != '\0'; from++)
        if (*from != '_')
            *to++ = *from;
    *to = '\0';
    double value = strtod(digits, NULL);
    if (isinf(value))
        diagnostics_error(job->diagnostics, ERROR_BAD_NUMBER, span_of(job, lexeme->start, lexeme->end),
                          "this float is larger than 1.7976931348623157e308, the largest there is");
    return value;
}

/* ---- texts ---- */

static const struct {
    char letter;
    char meaning;
} simple_escapes[] = {
    {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'\\', '\\'}, {'"', '"'}, {'\'', '\''},
    {'a', '\a'}, {'b', '\b'}, {'f', '\f'}, {'v', '\v'},  {'?', '?'},
};

static bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static bool is_octal_digit(char c)
{
    return c >= '0' && c <= '7';
}

/* The value of up to `limit` digits at *at, moving it past them. */
static uint32_t read_escape_digits(const char *text, uint32_t *at, uint32_t end, uint32_t base, uint32_t limit)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < limit && *at < end; i++, (*at)++) {
        if (base == 16 ? !is_hex_digit(text[*at]) : !is_octal_digit(text[*at]))
            break;
        value = value * base + digit_value(text[*at]);
    }
    return value;
}

/* One escape of .rnl; *at is just past the backslash. Reports those that mean nothing. */
static char read_escape(LexJob *job, uint32_t *at, uint32_t end)
{
    const char *text = job->source->text;
    uint32_t start = *at - 1;
    char letter = text[*at];
    for (size_t i = 0; i < sizeof simple_escapes / sizeof *simple_escapes; i++)
        if (simple_escapes[i].letter == letter) {
            (*at)++;
            return simple_escapes[i].meaning;
        }
    uint32_t value = UINT32_MAX;
    if (letter == 'x' && *at + 1 < end && is_hex_digit(text[*at + 1])) {
        (*at)++;
        value = read_escape_digits(text, at, end, 16, 2);
    } else if (is_octal_digit(letter)) {
        value = read_escape_digits(text, at, end, 8, 3);
    } else {
        (*at)++;
    }
    if (value > 255)
        diagnostics_error(job->diagnostics, ERROR_BAD_ESCAPE, span_of(job, start, *at),
                          "found an escape that means nothing; there are \\n \\t \\r \\0 \\\\ \\\" \\' \\a \\b \\f \\v "
                          "\\xHH and octal \\ooo up to \\377");
    return (char)(unsigned char)value;
}

/* The bytes a quoted text stands for; its quotes are not in [at, end). */
static char *decode(LexJob *job, uint32_t at, uint32_t end, uint32_t *length)
{
    const char *text = job->source->text;
    char *bytes = arena_alloc(job->arena, (size_t)(end - at) + 1);
    uint32_t count = 0;
    while (at < end) {
        char c = text[at++];
        if (c == '\\' && at < end)
            c = job->source->dialect == DIALECT_NESL ? text[at++] : read_escape(job, &at, end);
        bytes[count++] = c;
    }
    *length = count;
    return bytes;
}

static void read_string(LexJob *job, const Lexeme *lexeme, Token *token)
{
    uint32_t end = lexeme->end - (lexeme->fault == FAULT_NONE);
    token->text = decode(job, lexeme->start + 1, end, &token->extra);
}

static uint64_t read_char(LexJob *job, const Lexeme *lexeme)
{
    if (lexeme->fault != FAULT_NONE)
        return 0;
    if (job->source->dialect == DIALECT_NESL)
        return (unsigned char)job->source->text[lexeme->start + 1];
    uint32_t length = 0;
    const char *bytes = decode(job, lexeme->start + 1, lexeme->end - 1, &length);
    if (length != 1)
        diagnostics_error(job->diagnostics, ERROR_SYNTAX, span_of(job, lexeme->start, lexeme->end),
                          "a char is one byte, found %u; a string is written \"...\"", length);
    return (unsigned char)bytes[0];
}

static Name read_name(LexJob *job, const Lexeme *lexeme)
{
    uint32_t start = lexeme->start + lexeme->is_quoted;
    uint32_t length = lexeme->end - start;
    const char *text = job->source->text + start;
    if (job->source->dialect == DIALECT_RUNNEL)
        return names_intern(job->names, text, length);
    char *folded = arena_text(job->arena, text, length);
    for (uint32_t i = 0; i < length; i++)
        if (folded[i] >= 'A' && folded[i] <= 'Z')
            folded[i] = (char)(folded[i] - 'A' + 'a');
    return names_intern(job->names, folded, length);
}

static void read_value(LexJob *job, const Lexeme *lexeme, Token *token)
{
    if (lexeme->kind == TOKEN_NAME && lexeme->fault == FAULT_NONE)
        token->name = read_name(job, lexeme);
    else if (lexeme->kind == TOKEN_NAME)
        token->name = names_of(job->names, "'");
    else if (lexeme->kind == TOKEN_STRING)
        read_string(job, lexeme, token);
    else if (lexeme->kind == TOKEN_CHAR)
        token->magnitude = read_char(job, lexeme);
    else if (lexeme->kind == TOKEN_INT) /* 1 is right wherever a number is, so that one error does not cause another */
        token->magnitude = lexeme->fault == FAULT_NONE ? read_integer(job, lexeme) : 1;
    else if (lexeme->kind == TOKEN_FLOAT)
        token->number = lexeme->fault == FAULT_NONE ? read_float(job, lexeme) : 1;
}

/* ---- tokens ---- */

/* Brackets that do not fit each other stay unpaired; the parser explains what is wrong. */
static void pair_brackets(LexJob *job, TokenKind kind)
{
    uint32_t index = job->tokens.count - 1;
    if (token_is_open(kind)) {
        *vec_push(job->arena, &job->open) = index;
    } else if (token_is_close(kind) && job->open.count > 0) {
        Token *open = &job->tokens.items[vec_last(&job->open)];
        if ((TokenKind)open->kind + 1 == kind) { /* each closing bracket follows its opening one in tokens.def */
            open->extra = index;
            job->open.count--;
        }
    }
}

static void add_token(LexJob *job, const Lexeme *lexeme)
{
    const char *text = job->source->text;
    uint32_t start = lexeme->start;
    uint32_t previous_end = job->tokens.count == 0 ? 0 : vec_last(&job->tokens).span.end;
    Token token = {.kind = (uint8_t)lexeme->kind, .is_first_on_line = lexeme->is_first_on_line};
    token.span = span_of(job, start, lexeme->end);
    if (lexeme->kind == TOKEN_FUNCTION || lexeme->kind == TOKEN_DATATYPE || lexeme->kind == TOKEN_IMPORT)
        job->open.count = 0; /* no bracket goes on over a definition: one is missing before it */
    token.is_adjacent = token.span.start == previous_end;
    token.is_at_margin = job->open.count == 0 && (start == 0 || text[start - 1] == '\n');
    read_value(job, lexeme, &token);
    *vec_push(job->arena, &job->tokens) = token;
    pair_brackets(job, lexeme->kind);
}

/* The end is placed just after the last token, where a missing one would have to be written. */
static void add_end(LexJob *job)
{
    uint32_t end = job->tokens.count == 0 ? job->source->base : vec_last(&job->tokens).span.end;
    *vec_push(job->arena, &job->tokens) = (Token){.kind = TOKEN_END, .is_first_on_line = true, .span = {end, end}};
}

Tokens lex_source(Arena *arena, Names *names, Diagnostics *diagnostics, const Source *source)
{
    LexJob job = {.arena = arena, .names = names, .diagnostics = diagnostics, .source = source};
    Lexer lexer = {.text = source->text, .length = source->length, .dialect = source->dialect};
    for (;;) {
        Lexeme lexeme = lexer_next(&lexer);
        report_fault(&job, &lexeme);
        if (lexeme.kind != TOKEN_END)
            add_token(&job, &lexeme);
        else if (lexeme.fault == FAULT_NONE)
            break;
    }
    add_end(&job);
    return (Tokens){.list = job.tokens.items, .count = job.tokens.count};
}
