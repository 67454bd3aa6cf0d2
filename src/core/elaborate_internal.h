/* Private to the elaborator. Its vocabulary:
 *
 *   ground type     a type before specialisation with its variables replaced; may hold FUNCTION nodes
 *   Label           one function value: a lambda or a definition, with the types its variables stand for
 *   Specialisation  a Core function made from a Label for certain argument types
 *   Scope           the locals of the text being elaborated: the atoms they are bound to, the types of its variables
 */
#ifndef RUNNEL_CORE_ELABORATE_INTERNAL_H
#define RUNNEL_CORE_ELABORATE_INTERNAL_H

#include "core/elaborate.h"
#include "front/parse.h"

typedef struct Label {
    Expr *lambda;           /* null for a definition used as a value */
    Definition *definition; /* the one used, or the one around the lambda */
    const TypeId *types;    /* of the definition's scheme variables */
    uint32_t type_count;
} Label;

typedef struct Specialisation {
    Label label;
    uint32_t epoch;
    TypeId *parameters; /* captured values first */
    uint32_t parameter_count;
    CoreFunctionId function;
    Span call;           /* library functions: the user's call it is made for, where its errors are shown */
    TypeId result;       /* assumed while the body is being made */
    bool is_done;
    bool is_assumed;     /* `result` was used before it was known */
    uint32_t next;       /* in its hash chain, index + 1 */
} Specialisation;

typedef struct SpecialisationTable {
    VEC(Specialisation *) list;
    uint32_t *slots; /* hash chains: index in the list + 1 */
    uint32_t slot_count;
} SpecialisationTable;

/* A scope's locals: those of a definition are numbered from 0, those of a lambda follow each other and are few, however many its
 * definition has; it sees the others that it captured. */
typedef struct Scope {
    Definition *definition;
    const Expr *lambda; /* null in a definition's own text */
    CoreAtom *locals;   /* of a lambda: what it captured first */
    const TypeId *types;
    uint32_t type_count;
    Span call; /* in a library function: the user's call */
} Scope;

struct Elaborator {
    Environment *environment;
    CoreProgram *program;
    Types *types;
    Names *names;
    Arena *arena;
    Diagnostics *diagnostics;
    VEC(Label) labels; /* [0] stands for a function not known yet */
    uint32_t *label_slots; /* hash of labels, open addressing; 0 is free */
    uint32_t label_slot_count;
    SpecialisationTable made;
    SpecialisationTable undone; /* what tries that were wrong have made: their results are better guesses than none */
    VEC(Specialisation *) waiting; /* bodies to be made */
    uint32_t nesting;              /* of expressions, in bodies that are made at once because their result type must be known too */
    uint32_t position;             /* of the item being elaborated */
    uint32_t epoch;                /* definitions replaced before it: what was made earlier may call the old ones */
    Scope *scope;
    CoreBuilder *builder;
    bool is_lenient;   /* a body is made for the first time: what is not known of functions may become known */
    bool was_lenient;  /* something was let pass because of that */
    bool has_errors;
};

/* A body made inside another one takes as much of the C stack as this many expressions inside each other. */
enum { BODY_NESTING = 4 };

enum { CLOSURE_DEPTH_MAX = 60, ELABORATE_NESTING_MAX = 2 * PARSE_DEPTH_MAX, SPECIALISATIONS_MAX = 200000 };

/* ---- elaborate_expr.c ---- */
CoreAtom elaborate_expr(Elaborator *e, Expr *expr);
/* What a use of a definition means here: the newest definition that stands in for it, and the ground types of its variables. */
Label elaborate_label(Elaborator *e, const Expr *use);
/* Binds the names of a pattern to the parts of a value. */
void elaborate_pattern(Elaborator *e, const Pattern *pattern, CoreAtom value);
/* The place of a local variable of the current scope. */
CoreAtom *elaborate_local(Elaborator *e, LocalId local);
/* Enters an expression, whose caller leaves by nesting--; false after reporting that the C stack could not hold more. */
bool elaborate_nest(Elaborator *e, Span span);
/* False after an error; reports that some type was too deep, so that another one stands in its place. */
bool elaborate_check_depth(Elaborator *e, Span span);
/* The ground type of an expression or other type in the current scope. */
TypeId elaborate_ground(Elaborator *e, TypeId type);
/* The components of a tuple along its right spine, `count` of them. */
void elaborate_components(Elaborator *e, CoreAtom tuple, CoreAtom *components, uint32_t count, Span span);
CoreAtom elaborate_project(Elaborator *e, CoreAtom pair, uint32_t component, Span span);
CoreAtom elaborate_tuple(Elaborator *e, const CoreAtom *items, uint32_t count, Span span);
CoreAtom elaborate_op(Elaborator *e, Op op, const CoreAtom *arguments, uint32_t count, const Instance *instance,
                      Span span);
/* A value of a datatype. */
CoreAtom elaborate_construct(Elaborator *e, const Definition *constructor, CoreAtom contents, const Instance *instance,
                             Span span);
/* Functions may have captured sequences; reports a type that may therefore not be. */
bool elaborate_check_type(Elaborator *e, TypeId type, Span span);
/* The type that two values which meet have in common; reports mixed functions. */
TypeId elaborate_join(Elaborator *e, TypeId a, TypeId b, Span span);

/* A block under construction: statements emitted between open and close belong to it. */
typedef struct OpenBlock {
    CoreBuilder builder;
    CoreBuilder *outer;
} OpenBlock;
void elaborate_open(Elaborator *e, OpenBlock *block);
CoreBlock *elaborate_close(Elaborator *e, OpenBlock *block, const CoreVar *parameters, uint32_t count,
                           CoreAtom result);

/* ---- elaborate_comprehension.c ---- */
CoreAtom elaborate_comprehension(Elaborator *e, Expr *expr);
/* A vector as a sequence; a sequence stays. */
CoreAtom elaborate_seq(Elaborator *e, CoreAtom container, Span span);
CoreAtom elaborate_tab(Elaborator *e, CoreAtom sequence, Span span);

/* ---- specialise.c ---- */
/* A function value: its captured values wrapped as the type of this one function. */
CoreAtom elaborate_closure(Elaborator *e, Label label, const CoreAtom *captured, uint32_t count, Span span);
uint32_t specialise_label(Elaborator *e, Label label);
/* The Core function of a label for these parameters (captured values first). Null after an error. */
Specialisation *specialise(Elaborator *e, Label label, const TypeId *parameters, uint32_t count, Span span);
/* Whether its values hold captured ones: then they are its first parameter, wrapped. */
bool specialise_has_captured(const Label *label);
/* How many parameters a function of this label takes, captured values not counted. */
uint32_t specialise_arity(const Label *label);
/* Whether it takes captured values before them: even if they are nothing but (). */
bool specialise_has_captured(const Label *label);
/* Makes the bodies that are waiting. */
void specialise_waiting(Elaborator *e);
/* Replaces FUNCTION nodes by the closure of a function not known yet. */
TypeId specialise_assume(Elaborator *e, TypeId ground);

void elaborate_failed(Elaborator *e);

#endif
