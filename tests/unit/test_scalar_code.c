/* Scalar code against the reference interpreter: the same values, the same failures at the same points, on the program as written and as
 * simplified; and teams of several threads against one. Given files, it does the same with random arguments for every function in them that is scalar code. */
#define _XOPEN_SOURCE 700
#include "session/session.h"
#include "vm/scalar_code.h"
#include "check.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { MAX_DEPTH = 1000000, RANDOM_POINTS = 40, TEAMS = 3 };

typedef struct Fixture {
    RunnelSession *session;
    const CoreProgram *program; /* session->program or session->simple */
    Layouts layouts;
    Arena arena;
    Interpreter *interpreter;
    ScalarCode *code;
    Team *teams[TEAMS];
    Failure failure;
    Text expected, found, text;
    uint64_t max_depth;
    uint64_t calls; /* of functions, compared so far */
    bool has_limit; /* the global `limit` has a value */
    int64_t limit;
    StopFlag stop;
    uint64_t random;
} Fixture;

static void drop_output(void *context, const char *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
}

static bool is_stopped(const Fixture *f)
{
    return stop_reason(&f->stop) != STOP_NOT;
}

/* ---- setting up ---- */

static void open_program(Fixture *f, const CoreProgram *program)
{
    Memory *memory = &f->session->memory;
    f->program = program;
    arena_init(&f->arena, memory);
    layouts_init(&f->layouts, &f->arena, program->types);
    f->interpreter = ref_new(memory, program, &f->session->diagnostics,
                             (InterpreterOptions){.max_depth = f->max_depth,
                                                  .output = {.write = drop_output},
                                                  .stop = &f->stop});
    f->code = scalar_code_new(memory, program, &f->layouts);
    static const uint32_t sizes[TEAMS] = {2, 3, 8};
    for (int i = 0; i < TEAMS; i++)
        f->teams[i] = team_new(memory, (TeamOptions){.threads = sizes[i], .piece_picoseconds = 1000});
    failure_init(&f->failure, memory);
    text_init(&f->expected, memory);
    text_init(&f->found, memory);
    text_init(&f->text, memory);
}

static void close_program(Fixture *f)
{
    text_free(&f->text);
    text_free(&f->found);
    text_free(&f->expected);
    failure_free(&f->failure);
    for (int i = 0; i < TEAMS; i++)
        team_free(f->teams[i]);
    scalar_code_free(f->code);
    ref_free(f->interpreter);
    arena_free(&f->arena);
}

static bool load(Fixture *f, const char *text)
{
    f->session = runnel_open(&(RunnelOptions){.write = drop_output});
    if (runnel_load_text(f->session, "test.rnl", text, strlen(text), RUNNEL_DIALECT_RNL) == RUNNEL_OK)
        return true;
    failures++;
    fprintf(stderr, "%s", runnel_messages(f->session));
    return false;
}

static CoreFunctionId find_function(const Fixture *f, const char *name)
{
    const CoreProgram *program = &f->session->program;
    for (CoreFunctionId i = 1; i < program->functions.count; i++)
        if (strcmp(names_text(program->names, program->functions.items[i]->name), name) == 0)
            return i;
    return 0;
}

/* ---- one function, many points ---- */

/* The globals of the programs here are ints. */
static bool give_global(void *context, CoreVar variable, Cells *leaves)
{
    Fixture *f = context;
    (void)variable;
    *leaves = (Cells){.data = &f->limit, .is_uniform = true};
    return f->has_limit;
}

static TypeId parameters_type(const Fixture *f, const CoreFunction *function)
{
    const CoreBlock *body = function->body;
    TypeId *types = ARENA_ARRAY(f->program->arena, TypeId, body->parameter_count);
    for (uint32_t i = 0; i < body->parameter_count; i++)
        types[i] = f->program->variables.items[body->parameters[i]].type;
    return body->parameter_count == 0 ? TYPE_UNIT_ID : type_tuple(f->program->types, types, body->parameter_count);
}

/* What src/ref gives for one point, as text; the message if it fails. */
static bool expect_point(Fixture *f, CoreFunctionId id, Value tuple)
{
    const CoreFunction *function = f->program->functions.items[id];
    Types *types = f->program->types;
    uint32_t count = function->body->parameter_count;
    Value arguments[16], rest = tuple;
    for (uint32_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count;
        arguments[i] = is_last ? rest : rest.object->items[0];
        rest = is_last ? rest : rest.object->items[1];
        value_share(types, f->program->variables.items[function->body->parameters[i]].type, arguments[i]);
    }
    Value result;
    text_clear(&f->expected);
    diagnostics_clear(&f->session->diagnostics);
    if (!ref_call(f->interpreter, id, arguments, count, function->span, &result)) {
        text_add(&f->expected, f->session->diagnostics.list.items[0].message);
        return false;
    }
    value_print(types, function->result_type, result, (ValueFormat){0}, &f->expected);
    value_release(ref_heap(f->interpreter), types, function->result_type, result);
    return true;
}

typedef struct Results {
    const Layout *layout;
    void **columns;
    Cells *cells;
} Results;

static Results new_results(Fixture *f, TypeId type, size_t count)
{
    Results results = {.layout = layout_of(&f->layouts, type)};
    results.columns = ARENA_ARRAY(&f->arena, void *, results.layout->count);
    results.cells = ARENA_ARRAY(&f->arena, Cells, results.layout->count);
    for (uint32_t i = 0; i < results.layout->count; i++) {
        results.columns[i] = arena_array(&f->arena, count, leaf_size(results.layout->leaves[i].type));
        results.cells[i] = (Cells){.data = results.columns[i]};
    }
    return results;
}

