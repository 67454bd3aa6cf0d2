#include "base/vec.h"

#include <string.h>

void vec_grow(Arena *arena, void **items, uint32_t count, uint32_t *capacity, size_t item_size)
{
    if (*capacity >= UINT32_MAX / 2)
        memory_fail(arena->memory);
    uint32_t wanted = *capacity == 0 ? 8 : *capacity * 2;
    void *grown = arena_array(arena, wanted, item_size);
    if (count > 0)
        memcpy(grown, *items, count * item_size);
    *items = grown;
    *capacity = wanted;
}
