/* Sorting positions, stably.
 *
 * Each leaf gives every row a key of 64 bits that orders as the leaf does. Positions are sorted by the keys of the first leaf; then runs of
 * positions whose keys are equal are sorted by the second, and so on. For a vector, the key is only its beginning: runs of equal
 * keys are merge-sorted by comparing rows.
 *
 * Keys are sorted by radix (array_sort_vector.c). What is moved around is one word, the leading bits of (key - least key) above the position, rather than a key and
 * a position of a word each; so the order of words is a stable one. The few runs that agree in all of these bits are sorted again,
 * by the bits below. Keys are computed anew for that, which costs less than the memory to keep them. Where many agree, they are likely to be equal: it is seen
 * first which runs are not in order.
 *
 * This file sorts in one thread; array_sort_shared.c begins with the leading bits, and leaves the rest to this one. */
#include "vm/array_sort_loops.h"
#include "vm/array_sort_private.h"

#include "base/least.h"
#include "math/elementary.h"

#include <string.h>

/* ---- keys ---- */

#define SIGN_BIT (UINT64_C(1) << 63)

static inline uint64_t key_of_unsigned(uint64_t value)
{
    return value;
}

static inline uint64_t key_of_signed(int64_t value)
{
    return (uint64_t)value ^ SIGN_BIT;
}

/* The bits of floats order as their magnitudes do; those of negative ones the other way round. */
static inline uint64_t key_of_f64(double value)
{
    uint64_t bits;
    value = value == 0.0 ? 0.0 : math_canonical(value); /* no -0, one nan */
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((UINT64_C(0) - (bits >> 63)) | SIGN_BIT);
}

static inline uint64_t key_of_f32(float value)
{
    uint32_t bits;
    value = value == 0.0f ? 0.0f : math_canonical_f32(value);
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((UINT32_C(0) - (bits >> 31)) | UINT32_C(1) << 31);
}

#define KEY_TRUTH(value) key_of_unsigned(value)
#define KEY_CHARACTER(value) key_of_unsigned(value)
#define KEY_UNSIGNED(value) key_of_unsigned(value)
#define KEY_SIGNED(value) key_of_signed(value)
#define KEY_FLOATING(value) _Generic((value), float: key_of_f32, double: key_of_f64)(value)

enum { KEYS_AHEAD = 32 }; /* whose elements are asked for while others are looked at */

/* Keys of `count` positions of a column of scalars. */
#define SCALAR(ID, name, c_type, kind)                                                                                \
    static void keys_of_##ID(uint64_t *keys, const c_type *cells, const uint64_t *positions, size_t count,            \
                             uint64_t flip)                                                                           \
    {                                                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                          \
            __builtin_prefetch(&cells[positions[i + KEYS_AHEAD < count ? i + KEYS_AHEAD : i]]);                       \
            keys[i] = KEY_##kind(cells[positions[i]]) ^ flip;                                                         \
        }                                                                                                             \
    }
#include "ops/scalars.def"
#undef SCALAR

static void scalar_keys(uint64_t *keys, LeafType type, const void *cells, size_t start, const uint64_t *positions,
                        size_t count, uint64_t flip)
{
    switch (type) {
#define SCALAR(ID, name, c_type, kind)                                                                                \
    case SCALAR_##ID:                                                                                                 \
        keys_of_##ID(keys, (const c_type *)cells + start, positions, count, flip);                                    \
        break;
#include "ops/scalars.def"
#undef SCALAR
    }
}

static bool is_byte(const Layout *layout)
{
    LeafType type = layout->leaves[0].type;
    return layout->count == 1 && (type == SCALAR_CHAR || type == SCALAR_U8);
}

enum { KEY_BYTES = 8 };

static uint64_t first_byte_above(uint64_t key)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(key);
#else
    return key;
#endif
}

