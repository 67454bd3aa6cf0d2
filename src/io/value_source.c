#define _POSIX_C_SOURCE 200809L
#include "io/value_source.h"

#include "base/least.h"
#include "io/byte_input.h"
#include "io/failure.h"
#include "io/npy.h"
#include "io/value_reader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_SIZE = 1 << 16 };

typedef enum SourceKind {
    SOURCE_TEXT,
    SOURCE_FILE, /* whose first bytes are still to say what it holds */
    SOURCE_ROWS,
    SOURCE_VALUE,
    SOURCE_HELD,
} SourceKind;

struct ValueSource {
    ValueSourceOf of;
    SourceKind kind;
    bool is_ended; /* nothing more will be given: the end, or a failure */
    bool has_failed;
    ErrorCode error;
    FileOptions options;
    const char *path;   /* FILE: null for standard input */
    ByteInput input;    /* closed where nothing is read from outside */
    char *block;        /* TEXT of a file: the reader's window */
    size_t block_size;
    ValueReader reader; /* TEXT; its `problem` is that of every kind */
    ElementsReader elements;
    bool is_opened;     /* TEXT: the opening bracket was read */
    ColumnReader *rows; /* ROWS */
    Arena arena;        /* of the columns */
    Columns *columns;   /* HELD: all rows; ROWS: those of the whole value, or the next one. Null until it is needed */
    Columns *cells;     /* for scalars on their way to cells of the caller. Null until it is needed */
    void *kept;         /* HELD: what became of the columns; null if nothing has yet */
    LetGo *let_go;
    size_t next;        /* VALUE, HELD: of the elements */
    Value value;
};

/* ---- failures ---- */

static void fail(ValueSource *source, ErrorCode error)
{
    source->is_ended = source->has_failed = true;
    source->error = error;
}

static bool is_stopped(const ValueSource *source)
{
    return source->input.is_open && stop_reason(source->input.stop) != STOP_NOT;
}

/* Frees the failure. */
static void fail_as(ValueSource *source, Failure *failure)
{
    fail(source, failure->code);
    snprintf(source->reader.problem, VALUE_PROBLEM_SIZE, "%s", text_string(&failure->text));
    failure_free(failure);
}

static void fail_stopped(ValueSource *source, const StopFlag *stop)
{
    Failure failure;
    failure_init(&failure, source->reader.memory);
    failure_stopped(&failure, stop);
    fail_as(source, &failure);
}

static void fail_memory(ValueSource *source)
{
    Failure failure;
    failure_init(&failure, source->reader.memory);
    failure_memory(&failure, source->options.memory_limit);
    fail_as(source, &failure);
}

/* The reason is the outside world's. */
static void fail_input(ValueSource *source)
{
    fail(source, ERROR_IO_FAILURE);
    snprintf(source->reader.problem, VALUE_PROBLEM_SIZE, "%s: cannot be read: %s", source->of.what, source->input.reason);
}

/* There may be more than could be read. */
static bool is_cut(const ValueSource *source)
{
    return is_stopped(source) || source->input.reason != NULL;
}

/* A text given in place of a file that is meant to be read, perhaps. */
static void suggest_file(ValueSource *source)
{
    ValueReader *reader = &source->reader;
    if (reader->more != NULL || reader->length == 0 || reader->length >= VALUE_PROBLEM_SIZE / 2)
        return;
    const char *path = arena_text(&source->arena, reader->text, reader->length);
    bool is_input = strcmp(path, "-") == 0;
    size_t used = strlen(reader->problem);
    if (is_input || access(path, F_OK) == 0)
        snprintf(reader->problem + used, VALUE_PROBLEM_SIZE - used, "; @%s reads %s", path, is_input ? "standard input" : "the file");
}

/* What was read is not what it should be, or could not be read. */
static void fail_reading(ValueSource *source)
{
    if (is_stopped(source)) {
        fail_stopped(source, source->input.stop);
    } else if (source->input.reason != NULL) {
        fail_input(source);
    } else {
        fail(source, ERROR_BAD_VALUE);
        suggest_file(source);
    }
}

