/* Private to type inference: the state of inferring one group of definitions, and the parts it is made of. */
#ifndef RUNNEL_TYPES_INFER_H
#define RUNNEL_TYPES_INFER_H

#include "types/environment.h"

/* A type variable that an annotation names. */
typedef struct AnnotatedVariable {
    Name name;
    TypeId variable;
    bool is_container; /* it stands for a mark, not a type */
    Span span;
    ClassSet declared; /* what the annotation promises */
    const Definition *definition;
} AnnotatedVariable;

typedef struct PendingContainer {
    TypeId container;
    Span span;
} PendingContainer;

typedef struct Infer {
    Environment *environment;
    Types *types;
    Arena *arena;
    Diagnostics *diagnostics;
    Definition *definition;            /* whose text is being inferred */
    VEC(PendingContainer) containers;  /* must have concrete elements if they turn out to be vectors */
    VEC(Expr *) selects;               /* x.i whose x is not known well enough yet */
    VEC(const Expr *) literals;        /* numeric ones: checked when their types are known */
    VEC(AnnotatedVariable) annotated;
    Span line_break;                   /* an argument, in NESL, on another line than its function; start == 0 without */
    bool has_errors;
    bool has_given_up; /* types were too large: comparing more of them would take for ever, and say the same */
    /* why the last unification failed: the innermost parts */
    TypeId failed_expected, failed_found;
    ClassSet failed_class;
    uint32_t steps, depth; /* of the walk over a type that is going on */
} Infer;

typedef enum Unification {
    UNIFY_OK,
    UNIFY_MISMATCH,
    UNIFY_CLASS,
    UNIFY_CONTAINER,
    UNIFY_INFINITE,
    UNIFY_NOT_CONCRETE,
    UNIFY_TOO_LARGE,
} Unification;

/* ---- unify.c ---- */

Unification infer_unify(Infer *infer, TypeId expected, TypeId found);
/* Restricts a type to a class. */
Unification infer_restrict(Infer *infer, TypeId type, ClassSet class_set);

/* Why something is expected: a note under the error. The texts of the last two are made only when there is an error. */
typedef struct Reason {
    const char *text;
    Span span;
    const Expr *callee;   /* the function called */
    const Expr *operator; /* the binary operator whose right operand is wrong */
} Reason;

/* Unify or restrict, and report failure at `at`. */
bool infer_expect(Infer *infer, TypeId expected, TypeId found, Span at, Reason reason);
bool infer_require(Infer *infer, TypeId type, ClassSet class_set, Span at, Reason reason);
void infer_failed(Infer *infer);
/* A type as messages about this definition show it. */
const char *infer_text(const Infer *infer, TypeId type);
/* Adds to an error what a function takes, and where it is defined. */
void infer_note_callee(Infer *infer, const Expr *callee);
/* NESL applies a function to what follows it, in the next line too: where a `;` is missing, the error is elsewhere. */
void infer_note_line_break(Infer *infer);

/* ---- annotate.c ---- */

/* A type as written; unknown names are reported and become fresh variables. */
TypeId infer_type_expr(Infer *infer, const TypeExpr *expr);
void infer_context(Infer *infer, const TypeContext *context);
/* Fills in the type of a constructor when it is first needed. */
void infer_constructor(Environment *environment, Definition *definition);
/* Makes the unbound variables of the definition's type its scheme. */
void infer_collect_scheme(Environment *environment, Definition **definitions, uint32_t count);

/* ---- infer_expr.c ---- */

TypeId infer_expr(Infer *infer, Expr *expr);
void infer_pattern(Infer *infer, Pattern *pattern, TypeId type);
/* Settles what was left open: selections, containers. */
void infer_settle(Infer *infer);

static inline TypeId infer_fresh(Infer *infer)
{
    return type_variable(infer->types, CLASS_ANY);
}

/* A container type whose elements must be concrete if it is or becomes a vector. */
TypeId infer_container(Infer *infer, TypeId mark, TypeId element, Span span);

#endif
