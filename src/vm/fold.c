/* The interface of folds: finds the loops for an operation, gives them plain segments where elements are uniform or segments regular, and shares
 * what is large among a team. */
#include "vm/fold_private.h"
#include "base/least.h"

#include "math/combine.h"
#include "vm/cut.h"
#include "vm/movement.h"

#include <string.h>

static const FoldTable *const tables[] = {
#define VECTOR_LEVEL_ROW(level) [VECTOR_##level] = &VECTOR_NAME_AT(fold_table, level),
    VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW
};

static const FoldKind *kind_of(VectorLevel level, FoldOperator operator, FoldForm form, ScalarType type)
{
    const FoldKind *kinds = (*tables[level])[operator][type];
    return kinds == NULL ? NULL : &kinds[form];
}

FoldOperator fold_operator(Op reduction)
{
    switch ((int)reduction) {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                \
    case OP_##reduction: return FOLD_##OPERATOR;
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    }
    return FOLD_OPERATOR_COUNT;
}

const FoldKind *fold_kind_at(VectorLevel level, Op op, ScalarType type)
{
    switch ((int)op) {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                \
    case OP_##reduction: return kind_of(level, FOLD_##OPERATOR, FOLD_REDUCTION, type);                                 \
    case OP_##scan: return kind_of(level, FOLD_##OPERATOR, FOLD_SCAN, type);                                           \
    case OP_##inclusive: return kind_of(level, FOLD_##OPERATOR, FOLD_SCAN_INCLUSIVE, type);
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_COUNT_TRUE: return kind_of(level, FOLD_COUNT, FOLD_REDUCTION, type);
    }
    return NULL;
}

const FoldKind *fold_kind(Op op, ScalarType type)
{
    return fold_kind_at(vector_level(), op, type);
}

const FoldKind *fold_left_kind_at(VectorLevel level, Op op, ScalarType type)
{
    return kind_of(level, fold_operator(op), FOLD_LEFT, type);
}

const FoldKind *fold_left_kind(Op op, ScalarType type)
{
    return fold_left_kind_at(vector_level(), op, type);
}

size_t fold_state_size(const FoldKind *kind)
{
    return kind->state_size;
}

size_t fold_result_size(const FoldKind *kind)
{
    return kind->result_size;
}

void fold_block_totals(const FoldKind *kind, const void *elements, size_t blocks, void *totals)
{
    kind->totals(elements, blocks, totals, NULL);
}

void fold_join_totals(const FoldKind *kind, void *state, void *totals, size_t blocks)
{
    kind->join(state, totals, blocks);
}

void fold_start(const FoldKind *kind, void *state)
{
    kind->start(state);
}

void fold_result(const FoldKind *kind, const void *state, void *out)
{
    kind->result(state, out);
}

/* ---- uniform elements: a tile is filled with them, and used again and again ---- */

enum { TILE = COMBINE_BLOCK };

typedef union Tile {
    uint64_t aligned;
    unsigned char cells[TILE * sizeof(uint64_t)];
} Tile;

static void tile_fill(const FoldKind *kind, Tile *tile, const void *cell, size_t count)
{
    movement_distribute_regular(NULL, kind->cell_size, tile->cells, cell, least(count, TILE), 1);
}

static void *result_at(const FoldKind *kind, void *out, size_t i)
{
    return (unsigned char *)out + i * kind->result_size;
}

/* Of whole blocks one is folded for all. */
static void add_uniform(const FoldKind *kind, void *state, const Tile *tile, size_t count)
{
    size_t head = least(count, kind->open(state));
    kind->add(state, tile->cells, head);
    size_t blocks = (count - head) / COMBINE_BLOCK;
    if (blocks > 0) {
        uint64_t total = 0, joined;
        kind->totals(tile->cells, 1, &total, NULL);
        for (size_t b = 0; b < blocks; b++) {
            joined = total;
            kind->join(state, &joined, 1);
        }
    }
    kind->add(state, tile->cells, count - head - blocks * COMBINE_BLOCK);
}

static void scan_uniform(const FoldKind *kind, void *state, const Tile *tile, size_t count, void *out)
{
    for (size_t done = 0; done < count; done += TILE)
        kind->scan(state, tile->cells, least(TILE, count - done), result_at(kind, out, done));
}

/* ---- one segment, by this thread ---- */

