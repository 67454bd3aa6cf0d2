/* Memory: the one door through which a session allocates.
 *
 * Every allocation of a session goes through its Memory, so that running out of memory is an error like
 * others: a failed request jumps to the recovery point that the public entry point has set. Nothing below
 * the entry points ever sees a null pointer. Tests make the Nth request fail by setting `fail_after`. */
#ifndef RUNNEL_BASE_MEMORY_H
#define RUNNEL_BASE_MEMORY_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Memory {
    jmp_buf *on_failure;    /* where a failed request goes; set by the public entry points */
    size_t live_bytes;      /* handed out and not yet given back */
    size_t peak_bytes;      /* the largest live_bytes so far */
    uint64_t vector_bytes;  /* of all elements of vectors so far, counted by those who make vectors */
    uint64_t fail_after;    /* 0: never; n: the nth request from now on fails */
} Memory;

/* Zeroed memory; does not return on failure. A size of 0 gives a unique pointer. */
void *memory_alloc(Memory *memory, size_t size);

/* Grows or shrinks a block of `old_size` bytes; new bytes are not zeroed. `old` may be null. */
void *memory_resize(Memory *memory, void *old, size_t old_size, size_t new_size);

/* Gives back a block of `size` bytes; null is allowed. */
void memory_free(Memory *memory, void *block, size_t size);

/* For threads that work for a session, which cannot use its memory: a block that is not zeroed, or null. The session counts it later, with memory_count_outside. */
void *memory_alloc_outside(size_t size);
void memory_free_outside(void *block, size_t size);
/* What such a block has when all behind the bytes that are wanted was given back, as far as that can be done without moving it; and the same after giving that back. */
size_t memory_cut_size(size_t size, size_t wanted);
size_t memory_cut_outside(void *block, size_t size, size_t wanted);
void memory_count_outside(Memory *memory, size_t old_size, size_t new_size);

/* Fails as an allocation would; for sizes that cannot be computed without overflow. */
_Noreturn void memory_fail(Memory *memory);

#endif
