/* Nodes of the VM that cut, check, group, scatter, and apply users' operators: small programs, each run with buffers of several sizes, as written
 * and simplified. Results, output and errors must be those of the reference interpreter. Some are run with every allocation failing in
 * turn. */
#include "base/text.h"
#include "runnel.h"

#include <stdio.h>
#include <string.h>

static const char *const programs[] = {
    /* parts of sequences, and of vectors */
    "{sum(p) : p in part({1, 2, 3, 4, 5}, {false, true, true, false, false, false, false, true})};",
    "{{#p : p in part({i : i in &n}, concat({{false, i == 1} : i in &n}) ++ {true})} : n in {2, 2}};",
    "part({1, 2}, {false, false});",
    "{{#p : p in part(seq(v), {false, true, false, true})} : v in {[1, 2], [1, 2], [3]}};",
    "{{#p : p in part({i : i in &2}, seq(f))} : f in {[false, false, true], [false, true, false]}};",
    "(part([1, 2, 3], [true, false, false, true, false, true]), part([] int, [true, true]), part(\"\", []));",
    "[part(v, [false, true, false, true]) : v in [[1, 2], [3]]];",
    "[part([1, 2], f) : f in [[false, false, true], [false, true, false]]];",
    "{{x : x in p} : p in flag_partition({5, 6, 7, 8}, {false, true, false, true})};",
    "{{{x : x in p} : p in flag_partition({i : i in &n}, {rem(i, 3) == 2 : i in &n})} : n in {0, 1, 2, 3, 9, 0}};",
    "flag_partition({1, 2, 3}, {true, false});",
    "(flag_partition([1, 2, 3], [false, false, true]), flag_partition(\"\", []), flag_partition([1], [true]));",
    "[flag_partition([1, 2], f) : f in [[true, true], [true]]];",
    "{sum(p) : p in partition({1, 2, 3, 4, 5}, {0, 2, 0, 3, 0})};",
    "{{#p : p in partition({i : i in &n}, {i : i in &4})} : n in {6, 6}};",
    "{{#p : p in partition({i : i in &n}, {i : i in &4})} : n in {6, 5}};",
    "partition({1, 2}, {1, -1, 2});",
    "{#p : p in partition({1, 2}, {max_int})};",
    "(partition([1, 2, 3], [1, 0, 2]), partition([] int, []), partition(\"ab\", [2]));",
    "[partition([1, 2, 3], l) : l in [[3], [1, 2], [4]]];",
    "[partition([1, 2, 3], l) : l in [[3], [1, -2]]];",

    /* lengths */
    "{x * y : x in {1, 2, 3}; y in {4, 5}};",
    "{{x * y : x in &a; y in &b} : a in {0, 3, 2}; b in {0, 3, 3}};",
    "zip([1, 2, 3], [1, 2]);",
    "flag_merge({false, true, true, false}, {1, 2}, {8, 9});",
    "flag_merge({false, true, true, false}, {1}, {8, 9});",
    "{flag_merge({i == 1 : i in &n}, {0 : i in &(n - 1)}, {7}) : n in {2, 3, 5}};",
    "{flag_merge({i == 1 : i in &n}, {0 : i in &2}, {7}) : n in {3, 4}};",
    "{the({i : i in &n}) : n in [1, 1]};",
    "{the({i : i in &n}) : n in [1, 2]};",
    "(the({7}), the({i : i in &3 | i == 2}));",
    "the({i : i in &0});",
    "{take({i : i in &n}, 2) : n in {2, 5, 1}};",
    "{drop({i : i in &n}, k) : n in {2, 5}; k in {0, -1}};",

    /* neighbours */
    "{(previous(v, -1), next(v, -2)) : v in [[1, 2, 3], [], [4], [5, 6]]};",
    "{previous({i : i in &n}, n) : n in {3, 0, 1, 9}};",
    "{next({@i : i in &n}, \"end\") : n in {3, 0, 1, 9}};",
    "(next([[1], [2, 3]], []), previous([(1, \"a\"), (2, \"b\")], (0, \"\")));",

    /* scattering */
    "([1, 2, 3] <- [(0, 9), (2, 8), (0, 7)], [\"a\", \"b\"] <- {(1, \"c\")}, [] int <- []);",
    "[(v <- [(i, 10 * i) : i in &(#v) | rem(i, 2) == 0]) : v in [[1, 2, 3], [], [4], [5, 6, 7, 8, 9]]];",
    "[[1, 2, 3] <- {(i, x)} : (i, x) in [(0, 5), (3, 6)]];",
    "[1, 2, 3] <- [(0, 1), (-1, 2)];",
    "[put(x, i, [0, 0, 0]) : (x, i) in [([1, 2], [2, 0]), ([] int, []), ([3, 4], [1, 1])]];",
    "[permute(x, i) : (x, i) in [([1, 2, 3], [2, 0, 1]), ([] int, []), ([4], [0])]];",
    "[permute(x, i) : (x, i) in [([\"a\", \"b\"], [1, 0]), ([\"c\", \"d\", \"e\"], [1, 0, 1])]];",
    "permute([1, 2, 3], [1, 1, 3]);",
    "permute([1, 2, 3], [1, 0]);",
    "sum([sum(permute([i : i in &n], [n - 1 - i : i in &n])) : n in [100 : 400 : 7]]);",

    /* whole values */
    "[(a == b, a /= b, a < b, a <= b, a > b, a >= b, eql(a, b)) : (a, b) in [([1.0, nan], [1.0, nan]), ([], [0.0]), ([2.0], [1.0, "
    "3.0])]];",
    "[(\"a\", 1) < (\"a\", 2), (\"b\", 1) < (\"a\", 2)];",
    "[hash(x, 1000) : x in [[1, 2], [], [1, 2]]];",
    "[hash(\"a\", n) : n in [5, 0]];",
    "[(@x, @(x, [x]), @[@x]) : x in [1.5, 0.1, nan]];",
    "[exp_string(x, n) : (x, n) in [(125.0, 3), (0.0, 1), (1.0, 0)]];",
    "[(parse_int(s), parse_float(s)) : s in [\"12\", \"-7\", \"1.5\", \"\", \"x\", \"99999999999999999999\"]];",
    "[transpose(m) : m in [[[1, 2, 3], [4, 5, 6]], [], [[], []], [[7]]]];",
    "(transpose([\"abc\", \"def\"]), transpose([[(1, \"a\"), (2, \"b\")]]), transpose([[[1], []], [[2, 3], [4]]]));",
    "[transpose(m) : m in [[[1, 2]], [[1, 2], [3]]]];",
    "let m = [[i * 100 + j : j in &70] : i in &45] in (transpose(transpose(m)) == m, transpose(m)[69][44]);",
    "[(grade(v), grade_down(v)) : v in [[3, 1, 2, 1], [], [5]]];",
    "(grade([\"b\", \"a\", \"\"]), grade([(1, nan), (1, 0.0), (0, 5.0)]));",
    "[rep(v, \"x\", i) : (v, i) in [([\"a\", \"b\"], 1), ([\"c\"], 0)]];",
    "[rep([1, 2], 9, i) : i in [1, 2]];",
    "(rand_seed(3), [rand(100) : i in &5], [rand(1.0) < 1.0 : i in &4], rand((7 : u8)));",
    "[rand(n) : n in [3, 0]];",
    "[print_string(@i ++ \";\") : i in &5];",
    "[if i == 3 then error(\"three\") else i : i in &5];",
    "[if i > 9 then error(\"never\") else #(if i > 9 then error(\"never\") else [i]) : i in &5];",

    /* reductions by operators; those on vectors are networks */
    "(reduce(++, \"none\", [] [char]), reduce(++, \"none\", [\"a\"]), reduce(++, \"none\", [\"a\", \"b\", \"c\"]));",
    "[reduce(++, \"-\", [@i : i in &n]) : n in [0, 1, 2, 5, 0, 3]];",
    "{reduce(++, [n], {[i] : i in &n}) : n in {3, 0, 1, 4}};",
    "let v = reduce((a, b) => take(a ++ b, min(#a + #b, 9)), [], [[i] : i in &2500]) in (v, #v);",
    "[reduce((a, b) => [#a + #b, a[#a - 1] - b[0]], [], [[i] : i in &n]) : n in [0, 1, 1023, 1024, 1025, 2050]];",
    "[reduce((a, b) => a ++ k ++ b, k, [[i] : i in &n]) : n in [0, 3, 2]; k in [[100], [200], [300]]];",
    "reduce((a, b) => a - b, 0, &5000);",
    "[reduce((a, b) => 0.5 * a - b, 0.0, [float(i) : i in &n]) : n in [0, 1, 2, 1000, 1024, 1025, 3000]];",
    "reduce(((a, s), (b, t)) => (a + b, s ++ t), (0, \"\"), [(i, @i) : i in &20]);",
    "[reduce((a, b) => if b == 7 then error(\"seven\") else a + b, 0, &n) : n in [3, 9]];",
    "[reduce((a, b) => if #b == 2 then error(\"two\") else a ++ b, [], [[j : j in &(rem(i, n))] : i in &9]) : n in [2, 3]];",
    "reduce((a, b) => let _ = print_string(@(#a) ++ \",\" ++ @(#b) ++ \";\") in a ++ b, [], [[i] : i in &6]);",
    "function fold(v) = if #v < 2 then v else fold(drop(v, 1))\n[reduce((a, b) => fold(a ++ b), [], [[i] : i in &n]) : n in [0, 4]];",

    /* scans */
    "[scan(++, \"-\", [@i : i in &n]) : n in [0, 1, 2, 5, 0, 3]];",
    "[scan_inclusive(++, [@i : i in &n]) : n in [0, 1, 2, 5, 0, 3]];",
    "{scan(++, [n], {[i] : i in &n}) : n in {3, 0, 1, 4}};",
    "[let s = scan((a, b) => [#a + #b, a[#a - 1] - b[0]], [7], [[i] : i in &n]) in (#s, [x[#x - 1] : x in take(s, min(n, 3))], "
    "s[n - 1]) : n in [1, 2, 1023, 1024, 1025, 1026, 2049, 2050, 3100]];",
    "[let s = scan_inclusive((a, b) => [#a + #b, a[#a - 1] - b[0]], [[i] : i in &n]) in (#s, s[n - 1]) : n in [1, 2, 1023, "
    "1024, 1025, 2049, 3100]];",
    "[scan((a, b) => a ++ k ++ b, k, [[i] : i in &n]) : n in [0, 3, 2]; k in [[100], [200], [300]]];",
    "let s = scan((a, b) => 0.5 * a - b, 1.0, [float(i) : i in &3000]) in (s[0], s[1], s[1024], s[1025], s[2999]);",
    "[scan((a, b) => if b == 7 then error(\"seven\") else a + b, 0, [i : i in &n]) : n in [8, 9]];",
    "scan((a, b) => let _ = print_string(@(#a) ++ \",\" ++ @(#b) ++ \";\") in a ++ b, [], [[i] : i in &6]);",
    "scan_inclusive((a, b) => let _ = print_string(@(#a) ++ \",\" ++ @(#b) ++ \";\") in a ++ b, [[i] : i in &6]);",

    /* combining scatters */
    "[put_with(++, [\"a\", \"b\", \"c\"], [(rem(i * i, 3), @i) : i in &n]) : n in [0, 1, 7, 0, 4]];",
    "[multiscan(++, [\"a\", \"b\", \"c\"], [(rem(i * i, 3), @i) : i in &n]) : n in [0, 1, 7, 0, 4]];",
    "[put_with((a, b) => a ++ k ++ b, [k, [] int], [(rem(i, 2), [i]) : i in &n]) : n in [0, 3, 2]; k in [[100], [200], [300]]];",
    "put_with((a, b) => 0.5 * a - b, [0.0, 1.0], {(rem(i, 2), float(i)) : i in &3000});",
    "sum(multiscan((a, b) => 0.5 * a - b, [0.0, 1.0], {(rem(i, 2), float(i)) : i in &3000}));",
    "put_with(++, [\"\", \"\"], [(0, \"a\"), (1, \"b\"), (2, \"c\"), (0, \"d\")]);",
    "multiscan(++, [\"\", \"\"], [(0, \"a\"), (1, \"b\"), (-1, \"c\"), (0, \"d\")]);",
    "put_with((a, b) => if #b == 2 then error(\"two\") else a ++ b, [\"\", \"\"], [(0, \"a\"), (1, \"b\"), (0, \"cc\"), (5, \"d\")]);",
    "put_with((a, b) => let _ = print_string(a ++ b ++ \";\") in a ++ b, [\"x\", \"y\"], [(rem(i, 2), @i) : i in &6]);",
    "multiscan((a, b) => let _ = print_string(a ++ b ++ \";\") in a ++ b, [\"x\", \"y\"], [(rem(i, 2), @i) : i in &6]);",

    /* groups */
    "{(k, v) : (k, v) in [(2, \"a\"), (1, \"b\"), (2, \"c\"), (0, \"d\")] group by k};",
    "{{(k, sum(v)) : (k, v) in {(rem(i * i, 7), i) : i in &n} group by k} : n in {5, 0, 1, 30}};",
    "{(k, #v) : (k, v) in [(\"b\", 1), (\"a\", 2), (\"b\", 3), (\"\", 4)] group by k};",
    "{k : k in [nan, 0.0, -0.0, nan, 1.0] group by k};",
    "{(k, [sum(x) : x in v]) : (k, v) in {(rem(i, 2), [i, 1]) : i in &5} group by k};",

    /* enough for loops to be shared */
    "let v = [rem(i * 7919, 1009) : i in &3000]; g = grade_down(v) in (sort(v)[17], rank(v)[5], g[2999], sum(rank(v)), sum([v[i] * j : "
    "i in g; j in [0 : 3000]]));",
    "[let v = sort([rem(i * n, 17) : i in &n]) in (n, sum([x * i : x in v; i in [0 : n]])) : n in [0 : 60] ++ [2000, 3, 1]];",
    "let v = sort([take(\"abcabcdabcabcda\", rem(i * 37, 15)) : i in &1500]) in (v[0], v[700], v[1499], #rank(v));",
    "let v = [10, 20, 30] in [v[if i == 1500 or i == 2500 then 3 + i else rem(i, 3)] : i in &3000];",
    "[take([1, 2, 3], if i == 1700 or i == 2600 then i else rem(i, 4)) : i in &3000];",
    "permute([i : i in &3000], [if i == 2000 then 77 else if i == 2500 then 20 else i : i in &3000]);",
    "let v = permute([i * 3 : i in &3000], [rem(i * 7919, 3000) : i in &3000]) in (v[1], v[2999], sum([x * i : x in v; i in [0 : 3000]]));",
    "let v = [0 : 100] <- [(rem(i * i, 100), i) : i in &3000] in (v, #v);",
    "let v = [i32(i) : i in &5000] <- {(rem(i * 7919, 5000), i32(i * i)) : i in &4000} in sum([int(x) * i : x in v; i in [0 : 5000]]);",
    "[0 : 5000] <- {(if i == 3000 then 5000 else if i == 3500 then -1 else i, i) : i in &4000};",
    "{(k, sum(v), #v) : (k, v) in {(rem(i * 7919, 503), float(i) * 0.1) : i in &3000} group by k};",
    "{(k, sum(v), max_val(v)) : (k, v) in {([rem(i, 7), rem(i, 3)], float(i) * 0.1) : i in &3000} group by k};",
    "{(k, tab(concat(v))) : (k, v) in {(rem(i * 7919, 50), @i) : i in &2000} group by k};",
    "{(k, tab(v)) : (k, v) in {(rem(i * 7919, 50), (@i, i)) : i in &2000} group by k};",
    "{sum(p) : p in part({i : i in &2000}, concat({{false, rem(i, 3) == 1} : i in &1999}) ++ {false, true})};",
    "{sum(p) : p in part({i : i in &4000}, concat({if rem(i, 3) == 1 then {true, false} else {false} : i in &4000}) ++ {true})};",
    "{sum(p) : p in flag_partition({i : i in &4000}, {rem(i * i, 7) == 1 : i in &4000})};",
    "[[sum(p) : p in flag_partition([0 : n], [rem(i * i, 7) == 1 : i in &n])] : n in [700, 0, 1, 2000, 5]];",
    "[hash([i], if i < 1500 then 10 + i else 1500 - i) : i in &3000];",
    "sum([hash([i, i], 10 + i) : i in &3000]);",
    "[[i, 3] < [rem(i * 7, 50)] : i in &2000];",
    "let t = transpose([[i * 100 + j : j in &200] : i in &150]) in (t[199][149], sum([sum(r) : r in t]));",
};

