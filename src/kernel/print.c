#include "kernel/print.h"

#include "flow/flow_names.h"
#include "kernel/members.h"

#include <string.h>

enum { INDENT = 4, KERNEL_DEPTH = 2, OPERANDS_MAX = 8 };

/* Of the whole program. */
typedef struct Sums {
    uint32_t kernels, vectors, buffers;
    size_t buffer_bytes; /* of all buffers, for each element */
} Sums;

typedef struct KernelPrinter {
    FlowNames names;
    const Sources *sources;
    const Fusion *fusion;
    const FlowNetwork *network;
    const Kernel *kernel;
    Text *out;
    uint32_t depth;     /* of scopes */
    uint32_t last_line; /* of the source, that was shown */
    Sums sums;
} KernelPrinter;

/* ---- pieces of lines ---- */

static void begin_line(KernelPrinter *p)
{
    text_add_repeated(p->out, ' ', KERNEL_DEPTH + p->depth * INDENT);
}

static void print_stream(KernelPrinter *p, FlowStreamId stream)
{
    flow_print_stream(&p->names, stream, p->out);
}

static FlowOperand resolved(const KernelPrinter *p, FlowOperand operand)
{
    return fuse_resolve(p->fusion, p->kernel, operand);
}

static void print_operand(KernelPrinter *p, FlowOperand operand)
{
    operand = resolved(p, operand);
    flow_print_operand(&p->names, &operand, p->out);
}

/* `x : int = `, or nothing if nobody wants it. */
static void begin_value(KernelPrinter *p, FlowStreamId stream)
{
    begin_line(p);
    if (stream == 0)
        return;
    print_stream(p, stream);
    text_addf(p->out, " : %s = ", leaf_name(p->network->streams.items[stream].type));
}

static void print_space_of(KernelPrinter *p, FlowStreamId stream)
{
    text_add(p->out, " @");
    flow_print_space(&p->names, p->network->streams.items[stream].space, p->out);
}

static void show_source(KernelPrinter *p, Span span)
{
    if (span.start == 0)
        return;
    Location location = sources_locate(p->sources, span.start);
    if (location.source == NULL || location.line == p->last_line)
        return;
    p->last_line = location.line;
    const char *text = location.source->text + location.source->line_starts[location.line - 1];
    text += strspn(text, " \t");
    begin_line(p);
    text_addf(p->out, "-- line %u: ", location.line);
    text_add_bytes(p->out, text, strcspn(text, "\n"));
    text_add_char(p->out, '\n');
}

/* ---- nodes ---- */

static void print_operation(KernelPrinter *p, const FlowNode *node)
{
    FlowOperand operands[OPERANDS_MAX];
    uint32_t count = node->input_count < OPERANDS_MAX ? node->input_count : OPERANDS_MAX;
    for (uint32_t i = 0; i < count; i++)
        operands[i] = resolved(p, node->inputs[i]);
    flow_print_operation(&p->names, node->core_op, operands, count, p->out);
}

static void print_element(KernelPrinter *p, FlowOperand array, uint32_t leaf)
{
    print_operand(p, array);
    if (leaf > 0)
        text_addf(p->out, " leaf %u", leaf);
    text_add_char(p->out, '[');
}

static void print_values(KernelPrinter *p, const FlowOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        text_add(p->out, i == 0 ? "" : ", ");
        print_operand(p, operands[i]);
    }
}

/* `sum(x) -> s`: one more element of what is known when its points are over. */
static void print_reduction(KernelPrinter *p, const FlowNode *node)
{
    text_add(p->out, node->op == FLOW_FOLD ? op_name(node->core_op) : flow_op_table[node->op].name);
    if (node->op == FLOW_FOLD) {
        text_add_char(p->out, '(');
        print_operand(p, node->inputs[0]);
        text_add_char(p->out, ')');
    }
    text_add(p->out, " -> ");
    print_stream(p, node->outputs[0]);
    print_space_of(p, node->outputs[0]);
    if (member_is_ordered(node))
        text_add(p->out, ", in order");
}

