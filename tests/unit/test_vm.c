/* The VM on small networks made by hand, at several sizes of chunks; every byte is given back. */
#include "vm/vm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Fixture {
    Memory memory;
    Memory vm_memory; /* apart, so that the engine's bytes can be counted */
    Arena arena;
    Names names;
    Types types;
    Sources sources;
    Diagnostics diagnostics;
    Layouts layouts;
    CoreProgram core;
    FlowProgram program;
    FlowNetwork *network; /* being built */
    uint64_t max_depth;
    uint64_t chunk;
    bool is_long; /* tried at the first and the last size of chunks only */
    VmStats stats;
    int failures;
} Fixture;

static const uint64_t chunks[] = {1, 2, 7, 1000, 0};
enum { CHUNK_COUNT = sizeof chunks / sizeof *chunks };

/* ---- building ---- */

static void set_up(Fixture *f)
{
    int failures = f->failures;
    memset(f, 0, sizeof *f);
    f->failures = failures;
    f->max_depth = 1000000;
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    types_init(&f->types, &f->arena, &f->names);
    sources_init(&f->sources, &f->arena);
    diagnostics_init(&f->diagnostics, &f->arena, &f->sources);
    layouts_init(&f->layouts, &f->arena, &f->types);
    core_program_init(&f->core, &f->arena, &f->types, &f->names);
    f->program = (FlowProgram){.arena = &f->arena, .core = &f->core, .layouts = &f->layouts};
    *vec_push(&f->arena, &f->program.networks) = NULL;
}

static void tear_down(Fixture *f)
{
    arena_free(&f->arena);
    if (f->memory.live_bytes != 0) {
        f->failures++;
        fprintf(stderr, "%zu bytes are lost\n", f->memory.live_bytes);
    }
}

static FlowNetworkId begin_network(Fixture *f, bool is_item)
{
    f->network = ARENA_NEW(&f->arena, FlowNetwork);
    f->network->is_item = is_item;
    FlowNetworkId id = f->program.networks.count;
    *vec_push(&f->arena, &f->program.networks) = f->network;
    *vec_push(&f->arena, &f->network->spaces) = (FlowSpace){0};
    *vec_push(&f->arena, &f->network->streams) = (FlowStream){0};
    *vec_push(&f->arena, &f->network->spaces) = (FlowSpace){.kind = SPACE_UNIT, .points = FLOW_UNIT};
    if (!is_item)
        *vec_push(&f->arena, &f->network->spaces) =
            (FlowSpace){.kind = SPACE_ROOT, .parent = FLOW_UNIT, .points = FLOW_ROOT};
    return id;
}

static FlowSpaceId space(Fixture *f, FlowSpaceKind kind, FlowSpaceId parent)
{
    FlowSpaceId id = f->network->spaces.count;
    *vec_push(&f->arena, &f->network->spaces) = (FlowSpace){.kind = kind, .parent = parent, .points = id};
    return id;
}

static FlowOperand integer(int64_t value)
{
    return (FlowOperand){.type = SCALAR_I64, .is_constant = true, .constant = {.integer = value}};
}

static FlowOperand uniform(FlowOperand operand)
{
    operand.is_uniform = !operand.is_constant;
    return operand;
}

/* A node with inputs; those after the last one that counts are not looked at. */
static FlowNode *node(Fixture *f, FlowOp op, FlowSpaceId at, uint32_t count, ...)
{
    FlowNode *made = vec_push(&f->arena, &f->network->nodes);
    *made = (FlowNode){.op = op, .space = at, .input_count = count};
    made->inputs = ARENA_ARRAY(&f->arena, FlowOperand, count);
    made->outputs = ARENA_ARRAY(&f->arena, FlowStreamId, 8);
    va_list operands;
    va_start(operands, count);
    for (uint32_t i = 0; i < count; i++)
        made->inputs[i] = va_arg(operands, FlowOperand);
    va_end(operands);
    return made;
}

/* A further output of the node made last. */
static FlowOperand output(Fixture *f, LeafType type, FlowSpaceId at)
{
    FlowStreamId id = f->network->streams.count;
    *vec_push(&f->arena, &f->network->streams) =
        (FlowStream){.type = type, .space = at, .node = f->network->nodes.count - 1};
    FlowNode *made = &vec_last(&f->network->nodes);
    made->outputs[made->output_count++] = id;
    return (FlowOperand){.type = type, .stream = id};
}

