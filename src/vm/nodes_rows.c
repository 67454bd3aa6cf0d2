#include "vm/nodes_rows.h"

#include "math/random.h"
#include "vm/movement.h"
#include "vm/team_check.h"

#include <string.h>

enum { ROWS_DRIVER, ROWS_ARGUMENTS };
enum { VECTOR_LEAVES = 3 };

/* A firing stops after the row that makes more elements than this: vectors of one firing share an array, and the last of them to be
 * dropped keeps it alive. */
enum { ROWS_ELEMENTS_MAX = 1 << 16 };

enum {
    /* estimates, in one thread */
    ROW_PICOSECONDS = 30000, /* two values compared, or one hashed */
};

/* ---- arguments ---- */

uint32_t rows_leaf_of(const RowsCall *call, uint32_t argument)
{
    uint32_t leaf = 0;
    for (uint32_t i = 0; i < argument; i++)
        leaf += call->node->layouts[i]->count;
    return leaf;
}

int64_t rows_integer(const RowsCall *call, uint32_t leaf, size_t row)
{
    Cells cells = call->arguments[leaf];
    return ((const int64_t *)cells.data)[cells_index(cells, row)];
}

/* A vector among the arguments. */
typedef struct Slice {
    const Array *array;
    size_t start, length;
} Slice;

static Slice slice_argument(const RowsCall *call, uint32_t leaf, size_t row)
{
    Cells arrays = call->arguments[leaf];
    return (Slice){
        .array = ((Array *const *)arrays.data)[cells_index(arrays, row)],
        .start = (size_t)rows_integer(call, leaf + 1, row),
        .length = (size_t)rows_integer(call, leaf + 2, row),
    };
}

void rows_add_text(const RowsCall *call, uint32_t leaf, size_t row, Text *out)
{
    Slice slice = slice_argument(call, leaf, row);
    if (slice.length == 0)
        return;
    Cells chars = array_cells(slice.array, 0, slice.start);
    if (chars.is_uniform)
        text_add_repeated(out, *(const char *)chars.data, slice.length);
    else
        text_add_bytes(out, chars.data, slice.length);
}

/* ---- results ---- */

/* The leaf of the result that is an array: no operation but READ_VALUE gives more than one vector. */
static uint32_t vector_leaf(const Layout *layout)
{
    uint32_t leaf = 0;
    while (leaf < layout->count && layout->leaves[leaf].type != LEAF_ARRAY)
        leaf++;
    return leaf;
}

void rows_give_vector(RowsCall *call, uint32_t leaf, size_t row, size_t length)
{
    ((int64_t *)call->results[leaf + 1])[row] = (int64_t)(call->state->vectors->count - length);
    ((int64_t *)call->results[leaf + 2])[row] = (int64_t)length;
}

void rows_give_text(RowsCall *call, uint32_t leaf, size_t row, const char *bytes, size_t length)
{
    Cells chars = {.data = bytes};
    array_append(call->firing->vm->memory, call->firing->vm->team, call->state->vectors, &chars, 0, length);
    rows_give_vector(call, leaf, row, length);
}

void rows_give_string(RowsCall *call, uint32_t leaf, size_t row, const char *string)
{
    rows_give_text(call, leaf, row, string, string == NULL ? 0 : strlen(string));
}

static void give_bool(const RowsCall *call, size_t row, bool value)
{
    ((bool *)call->results[0])[row] = value;
}

static void give_integer(const RowsCall *call, uint32_t leaf, size_t row, int64_t value)
{
    ((int64_t *)call->results[leaf])[row] = value;
}

/* ---- comparing ---- */

static bool compare(RowsCall *call, size_t row, unsigned accepted)
{
    const Layout *layout = call->node->layouts[0];
    Order order = rows_order(layout, call->arguments, row, call->arguments + layout->count, row);
    give_bool(call, row, (order & accepted) != 0);
    return true;
}

#define SCALAR_COMPARISON(OP, orders)                                                                                 \
    static bool row_compare_##OP(RowsCall *call, size_t row)                                                          \
    {                                                                                                                 \
        return compare(call, row, orders);                                                                            \
    }