static void release_results(Fixture *f, const Results *results, size_t count)
{
    for (uint32_t i = 0; i < results->layout->count; i++)
        cells_release(&f->session->memory, results->layout->leaves[i].type, results->columns[i], count);
}

static void complain(Fixture *f, CoreFunctionId id, size_t point)
{
    const CoreFunction *function = f->program->functions.items[id];
    failures++;
    fprintf(stderr, "%s, point %zu: found %s, expected %s\n", names_text(f->program->names, function->name), point,
            text_string(&f->found), text_string(&f->expected));
    text_clear(&f->text);
    scalar_code_print(f->code, id, &f->text);
    fprintf(stderr, "%s", text_string(&f->text));
}

static void compare_text(Fixture *f, CoreFunctionId id, size_t point)
{
    f->calls++;
    if (!is_stopped(f) && strcmp(text_string(&f->found), text_string(&f->expected)) != 0)
        complain(f, id, point);
}

/* Compares what the run gave with src/ref, point by point up to the one that failed. */
static void compare_points(Fixture *f, CoreFunctionId id, const ScalarRun *run, const Results *results,
                           const Value *points)
{
    Types *types = f->program->types;
    TypeId type = f->program->functions.items[id]->result_type;
    Heap *heap = ref_heap(f->interpreter);
    for (size_t i = 0; i < run->done; i++) {
        expect_point(f, id, points[i]);
        Value value = rows_value(heap, types, results->layout, results->cells, i);
        text_clear(&f->found);
        value_print(types, type, value, (ValueFormat){0}, &f->found);
        value_release(heap, types, type, value);
        compare_text(f, id, i);
    }
    if (run->done == run->count)
        return;
    bool is_expected = expect_point(f, id, points[run->done]);
    if (is_stopped(f))
        return;
    CHECK(!is_expected);
    scalar_code_word(f->code, run, &f->session->sources, &f->failure);
    text_clear(&f->found);
    text_add(&f->found, text_string(&f->failure.text));
    CHECK(f->failure.code == f->session->diagnostics.list.items[0].code);
    CHECK(run->problem.statement == NULL || /* then it is the call that is shown */
                 f->failure.span.start == f->session->diagnostics.list.items[0].span.start);
    compare_text(f, id, run->done);
}

static bool same_results(const Results *a, const Results *b, size_t count)
{
    for (uint32_t i = 0; i < a->layout->count; i++)
        if (memcmp(a->columns[i], b->columns[i], count * leaf_size(a->layout->leaves[i].type)) != 0)
            return false;
    return true;
}

/* The same run by several threads. */
static void compare_team(Fixture *f, CoreFunctionId id, const ScalarRun *alone, const Results *expected, Team *team)
{
    Results results = new_results(f, f->program->functions.items[id]->result_type, alone->count);
    ScalarRun run = *alone;
    run.team = team;
    run.results = results.columns;
    scalar_code_run(f->code, id, &run);
    if (run.problem.kind != SCALAR_PROBLEM_STOPPED) {
        CHECK(run.done == alone->done && same_results(&results, expected, run.done));
        CHECK(run.problem.kind == alone->problem.kind && run.problem.statement == alone->problem.statement);
        CHECK(run.problem.global == alone->problem.global);
        CHECK(memcmp(run.problem.numbers, alone->problem.numbers, sizeof run.problem.numbers) == 0);
    }
    release_results(f, &results, run.done);
}

/* Runs points from the one number `start` on; gives the number of the first that is left, if one fails. */
static size_t run_from(Fixture *f, CoreFunctionId id, const Array *array, const Object *points, size_t start)
{
    const CoreFunction *function = f->program->functions.items[id];
    Cells *arguments = ARENA_ARRAY(&f->arena, Cells, array->layout->count);
    for (uint32_t i = 0; i < array->layout->count; i++)
        arguments[i] = array_cells(array, i, start);
    Results results = new_results(f, function->result_type, points->count - start);
    ScalarRun run = {.arguments = arguments,
                     .results = results.columns,
                     .count = points->count - start,
                     .max_depth = f->max_depth,
                     .stop = &f->stop,
                     .global = give_global,
                     .context = f};
    bool is_done = scalar_code_run(f->code, id, &run);
    CHECK(is_done == (run.done == run.count));
    CHECK(is_done == (run.problem.kind == SCALAR_PROBLEM_NONE));
    if (run.problem.kind != SCALAR_PROBLEM_STOPPED)
        compare_points(f, id, &run, &results, points->items + start);
    for (int i = 0; i < TEAMS && stop_reason(&f->stop) == STOP_NOT; i++)
        compare_team(f, id, &run, &results, f->teams[i]);
    release_results(f, &results, run.done);
    return start + run.done + (is_done ? 0 : 1);
}

/* Runs the function on `points`, a vector of tuples of arguments. */
static void run_points(Fixture *f, CoreFunctionId id, const Object *points)
{
    Memory *memory = &f->session->memory;
    const Layout *layout = layout_of(&f->layouts, parameters_type(f, f->program->functions.items[id]));
    Array *array = array_new(memory, layout);
    for (size_t i = 0; i < points->count; i++)
        array_append_value(memory, f->program->types, array, points->items[i]);
    for (size_t start = 0; start < points->count && !is_stopped(f);)
        start = run_from(f, id, array, points, start);
    array_release(memory, array);
}

/* ---- tests by text ---- */

