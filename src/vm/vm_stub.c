#include "vm/vm.h"
Vm *vm_new(Memory *memory, const FlowProgram *program, Diagnostics *diagnostics, VmOptions options){(void)memory;(void)program;(void)diagnostics;(void)options;return NULL;}
void vm_free(Vm *vm){(void)vm;}
Heap *vm_heap(Vm *vm){(void)vm;return NULL;}
bool vm_run_item(Vm *vm, uint32_t item_index, const CoreItem *item, Value *result){(void)vm;(void)item_index;(void)item;(void)result;return false;}
bool vm_call(Vm *vm, CoreFunctionId function, const Value *arguments, uint32_t count, Span span, Value *result){(void)vm;(void)function;(void)arguments;(void)count;(void)span;(void)result;return false;}
FlattenOptions vm_flatten_options(Vm *vm){(void)vm;return (FlattenOptions){0};}
