/* Flow as text, for people and golden tests.
 *
 *     function small =
 *       s1 : int, a : array, a.start : int, a.length : int @root = parameters
 *       space C1 = range(root, ends e3)
 *       s2 : int @C1, e3 : ends @root = range(a.length)
 *       x : int @C1 = slices(a, a.start, s2) leaf 0 over C1/root by e3
 *       s4 : bool @C1 = x < 2
 *       space F2 = filter(C1, s4 = true, ends)
 *       s5 : int @F2 = pack(x, s4 = true)
 *       ...
 *
 * One line for each node: what it makes, each stream with its type and space, and from what. A space is introduced before the first node that
 * mentions it. `_` is an output nobody wants; `n@unit` one value for all points; `over C/P by ...` how the points of C belong to those of P: `by e` is
 * ends, `by 4 each of d` is regular, nothing is a single parent. Nodes that others wait for have a number, `#1`. How things are
 * named is said in flow_names.h. */
#include "flow/flow_names.h"
#include "io/value.h"

typedef struct FlowPrinter {
    FlowNames names;
    const FlowProgram *program;
    const FlowNetwork *network;
    Text *out;
    uint32_t *labels; /* of each node: 0 if no other waits for it */
} FlowPrinter;

/* ---- operands ---- */

static void print_type(FlowPrinter *printer, TypeId type)
{
    type_print(printer->program->core->types, type, TYPE_STYLE_RUNNEL, printer->out);
}

static void print_constant(const FlowNames *names, const FlowOperand *operand, Text *out)
{
    if (operand->type >= SCALAR_COUNT) {
        text_add_char(out, '?');
        return;
    }
    TypeId type = TYPE_OF_SCALAR(operand->type);
    const CoreProgram *core = names->program->core;
    value_print(core->types, type, (Value){.scalar = operand->constant}, (ValueFormat){0}, out);
    if (type != TYPE_INT && type != TYPE_FLOAT && type != TYPE_BOOL && type != TYPE_CHAR)
        type_print(core->types, type, TYPE_STYLE_RUNNEL, out);
}

void flow_print_operand(const FlowNames *names, const FlowOperand *operand, Text *out)
{
    if (operand->is_constant) {
        print_constant(names, operand, out);
        return;
    }
    flow_print_stream(names, operand->stream, out);
    if (operand->is_uniform)
        text_add(out, "@unit");
}

static void print_operand(FlowPrinter *printer, const FlowOperand *operand)
{
    flow_print_operand(&printer->names, operand, printer->out);
}

static void print_operands(FlowPrinter *printer, const FlowOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            text_add(printer->out, ", ");
        print_operand(printer, &operands[i]);
    }
}

/* ---- spaces ---- */

static void print_segments(FlowPrinter *printer, const FlowSpace *space)
{
    switch (space->segments) {
    case SEGMENTS_SINGLE:
        text_add(printer->out, ", single");
        return;
    case SEGMENTS_REGULAR:
        text_add(printer->out, ", regular ");
        print_operand(printer, &space->count);
        return;
    case SEGMENTS_ENDS:
        text_add(printer->out, ", ends");
        if (flow_is_made(&printer->names, space->ends)) {
            text_add_char(printer->out, ' ');
            flow_print_stream(&printer->names, space->ends, printer->out);
        }
        return;
    }
}

/* The first space that has the points of this one; 0 if it is the first itself. */
static FlowSpaceId find_same_points(const FlowPrinter *printer, FlowSpaceId id)
{
    const FlowSpace *spaces = printer->network->spaces.items;
    const FlowNames *names = &printer->names;
    FlowSpaceId last_fixed = flow_has_root(printer->network) ? FLOW_ROOT : FLOW_UNIT;
    for (FlowSpaceId i = FLOW_UNIT; i <= last_fixed; i++)
        if (spaces[i].points == spaces[id].points)
            return i;
    for (uint32_t i = 0; names->order[i] != id; i++)
        if (spaces[names->order[i]].points == spaces[id].points)
            return names->order[i];
    return 0;
}

