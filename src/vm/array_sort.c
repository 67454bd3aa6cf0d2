/* Sorting positions, stably.
 *
 * Each leaf gives every row a key of 64 bits that orders as the leaf does. Positions are sorted by the keys of the first leaf; then runs of
 * positions whose keys are equal are sorted by the second, and so on. For a vector, the key is only its beginning: runs of equal
 * keys are merge-sorted by comparing rows.
 *
 * Keys are sorted by radix. What is moved around is one word, the leading bits of (key - least key) above the position, rather than a key and
 * a position of a word each. As many bits as tell most keys apart are enough: the few runs that agree in all of them are sorted again,
 * by the bits below. Keys are computed anew for that, which costs less than the memory to keep them. */
#include "math/elementary.h"
#include "vm/array_private.h"

#include <string.h>

enum {
    INSERTION_MAX = 32,     /* up to here insertion sort is fastest, and the tables fit the C stack */
    SHORT_MAX = 1 << 13,    /* up to here short digits are: tables of long ones cost more than a pass */
    SHORT_DIGIT = 8,        /* bits */
    LONG_DIGIT = 11,
    SPARE_BITS = 8,         /* beyond those that number the elements: random keys then rarely agree */
    /* for all passes: at most 14 + SPARE_BITS bits are sorted by short digits, (64 + SPARE_BITS) / 2 by long ones */
    SHORT_COUNTS = 3 << SHORT_DIGIT,
    LONG_COUNTS = 4 << LONG_DIGIT,
};

typedef struct Sorting {
    const Layout *layout;
    Rows rows;
    size_t start; /* of position 0 in the rows */
    bool is_descending;
    uint32_t position_bits; /* enough for every position */
    uint64_t *positions;    /* what is sorted */
    uint64_t *scratch;      /* as many words, of use to whoever sorts the positions at the same place: their keys at first */
    uint64_t *counts;       /* of digits, for all passes */
} Sorting;

static uint32_t bit_width(uint64_t value)
{
    uint32_t width = 0;
    for (uint32_t step = 32; step > 0; step /= 2)
        if (value >> step != 0) {
            width += step;
            value >>= step;
        }
    return width + (uint32_t)value;
}

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

/* Keys of `count` positions of a column of scalars. */
#define SCALAR(ID, name, c_type, kind)                                                                                \
    static void keys_of_##ID(uint64_t *keys, const c_type *cells, const uint64_t *positions, size_t count,            \
                             uint64_t flip)                                                                           \
    {                                                                                                                 \
        for (size_t i = 0; i < count; i++)                                                                            \
            keys[i] = KEY_##kind(cells[positions[i]]) ^ flip;                                                         \
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

/* The first eight bytes, the first one above, zeros after the end. */
static uint64_t key_of_bytes(Cells bytes, size_t length)
{
    uint64_t key = 0;
    for (size_t i = 0; i < 8; i++)
        key = key << 8 | (i < length ? ((const unsigned char *)bytes.data)[cells_index(bytes, i)] : 0);
    return key;
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
        return key_of_bytes(array_cells(vector.array, 0, vector.start), vector.length);
    const Column *column = &vector.array->columns[0];
    uint64_t key, position = 0;
    scalar_keys(&key, elements->leaves[0].type, column->data, column->is_uniform ? 0 : vector.start, &position, 1, 0);
    return key;
}

static Row row_at(const Sorting *sorting, uint64_t position)
{
    return (Row){sorting->rows, sorting->start + position};
}

/* Fills scratch with the keys that a leaf gives a run of positions. */
static uint64_t *make_keys(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    const Leaf *kind = &sorting->layout->leaves[leaf];
    const uint64_t *positions = sorting->positions;
    uint64_t flip = sorting->is_descending ? UINT64_MAX : 0;
    if (kind->type == LEAF_ARRAY)
        for (size_t i = first; i < end; i++)
            sorting->scratch[i] = vector_key(kind->elements, row_vector(row_at(sorting, positions[i]), leaf)) ^ flip;
    else
        scalar_keys(sorting->scratch + first, kind->type, rows_leaf(sorting->rows, leaf).data, sorting->start,
                    positions + first, end - first, flip);
    return sorting->scratch + first;
}

static void insertion_sort(uint64_t *keys, uint64_t *positions, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i], position = positions[i];
        size_t to = i;
        for (; to > 0 && keys[to - 1] > key; to--) {
            keys[to] = keys[to - 1];
            positions[to] = positions[to - 1];
        }
        keys[to] = key;
        positions[to] = position;
    }
}

