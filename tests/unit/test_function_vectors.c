/* Sequential versions of functions against the reference interpreter: the same values, and failure at the same points, on the program as written, or as simplified. Then the same with
 * less and less memory: a function either gives the same or nothing. Given files, it does the same with random arguments for every function in them that there is C for. */
#define _XOPEN_SOURCE 700
#include "compile/compile.h"
#include "kernel/emit.h"
#include "kernel/preamble/call.h"
#include "core/simplify.h"
#include "ref/ref.h"
#include "session/session.h"
#include "vm/array.h"
#include "check.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* Each takes long to compile: there is a test for either (test_function_vectors_simplified.c). */
#ifndef TEST_SIMPLIFIED
#define TEST_SIMPLIFIED false
#endif

enum { STATUS_SKIPPED = 77, MAX_DEPTH = 1000, LEAVES = KERNEL_ENTRY_LEAVES, RANDOM_POINTS = 24, WIDE_TIMES = 40, SECONDS_MAX = 2 };

/* ---- the programs ---- */

typedef struct Case {
    const char *name, *parameters, *arguments, *body;
    const char *points;
} Case;

static const char library[] =
    "limit = 7;\n"
    "table = [3, 1, 4, 1, 5, 9, 2, 6];\n"
    "function joined_point(a : (float, int), b : (float, int)) : (float, int) = let (x, i) = a; (y, j) = b in (x * 0.5 + y, if i < j then j - i else i)\n"
    "function quicksort(a : [int]) : [int] =\n"
    "  if #a < 2 then a else\n"
    "  let p = a[#a / 2]; lt = {e in a | e < p}; eq = {e in a | e == p}; gt = {e in a | e > p};\n"
    "      r = {quicksort(v) : v in [lt, gt]} in r[0] ++ eq ++ r[1]\n"
    "function grow(v : [int], n : int) : [int] = if n == 0 then v else grow([n] ++ {x + 1 : x in v}, n - 1)\n"
    "function halve(v : [int], n : int) : ([int], int) = if #v <= n then (v, n) else halve({x + 1 : x in v[1 :]}, n)\n"
    "function mark(v : [bool], i : int, k : int) : [bool] = if i >= #v then v else mark(rep(v, false, i), i + k, k)\n"
    "function sieve(v : [bool], k : int) : [int] = if k * k >= #v then [i : i in iota(#v) | v[i]] else sieve(if v[k] then mark(v, 2 * k, k) else v, k + 1)\n"
    "function steps(v : [[float]], n : int) : [[float]] =\n"
    "  if n == 0 then v else steps({{x + sum(column) : x in row; column in transpose(v)} : row in v}, n - 1)\n"
    "function cross_product(o : (float, float), line : ((float, float), (float, float))) : float =\n"
    "  let (xo, yo) = o; ((x1, y1), (x2, y2)) = line in (x1 - xo) * (y2 - yo) - (y1 - yo) * (x2 - xo)\n"
    "function hsplit(points : [(float, float)], p1 : (float, float), p2 : (float, float)) : [(float, float)] =\n"
    "  let cross = {cross_product(p, (p1, p2)) : p in points}; packed = {p : p in points; c in cross | c > 0.0}\n"
    "  in if #packed < 2 then [p1] ++ packed\n"
    "     else let pm = points[max_index(cross)] in flatten({hsplit(packed, a, b) : a in [p1, pm]; b in [pm, p2]})\n"
    "function fill(v : [int], i : int) : [int] = if i == #v then v else fill(rep(v, i * i, i), i + 1)\n"
    "function turned_total(v : [int], n : int) : int = if n == 0 then sum(v) else turned_total({x * 3 + n : x in v}, n - 1)\n"
    "function churn(v : [float], rows : [[int]], n : int) : ([float], [[int]]) =\n"
    "  if n == 0 then (v, rows) else churn({x * 0.5 + float(n) : x in v}, {[n] ++ take(row, min(#row, 30)) : row in rows}, n - 1)\n"
    "function both(v : [int], w : [int], i : int) : ([int], [int]) = if i == 0 then (v, w) else both(rep(v, i, i), if rem(i, 3) == 0 then v else w, i - 1)\n"
    "function twice(v : [int], i : int) : ([int], [int]) = if i == 0 then (v, v) else let a = rep(v, i, i); b = rep(v, -i, 0) in if a[0] > b[0] then twice(a, i - 1) else twice(b, i - 1)\n"
    "function smooth(v : [float], n : int) : [float] =\n"
    "  if n == 0 then v else smooth({(a + 2.0 * b + c) / 4.0 : a in [v[0]] ++ v[: #v - 1]; b in v; c in v[1 :] ++ [v[#v - 1]]}, n - 1)\n"
    "function turned_grid(grid : [[int]], dx : int, dy : int) : [[int]] = {rotate(row, dx) : row in rotate(grid, dy)}\n"
    "function grid_sum(a : [[int]], b : [[int]]) : [[int]] = {{x + y : x in r; y in s} : r in a; s in b}\n"
    "function crowd(grid : [[int]], n : int) : [[int]] =\n"
    "  if n == 0 then grid else\n"
    "  let rows = grid_sum(grid_sum(turned_grid(grid, -1, 0), grid), turned_grid(grid, 1, 0)); all = grid_sum(grid_sum(turned_grid(rows, 0, -1), rows), turned_grid(rows, 0, 2))\n"
    "  in crowd({{if x > 9 then x - 9 else x - y : x in r; y in s} : r in all; s in grid}, n - 1)\n"
    "function twice_turned(grid : [[int]], n : int) : [[int]] =\n"
    "  if n == 0 then grid else\n"
    "  let a = {{x / (n + 1) + 1 : x in row} : row in grid}; b = {{x + 2 * y : x in r; y in s} : r in a; s in rotate(a, 1)}\n"
    "  in twice_turned({{x - y + z : x in r; y in s; z in t} : r in rotate(b, -1); s in b; t in rotate(b, 5)}, n - 1)\n"
    "function swapped(a : [[int]], b : [int], n : int) : ([[int]], [int]) =\n"
    "  if n == 0 then (a, b) else swapped({{x + n : x in row} : row in a}, {sum(row) + n : row in a}, n - 1)\n"
    "function kept_rows(a : [[int]], n : int) : [[int]] = if n == 0 then a else kept_rows({if #row > 2 then row else {x + 1 : x in row} : row in a}, n - 1)\n"
    "function ended_with(a : [[int]], k : [int], n : int) : [[int]] = if n == 0 then {{x + y : x in row; y in k} : row in a} else ended_with({{x * 2 : x in row} : row in a}, k, n - 1)\n"
    "function flows(v : [float], w : [int], from : [int], to : [int], n : int) : [float] =\n"
    "  if n == 0 then v else flows(put_with(+, dist(0.5, #v), {(t, v[u] / float(w[u]) + float(u)) : u in from; t in to}), w, from, to, n - 1)\n"
    "function flows_twice(v : [int], to : [int], w : [(int, bool)], n : int) : [int] =\n"
    "  if n == 0 then v else\n"
    "  let a = put_with((x, y) => x * 3 - y, v, {(t, if b then x + i else x - n) : t in to; (x, b) in w; i in [0 : #to]})\n"
    "  in flows_twice({x + y : x in a; y in put_with(max, v, zip(to, {i + t : i in [0 : #to]; t in to}))}, to, w, n - 1)\n"
    "function count_to(i : int, n : int, x : int, v : [int]) : (int, [int]) = if i == n then (x, v) else count_to(i + 1, n, x * 3 + table[i] + v[rem(i, #v)], [a + i : a in v])\n"
    "function counted_down(n : int) : [int] = if n == 0 then [] else [n] ++ counted_down(n - 1)\n"
    "function sort_down(a : [(int, float)]) : [(int, float)] =\n"
    "  if #a == 0 then [] else\n"
    "  let (p, _) = a[0]; lt = {(e, f) in a | e < p}; eq = {(e, f) in a | e == p}; gt = {(e, f) in a | e > p}\n"
    "  in sort_down(gt) ++ eq ++ sort_down(lt)\n"
    "function keep_parts(a : [int]) : [int] =\n"
    "  if #a < 2 then a else let p = a[0]; lt = {e in a | e < p}; gt = {e in a | e > p} in keep_parts(lt) ++ a ++ keep_parts(gt) ++ lt\n"
    "function take_halves(a : [int]) : [int] = if #a < 3 then [#a] ++ a else take_halves(take(a, #a / 2)) ++ [-1] ++ take_halves(drop(a, #a / 2))\n"
    "function cross_parts(a : [int], b : [int]) : [int] =\n"
    "  if #a + #b < 2 then a ++ b else\n"
    "  let lt = {e in a | e < 5}; gt = {e in a | e > 5}; more = {e + 1 : e in b | e < 4}\n"
    "  in cross_parts(gt, lt) ++ [7] ++ cross_parts(more, {e / 2 : e in lt | e /= 0})\n"
    "function make_more(a : [int], n : int) : [int] =\n"
    "  if n == 0 then a ++ dist(#a, 300) else let lt = {e in a | e < n}; gt = {e in a | e > n} in make_more(lt, n - 1) ++ make_more(gt, n - 1)\n";

