/* The invariants of Flow (flow.h), checked after every pass.
 *
 * What is reported here is a bug of a pass, never the user's error. The first thing found ends the check. For each network: its spaces, then its
 * nodes in order, each as its signature says and by what is true of its operation only, then what must hold of them together. */
#include "flow/flow_check_internal.h"

#include <string.h>

/* ---- reporting ---- */

static const char *keep_text(const FlowChecker *checker, Text *text)
{
    const char *kept = arena_text(checker->program->arena, text_string(text), text->length);
    text_free(text);
    return kept;
}

static void add_place(const FlowChecker *checker, const FlowNames *names, Text *out)
{
    flow_print_network_header(names, checker->id, out);
    text_add(out, ": ");
    if (checker->is_at_node && checker->network->nodes.items[checker->node].op < FLOW_OP_COUNT) {
        flow_print_node(checker->program, checker->id, checker->node, out);
        text_add(out, ": ");
    } else if (checker->is_at_node) {
        text_addf(out, "node %u: ", checker->node);
    } else if (checker->space != 0) {
        text_add(out, "space ");
        flow_print_space(names, checker->space, out);
        text_addf(out, " (%u): ", checker->space);
    }
}

bool flow_check_fail(FlowChecker *checker, const char *format, ...)
{
    FlowNames names;
    Text text;
    text_init(&text, checker->program->arena->memory);
    flow_names_init(&names, checker->program);
    flow_names_of(&names, checker->network);
    add_place(checker, &names, &text);
    va_list arguments;
    va_start(arguments, format);
    text_add_list(&text, format, arguments);
    va_end(arguments);
    checker->message = keep_text(checker, &text);
    return false;
}

const char *flow_check_stream_name(const FlowChecker *checker, FlowStreamId stream)
{
    FlowNames names;
    Text text;
    text_init(&text, checker->program->arena->memory);
    flow_names_init(&names, checker->program);
    flow_names_of(&names, checker->network);
    flow_print_stream(&names, stream, &text);
    return keep_text(checker, &text);
}

const char *flow_check_points_name(const FlowChecker *checker, uint32_t points)
{
    FlowNames names;
    Text text;
    FlowSpaceId space = 1;
    while (space < checker->network->spaces.count && flow_check_points(checker, space) != points)
        space++;
    text_init(&text, checker->program->arena->memory);
    flow_names_init(&names, checker->program);
    flow_names_of(&names, checker->network);
    flow_print_space(&names, space, &text);
    return keep_text(checker, &text);
}

/* ---- streams and operands ---- */

static bool is_space(const FlowChecker *checker, FlowSpaceId space)
{
    return space != 0 && space < checker->network->spaces.count;
}

static bool is_stream(const FlowChecker *checker, FlowStreamId stream)
{
    return stream != 0 && stream < checker->network->streams.count &&
           is_space(checker, checker->network->streams.items[stream].space);
}

/* An operand that exists, whoever reads it. */
static bool check_operand(FlowChecker *checker, const char *what, const FlowOperand *operand)
{
    if (operand->is_constant)
        return operand->type < SCALAR_COUNT ||
               flow_check_fail(checker, "%s is a constant of type %s", what, leaf_name(operand->type));
    if (!is_stream(checker, operand->stream))
        return flow_check_fail(checker, "%s is stream %u, which does not exist", what, operand->stream);
    LeafType type = checker->network->streams.items[operand->stream].type;
    if (type != operand->type)
        return flow_check_fail(checker, "%s, %s, has type %s, but the operand says %s", what,
                               flow_check_stream_name(checker, operand->stream), leaf_name(type), leaf_name(operand->type));
    return !operand->is_uniform || flow_check_stream_points(checker, operand->stream) == FLOW_UNIT ||
           flow_check_fail(checker, "%s, %s, is uniform but not on unit", what,
                           flow_check_stream_name(checker, operand->stream));
}

