/* Loops over the functions of math/functions.def that are held to 1 ulp, as an engine has them, for f64 or with -DOF_F32
 * for f32. test_math_vector compiles this file with several compilers and options, reads their reports about vectorised
 * loops, and compares what the programs print.
 *
 * Every loop runs over arrays of an odd length, so that it has a remainder, and each of its results is compared with that
 * of the loop run for one element, which is the scalar code of the remainder. For each function a hash of all results is
 * printed, nans as one. */
#include "math/elementary.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef OF_F32
typedef float Number;
#define FUNCTION(name) math_##name##_f32
#define IS_HUGE_ANGLE math_is_huge_angle_f32
#define CANONICAL math_canonical_f32
#else
typedef double Number;
#define FUNCTION(name) math_##name
#define IS_HUGE_ANGLE math_is_huge_angle
#define CANONICAL math_canonical
#endif

enum { COUNT = 20011 };

#define LOOP_VECTOR_1(name)                                                                                           \
    static __attribute__((noinline)) void loop_##name(Number *restrict result, const Number *restrict x,              \
                                                      const Number *restrict y, int count)                            \
    {                                                                                                                 \
        (void)y;                                                                                                      \
        for (int i = 0; i < count; i++)                                                                               \
            result[i] = FUNCTION(name)(x[i]);                                                                         \
    }
#define LOOP_VECTOR_2(name)                                                                                           \
    static __attribute__((noinline)) void loop_##name(Number *restrict result, const Number *restrict x,              \
                                                      const Number *restrict y, int count)                            \
    {                                                                                                                 \
        for (int i = 0; i < count; i++)                                                                               \
            result[i] = FUNCTION(name)(x[i], y[i]);                                                                   \
    }
#define LOOP_ANGLE_1(name)                                                                                            \
    static __attribute__((noinline)) void loop_##name(Number *restrict result, const Number *restrict x,              \
                                                      const Number *restrict y, int count)                            \
    {                                                                                                                 \
        (void)y;                                                                                                      \
        for (int i = 0; i < count; i++)                                                                               \
            result[i] = FUNCTION(name##_fast)(x[i]);                                                                  \
        for (int i = 0; i < count; i++)                                                                               \
            if (IS_HUGE_ANGLE(x[i]))                                                                                  \
                result[i] = FUNCTION(name##_slow)(x[i]);                                                              \
    }
#define LOOP_SCALAR_1(name) LOOP_VECTOR_1(name)
#define LOOP_SCALAR_2(name) LOOP_VECTOR_2(name)
#define LOOP_EXACT_1(name) LOOP_VECTOR_1(name)
#define LOOP_EXACT_2(name) LOOP_VECTOR_2(name)

/* A loop is reported at its row of functions.def. */
#define MATH_1(name, kind) LOOP_##kind##_1(name)
#define MATH_2(name, kind) LOOP_##kind##_2(name)
#include "math/functions.def"
#undef MATH_1
#undef MATH_2

typedef void Loop(Number *restrict result, const Number *restrict x, const Number *restrict y, int count);

static Number x[COUNT], y[COUNT], result[COUNT];

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Patterns of all kinds, and numbers where functions are not constant. */
static Number argument(uint64_t *state)
{
    uint64_t bits = next_random(state);
    Number number;
    memcpy(&number, &bits, sizeof number);
    double unit = (double)(int64_t)next_random(state) * 0x1p-63;
    switch (next_random(state) % 4) {
    case 0: return number;
    case 1: return (Number)unit;
    case 2: return (Number)(unit * 8.0);
    }
    return (Number)(unit * 800.0);
}

static void fill(void)
{
    static const double specials[] = {0.0, -0.0, 1.0, -1.0, (double)INFINITY, -(double)INFINITY, (double)NAN, 0x1p20, 0x1p21, 0x1p-149};
    enum { SPECIALS = sizeof specials / sizeof specials[0] };
    uint64_t state = 5;
    for (int i = 0; i < COUNT; i++) {
        x[i] = argument(&state);
        y[i] = argument(&state);
    }
    for (int i = 0; i < SPECIALS * SPECIALS; i++) {
        x[i] = (Number)specials[i / SPECIALS];
        y[i] = (Number)specials[i % SPECIALS];
    }
}

static uint64_t bits_of(Number number)
{
    uint64_t bits = 0;
    number = CANONICAL(number);
    memcpy(&bits, &number, sizeof number);
    return bits;
}

static uint64_t hash_of(const char *name, Loop *loop)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    loop(result, x, y, COUNT);
    for (int i = 0; i < COUNT; i++) {
        uint64_t bits = bits_of(result[i]);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
        Number alone;
        loop(&alone, x + i, y + i, 1);
        if (bits != bits_of(alone)) {
            printf("%s(%a, %a) is %a in a loop and %a alone\n", name, (double)x[i], (double)y[i], (double)result[i],
                   (double)alone);
            exit(1);
        }
    }
    return hash;
}

int main(void)
{
    fill();
#define MATH_1(name, kind) printf("%s %016llx\n", #name, (unsigned long long)hash_of(#name, loop_##name));
#define MATH_2(name, kind) MATH_1(name, kind)
#include "math/functions.def"
    return 0;
}
