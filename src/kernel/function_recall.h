/* What a loop computes from its index and a few integers alone, as a table read at computed places, is kept for the next point that has the same integers (kernel/preamble/recall.h):
 *
 *     KernelRecalled *v5 = kernel_recall(workspace, (const int64_t[]){12, k, m}, 3, m, 8);
 *     if (v5 != NULL && !v5->is_filled) { a loop that fills it }
 *     if (v5 != NULL) { the loop with values of v5 } else { the loop as it is written }
 *
 * Only what takes long is worth it: divisions of integers and elementary functions, and what is made of them. */
#ifndef RUNNEL_KERNEL_FUNCTION_RECALL_H
#define RUNNEL_KERNEL_FUNCTION_RECALL_H

#include "kernel/function_vectors.h"
#include "kernel/preamble/region.h"

enum { RECALL_VALUES = 4 }; /* of an element, at most */

/* Of the body of one comprehension. */
typedef struct RecallPart {
    CoreBlock filling;             /* the statements that need no more than the index and integers, */
    CoreBlock rest;                /* ... and those that it has besides; */
    CoreVar values[RECALL_VALUES]; /* ... what these need of the first, and is kept: scalars, */
    uint32_t value_count;
    size_t before;                 /* ... after so many bytes of other parts, */
    const char *cells[RECALL_VALUES]; /* ... words for where */
} RecallPart;

/* Inside the loop: the values at an index, from then on. */
void recall_write_get(Writer *writer, const RecallPart *part, const char *index);

#endif
