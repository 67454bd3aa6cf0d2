/* The interface of movements: finds the loops for a size of cells, and shares what is large among a team. */
#include "vm/movement_private.h"
#include "base/bypass.h"
#include "base/least.h"

#include "vm/team_check.h"

#include <stdatomic.h>
#include <string.h>

static const MovementLoops *const loops[] = {
#define VECTOR_LEVEL_ROW(level) [VECTOR_##level] = &VECTOR_NAME_AT(movement_loops, level),
    VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW
};

const MovementLoops *movement_loops_at(VectorLevel level)
{
    return loops[level];
}

static const MovementLoops *best(void)
{
    return loops[vector_level()];
}

/* ---- sharing ---- */

/* Picoseconds that a point takes, from cache. */
enum {
    COUNT_POINT = 30,
    PROGRESSION_POINT = 150,
    RUNNING_POINT = 300,
    SEGMENT_POINT = 300,
    PACK_POINT = 400,
    SELECT_POINT = 200,
    MERGE_POINT = 700,
    TRANSPOSE_POINT = 1000,
};

static bool is_shared(const Team *team, size_t count, size_t point)
{
    return team != NULL && team_shares(team, count, team_grain(team, point));
}

/* What is cut beforehand, since each piece must know how much those before it take. */
typedef struct Pieces {
    TeamPieces pieces;
    size_t count; /* of points */
    size_t *before; /* by piece: at first what it takes itself */
} Pieces;

static Pieces pieces_new(Team *team, size_t count, size_t point)
{
    TeamPieces pieces = team_pieces(team, count, team_grain(team, point));
    return (Pieces){pieces, count, team_alloc(team, pieces.count * sizeof(size_t))};
}

static size_t piece_start(const Pieces *pieces, size_t piece)
{
    return piece * pieces->pieces.length;
}

static size_t piece_size(const Pieces *pieces, size_t piece)
{
    return least(pieces->pieces.length, pieces->count - piece_start(pieces, piece));
}

/* Gives the total. */
static size_t pieces_add_up(Pieces *pieces)
{
    size_t total = 0;
    for (size_t i = 0; i < pieces->pieces.count; i++) {
        size_t own = pieces->before[i];
        pieces->before[i] = total;
        total += own;
    }
    return total;
}

/* ---- flags ---- */

typedef struct Flags {
    const bool *flags;
    bool keep;
    _Atomic size_t total;
} Flags;

static void count_part(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    Flags *flags = context;
    size_t count = best()->count(flags->flags + first, end - first, flags->keep);
    atomic_fetch_add_explicit(&flags->total, count, memory_order_relaxed);
}

size_t movement_count(Team *team, const bool *flags, size_t count, bool keep)
{
    if (!is_shared(team, count, COUNT_POINT))
        return best()->count(flags, count, keep);
    Flags shared = {.flags = flags, .keep = keep};
    team_run(team, count, team_grain(team, COUNT_POINT), count_part, &shared);
    return atomic_load(&shared.total);
}

typedef struct Packing {
    Pieces pieces;
    const bool *flags;
    bool keep;
    size_t size; /* of a cell; pack */
    const unsigned char *from;
    unsigned char *out;
    int64_t *running; /* running counts, */
    int64_t start;    /* ... that begin here */
} Packing;

static void count_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    Packing *packing = context;
    const Pieces *pieces = &packing->pieces;
    for (size_t i = first; i < end; i++)
        pieces->before[i] = best()->count(packing->flags + piece_start(pieces, i), piece_size(pieces, i), packing->keep);
}

static void pack_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    Packing *packing = context;
    const Pieces *pieces = &packing->pieces;
    size_t size = packing->size;
    for (size_t i = first; i < end; i++) {
        size_t start = piece_start(pieces, i);
        best()->sizes[size].pack(packing->out + size * pieces->before[i], packing->from + size * start, packing->flags + start,
                                 piece_size(pieces, i), packing->keep);
    }
}

static void count_pieces_running(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    Packing *packing = context;
    const Pieces *pieces = &packing->pieces;
    for (size_t i = first; i < end; i++) {
        size_t start = piece_start(pieces, i);
        best()->count_running(packing->running + start, packing->flags + start, piece_size(pieces, i), packing->keep,
                              packing->start + (int64_t)pieces->before[i]);
    }
}

/* Counts flags by pieces, then has the pieces done; gives how many are kept. */
static size_t packing_run(Team *team, Packing *packing, TeamWork *work)
{
    Pieces *pieces = &packing->pieces;
    team_run(team, pieces->pieces.count, 1, count_pieces, packing);
    size_t total = pieces_add_up(pieces);
    team_run(team, pieces->pieces.count, 1, work, packing);
    team_give_back(team, pieces->before);
    return total;
}

