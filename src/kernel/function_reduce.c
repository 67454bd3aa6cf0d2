/* Reductions and scans of sequential versions. */
#include "kernel/function_vectors.h"

#include "kernel/op_text.h"
#include "math/scalar.h"

/* ---- the operators that are built in ---- */

typedef struct Fold {
    Op operator; /* the reduction that goes with it */
    bool is_scan, is_inclusive;
} Fold;

static bool find_fold(Op op, Fold *fold)
{
    switch ((int)op) {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                            \
    case OP_##reduction: *fold = (Fold){OP_##reduction, false, false}; return true;                 \
    case OP_##scan: *fold = (Fold){OP_##reduction, true, false}; return true;                       \
    case OP_##inclusive: *fold = (Fold){OP_##reduction, true, true}; return true;
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_COUNT_TRUE: *fold = (Fold){OP_COUNT_TRUE, false, false}; return true;
    default: return false;
    }
}

bool reduce_is_scan(Op op)
{
    Fold fold;
    return find_fold(op, &fold) && fold.is_scan;
}

static Scalar neutral(Op operator, ScalarType type)
{
    switch ((int)operator) {
    case OP_PRODUCT: return scalar_of_int(type, 1);
    case OP_MAX_VAL: return scalar_least(type);
    case OP_MIN_VAL: return scalar_greatest(type);
    case OP_ALL: return scalar_all_ones(type);
    default: return scalar_of_int(type, 0);
    }
}

static const char *constant_of(const Writer *writer, ScalarType type, Scalar value)
{
    Text text;
    text_init(&text, writer->out->memory);
    constant_text(&text, type, value);
    const char *constant = arena_text(writer->arena, text_string(&text), text.length);
    text_free(&text);
    return constant;
}

static const char *suffix_of(ScalarType type)
{
    return type == SCALAR_F32 ? "F32" : "F64";
}

static bool is_float(ScalarType type)
{
    return scalar_kind(type) == KIND_FLOATING;
}

/* Sums and products of floats, whose order is math/combine.h's. */
static bool is_ordered(Op operator, ScalarType type)
{
    return is_float(type) && (operator == OP_SUM || operator == OP_PRODUCT);
}

/* Integers wrap. */
static const char *total_type(Op operator, ScalarType type)
{
    static const char *const unsigned_types[] = {[1] = "uint8_t", [2] = "uint16_t", [4] = "uint32_t", [8] = "uint64_t"};
    if (operator == OP_COUNT_TRUE)
        return "int64_t";
    return operator == OP_SUM || operator == OP_PRODUCT ? unsigned_types[leaf_size((LeafType)type)] : c_type(type);
}

static void write_fold_step(Writer *writer, Op operator, ScalarType type, const char *total, const char *x)
{
    const char *c = total_type(operator, type);
    switch ((int)operator) {
    case OP_SUM: write_line(writer, "%s += (%s)%s;", total, c, x); return;
    case OP_PRODUCT: write_line(writer, "%s = (%s)(1u * %s * (%s)%s);", total, c, total, c, x); return;
    case OP_COUNT_TRUE: write_line(writer, "%s += %s;", total, x); return;
    case OP_ANY: write_line(writer, "%s |= %s;", total, x); return;
    case OP_ALL: write_line(writer, "%s &= %s;", total, x); return;
    case OP_PARITY: write_line(writer, "%s ^= %s;", total, x); return;
    case OP_MAX_VAL:
        if (is_float(type))
            write_line(writer, "%s = float_maximum_%s(%s, %s);", total, suffix_of(type), total, x);
        else
            write_line(writer, "%s = %s > %s ? %s : %s;", total, x, total, x, total);
        return;
    default:
        if (is_float(type))
            write_line(writer, "%s = float_minimum_%s(%s, %s);", total, suffix_of(type), total, x);
        else
            write_line(writer, "%s = %s < %s ? %s : %s;", total, x, total, x, total);
        return;
    }
}

