/* The loops that matter vectorise: emitted C is compiled as engine c does, for a processor with vectors of 32 bytes, and what the compiler says of its loops is
 * read. Only where that compiler's reports are known to say what this test looks for. */
#define _XOPEN_SOURCE 700
#include "compile/compile.h"
#include "runnel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_SKIPPED = 77, FIRST_KNOWN_GCC = 12, LAST_KNOWN_GCC = 12, PATH_ROOM = 256 };

/* The loop is the innermost one around the first line of the kernels that has the text. */
typedef struct KeyLoop {
    const char *name, *program, *line;
} KeyLoop;

static const KeyLoop key_loops[] = {
    {"logsum", "function main(n : int) = sum({log(float(i)) : i in {1:n}})", ".tile["},
    {"sum of logsums",
     "function logsum(n : int) : float = sum({log(float(i)) : i in {1:n}})\n"
     "function main(n : int) = sum({logsum(k * k) : k in {1:n}})",
     ".tile["},
    {"dot product", "function main(x : [float], y : [float]) = sum({a * b : a in x; b in y})", " * "},
    {"n-body",
     "function pull((x, y, z), (bx, by, bz), eps : float) =\n"
     "  let (dx, dy, dz) = (x - bx, y - by, z - bz); d = dx * dx + dy * dy + dz * dz + eps; s = d * sqrt(d)\n"
     "  in (dx / s, dy / s, dz / s)\n"
     "function force(body, bodies, eps) =\n"
     "  let pulls = {pull(body, other, eps) : other in seq(bodies)}\n"
     "  in (sum({x : (x, _, _) in pulls}), sum({y : (_, y, _) in pulls}), sum({z : (_, _, z) in pulls}))\n"
     "function main(bodies : [(float, float, float)], eps : float) = {force(body, bodies, eps) : body in bodies}",
     "op_SQRT_F64("},
    {"black-scholes",
     "function cnd(d : float) =\n"
     "  let k = 1.0 / (1.0 + 0.2316419 * abs(d));\n"
     "      p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));\n"
     "      c = 0.3989422804014327 * exp(-0.5 * d * d) * p\n"
     "  in if d > 0.0 then 1.0 - c else c\n"
     "function price(s : float, x : float, t : float, r : float, v : float) =\n"
     "  let d1 = (log(s / x) + (r + v * v / 2.0) * t) / (v * sqrt(t)); d2 = d1 - v * sqrt(t)\n"
     "  in s * cnd(d1) - x * exp(-r * t) * cnd(d2)\n"
     "function main(options : [(float, float, float)]) = {price(s, x, t, 0.08, 0.3) : (s, x, t) in options}",
     "op_LN_F64("},
    {"sums of rows", "function main(rows : [[float]], a : float) = {sum({a * x : x in row}) : row in rows}", "[k1] = "},
    {"a sparse matrix", "function main(rows : [[(float, int)]], v : [float]) = {sum({x * v[i] : (x, i) in row}) : row in rows}", "KERNEL_ELEMENT("},
    {"long sums of rows", "function main(rows : [[float]]) = {sum({exp(x) : x in row}) : row in rows}", ".tile["},
    {"a map of integers", "function main(v : [int]) = {x * x + 1 : x in v}", "op_MULTIPLY_I64("},
    {"a quotient of integers", "function main(v : [int], d : int) = {x / d : x in v}", "op_DIVIDE_I64_fast("},
    {"steps with choices that can fail",
     "function main(v : [(int, int)]) =\n"
     "  [if a > b then (a + k, b + round(0.5 * float(k))) else (a + round(0.25 * float(k)), b - k) | (a, b) <- v, k <- [0 ..< abs(a - b)]]",
     "op_ROUND_F64("},
    {"a count of what a filter keeps", "function main(v : [int]) = {#{x : x in v | x > k} : k in v}", "is_kept"},
    {"bytes at an index that steps with its point", "function main(v : [bool]) = [not(v[i + 2]) : i in [0 : #v - 2]]", "column0["},
    {"a choice", "function main(v : [float]) = {if x > 0.0 then sqrt(x) else x * x : x in v}", "op_SQRT_F64("},
};

typedef struct Fixture {
    Memory memory;
    Text text; /* what a session wrote */
    char root[PATH_ROOM];
    char report[PATH_ROOM];
    int failures;
} Fixture;

/* ---- the compiler ---- */

static bool has_known_compiler(void)
{
#if defined __x86_64__
    FILE *pipe = popen("gcc -dumpversion 2>/dev/null", "r");
    int version = 0;
    bool is_read = pipe != NULL && fscanf(pipe, "%d", &version) == 1;
    if (pipe != NULL)
        pclose(pipe);
    return is_read && version >= FIRST_KNOWN_GCC && version <= LAST_KNOWN_GCC;
#else
    return false;
#endif
}

static void keep_text(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
}

