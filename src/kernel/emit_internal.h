/* How kernels are written as C: what the parts of it share. */
#ifndef RUNNEL_KERNEL_EMIT_INTERNAL_H
#define RUNNEL_KERNEL_EMIT_INTERNAL_H

#include "kernel/c_text.h"
#include "kernel/emit.h"
#include "kernel/linear.h"
#include "kernel/members.h"
#include "kernel/narrow.h"
#include "kernel/op_text.h"
#include "math/scalar.h"

#include <stdio.h>

enum {
    OPERAND_SIZE = 96,
    OPERANDS_MAX = 8,
    FLAT_OPERATIONS = 24, /* of filters without branches: more are done at fewer points */
};

/* A loop of groups (emit_loops.c) is written twice: for whole groups, and for the few elements after the last. */
typedef enum GroupStep { GROUP_NONE, GROUP_WHOLE, GROUP_REST } GroupStep;

typedef struct Emitter {
    const EmitContext *context;
    const Fusion *fusion;
    const FlowNetwork *network;
    const Kernel *kernel;
    Text *out;
    uint32_t depth;  /* of braces */
    uint32_t line;   /* of the source, that was shown last */
    bool has_fast;   /* two versions, of which one is for most operands */
    bool calls_functions;
    bool is_shared;    /* some loop can be shared by calls */
    bool may_stop;     /* some loop looks whether it is to go on */
    bool is_searching; /* values are computed ahead of the points they are for, and nothing is given */
    uint32_t flat;     /* the innermost filter around that is computed whatever its condition; KERNEL_ROOT for none */
    GroupStep group;   /* in the loop that is being written */
    bool has_groups;   /* that can fail */
    bool is_packing;   /* what filters keep is first put aside */
    bool is_at_ends;   /* of a loop, before it: what is usual there is so at all points (emit_ends.c) */
    bool *usual;       /* by node of the kernel: what is known to be so; null for none */
    const bool *needed; /* by node of the kernel: what scans take, of which only totals are found, and nothing else is done; null where all is */
    bool *varying;     /* in the loop that is being written: by node of the kernel, whether it differs between points */
    LinearLoops linear; /* whose results come from a table */
    Narrow narrow;      /* values that are 32 bits wide in the version that is being written */
} Emitter;

/* A piece of C. */
typedef struct Word {
    char text[OPERAND_SIZE];
} Word;

/* ---- emit_words.c: lines, names, and what a kernel is given ---- */
__attribute__((format(printf, 2, 3))) void emit_line(Emitter *e, const char *format, ...);
void emit_open_brace(Emitter *e);
void emit_close_brace(Emitter *e);
/* The line of the source that something comes from, in a comment, once. */
void emit_show_source(Emitter *e, Span span);
const char *emit_leaf_c_type(LeafType type);
/* A variable for a stream: its name in the source, as far as C allows, and its number. */
Word emit_variable(const Emitter *e, FlowStreamId stream);
Word emit_operand_text(const Emitter *e, FlowOperand operand);
Word emit_constant_word(const Emitter *e, ScalarType type, Scalar value);
uint32_t emit_scope_of(const Emitter *e, const FlowNode *node);
uint32_t emit_scope_of_stream(const Emitter *e, FlowStreamId stream);
/* Where a stream is in a vector of them; -1 if it is not there. */
int emit_index_of(const void *list, FlowStreamId stream);
uint32_t emit_column_of(const Emitter *e, FlowStreamId array, uint32_t leaf);
uint32_t emit_first_scatter(const Kernel *kernel);
void emit_parameters(Emitter *e);
/* Elements that others make, read where the first of the bodies begins. */
void emit_inputs(Emitter *e);