static FlowOperand operation(Fixture *f, Op op, LeafType result, FlowSpaceId at, uint32_t count, FlowOperand a,
                             FlowOperand b)
{
    FlowNode *made = node(f, FLOW_OPERATION, at, count, a, b);
    made->core_op = op;
    made->scalar = (ScalarType)a.type;
    return output(f, result, at);
}

static FlowOperand add(Fixture *f, FlowSpaceId at, FlowOperand a, FlowOperand b)
{
    return operation(f, OP_ADD, a.type, at, 2, a, b);
}

/* {0, ..., count - 1} below unit. */
static FlowOperand range(Fixture *f, FlowOperand count, FlowSpaceId *made)
{
    *made = space(f, SPACE_RANGE, FLOW_UNIT);
    node(f, FLOW_RANGE, *made, 1, count);
    return output(f, SCALAR_I64, *made);
}

/* The same below each point; gives the ends too. */
static FlowOperand ranges(Fixture *f, FlowOperand count, FlowSpaceId parent, FlowSpaceId *made, FlowOperand *ends)
{
    *made = space(f, SPACE_RANGE, parent);
    node(f, FLOW_RANGE, *made, 1, count)->segments = SEGMENTS_ENDS;
    FlowOperand index = output(f, SCALAR_I64, *made);
    *ends = output(f, LEAF_ENDS, parent);
    return index;
}

static FlowOperand filter(Fixture *f, FlowOperand flags, bool keep, FlowSpaceId parent, FlowSpaceId *made)
{
    *made = space(f, SPACE_FILTER, parent);
    node(f, FLOW_FILTER, *made, 1, flags)->keep = keep;
    return output(f, LEAF_POINTS, *made);
}

static FlowOperand pack(Fixture *f, FlowOperand x, FlowOperand flags, bool keep, FlowSpaceId at)
{
    node(f, FLOW_PACK, at, 2, x, flags)->keep = keep;
    return output(f, x.type, at);
}

static FlowOperand flag_ends(Fixture *f, FlowOperand flags, bool keep, FlowSpaceId parent)
{
    node(f, FLOW_FLAG_ENDS, parent, 1, flags)->keep = keep;
    return output(f, LEAF_ENDS, parent);
}

static FlowOperand sum_single(Fixture *f, FlowOperand x, FlowSpaceId at)
{
    node(f, FLOW_FOLD, at, 1, x)->core_op = OP_SUM;
    return output(f, x.type, FLOW_UNIT);
}

static FlowOperand sum_by_ends(Fixture *f, FlowOperand x, FlowOperand ends, FlowSpaceId at, FlowSpaceId parent)
{
    FlowNode *made = node(f, FLOW_FOLD, at, 2, x, ends);
    made->core_op = OP_SUM;
    made->segments = SEGMENTS_ENDS;
    return output(f, x.type, parent);
}

/* A vector on unit of a stream on a child of unit, as the network's result. */
static void give_vector(Fixture *f, FlowOperand x, FlowSpaceId at, TypeId element)
{
    node(f, FLOW_COLLECT, at, 2, x, x)->layout = layout_of(&f->layouts, element);
    FlowOperand *result = ARENA_ARRAY(&f->arena, FlowOperand, 3);
    result[0] = output(f, LEAF_ARRAY, FLOW_UNIT);
    result[1] = output(f, SCALAR_I64, FLOW_UNIT);
    result[2] = output(f, SCALAR_I64, FLOW_UNIT);
    f->network->result = result;
    f->network->result_count = 3;
}

static void give(Fixture *f, FlowOperand x)
{
    f->network->result = ARENA_ARRAY(&f->arena, FlowOperand, 1);
    f->network->result[0] = x;
    f->network->result_count = 1;
}

/* ---- running ---- */

static TypeId ints(Fixture *f)
{
    return type_vector(&f->types, TYPE_INT);
}

