/* Counts of what a program became, for tests of its structure: they do not depend on the machine, nor on how long a run takes. */
#ifndef RUNNEL_FLOW_FLOW_COUNT_H
#define RUNNEL_FLOW_FLOW_COUNT_H

#include "flow/flow.h"

enum { FLOW_SPACE_KINDS = SPACE_INPUT + 1 };

typedef struct FlowCounts {
    uint32_t networks;
    uint32_t spaces[FLOW_SPACE_KINDS]; /* those that nodes mention, unit and root aside */
    uint32_t regular;                  /* spaces among them */
    uint32_t descriptors;              /* streams of ends */
    uint32_t nodes[FLOW_OP_COUNT];
} FlowCounts;

/* Of the networks from `first` on. */
FlowCounts flow_counts(const FlowProgram *program, FlowNetworkId first);

/* One line for each count, with its parts if there is more than one kind of them:
 *
 *     networks 1
 *     spaces 3 (range 2, filter 1)
 *     regular 2
 *     descriptors 0
 *     materialisations 1
 *     ... */
void flow_counts_print(const FlowCounts *counts, Text *out);

#endif