/* The first eight bytes, the first one above, zeros after the end. */
static inline uint64_t key_of_bytes(const Array *array, size_t start, size_t length)
{
    const Column *column = &array->columns[0];
    const unsigned char *bytes = column->data;
    uint64_t key = 0;
    if (column->is_uniform || array->count - start < KEY_BYTES) {
        for (size_t i = 0; i < KEY_BYTES; i++)
            key = key << 8 | (i < length ? bytes[column->is_uniform ? 0 : start + i] : 0);
        return key;
    }
    memcpy(&key, bytes + start, KEY_BYTES); /* those of other vectors are cut off */
    key = first_byte_above(key);
    return length >= KEY_BYTES ? key : length == 0 ? 0 : key & ~UINT64_C(0) << 8 * (KEY_BYTES - length);
}

/* A key that is never greater for the lesser of two vectors, but may be the same. */
static uint64_t vector_key(const Layout *elements, Vector vector)
{
    while (vector.length > 0 && elements->count > 0 && elements->leaves[0].type == LEAF_ARRAY) {
        vector = row_vector(vector_row(vector, 0), 0);
        elements = elements->leaves[0].elements;
    }
    if (elements->count == 0 || vector.length == 0)
        return vector.length;
    if (is_byte(elements))
        return key_of_bytes(vector.array, vector.start, vector.length);
    const Column *column = &vector.array->columns[0];
    uint64_t key, position = 0;
    scalar_keys(&key, elements->leaves[0].type, column->data, column->is_uniform ? 0 : vector.start, &position, 1, 0);
    return key;
}

static Row row_at(const Sorting *sorting, uint64_t position)
{
    return (Row){sorting->rows, sorting->start + position};
}

static bool is_in_one_array(const Sorting *sorting, uint32_t leaf)
{
    Cells arrays = rows_leaf(sorting->rows, leaf);
    return arrays.is_uniform && *(Array *const *)arrays.data != NULL && (*(Array *const *)arrays.data)->columns[0].data != NULL;
}

/* Of vectors of bytes that lie in one array, wherever they are there. */
static void keys_of_bytes(const Sorting *sorting, uint32_t leaf, size_t first, size_t end, uint64_t flip)
{
    const uint64_t *positions = sorting->positions;
    const unsigned char *bytes = row_vector(row_at(sorting, positions[first]), leaf).array->columns[0].data;
    for (size_t i = first; i < end; i++) {
        uint64_t ahead = positions[i + KEYS_AHEAD < end ? i + KEYS_AHEAD : i];
        __builtin_prefetch(bytes + row_vector(row_at(sorting, ahead), leaf).start);
        Vector vector = row_vector(row_at(sorting, positions[i]), leaf);
        sorting->scratch[i] = (vector.length == 0 ? 0 : key_of_bytes(vector.array, vector.start, vector.length)) ^ flip;
    }
}

uint64_t *sorting_keys(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    const Leaf *kind = &sorting->layout->leaves[leaf];
    const uint64_t *positions = sorting->positions;
    uint64_t flip = sorting->is_descending ? UINT64_MAX : 0;
    if (kind->type == LEAF_ARRAY && is_byte(kind->elements) && is_in_one_array(sorting, leaf))
        keys_of_bytes(sorting, leaf, first, end, flip);
    else if (kind->type == LEAF_ARRAY)
        for (size_t i = first; i < end; i++)
            sorting->scratch[i] = vector_key(kind->elements, row_vector(row_at(sorting, positions[i]), leaf)) ^ flip;
    else
        scalar_keys(sorting->scratch + first, kind->type, rows_leaf(sorting->rows, leaf).data, sorting->start,
                    positions + first, end - first, flip);
    return sorting->scratch + first;
}

/* Sorts a few positions by their keys. */
static void sort_few(const uint64_t *keys, uint64_t *positions, size_t count)
{
    static RankKeys *const levels[] = {
#define VECTOR_LEVEL_ROW(level) [VECTOR_##level] = VECTOR_NAME_AT(rank_keys, level),
        VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW
    };
    uint64_t known[RANK_MAX], ranks[RANK_MAX], unsorted[RANK_MAX];
    memcpy(known, keys, count * sizeof *keys);
    memcpy(unsorted, positions, count * sizeof *positions);
    levels[vector_level()](known, count, ranks);
    for (size_t i = 0; i < count; i++)
        positions[ranks[i]] = unsorted[i];
}

