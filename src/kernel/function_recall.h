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

typedef struct Recall {
    CoreBlock filling;            /* the statements of a body that need no more than the index and integers, */
    CoreBlock rest;               /* ... and those that it has besides; */
    CoreVar values[RECALL_VALUES]; /* ... what these need of the first, and is kept: scalars, */
    uint32_t value_count;
    const char *cells[RECALL_VALUES]; /* ... words for where */
    VEC(const char *) key;        /* words, */
    VEC(const char *) arrays;     /* ... and for arrays among them */
    const char *recalled;         /* a word for what is kept, or null; its elements are */
    const char *length;           /* ... so many */
} Recall;

/* What of the body of an innermost loop can be kept; null if nothing is worth it. `is_index`: by parameter, whether it goes with the index. */
Recall *recall_find(Writer *writer, const CoreBlock *body, const bool *is_index);
/* Looks for it: `number` is the loop's. */
void recall_write_search(Writer *writer, Recall *recall, CoreVar number, const char *length);
/* Inside braces: words for where the values are, and the statements that put or take those at an index. */
void recall_write_cells(Writer *writer, Recall *recall);
void recall_write_put(Writer *writer, const Recall *recall, const char *index);
void recall_write_get(Writer *writer, const Recall *recall, const char *index);

#endif
