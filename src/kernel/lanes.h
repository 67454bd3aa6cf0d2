/* Calls of functions that are done for many points at once (kernel/function_lanes.c): those whose arguments can be computed ahead of the point, and whose vectors are the same for all
 * points of the loop around them. */
#ifndef RUNNEL_KERNEL_LANES_H
#define RUNNEL_KERNEL_LANES_H

#include "kernel/fuse.h"

/* The nodes that the arguments of a call take, by position in the kernel; null if it is not done for many points at once. */
const bool *lanes_find(FunctionTexts *functions, const Fusion *fusion, const Kernel *kernel, const FlowNode *call);
/* Whether an input of such a call is one for all points. */
bool lanes_have_in_common(const FunctionTexts *functions, const FlowNode *call, uint32_t input);
/* Whether points of the root are done so. */
bool lanes_at_root(FunctionTexts *functions, const Fusion *fusion, const Kernel *kernel);

#endif
