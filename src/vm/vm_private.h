/* The inside of the VM: streams, nodes being run, calls.
 *
 * An *instance* is a network being run. Its streams are buffers: a window of the elements that some reader still needs. Every input of a
 * node has a cursor of its own; what all cursors have passed is dropped. A buffer holds at most a chunk, unless nothing else can
 * go on: then the least of those that are full is given more room (Parks 1995), so that no accepted program can stand still.
 *
 * A node's firing function takes what is available, gives what there is room for, and returns; it is called again when either changes. It
 * must make progress whenever it can, may stop anywhere, and keeps what it must remember in its state. When it is done it calls
 * firing_finish, which closes its outputs.
 *
 * Errors: a node that fails at a point gives everything before that point, records the failure, and never fires again. The others go on until
 * nothing moves any more; then the least failure counts: by position in the spaces that the failed points have in common, then by the order
 * of the nodes. So what is reported does not depend on the size of chunks. */
#ifndef RUNNEL_VM_VM_PRIVATE_H
#define RUNNEL_VM_VM_PRIVATE_H

#include "io/failure.h"
#include "io/world.h"
#include "math/random.h"
#include "vm/array.h"
#include "vm/scalar_code.h"
#include "vm/stream.h"
#include "vm/team.h"
#include "vm/vm.h"

typedef struct Instance Instance;
typedef struct Plan Plan;   /* instance.h */
typedef struct Frame Frame; /* call.h */

typedef struct Scratch {
    void *data;
    size_t bytes;
} Scratch;

/* What goes into a run from outside, and comes out of it; here so that it is found when an allocation fails. */
typedef struct Passage {
    Array **rows; /* one array with one element for each parameter */
    uint32_t row_count;
    Cells *cells; /* one for each leaf of the parameters, then the state of random numbers; later those of the results */
    uint32_t cell_count, cell_capacity;
    Array *elements; /* of a parameter that is a vector, on their way to become one */
    Array *global; /* on its way to become one */
} Passage;

/* A session's engine. Nodes use what stands first. */
struct Vm {
    Memory *memory;
    Team *team; /* does the loops of firings; there from the first run on */
    Heap heap;
    Types *types;
    const FlowProgram *program;
    Diagnostics *diagnostics; /* its sources say in which dialect failures are worded */
    VmOptions options;
    VmStats stats;
    uint64_t produced; /* elements made so far */
    uint64_t vector_bytes; /* of elements of vectors that the last run made */
    uint64_t run_time; /* nanoseconds of the last run, its arguments being there, without what becomes of its result */
    World world;

    VEC(Array *) globals; /* by CoreVar: one row each; null where there is no value */
    ValueSource *const *sources; /* of the function that is called from outside: by parameter, null where it is a value */
    const VmPrinter *printer;    /* of the run, */
    Text printed;                /* ... and what it has not been given yet */
    RandomState random;
    ScalarCode *scalar_code;
    struct Code *code; /* code.h; null until needed */
    struct Workspaces *workspaces; /* sequential.c; null until needed */

    Arena arena;         /* of plans and signatures */
    VEC(const struct Signature *) signatures; /* of scalar code, by CoreFunctionId; null until needed */
    VEC(Plan *) plans;   /* by FlowNetworkId; null until needed */
    Frame *frames;       /* the stack of calls, the running one last */
    size_t frame_count, frame_capacity;
    int64_t *numbers;    /* 0, 1, 2, ...: slots of calls */
    size_t number_count;
    Scratch *scratch;    /* by output: for what nobody reads */
    size_t scratch_count;
    Scratch tiles;       /* of bundles */
    jmp_buf stopped;     /* where a run that is stopped comes out */
    bool is_running;
    Passage passage;
    Failure failure;     /* of the run, once it has failed */
    bool has_failed;
};

/* Ends the run, from anywhere in it: its stop flag is set. What the frames between have allocated with team_alloc, or hold in the state of a node, is freed. */
_Noreturn void vm_stop(Vm *vm);

/* Memory for the tiles of the bundle at work, aligned to cache lines. */
void *vm_tiles(Vm *vm, size_t bytes);

