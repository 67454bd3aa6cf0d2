/* Values combined into places of a table by a built-in operator: table[index[i]] = table[index[i]] op values[i], one point after the other.
 *
 * A team shares this by copies of the table: they begin with the identity everywhere, and are joined to the table in the end. A member has several of a short
 * one, used in turn, so that neighbouring points of the same place do not wait for each other. */
#ifndef RUNNEL_VM_PLACES_H
#define RUNNEL_VM_PLACES_H

#include "vm/vm_private.h"

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

/* Copies of a table: kept from call to call, since filling and joining them costs as much as many points do. Stands in the state of a node; zeros at first. */
typedef struct PlacesCopies {
    size_t points; /* that came since the table was begun: copies are made when there were enough for them */
    size_t length; /* places of each copy: more than the table has, which may grow */
    size_t members, lanes;
    size_t step; /* bytes from a copy to the next */
    unsigned char *items; /* null if there are none */
} PlacesCopies;

/* Points [first, end), up to the first with an index that is none of the table: gives that point, or `end`. Points after it may have been combined all the
 * same. What is exact may go to copies, until they are joined. */
size_t places_put(Vm *vm, PlacesCopies *copies, const Placing *placing, size_t first, size_t end);
/* The table has everything afterwards, and there are no copies. */
void places_join(Vm *vm, PlacesCopies *copies, const Placing *placing);
void places_forget(Memory *memory, PlacesCopies *copies);
/* Such points into the table alone, and nothing after that point; what is found at each point's place goes to `out`, from its beginning on. */
size_t places_scan(const Placing *placing, size_t first, size_t end, void *out);

#endif
