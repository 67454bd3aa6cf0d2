/* The engine as sessions see it: values in and out, globals, the state of random numbers. */
#include "vm/call.h"

/* ---- making ---- */

Vm *vm_new(Memory *memory, const FlowProgram *program, Diagnostics *diagnostics, VmOptions options)
{
    Vm *vm = memory_alloc(memory, sizeof *vm);
    vm->memory = memory;
    vm->program = program;
    vm->types = program->core->types;
    vm->diagnostics = diagnostics;
    vm->options = options;
    vm->random = (RandomState){.key = RANDOM_FIRST_KEY};
    heap_init(&vm->heap, memory);
    arena_init(&vm->arena, memory);
    world_init(&vm->world, memory, options.write, options.write_context);
    failure_init(&vm->failure, memory);
    vm->scalar_code = scalar_code_new(memory, program->core, program->layouts);
    return vm;
}

static void free_scratch(Vm *vm)
{
    for (size_t i = 0; i < vm->scratch_count; i++)
        memory_free(vm->memory, vm->scratch[i].data, vm->scratch[i].bytes);
    memory_free(vm->memory, vm->scratch, vm->scratch_count * sizeof *vm->scratch);
}

void vm_free(Vm *vm)
{
    Memory *memory = vm->memory;
    call_unwind(vm);
    memory_free(memory, vm->frames, vm->frame_capacity * sizeof(Frame));
    for (uint32_t i = 0; i < vm->plans.count; i++)
        if (vm->plans.items[i] != NULL)
            instance_free_spares(vm, vm->plans.items[i]);
    for (uint32_t i = 0; i < vm->globals.count; i++)
        array_release(memory, vm->globals.items[i]);
    free_scratch(vm);
    scalar_code_free(vm->scalar_code);
    failure_free(&vm->failure);
    world_free(&vm->world);
    heap_free(&vm->heap);
    arena_free(&vm->arena);
    memory_free(memory, vm, sizeof *vm);
}

static bool is_scalar_code(void *context, CoreFunctionId function)
{
    return scalar_code_accepts(((Vm *)context)->scalar_code, function);
}

FlattenOptions vm_flatten_options(Vm *vm)
{
    return (FlattenOptions){.is_scalar_code = is_scalar_code, .context = vm};
}

void vm_forget(Vm *vm, uint32_t function_count)
{
    scalar_code_forget(vm->scalar_code, function_count);
    if (vm->signatures.count > function_count)
        vm->signatures.count = function_count;
}

Heap *vm_heap(Vm *vm)
{
    return &vm->heap;
}

const VmStats *vm_stats(const Vm *vm)
{
    return &vm->stats;
}

/* ---- parameters ---- */

/* Rows that are given to a network: one array with one element for each parameter. */
typedef struct Arguments {
    Array **rows;
    uint32_t count;
    Cells *cells; /* one for each leaf, then the state of random numbers */
    uint32_t cell_count;
} Arguments;

static void add_cell(Arguments *arguments, const void *data)
{
    arguments->cells[arguments->cell_count++] = (Cells){.data = data, .is_uniform = true};
}

static void make_arguments(Vm *vm, Arguments *arguments, const FlowNetwork *network, const CoreBlock *block,
                           const Value *values)
{
    uint32_t count = block == NULL ? 0 : block->parameter_count;
    *arguments = (Arguments){.rows = memory_alloc(vm->memory, count * sizeof(Array *)),
                             .count = count,
                             .cells = memory_alloc(vm->memory, network->parameter_count * sizeof(Cells))};
    for (uint32_t i = 0; i < count; i++) {
        TypeId type = vm->program->core->variables.items[block->parameters[i]].type;
        const Layout *layout = layout_of(vm->program->layouts, type);
        arguments->rows[i] = array_new(vm->memory, layout);
        array_append_value(vm->memory, vm->types, arguments->rows[i], values[i]);
        value_release(&vm->heap, vm->types, type, values[i]);
        for (uint32_t leaf = 0; leaf < layout->count; leaf++)
            add_cell(arguments, array_cells(arguments->rows[i], leaf, 0).data);
    }
    if (!network->draws)
        return;
    add_cell(arguments, &vm->random.key);
    add_cell(arguments, &vm->random.counter);
}

