#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* Large blocks are asked for in large pages: a page that is touched for the first time costs the system as much as working through it. */
static void prefer_large_pages(void *block, size_t size)
{
    enum { LARGE_BLOCK = 4 << 20, PAGE = 4096 };
#ifdef MADV_HUGEPAGE
    if (size < LARGE_BLOCK)
        return;
    uintptr_t first = ((uintptr_t)block + PAGE - 1) / PAGE * PAGE, end = ((uintptr_t)block + size) / PAGE * PAGE;
    madvise((void *)first, end - first, MADV_HUGEPAGE); /* where that is not possible nothing changes */
#else
    (void)block, (void)size;
#endif
}

void *memory_alloc(Memory *memory, size_t size)
{
    count_request(memory);
    void *block = calloc(1, size == 0 ? 1 : size);
    if (block == NULL)
        memory_fail(memory);
    prefer_large_pages(block, size);
    count_bytes(memory, 0, size);
    return block;
}

void *memory_resize(Memory *memory, void *old, size_t old_size, size_t new_size)
{
    count_request(memory);
    void *block = realloc(old, new_size == 0 ? 1 : new_size);
    if (block == NULL)
        memory_fail(memory);
    prefer_large_pages(block, new_size);
    count_bytes(memory, old_size, new_size);
    return block;
}

void *memory_alloc_outside(size_t size)
{
    void *block = malloc(size);
    if (block != NULL)
        prefer_large_pages(block, size);
    return block;
}

void memory_count_outside(Memory *memory, size_t old_size, size_t new_size)
{
    count_bytes(memory, old_size, new_size);
}

void memory_free(Memory *memory, void *block, size_t size)
{
    if (block == NULL)
        return;
    free(block);
    count_bytes(memory, size, 0);
}
