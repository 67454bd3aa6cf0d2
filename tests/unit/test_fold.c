/* Folds (vm/fold.h) against the order of math/combine.h written down once more, over scalars: every operation on every type, on every level of
 * vector instructions this processor has, for lengths around lanes and blocks, however a segment is cut into pieces, and for many
 * segments at once; then the same by teams of several sizes that share whatever can be shared. Elements include nan, infinities and both zeros. Memory is allocated to the byte, for the address sanitizer. */
#include "math/combine.h"
#include "math/random.h"
#include "vm/fold_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static Team *team; /* null: nothing is shared */
static uint64_t drawn;

static uint64_t draw(uint64_t limit)
{
    return random_hash(1, drawn++) % limit;
}

/* ---- cells ---- */

static size_t type_size(ScalarType type)
{
    return scalar_bits(type) / 8;
}

static Scalar cell_get(ScalarType type, const void *cells, size_t i)
{
    Scalar value = {0};
    switch (type) {
#define SCALAR(ID, name, c_type, kind)                                                                                 \
    case SCALAR_##ID: {                                                                                                \
        c_type cell = ((const c_type *)cells)[i];                                                                      \
        if (KIND_##kind == KIND_FLOATING)                                                                              \
            memcpy(&value, &cell, sizeof cell);                                                                        \
        else                                                                                                           \
            value.integer = (int64_t)cell;                                                                             \
        break;                                                                                                         \
    }
#include "ops/scalars.def"
#undef SCALAR
    case SCALAR_COUNT: break;
    }
    return value;
}

static void cell_set(ScalarType type, void *cells, size_t i, Scalar value)
{
    switch (type) {
#define SCALAR(ID, name, c_type, kind)                                                                                 \
    case SCALAR_##ID: {                                                                                                \
        c_type cell = (c_type)value.integer;                                                                           \
        if (KIND_##kind == KIND_FLOATING)                                                                              \
            memcpy(&cell, &value, sizeof cell);                                                                        \
        ((c_type *)cells)[i] = cell;                                                                                   \
        break;                                                                                                         \
    }
#include "ops/scalars.def"
#undef SCALAR
    case SCALAR_COUNT: break;
    }
}

/* Patterns of elements: ordinary numbers, near 1 so that products stay finite, with all special values, with zeros only, with few nans. */
enum { PATTERNS = 5 };

static double pattern_float(int pattern)
{
    static const double special[] = {0.0, -0.0, 1.0, -1.0, (double)INFINITY, -(double)INFINITY, (double)NAN, 0x1p-1074};
    double unit = (double)draw(1 << 20) / (1 << 20);
    switch (pattern) {
    case 0: return unit * 200.0 - 100.0;
    case 1: return 0.9375 + unit / 8.0;
    case 2: return draw(3) != 0 ? unit : special[draw(8)];
    case 3: return draw(2) != 0 ? 0.0 : -0.0;
    default: return draw(700) == 0 ? special[4 + draw(3)] : draw(9) == 0 ? -0.0 : -unit;
    }
}

static Scalar pattern_scalar(ScalarType type, int pattern)
{
    double value = pattern_float(pattern);
    if (type == SCALAR_F64)
        return scalar_of_f64(value);
    if (type == SCALAR_F32)
        return scalar_of_f32((float)value);
    if (type == SCALAR_BOOL)
        return (Scalar){.bits = draw(pattern == 1 ? 100 : 2) != 0};
    int64_t bits = pattern == 0 ? (int64_t)draw(200) - 100 : (int64_t)random_hash(2, drawn++);
    return (Scalar){.integer = scalar_wrap(type, pattern == 1 ? bits | 1 : bits)};
}

/* ---- the order of combination over scalars ---- */

typedef struct Operator {
    Op reduction, scan, inclusive;
    ScalarBinary combine;
} Operator;

static const Operator operators[] = {
    {OP_SUM, OP_PLUS_SCAN, OP_PLUS_SCAN_INCLUSIVE, scalar_add},
    {OP_PRODUCT, OP_MULT_SCAN, OP_MULT_SCAN_INCLUSIVE, scalar_multiply},
    {OP_MAX_VAL, OP_MAX_SCAN, OP_MAX_SCAN_INCLUSIVE, scalar_maximum},
    {OP_MIN_VAL, OP_MIN_SCAN, OP_MIN_SCAN_INCLUSIVE, scalar_minimum},
    {OP_ANY, OP_OR_SCAN, OP_OR_SCAN_INCLUSIVE, scalar_or},
    {OP_ALL, OP_AND_SCAN, OP_AND_SCAN_INCLUSIVE, scalar_and},
    {OP_PARITY, OP_XOR_SCAN, OP_XOR_SCAN_INCLUSIVE, scalar_xor},
    {OP_COUNT_TRUE, OP_COUNT, OP_COUNT, scalar_add},
};

