/* The loops of movements, compiled once for each level of vector instructions.
 *
 * Short segments are written in steps of several cells, the last step beyond the segment's end: what follows is written over it. So a segment
 * up to one step long has no loop whose end must be guessed. Only the last segments, where a step could leave the output, are filled
 * cell by cell. */
#include "base/bypass.h"
#include "base/least.h"
#include "vm/lengths.h"
#include "vm/movement_private.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* ---- flags ---- */

/* Flags of a strip are counted in bytes, which hold up to 255. */
enum { STRIP = 192 };

static size_t count_true(const uint8_t *flags, size_t count)
{
    size_t total = 0, i = 0;
    for (; i + STRIP <= count; i += STRIP) {
        uint8_t strip = 0;
        for (size_t j = 0; j < STRIP; j++)
            strip = (uint8_t)(strip + flags[i + j]);
        total += strip;
    }
    for (; i < count; i++)
        total += flags[i];
    return total;
}

static size_t count(const bool *flags, size_t length, bool keep)
{
    size_t is_true = count_true((const uint8_t *)flags, length);
    return keep ? is_true : length - is_true;
}

/* Eight flags as the bytes of a word; those that equal `keep` become 1. */
static inline uint64_t eight_flags(const bool *flags, bool keep)
{
    uint64_t word;
    memcpy(&word, flags, sizeof word);
    return keep ? word : word ^ UINT64_C(0x0101010101010101);
}

static void count_running(int64_t *restrict running, const bool *restrict flags, size_t length, bool keep, int64_t start)
{
    size_t i = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; i + 8 <= length; i += 8) {
        /* the product's bytes are the running sums of the word's */
        uint64_t sums = eight_flags(flags + i, keep) * UINT64_C(0x0101010101010101);
        uint8_t bytes[8];
        memcpy(bytes, &sums, sizeof bytes);
        for (size_t j = 0; j < 8; j++)
            running[i + j] = start + bytes[j];
        start += bytes[7];
    }
#endif
    for (; i < length; i++) {
        start += flags[i] == keep;
        running[i] = start;
    }
}

/* ---- pack ----
 * How many cells are kept is counted first, so that nothing is written beyond them. */

/* Copies the rest, from position `i` on, until `total` are kept: writes every cell and steps on after those kept, without a branch to be
 * guessed. */
#define PACK_REST(Cell)                                                                                                \
    static void pack_rest_##Cell(Cell *restrict out, const Cell *restrict from, const bool *restrict flags, bool keep, \
                                 size_t i, size_t kept, size_t total)                                                  \
    {                                                                                                                  \
        for (; kept < total; i++) {                                                                                    \
            out[kept] = from[i];                                                                                       \
            kept += flags[i] == keep;                                                                                  \
        }                                                                                                              \
    }

#ifdef __AVX2__

/* Four flags are a row of a table: the order that moves the cells kept to the front. */
#define ORDERS(ROW)                                                                                                    \
    ROW(0, 0, 0, 0) ROW(0, 0, 0, 0) ROW(1, 0, 0, 0) ROW(0, 1, 0, 0) ROW(2, 0, 0, 0) ROW(0, 2, 0, 0) ROW(1, 2, 0, 0)    \
    ROW(0, 1, 2, 0) ROW(3, 0, 0, 0) ROW(0, 3, 0, 0) ROW(1, 3, 0, 0) ROW(0, 1, 3, 0) ROW(2, 3, 0, 0) ROW(0, 2, 3, 0)    \
    ROW(1, 2, 3, 0) ROW(0, 1, 2, 3)

