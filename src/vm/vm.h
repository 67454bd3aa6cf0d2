/* The Flow VM: runs flattened programs chunk by chunk, in memory that does not grow with the length of what is streamed.
 *
 * A network (flow/flow.h) is run as nodes connected by bounded buffers. A node fires when it has something to read and room for what it makes;
 * it takes what is there, keeps its state, and goes on later. Calls of functions run networks on the points of the call, on a stack of their
 * own: the depth of the program never becomes depth of the C stack. A run-time error is reported with its position; globals stay. */
#ifndef RUNNEL_VM_VM_H
#define RUNNEL_VM_VM_H

#include "base/progress.h"
#include "base/stop.h"
#include "flow/flatten.h"
#include "io/value_digest.h"
#include "io/value_source.h"
#include "io/world.h"

typedef struct Vm Vm;

typedef struct VmOptions {
    uint64_t max_depth;  /* nested calls other than tail calls */
    uint64_t chunk;      /* elements of a buffer; 0 for the default, by bytes */
    uint64_t memory_limit; /* bytes the session may hold; 0 for most of what the machine has */
    uint32_t threads;           /* 0 for as many as the process can keep busy */
    uint64_t piece_nanoseconds; /* see RunnelOptions */
    bool measures; /* time and elements of every stage */
    bool compiles;        /* kernels are compiled; else the VM's own loops do everything */
    bool is_fast;         /* ... and may contract and use reciprocals */
    const char *compiler; /* ... by this command; null for the system's */
    const Names *names;   /* of what is compiled, for people who read it */
    WorldOutput output; /* of the program */
    const StopFlag *stop; /* polled; null for never */
    Progress *progress;   /* likewise */
} VmOptions;

/* What was done so far. */
typedef struct VmStats {
    uint64_t firings, calls;
    uint64_t nanoseconds;
    uint64_t growths;   /* buffers that had to hold more than a chunk */
    uint64_t fallbacks; /* of work to one element at a time, where that was not asked for */
} VmStats;

/* Where results with sequences are printed while they are computed. */
typedef struct VmPrinter {
    ValueFormat format;
    void (*write)(void *context, const char *bytes, size_t length);
    /* Instead, of a sequence of concrete elements, takes them as rows, and gives columns for them. Null after `take_rows`, or what went wrong. */
    Columns *(*rows)(void *context);
    const char *(*take_rows)(void *context, const Columns *rows);
    void *context;
    ValueDigest *digest; /* gets the numbers of a result that is not printed, if there is one, instead of whoever asks for its value */
} VmPrinter;

Vm *vm_new(Memory *memory, const FlowProgram *program, Diagnostics *diagnostics, VmOptions options);
void vm_free(Vm *vm);
/* Values given to or by the VM live on this heap. */
Heap *vm_heap(Vm *vm);
/* Runs the network of an item and gives its value (owned by the caller; null if nobody wants it), or prints it if that is how it was flattened (flatten.h); binds the item's
 * global. False after an error: what was printed stands. */
bool vm_run_item(Vm *vm, uint32_t item_index, const CoreItem *item, const VmPrinter *printer, Value *result);
/* Calls a function that is an entry, the same way; takes over the arguments. Where there is a source, which stays the caller's, it is
 * read instead: as columns (value_source_whole_columns worked) unless the parameter is a sequence. */
bool vm_call(Vm *vm, CoreFunctionId function, const Value *arguments, ValueSource *const *sources,
             const VmPrinter *printer, Value *result);
/* What the flattener must know of this engine. */
FlattenOptions vm_flatten_options(Vm *vm);
/* The program has been cut back to this many functions. */
void vm_forget(Vm *vm, uint32_t function_count);
const VmStats *vm_stats(const Vm *vm);
/* Nanoseconds that the last run took, without making its arguments and taking its result; what it printed is in them. */
uint64_t vm_run_time(const Vm *vm);
/* Bytes of elements of vectors that it made, its result included. */
uint64_t vm_vector_bytes(const Vm *vm);
uint32_t vm_threads(const Vm *vm);
/* Its threads, for reading arguments: before a run or in it. */
Sharing vm_sharing(Vm *vm);
/* Of compiled code: how many, and what compiling or loading them took. */
uint64_t vm_kernels(const Vm *vm);
double vm_compile_milliseconds(const Vm *vm);
/* The same for people, and more: only of a VM that measures. */
void vm_write_stats(const Vm *vm, Text *out);

#endif
