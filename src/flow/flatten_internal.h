/* The inside of the flattener.
 *
 * What is kept true while a network is built:
 *  - a value of concrete type may have its leaves on any ancestor of the space where it is used: flatten_bring takes a leaf to a space when a
 *    node needs it there, so nothing is copied in vain;
 *  - a sequence's space is a child of the context's space; entering a filter restricts it (flatten_restrict);
 *  - equal pure nodes are made once, but never two RANGEs: sequences written separately stay separate, for each is traversed on its own;
 *  - spaces whose counts are known to be equal share their points (flatten_unite);
 *  - members of groups that are a table have the points of what is grouped, in its order: nothing is asked about them by group but reductions. */
#ifndef RUNNEL_FLOW_FLATTEN_INTERNAL_H
#define RUNNEL_FLOW_FLATTEN_INTERNAL_H

#include "flow/flatten.h"

typedef enum FlowValueKind { VALUE_UNIT, VALUE_SCALAR, VALUE_PAIR, VALUE_VECTOR, VALUE_SEQUENCE } FlowValueKind;

typedef struct FlowValue FlowValue;
/* A vector that is not yet made: appended to each other, vectors and literals become one vector when somebody reads it. */
typedef struct Rope Rope;
struct Rope {
    const Rope *left, *right;   /* an append */
    const FlowValue *vector;    /* or a vector that there is */
    const FlowValue **elements; /* or a literal */
    uint32_t count;
};

struct FlowValue {
    FlowValueKind kind;
    const Rope *rope; /* VECTOR: only this and the type of elements are known; nothing but a binding holds such a value */
    bool has_sequence;
    uint32_t leaf_count; /* outside sequences; values are graphs, so it may be huge: then it stays at UINT32_MAX */
    FlowOperand scalar;               /* SCALAR */
    const FlowValue *first, *rest;    /* PAIR */
    FlowOperand array, start, length; /* VECTOR */
    TypeId element_type;              /* VECTOR, SEQUENCE */
    FlowSpaceId space;                /* SEQUENCE */
    const FlowValue *element;         /* SEQUENCE: at that space */
};

/* Key and counter of random numbers. */
typedef struct Draws {
    FlowOperand key, counter;
} Draws;

/* Where a block is evaluated. */
typedef struct Context Context;
struct Context {
    Context *outer;
    FlowSpaceId space;
    bool is_filter;    /* else a comprehension's body, or the outermost */
    FlowSpaceId floor; /* nothing is computed above it: the innermost filter */
    FlowSpaceId table; /* the members whose comprehension's body this is, if their groups are a table (flatten_table) */
    Draws draws;
};

typedef struct Binding {
    const FlowValue *value;
    Context *context; /* that it belongs to */
    FlowNetworkId network;
} Binding;

typedef struct FunctionFacts {
    bool is_known;
    bool is_inlining; /* its body is being put in place of a call */
    bool draws;
    bool does_io; /* reads or writes outside; failing on purpose is not I/O */
    bool is_through_known; /* flatten_find_through_function has looked at it */
    VEC(CoreFunctionId) callees;
} FunctionFacts;

/* A network of a function. */
typedef struct Wanted {
    CoreFunctionId function;
    bool is_single;
} Wanted;

typedef enum Use { USE_OTHER, USE_TRAVERSAL, USE_FOLD } Use;

/* Of a variable, for flatten_through.c. */
typedef struct ThroughFacts {
    const CoreBlock *block; /* that binds it */
    uint32_t use_count;
    Use last_use; /* OTHER if it is in another block */
    bool is_alone;
    bool goes_through;
} ThroughFacts;

/* What a variable is to the analysis of a group's body (flatten_members.c). */
typedef struct MemberClass {
    uint32_t analysis; /* it counts only in this one */
    uint32_t class;
} MemberClass;

typedef struct Flattener {
    FlowProgram *program;
    const CoreProgram *core;
    Types *types;
    Layouts *layouts;
    Arena *arena;
    Diagnostics *diagnostics;
    const FlattenOptions *options;
    VEC(Binding) bindings;    /* by CoreVar */
    VEC(FunctionFacts) facts; /* by CoreFunctionId */
    VEC(ThroughFacts) through; /* by CoreVar */
    VEC(Wanted) wanted; /* networks that are still to be made */
    jmp_buf on_error; /* flattening ends at the first */
    uint32_t inlined; /* statements put in place of calls so far */
    VEC(MemberClass) member_classes; /* by CoreVar */
    uint32_t member_analyses;        /* how many there were */

    /* the network being built */
    FlowNetworkId id;
    FlowNetwork *network;
    Context *context;
    Span span; /* of the statement being flattened */
    FlowOperand slot; /* functions: the slots of the call */
    VEC(uint32_t) points; /* sets of points: each one's representative, itself if it is one */
    FlowNodeId *same;     /* table of nodes by what they compute, open addressing; 0 empty, else id + 1 */
    uint32_t same_size, same_count;
    FlowNodeId first_after_io; /* the last node with I/O, or the first of all: from it on nodes are awaited by the next one */
} Flattener;