/* Reads the points, as one vector in the language's notation, and compares. False if the function is not in the program. */
static bool try_function(Fixture *f, const char *name, const char *points, bool must_accept)
{
    CoreFunctionId id = find_function(f, name);
    if (id == 0 || f->program->functions.items[id] == NULL)
        return false;
    CHECK(scalar_code_accepts(f->code, id) == must_accept);
    if (!scalar_code_accepts(f->code, id))
        return true;
    Types *types = f->program->types;
    TypeId type = type_vector(types, parameters_type(f, f->program->functions.items[id]));
    Value value;
    diagnostics_clear(&f->session->diagnostics);
    if (!value_read(ref_heap(f->interpreter), types, type, points, strlen(points), name, &f->session->diagnostics,
                    &value)) {
        failures++;
        fprintf(stderr, "%s: %s\n", name, f->session->diagnostics.list.items[0].message);
        return true;
    }
    run_points(f, id, value.object);
    value_release(ref_heap(f->interpreter), types, type, value);
    return true;
}

typedef struct Case {
    const char *function;
    const char *points;
    bool is_rejected;
} Case;

static const char program[] =
    "limit = 7;\n"
    "datatype point (float, float)\n"
    "datatype boxed (point, int)\n"
    "function gcd(a : int, b : int) : int = if b == 0 then a else gcd(b, rem(a, b))\n"
    "function collatz(n : int, k : int) : int =\n"
    "  if n == 1 then k else if rem(n, 2) == 0 then collatz(n / 2, k + 1) else collatz(3 * n + 1, k + 1)\n"
    "function fib(n : int) : int = if n < 2 then n else fib(n - 1) + fib(n - 2)\n"
    "function ackermann(m : int, n : int) : int =\n"
    "  if m == 0 then n + 1 else if n == 0 then ackermann(m - 1, 1) else ackermann(m - 1, ackermann(m, n - 1))\n"
    "function mandelbrot(cx : float, cy : float, x : float, y : float, k : int) : int =\n"
    "  if k >= 200 or x * x + y * y > 4.0 then k else mandelbrot(cx, cy, x * x - y * y + cx, 2.0 * x * y + cy, k + 1)\n"
    "function count(n : int, k : int) : int = if n == 0 then k else count(n - 1, k + n)\n"
    "function even(n : int) : bool = if n == 0 then true else not(odd(n - 1))\n"
    "function odd(n : int) : bool = if n == 0 then false else not(even(n - 1))\n"
    "function turn_a(n : int, x : int, y : int) : int = if n <= 0 then x - y else turn_b(n - 1, y, x, 3)\n"
    "function turn_b(n : int, x : int, y : int, z : int) : int = if n <= 0 then x * z else turn_a(n - 1, x + y, z)\n"
    "function few(x : float) : float = many(-x, 2.5, 1.5, x, 4.5)\n"
    "function many(a : float, b : float, c : float, d : float, e : float) : float = if a > 10.0 then a + b * c else few(d - e)\n"
    "function search(v : [int], x : int) : int =\n"
    "  if #v == 0 then 0 - limit else\n"
    "  let m = #v / 2 in if v[m] == x then m else if v[m] > x then search(v[:m], x) else search(v[m + 1:], x)\n"
    "function half(v : [int], n : int) : [int] = if #v <= n then v else half(v[#v / 2:], n)\n"
    "function ends(v : [int], n : int) : ([int], [int], int) = (take(v, n), drop(v, n), #v)\n"
    "function pick(v : [int], i : int) : int = v[i]\n"
    "function deep_pick(v : [[(int, bool)]], i : int, j : int) : (int, bool) = v[i][j]\n"
    "function inner(v : [[int]], i : int, c : bool) : [int] = let w = v[i] in if c then w else w[1:]\n"
    "function pick_slice(v : [float], i : int, j : int, k : int) : float = v[i:j][k]\n"
    "function quotient(a : int, b : int) : int = a / b + 1\n"
    "function moduli(a : int, b : int) : (int, int) = (mod(a, b), rem(a, b))\n"
    "function truncated(x : float) : int = trunc(x * 2.0)\n"
    "function raised(a : int, n : int) : int = a ^ n\n"
    "function norm(p : point) : float = let point(x, y) = p in sqrt(x * x + y * y)\n"
    "function farther(a : boxed, b : boxed) : boxed =\n"
    "  let boxed(p, i) = a; boxed(q, j) = b in if norm(p) < norm(q) then b else if i < j then boxed(p, j) else a\n"
    "function rotate(a : int, b : float, c : bool, n : int) : (int, float, bool) =\n"
    "  if n == 0 then (a, b, c) else rotate(if c then a + 1 else a - 1, b / 2.0, not(c), n - 1)\n"
    "function swap(a : int, b : int, c : int, n : int) : (int, int, int) = if n == 0 then (a, b, c) else swap(c, a, b, n - 1)\n"
    "function pairs(a : (int, int), n : int) : (int, int) =\n"
    "  if n == 0 then a else let (x, y) = a; (s, t) = pairs((y, x + y), n - 1) in (s + x, t - y)\n"
    "function logic(a : bool, b : bool, c : bool) : (bool, bool, bool, int) =\n"
    "  (a and (b or not(c)), a xor b, a nor c, if (a or b) and not(b and c) then 1 else if not(a or c) then 2 else 3)\n"
    "function nothing(a : ()) : int = 3\n"
    "function random_of(s : int, i : int) : float = random(s, i)\n"
    "function apply_twice(f, x) = f(f(x))\n"
    "function closures(a : int, x : int) : int = apply_twice(y => y * a + limit, x)\n"
    "function lazy(n : int) : int = if n > 0 then n else limit\n"
    "function total(v : [int]) : int = sum(v)\n"
    "function uses_total(v : [int], n : int) : int = if n == 0 then total(v) else uses_total(v, n - 1)\n"
    "function build(n : int) : [int] = [n, n]\n"
    "function compare(a : (int, int), b : (int, int)) : bool = a == b\n"
    "function reductions(x : float, y : float, z : float) : (float, float, float) = (fma(x, y, z), max(x, y), min(y, z))\n"
    "function sum_to(n : int) : int = if n == -1 then n / (n + 1) else count(n, 0)\n"
    "function sum_deep(n : int) : int = if n == 0 then 0 else n + sum_deep(n - 1)\n"
    "function beginning(v : [int], n : int) : [int] = take(v, n)\n"
    "(sum_to(1), sum_deep(1), beginning([1], 1));\n"
    "(gcd(1, 1), collatz(1, 1), fib(1), ackermann(1, 1), mandelbrot(1.0, 1.0, 0.0, 0.0, 1), count(1, 1), even(1), odd(1));\n"
    "(turn_a(1, 1, 1), few(-20.0), search([1], 1), half([1], 1), ends([1], 1), pick([1], 0), quotient(1, 1), moduli(1, 1), truncated(1.0));\n"
    "(deep_pick([[(1, true)]], 0, 0), inner([[1]], 0, true), pick_slice([1.0], 0, 1, 0), raised(1, 1), norm(point(1.0, 1.0)));\n"
    "(farther(boxed(point(1.0, 1.0), 1), boxed(point(1.0, 2.0), 2)), rotate(1, 1.0, true, 1), swap(1, 2, 3, 1));\n"
    "(pairs((1, 2), 3), logic(true, true, true), nothing(()), random_of(1, 2), closures(1, 2), lazy(1), uses_total([1], 1));\n"
    "(build(1), compare((1, 2), (1, 2)), reductions(1.0, 2.0, 3.0));\n";

