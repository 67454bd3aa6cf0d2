/* Private to the simplifier. Its vocabulary:
 *
 *   unit       a function's body or an item's block: what is rewritten as a whole
 *   renaming   what the variables of the text being rewritten have become; one for `from`, one for bodies of `to` that are
 *              inlined again
 *   splice     a list of statements being rewritten into the open block: the block itself, or what stands in the place of a
 *              call or of an `if` whose condition is known
 *   fact       what is known of a variable of `to`: the statement that binds it
 *   available  an expression whose value a variable in scope already has
 *
 * One walk over a unit rewrites it (simplify_block.c), asking simplify_rules.c for a value that each statement may have already and
 * simplify_available.c for an earlier statement like it; a second one, backwards, removes what is dead (simplify_dead.c). Then the same again for each
 * round of vectors that need not be made (simplify_pull.c). Which functions there are, in which order they
 * are rewritten and which of them remain is decided in simplify.c, on the call graph of simplify_graph.c.
 *
 * The C stack grows with the nesting of blocks only: splices are on a stack of their own. */
#ifndef RUNNEL_CORE_SIMPLIFY_INTERNAL_H
#define RUNNEL_CORE_SIMPLIFY_INTERNAL_H

#include "core/simplify.h"

enum {
    SMALL_SIZE = 8,         /* statements of a function that is always inlined */
    GROWTH_BASE = 64,       /* what any unit may grow by, whatever its own size */
    COPIES_MAX = 500000,    /* statements copied by inlining into what is loaded at once */
    NESTING_MAX = 1000,     /* of blocks, made by inlining */
    SIZE_DEPTH_MAX = 100,   /* of what is made from what, looked through for a size */
    RECIPE_DEPTH_MAX = 100, /* of comprehensions over each other */
    PULL_ROUNDS_MAX = 16,   /* in which vectors are delayed, one after the one made from it */
    ALONE_ROUNDS_MAX = 48,  /* ... and traversals put into each other */
    ALONE_GROWTH = 1000,    /* statements of calls in a unit for whoever leaves failures to others */
};

/* Effects as bits: which of them a piece of program has. */
typedef unsigned Effects;
enum { HAS_IO = 1, HAS_DRAWS = 2 };

typedef struct FunctionInfo {
    /* of the function in `from`, once analysed */
    VEC(CoreFunctionId) callees; /* one for each call or use as an operator */
    uint32_t size;     /* statements, nested ones included; of the simplified body once there is one */
    uint32_t nesting;  /* of its blocks; likewise */
    uint32_t order;    /* callees come first */
    Effects effects;   /* with everything it calls */
    bool is_recursive;
    bool holds_sequence; /* a parameter or the result does */

    /* of this round */
    uint32_t round;
    uint32_t use_count; /* calls; uses as an operator and as an entry count twice, for they need the function itself */

    CoreBlock *body; /* simplified; null until then, or when it is rewritten where it is called */

    /* Tarjan's algorithm */
    uint32_t index, low_link, next_callee;
    bool is_on_stack;
} FunctionInfo;

typedef struct Renaming {
    const CoreProgram *program; /* whose variables they are */
    VEC(CoreAtom) atoms;        /* by variable; type 0: not met yet */
} Renaming;

/* What binds a variable of `to`. */
typedef struct Fact {
    CoreKind kind; /* CORE_COPY: nothing is known */
    Op op;
    const CoreAtom *arguments;
    uint32_t count; /* of arguments; TEXT: of characters */
    uint32_t component;
    const CoreBlock *body; /* EACH */
    uint32_t nesting; /* of blocks around the statement */
    Span span;
    uint32_t uses; /* while dead code is removed */
    CoreAtom bound; /* of a type: an integer that is not negative and less than this */
    CoreVar check;  /* ELEMENT: a CHECKED_INDEX in the same block that need not be made if this is */
    bool is_covered; /* CHECKED_INDEX: there is such an element, which stays */
    Effects effects;
} Fact;

typedef struct Splice {
    const CoreBlock *block;
    uint32_t next;
    Renaming *names;
    /* the call or `if` in whose place it stands, its arguments resolved; without names for a block of its own */
    CoreStatement replaced;
    Renaming *replaced_names;
} Splice;

typedef struct RewrittenBlock {
    CoreBuilder builder;
    Effects effects;
    uint32_t available_count; /* before it */
    struct RewrittenBlock *outer;
} RewrittenBlock;