/* A reader of rows has no more of them: the end, or a failure. */
static void note_failure(ValueSource *source)
{
    if (source->kind != SOURCE_ROWS || source->has_failed || !(source->rows->has_failed || is_cut(source)))
        return;
    if (column_reader_is_over_limit(source->rows)) {
        fail_memory(source);
        return;
    }
    memcpy(source->reader.problem, source->rows->problem, VALUE_PROBLEM_SIZE);
    fail_reading(source);
}

bool value_source_has_failed(const ValueSource *source)
{
    return source->has_failed;
}

ErrorCode value_source_error(const ValueSource *source)
{
    return source->error;
}

const char *value_source_problem(const ValueSource *source)
{
    return source->reader.problem;
}

/* ---- the window of a file's text ---- */

static bool read_more(void *context)
{
    ValueSource *source = context;
    ValueReader *reader = &source->reader;
    Memory *memory = reader->memory;
    if (reader->length == source->block_size) {
        size_t size = source->block_size == 0 ? BLOCK_SIZE : source->block_size * 2;
        source->block = memory_resize(memory, source->block, source->block_size, size);
        source->block_size = size;
        reader->text = source->block;
    }
    size_t count = byte_input_read(&source->input, source->block + reader->length, source->block_size - reader->length);
    reader->length += count;
    return count > 0;
}

/* Between elements: what was read is dropped, before the window would grow. */
static void drop_read(ValueSource *source)
{
    ValueReader *reader = &source->reader;
    if (reader->more == NULL || reader->at <= reader->length / 2)
        return;
    memmove(source->block, source->block + reader->at, reader->length - reader->at);
    reader->base += reader->at;
    reader->length -= reader->at;
    reader->at = 0;
}

/* ---- making ---- */

static ValueSource *new_source(ValueSourceOf of, SourceKind kind)
{
    ValueSource *source = memory_alloc(of.heap->memory, sizeof *source);
    source->of = of;
    source->kind = kind;
    arena_init(&source->arena, of.heap->memory);
    source->reader =
        (ValueReader){.memory = of.heap->memory, .heap = of.heap, .types = of.types, .text = "", .what = of.what};
    return source;
}

ValueSource *value_source_from_text(ValueSourceOf of, const char *text, size_t length)
{
    ValueSource *source = new_source(of, SOURCE_TEXT);
    source->reader.text = text;
    source->reader.length = length;
    return source;
}

ValueSource *value_source_from_value(ValueSourceOf of, Value value)
{
    ValueSource *source = new_source(of, SOURCE_VALUE);
    source->value = value;
    return source;
}

TypeId value_source_element_type(const ValueSource *source)
{
    return type_element(source->of.types, source->of.type);
}

static ColumnReader reader_of(ValueSource *source)
{
    return (ColumnReader){.memory = source->of.heap->memory,
                          .types = source->of.types,
                          .type = source->of.type,
                          .what = source->of.what,
                          .input = &source->input,
                          .memory_limit = source->options.memory_limit};
}

static void set_format(ValueSource *source, FileFormat format)
{
    switch (format.kind) {
    case FORMAT_NONE:
    case FORMAT_TEXT: source->kind = SOURCE_TEXT; return;
    case FORMAT_RAW: source->rows = raw_reader_new(reader_of(source), (FileScalar){.type = format.scalar}); break;
    case FORMAT_NPY: source->rows = npy_reader_new(reader_of(source)); break;
    case FORMAT_CSV:
    case FORMAT_TSV:
    case FORMAT_LINES: source->rows = table_reader_new(reader_of(source), format.kind, &source->options.table); break;
    }
    source->kind = SOURCE_ROWS;
}

static Compression compression_of_bytes(ByteInput *input)
{
    for (Compression kind = COMPRESSION_NONE + 1; kind < COMPRESSION_COUNT; kind++) {
        CompressionMagic magic = compression_magic(kind);
        if (byte_input_starts_with(input, magic.bytes, magic.size))
            return kind;
    }
    return COMPRESSION_NONE;
}

