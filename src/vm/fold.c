/* The interface of folds: finds the loops for an operation, and gives them plain segments where elements are uniform or segments regular. */
#include "vm/fold_private.h"

#include "vm/movement.h"

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

const FoldKind *fold_kind_at(VectorLevel level, Op op, ScalarType type)
{
    switch ((int)op) {
#define FOLD_OPERATOR(OPERATOR, reduction, scan, inclusive)                                                            \
    case OP_##reduction: return kind_of(level, FOLD_##OPERATOR, FOLD_REDUCTION, type);                                 \
    case OP_##scan: return kind_of(level, FOLD_##OPERATOR, FOLD_SCAN, type);                                           \
    case OP_##inclusive: return kind_of(level, FOLD_##OPERATOR, FOLD_SCAN_INCLUSIVE, type);
#include "vm/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_COUNT_TRUE: return kind_of(level, FOLD_COUNT, FOLD_REDUCTION, type);
    }
    return NULL;
}

const FoldKind *fold_kind(Op op, ScalarType type)
{
    return fold_kind_at(vector_level(), op, type);
}

size_t fold_state_size(const FoldKind *kind)
{
    return kind->state_size;
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

enum { TILE = 1024 };

typedef union Tile {
    uint64_t aligned;
    unsigned char cells[TILE * sizeof(uint64_t)];
} Tile;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void tile_fill(const FoldKind *kind, Tile *tile, const void *cell, size_t count)
{
    movement_distribute_regular(kind->cell_size, tile->cells, cell, least(count, TILE), 1);
}

static void *result_at(const FoldKind *kind, void *out, size_t i)
{
    return (unsigned char *)out + i * kind->result_size;
}

static void add_uniform(const FoldKind *kind, void *state, const Tile *tile, size_t count)
{
    for (size_t done = 0; done < count; done += TILE)
        kind->add(state, tile->cells, least(TILE, count - done));
}

static void scan_uniform(const FoldKind *kind, void *state, const Tile *tile, size_t count, void *out)
{
    for (size_t done = 0; done < count; done += TILE)
        kind->scan(state, tile->cells, least(TILE, count - done), result_at(kind, out, done));
}

void fold_add(const FoldKind *kind, void *state, Cells elements, size_t count)
{
    if (!elements.is_uniform) {
        kind->add(state, elements.data, count);
        return;
    }
    Tile tile;
    tile_fill(kind, &tile, elements.data, count);
    add_uniform(kind, state, &tile, count);
}

void fold_scan(const FoldKind *kind, void *state, Cells elements, size_t count, void *out)
{
    if (!elements.is_uniform) {
        kind->scan(state, elements.data, count, out);
        return;
    }
    Tile tile;
    tile_fill(kind, &tile, elements.data, count);
    scan_uniform(kind, state, &tile, count, out);
}

/* One segment longer than the tile. */
static void fold_long_uniform(const FoldKind *kind, const Tile *tile, size_t count, void *out)
{
    uint64_t state[FOLD_STATE_MAX / sizeof(uint64_t)];
    kind->start(state);
    if (kind->scan != NULL) {
        scan_uniform(kind, state, tile, count, out);
        return;
    }
    add_uniform(kind, state, tile, count);
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

/* ---- segments ---- */

static void fold_all_empty(const FoldKind *kind, size_t segments, void *out)
{
    if (kind->scan != NULL)
        return;
    uint64_t state[FOLD_STATE_MAX / sizeof(uint64_t)], identity;
    kind->start(state);
    kind->result(state, &identity);
    movement_distribute_regular(kind->result_size, out, &identity, segments, 1);
}

static void fold_all(const FoldKind *kind, Cells elements, int64_t first, const int64_t *ends, size_t segments, void *out)
{
    if (segments == 0 || ends[segments - 1] == first)
        fold_all_empty(kind, segments, out);
    else if (elements.is_uniform)
        segments_uniform(kind, elements.data, first, ends, segments, out);
    else
        kind->segments(elements.data, first, ends, segments, out);
}

void fold_segments(const FoldKind *kind, Cells elements, int64_t first, const int64_t *ends, size_t segments, void *out)
{
    fold_all(kind, elements, first, ends, segments, out);
}

void fold_scan_segments(const FoldKind *kind, Cells elements, int64_t first, const int64_t *ends, size_t segments,
                        void *out)
{
    fold_all(kind, elements, first, ends, segments, out);
}

/* Regular segments are given ends, a few at a time: writing and reading them costs little beside the fold. */
static void fold_all_regular(const FoldKind *kind, Cells elements, size_t length, size_t segments, void *out)
{
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

void fold_regular(const FoldKind *kind, Cells elements, size_t length, size_t segments, void *out)
{
    fold_all_regular(kind, elements, length, segments, out);
}

void fold_scan_regular(const FoldKind *kind, Cells elements, size_t length, size_t segments, void *out)
{
    fold_all_regular(kind, elements, length, segments, out);
}
