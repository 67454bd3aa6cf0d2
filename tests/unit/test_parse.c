/* The parser, seen through s-expressions: tables of source and expected tree in both dialects, errors, interactive
 * input, long and deep input, and random input that must neither crash nor hang. */
#include "front/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- printing ---- */

typedef struct Printer {
    const Source *source;
    const Names *names;
    Text *out;
} Printer;

static void print_expr(Printer *printer, const Expr *expr);

static const char *name_text(const Printer *printer, Name name)
{
    return names_text(printer->names, name);
}

static void print_type(Printer *printer, const TypeExpr *type)
{
    static const char *const heads[] = {
        [TYPE_EXPR_NAME] = "",          [TYPE_EXPR_VECTOR] = "vec", [TYPE_EXPR_SEQUENCE] = "seq",
        [TYPE_EXPR_CONTAINER] = "any:", [TYPE_EXPR_TUPLE] = "tup",  [TYPE_EXPR_FUNCTION] = "fun",
    };
    if (type->kind == TYPE_EXPR_NAME && type->item_count == 0) {
        text_add(printer->out, name_text(printer, type->name));
        return;
    }
    text_addf(printer->out, "(%s%s", heads[type->kind], name_text(printer, type->name));
    for (uint32_t i = 0; i < type->item_count; i++) {
        text_add_char(printer->out, ' ');
        print_type(printer, type->items[i]);
    }
    text_add_char(printer->out, ')');
}

static void print_context(Printer *printer, const TypeContext *context)
{
    for (uint32_t i = 0; i < context->count; i++)
        text_addf(printer->out, " [%s in %s]", name_text(printer, context->items[i].variable),
                  name_text(printer, context->items[i].class_name));
}

static void print_pattern(Printer *printer, const Pattern *pattern)
{
    Text *out = printer->out;
    switch (pattern->kind) {
    case PATTERN_NAME:
        text_add(out, name_text(printer, pattern->name));
        return;
    case PATTERN_WILDCARD:
        text_add_char(out, '_');
        return;
    case PATTERN_TUPLE:
        text_add(out, "<");
        break;
    case PATTERN_CONSTRUCTOR:
        text_addf(out, "<%s:", name_text(printer, pattern->name));
        break;
    case PATTERN_TYPED:
        text_add(out, "<");
        break;
    }
    for (uint32_t i = 0; i < pattern->item_count; i++) {
        text_add(out, i == 0 ? "" : " ");
        print_pattern(printer, pattern->items[i]);
    }
    if (pattern->kind == PATTERN_TYPED) {
        text_add(out, " : ");
        print_type(printer, pattern->type);
    }
    text_add_char(out, '>');
}

static void print_items(Printer *printer, const char *head, const Expr *expr)
{
    text_addf(printer->out, "(%s", head);
    for (uint32_t i = 0; i < expr->item_count; i++) {
        text_add_char(printer->out, ' ');
        if (expr->items[i] == NULL)
            text_add_char(printer->out, '.');
        else
            print_expr(printer, expr->items[i]);
    }
}

static void print_comprehension(Printer *printer, const Comprehension *comprehension)
{
    Text *out = printer->out;
    text_addf(out, "(%s%s ", comprehension->brackets == BRACKETS_SQUARE ? "each[]" : "each{}",
              comprehension->is_serial ? "*" : "");
    if (comprehension->body == NULL)
        text_add_char(out, '.');
    else
        print_expr(printer, comprehension->body);
    for (uint32_t i = 0; i < comprehension->qualifier_count; i++) {
        const Qualifier *qualifier = &comprehension->qualifiers[i];
        text_add(out, qualifier->generator_count == 0 ? " (| " : " (");
        if (qualifier->generator_count == 0)
            print_expr(printer, qualifier->filter);
        for (uint32_t j = 0; j < qualifier->generator_count; j++) {
            text_add(out, j == 0 ? "" : "; ");
            print_pattern(printer, qualifier->generators[j].pattern);
            text_add(out, " in ");
            print_expr(printer, qualifier->generators[j].source);
        }
        text_add_char(out, ')');
    }
    if (comprehension->group_key != NULL) {
        text_add(out, " (group ");
        print_pattern(printer, comprehension->group_key);
        if (comprehension->group_value != NULL) {
            text_add(out, " = ");
            print_expr(printer, comprehension->group_value);
        }
        text_add_char(out, ')');
    }
    if (comprehension->order_key != NULL) {
        text_add(out, comprehension->is_descending ? " (order desc " : " (order ");
        print_expr(printer, comprehension->order_key);
        text_add_char(out, ')');
    }
    text_add_char(out, ')');
}

static void print_let(Printer *printer, const Expr *expr)
{
    text_add(printer->out, "(let");
    for (uint32_t i = 0; i < expr->count; i++) {
        text_add(printer->out, " (");
        print_pattern(printer, expr->bindings[i].pattern);
        text_add_char(printer->out, ' ');
        print_expr(printer, expr->bindings[i].value);
        text_add_char(printer->out, ')');
    }
    text_add_char(printer->out, ' ');
    print_expr(printer, expr->items[0]);
    text_add_char(printer->out, ')');
}

static void print_string(Printer *printer, const Expr *expr)
{
    text_add_char(printer->out, '"');
    for (uint32_t i = 0; i < expr->count; i++) {
        unsigned char c = (unsigned char)expr->text[i];
        if (c < ' ' || c > '~')
            text_addf(printer->out, "\\%02x", c);
        else
            text_add_char(printer->out, (char)c);
    }
    text_add_char(printer->out, '"');
}

static int failures;

/* Every node lies in its source, and its children are lower. */
static void check_node(const Printer *printer, const Expr *expr)
{
    const Source *source = printer->source;
    bool is_right = expr->span.start >= source->base && expr->span.start < expr->span.end &&
                    expr->span.end <= source->base + source->length && expr->height > 0;
    for (uint32_t i = expr->kind == EXPR_BINARY; i < expr->item_count; i++)
        is_right = is_right && (expr->items[i] == NULL || expr->items[i]->height < expr->height);
    if (!is_right) {
        failures++;
        printf("FAIL node of kind %d: span %u-%u, height %u\n", expr->kind, expr->span.start, expr->span.end,
               expr->height);
    }
}

