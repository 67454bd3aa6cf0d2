/* Sorting shared by a team.
 *
 * Words are made of keys and positions, as in array_sort.c, and scattered by their leading bits into buckets: pieces count their words, so that each knows where
 * in every bucket its own go, and the order of positions is kept. The buckets are then sorted one by one, each by one member. A
 * bucket that has much of everything is instead sorted as the whole was: it has a smaller range of keys, and so other leading bits; if its keys are
 * all the same, the next leaf decides, or a vector's elements do.
 *
 * Runs of vectors that begin with the same key are cut into pieces, which are merge-sorted each on its own. Then pairs of them are merged, pairs of
 * these, and so on; which part of two runs becomes which part of the merged one is found by binary search, so every merge is shared. */
#include "vm/array_sort_private.h"
#include "base/least.h"

#include <string.h>

enum {
    KEY_PICOSECONDS = 1000,     /* to make, count and move a word: it is more, but there are several loops to begin */
    ORDER_PICOSECONDS = 50000,  /* to compare two rows and move one */
    BUCKET_ELEMENTS = 6,        /* bits: fewer elements are not worth a bucket */
    KEY_BITS_FEW = 12,          /* that are all told apart by buckets */
    LARGE_PER_MEMBER = 4,       /* a bucket is large if it has more than this part of a member's share */
};

size_t sorting_grain(const Team *team)
{
    return team_grain(team, KEY_PICOSECONDS);
}

/* Positions [first, first + count) being sorted by one leaf. */
typedef struct Sharing {
    Team *team;
    const Sorting *sorting; /* by member: each has counts of its own */
    uint32_t leaf;
    size_t first, count;
    TeamPieces pieces;
    KeyRange *ranges; /* by piece */
    Packing packing;
    uint32_t bucket_bits;
    uint64_t *offsets; /* by piece, then bucket; where its words go, then where they end */
    size_t large; /* buckets with more are left for later */
} Sharing;

static size_t piece_start(const Sharing *sharing, size_t piece)
{
    return sharing->first + piece * sharing->pieces.length;
}

static size_t piece_end(const Sharing *sharing, size_t piece)
{
    size_t start = piece * sharing->pieces.length, rest = sharing->count - start;
    return sharing->first + start + (rest < sharing->pieces.length ? rest : sharing->pieces.length);
}

static void run_pieces(const Sharing *sharing, TeamWork *work)
{
    Sharing context = *sharing;
    team_run(sharing->team, sharing->pieces.count, 1, work, &context);
}

/* ---- keys ---- */

static void make_keys(void *context, size_t piece, size_t end, uint32_t member)
{
    const Sharing *sharing = context;
    (void)member;
    for (; piece < end; piece++) {
        size_t first = piece_start(sharing, piece), last = piece_end(sharing, piece);
        sharing->ranges[piece] = key_range(sorting_keys(sharing->sorting, sharing->leaf, first, last), last - first);
    }
}

static KeyRange whole_range(const Sharing *sharing)
{
    KeyRange whole = sharing->ranges[0];
    const uint64_t *keys = sharing->sorting->scratch;
    for (size_t piece = 1; piece < sharing->pieces.count; piece++) {
        KeyRange range = sharing->ranges[piece];
        size_t start = piece_start(sharing, piece);
        whole.least = range.least < whole.least ? range.least : whole.least;
        whole.greatest = range.greatest > whole.greatest ? range.greatest : whole.greatest;
        whole.varying |= range.varying | (keys[start - 1] ^ keys[start]);
        whole.is_sorted &= range.is_sorted && keys[start - 1] <= keys[start];
    }
    return whole;
}

/* ---- buckets ---- */

static size_t bucket_count(const Sharing *sharing)
{
    return (size_t)1 << sharing->bucket_bits;
}

/* Of words: the bits that tell their bucket. */
static uint32_t bucket_shift(const Sharing *sharing)
{
    return sharing->sorting->position_bits + sharing->packing.bits - sharing->bucket_bits;
}

static void pack_pieces(void *context, size_t piece, size_t end, uint32_t member)
{
    const Sharing *sharing = context;
    const Sorting *sorting = sharing->sorting;
    Packing packing = sharing->packing;
    uint32_t shift = bucket_shift(sharing);
    (void)member;
    for (; piece < end; piece++) {
        uint64_t *counts = sharing->offsets + piece * bucket_count(sharing);
        memset(counts, 0, bucket_count(sharing) * sizeof *counts);
        for (size_t i = piece_start(sharing, piece), last = piece_end(sharing, piece); i < last; i++) {
            uint64_t bits = (sorting->scratch[i] - packing.least) >> packing.shift;
            uint64_t word = sorting->positions[i] | bits << sorting->position_bits;
            sorting->positions[i] = word;
            counts[word >> shift]++;
        }
    }
}

static void make_offsets(const Sharing *sharing)
{
    size_t buckets = bucket_count(sharing);
    uint64_t sum = sharing->first;
    for (size_t bucket = 0; bucket < buckets; bucket++)
        for (size_t piece = 0; piece < sharing->pieces.count; piece++) {
            uint64_t *offset = &sharing->offsets[piece * buckets + bucket], here = *offset;
            *offset = sum;
            sum += here;
        }
}

