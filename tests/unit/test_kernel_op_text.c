/* Operations and constants as C text (kernel/op_text.h): a file with a loop over each operation on each type is compiled by the
 * system's compiler, as engines do, and its results are those of scalar_apply. A loop long enough runs vectorised code, and the rest of it does
 * not. Without a compiler there is nothing to test. This is the test of operations on integers, bools and characters, whose preamble is without the
 * elementary functions; test_kernel_op_text_float.c makes that of floats of it. */
#define _GNU_SOURCE
#include "kernel/op_text.h"
#include "kernel/preamble.h"
#include "scalar_cases.h"
#include "vm/elementwise_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LENGTH = 77, BLOCKS = 30, CONSTANTS = 60, CASES_MAX = 1000, FAILURES_SHOWN = 20, ARGUMENTS_MAX = ELEMENTWISE_ARGUMENTS_MAX };

#define FLAGS "-std=gnu17 -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra -Werror"

#ifdef OF_FLOATS
static const bool is_of_floats = true;
#else
static const bool is_of_floats = false;
#endif

static int failures;
static char directory[] = "/tmp/runnel_op_text_XXXXXX";

/* Computes LENGTH elements and sets the two flags. */
typedef void Loop(void *out, const void *const *arguments, uint64_t *failed, uint64_t *slow);

typedef struct Case {
    Op op;
    ScalarType operand, target;
    bool is_fast;
    uint32_t argument_count;
    ScalarType types[ARGUMENTS_MAX]; /* SCALAR_COUNT for one whose value does not matter */
    char *text;
} Case;

static Case cases[CASES_MAX];
static uint32_t case_count;

static void complain(const Case *c, const char *what)
{
    if (failures++ < FAILURES_SHOWN)
        fprintf(stderr, "%s of %s to %s, %s: %s\n", op_table[c->op].id, scalar_name(c->operand), scalar_name(c->target),
                c->text, what);
}

/* ---- the cases ---- */

/* Whether an earlier operation is the same in C, as many conversions are. */
static bool is_known(const char *text, ScalarType target)
{
    for (uint32_t i = 0; i < case_count; i++)
        if (cases[i].target == target && strcmp(cases[i].text, text) == 0)
            return true;
    return false;
}

static void add_case(Memory *memory, Op op, ScalarType operand, ScalarType target, bool is_fast)
{
    static const char *const names[] = {"a[i]", "b[i]", "c[i]"};
    Text text;
    text_init(&text, memory);
    Case c = {.op = op, .operand = operand, .target = target, .is_fast = is_fast};
    c.argument_count = elementwise_argument_types(op, operand, c.types);
    bool is_there = is_fast ? op_text_fast(&text, op, operand, target, names, "&failed", "&slow")
                            : op_text(&text, op, operand, target, names, "&failed");
    c.text = strdup(text_string(&text));
    text_free(&text);
    if (!is_there)
        complain(&c, "no text");
    if (op_text_needs_math(op, operand, target) && !is_of_floats)
        complain(&c, "needs elementary functions");
    if (elementwise_can_fail(op, operand, target) != op_text_can_fail(op, operand, target))
        complain(&c, "can it fail?");
    if (is_known(c.text, target))
        free(c.text);
    else
        cases[case_count++] = c;
}

static void add_cases(Memory *memory, Op op)
{
    for (ScalarType operand = 0; operand < SCALAR_COUNT; operand++)
        for (ScalarType target = 0; target < SCALAR_COUNT; target++)
            if (operand_types(op) >> operand & 1 && result_types(op, operand) >> target & 1 &&
                (scalar_kind(operand) == KIND_FLOATING) == is_of_floats) {
                add_case(memory, op, operand, target, false);
                if (op_text_has_fast(op, operand, target))
                    add_case(memory, op, operand, target, true);
            }
}

/* ---- the file ---- */

static void write_loop(Text *out, uint32_t number)
{
    const Case *c = &cases[number];
    text_addf(out, "void loop_%u(%s *restrict out, const void *const *arguments, OpFlag *failed_out, OpFlag *slow_out)\n{\n",
              number, c_type(c->target));
    text_add(out, "    OpFlag failed = 0, slow = 0;\n");
    for (uint32_t k = 0; k < c->argument_count; k++)
        if (c->types[k] != SCALAR_COUNT)
            text_addf(out, "    const %s *%c = arguments[%u];\n", c_type(c->types[k]), 'a' + (int)k, k);
    const char *canonical = c->target == SCALAR_F64 ? "canonical_F64" : c->target == SCALAR_F32 ? "canonical_F32" : "";
    text_addf(out, "    for (size_t i = 0; i < %d; i++)\n        out[i] = %s(%s);\n", LENGTH, canonical, c->text);
    text_add(out, "    (void)arguments;\n    *failed_out = failed;\n    *slow_out = slow;\n}\n\n");
}

