/* Arrays of scalars, with a header (.npy) or without (raw): read in bulk, straight to where they are wanted if they are what is wanted. */
#include "base/least.h"
#include "io/column_reader.h"
#include "io/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes read at once: where they are wanted; to be converted or put elsewhere, which is best done in the cache; of rows for which the file is read
 * in many places. */
enum { BULK_BYTES = 8 << 20, CONVERTED_BYTES = 1 << 18, SCATTERED_BYTES = 4 << 20 };

typedef struct ArrayReader {
    ColumnReader common;
    bool is_npy;
    bool is_begun;      /* what there is to know before the first row is known */
    NpyHeader header;   /* raw: the scalar only */
    uint32_t depth;     /* vectors around the scalars of a row */
    uint32_t leaf_count; /* scalars next to each other that are one element of those: the components of a tuple */
    const uint64_t *lengths; /* of those vectors */
    uint64_t row_elements; /* scalars of a row */
    uint64_t rows_left; /* UINT64_MAX: all that come */
    uint64_t row;       /* of the next one */
    uint64_t start;     /* byte of the first scalar */
    uint64_t position;  /* bytes read */
    bool is_size_known; /* the file is as long as its header says */
    char *part;         /* bytes of a row whose end has not come */
    size_t partial, part_size;
    char *scratch;
    size_t scratch_size;
    char *gathered; /* the scalars of one component */
    size_t gathered_size;
} ArrayReader;

/* ---- memory ---- */

static void grow(Memory *memory, char **bytes, size_t *size, size_t wanted)
{
    if (wanted <= *size)
        return;
    *bytes = memory_resize(memory, *bytes, *size, wanted);
    *size = wanted;
}

static void free_array(ColumnReader *common)
{
    ArrayReader *reader = (ArrayReader *)common;
    Memory *memory = common->memory;
    memory_free(memory, reader->part, reader->part_size);
    memory_free(memory, reader->scratch, reader->scratch_size);
    memory_free(memory, reader->gathered, reader->gathered_size);
    memory_free(memory, reader, sizeof *reader);
}

static size_t scalar_bytes(const ArrayReader *reader)
{
    return file_scalar_size(reader->header.scalar);
}

static uint64_t row_bytes(const ArrayReader *reader)
{
    return reader->row_elements * scalar_bytes(reader);
}

/* ---- failures ---- */

static size_t fail_wrong_value(ArrayReader *reader, const void *cells, size_t i, uint64_t element, ScalarType to)
{
    char text[FILE_SCALAR_TEXT_SIZE];
    file_scalar_text(reader->header.scalar, cells, i, text);
    bool is_inexact = scalar_kind(to) == KIND_FLOATING && scalar_is_integer(reader->header.scalar.type);
    return column_reader_fail(&reader->common, "element %" PRIu64 ", at byte %" PRIu64 ", is %s, which is %s %s", element,
                              reader->start + element * scalar_bytes(reader), text,
                              is_inexact ? "not exactly a" : "out of range of", scalar_name(to));
}

/* The bytes end where there should be more. */
static size_t fail_truncated(ArrayReader *reader, uint64_t found)
{
    uint64_t count = 0;
    npy_count(&reader->header, &count);
    return column_reader_fail(&reader->common,
                              "its header says that %" PRIu64 " bytes of %s follow from byte %" PRIu64
                              " on, but it ends after %" PRIu64,
                              count * scalar_bytes(reader), file_scalar_name(reader->header.scalar), reader->start, found);
}

/* Nothing was read: the end, or a failure. */
static size_t end_reading(ArrayReader *reader)
{
    if (byte_input_is_cut(reader->common.input))
        return 0;
    bool has_more = reader->rows_left != UINT64_MAX && reader->rows_left > 0;
    if (has_more && reader->is_npy)
        return fail_truncated(reader, reader->position - reader->start);
    if (has_more || reader->partial > 0)
        return column_reader_fail(&reader->common,
                                  "expected the %" PRIu64 " bytes of %s at byte %" PRIu64 ", found the end after %zu",
                                  row_bytes(reader), file_scalar_name(reader->header.scalar),
                                  reader->position - reader->partial, reader->partial);
    return 0;
}

/* All rows are read: nothing may follow. */
static size_t end_rows(ArrayReader *reader)
{
    char byte;
    if (byte_input_read(reader->common.input, &byte, 1) > 0)
        return column_reader_fail(&reader->common, "expected the end at byte %" PRIu64 ", %s, found more bytes", reader->position,
                                  reader->is_npy ? "as its header says" : "after one value");
    return 0;
}