/* Runs the network as an item; gives the value or the error as text. */
static void run(Fixture *f, FlowNetworkId network, TypeId type, Text *text)
{
    VmOptions options = {.max_depth = f->max_depth, .chunk = f->chunk};
    text_clear(text);
    diagnostics_clear(&f->diagnostics);
    Vm *vm = vm_new(&f->vm_memory, &f->program, &f->diagnostics, options);
    CoreBlock block = {.result = {.type = type}};
    CoreItem item = {.block = &block};
    f->program.by_item.count = 0;
    *vec_push(&f->arena, &f->program.by_item) = network;
    Value value;
    if (vm_run_item(vm, 0, &item, NULL, &value)) {
        value_print(&f->types, type, value, (ValueFormat){VALUE_STYLE_RUNNEL, 0}, text);
        value_release(vm_heap(vm), &f->types, type, value);
    } else
        text_add(text, f->diagnostics.list.items[0].message);
    f->stats = *vm_stats(vm);
    vm_free(vm);
}

static void expect(Fixture *f, FlowNetworkId network, TypeId type, const char *expected, const char *what)
{
    Text text;
    text_init(&text, &f->memory);
    for (int i = 0; i < CHUNK_COUNT; i += f->is_long ? CHUNK_COUNT - 1 : 1) {
        f->chunk = chunks[i];
        run(f, network, type, &text);
        if (strcmp(text_string(&text), expected) != 0) {
            f->failures++;
            fprintf(stderr, "%s, chunks of %d: found    %s\n    expected %s\n", what, (int)chunks[i], text_string(&text),
                    expected);
        }
        if (f->vm_memory.live_bytes != 0) {
            f->failures++;
            fprintf(stderr, "%s, chunks of %d: %zu bytes are lost\n", what, (int)chunks[i], f->vm_memory.live_bytes);
            f->vm_memory.live_bytes = 0;
        }
    }
    text_free(&text);
}

/* ---- one level ---- */

static void test_sum_of_logs(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId points;
    FlowOperand i = range(f, integer(10000), &points);
    FlowOperand x = operation(f, OP_TO_F64, SCALAR_F64, points, 1, add(f, points, i, integer(1)), integer(0));
    give(f, sum_single(f, operation(f, OP_LN, SCALAR_F64, points, 1, x, x), points));
    expect(f, id, TYPE_FLOAT, "82108.92783681434", "sum of logs");
    tear_down(f);
}

static void test_empty_range(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId points;
    FlowOperand i = range(f, integer(0), &points);
    give(f, sum_single(f, i, points));
    expect(f, id, TYPE_INT, "0", "the sum of nothing");

    id = begin_network(f, true);
    give_vector(f, range(f, integer(0), &points), points, TYPE_INT);
    expect(f, id, ints(f), "[]", "the vector of nothing");

    id = begin_network(f, true);
    FlowOperand driver = range(f, integer(0), &points);
    node(f, FLOW_EMPTY, points, 1, driver);
    give(f, output(f, SCALAR_BOOL, FLOW_UNIT));
    expect(f, id, TYPE_BOOL, "true", "nothing is empty");
    tear_down(f);
}

static FlowOperand is_even(Fixture *f, FlowOperand x, FlowSpaceId at)
{
    FlowOperand half = operation(f, OP_REMAINDER, SCALAR_I64, at, 2, x, integer(2));
    return operation(f, OP_EQUAL, SCALAR_BOOL, at, 2, half, integer(0));
}

static void test_filter_and_merge(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId points, evens, odds;
    FlowOperand i = range(f, integer(11), &points);
    FlowOperand flags = is_even(f, i, points);
    filter(f, flags, true, points, &evens);
    filter(f, flags, false, points, &odds);
    FlowOperand even = add(f, evens, pack(f, i, flags, true, evens), integer(100));
    FlowOperand odd = add(f, odds, pack(f, i, flags, false, odds), integer(200));
    node(f, FLOW_MERGE, points, 3, flags, odd, even);
    FlowOperand both = output(f, SCALAR_I64, points);
    node(f, FLOW_MERGE, points, 3, flags, i, uniform(integer(7)));
    FlowOperand direct = output(f, SCALAR_I64, points);
    node(f, FLOW_MERGE, points, 3, flags, direct, even);
    FlowOperand mixed = output(f, SCALAR_I64, points);
    give_vector(f, add(f, points, both, mixed), points, TYPE_INT);
    expect(f, id, ints(f), "[200, 202, 204, 206, 208, 210, 212, 214, 216, 218, 220]", "filter and merge");
    tear_down(f);
}

