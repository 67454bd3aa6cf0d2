/* RAND: random bits, which DRAW has made, scaled to a limit. */
#include "vm/nodes.h"
#include "vm/team_check.h"

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

typedef struct ScaleLoop {
    ScalarType type;
    Cells bits, limits;
    void *out;
} ScaleLoop;

static size_t scale_points(const void *context, size_t first, size_t end)
{
    ScaleLoop loop = *(const ScaleLoop *)context;
    for (size_t i = first; i < end; i++) {
        Scalar limit = cells_scalar(loop.type, loop.limits, i);
        if (!is_positive(loop.type, limit))
            return i;
        cells_set_scalar(loop.type, loop.out, i, scale(loop.type, cells_scalar(SCALAR_U64, loop.bits, i).bits, limit));
    }
    return end;
}

/* False when nothing more can be done now, or ever. */
static bool rand_chunk(Firing *firing)
{
    enum { POINT_PICOSECONDS = 8000 };
    Inputs inputs = {RAND_BITS, RAND_INPUTS};
    size_t count = least(inputs_available(firing, inputs), firing_room(firing, 0));
    if (count == 0)
        return firing_rest(firing, RAND_BITS);
    ScaleLoop loop = {.type = firing->node->scalar,
                      .bits = firing_cells(firing, RAND_BITS),
                      .limits = firing_cells(firing, RAND_LIMIT),
                      .out = firing_reserve(firing, 0, count)};
    size_t done = team_check(firing->vm->team, count, POINT_PICOSECONDS, scale_points, &loop);
    firing_produce(firing, 0, done);
    if (done < count)
        return failure_rand(firing_fail(firing, RAND_BITS, done), loop.type, cells_scalar(loop.type, loop.limits, done));
    inputs_consume(firing, inputs, count);
    return true;
}

static void fire_rand(Firing *firing)
{
    while (rand_chunk(firing))
        continue;
}

const NodeKind node_kind_RAND = {.fire = fire_rand};
