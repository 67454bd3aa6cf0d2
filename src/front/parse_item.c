/* Top-level forms of both dialects, NESL's commands included. */
#include "front/parse_internal.h"

#include <string.h>

static Item *item_new(Parser *parser, ItemKind kind)
{
    Item *item = ARENA_NEW(parser->arena, Item);
    item->kind = kind;
    item->span = item->name_span = parser_token(parser)->span;
    return item;
}

/* ---- ends of forms ---- */

static bool accept_form_end(Parser *parser)
{
    return parser_kind(parser) == TOKEN_END || parser_accept(parser, TOKEN_SEMICOLON) ||
           parser_accept(parser, TOKEN_DOLLAR);
}

/* A `;` forgotten at the end of a line is reported where it belongs, and what follows is a form of its own. */
static void report_missing_end(Parser *parser)
{
    const Token *last = &parser->tokens[parser->at - 1];
    uint32_t end = last->span.end;
    if (last->kind == TOKEN_STRING && parser->source->text[end - parser->source->base - 1] != '"')
        return; /* an unfinished string, already reported, has swallowed the `;` */
    diagnostics_error(parser->diagnostics, ERROR_SYNTAX, (Span){end, end},
                      "found the end of the line, expected `;` after this form");
}

/* Whether a new form may start here without a `;` before it: on a new line, with what begins a form. */
static bool at_new_form(const Parser *parser)
{
    TokenKind kind = parser_kind(parser);
    if (!parser_token(parser)->is_first_on_line)
        return false;
    return token_infos[kind].left_power == 0 && !token_is_close(kind) && kind != TOKEN_EQUAL && kind != TOKEN_IN &&
           kind != TOKEN_THEN && kind != TOKEN_ELSE && kind != TOKEN_COLON && kind != TOKEN_BAR;
}

static void expect_form_end(Parser *parser)
{
    if (parser->has_failed || accept_form_end(parser))
        return;
    if (at_new_form(parser))
        report_missing_end(parser);
    else
        parser_fail_expected(parser, "`;` or an operator");
}

/* In .rnl definitions end at the next form on a new line; `;` is allowed. */
static void expect_definition_end(Parser *parser)
{
    if (parser_is_nesl(parser)) {
        expect_form_end(parser);
        return;
    }
    if (parser->has_failed || accept_form_end(parser) || at_new_form(parser))
        return;
    TokenKind kind = parser_kind(parser);
    if (kind != TOKEN_FUNCTION && kind != TOKEN_DATATYPE && kind != TOKEN_IMPORT)
        parser_fail_expected(parser, "the end of the definition or an operator");
}

/* ---- functions ---- */

static Parameter parse_parameter(Parser *parser)
{
    uint32_t start = parser_start(parser);
    Parameter parameter = {.pattern = parse_pattern(parser)};
    parameter.pattern = parse_pattern_type(parser, parameter.pattern, start);
    if (parser_accept(parser, TOKEN_COLON_EQUAL))
        parameter.default_value = parse_expression(parser, POWER_ITEM);
    return parameter;
}

/* `p, q := e, ...` */
static void parse_parameter_list(Parser *parser, Item *item)
{
    VEC(Parameter) parameters = {0};
    do
        *vec_push(parser->arena, &parameters) = parse_parameter(parser);
    while (parser_accept(parser, TOKEN_COMMA));
    item->parameters = parameters.items;
    item->parameter_count = parameters.count;
}

/* Whether the parentheses at the current token hold all parameters, unlike those of `function f (a, b), c` (.nesl). */
static bool at_parameters_in_parentheses(const Parser *parser)
{
    if (parser_kind(parser) != TOKEN_OPEN_PAREN)
        return false;
    uint32_t close = parser_token(parser)->extra;
    return close == 0 || parser_kind_at(parser, close + 1) != TOKEN_COMMA;
}