static const Case cases[] = {
    {"gcd", "[(12, 18), (0, 5), (5, 0), (1071, 462), (-12, 18), (12, -18), (9223372036854775807, 2)]", false},
    {"collatz", "[(1, 0), (2, 0), (3, 0), (27, 0), (97, 5), (871, 0), (837799, 0)]", false},
    {"fib", "[0, 1, 2, 3, 10, 20, -5]", false},
    {"ackermann", "[(0, 0), (1, 1), (2, 3), (3, 3), (2, 9)]", false},
    {"mandelbrot", "[(0.1, 0.2, 0.0, 0.0, 0), (-0.75, 0.1, 0.0, 0.0, 0), (1.0, 1.0, 0.0, 0.0, 0), (nan, 0.0, 0.0, 0.0, 0)]", false},
    {"count", "[(0, 5), (10, 0), (200000, 0)]", false},
    {"even", "[0, 1, 2, 7, 1000, 99999]", false},
    {"turn_a", "[(0, 1, 2), (1, 1, 2), (2, 1, 2), (9, 1, 2), (10, 5, 7), (1001, 1, 3)]", false},
    {"few", "[1.0, -20.0, 5.5, 100.0]", false},
    {"search", "[([1, 3, 5, 7], 5), ([1, 3, 5, 7], 4), ([], 1), ([2], 2), ([1, 2, 3, 4, 5, 6, 7, 8, 9], 9)]", false},
    {"half", "[([1, 3, 5, 7], 1), ([1, 3, 5, 7, 9], 2), ([], 1), ([2], 2)]", false},
    {"ends", "[([1, 3, 5, 7], 1), ([1, 3, 5, 7], -1), ([], 0), ([2], -1), ([1, 2], 2), ([1, 2], 3), ([1], 0)]", false},
    {"ends", "[([1, 3, 5, 7], -5)]", false},
    {"pick", "[([1, 3, 5, 7], 1), ([4], 0), ([1, 2], 1), ([1, 2], 2), ([], 0)]", false},
    {"pick", "[([1, 3, 5, 7], -1)]", false},
    {"deep_pick", "[([[(1, true)], [(2, false), (3, true)]], 1, 1), ([[(1, true)]], 0, 0), ([[(1, true)]], 0, 1)]", false},
    {"inner", "[([[1, 2], [3, 4]], 1, true), ([[1, 2], [3, 4]], 0, false), ([[1], []], 1, true), ([[1], []], 1, false)]", false},
    {"pick_slice", "[([1.5, 2.5, 3.5], 1, 3, 1), ([1.5, 2.5, 3.5], 0, 3, 2), ([1.5, 2.5], 1, 2, 1)]", false},
    {"pick_slice", "[([1.5], 1, 0, 0)]", false},
    {"pick_slice", "[([1.5], 0, 2, 0)]", false},
    {"pick_slice", "[([1.5], -1, 1, 0)]", false},
    {"quotient", "[(7, 2), (-7, 2), (7, -2), (7, -1), (-9223372036854775808, -1), (1, 0), (5, 5)]", false},
    {"moduli", "[(7, 2), (-7, 2), (7, -2), (-7, -2), (7, -1), (-9223372036854775808, -1), (0, 3), (1, 0)]", false},
    {"truncated", "[1.25, -1.75, 1e18, -4e18, 1e19]", false},
    {"truncated", "[nan]", false},
    {"raised", "[(2, 10), (-3, 3), (7, 0), (2, -1)]", false},
    {"norm", "[point(3.0, 4.0), point(inf, nan)]", false},
    {"farther", "[(boxed(point(3.0, 4.0), 1), boxed(point(1.0, 4.0), 2)), (boxed(point(3.0, 4.0), 1), boxed(point(6.0, 4.0), 2))]", false},
    {"rotate", "[(1, 2.0, true, 0), (1, 2.0, true, 5), (1, 2.0, false, 6)]", false},
    {"swap", "[(1, 2, 3, 0), (1, 2, 3, 1), (1, 2, 3, 2), (1, 2, 3, 100)]", false},
    {"pairs", "[((1, 2), 0), ((1, 2), 1), ((1, 2), 12)]", false},
    {"logic", "[(true, true, true), (true, true, false), (true, false, true), (true, false, false), (false, true, true), (false, true, false), (false, false, true), (false, false, false)]", false},
    {"nothing", "[(), ()]", false},
    {"random_of", "[(1, 2), (3, 4)]", false},
    {"closures", "[(1, 2), (3, 4), (-5, 6)]", false},
    {"lazy", "[1, 2, 0, 3]", false},
    {"reductions", "[(1.0, 2.0, 3.0), (nan, 1.0, 2.0), (0.0, -0.0, 0.0)]", false},
    {"total", "[]", true},
    {"uses_total", "[]", true},
    {"build", "[]", true},
    {"compare", "[]", true},
};

