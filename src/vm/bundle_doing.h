/* Some points of a kernel that are being done: what the files that do them share (vm/bundle_kernels.c). */
#ifndef RUNNEL_VM_BUNDLE_DOING_H
#define RUNNEL_VM_BUNDLE_DOING_H

#include "vm/bundle_spill.h"

#include "vm/code.h"

enum { DOING_TABLE_MAX = 64 }; /* entries of each table of a call, on the stack */

/* The parts that a long loop was done in, each by a call of its own. */
typedef struct DoingParts {
    size_t count;
    size_t blocks;  /* of COMBINE_BLOCK points, the last of which may be shorter, */
    int64_t points; /* ... of the loop */
    int64_t room;   /* that the parts share for what they give, */
    int64_t *given; /* ... so much of it, by part and scope */
} DoingParts;

typedef struct Doing {
    Vm *vm;
    Instance *instance;
    const Bundle *bundle;
    const Kernel *kernel;
    KernelFunction *function;
    int64_t position;
    size_t count;           /* points, */
    size_t tile;            /* ... of them those of a call */
    size_t shares;          /* of the vector in which elements are replaced, where these are done by themselves; else 1 */
    size_t room;            /* elements that a tile may give of each scope below the root, */
    BundleSpill **spilled;  /* ... unless there is more here, by tile, */
    _Atomic size_t spilled_room; /* ... so much in all */
    const char **streams;   /* by number in the kernel's list */
    const void **uniforms;
    const void **columns;
    const void *const *rows;
    int64_t *strides;
    char **outputs;         /* of streams, of the elements of reductions that are kept, of vectors that are made, and of those with elements replaced */
    uint8_t *sizes;         /* of their elements */
    uint32_t *scopes;       /* on which they are */
    int64_t *done;          /* by tile: points */
    int64_t *given;         /* by tile and scope */
    uint64_t *totals;       /* by tile and number */
    const void **globals;
    uint64_t *carries;      /* the same, of scans: their value before a tile, then after it */
    bool wants_totals;      /* only, of scans or of what is given, for pieces that are done in any order */
    size_t *places;         /* by tile and scope, where what is given was counted: how much was given before it; otherwise null */
    bool is_alone;          /* there is one point, whose long loops are shared: */
    const DoingParts *parts[KERNEL_SCOPES_MAX]; /* by scope: those of the shared loop that it is in, else null */
    _Atomic size_t long_tile; /* the first that ends before a point with a long loop: those after it do not count */
    bool is_in_order;       /* tiles are done one after the other, each with what the one before has left */
    bool is_direct;         /* ... and what they give on filters goes straight to where it is wanted: */
    size_t so_far[KERNEL_SCOPES_MAX]; /* so much of each */
    _Atomic bool has_failed;
} Doing;

static inline const FlowNode *doing_node(const Doing *doing, FlowNodeId id)
{
    return doing->instance->plan->nodes[id].node;
}

static inline const FoldKind *doing_fold(const Doing *doing, FlowNodeId id)
{
    return doing->instance->plan->nodes[id].fold;
}

static inline void *doing_reserve(Doing *doing, size_t bytes)
{
    return team_alloc(doing->vm->team, bytes + 1);
}

static inline uint32_t doing_output_count(const Kernel *kernel)
{
    return kernel->outputs.count + kernel->ordered.count + kernel->sinks.count;
}

static inline bool doing_is_ordered_output(const Kernel *kernel, uint32_t output)
{
    return output >= kernel->outputs.count && output < kernel->outputs.count + kernel->ordered.count;
}

/* Where what a tile gives of an output below the root goes, if it is joined later. */
static inline char *doing_tile_output(const Doing *doing, uint32_t output, size_t tile)
{
    const BundleSpill *spill = doing->spilled == NULL ? NULL : doing->spilled[tile];
    return spill == NULL ? doing->outputs[output] + tile * doing->room * doing->sizes[output] : bundle_spill_cells(spill, output);
}

/* The first point of a part. */
static inline int64_t doing_part_start(const DoingParts *parts, size_t part)
{
    int64_t start = (int64_t)(part * parts->blocks / parts->count) * COMBINE_BLOCK;
    return start < parts->points ? start : parts->points;
}

/* Where in the room of the tile that of a part begins: it has some for each of its points, if the tile has. */
static inline size_t doing_part_room(const DoingParts *parts, size_t part)
{
    return parts->room >= parts->points ? (size_t)(doing_part_start(parts, part) * (parts->room / parts->points))
                                        : part * ((size_t)parts->room / parts->count);
}

static inline void *doing_running(const Doing *doing, FlowNodeId id)
{
    const NodePlan *node = &doing->instance->plan->nodes[id];
    return node->kind->running(node, instance_state(doing->instance, node));
}

static inline size_t doing_tile_count(const Doing *doing)
{
    return (doing->count + doing->tile - 1) / doing->tile;
}

/* Points still to come, these included, if that is known. */
size_t doing_points_to_come(const Doing *doing);
/* Elements of a scope that these points and all to come give, as they say if all can be asked now; 0 if not. */
size_t doing_count_to_come(const Doing *doing, uint32_t scope);

/* ---- long loops (vm/bundle_long_loops.c) ---- */
/* Loops of so many points are shared. */
int64_t doing_long_loop(const Doing *doing);
/* Does the points of a tile, or those before one with a long loop; that one, if it is alone. */
bool doing_call(Doing *doing, size_t tile, KernelCall *call);

/* ---- results (vm/bundle_results.c) ---- */
void doing_find_outputs(Doing *doing);
/* Elements of a scope that the first tiles have given. */
size_t doing_given_by(const Doing *doing, size_t tiles, uint32_t scope);
void doing_give_outputs(Doing *doing, size_t tiles, size_t points);
void doing_join_ordered(const Doing *doing, size_t points);
void doing_join_totals(const Doing *doing, size_t tiles);

#endif
