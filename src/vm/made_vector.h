/* Vectors being made to be written into, a parent's after the other: what SCATTER and PUT_BY share.
 *
 * Short vectors of several parents are made in one array; a long one has an array of its own, and so lives no longer than it must. */
#ifndef RUNNEL_VM_MADE_VECTOR_H
#define RUNNEL_VM_MADE_VECTOR_H

#include "vm/vm_private.h"

/* The inputs of nodes that begin with a vector, and the outputs of those that give one. */
enum { VECTOR_ARRAY, VECTOR_START, VECTOR_LENGTH, VECTOR_PARTS };

/* Stands in the state of a node; zeros at first. */
typedef struct MadeVector {
    bool is_open;
    Array *array;  /* at its end, */
    size_t start;  /* ... from here, */
    size_t length; /* ... of this length */
} MadeVector;

/* Begins a vector of this length: chooses an array, to which its elements are still to be added. */
void made_vector_begin(Firing *firing, MadeVector *made, size_t length);
/* Begins a copy of a parent's vector, the first inputs of the node. */
void made_vector_copy(Firing *firing, MadeVector *made, size_t parent);
/* The cells of a leaf. */
void *made_vector_cells(const MadeVector *made, uint32_t leaf);
/* Gives it as the first outputs of the node. */
void made_vector_give(Firing *firing, MadeVector *made);

#endif