/* ---- radix sort ---- */

KeyRange key_range(const uint64_t *keys, size_t count)
{
    KeyRange range = {keys[0], keys[0], 0, true};
    for (size_t i = 1; i < count; i++) {
        range.least = keys[i] < range.least ? keys[i] : range.least;
        range.greatest = keys[i] > range.greatest ? keys[i] : range.greatest;
        range.varying |= keys[i] ^ keys[i - 1];
        range.is_sorted &= keys[i - 1] <= keys[i];
    }
    return range;
}

/* Those bits of the keys, less the least one, that words can hold, down to the lowest in which they differ. */
Packing sorting_packing(const Sorting *sorting, const KeyRange *range)
{
    uint32_t width = bit_width(range->greatest - range->least), low = bit_width(range->varying & (~range->varying + 1)) - 1;
    uint32_t bits = (uint32_t)least(width - low, 64 - sorting->position_bits), shift = width - bits;
    return (Packing){range->least, shift, bits, (range->varying & ((UINT64_C(1) << shift) - 1)) == 0};
}

/* Puts the bits to sort by above the positions. */
static void pack(const Sorting *sorting, Packing packing, uint64_t *words, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] |= (keys[i] - packing.least) >> packing.shift << sorting->position_bits;
}

const SortLoops *sort_loops_of(bool is_wide)
{
    static const SortLoops *const levels[] = {
#define VECTOR_LEVEL_ROW(level) [VECTOR_##level] = VECTOR_NAME_AT(sort_loops, level),
        VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW
    };
    return &levels[vector_level()][is_wide ? SORT_WIDE : SORT_NARROW];
}

static void sort_by_leaf(const Sorting *sorting, uint32_t leaf, size_t first, size_t end);

void sorting_unpack(const Sorting *sorting, const uint64_t *words, uint64_t *positions, size_t count)
{
    uint64_t mask = (UINT64_C(1) << sorting->position_bits) - 1;
    for (size_t i = 0; i < count; i++)
        positions[i] = words[i] & mask;
}

/* How many words have the same bits above the position as the one before. */
static size_t count_same(const Sorting *sorting, const uint64_t *words, size_t count)
{
    size_t same = 0;
    for (size_t i = 1; i < count; i++)
        same += (words[i] ^ words[i - 1]) >> sorting->position_bits == 0;
    return same;
}

/* Makes positions of words, and sorts those further that have the same bits above the position. */
static void unpack_runs(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    uint64_t *words = sorting->positions;
    uint32_t shift = sorting->position_bits;
    for (size_t i = first, next; i < end; i = next) {
        uint64_t bits = words[i] >> shift;
        next = i + 1;
        while (next < end && words[next] >> shift == bits)
            next++;
        sorting_unpack(sorting, words + i, words + i, next - i);
        if (next - i > 1)
            sort_by_leaf(sorting, leaf, i, next);
    }
}

typedef struct Run {
    size_t first, end;
} Run;

/* The keys around index i that agree with it in the bits of a packing, which they are sorted by. */
static Run run_at(Packing packing, const uint64_t *keys, size_t i, size_t count)
{
    uint64_t bits = (keys[i] - packing.least) >> packing.shift;
    Run run = {i, i + 1};
    while (run.first > 0 && (keys[run.first - 1] - packing.least) >> packing.shift == bits)
        run.first--;
    while (run.end < count && (keys[run.end] - packing.least) >> packing.shift == bits)
        run.end++;
    return run;
}

/* Of positions sorted by the bits of a packing, sorts those runs further whose keys are not in order. */
static void sort_unsorted(const Sorting *sorting, uint32_t leaf, Packing packing, size_t first, size_t end)
{
    const uint64_t *keys = sorting_keys(sorting, leaf, first, end);
    for (size_t i = 1; i < end - first; i++)
        if (keys[i - 1] > keys[i]) {
            Run run = run_at(packing, keys, i, end - first);
            sort_by_leaf(sorting, leaf, first + run.first, first + run.end);
            i = run.end;
        }
}