static bool is_same_operand(const FlowOperand *a, const FlowOperand *b)
{
    if (a->is_constant != b->is_constant || a->type != b->type)
        return false;
    return a->is_constant ? a->constant.bits == b->constant.bits : a->stream == b->stream;
}

/* Finds out which node makes each stream. Streams that no node makes any more are allowed; they must not be read. */
static bool find_makers(FlowChecker *checker)
{
    const FlowNetwork *network = checker->network;
    checker->makers = ARENA_ARRAY(checker->program->arena, uint32_t, network->streams.count);
    checker->is_at_node = true;
    for (checker->node = 0; checker->node < network->nodes.count; checker->node++) {
        const FlowNode *node = &network->nodes.items[checker->node];
        for (uint32_t i = 0; i < node->output_count; i++) {
            FlowStreamId stream = node->outputs[i];
            if (stream == 0)
                continue;
            if (!is_stream(checker, stream))
                return flow_check_fail(checker, "output %u is stream %u, which does not exist", i + 1, stream);
            if (checker->makers[stream] != 0)
                return flow_check_fail(checker, "%s is made twice", flow_check_stream_name(checker, stream));
            if (network->streams.items[stream].node != checker->node)
                return flow_check_fail(checker, "output %u says that another node makes it", i + 1);
            checker->makers[stream] = checker->node + 1;
        }
    }
    checker->is_at_node = false;
    return true;
}

/* ---- spaces ---- */

/* What the table of a space refers to: a stream of a type on certain points. */
static bool check_reference(FlowChecker *checker, const char *what, FlowStreamId stream, LeafType type, uint32_t points)
{
    if (!is_stream(checker, stream))
        return flow_check_fail(checker, "%s is stream %u, which does not exist", what, stream);
    LeafType found = checker->network->streams.items[stream].type;
    if (type <= LEAF_POINTS && found != type)
        return flow_check_fail(checker, "%s, %s, has type %s, expected %s", what, flow_check_stream_name(checker, stream),
                               leaf_name(found), leaf_name(type));
    uint32_t found_points = flow_check_stream_points(checker, stream);
    return found_points == points ||
           flow_check_fail(checker, "%s, %s, is on %s, expected one on %s", what, flow_check_stream_name(checker, stream),
                           flow_check_points_name(checker, found_points), flow_check_points_name(checker, points));
}

static bool check_count(FlowChecker *checker, const FlowSpace *space)
{
    if (!check_operand(checker, "its count", &space->count))
        return false;
    if (space->count.type != SCALAR_I64)
        return flow_check_fail(checker, "its count has type %s", leaf_name(space->count.type));
    return space->count.is_constant || flow_check_stream_points(checker, space->count.stream) == FLOW_UNIT ||
           flow_check_fail(checker, "it is regular, but its count is not on unit");
}

static bool check_segments(FlowChecker *checker, const FlowSpace *space)
{
    uint32_t parent = flow_check_points(checker, space->parent);
    switch (space->segments) {
    case SEGMENTS_SINGLE:
        return parent == FLOW_UNIT || flow_check_fail(checker, "its segments are single, but its parent is not unit");
    case SEGMENTS_REGULAR:
        return check_count(checker, space);
    case SEGMENTS_ENDS:
        return space->ends == 0 || check_reference(checker, "ends", space->ends, LEAF_ENDS, parent);
    }
    return flow_check_fail(checker, "there are no such segments");
}

/* Spaces that show the points of another one. */
static bool check_base(FlowChecker *checker, const FlowSpace *space)
{
    bool shows = space->kind == SPACE_FLAT || space->kind == SPACE_PARTED || space->kind == SPACE_RESTRICT;
    if (space->base == 0 && !shows)
        return true;
    if (space->base == 0 || space->base >= checker->space)
        return flow_check_fail(checker, "its base, %u, is no earlier space", space->base);
    return !shows || space->points == flow_check_points(checker, space->base) ||
           flow_check_fail(checker, "its points are not those of its base");
}