static void parse_parameters(Parser *parser, Item *item)
{
    uint32_t open = parser->at;
    if (at_parameters_in_parentheses(parser)) {
        parser_advance(parser);
        if (parser_is_nesl(parser) && parser_kind(parser) == TOKEN_CLOSE_PAREN)
            parser_fail_expected(parser, "a parameter; NESL's functions have at least one");
        if (parser_kind(parser) != TOKEN_CLOSE_PAREN)
            parse_parameter_list(parser, item);
        parser_expect_close(parser, open);
    } else if (parser_is_nesl(parser)) {
        parse_parameter_list(parser, item);
    } else {
        parser_fail_expected(parser, "`(` and the parameters");
    }
}

/* `: type :: context "documentation"` */
static void parse_signature(Parser *parser, Item *item)
{
    bool is_nesl = parser_is_nesl(parser);
    if (parser_accept(parser, TOKEN_COLON)) {
        item->type = is_nesl ? parse_type_list(parser) : parse_type(parser);
        item->is_whole_type = is_nesl;
    }
    item->context = parse_context(parser);
    if (is_nesl && parser_kind(parser) == TOKEN_STRING) {
        item->documentation = parser_token(parser)->text;
        parser_advance(parser);
    }
}

static Item *parse_function(Parser *parser)
{
    Item *item = item_new(parser, ITEM_FUNCTION);
    parser_advance(parser);
    item->name_span = parser_token(parser)->span;
    item->name = parser_expect_name(parser, "the name of the function");
    parse_parameters(parser, item);
    parse_signature(parser, item);
    TokenKind kind = parser_kind(parser);
    bool is_stub = parser_is_nesl(parser) && item->type != NULL && (token_ends_form(kind) || kind == TOKEN_END);
    if (is_stub && !parser->has_failed) {
        item->kind = ITEM_STUB;
    } else {
        bool had_failed = parser->has_failed;
        parser_expect(parser, TOKEN_EQUAL);
        if (parser->has_failed && !had_failed)
            diagnostics_note(parser->diagnostics, (Span){0, 0}, "a function is written `function name(parameters)%s = expression`",
                             parser_is_nesl(parser) ? "" : " : type");
        item->value = parse_part(parser);
    }
    return item;
}

static Item *parse_datatype(Parser *parser)
{
    Item *item = item_new(parser, ITEM_DATATYPE);
    parser_advance(parser);
    item->name_span = parser_token(parser)->span;
    item->name = parser_expect_name(parser, "the name of the datatype");
    item->type = parser_is_nesl(parser) ? parse_type_list(parser) : parse_type(parser);
    item->context = parse_context(parser);
    return item;
}

static Item *parse_import(Parser *parser)
{
    Item *item = item_new(parser, ITEM_IMPORT);
    parser_advance(parser);
    if (parser_kind(parser) == TOKEN_STRING)
        item->value = expr_new_literal(parser);
    else
        parser_fail_expected(parser, "a string, the file to import");
    return item;
}

/* ---- bindings and expressions ---- */

/* Whether the form is `pattern = e`. */
static bool starts_binding(const Parser *parser)
{
    uint32_t after = parser_skip_pattern(parser, parser->at);
    if (!parser_is_nesl(parser))
        return after != 0 &&
               (parser_kind_at(parser, after) == TOKEN_EQUAL || parser_kind_at(parser, after) == TOKEN_COLON);
    while (after != 0 && parser_kind_at(parser, after) == TOKEN_COMMA)
        after = parser_skip_pattern(parser, after + 1);
    return after != 0 && parser_kind_at(parser, after) == TOKEN_EQUAL;
}

static Item *parse_binding(Parser *parser)
{
    Item *item = item_new(parser, ITEM_BINDING);
    item->pattern = parse_binding_pattern(parser);
    item->name_span = item->pattern->span;
    parser_expect(parser, TOKEN_EQUAL);
    item->value = parse_part(parser);
    return item;
}

static Item *parse_expression_item(Parser *parser)
{
    Item *item = item_new(parser, ITEM_EXPRESSION);
    item->value = parse_part(parser);
    if (!parser_is_nesl(parser) && parser_kind(parser) == TOKEN_COMMA)
        parser_fail_expected(parser, "`;`; a tuple is written in parentheses: `(a, b)`");
    return item;
}

/* ---- NESL's commands ---- */