typedef struct Fold {
    VectorLevel level;
    Op op;
    ScalarType type, result; /* of elements, of results */
    ScalarBinary combine;
    Scalar identity;
    bool is_scan, is_inclusive;
    const FoldKind *kind;
    bool is_left; /* a reduction in the order of users' operators */
} Fold;

static Scalar identity_of(Op reduction, ScalarType type)
{
    switch ((int)reduction) {
    case OP_PRODUCT: return scalar_of_int(type, 1);
    case OP_MAX_VAL: return scalar_least(type);
    case OP_MIN_VAL: return scalar_greatest(type);
    case OP_ALL: return scalar_all_ones(type);
    }
    return scalar_of_int(type, 0);
}

static Scalar combined(const Fold *fold, Scalar a, Scalar b)
{
    return fold->combine(fold->result, a, b);
}

static Scalar expected_block(const Fold *fold, const Scalar *x, size_t count)
{
    size_t i = 1;
    Scalar total = x[0];
    if (count >= COMBINE_LANES && !fold->is_left) {
        Scalar lane[COMBINE_LANES];
        memcpy(lane, x, sizeof lane);
        for (i = COMBINE_LANES; i + COMBINE_LANES <= count; i += COMBINE_LANES)
            for (size_t j = 0; j < COMBINE_LANES; j++)
                lane[j] = combined(fold, lane[j], x[i + j]);
        for (size_t half = COMBINE_LANES / 2; half > 0; half /= 2)
            for (size_t j = 0; j < half; j++)
                lane[j] = combined(fold, lane[j], lane[j + half]);
        total = lane[0];
    }
    for (; i < count; i++)
        total = combined(fold, total, x[i]);
    return total;
}

static Scalar expected_reduction(const Fold *fold, const Scalar *x, size_t count)
{
    Scalar total = fold->identity;
    for (size_t start = 0; start < count; start += COMBINE_BLOCK) {
        size_t length = count - start < COMBINE_BLOCK ? count - start : COMBINE_BLOCK;
        Scalar block = expected_block(fold, x + start, length);
        total = start == 0 ? block : combined(fold, total, block);
    }
    return total;
}

/* What element i and those before it in its block give, with the carry: the exclusive output of i + 1. */
static void expected_inclusive(const Fold *fold, const Scalar *x, size_t count, Scalar *out)
{
    Scalar carry = {0}, local = {0};
    for (size_t i = 0; i < count; i++) {
        local = i % COMBINE_BLOCK == 0 ? x[i] : combined(fold, local, x[i]);
        out[i] = i < COMBINE_BLOCK ? local : combined(fold, carry, local);
        if ((i + 1) % COMBINE_BLOCK == 0)
            carry = out[i];
    }
}

static void expected_scan(const Fold *fold, const Scalar *x, size_t count, Scalar *out)
{
    expected_inclusive(fold, x, count, out);
    if (fold->is_inclusive || count == 0)
        return;
    memmove(out + 1, out, (count - 1) * sizeof *out);
    out[0] = fold->identity;
}

/* Gives how many outputs there are. */
static size_t expected_segment(const Fold *fold, const Scalar *x, size_t count, Scalar *out)
{
    if (fold->is_scan) {
        expected_scan(fold, x, count, out);
        return count;
    }
    out[0] = expected_reduction(fold, x, count);
    return 1;
}

/* ---- comparing ---- */

static void check(const Fold *fold, const char *what, size_t length, const Scalar *expected, const void *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Scalar value = cell_get(fold->result, out, i);
        if (value.bits == expected[i].bits)
            continue;
        if (failures++ < 20)
            fprintf(stderr, "%s of %s at level %d, %s, length %zu: output %zu is %llx instead of %llx\n", op_name(fold->op),
                    scalar_name(fold->type), (int)fold->level, what, length, i, (unsigned long long)value.bits,
                    (unsigned long long)expected[i].bits);
        return;
    }
}

/* ---- one segment in pieces ---- */

typedef struct Elements {
    size_t count;
    Scalar *scalars;
    void *data; /* one cell if uniform */
    bool is_uniform;
} Elements;