#include "math/scalar_ops.def"

static bool row_same(RowsCall *call, size_t row)
{
    const Layout *layout = call->node->layouts[0];
    give_bool(call, row, rows_compare(layout, call->arguments, row, call->arguments + layout->count, row) == 0);
    return true;
}

static bool row_hash(RowsCall *call, size_t row)
{
    const Layout *layout = call->node->layouts[0];
    int64_t limit = rows_integer(call, layout->count, row);
    if (limit <= 0)
        return false;
    uint64_t bits = rows_hash(layout, call->arguments, row, 0);
    give_integer(call, 0, row, (int64_t)random_below(bits, (uint64_t)limit));
    return true;
}

static void fail_hash(RowsCall *call, size_t row)
{
    failure_hash(rows_fail(call, row), rows_integer(call, call->node->layouts[0]->count, row));
}

/* ---- texts ---- */

static void print_row(const RowsCall *call, size_t row, Text *out)
{
    Types *types = call->firing->vm->types;
    Heap *heap = &call->firing->vm->heap;
    const Layout *layout = call->node->layouts[0];
    if (type_kind(types, layout->type) == TYPE_SCALAR) {
        ScalarType type = type_scalar(types, layout->type);
        value_print_scalar(type, cells_scalar(type, call->arguments[0], row), VALUE_STYLE_STRING, out);
        return;
    }
    Value value = rows_value(heap, types, layout, call->arguments, row);
    value_print(types, layout->type, value, (ValueFormat){.style = VALUE_STYLE_STRING}, out);
    value_release(heap, types, layout->type, value);
}

static bool row_string(RowsCall *call, size_t row)
{
    Text *text = &call->state->text;
    text_clear(text);
    print_row(call, row, text);
    rows_give_text(call, 0, row, text_string(text), text->length);
    return true;
}

static bool row_exp_string(RowsCall *call, size_t row)
{
    Text *text = &call->state->text;
    int64_t digits = rows_integer(call, 1, row);
    if (digits < 1)
        return failure_exp_string(rows_fail(call, row), digits);
    text_clear(text);
    value_print_exponent(cells_scalar(SCALAR_F64, call->arguments[0], row).f64, digits, text);
    rows_give_text(call, 0, row, text_string(text), text->length);
    return true;
}

static bool parse_number(RowsCall *call, size_t row, ScalarType type)
{
    Text *text = &call->state->text;
    text_clear(text);
    rows_add_text(call, 0, row, text);
    Scalar number;
    bool is_number = value_read_number(call->firing->vm->memory, type, text_string(text), text->length, &number);
    cells_set_scalar(type, call->results[0], row, number);
    ((bool *)call->results[1])[row] = is_number;
    return true;
}

static bool row_parse_int(RowsCall *call, size_t row)
{
    return parse_number(call, row, SCALAR_I64);
}

static bool row_parse_float(RowsCall *call, size_t row)
{
    return parse_number(call, row, SCALAR_F64);
}

/* ---- vectors ---- */

static void *scratch(RowsCall *call, size_t count, size_t size)
{
    RowsState *state = call->state;
    Memory *memory = call->firing->vm->memory;
    if (count > SIZE_MAX / size)
        memory_fail(memory);
    if (count * size > state->scratch_size) {
        memory_free(memory, state->scratch, state->scratch_size);
        state->scratch_size = 0;
        state->scratch = NULL;
        state->scratch = memory_alloc(memory, count * size);
        state->scratch_size = count * size;
    }
    return state->scratch;
}

/* Rows from the first on, as many as one firing is for; gives their number and that of their elements. */
static size_t count_sorted(const RowsCall *call, size_t *elements)
{
    size_t rows = 0;
    for (*elements = 0; rows < call->count && *elements <= ROWS_ELEMENTS_MAX; rows++)
        *elements += slice_argument(call, 0, rows).length;
    return rows;
}

typedef void SliceSort(Team *team, const Grade *slices, size_t count, bool is_descending);