static const uint64_t chunks[] = {1, 2, 7, 1000, 0};
enum { PROGRAM_COUNT = sizeof programs / sizeof *programs, CHUNK_COUNT = sizeof chunks / sizeof *chunks };

static const uint32_t team_sizes[] = {2, 3};
static const uint64_t team_chunks[] = {1000, 0};
enum { TEAM_COUNT = sizeof team_sizes / sizeof *team_sizes };

static Memory memory;

static void keep(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
}

/* Runs a program in a session that writes to `out`: what it writes, then its messages. */
static RunnelStatus run_in(RunnelSession *session, const char *program, Text *out)
{
    text_clear(out);
    RunnelStatus status = runnel_load_text(session, "test.rnl", program, strlen(program), RUNNEL_DIALECT_RNL);
    if (status == RUNNEL_OK)
        status = runnel_run(session, NULL, 0);
    text_add(out, runnel_messages(session));
    return status;
}

static RunnelSession *open_session(RunnelOptions options, Text *out)
{
    options.write = keep;
    options.write_context = out;
    return runnel_open(&options);
}

/* What every program gives by the reference interpreter. */
static int run_reference(Text *expected)
{
    int failures = 0;
    Text out;
    text_init(&out, &memory);
    RunnelSession *session = open_session((RunnelOptions){.engine = RUNNEL_ENGINE_REFERENCE, .materializes = true}, &out);
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        if (run_in(session, programs[i], &out) == RUNNEL_COMPILE_ERROR) {
            fprintf(stderr, "%s\n%s\n", programs[i], text_string(&out));
            failures++;
        }
        text_init(&expected[i], &memory);
        text_add(&expected[i], text_string(&out));
    }
    runnel_close(session);
    text_free(&out);
    return failures;
}

