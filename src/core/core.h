/* Core: the program after types are known and before it is flattened.
 *
 * Typed, monomorphic, first order, A-normal: arguments are variables or scalar constants; every intermediate value has a
 * name. Still nested: a comprehension is one statement with a block inside. Function values have become the tuples of what they
 * captured (CLOSURE types), and a call of one is a call of a Core function.
 *
 * Comprehensions exist on sequences only. Over vectors they are `tab(each(seq(v)))`, as the cost model has it; filters
 * and dependent generators are guards and concat (Madsen & Filinski 2013, section 2.1):
 *
 *     {e : x in xs | c}             concat(each x in xs { guard c { e } })
 *     {e : x in xs, y in f(x)}      concat(each x in xs { each y in f(x) { e } })
 *
 * Invariants, checked by core_check after every pass:
 *  - a variable has one binding, which comes before its uses; blocks see the variables around them;
 *  - statement and block types agree with what they are made from; every type is ground, without FUNCTION nodes;
 *  - variables of outer blocks used inside EACH and GROUP bodies are of concrete type;
 *  - functions see their parameters and globals only. */
#ifndef RUNNEL_CORE_CORE_H
#define RUNNEL_CORE_CORE_H

#include "ops/ops.h"
#include "source/source.h"
#include "types/types.h"

typedef uint32_t CoreVar;        /* index into CoreProgram.variables; 0 is none */
typedef uint32_t CoreFunctionId; /* index into CoreProgram.functions; 0 is none */

typedef struct CoreVariable {
    TypeId type;
    Name name;      /* from the source, 0 for temporaries */
    bool is_global; /* set by a top-level binding; lives as long as the session */
} CoreVariable;

/* A variable or a scalar constant. */
typedef struct CoreAtom {
    TypeId type;
    bool is_constant;
    union {
        CoreVar variable;
        Scalar constant;
    };
} CoreAtom;

typedef enum CoreKind {
    CORE_COPY,    /* arguments[0] */
    CORE_UNIT,    /* () */
    CORE_PAIR,    /* (arguments[0], arguments[1]) */
    CORE_PROJECT, /* component 0 or 1 of a pair */
    CORE_WRAP,    /* arguments[0] as a DATA or CLOSURE type */
    CORE_UNWRAP,  /* the representation of a DATA or CLOSURE value */
    CORE_MAKE,    /* the container of the arguments, vector or sequence by type */
    CORE_TEXT,    /* a vector of char: text, text_length */
    CORE_OP,      /* op(arguments); function-taking ops have `function` and `captured` */
    CORE_CALL,    /* function(arguments) */
    CORE_IF,      /* arguments[0] ? blocks[0] : blocks[1] */
    CORE_EACH,    /* {blocks[0] : parameters in arguments}: sequences in lock step, one parameter each */
    CORE_GUARD,   /* {blocks[0] | arguments[0]}: a sequence of one element or none */
    CORE_GROUP,   /* arguments[0]: sequence of keys; arguments[1..]: sequences in lock step with it. blocks[0] has
                     parameters key, then one sequence for each further argument; it runs for each distinct key in ascending
                     order; the result is the vector of its values */
} CoreKind;

typedef struct CoreBlock CoreBlock;

typedef struct CoreStatement {
    CoreKind kind;
    CoreVar target;
    Span span;
    CoreAtom *arguments;
    uint32_t argument_count;
    Op op;
    CoreFunctionId function; /* CORE_CALL; CORE_OP: its operator, which takes `captured`, then the two operands */
    CoreAtom *captured;
    uint32_t captured_count;
    uint32_t component; /* CORE_PROJECT */
    const char *text;
    uint32_t text_length;
    CoreBlock *blocks[2];
} CoreStatement;

struct CoreBlock {
    CoreVar *parameters;
    uint32_t parameter_count;
    CoreStatement *statements;
    uint32_t statement_count;
    CoreAtom result;
};

typedef struct CoreFunction {
    Name name; /* for people; not unique */
    Span span;
    CoreBlock *body; /* its parameters are the function's: captured values first */
    CoreBlock *alone; /* the same for whoever does one point and gives up at a failure (core/simplify_alone.c); null: the body does */
    TypeId result_type;
    Effect effect; /* the strongest effect of its body, calls included */
    bool is_recursive;
    uint32_t shared_count; /* of a body that became a function (core/outline.h): so many of its parameters are the same for all elements */
} CoreFunction;

/* One thing to do when the program runs, in order. */
typedef enum CoreItemKind {
    CORE_ITEM_BINDING,    /* bind `targets` to the components of the block's result and show them (.nesl) */
    CORE_ITEM_EXPRESSION, /* show the block's result */
} CoreItemKind;

typedef struct CoreItem {
    CoreItemKind kind;
    Span span;
    CoreBlock *block; /* no parameters */
    CoreVar global;   /* BINDING: the global that holds the whole value */
    const char *label; /* what NESL prints before `=`: "it", "(a, b)" */
    Dialect dialect;
} CoreItem;

typedef struct CoreProgram {
    Arena *arena;
    Types *types;
    Names *names;
    VEC(CoreVariable) variables;  /* [0] unused */
    VEC(CoreFunction *) functions; /* [0] unused; null after simplification: nothing calls it any more */
    VEC(CoreItem) items;
} CoreProgram;

void core_program_init(CoreProgram *program, Arena *arena, Types *types, Names *names);

/* ---- building ---- */
CoreVar core_variable(CoreProgram *program, TypeId type, Name name);
CoreAtom core_atom(const CoreProgram *program, CoreVar variable);
CoreAtom core_constant(TypeId type, Scalar value);
CoreAtom core_int(int64_t value);
CoreAtom core_bool(bool value);
CoreFunctionId core_function(CoreProgram *program, Name name, Span span);

/* Statements of a block under construction. */
typedef struct CoreBuilder {
    CoreProgram *program;
    VEC(CoreStatement) statements;
} CoreBuilder;

/* Adds a statement that binds a fresh variable of this type. */
CoreStatement *core_emit(CoreBuilder *builder, CoreKind kind, TypeId type, Span span, const CoreAtom *arguments,
                         uint32_t argument_count);
/* The variable that a statement just emitted binds. */
CoreAtom core_target(const CoreBuilder *builder, const CoreStatement *statement);
CoreBlock *core_block(CoreBuilder *builder, const CoreVar *parameters, uint32_t parameter_count, CoreAtom result);

/* ---- looking ---- */
/* Whether any statement has blocks inside: branches, comprehensions, groups. */
bool core_has_blocks(const CoreBlock *block);
/* Readable text of the whole program, or of one function. */
void core_print(const CoreProgram *program, Text *out);
void core_print_function(const CoreProgram *program, CoreFunctionId function, Text *out);
/* The name that a variable has in the text of the function or item whose block is `unit`. */
void core_print_variable(const CoreProgram *program, const CoreBlock *unit, CoreVar variable, Text *out);

/* Null, or what is wrong, with the place (allocated in the program's arena). Checks functions and items from the given
 * ones on, so that a growing program is checked once. */
const char *core_check(const CoreProgram *program, uint32_t first_function, uint32_t first_item);

#endif
