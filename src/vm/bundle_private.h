/* The inside of bundles (bundle.h): what those done by the VM's own loops and those done by compiled code have in common. */
#ifndef RUNNEL_VM_BUNDLE_PRIVATE_H
#define RUNNEL_VM_BUNDLE_PRIVATE_H

#include "kernel/fuse.h"
#include "math/combine.h"
#include "vm/instance.h"

enum {
    BUNDLE_TILE = 2 * COMBINE_BLOCK,     /* points of a tile: what is between two nodes then stays in the first-level cache, or nearly so */
    BUNDLE_POINTS_MAX = 64 * BUNDLE_TILE, /* of a firing, for each thread */
    BUNDLE_ROOT = 0, /* the scope (kernel/fuse.h) of a bundle's own points */
};

typedef struct BundleTiles BundleTiles;     /* bundle_tiles.c */
typedef struct BundleKernel BundleKernel; /* bundle_kernels.c */

typedef VEC(uint32_t) NumberList;

/* An input that reads what a member makes. */
typedef struct InsideCursor {
    uint32_t cursor;
    uint32_t scope; /* of the points it is on */
} InsideCursor;

/* A stream that a member makes. */
typedef struct MadeStream {
    FlowStreamId stream;
    uint32_t scope;
    bool is_given; /* others read it too */
} MadeStream;

struct Bundle {
    uint32_t points;
    uint32_t first_position; /* in the instance's: for each scope how many of its points were given, or done */
    uint32_t scope_count;
    bool needs_blocks; /* a reduction takes whole blocks only */
    NumberList nodes;
    NumberList outside; /* cursors on these points, of streams that others make */
    NumberList counts;  /* of what says how many points there are, for each node that makes them */
    NumberList uniform; /* of values that must be there before it begins */
    VEC(InsideCursor) inside; /* of streams that its nodes make, */
    VEC(InsideCursor) given;  /* ... and among them of those that others read too */
    VEC(MadeStream) made;
    BundleTiles *tiles; /* one of the two */
    BundleKernel *kernel;
};

/* Done so far. */
static inline uint64_t *bundle_positions(const Instance *instance, const Bundle *bundle)
{
    return instance->positions + bundle->first_position;
}

/* A new bundle of the plan. */
Bundle *bundle_add(Plan *plan, uint32_t points, uint32_t scope_count);
/* A node that has its number already, as all that will be members. Without a kernel there is only one scope. */
void bundle_add_member(Vm *vm, Plan *plan, Bundle *bundle, FlowNodeId id, const Kernel *kernel);
/* Whether an input is of the bundle's own points, one value for each of them. */
bool bundle_is_by_point(const Plan *plan, const Bundle *bundle, const InputPlan *input);
bool bundle_is_read_elsewhere(const Plan *plan, FlowStreamId stream, uint32_t number);
/* The cells of an operand from where its cursor is. */
Cells bundle_operand_cells(const Instance *instance, const Bundle *bundle, uint32_t cursor);
/* The value of a stream that has one for all points. */
const void *bundle_uniform_cell(const Instance *instance, FlowStreamId id);
/* The same of an operand that is an integer, perhaps a constant. */
int64_t bundle_uniform_integer(const Instance *instance, FlowOperand operand);
/* Cursors have passed so many elements. */
void bundle_advance_outside(Vm *vm, Instance *instance, const Bundle *bundle, size_t count);
void bundle_advance_given(Vm *vm, Instance *instance, const Bundle *bundle, uint32_t scope, size_t count);

void bundle_tiles_find(Vm *vm, Plan *plan);
/* False if there is no compiled code. */
bool bundle_kernels_find(Vm *vm, Plan *plan);
/* Points that a firing may have at most. */
size_t bundle_kernel_most(const Vm *vm, const Bundle *bundle);
/* Points that can be done, of `count` that are there; `is_over` says that no more will come. */
size_t bundle_kernel_limit(const Vm *vm, const Bundle *bundle, size_t count, bool is_over);
/* Does so many points; false if that failed, and nothing was done. */
bool bundle_tiles_do(Vm *vm, Instance *instance, Bundle *bundle, size_t count);
bool bundle_kernel_do(Vm *vm, Instance *instance, Bundle *bundle, size_t count);

#endif
