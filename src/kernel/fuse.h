/* Fusion: which nodes of a network are done together, as one loop nest.
 *
 * A *kernel* has a set of points, its root, whose points it takes one after the other; for each of them it does what its nodes say. Spaces below the root become
 * *scopes*: a range is a loop, a filter an `if`; distributing and packing is using a variable from further out, a reduction
 * is a variable of the outer scope, `flat` is nothing at all. What ends a kernel:
 *
 *   - an operation that is not computed point by point (sort, calls, scatter of values that differ, input and output);
 *   - the result of a loop that is needed inside the same loop, or one that must first go through somebody outside.
 *
 * Nodes of one kernel are thus those on a tree of spaces that can be done without waiting for anybody else in between. */
#ifndef RUNNEL_KERNEL_FUSE_H
#define RUNNEL_KERNEL_FUSE_H

#include "flow/flow.h"
#include "kernel/function_text.h"

enum {
    KERNEL_SCOPES_MAX = 63, /* sets of them are words of bits, with one bit left */
    KERNEL_ROOT = 0,
    KERNEL_NO_SCOPE = UINT32_MAX,
    KERNEL_ROWS_MAX = 4, /* vectors as rows */
};

typedef enum KernelScopeKind { SCOPE_ROOT, SCOPE_LOOP, SCOPE_IF } KernelScopeKind;

/* A part of a scope's body: a node, or a scope inside it. */
typedef struct KernelUnit {
    bool is_scope;
    uint32_t index;
} KernelUnit;

typedef struct KernelScope {
    KernelScopeKind kind;
    uint32_t points;
    uint32_t parent;        /* the scope around it; of the root itself */
    uint64_t ancestors;     /* with itself, as bits */
    VEC(FlowNodeId) makers; /* LOOP: ranges, of zipped sequences several */
    FlowStreamId flags;     /* IF: the points around that have this value */
    bool keep;
    VEC(KernelUnit) body;   /* in the order in which it is done */
} KernelScope;

/* A column of an array that serves all points. */
typedef struct KernelLeaf {
    FlowStreamId array;
    uint32_t leaf;
    LeafType type;
} KernelLeaf;

/* A vector that serves all points, of which functions take elements as rows (preamble/rows.h), if the VM makes them. */
typedef struct KernelRows {
    FlowStreamId array;
    FlowOperand start, length;
    uint32_t columns;
} KernelRows;

/* A column of a vector that is made of the points of a scope, or gets the operand at places that these give. */
typedef struct KernelSink {
    FlowNodeId node; /* COLLECT or SCATTER */
    uint32_t leaf;
    uint32_t scope;
    FlowOperand operand;
} KernelSink;

/* A reduction or a scan of a loop that calls share: what it comes to, or begins a block with, is joined from what it comes to block by block (math/combine.h). */
typedef struct KernelPartial {
    FlowNodeId node;
    uint32_t loop;
} KernelPartial;

typedef struct Kernel {
    uint32_t number; /* in its program, from 1 */
    bool has_loops;  /* below the root, or in functions that it calls: a point may take long */
    bool is_linear;  /* some of these are done for few points, which serve all others of a call (linear.h): the more there are the better */
    bool has_lanes;  /* functions are called for KERNEL_LANE_POINTS points of the root at once (lanes.h) */
    uint64_t given;  /* scopes other than the root whose points others count; as bits, */
    uint64_t stored; /* ... and of them those of which others get elements */
    bool is_deep;    /* one of these is in a loop: nobody knows beforehand how many there will be */
    bool is_counted; /* ... but a call that only counts them (wants_totals) does little */
    bool is_strided; /* it only replaces elements at progressions of places (strided.h): parts of the vector can be done by themselves */
    VEC(KernelScope) scopes;
    VEC(FlowNodeId) nodes;      /* in the order of the network */
    VEC(FlowStreamId) streams;  /* on the root's points, that others make and its nodes look at */
    VEC(FlowStreamId) uniforms; /* on unit, likewise */
    VEC(KernelLeaf) columns;    /* of arrays on unit */
    VEC(KernelRows) rows;       /* of vectors on unit */
    VEC(FlowStreamId) outputs;  /* whose elements others read: on the root, or on a filter below it */
    VEC(FlowStreamId) counted;  /* of which others want to know only how many there are */
    VEC(FlowNodeId) ordered;    /* reductions to unit whose elements come after the outputs */
    VEC(KernelSink) sinks;      /* and after those */
    VEC(KernelSink) scatters;   /* and then columns of which elements are replaced */
    VEC(FlowNodeId) totals;     /* other reductions to unit */
    uint64_t shared;            /* loops that calls can share, right below the root or below filters there; as bits */
    VEC(KernelPartial) partials; /* of these */
    VEC(FlowNodeId) scans;      /* over all points, whose value goes on from call to call */
} Kernel;

