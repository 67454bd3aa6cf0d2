/* The table that tools/powers_of_five.c makes: the first 128 bits of powers of five, the higher 64 first. */
#ifndef RUNNEL_IO_POWERS_OF_FIVE_H
#define RUNNEL_IO_POWERS_OF_FIVE_H

#include <stdint.h>

enum { POWER_OF_FIVE_LEAST = -342, POWER_OF_FIVE_MOST = 308 };
extern const uint64_t powers_of_five[][2]; /* [q - POWER_OF_FIVE_LEAST] */

#endif