/* Says whose points a space has, unless that is clear from its base. */
static void print_shared_points(FlowPrinter *printer, FlowSpaceId id)
{
    const FlowSpace *spaces = printer->network->spaces.items;
    FlowSpaceId base = spaces[id].base, same = find_same_points(printer, id);
    bool is_clear = base != 0 && base < printer->network->spaces.count && spaces[base].points == spaces[id].points;
    if (same == 0 || is_clear)
        return;
    text_add(printer->out, ", points of ");
    flow_print_space(&printer->names, same, printer->out);
}

static void print_space(FlowPrinter *printer, uint32_t i)
{
    FlowSpaceId id = printer->names.order[i];
    const FlowSpace *space = &printer->network->spaces.items[id];
    text_add(printer->out, "  space ");
    flow_print_space(&printer->names, id, printer->out);
    text_addf(printer->out, " = %s(", flow_space_kind_name(space->kind));
    flow_print_space(&printer->names, space->parent, printer->out);
    if (space->base != 0) {
        text_add(printer->out, ", ");
        flow_print_space(&printer->names, space->base, printer->out);
    }
    if (space->kind == SPACE_FILTER) {
        text_add(printer->out, ", ");
        flow_print_stream(&printer->names, space->flags, printer->out);
        text_add(printer->out, space->keep ? " = true" : " = false");
    }
    print_segments(printer, space);
    print_shared_points(printer, id);
    text_add(printer->out, ")\n");
}

/* ---- what a node makes ---- */

static const FlowStream *stream_of(const FlowPrinter *printer, FlowStreamId stream)
{
    bool exists = stream != 0 && stream < printer->network->streams.count;
    return exists ? &printer->network->streams.items[stream] : NULL;
}

/* The space of the next wanted output after i, 0 for none. */
static FlowSpaceId next_space(const FlowPrinter *printer, const FlowNode *node, uint32_t i)
{
    while (++i < node->output_count) {
        const FlowStream *stream = stream_of(printer, node->outputs[i]);
        if (stream != NULL)
            return stream->space;
    }
    return 0;
}

static void print_at(FlowPrinter *printer, FlowSpaceId space)
{
    text_add(printer->out, " @");
    flow_print_space(&printer->names, space, printer->out);
}

/* Outputs in a row that are on the same space name it once. */
static void print_outputs(FlowPrinter *printer, const FlowNode *node)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        const FlowStream *stream = stream_of(printer, node->outputs[i]);
        text_add(printer->out, i == 0 ? "" : ", ");
        if (node->outputs[i] == 0) {
            text_add_char(printer->out, '_');
            continue;
        }
        flow_print_stream(&printer->names, node->outputs[i], printer->out);
        if (stream == NULL)
            continue;
        text_addf(printer->out, " : %s", leaf_name(stream->type));
        if (next_space(printer, node, i) != stream->space)
            print_at(printer, stream->space);
    }
    if (node->output_count > 0)
        text_add(printer->out, " = ");
}

static bool has_wanted_output(const FlowNode *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != 0)
            return true;
    return false;
}

/* ---- what it makes it from ---- */

static bool is_symbol(const char *name)
{
    return !(name[0] >= 'a' && name[0] <= 'z') && !(name[0] >= 'A' && name[0] <= 'Z') && name[0] != '_';
}

void flow_print_operation(const FlowNames *names, Op op, const FlowOperand *operands, uint32_t count, Text *out)
{
    const char *name = op_name(op);
    if (is_symbol(name) && count == 2) {
        flow_print_operand(names, &operands[0], out);
        text_addf(out, " %s ", name);
        flow_print_operand(names, &operands[1], out);
        return;
    }
    text_addf(out, "%s(", name);
    for (uint32_t i = 0; i < count; i++) {
        text_add(out, i == 0 ? "" : ", ");
        flow_print_operand(names, &operands[i], out);
    }
    text_add_char(out, ')');
}

static void print_name(FlowPrinter *printer, const char *before, Name name)
{
    text_addf(printer->out, "%s%s", before, names_text(printer->program->core->names, name));
}