static void write_constants(Text *out, ScalarType type, const Scalar *values)
{
    text_addf(out, "void constants_%d(%s *out)\n{\n", (int)type, c_type(type));
    for (int i = 0; i < CONSTANTS; i++) {
        text_addf(out, "    out[%d] = ", i);
        constant_text(out, type, values[i]);
        text_add(out, ";\n");
    }
    text_add(out, "}\n\n");
}

static bool write_file(const Text *text, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    fputs(text_string(text), file);
    return fclose(file) == 0;
}

static void *compile(const Text *text)
{
    char command[512], path[64];
    if (!write_file(text, "loops.c"))
        return NULL;
    snprintf(path, sizeof path, "%s/loops.so", directory);
    snprintf(command, sizeof command, "cc " FLAGS " -fPIC -shared -o %s %s/loops.c -lm", path, directory);
    return system(command) == 0 ? dlopen(path, RTLD_NOW) : NULL;
}

static void *symbol(void *library, const char *format, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "%s_%u", format, number);
    return dlsym(library, name);
}

/* ---- the results ---- */

static char cells[ARGUMENTS_MAX][LENGTH * sizeof(Scalar)], results[LENGTH * sizeof(Scalar)];
static Scalar expected[LENGTH];

static bool fill_tuple(const Case *c, size_t i, Flavour flavour)
{
    Scalar arguments[ARGUMENTS_MAX] = {0};
    for (uint32_t k = 0; k < c->argument_count; k++)
        if (c->types[k] != SCALAR_COUNT) {
            arguments[k] = random_scalar(c->types[k], flavour);
            scalar_store(c->types[k], cells[k], i, with_odd_nan(c->types[k], arguments[k]));
        }
    expected[i] = (Scalar){0};
    return scalar_apply(c->op, c->operand, c->target, arguments, &expected[i]);
}

/* Fills a block; true if no element fails, which with some patience is so for most blocks. */
static bool fill_block(const Case *c, Flavour flavour, int patience)
{
    bool is_good = true;
    for (size_t i = 0; i < LENGTH; i++) {
        bool is_good_tuple = fill_tuple(c, i, flavour);
        for (int attempt = 0; !is_good_tuple && attempt < patience; attempt++)
            is_good_tuple = fill_tuple(c, i, flavour);
        is_good &= is_good_tuple;
    }
    return is_good;
}

static void check_block(const Case *c, Loop *loop, int block)
{
    const void *arguments[ARGUMENTS_MAX] = {cells[0], cells[1], cells[2]};
    uint64_t failed, slow;
    bool is_good = fill_block(c, (Flavour)(block % FLAVOUR_COUNT), block % 3 == 0 ? 0 : 50);
    loop(results, arguments, &failed, &slow);
    if ((failed == 0) != is_good)
        complain(c, is_good ? "failed" : "should fail");
    for (size_t i = 0; i < LENGTH && is_good && slow == 0; i++)
        if (scalar_load(c->target, results, i).bits != expected[i].bits) {
            complain(c, "wrong result");
            return;
        }
}

static void check_constants(void *library, ScalarType type, const Scalar *values)
{
    void (*write)(void *) = symbol(library, "constants", (uint32_t)type);
    write(results);
    for (size_t i = 0; i < CONSTANTS; i++)
        if (scalar_load(type, results, i).bits != values[i].bits && failures++ < FAILURES_SHOWN)
            fprintf(stderr, "constant %#llx of %s is wrong\n", (unsigned long long)values[i].bits, scalar_name(type));
}

static void check(Memory *memory)
{
    static Scalar constants[SCALAR_COUNT][CONSTANTS];
    Text text;
    text_init(&text, memory);
    kernel_preamble(&text, CLASS_SCALAR, is_of_floats);
    for (uint32_t i = 0; i < case_count; i++)
        write_loop(&text, i);
    for (ScalarType type = 0; type < SCALAR_COUNT; type++) {
        for (int i = 0; i < CONSTANTS; i++)
            constants[type][i] = random_scalar(type, (Flavour)(i % FLAVOUR_COUNT));
        write_constants(&text, type, constants[type]);
    }
    void *library = compile(&text);
    text_free(&text);
    if (library == NULL) {
        failures++;
        return;
    }
    for (uint32_t i = 0; i < case_count; i++)
        for (int block = 0; block < BLOCKS; block++)
            check_block(&cases[i], symbol(library, "loop", i), block);
    for (ScalarType type = 0; type < SCALAR_COUNT; type++)
        check_constants(library, type, constants[type]);
    dlclose(library);
}

int main(void)
{
    Memory memory = {0};
    if (system("cc --version >/dev/null 2>&1") != 0 || mkdtemp(directory) == NULL)
        return 77;
    for (Op op = 0; op < OP_COUNT; op++)
        if (is_scalar_op[op])
            add_cases(&memory, op);
    check(&memory);
    for (uint32_t i = 0; i < case_count; i++)
        free(cases[i].text);
    if (failures != 0) {
        fprintf(stderr, "%d failures, see %s\n", failures, directory);
        return 1;
    }
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) != 0;
}
