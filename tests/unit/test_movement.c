/* Movements (vm/movement.h) against plain loops: every size of cells, every level of vector instructions this processor has, lengths around
 * the steps of the loops, flags from none to all; then the same by teams of several sizes that share whatever can be shared. Memory is allocated to the byte, for the address sanitizer. */
#include "base/bypass.h"
#include "math/random.h"
#include "vm/movement_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static uint64_t drawn;
static const MovementLoops *loops;
static int level_now;
static Team *team; /* null: the loops of a level themselves */

static uint64_t draw(uint64_t limit)
{
    return random_hash(3, drawn++) % limit;
}

static void check(bool is_right, const char *what, size_t size, size_t count)
{
    if (is_right)
        return;
    if (failures++ < 20)
        fprintf(stderr, "%s at level %d is wrong for %zu cells of %zu bytes\n", what, level_now, count, size);
}

static unsigned char *cells_new(size_t size, size_t count)
{
    unsigned char *cells = malloc(size * count);
    for (size_t i = 0; i < size * count; i++)
        cells[i] = (unsigned char)draw(256);
    return cells;
}

/* Flags of which `share` in 100 are true. */
static bool *flags_new(size_t count, uint64_t share)
{
    bool *flags = malloc(count);
    for (size_t i = 0; i < count; i++)
        flags[i] = draw(100) < share;
    return flags;
}

static const size_t lengths[] = {0, 1, 3, 7, 8, 9, 31, 32, 33, 191, 192, 193, 1000, 5000};
static const uint64_t shares[] = {0, 1, 50, 97, 100};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- flags and pack ---- */

static void test_flags(const bool *flags, size_t count, bool keep)
{
    int64_t *running = malloc(count * sizeof *running), total = 5;
    if (team == NULL)
        loops->count_running(running, flags, count, keep, 5);
    else
        movement_count_running(team, running, flags, count, keep, 5);
    bool is_right = true;
    for (size_t i = 0; i < count; i++) {
        total += flags[i] == keep;
        is_right = is_right && running[i] == total;
    }
    check(is_right, "running count", 1, count);
    size_t counted = team == NULL ? loops->count(flags, count, keep) : movement_count(team, flags, count, keep);
    check(counted == (size_t)(total - 5), "count", 1, count);
    free(running);
}

