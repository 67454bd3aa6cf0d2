#include "io/column_reader.h"

#include <stdarg.h>
#include <stdio.h>

bool column_reader_has_rows(const ColumnReader *reader)
{
    return type_kind(reader->types, reader->type) == TYPE_CONTAINER;
}

TypeId column_reader_row_type(const ColumnReader *reader)
{
    return column_reader_has_rows(reader) ? type_element(reader->types, reader->type) : reader->type;
}

bool column_reader_is_over_limit(const ColumnReader *reader)
{
    return reader->memory_limit != 0 && reader->memory->live_bytes > reader->memory_limit;
}

size_t column_reader_fail(ColumnReader *reader, const char *format, ...)
{
    if (reader->has_failed)
        return 0;
    reader->has_failed = true;
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(reader->problem, VALUE_PROBLEM_SIZE, "%s: ", reader->what);
    if (length > 0 && length < VALUE_PROBLEM_SIZE)
        vsnprintf(reader->problem + length, VALUE_PROBLEM_SIZE - (size_t)length, format, arguments);
    va_end(arguments);
    return 0;
}
