/* Scalar code that the C compiler has compiled too: the machine does what that leaves, which is to say how a point fails, or to go deeper than C can. */
#include "vm/scalar_code_private.h"

/* Points from `point` on, up to one that fails. */
static size_t run_compiled(const ScalarMachine *machine)
{
    const ScalarRun *run = machine->run;
    const ScalarFunction *function = machine->function;
    const void *streams[KERNEL_ENTRY_LEAVES];
    int64_t strides[KERNEL_ENTRY_LEAVES], done = 0;
    void *outputs[KERNEL_ENTRY_LEAVES];
    for (uint32_t i = 0; i < function->argument_count; i++) {
        const Cells *cells = &run->arguments[i];
        strides[i] = !cells->is_uniform;
        streams[i] = (const char *)cells->data + (cells->is_uniform ? 0 : machine->point * leaf_size(function->arguments[i]));
    }
    for (uint32_t i = 0; i < function->result_count; i++)
        outputs[i] = (char *)machine->results[i] + machine->point * leaf_size(function->results[i]);
    KernelCall call = {.count = (int64_t)(machine->end - machine->point),
                       .streams = streams,
                       .strides = strides,
                       .outputs = outputs,
                       .done = &done,
                       .globals = run->compiled_globals,
                       .depth = (int64_t)machine->return_limit - 1,
                       .stop = run->compiled_stop,
                       .has_failed = (const volatile bool *)(const void *)machine->is_halted};
    run->compiled(&call);
    return (size_t)done;
}

ScalarOutcome scalar_execute_compiled(ScalarMachine *machine)
{
    if (machine->run->compiled != NULL)
        machine->point += run_compiled(machine);
    return machine->point == machine->end ? OUTCOME_DONE : scalar_execute(machine);
}