static void print_expr(Printer *printer, const Expr *expr)
{
    Text *out = printer->out;
    check_node(printer, expr);
    switch (expr->kind) {
    case EXPR_INT:
        text_addf(out, "%s%llu", expr->is_negative ? "-" : "", (unsigned long long)expr->magnitude);
        return;
    case EXPR_FLOAT:
        text_addf(out, "%gf", expr->number);
        return;
    case EXPR_BOOL:
        text_add(out, expr->magnitude ? "true" : "false");
        return;
    case EXPR_CHAR:
        text_addf(out, "'%llu", (unsigned long long)expr->magnitude);
        return;
    case EXPR_STRING:
        print_string(printer, expr);
        return;
    case EXPR_NAME:
        text_add(out, name_text(printer, expr->name));
        return;
    case EXPR_TUPLE:
        print_items(printer, "tup", expr);
        break;
    case EXPR_LIST:
        print_items(printer, expr->brackets == BRACKETS_SQUARE ? "list" : "list{}", expr);
        if (expr->element_type != NULL) {
            text_add(out, " : ");
            print_type(printer, expr->element_type);
        }
        break;
    case EXPR_RANGE:
        print_items(printer, expr->brackets == BRACKETS_SQUARE ? "range" : "range{}", expr);
        text_add(out, expr->is_inclusive ? " incl" : "");
        break;
    case EXPR_CALL:
        print_items(printer, "call", expr);
        for (uint32_t i = 0; i < expr->count; i++) {
            text_addf(out, " %s:=", name_text(printer, expr->keywords[i].name));
            print_expr(printer, expr->keywords[i].value);
        }
        break;
    case EXPR_INDEX:
        print_items(printer, "index", expr);
        break;
    case EXPR_SLICE:
        print_items(printer, "slice", expr);
        break;
    case EXPR_SELECT:
        print_items(printer, "sel", expr);
        text_addf(out, " %llu", (unsigned long long)expr->magnitude);
        break;
    case EXPR_UNARY:
        print_items(printer, name_text(printer, expr->name), expr);
        break;
    case EXPR_BINARY:
        print_items(printer, name_text(printer, expr->name), expr);
        break;
    case EXPR_IF:
        print_items(printer, "if", expr);
        break;
    case EXPR_LET:
        print_let(printer, expr);
        return;
    case EXPR_LAMBDA:
        text_add(out, "(fn ");
        print_pattern(printer, expr->pattern);
        text_add_char(out, ' ');
        print_expr(printer, expr->items[0]);
        break;
    case EXPR_COMPREHENSION:
        print_comprehension(printer, expr->comprehension);
        return;
    case EXPR_ANNOTATION:
        print_items(printer, "the", expr);
        text_add_char(out, ' ');
        print_type(printer, expr->element_type);
        if (expr->element_type->context != NULL)
            print_context(printer, expr->element_type->context);
        break;
    }
    text_add_char(out, ')');
}

static void print_function(Printer *printer, const Item *item)
{
    Text *out = printer->out;
    text_addf(out, "(%s %s [", item->kind == ITEM_STUB ? "stub" : "function", name_text(printer, item->name));
    for (uint32_t i = 0; i < item->parameter_count; i++) {
        text_add(out, i == 0 ? "" : " ");
        print_pattern(printer, item->parameters[i].pattern);
        if (item->parameters[i].default_value != NULL) {
            text_add(out, ":=");
            print_expr(printer, item->parameters[i].default_value);
        }
    }
    text_add(out, "]");
    if (item->type != NULL) {
        text_add(out, item->is_whole_type ? " :whole " : " : ");
        print_type(printer, item->type);
    }
    print_context(printer, &item->context);
    if (item->documentation != NULL)
        text_addf(out, " doc=%s", item->documentation);
    if (item->value != NULL) {
        text_add_char(out, ' ');
        print_expr(printer, item->value);
    }
    text_add_char(out, ')');
}

static void print_item(Printer *printer, const Item *item)
{
    Text *out = printer->out;
    switch (item->kind) {
    case ITEM_FUNCTION:
    case ITEM_STUB:
        print_function(printer, item);
        return;
    case ITEM_DATATYPE:
        text_addf(out, "(datatype %s ", name_text(printer, item->name));
        print_type(printer, item->type);
        print_context(printer, &item->context);
        break;
    case ITEM_BINDING:
        text_add(out, "(= ");
        print_pattern(printer, item->pattern);
        text_add_char(out, ' ');
        print_expr(printer, item->value);
        break;
    case ITEM_EXPRESSION:
        print_expr(printer, item->value);
        return;
    case ITEM_IMPORT:
        text_add(out, "(import ");
        print_expr(printer, item->value);
        break;
    case ITEM_LOAD:
        text_add(out, "(load ");
        print_expr(printer, item->value);
        break;
    case ITEM_SET:
        text_addf(out, "(set %s ", name_text(printer, item->name));
        print_expr(printer, item->value);
        break;
    case ITEM_COMMAND:
        text_addf(out, "(command %s", name_text(printer, item->name));
        break;
    }
    text_add_char(out, ')');
}

/* ---- one parse ---- */

typedef struct Session {
    Memory memory;
    Arena arena;
    Names names;
    Sources sources;
    Diagnostics diagnostics;
    Source *source;
    Items items;
} Session;

static void session_parse(Session *session, const char *text, size_t length, Dialect dialect)
{
    memset(session, 0, sizeof *session);
    arena_init(&session->arena, &session->memory);
    names_init(&session->names, &session->arena);
    sources_init(&session->sources, &session->arena);
    diagnostics_init(&session->diagnostics, &session->arena, &session->sources);
    session->source = sources_add(&session->sources, dialect == DIALECT_NESL ? "t.nesl" : "t.rnl", text, length, dialect);
    session->items = parse_source(&session->arena, &session->names, &session->diagnostics, session->source);
}

static void session_free(Session *session)
{
    arena_free(&session->arena);
}

/* All items, then each error as `!code@line:column`. */
static void session_print(Session *session, Text *out)
{
    Printer printer = {.source = session->source, .names = &session->names, .out = out};
    for (uint32_t i = 0; i < session->items.count; i++) {
        if (session->items.list[i]->is_broken)
            continue;
        text_add(out, out->length == 0 ? "" : " ");
        print_item(&printer, session->items.list[i]);
    }
    for (uint32_t i = 0; i < session->diagnostics.list.count; i++) {
        const Diagnostic *diagnostic = &session->diagnostics.list.items[i];
        if (diagnostic->severity != SEVERITY_ERROR)
            continue;
        Location at = sources_locate(&session->sources, diagnostic->span.start);
        text_add(out, out->length == 0 ? "" : " ");
        text_addf(out, "!%s@%u:%u", error_code_text(diagnostic->code), at.line, at.column);
    }
}

