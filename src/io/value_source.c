#include "io/value_source.h"

#include "io/byte_input.h"
#include "io/failure.h"
#include "io/value_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_SIZE = 1 << 16, SCALAR_SIZE_MAX = 8 };

typedef enum SourceKind { SOURCE_TEXT, SOURCE_RAW, SOURCE_VALUE, SOURCE_CELLS } SourceKind;

struct ValueSource {
    ValueSourceOf of;
    SourceKind kind;
    bool is_ended; /* nothing more will be given: the end, or a failure */
    bool has_failed;
    ErrorCode error;
    ByteInput input;    /* closed where nothing is read from outside */
    char *block;        /* TEXT of a file: the reader's window */
    size_t block_size;
    ValueReader reader; /* TEXT; its `problem` is that of every kind */
    ElementsReader elements;
    bool is_opened;     /* TEXT: the opening bracket was read */
    ScalarType scalar;  /* RAW, CELLS */
    uint64_t position;  /* RAW: bytes read */
    size_t partial;     /* RAW: bytes of an element whose end has not come */
    unsigned char part[SCALAR_SIZE_MAX];
    size_t next;        /* VALUE, CELLS: of the elements */
    Value value;
    void *cells;        /* CELLS: scalars that are held */
    size_t cell_bytes;  /* ... the room for them */
    size_t cell_count;
};

/* ---- formats ---- */

bool value_file_format_named(const char *name, ValueFileFormat *format)
{
    static const struct {
        const char *name;
        ScalarType scalar;
    } others[] = {{"i64", SCALAR_I64}, {"f64", SCALAR_F64}, {"real", SCALAR_F64}};
    *format = (ValueFileFormat){.is_raw = strcmp(name, "text") != 0};
    if (!format->is_raw)
        return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i].name) == 0) {
            format->scalar = others[i].scalar;
            return true;
        }
    for (ScalarType scalar = 0; scalar < SCALAR_COUNT; scalar++)
        if (strcmp(name, scalar_name(scalar)) == 0) {
            format->scalar = scalar;
            return true;
        }
    return false;
}

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

