/* What places.c and the loops of places_vector.c share. */
#ifndef RUNNEL_VM_PLACES_PRIVATE_H
#define RUNNEL_VM_PLACES_PRIVATE_H

#include "vm/fold_private.h"
#include "vm/places.h"

enum { PLACES_LANES = 4 };

struct PlacesKind {
    /* points [first, end) up to the first with a bad index, which they give */
    size_t (*put)(const Placing *placing, size_t first, size_t end);
    /* The same into PLACES_LANES tables, this many bytes apart, in turn; indices are not uniform. Gives `end`, or a point up to which all indices are good. */
    size_t (*put_lanes)(const Placing *placing, size_t first, size_t end, size_t lane_step);
    size_t (*scan)(const Placing *placing, size_t first, size_t end, void *out);
    void (*join)(void *table, const void *copy, size_t length);
    void (*start)(void *table, size_t count);
    bool is_exact;
    size_t cell_size;
};

/* The kind of an operator on a type; null where there is none. */
typedef const PlacesKind *PlacesTable[FOLD_OPERATOR_COUNT][SCALAR_COUNT];

#define VECTOR_LEVEL_ROW(level) extern const PlacesTable VECTOR_NAME_AT(places_table, level);
VECTOR_LEVELS(VECTOR_LEVEL_ROW)
#undef VECTOR_LEVEL_ROW

#endif
