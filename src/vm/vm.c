/* The engine as sessions see it: values in and out, globals, the state of random numbers. */
#include "base/machine.h"
#include "vm/array_columns.h"
#include "vm/call.h"
#include "vm/code.h"
#include "vm/sequential.h"
#include "vm/survey.h"

/* ---- making ---- */

static void free_passage(Vm *vm);

static uint32_t default_threads(void)
{
    uint32_t processors = machine_processors();
    return processors < TEAM_THREADS_MAX ? processors : TEAM_THREADS_MAX;
}

Vm *vm_new(Memory *memory, const FlowProgram *program, Diagnostics *diagnostics, VmOptions options)
{
    Vm *vm = memory_alloc(memory, sizeof *vm);
    vm->memory = memory;
    vm->program = program;
    vm->types = program->core->types;
    vm->diagnostics = diagnostics;
    vm->options = options;
    if (options.threads == 0)
        vm->options.threads = default_threads();
    if (options.memory_limit == 0)
        vm->options.memory_limit = machine_memory() / 5 * 4;
    vm->random = (RandomState){.key = RANDOM_FIRST_KEY};
    heap_init(&vm->heap, memory);
    arena_init(&vm->arena, memory);
    world_init(&vm->world, memory, options.output, options.stop);
    failure_init(&vm->failure, memory);
    text_init(&vm->printed, memory);
    return vm;
}

static void free_scratch(Vm *vm)
{
    for (size_t i = 0; i < vm->scratch_count; i++)
        memory_free(vm->memory, vm->scratch[i].data, vm->scratch[i].bytes);
    memory_free(vm->memory, vm->scratch, vm->scratch_count * sizeof *vm->scratch);
    memory_free(vm->memory, vm->tiles.data, vm->tiles.bytes);
}

void *vm_tiles(Vm *vm, size_t bytes)
{
    enum { LINE = 64 };
    if (vm->tiles.bytes < bytes + LINE) {
        memory_free(vm->memory, vm->tiles.data, vm->tiles.bytes);
        vm->tiles = (Scratch){0};
        vm->tiles.data = memory_resize(vm->memory, NULL, 0, bytes + LINE);
        vm->tiles.bytes = bytes + LINE;
    }
    return (char *)vm->tiles.data + (LINE - (uintptr_t)vm->tiles.data % LINE) % LINE;
}

void vm_free(Vm *vm)
{
    Memory *memory = vm->memory;
    call_unwind(vm);
    free_passage(vm);
    memory_free(memory, vm->frames, vm->frame_capacity * sizeof(Frame));
    for (uint32_t i = 0; i < vm->plans.count; i++)
        if (vm->plans.items[i] != NULL)
            instance_free_spares(vm, vm->plans.items[i]);
    for (uint32_t i = 0; i < vm->globals.count; i++)
        array_release(memory, vm->globals.items[i]);
    free_scratch(vm);
    if (vm->scalar_code != NULL)
        scalar_code_free(vm->scalar_code);
    failure_free(&vm->failure);
    text_free(&vm->printed);
    code_free(vm);
    sequential_free(vm);
    world_free(&vm->world);
    heap_free(&vm->heap);
    arena_free(&vm->arena);
    team_free(vm->team);
    memory_free(memory, vm, sizeof *vm);
}

static bool is_scalar_code(void *context, CoreFunctionId function)
{
    return scalar_code_accepts(((Vm *)context)->scalar_code, function);
}

/* Nothing runs that was not flattened; so this is the time to make the scalar code, the VM being where it is found if that fails. */
FlattenOptions vm_flatten_options(Vm *vm)
{
    if (vm->scalar_code == NULL)
        vm->scalar_code = scalar_code_new(vm->memory, vm->program->core, vm->program->layouts);
    return (FlattenOptions){.is_scalar_code = is_scalar_code, .context = vm};
}

