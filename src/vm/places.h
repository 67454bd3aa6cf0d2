/* Values combined into places of a table by a built-in operator: table[index[i]] = table[index[i]] op values[i], one point after the other. */
#ifndef RUNNEL_VM_PLACES_H
#define RUNNEL_VM_PLACES_H

#include "vm/array.h"

typedef struct PlacesKind PlacesKind; /* an operator on a type */

/* `reduction` is one of OP_SUM, OP_PRODUCT, OP_MAX_VAL, OP_MIN_VAL, OP_ANY, OP_ALL, OP_PARITY. Null where there is none. */
const PlacesKind *places_kind(Op reduction, ScalarType type);
/* Whether points may be combined in any order, and into copies of the table that are joined then. */
bool places_are_exact(const PlacesKind *kind);

typedef struct Placing {
    const PlacesKind *kind;
    void *table;
    size_t length;
    Cells index; /* int64_t */
    Cells values;
} Placing;

/* Points [first, end), up to the first with an index that is none of the table: gives that point, or `end`. */
size_t places_put(const Placing *placing, size_t first, size_t end);
/* The same; what is found at each point's place goes to `out`, from its beginning on. */
size_t places_scan(const Placing *placing, size_t first, size_t end, void *out);
/* Joins a copy of the table, which began with the operator's identity everywhere, to the table. */
void places_join(const PlacesKind *kind, void *table, const void *copy, size_t length);

#endif