size_t movement_pack(Team *team, size_t size, void *out, const void *from, const bool *flags, size_t count, bool keep)
{
    if (size == 0)
        return movement_count(team, flags, count, keep);
    if (!is_shared(team, count, PACK_POINT))
        return best()->sizes[size].pack(out, from, flags, count, keep);
    Packing packing = {.flags = flags, .keep = keep, .size = size, .from = from, .out = out};
    packing.pieces = pieces_new(team, count, PACK_POINT);
    return packing_run(team, &packing, pack_pieces);
}

void movement_count_running(Team *team, int64_t *running, const bool *flags, size_t count, bool keep, int64_t start)
{
    if (!is_shared(team, count, RUNNING_POINT)) {
        best()->count_running(running, flags, count, keep, start);
        return;
    }
    Packing packing = {.flags = flags, .keep = keep, .running = running, .start = start};
    packing.pieces = pieces_new(team, count, RUNNING_POINT);
    packing_run(team, &packing, count_pieces_running);
}

/* ---- progressions and ends ---- */

typedef struct Progression {
    int64_t *out, first, step;
} Progression;

static int64_t progression_at(const Progression *progression, size_t i)
{
    return (int64_t)((uint64_t)progression->first + (uint64_t)progression->step * i);
}

static void progress_part(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Progression *progression = context;
    best()->progression(progression->out + first, progression_at(progression, first), progression->step, end - first);
}

typedef struct Following {
    const int64_t *numbers;
    int64_t first, step;
} Following;

static size_t follow_part(const void *context, size_t first, size_t end)
{
    const Following *following = context;
    int64_t start = (int64_t)((uint64_t)following->first + first * (uint64_t)following->step);
    return first + best()->follow(following->numbers + first, start, following->step, end - first);
}

/* A little is looked at by one thread: that is enough where they soon differ. */
static bool are_progression(Team *team, const int64_t *numbers, int64_t first, int64_t step, size_t count)
{
    enum { LITTLE = 1024 };
    size_t little = count < LITTLE ? count : LITTLE;
    return best()->follow(numbers, first, step, little) == little &&
           team_check(team, count, PROGRESSION_POINT, follow_part, &(Following){numbers, first, step}) == count;
}

bool movement_are_equal(Team *team, const int64_t *numbers, size_t count)
{
    return are_progression(team, numbers, numbers[0], 0, count);
}

bool movement_is_regular(Team *team, int64_t first, const int64_t *ends, size_t segments, size_t *length)
{
    *length = (size_t)(ends[0] - first);
    return (uint64_t)(ends[segments - 1] - first) == *length * segments &&
           are_progression(team, ends, ends[0], (int64_t)*length, segments);
}

void movement_progression(Team *team, int64_t *out, int64_t first, int64_t step, size_t count)
{
    if (!is_shared(team, count, PROGRESSION_POINT))
        best()->progression(out, first, step, count);
    else
        team_run(team, count, team_grain(team, PROGRESSION_POINT), progress_part, &(Progression){out, first, step});
}

typedef struct Summing {
    Pieces pieces;
    int64_t *ends;
    const int64_t *lengths;
    int64_t start, limit;
} Summing;

static int64_t length_at(const Summing *summing, size_t i)
{
    return summing->lengths[i] < summing->limit ? summing->lengths[i] : summing->limit;
}

static void sum_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    Summing *summing = context;
    const Pieces *pieces = &summing->pieces;
    for (size_t i = first; i < end; i++) {
        size_t start = piece_start(pieces, i), sum = 0;
        for (size_t j = start; j < start + piece_size(pieces, i); j++)
            sum += (size_t)length_at(summing, j);
        pieces->before[i] = sum;
    }
}

/* Sums wrap: who lets them is not to use them. */
static void sum_running(const Summing *summing, size_t first, size_t count, uint64_t total)
{
    for (size_t i = first; i < first + count; i++)
        summing->ends[i] = (int64_t)(total += (uint64_t)length_at(summing, i));
}

static void sum_pieces_running(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    Summing *summing = context;
    const Pieces *pieces = &summing->pieces;
    for (size_t i = first; i < end; i++)
        sum_running(summing, piece_start(pieces, i), piece_size(pieces, i), (uint64_t)summing->start + pieces->before[i]);
}