static void test_cases(Fixture *f, const CoreProgram *form, bool must_exist)
{
    open_program(f, form);
    Value bound;
    f->has_limit = true;
    f->limit = 7;
    ref_run_item(f->interpreter, 0, &form->items.items[0], &bound);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool exists = try_function(f, cases[i].function, cases[i].points, !cases[i].is_rejected);
        if (must_exist && !exists)
            fprintf(stderr, "there is no function %s\n", cases[i].function), failures++;
    }
    close_program(f);
}

/* A global without a value matters only to the points that read it. */
static void test_global_without_value(Fixture *f)
{
    open_program(f, &f->session->program);
    f->has_limit = false;
    try_function(f, "lazy", "[1, 2, 0, 3]", true);
    try_function(f, "search", "[([1], 1), ([], 2)]", true);
    close_program(f);
}

/* ---- random arguments ---- */

static uint64_t next_random(Fixture *f)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random;
}

static Scalar random_float(Fixture *f, ScalarType type)
{
    static const double some[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 127.0, 255.0, 256.0, 65536.0, 1e10, -1e19, 9.3e18, 1e300};
    uint64_t choice = next_random(f) % 24;
    double value = choice < 15 ? some[choice] : (double)(int64_t)next_random(f) / 0x1p50;
    if (choice >= 21)
        value = choice == 21 ? (double)NAN : choice == 22 ? (double)INFINITY : -(double)INFINITY;
    return type == SCALAR_F32 ? scalar_of_f32((float)value) : scalar_of_f64(value);
}

static Scalar random_scalar(Fixture *f, ScalarType type)
{
    if (scalar_kind(type) == KIND_FLOATING)
        return random_float(f, type);
    if (type == SCALAR_BOOL)
        return (Scalar){.bits = next_random(f) % 2};
    switch (next_random(f) % 6) {
    case 0:
        return scalar_least(type);
    case 1:
        return scalar_greatest(type);
    case 2:
        return scalar_of_int(type, (int64_t)next_random(f));
    case 3:
        return scalar_of_int(type, -1);
    default:
        return scalar_of_int(type, (int64_t)(next_random(f) % 12) - 2);
    }
}

static Value random_value(Fixture *f, TypeId type)
{
    Types *types = f->program->types;
    Heap *heap = ref_heap(f->interpreter);
    while (type_kind(types, type) == TYPE_DATA || type_kind(types, type) == TYPE_CLOSURE)
        type = type_representation(types, type);
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
    run_points(f, id, points);
    value_release(ref_heap(f->interpreter), types, type, (Value){.object = points});
}

/* ---- every operation on every type ---- */

static const char generic[] =
    "function arith(a, b) = (a + b, a - b, a * b, min(a, b), max(a, b), -a, abs(a), a == b, a /= b, a < b, a <= b, a > b, a >= b)\n"
    "function with_constants(a) = (a + 3, 3 - a, 7 * a, a - 100, min(a, 9), max(5, a), a == 3, 3 /= a, a < 5, 5 < a, a <= 7, 7 <= a, a > 2, 2 > a, a >= 100, 100 >= a)\n"
    "function branches(a, b) = if a < b then 1 else if a == 3 then 2 else if not(b <= 5) then 3 else if a > b or b >= 7 then 4 else 5\n"
    "function division(a, b) = (a / b, rem(a, b), mod(a, b))\n"
    "function by_constants(a) = (a / 1, a / 2, a / 8, rem(a, 1), rem(a, 4), mod(a, 16), a / 7, rem(a, 7), mod(a, 7), 100 / a)\n"
    "function bits(a, b, n : int) = (a and b, a or b, a xor b, a nand b, a nor b, not(a), lshift(a, n), rshift(a, n), rotate_bits(a, n),\n"
    "  popcount(a), leading_zeros(a), trailing_zeros(a), reverse_bits(a), lshift(a, 3), rshift(a, 2), a and 3, 1 or a, a xor 127)\n"
    "function power(a, n : int) = a ^ n\n"
    "function floating(a, b) = (a / b, sqrt(a), sin(a), a ^ 3, floor_float(a), copysign(a, b), is_nan(a), fma(a, b, a), ldexp(a, 3), a / 2.0)\n"
    "function near(a : float) = (a + 3.0, 3.0 - a, a * 0.5, a == 0.5, a < 2.5, 2.5 < a, a >= 1.0, if a <= 1.0 then 1 else if a > 127.0 then 2 else 3)\n"
    "function bits_of(a : float, b : float) = (float_bits(a + b), float_bits(a - b), float_bits(a * b), float_bits(-a), float_bits(a / b), float_bits(sqrt(a)))\n"
    "function bits_of_f32(a : f32, b : f32) = (f32_bits(a + b), f32_bits(a * b), f32_bits(-a), f32_bits(a / b), f32_bits(f32(float(a))))\n"
    "function whole(a) = (floor(a), ceil(a), trunc(a), round(a))\n"
    "function compare(a, b) = (a == b, a /= b, a < b, a <= b, a > b, a >= b)\n"
    "function constants(n : int) = (pi, max_int, min_int, nan, inf, n)\n"
    "(constants(1), near(1.0), bits_of(1.0, 2.0), bits_of_f32(f32(1), f32(2)));\n";

