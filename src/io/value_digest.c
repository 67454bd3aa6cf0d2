#include "io/value_digest.h"

#include <inttypes.h>
#include <math.h>

static bool has_floats(Types *types, TypeId type);

static bool find_floats(Types *types, TypeId type)
{
    switch (type_kind(types, type)) {
    case TYPE_SCALAR:
        return scalar_kind(type_scalar(types, type)) == KIND_FLOATING;
    case TYPE_PAIR:
        return has_floats(types, type_first(types, type)) || has_floats(types, type_rest(types, type));
    case TYPE_CONTAINER:
        return has_floats(types, type_element(types, type));
    case TYPE_DATA:
    case TYPE_CLOSURE:
        return has_floats(types, type_representation(types, type));
    default:
        return false;
    }
}

/* Types share their parts, so each is looked at once. */
static bool has_floats(Types *types, TypeId type)
{
    enum { WITHOUT = 1, WITH };
    if (*type_memo(types, type) == 0) {
        bool is_found = find_floats(types, type);
        *type_memo(types, type) = is_found ? WITH : WITHOUT;
    }
    return *type_memo(types, type) == WITH;
}

static double as_float(ScalarType type, Scalar value)
{
    switch (scalar_kind(type)) {
    case KIND_FLOATING:
        return type == SCALAR_F32 ? (double)value.f32 : value.f64;
    case KIND_UNSIGNED:
        return (double)value.bits;
    default:
        return (double)value.integer;
    }
}

void value_digest_add(ValueDigest *digest, ScalarType type, Scalar value)
{
    uint64_t weight = (++digest->count * UINT64_C(0x9E3779B97F4A7C15)) | 1;
    double number = as_float(type, value);
    digest->sum += value.bits;
    digest->mix += value.bits * weight;
    digest->float_abs += (long double)fabs(number);
    digest->float_sum += (long double)number;
    digest->float_mix += (long double)number * (long double)((double)(weight >> 11) * 0x1p-53);
}

void value_digest_add_value(ValueDigest *digest, Types *types, TypeId type, Value value)
{
    switch (type_kind(types, type)) {
    case TYPE_SCALAR:
        value_digest_add(digest, type_scalar(types, type), value.scalar);
        return;
    case TYPE_PAIR:
        value_digest_add_value(digest, types, type_first(types, type), value.object->items[0]);
        value_digest_add_value(digest, types, type_rest(types, type), value.object->items[1]);
        return;
    case TYPE_CONTAINER: {
        TypeId element = type_element(types, type);
        for (size_t i = 0; i < value.object->count; i++)
            value_digest_add_value(digest, types, element, value.object->items[i]);
        return;
    }
    case TYPE_DATA:
    case TYPE_CLOSURE:
        value_digest_add_value(digest, types, type_representation(types, type), value);
        return;
    default:
        return;
    }
}

void value_digest_show(const ValueDigest *digest, Types *types, TypeId type, Text *out)
{
    type_memo_start(types);
    if (has_floats(types, type))
        text_addf(out, "f %" PRIu64 " %.17g %.17g %.17g", digest->count, (double)digest->float_abs, (double)digest->float_sum,
                  (double)digest->float_mix);
    else
        text_addf(out, "i %" PRIu64 " %" PRIu64 " %" PRIu64, digest->count, digest->sum, digest->mix);
}
