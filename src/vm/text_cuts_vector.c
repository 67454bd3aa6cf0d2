/* The loops of text_cuts.h, compiled once for each level of vector instructions.
 *
 * A block of 64 bytes becomes a word with a bit for each byte: whether it is a newline, or a blank. What follows looks at bits that are set only. */
#include "vm/text_cuts.h"

#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { BLOCK = 64 };

/* ---- blocks as bits ---- */

#if defined __AVX512BW__
typedef __m512i Lanes;
enum { LANES = 64 };
static inline Lanes load_lanes(const char *bytes)
{
    return _mm512_loadu_si512(bytes);
}
static inline uint64_t equal_lanes(Lanes lanes, char c)
{
    return _mm512_cmpeq_epi8_mask(lanes, _mm512_set1_epi8(c));
}
#elif defined __AVX2__
typedef __m256i Lanes;
enum { LANES = 32 };
static inline Lanes load_lanes(const char *bytes)
{
    return _mm256_loadu_si256((const Lanes *)bytes);
}
static inline uint64_t equal_lanes(Lanes lanes, char c)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(lanes, _mm256_set1_epi8(c)));
}
#elif defined __SSE2__
typedef __m128i Lanes;
enum { LANES = 16 };
static inline Lanes load_lanes(const char *bytes)
{
    return _mm_loadu_si128((const Lanes *)bytes);
}
static inline uint64_t equal_lanes(Lanes lanes, char c)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(lanes, _mm_set1_epi8(c)));
}
#else
typedef char Lanes;
enum { LANES = 1 };
static inline Lanes load_lanes(const char *bytes)
{
    return *bytes;
}
static inline uint64_t equal_lanes(Lanes lanes, char c)
{
    return lanes == c;
}
#endif

static inline uint64_t newline_bits(const char *bytes)
{
    uint64_t bits = 0;
    for (int i = 0; i < BLOCK; i += LANES)
        bits |= equal_lanes(load_lanes(bytes + i), '\n') << i;
    return bits;
}

static inline uint64_t blank_bits(const char *bytes)
{
    uint64_t bits = 0;
    for (int i = 0; i < BLOCK; i += LANES) {
        Lanes lanes = load_lanes(bytes + i);
        bits |= (equal_lanes(lanes, ' ') | equal_lanes(lanes, '\n') | equal_lanes(lanes, '\t') | equal_lanes(lanes, '\r')) << i;
    }
    return bits;
}

/* Bits of the bytes from `length` on. */
static inline uint64_t bits_beyond(size_t length)
{
    return length < BLOCK ? ~(uint64_t)0 << length : 0;
}

/* A block that begins at byte i. Where its bytes may not be looked at they are copied. */
static inline const char *block_at(const CutText *text, size_t i, char *copy)
{
    if (text->readable - i >= BLOCK)
        return text->bytes + i;
    memset(copy, 0, BLOCK);
    memcpy(copy, text->bytes + i, text->length - i < BLOCK ? text->length - i : BLOCK);
    return copy;
}

static inline uint64_t newlines_at(const CutText *text, size_t i)
{
    char copy[BLOCK];
    return newline_bits(block_at(text, i, copy)) & ~bits_beyond(text->length - i);
}

/* What follows the text is blank. */
static inline uint64_t blanks_at(const CutText *text, size_t i)
{
    char copy[BLOCK];
    return blank_bits(block_at(text, i, copy)) | bits_beyond(text->length - i);
}

static inline size_t first_bit(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits);
}

static inline size_t count_bits(uint64_t bits)
{
    return (size_t)__builtin_popcountll(bits);
}

/* ---- lines ---- */

static size_t count_lines(const CutText *text, size_t *last)
{
    size_t count = 0;
    for (size_t i = 0; i < text->length; i += BLOCK) {
        uint64_t newlines = newlines_at(text, i);
        count += count_bits(newlines);
        if (newlines != 0)
            *last = i + BLOCK - 1 - (size_t)__builtin_clzll(newlines);
    }
    return count;
}

static inline void add_line(const CutText *text, int64_t *start, size_t newline, TextCuts *cuts)
{
    int64_t end = text->offset + (int64_t)newline, length = end - *start;
    bool has_return = length > 0 && text->bytes[(ptrdiff_t)newline - 1] == '\r';
    cuts->starts[cuts->count] = *start;
    cuts->lengths[cuts->count++] = length - has_return;
    *start = end + 1;
}