void movement_ends(Team *team, int64_t *ends, Cells lengths, size_t count, int64_t start, int64_t limit)
{
    Summing summing = {.ends = ends, .lengths = lengths.data, .start = start, .limit = limit};
    if (count == 0)
        return;
    if (lengths.is_uniform) {
        int64_t step = length_at(&summing, 0);
        movement_progression(team, ends, (int64_t)((uint64_t)start + (uint64_t)step), step, count);
        return;
    }
    if (!is_shared(team, count, RUNNING_POINT)) {
        sum_running(&summing, 0, count, (uint64_t)start);
        return;
    }
    summing.pieces = pieces_new(team, count, RUNNING_POINT);
    team_run(team, summing.pieces.pieces.count, 1, sum_pieces, &summing);
    pieces_add_up(&summing.pieces);
    team_run(team, summing.pieces.pieces.count, 1, sum_pieces_running, &summing);
    team_give_back(team, summing.pieces.before);
}

/* ---- segments: cut anywhere, in the middle of one too ---- */

typedef struct Spread {
    CutSegments segments;
    size_t size;
    const unsigned char *from; /* null: indices */
    unsigned char *out;
} Spread;

/* Positions [start, end) of one segment. */
static void spread_within(const Spread *spread, size_t segment, size_t start, size_t end)
{
    size_t size = spread->size;
    if (start >= end)
        return;
    if (spread->from == NULL)
        best()->progression((int64_t *)(void *)spread->out + start,
                            (int64_t)(start - cut_start(&spread->segments, segment)), 1, end - start);
    else
        best()->sizes[size].distribute_regular(spread->out + size * start, spread->from + size * segment, end - start, 1);
}

static void index_regular(int64_t *out, size_t length, size_t segments)
{
    enum { PATTERN = 512 }; /* elements that are copied at once: in the first-level cache */
    size_t count = length * segments, written = count < length ? count : length;
    if (length == 1) {
        memset(out, 0, count * sizeof *out);
        return;
    }
    best()->progression(out, 0, 1, written);
    while (written < count) { /* what is there, whole segments, once more */
        size_t pattern = written < PATTERN || length > PATTERN ? written : PATTERN / length * length;
        size_t more = count - written < pattern ? count - written : pattern;
        memcpy(out + written, out, more * sizeof *out);
        written += more;
    }
}

static void spread_whole(const Spread *spread, size_t first, size_t end)
{
    const CutSegments *segments = &spread->segments;
    size_t start = cut_start(segments, first), size = spread->size, count = end - first;
    unsigned char *out = spread->out + size * start;
    const unsigned char *from = spread->from == NULL ? NULL : spread->from + size * first;
    if (segments->ends == NULL && from == NULL)
        index_regular((int64_t *)(void *)out, segments->length, count);
    else if (segments->ends == NULL)
        best()->sizes[size].distribute_regular(out, from, segments->length, count);
    else if (from == NULL)
        best()->local_index((int64_t *)(void *)out, segments->first + (int64_t)start, segments->ends + first, count);
    else
        best()->sizes[size].distribute(out, from, segments->first + (int64_t)start, segments->ends + first, count);
}

static void spread_part(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Spread *spread = context;
    Cut from = cut_at(&spread->segments, first), to = cut_at(&spread->segments, end);
    if (from.segments == to.segments) {
        spread_within(spread, from.segments, from.elements, to.elements);
        return;
    }
    spread_within(spread, from.segments, from.elements, cut_end(&spread->segments, from.segments));
    spread_whole(spread, from.segments + 1, to.segments);
    spread_within(spread, to.segments, cut_start(&spread->segments, to.segments), to.elements);
}

static void spread_run(Team *team, const Spread *spread)
{
    if (spread->segments.count == 0 || spread->size == 0)
        return;
    size_t points = cut_points(&spread->segments);
    if (is_shared(team, points, SEGMENT_POINT))
        team_run(team, points, team_grain(team, SEGMENT_POINT), spread_part, (void *)spread);
    else
        spread_whole(spread, 0, spread->segments.count);
}

void movement_distribute(Team *team, size_t size, void *out, const void *from, int64_t first, const int64_t *ends,
                         size_t segments)
{
    spread_run(team, &(Spread){{.first = first, .ends = ends, .count = segments}, size, from, out});
}

void movement_distribute_regular(Team *team, size_t size, void *out, const void *from, size_t length, size_t segments)
{
    spread_run(team, &(Spread){{.length = length, .count = segments}, size, from, out});
}

void movement_local_index(Team *team, int64_t *out, int64_t first, const int64_t *ends, size_t segments)
{
    spread_run(team, &(Spread){{.first = first, .ends = ends, .count = segments}, sizeof *out, NULL, (void *)out});
}

