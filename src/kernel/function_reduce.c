/* Reductions of sequential versions. */
#include "kernel/function_combine.h"
#include "kernel/function_share.h"

#include "kernel/op_text.h"
#include "math/scalar.h"

/* ---- the operators that are built in ---- */

bool reduce_find_fold(Op op, Fold *fold)
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

const char *reduce_constant(const Writer *writer, ScalarType type, Scalar value)
{
    Text text;
    text_init(&text, writer->out->memory);
    constant_text(&text, type, value);
    const char *constant = arena_text(writer->arena, text_string(&text), text.length);
    text_free(&text);
    return constant;
}

const char *reduce_neutral(const Writer *writer, Op operator, ScalarType type)
{
    return reduce_constant(writer, type, neutral(operator, type));
}

const char *reduce_suffix(ScalarType type)
{
    return type == SCALAR_F32 ? "F32" : "F64";
}

static bool is_float(ScalarType type)
{
    return scalar_kind(type) == KIND_FLOATING;
}

/* Sums and products of floats, whose order is math/combine.h's. */
bool reduce_is_ordered(Op operator, ScalarType type)
{
    return is_float(type) && (operator == OP_SUM || operator == OP_PRODUCT);
}

/* Integers wrap. */
const char *reduce_total_type(Op operator, ScalarType type)
{
    static const char *const unsigned_types[] = {[1] = "uint8_t", [2] = "uint16_t", [4] = "uint32_t", [8] = "uint64_t"};
    if (operator == OP_COUNT_TRUE)
        return "int64_t";
    return operator == OP_SUM || operator == OP_PRODUCT ? unsigned_types[leaf_size((LeafType)type)] : c_type(type);
}

void reduce_write_step(Writer *writer, Op operator, ScalarType type, const char *total, const char *x)
{
    const char *c = reduce_total_type(operator, type);
    switch ((int)operator) {
    case OP_SUM: write_line(writer, "%s += (%s)%s;", total, c, x); return;
    case OP_PRODUCT: write_line(writer, "%s = (%s)(1u * %s * (%s)%s);", total, c, total, c, x); return;
    case OP_COUNT_TRUE: write_line(writer, "%s += %s;", total, x); return;
    case OP_ANY: write_line(writer, "%s |= %s;", total, x); return;
    case OP_ALL: write_line(writer, "%s &= %s;", total, x); return;
    case OP_PARITY: write_line(writer, "%s ^= %s;", total, x); return;
    case OP_MAX_VAL:
        if (is_float(type))
            write_line(writer, "%s = float_maximum_%s(%s, %s);", total, reduce_suffix(type), total, x);
        else
            write_line(writer, "%s = %s > %s ? %s : %s;", total, x, total, x, total);
        return;
    default:
        if (is_float(type))
            write_line(writer, "%s = float_minimum_%s(%s, %s);", total, reduce_suffix(type), total, x);
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
    CoreVar target;
    const char *total; /* a word for it */
    /* sums and products of floats: */
    const char *fold;  /* their type, */
    const char *tile;  /* ... where elements are put before they are added, */
    const char *first; /* ... from this index on, */
    const char *lanes, *block, *blocks; /* ... and what there is of a block, and of those before */
} Reduction;

static void take_into_total(Writer *writer, Sink *sink, Element element)
{
    const Reduction *reduction = (const Reduction *)(const void *)sink;
    reduce_write_step(writer, reduction->operator, reduction->type, reduction->total, element.words[0]);
}

static void take_into_total_if(Writer *writer, Sink *sink, Element element, const char *condition)
{
    const Reduction *reduction = (const Reduction *)(const void *)sink;
    const char *word = write_word(writer, 0);
    write_line(writer, "const %s %s = %s ? %s : %s;", c_type(reduction->type), word, condition, element.words[0],
               reduce_constant(writer, reduction->type, neutral(reduction->operator, reduction->type)));
    reduce_write_step(writer, reduction->operator, reduction->type, reduction->total, word);
}

static void write_exact(Writer *writer, const CoreStatement *statement, Op operator, ScalarType type)
{
    ScalarType result = operator == OP_COUNT_TRUE ? SCALAR_I64 : type;
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[0]);
    const char *total = write_word(writer, 0), *c = reduce_total_type(operator, type);
    Reduction reduction = {.operator = operator, .type = type, .total = total};
    reduction.sink = (Sink){.take = take_into_total, .take_if = take_into_total_if, .is_straight = true};
    write_line(writer, "%s %s = (%s)%s;", c, total, c, reduce_constant(writer, result, neutral(operator, result)));
    bool is_shared = share_is_possible(writer, traversal);
    if (is_shared) {
        sequence_traverse_shared(writer, traversal, &reduction.sink);
        reduce_write_step(writer, operator, type, total, share_open_totals(writer, c, total));
        share_close_totals(writer);
    } else
        sequence_traverse(writer, traversal, &reduction.sink);
    write_line(writer, "const %s %s = (%s)%s;", c_type(result), write_new_words(writer, statement->target)[0], c_type(result), total);
}

