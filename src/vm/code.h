/* Compiled code of kernels: which there are for a network, and the functions that do them. */
#ifndef RUNNEL_VM_CODE_H
#define RUNNEL_VM_CODE_H

#include "kernel/fuse.h"
#include "kernel/preamble/call.h"
#include "vm/vm_private.h"

typedef struct Code Code;

/* The kernels of a network, with code for all of them; null if they cannot be compiled: then the reason was given in a warning, once. Compiled together
 * are this network, all items, those that they call, and so on, except where sequential versions will be called instead (vm/sequential.h): these are compiled with it. */
const Fusion *code_of_network(Vm *vm, FlowNetworkId network);
KernelFunction *code_of_kernel(const Vm *vm, const Kernel *kernel);
/* The cells of the globals that functions read, as they are now, for KernelCall.globals; of the team's memory. */
const void **code_global_cells(Vm *vm);
/* A flag as code sees it, for KernelCall.stop. */
const volatile int *code_stop_word(const StopFlag *stop);
/* A function on scalars as code (entry_ID of kernel/function_text.h); null if there is none. */
KernelFunction *code_of_function(const Vm *vm, CoreFunctionId function);
/* The same for one that is to do `count` points: many calls of few are a reason to have a complete version. */
KernelFunction *code_of_points(Vm *vm, CoreFunctionId function, size_t count);
/* A version that does what one that was given before has left (KERNEL_LEFT), compiled now if need be; null if there is none. */
KernelFunction *code_complete(Vm *vm, CoreFunctionId function);
/* The fold of elements by an operator on scalars (fold_ID); null if there is none. */
KernelFunction *code_of_fold(const Vm *vm, CoreFunctionId function);
/* The same for scans (scan_ID). */
KernelFunction *code_of_scan(const Vm *vm, CoreFunctionId function);
/* Whether it does KERNEL_WIDE points at once, if they are alike. */
bool code_is_wide(const Vm *vm, CoreFunctionId function);
/* Whether it offers calls to other threads (vm/forks.h). */
bool code_is_shared(const Vm *vm, CoreFunctionId function);
/* Whether threads can do one point of it together (KernelCall.together). */
bool code_is_together(const Vm *vm, CoreFunctionId function);
/* The program has been cut back: forgets the functions from `function_count` on. */
void code_forget(Vm *vm, uint32_t function_count);
void code_free(Vm *vm);
/* Of all networks so far. */
uint64_t code_kernels(const Vm *vm);
double code_milliseconds(const Vm *vm);

#endif
