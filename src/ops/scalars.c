#include "ops/scalars.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t bits;
    ScalarKind kind;
} scalars[SCALAR_COUNT] = {
#define SCALAR(ID, name, c_type, kind) [SCALAR_##ID] = {name, sizeof(c_type) * 8, KIND_##kind},
#include "ops/scalars.def"
#undef SCALAR
};

static const struct {
    const char *name;
    ClassSet set;
} classes[] = {
    {"any", CLASS_ANY},         {"concrete", CLASS_CONCRETE}, {"scalar", CLASS_SCALAR},   {"ordinal", CLASS_ORDINAL},
    {"number", CLASS_NUMBER},   {"logical", CLASS_LOGICAL},   {"integer", CLASS_INTEGER}, {"floating", CLASS_FLOATING},
};

enum { CLASS_NAME_COUNT = sizeof classes / sizeof classes[0] };

const char *scalar_name(ScalarType scalar)
{
    return scalars[scalar].name;
}

ScalarKind scalar_kind(ScalarType scalar)
{
    return scalars[scalar].kind;
}

uint32_t scalar_bits(ScalarType scalar)
{
    return scalars[scalar].bits;
}

size_t scalar_size(ScalarType scalar)
{
    return scalars[scalar].bits / 8;
}

bool scalar_is_integer(ScalarType scalar)
{
    return scalar_kind(scalar) == KIND_SIGNED || scalar_kind(scalar) == KIND_UNSIGNED;
}

const char *class_name(ClassSet set)
{
    for (uint32_t i = 0; i < CLASS_NAME_COUNT; i++)
        if (classes[i].set == set)
            return classes[i].name;
    return NULL;
}

ClassSet class_named(const char *name)
{
    for (uint32_t i = 0; i < CLASS_NAME_COUNT; i++)
        if (strcmp(classes[i].name, name) == 0)
            return classes[i].set;
    return 0;
}

int64_t scalar_wrap(ScalarType scalar, int64_t value)
{
    uint32_t bits = scalar_bits(scalar);
    if (bits == 64)
        return value;
    uint64_t low = (uint64_t)value & ((UINT64_C(1) << bits) - 1);
    bool is_signed = scalar_kind(scalar) == KIND_SIGNED;
    if (is_signed && (low >> (bits - 1)) != 0)
        return (int64_t)(low | ~((UINT64_C(1) << bits) - 1));
    return (int64_t)low;
}

/* ---- in memory ---- */

/* The member of Scalar that holds a C type, by the kind of its row in scalars.def. */
#define MEMBER_TRUTH(c_type) bits
#define MEMBER_CHARACTER(c_type) bits
#define MEMBER_UNSIGNED(c_type) bits
#define MEMBER_SIGNED(c_type) integer
#define MEMBER_FLOATING(c_type) MEMBER_OF_##c_type
#define MEMBER_OF_float f32
#define MEMBER_OF_double f64

Scalar scalar_load(ScalarType scalar, const void *array, size_t i)
{
    Scalar value = {0}; /* the upper half of an f32 too */
    switch (scalar) {
#define SCALAR(ID, name, c_type, kind)                                                                                \
    case SCALAR_##ID:                                                                                                 \
        value.MEMBER_##kind(c_type) = ((const c_type *)array)[i];                                                     \
        break;
#include "ops/scalars.def"
#undef SCALAR
    case SCALAR_COUNT:
        break;
    }
    return value;
}

void scalar_store(ScalarType scalar, void *array, size_t i, Scalar value)
{
    switch (scalar) {
#define SCALAR(ID, name, c_type, kind)                                                                                \
    case SCALAR_##ID:                                                                                                 \
        ((c_type *)array)[i] = (c_type)value.MEMBER_##kind(c_type);                                                   \
        break;
#include "ops/scalars.def"
#undef SCALAR
    case SCALAR_COUNT:
        break;
    }
}
