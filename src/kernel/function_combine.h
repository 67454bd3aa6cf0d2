/* What reductions and scans of sequential versions have in common. */
#ifndef RUNNEL_KERNEL_FUNCTION_COMBINE_H
#define RUNNEL_KERNEL_FUNCTION_COMBINE_H

#include "kernel/function_vectors.h"
#include "math/scalar.h"

/* ---- function_reduce.c ---- */
const char *reduce_constant(const Writer *writer, ScalarType type, Scalar value);
/* Of names in the preamble, for a type of floats. */
const char *reduce_suffix(ScalarType type);

/* ---- function_combine.c: operators that are functions ---- */
/* A reduction, or a scan, in the order of math/combine.h: the value of the block so far, the one of the blocks before, and how many elements there were. */
typedef struct Combination {
    Sink sink;
    const CoreStatement *statement;
    const Layout *layout;
    const char **local, **carry;
    const char *count;
} Combination;

Combination combination_new(Writer *writer, const CoreStatement *statement, TypeId element);
/* The result goes to variables that may be among the operands. */
void combination_apply(Writer *writer, const Combination *combination, const char **to, const char **a, const char **b);
/* A sink's: an element of a block, of which there were `count` before. */
void combination_take_of_block(Writer *writer, Sink *sink, Element element);
/* What the block comes to that begins at index `block` is combined with those before. */
void combination_carry(Writer *writer, const Combination *c, const char *block);
/* Between a table with a row of blocks for each leaf, and the value of the block at hand. */
void combination_move(Writer *writer, const Combination *c, const char *table, const char *length, const char *block, bool stores);
void combination_write(Writer *writer, const CoreStatement *statement);

#endif