typedef struct Available {
    CoreStatement key;
    TypeId type;
    CoreAtom value;
    uint32_t hash;
    uint32_t next; /* in its chain, index + 1 */
} Available;

/* What simplify_pull.c knows of a variable of the unit. */
typedef enum PullUse { USE_ELEMENT, USE_TRAVERSAL, USE_COMPARISON, USE_PART, USE_ROWS, USE_OTHER, USE_KINDS } PullUse;
enum { USERS_KEPT = 4 };

typedef struct PullFacts {
    const CoreStatement *definition; /* of a parameter: the comprehension; null if of something else */
    const CoreBlock *block;          /* that binds it */
    uint32_t parameter;              /* index + 1; 0 for statements */
    uint32_t loops;                  /* comprehensions and groups around the definition */
    uint32_t uses[USE_KINDS];
    uint32_t deepest[USE_KINDS]; /* comprehensions around a use of that kind */
    const CoreStatement *users[USERS_KEPT]; /* the first ones */
    uint32_t user_count;
    const CoreBlock *user_block; /* of the last */
    bool is_delayed;
    bool is_needed; /* what a delayed one is made from: not now */
    CoreAtom size;  /* delayed: in the rewritten unit */
} PullFacts;


struct Simplifier {
    const CoreProgram *from;
    CoreProgram *to;
    Types *types;
    Arena *arena;
    VEC(FunctionInfo) functions; /* by CoreFunctionId */
    uint32_t analysed_count;     /* functions */
    uint32_t order_count;
    uint32_t round;
    VEC(CoreFunctionId) entries; /* new ones */
    Renaming from_names, to_names;
    VEC(Fact) facts; /* by variable of `to` */
    VEC(Splice) splices;
    VEC(Available) available; /* innermost block last */
    uint32_t *table;          /* of available expressions: index + 1 */
    uint32_t table_size;
    uint32_t copy_count; /* statements copied in this round */
    RewrittenBlock *open;
    uint32_t nesting; /* of open blocks */
    uint32_t growth;  /* left to the unit */
    uint32_t size_depth; /* of containers made from each other whose size is being asked for */
    VEC(PullFacts) pull; /* by variable of `to`: the plan of the unit */
    bool is_pulling;     /* a unit is rewritten by it */
    bool is_alone;       /* the unit is for whoever leaves failures to others (simplify_alone.c) */
};

static inline FunctionInfo *simplify_function(const Simplifier *s, CoreFunctionId function)
{
    return &s->functions.items[function];
}

static inline TypeId simplify_type(const Simplifier *s, CoreVar variable)
{
    return s->to->variables.items[variable].type;
}

/* ---- simplify_graph.c ---- */
/* Sizes, effects, recursion and order of all functions of `from` that have not been analysed. */
void simplify_analyse(Simplifier *s);
/* Effects of a statement of either program without its blocks, and of a whole block. */
Effects simplify_own_effects(const Simplifier *s, const CoreStatement *statement);
Effects simplify_block_effects(const Simplifier *s, const CoreBlock *block);
Effect simplify_strongest(Effects effects);

/* ---- simplify_block.c ---- */
/* Rewrites a unit of `from`; sets the size, nesting and effects that come out. */
CoreBlock *simplify_unit(Simplifier *s, const CoreBlock *block, FunctionInfo *result);
/* Adds a statement of `to` to the open block, unless its value is there already; gives its value. */
CoreAtom simplify_emit(Simplifier *s, const CoreStatement *statement, TypeId type, Name name, Effects effects);
/* The same for a pure operation. */
CoreAtom simplify_emit_op(Simplifier *s, Op op, TypeId type, Span span, const CoreAtom *arguments, uint32_t count);
/* The variable of `to` for a global of `from`. */
CoreVar simplify_global(Simplifier *s, CoreVar global);

/* While a unit of `to` is rewritten: what an atom of it has become; what its block gives for these values of its parameters, computed in the open
 * block; a copy of the block as the body of a comprehension over these sequences. */
CoreAtom simplify_resolve(Simplifier *s, CoreAtom atom);
CoreAtom simplify_inline_block(Simplifier *s, const CoreBlock *block, const CoreAtom *values);
CoreBlock *simplify_copy_body(Simplifier *s, const CoreBlock *block, const CoreAtom *sequences);

/* A comprehension over a sequence whose body is what `make` adds to the open block for an element. */
typedef CoreAtom EachBody(Simplifier *s, CoreAtom element, const void *context);
CoreAtom simplify_emit_each(Simplifier *s, CoreAtom sequence, Span span, EachBody *make, const void *context);

