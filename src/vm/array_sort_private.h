/* What the files of sorting share: how positions are sorted by keys is said in array_sort.c. */
#ifndef RUNNEL_VM_ARRAY_SORT_PRIVATE_H
#define RUNNEL_VM_ARRAY_SORT_PRIVATE_H

#include "vm/array_private.h"
#include "vm/array_sort_loops.h"

#define SORTING_MAX UINT32_MAX /* words that are sorted by one table at once, */
enum { SORTING_ALONE = 1 << 16 }; /* ... and from which on buckets of them are made first, whatever the team: more do not fit a cache */

typedef struct Sorting {
    const Layout *layout;
    Rows rows;
    size_t start; /* of position 0 in the rows */
    bool is_descending;
    uint32_t position_bits; /* enough for every position */
    uint64_t *positions;    /* what is sorted */
    uint64_t *scratch;      /* as many words, of use to whoever sorts the positions at the same place: their keys at first */
    uint32_t *tables;       /* what sort_table_entries says, of one thread */
} Sorting;

/* Words that the tables for sorting so many take. */
static inline size_t sorting_table_words(size_t count)
{
    return (sort_table_entries(count) + 1) / 2;
}

/* Memory for a + b words. */
static inline uint64_t *sorting_alloc(Team *team, size_t a, size_t b)
{
    size_t most = SIZE_MAX / sizeof(uint64_t);
    return team_alloc(team, a > most || b > most - a ? SIZE_MAX : (a + b) * sizeof(uint64_t));
}

/* What is known of the keys of a run. */
typedef struct KeyRange {
    uint64_t least, greatest;
    uint64_t varying; /* the bits in which they differ */
    bool is_sorted;
} KeyRange;

/* Words: the `bits` bits of (key - least) above `shift`, above the position. */
typedef struct Packing {
    uint64_t least;
    uint32_t shift;
    uint32_t bits;
    bool is_complete; /* no keys differ in the bits below */
} Packing;

/* Fills scratch with the keys that a leaf gives a run of positions; gives where they begin. */
uint64_t *sorting_keys(const Sorting *sorting, uint32_t leaf, size_t first, size_t end);
KeyRange key_range(const uint64_t *keys, size_t count);
/* As many bits as words have room for, for keys that are not all the same. */
Packing sorting_packing(const Sorting *sorting, const KeyRange *range);
/* The loops on words of this machine. */
const SortLoops *sort_loops_of(bool is_wide);

/* Sorts positions [first, end) that agree in all leaves before this one. */
void sorting_rows(const Sorting *sorting, uint32_t leaf, size_t first, size_t end);
/* The same for words, in scratch, of that packing of the leaf, which hold the positions. */
void sorting_words(const Sorting *sorting, uint32_t leaf, Packing packing, size_t first, size_t end);
/* Makes positions of words. */
void sorting_unpack(const Sorting *sorting, const uint64_t *words, uint64_t *positions, size_t count);

/* Whether the row at b, all leaves before this one left out, must come before the one at a, which stood first. */
bool sorting_is_out_of_order(const Sorting *sorting, uint32_t leaf, uint64_t a, uint64_t b);
void sorting_merge(const Sorting *sorting, uint32_t leaf, size_t first, size_t end);

/* ---- array_sort_elements.c ---- */
/* Sorts elements of a slice, scalars, to where it says; in one thread with memory of so many words, or by a team. */
size_t sorting_element_words(size_t count);
void sorting_elements_alone(const Grade *slice, bool is_descending, uint64_t *memory);
void sorting_elements_together(Team *team, const Grade *slice, bool is_descending);

/* ---- array_sort_shared.c ---- */
/* Sorts positions 0 to count, given in order. There is no scratch yet. */
void sorting_share(Team *team, const Sorting *sorting, size_t count);
/* Fewer are better sorted by one thread. */
size_t sorting_grain(const Team *team);

#endif
