/* Loops that threads share which do a point together. */
#ifndef RUNNEL_KERNEL_FUNCTION_SHARE_H
#define RUNNEL_KERNEL_FUNCTION_SHARE_H

#include "kernel/function_vectors.h"

/* The turns of a loop that a thread does. */
typedef struct Share {
    const char *first, *end;
    bool had_unshared; /* before the loop */
} Share;

/* Whether loops can be shared where they are written now, */
bool share_is_open(const Writer *writer);
/* ... and the loop of this traversal. */
bool share_is_possible(const Writer *writer, const Traversal *traversal);
/* Of the loop of a traversal, or, if that is null, of any other. Parts begin at multiples of `grain`, or of blocks of the order of combination where there are scans. */
Share share_begin(Writer *writer, const Traversal *traversal, const char *length, const char *grain);
/* Sets the scans of a traversal to where they are before the part. */
void sequence_resume_scans(Writer *writer, const Traversal *traversal, const Share *share);
/* The loop is written. */
void share_end(Writer *writer, const Share *share);
void share_meet(Writer *writer);
/* Each thread has made an array of what its part gave, so many elements: gives the array of all, and counts them. */
const char *share_join_parts(Writer *writer, const char *region, const char *array, const char *count, const Layout *elements);
/* A table that threads fill with words; null where there is only one thread. */
const char *share_new_table(Writer *writer, const char *count);
/* The same, with a cell for each block of the order of combination in each of its rows; and the cell of the block that begins at `first`, or ends in a tile that does. */
const char *share_new_blocks(Writer *writer, const char *length, uint32_t rows);
const char *share_block_cell(Writer *writer, const char *table, const char *length, uint32_t row, const char *first);
/* Totals of all parts: what is written until the end combines `total`, the first of them, with the one that is given. */
const char *share_open_totals(Writer *writer, const char *c, const char *total);
void share_close_totals(Writer *writer);

#endif