void movement_local_index_regular(Team *team, int64_t *out, size_t length, size_t segments)
{
    spread_run(team, &(Spread){{.length = length, .count = segments}, sizeof *out, NULL, (void *)out});
}

void movement_copy(Team *team, size_t size, void *out, Cells from, size_t count)
{
    movement_distribute_regular(team, size, out, from.data, from.is_uniform ? count : 1, from.is_uniform ? 1 : count);
}

/* ---- shift: a copy, then the fills over it ---- */

typedef struct Shifting {
    CutSegments segments;
    size_t size;
    Cells from, fills;
    bool is_next;
    unsigned char *out;
} Shifting;

/* Positions [start, end) of all. */
static void shift_cells(const Shifting *shifting, size_t start, size_t end)
{
    size_t size = shifting->size, last = cut_start(&shifting->segments, shifting->segments.count) - 1;
    size_t first = !shifting->is_next && start == 0 ? 1 : start, source = shifting->is_next ? first + 1 : first - 1;
    end = shifting->is_next ? least(end, last) : end;
    if (first >= end)
        return;
    Cells from = {(const unsigned char *)shifting->from.data + size * cells_index(shifting->from, source), shifting->from.is_uniform};
    movement_copy(NULL, size, shifting->out + size * first, from, end - first);
}

static void shift_part(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Shifting *shifting = context;
    const CutSegments *segments = &shifting->segments;
    size_t size = shifting->size;
    Cut from = cut_at(segments, first), to = cut_at(segments, end);
    shift_cells(shifting, from.elements, to.elements);
    for (size_t k = from.segments; k <= to.segments && k < segments->count; k++) {
        size_t start = cut_start(segments, k), stop = cut_end(segments, k), place = shifting->is_next ? stop - 1 : start;
        if (start < stop && place >= from.elements && place < to.elements)
            memcpy(shifting->out + size * place,
                   (const unsigned char *)shifting->fills.data + size * cells_index(shifting->fills, k), size);
    }
}

void movement_shift(Team *team, size_t size, void *out, Cells from, Cells fills, CutSegments segments, bool is_next)
{
    Shifting shifting = {segments, size, from, fills, is_next, out};
    size_t points = cut_points(&segments);
    if (size == 0 || points == segments.count)
        return;
    if (is_shared(team, points, SEGMENT_POINT))
        team_run(team, points, team_grain(team, SEGMENT_POINT), shift_part, &shifting);
    else
        shift_part(&shifting, 0, points, 0);
}

/* ---- merge: how many each piece takes of each source is counted first ---- */

typedef struct Merging {
    TeamPieces pieces;
    size_t count, size, ways;
    const bool *flags; /* the selector, if there are two ways; else */
    const int32_t *selector;
    const Cells *sources;
    unsigned char *out;
    size_t *taken; /* by piece and source: at first what it takes itself */
} Merging;

/* Counts of a piece, in cache lines of its own. */
static size_t taken_stride(const Merging *merging)
{
    enum { LINE = 64 / sizeof(size_t) };
    return (merging->ways + LINE - 1) / LINE * LINE;
}

static size_t *taken_by(const Merging *merging, size_t piece)
{
    return merging->taken + piece * taken_stride(merging);
}

/* Cells of no bytes are only counted. */
static void count_ways(const Merging *merging, size_t start, size_t count, size_t *taken)
{
    if (merging->flags != NULL) {
        size_t second = best()->count(merging->flags + start, count, true);
        taken[0] += count - second;
        taken[1] += second;
        return;
    }
    for (size_t i = start; i < start + count; i++)
        taken[merging->selector[i]]++;
}

static void merge_range(const Merging *merging, size_t start, size_t count, size_t *taken)
{
    const MovementSize *sized = &best()->sizes[merging->size];
    unsigned char *out = merging->out + merging->size * start;
    if (merging->size == 0)
        count_ways(merging, start, count, taken);
    else if (merging->flags != NULL)
        sized->merge_bool(out, merging->flags + start, count, merging->sources, taken);
    else
        sized->merge_int32(out, merging->selector + start, count, merging->sources, taken);
}

static size_t merging_piece(const Merging *merging, size_t piece)
{
    size_t start = piece * merging->pieces.length;
    return least(merging->pieces.length, merging->count - start);
}

static void count_merging(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Merging *merging = context;
    for (size_t i = first; i < end; i++) {
        size_t *taken = taken_by(merging, i);
        memset(taken, 0, merging->ways * sizeof *taken);
        count_ways(merging, i * merging->pieces.length, merging_piece(merging, i), taken);
    }
}