static void fail_stopped(ValueSource *source, const StopFlag *stop)
{
    Failure failure;
    failure_init(&failure, source->reader.memory);
    failure_stopped(&failure, stop);
    fail(source, failure.code);
    snprintf(source->reader.problem, VALUE_PROBLEM_SIZE, "%s", text_string(&failure.text));
    failure_free(&failure);
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

/* What was read is not what it should be, or could not be read. */
static void fail_reading(ValueSource *source)
{
    if (is_stopped(source))
        fail_stopped(source, source->input.stop);
    else if (source->input.reason != NULL)
        fail_input(source);
    else
        fail(source, ERROR_BAD_VALUE);
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

static bool holds_scalars(const ValueSourceOf *of, ScalarType scalar)
{
    if (type_kind(of->types, of->type) != TYPE_CONTAINER)
        return false;
    TypeId element = type_element(of->types, of->type);
    return type_is_scalar(of->types, element) && type_scalar(of->types, element) == scalar;
}

ValueSource *value_source_from_file(ValueSourceOf of, const char *path, ValueFileFormat format,
                                    const StopFlag *stop)
{
    ValueSource *source = new_source(of, format.is_raw ? SOURCE_RAW : SOURCE_TEXT);
    source->scalar = format.scalar;
    source->reader.more = read_more;
    source->reader.context = source;
    if (format.is_raw && !holds_scalars(&of, format.scalar)) {
        const char *name = scalar_name(format.scalar);
        fail(source, ERROR_BAD_VALUE);
        snprintf(source->reader.problem, VALUE_PROBLEM_SIZE, "%s: a file of %s can only be given as [%s] or {%s}", of.what,
                 name, name, name);
    } else if (!byte_input_open(&source->input, path, of.heap->memory, stop))
        fail_input(source);
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
    memory_free(memory, source->cells, source->cell_bytes);
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
    if (source->kind == SOURCE_RAW)
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

/* ---- scalars ---- */

static void *cell_at(void *cells, ScalarType type, size_t i)
{
    return (char *)cells + i * scalar_size(type);
}

/* Bytes that are no bool of ours are true. */
static void normalise(ScalarType type, void *cells, size_t count)
{
    unsigned char *bytes = cells;
    for (size_t i = 0; type == SCALAR_BOOL && i < count; i++)
        bytes[i] = bytes[i] != 0;
}

static void end_raw(ValueSource *source)
{
    source->is_ended = true;
    if (is_cut(source)) {
        fail_reading(source);
    } else if (source->partial > 0) {
        fail(source, ERROR_BAD_VALUE);
        snprintf(source->reader.problem, VALUE_PROBLEM_SIZE,
                 "%s: expected the %zu bytes of %s at byte %" PRIu64 ", found the end after %zu", source->of.what,
                 scalar_size(source->scalar), scalar_name(source->scalar), source->position - source->partial,
                 source->partial);
    }
}

/* What is read goes to the cells at once; an element whose end has not come is kept aside. */
static size_t read_raw(ValueSource *source, void *cells, size_t count)
{
    size_t size = scalar_size(source->scalar), whole = 0;
    while (whole == 0) {
        memcpy(cells, source->part, source->partial);
        size_t bytes = byte_input_read(&source->input, (char *)cells + source->partial, count * size - source->partial);
        if (bytes == 0) {
            end_raw(source);
            return 0;
        }
        source->position += bytes;
        bytes += source->partial;
        whole = bytes / size;
        source->partial = bytes % size;
        memcpy(source->part, cell_at(cells, source->scalar, whole), source->partial);
    }
    normalise(source->scalar, cells, whole);
    return whole;
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

static size_t give_cells(ValueSource *source, void *cells, size_t count)
{
    size_t left = source->cell_count - source->next, given = count < left ? count : left;
    memcpy(cells, cell_at(source->cells, source->scalar, source->next), given * scalar_size(source->scalar));
    source->next += given;
    source->is_ended = given == 0;
    return given;
}

size_t value_source_read_scalars(ValueSource *source, void *cells, size_t count)
{
    if (source->is_ended || count == 0)
        return 0;
    switch (source->kind) {
    case SOURCE_TEXT: return read_scalars_of_text(source, cells, count);
    case SOURCE_RAW: return read_raw(source, cells, count);
    case SOURCE_VALUE: return give_scalars(source, cells, count);
    case SOURCE_CELLS: return give_cells(source, cells, count);
    }
    return 0;
}

/* ---- values ---- */

static bool next_scalar(ValueSource *source, Value *value)
{
    uint64_t cell;
    if (value_source_read_scalars(source, &cell, 1) == 0)
        return false;
    value->scalar = scalar_load(source->scalar, &cell, 0);
    return true;
}

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
    if (source->is_ended)
        return false;
    switch (source->kind) {
    case SOURCE_TEXT: return read_element(source, value);
    case SOURCE_RAW:
    case SOURCE_CELLS: return next_scalar(source, value);
    case SOURCE_VALUE: return next_object(source, value);
    }
    return false;
}

/* Appends some elements; false if there are none left. */
static bool append_some(ValueSource *source, Object **container)
{
    enum { CELLS = 1024 };
    uint64_t cells[CELLS];
    Value value;
    if (source->kind != SOURCE_RAW && source->kind != SOURCE_CELLS) {
        if (!value_source_next(source, &value))
            return false;
        *container = value_append(source->of.heap, *container, value);
        return true;
    }
    size_t count = value_source_read_scalars(source, cells, CELLS);
    for (size_t i = 0; i < count; i++) {
        value.scalar = scalar_load(source->scalar, cells, i);
        *container = value_append(source->of.heap, *container, value);
    }
    return count > 0;
}

static void read_elements(ValueSource *source, Value *value)
{
    ValueSourceOf of = source->of;
    Object *container = value_container(of.heap, of.types, of.type, 0);
    while (append_some(source, &container))
        continue;
    *value = (Value){.object = container};
    if (source->has_failed)
        value_release(of.heap, of.types, of.type, *value);
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
    if (source->has_failed)
        return false;
    if (source->kind == SOURCE_VALUE)
        *value = value_share(source->of.types, source->of.type, source->value);
    else if (type_kind(source->of.types, source->of.type) == TYPE_CONTAINER)
        read_elements(source, value);
    else
        read_text(source, value);
    return !source->has_failed;
}

/* ---- holding ---- */

/* Scalars are held as cells, so that giving them again costs next to nothing. */
static bool is_held_as_cells(const ValueSource *source)
{
    return type_is_sequence(source->of.types, source->of.type) &&
           type_is_scalar(source->of.types, value_source_element_type(source));
}

static void make_room(ValueSource *source, size_t bytes)
{
    if (bytes <= source->cell_bytes)
        return;
    size_t larger = bytes > source->cell_bytes * 2 ? bytes : source->cell_bytes * 2;
    source->cells = memory_resize(source->reader.memory, source->cells, source->cell_bytes, larger);
    source->cell_bytes = larger;
}

static void hold_cells(ValueSource *source, const StopFlag *stop)
{
    enum { AT_ONCE = 1 << 14 };
    ScalarType scalar = type_scalar(source->of.types, value_source_element_type(source));
    size_t count;
    do {
        make_room(source, (source->cell_count + AT_ONCE) * scalar_size(scalar));
        count = value_source_read_scalars(source, cell_at(source->cells, scalar, source->cell_count), AT_ONCE);
        source->cell_count += count;
    } while (count > 0 && stop_reason(stop) == STOP_NOT);
    if (!source->has_failed && stop_reason(stop) != STOP_NOT)
        fail_stopped(source, stop);
    if (source->has_failed)
        return;
    source->kind = SOURCE_CELLS;
    source->scalar = scalar;
}

static void hold_value(ValueSource *source)
{
    if (value_source_read_whole(source, &source->value))
        source->kind = SOURCE_VALUE;
}

bool value_source_hold(ValueSource *source, const StopFlag *stop)
{
    if (source->has_failed || source->kind == SOURCE_VALUE || source->kind == SOURCE_CELLS)
        return !source->has_failed;
    if (is_held_as_cells(source))
        hold_cells(source, stop);
    else
        hold_value(source);
    close_input(source);
    if (!source->has_failed)
        value_source_rewind(source);
    return !source->has_failed;
}

void value_source_rewind(ValueSource *source)
{
    source->next = 0;
    source->is_ended = false;
}