static const void *element_at(const FoldKind *kind, const void *elements, size_t i)
{
    return (const unsigned char *)elements + i * kind->cell_size;
}

/* Reductions have no `out`. */
static void fold_plain(const FoldKind *kind, void *state, const void *elements, size_t count, void *out)
{
    if (kind->scan != NULL)
        kind->scan(state, elements, count, out);
    else
        kind->add(state, elements, count);
}

static void fold_uniform(const FoldKind *kind, void *state, const Tile *tile, size_t count, void *out)
{
    if (kind->scan != NULL)
        scan_uniform(kind, state, tile, count, out);
    else
        add_uniform(kind, state, tile, count);
}

/* ---- one segment, by a team: blocks in any order, their totals joined from left to right ---- */

typedef struct Blocks {
    const FoldKind *kind;
    const void *elements;
    size_t step; /* elements from block to block: none if all are the same */
    unsigned char *totals;
    void *out; /* scans */
} Blocks;

/* Blocks that can be given to a loop at once. */
static size_t blocks_at_once(const Blocks *blocks, size_t count)
{
    return blocks->step == 0 ? 1 : count;
}

static void total_blocks(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Blocks *blocks = context;
    const FoldKind *kind = blocks->kind;
    for (size_t b = first, taken = blocks_at_once(blocks, end - first); b < end; b += taken) {
        void *out = blocks->out == NULL ? NULL : result_at(kind, blocks->out, b * COMBINE_BLOCK);
        kind->totals(element_at(kind, blocks->elements, b * blocks->step), taken, blocks->totals + b * kind->result_size, out);
    }
}

static void complete_blocks(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Blocks *blocks = context;
    const FoldKind *kind = blocks->kind;
    for (size_t b = first, taken = blocks_at_once(blocks, end - first); b < end; b += taken)
        kind->complete(blocks->totals + b * kind->result_size, element_at(kind, blocks->elements, b * blocks->step), taken,
                       result_at(kind, blocks->out, b * COMBINE_BLOCK));
}

/* Picoseconds that an element takes, from cache: reductions are as fast as it is read. */
static size_t element_cost(const FoldKind *kind)
{
    enum { SCAN_ELEMENT = 400, REDUCTION_BYTE = 15 };
    return kind->scan != NULL ? SCAN_ELEMENT : REDUCTION_BYTE * kind->cell_size;
}

static size_t block_grain(const Team *team, const FoldKind *kind)
{
    return team_grain(team, COMBINE_BLOCK * element_cost(kind));
}

static bool is_shared(const Team *team, const FoldKind *kind, size_t count)
{
    return team != NULL && team_shares(team, count / COMBINE_BLOCK, block_grain(team, kind));
}

/* Whole blocks; of uniform elements there is one block for all, and `step` is 0. */
static void fold_blocks(Team *team, const FoldKind *kind, void *state, const void *elements, size_t step, size_t count,
                        void *out)
{
    size_t grain = block_grain(team, kind);
    Blocks blocks = {kind, elements, step, team_alloc(team, count * kind->result_size), out};
    team_run(team, count, grain, total_blocks, &blocks);
    kind->join(state, blocks.totals, count);
    if (out != NULL)
        team_run(team, count, grain, complete_blocks, &blocks);
    team_give_back(team, blocks.totals);
}

/* `step` is 1, or 0 for uniform elements, of which there is a tile. */
static void fold_shared(Team *team, const FoldKind *kind, void *state, const void *elements, size_t step, size_t count,
                        void *out)
{
    size_t head = kind->open(state), blocks = (count - head) / COMBINE_BLOCK, tail = head + blocks * COMBINE_BLOCK;
    fold_plain(kind, state, elements, head, out);
    fold_blocks(team, kind, state, element_at(kind, elements, step * head), step * COMBINE_BLOCK, blocks,
                out == NULL ? NULL : result_at(kind, out, head));
    fold_plain(kind, state, element_at(kind, elements, step * tail), count - tail,
               out == NULL ? NULL : result_at(kind, out, tail));
}

/* A reduction of uniform elements is too little work to share. */
static void fold_tile(Team *team, const FoldKind *kind, void *state, const Tile *tile, size_t count, void *out)
{
    if (kind->scan != NULL && is_shared(team, kind, count))
        fold_shared(team, kind, state, tile->cells, 0, count, out);
    else
        fold_uniform(kind, state, tile, count, out);
}