static void add_generic_items(Text *text, ScalarType type)
{
    const char *name = scalar_name(type);
    ScalarKind kind = scalar_kind(type);
    for (ScalarType to = 0; to < SCALAR_COUNT; to++)
        text_addf(text, "function %s_to_%s(a : %s) = %s(a)\n%s_to_%s(%s(1));\n", name, scalar_name(to), name, scalar_name(to),
                  name, scalar_name(to), name);
    text_addf(text, "compare(%s(1), %s(2));\n", name, name);
    if (kind == KIND_TRUTH || kind == KIND_CHARACTER)
        return;
    text_addf(text, "(arith(%s(1), %s(2)), power(%s(2), 2));\n", name, name, name);
    if (kind == KIND_FLOATING)
        text_addf(text, "(floating(%s(1), %s(2)), whole(%s(1)));\n", name, name, name);
    else
        text_addf(text, "(with_constants(%s(1)), branches(%s(1), %s(2)), division(%s(1), %s(2)), by_constants(%s(1)), bits(%s(1), %s(2), 3));\n",
                  name, name, name, name, name, name, name, name);
}

static void test_types(Fixture *f)
{
    Memory memory = {0};
    Text text;
    text_init(&text, &memory);
    text_add(&text, generic);
    for (ScalarType type = 0; type < SCALAR_COUNT; type++)
        add_generic_items(&text, type);
    if (load(f, text_string(&text))) {
        open_program(f, &f->session->program);
        for (CoreFunctionId id = 1; id < f->program->functions.count; id++) {
            CHECK(scalar_code_accepts(f->code, id));
            try_random(f, id);
        }
        close_program(f);
    }
    runnel_close(f->session);
    text_free(&text);
}

/* ---- depth ---- */

static void test_depth(Fixture *f)
{
    char points[100];
    static const int below[] = {-2, -1, 0, 1};
    open_program(f, &f->session->program);
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        snprintf(points, sizeof points, "[3, %d, 5]", MAX_DEPTH + below[i]);
        try_function(f, "even", points, true);
    }
    close_program(f);
}

static void test_depth_around(Fixture *f)
{
    open_program(f, &f->session->program);
    CoreFunctionId even = find_function(f, "even");
    for (uint64_t depth = 0; depth < 12; depth++) {
        int64_t n = 4;
        bool result = false;
        void *results[] = {&result};
        ScalarRun run = {.arguments = &(Cells){&n, true}, .results = results, .count = 1, .depth = depth, .max_depth = 10};
        CHECK(scalar_code_accepts(f->code, even));
        CHECK(scalar_code_run(f->code, even, &run) == (depth <= 6));
        CHECK((run.problem.kind == SCALAR_PROBLEM_TOO_DEEP) == (depth > 6));
    }
    close_program(f);
}

/* ---- loops ---- */

/* 10^7 steps, of which src/ref would need too many seconds: the result is known. */
static void test_long_loop(Fixture *f)
{
    open_program(f, &f->session->program);
    CoreFunctionId count = find_function(f, "count");
    int64_t n = 10000000, k = 0, result = 0;
    Cells arguments[] = {{&n, true}, {&k, true}};
    void *results[] = {&result};
    ScalarRun run = {.arguments = arguments, .results = results, .count = 1, .max_depth = 1};
    CHECK(scalar_code_accepts(f->code, count));
    run.count = 0;
    CHECK(scalar_code_run(f->code, count, &run) && run.done == 0);
    run.count = 1;
    size_t live = f->session->memory.live_bytes;
    f->session->memory.peak_bytes = live;
    CHECK(scalar_code_run(f->code, count, &run));
    CHECK(result == n * (n + 1) / 2);
    CHECK(f->session->memory.peak_bytes - live < 100000);
    close_program(f);
}

static void test_interrupt(Fixture *f)
{
    open_program(f, &f->session->program);
    CoreFunctionId count = find_function(f, "count");
    int64_t n = -1, k = 0, result = 0;
    StopFlag stop = {.reason = STOP_INTERRUPTED};
    Cells arguments[] = {{&n, true}, {&k, true}};
    void *results[] = {&result};
    ScalarRun run = {.arguments = arguments, .results = results, .count = 1, .max_depth = 1, .stop = &stop};
    CHECK(scalar_code_accepts(f->code, count));
    CHECK(!scalar_code_run(f->code, count, &run));
    CHECK(run.problem.kind == SCALAR_PROBLEM_STOPPED);
    scalar_code_word(f->code, &run, &f->session->sources, &f->failure);
    CHECK(f->failure.code == ERROR_INTERRUPTED);
    close_program(f);
}

/* ---- interrupts ---- */

static Fixture *interrupted;

static void interrupt(int signal)
{
    (void)signal;
    stop_set(&interrupted->stop, STOP_INTERRUPTED);
}

