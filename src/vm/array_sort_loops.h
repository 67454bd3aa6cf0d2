/* The loops of array_sort_vector.c, for each level of vector instructions and both widths of words. */
#ifndef RUNNEL_VM_ARRAY_SORT_LOOPS_H
#define RUNNEL_VM_ARRAY_SORT_LOOPS_H

#include "base/vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SORT_DIGIT_MAX = 10, /* bits; with more of them buckets are too many for the caches */
    SORT_FEW = 24,       /* words among others change places with their neighbours, */
    SETTLED_TOGETHER = 256, /* ... at least so many at a time */
    RANK_MAX = 32,       /* up to here comparing is fastest, and the tables fit the C stack */
};

static inline uint32_t bit_width(uint64_t value)
{
    uint32_t width = 0;
    for (uint32_t step = 32; step > 0; step /= 2)
        if (value >> step != 0) {
            width += step;
            value >>= step;
        }
    return width + (uint32_t)value;
}

/* How scalars as wide as words become words that order as they do: an exclusive or with these bits; floats are first turned into bits that order as
 * unsigned integers do, all nans into the same. */
typedef struct WordMask {
    bool is_float;
    uint64_t bits;
} WordMask;

/* What is known of words in a row. */
typedef struct WordRange {
    uint64_t first, least, greatest, last;
    bool is_sorted;
} WordRange;

/* Of words that are to be sorted. */
typedef struct WordOrder {
    uint32_t ordered;   /* those that differ in so many of the lowest bits only stand in order already */
    bool may_be_skewed; /* were not spread by magnitude yet */
} WordOrder;

typedef struct SortLoops {
    void (*to_words)(void *words, const void *cells, size_t count, WordMask mask);
    void (*from_words)(void *cells, const void *words, size_t count, WordMask mask); /* perhaps in place */
    /* of cells as words: */
    WordRange (*range)(const void *cells, size_t count, WordMask mask);
    void (*count)(const void *cells, size_t count, WordMask mask, uint64_t least, uint32_t shift, uint64_t *counts);
    void (*spread)(const void *cells, size_t count, WordMask mask, uint64_t least, uint32_t shift, uint64_t *offsets, void *to);
    /* Sorts words, less than 2^32 of them; they end in `spare` if asked for, otherwise in place. Those that differ in the `ordered` lowest bits only stand in order
     * already. In `counts` there is room for the tables of all digits, sort_table_entries. */
    void (*sort)(void *from, void *spare, size_t count, bool to_spare, uint32_t ordered, uint32_t *counts);
} SortLoops;

enum { SORT_NARROW, SORT_WIDE, SORT_WIDTHS }; /* words of 32 bits and of 64 */
#define VECTOR_LEVEL_ROW(level) extern const SortLoops VECTOR_NAME_AT(sort_loops, level)[SORT_WIDTHS];
VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW

/* Gives each of up to RANK_MAX keys the number of those that come before it in stable order. Writes behind the last key. */
typedef void RankKeys(uint64_t keys[RANK_MAX], size_t count, uint64_t ranks[RANK_MAX]);
#define VECTOR_LEVEL_ROW(level) extern RankKeys VECTOR_NAME_AT(rank_keys, level);
VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW

/* By how many of `bits` bits so many words are spread: four random ones or so then fall into a bucket. */
static inline uint32_t sort_digit(size_t count, uint32_t bits)
{
    uint32_t digit = 1;
    while (digit < SORT_DIGIT_MAX && count >> (digit + 2) != 0)
        digit++;
    return digit < bits ? digit : bits;
}

/* Of words that are spread by their distance from the least one, as floats: how many bits are kept below the first, so that there are as many buckets. */
static inline uint32_t sort_magnitude_bits(size_t count)
{
    uint32_t digit = sort_digit(count, 64);
    return digit > 7 ? digit - 6 : 1;
}

/* Of the tables of all digits, and of one that has magnitudes. */
static inline size_t sort_table_entries(size_t count)
{
    uint32_t digit = sort_digit(count, 64);
    return count <= RANK_MAX ? 0 : ((size_t)((64 + digit - 1) / digit) << digit) + ((size_t)64 << sort_magnitude_bits(count));
}

#endif
