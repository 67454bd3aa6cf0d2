/* Vectors that compiled code has made in memory of its own become vectors of arrays.
 *
 * Everything that may fail for want of memory leaves what is there owned by somebody: a new array belongs to the first cell that is to refer to it, and a
 * column of references is as long as its array, with nothing in it, before arrays for it are made. */
#include "vm/array_private.h"

#include <string.h>

enum { COPY_PICOSECONDS = 100 }; /* a byte */

/* Arrays of regions have no references (kernel/preamble/region.h). */
static bool is_of_region(const Array *array)
{
    return array != NULL && array->references == 0;
}

/* Where the elements of those vectors that are copied come to lie, one behind the other; gives how many there are. */
static size_t place_elements(const MadeVectors *made, int64_t *starts)
{
    size_t total = 0;
    for (size_t i = 0; i < made->count; i++) {
        bool is_copied = is_of_region(made->arrays[i]);
        starts[i] = is_copied ? (int64_t)total : made->starts[i];
        total += is_copied ? (size_t)made->lengths[i] : 0;
    }
    return total;
}

typedef struct Copying {
    const MadeVectors *made;
    const int64_t *starts;
    uint32_t leaf;
    size_t size;
    char *out;
} Copying;

static void copy_vectors(void *context, size_t first, size_t end, uint32_t member)
{
    const Copying *copying = context;
    const MadeVectors *made = copying->made;
    (void)member;
    for (size_t i = first; i < end; i++) {
        if (!is_of_region(made->arrays[i]) || made->lengths[i] == 0)
            continue;
        const char *column = made->arrays[i]->columns[copying->leaf].data;
        memcpy(copying->out + (size_t)copying->starts[i] * copying->size, column + (size_t)made->starts[i] * copying->size,
               (size_t)made->lengths[i] * copying->size);
    }
}

/* One column of the elements of all vectors that are copied, `total` in all. */
static void copy_column(Team *team, const MadeVectors *made, const int64_t *starts, uint32_t leaf, LeafType type, size_t total, void *out)
{
    Copying copying = {made, starts, leaf, leaf_size(type), out};
    size_t bytes = total * copying.size / made->count + 1; /* of a vector, about */
    team_run(team, made->count, team_grain(team, bytes * COPY_PICOSECONDS), copy_vectors, &copying);
}

/* Vectors in vectors: their descriptors are copied aside, and adopted in their turn. */
static void adopt_inner(Memory *memory, Team *team, const MadeVectors *made, const int64_t *starts, Array *array, uint32_t leaf)
{
    size_t total = array->count;
    Array **inner = team_alloc(team, total * sizeof(Array *));
    int64_t *inner_starts = team_alloc(team, total * sizeof(int64_t));
    copy_column(team, made, starts, leaf, LEAF_ARRAY, total, inner);
    copy_column(team, made, starts, leaf + 1, SCALAR_I64, total, inner_starts);
    MadeVectors vectors = {inner, inner_starts, array->columns[leaf + 2].data, total};
    vectors_adopt(memory, team, array->layout->leaves[leaf].elements, &vectors, array->columns[leaf].data, array->columns[leaf + 1].data);
    array_join_cells(array, leaf);
    team_give_back(team, inner_starts);
    team_give_back(team, inner);
}

static void adopt_elements(Memory *memory, Team *team, const MadeVectors *made, const int64_t *starts, Array *array, size_t total)
{
    const Layout *layout = array->layout;
    array_append_empty(memory, array, total);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        if (layout->leaves[leaf].type != LEAF_ARRAY)
            copy_column(team, made, starts, leaf, layout->leaves[leaf].type, total, array->columns[leaf].data);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        if (layout->leaves[leaf].type == LEAF_ARRAY)
            adopt_inner(memory, team, made, starts, array, leaf);
}

void vectors_adopt(Memory *memory, Team *team, const Layout *elements, const MadeVectors *made, Array **arrays, int64_t *starts)
{
    size_t total = place_elements(made, starts), first = 0;
    while (first < made->count && !is_of_region(made->arrays[first]))
        first++;
    if (total > 0) {
        arrays[first] = array_new(memory, elements);
        adopt_elements(memory, team, made, starts, arrays[first], total);
    }
    Array *array = total > 0 ? arrays[first] : NULL;
    for (size_t i = 0; i < made->count; i++) {
        if (array != NULL && i == first)
            continue; /* has its reference */
        arrays[i] = is_of_region(made->arrays[i]) ? array : made->arrays[i];
        if (arrays[i] != NULL)
            arrays[i]->references++;
    }
}
