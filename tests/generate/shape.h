/* Shapes: types as the generator sees them, read from the notation of ops.def and of `runnel check`.
 *
 * A scheme is a shape with variables: VARIABLE stands for a type of its class, and CONTAINER (`c[t]`) for a vector or a sequence.
 * A scheme's result is matched with the shape that is wanted; what that leaves open is picked at random. */
#ifndef GENERATE_SHAPE_H
#define GENERATE_SHAPE_H

#include "base/arena.h"
#include "base/text.h"
#include "ops/scalars.h"

#include <stddef.h>

typedef enum ShapeKind {
    SHAPE_SCALAR,
    SHAPE_UNIT,
    SHAPE_PAIR,      /* a, b */
    SHAPE_VECTOR,    /* of a */
    SHAPE_SEQUENCE,  /* of a */
    SHAPE_DATA,      /* name; a: its parameter, or null */
    SHAPE_FUNCTION,  /* a -> b */
    SHAPE_VARIABLE,  /* index */
    SHAPE_CONTAINER, /* index of the container, of a */
    SHAPE_KINDS
} ShapeKind;

typedef struct Shape {
    ShapeKind kind;
    ScalarType scalar;
    uint32_t index;
    const char *name;
    const struct Shape *a, *b;
} Shape;

enum { SCHEME_VARIABLES = 10 };

/* The variables of a scheme by their letters, types and containers apart. */
typedef struct Variables {
    char types[SCHEME_VARIABLES];
    ClassSet classes[SCHEME_VARIABLES];
    uint32_t type_count;
    char containers[SCHEME_VARIABLES];
    uint32_t container_count;
} Variables;

/* What variables stand for; null and 0 while that is open. */
typedef struct Bindings {
    const Shape *types[SCHEME_VARIABLES];
    ShapeKind containers[SCHEME_VARIABLES]; /* SHAPE_VECTOR or SHAPE_SEQUENCE */
} Bindings;

const Shape *shape_scalar(ScalarType scalar);
const Shape *shape_unit(void);
const Shape *shape_new(Arena *arena, ShapeKind kind, const Shape *a, const Shape *b);

/* Reads a type up to what cannot belong to it; null, when it cannot be read, for instance because there are too many variables. A
 * name that is no scalar type and longer than a letter (digits aside) is that of a datatype. */
const Shape *shape_read(Arena *arena, const char **text, Variables *variables);
/* Reads `:: (a in number; ...)` if it is there. */
bool shape_read_context(const char **text, Variables *variables);

bool shape_equal(const Shape *a, const Shape *b);
bool shape_is_concrete(const Shape *shape);
/* Whether a vector holds only what is concrete, everywhere inside. */
bool shape_is_valid(const Shape *shape);
/* The set with the one class that a shape is in. */
ClassSet shape_class(const Shape *shape);
/* How many constructors it has. */
uint32_t shape_size(const Shape *shape);

/* Binds variables of `pattern` so that it becomes `shape`; false when there is no way. */
bool shape_match(const Shape *pattern, const Shape *shape, const Variables *variables, Bindings *bindings);
const Shape *shape_apply(Arena *arena, const Shape *pattern, const Bindings *bindings);

void shape_print(const Shape *shape, Text *out);

#endif
