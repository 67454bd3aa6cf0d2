/* Reductions and scans of sequential versions. */
#include "kernel/function_share.h"

#include "core/builtin_operator.h"
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

bool reduce_is_scan(Op op)
{
    Fold fold;
    return reduce_find_fold(op, &fold) && fold.is_scan;
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

const char *reduce_neutral(const Writer *writer, Op operator, ScalarType type)
{
    return constant_of(writer, type, neutral(operator, type));
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
               constant_of(writer, reduction->type, neutral(reduction->operator, reduction->type)));
    reduce_write_step(writer, reduction->operator, reduction->type, reduction->total, word);
}

static void write_exact(Writer *writer, const CoreStatement *statement, Op operator, ScalarType type)
{
    ScalarType result = operator == OP_COUNT_TRUE ? SCALAR_I64 : type;
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[0]);
    const char *total = write_word(writer, 0), *c = reduce_total_type(operator, type);
    Reduction reduction = {.operator = operator, .type = type, .total = total};
    reduction.sink = (Sink){.take = take_into_total, .take_if = take_into_total_if, .is_straight = true};
    write_line(writer, "%s %s = (%s)%s;", c, total, c, constant_of(writer, result, neutral(operator, result)));
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
    write_line(writer, "Fold%s_%s_push(&%s, %s);", op_table[reduction->operator].id, suffix_of(reduction->type), reduction->total, element.words[0]);
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
    shared.share = share_begin(writer, shared.length, "COMBINE_BLOCK");
    shared.table = share_new_table(writer, arena_format(writer->arena, "%u * (%s / COMBINE_BLOCK + 1)", sums, shared.length));
    return shared;
}

/* What the block that begins at `first`, or ends in a tile that does, comes to. */
static void note_block(Writer *writer, const SharedBlocks *shared, uint32_t sum, const char *first, const char *total)
{
    write_line(writer, "__builtin_memcpy(&%s[%u * (%s / COMBINE_BLOCK + 1) + %s / COMBINE_BLOCK], &%s, sizeof %s);", shared->table, sum, shared->length, first, total, total);
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
                   constant_of(writer, sums[i]->type, neutral(sums[i]->operator, sums[i]->type)));
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

