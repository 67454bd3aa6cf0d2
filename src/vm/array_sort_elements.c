/* Sorting scalars themselves.
 *
 * An element becomes a word that orders as it does, 32 bits wide or 64; the sorted words become elements again. For floats something is lost on the way: words tell
 * -0 from +0, which are equal and must stay in their order, and do not tell nans of different bits apart. Both are written once more at the end, where there are any.
 *
 * Many elements are spread by the leading bits of their words over buckets, by all members of the team, and the buckets are then sorted one by one. A bucket that has much
 * of everything is instead spread as the whole was, by the bits in which its words differ. */
#include "vm/array_sort_loops.h"
#include "vm/array_sort_private.h"
#include "base/least.h"

#include <string.h>

enum {
    TILE = 1024,          /* cells made wider at a time */
    LARGE_PER_MEMBER = 4, /* a bucket is large if it has more than this part of a member's share */
};

/* Elements being sorted. */
typedef struct Elements {
    const SortLoops *loops;
    size_t word_size, size; /* of a word, and of an element, which may be narrower */
    bool is_signed;
    WordMask mask;
    const char *cells; /* the first of them */
    size_t count;
    char *out;
} Elements;

static Elements slice_elements(const Grade *slice, bool is_descending)
{
    ScalarType type = (ScalarType)slice->array->layout->leaves[0].type;
    Elements elements = {.size = leaf_size(slice->array->layout->leaves[0].type),
                         .is_signed = scalar_kind(type) == KIND_SIGNED,
                         .mask = {.is_float = scalar_kind(type) == KIND_FLOATING},
                         .count = slice->length,
                         .out = slice->out};
    bool is_wide = elements.size == sizeof(uint64_t);
    uint64_t all = is_wide ? UINT64_MAX : UINT32_MAX;
    elements.loops = sort_loops_of(is_wide);
    elements.word_size = is_wide ? sizeof(uint64_t) : sizeof(uint32_t);
    elements.mask.bits = (elements.is_signed ? all / 2 + 1 : 0) ^ (is_descending ? all : 0);
    elements.cells = (const char *)slice->array->columns[0].data + slice->start * elements.size;
    return elements;
}

/* ---- narrow cells ---- */

/* Whether cells are narrower than words. */
static bool is_narrow(const Elements *elements)
{
    return elements->size < elements->word_size;
}

/* Cells of 8 or 16 bits as those of 32. */
static void make_wider(const Elements *elements, uint32_t *to, const char *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (elements->size == 1)
            to[i] = elements->is_signed ? (uint32_t)((const int8_t *)cells)[i] : ((const uint8_t *)cells)[i];
        else
            to[i] = elements->is_signed ? (uint32_t)((const int16_t *)cells)[i] : ((const uint16_t *)cells)[i];
}

static void make_narrower(const Elements *elements, char *cells, const uint32_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (elements->size == 1)
            ((uint8_t *)cells)[i] = (uint8_t)from[i];
        else
            ((uint16_t *)cells)[i] = (uint16_t)from[i];
}

/* Makes elements of words, which may be where the elements go, and otherwise are of no use afterwards. */
static void give(const Elements *elements, char *words, size_t first, size_t count)
{
    char *out = elements->out + first * elements->size;
    elements->loops->from_words(is_narrow(elements) ? words : out, words, count, elements->mask);
    if (is_narrow(elements))
        make_narrower(elements, out, (const uint32_t *)words, count);
}

/* ---- zeros and nans ---- */

/* The word of the element at a place of the result; of floats. */
static uint64_t sorted_word(const Elements *elements, size_t i)
{
    uint64_t wide;
    uint32_t narrow;
    bool is_wide = elements->size == sizeof wide;
    elements->loops->to_words(is_wide ? (void *)&wide : (void *)&narrow, elements->out + i * elements->size, 1, elements->mask);
    return is_wide ? wide : narrow;
}