static void interrupt_soon(Fixture *f, int microseconds)
{
    interrupted = f;
    stop_clear(&f->stop);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = interrupt}, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = microseconds}}, NULL);
}

/* ---- many points, on teams ---- */

enum { MANY = 3000 };

typedef struct Many {
    int64_t arguments[2][MANY], results[MANY];
    Array *arrays[MANY];
} Many;

/* Runs a function of ints, one or two, that gives an int. */
static ScalarRun run_many(Fixture *f, const char *name, Many *many, Team *team)
{
    CoreFunctionId id = find_function(f, name);
    Cells arguments[] = {{.data = many->arguments[0]}, {.data = many->arguments[1]}};
    void *results[] = {many->results};
    memset(many->results, 0, sizeof many->results);
    ScalarRun run = {.arguments = arguments, .results = results, .count = MANY, .team = team, .max_depth = MAX_DEPTH};
    CHECK(scalar_code_accepts(f->code, id));
    CHECK(scalar_code_run(f->code, id, &run) == (run.done == MANY));
    return run;
}

static size_t count_good(const Many *many, size_t count)
{
    size_t good = 0;
    while (good < count && many->results[good] == many->arguments[0][good] * (many->arguments[0][good] + 1) / 2)
        good++;
    return good;
}

/* A point that fails, and one after it that never ends unless somebody halts it. */
static void test_endless(Fixture *f, Many *many, Team *team)
{
    for (size_t i = 0; i < MANY; i++)
        many->arguments[0][i] = (int64_t)(i % 100);
    for (size_t failing = 0; failing + 1 < MANY; failing += 701) {
        size_t endless = failing + 1 + (MANY - 1 - failing) / 3;
        many->arguments[0][failing] = -1;
        many->arguments[0][endless] = -2;
        ScalarRun run = run_many(f, "sum_to", many, team);
        CHECK(run.done == failing && run.problem.kind == SCALAR_PROBLEM_OPERATION);
        CHECK(count_good(many, failing) == failing);
        many->arguments[0][failing] = many->arguments[0][endless] = 7;
    }
}

/* Points that need more of the stacks than the others, here and there. */
static void test_deep_points(Fixture *f, Many *many, Team *team)
{
    for (size_t i = 0; i < MANY; i++)
        many->arguments[0][i] = i % 500 == 499 ? 100000 : i % 700 == 699 ? 5000 : (int64_t)(i % 40);
    ScalarRun run = run_many(f, "sum_deep", many, team);
    CHECK(run.done == MANY && count_good(many, MANY) == MANY);
    many->arguments[0][1998] = MAX_DEPTH + 5;
    run = run_many(f, "sum_deep", many, team);
    CHECK(run.done == 1998 && run.problem.kind == SCALAR_PROBLEM_TOO_DEEP && count_good(many, MANY) >= 1998);
}

/* Arrays in results are retained as often as they are there. */
static void test_many_arrays(Fixture *f, Many *many, Team *team)
{
    Memory *memory = &f->session->memory;
    Array *array = array_new(memory, layout_of(&f->layouts, TYPE_INT));
    int64_t zeros[MANY] = {0}, lengths[MANY], places[MANY];
    array_append(memory, f->teams[0], array, &(Cells){.data = zeros}, 0, MANY);
    for (size_t i = 0; i < MANY; i++)
        many->arguments[0][i] = i == MANY - 5 ? MANY + 1 : (int64_t)i;
    Cells arguments[] = {{&array, true}, {&(int64_t){0}, true}, {&(int64_t){MANY}, true}, {.data = many->arguments[0]}};
    void *results[] = {many->arrays, places, lengths};
    ScalarRun run = {.arguments = arguments, .results = results, .count = MANY, .team = team, .max_depth = MAX_DEPTH};
    CoreFunctionId id = find_function(f, "beginning");
    CHECK(scalar_code_accepts(f->code, id) && !scalar_code_run(f->code, id, &run));
    CHECK(run.done == MANY - 5 && run.problem.kind == SCALAR_PROBLEM_CUT && array->references == 1 + run.done);
    for (size_t i = 0; i < run.done; i++)
        CHECK(many->arrays[i] == array && lengths[i] == (int64_t)i);
    cells_release(memory, LEAF_ARRAY, many->arrays, run.done);
    array_release(memory, array);
}

/* All machines see that the run is interrupted. */
static void test_interrupted_team(Fixture *f, Many *many, Team *team)
{
    CoreFunctionId id = find_function(f, "sum_to");
    for (size_t i = 0; i < MANY; i++)
        many->arguments[0][i] = i < 10 ? 5 : -2;
    Cells argument = {.data = many->arguments[0]};
    void *results[] = {many->results};
    ScalarRun run = {.arguments = &argument,
                     .results = results,
                     .count = MANY,
                     .team = team,
                     .max_depth = MAX_DEPTH,
                     .stop = &f->stop};
    interrupt_soon(f, 50000);
    CHECK(scalar_code_accepts(f->code, id) && !scalar_code_run(f->code, id, &run));
    CHECK(run.done == 10 && run.problem.kind == SCALAR_PROBLEM_STOPPED);
    stop_clear(&f->stop);
}

static void test_teams(Fixture *f)
{
    static Many many;
    open_program(f, &f->session->program);
    test_deep_points(f, &many, NULL);
    for (int i = 0; i < TEAMS; i++) {
        test_deep_points(f, &many, f->teams[i]);
        test_endless(f, &many, f->teams[i]);
        test_many_arrays(f, &many, f->teams[i]);
        test_interrupted_team(f, &many, f->teams[i]);
    }
    close_program(f);
}

/* ---- the code itself ---- */