typedef struct Case {
    const char *source;
    const char *expected;
} Case;

static void check_case(const Case *test, Dialect dialect)
{
    Session session;
    Text out;
    session_parse(&session, test->source, strlen(test->source), dialect);
    text_init(&out, &session.memory);
    session_print(&session, &out);
    if (strcmp(text_string(&out), test->expected) != 0) {
        failures++;
        printf("FAIL %s: %s\n  got      %s\n  expected %s\n", dialect == DIALECT_NESL ? "nesl" : "rnl", test->source,
               text_string(&out), test->expected);
        text_clear(&out);
        diagnostics_print(&session.diagnostics, &out);
        printf("%s", text_string(&out));
    }
    text_free(&out);
    session_free(&session);
}

/* ---- .rnl ---- */

static const Case runnel_cases[] = {
    /* literals */
    {"1", "1"},
    {"-1;", "-1"},
    {"1_000; 0xff; 0b101; 0XFF_00;", "1000 255 5 65280"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "0 !bad-number@1:1"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"1.5; 1e5; 1.5e-3; 2E+2; -2.5", "1.5f 100000f 0.0015f 200f -2.5f"},
    {"1_0.2_5", "10.25f"},
    {"1e999", "inff !bad-number@1:1"},
    {"1abc", "1 !bad-number@1:1"},
    {"0x", "1 !bad-number@1:1"},
    {"1__0; 1_", "1 1 !bad-number@1:1 !bad-number@1:7"},
    {"0b12", "1 !bad-number@1:1"},
    {"true; false", "true false"},
    {"'a'; '\\n'; '\\''; '\\x41'; '\\101'; '\\0'; ' '", "'97 '10 '39 '65 '65 '0 '32"},
    {"'ab'", "'97 !syntax@1:1"},
    {"''", "'0 !syntax@1:1"},
    {"'a", "'0 !unfinished-string@1:1"},
    {"\"a\\tb\\\"c\\\\\\x0a\\7\"", "\"a\\09b\"c\\\\0a\\07\""},
    {"\"\\q\"", "\"\\ff\" !bad-escape@1:2"},
    {"\"\\400\"", "\"\\00\" !bad-escape@1:2"},
    {"\"\\xg\"", "\"\\ffg\" !bad-escape@1:2"},
    {"\"abc\nx;", "\"abc\" x !unfinished-string@1:1"},
    {"\"\xc3\xa9\"", "\"\\c3\\a9\""},
    {"x -- comment\n;-- y\n", "x"},
    {"Abc; abc_1; _x", "Abc abc_1 _x"},
    /* operators */
    {"1 + 2 * 3", "(+ 1 (* 2 3))"},
    {"1 - 2 - 3", "(- (- 1 2) 3)"},
    {"-2^2", "(^ -2 2)"},
    {"-x^2", "(^ (negate x) 2)"},
    {"2 ^ 3 ^ 4", "(^ (^ 2 3) 4)"},
    {"#a/2", "(/ (# a) 2)"},
    {"#a[0]", "(# (index a 0))"},
    {"@#x", "(@ (# x))"},
    {"- - x", "(negate (negate x))"},
    {"- 3", "-3"},
    {"a -1", "(- a 1)"},
    {"&n; &n + 1; &(n + 1)", "(& n) (+ (& n) 1) (& (+ n 1))"},
    {"a ++ b <- c", "(++ a (<- b c))"},
    {"a -> b -> c", "(-> a (-> b c))"},
    {"a <- b <- c", "(<- (<- a b) c)"},
    {"a <- b -> c", "(<- a (-> b c))"},
    {"-a -> b", "(-> (negate a) b)"},
    {"a || b * c", "(* (|| a b) c)"},
    {"a < b and c >= d or e /= f", "(or (and (< a b) (>= c d)) (/= e f))"},
    {"a nand b nor c xor d", "(xor (nor (nand a b) c) d)"},
    {"a == b == c", "(== (== a b) c)"},
    {"a + if c then b else d + 1", "(+ a (if c b (+ d 1)))"},
    {"(1 + 2) * 3", "(* (+ 1 2) 3)"},
    {"reduce(+, 0, xs)", "(call reduce (tup + 0 xs))"},
    {"reduce(max, 0, xs); f(and); f(-, ++); (+)", "(call reduce (tup max 0 xs)) (call f and) (call f (tup - ++)) +"},
    {"f(#); f(->, x)", "(call f #) (call f (tup -> x))"},
    /* calls, selection, index, slices */
    {"f(); f(x); f(x, y); f((x, y)); f(())", "(call f (tup)) (call f x) (call f (tup x y)) (call f (tup x y)) (call f (tup))"},
    {"f(x)(y)", "(call (call f x) y)"},
    {"f (x)", "(call f x)"},
    {"f(1, b := 9, c := x + 1)", "(call f 1 b:=9 c:=(+ x 1))"},
    {"f(b := 9)", "(call f (tup) b:=9)"},
    {"f(b := 9, 1)", "!syntax@1:11"},
    {"x.1; x.1.2; x.12.3", "(sel x 1) (sel (sel x 1) 2) (sel (sel x 12) 3)"},
    {"f(x).1 + y.2", "(+ (sel (call f x) 1) (sel y 2))"},
    {"-x.1", "(negate (sel x 1))"},
    {"(1, 2.5).2", "(sel (tup 1 2.5f) 2)"},
    {"x.0", "!no-such-component@1:3"},
    {"x.y", "!syntax@1:3"},
    {"x.1a", "(sel x 1) !bad-number@1:3"},
    {"xs[i]; xs[i][j]", "(index xs i) (index (index xs i) j)"},
    {"xs[i:j]; xs[:j]; xs[i:]; xs[:]", "(slice xs i j) (slice xs . j) (slice xs i .) (slice xs . .)"},
    {"xs[]", "!syntax@1:4"},
    {"(a, b, c); (a, (b, c)); (); (a)", "(tup a b c) (tup a (tup b c)) (tup) a"},
    {"(e : int)", "(the e int)"},
    {"(f : (c[a], int) -> a :: (a in number))", "(the f (fun (tup (any:c a) int) a) [a in number])"},
    {"(x : [[int]])", "(the x (vec (vec int)))"},
    {"(x : {(int, char)})", "(the x (seq (tup int char)))"},
    {"(x : int -> float -> bool)", "(the x (fun int (fun float bool)))"},
    {"(x : table(int, [char]))", "(the x (table int (vec char)))"},
    {"(x : ())", "(the x (tup))"},
    {"(a, b : int)", "!syntax@1:7"},
    {"((a, b) : (int, int))", "(the (tup a b) (tup int int))"},
    /* let, if, lambda */
    {"let x = 1; y = 2 in x + y", "(let (x 1) (y 2) (+ x y))"},
    {"let (a, b) = e; c = d; in body", "(let (<a b> e) (c d) body)"},
    {"let x : int = 3 in x", "(let (<x : int> 3) x)"},
    {"let _ = f(x) in 1", "(let (_ (call f x)) 1)"},
    {"let point(x, y) = p in x", "(let (<point:<x y>> p) x)"},
    {"let a, b = e in a", "!syntax@1:6"},
    {"(let x = 1 in x, 2)", "(tup (let (x 1) x) 2)"},
    {"if a then b else if c then d else e", "(if a b (if c d e))"},
    {"(if a then b else c, d)", "(tup (if a b c) d)"},
    {"if a then b", "!syntax@1:12"},
    {"x => x + 1", "(fn x (+ x 1))"},
    {"map(x => x + 1, xs)", "(call map (tup (fn x (+ x 1)) xs))"},
    {"(a, b) => a * b", "(fn <a b> (* a b))"},
    {"x => y => x", "(fn x (fn y x))"},
    {"() => 1", "(fn <> 1)"},
    {"(x : int) => x", "(fn <x : int> x)"},
    {"(x : int, y : [float]) => x", "(fn <<x : int> <y : (vec float)>> x)"},
    {"pt(x, y) => x; _ => 2", "(fn <pt:<x y>> x) (fn _ 2)"},
    {"a + x => x", "!syntax@1:7"},
    {"_", "!syntax@1:1"},
    {"let and = 3 in 4", "!reserved-name@1:5"},
    {"function true(x) = 1", "!reserved-name@1:10"},
    {"group + order + by + desc + asc", "(+ (+ (+ (+ group order) by) desc) asc)"},
    /* lists and ranges */
    {"[]; {}; [1]; {1}; [1, 2, 3]; {1, 2, 3}", "(list) (list{}) (list 1) (list{} 1) (list 1 2 3) (list{} 1 2 3)"},
    {"[] int; [] [int]; [] (int, char); [] t(int)", "(list : int) (list : (vec int)) (list : (tup int char)) (list : (t int))"},
    {"f([] int, x)", "(call f (tup (list : int) x))"},
    {"{} int", "(list{} : int)"},
    {"[a:b]; [a:b:s]; {a:b}; {a:b:s}", "(range a b) (range a b s) (range{} a b) (range{} a b s)"},
    {"[0 ..< 5]; [0..<5]; [a ..= b]; {0 ..= n-1}", "(range 0 5) (range 0 5) (range a b incl) (range{} 0 (- n 1) incl)"},
    {"[1.5 ..< x.1]", "(range 1.5f (sel x 1))"},
    {"{1 : n + 1}", "(range{} 1 (+ n 1))"},
    {"[x : y]", "(range x y)"},
    {"[1, 2", "!syntax@1:6"},
    {"[1, 2)", "!syntax@1:6"},
    {"[1,]", "!syntax@1:4"},
    /* comprehensions */
    {"{e : x in xs}", "(each{} e (x in xs))"},
    {"[e : x in xs]", "(each[] e (x in xs))"},
    {"{x in xs}", "(each{} . (x in xs))"},
    {"{(a, b) in ps | c}", "(each{} . (<a b> in ps) (| c))"},
    {"{e : (a, b) in ps}", "(each{} e (<a b> in ps))"},
    {"{e : x in xs; y in ys}", "(each{} e (x in xs; y in ys))"},
    {"{e : x in xs, y in f(x), z in g(x, y)}", "(each{} e (x in xs) (y in (call f x)) (z in (call g (tup x y))))"},
    {"{e : x in xs, x > 3, y in f(x) | y < x}", "(each{} e (x in xs) (| (> x 3)) (y in (call f x)) (| (< y x)))"},
    {"{e : x in xs, y in ys; z in zs, w in ws}", "(each{} e (x in xs) (y in ys; z in zs) (w in ws))"},
    {"{e | c}; [e | c and d]", "(each{} e (| c)) (each[] e (| (and c d)))"},
    {"{e : x in xs order by k}", "(each{} e (x in xs) (order k))"},
    {"{e : x in xs order by -x desc}", "(each{} e (x in xs) (order desc (negate x)))"},
    {"{e : x in xs | c order by k asc}", "(each{} e (x in xs) (| c) (order k))"},
    {"{(k, sum(v)) : (k, v) in kvs group by k}", "(each{} (tup k (call sum v)) (<k v> in kvs) (group k))"},
    {"{e : x in xs, c group by k = x.1 order by k desc}", "(each{} e (x in xs) (| c) (group k = (sel x 1)) (order desc k))"},
    {"{e : x in xs group by (a, b) = f(x)}", "(each{} e (x in xs) (group <a b> = (call f x)))"},
    {"{e : x in [] order by x}", "(each{} e (x in (list)) (order x))"},
    {"{x in xs order by x}", "(each{} . (x in xs) (order x))"},
    {"{(x, y) : _ in xs; pt(x, y) in ys}", "(each{} (tup x y) (_ in xs; <pt:<x y>> in ys))"},
    {"[e | x <- xs, y <- [x ..< n], c]", "(each[] e (x in xs) (y in (range x n)) (| c))"},
    {"[e | x <- xs | y <- ys]", "(each[] e (x in xs; y in ys))"},
    {"[e | x <- xs | y <- ys | z <- zs]", "(each[] e (x in xs; y in ys; z in zs))"},
    {"[e | x <- xs, c | y <- ys]", "(each[] e (x in (each{} x (x in xs) (| c)); y in ys))"},
    {"[e | x <- xs | (a, b) <- ys, c <- a, b]",
     "(each[] e (x in xs; <a b c> in (each{} (tup a b c) (<a b> in ys) (c in a) (| b))))"},
    {"[e | x <- xs | c]", "(each[] e (x in xs) (| c))"},
    {"[e | x <- xs, y <- ys order by x]", "(each[] e (x in xs) (y in ys) (order x))"},
    {"{e | x in xs, c}", "(each{} e (x in xs) (| c))"},
    {"{e : x <- xs}", "(each{} e (x in xs))"},
    {"{e : x in xs, (a ++ b) <- c == d}", "(each{} e (x in xs) (| (== (<- (++ a b) c) d)))"},
    {"{e : x in xs, ((v <- w) == u)}", "(each{} e (x in xs) (| (== (<- v w) u)))"},
    {"{x <- xs | x > 3}", "(each{} . (x in xs) (| (> x 3)))"},
    {"{* e : x in xs}", "(each{}* e (x in xs))"},
    {"{e : x in xs | y in ys}", "!syntax@1:16"},
    {"{e | c, d}", "!syntax@1:7"},
    {"{e : x in xs; c}", "!syntax@1:15"},
    {"{x + 1 in xs}", "!syntax@1:8"},
    {"{{y : y in x} : x in xs}", "(each{} (each{} y (y in x)) (x in xs))"},
    {"{let a = 1 in a : x in xs}", "(each{} (let (a 1) a) (x in xs))"},
    {"{e : x in let a = b in a, c}", "(each{} e (x in (let (a b) a)) (| c))"},
    {"{e : x in xs group by 3}", "!syntax@1:23"},
    /* top level */
    {"x = 3; y = x + 1;", "(= x 3) (= y (+ x 1))"},
    {"(a, b) = f(x);", "(= <a b> (call f x))"},
    {"x : [int] = [];", "(= <x : (vec int)> (list))"},
    {"import \"a.rnl\"\nimport \"b\"; x", "(import \"a.rnl\") (import \"b\") x"},
    {"import x", "!syntax@1:8"},
    {"datatype complex(float, float)\nx", "(datatype complex (tup float float)) x"},
    {"datatype box(a) :: (a in any);", "(datatype box a [a in any])"},
    {"function f(x) = x", "(function f [x] x)"},
    {"function f() = 1", "(function f [] 1)"},
    {"function f(xs : [float], (a, b)) : float = e", "(function f [<xs : (vec float)> <a b>] : float e)"},
    {"function f(xs : c[a], i : int) : a :: (a in number) = xs", "(function f [<xs : (any:c a)> <i : int>] : a [a in number] xs)"},
    {"function f(x) : int -> int = g", "(function f [x] : (fun int int) g)"},
    {"function f(a, b := 3) = a", "(function f [a b:=3] a)"},
    {"function f(a, b : int := 3) = a", "(function f [a <b : int>:=3] a)"},
    {"function f(x) = x + 1\ny = 3;", "(function f [x] (+ x 1)) (= y 3)"},
    {"function f(x) = x\n(a, b) = y;", "(function f [x] x) (= <a b> y)"},
    {"function f(x) = []\nx = 3;", "(function f [x] (list)) (= x 3)"},
    {"function f(x) = x function g(y) = y;", "(function f [x] x) (function g [y] y)"},
    {"function f(x) =\n  g\n    (x)\n  + 1\n", "(function f [x] (+ (call g x) 1))"},
    {"function f x = x;", "!syntax@1:12"},
    {"function f(x) = x y", "!syntax@1:19"},
    {"f x; y", "y !syntax@1:3"},
    {"x = 3\ny = 4;", "(= x 3) (= y 4) !syntax@1:6"},
    {"x = (1;\nfunction f(x) = x\ny = );z", "(function f [x] x) z !syntax@1:7 !syntax@3:5"},
    {"let a = 1 +; b = 2 in b; c", "c !syntax@1:12"},
    {"1 + ; 2 + ; 3", "3 !syntax@1:5 !syntax@1:11"},
    {"function f x = 3\ny = 1;", "(= y 1) !syntax@1:12"},
    {"x = f(\nfunction f(x) = (x\ny = 1;\nfunction g(x) = x\nz = 2;", "(function g [x] x) (= z 2) !syntax@2:1 !syntax@3:1"},
    {"{e : x in xs group by x.1}", "!syntax@1:24"},
    {"x = f(a;\ny = 1;\nz = [1, ;\nw = 2;", "(= y 1) (= w 2) !syntax@1:8 !syntax@3:9"},
    {";;;", ""},
    {"", ""},
    {"   \n-- c", ""},
    {")", "!syntax@1:1"},
    {"a, b", "!syntax@1:2"},
    {"if a = b then c else d", "!syntax@1:6"},
    {"a != b", "(= a b) !bad-character@1:3"},
    {"5 % 3", "!bad-character@1:3 !syntax@1:5"},
    {"\xc3\xa9 = 3; x", "x !bad-character@1:1 !syntax@1:4"},
    {"a && b", "!syntax@1:3"},
    {"f(x;", "!syntax@1:4"},
};