static void test_make(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId points, made, flat;
    FlowOperand i = range(f, integer(3), &points);
    made = space(f, SPACE_RANGE, points);
    node(f, FLOW_MAKE, made, 4, i, i, integer(9), add(f, points, i, integer(1)));
    FlowOperand values = output(f, SCALAR_I64, made);
    FlowNode *scan = node(f, FLOW_SCAN, made, 3, values, i, integer(3));
    scan->segments = SEGMENTS_REGULAR;
    scan->core_op = OP_PLUS_SCAN_INCLUSIVE;
    values = output(f, SCALAR_I64, made);
    FlowNode *length = node(f, FLOW_LENGTH, made, 3, values, i, integer(3));
    length->segments = SEGMENTS_REGULAR;
    FlowOperand lengths = output(f, SCALAR_I64, points);
    FlowNode *distribute = node(f, FLOW_DISTRIBUTE, made, 4, lengths, values, i, integer(3));
    distribute->segments = SEGMENTS_REGULAR;
    values = add(f, made, values, output(f, SCALAR_I64, made));
    flat = space(f, SPACE_FLAT, FLOW_UNIT);
    give_vector(f, values, flat, TYPE_INT);
    expect(f, id, ints(f), "[3, 12, 13, 4, 13, 15, 5, 14, 17]", "make, scan, distribute on regular segments");
    tear_down(f);
}

/* ---- two levels ---- */

static void test_nested_sums(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId outer, inner;
    FlowOperand ends, i = range(f, integer(10), &outer);
    FlowOperand count = operation(f, OP_REMAINDER, SCALAR_I64, outer, 2, i, integer(4));
    FlowOperand j = ranges(f, count, outer, &inner, &ends);
    FlowNode *distribute = node(f, FLOW_DISTRIBUTE, inner, 3, i, j, ends);
    distribute->segments = SEGMENTS_ENDS;
    FlowOperand x = add(f, inner, operation(f, OP_MULTIPLY, SCALAR_I64, inner, 2, output(f, SCALAR_I64, inner), integer(10)), j);
    give_vector(f, sum_by_ends(f, x, ends, inner, outer), outer, TYPE_INT);
    expect(f, id, ints(f), "[0, 10, 41, 93, 0, 50, 121, 213, 0, 90]", "nested sums");
    tear_down(f);
}

/* Under each of many parents nothing, but for a few. */
static void test_empty_segments(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId outer, inner;
    f->is_long = true;
    FlowOperand ends, i = range(f, integer(300000), &outer);
    FlowOperand rest = operation(f, OP_REMAINDER, SCALAR_I64, outer, 2, i, integer(100000));
    FlowOperand flags = operation(f, OP_EQUAL, SCALAR_BOOL, outer, 2, rest, integer(99999));
    FlowOperand count = operation(f, OP_BTOI, SCALAR_I64, outer, 1, flags, flags);
    FlowOperand j = ranges(f, count, outer, &inner, &ends);
    FlowNode *distribute = node(f, FLOW_DISTRIBUTE, inner, 3, i, j, ends);
    distribute->segments = SEGMENTS_ENDS;
    FlowOperand x = output(f, SCALAR_I64, inner);
    FlowNode *index = node(f, FLOW_LOCAL_INDEX, inner, 2, x, ends);
    index->segments = SEGMENTS_ENDS;
    x = add(f, inner, x, output(f, SCALAR_I64, inner));
    FlowOperand sums = sum_by_ends(f, x, ends, inner, outer);
    FlowNode *empty = node(f, FLOW_EMPTY, inner, 2, x, ends);
    empty->segments = SEGMENTS_ENDS;
    FlowOperand is_empty = output(f, SCALAR_BOOL, outer);
    FlowOperand ones = operation(f, OP_BTOI, SCALAR_I64, outer, 1, is_empty, is_empty);
    give(f, sum_single(f, add(f, outer, sums, ones), outer));
    expect(f, id, TYPE_INT, "899994", "many empty segments");
    tear_down(f);
}

static FlowOperand collect(Fixture *f, FlowOperand x, FlowOperand ends, FlowSpaceId at, FlowSpaceId parent, FlowOperand *start,
                           FlowOperand *length)
{
    FlowNode *made = node(f, FLOW_COLLECT, at, 3, x, x, ends);
    made->segments = SEGMENTS_ENDS;
    made->layout = layout_of(&f->layouts, TYPE_INT);
    FlowOperand array = output(f, LEAF_ARRAY, parent);
    *start = output(f, SCALAR_I64, parent);
    *length = output(f, SCALAR_I64, parent);
    return array;
}

