/* The syntax tree, shared by both dialects.
 *
 * The parser builds it; `resolve` fills the fields marked [resolve]; `infer` those marked [infer]. Nodes live in the
 * session's arena and are never freed on their own.
 *
 * Shapes worth knowing:
 *  - A function takes one argument. `f(a, b)` is EXPR_CALL whose argument is the EXPR_TUPLE (a, b); `f()` passes the
 *    unit tuple (no items); `f x` (.nesl) passes x. Keyword arguments `b := e` are kept apart.
 *  - Tuples are n-ary here, as written; in types they associate to the right.
 *  - Operators are calls in spirit: EXPR_BINARY and EXPR_UNARY carry the operator's name ("+", "negate", ...). Chains of left-
 *    associative operators are left-deep and may be 10^5 long: passes walk the left spine in a loop.
 *  - Prefix minus on a numeric literal (.rnl) is folded into the literal.
 *  - `{e | c}` is a comprehension whose only qualifier is a filter. */
#ifndef RUNNEL_FRONT_AST_H
#define RUNNEL_FRONT_AST_H

#include "base/names.h"
#include "source/source.h"

typedef struct Expr Expr;
typedef struct Pattern Pattern;
typedef struct TypeExpr TypeExpr;
typedef struct Definition Definition; /* types/environment.h */
typedef uint32_t LocalId;             /* a local variable, numbered within its definition */
typedef uint32_t TypeId;              /* types/types.h */

/* ---- types as written ---- */

typedef enum TypeExprKind {
    TYPE_EXPR_NAME,      /* int, complex, a, hashtable(int, [char]) */
    TYPE_EXPR_VECTOR,    /* [t]: items[0] */
    TYPE_EXPR_SEQUENCE,  /* {t}: items[0] */
    TYPE_EXPR_CONTAINER, /* c[t], either container: name = c, items[0] */
    TYPE_EXPR_TUPLE,     /* (t1, ..., tk), k != 1 */
    TYPE_EXPR_FUNCTION,  /* items[0] -> items[1] */
} TypeExprKind;

struct TypeExpr {
    TypeExprKind kind;
    Span span;
    Name name;
    TypeExpr **items;
    uint32_t item_count;
    struct TypeContext *context; /* of an annotation `(e : type :: (a in number))`; null without */
};

/* `a in number` of a context `:: (a in number; b in any)` */
typedef struct ClassConstraint {
    Name variable;
    Name class_name;
    Span span;
} ClassConstraint;

typedef struct TypeContext {
    ClassConstraint *items;
    uint32_t count;
} TypeContext;

/* ---- patterns ---- */

typedef enum PatternKind {
    PATTERN_NAME,
    PATTERN_WILDCARD,    /* `_` in .rnl */
    PATTERN_TUPLE,       /* items; none is the unit pattern () */
    PATTERN_CONSTRUCTOR, /* name(items[0]) */
    PATTERN_TYPED,       /* items[0] : type */
} PatternKind;

struct Pattern {
    PatternKind kind;
    Span span;
    Name name;
    Pattern **items;
    uint32_t item_count;
    TypeExpr *type;
    LocalId local;           /* [resolve] PATTERN_NAME inside a definition */
    Definition *definition;  /* [resolve] PATTERN_CONSTRUCTOR; PATTERN_NAME at top level */
    TypeId type_id;          /* [infer] */
};

/* ---- expressions ---- */

typedef enum ExprKind {
    EXPR_INT,           /* magnitude, is_negative */
    EXPR_FLOAT,         /* number */
    EXPR_BOOL,          /* magnitude 0 or 1 */
    EXPR_CHAR,          /* magnitude 0 to 255 */
    EXPR_STRING,        /* text, text_length */
    EXPR_NAME,          /* name */
    EXPR_TUPLE,         /* items; none is () */
    EXPR_LIST,          /* [e, ...] or {e, ...}: items; brackets; element_type for `[] int` */
    EXPR_RANGE,         /* items[0] to items[1], step items[2] if item_count == 3; is_inclusive for ..= */
    EXPR_CALL,          /* items[0] applied to items[1]; keywords */
    EXPR_INDEX,         /* items[0][items[1]] */
    EXPR_SLICE,         /* items[0][items[1]:items[2]]; either bound may be null */
    EXPR_SELECT,        /* items[0].magnitude */
    EXPR_UNARY,         /* name = "negate", "#" or "@"; or "&" (iota): items[0] */
    EXPR_BINARY,        /* name = the operator's spelling ("and", "+", "->", ...): items[0], items[1] */
    EXPR_IF,            /* items[0..2] */
    EXPR_LET,           /* bindings, items[0] = body */
    EXPR_LAMBDA,        /* pattern => items[0] */
    EXPR_COMPREHENSION, /* comprehension */
    EXPR_ANNOTATION,    /* (items[0] : type) */
} ExprKind;