static bool check_below(FlowChecker *checker, const FlowSpace *space)
{
    bool is_root = flow_has_root(checker->network) && checker->space == FLOW_ROOT;
    if ((space->kind == SPACE_ROOT) != is_root || space->kind == SPACE_UNIT || (uint32_t)space->kind > SPACE_INPUT)
        return flow_check_fail(checker, "a space of kind %s cannot be here", flow_space_kind_name(space->kind));
    if (space->parent == 0 || space->parent >= checker->space)
        return flow_check_fail(checker, "its parent, %u, is no earlier space", space->parent);
    if (space->points == 0)
        return flow_check_fail(checker, "it has no points");
    if (!check_base(checker, space) || !check_segments(checker, space))
        return false;
    return space->kind != SPACE_FILTER || check_reference(checker, "flags", space->flags, SCALAR_BOOL,
                                                          flow_check_points(checker, space->parent));
}

static bool check_space(FlowChecker *checker)
{
    const FlowSpace *space = &checker->network->spaces.items[checker->space];
    if (checker->space == FLOW_UNIT) {
        if (space->kind != SPACE_UNIT || space->parent != 0 || space->points != FLOW_UNIT)
            return flow_check_fail(checker, "the first space must be unit");
        return true; /* its driver does not matter: there is one point */
    }
    if (!check_below(checker, space))
        return false;
    return space->driver == 0 || check_reference(checker, "driver", space->driver, LEAF_POINTS + 1, space->points);
}

static bool check_spaces(FlowChecker *checker)
{
    uint32_t least = flow_has_root(checker->network) ? FLOW_ROOT : FLOW_UNIT;
    if (checker->network->spaces.count <= least)
        return flow_check_fail(checker, "it lacks %s", flow_has_root(checker->network) ? "unit or root" : "unit");
    for (checker->space = 1; checker->space < checker->network->spaces.count; checker->space++)
        if (!check_space(checker))
            return false;
    checker->space = 0;
    return true;
}

/* ---- what a node has beside inputs and outputs ---- */

static bool is_network(const FlowChecker *checker, FlowNetworkId network)
{
    return network != 0 && network < checker->program->networks.count &&
           checker->program->networks.items[network] != NULL && !checker->program->networks.items[network]->is_item;
}

static bool is_function(const FlowChecker *checker, CoreFunctionId function)
{
    const CoreProgram *core = checker->program->core;
    return function != 0 && function < core->functions.count && core->functions.items[function] != NULL &&
           core->functions.items[function]->body != NULL;
}

static bool check_callee(FlowChecker *checker, const FlowNode *node, uint32_t fields)
{
    bool wants_network = (fields & HAS_NETWORK) != 0, wants_function = (fields & HAS_FUNCTION) != 0;
    if ((fields & HAS_OPERATOR) != 0) {
        wants_network = node->network != 0;
        wants_function = !wants_network;
    }
    if (wants_network && !is_network(checker, node->network))
        return flow_check_fail(checker, "there is no network %u to call", node->network);
    return !wants_function || (node->network == 0 && is_function(checker, node->function)) ||
           flow_check_fail(checker, "there is no function %u to call", node->function);
}

static bool check_fields(FlowChecker *checker, const FlowNode *node)
{
    uint32_t fields = flow_op_table[node->op].fields;
    /* lengths that a comprehension compares are no operation's */
    uint32_t op_limit = node->op == FLOW_SAME_LENGTHS || node->op == FLOW_SAME_COUNTS ? OP_COUNT + 1 : OP_COUNT;
    if ((fields & HAS_CORE_OP) != 0 && node->core_op >= op_limit)
        return flow_check_fail(checker, "there is no such operation");
    if ((fields & (HAS_LAYOUT | HAS_OPERATOR)) != 0 && node->layout == NULL)
        return flow_check_fail(checker, "it has no layout");
    if ((fields & HAS_VARIABLE) != 0 &&
        (node->variable == 0 || node->variable >= checker->program->core->variables.count))
        return flow_check_fail(checker, "there is no variable %u", node->variable);
    if ((uint32_t)node->segments > SEGMENTS_ENDS)
        return flow_check_fail(checker, "there are no such segments");
    return check_callee(checker, node, fields);
}

