/* Nodes that compute point by point, on several threads: programs over a few thousand points, each with teams and buffers of several sizes. Results and
 * errors must be those of the reference interpreter, also where points fail in an order that nobody planned. One is run with every allocation of the
 * run failing in turn. */
#include "base/text.h"
#include "runnel.h"

#include <stdio.h>
#include <string.h>

#define SCALAR_FUNCTIONS                                                                                              \
    "function collatz(n : int, k : int) : int = if n <= 1 then k else collatz(if rem(n, 2) == 0 then n / 2 else 3 * n + 1, k + 1)\n" \
    "function down(n : int) : int = if n < 0 then 1 / (n + 1) else if n == 0 then 0 else 1 + down(n - 1)\n"           \
    "function tail(v : [int], n : int) : [int] = if n == 0 then v else tail(drop(v, 1), n - 1)\n"

static const char *const programs[] = {
    /* element by element */
    "[sqrt(float(i)) * 2.0 + sin(float(i)) : i in &3000];",
    "[1000 / (i - 2000) : i in &3000];",
    "[trunc(1.0 / float(rem(2500 - i, 1000))) : i in &3000];",
    "let n = 7 in [rem(i * i, n) : i in &3000];",

    /* scalar code */
    SCALAR_FUNCTIONS "[collatz(i, 0) : i in &400];",
    SCALAR_FUNCTIONS "[down(if rem(i, 100) == 99 then 1500 else rem(i, 20)) : i in &1000];",
    SCALAR_FUNCTIONS "[down(if i == 900 then -1 else if i == 901 then 20000 else if i > 950 then -2 else rem(i, 30)) : i in &1000];",
    SCALAR_FUNCTIONS "[#tail([j : j in &(rem(i, 5) + 9)], rem(i, 9)) : i in &1500];",
    SCALAR_FUNCTIONS "let v = [j : j in &8] in [tail(v, rem(i, if i < 1200 then 9 else 10)) : i in &1500];",
    SCALAR_FUNCTIONS "[reduce((a, b) => rem(collatz(a + 1, b), 100), 0, [j : j in &i]) : i in &40];",
    SCALAR_FUNCTIONS "[scan((a, b) => rem(a * 7 + collatz(b, 0), 100), 0, [j : j in &i]) : i in &40];",
    SCALAR_FUNCTIONS "reduce((a, b) => down(a - b + 4), 0, [rem(i, 5) : i in &1500]);",

    /* random numbers, counts */
    "[rand(i + 1) : i in &3000];",
    "[(rand(2.5), rand(f32(1.5))) : i in &2000];",
    "[rand(if i == 2100 or i == 700 then 0 else 10) : i in &3000];",
    "[sum(&rem(i, 5)) : i in &3000];",
    "[sum(&(1500 - i)) : i in &3000];",
    "[sum([i : 10 : 1500 - i]) : i in &3000];",

    /* branches, values that are put together */
    "[if rem(i, 3) == 0 then i * 2 else if rem(i, 3) == 1 then sum(&rem(i, 10)) else 7 : i in &3000];",
    "[if rem(i, 3) == 0 then [i] else if rem(i * i, 5) == 1 then [1, 2] else [] : i in &3000];",
    "[if i > 1000 then 5 else i : i in &3000];",
    "[[i, i + 1, i * i] : i in &2000];",
    "[[[i], [] int, [i, 3]] : i in &1000];",

    /* orders */
    "[(rem(i, 3), [i]) < (rem(i, 7), [3]) : i in &3000];",
    "[@i == @rem(i, 2000) : i in &3000];",
    "({i : i in &5000} == {i : i in &5000}, {i : i in &5000} < {if i == 4321 then 0 else i : i in &5000});",
    "{(i, float(i)) : i in &3000} < {(i, if i == 2999 or i == 100 then inf else float(i)) : i in &3000};",
};

static const uint64_t chunks[] = {0, 20000};
static const uint32_t sizes[] = {1, 2, 3, 8};
enum {
    PROGRAM_COUNT = sizeof programs / sizeof *programs,
    CHUNK_COUNT = sizeof chunks / sizeof *chunks,
    SIZE_COUNT = sizeof sizes / sizeof *sizes,
    SHOWN = 300,
};

static Memory memory;

static void keep(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
}

/* Runs a program; everything it writes, then its messages. */
static RunnelStatus run(const char *program, RunnelOptions options, Text *out)
{
    text_clear(out);
    options.write = keep;
    options.write_context = out;
    RunnelSession *session = runnel_open(&options);
    if (session == NULL)
        return RUNNEL_RUN_ERROR;
    RunnelStatus status = runnel_load_text(session, "test.rnl", program, strlen(program), RUNNEL_DIALECT_RNL);
    if (status == RUNNEL_OK)
        status = runnel_run(session, NULL, 0);
    text_add(out, runnel_messages(session));
    runnel_close(session);
    return status;
}

static RunnelOptions options_of(uint32_t threads, uint64_t chunk)
{
    return (RunnelOptions){.engine = RUNNEL_ENGINE_VM, .chunk = chunk, .threads = threads, .piece_nanoseconds = 1};
}

static int compare(const char *program, RunnelOptions options, const Text *expected)
{
    Text found;
    text_init(&found, &memory);
    run(program, options, &found);
    bool is_same = strcmp(text_string(&found), text_string(expected)) == 0;
    if (!is_same)
        fprintf(stderr, "%s\n  chunk %d, threads %u: found\n%.*s\nexpected\n%.*s\n", program, (int)options.chunk,
                options.threads, SHOWN, text_string(&found), SHOWN, text_string(expected));
    text_free(&found);
    return is_same ? 0 : 1;
}

static int compare_all(const char *program)
{
    Text expected;
    text_init(&expected, &memory);
    int failures = 0;
    if (run(program, (RunnelOptions){.engine = RUNNEL_ENGINE_REFERENCE}, &expected) == RUNNEL_COMPILE_ERROR) {
        fprintf(stderr, "%s\n%s\n", program, text_string(&expected));
        failures++;
    }
    for (size_t i = 0; i < CHUNK_COUNT; i++)
        for (size_t k = 0; k < SIZE_COUNT; k++)
            failures += compare(program, options_of(sizes[k], chunks[i]), &expected);
    text_free(&expected);
    return failures;
}

/* Nothing may be lost, which the sanitizer sees. */
static void fail_allocations(void)
{
    enum { MOST = 200 };
    static const char program[] = SCALAR_FUNCTIONS "let v = [j : j in &8] in [tail(v, rem(i, 9)) : i in &70];";
    Text expected, found;
    text_init(&expected, &memory);
    text_init(&found, &memory);
    run(program, options_of(2, 0), &expected);
    uint64_t enough = 1;
    while (enough == 1 || strcmp(text_string(&found), text_string(&expected)) != 0) {
        enough *= 2;
        RunnelOptions options = options_of(2, 0);
        options.fail_after = enough;
        run(program, options, &found);
    }
    for (uint64_t n = enough > MOST ? enough - MOST : 1; n < enough; n += 3) {
        RunnelOptions options = options_of(2, 0);
        options.fail_after = n;
        run(program, options, &found);
    }
    text_free(&found);
    text_free(&expected);
}

int main(void)
{
    int failures = 0;
    for (size_t i = 0; i < PROGRAM_COUNT; i++)
        failures += compare_all(programs[i]);
    fail_allocations();
    return failures != 0 || memory.live_bytes != 0;
}