/* Vectors as long as the argument's, whose elements `sort` writes. */
static size_t sort_slices(RowsCall *call, SliceSort *sort, bool is_descending)
{
    Array *vectors = call->state->vectors;
    size_t elements, start = vectors->count, rows = count_sorted(call, &elements);
    Grade *slices = scratch(call, rows, sizeof *slices);
    array_extend(call->firing->vm->memory, vectors, elements);
    char *out = vectors->columns[0].data;
    size_t size = leaf_size(vectors->layout->leaves[0].type);
    for (size_t row = 0; row < rows; row++) {
        Slice slice = slice_argument(call, 0, row);
        slices[row] = (Grade){slice.array, slice.start, slice.length, slice.length == 0 ? NULL : out + start * size};
        give_integer(call, 1, row, (int64_t)start);
        give_integer(call, 2, row, (int64_t)slice.length);
        start += slice.length;
    }
    sort(call->firing->vm->team, slices, rows, is_descending);
    return rows;
}

static size_t rows_grade_up(RowsCall *call)
{
    return sort_slices(call, arrays_grade, false);
}

static size_t rows_grade_down(RowsCall *call)
{
    return sort_slices(call, arrays_grade, true);
}

static size_t rows_rank_up(RowsCall *call)
{
    return sort_slices(call, arrays_rank, false);
}

static size_t rows_rank_down(RowsCall *call)
{
    return sort_slices(call, arrays_rank, true);
}

static size_t rows_sort_up(RowsCall *call)
{
    return sort_slices(call, arrays_sort, false);
}

static size_t rows_sort_down(RowsCall *call)
{
    return sort_slices(call, arrays_sort, true);
}

static bool row_replace(RowsCall *call, size_t row)
{
    Memory *memory = call->firing->vm->memory;
    Slice slice = slice_argument(call, 0, row);
    int64_t index = rows_integer(call, rows_leaf_of(call, 2), row);
    if (index < 0 || (uint64_t)index >= slice.length)
        return failure_index(rows_fail(call, row), OP_REPLACE, index, slice.length);
    size_t place = (size_t)index;
    Array *vectors = call->state->vectors;
    array_reserve(memory, vectors, slice.length);
    array_append_slice(memory, call->firing->vm->team, vectors, slice.array, slice.start, place);
    array_append(memory, call->firing->vm->team, vectors, call->arguments + VECTOR_LEAVES, row, 1);
    array_append_slice(memory, call->firing->vm->team, vectors, slice.array, slice.start + place + 1, slice.length - place - 1);
    rows_give_vector(call, 0, row, slice.length);
    return true;
}

/* ---- transposing ---- */

/* The inner vector at position `i` of a vector of vectors. */
static Slice inner_slice(Slice outer, size_t i)
{
    Cells arrays = array_cells(outer.array, 0, outer.start), starts = array_cells(outer.array, 1, outer.start);
    Cells lengths = array_cells(outer.array, 2, outer.start);
    return (Slice){
        .array = ((Array *const *)arrays.data)[cells_index(arrays, i)],
        .start = (size_t)((const int64_t *)starts.data)[cells_index(starts, i)],
        .length = (size_t)((const int64_t *)lengths.data)[cells_index(lengths, i)],
    };
}

/* The common length of the rows. False after a failure. */
static bool matrix_width(RowsCall *call, size_t row, Slice matrix, size_t *width)
{
    *width = matrix.length == 0 ? 0 : inner_slice(matrix, 0).length;
    for (size_t i = 0; i < matrix.length; i++) {
        size_t length = inner_slice(matrix, i).length;
        if (length != *width)
            return failure_transpose(rows_fail(call, row), i, length, *width);
    }
    return true;
}

static bool row_width(RowsCall *call, size_t row)
{
    size_t width;
    if (!matrix_width(call, row, slice_argument(call, 0, row), &width))
        return false;
    give_integer(call, 0, row, (int64_t)width);
    return true;
}