/* ---- radix sort ---- */

/* What is known of the keys of a run. */
typedef struct Range {
    uint64_t least, greatest;
    uint64_t varying; /* the bits in which they differ */
    bool is_sorted;
} Range;

static Range range_of(const uint64_t *keys, size_t count)
{
    Range range = {keys[0], keys[0], 0, true};
    for (size_t i = 1; i < count; i++) {
        range.least = keys[i] < range.least ? keys[i] : range.least;
        range.greatest = keys[i] > range.greatest ? keys[i] : range.greatest;
        range.varying |= keys[i] ^ keys[i - 1];
        range.is_sorted &= keys[i - 1] <= keys[i];
    }
    return range;
}

/* How one run is sorted: by the `digit * passes` bits of (key - least) above `shift`. */
typedef struct Plan {
    uint64_t least;
    uint32_t shift;
    uint32_t digit;
    uint32_t passes;
    bool is_complete; /* no keys differ in the bits below */
} Plan;

static uint32_t least_bits(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static Plan make_plan(const Sorting *sorting, const Range *range, size_t count)
{
    uint32_t width = bit_width(range->greatest - range->least);
    uint32_t low = bit_width(range->varying & (~range->varying + 1)) - 1; /* the lowest bit in which they differ */
    uint32_t digit = count <= SHORT_MAX ? SHORT_DIGIT : LONG_DIGIT;
    uint32_t possible = least_bits(width - low, 64 - sorting->position_bits);
    uint32_t wanted = least_bits(possible, bit_width(count) + SPARE_BITS);
    uint32_t passes = (wanted + digit - 1) / digit;
    digit = (wanted + passes - 1) / passes; /* the fewer buckets, the better they stay in the cache */
    uint32_t bits = least_bits(possible, passes * digit);
    return (Plan){range->least, width - bits, digit, passes, width - bits <= low};
}

/* Puts the bits to sort by above the positions, and counts the digits of all passes. */
static void pack(const Sorting *sorting, Plan plan, uint64_t *words, const uint64_t *keys, size_t count)
{
    uint64_t *counts = sorting->counts;
    size_t buckets = (size_t)1 << plan.digit;
    memset(counts, 0, plan.passes * buckets * sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = (keys[i] - plan.least) >> plan.shift;
        words[i] |= bits << sorting->position_bits;
        uint64_t *table = counts;
        for (uint32_t pass = 0; pass < plan.passes; pass++, bits >>= plan.digit, table += buckets)
            table[bits & (buckets - 1)]++;
    }
}

/* Makes counts offsets; false if all digits are the same. */
static bool make_offsets(uint64_t *counts, size_t buckets, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < buckets; i++) {
        uint64_t here = counts[i];
        if (here == count)
            return false;
        counts[i] = sum;
        sum += here;
    }
    return true;
}

static void scatter(const uint64_t *from, uint64_t *to, size_t count, uint64_t *offsets, uint32_t shift, uint64_t mask)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = from[i];
        to[offsets[word >> shift & mask]++] = word;
    }
}

/* Sorts words by all digits; gives where they are then, here or there. */
static uint64_t *sort_words(const Sorting *sorting, Plan plan, uint64_t *here, uint64_t *there, size_t count)
{
    size_t buckets = (size_t)1 << plan.digit;
    for (uint32_t pass = 0; pass < plan.passes; pass++) {
        uint64_t *offsets = sorting->counts + pass * buckets;
        if (!make_offsets(offsets, buckets, count))
            continue;
        scatter(here, there, count, offsets, sorting->position_bits + pass * plan.digit, buckets - 1);
        uint64_t *sorted = there;
        there = here;
        here = sorted;
    }
    return here;
}

static void sort_by_leaf(const Sorting *sorting, uint32_t leaf, size_t first, size_t end);

/* Makes positions of sorted words. */
static void unpack(const Sorting *sorting, const uint64_t *words, uint64_t *positions, size_t count)
{
    uint64_t mask = (UINT64_C(1) << sorting->position_bits) - 1;
    for (size_t i = 0; i < count; i++)
        positions[i] = words[i] & mask;
}

