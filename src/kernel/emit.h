/* The C text of kernels (kernel/fuse.h). */
#ifndef RUNNEL_KERNEL_EMIT_H
#define RUNNEL_KERNEL_EMIT_H

#include "kernel/fuse.h"
#include "source/source.h"

typedef struct EmitContext {
    const Names *names;     /* of streams */
    const Sources *sources; /* for comments */
    FunctionTexts *functions; /* that kernels call */
} EmitContext;

/* Notes which functions the nodes of networks call, in kernels and elsewhere; emitting them does so too. */
void emit_need_functions(const EmitContext *context, const Fusion *const *fusions, uint32_t count);
/* Kernels of networks [first, first + count), as one file: a function kernel_N for each (preamble/call.h). */
void emit_c(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out);
/* The same as several files that can be compiled at the same time, which takes each about as long: at most `most`, fewer of what is short. Gives how many of `files`, not initialised before,
 * there are. */
uint32_t emit_c_files(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Memory *memory, Text *files, uint32_t most);
/* The same as one without what every file begins with, for people. */
void emit_c_body(const EmitContext *context, const Fusion *const *fusions, uint32_t count, Text *out);

#endif