static bool row_common_length(RowsCall *call, size_t row)
{
    int64_t a = rows_integer(call, 0, row), b = rows_integer(call, 1, row);
    if (a != b)
        return failure_comprehension_lengths(rows_fail(call, row), (uint64_t)a, (uint64_t)b);
    give_integer(call, 0, row, a);
    return true;
}

/* Appends the elements of the matrix, column by column, to state->inner. */
static void add_columns(RowsCall *call, Slice matrix, size_t width)
{
    Array *inner = call->state->inner;
    size_t height = matrix.length, old_count = inner->count;
    MovementRow *rows = scratch(call, height, sizeof *rows);
    if (width > 0 && height > SIZE_MAX / width)
        memory_fail(call->firing->vm->memory);
    array_extend(call->firing->vm->memory, inner, height * width);
    for (uint32_t leaf = 0; leaf < inner->layout->count; leaf++) {
        LeafType type = inner->layout->leaves[leaf].type;
        size_t size = leaf_size(type);
        for (size_t i = 0; i < height; i++) {
            Slice slice = inner_slice(matrix, i);
            Cells cells = array_cells(slice.array, leaf, slice.start);
            rows[i] = (MovementRow){cells.data, cells.is_uniform ? 0 : size};
        }
        char *out = (char *)inner->columns[leaf].data + old_count * size;
        movement_transpose(call->firing->vm->team, size, out, rows, height, width);
        cells_retain(type, out, height * width);
    }
}

static bool row_transpose(RowsCall *call, size_t row)
{
    Memory *memory = call->firing->vm->memory;
    RowsState *state = call->state;
    Slice matrix = slice_argument(call, 0, row);
    size_t width;
    if (!matrix_width(call, row, matrix, &width))
        return false;
    if (state->inner == NULL)
        state->inner = array_new(memory, state->vectors->layout->leaves[0].elements);
    int64_t start = (int64_t)state->inner->count, height = (int64_t)matrix.length;
    if (width > 0)
        add_columns(call, matrix, width);
    array_reserve(memory, state->vectors, width);
    for (size_t i = 0; i < width; i++, start += height) {
        Cells column[] = {{&state->inner, true}, {&start, true}, {&height, true}};
        array_append(memory, call->firing->vm->team, state->vectors, column, 0, 1);
    }
    rows_give_vector(call, 0, row, width);
    return true;
}

/* ---- parts ---- */

/* Parts of a vector being listed, in the scratch memory. */
typedef struct Parts {
    int64_t *starts, *lengths;
    size_t count;
    int64_t next; /* where the next one starts */
} Parts;

static Parts begin_parts(RowsCall *call, Slice elements, size_t most)
{
    int64_t *starts = scratch(call, most, 2 * sizeof *starts);
    return (Parts){.starts = starts, .lengths = starts + most, .next = (int64_t)elements.start};
}

static void add_part(Parts *parts, int64_t length)
{
    parts->starts[parts->count] = parts->next;
    parts->lengths[parts->count++] = length;
    parts->next += length;
}

/* The vector of parts, which share the array of the elements. */
static bool give_parts(RowsCall *call, size_t row, Slice elements, const Parts *parts)
{
    Cells cells[] = {{&elements.array, true}, {.data = parts->starts}, {.data = parts->lengths}};
    array_append(call->firing->vm->memory, call->firing->vm->team, call->state->vectors, cells, 0, parts->count);
    rows_give_vector(call, 0, row, parts->count);
    return true;
}

static bool flag_at(Slice flags, size_t i)
{
    Cells cells = array_cells(flags.array, 0, flags.start);
    return ((const bool *)cells.data)[cells_index(cells, i)];
}

static bool row_part(RowsCall *call, size_t row)
{
    Slice elements = slice_argument(call, 0, row), flags = slice_argument(call, VECTOR_LEAVES, row);
    if (flags.length > 0 && !flag_at(flags, flags.length - 1))
        return failure_part_end(rows_fail(call, row));
    Parts parts = begin_parts(call, elements, flags.length);
    int64_t length = 0;
    for (size_t i = 0; i < flags.length; i++) {
        if (flag_at(flags, i))
            add_part(&parts, length);
        length = flag_at(flags, i) ? 0 : length + 1;
    }
    size_t falses = flags.length - parts.count;
    if (falses != elements.length)
        return failure_part(rows_fail(call, row), falses, elements.length);
    return give_parts(call, row, elements, &parts);
}