/* ---- .nesl ---- */

static const Case nesl_cases[] = {
    {"1;", "1"},
    {"1", "1"},
    {"Foo + FOO$", "(+ foo foo)"},
    {"18446744073709551617;", "1"},
    {"1.; 1.5; .5; 1e3; 1.5E-3;", "1f 1.5f 0.5f 1000f 0.0015f"},
    {"2x;", "(call 2 x)"},
    {"1e;", "(call 1 e)"},
    {"t; F; T;", "true false true"},
    {"`a; `(; ` ; `;;", "'97 '40 '32 '59"},
    {"`", "'0 !unfinished-string@1:1"},
    {"\"a\\\"b\\n\nc\";", "\"a\"bn\\0ac\""},
    {"\"abc", "\"abc\" !unfinished-string@1:1"},
    {"x % comment ; \n % ;", "x"},
    {"x; % comment", "x !unfinished-comment@1:4"},
    {"'+; reduce('+, x); 'and; 'Foo;", "+ (call reduce (tup + x)) and foo"},
    {"'", "' !syntax@1:1"},
    {"g x; g x y; g(x); g(x,y);", "(call g x) (call (call g x) y) (call g x) (call g (tup x y))"},
    {"sum {x in a}; sum \"a\";", "(call sum (each{} . (x in a))) (call sum \"a\")"},
    {"g x + h y;", "(+ (call g x) (call h y))"},
    {"g -x;", "(- g x)"},
    {"-g x;", "(negate (call g x))"},
    {"-2^2;", "(^ (negate 2) 2)"},
    {"#a[0];", "(# (index a 0))"},
    {"g();", "!syntax@1:3"},
    {"a, b, c;", "(tup a b c)"},
    {"(a, b), c;", "(tup (tup a b) c)"},
    {"if c then a, b else d, e;", "(if c (tup a b) (tup d e))"},
    {"g(if a then b else c, d);", "(call g (if a b (tup c d)))"},
    {"let a, b = e in a;", "(let (<a b> e) a)"},
    {"let a = 1, 2; b = a; in b, a;", "(let (a (tup 1 2)) (b a) (tup b a))"},
    {"let c(x,y) = z in x;", "(let (<c:<x y>> z) x)"},
    {"x => x + 1;", "(fn x (+ x 1))"},
    {"g(x => x + 1, y);", "(call g (tup (fn x (+ x 1)) y))"},
    {"(x,y) => x;", "(fn <x y> x)"},
    {"g(1, b := 9);", "(call g 1 b:=9)"},
    {"{x in a | x > 0};", "(each{} . (x in a) (| (> x 0)))"},
    {"{(x,y) in p | x};", "(each{} . (<x y> in p) (| x))"},
    {"{s; i; r in e | r == i};", "(each{} . (s in s; i in i; r in e) (| (== r i)))"},
    {"{e : a, b in ps; c};", "(each{} e (<a b> in ps; c in c))"},
    {"{a, b : a in x; b in y};", "(each{} (tup a b) (a in x; b in y))"},
    {"{a, b in ps};", "(each{} . (<a b> in ps))"},
    {"{x + 1 : x};", "(each{} (+ x 1) (x in x))"},
    {"{x};", "(each{} . (x in x))"},
    {"{x | c};", "(each{} . (x in x) (| c))"},
    {"{* g(x) : x in a};", "(each{}* (call g x) (x in a))"},
    {"{let a = 1 in a : x in xs};", "(each{} (let (a 1) a) (x in xs))"},
    {"{c(a,b) in x};", "(each{} . (<c:<a b>> in x))"},
    {"{sum(x) : x in xs};", "(each{} (call sum x) (x in xs))"},
    {"[1, 2, 3]; [1]; [s:e]; [s:e:d];", "(list 1 2 3) (list 1) (range s e) (range s e d)"},
    {"[] int; [] (int,[char]);", "(list : int) (list : (tup int (vec char)))"},
    {"g([] int, x);", "(call g (tup (list : int) x))"},
    {"a->i; a <- p; a || b;", "(-> a i) (<- a p) (|| a b)"},
    {"time(g(x));", "(call time (call g x))"},
    {"x = 3; a, b = 3, 4; (a, b) = p; c(a,b) = q;", "(= x 3) (= <a b> (tup 3 4)) (= <a b> p) (= <c:<a b>> q)"},
    {"function g(a,b) = a + b;", "(function g [a b] (+ a b))"},
    {"function g x = x;", "(function g [x] x)"},
    {"function g a, b = a;", "(function g [a b] a)"},
    {"function g((a,b), c) = a;", "(function g [<a b> c] a)"},
    {"function g (a,b), c = a;", "(function g [<a b> c] a)"},
    {"function g(a, b := 3) = a;", "(function g [a b:=3] a)"},
    {"function g(a) : int -> int = a $", "(function g [a] :whole (fun int int) a)"},
    {"function g(a) : ([a], int) -> a :: (a in number; b in any) \"Doc.\" = a;",
     "(function g [a] :whole (fun (tup (vec a) int) a) [a in number] [b in any] doc=Doc. a)"},
    {"function g(a) \"Doc.\" = a, b;", "(function g [a] doc=Doc. (tup a b))"},
    {"function g(a) : int -> int;", "(stub g [a] :whole (fun int int))"},
    {"function g(a) : a -> b :: a in number; b in any = a;",
     "(function g [a] :whole (fun a b) [a in number] [b in any] a)"},
    {"function g(a);", "!syntax@1:14"},
    {"function g(a : int) = a;", "!not-in-dialect@1:14"},
    {"function '+ (a, b) = a;", "(function + [a b] a)"},
    {"datatype complex (float, float);", "(datatype complex (tup float float))"},
    {"datatype foo(a, b) :: a in number; b in any; x;", "(datatype foo (tup a b) [a in number] [b in any]) x"},
    {"load \"f\", verbose := f, print := t; load dir ++ \"primes\"; load;", "(load \"f\") (load (++ dir \"primes\")) (command load)"},
    {"set print_length 20; set arg_check off; SET Arg_Check ON; set trace g 3;",
     "(set print_length 20) (set arg_check false) (set arg_check true) (command set)"},
    {"help; ?; describe g; get a; shell ls -l *.c; show bugs $ x;",
     "(command help) (command help) (command describe) (command get) (command shell) (command show) x"},
    {"dump = 3;", "(= dump 3)"},
    {"set print_length x; y;", "y !syntax@1:18"},
    {"!prim-rank_up(x); y;", "y !not-provided@1:1"},
    {"x + !g; y;", "y !not-provided@1:5"},
    {"x |= 3; y &= 4; z;", "z !not-provided@1:3 !not-provided@1:11"},
    {"{1, 2}; x;", "x !not-in-dialect@1:6"},
    {"{}; x;", "x !not-in-dialect@1:2"},
    {"{1:5}; x;", "x !not-in-dialect@1:4"},
    {"{g(x) | c}; x;", "x !not-in-dialect@1:7"},
    {"[x | c]; x;", "x !not-in-dialect@1:4"},
    {"[e : x in xs]; x;", "x !not-in-dialect@1:4"},
    {"{e : x in xs, y in ys}; x;", "x !not-in-dialect@1:13"},
    {"{e : x <- xs}; x;", "x !not-in-dialect@1:8"},
    {"{e : x in xs order by k}; x;", "x !not-in-dialect@1:14"},
    {"a[1:2]; x;", "x !not-in-dialect@1:4"},
    {"x = 3\nfunction g(x) = x;", "(= x 3) (function g [x] x) !syntax@1:6"},
    {"x = 3\ny = 4; z;", "z !syntax@2:3"},
    {"a_b~1 + \xc3\xa9;", "(+ a_b~1 \xc3\xa9)"},
    {"(e : int);", "(the e int)"},
    {"x.y; z;", "z !syntax@1:2"},
    {"function f(x) = x; let t = 3 in 4; x;", "x !reserved-name@1:10 !reserved-name@1:24"},
};

