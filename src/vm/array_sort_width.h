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

/* Of words next to each other the first is computed twice, so that no step waits for the one before. */
static WordRange NAME(range)(const void *cells, size_t count, WordMask mask)
{
    const WORD *from = cells, *next = from + 1;
    WORD first = NAME(word_of)(from[0], mask.is_float, (WORD)mask.bits), least = first, greatest = first;
    WORD is_unsorted = 0;
    FOR_WORDS(next, count - 1, mask, {
        WORD before = NAME(word_of)(from[i], mask.is_float, (WORD)mask.bits);
        least = word < least ? word : least;
        greatest = word > greatest ? word : greatest;
        is_unsorted |= word < before;
    })
    return (WordRange){first, least, greatest, NAME(word_of)(from[count - 1], mask.is_float, (WORD)mask.bits), is_unsorted == 0};
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

/* Sorts words which are in order but for groups of at most so many next to each other, from one place to another or within one. Neighbours change places in as many rounds, in every other one with those on their other
 * side: more steps than inserting has, but many at once, and none of them is guessed wrong. */
static void NAME(settle)(const WORD *from, WORD *to, size_t count, size_t group)
{
    if (from != to)
        memcpy(to, from, count * sizeof *to);
    for (size_t round = 0; round < group && group > 1; round++)
        for (size_t i = round % 2; i + 1 < count; i += 2) {
            WORD one = to[i], other = to[i + 1];
            to[i] = one < other ? one : other;
            to[i + 1] = one < other ? other : one;
        }
}

/* Words next to each other, as many as a register has. */
typedef WORD NAME(Lanes) __attribute__((vector_size(VECTOR_BYTES)));
enum { NAME(LANES) = VECTOR_BYTES / sizeof(WORD) };

static inline NAME(Lanes) NAME(number_lanes)(void)
{
    NAME(Lanes) numbers;
    for (size_t i = 0; i < NAME(LANES); i++)
        numbers[i] = (WORD)i;
    return numbers;
}

/* How many come before each of up to RANK_MAX words in stable order. Each is compared with all others, the
 * earlier of equal ones being less: these are more steps than a sort has, but none of them is guessed wrong. */
static void NAME(rank)(WORD words[RANK_MAX], size_t count, WORD ranks[RANK_MAX])
{
    NAME(Lanes) numbers = NAME(number_lanes)();
    for (size_t i = count; i % NAME(LANES) != 0; i++)
        words[i] = (WORD)UINT64_MAX; /* comes after the others */
    for (size_t first = 0; first < count; first += NAME(LANES)) {
        NAME(Lanes) lanes, rank = {0};
        memcpy(&lanes, words + first, sizeof lanes);
        for (size_t i = 0; i < first; i++)
            rank -= (NAME(Lanes))(lanes >= words[i]);
        for (size_t i = 0; i < NAME(LANES); i++)
            rank -= (NAME(Lanes))(lanes > words[first + i]) | ((NAME(Lanes))(lanes == words[first + i]) & (NAME(Lanes))(numbers > (WORD)i));
        for (size_t i = first + NAME(LANES); i < count; i++)
            rank -= (NAME(Lanes))(lanes > words[i]);
        memcpy(ranks + first, &rank, sizeof rank);
    }
}

/* Sorts up to RANK_MAX words, from one place to another or within one. */
static void NAME(sort_few)(const WORD *from, WORD *to, size_t count)
{
    WORD words[RANK_MAX], ranks[RANK_MAX];
    memcpy(words, from, count * sizeof *from);
    NAME(rank)(words, count, ranks);
    for (size_t i = 0; i < count; i++)
        to[ranks[i]] = words[i];
}

/* Writes each word from `least` on as often as was counted. */
static void NAME(fill)(WORD *to, const uint32_t *counts, size_t buckets, WORD least)
{
    for (size_t bucket = 0; bucket < buckets; bucket++)
        for (uint32_t i = 0; i < counts[bucket]; i++)
            *to++ = (WORD)(least + (WORD)bucket);
}

static void NAME(sort_bucket)(WORD *restrict from, WORD *restrict spare, size_t count, bool to_spare, WordOrder order, uint32_t *counts);

/* Sorts words that were spread over buckets, whose ends are given; behind these is room for other tables. */
static void NAME(sort_spread)(WORD *restrict words, WORD *restrict other, size_t count, bool to_other, WordOrder order, uint32_t *ends,
                              size_t buckets)
{
    WORD *to = to_other ? other : words;
    size_t settled = 0, group = 0;
    for (size_t bucket = 0, start = 0; bucket < buckets; start = ends[bucket++]) {
        size_t here = ends[bucket] - start;
        if (here > SORT_FEW || start - settled >= SETTLED_TOGETHER) {
            NAME(settle)(words + settled, to + settled, start - settled, group);
            settled = start;
            group = 0;
        }
        if (here > SORT_FEW) {
            NAME(sort_bucket)(words + start, other + start, here, to_other, order, ends + buckets);
            settled = ends[bucket];
        } else if (here > group)
            group = here;
    }
    NAME(settle)(words + settled, to + settled, count - settled, group);
}

/* The bucket of a word by its distance from the least one, which is taken as a float of `kept` bits below the first. */
static inline size_t NAME(magnitude)(WORD distance, uint32_t kept)
{
    uint32_t width = 64 - (uint32_t)__builtin_clzll((uint64_t)distance | 1), shift = width > kept + 1 ? width - kept - 1 : 0;
    return ((size_t)shift << kept) + (size_t)(distance >> shift);
}

/* Sorts words most of which are close to the least one. */
static void NAME(sort_skewed)(WORD *restrict from, WORD *restrict spare, size_t count, WORD least, bool to_spare, WordOrder order, uint32_t *counts)
{
    uint32_t kept = sort_magnitude_bits(count);
    size_t buckets = (size_t)64 << kept;
    memset(counts, 0, buckets * sizeof *counts);
    for (size_t i = 0; i < count; i++)
        counts[NAME(magnitude)((WORD)(from[i] - least), kept)]++;
    counts_to_starts(counts, buckets);
    for (size_t i = 0; i < count; i++)
        spare[counts[NAME(magnitude)((WORD)(from[i] - least), kept)]++] = from[i];
    order.may_be_skewed = false;
    NAME(sort_spread)(spare, from, count, !to_spare, order, counts, buckets);
}

static void NAME(sort_bucket)(WORD *restrict from, WORD *restrict spare, size_t count, bool to_spare, WordOrder order, uint32_t *counts)
{
    if (count <= RANK_MAX) {
        NAME(sort_few)(from, to_spare ? spare : from, count);
        return;
    }
    WordRange range = NAME(range)(from, count, (WordMask){0});
    if (range.is_sorted) {
        if (to_spare)
            memcpy(spare, from, count * sizeof *from);
        return;
    }
    WORD least = (WORD)(range.least >> order.ordered << order.ordered);
    uint32_t bits = bit_width(range.greatest - least), digit = sort_digit(count, bits - order.ordered), shift = bits - digit;
    size_t buckets = (size_t)1 << digit;
    memset(counts, 0, buckets * sizeof *counts);
    for (size_t i = 0; i < count; i++)
        counts[(WORD)(from[i] - least) >> shift]++;
    if (shift == 0) {
        NAME(fill)(to_spare ? spare : from, counts, buckets, least);
        return;
    }
    if (order.may_be_skewed && counts[0] > count / 4 * 3) {
        NAME(sort_skewed)(from, spare, count, least, to_spare, order, counts);
        return;
    }
    counts_to_starts(counts, buckets);
    for (size_t i = 0; i < count; i++)
        spare[counts[(WORD)(from[i] - least) >> shift]++] = from[i];
    /* a start is now the end of its bucket */
    if (shift > order.ordered)
        NAME(sort_spread)(spare, from, count, !to_spare, order, counts, buckets);
    else if (!to_spare)
        memcpy(from, spare, count * sizeof *from);
}

static void NAME(sort)(void *from, void *spare, size_t count, bool to_spare, uint32_t ordered, uint32_t *counts)
{
    NAME(sort_bucket)(from, spare, count, to_spare, (WordOrder){ordered, true}, counts);
}

#undef FOR_WORDS