static const char *const command_words[] = {
    "help", "exit", "lisp", "describe", "apropos", "get", "set", "show", "shell", "dump", "edit", "load", "defconfig",
};

/* A word that is bound here is no command: NESL could not, but then nobody means the command. */
static bool at_command(const Parser *parser)
{
    if (!parser_is_nesl(parser))
        return false;
    if (parser_kind(parser) == TOKEN_QUESTION)
        return true;
    if (parser_kind_at(parser, parser->at + 1) == TOKEN_EQUAL)
        return false;
    for (size_t i = 0; i < sizeof command_words / sizeof *command_words; i++)
        if (parser_is_word(parser, parser->at, command_words[i]))
            return true;
    return false;
}

/* `load e, verbose := f`; the options only changed what NESL printed. */
static Item *parse_load(Parser *parser)
{
    Item *item = item_new(parser, ITEM_LOAD);
    item->name = parser_token(parser)->name;
    parser_advance(parser);
    item->value = parse_expression(parser, POWER_ITEM);
    while (parser_accept(parser, TOKEN_COMMA)) {
        parser_expect_name(parser, "an option such as `verbose := f`");
        parser_expect(parser, TOKEN_COLON_EQUAL);
        parse_expression(parser, POWER_ITEM);
    }
    return item;
}

static bool at_known_setting(const Parser *parser)
{
    return parser_is_word(parser, parser->at, "set") && (parser_is_word(parser, parser->at + 1, "print_length") ||
                                                         parser_is_word(parser, parser->at + 1, "arg_check"));
}

/* `set print_length 20`, `set arg_check off` */
static Item *parse_setting(Parser *parser)
{
    Item *item = item_new(parser, ITEM_SET);
    parser_advance(parser);
    item->name_span = parser_token(parser)->span;
    item->name = parser_expect_name(parser, "the name of a setting");
    bool is_on = parser_is_word(parser, parser->at, "on");
    if (parser_kind(parser) == TOKEN_INT || parser_kind(parser) == TOKEN_TRUE || parser_kind(parser) == TOKEN_FALSE) {
        item->value = expr_new_literal(parser);
    } else if (is_on || parser_is_word(parser, parser->at, "off")) {
        item->value = expr_new(parser, EXPR_BOOL, parser_start(parser));
        item->value->magnitude = is_on;
        parser_advance(parser);
        expr_finish(parser, item->value);
    } else {
        parser_fail_expected(parser, "a number, `on` or `off`");
    }
    return item;
}

static Item *parse_other_command(Parser *parser)
{
    Item *item = item_new(parser, ITEM_COMMAND);
    bool is_question = parser_kind(parser) == TOKEN_QUESTION;
    item->name = is_question ? names_of(parser->names, "help") : parser_token(parser)->name;
    parser->at = parser_find_form_end(parser, parser->at, parser->at);
    return item;
}

static Item *parse_command(Parser *parser)
{
    TokenKind next = parser_kind_at(parser, parser->at + 1);
    bool is_bare = token_ends_form(next) || next == TOKEN_END;
    if (parser_is_word(parser, parser->at, "load") && !is_bare)
        return parse_load(parser);
    if (at_known_setting(parser))
        return parse_setting(parser);
    return parse_other_command(parser);
}

/* ---- any form ---- */

static Item *parse_form(Parser *parser)
{
    if (at_command(parser))
        return parse_command(parser);
    switch ((int)parser_kind(parser)) {
    case TOKEN_FUNCTION:
        return parse_function(parser);
    case TOKEN_DATATYPE:
        return parse_datatype(parser);
    case TOKEN_IMPORT:
        return parse_import(parser);
    }
    return starts_binding(parser) ? parse_binding(parser) : parse_expression_item(parser);
}

Item *parse_item(Parser *parser)
{
    uint32_t start = parser_start(parser);
    TokenKind first = parser_kind(parser);
    Item *item = parse_form(parser);
    item->span = parser_span_from(parser, start);
    if (first == TOKEN_FUNCTION || first == TOKEN_DATATYPE || first == TOKEN_IMPORT)
        expect_definition_end(parser);
    else
        expect_form_end(parser);
    return item;
}