/* ---- shapes ---- */

static size_t fail_shape(ArrayReader *reader)
{
    static const char deepest[] = "[[[[";
    const NpyHeader *header = &reader->header;
    const char *name = file_scalar_name(header->scalar);
    uint32_t depth = header->dimension_count;
    char shape[NPY_SHAPE_SIZE];
    column_reader_fail(&reader->common, "holds %s in the shape %s, but the parameter is %s%s", name, npy_shape(header, shape),
                       type_text(reader->common.types, reader->common.type),
                       depth >= sizeof deepest
                           ? ""
                           : (const char *[]){"; a single value can take it", "; a vector or sequence of numbers can take it",
                                              "; a vector or sequence of vectors of numbers can take it",
                                              "; a vector of vectors of vectors can take it",
                                              "; vectors nested four deep can take it"}[depth]);
    return 0;
}

static size_t fail_type(ArrayReader *reader)
{
    return column_reader_fail(&reader->common, "holds %s, which cannot be read as %s",
                              file_scalar_name(reader->header.scalar),
                              type_text(reader->common.types, reader->common.type));
}

/* How many scalars a type is if it is nothing else; 0 otherwise. *fits if each can be read. */
static uint32_t count_scalars(Types *types, TypeId type, FileScalar scalar, bool *fits)
{
    uint32_t count = 0;
    type = type_underlying(types, type);
    for (; type_kind(types, type) == TYPE_PAIR; type = type_underlying(types, type_rest(types, type))) {
        uint32_t first = count_scalars(types, type_first(types, type), scalar, fits);
        if (first == 0)
            return 0;
        count += first;
    }
    if (!type_is_scalar(types, type))
        return 0;
    *fits = *fits && file_scalar_fits(scalar, type_scalar(types, type));
    return count + 1;
}

/* The vectors around the scalars of the parameter must be the dimensions; the components of a tuple are one more. */
static bool check_shape(ArrayReader *reader)
{
    const NpyHeader *header = &reader->header;
    Types *types = reader->common.types;
    TypeId type = reader->common.type;
    uint32_t depth = 0;
    bool fits = true;
    for (; type_kind(types, type) == TYPE_CONTAINER; type = type_element(types, type))
        depth++;
    reader->leaf_count = count_scalars(types, type, header->scalar, &fits);
    uint32_t wanted = depth + (reader->leaf_count > 1);
    if (reader->leaf_count == 0 || wanted != header->dimension_count ||
        (reader->leaf_count > 1 && header->dimensions[depth] != reader->leaf_count)) {
        fail_shape(reader);
        return false;
    }
    if (!fits) {
        fail_type(reader);
        return false;
    }
    bool has_rows = column_reader_has_rows(&reader->common);
    reader->depth = depth - has_rows;
    reader->lengths = header->dimensions + has_rows;
    return true;
}

/* ---- beginning ---- */

static bool check_size(ArrayReader *reader, uint64_t count)
{
    uint64_t size = byte_input_file_size(reader->common.input), wanted = count * scalar_bytes(reader);
    reader->is_size_known = size != UINT64_MAX;
    if (!reader->is_size_known)
        return true;
    if (size - reader->start < wanted)
        fail_truncated(reader, size - reader->start);
    else if (size - reader->start > wanted)
        column_reader_fail(&reader->common, "expected the end at byte %" PRIu64 ", as its header says, but it has %" PRIu64 " bytes",
                           reader->start + wanted, size);
    return !reader->common.has_failed;
}

static bool check_fortran(ArrayReader *reader)
{
    if (!reader->header.is_fortran || reader->header.dimension_count < 2)
        reader->header.is_fortran = false; /* the same in both orders */
    if (reader->header.is_fortran && !reader->is_size_known)
        column_reader_fail(&reader->common, "rows in Fortran order can only be read from an ordinary file, which must not be compressed: "
                                            "save it and give it as @PATH, or write it in C order");
    return !reader->common.has_failed;
}

