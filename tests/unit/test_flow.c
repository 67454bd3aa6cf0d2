/* Flow: the text of networks, what the check accepts and what it names, and counts. */
#include "flow/flow_count.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

typedef struct Fixture {
    Memory memory;
    Arena arena;
    Names names;
    Types types;
    CoreProgram core;
    Layouts layouts;
    FlowProgram program;
    FlowNetwork *network; /* the one being built */
    Text text;
} Fixture;

static void set_up(Fixture *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    types_init(&f->types, &f->arena, &f->names);
    core_program_init(&f->core, &f->arena, &f->types, &f->names);
    layouts_init(&f->layouts, &f->arena, &f->types);
    f->program = (FlowProgram){.arena = &f->arena, .core = &f->core, .layouts = &f->layouts};
    *vec_push(&f->arena, &f->program.networks) = NULL;
    text_init(&f->text, &f->memory);
}

static void tear_down(Fixture *f)
{
    text_free(&f->text);
    arena_free(&f->arena);
    CHECK(f->memory.live_bytes == 0);
}

/* ---- building ---- */

static FlowSpaceId new_space(Fixture *f, FlowSpace space)
{
    FlowSpaceId id = f->network->spaces.count;
    if (space.points == 0)
        space.points = id;
    *vec_push(&f->arena, &f->network->spaces) = space;
    return id;
}

static void start_network(Fixture *f, const char *name, bool is_item)
{
    f->network = ARENA_NEW(&f->arena, FlowNetwork);
    f->network->name = name == NULL ? 0 : names_of(&f->names, name);
    f->network->is_item = is_item;
    *vec_push(&f->arena, &f->program.networks) = f->network;
    *vec_push(&f->arena, &f->network->spaces) = (FlowSpace){0};
    *vec_push(&f->arena, &f->network->streams) = (FlowStream){0};
    new_space(f, (FlowSpace){.kind = SPACE_UNIT});
    if (!is_item)
        new_space(f, (FlowSpace){.kind = SPACE_ROOT, .parent = FLOW_UNIT});
}

static void set_types(Fixture *f, LeafType **types, uint32_t *count, const Layout *layout)
{
    *types = ARENA_ARRAY(&f->arena, LeafType, layout->count);
    *count = layout->count;
    for (uint32_t i = 0; i < layout->count; i++)
        (*types)[i] = layout->leaves[i].type;
}

static void set_signature(Fixture *f, TypeId parameters, TypeId results)
{
    FlowNetwork *network = f->network;
    set_types(f, &network->parameters, &network->parameter_count, layout_of(&f->layouts, parameters));
    set_types(f, &network->results, &network->result_count, layout_of(&f->layouts, results));
}

static FlowOperand stream(const Fixture *f, FlowStreamId id)
{
    return (FlowOperand){.type = f->network->streams.items[id].type, .stream = id};
}

static FlowOperand uniform(const Fixture *f, FlowStreamId id)
{
    FlowOperand operand = stream(f, id);
    operand.is_uniform = true;
    return operand;
}

static FlowOperand number(int64_t value)
{
    return (FlowOperand){.type = SCALAR_I64, .is_constant = true, .constant = {.integer = value}};
}

#define INPUTS(...) (FlowOperand[]){__VA_ARGS__}, sizeof(FlowOperand[]){__VA_ARGS__} / sizeof(FlowOperand)
#define NOTHING NULL, 0

static FlowNode *add_node(Fixture *f, FlowOp op, FlowSpaceId space, const FlowOperand *inputs, size_t count)
{
    FlowNode *node = vec_push(&f->arena, &f->network->nodes);
    *node = (FlowNode){.op = op, .space = space, .input_count = (uint32_t)count};
    node->inputs = ARENA_ARRAY(&f->arena, FlowOperand, count);
    if (count > 0)
        memcpy(node->inputs, inputs, count * sizeof *inputs);
    node->outputs = ARENA_ARRAY(&f->arena, FlowStreamId, 8);
    return node;
}

/* The next output of the node added last. */
static FlowStreamId add_output(Fixture *f, LeafType type, FlowSpaceId space, const char *name)
{
    FlowNetwork *network = f->network;
    FlowNode *node = &vec_last(&network->nodes);
    FlowStreamId id = network->streams.count;
    Name known = name == NULL ? 0 : names_of(&f->names, name);
    *vec_push(&f->arena, &network->streams) =
        (FlowStream){.type = type, .space = space, .node = network->nodes.count - 1, .name = known};
    node->outputs[node->output_count++] = id;
    return id;
}

