/* Running out of memory is an error like others: whichever allocation of a small program fails, the session reports
 * it and closes cleanly. Under the address sanitizer this also shows that nothing leaks on the way out. */
#define _POSIX_C_SOURCE 200809L
#include "runnel.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* When there are more allocations than this, a sample of them is made to fail. */
enum { ATTEMPTS_MAX = 1000 };

static const char sorting[] = "function quicksort(a : [int]) : [int] =\n"
                              "  if #a < 2 then a\n"
                              "  else let p = a[#a / 2];\n"
                              "           parts = [{x in a | x < p}, {x in a | x > p}];\n"
                              "           sorted = {quicksort(v) : v in parts}\n"
                              "       in sorted[0] ++ {x in a | x == p} ++ sorted[1]\n"
                              "function main(a : [int]) = (quicksort(a), sum({float(x) : x in seq(a)}))\n";
static const char sorted[] = "([1, 1, 3, 4, 5], 14.0)\n";

/* Operations that hold values while they run, files among them; %s is the path of a file of our own. */
static const char holding_format[] =
    "function main(a : [int]) =\n"
    "  let v = [([x], @x) : x in a]; path = \"%s\"; _ = write_object_to_file(v, path)\n"
    "  in (eql(read_object_from_file(v, path), v), multiscan(+, [0, 0], {(rem(x, 2), x) : x in a}),\n"
    "      scan_inclusive(max, a), search_table(create_table({(x, [x]) : x in a}), [4, 7]), parse_float(\"2.5\"))\n";
static char holding[sizeof holding_format + 64];
static const char held[] = "(true, [0, 3, 0, 4, 5], [3, 3, 4, 4, 5], [([4], true), ([], false)], 2.5, true)\n";

/* A parameter that is read and a result that is printed while the program runs. */
static const char streaming[] = "function main(a : {int}) = ({({y : y in {0:x}}, [@x]) : x in a}, sum(a))\n";
static const char streamed[] = "({({0, 1, 2}, [\"3\"]), ({0}, [\"1\"]), ({0, 1, 2, 3}, [\"4\"]), ({0}, [\"1\"]), "
                               "({0, 1, 2, 3, 4}, [\"5\"])}, 14)\n";

/* Tables, and arrays in several files; results that go to them. */
static const char rows[] = "function main(a : {(int, [char])}) = {(x + 1, t) : (x, t) in a}\n";
static const char row_vector[] = "function main(a : [(int, [char])]) = [(x + 1, t) : (x, t) in a]\n";
static const char shown_rows[] = "{(2, \"a\"), (3, \"b\\nc\")}\n", shown_vector[] = "[(2, \"a\"), (3, \"b\\nc\")]\n";
static char table_path[64], table_argument[64], array_path[64], array_argument[64];

typedef struct Case {
    const char *program;
    const char *expected;
    RunnelEngine engine;
    bool is_prepared;     /* to be run more than once */
    const char *argument; /* null: [3, 1, 4, 1, 5] */
    const char *out;      /* where the result goes */
} Case;

static const Case cases[] = {{sorting, sorted, RUNNEL_ENGINE_REFERENCE, false, NULL, NULL},
                             {holding, held, RUNNEL_ENGINE_REFERENCE, false, NULL, NULL},
                             {streaming, streamed, RUNNEL_ENGINE_VM, false, NULL, NULL},
                             {streaming, streamed, RUNNEL_ENGINE_VM, true, NULL, NULL},
                             {sorting, sorted, RUNNEL_ENGINE_REFERENCE, true, NULL, NULL},
                             {rows, shown_rows, RUNNEL_ENGINE_VM, false, table_argument, NULL},
                             {row_vector, shown_vector, RUNNEL_ENGINE_VM, true, table_argument, NULL},
                             {rows, "", RUNNEL_ENGINE_VM, false, table_argument, array_path},
                             {row_vector, "", RUNNEL_ENGINE_REFERENCE, false, table_argument, table_path},
                             {rows, "{(3, \"a\"), (4, \"b\\nc\")}\n", RUNNEL_ENGINE_VM, false, array_argument, NULL}};