static void test_vectors(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId outer, inner, again, flat;
    FlowOperand ends, new_ends, start, length, i = range(f, integer(6), &outer);
    FlowOperand x = ranges(f, i, outer, &inner, &ends);
    FlowOperand array = collect(f, x, ends, inner, outer, &start, &length);
    FlowOperand index = ranges(f, length, outer, &again, &new_ends);
    FlowNode *slices = node(f, FLOW_SLICES, again, 4, array, start, index, new_ends);
    slices->segments = SEGMENTS_ENDS;
    FlowOperand copy = output(f, SCALAR_I64, again);
    /* the elements of each vector, each with the last element of its vector */
    FlowSpaceId some;
    FlowOperand has = operation(f, OP_LESS, SCALAR_BOOL, outer, 2, integer(0), length);
    filter(f, has, true, outer, &some);
    FlowOperand at = add(f, some, pack(f, length, has, true, some), integer(-1));
    node(f, FLOW_INDEX, some, 3, at, pack(f, start, has, true, some), pack(f, length, has, true, some))->core_op = OP_ELEMENT;
    at = output(f, SCALAR_I64, some);
    node(f, FLOW_GATHER, some, 2, pack(f, array, has, true, some), at);
    FlowOperand last = output(f, SCALAR_I64, some);
    node(f, FLOW_MERGE, outer, 3, has, integer(0), last);
    FlowOperand lasts = output(f, SCALAR_I64, outer);
    FlowNode *distribute = node(f, FLOW_DISTRIBUTE, again, 3, lasts, copy, new_ends);
    distribute->segments = SEGMENTS_ENDS;
    copy = add(f, again, copy, operation(f, OP_MULTIPLY, SCALAR_I64, again, 2, output(f, SCALAR_I64, again), integer(10)));
    flat = space(f, SPACE_FLAT, FLOW_UNIT);
    give_vector(f, copy, flat, TYPE_INT);
    expect(f, id, ints(f), "[0, 10, 11, 20, 21, 22, 30, 31, 32, 33, 40, 41, 42, 43, 44]", "vectors and slices");
    tear_down(f);
}

static void test_text_and_slice(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowNode *text = node(f, FLOW_TEXT, FLOW_UNIT, 0);
    text->text = "hello world";
    text->text_length = 11;
    FlowOperand array = output(f, LEAF_ARRAY, FLOW_UNIT);
    FlowNode *slice = node(f, FLOW_SLICE, FLOW_UNIT, 4, integer(0), integer(11), integer(6), integer(11));
    slice->core_op = OP_SUBSEQ;
    FlowOperand start = output(f, SCALAR_I64, FLOW_UNIT), length = output(f, SCALAR_I64, FLOW_UNIT);
    slice = node(f, FLOW_SLICE, FLOW_UNIT, 3, start, length, integer(-3));
    slice->core_op = OP_DROP;
    f->network->result = ARENA_ARRAY(&f->arena, FlowOperand, 3);
    f->network->result[0] = array;
    f->network->result[1] = output(f, SCALAR_I64, FLOW_UNIT);
    f->network->result[2] = output(f, SCALAR_I64, FLOW_UNIT);
    f->network->result_count = 3;
    expect(f, id, type_vector(&f->types, TYPE_CHAR), "\"rld\"", "text and slice");
    tear_down(f);
}

/* ---- joining ---- */

