#include "io/result_writer.h"

#include "base/least.h"
#include "io/file_output.h"
#include "io/npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEM_SIZE = 512, TEXT_LONG = 1 << 15, ROWS_AT_ONCE = 1 << 12 };

/* A file with one column, or with all of them. */
typedef struct OutputFile {
    FileOutput output;
    const char *path;
    ScalarType scalar;    /* npy */
    bool is_single;       /* npy: one value, not a column */
    bool is_begun;        /* npy: the header was written */
    uint64_t count;       /* cells written */
} OutputFile;

/* The files of columns, as a tree like theirs. */
typedef struct ColumnFiles ColumnFiles;
typedef struct LeafFiles {
    OutputFile *file;      /* of the cells; null: a vector that is the only one of its leaf has no offsets */
    ColumnFiles *elements; /* of vectors */
    uint64_t element_count;
} LeafFiles;
struct ColumnFiles {
    uint32_t leaf_count;
    LeafFiles leaves[];
};

struct ResultWriter {
    ResultWriterOf of;
    FileFormat format;
    Compression compression;
    Arena arena;
    Columns *columns;
    bool has_rows;   /* the elements are */
    VEC(OutputFile *) files;
    ColumnFiles *npy;
    char separator;  /* CSV, TSV */
    Text text;
    uint64_t row_count;
    bool has_failed, is_misused;
    char problem[PROBLEM_SIZE];
};

/* ---- failures ---- */

__attribute__((format(printf, 2, 3))) static void fail(ResultWriter *writer, const char *format, ...)
{
    if (writer->has_failed)
        return;
    writer->has_failed = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(writer->problem, sizeof writer->problem, format, arguments);
    va_end(arguments);
}

static bool is_standard_output(const char *path)
{
    return strcmp(path, RESULT_TO_STANDARD_OUTPUT) == 0;
}

static const char *shown_path(const char *path)
{
    return is_standard_output(path) ? "to standard output" : path;
}

static void fail_output(ResultWriter *writer, const OutputFile *file)
{
    fail(writer, "cannot write %s: %s", shown_path(file->path), file->output.reason);
}

static void fail_type(ResultWriter *writer, const char *wanted)
{
    writer->is_misused = true;
    fail(writer, "a result of type %s cannot be written %s%s: %s", type_text(writer->of.types, writer->of.type),
         is_standard_output(writer->of.path) ? "" : "to ", shown_path(writer->of.path), wanted);
}

const char *result_writer_problem(const ResultWriter *writer)
{
    return writer->has_failed ? writer->problem : NULL;
}

bool result_writer_is_misused(const ResultWriter *writer)
{
    return writer->is_misused;
}

/* ---- files ---- */

/* Standard output is the host's, except that only an ordinary file can have its header put right. */
static bool open_file(ResultWriter *writer, OutputFile *file)
{
    Memory *memory = writer->of.memory;
    if (!is_standard_output(file->path))
        return file_output_open(&file->output, memory, file->path, writer->compression);
    if (writer->format.kind != FORMAT_NPY || !file_output_to_changeable(&file->output, memory))
        file_output_to_host(&file->output, writer->of.host);
    return true;
}

static OutputFile *add_file(ResultWriter *writer, const char *path)
{
    OutputFile *file = ARENA_NEW(&writer->arena, OutputFile);
    file->path = path;
    *vec_push(&writer->arena, &writer->files) = file;
    if (!writer->has_failed && !open_file(writer, file))
        fail_output(writer, file);
    return file;
}

static void write_bytes(ResultWriter *writer, OutputFile *file, const void *bytes, size_t size)
{
    if (!writer->has_failed && !file_output_write(&file->output, bytes, size))
        fail_output(writer, file);
}

/* ---- npy ---- */

/* The end of the path that says what it is, compression included. */
static const char *path_ending(const ResultWriter *writer, size_t *stem)
{
    size_t length;
    compression_of_path(writer->of.path, &length);
    *stem = file_format_of_path(writer->of.path, length).kind == FORMAT_NPY ? length - strlen(".npy") : length;
    return writer->of.path + *stem;
}

static OutputFile *add_npy(ResultWriter *writer, const char *name, ScalarType scalar)
{
    size_t stem;
    OutputFile *file = add_file(writer, arena_format(&writer->arena, "%s%s", name, path_ending(writer, &stem)));
    file->scalar = scalar;
    return file;
}

static void add_npy_header(ResultWriter *writer, const OutputFile *file, uint64_t count)
{
    text_clear(&writer->text);
    npy_add_header(file->scalar, &count, file->is_single ? 0 : 1, &writer->text);
}