/* Likewise, and sorts those further that have the same bits. Their words are read before that overwrites them. */
static void unpack_runs(const Sorting *sorting, uint32_t leaf, const uint64_t *words, size_t first, size_t end)
{
    for (size_t i = first, next; i < end; i = next) {
        uint64_t bits = words[i - first] >> sorting->position_bits;
        next = i + 1;
        while (next < end && words[next - first] >> sorting->position_bits == bits)
            next++;
        unpack(sorting, words + (i - first), sorting->positions + i, next - i);
        if (next - i > 1)
            sort_by_leaf(sorting, leaf, i, next);
    }
}

/* Sorts a run of positions by the keys of one leaf. */
static void sort_by_leaf(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
{
    uint64_t *positions = sorting->positions + first;
    size_t count = end - first;
    uint64_t *keys = make_keys(sorting, leaf, first, end);
    if (count <= INSERTION_MAX) {
        insertion_sort(keys, positions, count);
        return;
    }
    Range range = range_of(keys, count);
    if (range.is_sorted)
        return;
    Plan plan = make_plan(sorting, &range, count);
    pack(sorting, plan, positions, keys, count);
    const uint64_t *words = sort_words(sorting, plan, positions, keys, count);
    if (plan.is_complete)
        unpack(sorting, words, positions, count);
    else
        unpack_runs(sorting, leaf, words, first, end);
}

/* ---- merge sort ---- */

/* Whether the row at b must come before the one at a, which stood first. */
static bool is_out_of_order(const Sorting *sorting, uint32_t leaf, uint64_t a, uint64_t b)
{
    Order order = row_order(sorting->layout, leaf, row_at(sorting, a), row_at(sorting, b), true);
    return order == (sorting->is_descending ? ORDER_LESS : ORDER_GREATER);
}

/* Merges two runs next to each other, the first of which is put aside. */
static void merge(const Sorting *sorting, uint32_t leaf, size_t first, size_t middle, size_t end)
{
    uint64_t *positions = sorting->positions, *left = sorting->scratch + first;
    if (!is_out_of_order(sorting, leaf, positions[middle - 1], positions[middle]))
        return;
    memcpy(left, positions + first, (middle - first) * sizeof *left);
    const uint64_t *left_end = left + (middle - first);
    for (size_t right = middle; left < left_end; first++) {
        bool takes_right = right < end && is_out_of_order(sorting, leaf, *left, positions[right]);
        positions[first] = takes_right ? positions[right++] : *left++;
    }
}

static void merge_sort(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
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
    make_keys(sorting, leaf, first, end);
    for (size_t next; first < end; first = next) {
        next = end_of_equal(sorting->scratch, first, end);
        merge_sort(sorting, leaf, first, next);
    }
}

/* Sorts positions that agree in all leaves before this one. */
static void sort_rows(const Sorting *sorting, uint32_t leaf, size_t first, size_t end)
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
        make_keys(sorting, leaf, first, end);
        /* the last run goes on with this loop, so that the stack is not used for leaves that all agree in */
        for (size_t next; (next = end_of_equal(sorting->scratch, first, end)) < end; first = next)
            sort_rows(sorting, leaf + 1, first, next);
    }
}

static void grade(Memory *memory, Sorting sorting, size_t count, int64_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int64_t)i;
    sorting.positions = (uint64_t *)out;
    sorting.position_bits = bit_width(count);
    if (count <= INSERTION_MAX) {
        uint64_t scratch[INSERTION_MAX];
        sorting.scratch = scratch;
        sort_rows(&sorting, 0, 0, count);
        return;
    }
    if (count > SIZE_MAX / sizeof(uint64_t) - LONG_COUNTS)
        memory_fail(memory);
    /* one block for all: if that fails there is nothing to give back */
    size_t size = (count + (count <= SHORT_MAX ? SHORT_COUNTS : LONG_COUNTS)) * sizeof(uint64_t);
    sorting.scratch = memory_resize(memory, NULL, 0, size);
    sorting.counts = sorting.scratch + count;
    sort_rows(&sorting, 0, 0, count);
    memory_free(memory, sorting.scratch, size);
}

void array_grade(Memory *memory, const Array *array, size_t start, size_t length, bool is_descending, int64_t *out)
{
    grade(memory, (Sorting){array->layout, {.array = array}, .start = start, .is_descending = is_descending}, length, out);
}

void rows_grade(Memory *memory, const Layout *layout, const Cells *cells, size_t count, bool is_descending, int64_t *out)
{
    grade(memory, (Sorting){layout, {.cells = cells}, .is_descending = is_descending}, count, out);
}