/* All programs one after the other: a session goes on after errors. */
static int compare_all(RunnelOptions options, const Text *expected)
{
    int failures = 0;
    Text found;
    text_init(&found, &memory);
    RunnelSession *session = open_session(options, &found);
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        run_in(session, programs[i], &found);
        if (strcmp(text_string(&found), text_string(&expected[i])) == 0)
            continue;
        fprintf(stderr, "%s\n  chunk %llu, threads %u%s: found\n%s\nexpected\n%s\n", programs[i],
                (unsigned long long)options.chunk, (unsigned)options.threads, options.is_unsimplified ? ", not simplified" : "", text_string(&found), text_string(&expected[i]));
        failures++;
    }
    runnel_close(session);
    text_free(&found);
    return failures;
}

/* Programs that are run with every allocation of the run failing in turn: nothing may be lost, which the sanitizer sees. */
static const char *const fragile[] = {
    "[reduce((a, b) => a ++ [#b] ++ b, [], [[i] : i in &n]) : n in [0, 3, 2]];",
    "[scan((a, b) => a ++ b, [], [[i] : i in &n]) : n in [2, 0, 3]];",
    "[put_with(++, [\"a\", \"b\"], [(rem(i, 2), @i) : i in &n]) : n in [3, 1]];",
    "(permute([\"a\", \"b\"], [1, 0]), [\"a\", \"b\"] <- [(1, \"c\")], transpose([\"ab\"]), rep([\"a\"], \"b\", 0));",
    "{(k, [@x : x in v]) : (k, v) in [(\"b\", 1), (\"a\", 2), (\"b\", 3)] group by k};",
    "[previous(v, \"x\") : v in [[\"a\", \"b\"], []]];",
    "error(\"stop\");",
};
enum { FRAGILE_COUNT = sizeof fragile / sizeof *fragile, RUN_ALLOCATIONS = 100 };