/* By its first bytes; scalars as bytes may begin like anything, so that they are looked at only if the name of the file says that it is compressed somehow. */
static void decode(ValueSource *source, Compression of_path)
{
    bool may_look = of_path != COMPRESSION_NONE || source->options.otherwise.kind != FORMAT_RAW;
    Compression found = may_look ? compression_of_bytes(&source->input) : COMPRESSION_NONE;
    if (of_path != COMPRESSION_NONE && found == COMPRESSION_NONE && !is_cut(source))
        byte_input_refuse(&source->input, arena_format(&source->arena, "by its name it is %s data, but %s", compression_name(of_path),
                                                       source->input.head_count == 0 ? "it is empty" : "it does not begin as such"));
    byte_input_decode(&source->input, found);
}

/* A .npy file that is not there may be several others. */
static void find_npy_set(ValueSource *source, size_t length)
{
    source->rows = npy_set_reader_new(reader_of(source));
    if (!npy_set_reader_find(source->rows, arena_text(&source->arena, source->path, length - strlen(".npy")))) {
        fail_input(source);
        return;
    }
    source->input.reason = NULL;
    source->kind = SOURCE_ROWS;
}

/* Finds out what a file holds, as late as can be: nothing is waited for before it is wanted. */
static void settle(ValueSource *source)
{
    if (source->kind != SOURCE_FILE || source->has_failed)
        return;
    size_t length = 0;
    Compression compression = source->path == NULL ? COMPRESSION_NONE : compression_of_path(source->path, &length);
    FileFormat format = source->path == NULL ? (FileFormat){0} : file_format_of_path(source->path, length);
    if (!source->input.is_open && format.kind == FORMAT_NPY)
        find_npy_set(source, length);
    else if (!source->input.is_open)
        fail_input(source);
    if (source->kind != SOURCE_FILE || source->has_failed)
        return;
    decode(source, compression);
    if (format.kind == FORMAT_NONE)
        format = byte_input_starts_with(&source->input, npy_magic, NPY_MAGIC_SIZE) ? (FileFormat){.kind = FORMAT_NPY}
                                                                                   : source->options.otherwise;
    set_format(source, format);
}

ValueSource *value_source_from_file(ValueSourceOf of, const char *path, const FileOptions *options)
{
    ValueSource *source = new_source(of, SOURCE_FILE);
    source->options = *options;
    source->path = path;
    source->reader.more = read_more;
    source->reader.context = source;
    byte_input_open(&source->input, path, of.heap->memory, options->stop);
    return source;
}

static void close_input(ValueSource *source)
{
    byte_input_close(&source->input);
    memory_free(source->reader.memory, source->block, source->block_size);
    source->block = NULL;
    source->block_size = 0;
}

void value_source_free(ValueSource *source)
{
    if (source == NULL)
        return;
    Memory *memory = source->reader.memory;
    close_input(source);
    if (source->rows != NULL)
        source->rows->kind->free(source->rows);
    columns_free(source->columns);
    columns_free(source->cells);
    if (source->kept != NULL)
        source->let_go(memory, source->kept);
    arena_free(&source->arena);
    if (source->kind == SOURCE_VALUE)
        value_release(source->of.heap, source->of.types, source->of.type, source->value);
    memory_free(memory, source, sizeof *source);
}

/* ---- elements of a text ---- */

/* Opens and closes the container on the way. */
static ElementStatus next_in_text(ValueSource *source, Value *value)
{
    ValueReader *reader = &source->reader;
    if (!source->is_opened && !elements_open(reader, &source->elements, source->of.type))
        return ELEMENT_FAILED;
    source->is_opened = true;
    ElementStatus status = elements_next(reader, &source->elements, value);
    if (status == ELEMENT_NONE && !reader_end(reader))
        return ELEMENT_FAILED;
    drop_read(source);
    return status;
}

static bool read_element(ValueSource *source, Value *value)
{
    ElementStatus status = next_in_text(source, value);
    if (status == ELEMENT_READ)
        return true;
    source->is_ended = true;
    if (status == ELEMENT_FAILED || is_cut(source))
        fail_reading(source);
    return false;
}

/* An element is whole if another one begins behind it. */
bool value_source_is_at_hand(const ValueSource *source)
{
    const ValueReader *reader = &source->reader;
    if (source->kind == SOURCE_ROWS || source->kind == SOURCE_FILE)
        return false;
    if (source->kind != SOURCE_TEXT || reader->more == NULL || source->elements.phase == ELEMENTS_RANGE)
        return true;
    if (reader->at >= reader->length)
        return false;
    size_t rest = reader->length - reader->at;
    if (source->elements.phase == ELEMENTS_TEXT)
        return rest > 8; /* longer than any escape */
    return memchr(reader->text + reader->at + 1, ',', rest - 1) != NULL;
}