/* ---- what is true of one operation only ---- */

/* The scalar type or letter at *at, which moves on; brackets and blanks before it are skipped. */
static bool match_scalar(const char **at, LeafType found, uint32_t letters[26])
{
    static const char letters_and_digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    *at += strspn(*at, " (,>-");
    if ((*at)[0] != '\0' && (*at)[1] == '[') /* a container: its element */
        *at += 2;
    size_t length = strspn(*at, letters_and_digits);
    const char *start = *at;
    *at += length;
    *at += strspn(*at, ")]");
    if (found >= SCALAR_COUNT || length == 0)
        return false;
    const char *name = scalar_name((ScalarType)found);
    if (length > 1)
        return strlen(name) == length && strncmp(name, start, length) == 0;
    uint32_t *letter = &letters[*start - 'a'];
    if (*letter == 0)
        *letter = 1u + found;
    return *letter == 1u + found;
}

/* ` :: (a in number; b in number)`, or nothing. */
static bool match_classes(const char *at, const uint32_t letters[26])
{
    const char *in;
    while ((in = strstr(at, " in ")) != NULL) {
        char name[16] = {0};
        size_t length = strcspn(in + 4, ";)");
        memcpy(name, in + 4, length < sizeof name ? length : sizeof name - 1);
        uint32_t scalar = letters[in[-1] - 'a'];
        if (scalar != 0 && (class_named(name) >> (scalar - 1) & 1) == 0)
            return false;
        at = in + 4;
    }
    return true;
}

/* Whether core_op has a type, apart from containers, that takes the first `count` inputs to the output. */
static bool check_core_op(FlowChecker *checker, const FlowNode *node, uint32_t count)
{
    const char *scheme = op_table[node->core_op].type, *at = scheme;
    uint32_t letters[26] = {0};
    bool is_good = (strstr(scheme, "->") != NULL) == (count > 0);
    for (uint32_t i = 0; i < count; i++)
        is_good = is_good && *at != '\0' && match_scalar(&at, node->inputs[i].type, letters);
    if (count > 0)
        is_good = is_good && strncmp(at + strspn(at, " "), "->", 2) == 0;
    if (node->outputs[0] != 0)
        is_good = is_good && match_scalar(&at, checker->network->streams.items[node->outputs[0]].type, letters);
    return (is_good && match_classes(at, letters)) ||
           flow_check_fail(checker, "its types do not match %s", scheme);
}

static bool check_operation(FlowChecker *checker, const FlowNode *node)
{
    static const bool is_scalar_op[OP_COUNT] = {
#define SCALAR_UNARY(OP, function) [OP_##OP] = true,
#define SCALAR_BINARY(OP, function) [OP_##OP] = true,
#define SCALAR_PARTIAL(OP, function) [OP_##OP] = true,
#define SCALAR_MATH_1(OP, name) [OP_##OP] = true,
#define SCALAR_MATH_2(OP, name) [OP_##OP] = true,
#define SCALAR_COMPARISON(OP, accepted) [OP_##OP] = true,
#include "math/scalar_ops.def"
    };
    if (!is_scalar_op[node->core_op])
        return flow_check_fail(checker, "%s is no operation on scalars", op_name(node->core_op));
    if (node->input_count > 0 && node->inputs[0].type != node->scalar)
        return flow_check_fail(checker, "`scalar` is not the type of its first input");
    return check_core_op(checker, node, node->input_count);
}

static bool check_fold(FlowChecker *checker, const FlowNode *node)
{
    return check_core_op(checker, node, 1);
}