static void expect_code(Fixture *f, const char *name, const char *expected)
{
    text_clear(&f->found);
    scalar_code_print(f->code, find_function(f, name), &f->found);
    if (strcmp(text_string(&f->found), expected) == 0)
        return;
    failures++;
    fprintf(stderr, "found\n%sexpected\n%s", text_string(&f->found), expected);
}

static void test_code(Fixture *f)
{
    open_program(f, &f->session->program);
    expect_code(f, "gcd", "gcd: 3 registers\n"
                          "   0  JUMP_NOT_EQUAL_I64_IMMEDIATE r1 0 -> 2\n"
                          "   1  RETURN 0 0 0\n"
                          "   2  REMAINDER_I64 r2 = r0 r1\n"
                          "   3  MOVE_TWO r0 = r1 r2 (1)\n"
                          "   4  LOOP_NOT_EQUAL_I64_IMMEDIATE r1 0 -> 2\n"
                          "   5  JUMP 0 0 -> 1\n");
    expect_code(f, "count", "count: 4 registers\n"
                            "   0  JUMP_NOT_EQUAL_I64_IMMEDIATE r0 0 -> 3\n"
                            "   1  MOVE r0 = r1 0\n"
                            "   2  RETURN 0 0 0\n"
                            "   3  ADD_I64 r1 = r1 r0\n"
                            "   4  SUBTRACT_I64_IMMEDIATE r0 = r0 1\n"
                            "   5  LOOP_NOT_EQUAL_I64_IMMEDIATE r0 0 -> 3\n"
                            "   6  JUMP 0 0 -> 1\n");
    expect_code(f, "half", "half: 7 registers\n"
                           "   0  JUMP_NOT_LESS_EQUAL_I64 r2 r3 -> 2\n"
                           "   1  RETURN 0 0 0\n"
                           "   2  DIVIDE_POWER r4 = r2 1\n"
                           "   3  CHECK_SLICE r2 r4 r2\n"
                           "   4  ADD_I64 r1 = r1 r4\n"
                           "   5  SUBTRACT_I64 r2 = r2 r4\n"
                           "   6  LOOP_NOT_LESS_EQUAL_I64 r2 r3 -> 2\n"
                           "   7  JUMP 0 0 -> 1\n");
    close_program(f);
}

/* ---- allocations that fail ---- */

/* Calls a function in memory of which the nth request fails. */
static bool run_in_memory(Fixture *f, uint64_t fail_after)
{
    Memory *memory = &f->session->memory;
    jmp_buf recovery;
    int64_t n = 3000;
    bool result = false;
    void *results[] = {&result};
    Cells argument = {&n, true};
    ScalarRun run = {.arguments = &argument, .results = results, .count = 1, .max_depth = MAX_DEPTH};
    memory->on_failure = &recovery;
    bool has_failed = setjmp(recovery) != 0;
    if (!has_failed) {
        CoreFunctionId even = find_function(f, "even");
        f->code = NULL;
        memory->fail_after = fail_after;
        f->code = scalar_code_new(memory, f->program, &f->layouts);
        CHECK(scalar_code_accepts(f->code, even) && scalar_code_run(f->code, even, &run) && result);
    }
    memory->fail_after = 0;
    memory->on_failure = NULL;
    scalar_code_free(f->code);
    return !has_failed;
}

static void test_memory(Fixture *f)
{
    open_program(f, &f->session->program);
    ScalarCode *code = f->code;
    CHECK(run_in_memory(f, 0));
    size_t live = f->session->memory.live_bytes;
    uint64_t requests = 1;
    while (!run_in_memory(f, requests)) {
        CHECK(f->session->memory.live_bytes == live);
        requests++;
    }
    CHECK(requests > 5 && f->session->memory.live_bytes == live);
    f->code = code;
    close_program(f);
}

/* ---- files ---- */

/* Not for long: functions may run forever on arguments that nobody thought of. */
static void try_briefly(Fixture *f, CoreFunctionId id)
{
    struct itimerval never = {0};
    interrupt_soon(f, 300000);
    try_random(f, id);
    setitimer(ITIMER_REAL, &never, NULL);
}

static uint32_t try_program(Fixture *f, const CoreProgram *form)
{
    uint32_t accepted = 0;
    open_program(f, form);
    for (CoreFunctionId id = 1; id < form->functions.count; id++)
        if (scalar_code_accepts(f->code, id)) {
            accepted++;
            try_briefly(f, id);
        }
    close_program(f);
    return accepted;
}

static void try_file(Fixture *f, const char *path)
{
    f->max_depth = 1000;
    f->session = runnel_open(&(RunnelOptions){.write = drop_output});
    if (runnel_load_file(f->session, path) == RUNNEL_OK)
        printf("%s: %u and %u functions\n", path, try_program(f, &f->session->program), try_program(f, &f->session->simple));
    runnel_close(f->session);
}

int main(int count, char **paths)
{
    Fixture f = {.max_depth = MAX_DEPTH, .random = 88172645463325252u};
    for (int i = 1; i < count; i++)
        try_file(&f, paths[i]);
    if (count > 1)
        return failures != 0;
    if (load(&f, program)) {
        test_cases(&f, &f.session->program, true);
        test_cases(&f, &f.session->simple, false);
        test_global_without_value(&f);
        test_depth(&f);
        test_depth_around(&f);
        test_long_loop(&f);
        test_interrupt(&f);
        test_teams(&f);
        test_code(&f);
        test_memory(&f);
    }
    runnel_close(f.session);
    test_types(&f);
    CHECK(f.calls > 9000);
    return failures != 0;
}
