/* The table of benchmarks, bench/programs/suite.def, and what its programs are called with. */
#ifndef SUITE_CASES_H
#define SUITE_CASES_H

#include "../../tests/runner/buffer.h"

#include <stdint.h>

typedef enum Comparison { COMPARE_EXACT, COMPARE_FLOAT, COMPARE_DIGEST } Comparison;
typedef enum LimitKind { LIMIT_NONE, LIMIT_BYTES, LIMIT_LOGS, LIMIT_FMAS } LimitKind;
typedef enum MemoryGoal { MEMORY_STREAMS, MEMORY_HOLDS } MemoryGoal;
typedef enum SizeKind { SIZE_FULL, SIZE_QUICK, SIZE_TINY, SIZE_KINDS } SizeKind;

typedef struct Case {
    const char *name;
    const char *program; /* the file, from the root of the tree */
    uint64_t sizes[SIZE_KINDS];
    const char *arguments;
    Comparison comparison;
    double tolerance;
    double goal;
    const char *papers;
    MemoryGoal memory;
    uint64_t sweep;
    LimitKind limit;
    double (*amount)(double n); /* of what the limit counts */
} Case;

extern const Case cases[];
extern const size_t case_count;

/* Null if there is none of this name. */
const Case *case_named(const char *name);
/* What its C version is called, to be freed. */
char *case_c_name(const Case *benchmark);
/* Another C version; null if there is none. */
const char *case_stretch(const Case *benchmark);

/* The arguments of a run of this size, as both sides take them. What they are read from is made, below `directory`, unless it is there and newer than
 * the program that makes it. False after saying why. */
bool case_arguments(const Case *benchmark, uint64_t size, const char *directory, Lines *arguments);

#endif