static Elements elements_new(ScalarType type, int pattern, size_t count, bool is_uniform)
{
    size_t cells = is_uniform ? 1 : count;
    Elements elements = {count, malloc((count + 1) * sizeof(Scalar)), malloc(cells * type_size(type)), is_uniform};
    for (size_t i = 0; i < count; i++)
        elements.scalars[i] = is_uniform && i > 0 ? elements.scalars[0] : pattern_scalar(type, pattern);
    for (size_t i = 0; i < cells && i < count; i++)
        cell_set(type, elements.data, i, elements.scalars[i]);
    return elements;
}

static void elements_free(Elements *elements)
{
    free(elements->scalars);
    free(elements->data);
}

static void fold_pieces(const Fold *fold, const Elements *elements, size_t piece, void *out)
{
    size_t size = type_size(fold->type), count = elements->count;
    void *state = malloc(fold_state_size(fold->kind));
    fold_start(fold->kind, state);
    for (size_t start = 0; start < count;) {
        size_t taken = piece == 0 ? 1 + draw(3000) : piece;
        taken = taken < count - start ? taken : count - start;
        Cells cells = {(char *)elements->data + (elements->is_uniform ? 0 : start * size), elements->is_uniform};
        if (fold->is_scan)
            fold_scan(team, fold->kind, state, cells, taken, (char *)out + start * size);
        else
            fold_add(team, fold->kind, state, cells, taken);
        start += taken;
    }
    if (!fold->is_scan)
        fold_result(fold->kind, state, out);
    free(state);
}

static const size_t lengths[] = {0, 1, 7, 8, 9, 1023, 1024, 1025, 5000, 10240};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void test_pieces(const Fold *fold, int pattern, size_t count, bool is_uniform)
{
    static const size_t pieces[] = {100000, 0, 3000, 1000, 7, 2, 1};
    size_t tried = team == NULL ? sizeof pieces / sizeof *pieces : 3; /* small ones are not shared */
    Elements elements = elements_new(fold->type, pattern, count, is_uniform);
    Scalar *expected = malloc((count + 1) * sizeof *expected);
    size_t outputs = expected_segment(fold, elements.scalars, count, expected);
    for (size_t p = 0; p < tried; p++) {
        void *out = malloc(outputs * type_size(fold->result));
        fold_pieces(fold, &elements, pieces[p], out);
        check(fold, "in pieces", count, expected, out, outputs);
        free(out);
    }
    free(expected);
    elements_free(&elements);
}

/* ---- many segments ---- */

enum { SEGMENTS = 120, REGULAR_SEGMENTS = 300, SHAPES = 7 };

static size_t segment_length(int shape, size_t k)
{
    switch (shape) {
    case 0: return 0;
    case 1: return 1;
    case 2: return draw(33);
    case 3: return lengths[k % LENGTHS] / (k < 9 ? 1 : 4);
    case 4: return k == 60 ? 7000 : draw(3);
    case 5: return k == 0 || k == SEGMENTS - 1 ? 3 * COMBINE_BLOCK + 1 : 0;
    default: return k % 40 == 1 ? 2 * COMBINE_BLOCK - 1 + k / 40 : draw(40);
    }
}

static void fold_whole(const Fold *fold, Cells cells, int64_t first, const int64_t *ends, size_t segments, void *out)
{
    if (fold->is_scan)
        fold_scan_segments(team, fold->kind, cells, first, ends, segments, out);
    else
        fold_segments(team, fold->kind, cells, first, ends, segments, out);
}

static size_t expected_segments(const Fold *fold, const Scalar *x, int64_t first, const int64_t *ends, size_t segments,
                                Scalar *expected)
{
    size_t outputs = 0;
    int64_t start = first;
    for (size_t k = 0; k < segments; start = ends[k++])
        outputs += expected_segment(fold, x + (start - first), (size_t)(ends[k] - start), expected + outputs);
    return outputs;
}

static void test_segments(const Fold *fold, int pattern, int shape, bool is_uniform)
{
    int64_t ends[SEGMENTS], first = 17, end = first;
    for (size_t k = 0; k < SEGMENTS; k++)
        ends[k] = end += (int64_t)segment_length(shape, k);
    size_t count = (size_t)(end - first);
    Elements elements = elements_new(fold->type, pattern, count, is_uniform);
    Scalar *expected = malloc((count + SEGMENTS) * sizeof *expected);
    size_t outputs = expected_segments(fold, elements.scalars, first, ends, SEGMENTS, expected);
    void *out = malloc(outputs * type_size(fold->result));
    fold_whole(fold, (Cells){elements.data, is_uniform}, first, ends, SEGMENTS, out);
    check(fold, "segments", (size_t)shape, expected, out, outputs);
    free(out);
    free(expected);
    elements_free(&elements);
}

