#include "vm/code.h"

#include "base/least.h"
#include "base/machine.h"
#include "compile/compile.h"
#include "kernel/emit.h"

#include <stdio.h>
#include <string.h>

enum {
    FEW_POINTS = 8 * KERNEL_WIDE, /* of a call: most of them may have nobody to be done with at once */
    FEW_CALLS = 256,              /* with so few points, if these are most of all points, before they are done one by one */
};

typedef struct Entry {
    KernelFunction *code, *fold, *scan; /* null if there is none */
    bool is_wide, is_shared, is_together;
    bool is_complete;     /* does all points, one by one if need be */
    uint32_t few_calls;
    uint64_t few, points; /* in those, and in all */
} Entry;

struct Code {
    VEC(const Fusion *) fusions;    /* by network; null where it has none */
    VEC(KernelFunction *) kernels;  /* by number; [0] unused */
    VEC(Compiled *) objects;
    VEC(Entry) entries;             /* by function */
    VEC(FunctionGlobal) globals;    /* that functions read */
    uint32_t cell_count;            /* of their leaves */
    double milliseconds;
    bool has_failed; /* no more attempts */
};

static Code *code_get(Vm *vm)
{
    if (vm->code == NULL) {
        vm->code = ARENA_NEW(&vm->arena, Code);
        *vec_push(&vm->arena, &vm->code->kernels) = NULL;
    }
    return vm->code;
}

/* ---- what is compiled together ---- */

static bool calls_itself(const FlowNetwork *network)
{
    for (FlowNodeId id = 0; id < network->nodes.count; id++)
        if (network->function != 0 && network->nodes.items[id].op == FLOW_CALL && network->nodes.items[id].function == network->function)
            return true;
    return false;
}

/* Whether the points of a call will be done by a sequential version (vm/sequential.h): its network is compiled if that turns out otherwise. */
static bool is_handed_over(const Vm *vm, FunctionTexts *functions, const FlowNode *node)
{
    if (node->op != FLOW_CALL || node->function == 0 || !function_text_accepts_vectors(functions, node->function) ||
        !function_text_need_entry(functions, node->function))
        return false;
    const FlowNetwork *callee = vm->program->networks.items[node->network];
    return team_size(vm->team) == 1 || !(callee->is_single || calls_itself(callee));
}

typedef struct Wanted {
    VEC(FlowNetworkId) networks;
    bool *are_in; /* by network */
} Wanted;

static void want(Vm *vm, Wanted *wanted, FlowNetworkId network)
{
    if (!wanted->are_in[network])
        *vec_push(&vm->arena, &wanted->networks) = network;
    wanted->are_in[network] = true;
}

/* A network, all items, and those that are run with them. */
static void find_wanted(Vm *vm, FunctionTexts *functions, FlowNetworkId network, Wanted *wanted)
{
    want(vm, wanted, network);
    for (FlowNetworkId id = 1; id < vm->program->networks.count; id++)
        if (vm->program->networks.items[id] != NULL && vm->program->networks.items[id]->is_item)
            want(vm, wanted, id);
    for (uint32_t i = 0; i < wanted->networks.count; i++) {
        const FlowNetwork *found = vm->program->networks.items[wanted->networks.items[i]];
        for (FlowNodeId id = 0; id < found->nodes.count; id++)
            if (found->nodes.items[id].network != 0 && !is_handed_over(vm, functions, &found->nodes.items[id]))
                want(vm, wanted, found->nodes.items[id].network);
    }
}

/* Of these, those that came since the last time, or were made anew; gives how many kernels they have. */
static uint32_t fuse_new(Vm *vm, Code *code, FunctionTexts *functions, const bool *is_wanted, const Fusion **fresh, uint32_t *fresh_count)
{
    uint32_t number = code->kernels.count;
    for (FlowNetworkId id = 1; id < vm->program->networks.count; id++) {
        const FlowNetwork *network = vm->program->networks.items[id];
        while (code->fusions.count <= id)
            *vec_push(&vm->arena, &code->fusions) = NULL;
        const Fusion *known = code->fusions.items[id];
        if (!is_wanted[id] || (known != NULL && known->network == network))
            continue;
        code->fusions.items[id] = fuse_network(&vm->arena, network, functions, number);
        number += code->fusions.items[id]->kernels.count;
        fresh[(*fresh_count)++] = code->fusions.items[id];
    }
    return number - code->kernels.count;
}

