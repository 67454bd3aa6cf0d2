/* Networks being run.
 *
 * A *plan* is what is computed once for a network: who reads which stream, where everything lies in the memory of an instance. An
 * *instance* is one block of memory with all its tables, so that calls are cheap; blocks that are done are kept with the plan for the next
 * call. */
#ifndef RUNNEL_VM_INSTANCE_H
#define RUNNEL_VM_INSTANCE_H

#include "vm/bundle.h"
#include "vm/chunks.h"
#include "vm/elementwise.h"
#include "vm/fold.h"
#include "vm/vm_private.h"

typedef struct Call Call; /* call.h */

/* ---- plans ---- */

enum { NO_NODE = UINT32_MAX };

typedef struct Reader {
    FlowNodeId node; /* NO_NODE: the result of an item, held to the end */
    uint32_t cursor;
} Reader;

typedef struct StreamPlan {
    LeafType type;
    uint8_t size;
    FlowNodeId node; /* that makes it */
    uint32_t reader_count;
    Reader *readers;
    uint32_t wake_word; /* the nodes among them, as bits of one word of `ready` */
    uint64_t wake_mask;
    bool wakes_more;    /* there are others in further words */
    bool is_looked_at;  /* somebody wants more than the number of its elements */
} StreamPlan;

typedef struct NodePlan {
    const FlowNode *node;
    const NodeKind *kind;
    bool can_fail;
    Elementwise elementwise; /* OPERATION */
    const FoldKind *fold;    /* FOLD, SCAN */
    uint32_t first_cursor; /* of its inputs, in cursors and in inputs */
    uint32_t state;        /* offset in the block */
    uint32_t call;         /* index of its call, UINT32_MAX if it makes none */
    uint32_t stage;        /* index into the plan's */
    uint32_t bundle;       /* likewise, from 1; 0 if it is of none */
    uint32_t scope, parent_scope; /* of a bundle: those of its points and of their parents (bundle_private.h) */
    uint32_t later_count;  /* nodes that wait for it */
    FlowNodeId *later;
} NodePlan;

typedef struct Stage Stage; /* stages.h */

struct Plan {
    FlowNetworkId id;
    const FlowNetwork *network;
    uint32_t node_count, stream_count, cursor_count, call_count;
    NodePlan *nodes;
    StreamPlan *streams;
    InputPlan *inputs;         /* by cursor; those of results come last */
    Chunks chunks;
    Bundle *bundles;
    uint32_t bundle_count;
    uint32_t position_count;
    Stage *stages;             /* null unless the run is measured */
    uint32_t stage_count;
    FlowNodeId parameters;     /* the node, or NO_NODE */
    bool has_order;            /* some node waits for others */
    uint32_t cursors_at, status_at, waits_at, ready_at, calls_at, bundles_at, positions_at; /* offsets in the block */
    size_t instance_size;
    Instance *image; /* how the block is when a run begins, but for pointers into it */
    Instance *spare;
    uint32_t spare_count;
};

/* The sets of points that a stream and a node have (flow.h). */
static inline uint32_t plan_stream_points(const Plan *plan, FlowStreamId stream)
{
    return plan->network->spaces.items[plan->network->streams.items[stream].space].points;
}
static inline uint32_t plan_node_points(const Plan *plan, const FlowNode *node)
{
    return plan->network->spaces.items[node->space].points;
}

/* ---- instances ---- */

typedef struct FailedNode {
    FlowNodeId node;
    uint64_t position; /* of the point, in the node's space */
    Failure failure;
} FailedNode;

enum {
    NODE_DONE = 1,   /* finished or cut: does not fire again */
    NODE_FAILED = 2, /* has just failed, and will be cut */
    NODE_CUT = 4,    /* failed, or waits for what will never come */
    NODE_UNREAD = 8, /* one of its outputs has lost its last reader */
    NODE_WAITS = 16, /* lets others go first (firing_wait) */
    NODE_URGED = 32, /* ... none of which can go on */
};