static void print_index(KernelPrinter *p, const FlowNode *node)
{
    print_operand(p, node->inputs[1]);
    text_add(p->out, " + ");
    print_operand(p, node->inputs[0]);
    text_add(p->out, ", if below ");
    print_operand(p, node->inputs[2]);
}

static void print_merge(KernelPrinter *p, const FlowNode *node)
{
    text_add(p->out, "if ");
    print_operand(p, node->inputs[0]);
    text_add(p->out, " then ");
    print_operand(p, node->inputs[2]);
    text_add(p->out, " else ");
    print_operand(p, node->inputs[1]);
}

static void print_collect(KernelPrinter *p, const FlowNode *node)
{
    text_add(p->out, "collect ");
    print_values(p, node->inputs + 1, node->layout->count);
}

static void print_scatter(KernelPrinter *p, const FlowNode *node)
{
    print_operand(p, node->inputs[0]);
    text_add(p->out, " with ");
    print_values(p, node->inputs + SCATTER_LEAVES, node->layout->count);
    text_add(p->out, " at ");
    print_operand(p, node->inputs[SCATTER_INDEX]);
    text_add(p->out, ", if below ");
    print_operand(p, node->inputs[SCATTER_LENGTH]);
}

static void print_work(KernelPrinter *p, const FlowNode *node)
{
    switch (node->op) {
    case FLOW_OPERATION: print_operation(p, node); break;
    case FLOW_COUNT:
        text_add(p->out, "count(");
        print_values(p, node->inputs, node->input_count);
        text_add_char(p->out, ')');
        break;
    case FLOW_RANGE:
    case FLOW_LOCAL_INDEX: text_add(p->out, "index"); break;
    case FLOW_SAME_LENGTHS: text_add(p->out, "check lengths"); break;
    case FLOW_INDEX: print_index(p, node); break;
    case FLOW_MERGE: print_merge(p, node); break;
    case FLOW_COLLECT: print_collect(p, node); break;
    case FLOW_SCATTER: print_scatter(p, node); break;
    case FLOW_SLICES:
        print_element(p, node->inputs[0], node->leaf);
        print_operand(p, node->inputs[1]);
        text_add(p->out, " + index]");
        break;
    case FLOW_GATHER:
        print_element(p, node->inputs[0], node->leaf);
        print_operand(p, node->inputs[1]);
        text_add_char(p->out, ']');
        break;
    default:
        text_add(p->out, flow_op_table[node->op].name);
        if ((flow_op_table[node->op].fields & HAS_CORE_OP) != 0 && node->core_op < OP_COUNT)
            text_addf(p->out, " %s", op_name(node->core_op));
        text_add_char(p->out, '(');
        print_values(p, node->inputs, fuse_value_inputs(node));
        text_add_char(p->out, ')');
    }
}

static bool is_among(const FlowStreamId *streams, uint32_t count, FlowStreamId stream)
{
    for (uint32_t i = 0; i < count; i++)
        if (streams[i] == stream)
            return true;
    return false;
}

/* Whether the kernel uses the value, or gives it to others. */
static bool is_value_wanted(const KernelPrinter *p, FlowStreamId stream)
{
    for (uint32_t i = 0; i < p->kernel->nodes.count; i++) {
        const FlowNode *node = &p->network->nodes.items[p->kernel->nodes.items[i]];
        for (uint32_t k = node->op == FLOW_COLLECT; k < fuse_value_inputs(node); k++)
            if (!node->inputs[k].is_constant && node->inputs[k].stream == stream)
                return true;
    }
    return is_among(p->kernel->outputs.items, p->kernel->outputs.count, stream);
}

/* Whether a node does nothing of its own: what it passes on is read where it comes from, and loops and filters are scopes. */
static bool is_silent(const KernelPrinter *p, const FlowNode *node)
{
    if (node->op == FLOW_RANGE)
        return node->outputs[0] == 0 || !is_value_wanted(p, node->outputs[0]);
    return node->op == FLOW_PACK || node->op == FLOW_DISTRIBUTE || node->op == FLOW_FILTER;
}