static void scatter_pieces(void *context, size_t piece, size_t end, uint32_t member)
{
    const Sharing *sharing = context;
    const uint64_t *from = sharing->sorting->positions;
    uint64_t *to = sharing->sorting->scratch;
    uint32_t shift = bucket_shift(sharing);
    (void)member;
    for (; piece < end; piece++) {
        uint64_t *offsets = sharing->offsets + piece * bucket_count(sharing);
        for (size_t i = piece_start(sharing, piece), last = piece_end(sharing, piece); i < last; i++)
            to[offsets[from[i] >> shift]++] = from[i];
    }
}

/* Once all is scattered: where the last piece's words of a bucket end, the bucket does. */
static size_t bucket_end(const Sharing *sharing, size_t bucket)
{
    return sharing->offsets[(sharing->pieces.count - 1) * bucket_count(sharing) + bucket];
}

static size_t bucket_start(const Sharing *sharing, size_t bucket)
{
    return bucket == 0 ? sharing->first : bucket_end(sharing, bucket - 1);
}

static void sort_buckets(void *context, size_t bucket, size_t end, uint32_t member)
{
    const Sharing *sharing = context;
    for (; bucket < end; bucket++) {
        size_t first = bucket_start(sharing, bucket), last = bucket_end(sharing, bucket);
        if (first < last && last - first <= sharing->large)
            sorting_words(&sharing->sorting[member], sharing->leaf, sharing->packing, first, last);
    }
}

static void run_buckets(const Sharing *sharing)
{
    Sharing context = *sharing;
    size_t buckets = bucket_count(sharing), grain = sorting_grain(sharing->team);
    team_run(sharing->team, buckets, grain >= sharing->count ? buckets : grain * buckets / sharing->count + 1, sort_buckets,
             &context);
}

/* ---- merging ---- */

/* Positions [first, first + count), in runs of `width` that are sorted, on their way to runs of twice that. */
typedef struct Merging {
    const Sorting *sorting;
    uint32_t leaf;
    size_t first, count, width;
    const uint64_t *from;
    uint64_t *to;
} Merging;

static void sort_runs(void *context, size_t run, size_t end, uint32_t member)
{
    const Merging *merging = context;
    (void)member;
    for (; run < end; run++) {
        size_t start = run * merging->width, stop = least(start + merging->width, merging->count);
        sorting_merge(merging->sorting, merging->leaf, merging->first + start, merging->first + stop);
    }
}

/* Two runs next to each other, in what is merged from. */
typedef struct Pair {
    const uint64_t *left, *right;
    size_t left_count, right_count;
} Pair;

/* How many of the first `count` of a merged pair come from the left. */
static size_t count_left(const Merging *merging, Pair pair, size_t count)
{
    size_t low = count > pair.right_count ? count - pair.right_count : 0, high = least(count, pair.left_count);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorting_is_out_of_order(merging->sorting, merging->leaf, pair.left[middle], pair.right[count - middle - 1]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Elements [first, end) of a merged pair. */
static void merge_part(const Merging *merging, Pair pair, size_t first, size_t end, uint64_t *to)
{
    size_t left = count_left(merging, pair, first), right = first - left;
    for (size_t i = first; i < end; i++) {
        bool takes_right = left == pair.left_count ||
                           (right < pair.right_count && sorting_is_out_of_order(merging->sorting, merging->leaf,
                                                                                pair.left[left], pair.right[right]));
        *to++ = takes_right ? pair.right[right++] : pair.left[left++];
    }
}

static void merge_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const Merging *merging = context;
    (void)member;
    while (first < end) {
        size_t start = first / (2 * merging->width) * (2 * merging->width);
        size_t middle = least(start + merging->width, merging->count), stop = least(start + 2 * merging->width, merging->count);
        Pair pair = {merging->from + start, merging->from + middle, middle - start, stop - middle};
        size_t here = least(end, stop);
        merge_part(merging, pair, first - start, here - start, merging->to + first);
        first = here;
    }
}

static void copy_back(void *context, size_t first, size_t end, uint32_t member)
{
    const Merging *merging = context;
    (void)member;
    memcpy(merging->to + first, merging->from + first, (end - first) * sizeof *merging->to);
}

/* Sorts positions whose rows agree up to this leaf, that of a vector, by comparing. */
static void merge_shared(Team *team, const Sorting *sorting, uint32_t leaf, size_t first, size_t count)
{
    size_t grain = team_grain(team, ORDER_PICOSECONDS);
    TeamPieces runs = team_pieces(team, count, grain);
    Merging merging = {sorting, leaf, first, count, .width = runs.length};
    team_run(team, runs.count, 1, sort_runs, &merging);
    uint64_t *positions = sorting->positions + first, *other = sorting->scratch + first;
    merging.from = positions;
    merging.to = other;
    for (; merging.width < count; merging.width *= 2) {
        team_run(team, count, grain, merge_pieces, &merging);
        uint64_t *merged = merging.to;
        merging.to = merging.from == positions ? positions : other;
        merging.from = merged;
    }
    if (merging.from != positions)
        team_run(team, count, sorting_grain(team), copy_back, &merging);
}

/* ---- all of it ---- */

static void share_leaves(Team *team, const Sorting *sorting, uint32_t leaf, size_t first, size_t count);

static void unpack_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const Sharing *sharing = context;
    const Sorting *sorting = sharing->sorting;
    (void)member;
    first += sharing->first;
    end += sharing->first;
    sorting_unpack(sorting, sorting->scratch + first, sorting->positions + first, end - first);
}

