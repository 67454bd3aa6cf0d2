/* What `runnel bench` makes of its measurements: medians, settled times, strings of JSON. And runs of what was prepared, as a host sees them. */
#include "base/json.h"
#include "base/statistics.h"
#include "runnel.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

/* ---- statistics ---- */

static double median_of(double *values, size_t count)
{
    statistics_sort(values, count);
    return statistics_median(values, count);
}

static void test_median(void)
{
    CHECK(median_of((double[]){7}, 1) == 7);
    CHECK(median_of((double[]){3, 1}, 2) == 2);
    CHECK(median_of((double[]){9, 1, 5}, 3) == 5);
    CHECK(median_of((double[]){4, 1, 100, 2}, 4) == 3);
    CHECK(median_of((double[]){5, 5, 5, 1, 9}, 5) == 5);
    double many[1001];
    for (size_t i = 0; i < 1001; i++)
        many[i] = (double)(i * 367 % 1001);
    CHECK(median_of(many, 1001) == 500 && many[0] == 0 && many[1000] == 1000);
    CHECK(statistics_median(many, 1000) == 499.5);
}

static void test_settled(void)
{
    const double times[] = {9, 5, 1.04, 1.0, 1.05, 1.2};
    CHECK(!statistics_have_settled(times, 2, 3, 0.05));
    CHECK(!statistics_have_settled(times, 3, 3, 0.05));
    CHECK(!statistics_have_settled(times, 4, 3, 0.05));
    CHECK(statistics_have_settled(times, 5, 3, 0.06));
    CHECK(!statistics_have_settled(times, 6, 3, 0.06));
    CHECK(statistics_have_settled((const double[]){0, 0, 0}, 3, 3, 0.05));
}

/* ---- JSON ---- */

static bool is_escaped(const char *text, size_t length, const char *expected)
{
    char whole[256] = "", character[JSON_CHARACTER_SIZE];
    for (size_t at = 0; at < length;) {
        at += json_character(text + at, length - at, character);
        strcat(whole, character);
    }
    if (strcmp(whole, expected) != 0)
        fprintf(stderr, "escaped: %s\nexpected: %s\n", whole, expected);
    return strcmp(whole, expected) == 0;
}

static void test_json(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"[1, 2.5] : [float]", "[1, 2.5] : [float]"},
        {"\"a\\b\"", "\\\"a\\\\b\\\""},
        {"a\nb\rc\td", "a\\nb\\rc\\td"},
        {"\001\037\177", "\\u0001\\u001f\\u007f"},
        /* of two, three and four bytes */
        {"\303\244\342\202\254\360\237\230\200", "\303\244\342\202\254\360\237\230\200"},
        /* alone, cut short, longer than needed, a surrogate, too large */
        {"\344b", "\\ufffdb"},
        {"\200", "\\ufffd"},
        {"\342\202", "\\ufffd\\ufffd"},
        {"\342\202b", "\\ufffd\\ufffdb"},
        {"\300\257", "\\ufffd\\ufffd"},
        {"\355\240\200", "\\ufffd\\ufffd\\ufffd"},
        {"\364\220\200\200", "\\ufffd\\ufffd\\ufffd\\ufffd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(is_escaped(cases[i].text, strlen(cases[i].text), cases[i].expected));
    CHECK(is_escaped("\0x", 2, "\\u0000x"));
}

/* ---- prepared runs ---- */

typedef struct Kept {
    char output[256], results[256];
} Kept;

static void append(char *text, const char *bytes, size_t length)
{
    strncat(text, bytes, length);
}

static void keep_output(void *context, const char *bytes, size_t length)
{
    append(((Kept *)context)->output, bytes, length);
}

static void keep_result(void *context, const char *bytes, size_t length)
{
    append(((Kept *)context)->results, bytes, length);
}

static RunnelSession *open_on(RunnelEngine engine, Kept *kept, const char *text, RunnelDialect dialect)
{
    *kept = (Kept){0};
    RunnelOptions options = {.engine = engine,
                             .write = keep_output,
                             .write_result = keep_result,
                             .write_context = kept,
                             .threads = 3};
    RunnelSession *session = runnel_open(&options);
    CHECK(runnel_load_text(session, "text", text, strlen(text), dialect) == RUNNEL_OK);
    return session;
}

