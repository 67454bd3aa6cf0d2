/* The two halves of the check of Flow: flow_check.c for networks, spaces and what is true of single operations, flow_signature.c for inputs and
 * outputs against the signatures of flow.def. */
#ifndef RUNNEL_FLOW_FLOW_CHECK_INTERNAL_H
#define RUNNEL_FLOW_FLOW_CHECK_INTERNAL_H

#include "flow/flow_names.h"

typedef struct FlowChecker {
    const FlowProgram *program;
    FlowNetworkId id;
    const FlowNetwork *network;
    bool is_at_node;    /* messages show node `node`; else `space`, if it is not 0 */
    FlowNodeId node;
    FlowSpaceId space;
    uint32_t *makers;   /* of each stream: the node that makes it + 1, 0 for none */
    VEC(uint8_t) types; /* those that one entry of a signature stands for; flow_signature.c */
    const char *message;
} FlowChecker;

/* Records what is wrong, with the place; gives false. */
__attribute__((format(printf, 2, 3))) bool flow_check_fail(FlowChecker *checker, const char *format, ...);
/* For messages, in the arena. */
const char *flow_check_stream_name(const FlowChecker *checker, FlowStreamId stream);
const char *flow_check_points_name(const FlowChecker *checker, uint32_t points); /* a space with these points */

/* The inputs and outputs of a node whose operands, outputs, space and fields were found to exist. */
bool flow_check_signature(FlowChecker *checker, const FlowNode *node);

/* The inputs of a node that prints (flow_result.c). */
bool flow_check_result(FlowChecker *checker, const FlowNode *node);

static inline uint32_t flow_check_points(const FlowChecker *checker, FlowSpaceId space)
{
    return checker->network->spaces.items[space].points;
}

static inline uint32_t flow_check_stream_points(const FlowChecker *checker, FlowStreamId stream)
{
    return flow_check_points(checker, checker->network->streams.items[stream].space);
}

#endif
