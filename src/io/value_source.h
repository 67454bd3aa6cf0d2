/* A source of a value from outside; of a container, its elements can be pulled a few at a time, so that a sequence may be longer than memory.
 *
 *     source = value_source_from_file(..., "data.txt", &options);
 *     while ((count = value_source_read_scalars(source, cells, room)) > 0) ...
 *     if (value_source_has_failed(source)) ... value_source_problem(source)
 *     value_source_free(source);
 *
 * What a source holds is a text in the language's notation, a file with such a text, a file with rows (column_reader.h), or a value that is there
 * already, perhaps because it was read into memory to be had more than once. Elements are read when they are asked for, and so are errors noticed. */
#ifndef RUNNEL_IO_VALUE_SOURCE_H
#define RUNNEL_IO_VALUE_SOURCE_H

#include "base/stop.h"
#include "io/column_reader.h"

typedef struct ValueSource ValueSource;

/* What every source is made for. */
typedef struct ValueSourceOf {
    Heap *heap; /* of the elements */
    Types *types;
    TypeId type;
    const char *what; /* is read, for messages; must last */
} ValueSourceOf;

/* Sources that cannot be opened have failed when they are first asked for something. The text must last; the value is taken over. */
ValueSource *value_source_from_text(ValueSourceOf of, const char *text, size_t length);
ValueSource *value_source_from_value(ValueSourceOf of, Value value);

/* How a file is read. */
typedef struct FileOptions {
    FileFormat otherwise; /* what it holds if neither the end of its path nor its first bytes say it; NONE for text */
    TableOptions table;
    uint64_t memory_limit; /* bytes that the session may hold; 0 for no limit */
    const StopFlag *stop; /* waiting for it ends when this is set; may be null */
} FileOptions;

/* Standard input if the path is null; it must last. */
ValueSource *value_source_from_file(ValueSourceOf of, const char *path, const FileOptions *options);
void value_source_free(ValueSource *source); /* null is allowed */

/* Elements of a scalar type, as cells of their C type, at most `count`; as many as are there without waiting, but one at least. 0 at the end, and
 * after a failure. */
size_t value_source_read_scalars(ValueSource *source, void *cells, size_t count);
/* Whether elements come as columns, or the whole does: then what follows is used, otherwise what is after it. Waits for the first bytes of a file. */
bool value_source_has_columns(ValueSource *source);
/* Appends elements, as many as above. */
size_t value_source_read_columns(ValueSource *source, Columns *rows, size_t most);
/* All of them, or the value as the only row; null after a failure. The source's, but its cells may be taken: those of what is held once, by one who
 * keeps what they became. */
Columns *value_source_whole_columns(ValueSource *source);
/* What became of columns that are held, to be had again instead of them; `let_go` is called when the source is freed. */
typedef void LetGo(Memory *memory, void *made);
void value_source_keep(ValueSource *source, void *made, LetGo *let_go);
void *value_source_kept(const ValueSource *source); /* null if nothing is */
bool value_source_is_held(const ValueSource *source); /* as columns */

/* The next element, a new reference; false at the end, and after a failure. */
bool value_source_next(ValueSource *source, Value *value);
/* Whether the next element can be had without waiting for input, as far as that can be seen. */
bool value_source_is_at_hand(const ValueSource *source);
/* The value as a whole, of any type; no elements were pulled before. False after a failure. */
bool value_source_read_whole(ValueSource *source, Value *value);

/* Reads everything into memory, so that it can be had again and again; no elements were pulled before. Ends when the flag is set, which may be
 * null. False after a failure. */
bool value_source_hold(ValueSource *source, const StopFlag *stop);
/* Begins again with the first element of what is held. */
void value_source_rewind(ValueSource *source);

TypeId value_source_element_type(const ValueSource *source); /* containers */
bool value_source_has_failed(const ValueSource *source);
ErrorCode value_source_error(const ValueSource *source);
const char *value_source_problem(const ValueSource *source);

#endif
