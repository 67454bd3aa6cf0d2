#define _GNU_SOURCE /* mremap */
#include "base/large_blocks.h"

#include "base/machine.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HUGE_PAGE = 2 << 20,
    LARGE_BLOCK = 4 << 20,
    KEPT_MAX = 64,       /* blocks */
    KEPT_PART = 8,       /* ... that have so much of the machine's memory at most */
};

/* The address sanitizer watches what comes from malloc only. */
#if defined(__SANITIZE_ADDRESS__) || !defined(MREMAP_FIXED)
static const size_t LARGE = SIZE_MAX;
#else
static const size_t LARGE = LARGE_BLOCK;
#endif

typedef struct Block {
    char *memory;
    size_t size; /* whole huge pages */
} Block;

static struct {
    pthread_mutex_t lock;
    Block blocks[KEPT_MAX]; /* the one given back first stands first */
    uint32_t count;
    size_t bytes;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool large_blocks_has(size_t size)
{
    return size >= LARGE && size <= SIZE_MAX - 2 * (size_t)HUGE_PAGE;
}

static size_t whole_pages(size_t size)
{
    return (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

/* ---- from the system ---- */

/* Addresses for a block, at the beginning of a huge page. */
static char *reserve(size_t size, int protection)
{
    char *memory = mmap(NULL, size + HUGE_PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)memory % HUGE_PAGE;
    if (before > 0)
        munmap(memory, before);
    munmap(memory + before + size, HUGE_PAGE - before);
    return memory + before;
}

static char *new_block(size_t size)
{
    char *memory = reserve(size, PROT_READ | PROT_WRITE);
#ifdef MADV_HUGEPAGE
    if (memory != NULL)
        madvise(memory, size, MADV_HUGEPAGE); /* where that is not possible nothing changes */
#endif
    return memory;
}

/* The same pages, and more of them, where there is room for them. */
static char *grow(char *memory, size_t old_size, size_t new_size)
{
#ifdef MREMAP_FIXED
    if (mremap(memory, old_size, new_size, 0) != MAP_FAILED)
        return memory;
    char *place = reserve(new_size, PROT_NONE);
    if (place == NULL)
        return NULL;
    if (mremap(memory, old_size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED)
        return place;
    munmap(place, new_size);
#endif
    char *block = new_block(new_size);
    if (block != NULL) {
        memcpy(block, memory, old_size);
        munmap(memory, old_size);
    }
    return block;
}

/* ---- what is kept ---- */

static Block take_out(uint32_t index)
{
    Block block = kept.blocks[index];
    memmove(&kept.blocks[index], &kept.blocks[index + 1], (--kept.count - index) * sizeof *kept.blocks);
    kept.bytes -= block.size;
    return block;
}

/* With those that lie next to it, which are often the rest of what it was a part of. */
static Block joined(Block block)
{
    for (uint32_t i = 0; i < kept.count;) {
        const Block other = kept.blocks[i];
        bool is_before = other.memory + other.size == block.memory, is_after = block.memory + block.size == other.memory;
        if (!is_before && !is_after) {
            i++;
            continue;
        }
        take_out(i);
        block = (Block){is_before ? other.memory : block.memory, other.size + block.size};
    }
    return block;
}

static void keep(Block block)
{
    block = joined(block);
    size_t most = machine_memory() / KEPT_PART;
    if (block.size > most) {
        munmap(block.memory, block.size);
        return;
    }
    while (kept.count == KEPT_MAX || kept.bytes > most - block.size) {
        Block oldest = take_out(0);
        munmap(oldest.memory, oldest.size);
    }
    kept.blocks[kept.count++] = block;
    kept.bytes += block.size;
}

/* The smallest that is large enough, else the largest; KEPT_MAX if there is none. */
static uint32_t best_for(size_t size)
{
    uint32_t best = KEPT_MAX;
    for (uint32_t i = 0; i < kept.count; i++) {
        size_t this_size = kept.blocks[i].size, best_size = best == KEPT_MAX ? 0 : kept.blocks[best].size;
        bool is_better = best == KEPT_MAX || (this_size >= size ? best_size < size || this_size < best_size : best_size < size && this_size > best_size);
        if (is_better)
            best = i;
    }
    return best;
}

static char *take_kept(size_t size)
{
    uint32_t best = best_for(size);
    if (best == KEPT_MAX)
        return NULL;
    Block block = take_out(best);
    if (block.size > size)
        keep((Block){block.memory + size, block.size - size});
    if (block.size >= size)
        return block.memory;
    char *grown = grow(block.memory, block.size, size);
    if (grown == NULL)
        munmap(block.memory, block.size);
    return grown;
}

/* Whether a kept block that lies behind another had so much to give. */
static bool take_behind(const char *end, size_t size)
{
    for (uint32_t i = 0; i < kept.count; i++) {
        if (kept.blocks[i].memory != end || kept.blocks[i].size < size)
            continue;
        Block block = take_out(i);
        if (block.size > size)
            keep((Block){block.memory + size, block.size - size});
        return true;
    }
    return false;
}

static void drop_kept(void)
{
    while (kept.count > 0) {
        Block block = take_out(kept.count - 1);
        munmap(block.memory, block.size);
    }
}

/* ---- for others ---- */

void *large_blocks_take(size_t size, bool *is_zeroed)
{
    size = whole_pages(size);
    pthread_mutex_lock(&kept.lock);
    char *memory = take_kept(size);
    *is_zeroed = memory == NULL;
    if (memory == NULL)
        memory = new_block(size);
    if (memory == NULL) { /* there may be enough for one, but not beside what is kept */
        drop_kept();
        memory = new_block(size);
    }
    pthread_mutex_unlock(&kept.lock);
    return memory;
}

void *large_blocks_resize(void *block, size_t old_size, size_t new_size)
{
    char *memory = block;
    old_size = whole_pages(old_size);
    new_size = whole_pages(new_size);
    if (new_size > old_size) {
        pthread_mutex_lock(&kept.lock);
        bool has_more = take_behind(memory + old_size, new_size - old_size);
        pthread_mutex_unlock(&kept.lock);
        return has_more ? memory : grow(memory, old_size, new_size);
    }
    if (new_size < old_size)
        large_blocks_give(memory + new_size, old_size - new_size);
    return block;
}

void large_blocks_give(void *block, size_t size)
{
    pthread_mutex_lock(&kept.lock);
    keep((Block){block, whole_pages(size)});
    pthread_mutex_unlock(&kept.lock);
}