void vm_forget(Vm *vm, uint32_t function_count)
{
    if (vm->scalar_code != NULL)
        scalar_code_forget(vm->scalar_code, function_count);
    code_forget(vm, function_count);
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

uint64_t vm_run_time(const Vm *vm)
{
    return vm->run_time;
}

uint64_t vm_vector_bytes(const Vm *vm)
{
    return vm->vector_bytes;
}

uint32_t vm_threads(const Vm *vm)
{
    return vm->options.threads;
}

uint64_t vm_kernels(const Vm *vm)
{
    return code_kernels(vm);
}

double vm_compile_milliseconds(const Vm *vm)
{
    return code_milliseconds(vm);
}

/* ---- parameters ---- */

static void drop_elements(Vm *vm)
{
    array_release(vm->memory, vm->passage.elements);
    vm->passage.elements = NULL;
}

static void free_passage(Vm *vm)
{
    Passage *passage = &vm->passage;
    for (uint32_t i = 0; i < passage->row_count; i++)
        array_release(vm->memory, passage->rows[i]);
    memory_free(vm->memory, passage->rows, passage->row_count * sizeof(Array *));
    memory_free(vm->memory, passage->cells, passage->cell_capacity * sizeof(Cells));
    array_release(vm->memory, passage->global);
    drop_elements(vm);
    *passage = (Passage){0};
}

static void reserve_cells(Vm *vm, uint32_t count)
{
    Passage *passage = &vm->passage;
    memory_free(vm->memory, passage->cells, passage->cell_capacity * sizeof(Cells));
    passage->cell_count = passage->cell_capacity = 0;
    passage->cells = NULL;
    passage->cells = memory_alloc(vm->memory, count * sizeof(Cells));
    passage->cell_capacity = count;
}

static void add_cell(Passage *passage, const void *data)
{
    passage->cells[passage->cell_count++] = (Cells){.data = data, .is_uniform = true};
}

/* What comes as columns becomes arrays as it is. */
static void take_columns(Vm *vm, Array *row, ValueSource *source)
{
    Columns *columns = value_source_whole_columns(source);
    if (columns->type == row->layout->type) {
        array_take_columns(vm->memory, row, columns);
        return;
    }
    enum { VECTOR_LEAVES = 3 };
    Cells cells[VECTOR_LEAVES];
    int64_t start = 0, length = (int64_t)columns->count;
    Array *elements = vm->passage.elements = array_new(vm->memory, row->layout->leaves[0].elements);
    array_take_columns(vm->memory, elements, columns);
    cells[0] = (Cells){.data = &elements, .is_uniform = true};
    cells[1] = (Cells){.data = &start, .is_uniform = true};
    cells[2] = (Cells){.data = &length, .is_uniform = true};
    array_append(vm->memory, vm->team, row, cells, 0, 1);
}

static void let_row_go(Memory *memory, void *row)
{
    array_release(memory, row);
}

/* What is held for many runs becomes arrays in the first of them, which are kept in its place. */
static Array *take_source(Vm *vm, Array **row, const Layout *layout, ValueSource *source)
{
    Array *kept = value_source_kept(source);
    if (kept != NULL)
        return *row = array_retain(kept);
    *row = array_new(vm->memory, layout);
    take_columns(vm, *row, source);
    drop_elements(vm);
    if (value_source_is_held(source))
        value_source_keep(source, array_retain(*row), let_row_go);
    return *row;
}

static Array *take_value(Vm *vm, Array **row, const Layout *layout, TypeId type, Value value)
{
    *row = array_new(vm->memory, layout);
    array_append_value(vm->memory, vm->types, *row, value);
    value_release(&vm->heap, vm->types, type, value);
    return *row;
}

static void add_argument(Vm *vm, uint32_t argument, TypeId type, Value value)
{
    Passage *passage = &vm->passage;
    const Layout *layout = layout_of(vm->program->layouts, type);
    Array **place = &passage->rows[argument];
    bool has_source = vm->sources != NULL && vm->sources[argument] != NULL;
    const Array *row = has_source ? take_source(vm, place, layout, vm->sources[argument]) : take_value(vm, place, layout, type, value);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        add_cell(passage, array_cells(row, leaf, 0).data);
}

static void make_arguments(Vm *vm, const FlowNetwork *network, const CoreBlock *block, const Value *values)
{
    Passage *passage = &vm->passage;
    uint32_t count = block == NULL ? 0 : block->parameter_count;
    passage->rows = memory_alloc(vm->memory, count * sizeof(Array *));
    passage->row_count = count;
    reserve_cells(vm, network->parameter_count);
    for (uint32_t i = 0; i < count; i++) {
        TypeId type = vm->program->core->variables.items[block->parameters[i]].type;
        if (!type_is_sequence(vm->types, type)) /* else it is read while the network runs */
            add_argument(vm, i, type, values[i]);
    }
    if (!network->draws)
        return;
    add_cell(passage, &vm->random.key);
    add_cell(passage, &vm->random.counter);
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
    vm->passage.global = array_new(vm->memory, layout_of(vm->program->layouts, type));
    array_append(vm->memory, vm->team, vm->passage.global, cells, 0, 1);
    array_release(vm->memory, vm->globals.items[variable]);
    vm->globals.items[variable] = vm->passage.global;
    vm->passage.global = NULL;
}

void vm_write_printed(Vm *vm)
{
    if (vm->printed.length > 0 && vm->printer->write != NULL)
        vm->printer->write(vm->printer->context, text_string(&vm->printed), vm->printed.length);
    text_clear(&vm->printed);
}

static void take_results(Vm *vm, TypeId type, CoreVar global, Value *result)
{
    const Instance *instance = vm->frames[0].instance;
    const FlowNetwork *network = instance->plan->network;
    reserve_cells(vm, network->result_count);
    Cells *cells = vm->passage.cells;
    for (uint32_t i = 0; i < network->result_count; i++)
        cells[i] = result_cells(instance, i);
    keep_random_state(vm, network, cells);
    if (global != 0)
        bind_global(vm, global, cells);
    if (network->prints)
        vm_write_printed(vm);
    else if (vm->printer != NULL && vm->printer->digest != NULL)
        rows_digest(layout_of(vm->program->layouts, type), cells, 0, vm->printer->digest);
    else if (result != NULL)
        *result = rows_value(&vm->heap, vm->types, layout_of(vm->program->layouts, type), cells, 0);
}

/* ---- running ---- */

static void stop_from_team(void *context)
{
    vm_stop(context);
}

/* The VM must be there to hold the team, so that neither is lost if there is no memory for the other. */
static void make_team(Vm *vm)
{
    if (vm->team == NULL)
        vm->team = team_new(vm->memory, (TeamOptions){.threads = vm->options.threads,
                                                      .piece_picoseconds = vm->options.piece_nanoseconds * 1000,
                                                      .stop = vm->options.stop,
                                                      .stopped = stop_from_team,
                                                      .context = vm});
}

_Noreturn void vm_stop(Vm *vm)
{
    longjmp(vm->stopped, 1);
}

/* Before a run, what is stopped comes back here. */
static void share_outside(Vm *vm, size_t count, SharedWork *work, void *context)
{
    make_team(vm);
    if (setjmp(vm->stopped) == 0)
        team_run(vm->team, count, 1, work, context);
}

static void share(void *owner, size_t count, SharedWork *work, void *context)
{
    Vm *vm = owner;
    if (vm->is_running)
        team_run(vm->team, count, 1, work, context);
    else
        share_outside(vm, count, work, context);
}

Sharing vm_sharing(Vm *vm)
{
    return (Sharing){.run = share, .owner = vm, .members = vm->options.threads};
}

/* What is run, on what, and what for. */
typedef struct Run {
    FlowNetworkId network;
    const CoreBlock *block; /* with the parameters; null for an item */
    const Value *values;
    TypeId type;    /* of the result */
    CoreVar global; /* to be bound to it, or 0 */
    Value *result;
} Run;

/* Runs a network on unit. */
static bool run_network(Vm *vm, const Run *run)
{
    make_arguments(vm, vm->program->networks.items[run->network], run->block, run->values);
    vm->has_failed = false;
    if (vm->options.progress != NULL)
        progress_tell(vm->options.progress, 0, 0);
    text_clear(&vm->printed);
    plan_compile(vm, plan_of(vm, run->network));
    uint64_t start = machine_clock(), vector_bytes = vm->memory->vector_bytes;
    call_start_item(vm, run->network, vm->passage.cells);
    bool is_done = call_run(vm);
    vm->run_time = machine_clock() - start;
    vm->vector_bytes = vm->memory->vector_bytes - vector_bytes;
    if (is_done)
        take_results(vm, run->type, run->global, run->result);
    return is_done;
}

/* The same, or less if it is stopped. No local variable changes between the two ways that lead on from here. */
static bool run_or_stop(Vm *vm, const Run *run)
{
    if (setjmp(vm->stopped) == 0)
        return run_network(vm, run);
    if (vm->options.progress != NULL)
        survey_run(vm); /* how far it came */
    failure_stopped(failure_at(&vm->failure, vm->diagnostics->sources, (Span){0}), vm->options.stop);
    return false;
}

/* Giving back what a run holds is a part of it. */
static void let_go(Vm *vm)
{
    uint64_t start = machine_clock();
    call_unwind(vm);
    team_give_back_all(vm->team);
    vm->run_time += machine_clock() - start;
    free_passage(vm);
}

static bool run(Vm *vm, const Run *run)
{
    make_team(vm);
    let_go(vm); /* of what a run without memory has left */
    vm->is_running = true;
    bool is_done = run_or_stop(vm, run);
    vm->is_running = false;
    if (!is_done) {
        world_abandon(&vm->world);
        failure_report(&vm->failure, vm->diagnostics);
    }
    let_go(vm);
    vm->stats.nanoseconds += vm->run_time;
    return is_done;
}

bool vm_run_item(Vm *vm, uint32_t item_index, const CoreItem *item, const VmPrinter *printer, Value *result)
{
    vm->sources = NULL;
    vm->printer = printer;
    return run(vm, &(Run){.network = vm->program->by_item.items[item_index],
                          .type = item->block->result.type,
                          .global = item->global,
                          .result = result});
}

bool vm_call(Vm *vm, CoreFunctionId id, const Value *arguments, ValueSource *const *sources,
             const VmPrinter *printer, Value *result)
{
    vm->sources = sources;
    vm->printer = printer;
    const CoreFunction *function = vm->program->core->functions.items[id];
    return run(vm, &(Run){.network = vm->program->by_entry.items[id],
                          .block = function->body,
                          .values = arguments,
                          .type = function->result_type,
                          .result = result});
}