static void run_alone(const char *program, uint64_t fail_after, Text *out)
{
    RunnelSession *session =
        open_session((RunnelOptions){.engine = RUNNEL_ENGINE_VM, .chunk = 2, .fail_after = fail_after}, out);
    if (session == NULL)
        return;
    run_in(session, program, out);
    runnel_close(session);
}

/* Whether the program runs as usual when allocation number `fail_after` fails: it does if there are fewer. */
static bool gets_through(const char *program, uint64_t fail_after, const Text *expected)
{
    Text found;
    text_init(&found, &memory);
    run_alone(program, fail_after, &found);
    bool is_same = strcmp(text_string(&found), text_string(expected)) == 0;
    text_free(&found);
    return is_same;
}

static void fail_allocations(const char *program)
{
    Text expected;
    text_init(&expected, &memory);
    run_alone(program, 0, &expected);
    uint64_t few = 0, enough = 1;
    while (!gets_through(program, enough, &expected))
        enough *= 2;
    while (enough - few > 1) {
        uint64_t middle = few + (enough - few) / 2;
        if (gets_through(program, middle, &expected))
            enough = middle;
        else
            few = middle;
    }
    for (uint64_t n = enough > RUN_ALLOCATIONS ? enough - RUN_ALLOCATIONS : 1; n < enough; n++)
        gets_through(program, n, &expected);
    text_free(&expected);
}

int main(void)
{
    static Text expected[PROGRAM_COUNT];
    int failures = run_reference(expected);
    for (size_t i = 0; i < 2 * CHUNK_COUNT; i++) {
        RunnelOptions options = {.engine = RUNNEL_ENGINE_VM, .chunk = chunks[i / 2], .materializes = true};
        options.is_unsimplified = i % 2 == 1;
        failures += compare_all(options, expected);
    }
    for (size_t i = 0; i < TEAM_COUNT; i++) {
        RunnelOptions options = {.engine = RUNNEL_ENGINE_VM, .chunk = team_chunks[i], .materializes = true};
        options.threads = team_sizes[i];
        options.piece_nanoseconds = 1; /* even the loops of these programs are shared */
        failures += compare_all(options, expected);
    }
    for (size_t i = 0; i < PROGRAM_COUNT; i++)
        text_free(&expected[i]);
    for (size_t i = 0; i < FRAGILE_COUNT; i++)
        fail_allocations(fragile[i]);
    return failures == 0 ? 0 : 1;
}