/* Bytes of a register of 16 for cells up to 4 bytes; halves of cells of 8. */
#define BYTES_1(a) a
#define BYTES_2(a) 2 * a, 2 * a + 1
#define BYTES_4(a) 4 * a, 4 * a + 1, 4 * a + 2, 4 * a + 3
#define ROW_1(a, b, c, d) {BYTES_1(a), BYTES_1(b), BYTES_1(c), BYTES_1(d)},
#define ROW_2(a, b, c, d) {BYTES_2(a), BYTES_2(b), BYTES_2(c), BYTES_2(d)},
#define ROW_4(a, b, c, d) {BYTES_4(a), BYTES_4(b), BYTES_4(c), BYTES_4(d)},
static const uint8_t orders_uint8_t[16][16] = {ORDERS(ROW_1)};
static const uint8_t orders_uint16_t[16][16] = {ORDERS(ROW_2)};
static const uint8_t orders_uint32_t[16][16] = {ORDERS(ROW_4)};
static const uint32_t orders_uint64_t[16][8] = {ORDERS(ROW_2)};

#define PACK_FOUR(Cell)                                                                                                \
    static inline void pack_four_##Cell(Cell *out, const Cell *from, uint32_t row)                                     \
    {                                                                                                                  \
        __m128i cells = _mm_setzero_si128();                                                                           \
        memcpy(&cells, from, 4 * sizeof(Cell));                                                                        \
        cells = _mm_shuffle_epi8(cells, _mm_loadu_si128((const __m128i *)orders_##Cell[row]));                         \
        memcpy(out, &cells, 4 * sizeof(Cell));                                                                         \
    }
PACK_FOUR(uint8_t)
PACK_FOUR(uint16_t)
PACK_FOUR(uint32_t)

static inline void pack_four_uint64_t(uint64_t *out, const uint64_t *from, uint32_t row)
{
    __m256i cells = _mm256_loadu_si256((const __m256i *)from);
    __m256i order = _mm256_loadu_si256((const __m256i *)orders_uint64_t[row]);
    _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(cells, order));
}

/* 32 flags as bits, 1 where they equal `keep`. */
static inline uint32_t flag_bits(const bool *flags, bool keep)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)flags);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(keep)));
}

/* One by one, where four at once could be written beyond the end. */
#define PACK_BITS(Cell)                                                                                                \
    static size_t pack_bits_##Cell(Cell *out, const Cell *from, uint32_t bits)                                         \
    {                                                                                                                  \
        size_t kept = 0;                                                                                               \
        for (; bits != 0; bits &= bits - 1)                                                                            \
            out[kept++] = from[__builtin_ctz(bits)];                                                                   \
        return kept;                                                                                                   \
    }

#define PACK(Cell)                                                                                                     \
    PACK_REST(Cell)                                                                                                    \
    PACK_BITS(Cell)                                                                                                    \
    static inline size_t pack_32_##Cell(Cell *out, const Cell *from, uint32_t bits)                                    \
    {                                                                                                                  \
        size_t kept = 0;                                                                                               \
        for (size_t j = 0; j < 32; j += 4, bits >>= 4) {                                                               \
            pack_four_##Cell(out + kept, from + j, bits & 15);                                                         \
            kept += (size_t)__builtin_popcount(bits & 15);                                                             \
        }                                                                                                              \
        return kept;                                                                                                   \
    }                                                                                                                  \
    static size_t pack_##Cell(void *out, const void *from, const bool *flags, size_t length, bool keep)                \
    {                                                                                                                  \
        const Cell *cells = from;                                                                                      \
        Cell *packed = out;                                                                                            \
        size_t total = count(flags, length, keep), kept = 0, i = 0;                                                    \
        for (; i + 32 <= length; i += 32) {                                                                            \
            uint32_t bits = flag_bits(flags + i, keep);                                                                \
            if (kept + 32 <= total)                                                                                    \
                kept += pack_32_##Cell(packed + kept, cells + i, bits);                                                \
            else                                                                                                       \
                kept += pack_bits_##Cell(packed + kept, cells + i, bits);                                              \
        }                                                                                                              \
        pack_rest_##Cell(packed, cells, flags, keep, i, kept, total);                                                  \
        return total;                                                                                                  \
    }

#else

#define PACK(Cell)                                                                                                     \
    PACK_REST(Cell)                                                                                                    \
    static size_t pack_##Cell(void *out, const void *from, const bool *flags, size_t length, bool keep)                \
    {                                                                                                                  \
        size_t total = count(flags, length, keep);                                                                     \
        pack_rest_##Cell(out, from, flags, keep, 0, 0, total);                                                         \
        return total;                                                                                                  \
    }