static void lines(const CutText *text, int64_t *start, TextCuts *cuts)
{
    TextCuts made = *cuts; /* a copy, which is in registers */
    int64_t next = *start;
    for (size_t i = 0; i < text->length && made.count < made.room; i += BLOCK) {
        uint64_t newlines = newlines_at(text, i);
        for (; newlines != 0 && made.count < made.room; newlines &= newlines - 1)
            add_line(text, &next, i + first_bit(newlines), &made);
    }
    cuts->count = made.count;
    *start = next;
}

/* ---- words ---- */

static size_t count_words(const CutText *text)
{
    size_t count = 0;
    uint64_t carry = 1; /* the byte before is a blank */
    for (size_t i = 0; i < text->length; i += BLOCK) {
        uint64_t blanks = blanks_at(text, i);
        count += count_bits(~blanks & (blanks << 1 | carry));
        carry = blanks >> (BLOCK - 1);
    }
    return count;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static size_t next_word(const CutText *text, size_t i)
{
    while (i < text->length && is_blank(text->bytes[i]))
        i++;
    return i;
}

/* One word at a time, for where there is little room. */
static void few_words(const CutText *text, size_t *position, TextCuts *cuts)
{
    size_t i = next_word(text, *position);
    for (size_t start; i < text->length && cuts->count < cuts->room; i = next_word(text, i)) {
        for (start = i; i < text->length && !is_blank(text->bytes[i]); i++)
            continue;
        cuts->starts[cuts->count] = text->offset + (int64_t)start;
        cuts->lengths[cuts->count++] = (int64_t)(i - start);
    }
    *position = i;
}

/* Places of bits are written in groups, up to some too many at the end: that is cheaper than a branch for each, for how many there are is hard to predict. */
enum { GROUP = 8 };

/* Where the first bit is, which is taken away; anything if there is none, and that without a branch. */
static inline uint64_t take_place(uint64_t *bits)
{
    uint64_t place = first_bit(*bits | (uint64_t)1 << (BLOCK - 1));
    *bits &= *bits - 1;
    VECTOR_HIDE(place);
    return place;
}

static inline void write_starts(int64_t *starts, uint64_t firsts, int64_t base)
{
    for (size_t i = 0, count = count_bits(firsts); i < count; i += GROUP)
        for (size_t k = i; k < i + GROUP; k++)
            starts[k] = base + (int64_t)take_place(&firsts);
}

/* What is written too many may overflow. */
static inline void write_lengths(int64_t *lengths, const int64_t *starts, uint64_t ends, int64_t base)
{
    for (size_t i = 0, count = count_bits(ends); i < count; i += GROUP)
        for (size_t k = i; k < i + GROUP; k++)
            lengths[k] = (int64_t)((uint64_t)base + take_place(&ends) - (uint64_t)starts[k]);
}

/* A word that has begun and whose end was not seen yet has its start where it goes to, behind those that are counted. */
static void words(const CutText *text, size_t *position, TextCuts *cuts)
{
    enum { MOST = BLOCK / 2 + 1 + GROUP }; /* words that end in a block, or behind it, and what is written too many */
    int64_t *starts = cuts->starts, *lengths = cuts->lengths;
    size_t count = cuts->count, i = *position;
    uint64_t carry = 1; /* the byte before is a blank */
    for (; i < text->length && cuts->room - count >= MOST; i += BLOCK) {
        uint64_t blanks = blanks_at(text, i), blanks_before = blanks << 1 | carry, ends = blanks & ~blanks_before;
        int64_t base = text->offset + (int64_t)i;
        write_starts(starts + count + (carry == 0), blanks_before & ~blanks, base);
        write_lengths(lengths + count, starts + count, ends, base);
        count += count_bits(ends);
        carry = blanks >> (BLOCK - 1);
    }
    cuts->count = count;
    if (i < text->length) {
        *position = carry == 0 ? (size_t)(starts[count] - text->offset) : i;
        few_words(text, position, cuts);
        return;
    }
    if (carry == 0) {
        lengths[count] = text->offset + (int64_t)text->length - starts[count];
        cuts->count++;
    }
    *position = text->length;
}

const TextCutLoops VECTOR_NAME(text_cut_loops) = {
    .count_lines = count_lines,
    .lines = lines,
    .count_words = count_words,
    .words = words,
};
