/* The simplifier on programs too large to write down, and on programs loaded piece by piece: what is run is the same
 * simplified and not, and inlining makes a program longer by a constant factor at most. */
#include "runnel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Buffer {
    char *bytes;
    size_t length, capacity;
} Buffer;

static int failures;

static void add_bytes(Buffer *buffer, const char *bytes, size_t length)
{
    while (buffer->length + length + 1 > buffer->capacity) {
        buffer->capacity = buffer->capacity == 0 ? 4096 : buffer->capacity * 2;
        buffer->bytes = realloc(buffer->bytes, buffer->capacity);
        if (buffer->bytes == NULL)
            abort();
    }
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
}

__attribute__((format(printf, 2, 3))) static void add(Buffer *buffer, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_bytes(buffer, text, (size_t)length);
}

static void keep_output(void *context, const char *bytes, size_t length)
{
    add_bytes(context, bytes, length);
}

static size_t count_lines(const Buffer *buffer)
{
    size_t count = 0;
    for (size_t i = 0; i < buffer->length; i++)
        count += buffer->bytes[i] == '\n';
    return count;
}

static RunnelSession *open_session(Buffer *output, bool is_unsimplified)
{
    RunnelOptions options = {.engine = RUNNEL_ENGINE_REFERENCE, .write = keep_output, .write_context = output, .is_unsimplified = is_unsimplified};
    RunnelSession *session = runnel_open(&options);
    if (session == NULL)
        abort();
    return session;
}

static void complain(RunnelSession *session, const char *what)
{
    failures++;
    fprintf(stderr, "%s: %s\n", what, runnel_messages(session));
}

/* Loads pieces of program one after the other and runs each. */
static void run_pieces(const char *what, const char *const *pieces, size_t count, bool is_unsimplified, Buffer *output)
{
    RunnelSession *session = open_session(output, is_unsimplified);
    for (size_t i = 0; i < count; i++) {
        if (runnel_load_text(session, what, pieces[i], strlen(pieces[i]), RUNNEL_DIALECT_RNL) != RUNNEL_OK ||
            runnel_run_items(session) != RUNNEL_OK)
            add(output, "%s", runnel_messages(session));
    }
    runnel_close(session);
}

static void expect_same(const char *what, const char *const *pieces, size_t count)
{
    Buffer simplified = {0}, written = {0};
    run_pieces(what, pieces, count, false, &simplified);
    run_pieces(what, pieces, count, true, &written);
    if (written.length == 0 || strcmp(simplified.bytes, written.bytes) != 0) {
        failures++;
        fprintf(stderr, "%s: simplified: %s\n  as written: %s\n", what, simplified.bytes, written.bytes);
    }
    free(simplified.bytes);
    free(written.bytes);
}

static void measure(const char *what, const Buffer *program, const char *form, Buffer *text)
{
    RunnelSession *session = open_session(text, false);
    if (runnel_load_text(session, what, program->bytes, program->length, RUNNEL_DIALECT_RNL) != RUNNEL_OK ||
        runnel_write_form(session, form) != RUNNEL_OK)
        complain(session, what);
    runnel_close(session);
}

enum { GROWTH_MAX = 16 };

/* Takes the program over. */
static void expect_same_and_short(const char *what, Buffer *program)
{
    const char *piece = program->bytes;
    expect_same(what, &piece, 1);
    Buffer core = {0}, simple = {0};
    measure(what, program, "core", &core);
    measure(what, program, "simple", &simple);
    if (count_lines(&simple) > GROWTH_MAX * count_lines(&core)) {
        failures++;
        fprintf(stderr, "%s: %zu lines become %zu\n", what, count_lines(&core), count_lines(&simple));
    }
    free(core.bytes);
    free(simple.bytes);
    free(program->bytes);
}

/* ---- programs ---- */

enum { CHAIN = 10000, TREE = 11, STATEMENTS = 50000, NESTING = 900 };

