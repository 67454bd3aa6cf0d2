#include "vm/operator.h"

#include "vm/call.h"
#include "vm/code.h"

#include <string.h>

/* ---- cells ---- */

static void copy_cell(void *out, const void *in, size_t size)
{
    switch (size) {
    case 1: memcpy(out, in, 1); break;
    case 2: memcpy(out, in, 2); break;
    case 4: memcpy(out, in, 4); break;
    case 8: memcpy(out, in, 8); break;
    }
}

static const void *cell_at(Cells cells, size_t size, size_t i)
{
    return (const char *)cells.data + cells_index(cells, i) * size;
}

/* ---- rows ---- */

void row_put(Memory *memory, Array *array, size_t row, const Cells *cells, size_t i)
{
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++) {
        LeafType type = array->layout->leaves[leaf].type;
        size_t size = leaf_size(type);
        char *out = (char *)array->columns[leaf].data + row * size;
        const void *cell = cell_at(cells[leaf], size, i);
        if (type == LEAF_ARRAY) {
            Array *old = *(Array **)(void *)out;
            cells_retain(type, cell, 1);
            copy_cell(out, cell, size);
            array_release(memory, old);
        } else
            copy_cell(out, cell, size);
    }
}

void array_views(const Array *array, Cells *views)
{
    for (uint32_t leaf = 0; leaf < array->layout->count; leaf++)
        views[leaf] = array_cells(array, leaf, 0);
}

void array_renew(Memory *memory, Array **array, const Layout *layout, size_t count)
{
    array_release(memory, *array);
    *array = NULL;
    *array = array_new(memory, layout);
    array_extend(memory, *array, count);
}

/* ---- lists ---- */

void *list_grow(Memory *memory, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity == 0 ? 16 : 2 * *capacity;
    if (larger > SIZE_MAX / size)
        memory_fail(memory);
    items = memory_resize(memory, items, *capacity * size, larger * size);
    *capacity = larger;
    return items;
}

/* ---- beginning and ending ---- */

static void begin(Firing *firing, Operator *operator)
{
    Memory *memory = firing->vm->memory;
    const FlowNode *node = firing->node;
    if (operator->is_begun)
        return;
    operator->is_begun = true;
    operator->is_alone = node->is_serial;
    operator->argument_count = node->captured_count + 2 * node->layout->count + (node->draws ? 2 : 0);
    operator->arguments = memory_alloc(memory, operator->argument_count * sizeof *operator->arguments);
    operator->columns = memory_alloc(memory, operator->argument_count * sizeof *operator->columns);
    operator->left = memory_alloc(memory, node->layout->count * sizeof *operator->left);
    operator->right = memory_alloc(memory, node->layout->count * sizeof *operator->right);
}

static void free_columns(Memory *memory, Operator *operator)
{
    for (uint32_t i = 0; i < operator->argument_count; i++) {
        memory_free(memory, operator->columns[i], operator->capacity * sizeof(uint64_t));
        operator->columns[i] = NULL;
    }
    operator->capacity = 0;
}

void operator_release(Memory *memory, const FlowNode *node, Operator *operator)
{
    if (operator->columns != NULL)
        free_columns(memory, operator);
    if (operator->arguments != NULL)
        memory_free(memory, operator->arguments, operator->argument_count * sizeof *operator->arguments);
    if (operator->columns != NULL)
        memory_free(memory, operator->columns, operator->argument_count * sizeof *operator->columns);
    if (operator->left != NULL)
        memory_free(memory, operator->left, node->layout->count * sizeof *operator->left);
    if (operator->right != NULL)
        memory_free(memory, operator->right, node->layout->count * sizeof *operator->right);
}

/* ---- pairs ---- */

void operator_clear_pairs(Operator *operator)
{
    operator->count = 0;
}

/* Cells of all sizes get as much room as the largest: so room can be counted in pairs. */
static void make_room(Memory *memory, Operator *operator)
{
    if (operator->count < operator->capacity)
        return;
    size_t old = operator->capacity * sizeof(uint64_t), size = old == 0 ? 64 * sizeof(uint64_t) : 2 * old;
    for (uint32_t i = 0; i < operator->argument_count; i++)
        operator->columns[i] = memory_resize(memory, operator->columns[i], old, size);
    operator->capacity = size / sizeof(uint64_t);
}

static void put_argument(Operator *operator, uint32_t argument, LeafType type, const void *cell)
{
    size_t size = leaf_size(type);
    copy_cell((char *)operator->columns[argument] + operator->count * size, cell, size);
    operator->arguments[argument] = (Cells){.data = operator->columns[argument]};
}

Inputs operator_inputs(const FlowNode *node, uint32_t first)
{
    return (Inputs){first, node->captured_count + (node->draws ? 1 : 0)};
}

static void put_state(Operator *operator, RandomState state)
{
    put_argument(operator, operator->argument_count - 2, SCALAR_U64, &state.key);
    put_argument(operator, operator->argument_count - 1, SCALAR_U64, &state.counter);
}