static void test_join(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId a, b, joined;
    FlowOperand x = range(f, integer(4), &a), y = range(f, integer(3), &b);
    joined = space(f, SPACE_JOIN, FLOW_UNIT);
    node(f, FLOW_JOIN, joined, 2, x, y);
    FlowOperand which = output(f, SCALAR_I32, joined);
    node(f, FLOW_MERGE, joined, 3, which, x, add(f, b, y, integer(10)));
    give_vector(f, output(f, SCALAR_I64, joined), joined, TYPE_INT);
    expect(f, id, ints(f), "[0, 1, 2, 3, 10, 11, 12]", "join");

    id = begin_network(f, true);
    x = range(f, integer(4), &a), y = range(f, integer(3), &b);
    joined = space(f, SPACE_JOIN, FLOW_UNIT);
    node(f, FLOW_JOIN, joined, 2, x, y)->core_op = OP_INTERLEAVE;
    which = output(f, SCALAR_I32, joined);
    node(f, FLOW_MERGE, joined, 3, which, x, add(f, b, y, integer(10)));
    give_vector(f, output(f, SCALAR_I64, joined), joined, TYPE_INT);
    expect(f, id, ints(f), "[0, 10, 1, 11, 2, 12, 3]", "interleave");

    id = begin_network(f, true);
    x = range(f, integer(4), &a), y = range(f, integer(300), &b);
    joined = space(f, SPACE_JOIN, FLOW_UNIT);
    node(f, FLOW_JOIN, joined, 2, x, y)->core_op = OP_INTERLEAVE;
    give_vector(f, output(f, SCALAR_I32, joined), joined, (1 + SCALAR_I32));
    expect(f, id, ints(f), "the lengths 4 and 300 differ by more than one", "interleave of different lengths");
    tear_down(f);
}

static void test_nested_join(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId outer, a, b, joined;
    FlowOperand ends_a, ends_b, i = range(f, integer(5), &outer);
    FlowOperand x = ranges(f, operation(f, OP_REMAINDER, SCALAR_I64, outer, 2, i, integer(3)), outer, &a, &ends_a);
    FlowOperand y = ranges(f, operation(f, OP_REMAINDER, SCALAR_I64, outer, 2, i, integer(2)), outer, &b, &ends_b);
    joined = space(f, SPACE_JOIN, outer);
    node(f, FLOW_JOIN, joined, 2, ends_a, ends_b)->segments = SEGMENTS_ENDS;
    FlowOperand which = output(f, SCALAR_I32, joined), ends = output(f, LEAF_ENDS, outer);
    node(f, FLOW_MERGE, joined, 3, which, add(f, a, x, integer(1)), add(f, b, y, integer(10)));
    FlowOperand z = output(f, SCALAR_I64, joined);
    give_vector(f, sum_by_ends(f, z, ends, joined, outer), outer, TYPE_INT);
    expect(f, id, ints(f), "[0, 11, 3, 10, 1]", "join below points");
    tear_down(f);
}

/* Of each point i, i points below it if i is even, else the number of points twice. */
static void test_choose(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId outer, evens, odds, a, b, chosen;
    FlowOperand ends_a, ends_b, i = range(f, integer(6), &outer), flags = is_even(f, i, outer);
    filter(f, flags, true, outer, &evens);
    filter(f, flags, false, outer, &odds);
    FlowOperand x = ranges(f, pack(f, i, flags, true, evens), evens, &a, &ends_a);
    FlowOperand y = ranges(f, pack(f, i, flags, false, odds), odds, &b, &ends_b);
    chosen = space(f, SPACE_CHOICE, outer);
    node(f, FLOW_CHOOSE, chosen, 3, flags, ends_b, ends_a);
    FlowOperand which = output(f, SCALAR_I32, chosen), ends = output(f, LEAF_ENDS, outer);
    node(f, FLOW_MERGE, chosen, 3, which, add(f, b, y, integer(100)), x);
    FlowOperand z = output(f, SCALAR_I64, chosen);
    give_vector(f, sum_by_ends(f, z, ends, chosen, outer), outer, TYPE_INT);
    expect(f, id, ints(f), "[0, 100, 1, 303, 6, 510]", "choose");
    tear_down(f);
}

/* {x : i in range, x in range(i) | x even}, seen from the points i: ends are composed. */
static void test_compose(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId outer, inner, kept;
    FlowOperand ends, i = range(f, integer(9), &outer);
    FlowOperand x = ranges(f, i, outer, &inner, &ends);
    FlowOperand flags = is_even(f, x, inner);
    filter(f, flags, true, inner, &kept);
    FlowOperand even = pack(f, x, flags, true, kept);
    node(f, FLOW_COMPOSE, outer, 2, ends, flag_ends(f, flags, true, inner));
    FlowOperand composed = output(f, LEAF_ENDS, outer);
    FlowSpaceId flat = space(f, SPACE_FLAT, outer);
    FlowOperand sums = sum_by_ends(f, even, composed, flat, outer);
    /* of the points i that are even only */
    FlowSpaceId evens;
    FlowOperand is_kept = is_even(f, i, outer);
    filter(f, is_kept, true, outer, &evens);
    give_vector(f, pack(f, sums, is_kept, true, evens), evens, TYPE_INT);
    expect(f, id, ints(f), "[0, 0, 2, 6, 12]", "composed ends");
    tear_down(f);
}