static bool emit(Fixture *f, const char *program)
{
    text_clear(&f->text);
    RunnelSession *session = runnel_open(&(RunnelOptions){.write = keep_text, .write_context = &f->text});
    bool is_done = runnel_load_text(session, "program.rnl", program, strlen(program), RUNNEL_DIALECT_RNL) == RUNNEL_OK &&
                   runnel_write_form(session, "c") == RUNNEL_OK;
    if (!is_done)
        fprintf(stderr, "%s", runnel_messages(session));
    runnel_close(session);
    return is_done;
}

/* With the flags of engine c, and a report; tuned for a processor that has these vectors, as engine c tunes for the one it runs on. The code is loaded, but not called: this processor may be an older one. */
static bool compile(Fixture *f)
{
    char command[2 * PATH_ROOM], cache[2 * PATH_ROOM];
    snprintf(command, sizeof command, "gcc -march=x86-64-v3 -mtune=haswell -fopt-info-loop-vec-optimized=%s", f->report);
    snprintf(cache, sizeof cache, "%s/cache", f->root);
    Text problem;
    text_init(&problem, &f->memory);
    CompileOptions options = {.compiler = command, .cache_directory = cache};
    Compiled *compiled = compile_load(&f->memory, &options, &(CompileText){text_string(&f->text), f->text.length}, 1, &problem);
    if (compiled == NULL)
        fprintf(stderr, "%s\n", text_string(&problem));
    text_free(&problem);
    bool is_done = compiled != NULL;
    compile_free(&f->memory, compiled);
    return is_done;
}

/* ---- loops ---- */

static size_t line_number(const char *text, const char *place)
{
    size_t line = 1;
    for (; text < place; text++)
        line += *text == '\n';
    return line;
}

static const char *line_start(const char *text, const char *place)
{
    while (place > text && place[-1] != '\n')
        place--;
    return place;
}

/* The line of the innermost `for` around a place: the next one upwards that is indented less. 0 if there is none. */
static size_t loop_around(const char *text, const char *place)
{
    const char *line = line_start(text, place);
    size_t indent = strspn(line, " ");
    while (line > text) {
        line = line_start(text, line - 1);
        size_t own = strspn(line, " ");
        bool is_outer = own < indent && line[own] != '\n' && line[own] != '#';
        if (is_outer && strncmp(line + own, "for (", 5) == 0)
            return line_number(text, line);
        indent = is_outer ? own : indent;
    }
    return 0;
}

/* Whether the report says of a line that its loop is vectorised, or a call of memcpy, which is as good. */
static bool is_vectorised(const Fixture *f, size_t line)
{
    FILE *file = fopen(f->report, "r");
    char text[1024], place[64];
    bool is_found = false;
    snprintf(place, sizeof place, ".c:%zu:", line);
    while (file != NULL && fgets(text, sizeof text, file) != NULL)
        is_found |= strstr(text, place) != NULL &&
                    (strstr(text, "loop vectorized") != NULL || strstr(text, "split to 0 loops and 1 library call") != NULL);
    if (file != NULL)
        fclose(file);
    return is_found;
}

static void test_loop(Fixture *f, const KeyLoop *loop)
{
    remove(f->report);
    if (!emit(f, loop->program) || !compile(f)) {
        f->failures++;
        return;
    }
    const char *text = text_string(&f->text), *kernels = strstr(text, "==== kernels");
    const char *place = kernels == NULL ? NULL : strstr(kernels, loop->line);
    size_t line = place == NULL ? 0 : loop_around(text, place);
    if (line != 0 && is_vectorised(f, line))
        return;
    f->failures++;
    fprintf(stderr, "%s: the loop at line %zu of the emitted C (`%s`) does not vectorise\n%s\n", loop->name, line, loop->line,
            kernels == NULL ? "" : kernels);
}

int main(void)
{
    if (!has_known_compiler()) {
        fprintf(stderr, "skipped: there is no gcc %d to %d for x86-64\n", FIRST_KNOWN_GCC, LAST_KNOWN_GCC);
        return STATUS_SKIPPED;
    }
    static Fixture fixture;
    Fixture *f = &fixture;
    const char *above = getenv("TMPDIR");
    snprintf(f->root, sizeof f->root, "%.128s/test_kernel_vector-XXXXXX", above == NULL ? "/tmp" : above);
    if (mkdtemp(f->root) == NULL)
        return 1;
    snprintf(f->report, sizeof f->report, "%.200s/report", f->root);
    text_init(&f->text, &f->memory);
    for (size_t i = 0; i < sizeof key_loops / sizeof *key_loops; i++)
        test_loop(f, &key_loops[i]);
    text_free(&f->text);
    char command[PATH_ROOM * 4];
    snprintf(command, sizeof command, "rm -rf '%.255s'", f->root);
    return system(command) != 0 || f->failures > 0;
}