static void take_into_tile(Writer *writer, Sink *sink, Element element)
{
    const Reduction *reduction = (const Reduction *)(const void *)sink;
    write_line(writer, "%s[%s - %s] = %s;", reduction->tile, sink->index, reduction->first, element.words[0]);
}

static void take_by_push(Writer *writer, Sink *sink, Element element)
{
    const Reduction *reduction = (const Reduction *)(const void *)sink;
    write_line(writer, "Fold%s_%s_push(&%s, %s);", op_table[reduction->operator].id, reduce_suffix(reduction->type), reduction->total, element.words[0]);
}

void reduce_open_strips(Writer *writer, const char *index, const char *first, const char *limit, const char *size, const char *end)
{
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = %s; %s < %s; %s += %s)", index, first, index, limit, index, size));
    write_line(writer, "const int64_t %s = %s - %s < %s ? %s : %s + %s;", end, limit, index, size, limit, index, size);
}

/* Sums that threads share, by blocks. */
typedef struct SharedBlocks {
    const char *length;
    const char *table; /* of what blocks come to, by number; null if they are not shared, */
    Share share;       /* ... and one thread does all */
} SharedBlocks;

static SharedBlocks begin_blocks(Writer *writer, const Traversal *traversal, uint32_t sums)
{
    SharedBlocks shared = {.length = sequence_most(traversal)};
    if (!share_is_possible(writer, traversal)) {
        shared.share = (Share){.first = "0", .end = shared.length};
        return shared;
    }
    shared.share = share_begin(writer, traversal, shared.length, "COMBINE_BLOCK");
    shared.table = share_new_blocks(writer, shared.length, sums);
    return shared;
}

/* What the block that begins at `first`, or ends in a tile that does, comes to. */
static void note_block(Writer *writer, const SharedBlocks *shared, uint32_t sum, const char *first, const char *total)
{
    write_line(writer, "__builtin_memcpy(&%s, &%s, sizeof %s);", share_block_cell(writer, shared->table, shared->length, sum, first), total, total);
}

static void end_blocks(Writer *writer, const SharedBlocks *shared, Reduction *const *sums, uint32_t count)
{
    if (shared->table == NULL)
        return;
    share_end(writer, &shared->share);
    write_open_brace(writer, arena_format(writer->arena, "if (%s != NULL)", shared->table));
    share_meet(writer);
    for (uint32_t i = 0; i < count; i++)
        write_line(writer, "%s = %s_joined(%s + %u * (%s / COMBINE_BLOCK + 1), %s, %s);", sums[i]->total, sums[i]->fold, shared->table, i, shared->length, shared->length,
                   reduce_constant(writer, sums[i]->type, neutral(sums[i]->operator, sums[i]->type)));
    write_close_brace(writer);
}