/* The first place of the result from which on words are not less. */
static size_t first_not_less(const Elements *elements, uint64_t word)
{
    size_t low = 0, high = elements->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted_word(elements, middle) < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double float_at(const Elements *elements, const char *cells, size_t i)
{
    float narrow;
    double wide;
    if (elements->size == sizeof wide) {
        memcpy(&wide, cells + i * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, cells + i * sizeof narrow, sizeof narrow);
    return (double)narrow;
}

static bool is_zero(double value)
{
    return value == 0.0;
}

static bool is_nan(double value)
{
    return value != value;
}

/* Writes those elements from a place on, in the order that they had. */
static void restore(const Elements *elements, size_t place, bool (*is_restored)(double value))
{
    for (size_t i = 0; i < elements->count; i++)
        if (is_restored(float_at(elements, elements->cells, i)))
            memcpy(elements->out + place++ * elements->size, elements->cells + i * elements->size, elements->size);
}

static void restore_floats(const Elements *elements)
{
    if (!elements->mask.is_float)
        return;
    bool is_descending = elements->mask.bits != 0;
    uint64_t top = elements->size == sizeof(uint64_t) ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    /* the words of the zeros are `top` and the one before */
    size_t zeros = first_not_less(elements, top - 1), others = first_not_less(elements, top), end = first_not_less(elements, top + 1);
    if (zeros < others && others < end)
        restore(elements, zeros, is_zero);
    if (is_nan(float_at(elements, elements->out, is_descending ? 0 : elements->count - 1)))
        restore(elements, is_descending ? 0 : first_not_less(elements, sorted_word(elements, elements->count - 1)), is_nan);
}

/* ---- in one thread ---- */

size_t sorting_element_words(size_t count)
{
    return count + sorting_table_words(count);
}

void sorting_elements_alone(const Grade *slice, bool is_descending, uint64_t *memory)
{
    Elements elements = slice_elements(slice, is_descending);
    size_t count = elements.count;
    if (slice->array->columns[0].is_uniform) {
        cells_fill(slice->array->layout->leaves[0].type, slice->out, slice->array->columns[0].data, count);
        return;
    }
    const void *cells = elements.cells;
    if (is_narrow(&elements)) {
        make_wider(&elements, (uint32_t *)memory, elements.cells, count);
        cells = memory;
    }
    WordRange range = elements.loops->range(cells, count, elements.mask);
    if (range.is_sorted) {
        memcpy(elements.out, elements.cells, count * elements.size);
        return;
    }
    /* words of 32 bits leave half of the memory */
    char *spare = is_narrow(&elements) ? (char *)((uint32_t *)memory + count) : elements.out;
    elements.loops->to_words(memory, cells, count, elements.mask);
    elements.loops->sort(memory, spare, count, true, 0, (uint32_t *)(memory + count));
    give(&elements, spare, 0, count);
    restore_floats(&elements);
}

/* ---- by a team ---- */

/* Words [first, first + count), spread from one place to another. Both places have room for all of them; what has been sorted becomes elements at once. */
typedef struct Spreading {
    Team *team;
    const Elements *elements;
    char *from; /* null: words are made of the elements */
    char *to, *other; /* other: where they came from, unless that is null */
    size_t first, count;
    TeamPieces pieces;
    WordRange *ranges; /* by piece */
    uint64_t least;
    uint32_t bits, digit; /* in which words differ; by which they are spread */
    uint64_t *offsets; /* by piece, then bucket: counts, then where its words go, then where they end */
    size_t large; /* buckets with more are left for later */
    uint32_t *tables; /* `table_size` entries for each member */
    size_t table_size;
} Spreading;

static size_t piece_end(const Spreading *spreading, size_t piece)
{
    return least((piece + 1) * spreading->pieces.length, spreading->count);
}

/* What is done to cells of a piece. */
typedef void CellsWork(const Spreading *spreading, size_t piece, const void *cells, size_t count);

/* Narrow cells go through tiles in which they are wider. */
static void run_tiles(const Spreading *spreading, size_t piece, CellsWork *work)
{
    const Elements *elements = spreading->elements;
    uint32_t tile[TILE];
    for (size_t first = piece * spreading->pieces.length, end = piece_end(spreading, piece), count; first < end; first += count) {
        count = least(TILE, end - first);
        make_wider(elements, tile, elements->cells + (spreading->first + first) * elements->size, count);
        work(spreading, piece, tile, count);
    }
}

static void run_cells(const Spreading *spreading, size_t piece, size_t end, CellsWork *work)
{
    const Elements *elements = spreading->elements;
    const char *from = spreading->from != NULL ? spreading->from : elements->cells;
    for (; piece < end; piece++) {
        size_t first = piece * spreading->pieces.length, count = piece_end(spreading, piece) - first;
        if (spreading->from == NULL && is_narrow(elements))
            run_tiles(spreading, piece, work);
        else
            work(spreading, piece, from + (spreading->first + first) * elements->word_size, count);
    }
}

/* Words need not be made again. */
static WordMask mask_of(const Spreading *spreading)
{
    return spreading->from == NULL ? spreading->elements->mask : (WordMask){0};
}

static WordRange join_ranges(WordRange a, WordRange b)
{
    return (WordRange){.first = a.first,
                       .least = a.least < b.least ? a.least : b.least,
                       .greatest = a.greatest > b.greatest ? a.greatest : b.greatest,
                       .last = b.last,
                       .is_sorted = a.is_sorted && b.is_sorted && a.last <= b.first};
}

static bool is_begun(const WordRange *range)
{
    return range->least <= range->greatest;
}

static void find_range(const Spreading *spreading, size_t piece, const void *cells, size_t count)
{
    WordRange here = spreading->elements->loops->range(cells, count, mask_of(spreading)), *range = &spreading->ranges[piece];
    *range = is_begun(range) ? join_ranges(*range, here) : here;
}

static void find_ranges(void *context, size_t piece, size_t end, uint32_t member)
{
    const Spreading *spreading = context;
    (void)member;
    for (size_t i = piece; i < end; i++)
        spreading->ranges[i] = (WordRange){.least = 1};
    run_cells(spreading, piece, end, find_range);
}

static size_t bucket_count(const Spreading *spreading)
{
    return (size_t)1 << spreading->digit;
}

static uint64_t *piece_offsets(const Spreading *spreading, size_t piece)
{
    return spreading->offsets + piece * bucket_count(spreading);
}

static void count_cells(const Spreading *spreading, size_t piece, const void *cells, size_t count)
{
    spreading->elements->loops->count(cells, count, mask_of(spreading), spreading->least, spreading->bits - spreading->digit,
                                      piece_offsets(spreading, piece));
}

static void count_pieces(void *context, size_t piece, size_t end, uint32_t member)
{
    const Spreading *spreading = context;
    (void)member;
    memset(piece_offsets(spreading, piece), 0, (end - piece) * bucket_count(spreading) * sizeof *spreading->offsets);
    run_cells(spreading, piece, end, count_cells);
}

static void spread_cells(const Spreading *spreading, size_t piece, const void *cells, size_t count)
{
    spreading->elements->loops->spread(cells, count, mask_of(spreading), spreading->least, spreading->bits - spreading->digit,
                                       piece_offsets(spreading, piece), spreading->to);
}

static void spread_pieces(void *context, size_t piece, size_t end, uint32_t member)
{
    (void)member;
    run_cells(context, piece, end, spread_cells);
}

static void make_offsets(const Spreading *spreading)
{
    uint64_t sum = spreading->first;
    for (size_t bucket = 0; bucket < bucket_count(spreading); bucket++)
        for (size_t piece = 0; piece < spreading->pieces.count; piece++) {
            uint64_t *offset = &piece_offsets(spreading, piece)[bucket], here = *offset;
            *offset = sum;
            sum += here;
        }
}

static void run_pieces(const Spreading *spreading, TeamWork *work)
{
    Spreading context = *spreading;
    team_run(spreading->team, spreading->pieces.count, 1, work, &context);
}

/* ---- buckets ---- */

/* Once all is spread: where the last piece's words of a bucket end, the bucket does. */
static size_t bucket_end(const Spreading *spreading, size_t bucket)
{
    return piece_offsets(spreading, spreading->pieces.count - 1)[bucket];
}

static size_t bucket_start(const Spreading *spreading, size_t bucket)
{
    return bucket == 0 ? spreading->first : bucket_end(spreading, bucket - 1);
}

/* They are sorted to where elements go if words fit there. */
static void sort_buckets(void *context, size_t bucket, size_t end, uint32_t member)
{
    const Spreading *spreading = context;
    const Elements *elements = spreading->elements;
    uint32_t *table = spreading->tables + member * spreading->table_size;
    size_t size = elements->word_size;
    bool to_other = spreading->other == elements->out;
    for (; bucket < end; bucket++) {
        size_t first = bucket_start(spreading, bucket), count = bucket_end(spreading, bucket) - first;
        if (count == 0 || count > spreading->large)
            continue;
        char *words = spreading->to + first * size, *spare = spreading->other + first * size;
        elements->loops->sort(words, spare, count, to_other, 0, table);
        give(elements, to_other ? spare : words, first, count);
    }
}

static void run_buckets(const Spreading *spreading)
{
    Spreading context = *spreading;
    size_t buckets = bucket_count(spreading), grain = sorting_grain(spreading->team);
    team_run(spreading->team, buckets, grain >= spreading->count ? buckets : grain * buckets / spreading->count + 1, sort_buckets,
             &context);
}

/* ---- words that were only counted ---- */

static size_t bucket_at(const Spreading *spreading, size_t place)
{
    size_t low = 0, high = bucket_count(spreading) - 1; /* the last that begins there or before */
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (spreading->offsets[middle] <= place)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Writes `count` words of one bucket, from index `first` on. */
static void fill_words(const Elements *elements, void *words, size_t first, size_t count, uint64_t word)
{
    for (size_t i = first; i < first + count; i++)
        if (elements->word_size == sizeof(uint64_t))
            ((uint64_t *)words)[i] = word;
        else
            ((uint32_t *)words)[i] = (uint32_t)word;
}

/* Each bucket has one word, and its offset is where it begins. */
static void fill_tile(const Spreading *spreading, uint64_t *tile, size_t first, size_t count)
{
    size_t bucket = bucket_at(spreading, first);
    for (size_t i = 0, end; i < count; i = end, bucket++) {
        bool is_last = bucket + 1 == bucket_count(spreading);
        end = is_last ? count : least(count, spreading->offsets[bucket + 1] - first);
        fill_words(spreading->elements, tile, i, end - i, spreading->least + bucket);
    }
}

static void fill_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const Spreading *spreading = context;
    uint64_t tile[TILE];
    (void)member;
    first += spreading->first;
    end += spreading->first;
    for (size_t count; first < end; first += count) {
        count = least(TILE, end - first);
        fill_tile(spreading, tile, first, count);
        give(spreading->elements, (char *)tile, first, count);
    }
}

/* ---- all of it ---- */

static void give_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    const Spreading *spreading = context;
    const Elements *elements = spreading->elements;
    (void)member;
    first += spreading->first;
    end += spreading->first;
    if (spreading->from == NULL)
        memcpy(elements->out + first * elements->size, elements->cells + first * elements->size, (end - first) * elements->size);
    else
        give(elements, spreading->from + first * elements->word_size, first, end - first);
}

static WordRange whole_range(const Spreading *spreading)
{
    WordRange whole = spreading->ranges[0];
    for (size_t piece = 1; piece < spreading->pieces.count; piece++)
        whole = join_ranges(whole, spreading->ranges[piece]);
    return whole;
}

static void spread(Spreading *spreading);

/* The buckets that are large, one after the other, back to where they came from. */
static void spread_large(const Spreading *spreading)
{
    for (size_t bucket = 0; bucket < bucket_count(spreading); bucket++) {
        size_t first = bucket_start(spreading, bucket), end = bucket_end(spreading, bucket);
        Spreading again = *spreading;
        again.from = spreading->to;
        again.to = spreading->other;
        again.other = spreading->to;
        again.first = first;
        again.count = end - first;
        if (again.count > spreading->large)
            spread(&again);
    }
}

static void spread_unsorted(Spreading *spreading)
{
    Team *team = spreading->team;
    size_t grain = sorting_grain(team), share = spreading->count / ((size_t)LARGE_PER_MEMBER * team_size(team));
    spreading->digit = sort_digit(spreading->count, spreading->bits);
    spreading->large = least(share > grain ? share : grain, SORTING_MAX);
    spreading->offsets = sorting_alloc(team, spreading->pieces.count * bucket_count(spreading), 0);
    run_pieces(spreading, count_pieces);
    make_offsets(spreading);
    if (spreading->digit == spreading->bits)
        team_run(team, spreading->count, grain, fill_pieces, spreading);
    else {
        run_pieces(spreading, spread_pieces);
        run_buckets(spreading);
        spread_large(spreading);
    }
    team_give_back(team, spreading->offsets);
}

static void spread(Spreading *spreading)
{
    Team *team = spreading->team;
    spreading->pieces = team_pieces(team, spreading->count, sorting_grain(team));
    spreading->ranges = team_alloc(team, spreading->pieces.count * sizeof *spreading->ranges);
    run_pieces(spreading, find_ranges);
    WordRange range = whole_range(spreading);
    team_give_back(team, spreading->ranges);
    spreading->least = range.least;
    spreading->bits = bit_width(range.greatest - range.least);
    if (range.is_sorted)
        team_run(team, spreading->count, sorting_grain(team), give_pieces, spreading);
    else
        spread_unsorted(spreading);
}

void sorting_elements_together(Team *team, const Grade *slice, bool is_descending)
{
    Elements elements = slice_elements(slice, is_descending);
    bool is_shared = elements.count > SORTING_ALONE || team_shares(team, elements.count, sorting_grain(team));
    if (!is_shared || slice->array->columns[0].is_uniform) {
        uint64_t *memory = sorting_alloc(team, sorting_element_words(elements.count), 0);
        sorting_elements_alone(slice, is_descending, memory);
        team_give_back(team, memory);
        return;
    }
    Spreading spreading = {.team = team, .elements = &elements, .count = elements.count};
    spreading.table_size = sort_table_entries(elements.count);
    spreading.tables = team_alloc(team, team_size(team) * spreading.table_size * sizeof *spreading.tables);
    /* words of 32 bits leave half of the memory */
    uint64_t *memory = sorting_alloc(team, elements.count, 0);
    spreading.to = (char *)memory;
    spreading.other = is_narrow(&elements) ? (char *)((uint32_t *)memory + elements.count) : elements.out;
    spread(&spreading);
    restore_floats(&elements);
    team_give_back(team, memory);
    team_give_back(team, spreading.tables);
}