static const Case cases[] = {
    /* turns that are known */
    {"counted_turns", "v : [int], x : int", "v, x", "let w = {a + 1 : a in v}; (y, u) = count_to(0, 5, x, w) in y + sum(u)", "[([1, 2, 3], 5), ([], 1), ([7, 8, 9], -1), ([1], 0)]"},
    {"turns_beyond_table", "v : [int], x : int", "v, x", "let w = {a + 1 : a in v}; (y, u) = count_to(6, 9, x, w) in y + sum(u)", "[([1, 2, 3], 5), ([7, 8, 9], -1)]"},
    {"turns_within_table", "v : [int], x : int", "v, x", "let w = {a + 1 : a in v}; (y, u) = count_to(2, 2 + 2 * 3, x, w) in y + sum(u)", "[([1, 2, 3], 5), ([7, 8, 9], -1), ([0], 1)]"},
    {"no_turns", "v : [int], x : int", "v, x", "let w = {a + 1 : a in v}; (y, u) = count_to(6, 6, x, w) in y + sum(u)", "[([1, 2, 3], 5), ([], -1)]"},
    /* comprehensions */
    {"squares", "v : [int]", "v", "{x * x + 1 : x in v}", "[[1, 2, 3], [], [-5]]"},
    {"quotients", "v : [int], d : int", "v, d", "{x / d : x in v}", "[([1, 2, 3], 2), ([], 0), ([7, 8], -1), ([1], 0), ([9], 3)]"},
    {"divided_by_one", "v : [float], y : float", "v, y", "{(x / y, (x - 1.0) / y) : x in v}", "[([1.0, 2.5, 0.0, -0.0], 3.0), ([], 0.0), ([1.0, inf, nan], 7.0), ([1.0e300, 2.0e-310], 0.3), ([1.0], 0.0), ([5.0], -0.0)]"},
    {"filtered", "v : [float], y : float", "v, y", "{x * 2.0 : x in v | x > y}", "[([1.0, 2.5, 3.0], 2.0), ([], 0.0), ([1.0], 2.0)]"},
    {"divided", "v : [int]", "v", "{12 / x : x in v | x /= 0}", "[[1, 0, 3], [], [0]]"},
    {"tables", "n : int", "n", "[{i * j : j in [0 : i]} : i in iota(n)]", "[4, 0]"},
    {"added", "a : [int], b : [int]", "a, b", "{x + y : x in a; y in b}", "[([1, 2], [3, 4]), ([], []), ([1], []), ([1], [2])]"},
    {"picked", "v : [int], is : [int]", "v, is", "{v[i] : i in is}", "[([5, 6, 7], [2, 0, 0]), ([], []), ([1], [1]), ([1], [0]), ([], [0])]"},
    {"flat", "v : [[int]]", "v", "{x : row in v, x in row | x > 2}", "[[[1, 5, 7], [], [3]], [], [[]]]"},
    {"triangle", "n : int", "n", "[i + j : i in {0 : n}, j in {0 : i}]", "[5, 0, 1, 100]"},
    {"kept", "v : [[int]]", "v", "{row : row in v | #row > 1}", "[[[1, 5, 7], [], [3], [4, 4]], [], [[]]]"},
    {"nested", "v : [[int]]", "v", "{{x * 2 : x in row | x > 1} : row in v}", "[[[1, 5, 7], [], [3]], [], [[]]]"},
    {"deep", "v : [[[int]]]", "v", "{{{x + 1 : x in c} ++ [#row] : c in row} : row in v}", "[[[[1, 5], []], []], [], [[[3]]]]"},
    {"tuples", "v : [(int, float)]", "v", "{(y, (x, y * 2.0)) : (x, y) in v}", "[[(1, 2.5), (3, -0.5)], []]"},
    {"captured", "v : [int], w : [int]", "v, w", "{(x, w) : x in v}", "[([1, 2], [3]), ([], [1]), ([1], [])]"},
    {"strings", "n : int", "n", "[if rem(i, 2) == 0 then \"even\" else \"o\\\"dd\" : i in iota(n)]", "[3, 0]"},
    {"nans", "v : [float]", "v", "{x / y : x in v; y in v}", "[[1.0, 0.0, -2.0], []]"},
    /* reductions and scans */
    {"sums", "v : [[float]]", "v", "{sum(row) : row in v}", "[[[1.0, 2.0], [], [3.0]], []]"},
    {"long_sum", "n : int", "n", "sum({1.0 / float(i + 1) : i in iota(n)})", "[5, 0, 127, 128, 129, 5000, -1, 1024]"},
    {"some_sum", "n : int", "n", "sum({1.0 / float(i + 1) : i in iota(n) | rem(i, 3) /= 0})", "[5, 0, 127, 200, 5000, 1600]"},
    {"recalled", "n : int, k : int", "n, k", "let v = [float(i) : i in iota(n)]; w = {float(table[rem(j * k, 8)]) * x : x in v; j in [0 : n]} in (sum(w), max_val({rem(j * k, 7) + floor(x) : x in w; j in [0 : n]}), w)",
     "[(40, 3), (40, 3), (31, 3), (0, 0), (40, 0), (64, 3), (40, 3), (1100, 2), (1100, 2)]"},
    {"recalled_outside", "n : int, k : int", "n, k", "sum({table[rem(j * k, 10)] + 12 / (k - 5) : j in [0 : n]})", "[(40, 4), (40, 2), (40, 3), (40, 2), (40, 4), (40, 5), (0, 5)]"},
    {"recalled_twice", "v : [int], n : int", "v, n", "[sum({v[rem(j * k, #v)] * (j / k) : j in [0 : n]}) : k in [1, 2, 1, 2, 3]]", "[([1, 2, 3], 50), ([1, 2, 3], 50), ([], 50), ([1, 5, 3], 50), ([], 0)]"},
    {"sums_together", "v : [float], n : int, k : int", "v, n, k",
     "let w = v ++ [float(i) : i in iota(n)]; a = sum(w); b = sum({x * x : x in w}); c = sum({x * float(rem(j * k, 5)) : x in w; j in [0 : n + #v]}); d = product({1.0 + x / 100.0 : x in w}); e = sum({x * a - b : x in w}); "
     "f = sum({x * 2.0 : x in v}); g = sum({f32(x) : x in w}) in (a, b, c, d, e, f, g)",
     "[([], 0, 1), ([1.5], 0, 1), ([], 50, 2), ([0.25], 49, 2), ([0.1, 0.7], 1030, 3), ([], 50, 2), ([inf], 8, 0)]"},
    {"sums_fail", "n : int, k : int", "n, k", "let w = [float(12 / (i - k)) : i in iota(n)] in (sum(w), sum({x * float(table[rem(j * k, 9)]) : x in w; j in [0 : n]}), sum({x + 1.0 : x in w}))",
     "[(40, 50), (40, 41), (40, 40), (40, 3), (0, 0), (40, 42), (40, 40)]"},
    {"abreast", "v : [float], n : int, k : int", "v, n, k",
     "let w = v ++ [float(i) : i in iota(n)]; rows = [{x * float(i) - 1.0 : x in w} : i in iota(k)] in "
     "({sum({(x - y) * (x - y) : x in w; y in row}) : row in rows}, {sum({y * x : y in row; x in w}) + 1.0 : row in rows}, [product({1.0 + x / float(i + 1) : x in w}) : i in iota(k)], "
     "sum({sum({f32(x) * f32(i) : x in w}) : i in iota(k)}), {x + sum({y * x : y in w}) : x in w})",
     "[([], 0, 0), ([], 0, 3), ([0.5], 0, 4), ([0.1, 0.7], 6, 5), ([0.25], 15, 7), ([0.1, -0.0], 1030, 9), ([nan, inf], 8, 2), ([], -1, 1)]"},
    {"abreast_waves", "v : [float], n : int, k : int", "v, n, k",
     "let w = v ++ [float(i) : i in iota(n)]; m = #w in "
     "{let re = sum({s * float(table[rem(a * j, 8)]) : s in w; j in [0 : m]}); im = sum({s * float(table[rem(a * j + 3, 8)]) : s in w; j in [0 : m]}) in re * re + im * im : a in [1 ..= k]}",
     "[([], 50, 4), ([0.5], 49, 4), ([0.5], 49, 4), ([0.5], 9, 5), ([0.5], 49, 5), ([], 1030, 3), ([], 0, 3), ([], 50, 1), ([], 50, 0), ([], 50, -1), ([], 50, -9)]"},
    {"abreast_waiting", "v : [[float]], w : [float]", "v, w",
     "{let mean = sum({x * y : x in w; y in row}) / float(#w); spread = sum({(x - mean) * (x - mean) : x in w}) in (mean, sqrt(spread), row) : row in v}",
     "[([[1.0, 2.0], [0.5, 0.25], [3.0, 4.0]], [1.5, 2.5]), ([[1.0], [2.0]], [0.0]), ([[1.0], [2.0, 3.0]], [0.0]), ([[], []], []), ([], [1.0])]"},
    {"abreast_scanned", "v : [float], w : [int]", "v, w", "{sum({x * float(table[rem(a * j, 8)]) : x in v; j in [0 : #v]}) : a in plus_scan(w)}",
     "[([1.0, 2.0], [1, 2, 3, 4, 5]), ([0.5], []), ([3.0, 1.0, -0.5], [6, 7])]"},
    {"abreast_unalike", "v : [[float]], n : int", "v, n",
     "({(sum(row), sum({x * x : x in row})) : row in v}, [sum({exp(x) : x in {float(j * i) : j in iota(n)}}) : i in iota(5)], {[sum({x * y : x in row; y in row}) : i in iota(3)] : row in v})",
     "[([[1.0, 2.0], [], [3.0]], 3), ([], 0), ([[0.1], [0.2, 0.3], [0.4]], 70)]"},
    {"abreast_fails", "v : [float], n : int", "v, n", "[sum({x * float(table[rem(i * j, n)]) : x in v; j in [0 : #v]}) + float(12 / (i - 6)) : i in iota(n)]",
     "[([1.0, 2.0], 5), ([1.0, 2.0], 7), ([1.0, 2.0], 9), ([], 4), ([], 7), ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, "
     "21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0], 6), ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, "
     "21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0], 10)]"},
    {"light", "v : [float], n : int", "v, n", "let w = flatten([v, [float(i) : i in iota(n)]]) in (sum({x * y - 1.0 : x in w; y in w}), product({1.0 + x / 65536.0 : x in w}), sum({f32(x) : x in w}))",
     "[([1.5, -2.0], 0), ([], 0), ([-0.0], 0), ([inf, nan, 2.0], 6), ([0.1, 0.2], 1022), ([0.1, 0.2], 1023), ([], 2060)]"},
    {"products", "v : [float], w : [int]", "v, w", "(product(v), product(w), product([f32(x) : x in v]))", "[([1.5, 2.0], [3, -4]), ([], [])]"},
    {"extremes", "v : [int], w : [float]", "v, w", "(max_val(v), min_val(v), max_val(w), min_val(w))", "[([1, -5], [2.5, nan]), ([], []), ([3], [1.0])]"},
    {"logic", "v : [bool], w : [int]", "v, w", "(any(v), all(v), count(v), parity(w), any(w), all(w), parity(v))", "[([true, false], [5, 3]), ([], []), ([true], [7])]"},
    {"bytes", "v : [int]", "v", "sum({u8(x) : x in v}) ", "[[200, 100, 7], []]"},
    {"scans", "v : [int]", "v", "(plus_scan(v), max_scan(v), min_scan_inclusive(v), mult_scan_inclusive(v))", "[[3, 1, 4, 1, 5], [], [7]]"},
    {"long_scan", "n : int", "n", "let v = [1.0 / float(i + 1) : i in iota(n)] in (plus_scan(v), mult_scan_inclusive(v))", "[3, 0, 1500]"},
    {"used_scan", "v : [int]", "v", "sum({x * y : x in v; y in plus_scan(v)})", "[[3, 1, 4, 1, 5], [], [7]]"},
    {"indices", "v : [float]", "v", "(max_index(v), min_index(v))", "[[1.0, 3.0, 2.0], [2.0], [1.0, nan, 3.0], [5.0, 5.0]]"},
    {"joined", "n : int", "n", "reduce(joined_point, (0.0, 0), [(1.0 / float(i + 1), i) : i in iota(n)])", "[0, 1, 5, 1024, 1025, 5000]"},
    {"exact", "v : [int]", "v", "reduce((a, b) => max(a, b), -3, v)", "[[], [-7], [1, 9, 4]]"},
    {"pairs_of_sums", "v : [(int, float)]", "v", "reduce((a, b) => (let (x, y) = a; (z, w) = b in (x + z, y + w)), (1, 1.0), v)", "[[], [(1, 2.5)], [(1, 0.1), (2, 0.2), (3, 0.3)]]"},
    {"scanned", "n : int", "n", "scan(joined_point, (0.0, 0), [(1.0 / float(i + 1), i) : i in iota(n)])", "[0, 1, 5, 1024, 2500]"},
    {"scanned_too", "n : int", "n", "scan_inclusive(joined_point, [(1.0 / float(i + 1), i) : i in iota(n)])", "[0, 1, 5, 1024, 2500]"},
    {"counted", "v : [int]", "v", "#{x : x in seq(v) | x > limit}", "[[8, 1, 9], [], [3]]"},
    /* joining and cutting */
    {"appended", "a : [int], b : [int]", "a, b", "a ++ [1, 2] ++ {x + 1 : x in b} ++ b", "[([5], [6, 7]), ([], [])]"},
    {"shifted", "v : [int], x : int", "v, x", "(previous(v, x), next(v, x), cons(x, v), snoc(v, x))", "[([1, 2, 3], 9), ([], 9), ([4], 9)]"},
    {"flattened", "v : [[(int, bool)]]", "v", "flatten(v)", "[[[(1, true)], [], [(2, false), (3, true)]], []]"},
    {"grouped", "v : [int], k : int", "v, k", "group_by(v, k)", "[([1, 2, 3, 4, 5], 2), ([], 3), ([1], 0), ([1], 1)]"},
    {"parts", "v : [int], n : [int]", "v, n", "partition(v, n)", "[([1, 2, 3], [1, 0, 2]), ([], []), ([1], []), ([1], [2]), ([1], [-1, 2])]"},
    {"flagged", "v : [int], b : [bool]", "v, b", "flag_partition(v, b)", "[([1, 2, 3], [false, false, true]), ([], []), ([1], [true]), ([1], [])]"},
    {"ended", "v : [int], b : [bool]", "v, b", "part(v, b)", "[([1, 2, 3], [false, true, true, false, false, true]), ([], []), ([1], [true]), ([1], [false]), ([], [true])]"},
    {"turned", "v : [[(int, char)]]", "v", "transpose(v)", "[[[(1, 'a'), (2, 'b')], [(3, 'c'), (4, 'd')]], [], [[], []], [[(1, 'a')], []]]"},
    {"rotated", "v : [int], k : int", "v, k", "(rotate(v, k), reverse(v))", "[([1, 2, 3], 1), ([1, 2, 3], -1), ([], 2), ([1], 7)]"},
    {"windowed", "v : [float]", "v", "{sum(w) : w in windows(v, 3)}", "[[1.0, 2.0, 3.0, 4.0], [], [1.0]]"},
    {"merged", "b : [bool], v : [int], w : [int]", "b, v, w", "flag_merge(b, v, w)", "[([true, false, true], [1], [2, 3]), ([], [], []), ([true], [1], []), ([false], [1], [])]"},
    {"woven", "v : [int], w : [int]", "v, w", "interleave(v, w)", "[([1, 2], [3, 4]), ([1, 2], [3]), ([3], [1, 2]), ([], []), ([], [1]), ([1, 2], [])]"},
    {"cuts", "v : [int], n : int", "v, n", "(take(v, n), drop(v, n), v[n :], #take(v, n))", "[([1, 2, 3], 1), ([1, 2, 3], -1), ([], 0), ([1], 2)]"},
    {"middle", "v : [[int]], i : int", "v, i", "{row[i :] ++ row[: i] : row in v}", "[([[1, 2], [3, 4, 5]], 1), ([[1], []], 1), ([[1], []], 0)]"},
    {"zipped", "v : [int], w : [float]", "v, w", "zip(v, w)", "[([1, 2], [3.0, 4.0]), ([], []), ([1], [])]"},
    {"only", "v : [int]", "v", "the({x : x in v | x > 3})", "[[1, 5], [9], [5, 6], []]"},
    {"emptiness", "v : [int]", "v", "(empty(v), empty({x : x in v | x > 3}), identity(v), identity((1, 'a')))", "[[1, 5], [], [3]]"},
    {"spread", "x : float, n : int", "x, n", "dist(x, n)", "[(1.5, 3), (2.0, 0), (1.0, -1)]"},
    {"sequences", "v : [int], n : int", "v, n", "[x : x in take(seq(v), n)] ++ [y : y in drop(seq(v), n)] ++ [z : z in previous(seq(v), n)]", "[([1, 2, 3], 1), ([], 0), ([1], 2), ([1], -1)]"},
    {"chosen", "v : [int], b : bool", "v, b", "sum(if b then {x * x : x in v} else {x + 1 : x in v | x > 1})", "[([1, 2, 3], true), ([1, 2, 3], false), ([], true)]"},
    /* moving */
    {"gathered", "v : [(int, char)], w : [int]", "v, w", "v -> w", "[([(1, 'a'), (2, 'b')], [1, 1, 0]), ([], []), ([(1, 'a')], [1])]"},
    {"written", "v : [int], w : [(int, int)]", "v, w", "v <- w", "[([1, 2, 3], [(0, 9), (2, 8), (0, 7)]), ([], []), ([1], [(1, 0)]), ([], [(0, 0)])]"},
    {"put_in", "a : [int], i : [int], v : [int]", "a, i, v", "put(a, i, v)", "[([7, 8], [0, 2], [1, 2, 3]), ([], [], []), ([1], [], [1]), ([1], [3], [1])]"},
    {"replaced", "v : [(int, float)], i : int", "v, i", "rep(v, (7, 0.5), i)", "[([(1, 2.0), (3, 4.0)], 1), ([], 0), ([(1, 1.0)], -1), ([(1, 1.0)], 0)]"},
    {"permuted", "v : [char], i : [int]", "v, i", "permute(v, i)", "[(\"abc\", [2, 0, 1]), (\"\", []), (\"ab\", [0, 0]), (\"ab\", [0]), (\"ab\", [0, 2]), (\"ab\", [1, 0])]"},
    {"histogram", "v : [int], n : int", "v, n", "put_with((a, b) => a + b, dist(0, n), {(mod(x, n), 1) : x in v})", "[([1, 2, 3, 4, 5], 3), ([], 2), ([1], 0), ([7], 7)]"},
    {"rows_replaced", "v : [[int]], i : int", "v, i", "rep(v, [i, i], i)", "[([[1], [2, 3]], 1), ([[1]], 0), ([[1]], 1)]"},
    {"filled", "n : int", "n", "fill(dist(0, n), 0)", "[0, 1, 5]"},
    /* comparison */
    {"compared", "a : [int], b : [int]", "a, b", "(a == b, a < b, a <= b, a > b, a >= b, a /= b)", "[([1, 2], [1, 2]), ([1], [1, 2]), ([2], [1, 2]), ([], [])]"},
    {"compared_deeply", "a : ([[float]], int), b : ([[float]], int)", "a, b", "(a == b, a < b, eql(a, b), a /= b)",
     "[(([[1.0], []], 1), ([[1.0], []], 1)), (([[nan]], 1), ([[nan]], 1)), (([[0.0]], 1), ([[-0.0]], 2))]"},
    /* a few elements */
    {"few", "a : int, b : int", "a, b", "let r = {x * y + 1 : x in [a, b, 3]; y in [b, a, a]} in (r[0], r[2], sum({float(x) : x in [a, b]}), [a | a > b] ++ [x : x in [a, b] | x > 1])", "[(1, 2), (5, 3), (0, 0)]"},
    {"few_rows", "v : [int]", "v", "let r = {{x + y : x in v} : y in [1, 2]}; s = {sum(w) : w in [v, r[1]]} in (r[0], s, {#w : w in [v, v]}, {max_val(w) : w in [v, []]})", "[[1, 2], [], [7]]"},
    {"few_in_step", "v : [int]", "v", "({x + y : x in v; y in [1, 2]}, {(x, y) : x in [v, v]; y in [1, 2]}, reduce((a, b) => a - b, 0, [4, 3]))", "[[1, 2], [], [7, 8]]"},
    {"few_fail", "a : int", "a", "let r = {10 / x : x in [a, 2, a - 1]} in r[0] + r[1]", "[1, 0, 5, 2]"},
    /* functions */
    {"sorted", "v : [int]", "v", "quicksort(v)", "[[3, 1, 2, 9, 4, 4, 0], [], [1], [2, 1]]"},
    {"grown", "n : int", "n", "grow([], n)", "[0, 1, 5, 40]"},
    {"halved", "v : [int], n : int", "v, n", "halve(v, n)", "[([1, 2, 3, 4, 5], 1), ([], 0), ([1, 2], 5)]"},
    {"sieved", "n : int", "n", "sieve(dist(true, n), 2)", "[30, 2, 3]"},
    {"stepped", "v : [[float]], n : int", "v, n", "steps(v, n)", "[([[1.0, 2.0], [3.0, 4.0]], 3), ([[1.0]], 0), ([], 2), ([[1.0, 2.0], [3.0]], 1)]"},
    {"hull", "v : [(float, float)]", "v", "if #v < 2 then v else hsplit(v, v[0], v[#v - 1])", "[[(0.0, 0.0), (0.5, 2.0), (1.0, 1.0), (1.5, 3.0), (2.0, 0.0)], [], [(0.0, 0.0), (1.0, 0.0)]]"},
    {"totalled", "v : [int], n : int", "v, n", "turned_total(v, n)", "[([1, 2, 3], 5), ([], 3), ([1], 0)]"},
    {"smoothed", "v : [float], n : int", "v, n", "smooth(v, n)", "[([1.0, 4.0, 2.0, 8.0], 3), ([1.0], 2), ([], 0), ([], 1), ([1.0, 2.0], 40)]"},
    {"turned_twice", "v : [[int]], n : int", "v, n", "twice_turned(v, n)",
     "[([[1, 2], [3, 4], [5, 6]], 1), ([[1, 2, 3], [1, 2]], 2), ([[7]], 3), ([], 2), ([[]], 1), ([[1], [2]], 2), ([[1, 9], [2, 8], [3, 7], [4, 6], [5, 5], [6, 4], [7, 3], [8, 2], [9, 1], [10, 0], [11, -1]], 3)]"},
    {"crowded", "v : [[int]], n : int", "v, n", "crowd(v, n)",
     "[([[1, 0, 2], [0, 1, 1], [3, 0, 0]], 4), ([], 3), ([[]], 2), ([[1, 2], [3]], 1), ([[1], [2, 3]], 0), ([[5]], 3), ([[1, 2], [3, 4]], 41)]"},
    {"exchanged", "v : [[int]], n : int", "v, n", "swapped(v, [], n)", "[([[1, 2], [3]], 3), ([], 2), ([[1]], 0), ([[1], [], [2, 3]], 50)]"},
    {"rows_kept", "v : [[int]], n : int", "v, n", "kept_rows(v, n)", "[([[1, 2], [3, 4, 5]], 3), ([], 2), ([[1]], 0)]"},
    {"ended_otherwise", "v : [[int]], n : int", "v, n", "ended_with(v, [1, 2], n)", "[([[1, 2], [3, 4]], 3), ([[1, 2], [3, 4]], 2), ([[1]], 1), ([], 5)]"},
    {"churned", "n : int", "n", "churn([float(i) : i in iota(300)], [[i] : i in iota(10)], n)", "[0, 1, 200]"},
    {"both_kept", "n : int", "n", "both(dist(0, n + 1), dist(7, 2), n)", "[0, 1, 10]"},
    {"twice_changed", "n : int", "n", "twice(dist(0, n + 1), n)", "[0, 1, 10]"},
    {"changed", "n : int", "n", "let a = dist(1, n); b = rep(a, 5, 0); c = a ++ b; d = rep(c, 6, 1) in (b, rep(d, 7, 2), d[1])", "[1, 2, 5]"},
    {"changed_in_turn", "n : int", "n", "let a = dist(1, n); x = a[0]; b = rep(a, 5, 0); c = rep(b, 6, 1) in put_with((p, q) => p * q, c, [(i, i + 2) : i in iota(n)]) ++ [x]", "[1, 2, 5]"},
    {"flowed", "v : [float], w : [int], from : [int], to : [int], n : int", "v, w, from, to, n", "flows(v, w, from, to, n)",
     "[([1.0, 2.0, 4.0], [1, 2, 3], [0, 2, 1, 1], [2, 2, 0, 2], 3), ([], [], [], [], 2), ([1.0, nan, inf], [0, 1, 2], [1, 2, 0, 0, 0, 2], [0, 1, 0, 0, 0, 0], 2), ([1.0], [1], [0], [1], 1), ([1.0], [1], [-1, 0, 0], [0, 0, 0], 1), ([1.0], [1], [1], [0], 0), ([1.0, 2.0], [3], [0, 1, 0, 0], [1, 1, 1, 0], 1), ([1.0, 2.0], [3, 4], [0, 1], [1], 2), ([1.0, 2.0], [3], [0, 0, 0], [1, 1, 1], 9), ([1.0, 2.0], [3, 4, 5, 6, 7], [0, 1, 0, 1, 2], [1, 1, 1, 0, 0], 2)]"},
    {"flowed_twice", "v : [int], to : [int], w : [(int, bool)], n : int", "v, to, w, n", "flows_twice(v, to, w, n)",
     "[([1, 2, 4], [0, 2, 1, 1], [(5, true), (6, false), (7, true), (8, true)], 3), ([], [], [], 2), ([1], [0, 1], [(1, true), (2, false)], 1), ([7], [0], [], 1), ([7, 8], [1, 1], [(1, true), (2, false)], 40)]"},
    {"globals", "v : [int]", "v", "{table[mod(x, 8)] + limit : x in v} ++ table", "[[1, 2, 9], []]"},
    {"groups_of_bytes", "n : int", "n", "let v = [u8(rem(i * 7, 256)) : i in iota(n)]; w = rotate(v, 1) in ({if x > u8(9) then x + y else x : x in v; y in w}, {x > y : x in v; y in w})", "[0, 1, 9, 63, 64, 65, 127, 128, 200]"},
    {"groups_in_parts", "n : int", "n", "let v = [float(rem(i * 7, 256)) : i in iota(n)]; w = rotate(v, 1) in {x * 2.0 - y : x in v; y in w}", "[0, 1, 2, 7, 8, 9, 10, 15, 16, 17, 18, 23, 24, 40]"},
    {"sorted_down", "v : [(int, float)]", "v", "sort_down(v)", "[[(3, 0.5), (1, 1.0), (2, 2.0), (9, 3.0), (4, 0.0), (4, 1.5), (0, -1.0)], [], [(1, 0.0)], [(2, 0.0), (1, 5.0)]]"},
    {"kept_parts", "v : [int]", "v", "keep_parts(v)", "[[3, 1, 2, 9, 4, 5, 0, 8, 7], [], [1], [2, 1]]"},
    {"halves", "v : [int]", "v", "take_halves({x + 1 : x in v})", "[[3, 1, 2, 9, 4, 5, 0, 8, 7], [], [1], [2, 1]]"},
    {"crossed", "v : [int], w : [int]", "v, w", "cross_parts(v, {x + 1 : x in w})", "[([3, 1, 2, 9, 4, 5, 0, 8, 7], [1, 2, 3]), ([], []), ([1], [2]), ([], [0, 0, 0, 9])]"},
    {"many_more", "v : [int], n : int", "v, n", "make_more(quicksort(v), n) ++ [#make_more(v, n)]", "[([3, 1, 2, 9, 4, 5, 0, 8, 7], 5), ([], 2), ([1], 0)]"},
    {"deep_recursion", "n : int", "n", "counted_down(n)", "[0, 5, 100, 2000]"},
    {"raised", "n : int", "n", "if n < 0 then error(\"no\") else [n]", "[1, -1, 2]"},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

/* ---- one program ---- */

typedef struct Fixture {
    RunnelSession *session;
    const CoreProgram *program; /* session->program or session->simple */
    Layouts layouts;
    Arena arena;
    Interpreter *interpreter;
    FunctionTexts *functions;
    Compiled *compiled;
    Array **globals; /* by number of FunctionGlobal; null for those without a value */
    const void **cells;
    bool lacks_global; /* functions fail at once where one that they may read has no value */
    KernelWorkspace workspace;
    int64_t blocks_left; /* that may be taken before there is no more memory; less than 0: no limit */
    Text expected, found;
    uint64_t points; /* that were given */
    StopFlag stop;
    uint64_t random;
} Fixture;

static void drop_output(void *context, const char *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
}

static KernelBlock *take_block(KernelWorkspace *workspace, size_t bytes)
{
    Fixture *f = workspace->context;
    if (f->blocks_left == 0)
        return NULL;
    f->blocks_left--;
    KernelBlock *block = malloc(bytes);
    block->size = bytes;
    return block;
}

static void new_workspace(Fixture *f, int64_t blocks)
{
    f->blocks_left = blocks;
    kernel_workspace_init(&f->workspace, take_block, f);
}

static void free_workspace(Fixture *f)
{
    for (int i = 0; i < KERNEL_REGIONS; i++)
        for (KernelBlock *block = f->workspace.regions[i].first, *next; block != NULL; block = next) {
            next = block->next;
            free(block);
        }
}

static bool load(Fixture *f)
{
    Text text;
    f->session = runnel_open(&(RunnelOptions){.write = drop_output});
    text_init(&text, &f->session->memory);
    text_add(&text, library);
    for (int i = 0; i < CASE_COUNT; i++)
        text_addf(&text, "function %s(%s) = %s\n", cases[i].name, cases[i].parameters, cases[i].body);
    for (int i = 0; i < CASE_COUNT; i++)
        text_addf(&text, "[%s(%s) : (%s) in %s];\n", cases[i].name, cases[i].arguments, cases[i].arguments, cases[i].points);
    bool is_loaded = runnel_load_text(f->session, "test.rnl", text_string(&text), text.length, RUNNEL_DIALECT_RNL) == RUNNEL_OK;
    if (!is_loaded)
        fprintf(stderr, "%s", runnel_messages(f->session));
    text_free(&text);
    return is_loaded;
}

static CoreFunctionId find_function(const Fixture *f, const char *name)
{
    const CoreProgram *program = &f->session->program;
    for (CoreFunctionId i = 1; i < program->functions.count; i++)
        if (strcmp(names_text(program->names, program->functions.items[i]->name), name) == 0)
            return i;
    return 0;
}

/* Every function of the cases as if it was called from outside. */
static CoreProgram *simplified(Fixture *f)
{
    const CoreProgram *program = &f->session->program;
    CoreProgram *simple = ARENA_NEW(program->arena, CoreProgram);
    core_program_init(simple, program->arena, program->types, program->names);
    Simplifier *simplifier = simplify_new(program, simple);
    for (int i = 0; i < CASE_COUNT; i++)
        simplify_entry(simplifier, find_function(f, cases[i].name));
    simplify_alone(simplifier, simplify_program(simplifier));
    return simple;
}

/* ---- values that functions read ---- */

static void give_global(Fixture *f, CoreVar variable, Value value)
{
    TypeId type = f->program->variables.items[variable].type;
    for (uint32_t i = 0; i < f->functions->globals.count; i++) {
        const FunctionGlobal *global = &f->functions->globals.items[i];
        if (global->variable != variable)
            continue;
        f->globals[i] = array_new(&f->session->memory, layout_of(&f->layouts, type));
        array_append_value(&f->session->memory, f->program->types, f->globals[i], value);
        for (uint32_t leaf = 0; leaf < global->count; leaf++)
            f->cells[global->first + leaf] = array_cells(f->globals[i], leaf, 0).data;
    }
}

/* One that fails has no value. */
static void give_globals(Fixture *f)
{
    f->lacks_global = false;
    f->cells = ARENA_ARRAY(&f->arena, const void *, f->functions->next_global + 1);
    f->globals = ARENA_ARRAY(&f->arena, Array *, f->functions->globals.count);
    for (uint32_t i = 0; i < f->program->items.count; i++) {
        const CoreItem *item = &f->program->items.items[i];
        Value value;
        if (item->global == 0)
            continue;
        if (!ref_run_item(f->interpreter, i, item, &value)) {
            f->lacks_global = true;
            continue;
        }
        give_global(f, item->global, value);
        value_release(ref_heap(f->interpreter), f->program->types, f->program->variables.items[item->global].type, value);
    }
}

static TypeId parameters_type(const Fixture *f, const CoreFunction *function)
{
    const CoreBlock *body = function->body;
    TypeId types[16];
    for (uint32_t i = 0; i < body->parameter_count; i++)
        types[i] = f->program->variables.items[body->parameters[i]].type;
    return type_tuple(f->program->types, types, body->parameter_count);
}

/* ---- points ---- */

/* What src/ref gives for one point, as text; false if it fails. */
static bool expect_point(Fixture *f, CoreFunctionId id, Value tuple)
{
    const CoreFunction *function = f->program->functions.items[id];
    Types *types = f->program->types;
    uint32_t count = function->body->parameter_count;
    Value arguments[16], rest = tuple, result;
    for (uint32_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count;
        arguments[i] = is_last ? rest : rest.object->items[0];
        rest = is_last ? rest : rest.object->items[1];
        value_share(types, f->program->variables.items[function->body->parameters[i]].type, arguments[i]);
    }
    text_clear(&f->expected);
    diagnostics_clear(&f->session->diagnostics);
    if (!ref_call(f->interpreter, id, arguments, count, function->span, &result))
        return false;
    value_print(types, function->result_type, result, (ValueFormat){0}, &f->expected);
    value_release(ref_heap(f->interpreter), types, function->result_type, result);
    return true;
}

typedef struct Results {
    const Layout *layout;
    void *columns[LEAVES];
    Cells cells[LEAVES];
} Results;

static void find_value(Fixture *f, CoreFunctionId id, const Results *results, size_t point)
{
    TypeId type = f->program->functions.items[id]->result_type;
    Heap *heap = ref_heap(f->interpreter);
    Value value = rows_value(heap, f->program->types, results->layout, results->cells, point);
    text_clear(&f->found);
    value_print(f->program->types, type, value, (ValueFormat){0}, &f->found);
    value_release(heap, f->program->types, type, value);
}

/* Nobody may look at what was given back. */
static void spoil_released(Fixture *f)
{
    for (int i = 0; i < KERNEL_REGIONS; i++) {
        const KernelRegion *region = &f->workspace.regions[i];
        bool is_released = region->block == NULL;
        for (KernelBlock *block = region->first; block != NULL; block = block->next) {
            char *from = is_released ? (char *)(block + 1) : block == region->block ? region->top : (char *)block + block->size;
            memset(from, 0xa5, (size_t)((char *)block + block->size - from));
            is_released |= block == region->block;
        }
    }
}

/* Points from `start` on; gives how many were done. */
static size_t call_from(Fixture *f, CoreFunctionId id, KernelFunction *entry, const Array *array, size_t start, Results *results)
{
    static const bool nowhere = false;
    const void *streams[LEAVES];
    int64_t strides[LEAVES], done = -1;
    results->layout = layout_of(&f->layouts, f->program->functions.items[id]->result_type);
    for (uint32_t i = 0; i < array->layout->count; i++) {
        Cells cells = array_cells(array, i, start);
        streams[i] = cells.data;
        strides[i] = !cells.is_uniform;
    }
    for (uint32_t i = 0; i < results->layout->count; i++) {
        results->columns[i] = arena_array(&f->arena, array->count, leaf_size(results->layout->leaves[i].type));
        results->cells[i] = (Cells){.data = results->columns[i]};
    }
    KernelCall call = {.count = (int64_t)(array->count - start), .streams = streams, .strides = strides, .outputs = results->columns, .done = &done,
                       .globals = f->cells, .depth = MAX_DEPTH, .stop = (const volatile int *)(const void *)&f->stop.reason, .has_failed = &nowhere, .workspace = &f->workspace};
    kernel_recall_forget(&f->workspace);
    uint64_t status = entry(&call);
    CHECK((status == 0) == (done == call.count));
    CHECK(f->workspace.regions[1].top == NULL); /* it is as it was */
    spoil_released(f);
    return (size_t)done;
}

static void compare(Fixture *f, CoreFunctionId id, const char *name, const Object *points, size_t start, const Results *results, size_t done, bool may_fail)
{
    for (size_t i = 0; i < done; i++) {
        bool is_expected = expect_point(f, id, points->items[start + i]);
        if (stop_reason(&f->stop) != STOP_NOT)
            return;
        find_value(f, id, results, i);
        f->points++;
        if (is_expected && strcmp(text_string(&f->found), text_string(&f->expected)) == 0)
            continue;
        failures++;
        fprintf(stderr, "%s, point %zu: found %s, expected %s\n", name, start + i, text_string(&f->found), is_expected ? text_string(&f->expected) : "a failure");
    }
    if (start + done < points->count && !may_fail && !f->lacks_global && expect_point(f, id, points->items[start + done]) && stop_reason(&f->stop) == STOP_NOT) {
        failures++;
        fprintf(stderr, "%s, point %zu: failed, expected %s\n", name, start + done, text_string(&f->expected));
    }
}

static void run_points(Fixture *f, CoreFunctionId id, const char *name, KernelFunction *entry, const Array *array, const Object *points)
{
    for (size_t start = 0; start < points->count && stop_reason(&f->stop) == STOP_NOT;) {
        Results results;
        new_workspace(f, -1);
        size_t done = call_from(f, id, entry, array, start, &results);
        compare(f, id, name, points, start, &results, done, false);
        free_workspace(f);
        start += done + 1;
    }
    for (int64_t blocks = 0; blocks < 4; blocks++) {
        Results results;
        new_workspace(f, blocks);
        size_t done = call_from(f, id, entry, array, 0, &results);
        compare(f, id, name, points, 0, &results, done, true);
        free_workspace(f);
    }
}

static KernelFunction *entry_of(const Fixture *f, CoreFunctionId id)
{
    char name[32];
    snprintf(name, sizeof name, "entry_%u", id);
    return (KernelFunction *)(uintptr_t)compile_symbol(f->compiled, name);
}

/* Often enough for many to be done at once, where the function can. */
static Object *repeated(Fixture *f, TypeId tuple, const Object *points)
{
    Types *types = f->program->types;
    Heap *heap = ref_heap(f->interpreter);
    Object *all = value_container(heap, types, type_vector(types, tuple), points->count * WIDE_TIMES);
    for (size_t i = 0; i < points->count * WIDE_TIMES; i++) {
        value_share(types, tuple, points->items[i % points->count]);
        all = value_append(heap, all, points->items[i % points->count]);
    }
    return all;
}

/* Takes the vector of points over. */
static void run_vector(Fixture *f, CoreFunctionId id, const char *name, TypeId tuple, Value value)
{
    if (f->functions->is_wide[id] && value.object->count < WIDE_TIMES)
        run_vector(f, id, name, tuple, (Value){.object = repeated(f, tuple, value.object)});
    Array *array = array_new(&f->session->memory, layout_of(&f->layouts, tuple));
    for (size_t i = 0; i < value.object->count; i++)
        array_append_value(&f->session->memory, f->program->types, array, value.object->items[i]);
    run_points(f, id, name, entry_of(f, id), array, value.object);
    array_release(&f->session->memory, array);
    value_release(ref_heap(f->interpreter), f->program->types, type_vector(f->program->types, tuple), value);
}

static void run_case(Fixture *f, const Case *test)
{
    CoreFunctionId id = find_function(f, test->name);
    TypeId tuple = parameters_type(f, f->program->functions.items[id]), type = type_vector(f->program->types, tuple);
    Value value;
    diagnostics_clear(&f->session->diagnostics);
    bool is_there = entry_of(f, id) != NULL;
    if (is_there && value_read(ref_heap(f->interpreter), f->program->types, type, test->points, strlen(test->points), test->name, &f->session->diagnostics, &value)) {
        run_vector(f, id, test->name, tuple, value);
        return;
    }
    failures++;
    fprintf(stderr, "%s: %s\n", test->name, is_there ? f->session->diagnostics.list.items[0].message : "no entry");
}

/* ---- random arguments ---- */

static Fixture *running;

static void end_run(int signal)
{
    (void)signal;
    stop_set(&running->stop, STOP_TIME);
}

static void set_alarm(Fixture *f, long seconds)
{
    running = f;
    stop_clear(&f->stop);
    signal(SIGALRM, end_run);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_sec = seconds}}, NULL);
}