static void sort_large_bucket(const Sharing *sharing, size_t first, size_t end)
{
    Sharing bucket = {.sorting = sharing->sorting, .first = first};
    const Layout *layout = sharing->sorting->layout;
    team_run(sharing->team, end - first, sorting_grain(sharing->team), unpack_pieces, &bucket);
    bool is_same_key = sharing->packing.is_complete && sharing->packing.bits == sharing->bucket_bits;
    if (!is_same_key || layout->leaves[sharing->leaf].type == LEAF_ARRAY || sharing->leaf + 1 < layout->count)
        share_leaves(sharing->team, sharing->sorting, sharing->leaf, first, end - first);
}

static uint32_t choose_bucket_bits(const Sharing *sharing)
{
    uint32_t width = bit_width(sharing->count), bits = width > BUCKET_ELEMENTS ? width - BUCKET_ELEMENTS : 1;
    uint32_t most = sharing->packing.bits <= KEY_BITS_FEW ? KEY_BITS_FEW : SORT_DIGIT_MAX;
    return (uint32_t)least(least(bits, most), sharing->packing.bits);
}

/* Sorts by one leaf, whose keys are made, and those after it. */
static void share_buckets(Sharing *sharing, const KeyRange *range)
{
    sharing->packing = sorting_packing(sharing->sorting, range);
    sharing->bucket_bits = choose_bucket_bits(sharing);
    sharing->offsets = sorting_alloc(sharing->team, sharing->pieces.count * bucket_count(sharing), 0);
    size_t share = sharing->count / ((size_t)LARGE_PER_MEMBER * team_size(sharing->team)), grain = sorting_grain(sharing->team);
    sharing->large = least(share > grain ? share : grain, SORTING_MAX);
    run_pieces(sharing, pack_pieces);
    make_offsets(sharing);
    run_pieces(sharing, scatter_pieces);
    run_buckets(sharing);
    for (size_t bucket = 0; bucket < bucket_count(sharing); bucket++) {
        size_t first = bucket_start(sharing, bucket), end = bucket_end(sharing, bucket);
        if (end - first > sharing->large)
            sort_large_bucket(sharing, first, end);
    }
    team_give_back(sharing->team, sharing->offsets);
}

static bool is_skipped(const Sorting *sorting, uint32_t leaf)
{
    return sorting->layout->leaves[leaf].type != LEAF_ARRAY && rows_leaf(sorting->rows, leaf).is_uniform;
}

/* Sorts positions that agree in all leaves before this one. */
static void share_leaves(Team *team, const Sorting *sorting, uint32_t leaf, size_t first, size_t count)
{
    Sharing sharing = {.team = team, .sorting = sorting, .first = first, .count = count};
    sharing.pieces = team_pieces(team, count, sorting_grain(team));
    sharing.ranges = team_alloc(team, sharing.pieces.count * sizeof *sharing.ranges);
    for (; leaf < sorting->layout->count; leaf++) {
        if (is_skipped(sorting, leaf))
            continue;
        bool is_vector = sorting->layout->leaves[leaf].type == LEAF_ARRAY;
        sharing.leaf = leaf;
        run_pieces(&sharing, make_keys);
        KeyRange range = whole_range(&sharing);
        if (range.least == range.greatest && !is_vector)
            continue;
        if (range.least == range.greatest)
            merge_shared(team, sorting, leaf, first, count);
        else if (is_vector || leaf + 1 < sorting->layout->count || !range.is_sorted)
            share_buckets(&sharing, &range);
        break;
    }
    team_give_back(team, sharing.ranges);
}

static void number_positions(void *context, size_t first, size_t end, uint32_t member)
{
    uint64_t *positions = context;
    (void)member;
    for (size_t i = first; i < end; i++)
        positions[i] = i;
}

void sorting_share(Team *team, const Sorting *sorting, size_t count)
{
    uint32_t members = team_size(team);
    size_t table_words = sorting_table_words(count);
    uint64_t *memory = sorting_alloc(team, count, members * table_words);
    Sorting *sortings = team_alloc(team, members * sizeof *sortings);
    for (uint32_t i = 0; i < members; i++) {
        sortings[i] = *sorting;
        sortings[i].scratch = memory;
        sortings[i].tables = (uint32_t *)(memory + count + i * table_words);
    }
    team_run(team, count, sorting_grain(team), number_positions, sorting->positions);
    share_leaves(team, sortings, 0, 0, count);
    team_give_back(team, sortings);
    team_give_back(team, memory);
}