/* Elements of an innermost loop are computed tile by tile; short segments need no more than one. */
static void write_tiles(Writer *writer, Reduction *reduction, Traversal *traversal)
{
    const char *length = sequence_most(traversal), *first = write_word(writer, 0), *end = write_word(writer, 0), *tiles = write_word(writer, 0);
    const char *fold = reduction->fold;
    SharedBlocks shared = begin_blocks(writer, traversal, 1);
    write_line(writer, "%s %s;", fold, tiles);
    write_line(writer, "if (%s > FOLD_TILE)", length);
    write_line(writer, "    %s_start(&%s);", fold, tiles);
    reduce_open_strips(writer, first, shared.share.first, shared.share.end, "FOLD_TILE", end);
    reduction->tile = arena_format(writer->arena, "%s.tile", tiles);
    reduction->first = first;
    reduction->sink.take = take_into_tile;
    sequence_traverse_part(writer, traversal, &reduction->sink, first, end);
    write_line(writer, "if (%s > FOLD_TILE)", length);
    write_line(writer, "    %s_add(&%s, %s - %s);", fold, tiles, end, first);
    write_line(writer, "else");
    write_line(writer, "    %s = %s_all(&%s, %s);", reduction->total, fold, tiles, length);
    if (shared.table != NULL) {
        write_open_brace(writer, arena_format(writer->arena, "if (%s != NULL && (%s %% COMBINE_BLOCK == 0 || %s == %s))", shared.table, end, end, length));
        write_line(writer, "if (%s > FOLD_TILE)", length);
        write_line(writer, "    %s = %s_result(&%s, %s);", reduction->total, fold, tiles, reduction->total);
        note_block(writer, &shared, 0, first, reduction->total);
        write_line(writer, "%s_start(&%s);", fold, tiles);
        write_close_brace(writer);
    }
    write_close_brace(writer);
    write_line(writer, "if (%s > FOLD_TILE)", length);
    write_line(writer, "    %s = %s_result(&%s, %s);", reduction->total, fold, tiles, reduction->total);
    end_blocks(writer, &shared, &reduction, 1);
}

/* The same in blocks, so that threads can share them. */
static void write_pushed_blocks(Writer *writer, Reduction *reduction, Traversal *traversal, const char *pushed)
{
    const char *total = reduction->total, *first = write_word(writer, 0), *end = write_word(writer, 0);
    SharedBlocks shared = begin_blocks(writer, traversal, 1);
    reduce_open_strips(writer, first, shared.share.first, shared.share.end, "COMBINE_BLOCK", end);
    reduction->total = pushed;
    sequence_traverse_part(writer, traversal, &reduction->sink, first, end);
    reduction->total = total;
    write_open_brace(writer, arena_format(writer->arena, "if (%s != NULL)", shared.table));
    write_line(writer, "%s = %s_result(&%s, %s);", total, reduction->fold, pushed, total);
    note_block(writer, &shared, 0, first, total);
    write_line(writer, "%s_start(&%s);", reduction->fold, pushed);
    write_close_brace(writer);
    write_close_brace(writer);
    write_line(writer, "%s = %s_result(&%s, %s);", total, reduction->fold, pushed, total);
    end_blocks(writer, &shared, &reduction, 1);
}

static void write_pushes(Writer *writer, Reduction *reduction, Traversal *traversal)
{
    const char *total = reduction->total, *pushed = write_word(writer, 0);
    write_line(writer, "%s %s;", reduction->fold, pushed);
    write_line(writer, "%s_start(&%s);", reduction->fold, pushed);
    reduction->sink.take = take_by_push;
    if (sequence_is_exact(traversal) && share_is_possible(writer, traversal)) {
        write_pushed_blocks(writer, reduction, traversal, pushed);
        return;
    }
    reduction->total = pushed;
    sequence_traverse(writer, traversal, &reduction->sink);
    reduction->total = total;
    write_line(writer, "%s = %s_result(&%s, %s);", total, reduction->fold, pushed, total);
}

/* ---- several sums at once ---- */