/* The three outputs of a vector; gives the array. */
static FlowStreamId add_vector(Fixture *f, FlowSpaceId space, const char *name)
{
    FlowStreamId array = add_output(f, LEAF_ARRAY, space, name);
    add_output(f, SCALAR_I64, space, name);
    add_output(f, SCALAR_I64, space, name);
    return array;
}

static void add_parameters(Fixture *f, const char *name)
{
    FlowSpaceId root = f->network->is_item ? FLOW_UNIT : FLOW_ROOT;
    add_node(f, FLOW_PARAMETERS, root, NOTHING);
    f->network->spaces.items[root].driver = add_output(f, SCALAR_I64, root, "slot");
    for (uint32_t i = 0; i < f->network->parameter_count; i++)
        add_output(f, f->network->parameters[i], root, name);
}

/* function small(a) = sum({x in a | x < 2}) */
static void make_small(Fixture *f)
{
    enum { SLOT = 1, ARRAY, START, LENGTH };
    start_network(f, "small", false);
    set_signature(f, type_vector(&f->types, TYPE_INT), TYPE_INT);
    add_parameters(f, "a");
    FlowSpaceId elements =
        new_space(f, (FlowSpace){.kind = SPACE_RANGE, .parent = FLOW_ROOT, .segments = SEGMENTS_ENDS});
    add_node(f, FLOW_RANGE, elements, INPUTS(stream(f, LENGTH)))->segments = SEGMENTS_ENDS;
    FlowStreamId index = add_output(f, SCALAR_I64, elements, NULL);
    FlowStreamId ends = add_output(f, LEAF_ENDS, FLOW_ROOT, NULL);
    f->network->spaces.items[elements].ends = ends;
    f->network->spaces.items[elements].driver = index;
    add_node(f, FLOW_SLICES, elements, INPUTS(stream(f, ARRAY), stream(f, START), stream(f, index), stream(f, ends)))
        ->segments = SEGMENTS_ENDS;
    FlowStreamId x = add_output(f, SCALAR_I64, elements, "x");
    FlowNode *less = add_node(f, FLOW_OPERATION, elements, INPUTS(stream(f, x), number(2)));
    less->core_op = OP_LESS;
    less->scalar = SCALAR_I64;
    FlowStreamId flags = add_output(f, SCALAR_BOOL, elements, NULL);
    FlowSpaceId kept = new_space(f, (FlowSpace){.kind = SPACE_FILTER, .parent = elements, .segments = SEGMENTS_ENDS,
                                                .flags = flags, .keep = true});
    add_node(f, FLOW_PACK, kept, INPUTS(stream(f, x), stream(f, flags)))->keep = true;
    FlowStreamId packed = add_output(f, SCALAR_I64, kept, "x");
    add_node(f, FLOW_FLAG_ENDS, elements, INPUTS(stream(f, flags)))->keep = true;
    FlowStreamId flag_ends = add_output(f, LEAF_ENDS, elements, NULL);
    add_node(f, FLOW_COMPOSE, FLOW_ROOT, INPUTS(stream(f, ends), stream(f, flag_ends)));
    FlowStreamId flat_ends = add_output(f, LEAF_ENDS, FLOW_ROOT, NULL);
    FlowSpaceId flat = new_space(f, (FlowSpace){.kind = SPACE_FLAT, .parent = FLOW_ROOT, .base = kept, .points = kept,
                                                .segments = SEGMENTS_ENDS, .ends = flat_ends});
    FlowNode *fold = add_node(f, FLOW_FOLD, flat, INPUTS(stream(f, packed), stream(f, flat_ends)));
    fold->core_op = OP_SUM;
    fold->segments = SEGMENTS_ENDS;
    FlowStreamId sum = add_output(f, SCALAR_I64, FLOW_ROOT, "s3"); /* could be taken for one of ours */
    add_node(f, FLOW_RETURN, FLOW_ROOT, INPUTS(stream(f, SLOT), stream(f, sum)));
}

