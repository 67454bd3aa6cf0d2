/* Loops over the elementary functions that are held to 1 ulp are vectorised, and their results are the same bits as those
 * of scalar code, of unoptimised code, of every known compiler that is there. loops/math_loops.c is compiled here, for
 * x86-64-v3 (AVX2) with the report of the vectoriser, and plainly. This is the test of f64; test_math_vector_f32.c makes
 * that of f32 of it. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE "tests/unit/loops/math_loops.c"
#define COMMON "-std=c17 -ffp-contract=off -fno-math-errno -Isrc"
#define FAST "-O3 -march=x86-64-v3"

#ifdef OF_F32
#define TYPE "f32"
#define TYPE_FLAG "-DOF_F32"
#else
#define TYPE "f64"
#define TYPE_FLAG ""
#endif

typedef struct Function {
    const char *name;
    bool is_vector;
    int line; /* of functions.def, which is where reports place the loop */
} Function;

#define IS_VECTOR_VECTOR true
#define IS_VECTOR_ANGLE true
#define IS_VECTOR_SCALAR false
#define IS_VECTOR_EXACT false
#define MATH_1(name, kind) {#name, IS_VECTOR_##kind, __LINE__},
#define MATH_2(name, kind) MATH_1(name, kind)
static const Function functions[] = {
#include "math/functions.def"
};

enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0], TEXT_MAX = 1 << 20 };

typedef struct Variant {
    const char *compiler, *flags, *report_flag, *report; /* the words of the report, after the place; null if none is asked for */
} Variant;

static const Variant variants[] = {
    {"gcc", FAST, "-fopt-info-vec", "optimized: loop vectorized"},
    {"gcc", "-O0", "", NULL},
    {"clang", FAST, "-Rpass=loop-vectorize", "remark: vectorized loop"},
};

static char directory[] = "/tmp/runnel_math_XXXXXX";

/* Runs a shell command and gives what it writes to both outputs; false if its status is not 0. */
static bool run(const char *command, char *text)
{
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        return false;
    size_t length = fread(text, 1, TEXT_MAX - 1, pipe);
    text[length] = '\0';
    return pclose(pipe) == 0;
}

static bool has_compiler(const Variant *variant, char *text)
{
    char command[512];
    snprintf(command, sizeof command, "echo 'int main(void) { return 0; }' | %s %s -x c -o %s/probe - 2>&1",
             variant->compiler, variant->flags, directory);
    return run(command, text);
}

/* Whether the report has a vectorised loop at this line of functions.def. */
static bool is_reported(const char *text, int line, const char *report)
{
    char place[64];
    snprintf(place, sizeof place, "functions.def:%d:", line);
    for (const char *found = text; (found = strstr(found, place)) != NULL; found++) {
        size_t length = strcspn(found, "\n");
        const char *words = strstr(found, report);
        if (words != NULL && words < found + length)
            return true;
    }
    return false;
}

static int check_report(const Variant *variant, const char *text)
{
    int failures = 0;
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (functions[i].is_vector && !is_reported(text, functions[i].line, variant->report)) {
            fprintf(stderr, "%s %s does not vectorise the loop over %s of %s\n", variant->compiler, variant->flags,
                    functions[i].name, TYPE);
            failures++;
        }
    return failures;
}

/* Compiles and runs one variant; the hashes it prints must be those of the first one, which are kept in `expected`. */
static int check_variant(const Variant *variant, char *expected, char *text)
{
    char command[1024];
    int failures = 0;
    snprintf(command, sizeof command, "%s %s %s %s %s -o %s/loops %s -lm 2>&1", variant->compiler, COMMON,
             variant->flags, variant->report_flag, TYPE_FLAG, directory, SOURCE);
    if (!run(command, text)) {
        fprintf(stderr, "%s\n%s", command, text);
        return 1;
    }
    if (variant->report != NULL)
        failures += check_report(variant, text);
    snprintf(command, sizeof command, "%s/loops 2>&1", directory);
    if (!run(command, text)) {
        fprintf(stderr, "%s %s, %s: %s", variant->compiler, variant->flags, TYPE, text);
        return failures + 1;
    }
    if (expected[0] == '\0')
        strcpy(expected, text);
    if (strcmp(expected, text) != 0) {
        fprintf(stderr, "%s %s, %s: results differ\n%sexpected\n%s", variant->compiler, variant->flags, TYPE, text,
                expected);
        failures++;
    }
    return failures;
}

int main(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 77;
    static char text[TEXT_MAX], expected[TEXT_MAX];
    int failures = 0, tried = 0;
    if (mkdtemp(directory) == NULL)
        return 77;
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        if (!has_compiler(&variants[i], text))
            continue;
        tried++;
        failures += check_variant(&variants[i], expected, text);
    }
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", directory);
    run(command, text);
    return failures > 0 ? 1 : tried > 0 ? 0 : 77;
#else
    return 77;
#endif
}
