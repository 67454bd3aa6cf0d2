/* Memory for what tiles of points give beyond what they were expected to (vm/bundle_kernels.c). Any thread takes it, and it belongs to the bundle until all is given back. */
#ifndef RUNNEL_VM_BUNDLE_SPILL_H
#define RUNNEL_VM_BUNDLE_SPILL_H

#include "vm/bundle_private.h"

typedef struct BundleSpill BundleSpill;

/* Room for so many elements of each output, whose sizes are given; null if there is no memory. */
BundleSpill *bundle_spill(BundleState *state, const uint8_t *sizes, uint32_t outputs, size_t room);
char *bundle_spill_cells(const BundleSpill *spill, uint32_t output);
void bundle_spills_free(BundleState *state);

#endif