typedef enum Brackets { BRACKETS_SQUARE, BRACKETS_BRACES } Brackets;

typedef struct Keyword {
    Name name;
    Expr *value;
    Span span;
} Keyword;

typedef struct LetBinding {
    Pattern *pattern;
    Expr *value;
} LetBinding;

/* `pattern in source` */
typedef struct Generator {
    Pattern *pattern;
    Expr *source;
} Generator;

/* Generators in lock step (`;`), or a filter. */
typedef struct Qualifier {
    Generator *generators;
    uint32_t generator_count; /* 0 for a filter */
    Expr *filter;
} Qualifier;

typedef struct Comprehension {
    Brackets brackets;
    bool is_serial;        /* NESL's {* ...} */
    Expr *body;            /* null: the first generator's pattern, as an expression, is the body */
    Qualifier *qualifiers; /* in order; the final `| c` is a filter like others */
    uint32_t qualifier_count;
    Pattern *group_key;    /* null without `group by` */
    Expr *group_value;     /* `group by k = e`; null for `group by k` */
    Expr *order_key;       /* null without `order by` */
    bool is_descending;
    LocalId *free_locals;  /* [resolve] outer locals used where only concrete ones may be */
    Span *free_spans;      /* [resolve] a use of each */
    uint32_t free_count;
    LocalId *bound_locals; /* [resolve] variables of its generators, in order */
    uint32_t bound_count;
    LocalId *grouped_locals; /* [resolve] what each bound local is called after `group by` */
} Comprehension;

typedef enum ReferenceKind { REFERENCE_NONE, REFERENCE_LOCAL, REFERENCE_DEFINITION } ReferenceKind;

/* One use of a definition: the types its scheme's variables stand for here. */
typedef struct Instance {
    TypeId *types;
    uint32_t count;
} Instance;

struct Expr {
    ExprKind kind;
    Span span;
    TypeId type; /* [infer] before specialisation */
    Expr **items;
    uint32_t item_count;
    Name name;
    union {
        uint64_t magnitude;
        double number;
        const char *text;
        LetBinding *bindings;
        Keyword *keywords;
        Comprehension *comprehension;
        Pattern *pattern;
        TypeExpr *element_type; /* EXPR_LIST, EXPR_ANNOTATION */
    };
    uint32_t count; /* of bindings, keywords or bytes of text */
    bool is_negative;
    bool is_inclusive;
    bool is_parenthesised;
    Brackets brackets;
    /* [resolve] EXPR_NAME, EXPR_UNARY, EXPR_BINARY and forms that stand for an operation */
    ReferenceKind reference;
    union {
        LocalId local;
        Definition *definition;
    };
    Instance instance;      /* [infer] of the definition */
    uint16_t height;        /* levels of the tree from here down; a left spine of operators counts as one */
    bool is_last_component; /* [infer] EXPR_SELECT: the index names the end of the spine */
    /* [resolve] EXPR_LAMBDA: the outer locals it captures; its own follow each other from first_local on */
    LocalId *captures;
    uint32_t capture_count;
    LocalId first_local;
    uint32_t local_count;
};

/* ---- top-level forms ---- */

typedef enum ItemKind {
    ITEM_FUNCTION,   /* name, parameters, result/function type, value */
    ITEM_STUB,       /* .nesl: a function's type without a body */
    ITEM_DATATYPE,   /* name, type, context */
    ITEM_BINDING,    /* pattern = value */
    ITEM_EXPRESSION, /* value */
    ITEM_IMPORT,     /* import "file" (.rnl): value is an EXPR_STRING */
    ITEM_LOAD,       /* load e (.nesl): value is a constant expression of type [char] */
    ITEM_SET,        /* .nesl: set NAME value; name, value (EXPR_INT or EXPR_BOOL for on/off) */
    ITEM_COMMAND,    /* .nesl: any other command; name */
} ItemKind;

typedef struct Parameter {
    Pattern *pattern;
    Expr *default_value; /* null unless `p := e` */
} Parameter;

typedef struct Item {
    ItemKind kind;
    bool is_broken;        /* an error was reported in it: only its name or pattern can be relied on */
    Span span;
    Span name_span;
    Name name;
    Parameter *parameters; /* `f()` has none: its parameter is unit */
    uint32_t parameter_count;
    TypeExpr *type;        /* function: see is_whole_type; datatype: what the constructor takes */
    bool is_whole_type;    /* the type is that of the function (.nesl), not of its result (.rnl) */
    TypeContext context;
    const char *documentation; /* .nesl: the string after a function's head; null without */
    Pattern *pattern;
    Expr *value;
} Item;

typedef struct Items {
    Item **list;
    uint32_t count;
} Items;

#endif
