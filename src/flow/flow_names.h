/* What printers and messages call the streams, spaces and networks of Flow.
 *
 * Names do not depend on ids, so that a change elsewhere leaves a network's text as it is. A stream has its name from the source, the second of
 * that name in the network is x.2, and so on; one without a name is s1, s2, ..., ends e1, mere points p1, all numbered together in the
 * order of the nodes. A vector that a node makes is v, v.start, v.length. A space has a letter for its kind, and a number in the order in which nodes first mention spaces. */
#ifndef RUNNEL_FLOW_FLOW_NAMES_H
#define RUNNEL_FLOW_FLOW_NAMES_H

#include "flow/flow.h"

typedef struct FlowNames {
    const FlowProgram *program;
    uint32_t *network_numbers; /* of each network: among those of its name */
    uint32_t *name_counts;     /* of each name: streams so far; all 0 between networks */

    /* the network at hand */
    const FlowNetwork *network;
    uint32_t *stream_numbers; /* of each stream: among those of its name, or those without; 0 for one that no node makes */
    FlowStreamId *vectors;    /* of a stream that is the start or the length of a vector: the array; else 0 */
    uint32_t *space_numbers;  /* of each space: its place in `order` + 1; 0 for one that no node mentions */
    FlowSpaceId *order;       /* spaces other than unit and root as nodes first mention them, parents and bases before */
    FlowNodeId *order_nodes;  /* the node that was the first to mention order[i] */
    uint32_t order_count;
} FlowNames;

void flow_names_init(FlowNames *names, const FlowProgram *program);
/* Turns to a network. */
void flow_names_of(FlowNames *names, const FlowNetwork *network);

/* Whether some node makes a stream; removing dead nodes leaves their streams behind. */
static inline bool flow_is_made(const FlowNames *names, FlowStreamId stream)
{
    return stream != 0 && stream < names->network->streams.count && names->stream_numbers[stream] != 0;
}

/* These print a `?` for what does not exist. */
void flow_print_stream(const FlowNames *names, FlowStreamId stream, Text *out);
void flow_print_space(const FlowNames *names, FlowSpaceId space, Text *out);
void flow_print_operand(const FlowNames *names, const FlowOperand *operand, Text *out);
/* As in Core: `a + b`, `sqrt(a)`. */
void flow_print_operation(const FlowNames *names, Op op, const FlowOperand *operands, uint32_t count, Text *out);
void flow_print_network_name(const FlowNames *names, FlowNetworkId network, Text *out);
/* The line of a node, without its end. */
void flow_print_node(const FlowProgram *program, FlowNetworkId network, FlowNodeId node, Text *out);
/* `function f`, `item`. */
void flow_print_network_header(const FlowNames *names, FlowNetworkId network, Text *out);
const char *flow_space_kind_name(FlowSpaceKind kind);

/* Appends to `order`, which has room, the spaces that nodes mention, as described above, and to `order_nodes` who mentions them first; `marks` is
 * zeroed and has an entry for each space. Gives how many there are. */
uint32_t flow_space_order(const FlowNetwork *network, uint32_t *marks, FlowSpaceId *order, FlowNodeId *order_nodes);

#endif
