/* Results to files: rows, as columns of them come, in the formats that files are read in (column_reader.h). The elements of a container are the rows; any other
 * value is the only row.
 *
 * A .npy file holds one column. Several columns are files of their own, `name.1.npy` and so on; vectors are two, `name.values.npy` with the elements of all of
 * them and `name.offsets.npy` with the places where they start and the end of the last; and these again may be several. Files appear when all are whole. */
#ifndef RUNNEL_IO_RESULT_WRITER_H
#define RUNNEL_IO_RESULT_WRITER_H

#include "io/columns.h"
#include "io/file_format.h"
#include "io/world.h"

typedef struct ResultWriter ResultWriter;

/* A path. */
#define RESULT_TO_STANDARD_OUTPUT "-"

typedef struct ResultWriterOf {
    Memory *memory;
    Types *types;
    TypeId type; /* of the result */
    const char *path;
    WorldOutput host; /* where standard output goes */
    FileFormat otherwise; /* if the end of the path does not say what it is to hold */
} ResultWriterOf;

/* Never null: one that cannot be has failed. */
ResultWriter *result_writer_new(ResultWriterOf of);
/* Removes what was not finished. Null is allowed. */
void result_writer_free(ResultWriter *writer);

/* Whether it takes the value as it is printed, instead of rows. */
bool result_writer_takes_text(const ResultWriter *writer);
void result_writer_text(ResultWriter *writer, const char *bytes, size_t length);
/* Columns for rows of the result. */
Columns *result_writer_columns(ResultWriter *writer);
/* Writes rows; there will be `left` more, UINT64_MAX if that is not known. */
void result_writer_rows(ResultWriter *writer, const Columns *rows, uint64_t left);
/* The whole value; takes nothing over. */
void result_writer_value(ResultWriter *writer, Value value);
/* There are no more rows: the files get their names. */
void result_writer_finish(ResultWriter *writer);

/* Null if all is well; otherwise what went wrong, with the name of the file. */
const char *result_writer_problem(const ResultWriter *writer);
/* Whether that is so because of the type, not of the outside world. */
bool result_writer_is_misused(const ResultWriter *writer);

#endif