/* Sums and products of floats over as many elements each. */
typedef struct Together {
    Sink sink;
    Reduction *members[REDUCE_TOGETHER];
    Traversal *traversals[REDUCE_TOGETHER];
    uint32_t count;
    const char *first; /* the index from which on a group is taken */
} Together;

static const char *symbol_of(const Reduction *reduction)
{
    return reduction->operator == OP_SUM ? "+" : "*";
}

static void take_into_groups(Writer *writer, Sink *sink, Element element)
{
    const Together *together = (const Together *)(const void *)sink;
    for (uint32_t i = 0; i < together->count; i++)
        write_line(writer, "%s[%s - %s] = %s;", together->members[i]->tile, sink->index, together->first, element.words[i]);
}

static void take_after_groups(Writer *writer, Sink *sink, Element element)
{
    const Together *together = (const Together *)(const void *)sink;
    for (uint32_t i = 0; i < together->count; i++) {
        const Reduction *member = together->members[i];
        write_line(writer, "%s = %s %s %s;", member->block, member->block, symbol_of(member), element.words[i]);
    }
    write_line(writer, "KERNEL_FEW_TURNS(%s);", sink->index);
}

/* All whole groups of a block, from `first` on, which is moved on: they go to the lanes. */
static void write_groups(Writer *writer, Together *together, Traversal *traversal, const char *end)
{
    const char *first = together->first;
    write_open_brace(writer, arena_format(writer->arena, "for (; %s - %s >= COMBINE_LANES; %s += COMBINE_LANES)", end, first, first));
    for (uint32_t i = 0; i < together->count; i++) {
        together->members[i]->tile = write_word(writer, 0);
        write_line(writer, "%s %s[COMBINE_LANES];", c_type(together->members[i]->type), together->members[i]->tile);
    }
    together->sink.take = take_into_groups;
    text_add(writer->out, "#pragma GCC unroll 1\n"); /* else it is no loop any more when vectors are looked for */
    sequence_traverse_few(writer, traversal, &together->sink, first, arena_format(writer->arena, "%s + COMBINE_LANES", first));
    for (uint32_t i = 0; i < together->count; i++) {
        const Reduction *member = together->members[i];
        write_line(writer, "%s = %s_groups(%s, %s, 0, COMBINE_LANES);", member->lanes, member->fold, member->lanes, member->tile);
    }
    write_close_brace(writer);
}

/* Where a loop does little, block by block, as sums are ordered (math/combine.h): lanes stay in registers. */
static void write_blocks(Writer *writer, Together *together, Traversal *traversal)
{
    const char *length = sequence_most(traversal), *start = write_word(writer, 0), *end = write_word(writer, 0);
    for (uint32_t i = 0; i < together->count; i++) {
        Reduction *member = together->members[i];
        member->blocks = write_word(writer, 0);
        member->lanes = write_word(writer, 0);
        member->block = write_word(writer, 0);
        write_line(writer, "%s %s = %s_identity();", c_type(member->type), member->blocks, member->fold);
    }
    together->first = write_word(writer, 0);
    SharedBlocks shared = begin_blocks(writer, traversal, together->count);
    reduce_open_strips(writer, start, shared.share.first, shared.share.end, "COMBINE_BLOCK", end);
    sequence_poll(writer, traversal);
    for (uint32_t i = 0; i < together->count; i++)
        write_line(writer, "%sLanes %s = %s_none();", together->members[i]->fold, together->members[i]->lanes, together->members[i]->fold);
    write_line(writer, "int64_t %s = %s;", together->first, start);
    write_groups(writer, together, traversal, end);
    for (uint32_t i = 0; i < together->count; i++) {
        const Reduction *member = together->members[i];
        write_line(writer, "%s %s = %s_halve(%s);", c_type(member->type), member->block, member->fold, member->lanes);
    }
    together->sink.take = take_after_groups;
    sequence_traverse_few(writer, traversal, &together->sink, together->first, end);
    for (uint32_t i = 0; i < together->count; i++) {
        const Reduction *member = together->members[i];
        write_line(writer, "%s = %s %s %s;", member->blocks, member->blocks, symbol_of(member), member->block);
        if (shared.table != NULL) {
            write_line(writer, "if (%s != NULL)", shared.table);
            text_add(writer->out, "    ");
            note_block(writer, &shared, i, start, member->block);
        }
    }
    write_close_brace(writer);
    for (uint32_t i = 0; i < together->count; i++)
        write_line(writer, "%s = %s > 0 ? %s : %s;", together->members[i]->total, length, together->members[i]->blocks, together->members[i]->total);
    end_blocks(writer, &shared, together->members, together->count);
}

