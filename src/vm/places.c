#include "vm/places_private.h"

#include <stdatomic.h>
#include <string.h>

static const PlacesTable *const tables[] = {
#define VECTOR_LEVEL_ROW(level) [VECTOR_##level] = &VECTOR_NAME_AT(places_table, level),
    VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW
};

const PlacesKind *places_kind(Op reduction, ScalarType type)
{
    FoldOperator operator = fold_operator(reduction);
    return operator == FOLD_OPERATOR_COUNT ? NULL : (*tables[vector_level()])[operator][type];
}

bool places_are_exact(const PlacesKind *kind)
{
    return kind->is_exact;
}

void places_start(const PlacesKind *kind, void *table, size_t count)
{
    kind->start(table, count);
}

size_t places_scan(const Placing *placing, size_t first, size_t end, void *out)
{
    return placing->kind->scan(placing, first, end, out);
}

/* ---- by a team ---- */

enum { PUT_PICOSECONDS = 1000 };   /* estimates, in one thread: a point, */
enum { JOIN_PICOSECONDS = 200 };   /* ... a place of a copy */
enum { COPY_GAP = 64 };            /* bytes between copies: members share no cache line */
enum { POINTS_PER_PLACE = 4 };     /* at least as many points for each place of all copies, which are filled and joined */
enum { POINTS_LEAST = 1 << 12 };   /* fewer are not worth copies */

/* Each member has as many copies of the table as there are lanes. */
typedef struct Copies {
    const Placing *placing;
    size_t first;
    size_t members, lanes;
    unsigned char *items;
    size_t step; /* from a copy to the next */
    bool *is_begun; /* by member */
    atomic_bool is_bad; /* an index is */
} Copies;

static unsigned char *copies_of(const Copies *copies, size_t member)
{
    return copies->items + member * copies->lanes * copies->step;
}

static void begin_copies(Copies *copies, uint32_t member)
{
    const Placing *placing = copies->placing;
    for (size_t lane = 0; lane < copies->lanes; lane++)
        placing->kind->start(copies_of(copies, member) + lane * copies->step, placing->length);
    copies->is_begun[member] = true;
}

static void put_piece(void *context, size_t first, size_t end, uint32_t member)
{
    Copies *copies = context;
    Placing placing = *copies->placing;
    if (!copies->is_begun[member])
        begin_copies(copies, member);
    placing.table = copies_of(copies, member);
    first += copies->first;
    end += copies->first;
    size_t good = copies->lanes == 1 ? placing.kind->put(&placing, first, end)
                                     : placing.kind->put_lanes(&placing, first, end, copies->step);
    if (good < end)
        atomic_store_explicit(&copies->is_bad, true, memory_order_relaxed);
}

/* Joins places [first, end) of all copies to the table. */
static void join_piece(void *context, size_t first, size_t end, uint32_t member)
{
    const Copies *copies = context;
    const Placing *placing = copies->placing;
    size_t offset = first * placing->kind->cell_size;
    (void)member;
    for (size_t copy = 0; copy < copies->members * copies->lanes; copy++)
        if (copies->is_begun[copy / copies->lanes])
            placing->kind->join((char *)placing->table + offset, copies->items + copy * copies->step + offset, end - first);
}

static size_t first_bad(const Placing *placing, size_t first, size_t end)
{
    const uint64_t *index = placing->index.data;
    while (first < end && index[cells_index(placing->index, first)] < placing->length)
        first++;
    return first;
}

static size_t put_into_copies(Team *team, Copies *copies, size_t end)
{
    const Placing *placing = copies->placing;
    size_t tables = copies->members * copies->lanes, count = end - copies->first;
    copies->step = (placing->length * placing->kind->cell_size / COPY_GAP + 2) * COPY_GAP;
    copies->items = team_alloc(team, tables * copies->step);
    copies->is_begun = team_alloc(team, copies->members * sizeof *copies->is_begun);
    memset(copies->is_begun, 0, copies->members * sizeof *copies->is_begun);
    if (copies->members == 1)
        put_piece(copies, 0, count, 0);
    else
        team_run(team, count, team_grain(team, PUT_PICOSECONDS), put_piece, copies);
    team_run(team, placing->length, team_grain(team, tables * JOIN_PICOSECONDS), join_piece, copies);
    team_give_back(team, copies->is_begun);
    team_give_back(team, copies->items);
    return atomic_load(&copies->is_bad) ? first_bad(placing, copies->first, end) : end;
}

/* How many copies pay: one for each lane of each member, or for each member, or for lanes of one thread, as far as there are points for them. */
static Copies copies_for(const Team *team, const Placing *placing, size_t first, size_t end)
{
    size_t count = end - first, worth = count / POINTS_PER_PLACE / (placing->length + 1);
    Copies copies = {.placing = placing, .first = first, .members = 1, .lanes = 1};
    if (team == NULL || !placing->kind->is_exact || count < POINTS_LEAST)
        return copies;
    if (team_shares(team, count, team_grain(team, PUT_PICOSECONDS)) && team_size(team) <= worth)
        copies.members = team_size(team);
    if (!placing->index.is_uniform && copies.members * PLACES_LANES <= worth)
        copies.lanes = PLACES_LANES;
    return copies;
}

size_t places_put(Team *team, const Placing *placing, size_t first, size_t end)
{
    Copies copies = copies_for(team, placing, first, end);
    return copies.members * copies.lanes > 1 ? put_into_copies(team, &copies, end) : placing->kind->put(placing, first, end);
}
