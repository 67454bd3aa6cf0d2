/* Scalars of files as scalars of the language, many at a time: other byte orders, other widths.
 *
 * Integers become integers and floats, floats become floats, bytes become characters; nothing else becomes anything else. What a value cannot become is found:
 * an integer that its new type does not have, or no float is equal to, and a number too large for f32. Floats are rounded. */
#ifndef RUNNEL_IO_SCALAR_CONVERT_H
#define RUNNEL_IO_SCALAR_CONVERT_H

#include "ops/scalars.h"

/* What cells of a file are. */
typedef struct FileScalar {
    ScalarType type;
    bool is_half;    /* F32 in two bytes */
    bool is_swapped; /* not in this machine's order of bytes */
} FileScalar;

size_t file_scalar_size(FileScalar scalar);
/* How it is called in messages. */
const char *file_scalar_name(FileScalar scalar);
/* Whether cells of the one can become cells of the other. */
bool file_scalar_fits(FileScalar from, ScalarType to);
/* Whether that changes no byte's place: then the cells may be read where they are wanted, and `from` and `to` below may be the same. */
bool file_scalar_is_in_place(FileScalar from, ScalarType to);

/* Converts `count` cells. Gives how many could be: fewer only if the next one cannot. */
size_t scalars_convert(FileScalar from, const void *cells, ScalarType to, void *out, size_t count);
/* A cell for messages, zero-terminated. */
enum { FILE_SCALAR_TEXT_SIZE = 32 };
void file_scalar_text(FileScalar from, const void *cells, size_t i, char text[FILE_SCALAR_TEXT_SIZE]);

#endif