/* function pairs(n) = if n < 0 then pairs(-n) else [running sums of {n, n * 2}]: regular spaces, and a tail call */
static void make_pairs(Fixture *f)
{
    enum { SLOT = 1, N };
    FlowNetworkId own = f->program.networks.count;
    start_network(f, "pairs", false);
    set_signature(f, TYPE_INT, type_vector(&f->types, TYPE_INT));
    add_parameters(f, "n");
    FlowNode *less = add_node(f, FLOW_OPERATION, FLOW_ROOT, INPUTS(stream(f, N), number(0)));
    less->core_op = OP_LESS;
    less->scalar = SCALAR_I64;
    FlowStreamId flags = add_output(f, SCALAR_BOOL, FLOW_ROOT, NULL);
    FlowSpaceId branches[2];
    FlowStreamId slots[2], values[2];
    for (uint32_t i = 0; i < 2; i++) {
        bool keep = i == 0;
        branches[i] = new_space(f, (FlowSpace){.kind = SPACE_FILTER, .parent = FLOW_ROOT, .segments = SEGMENTS_ENDS,
                                               .flags = flags, .keep = keep});
        add_node(f, FLOW_PACK, branches[i], INPUTS(stream(f, SLOT), stream(f, flags)))->keep = keep;
        slots[i] = add_output(f, SCALAR_I64, branches[i], NULL);
        add_node(f, FLOW_PACK, branches[i], INPUTS(stream(f, N), stream(f, flags)))->keep = keep;
        values[i] = add_output(f, SCALAR_I64, branches[i], "n");
    }
    FlowNode *negate = add_node(f, FLOW_OPERATION, branches[0], INPUTS(stream(f, values[0])));
    negate->core_op = OP_NEGATE;
    negate->scalar = SCALAR_I64;
    FlowStreamId negated = add_output(f, SCALAR_I64, branches[0], NULL);
    add_node(f, FLOW_TAIL_CALL, branches[0], INPUTS(stream(f, slots[0]), stream(f, negated)))->network = own;
    FlowNode *twice = add_node(f, FLOW_OPERATION, branches[1], INPUTS(stream(f, values[1]), number(2)));
    twice->core_op = OP_MULTIPLY;
    twice->scalar = SCALAR_I64;
    FlowStreamId product = add_output(f, SCALAR_I64, branches[1], NULL);
    FlowSpaceId made = new_space(f, (FlowSpace){.kind = SPACE_RANGE, .parent = branches[1], .segments = SEGMENTS_REGULAR,
                                                .count = number(2)});
    add_node(f, FLOW_MAKE, made, INPUTS(stream(f, slots[1]), stream(f, values[1]), stream(f, product)));
    FlowStreamId elements = add_output(f, SCALAR_I64, made, NULL);
    FlowNode *scan = add_node(f, FLOW_SCAN, made, INPUTS(stream(f, elements), stream(f, slots[1]), number(2)));
    scan->core_op = OP_PLUS_SCAN;
    scan->segments = SEGMENTS_REGULAR;
    FlowStreamId sums = add_output(f, SCALAR_I64, made, NULL);
    FlowNode *collect =
        add_node(f, FLOW_COLLECT, made, INPUTS(stream(f, sums), stream(f, sums), stream(f, slots[1]), number(2)));
    collect->layout = layout_of(&f->layouts, TYPE_INT);
    collect->segments = SEGMENTS_REGULAR;
    FlowStreamId array = add_vector(f, branches[1], "sums");
    add_node(f, FLOW_RETURN, branches[1],
             INPUTS(stream(f, slots[1]), stream(f, array), stream(f, array + 1), stream(f, array + 2)));
}

