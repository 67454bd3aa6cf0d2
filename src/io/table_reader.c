/* Tables: .csv, .tsv and lines. A block of text is read, cut into pieces between records, and these are parsed by all threads to their places in columns, from
 * which rows are given until the next block is wanted.
 *
 * How many rows a piece has is known only when it is parsed, but not more than it has lines; so each has room for those, and what it leaves is closed up. The
 * same goes for texts, which are no longer than the piece. */
#include "base/least.h"
#include "io/column_reader.h"
#include "io/table_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCK_SIZE = 1 << 18,
    PIECE_SIZE = 1 << 14, /* at least, where there are several */
    PIECES_MAX = 64,
    PIECES_PER_MEMBER = 4,
    FOUND_MAX = 24, /* bytes shown of what is wrong */
};

typedef struct TableReader {
    ColumnReader common;
    TableOptions options;
    TableDialect dialect;
    uint32_t field_count; /* of a row; 0 if its fields are the elements of one vector */
    Arena arena;
    Columns *batch;      /* the rows of the block */
    size_t next;         /* of them, the first that was not given */
    uint64_t given;      /* rows */
    char *block;         /* text, padded */
    size_t block_size;   /* without the padding */
    size_t used;         /* bytes of the block that are parsed, */
    size_t filled;       /* ... and that are there */
    bool is_begun;
    bool is_at_end;      /* all text is in the block */
    size_t untried;      /* bytes that there must be before it is worth looking for the end of a long record again */
    uint64_t lines;      /* before the block, */
    uint64_t used_lines; /* ... and in what is parsed of it */
    TablePiece pieces[PIECES_MAX];
    size_t piece_count;
    FieldSink *sinks; /* of all pieces */
    size_t sink_count;
} TableReader;

/* ---- the type ---- */

static bool is_text_leaf(const ColumnLeaf *leaf)
{
    return leaf->elements != NULL && leaf->elements->leaf_count == 1 && leaf->elements->leaves[0].elements == NULL &&
           leaf->elements->leaves[0].scalar == SCALAR_CHAR;
}

static bool is_field(const ColumnLeaf *leaf)
{
    return leaf->elements == NULL || is_text_leaf(leaf);
}

/* The leaf whose elements are all the fields of a row; null if it is not so. */
static ColumnLeaf *fields_leaf(const TableReader *reader)
{
    ColumnLeaf *leaf = &reader->batch->leaves[0];
    bool is_vector = reader->batch->leaf_count == 1 && !is_field(leaf) && leaf->elements->leaf_count == 1;
    return is_vector && is_field(&leaf->elements->leaves[0]) ? leaf : NULL;
}

static void check_type(TableReader *reader)
{
    Columns *batch = reader->batch;
    uint32_t fields = 0;
    while (fields < batch->leaf_count && is_field(&batch->leaves[fields]))
        fields++;
    if (fields == batch->leaf_count && fields > 0)
        reader->field_count = fields;
    else if (batch->leaf_count == 0 || fields_leaf(reader) == NULL)
        column_reader_fail(&reader->common,
                           "a row of fields is a scalar, a text, a tuple of such or a vector of such; %s cannot be read from it",
                           type_text(reader->common.types, reader->common.type));
    reader->dialect.has_empty_rows = batch->leaf_count == 1 && batch->leaves[0].elements != NULL;
}

/* ---- failures ---- */

/* With its article. */
static const char *expected_name(ScalarType scalar)
{
    static const char *const names[SCALAR_COUNT] = {
        [SCALAR_BOOL] = "true or false", [SCALAR_CHAR] = "one character", [SCALAR_I8] = "an i8",   [SCALAR_I16] = "an i16",
        [SCALAR_I32] = "an i32",         [SCALAR_I64] = "an int",         [SCALAR_U8] = "a u8",    [SCALAR_U16] = "a u16",
        [SCALAR_U32] = "a u32",          [SCALAR_U64] = "a u64",          [SCALAR_F32] = "an f32", [SCALAR_F64] = "a float"};
    return names[scalar];
}

