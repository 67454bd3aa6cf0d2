/* RESULT: prints a value while it is computed. It goes through the pieces of the type (io/value_pieces.h), waits where a part is not there yet, and
 * holds no more than some text. That is written out whenever it is long, and what is left of it when the run has succeeded: so a short result is
 * written as a whole or not at all, and how much of a long one is written before a failure does not depend on the size of chunks. */
#include "io/value_pieces.h"
#include "vm/array_columns.h"
#include "vm/nodes.h"

#include <string.h>

enum { TEXT_LONG = 1 << 15, RESULT_SEQUENCE_INPUTS = 2 };

typedef struct Part {
    const ValuePiece *piece;
    const Layout *layout; /* VALUE */
    Inputs inputs;        /* VALUE: the leaves; BEGIN and END: the driver, then the ends unless the parent is unit */
} Part;

typedef struct Result {
    Part *parts; /* in the VM's arena; null at first */
    uint32_t count;
    uint32_t at; /* the part that comes next */
    PiecePrinter printer;
    Cells *cells; /* for the leaves of a part */
} Result;

/* ---- the parts ---- */

static Inputs part_inputs(const Part *part, const Part *parts, uint32_t *next)
{
    Inputs inputs = {.first = *next};
    switch (part->piece->kind) {
    case PIECE_VALUE:
        inputs.count = part->layout->count;
        break;
    case PIECE_BEGIN:
        inputs.count = part->piece->depth == 0 ? 1 : RESULT_SEQUENCE_INPUTS;
        break;
    case PIECE_END:
        return parts[part->piece->partner].inputs;
    case PIECE_TEXT:
        break;
    }
    *next += inputs.count;
    return inputs;
}

static void begin(Firing *firing)
{
    Result *state = firing->state;
    Vm *vm = firing->vm;
    ValuePieces pieces = value_pieces(&vm->arena, vm->types, firing->node->layout->type);
    state->count = pieces.count;
    state->cells = ARENA_ARRAY(&vm->arena, Cells, firing->node->input_count);
    state->printer = (PiecePrinter){.types = vm->types,
                                    .format = vm->printer->format,
                                    .out = &vm->printed,
                                    .counts = ARENA_ARRAY(&vm->arena, uint64_t, value_pieces_depth(&pieces))};
    Part *parts = ARENA_ARRAY(&vm->arena, Part, pieces.count);
    uint32_t next = 0;
    for (uint32_t i = 0; i < pieces.count; i++) {
        parts[i].piece = &pieces.items[i];
        if (pieces.items[i].kind == PIECE_VALUE)
            parts[i].layout = layout_of(vm->program->layouts, pieces.items[i].type);
        parts[i].inputs = part_inputs(&parts[i], parts, &next);
    }
    state->parts = parts;
}

/* ---- what is concrete ---- */

static void print_row(Firing *firing, const Part *part, size_t row)
{
    Result *state = firing->state;
    Vm *vm = firing->vm;
    TypeId type = part->piece->type;
    if (piece_is_hidden(&state->printer))
        return;
    if (type_is_scalar(vm->types, type)) {
        Value value = {.scalar = cells_scalar(type_scalar(vm->types, type), state->cells[0], row)};
        piece_print_value(&state->printer, type, value);
        return;
    }
    Value value = rows_value(&vm->heap, vm->types, part->layout, state->cells, row);
    piece_print_value(&state->printer, type, value);
    value_release(&vm->heap, vm->types, type, value);
}

static bool print_value(Firing *firing, const Part *part)
{
    Result *state = firing->state;
    if (inputs_available(firing, part->inputs) == 0)
        return false;
    inputs_cells(firing, part->inputs, state->cells);
    print_row(firing, part, 0);
    inputs_consume(firing, part->inputs, 1);
    state->at++;
    return true;
}

/* ---- sequences ---- */

static void write_long(Vm *vm)
{
    if (vm->printed.length > TEXT_LONG)
        vm_write_printed(vm);
}

/* The elements of the open sequence that are there. *is_ended if no more will come. */
static size_t elements_there(const Firing *firing, const Part *end, bool *is_ended)
{
    uint32_t driver = end->inputs.first, ends = driver + 1;
    size_t available = firing_available(firing, driver);
    *is_ended = firing_is_ended(firing, driver);
    if (end->piece->depth == 0)
        return available;
    size_t known = firing_available(firing, ends);
    int64_t position = (int64_t)firing_position(firing, driver);
    int64_t limit = known > 0 ? *(const int64_t *)firing_cells(firing, ends).data : firing_frontier(firing, ends);
    *is_ended = known > 0 && position == limit;
    return limit > position ? least(available, (size_t)(limit - position)) : 0;
}

