/* Types, interned.
 *
 * A type is a 32-bit id of a node (kind, a, b). Nodes without variables are shared: two ground types are equal exactly when
 * their ids are. Inference adds variables, which are unique nodes bound through links.
 *
 *   kind       a                    b
 *   SCALAR     ScalarType
 *   UNIT
 *   PAIR       first                rest            (t1, t2, t3) is PAIR(t1, PAIR(t2, t3))
 *   CONTAINER  mark                 element         mark: TYPE_MARK_VECTOR, TYPE_MARK_SEQUENCE or a variable
 *   FUNCTION   argument             result          before specialisation only
 *   DATA       index of Datatype    arguments       as a tuple (UNIT if none)
 *   CLOSURE    label                captured        after specialisation: one function; captured values as a tuple
 *   MARK                                            the two marks of containers
 *   VARIABLE   index of variable                    before specialisation only
 */
#ifndef RUNNEL_TYPES_TYPES_H
#define RUNNEL_TYPES_TYPES_H

#include "base/names.h"
#include "base/text.h"
#include "ops/scalars.h"
#include "source/source.h"

typedef uint32_t TypeId; /* 0 is no type */

typedef enum TypeKind {
    TYPE_NONE,
    TYPE_SCALAR,
    TYPE_UNIT,
    TYPE_PAIR,
    TYPE_CONTAINER,
    TYPE_FUNCTION,
    TYPE_DATA,
    TYPE_CLOSURE,
    TYPE_MARK,
    TYPE_VARIABLE,
} TypeKind;

typedef struct TypeNode {
    TypeKind kind;
    uint32_t a, b;
    bool is_ground;
    bool has_sequence; /* ground types: a sequence somewhere inside, captured values included */
    bool has_function; /* a FUNCTION somewhere inside: not yet specialised */
    uint32_t closure_depth; /* how deeply closures capture closures; 0 without any */
    uint32_t depth;    /* of nesting; bounded by TYPE_DEPTH_MAX */
    TypeId representation; /* ground DATA types: what they are made of, once it was asked for */
} TypeNode;

/* What is known of a variable. */
typedef struct TypeVariable {
    TypeId link;         /* 0 while unbound */
    ClassSet class_set;  /* for variables of types; CLASS_ANY if unconstrained */
    bool is_container;   /* stands for a mark, not a type */
    bool is_in_parameters; /* of a function being generalised */
    bool is_literal;     /* the type of a numeric literal: messages show its default */
    bool is_float_literal; /* defaults to float rather than int */
    uint32_t scheme_index; /* position + 1 in the scheme that generalises it; 0 if none does */
} TypeVariable;

/* A datatype: one constructor of the same name.
 *
 * A field of function type stands for one function, as every function type does; which one differs from value to value of the
 * datatype. So each such field is a further, hidden parameter, which users do not see. */
typedef struct Datatype {
    Name name;
    Span span;
    TypeId *parameters; /* variables, scheme_index = position + 1; hidden ones last */
    uint32_t parameter_count;
    uint32_t visible_count;
    TypeId *functions; /* of hidden parameters: the function types as written */
    TypeId contents;   /* what the constructor takes, in terms of all parameters */
} Datatype;

struct TypeMemo {
    uint32_t epoch;
    TypeId result;
};

typedef struct Types {
    Arena *arena;
    Names *names;
    VEC(TypeNode) nodes;
    VEC(TypeVariable) variables;
    VEC(Datatype) datatypes;
    TypeId *table; /* of shared nodes, open addressing */
    uint32_t table_size;
    uint32_t shared_count;
    bool is_too_deep; /* some type would have exceeded TYPE_DEPTH_MAX; unit stands in its place */
    VEC(struct TypeMemo) memo; /* by type, for one substitution: types are graphs, and must not be walked as trees */
    uint32_t memo_epoch;
} Types;



enum { TYPE_DEPTH_MAX = 5000, TYPE_PRINT_MAX = 20000 };