static uint64_t next_random(Fixture *f)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random;
}

static Scalar random_scalar(Fixture *f, ScalarType type)
{
    static const double some[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 127.0, (double)NAN, (double)INFINITY};
    double value = some[next_random(f) % 10];
    if (type == SCALAR_F64)
        return scalar_of_f64(value);
    if (type == SCALAR_F32)
        return scalar_of_f32((float)value);
    return type == SCALAR_BOOL ? (Scalar){.bits = next_random(f) % 2} : scalar_of_int(type, (int64_t)(next_random(f) % 12) - (scalar_kind(type) == KIND_SIGNED));
}

static Value random_value(Fixture *f, TypeId type)
{
    Types *types = f->program->types;
    Heap *heap = ref_heap(f->interpreter);
    type = type_underlying(types, type);
    if (type_kind(types, type) == TYPE_SCALAR)
        return (Value){.scalar = random_scalar(f, type_scalar(types, type))};
    if (type_kind(types, type) == TYPE_PAIR) {
        Value first = random_value(f, type_first(types, type));
        return value_pair(heap, types, type, first, random_value(f, type_rest(types, type)));
    }
    if (type_kind(types, type) != TYPE_CONTAINER)
        return (Value){.object = NULL};
    size_t count = next_random(f) % 7;
    Object *vector = value_container(heap, types, type, count);
    for (size_t i = 0; i < count; i++)
        vector = value_append(heap, vector, random_value(f, type_element(types, type)));
    return (Value){.object = vector};
}

