#include "flow/flow_names.h"

#include <string.h>

/* ---- spaces ---- */

static const struct {
    const char *letter;
    const char *name;
} kinds[] = {
    [SPACE_UNIT] = {"unit", "unit"},      [SPACE_ROOT] = {"root", "root"},    [SPACE_RANGE] = {"C", "range"},
    [SPACE_FILTER] = {"F", "filter"},     [SPACE_RESTRICT] = {"R", "restrict"}, [SPACE_FLAT] = {"S", "flat"},
    [SPACE_JOIN] = {"J", "join"},         [SPACE_CHOICE] = {"H", "choice"},   [SPACE_PART] = {"Q", "part"},
    [SPACE_PARTED] = {"P", "parted"},     [SPACE_GROUP] = {"G", "group"},
    [SPACE_MEMBERS] = {"M", "members"},   [SPACE_LINES] = {"L", "lines"},     [SPACE_INPUT] = {"I", "input"},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const char *flow_space_kind_name(FlowSpaceKind kind)
{
    return (uint32_t)kind < KIND_COUNT ? kinds[kind].name : "?";
}

typedef struct Ordering {
    const FlowNetwork *network;
    uint32_t *marks;
    FlowSpaceId *order;
    FlowNodeId *order_nodes;
    uint32_t count;
} Ordering;

static void mention(Ordering *ordering, FlowSpaceId space, FlowNodeId node)
{
    if (space == 0 || space >= ordering->network->spaces.count || ordering->marks[space] != 0)
        return;
    ordering->marks[space] = UINT32_MAX; /* no longer new, so that a wrong tree ends too */
    const FlowSpace *info = &ordering->network->spaces.items[space];
    if (info->kind == SPACE_UNIT || info->kind == SPACE_ROOT)
        return;
    mention(ordering, info->parent, node);
    mention(ordering, info->base, node);
    ordering->order[ordering->count] = space;
    ordering->order_nodes[ordering->count] = node;
    ordering->marks[space] = ++ordering->count;
}

uint32_t flow_space_order(const FlowNetwork *network, uint32_t *marks, FlowSpaceId *order, FlowNodeId *order_nodes)
{
    Ordering ordering = {network, marks, order, order_nodes, 0};
    for (FlowNodeId n = 0; n < network->nodes.count; n++) {
        const FlowNode *node = &network->nodes.items[n];
        mention(&ordering, node->space, n);
        for (uint32_t i = 0; i < node->output_count; i++)
            if (node->outputs[i] < network->streams.count)
                mention(&ordering, network->streams.items[node->outputs[i]].space, n);
    }
    return ordering.count;
}

/* ---- numbering ---- */

void flow_names_init(FlowNames *names, const FlowProgram *program)
{
    Arena *arena = program->arena;
    *names = (FlowNames){.program = program};
    names->name_counts = ARENA_ARRAY(arena, uint32_t, program->core->names->entries.count);
    names->network_numbers = ARENA_ARRAY(arena, uint32_t, program->networks.count);
    for (FlowNetworkId i = 1; i < program->networks.count; i++)
        if (program->networks.items[i] != NULL)
            names->network_numbers[i] = ++names->name_counts[program->networks.items[i]->name];
    for (FlowNetworkId i = 1; i < program->networks.count; i++)
        if (program->networks.items[i] != NULL)
            names->name_counts[program->networks.items[i]->name] = 0;
}

static bool has_type(const FlowNetwork *network, FlowStreamId stream, LeafType type)
{
    return stream != 0 && stream < network->streams.count && network->streams.items[stream].type == type;
}

/* A vector's array among the outputs is followed by its start and its length, which are numbered 1 and 2. */
static void number_vectors(FlowNames *names, const FlowNode *node)
{
    for (uint32_t i = 0; i + 2 < node->output_count; i++) {
        if (!has_type(names->network, node->outputs[i], LEAF_ARRAY))
            continue;
        for (uint32_t part = 1; part <= 2; part++) {
            FlowStreamId stream = node->outputs[i + part];
            if (!has_type(names->network, stream, SCALAR_I64))
                continue;
            names->vectors[stream] = node->outputs[i];
            names->stream_numbers[stream] = part;
        }
    }
}

static void number_streams(FlowNames *names)
{
    const FlowNetwork *network = names->network;
    uint32_t *counts = names->name_counts; /* those without a name have name 0 */
    for (FlowNodeId n = 0; n < network->nodes.count; n++) {
        const FlowNode *node = &network->nodes.items[n];
        number_vectors(names, node);
        for (uint32_t i = 0; i < node->output_count; i++) {
            FlowStreamId stream = node->outputs[i];
            if (stream != 0 && stream < network->streams.count && names->stream_numbers[stream] == 0)
                names->stream_numbers[stream] = ++counts[network->streams.items[stream].name];
        }
    }
    for (FlowStreamId s = 1; s < network->streams.count; s++)
        counts[network->streams.items[s].name] = 0;
}

void flow_names_of(FlowNames *names, const FlowNetwork *network)
{
    Arena *arena = names->program->arena;
    names->network = network;
    names->stream_numbers = ARENA_ARRAY(arena, uint32_t, network->streams.count);
    names->vectors = ARENA_ARRAY(arena, FlowStreamId, network->streams.count);
    names->space_numbers = ARENA_ARRAY(arena, uint32_t, network->spaces.count);
    names->order = ARENA_ARRAY(arena, FlowSpaceId, network->spaces.count);
    names->order_nodes = ARENA_ARRAY(arena, FlowNodeId, network->spaces.count);
    names->order_count = flow_space_order(network, names->space_numbers, names->order, names->order_nodes);
    number_streams(names);
}

/* ---- printing ---- */

static char letter_of(LeafType type)
{
    return type == LEAF_ENDS ? 'e' : type == LEAF_POINTS ? 'p' : 's';
}

/* Whether a name of the source could be taken for one of ours. */
static bool looks_made(const char *name)
{
    if (strchr("sep", *name++) == NULL || *name == '\0')
        return false;
    return name[strspn(name, "0123456789")] == '\0';
}

void flow_print_stream(const FlowNames *names, FlowStreamId stream, Text *out)
{
    if (!flow_is_made(names, stream)) {
        text_add_char(out, '?');
        return;
    }
    if (names->vectors[stream] != 0) {
        flow_print_stream(names, names->vectors[stream], out);
        text_add(out, names->stream_numbers[stream] == 1 ? ".start" : ".length");
        return;
    }
    const FlowStream *info = &names->network->streams.items[stream];
    uint32_t number = names->stream_numbers[stream];
    const char *name = names_text(names->program->core->names, info->name);
    if (info->name == 0)
        text_addf(out, "%c%u", letter_of(info->type), number);
    else if (number > 1 || looks_made(name))
        text_addf(out, "%s.%u", name, number);
    else
        text_add(out, name);
}

void flow_print_space(const FlowNames *names, FlowSpaceId space, Text *out)
{
    if (space == 0 || space >= names->network->spaces.count) {
        text_add_char(out, '?');
        return;
    }
    FlowSpaceKind kind = names->network->spaces.items[space].kind;
    if ((uint32_t)kind >= KIND_COUNT)
        text_add_char(out, '?');
    else if (kind == SPACE_UNIT || kind == SPACE_ROOT)
        text_add(out, kinds[kind].name);
    else if (names->space_numbers[space] == 0)
        text_addf(out, "%s?", kinds[kind].letter);
    else
        text_addf(out, "%s%u", kinds[kind].letter, names->space_numbers[space]);
}

void flow_print_network_name(const FlowNames *names, FlowNetworkId network, Text *out)
{
    const FlowProgram *program = names->program;
    if (network == 0 || network >= program->networks.count || program->networks.items[network] == NULL) {
        text_add_char(out, '?');
        return;
    }
    Name name = program->networks.items[network]->name;
    text_add(out, name == 0 ? "" : names_text(program->core->names, name));
    if (name == 0 || names->network_numbers[network] > 1)
        text_addf(out, "#%u", names->network_numbers[network]);
}

void flow_print_network_header(const FlowNames *names, FlowNetworkId network, Text *out)
{
    const FlowNetwork *info = names->program->networks.items[network];
    text_add(out, info->is_item ? "item" : info->is_branch ? "branch of" : info->is_single ? "single function" : "function");
    if (info->name == 0 && info->is_item)
        return;
    text_add_char(out, ' ');
    flow_print_network_name(names, network, out);
}