static bool row_flag_partition(RowsCall *call, size_t row)
{
    Slice elements = slice_argument(call, 0, row), flags = slice_argument(call, VECTOR_LEAVES, row);
    if (elements.length != flags.length)
        return failure_lengths(rows_fail(call, row), OP_FLAG_PARTITION, elements.length, flags.length);
    Parts parts = begin_parts(call, elements, flags.length);
    size_t start = 0;
    for (size_t i = 1; i < flags.length; i++)
        if (flag_at(flags, i)) {
            add_part(&parts, (int64_t)(i - start));
            start = i;
        }
    if (flags.length > 0)
        add_part(&parts, (int64_t)(flags.length - start));
    return give_parts(call, row, elements, &parts);
}

static bool row_partition(RowsCall *call, size_t row)
{
    Slice elements = slice_argument(call, 0, row), lengths = slice_argument(call, VECTOR_LEAVES, row);
    Parts parts = begin_parts(call, elements, lengths.length);
    uint64_t total = 0;
    for (size_t i = 0; i < lengths.length; i++) {
        int64_t length = cells_scalar(SCALAR_I64, array_cells(lengths.array, 0, lengths.start), i).integer;
        if (length < 0)
            return failure_part_length(rows_fail(call, row), i, length);
        total = (uint64_t)length > UINT64_MAX - total ? UINT64_MAX : total + (uint64_t)length;
        add_part(&parts, total > elements.length ? 0 : length); /* no sum that overflows: it fails anyhow */
    }
    if (total != elements.length)
        return failure_partition(rows_fail(call, row), total, elements.length);
    return give_parts(call, row, elements, &parts);
}

/* ---- the frame ---- */

/* How an operation is computed. */
typedef struct RowsKind {
    RowFunction row;
    /* The rows neither allocate nor depend on each other: a team may share them. One that fails says so and leaves the rest to `fail`. */
    bool is_independent;
    void (*fail)(RowsCall *call, size_t row);
    size_t (*many)(RowsCall *call); /* instead: computes rows from the first on, at least one; gives how many */
} RowsKind;

static RowsKind rows_kind(Op op)
{
    switch (op) {
#define SCALAR_COMPARISON(OP, orders)                                                                                 \
    case OP_##OP: return (RowsKind){.row = row_compare_##OP, .is_independent = true};
#include "math/scalar_ops.def"
    case OP_SAME: return (RowsKind){.row = row_same, .is_independent = true};
    case OP_HASH: return (RowsKind){.row = row_hash, .is_independent = true, .fail = fail_hash};
    case OP_STRING: return (RowsKind){.row = row_string};
    case OP_EXP_STRING: return (RowsKind){.row = row_exp_string};
    case OP_PARSE_INT: return (RowsKind){.row = row_parse_int};
    case OP_PARSE_FLOAT: return (RowsKind){.row = row_parse_float};
    case OP_COMMON_LENGTH: return (RowsKind){.row = row_common_length};
    case OP_WIDTH: return (RowsKind){.row = row_width};
    case OP_TRANSPOSE: return (RowsKind){.row = row_transpose};
    case OP_GRADE: return (RowsKind){.many = rows_grade_up};
    case OP_GRADE_DOWN: return (RowsKind){.many = rows_grade_down};
    case OP_RANK: return (RowsKind){.many = rows_rank_up};
    case OP_RANK_DOWN: return (RowsKind){.many = rows_rank_down};
    case OP_SORTED: return (RowsKind){.many = rows_sort_up};
    case OP_SORTED_DOWN: return (RowsKind){.many = rows_sort_down};
    case OP_REPLACE: return (RowsKind){.row = row_replace};
    case OP_PART: return (RowsKind){.row = row_part};
    case OP_FLAG_PARTITION: return (RowsKind){.row = row_flag_partition};
    case OP_PARTITION: return (RowsKind){.row = row_partition};
    case OP_PRINT_STRING: return (RowsKind){.row = row_print_string};
    case OP_CLOCK: return (RowsKind){.row = row_clock};
    case OP_ENVIRONMENT_VARIABLE: return (RowsKind){.row = row_environment_variable};
    case OP_OPEN_FILE: return (RowsKind){.row = row_open_file};
    case OP_CLOSE_FILE: return (RowsKind){.row = row_close_file};
    case OP_READ_CHARS: return (RowsKind){.row = row_read_chars};
    case OP_WRITE_CHARS: return (RowsKind){.row = row_write_chars};
    case OP_WRITE_VALUE: return (RowsKind){.row = row_write_value};
    default: bug("rows", "%s is not computed row by row", op_name(op));
    }
}