/* The literal of the header, into the scratch; false after a failure. */
static bool read_literal(ArrayReader *reader, size_t *length)
{
    unsigned char before[NPY_MAGIC_SIZE + 6];
    ByteInput *input = reader->common.input;
    size_t wanted = NPY_MAGIC_SIZE + 4, count = byte_input_read_all(input, before, wanted);
    if (count == wanted && before[NPY_MAGIC_SIZE] > 1) {
        wanted += 2;
        count += byte_input_read_all(input, before + count, 2);
    }
    if (byte_input_is_cut(input))
        return false;
    size_t known = count < NPY_MAGIC_SIZE ? count : NPY_MAGIC_SIZE;
    if (memcmp(before, npy_magic, known) != 0 || count == 0)
        return column_reader_fail(&reader->common, "expected a .npy file, which begins with \\x93NUMPY, found %s",
                                  count == 0 ? "an empty one" : "something else"), false;
    if (count < wanted)
        return column_reader_fail(&reader->common, "expected the %zu bytes before the header of a .npy file, found the end after %zu", wanted, count), false;
    if (before[NPY_MAGIC_SIZE] < 1 || before[NPY_MAGIC_SIZE] > 3)
        return column_reader_fail(&reader->common, "is of version %d.%d of the .npy format; 1.0 to 3.0 are known",
                                  before[NPY_MAGIC_SIZE], before[NPY_MAGIC_SIZE + 1]), false;
    *length = 0;
    for (size_t i = wanted; i-- > NPY_MAGIC_SIZE + 2;)
        *length = *length << 8 | before[i];
    if (*length > NPY_HEADER_MAX)
        return column_reader_fail(&reader->common, "its header would be %zu bytes long; %d are the most", *length, NPY_HEADER_MAX), false;
    grow(reader->common.memory, &reader->scratch, &reader->scratch_size, *length);
    count = byte_input_read_all(input, reader->scratch, *length);
    if (count < *length && !byte_input_is_cut(input))
        column_reader_fail(&reader->common, "expected a header of %zu bytes at byte %zu, found the end after %zu", *length, wanted, count);
    reader->start = wanted + *length;
    return count == *length;
}

static bool begin_npy(ArrayReader *reader)
{
    size_t length;
    char problem[NPY_PROBLEM_SIZE];
    uint64_t count;
    if (!read_literal(reader, &length))
        return false;
    if (npy_read_header(reader->scratch, length, &reader->header, problem) != NULL)
        return column_reader_fail(&reader->common, "%s", problem), false;
    if (!check_shape(reader))
        return false;
    if (!npy_count(&reader->header, &count)) {
        char shape[NPY_SHAPE_SIZE];
        column_reader_fail(&reader->common, "its header says that its shape is %s: more than can be", npy_shape(&reader->header, shape));
        return false;
    }
    reader->rows_left = column_reader_has_rows(&reader->common) ? reader->header.dimensions[0] : 1;
    reader->row_elements = reader->leaf_count;
    for (uint32_t i = 0; i < reader->depth; i++)
        reader->row_elements *= reader->lengths[i];
    reader->position = reader->start;
    return check_size(reader, count) && check_fortran(reader);
}

/* Rows are scalars, or tuples of them; the only row without a container of them. */
static bool begin_raw(ArrayReader *reader)
{
    ColumnReader *common = &reader->common;
    const char *name = file_scalar_name(reader->header.scalar);
    bool fits = true;
    reader->leaf_count = count_scalars(common->types, column_reader_row_type(common), reader->header.scalar, &fits);
    reader->row_elements = reader->leaf_count;
    reader->rows_left = column_reader_has_rows(common) ? UINT64_MAX : 1;
    if (reader->leaf_count == 0)
        column_reader_fail(common, "a file of %s can only be given as [%s] or {%s}, or as tuples of such, or as one of them", name, name, name);
    else if (!fits)
        fail_type(reader);
    return !common->has_failed;
}

/* Whether the scalars are read where they are wanted. */
static bool is_in_place(const ArrayReader *reader, const Columns *scalars)
{
    return reader->leaf_count == 1 && file_scalar_is_in_place(reader->header.scalar, scalars->leaves[0].scalar);
}

static Columns *scalars_of(const ArrayReader *reader, Columns *rows)
{
    for (uint32_t i = 0; i < reader->depth; i++)
        rows = rows->leaves[0].elements;
    return rows;
}

/* What is held as a whole gets its room at once, if that many bytes are there, and is read in large pieces. */
static void begin_bulk(ArrayReader *reader, Columns *rows)
{
    const ColumnReader *common = &reader->common;
    if (type_is_sequence(common->types, common->type))
        return;
    common->input->is_in_bulk = true;
    Columns *scalars = scalars_of(reader, rows);
    uint64_t size = byte_input_file_size(common->input);
    uint64_t known = reader->is_npy ? reader->rows_left * reader->row_elements : size / scalar_bytes(reader);
    for (uint32_t i = 0; size != UINT64_MAX && i < scalars->leaf_count; i++)
        columns_room(scalars, i, (size_t)known / reader->leaf_count);
}

