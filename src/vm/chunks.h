/* How much the buffers of a network hold.
 *
 * Buffers are limited by bytes, the same for each. What is best depends on the program and the machine: larger chunks cost less for each firing
 * and give threads more to share, smaller ones stay in the cache. So every plan begins with small chunks, or, if it reads texts, with what is in a block of a file, and tries larger ones, as long as the time per element
 * falls or may still do so; then it stays with the least size that was about as fast as any. Where elements later take much longer than they did, it tries
 * again; where memory is scarce it shrinks. Functions are called on few points and on many, and what an element of theirs takes tells little about the size:
 * they get one that is mostly good. Nothing depends on the size but time. With `--chunk` it is fixed, in elements. */
#ifndef RUNNEL_VM_CHUNKS_H
#define RUNNEL_VM_CHUNKS_H

#include "base/text.h"
#include "vm/vm_private.h"

enum { CHUNK_SIZES = 12, CHUNK_STEPS = 40 };

typedef enum ChunkReason { CHUNK_TRIED, CHUNK_CHOSEN, CHUNK_SLOWER, CHUNK_MEMORY } ChunkReason;

/* A change of size, and what a point took before it. */
typedef struct ChunkStep {
    uint8_t size; /* see chunk_bytes */
    ChunkReason reason;
    float picoseconds; /* for each element at this size; 0 if it was not measured */
} ChunkStep;

typedef struct Chunks {
    uint8_t size, most;
    bool is_fixed; /* by an option */
    bool is_steady;
    uint8_t windows; /* measured at this size since the last change; the first does not count */
    uint8_t slow_windows, slow_limit;
    uint64_t time, elements; /* of the window under way */
    float least_time[CHUNK_SIZES]; /* picoseconds for each element; 0 if not measured */
    float steady_time;
    ChunkStep steps[CHUNK_STEPS]; /* the first ones */
    uint32_t step_count;
} Chunks;

size_t chunk_bytes(uint8_t size);

/* The plan knows who reads what. */
void chunks_init(Chunks *chunks, const Vm *vm, const Plan *plan);
/* Elements of a buffer. */
uint32_t chunks_elements(const Chunks *chunks, const Vm *vm, size_t element_size);
/* What the plan's instances have done in `time` nanoseconds; they then follow the size it decides on, each when chunks_follow is called. */
void chunks_measure(Chunks *chunks, const Vm *vm, uint64_t time, uint64_t elements);
/* Brings the limits of an instance's buffers up to date. */
void chunks_follow(Vm *vm, Instance *instance);
/* More memory is held than is allowed: makes the buffers of all that runs as small as they can be. False if they were. */
bool chunks_shrink_all(Vm *vm);
/* The history, as one line; nothing if the size never changed. */
void chunks_show(const Chunks *chunks, Text *out);

#endif
