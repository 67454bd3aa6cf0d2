#include "vm/bundle_spill.h"

#include "base/memory.h"

enum { CELLS_ALIGNMENT = 64 }; /* bytes: a line of the cache */

struct BundleSpill {
    BundleSpill *next;
    size_t size; /* in bytes, of all this */
    const uint8_t *sizes;
    size_t room;
};

static size_t column_bytes(const BundleSpill *spill, uint32_t output)
{
    return (spill->room * spill->sizes[output] + CELLS_ALIGNMENT - 1) / CELLS_ALIGNMENT * CELLS_ALIGNMENT;
}

BundleSpill *bundle_spill(BundleState *state, const uint8_t *sizes, uint32_t outputs, size_t room)
{
    BundleSpill spill = {.sizes = sizes, .room = room, .size = sizeof spill + CELLS_ALIGNMENT};
    for (uint32_t i = 0; i < outputs; i++)
        spill.size += column_bytes(&spill, i);
    BundleSpill *memory = memory_alloc_outside(spill.size);
    if (memory == NULL)
        return NULL;
    *memory = spill;
    memory->next = atomic_load(&state->spills);
    while (!atomic_compare_exchange_weak(&state->spills, &memory->next, memory))
        ;
    return memory;
}

char *bundle_spill_cells(const BundleSpill *spill, uint32_t output)
{
    uintptr_t place = ((uintptr_t)(spill + 1) + CELLS_ALIGNMENT - 1) / CELLS_ALIGNMENT * CELLS_ALIGNMENT;
    for (uint32_t i = 0; i < output; i++)
        place += column_bytes(spill, i);
    return (char *)place;
}

void bundle_spills_free(BundleState *state)
{
    for (BundleSpill *spill = atomic_load(&state->spills), *next; spill != NULL; spill = next) {
        next = spill->next;
        memory_free_outside(spill, spill->size);
    }
    atomic_store(&state->spills, NULL);
}