static void fold_one(Team *team, const FoldKind *kind, void *state, Cells elements, size_t count, void *out)
{
    if (elements.is_uniform) {
        Tile tile;
        tile_fill(kind, &tile, elements.data, count);
        fold_tile(team, kind, state, &tile, count, out);
    } else if (is_shared(team, kind, count))
        fold_shared(team, kind, state, elements.data, 1, count, out);
    else
        fold_plain(kind, state, elements.data, count, out);
}

void fold_add(Team *team, const FoldKind *kind, void *state, Cells elements, size_t count)
{
    fold_one(team, kind, state, elements, count, NULL);
}

void fold_scan(Team *team, const FoldKind *kind, void *state, Cells elements, size_t count, void *out)
{
    fold_one(team, kind, state, elements, count, out);
}

/* ---- segments, by this thread ---- */

/* One segment longer than the tile. */
static void fold_long_uniform(const FoldKind *kind, const Tile *tile, size_t count, void *out)
{
    uint64_t state[FOLD_STATE_MAX / sizeof(uint64_t)];
    kind->start(state);
    fold_uniform(kind, state, tile, count, out);
    if (kind->scan == NULL)
        kind->result(state, out);
}

/* As many segments as one tile serves; at least one. */
static size_t segments_within(int64_t first, const int64_t *ends, size_t segments)
{
    size_t k = 1;
    while (k < segments && ends[k] - first <= TILE)
        k++;
    return k;
}

static void segments_uniform(const FoldKind *kind, const void *cell, int64_t first, const int64_t *ends, size_t segments,
                             void *out)
{
    Tile tile;
    tile_fill(kind, &tile, cell, (size_t)(ends[segments - 1] - first));
    for (size_t k = 0; k < segments;) {
        size_t taken = segments_within(first, ends + k, segments - k);
        size_t elements = (size_t)(ends[k + taken - 1] - first);
        if (elements > TILE)
            fold_long_uniform(kind, &tile, elements, out);
        else
            kind->segments(tile.cells, first, ends + k, taken, out);
        out = result_at(kind, out, kind->scan != NULL ? elements : taken);
        k += taken;
        first = ends[k - 1];
    }
}

static void fold_all_empty(const FoldKind *kind, size_t segments, void *out)
{
    if (kind->scan != NULL)
        return;
    uint64_t state[FOLD_STATE_MAX / sizeof(uint64_t)], identity;
    kind->start(state);
    kind->result(state, &identity);
    movement_distribute_regular(NULL, kind->result_size, out, &identity, segments, 1);
}

/* An element alone is its own sum, product, least and greatest; but not the count of itself. */
static bool is_itself(const FoldKind *kind)
{
    return kind->scan == NULL && kind->result_size == kind->cell_size;
}

static bool are_single(int64_t first, const int64_t *ends, size_t segments)
{
    size_t length;
    return (size_t)(ends[segments - 1] - first) == segments && movement_is_regular(NULL, first, ends, segments, &length);
}

static void fold_all(const FoldKind *kind, Cells elements, int64_t first, const int64_t *ends, size_t segments, void *out)
{
    if (segments == 0 || ends[segments - 1] == first)
        fold_all_empty(kind, segments, out);
    else if (elements.is_uniform)
        segments_uniform(kind, elements.data, first, ends, segments, out);
    else if (is_itself(kind) && are_single(first, ends, segments))
        memcpy(out, elements.data, segments * kind->cell_size);
    else
        kind->segments(elements.data, first, ends, segments, out);
}

/* Regular segments are given ends, a few at a time: writing and reading them costs little beside the fold. */
static void fold_all_regular(const FoldKind *kind, Cells elements, size_t length, size_t segments, void *out)
{
    if (length == 1 && is_itself(kind) && !elements.is_uniform) {
        memcpy(out, elements.data, segments * kind->cell_size);
        return;
    }
    enum { ENDS = 256 };
    int64_t ends[ENDS];
    for (size_t k = 0; k < least(ENDS, segments); k++)
        ends[k] = (int64_t)((k + 1) * length);
    for (size_t done = 0; done < segments; done += ENDS) {
        size_t taken = least(ENDS, segments - done);
        fold_all(kind, elements, 0, ends, taken, out);
        out = result_at(kind, out, kind->scan != NULL ? taken * length : taken);
        if (!elements.is_uniform)
            elements.data = (const unsigned char *)elements.data + taken * length * kind->cell_size;
    }
}