/* Gives what was printed to the run's printer. */
void vm_write_printed(Vm *vm);

/* One node of an instance, while it is being fired. */
typedef struct Firing {
    Vm *vm;
    Instance *instance;
    const FlowNode *node;
    FlowNodeId id;
    void *state; /* of the size that the node's kind asked for, zeroed at first */
    const struct NodePlan *plan;
    const InputPlan *inputs; /* of the node */
    uint64_t *cursors;       /* likewise */
    Stream *streams;         /* of the instance */
} Firing;

/* A reader that stood at `cursor` has gone on, or away: what nobody needs any more is dropped. */
void stream_leave(Vm *vm, Instance *instance, FlowStreamId stream, uint64_t cursor);

/* ---- reading ---- */
/* Elements that can be read now at the input's cursor; SIZE_MAX for constants and for uniform operands whose value is there. Elements of LEAF_ENDS count
 * those given. Several elements are contiguous, or the view is uniform. */
static inline size_t firing_available(const Firing *firing, uint32_t input)
{
    const InputPlan *plan = &firing->inputs[input];
    if (plan->mode == INPUT_CONSTANT)
        return SIZE_MAX;
    const Stream *stream = &firing->streams[plan->stream];
    if (plan->mode == INPUT_UNIFORM)
        return stream->count > 0 ? SIZE_MAX : 0;
    uint64_t cursor = firing->cursors[input], end = stream_end(stream);
    return cursor < end ? end - cursor : 0;
}
static inline Cells firing_cells(const Firing *firing, uint32_t input)
{
    const InputPlan *plan = &firing->inputs[input];
    if (plan->mode == INPUT_CONSTANT)
        return (Cells){.data = &plan->constant, .is_uniform = true};
    Cells cells = stream_cells(&firing->streams[plan->stream], plan->size, firing->cursors[input]);
    cells.is_uniform |= plan->mode == INPUT_UNIFORM;
    return cells;
}
static inline void firing_consume(Firing *firing, uint32_t input, size_t count)
{
    const InputPlan *plan = &firing->inputs[input];
    uint64_t before = firing->cursors[input];
    if (count == 0 || plan->mode != INPUT_STREAM || before == CURSOR_DONE)
        return;
    firing->cursors[input] = before + count;
    if (before == firing->streams[plan->stream].base)
        stream_leave(firing->vm, firing->instance, plan->stream, before);
}
/* Everything was read and nothing will come. Never for constants and uniform operands. */
static inline bool firing_is_ended(const Firing *firing, uint32_t input)
{
    const InputPlan *plan = &firing->inputs[input];
    if (plan->mode != INPUT_STREAM)
        return false;
    const Stream *stream = &firing->streams[plan->stream];
    return stream->is_closed && firing->cursors[input] >= stream_end(stream);
}
/* The node will not look at the input any more: it holds nothing back. */
void firing_ignore(Firing *firing, uint32_t input);
/* How many elements were consumed so far: the absolute position of the cursor. */
static inline uint64_t firing_position(const Firing *firing, uint32_t input)
{
    return firing->cursors[input];
}
/* LEAF_ENDS: points of the child space below it exist and have a known parent (flow.h). At least the last end given. INT64_MAX once the stream is
 * closed. Views of ends are never uniform. */
static inline int64_t firing_frontier(const Firing *firing, uint32_t input)
{
    return firing->streams[firing->inputs[input].stream].frontier;
}

/* ---- writing ---- */
/* Room in all outputs; SIZE_MAX for an output nobody reads. */
static inline size_t firing_room(const Firing *firing, uint32_t output)
{
    return stream_room(&firing->streams[firing->node->outputs[output]]);
}
/* Room for elements that take no memory: more than a chunk of them, so that nodes after this one have long loops for all threads. */
size_t firing_wide_room(const Firing *firing, uint32_t output);
/* Where up to firing_room elements go; then says how many were written. References in cells of arrays are handed over. An output nobody reads
 * gives scratch memory, and what is written there is released and forgotten. */