static void try_random(Fixture *f, CoreFunctionId id)
{
    Types *types = f->program->types;
    TypeId tuple = parameters_type(f, f->program->functions.items[id]), type = type_vector(types, tuple);
    Object *points = value_container(ref_heap(f->interpreter), types, type, RANDOM_POINTS);
    for (int i = 0; i < RANDOM_POINTS; i++)
        points = value_append(ref_heap(f->interpreter), points, random_value(f, tuple));
    set_alarm(f, SECONDS_MAX);
    run_vector(f, id, names_text(f->program->names, f->program->functions.items[id]->name), tuple, (Value){.object = points});
    set_alarm(f, 0);
}

/* ---- texts ---- */

/* Lines that the text of a function has, in this order: loops as one would write them. */
typedef struct Shape {
    const char *name;
    const char *lines[12];
} Shape;

static const Shape shapes[] = {
    {"squares", {"kernel_array(into, v_3, 1,", "kernel_shared(", "kernel_part(scalars->call, v_3, 0, KERNEL_LINE)", "for (", " = v4[", "] = v", "}", "kernel_meet(", "*result0 = v", "kernel_release(aside, mark);", "return true;"}},
    {"filtered", {"kernel_part(scalars->call, v_3, 1, KERNEL_LINE)", "kernel_array(into, ", " = 0;", "if (KERNEL_PACKS && ", "kernel_pack_8(", "} else {", "] = canonical_F64(", " += v", "}", "kernel_array_end(into, ", "kernel_join_parts("}},
    {"sums", {"kernel_array(into,", "for (", "kernel_mark(aside)", "FoldSUM_F64", "for (", "for (", ".tile[", "}", "FoldSUM_F64_all", "}", "canonical_F64(", "kernel_release(aside"}},
    {"appended", {"kernel_array(into,", "kernel_copy(", "+ 0] = 1;", "+ 1] = 2;", "for (", "kernel_copy(", "*result0"}},
    {"flows", {"kernel_group(", "for (", "for (", "}", "} else {", "for ("}},
    {"crowd", {"= kernel_window(aside, ", "for (", "kernel_window_find(", "kernel_window_array(aside, ", "for (", "kernel_array(into, ", "for ("}},
    {"rotated", {"kernel_split(", "for (", "}", "for (", "}"}},
    {"groups_of_bytes", {"kernel_next_group(", "- KERNEL_REGISTER / 1 : ", "KERNEL_APART", "for (", "}", "}", "for ("}},
    {"groups_in_parts", {"kernel_split(", "kernel_next_group(", "- KERNEL_REGISTER / 8 : ", "KERNEL_APART", "for (", "}", "}", "for (", "KERNEL_ONE_BY_ONE;", "}"}},
};