/* An item that calls both for the ends of two points, and prints: uniform operands, what is not wanted, what waits. */
static void make_item(Fixture *f)
{
    enum { SLOT = 1 };
    CoreVar global = core_variable(&f->core, TYPE_INT, names_of(&f->names, "size"));
    f->core.variables.items[global].is_global = true;
    start_network(f, NULL, true);
    f->network->does_io = true;
    set_signature(f, TYPE_UNIT_ID, TYPE_INT);
    add_parameters(f, NULL);
    add_node(f, FLOW_GLOBAL, FLOW_UNIT, NOTHING)->variable = global;
    FlowStreamId size = add_output(f, SCALAR_I64, FLOW_UNIT, NULL);
    FlowNode *text = add_node(f, FLOW_TEXT, FLOW_UNIT, NOTHING);
    text->text = "a\n";
    text->text_length = 2;
    FlowStreamId array = add_output(f, LEAF_ARRAY, FLOW_UNIT, NULL);
    FlowNodeId prints[2];
    for (uint32_t i = 0; i < 2; i++) {
        FlowNode *rows =
            add_node(f, FLOW_ROWS, FLOW_UNIT, INPUTS(stream(f, SLOT), stream(f, array), number(0), number(2)));
        rows->core_op = OP_PRINT_STRING;
        rows->layout = layout_of(&f->layouts, TYPE_BOOL);
        rows->layout_count = 1;
        rows->layouts = ARENA_ARRAY(&f->arena, const Layout *, 1);
        rows->layouts[0] = layout_of(&f->layouts, type_vector(&f->types, TYPE_CHAR));
        rows->outputs[rows->output_count++] = 0;
        prints[i] = f->network->nodes.count - 1;
        if (i == 1) {
            rows->after = ARENA_ARRAY(&f->arena, FlowNodeId, 1);
            rows->after[rows->after_count++] = prints[0];
        }
    }
    FlowSpaceId range = new_space(f, (FlowSpace){.kind = SPACE_RANGE, .parent = FLOW_UNIT});
    add_node(f, FLOW_RANGE, range, INPUTS(stream(f, size)));
    FlowStreamId index = add_output(f, SCALAR_I64, range, NULL);
    FlowNode *add = add_node(f, FLOW_OPERATION, range, INPUTS(stream(f, index), uniform(f, size)));
    add->core_op = OP_ADD;
    add->scalar = SCALAR_I64;
    FlowStreamId shifted = add_output(f, SCALAR_I64, range, NULL);
    add_node(f, FLOW_CALL, range, INPUTS(stream(f, index), stream(f, shifted)))->network = 2;
    FlowNode *call = &vec_last(&f->network->nodes);
    call->outputs[call->output_count++] = 0;
    call->outputs[call->output_count++] = 0;
    FlowStreamId length = add_output(f, SCALAR_I64, range, NULL);
    FlowSpaceId inner = new_space(
        f, (FlowSpace){.kind = SPACE_RANGE, .parent = range, .segments = SEGMENTS_REGULAR, .count = uniform(f, size)});
    add_node(f, FLOW_RANGE, inner, INPUTS(uniform(f, size), stream(f, index)))->segments = SEGMENTS_REGULAR;
    FlowStreamId point = add_output(f, SCALAR_I64, inner, NULL);
    add_node(f, FLOW_DISTRIBUTE, inner, INPUTS(stream(f, length), stream(f, point), stream(f, index), uniform(f, size)))
        ->segments = SEGMENTS_REGULAR;
    FlowStreamId copies = add_output(f, SCALAR_I64, inner, NULL);
    FlowNode *fold = add_node(f, FLOW_FOLD, inner, INPUTS(stream(f, copies), stream(f, index), uniform(f, size)));
    fold->core_op = OP_MAX_VAL;
    fold->segments = SEGMENTS_REGULAR;
    FlowStreamId largest = add_output(f, SCALAR_I64, range, NULL);
    fold = add_node(f, FLOW_FOLD, range, INPUTS(stream(f, largest)));
    fold->core_op = OP_SUM;
    FlowStreamId sum = add_output(f, SCALAR_I64, FLOW_UNIT, NULL);
    f->network->result = ARENA_ARRAY(&f->arena, FlowOperand, 1);
    f->network->result[0] = stream(f, sum);
}

static void make_all(Fixture *f)
{
    make_small(f);
    make_pairs(f);
    make_item(f);
}

/* ---- text and counts ---- */