static bool begin(ArrayReader *reader, Columns *rows)
{
    if (reader->common.has_failed)
        return false;
    if (reader->is_begun)
        return true;
    reader->is_begun = true;
    if (!(reader->is_npy ? begin_npy(reader) : begin_raw(reader)))
        return false;
    begin_bulk(reader, rows);
    return true;
}

/* ---- rows ---- */

/* Adds to the columns around the scalars what these rows' vectors are; the scalars were counted before. */
static void add_rows(ArrayReader *reader, Columns *rows, size_t count)
{
    reader->row += count;
    if (reader->rows_left != UINT64_MAX)
        reader->rows_left -= count;
    Columns *level = rows;
    size_t vectors = count;
    for (uint32_t i = 0; i < reader->depth; i++) {
        int64_t *ends = columns_room(level, 0, vectors), end = (int64_t)columns_start(&level->leaves[0], level->count);
        for (size_t k = 0; k < vectors; k++)
            ends[k] = end += (int64_t)reader->lengths[i];
        level->count += vectors;
        vectors *= (size_t)reader->lengths[i];
        level = level->leaves[0].elements;
    }
}

/* Every `leaf_count`th scalar, from one on. */
static void gather(char *out, const char *cells, size_t size, size_t leaf_count, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * size, cells + i * leaf_count * size, size);
}

/* Appends elements whose scalars are next to each other; false after a failure. */
static bool append_elements(ArrayReader *reader, Columns *scalars, const char *cells, size_t count)
{
    FileScalar from = reader->header.scalar;
    size_t size = scalar_bytes(reader), leaves = reader->leaf_count;
    uint64_t first = reader->row * reader->row_elements;
    const char *source = cells;
    if (leaves > 1)
        grow(reader->common.memory, &reader->gathered, &reader->gathered_size, count * size);
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        ScalarType to = scalars->leaves[leaf].scalar;
        if (leaves > 1) {
            gather(reader->gathered, cells + leaf * size, size, leaves, count);
            source = reader->gathered;
        }
        size_t right = scalars_convert(from, source, to, columns_room(scalars, leaf, count), count);
        if (right < count)
            return fail_wrong_value(reader, source, right, first + right * leaves + leaf, to), false;
    }
    scalars->count += count;
    return true;
}

/* Appends rows whose bytes are there; gives how many. */
static size_t append_rows(ArrayReader *reader, Columns *rows, const char *bytes, size_t count)
{
    if (!append_elements(reader, scalars_of(reader, rows), bytes, count * reader->row_elements / reader->leaf_count))
        return 0;
    add_rows(reader, rows, count);
    return count;
}

/* ---- scalars as they come ---- */

/* A row longer than what is read at once: memory is taken as its bytes come. */
static size_t read_long_row(ArrayReader *reader, Columns *rows)
{
    uint64_t wanted = row_bytes(reader);
    while (reader->partial < wanted) {
        if (reader->partial == reader->part_size) {
            uint64_t size = reader->part_size < BULK_BYTES ? BULK_BYTES : (uint64_t)reader->part_size * 2;
            grow(reader->common.memory, &reader->part, &reader->part_size, size < wanted ? size : wanted);
        }
        size_t room = least(reader->part_size, wanted) - reader->partial;
        size_t count = byte_input_read(reader->common.input, reader->part + reader->partial, room);
        if (count == 0)
            return end_reading(reader);
        reader->position += count;
        reader->partial += count;
    }
    reader->partial = 0;
    return append_rows(reader, rows, reader->part, 1);
}

/* Where bytes for so many rows go. */
static char *landing(ArrayReader *reader, Columns *rows, size_t bytes)
{
    Columns *scalars = scalars_of(reader, rows);
    if (is_in_place(reader, scalars))
        return columns_room(scalars, 0, bytes / scalar_bytes(reader));
    grow(reader->common.memory, &reader->scratch, &reader->scratch_size, bytes);
    return reader->scratch;
}