/* All at once where the loop does little, else one after the other. */
static void write_version(Writer *writer, Traversal *traversal, void *context)
{
    Together *together = context;
    if (sequence_is_light(writer, traversal)) {
        write_blocks(writer, together, traversal);
        return;
    }
    for (uint32_t i = 0; i < together->count; i++) {
        Traversal *own = together->traversals[i];
        if (sequence_is_exact(own) && sequence_is_straight(writer, own))
            write_tiles(writer, together->members[i], own);
        else
            write_pushes(writer, together->members[i], own);
    }
}

static void write_alone(Writer *writer, Reduction *reduction, Traversal *traversal)
{
    Together alone = {.sink = {.is_straight = true}, .members = {reduction}, .traversals = {traversal}, .count = 1};
    sequence_write_versions(writer, traversal, write_version, &alone);
}

static void write_together(Writer *writer, Together *together)
{
    Traversal *joined = together->count < 2 ? NULL : sequence_join(writer, together->traversals, together->count);
    if (joined != NULL && sequence_can_be_light(writer, joined)) {
        together->sink.is_straight = true;
        sequence_write_versions(writer, joined, write_version, together);
        return;
    }
    abreast_refuse(writer);
    for (uint32_t i = 0; i < together->count; i++)
        write_alone(writer, together->members[i], together->traversals[i]);
}

/* A sum or product of floats; the type of the elements is given. */
static bool is_ordered_statement(const Writer *writer, const CoreStatement *statement, Op *operator, ScalarType *type)
{
    Fold fold;
    if (statement->kind != CORE_OP || !reduce_find_fold(statement->op, &fold) || fold.is_scan)
        return false;
    *operator = fold.operator;
    *type = type_scalar(writer->program->types, write_element_type(writer, statement->arguments[0].type));
    return reduce_is_ordered(fold.operator, *type);
}

bool reduce_is_sum(const Writer *writer, const CoreStatement *statement)
{
    Op operator;
    ScalarType type;
    return is_ordered_statement(writer, statement, &operator, &type);
}

/* The total is the neutral element, until there are others. */
static void add_together(Writer *writer, Together *together, const CoreStatement *statement)
{
    Op operator;
    ScalarType type;
    if (!is_ordered_statement(writer, statement, &operator, &type))
        vectors_refuse(writer);
    write_note_type(writer, write_element_type(writer, statement->arguments[0].type));
    Reduction *reduction = ARENA_NEW(writer->arena, Reduction);
    together->traversals[together->count] = sequence_prepare(writer, &statement->arguments[0]);
    *reduction = (Reduction){.operator = operator, .type = type, .target = statement->target, .total = write_new_words(writer, statement->target)[0]};
    reduction->fold = arena_format(writer->arena, "Fold%s_%s", op_table[operator].id, reduce_suffix(type));
    reduction->sink.is_straight = true;
    write_line(writer, "%s %s = %s;", c_type(type), reduction->total, reduce_constant(writer, type, neutral(operator, type)));
    together->members[together->count++] = reduction;
}

static bool waits_for_any(const Together *together, const CoreStatement *statement)
{
    for (uint32_t i = 0; i < together->count; i++)
        if (shape_uses(statement, together->members[i]->target))
            return true;
    return false;
}

