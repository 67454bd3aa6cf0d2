/* The loops of movement_vector.c, for each level and size of cells. */
#ifndef RUNNEL_VM_MOVEMENT_PRIVATE_H
#define RUNNEL_VM_MOVEMENT_PRIVATE_H

#include "vm/movement.h"
#include "base/vector.h"

typedef struct MovementMatrix {
    const MovementRow *rows;
    size_t height;
    bool is_whole;  /* no row has a cell that stands for all */
    bool bypasses;  /* the columns begin where lines of the cache do, and are not to be held there */
} MovementMatrix;

typedef struct MovementSize {
    size_t (*pack)(void *out, const void *from, const bool *flags, size_t count, bool keep);
    void (*distribute)(void *out, const void *from, int64_t first, const int64_t *ends, size_t segments);
    void (*distribute_regular)(void *out, const void *from, size_t length, size_t segments);
    void (*merge_bool)(void *out, const bool *selector, size_t count, const Cells *sources, size_t *taken);
    void (*merge_int32)(void *out, const int32_t *selector, size_t count, const Cells *sources, size_t *taken);
    void (*select)(void *out, const bool *selector, size_t count, const Cells *sources);
    void (*transpose)(void *out, const MovementMatrix *matrix, size_t left, size_t right); /* these columns */
} MovementSize;

enum { MOVEMENT_SIZE_MAX = 8 };

typedef struct MovementLoops {
    size_t (*count)(const bool *flags, size_t count, bool keep);
    void (*count_running)(int64_t *running, const bool *flags, size_t count, bool keep, int64_t start);
    void (*progression)(int64_t *out, int64_t first, int64_t step, size_t count);
    size_t (*follow)(const int64_t *numbers, int64_t first, int64_t step, size_t count);
    void (*local_index)(int64_t *out, int64_t first, const int64_t *ends, size_t segments);
    MovementSize sizes[MOVEMENT_SIZE_MAX + 1]; /* by bytes of a cell */
} MovementLoops;

#define VECTOR_LEVEL_ROW(level) extern const MovementLoops VECTOR_NAME_AT(movement_loops, level);
VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW

const MovementLoops *movement_loops_at(VectorLevel level); /* a level the processor has: for tests */

#endif
