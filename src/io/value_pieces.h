/* Values printed in pieces, for those that are never there as a whole: exactly what value_print would write.
 *
 * The type alone says which pieces there are and in which order. A piece is a text that stands for itself, a part that is concrete, or the beginning or
 * the end of a sequence; what is between those two is printed again for each element:
 *
 *     (int, {[char]}, bool)     "("  int  ", "  BEGIN  [char]  END  ", "  bool  ")"                                                     */
#ifndef RUNNEL_IO_VALUE_PIECES_H
#define RUNNEL_IO_VALUE_PIECES_H

#include "io/value.h"

typedef enum PieceKind { PIECE_TEXT, PIECE_VALUE, PIECE_BEGIN, PIECE_END } PieceKind;

typedef struct ValuePiece {
    PieceKind kind;
    const char *text; /* TEXT */
    TypeId type;      /* VALUE */
    uint32_t partner; /* BEGIN, END: the index of the other */
    uint32_t depth;   /* sequences around it */
} ValuePiece;

typedef struct ValuePieces {
    ValuePiece *items;
    uint32_t count;
    uint32_t capacity;
} ValuePieces;

/* The pieces of a type, in the arena. */
ValuePieces value_pieces(Arena *arena, Types *types, TypeId type);

/* How many sequences may be open at once. */
uint32_t value_pieces_depth(const ValuePieces *pieces);

/* What was printed of the sequences that are open. */
typedef struct PiecePrinter {
    Types *types;
    ValueFormat format;
    Text *out;
    uint64_t *counts; /* elements so far, of each open sequence; given by the caller, with room for value_pieces_depth of them */
    uint32_t depth;   /* open sequences */
    uint32_t hidden;  /* 0, or the depth of the outermost one whose elements are no longer shown */
} PiecePrinter;

void piece_print_text(PiecePrinter *printer, const char *text);
void piece_print_value(PiecePrinter *printer, TypeId type, Value value);
void piece_print_begin(PiecePrinter *printer);
/* Another element of the innermost sequence comes. */
void piece_print_element(PiecePrinter *printer);
void piece_print_end(PiecePrinter *printer);

/* Whether what comes next leaves no trace: print_length is exceeded. */
static inline bool piece_is_hidden(const PiecePrinter *printer)
{
    return printer->hidden != 0;
}

#endif