/* What is read lands at once where it is wanted, if it can; a row whose end has not come is kept aside. */
static size_t read_rows(ArrayReader *reader, Columns *rows, size_t most)
{
    size_t size = (size_t)row_bytes(reader), whole = 0;
    char *bytes = landing(reader, rows, most * size);
    while (whole == 0) {
        if (reader->partial > 0)
            memcpy(bytes, reader->part, reader->partial);
        size_t count = byte_input_read(reader->common.input, bytes + reader->partial, most * size - reader->partial);
        if (count == 0)
            return end_reading(reader);
        reader->position += count;
        count += reader->partial;
        whole = count / size;
        reader->partial = count % size;
        grow(reader->common.memory, &reader->part, &reader->part_size, reader->partial);
        if (reader->partial > 0)
            memcpy(reader->part, bytes + whole * size, reader->partial);
    }
    return append_rows(reader, rows, bytes, whole);
}

/* ---- rows in Fortran order ---- */

/* Where scalar `index` of the first row, counted in C order, is in the file, counted in scalars. */
static uint64_t fortran_place(const NpyHeader *header, uint64_t index)
{
    uint64_t place = 0, steps[NPY_DIMENSIONS_MAX], step = header->dimensions[0];
    for (uint32_t i = 1; i < header->dimension_count; i++) {
        steps[i] = step;
        step *= header->dimensions[i];
    }
    for (uint32_t i = header->dimension_count; --i > 0; index /= header->dimensions[i])
        place += index % header->dimensions[i] * steps[i];
    return place;
}

static bool read_at(ArrayReader *reader, uint64_t place, char *bytes, size_t size)
{
    uint64_t position = reader->start + place * scalar_bytes(reader);
    for (size_t done = 0, count; done < size; done += count) {
        count = byte_input_read_at(reader->common.input, position + done, bytes + done, size - done);
        if (count == 0) {
            if (!byte_input_is_cut(reader->common.input))
                fail_truncated(reader, position + done - reader->start);
            return false;
        }
    }
    return true;
}

/* Puts the cells of one column of the file to where they are in rows. */
static void scatter(char *rows, size_t row_size, const char *cells, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * row_size, cells + i * size, size);
}

static size_t read_fortran(ArrayReader *reader, Columns *rows, size_t most)
{
    size_t size = scalar_bytes(reader), row_size = (size_t)row_bytes(reader);
    grow(reader->common.memory, &reader->part, &reader->part_size, most * size);
    grow(reader->common.memory, &reader->scratch, &reader->scratch_size, most * row_size);
    for (uint64_t i = 0; i < reader->row_elements; i++) {
        if (!read_at(reader, fortran_place(&reader->header, i) + reader->row, reader->part, most * size))
            return 0;
        scatter(reader->scratch + i * size, row_size, reader->part, size, most);
    }
    return append_rows(reader, rows, reader->scratch, most);
}

/* ---- reading ---- */

static size_t bytes_at_once(const ArrayReader *reader, Columns *rows)
{
    if (reader->header.is_fortran)
        return SCATTERED_BYTES;
    bool is_bulk = reader->common.input->is_in_bulk && is_in_place(reader, scalars_of(reader, rows));
    return is_bulk ? BULK_BYTES : CONVERTED_BYTES;
}

static size_t read_array(ColumnReader *common, Columns *rows, size_t most)
{
    ArrayReader *reader = (ArrayReader *)common;
    if (!begin(reader, rows))
        return 0;
    if (reader->rows_left == 0)
        return reader->header.is_fortran ? 0 : end_rows(reader);
    most = (size_t)least(most, reader->rows_left);
    if (reader->row_elements == 0) { /* rows of empty vectors */
        add_rows(reader, rows, most);
        return most;
    }
    size_t at_once = bytes_at_once(reader, rows);
    bool is_long = row_bytes(reader) > at_once;
    most = is_long ? 1 : (size_t)least(most, at_once / row_bytes(reader));
    if (reader->header.is_fortran)
        return read_fortran(reader, rows, most);
    return is_long ? read_long_row(reader, rows) : read_rows(reader, rows, most);
}

static const ColumnReaderKind array_reader_kind = {.read = read_array, .free = free_array};

static ArrayReader *new_reader(ColumnReader common)
{
    ArrayReader *reader = memory_alloc(common.memory, sizeof *reader);
    reader->common = common;
    reader->common.kind = &array_reader_kind;
    return reader;
}

ColumnReader *npy_reader_new(ColumnReader common)
{
    ArrayReader *reader = new_reader(common);
    reader->is_npy = true;
    return &reader->common;
}

ColumnReader *raw_reader_new(ColumnReader common, FileScalar scalar)
{
    ArrayReader *reader = new_reader(common);
    reader->header.scalar = scalar;
    return &reader->common;
}
