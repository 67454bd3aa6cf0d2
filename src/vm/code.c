#include "vm/code.h"

#include "compile/compile.h"
#include "kernel/emit.h"

#include <stdio.h>
#include <string.h>

typedef struct Entry {
    KernelFunction *code, *fold; /* null if there is none */
    bool is_wide, is_shared, is_together;
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

/* The networks that came since the last time, or were made anew; gives how many kernels they have. */
static uint32_t fuse_new(Vm *vm, Code *code, FunctionTexts *functions, const Fusion **fresh, uint32_t *fresh_count)
{
    uint32_t number = code->kernels.count;
    for (FlowNetworkId id = 1; id < vm->program->networks.count; id++) {
        const FlowNetwork *network = vm->program->networks.items[id];
        while (code->fusions.count <= id)
            *vec_push(&vm->arena, &code->fusions) = NULL;
        const Fusion *known = code->fusions.items[id];
        if (network == NULL || (known != NULL && known->network == network))
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
                                          .is_shared = functions->is_shared[id],
                                          .is_together = functions->is_together[id] && !functions->is_wide[id]};
    }
    for (uint32_t i = 0; i < functions->folds.count; i++)
        code->entries.items[functions->folds.items[i]].fold = find_function(object, "fold", functions->folds.items[i]);
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

/* Compiles the kernels of new networks. */
static void compile_new(Vm *vm, Code *code)
{
    const Fusion **fresh = ARENA_ARRAY(&vm->arena, const Fusion *, vm->program->networks.count);
    FunctionTexts *functions = function_texts_new(&vm->arena, vm->program->core, vm->program->layouts, code->cell_count);
    uint32_t fresh_count = 0, kernel_count = fuse_new(vm, code, functions, fresh, &fresh_count);
    EmitContext context = {.names = vm->options.names, .sources = vm->diagnostics->sources, .functions = functions};
    emit_need_functions(&context, fresh, fresh_count);
    if (kernel_count == 0 && functions->entries.count == 0)
        return;
    Text text, problem;
    text_init(&text, vm->memory);
    text_init(&problem, vm->memory);
    emit_c(&context, fresh, fresh_count, &text);
    add_globals(vm, code, functions);
    CompileOptions options = {.compiler = vm->options.compiler, .is_fast = vm->options.is_fast, .stop = vm->options.stop};
    Compiled *object = compile_load(vm->memory, &options, text_string(&text), text.length, &problem);
    if (object != NULL) {
        *vec_push(&vm->arena, &code->objects) = object;
        code->milliseconds += compile_milliseconds(object);
        find_functions(vm, code, object, kernel_count, functions);
    } else if (stop_reason(vm->options.stop) == STOP_NOT)
        warn(vm, code, text_string(&problem));
    text_free(&problem);
    text_free(&text);
}

const Fusion *code_of_network(Vm *vm, FlowNetworkId network)
{
    Code *code = code_get(vm);
    const FlowNetwork *wanted = vm->program->networks.items[network];
    bool is_known = network < code->fusions.count && code->fusions.items[network] != NULL &&
                    code->fusions.items[network]->network == wanted;
    if (!is_known && !code->has_failed)
        compile_new(vm, code);
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

KernelFunction *code_of_fold(const Vm *vm, CoreFunctionId function)
{
    return vm->code == NULL || function >= vm->code->entries.count ? NULL : vm->code->entries.items[function].fold;
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
