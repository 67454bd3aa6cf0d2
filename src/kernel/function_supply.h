/* What traversals are made of (kernel/function_sequences.c): the sources of elements. */
#ifndef RUNNEL_KERNEL_FUNCTION_SUPPLY_H
#define RUNNEL_KERNEL_FUNCTION_SUPPLY_H

#include "kernel/function_recall.h"
#include "kernel/function_share.h"
#include "kernel/function_vectors.h"

typedef enum SupplyKind {
    SUPPLY_CELLS, /* of a vector in memory */
    SUPPLY_RANGE, /* integers from `first` on, by `step` */
    SUPPLY_EACH,
    SUPPLY_SCAN,
    SUPPLY_ZIP,
    SUPPLY_READ,
    SUPPLY_FEW, /* elements that are written down */
    SUPPLY_WINDOW, /* rows of a window */
} SupplyKind;

/* What gives an element for each index, taken in order. */
typedef struct Supply Supply;
typedef struct IndexTable IndexTable;
typedef struct Window Window;
typedef struct Windows Windows;
struct Supply {
    SupplyKind kind;
    TypeId type;            /* of elements */
    const char *length;
    const CoreStatement *statement;
    Supply **members;
    uint32_t member_count;
    const char **words;     /* CELLS, READ: pointers to cells; RANGE: first, step */
    const char **strides;   /* CELLS, READ: null if they are next to each other */
    const char *base;       /* READ: start of the vector, */
    const char *vector_length;
    ScanState *scan;
    uint32_t few;           /* how many there are, if loops are written out; otherwise 0 */
    const char ***elements; /* FEW: words of each */
    IndexTable *table;      /* EACH: what depends on an index alone is read from there; null if there is none */
    const CoreAtom *vector; /* CELLS: whose they are; null if it has no name */
    const char **given;     /* words of the element, where it is there; else null */
    const char *place;      /* CELLS, RANGE: of the element, where that is not the index; else null */
    RecallPart *recall;     /* EACH: where some of what its body computes is there; otherwise null */
    Windows *windows;       /* EACH: of vectors whose rows are made as they are read; null if there are none */
    const Window *window;   /* WINDOW: the one */
    bool is_of_memory;      /* something that is in memory bounds its length */
    uint32_t turn;          /* of those that are written at once, whose variables it needs (kernel/function_abreast.c); else 0 */
};

struct Traversal {
    const CoreAtom *atom;
    TypeId type; /* of elements */
    Supply *supply; /* null if it does not step */
    bool filters;   /* the elements of the supply are sequences of one element or none */
    const char *most;
};

/* What a loop changes of the writer. */
typedef struct Around {
    const char *into, *aside;
    bool is_deferred, is_straight;
    const char *mark;
    const char *waiting; /* calls that wait, and how many there were before; null if none does */
    const char *waited;
} Around;
/* A body that does more than to compute gives back what it took after each turn, and looks whether it is to go on. */
Around supply_open_turn(Writer *writer, bool is_straight, bool is_deferred, const Sink *sink);
void supply_close_turn(Writer *writer, Around around);
/* A parameter of a body is an element from now on. */
void supply_bind(Writer *writer, CoreVar parameter, Element element);

/* Writes what gives the element of an index. */
Element supply_step(Writer *writer, const Supply *supply, const char *index);
/* A turn of a loop: the element of an index is given to the sink, with what is done around it. */
void supply_write_turn(Writer *writer, const Supply *supply, Sink *sink, const char *index, bool is_straight, bool is_deferred);
/* The same, and gives it to whoever takes it, perhaps later. */
void supply_give_turn(Writer *writer, const Supply *supply, Sink *sink, const char *index);
/* Neither loops nor calls. */
bool supply_is_straight(const Writer *writer, const Supply *supply);
/* Whether, where something fails for an element, the rest of the loop may be computed nonetheless. */
bool supply_may_go_on(const Writer *writer, const Supply *supply, const Sink *sink);
/* Whether an element depends on how many were had before. */
bool supply_has_scan(const Supply *supply);
/* Whether elements can be had in any order. */
bool supply_is_shareable(const Supply *supply);
/* Where threads share the loop of a scan: sets it to where it is before the share's part. */
void reduce_scan_resume(Writer *writer, ScanState *scan, Supply *operand, const Share *share);

/* The loop of one that steps, from `first` on, before `end`; `polls`: a long one looks now and then whether it is to go on. */
void supply_loop(Writer *writer, Supply *supply, Sink *sink, const char *first, const char *end, bool polls);

/* ---- function_parts.c ---- */
/* The same in parts, and in versions, where that is worth it. */
void supply_traverse(Writer *writer, Supply *supply, Sink *sink, const char *first, const char *end);

/* ---- function_abreast.c ---- */
/* Writes a loop that takes several turns at once, where that is worth it. Gives a word for where another one is to go on, which takes one at a time. */
const char *abreast_write(Writer *writer, Supply *each, Sink *sink, const char *first, const char *end);

/* ---- function_tables.c ---- */
/* What of a comprehension's body depends on an index alone, and is more than an element, is computed before its loop; if there is such. */
void tables_prepare(Writer *writer, Supply *each);
/* In the loop, where the index is known: reads it. Gives what of the body is left to be written. */
const CoreBlock *tables_read(Writer *writer, const IndexTable *table);

/* ---- function_windows.c ---- */
/* Windows of the vectors that a comprehension reads so, before what it goes over is prepared; null if there are none. */
Windows *windows_prepare(Writer *writer, const CoreStatement *each);
/* Before its loop. */
void windows_open(Writer *writer, const Supply *each);
/* At the beginning of a turn: what it needs is made, if it is not there. */
void windows_write_rows(Writer *writer, const Supply *each, const char *index);
/* What is left of its body then. */
const CoreBlock *windows_rest(const Windows *windows);
/* How many rows there are; words for the one at the index of the turn. */
const char *windows_length(const Window *window);
const char **windows_own_row(const Window *window);

#endif
