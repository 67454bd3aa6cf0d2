/* Random numbers, counter based: every draw is a pure function of a key and a counter, so that it is the same for every
 * engine, thread count and chunk size.
 *
 *   random(seed, i)   the unit fraction of random_hash(seed, i)
 *   rand              random_hash(key, counter) of the state, whose counter then advances by one
 *   a comprehension   whose body draws takes one draw d of the state around it, elements or not; element i starts with the
 *                     state (random_hash(d, i), 0); afterwards the state around it goes on. Groups likewise, by number.
 *   an operation      whose operator draws (reduce, scans, put_with, multiscan) takes one draw d of the state around it,
 *                     elements or not; each application of the operator starts with the state
 *                     (random_hash(d, 3 * position + kind), 0), and leaves nothing behind; afterwards the state around it
 *                     goes on. `position` is the index, in the segment or among the pairs, of the last element that the
 *                     right operand holds; the kinds of application are those of CombineKind.
 *   rand_seed(k)      the state becomes (k, 0)
 *
 * The hash is two rounds of the splitmix64 finaliser, one over the key and one over the result and the counter. For a
 * fixed key it is a bijection of the counter. */
#ifndef RUNNEL_MATH_RANDOM_H
#define RUNNEL_MATH_RANDOM_H

#include "math/combine.h"

#include <math.h>
#include <stdint.h>

typedef struct RandomState {
    uint64_t key;
    uint64_t counter;
} RandomState;

#define RANDOM_FIRST_KEY UINT64_C(0) /* of a program that never calls rand_seed */

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014; constants by Stafford). */
static inline uint64_t random_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

static inline uint64_t random_hash(uint64_t key, uint64_t counter)
{
    /* the odd constants keep (0, 0) away from the finaliser's fixed point and the two rounds apart */
    uint64_t mixed = random_mix(key + UINT64_C(0x9e3779b97f4a7c15));
    return random_mix(mixed + counter * UINT64_C(0xd1342543de82ef95) + UINT64_C(0x2545f4914f6cdd1d));
}

static inline uint64_t random_draw(RandomState *state)
{
    return random_hash(state->key, state->counter++);
}

/* The state with which element `position` of a comprehension starts, `draw` being the comprehension's own draw. */
static inline RandomState random_element(uint64_t draw, uint64_t position)
{
    return (RandomState){.key = random_hash(draw, position), .counter = 0};
}

/* The state with which an application of an operator starts, `draw` being the operation's own draw. */
static inline RandomState random_application(uint64_t draw, uint64_t position, CombineKind kind)
{
    return (RandomState){.key = random_hash(draw, COMBINE_KINDS * position + (uint64_t)kind), .counter = 0};
}

/* The upper half of the 128-bit product: `bits` scaled to [0, limit). */
static inline uint64_t random_below(uint64_t bits, uint64_t limit)
{
    uint64_t bits_low = bits & UINT32_MAX, bits_high = bits >> 32;
    uint64_t limit_low = limit & UINT32_MAX, limit_high = limit >> 32;
    uint64_t middle = bits_high * limit_low + (bits_low * limit_low >> 32);
    uint64_t middle_low = bits_low * limit_high + (middle & UINT32_MAX);
    return bits_high * limit_high + (middle >> 32) + (middle_low >> 32);
}

/* Fractions from 0 up to 1, 1 excluded, of 53 and 24 bits. */
static inline double random_unit_f64(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

static inline float random_unit_f32(uint64_t bits)
{
    return (float)(bits >> 40) * 0x1p-24f;
}

/* rand of a float: the fraction times the limit. Rounding may reach the limit only where the limit has no full precision
 * (subnormals); the number before it is taken then. */
static inline double random_scale_f64(uint64_t bits, double limit)
{
    double value = random_unit_f64(bits) * limit;
    return value < limit ? value : nextafter(limit, 0.0);
}

static inline float random_scale_f32(uint64_t bits, float limit)
{
    float value = random_unit_f32(bits) * limit;
    return value < limit ? value : nextafterf(limit, 0.0f);
}

#endif