/* ---- reductions ---- */

typedef struct Reduction {
    Sink sink;
    Op operator;
    ScalarType type;
    const char *total; /* the variable, or the fold that sums of floats are made in, */
    const char *tile;  /* ... whose tile is filled from this index on; null if elements are pushed */
} Reduction;

static void take_into_total(Writer *writer, Sink *sink, Element element)
{
    const Reduction *reduction = (const Reduction *)(const void *)sink;
    write_fold_step(writer, reduction->operator, reduction->type, reduction->total, element.words[0]);
}

static void take_into_total_if(Writer *writer, Sink *sink, Element element, const char *condition)
{
    const Reduction *reduction = (const Reduction *)(const void *)sink;
    const char *word = write_word(writer, 0);
    write_line(writer, "const %s %s = %s ? %s : %s;", c_type(reduction->type), word, condition, element.words[0],
               constant_of(writer, reduction->type, neutral(reduction->operator, reduction->type)));
    write_fold_step(writer, reduction->operator, reduction->type, reduction->total, word);
}

static void write_exact(Writer *writer, const CoreStatement *statement, Op operator, ScalarType type)
{
    ScalarType result = operator == OP_COUNT_TRUE ? SCALAR_I64 : type;
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[0]);
    const char *total = write_word(writer, 0), *c = total_type(operator, type);
    Reduction reduction = {.operator = operator, .type = type, .total = total};
    reduction.sink = (Sink){.take = take_into_total, .take_if = take_into_total_if, .is_straight = true};
    write_line(writer, "%s %s = (%s)%s;", c, total, c, constant_of(writer, result, neutral(operator, result)));
    sequence_traverse(writer, traversal, &reduction.sink);
    write_line(writer, "const %s %s = (%s)%s;", c_type(result), write_new_words(writer, statement->target)[0], c_type(result), total);
}

static void take_into_tile(Writer *writer, Sink *sink, Element element)
{
    const Reduction *reduction = (const Reduction *)(const void *)sink;
    write_line(writer, "%s.tile[%s - %s] = %s;", reduction->total, sink->index, reduction->tile, element.words[0]);
}

static void take_by_push(Writer *writer, Sink *sink, Element element)
{
    const Reduction *reduction = (const Reduction *)(const void *)sink;
    write_line(writer, "Fold%s_%s_push(&%s, %s);", op_table[reduction->operator].id, suffix_of(reduction->type), reduction->total, element.words[0]);
}

/* Elements of an innermost loop are computed tile by tile; short segments need no more than one. */
static void write_tiles(Writer *writer, const CoreStatement *statement, Reduction *reduction, Traversal *traversal, const char *fold, const char *empty)
{
    const char *length = sequence_most(traversal), *first = write_word(writer, 0), *end = write_word(writer, 0), *all = write_word(writer, 0);
    const char *c = c_type(reduction->type), *total = write_new_words(writer, statement->target)[0];
    write_line(writer, "%s %s = %s;", c, all, empty);
    write_line(writer, "if (%s > FOLD_TILE)", length);
    write_line(writer, "    %s_start(&%s);", fold, reduction->total);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = 0; %s < %s; %s += FOLD_TILE)", first, first, length, first));
    write_line(writer, "const int64_t %s = %s - %s < FOLD_TILE ? %s : %s + FOLD_TILE;", end, length, first, length, first);
    reduction->tile = first;
    reduction->sink.take = take_into_tile;
    sequence_traverse_part(writer, traversal, &reduction->sink, first, end);
    write_line(writer, "if (%s > FOLD_TILE)", length);
    write_line(writer, "    %s_add(&%s, %s - %s);", fold, reduction->total, end, first);
    write_line(writer, "else");
    write_line(writer, "    %s = %s_all(&%s, %s);", all, fold, reduction->total, length);
    write_close_brace(writer);
    write_line(writer, "const %s %s = %s > FOLD_TILE ? %s_result(&%s, %s) : %s;", c, total, length, fold, reduction->total, empty, all);
}

