/* A small generator of random numbers (SplitMix64): all choices of a program follow from its seed. */
#ifndef GENERATE_RANDOM_H
#define GENERATE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Random {
    uint64_t state;
} Random;

static inline uint64_t random_next(Random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The random numbers of program `index` of a run. */
static inline Random random_of(uint64_t seed, uint64_t index)
{
    Random random = {.state = seed};
    random.state = random_next(&random) + index;
    random.state = random_next(&random);
    return random;
}

/* From 0 up to `count`, excluded; 0 for none. */
static inline uint32_t random_below(Random *random, uint32_t count)
{
    return count == 0 ? 0 : (uint32_t)((random_next(random) >> 32) * count >> 32);
}

static inline bool random_chance(Random *random, uint32_t percent)
{
    return random_below(random, 100) < percent;
}

#endif