/* What is called or looked up. */
static void print_subject(FlowPrinter *printer, const FlowNode *node, uint32_t fields)
{
    const CoreProgram *core = printer->program->core;
    bool is_operator = (fields & HAS_OPERATOR) != 0;
    if ((fields & HAS_NETWORK) != 0 || (is_operator && node->network != 0)) {
        text_add_char(printer->out, ' ');
        flow_print_network_name(&printer->names, node->network, printer->out);
    }
    if (((fields & HAS_FUNCTION) != 0 || is_operator) && node->function != 0 && node->function < core->functions.count &&
        core->functions.items[node->function] != NULL)
        print_name(printer, " ", core->functions.items[node->function]->name);
    if ((fields & HAS_VARIABLE) != 0 && node->variable < core->variables.count)
        print_name(printer, " $", core->variables.items[node->variable].name);
    if ((fields & HAS_INDEX) != 0)
        text_addf(printer->out, " %u", node->index);
    if ((fields & HAS_TEXT) != 0) {
        text_add_char(printer->out, ' ');
        value_print_text(node->text, node->text_length, printer->out);
    }
}

/* A join's operation matters only if it is not the usual one. */
static bool shows_core_op(const FlowNode *node, uint32_t fields)
{
    return (fields & HAS_CORE_OP) != 0 && node->core_op < OP_COUNT &&
           (node->op != FLOW_JOIN || node->core_op == OP_INTERLEAVE);
}

static void print_head(FlowPrinter *printer, const FlowNode *node)
{
    uint32_t fields = flow_op_table[node->op].fields;
    text_addf(printer->out, "%s%s", node->is_serial ? "serial " : "", flow_op_table[node->op].name);
    if (shows_core_op(node, fields))
        text_addf(printer->out, " %s", op_name(node->core_op));
    print_subject(printer, node, fields);
    if (node->captured_count > 0)
        text_addf(printer->out, " with %u captured", node->captured_count);
    if ((fields & HAS_OPERATOR) != 0 && node->draws)
        text_add(printer->out, " drawing");
}

/* Flags, the last input of what has them, say which of their values is kept. */
static void print_inputs(FlowPrinter *printer, const FlowNode *node, uint32_t count)
{
    if (count == 0)
        return;
    text_add_char(printer->out, '(');
    print_operands(printer, node->inputs, count);
    if ((flow_op_table[node->op].fields & HAS_KEEP) != 0)
        text_add(printer->out, node->keep ? " = true" : " = false");
    text_add_char(printer->out, ')');
}

static void print_over(FlowPrinter *printer, const FlowNode *node, uint32_t plain_count)
{
    const FlowSpace *spaces = printer->network->spaces.items;
    const FlowOperand *segments = &node->inputs[plain_count];
    text_add(printer->out, " over ");
    flow_print_space(&printer->names, node->space, printer->out);
    if (node->segments == SEGMENTS_SINGLE)
        return;
    text_add_char(printer->out, '/');
    bool exists = node->space < printer->network->spaces.count;
    flow_print_space(&printer->names, exists ? spaces[node->space].parent : 0, printer->out);
    text_add(printer->out, " by ");
    print_operand(printer, &segments[node->segments == SEGMENTS_REGULAR ? 1 : 0]);
    if (node->segments == SEGMENTS_REGULAR) {
        text_add(printer->out, " each of ");
        print_operand(printer, &segments[0]);
    }
}

static bool has_segments(const FlowNode *node)
{
    FlowNode probe = {.op = node->op, .segments = SEGMENTS_ENDS};
    return flow_segment_inputs(&probe) > 0;
}

static void print_general(FlowPrinter *printer, const FlowNode *node)
{
    uint32_t segment_count = flow_segment_inputs(node);
    bool is_whole = node->input_count >= segment_count; /* the checker may be about to say that it is not */
    uint32_t plain_count = node->input_count - (is_whole ? segment_count : 0);
    print_head(printer, node);
    print_inputs(printer, node, plain_count);
    if (node->layout != NULL) {
        text_add(printer->out, " of ");
        print_type(printer, node->layout->type);
    }
    if ((flow_op_table[node->op].fields & HAS_LEAF) != 0)
        text_addf(printer->out, " leaf %u", node->leaf);
    if (is_whole && has_segments(node))
        print_over(printer, node, plain_count);
}