/* The next statement that is another sum and does not wait for these: before it there is nothing but what is computed where it is used. Null if there is none. */
static const CoreStatement *find_next(Writer *writer, const Together *together, const CoreStatement *from, const CoreStatement *end)
{
    for (const CoreStatement *statement = from; statement < end && !waits_for_any(together, statement); statement++) {
        Op operator;
        ScalarType type;
        if (is_ordered_statement(writer, statement, &operator, &type))
            return statement;
        if (!writer->texts->shapes[statement->target].is_delayed)
            return NULL;
        writer->texts->values[statement->target] = NULL;
    }
    return NULL;
}

/* The same in all turns that are written at once. */
static void add_turns(Writer *writer, Together *together, const CoreStatement *statement)
{
    for (uint32_t turn = 1; turn <= abreast_count(writer); turn++) {
        abreast_enter(writer, turn);
        add_together(writer, together, statement);
    }
    abreast_enter(writer, 0);
}

/* Whether those from one on may be computed in one loop with the others. */
static bool are_fit(Writer *writer, const Together *together, uint32_t from)
{
    for (uint32_t i = from; i < together->count; i++)
        if (!sequence_can_be_light(writer, together->traversals[i]) || sequence_most(together->traversals[i]) != sequence_most(together->traversals[0]))
            return false;
    return true;
}

/* Sums that follow and go over as many elements are computed in the same loop, if that does little. */
static void write_ordered(Writer *writer, const CoreStatement *statement)
{
    const CoreStatement *next = writer->following, *end = next + writer->following_count;
    Together together = {0};
    uint32_t turns = abreast_count(writer), last = 0;
    add_turns(writer, &together, statement);
    while (together.count + turns <= REDUCE_TOGETHER && are_fit(writer, &together, last) && (next = find_next(writer, &together, next, end)) != NULL) {
        last = together.count;
        add_turns(writer, &together, next);
        *vec_push(writer->arena, &writer->ahead) = next++->target;
    }
    uint32_t all = together.count;
    together.count = are_fit(writer, &together, last) ? all : last;
    write_together(writer, &together);
    for (uint32_t i = together.count; i < all; i++)
        write_alone(writer, together.members[i], together.traversals[i]);
    if (together.count < all)
        abreast_refuse(writer);
}

static void take_and_count(Writer *writer, Sink *sink, Element element)
{
    (void)element;
    write_line(writer, "%s++;", ((const Reduction *)(const void *)sink)->total);
}

static void take_and_count_if(Writer *writer, Sink *sink, Element element, const char *condition)
{
    (void)element;
    write_line(writer, "%s += %s;", ((const Reduction *)(const void *)sink)->total, condition);
}

static void write_length(Writer *writer, const CoreStatement *statement)
{
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[0]);
    Reduction reduction = {.total = write_new_words(writer, statement->target)[0]};
    reduction.sink = (Sink){.take = take_and_count, .take_if = take_and_count_if, .is_straight = true};
    write_line(writer, "int64_t %s = 0;", reduction.total);
    if (share_is_possible(writer, traversal)) {
        sequence_traverse_shared(writer, traversal, &reduction.sink);
        write_line(writer, "%s += %s;", reduction.total, share_open_totals(writer, "int64_t", reduction.total));
        share_close_totals(writer);
    } else
        sequence_traverse(writer, traversal, &reduction.sink);
}

bool reduce_write(Writer *writer, const CoreStatement *statement)
{
    Fold fold;
    if (statement->op == OP_LENGTH) {
        write_length(writer, statement);
        return true;
    }
    if (statement->op == OP_REDUCE) {
        combination_write(writer, statement);
        return true;
    }
    if (!reduce_find_fold(statement->op, &fold) || fold.is_scan)
        return false;
    TypeId element = write_element_type(writer, statement->arguments[0].type);
    ScalarType type = type_scalar(writer->program->types, element);
    write_note_type(writer, element);
    if (reduce_is_ordered(fold.operator, type))
        write_ordered(writer, statement);
    else
        write_exact(writer, statement, fold.operator, type);
    return true;
}
