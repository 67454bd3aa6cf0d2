#include "io/value_pieces.h"

/* ---- which pieces there are ---- */

typedef struct PieceBuilder {
    Arena *arena;
    Types *types;
    ValuePieces pieces;
    uint32_t depth;
} PieceBuilder;

static void add_pieces(PieceBuilder *builder, TypeId type);

static uint32_t add_piece(PieceBuilder *builder, ValuePiece piece)
{
    piece.depth = builder->depth;
    *vec_push(builder->arena, &builder->pieces) = piece;
    return builder->pieces.count - 1;
}

static void add_text(PieceBuilder *builder, const char *text)
{
    add_piece(builder, (ValuePiece){.kind = PIECE_TEXT, .text = text});
}

/* Along the right spine, without parentheses. */
static void add_components(PieceBuilder *builder, TypeId type)
{
    for (; type_kind(builder->types, type) == TYPE_PAIR; type = type_rest(builder->types, type)) {
        add_pieces(builder, type_first(builder->types, type));
        add_text(builder, ", ");
    }
    add_pieces(builder, type);
}

static void add_sequence(PieceBuilder *builder, TypeId type)
{
    uint32_t begin = add_piece(builder, (ValuePiece){.kind = PIECE_BEGIN});
    builder->depth++;
    add_pieces(builder, type_element(builder->types, type));
    builder->depth--;
    uint32_t end = add_piece(builder, (ValuePiece){.kind = PIECE_END, .partner = begin});
    builder->pieces.items[begin].partner = end;
}

static void add_pieces(PieceBuilder *builder, TypeId type)
{
    Types *types = builder->types;
    if (type_is_concrete(types, type)) {
        add_piece(builder, (ValuePiece){.kind = PIECE_VALUE, .type = type});
        return;
    }
    switch (type_kind(types, type)) {
    case TYPE_PAIR:
        add_text(builder, "(");
        add_components(builder, type);
        add_text(builder, ")");
        return;
    case TYPE_CONTAINER:
        add_sequence(builder, type);
        return;
    case TYPE_CLOSURE:
        add_text(builder, "function");
        return;
    case TYPE_SCALAR: /* and others that are always concrete */
    case TYPE_UNIT:
    case TYPE_DATA:
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    bug("value_pieces", "a type that has no values");
}

ValuePieces value_pieces(Arena *arena, Types *types, TypeId type)
{
    PieceBuilder builder = {.arena = arena, .types = types};
    add_pieces(&builder, type);
    return builder.pieces;
}

uint32_t value_pieces_depth(const ValuePieces *pieces)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < pieces->count; i++)
        if (pieces->items[i].depth > depth)
            depth = pieces->items[i].depth;
    return depth;
}

/* ---- printing them ---- */

void piece_print_text(PiecePrinter *printer, const char *text)
{
    if (!piece_is_hidden(printer))
        text_add(printer->out, text);
}

void piece_print_value(PiecePrinter *printer, TypeId type, Value value)
{
    if (piece_is_hidden(printer))
        return;
    if (type_is_scalar(printer->types, type))
        value_print_scalar(type_scalar(printer->types, type), value.scalar, printer->format.style, printer->out);
    else
        value_print(printer->types, type, value, printer->format, printer->out);
}

void piece_print_begin(PiecePrinter *printer)
{
    piece_print_text(printer, "{");
    printer->counts[printer->depth++] = 0;
}

void piece_print_element(PiecePrinter *printer)
{
    uint64_t count = printer->counts[printer->depth - 1]++;
    if (piece_is_hidden(printer))
        return;
    if (count > 0 && count == printer->format.print_length) {
        text_add(printer->out, ",...");
        printer->hidden = printer->depth;
    } else if (count > 0)
        text_add(printer->out, ", ");
}

void piece_print_end(PiecePrinter *printer)
{
    if (printer->hidden == printer->depth)
        printer->hidden = 0;
    printer->depth--;
    piece_print_text(printer, "}");
}