static void print_after(FlowPrinter *printer, const FlowNode *node)
{
    for (uint32_t i = 0; i < node->after_count; i++) {
        bool exists = node->after[i] < printer->network->nodes.count;
        text_addf(printer->out, "%s#%u", i == 0 ? " after " : ", ", exists ? printer->labels[node->after[i]] : 0);
    }
}

static void print_node(FlowPrinter *printer, FlowNodeId id)
{
    const FlowNode *node = &printer->network->nodes.items[id];
    if (printer->labels[id] != 0)
        text_addf(printer->out, "#%u ", printer->labels[id]);
    print_outputs(printer, node);
    if (node->op == FLOW_OPERATION && node->core_op < OP_COUNT)
        flow_print_operation(&printer->names, node->core_op, node->inputs, node->input_count, printer->out);
    else
        print_general(printer, node);
    if (!has_wanted_output(node))
        print_at(printer, node->space);
    print_after(printer, node);
}

/* ---- networks ---- */

static void label_nodes(FlowPrinter *printer)
{
    const FlowNetwork *network = printer->network;
    uint32_t count = 0;
    printer->labels = ARENA_ARRAY(printer->program->arena, uint32_t, network->nodes.count);
    for (FlowNodeId n = 0; n < network->nodes.count; n++)
        for (uint32_t i = 0; i < network->nodes.items[n].after_count; i++)
            if (network->nodes.items[n].after[i] < network->nodes.count)
                printer->labels[network->nodes.items[n].after[i]] = 1;
    for (FlowNodeId n = 0; n < network->nodes.count; n++)
        if (printer->labels[n] != 0)
            printer->labels[n] = ++count;
}

static void print_header(FlowPrinter *printer, FlowNetworkId id)
{
    const FlowNetwork *network = printer->network;
    flow_print_network_header(&printer->names, id, printer->out);
    text_add(printer->out, " =");
    if (network->does_io)
        text_add(printer->out, " -- io");
    if (network->draws)
        text_add(printer->out, " -- random");
    text_add_char(printer->out, '\n');
}

static void turn_to(FlowPrinter *printer, FlowNetworkId id)
{
    printer->network = printer->program->networks.items[id];
    flow_names_of(&printer->names, printer->network);
    label_nodes(printer);
}

static void print_network(FlowPrinter *printer, FlowNetworkId id)
{
    turn_to(printer, id);
    const FlowNetwork *network = printer->network;
    print_header(printer, id);
    uint32_t next_space = 0;
    for (FlowNodeId n = 0; n < network->nodes.count; n++) {
        while (next_space < printer->names.order_count && printer->names.order_nodes[next_space] == n)
            print_space(printer, next_space++);
        text_add(printer->out, "  ");
        print_node(printer, n);
        text_add_char(printer->out, '\n');
    }
    if (network->is_item && (!network->prints || network->result_count > 0)) {
        text_add(printer->out, "  result(");
        print_operands(printer, network->result, network->result_count);
        text_add(printer->out, ")\n");
    }
}

void flow_print_network(const FlowProgram *program, FlowNetworkId network, Text *out)
{
    FlowPrinter printer = {.program = program, .out = out};
    flow_names_init(&printer.names, program);
    print_network(&printer, network);
}

void flow_print_node(const FlowProgram *program, FlowNetworkId network, FlowNodeId node, Text *out)
{
    FlowPrinter printer = {.program = program, .out = out};
    flow_names_init(&printer.names, program);
    turn_to(&printer, network);
    print_node(&printer, node);
}

void flow_print(const FlowProgram *program, Text *out)
{
    FlowPrinter printer = {.program = program, .out = out};
    flow_names_init(&printer.names, program);
    for (FlowNetworkId i = 1; i < program->networks.count; i++) {
        if (program->networks.items[i] == NULL)
            continue;
        print_network(&printer, i);
        text_add_char(out, '\n');
    }
}
