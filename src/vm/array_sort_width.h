/* Included by array_sort_vector.c for each width of words: WORD is their type, NAME(x) names functions, TOP is the highest bit, and INFINITY_BITS and NAN_BITS are
 * those of floats. */

/* The bits of floats order as their magnitudes do; those of negative ones the other way round. */
static inline WORD NAME(word_of)(WORD cell, bool is_float, WORD mask)
{
    WORD turned = cell ^ (((WORD)0 - (cell / TOP)) | TOP);
    WORD ordered = (cell & ~TOP) > INFINITY_BITS ? NAN_BITS | TOP : turned;
    return (is_float ? ordered : cell) ^ mask;
}

static inline WORD NAME(cell_of)(WORD word, bool is_float, WORD mask)
{
    WORD ordered = word ^ mask;
    return is_float ? ordered ^ (((WORD)0 - (~ordered / TOP)) | TOP) : ordered;
}

/* A loop for floats and one for other cells. */
#define FOR_WORDS(cells, count, mask, ...)                                                                             \
    if ((mask).is_float)                                                                                               \
        for (size_t i = 0; i < (count); i++) {                                                                         \
            WORD word = NAME(word_of)((cells)[i], true, (WORD)(mask).bits);                                            \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    else                                                                                                               \
        for (size_t i = 0; i < (count); i++) {                                                                         \
            WORD word = NAME(word_of)((cells)[i], false, (WORD)(mask).bits);                                           \
            __VA_ARGS__                                                                                                \
        }

static void NAME(to_words)(void *words, const void *cells, size_t count, WordMask mask)
{
    WORD *to = words;
    const WORD *from = cells;
    FOR_WORDS(from, count, mask, to[i] = word;)
}

static void NAME(from_words)(void *cells, const void *words, size_t count, WordMask mask)
{
    WORD *to = cells;
    const WORD *from = words;
    if (mask.is_float)
        for (size_t i = 0; i < count; i++)
            to[i] = NAME(cell_of)(from[i], true, (WORD)mask.bits);
    else
        for (size_t i = 0; i < count; i++)
            to[i] = NAME(cell_of)(from[i], false, (WORD)mask.bits);
}

static WordRange NAME(range)(const void *cells, size_t count, WordMask mask)
{
    const WORD *from = cells;
    WORD first = NAME(word_of)(from[0], mask.is_float, (WORD)mask.bits), least = first, greatest = first, last = first;
    WORD is_unsorted = 0;
    FOR_WORDS(from, count, mask, {
        least = word < least ? word : least;
        greatest = word > greatest ? word : greatest;
        is_unsorted |= word < last;
        last = word;
    })
    return (WordRange){first, least, greatest, last, is_unsorted == 0};
}

static void NAME(count)(const void *cells, size_t count, WordMask mask, uint64_t least, uint32_t shift, uint64_t *counts)
{
    const WORD *from = cells;
    FOR_WORDS(from, count, mask, counts[(WORD)(word - (WORD)least) >> shift]++;)
}

static void NAME(spread)(const void *cells, size_t count, WordMask mask, uint64_t least, uint32_t shift, uint64_t *offsets, void *words)
{
    const WORD *from = cells;
    WORD *to = words;
    FOR_WORDS(from, count, mask, to[offsets[(WORD)(word - (WORD)least) >> shift]++] = word;)
}

/* From one place to another, or within one. */
static void NAME(insert)(const WORD *from, WORD *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        WORD word = from[i];
        size_t at = i;
        for (; at > 0 && to[at - 1] > word; at--)
            to[at] = to[at - 1];
        to[at] = word;
    }
}

/* Writes each word from `least` on as often as was counted. */
static void NAME(fill)(WORD *to, const uint32_t *counts, size_t buckets, WORD least)
{
    for (size_t bucket = 0; bucket < buckets; bucket++)
        for (uint32_t i = 0; i < counts[bucket]; i++)
            *to++ = (WORD)(least + (WORD)bucket);
}

static void NAME(sort_bucket)(WORD *restrict from, WORD *restrict spare, size_t count, uint32_t bits, WORD least, bool to_spare,
                              uint32_t *counts)
{
    if (count <= SORT_FEW || bits == 0) {
        NAME(insert)(from, to_spare ? spare : from, count);
        return;
    }
    uint32_t digit = sort_digit(count, bits), shift = bits - digit;
    size_t buckets = (size_t)1 << digit;
    memset(counts, 0, buckets * sizeof *counts);
    for (size_t i = 0; i < count; i++)
        counts[(WORD)(from[i] - least) >> shift]++;
    if (shift == 0) {
        NAME(fill)(to_spare ? spare : from, counts, buckets, least);
        return;
    }
    counts_to_starts(counts, buckets);
    for (size_t i = 0; i < count; i++)
        spare[counts[(WORD)(from[i] - least) >> shift]++] = from[i];
    /* a start is now the end of its bucket */
    for (size_t bucket = 0, start = 0; bucket < buckets; start = counts[bucket++])
        if (counts[bucket] - start > SORT_FEW)
            NAME(sort_bucket)(spare + start, from + start, counts[bucket] - start, shift, (WORD)(least + ((WORD)bucket << shift)), false,
                              counts + buckets);
    NAME(insert)(spare, to_spare ? spare : from, count);
}

static void NAME(sort)(void *from, void *spare, size_t count, uint32_t bits, uint64_t least, bool to_spare, uint32_t *counts)
{
    NAME(sort_bucket)(from, spare, count, bits, (WORD)least, to_spare, counts);
}

#undef FOR_WORDS
