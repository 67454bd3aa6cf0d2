/* Flow: the program after flattening. No nesting is left: every value is streams, and every stream lives on a space.
 *
 * A *space* is a set of points. Spaces form a tree: the root is `unit` (one point); a function has a space `root` whose points are those of
 * the call. A point has a parent in the parent space and an order among its siblings; points are numbered from 0 in order over the whole space.
 *
 * A *stream* is a value for every point of one space, in order. What a Core value becomes at a space P:
 *
 *     scalar      one stream, on P or on an ancestor of P: what does not depend on the points of P stays where it was computed
 *     vector      three streams: the array, the position of its first element, its length (layout.h)
 *     pair        the streams of both
 *     sequence    a child space C of P, and the streams of an element at C; elements that are sequences have children of C
 *
 * How a child space C of P says which point has which parent, its *segments*, as seen by a node that relates the two:
 *
 *     SINGLE      P is unit: all points have the same parent
 *     REGULAR     every parent has the same number of points, a constant or a value on unit
 *     ENDS        a stream of type LEAF_ENDS on P: for each parent the number of points of C up to its last child. An element
 *                 of it is there once that parent can get no more children. Beside its elements the stream has a *frontier*: points of C
 *                 below it that lie at or beyond the last end given belong to the parent next in turn. So a reader may handle
 *                 a point of C only below the frontier. (Where the counts are known at once, the frontier is the last end.)
 *
 * Several spaces may have the same points seen from different parents: `flat` sees the points of S from its grandparent, `part` from
 * parts between, zipped sequences are of one length once that was checked. `points` says which spaces share theirs: a stream on
 * one is a stream on all of them.
 *
 * An operand of a node is a constant, a stream read point by point, or a stream on unit of which the one value serves all points (is_uniform).
 * Nodes stand in an order in which each comes after those it reads from. A node has outputs that nobody reads only if it may fail, or has others. */
#ifndef RUNNEL_FLOW_FLOW_H
#define RUNNEL_FLOW_FLOW_H

#include "core/core.h"
#include "flow/layout.h"

typedef uint32_t FlowSpaceId;   /* index into FlowNetwork.spaces; 0 is none */
typedef uint32_t FlowStreamId;  /* index into FlowNetwork.streams; 0 is none */
typedef uint32_t FlowNodeId;    /* index into FlowNetwork.nodes */
typedef uint32_t FlowNetworkId; /* index into FlowProgram.networks; 0 is none */

typedef enum FlowOp {
#define FLOW(ID, name, can_fail, fields, signature) FLOW_##ID,
#include "flow/flow.def"
#undef FLOW
    FLOW_OP_COUNT
} FlowOp;

/* Which fields of a node an operation has a use for. */
typedef enum FlowField {
    HAS_CORE_OP = 1,
    HAS_KEEP = 2,
    HAS_LEAF = 4,
    HAS_LAYOUT = 8,
    HAS_NETWORK = 16,
    HAS_FUNCTION = 32,
    HAS_OPERATOR = 64, /* network or function, layout, captured_count, draws */
    HAS_VARIABLE = 128,
    HAS_INDEX = 256,
    HAS_TEXT = 512,
} FlowField;

typedef struct FlowOpInfo {
    const char *name;
    bool can_fail;
    uint32_t fields;       /* of FlowField */
    const char *signature; /* flow.def explains it; null: not checked */
} FlowOpInfo;
extern const FlowOpInfo flow_op_table[FLOW_OP_COUNT];

typedef enum FlowSpaceKind {
    SPACE_UNIT,
    SPACE_ROOT,     /* the points of a call */
    SPACE_RANGE,    /* under each parent as many points as a count says */
    SPACE_FILTER,   /* a point where a flag holds */
    SPACE_RESTRICT, /* the children, in another space, of the points that survive in a filter, its parent */
    SPACE_FLAT,     /* the points of another space, seen from its grandparent */
    SPACE_JOIN,     /* under each parent the points of several spaces, one after the other */
    SPACE_CHOICE,   /* under each parent the points of one of several spaces */
    SPACE_PART,     /* parts */
    SPACE_PARTED,   /* the points of another space, seen from its parts */
    SPACE_GROUP,    /* groups */
    SPACE_MEMBERS,  /* the points of another space, by groups: in their order, or in order of groups */
    SPACE_LINES,
    SPACE_INPUT,
} FlowSpaceKind;

typedef enum FlowSegments { SEGMENTS_SINGLE, SEGMENTS_REGULAR, SEGMENTS_ENDS } FlowSegments;

typedef struct FlowOperand {
    LeafType type;
    bool is_constant;
    bool is_uniform; /* a stream on unit whose one value serves all points */
    union {
        Scalar constant; /* scalar types only */
        FlowStreamId stream;
    };
} FlowOperand;