void *firing_reserve(Firing *firing, uint32_t output, size_t count);
void firing_produce(Firing *firing, uint32_t output, size_t count);
/* The same value count times, in constant space where possible; retains. */
void firing_produce_uniform(Firing *firing, uint32_t output, const void *cell, size_t count);
/* Elements of a vector's column without copying them, if that can be (stream_lend). */
bool firing_lend(Firing *firing, uint32_t output, Array *array, uint32_t leaf, size_t start, size_t count);
void firing_set_frontier(Firing *firing, uint32_t output, int64_t frontier);
/* Somebody reads it. */
static inline bool firing_is_wanted(const Firing *firing, uint32_t output)
{
    return firing->streams[firing->node->outputs[output]].is_read;
}
LeafType firing_output_type(const Firing *firing, uint32_t output); /* of one that is not 0 */

/* For a node that could go on, but had better do so when what it gave was taken: it is fired when that is so, or nothing else can go on. False if that is
 * why it was fired. */
bool firing_wait(Firing *firing);

/* ---- ending ---- */
/* Closes the outputs; the node will not fire again, and its cursors no longer hold anything back. */
void firing_finish(Firing *firing);
/* The node fails at the point that is `offset` elements beyond the cursor of `input` (the input that counts its points). Gives the Failure to be worded (see
 * failure.h); the node will not fire again. */
Failure *firing_fail(Firing *firing, uint32_t input, size_t offset);
/* The same for a node without inputs: at a point by its number. */
Failure *firing_fail_at(Firing *firing, uint64_t position);

/* ---- calling ----
 * A node may have one call under way. It asks for it and returns; it does not fire until the call is done, and then finds the result. */
typedef struct CallResult {
    const Cells *columns; /* one for each leaf of the network's results, borrowed; never uniform */
    size_t count;         /* points that have a result; less than were asked for if has_failed */
    bool has_failed;      /* the call failed at point `count`: the node gives what the points before it allow, then calls firing_fail_call */
} CallResult;

/* Calls `network` on `count` > 0 points; `arguments` are as many cells as it has parameters, and are copied. */
void firing_call(Firing *firing, FlowNetworkId network, const Cells *arguments, size_t count);
/* The same for scalar code; the result is there at once. */
void firing_call_function(Firing *firing, CoreFunctionId function, const Cells *arguments, size_t count);
bool firing_is_calling(const Firing *firing); /* a call was asked for, and firing_call_done not yet */
/* Null while there is no call that is done. */
const CallResult *firing_call_result(Firing *firing);
/* Forgets the call and its results. */
void firing_call_done(Firing *firing);
/* Fails, as firing_fail, with the failure of the call. */
void firing_fail_call(Firing *firing, uint32_t input, size_t offset);

/* ---- kinds of nodes ---- */
typedef struct TileKind TileKind; /* bundle.h */
typedef struct NodeKind {
    void (*fire)(Firing *firing);
    size_t state_size;
    /* Frees what the state owns; null if it owns nothing. Called once, when the node is done or the run has failed. */
    void (*release)(Vm *vm, const FlowNode *node, void *state);
    /* Whether it cannot go on without more of an input that it has read up; null if that is so of every input. */
    bool (*needs)(const Firing *firing, uint32_t input);
    const TileKind *tile; /* null if the VM's own loops cannot do it in a bundle (bundle.h) */
    /* For members of bundles. Brings the state up to date: so many of its points, and of their parents, were done without it. Null if that makes no difference. */
    void (*skip)(const FlowNode *node, void *state, uint64_t points, uint64_t parents);
    /* Reductions: the state of the one under way (fold.h). */
    void *(*running)(const struct NodePlan *plan, void *state);
    /* COLLECT: the array that is being made, to be appended to. */
    Array *(*array)(Vm *vm, const FlowNode *node, void *state);
    /* SCATTER: a column of the vector whose elements are being replaced. */
    void *(*replaced)(Firing *firing, uint32_t leaf);
} NodeKind;

/* Each is defined beside its firing function: `const NodeKind node_kind_RANGE = {...}`. */
#define FLOW(ID, name, can_fail, fields, signature) extern const NodeKind node_kind_##ID;
#include "flow/flow.def"
#undef FLOW

#endif