/* ---- flatten_node.c: nodes, streams, operands ---- */
FlowOperand flatten_int(int64_t value);
FlowOperand flatten_constant(ScalarType type, Scalar value);
FlowOperand flatten_stream(const Flattener *f, FlowStreamId stream);
bool flatten_is_same_operand(FlowOperand a, FlowOperand b);

/* A node with room for inputs, which the caller sets, and no outputs yet. Valid until the next one is made. */
FlowNode *flatten_node(Flattener *f, FlowOp op, FlowSpaceId space, const FlowOperand *inputs, uint32_t input_count);
/* Makes a stream the next output of the node made last. */
FlowStreamId flatten_output(Flattener *f, LeafType type, FlowSpaceId space);
/* After a node with one output was completed: gives that output, or that of an equal node made before, which then takes its place. */
FlowOperand flatten_shared(Flattener *f);

/* ---- flatten_space.c ---- */
FlowSpace *flatten_space(const Flattener *f, FlowSpaceId space);
FlowSpaceId flatten_new_space(Flattener *f, FlowSpace space); /* points 0: a new set */
uint32_t flatten_points(const Flattener *f, FlowSpaceId space);
bool flatten_is_unit(const Flattener *f, FlowSpaceId space);
bool flatten_is_on(const Flattener *f, FlowOperand operand, FlowSpaceId space); /* a stream on the points of the space */
/* Says that two spaces have the same points. */
void flatten_unite(Flattener *f, FlowSpaceId a, FlowSpaceId b);
/* Whether `above` is the space itself or an ancestor of it. */
bool flatten_sees(const Flattener *f, FlowSpaceId space, FlowSpaceId above);
/* Whether the operand can be brought to the space: it lives there or on an ancestor. */
bool flatten_reaches(const Flattener *f, FlowOperand operand, FlowSpaceId space);
/* The operand at a space: itself, uniform if on unit, or a stream packed and distributed on the way down. */
FlowOperand flatten_bring(Flattener *f, FlowOperand operand, FlowSpaceId space);
/* The same, never uniform nor constant. */
FlowOperand flatten_bring_stream(Flattener *f, FlowOperand operand, FlowSpaceId space);
FlowOperand flatten_driver(Flattener *f, FlowSpaceId space);
/* The stream of ends of a space on its parent, whatever its segments. */
FlowOperand flatten_ends(Flattener *f, FlowSpaceId space);
/* From the ends of M on P and those of S on M, the ends of S on P. */
FlowOperand flatten_compose(Flattener *f, FlowSpaceId parent, FlowOperand outer, FlowOperand inner);
/* Appends the inputs <C/P> of a space to a list with room; gives how its parent sees it. */
FlowSegments flatten_segments(Flattener *f, FlowSpaceId space, FlowOperand *inputs, uint32_t *count);
/* Makes a space of `count` points (brought to the parent) under each point. */
FlowSpaceId flatten_range(Flattener *f, FlowSpaceId parent, FlowOperand count);
FlowSpaceId flatten_filter(Flattener *f, FlowSpaceId parent, FlowOperand flags, bool keep);
/* The points of `inner`, children of points of `outer`, as children of the parents of those. */
FlowSpaceId flatten_flat(Flattener *f, FlowSpaceId inner, FlowSpaceId outer);
/* The children in `space` of the points that survive in `filter`, a filter of its parent. */
FlowSpaceId flatten_restricted(Flattener *f, FlowSpaceId space, FlowSpaceId filter);
/* The position of each point among its siblings. */
FlowOperand flatten_local_index(Flattener *f, FlowSpaceId space);
enum { SEGMENT_INPUTS = 2 }; /* at most */

/* ---- flatten_rope.c ---- */
/* A vector to be made from `rope` later. */
const FlowValue *flatten_rope_value(Flattener *f, const Rope *rope, TypeId element_type);
/* The rope of a vector, made or not. */
const Rope *flatten_rope(Flattener *f, const FlowValue *vector);
const Rope *flatten_rope_append(Flattener *f, const Rope *left, const Rope *right);
const Rope *flatten_rope_literal(Flattener *f, const FlowValue **elements, uint32_t count);
/* Makes the vector, at the context. */
const FlowValue *flatten_force(Flattener *f, const FlowValue *value);
/* The sequence of its elements instead, at the context. */
const FlowValue *flatten_rope_sequence(Flattener *f, const FlowValue *value);

