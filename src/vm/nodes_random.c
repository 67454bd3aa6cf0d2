/* RAND: random bits, which DRAW has made, scaled to a limit. */
#include "vm/nodes.h"

enum { RAND_BITS, RAND_LIMIT, RAND_INPUTS };

static bool is_positive(ScalarType type, Scalar a)
{
    if (type == SCALAR_F64)
        return a.f64 > 0.0 && a.f64 < (double)INFINITY;
    if (type == SCALAR_F32)
        return a.f32 > 0.0f && a.f32 < INFINITY;
    return scalar_kind(type) == KIND_SIGNED ? a.integer > 0 : a.bits > 0;
}

static Scalar scale(ScalarType type, uint64_t bits, Scalar limit)
{
    if (type == SCALAR_F64)
        return scalar_of_f64(random_scale_f64(bits, limit.f64));
    if (type == SCALAR_F32)
        return scalar_of_f32(random_scale_f32(bits, limit.f32));
    return (Scalar){.bits = random_below(bits, limit.bits)};
}

/* False when nothing more can be done now, or ever. */
static bool rand_chunk(Firing *firing)
{
    Inputs inputs = {RAND_BITS, RAND_INPUTS};
    ScalarType type = firing->node->scalar;
    size_t count = least(inputs_available(firing, inputs), firing_room(firing, 0));
    if (count == 0)
        return firing_rest(firing, RAND_BITS);
    Cells bits = firing_cells(firing, RAND_BITS), limits = firing_cells(firing, RAND_LIMIT);
    void *out = firing_reserve(firing, 0, count);
    for (size_t i = 0; i < count; i++) {
        Scalar limit = cells_scalar(type, limits, i);
        if (!is_positive(type, limit)) {
            firing_produce(firing, 0, i);
            return failure_rand(firing_fail(firing, RAND_BITS, i), type, limit);
        }
        cells_set_scalar(type, out, i, scale(type, cells_scalar(SCALAR_U64, bits, i).bits, limit));
    }
    firing_produce(firing, 0, count);
    inputs_consume(firing, inputs, count);
    return true;
}

static void fire_rand(Firing *firing)
{
    while (rand_chunk(firing))
        continue;
}

const NodeKind node_kind_RAND = {.fire = fire_rand};
