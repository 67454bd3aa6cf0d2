/* Element-wise kernels against scalar_apply, bit for bit: every operation on every type it exists for, every level the machine has,
 * arguments uniform or not in all ways, results in place of an argument, elements without a result at their right position; on one
 * thread and on several. */
#include "scalar_cases.h"
#include "vm/elementwise_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { LENGTH_MAX = 1100, GUARD = 16, FAILURES_SHOWN = 20, TEAMS = 4 };

static const uint32_t team_sizes[TEAMS] = {1, 2, 3, 8};

static const size_t lengths[] = {0, 1, 7, 8, 9, 100, 1000};

static int failures;

/* ---- one case ---- */

typedef struct Case {
    Op op;
    ScalarType operand, result;
    uint32_t args_count;
    ScalarType types[ELEMENTWISE_ARGUMENTS_MAX];
    Elementwise elementwise; /* with the kernel that is tried */
    const char *level;       /* its name */
    Team *team;
} Case;

static Scalar arguments[ELEMENTWISE_ARGUMENTS_MAX][LENGTH_MAX];
static Scalar expected[LENGTH_MAX];
static _Alignas(64) char cells[ELEMENTWISE_ARGUMENTS_MAX][LENGTH_MAX * 8];
static _Alignas(64) char results[(LENGTH_MAX + GUARD) * 8];

static void complain(const Case *c, uint32_t uniform, size_t length, size_t i, const char *what)
{
    if (failures++ < FAILURES_SHOWN)
        fprintf(stderr, "%s of %s to %s, %s, threads %u, uniform %u, length %zu: %s at %zu\n", op_table[c->op].id,
                scalar_name(c->operand), scalar_name(c->result), c->level, team_size(c->team), uniform, length, what, i);
}

/* The tuple of arguments i, where those whose bits are set in `uniform` are the first for all. */
static bool apply(const Case *c, uint32_t uniform, size_t i, Scalar *result)
{
    Scalar tuple[ELEMENTWISE_ARGUMENTS_MAX] = {0};
    for (uint32_t k = 0; k < c->args_count; k++)
        tuple[k] = arguments[k][uniform >> k & 1 ? 0 : i];
    *result = (Scalar){0};
    return scalar_apply(c->op, c->operand, c->result, tuple, result);
}

/* Random tuples that have a result, as far as can be found. */
static void fill_arguments(const Case *c, Flavour flavour)
{
    for (size_t i = 0; i < LENGTH_MAX; i++) {
        bool is_good = false;
        for (int attempt = 0; attempt < 20 && !is_good; attempt++) {
            for (uint32_t k = 0; k < c->args_count; k++)
                arguments[k][i] = random_scalar(c->types[k] == SCALAR_COUNT ? c->result : c->types[k], flavour);
            Scalar ignored;
            is_good = apply(c, 0, i, &ignored);
        }
    }
}

/* One tuple that has no result, if one is found. */
static void spoil(const Case *c, size_t i)
{
    for (int attempt = 0; attempt < 200; attempt++) {
        for (uint32_t k = 0; k < c->args_count; k++)
            arguments[k][i] = random_scalar(c->types[k] == SCALAR_COUNT ? c->result : c->types[k], FLAVOUR_SPECIAL);
        Scalar ignored;
        if (!apply(c, 0, i, &ignored))
            return;
    }
}

static void store_arguments(const Case *c, Cells *args, uint32_t uniform)
{
    for (uint32_t k = 0; k < c->args_count; k++) {
        ScalarType type = c->types[k] == SCALAR_COUNT ? c->result : c->types[k];
        for (size_t i = 0; i < LENGTH_MAX; i++)
            cells_set_scalar(type, cells[k], i, arguments[k][i]);
        args[k] = (Cells){cells[k], uniform >> k & 1};
    }
}

static size_t expect(const Case *c, uint32_t uniform, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!apply(c, uniform, i, &expected[i]))
            return i;
    return length;
}

static void check_results(const Case *c, uint32_t uniform, size_t length, const void *out, size_t computed)
{
    size_t first = expect(c, uniform, length);
    if (computed != first) {
        complain(c, uniform, length, computed, "wrong number of results");
        return;
    }
    if (computed < length && !elementwise_can_fail(c->op, c->operand, c->result))
        complain(c, uniform, length, computed, "should not fail");
    for (size_t i = 0; i < computed; i++)
        if (cells_scalar(c->result, (Cells){out, false}, i).bits != expected[i].bits) {
            complain(c, uniform, length, i, "wrong result");
            return;
        }
}

