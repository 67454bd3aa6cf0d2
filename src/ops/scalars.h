/* Scalar types and classes.
 *
 * A class is a set of types, as bits: one for each scalar type, one for structured concrete types (tuples, vectors,
 * datatypes, functions), one for types with a sequence inside. The meet of two classes is the intersection. */
#ifndef RUNNEL_OPS_SCALARS_H
#define RUNNEL_OPS_SCALARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ScalarType {
#define SCALAR(ID, name, c_type, kind) SCALAR_##ID,
#include "ops/scalars.def"
#undef SCALAR
    SCALAR_COUNT
} ScalarType;

typedef enum ScalarKind { KIND_TRUTH, KIND_CHARACTER, KIND_SIGNED, KIND_UNSIGNED, KIND_FLOATING } ScalarKind;

/* One scalar value. Integers of every width are kept sign- or zero-extended in `integer`; bool and char too. */
typedef union Scalar {
    uint64_t bits;
    int64_t integer;
    double f64;
    float f32;
} Scalar;

typedef uint32_t ClassSet;

enum {
    CLASS_BIT_STRUCTURED = 1 << SCALAR_COUNT,
    CLASS_BIT_SEQUENCES = 2 << SCALAR_COUNT,

    CLASS_SCALAR = (1 << SCALAR_COUNT) - 1,
    CLASS_FLOATING = 1 << SCALAR_F32 | 1 << SCALAR_F64,
    CLASS_INTEGER = 1 << SCALAR_I8 | 1 << SCALAR_I16 | 1 << SCALAR_I32 | 1 << SCALAR_I64 | 1 << SCALAR_U8 |
                    1 << SCALAR_U16 | 1 << SCALAR_U32 | 1 << SCALAR_U64,
    CLASS_NUMBER = CLASS_INTEGER | CLASS_FLOATING,
    CLASS_ORDINAL = CLASS_NUMBER | 1 << SCALAR_CHAR,
    CLASS_LOGICAL = CLASS_INTEGER | 1 << SCALAR_BOOL,
    CLASS_CONCRETE = CLASS_SCALAR | CLASS_BIT_STRUCTURED,
    CLASS_ANY = CLASS_CONCRETE | CLASS_BIT_SEQUENCES,
};

const char *scalar_name(ScalarType scalar);
ScalarKind scalar_kind(ScalarType scalar);
uint32_t scalar_bits(ScalarType scalar); /* width: 8 for bool and char */
size_t scalar_size(ScalarType scalar);   /* of its C type, in bytes */
bool scalar_is_integer(ScalarType scalar);

/* The name of a class ("number"), or null when no name stands for just this set. */
const char *class_name(ClassSet set);
/* The class of a name, 0 when there is none. */
ClassSet class_named(const char *name);

/* An integer cut to the width of `scalar` (wrapping), extended back to 64 bits. */
int64_t scalar_wrap(ScalarType scalar, int64_t value);

/* Element i of an array of the scalar's C type. */
Scalar scalar_load(ScalarType scalar, const void *array, size_t i);
void scalar_store(ScalarType scalar, void *array, size_t i, Scalar value);

#endif