/* ---- interactive input ---- */

static const struct {
    const char *text;
    bool is_unfinished;
} runnel_inputs[] = {
    {"", false},          {"-- c", false},          {"1", false},
    {"x = 3", false},     {"f(x", true},            {"f(x)", false},
    {"f(x))", false},     {"1 +", true},            {"x =", true},
    {"let a = 1", true},  {"let a = 1;", true},     {"let a = 1 in", true},
    {"let a = 1 in a", false}, {"if a then b", true}, {"if a then b else c", false},
    {"function f(x)", true}, {"function f(x) =", true}, {"function f(x) = x", false},
    {"\"abc", false},     {"{x in xs", true},       {"x => ", true},
    {"1; 2 +", true},     {"x.", true},             {"import", true},
};

static const struct {
    const char *text;
    bool is_unfinished;
} nesl_inputs[] = {
    {"", false},       {"% c", true},         {"% c %", false},   {"1", true},         {"1;", false},
    {"1$", false},     {"{a; b", true},       {"{a; b}", true},   {"{a; b};", false},  {"\"abc;", true},
    {"help", true},    {"help;", false},      {"let a = 1;", true}, {"let a = 1; b = 2 in a;", false},
    {"`;", true},      {"`;;", false},
};

static void check_inputs(void)
{
    Memory memory = {0};
    for (size_t i = 0; i < sizeof runnel_inputs / sizeof *runnel_inputs; i++)
        if (parse_is_unfinished(&memory, runnel_inputs[i].text, strlen(runnel_inputs[i].text), DIALECT_RUNNEL) !=
            runnel_inputs[i].is_unfinished) {
            failures++;
            printf("FAIL rnl input: %s\n", runnel_inputs[i].text);
        }
    for (size_t i = 0; i < sizeof nesl_inputs / sizeof *nesl_inputs; i++)
        if (parse_is_unfinished(&memory, nesl_inputs[i].text, strlen(nesl_inputs[i].text), DIALECT_NESL) !=
            nesl_inputs[i].is_unfinished) {
            failures++;
            printf("FAIL nesl input: %s\n", nesl_inputs[i].text);
        }
}

