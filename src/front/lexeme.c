/* Lexemes: where each one ends, in both dialects. Allocates and reports nothing; see lex.h. */
#include "front/lex.h"

#include <string.h>

const TokenInfo token_infos[TOKEN_KIND_COUNT] = {
#define TOKEN(ID, runnel, nesl, left, right)                                                                          \
    [TOKEN_##ID] = {{[DIALECT_RUNNEL] = runnel, [DIALECT_NESL] = nesl}, left, right},
#include "front/tokens.def"
#undef TOKEN
};

enum { NO_BYTE = -1 };

/* The byte `ahead` of the current one, or NO_BYTE beyond the end: text may hold zero bytes of its own. */
static int byte_at(const Lexer *lexer, uint32_t ahead)
{
    return ahead < lexer->length - lexer->at ? (unsigned char)lexer->text[lexer->at + ahead] : NO_BYTE;
}

static bool is_blank(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int fold(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Whether c may stand inside a name. NESL's names are runs of whatever is not special. */
static bool is_name_byte(Dialect dialect, int c)
{
    if (is_letter(c) || is_digit(c) || c == '_')
        return true;
    if (dialect == DIALECT_RUNNEL)
        return false;
    return c > ' ' && c != 0x7f && strchr("-+#&'()*,/:;<=>@[\\]^`{?|}!$%\".", c) == NULL;
}

/* ---- blanks and comments ---- */

static void skip_line(Lexer *lexer)
{
    while (byte_at(lexer, 0) != '\n' && byte_at(lexer, 0) != NO_BYTE)
        lexer->at++;
}

/* Past `% ... %`; false when the text ends first. */
static bool skip_percent_comment(Lexer *lexer)
{
    lexer->at++;
    while (byte_at(lexer, 0) != '%') {
        if (byte_at(lexer, 0) == NO_BYTE)
            return false;
        lexer->at++;
    }
    lexer->at++;
    return true;
}

/* Past blanks and comments. Notes a fault and its place in `lexeme` when a comment does not end. */
static void skip_blanks(Lexer *lexer, Lexeme *lexeme)
{
    for (;;) {
        int c = byte_at(lexer, 0);
        if (is_blank(c)) {
            lexeme->is_first_on_line |= c == '\n';
            lexer->at++;
        } else if (lexer->dialect == DIALECT_RUNNEL && c == '-' && byte_at(lexer, 1) == '-') {
            skip_line(lexer);
        } else if (lexer->dialect == DIALECT_NESL && c == '%') {
            lexeme->start = lexer->at;
            if (!skip_percent_comment(lexer)) {
                lexeme->fault = FAULT_UNFINISHED_COMMENT;
                return;
            }
        } else {
            return;
        }
    }
}

/* ---- numbers ---- */

/* Whether `c` is a digit in the base (up to 16). */
static bool is_digit_of(int base, int c)
{
    if (base == 16 && (is_digit(c) || (fold(c) >= 'a' && fold(c) <= 'f')))
        return true;
    return c >= '0' && c < '0' + (base < 10 ? base : 10);
}

/* Digits; in .rnl `_` may stand between two of them. */
static void skip_digits(Lexer *lexer, int base)
{
    while (is_digit_of(base, byte_at(lexer, 0))) {
        lexer->at++;
        if (lexer->dialect == DIALECT_RUNNEL && byte_at(lexer, 0) == '_' && is_digit_of(base, byte_at(lexer, 1)))
            lexer->at++;
    }
}

/* `e5`, `E-3`; leaves the lexer alone when no digit follows. */
static bool skip_exponent(Lexer *lexer)
{
    if (fold(byte_at(lexer, 0)) != 'e')
        return false;
    uint32_t sign = byte_at(lexer, 1) == '+' || byte_at(lexer, 1) == '-';
    if (!is_digit(byte_at(lexer, 1 + sign)))
        return false;
    lexer->at += 1 + sign;
    skip_digits(lexer, 10);
    return true;
}

static TokenKind scan_decimal(Lexer *lexer)
{
    bool is_float = false;
    skip_digits(lexer, 10);
    bool has_point = byte_at(lexer, 0) == '.' && (lexer->dialect == DIALECT_NESL || is_digit(byte_at(lexer, 1)));
    if (has_point) {
        lexer->at++;
        skip_digits(lexer, 10);
        is_float = true;
    }
    is_float |= skip_exponent(lexer);
    return is_float ? TOKEN_FLOAT : TOKEN_INT;
}

static void scan_component_number(Lexer *lexer)
{
    while (is_digit(byte_at(lexer, 0)))
        lexer->at++;
}

static void scan_number(Lexer *lexer, bool is_after_dot, Lexeme *lexeme)
{
    int marker = byte_at(lexer, 0) == '0' ? fold(byte_at(lexer, 1)) : NO_BYTE;
    lexeme->kind = TOKEN_INT;
    if (is_after_dot) {
        scan_component_number(lexer);
    } else if (lexer->dialect == DIALECT_RUNNEL && (marker == 'x' || marker == 'b')) {
        lexer->at += 2;
        uint32_t digits = lexer->at;
        skip_digits(lexer, marker == 'x' ? 16 : 2);
        if (lexer->at == digits)
            lexeme->fault = FAULT_BAD_NUMBER;
    } else {
        lexeme->kind = scan_decimal(lexer);
    }
    /* NESL starts a new token at a letter after digits; in .rnl it is surely a mistake. */
    if (lexer->dialect == DIALECT_RUNNEL && is_name_byte(DIALECT_RUNNEL, byte_at(lexer, 0))) {
        lexeme->fault = FAULT_BAD_NUMBER;
        while (is_name_byte(DIALECT_RUNNEL, byte_at(lexer, 0)))
            lexer->at++;
    }
}

/* ---- texts ---- */

/* Up to the closing quote. Only NESL's strings may run over several lines. */
static void scan_quoted(Lexer *lexer, int quote, LexemeFault fault, Lexeme *lexeme)
{
    lexer->at++;
    for (;;) {
        int c = byte_at(lexer, 0);
        if (c == NO_BYTE || (c == '\n' && lexer->dialect == DIALECT_RUNNEL)) {
            lexeme->fault = fault;
            return;
        }
        lexer->at++;
        if (c == quote)
            return;
        int next = byte_at(lexer, 0);
        if (c == '\\' && next != NO_BYTE && (next != '\n' || lexer->dialect == DIALECT_NESL))
            lexer->at++;
    }
}

/* NESL: a back-quote and one byte of any kind. */
static void scan_back_quote(Lexer *lexer, Lexeme *lexeme)
{
    lexeme->kind = TOKEN_CHAR;
    lexer->at++;
    if (byte_at(lexer, 0) == NO_BYTE)
        lexeme->fault = FAULT_UNFINISHED_CHAR;
    else
        lexer->at++;
}

/* ---- words and signs ---- */

static bool is_word(const char *spelling, Dialect dialect, const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        int c = dialect == DIALECT_NESL ? fold((unsigned char)text[i]) : text[i];
        if (spelling[i] == '\0' || spelling[i] != c)
            return false;
    }
    return spelling[length] == '\0';
}

static TokenKind scan_word(Lexer *lexer)
{
    uint32_t start = lexer->at;
    while (is_name_byte(lexer->dialect, byte_at(lexer, 0)))
        lexer->at++;
    for (TokenKind kind = TOKEN_FUNCTION; kind <= TOKEN_XOR; kind++) {
        const char *spelling = token_infos[kind].spelling[lexer->dialect];
        if (spelling != NULL && is_word(spelling, lexer->dialect, lexer->text + start, lexer->at - start))
            return kind;
    }
    return TOKEN_NAME;
}

/* The longest sign that starts here; TOKEN_END if there is none. */
static TokenKind scan_sign(Lexer *lexer)
{
    TokenKind best = TOKEN_END;
    size_t best_length = 0;
    for (TokenKind kind = TOKEN_OPEN_PAREN; kind < TOKEN_KIND_COUNT; kind++) {
        const char *spelling = token_infos[kind].spelling[lexer->dialect];
        if (spelling == NULL || spelling[0] != lexer->text[lexer->at])
            continue;
        size_t length = strlen(spelling);
        if (length > best_length && length <= lexer->length - lexer->at &&
            memcmp(spelling, lexer->text + lexer->at, length) == 0) {
            best = kind;
            best_length = length;
        }
    }
    lexer->at += (uint32_t)best_length;
    return best;
}

static void scan_bad_character(Lexer *lexer, Lexeme *lexeme)
{
    lexeme->kind = TOKEN_END;
    lexeme->fault = FAULT_BAD_CHARACTER;
    bool is_run = byte_at(lexer, 0) >= 0x80; /* the bytes of one or more characters beyond ASCII */
    do
        lexer->at++;
    while (is_run && byte_at(lexer, 0) >= 0x80);
}

/* NESL: 'x makes a name of the word or sign x. */
static void scan_name_quote(Lexer *lexer, Lexeme *lexeme)
{
    lexeme->kind = TOKEN_NAME;
    lexeme->is_quoted = true;
    lexer->at++;
    int c = byte_at(lexer, 0);
    if (c == NO_BYTE)
        lexeme->fault = FAULT_BAD_QUOTE;
    else if (is_name_byte(DIALECT_NESL, c) && !is_digit(c))
        scan_word(lexer);
    else if (scan_sign(lexer) == TOKEN_END)
        lexeme->fault = FAULT_BAD_QUOTE;
}

static void scan_nesl(Lexer *lexer, Lexeme *lexeme)
{
    int c = byte_at(lexer, 0);
    if (is_digit(c) || (c == '.' && is_digit(byte_at(lexer, 1))))
        scan_number(lexer, false, lexeme);
    else if (is_name_byte(DIALECT_NESL, c))
        lexeme->kind = scan_word(lexer);
    else if (c == '`')
        scan_back_quote(lexer, lexeme);
    else if (c == '\'')
        scan_name_quote(lexer, lexeme);
    else if ((lexeme->kind = scan_sign(lexer)) == TOKEN_END)
        scan_bad_character(lexer, lexeme);
}

static void scan_runnel(Lexer *lexer, bool is_after_dot, Lexeme *lexeme)
{
    int c = byte_at(lexer, 0);
    if (is_digit(c)) {
        scan_number(lexer, is_after_dot, lexeme);
    } else if (is_name_byte(DIALECT_RUNNEL, c)) {
        lexeme->kind = scan_word(lexer);
    } else if (c == '\'') {
        lexeme->kind = TOKEN_CHAR;
        scan_quoted(lexer, '\'', FAULT_UNFINISHED_CHAR, lexeme);
    } else if ((lexeme->kind = scan_sign(lexer)) == TOKEN_END) {
        scan_bad_character(lexer, lexeme);
    }
}

Lexeme lexer_next(Lexer *lexer)
{
    Lexeme lexeme = {.kind = TOKEN_END, .is_first_on_line = lexer->at == 0};
    uint32_t before = lexer->at;
    skip_blanks(lexer, &lexeme);
    bool is_after_dot = lexer->is_after_dot && lexer->at == before;
    if (lexeme.fault == FAULT_NONE) {
        lexeme.start = lexer->at;
        if (byte_at(lexer, 0) == '"') {
            lexeme.kind = TOKEN_STRING;
            scan_quoted(lexer, '"', FAULT_UNFINISHED_STRING, &lexeme);
        } else if (byte_at(lexer, 0) != NO_BYTE) {
            if (lexer->dialect == DIALECT_NESL)
                scan_nesl(lexer, &lexeme);
            else
                scan_runnel(lexer, is_after_dot, &lexeme);
        }
    }
    lexeme.end = lexer->at;
    lexer->is_after_dot = lexeme.kind == TOKEN_DOT;
    return lexeme;
}
