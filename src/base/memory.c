#include "base/memory.h"

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

void *memory_alloc(Memory *memory, size_t size)
{
    count_request(memory);
    void *block = calloc(1, size == 0 ? 1 : size);
    if (block == NULL)
        memory_fail(memory);
    count_bytes(memory, 0, size);
    return block;
}

void *memory_resize(Memory *memory, void *old, size_t old_size, size_t new_size)
{
    count_request(memory);
    void *block = realloc(old, new_size == 0 ? 1 : new_size);
    if (block == NULL)
        memory_fail(memory);
    count_bytes(memory, old_size, new_size);
    return block;
}

void memory_free(Memory *memory, void *block, size_t size)
{
    if (block == NULL)
        return;
    free(block);
    count_bytes(memory, size, 0);
}