/* ---- rows ---- */

static TypeId row_type(const ValueSource *source)
{
    bool has_rows = type_kind(source->of.types, source->of.type) == TYPE_CONTAINER;
    return has_rows ? value_source_element_type(source) : source->of.type;
}

static Columns *row_columns(ValueSource *source, Columns **columns)
{
    if (*columns == NULL)
        *columns = columns_new(&source->arena, source->of.types, row_type(source));
    return *columns;
}

static size_t read_rows(ValueSource *source, Columns *rows, size_t most)
{
    size_t count = source->rows->kind->read(source->rows, rows, most);
    bool is_streamed = type_is_sequence(source->of.types, source->of.type); /* then the engine looks after its memory */
    if (count > 0 && (is_streamed || !column_reader_is_over_limit(source->rows)))
        return count;
    if (count > 0)
        fail_memory(source);
    source->is_ended = true;
    note_failure(source);
    return 0;
}

static size_t give_rows(ValueSource *source, Columns *rows, size_t most)
{
    size_t count = least(most, source->columns->count - source->next);
    columns_append(rows, source->columns, source->next, count);
    source->next += count;
    source->is_ended = count == 0;
    return count;
}

bool value_source_has_columns(ValueSource *source)
{
    settle(source);
    return source->kind == SOURCE_ROWS || source->kind == SOURCE_HELD;
}

size_t value_source_read_columns(ValueSource *source, Columns *rows, size_t most)
{
    if (source->is_ended || most == 0)
        return 0;
    return source->kind == SOURCE_HELD ? give_rows(source, rows, most) : read_rows(source, rows, most);
}

/* ---- scalars ---- */

static size_t read_scalars_of_rows(ValueSource *source, void *cells, size_t count)
{
    Columns *rows = row_columns(source, &source->cells);
    columns_clear(rows);
    columns_borrow(rows, 0, cells, count);
    return value_source_read_columns(source, rows, count);
}

static size_t read_scalars_of_text(ValueSource *source, void *cells, size_t count)
{
    ScalarType type = type_scalar(source->of.types, value_source_element_type(source));
    size_t read = 0;
    Value value;
    while (read < count && (read == 0 || value_source_is_at_hand(source)) && read_element(source, &value))
        scalar_store(type, cells, read++, value.scalar);
    return read;
}

static size_t give_scalars(ValueSource *source, void *cells, size_t count)
{
    ScalarType type = type_scalar(source->of.types, value_source_element_type(source));
    const Object *object = source->value.object;
    size_t given = 0;
    while (given < count && source->next < object->count)
        scalar_store(type, cells, given++, object->items[source->next++].scalar);
    source->is_ended = given == 0;
    return given;
}

size_t value_source_read_scalars(ValueSource *source, void *cells, size_t count)
{
    settle(source);
    if (source->is_ended || count == 0)
        return 0;
    switch (source->kind) {
    case SOURCE_TEXT: return read_scalars_of_text(source, cells, count);
    case SOURCE_VALUE: return give_scalars(source, cells, count);
    case SOURCE_ROWS:
    case SOURCE_HELD: return read_scalars_of_rows(source, cells, count);
    case SOURCE_FILE: break;
    }
    return 0;
}

/* ---- values ---- */

static bool next_object(ValueSource *source, Value *value)
{
    Object *object = source->value.object;
    if (source->next == object->count)
        return false;
    *value = value_share(source->of.types, value_source_element_type(source), object->items[source->next++]);
    return true;
}

bool value_source_next(ValueSource *source, Value *value)
{
    settle(source);
    if (source->is_ended)
        return false;
    return source->kind == SOURCE_VALUE ? next_object(source, value) : read_element(source, value);
}

static void read_elements(ValueSource *source, Value *value)
{
    ValueSourceOf of = source->of;
    Object *container = value_container(of.heap, of.types, of.type, 0);
    Value element;
    while (value_source_next(source, &element))
        container = value_append(of.heap, container, element);
    *value = (Value){.object = container};
    if (source->has_failed)
        value_release(of.heap, of.types, of.type, *value);
}

