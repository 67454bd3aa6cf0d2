/* Values combined into places of a table by a built-in operator: table[index[i]] = table[index[i]] op values[i], one point after the other.
 *
 * A team shares this by copies of the table: they begin with the identity everywhere, and are joined to the table. A member has several, used in turn, so that
 * neighbouring points of the same place do not wait for each other. */
#ifndef RUNNEL_VM_PLACES_H
#define RUNNEL_VM_PLACES_H

#include "vm/array.h"

typedef struct PlacesKind PlacesKind; /* an operator on a type */

/* `reduction` is one of OP_SUM, OP_PRODUCT, OP_MAX_VAL, OP_MIN_VAL, OP_ANY, OP_ALL, OP_PARITY. Null where there is none. */
const PlacesKind *places_kind(Op reduction, ScalarType type);
/* Whether points may be combined in any order. */
bool places_are_exact(const PlacesKind *kind);
/* The identity of the operator in `count` cells. */
void places_start(const PlacesKind *kind, void *table, size_t count);

typedef struct Placing {
    const PlacesKind *kind;
    void *table;
    size_t length;
    Cells index; /* int64_t */
    Cells values;
} Placing;

/* Points [first, end), up to the first with an index that is none of the table: gives that point, or `end`. Points after it may have been combined all the
 * same. A team, which may be null, shares what is exact if the table is short beside the points. */
size_t places_put(Team *team, const Placing *placing, size_t first, size_t end);
/* The same, and nothing after that point; what is found at each point's place goes to `out`, from its beginning on. */
size_t places_scan(const Placing *placing, size_t first, size_t end, void *out);

#endif