static void merge_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Merging *merging = context;
    for (size_t i = first; i < end; i++)
        merge_range(merging, i * merging->pieces.length, merging_piece(merging, i), taken_by(merging, i));
}

/* What each piece takes becomes where it begins; `taken` goes on. */
static void add_up_ways(const Merging *merging, size_t *taken)
{
    for (size_t i = 0; i < merging->pieces.count; i++)
        for (size_t way = 0; way < merging->ways; way++) {
            size_t *own = &taken_by(merging, i)[way], before = taken[way];
            taken[way] += *own;
            *own = before;
        }
}

static void merge_run(Team *team, Merging *merging, size_t *taken)
{
    size_t ways = merging->ways;
    size_t grain = team == NULL ? 0 : team_grain(team, MERGE_POINT);
    grain = grain > ways ? grain : ways; /* a piece is at least worth its counts */
    if (team == NULL || !team_shares(team, merging->count, grain)) {
        merge_range(merging, 0, merging->count, taken);
        return;
    }
    merging->pieces = team_pieces(team, merging->count, grain);
    merging->taken = team_alloc(team, merging->pieces.count * taken_stride(merging) * sizeof *taken);
    team_run(team, merging->pieces.count, 1, count_merging, merging);
    add_up_ways(merging, taken);
    if (merging->size > 0)
        team_run(team, merging->pieces.count, 1, merge_pieces, merging);
    team_give_back(team, merging->taken);
}

void movement_merge_bool(Team *team, size_t size, void *out, const bool *selector, size_t count, const Cells sources[2],
                         size_t taken[2])
{
    merge_run(team, &(Merging){.count = count, .size = size, .ways = 2, .flags = selector, .sources = sources, .out = out}, taken);
}

void movement_merge_int32(Team *team, size_t size, void *out, const int32_t *selector, size_t count, const Cells *sources,
                          size_t *taken, size_t source_count)
{
    merge_run(team,
              &(Merging){.count = count, .size = size, .ways = source_count, .selector = selector, .sources = sources, .out = out},
              taken);
}

/* ---- select ---- */

typedef struct Selecting {
    size_t size;
    const bool *selector;
    const Cells *sources;
    unsigned char *out;
} Selecting;

static void select_part(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    const Selecting *selecting = context;
    size_t size = selecting->size;
    Cells sources[2];
    for (size_t s = 0; s < 2; s++) {
        sources[s] = selecting->sources[s];
        sources[s].data = (const unsigned char *)sources[s].data + size * cells_index(sources[s], first);
    }
    best()->sizes[size].select(selecting->out + size * first, selecting->selector + first, end - first, sources);
}

void movement_select(Team *team, size_t size, void *out, const bool *selector, size_t count, const Cells sources[2])
{
    if (size == 0)
        return;
    if (is_shared(team, count, SELECT_POINT))
        team_run(team, count, team_grain(team, SELECT_POINT), select_part, &(Selecting){size, selector, sources, out});
    else
        best()->sizes[size].select(out, selector, count, sources);
}

/* ---- transpose ---- */

enum { TRANSPOSE_COLUMNS = 64 }; /* that are done together, from the first row to the last */

typedef struct Transposing {
    size_t size, width;
    MovementMatrix matrix;
    char *out;
} Transposing;

static void transpose_columns(void *context, size_t first, size_t end, uint32_t member)
{
    const Transposing *turning = context;
    (void)member;
    for (size_t i = first; i < end; i++)
        best()->sizes[turning->size].transpose(turning->out, &turning->matrix, i * TRANSPOSE_COLUMNS, least((i + 1) * TRANSPOSE_COLUMNS, turning->width));
}

void movement_transpose(Team *team, size_t size, void *out, const MovementRow *rows, size_t height, size_t width)
{
    size_t bytes = height * size;
    Transposing turning = {
        .size = size,
        .width = width,
        .matrix = {.rows = rows,
                   .height = height,
                   .is_whole = true,
                   .bypasses = bytes % BYPASS_LINE == 0 && (uintptr_t)out % BYPASS_LINE == 0 && width > 0 && bytes >= BYPASS_LEAST / width},
        .out = out,
    };
    for (size_t i = 0; i < height; i++)
        turning.matrix.is_whole &= rows[i].step != 0;
    size_t pieces = (width + TRANSPOSE_COLUMNS - 1) / TRANSPOSE_COLUMNS;
    if (bytes > 0)
        team_run(team, pieces, team_grain(team, height * TRANSPOSE_COLUMNS * TRANSPOSE_POINT), transpose_columns, &turning);
}