static const FieldSink *sink_of(const TablePiece *piece)
{
    return &piece->sinks[piece->field_count == 0 ? 0 : piece->field - 1];
}

/* What stands there, so that it can be shown. */
static void show_found(const TableReader *reader, const char *place, char found[FOUND_MAX + 4])
{
    TableField field;
    table_read_field(&reader->dialect, place, false, &field);
    size_t length = (size_t)(field.end - field.start), shown = least(length, FOUND_MAX);
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)field.start[i];
        found[i] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    strcpy(found + shown, length > shown ? "..." : "");
}

static uint64_t line_of(const TableReader *reader, const char *place)
{
    return reader->lines + table_count_lines(reader->block, place) + 1;
}

static void fail_field(TableReader *reader, const TablePiece *piece)
{
    ColumnReader *common = &reader->common;
    ScalarType scalar = sink_of(piece)->scalar;
    const char *expected = expected_name(scalar), *empty = reader->dialect.empty;
    char found[FOUND_MAX + 4];
    uint64_t line = line_of(reader, piece->place);
    show_found(reader, piece->place, found);
    if (piece->problem == TABLE_OUT_OF_RANGE)
        column_reader_fail(common, "line %" PRIu64 ", field %" PRIu32 ": %s is out of range of %s", line, piece->field, found,
                           scalar_name(scalar));
    else if (piece->problem == TABLE_NO_VALUE)
        column_reader_fail(common, "line %" PRIu64 ", field %" PRIu32 ": expected %s, found \"%s\"%s", line, piece->field, expected, found,
                           line == 1 && reader->options.header == HEADER_GUESSED ? "; --header yes if it is the name of a column" : "");
    else if (empty != NULL)
        column_reader_fail(common, "line %" PRIu64 ", field %" PRIu32 ": expected %s, found nothing, and `%s`, which that stands for, is none",
                           line, piece->field, expected, empty);
    else
        column_reader_fail(common, "line %" PRIu64 ", field %" PRIu32 ": expected %s, found nothing; --empty VALUE says what that stands for",
                           line, piece->field, expected);
}

static void fail_piece(TableReader *reader, const TablePiece *piece)
{
    uint64_t line = piece->problem == TABLE_RIGHT ? 0 : line_of(reader, piece->place);
    switch (piece->problem) {
    case TABLE_RIGHT: return;
    case TABLE_FEW_FIELDS:
    case TABLE_MANY_FIELDS:
        column_reader_fail(&reader->common, "line %" PRIu64 ": expected %" PRIu32 " field%s, found %" PRIu32, line, reader->field_count,
                           reader->field_count == 1 ? "" : "s", piece->field);
        return;
    case TABLE_AFTER_QUOTE:
        column_reader_fail(&reader->common, "line %" PRIu64 ", field %" PRIu32 ": expected the end of the field after the closing quote, found `%c`",
                           line, piece->field, *piece->place < ' ' ? '?' : *piece->place);
        return;
    case TABLE_EMPTY_FIELD:
    case TABLE_NO_VALUE:
    case TABLE_OUT_OF_RANGE: fail_field(reader, piece); return;
    }
}

/* ---- the block ---- */

/* Drops what was parsed, and makes room. */
static void make_room(TableReader *reader)
{
    reader->lines += reader->used_lines;
    reader->used_lines = 0;
    reader->filled -= reader->used;
    if (reader->filled > 0)
        memmove(reader->block, reader->block + reader->used, reader->filled);
    reader->used = 0;
    if (reader->filled < reader->block_size)
        return;
    if (column_reader_is_over_limit(&reader->common)) {
        column_reader_fail(&reader->common, "line %" PRIu64 ": a record needs more memory than there may be", reader->lines + 1);
        return;
    }
    size_t old = reader->block_size == 0 ? 0 : reader->block_size + NUMBER_TEXT_PADDING;
    size_t size = reader->block_size == 0 ? BLOCK_SIZE : reader->block_size * 2;
    reader->block = memory_resize(reader->common.memory, reader->block, old, size + NUMBER_TEXT_PADDING);
    reader->block_size = size;
}