static void check_run(const Case *c, uint32_t uniform, size_t length)
{
    Cells args[ELEMENTWISE_ARGUMENTS_MAX];
    size_t size = leaf_size((LeafType)c->result);
    store_arguments(c, args, uniform);
    memset(results, 0x5a, sizeof results);
    size_t computed = elementwise_run(c->team, &c->elementwise, results, args, length);
    check_results(c, uniform, length, results, computed);
    for (size_t i = length * size; i < (length + GUARD) * size; i++)
        if (results[i] != 0x5a)
            complain(c, uniform, length, i, "wrote too much");
}

/* The result in place of each argument that may be. */
static void check_in_place(const Case *c, uint32_t uniform, size_t length)
{
    for (uint32_t k = 0; k < c->args_count; k++) {
        if (uniform >> k & 1 || c->types[k] == SCALAR_COUNT || scalar_bits(c->types[k]) != scalar_bits(c->result))
            continue;
        Cells args[ELEMENTWISE_ARGUMENTS_MAX];
        store_arguments(c, args, uniform);
        size_t computed = elementwise_run(c->team, &c->elementwise, cells[k], args, length);
        check_results(c, uniform, length, cells[k], computed);
    }
}

/* Some elements have no result. */
static void check_spoilt(const Case *c)
{
    for (uint32_t i = 0; i < 4 && elementwise_can_fail(c->op, c->operand, c->result); i++) {
        spoil(c, i == 0 ? 999 : next_random() % 1000);
        for (uint32_t uniform = 0; uniform < 1u << c->args_count; uniform++)
            check_run(c, uniform, 1000);
    }
}

static void check_kernel(const Case *c)
{
    for (Flavour flavour = 0; flavour < FLAVOUR_COUNT; flavour++) {
        fill_arguments(c, flavour);
        for (uint32_t uniform = 0; uniform < 1u << c->args_count; uniform++) {
            for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
                check_run(c, uniform, lengths[i]);
            check_in_place(c, uniform, 1000);
        }
        check_spoilt(c);
    }
}

static void check_shared(const Case *c)
{
    fill_arguments(c, FLAVOUR_ABOVE);
    for (uint32_t uniform = 0; uniform < 1u << c->args_count; uniform++) {
        check_run(c, uniform, 65);
        check_run(c, uniform, 1000);
        check_in_place(c, uniform, 1000);
    }
    check_spoilt(c);
}

static void check_case(Team *const *teams, Op op, ScalarType operand, ScalarType result)
{
    Case c = {.op = op, .operand = operand, .result = result, .level = "chosen", .team = teams[0]};
    c.args_count = elementwise_argument_types(op, operand, c.types);
    c.elementwise = elementwise_of(op, operand, result);
    check_kernel(&c);
    for (int i = 1; i < TEAMS; i++) {
        c.team = teams[i];
        check_shared(&c);
    }
    c.team = teams[0];
    for (VectorLevel level = 0; level <= vector_level(); level++) {
        c.level = vector_level_name(level);
        c.elementwise.kernel = elementwise_kernel_of(level, op, operand, result);
        if (c.elementwise.kernel != NULL && c.elementwise.kernel != elementwise_kernel(op, operand, result))
            check_kernel(&c);
    }
}

/* ---- all cases ---- */

static void check_op(Team *const *teams, Op op)
{
    for (ScalarType operand = 0; operand < SCALAR_COUNT; operand++)
        for (ScalarType result = 0; result < SCALAR_COUNT; result++)
            if (operand_types(op) >> operand & 1 && result_types(op, operand) >> result & 1)
                check_case(teams, op, operand, result);
}

int main(void)
{
    Memory memory = {0};
    Team *teams[TEAMS];
    for (int i = 0; i < TEAMS; i++)
        teams[i] = team_new(&memory, (TeamOptions){.threads = team_sizes[i], .piece_picoseconds = 1});
    for (Op op = 0; op < OP_COUNT; op++)
        if (is_scalar_op[op])
            check_op(teams, op);
        else if (elementwise_kernel(op, SCALAR_I64, SCALAR_I64) != NULL)
            failures++;
    for (int i = 0; i < TEAMS; i++)
        team_free(teams[i]);
    if (failures != 0)
        fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
