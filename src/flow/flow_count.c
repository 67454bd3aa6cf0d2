#include "flow/flow_count.h"

#include "flow/flow_names.h"

static void count_spaces(FlowCounts *counts, const FlowProgram *program, const FlowNetwork *network)
{
    Arena *arena = program->arena;
    uint32_t *marks = ARENA_ARRAY(arena, uint32_t, network->spaces.count);
    FlowSpaceId *order = ARENA_ARRAY(arena, FlowSpaceId, network->spaces.count);
    FlowNodeId *nodes = ARENA_ARRAY(arena, FlowNodeId, network->spaces.count);
    uint32_t count = flow_space_order(network, marks, order, nodes);
    for (uint32_t i = 0; i < count; i++) {
        const FlowSpace *space = &network->spaces.items[order[i]];
        counts->spaces[space->kind]++;
        counts->regular += space->segments == SEGMENTS_REGULAR;
    }
}

static void count_nodes(FlowCounts *counts, const FlowNetwork *network)
{
    for (FlowNodeId n = 0; n < network->nodes.count; n++) {
        const FlowNode *node = &network->nodes.items[n];
        counts->nodes[node->op]++;
        for (uint32_t i = 0; i < node->output_count; i++)
            counts->descriptors +=
                node->outputs[i] != 0 && network->streams.items[node->outputs[i]].type == LEAF_ENDS;
    }
}

FlowCounts flow_counts(const FlowProgram *program, FlowNetworkId first)
{
    FlowCounts counts = {0};
    for (FlowNetworkId i = first == 0 ? 1 : first; i < program->networks.count; i++) {
        const FlowNetwork *network = program->networks.items[i];
        if (network == NULL)
            continue;
        counts.networks++;
        count_spaces(&counts, program, network);
        count_nodes(&counts, network);
    }
    return counts;
}

/* ---- printing ---- */

enum { COUNTED_TOGETHER = 4 };

/* Which nodes are counted together, by one leaf or call each; an unused place is FLOW_OP_COUNT. */
static const struct {
    const char *name;
    FlowOp ops[COUNTED_TOGETHER];
} groups[] = {
    {"materialisations", {FLOW_COLLECT, FLOW_OP_COUNT, FLOW_OP_COUNT, FLOW_OP_COUNT}},
    {"copies", {FLOW_DISTRIBUTE, FLOW_PACK, FLOW_OP_COUNT, FLOW_OP_COUNT}},
    {"merges", {FLOW_MERGE, FLOW_OP_COUNT, FLOW_OP_COUNT, FLOW_OP_COUNT}},
    {"reads", {FLOW_SLICES, FLOW_OP_COUNT, FLOW_OP_COUNT, FLOW_OP_COUNT}},
    {"gathers", {FLOW_GATHER, FLOW_OP_COUNT, FLOW_OP_COUNT, FLOW_OP_COUNT}},
    {"scatters", {FLOW_SCATTER, FLOW_PUT_WITH, FLOW_PUT_BY, FLOW_SCAN_BY}},
    {"folds", {FLOW_FOLD, FLOW_FOLD_LEFT, FLOW_FOLD_WITH, FLOW_FOLD_BY}},
    {"scans", {FLOW_SCAN, FLOW_SCAN_WITH, FLOW_OP_COUNT, FLOW_OP_COUNT}},
    {"operations", {FLOW_OPERATION, FLOW_ROWS, FLOW_OP_COUNT, FLOW_OP_COUNT}},
    {"calls", {FLOW_CALL, FLOW_TAIL_CALL, FLOW_OP_COUNT, FLOW_OP_COUNT}},
    {"scalar calls", {FLOW_SCALAR_CALL, FLOW_OP_COUNT, FLOW_OP_COUNT, FLOW_OP_COUNT}},
};

/* `(range 2, filter 1)`: one of the parts. */
static void print_part(const char *name, uint32_t count, bool *is_first, Text *out)
{
    if (count == 0)
        return;
    text_addf(out, "%s%s %u", *is_first ? " (" : ", ", name, count);
    *is_first = false;
}

static void print_spaces(const FlowCounts *counts, Text *out)
{
    uint32_t total = 0;
    bool is_first = true;
    for (uint32_t kind = 0; kind < FLOW_SPACE_KINDS; kind++)
        total += counts->spaces[kind];
    text_addf(out, "spaces %u", total);
    for (uint32_t kind = 0; kind < FLOW_SPACE_KINDS; kind++)
        print_part(flow_space_kind_name((FlowSpaceKind)kind), counts->spaces[kind], &is_first, out);
    text_add(out, total > 0 ? ")\n" : "\n");
}

static void print_group(const FlowCounts *counts, const char *name, const FlowOp ops[COUNTED_TOGETHER], Text *out)
{
    uint32_t total = 0;
    bool is_first = true;
    for (uint32_t i = 0; i < COUNTED_TOGETHER && ops[i] != FLOW_OP_COUNT; i++)
        total += counts->nodes[ops[i]];
    text_addf(out, "%s %u", name, total);
    if (total > 0 && ops[1] != FLOW_OP_COUNT) {
        for (uint32_t i = 0; i < COUNTED_TOGETHER && ops[i] != FLOW_OP_COUNT; i++)
            print_part(flow_op_table[ops[i]].name, counts->nodes[ops[i]], &is_first, out);
        text_add_char(out, ')');
    }
    text_add_char(out, '\n');
}

void flow_counts_print(const FlowCounts *counts, Text *out)
{
    text_addf(out, "networks %u\n", counts->networks);
    print_spaces(counts, out);
    text_addf(out, "regular %u\ndescriptors %u\n", counts->regular, counts->descriptors);
    for (uint32_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        print_group(counts, groups[i].name, groups[i].ops, out);
}
