/* The check of nodes that print: their inputs are the parts of the type, in order (flow.def). */
#include "flow/flow_check_internal.h"

typedef struct ResultCheck {
    FlowChecker *checker;
    const FlowNode *node;
    uint32_t at;    /* the next input */
    uint32_t depth; /* of sequences around the part */
} ResultCheck;

static bool check_part(ResultCheck *check, TypeId type, uint32_t points);

/* The next input, expected to be on these points; null after a failure. */
static const FlowOperand *next_input(ResultCheck *check, uint32_t points)
{
    FlowChecker *checker = check->checker;
    if (check->at >= check->node->input_count) {
        flow_check_fail(checker, "%u inputs, expected more", check->node->input_count);
        return NULL;
    }
    const FlowOperand *input = &check->node->inputs[check->at++];
    if (input->is_constant || input->is_uniform || flow_check_stream_points(checker, input->stream) == points)
        return input;
    flow_check_fail(checker, "input %u, %s, is on %s, expected one on %s", check->at,
                    flow_check_stream_name(checker, input->stream),
                    flow_check_points_name(checker, flow_check_stream_points(checker, input->stream)),
                    flow_check_points_name(checker, points));
    return NULL;
}

static bool check_leaves(ResultCheck *check, TypeId type, uint32_t points)
{
    const Layout *layout = layout_of(check->checker->program->layouts, type);
    for (uint32_t i = 0; i < layout->count; i++) {
        const FlowOperand *input = next_input(check, points);
        if (input == NULL)
            return false;
        if (input->type != layout->leaves[i].type)
            return flow_check_fail(check->checker, "input %u has type %s, expected %s", check->at, leaf_name(input->type),
                                   leaf_name(layout->leaves[i].type));
    }
    return true;
}

/* A driver, which says what the points of the elements are, and ends, unless all have one parent. */
static bool check_sequence(ResultCheck *check, TypeId type, uint32_t points)
{
    FlowChecker *checker = check->checker;
    const FlowOperand *driver = check->at < check->node->input_count ? &check->node->inputs[check->at++] : NULL;
    if (driver == NULL || driver->is_constant || driver->is_uniform)
        return flow_check_fail(checker, "input %u is not a driver", check->at);
    if (check->depth > 0) {
        const FlowOperand *ends = next_input(check, points);
        if (ends == NULL || ends->type != LEAF_ENDS || ends->is_uniform)
            return ends != NULL && flow_check_fail(checker, "input %u has type %s, expected ends", check->at,
                                                   leaf_name(ends->type));
    }
    TypeId element = type_element(checker->program->core->types, type);
    check->depth++;
    bool is_right = check_part(check, element, flow_check_stream_points(checker, driver->stream));
    check->depth--;
    return is_right;
}

static bool check_part(ResultCheck *check, TypeId type, uint32_t points)
{
    Types *types = check->checker->program->core->types;
    if (type_is_concrete(types, type))
        return check_leaves(check, type, points);
    switch (type_kind(types, type)) {
    case TYPE_PAIR:
        return check_part(check, type_first(types, type), points) && check_part(check, type_rest(types, type), points);
    case TYPE_CONTAINER:
        return check_sequence(check, type, points);
    default:
        return true;
    }
}

bool flow_check_result(FlowChecker *checker, const FlowNode *node)
{
    ResultCheck check = {.checker = checker, .node = node};
    if (!check_part(&check, node->layout->type, FLOW_UNIT))
        return false;
    return check.at == node->input_count ||
           flow_check_fail(checker, "%u inputs, expected %u", node->input_count, check.at);
}