/* In the program as simplified. */
static void check_shapes(Fixture *f, const char *text)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        Text head;
        text_init(&head, &f->session->memory);
        text_addf(&head, "\nstatic bool ");
        function_text_name(f->functions, find_function(f, shapes[i].name), &head);
        const char *place = strstr(strstr(text, "\n/* line"), text_string(&head));
        for (size_t line = 0; line < 12 && shapes[i].lines[line] != NULL && place != NULL; line++) {
            place = strstr(place, shapes[i].lines[line]);
            if (place == NULL) {
                failures++;
                fprintf(stderr, "%s: there is no `%s` where it should be\n", shapes[i].name, shapes[i].lines[line]);
            } else
                place += strlen(shapes[i].lines[line]);
        }
        text_free(&head);
    }
}

/* ---- programs ---- */

static void accept_cases(Fixture *f)
{
    for (int i = 0; i < CASE_COUNT; i++) {
        CoreFunctionId id = find_function(f, cases[i].name);
        bool is_accepted = function_text_need_complete_entry(f->functions, id);
        if (!is_accepted) {
            failures++;
            fprintf(stderr, "%s is not accepted\n", cases[i].name);
        }
    }
}

static void compile_cases(Fixture *f, bool has_shapes)
{
    Text text, problem;
    text_init(&text, &f->session->memory);
    text_init(&problem, &f->session->memory);
    EmitContext context = {.names = f->program->names, .sources = &f->session->sources, .functions = f->functions};
    text_add(&text, "#define KERNEL_SPOIL\n#define KERNEL_GROUP_LEAST 0\n");
    emit_c(&context, NULL, 0, &text);
    if (has_shapes)
        check_shapes(f, text_string(&text));
    f->compiled = compile_load(&f->session->memory, &(CompileOptions){.cache_directory = getenv("TMPDIR")}, &(CompileText){text_string(&text), text.length}, 1, &problem);
    if (f->compiled == NULL) {
        failures++;
        fprintf(stderr, "%s\n", text_string(&problem));
    }
    text_free(&problem);
    text_free(&text);
}