static void print_node(KernelPrinter *p, const FlowNode *node)
{
    if (is_silent(p, node))
        return;
    show_source(p, node->span);
    if (fuse_is_reduction(node)) {
        begin_line(p);
        print_reduction(p, node);
    } else {
        begin_value(p, node->output_count == 0 ? 0 : node->outputs[0]);
        print_work(p, node);
    }
    text_add_char(p->out, '\n');
}

/* ---- scopes ---- */

/* Some space with these points, for a name. */
static FlowSpaceId space_of_points(const FlowNetwork *network, uint32_t points)
{
    FlowSpaceId space = FLOW_UNIT;
    while (space + 1 < network->spaces.count && network->spaces.items[space].points != points)
        space++;
    return space;
}

static void print_points(KernelPrinter *p, const KernelScope *scope)
{
    text_add(p->out, "for each point of ");
    flow_print_space(&p->names, space_of_points(p->network, scope->points), p->out);
}

/* Sequences that are traversed together have one count each. */
static void print_loop(KernelPrinter *p, const KernelScope *scope)
{
    begin_line(p);
    print_points(p, scope);
    for (uint32_t i = 0; i < scope->makers.count; i++) {
        text_add(p->out, i == 0 ? ", " : " and ");
        print_operand(p, p->network->nodes.items[scope->makers.items[i]].inputs[0]);
    }
    text_add(p->out, " of them\n");
}

static void print_if(KernelPrinter *p, const KernelScope *scope)
{
    begin_line(p);
    text_add(p->out, scope->keep ? "if " : "if not ");
    print_operand(p, (FlowOperand){.type = (LeafType)SCALAR_BOOL, .stream = scope->flags});
    text_add_char(p->out, '\n');
}

static void print_body(KernelPrinter *p, const KernelScope *scope)
{
    p->depth++;
    for (uint32_t i = 0; i < scope->body.count; i++) {
        KernelUnit unit = scope->body.items[i];
        const KernelScope *inner = unit.is_scope ? &p->kernel->scopes.items[unit.index] : NULL;
        if (inner == NULL) {
            print_node(p, &p->network->nodes.items[unit.index]);
            continue;
        }
        if (inner->kind == SCOPE_LOOP)
            print_loop(p, inner);
        else
            print_if(p, inner);
        print_body(p, inner);
    }
    p->depth--;
}

/* ---- what goes in and out ---- */

static void begin_list(KernelPrinter *p, const char *title)
{
    text_add_repeated(p->out, ' ', KERNEL_DEPTH + INDENT / 2);
    text_add(p->out, title);
}

static void print_stream_and_type(KernelPrinter *p, FlowStreamId stream)
{
    print_stream(p, stream);
    print_space_of(p, stream);
    text_addf(p->out, " : %s\n", leaf_name(p->network->streams.items[stream].type));
}

static void print_streams(KernelPrinter *p, const char *title, const FlowStreamId *streams, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        begin_list(p, title);
        print_stream_and_type(p, streams[i]);
    }
}

static void print_totals(KernelPrinter *p, const FlowNodeId *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        begin_list(p, "reduces to ");
        print_stream_and_type(p, p->network->nodes.items[nodes[i]].outputs[0]);
    }
}

static void print_made_vectors(KernelPrinter *p, const KernelSink *sinks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (sinks[i].leaf == 0) {
            begin_list(p, "makes ");
            print_stream_and_type(p, p->network->nodes.items[sinks[i].node].outputs[0]);
        }
}

static void print_lists(KernelPrinter *p)
{
    const Kernel *kernel = p->kernel;
    print_streams(p, "reads ", kernel->streams.items, kernel->streams.count);
    print_streams(p, "reads ", kernel->uniforms.items, kernel->uniforms.count);
    for (uint32_t i = 0; i < kernel->columns.count; i++) {
        begin_list(p, "reads elements of ");
        print_stream(p, kernel->columns.items[i].array);
        text_addf(p->out, ", leaf %u : %s\n", kernel->columns.items[i].leaf, leaf_name(kernel->columns.items[i].type));
    }
    print_streams(p, "gives ", kernel->outputs.items, kernel->outputs.count);
    print_streams(p, "counts ", kernel->counted.items, kernel->counted.count);
    print_made_vectors(p, kernel->sinks.items, kernel->sinks.count);
    print_made_vectors(p, kernel->scatters.items, kernel->scatters.count);
    print_totals(p, kernel->ordered.items, kernel->ordered.count);
    print_totals(p, kernel->totals.items, kernel->totals.count);
}

