/* The same bits for every number of threads and every size of chunks: sums and scans of floats, sorts, scatters, groups, random numbers,
 * recursion, errors. Threads are given very little at a time, so that small programs are shared as large ones are. */
#define _POSIX_C_SOURCE 200809L
#include "runnel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TEST_ENGINE
#define TEST_ENGINE RUNNEL_ENGINE_VM
#endif

/* Every program sees a vector `v` of floats of very different sizes, `k` of small ints and `rows`, which has empty, short and one long row. */
static const char prelude[] =
    "function n() : int = 2500\n"
    "function value(i : int) : float = sin(float(i * i)) * pow(10.0, float(rem(i * 7, 21) - 10))\n"
    "v = {value(i) : i in [0 : n()]};\n"
    "k = {rem(i * i + 3 * i, 37) : i in [0 : n()]};\n"
    "rows = {{value(i + j) : j in [0 : if i == 50 then 1500 else max(0, rem(i * 5, 9) - 3)]} : i in [0 : 300]};\n"
    "function quicksort(a : [float]) : [float] =\n"
    "  if #a < 2 then a else\n"
    "  let p = a[#a / 2];\n"
    "      parts = {quicksort(b) : b in [{x : x in a | x < p}, {x : x in a | x > p}]}\n"
    "  in parts[0] ++ {x : x in a | x == p} ++ parts[1]\n"
    "function collatz(i : int, steps : int) : int =\n"
    "  if i <= 1 then steps else collatz(if rem(i, 2) == 0 then i / 2 else 3 * i + 1, steps + 1)\n";

static const char *const programs[] = {
    "sum(v)",
    "(product({1.0 + x * 1.0e-13 : x in v}), max_val(v), min_val(v))",
    "plus_scan(v)",
    "{sum(r) : r in rows}",
    "{plus_scan(r) : r in rows}",
    "{sum(r) / float(#r) : r in rows | #r > 0}",
    "sum({sum({x * y : y in r}) : x in take(v, 300); r in rows})",
    "sum({log(abs(x) + 1.0) : x in seq(v) | x > 0.0})",
    "reduce((a, b) => a * 0.5 + b, 0.0, v)",
    "scan((a, b) => a * 0.5 + b, 0.0, v)",
    "{reduce((a, b) => a * 0.5 + b, 0.0, r) : r in rows}",
    "sort(v)",
    "rank(k)",
    "{sort(r) : r in rows}",
    "sort({(a, b) : a in k; b in v})",
    "{(key, sum(x), #x) : (key, x) in {(a, b) : a in k; b in v} group by key}",
    "{(key, sum(x)) : (key, x) in {(rem(i, 101), value(i)) : i in iota(4000)} group by key}",
    "{v[i] : i in k}",
    "v <- {(rem(i * 31, n()), float(i)) : i in [0 : n()]}",
    "quicksort(v)",
    "{collatz(i, 0) : i in [1 : 1500]}",
    "let _ = rand_seed(3) in {rand(abs(x) + 1.0) : x in v}",
    "concat({if #r > 4 then r else take(v, #r) : r in rows})",
    "{if x > 0.0 then sum(take(v, 10)) + x else x * 2.0 : x in v}",
    "{1000 / (rem(i, 2001) - 2000) : i in [0 : n()]}",
    "{v[i * 2] : i in [0 : n()]}",
    "{sum({10 / (j - i - 3) : j in [i : i + 5]}) : i in [0 : n()]}",
    "{collatz(i, 0) / (i - 1250) : i in [1 : 1500]}",
    "sum({1 / (i - 1023) + 2 / (i - 1022) : i in iota(2500)})",
    "sum({x * y : x in iota(2000); y in iota(2001)})",
    "reduce((a, b) => if b == 2321 then a / 0 else a + b, 0, [0 : n()])",
};
enum { PROGRAM_COUNT = sizeof programs / sizeof *programs };

typedef struct Output {
    char *bytes;
    size_t length, capacity;
} Output;

static void keep(void *context, const char *bytes, size_t length)
{
    Output *output = context;
    if (output->length + length + 1 > output->capacity) {
        output->capacity = (output->length + length + 1) * 2;
        output->bytes = realloc(output->bytes, output->capacity);
        if (output->bytes == NULL)
            exit(1);
    }
    memcpy(output->bytes + output->length, bytes, length);
    output->length += length;
    output->bytes[output->length] = '\0';
}

/* What the program prints, messages last. */
static Output run(const char *program, uint32_t threads, uint64_t chunk, RunnelEngine engine)
{
    Output output = {0};
    RunnelSession *session = runnel_open(&(RunnelOptions){.engine = engine,
                                                          .write = keep,
                                                          .write_context = &output,
                                                          .threads = threads,
                                                          .piece_nanoseconds = threads > 8 ? 1000 : 20,
                                                          .chunk = chunk});
    if (session == NULL)
        exit(1);
    char text[sizeof prelude + 512];
    snprintf(text, sizeof text, "%s%s;", prelude, program);
    bool is_loaded = runnel_load_text(session, "test", text, strlen(text), RUNNEL_DIALECT_RNL) == RUNNEL_OK;
    if (is_loaded)
        runnel_run(session, NULL, 0);
    const char *messages = runnel_messages(session);
    if (!is_loaded) {
        fprintf(stderr, "%s", messages);
        exit(1);
    }
    keep(&output, messages, strlen(messages));
    runnel_close(session);
    return output;
}

static int compare(const char *program, const Output *expected, uint32_t threads, uint64_t chunk)
{
    Output output = run(program, threads, chunk, TEST_ENGINE);
    bool is_same = output.length == expected->length && memcmp(output.bytes, expected->bytes, output.length) == 0;
    if (!is_same)
        fprintf(stderr, "%s\n  with %s code, %u threads, chunks of %llu (0: adaptive):\n  %.300s\n  not\n  %.300s\n", program,
                TEST_ENGINE == RUNNEL_ENGINE_C ? "compiled" : "no", threads, (unsigned long long)chunk, output.bytes, expected->bytes);
    free(output.bytes);
    return !is_same;
}

int main(int argument_count, char **arguments)
{
    static const uint32_t threads[] = {1, 2, 3, 4, 8, 64};
    static const uint64_t chunks[] = {0, 1, 2, 7, 1000};
    const char *mode = getenv("TEST_MODE");
    bool is_quick = mode != NULL && strcmp(mode, "release") != 0; /* sanitizers are slow */
    bool is_blind = is_quick && strcmp(mode, "tsan") != 0; /* compiled code is under the thread sanitizer only */
    if (TEST_ENGINE == RUNNEL_ENGINE_C && (!runnel_has_compiler() || is_blind))
        return 0;
    int failures = 0;
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        Output expected = run(programs[i], 1, 0, RUNNEL_ENGINE_REFERENCE);
        if (argument_count > 1 && strcmp(arguments[1], "--show") == 0)
            printf("%s\n  %.150s\n", programs[i], expected.bytes);
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
            for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++)
                if (!is_quick || (threads[t] == 3 && chunks[c] != 1))
                    failures += compare(programs[i], &expected, threads[t], chunks[c]);
        free(expected.bytes);
    }
    return failures != 0;
}