/* The operator of a reduction, on the only leaf of the layout. */
static bool check_places(FlowChecker *checker, const FlowNode *node)
{
    const char *scheme = op_table[node->core_op].type, *at = scheme;
    uint32_t letters[26] = {0};
    return (node->layout->count == 1 && match_scalar(&at, node->layout->leaves[0].type, letters) && match_classes(at, letters)) ||
           flow_check_fail(checker, "its elements are not those of %s", scheme);
}

/* A filter's node and what packs into it go by its flags. */
static bool check_filter(FlowChecker *checker, const FlowNode *node)
{
    if (node->outputs[0] == 0)
        return true;
    const FlowSpace *space = &checker->network->spaces.items[checker->network->streams.items[node->outputs[0]].space];
    if (space->kind != SPACE_FILTER)
        return true;
    return (space->flags == node->inputs[node->input_count - 1].stream && space->keep == node->keep) ||
           flow_check_fail(checker, "its flags are not those of the filter");
}

static bool check_make(FlowChecker *checker, const FlowNode *node)
{
    const FlowSpace *space = &checker->network->spaces.items[node->space];
    int64_t made = (int64_t)node->input_count - 1;
    return space->segments == SEGMENTS_SINGLE ||
           (space->segments == SEGMENTS_REGULAR && space->count.is_constant && space->count.constant.integer == made) ||
           flow_check_fail(checker, "it makes %lld values for each parent, but its space has another number of points",
                           (long long)made);
}

static bool check_merge(FlowChecker *checker, const FlowNode *node)
{
    return node->inputs[0].type != SCALAR_BOOL || node->input_count == 3 ||
           flow_check_fail(checker, "a bool selects among %u", node->input_count - 1);
}

static bool check_column(FlowChecker *checker, const FlowNode *node)
{
    if (node->layout == NULL || node->outputs[0] == 0)
        return true;
    LeafType type = checker->network->streams.items[node->outputs[0]].type;
    return (node->leaf < node->layout->count && node->layout->leaves[node->leaf].type == type) ||
           flow_check_fail(checker, "the array has no column %u of type %s", node->leaf, leaf_name(type));
}

/* Whether a layout's leaves are these types. */
static bool is_layout(const Layout *layout, const LeafType *types)
{
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->leaves[i].type != types[i])
            return false;
    return true;
}

/* Whether these types end with the state of random numbers, after `count` others. */
static bool ends_with_state(const LeafType *types, uint32_t type_count, uint32_t count)
{
    return type_count == count + 2 && types[count] == SCALAR_U64 && types[count + 1] == SCALAR_U64;
}

/* A network that combines takes what is captured and two operands, and gives one; if it draws, the state of random numbers comes after
 * both. Scalar code does not draw. */
static bool check_operator(FlowChecker *checker, const FlowNode *node)
{
    const FlowNetwork *callee = node->network == 0 ? NULL : checker->program->networks.items[node->network];
    if (node->draws != (callee != NULL && callee->draws))
        return flow_check_fail(checker, node->draws ? "its operator does not draw" : "its operator draws");
    if (callee == NULL)
        return true; /* scalar code is what Core says it is, which is checked there */
    uint32_t captured = node->captured_count, count = node->layout->count, parameter_count = captured + 2 * count;
    bool has_counts = node->draws ? ends_with_state(callee->parameters, callee->parameter_count, parameter_count) &&
                                        ends_with_state(callee->results, callee->result_count, count)
                                  : callee->parameter_count == parameter_count && callee->result_count == count;
    return (has_counts && is_layout(node->layout, callee->parameters + captured) &&
            is_layout(node->layout, callee->parameters + captured + count) && is_layout(node->layout, callee->results)) ||
           flow_check_fail(checker, "its operator does not combine values of type %s",
                           type_text(checker->program->core->types, node->layout->type));
}