struct Instance {
    Plan *plan;
    Instance *next; /* of those kept for later */
    Stream *streams;
    uint64_t *cursors; /* CURSOR_DONE when nothing more is wanted */
    uint8_t *status;   /* by node */
    uint32_t *waits;   /* by node: nodes that must finish before it starts; null if there is no order */
    uint64_t *ready;   /* a bit for each node */
    Call **calls;
    BundleState *bundles;
    uint64_t *positions; /* of bundles */
    uint32_t unfinished;
    uint8_t chunk_size; /* that of the plan when the limits of streams were set */
    FlowNodeId next_node; /* where the sweep goes on */
    uint32_t *blame; /* by node: the number of the failure, from 1, that it waits for; null while nothing has failed */
    FailedNode *failed;
    uint32_t failed_count, failed_capacity;
};

/* ---- plan.c ---- */
Plan *plan_of(Vm *vm, FlowNetworkId network);
/* Before its first instance: finds its bundles, and compiles what they need if nobody has yet. */
void plan_compile(Vm *vm, Plan *plan);
extern const NodeKind *const node_kinds[FLOW_OP_COUNT];

/* ---- instance.c ---- */
/* Lets the tables of a block point into it. */
void instance_place_tables(Instance *instance, const Plan *plan);
Instance *instance_new(Vm *vm, Plan *plan);
/* Releases everything it holds, finished or not. */
void instance_free(Vm *vm, Instance *instance);
void instance_free_spares(Vm *vm, Plan *plan);
/* Fills an output of a node that is not fired: parameters. The cells stay the caller's and must outlive the instance. */
void instance_borrow(Instance *instance, FlowStreamId stream, Cells cells, size_t count);
/* The node is done; closes its outputs, lets go of its inputs. */
void instance_finish_node(Vm *vm, Instance *instance, FlowNodeId node);
/* The node will give nothing more, and its outputs are cut short; the inputs are let go. */
void instance_cut_node(Vm *vm, Instance *instance, FlowNodeId node);

static inline void instance_wake(Instance *instance, FlowNodeId node)
{
    instance->ready[node / 64] |= UINT64_C(1) << node % 64;
}

static inline void *instance_state(const Instance *instance, const NodePlan *node)
{
    return (char *)(void *)instance + node->state;
}

static inline Firing instance_firing(Vm *vm, Instance *instance, FlowNodeId id)
{
    const NodePlan *plan = &instance->plan->nodes[id];
    return (Firing){.vm = vm,
                    .instance = instance,
                    .node = plan->node,
                    .id = id,
                    .state = instance_state(instance, plan),
                    .plan = plan,
                    .inputs = instance->plan->inputs + plan->first_cursor,
                    .cursors = instance->cursors + plan->first_cursor,
                    .streams = instance->streams};
}

/* ---- stream.c ---- */
void *stream_reserve(Vm *vm, Instance *instance, FlowStreamId stream, size_t count);
void stream_produce(Instance *instance, FlowStreamId stream, size_t count);
void stream_produce_uniform(Vm *vm, Instance *instance, FlowStreamId stream, const void *cell, size_t count);
/* Gives elements [start, start + count) of a vector's column of scalars without copying them; false if they must be copied, since
 * those before them, which the stream still holds, are somewhere else. */
bool stream_lend(Vm *vm, Instance *instance, FlowStreamId stream, Array *array, uint32_t leaf, size_t start, size_t count);
void stream_set_frontier(Instance *instance, FlowStreamId stream, int64_t frontier);
void stream_close(Vm *vm, Instance *instance, FlowStreamId stream);
void stream_wake_readers(Instance *instance, FlowStreamId stream);
/* Gives back the memory of an empty stream that has more of it than it may use. */
void stream_trim(Vm *vm, Instance *instance, FlowStreamId stream);
void stream_free(Vm *vm, Stream *stream, LeafType type);

/* ---- schedule.c ---- */
typedef enum RunStatus { RUN_FINISHED, RUN_CALLED, RUN_FAILED } RunStatus;
/* Fires nodes until the instance is done, or has failed, or one of them calls. With `is_probe`, the first failure ends it. */
RunStatus instance_run(Vm *vm, Instance *instance, bool is_probe);

/* ---- failing.c ---- */
/* A new failure of a node, to be worded. */
FailedNode *instance_add_failure(Vm *vm, Instance *instance, FlowNodeId node);
void instance_free_failures(Vm *vm, Instance *instance);
/* Cuts nodes that wait for what will never come; of those that wait for several inputs, the ones for which none will come if `is_certain`, else all.
 * False if there were none. */
bool cut_blocked(Vm *vm, Instance *instance, bool is_certain);
/* The failure that counts; there is one. */
FailedNode *instance_failure(const Instance *instance);

#endif