/* Parameters and statements of a block that is made by hand. */
void simplify_open_block(Simplifier *s, RewrittenBlock *block);
CoreAtom simplify_parameter(Simplifier *s, TypeId type, const CoreAtom *sequence, CoreVar *parameter);
CoreBlock *simplify_close_block(Simplifier *s, RewrittenBlock *block, const CoreVar *parameters, uint32_t count, CoreAtom result);
/* A unit of `to` once more, by the plan of simplify_pull.c if there is one. */
CoreBlock *simplify_again(Simplifier *s, const CoreBlock *block, bool by_plan);

/* ---- simplify_rules.c ---- */
/* Whether a pure statement, its arguments resolved and its blocks simplified, gives a value that is there already. */
bool simplify_rule(const Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value);
/* Turns a pure `if` that is `and`, `or` or `not` into that operation, where what it then always evaluates is cheap and cannot
 * fail. */
void simplify_condition(Simplifier *s, CoreStatement *statement);
/* Whether two atoms are one. */
bool simplify_is_same(const CoreAtom *a, const CoreAtom *b);
/* Whether a statement costs next to nothing and cannot fail. */
bool simplify_is_cheap(const Simplifier *s, const CoreStatement *statement);

/* ---- simplify_operator.c ---- */
/* Whether a pure statement is a reduction by an operator that is built in; adds what gives its value. */
bool simplify_operator(Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value);

/* ---- simplify_size.c ---- */
/* Whether a statement is the length of a vector whose size can be said without it. */
bool simplify_size(Simplifier *s, const CoreStatement *statement, CoreAtom *size);
/* Whether a statement numbers the elements of something whose size can be said, by adding up ones: these are indices. */
bool simplify_positions(Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value);
/* Leaves out checks that cannot fail. Gives the CHECKED_INDEX whose check the statement does now, or 0. */
CoreVar simplify_checks(Simplifier *s, CoreStatement *statement);
/* Whether a statement checks an index that is known to be one: it is then its first argument. */
bool simplify_is_checked(const Simplifier *s, const CoreStatement *statement);
/* Notes what is known of a parameter that takes the elements of a sequence. */
void simplify_bound_parameter(Simplifier *s, CoreVar parameter, const CoreAtom *sequence);

/* ---- simplify_pull.c ---- */
/* Decides which vectors of a unit of `to` need not be made; whether there are any. */
bool simplify_plan_pull(Simplifier *s, const CoreBlock *unit);
/* While a unit is rewritten by that plan: whether a statement of it uses such a vector; gives its value instead. */
bool simplify_pull(Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value);
/* The same: after a statement was rewritten that may bind such a vector. */
void simplify_note_delayed(Simplifier *s, const CoreStatement *statement);

/* What is known of a variable of the unit by the plan; the statement that binds an atom there, or null. */
PullFacts *simplify_pull_facts(Simplifier *s, CoreVar variable);
const CoreStatement *simplify_definition(Simplifier *s, const CoreAtom *atom);

/* ---- simplify_alone.c ---- */
/* Whether a vector that is put together from two others is better taken element by element. */
bool simplify_is_join_worth_delaying(Simplifier *s, const PullFacts *facts);
bool simplify_is_join(const CoreStatement *statement);
/* A traversal of such a vector, and an element of it. */
CoreAtom simplify_traverse_join(Simplifier *s, const CoreStatement *join, CoreAtom size);
CoreAtom simplify_join_element(Simplifier *s, const CoreStatement *join, CoreAtom index);
/* Whether a comprehension of the unit goes over others that can be put into it. */
bool simplify_can_merge(Simplifier *s, const CoreStatement *each);
/* While the unit is rewritten: gives its value if it does. */
bool simplify_merge(Simplifier *s, const CoreStatement *each, TypeId type, CoreAtom *value);

/* ---- simplify_available.c ---- */
/* Null, or the value that a pure statement of concrete type has. */
const CoreAtom *simplify_find(const Simplifier *s, const CoreStatement *statement, TypeId type);
void simplify_make_available(Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom value);
/* Forgets what was added after `count`. */
void simplify_forget_available(Simplifier *s, uint32_t count);

/* ---- simplify_dead.c ---- */
/* Removes pure statements whose values are not used; adds up what is left. */
void simplify_remove_dead(Simplifier *s, CoreBlock *block, FunctionInfo *result);

#endif