static bool check_in_function(FlowChecker *checker, const FlowNode *node)
{
    (void)node;
    return !checker->network->is_item || flow_check_fail(checker, "this belongs in functions only");
}

static bool check_tail_call(FlowChecker *checker, const FlowNode *node)
{
    const FlowNetwork *own = checker->network, *callee = checker->program->networks.items[node->network];
    if (!check_in_function(checker, node))
        return false;
    return (own->result_count == callee->result_count &&
            (own->result_count == 0 || memcmp(own->results, callee->results, own->result_count * sizeof(LeafType)) == 0)) ||
           flow_check_fail(checker, "the function called gives other results");
}

static bool (*const rules[FLOW_OP_COUNT])(FlowChecker *, const FlowNode *) = {
    [FLOW_RETURN] = check_in_function,  [FLOW_TAIL_CALL] = check_tail_call, [FLOW_OPERATION] = check_operation,
    [FLOW_FOLD] = check_fold,           [FLOW_SCAN] = check_fold,           [FLOW_FILTER] = check_filter,
    [FLOW_PACK] = check_filter,         [FLOW_MAKE] = check_make,           [FLOW_MERGE] = check_merge,
    [FLOW_SLICES] = check_column,       [FLOW_GATHER] = check_column,       [FLOW_FOLD_WITH] = check_operator,
    [FLOW_SCAN_WITH] = check_operator,  [FLOW_PUT_WITH] = check_operator,   [FLOW_FOLD_BY] = check_fold,
    [FLOW_RESULT] = flow_check_result,  [FLOW_FOLD_LEFT] = check_fold,      [FLOW_PUT_BY] = check_places,
    [FLOW_SCAN_BY] = check_places,
};

/* ---- nodes ---- */

static bool check_inputs(FlowChecker *checker, const FlowNode *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        const FlowOperand *input = &node->inputs[i];
        const char *what = "an input"; /* the line shows which */
        if (!check_operand(checker, what, input))
            return false;
        if (!input->is_constant && checker->makers[input->stream] == 0)
            return flow_check_fail(checker, "no node makes input %u, stream %u", i + 1, input->stream);
        if (!input->is_constant && checker->makers[input->stream] > checker->node)
            return flow_check_fail(checker, "input %u, %s, is not made by an earlier node", i + 1,
                                   flow_check_stream_name(checker, input->stream));
    }
    return true;
}

static bool check_after(FlowChecker *checker, const FlowNode *node)
{
    for (uint32_t i = 0; i < node->after_count; i++)
        if (node->after[i] >= checker->node)
            return flow_check_fail(checker, "it waits for node %u, which is not earlier", node->after[i]);
    return true;
}

/* A node that takes its points as regular says the same as its space. */
static bool check_regular(FlowChecker *checker, const FlowNode *node)
{
    if (flow_segment_inputs(node) == 0 || node->segments != SEGMENTS_REGULAR)
        return true;
    const FlowSpace *space = &checker->network->spaces.items[node->space];
    return (space->segments == SEGMENTS_REGULAR && is_same_operand(&space->count, &node->inputs[node->input_count - 1])) ||
           flow_check_fail(checker, "its space does not have that number of points under each parent");
}

static bool check_node(FlowChecker *checker)
{
    const FlowNode *node = &checker->network->nodes.items[checker->node];
    if ((uint32_t)node->op >= FLOW_OP_COUNT)
        return flow_check_fail(checker, "there is no such operation of Flow");
    if (!is_space(checker, node->space))
        return flow_check_fail(checker, "there is no space %u", node->space);
    return check_fields(checker, node) && check_inputs(checker, node) && check_after(checker, node) &&
           flow_check_signature(checker, node) && check_regular(checker, node) && (rules[node->op] == NULL || rules[node->op](checker, node));
}

/* ---- networks ---- */

static void mark_operands(bool *is_read, const FlowOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!operands[i].is_constant)
            is_read[operands[i].stream] = true;
}