/* ---- flatten_through.c ---- */
/* Finds the vectors of a body that need not be made; once for each body, before it is flattened. */
void flatten_find_through(Flattener *f, const CoreBlock *body);
void flatten_find_through_function(Flattener *f, CoreFunctionId function);
/* Whether a vector need not be made: its variable may hold the sequence of its elements. */
bool flatten_goes_through(const Flattener *f, CoreVar variable);

/* ---- flatten_value.c ---- */
const FlowValue *flatten_value_unit(Flattener *f);
const FlowValue *flatten_value_scalar(Flattener *f, FlowOperand operand);
const FlowValue *flatten_value_pair(Flattener *f, const FlowValue *first, const FlowValue *rest);
const FlowValue *flatten_value_vector(Flattener *f, FlowOperand array, FlowOperand start, FlowOperand length,
                                      TypeId element_type);
const FlowValue *flatten_value_sequence(Flattener *f, FlowSpaceId space, const FlowValue *element, TypeId element_type);
/* The leaves of a concrete value, in the order of its layout. */
typedef struct Leaves {
    FlowOperand *items;
    uint32_t count;
} Leaves;
Leaves flatten_leaves(Flattener *f, const FlowValue *value);
/* A value of a type from leaves; sequences are taken as vectors and streamed at `space`. */
const FlowValue *flatten_from_leaves(Flattener *f, TypeId type, const FlowOperand *leaves, FlowSpaceId space);
TypeId flatten_representation(Flattener *f, TypeId type);
const Layout *flatten_layout(Flattener *f, TypeId type); /* never null */
/* The value as a sequence of the context: vectors are streamed. */
const FlowValue *flatten_as_sequence(Flattener *f, const FlowValue *value, FlowSpaceId space);
/* Materialises every sequence in a value at a space. */
const FlowValue *flatten_concrete(Flattener *f, const FlowValue *value, FlowSpaceId space);
const FlowValue *flatten_collect(Flattener *f, const FlowValue *sequence);
/* The value with all its leaves brought to a space. */
const FlowValue *flatten_settle(Flattener *f, const FlowValue *value, FlowSpaceId space);
/* What merges k values, value i at the points of spaces[i], into one at `space` by a selector on it. */
const FlowValue *flatten_merge(Flattener *f, FlowOperand selector, FlowSpaceId space, const FlowValue *const *values,
                               const FlowSpaceId *spaces, uint32_t count);
/* A value at a space, where only the points of a filter of it matter: sequences are restricted. */
const FlowValue *flatten_restrict(Flattener *f, const FlowValue *value, FlowSpaceId filter);
static inline bool flatten_has_sequence(const FlowValue *value)
{
    return value->has_sequence;
}
/* The zero value of a type: 0, a space, empty containers. */
const FlowValue *flatten_zero(Flattener *f, TypeId type, FlowSpaceId space);

/* ---- flatten.c ---- */
const FlowValue *flatten_atom(Flattener *f, const CoreAtom *atom);
/* The same; a vector that is still to be made stays so. */
const FlowValue *flatten_lazy_atom(Flattener *f, const CoreAtom *atom);
/* The sequence of some values, at the context. */
const FlowValue *flatten_literal(Flattener *f, const FlowValue **values, uint32_t count, TypeId element_type);
FlowOperand flatten_scalar_atom(Flattener *f, const CoreAtom *atom);
TypeId flatten_element_type(Flattener *f, TypeId container);
void flatten_bind(Flattener *f, CoreVar variable, const FlowValue *value);
const FlowValue *flatten_block(Flattener *f, const CoreBlock *block);
void flatten_step(Flattener *f, const CoreStatement *statement);
/* Evaluates the body of a comprehension or group at a space, with these parameters. */
const FlowValue *flatten_body(Flattener *f, const CoreBlock *block, FlowSpaceId space, const FlowValue *const *arguments);
/* The sequences among the arguments as one space, and what their elements are. */
FlowSpaceId flatten_zip_arguments(Flattener *f, const CoreStatement *statement, const FlowValue **elements);
/* Sixty-four random bits of the context's state, which goes on. */
FlowOperand flatten_next_draw(Flattener *f);
/* One point under each: the points of the parent itself, seen as its children. */
FlowSpaceId flatten_single(Flattener *f, FlowSpaceId parent);
Context *flatten_enter(Flattener *f, FlowSpaceId space, bool is_filter);
void flatten_leave(Flattener *f);
/* Where an operation on these operands is computed: as high as they allow, but not above the innermost filter. */
FlowSpaceId flatten_place(Flattener *f, const FlowOperand *operands, uint32_t count);
FunctionFacts flatten_facts(Flattener *f, CoreFunctionId function);
bool flatten_block_draws(Flattener *f, const CoreBlock *block);
bool flatten_block_does_io(Flattener *f, const CoreBlock *block);
bool flatten_op_does_io(Op op); /* in a way that must keep its order */
_Noreturn void flatten_error(Flattener *f, ErrorCode code, Span span, const char *message);

