/* Loops that threads share which do a point together. */
#ifndef RUNNEL_KERNEL_FUNCTION_SHARE_H
#define RUNNEL_KERNEL_FUNCTION_SHARE_H

#include "kernel/function_vectors.h"

/* The turns of a loop that a thread does. */
typedef struct Share {
    const char *first, *end;
    bool had_unshared; /* before the loop */
} Share;

/* Whether the loop of a traversal can be shared, where it is written now. */
bool share_is_possible(const Writer *writer, const Traversal *traversal);
/* Parts begin at multiples of `grain`. */
Share share_begin(Writer *writer, const char *length, const char *grain);
/* The loop is written. */
void share_end(Writer *writer, const Share *share);
void share_meet(Writer *writer);
/* A table that threads fill with words; null where there is only one thread. */
const char *share_new_table(Writer *writer, const char *count);
/* Totals of all parts: what is written until the end combines `total`, the first of them, with the one that is given. */
const char *share_open_totals(Writer *writer, const char *c, const char *total);
void share_close_totals(Writer *writer);

#endif