static void write_pushes(Writer *writer, Reduction *reduction, Traversal *traversal)
{
    const char *total = reduction->total, *pushed = write_word(writer, 0);
    write_line(writer, "%s %s;", reduction->fold, pushed);
    write_line(writer, "%s_start(&%s);", reduction->fold, pushed);
    reduction->total = pushed;
    reduction->sink.take = take_by_push;
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
    reduction->fold = arena_format(writer->arena, "Fold%s_%s", op_table[operator].id, suffix_of(type));
    reduction->sink.is_straight = true;
    write_line(writer, "%s %s = %s;", c_type(type), reduction->total, constant_of(writer, type, neutral(operator, type)));
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

/* ---- operators that are functions ---- */

const CoreBlock *reduce_operator(const Writer *writer, const CoreStatement *statement)
{
    return statement->function == 0 ? NULL : writer->program->functions.items[statement->function]->body;
}

bool reduce_is_straight(const Writer *writer, const CoreStatement *statement)
{
    return !writer->program->functions.items[statement->function]->is_recursive && shape_is_straight(writer->texts, reduce_operator(writer, statement));
}

static void bind_operator(Writer *writer, const CoreStatement *statement, const char **a, const char **b)
{
    const CoreBlock *body = reduce_operator(writer, statement);
    for (uint32_t i = 0; i < statement->captured_count; i++)
        writer->texts->values[body->parameters[i]] = write_atom(writer, &statement->captured[i]);
    writer->texts->values[body->parameters[statement->captured_count]] = a;
    writer->texts->values[body->parameters[statement->captured_count + 1]] = b;
}

const char **reduce_apply(Writer *writer, const CoreStatement *statement, const char **a, const char **b)
{
    const CoreBlock *body = reduce_operator(writer, statement);
    if (!reduce_is_straight(writer, statement) || shape_gives_up(body)) {
        vectors_refuse(writer);
        return a;
    }
    bind_operator(writer, statement, a, b);
    write_statements(writer, body);
    return write_atom(writer, &body->result);
}

const char **reduce_declare(Writer *writer, const Layout *layout, const char **values)
{
    const char **words = ARENA_ARRAY(writer->arena, const char *, layout->count);
    for (uint32_t i = 0; i < layout->count; i++) {
        words[i] = write_word(writer, 0);
        write_line(writer, "%s %s = %s;", write_leaf_type(layout->leaves[i].type), words[i], values == NULL ? "0" : values[i]);
    }
    return words;
}

/* All at once: a value that is among the targets is kept before it is overwritten. */
void reduce_assign(Writer *writer, const Layout *layout, const char **targets, const char **values)
{
    const char **kept = ARENA_ARRAY(writer->arena, const char *, layout->count);
    for (uint32_t i = 0; i < layout->count; i++) {
        kept[i] = values[i];
        for (uint32_t before = 0; before < i && kept[i] == values[i]; before++)
            if (values[i] == targets[before] && values[before] != targets[before]) {
                kept[i] = write_word(writer, 0);
                write_line(writer, "const %s %s = %s;", write_leaf_type(layout->leaves[i].type), kept[i], values[i]);
            }
    }
    for (uint32_t i = 0; i < layout->count; i++)
        if (kept[i] != targets[i])
            write_line(writer, "%s = %s;", targets[i], kept[i]);
}

/* A reduction, or a scan, in the order of math/combine.h: the value of the block so far, the one of the blocks before, and how many elements there were. */
typedef struct Combination {
    Sink sink;
    const CoreStatement *statement;
    const Layout *layout;
    const char **local, **carry;
    const char *count;
} Combination;

/* The result goes to variables that may be among the operands. */
static void combine(Writer *writer, const Combination *combination, const char **to, const char **a, const char **b)
{
    reduce_assign(writer, combination->layout, to, reduce_apply(writer, combination->statement, a, b));
}

static void open_if(Writer *writer, const char *format, const char *word)
{
    write_open_brace(writer, arena_format(writer->arena, format, word));
}

static void take_combining(Writer *writer, Sink *sink, Element element)
{
    const Combination *c = (const Combination *)(const void *)sink;
    open_if(writer, "if ((%s & (COMBINE_BLOCK - 1)) == 0)", c->count);
    open_if(writer, "if (%s > COMBINE_BLOCK)", c->count);
    combine(writer, c, c->carry, c->carry, c->local);
    write_else(writer);
    reduce_assign(writer, c->layout, c->carry, c->local);
    write_close_brace(writer);
    reduce_assign(writer, c->layout, c->local, element.words);
    write_else(writer);
    combine(writer, c, c->local, c->local, element.words);
    write_close_brace(writer);
    write_line(writer, "%s++;", c->count);
}

static Combination new_combination(Writer *writer, const CoreStatement *statement, TypeId element)
{
    Combination combination = {.statement = statement, .layout = write_layout(writer, element)};
    if (layout_has_arrays(combination.layout))
        vectors_refuse(writer);
    combination.local = reduce_declare(writer, combination.layout, NULL);
    combination.carry = reduce_declare(writer, combination.layout, NULL);
    combination.count = write_word(writer, 0);
    write_line(writer, "int64_t %s = 0;", combination.count);
    return combination;
}

/* An operator that gives one of its operands (kernel/function_fold.c): many elements at once are asked whether any is picked. */
typedef struct Picking {
    Sink sink;
    const Combination *combination;
    const Pick *pick;
    const char *picks; /* a flag; null where elements are picked */
} Picking;

static void take_first(Writer *writer, Sink *sink, Element element)
{
    const Combination *c = ((const Picking *)(const void *)sink)->combination;
    reduce_assign(writer, c->layout, c->local, element.words);
}

static void take_picking(Writer *writer, Sink *sink, Element element)
{
    const Picking *picking = (const Picking *)(const void *)sink;
    const Combination *c = picking->combination;
    bind_operator(writer, c->statement, c->local, element.words);
    if (picking->picks != NULL) {
        fold_write_condition(writer, picking->pick, arena_format(writer->arena, "%s |= %%s%%s;", picking->picks));
        return;
    }
    fold_write_condition(writer, picking->pick, "if (%s%s) {");
    writer->depth++;
    reduce_assign(writer, c->layout, c->local, element.words);
    write_close_brace(writer);
}

struct PickedFold {
    Traversal *traversal;
    Combination combination;
    Pick pick;
};

PickedFold *reduce_begin_picking(Writer *writer, const CoreStatement *statement, Traversal *traversal)
{
    Pick pick;
    if (!sequence_is_exact(traversal) || !sequence_is_straight(writer, traversal) || !sequence_is_repeatable(traversal) || writer->is_deferred ||
        !fold_find_pick(writer->texts, reduce_operator(writer, statement), &pick))
        return NULL;
    PickedFold *fold = ARENA_NEW(writer->arena, PickedFold);
    *fold = (PickedFold){traversal, new_combination(writer, statement, write_type(writer, statement->target)), pick};
    return fold;
}

void reduce_pick_in_block(Writer *writer, const PickedFold *fold, const char *block, const char *block_end)
{
    const Combination *c = &fold->combination;
    const char *strip = write_word(writer, 0), *strip_end = write_word(writer, 0);
    Picking picking = {.sink = {.take = take_first, .is_straight = true}, .combination = c, .pick = &fold->pick, .picks = write_word(writer, 0)};
    sequence_traverse_part(writer, fold->traversal, &picking.sink, block, arena_format(writer->arena, "%s + 1", block));
    picking.sink.take = take_picking;
    picking.sink.applied = reduce_operator(writer, c->statement);
    reduce_open_strips(writer, strip, arena_format(writer->arena, "%s + 1", block), block_end, "KERNEL_FOLD_STRIP", strip_end);
    write_line(writer, "uint8_t %s = 0;", picking.picks);
    sequence_traverse_part(writer, fold->traversal, &picking.sink, strip, strip_end);
    open_if(writer, "if (%s)", picking.picks);
    picking.picks = NULL;
    sequence_traverse_part(writer, fold->traversal, &picking.sink, strip, strip_end);
    write_close_brace(writer);
    write_close_brace(writer);
    open_if(writer, "if (%s > 0)", block);
    combine(writer, c, c->carry, c->carry, c->local);
    write_else(writer);
    reduce_assign(writer, c->layout, c->carry, c->local);
    write_close_brace(writer);
}

const char **reduce_picked(const PickedFold *fold)
{
    return fold->combination.carry;
}

void reduce_end_picking(Writer *writer, const CoreStatement *statement, const char **picked, const char *count)
{
    const char **empty = write_atom(writer, &statement->arguments[0]);
    open_if(writer, "if (%s == 0)", count);
    reduce_assign(writer, write_layout(writer, write_type(writer, statement->target)), picked, empty);
    write_close_brace(writer);
    writer->texts->values[statement->target] = picked;
}

/* Block by block of the order of combination. */
static bool write_pick_combination(Writer *writer, const CoreStatement *statement, Traversal *traversal)
{
    const PickedFold *fold = reduce_begin_picking(writer, statement, traversal);
    if (fold == NULL)
        return false;
    const char *block = write_word(writer, 0), *block_end = write_word(writer, 0);
    reduce_open_strips(writer, block, "0", sequence_most(traversal), "COMBINE_BLOCK", block_end);
    reduce_pick_in_block(writer, fold, block, block_end);
    write_close_brace(writer);
    reduce_end_picking(writer, statement, reduce_picked(fold), sequence_most(traversal));
    return true;
}

static void write_combination(Writer *writer, const CoreStatement *statement)
{
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[1]);
    if (write_pick_combination(writer, statement, traversal))
        return;
    const char **empty = write_atom(writer, &statement->arguments[0]);
    Combination c = new_combination(writer, statement, write_type(writer, statement->target));
    c.sink = (Sink){.take = take_combining, .is_straight = true, .applied = reduce_operator(writer, statement)};
    sequence_traverse(writer, traversal, &c.sink);
    open_if(writer, "if (%s == 0)", c.count);
    reduce_assign(writer, c.layout, c.local, empty);
    write_else(writer);
    open_if(writer, "if (%s > COMBINE_BLOCK)", c.count);
    combine(writer, &c, c.local, c.carry, c.local);
    write_close_brace(writer);
    write_close_brace(writer);
    writer->texts->values[statement->target] = c.local;
}