static void test_main(RunnelEngine engine)
{
    static const char text[] = "k = let _ = print_string(\"once \") in 10;\n"
                               "function main(xs : {int}, v : [int], n := 2) =\n"
                               "  let _ = print_string(\"run \") in ({x * k : x in xs}, sum(v) + n)";
    static const char *const arguments[] = {"{1, 2}", "[3, 4]"};
    Kept kept;
    RunnelRunInfo info;
    RunnelSession *session = open_on(engine, &kept, text, RUNNEL_DIALECT_RNL);
    CHECK(runnel_prepare(session, arguments, 2) == RUNNEL_OK);
    for (int i = 0; i < 3; i++)
        CHECK(runnel_run_prepared(session, &info) == RUNNEL_OK);
    CHECK(strcmp(kept.output, "once run run run ") == 0);
    CHECK(strcmp(kept.results, "({10, 20}, 9)\n({10, 20}, 9)\n({10, 20}, 9)\n") == 0);
    CHECK(info.seconds > 0 && (engine == RUNNEL_ENGINE_C || info.kernels == 0));
    CHECK(info.threads == (engine == RUNNEL_ENGINE_REFERENCE ? 1 : 3));
    runnel_close(session);
}

/* Bindings are where they stand, in the first run. */
static void test_items(RunnelEngine engine)
{
    static const char text[] = "rand_seed(5); a = rand(1000000); a == a; b = a + 1; b - a;";
    Kept kept;
    RunnelRunInfo info;
    RunnelSession *session = open_on(engine, &kept, text, RUNNEL_DIALECT_NESL);
    CHECK(runnel_prepare(session, NULL, 0) == RUNNEL_OK);
    for (int i = 0; i < 2; i++)
        CHECK(runnel_run_prepared(session, &info) == RUNNEL_OK);
    CHECK(strcmp(kept.results, "it = T : bool\nit = T : bool\nit = 1 : int\nit = T : bool\nit = T : bool\nit = 1 : int\n") == 0);
    runnel_close(session);
}

/* What is prepared ends with an error, with a stop, and with something new. */
static void test_ends(RunnelEngine engine)
{
    static const char text[] = "function main(n : int) = 10 / n";
    static const char *const good[] = {"5"}, *const bad[] = {"0"};
    Kept kept;
    RunnelRunInfo info;
    RunnelSession *session = open_on(engine, &kept, text, RUNNEL_DIALECT_RNL);
    CHECK(runnel_run_prepared(session, &info) == RUNNEL_COMPILE_ERROR);
    CHECK(strstr(runnel_messages(session), "nothing is prepared") != NULL);
    CHECK(runnel_prepare(session, bad, 1) == RUNNEL_OK);
    CHECK(runnel_run_prepared(session, &info) == RUNNEL_RUN_ERROR);
    CHECK(strstr(runnel_messages(session), "division-by-zero") != NULL);
    CHECK(runnel_run_prepared(session, &info) == RUNNEL_COMPILE_ERROR);
    CHECK(runnel_prepare(session, good, 1) == RUNNEL_OK && runnel_run_prepared(session, &info) == RUNNEL_OK);
    runnel_interrupt(session);
    CHECK(runnel_run_prepared(session, &info) == RUNNEL_RUN_ERROR);
    CHECK(strstr(runnel_messages(session), "interrupted") != NULL && runnel_is_stopping(session));
    CHECK(runnel_prepare(session, good, 1) == RUNNEL_OK && runnel_run(session, good, 1) == RUNNEL_OK);
    CHECK(runnel_run_prepared(session, &info) == RUNNEL_COMPILE_ERROR);
    CHECK(runnel_prepare(session, NULL, 0) == RUNNEL_COMPILE_ERROR);
    CHECK(runnel_prepare(session, good, 1) == RUNNEL_OK);
    CHECK(strcmp(kept.results, "2\n2\n") == 0);
    runnel_close(session);
}

int main(void)
{
    test_median();
    test_settled();
    test_json();
    for (RunnelEngine engine = RUNNEL_ENGINE_VM; engine <= RUNNEL_ENGINE_REFERENCE; engine++) {
        test_main(engine);
        test_items(engine);
        test_ends(engine);
    }
    return failures != 0;
}