enum { SAME_PART = 16 }; /* of the words: if more are the same as others, the keys of all are loaded, at once, which takes less time than run by run */

/* Makes positions of words, which stand where these are to be and are sorted, in the order of all bits of their keys. */
static void unpack_sorted(const Sorting *sorting, uint32_t leaf, Packing packing, size_t first, size_t end)
{
    uint64_t *words = sorting->positions + first;
    size_t count = end - first, same = packing.is_complete ? 0 : count_same(sorting, words, count);
    if (same > 0 && same <= count / SAME_PART) {
        unpack_runs(sorting, leaf, first, end);
        return;
    }
    sorting_unpack(sorting, words, words, count);
    if (same > 0)
        sort_unsorted(sorting, leaf, packing, first, end);
}

/* Sorts a run of positions by the keys of one leaf. */
static void sort_by_leaf(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    uint64_t *positions = sorting->positions + first;
    size_t count = end - first;
    uint64_t *keys = sorting_keys(sorting, leaf, first, end);
    if (count <= RANK_MAX) {
        sort_few(keys, positions, count);
        return;
    }
    KeyRange range = key_range(keys, count);
    if (range.is_sorted)
        return;
    Packing packing = sorting_packing(sorting, &range);
    pack(sorting, packing, positions, keys, count);
    sort_loops_of(true)->sort(positions, keys, count, false, sorting->position_bits, sorting->tables);
    unpack_sorted(sorting, leaf, packing, first, end);
}

/* ---- merge sort ---- */

bool sorting_is_out_of_order(const Sorting *sorting, uint32_t leaf, uint64_t a, uint64_t b)
{
    Order order = row_order(sorting->layout, leaf, row_at(sorting, a), row_at(sorting, b), true);
    return order == (sorting->is_descending ? ORDER_LESS : ORDER_GREATER);
}

/* Merges two runs next to each other, the first of which is put aside. */
static void merge(const Sorting *sorting, uint32_t leaf, size_t first, size_t middle, size_t end)
{
    uint64_t *positions = sorting->positions, *left = sorting->scratch + first;
    if (!sorting_is_out_of_order(sorting, leaf, positions[middle - 1], positions[middle]))
        return;
    memcpy(left, positions + first, (middle - first) * sizeof *left);
    const uint64_t *left_end = left + (middle - first);
    for (size_t right = middle; left < left_end; first++) {
        bool takes_right = right < end && sorting_is_out_of_order(sorting, leaf, *left, positions[right]);
        positions[first] = takes_right ? positions[right++] : *left++;
    }
}

void sorting_merge(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    for (size_t width = 1; width < end - first; width *= 2)
        for (size_t start = first; end - start > width; start += 2 * width) {
            size_t rest = end - start - width;
            merge(sorting, leaf, start, start + width, start + width + (rest < width ? rest : width));
            if (rest <= width)
                break;
        }
}

/* ---- rows ---- */

static size_t end_of_equal(const uint64_t *keys, size_t first, size_t end)
{
    size_t next = first + 1;
    while (next < end && keys[next] == keys[first])
        next++;
    return next;
}

/* Positions sorted by the keys of a vector's leaf: the rest is up to comparing, all leaves that follow included. */
static void sort_vectors(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    sorting_keys(sorting, leaf, first, end);
    for (size_t next; first < end; first = next) {
        next = end_of_equal(sorting->scratch, first, end);
        sorting_merge(sorting, leaf, first, next);
    }
}

void sorting_rows(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    uint32_t leaf_count = sorting->layout->count;
    for (; leaf < leaf_count && end - first > 1; leaf++) {
        bool is_vector = sorting->layout->leaves[leaf].type == LEAF_ARRAY;
        if (!is_vector && rows_leaf(sorting->rows, leaf).is_uniform)
            continue;
        sort_by_leaf(sorting, leaf, first, end);
        if (is_vector) {
            sort_vectors(sorting, leaf, first, end);
            return;
        }
        if (leaf + 1 == leaf_count)
            return;
        sorting_keys(sorting, leaf, first, end);
        /* the last run goes on with this loop, so that the stack is not used for leaves that all agree in */
        for (size_t next; (next = end_of_equal(sorting->scratch, first, end)) < end; first = next)
            sorting_rows(sorting, leaf + 1, first, next);
    }
}