static void print_kernel(KernelPrinter *p)
{
    p->last_line = 0;
    p->depth = 0;
    begin_line(p);
    text_addf(p->out, "kernel %u: ", p->kernel->number);
    print_points(p, &p->kernel->scopes.items[KERNEL_ROOT]);
    text_add_char(p->out, '\n');
    print_body(p, &p->kernel->scopes.items[KERNEL_ROOT]);
    print_lists(p);
}

/* ---- what is left ---- */

static void print_outside(KernelPrinter *p)
{
    uint32_t counts[FLOW_OP_COUNT] = {0};
    for (FlowNodeId id = 0; id < p->network->nodes.count; id++)
        counts[p->network->nodes.items[id].op] += p->fusion->kernel_of[id] == 0;
    text_add(p->out, "  outside:");
    const char *separator = " ";
    for (uint32_t op = 0; op < FLOW_OP_COUNT; op++) {
        if (counts[op] == 0)
            continue;
        text_addf(p->out, "%s%s", separator, flow_op_table[op].name);
        if (counts[op] > 1)
            text_addf(p->out, " %u", counts[op]);
        separator = ", ";
    }
    text_add(p->out, *separator == ' ' ? " nothing\n" : "\n");
}

/* Whether elements are written that were not there before. Calls give what others made. */
static bool makes_vector(const FlowNetwork *network, const FlowNode *node)
{
    switch (node->op) {
    case FLOW_COLLECT:
    case FLOW_SCATTER:
    case FLOW_PUT_WITH:
    case FLOW_ROWS:
    case FLOW_LINES: break;
    default: return false;
    }
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != 0 && network->streams.items[node->outputs[i]].type == LEAF_ARRAY)
            return true;
    return false;
}

/* Whether the vectors that a node takes are, or are elements of, those it gives. */
static bool passes_vectors_on(const FlowNode *node)
{
    return node->op == FLOW_COLLECT || node->op == FLOW_MERGE || node->op == FLOW_PACK || node->op == FLOW_DISTRIBUTE ||
           node->op == FLOW_MAKE || node->op == FLOW_RETURN || node->op == FLOW_RESULT;
}

static void mark_vectors(const FlowNetwork *network, bool *is_result, const FlowOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!operands[i].is_constant && operands[i].type == LEAF_ARRAY)
            is_result[network->streams.items[operands[i].stream].node] = true;
}

/* By node: whether it makes, or passes on, vectors of the result. Nodes come after those they read from. */
static bool *find_result_vectors(const KernelPrinter *p)
{
    const FlowNetwork *network = p->network;
    bool *is_result = ARENA_ARRAY(p->names.program->arena, bool, network->nodes.count + 1);
    if (network->is_item)
        mark_vectors(network, is_result, network->result, network->result_count);
    for (FlowNodeId id = network->nodes.count; id-- > 0;) {
        const FlowNode *node = &network->nodes.items[id];
        bool gives = is_result[id] || node->op == FLOW_RETURN || node->op == FLOW_RESULT;
        if (gives && passes_vectors_on(node))
            mark_vectors(network, is_result, node->inputs, node->input_count);
    }
    return is_result;
}

static size_t element_bytes(const Layout *layout)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < layout->count; i++)
        bytes += leaf_size(layout->leaves[i].type);
    return bytes;
}