/* Types that exist from the start have fixed ids: scalars first. */
#define TYPE_OF_SCALAR(scalar) ((TypeId)(1 + (scalar)))
enum {
    TYPE_BOOL = 1 + SCALAR_BOOL,
    TYPE_CHAR = 1 + SCALAR_CHAR,
    TYPE_INT = 1 + SCALAR_I64,
    TYPE_FLOAT = 1 + SCALAR_F64,
    TYPE_UNIT_ID = 1 + SCALAR_COUNT,
    TYPE_MARK_VECTOR,
    TYPE_MARK_SEQUENCE,
    TYPE_FIRST_FREE,
};

void types_init(Types *types, Arena *arena, Names *names);

static inline const TypeNode *type_node(const Types *types, TypeId type)
{
    return &types->nodes.items[type];
}

/* ---- making ---- */
TypeId type_pair(Types *types, TypeId first, TypeId rest);
TypeId type_tuple(Types *types, const TypeId *items, uint32_t count); /* right-nested; one item is itself */
TypeId type_container(Types *types, TypeId mark, TypeId element);
TypeId type_vector(Types *types, TypeId element);
TypeId type_sequence(Types *types, TypeId element);
TypeId type_function(Types *types, TypeId argument, TypeId result);
TypeId type_data(Types *types, uint32_t datatype, TypeId arguments);
TypeId type_closure(Types *types, uint32_t label, TypeId captured);
TypeId type_variable(Types *types, ClassSet class_set);
TypeId type_container_variable(Types *types);

/* The scalar type of a name, aliases such as real included; 0 if there is none. */
TypeId type_scalar_named(const char *name);

/* ---- asking: ground types, or types after type_resolve ---- */

/* Follows the links of a bound variable. */
TypeId type_resolve(const Types *types, TypeId type);
TypeVariable *type_variable_of(const Types *types, TypeId variable);

static inline TypeKind type_kind(const Types *types, TypeId type)
{
    return type_node(types, type)->kind;
}
static inline bool type_is_scalar(const Types *types, TypeId type)
{
    return type_kind(types, type) == TYPE_SCALAR;
}
static inline ScalarType type_scalar(const Types *types, TypeId type)
{
    return (ScalarType)type_node(types, type)->a;
}
bool type_is_vector(const Types *types, TypeId type);
bool type_is_sequence(const Types *types, TypeId type);
static inline TypeId type_element(const Types *types, TypeId container)
{
    return type_node(types, container)->b;
}
static inline TypeId type_first(const Types *types, TypeId pair)
{
    return type_node(types, pair)->a;
}
static inline TypeId type_rest(const Types *types, TypeId pair)
{
    return type_node(types, pair)->b;
}
/* Ground: no sequence inside. */
bool type_is_concrete(const Types *types, TypeId type);

/* What a DATA or CLOSURE is made of: the contents of its constructor, the captured values. Ground types only. */
TypeId type_representation(Types *types, TypeId type);
/* The type that is left when there is no DATA or CLOSURE around it any more: its values stand for those of `type`. */
TypeId type_underlying(Types *types, TypeId type);

/* Starts a memo over all types; type_memo gives the entry of one, with result 0 while it has none. */
void type_memo_start(Types *types);
TypeId *type_memo(Types *types, TypeId type);

/* Replaces variables by `substitution[scheme_index - 1]`, unbound ones outside the scheme by their default (a vector, int,
 * float ...): the result is ground but for FUNCTION nodes. */
TypeId type_substitute(Types *types, TypeId type, const TypeId *substitution, uint32_t count);

/* ---- printing ---- */

typedef enum TypeStyle { TYPE_STYLE_RUNNEL, TYPE_STYLE_NESL } TypeStyle;

/* Variables are named a, b, c... in order of appearance (containers too), and their classes follow as a context:
 * `(c[a], int) -> a :: (a in number)`. */
void type_print(const Types *types, TypeId type, TypeStyle style, Text *out);

/* For messages: without the context, in the types' arena. */
const char *type_text(const Types *types, TypeId type);
const char *type_text_in(const Types *types, TypeId type, TypeStyle style);

/* Calls `visit` for every unbound variable of a type, once each, in order of appearance. */
void type_each_variable(Types *types, TypeId type, void (*visit)(void *context, TypeId variable), void *context);

#endif
