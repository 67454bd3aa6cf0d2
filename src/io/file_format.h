/* What files hold: found by name (`--format`), by the end of a path, or by the first bytes. */
#ifndef RUNNEL_IO_FILE_FORMAT_H
#define RUNNEL_IO_FILE_FORMAT_H

#include "ops/scalars.h"

typedef enum FileFormatKind {
    FORMAT_NONE, /* not known */
    FORMAT_TEXT, /* the language's notation */
    FORMAT_RAW,  /* scalars as this machine has them in memory, one after the other */
    FORMAT_NPY,
    FORMAT_CSV,
    FORMAT_TSV,
    FORMAT_LINES, /* of text: each is one field */
} FileFormatKind;

typedef struct FileFormat {
    FileFormatKind kind;
    ScalarType scalar; /* RAW */
} FileFormat;

/* `text`, `npy` ..., or a scalar type (`int` and `i64`, `float` and `f64` are the same). NONE if there is no such format. */
FileFormat file_format_named(const char *name);
/* By the extension of a path of so many bytes. NONE if that says nothing. */
FileFormat file_format_of_path(const char *path, size_t length);

#endif