/* Those of a network. */
typedef struct Fusion {
    const FlowNetwork *network;
    VEC(Kernel) kernels;
    uint32_t *kernel_of; /* by node: index of its kernel, from 1; 0 if it is of none */
} Fusion;

/* `first_number` is that of its first kernel. */
Fusion *fuse_network(Arena *arena, const FlowNetwork *network, FunctionTexts *functions, uint32_t first_number);

/* ---- what others must know of members ---- */
/* Where a node is among those of a kernel; -1 if it is not. */
int fuse_position_of(const Kernel *kernel, FlowNodeId node);
/* Inputs that are values, the first ones: what follows says only which points there are. */
uint32_t fuse_value_inputs(const FlowNode *node);
/* An input of which only the number of elements counts. */
bool fuse_is_driver(const FlowNode *node, uint32_t input);
/* The scope whose body has the node: for reductions that of their elements. */
uint32_t fuse_scope_of_node(const FlowNetwork *network, const Kernel *kernel, const FlowNode *node);
/* That of a stream's points; KERNEL_NO_SCOPE if it has none in the kernel. */
uint32_t fuse_scope_of_stream(const FlowNetwork *network, const Kernel *kernel, FlowStreamId stream);
/* Reads a value that is the same for all points of the kernel: constant, or on unit. */
bool fuse_is_uniform(const FlowNetwork *network, const FlowOperand *operand);
/* The scope whose ends a stream has; KERNEL_NO_SCOPE if it has none in the kernel. */
uint32_t fuse_scope_of_ends(const FlowNetwork *network, const Kernel *kernel, FlowStreamId ends);
/* Gives a result for the points around its elements: a reduction, a length. */
bool fuse_is_reduction(const FlowNode *node);
/* Says only how points lie below others. */
bool fuse_is_structure(const FlowNode *node);
/* A scan over all points of the kernel, or of a filter below its root. */
bool fuse_goes_on(const FlowNetwork *network, const FlowNode *node);
/* The scope under whose points a reduction or a scan is done; KERNEL_NO_SCOPE if it is unit. */
uint32_t fuse_parent_scope(const FlowNetwork *network, const Kernel *kernel, const FlowNode *node);
/* Its elements are all points of a loop, one after the other, directly below the points that its results are on. */
bool fuse_is_along_loop(const FlowNetwork *network, const Kernel *kernel, const FlowNode *node);
/* A reduction of points of the kernel to unit. */
bool fuse_is_total(const FlowNetwork *network, const FlowNode *node);
/* Marks the nodes of the kernel that a stream takes, by position, and those that say at which points. */
void fuse_mark_needed(const FlowNetwork *network, const Kernel *kernel, FlowStreamId stream, bool *is_needed);
/* The operand itself: what distributing and packing inside the kernel only passes on is followed to where it comes from. */
FlowOperand fuse_resolve(const Fusion *fusion, const Kernel *kernel, FlowOperand operand);

#endif