/* Sorts what words of equal bits leave unsorted: the leaves that follow, for positions sorted by this one. */
static void sort_further(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    if (sorting->layout->leaves[leaf].type == LEAF_ARRAY) {
        sort_vectors(sorting, leaf, first, end);
        return;
    }
    if (leaf + 1 == sorting->layout->count)
        return;
    sorting_keys(sorting, leaf, first, end);
    for (size_t next; first < end; first = next) {
        next = end_of_equal(sorting->scratch, first, end);
        sorting_rows(sorting, leaf + 1, first, next);
    }
}

void sorting_words(const Sorting *sorting, uint32_t leaf, Packing packing, size_t first, size_t end)
{
    sort_loops_of(true)->sort(sorting->scratch + first, sorting->positions + first, end - first, true, sorting->position_bits, sorting->tables);
    unpack_sorted(sorting, leaf, packing, first, end);
    sort_further(sorting, leaf, first, end);
}

/* ---- entry points ---- */

static void number(uint64_t *positions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        positions[i] = i;
}

/* Sorts in this thread, with memory for so many. */
static void grade_alone(Sorting sorting, uint64_t *memory, size_t count)
{
    number(sorting.positions, count);
    sorting.position_bits = bit_width(count);
    sorting.scratch = memory;
    sorting.tables = (uint32_t *)(memory + count);
    sorting_rows(&sorting, 0, 0, count);
}

static void grade(Team *team, Sorting sorting, size_t count, int64_t *out)
{
    sorting.positions = (uint64_t *)out;
    if (count > SORTING_ALONE || team_shares(team, count, sorting_grain(team))) {
        sorting.position_bits = bit_width(count);
        sorting_share(team, &sorting, count);
    } else if (count <= RANK_MAX) {
        uint64_t memory[RANK_MAX];
        grade_alone(sorting, memory, count);
    } else {
        uint64_t *memory = sorting_alloc(team, count, sorting_table_words(count));
        grade_alone(sorting, memory, count);
        team_give_back(team, memory);
    }
}

static Sorting slice_sorting(const Grade *slice, bool is_descending)
{
    return (Sorting){slice->array->layout, {.array = slice->array}, .start = slice->start, .is_descending = is_descending};
}

void array_grade(Team *team, const Array *array, size_t start, size_t length, bool is_descending, int64_t *out)
{
    Grade slice = {array, start, length, out};
    grade(team, slice_sorting(&slice, is_descending), length, out);
}

void rows_grade(Team *team, const Layout *layout, const Cells *cells, size_t count, bool is_descending, int64_t *out)
{
    grade(team, (Sorting){layout, {.cells = cells}, .is_descending = is_descending}, count, out);
}

/* ---- many slices ---- */

enum { SLICES_PER_MEMBER = 4 };

/* What is made of slices. */
typedef struct SliceSort {
    size_t (*words)(size_t count); /* of memory that one thread needs */
    void (*alone)(const Grade *slice, bool is_descending, uint64_t *memory);
    void (*together)(Team *team, const Grade *slice, bool is_descending);
} SliceSort;

typedef struct SliceSorts {
    const SliceSort *sort;
    const Grade *slices;
    bool is_descending;
    size_t long_least; /* a slice that is as long is for all members */
    uint64_t *memory;  /* `words` of them for each member */
    size_t words;
} SliceSorts;

static bool is_for_all(const SliceSorts *sorts, size_t i)
{
    return sorts->slices[i].length >= sorts->long_least;
}