/* ---- emit_values.c: values of points, and where they are stored ---- */
Word emit_canonical(LeafType type, Word value);
/* The node that makes a stream. */
const FlowNode *emit_maker_of(const Emitter *e, FlowStreamId stream);
/* It may be called for totals, of scans or of what it will give, before it is called to give it. */
bool emit_has_two_passes(const Kernel *kernel);
/* Nobody knows beforehand how much it gives, so there may be no room for it. */
bool emit_may_be_full(const Emitter *e);
/* The scope that an output is on, and the type of its elements. */
uint32_t emit_scope_of_output(const Emitter *e, uint32_t output, LeafType *type);
uint32_t emit_output_count(const Kernel *kernel);
void emit_store(Emitter *e, uint32_t output, uint32_t scope, Word value);
/* Gives an output of a node to others. */
void emit_output(Emitter *e, FlowStreamId stream);
/* The last elements of vectors that are made. */
void emit_sinks(Emitter *e, FlowNodeId id);
/* Elements are replaced only as long as all is well: what follows a failure may have come to a wrong place, and what is replaced stays so. */
void emit_scatter(Emitter *e, FlowNodeId id, const FlowNode *node);
/* After a scope inside `scope`: where the points end that others see, of it and of scopes inside. */
void emit_ends(Emitter *e, uint32_t scope, uint32_t inside);
/* A MERGE outside of the filter it is on reads it: it is declared out there. */
bool emit_is_merged(const Emitter *e, FlowStreamId stream);
__attribute__((format(printf, 3, 4))) void emit_value(Emitter *e, FlowStreamId stream, const char *format, ...);
/* `failed` or `slow`; of what is computed in vain, another one. */
Word emit_flag_name(const Emitter *e, const char *name);
void emit_operation(Emitter *e, const FlowNode *node);
/* Whether an operation is written for most operands, too: then it may set `slow`. */
bool emit_can_be_slow(const Emitter *e, const FlowNode *node);
void emit_count(Emitter *e, const FlowNode *node);
/* The variable that counts a scope's points within their parent. */
Word emit_counter(const Emitter *e, uint32_t scope);
bool emit_contains_loops(const Emitter *e, uint32_t number);
void emit_slices(Emitter *e, FlowNodeId id, const FlowNode *node);
/* The elements that a loop goes over: their place does not change in it. */
void emit_slice_start(Emitter *e, FlowNodeId id, const FlowNode *node);
/* Whether a value is a constant, or uniform. */
bool emit_is_given_before(const Emitter *e, FlowOperand operand);
void emit_tests_before(Emitter *e);
void emit_index(Emitter *e, const FlowNode *node);
void emit_gather(Emitter *e, const FlowNode *node);
void emit_merge(Emitter *e, const FlowNode *node);

/* ---- emit_calls.c: calls of functions, of several points at once if they have lanes ---- */
/* How the loop around the points of a scope counts them. */
Word emit_loop_index(const Emitter *e, uint32_t scope);
/* Room for results, before the loop. */
void emit_declare_lanes(Emitter *e, uint32_t scope);
/* At the beginning of the loop's body. */
void emit_lanes(Emitter *e, uint32_t scope);
/* A function is called with values that are right, or not at all: it might not come to its end. */
void emit_scalar_call(Emitter *e, FlowNodeId id, const FlowNode *node);

/* ---- emit_reductions.c: reductions and scans ---- */
/* The struct of a reduction whose order matters. */
Word emit_fold_type(const FlowNode *node);
const char *emit_fold_symbol(const FlowNode *node);
/* Its elements are put into the tile by their index. */
bool emit_fills_tiles(const Emitter *e, const FlowNode *node);
/* The type of the variable in which an exact reduction goes on. */
const char *emit_total_type(const Emitter *e, const FlowNode *node);
Word emit_condition_of(const Emitter *e, uint32_t filter);
/* Reductions to unit whose order matters are done here block by block where points are many and alike; else their elements are given. */
bool emit_folds_blocks(const Emitter *e);
/* One more element. */
void emit_element(Emitter *e, FlowNodeId id, const FlowNode *node);
/* The number of a reduction or a scan among the kernel's partials; -1 if it is none. */
int emit_partial_of(const Emitter *e, FlowNodeId id);
void emit_scan(Emitter *e, FlowNodeId id, const FlowNode *node);
bool emit_can_fail(const Emitter *e, const FlowNode *node);
/* Where a loop does little for a point and only adds up, it goes by groups of as many elements as there are lanes: most of what short segments
 * cost is beginning and ending. */
bool emit_is_grouped(const Emitter *e, uint32_t number);
/* Before the loop. */
void emit_fold_start(Emitter *e, FlowNodeId id, const FlowNode *node);
/* After it. */
void emit_fold_result(Emitter *e, FlowNodeId id, const FlowNode *node);
/* Calls `emit` for the reductions of points in a scope, or of those below it, that end with it. */
void emit_each_reduction(Emitter *e, uint32_t scope, void (*emit)(Emitter *, FlowNodeId, const FlowNode *));

