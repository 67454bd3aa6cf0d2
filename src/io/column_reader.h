/* Readers of files that hold rows: raw scalars and .npy (array_reader.c), lines and fields (table_reader.c). What a reader reads is appended to columns, in bulk.
 *
 * A reader is made for a parameter's type. If that is a container its elements are the rows, and there are any number of them; otherwise the
 * value is the only row. */
#ifndef RUNNEL_IO_COLUMN_READER_H
#define RUNNEL_IO_COLUMN_READER_H

#include "base/sharing.h"
#include "io/byte_input.h"
#include "io/columns.h"
#include "io/file_format.h"
#include "io/scalar_convert.h"
#include "io/value_reader.h"

typedef struct ColumnReader ColumnReader;

typedef struct ColumnReaderKind {
    /* Appends rows, at least one and at most `most`; as many as are there without waiting. 0 at the end, and after a failure. */
    size_t (*read)(ColumnReader *reader, Columns *rows, size_t most);
    void (*free)(ColumnReader *reader); /* all of it */
} ColumnReaderKind;

/* The beginning of every reader. */
struct ColumnReader {
    const ColumnReaderKind *kind;
    Memory *memory;
    Types *types;
    TypeId type;      /* of the parameter */
    const char *what; /* is read, for messages; must last */
    ByteInput *input; /* the owner's */
    uint64_t memory_limit; /* 0: none. Where a row alone may be too long the reader fails, otherwise its owner does */
    bool has_failed;  /* what is wrong is in `problem`, unless the input could not be read */
    char problem[VALUE_PROBLEM_SIZE];
};

/* Whether the elements of the parameter are the rows. */
bool column_reader_has_rows(const ColumnReader *reader);
TypeId column_reader_row_type(const ColumnReader *reader);

/* Whether more memory is held than may be. */
bool column_reader_is_over_limit(const ColumnReader *reader);

/* The input is not what it should be; the message begins with what is read. Gives 0 rows. */
__attribute__((format(printf, 2, 3))) size_t column_reader_fail(ColumnReader *reader, const char *format, ...);

/* ---- the kinds; a file that does not fit the parameter is a failure of the reader when it is first read ---- */

/* Scalars one after the other, until the end. */
ColumnReader *raw_reader_new(ColumnReader common, FileScalar scalar);
/* A .npy file. */
ColumnReader *npy_reader_new(ColumnReader common);

/* Files beside one another that are called `name.1.npy`, `name.offsets.npy` and so on, as a result of the type is written (result_writer.h). */
ColumnReader *npy_set_reader_new(ColumnReader common);
/* Whether there is a file for the first column; before anything is read. */
bool npy_set_reader_find(ColumnReader *reader, const char *name);

typedef enum HeaderMode { HEADER_GUESSED, HEADER_GIVEN, HEADER_NONE } HeaderMode;

typedef struct TableOptions {
    HeaderMode header;
    const char *empty; /* what an empty field that is not a text stands for; null: an error */
    Sharing sharing;   /* of parsing */
} TableOptions;

/* Lines, or records of fields, of the format CSV, TSV or LINES. */
ColumnReader *table_reader_new(ColumnReader common, FileFormatKind format, const TableOptions *options);

#endif