static void test_print(Fixture *f)
{
    make_all(f);
    const char *message = flow_check(&f->program, 0);
    CHECK_TEXT(message == NULL ? "" : message, "");
    flow_print(&f->program, &f->text);
    CHECK_TEXT(text_string(&f->text),
               "function small =\n"
               "  slot : int, a : array, a.start : int, a.length : int @root = parameters\n"
               "  space C1 = range(root, ends e2)\n"
               "  s1 : int @C1, e2 : ends @root = range(a.length)\n"
               "  x : int @C1 = slices(a, a.start, s1) leaf 0 over C1/root by e2\n"
               "  s3 : bool @C1 = x < 2\n"
               "  space F2 = filter(C1, s3 = true, ends)\n"
               "  x.2 : int @F2 = pack(x, s3 = true)\n"
               "  e4 : ends @C1 = flag_ends(s3 = true)\n"
               "  e5 : ends @root = compose(e2, e4)\n"
               "  space S3 = flat(root, F2, ends e5)\n"
               "  s3.1 : int @root = fold sum(x.2) over S3/root by e5\n"
               "  return(slot, s3.1) @root\n"
               "\n"
               "function pairs =\n"
               "  slot : int, n : int @root = parameters\n"
               "  s1 : bool @root = n < 0\n"
               "  space F1 = filter(root, s1 = true, ends)\n"
               "  s2 : int @F1 = pack(slot, s1 = true)\n"
               "  n.2 : int @F1 = pack(n, s1 = true)\n"
               "  space F2 = filter(root, s1 = false, ends)\n"
               "  s3 : int @F2 = pack(slot, s1 = false)\n"
               "  n.3 : int @F2 = pack(n, s1 = false)\n"
               "  s4 : int @F1 = negate(n.2)\n"
               "  tail_call pairs(s2, s4) @F1\n"
               "  s5 : int @F2 = n.3 * 2\n"
               "  space C3 = range(F2, regular 2)\n"
               "  s6 : int @C3 = make(s3, n.3, s5)\n"
               "  s7 : int @C3 = scan plus_scan(s6) over C3/F2 by 2 each of s3\n"
               "  sums : array, sums.start : int, sums.length : int @F2 = collect(s7, s7) of int over C3/F2 by 2 each of s3\n"
               "  return(s3, sums, sums.start, sums.length) @F2\n"
               "\n"
               "item = -- io\n"
               "  slot : int @unit = parameters\n"
               "  s1 : int @unit = global $size\n"
               "  s2 : array @unit = text \"a\\n\"\n"
               "  #1 _ = rows print_string(slot, s2, 0, 2) of bool @unit\n"
               "  _ = rows print_string(slot, s2, 0, 2) of bool @unit after #1\n"
               "  space C1 = range(unit, single)\n"
               "  s3 : int @C1 = range(s1)\n"
               "  s4 : int @C1 = s3 + s1@unit\n"
               "  _, _, s5 : int @C1 = call pairs(s3, s4)\n"
               "  space C2 = range(C1, regular s1@unit)\n"
               "  s6 : int @C2 = range(s1@unit, s3)\n"
               "  s7 : int @C2 = distribute(s5, s6) over C2/C1 by s1@unit each of s3\n"
               "  s8 : int @C1 = fold max_val(s7) over C2/C1 by s1@unit each of s3\n"
               "  s9 : int @unit = fold sum(s8) over C1\n"
               "  result(s9)\n"
               "\n");
}

static void test_counts(Fixture *f)
{
    make_all(f);
    FlowCounts counts = flow_counts(&f->program, 0);
    flow_counts_print(&counts, &f->text);
    CHECK_TEXT(text_string(&f->text),
               "networks 3\n"
               "spaces 8 (range 4, filter 3, flat 1)\n"
               "regular 2\n"
               "descriptors 3\n"
               "materialisations 1\n"
               "copies 6 (distribute 1, pack 5)\n"
               "merges 0\n"
               "reads 1\n"
               "gathers 0\n"
               "scatters 0\n"
               "folds 3 (fold 3)\n"
               "scans 1 (scan 1)\n"
               "operations 7 (operation 5, rows 2)\n"
               "calls 2 (call 1, tail_call 1)\n"
               "scalar calls 0\n");
    counts = flow_counts(&f->program, 2);
    CHECK(counts.networks == 2 && counts.descriptors == 0);
}

/* ---- the check: what is wrong is named ---- */

enum { SMALL = 1, PAIRS, ITEM };

/* The nth node of an operation in a network. */
static FlowNode *find(Fixture *f, FlowNetworkId network, FlowOp op, uint32_t n)
{
    FlowNetwork *in = f->program.networks.items[network];
    for (FlowNodeId i = 0; i < in->nodes.count; i++)
        if (in->nodes.items[i].op == op && n-- == 0)
            return &in->nodes.items[i];
    return NULL;
}

static FlowSpace *find_space(Fixture *f, FlowNetworkId network, FlowSpaceKind kind)
{
    FlowNetwork *in = f->program.networks.items[network];
    FlowSpaceId id = 1;
    while (in->spaces.items[id].kind != kind)
        id++;
    return &in->spaces.items[id];
}

static FlowStream *output_of(Fixture *f, FlowNetworkId network, FlowOp op)
{
    return &f->program.networks.items[network]->streams.items[find(f, network, op, 0)->outputs[0]];
}