static void test_pack(size_t size, const bool *flags, size_t count, bool keep)
{
    unsigned char *from = cells_new(size, count), *expected = malloc(size * count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (flags[i] == keep)
            memcpy(expected + size * kept++, from + size * i, size);
    unsigned char *out = malloc(size * kept);
    size_t given = team == NULL ? loops->sizes[size].pack(out, from, flags, count, keep)
                                : movement_pack(team, size, out, from, flags, count, keep);
    check(given == kept && memcmp(out, expected, size * kept) == 0, "pack", size, count);
    free(out);
    free(expected);
    free(from);
}

static void test_flagged(void)
{
    for (size_t n = 0; n < COUNT_OF(lengths); n++)
        for (size_t s = 0; s < COUNT_OF(shares); s++) {
            bool *flags = flags_new(lengths[n], shares[s]);
            for (int keep = 0; keep < 2; keep++) {
                test_flags(flags, lengths[n], keep);
                for (size_t size = 1; size <= 8; size *= 2)
                    test_pack(size, flags, lengths[n], keep);
            }
            free(flags);
        }
}

/* ---- segments ---- */

enum { SEGMENTS = 200, FIRST = 9, SHAPES = 7 };

static size_t segment_length(int shape, size_t k)
{
    static const size_t limits[] = {1, 2, 9, 33, 100};
    if (shape < 5)
        return draw(limits[shape]) + (shape == 1);
    if (shape == 5)
        return k == 100 ? 5000 : draw(2);
    return k == 0 || k == SEGMENTS - 1 ? 3000 : 0;
}

static void test_distribute(size_t size, const int64_t *ends, size_t total)
{
    unsigned char *from = cells_new(size, SEGMENTS), *out = malloc(size * total);
    if (team == NULL)
        loops->sizes[size].distribute(out, from, FIRST, ends, SEGMENTS);
    else
        movement_distribute(team, size, out, from, FIRST, ends, SEGMENTS);
    bool is_right = true;
    for (size_t i = 0, k = 0; i < total; i++) {
        while ((size_t)(ends[k] - FIRST) <= i)
            k++;
        is_right = is_right && memcmp(out + size * i, from + size * k, size) == 0;
    }
    check(is_right, "distribute", size, total);
    free(out);
    free(from);
}

static void test_local_index(const int64_t *ends, size_t total)
{
    int64_t *out = malloc(total * sizeof *out);
    if (team == NULL)
        loops->local_index(out, FIRST, ends, SEGMENTS);
    else
        movement_local_index(team, out, FIRST, ends, SEGMENTS);
    bool is_right = true;
    for (size_t i = 0, k = 0; i < total; i++) {
        while ((size_t)(ends[k] - FIRST) <= i)
            k++;
        size_t start = k == 0 ? 0 : (size_t)(ends[k - 1] - FIRST);
        is_right = is_right && out[i] == (int64_t)(i - start);
    }
    check(is_right, "local index", sizeof *out, total);
    free(out);
}

static void test_regular(size_t size, size_t length)
{
    unsigned char *from = cells_new(size, SEGMENTS), *out = malloc(size * length * SEGMENTS);
    if (team == NULL)
        loops->sizes[size].distribute_regular(out, from, length, SEGMENTS);
    else
        movement_distribute_regular(team, size, out, from, length, SEGMENTS);
    bool is_right = true;
    for (size_t i = 0; i < length * SEGMENTS; i++)
        is_right = is_right && memcmp(out + size * i, from + size * (i / length), size) == 0;
    check(is_right, "regular distribute", size, length);
    free(out);
    free(from);
}

/* Segments by ends, or all of one length. `uniform`: of the elements, of the fills. */
static void test_shift(size_t size, CutSegments segments, unsigned uniform, bool is_next)
{
    size_t total = cut_start(&segments, SEGMENTS);
    Cells from = {cells_new(size, total + 1), (uniform & 1) != 0}, fills = {cells_new(size, SEGMENTS), (uniform & 2) != 0};
    unsigned char *out = malloc(size * total);
    movement_shift(team, size, out, from, fills, segments, is_next);
    bool is_right = true;
    for (size_t k = 0; k < SEGMENTS; k++)
        for (size_t start = cut_start(&segments, k), end = cut_end(&segments, k), i = start; i < end; i++) {
            bool is_filled = i == (is_next ? end - 1 : start);
            size_t at = is_filled ? cells_index(fills, k) : cells_index(from, is_next ? i + 1 : i - 1);
            const unsigned char *cells = is_filled ? fills.data : from.data;
            is_right = is_right && memcmp(out + size * i, cells + size * at, size) == 0;
        }
    check(is_right, is_next ? "shift to the front" : "shift to the back", size, total);
    free(out);
    free((void *)from.data);
    free((void *)fills.data);
}

static void test_shifts(CutSegments segments)
{
    for (size_t size = 1; size <= 8; size *= 2)
        for (unsigned way = 0; way < 8; way++)
            test_shift(size, segments, way & 3, way > 3);
}

static void test_segments(void)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        int64_t ends[SEGMENTS], end = FIRST;
        for (size_t k = 0; k < SEGMENTS; k++)
            ends[k] = end += (int64_t)segment_length(shape, k);
        for (size_t size = 1; size <= 8; size *= 2)
            test_distribute(size, ends, (size_t)(end - FIRST));
        test_local_index(ends, (size_t)(end - FIRST));
        test_shifts((CutSegments){.first = FIRST, .ends = ends, .count = SEGMENTS});
    }
    for (size_t length = 0; length < 20; length += 1 + length / 2)
        test_shifts((CutSegments){.length = length, .count = SEGMENTS});
    for (size_t length = 0; length < 40; length++)
        for (size_t size = 1; size <= 8; size *= 2)
            test_regular(size, length);
}

/* ---- progressions and ends, through the interface ---- */

static void test_index_regular(size_t length)
{
    int64_t *out = malloc(length * SEGMENTS * sizeof *out);
    movement_local_index_regular(team, out, length, SEGMENTS);
    bool is_right = true;
    for (size_t i = 0; i < length * SEGMENTS; i++)
        is_right = is_right && out[i] == (int64_t)(i % length);
    check(is_right, "regular local index", sizeof *out, length);
    free(out);
}