#endif

/* ---- distribute ---- */

/* Cells written in one step, whatever is left of the segment. */
enum { STEP_ONE = 1, STEP_NARROW = 4, STEP_WIDE = 8 };

static size_t step_for(int64_t first, const int64_t *ends, size_t segments)
{
    double average = lengths_average(first, ends, segments);
    if (average < 2.0 && !lengths_vary(ends, segments))
        return STEP_ONE;
    return average < 3.0 ? STEP_NARROW : STEP_WIDE;
}

/* How many segments end at least a step before the output does. */
static size_t segments_with_room(const int64_t *ends, size_t segments, size_t step)
{
    int64_t last = segments == 0 ? 0 : ends[segments - 1] - (int64_t)step;
    while (segments > 0 && ends[segments - 1] > last)
        segments--;
    return segments;
}

#define DISTRIBUTE(Cell)                                                                                               \
    static inline void fill_##Cell(Cell *out, size_t start, size_t end, Cell cell)                                     \
    {                                                                                                                  \
        for (; start < end; start++)                                                                                   \
            out[start] = cell;                                                                                         \
    }                                                                                                                  \
    static inline void fill_steps_##Cell(Cell *out, size_t start, size_t end, Cell cell, size_t step)                  \
    {                                                                                                                  \
        do {                                                                                                           \
            VECTOR_HIDE(start);                                                                                        \
            for (size_t j = 0; j < step; j++)                                                                          \
                out[start + j] = cell;                                                                                 \
            start += step;                                                                                             \
        } while (start < end);                                                                                         \
    }                                                                                                                  \
    static inline void distribute_steps_##Cell(Cell *out, const Cell *from, int64_t first, const int64_t *ends,        \
                                               size_t segments, size_t step)                                           \
    {                                                                                                                  \
        size_t with_room = segments_with_room(ends, segments, step), start = 0, end;                                   \
        for (size_t k = 0; k < with_room; k++, start = end) {                                                          \
            end = (size_t)(ends[k] - first);                                                                           \
            fill_steps_##Cell(out, start, end, from[k], step);                                                         \
        }                                                                                                              \
        for (size_t k = with_room; k < segments; k++, start = end) {                                                   \
            end = (size_t)(ends[k] - first);                                                                           \
            fill_##Cell(out, start, end, from[k]);                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void distribute_##Cell(void *out, const void *from, int64_t first, const int64_t *ends, size_t segments)    \
    {                                                                                                                  \
        if (segments == 0 || ends[segments - 1] == first)                                                              \
            return;                                                                                                    \
        switch (step_for(first, ends, segments)) {                                                                     \
        case STEP_ONE: distribute_steps_##Cell(out, from, first, ends, segments, STEP_ONE); break;                     \
        case STEP_NARROW: distribute_steps_##Cell(out, from, first, ends, segments, STEP_NARROW); break;               \
        case STEP_WIDE: distribute_steps_##Cell(out, from, first, ends, segments, STEP_WIDE); break;                   \
        }                                                                                                              \
    }                                                                                                                  \
    static void distribute_regular_##Cell(void *out, const void *from, size_t length, size_t segments)                 \
    {                                                                                                                  \
        if (length == 1)                                                                                               \
            memcpy(out, from, segments * sizeof(Cell));                                                                \
        if (length <= 1)                                                                                               \
            return;                                                                                                    \
        size_t last = (STEP_WIDE + length - 1) / length, k = 0; /* segments from which a step could leave the output */\
        for (; k + last < segments; k++)                                                                               \
            fill_steps_##Cell(out, k * length, (k + 1) * length, ((const Cell *)from)[k], STEP_WIDE);                  \
        for (; k < segments; k++)                                                                                      \
            fill_##Cell(out, k * length, (k + 1) * length, ((const Cell *)from)[k]);                                   \
    }

/* How many of the numbers are first, first + step, first + 2 * step ...: all of them, or fewer. Looks at some at once, without a branch between. */
static size_t follow(const int64_t *numbers, int64_t first, int64_t step, size_t count)
{
    enum { AT_ONCE = 64 };
    for (size_t i = 0; i < count; i += AT_ONCE) {
        uint64_t differences = 0, expected = (uint64_t)first + i * (uint64_t)step;
        size_t end = count - i < AT_ONCE ? count : i + AT_ONCE;
        for (size_t k = i; k < end; k++, expected += (uint64_t)step)
            differences |= (uint64_t)numbers[k] ^ expected;
        if (differences != 0)
            return i;
    }
    return count;
}

static void progression(int64_t *out, int64_t first, int64_t step, size_t length)
{
    uint64_t next = (uint64_t)first;
    for (size_t i = 0; i < length; i++, next += (uint64_t)step)
        out[i] = (int64_t)next;
}

static inline void index_segment(int64_t *out, size_t start, size_t end)
{
    for (int64_t index = 0; start < end; start++)
        out[start] = index++;
}

static inline void index_segment_steps(int64_t *out, size_t start, size_t end, size_t step)
{
    int64_t index = 0;
    do {
        VECTOR_HIDE(start);
        for (size_t j = 0; j < step; j++)
            out[start + j] = index + (int64_t)j;
        start += step;
        index += (int64_t)step;
    } while (start < end);
}

static inline void index_steps(int64_t *out, int64_t first, const int64_t *ends, size_t segments, size_t step)
{
    size_t with_room = segments_with_room(ends, segments, step), start = 0, end;
    for (size_t k = 0; k < with_room; k++, start = end) {
        end = (size_t)(ends[k] - first);
        index_segment_steps(out, start, end, step);
    }
    for (size_t k = with_room; k < segments; k++, start = end) {
        end = (size_t)(ends[k] - first);
        index_segment(out, start, end);
    }
}

static void local_index(int64_t *out, int64_t first, const int64_t *ends, size_t segments)
{
    if (segments == 0 || ends[segments - 1] == first)
        return;
    switch (step_for(first, ends, segments)) {
    case STEP_ONE: index_steps(out, first, ends, segments, STEP_ONE); break;
    case STEP_NARROW: index_steps(out, first, ends, segments, STEP_NARROW); break;
    case STEP_WIDE: index_steps(out, first, ends, segments, STEP_WIDE); break;
    }
}

/* ---- merge and select ---- */

#define MERGE(Cell)                                                                                                    \
    static void merge_bool_##Cell(void *out, const bool *selector, size_t length, const Cells *sources, size_t *taken) \
    {                                                                                                                  \
        const Cell *next[2]; /* of each source, kept in registers */                                                   \
        size_t step[2];                                                                                                \
        for (size_t s = 0; s < 2; s++) {                                                                               \
            step[s] = sources[s].is_uniform ? 0 : 1;                                                                   \
            next[s] = (const Cell *)sources[s].data + step[s] * taken[s];                                              \
        }                                                                                                              \
        Cell *restrict merged = out;                                                                                   \
        for (size_t i = 0; i < length; i++) {                                                                          \
            bool is_second = selector[i];                                                                              \
            merged[i] = *(is_second ? next[1] : next[0]);                                                              \
            next[0] += step[0] & (size_t)!is_second;                                                                   \
            next[1] += step[1] & (size_t)is_second;                                                                    \
        }                                                                                                              \
        size_t second = count(selector, length, true);                                                                 \
        taken[0] += length - second;                                                                                   \
        taken[1] += second;                                                                                            \
    }                                                                                                                  \
    static void merge_int32_##Cell(void *out, const int32_t *selector, size_t length, const Cells *sources,            \
                                   size_t *taken)                                                                      \
    {                                                                                                                  \
        for (size_t i = 0; i < length; i++) {                                                                          \
            int32_t s = selector[i];                                                                                   \
            size_t position = taken[s]++;                                                                              \
            ((Cell *)out)[i] = ((const Cell *)sources[s].data)[sources[s].is_uniform ? 0 : position];                  \
        }                                                                                                              \
    }

#define SELECT(Cell)                                                                                                   \
    static inline void select_strides_##Cell(Cell *restrict out, const bool *restrict selector, size_t length,         \
                                             const Cell *first, size_t first_stride, const Cell *second,               \
                                             size_t second_stride)                                                     \
    {                                                                                                                  \
        for (size_t i = 0; i < length; i++) {                                                                          \
            Cell if_false = first[i * first_stride], if_true = second[i * second_stride];                              \
            out[i] = selector[i] ? if_true : if_false;                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    static void select_##Cell(void *out, const bool *selector, size_t length, const Cells *sources)                    \
    {                                                                                                                  \
        const Cell *first = sources[0].data, *second = sources[1].data;                                                \
        if (length == 0)                                                                                               \
            return;                                                                                                    \
        if (sources[0].is_uniform && sources[1].is_uniform)                                                            \
            select_strides_##Cell(out, selector, length, first, 0, second, 0);                                         \
        else if (sources[0].is_uniform)                                                                                \
            select_strides_##Cell(out, selector, length, first, 0, second, 1);                                         \
        else if (sources[1].is_uniform)                                                                                \
            select_strides_##Cell(out, selector, length, first, 1, second, 0);                                         \
        else                                                                                                           \
            select_strides_##Cell(out, selector, length, first, 1, second, 1);                                         \
    }

/* ---- transpose ----
 * A block of a few lines of the cache each way is read row by row and written column by column: each line once, whatever the distance of rows, which may be one at
 * which they all fall to the same places of a cache. At the edges there are smaller ones. */

static inline void copy_line(void *out, const void *line, size_t bytes, bool bypasses)
{
    if (bypasses && bytes == BYPASS_LINE)
        bypass_line(out, line);
    else
        memcpy(out, line, bytes);
}

#ifdef __AVX512F__
/* 16 bytes of each of four registers, as rows of a matrix, become columns. */
static inline void transpose_quarters(__m512i out[8], size_t first, __m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i low = _mm512_shuffle_i64x2(a, b, 0x44), high = _mm512_shuffle_i64x2(a, b, 0xee);
    __m512i next_low = _mm512_shuffle_i64x2(c, d, 0x44), next_high = _mm512_shuffle_i64x2(c, d, 0xee);
    out[first] = _mm512_shuffle_i64x2(low, next_low, 0x88);
    out[first + 2] = _mm512_shuffle_i64x2(low, next_low, 0xdd);
    out[first + 4] = _mm512_shuffle_i64x2(high, next_high, 0x88);
    out[first + 6] = _mm512_shuffle_i64x2(high, next_high, 0xdd);
}

/* Of cells of 8 bytes eight rows are eight registers. */
static inline void transpose_registers(char *out, const MovementMatrix *matrix, size_t top, size_t left)
{
    __m512i rows[8], columns[8];
    for (size_t i = 0; i < 8; i++)
        rows[i] = _mm512_loadu_si512(matrix->rows[top + i].data + left * 8);
    transpose_quarters(columns, 0, _mm512_unpacklo_epi64(rows[0], rows[1]), _mm512_unpacklo_epi64(rows[2], rows[3]),
                       _mm512_unpacklo_epi64(rows[4], rows[5]), _mm512_unpacklo_epi64(rows[6], rows[7]));
    transpose_quarters(columns, 1, _mm512_unpackhi_epi64(rows[0], rows[1]), _mm512_unpackhi_epi64(rows[2], rows[3]),
                       _mm512_unpackhi_epi64(rows[4], rows[5]), _mm512_unpackhi_epi64(rows[6], rows[7]));
    for (size_t i = 0; i < 8; i++) {
        char *line = out + ((left + i) * matrix->height + top) * 8;
        if (matrix->bypasses)
            _mm512_stream_si512((void *)line, columns[i]);
        else
            _mm512_storeu_si512(line, columns[i]);
    }
}
enum { HAS_REGISTERS = true };
#else
enum { HAS_REGISTERS = false };
static inline void transpose_registers(char *out, const MovementMatrix *matrix, size_t top, size_t left)
{
    (void)out, (void)matrix, (void)top, (void)left;
}
#endif

#define TRANSPOSE(Cell, SIDE)                                                                                          \
    static inline void transpose_block_##Cell(char *out, const MovementMatrix *matrix, size_t top, size_t left)        \
    {                                                                                                                  \
        Cell block[SIDE][SIDE];                                                                                        \
        for (size_t row = 0; row < SIDE; row++)                                                                        \
            for (size_t column = 0; column < SIDE; column++)                                                           \
                memcpy(&block[column][row], matrix->rows[top + row].data + (left + column) * sizeof(Cell), sizeof(Cell)); \
        for (size_t column = 0; column < SIDE; column++)                                                               \
            copy_line(out + ((left + column) * matrix->height + top) * sizeof(Cell), block[column],                    \
                      sizeof block[column], matrix->bypasses);                                                         \
    }                                                                                                                  \
    static void transpose_edge_##Cell(char *out, const MovementMatrix *matrix, size_t top, size_t bottom,              \
                                      size_t left, size_t right)                                                       \
    {                                                                                                                  \
        for (size_t column = left; column < right; column++)                                                           \
            for (size_t row = top; row < bottom; row++)                                                                \
                memcpy(out + (column * matrix->height + row) * sizeof(Cell),                                           \
                       matrix->rows[row].data + column * matrix->rows[row].step, sizeof(Cell));                        \
    }                                                                                                                  \
    static inline void transpose_part_##Cell(char *out, const MovementMatrix *matrix, size_t top, size_t bottom,       \
                                             size_t left, size_t right)                                                \
    {                                                                                                                  \
        bool is_block = bottom - top == SIDE && right - left == SIDE && matrix->is_whole;                              \
        if (!is_block)                                                                                                 \
            transpose_edge_##Cell(out, matrix, top, bottom, left, right);                                              \
        else if (HAS_REGISTERS && sizeof(Cell) == 8)                                                                   \
            transpose_registers(out, matrix, top, left);                                                               \
        else                                                                                                           \
            transpose_block_##Cell(out, matrix, top, left);                                                            \
    }                                                                                                                  \
    static void transpose_##Cell(void *out, const MovementMatrix *matrix, size_t left, size_t right)                   \
    {                                                                                                                  \
        for (size_t top = 0; top < matrix->height; top += SIDE)                                                        \
            for (size_t column = left; column < right; column += SIDE)                                                 \
                transpose_part_##Cell(out, matrix, top, least(top + SIDE, matrix->height), column,                     \
                                      least(column + SIDE, right));                                                    \
        if (matrix->bypasses)                                                                                          \
            bypass_end();                                                                                              \
    }
TRANSPOSE(uint8_t, 16)
TRANSPOSE(uint16_t, 16)
TRANSPOSE(uint32_t, 16)
TRANSPOSE(uint64_t, 8)

/* ---- the table ---- */

#define LOOPS(Cell)                                                                                                    \
    PACK(Cell)                                                                                                         \
    DISTRIBUTE(Cell)                                                                                                   \
    MERGE(Cell)                                                                                                        \
    SELECT(Cell)
LOOPS(uint8_t)
LOOPS(uint16_t)
LOOPS(uint32_t)
LOOPS(uint64_t)

#define SIZE(Cell)                                                                                                     \
    [sizeof(Cell)] = {pack_##Cell, distribute_##Cell, distribute_regular_##Cell, merge_bool_##Cell, merge_int32_##Cell,\
                      select_##Cell, transpose_##Cell}
const MovementLoops VECTOR_NAME(movement_loops) = {
    .count = count,
    .count_running = count_running,
    .progression = progression,
    .follow = follow,
    .local_index = local_index,
    .sizes = {SIZE(uint8_t), SIZE(uint16_t), SIZE(uint32_t), SIZE(uint64_t)},
};