/* ---- type texts ---- */

static const Case type_cases[] = {
    {"int, float", "(tup int float)"},
    {"(a, c[a]) -> bool :: (a in ordinal)", "(fun (tup a (any:c a)) bool) [a in ordinal]"},
    {"{[f32]}", "(seq (vec f32))"},
    {"int int", "!"},
    {"", "!"},
};

static void check_types(void)
{
    for (size_t i = 0; i < sizeof type_cases / sizeof *type_cases; i++) {
        Session session;
        Text out;
        TypeContext context = {0};
        session_parse(&session, "", 0, DIALECT_RUNNEL);
        const char *text = type_cases[i].source;
        const Source *source = sources_add(&session.sources, "type", text, strlen(text), DIALECT_RUNNEL);
        const TypeExpr *type =
            parse_type_text(&session.arena, &session.names, &session.diagnostics, source, &context);
        text_init(&out, &session.memory);
        Printer printer = {.names = &session.names, .out = &out};
        if (type == NULL)
            text_add(&out, session.diagnostics.error_count == 1 ? "!" : "?");
        else
            print_type(&printer, type);
        print_context(&printer, &context);
        if (strcmp(text_string(&out), type_cases[i].expected) != 0) {
            failures++;
            printf("FAIL type: %s\n  got %s\n", text, text_string(&out));
        }
        text_free(&out);
        session_free(&session);
    }
}