/* ---- segments, by a team ----
 * They are cut into pieces by points of both levels (cut.h). Who does a piece folds the segments that end in it, but for a long one: one
 * that holds the piece before it too. Such a segment is shared on its own; there are fewer of them than pieces. */

typedef struct Many {
    const FoldKind *kind;
    Cells elements;
    CutSegments segments;
    TeamPieces pieces; /* of the points */
    void *out;
} Many;

/* The segments that end in a piece. */
typedef struct Ending {
    size_t first, end;
    bool is_long; /* the first of them */
} Ending;

static Ending ending_in(const Many *many, size_t piece)
{
    size_t length = many->pieces.length, points = cut_points(&many->segments);
    Ending ending = {.first = cut_at(&many->segments, piece * length).segments,
                     .end = cut_at(&many->segments, least((piece + 1) * length, points)).segments};
    ending.is_long = piece > 0 && ending.first < ending.end &&
                     cut_start(&many->segments, ending.first) + ending.first <= (piece - 1) * length;
    return ending;
}

static Cells elements_at(const Many *many, size_t i)
{
    return (Cells){element_at(many->kind, many->elements.data, many->elements.is_uniform ? 0 : i), many->elements.is_uniform};
}

static void *output_of(const Many *many, size_t segment)
{
    return result_at(many->kind, many->out, many->kind->scan != NULL ? cut_start(&many->segments, segment) : segment);
}

static void fold_range(const Many *many, size_t first, size_t end)
{
    const CutSegments *segments = &many->segments;
    size_t start = cut_start(segments, first);
    if (segments->ends != NULL)
        fold_all(many->kind, elements_at(many, start), segments->first + (int64_t)start, segments->ends + first, end - first,
                 output_of(many, first));
    else
        fold_all_regular(many->kind, elements_at(many, start), segments->length, end - first, output_of(many, first));
}

static void fold_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Many *many = context;
    for (size_t piece = first; piece < end; piece++) {
        Ending ending = ending_in(many, piece);
        if (ending.first + ending.is_long < ending.end)
            fold_range(many, ending.first + ending.is_long, ending.end);
    }
}

static void fold_long(Team *team, const Many *many, size_t segment)
{
    uint64_t state[FOLD_STATE_MAX / sizeof(uint64_t)];
    const FoldKind *kind = many->kind;
    size_t start = cut_start(&many->segments, segment), length = cut_end(&many->segments, segment) - start;
    void *out = output_of(many, segment);
    kind->start(state);
    fold_one(team, kind, state, elements_at(many, start), length, kind->scan != NULL ? out : NULL);
    if (kind->scan == NULL)
        kind->result(state, out);
}

static void fold_many(Team *team, Many *many)
{
    enum { POINT = 400 }; /* picoseconds; a short segment is far more than its elements */
    if (many->segments.count == 0)
        return;
    size_t points = cut_points(&many->segments);
    size_t grain = team == NULL ? points : team_grain(team, POINT);
    if (team == NULL || !team_shares(team, points, grain)) {
        fold_range(many, 0, many->segments.count);
        return;
    }
    many->pieces = team_pieces(team, points, grain);
    team_run(team, many->pieces.count, 1, fold_pieces, many);
    for (size_t piece = 1; piece < many->pieces.count; piece++) {
        Ending ending = ending_in(many, piece);
        if (ending.is_long)
            fold_long(team, many, ending.first);
    }
}

void fold_segments(Team *team, const FoldKind *kind, Cells elements, int64_t first, const int64_t *ends, size_t segments,
                   void *out)
{
    fold_many(team, &(Many){kind, elements, {.first = first, .ends = ends, .count = segments}, .out = out});
}

void fold_scan_segments(Team *team, const FoldKind *kind, Cells elements, int64_t first, const int64_t *ends, size_t segments,
                        void *out)
{
    fold_many(team, &(Many){kind, elements, {.first = first, .ends = ends, .count = segments}, .out = out});
}

void fold_regular(Team *team, const FoldKind *kind, Cells elements, size_t length, size_t segments, void *out)
{
    fold_many(team, &(Many){kind, elements, {.length = length, .count = segments}, .out = out});
}

void fold_scan_regular(Team *team, const FoldKind *kind, Cells elements, size_t length, size_t segments, void *out)
{
    fold_many(team, &(Many){kind, elements, {.length = length, .count = segments}, .out = out});
}