static Inputs argument_inputs(const FlowNode *node)
{
    return (Inputs){ROWS_ARGUMENTS, node->input_count - ROWS_ARGUMENTS};
}

static void begin(Firing *firing)
{
    RowsState *state = firing->state;
    Memory *memory = firing->vm->memory;
    const FlowNode *node = firing->node;
    if (state->is_begun)
        return;
    text_init(&state->text, memory);
    text_init(&state->other_text, memory);
    state->is_begun = true;
    state->arguments = memory_alloc(memory, node->input_count * sizeof *state->arguments);
    state->results = memory_alloc(memory, node->output_count * sizeof *state->results);
}

static void release_rows(Vm *vm, const FlowNode *node, void *state_memory)
{
    RowsState *state = state_memory;
    Memory *memory = vm->memory;
    if (!state->is_begun)
        return;
    memory_free(memory, state->arguments, node->input_count * sizeof *state->arguments);
    memory_free(memory, state->results, node->output_count * sizeof *state->results);
    memory_free(memory, state->scratch, state->scratch_size);
    array_release(memory, state->vectors);
    array_release(memory, state->inner);
    memory_free(memory, state->same, node->output_count * sizeof *state->same);
    array_release(memory, state->same_vectors);
    text_free(&state->text);
    text_free(&state->other_text);
}

/* Gives the first `done` rows. Only now are references written: before, a failed allocation would lose them. */
static void give(RowsCall *call, size_t done)
{
    const Layout *layout = call->node->layout;
    RowsState *state = call->state;
    for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
        if (layout->leaves[leaf].type == LEAF_ARRAY)
            firing_produce_uniform(call->firing, leaf, &state->vectors, done);
        else
            firing_produce(call->firing, leaf, done);
    }
    array_release(call->firing->vm->memory, state->vectors);
    array_release(call->firing->vm->memory, state->inner);
    state->vectors = state->inner = NULL;
}

Failure *rows_fail(RowsCall *call, size_t row)
{
    give(call, row);
    return firing_fail(call->firing, ROWS_DRIVER, row);
}

static RowsCall prepare(Firing *firing, size_t count)
{
    RowsState *state = firing->state;
    const Layout *layout = firing->node->layout;
    uint32_t vector = vector_leaf(layout);
    inputs_cells(firing, argument_inputs(firing->node), state->arguments);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        if (leaf != vector)
            state->results[leaf] = firing_reserve(firing, leaf, count);
    if (vector < layout->count && state->vectors == NULL)
        state->vectors = array_new(firing->vm->memory, layout->leaves[vector].elements);
    return (RowsCall){firing, firing->node, state, state->arguments, state->results, count};
}

static bool is_large(const RowsState *state)
{
    size_t elements = state->vectors == NULL ? 0 : state->vectors->count;
    return elements + (state->inner == NULL ? 0 : state->inner->count) > ROWS_ELEMENTS_MAX;
}

typedef struct IndependentRows {
    RowsCall *call;
    RowFunction function;
} IndependentRows;

static size_t compute_independent(const void *context, size_t first, size_t end)
{
    const IndependentRows *rows = context;
    while (first < end && rows->function(rows->call, first))
        first++;
    return first;
}

