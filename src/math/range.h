/* How many elements a range has, and which; the same for every engine.
 *
 * Element i of {a : b : step} is a + i * step, floats rounded after each of the two operations; the range ends before the first
 * element that does not lie strictly before b, seen in the direction of the step. The step is not zero. */
#ifndef RUNNEL_MATH_RANGE_H
#define RUNNEL_MATH_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Float ranges longer than this count as this long: nobody can hold them. */
#define RANGE_COUNT_MAX (UINT64_C(1) << 62)

static inline uint64_t range_steps(uint64_t distance, uint64_t step)
{
    return distance / step + (distance % step != 0);
}

static inline uint64_t range_count_signed(int64_t a, int64_t b, int64_t step)
{
    if (step > 0)
        return a < b ? range_steps((uint64_t)b - (uint64_t)a, (uint64_t)step) : 0;
    return b < a ? range_steps((uint64_t)a - (uint64_t)b, UINT64_C(0) - (uint64_t)step) : 0;
}

static inline uint64_t range_count_unsigned(uint64_t a, uint64_t b, uint64_t step)
{
    return a < b ? range_steps(b - a, step) : 0;
}

static inline double range_element_f64(double a, double step, uint64_t i)
{
    double offset = (double)i * step;
    return a + offset;
}

static inline float range_element_f32(float a, float step, uint64_t i)
{
    float offset = (float)i * step;
    return a + offset;
}

/* Rounding is monotone, so "lies before b" holds for a first part of the range and a search finds where it ends. */
#define RANGE_COUNT_FLOAT(Type, suffix)                                                                               \
    static inline bool range_has_##suffix(Type a, Type b, Type step, uint64_t i)                                      \
    {                                                                                                                 \
        Type element = range_element_##suffix(a, step, i);                                                            \
        return step > 0 ? element < b : element > b;                                                                  \
    }                                                                                                                 \
    static inline uint64_t range_count_##suffix(Type a, Type b, Type step)                                            \
    {                                                                                                                 \
        if (!range_has_##suffix(a, b, step, 0))                                                                       \
            return 0;                                                                                                 \
        uint64_t inside = 0, outside = 1;                                                                             \
        while (range_has_##suffix(a, b, step, outside)) {                                                             \
            inside = outside;                                                                                         \
            if (inside >= RANGE_COUNT_MAX)                                                                            \
                return RANGE_COUNT_MAX;                                                                               \
            outside *= 2;                                                                                             \
        }                                                                                                             \
        while (outside - inside > 1) {                                                                                \
            uint64_t middle = inside + (outside - inside) / 2;                                                        \
            if (range_has_##suffix(a, b, step, middle))                                                               \
                inside = middle;                                                                                      \
            else                                                                                                      \
                outside = middle;                                                                                     \
        }                                                                                                             \
        return outside;                                                                                               \
    }

RANGE_COUNT_FLOAT(double, f64)
RANGE_COUNT_FLOAT(float, f32)
#undef RANGE_COUNT_FLOAT

#endif
