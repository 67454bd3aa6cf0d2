/* Vectors of tuples as rows (kernel/preamble/rows.h), for kernels that take elements of them here and there.
 *
 * Making them takes a while, and memory. So they are made when the points of an instance have taken much longer than that would, or are about to; what serves all points of an instance does not
 * change, and so rows serve until the bundle is dissolved. */
#ifndef RUNNEL_VM_BUNDLE_ROWS_H
#define RUNNEL_VM_BUNDLE_ROWS_H

#include "vm/bundle_private.h"

/* Those of the kernel's list, null where there are none. `nanoseconds` are what the next points are expected to take, with all threads. */
const void *const *bundle_rows_find(Vm *vm, Instance *instance, BundleState *state, const Kernel *kernel, uint64_t nanoseconds);
/* Null is allowed. */
void bundle_rows_free(Vm *vm, BundleRows *rows);

#endif