/* The operators of the components of an operator that is built in and gives the same in every order; 0 if it is none. */
static uint32_t exact_operators(const Writer *writer, const CoreStatement *statement, const Layout *layout, const BuiltinOperator **operators)
{
    uint32_t count = builtin_operators(reduce_operator(writer, statement), statement->captured_count, operators);
    for (uint32_t i = 0; i < count; i++)
        if (!builtin_is_exact(operators[i], (ScalarType)layout->leaves[i].type))
            return 0;
    return count;
}

typedef struct ExactCombination {
    Sink sink;
    const Layout *layout;
    const BuiltinOperator *operators[BUILTIN_COMPONENTS_MAX];
    const char *totals[BUILTIN_COMPONENTS_MAX];
    const char *count;
} ExactCombination;

static void take_components(Writer *writer, Sink *sink, Element element)
{
    const ExactCombination *c = (const ExactCombination *)(const void *)sink;
    for (uint32_t i = 0; i < c->layout->count; i++)
        reduce_write_step(writer, c->operators[i]->reduction, (ScalarType)c->layout->leaves[i].type, c->totals[i], element.words[i]);
    write_line(writer, "%s++;", c->count);
}

static bool write_exact_combination(Writer *writer, const CoreStatement *statement)
{
    ExactCombination c = {.layout = write_layout(writer, write_type(writer, statement->target)), .sink = {.take = take_components, .is_straight = true}};
    if (exact_operators(writer, statement, c.layout, c.operators) == 0)
        return false;
    Traversal *traversal = sequence_prepare(writer, &statement->arguments[1]);
    const char **empty = write_atom(writer, &statement->arguments[0]), **targets = write_new_words(writer, statement->target);
    c.count = write_word(writer, 0);
    write_line(writer, "int64_t %s = 0;", c.count);
    for (uint32_t i = 0; i < c.layout->count; i++) {
        ScalarType type = (ScalarType)c.layout->leaves[i].type;
        const char *total_c = reduce_total_type(c.operators[i]->reduction, type);
        c.totals[i] = write_word(writer, 0);
        *writer->types |= (ClassSet)1 << type;
        write_line(writer, "%s %s = (%s)%s;", total_c, c.totals[i], total_c, constant_of(writer, type, builtin_neutral(c.operators[i], type)));
    }
    sequence_traverse(writer, traversal, &c.sink);
    for (uint32_t i = 0; i < c.layout->count; i++) {
        const char *type = write_leaf_type(c.layout->leaves[i].type);
        write_line(writer, "const %s %s = %s == 0 ? %s : (%s)%s;", type, targets[i], c.count, empty[i], type, c.totals[i]);
    }
    return true;
}

