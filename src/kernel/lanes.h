/* Calls of functions that are done for many points at once (kernel/function_lanes.c): those whose arguments can be computed ahead of the point, and whose vectors are the same for all
 * points of the loop around them. */
#ifndef RUNNEL_KERNEL_LANES_H
#define RUNNEL_KERNEL_LANES_H

#include "kernel/fuse.h"

/* The nodes that the arguments of a call take, by position in the kernel; null if it is not done for many points at once. */
const bool *lanes_find(FunctionTexts *functions, const Fusion *fusion, const Kernel *kernel, const FlowNode *call);
/* Whether an input of such a call is one for all points. */
bool lanes_have_in_common(const FunctionTexts *functions, const FlowNode *call, uint32_t input);
/* Finds the vectors of which the calls of a kernel want rows, */
void lanes_find_rows(Arena *arena, FunctionTexts *functions, const Fusion *fusion, Kernel *kernel);
/* ... and says whether an input of such a call is one, and under which number in the kernel's list: LANES_NO_ROWS if there can be none. */
enum { LANES_NO_ROWS = -1 };
bool lanes_want_rows(const FunctionTexts *functions, const FlowNode *call, uint32_t input);
int lanes_rows_number(const Fusion *fusion, const Kernel *kernel, const FlowNode *call, uint32_t input);
/* Whether points of the root are done so. */
bool lanes_at_root(FunctionTexts *functions, const Fusion *fusion, const Kernel *kernel);

#endif
