/* Wide versions: functions that make vectors, as C for KERNEL_WIDE points at once.
 *
 *     static bool body_f15_wide(..., int64_t const *i_27, double *result, KernelRegion *region, const KernelScalars *scalars)
 *
 * What is the same for all points is computed once, as in a sequential version: lengths, indices, conditions that decide what is done next. What differs is computed in loops over
 * the points, *lanes*, each as long as a run of operations on scalars, so that compilers make vectors of them; between two of those it lies in an array. A vector is cells of all lanes for each
 * of its elements. So the vectors of all points have the same lengths: points are sorted by the lengths of what they are given, and a function in which a length or a loop depends on
 * anything else has no wide version. Elements at the end of a vector that are the same for all points are kept once, and have cells only where these are wanted. A loop that counts from one constant to another is written turn by turn (function_wide_known.c), so that what it computes stays in registers. A vector that nobody else has is changed in place. It gives up where an operation fails or a vector is long; then the points are done one by one. */
#ifndef RUNNEL_KERNEL_FUNCTION_WIDE_H
#define RUNNEL_KERNEL_FUNCTION_WIDE_H

#include "kernel/function_vectors.h"
#include "kernel/linear_form.h"

enum { WIDE_CALLS = 8 }; /* nested, at most: the text of what is called is written where that is */

/* A scalar that differs from point to point: a variable inside the loop that computes it, and an array if anybody needs it later. */
typedef struct Lane {
    const char *word;
    ScalarType type;
    uint32_t loop;  /* that computes it; 0 if it is an array only, `word` */
    bool is_stored; /* there is an array, `word`_w */
    bool is_given;  /* ... which is a parameter, */
    bool is_placed; /* ... or declared where it is used: it is the cells of a vector's element */
    uint32_t number;
    Form form;             /* how it depends on a parameter, */
    const char *at_basis;  /* ... if that is linearly, its value at the points of the basis (function_wide_linear.c); null if that is not known */
    const char *again;     /* ... the same at all points, if that is so little that it is computed again where it is needed; null if it is not */
    struct Lane *index;    /* ... that parameter, */
    bool has_basis;        /* ... and whether there are such points of it */
} Lane;

typedef enum WideKind {
    WIDE_GIVEN,   /* a vector as the VM has it: array and start, and `columns` with `strides`; of each point another one if it differs, then `columns` are arrays of pointers */
    WIDE_MADE,    /* cells in `columns`; where there are `same`, cells from `filled` on are only made of these when they are wanted */
    WIDE_ROWS,    /* of vectors: `columns` are arrays of pointers to their cells, `lengths` their lengths */
    WIDE_COLUMNS, /* of `base`, a vector of vectors */
    WIDE_COLUMN,  /* elements `index` of the vectors in `base` */
    WIDE_PARTS,   /* of `base`: `starts` and `lengths`, or `width` elements each, of which the last may lack some */
    WIDE_SLICE,   /* of `base`, from `index` on */
    WIDE_RANGE,   /* integers from `index` on; null: from 0 on */
    WIDE_EACH,    /* computed by whoever takes the elements; so is the next */
    WIDE_ZIP,
    WIDE_FILTER,  /* the elements of `members[0]` are guards */
    WIDE_GUARD,   /* an element of `statement` if `condition` holds */
    WIDE_JOINED,  /* `pieces`, for whoever joins more to them */
} WideKind;

typedef struct WideValue WideValue;

/* Of a vector that is joined. */
typedef struct WidePiece {
    const WideValue *vector; /* or one element: */
    const WideValue *element;
    const char *length;
} WidePiece;

/* A vector or sequence. */
typedef struct WideVector {
    WideKind kind;
    TypeId element;
    const char *length; /* of all points; null if `own_length` has those of each */
    Lane *own_length;
    uint32_t known_length; /* if it is known when this is written; otherwise 0 */
    const char *array, *start;
    const char **columns; /* by leaf of the element */
    const char **strides; /* ... 0 where one cell is that of all elements; null unless it is given to all points */
    bool *are_varying;    /* ... whether its cells differ from point to point */
    const char **same;    /* null, or by leaf: the elements from `same_from` on, by index, which are the same for all points */
    const char *same_from, *filled;
    const char *starts, *lengths, *index, *width;
    const WideValue *base;
    const CoreStatement *statement;
    const WideValue **members;
    uint32_t member_count;
    const WideValue *condition;
    const WidePiece *pieces;
    uint32_t piece_count;
    bool is_owned; /* that of a parameter: nobody else has its cells */
} WideVector;

