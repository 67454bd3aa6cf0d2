/* SCALAR_CALL: functions on scalars, run point by point (scalar_code.h). */
#include "vm/call.h"
#include "vm/code.h"
#include "vm/points.h"

/* ---- signatures ---- */

static LeafType *list_leaves(Vm *vm, const TypeId *types, uint32_t type_count, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < type_count; i++)
        *count += layout_of(vm->program->layouts, types[i])->count;
    LeafType *leaves = ARENA_ARRAY(&vm->arena, LeafType, *count);
    uint32_t next = 0;
    for (uint32_t i = 0; i < type_count; i++) {
        const Layout *layout = layout_of(vm->program->layouts, types[i]);
        for (uint32_t leaf = 0; leaf < layout->count; leaf++)
            leaves[next++] = layout->leaves[leaf].type;
    }
    return leaves;
}

static const Signature *make_signature(Vm *vm, const CoreFunction *function)
{
    Signature *signature = ARENA_NEW(&vm->arena, Signature);
    uint32_t count = function->body->parameter_count;
    TypeId *types = ARENA_ARRAY(&vm->arena, TypeId, count);
    for (uint32_t i = 0; i < count; i++)
        types[i] = vm->program->core->variables.items[function->body->parameters[i]].type;
    signature->parameters = list_leaves(vm, types, count, &signature->parameter_count);
    signature->results = list_leaves(vm, &function->result_type, 1, &signature->result_count);
    return signature;
}

const Signature *scalar_signature(Vm *vm, CoreFunctionId function)
{
    while (vm->signatures.count <= function)
        *vec_push(&vm->arena, &vm->signatures) = NULL;
    if (vm->signatures.items[function] == NULL)
        vm->signatures.items[function] = make_signature(vm, vm->program->core->functions.items[function]);
    return vm->signatures.items[function];
}

/* ---- running ---- */

static bool read_global(void *context, CoreVar variable, Cells *leaves)
{
    const Vm *vm = context;
    const Array *row = variable < vm->globals.count ? vm->globals.items[variable] : NULL;
    for (uint32_t i = 0; row != NULL && i < row->layout->count; i++)
        leaves[i] = array_cells(row, i, 0);
    return row != NULL;
}

bool scalar_run(Vm *vm, CoreFunctionId function, const Cells *arguments, void *const *results, size_t count, size_t *done,
                Failure *failure)
{
    ScalarRun run = {.arguments = arguments,
                     .results = results,
                     .count = count,
                     .team = vm->team,
                     .depth = call_depth(vm),
                     .max_depth = vm->options.max_depth,
                     .stop = vm->options.stop,
                     .compiled = code_of_function(vm, function),
                     .compiled_stop = code_stop_word(vm->options.stop),
                     .global = read_global,
                     .context = vm};
    const void **globals = run.compiled == NULL ? NULL : code_global_cells(vm);
    run.compiled_globals = globals;
    bool is_done = scalar_code_run(vm->scalar_code, function, &run);
    team_give_back(vm->team, globals);
    *done = run.done;
    if (is_done)
        return true;
    if (run.problem.kind == SCALAR_PROBLEM_STOPPED) {
        scalar_code_word(vm->scalar_code, &run, vm->diagnostics->sources, &vm->failure);
        vm->has_failed = true;
    }
    scalar_code_word(vm->scalar_code, &run, vm->diagnostics->sources, failure);
    return false;
}

/* ---- the node ---- */

enum { SCALAR_DRIVER, SCALAR_ARGUMENTS };

/* Results that nobody reads are let go of. */
static void give_results(Firing *firing, const Signature *signature, void *const *results, size_t count)
{
    for (uint32_t i = 0; i < signature->result_count; i++)
        if (firing->node->outputs[i] != 0)
            firing_produce(firing, i, count);
        else
            cells_release(firing->vm->memory, signature->results[i], results[i], count);
}

/* A failure of which no place is known is that of the call. */
static void fail(Firing *firing, size_t point, const Failure *failure)
{
    Failure *failed = firing_fail(firing, SCALAR_DRIVER, point);
    Span call = failed->span;
    *failed = *failure;
    if (failed->span.start == 0)
        failed->span = call;
}

static void run_points(Firing *firing, size_t count)
{
    enum { FEW = 16 };
    Vm *vm = firing->vm;
    const Signature *signature = scalar_signature(vm, firing->node->function);
    void *few[FEW], **results = few;
    if (signature->result_count > FEW)
        results = team_alloc(vm->team, signature->result_count * sizeof(void *));
    for (uint32_t i = 0; i < signature->result_count; i++)
        results[i] = firing_reserve(firing, i, count);
    PointsViews views;
    points_views(firing, SCALAR_ARGUMENTS, signature->parameter_count, &views);
    size_t done;
    Failure failure;
    failure_init(&failure, vm->memory);
    bool is_done = scalar_run(vm, firing->node->function, views.cells, results, count, &done, &failure);
    points_views_free(firing, &views);
    give_results(firing, signature, results, done);
    if (results != few)
        team_give_back(vm->team, results);
    if (is_done)
        points_take(firing, count);
    else
        fail(firing, done, &failure);
}

static void fire_scalar_call(Firing *firing)
{
    size_t count = least(points_available(firing), points_room(firing));
    if (count > 0)
        run_points(firing, count);
    else
        points_take(firing, 0);
}

const NodeKind node_kind_SCALAR_CALL = {.fire = fire_scalar_call};
