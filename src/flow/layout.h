/* Layout: what a value of a concrete type is made of once nesting is gone.
 *
 * A value of concrete type is a fixed list of leaves, in the order of the type: a scalar is one leaf; a pair is the leaves of both
 * components; unit is no leaf at all; a vector is three leaves:
 *
 *     LEAF_ARRAY   the array that holds its elements, column by column (one column for each leaf of the element type)
 *     int          the position of its first element in that array
 *     int          how many elements it has
 *
 * So slices share, and a vector of vectors is an array with three columns. DATA and CLOSURE types are laid out as their representation. */
#ifndef RUNNEL_FLOW_LAYOUT_H
#define RUNNEL_FLOW_LAYOUT_H

#include "types/types.h"

/* Scalar types, numbered as ScalarType, and what else a stream may carry. */
typedef uint8_t LeafType;
enum {
    LEAF_ARRAY = SCALAR_COUNT, /* a counted reference to an array */
    LEAF_ENDS,                 /* int64_t: positions of a child space (flow.h) */
    LEAF_POINTS,               /* nothing: only the points count */
};

typedef struct Layout Layout;

typedef struct Leaf {
    LeafType type;          /* a ScalarType or LEAF_ARRAY */
    const Layout *elements; /* LEAF_ARRAY: of the array's elements */
} Leaf;

struct Layout {
    TypeId type; /* as it was asked for */
    uint32_t count;
    Leaf leaves[];
};

enum { LAYOUT_LEAVES_MAX = 10000 };

/* The layouts of a session, each made once. */
typedef struct Layouts {
    Arena *arena;
    Types *types;
    VEC(const Layout *) by_type; /* by TypeId; null where not yet asked for */
} Layouts;

void layouts_init(Layouts *layouts, Arena *arena, Types *types);

/* Null when the type has more than LAYOUT_LEAVES_MAX leaves, at some level. */
const Layout *layout_of(Layouts *layouts, TypeId type);
/* Whether a leaf is an array. */
bool layout_has_arrays(const Layout *layout);

/* Bytes of one element of a column: 0 for LEAF_POINTS. */
size_t leaf_size(LeafType type);
const char *leaf_name(LeafType type); /* for printers: "int", "array", "ends", "points" */

#endif
