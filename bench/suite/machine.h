/* The machine: what it is, and what it can do at most. */
#ifndef SUITE_MACHINE_H
#define SUITE_MACHINE_H

#include "cases.h"

/* How much a second. */
typedef struct Rates {
    double bytes, logs, fmas;
} Rates;

typedef struct MachineFacts {
    char *processor, *caches, *memory, *system, *compiler;
    double load;      /* how many processes wanted to run before the first did: others disturb; nan if nobody knows */
    unsigned threads; /* all there are */
    Rates one, all;   /* by one thread, and by all */
} MachineFacts;

/* Measures, which takes some seconds. `compiler` is what compiled the C programs, with its flags. */
MachineFacts machine_facts(const char *directory, unsigned threads, const char *compiler);
void machine_facts_free(MachineFacts *facts);

/* Whether so much else goes on that times say little. */
bool machine_is_busy(const MachineFacts *facts);

/* The least time that a benchmark can take on this machine by so many threads; nan if nobody knows. */
double machine_limit(const MachineFacts *facts, const Case *benchmark, uint64_t size, unsigned threads);

#endif