/* Reads what is there without waiting, but something. At the end the last line gets its end. */
static void read_block(TableReader *reader)
{
    ByteInput *input = reader->common.input;
    make_room(reader);
    do {
        size_t count = byte_input_read(input, reader->block + reader->filled, reader->block_size - reader->filled);
        reader->filled += count;
        reader->is_at_end = count == 0;
    } while (!reader->is_at_end && reader->filled < reader->block_size && byte_input_has_more(input));
    memset(reader->block + reader->filled, '\n', NUMBER_TEXT_PADDING);
    if (reader->is_at_end && reader->filled > 0 && reader->block[reader->filled - 1] != '\n' && !byte_input_is_cut(input))
        reader->filled++;
}

static void add_piece(TableReader *reader, const char *start, const char *end)
{
    reader->pieces[reader->piece_count++] = (TablePiece){.start = start, .end = end, .field_count = reader->field_count};
    reader->used = (size_t)(end - reader->block);
}

static size_t piece_size(const TableReader *reader)
{
    size_t members = reader->options.sharing.run == NULL ? 1 : reader->options.sharing.members;
    size_t count = members == 1 ? 1 : least(members * PIECES_PER_MEMBER, PIECES_MAX - 1);
    size_t size = (reader->filled - reader->used) / count;
    return size < PIECE_SIZE ? PIECE_SIZE : size;
}

/* Between lines, where no line has a quote. */
static void cut_lines(TableReader *reader)
{
    const char *start = reader->block + reader->used, *end = reader->block + reader->filled;
    size_t size = piece_size(reader);
    while (end > start && end[-1] != '\n')
        end--;
    while (start < end) {
        const char *cut = (size_t)(end - start) > size && reader->piece_count < PIECES_MAX - 1
                              ? (const char *)memchr(start + size - 1, '\n', (size_t)(end - start) - size + 1) + 1
                              : end;
        add_piece(reader, start, cut);
        start = cut;
    }
}

/* Between records, one after the other. */
static void cut_records(TableReader *reader)
{
    const char *start = reader->block + reader->used, *end = reader->block + reader->filled, *cut = start, *next;
    size_t size = piece_size(reader);
    while ((next = table_record_end(&reader->dialect, cut, end)) != NULL) {
        cut = next;
        if ((size_t)(cut - start) >= size && reader->piece_count < PIECES_MAX - 1) {
            add_piece(reader, start, cut);
            start = cut;
        }
        if (cut == end)
            break;
    }
    if (cut > start)
        add_piece(reader, start, cut);
}

static void cut_block(TableReader *reader)
{
    const char *text = reader->block + reader->used;
    reader->piece_count = 0;
    if (reader->dialect.has_quotes && memchr(text, '"', reader->filled - reader->used) != NULL)
        cut_records(reader);
    else
        cut_lines(reader);
}

/* ---- the header ---- */

/* Whether a field that should be something else names a column. A number is no name, if only another one than is wanted; nothing is neither. */
typedef enum HeaderField { HEADER_FIELD_NAME, HEADER_FIELD_EMPTY, HEADER_FIELD_VALUE } HeaderField;

static HeaderField judge_field(const TableField *field, ScalarType wanted)
{
    uint64_t cell;
    TableProblem problem = table_read_scalar(field, wanted, &cell);
    if (problem == TABLE_EMPTY_FIELD)
        return HEADER_FIELD_EMPTY;
    bool is_value = problem != TABLE_NO_VALUE || table_read_scalar(field, SCALAR_F64, &cell) != TABLE_NO_VALUE;
    return is_value ? HEADER_FIELD_VALUE : HEADER_FIELD_NAME;
}

