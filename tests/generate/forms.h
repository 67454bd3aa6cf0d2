/* Forms: the ways to make an expression of a type. They come from the table forms.def, from the types of operations and library
 * functions, and from the functions and datatypes of the program that is being made. */
#ifndef GENERATE_FORMS_H
#define GENERATE_FORMS_H

#include "base/vec.h"
#include "random.h"
#include "shape.h"

typedef enum FormDialect { FORM_RNL = 1, FORM_NESL = 2, FORM_BOTH = 3 } FormDialect;

typedef enum PieceKind {
    PIECE_TEXT,
    PIECE_NAME,   /* of the form's variable `number` */
    PIECE_HOLE,   /* an expression of type `shape` */
    PIECE_TYPE,   /* the type itself */
    PIECE_NUMBER, /* a literal from 0 to `number` */
} PieceKind;

/* What an expression sees of its surroundings. */
typedef enum HoleScope {
    HOLE_PLAIN,
    HOLE_COMPREHENSION, /* no sequences */
    HOLE_FUNCTION,      /* no sequences, no effects */
} HoleScope;

enum { PIECE_BINDERS = 4 };

typedef struct Piece {
    PieceKind kind;
    const char *text;
    uint32_t number;
    const Shape *shape;
    HoleScope scope;
    uint32_t binder_count;
    uint32_t binders[PIECE_BINDERS]; /* the form's variables known in this hole */
    const Shape *binder_shapes[PIECE_BINDERS];
} Piece;

typedef struct Form {
    const char *name; /* of what is called; "" for constructs */
    uint32_t weight;
    FormDialect dialects;
    bool has_effect;
    bool draws; /* or seeds, random numbers */
    Variables variables;
    const Shape *result;
    const Shape *argument; /* of a function that can be passed by its name; null for other forms */
    Piece *pieces;
    uint32_t piece_count;
    uint32_t variable_count; /* names of its own */
    uint32_t hole_count;     /* holes, types and numbers */
    uint32_t id;             /* position in Forms.items */
} Form;

/* Forms by what they make: kinds of shapes, then scalar types. */
enum { FORM_GROUPS = SHAPE_KINDS + SCALAR_COUNT };

typedef struct FormGroup {
    VEC(const Form *) items;
    uint32_t weight;
} FormGroup;

typedef struct Forms {
    Arena *arena;
    FormDialect dialect;     /* forms of the other one are known, but never picked */
    VEC(const Form *) items; /* all of them */
    FormGroup groups[FORM_GROUPS];
    VEC(const Form *) functions; /* those that can be passed by name */
} Forms;

void forms_init(Forms *forms, Arena *arena, FormDialect dialect);
/* The table, and calls of whatever operation or library function is not in it. */
void forms_add_all(Forms *forms);
/* A form as the table writes them. */
const Form *forms_add(Forms *forms, FormDialect dialects, const char *name, uint32_t weight, const char *type,
                      const char *text);
/* A call of a function, or the use of a constant, by its type alone, with types of a class for its variables; null when the type
 * cannot be read or is that of something that is better not called so. */
const Form *forms_add_call(Forms *forms, FormDialect dialects, const char *name, uint32_t weight, const char *type,
                           ClassSet class_set);

/* A random form among those that might make `shape`, by weight; null when there is none. It may still turn out not to fit. */
const Form *forms_pick(const Forms *const *tables, uint32_t table_count, Random *random, const Shape *shape);

#endif
