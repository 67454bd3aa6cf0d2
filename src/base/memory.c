#include "base/memory.h"

#include "base/large_blocks.h"

#include <stdlib.h>
#include <string.h>

_Noreturn void memory_fail(Memory *memory)
{
    if (memory->on_failure == NULL)
        abort(); /* an entry point forgot its recovery point: our bug */
    longjmp(*memory->on_failure, 1);
}

static void count_request(Memory *memory)
{
    if (memory->fail_after != 0 && --memory->fail_after == 0)
        memory_fail(memory);
}

static void count_bytes(Memory *memory, size_t old_size, size_t new_size)
{
    memory->live_bytes = memory->live_bytes - old_size + new_size;
    if (memory->live_bytes > memory->peak_bytes)
        memory->peak_bytes = memory->live_bytes;
}

/* ---- blocks ---- */

static void *take_zeroed(size_t size)
{
    if (!large_blocks_has(size))
        return calloc(1, size == 0 ? 1 : size);
    bool is_zeroed;
    void *block = large_blocks_take(size, &is_zeroed);
    if (block != NULL && !is_zeroed)
        memset(block, 0, size);
    return block;
}

static void *take(size_t size)
{
    bool is_zeroed;
    return large_blocks_has(size) ? large_blocks_take(size, &is_zeroed) : malloc(size == 0 ? 1 : size);
}

static void give(void *block, size_t size)
{
    if (large_blocks_has(size))
        large_blocks_give(block, size);
    else
        free(block);
}

static void *resize(void *old, size_t old_size, size_t new_size)
{
    if (old == NULL)
        return take(new_size);
    bool was_large = large_blocks_has(old_size), is_large = large_blocks_has(new_size);
    if (was_large && is_large)
        return large_blocks_resize(old, old_size, new_size);
    if (!was_large && !is_large)
        return realloc(old, new_size == 0 ? 1 : new_size);
    void *block = take(new_size);
    if (block != NULL) {
        memcpy(block, old, old_size < new_size ? old_size : new_size);
        give(old, old_size);
    }
    return block;
}

/* ---- for others ---- */

void *memory_alloc(Memory *memory, size_t size)
{
    count_request(memory);
    void *block = take_zeroed(size);
    if (block == NULL)
        memory_fail(memory);
    count_bytes(memory, 0, size);
    return block;
}

void *memory_resize(Memory *memory, void *old, size_t old_size, size_t new_size)
{
    count_request(memory);
    void *block = resize(old, old_size, new_size);
    if (block == NULL)
        memory_fail(memory);
    count_bytes(memory, old_size, new_size);
    return block;
}

void *memory_alloc_outside(size_t size)
{
    return take(size);
}

void memory_free_outside(void *block, size_t size)
{
    give(block, size);
}

size_t memory_cut_size(size_t size, size_t wanted)
{
    return large_blocks_has(size) && large_blocks_has(wanted) ? wanted : size;
}

size_t memory_cut_outside(void *block, size_t size, size_t wanted)
{
    size_t left = memory_cut_size(size, wanted);
    if (left < size)
        large_blocks_resize(block, size, left);
    return left;
}

void memory_count_outside(Memory *memory, size_t old_size, size_t new_size)
{
    count_bytes(memory, old_size, new_size);
}

void memory_free(Memory *memory, void *block, size_t size)
{
    if (block == NULL)
        return;
    give(block, size);
    count_bytes(memory, size, 0);
}