/* Before the first cells, of which there will be `count`, or UINT64_MAX if that is not known: then the header is put right at the end. */
static void begin_npy(ResultWriter *writer, OutputFile *file, uint64_t count)
{
    if (file->is_begun || writer->has_failed)
        return;
    file->is_begun = true;
    if (count == UINT64_MAX && !file_output_can_change(&file->output))
        fail(writer,
             "cannot write %s: how long it will be must be known before it is written, unless it is an ordinary file that is not compressed; "
             "make the result a vector of numbers",
             shown_path(file->path));
    add_npy_header(writer, file, count == UINT64_MAX ? 0 : count);
    write_bytes(writer, file, text_string(&writer->text), writer->text.length);
}

static void write_cells(ResultWriter *writer, OutputFile *file, const void *cells, size_t count, uint64_t left)
{
    begin_npy(writer, file, left == UINT64_MAX ? left : count + left);
    write_bytes(writer, file, cells, count * scalar_size(file->scalar));
    file->count += count;
}

static ColumnFiles *npy_files(ResultWriter *writer, const Columns *columns, const char *name, bool is_single)
{
    ColumnFiles *files = arena_alloc(&writer->arena, sizeof *files + columns->leaf_count * sizeof(LeafFiles));
    files->leaf_count = columns->leaf_count;
    for (uint32_t i = 0; i < columns->leaf_count; i++) {
        const ColumnLeaf *leaf = &columns->leaves[i];
        const char *part = columns->leaf_count == 1 ? name : arena_format(&writer->arena, "%s.%u", name, i + 1);
        bool is_vector = leaf->elements != NULL;
        if (!is_single || !is_vector) {
            const char *path = is_vector ? arena_format(&writer->arena, "%s.offsets", part) : part;
            files->leaves[i].file = add_npy(writer, path, leaf->scalar);
            files->leaves[i].file->is_single = is_single;
        }
        if (is_vector)
            files->leaves[i].elements =
                npy_files(writer, leaf->elements, is_single ? part : arena_format(&writer->arena, "%s.values", part), false);
    }
    return files;
}

/* The ends of vectors go on from those before; the first one starts at 0. */
static void write_offsets(ResultWriter *writer, LeafFiles *leaf, const int64_t *ends, size_t count)
{
    enum { BLOCK = 512 };
    int64_t offsets[BLOCK] = {0};
    if (leaf->file->count == 0)
        write_cells(writer, leaf->file, offsets, 1, UINT64_MAX);
    for (size_t done = 0; done < count;) {
        size_t step = least(BLOCK, count - done);
        for (size_t i = 0; i < step; i++)
            offsets[i] = (int64_t)leaf->element_count + ends[done + i];
        write_cells(writer, leaf->file, offsets, step, UINT64_MAX);
        done += step;
    }
}

static void write_npy(ResultWriter *writer, ColumnFiles *files, const Columns *rows, uint64_t left)
{
    for (uint32_t i = 0; i < files->leaf_count && !writer->has_failed; i++) {
        LeafFiles *leaf = &files->leaves[i];
        const ColumnLeaf *cells = &rows->leaves[i];
        if (leaf->elements == NULL) {
            write_cells(writer, leaf->file, cells->cells, rows->count, left);
            continue;
        }
        if (leaf->file != NULL)
            write_offsets(writer, leaf, cells->cells, rows->count);
        leaf->element_count += cells->elements->count;
        write_npy(writer, leaf->elements, cells->elements, leaf->file == NULL ? 0 : UINT64_MAX);
    }
}

/* Columns without rows have files too. */
static void end_npy(ResultWriter *writer, ColumnFiles *files)
{
    for (uint32_t i = 0; i < files->leaf_count && !writer->has_failed; i++) {
        LeafFiles *leaf = &files->leaves[i];
        if (leaf->elements != NULL && leaf->file != NULL && leaf->file->count == 0)
            write_offsets(writer, leaf, NULL, 0);
        if (leaf->elements != NULL)
            end_npy(writer, leaf->elements);
        if (leaf->file == NULL)
            continue;
        begin_npy(writer, leaf->file, leaf->file->count);
        if (!writer->has_failed && file_output_can_change(&leaf->file->output)) {
            add_npy_header(writer, leaf->file, leaf->file->count);
            if (!file_output_change(&leaf->file->output, text_string(&writer->text), writer->text.length))
                fail_output(writer, leaf->file);
        }
    }
}

/* ---- tables ---- */