static void free_arguments(Vm *vm, Arguments *arguments, const FlowNetwork *network)
{
    for (uint32_t i = 0; i < arguments->count; i++)
        array_release(vm->memory, arguments->rows[i]);
    memory_free(vm->memory, arguments->rows, arguments->count * sizeof(Array *));
    memory_free(vm->memory, arguments->cells, network->parameter_count * sizeof(Cells));
}

/* ---- results ---- */

static Cells result_cells(const Instance *instance, uint32_t result)
{
    const Plan *plan = instance->plan;
    const InputPlan *input = &plan->inputs[plan->cursor_count - plan->network->result_count + result];
    if (input->mode == INPUT_CONSTANT)
        return (Cells){.data = &input->constant, .is_uniform = true};
    const Stream *stream = &instance->streams[input->stream];
    if (stream->count == 0)
        bug("vm", "network %u gives no result", plan->id);
    return stream_cells(stream, input->size, stream->base);
}

static void keep_random_state(Vm *vm, const FlowNetwork *network, const Cells *cells)
{
    if (!network->draws)
        return;
    vm->random.key = *(const uint64_t *)cells[network->result_count - 2].data;
    vm->random.counter = *(const uint64_t *)cells[network->result_count - 1].data;
}

static void bind_global(Vm *vm, CoreVar variable, const Cells *cells)
{
    while (vm->globals.count <= variable)
        *vec_push(&vm->arena, &vm->globals) = NULL;
    TypeId type = vm->program->core->variables.items[variable].type;
    Array *row = array_new(vm->memory, layout_of(vm->program->layouts, type));
    array_append(vm->memory, row, cells, 0, 1);
    array_release(vm->memory, vm->globals.items[variable]);
    vm->globals.items[variable] = row;
}

static void take_results(Vm *vm, TypeId type, CoreVar global, Value *result)
{
    const Instance *instance = vm->frames[0].instance;
    const FlowNetwork *network = instance->plan->network;
    Cells *cells = memory_alloc(vm->memory, network->result_count * sizeof(Cells));
    for (uint32_t i = 0; i < network->result_count; i++)
        cells[i] = result_cells(instance, i);
    keep_random_state(vm, network, cells);
    if (global != 0)
        bind_global(vm, global, cells);
    *result = rows_value(&vm->heap, vm->types, layout_of(vm->program->layouts, type), cells, 0);
    memory_free(vm->memory, cells, network->result_count * sizeof(Cells));
}

/* ---- running ---- */

/* Runs a network on unit. */
static bool run(Vm *vm, FlowNetworkId id, const CoreBlock *block, const Value *values, TypeId type, CoreVar global,
                Value *result)
{
    const FlowNetwork *network = vm->program->networks.items[id];
    Arguments arguments;
    make_arguments(vm, &arguments, network, block, values);
    vm->has_failed = false;
    call_start_item(vm, id, arguments.cells);
    bool is_done = call_run(vm);
    if (is_done)
        take_results(vm, type, global, result);
    else
        failure_report(&vm->failure, vm->diagnostics);
    call_unwind(vm);
    free_arguments(vm, &arguments, network);
    return is_done;
}

bool vm_run_item(Vm *vm, uint32_t item_index, const CoreItem *item, Value *result)
{
    return run(vm, vm->program->by_item.items[item_index], NULL, NULL, item->block->result.type, item->global, result);
}

bool vm_call(Vm *vm, CoreFunctionId id, const Value *arguments, uint32_t count, Span span, Value *result)
{
    (void)count;
    (void)span;
    const CoreFunction *function = vm->program->core->functions.items[id];
    return run(vm, vm->program->by_entry.items[id], function->body, arguments, function->result_type, 0, result);
}