static void write_ordered(Writer *writer, const CoreStatement *statement, Op operator, ScalarType type)
{
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[0]);
    const char *fold = arena_format(writer->arena, "Fold%s_%s", op_table[operator].id, suffix_of(type));
    const char *empty = constant_of(writer, type, neutral(operator, type));
    Reduction reduction = {.operator = operator, .type = type, .total = write_word(writer, 0)};
    reduction.sink.is_straight = true;
    write_line(writer, "%s %s;", fold, reduction.total);
    if (sequence_is_exact(traversal) && sequence_is_straight(writer, traversal)) {
        write_tiles(writer, statement, &reduction, traversal, fold, empty);
        return;
    }
    reduction.sink.take = take_by_push;
    write_line(writer, "%s_start(&%s);", fold, reduction.total);
    sequence_traverse(writer, traversal, &reduction.sink);
    write_line(writer, "const %s %s = %s_result(&%s, %s);", c_type(type), write_new_words(writer, statement->target)[0], fold, reduction.total, empty);
}

bool reduce_write(Writer *writer, const CoreStatement *statement)
{
    Fold fold;
    if (!find_fold(statement->op, &fold) || fold.is_scan)
        return false;
    TypeId element = type_element(writer->program->types, statement->arguments[0].type);
    ScalarType type = type_scalar(writer->program->types, element);
    write_note_type(writer, element);
    if (is_ordered(fold.operator, type))
        write_ordered(writer, statement, fold.operator, type);
    else
        write_exact(writer, statement, fold.operator, type);
    return true;
}

/* ---- scans ---- */

struct ScanState {
    Fold fold;
    ScalarType type;
    const char *state;
    const char *first; /* what there is before the first element */
};

ScanState *reduce_scan_start(Writer *writer, const CoreStatement *statement)
{
    ScanState *scan = ARENA_NEW(writer->arena, ScanState);
    *scan = (ScanState){.state = write_word(writer, 0)};
    TypeId element = type_element(writer->program->types, write_type(writer, statement->target));
    if (!find_fold(statement->op, &scan->fold)) {
        vectors_refuse(writer);
        return scan;
    }
    scan->type = type_scalar(writer->program->types, element);
    write_note_type(writer, element);
    scan->first = constant_of(writer, scan->type, neutral(scan->fold.operator, scan->type));
    if (is_ordered(scan->fold.operator, scan->type)) {
        const char *type = arena_format(writer->arena, "Scan%s_%s", op_table[scan->fold.operator].id, suffix_of(scan->type));
        write_line(writer, "%s %s;", type, scan->state);
        write_line(writer, "%s_start(&%s);", type, scan->state);
    } else {
        const char *c = total_type(scan->fold.operator, scan->type);
        write_line(writer, "%s %s = (%s)%s;", c, scan->state, c, scan->first);
    }
    return scan;
}

const char *reduce_scan_step(Writer *writer, ScanState *scan, const char *element)
{
    const char *word = write_word(writer, 0), *c = c_type(scan->type);
    if (scan->first == NULL)
        return word;
    if (is_ordered(scan->fold.operator, scan->type)) {
        write_line(writer, "const %s %s = Scan%s_%s_next(&%s, %s, %s, %s);", c, word, op_table[scan->fold.operator].id, suffix_of(scan->type), scan->state,
                   element, scan->fold.is_inclusive ? "true" : "false", scan->first);
        return word;
    }
    if (scan->fold.is_inclusive)
        write_fold_step(writer, scan->fold.operator, scan->type, scan->state, element);
    write_line(writer, "const %s %s = (%s)%s;", c, word, c, scan->state);
    if (!scan->fold.is_inclusive)
        write_fold_step(writer, scan->fold.operator, scan->type, scan->state, element);
    return word;
}