static bool is_text_leaf(const ColumnLeaf *leaf)
{
    return leaf->elements != NULL && leaf->elements->leaf_count == 1 && leaf->elements->leaves[0].elements == NULL &&
           leaf->elements->leaves[0].scalar == SCALAR_CHAR;
}

static bool is_field(const ColumnLeaf *leaf)
{
    return leaf->elements == NULL || is_text_leaf(leaf);
}

/* Fields are scalars and texts; a row that is one vector has any number of them. */
static bool is_table(const Columns *columns)
{
    uint32_t fields = 0;
    while (fields < columns->leaf_count && is_field(&columns->leaves[fields]))
        fields++;
    if (fields == columns->leaf_count)
        return fields > 0;
    const Columns *elements = columns->leaves[0].elements;
    return columns->leaf_count == 1 && elements->leaf_count == 1 && is_field(&elements->leaves[0]);
}

static bool wants_quotes(const ResultWriter *writer, const char *bytes, size_t length)
{
    if (writer->format.kind == FORMAT_LINES || length == 0)
        return false;
    if (bytes[0] == ' ' || bytes[0] == '\t' || bytes[length - 1] == ' ' || bytes[length - 1] == '\t')
        return true;
    const char special[] = {'"', '\n', '\r', writer->separator};
    for (size_t i = 0; i < sizeof special; i++)
        if (memchr(bytes, special[i], length) != NULL)
            return true;
    return false;
}

static void add_text_field(ResultWriter *writer, const char *bytes, size_t length)
{
    if (!wants_quotes(writer, bytes, length)) {
        text_add_bytes(&writer->text, bytes, length);
        return;
    }
    text_add_char(&writer->text, '"');
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"')
            text_add_char(&writer->text, '"');
        text_add_char(&writer->text, bytes[i]);
    }
    text_add_char(&writer->text, '"');
}

static void add_field(ResultWriter *writer, const ColumnLeaf *leaf, size_t row)
{
    if (leaf->elements != NULL) {
        size_t start = columns_start(leaf, row), end = columns_start(leaf, row + 1);
        add_text_field(writer, (const char *)leaf->elements->leaves[0].cells + start, end - start);
    } else if (leaf->scalar == SCALAR_CHAR) {
        add_text_field(writer, (const char *)leaf->cells + row, 1);
    } else {
        value_print_scalar(leaf->scalar, scalar_load(leaf->scalar, leaf->cells, row), VALUE_STYLE_RUNNEL, &writer->text);
    }
}

static void add_row(ResultWriter *writer, const Columns *rows, size_t row)
{
    const ColumnLeaf *leaves = rows->leaves;
    size_t first = 0, count = rows->leaf_count;
    bool is_vector = !is_field(leaves);
    if (is_vector) {
        first = columns_start(leaves, row);
        count = columns_start(leaves, row + 1) - first;
        leaves = leaves->elements->leaves;
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add_char(&writer->text, writer->separator);
        add_field(writer, is_vector ? leaves : &leaves[i], is_vector ? first + i : row);
    }
    text_add_char(&writer->text, '\n');
}

static void write_text(ResultWriter *writer)
{
    write_bytes(writer, writer->files.items[0], text_string(&writer->text), writer->text.length);
    text_clear(&writer->text);
}

static void write_table(ResultWriter *writer, const Columns *rows)
{
    for (size_t i = 0; i < rows->count && !writer->has_failed; i++) {
        add_row(writer, rows, i);
        if (writer->text.length > TEXT_LONG)
            write_text(writer);
    }
}

/* ---- raw ---- */

static bool is_raw_row(const Columns *columns, ScalarType scalar)
{
    return columns->leaf_count == 1 && columns->leaves[0].elements == NULL && columns->leaves[0].scalar == scalar;
}

/* ---- making ---- */

static void check_npy(ResultWriter *writer)
{
    const Columns *columns = writer->columns;
    bool is_one = columns->leaf_count == 1 && columns->leaves[0].elements == NULL;
    if (columns->leaf_count == 0)
        fail_type(writer, "there is nothing in it that a .npy file could hold");
    else if (is_standard_output(writer->of.path) && !is_one)
        fail_type(writer, "it takes several .npy files; --out NAME.npy gives them their names");
}

