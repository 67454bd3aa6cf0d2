/* Random programs as trees, so that they can be printed, and made smaller. */
#ifndef GENERATE_PROGRAM_H
#define GENERATE_PROGRAM_H

#include "forms.h"

typedef enum NodeKind {
    NODE_LEAF,  /* text */
    NODE_LIST,  /* the elements of a vector or sequence: any number of children */
    NODE_TUPLE, /* (children), or text(children) */
    NODE_FORM,  /* a form with its holes filled */
} NodeKind;

typedef struct Node {
    NodeKind kind;
    const Shape *shape;
    const char *text;
    const char *value_text; /* LEAF: as the argument of a program; null if it is the same */
    const Form *form;
    uint32_t first_name; /* FORM: the number of its first variable */
    struct Node **children;
    uint32_t child_count;
} Node;

typedef struct Parameter {
    const char *name;
    const Shape *shape;
} Parameter;

typedef struct Function {
    const char *name;
    VEC(Parameter) parameters;
    const Shape *result;
    bool is_annotated;
    Node *body;
} Function;

typedef struct Binding {
    const char *name; /* null: an expression to be shown */
    Node *value;
} Binding;

typedef struct Program {
    FormDialect dialect; /* RNL or NESL */
    VEC(const char *) datatypes;
    VEC(Binding) globals; /* before the functions, which use them */
    VEC(Function) functions;
    VEC(Binding) items;
    VEC(Node *) arguments; /* of main, which is the last function if there are any */
} Program;

/* Program `index` of the run with this seed. The tables hold the forms of .rnl and .nesl. */
Program *program_generate(Arena *arena, const Forms *rnl, const Forms *nesl, uint64_t seed, uint64_t index);

void program_print(const Program *program, Text *out);
/* The arguments of main as the command line has them, in the arena. */
const char **program_arguments(const Program *program, Arena *arena);

void node_print(const Node *node, FormDialect dialect, Text *out);
/* The simplest value of a shape. */
Node *node_simplest(Arena *arena, FormDialect dialect, const Shape *shape);
/* Calls `visit` for every form used. */
void program_visit_forms(const Program *program, void (*visit)(const Form *form, void *context), void *context);

/* ---- expressions (expression.c) ---- */

typedef struct Variable {
    const char *name;
    const Shape *shape;
    bool is_used; /* a sequence that has been traversed */
} Variable;

/* A program under construction. */
typedef struct Generator {
    Arena *arena;
    Random random;
    FormDialect dialect;
    const Forms *tables[2]; /* of the language, of the program */
    VEC(Variable) variables;
    uint32_t barrier;  /* sequences before this variable are out of reach */
    uint32_t next_name;
    bool has_no_effects;
    bool has_drawn; /* random numbers, somewhere in the program */
    bool has_small_literals; /* that fit every number type */
    const Form *self;        /* a call of the function whose body this is, or null */
    uint32_t self_calls;     /* how many more there may be */
    VEC(const Shape *) datatypes;
} Generator;

Node *generate_expression(Generator *g, const Shape *shape, uint32_t fuel);
Node *generate_literal(Generator *g, const Shape *shape, uint32_t length);
/* A random shape in a class. */
const Shape *generate_shape(Generator *g, ClassSet class_set, uint32_t fuel);
Node *generate_form(Generator *g, const Form *form, const Shape *shape, uint32_t fuel);
void push_variable(Generator *g, const char *name, const Shape *shape);

#endif