static void sort_slices(void *context, size_t first, size_t end, uint32_t member)
{
    const SliceSorts *sorts = context;
    for (size_t i = first; i < end; i++)
        if (sorts->slices[i].length > 0 && !is_for_all(sorts, i))
            sorts->sort->alone(&sorts->slices[i], sorts->is_descending, sorts->memory + member * sorts->words);
}

/* Slices that are many share their loop; one that has much of all the elements is sorted by all. */
static void sort_all_slices(Team *team, const SliceSort *sort, const Grade *slices, size_t count, bool is_descending)
{
    SliceSorts sorts = {.sort = sort, .slices = slices, .is_descending = is_descending};
    size_t total = 0, grain = sorting_grain(team), longest = 0;
    for (size_t i = 0; i < count; i++)
        total += slices[i].length;
    sorts.long_least = total / (SLICES_PER_MEMBER * team_size(team)) + 1;
    if (sorts.long_least <= grain)
        sorts.long_least = grain + 1;
    sorts.long_least = least(sorts.long_least, SORTING_MAX);
    for (size_t i = 0; i < count; i++)
        if (!is_for_all(&sorts, i) && slices[i].length > longest)
            longest = slices[i].length;
    /* members' tables stand apart by a cache line */
    sorts.words = sort->words(longest) + 8;
    sorts.memory = sorting_alloc(team, sorts.words, sorts.words * (team_size(team) - 1));
    team_run(team, count, total <= grain ? count : grain * count / total + 1, sort_slices, &sorts);
    team_give_back(team, sorts.memory);
    for (size_t i = 0; i < count; i++)
        if (is_for_all(&sorts, i))
            sort->together(team, &slices[i], is_descending);
}

static size_t grade_words(size_t count)
{
    return count + sorting_table_words(count);
}

static void grade_slice(const Grade *slice, bool is_descending, uint64_t *memory)
{
    Sorting sorting = slice_sorting(slice, is_descending);
    sorting.positions = slice->out;
    grade_alone(sorting, memory, slice->length);
}

static void grade_slice_together(Team *team, const Grade *slice, bool is_descending)
{
    grade(team, slice_sorting(slice, is_descending), slice->length, slice->out);
}

void arrays_grade(Team *team, const Grade *slices, size_t count, bool is_descending)
{
    static const SliceSort sort = {grade_words, grade_slice, grade_slice_together};
    sort_all_slices(team, &sort, slices, count, is_descending);
}

/* ---- ranks ---- */

/* Where positions are, in the places they name. */
typedef struct Ranking {
    const uint64_t *positions;
    int64_t *ranks;
} Ranking;

static void write_ranks(void *context, size_t first, size_t end, uint32_t member)
{
    const Ranking *ranking = context;
    (void)member;
    for (size_t i = first; i < end; i++)
        ranking->ranks[ranking->positions[i]] = (int64_t)i;
}

static size_t rank_words(size_t count)
{
    return count + grade_words(count);
}

static void rank_slice(const Grade *slice, bool is_descending, uint64_t *memory)
{
    Sorting sorting = slice_sorting(slice, is_descending);
    sorting.positions = memory;
    grade_alone(sorting, memory + slice->length, slice->length);
    write_ranks(&(Ranking){memory, slice->out}, 0, slice->length, 0);
}

static void rank_slice_together(Team *team, const Grade *slice, bool is_descending)
{
    uint64_t *positions = sorting_alloc(team, slice->length, 0);
    grade(team, slice_sorting(slice, is_descending), slice->length, (int64_t *)positions);
    team_run(team, slice->length, sorting_grain(team), write_ranks, &(Ranking){positions, slice->out});
    team_give_back(team, positions);
}

void arrays_rank(Team *team, const Grade *slices, size_t count, bool is_descending)
{
    static const SliceSort sort = {rank_words, rank_slice, rank_slice_together};
    sort_all_slices(team, &sort, slices, count, is_descending);
}

void arrays_sort(Team *team, const Grade *slices, size_t count, bool is_descending)
{
    static const SliceSort sort = {sorting_element_words, sorting_elements_alone, sorting_elements_together};
    sort_all_slices(team, &sort, slices, count, is_descending);
}