typedef enum Attempt { ATTEMPT_RAN, ATTEMPT_OUT_OF_MEMORY, ATTEMPT_WRONG } Attempt;

typedef struct Output {
    char bytes[256];
    size_t length;
} Output;

static void keep_output(void *context, const char *bytes, size_t length)
{
    Output *output = context;
    size_t room = sizeof output->bytes - 1 - output->length;
    size_t kept = length < room ? length : room;
    memcpy(output->bytes + output->length, bytes, kept);
    output->length += kept;
}

static Attempt judge(RunnelSession *session, const char *expected, RunnelStatus status, const Output *output,
                     uint64_t fail_after)
{
    const char *messages = runnel_messages(session);
    if (status == RUNNEL_OK && strcmp(output->bytes, expected) == 0)
        return ATTEMPT_RAN;
    if (status == RUNNEL_RUN_ERROR && strstr(messages, "error[out-of-memory]") != NULL)
        return ATTEMPT_OUT_OF_MEMORY;
    fprintf(stderr, "allocation %llu fails: status %d, output: %s\n  messages: %s\n", (unsigned long long)fail_after,
            (int)status, output->bytes, messages);
    return ATTEMPT_WRONG;
}

static RunnelStatus run(RunnelSession *session, const Case *test, const char *argument)
{
    RunnelRunInfo info;
    if (!test->is_prepared)
        return runnel_run(session, &argument, 1);
    RunnelStatus status = runnel_prepare(session, &argument, 1);
    return status == RUNNEL_OK ? runnel_run_prepared(session, &info) : status;
}

static Attempt attempt(const Case *test, uint64_t fail_after)
{
    Output output = {0};
    RunnelOptions options = {.write = keep_output,
                             .write_context = &output,
                             .fail_after = fail_after,
                             .out_path = test->out,
                             .engine = test->engine,
                             .counts_costs = test->engine == RUNNEL_ENGINE_REFERENCE};
    RunnelSession *session = runnel_open(&options);
    if (session == NULL)
        return ATTEMPT_OUT_OF_MEMORY;
    RunnelStatus status = runnel_load_text(session, "test", test->program, strlen(test->program), RUNNEL_DIALECT_RNL);
    if (status == RUNNEL_OK)
        status = run(session, test, test->argument == NULL ? "[3, 1, 4, 1, 5]" : test->argument);
    Attempt result = judge(session, test->expected, status, &output, fail_after);
    runnel_close(session);
    return result;
}

static bool survives(const Case *test)
{
    if (attempt(test, 0) != ATTEMPT_RAN)
        return false;
    uint64_t enough = 1;
    Attempt result;
    while ((result = attempt(test, enough)) == ATTEMPT_OUT_OF_MEMORY)
        enough *= 2;
    uint64_t step = enough / ATTEMPTS_MAX + 1;
    for (uint64_t n = 1; n < enough && result != ATTEMPT_WRONG; n += step)
        result = attempt(test, n);
    return result != ATTEMPT_WRONG;
}

static void make_table(const char *path)
{
    snprintf(table_path, sizeof table_path, "%s.out.csv", path);
    snprintf(array_path, sizeof array_path, "%s.npy", path);
    snprintf(array_argument, sizeof array_argument, "@%s.npy", path);
    snprintf(table_argument, sizeof table_argument, "@%s.csv", path);
    FILE *file = fopen(table_argument + 1, "w");
    fputs("number,text\n1,a\n2,\"b\nc\"\n", file);
    fclose(file);
}

static void remove_files(const char *path)
{
    static const char *const ends[] = {".csv", ".out.csv", ".1.npy", ".2.offsets.npy", ".2.values.npy"};
    char name[80];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        remove(name);
    }
}

int main(void)
{
    char path[48];
    snprintf(path, sizeof path, "/tmp/runnel-test-memory-%ld", (long)getpid());
    snprintf(holding, sizeof holding, holding_format, path);
    make_table(path);
    bool is_good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_good &= survives(&cases[i]);
    remove(path);
    remove_files(path);
    return !is_good;
}
