/* Memory of sequential versions (kernel/function_vectors.h): each thread has a workspace of regions, stacks of memory in blocks: two for what functions make, one for what a loop keeps from turn to turn, one for vectors that need more room, and one for what is kept from point to point. Whoever takes from a region may set a mark
 * before, and release to it what was taken since; blocks are kept for the next who needs them. This header is part of the VM and of emitted files. */
#ifndef RUNNEL_KERNEL_PREAMBLE_REGION_H
#define RUNNEL_KERNEL_PREAMBLE_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KERNEL_REGION_LOOPS = 2,  /* is for what loops keep until they end (preamble/groups.h), */
    KERNEL_REGION_ONTO,       /* ... this for vectors that grow, while others use the first two (preamble/vector.h), */
    KERNEL_REGION_RECALL,     /* ... and this for what is kept longer (preamble/recall.h) */
    KERNEL_REGIONS,
    KERNEL_RECALL_KEY = 12,   /* words of a key that it is known by, at most */
    KERNEL_RECALL_LOOPS = 16, /* that are told apart when it is asked whether keeping is worth it */
    KERNEL_DIVISORS = 16,     /* that are known, a power of two */
    KERNEL_CELLS_ALIGNMENT = 64,
    KERNEL_PAGE = 4096,
    KERNEL_BLOCK = 1 << 18,        /* bytes, at least */
    KERNEL_BLOCK_LARGE = 1 << 22,  /* blocks as large as that are not larger than whoever takes from them first needs */
};

/* The beginning of a block; the rest of it is what can be taken. */
typedef struct KernelBlock {
    struct KernelBlock *next; /* of the same region; null for the last */
    size_t size;              /* bytes, of all of it */
} KernelBlock;

typedef struct KernelWorkspace KernelWorkspace;

typedef struct KernelRegion {
    char *top, *end;    /* of the current block: what is free there */
    KernelBlock *block; /* the current one; null while nothing was taken from the first, */
    KernelBlock *first; /* ... and that: all blocks follow from it */
    KernelWorkspace *workspace;
} KernelRegion;

typedef struct KernelRecallTable KernelRecallTable;

/* A number that loops divide by (kernel/preamble/divide.h). */
typedef struct KernelDivisor {
    double y, against, high, low; /* -1 / y, rounded once; and 1 / y in two parts of which neither is negative */
    int64_t elements;             /* that were divided by it, until it is worth finding out: */
    bool is_sharp;                /* the products with both parts are quotients, to the bit */
} KernelDivisor;

struct KernelWorkspace {
    KernelRegion regions[KERNEL_REGIONS];
    KernelRecallTable *recall; /* null if nothing is kept */
    size_t recall_bytes;       /* that are, about */
    int32_t recall_misses[KERNEL_RECALL_LOOPS]; /* by loop: how often there was nothing, less how often there was something, or more in a pause */
    KernelDivisor divisors[KERNEL_DIVISORS];
    /* A block of that many bytes at least, as aligned as malloc does it, which knows its size; null if there is no memory. It belongs to the region until whoever gave it takes it back. */
    KernelBlock *(*take)(KernelWorkspace *workspace, size_t bytes);
    void *context; /* for take */
};

typedef struct KernelMark {
    char *top;
    KernelBlock *block;
} KernelMark;

static inline void kernel_workspace_init(KernelWorkspace *workspace, KernelBlock *(*take)(KernelWorkspace *, size_t), void *context)
{
    *workspace = (KernelWorkspace){.take = take, .context = context};
    for (int i = 0; i < KERNEL_REGIONS; i++)
        workspace->regions[i].workspace = workspace;
}

static inline KernelMark kernel_mark(const KernelRegion *region)
{
    return (KernelMark){region->top, region->block};
}

static inline void kernel_release(KernelRegion *region, KernelMark mark)
{
#ifdef KERNEL_SPOIL /* for tests: nobody may look at what was released */
    for (KernelBlock *block = mark.block == NULL ? region->first : mark.block; region->block != NULL; block = block->next) {
        char *from = block == mark.block ? mark.top : (char *)(block + 1), *end = block == region->block ? region->top : (char *)block + block->size;
        __builtin_memset(from, 0xa5, (size_t)(end - from));
        if (block == region->block)
            break;
    }
#endif
    region->top = mark.top;
    if (region->block == mark.block)
        return;
    region->block = mark.block;
    region->end = mark.block == NULL ? NULL : (char *)mark.block + mark.block->size;
}

/* Everything is released; the blocks stay. */
static inline void kernel_region_reset(KernelRegion *region)
{
    kernel_release(region, (KernelMark){NULL, NULL});
}

static inline void kernel_recall_forget(KernelWorkspace *workspace)
{
    kernel_region_reset(&workspace->regions[KERNEL_REGION_RECALL]);
    workspace->recall = NULL;
    workspace->recall_bytes = 0;
}

/* Before other points: arrays that these are given may lie where others were. */
static inline void kernel_workspace_reset(KernelWorkspace *workspace)
{
    for (int i = 0; i < KERNEL_REGION_RECALL; i++)
        kernel_region_reset(&workspace->regions[i]);
    kernel_recall_forget(workspace);
}

/* Where the cells of a block begin. Processors take a load for one of what was stored just before a multiple of a page away, and wait: steps that read of one region and write to another, by turns, would do so in one direction.
 * So blocks of one begin with a page, and those of the other in the middle of one. */
static inline char *kernel_block_cells(const KernelRegion *region, KernelBlock *block)
{
    char *page = (char *)(((uintptr_t)(block + 1) + KERNEL_PAGE - 1) & ~(uintptr_t)(KERNEL_PAGE - 1));
    return page + (region - region->workspace->regions) % 2 * (KERNEL_PAGE / 2);
}

/* Goes to a block that has room: the next one, or a new one before it. */
__attribute__((noinline, unused)) static bool kernel_region_grow(KernelRegion *region, size_t bytes)
{
    size_t wanted = bytes + sizeof(KernelBlock) + KERNEL_PAGE + KERNEL_PAGE / 2;
    KernelBlock **place = region->block == NULL ? &region->first : &region->block->next;
    KernelBlock *block = *place;
    if (block == NULL || block->size < wanted) {
        size_t least = region->block == NULL ? KERNEL_BLOCK : region->block->size + region->block->size / 2;
        least = least < KERNEL_BLOCK_LARGE ? least : KERNEL_BLOCK_LARGE;
        size_t size = wanted > least ? wanted : least;
        block = region->workspace->take(region->workspace, size);
        if (block == NULL)
            return false;
        block->next = *place;
        *place = block;
    }
    region->block = block;
    region->top = kernel_block_cells(region, block);
    region->end = (char *)block + block->size;
    return true;
}

/* Memory for that many bytes, aligned for cells; null if there is none. */
static inline void *kernel_take(KernelRegion *region, size_t bytes)
{
    size_t whole = (bytes + KERNEL_CELLS_ALIGNMENT - 1) & ~(size_t)(KERNEL_CELLS_ALIGNMENT - 1);
    if (__builtin_expect((size_t)(region->end - region->top) < whole, 0) && !kernel_region_grow(region, whole))
        return NULL;
    char *taken = region->top;
    region->top += whole;
    return taken;
}

#endif