/* Rows for somebody who takes no text; false after a failure. */
static bool give_rows(Firing *firing, const Cells *cells, size_t count)
{
    const VmPrinter *printer = firing->vm->printer;
    Columns *rows = printer->rows(printer->context);
    columns_clear(rows);
    columns_add_rows(rows, cells, count);
    const char *problem = printer->take_rows(printer->context, rows);
    if (problem == NULL)
        return true;
    Failure *failure = firing_fail_at(firing, 0);
    failure->span = (Span){0};
    failure_raise(failure, ERROR_IO_FAILURE, problem, strlen(problem));
    return false;
}

/* Elements that are one concrete part each, all that are there. */
static bool print_elements(Firing *firing, const Part *part, uint32_t driver, size_t count)
{
    Result *state = firing->state;
    count = least(count, inputs_available(firing, part->inputs));
    if (count == 0)
        return false;
    inputs_cells(firing, part->inputs, state->cells);
    if (firing->vm->printer->take_rows != NULL && !give_rows(firing, state->cells, count))
        return false;
    for (size_t i = 0; i < count && firing->vm->printer->take_rows == NULL; i++) {
        piece_print_element(&state->printer);
        print_row(firing, part, i);
        write_long(firing->vm);
    }
    firing_consume(firing, driver, count);
    inputs_consume(firing, part->inputs, count);
    return true;
}

/* At the end of an element, or before the first one. */
static bool go_round(Firing *firing, const Part *end)
{
    Result *state = firing->state;
    uint32_t first = end->piece->partner + 1, driver = end->inputs.first;
    const Part *body = &state->parts[first];
    bool is_ended;
    size_t count = elements_there(firing, end, &is_ended);
    if (count > 0 && body + 1 == end && body->piece->kind == PIECE_VALUE)
        return print_elements(firing, body, driver, count);
    if (count > 0) {
        piece_print_element(&state->printer);
        firing_consume(firing, driver, 1);
        state->at = first;
        return true;
    }
    if (!is_ended)
        return false;
    piece_print_end(&state->printer);
    if (end->piece->depth > 0)
        firing_consume(firing, driver + 1, 1);
    state->at++;
    return true;
}

/* ---- firing ---- */

/* False where something must be waited for. */
static bool print_part(Firing *firing)
{
    Result *state = firing->state;
    const Part *part = &state->parts[state->at];
    switch (part->piece->kind) {
    case PIECE_TEXT:
        piece_print_text(&state->printer, part->piece->text);
        state->at++;
        return true;
    case PIECE_VALUE:
        return print_value(firing, part);
    case PIECE_BEGIN:
        piece_print_begin(&state->printer);
        state->at = part->piece->partner;
        return true;
    case PIECE_END:
        return go_round(firing, part);
    }
    return false;
}

static void fire_result(Firing *firing)
{
    Result *state = firing->state;
    if (state->parts == NULL)
        begin(firing);
    while (state->at < state->count && print_part(firing))
        write_long(firing->vm);
    if (state->at == state->count)
        firing_finish(firing);
}

static bool contains(Inputs inputs, uint32_t input)
{
    return input >= inputs.first && input - inputs.first < inputs.count;
}

/* What comes next waits for; the rest can wait too. */
static bool result_needs(const Firing *firing, uint32_t input)
{
    const Result *state = firing->state;
    if (state->at >= state->count)
        return false;
    const Part *part = &state->parts[state->at];
    if (part->piece->kind != PIECE_END)
        return contains(part->inputs, input);
    bool is_ended;
    if (elements_there(firing, part, &is_ended) > 0)
        return contains((part - 1)->inputs, input);
    bool is_parent_known = part->piece->depth == 0 || firing_available(firing, part->inputs.first + 1) > 0 ||
                           (int64_t)firing_position(firing, part->inputs.first) <
                               firing_frontier(firing, part->inputs.first + 1);
    return input == part->inputs.first + (is_parent_known ? 0 : 1);
}

const NodeKind node_kind_RESULT = {.fire = fire_result, .state_size = sizeof(Result), .needs = result_needs};