static void test_progression(size_t count, int64_t step)
{
    int64_t *out = malloc(count * sizeof *out);
    movement_progression(team, out, -7, step, count);
    bool is_right = true;
    for (size_t i = 0; i < count; i++)
        is_right = is_right && out[i] == -7 + (int64_t)i * step;
    check(is_right, "progression", sizeof *out, count);
    free(out);
}

static void test_ends(size_t count, bool is_uniform)
{
    int64_t *lengths = malloc((count + 1) * sizeof *lengths), *ends = malloc(count * sizeof *ends), end = 3;
    for (size_t i = 0; i <= count; i++)
        lengths[i] = draw(50) == 0 ? INT64_MAX : (int64_t)draw(4);
    movement_ends(team, ends, (Cells){lengths, is_uniform}, count, 3, 100);
    bool is_right = true;
    for (size_t i = 0; i < count; i++) {
        int64_t length = lengths[is_uniform ? 0 : i];
        end += length < 100 ? length : 100;
        is_right = is_right && ends[i] == end;
    }
    check(is_right, "ends", sizeof *ends, count);
    free(lengths);
    free(ends);
}

static void test_integers(void)
{
    for (size_t length = 0; length < 40; length++)
        test_index_regular(length);
    for (size_t n = 0; n < COUNT_OF(lengths); n++) {
        for (int64_t step = -1; step < 3; step++)
            test_progression(lengths[n], step);
        test_ends(lengths[n], false);
        test_ends(lengths[n], true);
    }
}

/* ---- merge and select ---- */

enum { SOURCES = 5 };

/* Sources as long as needed: `counts` cells, or one. */
static void sources_new(Cells *sources, size_t size, const size_t *counts, size_t count, unsigned uniform)
{
    for (size_t s = 0; s < count; s++) {
        bool is_uniform = (uniform >> s & 1) != 0;
        sources[s] = (Cells){cells_new(size, is_uniform ? 1 : counts[s]), is_uniform};
    }
}

static void sources_free(Cells *sources, size_t count)
{
    for (size_t s = 0; s < count; s++)
        free((void *)sources[s].data);
}

static bool is_cell(const unsigned char *out, Cells source, size_t size, size_t position)
{
    return memcmp(out, (const unsigned char *)source.data + size * cells_index(source, position), size) == 0;
}

/* `first` cells of each source are already taken. */
static void test_merge(size_t size, size_t count, unsigned uniform, bool is_bool, size_t first)
{
    size_t ways = is_bool ? 2 : SOURCES, taken[SOURCES], position[SOURCES], counts[SOURCES];
    bool *flags = malloc(count);
    int32_t *selector = malloc(count * sizeof *selector);
    for (size_t s = 0; s < ways; s++)
        counts[s] = taken[s] = position[s] = first;
    for (size_t i = 0; i < count; i++)
        counts[selector[i] = (int32_t)draw(ways)]++;
    for (size_t i = 0; i < count; i++)
        flags[i] = selector[i] != 0;
    Cells sources[SOURCES];
    sources_new(sources, size, counts, ways, uniform);
    unsigned char *out = malloc(size * count);
    if (team != NULL && is_bool)
        movement_merge_bool(team, size, out, flags, count, sources, taken);
    else if (team != NULL)
        movement_merge_int32(team, size, out, selector, count, sources, taken, ways);
    else if (is_bool)
        loops->sizes[size].merge_bool(out, flags, count, sources, taken);
    else
        loops->sizes[size].merge_int32(out, selector, count, sources, taken);
    bool is_right = true;
    for (size_t i = 0; i < count; i++)
        is_right = is_right && is_cell(out + size * i, sources[selector[i]], size, position[selector[i]]++);
    check(is_right && memcmp(taken, counts, ways * sizeof *taken) == 0, "merge", size, count);
    sources_free(sources, ways);
    free(out);
    free(selector);
    free(flags);
}

static void test_select(size_t size, size_t count, unsigned uniform)
{
    bool *selector = flags_new(count, 50);
    Cells sources[2];
    sources_new(sources, size, (const size_t[]){count, count}, 2, uniform);
    unsigned char *out = malloc(size * count);
    if (team == NULL)
        loops->sizes[size].select(out, selector, count, sources);
    else
        movement_select(team, size, out, selector, count, sources);
    bool is_right = true;
    for (size_t i = 0; i < count; i++)
        is_right = is_right && is_cell(out + size * i, sources[selector[i]], size, i);
    check(is_right, "select", size, count);
    sources_free(sources, 2);
    free(out);
    free(selector);
}