static void spoil_input_type(Fixture *f)
{
    FlowNode *node = find(f, SMALL, FLOW_SLICES, 0);
    node->inputs[1] = node->inputs[0];
}

static void spoil_operand_type(Fixture *f)
{
    find(f, SMALL, FLOW_SLICES, 0)->inputs[1].type = SCALAR_F64;
}

static void spoil_output_type(Fixture *f)
{
    output_of(f, PAIRS, FLOW_COLLECT)->type = SCALAR_I64;
}

static void spoil_variable_type(Fixture *f)
{
    FlowStream *packed = output_of(f, SMALL, FLOW_PACK);
    packed->type = SCALAR_BOOL;
    find(f, SMALL, FLOW_FOLD, 0)->inputs[0].type = SCALAR_BOOL;
}

static void spoil_input_space(Fixture *f)
{
    find(f, PAIRS, FLOW_RETURN, 0)->inputs[0].stream = 1;
}

static void spoil_output_space(Fixture *f)
{
    output_of(f, SMALL, FLOW_FOLD)->space = FLOW_UNIT;
}

static void spoil_input_count(Fixture *f)
{
    find(f, SMALL, FLOW_SLICES, 0)->input_count = 3;
}

static void spoil_output_count(Fixture *f)
{
    find(f, PAIRS, FLOW_COLLECT, 0)->output_count = 2;
}

static void spoil_repeated(Fixture *f)
{
    find(f, PAIRS, FLOW_RETURN, 0)->input_count = 3;
}

static void spoil_layout(Fixture *f)
{
    find(f, PAIRS, FLOW_COLLECT, 0)->layout = layout_of(&f->layouts, TYPE_FLOAT);
}

static void spoil_layout_count(Fixture *f)
{
    find(f, PAIRS, FLOW_COLLECT, 0)->layout = layout_of(&f->layouts, type_pair(&f->types, TYPE_INT, TYPE_INT));
}

static void spoil_no_layout(Fixture *f)
{
    find(f, PAIRS, FLOW_COLLECT, 0)->layout = NULL;
}

static void spoil_driver(Fixture *f)
{
    find(f, ITEM, FLOW_DISTRIBUTE, 0)->inputs[1] = number(1);
}

static void spoil_ends(Fixture *f)
{
    FlowNode *fold = find(f, SMALL, FLOW_FOLD, 0);
    fold->inputs[1] = fold->inputs[0];
}

static void spoil_ends_space(Fixture *f)
{
    find(f, SMALL, FLOW_FOLD, 0)->inputs[1].stream = find(f, SMALL, FLOW_FLAG_ENDS, 0)->outputs[0];
}

static void spoil_segments(Fixture *f)
{
    FlowNode *fold = find(f, SMALL, FLOW_FOLD, 0);
    fold->segments = SEGMENTS_SINGLE;
    fold->input_count = 1;
}

static void spoil_regular(Fixture *f)
{
    find(f, PAIRS, FLOW_SCAN, 0)->inputs[2] = number(3);
}

static void spoil_uniform(Fixture *f)
{
    find(f, ITEM, FLOW_OPERATION, 0)->inputs[0].is_uniform = true;
}

static void spoil_points(Fixture *f)
{
    find(f, SMALL, FLOW_OPERATION, 0)->inputs[0] = number(1);
}

static void spoil_order(Fixture *f)
{
    find(f, SMALL, FLOW_PACK, 0)->inputs[0].stream = find(f, SMALL, FLOW_PACK, 0)->outputs[0];
}

static void spoil_stream(Fixture *f)
{
    find(f, SMALL, FLOW_PACK, 0)->inputs[0].stream = 99;
}

static void spoil_dead_stream(Fixture *f)
{
    find(f, SMALL, FLOW_PACK, 0)->outputs[0] = 0;
}

static void spoil_maker(Fixture *f)
{
    output_of(f, SMALL, FLOW_PACK)->node = 0;
}

static void spoil_made_twice(Fixture *f)
{
    find(f, SMALL, FLOW_PACK, 0)->outputs[0] = find(f, SMALL, FLOW_RANGE, 0)->outputs[0];
}

static void spoil_use(Fixture *f)
{
    find(f, SMALL, FLOW_RETURN, 0)->inputs[1] = number(1);
}

static void spoil_after(Fixture *f)
{
    find(f, ITEM, FLOW_ROWS, 1)->after[0] = 99;
}