/* ---- emit_search.c: loops that are searched first, and what does not change in a loop ---- */
/* The one filter in a scope whose other parts are harmless; KERNEL_NO_SCOPE if that is not so, `scope` itself if there is none. */
uint32_t emit_only_filter(const Emitter *e, uint32_t scope);
/* The innermost of the filters that a loop consists of, if it is an equation whose points are stored and nothing else is; else KERNEL_NO_SCOPE. */
uint32_t emit_searched_filter(const Emitter *e, uint32_t loop);
/* Long loops look now and then whether anybody still wants them to go on. */
void emit_poll_of_tiles(Emitter *e, uint32_t number, const char *at, const char *tile);
void emit_poll_of_turns(Emitter *e, uint32_t number);
/* Finds the nodes whose values differ between points of the loop, since they depend on its index. */
void emit_find_varying(Emitter *e, uint32_t loop);
bool emit_varies(const Emitter *e, FlowOperand operand);
/* Whether a value is the index, or one more or less by what does not change in the loop. */
bool emit_is_affine(const Emitter *e, FlowOperand operand, uint32_t loop);
/* The value at the loop's first point. */
void emit_add_first_value(Emitter *e, Text *out, FlowOperand operand, uint32_t loop);
/* Emits, once each and after what they take, `invariant` values of the loop as they are. */
void emit_invariants(Emitter *e, FlowOperand operand, uint32_t loop, bool *is_done);
void emit_search(Emitter *e, uint32_t number, uint32_t filter);

/* ---- emit_ends.c: operations that are usual at all points of a loop ---- */
/* Finds them, in all loops. */
void emit_find_usual(Emitter *e);
bool emit_is_usual(const Emitter *e, const FlowNode *node);
/* Before the loop: sets `slow` where they are not. */
void emit_tests_of_ends(Emitter *e, uint32_t loop);

/* ---- emit_loops.c: loops below the root ---- */
void emit_slice_starts(Emitter *e, uint32_t scope);
/* How many points a loop has: as many as each of the sequences that are traversed together. */
void emit_loop_count(Emitter *e, uint32_t number);
bool emit_gives_points(const Emitter *e, uint32_t scope);
/* Whether a node takes little, and may be done once more for the same point. */
bool emit_is_repeatable(const Emitter *e, const FlowNode *node);
/* Whether any node in a scope is, or in one inside it. */
bool emit_any_needed(const Emitter *e, uint32_t scope, const bool *is_needed);
/* Whether that is so of any node there. */
bool emit_any_inside(const Emitter *e, uint32_t scope, bool (*is_so)(const Emitter *, const FlowNode *));
/* Block by block, as sums are ordered (math/combine.h): groups of elements, added to lanes, then the rest one by one. */
void emit_loop_of_groups(Emitter *e, uint32_t number);
/* A loop whose points, reductions and scans are declared. */
void emit_all_turns(Emitter *e, uint32_t number);
void emit_inner_loop(Emitter *e, uint32_t number);

/* ---- emit_long_loops.c: loops that calls share ---- */
/* Before the loop, its points known: those that a call is to do. */
void emit_begin_sharing(Emitter *e, uint32_t loop, bool is_left_out_of_totals);
/* Each block of a part begins with what comes before it. */
void emit_resume_scans(Emitter *e, uint32_t loop);
/* After it. */
void emit_end_sharing(Emitter *e, uint32_t loop);

/* ---- emit_filters.c: filters ---- */
bool emit_is_merely_packed(const Emitter *e, const KernelScope *scope);
bool emit_is_flat(const Emitter *e, uint32_t number, uint32_t *rest);
void emit_if(Emitter *e, uint32_t number);

/* ---- emit_ahead.c: memory that is asked for before it is read (preamble/ahead.h) ---- */
/* Elements that the root's points take from anywhere in vectors, at places that are known long before. */
typedef struct FarElements {
    VEC(const FlowNode *) gathers;
    bool *is_needed; /* by node of the kernel: for the places */
} FarElements;
/* Of what the root's points read in order: what points have that come some time after these. */
void emit_ask_in_order(Emitter *e, const char *from, const char *to);
/* False if there are none. */
bool emit_find_far(const Emitter *e, FarElements *far);
/* Declares `is_far`: whether any of the vectors is so large that asking is worth it. */
void emit_test_of_far(Emitter *e, const FarElements *far);
/* For the elements of points [from, to), which are done later. */
void emit_ask_far(Emitter *e, const FarElements *far, const char *from, const char *to);

/* ---- emit_roots.c: loops over the points of the root ---- */
void emit_root_loop(Emitter *e, const char *from, const char *to);
void emit_linear_result(Emitter *e, FlowNodeId id, const FlowNode *node);
void emit_linear_blocks(Emitter *e);
void emit_blocks(Emitter *e);
bool emit_can_pack(const Emitter *e);
void emit_packed_loop(Emitter *e);
void emit_strided(Emitter *e);

/* ---- emit.c: bodies and kernels ---- */
/* What was given and counted before the point at hand, to go back to. */
typedef enum MarkStep { MARK_DECLARE, MARK_SET, MARK_GO_BACK } MarkStep;
/* Where only totals of scans are found, whether these need nothing of it. */
bool emit_is_left_out(const Emitter *e, KernelUnit unit);
void emit_node(Emitter *e, FlowNodeId id);
void emit_body(Emitter *e, uint32_t number);
void emit_marks(Emitter *e, MarkStep step);

#endif