typedef struct FlowStream {
    LeafType type;
    FlowSpaceId space;
    FlowNodeId node; /* that makes it */
    Name name;       /* from the source, 0 for none */
} FlowStream;

typedef struct FlowSpace {
    FlowSpaceKind kind;
    FlowSpaceId parent; /* 0: unit */
    uint32_t points;    /* id of the set of points; that of unit is 1 */
    FlowSpaceId base;   /* FLAT, PARTED, RESTRICT, MEMBERS: the space whose points are seen anew */
    FlowSpaceId middle; /* FLAT: the space between that and the parent, which is forgotten */
    FlowStreamId driver; /* a stream on it */
    FlowSegments segments; /* as seen from its parent */
    FlowOperand count;   /* REGULAR: constant or uniform */
    FlowStreamId ends;   /* ENDS: once a node wanted it */
    FlowStreamId number; /* MEMBERS in the order of their base: the number of each one's group; 0 if in order of groups */
    FlowStreamId flags;  /* FILTER: the stream on the parent, and which of its values is kept */
    bool keep;
} FlowSpace;

typedef struct FlowNode {
    FlowOp op;
    FlowSpaceId space; /* of its points: C, or S, or J */
    Span span;
    FlowOperand *inputs;
    uint32_t input_count;
    FlowStreamId *outputs; /* 0 for one that is not wanted */
    uint32_t output_count;
    FlowSegments segments; /* of nodes with <C/P> */
    Op core_op;
    ScalarType scalar;
    bool keep;
    bool is_serial;
    uint32_t leaf;
    const Layout *layout;
    const Layout **layouts; /* ROWS: of each argument; layout_count of them */
    uint32_t layout_count;
    uint32_t captured_count; /* leaves captured by an operator */
    bool draws;              /* the operator does: an input is the draw that is the key of its applications (math/random.h) */
    FlowNetworkId network;
    CoreFunctionId function;
    CoreVar variable;
    uint32_t index; /* INPUT: of main's parameter; CONSTANTS: how many */
    const char *text;
    uint32_t text_length;
    void **columns; /* CONSTANTS: the cells of each leaf */
    FlowNodeId *after; /* nodes that must be done before this one starts: input and output keep their order */
    uint32_t after_count;
} FlowNode;

/* What one function, item or body with input and output becomes. */
typedef struct FlowNetwork {
    Name name;
    Span span;
    CoreFunctionId function; /* that it is, called at points; 0 for others */
    bool is_item;   /* an item, or a function called from outside: on unit, its parameters too */
    bool is_single; /* a function, or a branch in one, that is called at one point: likewise; all others have a root, space 2 */
    bool is_branch; /* ... the latter: a call of it is no call of the program's */
    bool does_io;   /* takes one point at a time */
    VEC(FlowSpace) spaces;   /* [0] unused, [1] unit, [2] root of functions */
    VEC(FlowStream) streams; /* [0] unused */
    VEC(FlowNode) nodes;
    uint32_t parameter_count; /* leaves */
    LeafType *parameters;
    uint32_t result_count; /* leaves: of the results, then, if it draws, the key and the counter */
    LeafType *results;
    FlowOperand *result; /* items: where the results are, on unit */
    bool prints;         /* items: the result has sequences and is printed by a node, not given */
    bool draws;          /* takes key and counter of random numbers as its last parameters and gives them back */
} FlowNetwork;

enum { FLOW_UNIT = 1, FLOW_ROOT = 2 };

static inline bool flow_has_root(const FlowNetwork *network)
{
    return !network->is_item && !network->is_single;
}

typedef struct FlowProgram {
    Arena *arena;
    const CoreProgram *core;
    Layouts *layouts;
    VEC(FlowNetwork *) networks;       /* [0] unused */
    VEC(FlowNetworkId) by_function;    /* by CoreFunctionId; 0 where not flattened */
    VEC(FlowNetworkId) by_single;      /* the same, of functions as they are called at one point */
    VEC(FlowNetworkId) by_item;        /* by the item's index */
    VEC(FlowNetworkId) by_entry;       /* by CoreFunctionId: functions as they are called from outside, on unit */
} FlowProgram;

static inline bool flow_is_unit(FlowSpaceId space)
{
    return space == FLOW_UNIT;
}

/* ---- looking ---- */
/* How many of a node's inputs, the last ones, are its <C/P>. */
uint32_t flow_segment_inputs(const FlowNode *node);
void flow_print(const FlowProgram *program, Text *out);
void flow_print_network(const FlowProgram *program, FlowNetworkId network, Text *out);
/* Null, or what is wrong with networks from `first` on, with the place (allocated in the program's arena). */
const char *flow_check(const FlowProgram *program, FlowNetworkId first);

#endif