/* ---- long and deep ---- */

/* before, then `count` times `unit`, then middle, then `count` times `closing`. */
static char *repeat(const char *before, const char *unit, const char *middle, const char *closing, size_t count)
{
    size_t size = strlen(before) + strlen(middle) + count * (strlen(unit) + strlen(closing)) + 1;
    char *text = malloc(size);
    char *at = text + sprintf(text, "%s", before);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s", unit);
    at += sprintf(at, "%s", middle);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s", closing);
    return text;
}

typedef struct Shape {
    Dialect dialect;
    const char *before, *unit, *middle, *closing;
    size_t count;
    bool is_too_deep;
} Shape;

static const Shape shapes[] = {
    {DIALECT_RUNNEL, "1", " + 1", "", "", 100000, false},
    {DIALECT_RUNNEL, "1", " - 1 * 2 and x", "", "", 100000, false},
    {DIALECT_RUNNEL, "[1", ", 1", "]", "", 1000000, false},
    {DIALECT_NESL, "[1", ", 1", "];", "", 100000, false},
    {DIALECT_RUNNEL, "(1", ", 1", ")", "", 100000, false},
    {DIALECT_NESL, "1", ", 1", ";", "", 100000, false},
    {DIALECT_RUNNEL, "", "x = 1;", "", "", 100000, false},
    {DIALECT_RUNNEL, "let ", "x = 1;", " in x", "", 100000, false},
    {DIALECT_RUNNEL, "", "(", "1", ")", 1900, false},
    {DIALECT_RUNNEL, "", "(", "1", ")", 20000, true},
    {DIALECT_RUNNEL, "", "(", "", "", 20000, true},
    {DIALECT_RUNNEL, "", "[", "1", "]", 1900, false},
    {DIALECT_RUNNEL, "", "[", "1", "]", 20000, true},
    {DIALECT_RUNNEL, "", "{", "1", "}", 20000, true},
    {DIALECT_RUNNEL, "", "1 + (", "1", ")", 1900, false},
    {DIALECT_RUNNEL, "", "a or b and c == d + e * f ^ (", "1", ")", 300, false},
    {DIALECT_RUNNEL, "", "a or b and c == d + e * f ^ (", "1", ")", 20000, true},
    {DIALECT_RUNNEL, "", "f(", "1", ")", 1900, false},
    {DIALECT_RUNNEL, "", "f(", "1", ")", 20000, true},
    {DIALECT_RUNNEL, "", "f(1, b := g[", "1", "])", 20000, true},
    {DIALECT_RUNNEL, "f", "(x)", "", "", 1900, false},
    {DIALECT_RUNNEL, "f", "(x)", "", "", 20000, true},
    {DIALECT_RUNNEL, "f", ".1", "", "", 20000, true},
    {DIALECT_RUNNEL, "f", "[0]", "", "", 20000, true},
    {DIALECT_NESL, "f", " x", ";", "", 20000, true},
    {DIALECT_RUNNEL, "", "-", "x", "", 1, false},
    {DIALECT_RUNNEL, "", "- ", "x", "", 1900, false},
    {DIALECT_RUNNEL, "", "- ", "x", "", 20000, true},
    {DIALECT_RUNNEL, "", "#", "x", "", 20000, true},
    {DIALECT_RUNNEL, "", "if a then b else ", "c", "", 1900, false},
    {DIALECT_RUNNEL, "", "if a then b else ", "c", "", 20000, true},
    {DIALECT_RUNNEL, "", "if ", "c", "", 20000, true},
    {DIALECT_RUNNEL, "", "let x = ", "c", "", 20000, true},
    {DIALECT_RUNNEL, "", "let x = y in ", "c", "", 20000, true},
    {DIALECT_RUNNEL, "", "x => ", "c", "", 1900, false},
    {DIALECT_RUNNEL, "", "x => ", "c", "", 20000, true},
    {DIALECT_RUNNEL, "a", " -> a", "", "", 1900, false},
    {DIALECT_RUNNEL, "a", " -> a", "", "", 20000, true},
    {DIALECT_RUNNEL, "", "{y : x in ", "c", "}", 1900, false},
    {DIALECT_RUNNEL, "", "{y : x in ", "c", "}", 20000, true},
    {DIALECT_RUNNEL, "", "[y | x <- a, x | y <- ", "c", "]", 20000, true},
    {DIALECT_RUNNEL, "", "[y | x <- a | y <- a or b and c == d + e * f ^ ", "c", "]", 20000, true},
    {DIALECT_RUNNEL, "", "[y | x <- a | y <- a or b and c == d + e * f ^ g <- ", "c", "]", 20000, true},
    {DIALECT_NESL, "", "{", "y : x in c", "}", 20000, true},
    {DIALECT_RUNNEL, "let ", "(", "a", ")", 20000, true},
    {DIALECT_RUNNEL, "let ", "c(", "a", ")", 20000, true},
    {DIALECT_RUNNEL, "let x : ", "[", "a", "]", 20000, true},
    {DIALECT_RUNNEL, "let x : ", "a -> ", "a", "", 20000, true},
    {DIALECT_RUNNEL, "let x : ", "t(", "a", ")", 20000, true},
    {DIALECT_RUNNEL, "{e : ", "(", "a", ") in x", 20000, true},
    {DIALECT_RUNNEL, "", "(a, ", "b", ")(c)(d)(e)", 1000, true},
};

