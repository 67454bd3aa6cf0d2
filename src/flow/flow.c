/* The table of Flow's operations. Printing is in flow_print.c, the check of the invariants in flow_check.c. */
#include "flow/flow.h"

#include <string.h>

const FlowOpInfo flow_op_table[FLOW_OP_COUNT] = {
#define FLOW(ID, name, can_fail, fields, signature) [FLOW_##ID] = {name, can_fail, fields, signature},
#include "flow/flow.def"
#undef FLOW
};

uint32_t flow_segment_inputs(const FlowNode *node)
{
    const char *signature = flow_op_table[node->op].signature;
    if (signature == NULL || strchr(signature, '<') == NULL)
        return 0;
    switch (node->segments) {
    case SEGMENTS_SINGLE: return 0;
    case SEGMENTS_REGULAR: return 2;
    case SEGMENTS_ENDS: return 1;
    }
    return 0;
}
