/* What the programs of a run were made of, counted in Core: operations, kinds of statements, kinds of types; and what they became in Flow: kinds of spaces and
 * of nodes. Core is counted as written and as simplified, for some operations are made by the simplifier alone. */
#ifndef GENERATE_COVERAGE_H
#define GENERATE_COVERAGE_H

#include "core/core.h"
#include "flow/flow_count.h"
#include "runnel.h"

#include <stdio.h>

enum { CORE_KINDS = CORE_GROUP + 1 };

/* Kinds of types that variables have: TYPE_CLASS(ID, name). */
#define COVERAGE_TYPES                                                                                                   \
    COVERAGE_TYPE(UNIT, "unit")                                                                                          \
    COVERAGE_TYPE(PAIR, "tuple")                                                                                         \
    COVERAGE_TYPE(DATA, "datatype")                                                                                      \
    COVERAGE_TYPE(CLOSURE, "function")                                                                                   \
    COVERAGE_TYPE(VECTOR_SCALAR, "vector of scalars")                                                                    \
    COVERAGE_TYPE(VECTOR_PAIR, "vector of tuples")                                                                       \
    COVERAGE_TYPE(VECTOR_VECTOR, "vector of vectors")                                                                    \
    COVERAGE_TYPE(VECTOR_OTHER, "vector of others")                                                                      \
    COVERAGE_TYPE(SEQUENCE_SCALAR, "sequence of scalars")                                                                \
    COVERAGE_TYPE(SEQUENCE_PAIR, "sequence of tuples")                                                                   \
    COVERAGE_TYPE(SEQUENCE_VECTOR, "sequence of vectors")                                                                \
    COVERAGE_TYPE(SEQUENCE_SEQUENCE, "sequence of sequences")                                                            \
    COVERAGE_TYPE(SEQUENCE_OTHER, "sequence of others")

typedef enum CoverageType {
#define COVERAGE_TYPE(ID, name) COVERAGE_##ID,
    COVERAGE_TYPES
#undef COVERAGE_TYPE
    COVERAGE_TYPE_COUNT
} CoverageType;

enum { COVERAGE_DEPTHS = 5 };

typedef struct Coverage {
    uint64_t ops[OP_COUNT];
    uint64_t kinds[CORE_KINDS];
    uint64_t types[COVERAGE_TYPE_COUNT];
    uint64_t scalars[SCALAR_COUNT];
    uint64_t depths[COVERAGE_DEPTHS]; /* comprehensions by how many others are around them; the last stands for more */
    uint64_t recursive_functions;
    uint64_t spaces[FLOW_SPACE_KINDS];
    uint64_t nodes[FLOW_OP_COUNT];
} Coverage;

/* Where the next program of a session begins in Core and Flow. */
typedef struct CoverageMark {
    uint32_t first_function, first_item;
    FlowNetworkId first_network;
} CoverageMark;

CoverageMark coverage_mark(const RunnelSession *session);
/* Adds what has been loaded since then. */
void coverage_add(Coverage *coverage, const RunnelSession *session, CoverageMark mark);
/* Adds what has been flattened since then. */
void coverage_add_flow(Coverage *coverage, const RunnelSession *session, CoverageMark mark);
/* A table of all counts. */
void coverage_print(const Coverage *coverage, FILE *out);
/* Says what never occurred, and whether there is such a thing. */
bool coverage_has_gaps(const Coverage *coverage, FILE *out);

#endif