static void print_made(KernelPrinter *p)
{
    const bool *is_result = find_result_vectors(p);
    bool is_any = false;
    for (FlowNodeId id = 0; id < p->network->nodes.count; id++) {
        const FlowNode *node = &p->network->nodes.items[id];
        if (is_result[id] || !makes_vector(p->network, node))
            continue;
        is_any = true;
        p->sums.vectors++;
        text_addf(p->out, "  made beyond the result: %s", flow_op_table[node->op].name);
        for (uint32_t i = 0; i < node->output_count; i++)
            if (node->outputs[i] != 0 && p->network->streams.items[node->outputs[i]].type == LEAF_ARRAY) {
                text_add_char(p->out, ' ');
                print_stream(p, node->outputs[i]);
                print_space_of(p, node->outputs[i]);
            }
        if (node->op == FLOW_COLLECT)
            text_addf(p->out, ", %zu bytes an element", element_bytes(node->layout));
        text_add_char(p->out, '\n');
    }
    if (!is_any)
        text_add(p->out, "  made beyond the result: nothing\n");
}

/* Whether a kernel makes it of which others only want to know how many elements there are. */
static bool is_merely_counted(const KernelPrinter *p, FlowStreamId stream)
{
    uint32_t kernel = p->fusion->kernel_of[p->network->streams.items[stream].node];
    if (kernel == 0)
        return false;
    const Kernel *maker = &p->fusion->kernels.items[kernel - 1];
    return is_among(maker->counted.items, maker->counted.count, stream);
}

/* Whether somebody else than its maker's kernel reads a stream. */
static bool *find_crossing(const KernelPrinter *p)
{
    const FlowNetwork *network = p->network;
    bool *crosses = ARENA_ARRAY(p->names.program->arena, bool, network->streams.count);
    for (FlowNodeId id = 0; id < network->nodes.count; id++) {
        const FlowNode *node = &network->nodes.items[id];
        for (uint32_t i = 0; i < node->input_count; i++) {
            if (node->inputs[i].is_constant)
                continue;
            FlowStreamId stream = node->inputs[i].stream;
            uint32_t from = p->fusion->kernel_of[network->streams.items[stream].node];
            crosses[stream] |= from == 0 || from != p->fusion->kernel_of[id];
        }
    }
    return crosses;
}

static void print_buffers(KernelPrinter *p)
{
    const bool *crosses = find_crossing(p);
    uint32_t count = 0;
    for (FlowStreamId stream = 1; stream < p->network->streams.count; stream++) {
        const FlowStream *made = &p->network->streams.items[stream];
        FlowSpaceKind kind = p->network->spaces.items[made->space].kind;
        if (!crosses[stream] || kind == SPACE_UNIT || kind == SPACE_ROOT || made->type == LEAF_POINTS ||
            is_merely_counted(p, stream))
            continue;
        text_add(p->out, count++ == 0 ? "  buffers: " : ", ");
        print_stream(p, stream);
        print_space_of(p, stream);
        p->sums.buffers++;
        p->sums.buffer_bytes += leaf_size(made->type);
    }
    text_add(p->out, count == 0 ? "  buffers: none\n" : "\n");
}

/* ---- networks ---- */

static void print_network(KernelPrinter *p, FlowNetworkId id)
{
    flow_names_of(&p->names, p->network);
    flow_print_network_header(&p->names, id, p->out);
    text_add_char(p->out, '\n');
    for (uint32_t i = 0; i < p->fusion->kernels.count; i++) {
        p->kernel = &p->fusion->kernels.items[i];
        print_kernel(p);
    }
    p->sums.kernels += p->fusion->kernels.count;
    print_outside(p);
    print_made(p);
    print_buffers(p);
    text_add_char(p->out, '\n');
}

void kernels_print(const FlowProgram *program, const Sources *sources, const Fusion *const *fusions, Text *out)
{
    KernelPrinter printer = {.sources = sources, .out = out};
    flow_names_init(&printer.names, program);
    for (FlowNetworkId i = 1; i < program->networks.count; i++) {
        if (program->networks.items[i] == NULL)
            continue;
        printer.fusion = fusions[i];
        printer.network = program->networks.items[i];
        print_network(&printer, i);
    }
    text_addf(out, "kernels %u, made beyond the result %u vectors, buffers %u of %zu bytes a point\n", printer.sums.kernels,
              printer.sums.vectors, printer.sums.buffers, printer.sums.buffer_bytes);
}