static void open_files(ResultWriter *writer)
{
    size_t stem;
    switch (writer->format.kind) {
    case FORMAT_NPY:
        check_npy(writer);
        path_ending(writer, &stem);
        if (!writer->has_failed)
            writer->npy = npy_files(writer, writer->columns, arena_text(&writer->arena, writer->of.path, stem), !writer->has_rows);
        return;
    case FORMAT_LINES:
        if (writer->columns->leaf_count != 1 || !is_field(&writer->columns->leaves[0]))
            fail_type(writer, "a line is a text or a scalar");
        break;
    case FORMAT_CSV:
    case FORMAT_TSV:
        if (!is_table(writer->columns))
            fail_type(writer, "a row of fields is a scalar, a text, a tuple of such or a vector of such");
        break;
    case FORMAT_RAW:
        if (!is_raw_row(writer->columns, writer->format.scalar))
            fail_type(writer, "scalars as bytes are the elements of a vector or sequence of that type");
        break;
    case FORMAT_NONE:
    case FORMAT_TEXT: break;
    }
    if (!writer->has_failed)
        add_file(writer, writer->of.path);
}

static FileFormat format_of(const ResultWriter *writer, size_t length)
{
    FileFormat format = file_format_of_path(writer->of.path, length);
    return format.kind == FORMAT_NONE ? writer->of.otherwise : format;
}

ResultWriter *result_writer_new(ResultWriterOf of)
{
    ResultWriter *writer = memory_alloc(of.memory, sizeof *writer);
    size_t length;
    writer->of = of;
    arena_init(&writer->arena, of.memory);
    text_init(&writer->text, of.memory);
    writer->compression = compression_of_path(of.path, &length);
    writer->format = format_of(writer, length);
    writer->separator = writer->format.kind == FORMAT_TSV ? '\t' : ',';
    writer->has_rows = type_kind(of.types, of.type) == TYPE_CONTAINER;
    return writer;
}

/* Apart from making it, so that whatever fails it is known. */
static void begin(ResultWriter *writer)
{
    if (writer->columns != NULL || writer->has_failed)
        return;
    TypeId row = writer->has_rows ? type_element(writer->of.types, writer->of.type) : writer->of.type;
    if (!result_writer_takes_text(writer) && !type_is_concrete(writer->of.types, row)) {
        fail_type(writer, "with sequences in its elements, it can only be written as text");
        return;
    }
    writer->columns = columns_new(&writer->arena, writer->of.types, row);
    open_files(writer);
}

void result_writer_free(ResultWriter *writer)
{
    if (writer == NULL)
        return;
    Memory *memory = writer->of.memory;
    for (uint32_t i = 0; i < writer->files.count; i++)
        file_output_abandon(&writer->files.items[i]->output);
    columns_free(writer->columns);
    text_free(&writer->text);
    arena_free(&writer->arena);
    memory_free(memory, writer, sizeof *writer);
}

/* ---- writing ---- */

bool result_writer_takes_text(const ResultWriter *writer)
{
    return writer->format.kind == FORMAT_NONE || writer->format.kind == FORMAT_TEXT;
}

void result_writer_text(ResultWriter *writer, const char *bytes, size_t length)
{
    begin(writer);
    if (!writer->has_failed)
        write_bytes(writer, writer->files.items[0], bytes, length);
}

Columns *result_writer_columns(ResultWriter *writer)
{
    begin(writer);
    return writer->columns;
}

void result_writer_rows(ResultWriter *writer, const Columns *rows, uint64_t left)
{
    begin(writer);
    if (writer->has_failed)
        return;
    switch (writer->format.kind) {
    case FORMAT_NPY: write_npy(writer, writer->npy, rows, left); break;
    case FORMAT_CSV:
    case FORMAT_TSV:
    case FORMAT_LINES: write_table(writer, rows); break;
    case FORMAT_RAW:
        write_bytes(writer, writer->files.items[0], rows->leaves[0].cells, rows->count * scalar_size(rows->leaves[0].scalar));
        break;
    case FORMAT_NONE:
    case FORMAT_TEXT: break;
    }
    writer->row_count += rows->count;
}

void result_writer_value(ResultWriter *writer, Value value)
{
    Columns *rows = result_writer_columns(writer);
    const Value *items = writer->has_rows ? value.object->items : &value;
    size_t count = writer->has_rows ? value.object->count : 1;
    for (size_t done = 0; done < count && !writer->has_failed;) {
        size_t step = least(ROWS_AT_ONCE, count - done);
        columns_clear(rows);
        columns_append_values(rows, items + done, step);
        done += step;
        result_writer_rows(writer, rows, count - done);
    }
}

void result_writer_finish(ResultWriter *writer)
{
    begin(writer);
    if (writer->has_failed)
        return;
    if (writer->npy != NULL)
        end_npy(writer, writer->npy);
    else
        write_text(writer);
    for (uint32_t i = 0; i < writer->files.count && !writer->has_failed; i++)
        if (!file_output_finish(&writer->files.items[i]->output))
            fail_output(writer, writer->files.items[i]);
}