static KernelFunction *find_function(Compiled *object, const char *kind, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "%s_%u", kind, number);
    void *symbol = compile_symbol(object, name);
    KernelFunction *function;
    memcpy(&function, &symbol, sizeof function);
    if (function == NULL)
        bug("vm", "compiled code has no %s", name);
    return function;
}

static void find_functions(Vm *vm, Code *code, Compiled *object, uint32_t count, const FunctionTexts *functions)
{
    for (uint32_t i = 0; i < count; i++) {
        KernelFunction *kernel = find_function(object, "kernel", code->kernels.count);
        *vec_push(&vm->arena, &code->kernels) = kernel;
    }
    for (uint32_t i = 0; i < functions->entries.count; i++) {
        CoreFunctionId id = functions->entries.items[i];
        while (code->entries.count <= id)
            *vec_push(&vm->arena, &code->entries) = (Entry){0};
        code->entries.items[id] = (Entry){.code = find_function(object, "entry", id),
                                          .is_wide = functions->is_wide[id],
                                          .is_complete = functions->is_complete[id],
                                          .is_shared = functions->is_shared[id],
                                          .is_together = functions->is_together[id]};
    }
    for (uint32_t i = 0; i < functions->folds.count; i++)
        code->entries.items[functions->folds.items[i]].fold = find_function(object, "fold", functions->folds.items[i]);
    for (uint32_t i = 0; i < functions->scans.count; i++)
        code->entries.items[functions->scans.items[i]].scan = find_function(object, "scan", functions->scans.items[i]);
}

static void warn(Vm *vm, Code *code, const char *problem)
{
    code->has_failed = true;
    diagnostics_warning(vm->diagnostics, (Span){0}, "the program runs without compiled code, and slower: %s", problem);
}

static void add_globals(Vm *vm, Code *code, const FunctionTexts *functions)
{
    for (uint32_t i = 0; i < functions->globals.count; i++)
        *vec_push(&vm->arena, &code->globals) = functions->globals.items[i];
    code->cell_count = functions->next_global;
}

static FunctionTexts *new_texts(Vm *vm, const Code *code)
{
    FunctionTexts *functions = function_texts_new(&vm->arena, vm->program->core, vm->program->layouts, code->cell_count);
    for (uint32_t i = 0; i < code->entries.count; i++)
        functions->has_entry[i] = code->entries.items[i].code != NULL;
    return functions;
}

/* Compiles kernels, and the functions that are needed. */
static void compile(Vm *vm, Code *code, FunctionTexts *functions, const Fusion *const *fresh, uint32_t fresh_count, uint32_t kernel_count)
{
    EmitContext context = {.names = vm->options.names, .sources = vm->diagnostics->sources, .functions = functions};
    emit_need_functions(&context, fresh, fresh_count);
    if (kernel_count == 0 && functions->entries.count == 0 && functions->folds.count == 0 && functions->scans.count == 0)
        return;
    Text files[COMPILE_TEXTS_MAX], problem;
    CompileText texts[COMPILE_TEXTS_MAX];
    uint32_t count = emit_c_files(&context, fresh, fresh_count, vm->memory, files, (uint32_t)least(machine_processors(), COMPILE_TEXTS_MAX));
    text_init(&problem, vm->memory);
    for (uint32_t i = 0; i < count; i++)
        texts[i] = (CompileText){text_string(&files[i]), files[i].length};
    add_globals(vm, code, functions);
    CompileOptions options = {.compiler = vm->options.compiler, .is_fast = vm->options.is_fast, .stop = vm->options.stop};
    Compiled *object = compile_load(vm->memory, &options, texts, count, &problem);
    if (object != NULL) {
        *vec_push(&vm->arena, &code->objects) = object;
        code->milliseconds += compile_milliseconds(object);
        find_functions(vm, code, object, kernel_count, functions);
    } else if (stop_reason(vm->options.stop) == STOP_NOT)
        warn(vm, code, text_string(&problem));
    text_free(&problem);
    for (uint32_t i = 0; i < count; i++)
        text_free(&files[i]);
}

/* A network and what is not compiled yet of what is run with it. */
static void compile_new(Vm *vm, Code *code, FlowNetworkId network)
{
    const Fusion **fresh = ARENA_ARRAY(&vm->arena, const Fusion *, vm->program->networks.count);
    Wanted wanted = {.are_in = ARENA_ARRAY(&vm->arena, bool, vm->program->networks.count)};
    FunctionTexts *functions = new_texts(vm, code);
    find_wanted(vm, functions, network, &wanted);
    uint32_t fresh_count = 0, kernel_count = fuse_new(vm, code, functions, wanted.are_in, fresh, &fresh_count);
    compile(vm, code, functions, fresh, fresh_count, kernel_count);
}