static void test_choices(void)
{
    for (size_t n = 0; n < COUNT_OF(lengths); n++)
        for (size_t size = 1; size <= 8; size *= 2)
            for (unsigned uniform = 0; uniform < 4; uniform++) {
                test_merge(size, lengths[n], uniform, true, uniform);
                test_merge(size, lengths[n], uniform, false, uniform);
                test_select(size, lengths[n], uniform);
            }
}

/* Cells of no bytes, through the interface. */
static void test_points(void)
{
    const bool flags[4] = {true, false, true, true};
    check(movement_pack(team, 0, NULL, NULL, flags, 4, true) == 3, "pack of points", 0, 4);
    size_t taken[2] = {1, 1};
    const Cells none[2] = {{NULL, false}, {NULL, false}};
    movement_merge_bool(team, 0, NULL, flags, 4, none, taken);
    check(taken[0] == 2 && taken[1] == 4, "merge of points", 0, 4);
    const int32_t ways[4] = {1, 0, 1, 1};
    movement_merge_int32(team, 0, NULL, ways, 4, none, taken, 2);
    check(taken[0] == 3 && taken[1] == 7, "merge of points", 0, 4);
    movement_distribute(team, 0, NULL, NULL, 0, (const int64_t[]){4}, 1);
    movement_distribute_regular(team, 0, NULL, NULL, 4, 1);
    movement_select(team, 0, NULL, flags, 4, none);
}

/* ---- transpose ---- */

/* Row 1 has one cell that stands for all, if `has_uniform`. */
static void test_matrix(size_t size, size_t height, size_t width, bool has_uniform, bool bypasses)
{
    unsigned char *from = cells_new(size, height * width), *out = aligned_alloc(BYPASS_LINE, (size * height * width / BYPASS_LINE + 1) * BYPASS_LINE);
    MovementRow *rows = malloc(height * sizeof *rows);
    for (size_t i = 0; i < height; i++)
        rows[i] = (MovementRow){(const char *)from + i * width * size, has_uniform && i == 1 ? 0 : size};
    MovementMatrix matrix = {rows, height, !has_uniform, bypasses};
    if (team == NULL)
        loops->sizes[size].transpose(out, &matrix, 0, width);
    else
        movement_transpose(team, size, out, rows, height, width);
    bool is_right = true;
    for (size_t row = 0; row < height; row++)
        for (size_t column = 0; column < width; column++)
            is_right = is_right && memcmp(out + (column * height + row) * size, rows[row].data + column * rows[row].step, size) == 0;
    check(is_right, "transpose", size, height * width);
    free(from);
    free(out);
    free(rows);
}

static void test_matrices(void)
{
    static const size_t sides[] = {0, 1, 5, 8, 9, 16, 64, 130};
    for (size_t size = 1; size <= MOVEMENT_SIZE_MAX; size *= 2)
        for (size_t i = 0; i < COUNT_OF(sides); i++)
            for (size_t k = 0; k < COUNT_OF(sides); k++) {
                test_matrix(size, sides[i], sides[k], false, sides[i] * size % BYPASS_LINE == 0);
                test_matrix(size, sides[i], sides[k], true, false);
            }
}

/* So large that it bypasses the caches. */
static void test_large_matrix(void)
{
    enum { SIDE = 2048 };
    test_matrix(8, SIDE, SIDE, false, true);
}

static void test_team(Memory *memory, uint32_t threads)
{
    team = team_new(memory, (TeamOptions){.threads = threads, .piece_picoseconds = 1});
    test_flagged();
    test_segments();
    test_integers();
    test_choices();
    test_points();
    test_matrices();
    if (threads == 2)
        test_large_matrix();
    team_free(team);
    team = NULL;
}

int main(void)
{
    for (level_now = 0; level_now <= (int)vector_level(); level_now++) {
        loops = movement_loops_at((VectorLevel)level_now);
        test_flagged();
        test_segments();
        test_choices();
        test_matrices();
    }
    test_integers();
    test_points();
    Memory memory = {0};
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        test_team(&memory, threads[i]);
    return failures > 0 || memory.live_bytes > 0;
}