static void accept_all(Fixture *f)
{
    for (CoreFunctionId i = 1; i < f->program->functions.count; i++)
        if (f->program->functions.items[i] != NULL)
            function_text_need_complete_entry(f->functions, i);
}

static void run_program(Fixture *f, const CoreProgram *program, bool has_cases)
{
    Memory *memory = &f->session->memory;
    f->program = program;
    arena_init(&f->arena, memory);
    layouts_init(&f->layouts, &f->arena, program->types);
    text_init(&f->expected, memory);
    text_init(&f->found, memory);
    f->interpreter = ref_new(memory, program, &f->session->diagnostics, (InterpreterOptions){.max_depth = MAX_DEPTH, .output = {.write = drop_output}, .stop = &f->stop});
    f->functions = function_texts_new(&f->arena, program, &f->layouts, 0);
    if (has_cases)
        accept_cases(f);
    else
        accept_all(f);
    compile_cases(f, has_cases && program != &f->session->program);
    give_globals(f);
    for (int i = 0; has_cases && i < CASE_COUNT && f->compiled != NULL; i++)
        run_case(f, &cases[i]);
    for (uint32_t i = 0; !has_cases && i < f->functions->entries.count && f->compiled != NULL; i++)
        if (f->program->functions.items[f->functions->entries.items[i]]->body->parameter_count > 0)
            try_random(f, f->functions->entries.items[i]);
    for (uint32_t i = 0; i < f->functions->globals.count; i++)
        array_release(memory, f->globals[i]);
    compile_free(memory, f->compiled);
    ref_free(f->interpreter);
    text_free(&f->found);
    text_free(&f->expected);
    arena_free(&f->arena);
}

static void try_file(Fixture *f, const char *path)
{
    f->session = runnel_open(&(RunnelOptions){.write = drop_output});
    if (runnel_load_file(f->session, path) == RUNNEL_OK) {
        int before = failures;
        run_program(f, &f->session->program, false);
        run_program(f, &f->session->simple, false);
        if (failures > before)
            fprintf(stderr, "in %s\n", path);
    }
    runnel_close(f->session);
}

int main(int count, char **paths)
{
    if (!compile_is_expected())
        return STATUS_SKIPPED;
    Fixture f = {.random = 88172645463325252u};
    for (int i = 1; i < count; i++)
        try_file(&f, paths[i]);
    if (count > 1) {
        printf("%llu points\n", (unsigned long long)f.points);
        return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (!load(&f))
        return EXIT_FAILURE;
    run_program(&f, TEST_SIMPLIFIED ? simplified(&f) : &f.session->program, true);
    CHECK(f.points > CASE_COUNT);
    runnel_close(f.session);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