/* ---- functions ---- */

static void set_types(Fixture *f, uint32_t parameters, uint32_t results)
{
    f->network->parameters = ARENA_ARRAY(&f->arena, LeafType, parameters);
    f->network->results = ARENA_ARRAY(&f->arena, LeafType, results);
    for (uint32_t i = 0; i < parameters; i++)
        f->network->parameters[i] = SCALAR_I64;
    for (uint32_t i = 0; i < results; i++)
        f->network->results[i] = SCALAR_I64;
    f->network->parameter_count = parameters;
    f->network->result_count = results;
}

/* f(n) = if n < 1 then 1 / d else n + f(n - 1), where d is another parameter. */
static FlowNetworkId make_recursive(Fixture *f)
{
    FlowNetworkId id = begin_network(f, false);
    FlowSpaceId more, done;
    set_types(f, 2, 1);
    node(f, FLOW_PARAMETERS, FLOW_ROOT, 0);
    FlowOperand slot = output(f, SCALAR_I64, FLOW_ROOT), n = output(f, SCALAR_I64, FLOW_ROOT);
    FlowOperand d = output(f, SCALAR_I64, FLOW_ROOT);
    FlowOperand is_done = operation(f, OP_LESS, SCALAR_BOOL, FLOW_ROOT, 2, n, integer(1));
    FlowOperand driver = filter(f, is_done, false, FLOW_ROOT, &more);
    FlowOperand rest = pack(f, n, is_done, false, more);
    node(f, FLOW_CALL, more, 3, driver, add(f, more, rest, integer(-1)), pack(f, d, is_done, false, more))->network = id;
    FlowOperand called = output(f, SCALAR_I64, more);
    node(f, FLOW_RETURN, more, 2, pack(f, slot, is_done, false, more), add(f, more, rest, called));
    filter(f, is_done, true, FLOW_ROOT, &done);
    FlowOperand quotient = operation(f, OP_DIVIDE, SCALAR_I64, done, 2, integer(1), pack(f, d, is_done, true, done));
    node(f, FLOW_RETURN, done, 2, pack(f, slot, is_done, true, done), quotient);
    return id;
}

/* g(n, sum) = if n < 1 then sum else g(n - 1, sum + n) */
static FlowNetworkId make_loop(Fixture *f)
{
    FlowNetworkId id = begin_network(f, false);
    FlowSpaceId more, done;
    set_types(f, 2, 1);
    node(f, FLOW_PARAMETERS, FLOW_ROOT, 0);
    FlowOperand slot = output(f, SCALAR_I64, FLOW_ROOT), n = output(f, SCALAR_I64, FLOW_ROOT);
    FlowOperand sum = output(f, SCALAR_I64, FLOW_ROOT);
    FlowOperand is_done = operation(f, OP_LESS, SCALAR_BOOL, FLOW_ROOT, 2, n, integer(1));
    filter(f, is_done, false, FLOW_ROOT, &more);
    FlowOperand rest = pack(f, n, is_done, false, more);
    node(f, FLOW_TAIL_CALL, more, 3, pack(f, slot, is_done, false, more), add(f, more, rest, integer(-1)),
         add(f, more, pack(f, sum, is_done, false, more), rest))
        ->network = id;
    filter(f, is_done, true, FLOW_ROOT, &done);
    node(f, FLOW_RETURN, done, 2, pack(f, slot, is_done, true, done), pack(f, sum, is_done, true, done));
    return id;
}

