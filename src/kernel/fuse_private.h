/* How kernels are found: what the files that look for them share. */
#ifndef RUNNEL_KERNEL_FUSE_PRIVATE_H
#define RUNNEL_KERNEL_FUSE_PRIVATE_H

#include "kernel/fuse.h"

enum { NOWHERE = UINT32_MAX };

typedef struct Reader {
    FlowNodeId node; /* NOWHERE: the network's result */
    uint32_t input;
} Reader;

typedef struct Readers {
    uint32_t first, count; /* in the list of all */
} Readers;

/* Where nodes are whose points lie below others. */
typedef struct Extent {
    FlowNodeId first, last;
    uint32_t count;
} Extent;

/* The scopes below a root. */
typedef struct Tree {
    VEC(KernelScope) scopes;
    uint32_t *scope_of; /* by set of points; NOWHERE if it is not in the tree */
} Tree;

typedef struct Finder {
    Arena *arena;
    const FlowNetwork *network;
    FunctionTexts *functions;
    Fusion *fusion;
    uint32_t next_number;
    uint32_t points_bound;
    Readers *readers_of; /* by stream */
    Reader *readers;
    Tree tree;
    FlowNodeId first, last; /* nodes that may hang on the root's points */
    uint32_t *depths; /* by node: how often those before it must wait for somebody outside, from 1; 0 if it does not hang on the root's points */
    uint64_t *over;   /* by node: scopes that must be over before it */
    bool *is_candidate; /* by node: has a place in the tree */
    bool *is_banned;  /* by node: must stay outside */
    bool *is_evicted; /* by set of points: cannot be a scope below this root */
} Finder;

static inline bool fuse_is_member(const Kernel *kernel, FlowNodeId id)
{
    return fuse_position_of(kernel, id) >= 0;
}

/* What the kernel takes, gives and shares, its nodes, scopes and bodies known. */
void fuse_find_lists(Finder *finder, Kernel *kernel);

#endif