/* A scalar or a vector. */
typedef struct WidePart {
    ScalarType type;
    const char *word;   /* of a scalar that is the same for all points */
    const Scalar *known; /* ... its value, if that is known */
    Lane *lane;         /* of one that differs */
    WideVector *vector;
} WidePart;

/* A tuple is its components. */
struct WideValue {
    uint32_t count;
    WidePart *parts;
};

/* A variable for a part of a value that comes from one of several places. */
typedef struct Slot {
    WidePart part;      /* what refers to it */
    bool is_varying;
    bool is_owned;      /* whichever way it comes */
    WideVector *vector; /* like this one */
} Slot;

typedef struct Wide {
    Writer writer;         /* its text is that outside of loops over lanes */
    Text lanes;            /* the loop that is being written: all that is outside may come before it */
    bool lanes_can_fail;
    uint32_t loop;         /* its number */
    uint32_t branches;     /* of ifs around, inside it: everything is written there */
    const char *flag;      /* where failures in it are noted */
    const WidePart *mask;  /* the lanes that count: failures of others do not; null if all do */
    const char *pick;      /* those that are done, which are lanes of their own here; null if all are. What lanes before this one have is packed: */
    uint32_t picked_from;
    VEC(Lane *) packed;    /* ... and these are needed */
    bool is_at_basis;      /* lanes are the points of a basis here, and those before are computed for these */
    const WideValue **values; /* by variable */
    const CoreBlock *block;   /* that is being written */
    const CoreBlock *body;    /* ... of the function or comprehension that it belongs to */
    VEC(Lane *) all;       /* lanes */
    CoreFunctionId called[WIDE_CALLS]; /* functions whose bodies are around what is being written, */
    uint32_t calls;                    /* ... and how many these are */
    VEC(Text *) apart;     /* texts that were begun */
} Wide;

/* ---- function_wide.c ---- */
_Noreturn void wide_refuse(Wide *wide);
/* A line outside of the loop over lanes, or in it. */
__attribute__((format(printf, 2, 3))) void wide_line(Wide *wide, const char *format, ...);
__attribute__((format(printf, 2, 3))) void wide_lane_line(Wide *wide, const char *format, ...);
/* The loop over lanes ends here. */
void wide_end_lanes(Wide *wide);
__attribute__((format(printf, 2, 3))) void wide_open(Wide *wide, const char *format, ...);
void wide_close(Wide *wide);
__attribute__((format(printf, 2, 3))) void wide_give_up_if(Wide *wide, const char *format, ...);
const char *wide_word(Wide *wide);
/* How many lanes are done. */
const char *wide_lane_count(Wide *wide);
/* An expression for a scalar: in the loop over lanes, if it differs from point to point. */
const char *wide_scalar(Wide *wide, const WidePart *part);
/* A scalar that was just computed in the loop, as a variable `word`; one that lives in an array `word`. */
WidePart wide_lane(Wide *wide, ScalarType type, const char *word);
WidePart wide_array_lane(Wide *wide, ScalarType type, const char *word);
WidePart wide_same(ScalarType type, const char *word);
const WideValue *wide_value(Wide *wide, const WidePart *parts, uint32_t count);
const WideValue *wide_atom(Wide *wide, const CoreAtom *atom);
/* How many parts a value has. */
uint32_t wide_count(Wide *wide, TypeId type);
void wide_write_statements(Wide *wide, const CoreBlock *block);
/* An argument of a call as the parameter has it. */
const WideValue *wide_passed(Wide *wide, const CoreStatement *call, uint32_t argument);
/* Statements that only give values names: nothing is written. False for others. */
bool wide_write_name(Wide *wide, const CoreStatement *statement);
/* Whether the array of a lane holds a KernelTruth for each point; the type of an element of it. */
bool wide_is_truth(const Lane *lane);
const char *wide_array_type(const Lane *lane);
Text *wide_new_text(Wide *wide);
/* What follows is written to a text of its own, to be added when more is known; gives the one before. */
Text *wide_begin_apart(Wide *wide);
/* It goes where what follows does. */
void wide_add_apart(Wide *wide, Text *outer, Text *text);

/* Whether a parameter is mostly the same for all points, and whether a leaf is the length of a vector. */
bool wide_is_shared(const Wide *wide, uint32_t parameter);
bool wide_is_length(const Layout *leaves, uint32_t leaf);