void operator_add_pair(Firing *firing, Operator *operator, Inputs own, size_t parent, Application application, const Cells *left,
                       size_t i, const Cells *right, size_t j)
{
    const Layout *layout = firing->node->layout;
    uint32_t captured_count = firing->node->captured_count;
    make_room(firing->vm->memory, operator);
    for (uint32_t k = 0; k < captured_count; k++) {
        LeafType type = firing->node->inputs[own.first + k].type;
        put_argument(operator, k, type, cell_at(firing_cells(firing, own.first + k), leaf_size(type), parent));
    }
    for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
        LeafType type = layout->leaves[leaf].type;
        put_argument(operator, captured_count + leaf, type, cell_at(left[leaf], leaf_size(type), i));
        put_argument(operator, captured_count + layout->count + leaf, type,
                     cell_at(right[leaf], leaf_size(type), j));
    }
    if (firing->node->draws) {
        uint64_t draw = cells_scalar(SCALAR_U64, firing_cells(firing, own.first + captured_count), parent).bits;
        put_state(operator, random_application(draw, application.position, application.kind));
    }
    operator->count++;
}

/* ---- compiled code ---- */

bool operator_may_have_code(const Firing *firing, const Operator *operator)
{
    return firing->vm->options.compiles && !operator->is_alone && !firing->node->draws && firing->node->network == 0;
}

CompiledOperator operator_begin_code(Firing *firing, KernelFunction *code, Inputs own)
{
    return (CompiledOperator){firing, own, code, code_global_cells(firing->vm), false};
}

void operator_end_code(const CompiledOperator *compiled)
{
    team_give_back(compiled->firing->vm->team, compiled->globals);
}

static void *row_cell(const Array *array, uint32_t leaf, size_t row)
{
    return (char *)array->columns[leaf].data + row * leaf_size(array->layout->leaves[leaf].type);
}

bool operator_run_code(const CompiledOperator *compiled, size_t parent, const Array *left, size_t left_row, const Cells *right, size_t first, size_t count, Array *into,
                       size_t row, size_t blocks)
{
    const Firing *firing = compiled->firing;
    const Layout *layout = firing->node->layout;
    Inputs own = compiled->own;
    const void *streams[KERNEL_ENTRY_LEAVES];
    int64_t strides[KERNEL_ENTRY_LEAVES];
    void *outputs[KERNEL_ENTRY_LEAVES], *carries[KERNEL_ENTRY_LEAVES];
    for (uint32_t k = 0; k < own.count; k++)
        streams[k] = cell_at(firing_cells(firing, own.first + k), leaf_size(firing->node->inputs[own.first + k].type), parent);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++) {
        streams[own.count + leaf] = cell_at(right[leaf], leaf_size(layout->leaves[leaf].type), first);
        strides[own.count + leaf] = !right[leaf].is_uniform;
        outputs[leaf] = row_cell(into, leaf, row);
        carries[leaf] = row_cell(left, leaf, left_row);
    }
    uint64_t max_depth = firing->vm->options.max_depth;
    KernelCall call = {.count = (int64_t)count,
                       .streams = streams,
                       .strides = strides,
                       .outputs = outputs,
                       .carries = carries,
                       .blocks = (int64_t)blocks,
                       .globals = compiled->globals,
                       .depth = (int64_t)(max_depth - least(max_depth, call_depth(firing->vm))) - 1,
                       .stop = code_stop_word(firing->vm->options.stop),
                       .has_failed = &compiled->has_failed};
    return compiled->code(&call) == 0;
}

bool operator_is_dense(const Firing *firing, const Cells *rows)
{
    for (uint32_t leaf = 0; leaf < firing->node->layout->count; leaf++)
        if (rows[leaf].is_uniform)
            return false;
    return true;
}

/* ---- rounds ---- */

static void start_round(Firing *firing, Operator *operator)
{
    operator->is_waiting = true;
    if (operator->is_alone && !firing->node->is_serial)
        firing->vm->stats.fallbacks++;
    if (firing->node->network == 0)
        firing_call_function(firing, firing->node->function, operator->arguments, operator->count);
    else
        firing_call(firing, firing->node->network, operator->arguments, operator->count);
}

/* False if the node has failed. */
static bool receive(Firing *firing, Operator *operator, const OperatorNode *node, const CallResult *result)
{
    operator->is_waiting = false;
    if (!result->has_failed) {
        node->take(firing, result->columns);
    } else if (operator->is_alone) {
        firing_fail_call(firing, node->driver, node->offset(firing));
        return false;
    } else {
        node->undo(firing);
        operator->has_batch = false;
        operator->is_alone = true;
    }
    firing_call_done(firing);
    return true;
}

void operator_run(Firing *firing, Operator *operator, const OperatorNode *node)
{
    begin(firing, operator);
    for (;;) {
        if (operator->is_waiting) {
            const CallResult *result = firing_call_result(firing);
            if (result == NULL || !receive(firing, operator, node, result))
                return;
        }
        if (!operator->has_batch && !node->begin(firing))
            return;
        operator->has_batch = true;
        operator_clear_pairs(operator);
        if (node->ask(firing)) {
            start_round(firing, operator);
            continue;
        }
        operator->has_batch = false;
        if (!node->end(firing))
            return;
    }
}
