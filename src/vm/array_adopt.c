/* Vectors that compiled code has made in memory of its own become vectors of arrays.
 *
 * Everything that may fail for want of memory leaves what is there owned by somebody: a new array belongs to the first cell that is to refer to it, and a
 * column of references is as long as its array, with nothing in it, before arrays for it are made. */
#include "vm/array_private.h"

#include "base/least.h"

#include <string.h>

enum {
    COPY_PICOSECONDS = 100,   /* a byte, */
    VECTOR_PICOSECONDS = 5000 /* ... and to go on to the next vector */
};

/* Arrays of regions have no references (kernel/preamble/region.h). */
static bool is_of_region(const Array *array)
{
    return array != NULL && array->references == 0;
}

/* What is copied for each vector: cells from one place of its array to one of the new array, behind those of vectors before it. */
typedef struct Move {
    int64_t from, to, count;
} Move;

/* Vectors next to each other that share elements of an array go on doing so: slices are not copied more than once. */
typedef struct Run {
    const Array *array;
    int64_t start, end; /* there */
    int64_t to;         /* where it begins in the new array */
} Run;

/* Where the elements of those vectors that are copied come to lie, one behind the other; gives how many there are. `whole` is where all of them lie so already, if they do; else it has no array. */
static size_t place_elements(const MadeVectors *made, int64_t *starts, Move *moves, Run *whole)
{
    int64_t total = 0;
    Run run = {0};
    size_t runs = 0;
    for (size_t i = 0; i < made->count; i++) {
        int64_t start = made->starts[i], end = start + made->lengths[i];
        moves[i] = (Move){.to = total};
        starts[i] = start;
        if (!is_of_region(made->arrays[i]))
            continue;
        if (end == start) {
            starts[i] = 0;
            continue;
        }
        if (made->arrays[i] != run.array || start < run.start || start > run.end) {
            run = (Run){made->arrays[i], start, start, total};
            runs++;
        }
        starts[i] = run.to + (start - run.start);
        if (end <= run.end)
            continue;
        moves[i] = (Move){run.end, total, end - run.end};
        total += end - run.end;
        run.end = end;
    }
    *whole = runs == 1 ? run : (Run){0};
    return (size_t)total;
}

typedef struct Copying {
    const MadeVectors *made;
    const Move *moves;
    uint32_t leaf;
    size_t size;
    char *out;
} Copying;

/* The vector whose cells come to lie at a place of the new array. */
static size_t vector_at(const Copying *copying, size_t place)
{
    size_t first = 0, end = copying->made->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const Move *move = &copying->moves[middle];
        if ((size_t)(move->to + move->count) <= place)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Cells of the new array, whatever vectors they belong to: one may have most of them. */
static void copy_cells(void *context, size_t first, size_t end, uint32_t member)
{
    const Copying *copying = context;
    (void)member;
    for (size_t i = vector_at(copying, first); first < end; i++) {
        Move move = copying->moves[i];
        if (move.count == 0)
            continue;
        size_t stop = least((size_t)(move.to + move.count), end);
        const char *column = copying->made->arrays[i]->columns[copying->leaf].data;
        memcpy(copying->out + first * copying->size, column + ((size_t)(move.from - move.to) + first) * copying->size, (stop - first) * copying->size);
        first = stop;
    }
}

/* One column of the elements of all vectors that are copied, `total` in all. */
static void copy_column(Team *team, const MadeVectors *made, const Move *moves, uint32_t leaf, LeafType type, size_t total, void *out)
{
    Copying copying = {made, moves, leaf, leaf_size(type), out};
    size_t picoseconds = copying.size * COPY_PICOSECONDS + made->count * VECTOR_PICOSECONDS / total;
    team_run(team, total, team_grain(team, picoseconds), copy_cells, &copying);
}

/* Vectors in vectors: their descriptors are copied aside, and adopted in their turn. */
static void adopt_inner(Memory *memory, Team *team, const MadeVectors *made, const Move *moves, Array *array, uint32_t leaf)
{
    size_t total = array->count;
    Array **inner = team_alloc(team, total * sizeof(Array *));
    int64_t *inner_starts = team_alloc(team, total * sizeof(int64_t));
    copy_column(team, made, moves, leaf, LEAF_ARRAY, total, inner);
    copy_column(team, made, moves, leaf + 1, SCALAR_I64, total, inner_starts);
    MadeVectors vectors = {inner, inner_starts, array->columns[leaf + 2].data, total, made->keep, made->context};
    vectors_adopt(memory, team, array->layout->leaves[leaf].elements, &vectors, array->columns[leaf].data, array->columns[leaf + 1].data);
    array_join_cells(array, leaf);
    team_give_back(team, inner_starts);
    team_give_back(team, inner);
}

/* The columns that can be kept become those of the new array. */
static void keep_columns(const MadeVectors *made, const Run *whole, Array *array)
{
    size_t count = (size_t)(whole->end - whole->start);
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++) {
        size_t size = leaf_size(array->layout->leaves[leaf].type);
        if (array->layout->leaves[leaf].type == LEAF_ARRAY)
            continue;
        char *cells = (char *)whole->array->columns[leaf].data + (size_t)whole->start * size;
        SharedCells *kept = made->keep(made->context, cells, count * size);
        if (kept != NULL)
            array->columns[leaf] = (Column){.data = cells, .capacity = count, .shared = kept};
    }
}

static void adopt_elements(Memory *memory, Team *team, const MadeVectors *made, const Move *moves, const Run *whole, Array *array, size_t total)
{
    const Layout *layout = array->layout;
    if (whole->array != NULL)
        keep_columns(made, whole, array);
    array_append_empty(memory, array, total);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        if (layout->leaves[leaf].type != LEAF_ARRAY && array->columns[leaf].shared == NULL)
            copy_column(team, made, moves, leaf, layout->leaves[leaf].type, total, array->columns[leaf].data);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        if (layout->leaves[leaf].type == LEAF_ARRAY)
            adopt_inner(memory, team, made, moves, array, leaf);
}

void vectors_adopt(Memory *memory, Team *team, const Layout *elements, const MadeVectors *made, Array **arrays, int64_t *starts)
{
    Move *moves = team_alloc(team, made->count * sizeof(Move));
    Run whole;
    size_t total = place_elements(made, starts, moves, &whole), first = 0;
    while (first < made->count && !is_of_region(made->arrays[first]))
        first++;
    if (total > 0) {
        arrays[first] = array_new(memory, elements);
        adopt_elements(memory, team, made, moves, &whole, arrays[first], total);
    }
    team_give_back(team, moves);
    Array *array = total > 0 ? arrays[first] : NULL;
    for (size_t i = 0; i < made->count; i++) {
        if (array != NULL && i == first)
            continue; /* has its reference */
        arrays[i] = is_of_region(made->arrays[i]) ? array : made->arrays[i];
        if (arrays[i] != NULL)
            arrays[i]->references++;
    }
}
