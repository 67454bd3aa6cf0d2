/* Large blocks of memory: whole huge pages, each block at the beginning of one.
 *
 * A page that the system gives anew costs as much as working through it, and small pages cost whoever reads here and there; so blocks that are given back are
 * kept for the next ones, and one that grows is moved without being copied. All threads share what is kept. */
#ifndef RUNNEL_BASE_LARGE_BLOCKS_H
#define RUNNEL_BASE_LARGE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether blocks of this size are large ones. */
bool large_blocks_has(size_t size);

/* A block; null if there is no memory. `is_zeroed` says whether it was never used before. */
void *large_blocks_take(size_t size, bool *is_zeroed);
/* The block with another size, elsewhere perhaps; both sizes are large ones. Null if there is no memory: then it stays as it was. */
void *large_blocks_resize(void *block, size_t old_size, size_t new_size);
void large_blocks_give(void *block, size_t size);

#endif
