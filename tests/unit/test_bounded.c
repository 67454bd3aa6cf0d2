/* Peak resident memory of programs, each in a process of its own. */
#define _DEFAULT_SOURCE
#include "runnel.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

enum { STATUS_SKIPPED = 77 };

typedef struct Case {
    const char *name;
    const char *text;
    const char *expected;
    long most_megabytes;
} Case;

static const Case cases[] = {
    {"a sum of 10^7 logarithms", "floor(sum({log(float(i)) : i in {1 : 10000001}}));", "151180965\n", 32},
    {"a sum of sums of logarithms",
     "function logsum(n : int) : float = sum({log(float(i)) : i in {1 : n + 1}})\n"
     "floor(sum({logsum(k * k) : k in {1 : 201}}));",
     "24006581\n", 32},
    {"filtered, scanned and summed", "max_val(plus_scan({x : x in iota(5000000) | rem(x, 3) == 1}));", "4166662500001\n",
     32},
    {"many short sequences", "sum({sum(iota(rem(k, 3))) : k in iota(2000000)});", "666666\n", 32},
    {"a printed sequence's length", "#concat({{x, x} : x in iota(2000000)});", "4000000\n", 32},
    {"quicksort of 10^5",
     "function qsort(a : [int]) : [int] = if #a < 2 then a else\n"
     "  let p = a[#a / 2]; r = {qsort(v) : v in [{x in a | x < p}, {x in a | x > p}]} in\n"
     "  r[0] ++ {x in a | x == p} ++ r[1]\n"
     "let s = qsort({floor(random(1, i) * 1000000.0) : i in [0:100000]}) in (#s, all({x <= y : x in s; y in next(s, 1000000)}));",
     "(100000, true)\n", 100},
    {"queens by recursion over boards",
     "function safe(b : [int], q : int) : bool =\n"
     "  not(any({(x == q) or (abs(x - q) == #b - i) : x in b; i in [0 : #b]}))\n"
     "function place(b : [int], n : int) : int =\n"
     "  if #b == n then 1 else sum({place(b ++ [q], n) : q in [0:n] | safe(b, q)})\n"
     "place([] int, 8);",
     "92\n", 64},
    {"recursion of depth 10^4 over vectors",
     "function down(n : int, v : [int]) : [int] =\n"
     "  if n == 0 then v else let r = down(n - 1, v) in [n] ++ take(r, min(#r, 3))\n"
     "down(10000, [7]);",
     "[10000, 9999, 9998, 9997]\n", 100},
};

static char output[4096];
static size_t output_length;

static void keep(void *context, const char *bytes, size_t length)
{
    (void)context;
    if (length < sizeof output - output_length) {
        memcpy(output + output_length, bytes, length);
        output_length += length;
    }
}

/* In the child: 0 if the program gives what is expected. */
static int run(const Case *test)
{
    RunnelOptions options = {.write = keep};
    RunnelSession *session = runnel_open(&options);
    RunnelStatus status = runnel_load_text(session, "case.rnl", test->text, strlen(test->text), RUNNEL_DIALECT_RNL);
    if (status == RUNNEL_OK)
        status = runnel_run(session, NULL, 0);
    bool is_right = status == RUNNEL_OK && strcmp(output, test->expected) == 0;
    if (!is_right)
        printf("%s: gives %s%s\n", test->name, output, runnel_messages(session));
    fflush(stdout);
    runnel_close(session);
    return is_right ? 0 : 1;
}

static bool check(const Case *test)
{
    pid_t child = fork();
    if (child == 0)
        _exit(run(test));
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("%s: failed\n", test->name);
        return false;
    }
    long megabytes = usage.ru_maxrss / 1024;
    if (megabytes > test->most_megabytes)
        printf("%s: held %ld MB, allowed are %ld\n", test->name, megabytes, test->most_megabytes);
    return megabytes <= test->most_megabytes;
}

int main(void)
{
    if (IS_SANITIZED)
        return STATUS_SKIPPED;
    bool is_right = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_right &= check(&cases[i]);
    return is_right ? 0 : 1;
}
