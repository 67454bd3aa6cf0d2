/* The text of tables: records of fields, with or without quotes, parsed a piece at a time. Nothing is allocated here, so that pieces can be parsed by several threads.
 *
 * A record is a line, unless a field in quotes goes on in the next one. A quote has a meaning only where a field begins. Lines end in \n or \r\n; every piece
 * ends in \n, and NUMBER_TEXT_PADDING bytes after it can be read. */
#ifndef RUNNEL_IO_TABLE_TEXT_H
#define RUNNEL_IO_TABLE_TEXT_H

#include "io/number_text.h"

typedef struct TableDialect {
    char separator;  /* of fields; \n where a line is one field */
    bool has_quotes;
    bool has_empty_rows; /* the only field is a text, or all fields are elements of a vector: an empty line is an empty one; otherwise it is nothing */
    const char *empty; /* what an empty field that is not a text stands for, padded like a piece; null: an error */
} TableDialect;

/* Where the values of a field go, the rows of a piece one after the other. */
typedef struct FieldSink {
    bool is_text;
    ScalarType scalar;
    void *cells;   /* of scalars; of texts int64_t, where they end in `chars` */
    char *chars;
    size_t char_count;
} FieldSink;

typedef enum TableProblem {
    TABLE_RIGHT,
    TABLE_FEW_FIELDS,
    TABLE_MANY_FIELDS,
    TABLE_EMPTY_FIELD,
    TABLE_NO_VALUE,     /* what is there is none of the type */
    TABLE_OUT_OF_RANGE,
    TABLE_AFTER_QUOTE,  /* something follows it that is no end of the field */
} TableProblem;

typedef struct TablePiece {
    const char *start, *end;
    FieldSink *sinks;
    uint32_t field_count; /* 0: any number of fields, all to one sink, */
    int64_t *row_ends;    /* ... which of them end a row */
    size_t line_count;    /* of \n in it: no fewer than records */
    size_t row_count;     /* parsed */
    size_t value_count;   /* for one sink */
    TableProblem problem;
    const char *place;    /* of the field, or where the fields are too few or many */
    uint32_t field;       /* number of the field, or of those found */
} TablePiece;

size_t table_count_lines(const char *text, const char *end);
/* The end of the record that begins there, after its \n; null if it does not end. */
const char *table_record_end(const TableDialect *dialect, const char *text, const char *end);
/* Parses all records, or up to the first that is wrong. */
void table_parse(const TableDialect *dialect, TablePiece *piece);

/* One field, without its quotes and, unless it is a text, the spaces around it. */
typedef struct TableField {
    const char *start, *end;
    const char *next; /* the separator or line end */
    bool is_quoted;
} TableField;
bool table_read_field(const TableDialect *dialect, const char *text, bool is_text, TableField *field);
/* The value of a field that is no text. */
TableProblem table_read_scalar(const TableField *field, ScalarType type, void *cell);
/* Whether that is the end of a line. */
static inline bool table_is_line_end(const char *text)
{
    return *text == '\n' || (*text == '\r' && text[1] == '\n');
}

#endif
