/* The lexer: text to tokens, by the lexical rules of the source's dialect.
 *
 * It works in two steps. `lexer_next` finds where the next lexeme ends, allocates nothing and reports nothing, so that
 * interactive input can be judged before it is complete. `lex_source` turns all lexemes of a source into tokens with
 * values, reports what is wrong with them, and pairs the brackets, so that the parser decides in constant time what
 * follows a bracketed group instead of backtracking. */
#ifndef RUNNEL_FRONT_LEX_H
#define RUNNEL_FRONT_LEX_H

#include "base/names.h"
#include "source/diagnostics.h"

typedef enum TokenKind {
#define TOKEN(ID, runnel, nesl, left, right) TOKEN_##ID,
#include "front/tokens.def"
#undef TOKEN
    TOKEN_KIND_COUNT
} TokenKind;

typedef struct TokenInfo {
    const char *spelling[2]; /* by dialect */
    uint8_t left_power;
    uint8_t right_power;
} TokenInfo;

extern const TokenInfo token_infos[TOKEN_KIND_COUNT];

typedef struct Token {
    uint8_t kind;          /* a TokenKind */
    bool is_first_on_line; /* nothing but blanks and comments before it on its line */
    bool is_at_margin;     /* in the first column, with no bracket open */
    bool is_adjacent;      /* nothing between it and the token before */
    Span span;
    uint32_t extra; /* open bracket: index of the token that closes it, 0 for none; string: its length */
    union {
        Name name;
        uint64_t magnitude; /* TOKEN_INT, TOKEN_CHAR */
        double number;
        const char *text; /* decoded and zero-terminated */
    };
} Token;

typedef struct Tokens {
    Token *list; /* the last one is TOKEN_END */
    uint32_t count;
} Tokens;

Tokens lex_source(Arena *arena, Names *names, Diagnostics *diagnostics, const Source *source);

/* ---- lexemes ---- */

typedef enum LexemeFault {
    FAULT_NONE,
    FAULT_BAD_CHARACTER,
    FAULT_UNFINISHED_COMMENT,
    FAULT_UNFINISHED_STRING,
    FAULT_UNFINISHED_CHAR,
    FAULT_BAD_NUMBER,
    FAULT_BAD_QUOTE,
} LexemeFault;

typedef struct Lexeme {
    TokenKind kind; /* TOKEN_END when a fault leaves nothing to make a token of */
    LexemeFault fault;
    uint32_t start; /* offsets in the text */
    uint32_t end;
    bool is_first_on_line;
    bool is_quoted; /* .nesl: 'x, the text of the name starts at start + 1 */
} Lexeme;

typedef struct Lexer {
    const char *text;
    uint32_t length;
    uint32_t at;
    Dialect dialect;
    bool is_after_dot; /* the lexeme before is a `.` that ends here: digits are a component's number */
} Lexer;

/* The next lexeme; at the end TOKEN_END without fault, again and again. */
Lexeme lexer_next(Lexer *lexer);

static inline bool token_is_open(TokenKind kind)
{
    return kind == TOKEN_OPEN_PAREN || kind == TOKEN_OPEN_SQUARE || kind == TOKEN_OPEN_BRACE;
}

static inline bool token_is_close(TokenKind kind)
{
    return kind == TOKEN_CLOSE_PAREN || kind == TOKEN_CLOSE_SQUARE || kind == TOKEN_CLOSE_BRACE;
}

static inline bool token_ends_form(TokenKind kind)
{
    return kind == TOKEN_SEMICOLON || kind == TOKEN_DOLLAR;
}

#endif
