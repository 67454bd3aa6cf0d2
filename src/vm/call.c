#include "vm/call.h"

#include "base/least.h"
#include "vm/sequential.h"

#include <string.h>

/* ---- calls ---- */

static size_t aligned(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static size_t column_bytes(LeafType type, bool is_uniform, size_t count)
{
    return aligned(leaf_size(type) * (is_uniform ? 1 : count));
}

static size_t call_bytes(const Signature *signature, size_t count)
{
    size_t bytes = sizeof(Call) + (signature->parameter_count + signature->result_count) * sizeof(Cells);
    for (uint32_t i = 0; i < signature->result_count; i++)
        bytes += column_bytes(signature->results[i], false, count);
    return bytes;
}

Call *call_new(Vm *vm, Signature signature, const Cells *arguments, size_t count)
{
    size_t bytes = call_bytes(&signature, count);
    Call *call = memory_alloc(vm->memory, bytes);
    call->signature = signature;
    call->bytes = bytes;
    call->count = count;
    call->arguments = (Cells *)(call + 1);
    call->results = call->arguments + signature.parameter_count;
    char *next = (char *)(call->results + signature.result_count);
    for (uint32_t i = 0; i < signature.parameter_count; i++)
        call->arguments[i] = arguments[i];
    for (uint32_t i = 0; i < signature.result_count; i++) {
        call->results[i].data = next;
        next += column_bytes(signature.results[i], false, count);
    }
    call->result.columns = call->results;
    return call;
}

/* Before others may change what the arguments are in. */
static void keep_arguments(Vm *vm, Call *call)
{
    const Signature *signature = &call->signature;
    if (call->kept != NULL)
        return;
    for (uint32_t i = 0; i < signature->parameter_count; i++)
        call->kept_bytes += column_bytes(signature->parameters[i], call->arguments[i].is_uniform, call->count);
    char *next = call->kept = memory_resize(vm->memory, NULL, 0, ++call->kept_bytes);
    for (uint32_t i = 0; i < signature->parameter_count; i++) {
        bool is_uniform = call->arguments[i].is_uniform;
        cells_copy(signature->parameters[i], next, call->arguments[i], 0, is_uniform ? 1 : call->count);
        call->arguments[i].data = next;
        next += column_bytes(signature->parameters[i], is_uniform, call->count);
    }
}

static void free_arguments(Vm *vm, Call *call)
{
    const Signature *signature = &call->signature;
    if (call->kept == NULL)
        return;
    for (uint32_t i = 0; i < signature->parameter_count; i++)
        cells_release(vm->memory, signature->parameters[i], call->arguments[i].data, call->arguments[i].is_uniform ? 1 : call->count);
    memory_free(vm->memory, call->kept, call->kept_bytes);
}

void call_free(Vm *vm, Call *call)
{
    const Signature *signature = &call->signature;
    free_arguments(vm, call);
    for (uint32_t i = 0; i < signature->result_count; i++)
        cells_release(vm->memory, signature->results[i], call->results[i].data, call->count);
    if (call->has_failed)
        failure_free(&call->failure);
    memory_free(vm->memory, call, call->bytes);
}

/* ---- frames ---- */

static Frame *top_frame(const Vm *vm)
{
    return &vm->frames[vm->frame_count - 1];
}

uint64_t call_depth(const Vm *vm)
{
    return top_frame(vm)->depth;
}

static bool is_branch(const Plan *plan)
{
    return plan->network->is_branch;
}

static Frame *push_frame(Vm *vm, Call *call)
{
    uint64_t depth = call == NULL ? 0 : is_branch(call->plan) ? call_depth(vm) : call_depth(vm) + 1;
    if (vm->frame_count == vm->frame_capacity) {
        size_t capacity = vm->frame_capacity == 0 ? 16 : vm->frame_capacity * 2;
        vm->frames = memory_resize(vm->memory, vm->frames, vm->frame_capacity * sizeof(Frame), capacity * sizeof(Frame));
        vm->frame_capacity = capacity;
    }
    vm->frames[vm->frame_count] = (Frame){.call = call, .depth = depth};
    return &vm->frames[vm->frame_count++];
}

static void free_batch(Vm *vm, Batch *batch);

static void empty_frame(Vm *vm, Frame *frame)
{
    if (frame->instance != NULL)
        instance_free(vm, frame->instance);
    frame->instance = NULL;
    while (frame->pending != NULL) {
        Batch *batch = frame->pending;
        frame->pending = batch->next;
        free_batch(vm, batch);
    }
    free_batch(vm, frame->current);
    free_batch(vm, frame->spare);
    frame->current = frame->spare = NULL;
}

static void pop_frame(Vm *vm)
{
    empty_frame(vm, top_frame(vm));
    vm->frame_count--;
}

void call_unwind(Vm *vm)
{
    while (vm->frame_count > 0)
        pop_frame(vm);
}

/* ---- parameters ---- */

/* The first numbers. A longer table leaves those before it in the arena, for they may be in use. */
static const int64_t *numbers(Vm *vm, size_t count)
{
    if (vm->number_count >= count)
        return vm->numbers;
    size_t new_count = count > 2 * vm->number_count ? count : 2 * vm->number_count;
    vm->numbers = ARENA_ARRAY(&vm->arena, int64_t, new_count);
    vm->number_count = new_count;
    for (size_t i = 0; i < new_count; i++)
        vm->numbers[i] = (int64_t)i;
    return vm->numbers;
}

/* Points [first, first + count) of the columns become the parameters of a new instance. */
static void start_instance(Vm *vm, Frame *frame, Plan *plan, Cells slots, const Cells *columns, size_t first, size_t count)
{
    Instance *instance = instance_new(vm, plan);
    frame->instance = instance;
    if (plan->parameters == NO_NODE)
        return;
    const FlowNode *node = plan->nodes[plan->parameters].node;
    instance_borrow(instance, node->outputs[0], slots, count);
    for (uint32_t i = 1; i < node->output_count; i++) {
        Cells cells = columns[i - 1];
        if (!cells.is_uniform)
            cells.data = (const char *)cells.data + first * leaf_size(plan->network->parameters[i - 1]);
        instance_borrow(instance, node->outputs[i], cells, count);
    }
    instance_finish_node(vm, instance, plan->parameters);
}

/* Runs points [good, end) of the call on top of the stack. */
static void start_run(Vm *vm, Frame *frame)
{
    Call *call = frame->call;
    call->filled = call->good;
    size_t count = call->end - call->good;
    bool is_below_probe = vm->frame_count > 1 && vm->frames[vm->frame_count - 2].is_probe;
    frame->is_probe = count > 1 || is_below_probe;
    start_instance(vm, frame, call->plan, (Cells){.data = numbers(vm, call->end) + call->good}, call->arguments,
                   call->good, count);
    vm->stats.calls++;
}

static void go_on(Vm *vm, Call *call);

void call_start(Vm *vm, Call *call)
{
    push_frame(vm, call);
    go_on(vm, call);
}

void call_start_item(Vm *vm, FlowNetworkId network, const Cells *arguments)
{
    static const int64_t slot = 0;
    start_instance(vm, push_frame(vm, NULL), plan_of(vm, network), (Cells){.data = &slot, .is_uniform = true}, arguments, 0,
                   1);
}

/* ---- results ---- */

static void write_column(char *out, size_t size, Cells slots, Cells from, size_t count)
{
    const int64_t *slot = slots.data;
    const char *cells = from.data;
    for (size_t i = 0; i < count; i++)
        memcpy(out + (size_t)slot[cells_index(slots, i)] * size, cells + cells_index(from, i) * size, size);
}

void call_return(Vm *vm, Cells slots, const Cells *cells, size_t count)
{
    Call *call = top_frame(vm)->call;
    for (uint32_t i = 0; i < call->signature.result_count; i++) {
        LeafType type = call->signature.results[i];
        for (size_t k = 0; cells[i].is_uniform && k < count; k++)
            cells_retain(type, cells[i].data, 1);
        if (!cells[i].is_uniform)
            cells_retain(type, cells[i].data, count);
        write_column((char *)call->results[i].data, leaf_size(type), slots, cells[i], count);
    }
    call->filled += count;
}

/* ---- tail calls ---- */

static void empty_batch(Vm *vm, Batch *batch)
{
    const FlowNetwork *network = batch->plan->network;
    for (uint32_t i = 0; i < network->parameter_count; i++)
        cells_release(vm->memory, network->parameters[i], batch->columns[i], batch->count);
    batch->count = 0;
}

static void free_batch(Vm *vm, Batch *batch)
{
    if (batch == NULL)
        return;
    const FlowNetwork *network = batch->plan->network;
    empty_batch(vm, batch);
    for (uint32_t i = 0; i < network->parameter_count; i++)
        memory_free(vm->memory, batch->columns[i], batch->capacity * leaf_size(network->parameters[i]));
    memory_free(vm->memory, batch->slots, batch->capacity * sizeof(int64_t));
    memory_free(vm->memory, batch, sizeof *batch + network->parameter_count * sizeof(void *));
}

static Batch *new_batch(Vm *vm, Frame *frame, Plan *plan)
{
    Batch *batch = frame->spare;
    if (batch != NULL && batch->plan == plan) {
        frame->spare = NULL;
    } else {
        batch = memory_alloc(vm->memory, sizeof *batch + plan->network->parameter_count * sizeof(void *));
        batch->plan = plan;
    }
    batch->next = frame->pending;
    frame->pending = batch;
    return batch;
}

static Batch *batch_for(Vm *vm, FlowNetworkId network)
{
    Frame *frame = top_frame(vm);
    Plan *plan = plan_of(vm, network);
    for (Batch *batch = frame->pending; batch != NULL; batch = batch->next)
        if (batch->plan == plan)
            return batch;
    return new_batch(vm, frame, plan);
}

/* Columns that have grown while others could not have room for more than `capacity` says: they are only freed. */
static void reserve_batch(Vm *vm, Batch *batch, size_t count)
{
    size_t needed = batch->count + count, old = batch->capacity;
    if (needed <= old)
        return;
    const FlowNetwork *network = batch->plan->network;
    size_t capacity = needed > old * 2 ? needed : old * 2;
    batch->slots = memory_resize(vm->memory, batch->slots, old * sizeof(int64_t), capacity * sizeof(int64_t));
    for (uint32_t i = 0; i < network->parameter_count; i++) {
        size_t size = leaf_size(network->parameters[i]);
        batch->columns[i] = memory_resize(vm->memory, batch->columns[i], old * size, capacity * size);
    }
    batch->capacity = capacity;
}

void call_collect(Vm *vm, FlowNetworkId id, Cells slots, const Cells *cells, size_t count)
{
    Batch *batch = batch_for(vm, id);
    const FlowNetwork *network = batch->plan->network;
    reserve_batch(vm, batch, count);
    cells_copy(SCALAR_I64, batch->slots + batch->count, slots, 0, count);
    for (uint32_t i = 0; i < network->parameter_count; i++)
        cells_copy(network->parameters[i],
                   (char *)batch->columns[i] + batch->count * leaf_size(network->parameters[i]), cells[i], 0, count);
    batch->count += count;
}

static void retire_batch(Vm *vm, Frame *frame)
{
    Batch *batch = frame->current;
    frame->current = NULL;
    if (batch == NULL)
        return;
    if (frame->spare != NULL) {
        free_batch(vm, batch);
        return;
    }
    empty_batch(vm, batch);
    frame->spare = batch;
}

/* The next batch takes the place of the instance that is done. */
static void start_batch(Vm *vm, Frame *frame)
{
    enum { COLUMNS = 64 };
    retire_batch(vm, frame);
    Batch *batch = frame->pending;
    frame->pending = batch->next;
    frame->current = batch;
    uint32_t count = batch->plan->network->parameter_count;
    Cells few[COLUMNS], *columns = few;
    if (count > COLUMNS)
        columns = memory_alloc(vm->memory, count * sizeof(Cells));
    for (uint32_t i = 0; i < count; i++)
        columns[i] = (Cells){.data = batch->columns[i]};
    start_instance(vm, frame, batch->plan, (Cells){.data = batch->slots}, columns, 0, batch->count);
    if (columns != few)
        memory_free(vm->memory, columns, count * sizeof(Cells));
}

/* ---- going on ---- */

/* The call has results or a failure: the node that asked for it, if any, will see, before those that would give it more. */
static void complete(Vm *vm, Call *call)
{
    pop_frame(vm);
    call->is_done = true;
    call->result.count = call->good;
    call->result.has_failed = call->has_failed;
    if (call->caller != NULL) {
        instance_wake(call->caller, call->node);
        call->caller->next_node = call->node;
    }
}

/* Chooses the points of the next run: all that are left; half of those among which one fails; those that are too large for compiled code; or, where compiled code does
 * points one by one and stops at one, a few, each time more, for it may stop at the next one too. */
static size_t next_end(Call *call, bool is_left_over)
{
    if (call->bad > call->good)
        return call->good + (call->bad - call->good + 1) / 2;
    if (call->large_end > call->good)
        return call->large_end;
    if (!is_left_over)
        return call->count;
    call->left_over = call->left_over == 0 ? 1 : 2 * call->left_over;
    return call->good + least(call->left_over, call->count - call->good);
}

static void go_on(Vm *vm, Call *call)
{
    bool is_left_over = call->bad <= call->good && !call->has_failed && sequential_run(vm, call);
    if (call->has_failed || call->good == call->count) {
        complete(vm, call);
        return;
    }
    call->end = next_end(call, is_left_over);
    keep_arguments(vm, call);
    start_run(vm, top_frame(vm));
}

static void finish_instance(Vm *vm)
{
    Frame *frame = top_frame(vm);
    instance_free(vm, frame->instance);
    frame->instance = NULL;
    if (frame->pending != NULL) {
        start_batch(vm, frame);
        return;
    }
    Call *call = frame->call;
    if (call->filled != call->end)
        bug("vm", "a call of network %u has %zu results for %zu points", call->plan->id, call->filled - call->good,
            call->end - call->good);
    retire_batch(vm, frame);
    call->good = call->end;
    go_on(vm, call);
}

static void forget_results(Vm *vm, Call *call, size_t first, size_t end)
{
    for (uint32_t i = 0; i < call->signature.result_count; i++) {
        size_t size = leaf_size(call->signature.results[i]);
        char *cells = (char *)call->results[i].data + first * size;
        cells_release(vm->memory, call->signature.results[i], cells, end - first);
        memset(cells, 0, (end - first) * size);
    }
}

static void move_failure(Failure *to, Failure *from, Memory *memory)
{
    *to = *from;
    failure_init(from, memory);
}

/* A run on several points failed, or something below it: fewer points are tried. */
static void fail_probe(Vm *vm)
{
    while (vm->frame_count > 1 && vm->frames[vm->frame_count - 2].is_probe)
        pop_frame(vm);
    Frame *frame = top_frame(vm);
    Call *call = frame->call;
    empty_frame(vm, frame);
    forget_results(vm, call, call->good, call->end);
    call->bad = call->end;
    go_on(vm, call);
}

static void fail_instance(Vm *vm)
{
    Frame *frame = top_frame(vm);
    Failure *failure = &instance_failure(frame->instance)->failure;
    if (frame->is_probe) {
        fail_probe(vm);
    } else if (frame->call == NULL) {
        failure_free(&vm->failure);
        move_failure(&vm->failure, failure, vm->memory);
        vm->has_failed = true;
    } else {
        Call *call = frame->call;
        move_failure(&call->failure, failure, vm->memory);
        call->has_failed = true;
        go_on(vm, call);
    }
}

bool call_run(Vm *vm)
{
    while (vm->frame_count > 0 && !vm->has_failed) {
        Frame *frame = top_frame(vm);
        RunStatus status = instance_run(vm, frame->instance, frame->is_probe);
        if (vm->has_failed)
            return false;
        if (status == RUN_FINISHED && frame->call == NULL)
            return true;
        if (status == RUN_FINISHED)
            finish_instance(vm);
        else if (status == RUN_FAILED)
            fail_instance(vm);
    }
    return !vm->has_failed;
}

/* ---- what firing functions ask for ---- */

static Call **call_of(const Firing *firing)
{
    return &firing->instance->calls[firing->plan->call];
}

static void refuse(Vm *vm, Call *call, Span span)
{
    failure_init(&call->failure, vm->memory);
    call->has_failed = call->is_done = call->result.has_failed = true;
    failure_too_deep(failure_at(&call->failure, vm->diagnostics->sources, span), vm->options.max_depth);
    instance_wake(call->caller, call->node);
}

static Call *ask(Firing *firing, Signature signature, const Cells *arguments, size_t count)
{
    Call *call = call_new(firing->vm, signature, arguments, count);
    call->caller = firing->instance;
    call->node = firing->id;
    *call_of(firing) = call;
    return call;
}

void firing_call(Firing *firing, FlowNetworkId id, const Cells *arguments, size_t count)
{
    Vm *vm = firing->vm;
    Plan *plan = plan_of(vm, id);
    const FlowNetwork *network = plan->network;
    Call *call = ask(firing,
                     (Signature){.parameters = network->parameters,
                                 .results = network->results,
                                 .parameter_count = network->parameter_count,
                                 .result_count = network->result_count},
                     arguments, count);
    call->plan = plan;
    if (call_depth(vm) >= vm->options.max_depth && !is_branch(plan))
        refuse(vm, call, firing->node->span);
    else
        call_start(vm, call);
}

void firing_call_function(Firing *firing, CoreFunctionId function, const Cells *arguments, size_t count)
{
    Vm *vm = firing->vm;
    Call *call = ask(firing, *scalar_signature(vm, function), arguments, count);
    call->is_done = true;
    void **results = team_alloc(vm->team, call->signature.result_count * sizeof(void *));
    for (uint32_t i = 0; i < call->signature.result_count; i++)
        results[i] = (void *)call->results[i].data;
    failure_init(&call->failure, vm->memory);
    call->has_failed = !scalar_run(vm, function, call->arguments, results, count, &call->result.count, &call->failure);
    call->result.has_failed = call->has_failed;
    team_give_back(vm->team, results);
    instance_wake(call->caller, call->node);
}

bool firing_is_calling(const Firing *firing)
{
    return *call_of(firing) != NULL;
}

const CallResult *firing_call_result(Firing *firing)
{
    const Call *call = *call_of(firing);
    return call != NULL && call->is_done ? &call->result : NULL;
}

void firing_call_done(Firing *firing)
{
    call_free(firing->vm, *call_of(firing));
    *call_of(firing) = NULL;
}

void firing_fail_call(Firing *firing, uint32_t input, size_t offset)
{
    Failure *failure = firing_fail(firing, input, offset);
    failure_free(failure);
    move_failure(failure, &(*call_of(firing))->failure, firing->vm->memory);
}
