/* Calls: networks run on points, on a stack of their own.
 *
 * A call on several points runs them together as a *probe*: the first failure anywhere in it ends the run, for the only question then is which
 * point failed first. That is found by halving: runs on fewer and fewer points, the last one on a single point, which is run until
 * nothing moves, so that its least failure is known. Points are independent, calls are deterministic, and what does input or output is only ever
 * called on one point; so running points again is safe, and it happens at most once in a run of the program.
 *
 * A tail call takes the place of its caller: the instance collects arguments, is freed, and the network called runs on them in the same frame
 * with the same slots for its results. Points for the same network are collected together, so that loops stay in step. */
#ifndef RUNNEL_VM_CALL_H
#define RUNNEL_VM_CALL_H

#include "vm/instance.h"

/* The leaves that go in and come out. */
typedef struct Signature {
    const LeafType *parameters, *results;
    uint32_t parameter_count, result_count;
} Signature;

struct Call {
    Plan *plan; /* null: scalar code */
    Signature signature;
    Instance *caller; /* null: called from outside */
    FlowNodeId node;
    size_t bytes;     /* of the block */
    size_t count;     /* points */
    size_t good;      /* points [0, good) have results */
    size_t end;       /* the run under way is on points [good, end) */
    size_t bad;       /* a run that ended there has failed; 0 if none has */
    size_t left_over; /* points given to the last run because compiled code stopped at the first of them */
    uint64_t fair;    /* the largest size of points that one thread is to do, by compiled code, 0 while it is not known; larger ones are for all threads, together or by a network: */
    size_t large_end; /* up to there points are for a network */
    size_t filled;    /* slots with a result, in the run under way and before it */
    bool is_done;
    bool has_failed;
    Failure failure;  /* if so; of point `good` */
    CallResult result;
    Cells *arguments; /* cells and references of whoever asked, or, once others may change these, its own: */
    void *kept;       /* null while they are not */
    size_t kept_bytes;
    Cells *results;   /* `count` cells each, 0 where not yet there */
};

/* Points collected for a tail call. */
typedef struct Batch Batch;
struct Batch {
    Batch *next;
    Plan *plan;
    size_t count, capacity;
    int64_t *slots;
    void *columns[]; /* one for each parameter */
};

struct Frame {
    Instance *instance;
    Call *call;     /* null: an item */
    Batch *current; /* what the instance runs on; null: the call's own points */
    Batch *pending; /* to be run after it */
    Batch *spare;
    bool is_probe;
    uint64_t depth; /* of calls of the program's */
};

/* The arguments are copied only if something else runs before the call is done. */
Call *call_new(Vm *vm, Signature signature, const Cells *arguments, size_t count);
void call_free(Vm *vm, Call *call);
void call_start(Vm *vm, Call *call);
/* The frame of an item; its parameters, if it has any, are borrowed. */
void call_start_item(Vm *vm, FlowNetworkId network, const Cells *arguments);
/* Runs until the first frame is done; it is left on the stack for its results. False if it failed: vm->failure says how. */
bool call_run(Vm *vm);
/* How many calls of the program's are under way. */
uint64_t call_depth(const Vm *vm);
/* Frees all frames. */
void call_unwind(Vm *vm);

/* ---- nodes_scalar.c ---- */
const Signature *scalar_signature(Vm *vm, CoreFunctionId function);
/* Runs scalar code at each point. False if point number *done failed, which `failure` then words. */
bool scalar_run(Vm *vm, CoreFunctionId function, const Cells *arguments, void *const *results, size_t count, size_t *done,
                Failure *failure);

/* What RETURN and TAIL_CALL of the running frame do: cells for `count` slots from the cursors on. */
void call_return(Vm *vm, Cells slots, const Cells *cells, size_t count);
void call_collect(Vm *vm, FlowNetworkId network, Cells slots, const Cells *cells, size_t count);

#endif