bool reduce_write(Writer *writer, const CoreStatement *statement)
{
    Fold fold;
    if (statement->op == OP_LENGTH) {
        write_length(writer, statement);
        return true;
    }
    if (statement->op == OP_REDUCE) {
        if (!write_exact_combination(writer, statement))
            write_combination(writer, statement);
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

/* ---- scans ---- */

struct ScanState {
    Fold fold;
    ScalarType type;
    const char *state;
    const char *first;         /* what there is before the first element */
    Combination *combination;  /* by an operator that is a function, */
    const char **identity;     /* ... null if it is inclusive */
};

static void start_combining(Writer *writer, ScanState *scan, const CoreStatement *statement)
{
    scan->combination = ARENA_NEW(writer->arena, Combination);
    *scan->combination = new_combination(writer, statement, write_element_type(writer, write_type(writer, statement->target)));
    scan->identity = statement->op == OP_SCAN ? write_atom(writer, &statement->arguments[0]) : NULL;
}

static const char **step_combining(Writer *writer, ScanState *scan, const char **element)
{
    const Combination *c = scan->combination;
    const char **output = reduce_declare(writer, c->layout, NULL);
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool gives = (pass == 0) == (scan->identity != NULL);
        if (gives) { /* the blocks before and the part of this one that counts, as far as there are such */
            open_if(writer, scan->identity != NULL ? "if (%s == 0)" : "if (false)", c->count);
            reduce_assign(writer, c->layout, output, scan->identity != NULL ? scan->identity : element);
            write_else(writer);
            open_if(writer, scan->identity != NULL ? "if (%s <= COMBINE_BLOCK - 1)" : "if (%s < COMBINE_BLOCK)", c->count);
            reduce_assign(writer, c->layout, output, c->local);
            write_else(writer);
            open_if(writer, scan->identity != NULL ? "if ((%s & (COMBINE_BLOCK - 1)) == 0)" : "if (false)", c->count);
            reduce_assign(writer, c->layout, output, c->carry);
            write_else(writer);
            combine(writer, c, output, c->carry, c->local);
            write_close_brace(writer);
            write_close_brace(writer);
            write_close_brace(writer);
            continue;
        }
        open_if(writer, "if ((%s & (COMBINE_BLOCK - 1)) == 0)", c->count);
        reduce_assign(writer, c->layout, c->local, element);
        write_else(writer);
        combine(writer, c, c->local, c->local, element);
        write_close_brace(writer);
    }
    open_if(writer, "if (((%s + 1) & (COMBINE_BLOCK - 1)) == 0)", c->count);
    open_if(writer, "if (%s < COMBINE_BLOCK)", c->count);
    reduce_assign(writer, c->layout, c->carry, c->local);
    write_else(writer);
    combine(writer, c, c->carry, c->carry, c->local);
    write_close_brace(writer);
    write_close_brace(writer);
    write_line(writer, "%s++;", c->count);
    return output;
}

ScanState *reduce_scan_start(Writer *writer, const CoreStatement *statement)
{
    ScanState *scan = ARENA_NEW(writer->arena, ScanState);
    *scan = (ScanState){.state = write_word(writer, 0)};
    TypeId element = write_element_type(writer, write_type(writer, statement->target));
    if (!reduce_find_fold(statement->op, &scan->fold)) {
        start_combining(writer, scan, statement);
        return scan;
    }
    scan->type = type_scalar(writer->program->types, element);
    write_note_type(writer, element);
    scan->first = constant_of(writer, scan->type, neutral(scan->fold.operator, scan->type));
    if (reduce_is_ordered(scan->fold.operator, scan->type)) {
        const char *type = arena_format(writer->arena, "Scan%s_%s", op_table[scan->fold.operator].id, suffix_of(scan->type));
        write_line(writer, "%s %s;", type, scan->state);
        write_line(writer, "%s_start(&%s);", type, scan->state);
    } else {
        const char *c = reduce_total_type(scan->fold.operator, scan->type);
        write_line(writer, "%s %s = (%s)%s;", c, scan->state, c, scan->first);
    }
    return scan;
}

const char **reduce_scan_step(Writer *writer, ScanState *scan, const char **element)
{
    if (scan->combination != NULL)
        return step_combining(writer, scan, element);
    const char **words = ARENA_ARRAY(writer->arena, const char *, 1), *c = c_type(scan->type);
    words[0] = write_word(writer, 0);
    if (reduce_is_ordered(scan->fold.operator, scan->type)) {
        write_line(writer, "const %s %s = Scan%s_%s_next(&%s, %s, %s, %s);", c, words[0], op_table[scan->fold.operator].id, suffix_of(scan->type), scan->state,
                   element[0], scan->fold.is_inclusive ? "true" : "false", scan->first);
        return words;
    }
    if (scan->fold.is_inclusive)
        reduce_write_step(writer, scan->fold.operator, scan->type, scan->state, element[0]);
    write_line(writer, "const %s %s = (%s)%s;", c, words[0], c, scan->state);
    if (!scan->fold.is_inclusive)
        reduce_write_step(writer, scan->fold.operator, scan->type, scan->state, element[0]);
    return words;
}