static void test_calls(Fixture *f)
{
    set_up(f);
    FlowNetworkId function = make_recursive(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId points;
    FlowOperand i = range(f, integer(20), &points);
    node(f, FLOW_CALL, points, 3, i, i, integer(1))->network = function;
    give_vector(f, output(f, SCALAR_I64, points), points, TYPE_INT);
    expect(f, id, ints(f), "[1, 2, 4, 7, 11, 16, 22, 29, 37, 46, 56, 67, 79, 92, 106, 121, 137, 154, 172, 191]",
           "recursive calls on many points");

    id = begin_network(f, true);
    i = range(f, integer(1), &points);
    node(f, FLOW_CALL, points, 3, i, integer(100000), integer(1))->network = function;
    give_vector(f, output(f, SCALAR_I64, points), points, TYPE_INT);
    f->max_depth = 1000;
    expect(f, id, ints(f), "more than 1000 calls are nested in each other", "calls that are too deep");
    f->is_long = true;
    f->max_depth = 100001;
    expect(f, id, ints(f), "[5000050001]", "calls that are just not too deep");
    f->max_depth = 100000;
    expect(f, id, ints(f), "more than 100000 calls are nested in each other", "calls that are just too deep");
    tear_down(f);
}

static void test_tail_calls(Fixture *f)
{
    set_up(f);
    FlowNetworkId function = make_loop(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId points;
    FlowOperand i = range(f, integer(20), &points);
    node(f, FLOW_CALL, points, 3, i, i, integer(0))->network = function;
    give_vector(f, output(f, SCALAR_I64, points), points, TYPE_INT);
    expect(f, id, ints(f), "[0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105, 120, 136, 153, 171, 190]",
           "loops on many points");

    id = begin_network(f, true);
    i = range(f, integer(1), &points);
    node(f, FLOW_CALL, points, 3, i, integer(100000), integer(0))->network = function;
    give_vector(f, output(f, SCALAR_I64, points), points, TYPE_INT);
    f->max_depth = 1;
    f->is_long = true;
    expect(f, id, ints(f), "[5000050000]", "a long loop");
    tear_down(f);
}

/* ---- failures ---- */

static void test_failures(Fixture *f)
{
    set_up(f);
    FlowNetworkId id = begin_network(f, true);
    FlowSpaceId points;
    FlowOperand i = range(f, integer(5000), &points);
    FlowOperand a = operation(f, OP_DIVIDE, SCALAR_I64, points, 2, integer(1), add(f, points, i, integer(-4500)));
    FlowOperand b = operation(f, OP_POWER, SCALAR_I64, points, 2, integer(2),
                              operation(f, OP_SUBTRACT, SCALAR_I64, points, 2, integer(3000), i));
    FlowOperand total = sum_single(f, add(f, points, a, b), points);
    give(f, total);
    expect(f, id, TYPE_INT, "the exponent of ^ must not be negative, it is -1", "the first point that fails");

    FlowNetworkId function = make_recursive(f);
    id = begin_network(f, true);
    i = range(f, integer(100), &points);
    FlowOperand d = operation(f, OP_SUBTRACT, SCALAR_I64, points, 2, integer(60), i);
    FlowNode *call = node(f, FLOW_CALL, points, 3, i, i, d);
    call->network = function;
    FlowOperand x = output(f, SCALAR_I64, points);
    operation(f, OP_POWER, SCALAR_I64, points, 2, integer(2), operation(f, OP_SUBTRACT, SCALAR_I64, points, 2, integer(50), x));
    give(f, sum_single(f, x, points));
    expect(f, id, TYPE_INT, "the exponent of ^ must not be negative, it is -5", "results before a call that fails");
    id = begin_network(f, true);
    i = range(f, integer(100), &points);
    d = operation(f, OP_SUBTRACT, SCALAR_I64, points, 2, integer(60), i);
    call = node(f, FLOW_CALL, points, 3, i, i, d);
    call->network = function;
    give(f, sum_single(f, output(f, SCALAR_I64, points), points));
    expect(f, id, TYPE_INT, "division by zero", "a call that fails");
    tear_down(f);
}

int main(void)
{
    Fixture fixture = {0};
    test_sum_of_logs(&fixture);
    test_empty_range(&fixture);
    test_filter_and_merge(&fixture);
    test_make(&fixture);
    test_nested_sums(&fixture);
    test_empty_segments(&fixture);
    test_vectors(&fixture);
    test_text_and_slice(&fixture);
    test_join(&fixture);
    test_nested_join(&fixture);
    test_choose(&fixture);
    test_compose(&fixture);
    test_calls(&fixture);
    test_tail_calls(&fixture);
    test_failures(&fixture);
    return fixture.failures == 0 ? 0 : 1;
}