static void check_shapes(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const Shape *shape = &shapes[i];
        char *text = repeat(shape->before, shape->unit, shape->middle, shape->closing, shape->count);
        Session session;
        clock_t start = clock();
        session_parse(&session, text, strlen(text), shape->dialect);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        bool is_right = shape->is_too_deep ? session.diagnostics.error_count == 1 &&
                                                 session.diagnostics.list.items[0].code == ERROR_NESTING_TOO_DEEP
                                           : session.diagnostics.error_count == 0;
        if (!is_right || seconds > 10) {
            failures++;
            printf("FAIL shape %s %s %s %zu: %u errors, %.1f s\n", shape->before, shape->unit, shape->closing,
                   shape->count, session.diagnostics.error_count, seconds);
        }
        session_free(&session);
        free(text);
    }
}

/* ---- random input ---- */

static uint64_t random_state = 88172645463325252u;

static uint32_t next_random(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 11) % bound);
}

static const char *const fragments[] = {
    "function ", "datatype ", "import ", "let ", " in ", "if ", " then ", " else ", "true", "false", " and ", " or ",
    "(", ")", "[", "]", "{", "}", ",", ";", "$", ":", "::", ":=", "=", "=>", "|", ".", "..<", "..=", "->", "<-", "^",
    "*", "/", "||", "+", "-", "++", "==", "<", "#", "@", "&", "?", "!", "|=", "&=", "'", "`", "\"", "%", "--", "\\",
    "x", "y", "f", "int", "1", "2.5", "1e5", "0x1", "'a'", "\"s\"", " group by ", " order by ", " desc", "\n", " ",
    "_", "load ", "set ", "print_length ", "\n(", "x in xs", "(a, b) <- ps", "[]", "{* ", "()", "\0", "\xff",
};

static size_t random_tokens(char *buffer, size_t size)
{
    size_t length = 0;
    uint32_t count = next_random(60);
    for (uint32_t i = 0; i < count; i++) {
        const char *fragment = fragments[next_random(sizeof fragments / sizeof *fragments)];
        size_t added = fragment[0] == '\0' ? 1 : strlen(fragment);
        if (length + added >= size)
            break;
        memcpy(buffer + length, fragment, added);
        length += added;
    }
    return length;
}

static size_t random_bytes(char *buffer, size_t size)
{
    size_t length = next_random((uint32_t)size);
    for (size_t i = 0; i < length; i++)
        buffer[i] = (char)(next_random(3) == 0 ? next_random(256) : ' ' + next_random(95));
    return length;
}

/* A good source with a few bytes changed, dropped or doubled. */
static size_t random_mutation(char *buffer, size_t size)
{
    size_t count = sizeof runnel_cases / sizeof *runnel_cases;
    const char *source = runnel_cases[next_random((uint32_t)count)].source;
    size_t length = strlen(source);
    if (length >= size)
        length = size - 1;
    memcpy(buffer, source, length);
    for (uint32_t i = next_random(4); i > 0 && length > 0; i--) {
        size_t at = next_random((uint32_t)length);
        if (next_random(2) == 0) {
            memmove(buffer + at, buffer + at + 1, length - at - 1);
            length--;
        } else {
            buffer[at] = (char)next_random(128);
        }
    }
    return length;
}

static void check_random(double seconds)
{
    char buffer[512];
    Memory memory = {0};
    clock_t start = clock();
    for (uint32_t round = 0; (double)(clock() - start) < seconds * CLOCKS_PER_SEC; round++) {
        size_t length = round % 3 == 0   ? random_bytes(buffer, sizeof buffer)
                        : round % 3 == 1 ? random_tokens(buffer, sizeof buffer)
                                         : random_mutation(buffer, sizeof buffer);
        for (Dialect dialect = DIALECT_RUNNEL; dialect <= DIALECT_NESL; dialect++) {
            Session session;
            Text out;
            session_parse(&session, buffer, length, dialect);
            text_init(&out, &session.memory);
            session_print(&session, &out);
            diagnostics_print(&session.diagnostics, &out);
            text_free(&out);
            session_free(&session);
            parse_is_unfinished(&memory, buffer, length, dialect);
        }
    }
}

/* `test_parse [seconds of random input]` */
int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof runnel_cases / sizeof *runnel_cases; i++)
        check_case(&runnel_cases[i], DIALECT_RUNNEL);
    for (size_t i = 0; i < sizeof nesl_cases / sizeof *nesl_cases; i++)
        check_case(&nesl_cases[i], DIALECT_NESL);
    check_inputs();
    check_types();
    check_shapes();
    check_random(argc > 1 ? atof(argv[1]) : 1.0);
    if (failures > 0)
        printf("%d failures\n", failures);
    return failures > 0;
}