static void spoil_flags(Fixture *f)
{
    find(f, SMALL, FLOW_PACK, 0)->keep = false;
}

static void spoil_make(Fixture *f)
{
    FlowNode *make = find(f, PAIRS, FLOW_MAKE, 0);
    make->input_count = 2;
}

static void spoil_operation(Fixture *f)
{
    find(f, SMALL, FLOW_OPERATION, 0)->core_op = OP_SUM;
}

static void spoil_scheme(Fixture *f)
{
    find(f, SMALL, FLOW_OPERATION, 0)->core_op = OP_ADD;
}

static void spoil_class(Fixture *f)
{
    find(f, PAIRS, FLOW_OPERATION, 1)->core_op = OP_SQRT;
}

static void spoil_fold(Fixture *f)
{
    find(f, SMALL, FLOW_FOLD, 0)->core_op = OP_COUNT_TRUE;
}

static void spoil_scalar(Fixture *f)
{
    find(f, SMALL, FLOW_OPERATION, 0)->scalar = SCALAR_U8;
}

static void spoil_callee(Fixture *f)
{
    find(f, ITEM, FLOW_CALL, 0)->network = ITEM;
}

static void spoil_arguments(Fixture *f)
{
    find(f, ITEM, FLOW_CALL, 0)->network = SMALL;
}

static void spoil_tail_call(Fixture *f)
{
    find(f, PAIRS, FLOW_TAIL_CALL, 0)->network = f->program.networks.count;
    start_network(f, "other", false);
    set_signature(f, TYPE_INT, TYPE_INT);
}

static void spoil_space(Fixture *f)
{
    find(f, SMALL, FLOW_FOLD, 0)->space = 99;
}

static void spoil_parent(Fixture *f)
{
    find_space(f, SMALL, SPACE_FILTER)->parent = 99;
}

static void spoil_base(Fixture *f)
{
    find_space(f, SMALL, SPACE_FLAT)->points = 77;
}

static void spoil_space_driver(Fixture *f)
{
    find_space(f, SMALL, SPACE_RANGE)->driver = 1;
}

static void spoil_space_ends(Fixture *f)
{
    find_space(f, SMALL, SPACE_RANGE)->ends = 1;
}

static void spoil_space_flags(Fixture *f)
{
    find_space(f, SMALL, SPACE_FILTER)->flags = find(f, SMALL, FLOW_SLICES, 0)->outputs[0];
}

static void spoil_space_single(Fixture *f)
{
    find_space(f, SMALL, SPACE_FILTER)->segments = SEGMENTS_SINGLE;
}

static void spoil_space_count(Fixture *f)
{
    FlowSpace *space = find_space(f, PAIRS, SPACE_RANGE);
    space->count = (FlowOperand){.type = SCALAR_I64, .stream = 2};
}

static void spoil_unit(Fixture *f)
{
    find_space(f, SMALL, SPACE_UNIT)->points = 2;
}

static void spoil_root(Fixture *f)
{
    find_space(f, SMALL, SPACE_RANGE)->kind = SPACE_ROOT;
}

static void spoil_result(Fixture *f)
{
    f->program.networks.items[ITEM]->results[0] = SCALAR_F64;
}

static void spoil_result_space(Fixture *f)
{
    f->program.networks.items[ITEM]->result[0].stream = find(f, ITEM, FLOW_RANGE, 0)->outputs[0];
}

static void spoil_return(Fixture *f)
{
    f->program.networks.items[SMALL]->nodes.count--;
}

static void spoil_parameters(Fixture *f)
{
    f->program.networks.items[ITEM]->parameter_count = 1;
    f->program.networks.items[ITEM]->parameters = f->program.networks.items[ITEM]->results;
}

static void check_spoiled(void (*spoil)(Fixture *), const char *part, int line)
{
    Fixture f;
    set_up(&f);
    make_all(&f);
    spoil(&f);
    const char *message = flow_check(&f.program, 0);
    if (message == NULL || strstr(message, part) == NULL) {
        failures++;
        fprintf(stderr, "%s:%d: found\n%s\nexpected\n%s\n", __FILE__, line, message == NULL ? "nothing wrong" : message,
                part);
    }
    flow_print(&f.program, &f.text); /* whatever is wrong can be looked at */
    tear_down(&f);
}