/* f0 calls f1 calls f2 ...: `body` is printf's format of how, given the number and the next one. */
static void test_chain(const char *what, const char *body, int count)
{
    Buffer program = {0};
    for (int i = 0; i < count; i++) {
        add(&program, "function f%d(x : int) : int = ", i);
        for (const char *at = body; *at != '\0'; at++)
            if (*at == '@')
                add(&program, "f%d", i + 1);
            else
                add_bytes(&program, at, 1);
        add(&program, "\n");
    }
    add(&program, "function f%d(x : int) : int = x\nf0(3);\n", count);
    expect_same_and_short(what, &program);
}

/* Streams are inlined, always: 2^TREE copies would be too many to write down, but not for the machine. */
static void test_stream_tree(void)
{
    Buffer program = {0};
    for (int i = 0; i < TREE; i++)
        add(&program, "function f%d(s : {int}) : int = f%d({x + %d : x in s}) + f%d({x * 3 : x in s})\n", i, i + 1, i,
            i + 1);
    add(&program, "function f%d(s : {int}) : int = sum(s)\nf0(iota(2));\n", TREE);
    const char *piece = program.bytes;
    expect_same("a tree of streams", &piece, 1);
    Buffer simple = {0};
    measure("a tree of streams", &program, "simple", &simple);
    if (strstr(simple.bytes, "function") != NULL) {
        failures++;
        fprintf(stderr, "a tree of streams: a function is left\n");
    }
    free(simple.bytes);
    free(program.bytes);
}

static void test_long_block(void)
{
    Buffer program = {0};
    add(&program, "let x0 = 1");
    for (int i = 1; i < STATEMENTS; i++)
        add(&program, "; x%d = x%d * %d + 1", i, i - 1, i);
    add(&program, " in x%d;\n", STATEMENTS - 1);
    expect_same_and_short("a long block", &program);
}

/* A function whose blocks nest deeply, called inside blocks that do. */
static void test_deep_blocks(void)
{
    Buffer program = {0};
    static const char *const heads[] = {"function g(n : int) : int = ", "function h(n : int) : int = "};
    for (int f = 0; f < 2; f++) {
        add(&program, "%s", heads[f]);
        for (int i = 0; i < NESTING; i++)
            add(&program, "if n > %d then (n + ", i);
        add(&program, "%s", f == 0 ? "0" : "g(n)");
        for (int i = 0; i < NESTING; i++)
            add(&program, ") else %d", i);
        add(&program, "\n");
    }
    add(&program, "h(7) + h(100000);\n");
    expect_same_and_short("deep blocks", &program);
}

/* What was inlined or left out when it was loaded may be wanted later, or be replaced. */
static void test_pieces(void)
{
    static const char *const pieces[] = {
        "function once(x : int) = x * x + x - 3\nfunction twice(f, x) = f(f(x))\nonce(4);",
        "once(5) + once(6) + twice(once, 7);",
        "k = once(2);\nfunction uses(v) = {x + k : x in v}\nuses([1, 2]);",
        "k + 1 / 0;",
        "nonsense(3);",
        "uses(iota(3));",
        "function once(x : int) = -x\nonce(4);",
        "reduce((a, b) => twice(once, a) + once(b), 0, [1, 2, 3]);",
    };
    expect_same("pieces", pieces, sizeof pieces / sizeof *pieces);
}

int main(void)
{
    test_chain("a chain", "@(x + 1) * 2", CHAIN);
    test_chain("a chain of branches", "if x > 2 then @(x + 1) + 1 else x", CHAIN);
    test_chain("a chain of shared functions", "if x > 2 then @(x + 1) else @(x)", CHAIN);
    test_chain("a tree", "@(x * 3) + @(x - 1)", TREE);
    test_stream_tree();
    test_long_block();
    test_deep_blocks();
    test_pieces();
    return failures > 0;
}
