#include "vm/places_private.h"

#include "base/least.h"

#include <stdatomic.h>

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

/* ---- copies ---- */

enum {
    PUT_PICOSECONDS = 1000, /* estimates, in one thread: a point, */
    JOIN_PICOSECONDS = 200, /* ... a place of a copy */
};
enum {
    COPY_GAP = 64,             /* bytes between copies: members share no cache line */
    POINTS_PER_PLACE = 4,      /* at least as many points for each place of all copies, which are filled and joined */
    POINTS_LEAST = 1 << 12,    /* fewer are not worth copies */
    LANES_BYTES = 256 << 10,   /* of a member's copies: they gain nothing once they leave the nearer caches */
    COPIES_BYTES = 8 << 20,    /* of all copies */
};

static size_t size_of_copy(const PlacesKind *kind, size_t length)
{
    return (length * kind->cell_size / COPY_GAP + 2) * COPY_GAP;
}

/* Whether so many copies are worth the points that there were, and not too large. */
static bool pays(const PlacesCopies *copies, const Placing *placing, size_t count, size_t bytes)
{
    return placing->length + 1 <= copies->points / POINTS_PER_PLACE / count &&
           size_of_copy(placing->kind, placing->length) <= bytes / count;
}

/* Begins copies if they pay: one for each lane of each member, or for each member, or for lanes of one thread. */
static void begin_copies(Vm *vm, PlacesCopies *copies, const Placing *placing, size_t count)
{
    Team *team = vm->team;
    if (!placing->kind->is_exact || count < POINTS_LEAST)
        return;
    bool is_shared = team_shares(team, count, team_grain(team, PUT_PICOSECONDS)) && pays(copies, placing, team_size(team), COPIES_BYTES);
    copies->members = is_shared ? team_size(team) : 1;
    bool has_lanes = !placing->index.is_uniform && pays(copies, placing, PLACES_LANES, LANES_BYTES) &&
                     pays(copies, placing, PLACES_LANES * copies->members, COPIES_BYTES);
    copies->lanes = has_lanes ? PLACES_LANES : 1;
    if (copies->members * copies->lanes == 1)
        return;
    copies->length = placing->length + placing->length / 2;
    copies->step = size_of_copy(placing->kind, copies->length);
    copies->items = memory_resize(vm->memory, NULL, 0, copies->members * copies->lanes * copies->step);
    for (size_t copy = 0; copy < copies->members * copies->lanes; copy++)
        placing->kind->start(copies->items + copy * copies->step, copies->length);
}

void places_forget(Memory *memory, PlacesCopies *copies)
{
    if (copies->items != NULL)
        memory_free(memory, copies->items, copies->members * copies->lanes * copies->step);
    *copies = (PlacesCopies){0};
}

/* ---- putting ---- */

typedef struct Putting {
    const PlacesCopies *copies;
    const Placing *placing;
    size_t first;
    atomic_bool is_bad; /* an index is */
} Putting;

static void put_piece(void *context, size_t first, size_t end, uint32_t member)
{
    Putting *putting = context;
    const PlacesCopies *copies = putting->copies;
    Placing placing = *putting->placing;
    placing.table = copies->items + member * copies->lanes * copies->step;
    first += putting->first;
    end += putting->first;
    size_t good = copies->lanes == 1 || placing.index.is_uniform ? placing.kind->put(&placing, first, end)
                                                                 : placing.kind->put_lanes(&placing, first, end, copies->step);
    if (good < end)
        atomic_store_explicit(&putting->is_bad, true, memory_order_relaxed);
}

static size_t first_bad(const Placing *placing, size_t first, size_t end)
{
    const uint64_t *index = placing->index.data;
    while (first < end && index[cells_index(placing->index, first)] < placing->length)
        first++;
    return first;
}

static size_t put_into_copies(Team *team, const PlacesCopies *copies, const Placing *placing, size_t first, size_t end)
{
    Putting putting = {.copies = copies, .placing = placing, .first = first};
    if (copies->members == 1)
        put_piece(&putting, 0, end - first, 0);
    else
        team_run(team, end - first, team_grain(team, PUT_PICOSECONDS), put_piece, &putting);
    return atomic_load(&putting.is_bad) ? first_bad(placing, first, end) : end;
}

size_t places_put(Vm *vm, PlacesCopies *copies, const Placing *placing, size_t first, size_t end)
{
    if (copies->items != NULL && placing->length > copies->length)
        places_join(vm, copies, placing);
    copies->points += end - first;
    if (copies->items == NULL)
        begin_copies(vm, copies, placing, end - first);
    return copies->items != NULL ? put_into_copies(vm->team, copies, placing, first, end) : placing->kind->put(placing, first, end);
}

/* ---- joining ---- */

/* Places [first, end) of all copies. */
static void join_piece(void *context, size_t first, size_t end, uint32_t member)
{
    const Putting *putting = context;
    const PlacesCopies *copies = putting->copies;
    const Placing *placing = putting->placing;
    size_t offset = first * placing->kind->cell_size;
    (void)member;
    for (size_t copy = 0; copy < copies->members * copies->lanes; copy++)
        placing->kind->join((char *)placing->table + offset, copies->items + copy * copies->step + offset, end - first);
}

void places_join(Vm *vm, PlacesCopies *copies, const Placing *placing)
{
    if (copies->items != NULL) {
        Putting putting = {.copies = copies, .placing = placing};
        size_t grain = team_grain(vm->team, copies->members * copies->lanes * JOIN_PICOSECONDS);
        team_run(vm->team, least(placing->length, copies->length), grain, join_piece, &putting);
    }
    places_forget(vm->memory, copies);
}
