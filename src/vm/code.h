/* Compiled code of kernels: which there are for a network, and the functions that do them. */
#ifndef RUNNEL_VM_CODE_H
#define RUNNEL_VM_CODE_H

#include "kernel/fuse.h"
#include "kernel/preamble/call.h"
#include "vm/vm_private.h"

typedef struct Code Code;

/* The kernels of a network, with code for all of them; null if there are none, or they cannot be compiled: then the reason was given in a warning, once. Networks that came
 * since the last time are compiled together. */
const Fusion *code_of_network(Vm *vm, FlowNetworkId network);
KernelFunction *code_of_kernel(const Vm *vm, const Kernel *kernel);
/* The cells of the globals that functions read, as they are now, for KernelCall.globals; of the team's memory. */
const void **code_global_cells(Vm *vm);
void code_free(Vm *vm);
/* Of all networks so far. */
uint64_t code_kernels(const Vm *vm);
double code_milliseconds(const Vm *vm);

#endif
