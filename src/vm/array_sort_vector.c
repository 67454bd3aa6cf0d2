/* Radix sort of words from the top bits down, compiled once for each level of vector instructions.
 *
 * One pass spreads words over as many buckets as leave about four of them together, as far as they are random. A bucket that has many more is sorted the same way by the
 * bits below. If most words fall into the first bucket, all are spread by the magnitude of their distance from the least instead, once. Neighbours that change
 * places put right what is left. Where the bits that are left make a bucket each, how many words fell into a bucket is all there is to know. */
#include "vm/array_sort_loops.h"

#include <string.h>

static void counts_to_starts(uint32_t *counts, size_t buckets)
{
    uint32_t sum = 0;
    for (size_t bucket = 0; bucket < buckets; bucket++) {
        uint32_t here = counts[bucket];
        counts[bucket] = sum;
        sum += here;
    }
}

#define WORD uint32_t
#define NAME(x) x##_32
#define TOP (UINT32_C(1) << 31)
#define INFINITY_BITS UINT32_C(0x7f800000)
#define NAN_BITS UINT32_C(0x7fc00000)
#include "vm/array_sort_width.h"
#undef WORD
#undef NAME
#undef TOP
#undef INFINITY_BITS
#undef NAN_BITS
#define WORD uint64_t
#define NAME(x) x##_64
#define TOP (UINT64_C(1) << 63)
#define INFINITY_BITS UINT64_C(0x7ff0000000000000)
#define NAN_BITS UINT64_C(0x7ff8000000000000)
#include "vm/array_sort_width.h"

#define LOOPS(bits) {to_words_##bits, from_words_##bits, range_##bits, count_##bits, spread_##bits, sort_##bits}
const SortLoops VECTOR_NAME(sort_loops)[SORT_WIDTHS] = {[SORT_NARROW] = LOOPS(32), [SORT_WIDE] = LOOPS(64)};

void VECTOR_NAME(rank_keys)(uint64_t keys[RANK_MAX], size_t count, uint64_t ranks[RANK_MAX])
{
    rank_64(keys, count, ranks);
}
