/* What a loop computes from its index and a few integers alone is kept for the next point that has the same integers (kernel/function_recall.h). It lies in the third region of a
 * workspace, under a key: the loop, and these integers. When there is no more room for it, all is forgotten. */
#ifndef RUNNEL_KERNEL_PREAMBLE_RECALL_H
#define RUNNEL_KERNEL_PREAMBLE_RECALL_H

#include "kernel/preamble/call.h"
#include "kernel/preamble/ops.h"

enum {
    KERNEL_RECALL_LEAST = 32,       /* turns of a loop: looking up is not worth it for fewer, */
    KERNEL_RECALL_MOST = 1 << 13,   /* ... and more do not stay in the caches; */
    KERNEL_RECALL_BYTES = 1 << 19,  /* ... nor does more in all */
    KERNEL_RECALL_SETS = 32,        /* powers of two, */
    KERNEL_RECALL_WAYS = 4,         /* ... places for keys of one hash */
    KERNEL_RECALL_MISSES = 32,      /* more than were found: then the loop is not looked up any more, */
    KERNEL_RECALL_PAUSE = 1 << 10,  /* ... this often, */
    KERNEL_RECALL_RETRIES = 4,      /* ... before it is tried again, that often */
};

typedef struct KernelRecalled {
    int64_t key[KERNEL_RECALL_KEY];
    int64_t words;  /* of the key; 0 if there is none */
    char *values;
    bool is_filled; /* the values are there */
} KernelRecalled;

struct KernelRecallTable {
    KernelRecalled places[KERNEL_RECALL_SETS][KERNEL_RECALL_WAYS];
    uint8_t next[KERNEL_RECALL_SETS]; /* that gives way */
};

/* Elements that a column has room for. */
MATH_INLINE int64_t kernel_recall_room(int64_t length)
{
    return (length + KERNEL_CELLS_ALIGNMENT - 1) & ~(int64_t)(KERNEL_CELLS_ALIGNMENT - 1);
}

/* The values of one column; elements of those before it have so many bytes together. */
MATH_INLINE void *kernel_recall_column(const KernelRecalled *recalled, int64_t length, size_t before)
{
    return recalled->values + before * (size_t)kernel_recall_room(length);
}

/* Whether an array is the same one as long as things are kept: not one of a region. */
MATH_INLINE bool kernel_recall_knows(KernelArrayRef array)
{
    return array != NULL && array->references > 0;
}

MATH_INLINE KernelRecalled *kernel_recall_find(KernelRecalled *places, const int64_t *key, int64_t words)
{
    for (int way = 0; way < KERNEL_RECALL_WAYS; way++)
        if (places[way].words == words && memcmp(places[way].key, key, (size_t)words * sizeof *key) == 0)
            return &places[way];
    return NULL;
}

MATH_INLINE uint32_t kernel_recall_set(const int64_t *key, int64_t words)
{
    uint64_t hash = 0;
    for (int64_t i = 0; i < words; i++)
        hash = (hash ^ (uint64_t)key[i]) * UINT64_C(0x9e3779b97f4a7c15), hash ^= hash >> 29;
    return (uint32_t)hash & (KERNEL_RECALL_SETS - 1);
}

/* Room for so many bytes, and a table to know them by; null if there is no memory. */
MATH_INLINE char *kernel_recall_take(KernelWorkspace *workspace, size_t bytes)
{
    KernelRegion *region = &workspace->regions[KERNEL_REGION_RECALL];
    if (bytes > KERNEL_RECALL_BYTES)
        return NULL;
    if (workspace->recall_bytes + bytes > KERNEL_RECALL_BYTES)
        kernel_recall_forget(workspace);
    if (workspace->recall == NULL) {
        workspace->recall = (KernelRecallTable *)kernel_take(region, sizeof *workspace->recall);
        if (workspace->recall != NULL)
            memset(workspace->recall, 0, sizeof *workspace->recall);
    }
    if (workspace->recall == NULL)
        return NULL;
    workspace->recall_bytes += bytes;
    return (char *)kernel_take(region, bytes);
}

/* Whether a loop is worth looking up: it was found often enough so far. */
MATH_INLINE bool kernel_recall_is_worth_it(int32_t *misses)
{
    if (*misses < KERNEL_RECALL_MISSES)
        return true;
    if (++*misses < KERNEL_RECALL_MISSES + KERNEL_RECALL_PAUSE)
        return false;
    *misses = KERNEL_RECALL_MISSES - KERNEL_RECALL_RETRIES;
    return true;
}

/* What a loop of so many turns has under a key, whose first word is the loop's number; `bytes` an element. If it is not filled, it is to be. Null if it is not to be kept. */
__attribute__((noinline, unused)) static KernelRecalled *kernel_recall(KernelWorkspace *workspace, const int64_t *key, int64_t words, int64_t length, size_t bytes)
{
    int32_t *misses = &workspace->recall_misses[(uint64_t)key[0] % KERNEL_RECALL_LOOPS];
    if (length < KERNEL_RECALL_LEAST || length > KERNEL_RECALL_MOST || !kernel_recall_is_worth_it(misses))
        return NULL;
    uint32_t set = kernel_recall_set(key, words);
    KernelRecalled *found = workspace->recall == NULL ? NULL : kernel_recall_find(workspace->recall->places[set], key, words);
    if (found != NULL && found->is_filled) {
        *misses -= *misses > -KERNEL_RECALL_MISSES;
        return found;
    }
    ++*misses;
    if (found != NULL)
        return found;
    char *values = kernel_recall_take(workspace, (size_t)kernel_recall_room(length) * bytes);
    if (values == NULL)
        return NULL;
    KernelRecalled *place = &workspace->recall->places[set][workspace->recall->next[set]++ % KERNEL_RECALL_WAYS];
    place->words = words;
    place->values = values;
    place->is_filled = false;
    memcpy(place->key, key, (size_t)words * sizeof *key);
    return place;
}

#endif