const Fusion *code_of_network(Vm *vm, FlowNetworkId network)
{
    Code *code = code_get(vm);
    const FlowNetwork *wanted = vm->program->networks.items[network];
    bool is_known = network < code->fusions.count && code->fusions.items[network] != NULL &&
                    code->fusions.items[network]->network == wanted;
    if (!is_known && !code->has_failed)
        compile_new(vm, code, network);
    if (code->has_failed || stop_reason(vm->options.stop) != STOP_NOT)
        return NULL;
    return code->fusions.items[network];
}

KernelFunction *code_of_kernel(const Vm *vm, const Kernel *kernel)
{
    return vm->code->kernels.items[kernel->number];
}

const volatile int *code_stop_word(const StopFlag *stop)
{
    static const int never = STOP_NOT;
    return stop == NULL ? &never : (const volatile int *)(const void *)&stop->reason;
}

KernelFunction *code_of_function(const Vm *vm, CoreFunctionId function)
{
    return vm->code == NULL || function >= vm->code->entries.count ? NULL : vm->code->entries.items[function].code;
}

KernelFunction *code_complete(Vm *vm, CoreFunctionId function)
{
    Code *code = vm->code;
    if (!code->entries.items[function].is_complete && !code->has_failed) {
        FunctionTexts *functions = new_texts(vm, code);
        function_text_need_complete_entry(functions, function);
        compile(vm, code, functions, NULL, 0, 0);
    }
    return code->entries.items[function].is_complete ? code->entries.items[function].code : NULL;
}

KernelFunction *code_of_points(Vm *vm, CoreFunctionId function, size_t count)
{
    KernelFunction *known = code_of_function(vm, function);
    Entry *entry = known == NULL ? NULL : &vm->code->entries.items[function];
    if (entry == NULL || entry->is_complete)
        return known;
    bool is_few = count < FEW_POINTS;
    entry->points += count;
    entry->few += is_few ? count : 0;
    entry->few_calls += is_few;
    bool is_wanted = entry->few_calls > FEW_CALLS && entry->few > entry->points / 2;
    KernelFunction *complete = is_wanted ? code_complete(vm, function) : NULL;
    return complete == NULL ? known : complete;
}

KernelFunction *code_of_fold(const Vm *vm, CoreFunctionId function)
{
    return vm->code == NULL || function >= vm->code->entries.count ? NULL : vm->code->entries.items[function].fold;
}

KernelFunction *code_of_scan(const Vm *vm, CoreFunctionId function)
{
    return vm->code == NULL || function >= vm->code->entries.count ? NULL : vm->code->entries.items[function].scan;
}

bool code_is_together(const Vm *vm, CoreFunctionId function)
{
    return vm->code->entries.items[function].is_together;
}

bool code_is_wide(const Vm *vm, CoreFunctionId function)
{
    return vm->code->entries.items[function].is_wide;
}

bool code_is_shared(const Vm *vm, CoreFunctionId function)
{
    return vm->code->entries.items[function].is_shared;
}

void code_forget(Vm *vm, uint32_t function_count)
{
    if (vm->code != NULL && vm->code->entries.count > function_count)
        vm->code->entries.count = function_count;
}

const void **code_global_cells(Vm *vm)
{
    const Code *code = vm->code;
    const void **cells = team_alloc(vm->team, (code->cell_count + 1) * sizeof *cells);
    for (uint32_t i = 0; i < code->globals.count; i++) {
        const FunctionGlobal *global = &code->globals.items[i];
        const Array *row = global->variable < vm->globals.count ? vm->globals.items[global->variable] : NULL;
        for (uint32_t leaf = 0; leaf < global->count; leaf++)
            cells[global->first + leaf] = row == NULL ? NULL : array_cells(row, leaf, 0).data;
    }
    return cells;
}

void code_free(Vm *vm)
{
    for (uint32_t i = 0; vm->code != NULL && i < vm->code->objects.count; i++)
        compile_free(vm->memory, vm->code->objects.items[i]);
}

uint64_t code_kernels(const Vm *vm)
{
    return vm->code == NULL ? 0 : vm->code->kernels.count - 1;
}

double code_milliseconds(const Vm *vm)
{
    return vm->code == NULL ? 0 : vm->code->milliseconds;
}