/* ---- function_wide_if.c ---- */
void wide_write_if(Wide *wide, const CoreStatement *statement);
/* Variables for what comes from one of several places: what these are like, one place after the other; their declarations; what is assigned at one place; and the value that they are. */
void wide_join_part(Wide *wide, Slot *slot, const WidePart *part, bool is_first);
void wide_declare_slot(Wide *wide, Slot *slot);
void wide_assign_slots(Wide *wide, const Slot *slots, const WideValue *value);
const WideValue *wide_value_of_slots(Wide *wide, const Slot *slots, uint32_t count);
/* The declaration of a pointer to the cells of a vector. */
const char *wide_cells_type(bool is_varying, ScalarType type, const char *word, Wide *wide);
/* Whether there are no vectors in an element. */
bool wide_is_flat(const Layout *elements);

/* ---- function_wide_linear.c ---- */
Form wide_form(const WidePart *part);
/* Notes that a lane is an integer of which points may have one after the other. */
void wide_note_index(Wide *wide, Lane *lane);
/* Notes how the result of an operation depends on its arguments. */
void wide_note_form(Wide *wide, const CoreStatement *statement, const WideValue *const *arguments, Lane *result);
/* The same for a value that is another where a condition holds, and 0 elsewhere. */
void wide_note_choice(const WidePart *condition, const WidePart *value, Lane *result);
/* The parameter that a value depends on linearly, as do all lanes from one on that depend on any; null if there is none. */
Lane *wide_linear_in(const Wide *wide, uint32_t first_lane, const WidePart *part);
/* What is written in between is done at the points of the parameter's basis, if there is one, and in the end a total of it is brought to all lanes; what is then written up to the end of the
 * block is done if there is none. */
void wide_begin_basis(Wide *wide, Lane *index);
void wide_end_basis(Wide *wide, const Lane *index, const char *total);
/* The points of the bases that are wanted. */
void wide_add_bases(const Wide *wide, Text *out);

/* ---- function_wide_known.c ---- */
const WideValue *wide_known(Wide *wide, ScalarType type, Scalar value);
/* The side of an `if` that is taken; null if that is not known. */
const CoreBlock *wide_known_side(Wide *wide, const CoreStatement *statement);
/* An operation whose result is known: nothing is written. False for others. */
bool wide_fold(Wide *wide, const CoreStatement *statement);
/* A call of a loop of which it is known how many turns it takes, and these are few: they are written one after the other, so that loops over lanes go on from one to the
 * next. False if nothing was written. */
bool wide_write_unrolled(Wide *wide, const CoreStatement *statement, const WideValue *const *arguments);

/* ---- function_wide_vectors.c ---- */
/* Of vectors and sequences; false if the operation is none of them. */
bool wide_write_vector_op(Wide *wide, const CoreStatement *statement);
void wide_write_each(Wide *wide, const CoreStatement *statement);
void wide_write_guard(Wide *wide, const CoreStatement *statement);
void wide_write_make(Wide *wide, const CoreStatement *statement);
/* A vector with cells in memory. */
const WideValue *wide_made(Wide *wide, const WideValue *value);
const WideValue *wide_vector(Wide *wide, WideVector vector);
/* The vector of these words, as the VM has it: where its cells are is written here. */
WidePart wide_given(Wide *wide, TypeId element, const char *const words[VECTOR_LEAVES]);
const WideValue *wide_element(Wide *wide, const WideValue *vector, const char *index);
/* Whether nobody but a statement has a vector of which each point has its own cells: it may be changed in place. */
bool wide_owns(Wide *wide, const CoreStatement *statement, uint32_t argument);
/* The vector that a value is, and the length that all points have in common. */
WideVector *wide_vector_of(Wide *wide, const WideValue *value);
const char *wide_length_of(Wide *wide, const WideValue *value);
void wide_give(Wide *wide, const CoreStatement *statement, const WideValue *value);
void wide_give_part(Wide *wide, const CoreStatement *statement, WidePart part);
/* `const int64_t word = ...`, outside. */
const char *wide_same_int(Wide *wide, const char *format, const char *a, const char *b);
const char *wide_known_int(Wide *wide, uint32_t value);
/* A scalar that is read: `const type word = ...`. */
__attribute__((format(printf, 4, 5))) WidePart wide_read_scalar(Wide *wide, LeafType type, bool in_lanes, const char *format, ...);
/* A loop over elements; gives their index. */
const char *wide_open_loop(Wide *wide, const char *length);
/* A vector that is made; memory for its cells, as soon as it is known which of these differ from point to point; and one of its cells. */
WideVector wide_new_made(Wide *wide, TypeId element, const char *length);
void wide_take_made(Wide *wide, const WideVector *made, const char *room);
void wide_store_part(Wide *wide, const WidePart *part, bool is_varying, const char *cells, const char *index);

/* ---- function_wide_reduce.c ---- */
/* A reduction or a scan; false if the operation is neither. */
bool wide_write_fold(Wide *wide, const CoreStatement *statement);

#endif
