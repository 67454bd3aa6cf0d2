/* The environment: every definition a session knows, and how names find them.
 *
 * Names are looked up among local variables first, then the user's definitions, then the built-in names of the dialect: operations
 * (ops/ops.def) and library functions (lib/). The library sees built-in names only, so that a user's
 * definition never changes it; built-in names that begin with `_` are seen by the library alone.
 *
 * Every top-level form has a position, counted over the session. A form sees the newest definition of a name before
 * it, or else the first one after it (mutual recursion needs no stubs). A function defined again with the same type replaces the
 * older one for all its callers, from that position on. */
#ifndef RUNNEL_TYPES_ENVIRONMENT_H
#define RUNNEL_TYPES_ENVIRONMENT_H

#include "front/ast.h"
#include "ops/ops.h"
#include "source/diagnostics.h"
#include "types/types.h"

typedef enum DefinitionKind {
    DEFINITION_OP,          /* an operation of the engines */
    DEFINITION_OVERLOAD,    /* a built-in name with one meaning for one argument and another for two (log) */
    DEFINITION_FUNCTION,    /* `function f(...) = e`, or the default of a parameter */
    DEFINITION_CONSTRUCTOR, /* of a datatype, and the datatype itself */
    DEFINITION_BINDING,     /* `p = e` at top level: has no name of its own */
    DEFINITION_VALUE,       /* a name that a top-level binding binds */
    DEFINITION_EXPRESSION,  /* `e` at top level: has no name */
} DefinitionKind;

typedef enum DefinitionState {
    DEFINITION_NEW,
    DEFINITION_RESOLVED, /* names are bound */
    DEFINITION_INFERRING,
    DEFINITION_TYPED,
    DEFINITION_WRONG, /* an error was reported; uses are not reported again */
} DefinitionState;

typedef struct Local {
    Name name;
    Span span;
    bool is_used;                    /* [resolve] */
    uint32_t last_frame, last_union; /* scratch of resolve */
    TypeId type;  /* [infer] */
} Local;

struct Definition {
    DefinitionKind kind;
    DefinitionState state;
    Name name;
    Span span; /* of the name */
    Dialect dialect;
    bool is_library;
    bool is_nesl_name; /* library: NESL has this name */
    bool is_constant;  /* library: `x = e`, kept as a function of () that every use calls */
    bool is_hidden;    /* made by the compiler (defaults): not shown to users */
    bool is_recursive; /* calls itself, directly or through others */
    uint32_t position;
    Definition *older;       /* an earlier definition of the same name, now out of reach for later forms */
    Definition *much_older;  /* one further back, so that looking up is quick where a name has thousands (`it`) */
    uint32_t age;            /* how many older ones there are */
    Definition *replaced_by; /* a later one of the same type */
    const uint32_t *replaced_variables; /* for each variable of the replacement's scheme, its index in this one's */
    Op op;
    Definition *alternatives[2]; /* OVERLOAD: for one argument, for two */
    const Item *item;            /* FUNCTION, BINDING, EXPRESSION, CONSTRUCTOR */
    uint32_t datatype;           /* CONSTRUCTOR */
    Definition *owner;           /* VALUE: the binding */
    Definition **defaults;       /* FUNCTION: for each parameter, its default as a function of (), or null */
    Expr **default_uses;         /* [infer] each default as used for its parameter, at the parameter's type */
    VEC(Local) locals;
    VEC(Definition *) references; /* what its text names */
    Definition *last_referrer;    /* scratch of resolve */
    TypeId type;                  /* the scheme's type: of a function, a FUNCTION type */
    TypeId *variables;            /* the scheme's variables, shared by definitions inferred together */
    uint32_t variable_count;
    VEC(TypeId) open_containers; /* parts c[t] of the type: where c becomes a vector, t must be concrete */
    Definition *latest_binding;  /* the last top-level binding it needs, by position; null if none */
    uint32_t search_index, search_low; /* scratch of the search for mutual recursion */
    bool is_on_search_stack;
    void *core; /* owned by the elaborator */
};

typedef VEC(Definition *) DefinitionTable;

typedef struct Environment {
    Memory *memory;
    Arena *arena;
    Names *names;
    Sources *sources;
    Diagnostics *diagnostics;
    Types *types;
    DefinitionTable user;          /* by Name: the newest */
    DefinitionTable built_in[2];   /* by dialect, by Name */
    Definition *ops[2][OP_COUNT];  /* by dialect: types differ */
    VEC(Definition *) definitions; /* the user's, in order of position */
    VEC(Definition *) library;     /* of lib/, in order of position */
    uint32_t next_position;
    uint32_t load_start; /* position of the first form of the text being loaded */
    VEC(uint32_t) replacements; /* positions of the functions that replaced older ones, ascending */
    VEC(uint32_t) local_tops, local_newest; /* by Name: scratch of resolve */
} Environment;

void environment_init(Environment *environment, Memory *memory, Arena *arena, Names *names, Sources *sources,
                      Diagnostics *diagnostics, Types *types);

/* Adds the forms of a file of the library; `is_nesl` says that NESL has all its names, and users of NESL may not
 * define them again. */
void environment_add_library(Environment *environment, const Source *source, Items items, bool is_nesl);

/* Adds the forms of a user's source; the definitions made are appended to environment->definitions. `import` and `load`
 * are the caller's business. */
Definition *environment_add_item(Environment *environment, const Source *source, const Item *item);

/* A place to come back to when a load fails. */
typedef struct EnvironmentMark {
    uint32_t definition_count;
    uint32_t next_position;
    uint32_t replacement_count;
} EnvironmentMark;

EnvironmentMark environment_mark(const Environment *environment);
void environment_rollback(Environment *environment, EnvironmentMark mark);

/* What a name means at a position, null if nothing. Local variables are not known here. */
Definition *environment_lookup(const Environment *environment, Name name, Dialect dialect, bool is_library,
                               uint32_t position);
/* Whether a built-in name is one for the library alone. */
bool environment_is_private(const Environment *environment, Name name);
Definition *environment_built_in(const Environment *environment, Name name, Dialect dialect);

/* Reports names that cannot be bound in the dialect; false if this is one. */
bool environment_check_reserved(const Environment *environment, Name name, Span span, Dialect dialect);

/* Whether a later definition stands in for this one once all forms up to `position` are in force. */
bool environment_is_replaced(const Definition *definition, uint32_t position);
/* How many functions have been replaced by then: what was compiled earlier may call those that were. */
uint32_t environment_epoch(const Environment *environment, uint32_t position);

/* Calls `consider` with every name visible at top level, for suggestions. */
void environment_each_name(const Environment *environment, Dialect dialect,
                           void (*consider)(void *context, const char *name), void *context);

/* ---- passes on definitions, in order ---- */

/* Binds every name in a definition's text; reports what is unknown. */
void resolve_definition(Environment *environment, Definition *definition);

/* Reports a numeric literal that does not fit a scalar type; false then. */
bool infer_check_literal(Environment *environment, const Expr *literal, TypeId type, Dialect dialect);
/* A numeric literal as a float. */
double infer_literal_value(const Expr *literal);

/* Reports a sequence that a comprehension uses from its surroundings. */
void infer_report_free_local(Environment *environment, const Local *local, TypeId type, Span use);

/* Fills in the type of an operation when it is first needed. */
void infer_built_in(Environment *environment, Definition *definition);

/* Resolves and types the given definitions and whatever they need, strongly connected groups together; those in which
 * an error was reported are DEFINITION_WRONG. */
void infer_definitions(Environment *environment, Definition **definitions, uint32_t count);

#endif