static void test_spoiled(void)
{
    static const struct {
        void (*spoil)(Fixture *);
        const char *part;
        int line;
    } rows[] = {
        {spoil_input_type, "slices(a, a, s1) leaf 0 over C1/root by e2: input 2 has type array, expected int", __LINE__},
        {spoil_operand_type, "a.start, has type int, but the operand says float", __LINE__},
        {spoil_output_type, "output 1 has type int, expected array", __LINE__},
        {spoil_variable_type, "output 1 has type bool, expected int", __LINE__},
        {spoil_input_space, "input 1, slot, is on root, expected one on F2", __LINE__},
        {spoil_output_space, "output 1, s3.1, is on unit, expected one on root", __LINE__},
        {spoil_input_count, "3 inputs, expected 4", __LINE__},
        {spoil_output_count, "2 outputs, expected 3", __LINE__},
        {spoil_repeated, "3 inputs, expected 4", __LINE__},
        {spoil_layout, "input 2 has type int, expected float", __LINE__},
        {spoil_layout_count, "4 inputs, expected 5", __LINE__},
        {spoil_no_layout, "it has no layout", __LINE__},
        {spoil_driver, "input 2 is a constant, expected a stream read point by point", __LINE__},
        {spoil_ends, "input 2 has type int, expected ends", __LINE__},
        {spoil_ends_space, "input 2, e4, is on C1, expected one on root", __LINE__},
        {spoil_segments, "its segments are single, but the parent of its space is not unit", __LINE__},
        {spoil_regular, "its space does not have that number of points under each parent", __LINE__},
        {spoil_uniform, "s3, is uniform but not on unit", __LINE__},
        {spoil_points, "1 < 2: no input is read point by point on C1", __LINE__},
        {spoil_order, "input 1, x.2, is not made by an earlier node", __LINE__},
        {spoil_stream, "an input is stream 99, which does not exist", __LINE__},
        {spoil_dead_stream, "no node makes input 1", __LINE__},
        {spoil_maker, "output 1 says that another node makes it", __LINE__},
        {spoil_made_twice, "s1 is made twice", __LINE__},
        {spoil_use, "nobody reads what it makes", __LINE__},
        {spoil_after, "it waits for node 99, which is not earlier", __LINE__},
        {spoil_flags, "its flags are not those of the filter", __LINE__},
        {spoil_make, "it makes 1 values for each parent, but its space has another number of points", __LINE__},
        {spoil_operation, "sum is no operation on scalars", __LINE__},
        {spoil_scheme, "its types do not match (a, a) -> a", __LINE__},
        {spoil_class, "its types do not match a -> a :: (a in floating)", __LINE__},
        {spoil_fold, "its types do not match c[bool] -> int", __LINE__},
        {spoil_scalar, "`scalar` is not the type of its first input", __LINE__},
        {spoil_callee, "there is no network 3 to call", __LINE__},
        {spoil_arguments, "call small(s3, s4): 2 inputs, expected 4", __LINE__},
        {spoil_tail_call, "the function called gives other results", __LINE__},
        {spoil_space, "there is no space 99", __LINE__},
        {spoil_parent, "its parent, 99, is no earlier space", __LINE__},
        {spoil_base, "space S3 (5): its points are not those of its base", __LINE__},
        {spoil_space_driver, "driver, slot, is on root, expected one on C1", __LINE__},
        {spoil_space_ends, "ends, slot, has type int, expected ends", __LINE__},
        {spoil_space_flags, "flags, x, has type int, expected bool", __LINE__},
        {spoil_space_single, "its segments are single, but its parent is not unit", __LINE__},
        {spoil_space_count, "it is regular, but its count is not on unit", __LINE__},
        {spoil_unit, "the first space must be unit", __LINE__},
        {spoil_root, "a space of kind root cannot be here", __LINE__},
        {spoil_result, "result 1 has type int, expected float", __LINE__},
        {spoil_result_space, "result 1 is not on unit", __LINE__},
        {spoil_return, "function small: no node returns", __LINE__},
        {spoil_parameters, "1 outputs, expected 2", __LINE__},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_spoiled(rows[i].spoil, rows[i].part, rows[i].line);
}

static void run(void (*test)(Fixture *))
{
    Fixture f;
    set_up(&f);
    test(&f);
    tear_down(&f);
}

int main(void)
{
    run(test_print);
    run(test_counts);
    test_spoiled();
    return failures == 0 ? 0 : 1;
}