static bool *find_read(const FlowChecker *checker)
{
    const FlowNetwork *network = checker->network;
    bool *is_read = ARENA_ARRAY(checker->program->arena, bool, network->streams.count);
    for (FlowNodeId n = 0; n < network->nodes.count; n++)
        mark_operands(is_read, network->nodes.items[n].inputs, network->nodes.items[n].input_count);
    for (FlowSpaceId s = 1; s < network->spaces.count; s++) {
        const FlowSpace *space = &network->spaces.items[s];
        is_read[space->driver] = is_read[space->ends] = is_read[space->flags] = true;
        if (space->segments == SEGMENTS_REGULAR)
            mark_operands(is_read, &space->count, 1);
    }
    if (network->is_item)
        mark_operands(is_read, network->result, network->result_count);
    is_read[0] = false;
    return is_read;
}

/* Nothing is computed in vain, unless it may fail. */
static bool check_use(FlowChecker *checker)
{
    const FlowNetwork *network = checker->network;
    const bool *is_read = find_read(checker);
    for (checker->node = 0; checker->node < network->nodes.count; checker->node++) {
        const FlowNode *node = &network->nodes.items[checker->node];
        bool is_used = flow_op_table[node->op].can_fail || node->op == FLOW_PARAMETERS || node->op == FLOW_RETURN ||
                       node->op == FLOW_RESULT;
        for (uint32_t i = 0; i < node->output_count; i++)
            is_used = is_used || is_read[node->outputs[i]];
        checker->is_at_node = true;
        if (!is_used)
            return flow_check_fail(checker, "nobody reads what it makes");
    }
    checker->is_at_node = false;
    return true;
}

/* Where the values of the network go. */
static bool check_results(FlowChecker *checker)
{
    const FlowNetwork *network = checker->network;
    for (uint32_t i = 0; network->is_item && i < network->result_count; i++) {
        const FlowOperand *operand = &network->result[i];
        if (!check_operand(checker, "a result", operand))
            return false;
        if (!operand->is_constant && checker->makers[operand->stream] == 0)
            return flow_check_fail(checker, "no node makes result %u", i + 1);
        if (operand->type != network->results[i])
            return flow_check_fail(checker, "result %u has type %s, expected %s", i + 1, leaf_name(operand->type),
                                   leaf_name(network->results[i]));
        if (!operand->is_constant && flow_check_stream_points(checker, operand->stream) != FLOW_UNIT)
            return flow_check_fail(checker, "result %u is not on unit", i + 1);
    }
    return true;
}

static bool check_entry(FlowChecker *checker)
{
    uint32_t parameters = 0, returns = 0;
    for (FlowNodeId n = 0; n < checker->network->nodes.count; n++) {
        FlowOp op = checker->network->nodes.items[n].op;
        parameters += op == FLOW_PARAMETERS;
        returns += op == FLOW_RETURN || op == FLOW_TAIL_CALL;
    }
    if (parameters != 1)
        return flow_check_fail(checker, "%u nodes take the parameters, expected one", parameters);
    return checker->network->is_item || returns > 0 || flow_check_fail(checker, "no node returns");
}

static bool check_network(FlowChecker *checker)
{
    if (!find_makers(checker) || !check_spaces(checker))
        return false;
    checker->is_at_node = true;
    for (checker->node = 0; checker->node < checker->network->nodes.count; checker->node++)
        if (!check_node(checker))
            return false;
    checker->is_at_node = false;
    return check_entry(checker) && check_results(checker) && check_use(checker);
}

const char *flow_check(const FlowProgram *program, FlowNetworkId first)
{
    FlowChecker checker = {.program = program};
    for (checker.id = first == 0 ? 1 : first; checker.id < program->networks.count; checker.id++) {
        checker.network = program->networks.items[checker.id];
        if (checker.network != NULL && !check_network(&checker))
            return checker.message;
    }
    return NULL;
}