/* ---- flatten_op.c ---- */
const FlowValue *flatten_op(Flattener *f, const CoreStatement *statement);
/* Sequences, each after the one before, at the context. */
const FlowValue *flatten_join(Flattener *f, Op op, const FlowValue *const *operands, uint32_t count);
/* One operation on scalars at the space that flatten_place gives, or at the context if it may fail. */
FlowOperand flatten_scalar_op(Flattener *f, Op op, ScalarType result, const FlowOperand *operands, uint32_t count);
/* Whether an operation is scalar, cannot fail, and costs about as much as an addition. */
bool flatten_is_cheap_op(Flattener *f, const CoreStatement *statement);
/* Whether a scalar operation may have no result. */
bool flatten_may_fail(Op op, ScalarType operand, ScalarType result);
/* Makes the node made last wait for everything before it that is on unit, on the root, or in a branch there. */
void flatten_order(Flattener *f);
/* Sequences of equal length, checked unless that is known, as one space; their elements are seen from there. */
FlowSpaceId flatten_zip(Flattener *f, Op op, const FlowSpaceId *spaces, const FlowValue **elements, uint32_t count);

/* ---- flatten_group.c, flatten_members.c ---- */
const FlowValue *flatten_group(Flattener *f, const CoreStatement *statement);
/* The members that a space's points are or come from, if their groups are a table; else 0. */
FlowSpaceId flatten_table(const Flattener *f, FlowSpaceId space);
/* Whether the body of a group only reduces its members, after work on each alone: then groups are a table. */
bool flatten_reduces_members(Flattener *f, const CoreStatement *group);
/* A leaf of the groups' key, as the members of a table see it. */
FlowOperand flatten_table_key(const Flattener *f, FlowOperand operand, FlowSpaceId members);
/* The reduction core_op of elements at a space of a table: a value for each group. */
FlowOperand flatten_fold_by(Flattener *f, Op op, FlowOperand element, LeafType result, FlowSpaceId space);

/* ---- flatten_compare.c ---- */
/* The order of two values of one type, sequences among them, at the context: an Order (math/scalar.h) as i32. */
FlowOperand flatten_order_of(Flattener *f, TypeId type, const FlowValue *a, const FlowValue *b);

/* ---- flatten_call.c ---- */
const FlowValue *flatten_call(Flattener *f, const CoreStatement *statement);
/* Whether a function has sequences in its type: streams do not cross the boundaries of networks. */
bool flatten_is_put_in_place(Flattener *f, const CoreFunction *function);
/* The body of a comprehension or group with I/O, as a call at each point of the context, one after the other. */
const FlowValue *flatten_serial_body(Flattener *f, const CoreBlock *block, const FlowValue *const *arguments);
FlowNetworkId flatten_network_of(Flattener *f, CoreFunctionId function, bool is_single);
/* Whether a branch at one point becomes a network of its own, and its value there, in the branch's space. */
bool flatten_is_branch(Flattener *f, const CoreBlock *block);
const FlowValue *flatten_call_branch(Flattener *f, const CoreBlock *block);
/* Makes the networks of everything wanted. */
void flatten_wanted(Flattener *f);
/* The network of an item, or of a function as it is called from outside: everything is on unit. */
FlowNetworkId flatten_item_network(Flattener *f, const CoreBlock *block, Name name, Span span, bool is_printed);

/* ---- flatten_outside.c: what comes from outside and goes there ---- */
/* Whether a parameter of a function that is called from outside is read while it runs. */
bool flatten_is_input(const Flattener *f, TypeId type);
/* Its value, by a node that reads parameter `index`. */
const FlowValue *flatten_input(Flattener *f, TypeId type, uint32_t index);
/* Makes the node that prints a value with sequences in it, on unit, after all other output. */
void flatten_print(Flattener *f, TypeId type, const FlowValue *value);

/* ---- flatten_share.c ---- */
/* Vectors that are made of whole vectors, element by element (zip), have their columns in common with them. */
void flatten_share_columns(Flattener *f);
/* Lengths are compared without counting points, where these are nothing but counted. `needed` says which nodes are. */
void flatten_compare_counts(Flattener *f, const bool *needed);

/* ---- flatten_finish.c ---- */
/* Completes the network being built. */
void flatten_finish(Flattener *f);

#endif