/* All rows, which stay the source's. */
static Columns *read_all_rows(ValueSource *source)
{
    Columns *rows = row_columns(source, &source->columns);
    while (source->kind == SOURCE_ROWS && value_source_read_columns(source, rows, SIZE_MAX) > 0)
        continue;
    return source->has_failed ? NULL : rows;
}

Columns *value_source_whole_columns(ValueSource *source)
{
    return source->kind == SOURCE_HELD ? source->columns : read_all_rows(source);
}

static void read_columns(ValueSource *source, Value *value)
{
    ValueSourceOf of = source->of;
    const Columns *rows = read_all_rows(source);
    if (rows == NULL)
        return;
    if (type_kind(of.types, of.type) != TYPE_CONTAINER) {
        *value = columns_value(of.heap, rows, 0);
        return;
    }
    Object *container = value_container(of.heap, of.types, of.type, rows->count);
    for (size_t i = 0; i < rows->count; i++)
        container = value_append(of.heap, container, columns_value(of.heap, rows, i));
    *value = (Value){.object = container};
}

/* The text is one value. */
static void read_text(ValueSource *source, Value *value)
{
    bool is_read = reader_value(&source->reader, source->of.type, value);
    source->is_ended = true;
    if (is_read && reader_end(&source->reader) && !is_cut(source))
        return;
    fail_reading(source);
    if (is_read)
        value_release(source->of.heap, source->of.types, source->of.type, *value);
}

bool value_source_read_whole(ValueSource *source, Value *value)
{
    bool has_columns = value_source_has_columns(source);
    if (source->has_failed)
        return false;
    if (has_columns)
        read_columns(source, value);
    else if (source->kind == SOURCE_VALUE)
        *value = value_share(source->of.types, source->of.type, source->value);
    else if (type_kind(source->of.types, source->of.type) == TYPE_CONTAINER)
        read_elements(source, value);
    else
        read_text(source, value);
    return !source->has_failed;
}

/* ---- holding ---- */

/* Rows are held as columns, and so are scalars, so that giving them again costs next to nothing. */
static bool is_held_as_columns(ValueSource *source)
{
    return value_source_has_columns(source) || (type_is_sequence(source->of.types, source->of.type) &&
                                                type_is_scalar(source->of.types, value_source_element_type(source)));
}

/* Appends some rows; 0 if there are none left. */
static size_t hold_some(ValueSource *source, Columns *rows)
{
    enum { AT_ONCE = 1 << 14 };
    if (source->kind == SOURCE_ROWS)
        return value_source_read_columns(source, rows, SIZE_MAX);
    size_t count = value_source_read_scalars(source, columns_room(rows, 0, AT_ONCE), AT_ONCE);
    rows->count += count;
    return count;
}

static void hold_columns(ValueSource *source, const StopFlag *stop)
{
    Columns *rows = row_columns(source, &source->columns);
    while (hold_some(source, rows) > 0 && stop_reason(stop) == STOP_NOT)
        continue;
    if (!source->has_failed && stop_reason(stop) != STOP_NOT)
        fail_stopped(source, stop);
    if (!source->has_failed)
        source->kind = SOURCE_HELD;
}

static void hold_value(ValueSource *source)
{
    if (value_source_read_whole(source, &source->value))
        source->kind = SOURCE_VALUE;
}

bool value_source_hold(ValueSource *source, const StopFlag *stop)
{
    if (source->has_failed || source->kind == SOURCE_VALUE || source->kind == SOURCE_HELD)
        return !source->has_failed;
    if (is_held_as_columns(source))
        hold_columns(source, stop);
    else
        hold_value(source);
    close_input(source);
    if (!source->has_failed)
        value_source_rewind(source);
    return !source->has_failed;
}

bool value_source_is_held(const ValueSource *source)
{
    return source->kind == SOURCE_HELD;
}

void value_source_keep(ValueSource *source, void *made, LetGo *let_go)
{
    source->kept = made;
    source->let_go = let_go;
}

void *value_source_kept(const ValueSource *source)
{
    return source->kept;
}

void value_source_rewind(ValueSource *source)
{
    source->next = 0;
    source->is_ended = false;
}