/* These give how many rows were computed, 0 after a failure. */
static size_t share_rows(RowsCall *call, const RowsKind *kind)
{
    Team *team = call->firing->vm->team;
    IndependentRows rows = {call, kind->row};
    size_t done = team_check(team, call->count, ROW_PICOSECONDS, compute_independent, &rows);
    if (done == call->count)
        return done;
    kind->fail(call, done);
    return 0;
}

static size_t compute_rows(RowsCall *call, const RowsKind *kind)
{
    if (kind->many != NULL)
        return kind->many(call);
    if (kind->is_independent)
        return share_rows(call, kind);
    size_t done = 0;
    while (done < call->count && !is_large(call->state))
        if (!kind->row(call, done++))
            return 0;
    return done;
}

/* ---- the same for all points ---- */

static bool is_same_for_all(const FlowNode *node)
{
    if (op_table[node->core_op].effect != EFFECT_PURE)
        return false;
    bool has_uniform = false;
    for (uint32_t i = ROWS_ARGUMENTS; i < node->input_count; i++) {
        if (!node->inputs[i].is_constant && !node->inputs[i].is_uniform)
            return false;
        has_uniform |= node->inputs[i].is_uniform;
    }
    return has_uniform;
}

/* Computes the first point, and keeps what it gives. */
static bool keep_first(Firing *firing, const RowsKind *kind)
{
    RowsCall call = prepare(firing, 1);
    RowsState *state = call.state;
    const Layout *layout = call.node->layout;
    uint64_t *same = memory_alloc(firing->vm->memory, call.node->output_count * sizeof *same);
    state->same = same;
    if (compute_rows(&call, kind) == 0)
        return false;
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        if (layout->leaves[leaf].type != LEAF_ARRAY)
            memcpy(&same[leaf], state->results[leaf], leaf_size(layout->leaves[leaf].type));
    state->same_vectors = state->vectors;
    array_release(firing->vm->memory, state->inner);
    state->vectors = state->inner = NULL;
    return true;
}

static void give_same(Firing *firing, size_t count)
{
    const RowsState *state = firing->state;
    const Layout *layout = firing->node->layout;
    for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
        bool is_array = layout->leaves[leaf].type == LEAF_ARRAY;
        firing_produce_uniform(firing, leaf, is_array ? (const void *)&state->same_vectors : &state->same[leaf], count);
    }
}

/* Gives how many rows were computed and given, 0 after a failure. */
static size_t compute_same(Firing *firing, const RowsKind *kind, size_t count)
{
    const RowsState *state = firing->state;
    if (state->same == NULL && !keep_first(firing, kind))
        return 0;
    give_same(firing, count);
    return count;
}

static size_t compute_each(Firing *firing, const RowsKind *kind, size_t count)
{
    RowsCall call = prepare(firing, count);
    size_t done = compute_rows(&call, kind);
    if (done > 0)
        give(&call, done);
    return done;
}

/* False when nothing more can be done now, or ever. */
static bool compute(Firing *firing, const RowsKind *kind)
{
    Inputs inputs = {ROWS_DRIVER, firing->node->input_count};
    size_t count = least(inputs_available(firing, inputs), outputs_room(firing, 0, firing->node->output_count));
    if (count == 0)
        return firing_rest(firing, ROWS_DRIVER);
    size_t done = is_same_for_all(firing->node) ? compute_same(firing, kind, count) : compute_each(firing, kind, count);
    inputs_consume(firing, inputs, done);
    return done > 0;
}

static void fire_rows(Firing *firing)
{
    Op op = firing->node->core_op;
    begin(firing);
    if (op == OP_FAIL || op == OP_NOT_PROVIDED || op == OP_RAISE)
        rows_fire_error(firing);
    else if (op == OP_READ_VALUE)
        rows_fire_read_value(firing);
    else {
        RowsKind kind = rows_kind(op);
        while (compute(firing, &kind))
            continue;
    }
}

const NodeKind node_kind_ROWS = {.fire = fire_rows, .state_size = sizeof(RowsState), .release = release_rows};