/* A record is a header if some of its fields that should not be texts are names, and none is a value. */
static bool is_header(TableReader *reader, const char *text)
{
    const ColumnLeaf *leaves = reader->field_count == 0 ? fields_leaf(reader)->elements->leaves : reader->batch->leaves;
    bool has_names = false;
    TableField field;
    for (uint32_t i = 0;; i++, text = field.next + 1) {
        const ColumnLeaf *leaf = reader->field_count == 0 ? leaves : i < reader->field_count ? &leaves[i] : NULL;
        if (!table_read_field(&reader->dialect, text, false, &field))
            return false;
        if (leaf != NULL && leaf->elements == NULL) {
            HeaderField kind = judge_field(&field, leaf->scalar);
            if (kind == HEADER_FIELD_VALUE)
                return false;
            has_names = has_names || kind == HEADER_FIELD_NAME;
        }
        if (table_is_line_end(field.next))
            return has_names;
    }
}

/* The first record of all is there, or the end. */
static void skip_header(TableReader *reader)
{
    const char *text = reader->block, *end = text + reader->filled;
    if (reader->filled >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        reader->used = 3; /* the mark of UTF-8 */
    const char *record = table_record_end(&reader->dialect, text + reader->used, end);
    if (record == NULL || reader->options.header == HEADER_NONE)
        return;
    if (reader->options.header == HEADER_GIVEN || is_header(reader, text + reader->used))
        reader->used = (size_t)(record - text);
    reader->used_lines = table_count_lines(text, text + reader->used);
}

/* ---- parsing ---- */

static void count_lines(void *context, size_t first, size_t end, uint32_t member)
{
    TableReader *reader = context;
    (void)member;
    for (size_t i = first; i < end; i++)
        reader->pieces[i].line_count = table_count_lines(reader->pieces[i].start, reader->pieces[i].end);
}

static void parse_pieces(void *context, size_t first, size_t end, uint32_t member)
{
    TableReader *reader = context;
    (void)member;
    for (size_t i = first; i < end; i++)
        table_parse(&reader->dialect, &reader->pieces[i]);
}

static void *cell_at(const ColumnLeaf *leaf, size_t index)
{
    return (char *)leaf->cells + index * scalar_size(leaf->scalar);
}

/* Values have room in a piece for as many as the field can have there; texts as many bytes as the piece. */
static void set_sink(const TableReader *reader, const TablePiece *piece, FieldSink *sink, const ColumnLeaf *leaf, size_t first)
{
    *sink = (FieldSink){.is_text = leaf->elements != NULL, .scalar = leaf->scalar, .cells = cell_at(leaf, first)};
    if (sink->is_text)
        sink->chars = cell_at(&leaf->elements->leaves[0], (size_t)(piece->start - reader->block));
}

/* Room for the values of a leaf, and their bytes if they are texts. */
static void make_leaf_room(TableReader *reader, Columns *columns, uint32_t leaf, size_t values)
{
    columns_room(columns, leaf, values);
    if (columns->leaves[leaf].elements != NULL)
        columns_room(columns->leaves[leaf].elements, 0, reader->filled);
}

static void make_columns_room(TableReader *reader, size_t lines)
{
    ColumnLeaf *vector = reader->field_count == 0 ? fields_leaf(reader) : NULL;
    columns_clear(reader->batch);
    for (uint32_t i = 0; i < reader->batch->leaf_count && vector == NULL; i++)
        make_leaf_room(reader, reader->batch, i, lines);
    if (vector == NULL)
        return;
    columns_room(reader->batch, 0, lines);
    make_leaf_room(reader, vector->elements, 0, reader->filled + 1);
}

static void make_sinks_room(TableReader *reader, size_t wanted)
{
    if (wanted <= reader->sink_count)
        return;
    reader->sinks = memory_resize(reader->common.memory, reader->sinks, reader->sink_count * sizeof(FieldSink), wanted * sizeof(FieldSink));
    reader->sink_count = wanted;
}

/* Gives every piece the places that it writes to. */
static void place_pieces(TableReader *reader)
{
    ColumnLeaf *vector = reader->field_count == 0 ? fields_leaf(reader) : NULL;
    size_t sinks = vector != NULL ? 1 : reader->field_count, first_row = 0;
    make_sinks_room(reader, reader->piece_count * sinks);
    for (size_t i = 0; i < reader->piece_count; i++) {
        TablePiece *piece = &reader->pieces[i];
        piece->sinks = reader->sinks + i * sinks;
        for (uint32_t k = 0; k < reader->field_count; k++)
            set_sink(reader, piece, &piece->sinks[k], &reader->batch->leaves[k], first_row);
        if (vector != NULL) {
            piece->row_ends = cell_at(vector, first_row);
            set_sink(reader, piece, piece->sinks, &vector->elements->leaves[0], (size_t)(piece->start - reader->block));
        }
        first_row += piece->line_count;
    }
}

/* ---- closing up ---- */

/* Moves ends to their place and makes them count from the beginning of all. */
static void close_up_ends(int64_t *out, const int64_t *ends, size_t count, size_t before)
{
    for (size_t i = 0; i < count; i++)
        out[i] = ends[i] + (int64_t)before;
}

/* The values of a sink become the next ones of a leaf. */
static void close_up(Columns *columns, uint32_t index, const FieldSink *sink, size_t count)
{
    ColumnLeaf *leaf = &columns->leaves[index];
    void *out = cell_at(leaf, columns->count);
    if (!sink->is_text) {
        if (out != sink->cells)
            memmove(out, sink->cells, count * scalar_size(sink->scalar));
        return;
    }
    Columns *chars = leaf->elements;
    close_up_ends(out, sink->cells, count, chars->count);
    if (sink->char_count > 0)
        memmove(cell_at(&chars->leaves[0], chars->count), sink->chars, sink->char_count);
    chars->count += sink->char_count;
}

static void close_up_piece(TableReader *reader, const TablePiece *piece)
{
    Columns *batch = reader->batch;
    for (uint32_t i = 0; i < reader->field_count; i++) {
        FieldSink sink = piece->sinks[i];
        if (sink.is_text) /* a wrong record may have left one */
            sink.char_count = piece->row_count == 0 ? 0 : (size_t)((const int64_t *)sink.cells)[piece->row_count - 1];
        close_up(batch, i, &sink, piece->row_count);
    }
    if (reader->field_count == 0) {
        Columns *elements = fields_leaf(reader)->elements;
        size_t count = piece->row_count == 0 ? 0 : (size_t)piece->row_ends[piece->row_count - 1];
        FieldSink sink = piece->sinks[0];
        if (sink.is_text)
            sink.char_count = count == 0 ? 0 : (size_t)((const int64_t *)sink.cells)[count - 1];
        close_up_ends(cell_at(&batch->leaves[0], batch->count), piece->row_ends, piece->row_count, elements->count);
        close_up(elements, 0, &sink, count);
        elements->count += count;
    }
    batch->count += piece->row_count;
}

/* ---- reading ---- */

/* Parses the whole records of the block. */
static void parse_block(TableReader *reader)
{
    cut_block(reader);
    if (reader->piece_count == 0)
        return;
    const Sharing *sharing = &reader->options.sharing;
    size_t lines = 0;
    sharing_run(sharing, reader->piece_count, count_lines, reader);
    for (size_t i = 0; i < reader->piece_count; i++)
        lines += reader->pieces[i].line_count;
    reader->used_lines += lines;
    make_columns_room(reader, lines);
    place_pieces(reader);
    sharing_run(sharing, reader->piece_count, parse_pieces, reader);
    for (size_t i = 0; i < reader->piece_count && !reader->common.has_failed; i++) {
        close_up_piece(reader, &reader->pieces[i]);
        fail_piece(reader, &reader->pieces[i]);
    }
}

/* What is left at the end has a quote that is never closed. */
static void end_text(TableReader *reader)
{
    if (byte_input_is_cut(reader->common.input) || reader->used == reader->filled)
        return;
    column_reader_fail(&reader->common, "line %" PRIu64 ": a field in quotes begins in this record and does not end",
                       line_of(reader, reader->block + reader->used));
}

/* Whether the block begins with a whole record, or the text ends in it. The end of a long record is not looked for after each few bytes. */
static bool has_record(TableReader *reader)
{
    if (reader->is_at_end)
        return true;
    if (reader->filled < reader->untried)
        return false;
    bool is_whole = table_record_end(&reader->dialect, reader->block, reader->block + reader->filled) != NULL;
    reader->untried = is_whole || reader->filled < BLOCK_SIZE ? 0 : reader->filled + reader->filled / 2;
    return is_whole;
}

/* Reads and parses until there is a row, or the end. */
static void read_batch(TableReader *reader)
{
    columns_clear(reader->batch);
    reader->next = 0;
    while (reader->batch->count == 0 && !reader->common.has_failed && !reader->is_at_end) {
        read_block(reader);
        if (!has_record(reader))
            continue;
        if (!reader->is_begun)
            skip_header(reader);
        reader->is_begun = true;
        parse_block(reader);
        if (reader->is_at_end && !reader->common.has_failed)
            end_text(reader);
    }
}

/* A value that is one row. */
static size_t check_only_row(TableReader *reader, size_t count)
{
    if (column_reader_has_rows(&reader->common) || byte_input_is_cut(reader->common.input))
        return count;
    if (count == 0 && reader->given == 0)
        return column_reader_fail(&reader->common, "expected one row of fields, found the end");
    if (reader->given + reader->batch->count - reader->next > 1)
        return column_reader_fail(&reader->common, "expected one row of fields for %s, found more",
                                  type_text(reader->common.types, reader->common.type));
    return count;
}

/* Padded, as text to be parsed must be. */
static void set_empty(TableReader *reader, const char *empty)
{
    if (empty == NULL)
        return;
    char *padded = arena_alloc(&reader->arena, strlen(empty) + 1 + NUMBER_TEXT_PADDING);
    strcpy(padded, empty);
    reader->dialect.empty = padded;
}

/* Apart from making the reader, so that whatever fails it is known to its owner. */
static void begin(TableReader *reader)
{
    if (reader->batch != NULL)
        return;
    Columns *batch = columns_new(&reader->arena, reader->common.types, column_reader_row_type(&reader->common));
    set_empty(reader, reader->options.empty);
    reader->batch = batch;
    check_type(reader);
}

/* Rows before one that is wrong are given first: the failure is told when they are gone. */
static size_t read_table(ColumnReader *common, Columns *rows, size_t most)
{
    TableReader *reader = (TableReader *)common;
    begin(reader);
    if (reader->next == reader->batch->count && !common->has_failed)
        read_batch(reader);
    size_t count = check_only_row(reader, least(most, reader->batch->count - reader->next));
    columns_append(rows, reader->batch, reader->next, count);
    reader->next += count;
    reader->given += count;
    return count;
}

static void free_table(ColumnReader *common)
{
    TableReader *reader = (TableReader *)common;
    Memory *memory = common->memory;
    columns_free(reader->batch);
    arena_free(&reader->arena);
    memory_free(memory, reader->block, reader->block_size == 0 ? 0 : reader->block_size + NUMBER_TEXT_PADDING);
    memory_free(memory, reader->sinks, reader->sink_count * sizeof(FieldSink));
    memory_free(memory, reader, sizeof *reader);
}

static const ColumnReaderKind table_reader_kind = {.read = read_table, .free = free_table};

ColumnReader *table_reader_new(ColumnReader common, FileFormatKind format, const TableOptions *options)
{
    TableReader *reader = memory_alloc(common.memory, sizeof *reader);
    reader->common = common;
    reader->common.kind = &table_reader_kind;
    reader->options = *options;
    reader->dialect.separator = format == FORMAT_CSV ? ',' : format == FORMAT_TSV ? '\t' : '\n';
    reader->dialect.has_quotes = format != FORMAT_LINES;
    arena_init(&reader->arena, common.memory);
    return &reader->common;
}