static void test_regular(const Fold *fold, int pattern, size_t length, bool is_uniform)
{
    int64_t ends[REGULAR_SEGMENTS];
    for (size_t k = 0; k < REGULAR_SEGMENTS; k++)
        ends[k] = (int64_t)((k + 1) * length);
    size_t count = REGULAR_SEGMENTS * length;
    Elements elements = elements_new(fold->type, pattern, count, is_uniform);
    Scalar *expected = malloc((count + REGULAR_SEGMENTS) * sizeof *expected);
    size_t outputs = expected_segments(fold, elements.scalars, 0, ends, REGULAR_SEGMENTS, expected);
    void *out = malloc(outputs * type_size(fold->result));
    Cells cells = {elements.data, is_uniform};
    if (fold->is_scan)
        fold_scan_regular(team, fold->kind, cells, length, REGULAR_SEGMENTS, out);
    else
        fold_regular(team, fold->kind, cells, length, REGULAR_SEGMENTS, out);
    check(fold, "regular", length, expected, out, outputs);
    free(out);
    free(expected);
    elements_free(&elements);
}

/* ---- all ---- */

static void test_pattern(const Fold *fold, int pattern, bool is_uniform)
{
    for (size_t n = 0; n < LENGTHS; n++)
        test_pieces(fold, pattern, lengths[n], is_uniform);
    for (int shape = 0; shape < SHAPES; shape++)
        test_segments(fold, pattern, shape, is_uniform);
    for (size_t length = 0; length < 20; length += 1 + length / 2)
        test_regular(fold, pattern, length, is_uniform);
}

static void test_fold(const Fold *fold)
{
    bool is_float = scalar_kind(fold->type) == KIND_FLOATING;
    for (int pattern = 0; pattern < (is_float ? PATTERNS : 2); pattern++)
        if (team == NULL || pattern == 1 || pattern == PATTERNS - 1)
            test_pattern(fold, pattern, false);
    test_pattern(fold, is_float ? 2 : 1, true);
}

static bool exists(Op reduction, ScalarType type)
{
    switch ((int)reduction) {
    case OP_SUM:
    case OP_PRODUCT: return (CLASS_NUMBER >> type & 1) != 0;
    case OP_MAX_VAL:
    case OP_MIN_VAL: return (CLASS_ORDINAL >> type & 1) != 0;
    case OP_COUNT_TRUE: return type == SCALAR_BOOL;
    }
    return (CLASS_LOGICAL >> type & 1) != 0;
}

static void test_op(VectorLevel level, const Operator *operator, Op op, ScalarType type)
{
    const FoldKind *kind = fold_kind_at(level, op, type);
    if ((kind != NULL) != exists(operator->reduction, type)) {
        failures++;
        fprintf(stderr, "%s of %s: exists or not, unexpectedly\n", op_name(op), scalar_name(type));
    }
    if (kind == NULL)
        return;
    ScalarType result = op == OP_COUNT_TRUE ? SCALAR_I64 : type;
    test_fold(&(Fold){level, op, type, result, operator->combine, identity_of(operator->reduction, result),
                      op != operator->reduction, op == operator->inclusive, kind, false});
}

static void test_left(VectorLevel level, const Operator *operator, ScalarType type)
{
    const FoldKind *kind = fold_left_kind_at(level, operator->reduction, type);
    test_fold(&(Fold){level, operator->reduction, type, type, operator->combine, identity_of(operator->reduction, type), false, false,
                      kind, true});
}

static void test_type(VectorLevel level, ScalarType type)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const Operator *operator = &operators[i];
        test_op(level, operator, operator->reduction, type);
        if (operator->scan == OP_COUNT)
            continue;
        test_op(level, operator, operator->scan, type);
        test_op(level, operator, operator->inclusive, type);
        if (scalar_kind(type) == KIND_FLOATING && (operator->reduction == OP_SUM || operator->reduction == OP_PRODUCT))
            test_left(level, operator, type);
    }
}

/* Types that differ in how they are shared. */
static void test_team(Memory *memory, uint32_t threads)
{
    static const ScalarType types[] = {SCALAR_F64, SCALAR_I64, SCALAR_BOOL};
    team = team_new(memory, (TeamOptions){.threads = threads, .piece_picoseconds = 1});
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        test_type(vector_level(), types[i]);
    team_free(team);
    team = NULL;
}

int main(void)
{
    for (int level = 0; level <= (int)vector_level(); level++)
        for (int type = 0; type < SCALAR_COUNT; type++)
            test_type((VectorLevel)level, (ScalarType)type);
    Memory memory = {0};
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        test_team(&memory, threads[i]);
    return failures > 0 || memory.live_bytes > 0;
}
